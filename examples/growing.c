/*
 * growing.c: the growing filter, for sets whose size nobody knows. It begins small, grows with its
 * keys and needs none of them to do so; keys can be removed.
 */
#include <stdio.h>
#include <tepal/tepal.h>

int main(void)
{
    struct tepal_filter *filter;
    struct tepal_error error;
    /* 1 % for up to 100,000 keys; it begins with room for some hundred, and can go on beyond. */
    if (tepal_filter_create_for_rate(TEPAL_KIND_GROWING, 100000, 0.01, 42, &filter, &error)) {
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
        printf("%7llu keys: %4.1f bits per key, false-positive rate %.2f %%\n",
               (unsigned long long)keys, 8 * (double)tepal_encoded_bytes(filter) / (double)keys,
               100 * tepal_filter_fp_now(filter));
    }
    (void)tepal_filter_remove_u64(filter, 7);
    printf("key 8 is %s\n", tepal_filter_query_u64(filter, 8) ? "present" : "absent");
    tepal_filter_free(filter);
    return 0;
}
