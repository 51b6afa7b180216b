/*
 * counting_file_unit.c: counting filters as bytes: files that are pinned for ever, files whose
 * counters, bits and counts disagree, and memory that is refused at every request.
 */
#include "file_help.h"

#include "filter/counting/internal.h"

#define MEMBERS 300

struct pinned {
    const char *name;
    enum tepal_layout layout;
    uint32_t hashes;
    uint64_t cells;
    uint32_t choices;
    enum tepal_counting_policy policy;
    enum tepal_counting_form form;
    enum tepal_counting_lines lines;
};

/* All of the keys golden-0 .. golden-299, seed 42. */
static const struct pinned pinned[] = {
    {"counting", TEPAL_LAYOUT_FLAT, 5, 2401, 1, TEPAL_POLICY_KEEP, TEPAL_FORM_COUNTERS,
     TEPAL_LINES_SHORT},
    {"counting-choices", TEPAL_LAYOUT_PARTITIONED, 5, 3000, 4, TEPAL_POLICY_REMOVE,
     TEPAL_FORM_COUNTERS, TEPAL_LINES_SHORT},
    {"counting-lines", TEPAL_LAYOUT_BLOCKED, 11, 4096, 3, TEPAL_POLICY_KEEP, TEPAL_FORM_COUNTERS,
     TEPAL_LINES_SHORT},
    {"counting-bits", TEPAL_LAYOUT_PAIRED, 6, 2560, 2, TEPAL_POLICY_KEEP, TEPAL_FORM_BITS,
     TEPAL_LINES_SHORT},
    {"counting-wide", TEPAL_LAYOUT_FLAT, 4, 2003, 2, TEPAL_POLICY_KEEP, TEPAL_FORM_WIDE_COUNTERS,
     TEPAL_LINES_SHORT},
    {"counting-long", TEPAL_LAYOUT_BLOCKED, 6, 3072, 1, TEPAL_POLICY_KEEP, TEPAL_FORM_COUNTERS,
     TEPAL_LINES_LONG},
    {"counting-long-wide", TEPAL_LAYOUT_PAIRED, 9, 4096, 2, TEPAL_POLICY_KEEP,
     TEPAL_FORM_WIDE_COUNTERS, TEPAL_LINES_LONG},
};

#define PINNED (sizeof pinned / sizeof *pinned)

static struct tepal_filter *make(const struct pinned *p)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct tepal_filter *filter;
    struct tepal_filter *bits;
    params.kind = TEPAL_KIND_COUNTING;
    params.layout = p->layout;
    params.hashes = p->hashes;
    params.cells = p->cells;
    params.capacity = MEMBERS;
    params.seed = 42;
    params.counting.choices = p->choices;
    params.counting.rule = (uint64_t)tepal_counting_default_rule(p->layout, p->choices);
    params.counting.policy = (uint64_t)p->policy;
    params.counting.lines = (uint64_t)p->lines;
    params.counting.form = p->form == TEPAL_FORM_BITS ? TEPAL_FORM_COUNTERS : p->form;
    assert_int_equal(tepal_filter_create(&params, NULL, &filter, NULL), TEPAL_OK);
    for (unsigned i = 0; i < MEMBERS; i++) {
        assert_int_equal(tepal_filter_add(filter, recipe_digest(filter, "golden", i)), TEPAL_OK);
    }
    if (p->form == TEPAL_FORM_BITS) {
        assert_int_equal(tepal_counting_strip(filter, NULL, &bits, NULL), TEPAL_OK);
        tepal_filter_free(filter);
        filter = bits;
    }
    return filter;
}

static void golden_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < PINNED; i++) {
        struct tepal_filter *filter = make(&pinned[i]);
        golden_check(filter, pinned[i].name);
        tepal_filter_free(filter);
    }
}

/* What somebody who means harm would write: all checksums are right, and something is not. */
static void disagreement_is_refused(void **state)
{
    (void)state;
    enum { OWN = 72, STATE = 136 };
    for (size_t i = 0; i < PINNED; i++) {
        size_t len;
        struct tepal_filter *filter = make(&pinned[i]);
        size_t payload = filter->word_count * 8;
        uint8_t *bytes = encoded(filter, &len);
        /* the payload, bit after bit */
        for (size_t bit = 0; bit < payload * 8; bit += 7) {
            struct tepal_filter *out = NULL;
            bytes[256 + bit / 8] ^= (uint8_t)(1u << bit % 8);
            blocks_resum(bytes, payload);
            assert_int_equal(tepal_decode(bytes, len, NULL, &out, NULL), TEPAL_CORRUPT);
            assert_null(out);
            bytes[256 + bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        blocks_resum(bytes, payload);
        /* own parameters and state: each one larger by one, and without bounds */
        for (size_t at = OWN; at < STATE + 64; at += 8) {
            uint64_t was = little_get64(bytes + at);
            for (int huge = 0; huge < 2; huge++) {
                struct tepal_filter *out = NULL;
                little_put64(bytes + at, huge ? UINT64_MAX : was + 1);
                header_resum(bytes);
                enum tepal_status status = tepal_decode(bytes, len, NULL, &out, NULL);
                bool history = at >= STATE && at < STATE + 8 * COUNTING_ONES;
                bool choices = at == OWN && !huge && pinned[i].choices > 1;
                bool policy = at == OWN + 8 * PARAMS_INDEX(counting.policy) && !huge &&
                              pinned[i].choices > 1 && was == 0;
                bool rule = at == OWN + 8 * PARAMS_INDEX(counting.rule) && !huge &&
                            pinned[i].layout < 2 && pinned[i].choices > 1;
                bool budget = at == OWN + 8 * PARAMS_INDEX(counting.most_lost);
                bool one = at == OWN && !huge && pinned[i].choices == 1 && pinned[i].layout < 2;
                bool lines = at == OWN + 8 * PARAMS_INDEX(counting.lines) && !huge && was == 0 &&
                             pinned[i].form == TEPAL_FORM_BITS;
                if (history || choices || policy || rule || one || lines || budget) {
                    assert_int_equal(status, TEPAL_OK); /* another filter, and a sound one */
                    assert_int_equal(tepal_filter_validate(out, NULL), TEPAL_OK);
                } else {
                    assert_true(status == TEPAL_CORRUPT || status == TEPAL_BAD_PARAMETER ||
                                status == TEPAL_BAD_LENGTH);
                    assert_null(out);
                }
                tepal_filter_free(out);
            }
            little_put64(bytes + at, was);
        }
        free(bytes);
        tepal_filter_free(filter);
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void audit_call(struct tepal_filter *counting, const struct tepal_allocator *allocator,
                       enum tepal_status *status)
{
    struct tepal_report report;
    struct tepal_digest digest = {1, 2};
    *status =
        tepal_counting_audit(counting, &digest, NULL, 1, NULL, allocator, NULL, &report, NULL);
}

/* Whatever is refused, the filter stays as it was. */
static enum tepal_status repair_call(struct tepal_filter *counting,
                                     const struct tepal_allocator *allocator)
{
    struct tepal_digest digest = {1, 2};
    struct tepal_filter *before;
    assert_ok(tepal_filter_clone(counting, NULL, &before, NULL));
    enum tepal_status status =
        tepal_counting_repair(counting, &digest, NULL, 1, NULL, allocator, NULL, NULL);
    assert_int_equal(tepal_filter_equal(before, counting), status != TEPAL_OK);
    if (status == TEPAL_OK) {
        assert_ok(tepal_counting_remove_group(counting, digest, 0));
    }
    tepal_filter_free(before);
    return status;
}

static enum tepal_status offline_call(struct tepal_filter *counting,
                                      const struct tepal_allocator *allocator)
{
    struct tepal_digest digest = {1, 2};
    struct tepal_filter *before;
    uint8_t group = 0;
    assert_ok(tepal_filter_clone(counting, NULL, &before, NULL));
    enum tepal_status status =
        tepal_counting_add_offline(counting, &digest, 1, NULL, allocator, &group, NULL);
    assert_int_equal(tepal_filter_equal(before, counting), status != TEPAL_OK);
    if (status == TEPAL_OK) {
        assert_ok(tepal_counting_remove_group(counting, digest, group));
    }
    tepal_filter_free(before);
    return status;
}

static void every_request_for_memory(void **state)
{
    (void)state;
    for (int call = 0; call < 6; call++) {
        struct tepal_filter *filter = make(&pinned[0]);
        for (unsigned n = 1;; n++) {
            struct memory m = {.fail_at = n};
            struct tepal_allocator allocator = memory_allocator(&m);
            struct tepal_filter *out = NULL;
            struct tepal_filter *bloom = NULL;
            enum tepal_status status;
            switch (call) {
            case 0:
                status = tepal_counting_strip(filter, &allocator, &out, NULL);
                break;
            case 1:
                status = tepal_counting_to_bloom(filter, &allocator, &bloom, NULL);
                break;
            case 2:
                status = tepal_counting_difference(filter, filter, &allocator, &out, NULL, NULL);
                break;
            case 4:
                status = offline_call(filter, &allocator);
                break;
            case 3:
                status = repair_call(filter, &allocator);
                break;
            default:
                audit_call(filter, &allocator, &status);
                break;
            }
            tepal_filter_free(out);
            tepal_filter_free(bloom);
            assert_int_equal(m.live, 0);
            if (m.calls < n) {
                assert_int_equal(status, TEPAL_OK);
                assert_true(n > 2);
                break;
            }
            assert_int_equal(status, TEPAL_NO_MEMORY);
            assert_true(out == NULL && bloom == NULL);
        }
        tepal_filter_free(filter);
    }
}

static void nothing_else_allocates(void **state)
{
    (void)state;
    struct memory m = {0};
    struct tepal_allocator allocator = memory_allocator(&m);
    for (size_t i = 0; i < PINNED; i++) {
        struct tepal_filter *made = make(&pinned[i]);
        struct tepal_filter *filter;
        struct tepal_digest digests[100];
        uint8_t groups[100];
        uint64_t answers[2];
        uint8_t group;
        size_t removed;
        struct tepal_report report;
        assert_int_equal(tepal_filter_clone(made, &allocator, &filter, NULL), TEPAL_OK);
        unsigned before = m.calls;
        for (unsigned j = 0; j < 100; j++) {
            digests[j] = recipe_digest(filter, "more", j);
        }
        if (pinned[i].form != TEPAL_FORM_BITS) {
            assert_int_equal(tepal_counting_add(filter, digests[0], &group), TEPAL_OK);
            assert_int_equal(tepal_counting_remove_group(filter, digests[0], group), TEPAL_OK);
            assert_int_equal(tepal_counting_add_many(filter, digests, 100, groups), TEPAL_OK);
            assert_int_equal(
                tepal_counting_remove_many(filter, digests, groups, 100, answers, &removed),
                TEPAL_OK);
            assert_int_equal(removed, 100);
            assert_true(tepal_filter_equal(made, filter));
        }
        (void)tepal_filter_query_many(filter, digests, 100, answers);
        tepal_filter_info(filter, &report);
        assert_int_equal(tepal_filter_unite(filter, made), TEPAL_OK);
        assert_int_equal(tepal_filter_validate(filter, NULL), TEPAL_OK);
        assert_int_equal(m.calls, before);
        tepal_filter_free(filter);
        tepal_filter_free(made);
        assert_int_equal(m.live, 0);
    }
}

/* A mapped filter answers, and does not change. (Files can be mapped on little-endian machines.) */
static void a_view_is_read_only(void **state)
{
    (void)state;
    if (!LITTLE_ENDIAN_HOST) {
        skip();
    }
    for (size_t i = 0; i < PINNED; i++) {
        char path[4096];
        struct tepal_filter *view;
        struct tepal_filter *filter = make(&pinned[i]);
        size_t removed = 0;
        golden_path(path, sizeof path, pinned[i].name, ".tepal");
        assert_int_equal(tepal_map(path, 0, NULL, &view, NULL), TEPAL_OK);
        struct tepal_digest digest = recipe_digest(view, "golden", 7);
        uint8_t group = 99;
        uint8_t groups[1] = {99};
        for (unsigned j = 0; j < 1000; j++) {
            struct tepal_digest d = recipe_digest(view, "stranger", j);
            assert_int_equal(tepal_filter_query(view, d), tepal_filter_query(filter, d));
        }
        assert_int_equal(tepal_filter_add(view, digest), TEPAL_READ_ONLY);
        assert_int_equal(tepal_filter_add_many(view, &digest, 1), TEPAL_READ_ONLY);
        assert_int_equal(tepal_counting_add(view, digest, &group), TEPAL_READ_ONLY);
        assert_int_equal(tepal_counting_add_many(view, &digest, 1, groups), TEPAL_READ_ONLY);
        assert_true(group == 99 && groups[0] == 99);
        assert_int_equal(tepal_filter_remove(view, digest), TEPAL_READ_ONLY);
        assert_int_equal(tepal_counting_remove_group(view, digest, 0), TEPAL_READ_ONLY);
        assert_int_equal(tepal_counting_remove_many(view, &digest, NULL, 1, NULL, &removed),
                         TEPAL_READ_ONLY);
        tepal_filter_free(view);
        tepal_filter_free(filter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_files),
        cmocka_unit_test(disagreement_is_refused),
        cmocka_unit_test(every_request_for_memory),
        cmocka_unit_test(nothing_else_allocates),
        cmocka_unit_test(a_view_is_read_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
