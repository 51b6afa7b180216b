/*
 * strings.h: many strings hashed together where the processor has AVX-512: the digests of
 * tepal_hash_bytes, bit for bit.
 */
#ifndef TEPAL_SRC_HASH_STRINGS_H
#define TEPAL_SRC_HASH_STRINGS_H

#include <tepal/hash.h>

/* Up to this many bytes a string is hashed by vectors; longer ones, and empty ones, one by one. */
#define STRINGS_LONGEST 64

/* As tepal_hash_bytes_many, _packed_many and _fixed_many, of a hasher without a secret key. */
struct strings_hash {
    void (*bytes)(const struct tepal_hasher *hasher, const void *const *keys, const size_t *lens,
                  size_t count, struct tepal_digest *digests);
    void (*packed)(const struct tepal_hasher *hasher, const uint8_t *bytes, const uint64_t *offsets,
                   size_t count, struct tepal_digest *digests);
    void (*fixed)(const struct tepal_hasher *hasher, const uint8_t *keys, size_t width,
                  size_t count, struct tepal_digest *digests);
};

extern const struct strings_hash tepal_strings_avx512; /* only if tepal_processor_has_avx512() */

#endif
