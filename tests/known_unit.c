/*
 * known_unit.c: the exact set of digests against a search through the list, with keys that occur
 * several times, keys that differ in one half only, and no memory.
 */
#include "check.h"
#include "file_help.h"

#include "cells/bits.h"
#include "filter/known/digest_set.h"
#include "filter/known/known.h"

#define KEYS    700
#define MEMBERS 900

/* Few different halves: many equal keys, many that share a half. */
static struct tepal_digest narrow(uint64_t *state)
{
    return (struct tepal_digest){check_random(state) % 24, check_random(state) % 24};
}

static size_t first_of(const struct tepal_digest *keys, const uint64_t *chosen,
                       struct tepal_digest key)
{
    for (size_t i = 0; i < KEYS; i++) {
        if ((chosen == NULL || bits_test(chosen, i)) && keys[i].lo == key.lo &&
            keys[i].hi == key.hi) {
            return i;
        }
    }
    return DIGEST_SET_NONE;
}

static bool is_among(const struct tepal_digest *members, struct tepal_digest key)
{
    for (size_t i = 0; i < MEMBERS; i++) {
        if (members[i].lo == key.lo && members[i].hi == key.hi) {
            return true;
        }
    }
    return false;
}

static void compare(const struct tepal_digest *keys, const struct tepal_digest *members,
                    const uint64_t *chosen)
{
    struct arena arena = tepal_arena_open(NULL);
    struct digest_set set;
    uint64_t both[(KEYS + 63) / 64] = {0};
    uint64_t expected = 0;
    assert_true(tepal_digest_set_make(&arena, keys, KEYS, chosen, &set));
    for (size_t i = 0; i < MEMBERS; i++) {
        assert_int_equal(tepal_digest_set_find(&set, members[i]),
                         first_of(keys, chosen, members[i]));
    }
    uint64_t met = tepal_digest_set_meet(&set, members, MEMBERS, both);
    for (size_t i = 0; i < KEYS; i++) {
        bool is_met = (chosen == NULL || bits_test(chosen, i)) && is_among(members, keys[i]);
        assert_int_equal(bits_test(both, i), is_met);
        expected += is_met;
    }
    assert_int_equal(met, expected);
    assert_true(met > 0 && met < KEYS);
    tepal_arena_release(&arena, NULL);
}

static void test_set(void **state)
{
    (void)state;
    struct tepal_digest keys[KEYS];
    struct tepal_digest members[MEMBERS];
    uint64_t chosen[(KEYS + 63) / 64] = {0};
    uint64_t random = 1;
    for (size_t i = 0; i < KEYS; i++) {
        keys[i] = i % 3 == 0 ? check_digest(&random) : narrow(&random);
        if (check_random(&random) % 2 == 0) {
            bits_set(chosen, i);
        }
    }
    for (size_t i = 0; i < MEMBERS; i++) {
        members[i] = i % 4 == 0 ? keys[i % KEYS] : narrow(&random);
    }
    compare(keys, members, NULL);
    compare(keys, members, chosen);
}

static void test_empty(void **state)
{
    (void)state;
    struct arena arena = tepal_arena_open(NULL);
    struct digest_set set;
    struct tepal_digest member = {1, 2};
    uint64_t both = 0;
    assert_true(tepal_digest_set_make(&arena, NULL, 0, NULL, &set));
    assert_int_equal(tepal_digest_set_find(&set, member), DIGEST_SET_NONE);
    assert_int_equal(tepal_digest_set_meet(&set, &member, 1, &both), 0);
    assert_int_equal(both, 0);
    tepal_arena_release(&arena, NULL);
}

/* Members are taken out of what was found; nothing is changed if there is no memory. */
static void test_pass_members(void **state)
{
    (void)state;
    struct tepal_digest avoid[70];
    struct tepal_digest members[3];
    uint64_t random = 7;
    for (size_t i = 0; i < 70; i++) {
        avoid[i] = check_digest(&random);
    }
    avoid[66] = avoid[3]; /* a key that is there twice */
    members[0] = avoid[3];
    members[1] = check_digest(&random);
    members[2] = avoid[69]; /* but this one was not found */
    for (unsigned fail = 1;; fail++) {
        struct memory memory = {.fail_at = fail};
        struct tepal_allocator allocator = memory_allocator(&memory);
        uint64_t found[2] = {UINT64_MAX, 0xf};
        uint64_t both = 99;
        enum tepal_status status =
            tepal_known_pass_members(&allocator, members, 3, avoid, 70, found, &both);
        assert_int_equal(memory.live, 0);
        if (status == TEPAL_OK) {
            assert_true(fail > 1);
            assert_int_equal(both, 2);
            assert_true(found[0] == ~(UINT64_C(1) << 3) && found[1] == (0xf & ~4));
            break;
        }
        assert_int_equal(status, TEPAL_NO_MEMORY);
        assert_true(found[0] == UINT64_MAX && found[1] == 0xf && both == 99);
    }
}

static void test_weights(void **state)
{
    (void)state;
    double weights[3] = {0, 1.5, 2};
    assert_true(tepal_known_weights_valid(NULL, 3));
    assert_true(tepal_known_weights_valid(weights, 3));
    weights[2] = INFINITY;
    assert_false(tepal_known_weights_valid(weights, 3));
    assert_true(tepal_known_weights_valid(weights, 2));
    weights[1] = -1;
    assert_false(tepal_known_weights_valid(weights, 2));
    weights[0] = NAN;
    assert_false(tepal_known_weights_valid(weights, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_pass_members),
        cmocka_unit_test(test_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
