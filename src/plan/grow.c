/*
 * grow.c: the kinds that grow, for wishes that say where they begin and end: growing filters, and
 * chains on every layout. Both are planned by their rate; their bits are those of the last size.
 */
#include <inttypes.h>
#include <stdio.h>

#include <tepal/papers.h>

#include "plan/plan.h"

static struct plan_bar bar_of(const struct plan_task *task, enum tepal_kind_id kind)
{
    struct plan_bar bar = tepal_plan_bar(task, kind);
    plan_bar_if(&bar, task->wish->header_bits > 0, "header-bits", "a header does not grow");
    plan_bar_if(&bar, !task->smallest, "fp", "what grows is planned by its rate: give one");
    plan_bar_if(&bar, task->smallest && !(task->fp > 0), "fp", "it cannot be free of errors");
    return bar;
}

void tepal_plan_growing(const struct plan_task *task, struct tepal_plans *out)
{
    struct plan_bar bar = bar_of(task, TEPAL_KIND_GROWING);
    struct tepal_params p = TEPAL_PARAMS_INIT;
    double fp = task->fp;
    p.kind = TEPAL_KIND_GROWING;
    if (task->wish->wrong_deletes > 0 && task->fn_stated) {
        fp = fmin(fp, task->fn / task->wish->wrong_deletes);
    }
    plan_bar_if(&bar,
                bar.why == NULL &&
                    tepal_growing_size(task->wish->keys_first, task->n, fp, &p) != TEPAL_OK,
                "fp", "no tags and extensions reach this rate");
    plan_bar_if(&bar, bar.why == NULL && task->wish->untrusted && tepal_params_fp_bound(&p) > fp,
                "untrusted", "whoever fills it exceeds this rate");
    if (tepal_plan_barred(out, TEPAL_KIND_GROWING, bar)) {
        return;
    }
    struct tepal_proposal *plan = tepal_plan_add(out, TEPAL_KIND_GROWING, TEPAL_LAYOUT_FLAT);
    uint32_t t = (uint32_t)p.growing.tag_bits;
    uint32_t e = (uint32_t)p.growing.extension_bits;
    uint64_t first = params_growing_buckets(&p);
    uint64_t bucket = (uint64_t)TEPAL_FINGERPRINT_SLOTS * params_growing_slot(&p);
    p.capacity = task->n;
    plan->params = p;
    plan->bits = (uint64_t)ceil(tepal_growing_buckets(e, first, task->n)) * bucket;
    plan->fp = tepal_growing_fp(t, e, first, task->n);
    plan->fn = fmin(task->wish->wrong_deletes * plan->fp, 1);
    /* Two buckets, each read as two words that begin half a bucket apart and may cross a line. */
    plan->probes = 2 * (1 + ((double)bucket / 2 + 63) / TEPAL_LINE_BITS);
    snprintf(plan->reason, sizeof plan->reason,
             "its memory follows the keys; beyond %" PRIu64 " keys the rate rises slowly", task->n);
    tepal_plan_finish(task, plan);
}

/* The lines that an absent key reads: those of all parts, full ones. */
static double chain_probes(const struct tepal_params *p, uint64_t n, double *bits)
{
    double probes = 0;
    *bits = 0;
    for (uint32_t i = 0; i == 0 || n > 0; i++) {
        struct tepal_chain_part part;
        struct tepal_params one = *p;
        if (tepal_chain_part(p, i, &part) != TEPAL_OK) {
            return NAN;
        }
        uint64_t keys = n < part.keys ? n : part.keys;
        one.kind = TEPAL_KIND_BLOOM;
        one.cells = part.bits;
        one.hashes = part.hashes;
        probes += tepal_plan_probes(&one, keys);
        *bits += (double)part.bits;
        n -= keys;
    }
    return probes;
}

static void plan_chain(const struct plan_task *task, enum tepal_layout layout,
                       struct tepal_plans *out)
{
    struct tepal_proposal *plan = tepal_plan_add(out, TEPAL_KIND_CHAIN, layout);
    struct tepal_params p = plan->params;
    double bits = 0;
    p.chain.first_keys = task->wish->keys_first;
    p.chain.growth = 2 * (uint64_t)TEPAL_CHAIN_UNIT;
    if (tepal_params_for_rate(&p, task->n, task->fp, NULL) != TEPAL_OK) {
        tepal_plan_no(plan, "fp", "no parts reach this rate");
        return;
    }
    plan->probes = chain_probes(&p, task->n, &bits);
    if (isnan(plan->probes)) {
        tepal_plan_no(plan, "grow", "64 parts are too few for this growth");
        return;
    }
    plan->params = p;
    plan->bits = (uint64_t)bits;
    plan->fp = tepal_chain_fp(&p, task->n);
    plan->fn = 0;
    snprintf(plan->reason, sizeof plan->reason,
             "its rate holds beyond %" PRIu64 " keys too; a new part doubles its memory", task->n);
    tepal_plan_finish(task, plan);
}

void tepal_plan_chain(const struct plan_task *task, struct tepal_plans *out)
{
    if (tepal_plan_barred(out, TEPAL_KIND_CHAIN, bar_of(task, TEPAL_KIND_CHAIN))) {
        return;
    }
    for (int layout = TEPAL_LAYOUT_FLAT; layout <= (int)task->last; layout++) {
        plan_chain(task, (enum tepal_layout)layout, out);
    }
}
