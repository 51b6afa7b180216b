/*
 * bloom.c: the Bloom filter on its four layouts. The model's solver does the work: the smallest
 * size for a rate, or the best hashes for a size, with positions that differ where that pays.
 */
#include <math.h>
#include <stdio.h>

#include <tepal/papers.h>

#include "plan/plan.h"

bool tepal_plan_bloom_size(const struct plan_task *task, uint64_t n, struct tepal_params *p)
{
    if (task->smallest) {
        p->hashes = 0;
        return tepal_bloom_size(p->layout, p->positions, n, task->fp, &p->cells, &p->hashes) ==
               TEPAL_OK;
    }
    p->cells = tepal_plan_most(task, params_unit(p->layout, 1));
    if (task->wish->header_bits > 0 && p->cells != task->limit) {
        return false; /* exactly so many */
    }
    p->hashes = p->cells == 0 ? 0 : tepal_bloom_best_hashes(p->layout, p->positions, p->cells, n);
    return p->hashes > 0;
}

void tepal_plan_bloom_no(const struct plan_task *task, struct tepal_proposal *plan)
{
    if (task->wish->header_bits > 0 && !tepal_plan_in_lines(task)) {
        tepal_plan_no(plan, "header-bits", TEPAL_PLAN_NOT_LINES);
    } else if (task->smallest) {
        tepal_plan_no(plan, "fp", "no size achieves this rate");
    } else {
        tepal_plan_no(plan, plan_memory(task), "too few cache lines fit into the memory");
    }
}

/*
 * Positions that differ must be compared with each other. That is worth a hundredth of the bits, or
 * of the rate's logarithm, which is what bits are spent on: in filters of a few hundred bits, and
 * in lines with more than eight hashes.
 */
#define WORTH 1.01

static bool pays(const struct plan_task *task, const struct tepal_params *distinct,
                 const struct tepal_params *p)
{
    if (task->smallest) {
        return (double)distinct->cells * WORTH <= (double)p->cells;
    }
    return log(tepal_bloom_fp(distinct->layout, distinct->positions, distinct->cells, task->n,
                              distinct->hashes)) <=
           WORTH * log(tepal_bloom_fp(p->layout, p->positions, p->cells, task->n, p->hashes));
}

/* False: there is no size with either rule. */
static bool size_best(const struct plan_task *task, struct tepal_params *p)
{
    struct tepal_params distinct = *p;
    bool sized = tepal_plan_bloom_size(task, task->n, p);
    distinct.positions = TEPAL_POSITIONS_DISTINCT;
    if (tepal_plan_bloom_size(task, task->n, &distinct) && (!sized || pays(task, &distinct, p))) {
        *p = distinct;
        sized = true;
    }
    return sized;
}

static void on_layout(const struct plan_task *task, enum tepal_layout layout,
                      struct tepal_plans *out)
{
    struct tepal_proposal *plan = tepal_plan_add(out, TEPAL_KIND_BLOOM, layout);
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.layout = layout;
    p.positions = plan_positions(task);
    p.capacity = task->n;
    if (!size_best(task, &p)) {
        tepal_plan_bloom_no(task, plan);
        return;
    }
    plan->params = p;
    plan->bits = p.cells;
    plan->fp = tepal_bloom_fp(layout, p.positions, p.cells, task->n, p.hashes);
    plan->fn = 0;
    plan->probes = tepal_plan_probes(&p, task->n);
    plan->max_fn = task->wish->max_fn;
    snprintf(plan->reason, sizeof plan->reason, "no false negatives%s",
             plan->max_fn > 0 ? " until keys are avoided, whose cost is predicted" : "");
    tepal_plan_finish(task, plan);
}

void tepal_plan_bloom(const struct plan_task *task, struct tepal_plans *out)
{
    if (tepal_plan_barred(out, TEPAL_KIND_BLOOM, tepal_plan_bar(task, TEPAL_KIND_BLOOM))) {
        return;
    }
    for (int layout = TEPAL_LAYOUT_FLAT; layout <= (int)task->last; layout++) {
        on_layout(task, (enum tepal_layout)layout, out);
    }
}
