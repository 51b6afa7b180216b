/* mix.h: keys in no order: the finalizer of splitmix64, under which different numbers differ. */
#ifndef TEPAL_BENCH_MIX_H
#define TEPAL_BENCH_MIX_H

#include <stdint.h>

static inline uint64_t bench_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

#endif
