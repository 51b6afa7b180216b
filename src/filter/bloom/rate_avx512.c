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

static void count_whole(const struct rate_lines *l, struct rate_ones *ones)
{
    const uint64_t *words = l->bits + l->first * ADDRESS_SECTORS;
    uint64_t counts[RATE_LANES];
    for (uint32_t i = 0; i < RATE_LANES; i++) {
        __m512i line = _mm512_popcnt_epi64(_mm512_loadu_si512(words + i * ADDRESS_SECTORS));
        _mm_storel_epi64((__m128i *)(void *)&counts[i], _mm512_cvtepi64_epi8(line));
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
    const __m512i lines = _mm512_setr_epi64(0, 8, 16, 24, 32, 40, 48, 56);
    const uint64_t *words = l->bits + l->first * ADDRESS_SECTORS;
    for (uint32_t s = 0; s < ADDRESS_SECTORS; s++) {
        __m512i sector = _mm512_i64gather_epi64(lines, (const long long *)(words + s), 8);
        __m512i both = _mm512_and_si512(sector, _mm512_ror_epi64(sector, 1));
        rate_lanes n = ones->sector[s];
        rate_lanes neighbours = (rate_lanes)_mm512_cvtepi64_pd(_mm512_popcnt_epi64(both));
        __m512d chance = (__m512d)((n - 1 + neighbours / n) / 64);
        __mmask8 some = _mm512_test_epi64_mask(sector, sector);
        second->sector[s] = (rate_lanes)_mm512_maskz_mov_pd(some, chance);
    }
}

static void rates(const struct rate_lines *l, uint32_t cells, rate_lanes *rates)
{
    struct rate_ones ones;
    struct rate_ones second;
    if (l->count < RATE_LANES || l->at->sector_cells != 64) {
        tepal_rate_popcnt(l, cells, rates);
        return;
    }
    count_whole(l, &ones);
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
