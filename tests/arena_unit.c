/*
 * arena_unit.c: the memory of a piece of work: cleared, aligned, bounded, and all given back, when
 * an allocation fails too.
 */
#include "file_help.h"

#include "base/arena.h"

static bool is_clear(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

/* What is taken is cleared, on a line of its own, and can be written to its end. */
static void test_take(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 7, 64, 100000};
    struct memory memory = {0};
    struct tepal_allocator allocator = memory_allocator(&memory);
    struct arena arena = tepal_arena_open(&allocator);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint8_t *taken = tepal_arena_take(&arena, counts[i], 24);
        size_t bytes = (counts[i] == 0 ? 1 : counts[i]) * 24;
        assert_non_null(taken);
        assert_int_equal((uintptr_t)taken % 64, 0);
        assert_true(is_clear(taken, bytes));
        memset(taken, 0xff, bytes);
    }
    assert_int_equal(memory.live, 5);
    tepal_arena_release(&arena, NULL);
    assert_int_equal(memory.live, 0);
}

/* Bitmaps have whole words, whatever the number of bits. */
static void test_bitmap(void **state)
{
    (void)state;
    struct memory memory = {0};
    struct tepal_allocator allocator = memory_allocator(&memory);
    struct arena arena = tepal_arena_open(&allocator);
    uint64_t *one = tepal_arena_bitmap(&arena, 0);
    uint64_t *two = tepal_arena_bitmap(&arena, 65);
    assert_true(one != NULL && two != NULL);
    assert_true(one[0] == 0 && two[0] == 0 && two[1] == 0);
    one[0] = two[1] = UINT64_MAX;
    tepal_arena_release(&arena, NULL);
    assert_int_equal(memory.live, 0);
}

/* A size that does not fit is refused before anybody is asked for it. */
static void test_bounds(void **state)
{
    (void)state;
    struct memory memory = {0};
    struct tepal_allocator allocator = memory_allocator(&memory);
    struct arena arena = tepal_arena_open(&allocator);
    assert_null(tepal_arena_take(&arena, UINT64_MAX, 1));
    assert_null(tepal_arena_take(&arena, UINT64_MAX / 8 + 1, 8));
    assert_null(tepal_arena_take(&arena, (uint64_t)1 << 63, 2));
    assert_null(tepal_arena_take(&arena, SIZE_MAX / 2, 1));
    assert_int_equal(memory.calls, 0);
    assert_null(arena.last);
    tepal_arena_release(&arena, NULL);
}

/* A part is given back, the rest stays as it is. */
static void test_release(void **state)
{
    (void)state;
    struct memory memory = {0};
    struct tepal_allocator allocator = memory_allocator(&memory);
    struct arena arena = tepal_arena_open(&allocator);
    uint64_t *kept = tepal_arena_take(&arena, 1, 8);
    assert_non_null(kept);
    *kept = 42;
    struct arena_piece *last = arena.last;
    assert_non_null(tepal_arena_take(&arena, 3, 8));
    assert_non_null(tepal_arena_take(&arena, 5, 8));
    tepal_arena_release(&arena, last);
    assert_int_equal(memory.live, 1);
    assert_int_equal(*kept, 42);
    tepal_arena_release(&arena, last); /* nothing is left to give */
    assert_int_equal(memory.live, 1);
    tepal_arena_release(&arena, NULL);
    assert_int_equal(memory.live, 0);
}

/* More pieces than anybody counts on, and the middle one fails: the others are whole. */
static void test_failure(void **state)
{
    (void)state;
    for (unsigned fail = 1; fail <= 40; fail++) {
        struct memory memory = {.fail_at = fail};
        struct tepal_allocator allocator = memory_allocator(&memory);
        struct arena arena = tepal_arena_open(&allocator);
        uint32_t *taken[40];
        for (uint32_t i = 0; i < 40; i++) {
            taken[i] = tepal_arena_take(&arena, 4, sizeof **taken);
            assert_int_equal(taken[i] == NULL, i + 1 == fail);
            if (taken[i] != NULL) {
                taken[i][3] = i;
            }
        }
        assert_int_equal(memory.live, 39);
        for (uint32_t i = 0; i < 40; i++) {
            assert_true(taken[i] == NULL || taken[i][3] == i);
        }
        tepal_arena_release(&arena, NULL);
        assert_int_equal(memory.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_take),    cmocka_unit_test(test_bitmap),
        cmocka_unit_test(test_bounds),  cmocka_unit_test(test_release),
        cmocka_unit_test(test_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
