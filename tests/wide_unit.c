/*
 * wide_unit.c: numbers of 128 bits from two words (halves.h) against the compiler's own, and the
 * products of tepal/place.h by parts, over random operands of every length and over the extremes.
 */
#include "check.h"

#include "base/halves.h"
#include "base/wide.h"

/* A word with so few bits that carries and borrows of all sorts occur, or an extreme one. */
static uint64_t draw(uint64_t *state)
{
    static const uint64_t extremes[] = {0,
                                        1,
                                        2,
                                        UINT64_MAX,
                                        UINT64_MAX - 1,
                                        UINT64_C(1) << 63,
                                        (UINT64_C(1) << 63) - 1,
                                        UINT32_MAX,
                                        UINT64_C(1) << 32};
    uint64_t word = check_random(state);
    uint64_t how = check_random(state) % 80;
    return how < COUNT(extremes) ? extremes[how] : word >> (how % 64);
}

static void products_by_parts(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    for (int i = 0; i < 300000; i++) {
        uint64_t a = draw(&state);
        uint64_t b = draw(&state);
        uint64_t high = tepal_place_high_by_parts(a, b);
        assert_true(high == tepal_place_high(a, b));
        assert_true((high ^ a * b) == tepal_place_fold(a, b));
        assert_true(wide_scale(a, b) == high);
    }
}

static void halves_are_the_number(void **unused)
{
    (void)unused;
#if defined(__SIZEOF_INT128__)
    uint64_t state = 2;
#define SAME(h, w)                                                                                 \
    do {                                                                                           \
        struct halves got = (h);                                                                   \
        wide_int expected = (w);                                                                   \
        assert_true(got.low == wide_low(expected) && got.high == wide_high(expected));             \
    } while (0)
    for (int i = 0; i < 300000; i++) {
        struct halves a = {draw(&state), draw(&state)};
        struct halves b = {draw(&state), draw(&state)};
        wide_int x = wide_join(a.high, a.low);
        wide_int y = wide_join(b.high, b.low);
        SAME(halves_add(a, b), wide_add(x, y));
        SAME(halves_sub(a, b), wide_sub(x, y));
        SAME(halves_times(a, b), wide_times(x, y));
        assert_true(halves_below(a, b) == wide_below(x, y));
        assert_true(halves_less(a, b) == wide_less(x, y));
        assert_true(halves_real(a) == wide_real(x));
        bool overflows = x == wide_join((uint64_t)1 << 63, 0) && y + 1 == 0;
        if (y != 0) {
            SAME(halves_over(a, b), wide_over(x, y));
        }
        if (y != 0 && !overflows) {
            SAME(halves_over_signed(a, b), wide_over_signed(x, y));
        }
    }
#else
    skip(); /* there is nothing to compare with: the other tests use them */
#endif
}

static void clamps(void **unused)
{
    (void)unused;
    assert_true(wide_clamp(wide_sub(wide_of(3), wide_of(4))) == 0);
    assert_true(wide_clamp(wide_of(7)) == 7);
    assert_true(wide_clamp(wide_join(1, 0)) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_by_parts),
        cmocka_unit_test(halves_are_the_number),
        cmocka_unit_test(clamps),
    };
    return cmocka_run_group_tests_name("wide", tests, NULL, NULL);
}
