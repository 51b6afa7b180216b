/*
 * counting.c: the counting filter. A wrong removal that finds something takes
 * a count from k counters: as other keys come and go, every key that has one of them alone is
 * missed sooner or later, Y of them (Theorem 1, put right: close to k). So fewer hashes mean fewer
 * false negatives at a given rate, for more counters: every k up to the best is tried.
 *
 * More than one choice is offered for sets that are built once, from 16 counters a key on, if that
 * saves a hundredth: at up to 12 it gains nothing, and where keys come and go it harms unless the
 * caller keeps receipts (docs/deletes.md).
 *
 * Counters have 4 bits, or 8 on request, and where some of 4 would stick although keys are removed.
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
    return tepal_counting_choices_rate(p, task->n);
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

/* Five bits each (or nine), in whole words and whole lines. */
static uint64_t most_cells(const struct plan_task *task, struct tepal_params p)
{
    uint64_t fit = task->limit / (params_counter_bits(&p) + 1);
    uint64_t cells = fit < (uint64_t)1 << 59 ? fit : (uint64_t)1 << 59;
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

static bool find_on(const struct plan_task *task, struct tepal_params *p)
{
    return tepal_layout_in_lines(p->layout) ? find_in_lines(task, p) : find(task, p);
}

/* ---- sets that are built once ---------------------------------------------------------------- */

#define CHOICES     8
#define MORE_HASHES 2  /* than with one choice */
#define PAYS_FROM   16 /* counters per key */
#define SAVES       0.99

/* More choices read more lines, and the model does not know the paired layout. */
static bool may_choose(const struct plan_task *task, const struct tepal_params *p)
{
    const struct tepal_wish *w = task->wish;
    return !w->deletes && !(w->wrong_deletes > 0) && w->prefer == TEPAL_PREFER_SIZE &&
           p->layout != TEPAL_LAYOUT_PAIRED && p->cells / task->n >= PAYS_FROM;
}

static void try_choices(const struct plan_task *task, struct tepal_params *p)
{
    struct tepal_params more = *p;
    uint32_t most = tepal_params_max_hashes(p->layout);
    more.counting.choices = CHOICES;
    more.counting.rule = (uint64_t)tepal_counting_default_rule(p->layout, CHOICES);
    more.hashes = p->hashes + MORE_HASHES < most ? p->hashes + MORE_HASHES : most;
    if (!may_choose(task, p)) {
        return;
    }
    bool saves = task->smallest
                     ? tepal_counting_choices_size(&more, task->n, task->fp) == TEPAL_OK &&
                           (double)more.cells <= SAVES * (double)p->cells
                     : rate_of(task, &more) <= SAVES * rate_of(task, p);
    if (saves) {
        *p = more;
    }
}

/* ---- wide counters --------------------------------------------------------------------------- */

/* Is a counter of 4 bits expected to stick, that removals should lower? */
static bool sticks(const struct plan_task *task, const struct tepal_params *p)
{
    double share[TEPAL_MAX_SMALL_COUNTER + 1];
    return task->wish->deletes &&
           tepal_counting_shares(p->cells, task->n, p->hashes, 1, true, share) == TEPAL_OK &&
           (double)p->cells * share[TEPAL_MAX_SMALL_COUNTER] > 0.5;
}

static bool find_wide_enough(const struct plan_task *task, struct tepal_params *p)
{
    const uint32_t bits = task->wish->counter_bits;
    struct tepal_params wide = *p;
    wide.counting.form = TEPAL_FORM_WIDE_COUNTERS;
    bool found = bits != 8 && find_on(task, p);
    if (bits == 8 || (bits == 0 && found && sticks(task, p))) {
        if (find_on(task, &wide)) {
            *p = wide;
            found = true;
        }
    }
    return found;
}

static const char *reason_of(const struct tepal_params *p)
{
    return p->counting.choices > 1
               ? "8 choices, for a set that is built once: keys could not be removed safely "
                 "without receipts"
           : p->counting.form == TEPAL_FORM_WIDE_COUNTERS
               ? "counters of 8 bits: they stick at 255, not at 15; one choice"
               : "one choice: more would damage the set when keys are removed without receipts";
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
    if (!find_wide_enough(task, &p)) {
        tepal_plan_no(plan, task->smallest ? "fp" : "memory",
                      task->smallest             ? "no size achieves these rates"
                      : most_cells(task, p) == 0 ? "the memory is too small for its counters"
                                                 : "too many false negatives");
        return;
    }
    try_choices(task, &p);
    plan->params = p;
    plan->bits = bits_of(&p);
    plan->fp = rate_of(task, &p);
    plan->fn = missed(task, &p, plan->fp);
    plan->probes = tepal_plan_probes(&p, task->n);
    plan->max_fn = task->wish->max_fn;
    snprintf(plan->reason, sizeof plan->reason, "%s%s", reason_of(&p),
             plan->max_fn > 0 ? "; what avoided keys cost is counted" : "");
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
