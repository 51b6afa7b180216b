/*
 * hasher.c: the hashes behind tepal/hash.h.
 *
 * Unkeyed, the integer words are what the seed contributes to the digests of integers,
 *     integer[0] = XXH3-64("tepal-a"; seed)    integer[1] = XXH3-64("tepal-b"; seed)
 *
 * Keyed: SipHash takes a 128-bit key and no seed, so the seed goes into two subkeys,
 *     secret  = SipHash-128(key; "tepal" 1 0 0, then the seed in 8 little-endian bytes)
 *     integer = SipHash-128(key; "tepal" 3 0 0, then the seed in 8 little-endian bytes)
 * Bytes are hashed under the first; integers, as 8 little-endian bytes, under the second. The check
 * that a file carries is
 *     check = the first 8 bytes, little-endian, of SipHash-128(secret; "tepal" 2 0 0), or 1 if 0.
 * SipHash being a pseudo-random function, the check tells nothing about the digests of other keys.
 *
 * With SipHash-1-3 the subkeys, made by SipHash-2-4 too, have the numbers 4 and 5: two filters of
 * one secret key and one seed share no subkey. Digests and check are then those of SipHash-1-3.
 */
#include "hash/digest.h"

#include "base/little.h"
#include "base/processor.h"
#include "hash/siphash.h"
#include "hash/strings.h"

/* The subkey that `number` makes of key and seed. */
static struct tepal_digest subkey(uint8_t number, uint64_t seed, const uint8_t key[16])
{
    const uint64_t words[2] = {little_get64(key), little_get64(key + 8)};
    uint8_t message[16] = {'t', 'e', 'p', 'a', 'l', number, 0, 0};
    little_put64(message + 8, seed);
    return tepal_siphash(words, message, sizeof message);
}

void tepal_hasher_init(uint64_t seed, struct tepal_hasher *hasher)
{
    *hasher = (struct tepal_hasher){
        .hash = TEPAL_HASH_XXH3,
        .seed = seed,
        .integer = {XXH3_64bits_withSeed("tepal-a", 7, seed),
                    XXH3_64bits_withSeed("tepal-b", 7, seed)},
    };
}

bool tepal_hash_is_keyed(enum tepal_hash hash)
{
    return hash == TEPAL_HASH_SIPHASH || hash == TEPAL_HASH_SIPHASH13;
}

enum tepal_status tepal_hasher_init_by(enum tepal_hash hash, uint64_t seed, const uint8_t *key,
                                       struct tepal_hasher *hasher)
{
    bool fast = hash == TEPAL_HASH_SIPHASH13;
    if (hash == TEPAL_HASH_XXH3) {
        tepal_hasher_init(seed, hasher);
        return TEPAL_OK;
    }
    if (!tepal_hash_is_keyed(hash) || key == NULL) {
        return key == NULL ? TEPAL_KEY_NEEDED : TEPAL_BAD_PARAMETER;
    }
    struct tepal_digest bytes = subkey(fast ? 4 : 1, seed, key);
    struct tepal_digest integer = subkey(fast ? 5 : 3, seed, key);
    *hasher = (struct tepal_hasher){.hash = hash,
                                    .seed = seed,
                                    .secret = {bytes.lo, bytes.hi},
                                    .integer = {integer.lo, integer.hi}};
    return TEPAL_OK;
}

void tepal_hasher_init_keyed(uint64_t seed, const uint8_t key[TEPAL_KEY_BYTES],
                             struct tepal_hasher *hasher)
{
    (void)tepal_hasher_init_by(TEPAL_HASH_SIPHASH, seed, key, hasher);
}

/* Under a keyed hash, and the key of the one or the other form. */
static inline struct tepal_digest keyed(enum tepal_hash hash, const uint64_t key[2],
                                        const void *data, size_t len)
{
    return hash == TEPAL_HASH_SIPHASH13 ? tepal_siphash13(key, data, len)
                                        : tepal_siphash(key, data, len);
}

uint64_t tepal_hasher_check(const struct tepal_hasher *hasher)
{
    static const uint8_t message[8] = {'t', 'e', 'p', 'a', 'l', 2, 0, 0};
    if (!tepal_hash_is_keyed(hasher->hash)) {
        return 0;
    }
    uint64_t check = keyed(hasher->hash, hasher->secret, message, sizeof message).lo;
    return check == 0 ? 1 : check;
}

struct tepal_digest tepal_hash_bytes(const struct tepal_hasher *hasher, const void *key, size_t len)
{
    if (hasher->hash != TEPAL_HASH_XXH3) {
        return keyed(hasher->hash, hasher->secret, key, len);
    }
    return digest_bytes(len == 0 ? "" : key, len, hasher->seed);
}

struct tepal_digest tepal_hash_u64(const struct tepal_hasher *hasher, uint64_t key)
{
    if (hasher->hash != TEPAL_HASH_XXH3) {
        uint8_t bytes[8];
        little_put64(bytes, key);
        return keyed(hasher->hash, hasher->integer, bytes, sizeof bytes);
    }
    return digest_u64(key, hasher->integer[0], hasher->integer[1]);
}

/* From so many strings on vectors are faster: they sort them by their lengths first. */
#define MANY 32

static bool by_vectors(const struct tepal_hasher *hasher, size_t count)
{
    return hasher->hash == TEPAL_HASH_XXH3 && count >= MANY && tepal_processor_has_avx512();
}

/*
 * A digest to where it belongs, word by word: copied as a structure it goes through the stack, and
 * is read from there sooner than both of its words have arrived, which takes longer than the hash.
 */
static inline void put_digest(struct tepal_digest *to, const void *key, size_t len, uint64_t seed)
{
    XXH128_hash_t h = XXH3_128bits_withSeed(len == 0 ? "" : key, len, seed);
    to->lo = h.low64;
    to->hi = h.high64;
}

void tepal_hash_bytes_many(const struct tepal_hasher *hasher, const void *const *keys,
                           const size_t *lens, size_t count, struct tepal_digest *digests)
{
    if (by_vectors(hasher, count)) {
        tepal_strings_avx512.bytes(hasher, keys, lens, count, digests);
        return;
    }
    if (hasher->hash == TEPAL_HASH_XXH3) {
        for (size_t i = 0; i < count; i++) {
            put_digest(&digests[i], keys[i], lens[i], hasher->seed);
        }
        return;
    }
    for (size_t i = 0; i < count; i++) {
        digests[i] = tepal_hash_bytes(hasher, keys[i], lens[i]);
    }
}

void tepal_hash_packed_many(const struct tepal_hasher *hasher, const void *bytes,
                            const uint64_t *offsets, size_t count, struct tepal_digest *digests)
{
    bool unkeyed = hasher->hash == TEPAL_HASH_XXH3;
    if (by_vectors(hasher, count)) {
        tepal_strings_avx512.packed(hasher, bytes, offsets, count, digests);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t start = offsets[i];
        size_t len = offsets[i + 1] > start ? (size_t)(offsets[i + 1] - start) : 0;
        const uint8_t *key = len == 0 ? (const uint8_t *)"" : (const uint8_t *)bytes + start;
        if (unkeyed) {
            put_digest(&digests[i], key, len, hasher->seed);
        } else {
            digests[i] = tepal_hash_bytes(hasher, key, len);
        }
    }
}

/* Keys of 32 bytes, as hashes are, have a loop of their own: little of XXH3 is left of it. */
void tepal_hash_fixed_many(const struct tepal_hasher *hasher, const void *keys, size_t width,
                           size_t count, struct tepal_digest *digests)
{
    const uint8_t *p = keys;
    if (by_vectors(hasher, count)) {
        tepal_strings_avx512.fixed(hasher, keys, width, count, digests);
        return;
    }
    bool constant = width == 32 && hasher->hash == TEPAL_HASH_XXH3;
    for (size_t i = 0; i < count && constant; i++) {
        put_digest(&digests[i], p + i * 32, 32, hasher->seed);
    }
    for (size_t i = 0; i < count && !constant; i++) {
        digests[i] = tepal_hash_bytes(hasher, width == 0 ? NULL : p + i * width, width);
    }
}

void tepal_hash_u64_many(const struct tepal_hasher *hasher, const uint64_t *keys, size_t count,
                         struct tepal_digest *digests)
{
    for (size_t i = 0; i < count; i++) {
        digests[i] = tepal_hash_u64(hasher, keys[i]);
    }
}
