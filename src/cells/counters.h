/*
 * counters.h: an array of 4-bit counters in 64-bit words; counter i is bits 4 (i % 16) and up of
 * word i / 16. A counter that reaches COUNTERS_MAX sticks: it is neither incremented nor
 * decremented again.
 */
#ifndef TEPAL_SRC_CELLS_COUNTERS_H
#define TEPAL_SRC_CELLS_COUNTERS_H

#include <stdint.h>

#define COUNTERS_MAX      15
#define COUNTERS_PER_WORD 16
#define COUNTERS_EACH     UINT64_C(0x1111111111111111) /* 1 in every counter of a word */

static inline uint32_t counters_get(const uint64_t *words, uint64_t i)
{
    return (uint32_t)(words[i >> 4] >> (4 * (i & 15)) & 15);
}

/* Add to a counter (modulo 2^64: -1 subtracts); the caller has seen that it fits. */
static inline void counters_add(uint64_t *words, uint64_t i, uint64_t by)
{
    words[i >> 4] += by << (4 * (i & 15));
}

/* 1 in every counter of the word that is above 0 (that is COUNTERS_MAX); 0 in the others. */
static inline uint64_t counters_above_zero(uint64_t word)
{
    return (word | word >> 1 | word >> 2 | word >> 3) & COUNTERS_EACH;
}

static inline uint64_t counters_at_max(uint64_t word)
{
    return word & word >> 1 & word >> 2 & word >> 3 & COUNTERS_EACH;
}

/* The 16 flags of such a word, side by side in the low bits. */
static inline uint64_t counters_gather(uint64_t flags)
{
    flags = (flags | flags >> 3) & UINT64_C(0x0303030303030303);
    flags = (flags | flags >> 6) & UINT64_C(0x000f000f000f000f);
    flags = (flags | flags >> 12) & UINT64_C(0x000000ff000000ff);
    return (flags | flags >> 24) & 0xffff;
}

#endif
