/*
 * planned.c: say what you can bear, get the filter. 2000 members, 5000 keys that will be asked for
 * and are none, at most one in a hundred of them let through: the planner chooses the kind.
 *
 *     cc planned.c $(pkg-config --cflags --libs tepal) && ./a.out
 */
#include <stdio.h>
#include <tepal/tepal.h>

#define MEMBERS   2000
#define NEGATIVES 5000
#define SEED      42

static struct tepal_digest members[MEMBERS];
static struct tepal_digest negatives[NEGATIVES];

static void draw_keys(void)
{
    struct tepal_hasher hasher;
    tepal_hasher_init(&hasher, SEED);
    for (uint64_t i = 0; i < MEMBERS; i++) {
        members[i] = tepal_hash_u64(&hasher, i);
    }
    for (uint64_t i = 0; i < NEGATIVES; i++) {
        negatives[i] = tepal_hash_u64(&hasher, MEMBERS + i);
    }
}

int main(void)
{
    static struct tepal_plans plans;
    struct tepal_wish wish = TEPAL_WISH_INIT;
    const char *why = "";
    wish.keys = MEMBERS;
    wish.known_negatives = NEGATIVES;
    wish.fp = 0.01;
    if (tepal_plan(&wish, &plans, &why) != TEPAL_OK || !plans.plan[0].feasible) {
        fprintf(stderr, "no plan: %s\n", why);
        return 1;
    }
    struct tepal_plan_input input = {.seed = SEED,
                                     .members = members,
                                     .member_count = MEMBERS,
                                     .avoid = negatives,
                                     .avoid_count = NEGATIVES};
    struct tepal_plan_report report;
    struct tepal_filter *filter = NULL;
    draw_keys();
    if (tepal_plan_build(&plans.plan[0], &input, NULL, &filter, &report, &why) != TEPAL_OK) {
        fprintf(stderr, "cannot build it: %s\n", why);
        return 1;
    }
    printf("%s: %.3g bits a key planned\n", tepal_filter_kind(filter)->name,
           plans.plan[0].bits_per_key);
    printf("%llu of %d known negatives are let through, %llu of %d members are missed\n",
           (unsigned long long)report.avoid_left, NEGATIVES,
           (unsigned long long)report.false_negatives, MEMBERS);
    tepal_filter_free(filter);
    return report.avoid_left <= NEGATIVES / 50 ? 0 : 1;
}
