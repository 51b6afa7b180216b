/*
 * cascade.c: the cascade: no error at all on the keys it was built from.
 */
#include <stdio.h>
#include <tepal/tepal.h>

#define MEMBERS 1000
#define OTHERS  50000

static struct tepal_digest members[MEMBERS];
static struct tepal_digest avoid[OTHERS];

int main(void)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct tepal_hasher hasher;
    params.kind = TEPAL_KIND_CASCADE;
    params.seed = 42;
    tepal_hasher_init(params.seed, &hasher);
    for (uint64_t i = 0; i < MEMBERS; i++) {
        members[i] = tepal_hash_u64(&hasher, i);
    }
    for (uint64_t i = 0; i < OTHERS; i++) {
        avoid[i] = tepal_hash_u64(&hasher, MEMBERS + i);
    }
    struct tepal_known known = {
        .members = members, .member_count = MEMBERS, .avoid = avoid, .avoid_count = OTHERS};
    struct tepal_cascade_options options = {0}; /* as small as possible */
    struct tepal_known_report report;
    struct tepal_filter *filter;
    struct tepal_error error;
    if (tepal_cascade_build(&params, &known, &options, NULL, &filter, &report, &error)) {
        fprintf(stderr, "cannot build the cascade: %s\n", error.why);
        return 1;
    }
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < MEMBERS + OTHERS; i++) {
        wrong += tepal_filter_query_u64(filter, i) != (i < MEMBERS);
    }
    printf("%llu errors on %d known keys, in %.1f bits per member\n", (unsigned long long)wrong,
           MEMBERS + OTHERS, (double)tepal_filter_params(filter)->cells / MEMBERS);
    tepal_filter_free(filter);
    return wrong == 0 ? 0 : 1;
}
