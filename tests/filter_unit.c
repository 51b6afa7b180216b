/*
 * filter_unit.c: the generic handle: the table of kinds, the gate that stops every bad parameter,
 * names, statuses, reports. What the kinds promise is in promises_unit.c.
 */
#include "check.h"

#include "base/checked.h"
#include "filter/kind.h"

static void the_table_of_kinds_is_consistent(void **state)
{
    (void)state;
    assert_int_equal(tepal_kind_count(), TEPAL_KIND_CASCADE); /* the last: none may drop out */
    assert_null(tepal_kind_at(tepal_kind_count()));
    assert_null(tepal_kind_by_id(0));
    assert_null(tepal_kind_by_id(UINT32_MAX));
    assert_null(tepal_kind_by_name("blom"));
    for (size_t i = 0; i < tepal_kind_count(); i++) {
        const struct tepal_kind *kind = tepal_kind_at(i);
        assert_ptr_equal(tepal_kind_by_id((uint32_t)kind->id), kind);
        assert_ptr_equal(tepal_kind_by_name(kind->name), kind);
        assert_true(strlen(kind->summary) > 10);
    }
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
            p.hash = (enum tepal_hash)2;
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
        const char *why = NULL;
        assert_int_equal(tepal_params_check(&p, &why), expected);
        assert_non_null(why);
        assert_true(strlen(why) > 10);
        struct tepal_filter *untouched = (struct tepal_filter *)&good;
        struct tepal_filter *f = untouched;
        assert_int_equal(tepal_filter_create(&p, NULL, &f, NULL), expected);
        assert_ptr_equal(f, untouched);
    }
    /* 2^60 bits pass the gate, and then there is not so much memory */
    struct tepal_params huge = good;
    huge.cells = (uint64_t)1 << 60;
    assert_ok(tepal_params_check(&huge, NULL));
    assert_true(tepal_params_payload_bytes(&huge) == (uint64_t)1 << 57);
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
        assert_string_not_equal(tepal_hash_name((enum tepal_hash)i), "unknown");
    }
    enum tepal_layout layout = TEPAL_LAYOUT_PAIRED;
    assert_false(tepal_layout_parse("flatt", &layout));
    assert_int_equal(layout, TEPAL_LAYOUT_PAIRED);
    assert_string_equal(tepal_layout_name((enum tepal_layout)9), "unknown");
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
    assert_ok(tepal_validate(f, NULL));
    f->words[1] |= (uint64_t)1 << 5;
    assert_ok(tepal_validate(f, NULL));
    f->words[1] |= (uint64_t)1 << 6;
    const char *why = NULL;
    assert_int_equal(tepal_validate(f, &why), TEPAL_CORRUPT);
    assert_non_null(why);
    tepal_filter_free(f);
    tepal_filter_free(NULL);
}

static void a_report_never_overflows(void **state)
{
    (void)state;
    struct tepal_report report;
    report.count = 0;
    for (int i = 0; i < 2 * TEPAL_REPORT_MAX; i++) {
        tepal_report_real(&report, "x", "a number", i == 0 ? HUGE_VAL : (double)i);
    }
    assert_int_equal(report.count, TEPAL_REPORT_MAX);
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
        cmocka_unit_test(validate_sees_cells_beyond_the_last),
        cmocka_unit_test(a_report_never_overflows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
