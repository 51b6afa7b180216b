/*
 * filter_unit.c: the generic handle: the table of kinds, the gate that stops every bad parameter,
 * names, statuses, reports. What the kinds promise is in promises_unit.c.
 */
#include "check.h"

#include "base/checked.h"
#include "base/report.h"
#include "filter/kind.h"

static void the_table_of_kinds_is_consistent(void **state)
{
    (void)state;
    unsigned named = 0;
    assert_int_equal(tepal_kind_count(), TEPAL_KIND_CHAIN); /* the last: none may drop out */
    assert_null(tepal_kind_at(tepal_kind_count()));
    assert_null(tepal_kind_by_id(0));
    assert_null(tepal_kind_by_id(UINT32_MAX));
    assert_null(tepal_kind_by_name("blom"));
    for (size_t i = 0; i < tepal_kind_count(); i++) {
        const struct tepal_kind *kind = tepal_kind_at(i);
        assert_ptr_equal(tepal_kind_by_id((uint32_t)kind->id), kind);
        assert_ptr_equal(tepal_kind_by_name(kind->name), kind);
        assert_true(strlen(kind->summary) > 10);
        named |= kind->promises;
    }
    for (unsigned promise = 1; promise != 0; promise <<= 1) { /* each that is made has a name */
        assert_int_equal(tepal_promise_name(promise) != NULL, (named & promise) != 0);
    }
    assert_null(tepal_promise_name(TEPAL_DELETABLE | TEPAL_MERGEABLE));
    assert_string_equal(tepal_promise_name(TEPAL_DELETABLE), "deletable");
    assert_int_equal(TEPAL_KIND_BLOOM, 1); /* on disk: pinned */
}

static void the_gate_stops_bad_parameters(void **state)
{
    (void)state;
    struct tepal_params good = TEPAL_PARAMS_INIT;
    good.cells = 1024;
    good.hashes = 4;
    assert_ok(tepal_params_check(&good, NULL));
    for (int i = 0; i < 19; i++) {
        struct tepal_params p = good;
        enum tepal_status expected = TEPAL_BAD_PARAMETER;
        switch (i) {
        case 0:
            p.kind = (enum tepal_kind_id)99;
            expected = TEPAL_UNKNOWN_KIND;
            break;
        case 1:
            p.layout = (enum tepal_layout)4;
            break;
        case 2:
            p.positions = (enum tepal_positions)2;
            break;
        case 3:
            p.hash = (enum tepal_hash)3;
            break;
        case 4:
            p.hashes = 0;
            break;
        case 5:
            p.hashes = 65;
            break;
        case 6:
            p.cells = 0;
            break;
        case 7:
            p.cells = ((uint64_t)1 << 60) + 1;
            break;
        case 8:
            p.cells = UINT64_MAX;
            break;
        case 9:
            p.layout = TEPAL_LAYOUT_BLOCKED;
            p.cells = 1000;
            break;
        case 10:
            p.layout = TEPAL_LAYOUT_BLOCKED;
            p.hashes = 17;
            break;
        case 11:
            p.layout = TEPAL_LAYOUT_PAIRED;
            p.cells = 513;
            break;
        case 12:
            p.layout = TEPAL_LAYOUT_PAIRED;
            p.hashes = 33;
            break;
        case 13:
            p.layout = TEPAL_LAYOUT_PAIRED;
            p.positions = TEPAL_POSITIONS_DISTINCT;
            p.cells = 512;
            break;
        case 14:
            p.layout = TEPAL_LAYOUT_PARTITIONED;
            p.cells = 3;
            break;
        case 15:
            p.positions = TEPAL_POSITIONS_DISTINCT;
            p.cells = 3;
            break;
        case 16:
            p.key_check = 1;
            break;
        case 17:
            p.own[7] = 1;
            break;
        default:
            p.layout = (enum tepal_layout) - 1;
            break;
        }
        struct tepal_error error = {.why = NULL};
        assert_int_equal(tepal_params_check(&p, &error), expected);
        assert_non_null(error.why);
        assert_true(strlen(error.why) > 10);
        struct tepal_filter *untouched = (struct tepal_filter *)&good;
        struct tepal_filter *f = untouched;
        assert_int_equal(tepal_filter_create(&p, NULL, &f, NULL), expected);
        assert_ptr_equal(f, untouched);
    }
    /* 2^60 bits pass the gate, and then there is not so much memory */
    struct tepal_params huge = good;
    huge.cells = (uint64_t)1 << 60;
    assert_ok(tepal_params_check(&huge, NULL));
    assert_true(tepal_params_cell_bytes(&huge) == (uint64_t)1 << 57);
}

static void statuses_are_pinned_and_have_messages(void **state)
{
    (void)state;
    assert_int_equal(TEPAL_OK, 0);
    assert_int_equal(TEPAL_NO_MEMORY, 1);
    assert_int_equal(TEPAL_BAD_ARGUMENT, 2);
    assert_int_equal(TEPAL_TOO_LARGE, 3);
    assert_int_equal(TEPAL_UNSUPPORTED, 4);
    assert_int_equal(TEPAL_MISMATCH, 5);
    assert_int_equal(TEPAL_KEY_NEEDED, 6);
    assert_int_equal(TEPAL_WRONG_KEY, 7);
    assert_int_equal(TEPAL_NOT_A_FILTER, 8);
    assert_int_equal(TEPAL_BAD_VERSION, 9);
    assert_int_equal(TEPAL_UNKNOWN_KIND, 10);
    assert_int_equal(TEPAL_BAD_PARAMETER, 11);
    assert_int_equal(TEPAL_BAD_CHECKSUM, 12);
    assert_int_equal(TEPAL_BAD_LENGTH, 13);
    assert_int_equal(TEPAL_CORRUPT, 14);
    assert_int_equal(TEPAL_IO, 15);
    assert_int_equal(TEPAL_READ_ONLY, 16);
    assert_int_equal(TEPAL_NOT_REGULAR, 17);
    assert_int_equal(TEPAL_NOT_PRESENT, 18);
    assert_int_equal(TEPAL_FULL, 19);
    for (int i = 0; i <= 19; i++) {
        assert_string_not_equal(tepal_status_name((enum tepal_status)i), "UNKNOWN");
        assert_true(strlen(tepal_status_message((enum tepal_status)i)) > 3);
    }
    assert_string_equal(tepal_status_name((enum tepal_status)999), "UNKNOWN");
    assert_string_equal(tepal_version(), TEPAL_VERSION);
}

static void arithmetic_says_when_it_does_not_fit(void **state)
{
    (void)state;
    uint64_t x = 7;
    assert_false(checked_add(UINT64_MAX, 1, &x));
    assert_false(checked_mul(UINT64_MAX / 2 + 1, 2, &x));
    assert_false(checked_mul((uint64_t)1 << 32, (uint64_t)1 << 32, &x));
    assert_int_equal(x, 7);
    assert_true(checked_add(UINT64_MAX, 0, &x) && x == UINT64_MAX);
    assert_true(checked_mul(UINT64_MAX, 1, &x) && x == UINT64_MAX);
    assert_true(checked_mul(0, UINT64_MAX, &x) && x == 0);
    assert_true(saturating_add(UINT64_MAX - 1, 5) == UINT64_MAX);
    assert_true(saturating_add(2, 5) == 7);
}

static void names_parse_back(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        enum tepal_layout layout = (enum tepal_layout)99;
        assert_true(tepal_layout_parse(tepal_layout_name((enum tepal_layout)i), &layout));
        assert_int_equal(layout, i);
    }
    for (int i = 0; i < 2; i++) {
        enum tepal_positions positions = (enum tepal_positions)99;
        assert_true(
            tepal_positions_parse(tepal_positions_name((enum tepal_positions)i), &positions));
        assert_int_equal(positions, i);
    }
    for (int i = 0; i < 3; i++) {
        enum tepal_hash hash = (enum tepal_hash)99;
        assert_true(tepal_hash_parse(tepal_hash_name((enum tepal_hash)i), &hash));
        assert_int_equal(hash, i);
    }
    /* As the command and JSON have them: these never change. */
    assert_string_equal(tepal_layout_name(TEPAL_LAYOUT_FLAT), "flat");
    assert_string_equal(tepal_layout_name(TEPAL_LAYOUT_PARTITIONED), "partitioned");
    assert_string_equal(tepal_layout_name(TEPAL_LAYOUT_BLOCKED), "blocked");
    assert_string_equal(tepal_layout_name(TEPAL_LAYOUT_PAIRED), "paired");
    assert_string_equal(tepal_positions_name(TEPAL_POSITIONS_COLLIDING), "colliding");
    assert_string_equal(tepal_positions_name(TEPAL_POSITIONS_DISTINCT), "distinct");
    assert_string_equal(tepal_hash_name(TEPAL_HASH_XXH3), "xxh3-128");
    assert_string_equal(tepal_hash_name(TEPAL_HASH_SIPHASH), "siphash-128");
    assert_string_equal(tepal_hash_name(TEPAL_HASH_SIPHASH13), "siphash13-128");
    assert_string_equal(tepal_layout_name((enum tepal_layout)9), "unknown");
    assert_string_equal(tepal_positions_name((enum tepal_positions)9), "unknown");
    assert_string_equal(tepal_hash_name((enum tepal_hash)9), "unknown");
}

static void unknown_names_leave_the_value_alone(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",     "unknown", "flatt",       "fla",
                                        "Flat", "md5",     "siphash-128 "};
    enum tepal_layout layout = TEPAL_LAYOUT_PAIRED;
    enum tepal_positions positions = TEPAL_POSITIONS_DISTINCT;
    enum tepal_hash hash = TEPAL_HASH_SIPHASH;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        assert_false(tepal_layout_parse(wrong[i], &layout));
        assert_false(tepal_positions_parse(wrong[i], &positions));
        assert_false(tepal_hash_parse(wrong[i], &hash));
    }
    assert_int_equal(layout, TEPAL_LAYOUT_PAIRED);
    assert_int_equal(positions, TEPAL_POSITIONS_DISTINCT);
    assert_int_equal(hash, TEPAL_HASH_SIPHASH);
}

/* A key is the same key in every form in which it is given, on every kind that needs no plan. */
static void keys_have_many_forms(void **state)
{
    (void)state;
    static const enum tepal_kind_id kinds[] = {TEPAL_KIND_BLOOM, TEPAL_KIND_GENERALIZED,
                                               TEPAL_KIND_COUNTING, TEPAL_KIND_FINGERPRINT};
    static const char *const keys[] = {"a", "", "tepal", "a longer key than the others"};
    const size_t lens[] = {1, 0, 5, 28};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        struct tepal_filter *f;
        struct tepal_filter *g;
        struct tepal_hasher hasher;
        struct tepal_digest digests[COUNT(keys)];
        uint64_t answers[1] = {UINT64_MAX};
        bool seen = true;
        assert_ok(tepal_filter_create_for_rate(kinds[i], 1000, 1e-6, 5, &f, NULL));
        assert_ok(tepal_filter_clone(f, NULL, &g, NULL));
        assert_ok(tepal_filter_hasher(f, &hasher));
        tepal_hash_bytes_many(&hasher, (const void *const *)keys, lens, COUNT(keys), digests);
        assert_int_equal(
            tepal_filter_query_bytes_many(f, (const void *const *)keys, lens, COUNT(keys), answers),
            0);
        assert_int_equal(answers[0], 0);
        assert_ok(tepal_filter_add_bytes_many(f, (const void *const *)keys, lens, COUNT(keys)));
        for (size_t k = 0; k < COUNT(keys); k++) {
            struct tepal_digest one = tepal_hash_bytes(&hasher, keys[k], lens[k]);
            assert_memory_equal(&digests[k], &one, sizeof one);
            assert_true(tepal_filter_query(f, one));
            assert_true(tepal_filter_query_bytes(f, keys[k], lens[k]));
            assert_ok(tepal_filter_test_add_bytes(g, keys[k], lens[k], &seen));
            assert_false(seen);
        }
        assert_true(tepal_filter_equal(f, g));
        assert_int_equal(
            tepal_filter_query_bytes_many(f, (const void *const *)keys, lens, COUNT(keys), answers),
            COUNT(keys));
        assert_int_equal(answers[0], 15);
        assert_ok(tepal_filter_test_add_u64(f, 77, &seen));
        assert_false(seen);
        assert_ok(tepal_filter_test_add_u64(f, 77, &seen));
        assert_true(seen);
        bool deletable = (tepal_filter_kind(f)->promises & TEPAL_DELETABLE) != 0;
        enum tepal_status expected = deletable ? TEPAL_OK : TEPAL_UNSUPPORTED;
        assert_int_equal(tepal_filter_remove_u64(f, 77), expected);
        assert_int_equal(tepal_filter_remove_u64(f, 77), expected);
        assert_int_equal(tepal_filter_remove_bytes(f, "tepal", 5), expected);
        assert_int_equal(tepal_filter_query_u64(f, 77), !deletable);
        assert_int_equal(tepal_filter_query_bytes(f, "tepal", 5), !deletable);
        /* the summary tells what the info tells, and less of it */
        struct tepal_report summary;
        struct tepal_report info;
        tepal_filter_summary(f, &summary);
        tepal_filter_info(f, &info);
        assert_true(summary.count > 5 && summary.count < info.count);
        assert_null(tepal_report_find(&summary, "fp_now"));
        assert_true(check_number(&summary, "keys_added") == check_number(&info, "keys_added"));
        tepal_filter_free(f);
        tepal_filter_free(g);
    }
}

/* What validate is for: cells beyond the last one. */
static void validate_sees_cells_beyond_the_last(void **state)
{
    (void)state;
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.cells = 70;
    params.hashes = 2;
    struct tepal_filter *f;
    assert_ok(tepal_filter_create(&params, NULL, &f, NULL));
    assert_ok(tepal_filter_validate(f, NULL));
    f->words[1] |= (uint64_t)1 << 5;
    assert_ok(tepal_filter_validate(f, NULL));
    f->words[1] |= (uint64_t)1 << 6;
    struct tepal_error error = {.why = NULL};
    assert_int_equal(tepal_filter_validate(f, &error), TEPAL_CORRUPT);
    assert_non_null(error.why);
    tepal_filter_free(f);
    tepal_filter_free(NULL);
}

static void a_report_never_overflows(void **state)
{
    (void)state;
    struct tepal_report report;
    report.count = 0;
    for (int i = 0; i < 2 * TEPAL_MAX_QUANTITIES; i++) {
        tepal_report_real(&report, "x", "a number", i == 0 ? HUGE_VAL : (double)i);
    }
    assert_int_equal(report.count, TEPAL_MAX_QUANTITIES);
    assert_int_equal(report.item[0].type, TEPAL_QUANTITY_ABSENT);
    assert_int_equal(report.item[1].type, TEPAL_QUANTITY_REAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_of_kinds_is_consistent),
        cmocka_unit_test(the_gate_stops_bad_parameters),
        cmocka_unit_test(statuses_are_pinned_and_have_messages),
        cmocka_unit_test(arithmetic_says_when_it_does_not_fit),
        cmocka_unit_test(names_parse_back),
        cmocka_unit_test(unknown_names_leave_the_value_alone),
        cmocka_unit_test(keys_have_many_forms),
        cmocka_unit_test(validate_sees_cells_beyond_the_last),
        cmocka_unit_test(a_report_never_overflows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
