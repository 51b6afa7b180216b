/*
 * recycling_average_soak.c: the streams of recycling_average_stat.c with 10^8 messages each: flat,
 * with one phase and two; each other layout on two of them, with sixteen sets of keys that repeat;
 * more phases with 10^7; and flat by sigma, for comparison.
 */
#include "average_help.h"

#define ARRIVALS 100000000

static void told_is_measured(void **unused)
{
    (void)unused;
    for (int layout = 0; layout < 4; layout++) {
        for (uint32_t phases = 1; phases <= 2; phases++) {
            bool flat = layout == TEPAL_LAYOUT_FLAT;
            size_t step = flat ? 1 : 4;
            for (size_t i = step / 2; i < COUNT(average_streams); i += step) {
                average_told_is_measured((enum tepal_layout)layout, phases, i, ARRIVALS,
                                         flat ? 1 : 16);
            }
        }
    }
}

static void told_is_a_bound(void **unused)
{
    (void)unused;
    for (uint32_t phases = 3; phases <= TEPAL_MAX_PHASES; phases++) {
        for (size_t i = 0; i < COUNT(average_streams); i++) {
            average_told_is_a_bound(phases, i, ARRIVALS / 10);
        }
    }
}

static void by_sigma_more_is_lost(void **unused)
{
    (void)unused;
    for (uint32_t phases = 1; phases <= 2; phases++) {
        for (size_t i = 0; i < COUNT(average_streams); i++) {
            average_by_sigma(phases, i, ARRIVALS);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(told_is_measured),
        cmocka_unit_test(told_is_a_bound),
        cmocka_unit_test(by_sigma_more_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
