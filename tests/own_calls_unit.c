/*
 * own_calls_unit.c: calls that only one kind can do, on filters of every other kind: they are
 * refused and change nothing, or answer as their comments say. And on read-only views of their own
 * kind.
 */
#define _GNU_SOURCE
#include "kinds_help.h"

#include <unistd.h>

static struct specimens all;
static const struct tepal_digest key = {UINT64_C(0x123456789abcdef0), 42};

#define refused(call) specimen_assert(s, (call) == TEPAL_UNSUPPORTED)

/* Nothing may be given out by a call that fails. */
static struct tepal_filter *const nothing = (struct tepal_filter *)(uintptr_t)16;

static void not_bloom(const struct specimen *s, struct tepal_filter *f)
{
    struct tepal_filter *out = nothing;
    bool was_present = true;
    refused(tepal_bloom_add_atomic(f, key, &was_present));
    refused(tepal_bloom_add_atomic(f, key, NULL));
    refused(tepal_bloom_fold(f, 1, NULL, &out, NULL));
    refused(tepal_bloom_fold(f, 2, NULL, &out, NULL));
    refused(tepal_bloom_relayout(f, s->params.layout, NULL, &out, NULL));
    specimen_assert(s, was_present && out == nothing);
    for (size_t i = 0; i < KINDS_KNOWN; i++) {
        specimen_assert(s, tepal_bloom_query_atomic(f, s->known[i]) ==
                               tepal_filter_query(f, s->known[i]));
    }
}

static void not_counting(const struct specimen *s, struct tepal_filter *f)
{
    struct tepal_filter *out = nothing;
    struct tepal_counting_change change = {1, 2, 3};
    struct tepal_report report = {.count = 7};
    uint8_t group = 99;
    uint8_t groups[1] = {99};
    uint64_t words[TEPAL_MAX_COUNTER + 1] = {99};
    struct tepal_counting_repaired repair = {.counts = 99};
    uint8_t findings[1] = {99};
    size_t removed = 99;
    refused(tepal_counting_add(f, key, &group));
    refused(tepal_counting_add_many(f, &key, 1, groups));
    refused(tepal_counting_add_offline(f, &key, 1, NULL, NULL, groups, NULL));
    refused(tepal_counting_remove_group(f, key, 0));
    refused(tepal_counting_remove_many(f, &key, NULL, 1, words, &removed));
    refused(tepal_counting_histogram(f, words));
    refused(tepal_counting_to_bloom(f, NULL, &out, NULL));
    refused(tepal_counting_strip(f, NULL, &out, NULL));
    refused(tepal_counting_difference(f, f, NULL, &out, &change, NULL));
    refused(tepal_counting_audit(f, &key, NULL, 1, NULL, NULL, findings, &report, NULL));
    refused(tepal_counting_repair(f, &key, NULL, 1, NULL, NULL, &repair, NULL));
    specimen_assert(s, findings[0] == 99 && repair.counts == 99);
    specimen_assert(s, group == 99 && groups[0] == 99 && words[0] == 99 && removed == 99);
    specimen_assert(s, out == nothing && change.rose == 1 && report.count == 7);
    specimen_assert(s, tepal_counting_positions(f, key, 0, words) == 0);
    specimen_assert(s, tepal_counting_at(f, 0) == 0);
    for (size_t i = 0; i < KINDS_KNOWN; i++) {
        specimen_assert(s, tepal_counting_groups(f, s->known[i]) == 0);
    }
}

static void never_called(void *context, const struct tepal_recycling_cycle *cycle)
{
    (void)context;
    (void)cycle;
    fail();
}

static void not_recycling(const struct specimen *s, struct tepal_filter *f)
{
    struct tepal_recycling_figures figures = {.arrivals = 99};
    struct tepal_filter *out = nothing;
    uint64_t left = 99;
    refused(tepal_recycling_by_average(f, 0.01, NULL, &out, NULL));
    specimen_assert(s, out == nothing);
    refused(tepal_recycling_set_clock(f, 1));
    refused(tepal_recycling_recycle(f));
    refused(tepal_recycling_clear_ahead(f, 8, &left));
    refused(tepal_recycling_on_recycle(f, never_called, NULL));
    refused(tepal_recycling_get_figures(f, &figures));
    specimen_assert(s, figures.arrivals == 99 && left == 99);
}

static void not_to_be_retouched(const struct specimen *s, struct tepal_filter *f)
{
    struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    struct tepal_known known = {.members = s->known, .member_count = KINDS_KNOWN};
    struct tepal_retouch_point points[4];
    struct tepal_filter *out = nothing;
    size_t count = 99;
    known.avoid = s->known + KINDS_KNOWN;
    known.avoid_count = KINDS_KNOWN;
    refused(tepal_retouch(f, &known, &options, NULL, &out, NULL, NULL, NULL));
    refused(tepal_retouch_curve(f, &known, &options, NULL, points, 4, &count, NULL, NULL));
    specimen_assert(s, out == nothing && count == 99);
}

/* Bits of a Bloom filter, or of a counting filter that has the positions of one; or inverted. */
static bool retouchable(const struct tepal_params *p)
{
    bool bits = p->kind == TEPAL_KIND_BLOOM || p->kind == TEPAL_KIND_RETOUCHED ||
                p->kind == TEPAL_KIND_GENERALIZED;
    return bits || (p->kind == TEPAL_KIND_COUNTING && p->counting.choices == 1 &&
                    (!tepal_layout_in_lines(p->layout) || p->counting.lines == TEPAL_LINES_LONG));
}

static void others_cannot(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < all.count; i++) {
        const struct specimen *s = &all.at[i];
        enum tepal_kind_id kind = s->params.kind;
        struct tepal_filter *f = specimen_make(s, false);
        struct tepal_generalized_trace trace = {.age = 99};
        uint64_t mask = 0;
        bool yes = true;
        assert_ok(tepal_filter_add_many(f, s->known, KINDS_KNOWN / 2));
        struct tepal_filter *before = specimen_clone(f);
        if (kind != TEPAL_KIND_BLOOM) {
            not_bloom(s, f);
        }
        if (kind != TEPAL_KIND_COUNTING) {
            not_counting(s, f);
        }
        if (kind != TEPAL_KIND_RECYCLING) {
            not_recycling(s, f);
        }
        if (!retouchable(&s->params)) {
            not_to_be_retouched(s, f);
        }
        if (kind != TEPAL_KIND_GENERALIZED) {
            refused(tepal_generalized_age(f, key, 1, &trace));
            specimen_assert(s, trace.age == 99);
            refused(tepal_generalized_touch(f, key, &mask));
            refused(tepal_generalized_query_wild(f, key, &mask, &yes));
            specimen_assert(s, mask == 0 && yes);
        }
        for (size_t j = 0; j < KINDS_KNOWN && kind != TEPAL_KIND_YESNO; j++) {
            specimen_assert(s, tepal_yesno_query_yes(f, s->known[j]) ==
                                   tepal_filter_query(f, s->known[j]));
        }
        specimen_assert(s, specimen_same(f, before));
        tepal_filter_free(before);
        tepal_filter_free(f);
    }
}

/* The calls of a kind that change it ask for themselves whether they may. */
static void views_of_their_own(const struct specimen *s, struct tepal_filter *view)
{
    uint8_t group = 99;
    uint8_t groups[1] = {99};
    uint64_t words[1] = {99};
    size_t removed = 99;
    uint64_t left = 99;
    bool was_present = true;
    switch (s->params.kind) {
    case TEPAL_KIND_BLOOM:
        specimen_assert(s, tepal_bloom_add_atomic(view, key, &was_present) == TEPAL_READ_ONLY);
        specimen_assert(s, was_present);
        break;
    case TEPAL_KIND_COUNTING:
        specimen_assert(s, tepal_counting_add(view, key, &group) == TEPAL_READ_ONLY);
        specimen_assert(s, tepal_counting_add_many(view, &key, 1, groups) == TEPAL_READ_ONLY);
        specimen_assert(s, tepal_counting_remove_group(view, key, 0) == TEPAL_READ_ONLY);
        specimen_assert(s, tepal_counting_remove_many(view, &key, NULL, 1, words, &removed) ==
                               TEPAL_READ_ONLY);
        specimen_assert(s, group == 99 && groups[0] == 99 && words[0] == 99 && removed == 99);
        break;
    case TEPAL_KIND_RECYCLING:
        specimen_assert(s, tepal_recycling_set_clock(view, 1) == TEPAL_READ_ONLY);
        specimen_assert(s, tepal_recycling_recycle(view) == TEPAL_READ_ONLY);
        specimen_assert(s, tepal_recycling_clear_ahead(view, 8, &left) == TEPAL_READ_ONLY);
        specimen_assert(s, left == 99);
        break;
    default:
        break;
    }
}

static void views_refuse_them_too(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < all.count; i++) {
        const struct specimen *s = &all.at[i];
        char path[] = "/tmp/tepal-own-calls-XXXXXX";
        struct tepal_filter *view = NULL;
        struct tepal_filter *f = specimen_make(s, false);
        assert_ok(tepal_filter_add_many(f, s->known, KINDS_KNOWN / 2));
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        (void)close(fd);
        assert_ok(tepal_save(f, path, NULL));
        assert_ok(tepal_map(path, TEPAL_MAP_LAZY, NULL, &view, NULL));
        (void)unlink(path);
        views_of_their_own(s, view);
        specimen_assert(s, specimen_same(f, view));
        tepal_filter_free(view);
        tepal_filter_free(f);
    }
}

/* The bits alone: what needs counters is refused, what does not is answered. */
static void bits_alone(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < all.count; i++) {
        const struct specimen *s = &all.at[i];
        struct tepal_filter *bits = NULL;
        struct tepal_filter *out = nothing;
        struct tepal_report report;
        uint8_t group;
        uint8_t groups[1];
        uint64_t words[1];
        if (s->params.kind != TEPAL_KIND_COUNTING) {
            continue;
        }
        struct tepal_filter *f = specimen_make(s, false);
        assert_ok(tepal_filter_add_many(f, s->known, KINDS_KNOWN));
        assert_ok(tepal_counting_strip(f, NULL, &bits, NULL));
        refused(tepal_counting_add(bits, key, &group));
        refused(tepal_counting_add_many(bits, &key, 1, groups));
        refused(tepal_counting_add_offline(bits, &key, 1, NULL, NULL, groups, NULL));
        refused(tepal_counting_remove_group(bits, s->known[0], 0));
        refused(tepal_counting_remove_many(bits, s->known, NULL, 1, words, NULL));
        refused(tepal_counting_difference(bits, bits, NULL, &out, NULL, NULL));
        refused(tepal_counting_audit(bits, s->known, NULL, 1, NULL, NULL, NULL, &report, NULL));
        refused(tepal_counting_repair(bits, s->known, NULL, 1, NULL, NULL, NULL, NULL));
        specimen_assert(s, out == nothing);
        for (size_t j = 0; j < 2 * KINDS_KNOWN; j++) {
            specimen_assert(s, tepal_counting_groups(bits, s->known[j]) ==
                                   tepal_counting_groups(f, s->known[j]));
        }
        for (uint64_t cell = 0; cell < KINDS_CELLS; cell += 7) {
            specimen_assert(s, tepal_counting_at(bits, cell) == (tepal_counting_at(f, cell) > 0));
        }
        tepal_filter_free(bits);
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
        cmocka_unit_test(others_cannot),
        cmocka_unit_test(views_refuse_them_too),
        cmocka_unit_test(bits_alone),
    };
    return cmocka_run_group_tests(tests, make_all, NULL);
}
