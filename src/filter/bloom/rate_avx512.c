/*
 * rate_avx512.c: rates of eight lines: one instruction counts the sectors of each, one sorts the
 * counts by sectors, and the sums are made in registers.
 */
#include "filter/bloom/rate.h"

#if defined(__AVX512VPOPCNTDQ__)

#include <immintrin.h>

/* Sectors of eight lines, a byte each, line by line: now sector by sector. */
static __m512i by_sector(__m512i by_line)
{
    const __m512i bytes = _mm512_set1_epi64(0x3830282018100800);
    const __m512i sector = _mm512_mullo_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7),
                                              _mm512_set1_epi64(0x0101010101010101));
    return _mm512_permutexvar_epi8(_mm512_add_epi8(bytes, sector), by_line);
}

/* Of eight lines, how many bits each sector has set; if `beside`, of those whose lower one is. */
static void count_whole(const struct rate_lines *l, bool beside, struct rate_ones *ones)
{
    const uint32_t size = l->at->sector_cells;
    const __m512i *lines = (const void *)(l->bits + l->first * size * ADDRESS_SECTORS / 64);
    uint64_t counts[RATE_LANES];
    if (size == 64) {
        for (uint32_t i = 0; i < RATE_LANES; i++) {
            __m512i line = _mm512_loadu_si512(lines + i);
            line = beside ? _mm512_and_si512(line, _mm512_ror_epi64(line, 1)) : line;
            line = _mm512_popcnt_epi64(line);
            _mm_storel_epi64((__m128i *)(void *)&counts[i], _mm512_cvtepi64_epi8(line));
        }
    } else { /* 16: four lines in a vector */
        for (uint32_t i = 0; i < RATE_LANES; i += 4) {
            __m512i four = _mm512_loadu_si512(lines + i / 4);
            __m512i lower =
                _mm512_or_si512(_mm512_srli_epi16(four, 1), _mm512_slli_epi16(four, 15));
            four = _mm512_popcnt_epi16(beside ? _mm512_and_si512(four, lower) : four);
            _mm256_storeu_si256((__m256i *)(void *)&counts[i], _mm512_cvtepi16_epi8(four));
        }
    }
    _mm512_storeu_si512(counts, by_sector(_mm512_loadu_si512(counts)));
    for (uint32_t s = 0; s < ADDRESS_SECTORS; s++) {
        __m128i sector = _mm_loadl_epi64((const __m128i *)(const void *)&counts[s]);
        ones->sector[s] = (rate_lanes)_mm512_cvtepi64_pd(_mm512_cvtepu8_epi64(sector));
    }
}

/* rate_seconds */
static void second_whole(const struct rate_lines *l, const struct rate_ones *ones,
                         struct rate_ones *second)
{
    count_whole(l, true, second);
    for (uint32_t s = 0; s < ADDRESS_SECTORS; s++) {
        rate_lanes n = ones->sector[s];
        rate_lanes chance = (n - 1 + second->sector[s] / n) / l->at->sector_cells;
        __mmask8 some = _mm512_cmp_pd_mask((__m512d)n, _mm512_setzero_pd(), _CMP_GT_OQ);
        second->sector[s] = (rate_lanes)_mm512_maskz_mov_pd(some, (__m512d)chance);
    }
}

static void rates(const struct rate_lines *l, uint32_t cells, rate_lanes *rates)
{
    struct rate_ones ones;
    struct rate_ones second;
    if (l->count < RATE_LANES) {
        tepal_rate_popcnt(l, cells, rates);
        return;
    }
    count_whole(l, false, &ones);
    if (rate_has_second(l, cells)) {
        second_whole(l, &ones, &second);
        rate_of(l, &ones, &second, cells, address_chosen(cells), rates);
    } else {
        rate_of(l, &ones, NULL, cells, ADDRESS_SECTORS, rates); /* all steps, in registers */
    }
}

rate_kernel *const tepal_rate_avx512 = rates;

#else

rate_kernel *const tepal_rate_avx512 = NULL;

#endif
