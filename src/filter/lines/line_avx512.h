/*
 * line_avx512.h: lines of 512 bits with AVX-512: groups of 64 keys, of which eight at a time are
 * placed (eight.h), and a line is one vector. For loops that ask whole groups (loops_avx512.c,
 * chain/wave_avx512.c), of keys with one round of cells in filters of less than 2^32 lines.
 */
#ifndef TEPAL_SRC_FILTER_LINES_LINE_AVX512_H
#define TEPAL_SRC_FILTER_LINES_LINE_AVX512_H

#include <string.h>

#include "cells/bits.h"
#include "filter/lines/eight.h"

#define GROUP BLOOM_GROUP

/* What is the same for all keys of a batch in their first lines, or in their second ones. */
struct line_rule {
    char *lines;
    uint64_t count;
    uint64_t ways;   /* to choose the sectors, up to 70: ... */
    __m512i none[2]; /* ... a byte for each, with the sectors that are not chosen */
};

static inline struct line_rule rule_of(const struct address *at, const uint64_t *words,
                                       uint32_t cells)
{
    const uint64_t *subsets = tepal_address_subsets[cells];
    uint8_t none[2 * 64] = {0};
    struct line_rule rule = {.lines = (char *)(uintptr_t)words, /* written by additions alone */
                             .count = at->lines,
                             .ways = tepal_address_subset_count[cells]};
    for (size_t i = 0; i < rule.ways; i += EIGHT) {
        __mmask8 here = (__mmask8)_bzhi_u32(UINT8_MAX, (uint32_t)(rule.ways - i));
        __m512i skips = _mm512_maskz_loadu_epi64(here, subsets + i);
        uint64_t bytes = _mm512_test_epi8_mask(skips, skips);
        memcpy(none + i, &bytes, sizeof bytes);
    }
    rule.none[0] = _mm512_loadu_si512(none);
    rule.none[1] = _mm512_loadu_si512(none + 64);
    return rule;
}

/* The lines of a group, by their offsets in bytes, and the keys' cells in them. */
struct line_group {
    uint64_t offset[GROUP] __attribute__((aligned(64)));
    uint64_t cells[GROUP];
};

/* Eight keys: the offsets of their lines, and their cells, to rows of eight that are aligned. */
EIGHT_ALWAYS_INLINE void place_at(uint64_t *offsets, uint64_t *cells, const struct line_rule *rule,
                                  __m512i line, __m512i line_word, __m512i cell_word)
{
    const __m512i spread = _mm512_set4_epi32(0x08080808, 0x08080808, 0, 0); /* lanes of 128 bits */
    __m512i way = _mm512_srli_epi64(_mm512_mul_epu32(line_word, eight_of(rule->ways)), 32);
    __m512i none = _mm512_permutex2var_epi8(rule->none[0], way, rule->none[1]);
    __mmask64 skip = _mm512_test_epi8_mask(_mm512_shuffle_epi8(none, spread),
                                           eight_of(UINT64_C(0x8040201008040201)));
    __m512i numbers = _mm512_and_si512(cell_word, eight_of(63 * ADDRESS_BYTES));
    numbers = _mm512_mask_mov_epi8(numbers, skip, _mm512_set1_epi8(ADDRESS_SKIP));
    _mm512_store_si512(offsets, _mm512_slli_epi64(line, 6));
    _mm512_store_si512(cells, numbers);
}

/* The same, of this group from `slot` on. */
EIGHT_ALWAYS_INLINE void place(struct line_group *group, size_t slot, const struct line_rule *rule,
                               __m512i line, __m512i line_word, __m512i cell_word)
{
    place_at(group->offset + slot, group->cells + slot, rule, line, line_word, cell_word);
}

EIGHT_ALWAYS_INLINE void place_first(struct line_group *group, size_t slot,
                                     const struct line_rule *rule, struct eight d)
{
    place(group, slot, rule, eight_scale(d.hi, rule->count), d.hi, d.lo);
}

EIGHT_ALWAYS_INLINE void request(const struct line_group *group, size_t slot,
                                 const struct line_rule *rule)
{
    __builtin_prefetch(rule->lines + group->offset[slot]);
}

/* A bit for each chosen sector; a shift by 64 (ADDRESS_SKIP) and more gives nothing. */
EIGHT_ALWAYS_INLINE __m512i mask_of(const struct line_group *group, size_t slot)
{
    __m128i bytes = _mm_cvtsi64_si128((long long)group->cells[slot]);
    return _mm512_sllv_epi64(eight_of(1), _mm512_cvtepu8_epi64(bytes));
}

/* The sectors of a key's line that do not have its cell: none if the line holds it. */
EIGHT_ALWAYS_INLINE uint8_t lacks(const struct line_group *group, size_t slot,
                                  const struct line_rule *rule)
{
    __m512i line = _mm512_load_si512(rule->lines + group->offset[slot]);
    __m512i missing = _mm512_andnot_si512(line, mask_of(group, slot));
    return _mm512_test_epi64_mask(missing, missing);
}

EIGHT_ALWAYS_INLINE uint64_t holds(const struct line_group *group, size_t slot,
                                   const struct line_rule *rule)
{
    return lacks(group, slot, rule) == 0;
}

/* The answers of a group: a byte for each, with what its line lacks. */
EIGHT_ALWAYS_INLINE uint64_t none_lack(const uint8_t lacking[GROUP])
{
    __m512i bytes = _mm512_loadu_si512(lacking);
    return _mm512_testn_epi8_mask(bytes, bytes);
}

EIGHT_ALWAYS_INLINE void set(const struct line_group *group, size_t slot,
                             const struct line_rule *rule)
{
    void *line = rule->lines + group->offset[slot];
    _mm512_store_si512(line, _mm512_or_si512(_mm512_load_si512(line), mask_of(group, slot)));
}

#endif
