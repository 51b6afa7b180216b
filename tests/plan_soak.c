/*
 * plan_soak.c: 60 random plans across the kinds, of up to a million keys, built and measured; the
 * planners whose brute force takes long, on 200 problems; wishes for weighted negatives, 60 seeds.
 */
#include "plan_built.h"

static void plans_hold(void **state)
{
    (void)state;
    build_and_measure(60, 1e6, 202);
}

static void plans_are_never_worse_than_a_grid(void **state)
{
    (void)state;
    brute_generalized(200);
    brute_recycling(200);
    brute_yesno(200);
    brute_cascade(200);
}

static void weighted_wishes_are_kept(void **state)
{
    (void)state;
    check_all_kept(60);
    check_few_lost(spikes, 0.02, 200);
    check_few_lost(steep_weight, 0.001, 200);
    check_few_lost(steeper_weight, 0.001, 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_hold),
        cmocka_unit_test(plans_are_never_worse_than_a_grid),
        cmocka_unit_test(weighted_wishes_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
