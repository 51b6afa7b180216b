/*
 * generalized.c: the generalized filter: whoever filled it, with whatever bits, a random key is
 * found with a bounded probability.
 */
#include <stdio.h>
#include <tepal/tepal.h>

int main(void)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct tepal_filter *filter;
    struct tepal_error error;
    params.kind = TEPAL_KIND_GENERALIZED;
    params.cells = 65536;
    params.hashes = 8;
    params.generalized.reset_hashes = 4; /* 4 hash functions reset, 4 set */
    params.seed = 42;
    if (tepal_filter_create(&params, NULL, &filter, &error)) {
        fprintf(stderr, "cannot create a filter: %s\n", error.why);
        return 1;
    }
    /* An attacker adds a million keys. A Bloom filter would be all ones now. */
    for (uint64_t key = 0; key < 1000000; key++) {
        (void)tepal_filter_add_u64(filter, key);
    }
    printf("false-positive rate now %.2f %%, never above %.2f %%\n",
           100 * tepal_filter_fp_now(filter), 100 * tepal_params_fp_bound(&params));
    printf("the newest key is found: %s\n", tepal_filter_query_u64(filter, 999999) ? "yes" : "no");
    tepal_filter_free(filter);
    return 0;
}
