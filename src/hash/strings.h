/*
 * strings.h: many strings hashed together where the processor has AVX-512: the digests of
 * digest_bytes, bit for bit.
 */
#ifndef TEPAL_SRC_HASH_STRINGS_H
#define TEPAL_SRC_HASH_STRINGS_H

#include <tepal/hash.h>

/* Up to this many bytes a string is hashed by vectors; longer ones, and empty ones, one by one. */
#define STRINGS_LONGEST 64

/* As tepal_hash_bytes_many, tepal_hash_packed_many and tepal_hash_fixed_many, unkeyed. */
struct strings_hash {
    void (*bytes)(uint64_t seed, const void *const *keys, const size_t *lens, size_t count,
                  struct tepal_digest *digests);
    void (*packed)(uint64_t seed, const uint8_t *bytes, const uint64_t *offsets, size_t count,
                   struct tepal_digest *digests);
    void (*fixed)(uint64_t seed, const uint8_t *keys, size_t width, size_t count,
                  struct tepal_digest *digests);
};

extern const struct strings_hash tepal_strings_avx512; /* only if tepal_processor_has_avx512() */

#endif
