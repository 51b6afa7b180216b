/*
 * match_avx2.c: eight links a register. A column of the header, spread over all lanes, is set
 * against the same column of eight masks: one load, one AND NOT, one OR a link of 256 bits.
 *
 * For the usual layouts, whole columns of yes-filter and no-filters of one column each, the number
 * of columns is known to the compiler: the spread header stays in registers and nothing branches.
 * All others go step by step.
 */
#include "filter/packet/internal.h"

#include "cells/bits.h"

#if defined(__AVX2__)

#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline))

/* 32 bits from memory to all lanes: the load does it, with no detour through other registers. */
INLINE __m256i spread(const void *column)
{
    return _mm256_castps_si256(_mm256_broadcast_ss(column));
}

/* What the header lacks of eight links in one column; `lanes` is that column of their masks. */
INLINE __m256i lacks(__m256i header, const uint32_t *lanes)
{
    return _mm256_andnot_si256(header, _mm256_loadu_si256((const __m256i *)(const void *)lanes));
}

/* All ones in the lanes where nothing is missing. */
INLINE __m256i complete(__m256i missing)
{
    return _mm256_cmpeq_epi32(missing, _mm256_setzero_si256());
}

INLINE uint64_t answer(__m256i found)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(found));
}

/* More than 64 links: 64 at a time. Most nodes have fewer, and their kernels need no stack. */
static __attribute__((noinline)) size_t by_64(packet_match *match,
                                              const struct tepal_header_layout *layout,
                                              const uint64_t *header, const uint32_t *table,
                                              size_t links, uint64_t *answers)
{
    size_t count = 0;
    for (; links > 64; links -= 64, table += (size_t)64 * layout->columns) {
        count += match(layout, header, table, 64, answers++);
    }
    return count + match(layout, header, table, links, answers);
}

/* 1 to 64 links, by what `block` says of eight. */
#define FOR_BLOCKS(columns, block)                                                                 \
    uint64_t bits = 0;                                                                             \
    _Pragma("GCC unroll 1") for (uint32_t at = 0; at < (uint32_t)links; at += 8)                   \
    {                                                                                              \
        bits |= (block) << at;                                                                     \
        table += (size_t)(columns)*TEPAL_HEADER_LANES;                                             \
    }                                                                                              \
    *answers = bits = _bzhi_u64(bits, (uint32_t)links);                                            \
    return bits_count_word(bits)

/* Eight links; `yes` columns of yes-filter, the others no-filters. */
INLINE uint64_t plain_block(const __m256i *header, const uint32_t *table, uint32_t columns,
                            uint32_t yes)
{
    __m256i missing = lacks(header[0], table);
    for (uint32_t c = 1; c < yes; c++) {
        missing = _mm256_or_si256(missing, lacks(header[c], table + c * TEPAL_HEADER_LANES));
    }
    __m256i found = complete(missing);
    for (uint32_t c = yes; c < columns; c++) {
        __m256i vetoed = complete(lacks(header[c], table + c * TEPAL_HEADER_LANES));
        found = _mm256_andnot_si256(vetoed, found);
    }
    return answer(found);
}

INLINE size_t match_plain(uint32_t columns, uint32_t yes, const uint64_t *words,
                          const uint32_t *table, size_t links, uint64_t *answers)
{
    __m256i header[TEPAL_MAX_HEADER_BITS / 32];
    for (uint32_t c = 0; c < columns; c++) {
        header[c] = spread((const char *)words + 4 * c);
    }
    FOR_BLOCKS(columns, plain_block(header, table, columns, yes));
}

static uint64_t any_block(const struct tepal_header_layout *layout, const uint32_t *value,
                          const uint32_t *table)
{
    __m256i found = _mm256_setzero_si256();
    for (uint32_t r = 0, s = 0; r < layout->regions; r++) {
        __m256i missing = _mm256_setzero_si256();
        for (; s < layout->first[r + 1]; s++) {
            const uint32_t *lanes = table + layout->column[s] * TEPAL_HEADER_LANES;
            missing = _mm256_or_si256(missing, lacks(spread(&value[s]), lanes));
        }
        found = r == 0 ? complete(missing) : _mm256_andnot_si256(complete(missing), found);
    }
    return answer(found);
}

static size_t match_any(const struct tepal_header_layout *layout, const uint64_t *header,
                        const uint32_t *table, size_t links, uint64_t *answers)
{
    uint32_t value[TEPAL_HEADER_STEPS];
    if (links - 1 >= 64) {
        return links == 0 ? 0 : by_64(match_any, layout, header, table, links, answers);
    }
    packet_values(layout, header, value);
    FOR_BLOCKS(layout->columns, any_block(layout, value, table));
}

/* The layouts that get a kernel of their own: so many columns, so many of them yes-filter. */
#define PLAIN_LAYOUTS(X)                                                                           \
    X(4, 4)                                                                                        \
    X(4, 3) X(4, 2) X(8, 8) X(8, 7) X(8, 6) X(8, 5) X(8, 4) X(16, 16) X(16, 14) X(16, 12)

#define KERNEL(columns, yes)                                                                       \
    static size_t plain_##columns##_##yes(const struct tepal_header_layout *layout,                \
                                          const uint64_t *header, const uint32_t *table,           \
                                          size_t links, uint64_t *answers)                         \
    {                                                                                              \
        if (links - 1 >= 64) { /* none, or more than 64 */                                         \
            return links == 0                                                                      \
                       ? 0                                                                         \
                       : by_64(plain_##columns##_##yes, layout, header, table, links, answers);    \
        }                                                                                          \
        return match_plain(columns, yes, header, table, links, answers);                           \
    }
PLAIN_LAYOUTS(KERNEL)

#define ENTRY(columns, yes) plain_##columns##_##yes,
packet_match *const tepal_packet_kernels[] = {tepal_packet_match_portable, match_any,
                                              PLAIN_LAYOUTS(ENTRY)};

uint8_t tepal_packet_choose_avx2(const struct tepal_header_layout *layout)
{
#define SHAPE(columns, yes) {columns, yes},
    static const uint8_t shape[][2] = {PLAIN_LAYOUTS(SHAPE)};
    for (size_t i = 0; i < sizeof shape / sizeof *shape && layout->plain; i++) {
        if (shape[i][0] == layout->columns && shape[i][1] == layout->first[1]) {
            return (uint8_t)(i + 2);
        }
    }
    return 1;
}

#else

packet_match *const tepal_packet_kernels[] = {tepal_packet_match_portable};

uint8_t tepal_packet_choose_avx2(const struct tepal_header_layout *layout)
{
    (void)layout;
    return 0;
}

#endif
