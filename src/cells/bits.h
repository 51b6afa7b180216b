/* bits.h: an array of bits in 64-bit words; bit i is bit i % 64 of word i / 64. */
#ifndef TEPAL_SRC_CELLS_BITS_H
#define TEPAL_SRC_CELLS_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool bits_test(const uint64_t *words, uint64_t i)
{
    return words[i >> 6] >> (i & 63) & 1;
}

static inline void bits_set(uint64_t *words, uint64_t i)
{
    words[i >> 6] |= (uint64_t)1 << (i & 63);
}

static inline void bits_clear(uint64_t *words, uint64_t i)
{
    words[i >> 6] &= ~((uint64_t)1 << (i & 63));
}

static inline uint32_t bits_count_word(uint64_t word)
{
    return (uint32_t)__builtin_popcountll(word);
}

static inline void bits_prefetch(const uint64_t *words, uint64_t i)
{
    __builtin_prefetch(&words[i >> 6]);
}

/* Is anything set behind the first `count` bits, in the word that the last of them is in? */
static inline bool bits_beyond(const uint64_t *words, uint64_t count)
{
    return count % 64 != 0 && words[count / 64] >> count % 64 != 0;
}

/* The number of ones in whole words, and in the bits first .. end - 1. */
uint64_t tepal_bits_count(const uint64_t *words, size_t count);
uint64_t tepal_bits_count_range(const uint64_t *words, uint64_t first, uint64_t end);

/* The ways to count whole words: in plain C, and with an instruction for a word or a vector. */
bool tepal_bits_has_popcnt(void);
bool tepal_bits_has_vpopcnt(void);
uint64_t tepal_bits_count_portable(const uint64_t *words, size_t count);
uint64_t tepal_bits_count_popcnt(const uint64_t *words, size_t count);  /* only if it has */
uint64_t tepal_bits_count_vpopcnt(const uint64_t *words, size_t count); /* likewise */

/* into := into OR (AND) other, word by word. */
void tepal_bits_or(uint64_t *into, const uint64_t *other, size_t count);
void tepal_bits_and(uint64_t *into, const uint64_t *other, size_t count);

/* into := into AND NOT other, word by word. */
void tepal_bits_remove(uint64_t *into, const uint64_t *other, size_t count);

/* The first `count` bits are inverted, and those after them in the last word are 0. */
void tepal_bits_invert(uint64_t *words, uint64_t count);

/* Bit i of `to` := OR of bits i * d .. i * d + d - 1 of `from`, for i < count. `to` is cleared. */
void tepal_bits_fold(uint64_t *to, const uint64_t *from, uint64_t count, uint64_t d);

#endif
