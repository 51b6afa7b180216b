/*
 * forger_stat.c: what the bound of a generalized filter does not protect against: a forger who
 * knows the hashes and aims at chosen keys; and that a secret key takes this away. Through the real
 * filter, m = 1024, two hashes reset and two set.
 *
 * Chances are compared at CHECK_Z standard errors of the number of trials.
 */
#include "check.h"
#include "generalized_help.h"

#include <tepal/papers.h>

#define BITS 1024
#define K0   2
#define K1   2

static struct tepal_filter *make(double zeros, uint64_t seed)
{
    struct tepal_params p;
    struct tepal_filter *f = NULL;
    assert_ok(set_generalized(BITS, K0, K1, zeros, 0, seed, &p));
    assert_ok(tepal_filter_create(&p, NULL, &f, NULL));
    return f;
}

static uint64_t *words_of(struct tepal_filter *f)
{
    size_t count;
    return (uint64_t *)(uintptr_t)tepal_filter_words(f, &count);
}

static double deviation(double p, double trials)
{
    return sqrt(p * (1 - p) / trials);
}

/* ---- T keys at once ------------------------------------------------------------------------- */

/*
 * T keys can all be in one filter if no bit that one resets is a bit that another sets. Each of the
 * T(T-1) ordered pairs of keys has k0 k1 pairs of such bits, of which each coincides with chance
 * 1/m: exp(-T(T-1) k0 k1 / m). To try is to add them all: whoever came last wins such a bit.
 */
static void test_forced_together(void **state)
{
    (void)state;
    static const struct {
        unsigned keys;
        double known;
    } at[] = {{4, 0.95}, {8, 0.80}, {16, 0.39}, {24, 0.12}};
    const int trials = 20000;
    uint64_t random = 1;
    struct tepal_filter *f = make(1, 1);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        unsigned t = at[i].keys;
        double model = exp(-(double)t * (t - 1) * K0 * K1 / BITS);
        int all = 0;
        for (int trial = 0; trial < trials; trial++) {
            struct tepal_digest key[24];
            bool there = true;
            assert_ok(tepal_filter_clear(f));
            for (unsigned k = 0; k < t; k++) {
                key[k] = check_digest(&random);
                assert_ok(tepal_filter_add(f, key[k]));
            }
            for (unsigned k = 0; k < t; k++) {
                there = there && tepal_filter_query(f, key[k]);
            }
            all += there;
        }
        double share = all / (double)trials;
        print_message("%u keys at once: %.3f (model %.3f)\n", t, share, model);
        assert_true(fabs(model - at[i].known) < 0.006);
        /* the formula leaves out terms of the order T^3 (k0 k1)^2 / m^2: 0.008 at T = 24 */
        check_within("forced together", share, model, deviation(model, trials) + 0.001);
    }
    tepal_filter_free(f);
}

/* ---- as many of a list as can be ------------------------------------------------------------ */

struct target {
    struct tepal_digest digest;
    uint16_t bit[K0 + K1];
    bool value[K0 + K1];
    unsigned bits;
    unsigned wrong; /* bits that are not as it wants them */
};

/* The bits of a key: what it resets in a filter of ones, and sets in one of zeros. */
static void find_bits(struct target *key, struct tepal_filter *zeros, struct tepal_filter *ones)
{
    assert_ok(tepal_filter_clear(zeros));
    assert_ok(tepal_filter_clear(ones));
    assert_ok(tepal_filter_add(zeros, key->digest));
    assert_ok(tepal_filter_add(ones, key->digest));
    key->bits = 0;
    for (unsigned i = 0; i < BITS; i++) {
        bool set = words_of(zeros)[i / 64] >> (i % 64) & 1;
        bool reset = (words_of(ones)[i / 64] >> (i % 64) & 1) == 0;
        if (set || reset) {
            key->bit[key->bits] = (uint16_t)i;
            key->value[key->bits++] = set;
        }
    }
}

/* Who wants something of a bit: lists of (key, which of its bits). */
struct wishes {
    unsigned first[BITS + 1];
    struct wish {
        uint16_t key;
        uint8_t which;
    } wish[1024 * (K0 + K1)];
};

static void list_wishes(const struct target *key, unsigned count, struct wishes *w)
{
    memset(w->first, 0, sizeof w->first);
    for (unsigned k = 0; k < count; k++) {
        for (unsigned b = 0; b < key[k].bits; b++) {
            w->first[key[k].bit[b] + 1]++;
        }
    }
    for (unsigned i = 0; i < BITS; i++) {
        w->first[i + 1] += w->first[i];
    }
    unsigned at[BITS];
    memcpy(at, w->first, sizeof at);
    for (unsigned k = 0; k < count; k++) {
        for (unsigned b = 0; b < key[k].bits; b++) {
            w->wish[at[key[k].bit[b]]++] = (struct wish){(uint16_t)k, (uint8_t)b};
        }
    }
}

/*
 * Flip one bit: each of its keys is one step nearer or farther. `gain` is the change of a score in
 * which a key with w wrong bits counts weight[w]; positive keys have none wrong.
 */
static double flip_gain(const struct target *key, const struct wishes *w, const bool *cell,
                        unsigned i, const double *weight)
{
    double gain = 0;
    for (unsigned j = w->first[i]; j < w->first[i + 1]; j++) {
        const struct target *t = &key[w->wish[j].key];
        bool right = t->value[w->wish[j].which] == cell[i];
        gain += weight[right ? t->wrong + 1 : t->wrong - 1] - weight[t->wrong];
    }
    return gain;
}

static void flip(struct target *key, const struct wishes *w, bool *cell, unsigned i)
{
    for (unsigned j = w->first[i]; j < w->first[i + 1]; j++) {
        struct target *t = &key[w->wish[j].key];
        t->wrong += t->value[w->wish[j].which] == cell[i] ? 1u : -1u;
    }
    cell[i] = !cell[i];
}

/* A forger: simulated annealing over the bits, from a vote of the keys. */
static unsigned forge(struct target *key, unsigned count, bool *cell, uint64_t *random)
{
    static struct wishes w;
    static const double weight[K0 + K1 + 2] = {1, 0.25, 0.06, 0.015, 0, 0};
    unsigned positive = 0;
    list_wishes(key, count, &w);
    for (unsigned i = 0; i < BITS; i++) {
        int vote = 0;
        for (unsigned j = w.first[i]; j < w.first[i + 1]; j++) {
            vote += key[w.wish[j].key].value[w.wish[j].which] ? 1 : -1;
        }
        cell[i] = vote > 0 || (vote == 0 && check_random(random) % 2 == 0);
    }
    for (unsigned k = 0; k < count; k++) {
        key[k].wrong = 0;
        for (unsigned b = 0; b < key[k].bits; b++) {
            key[k].wrong += cell[key[k].bit[b]] != key[k].value[b];
        }
    }
    for (double heat = 0.4; heat > 0.01; heat *= 0.93) {
        for (unsigned step = 0; step < 2 * BITS; step++) {
            unsigned i = (unsigned)(check_random(random) % BITS);
            double gain = flip_gain(key, &w, cell, i, weight);
            double chance = (double)(check_random(random) >> 11) * 0x1p-53;
            if (gain >= 0 || chance < exp(gain / heat)) {
                flip(key, &w, cell, i);
            }
        }
    }
    for (unsigned k = 0; k < count; k++) {
        positive += key[k].wrong == 0;
    }
    return positive;
}

static void test_forged_list(void **state)
{
    (void)state;
    static const struct {
        unsigned keys;
        unsigned rounds;
        double known; /* a forger reaches at least that */
    } at[] = {{32, 40, 0.91}, {128, 12, 0.72}, {1024, 3, 0.37}};
    static struct target key[1024];
    static bool cell[BITS];
    uint64_t random = 1;
    struct tepal_filter *zeros = make(1, 1);
    struct tepal_filter *ones = make(0, 1);
    struct tepal_filter *f = make(1, 1);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        unsigned positive = 0;
        unsigned fresh = 0;
        const unsigned asked = 20000;
        for (unsigned round = 0; round < at[i].rounds; round++) {
            for (unsigned k = 0; k < at[i].keys; k++) {
                key[k].digest = check_digest(&random);
                find_bits(&key[k], zeros, ones);
            }
            unsigned forged = forge(key, at[i].keys, cell, &random);
            memset(words_of(f), 0, BITS / 8);
            for (unsigned c = 0; c < BITS; c++) {
                words_of(f)[c / 64] |= (uint64_t)cell[c] << (c % 64);
            }
            unsigned found = 0;
            for (unsigned k = 0; k < at[i].keys; k++) {
                found += tepal_filter_query(f, key[k].digest);
            }
            assert_int_equal(found, forged); /* the filter sees it as the forger does */
            positive += found;
            for (unsigned k = 0; k < asked; k++) {
                fresh += tepal_filter_query(f, check_digest(&random));
            }
        }
        double share = positive / (double)(at[i].keys * at[i].rounds);
        double others = fresh / (double)(asked * at[i].rounds);
        double bound =
            tepal_generalized_fp_bound_finite(TEPAL_GENERALIZED_PRECEDENCE, BITS, K0, K1, 0);
        print_message("a list of %u: %.3f positive, fresh keys %.4f\n", at[i].keys, share, others);
        assert_true(share >= at[i].known - 0.01);
        assert_true(share < 1);
        /* whatever was aimed at, fresh keys stay below the bound */
        assert_true(others <= bound + CHECK_Z * deviation(bound, asked * at[i].rounds));
    }
    tepal_filter_free(f);
    tepal_filter_free(zeros);
    tepal_filter_free(ones);
}

/* ---- afterwards ----------------------------------------------------------------------------- */

/* Forced keys are keys: n honest ones that come after them make them forgotten like any others. */
static void test_survival(void **state)
{
    (void)state;
    const int trials = 20000;
    uint64_t random = 1;
    struct tepal_filter *f = make(0.5, 1);
    for (unsigned n = 8; n <= 128; n *= 4) {
        double model = 1 - tepal_generalized_fn_bound(BITS, n, K0, K1, 0);
        int there = 0;
        for (int trial = 0; trial < trials; trial++) {
            struct tepal_digest forced = check_digest(&random);
            assert_ok(tepal_filter_clear(f));
            assert_ok(tepal_filter_add(f, forced));
            for (unsigned k = 0; k < n; k++) {
                assert_ok(tepal_filter_add(f, check_digest(&random)));
            }
            there += tepal_filter_query(f, forced);
        }
        double share = there / (double)trials;
        print_message("after %u honest keys: %.3f (model %.3f)\n", n, share, model);
        /* the approximations of eqs. (22) to (24) are off by the order of k / m */
        check_within("survival", share, model, deviation(model, trials) + 0.0005);
    }
    tepal_filter_free(f);
}

/* ---- with a secret key ---------------------------------------------------------------------- */

/* The forger guesses the key, or has none: to the real one, chosen keys are fresh. */
static void test_keyed(void **state)
{
    (void)state;
    static const uint8_t secret[TEPAL_KEY_BYTES] = {1, 2, 3};
    static const uint8_t guess[TEPAL_KEY_BYTES] = {3, 2, 1};
    const unsigned chosen = 16;
    const unsigned rounds = 3000;
    struct tepal_hasher theirs;
    struct tepal_hasher ours;
    struct tepal_hasher public;
    struct tepal_filter *f = make(0.5, 1);
    unsigned passed[2] = {0, 0};
    unsigned known = 0;
    tepal_hasher_init_keyed(7, secret, &ours);
    tepal_hasher_init_keyed(7, guess, &theirs);
    tepal_hasher_init(7, &public);
    for (unsigned round = 0; round < rounds; round++) {
        for (int way = 0; way < 2; way++) {
            const struct tepal_hasher *hasher = way == 0 ? &theirs : &public;
            assert_ok(tepal_filter_clear(f));
            for (unsigned k = 0; k < chosen; k++) {
                assert_ok(tepal_filter_add(f, tepal_hash_u64(hasher, round * chosen + k)));
            }
            for (unsigned k = 0; k < chosen; k++) {
                passed[way] += tepal_filter_query(f, tepal_hash_u64(&ours, round * chosen + k));
                known +=
                    way == 1 && tepal_filter_query(f, tepal_hash_u64(&public, round * chosen + k));
            }
        }
    }
    double asked = (double)rounds * chosen;
    double bound = tepal_generalized_fp_bound_finite(TEPAL_GENERALIZED_PRECEDENCE, BITS, K0, K1, 0);
    print_message(
        "chosen keys that pass: %.3f if the hash is known, %.4f and %.4f if it is keyed\n",
        known / asked, passed[0] / asked, passed[1] / asked);
    for (int way = 0; way < 2; way++) {
        /* given the bits, the keys asked are independent, and no bits pass more than the bound */
        assert_true(passed[way] / asked <= bound + CHECK_Z * deviation(bound, asked));
    }
    assert_true(known / asked > 0.9);
    tepal_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forced_together),
        cmocka_unit_test(test_forged_list),
        cmocka_unit_test(test_survival),
        cmocka_unit_test(test_keyed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
