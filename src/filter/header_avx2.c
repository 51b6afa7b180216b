/*
 * header_avx2.c: eight links a register. A column of the header, spread over all lanes, is set
 * against the same column of eight masks: one load, one AND NOT, one OR a link of 256 bits. Four
 * registers of links go side by side where there are so many, so that a spread column serves 32.
 *
 * The loops are written once and compiled for every size, in three shapes: one region (Bloom), a
 * yes-filter and no-filters of a column each, and any other. The first two compare with the header
 * as it is. Each is a function of its own, small enough to need no stack.
 */
#include "filter/header.h"

#include "cells/bits.h"

#if defined(__AVX2__)

#include <immintrin.h>
#include <string.h>

const bool tepal_header_built_avx2 = true;

#define INLINE static inline __attribute__((always_inline))

enum shape { SHAPE_BLOOM, SHAPE_PLAIN, SHAPE_ANY };

/* What a call is about; the compiler sees through it. */
struct test {
    enum shape shape;
    uint32_t columns;
    const struct tepal_header_layout *layout;
    const void *value; /* of every step: 32 bits of the header */
};

/* Up to four registers of eight links. */
struct lanes {
    __m256i of[4];
};

INLINE struct lanes no_lanes(void)
{
    const __m256i zero = _mm256_setzero_si256();
    return (struct lanes){{zero, zero, zero, zero}};
}

/* The bits of step s, in column c, that the header lacks; added to what was missing before. */
INLINE void look(const struct test *t, uint32_t s, uint32_t c, const uint32_t *table,
                 uint32_t blocks, struct lanes *missing)
{
    int32_t column;
    memcpy(&column, (const char *)t->value + 4 * s, sizeof column);
    __m256i header = _mm256_set1_epi32(column);
    for (uint32_t b = 0; b < blocks; b++) {
        const uint32_t *at = table + (b * t->columns + c) * TEPAL_HEADER_LANES;
        __m256i mask = _mm256_loadu_si256((const __m256i *)(const void *)at);
        missing->of[b] = _mm256_or_si256(missing->of[b], _mm256_andnot_si256(header, mask));
    }
}

/* Those that a no-filter holds are found no more. */
INLINE void veto(const struct lanes *missing, uint32_t blocks, struct lanes *found)
{
    for (uint32_t b = 0; b < blocks; b++) {
        __m256i held = _mm256_cmpeq_epi32(missing->of[b], _mm256_setzero_si256());
        found->of[b] = _mm256_andnot_si256(held, found->of[b]);
    }
}

/* The answers for `blocks` blocks of eight links. */
INLINE uint32_t match_blocks(const struct test *t, const uint32_t *table, uint32_t blocks)
{
    uint32_t yes = t->shape == SHAPE_BLOOM ? t->columns : t->layout->first[1];
    struct lanes found = no_lanes();
    struct lanes missing = no_lanes();
    uint32_t s = 0;
    uint32_t answer = 0;
    for (; s < yes; s++) {
        look(t, s, s, table, blocks, &missing);
    }
    for (uint32_t b = 0; b < blocks; b++) {
        found.of[b] = _mm256_cmpeq_epi32(missing.of[b], _mm256_setzero_si256());
    }
    for (; t->shape == SHAPE_PLAIN && s < t->columns; s++) {
        missing = no_lanes();
        look(t, s, s, table, blocks, &missing);
        veto(&missing, blocks, &found);
    }
    for (uint32_t r = 1; t->shape == SHAPE_ANY && r < t->layout->regions; r++) {
        missing = no_lanes();
        for (; s < t->layout->first[r + 1]; s++) {
            look(t, s, t->layout->column[s], table, blocks, &missing);
        }
        veto(&missing, blocks, &found);
    }
    for (uint32_t b = 0; b < blocks; b++) {
        answer |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(found.of[b])) << (8 * b);
    }
    return answer;
}

INLINE size_t match_all(struct test test, const uint32_t *table, size_t links, uint64_t *answers)
{
    size_t blocks = (links + 7) / 8;
    size_t words = (size_t)test.columns * TEPAL_HEADER_LANES; /* of a block */
    size_t count = 0;
    for (; blocks > 0; answers++) {
        uint64_t bits = 0;
        size_t now = blocks < 8 ? blocks : 8;
        size_t at = 0;
        for (; at + 4 <= now; at += 4, table += 4 * words) {
            bits |= (uint64_t)match_blocks(&test, table, 4) << (8 * at);
        }
        for (; at < now; at++, table += words) {
            bits |= (uint64_t)match_blocks(&test, table, 1) << (8 * at);
        }
        blocks -= now;
        bits &= blocks == 0 ? header_last(links) : UINT64_MAX;
        *answers = bits;
        count += bits_count_word(bits);
    }
    return count;
}

#define KERNEL(name, shape, bits)                                                                  \
    static __attribute__((noinline)) size_t name(const struct tepal_header_layout *layout,         \
                                                 const void *value, const uint32_t *table,         \
                                                 size_t links, uint64_t *answers)                  \
    {                                                                                              \
        return match_all((struct test){shape, (bits) / 32, layout, value}, table, links, answers); \
    }

KERNEL(bloom_128, SHAPE_BLOOM, 128)
KERNEL(bloom_256, SHAPE_BLOOM, 256)
KERNEL(bloom_512, SHAPE_BLOOM, 512)
KERNEL(plain_128, SHAPE_PLAIN, 128)
KERNEL(plain_256, SHAPE_PLAIN, 256)
KERNEL(plain_512, SHAPE_PLAIN, 512)
KERNEL(any_128, SHAPE_ANY, 128)
KERNEL(any_256, SHAPE_ANY, 256)
KERNEL(any_512, SHAPE_ANY, 512)

static __attribute__((noinline)) size_t match_any(const struct tepal_header_layout *layout,
                                                  const uint64_t *header, const uint32_t *table,
                                                  size_t links, uint64_t *answers)
{
    uint32_t value[TEPAL_HEADER_STEPS];
    header_values(layout, header, value);
    return layout->bits == 256   ? any_256(layout, value, table, links, answers)
           : layout->bits == 512 ? any_512(layout, value, table, links, answers)
                                 : any_128(layout, value, table, links, answers);
}

size_t tepal_header_match_avx2(const struct tepal_header_layout *layout, const uint64_t *header,
                               const uint32_t *table, size_t links, uint64_t *answers)
{
    if (layout->regions == 1) {
        return layout->bits == 256   ? bloom_256(layout, header, table, links, answers)
               : layout->bits == 512 ? bloom_512(layout, header, table, links, answers)
                                     : bloom_128(layout, header, table, links, answers);
    }
    if (layout->plain) {
        return layout->bits == 256   ? plain_256(layout, header, table, links, answers)
               : layout->bits == 512 ? plain_512(layout, header, table, links, answers)
                                     : plain_128(layout, header, table, links, answers);
    }
    return match_any(layout, header, table, links, answers);
}

#else

const bool tepal_header_built_avx2 = false;

size_t tepal_header_match_avx2(const struct tepal_header_layout *layout, const uint64_t *header,
                               const uint32_t *table, size_t links, uint64_t *answers)
{
    return tepal_header_match_portable(layout, header, table, links, answers);
}

#endif
