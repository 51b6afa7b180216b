/*
 * counting_unit.c: the counting filter against a plain twin (counting_help.h) on every layout, rule
 * and policy; batches against single calls; both kernels; saturation; receipts; whole filters; the
 * audit; everything that must be refused.
 */
#include "counting_help.h"

#include "filter/lines/processor.h"
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
                for (uint64_t variant = 0; variant < 8; variant++) {
                    struct tepal_params p =
                        counting_params(layouts[l], 16384 + 128 * l, hashes[h], choices[c]);
                    p.positions = (enum tepal_positions)(variant & 1);
                    p.own[TEPAL_COUNTING_POLICY] = variant >> 1 & 1;
                    p.own[TEPAL_COUNTING_RULE] += variant >> 2; /* greedy, where it may be */
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
    assert_true(i >= 60);
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
        struct tepal_counting *one;
        struct tepal_counting *many;
        uint64_t answers[(2 * MANY + 63) / 64];
        uint64_t done[(MANY + 63) / 64];
        size_t removed = 0;
        size_t expected = 0;
        assert_ok(tepal_counting_create(&params, NULL, &one));
        assert_ok(tepal_counting_create(&params, NULL, &many));
        assert_ok(tepal_counting_add_many(many, in, MANY, groups));
        for (size_t j = 0; j < MANY; j++) {
            uint32_t group;
            assert_ok(tepal_counting_add(one, in[j], &group));
            assert_int_equal(group, groups[j]);
        }
        assert_true(tepal_filter_equal(tepal_counting_filter(one), tepal_counting_filter(many)));
        size_t found = tepal_counting_query_many(many, out, MANY, answers);
        for (size_t j = 0; j < MANY; j++) {
            bool yes = tepal_counting_query(one, out[j]);
            assert_int_equal(answers[j / 64] >> (j % 64) & 1, yes);
            found -= yes;
        }
        assert_int_equal(found, 0);
        assert_int_equal(tepal_counting_query_many(many, in, MANY, answers), MANY);
        assert_ok(tepal_counting_remove_many(many, in, NULL, MANY / 2, done, &removed));
        for (size_t j = 0; j < MANY / 2; j++) {
            bool yes = tepal_counting_remove(one, in[j]) == TEPAL_OK;
            assert_int_equal(done[j / 64] >> (j % 64) & 1, yes);
            expected += yes;
        }
        assert_int_equal(removed, expected);
        assert_true(tepal_filter_equal(tepal_counting_filter(one), tepal_counting_filter(many)));
        assert_ok(tepal_validate(tepal_counting_filter(many), NULL));
        tepal_counting_free(one);
        tepal_counting_free(many);
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
            struct tepal_counting *counting;
            uint64_t a[(MANY + 63) / 64];
            uint64_t b[(MANY + 63) / 64];
            if (tepal_params_check(&params, NULL) != TEPAL_OK) {
                continue;
            }
            assert_ok(tepal_counting_create(&params, NULL, &counting));
            assert_ok(tepal_counting_add_many(counting, keys, MANY / 2, NULL));
            struct bloom_source source = {.form = BLOOM_DIGESTS, .digests = keys};
            size_t fast = tepal_counting_lines_avx2.query(&counting->at, counting->bits, &source,
                                                          MANY - 7, a);
            size_t plain = tepal_counting_lines_portable.query(&counting->at, counting->bits,
                                                               &source, MANY - 7, b);
            assert_int_equal(fast, plain);
            assert_memory_equal(a, b, sizeof a);
            assert_true(fast >= MANY / 2);
            tepal_counting_free(counting);
        }
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
            struct tepal_counting *counting;
            uint8_t groups[400];
            size_t removed;
            assert_ok(tepal_counting_create(&params, NULL, &counting));
            struct tepal_filter *filter = tepal_counting_filter(counting);
            for (int round = 0; round < 10; round++) {
                assert_ok(tepal_counting_add_many(counting, keys, 400, groups));
                assert_ok(tepal_counting_add_many(counting, keys, 400, groups));
                uint64_t stuck = counting_whole(filter, "stuck");
                assert_true(stuck > 0);
                assert_int_equal(counting_whole(filter, "max_count"), 15);
                assert_ok(tepal_counting_remove_many(counting, keys, groups, 400, NULL, &removed));
                assert_int_equal(removed, 400);
                assert_int_equal(counting_whole(filter, "stuck"), stuck);
                for (size_t i = 0; i < 400; i++) {
                    assert_true(tepal_counting_query(counting, keys[i]));
                }
                assert_ok(tepal_validate(filter, NULL));
            }
            assert_ok(tepal_filter_clear(filter));
            assert_int_equal(counting_whole(filter, "stuck"), 0);
            tepal_counting_free(counting);
        }
    }
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void the_gate_stops_bad_parameters(void **state)
{
    (void)state;
    for (int i = 0; i < 11; i++) {
        struct tepal_params p = counting_params(TEPAL_LAYOUT_FLAT, 1024, 4, 3);
        assert_ok(tepal_params_check(&p, NULL));
        const char *why = NULL;
        switch (i) {
        case 0:
            p.own[TEPAL_COUNTING_CHOICES] = 0;
            break;
        case 1:
            p.own[TEPAL_COUNTING_CHOICES] = 65;
            break;
        case 2:
            p.own[TEPAL_COUNTING_CHOICES] = UINT64_MAX;
            break;
        case 3:
            p.own[TEPAL_COUNTING_RULE] = 3;
            break;
        case 4:
            p.own[TEPAL_COUNTING_RULE] = TEPAL_RULE_LEAST_INCREASE;
            break;
        case 5:
            p.layout = TEPAL_LAYOUT_BLOCKED; /* and improved greedy */
            break;
        case 6:
            p.own[TEPAL_COUNTING_POLICY] = 2;
            break;
        case 7:
            p.own[TEPAL_COUNTING_CHOICES] = 1;
            p.own[TEPAL_COUNTING_POLICY] = TEPAL_POLICY_REMOVE;
            break;
        case 8:
            p.own[TEPAL_COUNTING_FORM] = 2;
            break;
        case 9:
            p.own[4] = 1;
            break;
        default:
            p.layout = TEPAL_LAYOUT_PAIRED;
            p.own[TEPAL_COUNTING_RULE] = TEPAL_RULE_LEAST_INCREASE;
            p.cells = 1000; /* not whole lines */
            break;
        }
        struct tepal_counting *counting = NULL;
        assert_int_equal(tepal_params_check(&p, &why), TEPAL_BAD_PARAMETER);
        assert_true(strlen(why) > 10);
        assert_int_equal(tepal_counting_create(&p, NULL, &counting), TEPAL_BAD_PARAMETER);
        assert_null(counting);
    }
    struct tepal_params bloom = TEPAL_PARAMS_INIT;
    struct tepal_counting *counting = NULL;
    bloom.cells = 64;
    bloom.hashes = 1;
    assert_int_equal(tepal_counting_create(&bloom, NULL, &counting), TEPAL_BAD_ARGUMENT);
}

static void a_refused_removal_changes_nothing(void **state)
{
    (void)state;
    struct tepal_params params = counting_params(TEPAL_LAYOUT_FLAT, 4096, 5, 4);
    uint64_t seed = 9;
    struct tepal_counting *counting;
    struct tepal_filter *before;
    uint32_t group;
    size_t removed = 17;
    assert_ok(tepal_counting_create(&params, NULL, &counting));
    struct tepal_filter *filter = tepal_counting_filter(counting);
    struct tepal_digest key = check_digest(&seed);
    struct tepal_digest stranger = check_digest(&seed);
    assert_ok(tepal_counting_add(counting, key, &group));
    assert_ok(tepal_filter_clone(filter, NULL, &before));
    assert_int_equal(tepal_counting_groups(counting, key), (uint64_t)1 << group);
    assert_int_equal(tepal_counting_remove(counting, stranger), TEPAL_NOT_PRESENT);
    assert_int_equal(tepal_filter_remove(filter, stranger), TEPAL_NOT_PRESENT);
    assert_int_equal(tepal_counting_remove_group(counting, key, (group + 1) % 4),
                     TEPAL_NOT_PRESENT);
    assert_int_equal(tepal_counting_remove_group(counting, key, 4), TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_counting_remove_group(counting, key, UINT32_MAX), TEPAL_BAD_ARGUMENT);
    struct tepal_digest both[] = {key, stranger};
    uint8_t groups[] = {(uint8_t)group, 4};
    assert_int_equal(tepal_counting_remove_many(counting, both, groups, 2, NULL, &removed),
                     TEPAL_BAD_ARGUMENT);
    assert_int_equal(removed, 17);
    assert_true(tepal_filter_equal(filter, before));
    assert_int_equal(counting_whole(filter, "refused_removals"), 3);
    assert_ok(tepal_counting_remove_group(counting, key, group));
    assert_int_equal(counting_whole(filter, "ones"), 0);
    tepal_filter_free(before);
    tepal_counting_free(counting);
}

/* ---- whole filters --------------------------------------------------------------------------- */

static struct tepal_counting *filled(const struct tepal_params *params,
                                     const struct tepal_digest *keys, size_t count)
{
    struct tepal_counting *counting;
    assert_ok(tepal_counting_create(params, NULL, &counting));
    assert_ok(tepal_counting_add_many(counting, keys, count, NULL));
    return counting;
}

static void the_difference_is_what_was_added(void **state)
{
    (void)state;
    static struct tepal_digest keys[MANY];
    digests_of(keys, MANY, 5);
    for (size_t l = 0; l < 4; l++) {
        struct tepal_params params = counting_params(layouts[l], 16384, 5, 1);
        struct tepal_counting *before = filled(&params, keys, 500);
        struct tepal_counting *since = filled(&params, keys + 500, MANY - 500);
        struct tepal_counting *now = filled(&params, keys, MANY);
        struct tepal_counting *gain;
        struct tepal_counting_change change;
        assert_ok(tepal_counting_difference(now, before, NULL, &change, &gain));
        assert_true(tepal_filter_equal(tepal_counting_filter(gain), tepal_counting_filter(since)));
        assert_ok(tepal_validate(tepal_counting_filter(gain), NULL));
        assert_int_equal(change.fell, 0);
        assert_int_equal(change.unknown, 0);
        assert_int_equal(change.rose, counting_whole(tepal_counting_filter(since), "ones"));
        assert_int_equal(tepal_filter_keys_added(tepal_counting_filter(gain)), MANY - 500);
        tepal_counting_free(gain);
        /* and the union of both parts is the whole */
        assert_ok(tepal_filter_unite(tepal_counting_filter(since), tepal_counting_filter(before)));
        assert_true(tepal_filter_equal(tepal_counting_filter(now), tepal_counting_filter(since)));
        assert_ok(tepal_validate(tepal_counting_filter(since), NULL));
        /* the other way round, nothing was added and some counters fell */
        assert_ok(tepal_counting_difference(before, now, NULL, &change, &gain));
        assert_int_equal(counting_whole(tepal_counting_filter(gain), "ones"), 0);
        assert_true(change.fell > 0 && change.rose == 0);
        tepal_counting_free(gain);
        tepal_counting_free(before);
        tepal_counting_free(now);
        tepal_counting_free(since);
    }
}

static void the_difference_finds_keys_at_stuck_counters(void **state)
{
    (void)state;
    static struct tepal_digest keys[MANY];
    digests_of(keys, MANY, 6);
    struct tepal_params params = counting_params(TEPAL_LAYOUT_FLAT, 256, 3, 1);
    struct tepal_counting *before = filled(&params, keys, 1000);
    struct tepal_counting *now = filled(&params, keys, MANY);
    struct tepal_counting *gain;
    struct tepal_counting_change change;
    assert_ok(tepal_counting_difference(now, before, NULL, &change, &gain));
    assert_true(change.unknown > 0);
    for (size_t i = 1000; i < MANY; i++) {
        assert_true(tepal_counting_query(gain, keys[i]));
    }
    /* a union saturates, too */
    assert_ok(tepal_filter_unite(tepal_counting_filter(now), tepal_counting_filter(before)));
    assert_ok(tepal_validate(tepal_counting_filter(now), NULL));
    assert_int_equal(counting_whole(tepal_counting_filter(now), "max_count"), 15);
    struct tepal_params other = params;
    other.seed++;
    struct tepal_counting *stranger = filled(&other, keys, 1);
    struct tepal_counting *untouched = NULL;
    assert_int_equal(tepal_counting_difference(now, stranger, NULL, NULL, &untouched),
                     TEPAL_MISMATCH);
    assert_null(untouched);
    tepal_counting_free(stranger);
    tepal_counting_free(gain);
    tepal_counting_free(before);
    tepal_counting_free(now);
}

static void a_bloom_filter_has_the_same_bits(void **state)
{
    (void)state;
    static struct tepal_digest keys[MANY];
    digests_of(keys, MANY, 7);
    for (size_t l = 0; l < 4; l++) {
        for (uint32_t c = 1; c < 3; c++) {
            struct tepal_params params = counting_params(layouts[l], 16384, 5, c);
            struct tepal_counting *counting = filled(&params, keys, MANY / 2);
            struct tepal_counting *bits;
            struct tepal_bloom *bloom = NULL;
            enum tepal_status status = tepal_counting_bloom(counting, NULL, &bloom);
            if (l < 2 && c == 1) {
                struct tepal_params plain = params;
                struct tepal_bloom *built;
                plain.kind = TEPAL_KIND_BLOOM;
                memset(plain.own, 0, sizeof plain.own);
                assert_ok(status);
                assert_ok(tepal_bloom_create(&plain, NULL, &built));
                assert_ok(tepal_bloom_add_many(built, keys, MANY / 2));
                assert_true(tepal_bloom_equal(bloom, built));
                tepal_bloom_free(built);
                tepal_bloom_free(bloom);
            } else {
                assert_int_equal(status, TEPAL_UNSUPPORTED);
                assert_null(bloom);
            }
            assert_ok(tepal_counting_strip(counting, NULL, &bits));
            assert_ok(tepal_validate(tepal_counting_filter(bits), NULL));
            for (size_t i = 0; i < MANY; i++) {
                assert_int_equal(tepal_counting_query(bits, keys[i]),
                                 tepal_counting_query(counting, keys[i]));
            }
            size_t removed = 0;
            assert_int_equal(tepal_counting_add(bits, keys[0], NULL), TEPAL_UNSUPPORTED);
            assert_int_equal(tepal_counting_add_many(bits, keys, 1, NULL), TEPAL_UNSUPPORTED);
            assert_int_equal(tepal_counting_remove(bits, keys[0]), TEPAL_UNSUPPORTED);
            assert_int_equal(tepal_counting_remove_group(bits, keys[0], 0), TEPAL_UNSUPPORTED);
            assert_int_equal(tepal_counting_remove_many(bits, keys, NULL, 1, NULL, &removed),
                             TEPAL_UNSUPPORTED);
            struct tepal_filter *generic = tepal_counting_filter(bits);
            struct tepal_report report;
            removed = 7;
            assert_int_equal(tepal_filter_remove(generic, keys[0]), TEPAL_UNSUPPORTED);
            assert_int_equal(tepal_filter_remove_many(generic, keys, 1, &removed),
                             TEPAL_UNSUPPORTED);
            assert_int_equal(removed, 7);
            tepal_filter_info(generic, &report);
            assert_int_equal(tepal_report_find(&report, "bits")->value.integer, params.cells);
            assert_true(tepal_report_find(&report, "bytes")->value.integer * 8 < params.cells + 64);
            assert_int_equal(tepal_counting_difference(bits, bits, NULL, NULL, &counting),
                             TEPAL_UNSUPPORTED);
            assert_ok(tepal_filter_unite(tepal_counting_filter(bits), tepal_counting_filter(bits)));
            assert_ok(tepal_validate(tepal_counting_filter(bits), NULL));
            tepal_counting_free(bits);
            tepal_counting_free(counting);
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
        struct tepal_counting *a;
        struct tepal_counting *b;
        struct tepal_counting *both;
        uint64_t answers[MANY / 64 + 1];
        size_t removed = 0;
        assert_ok(tepal_counting_create(&params, NULL, &a));
        assert_ok(tepal_counting_create(&params, NULL, &b));
        assert_ok(tepal_counting_create(&params, NULL, &both));
        assert_ok(tepal_counting_add_many(a, keys, half, groups));
        assert_ok(tepal_counting_add_many(b, keys + half, MANY - half, groups + half));
        assert_ok(tepal_counting_add_many(both, keys, MANY, NULL));
        assert_ok(tepal_filter_unite(tepal_counting_filter(a), tepal_counting_filter(b)));
        assert_ok(tepal_validate(tepal_counting_filter(a), NULL));
        assert_int_equal(tepal_counting_query_many(a, keys, MANY, answers), MANY);
        /* the choices were others */
        assert_false(tepal_filter_equal(tepal_counting_filter(a), tepal_counting_filter(both)));
        assert_ok(tepal_counting_remove_many(a, keys, groups, half, NULL, &removed));
        assert_int_equal(removed, half);
        /* what is left is the other filter, bit for bit: no counter was stuck */
        assert_true(tepal_filter_equal(tepal_counting_filter(a), tepal_counting_filter(b)));
        tepal_counting_free(a);
        tepal_counting_free(b);
        tepal_counting_free(both);
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
        struct tepal_counting *counting = filled(&params, keys, 100);
        struct tepal_filter *filter = tepal_counting_filter(counting);
        assert_ok(tepal_validate(filter, NULL));
        for (size_t i = 0; i < filter->word_count; i++) {
            for (int bit = 0; bit < 64; bit += 1 + (int)(i % 5)) {
                const char *why = NULL;
                filter->words[i] ^= (uint64_t)1 << bit;
                assert_int_equal(tepal_validate(filter, &why), TEPAL_CORRUPT);
                assert_non_null(why);
                filter->words[i] ^= (uint64_t)1 << bit;
            }
        }
        for (size_t i = COUNTING_ONES; i < FILTER_STATES; i++) {
            filter->state.own[i]++;
            assert_int_equal(tepal_validate(filter, NULL), TEPAL_CORRUPT);
            filter->state.own[i]--;
        }
        assert_ok(tepal_validate(filter, NULL));
        tepal_counting_free(counting);
    }
}

/* ---- audit ----------------------------------------------------------------------------------- */

/* Sec. 3.1 and 3.2 to the letter: affected counters, members that share them, then the rest. */
static void by_the_letter(const struct tepal_counting *counting, const struct tepal_digest *members,
                          size_t count, const uint64_t *affected, uint32_t affected_count,
                          uint64_t *potential, uint64_t *exposed)
{
    struct tepal_filter *copy;
    assert_ok(tepal_filter_clone(tepal_counting_filter_const(counting), NULL, &copy));
    bool gone[MANY] = {false};
    *exposed = 0;
    *potential = 0;
    for (size_t i = 0; i < count; i++) {
        *exposed += !tepal_counting_query(counting, members[i]);
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
        struct tepal_counting *counting = filled(&params, keys, 300);
        struct tepal_digest wrong;
        uint64_t affected[TEPAL_MAX_HASHES];
        uint64_t potential;
        uint64_t exposed;
        struct tepal_report report;
        do {
            wrong = check_digest(&seed);
        } while (tepal_counting_remove(counting, wrong) != TEPAL_OK);
        uint32_t k = tepal_counting_positions(counting, wrong, 0, affected);
        by_the_letter(counting, keys, 300, affected, k, &potential, &exposed);
        assert_ok(tepal_counting_audit(counting, keys, NULL, 300, NULL, &report));
        assert_int_equal(check_number(&report, "members"), 300);
        assert_int_equal(check_number(&report, "exposed"), exposed);
        assert_int_equal(check_number(&report, "potential"), potential);
        assert_int_equal(check_number(&report, "deficit"), k);
        assert_int_equal(check_number(&report, "deficit_counters"), k);
        assert_int_equal(check_number(&report, "surplus"), 0);
        assert_true(potential >= exposed && potential <= 5 && potential >= 1);
        seen += exposed;
        /* a key that is no member is a surplus */
        assert_ok(tepal_counting_add(counting, keys[400], NULL));
        assert_ok(tepal_counting_audit(counting, keys, NULL, 300, NULL, &report));
        assert_true(check_number(&report, "surplus") + k - check_number(&report, "deficit") > 0);
        tepal_counting_free(counting);
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
    struct tepal_counting *counting;
    struct tepal_report report;
    assert_ok(tepal_counting_create(&params, NULL, &counting));
    assert_ok(tepal_counting_add_many(counting, keys, MANY, groups));
    assert_ok(tepal_counting_audit(counting, keys, groups, MANY, NULL, &report));
    assert_int_equal(check_number(&report, "exposed"), 0);
    assert_int_equal(check_number(&report, "potential"), 0);
    assert_int_equal(check_number(&report, "deficit"), 0);
    assert_int_equal(check_number(&report, "surplus"), 0);
    assert_true(check_number(&report, "several") > 0);
    groups[3] = 4;
    assert_int_equal(tepal_counting_audit(counting, keys, groups, MANY, NULL, &report),
                     TEPAL_BAD_ARGUMENT);
    struct tepal_counting *bits;
    assert_ok(tepal_counting_strip(counting, NULL, &bits));
    assert_int_equal(tepal_counting_audit(bits, keys, NULL, 1, NULL, &report), TEPAL_UNSUPPORTED);
    tepal_counting_free(bits);
    tepal_counting_free(counting);
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
    assert_string_equal(tepal_counting_rule_name((enum tepal_counting_rule)7), "unknown");
    assert_string_equal(tepal_counting_policy_name(TEPAL_POLICY_KEEP), "keep");
    assert_int_equal(TEPAL_KIND_COUNTING, 4); /* on disk: pinned */
    struct tepal_counting *counting;
    assert_ok(tepal_counting_create_for_rate(1000, 0.01, 3, &counting));
    struct tepal_filter *filter = tepal_counting_filter(counting);
    assert_ptr_equal(tepal_filter_counting(filter), counting);
    assert_ptr_equal(tepal_filter_counting_const(filter), counting);
    assert_null(tepal_filter_bloom(filter));
    /* 4 bits of counter and 1 beside it */
    assert_int_equal(counting_whole(filter, "counter_bytes") +
                         counting_whole(filter, "plane_bytes"),
                     counting_whole(filter, "bytes"));
    assert_true(counting_whole(filter, "plane_bytes") <= counting_whole(filter, "bytes") / 5 + 8);
    tepal_counting_free(counting);
    tepal_counting_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_agree_with_a_plain_twin),
        cmocka_unit_test(batches_equal_single_calls),
        cmocka_unit_test(kernels_agree_on_lines),
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
