/*
 * bits.c: whole-array operations on bits. Plain loops: memory, not arithmetic, bounds them, if
 * counting has an instruction of its own. The baseline of x86 has none; nearly every machine has,
 * and newer ones count vectors, which matters where the bits are in the cache.
 */
#include "cells/bits.h"

#include "base/processor.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Four sums, so that no addition waits for the one before it. */
static inline __attribute__((always_inline)) uint64_t count_words(const uint64_t *words,
                                                                  size_t count)
{
    uint64_t ones[4] = {0};
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        for (size_t j = 0; j < 4; j++) {
            ones[j] += bits_count_word(words[i + j]);
        }
    }
    for (; i < count; i++) {
        ones[0] += bits_count_word(words[i]);
    }
    return ones[0] + ones[1] + ones[2] + ones[3];
}

uint64_t tepal_bits_count_portable(const uint64_t *words, size_t count)
{
    return count_words(words, count);
}

#if defined(__x86_64__)

bool tepal_bits_has_popcnt(void)
{
    return PROCESSOR_HAS(POPCNT, "popcnt");
}

bool tepal_bits_has_vpopcnt(void)
{
    return PROCESSOR_HAS(AVX512F, "avx512f") && PROCESSOR_HAS(AVX512_VPOPCNTDQ, "avx512vpopcntdq");
}

__attribute__((target("popcnt"))) uint64_t tepal_bits_count_popcnt(const uint64_t *words,
                                                                   size_t count)
{
    return count_words(words, count);
}

__attribute__((target("popcnt,avx512f,avx512vpopcntdq"))) uint64_t
tepal_bits_count_vpopcnt(const uint64_t *words, size_t count)
{
    __m512i ones[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        for (size_t j = 0; j < 2; j++) {
            __m512i line = _mm512_loadu_si512(words + i + 8 * j);
            ones[j] = _mm512_add_epi64(ones[j], _mm512_popcnt_epi64(line));
        }
    }
    uint64_t sum = (uint64_t)_mm512_reduce_add_epi64(_mm512_add_epi64(ones[0], ones[1]));
    for (; i < count; i++) { /* not by a pointer into words, which may be none */
        sum += bits_count_word(words[i]);
    }
    return sum;
}

#else

bool tepal_bits_has_popcnt(void)
{
    return false;
}

bool tepal_bits_has_vpopcnt(void)
{
    return false;
}

uint64_t tepal_bits_count_popcnt(const uint64_t *words, size_t count)
{
    return count_words(words, count);
}

uint64_t tepal_bits_count_vpopcnt(const uint64_t *words, size_t count)
{
    return count_words(words, count);
}

#endif

uint64_t tepal_bits_count(const uint64_t *words, size_t count)
{
    return tepal_bits_has_vpopcnt()  ? tepal_bits_count_vpopcnt(words, count)
           : tepal_bits_has_popcnt() ? tepal_bits_count_popcnt(words, count)
                                     : tepal_bits_count_portable(words, count);
}

uint64_t tepal_bits_count_range(const uint64_t *words, uint64_t first, uint64_t end)
{
    if (first >= end) {
        return 0;
    }
    uint64_t a = first >> 6;
    uint64_t b = (end - 1) >> 6;
    uint64_t head = UINT64_MAX << (first & 63);
    uint64_t tail = UINT64_MAX >> (63 - ((end - 1) & 63));
    if (a == b) {
        return bits_count_word(words[a] & head & tail);
    }
    return bits_count_word(words[a] & head) + tepal_bits_count(words + a + 1, (size_t)(b - a - 1)) +
           bits_count_word(words[b] & tail);
}

void tepal_bits_or(uint64_t *into, const uint64_t *other, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        into[i] |= other[i];
    }
}

void tepal_bits_and(uint64_t *into, const uint64_t *other, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        into[i] &= other[i];
    }
}

void tepal_bits_remove(uint64_t *into, const uint64_t *other, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        into[i] &= ~other[i];
    }
}

void tepal_bits_invert(uint64_t *words, uint64_t count)
{
    for (uint64_t i = 0; i < (count + 63) / 64; i++) {
        words[i] = ~words[i];
    }
    if (count % 64 != 0) {
        words[count / 64] &= ((uint64_t)1 << count % 64) - 1;
    }
}

void tepal_bits_fold(uint64_t *to, const uint64_t *from, uint64_t count, uint64_t d)
{
    for (uint64_t i = 0; i < count; i++) {
        for (uint64_t j = 0; j < d; j++) {
            if (bits_test(from, i * d + j)) {
                bits_set(to, i);
                break;
            }
        }
    }
}
