/*
 * copies_unit.c: how often a key was added, against exact counts: never fewer, and more only if
 * strangers share its cells.
 */
#include <tepal/tepal.h>

#include "check.h"
#include "kinds_help.h"

#define KEYS 200

static uint64_t more_than_added(const struct tepal_filter *f, const unsigned *added)
{
    uint64_t more = 0;
    for (uint64_t i = 0; i < KEYS; i++) {
        struct tepal_hasher hasher;
        assert_ok(tepal_filter_hasher(f, &hasher));
        uint64_t copies = tepal_filter_copies(f, tepal_hash_u64(&hasher, i));
        assert_true(copies >= added[i]);
        more += copies > added[i];
    }
    return more;
}

static void counts(enum tepal_kind_id kind, enum tepal_layout layout, unsigned times)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_filter *f;
    unsigned added[KEYS];
    p.kind = kind;
    p.layout = layout;
    p.seed = 5;
    assert_ok(tepal_params_for_rate(&p, KEYS * times, 1e-4, NULL));
    assert_ok(tepal_filter_create(&p, NULL, &f, NULL));
    for (unsigned i = 0; i < KEYS; i++) {
        added[i] = i % times;
        for (unsigned n = 0; n < added[i]; n++) {
            assert_ok(tepal_filter_add_u64(f, i));
        }
    }
    assert_int_equal(more_than_added(f, added), 0); /* of 200, at a rate of 10^-4 */
    uint64_t all = tepal_filter_keys_added(f);
    assert_int_equal(tepal_filter_keys_now(f), all);
    for (unsigned i = 0; i < KEYS; i++) {
        if (added[i] > 0) {
            added[i]--;
            assert_ok(tepal_filter_remove_u64(f, i));
        }
    }
    assert_int_equal(more_than_added(f, added), 0);
    assert_int_equal(tepal_filter_keys_added(f), all);
    assert_int_equal(tepal_filter_keys_now(f), all - (KEYS - (KEYS + times - 1) / times));
    tepal_filter_free(f);
}

static void kinds_that_count(void **unused)
{
    (void)unused;
    counts(TEPAL_KIND_COUNTING, TEPAL_LAYOUT_FLAT, 6);
    counts(TEPAL_KIND_COUNTING, TEPAL_LAYOUT_BLOCKED, 6);
    counts(TEPAL_KIND_FINGERPRINT, TEPAL_LAYOUT_FLAT, 4);
    counts(TEPAL_KIND_GROWING, TEPAL_LAYOUT_FLAT, 40); /* beyond eight: the exact table */
}

static void all_kinds(void **unused)
{
    static struct specimens all;
    (void)unused;
    specimens_init(&all);
    for (size_t i = 0; i < all.count; i++) {
        struct tepal_filter *f = specimen_make(&all.at[i], false);
        struct tepal_digest digest = {123 + i, 456};
        for (unsigned n = 0; n < 3; n++) {
            assert_true((tepal_filter_copies(f, digest) > 0) == tepal_filter_query(f, digest));
            (void)tepal_filter_add(f, digest);
        }
        tepal_filter_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_that_count),
        cmocka_unit_test(all_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
