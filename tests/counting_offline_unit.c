/*
 * counting_offline_unit.c: groups that are chosen offline, against all assignments of small sets
 * and against the online rules; what stays where it is; receipts as with any other addition.
 */
#include "counting_help.h"

#include <inttypes.h>

#define SMALL 8

static uint64_t zeros_of(const struct tepal_filter *f)
{
    return tepal_filter_params(f)->cells - counting_whole(f, "ones");
}

/* The most counters at 0 that any of the c^n assignments leaves. */
static uint64_t most_zeros(const struct tepal_params *params, const struct tepal_digest *keys)
{
    uint64_t cells = params->cells;
    uint8_t groups[SMALL] = {0};
    uint64_t most = 0;
    struct tepal_filter *f;
    assert_ok(tepal_filter_create(params, NULL, &f, NULL));
    for (;;) {
        bool used[64] = {false};
        uint64_t zeros = cells;
        for (size_t i = 0; i < SMALL; i++) {
            uint64_t at[TEPAL_MAX_HASHES];
            uint32_t count = tepal_counting_positions(f, keys[i], groups[i], at);
            for (uint32_t j = 0; j < count; j++) {
                zeros -= !used[at[j]];
                used[at[j]] = true;
            }
        }
        most = zeros > most ? zeros : most;
        size_t i = 0;
        while (i < SMALL && ++groups[i] == params->counting.choices) {
            groups[i++] = 0;
        }
        if (i == SMALL) {
            tepal_filter_free(f);
            return most;
        }
    }
}

/*
 * 100 sets of eight keys, three choices: never more zeros than there can be, never fewer than
 * online, and in two thirds of the cases as many as there can be, online in one fifth.
 */
static void nearly_the_most_zeros(void **state)
{
    (void)state;
    uint64_t seed = 3;
    uint64_t best = 0;
    uint64_t short_of = 0;
    uint64_t online_best = 0;
    for (int trial = 0; trial < 100; trial++) {
        struct tepal_params params = counting_params(TEPAL_LAYOUT_FLAT, 48, 4, 3);
        struct tepal_digest keys[SMALL];
        struct tepal_filter *online;
        struct tepal_filter *offline;
        check_digests(&seed, keys, SMALL);
        assert_ok(tepal_filter_create(&params, NULL, &online, NULL));
        assert_ok(tepal_filter_create(&params, NULL, &offline, NULL));
        assert_ok(tepal_filter_add_many(online, keys, SMALL));
        assert_ok(tepal_counting_add_offline(offline, keys, SMALL, NULL, NULL, NULL, NULL));
        uint64_t most = most_zeros(&params, keys);
        assert_true(zeros_of(offline) <= most);
        assert_true(zeros_of(offline) >= zeros_of(online));
        best += zeros_of(offline) == most;
        short_of += most - zeros_of(offline);
        online_best += zeros_of(online) == most;
        tepal_filter_free(online);
        tepal_filter_free(offline);
    }
    if (getenv("TEPAL_SHOW") != NULL) {
        printf("most zeros: %" PRIu64 " of 100, %" PRIu64 " short in all; online %" PRIu64 "\n",
               best, short_of, online_best);
    }
    assert_true(best >= 60);
    assert_true(short_of <= 60);
    assert_true(online_best < best / 2); /* the test can tell */
}

#define MANY 2000

/* On every layout and with every width: fewer false positives, sound, every member by receipt. */
static void never_worse_than_online(void **state)
{
    (void)state;
    static struct tepal_digest keys[MANY];
    static uint8_t groups[MANY];
    uint64_t seed = 4;
    check_digests(&seed, keys, MANY);
    for (int layout = TEPAL_LAYOUT_FLAT; layout <= TEPAL_LAYOUT_PAIRED; layout++) {
        for (uint32_t choices = 1; choices <= 9; choices += 4) {
            struct tepal_params params =
                counting_params((enum tepal_layout)layout, 12 * MANY / 128 * 128, 8, choices);
            struct tepal_filter *f[3]; /* offline, online, and offline once more */
            struct tepal_report report[2];
            params.counting.form = layout % 2 == 0 ? TEPAL_FORM_COUNTERS : TEPAL_FORM_WIDE_COUNTERS;
            for (int i = 0; i < 3; i++) {
                assert_ok(tepal_filter_create(&params, NULL, &f[i], NULL));
                assert_ok(i == 1 ? tepal_counting_add_many(f[i], keys, MANY, NULL)
                                 : tepal_counting_add_offline(f[i], keys, MANY, NULL, NULL, groups,
                                                              NULL));
            }
            assert_true(tepal_filter_equal(f[0], f[2]));
            tepal_filter_info(f[0], &report[0]);
            tepal_filter_info(f[1], &report[1]);
            double rate = check_number(&report[0], "fp_now");
            double online = check_number(&report[1], "fp_now");
            assert_true(choices == 1 ? tepal_filter_equal(f[0], f[1]) : rate < 0.85 * online);
            assert_int_equal(check_number(&report[0], "keys_added"), MANY);
            assert_ok(tepal_filter_validate(f[0], NULL));
            for (size_t i = 0; i < MANY; i++) {
                assert_true(tepal_counting_groups(f[0], keys[i]) >> groups[i] & 1);
                assert_ok(tepal_counting_remove_group(f[0], keys[i], groups[i]));
            }
            assert_int_equal(counting_whole(f[0], "ones"), 0);
            for (int i = 0; i < 3; i++) {
                tepal_filter_free(f[i]);
            }
        }
    }
}

/* What was there before keeps its counts, and the groups are chosen around it. */
static void what_is_there_stays(void **state)
{
    (void)state;
    static struct tepal_digest keys[MANY];
    static uint8_t before[MANY];
    static uint8_t groups[MANY];
    struct tepal_params params = counting_params(TEPAL_LAYOUT_FLAT, 10 * MANY, 6, 4);
    struct tepal_filter *f;
    struct tepal_filter *online;
    uint64_t seed = 5;
    check_digests(&seed, keys, MANY);
    assert_ok(tepal_filter_create(&params, NULL, &f, NULL));
    assert_ok(tepal_counting_add_many(f, keys, MANY / 2, before));
    for (int i = 0; i < 20; i++) { /* and stuck counters */
        assert_ok(tepal_filter_add(f, keys[0]));
    }
    assert_ok(tepal_filter_clone(f, NULL, &online, NULL));
    assert_ok(tepal_filter_add_many(online, keys + MANY / 2, MANY / 2));
    assert_ok(tepal_counting_add_offline(f, keys + MANY / 2, MANY / 2, NULL, NULL, groups, NULL));
    assert_true(zeros_of(f) > zeros_of(online));
    assert_ok(tepal_filter_validate(f, NULL));
    for (size_t i = 0; i < MANY / 2; i++) {
        assert_ok(tepal_counting_remove_group(f, keys[i], before[i]));
        assert_ok(tepal_counting_remove_group(f, keys[MANY / 2 + i], groups[i]));
    }
    assert_ok(
        tepal_counting_add_offline(f, NULL, 0, NULL, NULL, NULL, NULL)); /* none: nothing happens */
    tepal_filter_free(f);
    tepal_filter_free(online);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearly_the_most_zeros),
        cmocka_unit_test(never_worse_than_online),
        cmocka_unit_test(what_is_there_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
