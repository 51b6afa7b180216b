/*
 * receive_unit.c: filters from strangers: every reason to refuse one, every attack that is known
 * here, and honest filters of every layout, which must pass. The number of ones that an honest
 * filter has is compared with a naive reference that throws balls.
 *
 * Honest filters are judged at a probability of 1e-6; there are fewer than 400 of them, with fixed
 * seeds.
 */
#include "check.h"
#include "generalized_help.h"

#include <tepal/papers.h>

#include <unistd.h>

#include "file_help.h"
#include "model/occupancy.h"

static struct tepal_params bloom_params(enum tepal_layout layout, uint64_t bits, uint32_t k)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.layout = layout;
    p.cells = bits;
    p.hashes = k;
    p.seed = 42;
    return p;
}

static struct tepal_filter *filled(const struct tepal_params *p, uint64_t keys, uint64_t seed)
{
    struct tepal_filter *f = NULL;
    assert_ok(tepal_filter_create(p, NULL, &f, NULL));
    for (uint64_t i = 0; i < keys; i++) {
        assert_ok(tepal_filter_add(f, check_digest(&seed)));
    }
    return f;
}

/* Through the encoded form, as it would come. */
static enum tepal_verdict received(const struct tepal_filter *f, const struct tepal_terms *terms,
                                   struct tepal_judgement *judgement)
{
    size_t len;
    uint8_t *bytes = encoded(f, &len);
    struct tepal_filter *got = NULL;
    assert_ok(tepal_receive(bytes, len, terms, NULL, &got, judgement, NULL));
    assert_int_equal(got != NULL, judgement->verdict == TEPAL_ACCEPTED);
    assert_int_equal(judgement->why[0] == '\0', judgement->verdict == TEPAL_ACCEPTED);
    if (got != NULL) {
        assert_true(tepal_filter_equal(f, got));
    }
    tepal_filter_free(got);
    free(bytes);
    return judgement->verdict;
}

static void expect(const struct tepal_filter *f, const struct tepal_terms *terms,
                   enum tepal_verdict verdict, const char *words)
{
    struct tepal_judgement r;
    enum tepal_verdict got = received(f, terms, &r);
    if (got != verdict || strstr(r.why, words) == NULL) {
        print_error("%s: '%s', not %s: '%s'\n", tepal_verdict_name(got), r.why,
                    tepal_verdict_name(verdict), words);
        fail();
    }
}

static uint64_t *words_of(struct tepal_filter *f)
{
    size_t count;
    return (uint64_t *)(uintptr_t)tepal_filter_words(f, &count);
}

/* ---- how many ones -------------------------------------------------------------------------- */

/* Measured mean and variance of the ones of a filter, against the formula. */
static void check_occupancy(const struct tepal_params *p, uint64_t n, struct occupancy expected)
{
    const int rounds = 4000;
    double sum = 0;
    double squares = 0;
    double fourth = 0;
    uint64_t seed = p->cells * 31 + n;
    struct tepal_filter *f = NULL;
    struct tepal_params fresh = *p;
    for (int i = 0; i < rounds; i++) {
        fresh.seed = check_random(&seed); /* another initial state, if it is drawn */
        assert_ok(tepal_filter_create(&fresh, NULL, &f, NULL));
        for (uint64_t key = 0; key < n; key++) {
            assert_ok(tepal_filter_add(f, check_digest(&seed)));
        }
        size_t count;
        const uint64_t *words = tepal_filter_words(f, &count);
        double ones = 0;
        for (size_t w = 0; w < count; w++) {
            ones += __builtin_popcountll(words[w]);
        }
        double off = ones - expected.mean;
        sum += off;
        squares += off * off;
        fourth += off * off * off * off;
        tepal_filter_free(f);
    }
    double variance = squares / rounds;
    check_within("mean of the ones", sum / rounds, 0, sqrt(expected.variance / rounds) + 1e-9);
    /* the variance of a squared deviation is the fourth moment minus the squared variance */
    check_within("variance of the ones", variance, expected.variance,
                 sqrt((fourth / rounds - variance * variance) / rounds) + 1e-9);
}

static void test_occupancy_bloom(void **state)
{
    (void)state;
    static const struct {
        enum tepal_layout layout;
        enum tepal_positions positions;
        uint64_t bits;
        uint32_t k;
        uint64_t n;
    } at[] = {
        {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 256, 6, 15},
        {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_DISTINCT, 256, 6, 15},
        {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_DISTINCT, 20, 9, 3},
        {TEPAL_LAYOUT_PARTITIONED, TEPAL_POSITIONS_COLLIDING, 250, 7, 20},
        {TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_COLLIDING, 2048, 6, 150},
        {TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_COLLIDING, 1024, 11, 60},
        {TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_COLLIDING, 512, 4, 40},
        {TEPAL_LAYOUT_PAIRED, TEPAL_POSITIONS_COLLIDING, 2048, 7, 150},
        {TEPAL_LAYOUT_PAIRED, TEPAL_POSITIONS_DISTINCT, 1536, 7, 100},
        {TEPAL_LAYOUT_PAIRED, TEPAL_POSITIONS_COLLIDING, 1024, 1, 200},
    };
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        struct tepal_params p = bloom_params(at[i].layout, at[i].bits, at[i].k);
        p.positions = at[i].positions;
        check_occupancy(&p, at[i].n, tepal_occupancy_bloom(&p, at[i].n));
    }
}

static void test_occupancy_generalized(void **state)
{
    (void)state;
    static const struct {
        enum tepal_layout layout;
        enum tepal_positions positions;
        uint64_t bits;
        uint32_t k0;
        uint32_t k1;
        double zeros;
        uint64_t n;
    } at[] = {
        {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 256, 2, 2, 1, 30},
        {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 100, 1, 4, 0.5, 20},
        {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 64, 3, 3, 0, 400},
        {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 128, 0, 5, 1, 20},
        {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 128, 4, 0, 0.25, 20},
        {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_DISTINCT, 60, 4, 6, 0.75, 15},
        {TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_COLLIDING, 1024, 2, 3, 1, 200},
        {TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_COLLIDING, 512, 4, 4, 0, 100},
    };
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        struct tepal_params p;
        assert_ok(set_generalized(at[i].bits, at[i].k0, at[i].k1, at[i].zeros, 0, 1, &p));
        p.layout = at[i].layout;
        p.positions = at[i].positions;
        check_occupancy(&p, at[i].n,
                        tepal_occupancy_generalized(&p, at[i].n, at[i].k0, at[i].k1, at[i].zeros));
    }
}

/* With k0 = 0 and all zeros, it is a Bloom filter: two ways to the same numbers. */
static void test_occupancy_agrees(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 3000; n *= 3) {
        struct tepal_params p = bloom_params(TEPAL_LAYOUT_FLAT, 10007, 5);
        struct occupancy a = tepal_occupancy_bloom(&p, n);
        struct occupancy b = tepal_occupancy_generalized(&p, n, 0, 5, 1);
        assert_true(fabs(a.mean - b.mean) < 1e-9 * a.mean);
        assert_true(fabs(a.variance - b.variance) <= 1e-6 * a.variance + 1e-9);
        p = bloom_params(TEPAL_LAYOUT_BLOCKED, 5120, 5);
        a = tepal_occupancy_bloom(&p, n);
        b = tepal_occupancy_generalized(&p, n, 0, 5, 1);
        assert_true(fabs(a.mean - b.mean) < 1e-9 * a.mean);
        assert_true(fabs(a.variance - b.variance) <= 1e-6 * a.variance + 1e-9);
    }
}

/* Exact tails: two throws into two cells; and a sum that must be one. */
static void test_tails(void **state)
{
    (void)state;
    struct tepal_params p = bloom_params(TEPAL_LAYOUT_FLAT, 2, 1);
    struct occupancy_tails t = tepal_occupancy_tails(&p, 2, 2);
    assert_true(fabs(t.above - 0.5) < 1e-12 && fabs(t.below - 1) < 1e-12);
    t = tepal_occupancy_tails(&p, 2, 1);
    assert_true(fabs(t.above - 1) < 1e-12 && fabs(t.below - 0.5) < 1e-12);
    /* distinct: one key of 3 in 5 cells has 3 ones, two keys have 3, 4, 5 with 1, 6, 3 of 10 */
    p = bloom_params(TEPAL_LAYOUT_FLAT, 5, 3);
    p.positions = TEPAL_POSITIONS_DISTINCT;
    t = tepal_occupancy_tails(&p, 1, 3);
    assert_true(fabs(t.above - 1) < 1e-12 && fabs(t.below - 1) < 1e-12);
    t = tepal_occupancy_tails(&p, 2, 4);
    assert_true(fabs(t.above - 0.9) < 1e-12 && fabs(t.below - 0.7) < 1e-12);
    /* exact and normal agree where both are good */
    p = bloom_params(TEPAL_LAYOUT_FLAT, 4096, 4);
    struct occupancy o = tepal_occupancy_bloom(&p, 700);
    for (int z = -3; z <= 3; z++) {
        uint64_t ones = (uint64_t)lround(o.mean + z * sqrt(o.variance));
        struct occupancy_tails exact = tepal_occupancy_tails(&p, 700, ones);
        struct occupancy_tails normal = tepal_occupancy_normal(o, ones);
        assert_true(fabs(exact.above - normal.above) < 0.003);
        assert_true(fabs(exact.below - normal.below) < 0.003);
        assert_true(exact.above + exact.below > 1);
    }
}

/* The fullest of many lines, against filters: the chance must not be understated. */
static void test_fullest(void **state)
{
    (void)state;
    struct tepal_params p = bloom_params(TEPAL_LAYOUT_BLOCKED, 512 * 64, 5);
    const int rounds = 600;
    int above[600] = {0};
    uint64_t seed = 5;
    for (int i = 0; i < rounds; i++) {
        struct tepal_filter *f = filled(&p, 3000, check_random(&seed));
        uint32_t fullest = 0;
        for (size_t line = 0; line < 64; line++) {
            uint32_t ones = 0;
            for (size_t w = 0; w < 8; w++) {
                ones += (uint32_t)__builtin_popcountll(words_of(f)[8 * line + w]);
            }
            fullest = ones > fullest ? ones : fullest;
        }
        for (uint32_t x = 0; x <= fullest; x++) {
            above[x]++;
        }
        tepal_filter_free(f);
    }
    int looked = 0;
    for (uint32_t x = 0; x <= 512; x++) {
        double expected = tepal_occupancy_fullest(&p, 3000, x);
        double error = sqrt(expected * (1 - expected) / rounds) + 1e-9;
        double measured = above[x] / (double)rounds;
        assert_true(measured <= expected + CHECK_Z * error);
        if (expected > 0.02 && expected < 0.98) { /* and it is not far off */
            assert_true(measured >= expected - 0.1 - CHECK_Z * error);
            looked++;
        }
    }
    assert_true(looked > 20);
    assert_true(tepal_occupancy_fullest(&p, 3000, 512) < 1e-30);
    assert_true(tepal_occupancy_fullest(&p, 0, 1) == 0);
    assert_true(tepal_occupancy_fullest(&p, 10000000, 512) == 1);
}

/* ---- honest ones ---------------------------------------------------------------------------- */

static void test_honest(void **state)
{
    (void)state;
    const struct tepal_terms init = TEPAL_TERMS_INIT;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        for (uint32_t layout = 0; layout < 4; layout++) {
            for (uint64_t keys = 0; keys <= 2000; keys = keys * 4 + 8) {
                struct tepal_terms terms = init;
                struct tepal_params p = bloom_params((enum tepal_layout)layout, 20480, 5);
                struct tepal_filter *f = filled(&p, keys, seed * 1000 + keys);
                terms.agreed = TEPAL_AGREED_ALL;
                terms.params = p;
                expect(f, &terms, TEPAL_ACCEPTED, "");
                tepal_filter_free(f);
            }
        }
        for (uint32_t layout = 0; layout <= 2; layout += 2) {
            struct tepal_params p;
            assert_ok(set_generalized(20480, 2, 3, (double)(seed % 3) * 0.5, 0, seed, &p));
            p.layout = (enum tepal_layout)layout;
            struct tepal_filter *f = filled(&p, 300 * seed, seed);
            expect(f, &init, TEPAL_ACCEPTED, "");
            tepal_filter_free(f);
        }
    }
}

/* ---- what was agreed ------------------------------------------------------------------------ */

static void test_agreement(void **state)
{
    (void)state;
    struct tepal_params p;
    assert_ok(set_generalized(1024, 2, 3, 1, 1, 7, &p));
    struct tepal_filter *f = filled(&p, 20, 1);
    struct tepal_terms terms = TEPAL_TERMS_INIT;
    terms.params = p;
    terms.agreed = TEPAL_AGREED_ALL;
    terms.max_fp = 1;
    expect(f, &terms, TEPAL_ACCEPTED, "");
#define OTHERWISE(field, value, words)                                                             \
    do {                                                                                           \
        terms.params = p;                                                                          \
        terms.params.field = (value);                                                              \
        expect(f, &terms, TEPAL_REFUSED_PARAMETERS, words);                                        \
    } while (0)
    OTHERWISE(kind, TEPAL_KIND_BLOOM, "the kind is generalized, but bloom was agreed");
    OTHERWISE(layout, TEPAL_LAYOUT_BLOCKED, "the layout is flat, but blocked was agreed");
    OTHERWISE(positions, TEPAL_POSITIONS_DISTINCT, "colliding, but distinct was agreed");
    OTHERWISE(cells, 2048, "bits: 1024, but 2048 was agreed");
    OTHERWISE(hashes, 6, "hashes: 5, but 6 was agreed");
    OTHERWISE(seed, 8, "seed: 7, but 8 was agreed");
    OTHERWISE(hash, TEPAL_HASH_SIPHASH, "the hash is xxh3-128, but siphash-128 was agreed");
    OTHERWISE(generalized.reset_hashes, 3, "hash functions that reset: 2, but 3 was agreed");
    OTHERWISE(generalized.tolerance, 0, "tolerance: 1, but 0 was agreed");
    OTHERWISE(generalized.ones, 1, "initial share of ones");
    OTHERWISE(own[7], 1, "a parameter of its kind: 0, but 1");
    /* what was not agreed on may be anything; neither does the capacity count */
    terms.params = p;
    terms.params.capacity = 99;
    expect(f, &terms, TEPAL_ACCEPTED, "");
    terms.params.cells = 2048;
    terms.agreed = TEPAL_AGREED_ALL & ~(unsigned)TEPAL_AGREED_BITS;
    expect(f, &terms, TEPAL_ACCEPTED, "");
    /* one of the kind's own by its name */
    terms.params = p;
    terms.params.generalized.reset_hashes = 1;
    terms.agreed = TEPAL_AGREED_FIELD(generalized.tolerance);
    expect(f, &terms, TEPAL_ACCEPTED, "");
    terms.params.generalized.tolerance = 0;
    expect(f, &terms, TEPAL_REFUSED_PARAMETERS, "tolerance: 1, but 0 was agreed");
    /* claims */
    terms.agreed = 0;
    terms.max_keys = 20;
    expect(f, &terms, TEPAL_ACCEPTED, "");
    terms.max_keys = 19;
    expect(f, &terms, TEPAL_REFUSED_KEYS, "it claims 20 keys; the limit is 19");
    tepal_filter_free(f);
}

static void check_secret_keys(enum tepal_hash hash)
{
    static const uint8_t ours[TEPAL_KEY_BYTES] = {1};
    static const uint8_t theirs[TEPAL_KEY_BYTES] = {2};
    struct tepal_params p = bloom_params(TEPAL_LAYOUT_FLAT, 1024, 4);
    struct tepal_filter *plain = filled(&p, 50, 1);
    p.hash = hash;
    struct tepal_filter *keyed = filled(&p, 50, 1);
    assert_ok(tepal_filter_set_key(keyed, theirs));
    struct tepal_terms terms = TEPAL_TERMS_INIT;
    expect(keyed, &terms, TEPAL_ACCEPTED, ""); /* nothing was agreed */
    terms.key = ours;
    expect(keyed, &terms, TEPAL_REFUSED_PARAMETERS, "it was built with another secret key");
    expect(plain, &terms, TEPAL_REFUSED_PARAMETERS, "it was built without a secret key");
    terms.key = NULL;
    terms.agreed = TEPAL_AGREED_HASH;
    terms.params = *tepal_filter_params(keyed);
    expect(keyed, &terms, TEPAL_ACCEPTED, "");
    expect(plain, &terms, TEPAL_REFUSED_PARAMETERS, "the hash is xxh3-128");
    terms.params.key_check ^= 1;
    expect(keyed, &terms, TEPAL_REFUSED_PARAMETERS, "it was built with another secret key");
    /* with the right key, the filter comes ready to be asked */
    terms.agreed = 0;
    terms.key = theirs;
    size_t len;
    uint8_t *bytes = encoded(keyed, &len);
    struct tepal_judgement r;
    struct tepal_filter *got = NULL;
    struct tepal_hasher hasher;
    assert_ok(tepal_receive(bytes, len, &terms, NULL, &got, &r, NULL));
    assert_non_null(got);
    assert_ok(tepal_filter_hasher(got, &hasher));
    tepal_filter_free(got);
    free(bytes);
    tepal_filter_free(keyed);
    tepal_filter_free(plain);
}

static void test_secret_keys(void **state)
{
    (void)state;
    check_secret_keys(TEPAL_HASH_SIPHASH);
    check_secret_keys(TEPAL_HASH_SIPHASH13);
}

/* ---- attacks -------------------------------------------------------------------------------- */

static void test_all_ones(void **state)
{
    (void)state;
    struct tepal_terms terms = TEPAL_TERMS_INIT;
    for (uint32_t layout = 0; layout < 4; layout++) {
        struct tepal_params p = bloom_params((enum tepal_layout)layout, 10240, 4);
        struct tepal_filter *f = filled(&p, 1000, 3);
        memset(words_of(f), 0xff, 10240 / 8);
        expect(f, &terms, TEPAL_REFUSED_FP, "it finds 100 % of all keys");
        terms.max_fp = 1; /* whoever takes any rate still sees that it is not honest */
        expect(f, &terms, TEPAL_REFUSED_FILL,
               "100 % of its bits are ones, but 1000 keys are expected to set");
        terms.min_probability = 0;
        expect(f, &terms, TEPAL_ACCEPTED, "");
        terms.min_probability = 1e-6;
        terms.max_fp = 0.1;
        tepal_filter_free(f);
    }
    /* a generalized filter passes nothing then, but 300 keys do not leave that */
    struct tepal_params p;
    struct tepal_judgement r;
    assert_ok(set_generalized(10240, 2, 2, 1, 0, 1, &p));
    struct tepal_filter *f = filled(&p, 300, 3);
    memset(words_of(f), 0xff, 10240 / 8);
    assert_int_equal(received(f, &terms, &r), TEPAL_REFUSED_FILL);
    assert_true(r.fp_now < 0.01 && fabs(r.fp_bound - 0.0625) < 0.001);
    terms.min_probability = 0; /* bounded by construction */
    expect(f, &terms, TEPAL_ACCEPTED, "");
    /* its worst: half ones */
    memset(words_of(f), 0x55, 10240 / 8);
    assert_int_equal(received(f, &terms, &r), TEPAL_ACCEPTED);
    assert_true(fabs(r.fp_now - 0.0625) < 0.001 && r.fp_now <= r.fp_bound);
    terms.max_fp = 0.06;
    expect(f, &terms, TEPAL_REFUSED_FP, "it finds 6.");
    tepal_filter_free(f);
}

/* Ones added at random to an honest filter, until the limit is passed: one bit decides. */
static void test_just_below(void **state)
{
    (void)state;
    struct tepal_terms terms = TEPAL_TERMS_INIT;
    struct tepal_params p = bloom_params(TEPAL_LAYOUT_FLAT, 4000, 3);
    struct tepal_filter *f = filled(&p, 0, 3);
    terms.min_probability = 0;
    terms.max_fp = 0.125; /* exactly half ones */
    for (uint64_t i = 0; i < 2000; i++) {
        words_of(f)[i / 64] |= (uint64_t)1 << (i % 64);
    }
    expect(f, &terms, TEPAL_ACCEPTED, "");
    words_of(f)[2000 / 64] |= (uint64_t)1 << (2000 % 64);
    expect(f, &terms, TEPAL_REFUSED_FP, "the limit is 12.5 %");
    tepal_filter_free(f);
}

static void test_false_claims(void **state)
{
    (void)state;
    struct tepal_params p = bloom_params(TEPAL_LAYOUT_FLAT, 20000, 4);
    struct tepal_filter *f = filled(&p, 2000, 3);
    struct tepal_terms terms = TEPAL_TERMS_INIT;
    struct tepal_judgement r;
    expect(f, &terms, TEPAL_ACCEPTED, "");
    terms.keys = 1000; /* few keys, many ones */
    expect(f, &terms, TEPAL_REFUSED_FILL, "but 1000 keys are expected to set");
    terms.repeats = true;
    expect(f, &terms, TEPAL_REFUSED_FILL, "but 1000 keys are expected to set");
    terms.keys = 4000; /* many keys, few ones */
    expect(f, &terms, TEPAL_ACCEPTED, "");
    terms.repeats = false;
    expect(f, &terms, TEPAL_REFUSED_FILL, "but 4000 keys are expected to set");
    terms.keys = UINT64_MAX;
    expect(f, &terms, TEPAL_REFUSED_FILL, "");
    /* the claim in the header itself */
    terms.keys = 0;
    size_t len;
    uint8_t *bytes = encoded(f, &len);
    struct tepal_filter *got = NULL;
    static const uint64_t claims[] = {0, 1, 1000, 4000, UINT64_MAX};
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        little_put64(bytes + 64, claims[i]);
        header_resum(bytes);
        assert_ok(tepal_receive(bytes, len, &terms, NULL, &got, &r, NULL));
        assert_null(got);
        assert_int_equal(r.verdict, TEPAL_REFUSED_FILL);
        assert_int_equal(r.keys, claims[i]);
    }
    free(bytes);
    tepal_filter_free(f);
    /* a generalized filter in its steady state takes any claim that is large */
    assert_ok(set_generalized(20000, 2, 2, 1, 0, 1, &p));
    f = filled(&p, 60000, 3);
    terms.keys = UINT64_MAX;
    expect(f, &terms, TEPAL_ACCEPTED, "");
    terms.keys = 1000;
    expect(f, &terms, TEPAL_REFUSED_FILL, "");
    tepal_filter_free(f);
}

/* As many ones as an honest filter, but some lines full: what passes is aimed at. */
static void test_hot_lines(void **state)
{
    (void)state;
    for (uint32_t layout = 2; layout <= 3; layout++) {
        struct tepal_params p = bloom_params((enum tepal_layout)layout, 512 * 400, 6);
        struct tepal_filter *f = filled(&p, 15000, 3);
        struct tepal_terms terms = TEPAL_TERMS_INIT;
        struct tepal_judgement r;
        uint64_t *words = words_of(f);
        expect(f, &terms, TEPAL_ACCEPTED, "");
        /* move ones from the other lines into the first */
        uint32_t moved = 0;
        for (size_t w = 0; w < 8; w++) {
            moved += 64 - (uint32_t)__builtin_popcountll(words[w]);
            words[w] = ~UINT64_C(0);
        }
        for (size_t w = 8; moved > 0; w += 8, moved--) {
            words[w] &= words[w] - 1;
        }
        assert_int_equal(received(f, &terms, &r), TEPAL_REFUSED_LINE);
        assert_int_equal(r.fullest_line, 512);
        assert_true(r.fill_probability > 1e-6 && r.fp_now < 0.1);
        assert_non_null(strstr(r.why, "its fullest line has 512 of 512 bits set"));
        tepal_filter_free(f);
    }
}

/* ---- what is not a sound filter ------------------------------------------------------------- */

static void test_unsound(void **state)
{
    (void)state;
    struct tepal_params p = bloom_params(TEPAL_LAYOUT_FLAT, 1000, 4);
    struct tepal_filter *f = filled(&p, 100, 3);
    struct tepal_terms terms = TEPAL_TERMS_INIT;
    struct tepal_judgement r;
    struct tepal_filter *got = NULL;
    size_t len;
    uint8_t *bytes = encoded(f, &len);
    for (size_t cut = 0; cut < len; cut++) { /* exactly as long, so that overruns are seen */
        uint8_t *part = copied(bytes, cut);
        assert_ok(tepal_receive(part, cut, &terms, NULL, &got, &r, NULL));
        assert_null(got);
        assert_int_equal(r.verdict, TEPAL_REFUSED_UNSOUND);
        assert_false(r.judged);
        assert_non_null(r.error.why);
        free(part);
    }
    for (size_t i = 0; i < len; i++) {
        bytes[i] ^= 0x10;
        assert_ok(tepal_receive(bytes, len, &terms, NULL, &got, &r, NULL));
        assert_null(got);
        assert_int_equal(r.verdict, TEPAL_REFUSED_UNSOUND);
        bytes[i] ^= 0x10;
    }
    free(bytes);
    tepal_filter_free(f);
}

static void test_huge(void **state)
{
    (void)state;
    struct tepal_params p = bloom_params(TEPAL_LAYOUT_FLAT, 1000, 4);
    struct tepal_filter *f = filled(&p, 100, 3);
    struct tepal_terms terms = TEPAL_TERMS_INIT;
    struct memory memory = {0};
    struct tepal_allocator allocator = memory_allocator(&memory);
    struct tepal_judgement r;
    struct tepal_filter *got = NULL;
    size_t len;
    uint8_t *bytes = encoded(f, &len);
    terms.max_bytes = len - 1;
    expect(f, &terms, TEPAL_REFUSED_SIZE, "according to its header it has");
    terms.max_bytes = len;
    expect(f, &terms, TEPAL_ACCEPTED, "");
    /* a header that asks for 2^56 bytes: refused without a single allocation */
    uint64_t payload = (uint64_t)1 << 56;
    little_put64(bytes + 32, payload * 8);
    little_put64(bytes + 200, payload);
    little_put64(bytes + 208, 256 + payload + 8 * (payload >> 16));
    header_resum(bytes);
    assert_ok(tepal_receive(bytes, len, &terms, &allocator, &got, &r, NULL));
    assert_int_equal(r.verdict, TEPAL_REFUSED_SIZE);
    assert_int_equal(r.bytes, 256 + payload + 8 * (payload >> 16));
    terms.max_bytes = 0; /* without a limit it is what it is: shorter than it says */
    assert_ok(tepal_receive(bytes, len, &terms, &allocator, &got, &r, NULL));
    assert_int_equal(r.verdict, TEPAL_REFUSED_UNSOUND);
    assert_int_equal(memory.calls, 0);
    /* the same through a pipe, where the length is not known */
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], bytes, len), (ssize_t)len);
    close(ends[1]);
    assert_ok(tepal_receive_fd(ends[0], &terms, &allocator, &got, &r, NULL));
    close(ends[0]);
    assert_int_equal(r.verdict, TEPAL_REFUSED_UNSOUND);
    assert_true(memory.largest <= 65536 && memory.live == 0);
    free(bytes);
    tepal_filter_free(f);
}

static void test_descriptor(void **state)
{
    (void)state;
    struct tepal_params p = bloom_params(TEPAL_LAYOUT_FLAT, 1000, 4);
    struct tepal_filter *f = filled(&p, 100, 3);
    struct tepal_terms terms = TEPAL_TERMS_INIT;
    struct tepal_judgement r;
    struct tepal_filter *got = NULL;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_ok(tepal_save_fd(f, ends[1], NULL));
    close(ends[1]);
    assert_ok(tepal_receive_fd(ends[0], &terms, NULL, &got, &r, NULL));
    close(ends[0]);
    assert_int_equal(r.verdict, TEPAL_ACCEPTED);
    assert_true(tepal_filter_equal(f, got));
    tepal_filter_free(got);
    got = f;
    assert_int_equal(tepal_receive_fd(-1, &terms, NULL, &got, &r, NULL), TEPAL_IO);
    assert_ptr_equal(got, f); /* an error leaves it alone */
    assert_int_equal(r.error.status, TEPAL_IO);
    tepal_filter_free(f);
}

/* Fingerprints: honest ones, the worst that slots can do, and more than was said. */
static void fingerprints_are_bounded(void **state)
{
    (void)state;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.kind = TEPAL_KIND_FINGERPRINT;
    p.hashes = 2;
    p.fingerprint.bits = 8;
    p.cells = 8 * 4 * 1024;
    struct tepal_terms terms = TEPAL_TERMS_INIT;
    struct tepal_judgement r;
    struct tepal_filter *f = filled(&p, 3000, 1);
    assert_ok(tepal_judge(f, &terms, &r, NULL));
    assert_int_equal(r.verdict, TEPAL_ACCEPTED);
    assert_int_equal(r.ones, 3000);
    uint64_t seed = 77;
    uint64_t found = 0;
    const uint64_t asked = 1000000;
    for (uint64_t i = 0; i < asked; i++) {
        found += tepal_filter_query(f, check_digest(&seed));
    }
    check_within("the rate of these very slots", (double)found / (double)asked, r.fp_now,
                 sqrt(r.fp_now / (double)asked));
    terms.keys = 2999;
    expect(f, &terms, TEPAL_REFUSED_FILL, "% of its bits are ones, but 2999 keys");
    terms.keys = 0;
    terms.max_fp = r.fp_now * 0.99;
    expect(f, &terms, TEPAL_REFUSED_FP, "it finds");
    /* every slot taken, by 1 and three others: the worst there is stays within the bound */
    uint8_t *bytes = (uint8_t *)words_of(f);
    for (size_t i = 0; i < 4 * 1024; i++) {
        bytes[i] = (uint8_t)(i % 4 == 0 ? 1 : 1 + i % 255);
    }
    double worst = tepal_filter_fp_now(f);
    assert_true(worst > r.fp_now && worst <= tepal_params_fp_bound(&p));
    assert_true(tepal_params_fp_bound(&p) == 9.0 / 256);
    tepal_filter_free(f);
}

/* The filter without some of what it finds, by whoever has only the filter; or with its members. */
static struct tepal_filter *retouched(const struct tepal_filter *f, size_t avoid, uint64_t seed)
{
    struct tepal_digest bad[200];
    struct tepal_filter *made = NULL;
    for (size_t i = 0; i < avoid;) {
        bad[i] = check_digest(&seed);
        i += tepal_filter_query(f, bad[i]);
    }
    struct tepal_known known = {.avoid = bad, .avoid_count = avoid};
    struct tepal_retouch_options how = TEPAL_RETOUCH_OPTIONS_INIT;
    assert_ok(tepal_retouch(f, &known, &how, NULL, &made, NULL, NULL, NULL));
    return made;
}

/* Honest ones of every layout, however much was cleared and added; too full, too empty, liars. */
static void retouched_filters_are_judged(void **state)
{
    (void)state;
    static const enum tepal_layout layouts[] = {TEPAL_LAYOUT_FLAT, TEPAL_LAYOUT_PARTITIONED,
                                                TEPAL_LAYOUT_BLOCKED, TEPAL_LAYOUT_PAIRED};
    struct tepal_terms terms = TEPAL_TERMS_INIT;
    for (size_t l = 0; l < COUNT(layouts); l++) {
        struct tepal_params p = bloom_params(layouts[l], 51200, 4);
        for (size_t avoid = 0; avoid <= 200; avoid += 40) {
            struct tepal_judgement r;
            struct tepal_filter *f = filled(&p, 5000, 9 + avoid);
            struct tepal_filter *made = retouched(f, avoid, 5);
            assert_ok(tepal_judge(made, &terms, &r, NULL));
            assert_string_equal(r.why, "");
            assert_int_equal(r.verdict, TEPAL_ACCEPTED);
            assert_true(r.fn_told == (double)info_integer(made, "false_negatives") /
                                         (double)info_integer(made, "members"));
            assert_true(r.fp_now == tepal_filter_fp_now(made));
            uint64_t seed = 1234;
            for (int i = 0; i < 300; i++) {
                assert_ok(tepal_filter_add(made, check_digest(&seed)));
            }
            assert_ok(tepal_judge(made, &terms, &r, NULL));
            assert_int_equal(r.verdict, TEPAL_ACCEPTED);
            tepal_filter_free(made);
            tepal_filter_free(f);
        }
    }
    struct tepal_params p = bloom_params(TEPAL_LAYOUT_FLAT, 51200, 4);
    struct tepal_filter *f = filled(&p, 5000, 9);
    struct tepal_filter *made = retouched(f, 40, 5);
    uint64_t *words = words_of(made);
    /* ones that no key set */
    for (int i = 0; i < 20; i++) {
        words[i] = UINT64_MAX;
    }
    expect(made, &terms, TEPAL_REFUSED_FILL, "of its bits are ones, but 5000 keys");
    /* more was cleared than it says */
    memset(words, 0, 100 * sizeof *words);
    expect(made, &terms, TEPAL_REFUSED_FILL, "of its bits are ones, but 5000 keys");
    terms.repeats = true;
    expect(made, &terms, TEPAL_ACCEPTED, "");
    memset(words, 255, 51200 / 8);
    expect(made, &terms, TEPAL_REFUSED_FP, "it finds 100 % of all keys");
    tepal_filter_free(made);
    tepal_filter_free(f);
}

/* A kind that cannot be judged by its bits; and terms that make no sense. */
static void test_other(void **state)
{
    (void)state;
    struct tepal_params p = bloom_params(TEPAL_LAYOUT_FLAT, 1000, 4);
    struct tepal_terms terms = TEPAL_TERMS_INIT;
    struct tepal_judgement r;
    p.kind = TEPAL_KIND_COUNTING;
    p.counting.choices = 1;
    struct tepal_filter *f = NULL;
    assert_ok(tepal_filter_create(&p, NULL, &f, NULL));
    expect(f, &terms, TEPAL_REFUSED_KIND, "filters of the kind counting cannot be judged");
    p.counting.choices = 0;
    tepal_filter_free(f);
    p.kind = TEPAL_KIND_BLOOM;
    f = filled(&p, 10, 1);
    static const double bad[] = {-0.1, 1.1, NAN};
    for (size_t i = 0; i < 3; i++) {
        terms.max_fp = bad[i];
        assert_int_equal(tepal_judge(f, &terms, &r, NULL), TEPAL_BAD_ARGUMENT);
        terms.max_fp = 0.1;
        terms.min_probability = bad[i];
        assert_int_equal(tepal_judge(f, &terms, &r, NULL), TEPAL_BAD_ARGUMENT);
        terms.min_probability = 0.1;
    }
    terms.agreed = TEPAL_AGREED_ALL + 1u;
    assert_int_equal(tepal_judge(f, &terms, &r, NULL), TEPAL_BAD_ARGUMENT);
    tepal_filter_free(f);
    for (int v = 0; v <= TEPAL_REFUSED_LINE; v++) {
        assert_string_not_equal(tepal_verdict_name((enum tepal_verdict)v), "unknown");
    }
    assert_string_equal(tepal_verdict_name((enum tepal_verdict)99), "unknown");
}

/* An allocator that fails is an error, never a verdict. */
static void test_no_memory(void **state)
{
    (void)state;
    struct tepal_params p = bloom_params(TEPAL_LAYOUT_FLAT, 1000, 4);
    struct tepal_filter *f = filled(&p, 100, 3);
    struct tepal_terms terms = TEPAL_TERMS_INIT;
    struct tepal_judgement r;
    size_t len;
    uint8_t *bytes = encoded(f, &len);
    for (unsigned at = 1;; at++) {
        struct memory memory = {.fail_at = at};
        struct tepal_allocator allocator = memory_allocator(&memory);
        struct tepal_filter *got = f;
        enum tepal_status status = tepal_receive(bytes, len, &terms, &allocator, &got, &r, NULL);
        if (status == TEPAL_OK) {
            assert_true(at > 1);
            tepal_filter_free(got);
            break;
        }
        assert_int_equal(status, TEPAL_NO_MEMORY);
        assert_ptr_equal(got, f);
        assert_int_equal(memory.live, 0);
    }
    free(bytes);
    tepal_filter_free(f);
}

static void test_report(void **state)
{
    (void)state;
    struct tepal_params p = bloom_params(TEPAL_LAYOUT_BLOCKED, 5120, 4);
    struct tepal_filter *f = filled(&p, 300, 3);
    struct tepal_terms terms = TEPAL_TERMS_INIT;
    struct tepal_judgement r;
    struct tepal_report report = {.count = 0};
    assert_ok(tepal_judge(f, &terms, &r, NULL));
    tepal_judgement_report(&r, &report);
    assert_true(tepal_report_find(&report, "accepted")->value.flag);
    assert_int_equal(tepal_report_find(&report, "keys")->value.integer, 300);
    assert_int_equal(tepal_report_find(&report, "ones")->value.integer, r.ones);
    assert_true(tepal_report_find(&report, "fp_now")->value.real == tepal_filter_fp_now(f));
    assert_true(tepal_report_find(&report, "fullest_line")->value.integer > 0);
    tepal_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(retouched_filters_are_judged),
        cmocka_unit_test(fingerprints_are_bounded),
        cmocka_unit_test(test_occupancy_bloom),
        cmocka_unit_test(test_occupancy_generalized),
        cmocka_unit_test(test_occupancy_agrees),
        cmocka_unit_test(test_tails),
        cmocka_unit_test(test_fullest),
        cmocka_unit_test(test_honest),
        cmocka_unit_test(test_agreement),
        cmocka_unit_test(test_secret_keys),
        cmocka_unit_test(test_all_ones),
        cmocka_unit_test(test_just_below),
        cmocka_unit_test(test_false_claims),
        cmocka_unit_test(test_hot_lines),
        cmocka_unit_test(test_unsound),
        cmocka_unit_test(test_huge),
        cmocka_unit_test(test_descriptor),
        cmocka_unit_test(test_other),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
