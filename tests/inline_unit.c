/*
 * inline_unit.c: one key, inlined into the caller (tepal/inline.h), in plain C, with AVX2 and with
 * AVX-512, against the handle: the same answers and the same cells, on every layout and for every
 * kind. And the tables behind the handle against each other.
 */
#define TEPAL_DIRECT_PORTABLE
#include "check.h"

#include "filter/bloom/internal.h"
#include "filter/fingerprint/internal.h"
#include "base/processor.h"
#include "inline_help.h"

#define SEED 77

struct shape {
    enum tepal_layout layout;
    enum tepal_positions positions;
    uint64_t cells;
    uint32_t hashes;
};

static const struct shape shapes[] = {
    {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 1, 1},
    {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 5003, 1},
    {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 5003, 2},
    {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 5003, 3},
    {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 5003, 4},
    {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 5003, 7},
    {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 5003, 8},
    {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 5003, 9},
    {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 9999, 64},
    {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_DISTINCT, 5003, 7},
    {TEPAL_LAYOUT_PARTITIONED, TEPAL_POSITIONS_COLLIDING, 5003, 7},
    {TEPAL_LAYOUT_PARTITIONED, TEPAL_POSITIONS_COLLIDING, 9999, 64},
    {TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_COLLIDING, 512, 3},
    {TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_COLLIDING, 512 * 11, 6},
    {TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_COLLIDING, 512 * 11, 8},
    {TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_COLLIDING, 512 * 11, 11},
    {TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_DISTINCT, 512 * 11, 16},
    {TEPAL_LAYOUT_PAIRED, TEPAL_POSITIONS_COLLIDING, 512 * 11, 1},
    {TEPAL_LAYOUT_PAIRED, TEPAL_POSITIONS_COLLIDING, 512 * 11, 7},
    {TEPAL_LAYOUT_PAIRED, TEPAL_POSITIONS_DISTINCT, 512 * 2, 8},
    {TEPAL_LAYOUT_PAIRED, TEPAL_POSITIONS_COLLIDING, 512 * 11, 17},
    {TEPAL_LAYOUT_PAIRED, TEPAL_POSITIONS_DISTINCT, 512 * 11, 32},
};
#define SHAPES (sizeof shapes / sizeof *shapes)

static struct tepal_filter *filter_with(const struct shape *shape)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct tepal_filter *filter;
    params.layout = shape->layout;
    params.positions = shape->positions;
    params.cells = shape->cells;
    params.hashes = shape->hashes;
    params.seed = SEED;
    assert_ok(tepal_filter_create(&params, NULL, &filter, NULL));
    return filter;
}

/* The calls in plain C, as this file has them, and as programs that know their machine do. */
static const struct inline_calls *const inlined[] = {&(const struct inline_calls)INLINE_CALLS(true),
                                                     &inline_avx2, &inline_avx512, &inline_wide};
#define INLINED (sizeof inlined / sizeof *inlined)

/* May these run here? */
static bool may_run(const struct inline_calls *calls)
{
#if defined(__x86_64__)
    if (calls == &inline_avx512 || calls == &inline_wide) {
        return calls->built && __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
               tepal_processor_has_avx2();
    }
#endif
    return calls->built && (calls == inlined[0] || tepal_processor_has_avx2());
}

/* On x86-64 every form is compiled, or what is tested is not what programs have. */
static void every_form_is_built(void **state)
{
    (void)state;
    for (size_t i = 0; i < INLINED; i++) {
#if defined(__x86_64__)
        assert_true(inlined[i]->built);
#else
        assert_int_equal(inlined[i]->built, i == 0);
#endif
    }
}

static void assert_inlined(const struct shape *shape, const struct tepal_direct *direct)
{
    bool flat = shape->layout == TEPAL_LAYOUT_FLAT && shape->positions == TEPAL_POSITIONS_COLLIDING;
    bool expected = flat || tepal_layout_in_lines(shape->layout);
    assert_int_equal(direct->way != TEPAL_DIRECT_CALL, expected);
    assert_int_equal(direct->keys_added != NULL, expected);
}

static void assert_calls_of_the_handle(const struct shape *shape, const struct inline_calls *calls)
{
    struct tepal_filter *handle = filter_with(shape);
    struct tepal_filter *filter = filter_with(shape);
    struct tepal_direct direct;
    assert_ok(tepal_direct_of(filter, &direct));
    assert_inlined(shape, &direct);
    uint64_t random = shape->cells + shape->hashes;
    for (uint64_t key = 0; key < 200; key++) {
        struct tepal_digest d = check_digest(&random);
        assert_ok(tepal_filter_add_u64(handle, key));
        assert_ok(tepal_filter_add(handle, d));
        assert_ok(calls->add_u64(&direct, key));
        assert_ok(calls->add(&direct, d));
        assert_true(calls->query_u64(&direct, key));
        assert_true(calls->query(&direct, d));
    }
    assert_true(tepal_filter_equal(handle, filter));
    assert_int_equal(tepal_filter_keys_added(filter), 400);
    for (uint64_t key = 0; key < 4000; key++) {
        struct tepal_digest d = check_digest(&random);
        assert_int_equal(calls->query(&direct, d), tepal_filter_query(handle, d));
        assert_int_equal(calls->query_u64(&direct, key), tepal_filter_query_u64(handle, key));
        struct tepal_digest one = calls->digest(&direct, d.lo);
        struct tepal_digest to_ask = calls->to_ask(&direct, d.lo);
        struct tepal_digest to_add = calls->to_add(&direct, d.lo);
        assert_true(one.lo == to_ask.lo && one.hi == to_ask.hi);
        assert_true(one.lo == to_add.lo && one.hi == to_add.hi);
    }
    tepal_filter_free(handle);
    tepal_filter_free(filter);
}

static void inlined_calls_are_those_of_the_handle(void **state)
{
    (void)state;
    for (size_t i = 0; i < INLINED; i++) {
        if (!may_run(inlined[i])) {
            print_message("this machine or compiler lacks what inlined calls %zu need\n", i);
            continue;
        }
        for (size_t s = 0; s < SHAPES; s++) {
            assert_calls_of_the_handle(&shapes[s], inlined[i]);
        }
    }
}

/* Fingerprints of these bits; every other key of 0 .. 999 is in it. */
static struct tepal_filter *fingerprints_of(uint32_t bits)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct tepal_filter *filter;
    params.kind = TEPAL_KIND_FINGERPRINT;
    params.hashes = 2;
    params.fingerprint.bits = bits;
    params.cells = (uint64_t)bits * 4 * 250;
    params.seed = SEED;
    assert_ok(tepal_filter_create(&params, NULL, &filter, NULL));
    for (uint64_t key = 0; key < 1000; key += 2) {
        assert_ok(tepal_filter_add_u64(filter, key));
    }
    return filter;
}

/* Against the loop for slots of any width, which reads them in another way. */
static void assert_fingerprints(const struct inline_calls *calls, uint32_t bits)
{
    struct tepal_filter *filter = fingerprints_of(bits);
    const struct fingerprint_one *plain = &tepal_fingerprint_one_portable[FINGERPRINT_BITS];
    struct tepal_direct direct;
    uint64_t random = bits;
    size_t found = 0;
    assert_ok(tepal_direct_of(filter, &direct));
    assert_int_equal(direct.way, TEPAL_DIRECT_FINGERPRINT);
    for (uint64_t key = 0; key < 4000; key++) {
        struct tepal_digest d = check_digest(&random);
        if (key % 16 == 0) {
            d.lo >>= bits; /* a fingerprint that would be 0 */
        }
        found += plain->query(filter, d);
        assert_int_equal(calls->query(&direct, d), plain->query(filter, d));
        assert_int_equal(calls->query_u64(&direct, key), plain->query_u64(filter, key));
        assert_true(calls->query_u64(&direct, key) || key % 2 == 1 || key >= 1000);
    }
    assert_true(found > 0 || bits > 10);
    tepal_filter_free(filter);
}

static void inlined_fingerprints_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; LITTLE_ENDIAN_HOST && i < INLINED; i++) {
        for (uint32_t bits = 4; may_run(inlined[i]) && bits <= FINGERPRINT_NARROW; bits += 2) {
            assert_fingerprints(inlined[i], bits);
        }
    }
}

/* Let the handle use the functions for this way that `table` has. */
static void use(struct tepal_filter *filter, const struct bloom_one *table, size_t way)
{
    ((struct tepal_bloom *)filter)->one = &table[way];
    filter->query = table[way].query;
    filter->add = table[way].add;
    filter->query_u64 = table[way].query_u64;
    filter->add_u64 = table[way].add_u64;
}

/* Which of the functions the handle was given. */
static size_t way_of(const struct tepal_filter *filter)
{
    const struct bloom_one *one = ((const struct tepal_bloom *)filter)->one;
    size_t way = 0;
    while (one != &tepal_bloom_one_avx2[way] && one != &tepal_bloom_one_avx512[way]) {
        assert_true(++way < BLOOM_ONES);
    }
    return way;
}

/* These functions and the portable ones, on a filter each. */
static void assert_as_portable(const struct shape *shape, const struct bloom_one *table)
{
    struct tepal_filter *fast = filter_with(shape);
    struct tepal_filter *plain = filter_with(shape);
    size_t way = way_of(fast);
    if (table[way].query != NULL) {
        use(fast, table, way);
    }
    use(plain, tepal_bloom_one_portable, way);
    struct tepal_bloom *inside = (struct tepal_bloom *)plain;
    inside->atomic = &tepal_bloom_atomic_portable[inside->direct.way];
    uint64_t random = way;
    struct tepal_hasher hasher;
    assert_ok(tepal_filter_hasher(fast, &hasher));
    for (uint64_t i = 0; i < 600; i++) {
        struct tepal_digest d = check_digest(&random);
        bool before_fast = false;
        bool before_plain = true;
        bool hashed = tepal_filter_query(fast, tepal_hash_u64(&hasher, i));
        assert_int_equal(tepal_filter_query_u64(fast, i), hashed);
        assert_int_equal(tepal_filter_query_u64(plain, i), hashed);
        assert_int_equal(tepal_filter_query(fast, d), tepal_filter_query(plain, d));
        assert_int_equal(tepal_bloom_query_atomic(fast, d), tepal_filter_query(plain, d));
        assert_int_equal(tepal_bloom_query_atomic(plain, d), tepal_filter_query(fast, d));
        if (i % 7 == 6) {
            assert_ok(tepal_bloom_add_atomic(fast, d, &before_fast));
            assert_ok(tepal_bloom_add_atomic(plain, d, &before_plain));
            assert_int_equal(before_fast, before_plain);
        } else if (i % 3 == 0) {
            assert_ok(tepal_filter_add_u64(fast, i));
            assert_ok(tepal_filter_add_u64(plain, i));
            d = tepal_hash_u64(&hasher, i);
        } else if (i % 3 == 1) {
            assert_ok(tepal_filter_add(fast, d));
            assert_ok(tepal_filter_add(plain, d));
        } else {
            assert_ok(tepal_filter_test_add(fast, d, &before_fast));
            assert_ok(tepal_filter_test_add(plain, d, &before_plain));
            assert_int_equal(before_fast, before_plain);
        }
        assert_true(tepal_filter_query(fast, d) && tepal_filter_query(plain, d));
    }
    assert_true(tepal_filter_equal(fast, plain));
    assert_int_equal(tepal_filter_keys_added(fast), tepal_filter_keys_added(plain));
    tepal_filter_free(fast);
    tepal_filter_free(plain);
}

static void all_tables_agree(void **state)
{
    (void)state;
    if (!tepal_processor_has_avx2()) {
        print_message("this machine has no AVX2: the portable functions stand alone\n");
        return;
    }
    for (size_t s = 0; s < SHAPES; s++) {
        assert_as_portable(&shapes[s], tepal_bloom_one_avx2);
        if (tepal_processor_has_avx512()) {
            assert_as_portable(&shapes[s], tepal_bloom_one_avx512);
        }
    }
}

/* Short strings and longer ones take ways of their own: every length, against the hasher. */
static void short_strings_are_hashed_alike(void **state)
{
    (void)state;
    uint8_t bytes[150];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i * 37 + 11);
    }
    for (size_t s = 0; s < SHAPES; s++) {
        struct tepal_filter *filter = filter_with(&shapes[s]);
        struct tepal_filter *other = filter_with(&shapes[s]);
        struct tepal_hasher hasher;
        assert_ok(tepal_filter_hasher(filter, &hasher));
        for (size_t len = 0; len < sizeof bytes; len++) {
            struct tepal_digest d = tepal_hash_bytes(&hasher, bytes, len);
            assert_int_equal(tepal_filter_query_bytes(filter, bytes, len),
                             tepal_filter_query(filter, d));
            assert_ok(tepal_filter_add_bytes(filter, bytes, len));
            assert_ok(tepal_filter_add(other, d));
            assert_true(tepal_filter_query_bytes(filter, bytes, len));
        }
        assert_true(tepal_filter_equal(filter, other));
        tepal_filter_free(filter);
        tepal_filter_free(other);
    }
}

/* Other kinds, keyed filters, retouched ones: through the handle, to the same cells. */
static void every_kind_can_be_taken(void **state)
{
    (void)state;
    struct tepal_params params = TEPAL_PARAMS_INIT;
    static const uint8_t key[TEPAL_KEY_BYTES] = {1, 2, 3};
    struct tepal_filter *filter;
    struct tepal_filter *other;
    struct tepal_direct direct;
    for (int kind = 0; kind < 2; kind++) {
        params.kind = kind == 0 ? TEPAL_KIND_BLOOM : TEPAL_KIND_RETOUCHED;
        params.layout = TEPAL_LAYOUT_BLOCKED;
        params.hash = kind == 0 ? TEPAL_HASH_SIPHASH : TEPAL_HASH_XXH3;
        params.cells = 512 * 7;
        params.hashes = 5;
        assert_ok(tepal_filter_create(&params, NULL, &filter, NULL));
        assert_ok(tepal_filter_create(&params, NULL, &other, NULL));
        if (kind == 0) {
            assert_int_equal(tepal_direct_of(filter, &direct), TEPAL_KEY_NEEDED);
            assert_ok(tepal_filter_set_key(filter, key));
            assert_ok(tepal_filter_set_key(other, key));
        }
        assert_ok(tepal_direct_of(filter, &direct));
        assert_null(direct.keys_added);
        for (uint64_t i = 0; i < 50; i++) {
            assert_int_equal(tepal_direct_query_u64(&direct, i), tepal_filter_query_u64(other, i));
            assert_ok(tepal_direct_add_u64(&direct, i));
            assert_ok(tepal_filter_add_u64(other, i));
        }
        assert_true(tepal_filter_equal(filter, other));
        assert_int_equal(tepal_filter_keys_added(filter), 50);
        tepal_filter_free(filter);
        tepal_filter_free(other);
    }
}

/* A filter with a budget counts what is added to it: additions go to the handle, taken again. */
static void a_budget_is_taken_again(void **state)
{
    (void)state;
    struct tepal_filter *filters[2];
    struct tepal_avoided done[2];
    struct tepal_direct direct;
    struct tepal_digest wrong = {1, 2};
    const struct shape shape = {TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_COLLIDING, 512 * 11, 6};
    for (int inlined_too = 0; inlined_too < 2; inlined_too++) {
        struct tepal_filter *filter = filters[inlined_too] = filter_with(&shape);
        assert_ok(tepal_filter_add_u64(filter, 1));
        assert_ok(tepal_direct_of(filter, &direct));
        assert_non_null(direct.keys_added);
        assert_ok(tepal_avoid_budget(filter, 20, NULL));
        assert_ok(tepal_direct_of(filter, &direct));
        assert_null(direct.keys_added);
        for (uint64_t key = 2; key < 50; key++) {
            assert_ok(inlined_too ? tepal_direct_add_u64(&direct, key)
                                  : tepal_filter_add_u64(filter, key));
        }
        assert_ok(tepal_avoid(filter, &wrong, 1, NULL, &done[inlined_too], NULL));
    }
    assert_true(tepal_filter_equal(filters[0], filters[1]));
    assert_true(done[0].members > 40 && done[0].members == done[1].members);
    tepal_filter_free(filters[0]);
    tepal_filter_free(filters[1]);
}

/* The count of keys stays at its largest value, inlined as through the handle. */
static void counts_stay_at_the_largest(void **state)
{
    (void)state;
    struct tepal_filter *filter = filter_with(&shapes[9]);
    struct tepal_direct direct;
    assert_ok(tepal_direct_of(filter, &direct));
    filter->state.keys_added = UINT64_MAX - 1;
    assert_ok(tepal_direct_add_u64(&direct, 1));
    assert_int_equal(tepal_filter_keys_added(filter), UINT64_MAX);
    assert_ok(tepal_direct_add_u64(&direct, 2));
    assert_int_equal(tepal_filter_keys_added(filter), UINT64_MAX);
    filter->state.keys_added = UINT64_MAX - 1;
    assert_ok(tepal_filter_add_u64(filter, 3));
    assert_ok(tepal_filter_add_u64(filter, 4));
    assert_int_equal(tepal_filter_keys_added(filter), UINT64_MAX);
    filter->state.keys_added = UINT64_MAX / 2 - 1;
    for (uint64_t key = 0; key < 3; key++) {
        assert_ok(tepal_bloom_add_atomic(filter, (struct tepal_digest){key, key}, NULL));
    }
    assert_int_equal(tepal_filter_keys_added(filter), UINT64_MAX / 2 + 2);
    filter->state.keys_added = UINT64_MAX - 1;
    for (uint64_t key = 0; key < 3; key++) {
        assert_ok(tepal_bloom_add_atomic(filter, (struct tepal_digest){key, key}, NULL));
    }
    assert_int_equal(tepal_filter_keys_added(filter), UINT64_MAX);
    tepal_filter_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_is_built),
        cmocka_unit_test(inlined_calls_are_those_of_the_handle),
        cmocka_unit_test(inlined_fingerprints_are_found),
        cmocka_unit_test(all_tables_agree),
        cmocka_unit_test(short_strings_are_hashed_alike),
        cmocka_unit_test(every_kind_can_be_taken),
        cmocka_unit_test(a_budget_is_taken_again),
        cmocka_unit_test(counts_stay_at_the_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
