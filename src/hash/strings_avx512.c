/*
 * strings_avx512.c: XXH3-128 of many strings (xxHash's specification, doc/xxhash_spec.md there),
 * eight at a time, a 64-bit lane each.
 *
 * XXH3 has ways of its own for strings of 1 to 3, 4 to 8, 9 to 16 and 17 to 128 bytes. Where
 * lengths come in no order the processor guesses the way wrong, which takes longer than the hash.
 * So 64 strings at a time are sorted by their ways first, without a branch on any length:
 *
 *     lengths  11 4 30 17 9 5 ..   way 9..16: 0 4 ..   way 4..8: 1 5 ..   way 17..32: 2 3 ..
 *
 * Each way takes eight of its strings at a time; of what is left the first one is repeated. No byte
 * outside of a string is read.
 */
#include "hash/strings.h"

#if defined(__AVX512VBMI2__)

#include <immintrin.h>
#include <string.h>

#define EIGHT         8
#define CHUNK         64
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Primes and secret as the specification has them: the secret's first 64 bytes as words. */
#define PRIME32_2 UINT64_C(0x85EBCA77)
#define PRIME64_1 UINT64_C(0x9E3779B185EBCA87)
#define PRIME64_2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define PRIME64_3 UINT64_C(0x165667B19E3779F9)
#define PRIME64_4 UINT64_C(0x85EBCA77C2B2AE63)
#define MIX_1     UINT64_C(0x165667919E3779F9)
#define MIX_2     UINT64_C(0x9FB21C651E98DF25)

static const uint64_t secret[8] = {UINT64_C(0xbe4ba423396cfeb8), UINT64_C(0x1cad21f72c81017c),
                                   UINT64_C(0xdb979083e96dd4de), UINT64_C(0x1f67b3b7a4a44072),
                                   UINT64_C(0x78e5c0cc4ee679cb), UINT64_C(0x2172ffcc7dd05a82),
                                   UINT64_C(0x8e2443f7744608b8), UINT64_C(0x4c263a81e69035e0)};

/* Two words of eight strings. */
struct lanes {
    __m512i lo;
    __m512i hi;
};

/* Eight strings: where they begin and end, and their lengths. */
struct eight_strings {
    const uint8_t *at[EIGHT];
    const uint8_t *end[EIGHT];
    __m512i len;
};

ALWAYS_INLINE __m512i all(uint64_t word)
{
    return _mm512_set1_epi64((long long)word);
}

ALWAYS_INLINE __m512i times(__m512i a, uint64_t b)
{
    return _mm512_mullo_epi64(a, all(b));
}

ALWAYS_INLINE __m512i fold_right(__m512i x, unsigned bits)
{
    return _mm512_xor_si512(x, _mm512_srli_epi64(x, bits));
}

/* a b, 128 bits */
ALWAYS_INLINE struct lanes product(__m512i a, __m512i b)
{
    __m512i a_high = _mm512_srli_epi64(a, 32);
    __m512i b_high = _mm512_srli_epi64(b, 32);
    __m512i low = _mm512_mul_epu32(a, b);
    __m512i middle = _mm512_add_epi64(_mm512_mul_epu32(a_high, b), _mm512_srli_epi64(low, 32));
    __m512i other =
        _mm512_add_epi64(_mm512_mul_epu32(a, b_high), _mm512_and_si512(middle, all(UINT32_MAX)));
    __m512i high =
        _mm512_add_epi64(_mm512_mul_epu32(a_high, b_high), _mm512_srli_epi64(middle, 32));
    return (struct lanes){_mm512_mask_blend_epi32(0xaaaa, low, _mm512_slli_epi64(other, 32)),
                          _mm512_add_epi64(high, _mm512_srli_epi64(other, 32))};
}

/* The last mixing of a word: XXH3's, and XXH64's. */
ALWAYS_INLINE __m512i avalanche(__m512i x)
{
    return fold_right(times(fold_right(x, 37), MIX_1), 32);
}

ALWAYS_INLINE __m512i old_avalanche(__m512i x)
{
    return fold_right(times(fold_right(times(fold_right(x, 33), PRIME64_2), 29), PRIME64_3), 32);
}

/* ---- reading --------------------------------------------------------------------------------- */

ALWAYS_INLINE uint64_t read32(const uint8_t *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

ALWAYS_INLINE __m512i four(__m128i a, __m128i b, __m128i c, __m128i d)
{
    __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
    __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(c), d, 1);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/* Sixteen bytes of each, which read16(j) returns, as two words. */
#define EACH16(read16)                                                                             \
    lanes_of(four(read16(0), read16(2), read16(4), read16(6)),                                     \
             four(read16(1), read16(3), read16(5), read16(7)))

ALWAYS_INLINE struct lanes lanes_of(__m512i even, __m512i odd)
{
    return (struct lanes){_mm512_unpacklo_epi64(even, odd), _mm512_unpackhi_epi64(even, odd)};
}

#define EACH8(read8)                                                                               \
    _mm512_set_epi64((long long)read8(7), (long long)read8(6), (long long)read8(5),                \
                     (long long)read8(4), (long long)read8(3), (long long)read8(2),                \
                     (long long)read8(1), (long long)read8(0))

/* ---- the ways -------------------------------------------------------------------------------- */

ALWAYS_INLINE struct lanes hash_1_to_3(const struct eight_strings *s, uint64_t seed)
{
#define READ(j)                                                                                    \
    ((uint64_t)s->at[j][0] << 16 | (uint64_t)s->at[j][(s->end[j] - s->at[j]) / 2] << 24 |          \
     s->end[j][-1] | (uint64_t)(s->end[j] - s->at[j]) << 8)
    const __m512i swap32 = _mm512_set4_epi32(-1, 0x08090a0b, -1, 0x00010203); /* bytes of a lane */
    const uint64_t x = (secret[0] ^ secret[0] >> 32) & UINT32_MAX;
    const uint64_t y = (secret[1] ^ secret[1] >> 32) & UINT32_MAX;
    __m512i low = EACH8(READ);
    __m512i high = _mm512_rol_epi32(_mm512_shuffle_epi8(low, swap32), 13);
    return (struct lanes){old_avalanche(_mm512_xor_si512(low, all(x + seed))),
                          old_avalanche(_mm512_xor_si512(high, all(y - seed)))};
#undef READ
}

ALWAYS_INLINE struct lanes hash_4_to_8(const struct eight_strings *s, uint64_t seed)
{
#define READ(j) (read32(s->at[j]) | read32(s->end[j] - 4) << 32)
    const uint64_t swapped = seed ^ (uint64_t)__builtin_bswap32((uint32_t)seed) << 32;
    __m512i word = _mm512_xor_si512(EACH8(READ), all((secret[2] ^ secret[3]) + swapped));
    __m512i by = _mm512_add_epi64(all(PRIME64_1), _mm512_slli_epi64(s->len, 2));
    struct lanes d = product(word, by);
    d.hi = _mm512_add_epi64(d.hi, _mm512_slli_epi64(d.lo, 1));
    d.lo = _mm512_xor_si512(d.lo, _mm512_srli_epi64(d.hi, 3));
    d.lo = fold_right(times(fold_right(d.lo, 35), MIX_2), 28);
    d.hi = avalanche(d.hi);
    return d;
#undef READ
}

/* Eight words, which begin `before` bytes before these places; by fours, which wait less. */
ALWAYS_INLINE __m512i words(const uint8_t *const *at, size_t before)
{
#define WORD(j) _mm_loadl_epi64((const __m128i *)(const void *)(at[j] - before))
    __m512i low = _mm512_castsi128_si512(WORD(0));
    __m512i high = _mm512_broadcastq_epi64(WORD(4));
    for (unsigned j = 1; j < 4; j++) {
        low = _mm512_mask_broadcastq_epi64(low, (__mmask8)(1 << j), WORD(j));
        high = _mm512_mask_broadcastq_epi64(high, (__mmask8)(16 << j), WORD(4 + j));
    }
#undef WORD
    return _mm512_mask_blend_epi64(0xf0, low, high);
}

ALWAYS_INLINE struct lanes hash_9_to_16(const struct eight_strings *s, uint64_t seed)
{
    const __m512i swap64 = _mm512_set4_epi32(0x08090a0b, 0x0c0d0e0f, 0x00010203, 0x04050607);
    const __m512i first = all((secret[4] ^ secret[5]) - seed);
    const __m512i last = all((secret[6] ^ secret[7]) + seed);
    struct lanes word = {words(s->at, 0), words(s->end, 8)};
    struct lanes d =
        product(_mm512_xor_si512(word.lo, _mm512_xor_si512(word.hi, first)), all(PRIME64_1));
    word.hi = _mm512_xor_si512(word.hi, last);
    d.lo = _mm512_add_epi64(d.lo, _mm512_slli_epi64(_mm512_sub_epi64(s->len, all(1)), 54));
    d.hi = _mm512_add_epi64(d.hi, word.hi);
    d.hi = _mm512_add_epi64(d.hi, _mm512_mul_epu32(word.hi, all(PRIME32_2 - 1)));
    d.lo = _mm512_xor_si512(d.lo, _mm512_shuffle_epi8(d.hi, swap64));
    struct lanes h = product(d.lo, all(PRIME64_2));
    h.hi = _mm512_add_epi64(h.hi, times(d.hi, PRIME64_2));
    return (struct lanes){avalanche(h.lo), avalanche(h.hi)};
}

/* 16 bytes and two words of the secret: both halves of a product, one exclusive-or the other. */
ALWAYS_INLINE __m512i mix(struct lanes word, const uint64_t *with, uint64_t seed)
{
    struct lanes p = product(_mm512_xor_si512(word.lo, all(with[0] + seed)),
                             _mm512_xor_si512(word.hi, all(with[1] - seed)));
    return _mm512_xor_si512(p.lo, p.hi);
}

/* 16 bytes from `skip` on and as many that end as far from the end. */
ALWAYS_INLINE struct lanes mix_both(struct lanes sum, const struct eight_strings *s, size_t skip,
                                    uint64_t seed)
{
#define FIRST(j) _mm_loadu_si128((const __m128i *)(const void *)(s->at[j] + skip))
#define LAST(j)  _mm_loadu_si128((const __m128i *)(const void *)(s->end[j] - skip - 16))
    struct lanes first = EACH16(FIRST);
    struct lanes last = EACH16(LAST);
    const uint64_t *with = secret + skip / 4;
    sum.lo = _mm512_add_epi64(sum.lo, mix(first, with, seed));
    sum.lo = _mm512_xor_si512(sum.lo, _mm512_add_epi64(last.lo, last.hi));
    sum.hi = _mm512_add_epi64(sum.hi, mix(last, with + 2, seed));
    sum.hi = _mm512_xor_si512(sum.hi, _mm512_add_epi64(first.lo, first.hi));
    return sum;
#undef FIRST
#undef LAST
}

/* `beyond`, a constant: 33 to 64 bytes. */
ALWAYS_INLINE struct lanes hash_17_to_64(const struct eight_strings *s, uint64_t seed, bool beyond)
{
    struct lanes sum = {times(s->len, PRIME64_1), _mm512_setzero_si512()};
    if (beyond) {
        sum = mix_both(sum, s, 16, seed);
    }
    sum = mix_both(sum, s, 0, seed);
    __m512i high = _mm512_add_epi64(times(sum.lo, PRIME64_1), times(sum.hi, PRIME64_4));
    high = _mm512_add_epi64(high, times(_mm512_sub_epi64(s->len, all(seed)), PRIME64_2));
    return (struct lanes){avalanche(_mm512_add_epi64(sum.lo, sum.hi)),
                          _mm512_sub_epi64(_mm512_setzero_si512(), avalanche(high))};
}

enum way { WAY_1_TO_3, WAY_4_TO_8, WAY_9_TO_16, WAY_17_TO_32, WAY_33_TO_64, WAYS };

/* Lengths of a way are above one of these and up to the next. */
static const uint8_t bounds[WAYS + 1] = {0, 3, 8, 16, 32, STRINGS_LONGEST};

ALWAYS_INLINE struct lanes hash(enum way way, const struct eight_strings *s, uint64_t seed)
{
    return way == WAY_1_TO_3    ? hash_1_to_3(s, seed)
           : way == WAY_4_TO_8  ? hash_4_to_8(s, seed)
           : way == WAY_9_TO_16 ? hash_9_to_16(s, seed)
                                : hash_17_to_64(s, seed, way == WAY_33_TO_64);
}

/* ---- strings of all lengths ------------------------------------------------------------------ */

/* The numbers of eight strings, a byte each. */
#define NUMBERS(eight) ((eight)*8 * 0x0101010101010101 + 0x0706050403020100)

/* Eight digests, of 16 bytes each, to where they belong. */
ALWAYS_INLINE void put_eight(struct lanes d, const uint8_t *number, struct tepal_digest *digests)
{
    struct lanes pair = lanes_of(d.lo, d.hi); /* even and odd ones */
#define PUT(j, from, lane)                                                                         \
    _mm_storeu_si128((__m128i *)(void *)&digests[number[j]], _mm512_extracti64x2_epi64(from, lane))
    PUT(0, pair.lo, 0);
    PUT(1, pair.hi, 0);
    PUT(2, pair.lo, 1);
    PUT(3, pair.hi, 1);
    PUT(4, pair.lo, 2);
    PUT(5, pair.hi, 2);
    PUT(6, pair.lo, 3);
    PUT(7, pair.hi, 3);
#undef PUT
}

ALWAYS_INLINE void put_in_order(struct lanes d, struct tepal_digest *digests)
{
    const __m512i low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const __m512i high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    _mm512_storeu_si512(digests, _mm512_permutex2var_epi64(d.lo, low, d.hi));
    _mm512_storeu_si512(digests + 4, _mm512_permutex2var_epi64(d.lo, high, d.hi));
}

/* Of a chunk, those of one way (`mine`, at least one); `lens` has a byte for each. */
ALWAYS_INLINE void hash_some(enum way way, uint64_t seed, const uint8_t *const *keys, __m512i lens,
                             uint64_t mine, struct tepal_digest *digests)
{
    uint8_t number[CHUNK];
    uint8_t len[CHUNK];
    const __m512i numbers = _mm512_setr_epi64(NUMBERS(0), NUMBERS(1), NUMBERS(2), NUMBERS(3),
                                              NUMBERS(4), NUMBERS(5), NUMBERS(6), NUMBERS(7));
    const __m512i first = _mm512_set1_epi8((char)_tzcnt_u64(mine));
    const __m512i order = _mm512_mask_compress_epi8(first, mine, numbers);
    const size_t count = (size_t)_mm_popcnt_u64(mine);
    _mm512_storeu_si512(number, order);
    _mm512_storeu_si512(len, _mm512_permutexvar_epi8(order, lens));
    for (size_t i = 0; i < count; i += EIGHT) {
        struct eight_strings s;
        s.len = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(const void *)(len + i)));
        for (size_t j = 0; j < EIGHT; j++) {
            s.at[j] = keys[number[i + j]];
            s.end[j] = s.at[j] + len[i + j];
        }
        struct lanes d = hash(way, &s, seed);
        if (count < CHUNK) {
            put_eight(d, number + i, digests);
        } else {
            put_in_order(d, digests + i);
        }
    }
}

/* Eight lengths of which `here` are there, as bytes; 255 stands for all that are longer. */
ALWAYS_INLINE __m128i short_lens(const size_t *lens, uint64_t here)
{
    return _mm512_cvtusepi64_epi8(_mm512_maskz_loadu_epi64((__mmask8)here, lens));
}

/* Up to CHUNK strings; one copy for all forms. */
static __attribute__((noinline)) void hash_chunk(const struct tepal_hasher *hasher,
                                                 const uint8_t *const *keys, const size_t *lens,
                                                 size_t count, struct tepal_digest *digests)
{
    const uint64_t here = _bzhi_u64(UINT64_MAX, (uint32_t)count);
    __m128i sixteen[CHUNK / 16];
    uint64_t longer[WAYS + 1];
    for (size_t i = 0; i < CHUNK / 16; i++) {
        sixteen[i] = _mm_unpacklo_epi64(short_lens(lens + 16 * i, here >> 16 * i),
                                        short_lens(lens + 16 * i + 8, here >> (16 * i + 8)));
    }
    __m512i len = four(sixteen[0], sixteen[1], sixteen[2], sixteen[3]);
    for (int way = 0; way <= WAYS; way++) {
        longer[way] = _mm512_cmpgt_epu8_mask(len, _mm512_set1_epi8((char)bounds[way]));
    }
#define WAY(way)                                                                                   \
    do {                                                                                           \
        uint64_t mine = longer[way] & ~longer[(way) + 1];                                          \
        if (mine != 0) {                                                                           \
            hash_some(way, hasher->seed, keys, len, mine, digests);                                \
        }                                                                                          \
    } while (0)
    WAY(WAY_1_TO_3);
    WAY(WAY_4_TO_8);
    WAY(WAY_9_TO_16);
    WAY(WAY_17_TO_32);
    WAY(WAY_33_TO_64);
#undef WAY
    for (uint64_t others = (longer[WAYS] | ~longer[0]) & here; others != 0; others &= others - 1) {
        size_t i = _tzcnt_u64(others);
        digests[i] = tepal_hash_bytes(hasher, keys[i], lens[i]);
    }
}

static void hash_bytes(const struct tepal_hasher *hasher, const void *const *keys,
                       const size_t *lens, size_t count, struct tepal_digest *digests)
{
    for (size_t i = 0; i < count; i += CHUNK) {
        size_t here = count - i < CHUNK ? count - i : CHUNK;
        hash_chunk(hasher, (const uint8_t *const *)keys + i, lens + i, here, digests + i);
    }
}

/* Offsets that go back are of empty strings. */
static void hash_packed(const struct tepal_hasher *hasher, const uint8_t *bytes,
                        const uint64_t *offsets, size_t count, struct tepal_digest *digests)
{
    const uint8_t *keys[CHUNK];
    size_t lens[CHUNK];
    for (size_t i = 0; i < count; i += CHUNK) {
        size_t here = count - i < CHUNK ? count - i : CHUNK;
        for (size_t j = 0; j < here; j++) {
            uint64_t start = offsets[i + j];
            uint64_t end = offsets[i + j + 1];
            keys[j] = end > start ? bytes + start : NULL;
            lens[j] = end > start ? (size_t)(end - start) : 0;
        }
        hash_chunk(hasher, keys, lens, here, digests + i);
    }
}

static void hash_fixed(const struct tepal_hasher *hasher, const uint8_t *keys, size_t width,
                       size_t count, struct tepal_digest *digests)
{
    const uint8_t *key[CHUNK];
    size_t lens[CHUNK];
    for (size_t i = 0; i < count; i += CHUNK) {
        size_t here = count - i < CHUNK ? count - i : CHUNK;
        for (size_t j = 0; j < here; j++) {
            key[j] = width == 0 ? NULL : keys + (i + j) * width;
            lens[j] = width;
        }
        hash_chunk(hasher, key, lens, here, digests + i);
    }
}

const struct strings_hash tepal_strings_avx512 = {hash_bytes, hash_packed, hash_fixed};

#else

const struct strings_hash tepal_strings_avx512 = {0};

#endif
