/*
 * counting_unit.c: the counting filter against a plain twin (counting_help.h) on every layout, rule
 * and policy; batches against single calls; both kernels; saturation; receipts; whole filters; the
 * audit; everything that must be refused.
 */
#include "counting_help.h"

#include "base/processor.h"
#include "filter/counting/internal.h"

static const enum tepal_layout layouts[] = {TEPAL_LAYOUT_FLAT, TEPAL_LAYOUT_PARTITIONED,
                                            TEPAL_LAYOUT_BLOCKED, TEPAL_LAYOUT_PAIRED};

/* Every combination of these that the gate lets pass. */
static size_t each_case(size_t i, struct tepal_params *params)
{
    static const uint32_t hashes[] = {1, 4, 11};
    static const uint32_t choices[] = {1, 2, 5};
    size_t n = 0;
    for (size_t l = 0; l < 4; l++) {
        for (size_t h = 0; h < 3; h++) {
            for (size_t c = 0; c < 3; c++) {
                for (uint64_t variant = 0; variant < 32; variant++) {
                    uint64_t more = variant >> 4 ? 512 : 128;
                    struct tepal_params p =
                        counting_params(layouts[l], 16384 + more * l, hashes[h], choices[c]);
                    p.positions = (enum tepal_positions)(variant & 1);
                    p.counting.policy = variant >> 1 & 1;
                    p.counting.rule += variant >> 2 & 1; /* greedy, where it may be */
                    p.counting.form = variant >> 3 & 1 ? TEPAL_FORM_WIDE_COUNTERS : 0;
                    p.counting.lines = variant >> 4; /* long, where it may be */
                    if (tepal_params_check(&p, NULL) == TEPAL_OK && n++ == i) {
                        *params = p;
                        return 1;
                    }
                }
            }
        }
    }
    return 0;
}

static void operations_agree_with_a_plain_twin(void **state)
{
    (void)state;
    struct tepal_params params;
    size_t i = 0;
    for (; each_case(i, &params); i++) {
        assert_true(differential(&params, 2000, true, 100 + i) > 0);
        assert_true(differential(&params, 1000, false, 500 + i) > 0);
    }
    assert_true(i >= 180);
}

static void digests_of(struct tepal_digest *digests, size_t count, uint64_t seed)
{
    check_digests(&seed, digests, count);
}

#define MANY 1500

static void batches_equal_single_calls(void **state)
{
    (void)state;
    static struct tepal_digest in[MANY];
    static struct tepal_digest out[MANY];
    static uint8_t groups[MANY];
    struct tepal_params params;
    digests_of(in, MANY, 1);
    digests_of(out, MANY, 2);
    for (size_t i = 0; each_case(i, &params); i += 1 + i % 2) {
        struct tepal_filter *one;
        struct tepal_filter *many;
        uint64_t answers[(2 * MANY + 63) / 64];
        uint64_t done[(MANY + 63) / 64];
        size_t removed = 0;
        size_t expected = 0;
        assert_ok(tepal_filter_create(&params, NULL, &one, NULL));
        assert_ok(tepal_filter_create(&params, NULL, &many, NULL));
        assert_ok(tepal_counting_add_many(many, in, MANY, groups));
        for (size_t j = 0; j < MANY; j++) {
            uint8_t group;
            assert_ok(tepal_counting_add(one, in[j], &group));
            assert_int_equal(group, groups[j]);
        }
        assert_true(tepal_filter_equal(one, many));
        size_t found = tepal_filter_query_many(many, out, MANY, answers);
        for (size_t j = 0; j < MANY; j++) {
            bool yes = tepal_filter_query(one, out[j]);
            assert_int_equal(answers[j / 64] >> (j % 64) & 1, yes);
            found -= yes;
        }
        assert_int_equal(found, 0);
        assert_int_equal(tepal_filter_query_many(many, in, MANY, answers), MANY);
        assert_ok(tepal_counting_remove_many(many, in, NULL, MANY / 2, done, &removed));
        for (size_t j = 0; j < MANY / 2; j++) {
            bool yes = tepal_filter_remove(one, in[j]) == TEPAL_OK;
            assert_int_equal(done[j / 64] >> (j % 64) & 1, yes);
            expected += yes;
        }
        assert_int_equal(removed, expected);
        assert_true(tepal_filter_equal(one, many));
        assert_ok(tepal_filter_validate(many, NULL));
        tepal_filter_free(one);
        tepal_filter_free(many);
    }
}

static void kernels_agree_on_lines(void **state)
{
    (void)state;
    static struct tepal_digest keys[MANY];
    if (!tepal_processor_has_avx2()) {
        skip();
    }
    digests_of(keys, MANY, 3);
    for (uint32_t k = 1; k <= TEPAL_MAX_HASHES_PAIRED; k++) {
        for (size_t l = 2; l < 4; l++) {
            struct tepal_params params = counting_params(layouts[l], 16384, k, 1);
            struct tepal_filter *counting;
            uint64_t a[(MANY + 63) / 64];
            uint64_t b[(MANY + 63) / 64];
            if (tepal_params_check(&params, NULL) != TEPAL_OK) {
                continue;
            }
            assert_ok(tepal_filter_create(&params, NULL, &counting, NULL));
            assert_ok(tepal_filter_add_many(counting, keys, MANY / 2));
            struct bloom_source source = {.form = BLOOM_DIGESTS, .digests = keys};
            const struct tepal_counting *inside = counting_of(counting);
            size_t fast =
                tepal_counting_lines_avx2.query(&inside->at, inside->bits, &source, MANY - 7, a);
            size_t plain = tepal_counting_lines_portable.query(&inside->at, inside->bits, &source,
                                                               MANY - 7, b);
            assert_int_equal(fast, plain);
            assert_memory_equal(a, b, sizeof a);
            assert_true(fast >= MANY / 2);
            tepal_filter_free(counting);
        }
    }
}

/* A counter in each lane, or one position after the other: the same cells and the same state. */
static void lanes_change_what_positions_change(void **state)
{
    (void)state;
    static struct tepal_digest keys[MANY];
    if (!tepal_processor_has_avx2()) {
        skip();
    }
    digests_of(keys, MANY, 4);
    for (uint32_t k = 1; k <= 16; k++) {
        /* few lines, so that counters stick: 11 keys on each counter where k = 8 */
        struct tepal_params params =
            counting_params(TEPAL_LAYOUT_BLOCKED, k % 2 == 0 ? 1024 : 16384, (k - 1) % 8 + 1, 1);
        params.counting.lines = k > 8 ? TEPAL_LINES_LONG : TEPAL_LINES_SHORT;
        struct tepal_filter *fast;
        struct tepal_filter *plain;
        assert_ok(tepal_filter_create(&params, NULL, &fast, NULL));
        assert_ok(tepal_filter_create(&params, NULL, &plain, NULL));
        assert_true(counting_of(fast)->in_lanes);
        assert_int_equal(counting_of(fast)->in_long, k > 8);
        counting_of(plain)->in_lanes = false;
        counting_of(plain)->in_long = k % 3 == 0; /* in plain C: side by side, or any positions */
        counting_of(plain)->in_long &= k > 8;
        for (size_t step = 0; step < 40; step++) {
            size_t from = step * 31 % MANY;
            size_t count = (MANY - from) / (1 + step % 3);
            uint64_t done[2][(MANY + 63) / 64];
            size_t removed[2] = {0, 1};
            if (step % 4 != 3) {
                assert_ok(tepal_counting_add_many(fast, keys + from, count, NULL));
                assert_ok(tepal_counting_add_many(plain, keys + from, count, NULL));
            } else {
                assert_ok(tepal_counting_remove_many(fast, keys + from, NULL, count, done[0],
                                                     &removed[0]));
                assert_ok(tepal_counting_remove_many(plain, keys + from, NULL, count, done[1],
                                                     &removed[1]));
                assert_int_equal(removed[0], removed[1]);
                assert_memory_equal(done[0], done[1], (count + 63) / 64 * 8);
            }
            assert_true(tepal_filter_equal(fast, plain));
            assert_memory_equal(&fast->state, &plain->state, sizeof fast->state);
        }
        assert_true(k % 8 != 0 || fast->state.own[COUNTING_STUCK] > 0);
        assert_ok(tepal_filter_validate(fast, NULL));
        tepal_filter_free(fast);
        tepal_filter_free(plain);
    }
}

/* ---- saturation ------------------------------------------------------------------------------ */

static void a_counter_at_15_sticks_and_loses_nobody(void **state)
{
    (void)state;
    static struct tepal_digest keys[400];
    digests_of(keys, 400, 4);
    for (size_t l = 0; l < 4; l++) {
        for (uint32_t c = 1; c <= 3; c += 2) {
            struct tepal_params params = counting_params(layouts[l], 256, 3, c);
            struct tepal_filter *counting;
            uint8_t groups[400];
            size_t removed;
            assert_ok(tepal_filter_create(&params, NULL, &counting, NULL));
            for (int round = 0; round < 10; round++) {
                assert_ok(tepal_counting_add_many(counting, keys, 400, groups));
                assert_ok(tepal_counting_add_many(counting, keys, 400, groups));
                uint64_t stuck = counting_whole(counting, "stuck");
                assert_true(stuck > 0);
                assert_int_equal(counting_whole(counting, "max_count"), 15);
                assert_ok(tepal_counting_remove_many(counting, keys, groups, 400, NULL, &removed));
                assert_int_equal(removed, 400);
                assert_int_equal(counting_whole(counting, "stuck"), stuck);
                for (size_t i = 0; i < 400; i++) {
                    assert_true(tepal_filter_query(counting, keys[i]));
                }
                assert_ok(tepal_filter_validate(counting, NULL));
            }
            assert_ok(tepal_filter_clear(counting));
            assert_int_equal(counting_whole(counting, "stuck"), 0);
            tepal_filter_free(counting);
        }
    }
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void the_gate_stops_bad_parameters(void **state)
{
    (void)state;
    for (int i = 0; i < 14; i++) {
        struct tepal_params p = counting_params(TEPAL_LAYOUT_FLAT, 1024, 4, 3);
        assert_ok(tepal_params_check(&p, NULL));
        struct tepal_error error = {.why = NULL};
        switch (i) {
        case 0:
            p.counting.choices = 0;
            break;
        case 1:
            p.counting.choices = 65;
            break;
        case 2:
            p.counting.choices = UINT64_MAX;
            break;
        case 3:
            p.counting.rule = 3;
            break;
        case 4:
            p.counting.rule = TEPAL_RULE_LEAST_INCREASE;
            break;
        case 5:
            p.layout = TEPAL_LAYOUT_BLOCKED; /* and improved greedy */
            break;
        case 6:
            p.counting.policy = 2;
            break;
        case 7:
            p.counting.choices = 1;
            p.counting.policy = TEPAL_POLICY_REMOVE;
            break;
        case 8:
            p.counting.form = 3;
            break;
        case 9:
            p.own[TEPAL_OWN_PARAMS - 1] = 1;
            break;
        case 10:
            p.counting.lines = TEPAL_LINES_LONG; /* and a flat layout */
            break;
        case 11:
            p.layout = TEPAL_LAYOUT_BLOCKED;
            p.counting.rule = TEPAL_RULE_LEAST_INCREASE;
            p.counting.lines = 2;
            break;
        case 12:
            p.layout = TEPAL_LAYOUT_BLOCKED;
            p.counting.rule = TEPAL_RULE_LEAST_INCREASE;
            p.counting.lines = TEPAL_LINES_LONG;
            p.cells = 1152; /* whole lines of 128, not of 512 */
            break;
        default:
            p.layout = TEPAL_LAYOUT_PAIRED;
            p.counting.rule = TEPAL_RULE_LEAST_INCREASE;
            p.cells = 1000; /* not whole lines */
            break;
        }
        struct tepal_filter *counting = NULL;
        assert_int_equal(tepal_params_check(&p, &error), TEPAL_BAD_PARAMETER);
        assert_true(strlen(error.why) > 10);
        assert_int_equal(tepal_filter_create(&p, NULL, &counting, NULL), TEPAL_BAD_PARAMETER);
        assert_null(counting);
    }
    /* with choices it is no other kind */
    struct tepal_params bloom = counting_params(TEPAL_LAYOUT_FLAT, 64, 1, 1);
    struct tepal_filter *counting = NULL;
    bloom.kind = TEPAL_KIND_BLOOM;
    assert_int_equal(tepal_filter_create(&bloom, NULL, &counting, NULL), TEPAL_BAD_PARAMETER);
    assert_null(counting);
}

static void a_refused_removal_changes_nothing(void **state)
{
    (void)state;
    struct tepal_params params = counting_params(TEPAL_LAYOUT_FLAT, 4096, 5, 4);
    uint64_t seed = 9;
    struct tepal_filter *counting;
    struct tepal_filter *before;
    uint8_t group;
    size_t removed = 17;
    assert_ok(tepal_filter_create(&params, NULL, &counting, NULL));
    struct tepal_digest key = check_digest(&seed);
    struct tepal_digest stranger = check_digest(&seed);
    assert_ok(tepal_counting_add(counting, key, &group));
    assert_ok(tepal_filter_clone(counting, NULL, &before, NULL));
    assert_int_equal(tepal_counting_groups(counting, key), (uint64_t)1 << group);
    assert_int_equal(tepal_filter_remove(counting, stranger), TEPAL_NOT_PRESENT);
    assert_int_equal(tepal_filter_remove(counting, stranger), TEPAL_NOT_PRESENT);
    assert_int_equal(tepal_counting_remove_group(counting, key, (group + 1) % 4),
                     TEPAL_NOT_PRESENT);
    assert_int_equal(tepal_counting_remove_group(counting, key, 4), TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_counting_remove_group(counting, key, UINT32_MAX), TEPAL_BAD_ARGUMENT);
    struct tepal_digest both[] = {key, stranger};
    uint8_t groups[] = {(uint8_t)group, 4};
    assert_int_equal(tepal_counting_remove_many(counting, both, groups, 2, NULL, &removed),
                     TEPAL_BAD_ARGUMENT);
    assert_int_equal(removed, 17);
    assert_true(tepal_filter_equal(counting, before));
    assert_int_equal(counting_whole(counting, "refused_removals"), 3);
    assert_ok(tepal_counting_remove_group(counting, key, group));
    assert_int_equal(counting_whole(counting, "ones"), 0);
    tepal_filter_free(before);
    tepal_filter_free(counting);
}

/* ---- whole filters --------------------------------------------------------------------------- */

static struct tepal_filter *filled(const struct tepal_params *params,
                                   const struct tepal_digest *keys, size_t count)
{
    struct tepal_filter *counting;
    assert_ok(tepal_filter_create(params, NULL, &counting, NULL));
    assert_ok(tepal_filter_add_many(counting, keys, count));
    return counting;
}

static void the_difference_is_what_was_added(void **state)
{
    (void)state;
    static struct tepal_digest keys[MANY];
    digests_of(keys, MANY, 5);
    for (size_t l = 0; l < 4; l++) {
        struct tepal_params params = counting_params(layouts[l], 16384, 5, 1);
        struct tepal_filter *before = filled(&params, keys, 500);
        struct tepal_filter *since = filled(&params, keys + 500, MANY - 500);
        struct tepal_filter *now = filled(&params, keys, MANY);
        struct tepal_filter *gain;
        struct tepal_counting_change change;
        assert_ok(tepal_counting_difference(now, before, NULL, &gain, &change, NULL));
        assert_true(tepal_filter_equal(gain, since));
        assert_ok(tepal_filter_validate(gain, NULL));
        assert_int_equal(change.fell, 0);
        assert_int_equal(change.unknown, 0);
        assert_int_equal(change.rose, counting_whole(since, "ones"));
        assert_int_equal(tepal_filter_keys_added(gain), MANY - 500);
        tepal_filter_free(gain);
        /* and the union of both parts is the whole */
        assert_ok(tepal_filter_unite(since, before));
        assert_true(tepal_filter_equal(now, since));
        assert_ok(tepal_filter_validate(since, NULL));
        /* the other way round, nothing was added and some counters fell */
        assert_ok(tepal_counting_difference(before, now, NULL, &gain, &change, NULL));
        assert_int_equal(counting_whole(gain, "ones"), 0);
        assert_true(change.fell > 0 && change.rose == 0);
        tepal_filter_free(gain);
        tepal_filter_free(before);
        tepal_filter_free(now);
        tepal_filter_free(since);
    }
}

static void the_difference_finds_keys_at_stuck_counters(void **state)
{
    (void)state;
    static struct tepal_digest keys[MANY];
    digests_of(keys, MANY, 6);
    struct tepal_params params = counting_params(TEPAL_LAYOUT_FLAT, 256, 3, 1);
    struct tepal_filter *before = filled(&params, keys, 1000);
    struct tepal_filter *now = filled(&params, keys, MANY);
    struct tepal_filter *gain;
    struct tepal_counting_change change;
    assert_ok(tepal_counting_difference(now, before, NULL, &gain, &change, NULL));
    assert_true(change.unknown > 0);
    for (size_t i = 1000; i < MANY; i++) {
        assert_true(tepal_filter_query(gain, keys[i]));
    }
    /* a union saturates, too */
    assert_ok(tepal_filter_unite(now, before));
    assert_ok(tepal_filter_validate(now, NULL));
    assert_int_equal(counting_whole(now, "max_count"), 15);
    struct tepal_params other = params;
    other.seed++;
    struct tepal_filter *stranger = filled(&other, keys, 1);
    struct tepal_filter *untouched = NULL;
    assert_int_equal(tepal_counting_difference(now, stranger, NULL, &untouched, NULL, NULL),
                     TEPAL_MISMATCH);
    assert_null(untouched);
    tepal_filter_free(stranger);
    tepal_filter_free(gain);
    tepal_filter_free(before);
    tepal_filter_free(now);
}

static void a_bloom_filter_has_the_same_bits(void **state)
{
    (void)state;
    static struct tepal_digest keys[MANY];
    digests_of(keys, MANY, 7);
    for (size_t l = 0; l < 4; l++) {
        for (uint32_t c = 1; c < 3; c++) {
            struct tepal_params params = counting_params(layouts[l], 16384, 5, c);
            struct tepal_filter *counting = filled(&params, keys, MANY / 2);
            struct tepal_filter *bits;
            struct tepal_filter *bloom = NULL;
            enum tepal_status status = tepal_counting_to_bloom(counting, NULL, &bloom, NULL);
            if (l < 2 && c == 1) {
                struct tepal_params plain = params;
                struct tepal_filter *built;
                plain.kind = TEPAL_KIND_BLOOM;
                memset(plain.own, 0, sizeof plain.own);
                assert_ok(status);
                assert_ok(tepal_filter_create(&plain, NULL, &built, NULL));
                assert_ok(tepal_filter_add_many(built, keys, MANY / 2));
                assert_true(tepal_filter_equal(bloom, built));
                tepal_filter_free(built);
                tepal_filter_free(bloom);
            } else {
                assert_int_equal(status, TEPAL_UNSUPPORTED);
                assert_null(bloom);
            }
            assert_ok(tepal_counting_strip(counting, NULL, &bits, NULL));
            assert_ok(tepal_filter_validate(bits, NULL));
            for (size_t i = 0; i < MANY; i++) {
                assert_int_equal(tepal_filter_query(bits, keys[i]),
                                 tepal_filter_query(counting, keys[i]));
            }
            size_t removed = 0;
            assert_int_equal(tepal_filter_add(bits, keys[0]), TEPAL_UNSUPPORTED);
            assert_int_equal(tepal_filter_add_many(bits, keys, 1), TEPAL_UNSUPPORTED);
            uint8_t group = 99;
            uint8_t groups[1] = {99};
            assert_int_equal(tepal_counting_add(bits, keys[0], &group), TEPAL_UNSUPPORTED);
            assert_int_equal(tepal_counting_add_many(bits, keys, 1, groups), TEPAL_UNSUPPORTED);
            assert_true(group == 99 && groups[0] == 99);
            assert_int_equal(tepal_filter_remove(bits, keys[0]), TEPAL_UNSUPPORTED);
            assert_int_equal(tepal_counting_remove_group(bits, keys[0], 0), TEPAL_UNSUPPORTED);
            assert_int_equal(tepal_counting_remove_many(bits, keys, NULL, 1, NULL, &removed),
                             TEPAL_UNSUPPORTED);
            struct tepal_report report;
            removed = 7;
            assert_int_equal(tepal_filter_remove_many(bits, keys, 1, &removed), TEPAL_UNSUPPORTED);
            assert_int_equal(removed, 7);
            tepal_filter_info(bits, &report);
            assert_int_equal(tepal_report_find(&report, "bits")->value.integer, params.cells);
            assert_true(tepal_report_find(&report, "bytes")->value.integer * 8 < params.cells + 64);
            assert_int_equal(tepal_counting_difference(bits, bits, NULL, &counting, NULL, NULL),
                             TEPAL_UNSUPPORTED);
            assert_ok(tepal_filter_unite(bits, bits));
            assert_ok(tepal_filter_validate(bits, NULL));
            tepal_filter_free(bits);
            tepal_filter_free(counting);
        }
    }
}

/* A union of filters with choices finds the keys of both, and takes the receipts of both. */
static void receipts_hold_in_a_union(void **state)
{
    (void)state;
    static struct tepal_digest keys[MANY];
    static uint8_t groups[MANY];
    const size_t half = MANY / 2;
    digests_of(keys, MANY, 14);
    for (int layout = 0; layout < 4; layout++) {
        struct tepal_params params =
            counting_params((enum tepal_layout)layout, (uint64_t)16 * MANY / 128 * 128, 5, 4);
        struct tepal_filter *a;
        struct tepal_filter *b;
        struct tepal_filter *both;
        uint64_t answers[MANY / 64 + 1];
        size_t removed = 0;
        assert_ok(tepal_filter_create(&params, NULL, &a, NULL));
        assert_ok(tepal_filter_create(&params, NULL, &b, NULL));
        assert_ok(tepal_filter_create(&params, NULL, &both, NULL));
        assert_ok(tepal_counting_add_many(a, keys, half, groups));
        assert_ok(tepal_counting_add_many(b, keys + half, MANY - half, groups + half));
        assert_ok(tepal_filter_add_many(both, keys, MANY));
        assert_ok(tepal_filter_unite(a, b));
        assert_ok(tepal_filter_validate(a, NULL));
        assert_int_equal(tepal_filter_query_many(a, keys, MANY, answers), MANY);
        /* the choices were others */
        assert_false(tepal_filter_equal(a, both));
        assert_ok(tepal_counting_remove_many(a, keys, groups, half, NULL, &removed));
        assert_int_equal(removed, half);
        /* what is left is the other filter, bit for bit: no counter was stuck */
        assert_true(tepal_filter_equal(a, b));
        tepal_filter_free(a);
        tepal_filter_free(b);
        tepal_filter_free(both);
    }
}

/* Every word and every count, changed by one: seen. */
static void validate_sees_what_disagrees(void **state)
{
    (void)state;
    static struct tepal_digest keys[MANY];
    digests_of(keys, MANY, 8);
    for (size_t l = 0; l < 4; l++) {
        struct tepal_params params = counting_params(layouts[l], l < 2 ? 1001 : 1024, 4, 1);
        struct tepal_filter *counting = filled(&params, keys, 100);
        assert_ok(tepal_filter_validate(counting, NULL));
        for (size_t i = 0; i < counting->word_count; i++) {
            for (int bit = 0; bit < 64; bit += 1 + (int)(i % 5)) {
                struct tepal_error error = {.why = NULL};
                counting->words[i] ^= (uint64_t)1 << bit;
                assert_int_equal(tepal_filter_validate(counting, &error), TEPAL_CORRUPT);
                assert_non_null(error.why);
                counting->words[i] ^= (uint64_t)1 << bit;
            }
        }
        for (size_t i = COUNTING_ONES; i < FILTER_STATES; i++) {
            counting->state.own[i]++;
            assert_int_equal(tepal_filter_validate(counting, NULL), TEPAL_CORRUPT);
            counting->state.own[i]--;
        }
        assert_ok(tepal_filter_validate(counting, NULL));
        tepal_filter_free(counting);
    }
}

/* ---- audit ----------------------------------------------------------------------------------- */

/* Sec. 3.1 and 3.2 to the letter: affected counters, members that share them, then the rest. */
static void by_the_letter(const struct tepal_filter *counting, const struct tepal_digest *members,
                          size_t count, const uint64_t *affected, uint32_t affected_count,
                          uint64_t *potential, uint64_t *exposed)
{
    struct tepal_filter *copy;
    assert_ok(tepal_filter_clone(counting, NULL, &copy, NULL));
    bool gone[MANY] = {false};
    *exposed = 0;
    *potential = 0;
    for (size_t i = 0; i < count; i++) {
        *exposed += !tepal_filter_query(counting, members[i]);
        uint64_t at[TEPAL_MAX_HASHES];
        uint32_t k = tepal_counting_positions(counting, members[i], 0, at);
        bool shares = false;
        for (uint32_t a = 0; a < k * affected_count; a++) {
            shares = shares || at[a % k] == affected[a / k];
        }
        gone[i] = shares && tepal_filter_remove(copy, members[i]) == TEPAL_OK;
    }
    for (size_t i = 0; i < count; i++) {
        *potential += !gone[i] && !tepal_filter_query(copy, members[i]);
    }
    tepal_filter_free(copy);
}

static void the_audit_counts_as_the_paper_does(void **state)
{
    (void)state;
    static struct tepal_digest keys[MANY];
    digests_of(keys, MANY, 10);
    struct tepal_params params = counting_params(TEPAL_LAYOUT_FLAT, 2400, 5, 1);
    uint64_t seed = 11;
    uint64_t seen = 0;
    for (int trial = 0; trial < 40; trial++) {
        struct tepal_filter *counting = filled(&params, keys, 300);
        struct tepal_digest wrong;
        uint64_t affected[TEPAL_MAX_HASHES];
        uint64_t potential;
        uint64_t exposed;
        struct tepal_report report;
        do {
            wrong = check_digest(&seed);
        } while (tepal_filter_remove(counting, wrong) != TEPAL_OK);
        uint32_t k = tepal_counting_positions(counting, wrong, 0, affected);
        by_the_letter(counting, keys, 300, affected, k, &potential, &exposed);
        assert_ok(tepal_counting_audit(counting, keys, NULL, 300, NULL, NULL, NULL, &report, NULL));
        assert_int_equal(check_number(&report, "members"), 300);
        assert_int_equal(check_number(&report, "exposed"), exposed);
        assert_int_equal(check_number(&report, "potential"), potential);
        assert_int_equal(check_number(&report, "deficit"), k);
        assert_int_equal(check_number(&report, "deficit_counters"), k);
        assert_int_equal(check_number(&report, "surplus"), 0);
        assert_true(potential >= exposed && potential <= 5 && potential >= 1);
        seen += exposed;
        /* a key that is no member is a surplus */
        assert_ok(tepal_filter_add(counting, keys[400]));
        assert_ok(tepal_counting_audit(counting, keys, NULL, 300, NULL, NULL, NULL, &report, NULL));
        assert_true(check_number(&report, "surplus") + k - check_number(&report, "deficit") > 0);
        tepal_filter_free(counting);
    }
    assert_true(seen > 40);
}

static void the_audit_takes_receipts(void **state)
{
    (void)state;
    static struct tepal_digest keys[MANY];
    static uint8_t groups[MANY];
    digests_of(keys, MANY, 12);
    struct tepal_params params = counting_params(TEPAL_LAYOUT_FLAT, 8 * MANY, 5, 4);
    struct tepal_filter *counting;
    struct tepal_report report;
    assert_ok(tepal_filter_create(&params, NULL, &counting, NULL));
    assert_ok(tepal_counting_add_many(counting, keys, MANY, groups));
    assert_ok(tepal_counting_audit(counting, keys, groups, MANY, NULL, NULL, NULL, &report, NULL));
    assert_int_equal(check_number(&report, "exposed"), 0);
    assert_int_equal(check_number(&report, "potential"), 0);
    assert_int_equal(check_number(&report, "deficit"), 0);
    assert_int_equal(check_number(&report, "surplus"), 0);
    assert_true(check_number(&report, "several") > 0);
    groups[3] = 4;
    assert_int_equal(
        tepal_counting_audit(counting, keys, groups, MANY, NULL, NULL, NULL, &report, NULL),
        TEPAL_BAD_ARGUMENT);
    struct tepal_filter *bits;
    assert_ok(tepal_counting_strip(counting, NULL, &bits, NULL));
    assert_int_equal(tepal_counting_audit(bits, keys, NULL, 1, NULL, NULL, NULL, &report, NULL),
                     TEPAL_UNSUPPORTED);
    tepal_filter_free(bits);
    tepal_filter_free(counting);
}

static void names_and_handles(void **state)
{
    (void)state;
    enum tepal_counting_rule rule = TEPAL_RULE_GREEDY;
    enum tepal_counting_policy policy = TEPAL_POLICY_KEEP;
    assert_true(tepal_counting_rule_parse("least-increase", &rule));
    assert_int_equal(rule, TEPAL_RULE_LEAST_INCREASE);
    assert_false(tepal_counting_rule_parse("least", &rule));
    assert_int_equal(rule, TEPAL_RULE_LEAST_INCREASE);
    assert_true(tepal_counting_policy_parse("remove", &policy));
    assert_int_equal(policy, TEPAL_POLICY_REMOVE);
    assert_false(tepal_counting_policy_parse("", &policy));
    assert_int_equal(policy, TEPAL_POLICY_REMOVE);
    assert_string_equal(tepal_counting_rule_name(TEPAL_RULE_GREEDY), "greedy");
    assert_string_equal(tepal_counting_rule_name(TEPAL_RULE_LEAST_INCREASE), "least-increase");
    assert_string_equal(tepal_counting_rule_name((enum tepal_counting_rule)7), "unknown");
    assert_string_equal(tepal_counting_policy_name(TEPAL_POLICY_REMOVE), "remove");
    assert_string_equal(tepal_counting_policy_name(TEPAL_POLICY_KEEP), "keep");
    assert_string_equal(tepal_counting_policy_name((enum tepal_counting_policy)7), "unknown");
    for (unsigned i = 0; i < 3; i++) {
        rule = (enum tepal_counting_rule)99;
        const char *name = tepal_counting_rule_name((enum tepal_counting_rule)i);
        assert_true(tepal_counting_rule_parse(name, &rule));
        assert_int_equal(rule, i);
    }
    assert_int_equal(TEPAL_KIND_COUNTING, 4); /* on disk: pinned */
    struct tepal_filter *filter;
    assert_ok(tepal_filter_create_for_rate(TEPAL_KIND_COUNTING, 1000, 0.01, 3, &filter, NULL));
    assert_int_equal(tepal_filter_kind(filter)->id, TEPAL_KIND_COUNTING);
    /* 4 bits of counter and 1 beside it */
    assert_int_equal(counting_whole(filter, "counter_bytes") +
                         counting_whole(filter, "plane_bytes"),
                     counting_whole(filter, "bytes"));
    assert_true(counting_whole(filter, "plane_bytes") <= counting_whole(filter, "bytes") / 5 + 8);
    tepal_filter_free(filter);
    tepal_filter_free(NULL);
}

/* What only counters can do is refused by every other kind, and nothing is written. */
static void other_kinds_do_not_count(void **state)
{
    (void)state;
    const struct tepal_digest digest = {1, 2};
    struct tepal_filter *bloom;
    struct tepal_filter *untouched = NULL;
    struct tepal_error error;
    struct tepal_report report;
    uint64_t histogram[TEPAL_MAX_COUNTER + 1] = {7};
    uint64_t positions[TEPAL_MAX_HASHES];
    uint8_t group = 99;
    uint8_t groups[1] = {99};
    size_t removed = 7;
    assert_ok(bloom_with_bits(1000, 3, 1, &bloom));
    assert_ok(tepal_filter_add(bloom, digest));
    assert_int_equal(tepal_counting_add(bloom, digest, &group), TEPAL_UNSUPPORTED);
    assert_int_equal(tepal_counting_add_many(bloom, &digest, 1, groups), TEPAL_UNSUPPORTED);
    assert_true(group == 99 && groups[0] == 99);
    assert_int_equal(tepal_counting_groups(bloom, digest), 0);
    assert_int_equal(tepal_counting_remove_group(bloom, digest, 0), TEPAL_UNSUPPORTED);
    assert_int_equal(tepal_counting_remove_many(bloom, &digest, NULL, 1, NULL, &removed),
                     TEPAL_UNSUPPORTED);
    assert_int_equal(removed, 7);
    assert_int_equal(tepal_counting_positions(bloom, digest, 0, positions), 0);
    assert_int_equal(tepal_counting_at(bloom, 0), 0);
    assert_int_equal(tepal_counting_histogram(bloom, histogram), TEPAL_UNSUPPORTED);
    assert_int_equal(histogram[0], 7);
    assert_int_equal(tepal_counting_to_bloom(bloom, NULL, &untouched, &error), TEPAL_UNSUPPORTED);
    check_error(&error, TEPAL_UNSUPPORTED);
    assert_int_equal(tepal_counting_strip(bloom, NULL, &untouched, &error), TEPAL_UNSUPPORTED);
    check_error(&error, TEPAL_UNSUPPORTED);
    assert_int_equal(tepal_counting_difference(bloom, bloom, NULL, &untouched, NULL, &error),
                     TEPAL_UNSUPPORTED);
    check_error(&error, TEPAL_UNSUPPORTED);
    assert_int_equal(
        tepal_counting_audit(bloom, &digest, NULL, 1, NULL, NULL, NULL, &report, &error),
        TEPAL_UNSUPPORTED);
    check_error(&error, TEPAL_UNSUPPORTED);
    assert_null(untouched);
    assert_true(tepal_filter_query(bloom, digest));
    tepal_filter_free(bloom);
}

/* Sums of all counters and their bits, by either kernel, as single counters have them. */
static void assert_census(const struct counting_census *census)
{
    enum { WORDS = 32 * 8 };
    static uint64_t words[WORDS];
    static uint64_t bits[2][WORDS / 4]; /* flat, and in long lines */
    uint64_t random = 23;
    memset(bits, 0, sizeof bits);
    for (size_t i = 0; i < WORDS; i++) { /* full ones and empty ones among them */
        words[i] = check_random(&random) & check_random(&random) & check_random(&random);
        words[i] |= i % 5 == 0 ? check_random(&random) : 0;
    }
    words[7] = UINT64_MAX;
    for (uint32_t wide = COUNTERS_NARROW; wide <= COUNTERS_WIDE; wide++) {
        struct counting_sums naive = {0, 0, 0};
        for (size_t count = 0; count < WORDS; count++) {
            struct counting_sums sums = census->sums(words, count, wide);
            assert_int_equal(sums.ones, naive.ones);
            assert_int_equal(sums.sum, naive.sum);
            assert_int_equal(sums.stuck, naive.stuck);
            for (uint32_t i = 0; i < counters_per_word(wide); i++) {
                uint32_t value = counters_in_word(words[count], wide, i);
                naive.ones += value > 0;
                naive.sum += value;
                naive.stuck += value == counters_max(wide);
            }
        }
    }
    for (uint64_t i = 0; i < 16 * WORDS; i++) {
        uint64_t word = i / 64;
        uint64_t in_line = word / 8 * 32 + i % 64 / 16 * 8 + word % 8;
        if (counters_get(words, COUNTERS_NARROW, i) > 0) {
            bits_set(bits[0], i);
        }
        if (counters_in_word(words[in_line], COUNTERS_NARROW, i % 16) > 0) {
            bits_set(bits[1], i);
        }
    }
    for (int spread = 0; spread < 2; spread++) {
        struct counting_sums sums;
        for (size_t count = 0; count <= WORDS / 4; count += spread ? ADDRESS_SECTORS : 1) {
            struct counting_sums alone = census->sums(words, 4 * count, COUNTERS_NARROW);
            assert_true(census->agrees(words, bits[spread], count, spread != 0, &sums));
            assert_memory_equal(&sums, &alone, sizeof sums);
        }
        for (uint64_t i = 0; i < 16 * WORDS; i++) {
            bits[spread][i / 64] ^= (uint64_t)1 << i % 64;
            assert_false(census->agrees(words, bits[spread], WORDS / 4, spread != 0, &sums));
            bits[spread][i / 64] ^= (uint64_t)1 << i % 64;
        }
    }
}

static void a_census_is_that_of_single_counters(void **state)
{
    (void)state;
    assert_census(&tepal_counting_census_portable);
    if (tepal_processor_has_avx2()) {
        assert_census(&tepal_counting_census_avx2);
    }
    if (tepal_processor_has_avx512()) {
        assert_census(&tepal_counting_census_avx512);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_census_is_that_of_single_counters),
        cmocka_unit_test(operations_agree_with_a_plain_twin),
        cmocka_unit_test(batches_equal_single_calls),
        cmocka_unit_test(kernels_agree_on_lines),
        cmocka_unit_test(lanes_change_what_positions_change),
        cmocka_unit_test(a_counter_at_15_sticks_and_loses_nobody),
        cmocka_unit_test(the_gate_stops_bad_parameters),
        cmocka_unit_test(a_refused_removal_changes_nothing),
        cmocka_unit_test(the_difference_is_what_was_added),
        cmocka_unit_test(the_difference_finds_keys_at_stuck_counters),
        cmocka_unit_test(a_bloom_filter_has_the_same_bits),
        cmocka_unit_test(receipts_hold_in_a_union),
        cmocka_unit_test(validate_sees_what_disagrees),
        cmocka_unit_test(the_audit_counts_as_the_paper_does),
        cmocka_unit_test(the_audit_takes_receipts),
        cmocka_unit_test(names_and_handles),
        cmocka_unit_test(other_kinds_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
