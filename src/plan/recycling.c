/*
 * recycling.c: the recycling filter, for streams without end, on one to four phases.
 *
 * Plans recycle by average, so that fp holds for new messages whatever the stream. The memory
 * follows from what must be remembered: with p phases of at least N messages, whatever the stream,
 * a message lives for (p-1) N further ones (a little less: cycles vary). Or from the false
 * negatives, if it is known how the stream repeats itself. In the limit of many bits N is
 * proportional to M: that limit (the closed form at 2^40 bits) gives k and N / M for nothing.
 *
 * On a stream of new messages alone, a filter by average is one by sigma: the best k and the number
 * of messages are taken from there. Rates so low that units of 2^-64 are too coarse for them are
 * kept by sigma itself.
 */
#include <stdio.h>

#include <tepal/papers.h>

#include "plan/plan.h"

#define MANY        ((uint64_t)1 << 40)
#define MOST_PHASES 4
/* With a known stream: more never clearly helped. */
#define MOST_PHASES_KNOWN 2
#define SMALL             65536 /* bits: a filter that is not like the limit */
#define TINY              1024  /* up to here every k is tried */

/* Below, sigma. Here a unit of 2^-64 is a thousandth. */
#define LEAST_AVERAGE 0x1p-54

struct design {
    struct tepal_recycling_setting setting; /* by sigma, for the rate below */
    struct tepal_recycling_rates rates;     /* of a stream of new messages alone */
    double average;                         /* that the rule keeps */
    bool remembers;                         /* must it, rather than miss few repeats? */
    double fn;                              /* NaN: the stream is not known */
    double messages;                        /* of a cycle */
};

static bool by_average(const struct design *d)
{
    return d->average >= LEAST_AVERAGE;
}

/* The messages that a phase has at least when it freezes, whatever the stream. */
static double held(const struct design *d)
{
    return by_average(d) ? tepal_recycling_least(&d->setting, d->average)
                         : d->rates.messages_per_cycle;
}

/* What a design is to have much of. */
static double score(const struct design *d)
{
    return d->remembers ? held(d) : d->rates.messages_per_cycle;
}

static bool known(const struct plan_task *task)
{
    return task->wish->stream != TEPAL_STREAM_UNKNOWN;
}

/*
 * A cycle of N messages on average varies by about a quarter of sqrt N: so many there surely are
 * (six standard deviations).
 */
#define VARIES 1.5

static double surely(double messages)
{
    return fmax(messages - VARIES * sqrt(messages), 0);
}

/* Is the memory given, rather than sought? */
static bool is_fixed(const struct plan_task *task)
{
    return !task->smallest || (task->limit != UINT64_MAX && task->n == 0);
}

/* The average that is asked for; NaN: as it costs least. */
static double average_of(const struct plan_task *task)
{
    return isnan(task->wish->fp_average) ? task->fp : task->wish->fp_average;
}

/* What becomes of the design on the stream, if that is known: fn. */
static double misses(const struct plan_task *task, struct design *d)
{
    const struct tepal_wish *w = task->wish;
    const struct tepal_recycling_stream stream = {w->stream,       w->stream_a,    w->stream_b,
                                                  w->stream_fresh, w->stream_keys, w->gaps};
    struct tepal_recycling_outlook o;
    d->messages = d->rates.messages_per_cycle;
    d->fn = NAN;
    if (known(task) && tepal_recycling_on_stream(&d->setting, by_average(d) ? d->average : NAN,
                                                 &stream, &o) == TEPAL_OK) {
        d->messages = o.messages;
        d->fn = o.fn;
    }
    return d->fn;
}

/*
 * Of all phases, at the worst time: by average the frozen ones have 3/2 f together, and the active
 * one no more than each of them. One phase by average may be as full as a burst makes it.
 */
static double worst(const struct design *d)
{
    double p = d->setting.phases;
    if (by_average(d)) {
        return p > 1 ? fmin(1.5 * d->average * p / (p - 1), 1) : 1;
    }
    return -expm1(p * log1p(-d->rates.fp_full));
}

/* The hashes of the limit with which the most is held. */
static void more_hashes(struct design *d)
{
    for (struct design next = *d; next.setting.hashes < TEPAL_MAX_HASHES;) {
        next.setting.hashes++;
        if (tepal_recycling_best_sigma(&next.setting, d->average, &next.rates) != TEPAL_OK ||
            !(score(&next) > score(d))) {
            return;
        }
        *d = next;
    }
}

/* The design in the limit: k, and N, for an average; and for a worst rate if that is stated too. */
static bool limit_design(const struct plan_task *task, uint32_t phases, double average,
                         struct design *d)
{
    bool bounded = !isnan(task->wish->fp_average) && !isnan(task->wish->fp);
    for (int i = 0; i < 12; i++) {
        *d = (struct design){.setting = TEPAL_RECYCLING_SETTING_INIT, .average = average};
        d->setting.bits = MANY;
        d->setting.phases = phases;
        d->setting.retain = true;
        d->remembers = task->n > 0 || !known(task);
        if (tepal_recycling_best_sigma(&d->setting, average, &d->rates) != TEPAL_OK) {
            return false;
        }
        if (!bounded || worst(d) <= task->wish->fp) {
            more_hashes(d);
            return true;
        }
        average *= fmin(0.98, task->wish->fp / worst(d) * (1 - 1e-9));
    }
    return false;
}

/* The limit, scaled to M bits a phase: for searching. */
static struct design scaled(const struct design *d, double bits)
{
    struct design s = *d;
    double more = bits / (double)MANY;
    s.setting.bits = (uint64_t)bits;
    s.setting.sigma = (uint64_t)((double)d->setting.sigma * more);
    s.rates.messages_per_cycle *= more;
    return s;
}

/* Where to look for sigma: as the best so far has it. */
static uint64_t start_of(const struct design *d, uint64_t bits)
{
    const struct tepal_recycling_setting *s = &d->setting;
    return (uint64_t)((double)s->sigma / (double)s->bits * (double)bits);
}

/* The filter of M bits a phase with k hashes; sigma is its own. True: it holds more than *d. */
static bool try_hashes(const struct design *limit, enum tepal_layout layout, uint64_t bits,
                       uint32_t k, struct design *d)
{
    struct design here = *limit;
    bool first = !(d->rates.messages_per_cycle > 0);
    here.setting.layout = layout;
    here.setting.bits = bits;
    here.setting.hashes = k;
    here.setting.sigma = start_of(d, bits);
    if (tepal_recycling_best_sigma(&here.setting, limit->average, &here.rates) != TEPAL_OK ||
        (!first && !(score(&here) > score(d)))) {
        return false;
    }
    *d = here;
    return true;
}

/* ---- how many hashes ------------------------------------------------------------------------- */

/*
 * The number of hashes whose cycles have the most messages, on the way there: they rise to one
 * maximum over it.
 */
struct climb {
    const struct design *limit;
    enum tepal_layout layout;
    uint64_t bits;
    uint32_t step;
    uint32_t at;
    struct design *best; /* no messages: none was found yet */
};

static bool has_one(const struct climb *c)
{
    return c->best->rates.messages_per_cycle > 0;
}

/* Is it better than the best so far? Then it is the best. */
static bool try_at(const struct climb *c, uint32_t k)
{
    return try_hashes(c->limit, c->layout, c->bits, k, c->best);
}

#define MOST_FAILED 3

/* To fewer hashes while that is better; some steps further if there is none at all yet. */
static void descend(struct climb *c)
{
    int failed = 0;
    while (c->at > c->step && failed < MOST_FAILED) {
        bool had_one = has_one(c);
        if (!try_at(c, c->at - c->step) && had_one) {
            return;
        }
        c->at -= c->step;
        failed += !has_one(c);
    }
}

/* To more hashes while that is better. */
static void ascend(struct climb *c)
{
    while (try_at(c, c->at + c->step)) {
        c->at += c->step;
    }
}

/* Where to begin, and in which steps: as the limit has it, unless halves are best alike. */
#define FEW_PAIRED   7
#define MOST_BETWEEN 16 /* beyond it the halves hardly differ */

static uint32_t first_hashes(struct climb *c)
{
    uint32_t k = c->limit->setting.hashes;
    c->step = 1;
    if (c->layout == TEPAL_LAYOUT_PAIRED && k > FEW_PAIRED) {
        k = (k - k / 6) / 2 * 2; /* where the maximum mostly is */
        c->step = 2;
    }
    return k;
}

/*
 * The design of M bits a phase on the layout: a large flat one has the limit's k, a tiny flat one
 * any, the others what is found from there. False: there is none.
 */
static bool settle(const struct design *limit, enum tepal_layout layout, uint64_t bits,
                   struct design *d)
{
    struct climb c = {.limit = limit, .layout = layout, .bits = bits, .best = d};
    uint32_t first = first_hashes(&c);
    uint32_t most = tepal_params_max_hashes(layout);
    *d = *limit;
    d->rates.messages_per_cycle = -1;
    if (layout == TEPAL_LAYOUT_FLAT && bits <= TINY) {
        for (uint32_t k = 1; k <= most && k < bits; k++) {
            (void)try_at(&c, k);
        }
        return has_one(&c);
    }
    (void)try_at(&c, first);
    if (layout == TEPAL_LAYOUT_FLAT && bits > SMALL) {
        return has_one(&c);
    }
    c.at = first < most ? first : most + c.step;
    descend(&c);
    if (c.at >= first) {
        ascend(&c);
    }
    if (c.step > 1 && c.at <= MOST_BETWEEN) {
        (void)try_at(&c, c.at - 1);
        (void)try_at(&c, c.at + 1);
    }
    return has_one(&c);
}

/* ---- how many bits a phase ------------------------------------------------------------------- */

/* The messages of a phase: surely() the other way. */
static double to_remember(const struct plan_task *task, uint32_t phases)
{
    double each = (double)task->n / (phases - 1);
    double root = VARIES / 2 + sqrt(VARIES * VARIES / 4 + each);
    return root * root;
}

static double bits_to_remember(const struct plan_task *task, const struct design *limit)
{
    return to_remember(task, limit->setting.phases) / held(limit) * (double)MANY;
}

/* The fewest bits that keep fn, by halving in logarithms; fn falls as memory grows. */
static double bits_for_fn(const struct plan_task *task, const struct design *limit)
{
    double low = log(64);
    double high = log(0x1p48);
    struct design d = scaled(limit, exp(high));
    if (!(misses(task, &d) <= task->fn)) {
        return INFINITY;
    }
    while (high - low > 2e-3) {
        double middle = (low + high) / 2;
        d = scaled(limit, exp(middle));
        if (misses(task, &d) <= task->fn) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return exp(high);
}

static double bits_wanted(const struct plan_task *task, const struct design *limit)
{
    if (is_fixed(task)) {
        return floor((double)task->limit / limit->setting.phases);
    }
    double bits = 64;
    if (task->n > 0) {
        bits = bits_to_remember(task, limit);
    }
    if (known(task) && (task->fn_stated || task->n == 0)) {
        bits = fmax(bits, bits_for_fn(task, limit));
    }
    return ceil(bits);
}

/* ---- which phases, which average ------------------------------------------------------------- */

/* Lower is better: bits if they are sought, else cost, or the memory's reach. */
static double badness(const struct plan_task *task, const struct design *limit, double bits)
{
    struct design d = scaled(limit, bits);
    if (!is_fixed(task)) {
        return bits * limit->setting.phases;
    }
    /* A tiny filter is not like the limit. */
    if (bits <= TINY && (bits < 1 || !settle(limit, TEPAL_LAYOUT_FLAT, (uint64_t)bits, &d))) {
        return INFINITY;
    }
    if (known(task)) {
        return task->cost_fp * d.average + task->cost_fn * misses(task, &d);
    }
    return -(limit->setting.phases - 1.0) * surely(held(&d));
}

/* Averages to choose from when none is stated and false negatives are known. */
static const double averages[] = {0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5};

static bool choose(const struct plan_task *task, struct design *best, double *bits)
{
    double least = INFINITY;
    bool stated = !isnan(average_of(task));
    size_t count = stated || !known(task) ? 1 : sizeof averages / sizeof *averages;
    uint32_t last = known(task) ? MOST_PHASES_KNOWN : MOST_PHASES;
    /* One phase forgets all at once: what must be remembered needs two. */
    for (uint32_t phases = known(task) && task->n == 0 ? 1 : 2; phases <= last; phases++) {
        for (size_t i = 0; i < count; i++) {
            struct design d;
            double average = stated ? average_of(task) : count == 1 ? 0.01 : averages[i];
            if (!limit_design(task, phases, average, &d)) {
                continue;
            }
            double wanted = bits_wanted(task, &d);
            double bad = wanted < 0x1p58 ? badness(task, &d, wanted) : INFINITY;
            if (bad < least) {
                least = bad;
                *best = d;
                *bits = wanted;
            }
        }
    }
    return least < INFINITY;
}

/* ---- plans ----------------------------------------------------------------------------------- */

static void add(const struct plan_task *task, struct design *d, struct tepal_plans *out)
{
    const struct tepal_recycling_setting *s = &d->setting;
    struct tepal_proposal *plan = tepal_plan_add(out, TEPAL_KIND_RECYCLING, s->layout);
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.kind = TEPAL_KIND_RECYCLING;
    p.layout = s->layout;
    p.cells = s->bits;
    p.hashes = s->hashes;
    p.recycling.phases = s->phases;
    p.recycling.rule = by_average(d) ? TEPAL_RECYCLING_AVERAGE : TEPAL_RECYCLING_SIGMA;
    p.recycling.limit = by_average(d) ? (uint64_t)(d->average * 0x1p64) : s->sigma;
    p.recycling.flags = TEPAL_RECYCLING_RETAIN;
    plan->params = p;
    plan->bits = s->bits * s->phases;
    plan->fp = by_average(d) ? d->average : d->rates.fp_average;
    plan->fn = d->fn;
    plan->messages_per_cycle = d->messages;
    plan->remembers = (s->phases - 1.0) * surely(held(d));
    double fill = (double)s->sigma / (double)s->bits * 0.6; /* on average, of a phase that fills */
    plan->probes = s->phases * tepal_plan_reads(s->layout, fill, s->hashes, s->bits);
    char memory[96] = "";
    if (s->phases > 1) {
        snprintf(memory, sizeof memory, " (at most %.3g %%); remembers the latest %.0f keys",
                 100 * worst(d), plan->remembers);
    }
    snprintf(plan->reason, sizeof plan->reason, "fp is the average over time%s%s", memory,
             isnan(d->fn) ? "; false negatives depend on the stream: give its gaps" : "");
    tepal_plan_finish(task, plan);
}

/*
 * A little more memory, so that a cycle has the wanted messages. Lines are alike: sigma grows with
 * them, and one average tells whether it went well. The flat layout knows better.
 */
static bool grow(const struct design *limit, double wanted, double more, struct design *d)
{
    struct tepal_recycling_setting *s = &d->setting;
    uint64_t unit = params_unit(s->layout, 1);
    double bits = (double)s->bits * wanted / score(d) * (1 + more);
    if (!(bits < 0x1p60)) {
        return false;
    }
    uint64_t whole = tepal_plan_down((uint64_t)bits + 2 * unit - 1, unit);
    double share = (double)s->sigma / (double)s->bits;
    if (s->layout == TEPAL_LAYOUT_FLAT) {
        d->rates.messages_per_cycle = -1;
        return try_hashes(limit, s->layout, whole, s->hashes, d);
    }
    s->bits = whole;
    for (int i = 0; i < 4 && share > 0; i++) {
        s->sigma = (uint64_t)(share * (double)whole);
        if (tepal_recycling_average(s, TEPAL_RECYCLING_AUTO, &d->rates) != TEPAL_OK) {
            return false;
        }
        double off = d->rates.fp_average / limit->average;
        if (off <= 1) {
            return true;
        }
        share -= share * (off - 1) / s->hashes + 1 / (double)whole;
    }
    return false;
}

/*
 * Settles the design on the layout: if the memory is sought, so much of it that a cycle has as many
 * messages as the limit has with `bits`.
 */
static bool finish(const struct plan_task *task, const struct design *limit,
                   enum tepal_layout layout, double bits, struct design *d)
{
    uint64_t unit = params_unit(layout, 1);
    struct design ideal = scaled(limit, bits);
    double wanted = score(&ideal);
    if (task->n > 0) {
        wanted = fmax(wanted, to_remember(task, limit->setting.phases));
    }
    bool fixed = is_fixed(task);
    uint64_t whole = fixed ? tepal_plan_down((uint64_t)bits, unit)
                           : tepal_plan_down((uint64_t)bits + unit - 1, unit);
    if (whole == 0 || !settle(limit, layout, whole, d)) {
        return false;
    }
    double more = 1e-5;
    for (; more < 0.1 && !fixed && score(d) < wanted; more *= 4) {
        if (!grow(limit, wanted, more, d)) {
            return false;
        }
    }
    (void)misses(task, d);
    return true;
}

void tepal_plan_recycling(const struct plan_task *task, struct tepal_plans *out)
{
    struct plan_bar bar = tepal_plan_bar(task, TEPAL_KIND_RECYCLING);
    struct design limit;
    struct design d;
    double bits = 0;
    plan_bar_if(&bar, !task->wish->endless, "keys", "forgets old keys: only for endless streams");
    plan_bar_if(&bar, task->wish->header_bits > 0, "header-bits", "not for headers");
    plan_bar_if(&bar, task->fn_stated && !(task->fn > 0), "fn",
                "forgets old keys, but no false negatives are allowed");
    plan_bar_if(&bar, bar.why == NULL && !choose(task, &limit, &bits), "fn",
                "no size achieves these rates on this stream");
    plan_bar_if(&bar, bar.why == NULL && !finish(task, &limit, TEPAL_LAYOUT_FLAT, bits, &d),
                "memory", "the memory is too small for a phase");
    if (tepal_plan_barred(out, TEPAL_KIND_RECYCLING, bar)) {
        return;
    }
    add(task, &d, out);
    for (int layout = TEPAL_LAYOUT_PARTITIONED; layout <= (int)task->last; layout++) {
        if (finish(task, &limit, (enum tepal_layout)layout, bits, &d)) {
            add(task, &d, out);
        } else {
            tepal_plan_no(tepal_plan_add(out, TEPAL_KIND_RECYCLING, (enum tepal_layout)layout),
                          "memory", "a phase of whole cache lines cannot achieve this rate");
        }
    }
}
