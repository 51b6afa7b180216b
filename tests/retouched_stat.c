/*
 * retouched_stat.c: the retouched filter at the paper's own setting (Sec. IV-C): a universe of
 * 2,000,000 keys, 10,000 members, 100,000 bits, 5 hashes, means of 15 runs, ideal hashing. Tables I
 * to IV cell by cell, the improved methods, the closed forms, and what `sacrifice` must reach.
 *
 * The runs are made once. Between the paper's cell P +- h (95 %, Student's t with 14 degrees of
 * freedom, 2.145) and ours O with standard error s the joint 99.9 % interval is
 *
 *     |P - O| <= 3.674 sqrt((h / 2.145)^2 + s^2) + 0.5
 *
 * (one cell is close to its edge: Table III, 100 %, |A'| is 6202 in print, 3.5 of its standard
 * errors below the 6238 of many runs; our seeds are such that |F_P| is near its expectation),
 * 3.674 being t with 28 degrees of freedom; a half for the paper's rounding. Two of its totals are
 * misprints: Table I at 5 % (2826 for 2866, 932 + 1934) and Table II at 25 % (10045 for 10005).
 */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <tepal/papers.h>

#include <time.h>

#include "address/address.h"

#define RUNS     15
#define UNIVERSE 2000000
#define MEMBERS  10000
#define BITS     100000
#define HASHES   5
#define BETAS    8
#define MOST_BAD 25000

static const double betas[BETAS] = {0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 1};

struct run {
    struct tepal_filter *bloom;
    struct tepal_digest *member;
    struct tepal_digest *bad;
    size_t bad_count;
};

static struct run runs[RUNS];

static int make_runs(void **state)
{
    (void)state;
    for (size_t r = 0; r < RUNS; r++) {
        struct tepal_params params = TEPAL_PARAMS_INIT;
        params.cells = BITS;
        params.hashes = HASHES;
        struct run *run = &runs[r];
        run->member = malloc(MEMBERS * sizeof *run->member);
        run->bad = malloc(MOST_BAD * sizeof *run->bad);
        assert_non_null(run->member);
        assert_non_null(run->bad);
        assert_ok(tepal_filter_create(&params, NULL, &run->bloom, NULL));
        uint64_t seed = 1000 + r;
        check_digests(&seed, run->member, MEMBERS);
        assert_ok(tepal_filter_add_many(run->bloom, run->member, MEMBERS));
        for (size_t i = 0; i < UNIVERSE - MEMBERS; i++) {
            struct tepal_digest d = check_digest(&seed);
            if (tepal_filter_query(run->bloom, d) && run->bad_count < MOST_BAD) {
                run->bad[run->bad_count++] = d;
            }
        }
    }
    return 0;
}

static int free_runs(void **state)
{
    (void)state;
    for (size_t r = 0; r < RUNS; r++) {
        tepal_filter_free(runs[r].bloom);
        free(runs[r].member);
        free(runs[r].bad);
    }
    return 0;
}

/* ---- means ----------------------------------------------------------------------------------- */

struct mean {
    double value;
    double error; /* standard error */
};

static struct mean mean_of(const double *x)
{
    double sum = 0;
    double squares = 0;
    for (size_t i = 0; i < RUNS; i++) {
        sum += x[i];
    }
    for (size_t i = 0; i < RUNS; i++) {
        squares += (x[i] - sum / RUNS) * (x[i] - sum / RUNS);
    }
    return (struct mean){sum / RUNS, sqrt(squares / (RUNS - 1) / RUNS)};
}

/* The means of one method at one beta. */
struct outcome {
    struct mean b, beyond, total, lost, chi, share, bits;
};

static struct outcome outcome_of(const struct tepal_retouch_options *options, double beta)
{
    double x[7][RUNS];
    for (size_t r = 0; r < RUNS; r++) {
        const struct run *run = &runs[r];
        struct tepal_known input = {.members = run->member,
                                    .member_count = MEMBERS,
                                    .avoid = run->bad,
                                    .others = run->bad,
                                    .other_count = run->bad_count};
        input.avoid_count = (size_t)(beta * (double)run->bad_count + 0.5);
        struct tepal_retouch_options mine = *options;
        mine.seed += r;
        struct tepal_filter *out = NULL;
        struct tepal_retouch_report report;
        assert_ok(tepal_retouch(run->bloom, &input, &mine, NULL, &out, &report, NULL, NULL));
        tepal_filter_free(out);
        if (options->limit == TEPAL_RETOUCH_LIMIT_ALL &&
            options->method != TEPAL_RETOUCH_RANDOM_BITS) {
            assert_int_equal(report.avoid_left, 0);
        }
        x[0][r] = (double)report.avoid_positive;
        x[1][r] = (double)report.removed_beyond;
        x[2][r] = (double)(report.removed_inside + report.removed_beyond);
        x[3][r] = (double)report.false_negatives;
        x[4][r] = report.chi;
        x[5][r] = report.removed_weight / report.avoid_weight;
        x[6][r] = (double)report.bits_changed;
    }
    return (struct outcome){mean_of(x[0]), mean_of(x[1]), mean_of(x[2]), mean_of(x[3]),
                            mean_of(x[4]), mean_of(x[5]), mean_of(x[6])};
}

static struct tepal_retouch_options options_of(enum tepal_retouch_method method)
{
    struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    options.method = method;
    options.seed = 99;
    return options;
}

/* Prints what was measured, so that the figures can be read off a run of the test. */
static void check_range(const char *what, double value, double low, double high)
{
    print_message("  %-44s %10.4f   [%g, %g]\n", what, value, low, high);
    if (!(value >= low && value <= high)) {
        fail_msg("%s: %g is outside [%g, %g]", what, value, low, high);
    }
}

/* ---- Tables I to IV -------------------------------------------------------------------------- */

struct cell {
    double mean, half; /* +- half, 95 % */
};

struct row {
    struct cell b, beyond, total, lost;
};

static const struct table {
    const char *name;
    enum tepal_retouch_method method;
    enum tepal_retouch_basis basis;
    struct row row[BETAS];
} tables[] = {
    {"Table I, random",
     TEPAL_RETOUCH_RANDOM,
     TEPAL_RETOUCH_BASIS_B,
     {{{188, 1.31}, {434, 13.74}, {622, 13.84}, {231, 3.01}},
      {{375, 1.84}, {842, 21.84}, {1217, 22.85}, {450, 7.75}},
      {{932, 9.94}, {1934, 37.83}, {2866, 46.21}, {1070, 10.05}}, /* printed: 2826 */
      {{1872, 17.22}, {3306, 67.83}, {5178, 83.27}, {1954, 20.02}},
      {{4692, 26.11}, {5441, 61.11}, {10133, 83.45}, {3858, 21.14}},
      {{9396, 78.88}, {5324, 67.09}, {14720, 143.22}, {5684, 36.78}},
      {{14063, 109.61}, {3151, 36.92}, {17214, 144.08}, {6715, 30.44}},
      {{18806, 157.31}, {0, 0}, {18806, 157.31}, {7367, 23.93}}}},
    {"Table II, min-fn",
     TEPAL_RETOUCH_MIN_FN,
     TEPAL_RETOUCH_BASIS_B,
     {{{188, 1.09}, {431, 15.27}, {619, 16.11}, {183, 1.82}},
      {{377, 2.75}, {854, 18.14}, {1231, 19.39}, {362, 3.77}},
      {{939, 7.67}, {1942, 28.77}, {2881, 33.57}, {857, 9.82}},
      {{1877, 12.79}, {3303, 65.26}, {5180, 76.46}, {1577, 14.92}},
      {{4667, 35.36}, {5338, 72.65}, {10005, 105.28}, {3143, 19.83}}, /* printed: 10045 */
      {{9365, 44.51}, {5330, 52.09}, {14695, 92.01}, {4754, 24.27}},
      {{14039, 85.94}, {3128, 37.98}, {17167, 119.53}, {5710, 21.64}},
      {{18705, 173.76}, {0, 0}, {18705, 173.76}, {6407, 36.02}}}},
    {"Table III, max-fp",
     TEPAL_RETOUCH_MAX_FP,
     TEPAL_RETOUCH_BASIS_ALL,
     {{{187, 0.93}, {769, 9.97}, {956, 10.28}, {226, 5.11}},
      {{375, 1.82}, {1458, 19.33}, {1833, 20.05}, {447, 8.96}},
      {{935, 6.36}, {3154, 52.89}, {4089, 58.78}, {1025, 12.08}},
      {{1882, 16.55}, {5188, 74.87}, {7070, 89.71}, {1838, 20.53}},
      {{4697, 34.52}, {7466, 85.07}, {12163, 114.96}, {3420, 28.49}},
      {{9396, 86.71}, {6605, 98.04}, {16001, 182.14}, {4870, 29.84}},
      {{14032, 99.42}, {3670, 28.61}, {17702, 125.24}, {5674, 26.34}},
      {{18664, 138.13}, {0, 0}, {18664, 138.13}, {6202, 22.09}}}},
    {"Table IV, ratio",
     TEPAL_RETOUCH_RATIO,
     TEPAL_RETOUCH_BASIS_ALL,
     {{{188, 1.51}, {735, 13.89}, {923, 14.63}, {188, 1.58}},
      {{374, 3.25}, {1372, 20.05}, {1746, 30.58}, {363, 4.01}},
      {{939, 6.92}, {3035, 40.83}, {3974, 45.43}, {844, 5.73}},
      {{1863, 13.95}, {4860, 67.65}, {6723, 78.71}, {1498, 13.71}},
      {{4703, 28.72}, {7261, 68.39}, {11964, 94.59}, {2895, 15.99}},
      {{9394, 80.17}, {6444, 70.86}, {15838, 149.01}, {4229, 25.95}},
      {{14057, 126.61}, {3625, 38.28}, {17682, 162.64}, {5021, 27.54}},
      {{18683, 151.08}, {0, 0}, {18683, 151.08}, {5581, 24.08}}}},
};

static unsigned compare_cell(const char *table, double beta, const char *column, struct cell paper,
                             struct mean ours)
{
    double joint = 3.674 * hypot(paper.half / 2.145, ours.error) + 0.5;
    if (fabs(paper.mean - ours.value) <= joint) {
        return 0;
    }
    print_error("%s, %g %%, %s: paper %g +- %g, ours %.1f (standard error %.2f), joint %.1f\n",
                table, 100 * beta, column, paper.mean, paper.half, ours.value, ours.error, joint);
    return 1;
}

static void the_papers_tables(void **state)
{
    (void)state;
    unsigned outside = 0;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        struct tepal_retouch_options options = options_of(tables[t].method);
        options.basis = tables[t].basis;
        for (size_t i = 0; i < BETAS; i++) {
            struct outcome ours = outcome_of(&options, betas[i]);
            const struct row *paper = &tables[t].row[i];
            const char *name = tables[t].name;
            outside += compare_cell(name, betas[i], "|B|", paper->b, ours.b);
            outside += compare_cell(name, betas[i], "|B'|", paper->beyond, ours.beyond);
            outside += compare_cell(name, betas[i], "|B+B'|", paper->total, ours.total);
            outside += compare_cell(name, betas[i], "|A'|", paper->lost, ours.lost);
        }
    }
    assert_int_equal(outside, 0);
}

/* ---- every method ---------------------------------------------------------------------------- */

static void false_negatives_when_all_must_go(void **state)
{
    (void)state;
    static const double expected[TEPAL_RETOUCH_IMPROVED_RATIO + 1] = {0,    7369, 6398, 6238,
                                                                      5575, 4441, 5719, 3919};
    double bad[RUNS];
    for (size_t r = 0; r < RUNS; r++) {
        bad[r] = (double)runs[r].bad_count;
    }
    check_range("|F_P|", mean_of(bad).value, 18786 - 200, 18786 + 200);
    for (unsigned m = TEPAL_RETOUCH_RANDOM; m <= TEPAL_RETOUCH_IMPROVED_RATIO; m++) {
        struct tepal_retouch_options options = options_of((enum tepal_retouch_method)m);
        struct outcome ours = outcome_of(&options, 1);
        check_range(tepal_retouch_method_name(options.method), ours.lost.value, expected[m] - 40,
                    expected[m] + 40);
    }
}

static void what_is_counted(void **state)
{
    (void)state;
    struct tepal_retouch_options options = options_of(TEPAL_RETOUCH_RATIO);
    check_range("ratio, 1 %, over B: chi", outcome_of(&options, 0.01).chi.value, 1.809 - 0.06,
                1.809 + 0.06);
    options.basis = TEPAL_RETOUCH_BASIS_ALL;
    check_range("ratio, 1 %, over all: chi", outcome_of(&options, 0.01).chi.value, 2.585 - 0.06,
                2.585 + 0.06);
}

/* Sec. III-B: the same shares go, r_s of both stay. */
static void bits_cleared_at_random(void **state)
{
    (void)state;
    static const uint64_t counts[] = {200, 1000, 5000, 20000};
    for (size_t i = 0; i < 4; i++) {
        struct tepal_retouch_options options = options_of(TEPAL_RETOUCH_RANDOM_BITS);
        options.bits = counts[i];
        struct outcome ours = outcome_of(&options, 1);
        double kept = tepal_retouched_kept(BITS, MEMBERS, HASHES, (double)counts[i]);
        assert_true(ours.bits.value == (double)counts[i]);
        check_within("chi of random clearing", ours.chi.value, 1, ours.chi.error);
        /* the formula ignores that a key may hit a bit twice: 1e-4 of the members */
        check_within("members lost", ours.lost.value / MEMBERS, 1 - kept,
                     ours.lost.error / MEMBERS + 2e-4);
        check_within("false positives removed", ours.share.value, 1 - kept,
                     ours.share.error + 2e-4);
    }
}

/* Random selection against its closed form: within the runs' error and 1 % for the model. */
static void random_selection_in_closed_form(void **state)
{
    (void)state;
    struct tepal_retouch_options options = options_of(TEPAL_RETOUCH_RANDOM);
    double all = 0;
    double ones = 0;
    for (size_t r = 0; r < RUNS; r++) {
        all += (double)runs[r].bad_count / RUNS;
        ones += (double)tepal_filter_ones(runs[r].bloom) / RUNS;
    }
    for (size_t i = 0; i < BETAS; i++) {
        struct outcome ours = outcome_of(&options, betas[i]);
        double bits;
        double lost;
        double beyond;
        assert_ok(tepal_retouched_random(MEMBERS, HASHES, ones, betas[i] * all, all, &bits, &lost,
                                         &beyond));
        assert_true(fabs(ours.lost.value - lost) <= CHECK_Z * ours.lost.error + 0.01 * lost);
        assert_true(fabs(ours.beyond.value - beyond) <=
                    CHECK_Z * ours.beyond.error + 0.01 * beyond);
        assert_true(fabs(ours.bits.value - bits) <= CHECK_Z * ours.bits.error + 0.01 * bits);
    }
}

/* ---- sacrifice ------------------------------------------------------------------------------- */

static void what_sacrifice_reaches(void **state)
{
    (void)state;
    struct tepal_retouch_options options = options_of(TEPAL_RETOUCH_SACRIFICE);
    struct outcome all = outcome_of(&options, 1);
    check_range("sacrifice, 100 %: false negatives", all.lost.value, 0, 3120);
    check_range("sacrifice, 100 %: chi", all.chi.value, 3.2, 9);
    check_range("sacrifice, 10 %: chi", outcome_of(&options, 0.1).chi.value, 4.5, 9);
    check_range("sacrifice, 1 %, B alone known: chi", outcome_of(&options, 0.01).chi.value, 5, 9);
    options.limit = TEPAL_RETOUCH_LIMIT_SHARE;
    options.budget = 0.02;
    struct outcome two = outcome_of(&options, 1);
    check_range("sacrifice, 2 % budget: share removed", two.share.value, 0.175, 1);
    assert_true(two.lost.value == 0.02 * MEMBERS && two.lost.error == 0);
    options.budget = 0.1;
    check_range("sacrifice, 10 % budget: share removed", outcome_of(&options, 1).share.value, 0.605,
                1);
    options.method = TEPAL_RETOUCH_IMPROVED_RATIO;
    options.budget = 0.02;
    check_range("improved-ratio, 2 % budget: share removed", outcome_of(&options, 1).share.value, 0,
                0.75 * two.share.value);
}

/* ---- the printed Algorithm 7 ----------------------------------------------------------------- */

/* The ElementList vector (Fig. 7): a cell points to a list of elements. */
struct element {
    uint32_t id;
    struct element *next;
};

struct element_list {
    struct element *cell[BITS];
    struct element *room;
    size_t used;
};

static void element_add(struct element_list *v, uint64_t at, uint32_t id)
{
    for (struct element *e = v->cell[at]; e != NULL; e = e->next) {
        if (e->id == id) {
            return;
        }
    }
    struct element *e = &v->room[v->used++];
    e->id = id;
    e->next = v->cell[at];
    v->cell[at] = e;
}

static size_t element_size(const struct element_list *v, size_t at)
{
    size_t size = 0;
    for (const struct element *e = v->cell[at]; e != NULL; e = e->next) {
        size++;
    }
    return size;
}

/* BITCLEARING: remove all occurrences of the elements of a cell. */
static void bit_clearing(struct element_list *v, uint64_t index, const struct tepal_digest *keys,
                         const struct address *at)
{
    while (v->cell[index] != NULL) {
        uint64_t positions[TEPAL_MAX_HASHES];
        uint32_t id = v->cell[index]->id;
        tepal_address_positions(at, keys[id], positions);
        for (unsigned j = 0; j < HASHES; j++) {
            struct element **link = &v->cell[positions[j]];
            while (*link != NULL) {
                if ((*link)->id == id) {
                    *link = (*link)->next;
                } else {
                    link = &(*link)->next;
                }
            }
        }
    }
}

static void compute_ratio(double *r, const bool *v, const struct element_list *a,
                          const struct element_list *b)
{
    for (size_t i = 0; i < BITS; i++) {
        if (v[i] && element_size(b, i) > 0) {
            r[i] = (double)element_size(a, i) / (double)element_size(b, i);
        }
    }
}

static void literal_improved_ratio(const struct run *run, bool *v)
{
    static struct element_list a;
    static struct element_list b;
    static double r[BITS];
    struct address at = tepal_address_of(tepal_filter_params(run->bloom), 1);
    uint64_t positions[TEPAL_MAX_HASHES];
    a.room = malloc(MEMBERS * HASHES * sizeof *a.room);
    b.room = malloc(run->bad_count * HASHES * sizeof *b.room);
    assert_non_null(a.room);
    assert_non_null(b.room);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        tepal_address_positions(&at, run->member[i], positions);
        for (unsigned j = 0; j < HASHES; j++) {
            element_add(&a, positions[j], i);
        }
    }
    for (uint32_t i = 0; i < run->bad_count; i++) {
        tepal_address_positions(&at, run->bad[i], positions);
        for (unsigned j = 0; j < HASHES; j++) {
            element_add(&b, positions[j], i);
        }
    }
    compute_ratio(r, v, &a, &b);
    for (uint32_t i = 0; i < run->bad_count; i++) {
        tepal_address_positions(&at, run->bad[i], positions);
        uint64_t index = positions[0];
        bool found = true;
        for (unsigned j = 0; j < HASHES; j++) {
            uint64_t p = positions[j];
            found = found && v[p];
            if (r[p] < r[index] || (!(r[p] > r[index]) && p < index)) {
                index = p;
            }
        }
        if (found) {
            bit_clearing(&a, index, run->member, &at);
            bit_clearing(&b, index, run->bad, &at);
            v[index] = false;
            r[index] = 0;
            compute_ratio(r, v, &a, &b);
        }
    }
    free(a.room);
    free(b.room);
}

static double seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The same bits as the printed algorithm; both times are shown, and neither is asserted. */
static void incremental_algorithm_7(void **state)
{
    (void)state;
    static bool v[BITS];
    const struct run *run = &runs[0];
    size_t words;
    const uint64_t *bits = tepal_filter_words(run->bloom, &words);
    for (size_t i = 0; i < BITS; i++) {
        v[i] = bits[i / 64] >> i % 64 & 1;
    }
    double literal = seconds();
    literal_improved_ratio(run, v);
    literal = seconds() - literal;
    struct tepal_retouch_options options = options_of(TEPAL_RETOUCH_IMPROVED_RATIO);
    struct tepal_known input = {.members = run->member,
                                .member_count = MEMBERS,
                                .avoid = run->bad,
                                .avoid_count = run->bad_count};
    double least = HUGE_VAL;
    for (int i = 0; i < 5; i++) {
        struct tepal_filter *out = NULL;
        double time = seconds();
        assert_ok(tepal_retouch(run->bloom, &input, &options, NULL, &out, NULL, NULL, NULL));
        time = seconds() - time;
        least = time < least ? time : least;
        const uint64_t *ours = tepal_filter_words(out, &words);
        for (size_t j = 0; j < BITS; j++) {
            assert_int_equal(ours[j / 64] >> j % 64 & 1, v[j]);
        }
        tepal_filter_free(out);
    }
    print_message("  Algorithm 7 as printed: %.3f s; incremental: %.5f s, %.0f times as fast\n",
                  literal, least, literal / least);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_papers_tables),
        cmocka_unit_test(false_negatives_when_all_must_go),
        cmocka_unit_test(what_is_counted),
        cmocka_unit_test(bits_cleared_at_random),
        cmocka_unit_test(random_selection_in_closed_form),
        cmocka_unit_test(what_sacrifice_reaches),
        cmocka_unit_test(incremental_algorithm_7),
    };
    return cmocka_run_group_tests(tests, make_runs, free_runs);
}
