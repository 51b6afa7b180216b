/*
 * tepal/hash.h: keys to digests. Hash a key once, then look up its 128-bit digest in any number of
 * filters that share a seed (and a secret key, if any).
 *
 *     struct tepal_hasher hasher;
 *     tepal_hasher_init(42, &hasher);
 *     struct tepal_digest d = tepal_hash_bytes(&hasher, "example.org", 11);
 *     bool maybe = tepal_filter_query(filter, d);
 *
 * Two ways to hash:
 *   - unkeyed, under a 64-bit seed: XXH3-128 for bytes, a bijective mixer for 64-bit integers.
 *     Fast, but anybody who knows the seed can find keys that collide.
 *   - keyed: SipHash-2-4 with 128-bit output under a 16-byte secret key and the seed. Slower, but
 *     nobody can construct colliding keys without the secret. The key is never stored in a file; a
 *     check value is, so that a wrong key is refused. SipHash-1-3 does the same in fewer rounds:
 *     faster, with less margin (docs/untrusted.md).
 */
#ifndef TEPAL_HASH_H
#define TEPAL_HASH_H

#include <tepal/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tepal_digest {
    uint64_t lo;
    uint64_t hi;
};

enum tepal_hash {
    TEPAL_HASH_XXH3 = 0,
    TEPAL_HASH_SIPHASH = 1,   /* SipHash-2-4 */
    TEPAL_HASH_SIPHASH13 = 2, /* SipHash-1-3; version 0.1 refuses its files */
};

#define TEPAL_KEY_BYTES 16

/*
 * A value: copy it freely. Its fields are set by the init calls only. A keyed hasher holds key
 * material; clear it when you are done if that matters to you.
 */
struct tepal_hasher {
    enum tepal_hash hash;
    uint64_t seed;
    uint64_t secret[2];  /* for bytes: derived from key and seed if keyed, else zero */
    uint64_t integer[2]; /* for integers: derived from the seed, and from the key if keyed */
};

/* Unkeyed, under `seed`. Cannot fail. */
TEPAL_API void tepal_hasher_init(uint64_t seed, struct tepal_hasher *hasher);

/* Does this hash take a secret key? False for a number that is no hash. */
TEPAL_API bool tepal_hash_is_keyed(enum tepal_hash hash);

/*
 * By the hash `hash`, under `seed` and, if it is keyed, the TEPAL_KEY_BYTES bytes at `key` (else
 * `key` is not read). TEPAL_KEY_NEEDED if it is NULL and needed, TEPAL_BAD_PARAMETER if there is no
 * such hash.
 */
TEPAL_API enum tepal_status tepal_hasher_init_by(enum tepal_hash hash, uint64_t seed,
                                                 const uint8_t *key, struct tepal_hasher *hasher);

/* Keyed by SipHash-2-4, under `key` and `seed`. Cannot fail. */
TEPAL_API void tepal_hasher_init_keyed(uint64_t seed, const uint8_t key[TEPAL_KEY_BYTES],
                                       struct tepal_hasher *hasher);

/*
 * A 64-bit value that depends on key and seed and reveals neither: what a file stores to refuse
 * a wrong key. Zero for an unkeyed hasher, never zero for a keyed one.
 */
TEPAL_API uint64_t tepal_hasher_check(const struct tepal_hasher *hasher);

/* The digest of `len` bytes. `key` may be NULL if len is 0: the empty key is a key. */
TEPAL_API struct tepal_digest tepal_hash_bytes(const struct tepal_hasher *hasher, const void *key,
                                               size_t len);

/*
 * The digest of an integer. Integers are keys of their own: an integer and the string of its eight
 * bytes are different keys. Two integers never have the same (unkeyed) digest.
 */
TEPAL_API struct tepal_digest tepal_hash_u64(const struct tepal_hasher *hasher, uint64_t key);

/* The digests of `count` integers. */
TEPAL_API void tepal_hash_u64_many(const struct tepal_hasher *hasher, const uint64_t *keys,
                                   size_t count, struct tepal_digest *digests);

/* The digests of `count` keys of any length: key i is the lens[i] bytes at keys[i]. */
TEPAL_API void tepal_hash_bytes_many(const struct tepal_hasher *hasher, const void *const *keys,
                                     const size_t *lens, size_t count,
                                     struct tepal_digest *digests);

/*
 * The digests of `count` keys that lie in one array: key i is the bytes from offsets[i] up to
 * offsets[i + 1], of which there are count + 1. A key that would end before it begins is empty.
 */
TEPAL_API void tepal_hash_packed_many(const struct tepal_hasher *hasher, const void *bytes,
                                      const uint64_t *offsets, size_t count,
                                      struct tepal_digest *digests);

/* The digests of `count` keys of `width` bytes each, stored one after the other. */
TEPAL_API void tepal_hash_fixed_many(const struct tepal_hasher *hasher, const void *keys,
                                     size_t width, size_t count, struct tepal_digest *digests);

#ifdef __cplusplus
}
#endif

#endif
