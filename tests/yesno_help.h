/*
 * yesno_help.h: random instances of a yes-no filter, and a plain twin: keys as bitmaps
 * (tepal_yesno_mask), everything by looking at all of them.
 */
#ifndef TEPAL_TESTS_YESNO_HELP_H
#define TEPAL_TESTS_YESNO_HELP_H

#include "check.h"

#include "filter/yesno/internal.h"

#define YESNO_MOST_MEMBERS 100
#define YESNO_MOST_AVOID   200
#define YESNO_MOST_WORDS   16 /* of a filter */

/*
 * A yes-filter of p bits with k hashes, r no-filters of q bits with no_hashes; layout, positions
 * and seed stay.
 */
static inline void set_yesno(uint64_t p, uint32_t k, uint64_t q, uint64_t r, uint32_t no_hashes,
                             struct tepal_params *params)
{
    params->kind = TEPAL_KIND_YESNO;
    params->cells = p + q * r;
    params->hashes = k;
    memset(params->own, 0, sizeof params->own);
    params->yesno.no_bits = r == 0 ? 0 : q;
    params->yesno.no_filters = r;
    params->yesno.no_hashes = r == 0 ? 0 : no_hashes;
}

static inline uint64_t yes_bits(const struct tepal_params *params)
{
    return params->cells - params->yesno.no_bits * params->yesno.no_filters;
}

struct yesno_case {
    struct tepal_params params;
    struct tepal_digest members[YESNO_MOST_MEMBERS];
    struct tepal_digest avoid[YESNO_MOST_AVOID];
    double weights[YESNO_MOST_AVOID];
    struct tepal_known in;
};

static inline uint64_t yesno_below(uint64_t *state, uint64_t range)
{
    return check_random(state) % range;
}

static inline void yesno_keys(struct yesno_case *c, uint64_t *state, size_t n, size_t t)
{
    for (size_t i = 0; i < n; i++) {
        c->members[i] = check_digest(state);
    }
    for (size_t i = 0; i < t; i++) {
        c->avoid[i] = check_digest(state);
    }
    c->in = (struct tepal_known){
        .members = c->members, .member_count = n, .avoid = c->avoid, .avoid_count = t};
}

/* Anything: crowded and empty, one bit and many, members among the known negatives, weights. */
static inline void yesno_draw(struct yesno_case *c, uint64_t *state)
{
    static const struct tepal_params init = TEPAL_PARAMS_INIT;
    do {
        uint64_t r = yesno_below(state, 6);
        c->params = init;
        c->params.positions = (enum tepal_positions)yesno_below(state, 2);
        c->params.layout = (enum tepal_layout)yesno_below(state, 2);
        set_yesno(1 + yesno_below(state, 300), 1 + (uint32_t)yesno_below(state, 8),
                  1 + yesno_below(state, 60), r, 1 + (uint32_t)yesno_below(state, 9), &c->params);
        c->params.yesno.own_seeds = r > 0 ? yesno_below(state, 2) : 0;
        c->params.yesno.salt = yesno_below(state, 3);
    } while (tepal_params_check(&c->params, NULL) != TEPAL_OK);
    size_t n = 1 + (size_t)yesno_below(state, YESNO_MOST_MEMBERS);
    size_t t = (size_t)yesno_below(state, YESNO_MOST_AVOID + 1);
    yesno_keys(c, state, n, t);
    if (t > 0 && yesno_below(state, 8) == 0) {
        c->avoid[t - 1] = c->members[n - 1];
    }
    if (yesno_below(state, 2) == 0) {
        for (size_t i = 0; i < t; i++) {
            c->weights[i] = 1 / (1 + (double)yesno_below(state, t));
        }
        c->in.avoid_weights = c->weights;
    }
}

static inline double yesno_weight(const struct yesno_case *c, size_t i)
{
    return c->in.avoid_weights == NULL ? 1 : c->weights[i];
}

/* ---- the twin -------------------------------------------------------------------------------- */

/* Does `words` contain the bits first .. end - 1 of the mask? */
static inline bool yesno_contains(const uint64_t *words, const uint64_t *mask, uint64_t first,
                                  uint64_t end)
{
    for (uint64_t i = first; i < end; i++) {
        if ((mask[i / 64] >> i % 64 & 1) != 0 && (words[i / 64] >> i % 64 & 1) == 0) {
            return false;
        }
    }
    return true;
}

static inline bool yesno_plain_query(const struct tepal_params *p, const uint64_t *words,
                                     struct tepal_digest d, bool yes_alone)
{
    uint64_t mask[YESNO_MOST_WORDS];
    uint64_t yes = yes_bits(p);
    uint64_t q = p->yesno.no_bits;
    assert_true(tepal_params_cell_bytes(p) <= sizeof mask);
    tepal_yesno_mask(p, d, mask);
    bool present = yesno_contains(words, mask, 0, yes);
    for (uint64_t j = 0; present && !yes_alone && j < p->yesno.no_filters; j++) {
        present = !yesno_contains(words, mask, yes + j * q, yes + (j + 1) * q);
    }
    return present;
}

/* The paper's algorithm, as it is printed: every member is looked at for every false positive. */
static inline void yesno_plain_greedy(const struct yesno_case *c, uint64_t *words)
{
    const struct tepal_params *p = &c->params;
    uint64_t yes = yes_bits(p);
    uint64_t q = p->yesno.no_bits;
    uint64_t mask[YESNO_MOST_WORDS];
    memset(words, 0, YESNO_MOST_WORDS * 8);
    for (size_t i = 0; i < c->in.member_count; i++) {
        tepal_yesno_mask(p, c->members[i], mask);
        for (uint64_t b = 0; b < yes; b++) {
            words[b / 64] |= mask[b / 64] & (uint64_t)1 << b % 64;
        }
    }
    static uint64_t masks[YESNO_MOST_MEMBERS][YESNO_MOST_WORDS];
    for (size_t i = 0; i < c->in.member_count; i++) {
        tepal_yesno_mask(p, c->members[i], masks[i]);
    }
    for (size_t f = 0; f < c->in.avoid_count; f++) {
        bool member = false;
        for (size_t i = 0; i < c->in.member_count; i++) {
            member = member || memcmp(&c->members[i], &c->avoid[f], sizeof c->avoid[f]) == 0;
        }
        if (member || !yesno_plain_query(p, words, c->avoid[f], true)) {
            continue;
        }
        for (uint64_t j = 0; j < p->yesno.no_filters; j++) {
            uint64_t with[YESNO_MOST_WORDS];
            bool vetoes = false;
            memcpy(with, words, sizeof with);
            tepal_yesno_mask(p, c->avoid[f], mask);
            for (uint64_t b = yes + j * q; b < yes + (j + 1) * q; b++) {
                with[b / 64] |= mask[b / 64] & (uint64_t)1 << b % 64;
            }
            for (size_t i = 0; i < c->in.member_count && !vetoes; i++) {
                vetoes = yesno_contains(with, masks[i], yes + j * q, yes + (j + 1) * q);
            }
            if (!vetoes) {
                memcpy(words, with, sizeof with);
                break;
            }
        }
    }
}

/* ---- what must hold of every result ---------------------------------------------------------- */

static inline void yesno_check(const struct yesno_case *c, const struct tepal_filter *f,
                               const struct tepal_known_report *report, uint64_t tolerated)
{
    size_t count;
    const uint64_t *words = tepal_filter_words(f, &count);
    const struct tepal_params *p = tepal_filter_params(f);
    uint64_t lost = 0;
    uint64_t positive = 0;
    uint64_t left = 0;
    uint64_t both = 0;
    double weight = 0;
    for (size_t i = 0; i < c->in.member_count; i++) {
        lost += !tepal_filter_query(f, c->members[i]);
    }
    for (size_t i = 0; i < c->in.avoid_count; i++) {
        bool member = false;
        for (size_t m = 0; m < c->in.member_count; m++) {
            member = member || memcmp(&c->members[m], &c->avoid[i], sizeof c->avoid[i]) == 0;
        }
        bool found = yesno_plain_query(p, words, c->avoid[i], false);
        assert_int_equal(tepal_filter_query(f, c->avoid[i]), found);
        both += member;
        positive += !member && yesno_plain_query(p, words, c->avoid[i], true);
        left += !member && found;
        weight += !member && found ? yesno_weight(c, i) : 0;
    }
    assert_true(lost <= tolerated);
    assert_int_equal(report->false_negatives, lost);
    assert_int_equal(report->avoid_members, both);
    assert_int_equal(report->avoid_positive, positive);
    assert_int_equal(report->avoid_left, left);
    assert_true(fabs(report->weight_left - weight) <= 1e-9 * (1 + weight));
    assert_ok(tepal_filter_validate(f, NULL));
}

/* Builds, checks (against the twin, if `plain`), and returns the weight left. */
static inline double yesno_try(const struct yesno_case *c, enum tepal_yesno_method method,
                               bool plain, struct tepal_known_report *report)
{
    struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
    struct tepal_filter *f;
    how.method = method;
    how.steps = 300;
    assert_ok(tepal_yesno_build(&c->params, &c->in, &how, NULL, &f, report, NULL));
    for (size_t i = 0; i < c->in.member_count; i++) {
        assert_true(tepal_filter_query(f, c->members[i]));
    }
    if (plain) {
        yesno_check(c, f, report, 0);
    }
    tepal_filter_free(f);
    return report->weight_left;
}

/* One instance, all methods: no false negative, true reports, local-search no worse than greedy. */
static inline void yesno_property(uint64_t *state, bool plain)
{
    static struct yesno_case c;
    double left[TEPAL_YESNO_METHODS];
    struct tepal_known_report report;
    yesno_draw(&c, state);
    for (int m = 0; m < TEPAL_YESNO_METHODS; m++) {
        left[m] = yesno_try(&c, (enum tepal_yesno_method)m, plain, &report);
    }
    double slack = 1e-9 * (1 + left[TEPAL_YESNO_GREEDY]);
    assert_true(left[TEPAL_YESNO_PAIRS] <= left[TEPAL_YESNO_GREEDY] + slack);
    assert_true(left[TEPAL_YESNO_LOCAL_SEARCH] <= left[TEPAL_YESNO_GREEDY] + slack);
    assert_true(left[TEPAL_YESNO_EXACT] <= left[TEPAL_YESNO_LOCAL_SEARCH] + slack);
    if (report.proved_optimal) {
        for (int m = 0; m < TEPAL_YESNO_METHODS; m++) {
            assert_true(left[TEPAL_YESNO_EXACT] <= left[m] + slack);
        }
    }
}

#endif
