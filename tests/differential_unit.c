/*
 * differential_unit.c: 10^5 random operations and more on every kind, beside a plain model and a
 * twin (differential.h).
 */
#define _GNU_SOURCE
#include "differential.h"

#define OPERATIONS 50000 /* on each kind and seed, over all of its layouts and settings */
#define LEAST      5000  /* on each layout and setting */

static struct specimens all;

static void every_kind_follows_its_model(void **unused)
{
    (void)unused;
    static struct trial t;
    unsigned of[TEPAL_KIND_CHAIN + 1] = {0};
    for (size_t i = 0; i < all.count; i++) {
        of[all.at[i].params.kind]++;
    }
    for (size_t k = 0; k < tepal_kind_count(); k++) {
        assert_true(of[tepal_kind_at(k)->id] > 0);
    }
    for (size_t i = 0; i < all.count; i++) {
        const struct specimen *s = &all.at[i];
        const struct tepal_kind *kind = tepal_kind_by_id((uint32_t)s->params.kind);
        for (uint64_t seed = 0; seed < 2; seed++) {
            uint64_t operations = OPERATIONS / of[kind->id];
            trial_run(&t, s, 2 * i + seed, operations < LEAST ? LEAST : operations);
            specimen_assert(s, t.found > 0 && t.journeys > 0);
            specimen_assert(s, t.removals > 0 || !(kind->promises & TEPAL_DELETABLE));
        }
    }
}

int main(void)
{
    specimens_init(&all);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_follows_its_model),
    };
    return cmocka_run_group_tests_name("differential", tests, NULL, NULL);
}
