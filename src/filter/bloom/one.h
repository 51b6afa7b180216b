/*
 * one.h: one key of a Bloom filter, a function for each layout, so that a call on the handle needs
 * one indirect call and nothing else. The lines and the flat layout are those of tepal/inline.h;
 * included by files that compile it in plain C, for AVX2 and, ONE_LINES_ALONE, for AVX-512.
 */
#include <tepal/inline.h>

#include "cells/bits.h"
#include "filter/bloom/internal.h"

static inline const struct tepal_bloom *one_of(const struct tepal_filter *filter)
{
    return (const struct tepal_bloom *)filter;
}

/* The calls of a layout, from its query and its addition. Unkeyed integers are hashed in them. */
#define ONE(layout, ask, set)                                                                      \
    static bool layout##_query(const struct tepal_filter *filter, struct tepal_digest d)           \
    {                                                                                              \
        return ask;                                                                                \
    }                                                                                              \
    static bool layout##_query_u64(const struct tepal_filter *filter, uint64_t key)                \
    {                                                                                              \
        struct tepal_digest d = tepal_direct_digest(DIRECT, key);                                  \
        return ask;                                                                                \
    }                                                                                              \
    static enum tepal_status layout##_add(struct tepal_filter *filter, struct tepal_digest d)      \
    {                                                                                              \
        (void)(set);                                                                               \
        filter_count_key(filter);                                                                  \
        return TEPAL_OK;                                                                           \
    }                                                                                              \
    static enum tepal_status layout##_add_u64(struct tepal_filter *filter, uint64_t key)           \
    {                                                                                              \
        struct tepal_digest d = tepal_direct_digest(DIRECT, key);                                  \
        (void)(set);                                                                               \
        filter_count_key(filter);                                                                  \
        return TEPAL_OK;                                                                           \
    }                                                                                              \
    static enum tepal_status layout##_test_add(struct tepal_filter *filter, struct tepal_digest d, \
                                               bool *was_present)                                  \
    {                                                                                              \
        bool present = ask;                                                                        \
        if (!present) {                                                                            \
            (void)(set);                                                                           \
        }                                                                                          \
        *was_present = present;                                                                    \
        filter_count_key(filter);                                                                  \
        return TEPAL_OK;                                                                           \
    }

#define DIRECT (&one_of(filter)->direct)

ONE(blocked, tepal_direct_blocked_query(DIRECT, d), (tepal_direct_blocked_set(DIRECT, d), 0))
ONE(paired, tepal_direct_paired_query(DIRECT, d), (tepal_direct_paired_set(DIRECT, d), 0))

#define CALLS(layout)                                                                              \
    {                                                                                              \
        layout##_query, layout##_query_u64, layout##_add, layout##_add_u64, layout##_test_add      \
    }

#ifndef ONE_LINES_ALONE

/* Slice i begins at floor(i m / k): the remainder of m / k is shared out as the slices go by. */
static inline bool partitioned_visit(const struct tepal_filter *filter, struct tepal_digest d,
                                     bool setting)
{
    const struct address *at = &one_of(filter)->at;
    const uint64_t size = at->cells / at->hashes;
    const uint64_t rest = at->cells % at->hashes;
    uint64_t start = 0;
    uint64_t share = 0;
    uint64_t step = ADDRESS_GOLDEN;
    for (uint32_t i = 0; i < at->hashes; i++) {
        uint64_t word = i == 0 ? d.hi : i == 1 ? d.lo : address_more(d, step += ADDRESS_GOLDEN);
        share += rest;
        uint64_t more = share >= at->hashes;
        share -= more ? at->hashes : 0;
        uint64_t position = start + tepal_place_scale(word, size + more);
        if (setting) {
            bits_set(filter->words, position);
        } else if (!bits_test(filter->words, position)) {
            return false;
        }
        start += size + more;
    }
    return true;
}

/* Distinct positions on the flat layout depend on each other. */
static inline bool distinct_visit(const struct tepal_filter *filter, struct tepal_digest d,
                                  bool setting)
{
    uint64_t positions[TEPAL_MAX_HASHES];
    uint32_t k = tepal_address_positions(&one_of(filter)->at, d, positions);
    for (uint32_t i = 0; i < k; i++) {
        if (setting) {
            bits_set(filter->words, positions[i]);
        } else if (!bits_test(filter->words, positions[i])) {
            return false;
        }
    }
    return true;
}

ONE(flat, tepal_direct_flat_query(DIRECT, d), (tepal_direct_flat_set(DIRECT, d), 0))
ONE(blocked_two, tepal_direct_blocked_two_query(DIRECT, d),
    (tepal_direct_blocked_two_set(DIRECT, d), 0))
ONE(paired_two, tepal_direct_paired_two_query(DIRECT, d),
    (tepal_direct_paired_two_set(DIRECT, d), 0))
ONE(partitioned, partitioned_visit(filter, d, false), partitioned_visit(filter, d, true))
ONE(distinct, distinct_visit(filter, d, false), distinct_visit(filter, d, true))

#define ONE_TABLE                                                                                  \
    {                                                                                              \
        [BLOOM_ONE_FLAT] = CALLS(flat), [BLOOM_ONE_PARTITIONED] = CALLS(partitioned),              \
        [BLOOM_ONE_BLOCKED] = CALLS(blocked), [BLOOM_ONE_PAIRED] = CALLS(paired),                  \
        [BLOOM_ONE_BLOCKED_TWO] = CALLS(blocked_two), [BLOOM_ONE_PAIRED_TWO] = CALLS(paired_two),  \
        [BLOOM_ONE_DISTINCT] = CALLS(distinct),                                                    \
    }

#endif
