/*
 * plan.c: state your limits, get the best filter for them, and build it from your keys.
 */
#include <stdio.h>
#include <tepal/tepal.h>

#define MEMBERS 10000
#define OTHERS  2000

static struct tepal_digest members[MEMBERS];
static struct tepal_digest avoid[OTHERS];

int main(void)
{
    struct tepal_wish wish = TEPAL_WISH_INIT;
    static struct tepal_plans plans;
    struct tepal_error error;
    wish.keys = MEMBERS;
    wish.known_negatives = OTHERS;
    wish.fp = 0.001; /* at most 0.1 % false positives */
    wish.fn = 0;     /* and no false negatives */
    if (tepal_plan(&wish, &plans, &error)) {
        fprintf(stderr, "cannot plan: %s\n", error.why);
        return 1;
    }
    if (!plans.plan[0].feasible) {
        fprintf(stderr, "no filter does that: %s\n", plans.blocked_by);
        return 1;
    }
    printf("%s, %.2f bits per key: %s\n", tepal_kind_by_id(plans.plan[0].kind)->name,
           plans.plan[0].bits_per_key, plans.plan[0].reason);

    struct tepal_hasher hasher;
    tepal_hasher_init(42, &hasher);
    for (uint64_t i = 0; i < MEMBERS; i++) {
        members[i] = tepal_hash_u64(&hasher, i);
    }
    for (uint64_t i = 0; i < OTHERS; i++) {
        avoid[i] = tepal_hash_u64(&hasher, MEMBERS + i);
    }
    struct tepal_plan_input input = {
        .seed = 42,
        .known = {
            .members = members, .member_count = MEMBERS, .avoid = avoid, .avoid_count = OTHERS}};
    struct tepal_known_report report;
    struct tepal_filter *filter;
    if (tepal_plan_build(&plans.plan[0], &input, NULL, &filter, &report, &error)) {
        fprintf(stderr, "cannot build: %s\n", error.why);
        return 1;
    }
    printf("known negatives still found: %llu of %d; members lost: %llu\n",
           (unsigned long long)report.avoid_left, OTHERS,
           (unsigned long long)report.false_negatives);
    tepal_filter_free(filter);
    return 0;
}
