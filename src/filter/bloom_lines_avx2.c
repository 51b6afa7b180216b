/*
 * bloom_lines_avx2.c: blocked and paired loops with AVX2. A line is two vectors of four sectors; a
 * mask is one widening load and one variable shift for each. Built with -mavx2, run only where the
 * machine has it.
 */
#include "cells/bits.h"
#include "filter/bloom_kernels.h"

#if defined(__AVX2__)

#include <immintrin.h>

struct line_mask {
    __m256i low;  /* sectors 0..3 */
    __m256i high; /* sectors 4..7 */
};

/* 1 shifted by each of four cells' numbers; a shift by 64 (ADDRESS_SKIP) and more gives nothing. */
static inline __m256i four_bits(uint64_t cells, int half)
{
    __m128i bytes = _mm_cvtsi32_si128((int)(uint32_t)(cells >> (32 * half)));
    return _mm256_sllv_epi64(_mm256_set1_epi64x(1), _mm256_cvtepu8_epi64(bytes));
}

static inline struct line_mask line_mask_of(uint64_t cells)
{
    return (struct line_mask){four_bits(cells, 0), four_bits(cells, 1)};
}

static inline struct line_mask line_mask_or(struct line_mask a, struct line_mask b)
{
    return (struct line_mask){_mm256_or_si256(a.low, b.low), _mm256_or_si256(a.high, b.high)};
}

static inline bool line_holds(const void *line, struct line_mask mask)
{
    const __m256i *at = line;
    __m256i missing = _mm256_or_si256(_mm256_andnot_si256(_mm256_load_si256(at), mask.low),
                                      _mm256_andnot_si256(_mm256_load_si256(at + 1), mask.high));
    return _mm256_testz_si256(missing, missing);
}

static inline void line_set(void *line, struct line_mask mask)
{
    __m256i *at = line;
    _mm256_store_si256(at, _mm256_or_si256(_mm256_load_si256(at), mask.low));
    _mm256_store_si256(at + 1, _mm256_or_si256(_mm256_load_si256(at + 1), mask.high));
}

static inline uint64_t line_answers(const bool yes[64])
{
    /* A true bool is 1; its lowest bit is moved to where movemask looks. */
    __m256i low = _mm256_slli_epi16(_mm256_loadu_si256((const __m256i *)(const void *)yes), 7);
    __m256i high =
        _mm256_slli_epi16(_mm256_loadu_si256((const __m256i *)(const void *)(yes + 32)), 7);
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high)
                                                     << 32;
}

#include "filter/bloom_lines.h"

const struct bloom_kernels tepal_bloom_lines_avx2 = {lines_add, lines_query};

#else

const struct bloom_kernels tepal_bloom_lines_avx2 = {0};

#endif
