/*
 * average_help.h: streams that repeat, and what a recycling filter tells and does with them: for
 * recycling_average_stat.c, and with a hundred times the messages for recycling_average_soak.c.
 *
 * A message is new with chance q, whatever came before: then it is found with the chance that the
 * filter told just before. So "new and found" happens with chance q told at each arrival; its
 * number, less q times the sum of told, is a sum of differences that are 0 on average given the
 * past, and its variance is at most q times that sum. That gives a z-test for any stream and any
 * rule. On the flat layout nothing else is allowed for. On the others told comes from the model of
 * a phase at its number of ones, where AVERAGE_MODEL is allowed for 32 lines of it.
 *
 * In lines there is a second chance. The keys that repeat lie on the lines as they happen to, and
 * stay there, cycle for cycle. Told knows how many ones there are, so the first order of that goes
 * out; what stays is that the n keys of a line vary more or less from line to line than they
 * should. A line's rate is g(n) = (1 - e^(-kn/512))^k, and the variance of n over L lines is off
 * by sqrt(2 / (L - 1)) of itself, so that the mean rate is off by (g''/2g) E[n] sqrt(2 / (L - 1)):
 * 2.6 % of itself for 1430 keys on 32 lines, less where fewer keys stay. AVERAGE_SPREAD allows for
 * it, as a standard deviation for each set of keys that repeat; a run may take several sets.
 */
#ifndef TEPAL_TESTS_AVERAGE_HELP_H
#define TEPAL_TESTS_AVERAGE_HELP_H

#include <tepal/papers.h>

#include "check.h"
#include "recycling_help.h"

#define AVERAGE_CELLS  16384
#define AVERAGE_HASHES 6
#define AVERAGE_FP     0.01
#define AVERAGE_MODEL  0.01
#define AVERAGE_SPREAD 0.026
#define AVERAGE_RECENT 1024

enum shape { UNIFORM, POWER, IN_TURN, LATELY, ZIPF };

/* The first five are the streams on which a fixed sigma finds 1.00, 1.18, 2.16, 1.07, 1.18 %. */
static const struct stream {
    const char *name;
    double fresh; /* q */
    enum shape shape;
    double keys;
    double exponent;
} average_streams[] = {
    {"all new", 1, UNIFORM, 1, 0},
    {"2 % new, uniform over 4290", 0.02, UNIFORM, 4290, 0},
    {"2 % new, uniform over 1430", 0.02, UNIFORM, 1430, 0},
    {"5 % new, skewed over 20,000", 0.05, POWER, 20000, 3},
    {"30 % new, skewed over 3000", 0.3, POWER, 3000, 2},
    {"10 % new, 5000 in turn", 0.1, IN_TURN, 5000, 0},
    {"50 % new, or one of the last 1024", 0.5, LATELY, AVERAGE_RECENT, 0},
    {"20 % new, Zipf over 20,000", 0.2, ZIPF, 20000, 0},
};

struct source {
    const struct stream *stream;
    uint64_t random;
    uint64_t set; /* which keys the repeated ones are */
    uint64_t arrivals;
    struct tepal_digest recent[AVERAGE_RECENT];
};

static inline double average_uniform(uint64_t *random)
{
    return (double)(check_random(random) >> 11) * 0x1p-53;
}

static inline struct tepal_digest average_numbered(const struct source *s, double number)
{
    uint64_t state = (s->set << 32) + (uint64_t)number * 2 + 1;
    return check_digest(&state);
}

static inline struct tepal_digest average_repeat(struct source *s)
{
    double keys = s->stream->keys;
    double u = average_uniform(&s->random);
    switch (s->stream->shape) {
    case UNIFORM:
        return average_numbered(s, keys * u);
    case POWER:
        return average_numbered(s, keys * pow(u, s->stream->exponent));
    case IN_TURN:
        return average_numbered(s, fmod((double)s->arrivals, keys));
    case LATELY:
        return s->recent[(size_t)(keys * u)];
    case ZIPF:
        break;
    }
    return average_numbered(s, pow(keys, u));
}

static inline struct tepal_digest average_next(struct source *s, bool *fresh)
{
    *fresh = average_uniform(&s->random) < s->stream->fresh || s->arrivals < AVERAGE_RECENT;
    struct tepal_digest d = *fresh ? check_digest(&s->random) : average_repeat(s);
    s->recent[s->arrivals++ % AVERAGE_RECENT] = d;
    return d;
}

static inline struct tepal_filter *average_make(enum tepal_layout layout,
                                                enum tepal_positions positions, uint32_t phases,
                                                uint64_t cells)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct recycling_options options = RECYCLING_OPTIONS_INIT;
    struct tepal_filter *f = NULL;
    p.layout = layout;
    p.positions = positions;
    p.cells = cells;
    p.hashes = AVERAGE_HASHES;
    options.phases = phases;
    options.rule = TEPAL_RECYCLING_AVERAGE;
    options.limit = (uint64_t)(AVERAGE_FP * 0x1p64);
    set_recycling(&p, &options);
    assert_ok(tepal_filter_create(&p, NULL, &f, NULL));
    return f;
}

struct outcome {
    double told;     /* the average over all arrivals */
    double expected; /* new messages found: q times the sum of told */
    double found;    /* as counted */
    double fresh;    /* of so many, on average */
    double repeats;
    double missed; /* of them, not found */
};

static inline struct outcome average_run(struct tepal_filter *f, const struct stream *stream,
                                         uint64_t seed, uint64_t set, uint64_t arrivals)
{
    static struct source s;
    struct outcome out = {.fresh = stream->fresh * (double)arrivals};
    s.stream = stream;
    s.random = seed;
    s.set = set;
    s.arrivals = 0;
    bool fresh;
    bool seen;
    for (size_t i = 0; i < AVERAGE_RECENT; i++) { /* nothing to repeat yet: these do not count */
        assert_ok(tepal_filter_test_add(f, average_next(&s, &fresh), &seen));
    }
    double before = recycling_figures(f).fp_so_far * AVERAGE_RECENT;
    for (uint64_t i = 0; i < arrivals; i++) {
        assert_ok(tepal_filter_test_add(f, average_next(&s, &fresh), &seen));
        out.found += fresh && seen;
        out.repeats += !fresh;
        out.missed += !fresh && !seen;
    }
    out.told = recycling_figures(f).fp_so_far;
    out.expected = stream->fresh * (out.told * (double)(arrivals + AVERAGE_RECENT) - before);
    assert_true(recycling_figures(f).cycles >= 10);
    assert_ok(tepal_filter_validate(f, NULL));
    return out;
}

/* `sd` is the standard deviation of what is found, if told is right. */
static inline void average_tell(const char *how, uint32_t phases, const struct stream *s,
                                struct outcome o, double sd)
{
    print_message(
        "%-11s %u  %-34s told %.4f %%  measured %.4f %% +- %.4f  z %6.2f  missed %.3f %%\n", how,
        phases, s->name, 100 * o.told, 100 * o.found / o.fresh, 100 * sd / o.fresh,
        (o.found - o.expected) / sd, o.repeats > 0 ? 100 * o.missed / o.repeats : 0);
}

/*
 * One and two phases: what is told is what happens, and it is what was asked for. The arrivals are
 * shared among `sets` streams with different keys.
 */
static inline void average_told_is_measured(enum tepal_layout layout, uint32_t phases, size_t i,
                                            uint64_t arrivals, uint64_t sets)
{
    bool flat = layout == TEPAL_LAYOUT_FLAT;
    enum tepal_positions positions = (enum tepal_positions)(i % 2);
    struct outcome sum = {0};
    double variance = 0;
    for (uint64_t set = 0; set < sets; set++) {
        struct tepal_filter *f = average_make(layout, positions, phases, AVERAGE_CELLS);
        struct outcome o =
            average_run(f, &average_streams[i], 1 + i + 64 * set, set, arrivals / sets);
        assert_true(o.told <= AVERAGE_FP * 1.005 && o.told >= AVERAGE_FP * 0.99);
        variance += o.expected + (flat ? 0 : pow(AVERAGE_SPREAD * o.expected, 2));
        sum.told += o.told / (double)sets;
        sum.expected += o.expected;
        sum.found += o.found;
        sum.fresh += o.fresh;
        sum.repeats += o.repeats;
        sum.missed += o.missed;
        tepal_filter_free(f);
    }
    average_tell(tepal_layout_name(layout), phases, &average_streams[i], sum, sqrt(variance));
    assert_true(fabs(sum.found - sum.expected) <=
                CHECK_Z * sqrt(variance) + (flat ? 0 : AVERAGE_MODEL * sum.expected));
}

/* More phases: at most what is told. */
static inline void average_told_is_a_bound(uint32_t phases, size_t i, uint64_t arrivals)
{
    struct tepal_filter *f =
        average_make(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, phases, AVERAGE_CELLS / 4);
    struct outcome o = average_run(f, &average_streams[i], 100 + i, 0, arrivals);
    average_tell("flat", phases, &average_streams[i], o, sqrt(o.expected));
    assert_true(o.found <= o.expected + CHECK_Z * sqrt(o.expected));
    assert_true(o.told <= AVERAGE_FP * 1.005 && o.told >= AVERAGE_FP * 0.99);
    tepal_filter_free(f);
}

/*
 * What the rule is for: by sigma more of the new messages are found. The shares of the first five
 * streams, in percent and with one phase, are known from another program, too.
 */
static inline void average_by_sigma(uint32_t phases, size_t i, uint64_t arrivals)
{
    static const double known[] = {1.00, 1.18, 2.16, 1.07, 1.18};
    struct tepal_recycling_setting s = TEPAL_RECYCLING_SETTING_INIT;
    struct tepal_recycling_rates rates;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct recycling_options options = RECYCLING_OPTIONS_INIT;
    struct tepal_filter *f = NULL;
    s.bits = p.cells = AVERAGE_CELLS;
    s.hashes = p.hashes = AVERAGE_HASHES;
    s.phases = options.phases = phases;
    s.retain = true;
    assert_ok(tepal_recycling_best_sigma(&s, AVERAGE_FP, &rates));
    options.limit = s.sigma;
    set_recycling(&p, &options);
    assert_ok(tepal_filter_create(&p, NULL, &f, NULL));
    struct outcome o = average_run(f, &average_streams[i], 1 + i, 0, arrivals);
    average_tell("sigma", phases, &average_streams[i], o, sqrt(o.expected));
    if (phases == 1 && i < COUNT(known)) { /* to two decimals, from 3 * 10^6 arrivals */
        double share = o.found / o.fresh;
        double there = share / (average_streams[i].fresh * 3e6);
        double error = sqrt(share / o.fresh + there);
        assert_true(fabs(share - known[i] / 100) <= CHECK_Z * error + 5e-5);
    }
    tepal_filter_free(f);
}

#endif
