/*
 * yesno_stat.c: the yes-no filter against the paper's experiments (Figs. 6, 8, 9, 12, 13, 14), with
 * m = 256, n = 30, t = 100, p = 160, q = 32, r = 3, k = 4, k' = 5 unless one of them varies, and
 * 10^5 random instances without a false negative.
 *
 * Expected values are those of independent simulations with 10^4 experiments, written with two or
 * three digits. A measured mean must lie within CHECK_Z standard errors of the difference of two
 * means (ours, from N experiments, and theirs, from 10^4) and the printed value's rounding; the
 * standard deviation of one experiment is measured. Where we search, less may be left than was
 * expected, never more.
 *
 * TEPAL_SHOW=1 prints every figure. TEPAL_FULL=1 runs 10^4 experiments everywhere (minutes).
 */
#include "yesno_help.h"

#include <tepal/papers.h>

#define EXPECTED_EXPERIMENTS 1e4

struct setting {
    uint64_t p, k, q, r, no_hashes, n;
    int positions;
    int own_seeds;
};

static const struct setting paper = {160, 4, 32, 3, 5, 30, TEPAL_POSITIONS_COLLIDING, 0};

struct mean {
    double left;
    double left_sd;
    double positive;
    double positive_sd;
};

static struct mean experiment(const struct setting *s, enum tepal_yesno_method method, int count,
                              uint64_t seed)
{
    static struct yesno_case c;
    struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
    double sum[4] = {0};
    c.params = (struct tepal_params)TEPAL_PARAMS_INIT;
    c.params.positions = (enum tepal_positions)s->positions;
    set_yesno(s->p, (uint32_t)s->k, s->q, s->r, (uint32_t)s->no_hashes, &c.params);
    c.params.yesno.own_seeds = s->r > 0 ? (uint64_t)s->own_seeds : 0;
    how.method = method;
    for (int i = 0; i < count; i++) {
        struct tepal_filter *f;
        struct tepal_known_report report;
        yesno_keys(&c, &seed, (size_t)s->n, 100);
        assert_ok(tepal_yesno_build(&c.params, &c.in, &how, NULL, &f, &report, NULL));
        tepal_filter_free(f);
        assert_int_equal(report.false_negatives, 0);
        double left = (double)report.avoid_left;
        double positive = (double)report.avoid_positive;
        sum[0] += left;
        sum[1] += left * left;
        sum[2] += positive;
        sum[3] += positive * positive;
    }
    struct mean m = {.left = sum[0] / count, .positive = sum[2] / count};
    m.left_sd = sqrt(fmax(sum[1] / count - m.left * m.left, 0));
    m.positive_sd = sqrt(fmax(sum[3] / count - m.positive * m.positive, 0));
    return m;
}

static bool shows(void)
{
    return getenv("TEPAL_SHOW") != NULL;
}

static int experiments(int usual)
{
    return getenv("TEPAL_FULL") != NULL ? 10000 : usual;
}

/* `rounding`: half a unit of the last printed digit. */
static void compare(const char *what, double value, double measured, double sd, int count,
                    double expected, double rounding, bool less_is_fine)
{
    /* A mean of rare events: were none seen, their spread is that of the expected rate. */
    double spread = fmax(sd, sqrt(expected));
    double error = spread * sqrt(1 / (double)count + 1 / EXPECTED_EXPERIMENTS);
    double tolerance = CHECK_Z * error + rounding;
    if (shows()) {
        printf("%-14s %5.0f  %-8s %9.5f  expected %-8g +- %.5f\n", what, value,
               less_is_fine ? "search" : "exactly", measured, expected, tolerance);
    }
    if (!(measured <= expected + tolerance && (less_is_fine || measured >= expected - tolerance))) {
        print_error("%s %g: measured %g, expected %g +- %g\n", what, value, measured, expected,
                    tolerance);
        fail();
    }
}

static double rounding_of(double expected)
{
    return expected >= 10 ? 0.05 : expected >= 1 ? 0.05 : expected >= 0.1 ? 0.005 : 0.0005;
}

struct point {
    uint64_t value;
    double greedy;
    double searched; /* negative: not stated */
    int count;       /* of experiments */
};

/* A sweep: `field` of the setting takes the values. */
static void sweep(const char *name, size_t field, const struct point *points, size_t count,
                  bool same_size)
{
    for (size_t i = 0; i < count; i++) {
        const struct point *p = &points[i];
        struct setting s = paper;
        *(uint64_t *)((char *)&s + field) = p->value;
        if (same_size) {
            s.p = 256 - s.q * s.r;
        }
        int N = experiments(p->count);
        struct mean greedy = experiment(&s, TEPAL_YESNO_GREEDY, N, 100 + i);
        compare(name, (double)p->value, greedy.left, greedy.left_sd, N, p->greedy,
                rounding_of(p->greedy), false);
        if (p->searched >= 0) {
            struct mean searched = experiment(&s, TEPAL_YESNO_LOCAL_SEARCH, N, 100 + i);
            compare(name, (double)p->value, searched.left, searched.left_sd, N, p->searched,
                    rounding_of(p->searched), true);
            assert_true(searched.left <= greedy.left);
        }
    }
}

#define SWEEP(name, field, same_size, ...)                                                         \
    do {                                                                                           \
        static const struct point points[] = {__VA_ARGS__};                                        \
        sweep(name, offsetof(struct setting, field), points, sizeof points / sizeof *points,       \
              same_size);                                                                          \
    } while (0)

static void the_default_setting(void **unused)
{
    (void)unused;
    static const struct {
        enum tepal_yesno_method method;
        double colliding;
        double distinct;
    } rows[] = {{TEPAL_YESNO_GREEDY, 0.047, 0.0197},
                {TEPAL_YESNO_BESTFIT, 0.046, 0.019},
                {TEPAL_YESNO_LOCAL_SEARCH, 0.0180, 0.0014},
                {TEPAL_YESNO_EXACT, 0.0180, 0.0014}};
    enum { N = 10000 };
    for (int positions = 0; positions < 2; positions++) {
        struct setting s = paper;
        s.positions = positions;
        double searched = 0;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            struct mean m = experiment(&s, rows[i].method, N, 7);
            double expected = positions == 0 ? rows[i].colliding : rows[i].distinct;
            compare(tepal_yesno_method_name(rows[i].method), positions, m.left, m.left_sd, N,
                    expected, 0.0005, false);
            compare("yes-filter", positions, m.positive, m.positive_sd, N,
                    positions == 0 ? 7.90 : 7.85, 0.005, false);
            /* The search finds the optimum, every time. */
            if (rows[i].method == TEPAL_YESNO_LOCAL_SEARCH) {
                searched = m.left;
            }
            if (rows[i].method == TEPAL_YESNO_EXACT) {
                assert_true(m.left == searched);
            }
        }
        struct mean pairs = experiment(&s, TEPAL_YESNO_PAIRS, N, 7);
        compare("pairs", positions, pairs.left, pairs.left_sd, N, positions == 0 ? 0.038 : 0.011,
                0.0005, true);
        /* Seeds of their own bring it to nothing. */
        s.own_seeds = 1;
        struct mean own = experiment(&s, TEPAL_YESNO_LOCAL_SEARCH, N, 7);
        assert_true(own.left <= 0.0005);
    }
    /* The Bloom filter of 256 bits: at k = 4, and at its best. */
    static const double bloom[][2] = {{4, 1.97}, {6, 1.67}};
    for (size_t i = 0; i < 2; i++) {
        struct setting s = {256, (uint64_t)bloom[i][0], 0, 0, 0, 30, TEPAL_POSITIONS_COLLIDING, 0};
        struct mean m = experiment(&s, TEPAL_YESNO_GREEDY, N, 8);
        compare("bloom", bloom[i][0], m.left, m.left_sd, N, bloom[i][1], 0.005, false);
        check_within("model", m.left, 100 * tepal_bloom_fp_exact(256, 30, (uint32_t)s.k),
                     m.left_sd / sqrt(N));
    }
}

static void hashes_of_the_yes_filter(void **unused)
{
    (void)unused;
    SWEEP("Fig. 6, k", k, false, {1, .94, .097, 2000}, {2, .10, .025, 4000}, {3, .047, .019, 4000},
          {6, .12, .022, 4000}, {8, .56, .076, 1000}, {10, 1.89, .38, 500}, {12, 4.56, 1.34, 120},
          {14, 8.44, 3.18, 120});
}

static void hashes_of_the_no_filters(void **unused)
{
    (void)unused;
    SWEEP("Fig. 8, k'", no_hashes, false, {1, 4.83, 4.83, 400}, {2, .89, .86, 1000},
          {3, .22, .19, 2000}, {4, .081, .053, 4000}, {6, .037, .0069, 4000},
          {8, .061, .0016, 4000}, {10, .109, .0049, 4000}, {14, .29, .035, 2000});
}

static void number_of_members(void **unused)
{
    (void)unused;
    SWEEP("Fig. 9, n", n, false, {20, .0046, .0046, 4000}, {35, .31, .046, 2000},
          {40, 1.35, .24, 1000}, {45, 3.45, 1.01, 400}, {50, 6.54, 2.61, 120}, {55, 10.2, 4.9, 80},
          {60, 14.3, 7.6, 80}, {90, 38.5, 26.4, 60});
    /* The crossovers: greedy loses to the Bloom filter with k = 4 at 60, the search with its best
     * k does not, and does at 90. */
    double bloom60 = 100 * tepal_bloom_fp_exact(256, 60, 4);
    double best60 =
        100 * tepal_bloom_fp_exact(
                  256, 60,
                  tepal_bloom_best_hashes(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 256, 60));
    double best90 =
        100 * tepal_bloom_fp_exact(
                  256, 90,
                  tepal_bloom_best_hashes(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 256, 90));
    struct setting s = paper;
    s.n = 60;
    assert_true(experiment(&s, TEPAL_YESNO_GREEDY, 1000, 60).left > bloom60);
    assert_true(experiment(&s, TEPAL_YESNO_LOCAL_SEARCH, 60, 60).left < best60);
    s.n = 55;
    assert_true(experiment(&s, TEPAL_YESNO_GREEDY, 1000, 60).left <
                100 * tepal_bloom_fp_exact(256, 55, 4));
    s.n = 90;
    double searched90 = experiment(&s, TEPAL_YESNO_LOCAL_SEARCH, 60, 60).left;
    if (shows()) {
        printf("n = 60: Bloom, k = 4 %.2f, best %.2f; n = 90: best %.2f, search %.2f\n", bloom60,
               best60, best90, searched90);
    }
    assert_true(fabs(bloom60 - 13.8) < 0.1 && fabs(best60 - 12.9) < 0.1);
}

static void sizes_of_the_no_filters(void **unused)
{
    (void)unused;
    SWEEP("Fig. 12, q", q, false, {10, 3.80, 3.62, 300}, {20, .75, .38, 1000},
          {40, .0076, .0051, 4000}, {50, .0022, .0022, 4000});
    SWEEP("Fig. 13, r", r, false, {0, 7.89, 7.89, 1000}, {1, 2.87, 2.33, 400}, {2, .50, .17, 1500},
          {4, .019, .019, 4000});
    SWEEP("Fig. 14, r", r, true, {0, 2.0, 2.0, 1000}, {1, .44, .38, 1500}, {2, .088, .030, 4000},
          {4, .067, .032, 4000}, {5, .22, .063, 2000}, {6, 1.3, .12, 500}, {7, 4.1, .24, 120});
}

/* The layout that the model chooses for 256 bits, and what it leaves. */
static void tuned_layouts(void **unused)
{
    (void)unused;
    static const double most[][2] = {{30, 0.001}, {40, 0.04}, {50, 0.36}};
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        for (int positions = 0; positions < 2; positions++) {
            struct tepal_yesno_setting plan = {0};
            uint64_t n = (uint64_t)most[i][0];
            assert_ok(tepal_yesno_best_setting(TEPAL_LAYOUT_FLAT, (enum tepal_positions)positions,
                                               256, n, 100, &plan));
            struct setting s = {plan.yes_bits,  plan.hashes, plan.no_bits, plan.no_filters,
                                plan.no_hashes, n,           positions,    plan.own_seeds};
            int N = n == 50 ? experiments(500) : 10000;
            struct mean m = experiment(&s, TEPAL_YESNO_LOCAL_SEARCH, N, 3);
            if (shows()) {
                printf(
                    "tuned n = %2.0f %s: p %2.0f k %2.0f q %2.0f r %1.0f k' %1.0f: %.5f left, at "
                    "most %g; predicted %.5f\n",
                    most[i][0], positions == 0 ? "colliding" : "distinct ", (double)s.p,
                    (double)s.k, (double)s.q, (double)s.r, (double)s.no_hashes, m.left, most[i][1],
                    plan.left);
            }
            assert_true(m.left <= most[i][1]);
        }
    }
}

/* All six methods on each. */
static void no_false_negative_in_1e5_instances(void **unused)
{
    (void)unused;
    uint64_t state = 77;
    for (int i = 0; i < 100000 / TEPAL_YESNO_METHODS + 1; i++) {
        yesno_property(&state, i % 8 == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_setting),
        cmocka_unit_test(hashes_of_the_yes_filter),
        cmocka_unit_test(hashes_of_the_no_filters),
        cmocka_unit_test(number_of_members),
        cmocka_unit_test(sizes_of_the_no_filters),
        cmocka_unit_test(tuned_layouts),
        cmocka_unit_test(no_false_negative_in_1e5_instances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
