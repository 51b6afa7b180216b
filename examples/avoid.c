/*
 * avoid.c: a service behind a counting filter tells it which answers were wrong, one by one. The
 * filter does not find these keys again, and loses at most 20 of its members for it.
 */
#include <stdio.h>
#include <tepal/tepal.h>

#define MEMBERS 10000

int main(void)
{
    struct tepal_filter *filter;
    struct tepal_error error;
    struct tepal_hasher hasher;
    struct tepal_avoided done = {.lost_all = 0};
    unsigned long long wrong = 0;
    unsigned long long again = 0;
    if (tepal_filter_create_for_rate(TEPAL_KIND_COUNTING, MEMBERS, 0.01, 42, &filter, &error) ||
        tepal_avoid_budget(filter, 20, &error)) {
        fprintf(stderr, "cannot create a filter: %s\n", error.why);
        return 1;
    }
    (void)tepal_filter_hasher(filter, &hasher);
    for (uint64_t i = 0; i < MEMBERS; i++) {
        (void)tepal_filter_add(filter, tepal_hash_u64(&hasher, i));
    }
    /* Requests for 3,000 other keys, all of them twice. */
    for (uint64_t i = 0; i < 6000; i++) {
        struct tepal_digest digest = tepal_hash_u64(&hasher, MEMBERS + i % 3000);
        if (tepal_filter_query(filter, digest)) {
            wrong += i < 3000;
            again += i >= 3000;
            (void)tepal_avoid(filter, &digest, 1, NULL, &done, &error);
        }
    }
    printf("wrong answers: %llu at first, %llu again; at most %.0f of %d members lost\n", wrong,
           again, done.lost_all, MEMBERS);
    tepal_filter_free(filter);
    return 0;
}
