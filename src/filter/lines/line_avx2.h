/*
 * line_avx2.h: the operations on a line of 512 bits with AVX2, for the loops that are written once
 * (loops.h, recycling/lines.h). A line is two vectors of four sectors; a mask is one shuffle
 * and one variable shift for each. Only for files that are built with -mavx2.
 */
#ifndef TEPAL_SRC_FILTER_LINES_LINE_AVX2_H
#define TEPAL_SRC_FILTER_LINES_LINE_AVX2_H

#include <immintrin.h>

#include "address/address.h"
#include "cells/bits.h"

struct line_mask {
    __m256i low;  /* sectors 0..3 */
    __m256i high; /* sectors 4..7 */
};

/*
 * 1 shifted by each of the cells' numbers; a shift by 64 (ADDRESS_SKIP) and more gives nothing. All
 * eight bytes go to both halves of a vector; shuffles bring each to a lane of its own.
 */
static inline struct line_mask line_mask_of(uint64_t cells)
{
    const __m256i one = _mm256_set1_epi64x(1);
    const __m256i first = _mm256_setr_epi64x(-256, -255, -254, -253);
    const __m256i last = _mm256_setr_epi64x(-252, -251, -250, -249);
    __m256i all = _mm256_set1_epi64x((long long)cells);
    return (struct line_mask){_mm256_sllv_epi64(one, _mm256_shuffle_epi8(all, first)),
                              _mm256_sllv_epi64(one, _mm256_shuffle_epi8(all, last))};
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

/*
 * How many bits of the mask are not set in the line; `two` (known at compile time) if a sector may
 * have two of them.
 */
static inline uint32_t line_missing(const void *line, struct line_mask mask, bool two)
{
    const __m256i *at = line;
    __m256i low = _mm256_andnot_si256(_mm256_load_si256(at), mask.low);
    __m256i high = _mm256_andnot_si256(_mm256_load_si256(at + 1), mask.high);
    if (!two) {
        __m256i none = _mm256_setzero_si256();
        __m256i pairs =
            _mm256_packs_epi32(_mm256_cmpeq_epi64(low, none), _mm256_cmpeq_epi64(high, none));
        /* two 16-bit lanes, four bytes, a sector: all ones where nothing is missing */
        return 8 - bits_count_word((uint32_t)_mm256_movemask_epi8(pairs)) / 4;
    }
    uint64_t word[8];
    _mm256_storeu_si256((__m256i *)(void *)word, low);
    _mm256_storeu_si256((__m256i *)(void *)(word + 4), high);
    uint32_t missing = 0;
    for (int s = 0; s < 8; s++) {
        missing += bits_count_word(word[s]);
    }
    return missing;
}

#endif
