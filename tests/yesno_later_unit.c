/*
 * yesno_later_unit.c: false positives seen later, into a yes-no filter that exists: by every
 * method, on random instances, against what every key answered before and after and against all
 * distributions of few; members given up by weight; bad input, memory.
 */
#include "check.h"
#include "yesno_help.h"

/* The first `known` of the negatives are known when the filter is built. */
static struct tepal_filter *build_first(const struct yesno_case *c, size_t known)
{
    struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
    struct tepal_known in = c->in;
    struct tepal_filter *f;
    in.avoid_count = known;
    how.method = TEPAL_YESNO_GREEDY;
    assert_ok(tepal_yesno_build(&c->params, &in, &how, NULL, &f, NULL, NULL));
    return f;
}

static bool is_member(const struct yesno_case *c, struct tepal_digest d)
{
    for (size_t i = 0; i < c->in.member_count; i++) {
        if (memcmp(&c->members[i], &d, sizeof d) == 0) {
            return true;
        }
    }
    return false;
}

/* The rest of them is seen later. */
static struct tepal_known later(const struct yesno_case *c, size_t known)
{
    struct tepal_known in = c->in;
    in.avoid += known;
    in.avoid_count -= known;
    in.avoid_weights = in.avoid_weights == NULL ? NULL : in.avoid_weights + known;
    return in;
}

/*
 * No bit is cleared, the yes-filter is not touched, so that what was not found is not found; no
 * member is lost; the report is what queries say. Returns the weight left.
 */
static double check_later(const struct yesno_case *c, struct tepal_filter *f, size_t known,
                          enum tepal_yesno_method method, struct tepal_known_report *report)
{
    struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
    struct tepal_known in = later(c, known);
    uint64_t before[YESNO_MOST_WORDS];
    size_t count;
    const uint64_t *words = tepal_filter_words(f, &count);
    uint64_t found = 0;
    uint64_t left = 0;
    double weight = 0;
    bool was[YESNO_MOST_AVOID];
    memcpy(before, words, count * 8);
    for (size_t i = 0; i < c->in.avoid_count; i++) {
        was[i] = tepal_filter_query(f, c->avoid[i]) && !is_member(c, c->avoid[i]);
    }
    how.method = method;
    how.steps = 300;
    assert_ok(tepal_yesno_veto_later(f, &in, &how, report, NULL));
    for (uint64_t b = 0; b < c->params.cells; b++) {
        uint64_t old = before[b / 64] >> b % 64 & 1;
        uint64_t now = words[b / 64] >> b % 64 & 1;
        assert_true(b < yes_bits(&c->params) ? old == now : old <= now);
    }
    for (size_t i = 0; i < c->in.member_count; i++) {
        assert_true(tepal_filter_query(f, c->members[i]));
    }
    for (size_t i = 0; i < c->in.avoid_count; i++) {
        bool is = tepal_filter_query(f, c->avoid[i]) && !is_member(c, c->avoid[i]);
        assert_true(!is || was[i]);
        if (i >= known) {
            found += was[i];
            left += is;
            weight += is ? yesno_weight(c, i) : 0;
        }
    }
    assert_int_equal(report->avoid_positive, found);
    assert_int_equal(report->avoid_left, left);
    assert_int_equal(report->false_negatives, 0);
    assert_int_equal(report->avoid_given, in.avoid_count);
    assert_true(fabs(report->weight_left - weight) <= 1e-9 * (1 + weight));
    assert_ok(tepal_filter_validate(f, NULL));
    return weight;
}

static void what_is_seen_later_is_vetoed_beside_what_was(void **state)
{
    static struct yesno_case c;
    uint64_t seed = 71;
    uint64_t found = 0;
    uint64_t left = 0;
    uint64_t better = 0;
    (void)state;
    for (int round = 0; round < 400; round++) {
        double weight[TEPAL_YESNO_METHODS];
        struct tepal_known_report report;
        yesno_draw(&c, &seed);
        size_t known = c.in.avoid_count / 2;
        for (int m = 0; m < TEPAL_YESNO_METHODS; m++) {
            struct tepal_filter *f = build_first(&c, known);
            weight[m] = check_later(&c, f, known, (enum tepal_yesno_method)m, &report);
            tepal_filter_free(f);
        }
        found += report.avoid_positive;
        left += report.avoid_left;
        double slack = 1e-9 * (1 + weight[TEPAL_YESNO_GREEDY]);
        assert_true(weight[TEPAL_YESNO_LOCAL_SEARCH] <= weight[TEPAL_YESNO_GREEDY] + slack);
        assert_true(weight[TEPAL_YESNO_EXACT] <= weight[TEPAL_YESNO_LOCAL_SEARCH] + slack);
        better += weight[TEPAL_YESNO_LOCAL_SEARCH] < weight[TEPAL_YESNO_GREEDY] - slack;
    }
    assert_true(found > 5000 && left > 500 && left < found);
    assert_true(better > 20);
}

/* All homes of up to six false positives: the least weight that can be left. */
static double least_left(const struct yesno_case *c, const struct tepal_filter *f, size_t known,
                         const size_t *falses, size_t count)
{
    const struct tepal_params *p = &c->params;
    uint64_t r = p->yesno.no_filters;
    uint64_t q = p->yesno.no_bits;
    size_t word_count;
    const uint64_t *words = tepal_filter_words(f, &word_count);
    double least = INFINITY;
    uint64_t all = 1;
    (void)known;
    for (size_t i = 0; i < count; i++) {
        all *= r + 1;
    }
    for (uint64_t code = 0; code < all; code++) {
        uint64_t with[YESNO_MOST_WORDS];
        double left = 0;
        uint64_t rest = code;
        bool vetoes = false;
        memcpy(with, words, word_count * 8);
        for (size_t i = 0; i < count; i++, rest /= r + 1) {
            uint64_t mask[YESNO_MOST_WORDS];
            uint64_t j = rest % (r + 1);
            tepal_yesno_mask(p, c->avoid[falses[i]], mask);
            left += j == r ? yesno_weight(c, falses[i]) : 0;
            for (uint64_t b = yes_bits(p) + j * q; j < r && b < yes_bits(p) + (j + 1) * q; b++) {
                with[b / 64] |= mask[b / 64] & (uint64_t)1 << b % 64;
            }
        }
        for (size_t i = 0; i < c->in.member_count && !vetoes && left < least; i++) {
            vetoes = !yesno_plain_query(p, with, c->members[i], false);
        }
        least = vetoes || left >= least ? least : left;
    }
    /* one that is covered by what the others bring is left by nobody: count again */
    return least;
}

static void exact_finds_the_best_of_all(void **state)
{
    static struct yesno_case c;
    uint64_t seed = 72;
    uint64_t compared = 0;
    uint64_t some = 0;
    (void)state;
    for (int round = 0; round < 1500; round++) {
        size_t falses[6];
        size_t count = 0;
        yesno_draw(&c, &seed);
        size_t known = c.in.avoid_count / 2;
        if (c.params.yesno.no_filters == 0 || c.params.yesno.no_filters > 3) {
            continue;
        }
        struct tepal_filter *f = build_first(&c, known);
        for (size_t i = known; i < c.in.avoid_count; i++) {
            if (tepal_filter_query(f, c.avoid[i]) && !is_member(&c, c.avoid[i])) {
                if (count < 6) {
                    falses[count] = i;
                }
                count++;
            }
        }
        if (count > 0 && count <= 6) {
            struct tepal_known_report report;
            double least = least_left(&c, f, known, falses, count);
            double left = check_later(&c, f, known, TEPAL_YESNO_EXACT, &report);
            /* What is left without a home may be vetoed by the bits of the others. */
            assert_true(left <= least + 1e-9);
            compared++;
            some += least > 0;
        }
        tepal_filter_free(f);
    }
    assert_true(compared > 100 && some > 30);
}

/* ---- members given up by weight -------------------------------------------------------------- */

static void members_are_given_up_by_weight(void **state)
{
    static struct yesno_case c;
    uint64_t seed = 73;
    uint64_t spent = 0;
    double by_weight = 0;
    double by_count = 0;
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
        struct tepal_known_report none;
        struct tepal_known_report report;
        struct tepal_filter *f;
        double weights[YESNO_MOST_MEMBERS];
        yesno_draw(&c, &seed);
        for (size_t i = 0; i < c.in.member_count; i++) {
            weights[i] = i % 2 == 0 ? 0.25 : 8; /* half of them hardly matter */
        }
        how.method = TEPAL_YESNO_GREEDY;
        assert_ok(tepal_yesno_build(&c.params, &c.in, &how, NULL, &f, &none, NULL));
        tepal_filter_free(f);
        c.in.member_weights = weights;
        how.false_negative_weight = 1.5;
        assert_ok(tepal_yesno_build(&c.params, &c.in, &how, NULL, &f, &report, NULL));
        double lost = 0;
        uint64_t count = 0;
        for (size_t i = 0; i < c.in.member_count; i++) {
            lost += tepal_filter_query(f, c.members[i]) ? 0 : weights[i];
            count += !tepal_filter_query(f, c.members[i]);
        }
        tepal_filter_free(f);
        assert_true(lost <= 1.5 && lost == report.weight_lost);
        assert_int_equal(count, report.false_negatives);
        assert_true(report.weight_left <= none.weight_left);
        spent += count > 0;
        by_weight += report.weight_left;
        /* as many members, whatever they weigh: six light ones are as good as any */
        how.false_negatives = 1;
        assert_ok(tepal_yesno_build(&c.params, &c.in, &how, NULL, &f, &report, NULL));
        assert_true(report.false_negatives <= 1 && report.weight_lost <= 1.5);
        by_count += report.weight_left;
        tepal_filter_free(f);
    }
    assert_true(spent > 50);
    assert_true(by_weight < by_count); /* a limit more is a limit more */
}

/* ---- state and refusals ---------------------------------------------------------------------- */

static double figure(const struct tepal_filter *f, const char *name)
{
    struct tepal_report report;
    tepal_filter_info(f, &report);
    const struct tepal_quantity *q = tepal_report_find(&report, name);
    assert_non_null(q);
    return (double)q->value.integer;
}

static void the_filter_counts_them(void **state)
{
    static struct yesno_case c;
    static const struct tepal_params init = TEPAL_PARAMS_INIT;
    struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
    struct tepal_known_report report;
    struct tepal_filter *copy;
    uint64_t seed = 74;
    (void)state;
    c.params = init;
    set_yesno(400, 3, 60, 3, 5, &c.params);
    yesno_keys(&c, &seed, 80, 200);
    struct tepal_filter *f = build_first(&c, 100);
    double positive = figure(f, "avoid_positive");
    double left = figure(f, "avoid_left");
    check_later(&c, f, 100, TEPAL_YESNO_LOCAL_SEARCH, &report);
    assert_true(report.avoid_positive > 5 && report.avoid_left < report.avoid_positive);
    assert_true(figure(f, "avoid") == 100 + (double)report.avoid_positive);
    assert_true(figure(f, "avoid_positive") == positive + (double)report.avoid_positive);
    assert_true(figure(f, "avoid_left") == left + (double)report.avoid_left);
    assert_true(figure(f, "false_negatives") == 0);
    /* Members lost at first do not stand in the way, and are not counted twice. */
    tepal_filter_free(f);
    how.false_negatives = 6;
    struct tepal_known in = c.in;
    in.avoid_count = 100;
    set_yesno(200, 2, 20, 2, 4, &c.params);
    assert_ok(tepal_yesno_build(&c.params, &in, &how, NULL, &f, &report, NULL));
    uint64_t lost = report.false_negatives;
    assert_true(lost > 0);
    in = later(&c, 100);
    how.false_negatives = 0;
    assert_ok(tepal_yesno_veto_later(f, &in, &how, &report, NULL));
    assert_int_equal(report.false_negatives, lost);
    assert_true(figure(f, "false_negatives") == (double)lost);
    how.false_negatives = 5;
    assert_ok(tepal_filter_clone(f, NULL, &copy, NULL));
    assert_ok(tepal_yesno_veto_later(copy, &in, &how, &report, NULL));
    assert_true(report.false_negatives > lost && report.false_negatives <= lost + 5);
    assert_true(figure(copy, "false_negatives") == (double)report.false_negatives);
    tepal_filter_free(copy);
    tepal_filter_free(f);
}

static void what_is_wrong_is_refused(void **state)
{
    static struct yesno_case c;
    static const struct tepal_params init = TEPAL_PARAMS_INIT;
    struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
    struct tepal_error error = {.why = ""};
    struct tepal_filter *bloom;
    uint64_t seed = 75;
    (void)state;
    c.params = init;
    set_yesno(400, 3, 60, 3, 5, &c.params);
    yesno_keys(&c, &seed, 80, 200);
    struct tepal_filter *f = build_first(&c, 100);
    struct tepal_filter *before;
    assert_ok(tepal_filter_clone(f, NULL, &before, NULL));
    struct tepal_known in = c.in;
    in.member_count = 0;
    assert_int_equal(tepal_yesno_veto_later(f, &in, &how, NULL, &error), TEPAL_BAD_ARGUMENT);
    in = c.in;
    in.members = c.avoid; /* most of them are not in the filter */
    assert_int_equal(tepal_yesno_veto_later(f, &in, &how, NULL, &error), TEPAL_BAD_ARGUMENT);
    assert_non_null(strstr(error.why, "a member is not in the filter"));
    in = c.in;
    c.weights[0] = -1;
    in.avoid_weights = c.weights;
    assert_int_equal(tepal_yesno_veto_later(f, &in, &how, NULL, &error), TEPAL_BAD_ARGUMENT);
    in.avoid_weights = NULL;
    in.member_weights = c.weights;
    how.false_negative_weight = 1;
    assert_int_equal(tepal_yesno_veto_later(f, &in, &how, NULL, &error), TEPAL_BAD_ARGUMENT);
    in.member_weights = NULL;
    how.false_negative_weight = NAN;
    assert_int_equal(tepal_yesno_veto_later(f, &in, &how, NULL, &error), TEPAL_BAD_ARGUMENT);
    how.false_negative_weight = 0;
    how.method = (enum tepal_yesno_method)99;
    assert_int_equal(tepal_yesno_veto_later(f, &in, &how, NULL, &error), TEPAL_BAD_ARGUMENT);
    how.method = TEPAL_YESNO_GREEDY;
    struct tepal_params plain = init;
    plain.cells = 400;
    plain.hashes = 3;
    assert_ok(tepal_filter_create(&plain, NULL, &bloom, NULL));
    assert_int_equal(tepal_yesno_veto_later(bloom, &in, &how, NULL, &error), TEPAL_UNSUPPORTED);
    tepal_filter_free(bloom);
    assert_true(tepal_filter_equal(f, before));
    tepal_filter_free(before);
    tepal_filter_free(f);
}

/* ---- memory ---------------------------------------------------------------------------------- */

struct failing {
    int until;
};

static void *failing_alloc(void *ctx, size_t size, size_t align)
{
    struct failing *f = ctx;
    void *p = NULL;
    if (f->until-- > 0) {
        p = aligned_alloc(align, (size + align - 1) / align * align);
    }
    return p;
}

static void failing_free(void *ctx, void *p, size_t size)
{
    (void)ctx;
    (void)size;
    free(p);
}

static void without_memory_nothing_changes(void **state)
{
    static struct yesno_case c;
    static const struct tepal_params init = TEPAL_PARAMS_INIT;
    struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
    struct failing failing = {.until = 1 << 30};
    struct tepal_allocator allocator = {failing_alloc, failing_free, &failing};
    struct tepal_filter *f;
    struct tepal_filter *before;
    uint64_t seed = 76;
    int refused = 0;
    (void)state;
    c.params = init;
    set_yesno(300, 3, 30, 2, 4, &c.params);
    yesno_keys(&c, &seed, 90, 200);
    struct tepal_filter *made = build_first(&c, 60);
    assert_ok(tepal_filter_clone(made, &allocator, &f, NULL));
    assert_ok(tepal_filter_clone(made, NULL, &before, NULL));
    struct tepal_known in = later(&c, 60);
    how.false_negatives = 2;
    for (int n = 0;; n++) {
        failing.until = n;
        enum tepal_status status = tepal_yesno_veto_later(f, &in, &how, NULL, NULL);
        if (status == TEPAL_OK) {
            break;
        }
        assert_int_equal(status, TEPAL_NO_MEMORY);
        assert_true(tepal_filter_equal(f, before));
        refused++;
    }
    assert_true(refused > 10);
    assert_false(tepal_filter_equal(f, before));
    tepal_filter_free(before);
    tepal_filter_free(made);
    tepal_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_seen_later_is_vetoed_beside_what_was),
        cmocka_unit_test(exact_finds_the_best_of_all),
        cmocka_unit_test(members_are_given_up_by_weight),
        cmocka_unit_test(the_filter_counts_them),
        cmocka_unit_test(what_is_wrong_is_refused),
        cmocka_unit_test(without_memory_nothing_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
