/*
 * recycling_stat.c: do recycling filters make the errors that the model predicts? Long streams
 * through the real filter, so this runs in the optimised build only.
 *
 * Messages of one stream are not independent: those of a cycle meet the same bits. So a stream is
 * cut into BATCHES long pieces, each of many cycles, and the spread of the pieces' averages gives
 * the standard error of the whole.
 *
 * The variants are held to the 99.9 % interval, |t| <= 3.34 with 199 degrees of freedom. 80 such
 * intervals of a true model all hold in 92 of 100 choices of the seed; SEED is the first that was
 * tried, and it is stated here so that nobody takes this for more than it is. What is certain
 * enough to mean something for any seed is checked beside it: no |t| beyond CHECK_Z, and the sum of
 * the squares, which is 80 +- 13 if the model is right and far above if it is not. (With other
 * points one of the 80 was outside, t = 3.67; half of that was chance, half of it is what
 * small_and_full is about, where such points now are.)
 */
#include "check.h"
#include "recycling_help.h"

#include <tepal/papers.h>

#define SEED    1
#define BATCHES 200
#define T_999   3.34
#define CHUNK   4096

struct measured {
    double mean;
    double error; /* its standard error */
};

static struct measured from_batches(const double *batch, size_t count)
{
    double sum = 0;
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        sum += batch[i];
    }
    double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++) {
        squares += (batch[i] - mean) * (batch[i] - mean);
    }
    return (struct measured){mean, sqrt(squares / ((double)count - 1) / (double)count)};
}

static struct tepal_filter *make(const struct tepal_recycling_setting *s,
                                 enum tepal_recycling_rule rule, uint64_t limit)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct recycling_options options = RECYCLING_OPTIONS_INIT;
    struct tepal_filter *r;
    p.layout = s->layout;
    p.positions = s->positions;
    p.cells = s->bits;
    p.hashes = s->hashes;
    options.phases = s->phases;
    options.rule = rule;
    options.limit = limit;
    options.retain = s->retain;
    options.keep_trigger = s->keep_trigger;
    set_recycling(&p, &options);
    assert_ok(tepal_filter_create(&p, NULL, &r, NULL));
    return r;
}

/* New messages only; every "seen" is a false positive. *cycle gets the messages a cycle. */
static struct measured all_new(struct tepal_filter *r, uint64_t seed, size_t messages,
                               double *cycle)
{
    static struct tepal_digest digests[CHUNK];
    static double batch[BATCHES];
    uint64_t answers[CHUNK / 64];
    uint64_t random = seed;
    double before = 0;
    /* The first cycles are not yet as all later ones: the phases fill one after the other. */
    for (size_t b = 0; b < BATCHES + 20; b++) {
        size_t positives = 0;
        if (b == 20) {
            before = (double)recycling_figures(r).cycles;
        }
        for (size_t i = 0; i < messages; i += CHUNK) {
            size_t seen;
            check_digests(&random, digests, CHUNK);
            assert_ok(tepal_filter_test_add_many(r, digests, CHUNK, answers, &seen));
            positives += seen;
        }
        if (b >= 20) {
            batch[b - 20] = (double)positives / (double)messages;
        }
    }
    *cycle = (double)messages * BATCHES / ((double)recycling_figures(r).cycles - before);
    return from_batches(batch, BATCHES);
}

/* ---- the variants ---------------------------------------------------------------------------- */

/*
 * Four variants, 20 points each: sizes, hashes, fills, numbers of phases, the trigger kept or not.
 */
static void the_model_is_right(void **state)
{
    (void)state;
    static const struct {
        uint64_t m;
        uint32_t k;
        double fill;
    } at[20] = {
        {200, 1, 0.3},  {200, 4, 0.4},  {200, 4, 0.6},   {300, 5, 0.5},   {300, 6, 0.7},
        {500, 5, 0.4},  {500, 3, 0.25}, {500, 8, 0.7},   {600, 2, 0.2},   {700, 4, 0.5},
        {1000, 1, 0.1}, {1000, 2, 0.3}, {1000, 5, 0.4},  {1000, 5, 0.6},  {1000, 7, 0.7},
        {64, 4, 0.5},   {64, 3, 0.9},   {1500, 4, 0.45}, {2000, 3, 0.35}, {2000, 6, 0.65},
    };
    unsigned outside = 0;
    double squares = 0;
    for (unsigned variant = 0; variant < 4; variant++) {
        for (unsigned i = 0; i < 20; i++) {
            struct tepal_recycling_setting s = TEPAL_RECYCLING_SETTING_INIT;
            struct tepal_recycling_rates rates;
            double cycle;
            s.positions = variant & 1 ? TEPAL_POSITIONS_DISTINCT : TEPAL_POSITIONS_COLLIDING;
            s.retain = variant & 2;
            s.keep_trigger = i % 4 >= 2;
            s.phases = 1 + i % 2 + (i % 5 == 4);
            s.bits = at[i].m;
            s.hashes = at[i].k;
            s.sigma = (uint64_t)((double)at[i].m * at[i].fill);
            assert_ok(tepal_recycling_average(&s, TEPAL_RECYCLING_SWEEP, &rates));
            struct tepal_filter *r = make(&s, TEPAL_RECYCLING_SIGMA, s.sigma);
            struct measured got = all_new(r, SEED + 1000003 * (20 * variant + i), CHUNK, &cycle);
            double t = (got.mean - rates.fp_average) / got.error;
            squares += t * t;
            if (!(fabs(t) <= T_999)) {
                print_error("variant %u, point %u: measured %.6g +- %.2g, model %.6g (t = %.2f)\n",
                            variant, i, got.mean, got.error, rates.fp_average, t);
                outside++;
            }
            check_within("average", got.mean, rates.fp_average, got.error);
            /* thousands of cycles, each within a few messages of the mean */
            if (!(fabs(cycle / rates.messages_per_cycle - 1) < 0.005)) {
                print_error("variant %u, point %u: %.6g messages a cycle, model %.6g\n", variant, i,
                            cycle, rates.messages_per_cycle);
                outside++;
            }
            tepal_filter_free(r);
        }
    }
    print_message("80 points: sum of squares %.1f\n", squares);
    assert_int_equal(outside, 0);
    assert_true(squares > 80 - 6.5 * 12.8 && squares < 80 + 6.5 * 12.8);
}

/*
 * Small and full. A retained trigger is one message of the active phase that is not independent of
 * the frozen one: it was new there. The model leaves that out (docs/models.md); where a cycle has
 * few messages and both phases often say yes at once, it can be measured, and is within 2 %.
 */
static void small_and_full(void **state)
{
    (void)state;
    static const struct {
        uint64_t m;
        uint32_t k;
    } at[] = {{200, 2}, {64, 2}, {300, 3}};
    for (unsigned i = 0; i < 6; i++) {
        struct tepal_recycling_setting s = TEPAL_RECYCLING_SETTING_INIT;
        struct tepal_recycling_rates rates;
        double cycle;
        s.positions = i & 1 ? TEPAL_POSITIONS_DISTINCT : TEPAL_POSITIONS_COLLIDING;
        s.retain = true;
        s.phases = 2;
        s.bits = at[i / 2].m;
        s.hashes = at[i / 2].k;
        s.sigma = s.bits / 2;
        assert_ok(tepal_recycling_average(&s, TEPAL_RECYCLING_SWEEP, &rates));
        struct tepal_filter *r = make(&s, TEPAL_RECYCLING_SIGMA, s.sigma);
        struct measured got = all_new(r, SEED + i, 2 * CHUNK, &cycle);
        print_message("M = %u: measured %.6g +- %.2g, model %.6g (%+.2f %%)\n", (unsigned)s.bits,
                      got.mean, got.error, rates.fp_average,
                      100 * (got.mean / rates.fp_average - 1));
        assert_true(fabs(got.mean / rates.fp_average - 1) < 0.02);
        tepal_filter_free(r);
    }
}

/* ---- other layouts --------------------------------------------------------------------------- */

/*
 * The layouts whose average is an integral over the layout's own rate. 64 lines a phase: the model
 * takes the fill for certain, which costs it some parts in a thousand at this size.
 */
static void other_layouts(void **state)
{
    (void)state;
    for (int layout = 1; layout < 4; layout++) {
        for (uint32_t phases = 1; phases <= 2; phases++) {
            for (uint32_t k = 4; k <= 10; k += 3 * phases) {
                struct tepal_recycling_setting s = TEPAL_RECYCLING_SETTING_INIT;
                struct tepal_recycling_rates rates;
                double cycle;
                s.layout = (enum tepal_layout)layout;
                s.bits = 512 * 64;
                s.hashes = k;
                s.sigma = s.bits / 2;
                s.phases = phases;
                s.retain = true;
                s.keep_trigger = k == 7;
                assert_ok(tepal_recycling_average(&s, TEPAL_RECYCLING_AUTO, &rates));
                struct tepal_filter *r = make(&s, TEPAL_RECYCLING_SIGMA, s.sigma);
                struct measured got = all_new(r, SEED + 77, 3 * CHUNK, &cycle);
                print_message("%s, k %u, %u phases: measured %.6g +- %.2g, model %.6g (%+.2f %%)\n",
                              tepal_layout_name(s.layout), k, phases, got.mean, got.error,
                              rates.fp_average, 100 * (got.mean / rates.fp_average - 1));
                double most = 6.5 * got.error + 0.01 * rates.fp_average;
                assert_true(fabs(got.mean - rates.fp_average) < most);
                assert_true(fabs(cycle / rates.messages_per_cycle - 1) < 0.005);
                tepal_filter_free(r);
            }
        }
    }
}

/* Small phases, down to one line: within 2 %, the cycle too. */
static void small_layouts(void **state)
{
    (void)state;
    static const uint64_t bits[] = {512, 1024, 2048, 4096};
    for (int layout = 1; layout < 4; layout++) {
        for (size_t i = 0; i < 4; i++) {
            for (uint32_t k = 4; k <= 8; k += 2) {
                struct tepal_recycling_setting s = TEPAL_RECYCLING_SETTING_INIT;
                struct tepal_recycling_rates rates;
                double cycle;
                s.layout = (enum tepal_layout)layout;
                s.bits = bits[i];
                s.hashes = k;
                s.sigma = s.bits * (k == 6 ? 6 : 5) / 10;
                s.phases = 1 + (k == 8);
                s.retain = k > 4;
                assert_ok(tepal_recycling_average(&s, TEPAL_RECYCLING_AUTO, &rates));
                struct tepal_filter *r = make(&s, TEPAL_RECYCLING_SIGMA, s.sigma);
                struct measured got = all_new(r, SEED + i, 4 * CHUNK, &cycle);
                print_message("%s, M %u, k %u: measured %.6g +- %.2g, model %.6g (%+.2f %%), cycle "
                              "%+.2f %%\n",
                              tepal_layout_name(s.layout), (unsigned)s.bits, k, got.mean, got.error,
                              rates.fp_average, 100 * (rates.fp_average / got.mean - 1),
                              100 * (rates.messages_per_cycle / cycle - 1));
                double most = 6.5 * got.error + 0.02 * got.mean;
                assert_true(fabs(got.mean - rates.fp_average) < most);
                assert_true(fabs(cycle / rates.messages_per_cycle - 1) < 0.01);
                tepal_filter_free(r);
            }
        }
    }
}

/* ---- counting messages ----------------------------------------------------------------------- */

/*
 * A filter that recycles when n messages have set bits and one more comes: its cycles have n + 1
 * messages that set bits (the trigger is not retained), which f_a of n counts. A lower bound, and a
 * tight one.
 */
static void counted_messages(void **state)
{
    (void)state;
    static const struct {
        uint64_t m, n;
        uint32_t k;
    } at[] = {{1000, 150, 4}, {1000, 100, 6}, {500, 150, 2}, {200, 20, 3}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        struct tepal_recycling_setting s = TEPAL_RECYCLING_SETTING_INIT;
        double cycle;
        s.bits = at[i].m;
        s.hashes = at[i].k;
        struct tepal_filter *r = make(&s, TEPAL_RECYCLING_COUNT, at[i].n);
        struct measured got = all_new(r, SEED + 5, 4 * CHUNK, &cycle);
        double bound = tepal_recycling_actual(at[i].m, at[i].n, at[i].k);
        double oracle = tepal_recycling_oracle(at[i].m, at[i].n + 1, at[i].k);
        print_message("after %u messages: measured %.6g +- %.2g, at least %.6g\n",
                      (unsigned)at[i].n, got.mean, got.error, bound);
        assert_true(oracle < bound);
        assert_true(got.mean > bound - CHECK_Z * got.error);
        if (bound < 0.02) { /* tight where false positives are rare */
            assert_true(got.mean < 1.03 * bound + CHECK_Z * got.error);
        }
        assert_true(fabs(cycle * (1 - got.mean) - (double)at[i].n - 1) < 0.01);
        tepal_filter_free(r);
    }
}

/*
 * Only misses inserted, each phase with hash functions of its own. All-new messages that the frozen
 * phase says yes to are not inserted: the active phase meets fewer messages, but each with the
 * same chances, so that the average is that of always-insert, eq. (26), and cycles are longer.
 */
static void only_misses(void **state)
{
    (void)state;
    struct tepal_recycling_setting s = TEPAL_RECYCLING_SETTING_INIT;
    struct tepal_recycling_rates rates;
    double cycle;
    s.bits = 1000;
    s.hashes = 1;
    s.sigma = 500;
    s.phases = 2;
    assert_ok(tepal_recycling_average(&s, TEPAL_RECYCLING_SWEEP, &rates));
    struct tepal_filter *full = make(&s, TEPAL_RECYCLING_SIGMA, s.sigma);
    struct tepal_params p = *tepal_filter_params(full);
    struct recycling_options options = recycling_options_of(&p);
    struct tepal_filter *r;
    options.only_misses = true;
    set_recycling(&p, &options);
    assert_ok(tepal_filter_create(&p, NULL, &r, NULL));
    struct measured got = all_new(r, SEED + 9, 4 * CHUNK, &cycle);
    print_message("only misses: measured %.6g +- %.2g, model %.6g; %.1f messages a cycle\n",
                  got.mean, got.error, rates.fp_average, cycle);
    check_within("only misses", got.mean, rates.fp_average, got.error);
    double longer = rates.messages_per_cycle / (1 - rates.fp_frozen);
    assert_true(fabs(cycle / longer - 1) < 0.01);
    tepal_filter_free(r);
    tepal_filter_free(full);
}

/* ---- false negatives ------------------------------------------------------------------------- */

/*
 * A stream with given gaps: every arrival has a successor with chance one half, so many arrivals
 * later; where two would fall on the same place, the later one waits for the next free one. A place
 * without a message gets a new one.
 */
#define RING (1 << 20)

struct gap_stream {
    uint64_t random;
    uint64_t next_key;
    double shape; /* of Pareto's law from 20 on; 0: geometric */
    double mean;
    size_t at;
    uint64_t due[RING]; /* the key that comes then; 0: none */
};

static double uniform(uint64_t *random)
{
    return ((double)(check_random(random) >> 11) + 0.5) * 0x1p-53;
}

static size_t draw_gap(struct gap_stream *s)
{
    double u = uniform(&s->random);
    double gap =
        s->shape > 0 ? ceil(20 * pow(u, -1 / s->shape)) : ceil(log(u) / log1p(-1 / s->mean));
    return gap < RING / 2 ? (size_t)gap : RING / 2;
}

static uint64_t next_message(struct gap_stream *s, bool *repeat)
{
    uint64_t key = s->due[s->at];
    *repeat = key != 0;
    key = *repeat ? key : ++s->next_key;
    s->due[s->at] = 0;
    if (check_random(&s->random) >> 63 != 0) {
        size_t place = (s->at + draw_gap(s)) % RING;
        while (s->due[place] != 0 || place == s->at) {
            place = (place + 1) % RING;
        }
        s->due[place] = key;
    }
    s->at = (s->at + 1) % RING;
    return key;
}

static struct tepal_digest digest_of(uint64_t key)
{
    uint64_t state = key * UINT64_C(0xd1342543de82ef95) + 17;
    return check_digest(&state);
}

struct zipf {
    uint64_t random;
    double *sum; /* of the chances of keys 0 .. i */
    size_t keys;
    unsigned guide[4096];
};

static uint64_t next_reference(struct zipf *z)
{
    double u = uniform(&z->random);
    size_t i = z->guide[(size_t)(u * 4096)];
    while (z->sum[i] < u) {
        i++;
    }
    return i + 1;
}

/* The share of repeats that were answered "not seen". */
static struct measured missed(struct tepal_filter *r, struct gap_stream *gaps, struct zipf *zipf,
                              size_t messages)
{
    static double batch[BATCHES];
    for (size_t b = 0; b < BATCHES + 20; b++) {
        size_t repeats = 0;
        size_t not_seen = 0;
        for (size_t i = 0; i < messages; i++) {
            bool repeat = true;
            bool seen;
            uint64_t key = zipf != NULL ? next_reference(zipf) : next_message(gaps, &repeat);
            assert_ok(tepal_filter_test_add(r, digest_of(key), &seen));
            repeats += repeat;
            not_seen += repeat && !seen;
        }
        if (b >= 20) {
            batch[b - 20] = (double)not_seen / (double)repeats;
        }
    }
    return from_batches(batch, BATCHES);
}

static void prepare_zipf(struct zipf *z, double exponent, size_t keys)
{
    double sum = 0;
    z->keys = keys;
    z->sum = malloc(keys * sizeof *z->sum);
    assert_non_null(z->sum);
    for (size_t i = 0; i < keys; i++) {
        sum += pow((double)i + 1, -exponent);
        z->sum[i] = sum;
    }
    for (size_t i = 0; i < keys; i++) {
        z->sum[i] /= sum;
    }
    z->sum[keys - 1] = 1;
    unsigned at = 0;
    for (unsigned g = 0; g < 4096; g++) {
        while (z->sum[at] < g / 4096.) {
            at++;
        }
        z->guide[g] = at;
    }
}

/*
 * The formulas within 3 % of the simulation, whose own standard error is given beside it: 20,000
 * bits in all, 1 % on average. Of geometric gaps of mean 200 on two phases one repeat in 10^5 is
 * missed: too few to measure here.
 */
static void false_negatives(void **state)
{
    (void)state;
    static const struct {
        char what;
        double a;
        size_t messages[2]; /* a batch, by phases; 0: not tried */
    } stream[] = {
        {'g', 200, {30000, 0}},      {'g', 1000, {30000, 30000}}, {'g', 3000, {20000, 20000}},
        {'p', 1.5, {40000, 120000}}, {'z', 0.8, {8000, 8000}},
    };
    static struct gap_stream gaps;
    for (size_t i = 0; i < sizeof stream / sizeof *stream; i++) {
        for (uint32_t phases = 1; phases <= 2; phases++) {
            struct tepal_recycling_setting s = TEPAL_RECYCLING_SETTING_INIT;
            struct tepal_recycling_rates rates;
            struct tepal_recycling_misses model;
            struct zipf zipf = {.random = SEED + 3};
            size_t messages = stream[i].messages[phases - 1];
            double a = stream[i].a;
            s.bits = 20000 / phases;
            s.phases = phases;
            s.retain = true;
            if (messages == 0) {
                continue;
            }
            assert_ok(tepal_recycling_best_sigma(&s, 0.01, &rates));
            memset(&gaps, 0, sizeof gaps);
            gaps.random = SEED + 4;
            gaps.mean = stream[i].what == 'g' ? a : 0;
            gaps.shape = stream[i].what == 'p' ? a : 0;
            if (stream[i].what == 'g') {
                assert_ok(tepal_recycling_fn_geometric(&s, &rates, a, 0.5, &model));
            } else if (stream[i].what == 'p') {
                assert_ok(tepal_recycling_fn_pareto(&s, &rates, a, 20, 0.5, &model));
            } else {
                prepare_zipf(&zipf, a, 20000);
                assert_ok(tepal_recycling_fn_zipf(&s, &rates, a, 20000, &model));
            }
            struct tepal_filter *r = make(&s, TEPAL_RECYCLING_SIGMA, s.sigma);
            struct measured got = missed(r, &gaps, stream[i].what == 'z' ? &zipf : NULL, messages);
            print_message("%c %g, %u phases: measured %.6g +- %.2g, model %.6g (%+.2f %%)\n",
                          stream[i].what, a, phases, got.mean, got.error, model.fn,
                          100 * (model.fn / got.mean - 1));
            assert_true(got.error < 0.012 * got.mean); /* it can tell 3 % from more */
            assert_true(fabs(model.fn / got.mean - 1) < 0.03);
            tepal_filter_free(r);
            free(zipf.sum);
        }
    }
}

/* ---- a hundred million bits ------------------------------------------------------------------ */

static void a_hundred_million_bits(void **state)
{
    (void)state;
    struct tepal_recycling_setting s = TEPAL_RECYCLING_SETTING_INIT;
    struct tepal_recycling_rates sweep;
    struct tepal_recycling_rates closed;
    s.bits = 100000000;
    s.hashes = 7;
    s.sigma = 50000000;
    s.phases = 2;
    assert_ok(tepal_recycling_average(&s, TEPAL_RECYCLING_SWEEP, &sweep));
    assert_ok(tepal_recycling_average(&s, TEPAL_RECYCLING_CLOSED, &closed));
    assert_true(fabs(closed.fp_average / sweep.fp_average - 1) < 1e-11);
    assert_true(fabs(closed.fp_active / sweep.fp_active - 1) < 1e-11);
    assert_true(fabs(closed.messages_per_cycle / sweep.messages_per_cycle - 1) < 1e-11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_is_right), cmocka_unit_test(small_and_full),
        cmocka_unit_test(other_layouts),      cmocka_unit_test(small_layouts),
        cmocka_unit_test(counted_messages),   cmocka_unit_test(only_misses),
        cmocka_unit_test(false_negatives),    cmocka_unit_test(a_hundred_million_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
