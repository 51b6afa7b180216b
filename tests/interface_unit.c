/*
 * interface_unit.c: the one handle. Keys in all their forms (digests, bytes, integers; one and
 * many) do the same to filters of every kind, bit for bit; and what may not be done, or cannot, is
 * refused in the same way everywhere.
 */
#define _GNU_SOURCE
#include "kinds_help.h"

#include <unistd.h>

#define MOST 1000 /* keys */

/* Around the sizes of words of answers and of chunks of keys. */
static const size_t counts[] = {0, 1, 63, 64, 65, 255, 256, 257, MOST};

static struct specimens all;

/* ---- keys in all their forms ----------------------------------------------------------------- */

enum form { INTEGERS, STRINGS, PACKED, FIXED, FORMS };

/* The same keys as bytes or integers, and as digests. */
struct keyring {
    enum form form;
    size_t width; /* FIXED */
    uint64_t integers[MOST];
    uint8_t bytes[MOST * 48];
    const void *pointers[MOST];
    size_t lens[MOST];
    uint64_t offsets[MOST + 1]; /* PACKED */
    struct tepal_digest digests[MOST];
};

static void keyring_init(struct keyring *k, const struct tepal_filter *f, enum form form,
                         size_t width, uint64_t seed)
{
    struct tepal_hasher hasher;
    assert_ok(tepal_filter_hasher(f, &hasher));
    k->form = form;
    k->width = width;
    k->offsets[0] = 0;
    for (size_t i = 0; i < MOST * 48; i++) {
        k->bytes[i] = (uint8_t)check_random(&seed);
    }
    for (size_t i = 0; i < MOST; i++) {
        k->integers[i] = check_random(&seed);
        k->lens[i] = form == FIXED ? width : i % 41;
        k->pointers[i] = form == FIXED ? k->bytes + i * width : k->bytes + i * 48;
        if (form == PACKED) {
            k->offsets[i + 1] = k->offsets[i] + k->lens[i];
            k->pointers[i] = k->bytes + k->offsets[i];
        }
        if (form == STRINGS && k->lens[i] == 0) {
            k->pointers[i] = NULL; /* the empty key is a key */
        }
        k->digests[i] = form == INTEGERS ? tepal_hash_u64(&hasher, k->integers[i])
                                         : tepal_hash_bytes(&hasher, k->pointers[i], k->lens[i]);
    }
}

static enum tepal_status add_one(struct tepal_filter *f, const struct keyring *k, size_t i)
{
    return k->form == INTEGERS ? tepal_filter_add_u64(f, k->integers[i])
                               : tepal_filter_add_bytes(f, k->pointers[i], k->lens[i]);
}

static enum tepal_status add_many(struct tepal_filter *f, const struct keyring *k, size_t count)
{
    switch (k->form) {
    case INTEGERS:
        return tepal_filter_add_u64_many(f, k->integers, count);
    case STRINGS:
        return tepal_filter_add_bytes_many(f, k->pointers, k->lens, count);
    case PACKED:
        return tepal_filter_add_packed_many(f, k->bytes, k->offsets, count);
    default:
        return tepal_filter_add_fixed_many(f, k->bytes, k->width, count);
    }
}

static bool query_one(const struct tepal_filter *f, const struct keyring *k, size_t i)
{
    return k->form == INTEGERS ? tepal_filter_query_u64(f, k->integers[i])
                               : tepal_filter_query_bytes(f, k->pointers[i], k->lens[i]);
}

static size_t query_many(const struct tepal_filter *f, const struct keyring *k, size_t count,
                         uint64_t *answers)
{
    switch (k->form) {
    case INTEGERS:
        return tepal_filter_query_u64_many(f, k->integers, count, answers);
    case STRINGS:
        return tepal_filter_query_bytes_many(f, k->pointers, k->lens, count, answers);
    case PACKED:
        return tepal_filter_query_packed_many(f, k->bytes, k->offsets, count, answers);
    default:
        return tepal_filter_query_fixed_many(f, k->bytes, k->width, count, answers);
    }
}

static enum tepal_status remove_one(struct tepal_filter *f, const struct keyring *k, size_t i)
{
    return k->form == INTEGERS ? tepal_filter_remove_u64(f, k->integers[i])
                               : tepal_filter_remove_bytes(f, k->pointers[i], k->lens[i]);
}

static enum tepal_status test_add_one(struct tepal_filter *f, const struct keyring *k, size_t i,
                                      bool *was_present)
{
    return k->form == INTEGERS
               ? tepal_filter_test_add_u64(f, k->integers[i], was_present)
               : tepal_filter_test_add_bytes(f, k->pointers[i], k->lens[i], was_present);
}

/* Many keys are hashed as one by one, up to the last and no further. */
static void check_hashes(const struct specimen *s, const struct tepal_filter *f,
                         const struct keyring *k, size_t count)
{
    static struct tepal_digest digests[MOST + 1];
    struct tepal_hasher hasher;
    assert_ok(tepal_filter_hasher(f, &hasher));
    memset(digests, 0xa5, sizeof digests);
    struct tepal_digest beyond = digests[count];
    if (k->form == INTEGERS) {
        tepal_hash_u64_many(&hasher, k->integers, count, digests);
    } else if (k->form == STRINGS) {
        tepal_hash_bytes_many(&hasher, k->pointers, k->lens, count, digests);
    } else if (k->form == PACKED) {
        tepal_hash_packed_many(&hasher, k->bytes, k->offsets, count, digests);
    } else {
        tepal_hash_fixed_many(&hasher, k->bytes, k->width, count, digests);
    }
    specimen_assert(s, memcmp(digests, k->digests, count * sizeof digests[0]) == 0);
    specimen_assert(s, memcmp(&digests[count], &beyond, sizeof beyond) == 0);
}

/* Digests one by one, digests at once, keys one by one, keys at once: four filters, one content. */
static void check_adding(const struct specimen *s, const struct tepal_filter *empty,
                         const struct keyring *k, size_t count)
{
    struct tepal_filter *f[4];
    enum tepal_status status = TEPAL_OK;
    for (int i = 0; i < 4; i++) {
        f[i] = specimen_clone(empty);
    }
    for (size_t i = 0; i < count && status == TEPAL_OK; i++) {
        status = tepal_filter_add(f[0], k->digests[i]);
        specimen_assert(s, add_one(f[2], k, i) == status);
    }
    specimen_assert(s, tepal_filter_add_many(f[1], k->digests, count) == status);
    specimen_assert(s, add_many(f[3], k, count) == status);
    specimen_assert(s, specimen_same(f[0], f[2]));
    specimen_assert(s, specimen_same(f[1], f[3]));
    if (status == TEPAL_OK) {
        specimen_assert(s, specimen_same(f[0], f[1]));
        specimen_assert(s, tepal_filter_keys_added(f[0]) == tepal_filter_keys_added(empty) + count);
    } else { /* many identical keys: no room, so none of them */
        specimen_assert(s, status == TEPAL_FULL && specimen_same(f[1], empty));
    }
    for (int i = 0; i < 4; i++) {
        specimen_assert(s, tepal_filter_validate(f[i], NULL) == TEPAL_OK);
        tepal_filter_free(f[i]);
    }
}

/* Every second key is in the filter; all forms say which are found, and write nothing more. */
static void check_asking(const struct specimen *s, const struct tepal_filter *f,
                         const struct keyring *k, size_t count)
{
    size_t words = (count + 63) / 64;
    uint64_t one[MOST / 64 + 2] = {0};
    uint64_t digests[MOST / 64 + 2];
    uint64_t keys[MOST / 64 + 2];
    size_t present = 0;
    for (size_t i = 0; i < MOST / 64 + 2; i++) {
        digests[i] = keys[i] = KINDS_POISON;
        one[i] = i < words ? 0 : KINDS_POISON;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t yes = tepal_filter_query(f, k->digests[i]);
        specimen_assert(s, query_one(f, k, i) == yes);
        one[i / 64] |= yes << i % 64;
        present += yes;
    }
    specimen_assert(s, tepal_filter_query_many(f, k->digests, count, digests) == present);
    specimen_assert(s, query_many(f, k, count, keys) == present);
    specimen_assert(s, memcmp(digests, one, sizeof one) == 0);
    specimen_assert(s, memcmp(keys, one, sizeof one) == 0);
}

/* Half of the keys are taken out again, and as many that may not be there. */
static void check_removing(const struct specimen *s, const struct tepal_filter *full,
                           const struct keyring *k, size_t count)
{
    bool deletable = (tepal_filter_kind(full)->promises & TEPAL_DELETABLE) != 0;
    struct tepal_filter *f[4];
    size_t done = 0;
    size_t removed = SIZE_MAX;
    for (int i = 0; i < 4; i++) {
        f[i] = specimen_clone(full);
    }
    for (size_t i = 0; i < count; i++) {
        enum tepal_status status = tepal_filter_remove(f[0], k->digests[i]);
        specimen_assert(s, remove_one(f[1], k, i) == status);
        specimen_assert(s, deletable ? status == TEPAL_OK || status == TEPAL_NOT_PRESENT
                                     : status == TEPAL_UNSUPPORTED);
        done += status == TEPAL_OK;
    }
    enum tepal_status expected = deletable ? TEPAL_OK : TEPAL_UNSUPPORTED;
    specimen_assert(s, tepal_filter_remove_many(f[2], k->digests, count, &removed) == expected);
    specimen_assert(s, tepal_filter_remove_many(f[3], k->digests, count, NULL) == expected);
    specimen_assert(s, removed == (deletable ? done : SIZE_MAX));
    for (int i = 1; i < 4; i++) {
        specimen_assert(s, specimen_same(f[0], f[i]));
        tepal_filter_free(f[i]);
    }
    specimen_assert(s, deletable || specimen_same(f[0], full));
    specimen_assert(s, tepal_filter_validate(f[0], NULL) == TEPAL_OK);
    tepal_filter_free(f[0]);
}

static void check_form(const struct specimen *s, enum tepal_hash hash, enum form form, size_t width)
{
    static struct keyring k;
    struct tepal_filter *empty = specimen_make(s, hash);
    struct tepal_filter *half = specimen_clone(empty);
    keyring_init(&k, empty, form, width, 1 + (uint64_t)form);
    for (size_t i = 0; i < MOST; i += 2) {
        enum tepal_status status = tepal_filter_add(half, k.digests[i]);
        specimen_assert(s, status == TEPAL_OK || status == TEPAL_FULL);
    }
    for (size_t i = 0; i < COUNT(counts); i++) {
        check_hashes(s, empty, &k, counts[i]);
        check_adding(s, empty, &k, counts[i]);
        check_asking(s, half, &k, counts[i]);
        check_removing(s, half, &k, counts[i]);
    }
    tepal_filter_free(half);
    tepal_filter_free(empty);
}

static void forms_agree(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < all.count; i++) {
        check_form(&all.at[i], (enum tepal_hash)(i % 3), INTEGERS, 0);
        check_form(&all.at[i], (enum tepal_hash)((i + 1) % 3), STRINGS, 0);
        check_form(&all.at[i], (enum tepal_hash)((i + 2) % 3), PACKED, 0);
        check_form(&all.at[i], i % 3 == 0, FIXED, 1 + i % 24);
    }
}

/* Kinds that hash on the way do so for unkeyed keys only; every width is a path of its own. */
static void widths_agree(void **unused)
{
    static const size_t widths[] = {0, 1, 3, 4, 8, 16, 17, 33, 48};
    (void)unused;
    for (size_t i = 0; i < all.count; i += 3) {
        for (size_t w = 0; w < COUNT(widths); w++) {
            check_form(&all.at[i], w == 0 && i % 2 == 0, FIXED, widths[w]);
        }
    }
}

/* ---- test and add ---------------------------------------------------------------------------- */

/* Keys of which many come again, some at once, some a batch later; `once`: each once, at once. */
static void repeat_keys(struct keyring *k, bool once)
{
    uint64_t state = 5;
    for (size_t i = 1; i < MOST; i++) {
        if (once ? i % 5 == 1 : check_random(&state) % 3 == 0) {
            size_t from = once ? i - 1 : check_random(&state) % i;
            k->digests[i] = k->digests[from];
            k->integers[i] = k->integers[from];
            k->pointers[i] = k->pointers[from];
            k->lens[i] = k->lens[from];
        }
    }
}

static void check_test_add(const struct specimen *s, const struct tepal_filter *empty,
                           const struct keyring *k, size_t count)
{
    struct tepal_filter *f[5];
    uint64_t one[MOST / 64 + 2];
    uint64_t many[MOST / 64 + 2];
    uint64_t again[MOST / 64 + 2];
    size_t present = 0;
    size_t told = SIZE_MAX;
    for (size_t i = 0; i < MOST / 64 + 2; i++) {
        one[i] = i < (count + 63) / 64 ? 0 : KINDS_POISON;
        many[i] = again[i] = KINDS_POISON;
    }
    for (int i = 0; i < 5; i++) {
        f[i] = specimen_clone(empty);
    }
    for (size_t i = 0; i < count; i++) {
        bool yes = tepal_filter_query(f[0], k->digests[i]);
        bool digest = !yes;
        bool key = !yes;
        specimen_assert(s, tepal_filter_add(f[0], k->digests[i]) == TEPAL_OK);
        specimen_assert(s, tepal_filter_test_add(f[1], k->digests[i], &digest) == TEPAL_OK);
        specimen_assert(s, test_add_one(f[2], k, i, &key) == TEPAL_OK);
        specimen_assert(s, digest == yes && key == yes);
        one[i / 64] |= (uint64_t)yes << i % 64;
        present += yes;
    }
    specimen_assert(s,
                    tepal_filter_test_add_many(f[3], k->digests, count, many, &told) == TEPAL_OK);
    specimen_assert(s,
                    tepal_filter_test_add_many(f[4], k->digests, count, again, NULL) == TEPAL_OK);
    specimen_assert(s, told == present);
    specimen_assert(s, memcmp(many, one, sizeof one) == 0);
    specimen_assert(s, memcmp(again, one, sizeof one) == 0);
    for (int i = 4; i >= 0; i--) {
        specimen_assert(s, specimen_same(f[i], f[0]));
        tepal_filter_free(f[i]);
    }
}

static void test_add_is_query_then_add(void **unused)
{
    static struct keyring k;
    (void)unused;
    for (size_t i = 0; i < all.count; i++) {
        struct tepal_filter *empty = specimen_make(&all.at[i], i % 2 == 0);
        keyring_init(&k, empty, i % 4 < 2 ? INTEGERS : STRINGS, 0, 9);
        bool few = all.at[i].params.kind == TEPAL_KIND_FINGERPRINT; /* copies of one key */
        repeat_keys(&k, few);
        for (size_t c = 0; c < COUNT(counts); c++) {
            if (!few || k.form == INTEGERS || counts[c] < 300) { /* the empty key comes again */
                check_test_add(&all.at[i], empty, &k, counts[c]);
            }
        }
        tepal_filter_free(empty);
    }
}

/* One key too often, in the middle of a batch of others: nothing has happened. */
static void full_changes_nothing(void **unused)
{
    static struct tepal_digest probes[4 * MOST];
    static uint64_t before[4 * MOST / 64 + 1];
    static uint64_t after[4 * MOST / 64 + 1];
    static uint64_t answers[MOST / 64 + 1];
    struct tepal_digest *batch = probes + MOST;
    uint64_t state = 3;
    (void)unused;
    check_digests(&state, probes, COUNT(probes));
    for (size_t i = 0; i < TEPAL_MAX_COPIES + 1; i++) {
        batch[40 + 7 * i] = batch[40];
    }
    for (size_t i = 0; i < all.count; i++) {
        const struct specimen *s = &all.at[i];
        if (s->params.kind != TEPAL_KIND_FINGERPRINT) {
            continue;
        }
        struct tepal_filter *f = specimen_make(s, false);
        bool was_present = true;
        size_t present = 12345;
        assert_ok(tepal_filter_add_many(f, probes, MOST));
        size_t found = tepal_filter_query_many(f, probes, COUNT(probes), before);
        specimen_assert(s,
                        tepal_filter_test_add_many(f, batch, 300, answers, &present) == TEPAL_FULL);
        specimen_assert(s, tepal_filter_add_many(f, batch, 300) == TEPAL_FULL);
        specimen_assert(s, present == 12345 && tepal_filter_keys_added(f) == MOST);
        for (int copy = 0; copy < TEPAL_MAX_COPIES; copy++) {
            (void)tepal_filter_add(f, batch[40]);
        }
        uint64_t held = tepal_filter_keys_added(f);
        specimen_assert(s, tepal_filter_test_add(f, batch[40], &was_present) == TEPAL_FULL);
        specimen_assert(s, was_present && tepal_filter_keys_added(f) == held);
        for (; held > MOST; held--) {
            assert_ok(tepal_filter_remove(f, batch[40]));
        }
        specimen_assert(s, tepal_filter_query_many(f, probes, COUNT(probes), after) == found);
        specimen_assert(s, memcmp(before, after, sizeof before) == 0);
        specimen_assert(s, tepal_filter_validate(f, NULL) == TEPAL_OK);
        tepal_filter_free(f);
    }
}

/* ---- refusals -------------------------------------------------------------------------------- */

/* Every call of the handle that changes a filter: the same refusal from all, and no change. */
static void check_refused(const struct specimen *s, struct tepal_filter *f,
                          enum tepal_status expected, enum tepal_status removing)
{
    static const uint64_t integers[3] = {1, 2, 3};
    static const char bytes[] = "abc";
    static const void *const keys[3] = {"a", "b", "c"};
    static const size_t lens[3] = {1, 1, 1};
    struct tepal_digest digests[3] = {{1, 2}, {3, 4}, {5, 6}};
    struct tepal_filter *before = specimen_clone(f);
    uint64_t answers[1];
    size_t number;
    bool present;
    const enum tepal_status adding[] = {
        tepal_filter_add(f, digests[0]),
        tepal_filter_add_bytes(f, bytes, 3),
        tepal_filter_add_u64(f, 7),
        tepal_filter_add_many(f, digests, 3),
        tepal_filter_add_bytes_many(f, keys, lens, 3),
        tepal_filter_add_packed_many(f, bytes, (const uint64_t[]){0, 1, 2, 3}, 3),
        tepal_filter_add_u64_many(f, integers, 3),
        tepal_filter_add_fixed_many(f, bytes, 1, 3),
        tepal_filter_test_add(f, digests[0], &present),
        tepal_filter_test_add_bytes(f, bytes, 3, &present),
        tepal_filter_test_add_u64(f, 7, &present),
        tepal_filter_test_add_many(f, digests, 3, answers, &number),
    };
    const enum tepal_status taking[] = {
        tepal_filter_remove(f, digests[0]),
        tepal_filter_remove_bytes(f, bytes, 3),
        tepal_filter_remove_u64(f, 7),
        tepal_filter_remove_many(f, digests, 3, &number),
    };
    for (size_t i = 0; i < COUNT(adding); i++) {
        if (adding[i] != expected) {
            fail_msg("%s: adding %zu says %s", s->name, i, tepal_status_name(adding[i]));
        }
    }
    for (size_t i = 0; i < COUNT(taking); i++) {
        if (taking[i] != removing) {
            fail_msg("%s: removing %zu says %s", s->name, i, tepal_status_name(taking[i]));
        }
    }
    specimen_assert(s, specimen_same(f, before));
    tepal_filter_free(before);
}

static struct tepal_filter *mapped(const struct tepal_filter *f)
{
    char path[] = "/tmp/tepal-interface-XXXXXX";
    struct tepal_filter *view = NULL;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    assert_ok(tepal_save(f, path, NULL));
    assert_ok(tepal_map(path, TEPAL_MAP_VERIFY, NULL, &view, NULL));
    (void)unlink(path);
    return view;
}

static void views_are_read_only(void **unused)
{
    static struct keyring k;
    (void)unused;
    for (size_t i = 0; i < all.count; i++) {
        const struct specimen *s = &all.at[i];
        struct tepal_filter *f = specimen_make(s, i % 2 == 0);
        keyring_init(&k, f, INTEGERS, 0, 21);
        assert_ok(tepal_filter_add_many(f, k.digests, 300));
        struct tepal_filter *view = mapped(f);
        if (i % 2 == 0) {
            assert_ok(tepal_filter_set_key(view, recipe_key));
        }
        specimen_assert(s, tepal_filter_read_only(view) && !tepal_filter_read_only(f));
        check_refused(s, view, TEPAL_READ_ONLY, TEPAL_READ_ONLY);
        specimen_assert(s, tepal_filter_clear(view) == TEPAL_READ_ONLY);
        specimen_assert(s, tepal_filter_unite(view, f) == TEPAL_READ_ONLY);
        specimen_assert(s, tepal_filter_intersect(view, f) == TEPAL_READ_ONLY);
        specimen_assert(s, specimen_same(view, f));
        check_asking(s, view, &k, 500);
        tepal_filter_free(view);
        tepal_filter_free(f);
    }
}

/* No keys need no arrays; with sanitizers, not even NULL + 0 is computed. */
static void nothing_needs_no_arrays(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < all.count; i++) {
        const struct specimen *s = &all.at[i];
        struct tepal_filter *f = specimen_make(s, i % 2 == 0);
        struct tepal_filter *before = specimen_clone(f);
        size_t count = 1;
        specimen_assert(s, tepal_filter_query_many(f, NULL, 0, NULL) == 0);
        specimen_assert(s, tepal_filter_query_bytes_many(f, NULL, NULL, 0, NULL) == 0);
        specimen_assert(s, tepal_filter_query_u64_many(f, NULL, 0, NULL) == 0);
        specimen_assert(s, tepal_filter_query_fixed_many(f, NULL, 8, 0, NULL) == 0);
        (void)tepal_filter_add_many(f, NULL, 0);
        (void)tepal_filter_add_bytes_many(f, NULL, NULL, 0);
        (void)tepal_filter_add_u64_many(f, NULL, 0);
        (void)tepal_filter_add_fixed_many(f, NULL, 8, 0);
        (void)tepal_filter_test_add_many(f, NULL, 0, NULL, &count);
        (void)tepal_filter_remove_many(f, NULL, 0, &count);
        specimen_assert(s, specimen_same(f, before));
        tepal_filter_free(before);
        tepal_filter_free(f);
    }
}

static void bits_alone_neither_add_nor_remove(void **unused)
{
    static struct keyring k;
    (void)unused;
    for (size_t i = 0; i < all.count; i++) {
        const struct specimen *s = &all.at[i];
        struct tepal_filter *bits = NULL;
        if (s->params.kind != TEPAL_KIND_COUNTING) {
            continue;
        }
        struct tepal_filter *f = specimen_make(s, false);
        keyring_init(&k, f, INTEGERS, 0, 22);
        assert_ok(tepal_filter_add_many(f, k.digests, 300));
        assert_ok(tepal_counting_strip(f, NULL, &bits, NULL));
        check_refused(s, bits, TEPAL_UNSUPPORTED, TEPAL_UNSUPPORTED);
        for (size_t j = 0; j < MOST; j++) {
            specimen_assert(s, query_one(f, &k, j) == query_one(bits, &k, j));
        }
        tepal_filter_free(bits);
        tepal_filter_free(f);
    }
}

/* What a keyed filter does without its key: digests as ever; keys are refused, or perhaps there. */
static void check_keyless(const struct specimen *s, struct tepal_filter *f, struct keyring *k)
{
    uint64_t answers[MOST / 64 + 2];
    bool present;
    uint64_t added = tepal_filter_keys_added(f);
    specimen_assert(s, tepal_filter_add_bytes(f, "a", 1) == TEPAL_KEY_NEEDED);
    specimen_assert(s, tepal_filter_add_u64(f, 1) == TEPAL_KEY_NEEDED);
    specimen_assert(s, tepal_filter_test_add_bytes(f, "a", 1, &present) == TEPAL_KEY_NEEDED);
    specimen_assert(s, tepal_filter_test_add_u64(f, 1, &present) == TEPAL_KEY_NEEDED);
    specimen_assert(s, tepal_filter_remove_bytes(f, "a", 1) == TEPAL_KEY_NEEDED);
    specimen_assert(s, tepal_filter_remove_u64(f, 1) == TEPAL_KEY_NEEDED);
    for (enum form form = INTEGERS; form < FORMS; form++) {
        k->form = form;
        k->width = 8;
        for (size_t c = 0; c < COUNT(counts); c++) {
            memset(answers, 0xa5, sizeof answers);
            specimen_assert(s, counts[c] == 0 || add_many(f, k, counts[c]) == TEPAL_KEY_NEEDED);
            specimen_assert(s, query_many(f, k, counts[c], answers) == counts[c]);
            for (size_t i = 0; i < sizeof answers * 8; i++) {
                bool yes = (answers[i / 64] >> i % 64 & 1) != 0;
                bool used = i < (counts[c] + 63) / 64 * 64;
                bool rest = (UINT64_C(0xa5a5a5a5a5a5a5a5) >> i % 64 & 1) != 0;
                specimen_assert(s, yes == (used ? i < counts[c] : rest));
            }
        }
        specimen_assert(s, query_one(f, k, 3));
    }
    specimen_assert(s, tepal_filter_keys_added(f) == added);
}

static void without_the_key(void **unused)
{
    static struct keyring k;
    (void)unused;
    for (size_t i = 0; i < all.count; i++) {
        const struct specimen *s = &all.at[i];
        size_t len;
        struct tepal_filter *bare = NULL;
        struct tepal_hasher hasher;
        struct tepal_filter *f = specimen_make(s, true);
        keyring_init(&k, f, STRINGS, 0, 23);
        assert_ok(tepal_filter_add_many(f, k.digests, 300));
        uint8_t *bytes = encoded(f, &len);
        assert_ok(tepal_decode(bytes, len, NULL, &bare, NULL));
        specimen_assert(s, tepal_filter_hasher(bare, &hasher) == TEPAL_KEY_NEEDED);
        check_keyless(s, bare, &k);
        for (size_t j = 0; j < MOST; j++) {
            specimen_assert(s, tepal_filter_query(bare, k.digests[j]) ==
                                   tepal_filter_query(f, k.digests[j]));
        }
        assert_ok(tepal_filter_add(bare, k.digests[400]));
        assert_ok(tepal_filter_add(f, k.digests[400]));
        specimen_assert(s, specimen_same(bare, f));
        specimen_assert(s, tepal_filter_needs_key(bare));
        assert_ok(tepal_filter_set_key(bare, recipe_key));
        specimen_assert(s, !tepal_filter_needs_key(bare));
        k.form = STRINGS;
        check_asking(s, bare, &k, 500);
        free(bytes);
        tepal_filter_free(bare);
        tepal_filter_free(f);
    }
}

/* ---- secret keys ----------------------------------------------------------------------------- */

static void *take(void *ctx, size_t size, size_t align)
{
    (void)ctx;
    return aligned_alloc(align, (size + align - 1) / align * align);
}

/* Memory that is given back: has it one of the four words that come from the secret key? */
static void give_back(void *ctx, void *block, size_t size)
{
    const struct tepal_hasher *hasher = ctx;
    const uint64_t words[4] = {hasher->secret[0], hasher->secret[1], hasher->integer[0],
                               hasher->integer[1]};
    for (size_t i = 0; i < 4; i++) {
        assert_null(memmem(block, size, &words[i], sizeof words[i]));
    }
    free(block);
}

static void no_secret_stays_in_memory(void **unused)
{
    (void)unused;
    for (size_t n = 0; n < all.count; n++) {
        for (int hash = TEPAL_HASH_SIPHASH; hash <= TEPAL_HASH_SIPHASH13; hash++) {
            struct tepal_hasher hasher;
            const struct tepal_allocator allocator = {take, give_back, &hasher};
            assert_ok(tepal_hasher_init_by((enum tepal_hash)hash, all.at[n].params.seed, recipe_key,
                                           &hasher));
            struct tepal_filter *f = specimen_with(&all.at[n], (enum tepal_hash)hash, &allocator);
            struct tepal_filter *copy = NULL;
            struct tepal_hasher told;
            (void)tepal_filter_add_u64(f, 5);
            (void)tepal_filter_query_u64(f, 5);
            assert_ok(tepal_filter_clone(f, &allocator, &copy, NULL));
            assert_ok(tepal_filter_hasher(copy, &told));
            specimen_assert(&all.at[n], told.secret[0] == hasher.secret[0]);
            tepal_filter_free(copy);
            tepal_filter_free(f);
        }
    }
}

/* ---------------------------------------------------------------------------------------------- */

static int make_all(void **unused)
{
    (void)unused;
    specimens_init(&all);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_agree),
        cmocka_unit_test(widths_agree),
        cmocka_unit_test(test_add_is_query_then_add),
        cmocka_unit_test(full_changes_nothing),
        cmocka_unit_test(views_are_read_only),
        cmocka_unit_test(nothing_needs_no_arrays),
        cmocka_unit_test(bits_alone_neither_add_nor_remove),
        cmocka_unit_test(without_the_key),
        cmocka_unit_test(no_secret_stays_in_memory),
    };
    return cmocka_run_group_tests(tests, make_all, NULL);
}
