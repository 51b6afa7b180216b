/*
 * params_unit.c: the gate. Whatever field of the parameters is broken, the gate names that field,
 * creating a filter fails with the gate's own sentence, and a file that says so is refused with it
 * at the place of that field.
 */
#include "check.h"
#include "recycling_help.h"
#include "yesno_help.h"

#include "file_help.h"
#include "filter/kind.h"
#include "params/params.h"

#define LIMIT ((uint64_t)1 << 60)

/* A filter of any kind on a layout, small and sound; false: the kind does not know the layout. */
static bool sound(enum tepal_kind_id kind, enum tepal_layout layout, struct tepal_params *out)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.kind = kind;
    p.layout = layout;
    p.cells = 2048;
    p.hashes = 4;
    switch (kind) {
    case TEPAL_KIND_BLOOM:
    case TEPAL_KIND_RETOUCHED:
        break;
    case TEPAL_KIND_GENERALIZED:
        p.generalized.reset_hashes = 2;
        break;
    case TEPAL_KIND_COUNTING:
        p.counting.choices = 2;
        p.counting.rule = (uint64_t)tepal_counting_default_rule(layout, 2);
        break;
    case TEPAL_KIND_GROWING:
        p.hashes = 2;
        p.growing = (struct tepal_growing_params){7, 8, 4 * 16 * 256, 4};
        p.cells = 4 * 16 * 256;
        break;
    case TEPAL_KIND_CHAIN:
        p.chain = (struct tepal_chain_params){.first_keys = 50,
                                              .rate = (uint64_t)1 << 57,
                                              .growth = 512,
                                              .planned = 4,
                                              .parts = 2,
                                              .first_bits = 1024};
        break;
    case TEPAL_KIND_FINGERPRINT:
        p.hashes = 2;
        p.fingerprint.bits = 16;
        break;
    case TEPAL_KIND_YESNO:
        set_yesno(1024, 4, 512, 2, 3, &p);
        break;
    case TEPAL_KIND_RECYCLING:
        set_recycling(&p, &(struct recycling_options){.phases = 2, .limit = 1000, .retain = true});
        break;
    case TEPAL_KIND_CASCADE:
        p.cascade.rest_bits = 1024;
        p.cascade.rest_levels = 2;
        break;
    }
    *out = p;
    return tepal_params_check(&p, NULL) == TEPAL_OK;
}

/* Where docs/format.md says that a field is, and how many bytes it has. */
static size_t place(unsigned field, unsigned *width)
{
    static const size_t first[] = {12, 16, 20, 24, 28, 32, 56};
    *width = field < PARAMS_CELLS ? 4 : 8;
    return field < PARAMS_OWN ? first[field] : 72 + 8 * (field - PARAMS_OWN);
}

static void set(struct tepal_params *p, unsigned field, uint64_t value)
{
    switch (field) {
    case PARAMS_KIND:
        p->kind = (enum tepal_kind_id)value;
        break;
    case PARAMS_LAYOUT:
        p->layout = (enum tepal_layout)value;
        break;
    case PARAMS_POSITIONS:
        p->positions = (enum tepal_positions)value;
        break;
    case PARAMS_HASH:
        p->hash = (enum tepal_hash)value;
        break;
    case PARAMS_HASHES:
        p->hashes = (uint32_t)value;
        break;
    case PARAMS_CELLS:
        p->cells = value;
        break;
    case PARAMS_KEY_CHECK:
        p->key_check = value;
        break;
    default:
        p->own[field - PARAMS_OWN] = value;
        break;
    }
}

/* One field of sound parameters is broken: all three ways to say so name it, in the same words. */
static void broken(const struct tepal_params *good, unsigned field, uint64_t value)
{
    struct tepal_params p = *good;
    struct tepal_filter *f = NULL;
    struct tepal_error error = {.why = ""};
    set(&p, field, value);
    struct params_verdict verdict = tepal_params_gate(&p);
    if (verdict.status == TEPAL_OK || verdict.field != (enum params_field)field) {
        fail_msg("kind %d, layout %d, field %u = %llu: %d, field %d: %s", (int)good->kind,
                 (int)good->layout, field, (unsigned long long)value, (int)verdict.status,
                 (int)verdict.field, verdict.why);
    }
    assert_true(strlen(verdict.why) > 10);
    assert_int_equal(tepal_params_check(&p, &error), verdict.status);
    check_error(&error, verdict.status);
    assert_string_equal(error.why, verdict.why);
    error = (struct tepal_error){.why = ""};
    assert_int_equal(tepal_filter_create(&p, NULL, &f, &error), verdict.status);
    check_error(&error, verdict.status);
    assert_string_equal(error.why, verdict.why);
    assert_null(f);

    size_t len;
    unsigned width;
    assert_ok(tepal_filter_create(good, NULL, &f, NULL));
    uint8_t *bytes = encoded(f, &len);
    size_t at = place(field, &width);
    if (width == 4) {
        little_put32(bytes + at, (uint32_t)value);
    } else {
        little_put64(bytes + at, value);
    }
    header_resum(bytes);
    struct tepal_filter *none = NULL;
    assert_int_equal(tepal_decode(bytes, len, NULL, &none, &error), verdict.status);
    assert_int_equal(error.offset, at);
    if (field != PARAMS_KIND) { /* of that the format speaks first */
        assert_string_equal(error.why, verdict.why);
    }
    free(bytes);
    tepal_filter_free(f);
}

static void shared_fields_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < tepal_kind_count(); i++) {
        for (int layout = 0; layout < 4; layout++) {
            struct tepal_params good;
            if (!sound(tepal_kind_at(i)->id, (enum tepal_layout)layout, &good)) {
                continue;
            }
            broken(&good, PARAMS_KIND, 4711);
            broken(&good, PARAMS_LAYOUT, 4);
            broken(&good, PARAMS_LAYOUT, UINT32_MAX);
            broken(&good, PARAMS_POSITIONS, 2);
            broken(&good, PARAMS_HASH, 3);
            broken(&good, PARAMS_HASHES, 0);
            broken(&good, PARAMS_HASHES, tepal_params_max_hashes(good.layout) + 1);
            broken(&good, PARAMS_HASHES, UINT32_MAX);
            broken(&good, PARAMS_CELLS, 0);
            broken(&good, PARAMS_CELLS, LIMIT + 512);
            broken(&good, PARAMS_CELLS, UINT64_MAX);
            if (tepal_layout_in_lines(good.layout)) {
                broken(&good, PARAMS_CELLS, 2047);
            }
            broken(&good, PARAMS_KEY_CHECK, 1);
            broken(&good, PARAMS_OWN + TEPAL_OWN_PARAMS - 1, 1);
        }
    }
}

/* 17 hashes in a line, whatever the kind: of counting and recycling filters too. */
static void the_hashes_of_lines_are_named(void **state)
{
    (void)state;
    unsigned width;
    assert_int_equal(place(PARAMS_HASHES, &width), 28);
    size_t tried = 0;
    for (size_t i = 0; i < tepal_kind_count(); i++) {
        struct tepal_params good;
        if (sound(tepal_kind_at(i)->id, TEPAL_LAYOUT_BLOCKED, &good)) {
            broken(&good, PARAMS_HASHES, 17);
            tried++;
        }
    }
    assert_int_equal(tried, 8); /* all but fingerprints */
}

static void sizes_are_named(void **state)
{
    (void)state;
    struct tepal_params p;
    assert_true(sound(TEPAL_KIND_BLOOM, TEPAL_LAYOUT_PARTITIONED, &p));
    broken(&p, PARAMS_CELLS, 3);
    assert_true(sound(TEPAL_KIND_BLOOM, TEPAL_LAYOUT_FLAT, &p));
    p.positions = TEPAL_POSITIONS_DISTINCT;
    broken(&p, PARAMS_CELLS, 3);
    p.layout = TEPAL_LAYOUT_PAIRED;
    broken(&p, PARAMS_CELLS, 512);
}

struct lie {
    enum tepal_kind_id kind;
    enum tepal_layout layout;
    size_t own;
    uint64_t value;
};

static void own_fields_are_named(void **state)
{
    (void)state;
    static const struct lie lies[] = {
        {TEPAL_KIND_BLOOM, TEPAL_LAYOUT_FLAT, 0, 1},
        {TEPAL_KIND_RETOUCHED, TEPAL_LAYOUT_FLAT, 3, 1},
        {TEPAL_KIND_GENERALIZED, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(generalized.reset_hashes), 5},
        {TEPAL_KIND_GENERALIZED, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(generalized.tolerance), 4},
        {TEPAL_KIND_GENERALIZED, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(generalized.ones),
         TEPAL_GENERALIZED_UNIT + 1},
        {TEPAL_KIND_COUNTING, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(counting.choices), 0},
        {TEPAL_KIND_COUNTING, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(counting.choices), 65},
        {TEPAL_KIND_COUNTING, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(counting.rule), 3},
        {TEPAL_KIND_COUNTING, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(counting.rule),
         TEPAL_RULE_LEAST_INCREASE},
        {TEPAL_KIND_COUNTING, TEPAL_LAYOUT_BLOCKED, PARAMS_INDEX(counting.rule), TEPAL_RULE_GREEDY},
        {TEPAL_KIND_COUNTING, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(counting.policy), 2},
        {TEPAL_KIND_COUNTING, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(counting.form), 3},
        {TEPAL_KIND_COUNTING, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(counting.lines), 1},
        {TEPAL_KIND_COUNTING, TEPAL_LAYOUT_PAIRED, PARAMS_INDEX(counting.lines), 2},
        {TEPAL_KIND_FINGERPRINT, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(fingerprint.bits), 3},
        {TEPAL_KIND_FINGERPRINT, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(fingerprint.bits), 33},
        {TEPAL_KIND_YESNO, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(yesno.no_bits), 0},
        {TEPAL_KIND_YESNO, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(yesno.no_bits), 1024},
        {TEPAL_KIND_YESNO, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(yesno.no_bits), (uint64_t)1 << 32},
        {TEPAL_KIND_YESNO, TEPAL_LAYOUT_BLOCKED, PARAMS_INDEX(yesno.no_bits), 511},
        {TEPAL_KIND_YESNO, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(yesno.no_filters), 65},
        {TEPAL_KIND_YESNO, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(yesno.no_hashes), 0},
        {TEPAL_KIND_YESNO, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(yesno.no_hashes), 65},
        {TEPAL_KIND_YESNO, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(yesno.own_seeds), 2},
        {TEPAL_KIND_YESNO, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(yesno.salt), 1 << 20},
        {TEPAL_KIND_RECYCLING, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(recycling.phases), 0},
        {TEPAL_KIND_RECYCLING, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(recycling.phases), 9},
        {TEPAL_KIND_RECYCLING, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(recycling.rule), 4},
        {TEPAL_KIND_RECYCLING, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(recycling.limit), 3},
        {TEPAL_KIND_RECYCLING, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(recycling.limit), 2048},
        {TEPAL_KIND_RECYCLING, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(recycling.flags), 8},
        {TEPAL_KIND_CASCADE, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(cascade.rest_bits), 1},
        {TEPAL_KIND_CASCADE, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(cascade.rest_bits), 2048},
        {TEPAL_KIND_CASCADE, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(cascade.rest_bits), (uint64_t)1 << 56},
        {TEPAL_KIND_CASCADE, TEPAL_LAYOUT_BLOCKED, PARAMS_INDEX(cascade.rest_bits), 1000},
        {TEPAL_KIND_CASCADE, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(cascade.rest_levels), 63},
        {TEPAL_KIND_GROWING, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(growing.tag_bits), 3},
        {TEPAL_KIND_GROWING, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(growing.tag_bits), 16},
        {TEPAL_KIND_GROWING, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(growing.extension_bits), 0},
        {TEPAL_KIND_GROWING, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(growing.extension_bits), 17},
        {TEPAL_KIND_GROWING, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(growing.first), 4 * 16 * 255},
        {TEPAL_KIND_GROWING, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(growing.first), 4 * 16 * 257},
        {TEPAL_KIND_GROWING, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(growing.overflow), 2},
        {TEPAL_KIND_GROWING, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(growing.overflow), 12},
        {TEPAL_KIND_GROWING, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(growing.overflow), (uint64_t)1 << 41},
        {TEPAL_KIND_CHAIN, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(chain.first_keys), 0},
        {TEPAL_KIND_CHAIN, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(chain.first_keys),
         ((uint64_t)1 << 56) + 1},
        {TEPAL_KIND_CHAIN, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(chain.rate), 0},
        {TEPAL_KIND_CHAIN, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(chain.growth), 256},
        {TEPAL_KIND_CHAIN, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(chain.growth), ((uint64_t)1 << 24) + 1},
        {TEPAL_KIND_CHAIN, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(chain.series), 2},
        {TEPAL_KIND_CHAIN, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(chain.planned), 0},
        {TEPAL_KIND_CHAIN, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(chain.planned), 65},
        {TEPAL_KIND_CHAIN, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(chain.parts), 65},
        {TEPAL_KIND_CHAIN, TEPAL_LAYOUT_FLAT, PARAMS_INDEX(chain.first_bits), 1000},
        {TEPAL_KIND_CHAIN, TEPAL_LAYOUT_BLOCKED, PARAMS_INDEX(chain.first_bits), 1 << 20},
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct tepal_params good;
        assert_true(sound(lies[i].kind, lies[i].layout, &good));
        broken(&good, PARAMS_OWN + (unsigned)lies[i].own, lies[i].value);
    }
    struct tepal_params p;
    assert_true(sound(TEPAL_KIND_FINGERPRINT, TEPAL_LAYOUT_FLAT, &p));
    broken(&p, PARAMS_HASHES, 3);
    broken(&p, PARAMS_POSITIONS, TEPAL_POSITIONS_DISTINCT);
    broken(&p, PARAMS_CELLS, 2000);
    broken(&p, PARAMS_LAYOUT, TEPAL_LAYOUT_BLOCKED);
    assert_true(sound(TEPAL_KIND_GROWING, TEPAL_LAYOUT_FLAT, &p));
    broken(&p, PARAMS_HASHES, 3);
    broken(&p, PARAMS_POSITIONS, TEPAL_POSITIONS_DISTINCT);
    broken(&p, PARAMS_CELLS, 4 * 16 * 255);
    broken(&p, PARAMS_CELLS, 4 * 16 * 256 + 1);
    broken(&p, PARAMS_LAYOUT, TEPAL_LAYOUT_BLOCKED);
    assert_true(sound(TEPAL_KIND_GENERALIZED, TEPAL_LAYOUT_FLAT, &p));
    broken(&p, PARAMS_LAYOUT, TEPAL_LAYOUT_PARTITIONED);
    broken(&p, PARAMS_LAYOUT, TEPAL_LAYOUT_PAIRED);
    assert_true(sound(TEPAL_KIND_COUNTING, TEPAL_LAYOUT_FLAT, &p));
    p.counting.choices = 1;
    broken(&p, PARAMS_OWN + PARAMS_INDEX(counting.rule), TEPAL_RULE_GREEDY);
    broken(&p, PARAMS_OWN + PARAMS_INDEX(counting.policy), TEPAL_POLICY_REMOVE);
}

/* The gate has one limit on every machine; only memory knows the machine. */
static void the_largest_filters_are_legal(void **state)
{
    (void)state;
    for (size_t i = 0; i < tepal_kind_count(); i++) {
        struct tepal_params p;
        assert_true(sound(tepal_kind_at(i)->id, TEPAL_LAYOUT_FLAT, &p));
        p.cells = p.kind == TEPAL_KIND_FINGERPRINT ? (uint64_t)UINT32_MAX / 2 * 128
                  : p.kind == TEPAL_KIND_GROWING   ? 4 * 16 * ((uint64_t)1 << 40)
                                                   : LIMIT;
        if (p.kind == TEPAL_KIND_RECYCLING) {
            p.recycling.phases = TEPAL_MAX_PHASES;
        }
        assert_ok(tepal_params_check(&p, NULL));
        assert_true(tepal_params_cell_bytes(&p) <= (uint64_t)1 << 62);
        assert_int_equal(tepal_params_cell_bytes(&p) % 8, 0);
        struct tepal_error error = {.why = ""};
        struct tepal_filter *f = NULL;
        struct memory m = {.fail_at = 2}; /* the cells */
        struct tepal_allocator allocator = memory_allocator(&m);
        if (p.cells == LIMIT) {
            enum tepal_status status = tepal_filter_create(&p, &allocator, &f, &error);
            assert_int_equal(status, sizeof(size_t) < 8 ? TEPAL_TOO_LARGE : TEPAL_NO_MEMORY);
            assert_true(strlen(error.why) > 10);
        }
    }
}

static void rules_and_operations_are_of_the_same_kinds(void **state)
{
    (void)state;
    for (uint32_t id = 0; id < 100; id++) {
        const struct params_rules *rules = tepal_params_rules(id);
        const struct filter_ops *ops = tepal_filter_ops_by_id(id);
        assert_true((rules == NULL) == (ops == NULL));
        if (rules != NULL) {
            assert_ptr_equal(ops->rules, rules);
            assert_int_equal(rules->kind.id, id);
        }
    }
    assert_null(tepal_filter_ops_by_id(UINT32_MAX));
}

static void two_layouts_are_in_lines(void **state)
{
    (void)state;
    assert_false(tepal_layout_in_lines(TEPAL_LAYOUT_FLAT));
    assert_false(tepal_layout_in_lines(TEPAL_LAYOUT_PARTITIONED));
    assert_true(tepal_layout_in_lines(TEPAL_LAYOUT_BLOCKED));
    assert_true(tepal_layout_in_lines(TEPAL_LAYOUT_PAIRED));
    assert_int_equal(params_unit(TEPAL_LAYOUT_FLAT, 4), 1);
    assert_int_equal(params_unit(TEPAL_LAYOUT_BLOCKED, 1), 512);
    assert_int_equal(params_unit(TEPAL_LAYOUT_PAIRED, 4), TEPAL_COUNTING_LINE_CELLS);
    assert_int_equal(tepal_params_max_hashes((enum tepal_layout)4), 0);
}

/* Whatever says where a key goes must be the same; what only says how many are expected, not. */
static void compatible_is_the_same_cells(void **state)
{
    (void)state;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.kind = TEPAL_KIND_COUNTING;
    p.cells = 1024;
    p.hashes = 4;
    p.seed = 7;
    p.key_check = 9;
    p.counting.choices = 2;
    struct tepal_params other[10];
    for (size_t i = 0; i < COUNT(other); i++) {
        other[i] = p;
        assert_true(tepal_params_compatible(&p, &other[i]));
        other[i].capacity = 1000 + i;
        assert_true(tepal_params_compatible(&p, &other[i]));
    }
    other[0].kind = TEPAL_KIND_BLOOM;
    other[1].layout = TEPAL_LAYOUT_BLOCKED;
    other[2].positions = TEPAL_POSITIONS_DISTINCT;
    other[3].hash = TEPAL_HASH_SIPHASH;
    other[4].hashes = 5;
    other[5].cells = 2048;
    other[6].seed = 8;
    other[7].key_check = 0;
    other[8].counting.choices = 3;
    other[9].counting.lines = TEPAL_LINES_LONG;
    for (size_t i = 0; i < COUNT(other); i++) {
        assert_false(tepal_params_compatible(&p, &other[i]));
        assert_false(tepal_params_compatible(&other[i], &p));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_fields_are_named),
        cmocka_unit_test(the_hashes_of_lines_are_named),
        cmocka_unit_test(sizes_are_named),
        cmocka_unit_test(own_fields_are_named),
        cmocka_unit_test(the_largest_filters_are_legal),
        cmocka_unit_test(rules_and_operations_are_of_the_same_kinds),
        cmocka_unit_test(two_layouts_are_in_lines),
        cmocka_unit_test(compatible_is_the_same_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
