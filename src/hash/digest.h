/*
 * digest.h: key + seed -> 128-bit digest, inlined for the loops that hash on the way.
 *
 * Bytes: XXH3-128. Integers: a mixer of our own (tepal/place.h), because XXH3 on eight bytes costs
 * 2.5 to 4.8 ns, as much as all the rest of a lookup, and a 64-bit key has only 64 bits to spread.
 */
#ifndef TEPAL_SRC_HASH_DIGEST_H
#define TEPAL_SRC_HASH_DIGEST_H

#include <tepal/place.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static inline struct tepal_digest digest_bytes(const void *key, size_t len, uint64_t seed)
{
    XXH128_hash_t h = XXH3_128bits_withSeed(key, len, seed);
    return (struct tepal_digest){h.low64, h.high64};
}

static inline struct tepal_digest digest_u64(uint64_t key, uint64_t a, uint64_t b)
{
    return tepal_place_digest(key, a, b);
}

#endif
