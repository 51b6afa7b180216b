/*
 * generalized_unit.c: the generalized filter against the Bloom filter (no resets: the same bits),
 * against a naive one (a byte a cell, one hash after the other), and at its edges.
 */
#include "check.h"
#include "generalized_help.h"

#include <tepal/papers.h>

#include "address/address.h"
#include "filter/kind.h"
#include "base/processor.h"
#include "filter/generalized/kernels.h"

#define KEYS 600

static struct tepal_filter *make(uint64_t bits, uint32_t k0, uint32_t k1, double zeros,
                                 uint32_t tolerance, enum tepal_layout layout,
                                 enum tepal_positions positions)
{
    struct tepal_params p;
    struct tepal_filter *g = NULL;
    assert_ok(set_generalized(bits, k0, k1, zeros, tolerance, 77, &p));
    p.layout = layout;
    p.positions = positions;
    assert_ok(tepal_filter_create(&p, NULL, &g, NULL));
    return g;
}

static void draw_digests(struct tepal_digest *digests, size_t count, uint64_t seed)
{
    check_digests(&seed, digests, count);
}

/* ---- no resets: the Bloom filter ------------------------------------------------------------- */

static void without_resets_it_is_the_bloom_filter(void **state)
{
    (void)state;
    static const uint32_t hashes[] = {1, 3, 4, 8, 9, 13, 16};
    struct tepal_digest digests[KEYS];
    draw_digests(digests, KEYS, 1);
    for (size_t i = 0; i < COUNT(hashes) * 4; i++) {
        enum tepal_layout layout = i % 2 ? TEPAL_LAYOUT_BLOCKED : TEPAL_LAYOUT_FLAT;
        enum tepal_positions positions = (enum tepal_positions)(i / 2 % 2);
        struct tepal_params p = TEPAL_PARAMS_INIT;
        struct tepal_filter *bloom;
        struct tepal_filter *g = make(512 * 16, 0, hashes[i / 4], 1, 0, layout, positions);
        p = *tepal_filter_params(g);
        p.kind = TEPAL_KIND_BLOOM;
        assert_ok(tepal_filter_create(&p, NULL, &bloom, NULL));
        for (size_t j = 0; j < KEYS / 3; j++) { /* one by one, then in a batch */
            assert_ok(tepal_filter_add(g, digests[j]));
        }
        assert_ok(tepal_filter_add_many(g, digests + KEYS / 3, KEYS / 3));
        assert_ok(tepal_filter_add_many(bloom, digests, KEYS / 3 * 2));
        size_t count;
        const uint64_t *ours = tepal_filter_words(g, &count);
        const uint64_t *theirs = tepal_filter_words(bloom, &count);
        assert_memory_equal(ours, theirs, count * 8);
        for (size_t j = 0; j < KEYS; j++) {
            assert_int_equal(tepal_filter_query(g, digests[j]),
                             tepal_filter_query(bloom, digests[j]));
        }
        uint64_t a[(KEYS + 63) / 64];
        uint64_t b[(KEYS + 63) / 64];
        assert_int_equal(tepal_filter_query_many(g, digests, KEYS, a),
                         tepal_filter_query_many(bloom, digests, KEYS, b));
        assert_memory_equal(a, b, sizeof a);
        assert_true(fabs(tepal_filter_fp_now(g) - tepal_filter_fp_now(bloom)) <
                    (layout == TEPAL_LAYOUT_BLOCKED || hashes[i / 4] > 1 ? 0.02 : 1e-12));
        tepal_filter_free(g);
        tepal_filter_free(bloom);
    }
}

static struct tepal_generalized *inside(struct tepal_filter *filter)
{
    return (struct tepal_generalized *)filter;
}

/* ---- a naive filter -------------------------------------------------------------------------- */

static void naive_flat(const struct tepal_params *p, struct tepal_digest d, struct plain_key *key)
{
    struct address at = tepal_address_of(p, 1);
    key->count = tepal_address_positions(&at, d, key->at);
    for (uint32_t i = 0; i < key->count; i++) {
        key->set[i] = i >= p->generalized.reset_hashes;
    }
}

static void check_cells(const struct tepal_filter *g, const uint8_t *cells, uint64_t bits)
{
    size_t count;
    const uint64_t *words = tepal_filter_words(g, &count);
    for (uint64_t i = 0; i < bits; i++) {
        assert_int_equal(words[i / 64] >> (i % 64) & 1, cells[i]);
    }
}

static void flat_is_the_naive_filter(void **state)
{
    (void)state;
    static const uint32_t pairs[][2] = {{1, 0}, {1, 1}, {2, 2}, {3, 4}, {7, 10}, {30, 34}};
    static const uint64_t sizes[] = {64, 100, 3000}; /* small ones: keys collide with themselves */
    struct tepal_digest digests[KEYS];
    draw_digests(digests, KEYS, 2);
    for (size_t i = 0; i < COUNT(pairs) * COUNT(sizes) * 2; i++) {
        const uint32_t *k = pairs[i / 2 % COUNT(pairs)];
        uint64_t bits = sizes[i / 2 / COUNT(pairs)];
        uint32_t tolerance = (k[0] + k[1]) / 4;
        struct tepal_filter *g =
            make(bits, k[0], k[1], 1, tolerance, TEPAL_LAYOUT_FLAT, (enum tepal_positions)(i % 2));
        struct tepal_filter *batch =
            make(bits, k[0], k[1], 1, tolerance, TEPAL_LAYOUT_FLAT, (enum tepal_positions)(i % 2));
        const struct tepal_params *p = tepal_filter_params(g);
        uint8_t cells[3000] = {0};
        uint64_t answers[(KEYS + 63) / 64];
        struct plain_key key;
        for (size_t j = 0; j < KEYS / 2; j++) {
            naive_flat(p, digests[j], &key);
            plain_put(cells, &key);
            assert_ok(tepal_filter_add(g, digests[j]));
            assert_true(tepal_filter_query(g, digests[j])); /* never lost at birth */
        }
        assert_ok(tepal_filter_add_many(batch, digests, KEYS / 2));
        check_cells(g, cells, bits);
        check_cells(batch, cells, bits);
        size_t present = tepal_filter_query_many(g, digests, KEYS, answers);
        for (size_t j = 0; j < KEYS; j++) {
            naive_flat(p, digests[j], &key);
            bool found = plain_found(cells, &key, tolerance);
            assert_int_equal(tepal_filter_query(g, digests[j]), found);
            assert_int_equal(answers[j / 64] >> (j % 64) & 1, found);
            present -= found;
        }
        assert_int_equal(present, 0);
        assert_ok(tepal_filter_validate(g, NULL));
        tepal_filter_free(g);
        tepal_filter_free(batch);
    }
}

/* The blocked layout's places against its picture, and the kernels against the places. */
static void blocked_keeps_its_rules(void **state)
{
    (void)state;
    static const uint32_t pairs[][2] = {{1, 0}, {0, 1}, {1, 1}, {2, 2}, {4, 4},  {1, 7},
                                        {3, 2}, {5, 4}, {6, 8}, {8, 8}, {12, 1}, {0, 12}};
    const uint64_t lines = 5;
    struct tepal_digest digests[KEYS];
    draw_digests(digests, KEYS, 3);
    for (size_t i = 0; i < COUNT(pairs) * 4; i++) {
        const uint32_t *k = pairs[i / 4];
        uint32_t hashes = k[0] + k[1];
        uint32_t tolerance = i / 2 % 2 ? hashes / 3 : 0;
        struct tepal_filter *g = make(512 * lines, k[0], k[1], 0.5, tolerance, TEPAL_LAYOUT_BLOCKED,
                                      (enum tepal_positions)(i % 2));
        uint8_t cells[512 * 5];
        uint64_t answers[2][(KEYS + 63) / 64];
        uint32_t resets_in[8] = {0};
        size_t count;
        const uint64_t *words = tepal_filter_words(g, &count);
        for (uint64_t c = 0; c < 512 * lines; c++) {
            cells[c] = words[c / 64] >> (c % 64) & 1;
        }
        struct tepal_filter *copy;
        assert_ok(tepal_filter_clone(g, NULL, &copy, NULL));
        for (size_t j = 0; j < KEYS; j++) {
            struct places places;
            struct plain_key key = {.count = hashes};
            tepal_generalized_places(inside(g), digests[j], &places);
            uint64_t line = places.at[0] / 512;
            uint32_t in_sector[8] = {0};
            for (uint32_t h = 0; h < hashes; h++) {
                key.at[h] = places.at[h];
                key.set[h] = h >= k[0];
                assert_int_equal(places.at[h] / 512, line);
                in_sector[places.at[h] / 64 % 8]++;
                resets_in[places.at[h] / 64 % 8] += h < k[0];
                for (uint32_t other = 0; other < h && k[0] > 0; other++) {
                    assert_true(places.at[h] != places.at[other]); /* never meet */
                }
            }
            for (uint32_t s = 0; s < 8; s++) {
                assert_in_range(in_sector[s], hashes > 8, hashes > 8 ? 2 : 1);
            }
            if (j < KEYS / 2) {
                plain_put(cells, &key);
                assert_ok(tepal_filter_add(g, digests[j]));
            } else {
                assert_int_equal(tepal_filter_query(g, digests[j]),
                                 plain_found(cells, &key, tolerance));
            }
        }
        check_cells(g, cells, 512 * lines);
        /* every sector is as likely to have resets: a binomial with at most KEYS * 2 trials */
        double expected = KEYS * k[0] / 8.0;
        for (uint32_t s = 0; s < 8 && k[0] > 0; s++) {
            check_within("resets in a sector", resets_in[s], expected, sqrt(expected));
        }
        /* both sets of loops make the same bits and the same answers */
        tepal_generalized_lines_portable.add(inside(copy), digests, KEYS / 2);
        assert_memory_equal(copy->words, words, count * 8);
        if (tepal_processor_has_avx2()) {
            tepal_generalized_lines_avx2.add(inside(copy), digests, KEYS / 2);
            tepal_generalized_lines_avx2.add(inside(g), digests, KEYS / 2);
            assert_memory_equal(copy->words, words, count * 8);
        }
        for (size_t n = 1; n <= KEYS; n += n < 200 ? 1 : 97) {
            size_t found =
                tepal_generalized_lines_portable.query(inside(g), digests, n, answers[0]);
            assert_int_equal(tepal_filter_query_many(g, digests, n, answers[1]), found);
            assert_memory_equal(answers[0], answers[1], (n + 63) / 64 * 8);
        }
        for (size_t j = 0; j < KEYS; j++) {
            (void)tepal_filter_query_many(g, digests, KEYS, answers[0]);
            assert_int_equal(answers[0][j / 64] >> (j % 64) & 1, tepal_filter_query(g, digests[j]));
            if (j > 20) {
                break;
            }
        }
        tepal_filter_free(copy);
        tepal_filter_free(g);
    }
}

/* ---- the first state ------------------------------------------------------------------------- */

static void first_states(void **state)
{
    (void)state;
    static const double shares[] = {0, 0.01, 0.25, 0.5, 0.75, 1 / 3.0, 1};
    for (size_t i = 0; i < COUNT(shares); i++) {
        const uint64_t bits = 100003;
        struct tepal_filter *g =
            make(bits, 2, 2, shares[i], 0, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING);
        struct tepal_filter *again;
        uint64_t zeros = bits - tepal_filter_ones(g);
        double spread = sqrt((double)bits * shares[i] * (1 - shares[i]));
        if (spread == 0) {
            assert_int_equal(zeros, shares[i] == 0 ? 0 : bits);
        } else {
            check_within("zeros at first", (double)zeros, (double)bits * shares[i], spread);
        }
        assert_ok(tepal_filter_validate(g, NULL)); /* the tail stays zero */
        assert_ok(tepal_filter_clone(g, NULL, &again, NULL));
        uint64_t seed = 5;
        for (int j = 0; j < 1000; j++) {
            assert_ok(tepal_filter_add(g, check_digest(&seed)));
        }
        assert_false(tepal_filter_equal(g, again));
        assert_ok(tepal_filter_clear(g)); /* back to the same bits */
        assert_true(tepal_filter_equal(g, again));
        assert_int_equal(tepal_filter_keys_added(g), 0);
        tepal_filter_free(again);
        /* another seed, other bits */
        struct tepal_params p = *tepal_filter_params(g);
        p.seed++;
        assert_ok(tepal_filter_create(&p, NULL, &again, NULL));
        size_t count;
        const uint64_t *a = tepal_filter_words(g, &count);
        const uint64_t *b = tepal_filter_words(again, &count);
        assert_int_equal(memcmp(a, b, count * 8) == 0, spread == 0);
        tepal_filter_free(again);
        tepal_filter_free(g);
    }
}

/* ---- the bound of a line --------------------------------------------------------------------- */

/* A line with so many zeros in each sector. */
static double line_passes(struct tepal_filter *g, const uint32_t zeros[8])
{
    for (int s = 0; s < 8; s++) {
        g->words[s] = zeros[s] == 64 ? 0 : ~UINT64_C(0) << zeros[s];
    }
    return tepal_filter_fp_now(g);
}

/* From these zeros uphill, sector by sector, in ever smaller steps. */
static double climb(struct tepal_filter *g, uint32_t zeros[8])
{
    double best = line_passes(g, zeros);
    for (uint32_t step = 32; step > 0; step /= 2) {
        for (int i = 0; i < 16; i++) {
            uint32_t *sector = &zeros[i % 8];
            uint32_t was = *sector;
            if (i < 8 ? was < step : was + step > 64) {
                continue;
            }
            *sector = i < 8 ? was - step : was + step;
            double rate = line_passes(g, zeros);
            if (rate > best) {
                best = rate;
                i = -1; /* all over again */
            } else {
                *sector = was;
            }
        }
    }
    return best;
}

/* More than eight hashes: no line passes more than the bound, and some line nearly as many. */
static void bounds_of_lines(void **state)
{
    (void)state;
    static const struct {
        uint32_t k0, k1, b;
    } at[] = {{4, 10, 2}, {5, 5, 0}, {5, 5, 2},  {4, 5, 1},  {3, 9, 1}, {8, 8, 0},
              {8, 8, 3},  {9, 7, 6}, {2, 14, 1}, {1, 15, 0}, {12, 3, 2}};
    for (size_t i = 0; i < COUNT(at); i++) {
        struct tepal_filter *g = make(512, at[i].k0, at[i].k1, 0.5, at[i].b, TEPAL_LAYOUT_BLOCKED,
                                      TEPAL_POSITIONS_DISTINCT);
        double bound = tepal_params_fp_bound(tepal_filter_params(g));
        double found = 0;
        for (uint32_t full = 0; full <= 8; full++) {
            uint32_t zeros[8];
            for (uint32_t s = 0; s < 8; s++) {
                zeros[s] = s < full ? 64 : 0;
            }
            found = fmax(found, climb(g, zeros));
        }
        print_message("(%u, %u), b %u: at most %.5g, found %.5g\n", at[i].k0, at[i].k1, at[i].b,
                      bound, found);
        assert_true(found <= bound * (1 + 1e-12) && bound <= 1.06 * found);
        tepal_filter_free(g);
    }
}

/* ---- it never saturates ---------------------------------------------------------------------- */

/*
 * After 100 n keys the rate is that of the steady state, whatever the bits were at first, and no
 * filter on the way is above the finite bound. The rate is exact for each filter (fp_now), so no
 * tolerance is needed for the bound; the mean over 200 filters has the spread measured here.
 */
static void endless(void **state)
{
    (void)state;
    static const double shares[] = {0, 0.25, 0.5, 1};
    struct tepal_digest digests[64];
    for (size_t i = 0; i < COUNT(shares) * 2; i++) {
        bool blocked = i % 2;
        struct tepal_filter *g =
            make(4096, 2, 3, shares[i / 2], 0, blocked ? TEPAL_LAYOUT_BLOCKED : TEPAL_LAYOUT_FLAT,
                 TEPAL_POSITIONS_COLLIDING);
        const struct tepal_params *p = tepal_filter_params(g);
        double bound = tepal_params_fp_bound(p);
        double sum = 0;
        double square = 0;
        const int filters = 200;
        uint64_t seed = 11 + i;
        struct tepal_generalized_errors rates;
        assert_ok(tepal_generalized_rates(p, 6400, NULL, 0, NULL, &rates));
        for (int f = 0; f < filters; f++) {
            assert_ok(tepal_filter_clear(g));
            for (int round = 0; round < 100; round++) {
                for (size_t j = 0; j < COUNT(digests); j++) {
                    digests[j] = check_digest(&seed);
                }
                assert_ok(tepal_filter_add_many(g, digests, COUNT(digests)));
                if (round % 25 == 0) {
                    assert_true(tepal_filter_fp_now(g) <= bound);
                }
            }
            double rate = tepal_filter_fp_now(g);
            assert_true(rate <= bound);
            sum += rate;
            square += rate * rate;
        }
        double mean = sum / filters;
        double error = sqrt(fmax(square / filters - mean * mean, 1e-12) / filters);
        check_within("steady state", mean, rates.fp_steady, error);
        tepal_filter_free(g);
    }
}

/* ---- bad input ------------------------------------------------------------------------------- */

static void bad_parameters(void **state)
{
    (void)state;
    struct tepal_params p;
    struct tepal_error error = {.why = ""};
    assert_int_equal(set_generalized(64, 0, 0, 1, 0, 1, &p), TEPAL_BAD_PARAMETER);
    assert_int_equal(set_generalized(0, 1, 1, 1, 0, 1, &p), TEPAL_BAD_PARAMETER);
    assert_int_equal(set_generalized(64, 33, 32, 1, 0, 1, &p), TEPAL_BAD_PARAMETER);
    assert_int_equal(set_generalized(64, UINT32_MAX, 1, 1, 0, 1, &p), TEPAL_BAD_PARAMETER);
    assert_int_equal(set_generalized(64, 2, 2, -0.01, 0, 1, &p), TEPAL_BAD_PARAMETER);
    assert_int_equal(set_generalized(64, 2, 2, 1.01, 0, 1, &p), TEPAL_BAD_PARAMETER);
    assert_int_equal(set_generalized(64, 2, 2, 1, 4, 1, &p), TEPAL_BAD_PARAMETER);
    assert_int_equal(set_generalized(64, 2, 2, 1, UINT32_MAX, 1, &p), TEPAL_BAD_PARAMETER);
    assert_ok(set_generalized(64, 2, 2, 0.25, 3, 1, &p));
    assert_int_equal(p.generalized.reset_hashes, 2);
    assert_int_equal(p.hashes - p.generalized.reset_hashes, 2);
    assert_int_equal(p.generalized.tolerance, 3);
    assert_int_equal(p.generalized.ones, TEPAL_GENERALIZED_UNIT / 4 * 3);
    /* what a file may say */
    for (int i = 0; i < 6; i++) {
        struct tepal_params bad = p;
        switch (i) {
        case 0:
            bad.generalized.reset_hashes = 5;
            break;
        case 1:
            bad.generalized.reset_hashes = (UINT64_C(1) << 32) + 1;
            break;
        case 2:
            bad.generalized.tolerance = UINT64_C(1) << 32;
            break;
        case 3:
            bad.generalized.ones = TEPAL_GENERALIZED_UNIT + 1;
            break;
        case 4:
            bad.own[3] = 1;
            break;
        default:
            bad.own[7] = UINT64_MAX;
        }
        error.why = "";
        assert_int_equal(tepal_params_check(&bad, &error), TEPAL_BAD_PARAMETER);
        assert_true(strlen(error.why) > 20);
    }
    struct tepal_params layout = p;
    layout.layout = TEPAL_LAYOUT_PARTITIONED;
    layout.cells = 1024;
    assert_int_equal(tepal_params_check(&layout, &error), TEPAL_BAD_PARAMETER);
    assert_non_null(strstr(error.why, "saturate"));
    layout.layout = TEPAL_LAYOUT_PAIRED;
    assert_int_equal(tepal_params_check(&layout, &error), TEPAL_BAD_PARAMETER);
    struct tepal_filter *g = NULL;
    assert_int_equal(tepal_filter_create(&layout, NULL, &g, &error), TEPAL_BAD_PARAMETER);
    check_error(&error, TEPAL_BAD_PARAMETER);
    assert_null(g);
}

static void order_matters(void **state)
{
    (void)state;
    struct tepal_filter *a = make(64, 4, 4, 1, 0, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING);
    struct tepal_filter *b = make(64, 4, 4, 1, 0, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING);
    struct tepal_digest digests[20];
    draw_digests(digests, 20, 9);
    for (int i = 0; i < 20; i++) {
        assert_ok(tepal_filter_add(a, digests[i]));
        assert_ok(tepal_filter_add(b, digests[19 - i]));
    }
    assert_false(tepal_filter_equal(a, b));
    assert_int_equal(tepal_filter_unite(a, b), TEPAL_UNSUPPORTED);
    assert_int_equal(tepal_filter_intersect(a, b), TEPAL_UNSUPPORTED);
    unsigned promises = tepal_filter_kind(a)->promises;
    assert_int_equal(promises, TEPAL_BOUNDED_FALSE_POSITIVES | TEPAL_ENDLESS);
    tepal_filter_free(a);
    tepal_filter_free(b);
}

static void keyed(void **state)
{
    (void)state;
    static const uint8_t secret[TEPAL_KEY_BYTES] = {1, 2, 3};
    struct tepal_params p;
    struct tepal_filter *g;
    assert_ok(set_generalized(4096, 2, 2, 1, 0, 3, &p));
    p.hash = TEPAL_HASH_SIPHASH;
    assert_ok(tepal_filter_create(&p, NULL, &g, NULL));
    assert_int_equal(tepal_filter_add_bytes(g, "a", 1), TEPAL_KEY_NEEDED);
    assert_true(tepal_filter_query_bytes(g, "a", 1)); /* it cannot tell: "perhaps" */
    assert_int_equal(tepal_filter_ones(g), 0);
    assert_ok(tepal_filter_set_key(g, secret));
    assert_ok(tepal_filter_add_bytes(g, "a", 1));
    assert_true(tepal_filter_query_bytes(g, "a", 1));
    tepal_filter_free(g);
}

/* ---- what the bits say ----------------------------------------------------------------------- */

/* The rate against a hundred thousand strangers, for odd fills that nobody made honestly. */
static void the_rate_is_that_of_strangers(void **state)
{
    (void)state;
    static const uint32_t pairs[][3] = {{2, 2, 0}, {4, 4, 1}, {3, 8, 2}, {0, 9, 1}, {1, 1, 1}};
    for (size_t i = 0; i < COUNT(pairs) * 3; i++) {
        const uint32_t *k = pairs[i / 3];
        enum tepal_layout layout = i % 3 == 2 ? TEPAL_LAYOUT_FLAT : TEPAL_LAYOUT_BLOCKED;
        struct tepal_filter *g = make(512 * 2, k[0], k[1], 0.6, k[2], layout,
                                      i % 3 ? TEPAL_POSITIONS_COLLIDING : TEPAL_POSITIONS_DISTINCT);
        uint64_t seed = 21 + i;
        g->words[0] = UINT64_MAX; /* a sector of ones, another of zeros, one nearly so */
        g->words[3] = 0;
        g->words[9] = 1;
        double rate = tepal_filter_fp_now(g);
        const int asked = 30000;
        int found = 0;
        for (int j = 0; j < asked; j++) {
            found += tepal_filter_query(g, check_digest(&seed));
        }
        check_within("strangers", found, asked * rate,
                     sqrt(asked * rate * (1 - rate)) + asked * rate * 0.002 + 1e-9);
        assert_true(rate <= tepal_params_fp_bound(tepal_filter_params(g)));
        tepal_filter_free(g);
    }
}

static void ages(void **state)
{
    (void)state;
    struct tepal_filter *g =
        make(16384, 16, 16, 1, 4, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING);
    static struct tepal_digest digests[400];
    draw_digests(digests, COUNT(digests), 31);
    assert_ok(tepal_filter_add_many(g, digests, COUNT(digests)));
    uint64_t ones = tepal_filter_ones(g);
    double within = 0;
    double sum[4] = {0};
    for (size_t i = 0; i < COUNT(digests); i++) {
        struct tepal_generalized_trace a;
        uint64_t age = COUNT(digests) - 1 - i;
        assert_ok(tepal_generalized_age(g, digests[i], ones, &a));
        assert_int_equal(a.present, tepal_filter_query(g, digests[i]));
        assert_true(a.zeros <= 16 && a.ones <= 16 && a.zeros + a.ones >= 28);
        assert_true(a.age_low <= a.age && a.age <= a.age_high);
        assert_true(a.likelihood > 0 && a.likelihood <= 1);
        within += a.age_low <= age && age <= a.age_high;
        sum[age / 100] += (double)a.age / 100;
        if (age == 0) {
            assert_int_equal(a.zeros_lost + a.ones_lost, 0);
            assert_int_equal(a.age, 0);
            assert_int_equal(a.age_low, 0);
            assert_true(a.likelihood == 1);
            assert_true(a.likelihood_none < 1e-6);
        }
    }
    /* an interval of at least 95 %: 380 of 400 expected at the least, spread 4.4 */
    assert_true(within >= 380 - CHECK_Z * 4.4);
    /*
     * The estimates follow the ages: means of a hundred, at about 50, 150, 250 and 350. One has a
     * standard error of half its age or less (some 3, 9, 13 and 16 of 32 bits touched, half of
     * them inverted), so a mean is within a third of its age, 6.5 standard errors.
     */
    for (int i = 0; i < 4; i++) {
        double age = 50 + 100 * i;
        assert_true(fabs(sum[i] - age) < age / 3 + 5);
    }
    /* a stranger has as many inverted bits as the fill says: no age fits better than none */
    struct tepal_generalized_trace stranger;
    uint64_t seed = 77;
    double odds = 0;
    for (int i = 0; i < 50; i++) {
        assert_ok(tepal_generalized_age(g, check_digest(&seed), ones, &stranger));
        odds += log(stranger.likelihood_none) - log(stranger.likelihood);
    }
    assert_true(odds > -50);
    tepal_filter_free(g);
    /* other kinds have no ages */
    struct tepal_filter *bloom;
    struct tepal_generalized_trace as_it_was = stranger;
    assert_ok(bloom_with_bits(512, 2, 1, &bloom));
    assert_int_equal(tepal_generalized_age(bloom, digests[0], 0, &stranger), TEPAL_UNSUPPORTED);
    assert_memory_equal(&stranger, &as_it_was, sizeof stranger);
    tepal_filter_free(bloom);
}

/* ---- removing false positives ---------------------------------------------------------------- */

#define MEMBERS 64
#define AVOID   4000

struct scene {
    struct tepal_filter *g;
    struct tepal_filter *filter;
    struct tepal_digest members[MEMBERS];
    struct tepal_digest avoid[AVOID];
    struct tepal_known in;
};

static void set_scene(struct scene *s, uint32_t tolerance)
{
    s->g = make(2048, tolerance == 0 ? 2 : 4, tolerance == 0 ? 2 : 4, 0.5, tolerance,
                TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING);
    s->filter = s->g;
    draw_digests(s->members, MEMBERS, 41);
    draw_digests(s->avoid, AVOID, 42);
    assert_ok(tepal_filter_add_many(s->g, s->members, MEMBERS));
    s->avoid[7] = s->members[MEMBERS - 1]; /* a member, and the newest: found */
    s->in = (struct tepal_known){
        .members = s->members, .member_count = MEMBERS, .avoid = s->avoid, .avoid_count = AVOID};
}

static const struct tepal_retouch_options *with(enum tepal_retouch_method method,
                                                enum tepal_retouch_limit limit, double budget)
{
    static struct tepal_retouch_options options;
    options = (struct tepal_retouch_options)TEPAL_RETOUCH_OPTIONS_INIT;
    options.method = method;
    options.limit = limit;
    options.budget = budget;
    return &options;
}

/* The report is what the new filter says when it is asked. */
static void check_report(const struct scene *s, struct tepal_filter *made,
                         const struct tepal_retouch_report *r, const uint64_t *victims)
{
    uint64_t before = 0;
    uint64_t after = 0;
    uint64_t created = 0;
    uint64_t lost = 0;
    for (size_t i = 0; i < AVOID; i++) {
        if (i == 7) {
            continue;
        }
        bool was = tepal_filter_query(s->filter, s->avoid[i]);
        bool is = tepal_filter_query(made, s->avoid[i]);
        before += was;
        after += is;
        created += is && !was;
    }
    for (size_t i = 0; i < MEMBERS; i++) {
        bool is = tepal_filter_query(made, s->members[i]);
        lost += !is;
        assert_int_equal(victims[i / 64] >> (i % 64) & 1, !is);
    }
    assert_int_equal(r->avoid_members, 1);
    assert_int_equal(r->avoid_positive, before);
    assert_int_equal(r->avoid_left, after);
    assert_int_equal(r->avoid_created, created);
    assert_int_equal(r->false_negatives, lost);
    size_t count;
    const uint64_t *a = tepal_filter_words(s->filter, &count);
    const uint64_t *b = tepal_filter_words(made, &count);
    uint64_t differ = 0;
    for (size_t i = 0; i < count; i++) {
        differ += (uint64_t)__builtin_popcountll(a[i] ^ b[i]);
    }
    assert_true(differ <= r->bits_changed && (r->bits_changed - differ) % 2 == 0);
}

static void retouching(void **state)
{
    (void)state;
    struct scene s;
    uint64_t victims[1];
    struct tepal_error error = {.why = ""};
    for (uint32_t tolerance = 0; tolerance <= 1; tolerance++) {
        for (unsigned method = 0; method < 2; method++) {
            const enum tepal_retouch_method how =
                method == 0 ? TEPAL_RETOUCH_NET_EFFECT : TEPAL_RETOUCH_LEAST_FN;
            struct tepal_retouch_report r;
            struct tepal_retouch_report limited;
            struct tepal_filter *made;
            set_scene(&s, tolerance);
            assert_ok(tepal_retouch(s.filter, &s.in, with(how, TEPAL_RETOUCH_LIMIT_ALL, 0), NULL,
                                    &made, &r, victims, &error));
            check_report(&s, made, &r, victims);
            assert_true(r.avoid_positive > 50);
            assert_true(r.avoid_left * 4 < r.avoid_positive);
            tepal_filter_free(made);
            /* not one member more */
            assert_ok(tepal_retouch(s.filter, &s.in,
                                    with(how, TEPAL_RETOUCH_LIMIT_COUNT, (double)r.members_absent),
                                    NULL, &made, &limited, victims, &error));
            check_report(&s, made, &limited, victims);
            assert_true(limited.false_negatives <= r.members_absent);
            assert_true(limited.avoid_left < r.avoid_positive);
            tepal_filter_free(made);
            tepal_filter_free(s.g);
        }
    }
    enum tepal_retouch_method parsed = TEPAL_RETOUCH_NET_EFFECT;
    assert_true(tepal_retouch_method_parse("least-fn", &parsed));
    assert_int_equal(parsed, TEPAL_RETOUCH_LEAST_FN);
    assert_false(tepal_retouch_method_parse("least", &parsed));
    assert_int_equal(parsed, TEPAL_RETOUCH_LEAST_FN);
    assert_string_equal(tepal_retouch_method_name(TEPAL_RETOUCH_NET_EFFECT), "net-effect");
    const enum tepal_retouch_method none = (enum tepal_retouch_method)TEPAL_RETOUCH_METHODS;
    assert_string_equal(tepal_retouch_method_name(none), "");
}

/* The default is net-effect; the result is a generalized filter. */
static void the_best_method_is_net_effect(void **state)
{
    (void)state;
    struct scene s;
    struct tepal_filter *best;
    struct tepal_filter *net;
    const struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    set_scene(&s, 1);
    assert_ok(tepal_retouch(s.filter, &s.in, &options, NULL, &best, NULL, NULL, NULL));
    assert_ok(tepal_retouch(s.filter, &s.in,
                            with(TEPAL_RETOUCH_NET_EFFECT, TEPAL_RETOUCH_LIMIT_ALL, 0), NULL, &net,
                            NULL, NULL, NULL));
    assert_true(tepal_filter_equal(best, net));
    assert_int_equal(tepal_filter_kind(best)->id, TEPAL_KIND_GENERALIZED);
    tepal_filter_free(best);
    tepal_filter_free(net);
    tepal_filter_free(s.g);
}

static void *few_alloc(void *ctx, size_t size, size_t align)
{
    int *left = ctx;
    return (*left)-- > 0 ? aligned_alloc(align, (size + align - 1) / align * align) : NULL;
}

static void few_free(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    (void)size;
    free(ptr);
}

static void retouching_is_refused(void **state)
{
    (void)state;
    struct scene s;
    struct tepal_filter *made = NULL;
    struct tepal_error error = {.why = ""};
    const enum tepal_retouch_method net = TEPAL_RETOUCH_NET_EFFECT;
    set_scene(&s, 0);
    double bad[AVOID] = {0};
    bad[3] = -1;
    struct tepal_known in = s.in;
    in.avoid_weights = bad;
    assert_int_equal(tepal_retouch(s.filter, &in, with(net, TEPAL_RETOUCH_LIMIT_ALL, 0), NULL,
                                   &made, NULL, NULL, &error),
                     TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_retouch(s.filter, &s.in, with(net, TEPAL_RETOUCH_LIMIT_SHARE, 1.5), NULL,
                                   &made, NULL, NULL, &error),
                     TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_retouch(s.filter, &s.in,
                                   with(TEPAL_RETOUCH_SACRIFICE, TEPAL_RETOUCH_LIMIT_ALL, 0), NULL,
                                   &made, NULL, NULL, NULL),
                     TEPAL_BAD_ARGUMENT);
    const enum tepal_retouch_method none = (enum tepal_retouch_method)TEPAL_RETOUCH_METHODS;
    assert_int_equal(tepal_retouch(s.filter, &s.in, with(none, TEPAL_RETOUCH_LIMIT_ALL, 0), NULL,
                                   &made, NULL, NULL, NULL),
                     TEPAL_BAD_ARGUMENT);
    in = s.in;
    in.members = s.avoid + 100; /* not its members */
    assert_int_equal(tepal_retouch(s.filter, &in, with(net, TEPAL_RETOUCH_LIMIT_ALL, 0), NULL,
                                   &made, NULL, NULL, &error),
                     TEPAL_MISMATCH);
    struct tepal_filter *bloom;
    assert_ok(bloom_with_bits(512, 2, 1, &bloom));
    assert_int_equal(tepal_retouch(bloom, &s.in, with(net, TEPAL_RETOUCH_LIMIT_ALL, 0), NULL, &made,
                                   NULL, NULL, &error),
                     TEPAL_BAD_ARGUMENT); /* a method of another kind */
    tepal_filter_free(bloom);
    struct tepal_filter *counting;
    assert_ok(tepal_filter_create_for_rate(TEPAL_KIND_COUNTING, 100, 0.01, 1, &counting, NULL));
    assert_int_equal(tepal_retouch(counting, &s.in, with(net, TEPAL_RETOUCH_LIMIT_ALL, 0), NULL,
                                   &made, NULL, NULL, &error),
                     TEPAL_BAD_ARGUMENT);
    check_error(&error, TEPAL_BAD_ARGUMENT);
    tepal_filter_free(counting);
    assert_null(made);
    /* every allocation fails once, and nothing is left behind */
    bool done = false;
    for (int room = 0; !done; room++) {
        int left = room;
        struct tepal_allocator few = {few_alloc, few_free, &left};
        enum tepal_status status =
            tepal_retouch(s.filter, &s.in, with(net, TEPAL_RETOUCH_LIMIT_ALL, 0), &few, &made, NULL,
                          NULL, &error);
        assert_true(status == TEPAL_OK || status == TEPAL_NO_MEMORY);
        done = status == TEPAL_OK;
        assert_true(room < 20);
    }
    tepal_filter_free(made);
    tepal_filter_free(s.g);
}

/* Each point is what a run with its budget removes. */
static void the_curve(void **state)
{
    (void)state;
    struct scene s;
    struct tepal_retouch_point points[12];
    struct tepal_retouch_report whole;
    size_t count = 0;
    set_scene(&s, 0);
    const struct tepal_retouch_options *how =
        with(TEPAL_RETOUCH_LEAST_FN, TEPAL_RETOUCH_LIMIT_ALL, 0);
    for (size_t room = 2; room <= 12; room += 5) {
        assert_ok(
            tepal_retouch_curve(s.filter, &s.in, how, NULL, points, room, &count, &whole, NULL));
        assert_true(count >= 2 && count <= room);
        assert_int_equal(points[0].avoid_removed, 0);
        assert_int_equal(points[0].false_negatives, whole.members_absent);
        assert_int_equal(points[count - 1].false_negatives, whole.false_negatives);
        assert_true(points[count - 1].removed_weight == whole.removed_weight);
    }
    for (size_t i = 1; i < count; i++) {
        struct tepal_filter *made = NULL;
        struct tepal_retouch_report one;
        assert_true(points[i].false_negatives >= points[i - 1].false_negatives);
        assert_true(points[i].removed_weight >= points[i - 1].removed_weight);
        assert_ok(tepal_retouch(s.filter, &s.in,
                                with(TEPAL_RETOUCH_LEAST_FN, TEPAL_RETOUCH_LIMIT_COUNT,
                                     (double)points[i].false_negatives),
                                NULL, &made, &one, NULL, NULL));
        assert_true(one.removed_weight >= points[i].removed_weight);
        tepal_filter_free(made);
    }
    tepal_filter_free(s.g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_resets_it_is_the_bloom_filter),
        cmocka_unit_test(flat_is_the_naive_filter),
        cmocka_unit_test(blocked_keeps_its_rules),
        cmocka_unit_test(first_states),
        cmocka_unit_test(bounds_of_lines),
        cmocka_unit_test(endless),
        cmocka_unit_test(bad_parameters),
        cmocka_unit_test(order_matters),
        cmocka_unit_test(keyed),
        cmocka_unit_test(the_rate_is_that_of_strangers),
        cmocka_unit_test(ages),
        cmocka_unit_test(retouching),
        cmocka_unit_test(the_best_method_is_net_effect),
        cmocka_unit_test(retouching_is_refused),
        cmocka_unit_test(the_curve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
