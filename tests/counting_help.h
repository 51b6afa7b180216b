/*
 * counting_help.h: a counting filter written a second time, as plainly as possible: an array of
 * bytes, lists of candidates, Algorithm 1 step by step. What it shares with the real one is the
 * positions of a digest (address.h), which have tests of their own. Beside it, the exact multiset
 * of the keys that are in.
 */
#ifndef TEPAL_TESTS_COUNTING_HELP_H
#define TEPAL_TESTS_COUNTING_HELP_H

#include "check.h"

#include "address/address.h"

struct naive {
    struct tepal_params params;
    struct address at;
    uint64_t line; /* cells of a line */
    uint32_t choices;
    uint8_t *counter;
    uint64_t refused;
    uint64_t kept;
    uint64_t multi;
    uint64_t removed;
    uint8_t most; /* where a counter sticks */
};

static inline struct tepal_params counting_params(enum tepal_layout layout, uint64_t cells,
                                                  uint32_t hashes, uint32_t choices)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.kind = TEPAL_KIND_COUNTING;
    p.layout = layout;
    p.cells = cells;
    p.hashes = hashes;
    p.seed = 77;
    p.counting.choices = choices;
    p.counting.rule = (uint64_t)tepal_counting_default_rule(layout, choices);
    return p;
}

static inline void naive_open(struct naive *naive, const struct tepal_params *params)
{
    memset(naive, 0, sizeof *naive);
    naive->params = *params;
    naive->line = params->counting.lines == TEPAL_LINES_LONG ? 512 : 128;
    naive->at = tepal_address_of(params, naive->line == 512 ? 1 : 4);
    naive->choices = (uint32_t)params->counting.choices;
    naive->most = params->counting.form == TEPAL_FORM_WIDE_COUNTERS ? 255 : 15;
    naive->counter = calloc(params->cells, 1);
    assert_non_null(naive->counter);
}

static inline void naive_close(struct naive *naive)
{
    free(naive->counter);
}

static inline uint64_t naive_fold(uint64_t a, uint64_t b)
{
    wide_int product = wide_times(wide_of(a), wide_of(b));
    return wide_low(product) ^ wide_high(product);
}

/* As docs/format.md defines it. */
static inline struct tepal_digest naive_group(struct tepal_digest d, uint32_t g)
{
    if (g == 0) {
        return d;
    }
    uint64_t word[2];
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t a = d.lo ^ ((((uint64_t)1 << 20) + 2 * g + i) * UINT64_C(0x9e3779b97f4a7c15));
        word[i] = naive_fold(a, d.hi | 1);
    }
    return (struct tepal_digest){.lo = word[0], .hi = word[1]};
}

/* Each position once, in the order of their first appearance. */
static inline uint32_t naive_positions(const struct naive *naive, struct tepal_digest d, uint32_t g,
                                       uint64_t *out)
{
    uint64_t all[TEPAL_MAX_HASHES];
    uint32_t drawn = tepal_address_positions(&naive->at, naive_group(d, g), all);
    uint32_t count = 0;
    for (uint32_t i = 0; i < drawn; i++) {
        uint32_t j = 0;
        while (j < count && out[j] != all[i]) {
            j++;
        }
        if (j == count) {
            out[count++] = all[i];
        }
    }
    return count;
}

static inline bool naive_holds(const struct naive *naive, struct tepal_digest d, uint32_t g)
{
    uint64_t at[TEPAL_MAX_HASHES];
    uint32_t count = naive_positions(naive, d, g, at);
    for (uint32_t i = 0; i < count; i++) {
        if (naive->counter[at[i]] == 0) {
            return false;
        }
    }
    return true;
}

static inline uint64_t naive_groups(const struct naive *naive, struct tepal_digest d)
{
    uint64_t groups = 0;
    for (uint32_t g = 0; g < naive->choices; g++) {
        groups |= (uint64_t)naive_holds(naive, d, g) << g;
    }
    return groups;
}

static inline uint64_t naive_fourth(uint64_t x)
{
    return x * x * x * x;
}

/* Occupied counters of the line that a position is in. */
static inline uint64_t naive_occupied(const struct naive *naive, uint64_t line)
{
    uint64_t occupied = 0;
    for (uint64_t i = 0; i < naive->line; i++) {
        occupied += naive->counter[line * naive->line + i] > 0;
    }
    return occupied;
}

/* The metric of one step of a rule for one candidate; the least wins. */
static inline int64_t naive_metric(const struct naive *naive, struct tepal_digest d, uint32_t g,
                                   int step)
{
    uint64_t at[TEPAL_MAX_HASHES];
    uint32_t count = naive_positions(naive, d, g, at);
    int64_t zeros = 0;
    int64_t ones = 0;
    int64_t largest = 0;
    for (uint32_t i = 0; i < count; i++) {
        int64_t value = naive->counter[at[i]];
        zeros += value == 0;
        ones += value == 1;
        largest = value > largest ? value : largest;
    }
    if (naive->params.counting.rule != TEPAL_RULE_LEAST_INCREASE) {
        return step == 0 ? zeros : step == 1 ? -ones : largest;
    }
    int64_t cost = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t line = at[i] / naive->line;
        bool first = true;
        uint64_t fresh = 0;
        for (uint32_t j = 0; j < count; j++) {
            if (at[j] / naive->line == line) {
                first = first && j >= i;
                fresh += naive->counter[at[j]] == 0;
            }
        }
        uint64_t occupied = naive_occupied(naive, line);
        if (first) {
            cost += (int64_t)(naive_fourth(occupied + fresh) - naive_fourth(occupied));
        }
    }
    return cost;
}

/* Algorithm 1: step by step with the candidates that are left; the last step draws. */
static inline uint32_t naive_choose(const struct naive *naive, struct tepal_digest d)
{
    uint32_t left[TEPAL_MAX_CHOICES];
    uint32_t count = naive->choices;
    uint64_t rule = naive->params.counting.rule;
    for (uint32_t g = 0; g < count; g++) {
        left[g] = g;
    }
    for (int step = 0; step < (rule == TEPAL_RULE_IMPROVED_GREEDY ? 3 : 1) && count > 1; step++) {
        int64_t best = INT64_MAX;
        uint32_t stay = 0;
        for (uint32_t i = 0; i < count; i++) {
            int64_t metric = naive_metric(naive, d, left[i], step);
            best = metric < best ? metric : best;
        }
        for (uint32_t i = 0; i < count; i++) {
            if (naive_metric(naive, d, left[i], step) == best) {
                left[stay++] = left[i];
            }
        }
        count = stay;
    }
    uint64_t a = d.lo ^ ((((uint64_t)1 << 20) - 1) * UINT64_C(0x9e3779b97f4a7c15));
    uint64_t word = naive_fold(a, d.hi | 1);
    return left[wide_high(wide_times(wide_of(word), wide_of(count)))];
}

static inline uint32_t naive_add(struct naive *naive, struct tepal_digest d)
{
    uint64_t at[TEPAL_MAX_HASHES];
    uint32_t group = naive_choose(naive, d);
    uint32_t count = naive_positions(naive, d, group, at);
    for (uint32_t i = 0; i < count; i++) {
        if (naive->counter[at[i]] < naive->most) {
            naive->counter[at[i]]++;
        }
    }
    return group;
}

static inline bool naive_remove_group(struct naive *naive, struct tepal_digest d, uint32_t group)
{
    uint64_t at[TEPAL_MAX_HASHES];
    uint32_t count = naive_positions(naive, d, group, at);
    if (!naive_holds(naive, d, group)) {
        naive->refused++;
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (naive->counter[at[i]] < naive->most) {
            naive->counter[at[i]]--;
        }
    }
    naive->removed++;
    return true;
}

static inline bool naive_remove(struct naive *naive, struct tepal_digest d)
{
    uint64_t groups = naive_groups(naive, d);
    if (groups == 0) {
        naive->refused++;
        return false;
    }
    if ((groups & (groups - 1)) != 0) {
        if (naive->params.counting.policy == TEPAL_POLICY_KEEP) {
            naive->kept++;
            return false;
        }
        naive->multi++;
    }
    return naive_remove_group(naive, d, (uint32_t)__builtin_ctzll(groups));
}

static inline uint64_t counting_whole(const struct tepal_filter *filter, const char *name)
{
    struct tepal_report report;
    tepal_filter_info(filter, &report);
    const struct tepal_quantity *q = tepal_report_find(&report, name);
    assert_non_null(q);
    assert_int_equal(q->type, TEPAL_QUANTITY_INTEGER);
    return q->value.integer;
}

/* The filter and its plain twin agree in every counter and every count. */
static inline void naive_compare(const struct naive *naive, const struct tepal_filter *counting)
{
    for (uint64_t i = 0; i < naive->params.cells; i++) {
        assert_int_equal(tepal_counting_at(counting, i), naive->counter[i]);
    }
    assert_ok(tepal_filter_validate(counting, NULL));
    assert_int_equal(counting_whole(counting, "refused_removals"), naive->refused);
    assert_int_equal(counting_whole(counting, "kept"), naive->kept);
    assert_int_equal(counting_whole(counting, "multi_address_removals"), naive->multi);
    assert_int_equal(counting_whole(counting, "keys_removed"), naive->removed);
}

/*
 * So many random operations on the real filter and its twin, over a pool of keys, with answers
 * compared after each. `wild`: keys that are not in, or wrong groups, are removed too. If not,
 * every removal has its receipt, and every key of the exact multiset must be found.
 */
#define POOL    4000
#define COPIES  4
#define BATCHED 64

struct pool_key {
    struct tepal_digest digest;
    uint32_t copies; /* in the exact multiset */
    uint8_t receipt[COPIES];
};

static inline uint64_t differential(const struct tepal_params *params, uint64_t operations,
                                    bool wild, uint64_t seed)
{
    static struct pool_key pool[POOL];
    struct naive naive;
    struct tepal_filter *counting;
    uint64_t present = 0;
    naive_open(&naive, params);
    assert_ok(tepal_filter_create(params, NULL, &counting, NULL));
    for (size_t i = 0; i < POOL; i++) {
        pool[i] = (struct pool_key){.digest = check_digest(&seed)};
    }
    for (uint64_t op = 0; op < operations; op++) {
        uint64_t word = check_random(&seed);
        struct pool_key *key = &pool[(word >> 32) % POOL];
        uint8_t group = 99;
        switch (word % 8) {
        case 0:
        case 1:
            if (key->copies < COPIES) {
                assert_ok(tepal_counting_add(counting, key->digest, &group));
                assert_int_equal(group, naive_add(&naive, key->digest));
                key->receipt[key->copies++] = (uint8_t)group;
            }
            break;
        case 2:
        case 3:
            if (key->copies > 0) {
                group = key->receipt[--key->copies];
                enum tepal_status status =
                    tepal_counting_remove_group(counting, key->digest, group);
                bool done = naive_remove_group(&naive, key->digest, group);
                assert_int_equal(status, done ? TEPAL_OK : TEPAL_NOT_PRESENT);
                assert_true(done || wild);
            }
            break;
        case 4:
            if (wild && word >> 62 == 0) {
                bool done = tepal_filter_remove(counting, key->digest) == TEPAL_OK;
                assert_int_equal(done, naive_remove(&naive, key->digest));
            } else if (wild && word >> 62 == 1) {
                group = (uint8_t)((uint32_t)(word >> 20) % naive.choices);
                bool done = tepal_counting_remove_group(counting, key->digest, group) == TEPAL_OK;
                assert_int_equal(done, naive_remove_group(&naive, key->digest, group));
            }
            break;
        default: {
            bool found = tepal_filter_query(counting, key->digest);
            assert_int_equal(found, naive_groups(&naive, key->digest) != 0);
            assert_true(found || wild || key->copies == 0);
            present += found;
        }
        }
    }
    naive_compare(&naive, counting);
    tepal_filter_free(counting);
    naive_close(&naive);
    return present;
}

#endif
