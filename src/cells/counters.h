/*
 * counters.h: an array of counters of 4 or 8 bits in 64-bit words. `wide` is the logarithm of the
 * width, 2 or 3: counter i is bits w (i % (64/w)) and up of word i / (64/w), w = 2^wide. A counter
 * that reaches counters_max sticks: it is neither incremented nor decremented again.
 */
#ifndef TEPAL_SRC_CELLS_COUNTERS_H
#define TEPAL_SRC_CELLS_COUNTERS_H

#include <stdint.h>

#define COUNTERS_NARROW 2
#define COUNTERS_WIDE   3

static inline uint32_t counters_max(uint32_t wide)
{
    return wide == COUNTERS_WIDE ? 255 : 15;
}

static inline uint32_t counters_per_word(uint32_t wide)
{
    return 64u >> wide;
}

/* Counter i of a word. */
static inline uint32_t counters_in_word(uint64_t word, uint32_t wide, uint64_t i)
{
    return (uint32_t)(word >> ((i << wide) & 63)) & counters_max(wide);
}

static inline uint32_t counters_get(const uint64_t *words, uint32_t wide, uint64_t i)
{
    return counters_in_word(words[i >> (6 - wide)], wide, i);
}

/* Add to a counter (modulo 2^64: -1 subtracts); the caller has seen that it fits. */
static inline void counters_add(uint64_t *words, uint32_t wide, uint64_t i, uint64_t by)
{
    words[i >> (6 - wide)] += by << ((i << wide) & 63);
}

/* ---- all counters of a word ------------------------------------------------------------------ */

#define COUNTERS_NIBBLES UINT64_C(0x1111111111111111) /* 1 in every counter of 4 bits */
#define COUNTERS_BYTES   UINT64_C(0x0101010101010101) /* 1 in every counter of 8 bits */
#define COUNTERS_LOW     (15 * COUNTERS_BYTES)        /* the lower half of every byte */

/* 1 in every counter of the word that is above 0 (that is the maximum); 0 in the others. */
static inline uint64_t counters_above_zero(uint64_t word, uint32_t wide)
{
    uint64_t each = COUNTERS_NIBBLES;
    if (wide == COUNTERS_WIDE) {
        word = (word | word >> 4) & COUNTERS_LOW;
        each = COUNTERS_BYTES;
    }
    return (word | word >> 1 | word >> 2 | word >> 3) & each;
}

static inline uint64_t counters_at_max(uint64_t word, uint32_t wide)
{
    uint64_t each = COUNTERS_NIBBLES;
    if (wide == COUNTERS_WIDE) {
        word = word & word >> 4 & COUNTERS_LOW;
        each = COUNTERS_BYTES;
    }
    return word & word >> 1 & word >> 2 & word >> 3 & each;
}

/* The flags of such a word, 16 or 8, side by side in the low bits. */
static inline uint64_t counters_gather(uint64_t flags, uint32_t wide)
{
    if (wide == COUNTERS_WIDE) {
        return flags * UINT64_C(0x0102040810204080) >> 56;
    }
    flags = (flags | flags >> 3) & UINT64_C(0x0303030303030303);
    flags = (flags | flags >> 6) & UINT64_C(0x000f000f000f000f);
    flags = (flags | flags >> 12) & UINT64_C(0x000000ff000000ff);
    return (flags | flags >> 24) & 0xffff;
}

#define COUNTERS_LANES UINT64_C(0x00ff00ff00ff00ff)

/* The sums of two counters each, in fields of twice their width: of 8 words and more together. */
static inline uint64_t counters_pairs(uint64_t word, uint32_t wide)
{
    return wide == COUNTERS_WIDE ? (word & COUNTERS_LANES) + (word >> 8 & COUNTERS_LANES)
                                 : (word & COUNTERS_LOW) + (word >> 4 & COUNTERS_LOW);
}

static inline uint64_t counters_sum_pairs(uint64_t pairs, uint32_t wide)
{
    if (wide != COUNTERS_WIDE) {
        pairs = (pairs & COUNTERS_LANES) + (pairs >> 8 & COUNTERS_LANES);
    }
    return pairs * UINT64_C(0x0001000100010001) >> 48;
}

static inline uint64_t counters_sum(uint64_t word, uint32_t wide)
{
    return counters_sum_pairs(counters_pairs(word, wide), wide);
}

#endif
