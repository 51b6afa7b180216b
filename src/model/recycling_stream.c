/*
 * recycling_stream.c: a recycling filter on a stream that repeats itself: what happens to messages
 * that are truly new, by average or by sigma. docs/models.md derives it.
 *
 * Let a cycle last T arrivals. After t of them the active phase holds n(t) messages, the trigger
 * that opened it included: n(t) = 1 + taken(t); when it freezes, N = taken(T). The phase before it
 * holds N others, of which shared(t) are the same. A cell that one message leaves alone with chance
 * 1 - q is set in both phases with chance
 *
 *     c(t) = 1 - (1-q)^n - (1-q)^N + (1-q)^(n + N - shared)
 *
 * With rho(x) the rate of a phase whose share x of the cells is set, a new message at a random time
 * is found with chance
 *
 *     told = mean of rho(a(t)) + (p-1) rho(a(T)) - mean of rho(c(t)) - (p-2) rho(c(T))
 *
 * where means are over 0 <= t <= T: the filter's own account (filter/recycling/average.c), exact
 * for p <= 2, an upper bound for more. By average told = f, which gives T; but the mean of
 * rho(a(t)) and (p-1) rho(a(T)) together are at most 3/2 f, as the filter makes up for no more. By
 * sigma T follows from the messages of a cycle.
 *
 * Whatever the stream: when the filter recycles, mean + (p-1) now >= f/2, and mean <= now, the rate
 * with the trigger. So now >= f/(2p), and a phase that freezes has as many ones as that, less k.
 */
#include "model/recycling.h"

#include "model/numeric.h"

#include <math.h>

#define STEPS 128 /* of the table of rates, as the filter has it */

struct phase {
    const struct tepal_recycling_setting *setting;
    const struct recycling_stream *stream;
    double alone; /* log(1 - q) */
    double rate[STEPS + 1];
};

static double rate_at(const struct phase *p, double share)
{
    const struct tepal_recycling_setting *s = p->setting;
    return tepal_recycling_rate(s->layout, s->positions, s->bits,
                                (uint64_t)(share * (double)s->bits), s->hashes);
}

static void phase_begin(struct phase *p, const struct tepal_recycling_setting *s,
                        const struct recycling_stream *stream)
{
    p->setting = s;
    p->stream = stream;
    p->alone = log1p(-tepal_bloom_fill(s->layout, s->positions, s->bits, 1, s->hashes));
    for (unsigned i = 0; i <= STEPS; i++) {
        p->rate[i] = NAN; /* not known yet */
    }
}

static double step_rate(struct phase *p, unsigned step)
{
    if (isnan(p->rate[step])) {
        p->rate[step] = step == STEPS ? 1 : rate_at(p, (double)step / STEPS);
    }
    return p->rate[step];
}

/* rho: layouts other than flat take their time, so theirs is interpolated. */
static double rho(struct phase *p, double share)
{
    const struct tepal_recycling_setting *s = p->setting;
    double x = fmin(fmax(share, 0), 1);
    if (s->layout == TEPAL_LAYOUT_FLAT) {
        return s->positions == TEPAL_POSITIONS_DISTINCT ? rate_at(p, x) : pow(x, s->hashes);
    }
    unsigned step = x < 1 ? (unsigned)(x * STEPS) : STEPS - 1;
    double low = step_rate(p, step);
    return low + (x * STEPS - step) * (step_rate(p, step + 1) - low);
}

static double fill(const struct phase *p, double messages)
{
    return -expm1(messages * p->alone);
}

/* The share of the cells that are set in both of two phases. */
static double both(const struct phase *p, double n, double before, double shared)
{
    double most = fmin(n, before);
    double united = n + before - fmin(shared, most);
    return fill(p, n) + fill(p, before) - fill(p, united);
}

/* ---- a cycle of T arrivals ------------------------------------------------------------------- */

struct cycle {
    double told;
    double bar; /* mean + (p-1) now: what the rule compares */
};

struct moment {
    struct phase *phase;
    double period;
    double messages;
    bool overlap; /* rho(c), not rho(a) */
};

/* At t = T v^3: what happens early is seen well. */
static double moment_at(const void *context, double v)
{
    const struct moment *m = context;
    const struct recycling_stream *s = m->phase->stream;
    double t = m->period * v * v * v;
    double n = fmin(1 + s->taken(s, t), m->messages);
    double share =
        m->overlap ? both(m->phase, n, m->messages, s->shared(s, t, m->period)) : fill(m->phase, n);
    return 3 * v * v * rho(m->phase, share);
}

#define PANELS 2

static struct cycle cycle_of(struct phase *p, double period)
{
    const struct recycling_stream *s = p->stream;
    double others = p->setting->phases - 1.0;
    struct moment m = {p, period, fmax(s->taken(s, period), 1), false};
    double mean = tepal_model_recycling_integral(moment_at, &m, 0, 1, PANELS);
    struct cycle c = {mean, mean};
    if (others > 0) {
        c.bar += others * rho(p, fill(p, m.messages));
        c.told = c.bar;
        m.overlap = true;
        c.told -= tepal_model_recycling_integral(moment_at, &m, 0, 1, PANELS);
    }
    if (others > 1) {
        double shared = s->shared(s, period, period);
        c.told -= (others - 1) * rho(p, both(p, m.messages, m.messages, shared));
    }
    return c;
}

/* ---- T, by average --------------------------------------------------------------------------- */

#define FOREVER 1e18

/* The logarithm of what must not exceed 1. It grows with the period. */
static double excess(struct phase *p, double period, double fp)
{
    struct cycle c = cycle_of(p, period);
    return log(fmax(fmax(c.told / fp, c.bar / (1.5 * fp)), 1e-300));
}

/* Where the excess is 0, between two logarithms of periods; regula falsi (Illinois). */
static double period_between(struct phase *p, double fp, const double end[2], const double off[2])
{
    double at[2] = {end[0], end[1]};
    double y[2] = {off[0], off[1]};
    for (int i = 0, last = -1; i < 40 && at[1] - at[0] > 1e-6; i++) {
        double next = at[0] - y[0] * (at[1] - at[0]) / (y[1] - y[0]);
        if (!(next > at[0] && next < at[1])) {
            next = (at[0] + at[1]) / 2;
        }
        double here = excess(p, exp(next), fp);
        int side = here > 0;
        at[side] = next;
        y[side] = here;
        if (fabs(here) < 1e-6) {
            return exp(next);
        }
        if (side == last) {
            y[!side] /= 2;
        }
        last = side;
    }
    return exp(at[0]);
}

static double period_for(struct phase *p, double fp)
{
    double least = tepal_recycling_least(p->setting, fp);
    double from = log(fmax(tepal_model_stream_period(p->stream, fmax(least, 1)), 1));
    if (!(from < log(FOREVER))) {
        return INFINITY;
    }
    double end[2] = {from, from};
    double off[2];
    off[0] = off[1] = excess(p, exp(from), fp);
    while (off[1] <= 0) {
        end[0] = end[1];
        off[0] = off[1];
        end[1] += log(2);
        if (end[1] > log(FOREVER)) {
            return INFINITY;
        }
        off[1] = excess(p, exp(end[1]), fp);
    }
    while (off[0] > 0) {
        end[1] = end[0];
        off[1] = off[0];
        end[0] -= log(2);
        if (end[0] < 0) {
            return 1;
        }
        off[0] = excess(p, exp(end[0]), fp);
    }
    return period_between(p, fp, end, off);
}

/* ---- what is asked for ----------------------------------------------------------------------- */

double tepal_recycling_least(const struct tepal_recycling_setting *s, double fp)
{
    if (!(fp > 0 && fp < 1) || s->hashes == 0 || !tepal_model_recycling_valid(s, true)) {
        return NAN;
    }
    struct phase p;
    phase_begin(&p, s, NULL);
    double low = 0;
    double high = 1;
    for (int i = 0; i < 50; i++) {
        double middle = (low + high) / 2;
        if (rho(&p, middle) < fp / (2.0 * s->phases)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    double ones = fmax(low * (double)s->bits - s->hashes, 0);
    return fmax(tepal_model_recycling_keys(s, ones), 1);
}

enum tepal_status tepal_recycling_on_stream(const struct tepal_recycling_setting *setting,
                                            double fp, const struct tepal_recycling_stream *stream,
                                            struct tepal_recycling_outlook *outlook)
{
    bool by_sigma = isnan(fp);
    struct recycling_stream s;
    struct tepal_recycling_rates rates;
    struct phase p;
    if ((!by_sigma && !(fp > 0 && fp < 1)) || !tepal_model_stream(stream, &s) ||
        setting->hashes == 0 || !tepal_model_recycling_valid(setting, !by_sigma) ||
        (by_sigma && tepal_recycling_average(setting, TEPAL_RECYCLING_AUTO, &rates) != TEPAL_OK)) {
        return TEPAL_BAD_ARGUMENT;
    }
    phase_begin(&p, setting, &s);
    double period = by_sigma ? tepal_model_stream_period(&s, fmax(rates.messages_per_cycle, 1))
                             : period_for(&p, fp);
    bool ends = period < FOREVER;
    bool repeats = s.fresh < 1;
    double told = at_most_one(cycle_of(&p, ends ? period : FOREVER).told);
    told = by_sigma ? told : fmin(told, fp);
    *outlook = (struct tepal_recycling_outlook){
        .fp = fmax(told, 0),
        .fn = ends && repeats ? at_most_one((1 - told) * s.missed(&s, period, setting->phases)) : 0,
        .period = ends ? period : INFINITY,
        .messages = s.taken(&s, ends ? period : FOREVER),
    };
    return TEPAL_OK;
}
