/*
 * instructions.c: the hot calls, a loop of 1000 of each, in functions of their own: what
 * instructions.sh counts with callgrind.
 */
#include <tepal/inline.h>
#include <tepal/tepal.h>

#include <stdio.h>
#include <stdlib.h>

#define CALLS 1000

static uint64_t found;

/* A loop over keys in no order. */
#define LOOP(name, type, each)                                                                     \
    __attribute__((noinline)) void loop_##name(type *f);                                           \
    void loop_##name(type *f)                                                                      \
    {                                                                                              \
        uint64_t sum = 0;                                                                          \
        for (uint64_t i = 0; i < CALLS; i++) {                                                     \
            uint64_t key = i * UINT64_C(0x9e3779b97f4a7c15);                                       \
            sum += (uint64_t)(each);                                                               \
        }                                                                                          \
        found += sum;                                                                              \
    }

#define HANDLE(layout)                                                                             \
    LOOP(layout##_query, struct tepal_filter, tepal_filter_query_u64(f, key))                      \
    LOOP(layout##_add, struct tepal_filter, tepal_filter_add_u64(f, key))

HANDLE(flat)
HANDLE(blocked)
HANDLE(paired)
LOOP(fingerprint_query, struct tepal_filter, tepal_filter_query_u64(f, key))
LOOP(blocked_atomic, struct tepal_filter,
     tepal_bloom_query_atomic(f, (struct tepal_digest){key, ~key}))
LOOP(blocked_inline, const struct tepal_direct, tepal_direct_blocked_query_u64(f, key))
LOOP(fingerprint_inline, const struct tepal_direct, tepal_direct_fingerprint_query_u64(f, key))

static struct tepal_filter *filter_of(enum tepal_kind_id kind, enum tepal_layout layout)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct tepal_filter *filter;
    params.kind = kind;
    params.layout = layout;
    params.cells = 48 * 512;
    params.hashes = kind == TEPAL_KIND_FINGERPRINT ? 2 : layout == TEPAL_LAYOUT_BLOCKED ? 6 : 7;
    params.fingerprint.bits = kind == TEPAL_KIND_FINGERPRINT ? 12 : 0;
    if (tepal_filter_create(&params, NULL, &filter, NULL) != TEPAL_OK) {
        fputs("instructions: a filter cannot be made\n", stderr);
        exit(1);
    }
    return filter;
}

int main(void)
{
    struct tepal_filter *flat = filter_of(TEPAL_KIND_BLOOM, TEPAL_LAYOUT_FLAT);
    struct tepal_filter *blocked = filter_of(TEPAL_KIND_BLOOM, TEPAL_LAYOUT_BLOCKED);
    struct tepal_filter *paired = filter_of(TEPAL_KIND_BLOOM, TEPAL_LAYOUT_PAIRED);
    struct tepal_filter *fingerprint = filter_of(TEPAL_KIND_FINGERPRINT, TEPAL_LAYOUT_FLAT);
    struct tepal_direct direct;
    struct tepal_direct buckets;
    if (tepal_direct_of(blocked, &direct) != TEPAL_OK ||
        tepal_direct_of(fingerprint, &buckets) != TEPAL_OK) {
        return 1;
    }
    /* Absent keys first: the filters are empty. */
    loop_flat_query(flat);
    loop_blocked_query(blocked);
    loop_blocked_inline(&direct);
    loop_blocked_atomic(blocked);
    loop_paired_query(paired);
    loop_fingerprint_query(fingerprint);
    if (buckets.way == TEPAL_DIRECT_FINGERPRINT) {
        loop_fingerprint_inline(&buckets);
    }
    if (found != 0) {
        fputs("instructions: an empty filter found a key\n", stderr);
        return 1;
    }
    loop_flat_add(flat);
    loop_blocked_add(blocked);
    loop_paired_add(paired);
    tepal_filter_free(flat);
    tepal_filter_free(blocked);
    tepal_filter_free(paired);
    tepal_filter_free(fingerprint);
    return 0;
}
