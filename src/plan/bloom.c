/*
 * bloom.c: the Bloom filter on its four layouts. The model's solver does the work: the smallest
 * size for a rate, or the best hashes for a size.
 */
#include <stdio.h>

#include "model/blocked.h"
#include "plan/plan.h"

double tepal_plan_bloom_probes(const struct tepal_params *p, uint64_t n)
{
    bool distinct = p->positions == TEPAL_POSITIONS_DISTINCT;
    double first = 0;
    switch (p->layout) {
    case TEPAL_LAYOUT_BLOCKED:
        return 1;
    case TEPAL_LAYOUT_PAIRED:
        (void)tepal_model_paired_rate(p->cells / TEPAL_LINE_BITS, (double)n, p->hashes,
                                      (struct model_line){64, distinct}, MODEL_LOAD_POISSON,
                                      &first);
        return 1 + first;
    default:
        return tepal_plan_reads(tepal_bloom_fill(p->layout, p->positions, p->cells, n, p->hashes),
                                p->hashes, p->cells);
    }
}

bool tepal_plan_bloom_size(const struct plan_task *task, uint64_t n, struct tepal_params *p)
{
    if (task->smallest) {
        p->hashes = 0;
        return tepal_bloom_size(p->layout, p->positions, n, task->fp, &p->cells, &p->hashes) ==
               TEPAL_OK;
    }
    uint64_t most = task->limit < (uint64_t)1 << 60 ? task->limit : (uint64_t)1 << 60;
    p->cells = tepal_plan_down(most, tepal_layout_in_lines(p->layout) ? TEPAL_LINE_BITS : 1);
    if (task->wish->header_bits > 0 && p->cells != task->limit) {
        return false; /* exactly so many */
    }
    p->hashes = p->cells == 0 ? 0 : tepal_bloom_best_hashes(p->layout, p->positions, p->cells, n);
    return p->hashes > 0;
}

/* Positions that differ are worth their while in a filter of a few hundred bits. */
static enum tepal_positions positions_for(const struct plan_task *task)
{
    return task->wish->header_bits > 0 ? TEPAL_POSITIONS_DISTINCT : TEPAL_POSITIONS_COLLIDING;
}

void tepal_plan_bloom_no(const struct plan_task *task, struct tepal_proposal *plan)
{
    if (task->wish->header_bits > 0 && !tepal_plan_in_lines(task)) {
        tepal_plan_no(plan, "header-bits", TEPAL_PLAN_NOT_LINES);
    } else if (task->smallest) {
        tepal_plan_no(plan, "fp", "no size keeps this rate");
    } else {
        tepal_plan_no(plan, task->wish->header_bits > 0 ? "header-bits" : "memory",
                      "too few lines fit the memory");
    }
}

static void on_layout(const struct plan_task *task, enum tepal_layout layout,
                      struct tepal_plans *out)
{
    struct tepal_proposal *plan = tepal_plan_add(out, TEPAL_KIND_BLOOM, layout);
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.layout = layout;
    p.positions = positions_for(task);
    p.capacity = task->n;
    if (!tepal_plan_bloom_size(task, task->n, &p)) {
        tepal_plan_bloom_no(task, plan);
        return;
    }
    plan->params = p;
    plan->bits = p.cells;
    plan->fp = tepal_bloom_fp(layout, p.positions, p.cells, task->n, p.hashes);
    plan->fn = 0;
    plan->probes = tepal_plan_bloom_probes(&p, task->n);
    snprintf(plan->reason, sizeof plan->reason, "no false negatives");
    tepal_plan_finish(task, plan);
}

void tepal_plan_bloom(const struct plan_task *task, struct tepal_plans *out)
{
    const char *blocked_by;
    const char *unfit = tepal_plan_unfit(task, false, false, false, &blocked_by);
    if (unfit != NULL) {
        tepal_plan_refuse(out, TEPAL_KIND_BLOOM, blocked_by, unfit);
        return;
    }
    for (int layout = TEPAL_LAYOUT_FLAT; layout <= (int)task->last; layout++) {
        on_layout(task, (enum tepal_layout)layout, out);
    }
}
