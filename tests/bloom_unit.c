/* bloom_unit.c: the Bloom filter against a naive reference, its kernels against each other. */
#include "check.h"

#include "base/processor.h"
#include "filter/lines/kernels.h"
#include "cells/bits.h"
#include "filter/kind.h"

#define SEED 12345

struct shape {
    enum tepal_layout layout;
    enum tepal_positions positions;
    uint64_t cells;
    uint32_t hashes;
};

/* Every layout, both rules, few and many hashes, odd sizes where the layout allows them. */
static const struct shape shapes[] = {
    {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 1, 1},
    {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 5003, 1},
    {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 5003, 2},
    {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 5003, 7},
    {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 9999, 64},
    {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, (uint64_t)5 << 20, 5},
    {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_DISTINCT, 5003, 7},
    {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_DISTINCT, 64, 64},
    {TEPAL_LAYOUT_PARTITIONED, TEPAL_POSITIONS_COLLIDING, 5003, 7},
    {TEPAL_LAYOUT_PARTITIONED, TEPAL_POSITIONS_DISTINCT, 7, 7},
    {TEPAL_LAYOUT_PARTITIONED, TEPAL_POSITIONS_COLLIDING, (uint64_t)5 << 20, 6},
    {TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_COLLIDING, 512, 3},
    {TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_COLLIDING, 512 * 11, 1},
    {TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_COLLIDING, 512 * 11, 6},
    {TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_COLLIDING, 512 * 11, 8},
    {TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_COLLIDING, 512 * 11, 11},
    {TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_DISTINCT, 512 * 11, 11},
    {TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_DISTINCT, 512 * 11, 16},
    {TEPAL_LAYOUT_PAIRED, TEPAL_POSITIONS_COLLIDING, 512, 4},
    {TEPAL_LAYOUT_PAIRED, TEPAL_POSITIONS_COLLIDING, 512 * 11, 1},
    {TEPAL_LAYOUT_PAIRED, TEPAL_POSITIONS_COLLIDING, 512 * 11, 7},
    {TEPAL_LAYOUT_PAIRED, TEPAL_POSITIONS_DISTINCT, 512 * 2, 8},
    {TEPAL_LAYOUT_PAIRED, TEPAL_POSITIONS_COLLIDING, 512 * 11, 17},
    {TEPAL_LAYOUT_PAIRED, TEPAL_POSITIONS_DISTINCT, 512 * 11, 17},
    {TEPAL_LAYOUT_PAIRED, TEPAL_POSITIONS_DISTINCT, 512 * 11, 32},
};
#define SHAPES (sizeof shapes / sizeof *shapes)

static struct tepal_params params_of(const struct shape *shape)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.layout = shape->layout;
    params.positions = shape->positions;
    params.cells = shape->cells;
    params.hashes = shape->hashes;
    params.seed = SEED;
    return params;
}

static struct tepal_filter *bloom_with(const struct shape *shape)
{
    struct tepal_params params = params_of(shape);
    struct tepal_filter *bloom;
    assert_ok(tepal_filter_create(&params, NULL, &bloom, NULL));
    return bloom;
}

static const uint64_t *words_of(const struct tepal_filter *bloom, size_t *count)
{
    return tepal_filter_words(bloom, count);
}

/* ---- the naive reference: one byte a cell, all positions through the general path ------------ */

struct naive {
    struct address at;
    uint8_t *cells;
};

static struct naive naive_with(const struct shape *shape)
{
    struct tepal_params params = params_of(shape);
    struct naive naive = {tepal_address_of(&params, 1), calloc(1, (size_t)shape->cells)};
    assert_non_null(naive.cells);
    return naive;
}

static void naive_add(struct naive *naive, struct tepal_digest d)
{
    uint64_t p[TEPAL_MAX_HASHES];
    uint32_t k = tepal_address_positions(&naive->at, d, p);
    for (uint32_t i = 0; i < k; i++) {
        naive->cells[p[i]] = 1;
    }
}

static bool naive_query(const struct naive *naive, struct tepal_digest d)
{
    uint64_t p[TEPAL_MAX_HASHES];
    uint32_t k = tepal_address_positions(&naive->at, d, p);
    for (uint32_t i = 0; i < k; i++) {
        if (!naive->cells[p[i]]) {
            return false;
        }
    }
    return true;
}

static void assert_same_cells(const struct naive *naive, const struct tepal_filter *bloom)
{
    size_t count;
    const uint64_t *words = words_of(bloom, &count);
    uint64_t ones = 0;
    for (uint64_t i = 0; i < naive->at.cells; i++) {
        assert_int_equal(words[i / 64] >> (i % 64) & 1, naive->cells[i]);
        ones += naive->cells[i];
    }
    assert_int_equal(tepal_filter_ones(bloom), ones);
    assert_ok(tepal_filter_validate(bloom, NULL));
}

static void single_calls_agree_with_the_reference(void **state)
{
    (void)state;
    for (size_t s = 0; s < SHAPES; s++) {
        struct tepal_filter *bloom = bloom_with(&shapes[s]);
        struct naive naive = naive_with(&shapes[s]);
        uint64_t random = s;
        for (int i = 0; i < 300; i++) {
            struct tepal_digest d = check_digest(&random);
            assert_ok(tepal_filter_add(bloom, d));
            naive_add(&naive, d);
            assert_true(tepal_filter_query(bloom, d));
        }
        for (int i = 0; i < 3000; i++) {
            struct tepal_digest d = check_digest(&random);
            assert_int_equal(tepal_filter_query(bloom, d), naive_query(&naive, d));
            assert_int_equal(tepal_bloom_query_atomic(bloom, d), naive_query(&naive, d));
        }
        assert_same_cells(&naive, bloom);
        assert_int_equal(tepal_filter_keys_added(bloom), 300);
        free(naive.cells);
        tepal_filter_free(bloom);
    }
}

/*
 * Batches of every awkward length, from digests, integers and bytes, give what single calls give.
 */
static void batches_agree_with_single_calls(void **state)
{
    (void)state;
    static const size_t lengths[] = {0,   1,   2,   63,  64,  65,  127, 128,  129,
                                     191, 192, 193, 500, 511, 512, 513, 1025, 2000};
    enum { MOST = 2000, WIDTH = 13 };
    static struct tepal_digest digests[MOST];
    static uint64_t integers[MOST];
    static uint8_t bytes[MOST * WIDTH];
    static uint64_t answers[MOST / 64 + 2];
    for (size_t s = 0; s < SHAPES; s++) {
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            size_t n = lengths[l];
            for (int form = 0; form < 3; form++) {
                struct tepal_filter *batch = bloom_with(&shapes[s]);
                struct tepal_filter *single = bloom_with(&shapes[s]);
                struct tepal_hasher hasher;
                assert_ok(tepal_filter_hasher(batch, &hasher));
                uint64_t random = s * 100 + l;
                for (size_t i = 0; i < n; i++) {
                    integers[i] = check_random(&random);
                    for (size_t j = 0; j < WIDTH; j++) {
                        bytes[i * WIDTH + j] = (uint8_t)check_random(&random);
                    }
                }
                if (form == 1) {
                    tepal_hash_u64_many(&hasher, integers, n, digests);
                } else {
                    tepal_hash_fixed_many(&hasher, bytes, WIDTH, n, digests);
                }
                /* every third key is added, so that batches find some and miss some */
                size_t third = n / 3;
                for (size_t i = 0; i < third; i++) {
                    assert_ok(tepal_filter_add(single, digests[i]));
                }
                if (form == 0) {
                    assert_ok(tepal_filter_add_many(batch, digests, third));
                } else if (form == 1) {
                    assert_ok(tepal_filter_add_u64_many(batch, integers, third));
                } else {
                    assert_ok(tepal_filter_add_fixed_many(batch, bytes, WIDTH, third));
                }
                assert_true(tepal_filter_equal(batch, single));
                assert_int_equal(tepal_filter_keys_added(batch), third);
                memset(answers, 0xff, sizeof answers);
                size_t present = 0;
                if (form == 0) {
                    present = tepal_filter_query_many(batch, digests, n, answers);
                } else if (form == 1) {
                    present = tepal_filter_query_u64_many(batch, integers, n, answers);
                } else {
                    present = tepal_filter_query_fixed_many(batch, bytes, WIDTH, n, answers);
                }
                size_t expected = 0;
                for (size_t i = 0; i < (n + 63) / 64 * 64; i++) {
                    bool yes = i < n && tepal_filter_query(single, digests[i]);
                    assert_int_equal(answers[i / 64] >> (i % 64) & 1, yes);
                    expected += yes;
                }
                assert_int_equal(present, expected);
                assert_true(present >= third);
                /* nothing is written beyond the last word */
                assert_true(answers[(n + 63) / 64] == UINT64_MAX);
                tepal_filter_free(batch);
                tepal_filter_free(single);
            }
        }
    }
}

/* Ones are counted in three ways, from any word on and of any length. */
static void ones_are_counted_alike(void **state)
{
    (void)state;
    uint64_t words[70];
    uint64_t random = 9;
    for (size_t i = 0; i < 70; i++) {
        words[i] = check_digest(&random).lo & check_digest(&random).hi;
    }
    for (size_t from = 0; from < 9; from++) {
        uint64_t naive = 0;
        for (size_t count = 0; from + count < 70; count++) {
            assert_int_equal(tepal_bits_count_portable(words + from, count), naive);
            if (tepal_bits_has_popcnt()) {
                assert_int_equal(tepal_bits_count_popcnt(words + from, count), naive);
            }
            if (tepal_bits_has_vpopcnt()) {
                assert_int_equal(tepal_bits_count_vpopcnt(words + from, count), naive);
            }
            for (int bit = 0; bit < 64; bit++) {
                naive += words[from + count] >> bit & 1;
            }
        }
    }
}

/* Keys in every form that a batch takes, of which kernels take the first so many. */
enum { KERNEL_KEYS = 1000, KERNEL_FORMS = 5, KERNEL_CELLS = 37 * 512 };

/* Beyond the cache there are other loops for flat and partitioned filters. */
#define KERNEL_MOST ((5 << 20) + 64)

static struct bloom_source source_of(int form, uint64_t *random)
{
    static struct tepal_digest digests[KERNEL_KEYS];
    static uint64_t integers[KERNEL_KEYS];
    static uint8_t bytes[KERNEL_KEYS * 32];
    static const void *pointers[KERNEL_KEYS];
    static size_t lens[KERNEL_KEYS];
    static uint64_t offsets[KERNEL_KEYS + 1];
    struct bloom_source source = {.form = BLOOM_STRINGS, .count = KERNEL_KEYS};
    tepal_hasher_init(check_random(random), &source.hasher);
    check_digests(random, digests, KERNEL_KEYS);
    for (size_t i = 0; i < KERNEL_KEYS; i++) {
        integers[i] = check_random(random);
        lens[i] = integers[i] % 33;
        offsets[i + 1] = offsets[i] + lens[i];
        pointers[i] = bytes + offsets[i];
        memcpy(bytes + i * 32, &digests[i], 16);
        memcpy(bytes + i * 32 + 16, &integers[i], 8);
    }
    switch (form) {
    case 0:
        source.form = BLOOM_DIGESTS;
        source.digests = digests;
        break;
    case 1:
        source.form = BLOOM_INTEGERS;
        source.integers = integers;
        break;
    case 2:
        source.pointers = pointers;
        source.lens = lens;
        break;
    case 3:
        source.bytes = bytes;
        source.offsets = offsets;
        break;
    default:
        source.bytes = bytes;
        source.width = 32;
        break;
    }
    return source;
}

static void assert_same_kernels(const struct bloom_kernels *fast, const struct bloom_kernels *plain,
                                const struct address *at, const struct bloom_source *source,
                                size_t members)
{
    static uint64_t a[KERNEL_MOST / 64] __attribute__((aligned(64)));
    static uint64_t b[KERNEL_MOST / 64] __attribute__((aligned(64)));
    static uint64_t answers_a[KERNEL_KEYS / 64 + 1];
    static uint64_t answers_b[KERNEL_KEYS / 64 + 1];
    const size_t bytes = (size_t)at->cells / 8;
    memset(a, 0, bytes);
    memset(b, 0, bytes);
    fast->add(at, a, source, members);
    plain->add(at, b, source, members);
    assert_memory_equal(a, b, bytes);
    size_t found = fast->query(at, a, source, KERNEL_KEYS, answers_a);
    assert_int_equal(found, plain->query(at, b, source, KERNEL_KEYS, answers_b));
    assert_memory_equal(answers_a, answers_b, sizeof answers_a);
    assert_true(found >= members && found < KERNEL_KEYS);
}

/* The kernels for AVX2, for AVX-512 and the portable ones: the same bits and the same answers. */
static void kernels_are_bit_identical(void **state)
{
    static const size_t members[] = {0, 7, 63, 64, 128, 250};
    uint64_t random = 6;
    size_t turn = 0;
    (void)state;
    if (!tepal_processor_has_avx2()) {
        print_message("this machine has no AVX2: the portable kernels stand alone\n");
        skip();
    }
    for (int layout = 0; layout < 4; layout++) {
        bool lines = layout == TEPAL_LAYOUT_BLOCKED || layout == TEPAL_LAYOUT_PAIRED;
        const struct bloom_kernels *plain =
            lines ? &tepal_bloom_lines_portable : &tepal_bloom_flat_portable;
        const struct bloom_kernels *fast[2] = {
            lines ? &tepal_bloom_lines_avx2 : &tepal_bloom_flat_avx2,
            lines ? &tepal_bloom_lines_avx512 : &tepal_bloom_flat_avx512};
        uint32_t most =
            layout == TEPAL_LAYOUT_BLOCKED ? TEPAL_MAX_HASHES_BLOCKED : TEPAL_MAX_HASHES_PAIRED;
        for (uint32_t k = 1; k <= most; k++) {
            for (int distinct = 0; distinct < 2; distinct++) {
                bool large = !lines && k % 5 == 2;
                struct shape shape = {(enum tepal_layout)layout, (enum tepal_positions)distinct,
                                      large ? KERNEL_MOST : KERNEL_CELLS, k};
                struct tepal_params params = params_of(&shape);
                struct address at = tepal_address_of(&params, 1);
                for (int form = 0; form < KERNEL_FORMS; form++) {
                    struct bloom_source source = source_of(form, &random);
                    for (int f = 0; f <= tepal_processor_has_avx512(); f++) {
                        assert_same_kernels(fast[f], plain, &at, &source,
                                            members[turn++ % (sizeof members / sizeof *members)]);
                    }
                }
            }
        }
    }
}

/* All kernels find these keys of a part, apart from those that they are asked for and in place. */
static void assert_inside(const struct bloom_part *part, const struct tepal_digest *digests,
                          const uint16_t *keys, uint32_t asked, const uint16_t *expected,
                          uint32_t in)
{
    const struct bloom_kernels *kernels[3] = {&tepal_bloom_flat_portable};
    size_t count = 1;
    uint16_t stay[BLOOM_PART_KEYS];
    if (tepal_processor_has_avx2()) {
        kernels[count++] = &tepal_bloom_flat_avx2;
    }
    if (tepal_processor_has_avx512()) {
        kernels[count++] = &tepal_bloom_flat_avx512;
    }
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(kernels[i]->inside(part, digests, keys, asked, stay), in);
        assert_memory_equal(stay, expected, in * sizeof *stay);
        memcpy(stay, keys, asked * sizeof *stay);
        assert_int_equal(kernels[i]->inside(part, digests, stay, asked, stay), in);
        assert_memory_equal(stay, expected, in * sizeof *stay);
    }
}

/* A small filter inside another, at any bit: all kernels find what its positions say. */
static void parts_are_asked_as_their_positions_say(void **state)
{
    (void)state;
    enum { KEYS = BLOOM_PART_KEYS, CELLS = 3001 };
    static const uint32_t hashes[] = {1, 2, 3, 13, 30};
    static struct tepal_digest digests[KEYS];
    static uint64_t words[2 + CELLS / 64 + 2];
    uint64_t random = 9;
    for (size_t c = 0; c < 4 * sizeof hashes / sizeof *hashes; c++) {
        struct shape shape = {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, CELLS, hashes[c / 4]};
        struct tepal_params params = params_of(&shape);
        struct address at = tepal_address_of(&params, 1);
        struct bloom_part part = {&at, words, 64 + c % 4 * 21, 1 + c * 33};
        uint16_t keys[KEYS];
        uint16_t expected[KEYS];
        uint32_t asked = 0;
        uint32_t in = 0;
        check_digests(&random, digests, KEYS);
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            words[i] = check_random(&random); /* half of the bits */
        }
        for (uint16_t i = 0; i < KEYS; i++) {
            uint64_t positions[TEPAL_MAX_HASHES];
            uint32_t k =
                tepal_address_positions(&at, address_rehash(digests[i], part.number), positions);
            for (uint32_t n = 0; n < k && i % 5 == 0; n++) {
                bits_set(words, part.start + positions[n]);
            }
        }
        for (uint16_t i = 0; i < KEYS; i++) {
            uint64_t positions[TEPAL_MAX_HASHES];
            uint32_t k =
                tepal_address_positions(&at, address_rehash(digests[i], part.number), positions);
            bool all = true;
            for (uint32_t n = 0; n < k; n++) {
                all = all && bits_test(words, part.start + positions[n]);
            }
            if (i % 7 != 3 || i > KEYS / 2) { /* who is not asked is not found */
                keys[asked++] = i;
                expected[in] = i;
                in += all;
            }
        }
        assert_true(in > KEYS / 10 && in < asked);
        assert_inside(&part, digests, keys, asked, expected, in);
        /* As few as leave vectors without a key, half full and just full: neighbours, or not. */
        for (uint32_t few = 0; few < 20; few++) {
            const uint16_t *some = few % 2 == 0 ? keys : keys + asked - few;
            uint32_t before = 0;
            uint32_t left = 0;
            for (uint32_t i = 0; i < in && few > 0; i++) {
                before += expected[i] < some[0];
                left += expected[i] >= some[0] && expected[i] <= some[few - 1];
            }
            assert_inside(&part, digests, some, few, expected + before, left);
        }
    }
}

/*
 * Beyond the cache, flat and partitioned queries run in stages of 64 keys: every awkward number of
 * keys and of hashes, with none, some and all of the keys present, against single calls.
 */
static void stages_agree_with_single_calls(void **state)
{
    (void)state;
    enum { KEYS = 1400 };
    static const uint32_t hashes[] = {1, 2, 3, 7, 15, 16, 17, 40};
    static const size_t lengths[] = {0, 1, 63, 64, 65, 128, 700, KEYS};
    static struct tepal_digest digests[KEYS];
    static uint64_t fast[KEYS / 64 + 2];
    static uint64_t plain[KEYS / 64 + 2];
    uint64_t random = 8;
    for (size_t c = 0; c < 2 * sizeof hashes / sizeof *hashes; c++) {
        struct shape shape = {c % 2 == 0 ? TEPAL_LAYOUT_FLAT : TEPAL_LAYOUT_PARTITIONED,
                              TEPAL_POSITIONS_COLLIDING, ((uint64_t)4 << 20) + 1000, hashes[c / 2]};
        struct tepal_filter *bloom = bloom_with(&shape);
        struct tepal_params params = params_of(&shape);
        struct address at = tepal_address_of(&params, 1);
        size_t count;
        const uint64_t *words = words_of(bloom, &count);
        check_digests(&random, digests, KEYS);
        for (size_t i = 0; i < 200000; i++) { /* half full: survivors at every stage */
            assert_ok(tepal_filter_add(bloom, check_digest(&random)));
        }
        for (size_t i = 0; i < KEYS; i++) {
            if (i % 3 == 0 || (i >= 256 && i < 512)) {
                assert_ok(tepal_filter_add(bloom, digests[i]));
            }
        }
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            struct bloom_source source = {.form = BLOOM_DIGESTS, .digests = digests};
            size_t n = lengths[l];
            memset(fast, 0xff, sizeof fast);
            memset(plain, 0xff, sizeof plain);
            size_t found = tepal_filter_query_many(bloom, digests, n, fast);
            assert_int_equal(tepal_bloom_flat_portable.query(&at, words, &source, n, plain), found);
            assert_memory_equal(fast, plain, sizeof fast);
            size_t expected = 0;
            for (size_t i = 0; i < (n + 63) / 64 * 64; i++) {
                bool yes = i < n && tepal_filter_query(bloom, digests[i]);
                assert_int_equal(fast[i / 64] >> (i % 64) & 1, yes);
                expected += yes;
            }
            assert_int_equal(found, expected);
            assert_true(fast[(n + 63) / 64] == UINT64_MAX);
        }
        tepal_filter_free(bloom);
    }
}

/* ---- whole filters --------------------------------------------------------------------------- */

static void add_range(struct tepal_filter *bloom, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++) {
        assert_ok(tepal_filter_add_u64(bloom, i));
    }
}

static void union_is_the_filter_of_both_sets(void **state)
{
    (void)state;
    for (size_t s = 0; s < SHAPES; s++) {
        struct tepal_filter *a = bloom_with(&shapes[s]);
        struct tepal_filter *b = bloom_with(&shapes[s]);
        struct tepal_filter *both = bloom_with(&shapes[s]);
        add_range(a, 0, 150);
        add_range(b, 100, 250);
        add_range(both, 0, 250);
        struct tepal_filter *copy;
        assert_ok(tepal_filter_clone(a, NULL, &copy, NULL));
        assert_true(tepal_filter_equal(a, copy));
        assert_ok(tepal_filter_unite(copy, b));
        assert_true(tepal_filter_equal(copy, both));
        assert_int_equal(tepal_filter_keys_added(copy), 300);
        assert_ok(tepal_filter_intersect(a, b));
        for (uint64_t i = 100; i < 150; i++) {
            assert_true(tepal_filter_query_u64(a, i));
        }
        assert_int_equal(tepal_filter_keys_added(a), 150);
        assert_ok(tepal_filter_clear(both));
        assert_int_equal(tepal_filter_ones(both), 0);
        assert_int_equal(tepal_filter_keys_added(both), 0);
        tepal_filter_free(a);
        tepal_filter_free(b);
        tepal_filter_free(both);
        tepal_filter_free(copy);
    }
}

static void filters_that_differ_do_not_mix(void **state)
{
    (void)state;
    struct tepal_params base = TEPAL_PARAMS_INIT;
    base.cells = 1024;
    base.hashes = 4;
    struct tepal_filter *a;
    assert_ok(tepal_filter_create(&base, NULL, &a, NULL));
    for (int i = 0; i < 6; i++) {
        struct tepal_params other = base;
        switch (i) {
        case 0:
            other.cells = 2048;
            break;
        case 1:
            other.hashes = 5;
            break;
        case 2:
            other.seed = 1;
            break;
        case 3:
            other.layout = TEPAL_LAYOUT_PARTITIONED;
            break;
        case 4:
            other.positions = TEPAL_POSITIONS_DISTINCT;
            break;
        default:
            other.hash = TEPAL_HASH_SIPHASH;
        }
        struct tepal_filter *b;
        assert_ok(tepal_filter_create(&other, NULL, &b, NULL));
        assert_int_equal(tepal_filter_unite(a, b), TEPAL_MISMATCH);
        assert_int_equal(tepal_filter_intersect(a, b), TEPAL_MISMATCH);
        assert_false(tepal_filter_equal(a, b));
        tepal_filter_free(b);
    }
    base.capacity = 77; /* a plan, not a property of the cells */
    struct tepal_filter *b;
    assert_ok(tepal_filter_create(&base, NULL, &b, NULL));
    assert_ok(tepal_filter_unite(a, b));
    assert_true(tepal_filter_equal(a, b));
    tepal_filter_free(a);
    tepal_filter_free(b);
}

static void folded_filters_are_those_built_small(void **state)
{
    (void)state;
    static const struct {
        struct shape shape;
        uint64_t divisor;
        enum tepal_status status;
    } cases[] = {
        {{TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 6000, 7}, 2, TEPAL_OK},
        {{TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 6000, 7}, 25, TEPAL_OK},
        {{TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 6000, 7}, 6000, TEPAL_OK},
        {{TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 6000, 7}, 7, TEPAL_UNSUPPORTED},
        {{TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 6000, 7}, 0, TEPAL_BAD_ARGUMENT},
        {{TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 6000, 7}, 1, TEPAL_OK},
        {{TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_DISTINCT, 6000, 7}, 2, TEPAL_UNSUPPORTED},
        {{TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_DISTINCT, 6000, 1}, 2, TEPAL_OK},
        {{TEPAL_LAYOUT_PARTITIONED, TEPAL_POSITIONS_COLLIDING, 6000, 5}, 3, TEPAL_OK},
        {{TEPAL_LAYOUT_PARTITIONED, TEPAL_POSITIONS_COLLIDING, 6001, 5}, 3, TEPAL_UNSUPPORTED},
        {{TEPAL_LAYOUT_PARTITIONED, TEPAL_POSITIONS_DISTINCT, 6000, 5}, 1200, TEPAL_OK},
        {{TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_COLLIDING, 512 * 12, 6}, 4, TEPAL_OK},
        {{TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_DISTINCT, 512 * 12, 13}, 12, TEPAL_OK},
        {{TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_COLLIDING, 512 * 12, 6}, 5, TEPAL_UNSUPPORTED},
        {{TEPAL_LAYOUT_PAIRED, TEPAL_POSITIONS_COLLIDING, 512 * 12, 7}, 3, TEPAL_OK},
        {{TEPAL_LAYOUT_PAIRED, TEPAL_POSITIONS_DISTINCT, 512 * 12, 7}, 3, TEPAL_UNSUPPORTED},
        {{TEPAL_LAYOUT_PAIRED, TEPAL_POSITIONS_DISTINCT, 512 * 12, 1}, 3, TEPAL_OK},
        {{TEPAL_LAYOUT_PAIRED, TEPAL_POSITIONS_DISTINCT, 512 * 12, 1}, 12, TEPAL_UNSUPPORTED},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct tepal_filter *large = bloom_with(&cases[c].shape);
        add_range(large, 0, 100);
        struct tepal_filter *folded = NULL;
        assert_int_equal(tepal_bloom_fold(large, cases[c].divisor, NULL, &folded, NULL),
                         cases[c].status);
        if (cases[c].status == TEPAL_OK) {
            struct shape small = cases[c].shape;
            small.cells /= cases[c].divisor;
            struct tepal_filter *built = bloom_with(&small);
            add_range(built, 0, 100);
            assert_true(tepal_filter_equal(folded, built));
            assert_int_equal(tepal_filter_keys_added(folded), 100);
            tepal_filter_free(built);
            tepal_filter_free(folded);
        } else {
            assert_null(folded);
        }
        tepal_filter_free(large);
    }
}

static void layouts_that_agree_convert(void **state)
{
    (void)state;
    for (int from = 0; from < 4; from++) {
        for (int to = 0; to < 4; to++) {
            for (uint32_t k = 1; k <= 2; k++) {
                struct shape a = {(enum tepal_layout)from, TEPAL_POSITIONS_COLLIDING, 5120, k};
                struct shape b = {(enum tepal_layout)to, TEPAL_POSITIONS_COLLIDING, 5120, k};
                struct tepal_filter *one = bloom_with(&a);
                struct tepal_filter *built = bloom_with(&b);
                struct tepal_filter *other = NULL;
                add_range(one, 0, 500);
                add_range(built, 0, 500);
                bool agree = from == to || (k == 1 && from / 2 == to / 2);
                assert_int_equal(tepal_bloom_relayout(one, b.layout, NULL, &other, NULL),
                                 agree ? TEPAL_OK : TEPAL_UNSUPPORTED);
                /* exactly where it is refused the cells would be wrong */
                size_t count;
                assert_int_equal(
                    memcmp(words_of(one, &count), words_of(built, &count), 5120 / 8) == 0, agree);
                if (agree) {
                    assert_true(tepal_filter_equal(other, built));
                    assert_int_equal(tepal_filter_keys_added(other), 500);
                    tepal_filter_free(other);
                }
                tepal_filter_free(one);
                tepal_filter_free(built);
            }
        }
    }
}

/* ---- creation, keys, answers about itself ---------------------------------------------------- */

static void short_ways_to_create(void **state)
{
    (void)state;
    struct tepal_filter *b;
    assert_ok(tepal_filter_create_for_rate(TEPAL_KIND_BLOOM, 1000, 0.01, 1, &b, NULL));
    const struct tepal_params *p = tepal_filter_params(b);
    assert_int_equal(p->capacity, 1000);
    assert_int_equal(p->hashes, 7);
    assert_true(p->cells >= 9585 && p->cells <= 9620); /* 1000 ln(100) / ln(2)^2 = 9585.06 */
    tepal_filter_free(b);
    struct tepal_params sized = TEPAL_PARAMS_INIT;
    assert_ok(tepal_params_for_bits(&sized, 1000, 16000, NULL));
    assert_int_equal(sized.hashes, 11);
    assert_int_equal(sized.cells, 16000);
    assert_int_equal(sized.capacity, 1000);
    assert_ok(tepal_filter_create(&sized, NULL, &b, NULL));
    assert_true(tepal_params_compatible(tepal_filter_params(b), &sized));
    tepal_filter_free(b);

    struct tepal_filter *untouched = (struct tepal_filter *)&state;
    b = untouched;
    assert_int_equal(tepal_filter_create_for_rate(TEPAL_KIND_BLOOM, 0, 0.01, 1, &b, NULL),
                     TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_filter_create_for_rate(TEPAL_KIND_BLOOM, 1, 0, 1, &b, NULL),
                     TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_filter_create_for_rate(TEPAL_KIND_BLOOM, 1, 1, 1, &b, NULL),
                     TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_filter_create_for_rate(TEPAL_KIND_BLOOM, 1, NAN, 1, &b, NULL),
                     TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_filter_create_for_rate(TEPAL_KIND_BLOOM, UINT64_MAX, 0.01, 1, &b, NULL),
                     TEPAL_TOO_LARGE);
    assert_int_equal(bloom_with_bits(0, 7, 1, &b), TEPAL_BAD_PARAMETER);
    assert_int_equal(bloom_with_bits(64, 65, 1, &b), TEPAL_BAD_PARAMETER);
    assert_ptr_equal(b, untouched);

    struct tepal_params before = TEPAL_PARAMS_INIT;
    struct tepal_error error;
    sized = before;
    assert_int_equal(tepal_params_for_bits(&sized, 0, 100, &error), TEPAL_BAD_ARGUMENT);
    check_error(&error, TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_params_for_bits(&sized, 10, UINT64_MAX, &error), TEPAL_TOO_LARGE);
    check_error(&error, TEPAL_TOO_LARGE);
    assert_memory_equal(&sized, &before, sizeof sized);
}

static void keyed_filters_want_their_key(void **state)
{
    (void)state;
    static const uint8_t key[TEPAL_KEY_BYTES] = "a key of 16 byte";
    static const uint8_t wrong[TEPAL_KEY_BYTES] = "another 16 bytes";
    struct shape shape = {TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_COLLIDING, 51200, 6};
    struct tepal_params params = params_of(&shape);
    params.hash = TEPAL_HASH_SIPHASH;
    struct tepal_filter *b;
    assert_ok(tepal_filter_create(&params, NULL, &b, NULL));
    struct tepal_hasher hasher;
    uint64_t integer = 5;
    uint64_t answer = 0;
    assert_int_equal(tepal_filter_hasher(b, &hasher), TEPAL_KEY_NEEDED);
    assert_int_equal(tepal_filter_add_bytes(b, "x", 1), TEPAL_KEY_NEEDED);
    assert_int_equal(tepal_filter_add_u64(b, 1), TEPAL_KEY_NEEDED);
    assert_true(tepal_filter_query_bytes(b, "x", 1)); /* it cannot tell: "perhaps" */
    assert_true(tepal_filter_query_u64(b, 1));
    assert_int_equal(tepal_filter_add_u64_many(b, &integer, 1), TEPAL_KEY_NEEDED);
    assert_int_equal(tepal_filter_query_u64_many(b, &integer, 1, &answer), 1);
    assert_int_equal(answer, 1);
    assert_int_equal(tepal_filter_add_fixed_many(b, "x", 1, 1), TEPAL_KEY_NEEDED);
    answer = 0;
    assert_int_equal(tepal_filter_query_fixed_many(b, "x", 1, 1, &answer), 1);
    assert_int_equal(answer, 1);
    assert_int_equal(tepal_filter_ones(b), 0);
    assert_ok(tepal_filter_set_key(b, key));
    assert_int_equal(tepal_filter_set_key(b, wrong), TEPAL_WRONG_KEY);
    assert_ok(tepal_filter_hasher(b, &hasher));
    assert_true(tepal_filter_params(b)->key_check == tepal_hasher_check(&hasher));

    /* keyed batches of integers and bytes: the same as one by one */
    static uint64_t keys[1000];
    static uint64_t answers[1000 / 64 + 1];
    for (uint64_t i = 0; i < 1000; i++) {
        keys[i] = i * i;
    }
    assert_ok(tepal_filter_add_u64_many(b, keys, 500));
    size_t found = tepal_filter_query_u64_many(b, keys, 1000, answers);
    size_t expected = 0;
    for (size_t i = 0; i < 1000; i++) {
        bool present = tepal_filter_query_u64(b, keys[i]);
        assert_int_equal(answers[i / 64] >> (i % 64) & 1, present);
        assert_true(present || i >= 500);
        expected += present;
    }
    assert_int_equal(found, expected);
    assert_true(found < 600);
    assert_ok(tepal_filter_add_fixed_many(b, "abcdef", 2, 3));
    assert_true(tepal_filter_query_bytes(b, "cd", 2));
    tepal_filter_free(b);

    struct tepal_filter *plain;
    assert_ok(bloom_with_bits(100, 3, 1, &plain));
    assert_int_equal(tepal_filter_set_key(plain, key), TEPAL_UNSUPPORTED);
    /* keys of no bytes are the empty key, as often as they are many */
    uint64_t empty[2] = {UINT64_MAX, UINT64_MAX};
    assert_int_equal(tepal_filter_query_fixed_many(plain, "x", 0, 70, empty), 0);
    assert_true(empty[0] == 0 && empty[1] == 0);
    assert_ok(tepal_filter_add_fixed_many(plain, "x", 0, 5));
    assert_int_equal(tepal_filter_keys_added(plain), 5);
    assert_true(tepal_filter_query_bytes(plain, NULL, 0));
    assert_int_equal(tepal_filter_query_fixed_many(plain, "x", 0, 70, empty), 70);
    assert_true(empty[0] == UINT64_MAX && empty[1] == 63);
    tepal_filter_free(plain);
}

static void any_bytes_are_a_key(void **state)
{
    (void)state;
    struct tepal_filter *b;
    assert_ok(tepal_filter_create_for_rate(TEPAL_KIND_BLOOM, 100, 1e-9, 1, &b, NULL));
    static uint8_t large[1 << 20];
    assert_false(tepal_filter_query_bytes(b, NULL, 0));
    assert_ok(tepal_filter_add_bytes(b, NULL, 0));
    assert_ok(tepal_filter_add_bytes(b, "a\0b", 3));
    assert_ok(tepal_filter_add_bytes(b, large, sizeof large));
    assert_true(tepal_filter_query_bytes(b, "", 0));
    assert_true(tepal_filter_query_bytes(b, "a\0b", 3));
    assert_false(tepal_filter_query_bytes(b, "a\0c", 3));
    assert_true(tepal_filter_query_bytes(b, large, sizeof large));
    large[77777] = 1;
    assert_false(tepal_filter_query_bytes(b, large, sizeof large));
    tepal_filter_free(b);
}

/*
 * fp_now against asking: over T fresh random digests the number of hits is binomial with exactly
 * that probability, whatever the cells.
 */
static void fp_now_is_the_rate_of_this_filter(void **state)
{
    (void)state;
    enum { TRIALS = 400000, BATCH = 2000 };
    static struct tepal_digest digests[BATCH];
    static uint64_t answers[BATCH / 64 + 1];
    for (size_t s = 0; s < SHAPES; s++) {
        if (shapes[s].cells < 512 || shapes[s].cells > 10000) {
            continue;
        }
        struct tepal_filter *b = bloom_with(&shapes[s]);
        add_range(b, 0, shapes[s].cells / (2 * shapes[s].hashes) + 8);
        uint64_t random = 77 + s;
        uint64_t hits = 0;
        for (int t = 0; t < TRIALS; t += BATCH) {
            for (int i = 0; i < BATCH; i++) {
                digests[i] = check_digest(&random);
            }
            hits += tepal_filter_query_many(b, digests, BATCH, answers);
        }
        double p = tepal_filter_fp_now(b);
        assert_true(p > 0 && p < 1);
        double error = sqrt(p * (1 - p) / TRIALS) + 1.0 / TRIALS;
        check_within("fp_now", (double)hits / TRIALS, p, error);
        tepal_filter_free(b);
    }
}

/* The same for cells that are anything but random: every pair of draws, counted. */
static void fp_now_counts_pairs_of_distinct_cells(void **state)
{
    (void)state;
    static const uint64_t patterns[] = {UINT64_C(0x00000000ffffffff),
                                        UINT64_C(0x5555555555555555),
                                        UINT64_C(0x8000000000000001),
                                        1,
                                        0,
                                        UINT64_MAX};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        struct shape shape = {TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_DISTINCT, 512, 16};
        struct tepal_filter *b = bloom_with(&shape);
        for (int s = 0; s < 8; s++) {
            b->words[s] = patterns[i];
        }
        unsigned both = 0;
        for (uint64_t first = 0; first < 64; first++) {
            for (uint64_t draw = 0; draw < 64; draw++) {
                uint64_t second = address_other(first, draw, 63 * ADDRESS_BYTES) & 63;
                assert_true(second != first);
                both += (unsigned)(patterns[i] >> first & patterns[i] >> second & 1);
            }
        }
        double expected = pow(both / 4096.0, 8);
        assert_true(fabs(tepal_filter_fp_now(b) - expected) <= 1e-12 * expected);
        tepal_filter_free(b);
    }
}

/* Paired: over the pairs of lines that a key may have, each line a blocked filter of its own. */
static double pairs_summed(const struct tepal_filter *b, const struct shape *paired)
{
    double part[2][16];
    uint64_t lines = paired->cells / TEPAL_LINE_BITS;
    for (uint64_t i = 0; i < lines; i++) {
        for (uint32_t half = 0; half < 2; half++) {
            struct shape shape = {TEPAL_LAYOUT_BLOCKED, paired->positions, TEPAL_LINE_BITS,
                                  (paired->hashes + 1 - half) / 2};
            struct tepal_filter *line = bloom_with(&shape);
            memcpy(line->words, b->words + 8 * i, 64);
            part[half][i] = tepal_filter_fp_now(line);
            tepal_filter_free(line);
        }
    }
    double sum = 0;
    double pairs = 0;
    for (uint64_t i = 0; i < lines; i++) {
        for (uint64_t j = 0; j < lines; j++) {
            bool may = i != j || paired->positions == TEPAL_POSITIONS_COLLIDING;
            sum += may ? part[0][i] * part[1][j] : 0;
            pairs += may;
        }
    }
    return sum / pairs;
}

static void fp_now_counts_pairs_of_lines(void **state)
{
    (void)state;
    for (uint64_t lines = 2; lines <= 16; lines++) {
        for (uint32_t k = 2; k <= 32; k += 5) {
            for (int positions = 0; positions < 2; positions++) {
                struct shape shape = {TEPAL_LAYOUT_PAIRED, (enum tepal_positions)positions,
                                      512 * lines, k};
                struct tepal_filter *b = bloom_with(&shape);
                uint64_t random = lines * k;
                for (uint64_t w = 0; w < 8 * lines; w++) {
                    uint64_t some = check_random(&random);
                    b->words[w] = w / 8 % 3 == 0 ? some : some | check_random(&random);
                }
                double expected = pairs_summed(b, &shape);
                assert_true(fabs(tepal_filter_fp_now(b) - expected) <= 1e-12 * expected);
                tepal_filter_free(b);
            }
        }
    }
}

static void counts_of_keys_never_wrap(void **state)
{
    (void)state;
    struct tepal_filter *b;
    assert_ok(bloom_with_bits(1000, 3, 1, &b));
    b->state.keys_added = UINT64_MAX - 1;
    for (uint64_t i = 0; i < 3; i++) {
        assert_ok(tepal_bloom_add_atomic(b, (struct tepal_digest){i, i}, NULL));
    }
    assert_true(tepal_filter_keys_added(b) == UINT64_MAX);
    assert_ok(tepal_filter_add_u64(b, 9));
    assert_ok(tepal_filter_unite(b, b));
    assert_true(tepal_filter_keys_added(b) == UINT64_MAX);
    tepal_filter_free(b);
}

/* The estimate of n: its relative error is about sqrt((e^x - x - 1) / (m x^2)) < 1.3 / sqrt(m). */
static void keys_are_estimated_from_the_fill(void **state)
{
    (void)state;
    for (int layout = 0; layout < 4; layout++) {
        for (int distinct = 0; distinct < 2; distinct++) {
            struct shape shape = {(enum tepal_layout)layout, (enum tepal_positions)distinct,
                                  512 * 1000, 6};
            struct tepal_filter *b = bloom_with(&shape);
            assert_true(info_real(b, "keys_estimated") == 0);
            for (int twice = 0; twice < 2; twice++) {
                add_range(b, 0, 50000);
            }
            /* a key's six cells come together, so n keys act like n cells of their own */
            check_within("keys_estimated", info_real(b, "keys_estimated"), 50000,
                         50000 * 1.3 / sqrt(512000) * sqrt(6));
            tepal_filter_free(b);
        }
    }
    struct tepal_filter *full;
    assert_ok(bloom_with_bits(1, 1, 1, &full));
    assert_ok(tepal_filter_add_u64(full, 1));
    struct tepal_report report; /* no number of keys: infinite, which is absent */
    tepal_filter_info(full, &report);
    assert_int_equal(tepal_report_find(&report, "keys_estimated")->type, TEPAL_QUANTITY_ABSENT);
    assert_true(tepal_filter_fp_now(full) == 1);
    tepal_filter_free(full);
}

static void info_tells_what_it_must(void **state)
{
    (void)state;
    static const char *const names[] = {"kind",       "layout", "bits",  "hashes",
                                        "keys_added", "ones",   "fill",  "keys_estimated",
                                        "fp_now",     "fn_now", "seed",  "fp_at_capacity",
                                        "capacity",   "keyed",  "bytes", "version"};
    struct tepal_filter *b;
    assert_ok(tepal_filter_create_for_rate(TEPAL_KIND_BLOOM, 1000, 0.01, 9, &b, NULL));
    add_range(b, 0, 1000);
    struct tepal_report report;
    tepal_filter_info(b, &report);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct tepal_quantity *q = tepal_report_find(&report, names[i]);
        assert_non_null(q);
        assert_true(q->type != TEPAL_QUANTITY_ABSENT);
        assert_true(strlen(q->about) > 0);
    }
    assert_null(tepal_report_find(&report, "no such thing"));
    assert_int_equal(tepal_report_find(&report, "seed")->value.integer, 9);
    assert_int_equal(tepal_report_find(&report, "ones")->value.integer, tepal_filter_ones(b));
    assert_true(tepal_report_find(&report, "fp_at_capacity")->value.real <= 0.01);
    tepal_filter_free(b);
    /* what is not known is absent, not zero */
    assert_ok(bloom_with_bits(1, 1, 9, &b));
    assert_ok(tepal_filter_add_u64(b, 1));
    tepal_filter_info(b, &report);
    assert_int_equal(tepal_report_find(&report, "capacity")->type, TEPAL_QUANTITY_ABSENT);
    assert_int_equal(tepal_report_find(&report, "fp_at_capacity")->type, TEPAL_QUANTITY_ABSENT);
    assert_int_equal(tepal_report_find(&report, "keys_estimated")->type, TEPAL_QUANTITY_ABSENT);
    tepal_filter_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ones_are_counted_alike),
        cmocka_unit_test(single_calls_agree_with_the_reference),
        cmocka_unit_test(batches_agree_with_single_calls),
        cmocka_unit_test(stages_agree_with_single_calls),
        cmocka_unit_test(kernels_are_bit_identical),
        cmocka_unit_test(parts_are_asked_as_their_positions_say),
        cmocka_unit_test(union_is_the_filter_of_both_sets),
        cmocka_unit_test(filters_that_differ_do_not_mix),
        cmocka_unit_test(folded_filters_are_those_built_small),
        cmocka_unit_test(layouts_that_agree_convert),
        cmocka_unit_test(short_ways_to_create),
        cmocka_unit_test(keyed_filters_want_their_key),
        cmocka_unit_test(any_bytes_are_a_key),
        cmocka_unit_test(fp_now_is_the_rate_of_this_filter),
        cmocka_unit_test(fp_now_counts_pairs_of_distinct_cells),
        cmocka_unit_test(fp_now_counts_pairs_of_lines),
        cmocka_unit_test(counts_of_keys_never_wrap),
        cmocka_unit_test(keys_are_estimated_from_the_fill),
        cmocka_unit_test(info_tells_what_it_must),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
