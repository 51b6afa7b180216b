/*
 * lines_avx2.c: the blocked and paired loops over lines of 128 bits, with AVX2. A mask is
 * eight shifts in one vector of 32-bit lanes, packed to eight sectors of 16 bits. Built with
 * -mavx2, run only where the machine has it.
 */
#include "cells/bits.h"
#include "filter/counting/internal.h"

#if defined(__AVX2__)

#include <immintrin.h>

struct line_mask {
    __m128i bits;
};

/* A shift by 32 and more (ADDRESS_SKIP is 64) gives nothing. */
static inline struct line_mask line_mask_of(uint64_t cells)
{
    __m256i shifts = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)cells));
    __m256i wide = _mm256_sllv_epi32(_mm256_set1_epi32(1), shifts);
    return (struct line_mask){
        _mm_packus_epi32(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1))};
}

static inline struct line_mask line_mask_or(struct line_mask a, struct line_mask b)
{
    return (struct line_mask){_mm_or_si128(a.bits, b.bits)};
}

static inline bool line_holds(const void *line, struct line_mask mask)
{
    return _mm_testc_si128(_mm_load_si128(line), mask.bits);
}

static inline void line_set(void *line, struct line_mask mask)
{
    _mm_store_si128(line, _mm_or_si128(_mm_load_si128(line), mask.bits));
}

#define LINE_BYTES        16
#define LINE_SECTOR_CELLS 16
#define LINES_DIGESTS_ALONE
#include "filter/lines/loops.h"

const struct bloom_kernels tepal_counting_lines_avx2 = {.query = lines_query};

#else

const struct bloom_kernels tepal_counting_lines_avx2 = {0};

#endif
