/*
 * wilson.h: how sure a measured share is (E. B. Wilson, Probable Inference, JASA 22, 1927).
 */
#ifndef TOOL_STATISTICS_WILSON_H
#define TOOL_STATISTICS_WILSON_H

#include <math.h>
#include <stdint.h>

#define WILSON_99 2.5758293035489004 /* standard deviations: 99 % lie within */

struct wilson {
    double rate;
    double low;
    double high;
};

/* A share p of n trials, which need not be whole numbers. */
static inline struct wilson wilson_share(double p, double n)
{
    double z2 = WILSON_99 * WILSON_99;
    double middle = (p + z2 / (2 * n)) / (1 + z2 / n);
    double half = WILSON_99 / (1 + z2 / n) * sqrt(p * (1 - p) / n + z2 / (4 * n * n));
    return (struct wilson){p, p == 0 ? 0 : fmax(0, middle - half),
                           p == 1 ? 1 : fmin(1, middle + half)};
}

/* `count` of `trials`; without trials nothing is known: NaN, 0 to 1. */
static inline struct wilson wilson_99(uint64_t count, uint64_t trials)
{
    return trials == 0 ? (struct wilson){NAN, 0, 1}
                       : wilson_share((double)count / (double)trials, (double)trials);
}

#endif
