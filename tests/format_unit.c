/*
 * format_unit.c: filters as bytes. Three promises are tested: what is encoded comes back; what is
 * damaged is refused, with the right word for it; and no bytes whatever, with checksums wrong or
 * right, do harm.
 *
 * The golden files in tests/golden pin the format, the hashes and the addresses for ever: the
 * recipes below must give the same bytes on every machine and in every later version.
 *     TEPAL_GOLDEN_WRITE=1 build/format_unit
 * writes them anew; that is right for a new file in the list, and for an old one it means that
 * filters that people have saved cannot be read any more.
 */
#include "file_help.h"
#include "generalized_help.h"
#include "recycling_help.h"
#include "yesno_help.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "file/format.h"
#include "base/processor.h"

#define FLAT        TEPAL_LAYOUT_FLAT
#define PARTITIONED TEPAL_LAYOUT_PARTITIONED
#define BLOCKED     TEPAL_LAYOUT_BLOCKED
#define PAIRED      TEPAL_LAYOUT_PAIRED
#define COLLIDING   TEPAL_POSITIONS_COLLIDING
#define DISTINCT    TEPAL_POSITIONS_DISTINCT
#define XXH3        TEPAL_HASH_XXH3
#define SIPHASH     TEPAL_HASH_SIPHASH
#define SIPHASH13   TEPAL_HASH_SIPHASH13

static const struct recipe golden[] = {
    {"tiny", FLAT, COLLIDING, XXH3, 3, 61, 5, 42, 5},
    {"flat", FLAT, COLLIDING, XXH3, 7, 1000, 100, 42, 250},
    {"flat-distinct", FLAT, DISTINCT, XXH3, 8, 777, 0, 7, 160},
    {"flat-crowded", FLAT, DISTINCT, XXH3, 63, 64, 0, 9, 1},
    {"partitioned", PARTITIONED, COLLIDING, XXH3, 5, 1003, 120, 1, 300},
    {"blocked", BLOCKED, COLLIDING, XXH3, 6, 2048, 200, 0, 600},
    {"blocked-two-rounds", BLOCKED, COLLIDING, XXH3, 13, 1536, 70, 2, 200},
    {"blocked-distinct", BLOCKED, DISTINCT, XXH3, 11, 1536, 70, UINT64_MAX, 250},
    {"paired", PAIRED, COLLIDING, XXH3, 7, 3584, 300, 77, 900},
    {"paired-distinct", PAIRED, DISTINCT, XXH3, 21, 2560, 80, 78, 220},
    {"keyed", FLAT, COLLIDING, SIPHASH, 4, 999, 150, 123456789, 300},
    {"keyed-paired", PAIRED, COLLIDING, SIPHASH, 8, 1024, 0, 5, 200},
    {"keyed13", BLOCKED, COLLIDING, SIPHASH13, 6, 1536, 150, 987654321, 300},
    {"three-blocks", FLAT, COLLIDING, XXH3, 4, 1054321, 0, 31, 1000},
};

/* ---- what goes in comes out ------------------------------------------------------------------ */

static void round_trip(const struct recipe *r)
{
    size_t len;
    size_t again_len;
    struct tepal_filter *f = recipe_make(r);
    struct tepal_filter *g = NULL;
    struct tepal_error error = {TEPAL_OK, 77, 77, "untouched"};
    uint8_t *bytes = encoded(f, &len);
    size_t words;
    (void)tepal_filter_words(f, &words);
    assert_int_equal(len, 256 + 8 * words + 8 * ((8 * words + 65535) / 65536));
    assert_int_equal(tepal_decode(bytes, len, NULL, &g, &error), TEPAL_OK);
    assert_string_equal(error.why, "untouched");
    assert_true(tepal_filter_equal(f, g));
    assert_false(tepal_filter_read_only(g));
    assert_int_equal(tepal_filter_keys_added(g), r->keys);
    assert_int_equal(tepal_filter_params(g)->capacity, r->capacity);
    if (tepal_hash_is_keyed(r->hash)) {
        static const uint8_t wrong[TEPAL_KEY_BYTES] = {1};
        struct tepal_hasher hasher;
        assert_int_equal(tepal_filter_hasher(g, &hasher), TEPAL_KEY_NEEDED);
        assert_int_equal(tepal_filter_set_key(g, wrong), TEPAL_WRONG_KEY);
        assert_int_equal(tepal_filter_hasher(g, &hasher), TEPAL_KEY_NEEDED);
        assert_int_equal(tepal_filter_set_key(g, recipe_key), TEPAL_OK);
    }
    recipe_check(r, g);
    uint8_t *again = encoded(g, &again_len);
    assert_int_equal(len, again_len);
    assert_memory_equal(bytes, again, len);
    /* It lives on like any other. */
    assert_int_equal(tepal_filter_add(g, recipe_digest(g, "golden", r->keys)), TEPAL_OK);
    assert_int_equal(tepal_filter_keys_added(g), r->keys + 1);
    free(again);
    free(bytes);
    tepal_filter_free(g);
    tepal_filter_free(f);
}

static void round_trips(void **unused)
{
    (void)unused;
    static const uint64_t sizes[] = {1,   2,   63,  64,   65,    127,    128,    129,
                                     511, 512, 513, 4096, 10007, 524288, 524289, 524352};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        for (int positions = 0; positions < 2; positions++) {
            for (int hash = 0; hash < 3; hash++) {
                struct recipe r = {"",
                                   FLAT,
                                   (enum tepal_positions)positions,
                                   (enum tepal_hash)hash,
                                   sizes[i] < 5 ? 1 : 5,
                                   sizes[i],
                                   sizes[i] * 3,
                                   i,
                                   40};
                round_trip(&r);
                r.layout = PARTITIONED;
                round_trip(&r);
                r.cells = 1024 * (1 + sizes[i] / 1024);
                r.layout = BLOCKED;
                round_trip(&r);
                r.hashes = 16;
                round_trip(&r);
                r.layout = PAIRED;
                r.hashes = 32;
                round_trip(&r);
                r.keys = 0;
                round_trip(&r);
            }
        }
    }
}

static void extreme_numbers(void **unused)
{
    (void)unused;
    struct recipe r = {"", FLAT, COLLIDING, XXH3, 64, 100, UINT64_MAX, UINT64_MAX, 3};
    round_trip(&r);
}

static void keyed_without_a_key_yet(void **unused)
{
    (void)unused;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_filter *f;
    struct tepal_filter *g;
    size_t len;
    p.cells = 100;
    p.hashes = 3;
    p.hash = SIPHASH;
    assert_int_equal(tepal_filter_create(&p, NULL, &f, NULL), TEPAL_OK);
    assert_int_equal(tepal_filter_create(&p, NULL, &g, NULL), TEPAL_OK);
    /* without its key it can be neither written nor combined: any key would seem right later */
    uint8_t none[1024];
    struct tepal_error error;
    assert_int_equal(tepal_encode(f, none, sizeof none, NULL), TEPAL_KEY_NEEDED);
    assert_int_equal(tepal_save(f, "never-written.tepal", &error), TEPAL_KEY_NEEDED);
    assert_int_equal(tepal_filter_unite(f, g), TEPAL_KEY_NEEDED);
    tepal_filter_free(g);
    assert_int_equal(tepal_filter_set_key(f, recipe_key), TEPAL_OK);
    uint8_t *bytes = encoded(f, &len);
    assert_int_equal(tepal_decode(bytes, len, NULL, &g, NULL), TEPAL_OK);
    assert_true(tepal_filter_params(g)->key_check == tepal_filter_params(f)->key_check);
    tepal_filter_free(g);
    /* and a file that claims to be such a one is refused */
    memset(bytes + 56, 0, 8);
    header_resum(bytes);
    assert_int_equal(tepal_decode(bytes, len, NULL, &g, &error), TEPAL_CORRUPT);
    assert_int_equal(error.offset, 56);
    free(bytes);
    tepal_filter_free(f);
}

static void room_for_the_bytes(void **unused)
{
    (void)unused;
    struct tepal_filter *f = recipe_make(&golden[0]);
    uint8_t bytes[300];
    size_t len = (size_t)tepal_encoded_bytes(f);
    assert_int_equal(len, 256 + 8 + 8);
    memset(bytes, 0xee, sizeof bytes);
    assert_int_equal(tepal_encode(f, bytes, len - 1, NULL), TEPAL_BAD_LENGTH);
    assert_int_equal(tepal_encode(f, bytes, 0, NULL), TEPAL_BAD_LENGTH);
    assert_int_equal(bytes[0], 0xee);
    assert_int_equal(tepal_encode(f, bytes, sizeof bytes, NULL), TEPAL_OK);
    assert_int_equal(bytes[len], 0xee);
    tepal_filter_free(f);
}

/* ---- golden files ---------------------------------------------------------------------------- */

static void golden_files(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(golden); i++) {
        struct tepal_filter *f = recipe_make(&golden[i]);
        golden_check(f, golden[i].name);
        tepal_filter_free(f);
    }
}

/* Filters of integers: they pin the integer digests, unkeyed and keyed in both ways. */
static void golden_integers(void **unused)
{
    (void)unused;
    static const char *const names[] = {
        [TEPAL_HASH_XXH3] = "integers",
        [TEPAL_HASH_SIPHASH] = "integers-keyed",
        [TEPAL_HASH_SIPHASH13] = "integers-keyed13",
    };
    for (size_t i = 0; i < COUNT(names); i++) {
        const enum tepal_hash hash = (enum tepal_hash)i;
        struct tepal_params params = TEPAL_PARAMS_INIT;
        params.cells = 1009;
        params.hashes = 7;
        params.seed = 42;
        params.hash = hash;
        struct tepal_filter *b;
        assert_int_equal(tepal_filter_create(&params, NULL, &b, NULL), TEPAL_OK);
        if (tepal_hash_is_keyed(hash)) {
            assert_int_equal(tepal_filter_set_key(b, recipe_key), TEPAL_OK);
        }
        for (uint64_t key = 0; key < 100; key++) {
            assert_int_equal(tepal_filter_add_u64(b, key), TEPAL_OK);
        }
        golden_check(b, names[i]);
        tepal_filter_free(b);
    }
}

/* Generalized filters: they pin the roles of hashes and sectors, and the first bits. */
static void golden_generalized(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        enum tepal_layout layout;
        uint64_t cells;
        uint32_t k0;
        uint32_t k1;
        uint32_t tolerance;
        double zeros;
    } all[] = {
        {"generalized", FLAT, 1001, 3, 4, 1, 0.25},
        {"generalized-blocked", BLOCKED, 2048, 2, 3, 0, 1},
        {"generalized-two-rounds", BLOCKED, 2048, 6, 8, 2, 0.7},
    };
    for (size_t i = 0; i < COUNT(all); i++) {
        struct tepal_params p;
        struct tepal_filter *f = NULL;
        struct tepal_filter *g = NULL;
        assert_int_equal(set_generalized(all[i].cells, all[i].k0, all[i].k1, all[i].zeros,
                                         all[i].tolerance, 42, &p),
                         TEPAL_OK);
        p.layout = all[i].layout;
        assert_int_equal(tepal_filter_create(&p, NULL, &f, NULL), TEPAL_OK);
        for (unsigned key = 0; key < 100; key++) {
            assert_int_equal(tepal_filter_add(f, recipe_digest(f, "golden", key)), TEPAL_OK);
        }
        golden_check(f, all[i].name);
        size_t len;
        uint8_t *bytes = encoded(f, &len);
        uint8_t *old = copied(bytes, len);
        /* what an attacker may write: own parameters at 72, own state at 136, a set tail */
        static const struct {
            size_t at;
            uint64_t value;
        } lies[] = {{72, 65},
                    {72, UINT64_MAX},
                    {80, 64},
                    {80, UINT64_C(1) << 40},
                    {88, (UINT64_C(1) << 32) + 1},
                    {96, 1},
                    {128, 1},
                    {136, 1},
                    {192, UINT64_MAX}};
        for (size_t j = 0; j < COUNT(lies); j++) {
            memcpy(old, bytes, len);
            little_put64(old + lies[j].at, lies[j].value);
            header_resum(old);
            g = NULL;
            struct tepal_error error = {TEPAL_OK, 0, 0, ""};
            assert_int_not_equal(tepal_decode(old, len, NULL, &g, &error), TEPAL_OK);
            assert_null(g);
            assert_true(strlen(error.why) > 10);
        }
        if (all[i].cells % 64 != 0) {
            memcpy(old, bytes, len);
            old[256 + all[i].cells / 64 * 8 + 7] |= 0x80;
            blocks_resum(old, (size_t)tepal_params_cell_bytes(&p));
            assert_int_equal(tepal_decode(old, len, NULL, &g, NULL), TEPAL_CORRUPT);
        }
        free(old);
        free(bytes);
        tepal_filter_free(f);
    }
}

/*
 * A retouched filter. Which members it gave up is the method's choice of the day it was written, so
 * it is not made again and compared, but must be read, and found to be what it says, for ever.
 */
static void golden_retouched(void **unused)
{
    (void)unused;
    enum { MEMBERS = 100, ASKED = 1000 };
    static struct tepal_digest members[MEMBERS];
    static struct tepal_digest asked[ASKED];
    struct tepal_hasher hasher;
    tepal_hasher_init(42, &hasher);
    for (uint64_t i = 0; i < MEMBERS + ASKED; i++) {
        char key[32];
        int len = snprintf(key, sizeof key, i < MEMBERS ? "golden-%d" : "stranger-%d",
                           (int)(i < MEMBERS ? i : i - MEMBERS));
        *(i < MEMBERS ? &members[i] : &asked[i - MEMBERS]) =
            tepal_hash_bytes(&hasher, key, (size_t)len);
    }
    if (golden_write()) {
        struct tepal_filter *b;
        struct tepal_filter *r;
        struct tepal_known input = {
            .members = members, .member_count = MEMBERS, .avoid = asked, .avoid_count = ASKED};
        struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
        options.limit = TEPAL_RETOUCH_LIMIT_COUNT;
        options.budget = 10;
        assert_int_equal(bloom_with_bits(800, 5, 42, &b), TEPAL_OK);
        assert_int_equal(tepal_filter_add_many(b, members, MEMBERS), TEPAL_OK);
        assert_int_equal(tepal_retouch(b, &input, &options, NULL, &r, NULL, NULL, NULL), TEPAL_OK);
        golden_save(r, "retouched");
        tepal_filter_free(r);
        tepal_filter_free(b);
    }
    uint64_t answers[(ASKED + 63) / 64];
    struct tepal_filter *f = golden_read("retouched");
    assert_string_equal(tepal_filter_kind(f)->name, "retouched");
    assert_int_equal(info_integer(f, "members"), MEMBERS);
    assert_int_equal(info_integer(f, "false_negatives"), 10);
    assert_int_equal(tepal_filter_query_many(f, members, MEMBERS, answers), MEMBERS - 10);
    tepal_filter_free(f);
}

/*
 * Recycling filters, in the middle of a cycle: made again from the same messages they are the same,
 * bit for bit. One by sigma with shared hash functions; one by count on lines, each phase with hash
 * functions of its own, and a clock.
 */
static void golden_recycling(void **unused)
{
    (void)unused;
    for (int own = 0; own < 2; own++) {
        const char *name = own ? "recycling-misses" : "recycling";
        struct tepal_params params = TEPAL_PARAMS_INIT;
        struct recycling_options options = RECYCLING_OPTIONS_INIT;
        struct tepal_filter *r;
        params.layout = own ? TEPAL_LAYOUT_BLOCKED : TEPAL_LAYOUT_FLAT;
        params.positions = own ? TEPAL_POSITIONS_DISTINCT : TEPAL_POSITIONS_COLLIDING;
        params.cells = own ? 1024 : 1000;
        params.hashes = own ? 10 : 5;
        params.seed = 42;
        options.phases = own ? 3 : 2;
        options.rule = own ? TEPAL_RECYCLING_COUNT : TEPAL_RECYCLING_SIGMA;
        options.limit = own ? 30 : 400;
        options.only_misses = own;
        options.keep_trigger = own;
        set_recycling(&params, &options);
        assert_int_equal(tepal_filter_create(&params, NULL, &r, NULL), TEPAL_OK);
        for (unsigned i = 0; i < 250; i++) {
            assert_int_equal(tepal_filter_add(r, recipe_digest(r, "golden", i)), TEPAL_OK);
        }
        if (own) {
            assert_int_equal(tepal_recycling_set_clock(r, 1234567890), TEPAL_OK);
        }
        assert_true(recycling_figures(r).cycles >= 2);
        golden_check(r, name);
        tepal_filter_free(r);
    }
}

/* By average: three phases, and the sums behind them. */
static void golden_average(void **unused)
{
    (void)unused;
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct recycling_options options = RECYCLING_OPTIONS_INIT;
    struct tepal_filter *r;
    params.cells = 1000;
    params.hashes = 5;
    params.seed = 42;
    options.phases = 3;
    options.rule = TEPAL_RECYCLING_AVERAGE;
    options.limit = UINT64_MAX / 50;
    set_recycling(&params, &options);
    assert_int_equal(tepal_filter_create(&params, NULL, &r, NULL), TEPAL_OK);
    for (unsigned i = 0; i < 250; i++) {
        assert_int_equal(tepal_filter_add(r, recipe_digest(r, "golden", i)), TEPAL_OK);
    }
    assert_true(recycling_figures(r).cycles >= 2);
    golden_check(r, "recycling-average");
    tepal_filter_free(r);
}

/* Whatever a recycling filter's file says, checksums made right, it is refused or it is sound. */
static void recycling_files_that_lie(void **unused)
{
    (void)unused;
    size_t len;
    unsigned refused = 0;
    uint8_t *good = golden_bytes("recycling", ".tepal", &len);
    static const uint64_t lies[] = {0, 1, 3, 8, 9, 399, 401, 1000, UINT64_MAX, (uint64_t)1 << 63};
    for (size_t at = 72; at < 200; at += 8) {
        for (size_t i = 0; i < COUNT(lies); i++) {
            struct tepal_filter *f = NULL;
            uint8_t *bytes = copied(good, len);
            little_put64(bytes + at, lies[i]);
            header_resum(bytes);
            if (tepal_decode(bytes, len, NULL, &f, NULL) == TEPAL_OK) {
                /* Then it can be used as any other. */
                for (unsigned j = 0; j < 300; j++) {
                    assert_int_equal(tepal_filter_add(f, recipe_digest(f, "more", j)), TEPAL_OK);
                }
                struct tepal_report report;
                tepal_filter_info(f, &report);
                assert_int_equal(tepal_filter_validate(f, NULL), TEPAL_OK);
                tepal_filter_free(f);
            } else {
                refused++;
            }
            free(bytes);
        }
    }
    assert_true(refused > 80);
    free(good);
}

/*
 * A fingerprint filter: 100 keys, of which the last 10 were removed again. Nothing about it is
 * random, so the same steps must give the same bytes for ever.
 */
static void golden_fingerprint(void **unused)
{
    (void)unused;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_filter *f;
    p.kind = TEPAL_KIND_FINGERPRINT;
    p.hashes = 2;
    p.fingerprint.bits = 11;
    p.cells = 28 * 4 * 11;
    p.capacity = 100;
    p.seed = 42;
    assert_int_equal(tepal_filter_create(&p, NULL, &f, NULL), TEPAL_OK);
    for (unsigned i = 0; i < 100; i++) {
        assert_int_equal(tepal_filter_add(f, recipe_digest(f, "golden", i)), TEPAL_OK);
    }
    for (unsigned i = 90; i < 100; i++) {
        assert_int_equal(tepal_filter_remove(f, recipe_digest(f, "golden", i)), TEPAL_OK);
    }
    golden_check(f, "fingerprint");
    assert_int_equal(tepal_filter_ones(f), 90);
    for (unsigned i = 0; i < 90; i++) {
        assert_true(tepal_filter_query(f, recipe_digest(f, "golden", i)));
    }
    tepal_filter_free(f);
}

/* A growing filter: 1500 keys, where 896 fit at first, and one of them twelve times more. */
static void golden_growing(void **unused)
{
    (void)unused;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_filter *f;
    p.kind = TEPAL_KIND_GROWING;
    p.hashes = 2;
    p.growing.tag_bits = 6;
    p.growing.extension_bits = 5;
    p.cells = (uint64_t)256 * 4 * 12;
    p.capacity = 10000;
    p.seed = 42;
    assert_int_equal(tepal_filter_create(&p, NULL, &f, NULL), TEPAL_OK);
    for (unsigned i = 0; i < 1512; i++) {
        struct tepal_digest d = recipe_digest(f, "golden", i < 1500 ? i : 0);
        assert_int_equal(tepal_filter_add(f, d), TEPAL_OK);
    }
    golden_check(f, "growing");
    assert_true(info_integer(f, "overflow") >= 5);
    assert_true(tepal_filter_params(f)->cells > tepal_filter_params(f)->growing.first);
    tepal_filter_free(f);
}

/* A chain of four parts for 400 keys, where 50 fit at first; the last one is not full. */
static void golden_chain(void **unused)
{
    (void)unused;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_filter *f;
    p.kind = TEPAL_KIND_CHAIN;
    p.layout = TEPAL_LAYOUT_PAIRED;
    p.chain.first_keys = 50;
    p.chain.growth = 2 * TEPAL_CHAIN_UNIT;
    p.seed = 42;
    assert_int_equal(tepal_params_for_rate(&p, 400, 0.01, NULL), TEPAL_OK);
    assert_int_equal(tepal_filter_create(&p, NULL, &f, NULL), TEPAL_OK);
    for (unsigned i = 0; i < 320; i++) {
        assert_int_equal(tepal_filter_add(f, recipe_digest(f, "golden", i % 310)), TEPAL_OK);
    }
    golden_check(f, "chain");
    assert_int_equal(info_integer(f, "parts"), 4);
    tepal_filter_free(f);
}

/*
 * A yes-no filter and a cascade of 100 members and 1000 known negatives. Which no-filter a false
 * positive went to is the search's choice of the day; what it answers is pinned, and what it says
 * of itself.
 */
static void golden_vetoes(void **unused)
{
    (void)unused;
    enum { MEMBERS = 100, AVOID = 1000 };
    static struct tepal_digest keys[MEMBERS + AVOID];
    struct tepal_hasher hasher;
    tepal_hasher_init(42, &hasher);
    for (int i = 0; i < MEMBERS + AVOID; i++) {
        char key[32];
        int len = i < MEMBERS ? snprintf(key, sizeof key, "golden-%d", i)
                              : snprintf(key, sizeof key, "stranger-%d", i - MEMBERS);
        keys[i] = tepal_hash_bytes(&hasher, key, (size_t)len);
    }
    for (int kind = 0; kind < 2; kind++) {
        const char *name = kind == 0 ? "yesno" : "cascade";
        if (golden_write()) {
            struct tepal_params p = TEPAL_PARAMS_INIT;
            struct tepal_filter *f;
            p.seed = 42;
            if (kind == 0) {
                struct tepal_known in = {.members = keys,
                                         .member_count = MEMBERS,
                                         .avoid = keys + MEMBERS,
                                         .avoid_count = AVOID};
                struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
                set_yesno(700, 4, 120, 3, 6, &p);
                p.positions = TEPAL_POSITIONS_DISTINCT;
                p.yesno.own_seeds = 1;
                p.yesno.salt = 5;
                assert_int_equal(tepal_yesno_build(&p, &in, &how, NULL, &f, NULL, NULL), TEPAL_OK);
            } else {
                struct tepal_known in = {.members = keys,
                                         .member_count = MEMBERS,
                                         .avoid = keys + MEMBERS,
                                         .avoid_count = AVOID};
                struct tepal_cascade_options how = {.fp = 0.1};
                p.kind = TEPAL_KIND_CASCADE;
                assert_int_equal(tepal_cascade_build(&p, &in, &how, NULL, &f, NULL, NULL),
                                 TEPAL_OK);
            }
            golden_save(f, name);
            tepal_filter_free(f);
        }
        uint64_t answers[(AVOID + 63) / 64];
        struct tepal_filter *f = golden_read(name);
        assert_string_equal(tepal_filter_kind(f)->name, name);
        assert_int_equal(tepal_filter_query_many(f, keys, MEMBERS, answers), MEMBERS);
        assert_int_equal(tepal_filter_query_many(f, keys + MEMBERS, AVOID, answers), 0);
        if (kind == 1) {
            assert_true(info_integer(f, "levels") > 2);
        }
        tepal_filter_free(f);
    }
}

#define STRANGERS 1000

/* What the filters say of "stranger-0" .. "stranger-999": 1 or 0 each, one line a filter. */
static void golden_strangers(void **unused)
{
    (void)unused;
    size_t room = COUNT(golden) * (STRANGERS + 64);
    char *text = malloc(room);
    assert_non_null(text);
    size_t at = 0;
    for (size_t i = 0; i < COUNT(golden); i++) {
        struct tepal_filter *f = recipe_make(&golden[i]);
        at += (size_t)snprintf(text + at, room - at, "%s ", golden[i].name);
        for (unsigned j = 0; j < STRANGERS; j++) {
            text[at++] = tepal_filter_query(f, recipe_digest(f, "stranger", j)) ? '1' : '0';
        }
        text[at++] = '\n';
        tepal_filter_free(f);
    }
    if (golden_write()) {
        char path[4096];
        golden_path(path, sizeof path, "strangers", ".txt");
        FILE *out = fopen(path, "wb");
        assert_non_null(out);
        assert_int_equal(fwrite(text, 1, at, out), at);
        assert_int_equal(fclose(out), 0);
    }
    size_t len;
    uint8_t *expected = golden_bytes("strangers", ".txt", &len);
    assert_int_equal(len, at);
    assert_memory_equal(expected, text, at);
    free(expected);
    free(text);
}

/* ---- what is damaged is refused -------------------------------------------------------------- */

/* Decode must fail, leave *out alone and fill all of the error. */
static enum tepal_status refused(const uint8_t *bytes, size_t len, struct tepal_error *error)
{
    static struct tepal_filter *const nobody = NULL;
    struct tepal_filter *out = nobody;
    struct memory m = {0};
    struct tepal_allocator allocator = memory_allocator(&m);
    struct tepal_error ours = {TEPAL_OK, -1, UINT64_MAX, NULL};
    uint8_t *exact = copied(bytes, len);
    enum tepal_status status = tepal_decode(exact, len, &allocator, &out, &ours);
    assert_int_not_equal(status, TEPAL_OK);
    assert_ptr_equal(out, nobody);
    assert_int_equal(ours.status, status);
    assert_int_equal(ours.system, 0);
    assert_true(ours.offset <= len || ours.offset < 256 || status == TEPAL_BAD_LENGTH);
    assert_non_null(ours.why);
    assert_true(strlen(ours.why) > 10);
    assert_int_equal(m.live, 0);
    assert_true(m.largest <= len + 1024);
    assert_int_equal(tepal_decode(exact, len, NULL, &out, NULL), status);
    free(exact);
    if (error != NULL) {
        *error = ours;
    }
    return status;
}

static void every_header_bit(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(golden); i++) {
        size_t len;
        struct tepal_filter *f = recipe_make(&golden[i]);
        uint8_t *bytes = encoded(f, &len);
        for (size_t bit = 0; bit < 256 * 8; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            enum tepal_status status = refused(bytes, len, NULL);
            if (bit < 64) {
                assert_int_equal(status, TEPAL_NOT_A_FILTER);
            } else if (bit < 96) {
                assert_int_equal(status, bit == 64 ? TEPAL_CORRUPT : TEPAL_BAD_VERSION);
            } else {
                assert_int_equal(status, TEPAL_BAD_CHECKSUM);
            }
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        free(bytes);
        tepal_filter_free(f);
    }
}

/* Whatever the bytes: refused, or a sound filter that encodes to the very same bytes. */
static bool sound_or_refused(const uint8_t *bytes, size_t len)
{
    struct tepal_filter *f = NULL;
    struct tepal_report report;
    size_t again_len;
    if (tepal_decode(bytes, len, NULL, &f, NULL) != TEPAL_OK) {
        (void)refused(bytes, len, NULL);
        return false;
    }
    assert_int_equal(tepal_filter_validate(f, NULL), TEPAL_OK);
    uint8_t *again = encoded(f, &again_len);
    assert_int_equal(again_len, len);
    assert_memory_equal(again, bytes, len);
    free(again);
    struct tepal_digest d = {UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210)};
    (void)tepal_filter_query(f, d);
    assert_int_equal(tepal_filter_add(f, d), TEPAL_OK);
    assert_true(tepal_filter_query(f, d));
    tepal_filter_info(f, &report);
    tepal_filter_free(f);
    return true;
}

/* Every single bit of the header, with the checksum made right again. */
static void every_header_bit_resummed(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(golden); i++) {
        size_t len;
        struct tepal_filter *f = recipe_make(&golden[i]);
        uint8_t *bytes = encoded(f, &len);
        for (size_t bit = 0; bit < 248 * 8; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            header_resum(bytes);
            bool accepted = sound_or_refused(bytes, len);
            size_t byte = bit / 8;
            bool free_field = (byte >= 40 && byte < 56) || (byte >= 64 && byte < 72);
            /* Only layout, positions, k, m and a key check can be changed so that all still fits.
             */
            bool shape = (byte >= 16 && byte < 40) || (byte >= 56 && byte < 64);
            /* A generalized filter (3) without own parameters is a Bloom filter (1). */
            shape = shape || bit == 12 * 8 + 1;
            assert_true(free_field ? accepted : shape || !accepted);
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        header_resum(bytes);
        assert_true(sound_or_refused(bytes, len));
        free(bytes);
        tepal_filter_free(f);
    }
}

static void every_block(void **unused)
{
    (void)unused;
    size_t len;
    struct tepal_error error;
    const struct recipe *r = &golden[COUNT(golden) - 1];
    struct tepal_filter *f = recipe_make(r);
    uint8_t *bytes = encoded(f, &len);
    size_t payload = len - 256 - 3 * 8;
    for (size_t block = 0; block < 3; block++) {
        size_t start = 256 + block * 65536;
        size_t end = block == 2 ? 256 + payload : start + 65536;
        size_t places[] = {start, (start + end) / 2, end - 1};
        for (size_t i = 0; i < COUNT(places); i++) {
            bytes[places[i]] ^= 0x10;
            assert_int_equal(refused(bytes, len, &error), TEPAL_BAD_CHECKSUM);
            assert_int_equal(error.offset, start);
            assert_string_equal(error.why, "a block's checksum does not match");
            bytes[places[i]] ^= 0x10;
        }
        /* and the sum itself */
        bytes[256 + payload + 8 * block + 7] ^= 0x80;
        assert_int_equal(refused(bytes, len, &error), TEPAL_BAD_CHECKSUM);
        assert_int_equal(error.offset, start);
        bytes[256 + payload + 8 * block + 7] ^= 0x80;
    }
    /* Two blocks that changed places, with their sums. */
    for (size_t i = 0; i < 65536; i++) {
        uint8_t byte = bytes[256 + i];
        bytes[256 + i] = bytes[256 + 65536 + i];
        bytes[256 + 65536 + i] = byte;
    }
    for (size_t i = 0; i < 8; i++) {
        uint8_t byte = bytes[256 + payload + i];
        bytes[256 + payload + i] = bytes[256 + payload + 8 + i];
        bytes[256 + payload + 8 + i] = byte;
    }
    assert_int_equal(refused(bytes, len, NULL), TEPAL_BAD_CHECKSUM);
    free(bytes);
    tepal_filter_free(f);
}

/* In a small file, every bit behind the header. */
static void every_payload_bit(void **unused)
{
    (void)unused;
    size_t len;
    struct tepal_filter *f = recipe_make(&golden[1]);
    uint8_t *bytes = encoded(f, &len);
    for (size_t bit = 256 * 8; bit < len * 8; bit++) {
        struct tepal_error error;
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(refused(bytes, len, &error), TEPAL_BAD_CHECKSUM);
        assert_int_equal(error.offset, 256);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free(bytes);
    tepal_filter_free(f);
}

static void every_length(void **unused)
{
    (void)unused;
    size_t len;
    struct tepal_error error;
    struct tepal_filter *f = recipe_make(&golden[1]);
    uint8_t *bytes = encoded(f, &len);
    for (size_t cut = 0; cut < len; cut++) {
        enum tepal_status status = refused(bytes, cut, &error);
        assert_int_equal(status, cut < 8 ? TEPAL_NOT_A_FILTER : TEPAL_BAD_LENGTH);
        assert_int_equal(error.offset, cut < 8 ? 0 : cut);
    }
    size_t extra[] = {1, 8, 65536};
    for (size_t i = 0; i < COUNT(extra); i++) {
        uint8_t *longer = calloc(1, len + extra[i]);
        assert_non_null(longer);
        memcpy(longer, bytes, len);
        assert_int_equal(refused(longer, len + extra[i], &error), TEPAL_BAD_LENGTH);
        assert_int_equal(error.offset, len);
        assert_string_equal(error.why, "the file is longer than its header says");
        free(longer);
    }
    free(bytes);
    tepal_filter_free(f);
}

/* ---- what contradicts itself is refused, checksums right ------------------------------------- */

struct lie {
    const char *what;
    size_t at;
    unsigned width; /* 4 or 8 bytes */
    uint64_t value;
    enum tepal_status status;
    uint64_t offset;
};

/* Of a flat filter of 1000 bits. */
static const struct lie lies[] = {
    {"future version", 8, 4, 2, TEPAL_BAD_VERSION, 8},
    {"far future version", 8, 4, UINT32_MAX, TEPAL_BAD_VERSION, 8},
    {"version 0", 8, 4, 0, TEPAL_CORRUPT, 8},
    {"kind 0", 12, 4, 0, TEPAL_UNKNOWN_KIND, 12},
    {"unknown kind", 12, 4, 4711, TEPAL_UNKNOWN_KIND, 12},
    {"layout", 16, 4, 4, TEPAL_BAD_PARAMETER, 16},
    {"layout", 16, 4, UINT32_MAX, TEPAL_BAD_PARAMETER, 16},
    {"a layout that needs whole lines", 16, 4, 2, TEPAL_BAD_PARAMETER, 32},
    {"positions", 20, 4, 2, TEPAL_BAD_PARAMETER, 20},
    {"hash", 24, 4, 3, TEPAL_BAD_PARAMETER, 24},
    {"a keyed hash, no key check", 24, 4, 1, TEPAL_CORRUPT, 56},
    {"the other keyed hash", 24, 4, 2, TEPAL_CORRUPT, 56},
    {"k = 0", 28, 4, 0, TEPAL_BAD_PARAMETER, 28},
    {"k = 65", 28, 4, 65, TEPAL_BAD_PARAMETER, 28},
    {"k = 2^32 - 1", 28, 4, UINT32_MAX, TEPAL_BAD_PARAMETER, 28},
    {"m = 0", 32, 8, 0, TEPAL_BAD_PARAMETER, 32},
    {"m = 1025", 32, 8, 1025, TEPAL_BAD_LENGTH, 200},
    {"m = 960", 32, 8, 960, TEPAL_BAD_LENGTH, 200},
    {"m = 2^32 + 1000", 32, 8, (UINT64_C(1) << 32) + 1000, TEPAL_BAD_LENGTH, 200},
    {"m = 2^60", 32, 8, UINT64_C(1) << 60, TEPAL_BAD_LENGTH, 200},
    {"m = 2^60 + 1", 32, 8, (UINT64_C(1) << 60) + 1, TEPAL_BAD_PARAMETER, 32},
    {"m = 2^64 - 1", 32, 8, UINT64_MAX, TEPAL_BAD_PARAMETER, 32},
    {"m = 2^64 - 63", 32, 8, UINT64_MAX - 62, TEPAL_BAD_PARAMETER, 32},
    {"key check without a key", 56, 8, 1, TEPAL_BAD_PARAMETER, 56},
    {"own parameter", 72, 8, 1, TEPAL_BAD_PARAMETER, 72},
    {"last own parameter", 128, 8, 1, TEPAL_BAD_PARAMETER, 128},
    {"own state", 136, 8, 1, TEPAL_CORRUPT, 136},
    {"last own state", 192, 8, UINT64_MAX, TEPAL_CORRUPT, 192},
    {"payload 0", 200, 8, 0, TEPAL_BAD_LENGTH, 200},
    {"payload + 8", 200, 8, 136, TEPAL_BAD_LENGTH, 200},
    {"payload 2^64 - 8", 200, 8, UINT64_MAX - 7, TEPAL_BAD_LENGTH, 200},
    {"payload + 2^32", 200, 8, (UINT64_C(1) << 32) + 128, TEPAL_BAD_LENGTH, 200},
    {"file bytes 0", 208, 8, 0, TEPAL_BAD_LENGTH, 208},
    {"file bytes - 1", 208, 8, 391, TEPAL_BAD_LENGTH, 208},
    {"file bytes 2^64 - 1", 208, 8, UINT64_MAX, TEPAL_BAD_LENGTH, 208},
    {"blocks of 32 KiB", 216, 4, 15, TEPAL_BAD_PARAMETER, 216},
    {"blocks of 2^64", 216, 4, 64, TEPAL_BAD_PARAMETER, 216},
    {"no cell bits", 220, 4, 0, TEPAL_BAD_PARAMETER, 220},
    {"counters", 220, 4, 4, TEPAL_BAD_PARAMETER, 220},
    {"first reserved", 224, 4, 1, TEPAL_CORRUPT, 224},
    {"last reserved", 244, 4, UINT64_C(1) << 31, TEPAL_CORRUPT, 247},
};

static void lies_in_the_header(void **unused)
{
    (void)unused;
    size_t len;
    struct tepal_filter *f = recipe_make(&golden[1]);
    uint8_t *bytes = encoded(f, &len);
    for (size_t i = 0; i < COUNT(lies); i++) {
        struct tepal_error error;
        uint8_t *lying = copied(bytes, len);
        if (lies[i].width == 4) {
            little_put32(lying + lies[i].at, (uint32_t)lies[i].value);
        } else {
            little_put64(lying + lies[i].at, lies[i].value);
        }
        header_resum(lying);
        enum tepal_status status = refused(lying, len, &error);
        if (status != lies[i].status || error.offset != lies[i].offset) {
            fail_msg("%s: %s at %llu: %s", lies[i].what, tepal_status_name(status),
                     (unsigned long long)error.offset, error.why);
        }
        free(lying);
    }
    free(bytes);
    tepal_filter_free(f);
}

/* Lies that agree with each other: only the real length gives them away. */
static void lies_that_agree(void **unused)
{
    (void)unused;
    static const uint64_t sizes[] = {UINT64_C(1) << 20, UINT64_C(1) << 32, UINT64_C(1) << 40,
                                     (UINT64_C(1) << 60) - 64, UINT64_C(1) << 60};
    size_t len;
    struct tepal_error error;
    struct tepal_filter *f = recipe_make(&golden[1]);
    uint8_t *bytes = encoded(f, &len);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        uint64_t payload = sizes[i] / 8;
        little_put64(bytes + 32, sizes[i]);
        little_put64(bytes + 200, payload);
        little_put64(bytes + 208, 256 + payload + 8 * ((payload + 65535) / 65536));
        header_resum(bytes);
        assert_int_equal(refused(bytes, len, &error), TEPAL_BAD_LENGTH);
        assert_int_equal(error.offset, len);
    }
    free(bytes);
    tepal_filter_free(f);
}

static void limits_of_the_layouts(void **unused)
{
    (void)unused;
    struct tepal_error error;
    for (size_t i = 0; i < COUNT(golden); i++) {
        size_t len;
        struct tepal_filter *f = recipe_make(&golden[i]);
        uint8_t *bytes = encoded(f, &len);
        uint32_t most = golden[i].layout == BLOCKED  ? TEPAL_MAX_HASHES_BLOCKED
                        : golden[i].layout == PAIRED ? TEPAL_MAX_HASHES_PAIRED
                                                     : TEPAL_MAX_HASHES;
        little_put32(bytes + 28, most + 1);
        header_resum(bytes);
        assert_int_equal(refused(bytes, len, &error), TEPAL_BAD_PARAMETER);
        assert_int_equal(error.offset, 28);
        free(bytes);
        tepal_filter_free(f);
    }
}

static void tail_bits(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(golden); i++) {
        if (golden[i].cells % 64 == 0) {
            continue;
        }
        struct tepal_error error;
        size_t len;
        struct tepal_filter *f = recipe_make(&golden[i]);
        uint8_t *bytes = encoded(f, &len);
        size_t payload = (size_t)(golden[i].cells + 63) / 64 * 8;
        for (uint64_t bit = golden[i].cells; bit < payload * 8; bit++) {
            bytes[256 + bit / 8] ^= (uint8_t)(1 << bit % 8);
            blocks_resum(bytes, payload);
            assert_int_equal(refused(bytes, len, &error), TEPAL_CORRUPT);
            assert_int_equal(error.offset, 256 + payload - 8);
            bytes[256 + bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        blocks_resum(bytes, payload);
        assert_true(sound_or_refused(bytes, len));
        free(bytes);
        tepal_filter_free(f);
    }
}

static void not_filters(void **unused)
{
    (void)unused;
    struct tepal_error error;
    static const uint8_t zeros[4096];
    uint8_t ones[1000];
    memset(ones, 0xff, sizeof ones);
    assert_int_equal(refused(zeros, 0, &error), TEPAL_NOT_A_FILTER);
    assert_string_equal(error.why, "the file is empty");
    assert_int_equal(refused(zeros, sizeof zeros, NULL), TEPAL_NOT_A_FILTER);
    assert_int_equal(refused(ones, sizeof ones, NULL), TEPAL_NOT_A_FILTER);
    static const char text[] = "TEPAL is not what this file begins with";
    assert_int_equal(refused((const uint8_t *)text, sizeof text, NULL), TEPAL_NOT_A_FILTER);
    /* Line ends changed on the way. */
    static const uint8_t unixed[] = {0x89, 'T', 'E', 'P', 'A', 'L', '\n', 1, 0, 0, 0};
    assert_int_equal(refused(unixed, sizeof unixed, NULL), TEPAL_NOT_A_FILTER);
    struct tepal_filter *f = NULL;
    assert_int_equal(tepal_decode(NULL, 0, NULL, &f, NULL), TEPAL_NOT_A_FILTER);
    assert_null(f);
}

/* The sum is the same by the vectors of any machine and by this one's. */
static void sums_by_any_vectors(void **unused)
{
    (void)unused;
    uint64_t state = 5;
    uint64_t *words = malloc(FORMAT_BLOCK);
    assert_non_null(words);
    for (size_t i = 0; i < FORMAT_BLOCK / 8; i++) {
        words[i] = check_random(&state);
    }
    for (size_t len = 8; len <= FORMAT_BLOCK; len = len < 2048 ? len + 8 : 2 * len) {
        for (uint64_t index = 0; index < 3; index++) {
            const uint8_t *block = (const uint8_t *)words;
            uint64_t want = XXH3_64bits_withSeed(block, len, index);
            assert_int_equal(tepal_format_sum(block, len, index), want);
            if (tepal_processor_has_avx2()) {
                assert_int_equal(tepal_format_sum_avx2(block, len, index), want);
            }
            if (tepal_processor_has_avx512()) {
                assert_int_equal(tepal_format_sum_avx512(block, len, index), want);
            }
        }
    }
    free(words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_by_any_vectors),
        cmocka_unit_test(golden_files),
        cmocka_unit_test(golden_integers),
        cmocka_unit_test(golden_retouched),
        cmocka_unit_test(golden_recycling),
        cmocka_unit_test(golden_average),
        cmocka_unit_test(recycling_files_that_lie),
        cmocka_unit_test(golden_generalized),
        cmocka_unit_test(golden_fingerprint),
        cmocka_unit_test(golden_growing),
        cmocka_unit_test(golden_chain),
        cmocka_unit_test(golden_vetoes),
        cmocka_unit_test(golden_strangers),
        cmocka_unit_test(round_trips),
        cmocka_unit_test(extreme_numbers),
        cmocka_unit_test(keyed_without_a_key_yet),
        cmocka_unit_test(room_for_the_bytes),
        cmocka_unit_test(every_header_bit),
        cmocka_unit_test(every_header_bit_resummed),
        cmocka_unit_test(every_block),
        cmocka_unit_test(every_payload_bit),
        cmocka_unit_test(every_length),
        cmocka_unit_test(lies_in_the_header),
        cmocka_unit_test(lies_that_agree),
        cmocka_unit_test(limits_of_the_layouts),
        cmocka_unit_test(tail_bits),
        cmocka_unit_test(not_filters),
    };
    return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}
