/*
 * recycling_average_stat.c: recycling filters that keep an average, on streams that repeat: is the
 * share of new messages that they find the one that they tell, and the one that was asked for? The
 * same streams by sigma, which tells the rate of the model and finds more. (The streams and the
 * test of them: average_help.h; a hundred times as long: recycling_average_soak.c.)
 */
#include "average_help.h"

#define ARRIVALS 1000000

static void told_is_measured(void **unused)
{
    (void)unused;
    for (int layout = 0; layout < 4; layout++) {
        for (uint32_t phases = 1; phases <= 2; phases++) {
            for (size_t i = 0; i < COUNT(average_streams); i++) {
                average_told_is_measured((enum tepal_layout)layout, phases, i, ARRIVALS, 1);
            }
        }
    }
}

static void told_is_a_bound(void **unused)
{
    (void)unused;
    for (uint32_t phases = 3; phases <= TEPAL_MAX_PHASES; phases++) {
        for (size_t i = 0; i < COUNT(average_streams); i++) {
            average_told_is_a_bound(phases, i, ARRIVALS / 4);
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
