/*
 * recycling_stream_unit.c: the model of recycling filters on streams that repeat, by average and by
 * sigma: against sums over every single arrival, against the model without repeats, in the limits;
 * and what a phase holds at least, on streams that are made to be bad.
 */
#include "check.h"
#include "recycling_help.h"

#include <tepal/papers.h>

static struct tepal_recycling_setting setting_of(enum tepal_layout layout, uint64_t bits,
                                                 uint32_t hashes, uint32_t phases)
{
    struct tepal_recycling_setting s = TEPAL_RECYCLING_SETTING_INIT;
    s.layout = layout;
    s.bits = bits;
    s.hashes = hashes;
    s.phases = phases;
    s.retain = true;
    return s;
}

static struct tepal_recycling_outlook outlook(const struct tepal_recycling_setting *s, double fp,
                                              const struct tepal_recycling_stream *stream)
{
    struct tepal_recycling_outlook o;
    assert_ok(tepal_recycling_on_stream(s, fp, stream, &o));
    return o;
}

static void near(double value, double expected, double most)
{
    if (!(fabs(value - expected) <= most * fabs(expected))) {
        fail_msg("%.9g is not within %g of %.9g", value, most, expected);
    }
}

/* Without repeats there is only one average: the sweep's, and the closed form's. */
static void all_new(void **unused)
{
    (void)unused;
    const struct tepal_recycling_stream stream = {.law = TEPAL_STREAM_UNKNOWN};
    for (int layout = 0; layout < 4; layout++) {
        for (uint32_t phases = 1; phases <= 3; phases++) {
            struct tepal_recycling_setting s =
                setting_of((enum tepal_layout)layout, 1 << 17, 0, phases);
            struct tepal_recycling_rates rates;
            assert_ok(tepal_recycling_best_sigma(&s, 0.01, &rates));
            struct tepal_recycling_outlook sigma = outlook(&s, NAN, &stream);
            struct tepal_recycling_outlook average = outlook(&s, 0.01, &stream);
            near(sigma.fp, rates.fp_average, 5e-3);
            near(sigma.messages, rates.messages_per_cycle, 1e-6);
            near(average.fp, 0.01, 1e-5);
            near(average.messages, rates.messages_per_cycle, 2e-3);
            near(average.period, average.messages, 1e-6);
            assert_true(sigma.fn == 0 && average.fn == 0);
        }
    }
}

/* ---- one arrival after the other ------------------------------------------------------------- */

/* A share of new messages, the others uniform over some keys; flat, colliding. */
struct made {
    double cells, hashes, phases, fresh, keys;
};

static double in_phase(const struct made *m, double t)
{
    return m->keys * -expm1(t * log1p(-(1 - m->fresh) / m->keys));
}

static double rho(const struct made *m, double share)
{
    return pow(share, m->hashes);
}

/* told, on average over the arrivals of a cycle of so many; *bar: what the rule compares. */
static double told_of(const struct made *m, uint64_t period, double *bar)
{
    double alone = m->hashes * log1p(-1 / m->cells);
    double pool = in_phase(m, (double)period);
    double full = m->fresh * (double)period + pool;
    double zeros = exp(full * alone);
    double mean = 0;
    double overlap = 0;
    for (uint64_t i = 0; i < period; i++) {
        double t = (double)i;
        double n = 1 + m->fresh * t + in_phase(m, t);
        double shared = in_phase(m, t) * pool / m->keys;
        double both = 1 - exp(n * alone) - zeros + exp((n + full - shared) * alone);
        mean += rho(m, -expm1(n * alone)) / (double)period;
        overlap += rho(m, both) / (double)period;
    }
    double last = 1 - 2 * zeros + exp((2 * full - pool * pool / m->keys) * alone);
    *bar = mean + (m->phases - 1) * rho(m, 1 - zeros);
    return *bar - (m->phases > 1 ? overlap : 0) -
           (m->phases > 2 ? (m->phases - 2) * rho(m, last) : 0);
}

static void by_single_arrivals(void **unused)
{
    (void)unused;
    static const struct made made[] = {
        {16384, 6, 1, 0.02, 4290}, {16384, 6, 1, 0.02, 1430}, {16384, 6, 2, 0.02, 1430},
        {16384, 6, 2, 0.3, 3000},  {8192, 5, 3, 0.05, 900},   {8192, 7, 8, 0.1, 300},
        {4096, 4, 2, 0.01, 300},
    };
    for (size_t i = 0; i < COUNT(made); i++) {
        const struct made *m = &made[i];
        const double f = 0.01;
        uint64_t period = 1;
        double bar;
        for (uint64_t step = 1 << 18; step > 0; step /= 2) { /* the last one within f */
            double told = told_of(m, period + step, &bar);
            period += told <= f && bar <= 1.5 * f ? step : 0;
        }
        double told = told_of(m, period, &bar);
        struct tepal_recycling_setting s = setting_of(TEPAL_LAYOUT_FLAT, (uint64_t)m->cells,
                                                      (uint32_t)m->hashes, (uint32_t)m->phases);
        struct tepal_recycling_stream stream = {
            .law = TEPAL_STREAM_GEOMETRIC, .a = m->keys / (1 - m->fresh), .fresh = m->fresh};
        struct tepal_recycling_outlook o = outlook(&s, f, &stream);
        /* where little is new, half a message is many arrivals */
        near(o.period, (double)period, 5e-3 + 0.5 / (m->fresh * (double)period));
        /* an integral instead of a sum: half an arrival */
        near(o.messages, m->fresh * o.period + in_phase(m, o.period), 1 / m->keys);
        near(o.fp, told, 5e-3);
        double missed = exp(log1p(-(1 - m->fresh) / m->keys) * (m->phases - 1) * o.period);
        double fn = (1 - o.fp) * missed * in_phase(m, o.period) / (1 - m->fresh) / o.period;
        assert_true(fabs(o.fn - fn) <= 2 * m->phases * o.period / m->keys / m->keys * fn + 1e-15);
        /* By a sigma that gives such cycles, it is the same. */
        struct tepal_recycling_rates rates;
        for (s.sigma = s.hashes; s.sigma < s.bits; s.sigma++) {
            assert_ok(tepal_recycling_average(&s, TEPAL_RECYCLING_CLOSED, &rates));
            if (rates.messages_per_cycle >= o.messages) {
                break;
            }
        }
        struct tepal_recycling_outlook sigma = outlook(&s, NAN, &stream);
        near(sigma.fp, o.fp, 0.02);
        near(sigma.messages, o.messages, 2e-3);
    }
}

/* Uniform popularity is geometric gaps; and the gaps of a formula are those of its steps. */
static void laws_agree(void **unused)
{
    (void)unused;
    double gap[4000];
    double survival[4000];
    for (size_t i = 0; i < COUNT(gap); i++) {
        gap[i] = (double)(i + 1) * 2.5;
        survival[i] = exp(log1p(-1 / 1000.0) * ((double)i + 1.5) * 2.5); /* in their middle */
    }
    for (uint32_t phases = 1; phases <= 3; phases++) {
        struct tepal_recycling_setting s = setting_of(TEPAL_LAYOUT_FLAT, 4096, 6, phases);
        struct tepal_recycling_stream geometric = {.law = TEPAL_STREAM_GEOMETRIC, .a = 1000};
        struct tepal_recycling_stream zipf = {.law = TEPAL_STREAM_ZIPF, .a = 0, .keys = 1000};
        struct tepal_recycling_stream steps = {.law = TEPAL_STREAM_GAPS};
        steps.gaps = (struct tepal_gaps){gap, survival, COUNT(gap), 0};
        struct tepal_recycling_outlook a = outlook(&s, 0.01, &geometric);
        struct tepal_recycling_outlook b = outlook(&s, 0.01, &zipf);
        struct tepal_recycling_outlook c = outlook(&s, 0.01, &steps);
        near(b.period, a.period, 2e-3);
        near(b.fn, a.fn, 2e-3);
        near(c.period, a.period, 2e-3);
        near(c.fn, a.fn, 2e-3);
    }
}

static void what_never_recycles(void **unused)
{
    (void)unused;
    struct tepal_recycling_setting s = setting_of(TEPAL_LAYOUT_FLAT, 16384, 6, 2);
    struct tepal_recycling_stream stream = {.law = TEPAL_STREAM_ZIPF, .a = 1, .keys = 1000};
    struct tepal_recycling_outlook o = outlook(&s, 0.01, &stream);
    assert_true(isinf(o.period) && o.fn == 0);
    near(o.messages, 1000, 1e-6);
    near(o.fp, tepal_bloom_fp(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 16384, 1000, 6), 0.02);
    stream = (struct tepal_recycling_stream){.law = TEPAL_STREAM_GEOMETRIC, .a = 1000, .fresh = 0};
    assert_true(isinf(outlook(&s, 0.01, &stream).period));
    stream.fresh = 1e-9; /* but a trickle of new ones fills it */
    o = outlook(&s, 0.01, &stream);
    assert_true(o.period > 1e11 && o.period < 1e13 && o.fn < 1e-6);
}

static void what_cannot_be(void **unused)
{
    (void)unused;
    struct tepal_recycling_setting good = setting_of(TEPAL_LAYOUT_FLAT, 1000, 5, 2);
    struct tepal_recycling_stream stream = {.law = TEPAL_STREAM_GEOMETRIC, .a = 10, .fresh = 0.5};
    struct tepal_recycling_outlook o = {.fp = 99};
    struct tepal_recycling_setting s = good;
#define BAD(fp) assert_int_equal(tepal_recycling_on_stream(&s, fp, &stream, &o), TEPAL_BAD_ARGUMENT)
    BAD(0);
    BAD(1);
    BAD(NAN); /* by sigma, and there is none */
    s.phases = 0;
    BAD(0.01);
    s = good;
    s.hashes = 0;
    BAD(0.01);
    assert_true(isnan(tepal_recycling_least(&s, 0.01)));
    s = good;
    assert_true(isnan(tepal_recycling_least(&s, 0)));
    stream.fresh = 2;
    BAD(0.01);
    stream = (struct tepal_recycling_stream){.law = TEPAL_STREAM_ZIPF, .a = 1};
    BAD(0.01);
    stream.law = (enum tepal_stream)9;
    BAD(0.01);
#undef BAD
    assert_true(o.fp == 99);
}

/* ---- the least that a phase holds ------------------------------------------------------------ */

struct least {
    double messages;
    uint64_t cycles;
};

static void note_cycle(void *context, const struct tepal_recycling_cycle *cycle)
{
    struct least *l = context;
    l->messages = fmin(l->messages, (double)cycle->messages);
    l->cycles = cycle->number;
}

/* Bursts of new messages, and long nights with nothing but repeats of one: phases fill at once. */
static void no_phase_freezes_early(void **unused)
{
    (void)unused;
    for (uint32_t variant = 0; variant < 48; variant++) {
        enum tepal_layout layout = (enum tepal_layout)(variant % 4);
        uint32_t phases = 1 + variant / 4 % 4;
        uint64_t night = variant < 16 ? 0 : variant < 32 ? 3000 : 20000;
        struct tepal_recycling_setting s = setting_of(layout, 8192, 6, phases);
        double least = tepal_recycling_least(&s, 0.01);
        struct tepal_params p = TEPAL_PARAMS_INIT;
        struct recycling_options options = RECYCLING_OPTIONS_INIT;
        struct tepal_filter *f = NULL;
        struct least seen = {1e9, 0};
        uint64_t random = variant;
        p.layout = layout;
        p.cells = s.bits;
        p.hashes = s.hashes;
        options.phases = phases;
        options.rule = TEPAL_RECYCLING_AVERAGE;
        options.limit = (uint64_t)(0.01 * 0x1p64);
        set_recycling(&p, &options);
        assert_ok(tepal_filter_create(&p, NULL, &f, NULL));
        assert_ok(tepal_recycling_on_recycle(f, note_cycle, &seen));
        struct tepal_digest same = check_digest(&random);
        for (uint64_t i = 0; i < 250000; i++) {
            bool day = i % (night + 400) < 400;
            assert_ok(tepal_filter_add(f, day ? check_digest(&random) : same));
        }
        assert_true(seen.cycles > 3);
        assert_true(seen.messages >= least - 1.5 * sqrt(least)); /* six standard deviations */
        assert_true(seen.messages < 2 * least); /* and the bound is not an empty one */
        tepal_filter_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_new),        cmocka_unit_test(by_single_arrivals),
        cmocka_unit_test(laws_agree),     cmocka_unit_test(what_never_recycles),
        cmocka_unit_test(what_cannot_be), cmocka_unit_test(no_phase_freezes_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
