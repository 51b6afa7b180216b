/*
 * plan_cascade.c: the cascade. No error on the keys that it is built from; its size is expected,
 * since each level stores what the one before it lets through:
 *
 *     level 1   n members at the rate f1     lets t f1 known negatives through
 *     level 2   stores these at f2           lets n f2 members through, and so on
 *
 * with the rates that src/filter/cascade_build.c takes: 1/2, or stored / asked / sqrt 2 if that is
 * less. Each level is sized by the Bloom filter's model.
 */
#include <inttypes.h>
#include <stdio.h>

#include "plan/plan.h"

#define LAYOUT    TEPAL_LAYOUT_FLAT
#define POSITIONS TEPAL_POSITIONS_COLLIDING
#define MOST      63

static double rate_for(double stored, double asked)
{
    return fmin(stored / asked * sqrt(0.5), 0.5);
}

struct rest {
    double bits;
    double rejected; /* of the keys that the first level has by accident, by the others */
};

/* The levels beyond a first one of rate f1. */
static struct rest rest_of(const struct plan_task *task, double f1)
{
    double stored = (double)task->t * f1;
    double asked = (double)task->n;
    struct rest rest = {0, 0};
    double chance = 1;
    for (int level = 2; level <= MOST && stored > 0.5; level++) {
        uint64_t cells;
        uint32_t hashes = 0;
        double f = rate_for(stored, asked);
        if (tepal_bloom_size(LAYOUT, POSITIONS, (uint64_t)ceil(stored), f, &cells, &hashes) !=
            TEPAL_OK) {
            rest.bits = INFINITY;
            return rest;
        }
        rest.bits += (double)cells;
        chance *= f;
        rest.rejected += level % 2 == 0 ? chance : -chance;
        double next = asked * f;
        asked = stored;
        stored = next;
    }
    return rest;
}

struct choice {
    double f1;
    struct tepal_params first;
    double bits;
};

static struct choice with_rate(const struct plan_task *task, double f1)
{
    struct choice c = {.f1 = f1, .first = TEPAL_PARAMS_INIT, .bits = INFINITY};
    if (tepal_bloom_size(LAYOUT, POSITIONS, task->n, f1, &c.first.cells, &c.first.hashes) ==
        TEPAL_OK) {
        c.bits = (double)c.first.cells + rest_of(task, f1).bits;
    }
    return c;
}

/*
 * The smallest cascade: its first rate lies near n / (t sqrt 2), or 1/2 if that is less. Rates
 * around it are tried, and then nearer and nearer to the best.
 */
#define AROUND 8

static struct choice smallest(const struct plan_task *task)
{
    struct choice best = with_rate(task, rate_for((double)task->n, (double)task->t));
    double middle = best.f1;
    for (int i = -AROUND; i <= AROUND; i++) {
        double f1 = middle * exp2(i / 4.0);
        struct choice here = f1 < 0.95 ? with_rate(task, f1) : best;
        best = here.bits < best.bits ? here : best;
    }
    for (double step = 0.125; step > 0.01; step /= 2) {
        double centre = best.f1;
        for (int side = -1; side <= 1; side += 2) {
            double f1 = centre * exp2(side * step);
            struct choice here = f1 < 0.95 ? with_rate(task, f1) : best;
            best = here.bits < best.bits ? here : best;
        }
    }
    return best;
}

/* The lowest first rate that goes, with what follows, into the limit. */
static struct choice fullest(const struct plan_task *task, struct choice best)
{
    double low = log(1e-18);
    double high = log(best.f1);
    while (high - low > 1e-4) {
        struct choice here = with_rate(task, exp((low + high) / 2));
        if (here.bits <= (double)task->limit) {
            best = here;
            high = (low + high) / 2;
        } else {
            low = (low + high) / 2;
        }
    }
    return best;
}

static const char *unfit_of(const struct plan_task *task, const char **blocked_by)
{
    const char *unfit = tepal_plan_unfit(task, false, false, false, blocked_by);
    if (unfit == NULL && task->t == 0) {
        *blocked_by = "known-negatives";
        unfit = "no negatives are known";
    }
    if (unfit == NULL && task->wish->header_bits > 0) {
        *blocked_by = "header-bits";
        unfit = "its levels need a directory besides the bits";
    }
    return unfit;
}

void tepal_plan_cascade(const struct plan_task *task, struct tepal_plans *out)
{
    const char *blocked_by;
    const char *unfit = unfit_of(task, &blocked_by);
    struct choice c = {.bits = INFINITY};
    if (unfit == NULL) {
        c = smallest(task);
        blocked_by = "memory";
        unfit = c.bits < 0x1p60 ? NULL : "no size is large enough";
    }
    if (unfit != NULL) {
        tepal_plan_refuse(out, TEPAL_KIND_CASCADE, blocked_by, unfit);
        return;
    }
    if (!task->smallest && c.bits <= (double)task->limit) {
        c = fullest(task, c);
    }
    const struct tepal_params *p = &c.first;
    struct tepal_proposal *plan = tepal_plan_add(out, TEPAL_KIND_CASCADE, LAYOUT);
    plan->params = *p; /* the first level: the others follow from the keys */
    plan->params.kind = TEPAL_KIND_CASCADE;
    plan->params.capacity = task->n;
    plan->bits = (uint64_t)ceil(c.bits);
    plan->fp = 0;
    plan->fp_unknown = c.f1 * (1 - rest_of(task, c.f1).rejected);
    plan->fn = 0;
    plan->probes =
        tepal_plan_reads(tepal_bloom_fill(LAYOUT, POSITIONS, p->cells, task->n, p->hashes),
                         p->hashes, p->cells) +
        2 * c.f1;
    snprintf(plan->reason, sizeof plan->reason,
             "no error on the known keys; the size is an expectation; %.3g %% of unknown keys pass",
             100 * plan->fp_unknown);
    tepal_plan_say(plan, "tepal build KEYS -o FILE --kind cascade --avoid NEGATIVES%s",
                   tepal_plan_weighted(task));
    if (task->smallest) {
        tepal_plan_say(plan, " --fp %.9g", c.f1);
    } else {
        tepal_plan_say(plan, " --bits %" PRIu64, task->limit);
    }
    tepal_plan_finish(task, plan);
}
