/*
 * siphash.c: SipHash-c-d-128. The message goes in as little-endian words, c rounds for each; the
 * last word holds what is left over and, in its top byte, the length. d rounds give each half of
 * the output. Bytes are put together one by one, so that neither alignment nor byte order matters.
 */
#include "hash/siphash.h"

#include "base/little.h"

static inline uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static inline __attribute__((always_inline)) void rounds(uint64_t v[4], int count)
{
    for (int i = 0; i < count; i++) {
        v[0] += v[1], v[1] = rotate(v[1], 13) ^ v[0], v[0] = rotate(v[0], 32);
        v[2] += v[3], v[3] = rotate(v[3], 16) ^ v[2];
        v[0] += v[3], v[3] = rotate(v[3], 21) ^ v[0];
        v[2] += v[1], v[1] = rotate(v[1], 17) ^ v[2], v[2] = rotate(v[2], 32);
    }
}

static inline __attribute__((always_inline)) void absorb(uint64_t v[4], uint64_t word, int c)
{
    v[3] ^= word;
    rounds(v, c);
    v[0] ^= word;
}

static inline __attribute__((always_inline)) struct tepal_digest
siphash(const uint64_t key[2], const void *data, size_t len, int c, int d)
{
    /* "somepseudorandomlygeneratedbytes", and 0xee for 128 bits of output */
    uint64_t v[4] = {key[0] ^ UINT64_C(0x736f6d6570736575),
                     key[1] ^ UINT64_C(0x646f72616e646f6d) ^ 0xee,
                     key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573)};
    const uint8_t *bytes = data;
    uint64_t last = (uint64_t)len << 56;
    for (size_t i = 0; i < len / 8; i++) {
        absorb(v, little_get64(bytes + 8 * i), c);
    }
    for (size_t i = 0; i < len % 8; i++) {
        last |= (uint64_t)bytes[len - len % 8 + i] << (8 * i);
    }
    absorb(v, last, c);
    struct tepal_digest out;
    v[2] ^= 0xee;
    rounds(v, d);
    out.lo = v[0] ^ v[1] ^ v[2] ^ v[3];
    v[1] ^= 0xdd;
    rounds(v, d);
    out.hi = v[0] ^ v[1] ^ v[2] ^ v[3];
    return out;
}

struct tepal_digest tepal_siphash(const uint64_t key[2], const void *data, size_t len)
{
    return siphash(key, data, len, 2, 4);
}

struct tepal_digest tepal_siphash13(const uint64_t key[2], const void *data, size_t len)
{
    return siphash(key, data, len, 1, 3);
}
