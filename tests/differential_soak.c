/* differential_soak.c: 10^8 random operations on every kind (differential.h). */
#define _GNU_SOURCE
#include "differential.h"

#define OPERATIONS UINT64_C(100000000) /* on each kind, over all of its layouts and settings */
#define TRIAL      UINT64_C(200000)    /* with one seed */

static struct specimens all;

static void every_kind_follows_its_model(void **unused)
{
    (void)unused;
    static struct trial t;
    const char *fewer = getenv("TEPAL_OPERATIONS");
    uint64_t operations = fewer == NULL ? OPERATIONS : strtoull(fewer, NULL, 10);
    for (size_t k = 0; k < tepal_kind_count(); k++) {
        const struct tepal_kind *kind = tepal_kind_at(k);
        uint64_t done = 0;
        uint64_t journeys = 0;
        uint64_t seed = 1000;
        while (done < operations) {
            for (size_t i = 0; i < all.count && done < operations; i++) {
                if (all.at[i].params.kind == kind->id) {
                    trial_run(&t, &all.at[i], seed++, TRIAL);
                    done += t.done;
                    journeys += t.journeys;
                }
            }
            assert_true(done > 0);
        }
        print_message("%s: %llu operations, %llu journeys\n", kind->name, (unsigned long long)done,
                      (unsigned long long)journeys);
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
