/*
 * plan_generalized.c: the generalized filter, by its bounds: no filter, whoever filled it, passes
 * more strangers than fp, and no key of the n latest is missed with more than fn. The model's
 * solver (tepal_generalized_size) knows many bits; a filter of few passes a little more, and a
 * blocked one much more (tepal_generalized_fp_bound_of), which is made good here.
 */
#include <inttypes.h>
#include <stdio.h>

#include <tepal/generalized.h>

#include "plan/plan.h"

static void set_hashes(struct tepal_params *p, uint32_t k0, uint32_t k1, uint32_t b)
{
    p->hashes = k0 + k1;
    p->own[TEPAL_GENERALIZED_RESET_HASHES] = k0;
    p->own[TEPAL_GENERALIZED_TOLERANCE] = b;
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
    double k0 = tepal_generalized_reset_hashes(p);
    double k1 = tepal_generalized_set_hashes(p);
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
        return tepal_generalized_fp_bound_of(p);
    }
    return tepal_generalized_fp_bound(tepal_generalized_reset_hashes(p),
                                      tepal_generalized_set_hashes(p),
                                      tepal_generalized_tolerance(p)) *
           (1 + growth(p));
}

/* The fewest bits: the model's plan, and again for a little less while the bound is too high. */
static bool smallest_flat(const struct plan_task *task, struct tepal_params *p)
{
    struct tepal_generalized_plan found;
    uint32_t tolerance = TEPAL_GENERALIZED_ANY;
    double fp = task->fp;
    for (int i = 0; i < MOST_TRIES; i++) {
        const char *why;
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
        if (tepal_params_check(p, &why) != TEPAL_OK) {
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
    uint64_t m = task->limit < (uint64_t)1 << 60 ? task->limit : (uint64_t)1 << 60;
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

/* Within a line, tolerance bounds nothing worth having; up to 8 hashes the bound is exact. */
#define MOST_BLOCKED 8

static double forgets(const struct tepal_params *p, uint64_t n)
{
    struct tepal_generalized_errors e;
    return tepal_generalized_rates(p, n, NULL, 0, NULL, &e) == TEPAL_OK ? e.fn_bound : NAN;
}

/* The hashes that keep the bound at the fewest bits, if lines were alike. */
static double choose_blocked(const struct plan_task *task, struct tepal_params *p)
{
    double fewest = INFINITY;
    for (uint32_t k0 = 1; k0 < MOST_BLOCKED; k0++) {
        for (uint32_t k1 = 1; k0 + k1 <= MOST_BLOCKED; k1++) {
            struct tepal_params here = *p;
            set_hashes(&here, k0, k1, 0);
            here.cells = TEPAL_LINE_BITS;
            /* To first order F_n = 2 k0 k1 n / m. */
            double each = 2.0 * k0 * k1 / task->fn;
            if (each < fewest && tepal_generalized_fp_bound_of(&here) <= task->fp) {
                fewest = each;
                *p = here;
            }
        }
    }
    return fewest;
}

static bool smallest_blocked(const struct plan_task *task, struct tepal_params *p)
{
    double bits = choose_blocked(task, p) * (double)task->n;
    for (int i = 0; i < MOST_TRIES; i++) {
        if (!(bits < 0x1p60)) {
            return false;
        }
        p->cells = ((uint64_t)(bits / TEPAL_LINE_BITS) + 1) * TEPAL_LINE_BITS;
        double fn = forgets(p, task->n);
        if (fn <= task->fn && fn >= 0.99 * task->fn) {
            return true;
        }
        if (fn <= task->fn && i + 1 >= MOST_TRIES / 2) {
            return true;
        }
        bits *= fn / task->fn * (fn > task->fn ? 1.002 : 1.001);
    }
    return false;
}

/* ---- both ------------------------------------------------------------------------------------ */

/* Cells read until b + 1 of them are found inverted, in a filter with the share z of zeros. */
static double reads(const struct tepal_params *p, uint64_t n)
{
    double k0 = tepal_generalized_reset_hashes(p);
    double k1 = tepal_generalized_set_hashes(p);
    double z = tepal_generalized_zero_approx(p->cells, n, (uint32_t)k0, (uint32_t)k1, 1);
    double inverted = (k0 * (1 - z) + k1 * z) / (k0 + k1);
    double all = ((double)tepal_generalized_tolerance(p) + 1) / fmax(inverted, 1e-9);
    return p->cells <= TEPAL_LINE_BITS ? 1 : fmin(all, k0 + k1);
}

static void add(const struct plan_task *task, const struct tepal_params *p, struct tepal_plans *out)
{
    struct tepal_proposal *plan = tepal_plan_add(out, TEPAL_KIND_GENERALIZED, p->layout);
    uint32_t k0 = tepal_generalized_reset_hashes(p);
    uint32_t k1 = tepal_generalized_set_hashes(p);
    uint32_t b = tepal_generalized_tolerance(p);
    bool blocked = p->layout == TEPAL_LAYOUT_BLOCKED;
    plan->params = *p;
    plan->bits = p->cells;
    plan->fp = fmin(bound_of(p), 1);
    plan->fn =
        blocked ? forgets(p, task->n) : tepal_generalized_fn_bound(p->cells, task->n, k0, k1, b);
    plan->probes = blocked ? 1 : reads(p, task->n);
    snprintf(plan->reason, sizeof plan->reason,
             "fp and fn are bounds: whoever fills it, and for the oldest of the keys%s",
             task->fn_stated ? "" : "; fn was not stated");
    tepal_plan_say(plan,
                   "tepal build KEYS -o FILE --kind generalized --layout %s --bits %" PRIu64
                   " --reset-hashes %" PRIu32 " --set-hashes %" PRIu32 " --tolerance %" PRIu32
                   " --capacity %" PRIu64 "%s",
                   tepal_layout_name(p->layout), p->cells, k0, k1, b, task->n,
                   p->positions == TEPAL_POSITIONS_DISTINCT ? " --positions distinct" : "");
    tepal_plan_finish(task, plan);
}

static const char *unfit_of(const struct plan_task *task, const char **blocked_by)
{
    const char *unfit = tepal_plan_unfit(task, false, true, true, blocked_by);
    if (unfit == NULL && task->fn_stated && !(task->fn > 0)) {
        *blocked_by = "fn";
        unfit = "new keys overwrite older ones, and no false negative is allowed";
    }
    if (unfit == NULL && task->n == 0) {
        *blocked_by = "keys";
        unfit = "needs to know how many keys to remember";
    }
    return unfit;
}

void tepal_plan_generalized(const struct plan_task *task, struct tepal_plans *out)
{
    const char *blocked_by;
    const char *unfit = unfit_of(task, &blocked_by);
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.kind = TEPAL_KIND_GENERALIZED;
    p.capacity = task->n;
    if (unfit == NULL && !(task->smallest ? smallest_flat(task, &p) : best_flat(task, &p))) {
        blocked_by = task->smallest ? "fp" : "fn";
        unfit = "no number of hashes up to 64 keeps both rates";
    }
    if (unfit != NULL) {
        tepal_plan_refuse(out, TEPAL_KIND_GENERALIZED, blocked_by, unfit);
        return;
    }
    add(task, &p, out);
    /* One line a query costs many times the bits: only where the bound is needed. */
    struct tepal_params lined = p;
    lined.layout = TEPAL_LAYOUT_BLOCKED;
    lined.positions = TEPAL_POSITIONS_COLLIDING;
    if (task->smallest && task->wish->untrusted && task->wish->header_bits == 0 &&
        smallest_blocked(task, &lined)) {
        add(task, &lined, out);
    }
}
