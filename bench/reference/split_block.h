/*
 * split_block.h: the split block Bloom filter (F. Putze, P. Sanders and J. Singler, Cache-, Hash-
 * and Space-Efficient Bloom Filters, 2007; the form that column stores use), with blocks of one
 * cache line: 512 bits in eight lanes of 64, one bit in each. k = 8.
 *
 * The block of a key: its hash, scaled. The bits: eight times six bits of the next state of a
 * multiplicative generator that starts with the hash.
 */
#ifndef TEPAL_BENCH_REFERENCE_SPLIT_BLOCK_H
#define TEPAL_BENCH_REFERENCE_SPLIT_BLOCK_H

#include "reference/common.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define SPLIT_WORDS 8

struct split_block {
    uint64_t *words;
    uint64_t blocks;
};

static inline struct split_block split_block_make(uint64_t bits)
{
    uint64_t blocks = bits / 512 + 1;
    return (struct split_block){ref_alloc((size_t)blocks * 64), blocks};
}

REF_INLINE uint64_t *split_block_at(const struct split_block *f, uint64_t hash)
{
    return f->words + ref_scale(hash, f->blocks) * SPLIT_WORDS;
}

#if defined(__AVX2__)

struct split_mask {
    __m256i low;
    __m256i high;
};

REF_INLINE struct split_mask split_mask_of(uint64_t hash)
{
    const __m256i ones = _mm256_set1_epi64x(1);
    __m256i bits = _mm256_set1_epi64x((long long)(hash * REF_MULTIPLIER));
    bits = _mm256_sllv_epi64(bits, _mm256_set_epi64x(18, 12, 6, 0));
    bits = _mm256_srli_epi32(bits, 26);
    __m256i low = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(bits));
    __m256i high = _mm256_cvtepu32_epi64(_mm256_extracti128_si256(bits, 1));
    return (struct split_mask){_mm256_sllv_epi64(ones, low), _mm256_sllv_epi64(ones, high)};
}

REF_INLINE bool split_block_holds(const uint64_t *block, uint64_t hash)
{
    struct split_mask m = split_mask_of(hash);
    const __m256i *at = (const __m256i *)(const void *)block;
    __m256i missing = _mm256_or_si256(_mm256_andnot_si256(_mm256_load_si256(at), m.low),
                                      _mm256_andnot_si256(_mm256_load_si256(at + 1), m.high));
    return _mm256_testz_si256(missing, missing);
}

REF_INLINE void split_block_set(uint64_t *block, uint64_t hash)
{
    struct split_mask m = split_mask_of(hash);
    __m256i *at = (__m256i *)(void *)block;
    _mm256_store_si256(at, _mm256_or_si256(_mm256_load_si256(at), m.low));
    _mm256_store_si256(at + 1, _mm256_or_si256(_mm256_load_si256(at + 1), m.high));
}

#else

REF_INLINE uint64_t split_bit(uint64_t hash, int lane)
{
    uint64_t bits = hash * REF_MULTIPLIER << lane / 2 * 6;
    return (uint64_t)1 << ((uint32_t)(bits >> lane % 2 * 32) >> 26);
}

REF_INLINE bool split_block_holds(const uint64_t *block, uint64_t hash)
{
    uint64_t missing = 0;
    for (int i = 0; i < SPLIT_WORDS; i++) {
        missing |= split_bit(hash, i) & ~block[i];
    }
    return missing == 0;
}

REF_INLINE void split_block_set(uint64_t *block, uint64_t hash)
{
    for (int i = 0; i < SPLIT_WORDS; i++) {
        block[i] |= split_bit(hash, i);
    }
}

#endif

REF_INLINE bool split_block_query(const struct split_block *f, uint64_t hash)
{
    return split_block_holds(split_block_at(f, hash), hash);
}

REF_INLINE void split_block_add(struct split_block *f, uint64_t hash)
{
    split_block_set(split_block_at(f, hash), hash);
}

#endif
