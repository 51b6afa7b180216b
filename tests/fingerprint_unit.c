/*
 * fingerprint_unit.c: the fingerprint filter against an exact reference that knows nothing of
 * buckets: a multiset of classes, a class being all that the filter can tell of a key. Then what it
 * does at its limits: full, many copies, wrong removals, hostile files; and that the vector kernel
 * gives the plain one's answers.
 */
#include "check.h"

#include <tepal/papers.h>

#include "base/wide.h"
#include "file_help.h"
#include "fingerprint_help.h"
#include "base/processor.h"
#include "filter/fingerprint/internal.h"
#include "filter/kind.h"

static struct tepal_params params_of(uint32_t bits, uint64_t buckets)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.kind = TEPAL_KIND_FINGERPRINT;
    p.hashes = 2;
    p.cells = buckets * 4 * bits;
    p.seed = 5;
    p.fingerprint.bits = bits;
    return p;
}

static struct tepal_filter *make(uint32_t bits, uint64_t buckets)
{
    struct tepal_params p = params_of(bits, buckets);
    struct tepal_filter *f = NULL;
    assert_ok(tepal_filter_create(&p, NULL, &f, NULL));
    return f;
}

/* ---- the reference --------------------------------------------------------------------------- */

/* How many keys of each class there are: a plain table, open addressing. */
#define TABLE 65536

struct reference {
    uint32_t bits;
    uint64_t buckets;
    struct class class[TABLE];
    uint32_t count[TABLE];
    uint64_t total;
};

static uint32_t *count_of(struct reference *r, struct tepal_digest d)
{
    struct class c = class_of(r->bits, r->buckets, d);
    size_t i = (size_t)((c.print * 31 + c.low) * 2654435761u % TABLE);
    while (r->class[i].print != 0 && (r->class[i].print != c.print || r->class[i].low != c.low)) {
        i = (i + 1) % TABLE;
    }
    r->class[i] = c;
    return &r->count[i];
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* Additions, removals of members and strangers, queries, saves: always the reference's answer. */
static void differential(uint32_t bits, uint64_t buckets, unsigned operations)
{
    struct reference *r = calloc(1, sizeof *r);
    struct tepal_filter *f = make(bits, buckets);
    assert_non_null(r);
    r->bits = bits;
    r->buckets = buckets;
    uint64_t state = bits * 1000 + buckets;
    uint64_t members = (uint64_t)(buckets * 5); /* keys to draw from: some repeat */
    for (unsigned i = 0; i < operations; i++) {
        uint64_t key = check_random(&state) % members * 77 + 1;
        struct tepal_digest d = check_digest(&key);
        uint32_t *count = count_of(r, d);
        switch (check_random(&state) % 8) {
        case 0:
        case 1:
        case 2: {
            enum tepal_status status = tepal_filter_add(f, d);
            assert_true(status == TEPAL_OK || status == TEPAL_FULL);
            assert_true(status == TEPAL_OK || *count >= 8 || r->total > buckets * 4 / 2);
            *count += status == TEPAL_OK;
            r->total += status == TEPAL_OK;
            break;
        }
        case 3:
        case 4:
            assert_int_equal(tepal_filter_remove(f, d), *count > 0 ? TEPAL_OK : TEPAL_NOT_PRESENT);
            r->total -= *count > 0;
            *count -= *count > 0;
            break;
        default:
            assert_int_equal(tepal_filter_query(f, d), *count > 0);
        }
        assert_true(*count <= TEPAL_MAX_COPIES);
        if (i % 5000 == 4999) { /* through bytes and back */
            size_t len;
            uint8_t *bytes = encoded(f, &len);
            tepal_filter_free(f);
            assert_int_equal(tepal_decode(bytes, len, NULL, &f, NULL), TEPAL_OK);
            free(bytes);
        }
    }
    assert_true(tepal_filter_ones(f) == r->total);
    assert_ok(tepal_filter_validate(f, NULL));
    for (uint64_t k = 0; k < members; k++) {
        uint64_t key = k * 77 + 1;
        struct tepal_digest d = check_digest(&key);
        assert_int_equal(tepal_filter_query(f, d), *count_of(r, d) > 0);
    }
    tepal_filter_free(f);
    free(r);
}

static void answers_are_those_of_an_exact_multiset(void **state)
{
    (void)state;
    for (uint32_t bits = 4; bits <= 32; bits++) {
        differential(bits, 200 + 2 * bits, 10000);
    }
    differential(8, 2, 5000);
    differential(11, 6, 5000);
    differential(12, 1024, 60000);
}

/* The same answers from one key at a time, from the plain kernel, and from the vector kernel. */
static void kernels_agree(void **state)
{
    (void)state;
    enum { KEYS = 1000 };
    for (uint32_t bits = 4; bits <= 32; bits++) {
        for (uint64_t buckets = 2; buckets < 5000; buckets = buckets * 3 + 2 + (buckets & 2)) {
            struct tepal_filter *f = make(bits, buckets + (buckets & 1));
            uint64_t seed = bits;
            static struct tepal_digest digests[KEYS];
            for (size_t i = 0; i < KEYS; i++) {
                digests[i] = check_digest(&seed);
                if (i % 2 == 0) {
                    (void)tepal_filter_add(f, digests[i]);
                }
            }
            digests[7].hi = UINT64_MAX; /* the last bucket, the largest fingerprint */
            digests[7].lo = UINT64_MAX;
            digests[8].lo = 0; /* which becomes 1 */
            for (size_t count = 0; count < KEYS; count += count < 140 ? 3 : 431) {
                uint64_t plain[16] = {1};
                uint64_t fast[16] = {1};
                const struct tepal_fingerprint *inside = (const struct tepal_fingerprint *)f;
                size_t a = tepal_fingerprint_query_portable(&inside->at, digests, count, plain);
                size_t b = tepal_processor_has_avx2()
                               ? tepal_fingerprint_query_avx2(&inside->at, digests, count, fast)
                               : tepal_filter_query_many(f, digests, count, fast);
                assert_int_equal(a, b);
                assert_memory_equal(plain, fast, (count + 63) / 64 * 8);
                size_t found = 0;
                for (size_t i = 0; i < count; i++) {
                    bool one = tepal_filter_query(f, digests[i]);
                    found += one;
                    assert_int_equal(plain[i / 64] >> (i % 64) & 1, one);
                }
                assert_int_equal(found, a);
                assert_true(count % 64 == 0 || plain[count / 64] >> (count % 64) == 0);
            }
            const struct fingerprint_table *t = &((const struct tepal_fingerprint *)f)->at;
            assert_int_equal(tepal_fingerprint_held_from(t, 0), tepal_filter_ones(f));
            if (tepal_processor_has_avx2()) {
                assert_int_equal(tepal_fingerprint_held_avx2(t), tepal_filter_ones(f));
            }
            if (tepal_processor_has_avx512()) {
                assert_int_equal(tepal_fingerprint_held_avx512(t), tepal_filter_ones(f));
            }
            tepal_filter_free(f);
        }
    }
}

/* One key, by every function that a table of this width may have, and hashed by each itself. */
static void assert_one(const struct tepal_filter *f, bool vectors, enum fingerprint_width width)
{
    const struct fingerprint_one *table =
        vectors ? tepal_fingerprint_one_avx2 : tepal_fingerprint_one_portable;
    const struct fingerprint_table *t = &((const struct tepal_fingerprint *)f)->at;
    struct tepal_hasher hasher;
    assert_ok(tepal_filter_hasher(f, &hasher));
    for (uint64_t key = 0; key < 3000; key++) {
        struct tepal_digest d = tepal_hash_u64(&hasher, key);
        uint64_t answer;
        bool expected = tepal_fingerprint_query_portable(t, &d, 1, &answer) == 1;
        assert_int_equal(table[width].query(f, d), expected);
        assert_int_equal(table[width].query_u64(f, key), expected);
        assert_int_equal(tepal_filter_query_u64(f, key), expected);
    }
}

/* The same inlined; other widths go through the handle. */
static void assert_inlined(struct tepal_filter *f, uint32_t bits)
{
    struct tepal_direct direct;
    bool inlined = bits <= FINGERPRINT_NARROW && bits % 2 == 0 && LITTLE_ENDIAN_HOST;
    assert_ok(tepal_direct_of(f, &direct));
    assert_int_equal(direct.way, inlined ? TEPAL_DIRECT_FINGERPRINT : TEPAL_DIRECT_CALL);
    for (uint64_t key = 0; key < 3000; key++) {
        assert_int_equal(tepal_direct_query_u64(&direct, key), tepal_filter_query_u64(f, key));
    }
    uint64_t added = tepal_filter_keys_added(f);
    assert_ok(tepal_direct_add_u64(&direct, 1));
    assert_true(tepal_direct_query_u64(&direct, 1));
    assert_true(tepal_filter_keys_added(f) == added + 1);
    assert_ok(tepal_filter_remove_u64(f, 1));
}

static void one_key_is_found_as_in_a_batch(void **state)
{
    (void)state;
    for (uint32_t bits = 4; bits <= 32; bits++) {
        struct tepal_filter *f = make(bits, 250);
        for (uint64_t key = 0; key < 900; key++) {
            (void)tepal_filter_add_u64(f, key * 3);
        }
        assert_inlined(f, bits);
        for (int vectors = 0; vectors <= tepal_processor_has_avx2(); vectors++) {
            if (bits > FINGERPRINT_NARROW) {
                assert_one(f, vectors, FINGERPRINT_WIDE);
                continue;
            }
            assert_one(f, vectors, FINGERPRINT_BITS);
            if (bits % 2 == 0 && LITTLE_ENDIAN_HOST) {
                assert_one(f, vectors, FINGERPRINT_BYTES);
            }
        }
        tepal_filter_free(f);
    }
}

static uint64_t fill(struct tepal_filter *f, uint64_t seed, struct tepal_digest *last)
{
    uint64_t added = 0;
    do {
        *last = check_digest(&seed);
    } while (tepal_filter_add(f, *last) == TEPAL_OK && ++added);
    return added;
}

static void a_full_filter_stays_as_it_is(void **state)
{
    (void)state;
    for (uint32_t bits = 4; bits <= 32; bits += 7) {
        struct tepal_filter *f = make(bits, 500);
        struct tepal_filter *before;
        struct tepal_digest last;
        uint64_t added = fill(f, 9, &last);
        assert_true(added >= tepal_fingerprint_room(bits, 500));
        assert_true(tepal_filter_ones(f) == added);
        assert_ok(tepal_filter_clone(f, NULL, &before, NULL));
        assert_int_equal(tepal_filter_add(f, last), TEPAL_FULL);
        assert_true(tepal_filter_equal(f, before));
        assert_true(tepal_filter_keys_added(f) == added);
        uint64_t seed = 9;
        for (uint64_t i = 0; i < added; i++) {
            assert_true(tepal_filter_query(f, check_digest(&seed)));
        }
        /* Everything comes out again, and then it is empty. */
        seed = 9;
        for (uint64_t i = 0; i < added; i++) {
            assert_ok(tepal_filter_remove(f, check_digest(&seed)));
        }
        assert_true(tepal_filter_ones(f) == 0);
        size_t count;
        const uint64_t *words = tepal_filter_words(f, &count);
        for (size_t i = 0; i < count; i++) {
            assert_true(words[i] == 0);
        }
        assert_ok(tepal_filter_validate(f, NULL));
        tepal_filter_free(before);
        tepal_filter_free(f);
    }
}

/* A batch that does not fit is not added in part: all answers are the old ones. */
static void a_batch_is_all_or_nothing(void **state)
{
    (void)state;
    enum { FIRST = 1500, MORE = 1000 };
    static struct tepal_digest digests[FIRST + MORE];
    struct tepal_filter *f = make(12, 500);
    uint64_t seed = 77;
    check_digests(&seed, digests, FIRST + MORE);
    static uint64_t before[(FIRST + MORE + 63) / 64];
    static uint64_t after[(FIRST + MORE + 63) / 64];
    assert_ok(tepal_filter_add_many(f, digests, FIRST));
    size_t found = tepal_filter_query_many(f, digests, FIRST + MORE, before);
    assert_int_equal(tepal_filter_add_many(f, digests + FIRST, MORE), TEPAL_FULL);
    assert_int_equal(tepal_filter_query_many(f, digests, FIRST + MORE, after), found);
    assert_memory_equal(before, after, sizeof before);
    assert_true(tepal_filter_ones(f) == FIRST);
    assert_ok(tepal_filter_validate(f, NULL));
    /* Batches do what single calls do, in the same order: the same cells. */
    struct tepal_filter *g = make(12, 500);
    struct tepal_filter *h = make(12, 500);
    for (size_t i = 0; i < FIRST; i++) {
        assert_ok(tepal_filter_add(g, digests[i]));
    }
    assert_ok(tepal_filter_add_many(h, digests, FIRST));
    assert_true(tepal_filter_equal(g, h));
    size_t removed;
    assert_ok(tepal_filter_remove_many(h, digests, FIRST, &removed));
    assert_int_equal(removed, FIRST);
    assert_ok(tepal_filter_remove_many(h, digests, FIRST, &removed));
    assert_int_equal(removed, 0);
    assert_true(tepal_filter_ones(h) == 0);
    assert_ok(tepal_filter_validate(h, NULL));
    tepal_filter_free(f);
    tepal_filter_free(g);
    tepal_filter_free(h);
}

static void one_key_fits_eight_times(void **state)
{
    (void)state;
    uint64_t seed = 3;
    struct tepal_digest d = check_digest(&seed);
    for (uint64_t buckets = 2; buckets <= 64; buckets += 2) {
        struct tepal_filter *f = make(9, buckets);
        for (int i = 0; i < TEPAL_MAX_COPIES; i++) {
            assert_ok(tepal_filter_add(f, d));
        }
        assert_int_equal(tepal_filter_add(f, d), TEPAL_FULL);
        assert_true(tepal_filter_ones(f) == TEPAL_MAX_COPIES);
        for (int i = 0; i < TEPAL_MAX_COPIES; i++) {
            assert_true(tepal_filter_query(f, d));
            assert_ok(tepal_filter_remove(f, d));
        }
        assert_false(tepal_filter_query(f, d));
        assert_int_equal(tepal_filter_remove(f, d), TEPAL_NOT_PRESENT);
        tepal_filter_free(f);
    }
}

/* A stranger who is found takes exactly one fingerprint, of a member of his class. */
static void a_wrong_removal_costs_one_member(void **state)
{
    (void)state;
    enum { MEMBERS = 1800 };
    static struct tepal_digest members[MEMBERS];
    struct tepal_filter *f = make(8, 500);
    uint64_t seed = 21;
    for (size_t i = 0; i < MEMBERS; i++) {
        members[i] = check_digest(&seed);
        assert_ok(tepal_filter_add(f, members[i]));
    }
    size_t wrong = 0;
    size_t lost = 0;
    while (wrong < 20) {
        wrong += tepal_filter_remove(f, check_digest(&seed)) == TEPAL_OK;
    }
    for (size_t i = 0; i < MEMBERS; i++) {
        lost += !tepal_filter_query(f, members[i]);
    }
    assert_true(lost <= wrong && lost >= wrong / 2);
    assert_true(tepal_filter_ones(f) == MEMBERS - wrong);
    tepal_filter_free(f);
}

static void the_gate_knows_the_rules(void **state)
{
    (void)state;
    const struct tepal_params good = params_of(12, 100);
    assert_ok(tepal_params_check(&good, NULL));
    for (int i = 0; i < 11; i++) {
        struct tepal_params p = good;
        struct tepal_error error = {.why = ""};
        switch (i) {
        case 0:
            p.fingerprint.bits = 3;
            break;
        case 1:
            p.fingerprint.bits = 33;
            break;
        case 2:
            p.fingerprint.bits = UINT64_MAX;
            break;
        case 3:
            p.cells += 12;
            break;
        case 4:
            p.cells += 48; /* an odd number of buckets */
            break;
        case 5:
            p.hashes = 1;
            break;
        case 6:
            p.layout = TEPAL_LAYOUT_BLOCKED;
            break;
        case 7:
            p.positions = TEPAL_POSITIONS_DISTINCT;
            break;
        case 8:
            p.own[1] = 1;
            break;
        case 9:
            p.cells = ((uint64_t)1 << 32) * 48;
            break;
        default:
            p.cells = 0;
            break;
        }
        assert_int_equal(tepal_params_check(&p, &error), TEPAL_BAD_PARAMETER);
        assert_true(strlen(error.why) > 10);
    }
    struct tepal_params p = good;
    struct tepal_filter *f = NULL;
    p.kind = TEPAL_KIND_BLOOM; /* which has no fingerprints */
    assert_int_equal(tepal_filter_create(&p, NULL, &f, NULL), TEPAL_BAD_PARAMETER);
    assert_null(f);
    p = params_of(16, UINT32_MAX - 1); /* the largest: it passes, and no memory is asked for */
    assert_ok(tepal_params_check(&p, NULL));
}

/* Files whose sums are right and whose contents are not. */
static void hostile_files_are_refused(void **state)
{
    (void)state;
    struct tepal_filter *f = make(11, 50);
    uint64_t seed = 4;
    for (int i = 0; i < 100; i++) {
        assert_ok(tepal_filter_add(f, check_digest(&seed)));
    }
    assert_ok(tepal_filter_remove(f, (seed = 4, check_digest(&seed))));
    struct filter_state good = f->state;
    for (int i = 0; i < 7; i++) {
        struct tepal_error error = {.why = ""};
        uint64_t *word = NULL;
        uint64_t old = 0;
        f->state = good;
        switch (i) {
        case 0:
            f->state.own[0]++;
            break;
        case 1:
            f->state.own[0] = UINT64_MAX;
            break;
        case 2:
            f->state.own[1]++;
            break;
        case 3:
            f->state.keys_added--;
            break;
        case 4:
            f->state.own[7] = 1;
            break;
        case 5:
            word = &f->words[f->word_count - 1]; /* behind the last slot */
            break;
        default:
            word = &f->words[f->word_count - 2]; /* 2200 bits: the last word has 24 */
            break;
        }
        if (word != NULL) {
            old = *word;
            *word |= (uint64_t)1 << 40;
        }
        assert_int_equal(tepal_filter_validate(f, &error), TEPAL_CORRUPT);
        assert_true(strlen(error.why) > 10);
        if (word != NULL) {
            *word = old;
        }
    }
    f->state = good;
    assert_ok(tepal_filter_validate(f, NULL));
    /* Slots of any contents are safe to search: every one full of the same fingerprint, too. */
    size_t count = f->word_count - 1;
    for (uint64_t pattern = 0; pattern < 3; pattern++) {
        for (size_t i = 0; i < count; i++) {
            f->words[i] = pattern == 0 ? UINT64_MAX : check_random(&seed);
        }
        f->words[count - 1] &= ((uint64_t)1 << 24) - 1;
        for (int i = 0; i < 200; i++) {
            struct tepal_digest d = check_digest(&seed);
            (void)tepal_filter_query(f, d);
            enum tepal_status status = tepal_filter_add(f, d);
            assert_true(status == TEPAL_OK || status == TEPAL_FULL);
        }
        assert_int_equal(f->words[count], 0);
    }
    tepal_filter_free(f);
}

static void sizes_keep_their_word(void **state)
{
    (void)state;
    static const uint64_t keys[] = {1, 8, 9, 50, 1000, 123457, 100000000};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        for (double fp = 0.4; fp > 1e-8; fp *= 0.3) {
            uint64_t cells = 0;
            uint32_t bits = 0;
            assert_ok(tepal_fingerprint_size(keys[i], fp, &cells, &bits));
            struct tepal_params p = params_of(bits, cells / 4 / bits);
            assert_true(p.cells == cells);
            assert_ok(tepal_params_check(&p, NULL));
            assert_true(tepal_fingerprint_fp(bits, cells / 4 / bits, keys[i]) <= fp);
            assert_true(tepal_fingerprint_room(bits, cells / 4 / bits) >= keys[i]);
            /* one bit less and as many slots would not do */
            assert_true(bits == 4 || keys[i] < 1000 ||
                        tepal_fingerprint_fp(bits - 1, cells / 4 / bits, keys[i]) > fp);
        }
        uint32_t bits = 0;
        uint64_t cells = 0;
        if (keys[i] >= 1000) {
            assert_ok(tepal_fingerprint_fit(keys[i], 12, &cells, &bits));
            assert_int_equal(bits, 11);
            assert_true((double)cells <= 12 * (double)keys[i] + 8 * 11);
            assert_true(tepal_fingerprint_fp(bits, cells / 44, keys[i]) < 0.0037);
            bits = 0;
            assert_int_equal(tepal_fingerprint_fit(keys[i], 4, &cells, &bits), TEPAL_BAD_ARGUMENT);
        }
    }
    uint64_t cells;
    uint32_t bits = 0;
    assert_int_equal(tepal_fingerprint_size(0, 0.1, &cells, &bits), TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_fingerprint_size(1, 0, &cells, &bits), TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_fingerprint_size(1, 1, &cells, &bits), TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_fingerprint_size(UINT64_MAX, 0.1, &cells, &bits), TEPAL_TOO_LARGE);
    assert_int_equal(tepal_fingerprint_fit(1, 0, &cells, &bits), TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_fingerprint_fit(UINT64_MAX, 8, &cells, &bits), TEPAL_TOO_LARGE);
    bits = 33;
    assert_int_equal(tepal_fingerprint_size(1, 0.1, &cells, &bits), TEPAL_BAD_ARGUMENT);
    assert_true(isnan(tepal_fingerprint_fp(3, 10, 1)));
    assert_true(isnan(tepal_fingerprint_fp(8, 0, 1)));
    assert_true(tepal_fingerprint_fp(8, 10, 0) == 0);
    assert_true(tepal_fingerprint_room(3, 10) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_those_of_an_exact_multiset),
        cmocka_unit_test(kernels_agree),
        cmocka_unit_test(one_key_is_found_as_in_a_batch),
        cmocka_unit_test(a_full_filter_stays_as_it_is),
        cmocka_unit_test(a_batch_is_all_or_nothing),
        cmocka_unit_test(one_key_fits_eight_times),
        cmocka_unit_test(a_wrong_removal_costs_one_member),
        cmocka_unit_test(the_gate_knows_the_rules),
        cmocka_unit_test(hostile_files_are_refused),
        cmocka_unit_test(sizes_keep_their_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
