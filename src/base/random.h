/*
 * random.h: random words from a seed, by splitmix64 (Steele, Lea and Flood, Fast splittable
 * pseudorandom number generators, OOPSLA 2014). The library draws nothing on its own: every seed is
 * the caller's, and the same seed gives the same words on every machine.
 */
#ifndef TEPAL_SRC_BASE_RANDOM_H
#define TEPAL_SRC_BASE_RANDOM_H

#include <stdint.h>

/* 2^64 over the golden ratio: multiples of it are spread evenly. */
#define RANDOM_GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/* The next word; *state is any number at first. */
static inline uint64_t random_word(uint64_t *state)
{
    uint64_t x = *state += RANDOM_GOLDEN;
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

#endif
