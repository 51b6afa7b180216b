/*
 * yesno_unit.c: the yes-no filter: every method against a plain twin and, where that is possible,
 * against all distributions there are; its parameters; later additions; bad input; memory.
 */
#include "yesno_help.h"

#include <tepal/papers.h>

#include "file_help.h"
#include "filter/kind.h"

/* Sanitizers are slow: the full number of instances runs in yesno_stat. */
static void no_member_is_ever_vetoed(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    for (int i = 0; i < 400; i++) {
        yesno_property(&state, true);
    }
}

static void greedy_is_the_papers_algorithm(void **unused)
{
    (void)unused;
    static struct yesno_case c;
    uint64_t state = 2;
    struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
    how.method = TEPAL_YESNO_GREEDY;
    for (int i = 0; i < 200; i++) {
        uint64_t plain[YESNO_MOST_WORDS];
        struct tepal_filter *f;
        size_t count;
        yesno_draw(&c, &state);
        assert_ok(tepal_yesno_build(&c.params, &c.in, &how, NULL, &f, NULL, NULL));
        yesno_plain_greedy(&c, plain);
        const uint64_t *words = tepal_filter_words(f, &count);
        assert_memory_equal(words, plain, count * 8);
        tepal_filter_free(f);
    }
}

/* The least weight that any distribution of the first `count` of `f` leaves, by trying them all. */
static double least_left(const struct yesno_case *c, const size_t *f, size_t count, size_t at,
                         uint64_t *words)
{
    const struct tepal_params *p = &c->params;
    uint64_t yes = yes_bits(p);
    uint64_t q = p->yesno.no_bits;
    double best = 0;
    if (at == count) {
        for (size_t i = 0; i < c->in.member_count; i++) {
            if (!yesno_plain_query(p, words, c->members[i], false)) {
                return INFINITY;
            }
        }
        for (size_t i = 0; i < count; i++) {
            best += yesno_plain_query(p, words, c->avoid[f[i]], false) ? yesno_weight(c, f[i]) : 0;
        }
        return best;
    }
    best = least_left(c, f, count, at + 1, words);
    for (uint64_t j = 0; j < p->yesno.no_filters; j++) {
        uint64_t with[YESNO_MOST_WORDS];
        uint64_t mask[YESNO_MOST_WORDS];
        memcpy(with, words, sizeof with);
        tepal_yesno_mask(p, c->avoid[f[at]], mask);
        for (uint64_t b = yes + j * q; b < yes + (j + 1) * q; b++) {
            with[b / 64] |= mask[b / 64] & (uint64_t)1 << b % 64;
        }
        double here = least_left(c, f, count, at + 1, with);
        best = here < best ? here : best;
    }
    return best;
}

static void exact_is_the_optimum(void **unused)
{
    (void)unused;
    static struct yesno_case c;
    uint64_t state = 3;
    int tight = 0;
    for (int tried = 0; tried < 25;) {
        uint64_t words[YESNO_MOST_WORDS] = {0};
        size_t f[YESNO_MOST_AVOID];
        size_t count = 0;
        struct tepal_known_report report;
        yesno_draw(&c, &state);
        if (c.params.yesno.no_filters == 0 || c.params.yesno.no_filters > 2) {
            continue;
        }
        for (size_t i = 0; i < c.in.member_count; i++) {
            uint64_t mask[YESNO_MOST_WORDS];
            tepal_yesno_mask(&c.params, c.members[i], mask);
            for (uint64_t b = 0; b < yes_bits(&c.params); b++) {
                words[b / 64] |= mask[b / 64] & (uint64_t)1 << b % 64;
            }
        }
        /* Few false positives, so that all distributions can be tried. */
        while (c.in.avoid_count > 0) {
            count = 0;
            for (size_t i = 0; i < c.in.avoid_count; i++) {
                if (yesno_plain_query(&c.params, words, c.avoid[i], true)) {
                    f[count++] = i;
                }
            }
            if (count <= 5) {
                break;
            }
            c.in.avoid_count /= 2;
        }
        bool shared = false;
        for (size_t i = 0; i < count; i++) {
            for (size_t m = 0; m < c.in.member_count; m++) {
                shared = shared || memcmp(&c.members[m], &c.avoid[f[i]], 16) == 0;
            }
        }
        if (count < 3 || shared) {
            continue;
        }
        tried++;
        struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
        struct tepal_filter *made;
        how.method = TEPAL_YESNO_EXACT;
        assert_ok(tepal_yesno_build(&c.params, &c.in, &how, NULL, &made, &report, NULL));
        tepal_filter_free(made);
        double least = least_left(&c, f, count, 0, words);
        assert_true(report.proved_optimal);
        assert_true(fabs(report.weight_left - least) < 1e-9);
        tight += least > 0;
    }
    assert_true(tight > 5); /* else nothing was tested */
}

/* With r = 0 every bit and every answer is the Bloom filter's, on every layout. */
static void without_no_filters_it_is_a_bloom_filter(void **unused)
{
    (void)unused;
    static struct tepal_digest keys[3000];
    uint64_t state = 4;
    check_digests(&state, keys, 3000);
    for (int layout = 0; layout < 4; layout++) {
        for (int positions = 0; positions < 2; positions++) {
            struct tepal_params p = TEPAL_PARAMS_INIT;
            struct tepal_filter *bloom;
            struct tepal_filter *yesno;
            struct tepal_filter *built;
            size_t words;
            size_t same;
            uint64_t a[47];
            uint64_t b[47];
            p.layout = (enum tepal_layout)layout;
            p.positions = (enum tepal_positions)positions;
            p.cells = 512 * 20;
            p.hashes = 5;
            assert_ok(tepal_filter_create(&p, NULL, &bloom, NULL));
            set_yesno(p.cells, p.hashes, 0, 0, 0, &p);
            assert_ok(tepal_filter_create(&p, NULL, &yesno, NULL));
            assert_ok(tepal_filter_add_many(bloom, keys, 1000));
            assert_ok(tepal_filter_add_many(yesno, keys, 1000));
            struct tepal_known in = {
                .members = keys, .member_count = 1000, .avoid = keys + 1000, .avoid_count = 2000};
            struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
            assert_ok(tepal_yesno_build(&p, &in, &how, NULL, &built, NULL, NULL));
            const uint64_t *bits = tepal_filter_words(bloom, &words);
            assert_memory_equal(tepal_filter_words(yesno, &same), bits, words * 8);
            assert_memory_equal(tepal_filter_words(built, &same), bits, words * 8);
            assert_int_equal(same, words);
            assert_int_equal(tepal_filter_query_many(bloom, keys, 3000, a),
                             tepal_filter_query_many(yesno, keys, 3000, b));
            assert_memory_equal(a, b, sizeof a);
            tepal_filter_free(bloom);
            tepal_filter_free(yesno);
            tepal_filter_free(built);
        }
    }
}

/* A large one on every layout: batches are single questions, the header is the mask. */
static void batches_and_single_questions_agree(void **unused)
{
    (void)unused;
    enum { N = 3000, T = 20000 };
    static struct tepal_digest keys[N + T];
    static uint64_t answers[(N + T + 63) / 64];
    uint64_t state = 5;
    check_digests(&state, keys, N + T);
    for (int i = 0; i < 16; i++) {
        struct tepal_params p = TEPAL_PARAMS_INIT;
        struct tepal_filter *f;
        struct tepal_known_report report;
        p.layout = (enum tepal_layout)(i % 4);
        p.positions = (enum tepal_positions)(i / 4 % 2);
        set_yesno(512 * 45, 5, 512 * 4, 2, 7, &p);
        p.yesno.own_seeds = i / 8 % 2;
        p.yesno.salt = i / 8 % 2;
        struct tepal_known in = {
            .members = keys, .member_count = N, .avoid = keys + N, .avoid_count = T};
        struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
        assert_ok(tepal_yesno_build(&p, &in, &how, NULL, &f, &report, NULL));
        assert_int_equal(report.false_negatives, 0);
        assert_true(report.avoid_positive > T / 100);
        assert_true(report.avoid_left < report.avoid_positive / 2);
        size_t found = tepal_filter_query_many(f, keys, N + T, answers);
        size_t yes = 0;
        assert_int_equal(found, N + report.avoid_left);
        for (size_t k = 0; k < N + T; k++) {
            bool one = tepal_filter_query(f, keys[k]);
            assert_int_equal(one, answers[k / 64] >> k % 64 & 1);
            assert_true(!one || tepal_yesno_query_yes(f, keys[k]));
            yes += tepal_yesno_query_yes(f, keys[k]);
        }
        assert_int_equal(yes, N + report.avoid_positive);
        for (size_t odd = 0; odd < 70; odd++) {
            size_t whole = 0;
            for (size_t k = 0; k < odd; k++) {
                whole += tepal_filter_query(f, keys[N + k]);
            }
            assert_int_equal(tepal_filter_query_many(f, keys + N, odd, answers), whole);
        }
        tepal_filter_free(f);
    }
}

/* No-filters of 2^16 bits and more: no member is vetoed, and what is left would veto one. */
static void large_no_filters_are_full(void **unused)
{
    (void)unused;
    enum { N = 6000, T = 300000, Q = (1 << 16) + 128, R = 2, TRIED = 20 };
    static struct tepal_digest keys[N + T];
    static uint64_t answers[(N + T + 63) / 64];
    static uint64_t mask[(512 * 60 + R * Q) / 64];
    uint64_t state = 8;
    check_digests(&state, keys, N + T);
    for (int i = 0; i < 4; i++) {
        struct tepal_params p = TEPAL_PARAMS_INIT;
        struct tepal_filter *f;
        struct tepal_known_report report;
        size_t tried = 0;
        p.positions = (enum tepal_positions)(i / 2);
        set_yesno(512 * 60, 2, Q, R, 2, &p);
        p.yesno.own_seeds = i % 2;
        struct tepal_known in = {
            .members = keys, .member_count = N, .avoid = keys + N, .avoid_count = T};
        struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
        how.method = TEPAL_YESNO_GREEDY;
        assert_ok(tepal_yesno_build(&p, &in, &how, NULL, &f, &report, NULL));
        assert_int_equal(report.false_negatives, 0);
        assert_int_equal(tepal_filter_query_many(f, keys, N + T, answers), N + report.avoid_left);
        for (size_t k = N; k < N + T && tried < TRIED; k++) {
            if ((answers[k / 64] >> k % 64 & 1) == 0) {
                continue;
            }
            tried++;
            tepal_yesno_mask(&p, keys[k], mask);
            for (size_t j = 0; j < R; j++) {
                static uint64_t before[Q / 64];
                static uint64_t found[(N + 63) / 64];
                uint64_t *no = f->words + (512 * 60 + j * Q) / 64;
                memcpy(before, no, sizeof before);
                for (size_t w = 0; w < Q / 64; w++) {
                    no[w] |= mask[no - f->words + (ptrdiff_t)w];
                }
                assert_true(tepal_filter_query_many(f, keys, N, found) < N);
                memcpy(no, before, sizeof before);
            }
        }
        assert_int_equal(tried, TRIED);
        tepal_filter_free(f);
    }
}

static void members_win(void **unused)
{
    (void)unused;
    static struct yesno_case c;
    uint64_t state = 6;
    struct tepal_known_report report;
    c.params = (struct tepal_params)TEPAL_PARAMS_INIT;
    set_yesno(160, 4, 32, 3, 5, &c.params);
    yesno_keys(&c, &state, 30, 100);
    memcpy(c.avoid, c.members, 30 * sizeof *c.avoid); /* all members are known negatives too */
    memcpy(c.avoid + 50, c.members, 5 * sizeof *c.avoid);
    for (int m = 0; m < TEPAL_YESNO_METHODS; m++) {
        (void)yesno_try(&c, (enum tepal_yesno_method)m, true, &report);
        assert_int_equal(report.avoid_members, 35);
        assert_int_equal(report.avoid_given, 100);
    }
    c.in.avoid_count = 30; /* nothing else */
    assert_true(yesno_try(&c, TEPAL_YESNO_LOCAL_SEARCH, true, &report) == 0);
    c.in.avoid = NULL;
    c.in.avoid_count = 0;
    assert_true(yesno_try(&c, TEPAL_YESNO_LOCAL_SEARCH, true, &report) == 0);
    assert_true(report.proved_optimal);
}

static void the_tolerance_is_kept(void **unused)
{
    (void)unused;
    static struct yesno_case c;
    uint64_t state = 7;
    struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
    struct tepal_known_report strict;
    struct tepal_known_report report;
    uint64_t lost = 0;
    double gained = 0;
    for (int i = 0; i < 300; i++) {
        struct tepal_filter *f;
        yesno_draw(&c, &state);
        how.method = (enum tepal_yesno_method)(i % 4);
        how.false_negatives = 0;
        assert_ok(tepal_yesno_build(&c.params, &c.in, &how, NULL, &f, &strict, NULL));
        tepal_filter_free(f);
        how.false_negatives = (uint64_t)i % 9;
        assert_ok(tepal_yesno_build(&c.params, &c.in, &how, NULL, &f, &report, NULL));
        yesno_check(&c, f, &report, how.false_negatives);
        assert_true(report.weight_left <= strict.weight_left + 1e-9);
        gained += strict.weight_left - report.weight_left;
        lost += report.false_negatives;
        tepal_filter_free(f);
    }
    assert_true(lost > 100 && gained > 10);
}

/* Weights as 1/rank: whatever the heaviest are, local-search leaves no more than greedy. */
static void heavy_ones_are_vetoed_first(void **unused)
{
    (void)unused;
    static struct yesno_case c;
    uint64_t state = 8;
    double greedy = 0;
    double searched = 0;
    c.params = (struct tepal_params)TEPAL_PARAMS_INIT;
    set_yesno(160, 4, 32, 3, 5, &c.params);
    for (int i = 0; i < 1000; i++) {
        struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
        struct tepal_known_report a;
        struct tepal_known_report b;
        struct tepal_filter *f;
        yesno_keys(&c, &state, 40, 100);
        for (size_t x = 0; x < 100; x++) {
            c.weights[x] = 1 / (1 + (double)(x * 37 % 100));
        }
        c.in.avoid_weights = c.weights;
        how.steps = 2000;
        assert_ok(tepal_yesno_build(&c.params, &c.in, &how, NULL, &f, &b, NULL));
        tepal_filter_free(f);
        how.method = TEPAL_YESNO_GREEDY;
        assert_ok(tepal_yesno_build(&c.params, &c.in, &how, NULL, &f, &a, NULL));
        tepal_filter_free(f);
        assert_true(b.weight_left <= a.weight_left + 1e-12);
        assert_int_equal(b.false_negatives, 0);
        greedy += a.weight_left;
        searched += b.weight_left;
    }
    assert_true(searched < 0.25 * greedy);
}

static void salts_are_tried_until_nothing_is_left(void **unused)
{
    (void)unused;
    static struct yesno_case c;
    uint64_t state = 9;
    uint64_t changed = 0;
    uint64_t enough = 0;
    c.params = (struct tepal_params)TEPAL_PARAMS_INIT;
    set_yesno(160, 4, 32, 3, 5, &c.params);
    for (int i = 0; i < 300; i++) {
        struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
        struct tepal_known_report one;
        struct tepal_known_report many;
        struct tepal_filter *f;
        yesno_keys(&c, &state, 30, 100);
        how.method = TEPAL_YESNO_GREEDY;
        assert_ok(tepal_yesno_build(&c.params, &c.in, &how, NULL, &f, &one, NULL));
        tepal_filter_free(f);
        how.salts = 8;
        assert_ok(tepal_yesno_build(&c.params, &c.in, &how, NULL, &f, &many, NULL));
        yesno_check(&c, f, &many, 0);
        assert_int_equal(tepal_filter_params(f)->yesno.salt, many.salt);
        assert_int_equal(many.avoid_left, 0); /* fails with probability .05^8 an instance */
        assert_int_equal(many.salt != 0, one.avoid_left > 0);
        changed += many.salt != 0;
        tepal_filter_free(f);
    }
    assert_true(changed > 0);
    /* Or until little enough is: the first such salt. */
    for (int i = 0; i < 100; i++) {
        struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
        struct tepal_known_report r[3];
        struct tepal_known_report many;
        struct tepal_filter *f;
        yesno_keys(&c, &state, 60, 150);
        for (uint64_t salt = 0; salt < COUNT(r); salt++) {
            c.params.yesno.salt = salt;
            assert_ok(tepal_yesno_build(&c.params, &c.in, &how, NULL, &f, &r[salt], NULL));
            tepal_filter_free(f);
        }
        c.params.yesno.salt = 0;
        how.salts = COUNT(r);
        how.weight_left = r[2].weight_left;
        size_t first = 0;
        while (r[first].weight_left > how.weight_left) {
            first++;
        }
        assert_ok(tepal_yesno_build(&c.params, &c.in, &how, NULL, &f, &many, NULL));
        tepal_filter_free(f);
        assert_int_equal(many.salt, first);
        enough += first < 2 && how.weight_left > 0;
    }
    assert_true(enough > 0);
    /* No salt beyond the last: the search ends with the best so far. */
    struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
    struct tepal_filter *f = NULL;
    yesno_keys(&c, &state, 80, 200);
    c.params.yesno.salt = ((uint64_t)1 << 20) - 1;
    how.salts = 2;
    struct tepal_known_report last;
    assert_ok(tepal_yesno_build(&c.params, &c.in, &how, NULL, &f, &last, NULL));
    assert_int_equal(last.salt, ((uint64_t)1 << 20) - 1);
    tepal_filter_free(f);
}

static bool at_once(void *ctx)
{
    ++*(int *)ctx;
    return true;
}

static void a_search_can_be_ended(void **unused)
{
    (void)unused;
    static struct yesno_case c;
    uint64_t state = 10;
    int asked = 0;
    struct tepal_known_report report;
    struct tepal_filter *f;
    c.params = (struct tepal_params)TEPAL_PARAMS_INIT;
    set_yesno(160, 4, 32, 3, 5, &c.params);
    yesno_keys(&c, &state, 60, 200);
    for (int m = TEPAL_YESNO_LOCAL_SEARCH; m <= TEPAL_YESNO_EXACT; m++) {
        struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
        how.method = (enum tepal_yesno_method)m;
        how.enough = at_once;
        how.ctx = &asked;
        how.steps = UINT64_MAX / 4; /* without the caller it would not end */
        asked = 0;
        assert_ok(tepal_yesno_build(&c.params, &c.in, &how, NULL, &f, &report, NULL));
        assert_true(asked > 0);
        assert_true(report.steps < 10000);
        assert_false(report.proved_optimal);
        yesno_check(&c, f, &report, 0);
        tepal_filter_free(f);
        how.enough = NULL;
        how.steps = 500;
        assert_ok(tepal_yesno_build(&c.params, &c.in, &how, NULL, &f, &report, NULL));
        assert_true(report.steps < 5000);
        assert_false(report.proved_optimal);
        tepal_filter_free(f);
    }
}

static bool never(void *ctx)
{
    ++*(int *)ctx;
    return false;
}

/*
 * A no-filter of 28 bits for thousands: nearly nothing fits, and every bit is half the members'.
 * All methods must ask, whatever they are doing, and their work is limited: the caller is asked
 * after 1024 steps or 2^20 entries of lists, so the number of questions measures it.
 */
static void tiny_no_filters_are_given_up(void **unused)
{
    (void)unused;
    enum { N = 2000 };
    static struct tepal_digest members[N];
    static struct tepal_digest avoid[N];
    uint64_t state = 33;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    set_yesno(972, 1, 28, 1, 19, &p);
    for (size_t i = 0; i < N; i++) {
        members[i] = check_digest(&state);
        avoid[i] = check_digest(&state);
    }
    struct tepal_known in = {
        .members = members, .member_count = N, .avoid = avoid, .avoid_count = N};
    for (int m = 0; m < TEPAL_YESNO_METHODS; m++) {
        struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
        struct tepal_known_report report;
        struct tepal_filter *f;
        int asked = 0;
        how.method = (enum tepal_yesno_method)m;
        how.enough = at_once;
        how.ctx = &asked;
        how.steps = UINT64_MAX / 4; /* without the caller it would not end */
        assert_ok(tepal_yesno_build(&p, &in, &how, NULL, &f, &report, NULL));
        assert_int_equal(asked, 1);
        assert_true(report.steps <= 2048);
        assert_int_equal(report.false_negatives, 0);
        tepal_filter_free(f);
        how.enough = never;
        how.steps = 1000;
        asked = 0;
        assert_ok(tepal_yesno_build(&p, &in, &how, NULL, &f, &report, NULL));
        assert_in_range(asked, 1, m <= TEPAL_YESNO_BESTFIT ? 4 : m == TEPAL_YESNO_PAIRS ? 64 : 16);
        assert_int_equal(report.false_negatives, 0);
        tepal_filter_free(f);
    }
}

static const struct tepal_quantity *told(const struct tepal_filter *f, const char *name,
                                         struct tepal_report *report)
{
    report->count = 0;
    tepal_filter_info(f, report);
    const struct tepal_quantity *q = tepal_report_find(report, name);
    assert_non_null(q);
    return q;
}

/*
 * What was counted at build time is told as long as it is true. Afterwards: an estimate from above,
 * of 2000 known negatives within six standard errors (false alarm below 1e-8).
 */
static void after_additions_no_old_count_is_told(void **unused)
{
    (void)unused;
    enum { N = 2000 };
    static struct tepal_digest members[N];
    static struct tepal_digest avoid[N];
    static struct tepal_report told_of;
    uint64_t state = 31;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    set_yesno(12000, 4, 400, 3, 6, &p);
    p.capacity = N;
    for (size_t i = 0; i < N; i++) {
        members[i] = check_digest(&state);
        avoid[i] = check_digest(&state);
    }
    struct tepal_known in = {
        .members = members, .member_count = N, .avoid = avoid, .avoid_count = N};
    struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
    struct tepal_known_report built;
    struct tepal_filter *f;
    assert_ok(tepal_yesno_build(&p, &in, &how, NULL, &f, &built, NULL));
    assert_int_equal(told(f, "avoid_left", &told_of)->value.integer, built.avoid_left);
    assert_true(told(f, "fp_known", &told_of)->value.real == (double)built.avoid_left / N);
    assert_int_equal(told(f, "added_later", &told_of)->value.integer, 0);
    for (size_t i = 0; i < N; i++) {
        assert_ok(tepal_filter_add(f, check_digest(&state)));
    }
    size_t found = 0;
    for (size_t i = 0; i < N; i++) {
        found += tepal_filter_query(f, avoid[i]);
    }
    double rate = (double)found / N;
    double most = told(f, "fp_known", &told_of)->value.real;
    assert_true(rate > 10 * (double)built.avoid_left / N);
    assert_true(rate <= most + 6 * sqrt(most / N));
    assert_int_equal(told(f, "avoid_left", &told_of)->type, TEPAL_QUANTITY_ABSENT);
    assert_int_equal(told(f, "added_later", &told_of)->value.integer, N);
    tepal_filter_free(f);
}

/* With large no-filters: what is predicted is what the bits say, not the yes-filter's rate. */
static void the_prediction_knows_of_the_vetoes(void **unused)
{
    (void)unused;
    enum { N = 2000 };
    static struct tepal_digest members[N];
    static struct tepal_digest avoid[N];
    static struct tepal_report told_of;
    uint64_t state = 32;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    set_yesno(4000, 1, 4000, 1, 2, &p);
    p.capacity = N;
    for (size_t i = 0; i < N; i++) {
        members[i] = check_digest(&state);
        avoid[i] = check_digest(&state);
    }
    struct tepal_known in = {
        .members = members, .member_count = N, .avoid = avoid, .avoid_count = N};
    struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
    struct tepal_filter *f;
    how.method = TEPAL_YESNO_GREEDY;
    assert_ok(tepal_yesno_build(&p, &in, &how, NULL, &f, NULL, NULL));
    double predicted = told(f, "fp_at_capacity", &told_of)->value.real;
    double now = told(f, "fp_now", &told_of)->value.real;
    double yes = tepal_bloom_fp(p.layout, p.positions, 4000, N, 1);
    double veto = told(f, "veto_rate", &told_of)->value.real;
    assert_true(veto > .01);
    assert_true(fabs(predicted - yes * (1 - veto)) < 1e-12);
    assert_true(fabs(predicted - now) < .05 * now);
    tepal_filter_free(f);
}

/* Later additions: whoever was found is found, and the new ones too. */
static void additions_undo_vetoes(void **unused)
{
    (void)unused;
    static struct yesno_case c;
    uint64_t state = 11;
    uint64_t undone = 0;
    for (int i = 0; i < 400; i++) {
        struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
        struct tepal_filter *f;
        struct tepal_filter *g;
        how.method = TEPAL_YESNO_GREEDY;
        yesno_draw(&c, &state);
        assert_ok(tepal_yesno_build(&c.params, &c.in, &how, NULL, &f, NULL, NULL));
        assert_ok(tepal_filter_clone(f, NULL, &g, NULL));
        size_t count = c.in.avoid_count < 20 ? c.in.avoid_count : 20;
        assert_ok(tepal_filter_add_many(g, c.avoid, count));
        for (size_t k = 0; k < count; k++) {
            assert_ok(tepal_filter_add(f, c.avoid[k]));
        }
        for (size_t k = 0; k < c.in.member_count + count; k++) {
            struct tepal_digest d =
                k < c.in.member_count ? c.members[k] : c.avoid[k - c.in.member_count];
            assert_true(tepal_filter_query(f, d));
            assert_true(tepal_filter_query(g, d));
        }
        assert_int_equal(tepal_filter_keys_added(f), c.in.member_count + count);
        undone += info_integer(f, "vetoes_undone");
        assert_ok(tepal_filter_validate(f, NULL));
        tepal_filter_free(f);
        tepal_filter_free(g);
    }
    assert_true(undone > 50);
}

static void the_gate_knows_the_kind(void **unused)
{
    (void)unused;
    struct tepal_params good = TEPAL_PARAMS_INIT;
    set_yesno(160, 4, 32, 3, 5, &good);
    assert_ok(tepal_params_check(&good, NULL));
    assert_int_equal(yes_bits(&good), 160);
    assert_int_equal(tepal_params_cell_bytes(&good), 32);
    assert_int_equal(good.cells, 256);
    /* sums that wrap */
    struct tepal_params wraps = TEPAL_PARAMS_INIT;
    set_yesno(1, 1, UINT64_MAX, 2, 1, &wraps);
    assert_int_equal(tepal_params_check(&wraps, NULL), TEPAL_BAD_PARAMETER);
    set_yesno(UINT64_MAX, 1, 1, 1, 1, &wraps);
    assert_int_equal(tepal_params_check(&wraps, NULL), TEPAL_BAD_PARAMETER);
    set_yesno(100, 1, (uint64_t)1 << 58, 64, 1, &wraps);
    assert_int_equal(wraps.cells, 100);
    assert_int_equal(tepal_params_check(&wraps, NULL), TEPAL_BAD_PARAMETER);
    static const struct {
        uint64_t p, k, q, r, no_hashes, seeds, salt;
        int layout, positions;
    } bad[] = {
        {0, 4, 32, 3, 5, 0, 0, 0, 0},         /* no yes-filter */
        {160, 0, 32, 3, 5, 0, 0, 0, 0},       /* no hash */
        {160, 65, 32, 3, 5, 0, 0, 0, 0},      /* too many */
        {160, 4, 0, 3, 5, 0, 0, 0, 0},        /* no-filters without bits */
        {160, 4, 32, 65, 5, 0, 0, 0, 0},      /* too many of them */
        {160, 4, 32, 3, 0, 0, 0, 0, 0},       /* no hash of theirs */
        {160, 4, 32, 3, 65, 0, 0, 0, 0},      /* too many */
        {160, 4, 32, 3, 5, 2, 0, 0, 0},       /* neither own seeds nor not */
        {160, 4, 32, 3, 5, 0, 1 << 20, 0, 0}, /* no such salt */
        {160, 4, 4, 3, 5, 0, 0, 0, 1},        /* five distinct of four */
        {3, 4, 32, 3, 2, 0, 0, 0, 1},         /* four distinct of three */
        {3, 4, 32, 3, 5, 0, 0, 1, 0},         /* four slices of three */
        {500, 4, 4, 3, 5, 0, 0, 2, 0},        /* the whole is a line, the yes-filter is not */
        {512, 17, 512, 1, 5, 0, 0, 2, 0},     /* too many for a line */
        {512, 4, 512, 1, 5, 0, 0, 3, 1},      /* two lines are needed */
        {160, 4, (uint64_t)1 << 32, 1, 5, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tepal_params p = TEPAL_PARAMS_INIT;
        struct tepal_error error = {.why = ""};
        struct tepal_filter *f = NULL;
        set_yesno(bad[i].p, (uint32_t)bad[i].k, bad[i].q, bad[i].r, (uint32_t)bad[i].no_hashes, &p);
        p.yesno.own_seeds = bad[i].seeds;
        p.yesno.salt = bad[i].salt;
        p.layout = (enum tepal_layout)bad[i].layout;
        p.positions = (enum tepal_positions)bad[i].positions;
        assert_int_equal(tepal_params_check(&p, &error), TEPAL_BAD_PARAMETER);
        assert_true(strlen(error.why) > 10);
        assert_int_equal(tepal_filter_create(&p, NULL, &f, NULL), TEPAL_BAD_PARAMETER);
    }
    for (int i = 0; i < TEPAL_OWN_PARAMS; i++) { /* any parameter of a file that is nonsense */
        struct tepal_params p = good;
        p.own[i] = UINT64_MAX;
        assert_int_equal(tepal_params_check(&p, NULL), TEPAL_BAD_PARAMETER);
        set_yesno(160, 4, 0, 0, 0, &p);
        assert_ok(tepal_params_check(&p, NULL));
        p.own[i] = 1;
        assert_int_equal(tepal_params_check(&p, NULL),
                         i == PARAMS_INDEX(yesno.salt) ? TEPAL_OK : TEPAL_BAD_PARAMETER);
    }
}

static void bad_input_is_refused(void **unused)
{
    (void)unused;
    static struct yesno_case c;
    uint64_t state = 12;
    c.params = (struct tepal_params)TEPAL_PARAMS_INIT;
    set_yesno(160, 4, 32, 3, 5, &c.params);
    for (int i = 0; i < 7; i++) {
        struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
        struct tepal_params p = c.params;
        struct tepal_filter *f = NULL;
        struct tepal_error error = {.why = ""};
        yesno_keys(&c, &state, 30, 100);
        for (size_t x = 0; x < 100; x++) {
            c.weights[x] = 1;
        }
        c.in.avoid_weights = c.weights;
        enum tepal_status expected = TEPAL_BAD_ARGUMENT;
        switch (i) {
        case 0:
            c.in.member_count = 0;
            break;
        case 1:
            c.weights[99] = -1;
            break;
        case 2:
            c.weights[0] = NAN;
            break;
        case 3:
            c.weights[5] = INFINITY;
            break;
        case 4:
            how.method = (enum tepal_yesno_method)6;
            break;
        case 5:
            p.kind = TEPAL_KIND_BLOOM;
            break;
        default:
            p.yesno.no_bits = 90;
            expected = TEPAL_BAD_PARAMETER;
            break;
        }
        assert_int_equal(tepal_yesno_build(&p, &c.in, &how, NULL, &f, NULL, &error), expected);
        assert_true(strlen(error.why) > 5);
        assert_null(f);
    }
    enum tepal_yesno_method m = TEPAL_YESNO_PAIRS;
    assert_false(tepal_yesno_method_parse("best", &m));
    assert_int_equal(m, TEPAL_YESNO_PAIRS);
    assert_string_equal(tepal_yesno_method_name((enum tepal_yesno_method)77), "");
    for (int i = 0; i < TEPAL_YESNO_METHODS; i++) {
        assert_true(
            tepal_yesno_method_parse(tepal_yesno_method_name((enum tepal_yesno_method)i), &m));
        assert_int_equal(m, i);
    }
}

/* States that no build leaves behind. */
static void damaged_states_are_noticed(void **unused)
{
    (void)unused;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_filter *f;
    set_yesno(160, 4, 32, 3, 5, &p);
    assert_ok(tepal_filter_create(&p, NULL, &f, NULL));
    for (int i = 0; i < FILTER_STATES; i++) {
        f->state.own[i] = 1;
        enum tepal_status expected =
            i == 0 || i == 1 || i == 5 ? TEPAL_OK : TEPAL_CORRUPT; /* members, avoid, undone */
        assert_int_equal(tepal_filter_validate(f, NULL), expected);
        f->state.own[i] = 0;
    }
    tepal_filter_free(f);
}

/* Memory that runs out at the N-th call, for every N. */
static void out_of_memory_changes_nothing(void **unused)
{
    (void)unused;
    static struct yesno_case c;
    uint64_t state = 13;
    c.params = (struct tepal_params)TEPAL_PARAMS_INIT;
    set_yesno(100, 3, 20, 2, 3, &c.params);
    c.params.yesno.own_seeds = 1;
    yesno_keys(&c, &state, 40, 150);
    for (int method = 0; method < TEPAL_YESNO_METHODS; method++) {
        for (unsigned at = 1;; at++) {
            struct memory memory = {.fail_at = at};
            struct tepal_allocator allocator = memory_allocator(&memory);
            struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
            struct tepal_filter *f = NULL;
            how.method = (enum tepal_yesno_method)method;
            how.false_negatives = 1;
            how.salts = 2;
            how.steps = 200;
            enum tepal_status status =
                tepal_yesno_build(&c.params, &c.in, &how, &allocator, &f, NULL, NULL);
            if (memory_sufficed(&memory, status, f)) {
                assert_true(at > 20);
                break;
            }
        }
    }
}

/* ---- the model ------------------------------------------------------------------------------- */

static void the_equations_have_their_values(void **unused)
{
    (void)unused;
    /* Eq. (5) at the default setting, and (30) with what is stored and as printed. */
    assert_true(fabs(100 * tepal_bloom_fp_classic(160, 30, 4) - 7.816) < 0.001);
    assert_true(fabs(100 * tepal_bloom_fp_exact(160, 30, 4) - 7.902) < 0.001);
    assert_true(fabs(tepal_yesno_veto(32, 5.02, 5) - 0.0475) < 0.0001);
    assert_true(fabs(tepal_yesno_veto(32, 30, 5) - 0.955) < 0.001);
    /* (24) term by term, its special cases (27), (28), and the right one. */
    assert_true(fabs(tepal_yesno_positive(0.2, 0.1) - 0.28) < 1e-12);
    assert_true(fabs(tepal_yesno_false_positive(0.2, 0.1) - 0.08) < 1e-12);
    assert_true(fabs(tepal_yesno_error_printed(0.2, 0.1, 0.05, 0.06) - (0.08 - 0.014 - 0.057)) <
                1e-12);
    assert_true(fabs(tepal_yesno_error_printed(0, 0.1, 0.05, 0.06) - 0.95 * 0.04) < 1e-12);
    assert_true(fabs(tepal_yesno_error_printed(0, 0.1, 0.05, 0) - 0.095) < 1e-12);
    assert_true(fabs(tepal_yesno_error(0.2, 0.1, 0.05, 0.06) - 0.02 * 0.95) < 1e-12);
    assert_true(isnan(tepal_yesno_veto(0, 1, 1)) && isnan(tepal_yesno_veto(1, -1, 1)));
}

static void chosen_layouts_are_filters(void **unused)
{
    (void)unused;
    static const uint64_t sizes[] = {1, 2, 64, 256, 512, 1000, 1024, 10240, 1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int layout = 0; layout < 4; layout++) {
            for (int positions = 0; positions < 2; positions++) {
                struct tepal_yesno_setting plan = {0};
                struct tepal_params p = TEPAL_PARAMS_INIT;
                uint64_t n = sizes[i] / 8 + 1;
                enum tepal_status status = tepal_yesno_best_setting((enum tepal_layout)layout,
                                                                    (enum tepal_positions)positions,
                                                                    sizes[i], n, 4 * n, &plan);
                bool lined = layout >= 2;
                if (lined && sizes[i] % 512 != 0) {
                    assert_int_equal(status, TEPAL_BAD_ARGUMENT);
                    continue;
                }
                if (status != TEPAL_OK) { /* one line cannot have distinct positions in two */
                    assert_true(layout == 3 && positions == 1 && sizes[i] == 512);
                    continue;
                }
                p.layout = (enum tepal_layout)layout;
                p.positions = (enum tepal_positions)positions;
                set_yesno(plan.yes_bits, plan.hashes, plan.no_bits, plan.no_filters, plan.no_hashes,
                          &p);
                p.yesno.own_seeds = plan.own_seeds;
                assert_int_equal(p.cells, sizes[i]);
                assert_ok(tepal_params_check(&p, NULL));
                assert_true(plan.left >= 0 && plan.left <= plan.positive);
                if (sizes[i] >= (lined ? 10240 : 64)) { /* vetoing is worth it */
                    assert_true(plan.no_filters > 0);
                }
            }
        }
    }
    struct tepal_yesno_setting plan = {0};
    assert_int_equal(
        tepal_yesno_best_setting(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 0, 1, 1, &plan),
        TEPAL_BAD_ARGUMENT);
    assert_int_equal(
        tepal_yesno_best_setting(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 100, 0, 1, &plan),
        TEPAL_BAD_ARGUMENT);
    assert_int_equal(
        tepal_yesno_predict(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 10, 10, &plan),
        TEPAL_BAD_ARGUMENT);
    /* Without known negatives there is nothing to veto. */
    assert_ok(
        tepal_yesno_best_setting(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 256, 30, 0, &plan));
    assert_int_equal(plan.no_filters, 0);
    /* What is said is kept. */
    plan = (struct tepal_yesno_setting){.hashes = 3, .no_hashes = 2};
    assert_ok(tepal_yesno_best_setting(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 256, 30, 100,
                                       &plan));
    assert_int_equal(plan.hashes, 3);
    assert_int_equal(plan.no_hashes, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_member_is_ever_vetoed),
        cmocka_unit_test(greedy_is_the_papers_algorithm),
        cmocka_unit_test(exact_is_the_optimum),
        cmocka_unit_test(without_no_filters_it_is_a_bloom_filter),
        cmocka_unit_test(batches_and_single_questions_agree),
        cmocka_unit_test(large_no_filters_are_full),
        cmocka_unit_test(members_win),
        cmocka_unit_test(the_tolerance_is_kept),
        cmocka_unit_test(heavy_ones_are_vetoed_first),
        cmocka_unit_test(salts_are_tried_until_nothing_is_left),
        cmocka_unit_test(a_search_can_be_ended),
        cmocka_unit_test(tiny_no_filters_are_given_up),
        cmocka_unit_test(additions_undo_vetoes),
        cmocka_unit_test(after_additions_no_old_count_is_told),
        cmocka_unit_test(the_prediction_knows_of_the_vetoes),
        cmocka_unit_test(the_gate_knows_the_kind),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(damaged_states_are_noticed),
        cmocka_unit_test(out_of_memory_changes_nothing),
        cmocka_unit_test(the_equations_have_their_values),
        cmocka_unit_test(chosen_layouts_are_filters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
