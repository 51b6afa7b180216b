/*
 * cmocka.h: what the unit tests use of cmocka, in one header, so that they can be compiled for
 * machines that have no such package (tests/machines.sh). The first failure ends the program.
 */
#ifndef TEPAL_TESTS_PLAIN_CMOCKA_H
#define TEPAL_TESTS_PLAIN_CMOCKA_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define test_malloc malloc
#define test_calloc calloc
#define test_free   free

struct CMUnitTest {
    const char *name;
    void (*test)(void **state);
    int (*setup)(void **state);
    int (*teardown)(void **state);
};

static jmp_buf plain_skipped;

#define print_message(...) ((void)printf(__VA_ARGS__))
#define print_error(...)   ((void)fprintf(stderr, __VA_ARGS__))

__attribute__((noreturn)) static inline void plain_fail(const char *file, int line)
{
    print_error("%s:%d: failed\n[  FAILED  ] 1 test(s)\n", file, line);
    exit(1);
}

#define fail() plain_fail(__FILE__, __LINE__)
#define skip() longjmp(plain_skipped, 1)
#define fail_msg(...)                                                                              \
    do {                                                                                           \
        print_error(__VA_ARGS__);                                                                  \
        fail();                                                                                    \
    } while (0)
#define assert_true(c)                                                                             \
    do {                                                                                           \
        if (!(c)) {                                                                                \
            fail();                                                                                \
        }                                                                                          \
    } while (0)
#define assert_false(c)    assert_true(!(c))
#define assert_non_null(p) assert_true((p) != NULL)
#define assert_null(p)     assert_true((p) == NULL)
/* as wide as integers are, whatever their sign */
#define assert_int_equal(a, b)        assert_true((uint64_t)(a) == (uint64_t)(b))
#define assert_int_not_equal(a, b)    assert_true((uint64_t)(a) != (uint64_t)(b))
#define assert_ptr_equal(a, b)        assert_true((const void *)(a) == (const void *)(b))
#define assert_ptr_not_equal(a, b)    assert_true((const void *)(a) != (const void *)(b))
#define assert_memory_equal(a, b, n)  assert_true(memcmp((a), (b), (n)) == 0)
#define assert_string_equal(a, b)     assert_true(strcmp((a), (b)) == 0)
#define assert_string_not_equal(a, b) assert_true(strcmp((a), (b)) != 0)
#define assert_in_range(value, least, most)                                                        \
    assert_true((uint64_t)(value) >= (uint64_t)(least) && (uint64_t)(value) <= (uint64_t)(most))

#define cmocka_unit_test(f)                                                                        \
    {                                                                                              \
#f, f, NULL, NULL                                                                          \
    }
#define cmocka_unit_test_setup_teardown(f, up, down)                                               \
    {                                                                                              \
#f, f, up, down                                                                            \
    }
#define cmocka_run_group_tests(tests, up, down)                                                    \
    plain_run(tests, sizeof tests / sizeof *tests, up, down)
#define cmocka_run_group_tests_name(name, tests, up, down) cmocka_run_group_tests(tests, up, down)

static inline void plain_one(const struct CMUnitTest *test)
{
    void *state = NULL;
    if (test->setup != NULL && test->setup(&state) != 0) {
        fail();
    }
    if (setjmp(plain_skipped) == 0) {
        test->test(&state);
    }
    if (test->teardown != NULL && test->teardown(&state) != 0) {
        fail();
    }
}

static inline int plain_run(const struct CMUnitTest *tests, size_t count, int (*up)(void **),
                            int (*down)(void **))
{
    void *group = NULL;
    if (up != NULL && up(&group) != 0) {
        fail();
    }
    for (size_t i = 0; i < count; i++) {
        plain_one(&tests[i]);
    }
    if (down != NULL && down(&group) != 0) {
        fail();
    }
    printf("[  PASSED  ] %zu test(s).\n", count);
    return 0;
}

#endif
