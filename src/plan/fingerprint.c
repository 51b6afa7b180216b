/*
 * fingerprint.c: the fingerprint filter. It looks at eight slots and no more, so that its
 * error is bounded whoever fills it; a wrong removal that finds something takes one member away.
 */
#include <inttypes.h>
#include <stdio.h>

#include <tepal/papers.h>

#include "plan/plan.h"

#define PAIR_SLOTS (2 * TEPAL_FINGERPRINT_SLOTS)

/*
 * Whoever fills the slots gives a stranger's eight different fingerprints, one of them the value
 * that two of 2^f digests have: 9 / 2^f.
 */
static double bound(uint32_t f)
{
    return (PAIR_SLOTS + 1) * exp2(-(double)f);
}

static double rate(const struct plan_task *task, const struct tepal_params *p)
{
    uint32_t f = (uint32_t)p->fingerprint.bits;
    return task->wish->untrusted
               ? bound(f)
               : tepal_fingerprint_fp(f, p->cells / (TEPAL_FINGERPRINT_SLOTS * f), task->n);
}

/* The rate to keep: also what wrong removals ask for. */
static double rate_wanted(const struct plan_task *task)
{
    double w = task->wish->wrong_deletes;
    double fp = task->fp;
    if (w > 0 && task->fn_stated && !(w * fp <= task->fn)) {
        fp = task->fn / w;
    }
    return fp;
}

/* The fewest pairs of buckets with room and the rate kept, by halving: the formula is close. */
static uint64_t tighten(const struct plan_task *task, uint32_t f, uint64_t cells, double fp)
{
    uint64_t pair = (uint64_t)PAIR_SLOTS * f;
    uint64_t low = 0; /* too few */
    uint64_t high = cells / pair;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (tepal_fingerprint_room(f, 2 * middle) >= task->n &&
            tepal_fingerprint_fp(f, 2 * middle, task->n) <= fp) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return high * pair;
}

static bool smallest(const struct plan_task *task, struct tepal_params *p)
{
    double fp = rate_wanted(task);
    for (uint32_t f = TEPAL_MIN_FINGERPRINT_BITS; fp > 0 && f <= TEPAL_MAX_FINGERPRINT_BITS; f++) {
        uint32_t bits = f;
        uint64_t cells;
        if ((task->wish->untrusted && bound(f) > fp) ||
            tepal_fingerprint_size(task->n, fp, &cells, &bits) != TEPAL_OK) {
            continue;
        }
        cells = tighten(task, f, cells, fp);
        if (p->cells == 0 || cells < p->cells) {
            p->cells = cells;
            p->fingerprint.bits = f;
        }
    }
    return p->cells > 0;
}

/* The lowest rate in the limit: every length of fingerprints that leaves room. */
static bool best(const struct plan_task *task, struct tepal_params *p)
{
    double least = INFINITY;
    for (uint32_t f = TEPAL_MIN_FINGERPRINT_BITS; f <= TEPAL_MAX_FINGERPRINT_BITS; f++) {
        uint64_t buckets = task->limit / (PAIR_SLOTS * f) * 2;
        buckets = buckets < UINT32_MAX - 1 ? buckets : UINT32_MAX - 1;
        struct tepal_params here = *p;
        here.cells = buckets * TEPAL_FINGERPRINT_SLOTS * f;
        here.fingerprint.bits = f;
        if (buckets >= 2 && tepal_fingerprint_room(f, buckets) >= task->n &&
            rate(task, &here) < least) {
            least = rate(task, &here);
            *p = here;
        }
    }
    return p->cells > 0;
}

/* Where nothing is sure, what can be built with most seeds: all the memory, for each length. */
#define LIKELY 0.5

static double likely(const struct plan_task *task, struct tepal_params *p)
{
    double most = 0;
    double fp = task->smallest ? rate_wanted(task) : 1;
    for (uint32_t f = TEPAL_MIN_FINGERPRINT_BITS; f <= TEPAL_MAX_FINGERPRINT_BITS; f++) {
        struct tepal_params here = *p;
        uint64_t buckets = task->limit / (PAIR_SLOTS * f) * 2;
        buckets = buckets < UINT32_MAX - 1 ? buckets : UINT32_MAX - 1;
        here.cells = buckets * TEPAL_FINGERPRINT_SLOTS * f;
        here.fingerprint.bits = f;
        double fits = tepal_fingerprint_fits(f, buckets, task->n); /* NaN: too few buckets */
        if (fits >= LIKELY && fits < 1 && fits > most && rate(task, &here) <= fp) {
            most = fits;
            *p = here;
        }
    }
    return most;
}

/* It keeps all limits, but not every seed has room for the keys. */
static void not_sure(const struct plan_task *task, double chance, struct tepal_proposal *plan)
{
    uint64_t sure = 0;
    uint32_t bits = (uint32_t)plan->params.fingerprint.bits;
    if (plan->feasible) {
        plan->feasible = false;
        plan->likely = chance;
        plan->blocked_by = "memory";
        (void)tepal_fingerprint_size(task->n, fmin(plan->fp * (1 + 1e-9), 0.99), &sure, &bits);
        plan->excess = fmax((double)sure / (double)task->limit, 1);
        snprintf(plan->reason, sizeof plan->reason,
                 "has room for the keys with %.3g %% of all seeds", 100 * chance);
    }
}

void tepal_plan_fingerprint(const struct plan_task *task, struct tepal_plans *out)
{
    struct plan_bar bar = tepal_plan_bar(task, TEPAL_KIND_FINGERPRINT);
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.kind = TEPAL_KIND_FINGERPRINT;
    p.hashes = 2;
    p.capacity = task->n;
    plan_bar_if(&bar, task->wish->header_bits > 0, "header-bits",
                "its buckets are too coarse for a header");
    double chance = 0;
    if (bar.why == NULL) {
        bool sure = task->smallest ? smallest(task, &p) : best(task, &p);
        chance = !sure || p.cells > task->limit ? likely(task, &p) : 0;
        plan_bar_if(&bar, !sure && chance == 0, task->smallest ? "fp" : "memory",
                    task->smallest ? "no fingerprint of 4 to 32 bits achieves this rate"
                                   : "this many keys do not fit");
    }
    if (tepal_plan_barred(out, TEPAL_KIND_FINGERPRINT, bar)) {
        return;
    }
    struct tepal_proposal *plan = tepal_plan_add(out, TEPAL_KIND_FINGERPRINT, TEPAL_LAYOUT_FLAT);
    plan->params = p;
    plan->bits = p.cells;
    plan->fp = rate(task, &p);
    plan->fn = fmin(task->wish->wrong_deletes * plan->fp, 1);
    plan->probes = 2;
    snprintf(plan->reason, sizeof plan->reason, "%s",
             task->wish->untrusted
                 ? "fp is a bound whatever its contents; but an attacker can leave no room for "
                   "your keys"
             : task->wish->wrong_deletes > 0
                 ? "a wrong removal removes a member if the removed key is a false positive"
                 : "assumes that no key is added more than 8 times");
    tepal_plan_finish(task, plan);
    if (chance > 0) {
        not_sure(task, chance, plan);
    }
}
