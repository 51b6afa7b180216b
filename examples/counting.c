/*
 * counting.c: the counting filter: keys can be removed. With several choices of address per key
 * (multichoice), keep the receipt of each addition, and removal never harms another key.
 */
#include <stdio.h>
#include <tepal/tepal.h>

int main(void)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct tepal_filter *filter;
    struct tepal_error error;
    params.kind = TEPAL_KIND_COUNTING;
    params.cells = 16000; /* counters */
    params.hashes = 8;
    params.counting.choices = 4;
    params.seed = 42;
    if (tepal_filter_create(&params, NULL, &filter, &error)) {
        fprintf(stderr, "cannot create a filter: %s\n", error.why);
        return 1;
    }
    static uint8_t receipt[1000];
    struct tepal_hasher hasher;
    (void)tepal_filter_hasher(filter, &hasher);
    for (uint64_t key = 0; key < 1000; key++) {
        (void)tepal_counting_add(filter, tepal_hash_u64(&hasher, key), &receipt[key]);
    }
    for (uint64_t key = 0; key < 500; key++) {
        (void)tepal_counting_remove_group(filter, tepal_hash_u64(&hasher, key), receipt[key]);
    }
    unsigned gone = 0;
    unsigned here = 0;
    for (uint64_t key = 0; key < 1000; key++) {
        bool maybe = tepal_filter_query_u64(filter, key);
        gone += key < 500 && !maybe;
        here += key >= 500 && maybe;
    }
    printf("removed 500 of 1000 keys: %u of them are gone, %u of the others are found\n", gone,
           here);
    tepal_filter_free(filter);
    return here == 500 ? 0 : 1;
}
