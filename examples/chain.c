/*
 * chain.c: the chain, Bloom filters in a row that keep their rate at every size, however many keys
 * come. Two of them with the same parameters can be united bit by bit.
 */
#include <stdio.h>
#include <tepal/tepal.h>

int main(void)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct tepal_filter *filter;
    struct tepal_error error;
    params.kind = TEPAL_KIND_CHAIN;
    params.layout = TEPAL_LAYOUT_BLOCKED; /* one cache line per part */
    params.seed = 42;
    params.chain.first_keys = 1000;
    params.chain.growth = 2 * TEPAL_CHAIN_UNIT;
    /* 1 % at every size; 100,000 keys are planned, and it can go on beyond. */
    if (tepal_params_for_rate(&params, 100000, 0.01, &error) ||
        tepal_filter_create(&params, NULL, &filter, &error)) {
        fprintf(stderr, "cannot create a filter: %s\n", error.why);
        return 1;
    }
    uint64_t key = 0;
    for (uint64_t keys = 1000; keys <= 1000000; keys *= 10) {
        while (key < keys) {
            if (tepal_filter_add_u64(filter, key++) != TEPAL_OK) { /* out of memory */
                tepal_filter_free(filter);
                return 1;
            }
        }
        printf("%7llu keys: %2llu parts, %4.1f bits per key, false-positive rate %.2f %%\n",
               (unsigned long long)keys,
               (unsigned long long)tepal_filter_params(filter)->chain.parts,
               8 * (double)tepal_encoded_bytes(filter) / (double)keys,
               100 * tepal_filter_fp_now(filter));
    }
    printf("key 8 is %s\n", tepal_filter_query_u64(filter, 8) ? "present" : "absent");
    tepal_filter_free(filter);
    return 0;
}
