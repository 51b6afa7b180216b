/*
 * digest.h: key + seed -> 128-bit digest, inlined for the loops that hash on the way.
 *
 * Bytes: XXH3-128. Integers: a mixer of our own, because XXH3 on eight bytes costs 2.5 to 4.8 ns,
 * as much as all the rest of a lookup, and a 64-bit key has only 64 bits to spread:
 *
 *     x = key ^ a;  x ^= x >> 30;  x *= C1;  x ^= x >> 27;  x ^= b;  x *= C2;  x ^= x >> 31
 *     hi = x;  lo = x * C3
 *
 * a and b come from the seed. The steps are Stafford's thirteenth variant of the MurmurHash3
 * finaliser, with a second injection of the seed so that two seeds are two different functions and
 * not one function of shifted keys. Each step is a bijection: two integers never share a digest.
 */
#ifndef TEPAL_SRC_HASH_DIGEST_H
#define TEPAL_SRC_HASH_DIGEST_H

#include <tepal/hash.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static inline struct tepal_digest digest_bytes(const void *key, size_t len, uint64_t seed)
{
    XXH128_hash_t h = XXH3_128bits_withSeed(key, len, seed);
    return (struct tepal_digest){h.low64, h.high64};
}

static inline struct tepal_digest digest_u64(uint64_t key, uint64_t a, uint64_t b)
{
    uint64_t x = key ^ a;
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x ^= b;
    x *= UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return (struct tepal_digest){x * UINT64_C(0xd1342543de82ef95), x};
}

#endif
