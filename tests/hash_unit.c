/* hash_unit.c: keys to digests: published vectors, seeds, keys, integers. */
#include "check.h"

static void xxh3_gives_the_published_digests(void **state)
{
    (void)state;
    struct tepal_hasher hasher;
    tepal_hasher_init(&hasher, 0);
    /* XXH3-128 of nothing and of "a", seed 0, as xxhsum -H2 prints them */
    struct tepal_digest d = tepal_hash_bytes(&hasher, NULL, 0);
    assert_true(d.hi == UINT64_C(0x99aa06d3014798d8) && d.lo == UINT64_C(0x6001c324468d497f));
    d = tepal_hash_bytes(&hasher, "a", 1);
    assert_true(d.hi == UINT64_C(0xa96faf705af16834) && d.lo == UINT64_C(0xe6c632b61e964e1f));
}

static void siphash_gives_the_published_digests(void **state)
{
    (void)state;
    /* SipHash-2-4-128 reference vectors: key 00 01 .. 0f, messages of 0 and 15 bytes 00 01 .. */
    struct tepal_hasher hasher = {
        .hash = TEPAL_HASH_SIPHASH,
        .secret = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)}};
    static const uint8_t message[15] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    struct tepal_digest d = tepal_hash_bytes(&hasher, NULL, 0);
    assert_true(d.lo == UINT64_C(0xe6a825ba047f81a3) && d.hi == UINT64_C(0x930255c71472f66d));
    d = tepal_hash_bytes(&hasher, message, sizeof message);
    assert_true(d.lo == UINT64_C(0x11a8b03399e99354) && d.hi == UINT64_C(0xd9c3cf970fec087e));
}

static bool same(struct tepal_digest a, struct tepal_digest b)
{
    return a.lo == b.lo && a.hi == b.hi;
}

static void seeds_and_keys_make_different_digests(void **state)
{
    (void)state;
    static const uint8_t key_a[TEPAL_KEY_BYTES] = "sixteen bytes...";
    static const uint8_t key_b[TEPAL_KEY_BYTES] = "sixteen bytes..,";
    struct tepal_hasher h[5];
    tepal_hasher_init(&h[0], 1);
    tepal_hasher_init(&h[1], 2);
    tepal_hasher_init_keyed(&h[2], 1, key_a);
    tepal_hasher_init_keyed(&h[3], 2, key_a);
    tepal_hasher_init_keyed(&h[4], 1, key_b);
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < i; j++) {
            assert_false(
                same(tepal_hash_bytes(&h[i], "key", 3), tepal_hash_bytes(&h[j], "key", 3)));
            assert_false(same(tepal_hash_u64(&h[i], 7), tepal_hash_u64(&h[j], 7)));
            if (i >= 2 && j >= 2) {
                assert_true(tepal_hasher_check(&h[i]) != tepal_hasher_check(&h[j]));
            }
        }
        assert_int_equal(tepal_hasher_check(&h[i]) == 0, i < 2);
    }
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
        tepal_hasher_init(&hasher, vectors[i][1]);
        struct tepal_digest d = tepal_hash_u64(&hasher, vectors[i][0]);
        assert_true(d.lo == vectors[i][2] && d.hi == vectors[i][3]);
    }
}

static void an_integer_is_not_its_bytes(void **state)
{
    (void)state;
    static const uint8_t key[TEPAL_KEY_BYTES] = "0123456789abcdef";
    struct tepal_hasher hasher[2];
    tepal_hasher_init(&hasher[0], 3);
    tepal_hasher_init_keyed(&hasher[1], 3, key);
    for (int keyed = 0; keyed < 2; keyed++) {
        uint64_t integer = UINT64_C(0x1122334455667788);
        uint8_t bytes[8] = {0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11};
        assert_false(same(tepal_hash_u64(&hasher[keyed], integer),
                          tepal_hash_bytes(&hasher[keyed], bytes, sizeof bytes)));
    }
}

static void many_digests_are_single_digests(void **state)
{
    (void)state;
    static const uint8_t key[TEPAL_KEY_BYTES] = "0123456789abcdef";
    for (int keyed = 0; keyed < 2; keyed++) {
        struct tepal_hasher hasher;
        if (keyed) {
            tepal_hasher_init_keyed(&hasher, 5, key);
        } else {
            tepal_hasher_init(&hasher, 5);
        }
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
        tepal_hash_fixed(&hasher, keys, 13, 100, digests);
        for (size_t i = 0; i < 100; i++) {
            assert_true(same(digests[i], tepal_hash_bytes(&hasher, keys + 13 * i, 13)));
        }
        tepal_hash_u64_many(&hasher, integers, 100, digests);
        for (size_t i = 0; i < 100; i++) {
            assert_true(same(digests[i], tepal_hash_u64(&hasher, integers[i])));
        }
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
            tepal_hasher_init(&hasher, style == 3 ? t : 42);
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
        cmocka_unit_test(seeds_and_keys_make_different_digests),
        cmocka_unit_test(integer_digests_are_pinned),
        cmocka_unit_test(an_integer_is_not_its_bytes),
        cmocka_unit_test(many_digests_are_single_digests),
        cmocka_unit_test(integer_digests_avalanche),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
