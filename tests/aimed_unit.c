/*
 * aimed_unit.c: keys that somebody has chosen who knows the seed. The digest of an integer inverts
 * exactly, so that integers can be made for any line of a filter, and for any class of a
 * fingerprint filter. The figures of docs/untrusted.md, and that info shows them; and that under a
 * secret key the same integers are like any others.
 */
#include "fingerprint_help.h"
#include "file_help.h"

#include <tepal/place.h>

#define SEED  7
#define LINES 2048
#define AIMED 200

/* The inverse of an odd number, modulo 2^64: each step doubles the bits that are right. */
static uint64_t inverse_of(uint64_t odd)
{
    uint64_t x = odd;
    for (int i = 0; i < 5; i++) {
        x *= 2 - odd * x;
    }
    assert_true(x * odd == 1);
    return x;
}

/* Undoes x ^= x >> by. */
static uint64_t unshift(uint64_t x, unsigned by)
{
    uint64_t y = x;
    for (unsigned i = 0; i < 64 / by; i++) {
        y = x ^ y >> by;
    }
    return y;
}

/* The integer whose digest has this high word: the steps of tepal/place.h backwards. */
static uint64_t integer_for(const struct tepal_hasher *hasher, uint64_t high)
{
    uint64_t x = unshift(high, 31);
    x *= inverse_of(TEPAL_PLACE_C2);
    x ^= hasher->integer[1];
    x = unshift(x, 27);
    x *= inverse_of(TEPAL_PLACE_C1);
    x = unshift(x, 30);
    uint64_t key = x ^ hasher->integer[0];
    assert_true(tepal_hash_u64(hasher, key).hi == high);
    return key;
}

/* A high word that belongs to one of `parts` equal parts of all of them. */
static uint64_t high_in(uint64_t *state, uint64_t part, uint64_t parts)
{
    uint64_t width = UINT64_MAX / parts;
    uint64_t high = part * width + part + check_random(state) % (width - parts);
    assert_true(wide_scale(high, parts) == part);
    return high;
}

static struct tepal_filter *blocked(enum tepal_kind_id kind, enum tepal_layout layout, bool keyed)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_filter *f = NULL;
    p.kind = kind;
    p.layout = layout;
    p.cells = LINES * TEPAL_LINE_BITS;
    p.hashes = layout == TEPAL_LAYOUT_PAIRED ? 12 : 6;
    p.seed = SEED;
    if (kind == TEPAL_KIND_COUNTING) {
        p.counting.choices = 1;
        p.counting.lines = TEPAL_LINES_LONG;
    }
    if (kind == TEPAL_KIND_CHAIN) {
        p.chain.first_keys = 100000;
        p.chain.rate = (uint64_t)1 << 60;
        p.chain.growth = 512;
        p.chain.planned = 4;
    }
    p.hash = keyed ? TEPAL_HASH_SIPHASH : TEPAL_HASH_XXH3;
    assert_ok(tepal_filter_create(&p, NULL, &f, NULL));
    if (keyed) {
        assert_ok(tepal_filter_set_key(f, recipe_key));
    }
    return f;
}

/* Integers of one line: of the first parts of their bits, on the paired layout. */
static double found_in_line(const struct tepal_filter *f, uint64_t line, unsigned count)
{
    struct tepal_hasher hasher;
    uint64_t state = 99;
    unsigned found = 0;
    tepal_hasher_init(SEED, &hasher);
    for (unsigned i = 0; i < count; i++) {
        found += tepal_filter_query_u64(f, integer_for(&hasher, high_in(&state, line, LINES)));
    }
    return (double)found / count;
}

static void aim(struct tepal_filter *f, uint64_t line)
{
    struct tepal_hasher hasher;
    uint64_t state = 5;
    tepal_hasher_init(SEED, &hasher);
    for (int i = 0; i < AIMED; i++) {
        uint64_t key = integer_for(&hasher, high_in(&state, line, LINES));
        assert_ok(tepal_filter_add_u64(f, key));
    }
}

/* 200 integers fill a line; the rate of all keys hardly shows it, that of the line does. */
static void one_line_is_filled(void **unused)
{
    (void)unused;
    static const enum tepal_kind_id kinds[] = {TEPAL_KIND_BLOOM, TEPAL_KIND_RETOUCHED,
                                               TEPAL_KIND_COUNTING, TEPAL_KIND_CHAIN};
    const unsigned asked = 20000;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        struct tepal_filter *f = blocked(kinds[k], TEPAL_LAYOUT_BLOCKED, false);
        assert_true(info_real(f, "fp_worst_line") == 0);
        aim(f, 1234);
        double now = info_real(f, "fp_now");
        double worst = info_real(f, "fp_worst_line");
        assert_true(fabs(now * LINES / worst - 1) < 1e-9); /* all other lines are empty */
        assert_true(worst > 0.53 && worst < 0.59);
        assert_true(now > 0.00026 && now < 0.00029);
        check_within("keys of the line", found_in_line(f, 1234, asked), worst,
                     sqrt(worst * (1 - worst) / asked));
        assert_true(found_in_line(f, 1235, 100) == 0);
        if (k == 0) {
            print_message("fp_now %.5f, fp_worst_line %.3f\n", now, worst);
        }
        tepal_filter_free(f);
    }
}

/* Two lines a key: the first part can be aimed so, and the second follows from the key. */
static void paired_lines_are_told(void **unused)
{
    (void)unused;
    const unsigned asked = 200000;
    struct tepal_filter *f = blocked(TEPAL_KIND_BLOOM, TEPAL_LAYOUT_PAIRED, false);
    uint64_t state = 8;
    for (int i = 0; i < 40000; i++) { /* so that second parts are found at all */
        assert_ok(tepal_filter_add(f, check_digest(&state)));
    }
    aim(f, 77);
    double worst = info_real(f, "fp_worst_line");
    assert_true(worst > 20 * info_real(f, "fp_now"));
    check_within("keys of the line", found_in_line(f, 77, asked), worst,
                 sqrt(worst * (1 - worst) / asked));
    tepal_filter_free(f);
}

static void flat_filters_have_no_lines(void **unused)
{
    (void)unused;
    struct tepal_report report;
    struct tepal_filter *f = blocked(TEPAL_KIND_BLOOM, TEPAL_LAYOUT_FLAT, false);
    tepal_filter_info(f, &report);
    assert_null(tepal_report_find(&report, "fp_worst_line"));
    tepal_filter_free(f);
}

/* Eight integers of one class: the ninth finds a filter full that has 2^20 slots, all but empty. */
static void one_class_is_full(void **unused)
{
    (void)unused;
    const uint32_t bits = 12;
    const uint64_t buckets = 1 << 18;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_filter *f[2] = {NULL, NULL};
    struct tepal_hasher hasher;
    uint64_t state = 1;
    uint64_t tries = 0;
    p.kind = TEPAL_KIND_FINGERPRINT;
    p.hashes = 2;
    p.cells = buckets * 4 * bits;
    p.seed = SEED;
    p.fingerprint.bits = bits;
    assert_ok(tepal_filter_create(&p, NULL, &f[0], NULL));
    p.hash = TEPAL_HASH_SIPHASH;
    assert_ok(tepal_filter_create(&p, NULL, &f[1], NULL));
    assert_ok(tepal_filter_set_key(f[1], recipe_key));
    tepal_hasher_init(SEED, &hasher);
    for (unsigned found = 0; found <= TEPAL_MAX_COPIES; tries++) {
        uint64_t key = integer_for(&hasher, high_in(&state, 4711, buckets));
        if (tepal_hash_u64(&hasher, key).lo >> (64 - bits) != 99) {
            continue;
        }
        assert_int_equal(tepal_filter_add_u64(f[0], key),
                         found == TEPAL_MAX_COPIES ? TEPAL_FULL : TEPAL_OK);
        assert_ok(tepal_filter_add_u64(f[1], key)); /* keyed: nobody can aim */
        found++;
    }
    assert_true(tries < 20 * TEPAL_MAX_COPIES * (uint64_t)(1 << bits));
    assert_int_equal(tepal_filter_ones(f[0]), TEPAL_MAX_COPIES);
    tepal_filter_free(f[0]);
    tepal_filter_free(f[1]);
}

/* Under a secret key the integers that fill a line without it fall anywhere. */
static void a_key_prevents_it(void **unused)
{
    (void)unused;
    struct tepal_filter *f = blocked(TEPAL_KIND_BLOOM, TEPAL_LAYOUT_BLOCKED, true);
    aim(f, 1234);
    assert_true(info_real(f, "fp_worst_line") < 1e-6);
    assert_true(found_in_line(f, 1234, 20000) == 0); /* at most one in 10^9 is expected */
    tepal_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line_is_filled),         cmocka_unit_test(paired_lines_are_told),
        cmocka_unit_test(flat_filters_have_no_lines), cmocka_unit_test(one_class_is_full),
        cmocka_unit_test(a_key_prevents_it),
    };
    return cmocka_run_group_tests_name("aimed", tests, NULL, NULL);
}
