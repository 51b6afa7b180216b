/*
 * eight.h: eight keys at a time, a 64-bit lane of a vector each: the arithmetic of tepal/place.h
 * and address/address.h with AVX-512, the same bits. Only for files that are built for it
 * (*_avx512.c).
 *
 * A hash takes three low products of 64 bits, which AVX-512 has; a word that is scaled to a range
 * below 2^32 takes two products of halves, and one of the further words of a digest four.
 */
#ifndef TEPAL_SRC_FILTER_LINES_EIGHT_H
#define TEPAL_SRC_FILTER_LINES_EIGHT_H

#include <immintrin.h>

#include "filter/bloom/kernels.h"

#define EIGHT               8
#define EIGHT_ALWAYS_INLINE static inline __attribute__((always_inline))

/* Ranges that eight_scale can take. */
#define EIGHT_MAX_RANGE UINT32_MAX

struct eight {
    __m512i lo;
    __m512i hi;
};

EIGHT_ALWAYS_INLINE __m512i eight_of(uint64_t word)
{
    return _mm512_set1_epi64((long long)word);
}

/* tepal_place_digest */
EIGHT_ALWAYS_INLINE struct eight eight_mix(__m512i x, uint64_t a, uint64_t b)
{
    x = _mm512_xor_si512(x, eight_of(a));
    x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 30));
    x = _mm512_mullo_epi64(x, eight_of(TEPAL_PLACE_C1));
    x = _mm512_ternarylogic_epi64(x, _mm512_srli_epi64(x, 27), eight_of(b), 0x96); /* all three ^ */
    x = _mm512_mullo_epi64(x, eight_of(TEPAL_PLACE_C2));
    x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 31));
    return (struct eight){_mm512_mullo_epi64(x, eight_of(TEPAL_PLACE_C3)), x};
}

/* tepal_place_scale, for a range of up to EIGHT_MAX_RANGE */
EIGHT_ALWAYS_INLINE __m512i eight_scale(__m512i word, uint64_t range)
{
    __m512i low = _mm512_mul_epu32(word, eight_of(range));
    __m512i high = _mm512_mul_epu32(_mm512_srli_epi64(word, 32), eight_of(range));
    return _mm512_srli_epi64(_mm512_add_epi64(high, _mm512_srli_epi64(low, 32)), 32);
}

/* address_more: both halves of (lo ^ step) * (hi | 1), one exclusive-or the other */
EIGHT_ALWAYS_INLINE __m512i eight_more(struct eight d, uint64_t step)
{
    const __m512i half = eight_of(UINT32_MAX);
    __m512i a = _mm512_xor_si512(d.lo, eight_of(step));
    __m512i b = _mm512_or_si512(d.hi, eight_of(1));
    __m512i a_high = _mm512_srli_epi64(a, 32);
    __m512i b_high = _mm512_srli_epi64(b, 32);
    __m512i low = _mm512_mul_epu32(a, b);
    __m512i middle = _mm512_add_epi64(_mm512_mul_epu32(a_high, b), _mm512_srli_epi64(low, 32));
    __m512i other = _mm512_add_epi64(_mm512_mul_epu32(a, b_high), _mm512_and_si512(middle, half));
    __m512i high =
        _mm512_add_epi64(_mm512_mul_epu32(a_high, b_high), _mm512_srli_epi64(middle, 32));
    high = _mm512_add_epi64(high, _mm512_srli_epi64(other, 32));
    low = _mm512_mask_blend_epi32(0xaaaa, low, _mm512_slli_epi64(other, 32));
    return _mm512_xor_si512(high, low);
}

/* Word i of the digests. */
EIGHT_ALWAYS_INLINE __m512i eight_word(struct eight d, uint32_t i)
{
    return i == 0 ? d.hi : i == 1 ? d.lo : eight_more(d, i * ADDRESS_GOLDEN);
}

EIGHT_ALWAYS_INLINE struct eight eight_load(const struct tepal_digest *digests)
{
    __m512i a = _mm512_loadu_si512(digests);
    __m512i b = _mm512_loadu_si512(digests + 4);
    const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    const __m512i odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
    return (struct eight){_mm512_permutex2var_epi64(a, even, b),
                          _mm512_permutex2var_epi64(a, odd, b)};
}

/*
 * The digests of a group, the keys from `first` on: those of strings are made in `room`, all at
 * once, as hashing them by vectors sorts them first. Integers, which are hashed where they are
 * wanted, have none yet. `integers`, which repeats the source's form, is a constant in every loop;
 * strings and digests share one.
 */
EIGHT_ALWAYS_INLINE const struct tepal_digest *eight_group(const struct bloom_source *source,
                                                           bool integers, size_t first,
                                                           struct tepal_digest room[BLOOM_GROUP])
{
    tepal_filter_request_keys(source, first);
    if (integers) {
        return NULL;
    }
    if (source->form == BLOOM_DIGESTS) {
        return source->digests + first;
    }
    tepal_filter_hash_strings(source, first, BLOOM_GROUP, room);
    return room;
}

/* Those of eight keys of the group, from `slot` on. */
EIGHT_ALWAYS_INLINE struct eight eight_digests(const struct bloom_source *source, bool integers,
                                               size_t first, const struct tepal_digest *group,
                                               size_t slot)
{
    if (integers) {
        return eight_mix(_mm512_loadu_si512(source->integers + first + slot),
                         source->hasher.integer[0], source->hasher.integer[1]);
    }
    return eight_load(group + slot);
}

/* The keys from `first` on, as a source of their own. */
static inline struct bloom_source source_from(const struct bloom_source *source, size_t first)
{
    struct bloom_source rest = *source;
    switch (source->form) {
    case BLOOM_DIGESTS:
        rest.digests += first;
        break;
    case BLOOM_INTEGERS:
        rest.integers += first;
        break;
    case BLOOM_STRINGS:
        rest.count -= first;
        if (source->pointers != NULL) {
            rest.pointers += first;
            rest.lens += first;
        } else if (source->offsets != NULL) {
            rest.offsets += first;
        } else {
            rest.bytes += source->width == 0 ? 0 : first * source->width;
        }
        break;
    }
    return rest;
}

#endif
