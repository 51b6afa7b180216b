/*
 * recycling_gaps.c: the false negatives of a recycling filter.
 *
 * Let a cycle last T arrivals, repeats included, and G(x) be the share of repeats whose gap (the
 * arrivals since the message's previous one) exceeds x. A repeat at time u of its cycle finds its
 * previous arrival in the active phase if the gap is at most u, and in one of the p - 1 frozen
 * phases if it is at most u + (p-1) T: it is missed with chance G(u + (p-1) T) (and no false
 * positive, 1 - f), averaged over 0 <= u <= T:
 *
 *     FN = (1-f)/T  integral of G from (p-1)T to pT.
 *
 * T follows from what the active phase takes in: every fresh arrival, and every repeat whose
 * previous arrival was before this cycle, until it is E[N0] messages (one less if the trigger is
 * retained: it was the first of them):
 *
 *     fresh T + (1 - fresh) integral of G from 0 to T = E[N0] - 1.
 *
 * Independent references, key i asked with chance p_i: within T arrivals it has come with chance
 * q_i = 1 - (1-p_i)^T, so sum q_i = E[N0] - 1 and FN = (1-f) sum q_i (1-q_i)^(p-1) / T. Not
 * retaining loses each trigger: 1/T of the messages, whose next arrival is missed unless it would
 * have been anyway.
 */
#include "model/numeric.h"
#include "model/recycling.h"

#include <math.h>

static double gap_taken(const struct recycling_stream *s, double t)
{
    return s->fresh * t + (1 - s->fresh) * s->survived(s, t);
}

static double gap_missed(const struct recycling_stream *s, double t, double phases)
{
    return (s->survived(s, phases * t) - s->survived(s, (phases - 1) * t)) / t;
}

/*
 * A message that comes at u of this cycle is taken if its gap exceeds u, and was in the cycle
 * before if that is at most u + before.
 */
static double gap_shared(const struct recycling_stream *s, double t, double before)
{
    double twice = s->survived(s, t) + s->survived(s, before) - s->survived(s, t + before);
    return (1 - s->fresh) * fmax(twice, 0);
}

double tepal_model_stream_period(const struct recycling_stream *s, double messages)
{
    double high = messages;
    while (s->taken(s, high) < messages) {
        high *= 2;
        if (!(high < 1e30)) {
            return INFINITY;
        }
    }
    double low = high / 2 < messages ? 0 : high / 2;
    for (int i = 0; i < 60 && high - low > 1e-13 * high; i++) {
        double middle = low + (high - low) / 2;
        if (s->taken(s, middle) < messages) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

static enum tepal_status misses_of(const struct recycling_stream *s,
                                   const struct tepal_recycling_setting *setting,
                                   const struct tepal_recycling_rates *rates,
                                   struct tepal_recycling_misses *misses)
{
    double messages = rates->messages_per_cycle;
    if (!(messages > 0)) {
        return TEPAL_BAD_ARGUMENT;
    }
    double period = tepal_model_stream_period(s, messages);
    if (!isfinite(period)) {
        *misses = (struct tepal_recycling_misses){INFINITY, 0};
        return TEPAL_OK;
    }
    double fn = at_most_one((1 - rates->fp_average) * s->missed(s, period, setting->phases));
    bool forgotten = !setting->retain && !(setting->keep_trigger && setting->phases > 1);
    *misses =
        (struct tepal_recycling_misses){period, forgotten ? fn + (1 - fn) / fmax(period, 1) : fn};
    return TEPAL_OK;
}

/* ---- measured gaps --------------------------------------------------------------------------- */

static double steps_survived(const struct recycling_stream *s, double x)
{
    const struct tepal_gaps *g = s->gaps;
    double sum = 0;
    double from = 0;
    double level = 1;
    for (size_t i = 0; i < g->count && g->gap[i] < x; i++) {
        sum += level * (g->gap[i] - from);
        from = g->gap[i];
        level = g->survival[i];
    }
    return sum + level * (x - from);
}

bool tepal_model_gaps_valid(const struct tepal_gaps *g)
{
    if (!(g->fresh >= 0 && g->fresh <= 1)) {
        return false;
    }
    for (size_t i = 0; i < g->count; i++) {
        double before = i == 0 ? 1 : g->survival[i - 1];
        if (!(g->gap[i] > (i == 0 ? 0 : g->gap[i - 1])) || !isfinite(g->gap[i]) ||
            !(g->survival[i] >= 0 && g->survival[i] <= before)) {
            return false;
        }
    }
    return true;
}

/* ---- gaps by formula ------------------------------------------------------------------------- */

/* P(gap > x) = (1 - 1/mean)^x */
static double geometric_survived(const struct recycling_stream *s, double x)
{
    if (s->a <= 1) {
        return x < 1 ? x : 1;
    }
    double c = -log1p(-1 / s->a);
    return -expm1(-c * x) / c;
}

/* P(gap > x) = (b / x)^a beyond b */
static double pareto_survived(const struct recycling_stream *s, double x)
{
    if (x <= s->b) {
        return x;
    }
    double ratio = log(x / s->b);
    double more = s->a == 1 ? ratio : expm1((1 - s->a) * ratio) / (1 - s->a);
    return s->b * (1 + more);
}

/* ---- independent references ------------------------------------------------------------------ */

/* Ranks first .. end - 1 of a popularity are taken together. */
static uint64_t rank_end(const struct recycling_stream *s, uint64_t first)
{
    uint64_t end = first + (first < s->grain ? 1 : first / s->grain);
    return end <= s->keys ? end : s->keys + 1;
}

static double zipf_share(const struct recycling_stream *s, uint64_t first, uint64_t end)
{
    double middle = (double)first + (double)(end - 1 - first) / 2;
    return pow(middle, -s->a) / s->b; /* b: the sum over all ranks */
}

static double zipf_sum(const struct recycling_stream *s)
{
    double sum = 0;
    for (uint64_t i = 1, end; i <= s->keys; i = end) {
        end = rank_end(s, i);
        sum += (double)(end - i) * zipf_share(s, i, end);
    }
    return sum;
}

static double zipf_taken(const struct recycling_stream *s, double t)
{
    double sum = 0;
    for (uint64_t i = 1, end; i <= s->keys; i = end) {
        end = rank_end(s, i);
        double p = zipf_share(s, i, end);
        sum += (double)(end - i) * (p < 1 ? -expm1(t * log1p(-p)) : 1);
    }
    return sum;
}

static double zipf_missed(const struct recycling_stream *s, double t, double phases)
{
    double sum = 0;
    for (uint64_t i = 1, end; i <= s->keys; i = end) {
        end = rank_end(s, i);
        double p = zipf_share(s, i, end);
        double absent = p < 1 ? t * log1p(-p) : -INFINITY; /* log(1 - q) */
        sum += (double)(end - i) * -expm1(absent) * (phases > 1 ? exp(absent * (phases - 1)) : 1);
    }
    return sum / t;
}

static double zipf_shared(const struct recycling_stream *s, double t, double before)
{
    double sum = 0;
    for (uint64_t i = 1, end; i <= s->keys; i = end) {
        end = rank_end(s, i);
        double p = zipf_share(s, i, end);
        double absent = p < 1 ? log1p(-p) : -INFINITY;
        sum += (double)(end - i) * expm1(t * absent) * expm1(before * absent);
    }
    return sum;
}

/* ---- streams by name ------------------------------------------------------------------------- */

#define GRAIN 64

bool tepal_model_stream(const struct tepal_recycling_stream *from, struct recycling_stream *to)
{
    bool share = from->fresh >= 0 && from->fresh <= 1;
    *to = (struct recycling_stream){.taken = gap_taken,
                                    .missed = gap_missed,
                                    .shared = gap_shared,
                                    .survived = steps_survived,
                                    .a = from->a,
                                    .b = from->b,
                                    .fresh = from->fresh,
                                    .keys = from->keys,
                                    .grain = GRAIN,
                                    .gaps = &from->gaps};
    switch (from->law) {
    case TEPAL_STREAM_UNKNOWN: /* all are new */
        to->survived = geometric_survived;
        to->a = 1;
        to->fresh = 1;
        return true;
    case TEPAL_STREAM_GAPS:
        to->fresh = from->gaps.fresh;
        return tepal_model_gaps_valid(&from->gaps);
    case TEPAL_STREAM_GEOMETRIC:
        to->survived = geometric_survived;
        return from->a >= 1 && share;
    case TEPAL_STREAM_PARETO:
        to->survived = pareto_survived;
        return from->a > 0 && from->b > 0 && isfinite(from->a) && isfinite(from->b) && share;
    case TEPAL_STREAM_ZIPF:
        to->taken = zipf_taken;
        to->missed = zipf_missed;
        to->shared = zipf_shared;
        if (!(from->a >= 0 && isfinite(from->a)) || from->keys == 0 ||
            from->keys > (uint64_t)1 << 60) {
            return false;
        }
        to->b = 1;
        to->b = zipf_sum(to);
        return true;
    }
    return false;
}

static enum tepal_status misses_on(const struct tepal_recycling_stream *stream,
                                   const struct tepal_recycling_setting *setting,
                                   const struct tepal_recycling_rates *rates,
                                   struct tepal_recycling_misses *misses)
{
    struct recycling_stream s;
    return tepal_model_stream(stream, &s) ? misses_of(&s, setting, rates, misses)
                                          : TEPAL_BAD_ARGUMENT;
}

enum tepal_status tepal_recycling_fn_gaps(const struct tepal_recycling_setting *setting,
                                          const struct tepal_recycling_rates *rates,
                                          const struct tepal_gaps *gaps,
                                          struct tepal_recycling_misses *misses)
{
    struct tepal_recycling_stream s = {.law = TEPAL_STREAM_GAPS, .gaps = *gaps};
    return misses_on(&s, setting, rates, misses);
}

enum tepal_status tepal_recycling_fn_geometric(const struct tepal_recycling_setting *setting,
                                               const struct tepal_recycling_rates *rates,
                                               double mean, double fresh,
                                               struct tepal_recycling_misses *misses)
{
    struct tepal_recycling_stream s = {.law = TEPAL_STREAM_GEOMETRIC, .a = mean, .fresh = fresh};
    return misses_on(&s, setting, rates, misses);
}

enum tepal_status tepal_recycling_fn_pareto(const struct tepal_recycling_setting *setting,
                                            const struct tepal_recycling_rates *rates, double shape,
                                            double scale, double fresh,
                                            struct tepal_recycling_misses *misses)
{
    struct tepal_recycling_stream s = {
        .law = TEPAL_STREAM_PARETO, .a = shape, .b = scale, .fresh = fresh};
    return misses_on(&s, setting, rates, misses);
}

enum tepal_status tepal_recycling_fn_zipf(const struct tepal_recycling_setting *setting,
                                          const struct tepal_recycling_rates *rates,
                                          double exponent, uint64_t keys,
                                          struct tepal_recycling_misses *misses)
{
    struct tepal_recycling_stream s = {.law = TEPAL_STREAM_ZIPF, .a = exponent, .keys = keys};
    return misses_on(&s, setting, rates, misses);
}

/* A key of time s of its phase is cleared with it, phases * every - s later; s is uniform. */
double tepal_recycling_fn_age(uint32_t phases, double every, double age, double fp)
{
    if (phases == 0 || !(every > 0) || !(age >= 0) || !(fp >= 0 && fp <= 1)) {
        return NAN;
    }
    return (1 - fp) * fmin(fmax(age / every - (phases - 1), 0), 1);
}
