/* hash_unit.c: keys to digests: published vectors, seeds, keys, integers. */
#include "check.h"

#include <sodium/crypto_shorthash_siphash24.h>

#include "base/little.h"
#include "hash/siphash.h"

static void xxh3_gives_the_published_digests(void **state)
{
    (void)state;
    struct tepal_hasher hasher;
    tepal_hasher_init(0, &hasher);
    /* XXH3-128 of nothing and of "a", seed 0, as xxhsum -H2 prints them */
    struct tepal_digest d = tepal_hash_bytes(&hasher, NULL, 0);
    assert_true(d.hi == UINT64_C(0x99aa06d3014798d8) && d.lo == UINT64_C(0x6001c324468d497f));
    d = tepal_hash_bytes(&hasher, "a", 1);
    assert_true(d.hi == UINT64_C(0xa96faf705af16834) && d.lo == UINT64_C(0xe6c632b61e964e1f));
}

static bool same(struct tepal_digest a, struct tepal_digest b)
{
    return a.lo == b.lo && a.hi == b.hi;
}

/* Key 00 01 .. 0f, messages 00 01 .. of these lengths. */
struct vector {
    size_t len;
    uint8_t digest[16];
};

/* The reference's. */
static const struct vector published[] = {
    {0, "\xa3\x81\x7f\x04\xba\x25\xa8\xe6\x6d\xf6\x72\x14\xc7\x55\x02\x93"},
    {1, "\xda\x87\xc1\xd8\x6b\x99\xaf\x44\x34\x76\x59\x11\x9b\x22\xfc\x45"},
    {2, "\x81\x77\x22\x8d\xa4\xa4\x5d\xc7\xfc\xa3\x8b\xde\xf6\x0a\xff\xe4"},
    {3, "\x9c\x70\xb6\x0c\x52\x67\xa9\x4e\x5f\x33\xb6\xb0\x29\x85\xed\x51"},
    {4, "\xf8\x81\x64\xc1\x2d\x9c\x8f\xaf\x7d\x0f\x6e\x7c\x7b\xcd\x55\x79"},
    {5, "\x13\x68\x87\x59\x80\x77\x6f\x88\x54\x52\x7a\x07\x69\x0e\x96\x27"},
    {6, "\x14\xee\xca\x33\x8b\x20\x86\x13\x48\x5e\xa0\x30\x8f\xd7\xa1\x5e"},
    {7, "\xa1\xf1\xeb\xbe\xd8\xdb\xc1\x53\xc0\xb8\x4a\xa6\x1f\xf0\x82\x39"},
    {8, "\x3b\x62\xa9\xba\x62\x58\xf5\x61\x0f\x83\xe2\x64\xf3\x14\x97\xb4"},
    {15, "\x54\x93\xe9\x99\x33\xb0\xa8\x11\x7e\x08\xec\x0f\x97\xcf\xc3\xd9"},
    {16, "\x6e\xe2\xa4\xca\x67\xb0\x54\xbb\xfd\x33\x15\xbf\x85\x23\x05\x77"},
    {63, "\x51\x50\xd1\x77\x2f\x50\x83\x4a\x50\x3e\x06\x9a\x97\x3f\xbd\x7c"},
};

/* OpenSSL's (openssl mac -macopt size:16 -macopt c-rounds:1 -macopt d-rounds:3 SIPHASH). */
static const struct vector published13[] = {
    {0, "\xe7\x7e\xbc\xb2\x27\x88\xa5\xbe\xfd\x62\xdb\x6a\xdd\x30\x30\x01"},
    {1, "\xfc\x6f\x37\x04\x60\xd3\xed\xa8\x5e\x05\x73\xcc\x2b\x2f\xf0\x63"},
    {2, "\x75\x78\x7f\x09\x05\x69\x83\x9b\x85\x5b\xc9\x54\x8c\x6a\xea\x95"},
    {3, "\x6b\xc5\xcc\xfa\x1e\xdc\xf7\x9f\x48\x23\x18\x77\x12\xeb\xd7\x43"},
    {4, "\x0c\x78\x4e\x71\xac\x2b\x28\x5a\x9f\x8e\x92\xe7\x8f\xbf\x2c\x25"},
    {5, "\xf3\x28\xdb\x89\x34\x5b\x62\x0c\x79\x52\x29\xa4\x26\x95\x84\x3e"},
    {6, "\xdc\xd0\x3d\x29\xf7\x43\xe7\x10\x09\x51\xb0\xe8\x39\x85\xa6\xf8"},
    {7, "\x10\x84\xb9\x23\xf2\xaa\xe0\xc3\xa6\x2f\x2e\xc8\x08\x48\xab\x77"},
    {8, "\xaa\x12\xfe\xe1\xd5\xe3\xda\xb4\x72\x4f\x16\xab\x35\xf9\xc7\x99"},
    {15, "\xc1\x7e\x55\x05\xb2\xbd\x52\x6c\x29\x21\xcd\xec\x1e\x7e\x01\x09"},
    {16, "\xd0\xa8\xd9\x57\x15\x51\x8e\xeb\xb5\x13\xb0\xf8\x3d\x9e\x17\x93"},
    {63, "\x4c\x58\x00\xe3\x4e\xfe\x42\x6f\x07\x9f\x6b\x0a\xa7\x52\x60\xad"},
};

static void check_vectors(enum tepal_hash hash, const struct vector *vectors, size_t count)
{
    const struct tepal_hasher hasher = {
        .hash = hash, .secret = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)}};
    uint8_t message[64];
    for (uint8_t i = 0; i < sizeof message; i++) {
        message[i] = i;
    }
    for (size_t i = 0; i < count; i++) {
        const uint8_t *digest = vectors[i].digest;
        const struct tepal_digest expected = {little_get64(digest), little_get64(digest + 8)};
        const size_t len = vectors[i].len;
        assert_true(same(tepal_hash_bytes(&hasher, len == 0 ? NULL : message, len), expected));
    }
}

static void siphash_gives_the_published_digests(void **state)
{
    (void)state;
    check_vectors(TEPAL_HASH_SIPHASH, published, sizeof published / sizeof *published);
    check_vectors(TEPAL_HASH_SIPHASH13, published13, sizeof published13 / sizeof *published13);
}

/*
 * SipHash-c-d-128 as the paper draws it: a round of four additions, and a message that is padded to
 * whole words first.
 */
static struct tepal_digest naive_siphash(const uint64_t key[2], const uint8_t *message, size_t len,
                                         int c, int d)
{
    uint64_t v0 = key[0] ^ UINT64_C(0x736f6d6570736575);
    uint64_t v1 = key[1] ^ UINT64_C(0x646f72616e646f6d) ^ 0xee;
    uint64_t v2 = key[0] ^ UINT64_C(0x6c7967656e657261);
    uint64_t v3 = key[1] ^ UINT64_C(0x7465646279746573);
    uint64_t out[2] = {0, 0};
    size_t words = len / 8 + 1;
    for (size_t step = 0; step < words + 2; step++) {
        uint64_t word = 0;
        for (size_t i = 0; i < 8 && step < words; i++) {
            size_t at = 8 * step + i;
            uint8_t byte = at < len ? message[at] : step + 1 == words && i == 7 ? (uint8_t)len : 0;
            word += (uint64_t)byte << (8 * i);
        }
        v3 ^= word;
        v2 ^= step == words ? 0xee : 0;
        v1 ^= step == words + 1 ? 0xdd : 0;
        for (int i = 0; i < (step < words ? c : d); i++) {
            v0 += v1;
            v2 += v3;
            v1 = (v1 << 13 | v1 >> 51) ^ v0;
            v3 = (v3 << 16 | v3 >> 48) ^ v2;
            v0 = v0 << 32 | v0 >> 32;
            v2 += v1;
            v0 += v3;
            v1 = (v1 << 17 | v1 >> 47) ^ v2;
            v3 = (v3 << 21 | v3 >> 43) ^ v0;
            v2 = v2 << 32 | v2 >> 32;
        }
        v0 ^= word;
        if (step >= words) {
            out[step - words] = v0 ^ v1 ^ v2 ^ v3;
        }
    }
    return (struct tepal_digest){out[0], out[1]};
}

/*
 * Against libsodium, which has 2-4, and against the naive one: every length, every alignment,
 * random keys and messages.
 */
static void siphash_is_libsodiums(void **state)
{
    (void)state;
    enum { KEYS = 40, MOST = 300 };
    uint64_t random = 7;
    for (unsigned n = 0; n < KEYS; n++) {
        uint8_t message[MOST + 8];
        uint8_t key[16];
        const uint64_t words[2] = {n == 0   ? 0
                                   : n == 1 ? UINT64_MAX
                                            : check_random(&random),
                                   n == 0   ? 0
                                   : n == 1 ? UINT64_MAX
                                            : check_random(&random)};
        little_put64(key, words[0]);
        little_put64(key + 8, words[1]);
        for (size_t i = 0; i < sizeof message; i++) {
            message[i] = (uint8_t)check_random(&random);
        }
        for (size_t len = 0; len <= MOST; len++) {
            for (size_t start = 0; start < 8; start++) {
                uint8_t theirs[crypto_shorthash_siphashx24_BYTES];
                struct tepal_digest d = tepal_siphash(words, message + start, len);
                assert_int_equal(crypto_shorthash_siphashx24(theirs, message + start, len, key), 0);
                assert_true(d.lo == little_get64(theirs) && d.hi == little_get64(theirs + 8));
                assert_true(same(d, naive_siphash(words, message + start, len, 2, 4)));
                assert_true(same(tepal_siphash13(words, message + start, len),
                                 naive_siphash(words, message + start, len, 1, 3)));
            }
        }
    }
}

static void seeds_and_keys_make_different_digests(void **state)
{
    (void)state;
    static const uint8_t key_a[TEPAL_KEY_BYTES] = "sixteen bytes...";
    static const uint8_t key_b[TEPAL_KEY_BYTES] = "sixteen bytes..,";
    enum { UNKEYED = 2, ALL = 8 };
    struct tepal_hasher h[ALL];
    for (size_t i = 0; i < ALL; i++) {
        enum tepal_hash hash = i < UNKEYED ? TEPAL_HASH_XXH3
                               : i < 5     ? TEPAL_HASH_SIPHASH
                                           : TEPAL_HASH_SIPHASH13;
        uint64_t seed = i == 1 || i == 3 || i == 6 ? 2 : 1;
        assert_int_equal(tepal_hasher_init_by(hash, seed, i == 4 || i == 7 ? key_b : key_a, &h[i]),
                         TEPAL_OK);
    }
    for (size_t i = 0; i < ALL; i++) {
        for (size_t j = 0; j < i; j++) {
            assert_false(
                same(tepal_hash_bytes(&h[i], "key", 3), tepal_hash_bytes(&h[j], "key", 3)));
            assert_false(same(tepal_hash_u64(&h[i], 7), tepal_hash_u64(&h[j], 7)));
            if (i >= UNKEYED && j >= UNKEYED) {
                assert_true(tepal_hasher_check(&h[i]) != tepal_hasher_check(&h[j]));
                assert_true(h[i].secret[0] != h[j].secret[0]);
                assert_true(h[i].integer[0] != h[j].integer[0]);
            }
        }
        assert_int_equal(tepal_hasher_check(&h[i]) == 0, i < UNKEYED);
    }
}

static void hashers_are_made_by_the_hash(void **state)
{
    (void)state;
    static const uint8_t key[TEPAL_KEY_BYTES] = "sixteen bytes...";
    struct tepal_hasher ours;
    struct tepal_hasher theirs;
    memset(&ours, 0, sizeof ours);
    memset(&theirs, 0, sizeof theirs);
    tepal_hasher_init(9, &theirs);
    assert_int_equal(tepal_hasher_init_by(TEPAL_HASH_XXH3, 9, NULL, &ours), TEPAL_OK);
    assert_memory_equal(&ours, &theirs, sizeof ours);
    tepal_hasher_init_keyed(9, key, &theirs);
    assert_int_equal(tepal_hasher_init_by(TEPAL_HASH_SIPHASH, 9, key, &ours), TEPAL_OK);
    assert_memory_equal(&ours, &theirs, sizeof ours);
    assert_int_equal(tepal_hasher_init_by(TEPAL_HASH_SIPHASH13, 9, NULL, &ours), TEPAL_KEY_NEEDED);
    assert_int_equal(tepal_hasher_init_by((enum tepal_hash)3, 9, key, &ours), TEPAL_BAD_PARAMETER);
    assert_memory_equal(&ours, &theirs, sizeof ours); /* untouched */
    assert_false(tepal_hash_is_keyed(TEPAL_HASH_XXH3));
    assert_true(tepal_hash_is_keyed(TEPAL_HASH_SIPHASH));
    assert_true(tepal_hash_is_keyed(TEPAL_HASH_SIPHASH13));
    assert_false(tepal_hash_is_keyed((enum tepal_hash)3));
}

/* On disk for ever, so pinned: computed from the document with another implementation. */
static void integer_digests_are_pinned(void **state)
{
    (void)state;
    static const uint64_t vectors[][4] = {
        {0, 0, UINT64_C(0x7d44ba9ca5cfd5c8), UINT64_C(0x1f4378392aa12ca8)},
        {1, 42, UINT64_C(0x1764211a5cdbc7ee), UINT64_C(0x6fe2d1f476a2a4b6)},
        {UINT64_MAX, UINT64_C(0xdeadbeefcafef00d), UINT64_C(0x7003105ed9d00960),
         UINT64_C(0x1dfd83851a670be0)},
    };
    for (size_t i = 0; i < 3; i++) {
        struct tepal_hasher hasher;
        tepal_hasher_init(vectors[i][1], &hasher);
        struct tepal_digest d = tepal_hash_u64(&hasher, vectors[i][0]);
        assert_true(d.lo == vectors[i][2] && d.hi == vectors[i][3]);
    }
}

static void an_integer_is_not_its_bytes(void **state)
{
    (void)state;
    static const uint8_t key[TEPAL_KEY_BYTES] = "0123456789abcdef";
    for (unsigned i = 0; i < 3; i++) {
        struct tepal_hasher hasher;
        assert_int_equal(tepal_hasher_init_by((enum tepal_hash)i, 3, key, &hasher), TEPAL_OK);
        uint64_t integer = UINT64_C(0x1122334455667788);
        uint8_t bytes[8] = {0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11};
        assert_false(
            same(tepal_hash_u64(&hasher, integer), tepal_hash_bytes(&hasher, bytes, sizeof bytes)));
    }
}

static void many_digests_are_single_digests(void **state)
{
    (void)state;
    static const uint8_t key[TEPAL_KEY_BYTES] = "0123456789abcdef";
    for (unsigned hash = 0; hash < 3; hash++) {
        struct tepal_hasher hasher;
        assert_int_equal(tepal_hasher_init_by((enum tepal_hash)hash, 5, key, &hasher), TEPAL_OK);
        uint8_t keys[100 * 13];
        uint64_t integers[100];
        uint64_t random = 1;
        for (size_t i = 0; i < sizeof keys; i++) {
            keys[i] = (uint8_t)check_random(&random);
        }
        for (size_t i = 0; i < 100; i++) {
            integers[i] = check_random(&random);
        }
        struct tepal_digest digests[100];
        tepal_hash_fixed_many(&hasher, keys, 13, 100, digests);
        for (size_t i = 0; i < 100; i++) {
            assert_true(same(digests[i], tepal_hash_bytes(&hasher, keys + 13 * i, 13)));
        }
        tepal_hash_u64_many(&hasher, integers, 100, digests);
        for (size_t i = 0; i < 100; i++) {
            assert_true(same(digests[i], tepal_hash_u64(&hasher, integers[i])));
        }
        uint64_t offsets[50]; /* lengths 0, 1, 2 and so on */
        for (size_t i = 0; i < 50; i++) {
            offsets[i] = i * (i - 1) / 2;
        }
        tepal_hash_packed_many(&hasher, keys, offsets, 49, digests);
        for (size_t i = 0; i < 49; i++) {
            assert_true(same(digests[i], tepal_hash_bytes(&hasher, keys + offsets[i], i)));
        }
        const uint64_t backwards[3] = {5, 5, 2}; /* both are empty */
        tepal_hash_packed_many(&hasher, keys, backwards, 2, digests);
        assert_true(same(digests[0], tepal_hash_bytes(&hasher, NULL, 0)));
        assert_true(same(digests[1], digests[0]));
        tepal_hash_fixed_many(&hasher, keys, 32, 40, digests);
        for (size_t i = 0; i < 40; i++) {
            assert_true(same(digests[i], tepal_hash_bytes(&hasher, keys + 32 * i, 32)));
        }
    }
}

/*
 * Strings of all lengths in random order, each in memory of its own, so that sanitizers see a byte
 * that is read beside it: vectors sort them by length, and take some of each length at a time.
 */
static void many_strings_of_any_length(void **state)
{
    (void)state;
    enum { LENGTHS = 140, MOST = 200 };
    uint8_t *key[LENGTHS];
    const uint64_t seeds[] = {0, 1, UINT64_C(0x9E3779B97F4A7C15), UINT64_MAX};
    uint64_t random = 9;
    for (size_t len = 0; len < LENGTHS; len++) {
        key[len] = malloc(len == 0 ? 1 : len);
        assert_non_null(key[len]);
        for (size_t i = 0; i < len; i++) {
            key[len][i] = (uint8_t)check_random(&random);
        }
    }
    for (size_t round = 0; round < 2000; round++) {
        struct tepal_hasher hasher;
        const void *keys[MOST];
        size_t lens[MOST];
        struct tepal_digest digests[MOST + 1] = {0};
        size_t count = check_random(&random) % MOST;
        size_t longest = 1 + (round % 8 < 2 ? LENGTHS - 1 : check_random(&random) % LENGTHS);
        tepal_hasher_init(seeds[round % 4], &hasher);
        for (size_t i = 0; i < count; i++) {
            lens[i] = check_random(&random) % longest;
            keys[i] = lens[i] == 0 ? NULL : key[lens[i]];
        }
        tepal_hash_bytes_many(&hasher, keys, lens, count, digests);
        for (size_t i = 0; i < count; i++) {
            assert_true(same(digests[i], tepal_hash_bytes(&hasher, keys[i], lens[i])));
        }
        assert_true(same(digests[count], (struct tepal_digest){0}));
    }
    for (size_t width = 0; width < LENGTHS; width++) {
        struct tepal_hasher hasher;
        struct tepal_digest digests[MOST] = {0};
        size_t count = check_random(&random) % MOST;
        uint8_t *all = malloc(width * count + 1);
        uint64_t offsets[MOST + 1] = {0};
        assert_non_null(all);
        tepal_hasher_init(width, &hasher);
        for (size_t i = 0; i < count; i++) {
            if (width > 0) {
                memcpy(all + i * width, key[width], width);
            }
            for (size_t j = 0; j < width; j += 3) {
                all[i * width + j] = (uint8_t)check_random(&random);
            }
            offsets[i + 1] = (i + 1) * width;
        }
        tepal_hash_fixed_many(&hasher, all, width, count, digests);
        for (size_t i = 0; i < count; i++) {
            assert_true(same(digests[i], tepal_hash_bytes(&hasher, all + i * width, width)));
            digests[i].hi++;
        }
        tepal_hash_packed_many(&hasher, all, offsets, count, digests);
        for (size_t i = 0; i < count; i++) {
            assert_true(same(digests[i], tepal_hash_bytes(&hasher, all + i * width, width)));
        }
        free(all);
    }
    /* Offsets that go back, the first of them from nowhere, are of empty strings. */
    for (size_t count = 1; count < MOST; count++) {
        struct tepal_hasher hasher;
        struct tepal_digest digests[MOST];
        uint64_t offsets[MOST + 1] = {UINT64_MAX};
        tepal_hasher_init(count, &hasher);
        for (size_t i = 1; i <= count; i++) {
            offsets[i] = check_random(&random) % LENGTHS;
        }
        tepal_hash_packed_many(&hasher, key[LENGTHS - 1], offsets, count, digests);
        for (size_t i = 0; i < count; i++) {
            size_t len = offsets[i + 1] > offsets[i] ? (size_t)(offsets[i + 1] - offsets[i]) : 0;
            const uint8_t *at = len == 0 ? NULL : key[LENGTHS - 1] + offsets[i];
            assert_true(same(digests[i], tepal_hash_bytes(&hasher, at, len)));
        }
    }
    for (size_t len = 0; len < LENGTHS; len++) {
        free(key[len]);
    }
}

/*
 * One flipped bit of the key or of the seed flips each bit of the digest with probability 1/2, for
 * random, small and shifted integers: 128 x 64 z-tests each, so their limit is wider by the root of
 * two (8192 tests at |z| > 6.5 have a false-alarm probability of 7e-7; at 7.5, 5e-10).
 */
static void integer_digests_avalanche(void **state)
{
    (void)state;
    enum { TRIALS = 4096 };
    static uint32_t flips[64][128];
    for (int style = 0; style < 4; style++) {
        memset(flips, 0, sizeof flips);
        uint64_t random = 100 + (uint64_t)style;
        for (uint64_t t = 0; t < TRIALS; t++) {
            uint64_t key = style == 0 ? check_random(&random) : style == 1 ? t : t << 44;
            struct tepal_hasher hasher;
            tepal_hasher_init(style == 3 ? t : 42, &hasher);
            struct tepal_digest a = tepal_hash_u64(&hasher, key);
            for (int bit = 0; bit < 64; bit++) {
                struct tepal_digest b = tepal_hash_u64(&hasher, key ^ (uint64_t)1 << bit);
                for (int out = 0; out < 64; out++) {
                    flips[bit][out] += (uint32_t)((a.lo ^ b.lo) >> out & 1);
                    flips[bit][out + 64] += (uint32_t)((a.hi ^ b.hi) >> out & 1);
                }
            }
        }
        for (int bit = 0; bit < 64; bit++) {
            for (int out = 0; out < 128; out++) {
                /*
                 * lo = hi * C: its low bits see the low bits of hi alone (bit 0 is bit 0 of hi),
                 * which is still a fair coin; only a bias of the mixing itself could show here.
                 */
                double z = (flips[bit][out] - TRIALS / 2.0) / sqrt(TRIALS / 4.0);
                if (!(fabs(z) <= 7.5)) {
                    print_error("style %d, key bit %d, digest bit %d: z = %.1f\n", style, bit, out,
                                z);
                    fail();
                }
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(xxh3_gives_the_published_digests),
        cmocka_unit_test(siphash_gives_the_published_digests),
        cmocka_unit_test(siphash_is_libsodiums),
        cmocka_unit_test(seeds_and_keys_make_different_digests),
        cmocka_unit_test(hashers_are_made_by_the_hash),
        cmocka_unit_test(integer_digests_are_pinned),
        cmocka_unit_test(an_integer_is_not_its_bytes),
        cmocka_unit_test(many_digests_are_single_digests),
        cmocka_unit_test(many_strings_of_any_length),
        cmocka_unit_test(integer_digests_avalanche),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
