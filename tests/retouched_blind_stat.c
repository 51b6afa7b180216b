/*
 * retouched_blind_stat.c: retouching without the members, against the truth that the test knows.
 * For every layout, method and size: the members lost in many filters against what was expected of
 * each, and how often the truth lies in the interval. At the paper's setting (10,000 members,
 * 100,000 bits, 5 hashes) and at 10 % of its false positives: what each method loses.
 *
 * The sum of (lost - expected) over the trials must lie within 6.5 standard errors of 0, the
 * standard error being the one of the trials, plus a bias of 1 % of the sum, which is what
 * model/loss.c leaves out (a line's keys estimated from its ones, positions that coincide). The
 * interval promises 99 %: with T trials, fewer than 0.99 T - 6.5 sqrt(0.99 0.01 T) inside would be
 * too few.
 */
#include "check.h"

#include <math.h>

#define TRIALS 400

struct setting {
    enum tepal_kind_id kind;
    enum tepal_layout layout;
    enum tepal_retouch_method method;
    uint64_t bits;
    uint32_t hashes;
    size_t members;
    size_t avoid;
};

static const struct setting settings[] = {
    {TEPAL_KIND_BLOOM, TEPAL_LAYOUT_FLAT, TEPAL_RETOUCH_RANDOM, 8192, 5, 800, 40},
    {TEPAL_KIND_BLOOM, TEPAL_LAYOUT_FLAT, TEPAL_RETOUCH_MAX_FP, 8192, 5, 800, 40},
    {TEPAL_KIND_BLOOM, TEPAL_LAYOUT_FLAT, TEPAL_RETOUCH_MAX_FP, 8192, 5, 800, 1},
    {TEPAL_KIND_BLOOM, TEPAL_LAYOUT_FLAT, TEPAL_RETOUCH_RANDOM_BITS, 8192, 5, 800, 40},
    {TEPAL_KIND_BLOOM, TEPAL_LAYOUT_FLAT, TEPAL_RETOUCH_MAX_FP, 8192, 2, 3000, 400},
    {TEPAL_KIND_BLOOM, TEPAL_LAYOUT_PARTITIONED, TEPAL_RETOUCH_MAX_FP, 8192, 5, 800, 40},
    {TEPAL_KIND_BLOOM, TEPAL_LAYOUT_BLOCKED, TEPAL_RETOUCH_RANDOM, 8192, 5, 800, 40},
    {TEPAL_KIND_BLOOM, TEPAL_LAYOUT_BLOCKED, TEPAL_RETOUCH_MAX_FP, 8192, 5, 800, 100},
    {TEPAL_KIND_BLOOM, TEPAL_LAYOUT_PAIRED, TEPAL_RETOUCH_MAX_FP, 8192, 5, 800, 40},
    {TEPAL_KIND_COUNTING, TEPAL_LAYOUT_FLAT, TEPAL_RETOUCH_MIN_FN, 8192, 5, 800, 40},
    {TEPAL_KIND_COUNTING, TEPAL_LAYOUT_FLAT, TEPAL_RETOUCH_RATIO, 8192, 5, 800, 200},
    {TEPAL_KIND_COUNTING, TEPAL_LAYOUT_PARTITIONED, TEPAL_RETOUCH_RATIO, 8192, 5, 800, 40},
};

/* A filter of the setting, its members, and false positives that it has. */
static void make(const struct setting *s, uint64_t seed, struct tepal_filter **filter,
                 struct tepal_digest *member, struct tepal_digest *avoid)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.kind = s->kind;
    params.layout = s->layout;
    params.cells = s->bits;
    params.hashes = s->hashes;
    if (s->kind == TEPAL_KIND_COUNTING) {
        params.counting.choices = 1;
    }
    assert_ok(tepal_filter_create(&params, NULL, filter, NULL));
    check_digests(&seed, member, s->members);
    assert_ok(tepal_filter_add_many(*filter, member, s->members));
    for (size_t i = 0; i < s->avoid;) {
        avoid[i] = check_digest(&seed);
        i += tepal_filter_query(*filter, avoid[i]);
    }
}

/* How many members the retouched filter has lost; *report is what it says. */
static double lost_of(const struct setting *s, uint64_t seed, struct tepal_retouch_report *report)
{
    struct tepal_digest *member = malloc(s->members * sizeof *member);
    struct tepal_digest *avoid = malloc(s->avoid * sizeof *avoid);
    struct tepal_filter *filter;
    struct tepal_filter *out;
    assert_non_null(member);
    assert_non_null(avoid);
    make(s, seed, &filter, member, avoid);
    struct tepal_known known = {.avoid = avoid, .avoid_count = s->avoid};
    struct tepal_retouch_options how = TEPAL_RETOUCH_OPTIONS_INIT;
    how.method = s->method;
    how.seed = seed;
    how.bits = s->avoid;
    assert_ok(tepal_retouch(filter, &known, &how, NULL, &out, report, NULL, NULL));
    size_t found = 0;
    for (size_t i = 0; i < s->members; i++) {
        found += tepal_filter_query(out, member[i]);
    }
    tepal_filter_free(filter);
    tepal_filter_free(out);
    free(member);
    free(avoid);
    return (double)(s->members - found);
}

static void check_setting(const struct setting *s, uint64_t seed)
{
    double sum = 0;
    double squares = 0;
    double expected = 0;
    size_t inside = 0;
    for (size_t t = 0; t < TRIALS; t++) {
        struct tepal_retouch_report r;
        double lost = lost_of(s, seed + 1000 * t, &r);
        double off = lost - r.lost_expected;
        assert_true(r.expected);
        assert_true(lost <= (double)r.lost_most);
        sum += off;
        squares += off * off;
        expected += r.lost_expected;
        inside += lost >= r.lost_low && lost <= r.lost_high;
    }
    double error = sqrt(squares);
    if (getenv("TEPAL_SHOW") != NULL) {
        printf("%-9s %-11s %-15s expected %9.3f off %7.3f z %6.2f  inside %.4f\n",
               s->kind == TEPAL_KIND_BLOOM ? "bloom" : "counting", tepal_layout_name(s->layout),
               tepal_retouch_method_name(s->method), expected / TRIALS, sum / TRIALS, sum / error,
               (double)inside / TRIALS);
    }
    if (!(fabs(sum) <= CHECK_Z * error + 0.01 * expected)) {
        fail_msg("%s: %.4g lost more than the %.4g expected, +- %.3g",
                 tepal_retouch_method_name(s->method), sum, expected, error);
    }
    assert_true((double)inside >= 0.99 * TRIALS - CHECK_Z * sqrt(0.99 * 0.01 * TRIALS));
}

static void test_expected(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(settings); i++) {
        check_setting(&settings[i], 77 + i);
    }
}

/* ---- the paper's setting --------------------------------------------------------------------- */

#define MEMBERS 10000
#define PAPER_B 376 /* a tenth of the false positives among 390,000 keys */
#define RUNS    15

static const struct {
    enum tepal_kind_id kind;
    enum tepal_retouch_method method;
} methods[] = {{TEPAL_KIND_BLOOM, TEPAL_RETOUCH_RANDOM},
               {TEPAL_KIND_BLOOM, TEPAL_RETOUCH_MAX_FP},
               {TEPAL_KIND_COUNTING, TEPAL_RETOUCH_MIN_FN},
               {TEPAL_KIND_COUNTING, TEPAL_RETOUCH_RATIO}};

/* Each knows more than the one before it, and loses less. */
static void test_paper(void **state)
{
    (void)state;
    double before = MEMBERS;
    for (size_t m = 0; m < COUNT(methods); m++) {
        struct setting s = {
            methods[m].kind, TEPAL_LAYOUT_FLAT, methods[m].method, 100000, 5, MEMBERS, PAPER_B};
        double lost = 0;
        double expected = 0;
        for (uint64_t r = 0; r < RUNS; r++) {
            struct tepal_retouch_report report;
            lost += lost_of(&s, 5000 + r, &report) / RUNS;
            expected += report.lost_expected / RUNS;
        }
        if (getenv("TEPAL_SHOW") != NULL) {
            printf("%-8s lost %.1f expected %.1f\n", tepal_retouch_method_name(s.method), lost,
                   expected);
        }
        /* 15 runs of a number with a deviation of some 40 at most */
        check_within("members lost", lost, expected, 40 / sqrt(RUNS));
        assert_true(lost < before);
        before = lost;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expected),
        cmocka_unit_test(test_paper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
