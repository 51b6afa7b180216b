/*
 * wildcards_unit.c: queries of generalized filters that ignore bits: against a naive reference with
 * any mask, for keys that were added before others of which the bits are ignored, and the rates and
 * the bound of the model against every outcome of tiny filters.
 */
#include "check.h"
#include "generalized_help.h"

#include <tepal/papers.h>

#define BITS  1024
#define WORDS (BITS / 64)

/* The same filter three times: with bits drawn at random, all 0, and all 1. */
struct trio {
    struct tepal_filter *mixed;
    struct tepal_filter *zeros;
    struct tepal_filter *ones;
};

static struct tepal_filter *make(enum tepal_layout layout, enum tepal_positions positions,
                                 uint32_t k0, uint32_t k1, uint32_t b, double zeros)
{
    struct tepal_params p;
    struct tepal_filter *g = NULL;
    assert_ok(set_generalized(BITS, k0, k1, zeros, b, 77, &p));
    p.layout = layout;
    p.positions = positions;
    assert_ok(tepal_filter_create(&p, NULL, &g, NULL));
    return g;
}

static uint64_t word(const struct tepal_filter *g, size_t i)
{
    size_t count;
    return tepal_filter_words(g, &count)[i];
}

/*
 * Adding a key to zeros shows what it sets, to ones what it resets; so a query can be done by
 * hand.
 */
static void check_key(struct trio *f, struct tepal_digest key, const uint64_t *mask, uint32_t b)
{
    uint64_t touched[WORDS] = {0};
    uint32_t inverted = 0;
    bool found = false;
    assert_ok(tepal_filter_clear(f->zeros));
    assert_ok(tepal_filter_clear(f->ones));
    assert_ok(tepal_filter_add(f->zeros, key));
    assert_ok(tepal_filter_add(f->ones, key));
    assert_ok(tepal_generalized_touch(f->mixed, key, touched));
    for (size_t i = 0; i < WORDS; i++) {
        uint64_t sets = word(f->zeros, i);
        uint64_t resets = ~word(f->ones, i);
        assert_true(touched[i] == (sets | resets));
        uint64_t wrong = ((sets & ~word(f->mixed, i)) | (resets & word(f->mixed, i))) & ~mask[i];
        inverted += (uint32_t)__builtin_popcountll(wrong);
    }
    assert_ok(tepal_generalized_query_wild(f->mixed, key, mask, &found));
    assert_true(found == (inverted <= b));
}

static void any_mask_against_counting_by_hand(void **state)
{
    (void)state;
    uint64_t random = 1;
    const uint64_t none[WORDS] = {0};
    uint64_t all[WORDS];
    memset(all, 0xff, sizeof all);
    for (int at = 0; at < 4 * 3 * 3; at++) {
        enum tepal_layout layout = at % 2 == 0 ? TEPAL_LAYOUT_FLAT : TEPAL_LAYOUT_BLOCKED;
        enum tepal_positions positions =
            at / 2 % 2 == 0 ? TEPAL_POSITIONS_COLLIDING : TEPAL_POSITIONS_DISTINCT;
        uint32_t b = (uint32_t)at / 4 % 3;
        uint32_t k0 = (uint32_t[]){2, 3, 7}[at / 12];
        uint32_t k1 = (uint32_t[]){2, 5, 6}[at / 12];
        struct trio f = {make(layout, positions, k0, k1, b, 0.5),
                         make(layout, positions, k0, k1, b, 1),
                         make(layout, positions, k0, k1, b, 0)};
        int found_wild = 0;
        for (int i = 0; i < 300; i++) {
            struct tepal_digest key = check_digest(&random);
            uint64_t mask[WORDS];
            bool found = false;
            for (size_t w = 0; w < WORDS; w++) { /* a quarter, a half, three quarters */
                mask[w] = check_random(&random);
                mask[w] = i % 3 == 0   ? mask[w] & check_random(&random)
                          : i % 3 == 1 ? mask[w] | check_random(&random)
                                       : mask[w];
            }
            check_key(&f, key, mask, b);
            check_key(&f, key, none, b);
            assert_ok(tepal_generalized_query_wild(f.mixed, key, none, &found));
            assert_true(found == tepal_filter_query(f.mixed, key));
            assert_ok(tepal_generalized_query_wild(f.mixed, key, all, &found));
            assert_true(found);
            assert_ok(tepal_generalized_query_wild(f.mixed, key, mask, &found));
            found_wild += found;
        }
        assert_in_range(found_wild, 1, 299); /* both answers were seen */
        tepal_filter_free(f.mixed);
        tepal_filter_free(f.zeros);
        tepal_filter_free(f.ones);
    }
}

/* Whatever the first bits, no key is lost if the bits of all later ones are ignored. */
static void none_is_missed(void **state)
{
    (void)state;
    uint64_t random = 2;
    static struct tepal_digest key[400];
    for (int at = 0; at < 6; at++) {
        struct tepal_filter *g = make(at % 2 == 0 ? TEPAL_LAYOUT_FLAT : TEPAL_LAYOUT_BLOCKED,
                                      TEPAL_POSITIONS_COLLIDING, 5, 5, 0, at / 2 * 0.5);
        uint64_t mask[WORDS] = {0};
        size_t plain = 0;
        check_digests(&random, key, COUNT(key));
        assert_ok(tepal_filter_add_many(g, key, COUNT(key)));
        for (size_t i = COUNT(key); i-- > 0;) {
            bool found = false;
            assert_ok(tepal_generalized_query_wild(g, key[i], mask, &found));
            assert_true(found);
            plain += tepal_filter_query(g, key[i]);
            assert_ok(tepal_generalized_touch(g, key[i], mask));
        }
        assert_true(plain < COUNT(key) / 2); /* without, most are forgotten */
        tepal_filter_free(g);
    }
}

/* ---- the model ------------------------------------------------------------------------------- */

/* Does a key with these positions pass if the first `wild` bits are ignored, the next `zeros` 0? */
static bool passes(const uint32_t *at, uint32_t k0, uint32_t k, uint32_t wild, uint32_t zeros,
                   uint32_t b)
{
    uint32_t reset = 0;
    uint32_t set = 0;
    for (uint32_t i = 0; i < k; i++) {
        uint32_t *of = i < k0 ? &reset : &set;
        *of |= 1u << at[i];
    }
    uint32_t ignored = (1u << wild) - 1;
    uint32_t zero = ((1u << zeros) - 1) << wild;
    uint32_t wrong = (reset & ~zero & ~ignored) | (set & ~reset & zero);
    return (uint32_t)__builtin_popcount(wrong) <= b;
}

/* All m^k positions. */
static double every_outcome(uint32_t m, uint32_t wild, uint32_t zeros, uint32_t k0, uint32_t k1,
                            uint32_t b)
{
    uint32_t at[8] = {0};
    uint64_t hits = 0;
    uint64_t all = 0;
    for (uint32_t i = 0; i < k0 + k1;) {
        hits += passes(at, k0, k0 + k1, wild, zeros, b);
        all++;
        for (i = 0; i < k0 + k1 && ++at[i] == m; i++) {
            at[i] = 0;
        }
    }
    return (double)hits / (double)all;
}

static void rates_are_those_of_every_outcome(void **state)
{
    (void)state;
    for (uint32_t m = 1; m <= 6; m++) {
        for (uint32_t hashes = 1; hashes < 16; hashes++) {
            uint32_t k0 = hashes % 4;
            uint32_t k1 = hashes / 4;
            for (uint32_t b = 0; b < 3; b++) {
                for (uint32_t wild = 0; wild <= m; wild++) {
                    double highest = 0;
                    for (uint32_t zeros = 0; zeros + wild <= m; zeros++) {
                        double all = every_outcome(m, wild, zeros, k0, k1, b);
                        double rate = tepal_generalized_fp_wild(m, wild, zeros, k0, k1, b);
                        highest = fmax(highest, all);
                        assert_true(fabs(rate - all) < 1e-12);
                    }
                    double bound = tepal_generalized_fp_bound_wild(m, wild, k0, k1, b);
                    bool bounded = b < (k0 < k1 ? k0 : k1);
                    assert_true(bounded ? fabs(bound - highest) < 1e-12 : bound == 1);
                }
            }
        }
    }
}

/* F_p (1 + w)^k in a large filter, up to where one of the two bases would exceed 1. */
static void the_bound_is_fp_times_a_power(void **state)
{
    (void)state;
    const double m = 1 << 20;
    for (uint32_t k0 = 1; k0 <= 6; k0++) {
        for (uint32_t k1 = 1; k1 <= 6; k1++) {
            for (int tenths = 0; tenths <= 10; tenths++) {
                uint64_t wild = (uint64_t)(m * tenths / 10);
                double w = (double)wild / m;
                double k = k0 + k1;
                double larger = k0 > k1 ? k0 : k1;
                double got = tepal_generalized_fp_bound_wild((uint64_t)m, wild, k0, k1, 0);
                double want = (1 + w) * larger <= k
                                  ? tepal_generalized_fp_bound(k0, k1, 0) * pow(1 + w, k)
                                  : pow(w, k0 + k1 - larger);
                assert_true(fabs(got / want - 1) < 200 / m); /* 1 + k0 k / m, k0 k <= 72 */
            }
        }
    }
    /* more bits ignored, more pass */
    for (uint64_t wild = 1; wild <= 512; wild++) {
        assert_true(tepal_generalized_fp_bound_wild(512, wild, 5, 4, 1) >=
                    tepal_generalized_fp_bound_wild(512, wild - 1, 5, 4, 1));
    }
    assert_true(tepal_generalized_fp_bound_wild(512, 0, 5, 5, 2) ==
                tepal_generalized_fp_bound_finite(TEPAL_GENERALIZED_PRECEDENCE, 512, 5, 5, 2));
    assert_true(isnan(tepal_generalized_fp_wild(8, 5, 4, 2, 2, 0)));
    assert_true(isnan(tepal_generalized_fp_wild(8, 9, 0, 2, 2, 0)));
    assert_true(isnan(tepal_generalized_fp_bound_wild(8, 9, 2, 2, 0)));
    assert_true(isnan(tepal_generalized_fp_bound_wild(0, 0, 2, 2, 0)));
    assert_true(isnan(tepal_generalized_fp_bound_wild(8, 0, 60, 5, 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_mask_against_counting_by_hand),
        cmocka_unit_test(none_is_missed),
        cmocka_unit_test(rates_are_those_of_every_outcome),
        cmocka_unit_test(the_bound_is_fp_times_a_power),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
