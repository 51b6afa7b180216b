/*
 * retouched.c: remove the false positives that hurt from a Bloom filter, and give up at most 1 % of
 * the members for it.
 */
#include <stdio.h>
#include <tepal/tepal.h>

#define MEMBERS 10000
#define OTHERS  100000

static struct tepal_digest members[MEMBERS];
static struct tepal_digest avoid[OTHERS];

int main(void)
{
    struct tepal_filter *bloom;
    struct tepal_filter *retouched;
    struct tepal_error error;
    struct tepal_hasher hasher;
    if (tepal_filter_create_for_rate(TEPAL_KIND_BLOOM, MEMBERS, 0.01, 42, &bloom, &error)) {
        fprintf(stderr, "cannot create a filter: %s\n", error.why);
        return 1;
    }
    (void)tepal_filter_hasher(bloom, &hasher);
    for (uint64_t i = 0; i < MEMBERS; i++) {
        members[i] = tepal_hash_u64(&hasher, i);
    }
    for (uint64_t i = 0; i < OTHERS; i++) {
        avoid[i] = tepal_hash_u64(&hasher, MEMBERS + i);
    }
    (void)tepal_filter_add_many(bloom, members, MEMBERS);

    struct tepal_known known = {
        .members = members, .member_count = MEMBERS, .avoid = avoid, .avoid_count = OTHERS};
    struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    struct tepal_retouch_report report;
    options.limit = TEPAL_RETOUCH_LIMIT_SHARE;
    options.budget = 0.01;
    if (tepal_retouch(bloom, &known, &options, NULL, &retouched, &report, NULL, &error)) {
        fprintf(stderr, "cannot retouch: %s\n", error.why);
        tepal_filter_free(bloom);
        return 1;
    }
    printf("false positives: %llu before, %llu after; %llu of %d members given up\n",
           (unsigned long long)report.avoid_positive, (unsigned long long)report.avoid_left,
           (unsigned long long)report.false_negatives, MEMBERS);
    tepal_filter_free(retouched);
    tepal_filter_free(bloom);
    return 0;
}
