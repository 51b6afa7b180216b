/*
 * fingerprint_help.h: all that a fingerprint filter can tell of a key, computed from the document.
 */
#ifndef TEPAL_TESTS_FINGERPRINT_HELP_H
#define TEPAL_TESTS_FINGERPRINT_HELP_H

#include "check.h"

#include "base/wide.h"

/* The class of a key, written from docs/format.md: the fingerprint and the lower bucket. */
struct class
{
    uint64_t print;
    uint64_t low;
    uint64_t high;
};

static inline struct class class_of(uint32_t bits, uint64_t buckets, struct tepal_digest d)
{
    uint64_t print = d.lo >> (64 - bits);
    print = print == 0 ? 1 : print;
    uint64_t bucket = wide_high(wide_times(wide_of(d.hi), wide_of(buckets)));
    uint64_t x = print * UINT64_C(0x9e3779b1);
    x = ((x ^ x >> 16) & UINT32_MAX) * UINT64_C(0x85ebca77);
    uint64_t h = 2 * (((x ^ x >> 32) & UINT32_MAX) * (buckets / 2) >> 32) + 1;
    uint64_t other = (h + buckets - bucket) % buckets;
    return bucket < other ? (struct class){print, bucket, other}
                          : (struct class){print, other, bucket};
}

#endif
