/*
 * size_unit.c: parameters from a wish. What tepal_params_for_rate gives keeps the rate, by the
 * model of its kind, and one step smaller does not; what tepal_params_for_bits gives fits, and no
 * other number of hashes is better.
 */
#include <tepal/papers.h>

#include "check.h"

#include <inttypes.h>

static const double rates[] = {0.3, 0.05, 0.01, 0.0009};
static const uint64_t keys[] = {1, 10, 1000, 123457};

static struct tepal_params of_kind(enum tepal_kind_id kind, enum tepal_layout layout,
                                   enum tepal_positions positions)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.kind = kind;
    p.layout = layout;
    p.positions = positions;
    p.seed = 5;
    return p;
}

/*
 * By the model; NaN for what cannot be a filter. A retouched filter begins as a Bloom filter, and a
 * counting filter of one choice that is not in lines has the positions of one. (The model of
 * counting filters tells the paper's rate there, which is slightly too low.)
 */
static double rate_of(const struct tepal_params *params, uint64_t n)
{
    struct tepal_params p = *params;
    struct tepal_use use = TEPAL_USE_INIT;
    struct tepal_report report;
    if (p.kind == TEPAL_KIND_RETOUCHED ||
        (p.kind == TEPAL_KIND_COUNTING && !tepal_layout_in_lines(p.layout))) {
        memset(p.own, 0, sizeof p.own);
        p.kind = TEPAL_KIND_BLOOM;
    }
    use.keys = n;
    return tepal_model(&p, &use, &report, NULL) == TEPAL_OK ? check_number(&report, "fp") : NAN;
}

static uint64_t step_of(const struct tepal_params *p)
{
    bool in_short = p->kind == TEPAL_KIND_COUNTING && p->counting.lines == TEPAL_LINES_SHORT;
    uint64_t cells = in_short ? TEPAL_COUNTING_LINE_CELLS : TEPAL_LINE_BITS;
    return tepal_layout_in_lines(p->layout) ? cells : 1;
}

/* Does no smaller filter of these hashes (0: of any) keep the rate? */
static void check_smallest(const struct tepal_params *p, uint64_t n, double fp, uint32_t hashes)
{
    struct tepal_params less = *p;
    if (p->cells <= step_of(p)) {
        return;
    }
    less.cells -= step_of(p);
    uint32_t from = hashes != 0 ? hashes : p->hashes > 3 ? p->hashes - 3 : 1;
    uint32_t to = hashes != 0 ? hashes : p->hashes + 3; /* the rate has one valley */
    for (uint32_t k = from; k <= to; k++) {
        less.hashes = k;
        double rate = rate_of(&less, n);
        if (rate <= fp * (1 - 1e-9)) {
            fail_msg("%s %s %s, n %" PRIu64 ", fp %g: %" PRIu64 " cells and %" PRIu32
                     " hashes do: %.17g",
                     tepal_kind_by_id((uint32_t)p->kind)->name, tepal_layout_name(p->layout),
                     tepal_positions_name(p->positions), n, fp, less.cells, k, rate);
        }
    }
}

static void check_for_rate(const struct tepal_params *start, uint64_t n, double fp)
{
    struct tepal_params p = *start;
    struct tepal_filter *f = NULL;
    struct tepal_error error = {.system = 99};
    assert_ok(tepal_params_for_rate(&p, n, fp, &error));
    assert_int_equal(error.system, 99);
    assert_int_equal(p.capacity, n);
    assert_true(p.kind == start->kind && p.layout == start->layout &&
                p.positions == start->positions && p.seed == start->seed);
    assert_true(start->hashes == 0 || p.hashes == start->hashes);
    assert_ok(tepal_params_check(&p, NULL));
    assert_true(rate_of(&p, n) <= fp * (1 + 1e-9));
    check_smallest(&p, n, fp, start->hashes);
    assert_ok(tepal_filter_create(&p, NULL, &f, NULL));
    tepal_filter_free(f);
}

static void smallest_bit_and_counting_filters(void **unused)
{
    static const enum tepal_kind_id kinds[] = {TEPAL_KIND_BLOOM, TEPAL_KIND_RETOUCHED,
                                               TEPAL_KIND_COUNTING};
    (void)unused;
    for (size_t i = 0; i < 8 * COUNT(kinds); i++) {
        struct tepal_params p =
            of_kind(kinds[i / 8], (enum tepal_layout)(i % 8 / 2), (enum tepal_positions)(i % 2));
        for (size_t r = 0; r < COUNT(rates); r++) {
            bool lined = p.kind == TEPAL_KIND_COUNTING && tepal_layout_in_lines(p.layout);
            if (lined) {
                p.counting.lines = r % 2; /* short, long */
            }
            p.hashes = 0;
            check_for_rate(&p, keys[(i + r) % COUNT(keys)], rates[r]);
            p.hashes = 3;
            check_for_rate(&p, 1000, rates[r]);
        }
    }
}

/* That the rates are kept is measured in counting_stat.c. */
static void counting_has_one_choice_or_more(void **unused)
{
    struct tepal_params p =
        of_kind(TEPAL_KIND_COUNTING, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING);
    (void)unused;
    assert_ok(tepal_params_for_rate(&p, 1000, 0.01, NULL));
    assert_int_equal(p.counting.choices, 1);
    const uint64_t one = p.cells;
    for (int layout = TEPAL_LAYOUT_FLAT; layout <= TEPAL_LAYOUT_BLOCKED; layout++) {
        for (uint64_t lines = 0; lines <= (layout == TEPAL_LAYOUT_BLOCKED); lines++) {
            p = of_kind(TEPAL_KIND_COUNTING, (enum tepal_layout)layout, TEPAL_POSITIONS_COLLIDING);
            p.counting.choices = 4;
            p.counting.lines = lines;
            assert_ok(tepal_params_for_rate(&p, 1000, 0.01, NULL));
            assert_int_equal(p.counting.rule, tepal_counting_default_rule(p.layout, 4));
            assert_true(p.cells > one && p.cells < 2 * one && p.capacity == 1000);
            double fp = tepal_counting_choices_rate(&p, 1000);
            assert_true(fp <= 0.01 && fp > 0.008);
            /* A capacity from a file is any number, and must not take long. */
            fp = tepal_counting_choices_rate(&p, 8 * p.cells);
            assert_true(fp > 0.5 && fp <= 1);
            fp = tepal_counting_choices_rate(&p, UINT64_MAX);
            assert_true(fp > 0.9 && fp <= 1);
            uint32_t best = p.hashes;
            uint64_t cells = p.cells;
            p.hashes = best - 2; /* given: kept, and no better */
            assert_ok(tepal_params_for_rate(&p, 1000, 0.01, NULL));
            assert_true(p.hashes == best - 2 && p.cells >= cells);
            assert_int_equal(tepal_params_for_bits(&p, 1000, 10000, NULL), TEPAL_UNSUPPORTED);
        }
    }
    p = of_kind(TEPAL_KIND_COUNTING, TEPAL_LAYOUT_PAIRED, TEPAL_POSITIONS_COLLIDING);
    p.counting.choices = 2;
    struct tepal_params before = p;
    assert_int_equal(tepal_params_for_rate(&p, 1000, 0.01, NULL), TEPAL_UNSUPPORTED);
    assert_memory_equal(&p, &before, sizeof p);
    assert_true(isnan(tepal_counting_choices_rate(&p, 1000)));
    assert_int_equal(tepal_counting_choices_size(&p, 1000, 0.01), TEPAL_UNSUPPORTED);
    p.layout = TEPAL_LAYOUT_FLAT;
    p.counting.choices = 65;
    assert_int_not_equal(tepal_params_for_rate(&p, 1000, 0.01, NULL), TEPAL_OK);
    /* A wide counter takes nine bits. */
    p = of_kind(TEPAL_KIND_COUNTING, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING);
    p.counting.form = TEPAL_FORM_WIDE_COUNTERS;
    assert_ok(tepal_params_for_bits(&p, 1000, 90000, NULL));
    assert_int_equal(p.cells, 10000);
}

/* There is room for the keys: all of them are taken, and found, at that rate. */
static void check_fingerprint(const struct tepal_params *p, uint64_t n)
{
    struct tepal_filter *f = NULL;
    uint64_t state = n;
    assert_int_equal(p->capacity, n);
    assert_ok(tepal_filter_create(p, NULL, &f, NULL));
    for (uint64_t i = 0; i < n; i++) {
        assert_ok(tepal_filter_add(f, check_digest(&state)));
    }
    state = n;
    for (uint64_t i = 0; i < n; i++) {
        assert_true(tepal_filter_query(f, check_digest(&state)));
    }
    tepal_filter_free(f);
}

static void fingerprints_have_room(void **unused)
{
    (void)unused;
    for (size_t r = 0; r < COUNT(rates); r++) {
        for (size_t i = 0; i < 3; i++) {
            struct tepal_params p =
                of_kind(TEPAL_KIND_FINGERPRINT, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING);
            assert_ok(tepal_params_for_rate(&p, keys[i], rates[r], NULL));
            assert_true(rate_of(&p, keys[i]) <= rates[r] * (1 + 1e-9));
            check_fingerprint(&p, keys[i]);
            uint64_t bits = p.fingerprint.bits;
            uint64_t cells = p.cells;
            p.fingerprint.bits = bits + 3;
            assert_ok(tepal_params_for_rate(&p, keys[i], rates[r], NULL));
            assert_int_equal(p.fingerprint.bits, bits + 3);
            assert_true(p.cells > cells);
            check_fingerprint(&p, keys[i]);
        }
    }
}

/* Both rates, whoever fills the filter and however old the key; one step smaller forgets more. */
static void check_generalized(const struct tepal_params *start, uint64_t n, double fp)
{
    struct tepal_params p = *start;
    struct tepal_generalized_errors errors;
    assert_ok(tepal_params_for_rate(&p, n, fp, NULL));
    assert_true(start->hashes == 0 || p.hashes == start->hashes);
    assert_true(tepal_params_fp_bound(&p) <= fp);
    assert_ok(tepal_generalized_rates(&p, n, NULL, 0, NULL, &errors));
    assert_true(errors.fp <= fp && errors.fn <= fp && errors.fn_bound <= fp * 1.001);
    assert_true(p.generalized.tolerance < p.generalized.reset_hashes);
    p.cells -= p.cells / 50 > step_of(&p) ? p.cells / 50 / step_of(&p) * step_of(&p) : step_of(&p);
    assert_ok(tepal_generalized_rates(&p, n, NULL, 0, NULL, &errors));
    assert_true(errors.fn_bound > fp * 0.999);
}

static void generalized_keeps_both_rates(void **unused)
{
    struct tepal_params p =
        of_kind(TEPAL_KIND_GENERALIZED, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING);
    (void)unused;
    for (size_t r = 0; r < COUNT(rates); r++) {
        check_generalized(&p, 1000, rates[r]);
    }
    p.hashes = 20;
    check_generalized(&p, 1000, 0.05);
    p.generalized.reset_hashes = 8;
    p.generalized.tolerance = 4;
    check_generalized(&p, 1000, 0.05);
    p.layout = TEPAL_LAYOUT_BLOCKED;
    p.hashes = 0;
    check_generalized(&p, 1000, 0.3);
    check_generalized(&p, 10000, 0.05);
    memset(p.own, 0, sizeof p.own);
    p.hashes = 6;
    check_generalized(&p, 10000, 0.05);
}

static void recycling_keeps_the_average(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < 4 * COUNT(rates); i++) {
        double fp = rates[i / 4];
        struct tepal_params p =
            of_kind(TEPAL_KIND_RECYCLING, (enum tepal_layout)(i % 4), TEPAL_POSITIONS_COLLIDING);
        struct tepal_use use = TEPAL_USE_INIT;
        struct tepal_report report;
        p.cells = 16 * 512;
        if (i % 3 == 0) {
            p.recycling.phases = 3;
        }
        assert_ok(tepal_params_for_rate(&p, 0, fp, NULL));
        assert_int_equal(p.cells, 16 * 512);
        assert_int_equal(p.recycling.phases, i % 3 == 0 ? 3 : 2);
        assert_int_equal(p.recycling.flags, i % 3 == 0 ? 0 : TEPAL_RECYCLING_RETAIN);
        assert_ok(tepal_model(&p, &use, &report, NULL));
        assert_true(check_number(&report, "fp_average") <= fp * (1 + 1e-9));
        p.recycling.limit++; /* one bit more is too many */
        if (p.recycling.limit < p.cells) {
            assert_ok(tepal_model(&p, &use, &report, NULL));
            assert_true(check_number(&report, "fp_average") > fp * (1 - 1e-9));
        }
        p.recycling.rule = TEPAL_RECYCLING_COUNT;
        assert_int_equal(tepal_params_for_rate(&p, 0, fp, NULL), TEPAL_BAD_ARGUMENT);
    }
}

/* ---- by bits --------------------------------------------------------------------------------- */

static void check_for_bits(const struct tepal_params *start, uint64_t n, uint64_t bits)
{
    struct tepal_params p = *start;
    uint64_t each = p.kind == TEPAL_KIND_COUNTING ? 5 : 1;
    assert_ok(tepal_params_for_bits(&p, n, bits, NULL));
    assert_int_equal(p.capacity, n);
    assert_ok(tepal_params_check(&p, NULL));
    assert_true(p.cells * each <= bits && (p.cells + step_of(&p)) * each > bits);
    if (start->hashes != 0) {
        assert_int_equal(p.hashes, start->hashes);
        return;
    }
    double best = rate_of(&p, n);
    for (uint32_t k = 1; k <= 16; k++) {
        struct tepal_params other = p;
        other.hashes = k;
        assert_false(rate_of(&other, n) < best * (1 - 1e-9));
    }
}

static void as_good_as_the_bits_allow(void **unused)
{
    static const enum tepal_kind_id kinds[] = {TEPAL_KIND_BLOOM, TEPAL_KIND_RETOUCHED,
                                               TEPAL_KIND_COUNTING};
    (void)unused;
    for (size_t i = 0; i < 8 * COUNT(kinds); i++) {
        struct tepal_params p =
            of_kind(kinds[i / 8], (enum tepal_layout)(i % 8 / 2), (enum tepal_positions)(i % 2));
        for (uint64_t bits = 8000; bits < 40000; bits = bits * 2 + 77) {
            p.hashes = 0;
            check_for_bits(&p, 1000, bits);
            p.hashes = 4;
            check_for_bits(&p, 1000, bits);
        }
    }
    for (uint64_t bits = 8000; bits < 40000; bits = bits * 2 + 77) {
        struct tepal_params p =
            of_kind(TEPAL_KIND_FINGERPRINT, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING);
        assert_ok(tepal_params_for_bits(&p, 1000, bits, NULL));
        assert_true(p.cells < bits + 8 * p.fingerprint.bits);
        check_fingerprint(&p, 1000);
    }
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void check_refused(const struct tepal_params *start, uint64_t n, double fp,
                          enum tepal_status expected)
{
    struct tepal_params p = *start;
    struct tepal_error error = {TEPAL_OK, 99, 99, NULL};
    assert_int_equal(tepal_params_for_rate(&p, n, fp, &error), expected);
    assert_memory_equal(&p, start, sizeof p);
    assert_int_equal(error.status, expected);
    assert_true(error.system == 0 && error.offset == 0 && error.why != NULL);
    assert_int_equal(tepal_params_for_rate(&p, n, fp, NULL), expected);
}

static void check_refused_bits(const struct tepal_params *start, uint64_t n, uint64_t bits,
                               enum tepal_status expected)
{
    struct tepal_params p = *start;
    struct tepal_error error = {TEPAL_OK, 99, 99, NULL};
    assert_int_equal(tepal_params_for_bits(&p, n, bits, &error), expected);
    assert_memory_equal(&p, start, sizeof p);
    assert_int_equal(error.status, expected);
    assert_true(error.system == 0 && error.offset == 0 && error.why != NULL);
    assert_int_equal(tepal_params_for_bits(&p, n, bits, NULL), expected);
}

/* The floor, and what it comes from: two digests that no filter tells apart. */
static void rates_that_digests_cannot_keep_are_refused(void **unused)
{
    static const enum tepal_kind_id kinds[] = {TEPAL_KIND_BLOOM, TEPAL_KIND_RETOUCHED,
                                               TEPAL_KIND_COUNTING};
    (void)unused;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        struct tepal_params p = of_kind(kinds[i], TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING);
        check_refused(&p, 1000, 1e-60, TEPAL_BAD_ARGUMENT);
        check_refused(&p, 1000, 999 * TEPAL_MIN_RATE, TEPAL_BAD_ARGUMENT);
        assert_ok(tepal_params_for_rate(&p, 1000, 1000 * TEPAL_MIN_RATE, NULL));
        uint64_t state = 71;
        struct tepal_filter *f = NULL;
        assert_ok(tepal_filter_create(&p, NULL, &f, NULL));
        for (int key = 0; key < 1000; key++) {
            struct tepal_digest d = check_digest(&state);
            assert_ok(tepal_filter_add(f, d));
            d.hi ^= 1;
            assert_true(tepal_filter_query(f, d));
        }
        tepal_filter_free(f);
    }
    struct tepal_params p =
        of_kind(TEPAL_KIND_RECYCLING, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING);
    p.cells = 65536;
    check_refused(&p, 0, 2 * TEPAL_MIN_RATE, TEPAL_BAD_ARGUMENT);
}

static void bad_wishes_change_nothing(void **unused)
{
    struct tepal_params p = of_kind(TEPAL_KIND_BLOOM, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING);
    (void)unused;
    p.cells = 12345;
    check_refused(&p, 0, 0.01, TEPAL_BAD_ARGUMENT);
    check_refused(&p, 1000, 0, TEPAL_BAD_ARGUMENT);
    check_refused(&p, 1000, 1, TEPAL_BAD_ARGUMENT);
    check_refused(&p, 1000, -0.1, TEPAL_BAD_ARGUMENT);
    check_refused(&p, 1000, NAN, TEPAL_BAD_ARGUMENT);
    check_refused(&p, UINT64_MAX, 0.01, TEPAL_TOO_LARGE);
    check_refused_bits(&p, 0, 1000, TEPAL_BAD_ARGUMENT);
    check_refused_bits(&p, 1000, 0, TEPAL_BAD_PARAMETER);
    check_refused_bits(&p, 1000, UINT64_MAX, TEPAL_TOO_LARGE);
    p.hashes = 1000;
    check_refused_bits(&p, 1000, 10000, TEPAL_BAD_PARAMETER);
    check_refused(&p, 1000, 0.01, TEPAL_BAD_ARGUMENT);
    p.hashes = 0;
    p.kind = TEPAL_KIND_YESNO;
    check_refused(&p, 1000, 0.01, TEPAL_UNSUPPORTED);
    check_refused_bits(&p, 1000, 10000, TEPAL_UNSUPPORTED);
    p.kind = TEPAL_KIND_CASCADE;
    check_refused(&p, 1000, 0.01, TEPAL_UNSUPPORTED);
    check_refused_bits(&p, 1000, 10000, TEPAL_UNSUPPORTED);
    p.kind = TEPAL_KIND_RECYCLING;
    check_refused_bits(&p, 1000, 10000, TEPAL_UNSUPPORTED);
    p.kind = TEPAL_KIND_GENERALIZED;
    check_refused(&p, UINT64_C(1) << 58, 0.01, TEPAL_TOO_LARGE);
    check_refused(&p, 1000, 1e-25, TEPAL_BAD_ARGUMENT); /* 64 hashes are not enough */
    p.hashes = 2;
    check_refused(&p, 1000, 0.01, TEPAL_BAD_ARGUMENT);
    p.hashes = 100;
    check_refused(&p, 1000, 0.01, TEPAL_BAD_ARGUMENT);
    p.hashes = 0;
    p.layout = TEPAL_LAYOUT_BLOCKED;
    check_refused(&p, 1000, 0.01, TEPAL_BAD_ARGUMENT); /* nor are 8 in a line */
    p.layout = TEPAL_LAYOUT_PAIRED;
    check_refused(&p, 1000, 0.01, TEPAL_BAD_PARAMETER);
    p.layout = TEPAL_LAYOUT_FLAT;
    p.kind = TEPAL_KIND_FINGERPRINT;
    check_refused(&p, UINT64_C(1) << 40, 0.01, TEPAL_TOO_LARGE);
    check_refused(&p, 1000, 1e-12, TEPAL_BAD_ARGUMENT);
    check_refused_bits(&p, 1000, 3000, TEPAL_BAD_ARGUMENT);
    p.layout = TEPAL_LAYOUT_BLOCKED;
    check_refused(&p, 1000, 0.01, TEPAL_BAD_PARAMETER);
    p.kind = (enum tepal_kind_id)99;
    check_refused(&p, 1000, 0.01, TEPAL_UNKNOWN_KIND);
    check_refused_bits(&p, 1000, 10000, TEPAL_UNKNOWN_KIND);
}

static void created_for_a_rate(void **unused)
{
    static const enum tepal_kind_id kinds[] = {TEPAL_KIND_BLOOM, TEPAL_KIND_RETOUCHED,
                                               TEPAL_KIND_GENERALIZED, TEPAL_KIND_COUNTING,
                                               TEPAL_KIND_FINGERPRINT};
    static const enum tepal_kind_id others[] = {TEPAL_KIND_YESNO, TEPAL_KIND_CASCADE,
                                                TEPAL_KIND_RECYCLING};
    struct tepal_filter *f = NULL;
    struct tepal_error error = {.system = 99};
    (void)unused;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        struct tepal_params p = of_kind(kinds[i], TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING);
        assert_ok(tepal_params_for_rate(&p, 1000, 0.02, NULL));
        assert_ok(tepal_filter_create_for_rate(kinds[i], 1000, 0.02, 5, &f, &error));
        assert_int_equal(error.system, 99);
        assert_memory_equal(tepal_filter_params(f), &p, sizeof p);
        assert_int_equal(tepal_filter_keys_added(f), 0);
        tepal_filter_free(f);
    }
    f = NULL;
    for (size_t i = 0; i < COUNT(others); i++) {
        enum tepal_status status =
            tepal_filter_create_for_rate(others[i], 1000, 0.02, 5, &f, &error);
        assert_true(status != TEPAL_OK && status == error.status && error.why != NULL);
        assert_int_equal(error.system, 0);
        assert_null(f);
    }
    assert_int_equal(tepal_filter_create_for_rate(TEPAL_KIND_BLOOM, 0, 0.02, 5, &f, NULL),
                     TEPAL_BAD_ARGUMENT);
    assert_null(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smallest_bit_and_counting_filters),
        cmocka_unit_test(counting_has_one_choice_or_more),
        cmocka_unit_test(fingerprints_have_room),
        cmocka_unit_test(generalized_keeps_both_rates),
        cmocka_unit_test(recycling_keeps_the_average),
        cmocka_unit_test(as_good_as_the_bits_allow),
        cmocka_unit_test(rates_that_digests_cannot_keep_are_refused),
        cmocka_unit_test(bad_wishes_change_nothing),
        cmocka_unit_test(created_for_a_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
