/*
 * split_block.h: the split block Bloom filter (F. Putze, P. Sanders and J. Singler, Cache-, Hash-
 * and Space-Efficient Bloom Filters, 2007; the form that column stores use), with blocks of one
 * cache line: 512 bits in eight lanes of 64, one bit in each. k = 8.
 *
 * The bits of a key: its hash times eight odd numbers, the top six bits of each product.
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

static const uint32_t split_salts[SPLIT_WORDS] = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU,
                                                  0xa2b7289dU, 0x705495c7U, 0x2df1424bU,
                                                  0x9efc4947U, 0x5c6bfb31U};

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
    const __m256i salts = _mm256_loadu_si256((const __m256i *)(const void *)split_salts);
    const __m256i ones = _mm256_set1_epi64x(1);
    __m256i bits = _mm256_mullo_epi32(salts, _mm256_set1_epi32((int)(uint32_t)hash));
    bits = _mm256_srli_epi32(bits, 26);
    /* even lanes and odd lanes: no need to keep their order */
    __m256i even = _mm256_blend_epi32(bits, _mm256_setzero_si256(), 0xaa);
    return (struct split_mask){_mm256_sllv_epi64(ones, even),
                               _mm256_sllv_epi64(ones, _mm256_srli_epi64(bits, 32))};
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
    return (uint64_t)1 << ((uint32_t)hash * split_salts[lane] >> 26);
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
