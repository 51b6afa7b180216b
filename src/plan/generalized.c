/*
 * generalized.c: the generalized filter, by its bounds: no filter, whoever filled it, passes
 * more strangers than fp, and no key of the n latest is missed with more than fn. The model's
 * solver (tepal_generalized_size) knows many bits; a filter of few passes a little more, and a
 * blocked one much more (tepal_params_fp_bound), which is made good here.
 */
#include <stdio.h>

#include <tepal/papers.h>

#include "model/generalized.h"
#include "plan/plan.h"

static void set_hashes(struct tepal_params *p, uint32_t k0, uint32_t k1, uint32_t b)
{
    p->hashes = k0 + k1;
    p->generalized.reset_hashes = k0;
    p->generalized.tolerance = b;
}

/* ---- flat ------------------------------------------------------------------------------------ */

#define MOST_TRIES 8

/*
 * The bound of a filter of these parameters. Flat with colliding positions: that of many bits, F_p,
 * grows by about the factor 1 + k0 (k0 + k1) / m, a tenth more to be safe; where that is much,
 * positions are made to differ, and the factor is next to nothing.
 */
#define MUCH 0.02

static double growth(const struct tepal_params *p)
{
    double k0 = (double)p->generalized.reset_hashes;
    double k1 = params_set_hashes(p);
    return 1.1 * k0 * (k0 + k1) / (double)p->cells;
}

static void choose_positions(struct tepal_params *p)
{
    p->positions = p->layout == TEPAL_LAYOUT_FLAT && growth(p) > MUCH && p->hashes <= p->cells
                       ? TEPAL_POSITIONS_DISTINCT
                       : TEPAL_POSITIONS_COLLIDING;
}

static double bound_of(const struct tepal_params *p)
{
    if (p->layout != TEPAL_LAYOUT_FLAT || p->positions == TEPAL_POSITIONS_DISTINCT) {
        return tepal_params_fp_bound(p);
    }
    return tepal_generalized_fp_bound((uint32_t)p->generalized.reset_hashes, params_set_hashes(p),
                                      (uint32_t)p->generalized.tolerance) *
           (1 + growth(p));
}

/* The fewest bits: the model's plan, and again for a little less while the bound is too high. */
static bool smallest_flat(const struct plan_task *task, struct tepal_params *p)
{
    struct tepal_generalized_setting found;
    uint32_t tolerance = TEPAL_GENERALIZED_ANY;
    double fp = task->fp;
    for (int i = 0; i < MOST_TRIES; i++) {
        if (tepal_generalized_size(fp, task->fn, tolerance, TEPAL_MAX_HASHES, &found) != TEPAL_OK) {
            return false;
        }
        double bits = ceil(found.bits_per_key * (double)task->n);
        if (!(bits <= 0x1p60)) {
            return false;
        }
        p->cells = (uint64_t)bits;
        set_hashes(p, found.k0, found.k1, found.tolerance);
        choose_positions(p);
        if (tepal_params_check(p, NULL) != TEPAL_OK) {
            return false;
        }
        double bound = bound_of(p);
        if (bound <= task->fp) {
            return true;
        }
        fp = fmin(fp, found.fp_bound) * task->fp / bound * (1 - 1e-9);
        tolerance = i == 0 ? tolerance : found.tolerance; /* all of them once more */
    }
    return false;
}

/*
 * The least cost in the limit. Both bounds are symmetric in k0 and k1, and the best are close to
 * each other: k1 from k0 to a few more. F_n is cheap, and refuses most.
 */
#define FURTHER 8

static bool best_flat(const struct plan_task *task, struct tepal_params *p)
{
    double least = INFINITY;
    uint64_t m = tepal_plan_most(task, 1);
    for (uint32_t k0 = 1; 2 * k0 <= TEPAL_MAX_HASHES; k0++) {
        for (uint32_t k1 = k0; k1 <= k0 + FURTHER && k0 + k1 <= TEPAL_MAX_HASHES; k1++) {
            for (uint32_t b = 0; b < k0; b++) {
                double fn = tepal_generalized_fn_bound(m, task->n, k0, k1, b);
                double cost = task->cost_fn * fn;
                if (cost >= least || (task->fn_stated && fn > task->fn)) {
                    continue;
                }
                cost += task->cost_fp * tepal_generalized_fp_bound(k0, k1, b);
                if (cost < least) {
                    least = cost;
                    set_hashes(p, k0, k1, b);
                }
            }
        }
    }
    p->cells = m;
    choose_positions(p);
    return least < INFINITY;
}

/* ---- blocked --------------------------------------------------------------------------------- */

#define FAR 1.5

/* The least cost in the limit. Both errors are the same with k0 and k1 exchanged. */
static bool best_blocked(const struct plan_task *task, struct tepal_params *p)
{
    double least = INFINITY;
    p->cells = tepal_plan_most(task, TEPAL_LINE_BITS);
    for (uint32_t k0 = 1; p->cells > 0 && k0 < MODEL_LINE_HASHES; k0++) {
        for (uint32_t k1 = k0; k0 + k1 <= MODEL_LINE_HASHES; k1++) {
            struct tepal_params here = *p;
            set_hashes(&here, k0, k1, 0);
            double cost = task->cost_fp * tepal_params_fp_bound(&here);
            /* Lines forget about as the whole does: what is far from the best is not looked at. */
            double about = tepal_generalized_fn_bound(p->cells, task->n, k0, k1, 0);
            if (cost >= least || cost + task->cost_fn * about > FAR * least ||
                (task->fn_stated && about > FAR * FAR * task->fn)) {
                continue;
            }
            double fn = tepal_model_line_forgets(&here, task->n);
            cost += task->cost_fn * fn;
            if (cost < least && !(task->fn_stated && fn > task->fn)) {
                least = cost;
                *p = here;
            }
        }
    }
    return least < INFINITY;
}

static void add(const struct plan_task *task, const struct tepal_params *p,
                struct tepal_proposal *plan);

/* One line a query costs many times the bits. */
static void in_lines(const struct plan_task *task, struct tepal_params p, struct tepal_plans *out)
{
    struct tepal_proposal *plan = tepal_plan_add(out, TEPAL_KIND_GENERALIZED, TEPAL_LAYOUT_BLOCKED);
    p.layout = TEPAL_LAYOUT_BLOCKED;
    p.positions = TEPAL_POSITIONS_COLLIDING;
    if (!tepal_plan_in_lines(task)) {
        tepal_plan_no(plan, "header-bits", TEPAL_PLAN_NOT_LINES);
    } else if (task->smallest ? tepal_model_size_lines(task->n, task->fp, task->fn, &p)
                              : best_blocked(task, &p)) {
        add(task, &p, plan);
    } else if (task->smallest) {
        tepal_plan_no(
            plan, "fp",
            "up to eight hash functions in a cache line cannot bound the false positives this low");
    } else {
        tepal_plan_no(plan, p.cells == 0 ? "memory" : "fn",
                      p.cells == 0 ? "not even one cache line fits into the memory"
                                   : "too many false negatives");
    }
}

/* ---- both ------------------------------------------------------------------------------------ */

/* Cells read until b + 1 of them are found inverted, in a filter with the share z of zeros. */
static double reads(const struct tepal_params *p, uint64_t n)
{
    double k0 = (double)p->generalized.reset_hashes;
    double k1 = params_set_hashes(p);
    double z = tepal_generalized_zero_approx(p->cells, n, (uint32_t)k0, (uint32_t)k1, 1);
    double inverted = (k0 * (1 - z) + k1 * z) / (k0 + k1);
    double all = ((double)p->generalized.tolerance + 1) / fmax(inverted, 1e-9);
    return p->cells <= TEPAL_LINE_BITS ? 1 : fmin(all, k0 + k1);
}

static void add(const struct plan_task *task, const struct tepal_params *p,
                struct tepal_proposal *plan)
{
    uint32_t k0 = (uint32_t)p->generalized.reset_hashes;
    uint32_t k1 = params_set_hashes(p);
    uint32_t b = (uint32_t)p->generalized.tolerance;
    bool blocked = p->layout == TEPAL_LAYOUT_BLOCKED;
    plan->params = *p;
    plan->bits = p->cells;
    plan->fp = fmin(bound_of(p), 1);
    plan->fn = blocked ? tepal_model_line_forgets(p, task->n)
                       : tepal_generalized_fn_bound(p->cells, task->n, k0, k1, b);
    plan->probes = blocked ? 1 : reads(p, task->n);
    snprintf(plan->reason, sizeof plan->reason,
             "fp is a bound whatever its bits, fn a bound for the oldest key%s",
             task->fn_stated ? "" : "; fn was not given");
    tepal_plan_finish(task, plan);
}

void tepal_plan_generalized(const struct plan_task *task, struct tepal_plans *out)
{
    struct plan_bar bar = tepal_plan_bar(task, TEPAL_KIND_GENERALIZED);
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.kind = TEPAL_KIND_GENERALIZED;
    p.capacity = task->n;
    plan_bar_if(&bar, task->fn_stated && !(task->fn > 0), "fn",
                "new keys overwrite older ones, but no false negatives are allowed");
    plan_bar_if(&bar, task->n == 0, "keys", "needs to know how many keys to remember");
    if (tepal_plan_barred(out, TEPAL_KIND_GENERALIZED, bar)) {
        return;
    }
    struct tepal_params flat = p;
    struct tepal_proposal *plan = tepal_plan_add(out, TEPAL_KIND_GENERALIZED, TEPAL_LAYOUT_FLAT);
    if (task->smallest ? smallest_flat(task, &flat) : best_flat(task, &flat)) {
        add(task, &flat, plan);
    } else {
        tepal_plan_no(plan, task->smallest ? "fp" : "fn",
                      "no number of hash functions up to 64 achieves both rates");
    }
    if (task->last >= TEPAL_LAYOUT_BLOCKED) {
        in_lines(task, p, out);
    }
}
