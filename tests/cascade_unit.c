/*
 * cascade_unit.c: the cascade: no error on any known universe, its sizes, later additions, hostile
 * directories, memory.
 */
#include "check.h"

#include <tepal/papers.h>

#include "file_help.h"
#include "filter/kind.h"

#define MOST 4000

static struct tepal_digest keys[MOST];

static void draw(uint64_t *state, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        keys[i] = check_digest(state);
    }
}

static struct tepal_params params_of(int layout, int positions)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.kind = TEPAL_KIND_CASCADE;
    p.layout = (enum tepal_layout)layout;
    p.positions = (enum tepal_positions)positions;
    return p;
}

static struct tepal_known input_of(size_t n, size_t t)
{
    return (struct tepal_known){
        .members = keys, .member_count = n, .avoid = keys + n, .avoid_count = t};
}

/* Every member is found, every known negative is not, one by one and in a batch. */
static void check_no_error(const struct tepal_filter *f, size_t n, size_t t)
{
    static uint64_t answers[(MOST + 63) / 64];
    for (size_t i = 0; i < n + t; i++) {
        assert_int_equal(tepal_filter_query(f, keys[i]), i < n);
    }
    assert_int_equal(tepal_filter_query_many(f, keys, n + t, answers), n);
    for (size_t i = 0; i < n + t; i++) {
        assert_int_equal(answers[i / 64] >> i % 64 & 1, i < n);
    }
    assert_ok(tepal_filter_validate(f, NULL));
}

/* How many levels its info lists, and the bits of each. */
static uint32_t levels_of(const struct tepal_filter *f, uint64_t bits[TEPAL_MAX_LEVELS])
{
    struct tepal_report report;
    tepal_filter_info(f, &report);
    const struct tepal_quantity *list = tepal_report_find(&report, "level_bits");
    assert_non_null(list);
    assert_int_equal(list->type, TEPAL_QUANTITY_LIST);
    assert_true(list->value.list.count <= TEPAL_MAX_LEVELS);
    assert_int_equal(list->value.list.count, info_integer(f, "levels"));
    for (size_t i = 0; i < list->value.list.count; i++) {
        bits[i] = (uint64_t)report.number[list->value.list.first + i];
    }
    return (uint32_t)list->value.list.count;
}

static void it_never_errs_on_what_it_knows(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    uint32_t deepest = 0;
    for (int i = 0; i < 250; i++) {
        size_t n = 1 + (size_t)(check_random(&state) % 150);
        size_t t = (size_t)(check_random(&state) % 500);
        struct tepal_params p = params_of(i % 4, i / 4 % 2);
        struct tepal_cascade_options how = {.fp = i % 3 == 0 ? 0.05 : 0};
        struct tepal_known_report report;
        struct tepal_filter *f;
        draw(&state, n + t);
        struct tepal_known in = input_of(n, t);
        assert_ok(tepal_cascade_build(&p, &in, &how, NULL, &f, &report, NULL));
        check_no_error(f, n, t);
        assert_int_equal(report.avoid_left, 0);
        assert_int_equal(report.false_negatives, 0);
        uint64_t level_bits[TEPAL_MAX_LEVELS];
        assert_int_equal(report.levels, levels_of(f, level_bits));
        uint64_t bits = 0;
        for (uint32_t level = 0; level < report.levels; level++) {
            assert_true(level_bits[level] > 0);
            assert_true(report.level_keys[level] > 0);
            bits += level_bits[level];
        }
        assert_int_equal(bits, tepal_filter_params(f)->cells);
        deepest = report.levels > deepest ? report.levels : deepest;
        tepal_filter_free(f);
    }
    assert_true(deepest >= 5);
}

/* So many bits suffice on average, as others have measured: ours are to be no more. */
static void it_is_small(void **unused)
{
    (void)unused;
    static const double expected[][2] = {{20, 155}, {30, 204}, {40, 252}, {50, 288}};
    uint64_t state = 2;
    for (size_t i = 0; i < 4; i++) {
        size_t n = (size_t)expected[i][0];
        double sum = 0;
        for (int round = 0; round < 20; round++) {
            struct tepal_params p = params_of(0, 0);
            struct tepal_cascade_options how = {0};
            struct tepal_known_report report;
            struct tepal_filter *f;
            draw(&state, n + 100);
            struct tepal_known in = input_of(n, 100);
            assert_ok(tepal_cascade_build(&p, &in, &how, NULL, &f, &report, NULL));
            sum += (double)tepal_filter_params(f)->cells;
            tepal_filter_free(f);
        }
        assert_true(sum / 20 < expected[i][1]);
        assert_true(sum / 20 > 0.5 * expected[i][1]);
    }
}

static void a_limit_is_kept(void **unused)
{
    (void)unused;
    uint64_t state = 3;
    for (int i = 0; i < 16; i++) {
        bool large = i % 2 == 1;
        size_t n = large ? 1500 : 30;
        size_t t = large ? 2500 : 100;
        struct tepal_params p = params_of(large ? i / 2 % 4 : 0, 0);
        struct tepal_cascade_options how = {.bits = large ? 24 * 512 : 256};
        struct tepal_known_report report;
        struct tepal_filter *f;
        draw(&state, n + t);
        struct tepal_known in = input_of(n, t);
        assert_ok(tepal_cascade_build(&p, &in, &how, NULL, &f, &report, NULL));
        assert_true(tepal_filter_params(f)->cells <= how.bits);
        assert_true(tepal_filter_params(f)->cells > how.bits * 8 / 10);
        check_no_error(f, n, t);
        tepal_filter_free(f);
        /* Less than the information in it: impossible. */
        struct tepal_error error = {.why = ""};
        f = NULL;
        how.bits = n;
        assert_int_equal(tepal_cascade_build(&p, &in, &how, NULL, &f, NULL, &error), TEPAL_FULL);
        assert_true(strlen(error.why) > 10);
        assert_null(f);
    }
    /* Nor does it end in a first level that is too small for its hashes or its layout. */
    for (int i = 0; i < 8; i++) {
        struct tepal_params p = params_of(i / 2, i % 2);
        struct tepal_cascade_options how = {.bits = i / 2 < 2 ? 20 : 512};
        struct tepal_filter *f = NULL;
        p.hashes = 12;
        draw(&state, 400);
        struct tepal_known in = input_of(100, 300);
        assert_int_equal(tepal_cascade_build(&p, &in, &how, NULL, &f, NULL, NULL), TEPAL_FULL);
    }
}

static void members_win(void **unused)
{
    (void)unused;
    uint64_t state = 4;
    struct tepal_params p = params_of(0, 0);
    struct tepal_cascade_options how = {0};
    struct tepal_known_report report;
    struct tepal_filter *f;
    draw(&state, 300);
    memcpy(keys + 150, keys, 40 * sizeof *keys);
    struct tepal_known in = input_of(100, 200);
    assert_ok(tepal_cascade_build(&p, &in, &how, NULL, &f, &report, NULL));
    assert_int_equal(report.avoid_members, 40);
    assert_int_equal(report.avoid_left, 0);
    for (size_t i = 0; i < 300; i++) {
        assert_int_equal(tepal_filter_query(f, keys[i]), i < 100 || (i >= 150 && i < 190));
    }
    tepal_filter_free(f);
}

/* One level is the Bloom filter. */
static void without_negatives_it_is_a_bloom_filter(void **unused)
{
    (void)unused;
    uint64_t state = 5;
    draw(&state, 500);
    for (int layout = 0; layout < 4; layout++) {
        struct tepal_params p = params_of(layout, 0);
        struct tepal_cascade_options how = {.fp = 0.01};
        struct tepal_filter *f;
        struct tepal_filter *bloom;
        size_t words;
        size_t same;
        struct tepal_known in = input_of(500, 0);
        assert_ok(tepal_cascade_build(&p, &in, &how, NULL, &f, NULL, NULL));
        p = *tepal_filter_params(f);
        p.kind = TEPAL_KIND_BLOOM;
        assert_ok(tepal_filter_create(&p, NULL, &bloom, NULL));
        assert_ok(tepal_filter_add_many(bloom, keys, 500));
        const uint64_t *a = tepal_filter_words(f, &words);
        const uint64_t *b = tepal_filter_words(bloom, &same);
        assert_int_equal(words, same);
        assert_memory_equal(a, b, words * 8);
        tepal_filter_free(f);
        tepal_filter_free(bloom);
    }
}

/* Members stay, new ones are found or refused, and a refusal changes nothing. */
static void additions_keep_every_member(void **unused)
{
    (void)unused;
    uint64_t state = 6;
    int refused = 0;
    int added = 0;
    for (int i = 0; i < 100; i++) {
        struct tepal_params p = params_of(0, 0);
        struct tepal_cascade_options how = {0};
        struct tepal_filter *f;
        struct tepal_filter *before;
        draw(&state, 250);
        struct tepal_known in = input_of(50, 100);
        assert_ok(tepal_cascade_build(&p, &in, &how, NULL, &f, NULL, NULL));
        for (size_t k = 150; k < 250; k++) {
            assert_ok(tepal_filter_clone(f, NULL, &before, NULL));
            enum tepal_status status = tepal_filter_add(f, keys[k]);
            if (status == TEPAL_FULL) {
                refused++;
                assert_true(tepal_filter_equal(f, before));
                assert_int_equal(tepal_filter_keys_added(f), tepal_filter_keys_added(before));
            } else {
                assert_ok(status);
                assert_true(tepal_filter_query(f, keys[k]));
                added++;
            }
            tepal_filter_free(before);
        }
        for (size_t k = 0; k < 50; k++) {
            assert_true(tepal_filter_query(f, keys[k]));
        }
        assert_ok(tepal_filter_validate(f, NULL));
        tepal_filter_free(f);
    }
    assert_true(added > 5000 && refused > 0);
}

static void bad_input_is_refused(void **unused)
{
    (void)unused;
    uint64_t state = 7;
    draw(&state, 100);
    for (int i = 0; i < 8; i++) {
        struct tepal_params p = params_of(0, 0);
        struct tepal_known in = input_of(50, 50);
        struct tepal_cascade_options how = {0};
        struct tepal_filter *f = NULL;
        struct tepal_error error = {.why = ""};
        enum tepal_status expected = TEPAL_BAD_ARGUMENT;
        switch (i) {
        case 0:
            in.member_count = 0;
            break;
        case 1:
            p.kind = TEPAL_KIND_YESNO;
            break;
        case 2:
            how.bits = 500;
            how.fp = 0.1;
            break;
        case 3:
            how.fp = 1;
            break;
        case 4:
            how.fp = -0.5;
            break;
        case 5:
            how.fp = NAN;
            break;
        case 6:
            p.hashes = 65;
            expected = TEPAL_BAD_PARAMETER;
            break;
        default:
            p.layout = (enum tepal_layout)9;
            expected = TEPAL_BAD_PARAMETER;
            break;
        }
        assert_int_equal(tepal_cascade_build(&p, &in, &how, NULL, &f, NULL, &error), expected);
        check_error(&error, expected);
        assert_null(f);
    }
}

/* The parameters at the gate, and an empty cascade of several levels. */
static void the_gate_knows_the_kind(void **unused)
{
    (void)unused;
    static const uint64_t bad[][4] = {
        /* cells, rest, beyond, another */
        {100, 50, 0, 0},         {100, 0, 1, 0},
        {100, 2, 3, 0},          {100, 100, 2, 0},
        {100, 50, 63, 0},        {100, 50, 2, 1},
        {100, UINT64_MAX, 1, 0}, {(uint64_t)1 << 60, (uint64_t)1 << 57, 1, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tepal_params p = params_of(0, 0);
        p.hashes = 3;
        p.cells = bad[i][0];
        p.cascade.rest_bits = bad[i][1];
        p.cascade.rest_levels = bad[i][2];
        p.own[5] = bad[i][3];
        assert_int_equal(tepal_params_check(&p, NULL), TEPAL_BAD_PARAMETER);
    }
    struct tepal_params p = params_of(0, 0);
    struct tepal_filter *f;
    p.hashes = 3;
    p.cells = 1000;
    p.cascade.rest_bits = 100;
    p.cascade.rest_levels = 3;
    assert_ok(tepal_filter_create(&p, NULL, &f, NULL));
    assert_ok(tepal_filter_validate(f, NULL));
    uint64_t level_bits[TEPAL_MAX_LEVELS];
    assert_int_equal(levels_of(f, level_bits), 4);
    assert_int_equal(level_bits[0], 900);
    assert_int_equal(level_bits[1], 34);
    assert_int_equal(tepal_params_cell_bytes(&p), 16 * 8 + 3 * 8);
    uint64_t state = 8;
    draw(&state, 50);
    assert_ok(tepal_filter_add_many(f, keys, 50));
    for (size_t i = 0; i < 50; i++) {
        assert_true(tepal_filter_query(f, keys[i]));
    }
    assert_ok(tepal_filter_clear(f));
    assert_ok(tepal_filter_validate(f, NULL));
    assert_int_equal(levels_of(f, level_bits), 4);
    tepal_filter_free(f);
}

/* A file with its checksums right, and a directory that is not. */
static void hostile_directories_are_refused(void **unused)
{
    (void)unused;
    uint64_t state = 9;
    struct tepal_params p = params_of(0, 1);
    struct tepal_cascade_options how = {0};
    struct tepal_known_report report;
    struct tepal_filter *f;
    draw(&state, 150);
    struct tepal_known in = input_of(50, 100);
    assert_ok(tepal_cascade_build(&p, &in, &how, NULL, &f, &report, NULL));
    assert_true(report.levels >= 3);
    const uint64_t bits = tepal_filter_params(f)->cells;
    size_t words;
    (void)tepal_filter_words(f, &words);
    size_t len;
    uint8_t *good = encoded(f, &len);
    size_t entry = 256 + 8 * (words - (report.levels - 1));
    static const uint64_t nonsense[] = {
        0,           1,     0x100, 0xff, UINT64_MAX, UINT64_MAX - 255, (uint64_t)1 << 63 | 1,
        0x100000001, 0x0241};
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        for (uint32_t at = 0; at < report.levels - 1; at++) {
            uint8_t *bytes = copied(good, len);
            struct tepal_filter *read = NULL;
            little_put64(bytes + entry + (size_t)8 * at, nonsense[i]);
            blocks_resum(bytes, words * 8);
            header_resum(bytes);
            assert_int_equal(tepal_decode(bytes, len, NULL, &read, NULL), TEPAL_CORRUPT);
            assert_null(read);
            free(bytes);
        }
    }
    uint8_t *bytes = copied(good, len); /* a bit behind the last cell */
    struct tepal_filter *read = NULL;
    if (bits % 64 != 0) {
        bytes[256 + 8 * (bits / 64) + 7] |= 0x80;
        blocks_resum(bytes, words * 8);
        header_resum(bytes);
        assert_int_equal(tepal_decode(bytes, len, NULL, &read, NULL), TEPAL_CORRUPT);
    }
    assert_ok(tepal_decode(good, len, NULL, &read, NULL));
    check_no_error(read, 50, 100);
    tepal_filter_free(read);
    for (int i = 0; i < FILTER_STATES; i++) {
        uint64_t old = f->state.own[i];
        f->state.own[i] = i == 1 ? 0 : UINT64_MAX;
        bool wrong = i == 1 || i == 2 || i == 3 || i > 4;
        assert_int_equal(tepal_filter_validate(f, NULL), wrong ? TEPAL_CORRUPT : TEPAL_OK);
        f->state.own[i] = old;
    }
    free(bytes);
    free(good);
    tepal_filter_free(f);
}

static void out_of_memory_changes_nothing(void **unused)
{
    (void)unused;
    uint64_t state = 10;
    struct tepal_params p = params_of(0, 0);
    draw(&state, 150);
    struct tepal_known in = input_of(50, 100);
    for (unsigned at = 1;; at++) {
        struct memory memory = {.fail_at = at};
        struct tepal_allocator allocator = memory_allocator(&memory);
        struct tepal_cascade_options how = {.fp = 0.2};
        struct tepal_filter *f = NULL;
        enum tepal_status status = tepal_cascade_build(&p, &in, &how, &allocator, &f, NULL, NULL);
        if (memory_sufficed(&memory, status, f)) {
            assert_true(at > 15);
            break;
        }
    }
}

/* ---- the model ------------------------------------------------------------------------------- */

/* Mean and standard error of what BUILDS filters measured. */
#define BUILDS 60

struct sample {
    double sum;
    double squares;
};

static void take(struct sample *s, double x)
{
    s->sum += x;
    s->squares += x * x;
}

/* The error is estimated from 60 values: 6.5 of it are passed with probability 2e-8. */
static void check_sample(const char *what, const struct sample *s, double expected)
{
    double mean = s->sum / BUILDS;
    double variance = (s->squares - s->sum * mean) / (BUILDS - 1);
    check_within(what, mean, expected, sqrt(variance / BUILDS));
}

static void the_model_knows_its_size(void **unused)
{
    (void)unused;
    const size_t n = 300;
    const size_t t = 1200;
    uint64_t state = 20;
    for (int layout = 0; layout < 3; layout += 2) {
        struct tepal_params p = params_of(layout, 0);
        struct tepal_cascade_options how = {.fp = 0.1};
        struct tepal_cascade_setting plan = {0};
        struct sample bits = {0};
        struct sample second = {0};
        struct sample third = {0};
        struct sample unknown = {0};
        assert_ok(tepal_cascade_best_setting(p.layout, p.positions, n, t, 0, how.fp, &plan));
        for (p.seed = 1; p.seed <= BUILDS; p.seed++) {
            struct tepal_known_report report;
            struct tepal_filter *f;
            draw(&state, n + t);
            struct tepal_known in = input_of(n, t);
            assert_ok(tepal_cascade_build(&p, &in, &how, NULL, &f, &report, NULL));
            const struct tepal_params *built = tepal_filter_params(f);
            assert_int_equal(built->cells - built->cascade.rest_bits, plan.first_bits);
            take(&bits, (double)tepal_filter_params(f)->cells);
            take(&second, (double)report.level_keys[1]);
            take(&third, (double)report.level_keys[2]);
            size_t found = 0;
            for (int i = 0; i < 1000; i++) {
                found += tepal_filter_query(f, check_digest(&state));
            }
            take(&unknown, (double)found / 1000);
            tepal_filter_free(f);
        }
        check_sample("keys in the second level", &second, plan.stored[1]);
        check_sample("keys in the third level", &third, plan.stored[2]);
        check_sample("unknown keys that pass", &unknown, plan.fp_unknown);
        if (layout == TEPAL_LAYOUT_FLAT) { /* on lines, sizes are few and far between */
            check_sample("bits", &bits, plan.bits);
        }
    }
}

static void the_model_keeps_its_limits(void **unused)
{
    (void)unused;
    const enum tepal_layout flat = TEPAL_LAYOUT_FLAT;
    const enum tepal_positions colliding = TEPAL_POSITIONS_COLLIDING;
    struct tepal_cascade_setting least = {0};
    struct tepal_cascade_setting plan = {0};
    struct tepal_report report;
    assert_ok(tepal_cascade_best_setting(flat, colliding, 20000, 100000, 0, 0, &least));
    struct tepal_params params = params_of(flat, colliding);
    struct tepal_use use = TEPAL_USE_INIT;
    use.keys = 20000;
    use.known_negatives = 100000;
    assert_ok(tepal_model(&params, &use, &report, NULL)); /* cells 0: the smallest */
    assert_int_equal(check_number(&report, "first_bits"), least.first_bits);
    assert_true(check_number(&report, "bits") == least.bits);
    /* n log2(6) + t log2(6/5), less half a logarithm */
    double entropy = tepal_report_find(&report, "bits_least")->value.real;
    assert_true(fabs(entropy - (20000 * log2(6) + 100000 * log2(1.2))) < 12);
    assert_true(least.bits > entropy && least.bits < 2 * entropy);
    assert_ok(tepal_cascade_best_setting(flat, colliding, 20000, 100000, 200000, 0, &plan));
    assert_true(plan.bits <= 200000 && plan.bits > 199900);
    assert_true(plan.fp_unknown < least.fp_unknown / 3);
    double sum = 0;
    for (uint32_t i = 0; i < plan.levels; i++) {
        sum += plan.level_bits[i];
    }
    assert_true(fabs(sum - plan.bits) < 1e-6);
    /* no negatives: one level, a Bloom filter */
    assert_ok(tepal_cascade_best_setting(flat, colliding, 1000, 0, 10000, 0, &plan));
    assert_int_equal(plan.levels, 1);
    assert_int_equal(plan.first_bits, 10000);
    assert_true(plan.fp_unknown == tepal_bloom_fp(flat, colliding, 10000, 1000, plan.hashes));
    struct tepal_cascade_setting as_it_was = plan;
    assert_int_equal(tepal_cascade_best_setting(flat, colliding, 20000, 100000, 1000, 0, &plan),
                     TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_cascade_best_setting(flat, colliding, 0, 10, 0, 0, &plan),
                     TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_cascade_best_setting(flat, colliding, 10, 10, 0, 1, &plan),
                     TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_cascade_best_setting(flat, colliding, 10, 10, 0, NAN, &plan),
                     TEPAL_BAD_ARGUMENT);
    assert_memory_equal(&as_it_was, &plan, sizeof plan);
    plan.first_bits = 0;
    assert_int_equal(tepal_cascade_predict(flat, colliding, 10, 10, &plan), TEPAL_BAD_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_never_errs_on_what_it_knows),
        cmocka_unit_test(it_is_small),
        cmocka_unit_test(a_limit_is_kept),
        cmocka_unit_test(members_win),
        cmocka_unit_test(without_negatives_it_is_a_bloom_filter),
        cmocka_unit_test(additions_keep_every_member),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(the_gate_knows_the_kind),
        cmocka_unit_test(hostile_directories_are_refused),
        cmocka_unit_test(out_of_memory_changes_nothing),
        cmocka_unit_test(the_model_knows_its_size),
        cmocka_unit_test(the_model_keeps_its_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
