/*
 * random.h: random numbers that a seed repeats (splitmix64: Steele, Lea and Flood 2014), for
 * simulations; never for secrets.
 */
#ifndef TOOL_STATISTICS_RANDOM_H
#define TOOL_STATISTICS_RANDOM_H

#include <stdint.h>

#define RANDOM_STEP UINT64_C(0x9e3779b97f4a7c15)

/* Every bit of the result depends on every bit of x; no two x give the same. */
static inline uint64_t random_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* The next 64 bits; the state may start as any number. */
static inline uint64_t random_draw(uint64_t *state)
{
    return random_mix(*state += RANDOM_STEP);
}

/* The 53 upper bits as a number from 0 to below 1. */
static inline double random_unit(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53;
}

#endif
