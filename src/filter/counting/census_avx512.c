/*
 * census_avx512.c: all counters of 4 bits and their bits, eight words of counters at a time. One
 * instruction takes 64 chosen bits of eight words, another tells which bytes are not 0: the bits
 * that a vector of counters should have, and those that it asks for, even and odd ones apart.
 * Counters of 8 bits and what is left over of whole lines take AVX2's loops.
 */
#include "filter/counting/internal.h"

#include <string.h>

#include "base/processor.h"

#ifdef __AVX512BITALG__

#include <immintrin.h>

#define VECTORS 4                      /* of counters, for the bits of a line */
#define GROUP   ((size_t)1 << 16)      /* lines whose 256 bytes each add up to less than 2^32 */
#define LOWS    _mm512_set1_epi8(0x0f) /* the even counters of a vector */
#define HIGHS   _mm512_set1_epi8((char)0xf0)

/* Which bits of eight words the counters of a vector have, by byte; and from which word each is. */
struct places {
    __m512i even[VECTORS];
    __m512i odd[VECTORS];
    __m512i word[VECTORS];
};

static struct places places_of(bool spread)
{
    struct places places;
    for (size_t v = 0; v < VECTORS; v++) {
        uint8_t even[64];
        uint8_t odd[64];
        uint64_t word[8];
        for (size_t w = 0; w < 8; w++) {
            size_t quarter = spread ? v : w % 4; /* of a word of bits: a word of counters */
            word[w] = spread ? w : 2 * v + w / 4;
            for (size_t byte = 0; byte < 8; byte++) {
                even[8 * w + byte] = (uint8_t)(16 * quarter + 2 * byte);
                odd[8 * w + byte] = (uint8_t)(16 * quarter + 2 * byte + 1);
            }
        }
        memcpy(&places.even[v], even, sizeof even);
        memcpy(&places.odd[v], odd, sizeof odd);
        memcpy(&places.word[v], word, sizeof word);
    }
    return places;
}

/* Counters of a line that are at their limit: rarely there are any. */
static uint64_t stuck_in(const uint64_t *words)
{
    uint64_t stuck = 0;
    for (size_t v = 0; v < VECTORS; v++) {
        __m512i x = _mm512_loadu_si512(words + 8 * v);
        __mmask64 low = _mm512_cmpeq_epi8_mask(_mm512_and_si512(x, LOWS), LOWS);
        __mmask64 high = _mm512_cmpge_epu8_mask(x, HIGHS);
        stuck += bits_count_word(low) + bits_count_word(high);
    }
    return stuck;
}

/* So many lines, at most GROUP. Adds to the sums; returns the bits that are wrong. */
static inline uint64_t group_of(const uint64_t *words, const uint64_t *bits, size_t lines,
                                bool spread, const struct places *places,
                                struct counting_sums *sums)
{
    const __m512i one = _mm512_set1_epi8(1);
    __m512i ones = _mm512_setzero_si512();
    __m512i lows = _mm512_setzero_si512();  /* sums of the even counters ... */
    __m512i bytes = _mm512_setzero_si512(); /* ... and of these + 16 times the odd ones */
    __mmask64 wrong = 0;
    for (size_t i = 0; i < lines; i++) {
        __m512i line = _mm512_loadu_si512(bits + 8 * i);
        __m512i most_low = _mm512_setzero_si512();
        __m512i most = _mm512_setzero_si512();
        processor_request(bits + 8 * i, PROCESSOR_AHEAD / VECTORS);
        ones = _mm512_add_epi64(ones, _mm512_popcnt_epi64(line));
#pragma GCC unroll 1 /* there are too few registers for all places */
        for (size_t v = 0; v < VECTORS; v++) {
            __m512i x = _mm512_loadu_si512(words + 32 * i + 8 * v);
            __m512i low = _mm512_and_si512(x, LOWS);
            processor_request(words + 32 * i + 8 * v, PROCESSOR_AHEAD);
            __m512i from = spread ? line : _mm512_permutexvar_epi64(places->word[v], line);
            __mmask64 even = _mm512_bitshuffle_epi64_mask(from, places->even[v]);
            __mmask64 odd = _mm512_bitshuffle_epi64_mask(from, places->odd[v]);
            wrong |= even ^ _mm512_test_epi8_mask(x, LOWS);
            wrong |= odd ^ _mm512_test_epi8_mask(x, HIGHS);
            lows = _mm512_dpbusd_epi32(lows, low, one);
            bytes = _mm512_dpbusd_epi32(bytes, x, one);
            most_low = _mm512_max_epu8(most_low, low);
            most = _mm512_max_epu8(most, x);
        }
        if ((_mm512_cmpeq_epi8_mask(most_low, LOWS) | _mm512_cmpge_epu8_mask(most, HIGHS)) != 0) {
            sums->stuck += stuck_in(words + 32 * i);
        }
    }
    uint64_t low = (uint32_t)_mm512_reduce_add_epi32(lows);
    uint64_t all = (uint32_t)_mm512_reduce_add_epi32(bytes);
    sums->sum += low + (all - low) / 16;
    sums->ones += (uint64_t)_mm512_reduce_add_epi64(ones);
    return wrong;
}

static bool agrees(const uint64_t *words, const uint64_t *bits, size_t count, bool spread,
                   struct counting_sums *sums)
{
    const struct places places = places_of(spread);
    const size_t lines = count / 8;
    struct counting_sums rest;
    uint64_t wrong = 0;
    *sums = (struct counting_sums){0, 0, 0};
    for (size_t i = 0; i < lines; i += GROUP) {
        size_t here = lines - i < GROUP ? lines - i : GROUP;
        wrong |= spread ? group_of(words + 32 * i, bits + 8 * i, here, true, &places, sums)
                        : group_of(words + 32 * i, bits + 8 * i, here, false, &places, sums);
    }
    bool same = tepal_counting_census_avx2.agrees(words + 32 * lines, bits + 8 * lines,
                                                  count - 8 * lines, spread, &rest);
    counting_sums_add(sums, rest);
    return same && wrong == 0;
}

static struct counting_sums sums_of(const uint64_t *words, size_t count, uint32_t wide)
{
    return tepal_counting_census_avx2.sums(words, count, wide);
}

const struct counting_census tepal_counting_census_avx512 = {sums_of, agrees};

#else

static struct counting_sums sums_of(const uint64_t *words, size_t count, uint32_t wide)
{
    return tepal_counting_census_portable.sums(words, count, wide);
}

static bool agrees(const uint64_t *words, const uint64_t *bits, size_t count, bool spread,
                   struct counting_sums *sums)
{
    return tepal_counting_census_portable.agrees(words, bits, count, spread, sums);
}

const struct counting_census tepal_counting_census_avx512 = {sums_of, agrees};

#endif
