/*
 * lines_avx2.c: the blocked loops with AVX2: a line is two vectors of four sectors, the
 * bits of a key in it are two shifts for each: by the cell alone (every bit) and with its role left
 * in (a reset shifts beyond the word: the bits to set). Built with -mavx2, run only where the
 * machine has it.
 */
#include "cells/bits.h"
#include "filter/generalized/kernels.h"

#if defined(__AVX2__)

#include <immintrin.h>

struct line_bits {
    __m256i all[2]; /* sectors 0..3, 4..7 */
    __m256i set[2];
};

static inline struct line_bits line_bits_of(uint64_t cells)
{
    struct line_bits bits;
    const __m256i one = _mm256_set1_epi64x(1);
    const __m256i no_role = _mm256_set1_epi64x(ROLE_RESET - 1);
    for (int half = 0; half < 2; half++) {
        __m128i bytes = _mm_cvtsi32_si128((int)(uint32_t)(cells >> (32 * half)));
        __m256i shifts = _mm256_cvtepu8_epi64(bytes);
        bits.all[half] = _mm256_sllv_epi64(one, _mm256_and_si256(shifts, no_role));
        bits.set[half] = _mm256_sllv_epi64(one, shifts);
    }
    return bits;
}

static inline __m256i half_inverted(const void *line, const struct line_bits *bits, int half)
{
    const __m256i *at = line;
    return _mm256_xor_si256(_mm256_and_si256(_mm256_load_si256(at + half), bits->all[half]),
                            bits->set[half]);
}

static inline bool line_matches(const void *line, struct line_bits bits)
{
    __m256i inverted =
        _mm256_or_si256(half_inverted(line, &bits, 0), half_inverted(line, &bits, 1));
    return _mm256_testz_si256(inverted, inverted);
}

static inline uint32_t line_inverted(const void *line, struct line_bits bits)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i low = _mm256_cmpeq_epi64(half_inverted(line, &bits, 0), zero);
    __m256i high = _mm256_cmpeq_epi64(half_inverted(line, &bits, 1), zero);
    int same = _mm256_movemask_pd(_mm256_castsi256_pd(low)) |
               _mm256_movemask_pd(_mm256_castsi256_pd(high)) << 4;
    return ADDRESS_SECTORS - bits_count_word((uint64_t)(uint32_t)same);
}

static inline void line_put(void *line, struct line_bits bits)
{
    __m256i *at = line;
    for (int half = 0; half < 2; half++) {
        __m256i old = _mm256_andnot_si256(bits.all[half], _mm256_load_si256(at + half));
        _mm256_store_si256(at + half, _mm256_or_si256(old, bits.set[half]));
    }
}

#include "filter/generalized/lines.h"

const struct generalized_kernels tepal_generalized_lines_avx2 = {lines_add, lines_query};

#else

const struct generalized_kernels tepal_generalized_lines_avx2 = {0};

#endif
