/*
 * plan_stat.c: each kind's planner against brute force on random small problems, 200 unless these
 * take long (then in plan_soak.c); and 12 random plans, across the kinds, built and measured (60 in
 * plan_soak.c), and some for weighted negatives.
 */
#include "plan_built.h"

#define BRUTE(kind, problems)                                                                      \
    static void kind##_is_never_worse_than_a_grid(void **state)                                    \
    {                                                                                              \
        (void)state;                                                                               \
        brute_##kind(problems);                                                                    \
    }

BRUTE(bloom, 200)
BRUTE(retouched, 200)
BRUTE(fingerprint, 200)
BRUTE(counting, 200)
BRUTE(generalized, 100)
BRUTE(cascade, 80)
BRUTE(yesno, 60)
BRUTE(recycling, 20)

static void plans_hold(void **state)
{
    (void)state;
    build_and_measure(12, 1e5, 101);
}

static void weighted_plans_hold(void **state)
{
    (void)state;
    check_weights(0.6, 10200);
    check_weights(1, 10300);
    check_weights(1.4, 10400);
    check_all_kept(12);
    check_few_lost(spikes, 0.02, 100);
    check_few_lost(steep_weight, 0.001, 100);
    check_few_lost(steeper_weight, 0.001, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bloom_is_never_worse_than_a_grid),
        cmocka_unit_test(retouched_is_never_worse_than_a_grid),
        cmocka_unit_test(fingerprint_is_never_worse_than_a_grid),
        cmocka_unit_test(counting_is_never_worse_than_a_grid),
        cmocka_unit_test(generalized_is_never_worse_than_a_grid),
        cmocka_unit_test(cascade_is_never_worse_than_a_grid),
        cmocka_unit_test(yesno_is_never_worse_than_a_grid),
        cmocka_unit_test(recycling_is_never_worse_than_a_grid),
        cmocka_unit_test(plans_hold),
        cmocka_unit_test(weighted_plans_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
