/*
 * fingerprint.c: the fingerprint filter (a cuckoo filter): keys can be removed, in about 12 bits
 * per key. It can be full, and says so.
 */
#include <stdio.h>
#include <tepal/tepal.h>

int main(void)
{
    struct tepal_filter *filter;
    struct tepal_error error;
    if (tepal_filter_create_for_rate(TEPAL_KIND_FINGERPRINT, 10000, 0.003, 42, &filter, &error)) {
        fprintf(stderr, "cannot create a filter: %s\n", error.why);
        return 1;
    }
    uint64_t added = 0;
    while (tepal_filter_add_u64(filter, added) == TEPAL_OK) { /* until TEPAL_FULL */
        added++;
    }
    printf("planned for 10000 keys, took %llu\n", (unsigned long long)added);
    for (uint64_t key = 0; key < 1000; key++) {
        (void)tepal_filter_remove_u64(filter, key);
    }
    printf("after 1000 removals there is room again: %s\n",
           tepal_filter_add_u64(filter, added) == TEPAL_OK ? "yes" : "no");
    printf("memory: %.1f bits per key\n",
           8 * (double)tepal_filter_memory_bytes(filter) / (double)added);
    tepal_filter_free(filter);
    return 0;
}
