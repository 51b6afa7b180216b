/*
 * wide.h: integers of 128 bits, and the high half of a 64 x 64 multiplication, which maps a random
 * word to a range.
 *
 * A wide_int is a number of 128 bits in two's complement, and all operations are modulo 2^128: the
 * compiler's own type where there is one, else two words (halves.h), with the same bits.
 */
#ifndef TEPAL_SRC_BASE_WIDE_H
#define TEPAL_SRC_BASE_WIDE_H

#include <stdbool.h>
#include <stdint.h>

#include <tepal/place.h>

/*
 * floor(word * range / 2^64): a uniform word becomes a uniform number below range, without a
 * division, from the high bits of the word.
 */
static inline uint64_t wide_scale(uint64_t word, uint64_t range)
{
    return tepal_place_high(word, range);
}

#if defined(__SIZEOF_INT128__)

__extension__ typedef unsigned __int128 wide_int;
__extension__ typedef __int128 wide_signed;

static inline wide_int wide_of(uint64_t value)
{
    return value;
}

static inline wide_int wide_join(uint64_t high, uint64_t low)
{
    return (wide_int)high << 64 | low;
}

static inline uint64_t wide_low(wide_int a)
{
    return (uint64_t)a;
}

static inline uint64_t wide_high(wide_int a)
{
    return (uint64_t)(a >> 64);
}

static inline wide_int wide_add(wide_int a, wide_int b)
{
    return a + b;
}

static inline wide_int wide_sub(wide_int a, wide_int b)
{
    return a - b;
}

static inline wide_int wide_times(wide_int a, wide_int b)
{
    return a * b;
}

static inline wide_int wide_over(wide_int a, wide_int b)
{
    return a / b;
}

static inline wide_int wide_over_signed(wide_int a, wide_int b)
{
    return (wide_int)((wide_signed)a / (wide_signed)b);
}

static inline bool wide_below(wide_int a, wide_int b)
{
    return a < b;
}

static inline bool wide_less(wide_int a, wide_int b)
{
    return (wide_signed)a < (wide_signed)b;
}

static inline double wide_real(wide_int a)
{
    return (double)a;
}

#else

#include "base/halves.h"

typedef struct halves wide_int;

static inline wide_int wide_of(uint64_t value)
{
    return halves_join(0, value);
}

static inline wide_int wide_join(uint64_t high, uint64_t low)
{
    return halves_join(high, low);
}

static inline uint64_t wide_low(wide_int a)
{
    return a.low;
}

static inline uint64_t wide_high(wide_int a)
{
    return a.high;
}

static inline wide_int wide_add(wide_int a, wide_int b)
{
    return halves_add(a, b);
}

static inline wide_int wide_sub(wide_int a, wide_int b)
{
    return halves_sub(a, b);
}

static inline wide_int wide_times(wide_int a, wide_int b)
{
    return halves_times(a, b);
}

static inline wide_int wide_over(wide_int a, wide_int b)
{
    return halves_over(a, b);
}

static inline wide_int wide_over_signed(wide_int a, wide_int b)
{
    return halves_over_signed(a, b);
}

static inline bool wide_below(wide_int a, wide_int b)
{
    return halves_below(a, b);
}

static inline bool wide_less(wide_int a, wide_int b)
{
    return halves_less(a, b);
}

static inline double wide_real(wide_int a)
{
    return halves_real(a);
}

#endif

/* A signed number as a word: at least 0, at most 2^64 - 1. */
static inline uint64_t wide_clamp(wide_int a)
{
    return wide_less(a, wide_of(0)) ? 0 : wide_high(a) != 0 ? UINT64_MAX : wide_low(a);
}

#endif
