/*
 * counting.c: the counting filter with one choice. A wrong removal that finds something takes
 * a count from k counters: as other keys come and go, every key that has one of them alone is
 * missed sooner or later, Y of them (Theorem 1, put right: close to k). So fewer hashes mean fewer
 * false negatives at a given rate, for more counters: every k up to the best is tried.
 *
 * More than one choice is not offered: at up to 12 counters a key it gains nothing, and where keys
 * come and go it harms unless the caller keeps receipts (docs/deletes.md).
 */
#include <stdio.h>

#include <tepal/papers.h>

#include "model/model.h"
#include "model/search.h"
#include "plan/plan.h"

/* ---- what is missed -------------------------------------------------------------------------- */

static double missed_each(uint64_t m, uint64_t n, uint32_t k)
{
    double p0 = 1 - tepal_counting_fill(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, m, n, k);
    double mean = tepal_counting_potential_mean(m, n, k, p0);
    return mean > 0 ? mean : k;
}

/*
 * The share of the members. Each counter that lacks a count has one victim at most, so that k a
 * wrong removal is a bound on every layout; for the flat one the model knows the mean.
 */
static double missed(const struct plan_task *task, const struct tepal_params *p, double fp)
{
    double w = task->wish->wrong_deletes;
    if (!(w > 0)) {
        return 0;
    }
    double finds = w * fp * (double)task->n; /* removals that find something */
    if (p->layout != TEPAL_LAYOUT_FLAT) {
        return fmin(1, w * fp * p->hashes);
    }
    double each = missed_each(p->cells, task->n, p->hashes);
    return (finds < 1 ? each * finds : tepal_counting_many(each, task->n, finds)) / (double)task->n;
}

static uint64_t bits_of(const struct tepal_params *p)
{
    return 8 * tepal_params_cell_bytes(p);
}

static double rate_of(const struct plan_task *task, const struct tepal_params *p)
{
    return model_counting_rate(p, task->n);
}

/* ---- the fewest counters --------------------------------------------------------------------- */

/* Do wrong removals ask for fewer false positives than are stated? */
static bool is_limited(const struct plan_task *task)
{
    return task->wish->wrong_deletes > 0 && task->fn_stated;
}

/* The rate to keep with k hashes, if each wrong removal missed k keys: it is never more. */
static double rate_with(const struct plan_task *task, uint32_t k)
{
    return is_limited(task) ? fmin(task->fp, task->fn / (task->wish->wrong_deletes * k)) : task->fp;
}

/* The fewest counters with k hashes for that; 0: the best k. */
static bool size_with(const struct plan_task *task, uint32_t k, struct tepal_params *p)
{
    double fp = rate_with(task, k);
    p->hashes = k;
    return fp > 0 && model_counting_size(p, task->n, fp) == TEPAL_OK &&
           tepal_params_check(p, NULL) == TEPAL_OK;
}

/* About so many: from fp = (1 - e^(-k n / m))^k. */
static double size_about(const struct plan_task *task, uint32_t k)
{
    return -(double)k / log1p(-pow(rate_with(task, k), 1.0 / k));
}

/* By how much the worse of fp and fn is too high, in logarithms; falls with the counters. */
struct counters {
    const struct plan_task *task;
    const struct tepal_params *params;
};

static double too_high(const void *context, uint64_t cells)
{
    const struct counters *c = context;
    struct tepal_params p = *c->params;
    p.cells = cells;
    double fp = rate_of(c->task, &p);
    return fmax(log(fp / c->task->fp), log(missed(c->task, &p, fp) / c->task->fn));
}

/* It is a little less on the flat layout, where less than k are missed. */
static void shrink(const struct plan_task *task, struct tepal_params *p)
{
    struct counters context = {task, p};
    uint64_t high = p->cells;
    uint64_t found;
    if (tepal_model_search(too_high, &context, high - high / 8, high, high - high / 64, &found)) {
        p->cells = found;
    }
}

/*
 * Hashes whose size is near the fewest: within what halving gains, and what the formula misses. In
 * lines fewer hashes are better than the formula has it.
 */
#define NEAR       1.06
#define NEAR_LINED 1.25

static bool smallest(const struct plan_task *task, struct tepal_params *p)
{
    struct tepal_params best = *p;
    double fewest = INFINITY;
    double near = tepal_layout_in_lines(p->layout) ? NEAR_LINED : NEAR;
    if (!is_limited(task)) {
        return size_with(task, 0, p);
    }
    for (uint32_t k = 1; k <= TEPAL_MAX_HASHES; k++) {
        fewest = fmin(fewest, size_about(task, k));
    }
    for (uint32_t k = 1; k <= TEPAL_MAX_HASHES; k++) {
        struct tepal_params here = *p;
        if (size_about(task, k) <= near * fewest && size_with(task, k, &here)) {
            if (p->layout == TEPAL_LAYOUT_FLAT) {
                shrink(task, &here);
            }
            best = best.cells == 0 || here.cells < best.cells ? here : best;
        }
    }
    *p = best;
    return best.cells > 0;
}

/* ---- as many as fit -------------------------------------------------------------------------- */

/* Five bits each, in whole words and whole lines. */
static uint64_t most_cells(const struct plan_task *task, struct tepal_params p)
{
    uint64_t cells = task->limit / 5 < (uint64_t)1 << 59 ? task->limit / 5 : (uint64_t)1 << 59;
    uint64_t unit = params_unit(p.layout, params_placed_bits(&p, 4));
    p.hashes = 1;
    p.cells = tepal_plan_down(cells, unit);
    while (p.cells > 0 && (tepal_params_check(&p, NULL) != TEPAL_OK || bits_of(&p) > task->limit)) {
        uint64_t step = p.cells > 64 && unit == 1 ? 64 : unit;
        p.cells = tepal_plan_down(p.cells - 1, step);
    }
    return p.cells;
}

/* And the hashes that cost least. */
static bool best(const struct plan_task *task, struct tepal_params *p)
{
    struct tepal_params found = *p;
    double least = INFINITY;
    p->cells = most_cells(task, *p);
    if (p->cells == 0) {
        return false;
    }
    /* Beyond the k with the lowest fp both errors grow. */
    uint32_t most = model_counting_best_hashes(p, task->n);
    for (uint32_t k = task->wish->wrong_deletes > 0 ? 1 : most; k <= most; k++) {
        p->hashes = k;
        double fp = rate_of(task, p);
        if (task->cost_fp * fp >= least) {
            continue;
        }
        double fn = missed(task, p, fp);
        double cost = task->cost_fp * fp + task->cost_fn * fn;
        if (cost < least && !(task->fn_stated && fn > task->fn)) {
            least = cost;
            found = *p;
        }
    }
    *p = found;
    return found.cells > 0;
}

/* ---- plans ----------------------------------------------------------------------------------- */

static bool find(const struct plan_task *task, struct tepal_params *p)
{
    return task->smallest ? smallest(task, p) : best(task, p);
}

static double cost_of(const struct plan_task *task, const struct tepal_params *p)
{
    double fp = rate_of(task, p);
    return task->cost_fp * fp + task->cost_fn * missed(task, p, fp);
}

/* From so many counters on what long lines lose as whole lines is less than they save. */
#define MANY (16 * TEPAL_LINE_BITS)

/* Long lines have fewer false positives, and few keys may fit into fewer short ones. */
static bool find_in_lines(const struct plan_task *task, struct tepal_params *p)
{
    struct tepal_params in_long = *p;
    in_long.counting.lines = TEPAL_LINES_LONG;
    bool found_long = find(task, &in_long);
    bool found = (!found_long || in_long.cells < MANY) && find(task, p);
    if (found_long && (!found || (task->smallest ? in_long.cells <= p->cells
                                                 : cost_of(task, &in_long) <= cost_of(task, p)))) {
        *p = in_long;
        found = true;
    }
    return found;
}

static void on_layout(const struct plan_task *task, enum tepal_layout layout,
                      struct tepal_plans *out)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.kind = TEPAL_KIND_COUNTING;
    p.layout = layout;
    p.capacity = task->n;
    p.counting.choices = 1;
    struct tepal_proposal *plan = tepal_plan_add(out, TEPAL_KIND_COUNTING, layout);
    if (!(tepal_layout_in_lines(layout) ? find_in_lines(task, &p) : find(task, &p))) {
        tepal_plan_no(plan, task->smallest ? "fp" : "memory",
                      task->smallest             ? "no size achieves these rates"
                      : most_cells(task, p) == 0 ? "the memory is too small for its counters"
                                                 : "too many false negatives");
        return;
    }
    plan->params = p;
    plan->bits = bits_of(&p);
    plan->fp = rate_of(task, &p);
    plan->fn = missed(task, &p, plan->fp);
    plan->probes = tepal_plan_probes(&p, task->n);
    snprintf(plan->reason, sizeof plan->reason,
             "one choice: more would damage the set when keys are removed without receipts");
    tepal_plan_finish(task, plan);
}

void tepal_plan_counting(const struct plan_task *task, struct tepal_plans *out)
{
    struct plan_bar bar = tepal_plan_bar(task, TEPAL_KIND_COUNTING);
    plan_bar_if(&bar, task->wish->header_bits > 0, "header-bits",
                "counters are too large for a header");
    if (tepal_plan_barred(out, TEPAL_KIND_COUNTING, bar)) {
        return;
    }
    for (int layout = TEPAL_LAYOUT_FLAT; layout <= (int)task->last; layout++) {
        on_layout(task, (enum tepal_layout)layout, out);
    }
}
