/*
 * recycling.c: the recycling filter: has this line been seen before? On an endless stream, in fixed
 * memory, at 1 % false positives on average.
 */
#include <stdio.h>
#include <tepal/tepal.h>

int main(void)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct tepal_filter *filter;
    struct tepal_error error;
    params.kind = TEPAL_KIND_RECYCLING;
    params.cells = 65536; /* bits of one phase; there are two phases by default */
    params.seed = 42;
    if (tepal_params_for_rate(&params, 0, 0.01, &error) ||
        tepal_filter_create(&params, NULL, &filter, &error)) {
        fprintf(stderr, "cannot create a filter: %s\n", error.why);
        return 1;
    }
    unsigned repeats = 0;
    for (uint64_t i = 0; i < 100000; i++) {
        bool seen;
        /* Every key comes twice, the second time 100 keys later. */
        (void)tepal_filter_test_add_u64(filter, i, &seen);
        if (i >= 100) {
            (void)tepal_filter_test_add_u64(filter, i - 100, &seen);
            repeats += seen;
        }
    }
    struct tepal_recycling_figures figures;
    (void)tepal_recycling_get_figures(filter, &figures);
    printf("%u of 99900 repeats were recognised, in %llu KiB\n", repeats,
           (unsigned long long)tepal_params_cell_bytes(&params) / 1024);
    printf("it recycled %llu times; the false-positive rate was %.2f %% on average\n",
           (unsigned long long)figures.cycles, 100 * figures.fp_so_far);
    tepal_filter_free(filter);
    return 0;
}
