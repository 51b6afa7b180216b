/*
 * states_unit.c: a state for each key, against a table written a second time: pairs as
 * docs/format.md defines them, in a filter of its own, looked up and removed by the rules as the
 * header states them; every answer and, at the end, every cell is the same. Beside it the truth,
 * what several states cost against 1 - (1 - f)^(states - 1), and refusals that change nothing.
 */
#include "check.h"

#include "base/wide.h"

#define KEYS 400

/* ---- the second table ------------------------------------------------------------------------ */

static struct tepal_digest naive_pair(struct tepal_digest d, uint32_t state)
{
    uint64_t word[2];
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t number = ((uint64_t)1 << 20) + 2 * (((uint64_t)1 << 30) + state) + i;
        uint64_t a = d.lo ^ number * UINT64_C(0x9e3779b97f4a7c15);
        wide_int product = wide_times(wide_of(a), wide_of(d.hi | 1));
        word[i] = wide_low(product) ^ wide_high(product);
    }
    return (struct tepal_digest){.lo = word[0], .hi = word[1]};
}

static uint32_t naive_found(const struct tepal_states *t, struct tepal_digest key, bool *in)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < t->count; s++) {
        in[s] = tepal_filter_query(t->filter, naive_pair(key, s));
        count += in[s];
    }
    return count;
}

/* From any state: by the rule. Returns what was removed. */
static uint64_t naive_update(const struct tepal_states *t, struct tepal_digest key, uint32_t from,
                             uint32_t to)
{
    bool in[TEPAL_MAX_STATES] = {false};
    uint64_t removed = 0;
    uint32_t count = naive_found(t, key, in);
    if (to != TEPAL_STATE_NONE) {
        count -= in[to];
        in[to] = false;
        assert_ok(tepal_filter_add(t->filter, naive_pair(key, to)));
    }
    for (uint32_t s = 0, nth = 0; s < t->count; s++) {
        if (!in[s]) {
            continue;
        }
        bool go = from == TEPAL_STATE_ANY ? count == 1 || t->rule == TEPAL_STATES_ALL ||
                                                (t->rule == TEPAL_STATES_ONE && nth == 0)
                                          : s == from;
        nth++;
        if (go && tepal_filter_remove(t->filter, naive_pair(key, s)) == TEPAL_OK) {
            removed |= (uint64_t)1 << s;
        }
    }
    return removed;
}

/* ---- filters --------------------------------------------------------------------------------- */

enum form { COUNTING, KEEPING, REMOVING, LINES, FINGERPRINTS, GROWING, FORMS };

static struct tepal_filter *make(enum form form)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_filter *filter;
    p.seed = 5;
    if (form == GROWING) {
        p.kind = TEPAL_KIND_GROWING;
        assert_ok(tepal_params_for_rate(&p, 64, 0.05, NULL));
    } else if (form == FINGERPRINTS) {
        p.kind = TEPAL_KIND_FINGERPRINT;
        p.hashes = 2;
        p.fingerprint.bits = 6;
        p.cells = 8 * 6 * 100;
    } else {
        p.kind = TEPAL_KIND_COUNTING;
        p.layout = form == LINES ? TEPAL_LAYOUT_BLOCKED : TEPAL_LAYOUT_FLAT;
        p.cells = 2560;
        p.hashes = 4;
        p.counting.choices = form == KEEPING || form == REMOVING ? 4 : 1;
        p.counting.policy = form == REMOVING ? TEPAL_POLICY_REMOVE : TEPAL_POLICY_KEEP;
    }
    assert_ok(tepal_filter_create(&p, NULL, &filter, NULL));
    return filter;
}

/* Crowded tables, so that several states are found often, and rules matter. */
static void same_as_plain(void **state)
{
    (void)state;
    uint64_t random = 1;
    uint64_t several = 0;
    uint64_t lost = 0;
    for (enum form form = COUNTING; form < FORMS; form++) {
        for (unsigned rule = 0; rule < 3; rule++) {
            struct tepal_states a = {make(form), 5, (enum tepal_states_rule)rule};
            struct tepal_states b = {make(form), 5, (enum tepal_states_rule)rule};
            struct tepal_digest key[KEYS];
            check_digests(&random, key, KEYS);
            for (size_t step = 0; step < 3000; step++) {
                struct tepal_digest d = key[check_random(&random) % KEYS];
                uint32_t to = (uint32_t)(check_random(&random) % 6);
                uint32_t from = (uint32_t)(check_random(&random) % 8);
                bool in[TEPAL_MAX_STATES];
                uint64_t found = 0;
                uint64_t removed = 0;
                uint32_t count = naive_found(&b, d, in);
                uint32_t got = tepal_states_get(&a, d, &found);
                for (uint32_t s = 0; s < 5; s++) {
                    assert_int_equal(found >> s & 1, in[s]);
                }
                several += got == TEPAL_STATE_SEVERAL;
                lost += count == 0;
                assert_int_equal(got == TEPAL_STATE_SEVERAL, count > 1);
                assert_int_equal(got == TEPAL_STATE_NONE, count == 0);
                assert_true(count != 1 || (got < 5 && in[got]));
                to = to == 5 ? TEPAL_STATE_NONE : to;
                from = from < 5 && from != to ? from : TEPAL_STATE_ANY;
                enum tepal_status status = tepal_states_update(&a, d, from, to, &removed);
                if (status == TEPAL_FULL) {
                    continue;
                }
                assert_ok(status);
                assert_int_equal(removed, naive_update(&b, d, from, to));
            }
            assert_true(tepal_filter_equal(a.filter, b.filter));
            tepal_filter_free(a.filter);
            tepal_filter_free(b.filter);
        }
    }
    assert_true(several > 1000 && lost > 1000); /* else it proved little */
}

/* Who says what a key leaves never loses one: every key is found in its state, always. */
static void told_what_to_leave(void **state)
{
    (void)state;
    uint64_t random = 2;
    for (enum form form = COUNTING; form < FORMS; form++) {
        if (form == KEEPING || form == REMOVING) {
            continue; /* without receipts several choices can lose keys anyway */
        }
        struct tepal_states t = {make(form), 7, TEPAL_STATES_ONE};
        struct tepal_digest key[KEYS];
        uint32_t now[KEYS];
        check_digests(&random, key, KEYS);
        for (size_t i = 0; i < KEYS; i++) {
            now[i] = (uint32_t)(i % 7);
            assert_ok(tepal_states_set(&t, key[i], now[i]));
        }
        for (size_t step = 0; step < 20000; step++) {
            size_t i = check_random(&random) % KEYS;
            uint32_t to = (now[i] + 1 + (uint32_t)(check_random(&random) % 6)) % 7;
            uint64_t removed = 0;
            uint64_t found = 0;
            assert_ok(tepal_states_update(&t, key[i], now[i], to, &removed));
            assert_int_equal(removed, (uint64_t)1 << now[i]);
            now[i] = to;
            i = check_random(&random) % KEYS;
            (void)tepal_states_get(&t, key[i], &found);
            assert_true((found >> now[i] & 1) != 0);
        }
        for (size_t i = 0; i < KEYS; i++) {
            assert_ok(tepal_states_update(&t, key[i], now[i], TEPAL_STATE_NONE, NULL));
        }
        assert_int_equal(tepal_filter_ones(t.filter), 0);
        tepal_filter_free(t.filter);
    }
}

/* A share of so many trials, against its probability. */
static void check_share(const char *what, uint64_t part, uint64_t trials, double expected)
{
    double error = sqrt(expected * (1 - expected) / (double)trials);
    check_within(what, (double)part / (double)trials, expected, error);
}

/* How many keys are found in several states, or in one though they have none. */
static void as_often_as_predicted(void **state)
{
    (void)state;
    const uint32_t states = 6;
    const uint64_t keys = 20000;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_states t = {NULL, states, TEPAL_STATES_KEEP};
    uint64_t random = 3;
    uint64_t again = 3;
    uint64_t several = 0;
    uint64_t strangers = 0;
    p.kind = TEPAL_KIND_COUNTING;
    p.cells = 8 * keys;
    p.hashes = 5;
    p.counting.choices = 1;
    assert_ok(tepal_filter_create(&p, NULL, &t.filter, NULL));
    for (uint64_t i = 0; i < keys; i++) {
        assert_ok(tepal_states_set(&t, check_digest(&random), (uint32_t)(i % states)));
    }
    double f = tepal_filter_fp_now(t.filter);
    for (uint64_t i = 0; i < keys; i++) {
        uint32_t got = tepal_states_get(&t, check_digest(&again), NULL);
        assert_true(got == TEPAL_STATE_SEVERAL || got == i % states);
        several += got == TEPAL_STATE_SEVERAL;
        strangers += tepal_states_get(&t, check_digest(&random), NULL) != TEPAL_STATE_NONE;
    }
    check_share("several", several, keys, 1 - pow(1 - f, states - 1));
    check_share("strangers", strangers, keys, 1 - pow(1 - f, states));
    tepal_filter_free(t.filter);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void bad_tables_and_states(void **state)
{
    (void)state;
    uint64_t random = 4;
    struct tepal_digest d = check_digest(&random);
    struct tepal_states t = {make(COUNTING), 3, TEPAL_STATES_KEEP};
    uint64_t removed = 99;
    assert_ok(tepal_states_set(&t, d, 1));
    struct tepal_filter *before;
    assert_ok(tepal_filter_clone(t.filter, NULL, &before, NULL));
    static const uint32_t bad[][2] = {{3, 1},
                                      {1, 3},
                                      {1, 1},
                                      {TEPAL_STATE_ANY, TEPAL_STATE_ANY},
                                      {TEPAL_STATE_ANY, TEPAL_STATE_SEVERAL},
                                      {TEPAL_STATE_NONE, 1},
                                      {TEPAL_STATE_SEVERAL, 1}};
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(tepal_states_update(&t, d, bad[i][0], bad[i][1], &removed),
                         TEPAL_BAD_ARGUMENT);
    }
    assert_int_equal(tepal_states_set(&t, d, 3), TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_states_set(&t, d, TEPAL_STATE_NONE), TEPAL_BAD_ARGUMENT);
    static const uint32_t counts[] = {0, TEPAL_MAX_STATES + 1, UINT32_MAX};
    for (size_t i = 0; i < COUNT(counts); i++) {
        t.count = counts[i];
        assert_int_equal(tepal_states_set(&t, d, 0), TEPAL_BAD_ARGUMENT);
        assert_int_equal(tepal_states_update(&t, d, 1, 0, &removed), TEPAL_BAD_ARGUMENT);
        (void)tepal_states_get(&t, d, NULL);
    }
    t.count = TEPAL_MAX_STATES;
    t.rule = (enum tepal_states_rule)3;
    assert_int_equal(tepal_states_update(&t, d, 1, 0, &removed), TEPAL_BAD_ARGUMENT);
    assert_true(tepal_filter_equal(t.filter, before));
    t.rule = TEPAL_STATES_ALL; /* all 64 states are legal */
    assert_ok(tepal_states_update(&t, d, 1, TEPAL_MAX_STATES - 1, &removed));
    assert_int_equal(removed, 2);
    assert_int_equal(tepal_states_get(&t, d, NULL), TEPAL_MAX_STATES - 1);
    tepal_filter_free(before);
    tepal_filter_free(t.filter);
}

static void filters_that_cannot(void **state)
{
    (void)state;
    uint64_t random = 5;
    uint64_t removed = 99;
    struct tepal_digest d = check_digest(&random);
    struct tepal_states t = {NULL, 3, TEPAL_STATES_KEEP};
    assert_ok(tepal_filter_create_for_rate(TEPAL_KIND_BLOOM, 100, 0.01, 1, &t.filter, NULL));
    assert_int_equal(tepal_states_set(&t, d, 1), TEPAL_UNSUPPORTED);
    assert_int_equal(tepal_states_get(&t, d, NULL), TEPAL_STATE_NONE);
    assert_int_equal(tepal_states_update(&t, d, 1, 2, &removed), TEPAL_UNSUPPORTED);
    tepal_filter_free(t.filter);

    struct tepal_filter *counting = make(COUNTING);
    t.filter = counting;
    assert_ok(tepal_states_set(&t, d, 1));
    assert_ok(tepal_counting_strip(counting, NULL, &t.filter, NULL));
    assert_int_equal(tepal_states_get(&t, d, NULL), 1);
    assert_int_equal(tepal_states_set(&t, d, 2), TEPAL_UNSUPPORTED);
    assert_int_equal(tepal_states_update(&t, d, 1, 2, &removed), TEPAL_UNSUPPORTED);
    assert_int_equal(tepal_states_update(&t, d, 1, TEPAL_STATE_NONE, &removed), TEPAL_UNSUPPORTED);
    assert_int_equal(removed, 99);
    tepal_filter_free(t.filter);
    tepal_filter_free(counting);
}

/* A full filter: updates are refused, and every cell stays. */
static void full(void **state)
{
    (void)state;
    uint64_t random = 6;
    struct tepal_states t = {make(FINGERPRINTS), 4, TEPAL_STATES_ALL};
    struct tepal_digest last = {0, 0};
    struct tepal_digest d;
    while (d = check_digest(&random), tepal_states_set(&t, d, 0) == TEPAL_OK) {
        last = d;
    }
    struct tepal_filter *before;
    unsigned refused = 0;
    assert_ok(tepal_filter_clone(t.filter, NULL, &before, NULL));
    for (unsigned i = 0; i < 100; i++) {
        uint64_t removed = 99;
        enum tepal_status status =
            tepal_states_update(&t, check_digest(&random), TEPAL_STATE_ANY, 1, &removed);
        if (status == TEPAL_OK) { /* the last slots */
            tepal_filter_free(before);
            assert_ok(tepal_filter_clone(t.filter, NULL, &before, NULL));
            continue;
        }
        refused++;
        assert_int_equal(status, TEPAL_FULL);
        assert_int_equal(removed, 99);
        assert_true(tepal_filter_equal(t.filter, before));
    }
    assert_true(refused > 50);
    assert_ok(tepal_states_update(&t, last, 0, TEPAL_STATE_NONE, NULL)); /* that needs no room */
    tepal_filter_free(before);
    tepal_filter_free(t.filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_plain),         cmocka_unit_test(told_what_to_leave),
        cmocka_unit_test(as_often_as_predicted), cmocka_unit_test(bad_tables_and_states),
        cmocka_unit_test(filters_that_cannot),   cmocka_unit_test(full)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
