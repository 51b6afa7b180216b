/*
 * siphash.h: SipHash-2-4 and SipHash-1-3 with 128 bits of output (Aumasson and Bernstein, "SipHash:
 * a fast short-input PRF", 2012, and its 128-bit variant).
 */
#ifndef TEPAL_SRC_HASH_SIPHASH_H
#define TEPAL_SRC_HASH_SIPHASH_H

#include <tepal/hash.h>

/* `key`: its 16 bytes as two little-endian words. `data` may be NULL if len is 0. */
struct tepal_digest tepal_siphash(const uint64_t key[2], const void *data, size_t len);
struct tepal_digest tepal_siphash13(const uint64_t key[2], const void *data, size_t len);

#endif
