/*
 * recycling_unit.c: the recycling filter against a naive one (recycling_plain.h): every answer,
 * every number that it keeps, in all variants and layouts, one by one and in batches, through files
 * and copies; and what must be refused.
 */
#define _GNU_SOURCE
#include "check.h"
#include "recycling_help.h"
#include "recycling_plain.h"

#include <tepal/papers.h>

#include <unistd.h>

#include "address/address.h"
#include "filter/kind.h"
#include "filter/recycling/internal.h"

#define CELLS 512
#define MOST  PLAIN_PHASES

static void near_to(double value, double expected, double most)
{
    if (!(fabs(value - expected) <= most)) {
        print_error("%.17g, expected %.17g +- %g\n", value, expected, most);
        fail();
    }
}

static struct tepal_recycling *inside(struct tepal_filter *filter)
{
    return (struct tepal_recycling *)filter;
}

static const struct tepal_recycling *inside_const(const struct tepal_filter *filter)
{
    return (const struct tepal_recycling *)filter;
}

/* ---- filters of all variants ----------------------------------------------------------------- */

static struct tepal_params params_of(unsigned variant, enum tepal_layout layout, uint32_t phases)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct recycling_options options = RECYCLING_OPTIONS_INIT;
    bool lined = layout == TEPAL_LAYOUT_BLOCKED || layout == TEPAL_LAYOUT_PAIRED;
    p.layout = layout;
    p.positions = variant & 1 ? TEPAL_POSITIONS_DISTINCT : TEPAL_POSITIONS_COLLIDING;
    p.hashes = variant & 32 ? 11 : 3;
    p.cells = lined ? 2 * CELLS : 300;
    p.seed = 5;
    options.phases = phases;
    options.retain = variant & 2;
    options.keep_trigger = variant & 4;
    options.only_misses = variant & 8;
    options.rule = variant & 16 ? TEPAL_RECYCLING_COUNT : TEPAL_RECYCLING_SIGMA;
    options.limit = variant & 16 ? p.cells / 8 : p.cells * 2 / 5;
    set_recycling(&p, &options);
    return p;
}

#define VARIANTS 64

/* One of all numbers of cells that a line's round can have: 1 to 8, or 9 to 16 in two rounds. */
static uint32_t any_hashes(unsigned variant)
{
    return (variant & 32 ? 9 : 1) + (variant + variant / 8) % 8;
}

/* A stream in which about a third of the messages are repeats, near and far. */
static struct tepal_digest message(uint64_t *random)
{
    uint64_t r = check_random(random);
    uint64_t pick = r % 3 == 0 ? check_random(random) % (r & 4 ? 20 : 600) : check_random(random);
    return check_digest(&pick);
}

static void check_same(const struct tepal_filter *r, const struct plain_recycling *n)
{
    struct tepal_recycling_figures now = recycling_figures(r);
    assert_int_equal(now.ones, n->ones);
    assert_int_equal(now.messages, n->messages);
    assert_int_equal(now.cycles, n->cycles);
    assert_int_equal(now.fresh, n->fresh);
    for (uint32_t age = 0; age < n->options.phases; age++) {
        uint64_t ones = 0;
        for (uint64_t i = 0; i < n->params.cells; i++) {
            ones += n->bit[age][i];
        }
        assert_int_equal(phase_ones(r, age), ones);
        if (age > 0) {
            assert_int_equal(inside_const(r)->frozen_ones[age], ones);
        }
    }
    struct tepal_error error = {.why = ""};
    assert_ok(tepal_filter_validate(r, &error));
}

static void it_is_the_naive_filter(void **state)
{
    (void)state;
    static struct plain_recycling n;
    uint64_t recycled = 0;
    for (unsigned variant = 0; variant < VARIANTS; variant++) {
        for (int layout = 0; layout < 4; layout++) {
            for (uint32_t phases = 1; phases <= MOST; phases++) {
                struct tepal_params p = params_of(variant, (enum tepal_layout)layout, phases);
                struct tepal_filter *r;
                uint64_t random = variant;
                p.hashes = any_hashes(variant);
                assert_ok(tepal_filter_create(&p, NULL, &r, NULL));
                plain_init(&n, &p);
                for (int i = 0; i < 400; i++) {
                    struct tepal_digest d = message(&random);
                    bool seen;
                    assert_int_equal(tepal_filter_query(r, d), plain_query(&n, d));
                    assert_ok(tepal_filter_test_add(r, d, &seen));
                    assert_int_equal(seen, plain_seen(&n, d));
                    if (i % 97 == 0) {
                        check_same(r, &n);
                    }
                }
                check_same(r, &n);
                recycled += n.cycles;
                tepal_filter_free(r);
            }
        }
    }
    assert_true(recycled > 4 * VARIANTS * MOST); /* it was worth looking at */
}

/* ---- batches, files, copies ------------------------------------------------------------------ */

/* The same stream in pieces of changing length: equal answers, and equal filters at the end. */
static void batches_answer_as_one_by_one(void **state)
{
    (void)state;
    enum { MESSAGES = 2000 };
    static struct tepal_digest stream[MESSAGES];
    const struct recycling_kernels *twins[3];
    size_t turn = 0;
    for (unsigned variant = 0; variant < VARIANTS; variant++) {
        for (int layout = 0; layout < 4; layout++) {
            struct tepal_params p = params_of(variant, (enum tepal_layout)layout, 1 + variant % 3);
            struct tepal_filter *one;
            struct tepal_filter *many;
            uint64_t random = variant + 1000;
            uint64_t answers[8];
            p.hashes = any_hashes(variant);
            assert_ok(tepal_filter_create(&p, NULL, &one, NULL));
            assert_ok(tepal_filter_create(&p, NULL, &many, NULL));
            const size_t count = recycling_twins(p.hashes, twins);
            if (inside(one)->kernels == twins[count - 1]) {
                inside(one)->kernels = twins[turn / count % count];
                inside(many)->kernels = twins[turn++ % count];
            }
            for (int i = 0; i < MESSAGES; i++) {
                stream[i] = message(&random);
            }
            size_t length = 0;
            for (size_t at = 0; at < MESSAGES; at += length) {
                size_t seen = 0;
                size_t expected = 0;
                length = check_random(&random) % 400;
                length = length < MESSAGES - at ? length : MESSAGES - at;
                size_t present = tepal_filter_query_many(many, stream + at, length, answers);
                for (size_t i = 0; i < length; i++) {
                    assert_int_equal(answers[i / 64] >> (i % 64) & 1,
                                     tepal_filter_query(one, stream[at + i]));
                    present -= answers[i / 64] >> (i % 64) & 1;
                }
                assert_int_equal(present, 0);
                memset(answers, 0xff, sizeof answers);
                assert_ok(tepal_filter_test_add_many(many, stream + at, length, answers, &seen));
                for (size_t i = 0; i < length; i++) {
                    bool yes;
                    assert_ok(tepal_filter_test_add(one, stream[at + i], &yes));
                    assert_int_equal(answers[i / 64] >> (i % 64) & 1, yes);
                    expected += yes;
                }
                assert_int_equal(seen, expected);
                if (length % 64 != 0) {
                    assert_int_equal(answers[length / 64] >> (length % 64), 0);
                }
            }
            assert_true(tepal_filter_equal(one, many));
            assert_memory_equal(&one->state, &many->state, sizeof one->state);
            assert_true(one->state.own[STATE_CYCLES] > 2);
            /* And add_many is the same again. */
            assert_ok(tepal_filter_clear(many));
            assert_ok(tepal_filter_add_many(many, stream, MESSAGES));
            assert_true(tepal_filter_equal(one, many));
            assert_memory_equal(&one->state, &many->state, sizeof one->state);
            tepal_filter_free(one);
            tepal_filter_free(many);
        }
    }
}

static struct tepal_filter *through_bytes(const struct tepal_filter *r)
{
    struct tepal_filter *back;
    size_t len = (size_t)tepal_encoded_bytes(r);
    uint8_t *bytes = malloc(len);
    assert_non_null(bytes);
    assert_ok(tepal_encode(r, bytes, len, NULL));
    assert_ok(tepal_decode(bytes, len, NULL, &back, NULL));
    free(bytes);
    return back;
}

/* Saved and loaded, or copied, at any time, it goes on as the one that was not. */
static void it_goes_on_identically(void **state)
{
    (void)state;
    for (unsigned variant = 0; variant < VARIANTS; variant++) {
        struct tepal_params p =
            params_of(variant, (enum tepal_layout)(variant % 4), 1 + variant % 3);
        struct tepal_filter *a;
        struct tepal_filter *b;
        uint64_t random = variant + 77;
        assert_ok(tepal_filter_create(&p, NULL, &a, NULL));
        assert_ok(tepal_filter_create(&p, NULL, &b, NULL));
        assert_ok(tepal_recycling_set_clock(a, 7));
        assert_ok(tepal_recycling_set_clock(b, 7));
        for (int i = 0; i < 600; i++) {
            struct tepal_digest d = message(&random);
            bool seen[2];
            assert_ok(tepal_filter_test_add(a, d, &seen[0]));
            assert_ok(tepal_filter_test_add(b, d, &seen[1]));
            assert_int_equal(seen[0], seen[1]);
            if (i % 53 == 0) {
                struct tepal_filter *copy;
                struct tepal_filter *old = b;
                if (i % 2 == 0) {
                    b = through_bytes(b);
                } else {
                    assert_ok(tepal_filter_clone(b, NULL, &copy, NULL));
                    b = copy;
                }
                tepal_filter_free(old);
            }
        }
        assert_true(tepal_filter_equal(a, b));
        assert_memory_equal(&a->state, &b->state, sizeof a->state);
        assert_true(a->state.own[STATE_CYCLES] > 0);
        tepal_filter_free(a);
        tepal_filter_free(b);
    }
}

/* ---- time, the callback, force --------------------------------------------------------------- */

struct log {
    unsigned calls;
    struct tepal_recycling_cycle last;
};

static void note(void *context, const struct tepal_recycling_cycle *cycle)
{
    struct log *log = context;
    log->calls++;
    log->last = *cycle;
}

static struct tepal_digest digest_of(uint64_t key)
{
    uint64_t state = key;
    return check_digest(&state);
}

static void phases_live_as_long_as_the_clock_says(void **state)
{
    (void)state;
    struct tepal_params p = params_of(2, TEPAL_LAYOUT_FLAT, 3);
    struct recycling_options options = recycling_options_of(&p);
    struct tepal_filter *r;
    struct log log = {0};
    bool seen;
    options.rule = TEPAL_RECYCLING_TIME;
    options.limit = 10;
    set_recycling(&p, &options);
    p.cells = 1 << 16;
    assert_ok(tepal_filter_create(&p, NULL, &r, NULL));
    assert_ok(tepal_recycling_on_recycle(r, note, &log));
    assert_ok(tepal_recycling_set_clock(r, 0)); /* 0 is a time like any other */
    assert_ok(tepal_filter_test_add(r, digest_of(1), &seen));
    assert_false(seen);
    assert_ok(tepal_recycling_set_clock(r, 9));
    assert_int_equal(log.calls, 0);
    assert_ok(tepal_filter_test_add(r, digest_of(2), &seen));
    assert_ok(tepal_recycling_set_clock(r, 10));
    assert_int_equal(log.calls, 1);
    assert_int_equal(log.last.number, 1);
    assert_int_equal(log.last.messages, 2);
    assert_int_equal(log.last.ones, phase_ones(r, 1));
    /* The cycle began at 10, whenever the first call after that comes: the next is at 20. */
    assert_ok(tepal_recycling_set_clock(r, 19));
    assert_ok(tepal_filter_test_add(r, digest_of(3), &seen));
    assert_ok(tepal_recycling_set_clock(r, 21));
    assert_int_equal(log.calls, 2);
    assert_ok(tepal_recycling_set_clock(r, 29));
    assert_int_equal(log.calls, 2);
    assert_true(tepal_filter_query(r, digest_of(1)));
    assert_ok(tepal_recycling_set_clock(r, 30)); /* 1 and 2 are gone after three times 10 */
    assert_false(tepal_filter_query(r, digest_of(1)));
    assert_false(tepal_filter_query(r, digest_of(2)));
    assert_true(tepal_filter_query(r, digest_of(3)));

    /* A clock that runs backwards changes nothing. */
    struct filter_state before = r->state;
    assert_int_equal(tepal_recycling_set_clock(r, 29), TEPAL_CLOCK_BACK);
    assert_memory_equal(&r->state, &before, sizeof before);
    assert_true(tepal_filter_query(r, digest_of(3)));
    assert_ok(tepal_recycling_set_clock(r, 30)); /* standing still is allowed */

    /* A long sleep empties every phase, once, and ends at the limit of the type. */
    assert_ok(tepal_filter_test_add(r, digest_of(4), &seen));
    log.calls = 0;
    assert_ok(tepal_recycling_set_clock(r, UINT64_MAX));
    assert_int_equal(log.calls, 3);
    assert_false(tepal_filter_query(r, digest_of(4)));
    assert_ok(tepal_filter_validate(r, NULL));
    assert_int_equal(recycling_figures(r).clock, UINT64_MAX);
    tepal_filter_free(r);
}

static void recycling_can_be_forced_and_cleared(void **state)
{
    (void)state;
    struct tepal_params p = params_of(2, TEPAL_LAYOUT_BLOCKED, 2);
    struct tepal_filter *r;
    struct log log = {0};
    bool seen;
    assert_ok(tepal_filter_create(&p, NULL, &r, NULL));
    assert_ok(tepal_recycling_on_recycle(r, note, &log));
    assert_ok(tepal_filter_test_add(r, digest_of(1), &seen));
    assert_ok(tepal_recycling_recycle(r));
    assert_true(tepal_filter_query(r, digest_of(1)));
    assert_ok(tepal_recycling_recycle(r));
    assert_false(tepal_filter_query(r, digest_of(1)));
    assert_int_equal(log.calls, 2);
    assert_ok(tepal_filter_test_add(r, digest_of(1), &seen));
    assert_ok(tepal_filter_clear(r));
    assert_false(tepal_filter_query(r, digest_of(1)));
    assert_int_equal(recycling_figures(r).cycles, 0);
    assert_int_equal(tepal_filter_keys_added(r), 0);
    assert_ok(tepal_filter_validate(r, NULL));
    tepal_filter_free(r);
}

/* The oldest phase is cleared in pieces: only it is forgotten, and recycling goes on as ever. */
static void the_oldest_phase_is_cleared_ahead(void **state)
{
    (void)state;
    for (int layout = 0; layout < 4; layout++) {
        struct tepal_params p = params_of(2, (enum tepal_layout)layout, 3);
        struct tepal_filter *r;
        struct tepal_filter *once;
        uint64_t random = 9;
        uint64_t left = 0;
        uint64_t before = UINT64_MAX;
        bool seen;
        assert_ok(tepal_filter_create(&p, NULL, &r, NULL));
        for (int i = 0; i < 1500; i++) {
            assert_ok(tepal_filter_test_add(r, message(&random), &seen));
        }
        assert_ok(tepal_filter_clone(r, NULL, &once, NULL));
        uint64_t active = phase_ones(r, 0);
        uint64_t frozen = phase_ones(r, 1);
        assert_true(phase_ones(r, 2) > 0);
        do {
            assert_ok(tepal_recycling_clear_ahead(r, 16, &left));
            assert_true(left < before);
            assert_ok(tepal_filter_validate(r, NULL));
            before = left;
        } while (left > 0);
        assert_ok(tepal_recycling_clear_ahead(r, 16, NULL));
        assert_int_equal(phase_ones(r, 0), active);
        assert_int_equal(phase_ones(r, 1), frozen);
        assert_int_equal(phase_ones(r, 2), 0);
        /* once it recycles nobody can tell */
        assert_ok(tepal_recycling_recycle(r));
        assert_ok(tepal_recycling_recycle(once));
        assert_true(tepal_filter_equal(r, once));
        tepal_filter_free(once);
        tepal_filter_free(r);
    }
    struct tepal_params p = params_of(2, TEPAL_LAYOUT_FLAT, 1);
    struct tepal_filter *r;
    uint64_t left = 7;
    assert_ok(tepal_filter_create(&p, NULL, &r, NULL));
    assert_int_equal(tepal_recycling_clear_ahead(r, 16, &left), TEPAL_UNSUPPORTED);
    assert_int_equal(left, 7);
    tepal_filter_free(r);
}

/* ---- the trap -------------------------------------------------------------------------------- */

/*
 * Only misses are inserted, one hash, sigma = M/2. With hash functions shared by the phases a
 * message that finds its cell set in the frozen phase is not inserted, so that the active phase can
 * only ever take the M/2 cells that are free there, never one more: it stops for ever. With hash
 * functions of its own it goes on.
 */
static void the_trap_of_shared_hashes(void **state)
{
    (void)state;
    static struct plain_recycling n;
    struct tepal_params p = params_of(2 | 8, TEPAL_LAYOUT_FLAT, 2);
    struct recycling_options options = recycling_options_of(&p);
    struct tepal_filter *r;
    uint64_t random = 9;
    uint64_t positives = 0;
    uint64_t cycles = 0;
    p.hashes = 1;
    options.limit = p.cells / 2;
    set_recycling(&p, &options);
    assert_ok(tepal_filter_create(&p, NULL, &r, NULL));
    plain_init(&n, &p);
    n.shared = true;
    for (int i = 0; i < 20000; i++) {
        struct tepal_digest d = check_digest(&random);
        bool seen;
        assert_ok(tepal_filter_test_add(r, d, &seen));
        bool shared = plain_seen(&n, d);
        if (i >= 10000) {
            positives += shared;
            cycles = n.cycles;
        }
    }
    assert_true(cycles <= 2);      /* the shared one has stopped ... */
    assert_true(positives > 9900); /* ... and says "seen" to everything new */
    assert_true(recycling_figures(r).cycles > 20);
    assert_true(recycling_figures(r).fresh > 5000);
    tepal_filter_free(r);
}

/* ---- what it says of itself ------------------------------------------------------------------ */

/* fp_now is the rate from the bits; the average so far is that of the messages so far. */
static void figures_follow_the_bits(void **state)
{
    (void)state;
    struct tepal_params p = params_of(2, TEPAL_LAYOUT_FLAT, 2);
    struct tepal_filter *r;
    uint64_t random = 3;
    double expected = 0;
    double fresh = 0;
    p.cells = 4000;
    p.recycling.limit = 2000;
    assert_ok(tepal_filter_create(&p, NULL, &r, NULL));
    for (int i = 0; i < 6000; i++) {
        double miss = 1;
        for (uint32_t age = 0; age < 2; age++) {
            miss *= 1 - pow((double)phase_ones(r, age) / 4000, p.hashes);
        }
        near_to(recycling_figures(r).fp_now, 1 - miss, 1e-12);
        bool seen;
        assert_ok(tepal_filter_test_add(r, check_digest(&random), &seen));
        fresh += !seen;
        expected += seen ? 0 : (1 - miss) / miss;
    }
    /* steps of 1/128 of the cells: the average is good to a few per mille */
    double average = expected / (expected + fresh);
    near_to(recycling_figures(r).fp_so_far, average, 0.005 * average);
    struct tepal_report report;
    tepal_filter_info(r, &report);
    near_to(tepal_report_find(&report, "fp_so_far")->value.real, recycling_figures(r).fp_so_far, 0);
    struct tepal_recycling_setting setting = {p.layout, p.positions, p.cells, p.hashes,
                                              2000,     2,           true,    false};
    struct tepal_recycling_rates rates;
    assert_ok(tepal_recycling_average(&setting, TEPAL_RECYCLING_SWEEP, &rates));
    near_to(tepal_report_find(&report, "fp_average")->value.real, rates.fp_average, 1e-12);
    near_to(tepal_report_find(&report, "messages_per_cycle")->value.real, rates.messages_per_cycle,
            1e-9);
    assert_int_equal(tepal_report_find(&report, "phases")->value.integer, 2);
    tepal_filter_free(r);
}

static enum tepal_status for_rate(uint64_t bits, uint32_t phases, double fp,
                                  struct tepal_params *out)
{
    struct tepal_error error = {.why = ""};
    *out = (struct tepal_params)TEPAL_PARAMS_INIT;
    out->kind = TEPAL_KIND_RECYCLING;
    out->cells = bits;
    out->recycling.phases = phases;
    out->seed = 4;
    struct tepal_params before = *out;
    enum tepal_status status = tepal_params_for_rate(out, 0, fp, &error);
    if (status != TEPAL_OK) {
        check_error(&error, status);
        assert_memory_equal(out, &before, sizeof before);
    }
    return status;
}

static void created_for_a_rate(void **state)
{
    (void)state;
    struct tepal_params sized;
    struct tepal_filter *r;
    bool seen;
    assert_ok(for_rate(10000, 0, 0.01, &sized)); /* two phases, and the trigger is kept */
    assert_ok(tepal_filter_create(&sized, NULL, &r, NULL));
    const struct tepal_params *p = tepal_filter_params(r);
    assert_int_equal(p->cells, 10000);
    assert_int_equal(p->recycling.phases, 2);
    assert_int_equal(p->recycling.rule, TEPAL_RECYCLING_SIGMA);
    assert_int_equal(p->recycling.flags, TEPAL_RECYCLING_RETAIN);
    assert_int_equal(p->hashes, 7);
    assert_true(fabs((double)p->recycling.limit / 10000 - 0.5069) < 0.001);
    assert_ok(tepal_filter_test_add_bytes(r, "a", 1, &seen));
    assert_false(seen);
    assert_ok(tepal_filter_test_add_bytes(r, "a", 1, &seen));
    assert_true(seen);
    assert_ok(tepal_filter_test_add_u64(r, 5, &seen));
    assert_false(seen);
    assert_ok(tepal_filter_test_add_u64(r, 5, &seen));
    assert_true(seen);
    tepal_filter_free(r);
    assert_ok(for_rate(10000, 3, 0.01, &sized));
    assert_int_equal(sized.recycling.phases, 3);
    assert_int_equal(sized.recycling.flags, 0);
    assert_int_equal(for_rate(10000, 9, 0.01, &sized), TEPAL_BAD_PARAMETER);
    assert_int_equal(for_rate(10000, 2, 0, &sized), TEPAL_BAD_ARGUMENT);
    assert_int_equal(for_rate(0, 2, 0.01, &sized), TEPAL_BAD_ARGUMENT);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void bad_parameters_are_refused(void **state)
{
    (void)state;
    const struct tepal_params good = params_of(0, TEPAL_LAYOUT_BLOCKED, 2);
    assert_ok(tepal_params_check(&good, NULL));
    static const struct {
        size_t own;
        uint64_t value;
    } bad[] = {
        {PARAMS_INDEX(recycling.phases), 0},
        {PARAMS_INDEX(recycling.phases), 9},
        {PARAMS_INDEX(recycling.phases), UINT64_MAX},
        {PARAMS_INDEX(recycling.rule), 3},
        {PARAMS_INDEX(recycling.limit), 0},
        {PARAMS_INDEX(recycling.limit), 2},
        {PARAMS_INDEX(recycling.limit), 1024},
        {PARAMS_INDEX(recycling.limit), UINT64_MAX},
        {PARAMS_INDEX(recycling.flags), 8},
        {PARAMS_INDEX(recycling.flags) + 1, 1},
        {7, 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tepal_params p = good;
        struct tepal_filter *r = NULL;
        struct tepal_error error = {.why = NULL};
        p.own[bad[i].own] = bad[i].value;
        assert_int_equal(tepal_params_check(&p, &error), TEPAL_BAD_PARAMETER);
        assert_non_null(error.why);
        assert_int_equal(tepal_filter_create(&p, NULL, &r, NULL), TEPAL_BAD_PARAMETER);
        assert_null(r);
    }
    struct tepal_params p = good;
    p.recycling.limit = 1023; /* the largest sigma, and the smallest */
    assert_ok(tepal_params_check(&p, NULL));
    p.recycling.limit = p.hashes;
    assert_ok(tepal_params_check(&p, NULL));
    p.cells = 500; /* less than a line */
    assert_int_equal(tepal_params_check(&p, NULL), TEPAL_BAD_PARAMETER);
    p = good;
    p.recycling.rule = TEPAL_RECYCLING_COUNT;
    p.recycling.limit = 0;
    assert_int_equal(tepal_params_check(&p, NULL), TEPAL_BAD_PARAMETER);
    p = good;
    p.cells = (uint64_t)1 << 60;
    p.recycling.phases = 8;
    assert_int_equal(tepal_params_cell_bytes(&p), (uint64_t)1 << 60);
    struct tepal_filter *none = NULL;
    p = good;
    p.kind = TEPAL_KIND_BLOOM; /* which has none of its parameters */
    assert_int_equal(tepal_filter_create(&p, NULL, &none, NULL), TEPAL_BAD_PARAMETER);
    assert_null(none);
}

/* Every word of the state that contradicts the others is found, whoever wrote the file. */
static void contradictions_are_found(void **state)
{
    (void)state;
    struct tepal_params p = params_of(2, TEPAL_LAYOUT_FLAT, 3);
    struct tepal_filter *r;
    uint64_t random = 5;
    bool seen;
    assert_ok(tepal_filter_create(&p, NULL, &r, NULL));
    for (int i = 0; i < 60; i++) {
        assert_ok(tepal_filter_test_add(r, check_digest(&random), &seen));
    }
    assert_int_equal(r->state.own[STATE_CYCLES], 1);
    assert_ok(tepal_filter_validate(r, NULL));
    struct filter_state good = r->state;
    for (int i = 0; i < 12; i++) {
        uint64_t *own = r->state.own;
        double nan = NAN;
        r->state = good;
        switch (i) {
        case 0:
            own[STATE_ONES]++;
            break;
        case 1:
            own[STATE_ONES]--;
            break;
        case 2:
            own[STATE_CYCLES]++;
            break;
        case 3:
            own[STATE_CYCLES] = UINT64_MAX;
            break;
        case 4:
            own[STATE_MESSAGES] = own[STATE_ONES] + 1;
            break;
        case 5:
            own[STATE_FRESH] = r->state.keys_added + 1;
            break;
        case 6:
            memcpy(&own[STATE_EXPECTED], &nan, sizeof nan);
            break;
        case 7:
            own[STATE_EXPECTED] |= (uint64_t)1 << 63; /* negative */
            break;
        case 8:
            own[STATE_CLOCKED] = 2;
            break;
        case 9:
            own[STATE_CLOCK] = 1;
            break;
        case 10:
            own[STATE_CLOCKED] = 1;
            own[STATE_BEGAN] = 1;
            break;
        default:
            r->state.keys_added = UINT64_MAX;
        }
        struct tepal_error error = {.why = NULL};
        r->ops->open(r); /* as loading does, before it looks */
        assert_int_equal(tepal_filter_validate(r, &error), TEPAL_CORRUPT);
        assert_non_null(error.why);
    }
    r->state = good;
    r->ops->open(r);
    /* A bit beyond the last cell of any phase (300 cells are 4 words and 44 bits). */
    for (size_t phase = 0; phase < 3; phase++) {
        r->words[phase * 5 + 4] ^= (uint64_t)1 << 44;
        assert_int_equal(tepal_filter_validate(r, NULL), TEPAL_CORRUPT);
        r->words[phase * 5 + 4] ^= (uint64_t)1 << 44;
    }
    /* A phase that was never active. */
    r->words[2 * 5] ^= 1;
    assert_int_equal(tepal_filter_validate(r, NULL), TEPAL_CORRUPT);
    r->words[2 * 5] ^= 1;
    assert_ok(tepal_filter_validate(r, NULL));
    tepal_filter_free(r);
}

/* Numbers as large as a file may state them: what goes on from there can be loaded again. */
static void counting_ends_without_harm(void **state)
{
    (void)state;
    const uint64_t most = ((uint64_t)1 << 62) - 1;
    const double expected = 0x1p82;
    for (uint32_t phases = 1; phases <= TEPAL_MAX_PHASES; phases++) {
        struct tepal_params p = params_of(2, TEPAL_LAYOUT_FLAT, phases);
        struct tepal_filter *r;
        uint64_t random = 5;
        bool seen;
        assert_ok(tepal_filter_create(&p, NULL, &r, NULL));
        r->state.keys_added = most;
        r->state.own[STATE_CYCLES] = most;
        r->state.own[STATE_FRESH] = most;
        memcpy(&r->state.own[STATE_EXPECTED], &expected, sizeof expected);
        r->ops->open(r);
        assert_ok(tepal_filter_validate(r, NULL));
        for (uint32_t i = 0; i < 3 * phases; i++) {
            struct tepal_digest digest = check_digest(&random);
            uint64_t active = inside(r)->active;
            assert_ok(tepal_filter_test_add(r, digest, &seen));
            assert_ok(tepal_recycling_recycle(r));
            assert_ok(tepal_filter_validate(r, NULL));
            assert_int_equal(inside(r)->active, (active + 1) % phases);
            assert_int_equal(tepal_filter_query(r, digest), phases > 1);
        }
        assert_int_equal(r->state.keys_added, most);
        assert_true(r->state.own[STATE_FRESH] <= most);
        tepal_filter_free(r);
    }
}

/* A bloom filter is none, and a view takes nothing in. */
static void handles_know_their_kind(void **state)
{
    (void)state;
    struct tepal_filter *b;
    struct log log = {0};
    struct tepal_recycling_figures figures = {.arrivals = 7};
    uint64_t left = 7;
    assert_ok(bloom_with_bits(512, 3, 1, &b));
    assert_int_equal(tepal_recycling_set_clock(b, 1), TEPAL_UNSUPPORTED);
    assert_int_equal(tepal_recycling_recycle(b), TEPAL_UNSUPPORTED);
    assert_int_equal(tepal_recycling_clear_ahead(b, 8, &left), TEPAL_UNSUPPORTED);
    assert_int_equal(left, 7);
    assert_int_equal(tepal_recycling_on_recycle(b, note, &log), TEPAL_UNSUPPORTED);
    assert_int_equal(tepal_recycling_get_figures(b, &figures), TEPAL_UNSUPPORTED);
    assert_int_equal(figures.arrivals, 7);
    tepal_filter_free(b);
    tepal_filter_free(NULL);

    struct tepal_params p = params_of(2, TEPAL_LAYOUT_BLOCKED, 2);
    struct tepal_filter *r;
    struct tepal_filter *view;
    bool seen = true;
    size_t count = 5;
    uint64_t answers;
    char path[] = "/tmp/tepal_recycling_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    assert_ok(tepal_filter_create(&p, NULL, &r, NULL));
    for (uint64_t i = 0; i < 300; i++) {
        assert_ok(tepal_filter_test_add(r, digest_of(i), &seen));
    }
    assert_ok(tepal_save(r, path, NULL));
    assert_ok(tepal_map(path, TEPAL_MAP_VERIFY, NULL, &view, NULL));
    struct tepal_digest d = digest_of(299);
    assert_true(tepal_filter_query(view, d));
    assert_int_equal(tepal_filter_test_add(view, d, &seen), TEPAL_READ_ONLY);
    assert_int_equal(tepal_filter_test_add_many(view, &d, 1, &answers, &count), TEPAL_READ_ONLY);
    assert_int_equal(count, 5);
    assert_int_equal(tepal_recycling_set_clock(view, 1), TEPAL_READ_ONLY);
    assert_int_equal(tepal_recycling_recycle(view), TEPAL_READ_ONLY);
    assert_int_equal(tepal_recycling_clear_ahead(view, 8, &left), TEPAL_READ_ONLY);
    near_to(recycling_figures(view).fp_now, recycling_figures(r).fp_now, 0);
    tepal_filter_free(view);
    tepal_filter_free(r);
    (void)remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_naive_filter),
        cmocka_unit_test(batches_answer_as_one_by_one),
        cmocka_unit_test(it_goes_on_identically),
        cmocka_unit_test(phases_live_as_long_as_the_clock_says),
        cmocka_unit_test(recycling_can_be_forced_and_cleared),
        cmocka_unit_test(the_oldest_phase_is_cleared_ahead),
        cmocka_unit_test(the_trap_of_shared_hashes),
        cmocka_unit_test(figures_follow_the_bits),
        cmocka_unit_test(created_for_a_rate),
        cmocka_unit_test(bad_parameters_are_refused),
        cmocka_unit_test(contradictions_are_found),
        cmocka_unit_test(counting_ends_without_harm),
        cmocka_unit_test(handles_know_their_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
