/*
 * measure_unit.c: what a filter of any kind says of itself: its memory, counted by an allocator;
 * its length as a file; the summary and the info; bits set, and the false-positive rate of this
 * very filter, which is compared with that of keys that are asked for.
 */
#define _GNU_SOURCE
#include "kinds_help.h"

#include <unistd.h>

static struct specimens all;

/* ---- memory ---------------------------------------------------------------------------------- */

static uint64_t bytes_live(const struct memory *m)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < MEMORY_LIVE; i++) {
        sum += m->block[i].ptr == NULL ? 0 : m->block[i].size;
    }
    return sum;
}

/* What the filter says is what it holds; then it is freed, and nothing is left. */
static void check_memory(const struct specimen *s, struct memory *m, struct tepal_filter *f)
{
    uint64_t live = bytes_live(m);
    specimen_assert(s, tepal_filter_memory_bytes(f) == live);
    if (!tepal_filter_read_only(f)) {
        specimen_assert(s, tepal_params_memory_bytes(tepal_filter_params(f)) == live);
    }
    tepal_filter_free(f);
    specimen_assert(s, m->live == 0);
}

static struct tepal_filter *mapped(const struct tepal_filter *f,
                                   const struct tepal_allocator *allocator)
{
    char path[] = "/tmp/tepal-measure-XXXXXX";
    struct tepal_filter *view = NULL;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    assert_ok(tepal_save(f, path, NULL));
    assert_ok(tepal_map(path, TEPAL_MAP_VERIFY, allocator, &view, NULL));
    (void)unlink(path);
    return view;
}

static void memory_is_what_was_taken(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < all.count; i++) {
        const struct specimen *s = &all.at[i];
        struct memory m = {0};
        struct tepal_allocator counting = memory_allocator(&m);
        struct tepal_filter *other = NULL;
        struct tepal_filter *f = specimen_make(s, false);
        size_t len;
        assert_ok(tepal_filter_add_many(f, s->known, KINDS_KNOWN));
        uint8_t *bytes = encoded(f, &len);
        check_memory(s, &m, specimen_with(s, false, &counting));
        assert_ok(tepal_filter_clone(f, &counting, &other, NULL));
        check_memory(s, &m, other);
        assert_ok(tepal_decode(bytes, len, &counting, &other, NULL));
        check_memory(s, &m, other);
        other = mapped(f, &counting);
        specimen_assert(s, tepal_filter_memory_bytes(other) < tepal_filter_memory_bytes(f));
        check_memory(s, &m, other);
        if (s->params.kind == TEPAL_KIND_COUNTING) {
            assert_ok(tepal_counting_strip(f, &counting, &other, NULL));
            specimen_assert(s, tepal_filter_memory_bytes(other) < tepal_filter_memory_bytes(f));
            check_memory(s, &m, other);
        }
        free(bytes);
        tepal_filter_free(f);
    }
}

static void sizes_follow_from_params(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < all.count; i++) {
        const struct specimen *s = &all.at[i];
        struct tepal_filter *f = specimen_make(s, false);
        const struct tepal_params *p = tepal_filter_params(f);
        size_t words;
        (void)tepal_filter_words(f, &words);
        specimen_assert(s, tepal_params_encoded_bytes(p) == tepal_encoded_bytes(f));
        specimen_assert(s, tepal_params_cell_bytes(p) == words * 8);
        specimen_assert(s, tepal_params_memory_bytes(p) > tepal_params_cell_bytes(p));
        tepal_filter_free(f);
    }
    struct tepal_params unknown = TEPAL_PARAMS_INIT;
    unknown.kind = (enum tepal_kind_id)99;
    unknown.cells = 512;
    assert_int_equal(tepal_params_cell_bytes(&unknown), 0);
    assert_int_equal(tepal_params_memory_bytes(&unknown), 0);
    assert_int_equal(tepal_params_encoded_bytes(&unknown), 0);
}

/* ---- reports --------------------------------------------------------------------------------- */

static bool same_quantity(const struct tepal_quantity *a, const struct tepal_quantity *b)
{
    if (a->type != b->type || strcmp(a->about, b->about) != 0) {
        return false;
    }
    switch (a->type) {
    case TEPAL_QUANTITY_FLAG:
        return a->value.flag == b->value.flag;
    case TEPAL_QUANTITY_INTEGER:
        return a->value.integer == b->value.integer;
    case TEPAL_QUANTITY_REAL:
        return a->value.real == b->value.real;
    case TEPAL_QUANTITY_TEXT:
        return strcmp(a->value.text, b->value.text) == 0;
    default:
        return a->type == TEPAL_QUANTITY_ABSENT; /* a summary has no lists */
    }
}

static void check_reports(const struct specimen *s, const struct tepal_filter *f)
{
    static const char *const both[] = {"kind",       "layout", "positions", "bits",
                                       "hashes",     "seed",   "capacity",  "keyed",
                                       "keys_added", "bytes",  "version"};
    static const char *const full[] = {"keys_estimated", "ones",           "fill",
                                       "fp_now",         "fp_at_capacity", "fn_now"};
    static struct tepal_report summary;
    static struct tepal_report info;
    memset(&summary, 0xa5, sizeof summary);
    memset(&info, 0xa5, sizeof info);
    tepal_filter_summary(f, &summary);
    tepal_filter_info(f, &info);
    specimen_assert(s, summary.count < info.count && info.count <= TEPAL_MAX_QUANTITIES);
    for (size_t i = 0; i < summary.count; i++) {
        const struct tepal_quantity *q = tepal_report_find(&info, summary.item[i].name);
        if (q == NULL || !same_quantity(q, &summary.item[i])) {
            fail_msg("%s: summary and info differ in %s", s->name, summary.item[i].name);
        }
    }
    for (size_t i = 0; i < COUNT(both); i++) {
        specimen_assert(s, tepal_report_find(&summary, both[i]) != NULL);
    }
    for (size_t i = 0; i < COUNT(full); i++) {
        specimen_assert(s, tepal_report_find(&info, full[i]) != NULL);
        specimen_assert(s, tepal_report_find(&summary, full[i]) == NULL);
    }
    for (size_t i = 0; i < info.count; i++) {
        specimen_assert(s, tepal_report_find(&info, info.item[i].name) == &info.item[i]);
    }
    specimen_assert(s, tepal_filter_ones(f) == (uint64_t)check_number(&info, "ones"));
    specimen_assert(s, (uint64_t)check_number(&info, "keys_added") == tepal_filter_keys_added(f));
    double rate = tepal_filter_fp_now(f);
    double told = check_number(&info, "fp_now");
    if (s->params.kind == TEPAL_KIND_FINGERPRINT) { /* info tells that of so many keys */
        specimen_assert(s, fabs(rate - told) <= 0.1 * told + 0.001);
    } else {
        specimen_assert(s, rate == told);
    }
}

static void summary_is_part_of_info(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < all.count; i++) {
        const struct specimen *s = &all.at[i];
        struct tepal_filter *f = specimen_make(s, i % 2 == 0);
        check_reports(s, f);
        assert_ok(tepal_filter_add_many(f, s->known, KINDS_KNOWN));
        check_reports(s, f);
        struct tepal_filter *view = mapped(f, NULL);
        check_reports(s, view);
        tepal_filter_free(view);
        if (s->params.kind == TEPAL_KIND_COUNTING) {
            struct tepal_filter *bits = NULL;
            assert_ok(tepal_counting_strip(f, NULL, &bits, NULL));
            check_reports(s, bits);
            tepal_filter_free(bits);
        }
        tepal_filter_free(f);
    }
}

/* ---- ones and rates -------------------------------------------------------------------------- */

static uint64_t naive_ones(const struct specimen *s, const struct tepal_filter *f)
{
    size_t count;
    uint64_t ones = 0;
    const uint64_t *words = tepal_filter_words(f, &count);
    if (s->params.kind == TEPAL_KIND_COUNTING) {
        for (uint64_t i = 0; i < s->params.cells; i++) {
            ones += tepal_counting_at(f, i) > 0;
        }
        return ones;
    }
    uint64_t width = s->params.kind == TEPAL_KIND_FINGERPRINT ? s->params.fingerprint.bits : 1;
    for (uint64_t at = 0; at < s->params.cells; at += width) {
        bool any = false;
        for (uint64_t bit = at; bit < at + width; bit++) {
            any = any || (words[bit / 64] >> bit % 64 & 1) != 0;
        }
        ones += any;
    }
    return ones;
}

/* Of kinds whose rate is exact, by the cells alone. */
static bool exact(const struct specimen *s)
{
    switch (s->params.kind) {
    case TEPAL_KIND_BLOOM:
    case TEPAL_KIND_RETOUCHED:
    case TEPAL_KIND_GENERALIZED:
    case TEPAL_KIND_FINGERPRINT:
        return true;
    default:
        return false;
    }
}

static void rates_are_those_of_strangers(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < all.count; i++) {
        const struct specimen *s = &all.at[i];
        struct tepal_filter *f = specimen_make(s, false);
        uint64_t state = 77 + i;
        size_t trials = 60000;
        size_t found = 0;
        if (!exact(s)) {
            tepal_filter_free(f);
            continue;
        }
        for (size_t key = 0; key < 2000; key++) {
            (void)tepal_filter_add(f, check_digest(&state));
        }
        specimen_assert(s, tepal_filter_ones(f) == naive_ones(s, f));
        for (size_t key = 0; key < trials; key++) {
            found += tepal_filter_query(f, check_digest(&state));
        }
        double rate = tepal_filter_fp_now(f);
        double error = sqrt((rate * (1 - rate) + 1e-4) / (double)trials);
        check_within(s->name, (double)found / (double)trials, rate, error);
        tepal_filter_free(f);
    }
}

/*
 * A stranger of a fingerprint filter is a fingerprint, the top bits of one word of the digest, and
 * a bucket, the other word scaled: with few bits all of them can be asked for.
 */
static void fingerprint_rate_is_exact(void **unused)
{
    (void)unused;
    for (uint64_t bits = 4; bits <= 9; bits++) {
        struct tepal_params p = TEPAL_PARAMS_INIT;
        struct tepal_filter *f = NULL;
        uint64_t state = bits;
        uint64_t buckets = 2 * (13 + bits);
        uint64_t found = 0;
        p.kind = TEPAL_KIND_FINGERPRINT;
        p.hashes = 2;
        p.fingerprint.bits = bits;
        p.cells = buckets * 4 * bits;
        assert_ok(tepal_filter_create(&p, NULL, &f, NULL));
        assert_true(tepal_filter_fp_now(f) == 0);
        for (uint64_t key = 0; key < buckets * 3; key++) {
            struct tepal_digest d = check_digest(&state);
            assert_ok(tepal_filter_add(f, d));
            if (key % 5 == 0) {
                (void)tepal_filter_add(f, d); /* twice in one bucket, or in both */
            }
        }
        for (uint64_t print = 0; print < (uint64_t)1 << bits; print++) {
            for (uint64_t bucket = 0; bucket < buckets; bucket++) {
                uint64_t each = UINT64_MAX / buckets;
                struct tepal_digest d = {print << (64 - bits), each * bucket + each / 2};
                found += tepal_filter_query(f, d);
            }
        }
        assert_true(fabs(tepal_filter_fp_now(f) -
                         ldexp((double)found / (double)buckets, -(int)bits)) < 1e-12);
        tepal_filter_free(f);
    }
}

static int make_all(void **unused)
{
    (void)unused;
    specimens_init(&all);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_what_was_taken),  cmocka_unit_test(sizes_follow_from_params),
        cmocka_unit_test(summary_is_part_of_info),   cmocka_unit_test(rates_are_those_of_strangers),
        cmocka_unit_test(fingerprint_rate_is_exact),
    };
    return cmocka_run_group_tests(tests, make_all, NULL);
}
