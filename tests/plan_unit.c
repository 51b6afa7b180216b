/*
 * plan_unit.c: the planner: each kind's solver against brute force, the values that are known, what
 * is refused and why, and that nonsense is told. Each kind has a few problems of brute force here,
 * and 200 in plan_stat.c.
 */
#include "model/generalized.h"
#include "plan_brute.h"
#include "recycling_help.h"

#include <tepal/papers.h>

static void bloom_is_never_worse_than_a_grid(void **state)
{
    (void)state;
    brute_bloom(20);
}

static void retouched_is_never_worse_than_a_grid(void **state)
{
    (void)state;
    brute_retouched(8);
}

static void fingerprint_is_never_worse_than_a_grid(void **state)
{
    (void)state;
    brute_fingerprint(20);
}

static void counting_is_never_worse_than_a_grid(void **state)
{
    (void)state;
    brute_counting(8);
}

static void generalized_is_never_worse_than_a_grid(void **state)
{
    (void)state;
    brute_generalized(3);
}

static void cascade_is_never_worse_than_a_grid(void **state)
{
    (void)state;
    brute_cascade(8);
}

static void yesno_is_never_worse_than_a_grid(void **state)
{
    (void)state;
    brute_yesno(3);
}

static void recycling_is_never_worse_than_a_grid(void **state)
{
    (void)state;
    brute_recycling(3);
}

/* ---- figures --------------------------------------------------------------------------------- */

/*
 * What a proposal tells are numbers within their range, NaN where tepal/plan.h says so and nowhere
 * else. Of one that is refused only if there are parameters.
 */
static void assert_figures(const struct tepal_wish *w, const struct tepal_proposal *p)
{
    if (p->params.cells == 0) {
        assert_false(p->feasible);
        return;
    }
    bool recycles = p->kind == TEPAL_KIND_RECYCLING;
    bool knows_fn = !(recycles && w->stream == TEPAL_STREAM_UNKNOWN);
    assert_true(p->bits > 0 && p->excess >= 1);
    assert_true(!p->feasible || p->excess <= 1);
    assert_true(w->keys == 0 ? isnan(p->bits_per_key) : p->bits_per_key > 0);
    assert_true(p->fp >= 0 && p->fp <= 1);
    assert_true(w->known_negatives == 0 ? isnan(p->fp_known)
                                        : p->fp_known >= 0 && p->fp_known <= 1);
    assert_true(knows_fn ? p->fn >= 0 && p->fn <= 1 : isnan(p->fn));
    assert_true(p->probes >= 1 && p->probes <= 64);
    assert_true(p->cost >= 0 && p->cost <= w->cost_fp + w->cost_fn + 2);
    assert_true(recycles ? p->remembers >= 0 : isnan(p->remembers));
}

static void assert_all_figures(const struct tepal_wish *w, const struct tepal_plans *plans)
{
    assert_true(plans->count >= 8);
    for (size_t i = 0; i < plans->count; i++) {
        assert_figures(w, &plans->plan[i]);
    }
}

/* ---- known values ---------------------------------------------------------------------------- */

/* Bits a key for (F_p, F_n) with tolerance 0; more tolerance never needs more. */
static void generalized_needs_the_bits_that_are_known(void **state)
{
    (void)state;
    static const struct {
        double fp, fn;
        double none; /* bits a key at tolerance 0 */
        double many; /* and at a tolerance that is good */
    } row[] = {{0.01, 0.01, 2386.2, 99},
               {0.05, 0.05, 232.7, 50.5},
               {0.1, 0.1, 74.67, 29.6},
               {0.001, 0.001, 49972, 172}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct tepal_wish w = TEPAL_WISH_INIT;
        struct tepal_plans plans;
        w.keys = 1000000;
        w.untrusted = true;
        w.endless = true;
        w.fp = row[i].fp;
        w.fn = row[i].fn;
        plan_it(&w, &plans);
        const struct tepal_proposal *p = plan_of(&plans, TEPAL_KIND_GENERALIZED, TEPAL_LAYOUT_FLAT);
        assert_true(p != NULL && p->feasible);
        assert_ptr_equal(p, &plans.plan[0]);
        assert_true(p->bits_per_key <= row[i].many * 1.011);
        assert_true(p->bits_per_key < row[i].none);
        assert_true(p->fp <= w.fp && p->fn <= w.fn * EXACT);
    }
}

/* Few keys take positions that differ, which saves bits; many save next to none. */
static void few_keys_take_positions_that_differ(void **state)
{
    (void)state;
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans plans;
    w.keys = 3;
    w.fp = 1e-3;
    plan_it(&w, &plans);
    assert_int_equal(plans.plan[0].kind, TEPAL_KIND_BLOOM);
    assert_int_equal(plans.plan[0].bits, 43);
    assert_int_equal(plans.plan[0].params.positions, TEPAL_POSITIONS_DISTINCT);
    assert_true(plans.plan[0].fp <= w.fp);
    w.keys = 1000000;
    plan_it(&w, &plans);
    assert_int_equal(plans.plan[0].params.positions, TEPAL_POSITIONS_COLLIDING);
    w.keys = 3; /* in a given memory: the lower rate */
    w.bits = 64;
    w.fp = NAN;
    plan_it(&w, &plans);
    const struct tepal_proposal *p = plan_of(&plans, TEPAL_KIND_BLOOM, TEPAL_LAYOUT_FLAT);
    assert_true(p != NULL && p->params.positions == TEPAL_POSITIONS_DISTINCT);
    assert_true(p->fp < 0.95 * best_rate(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 64, 3));
}

/*
 * Limits at an average of 1 %, for streams without repeats: one phase holds 0.15534 messages a bit,
 * two 0.0505 a bit of both. And what a phase surely holds, whatever the stream: what it holds when
 * its rate is f / (2 p).
 */
static void recycling_reaches_the_limits_that_are_known(void **state)
{
    (void)state;
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans plans;
    w.endless = true;
    w.fp_average = 0.01;
    w.bits = 80000000;
    w.stream = TEPAL_STREAM_GEOMETRIC; /* one or two phases are compared */
    w.stream_a = 100;
    w.stream_fresh = 0.999999;
    plan_it(&w, &plans);
    const struct tepal_proposal *p = plan_of(&plans, TEPAL_KIND_RECYCLING, TEPAL_LAYOUT_FLAT);
    assert_non_null(p);
    struct recycling_options options = recycling_options_of(&p->params);
    assert_int_equal(options.rule, TEPAL_RECYCLING_AVERAGE);
    assert_int_equal(options.limit, (uint64_t)(0.01 * 0x1p64));
    assert_true(options.phases == 1 || options.phases == 2);
    assert_int_equal(p->params.hashes, options.phases == 1 ? 6 : 7);
    double each = p->messages_per_cycle / (double)w.bits;
    assert_true(fabs(each / (options.phases == 1 ? 0.15534 : 0.0505) - 1) < 2e-3);
    w.stream = TEPAL_STREAM_UNKNOWN;
    w.keys = 1000000; /* two phases at least */
    w.bits = 0;
    plan_it(&w, &plans);
    p = &plans.plan[0];
    options = recycling_options_of(&p->params);
    assert_int_equal(p->kind, TEPAL_KIND_RECYCLING);
    assert_true(p->remembers >= 1e6 && p->remembers < 1.001e6);
    double fill = pow(0.01 / (2 * options.phases), 1.0 / p->params.hashes);
    double held = -log1p(-fill) / p->params.hashes * (double)p->params.cells;
    assert_true(fabs(p->remembers / ((options.phases - 1) * (held - 1.5 * sqrt(held))) - 1) < 1e-4);
    assert_true(p->bits_per_key < 18.7); /* by sigma, which remembers as much, 16.0 */
}

/* Where keys come and go and some removals are wrong: fewer hashes, or fingerprints. */
static void wrong_removals_ask_for_fewer_hashes_or_fingerprints(void **state)
{
    (void)state;
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans plans;
    w.keys = 1000000;
    w.deletes = true;
    w.wrong_deletes = 0.1;
    w.bits = 60 * w.keys; /* 12 counters a key: 8 hashes have the lowest fp */
    plan_it(&w, &plans);
    assert_int_equal(plans.plan[0].kind, TEPAL_KIND_FINGERPRINT);
    const struct tepal_proposal *p = plan_of(&plans, TEPAL_KIND_COUNTING, TEPAL_LAYOUT_FLAT);
    if (p == NULL) {
        fail();
        return;
    }
    assert_true(p->params.hashes < 8 && p->params.counting.choices == 1);
    assert_non_null(strstr(p->reason, "receipts"));
    /* As measured over 50 generations: k = 8 .43 %, k = 5 .26 %. */
    assert_true(p->fn > 0.001 && p->fn < 0.006);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static const struct tepal_proposal *kind_of(const struct tepal_plans *plans,
                                            enum tepal_kind_id kind)
{
    for (size_t i = 0; i < plans->count; i++) {
        if (plans->plan[i].kind == kind) {
            return &plans->plan[i];
        }
    }
    fail();
    return NULL;
}

static void every_kind_is_planned_or_refused_with_a_reason(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 64; bits++) {
        struct tepal_wish w = TEPAL_WISH_INIT;
        struct tepal_plans plans;
        struct tepal_error error = {.why = ""};
        w.keys = 1000;
        w.fp = 0.05;
        w.deletes = bits & 1;
        w.untrusted = bits & 2;
        w.endless = bits & 4;
        w.known_negatives = bits & 8 ? 2000 : 0;
        w.fp_known = bits & 8 ? 0.02 : NAN;
        w.fn = bits & 16 ? 0 : 0.05;
        w.header_bits = bits & 32 ? 8192 : 0;
        if (tepal_plan(&w, &plans, &error) != TEPAL_OK) {
            assert_true(w.deletes && w.header_bits > 0);
            assert_true(strlen(error.why) > 10);
            continue;
        }
        for (int kind = TEPAL_KIND_BLOOM; kind <= TEPAL_KIND_CASCADE; kind++) {
            (void)kind_of(&plans, (enum tepal_kind_id)kind);
        }
        for (size_t i = 0; i < plans.count; i++) {
            const struct tepal_proposal *p = &plans.plan[i];
            assert_figures(&w, p);
            assert_true(strlen(p->reason) > 3);
            assert_true(p->feasible == (p->blocked_by[0] == '\0'));
            assert_true(i == 0 || plans.plan[i - 1].feasible || !p->feasible);
            if (p->feasible) {
                assert_true(p->fp <= w.fp * EXACT);
                assert_true(w.known_negatives == 0 || p->fp_known <= w.fp_known * EXACT);
                assert_true(p->fn <= w.fn * EXACT);
                assert_ok(tepal_params_check(&p->params, NULL));
                assert_ok(tepal_plan_check(p, NULL));
                assert_true(w.header_bits == 0 || p->bits == w.header_bits);
            }
        }
        assert_true(plans.plan[0].feasible == (plans.blocked_by[0] == '\0'));
        if (!plans.plan[0].feasible) {
            assert_true(plans.nearest.params.cells > 0);
        }
    }
}

/* Does a filter of this kind exist on the layout? Of a size and hashes that suit them all. */
static bool is_supported(enum tepal_kind_id kind, enum tepal_layout layout)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct recycling_options cycle = RECYCLING_OPTIONS_INIT;
    p.kind = kind;
    p.layout = layout;
    p.cells = 40960;
    p.hashes = kind == TEPAL_KIND_FINGERPRINT ? 2 : 4;
    switch (kind) {
    case TEPAL_KIND_COUNTING:
        p.counting.choices = 1;
        break;
    case TEPAL_KIND_FINGERPRINT:
        p.fingerprint.bits = 8;
        break;
    case TEPAL_KIND_GENERALIZED:
        p.generalized.reset_hashes = 2;
        break;
    case TEPAL_KIND_RECYCLING:
        cycle.limit = 20480;
        set_recycling(&p, &cycle);
        break;
    case TEPAL_KIND_BLOOM:
    case TEPAL_KIND_RETOUCHED:
    case TEPAL_KIND_YESNO:
    case TEPAL_KIND_CASCADE:
        return true;
    case TEPAL_KIND_GROWING:
    case TEPAL_KIND_CHAIN:
        return false;
    }
    return tepal_params_check(&p, NULL) == TEPAL_OK;
}

/* Every pair of kind and layout is there once: itself, or the kind as a whole. */
static void every_layout_is_planned_or_refused(void **state)
{
    (void)state;
    int pairs = 0;
    for (unsigned set = 0; set < 48; set++) {
        struct tepal_wish w = TEPAL_WISH_INIT;
        struct tepal_plans plans;
        w.keys = set & 1 ? 7 : 5000;
        w.fp = set & 2 ? NAN : 1e-3;
        w.bits = set & 2 ? 12 * w.keys : 0;
        w.known_negatives = set & 4 ? 3 * w.keys : 0;
        w.untrusted = set & 8;
        w.endless = set / 16 == 1;
        w.deletes = set / 16 == 2;
        plan_it(&w, &plans);
        assert_all_figures(&w, &plans);
        for (int kind = TEPAL_KIND_BLOOM; kind <= TEPAL_KIND_CASCADE; kind++) {
            for (int layout = TEPAL_LAYOUT_FLAT; layout <= TEPAL_LAYOUT_PAIRED; layout++) {
                int found = 0;
                for (size_t i = 0; i < plans.count; i++) {
                    const struct tepal_proposal *p = &plans.plan[i];
                    found +=
                        (int)p->kind == kind && (p->all_layouts || (int)p->params.layout == layout);
                    assert_true(!p->all_layouts || !p->feasible);
                }
                bool is = is_supported((enum tepal_kind_id)kind, (enum tepal_layout)layout);
                pairs += set == 0 && is;
                assert_true(is ? found == 1 : found <= 1);
            }
        }
    }
    assert_int_equal(pairs, 6 * 4 + 2 + 1);
}

/* As the steady state is worked out or not. */
static void lines_forget_what_the_model_says(void **state)
{
    (void)state;
    uint64_t random = 19;
    for (int i = 0; i < 20; i++) {
        struct tepal_params p = TEPAL_PARAMS_INIT;
        struct tepal_generalized_errors e;
        uint32_t k0 = 1 + (uint32_t)(check_random(&random) % 4);
        p.kind = TEPAL_KIND_GENERALIZED;
        p.layout = TEPAL_LAYOUT_BLOCKED;
        p.hashes = k0 + 1 + (uint32_t)(check_random(&random) % (8 - k0));
        p.cells = TEPAL_LINE_BITS * draw_whole(&random, 1, 1e6);
        p.generalized.reset_hashes = k0;
        uint64_t n = 1 + (uint64_t)((double)p.cells / draw(&random, 1, 1e4));
        assert_ok(tepal_generalized_rates(&p, n, NULL, 0, NULL, &e));
        double fn = tepal_model_line_forgets(&p, n);
        assert_true(fabs(fn - e.fn_bound) <= 1e-9 * e.fn_bound);
    }
}

/* Few keys have a plan as many have: the bound of a filter of few bits is known. */
static void few_keys_are_bounded_too(void **state)
{
    (void)state;
    static const uint64_t keys[] = {1, 3, 10, 30, 100, 1000, 10000};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct tepal_wish w = TEPAL_WISH_INIT;
        struct tepal_plans plans;
        w.keys = keys[i];
        w.untrusted = true;
        w.endless = true;
        w.fp = 0.01;
        w.fn = 0.01;
        plan_it(&w, &plans);
        const struct tepal_proposal *p = plan_of(&plans, TEPAL_KIND_GENERALIZED, TEPAL_LAYOUT_FLAT);
        assert_true(p != NULL && p->feasible);
        assert_true(p->bits_per_key < 106 && p->fp <= 0.01 && p->fn <= 0.01 * EXACT);
    }
}

static void refusals_say_why_in_a_clause(void **state)
{
    (void)state;
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans plans;
    w.keys = 1000;
    w.deletes = true;
    plan_it(&w, &plans);
    assert_string_equal(kind_of(&plans, TEPAL_KIND_BLOOM)->reason, "keys cannot be removed");
    w.deletes = false;
    w.untrusted = true;
    plan_it(&w, &plans);
    assert_string_equal(kind_of(&plans, TEPAL_KIND_BLOOM)->reason,
                        "its error is unbounded: an attacker can fill it");
    w.untrusted = false;
    w.endless = true;
    plan_it(&w, &plans);
    assert_string_equal(kind_of(&plans, TEPAL_KIND_BLOOM)->reason,
                        "fills up: not for endless streams");
}

static void the_nearest_names_what_is_in_its_way(void **state)
{
    (void)state;
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans plans;
    w.keys = 1000000;
    w.fp = 0.01;
    w.bits = 8000000;
    plan_it(&w, &plans);
    assert_string_equal(plans.blocked_by, "memory");
    assert_int_equal(plans.nearest.kind, TEPAL_KIND_BLOOM);
    assert_true(plans.nearest.bits > 8000000 && plans.nearest.excess < 1.21);
    w = (struct tepal_wish)TEPAL_WISH_INIT;
    w.keys = 30;
    w.header_bits = 256;
    w.fp = 1e-4;
    plan_it(&w, &plans);
    assert_string_equal(plans.blocked_by, "fp");
    w = (struct tepal_wish)TEPAL_WISH_INIT;
    w.keys = 1000;
    w.deletes = true;
    w.endless = true;
    plan_it(&w, &plans);
    assert_string_equal(plans.blocked_by, "deletes");
    assert_true(plans.nearest.feasible);
    w = (struct tepal_wish)TEPAL_WISH_INIT;
    w.keys = 1000;
    w.endless = true;
    w.fn = 0;
    plan_it(&w, &plans);
    assert_string_equal(plans.blocked_by, "fn");
    assert_string_equal(plans.blocked_also, "");
    /* A few misses may be, but the stream repeats after any time whatever. */
    w.fn = 1e-40;
    w.stream = TEPAL_STREAM_PARETO;
    w.stream_a = 1e-9;
    w.stream_b = 1;
    plan_it(&w, &plans);
    assert_string_equal(kind_of(&plans, TEPAL_KIND_RECYCLING)->reason,
                        "no size achieves these rates on this stream");
}

/* Two alone do not help; and of three, the one that does no harm is not named. */
static void the_nearest_names_all_that_is_in_its_way(void **state)
{
    (void)state;
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans plans;
    w.keys = 1000;
    w.bits = 1000;
    w.fp = 0.01;
    w.endless = true;
    w.fn = 0;
    plan_it(&w, &plans);
    assert_string_equal(plans.blocked_by, "memory");
    assert_string_equal(plans.blocked_also, "fn");
    w.keys = 0; /* so that it cannot be a stream that ends */
    w.stream = TEPAL_STREAM_GEOMETRIC;
    w.stream_a = 1000;
    w.stream_fresh = 0.3;
    w.bits = 100000;
    w.deletes = true;
    plan_it(&w, &plans);
    assert_string_equal(plans.blocked_by, "deletes");
    assert_string_equal(plans.blocked_also, "fn");
    assert_true(plans.nearest.feasible && plans.nearest.bits <= 100000);
}

/* A cascade of two known negatives hardly grows with the keys: what fits has no end. */
static void as_many_keys_as_fit_has_an_end(void **state)
{
    (void)state;
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans plans;
    w.bits = (uint64_t)1 << 60;
    w.fp = 0.5;
    w.known_negatives = 2;
    plan_it(&w, &plans);
    assert_true(plans.keys > 0 && plans.keys <= (uint64_t)1 << 50);
}

/* More wrong deletes than keys lose all of them, and no more. */
static void no_rate_is_above_one(void **state)
{
    (void)state;
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans plans;
    w.keys = 56795;
    w.fp = 0.047;
    w.deletes = true;
    w.wrong_deletes = 80;
    plan_it(&w, &plans);
    for (size_t i = 0; i < plans.count; i++) {
        assert_figures(&w, &plans.plan[i]);
    }
}

/* A cascade's size and rate are the model's, in lines too, where every level fills whole ones. */
static void a_cascade_is_as_large_as_its_model_says(void **state)
{
    (void)state;
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans plans;
    unsigned seen = 0;
    w.keys = 300;
    w.known_negatives = 1200;
    for (w.bits = 0; w.bits <= 8192; w.bits += 8192) {
        plan_it(&w, &plans);
        for (size_t i = 0; i < plans.count; i++) {
            const struct tepal_proposal *p = &plans.plan[i];
            struct tepal_cascade_setting model = {.first_bits = p->params.cells,
                                                  .hashes = p->params.hashes};
            if (p->kind != TEPAL_KIND_CASCADE || !p->feasible) {
                continue;
            }
            assert_int_equal(tepal_cascade_predict(p->params.layout, p->params.positions, w.keys,
                                                   w.known_negatives, &model),
                             TEPAL_OK);
            assert_true((double)p->bits == model.bits && p->fp == model.fp_unknown);
            seen++;
        }
    }
    assert_int_equal(seen, 8);
}

/* It is built by the first level's rate, and a rate is below 1, however few keys there are. */
static void a_cascade_can_be_built_as_it_says(void **state)
{
    (void)state;
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans plans;
    w.fp = 0.001;
    for (w.keys = 1; w.keys <= 6; w.keys++) {
        for (w.known_negatives = 1; w.known_negatives <= 8; w.known_negatives++) {
            plan_kind(&w, tepal_plan_cascade, &plans);
            for (size_t i = 0; i < plans.count; i++) {
                assert_true(plans.plan[i].feasible && plans.plan[i].max_bits == 0);
                assert_ok(tepal_plan_check(&plans.plan[i], NULL));
            }
        }
    }
}

static void refused(struct tepal_wish w)
{
    struct tepal_plans plans;
    struct tepal_error error = {.why = ""};
    assert_int_equal(tepal_plan(&w, &plans, &error), TEPAL_BAD_ARGUMENT);
    assert_true(strlen(error.why) > 10);
    assert_int_equal(tepal_plan(&w, &plans, NULL), TEPAL_BAD_ARGUMENT);
}

/* ---- strangers and known negatives ----------------------------------------------------------- */

static const struct tepal_proposal *flat_of(const struct tepal_plans *plans,
                                            enum tepal_kind_id kind)
{
    const struct tepal_proposal *p = plan_of(plans, kind, TEPAL_LAYOUT_FLAT);
    assert_non_null(p);
    return p;
}

/* For sets that are built once, from 16 counters a key on. */
static void choices_are_offered_where_they_pay(void **state)
{
    (void)state;
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans once;
    struct tepal_plans changing;
    w.keys = 20000;
    w.fp = 1e-4;
    plan_it(&w, &once);
    w.deletes = true;
    plan_it(&w, &changing);
    for (int layout = TEPAL_LAYOUT_FLAT; layout <= TEPAL_LAYOUT_PAIRED; layout++) {
        const struct tepal_proposal *p = plan_of(&once, TEPAL_KIND_COUNTING, layout);
        const struct tepal_proposal *one = plan_of(&changing, TEPAL_KIND_COUNTING, layout);
        assert_true(p != NULL && one != NULL && p->feasible && one->feasible);
        bool pays = layout != TEPAL_LAYOUT_PAIRED;
        assert_int_equal(p->params.counting.choices, pays ? 8 : 1);
        assert_int_equal(one->params.counting.choices, 1);
        assert_true(p->fp <= w.fp && p->fp > 0.9 * w.fp);
        if (pays) {
            assert_true((double)p->bits < 0.95 * (double)one->bits);
            assert_true(p->probes > 7 && strstr(p->reason, "receipts") != NULL);
        }
    }
    w.deletes = false;
    w.prefer = TEPAL_PREFER_SPEED;
    plan_it(&w, &once);
    assert_int_equal(flat_of(&once, TEPAL_KIND_COUNTING)->params.counting.choices, 1);
    w.prefer = TEPAL_PREFER_SIZE;
    w.fp = 0.001; /* 14.4 counters per key */
    plan_it(&w, &once);
    assert_int_equal(flat_of(&once, TEPAL_KIND_COUNTING)->params.counting.choices, 1);
    /* In a memory: fewer false positives. */
    w.fp = NAN;
    w.bits = 5 * 20 * w.keys;
    plan_it(&w, &once);
    w.deletes = true;
    plan_it(&w, &changing);
    assert_int_equal(flat_of(&once, TEPAL_KIND_COUNTING)->params.counting.choices, 8);
    assert_true(flat_of(&once, TEPAL_KIND_COUNTING)->fp <
                0.7 * flat_of(&changing, TEPAL_KIND_COUNTING)->fp);
}

static void counters_are_as_wide_as_needed(void **state)
{
    (void)state;
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans plans;
    w.keys = 100000;
    w.deletes = true;
    w.fp = 0.01;
    for (uint32_t bits = 0; bits <= 8; bits += 4) {
        w.counter_bits = bits;
        plan_it(&w, &plans);
        const struct tepal_proposal *p = flat_of(&plans, TEPAL_KIND_COUNTING);
        double each = (double)p->bits / (double)p->params.cells;
        assert_true(bits == 8 ? each > 8.9 && each < 9.1 : each > 4.9 && each < 5.1);
        assert_int_equal(p->params.counting.form,
                         bits == 8 ? TEPAL_FORM_WIDE_COUNTERS : TEPAL_FORM_COUNTERS);
        w.bits = p->bits; /* and back, in a memory */
        w.fp = NAN;
        plan_it(&w, &plans);
        p = flat_of(&plans, TEPAL_KIND_COUNTING);
        assert_true(p->bits <= w.bits && p->fp < 0.0101 && p->fp > 0.0099);
        w.bits = 0;
        w.fp = 0.01;
    }
    /* Three keys and a half at each counter: some of 4 bits would stick. */
    w.keys = 1000000;
    w.fp = 0.97;
    w.counter_bits = 0;
    plan_it(&w, &plans);
    assert_int_equal(flat_of(&plans, TEPAL_KIND_COUNTING)->params.counting.form,
                     TEPAL_FORM_WIDE_COUNTERS);
    w.deletes = false; /* nothing would lower them anyway */
    plan_it(&w, &plans);
    assert_int_equal(flat_of(&plans, TEPAL_KIND_COUNTING)->params.counting.form,
                     TEPAL_FORM_COUNTERS);
    w.counter_bits = 5;
    refused(w);
}

/* Filters that will be told what they found wrongly: two kinds, with the budget. */
static void what_learns_has_a_budget(void **state)
{
    (void)state;
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans plans;
    w.keys = 100000;
    w.fp = 0.01;
    w.max_fn = 0.001;
    plan_it(&w, &plans);
    size_t feasible = 0;
    for (size_t i = 0; i < plans.count; i++) {
        const struct tepal_proposal *p = &plans.plan[i];
        bool learns = p->kind == TEPAL_KIND_BLOOM || p->kind == TEPAL_KIND_COUNTING;
        assert_true(p->feasible == learns);
        assert_true(p->max_fn == (learns ? 0.001 : 0));
        assert_true(learns || p->kind == TEPAL_KIND_RETOUCHED ||
                    strcmp(p->blocked_by, "max-fn") == 0);
        feasible += p->feasible;
    }
    assert_int_equal(feasible, 8); /* both on four layouts */
    w.deletes = true;
    plan_it(&w, &plans);
    assert_int_equal(plans.plan[0].kind, TEPAL_KIND_COUNTING);
    w.keys_first = 1000; /* nothing that grows learns */
    w.deletes = false;
    plan_it(&w, &plans);
    assert_false(plans.plan[0].feasible);
    assert_string_equal(plans.blocked_by, "max-fn");
    static const double wrong[] = {-0.1, 1, NAN, INFINITY};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        w.max_fn = wrong[i];
        refused(w);
    }
}

/* fp is of keys that nobody named, fp_known of the others; what is feasible keeps both. */
static void strangers_and_known_negatives_have_rates_of_their_own(void **state)
{
    static const double rates[][2] = {{0.1, 1e-3}, {1e-3, 0.1}, {0.01, 0.01}, {1e-4, 1e-5}};
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans plans;
    (void)state;
    w.keys = 3000;
    w.known_negatives = 8000;
    w.fn = 0.01;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        w.fp = rates[i][0];
        w.fp_known = rates[i][1];
        plan_it(&w, &plans);
        assert_true(plans.fp == w.fp && plans.fp_known == w.fp_known && !plans.closed_world);
        for (size_t j = 0; j < plans.count && plans.plan[j].feasible; j++) {
            assert_true(plans.plan[j].fp <= w.fp * EXACT);
            assert_true(plans.plan[j].fp_known <= w.fp_known * EXACT);
        }
        /* Kinds to which all are alike keep the lower rate; those that choose need not. */
        const struct tepal_proposal *bloom = flat_of(&plans, TEPAL_KIND_BLOOM);
        uint64_t cells;
        uint32_t hashes = 0;
        assert_ok(tepal_bloom_size(0, 0, w.keys, fmin(w.fp, w.fp_known), &cells, &hashes));
        assert_true(bloom->bits == cells && bloom->fp == bloom->fp_known);
        assert_true(flat_of(&plans, TEPAL_KIND_CASCADE)->fp_known == 0);
        if (w.fp > w.fp_known) {
            assert_true(flat_of(&plans, TEPAL_KIND_RETOUCHED)->bits < bloom->bits);
            assert_true(flat_of(&plans, TEPAL_KIND_YESNO)->bits < bloom->bits);
        }
    }
}

/* Unstated, no known negative may be found: that can only be promised by a cascade. */
static void without_a_rate_no_known_negative_is_found(void **state)
{
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans plans;
    (void)state;
    w.keys = 5000;
    w.known_negatives = 20000;
    w.fp = 1e-3;
    w.fn = 0.1;
    plan_it(&w, &plans);
    assert_true(plans.plan[0].feasible && plans.fp_known == 0);
    for (size_t i = 0; i < plans.count; i++) {
        const struct tepal_proposal *p = &plans.plan[i];
        assert_true(p->feasible == (p->kind == TEPAL_KIND_CASCADE));
        assert_true(p->feasible ? p->fp <= w.fp * EXACT && p->fp_known == 0
                                : p->kind == TEPAL_KIND_RECYCLING ||
                                      strcmp(p->blocked_by, "fp-known") == 0);
    }
    w.deletes = true; /* nothing can: what could if some may be found? */
    plan_it(&w, &plans);
    assert_false(plans.plan[0].feasible);
    assert_string_equal(plans.blocked_by, "fp-known");
    assert_true(plans.nearest.kind == TEPAL_KIND_FINGERPRINT && plans.nearest.fp <= w.fp);
    w.fp_known = 0.01;
    plan_it(&w, &plans);
    assert_true(plans.plan[0].feasible && plans.plan[0].kind == TEPAL_KIND_FINGERPRINT);
}

/* Strangers may pass if that is said, or in a header; it takes far less memory. */
static void in_a_closed_world_strangers_may_pass(void **state)
{
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans open;
    struct tepal_plans closed;
    (void)state;
    w.keys = 5000;
    w.known_negatives = 20000;
    plan_it(&w, &open);
    assert_true(open.fp == 0.01 && open.plan[0].fp <= 0.01 * EXACT);
    w.closed_world = true;
    plan_it(&w, &closed);
    assert_true(closed.closed_world && isnan(closed.fp) && closed.fp_known == 0);
    assert_true(closed.plan[0].feasible && closed.plan[0].fp > 0.05);
    assert_true((double)closed.plan[0].bits < 0.8 * (double)open.plan[0].bits);
    w.fp_known = 0.01; /* then other kinds, too */
    plan_it(&w, &closed);
    assert_true(flat_of(&closed, TEPAL_KIND_YESNO)->feasible);
    assert_true(flat_of(&closed, TEPAL_KIND_YESNO)->fp > 0.05);
    w.fp = 0.01;
    refused(w);
    w = (struct tepal_wish)TEPAL_WISH_INIT;
    w.keys = 5000;
    w.closed_world = true; /* of what? */
    refused(w);
    w.closed_world = false;
    w.fp_known = 0.01;
    refused(w);
    w.known_negatives = 10;
    w.fp_known = -0.1;
    refused(w);
    w.fp_known = 1;
    refused(w);
    w.fp_known = 1e-60;
    refused(w);
    w = (struct tepal_wish)TEPAL_WISH_INIT;
    w.keys = 30;
    w.known_negatives = 100;
    w.header_bits = 256;
    plan_it(&w, &closed);
    assert_true(closed.closed_world && closed.plan[0].kind == TEPAL_KIND_YESNO);
    w.fp = 0.05;
    plan_it(&w, &closed);
    assert_true(!closed.closed_world && closed.plan[0].fp <= 0.05);
}

/* In a memory known negatives come first, and then strangers. */
static void in_a_memory_known_negatives_come_first(void **state)
{
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans plans;
    (void)state;
    w.keys = 5000;
    w.known_negatives = 20000;
    w.bits = 50000;
    plan_it(&w, &plans);
    assert_true(isnan(plans.fp) && isnan(plans.fp_known));
    assert_true(plans.plan[0].kind == TEPAL_KIND_CASCADE && plans.plan[0].fp_known == 0);
    for (size_t i = 1; i < plans.count && plans.plan[i].feasible && plans.plan[i].fn == 0; i++) {
        const struct tepal_proposal *a = &plans.plan[i - 1];
        const struct tepal_proposal *b = &plans.plan[i];
        assert_true(a->fp_known < b->fp_known || (a->fp_known == b->fp_known && a->fp <= b->fp));
    }
    double least = plans.plan[0].fp;
    w.bits = 70000; /* what known negatives do not need, strangers have */
    plan_it(&w, &plans);
    assert_true(plans.plan[0].fp_known == 0 && plans.plan[0].fp < least / 3);
}

/* ---- ranking --------------------------------------------------------------------------------- */

static void plans_without_false_negatives_come_first_unless_they_may_be(void **state)
{
    (void)state;
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans plans;
    w.keys = 100000;
    w.known_negatives = 100000;
    w.fp = 0.01;
    w.fp_known = 0.001;
    plan_it(&w, &plans);
    for (size_t i = 1; i < plans.count && plans.plan[i].feasible; i++) {
        assert_true(plans.plan[i - 1].fn == 0 || plans.plan[i].fn > 0);
    }
    w.fn = 0.02;
    plan_it(&w, &plans);
    for (size_t i = 1; i < plans.count && plans.plan[i].feasible; i++) {
        assert_true(plans.plan[i - 1].bits <= plans.plan[i].bits);
    }
    w.prefer = TEPAL_PREFER_SPEED;
    plan_it(&w, &plans);
    assert_true(plans.plan[0].probes == 1);
    for (size_t i = 1; i < plans.count && plans.plan[i].feasible; i++) {
        assert_true(plans.plan[i - 1].probes <= plans.plan[i].probes + 0.011);
    }
    w.prefer = TEPAL_PREFER_SIZE;
    w.fp = NAN;
    w.fp_known = NAN;
    w.fn = NAN;
    w.bits = 1000000;
    w.cost_fp = 1;
    w.cost_fn = 20;
    plan_it(&w, &plans);
    for (size_t i = 1; i < plans.count && plans.plan[i].feasible; i++) {
        assert_true(plans.plan[i - 1].cost <= plans.plan[i].cost);
    }
}

/* ---- weights of known negatives -------------------------------------------------------------- */

static void heavier_skew_never_needs_more_memory(void **state)
{
    static const struct {
        uint64_t keys;
        uint64_t negatives;
        double fp;
        double fn;
    } cases[] = {{500, 1000, 0.01, 0.02}, {2000, 900, 1e-3, 0.01}, {100, 1000, 0.02, 0.05}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t yesno = UINT64_MAX;
        uint64_t retouched = UINT64_MAX;
        uint64_t equal = 0;
        for (double exponent = 0; exponent < 2.1; exponent += 0.5) {
            struct tepal_wish w = TEPAL_WISH_INIT;
            struct tepal_plans plans;
            struct zipf_curve curve;
            const struct tepal_proposal *p;
            w.keys = cases[i].keys;
            w.known_negatives = cases[i].negatives;
            w.fp_known = cases[i].fp;
            w.closed_world = true;
            w.fn = cases[i].fn;
            w.weights = zipf_weights(&curve, w.known_negatives, exponent);
            plan_kind(&w, tepal_plan_yesno, &plans);
            p = plan_of(&plans, TEPAL_KIND_YESNO, TEPAL_LAYOUT_FLAT);
            assert_non_null(p);
            assert_true(p->feasible && p->fp_known <= w.fp_known * EXACT && p->bits <= yesno);
            assert_true(p != NULL && p->weighted);
            yesno = p->bits;
            plan_kind(&w, tepal_plan_retouched, &plans);
            p = plan_of(&plans, TEPAL_KIND_RETOUCHED, TEPAL_LAYOUT_FLAT);
            assert_non_null(p);
            assert_true(p->feasible && p->fp_known <= w.fp_known * EXACT && p->bits <= retouched);
            assert_true(p != NULL && p->weighted && p->max_fn > 0);
            retouched = p->bits;
            equal = exponent == 0 ? yesno : equal;
        }
        assert_true(10 * yesno < 9 * equal); /* and much skew clearly less */
    }
}

/* A few heavy keys among many: in a given memory the rate of what chooses falls, of others not. */
static void weights_count_in_a_given_memory(void **state)
{
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans plain;
    struct tepal_plans heavy;
    struct zipf_curve curve;
    (void)state;
    w.keys = 500;
    w.known_negatives = 1000;
    w.bits = 2048;
    plan_it(&w, &plain);
    w.weights = zipf_weights(&curve, w.known_negatives, 1.2);
    plan_it(&w, &heavy);
    for (size_t i = 0; i < plain.count; i++) {
        const struct tepal_proposal *a = &plain.plan[i];
        const struct tepal_proposal *b = plan_of(&heavy, a->kind, a->params.layout);
        bool chooses = a->kind == TEPAL_KIND_YESNO || a->kind == TEPAL_KIND_RETOUCHED;
        if (a->params.cells > 0) {
            assert_non_null(b);
            assert_true(chooses ? b->cost < 0.7 * a->cost : b->fp == a->fp);
        }
    }
}

/*
 * All owners of a crowded bit go with it. 7/10 of these weights are those of 28 keys: to clear as
 * many bits for 3/10 of the members, some 90 are needed, however few bits a key that is.
 */
static void crowded_bits_are_dear(void **state)
{
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans plans;
    struct zipf_curve curve;
    (void)state;
    w.keys = 1500000;
    w.known_negatives = 1000;
    w.weights = zipf_weights(&curve, w.known_negatives, 1.2);
    w.fp_known = 0.3;
    w.closed_world = true;
    w.fn = 0.3;
    plan_it(&w, &plans);
    for (size_t i = 0; i < plans.count; i++) {
        if (plans.plan[i].kind == TEPAL_KIND_RETOUCHED && plans.plan[i].feasible) {
            assert_true(plans.plan[i].bits > 80);
        }
    }
}

static void equal_weights_are_no_weights(void **state)
{
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans plain;
    struct tepal_plans equal;
    static const double one = 1;
    (void)state;
    w.keys = 1000;
    w.known_negatives = 3000;
    w.fp_known = 0.01;
    w.closed_world = true;
    w.fn = 0.01;
    plan_kind(&w, tepal_plan_retouched, &plain);
    w.weights = (struct tepal_plan_weights){&one, &one, 1};
    plan_kind(&w, tepal_plan_retouched, &equal);
    assert_int_equal(plain.plan[0].bits, equal.plan[0].bits);
    assert_true(plain.plan[0].fp_known == equal.plan[0].fp_known);
    plan_kind(&w, tepal_plan_yesno, &equal);
    w.weights.count = 0;
    plan_kind(&w, tepal_plan_yesno, &plain);
    assert_true(equal.plan[0].bits <= plain.plan[0].bits); /* more divisions are tried */
}

static void as_many_keys_as_fit(void **state)
{
    (void)state;
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans plans;
    w.bits = 8000000;
    w.fp = 0.01;
    plan_it(&w, &plans);
    assert_true(plans.plan[0].feasible && plans.plan[0].bits <= w.bits);
    assert_true(plans.keys > 833000 && plans.keys < 834500); /* 9.593 bits each */
}

static void the_same_wish_gives_the_same_plans(void **state)
{
    (void)state;
    static struct tepal_plans a, b;
    struct tepal_wish w = TEPAL_WISH_INIT;
    w.keys = 5000;
    w.known_negatives = 20000;
    plan_it(&w, &a);
    plan_it(&w, &b);
    assert_int_equal(a.count, b.count);
    for (size_t i = 0; i < a.count; i++) {
        assert_memory_equal(&a.plan[i].params, &b.plan[i].params, sizeof a.plan[i].params);
        assert_string_equal(a.plan[i].reason, b.plan[i].reason);
    }
}

/* ---- nonsense -------------------------------------------------------------------------------- */

static void weights_that_are_none_are_refused(void **state)
{
    static const double up[] = {0.5, 0.9};
    static const double slow[] = {0.1, 0.3};
    static const double back[] = {0.5, 0.4};
    static const double high[] = {0.5, 1.5};
    static const double bent[] = {0.4, 0.5}; /* ever less steep */
    static const double nan[] = {NAN, 0.5};
    const struct tepal_plan_weights wrong[] = {{back, slow, 2}, {high, slow, 2}, {up, back, 2},
                                               {up, bent, 2},   {nan, slow, 2},  {up, nan, 2},
                                               {up, high, 2}};
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans plans;
    (void)state;
    w.keys = 100;
    w.known_negatives = 100;
    w.weights = (struct tepal_plan_weights){up, slow, 2};
    plan_it(&w, &plans);
    w.weights = (struct tepal_plan_weights){up, up, 1}; /* equal */
    plan_it(&w, &plans);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        w.weights = wrong[i];
        refused(w);
    }
    w.weights = (struct tepal_plan_weights){up, slow, 2};
    w.known_negatives = 0;
    refused(w);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    static const double bad[] = {0, 1, -0.1, 2, INFINITY};
    struct tepal_wish good = TEPAL_WISH_INIT;
    good.keys = 1000;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tepal_wish w = good;
        w.fp = bad[i];
        refused(w);
        w = good;
        w.endless = true;
        w.fp_average = bad[i];
        refused(w);
        w = good;
        w.fn = i == 0 ? -1 : bad[i];
        refused(w);
    }
    struct tepal_wish w = good;
    w.deletes = true;
    w.header_bits = 32;
    refused(w);
    w = good;
    w.wrong_deletes = 0.1;
    refused(w);
    w.deletes = true;
    w.wrong_deletes = -1;
    refused(w);
    w = good;
    w.fp_average = 0.1;
    refused(w);
    w = good;
    w.cost_fp = -1;
    refused(w);
    w = good;
    w.keys = 0;
    refused(w);
    w.header_bits = 256;
    refused(w);
    w.header_bits = 0;
    w.endless = true;
    refused(w);
    w = good;
    w.stream = TEPAL_STREAM_ZIPF;
    refused(w);
    w.endless = true;
    refused(w); /* no keys in the distribution */
    w.stream = TEPAL_STREAM_GAPS;
    refused(w);
    double gap[] = {5, 3};
    double survival[] = {0.5, 0.1};
    w.gaps = (struct tepal_gaps){gap, survival, 2, 0.1};
    refused(w);
    w.stream = TEPAL_STREAM_PARETO;
    refused(w);
    w.stream = TEPAL_STREAM_GEOMETRIC;
    refused(w);
    w = good;
    w.keys = UINT64_MAX;
    refused(w);
    w = good;
    w.known_negatives = UINT64_MAX;
    refused(w);
    w = good;
    w.bits = UINT64_MAX;
    refused(w);
    w = good;
    w.bits = 100;
    w.header_bits = 100;
    refused(w);
}

/* Also for the keys that fit, if these are asked for. */
static void rates_that_digests_cannot_keep_are_refused(void **state)
{
    (void)state;
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans plans;
    w.keys = 1000;
    w.fp = 1000 * TEPAL_MIN_RATE;
    plan_it(&w, &plans);
    assert_true(plans.plan[0].feasible && plans.plan[0].fp <= w.fp);
    w.fp = 999 * TEPAL_MIN_RATE;
    refused(w);
    w.keys = 0;
    w.bits = 1000;
    plan_it(&w, &plans);
    assert_true(plans.keys > 0 && plans.keys < 999);
    w.bits = 1000000;
    refused(w);
    w.keys = 1000;
    w.endless = true;
    w.fp = NAN;
    w.fp_average = 1e-60;
    refused(w);
}

/* Sizes at the edge of what can be: an answer, whatever it is, in numbers. */
static void extremes_are_planned(void **state)
{
    (void)state;
    static const uint64_t keys[] = {1, 2, (uint64_t)1 << 50};
    static const double fp[] = {0, 1e-12, 0.999999};
    for (unsigned i = 0; i < 3 * 3 * 4; i++) {
        struct tepal_wish w = TEPAL_WISH_INIT;
        struct tepal_plans plans;
        w.keys = keys[i % 3];
        w.fp = fmax(fp[i / 3 % 3], TEPAL_MIN_RATE * (double)w.keys);
        w.deletes = i / 9 == 1;
        w.untrusted = i / 9 == 2;
        w.endless = i / 9 == 3;
        w.fn = i / 9 == 0 ? 0 : NAN;
        w.known_negatives = i % 3 == 1 ? 1 : 0;
        plan_it(&w, &plans);
        assert_all_figures(&w, &plans);
        w.known_negatives = 3; /* with false negatives allowed: what is retouched, too */
        w.fn = 0.5;
        plan_it(&w, &plans);
        assert_all_figures(&w, &plans);
        w.fp = NAN;
        w.bits = 1;
        plan_it(&w, &plans);
        assert_all_figures(&w, &plans);
    }
}

/* Lines cannot have so low an average: a search for sigma must end above 0. */
static void streams_at_absurd_rates_are_planned(void **state)
{
    (void)state;
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans plans;
    w.keys = 192;
    w.fp = 1e-20;
    w.fp_average = 1e-20;
    w.endless = true;
    plan_it(&w, &plans);
    assert_all_figures(&w, &plans);
    for (size_t i = 0; i < plans.count && plans.plan[i].feasible; i++) {
        assert_true(plans.plan[i].fp <= 1e-20 * (1 + 1e-6));
    }
}

/* Sets that grow: the two kinds that do keep what they promise; the others say why not. */
static void growth_is_planned(void **state)
{
    (void)state;
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans plans;
    w.keys_first = 500;
    w.keys = 100000;
    w.fp = 0.02;
    assert_ok(tepal_plan(&w, &plans, NULL));
    size_t feasible = 0;
    for (size_t i = 0; i < plans.count; i++) {
        const struct tepal_proposal *plan = &plans.plan[i];
        bool grows = plan->kind == TEPAL_KIND_GROWING || plan->kind == TEPAL_KIND_CHAIN;
        assert_true(plan->feasible == grows);
        assert_true(grows || strcmp(plan->blocked_by, "grow") == 0);
        feasible += grows;
        if (!grows) {
            continue;
        }
        struct tepal_filter *f = NULL;
        assert_true(plan->fp <= 0.02 && plan->fn == 0 && tepal_plan_streams(plan));
        assert_ok(tepal_plan_create(plan, 1, NULL, NULL, &f, NULL));
        uint64_t random = 3;
        for (uint64_t n = 0; n < w.keys; n++) {
            assert_ok(tepal_filter_add(f, check_digest(&random)));
        }
        /* A chain may have found a few that it did not add, and so a part less. */
        double bits = (double)tepal_filter_params(f)->cells;
        assert_true(bits <= 1.01 * (double)plan->bits && bits >= 0.99 * (double)plan->bits);
        assert_true(tepal_filter_fp_now(f) <= 0.02);
        tepal_filter_free(f);
    }
    assert_int_equal(feasible, 5);
    assert_int_equal(plans.plan[0].kind, TEPAL_KIND_GROWING); /* the fewest lines */
    w.deletes = true;
    w.wrong_deletes = 0.1;
    assert_ok(tepal_plan(&w, &plans, NULL));
    assert_int_equal(plans.plan[0].kind, TEPAL_KIND_GROWING);
    assert_true(plans.plan[0].feasible && !plans.plan[1].feasible);
    assert_true(plans.plan[0].fn > 0);
    w.deletes = false;
    w.wrong_deletes = 0;
    w.untrusted = true; /* neither is bounded that low: growth is given up, or trust */
    assert_ok(tepal_plan(&w, &plans, NULL));
    assert_false(plans.plan[0].feasible);
    assert_string_equal(plans.blocked_by, "untrusted");
    w.untrusted = false;
    w.bits = 1000;
    assert_ok(tepal_plan(&w, &plans, NULL));
    assert_string_equal(plans.blocked_by, "memory");
    w.bits = 0;
    w.keys_first = w.keys + 1;
    assert_int_equal(tepal_plan(&w, &plans, NULL), TEPAL_BAD_ARGUMENT);
    w.keys_first = 10;
    w.endless = true;
    assert_int_equal(tepal_plan(&w, &plans, NULL), TEPAL_BAD_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growth_is_planned),
        cmocka_unit_test(bloom_is_never_worse_than_a_grid),
        cmocka_unit_test(retouched_is_never_worse_than_a_grid),
        cmocka_unit_test(fingerprint_is_never_worse_than_a_grid),
        cmocka_unit_test(counting_is_never_worse_than_a_grid),
        cmocka_unit_test(generalized_is_never_worse_than_a_grid),
        cmocka_unit_test(cascade_is_never_worse_than_a_grid),
        cmocka_unit_test(yesno_is_never_worse_than_a_grid),
        cmocka_unit_test(recycling_is_never_worse_than_a_grid),
        cmocka_unit_test(strangers_and_known_negatives_have_rates_of_their_own),
        cmocka_unit_test(without_a_rate_no_known_negative_is_found),
        cmocka_unit_test(in_a_closed_world_strangers_may_pass),
        cmocka_unit_test(in_a_memory_known_negatives_come_first),
        cmocka_unit_test(generalized_needs_the_bits_that_are_known),
        cmocka_unit_test(few_keys_take_positions_that_differ),
        cmocka_unit_test(recycling_reaches_the_limits_that_are_known),
        cmocka_unit_test(wrong_removals_ask_for_fewer_hashes_or_fingerprints),
        cmocka_unit_test(choices_are_offered_where_they_pay),
        cmocka_unit_test(counters_are_as_wide_as_needed),
        cmocka_unit_test(what_learns_has_a_budget),
        cmocka_unit_test(every_kind_is_planned_or_refused_with_a_reason),
        cmocka_unit_test(every_layout_is_planned_or_refused),
        cmocka_unit_test(lines_forget_what_the_model_says),
        cmocka_unit_test(few_keys_are_bounded_too),
        cmocka_unit_test(refusals_say_why_in_a_clause),
        cmocka_unit_test(the_nearest_names_what_is_in_its_way),
        cmocka_unit_test(the_nearest_names_all_that_is_in_its_way),
        cmocka_unit_test(no_rate_is_above_one),
        cmocka_unit_test(as_many_keys_as_fit_has_an_end),
        cmocka_unit_test(a_cascade_is_as_large_as_its_model_says),
        cmocka_unit_test(a_cascade_can_be_built_as_it_says),
        cmocka_unit_test(plans_without_false_negatives_come_first_unless_they_may_be),
        cmocka_unit_test(heavier_skew_never_needs_more_memory),
        cmocka_unit_test(weights_count_in_a_given_memory),
        cmocka_unit_test(crowded_bits_are_dear),
        cmocka_unit_test(equal_weights_are_no_weights),
        cmocka_unit_test(weights_that_are_none_are_refused),
        cmocka_unit_test(as_many_keys_as_fit),
        cmocka_unit_test(the_same_wish_gives_the_same_plans),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(rates_that_digests_cannot_keep_are_refused),
        cmocka_unit_test(streams_at_absurd_rates_are_planned),
        cmocka_unit_test(extremes_are_planned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
