/* plan_soak.c: 60 random plans across the kinds, of up to a million keys, built and measured. */
#include "plan_built.h"

static void plans_hold(void **state)
{
    (void)state;
    build_and_measure(60, 1e6, 202);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plans_hold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
