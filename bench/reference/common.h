/*
 * common.h: what the reference filters share: memory in huge pages, one multiplication as a hash,
 * and a random word scaled to a range.
 *
 * The references stand for the best public filters, each in its simplest form: 64-bit keys, fixed
 * parameters, everything inline, compiled for this machine (-march=native).
 */
#ifndef TEPAL_BENCH_REFERENCE_COMMON_H
#define TEPAL_BENCH_REFERENCE_COMMON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

__extension__ typedef unsigned __int128 ref_wide;

#define REF_INLINE static inline __attribute__((always_inline))

/* Zeros, at a huge page's boundary; NULL if there is no memory. */
static inline void *ref_alloc(size_t bytes)
{
    const size_t page = (size_t)2 << 20;
    bytes = (bytes + page - 1) / page * page;
    void *p = aligned_alloc(page, bytes);
    if (p != NULL) {
        (void)madvise(p, bytes, MADV_HUGEPAGE);
        memset(p, 0, bytes);
    }
    return p;
}

/* From one state of a multiplicative generator to the next; states are odd. */
#define REF_MULTIPLIER UINT64_C(0xf1357aea2e62a9c5)

/* 64 bits of hash from 64 bits of key: both halves of one product. */
REF_INLINE uint64_t ref_mix(uint64_t key)
{
    ref_wide product = (ref_wide)key * UINT64_C(0x9e3779b97f4a7c15);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The same as a state to start with. */
REF_INLINE uint64_t ref_hash(uint64_t key)
{
    return ref_mix(key) | 1;
}

REF_INLINE uint64_t ref_scale(uint64_t word, uint64_t range)
{
    return (uint64_t)(((ref_wide)word * range) >> 64);
}

#endif
