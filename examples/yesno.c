/*
 * yesno.c: the yes-no filter: a 256-bit filter that vetoes the known negatives, without any false
 * negative.
 */
#include <stdio.h>
#include <tepal/tepal.h>

int main(void)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.kind = TEPAL_KIND_YESNO;
    params.yesno.no_filters = 3;
    params.yesno.no_bits = 32;
    params.yesno.no_hashes = 5;
    params.cells = 160 + 3 * 32; /* 160 bits of yes-filter */
    params.hashes = 4;
    params.seed = 42;

    struct tepal_digest members[20];
    struct tepal_digest avoid[100];
    struct tepal_hasher hasher;
    tepal_hasher_init(params.seed, &hasher);
    for (uint64_t i = 0; i < 20; i++) {
        members[i] = tepal_hash_u64(&hasher, i);
    }
    for (uint64_t i = 0; i < 100; i++) {
        avoid[i] = tepal_hash_u64(&hasher, 20 + i);
    }
    struct tepal_known known = {
        .members = members, .member_count = 20, .avoid = avoid, .avoid_count = 100};
    struct tepal_yesno_options options = TEPAL_YESNO_OPTIONS_INIT;
    struct tepal_known_report report;
    struct tepal_filter *filter;
    struct tepal_error error;
    if (tepal_yesno_build(&params, &known, &options, NULL, &filter, &report, &error)) {
        fprintf(stderr, "cannot build the filter: %s\n", error.why);
        return 1;
    }
    printf("known false positives: %llu without vetoes, %llu with; members lost: %llu\n",
           (unsigned long long)report.avoid_positive, (unsigned long long)report.avoid_left,
           (unsigned long long)report.false_negatives);
    tepal_filter_free(filter);
    return 0;
}
