/*
 * numeric.h: small numerical helpers shared by the models. Rates run from 1 down to 1e-300, and
 * chances per key down to 2^-60, so powers are taken through log1p and expm1: nothing is ever
 * computed as "one minus almost one".
 */
#ifndef TEPAL_SRC_MODEL_NUMERIC_H
#define TEPAL_SRC_MODEL_NUMERIC_H

#include <math.h>
#include <stdint.h>

/*
 * log(1 - e^x) for x <= 0. Which of the two forms keeps its digits depends on the side of
 * x = -log 2 (Maechler 2012, "Accurately computing log(1 - exp(-|a|))").
 */
static inline double log_one_minus_exp(double x)
{
    return x > -0.6931471805599453 ? log(-expm1(x)) : log1p(-exp(x));
}

/*
 * log((1 - share)^count): the log of the chance that `count` independent draws, each of which hits
 * with chance `share`, all miss. No draws always miss, even if each would hit.
 */
static inline double log_all_miss(double share, double count)
{
    if (count <= 0) {
        return 0;
    }
    return share >= 1 ? -INFINITY : count * log1p(-share);
}

/* x^e, by squaring: the same digits on every machine. */
static inline double whole_power(double x, uint64_t e)
{
    double result = 1;
    for (; e > 0; e >>= 1) {
        result *= (e & 1) != 0 ? x : 1;
        x *= x;
    }
    return result;
}

/* log(gamma(x)), of x > 0. Safe in any thread. */
double tepal_log_gamma(double x);

/* A count that may be beyond 64 bits, or infinite: then the largest there is. */
static inline uint64_t whole_of(double x)
{
    return !(x >= 1) ? 0 : x < 0x1p64 ? (uint64_t)x : UINT64_MAX;
}

/* Sums of positive terms may end a few roundings above one; a probability may not. */
static inline double at_most_one(double p)
{
    return p > 1 ? 1 : p;
}

#endif
