/*
 * halves.h: arithmetic of 128 bits from words of 64, for machines whose compiler has no such type.
 * Two's complement; everything is modulo 2^128. Divisors are not 0.
 */
#ifndef TEPAL_SRC_BASE_HALVES_H
#define TEPAL_SRC_BASE_HALVES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include <tepal/place.h>

struct halves {
    uint64_t low;
    uint64_t high;
};

static inline struct halves halves_join(uint64_t high, uint64_t low)
{
    return (struct halves){low, high};
}

static inline struct halves halves_add(struct halves a, struct halves b)
{
    uint64_t low = a.low + b.low;
    return halves_join(a.high + b.high + (low < a.low), low);
}

static inline struct halves halves_sub(struct halves a, struct halves b)
{
    return halves_join(a.high - b.high - (a.low < b.low), a.low - b.low);
}

static inline struct halves halves_times(struct halves a, struct halves b)
{
    return halves_join(tepal_place_high_by_parts(a.low, b.low) + a.low * b.high + a.high * b.low,
                       a.low * b.low);
}

/* Unsigned, and signed. */
static inline bool halves_below(struct halves a, struct halves b)
{
    return a.high < b.high || (a.high == b.high && a.low < b.low);
}

static inline bool halves_less(struct halves a, struct halves b)
{
    const uint64_t sign = (uint64_t)1 << 63;
    return halves_below(halves_join(a.high ^ sign, a.low), halves_join(b.high ^ sign, b.low));
}

/* Bit by bit, as by hand. */
static inline struct halves halves_over(struct halves a, struct halves b)
{
    struct halves quotient = {0, 0};
    struct halves rest = {0, 0};
    for (int i = 127; i >= 0; i--) {
        uint64_t bit = (i >= 64 ? a.high >> (i - 64) : a.low >> i) & 1;
        bool carry = rest.high >> 63 != 0;
        rest = halves_join(rest.high << 1 | rest.low >> 63, rest.low << 1 | bit);
        quotient = halves_join(quotient.high << 1 | quotient.low >> 63, quotient.low << 1);
        if (carry || !halves_below(rest, b)) {
            rest = halves_sub(rest, b);
            quotient.low |= 1;
        }
    }
    return quotient;
}

/* Towards 0, as C divides. */
static inline struct halves halves_over_signed(struct halves a, struct halves b)
{
    const struct halves zero = {0, 0};
    bool a_negative = a.high >> 63 != 0;
    bool b_negative = b.high >> 63 != 0;
    struct halves quotient =
        halves_over(a_negative ? halves_sub(zero, a) : a, b_negative ? halves_sub(zero, b) : b);
    return a_negative != b_negative ? halves_sub(zero, quotient) : quotient;
}

/* Of an unsigned number, rounded once: what the highest 64 bits leave out is one sticky bit. */
static inline double halves_real(struct halves a)
{
    if (a.high == 0) {
        return (double)a.low;
    }
    int shift = 64 - __builtin_clzll(a.high);
    uint64_t top = shift == 64 ? a.high : a.high << (64 - shift) | a.low >> shift;
    uint64_t left = shift == 64 ? a.low : a.low << (64 - shift);
    return ldexp((double)(top | (left != 0)), shift);
}

#endif
