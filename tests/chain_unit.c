/*
 * chain_unit.c: the chain against Bloom filters kept one by one, on every layout, bit for bit; its
 * series of sizes and rates; batches that open parts; chains that may not grow; files before and
 * after growth, wrong directories; unions; memory that runs out.
 */
#include "check.h"

#include <tepal/papers.h>

#include "file_help.h"
#include "filter/chain/internal.h"

static struct tepal_params params_of(enum tepal_layout layout, enum tepal_positions positions,
                                     uint64_t first, uint64_t growth,
                                     enum tepal_chain_series series)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.kind = TEPAL_KIND_CHAIN;
    p.layout = layout;
    p.positions = positions;
    p.seed = 6;
    p.chain.first_keys = first;
    p.chain.growth = growth;
    p.chain.series = series;
    assert_ok(tepal_params_for_rate(&p, 8 * first, 0.02, NULL));
    return p;
}

static struct tepal_filter *make_of(const struct tepal_params *p)
{
    struct tepal_filter *f = NULL;
    assert_ok(tepal_filter_create(p, NULL, &f, NULL));
    return f;
}

static struct tepal_filter *make(uint64_t first, uint64_t growth, enum tepal_chain_series series)
{
    struct tepal_params p =
        params_of(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, first, growth, series);
    return make_of(&p);
}

static uint64_t parts_of(const struct tepal_filter *f)
{
    return tepal_filter_params(f)->chain.parts;
}

static void must_be_sound(const struct tepal_filter *f)
{
    struct tepal_error error = {0};
    if (tepal_filter_validate(f, &error) != TEPAL_OK) {
        fail_msg("%s", error.why);
    }
}

/* ---- Bloom filters kept one by one ----------------------------------------------------------- */

struct row {
    struct tepal_params params;
    uint32_t parts;
    uint64_t keys; /* of the last one */
    struct tepal_filter *part[TEPAL_MAX_PARTS];
};

/* As docs/format.md has it: two words of the digest far beyond those of positions. */
static uint64_t word_of(struct tepal_digest d, uint64_t i)
{
    const uint64_t a = d.lo ^ i * UINT64_C(0x9e3779b97f4a7c15);
    const uint64_t b = d.hi | 1;
    const uint64_t low = UINT32_MAX;
    uint64_t middle = (a & low) * (b & low) >> 32;
    uint64_t one = (a >> 32) * (b & low) + middle;
    uint64_t other = (a & low) * (b >> 32) + (one & low);
    return a * b ^ ((a >> 32) * (b >> 32) + (one >> 32) + (other >> 32));
}

static struct tepal_digest row_digest(uint32_t part, struct tepal_digest d)
{
    uint64_t i = ((uint64_t)1 << 20) + 2 * (uint64_t)part;
    return part == 0 ? d : (struct tepal_digest){word_of(d, i), word_of(d, i + 1)};
}

static void row_open(struct row *r)
{
    struct tepal_chain_part part;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    assert_ok(tepal_chain_part(&r->params, r->parts, &part));
    p.layout = r->params.layout;
    p.positions = r->params.positions;
    p.cells = part.bits;
    p.hashes = part.hashes;
    assert_ok(tepal_filter_create(&p, NULL, &r->part[r->parts++], NULL));
    r->keys = 0;
}

static bool row_has(const struct row *r, struct tepal_digest d)
{
    bool has = false;
    for (uint32_t i = 0; i < r->parts; i++) {
        has |= tepal_filter_query(r->part[i], row_digest(i, d));
    }
    return has;
}

static bool row_add(struct row *r, struct tepal_digest d)
{
    struct tepal_chain_part part;
    if (row_has(r, d)) {
        return true;
    }
    assert_ok(tepal_chain_part(&r->params, r->parts - 1, &part));
    if (r->keys == part.keys) {
        row_open(r);
    }
    assert_ok(tepal_filter_add(r->part[r->parts - 1], row_digest(r->parts - 1, d)));
    r->keys++;
    return false;
}

/* The payload of the chain is the bits of all parts in a row, and a directory that says so. */
static void same_bits(const struct tepal_filter *f, const struct row *r)
{
    size_t len;
    uint8_t *bytes = encoded(f, &len);
    const uint8_t *at = bytes + 256;
    double fp = 1;
    assert_int_equal(parts_of(f), r->parts);
    for (uint32_t i = 0; i < r->parts; i++) {
        size_t words;
        const uint64_t *expected = tepal_filter_words(r->part[i], &words);
        for (size_t w = 0; w < words; w++, at += 8) {
            assert_int_equal(little_get64(at), expected[w]);
        }
        fp *= 1 - tepal_filter_fp_now(r->part[i]);
    }
    for (uint32_t i = 0; i < r->parts; i++, at += 32) {
        struct tepal_chain_part part;
        assert_ok(tepal_chain_part(&r->params, i, &part));
        assert_int_equal(little_get64(at), part.bits);
        assert_int_equal(little_get64(at + 8), part.hashes);
        assert_int_equal(little_get64(at + 16), part.keys);
        assert_int_equal(little_get64(at + 24), i + 1 < r->parts ? part.keys : r->keys);
    }
    assert_true(fabs(tepal_filter_fp_now(f) - (1 - fp)) < 1e-12);
    free(bytes);
}

static void row_free(struct row *r)
{
    for (uint32_t i = 0; i < r->parts; i++) {
        tepal_filter_free(r->part[i]);
    }
}

/* One by one, and in batches of any length with repeats in them: the same answers and bits. */
static void parts_are_bloom_filters(void **unused)
{
    (void)unused;
    enum { KEYS = 1500, STRANGERS = 300 };
    uint64_t state = 1;
    for (int way = 0; way < 16; way++) {
        struct tepal_params p =
            params_of((enum tepal_layout)(way % 4), (enum tepal_positions)(way / 4 % 2), 50,
                      300 + 90 * way, way < 8 ? TEPAL_CHAIN_EVEN : TEPAL_CHAIN_HALVING);
        struct row row = {.params = p};
        struct tepal_filter *one = make_of(&p);
        struct tepal_filter *many = make_of(&p);
        struct tepal_filter *plain = make_of(&p);
        static struct tepal_digest d[KEYS];
        static bool was[KEYS];
        uint64_t answers[KEYS / 64 + 1];
        row_open(&row);
        for (size_t i = 0; i < KEYS; i++) {
            bool there;
            d[i] = i % 7 == 6 ? d[check_random(&state) % i] : check_digest(&state);
            was[i] = row_add(&row, d[i]);
            assert_ok(tepal_filter_test_add(one, d[i], &there));
            assert_true(there == was[i]);
        }
        for (size_t i = 0, step; i < KEYS; i += step) {
            size_t found;
            step = check_random(&state) % 400;
            step = step < KEYS - i ? step : KEYS - i;
            assert_ok(tepal_filter_test_add_many(many, d + i, step, answers, &found));
            assert_ok(tepal_filter_add_many(plain, d + i, step));
            for (size_t x = 0; x < step; x++) {
                found -= was[i + x];
                assert_true((answers[x / 64] >> x % 64 & 1) == was[i + x]);
            }
            assert_int_equal(found, 0);
        }
        assert_true(row.parts >= 3);
        same_bits(one, &row);
        same_bits(many, &row);
        same_bits(plain, &row);
        assert_int_equal(tepal_filter_keys_added(many), KEYS);
        assert_int_equal(tepal_filter_query_many(one, d, KEYS, answers), KEYS);
        for (size_t i = 0; i < STRANGERS; i++) {
            struct tepal_digest stranger = check_digest(&state);
            assert_true(tepal_filter_query(one, stranger) == row_has(&row, stranger));
        }
        must_be_sound(one);
        row_free(&row);
        tepal_filter_free(one);
        tepal_filter_free(many);
        tepal_filter_free(plain);
    }
}

/* Batches of every length, over one part to more than are asked at a time, of one round and two. */
static void batches_are_single_calls(void **unused)
{
    (void)unused;
    enum { KEYS = 1600, ROOM = 300 };
    static struct tepal_digest d[KEYS];
    uint64_t state = 21;
    uint64_t found = 0;
    uint64_t most = 0;
    for (int way = 0; way < 16; way++) {
        struct tepal_params p = params_of(TEPAL_LAYOUT_BLOCKED, (enum tepal_positions)(way % 2), 40,
                                          282, TEPAL_CHAIN_EVEN);
        const uint64_t keys[] = {30, 300, 800, KEYS};
        uint64_t answers[ROOM / 64 + 1];
        assert_ok(tepal_params_for_rate(&p, KEYS, way < 8 ? 0.5 : 0.01, NULL));
        struct tepal_filter *f = make_of(&p);
        check_digests(&state, d, KEYS);
        assert_ok(tepal_filter_add_many(f, d, keys[way / 2 % 4]));
        most = parts_of(f) > most ? parts_of(f) : most;
        for (size_t count = 0; count < ROOM; count++) {
            struct tepal_digest asked[ROOM];
            size_t present = 0;
            check_digests(&state, asked, count);
            for (size_t i = 0; i < count; i++) {
                uint64_t member = check_random(&state) % 1000;
                asked[i] = check_random(&state) % (1 + count % 3) > 0 ? d[member] : asked[i];
            }
            memset(answers, 0xff, sizeof answers);
            size_t told = tepal_filter_query_many(f, asked, count, answers);
            for (size_t i = 0; i < (count + 63) / 64 * 64; i++) {
                bool there = i < count && tepal_filter_query(f, asked[i]);
                assert_true((answers[i / 64] >> i % 64 & 1) == there);
                present += there;
            }
            assert_int_equal(told, present);
            found += present;
        }
        tepal_filter_free(f);
    }
    assert_true(most > 32 && found > 100000);
}

/* ---- the series ------------------------------------------------------------------------------ */

/* However many parts are planned and opened, their shares sum to less than 1, as derived. */
static void shares_sum_to_one_at_most(void **unused)
{
    (void)unused;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.chain.growth = 512;
    for (uint32_t planned = 1; planned <= TEPAL_MAX_PARTS; planned++) {
        double sum = 0;
        p.chain.planned = planned;
        for (uint32_t i = 0; i < 100000; i++) {
            double share = tepal_chain_share(&p, i);
            assert_true(share > 0);
            sum += share;
            double beyond = i < planned ? 0 : i + 1.0 - planned;
            double derived = i < planned ? 0.875 * (i + 1) / planned
                                         : 0.875 + 0.125 * beyond / (beyond + planned / 7.0);
            assert_true(sum < 1 && fabs(sum - derived) < 1e-9);
        }
    }
    p.chain.series = TEPAL_CHAIN_HALVING;
    p.chain.planned = 0;
    for (uint32_t i = 0; i < 60; i++) {
        assert_true(tepal_chain_share(&p, i) == exp2(-1.0 - i));
    }
    p.chain.growth = 0;
    assert_true(tepal_chain_share(&p, 0) == 1 && tepal_chain_share(&p, 1) == 0);
}

/* The most bits per key, beyond those of one filter, at any size: shares[i] of the rate each. */
static double worst_cost(const double *share, const double *keys, int parts)
{
    double cost = 0;
    double all = 0;
    double worst = 0;
    for (int i = 0; i < parts; i++) {
        cost += keys[i] * -log2(share[i]);
        all += keys[i];
        worst = fmax(worst, cost / all);
    }
    return worst;
}

/* Of all ways to share the rate, equal shares have the least cost at the worst size. */
static void equal_shares_are_best(void **unused)
{
    (void)unused;
    enum { PARTS = 10 };
    uint64_t state = 3;
    double keys[PARTS];
    double share[PARTS];
    for (int i = 0; i < PARTS; i++) { /* sizes that double in all: 1, 1, 2, 4, ... */
        keys[i] = i == 0 ? 1 : exp2(i - 1);
        share[i] = 1.0 / PARTS;
    }
    double best = worst_cost(share, keys, PARTS);
    assert_true(fabs(best - log2(PARTS)) < 1e-12);
    for (int trial = 0; trial < 20000; trial++) {
        double sum = 0;
        double step = exp2(-(double)(trial % 12));
        for (int i = 0; i < PARTS; i++) {
            double random = (double)(check_random(&state) >> 11) * 0x1p-53;
            sum += share[i] = exp(step * (2 * random - 1));
        }
        for (int i = 0; i < PARTS; i++) {
            share[i] /= sum;
        }
        assert_true(worst_cost(share, keys, PARTS) > best);
    }
    for (int i = 0; i < PARTS; i++) {
        share[i] = exp2(-1.0 - i);
    }
    assert_true(worst_cost(share, keys, PARTS) > best + 5); /* halving: far from it */
}

/* Sizes and rates as the series says; every part keeps its share, and a line less would not. */
static void parts_keep_their_shares(void **unused)
{
    (void)unused;
    for (int way = 0; way < 16; way++) {
        enum tepal_chain_series series = (enum tepal_chain_series)(way % 2);
        struct tepal_params p =
            params_of((enum tepal_layout)(way / 2 % 4), (enum tepal_positions)(way / 8), 1000,
                      way % 4 < 2 ? 512 : 1024, series);
        double factor = way % 4 < 2 ? 2 : 4;
        for (uint32_t i = 0; i < 7; i++) {
            struct tepal_chain_part part;
            assert_ok(tepal_chain_part(&p, i, &part));
            double expected = series == TEPAL_CHAIN_HALVING ? 1000 * pow(factor, i)
                              : i == 0                      ? 1000
                                       : 1000 * pow(factor, i) - 1000 * pow(factor, i - 1.0);
            assert_true((double)part.keys == expected);
            double most = 0.02 * tepal_chain_share(&p, i);
            assert_true(tepal_bloom_fp(p.layout, p.positions, part.bits, part.keys, part.hashes) <=
                        most);
            uint64_t less = part.bits - TEPAL_LINE_BITS;
            uint32_t hashes = tepal_bloom_best_hashes(p.layout, p.positions, less, part.keys);
            assert_true(tepal_bloom_fp(p.layout, p.positions, less, part.keys, hashes) > most);
        }
        assert_true(tepal_chain_fp(&p, 100000) <= 0.02);
        assert_true(tepal_chain_fp(&p, 0) == 0);
    }
    struct tepal_params p = TEPAL_PARAMS_INIT;
    assert_int_equal(tepal_chain_size(0, 0.01, &p), TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_chain_size(10, 1, &p), TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_chain_size(10, 1e-20, &p), TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_chain_size(UINT64_MAX, 0.01, &p), TEPAL_OK);
    assert_int_equal(p.chain.planned, 11);
    enum tepal_chain_series series;
    assert_true(tepal_chain_series_parse(tepal_chain_series_name(TEPAL_CHAIN_HALVING), &series));
    assert_int_equal(series, TEPAL_CHAIN_HALVING);
    assert_false(tepal_chain_series_parse("thirds", &series));
}

/* As Redis has it: the first part at half the rate, the others half of the one before. */
static void halving_is_what_redis_does(void **unused)
{
    (void)unused;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.kind = TEPAL_KIND_CHAIN;
    p.chain = (struct tepal_chain_params){
        .first_keys = 100, .growth = 2 * TEPAL_CHAIN_UNIT, .series = TEPAL_CHAIN_HALVING};
    assert_ok(tepal_params_for_rate(&p, 100, 0.01, NULL));
    for (uint32_t i = 0; i < 6; i++) {
        struct tepal_chain_part part;
        uint64_t cells;
        uint32_t hashes = 0;
        assert_ok(tepal_chain_part(&p, i, &part));
        assert_int_equal(part.keys, (uint64_t)100 << i);
        assert_ok(tepal_bloom_size(p.layout, p.positions, part.keys, 0.01 / (double)(2 << i),
                                   &cells, &hashes));
        assert_true(part.bits >= cells && part.bits < cells + TEPAL_LINE_BITS);
        assert_int_equal(part.hashes, hashes);
    }
    p.chain.growth = TEPAL_CHAIN_UNIT; /* an expansion of 1 */
    struct tepal_filter *f = make_of(&p);
    uint64_t state = 4;
    for (int i = 0; i < 1000; i++) {
        assert_ok(tepal_filter_add(f, check_digest(&state)));
    }
    assert_true(parts_of(f) == 10 && info_integer(f, "keys_now") <= 1000);
    /* It ends with its 64 parts, and says so. */
    enum tepal_status status = TEPAL_OK;
    for (int i = 0; i < 7000 && status == TEPAL_OK; i++) {
        status = tepal_filter_add(f, check_digest(&state));
    }
    assert_int_equal(status, TEPAL_FULL);
    assert_int_equal(parts_of(f), TEPAL_MAX_PARTS);
    must_be_sound(f);
    tepal_filter_free(f);
}

/* ---- no growth ------------------------------------------------------------------------------- */

static void a_chain_that_may_not_grow_is_full(void **unused)
{
    (void)unused;
    enum { ROOM = 2000 };
    uint64_t state = 5;
    uint64_t answers[8];
    size_t present;
    static struct tepal_digest d[2 * ROOM];
    struct tepal_filter *f = make(ROOM, 0, TEPAL_CHAIN_EVEN);
    struct tepal_filter *before = NULL;
    check_digests(&state, d, 2 * ROOM);
    assert_true(isnan(tepal_chain_fp(tepal_filter_params(f), ROOM + 1)));
    assert_int_equal(tepal_filter_add_many(f, d, 2 * ROOM), TEPAL_FULL);
    assert_int_equal(tepal_filter_ones(f), 0);
    assert_int_equal(tepal_filter_keys_added(f), 0);
    assert_ok(tepal_filter_add_many(f, d, ROOM - 1));
    uint64_t held = info_integer(f, "keys_now"); /* false positives found among them need none */
    size_t next = ROOM - 1;
    while (held < ROOM) {
        assert_ok(tepal_filter_add(f, d[next++]));
        held = info_integer(f, "keys_now");
    }
    while (tepal_filter_query(f, d[next])) {
        next++;
    }
    assert_ok(tepal_filter_clone(f, NULL, &before, NULL));
    assert_int_equal(tepal_filter_add(f, d[next]), TEPAL_FULL);
    assert_int_equal(tepal_filter_add_many(f, d + next - 5, 6), TEPAL_FULL);
    assert_int_equal(tepal_filter_test_add_many(f, d + next - 5, 6, answers, &present), TEPAL_FULL);
    assert_true(tepal_filter_equal(f, before));
    assert_int_equal(parts_of(f), 1);
    /* What it has it takes again, any number of times. */
    assert_ok(tepal_filter_add(f, d[0]));
    assert_ok(tepal_filter_add_many(f, d, ROOM - 1));
    assert_true(tepal_filter_equal(f, before));
    /* The whole rate is its one part's. */
    assert_true(tepal_filter_fp_now(f) > 0.01 && tepal_filter_fp_now(f) < 0.03);
    tepal_filter_free(f);
    tepal_filter_free(before);
}

/* ---- files ----------------------------------------------------------------------------------- */

static struct tepal_filter *through_bytes(const struct tepal_filter *f)
{
    size_t len;
    uint8_t *bytes = encoded(f, &len);
    struct tepal_filter *back = NULL;
    assert_ok(tepal_decode(bytes, len, NULL, &back, NULL));
    assert_true(tepal_filter_equal(f, back));
    free(bytes);
    return back;
}

/* Saved and loaded at many sizes, it goes on as if it had never been: byte for byte. */
static void files_go_on(void **unused)
{
    (void)unused;
    uint64_t state = 11;
    struct tepal_params p =
        params_of(TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_COLLIDING, 100, 450, TEPAL_CHAIN_EVEN);
    struct tepal_filter *f = make_of(&p);
    struct tepal_filter *fresh = make_of(&p);
    struct tepal_filter *other = make_of(&p);
    for (size_t i = 0; i < 20000; i++) {
        struct tepal_digest d = check_digest(&state);
        assert_ok(tepal_filter_add(f, d));
        assert_ok(tepal_filter_add(other, d));
        if (i % 1039 == 5) {
            struct tepal_filter *back = through_bytes(other);
            struct tepal_filter *copy = NULL;
            assert_ok(tepal_filter_clone(back, NULL, &copy, NULL));
            tepal_filter_free(i % 2 == 0 ? back : copy);
            tepal_filter_free(other);
            other = i % 2 == 0 ? copy : back;
            assert_true(tepal_filter_equal(f, other));
            must_be_sound(other);
        }
    }
    assert_true(parts_of(f) >= 9);
    /* Cleared, it is as new, and so is one that is created with what it had become. */
    struct tepal_params grown = *tepal_filter_params(f);
    struct tepal_filter *again = make_of(&grown);
    assert_ok(tepal_filter_clear(f));
    assert_ok(tepal_filter_clear(other));
    assert_true(tepal_filter_equal(f, fresh));
    assert_true(tepal_filter_equal(other, fresh));
    assert_true(tepal_filter_equal(again, fresh));
    for (size_t i = 0; i < 1000; i++) {
        struct tepal_digest d = check_digest(&state);
        assert_ok(tepal_filter_add(f, d));
        assert_ok(tepal_filter_add(other, d));
        assert_ok(tepal_filter_add(again, d));
    }
    assert_true(tepal_filter_equal(f, other));
    assert_true(tepal_filter_equal(f, again));
    tepal_filter_free(through_bytes(again));
    tepal_filter_free(f);
    tepal_filter_free(fresh);
    tepal_filter_free(other);
    tepal_filter_free(again);
}

/* A directory that is not that of the parts is refused, whatever it says. */
static void wrong_directories_are_refused(void **unused)
{
    (void)unused;
    uint64_t state = 12;
    struct tepal_filter *f = make(100, 512, TEPAL_CHAIN_EVEN);
    for (size_t i = 0; i < 700; i++) {
        assert_ok(tepal_filter_add(f, check_digest(&state)));
    }
    size_t len;
    uint8_t *bytes = encoded(f, &len);
    uint64_t parts = parts_of(f);
    size_t payload = (size_t)tepal_filter_params(f)->cells / 8 + 32 * parts;
    assert_true(parts == 4);
    static const uint64_t lies[] = {0, 1, 511, 513, 65, UINT64_MAX, (uint64_t)1 << 60};
    for (uint64_t word = 0; word < 4 * parts; word++) {
        uint8_t *at = bytes + 256 + payload - 32 * parts + 8 * word;
        const uint64_t truth = little_get64(at);
        for (size_t i = 0; i < COUNT(lies); i++) {
            struct tepal_filter *back = NULL;
            little_put64(at, lies[i]);
            blocks_resum(bytes, payload);
            enum tepal_status status = tepal_decode(bytes, len, NULL, &back, NULL);
            /* The keys of a part are what somebody counted; so is the room of all but the first,
               and their hashes, as far as these are legal. */
            bool free_to_say = word % 4 == CHAIN_KEYS ||
                               (word > 4 && word % 4 == CHAIN_ROOM && lies[i] > 0 &&
                                lies[i] <= (uint64_t)1 << 56) ||
                               (word > 4 && word % 4 == CHAIN_HASHES && lies[i] == 1);
            assert_int_equal(status, free_to_say ? TEPAL_OK : TEPAL_CORRUPT);
            if (status == TEPAL_OK) {
                for (int x = 0; x < 300; x++) {
                    (void)tepal_filter_query(back, check_digest(&state));
                    assert_ok(tepal_filter_add(back, check_digest(&state)));
                }
                must_be_sound(back);
                tepal_filter_free(back);
            }
        }
        little_put64(at, truth);
    }
    blocks_resum(bytes, payload);
    struct tepal_filter *back = NULL;
    assert_ok(tepal_decode(bytes, len, NULL, &back, NULL));
    tepal_filter_free(back);
    free(bytes);
    tepal_filter_free(f);
}

/* ---- unions ---------------------------------------------------------------------------------- */

static void unions_are_part_by_part(void **unused)
{
    (void)unused;
    enum { FEW = 150, MANY = 3000 };
    static struct tepal_digest d[MANY];
    uint64_t state = 13;
    uint64_t answers[MANY / 64 + 1];
    check_digests(&state, d, MANY);
    struct tepal_filter *big = make(100, 512, TEPAL_CHAIN_EVEN);
    struct tepal_filter *same = make(100, 512, TEPAL_CHAIN_EVEN);
    struct tepal_filter *small = make(100, 512, TEPAL_CHAIN_EVEN);
    assert_ok(tepal_filter_add_many(big, d, MANY));
    assert_ok(tepal_filter_add_many(same, d, MANY));
    assert_ok(tepal_filter_add_many(small, d + MANY - FEW, FEW));
    /* Replicas: the same bits again. */
    double before = tepal_filter_fp_now(big);
    assert_ok(tepal_filter_unite(same, big));
    assert_true(tepal_filter_fp_now(same) == before);
    assert_int_equal(info_integer(same, "keys_now"), 2 * info_integer(big, "keys_now"));
    /* The smaller one gets the parts that it lacks; the union is the same either way. */
    struct tepal_filter *copy = NULL;
    assert_ok(tepal_filter_clone(small, NULL, &copy, NULL));
    assert_ok(tepal_filter_unite(small, big));
    assert_ok(tepal_filter_unite(big, copy));
    assert_true(tepal_filter_equal(small, big));
    assert_int_equal(tepal_filter_query_many(small, d, MANY, answers), MANY);
    assert_int_equal(tepal_filter_keys_added(small), MANY + FEW);
    /* The first parts are crowded now: the rate is told, and goes no further. */
    double told = tepal_filter_fp_now(small);
    size_t found = 0;
    assert_true(told > before);
    for (size_t i = 0; i < 50000; i++) {
        found += tepal_filter_query(small, check_digest(&state));
    }
    check_within("united", (double)found, 50000 * told, sqrt(50000 * told));
    must_be_sound(small);
    /* What cannot be united. */
    struct tepal_filter *wrong = make(101, 512, TEPAL_CHAIN_EVEN);
    assert_int_equal(tepal_filter_unite(small, wrong), TEPAL_MISMATCH);
    tepal_filter_free(wrong);
    wrong = make(100, 512, TEPAL_CHAIN_HALVING);
    assert_int_equal(tepal_filter_unite(small, wrong), TEPAL_MISMATCH);
    tepal_filter_free(wrong);
    assert_int_equal(tepal_filter_intersect(small, big), TEPAL_UNSUPPORTED);
    /* A second part of another size, as another machine's arithmetic might make it. */
    assert_ok(tepal_filter_clone(big, NULL, &wrong, NULL));
    chain_entry((struct tepal_chain *)wrong, 1)[CHAIN_ROOM]++;
    assert_int_equal(tepal_filter_unite(wrong, big), TEPAL_MISMATCH);
    tepal_filter_free(wrong);
    tepal_filter_free(copy);
    tepal_filter_free(big);
    tepal_filter_free(same);
    tepal_filter_free(small);
}

/* ---- memory ---------------------------------------------------------------------------------- */

struct purse {
    long left; /* allocations that succeed */
};

static void *purse_alloc(void *ctx, size_t size, size_t align)
{
    struct purse *purse = ctx;
    return purse->left-- > 0 ? aligned_alloc(align, (size + align - 1) / align * align) : NULL;
}

static void purse_free(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    (void)size;
    free(ptr);
}

/* Without memory for a part, nothing changes; what is found is still taken; later it goes on. */
static void memory_runs_out(void **unused)
{
    (void)unused;
    enum { KEYS = 1000 };
    struct tepal_digest d[KEYS];
    uint64_t state = 14;
    check_digests(&state, d, KEYS);
    for (long left = 0; left < 4; left++) {
        struct purse purse = {.left = 2};
        const struct tepal_allocator allocator = {purse_alloc, purse_free, &purse};
        struct tepal_params p =
            params_of(TEPAL_LAYOUT_PAIRED, TEPAL_POSITIONS_DISTINCT, 100, 512, TEPAL_CHAIN_EVEN);
        struct tepal_filter *f = NULL;
        struct tepal_filter *before = NULL;
        struct tepal_filter *large = make_of(&p);
        assert_ok(tepal_filter_create(&p, &allocator, &f, NULL));
        assert_ok(tepal_filter_add_many(f, d, 80));
        assert_ok(tepal_filter_add_many(large, d, KEYS));
        assert_ok(tepal_filter_clone(f, NULL, &before, NULL));
        purse.left = left;
        assert_int_equal(tepal_filter_add_many(f, d, KEYS), TEPAL_NO_MEMORY);
        assert_true(tepal_filter_equal(f, before));
        assert_int_equal(tepal_filter_keys_added(f), 80);
        assert_ok(tepal_filter_add_many(f, d, 80));
        purse.left = left;
        assert_int_equal(tepal_filter_unite(f, large), TEPAL_NO_MEMORY);
        assert_true(tepal_filter_equal(f, before));
        must_be_sound(f);
        purse.left = 100;
        assert_ok(tepal_filter_add_many(f, d, KEYS));
        assert_true(tepal_filter_equal(f, large));
        uint64_t memory = tepal_filter_memory_bytes(f);
        assert_true(memory > tepal_filter_params(f)->cells / 8 &&
                    memory < tepal_filter_params(f)->cells / 8 + 8192);
        tepal_filter_free(f);
        tepal_filter_free(before);
        tepal_filter_free(large);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_bloom_filters),
        cmocka_unit_test(batches_are_single_calls),
        cmocka_unit_test(shares_sum_to_one_at_most),
        cmocka_unit_test(equal_shares_are_best),
        cmocka_unit_test(parts_keep_their_shares),
        cmocka_unit_test(halving_is_what_redis_does),
        cmocka_unit_test(a_chain_that_may_not_grow_is_full),
        cmocka_unit_test(files_go_on),
        cmocka_unit_test(wrong_directories_are_refused),
        cmocka_unit_test(unions_are_part_by_part),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
