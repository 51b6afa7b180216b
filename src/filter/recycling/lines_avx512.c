/*
 * lines_avx512.c: the recycling filter's blocked loops with AVX-512: a line is one vector. Filters
 * with a second round of cells (k > 8) are for the loops with AVX2.
 */
#include "filter/recycling/internal.h"

#if defined(__AVX512VBMI2__)

#include "cells/bits.h"
#include "filter/lines/eight.h"

struct line_mask {
    __m512i sectors;
};

/* 1 shifted by each of the cells' numbers; a shift by 64 (ADDRESS_SKIP) and more gives nothing. */
static inline struct line_mask line_mask_of(uint64_t cells)
{
    __m128i bytes = _mm_cvtsi64_si128((long long)cells);
    return (struct line_mask){_mm512_sllv_epi64(eight_of(1), _mm512_cvtepu8_epi64(bytes))};
}

static inline struct line_mask line_mask_or(struct line_mask a, struct line_mask b)
{
    return (struct line_mask){_mm512_or_si512(a.sectors, b.sectors)};
}

static inline bool line_holds(const void *line, struct line_mask mask)
{
    __m512i missing = _mm512_andnot_si512(_mm512_load_si512(line), mask.sectors);
    return _mm512_test_epi64_mask(missing, missing) == 0;
}

static inline void line_set(void *line, struct line_mask mask)
{
    _mm512_store_si512(line, _mm512_or_si512(_mm512_load_si512(line), mask.sectors));
}

/* As in line_avx2.h. */
static inline uint32_t line_missing(const void *line, struct line_mask mask, bool two)
{
    __m512i missing = _mm512_andnot_si512(_mm512_load_si512(line), mask.sectors);
    return two ? (uint32_t)_mm512_reduce_add_epi64(_mm512_popcnt_epi64(missing))
               : bits_count_word(_mm512_test_epi64_mask(missing, missing));
}

static inline uint32_t line_shared(const void *line, struct line_mask mask, const void *other,
                                   bool two)
{
    struct line_mask both = {_mm512_and_si512(mask.sectors, _mm512_load_si512(other))};
    return line_missing(line, both, two);
}

/* message_of eight at a time. */
static inline bool line_places(uint64_t lines, const uint64_t *subsets, uint64_t ways,
                               const struct tepal_digest *digests, uint64_t *offsets,
                               uint64_t *cells)
{
    if (lines > EIGHT_MAX_RANGE) {
        return false;
    }
    struct eight d = eight_load(digests);
    __m512i way = _mm512_srli_epi64(_mm512_mul_epu32(d.hi, eight_of(ways)), 32);
    __m512i sectors = _mm512_i64gather_epi64(way, (const long long *)subsets, 8);
    __m512i cell = _mm512_and_si512(d.lo, eight_of(63 * ADDRESS_BYTES));
    _mm512_storeu_si512(cells, _mm512_or_si512(cell, sectors));
    _mm512_storeu_si512(offsets, _mm512_slli_epi64(eight_scale(d.hi, lines), 6));
    return true;
}

#define line_two(r) false
#include "filter/recycling/lines.h"

const struct recycling_kernels tepal_recycling_lines_avx512 = {lines_seen, lines_query,
                                                               line_seen_one, line_query_one};

#else

const struct recycling_kernels tepal_recycling_lines_avx512 = {0};

#endif
