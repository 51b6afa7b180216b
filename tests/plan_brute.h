/*
 * plan_brute.h: each kind's planner against brute force on random small problems: every point of a
 * grid of parameters is judged by the kind's model, and none that keeps the limits may be smaller
 * (or, in a given memory, cost less) than the plan.
 */
#ifndef TEPAL_TESTS_PLAN_BRUTE_H
#define TEPAL_TESTS_PLAN_BRUTE_H

#include "check.h"

#include <tepal/papers.h>
#include "model/yesno.h"
#include "plan/plan.h"

#define EXACT (1 + 1e-9)

static inline double draw(uint64_t *state, double low, double high) /* log-uniform */
{
    double u = (double)(check_random(state) >> 11) * 0x1p-53;
    return exp(log(low) + u * (log(high) - log(low)));
}

static inline uint64_t draw_whole(uint64_t *state, double low, double high)
{
    return (uint64_t)draw(state, low, high);
}

/* The plan of the kind and layout; NULL: there is none that could be. */
static inline const struct tepal_proposal *
plan_of(const struct tepal_plans *plans, enum tepal_kind_id kind, enum tepal_layout layout)
{
    for (size_t i = 0; i < plans->count; i++) {
        const struct tepal_proposal *p = &plans->plan[i];
        if (p->kind == kind && p->params.layout == layout && p->params.cells > 0) {
            return p;
        }
    }
    return NULL;
}

static inline void plan_it(const struct tepal_wish *wish, struct tepal_plans *plans)
{
    struct tepal_error error = {.why = ""};
    enum tepal_status status = tepal_plan(wish, plans, &error);
    if (status != TEPAL_OK) {
        print_error("%s\n", error.why);
    }
    assert_int_equal(status, TEPAL_OK);
}

/* One kind alone: the others take their time. */
static inline void plan_kind(const struct tepal_wish *wish,
                             void (*kind)(const struct plan_task *, struct tepal_plans *),
                             struct tepal_plans *plans)
{
    struct plan_task task = tepal_plan_definite(wish);
    plans->count = 0;
    kind(&task, plans);
}

/* On the flat layout alone. */
static inline void plan_flat(const struct tepal_wish *wish,
                             void (*kind)(const struct plan_task *, struct tepal_plans *),
                             struct tepal_plans *plans)
{
    struct plan_task task = tepal_plan_definite(wish);
    task.last = TEPAL_LAYOUT_FLAT;
    plans->count = 0;
    kind(&task, plans);
}

static inline void worse(const char *kind, int problem, double plan, double grid)
{
    print_error("%s, problem %d: the plan has %.9g, a grid point %.9g\n", kind, problem, plan,
                grid);
    fail();
}

/* What the plan has is at most a grid point's, and is a number. */
static inline void no_worse(const char *kind, int problem, double plan, double grid, double leeway)
{
    if (!(plan <= grid * leeway)) {
        worse(kind, problem, plan, grid);
    }
}

/* ---- weights of known negatives -------------------------------------------------------------- */

#define CURVE_MOST 1000

/* Weights i^-exponent of t keys, every one a point. */
struct zipf_curve {
    double share[CURVE_MOST];
    double weight[CURVE_MOST];
};

static inline struct tepal_plan_weights zipf_weights(struct zipf_curve *c, uint64_t t,
                                                     double exponent)
{
    double total = 0;
    assert_true(t <= CURVE_MOST);
    for (uint64_t i = 0; i < t; i++) { /* the lightest first */
        total += pow((double)(t - i), -exponent);
        c->share[i] = (double)(i + 1) / (double)t;
        c->weight[i] = total;
    }
    for (uint64_t i = 0; i < t; i++) {
        c->weight[i] = i + 1 == t ? 1 : c->weight[i] / total;
    }
    return (struct tepal_plan_weights){c->share, c->weight, t};
}

/* Read off point by point. */
static inline double lightest(const struct tepal_plan_weights *w, double share)
{
    double x = 0;
    double y = 0;
    for (size_t i = 0; i < w->count; i++) {
        if (share <= w->share[i]) {
            return y + (w->weight[i] - y) * (share - x) / (w->share[i] - x);
        }
        x = w->share[i];
        y = w->weight[i];
    }
    return share;
}

/* ---- bloom, retouched ------------------------------------------------------------------------ */

static inline double best_rate(enum tepal_layout layout, enum tepal_positions positions, uint64_t m,
                               uint64_t n)
{
    double best = 1;
    for (uint32_t k = 1; k <= 20; k++) {
        double fp = tepal_bloom_fp(layout, positions, m, n, k);
        best = fp < best ? fp : best; /* NaN: cannot be */
    }
    return best;
}

static inline void brute_bloom(int problems)
{
    uint64_t state = 11;
    struct tepal_plans plans;
    for (int i = 0; i < problems; i++) {
        struct tepal_wish w = TEPAL_WISH_INIT;
        w.keys = draw_whole(&state, 2, 600);
        w.fp = draw(&state, 1e-4, 0.4);
        plan_kind(&w, tepal_plan_bloom, &plans);
        for (int layout = 0; layout < 4; layout++) {
            const struct tepal_proposal *p = plan_of(&plans, TEPAL_KIND_BLOOM, layout);
            uint64_t unit = layout >= TEPAL_LAYOUT_BLOCKED ? TEPAL_LINE_BITS : 1;
            assert_non_null(p);
            assert_true(p->feasible && p->fp <= w.fp * EXACT);
            for (uint64_t less = unit; less < p->bits && less <= 64 * unit; less *= 2) {
                if (best_rate(layout, TEPAL_POSITIONS_COLLIDING, p->bits - less, w.keys) <= w.fp) {
                    worse("bloom", i, (double)p->bits, (double)(p->bits - less));
                }
            }
            /* Positions that differ save less than a hundredth, or they are taken. */
            uint64_t few = (uint64_t)((double)(p->bits - 1) / 1.01) / unit * unit;
            if (few > 0 && best_rate(layout, TEPAL_POSITIONS_DISTINCT, few, w.keys) <= w.fp) {
                worse("bloom, distinct", i, (double)p->bits, (double)few);
            }
        }
        w.bits = draw_whole(&state, 600, 12000);
        w.fp = NAN;
        plan_kind(&w, tepal_plan_bloom, &plans);
        for (int layout = 0; layout < 4; layout++) {
            const struct tepal_proposal *p = plan_of(&plans, TEPAL_KIND_BLOOM, layout);
            if (p != NULL) {
                double any = best_rate(layout, TEPAL_POSITIONS_COLLIDING, p->bits, w.keys);
                double distinct = best_rate(layout, TEPAL_POSITIONS_DISTINCT, p->bits, w.keys);
                no_worse("bloom in memory", i, p->fp, any, EXACT);
                no_worse("bloom in memory, distinct", i, p->fp, pow(distinct, 1 / 1.01), EXACT);
            }
        }
    }
}

/*
 * What is left of the weight, by the planner's model, key by key: each is a point of the curve, and
 * is left if `taken` or more heavier ones are false positives. Between two whole numbers it is in
 * proportion.
 */
static inline double retouched_rate(const struct tepal_wish *w, uint64_t m, uint32_t k,
                                    uint64_t lost)
{
    double load = k * (double)w->keys / (double)m;
    double set = 1 - exp(-load);
    double above = set;
    double owners = exp(-load);
    double each = 0;
    for (int j = 1; j < 60; j++) {
        each += pow(above / set, k);
        owners *= load / j;
        above = fmax(above - owners, 0);
    }
    double f = tepal_bloom_fp(0, 0, m, w->keys, k);
    double taken = (double)lost / each;
    double left = 0;
    for (uint64_t i = 0; i < w->known_negatives; i++) {
        double heavier = f * ((double)(w->known_negatives - i) - 0.5); /* itself: half of it */
        double chance = exp(-heavier);                                 /* of j heavier ones */
        double goes = 0;
        for (int j = 0; j < taken; j++) {
            goes += chance * fmin(taken - j, 1);
            chance *= heavier / (j + 1);
        }
        left += (w->weights.weight[i] - (i > 0 ? w->weights.weight[i - 1] : 0)) * (1 - goes);
    }
    return fmin(tepal_bloom_fp(0, 0, m, w->keys - lost, k), f * left);
}

static inline void brute_retouched(int problems)
{
    uint64_t state = 12;
    uint64_t open_state = 112;
    struct tepal_plans plans;
    struct zipf_curve curve;
    for (int i = 0; i < problems; i++) {
        struct tepal_wish w = TEPAL_WISH_INIT;
        w.keys = draw_whole(&state, 8, 50);
        w.known_negatives = 1000;
        w.bits = draw_whole(&state, 64, 260) / 64 * 64;
        w.cost_fp = draw(&state, 0.1, 10);
        w.cost_fn = 1;
        w.weights = zipf_weights(&curve, 1000, i % 2 == 0 ? 0 : draw(&state, 0.3, 1.6));
        plan_flat(&w, tepal_plan_retouched, &plans);
        const struct tepal_proposal *p = plan_of(&plans, TEPAL_KIND_RETOUCHED, TEPAL_LAYOUT_FLAT);
        assert_non_null(p);
        for (uint64_t lost = 1; lost <= w.keys / 2; lost += 1 + lost / 4) {
            for (uint32_t k = 1; k <= 20; k += 1 + k / 4) {
                double cost =
                    w.cost_fp * retouched_rate(&w, w.bits, k, lost) + (double)lost / (double)w.keys;
                no_worse("retouched", i, p->cost, cost, 1.01); /* two numbers of hashes are tried */
            }
        }
        w.bits = 0;
        w.fp_known = draw(&state, 1e-3, 0.1);
        w.closed_world = i % 3 > 0;
        w.fp = w.closed_world ? NAN : draw(&open_state, 1e-3, 0.1);
        w.fn = draw(&state, 0.02, 0.2);
        w.keys += 50;
        plan_flat(&w, tepal_plan_retouched, &plans);
        p = plan_of(&plans, TEPAL_KIND_RETOUCHED, TEPAL_LAYOUT_FLAT);
        assert_true(p != NULL && p->feasible && p->fp_known <= w.fp_known * EXACT);
        assert_true(w.closed_world || p->fp <= w.fp * EXACT);
        for (uint32_t k = 1; k <= 20; k += 1 + k / 6) {
            uint64_t m = (uint64_t)((double)p->bits * 0.98);
            uint64_t lost = (uint64_t)((double)w.keys * w.fn);
            if (retouched_rate(&w, m, k, lost) <= w.fp_known * 0.99 &&
                (w.closed_world || tepal_bloom_fp(0, 0, m, w.keys, k) <= w.fp)) {
                worse("retouched at a rate", i, (double)p->bits, (double)m);
            }
        }
    }
}

/* ---- deletes --------------------------------------------------------------------------------- */

static inline void brute_fingerprint(int problems)
{
    uint64_t state = 13;
    struct tepal_plans plans;
    for (int i = 0; i < problems; i++) {
        struct tepal_wish w = TEPAL_WISH_INIT;
        w.keys = draw_whole(&state, 1, 3000);
        w.deletes = true;
        w.fp = draw(&state, 1e-6, 0.5);
        w.wrong_deletes = draw(&state, 1e-3, 1);
        w.fn = draw(&state, 1e-6, 0.1);
        plan_kind(&w, tepal_plan_fingerprint, &plans);
        const struct tepal_proposal *p = plan_of(&plans, TEPAL_KIND_FINGERPRINT, TEPAL_LAYOUT_FLAT);
        assert_true(p != NULL && p->feasible);
        double fp = fmin(w.fp, w.fn / w.wrong_deletes);
        for (uint32_t f = TEPAL_MIN_FINGERPRINT_BITS; f <= TEPAL_MAX_FINGERPRINT_BITS; f++) {
            for (uint64_t b = 2; b * 4 * f < p->bits; b += 2) {
                if (tepal_fingerprint_room(f, b) >= w.keys &&
                    tepal_fingerprint_fp(f, b, w.keys) <= fp) {
                    worse("fingerprint", i, (double)p->bits, (double)(b * 4 * f));
                }
            }
        }
        w.bits = draw_whole(&state, 4000, 60000) / 64 * 64;
        w.fp = NAN;
        w.fn = NAN;
        plan_kind(&w, tepal_plan_fingerprint, &plans);
        p = plan_of(&plans, TEPAL_KIND_FINGERPRINT, TEPAL_LAYOUT_FLAT);
        for (uint32_t f = TEPAL_MIN_FINGERPRINT_BITS; f <= TEPAL_MAX_FINGERPRINT_BITS; f++) {
            for (uint64_t b = 2; b * 4 * f <= w.bits; b += 2) {
                if (tepal_fingerprint_room(f, b) >= w.keys &&
                    !(p != NULL && p->fp <= tepal_fingerprint_fp(f, b, w.keys) * EXACT)) {
                    worse("fingerprint in memory", i, p == NULL ? 1 : p->fp,
                          tepal_fingerprint_fp(f, b, w.keys));
                }
            }
        }
    }
}

/* What the planner predicts, from the model's parts; but for flat, k a removal: a bound. */
static inline double counting_fn(enum tepal_layout layout, uint64_t m, uint64_t n, uint32_t k,
                                 double w, double fp)
{
    if (layout != TEPAL_LAYOUT_FLAT) {
        return fmin(1, w * fp * k);
    }
    double share[16];
    double pmf[TEPAL_MAX_HASHES + 1];
    assert_ok(tepal_counting_shares(m, n, k, 1, true, share));
    assert_ok(tepal_counting_potential(m, n, k, share[0], pmf));
    double finds = w * fp * (double)n;
    double each = tepal_counting_mean(pmf, k);
    return (finds < 1 ? finds * each : tepal_counting_many(each, n, finds)) / (double)n;
}

/* In short or, if there are any, long lines: the cells of one, and the rate. */
static inline uint64_t counting_unit(enum tepal_layout layout, int lines)
{
    return layout < TEPAL_LAYOUT_BLOCKED ? 1 : lines == TEPAL_LINES_LONG ? 512 : 128;
}

static inline double counting_fp_in(enum tepal_layout layout, int lines, uint64_t m, uint64_t n,
                                    uint32_t k)
{
    return (lines == TEPAL_LINES_LONG ? tepal_bloom_fp : tepal_counting_rate)(layout, 0, m, n, k);
}

static inline double counting_cost(enum tepal_layout layout, int lines, uint64_t m, uint32_t k,
                                   const struct tepal_wish *w)
{
    double fp = counting_fp_in(layout, lines, m, w->keys, k);
    return fp + counting_fn(layout, m, w->keys, k, w->wrong_deletes, fp);
}

/* No fewer counters keep both rates. */
static inline void brute_counters(int problem, enum tepal_layout layout, const struct tepal_wish *w,
                                  const struct tepal_proposal *p)
{
    for (uint32_t i = 0; i < 24; i++) {
        int lines = (int)(i % 2);
        uint32_t k = 1 + i / 2;
        uint64_t unit = counting_unit(layout, lines);
        for (double less = 0.002; less < 0.1; less *= 20) {
            uint64_t m = (uint64_t)((double)p->params.cells * (1 - less)) / unit * unit;
            double fp = m < 12 ? 1 : counting_fp_in(layout, lines, m, w->keys, k);
            if (fp <= w->fp && counting_fn(layout, m, w->keys, k, w->wrong_deletes, fp) <= w->fn) {
                worse("counting", problem, (double)p->params.cells, (double)m);
            }
        }
    }
}

static inline void brute_counting(int problems)
{
    uint64_t state = 14;
    struct tepal_plans plans;
    for (int i = 0; i < problems; i++) {
        struct tepal_wish w = TEPAL_WISH_INIT;
        enum tepal_layout layout = (enum tepal_layout)(i / 2 % 4); /* flat ones take turns too */
        w.keys = draw_whole(&state, 50, 300);
        w.deletes = true;
        w.fp = draw(&state, 1e-3, 0.2);
        w.wrong_deletes = draw(&state, 1e-2, 0.5);
        w.fn = draw(&state, 1e-4, 0.05);
        plan_kind(&w, tepal_plan_counting, &plans);
        for (int j = 0; j < 2; j++, layout = TEPAL_LAYOUT_FLAT) {
            const struct tepal_proposal *p = plan_of(&plans, TEPAL_KIND_COUNTING, layout);
            if (p == NULL || !p->feasible) {
                print_error("counting, problem %d: %s\n", i,
                            p == NULL ? plans.plan[layout].reason : p->reason);
            }
            assert_true(p != NULL && p->feasible);
            brute_counters(i, layout, &w, p);
        }
        w.bits = (uint64_t)draw(&state, 15, 100) * w.keys;
        w.fp = NAN;
        w.fn = NAN;
        plan_kind(&w, tepal_plan_counting, &plans);
        for (int l = TEPAL_LAYOUT_FLAT; l <= TEPAL_LAYOUT_PAIRED; l++) {
            layout = (enum tepal_layout)l;
            const struct tepal_proposal *p = plan_of(&plans, TEPAL_KIND_COUNTING, layout);
            assert_non_null(p);
            assert_true(p->bits <= w.bits);
            for (uint32_t c = 0; c < 24; c++) {
                uint64_t unit = counting_unit(layout, (int)(c % 2));
                uint64_t m = unit == 1 ? p->params.cells : w.bits / 5 / unit * unit;
                if (m > 0) {
                    double cost = counting_cost(layout, (int)(c % 2), m, 1 + c / 2, &w);
                    no_worse("counting in memory", i, p->cost, cost, EXACT);
                }
            }
        }
    }
}

/* ---- generalized ----------------------------------------------------------------------------- */

/* Bits for these hashes, from F_n alone: m as a real number, by halving. */
static inline double generalized_bits(uint64_t n, uint32_t k0, uint32_t k1, uint32_t b, double fn,
                                      double below)
{
    double low = 1;
    double high = below;
    if (!(tepal_generalized_fn_bound((uint64_t)high, n, k0, k1, b) <= fn)) {
        return INFINITY;
    }
    while (high - low > 1) {
        double m = (low + high) / 2;
        if (tepal_generalized_fn_bound((uint64_t)m, n, k0, k1, b) <= fn) {
            high = m;
        } else {
            low = m;
        }
    }
    return high;
}

/* By rule, among plans within 1 % of the fewest bits the one with the lowest F_p is taken. */
#define RULE 1.0101

static inline void brute_generalized(int problems)
{
    uint64_t state = 15;
    struct tepal_plans plans;
    for (int i = 0; i < problems; i++) {
        struct tepal_wish w = TEPAL_WISH_INIT;
        w.keys = 100000;
        w.untrusted = true;
        w.fp = draw(&state, 1e-3, 0.3);
        w.fn = draw(&state, 1e-3, 0.3);
        plan_flat(&w, tepal_plan_generalized, &plans);
        const struct tepal_proposal *p = plan_of(&plans, TEPAL_KIND_GENERALIZED, TEPAL_LAYOUT_FLAT);
        assert_true(p != NULL && p->feasible);
        for (uint32_t k0 = 1; k0 < 32; k0 += 1 + k0 / 8) {
            for (uint32_t k1 = 1; k0 + k1 <= 64 && k1 < 2 * k0 + 4; k1++) {
                for (uint32_t b = 0; b < k0 && b < k1; b++) {
                    if (tepal_generalized_fn_bound((uint64_t)((double)p->bits / RULE), w.keys, k0,
                                                   k1, b) <= w.fn &&
                        tepal_generalized_fp_bound(k0, k1, b) *
                                (1 + 1.1 * k0 * (k0 + k1) / (double)p->bits) <=
                            w.fp) {
                        worse("generalized", i, (double)p->bits,
                              generalized_bits(w.keys, k0, k1, b, w.fn, (double)p->bits));
                    }
                }
            }
        }
        w.bits = (uint64_t)(draw(&state, 5, 120) * (double)w.keys) / 64 * 64;
        w.fp = NAN;
        w.fn = NAN;
        plan_flat(&w, tepal_plan_generalized, &plans);
        p = plan_of(&plans, TEPAL_KIND_GENERALIZED, TEPAL_LAYOUT_FLAT);
        assert_non_null(p);
        for (uint32_t k0 = 1; k0 < 40; k0 += 1 + k0 / 8) {
            for (uint32_t k1 = k0 < 4 ? 1 : k0 - 3; k0 + k1 <= 64 && k1 < k0 + 12; k1++) {
                for (uint32_t b = 0; b < k0 && b < k1; b++) {
                    double fn = tepal_generalized_fn_bound(w.bits, w.keys, k0, k1, b);
                    double cost =
                        fn < p->cost ? fn + tepal_generalized_fp_bound(k0, k1, b) : INFINITY;
                    /* of few bits: its bound is higher */
                    no_worse("generalized in memory", i, p->cost, cost, 1 + 2e-3);
                }
            }
        }
    }
}

/* ---- known negatives ------------------------------------------------------------------------- */

static inline double bloom_bits(double n, double fp)
{
    uint64_t cells;
    uint32_t hashes = 0;
    assert_ok(tepal_bloom_size(0, 0, (uint64_t)ceil(n), fp, &cells, &hashes));
    return (double)cells;
}

/* Levels after a first one of rate f1, each at 1/2 or at stored / asked / sqrt 2. */
static inline double cascade_bits(uint64_t n, uint64_t t, double f1)
{
    double bits = bloom_bits((double)n, f1);
    double stored[3] = {(double)n, (double)t * f1, 0}; /* this level's, the next one's */
    while (stored[1] > 0.5) {
        double f = fmin(stored[1] / stored[0] * sqrt(0.5), 0.5);
        bits += bloom_bits(stored[1], f);
        stored[2] = stored[0] * f;
        stored[0] = stored[1];
        stored[1] = stored[2];
    }
    return bits;
}

static inline void brute_cascade(int problems)
{
    uint64_t state = 16;
    uint64_t open_state = 116;
    struct tepal_plans plans;
    for (int i = 0; i < problems; i++) {
        struct tepal_wish w = TEPAL_WISH_INIT;
        w.keys = draw_whole(&state, 500, 20000);
        w.known_negatives = (uint64_t)((double)w.keys * draw(&state, 0.5, 30));
        w.closed_world = true;
        w.fn = 0;
        plan_flat(&w, tepal_plan_cascade, &plans);
        const struct tepal_proposal *p = plan_of(&plans, TEPAL_KIND_CASCADE, TEPAL_LAYOUT_FLAT);
        assert_true(p != NULL && p->feasible && p->fp_known == 0);
        for (double f1 = 0.9; f1 > 1e-3; f1 /= 1.3) {
            double bits = cascade_bits(w.keys, w.known_negatives, f1);
            /* rates 1/64 of an octave apart */
            no_worse("cascade", i, (double)p->bits, bits, 1 + 1e-3);
        }
        /* The same for a rate of strangers, by the model. */
        w.closed_world = false;
        w.fp = draw(&open_state, 1e-4, 0.3);
        plan_flat(&w, tepal_plan_cascade, &plans);
        p = plan_of(&plans, TEPAL_KIND_CASCADE, TEPAL_LAYOUT_FLAT);
        assert_true(p != NULL && p->feasible && p->fp_known == 0 && p->fp <= w.fp * EXACT);
        for (double each = 1; each < 24; each *= 1.07) {
            struct tepal_cascade_setting c = {.first_bits = (uint64_t)(each * (double)w.keys)};
            c.hashes = tepal_bloom_best_hashes(0, 0, c.first_bits, w.keys);
            assert_ok(tepal_cascade_predict(0, 0, w.keys, w.known_negatives, &c));
            if (c.fp_unknown <= w.fp) {
                no_worse("cascade for strangers", i, (double)p->bits, c.bits, 1 + 1e-3);
            }
        }
    }
}

/* What is left of the weight, by the planner's model and with its margin. */
#define YESNO_MARGIN 1.15
#define YESNO_CHANCE 3 /* standard deviations that a wish leaves room for */

static inline double yesno_rate(const struct tepal_wish *w, const struct tepal_yesno_setting *y)
{
    double stuck = fmax(y->left - y->hopeless, 0) / y->positive;
    double b = 2 + 32.0 / (y->no_hashes * y->no_hashes);
    if (w->weights.count == 0 || y->left == 0 || y->left > 0.6 * y->positive) {
        return YESNO_MARGIN * y->left / (double)w->known_negatives;
    }
    double from = pow(fmax(stuck, 1e-12), 1 / b);
    double light = lightest(&w->weights, from) / from;
    double margin = YESNO_MARGIN + (y->no_hashes <= 2 ? 1 - light : 0);
    return margin * (y->hopeless / (double)w->known_negatives + y->fp_yes * stuck * light);
}

/* The same if `more` known negatives than expected pass the yes-filter, and their variance. */
static inline double yesno_steep(const struct tepal_wish *w, struct tepal_yesno_setting y)
{
    double m = (double)y.yes_bits;
    double a = y.hashes * (double)w->keys / m;
    double ones = m * (exp(-a) - (1 + a) * exp(-2 * a)); /* their variance */
    double rate = y.hashes / (m * (1 - exp(-a)));        /* relative, for one more of them */
    y.positive += sqrt(y.positive + y.positive * y.positive * rate * rate * ones);
    y.fp_yes = y.positive / (double)w->known_negatives;
    tepal_model_yesno_rest(&y, 0, w->keys);
    return yesno_rate(w, &y);
}

/* Does a division keep the rates, with so many deviations of what is left to spare? */
static inline bool yesno_keeps(const struct tepal_wish *w, double squares, double heavy,
                               struct tepal_yesno_setting *y)
{
    double t = (double)w->known_negatives;
    tepal_model_yesno_rest(y, 0, w->keys);
    double rate = yesno_rate(w, y);
    if (rate > w->fp_known || y->hopeless / t * heavy > 1e-3) {
        return false;
    }
    double steep = yesno_steep(w, *y) - rate;
    double variance = rate / t + y->hopeless / t * squares + steep * steep;
    if (rate + YESNO_CHANCE * sqrt(variance) > w->fp_known) {
        return false;
    }
    tepal_model_yesno_unknown(y, w->keys);
    return w->closed_world || y->fp_unknown <= w->fp;
}

static inline void brute_yesno(int problems)
{
    uint64_t state = 17;
    uint64_t open_state = 117;
    struct tepal_plans plans;
    struct zipf_curve curve;
    for (int i = 0; i < problems; i++) {
        struct tepal_wish w = TEPAL_WISH_INIT;
        w.keys = draw_whole(&state, 10, 60);
        w.known_negatives = draw_whole(&state, 30, 300);
        w.fp_known = draw(&state, 1e-3, 0.05);
        w.closed_world = i % 4 > 0;
        w.fp = w.closed_world ? NAN : draw(&open_state, 1e-2, 0.1);
        w.fn = 0;
        double alike = 1 / (double)w.known_negatives;
        double heavy = alike > w.fp_known ? (double)w.known_negatives : 0;
        double squares = alike > w.fp_known ? 0 : alike;
        if (i % 2 == 1) {
            w.weights = zipf_weights(&curve, w.known_negatives, draw(&state, 0.3, 1.6));
            heavy = 0;
            squares = 0;
            for (size_t j = 0; j < w.weights.count; j++) {
                double weight = curve.weight[j] - (j > 0 ? curve.weight[j - 1] : 0);
                heavy += weight > w.fp_known;
                squares += weight > w.fp_known ? 0 : weight * weight;
            }
        }
        plan_flat(&w, tepal_plan_yesno, &plans);
        const struct tepal_proposal *p = plan_of(&plans, TEPAL_KIND_YESNO, TEPAL_LAYOUT_FLAT);
        uint64_t found =
            p == NULL ? (uint64_t)bloom_bits((double)w.keys, fmin(w.fp, w.fp_known)) : p->bits;
        for (uint64_t r = 1; r <= 3; r++) {
            for (uint64_t q = 8; q * r < found; q += 12) {
                /* The largest yes-filter on the grid that makes less than the plan. */
                uint64_t yes = found - 1 - q * r;
                yes = yes / 8 * 8;
                for (uint32_t k = 1; k <= 6 && yes > 0; k++) {
                    struct tepal_yesno_setting y = {.yes_bits = yes,
                                                    .hashes = k,
                                                    .no_bits = q,
                                                    .no_filters = r,
                                                    .own_seeds = r > 1};
                    y.fp_yes = tepal_bloom_fp(0, 0, yes, w.keys, k);
                    y.positive = y.fp_yes * (double)w.known_negatives;
                    for (y.no_hashes = 1; y.no_hashes <= 12; y.no_hashes++) {
                        if (yesno_keeps(&w, squares, heavy, &y)) {
                            worse("yesno", i, (double)found, (double)(yes + q * r));
                        }
                    }
                }
            }
        }
    }
}

/* ---- recycling ------------------------------------------------------------------------------- */

static inline void brute_recycling(int problems)
{
    uint64_t state = 18;
    struct tepal_plans plans;
    for (int i = 0; i < problems; i++) {
        struct tepal_wish w = TEPAL_WISH_INIT;
        w.endless = true;
        w.bits = draw_whole(&state, 128, 480) / 64 * 64;
        w.fp = draw(&state, 3e-3, 0.2);
        plan_flat(&w, tepal_plan_recycling, &plans);
        const struct tepal_proposal *p = plan_of(&plans, TEPAL_KIND_RECYCLING, TEPAL_LAYOUT_FLAT);
        assert_true(p != NULL && p->feasible && p->fp <= w.fp * EXACT);
        for (uint32_t phases = 2; phases <= 4; phases++) {
            struct tepal_recycling_setting s = TEPAL_RECYCLING_SETTING_INIT;
            s.phases = phases;
            s.retain = true;
            s.bits = w.bits / phases;
            for (s.hashes = 1; s.hashes <= 12 && s.hashes < s.bits; s.hashes++) {
                double each = tepal_recycling_least(&s, w.fp);
                double reach = (phases - 1) * fmax(each - 1.5 * sqrt(each), 0);
                struct tepal_recycling_setting sigma = s;
                struct tepal_recycling_rates r;
                if (!(reach <= p->remembers * EXACT) &&
                    tepal_recycling_best_sigma(&sigma, w.fp, &r) == TEPAL_OK) {
                    worse("recycling", i, p->remembers, reach);
                }
            }
        }
    }
}

#endif
