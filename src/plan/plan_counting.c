/*
 * plan_counting.c: the counting filter with one choice. A wrong removal that finds something takes
 * a count from k counters: as other keys come and go, every key that has one of them alone is
 * missed sooner or later, Y of them (Theorem 1, put right: close to k). So fewer hashes mean fewer
 * false negatives at a given rate, for more counters: every k up to the best is tried.
 *
 * More than one choice is not offered: at up to 12 counters a key it gains nothing, and where keys
 * come and go it harms unless the caller keeps receipts (docs/deletes.md).
 */
#include <inttypes.h>
#include <stdio.h>

#include <tepal/counting.h>

#include "plan/plan.h"

#define LAYOUT    TEPAL_LAYOUT_FLAT
#define POSITIONS TEPAL_POSITIONS_COLLIDING

static double missed_each(uint64_t m, uint64_t n, uint32_t k)
{
    double share[16];
    double pmf[TEPAL_MAX_HASHES + 1];
    if (tepal_counting_shares(m, n, k, 1, true, share) != TEPAL_OK ||
        tepal_counting_potential(m, n, k, share[0], pmf) != TEPAL_OK) {
        return k;
    }
    double mean = tepal_counting_mean(pmf, k);
    return mean > 0 ? mean : k;
}

static double missed(const struct plan_task *task, uint64_t m, uint32_t k, double fp)
{
    double w = task->wish->wrong_deletes;
    if (!(w > 0)) {
        return 0;
    }
    double finds = w * fp * (double)task->n; /* removals that find something */
    double each = missed_each(m, task->n, k);
    return (finds < 1 ? each * finds : tepal_counting_many(each, task->n, finds)) / (double)task->n;
}

static uint64_t bits_of(const struct tepal_params *p)
{
    return 8 * tepal_params_payload_bytes(p);
}

/* The rate to keep with k hashes, if each wrong removal missed k keys: it is never more. */
static double rate_with(const struct plan_task *task, uint32_t k)
{
    double w = task->wish->wrong_deletes;
    return w > 0 && task->fn_stated ? fmin(task->fp, task->fn / (w * k)) : task->fp;
}

/* The fewest counters with k hashes for that; 0: the best k. */
static bool size_with(const struct plan_task *task, uint32_t k, struct tepal_params *p)
{
    double fp = rate_with(task, k);
    const char *why;
    p->hashes = k;
    return fp > 0 &&
           tepal_bloom_size(LAYOUT, POSITIONS, task->n, fp, &p->cells, &p->hashes) == TEPAL_OK &&
           tepal_params_check(p, &why) == TEPAL_OK;
}

/* About so many: from fp = (1 - e^(-k n / m))^k. */
static double size_about(const struct plan_task *task, uint32_t k)
{
    return -(double)k / log1p(-pow(rate_with(task, k), 1.0 / k));
}

/* It is a little less: halving down to the fewest counters that keep fn, and fp. */
static void shrink(const struct plan_task *task, struct tepal_params *p)
{
    uint64_t high = p->cells;
    uint64_t low = high - high / 8;
    while (high - low > 1 + high / 65536) {
        uint64_t m = low + (high - low) / 2;
        double fp = tepal_bloom_fp(LAYOUT, POSITIONS, m, task->n, p->hashes);
        if (fp <= task->fp && missed(task, m, p->hashes, fp) <= task->fn) {
            high = m;
        } else {
            low = m;
        }
    }
    p->cells = high;
}

/* Hashes whose size is near the fewest: within what halving gains, and what the formula misses. */
#define NEAR 1.06

static bool smallest(const struct plan_task *task, struct tepal_params *p)
{
    struct tepal_params best = *p;
    double fewest = INFINITY;
    bool limited = task->wish->wrong_deletes > 0 && task->fn_stated;
    if (!limited) {
        return size_with(task, 0, p);
    }
    for (uint32_t k = 1; k <= TEPAL_MAX_HASHES; k++) {
        fewest = fmin(fewest, size_about(task, k));
    }
    for (uint32_t k = 1; k <= TEPAL_MAX_HASHES; k++) {
        struct tepal_params here = *p;
        if (size_about(task, k) <= NEAR * fewest && size_with(task, k, &here)) {
            shrink(task, &here);
            best = best.cells == 0 || here.cells < best.cells ? here : best;
        }
    }
    *p = best;
    return best.cells > 0;
}

/* As many counters as fit, and the hashes that cost least. */
static bool best(const struct plan_task *task, struct tepal_params *p)
{
    struct tepal_params found = *p;
    double least = INFINITY;
    /* 16 counters a word, 64 bits a word: 5 bits each, in whole words. */
    uint64_t cells = task->limit / 5 < (uint64_t)1 << 59 ? task->limit / 5 : (uint64_t)1 << 59;
    p->cells = cells;
    p->hashes = 1;
    const char *why;
    while (p->cells > 0 && (tepal_params_check(p, &why) != TEPAL_OK || bits_of(p) > task->limit)) {
        p->cells = p->cells > 64 ? tepal_plan_down(p->cells - 1, 64) : p->cells - 1;
    }
    if (p->cells == 0) {
        return false;
    }
    /* Beyond the k with the lowest fp both errors grow. */
    uint32_t most = tepal_bloom_best_hashes(LAYOUT, POSITIONS, p->cells, task->n);
    for (uint32_t k = 1; k <= most; k++) {
        double fp = tepal_bloom_fp(LAYOUT, POSITIONS, p->cells, task->n, k);
        if (task->cost_fp * fp >= least) {
            continue;
        }
        double fn = missed(task, p->cells, k, fp);
        double cost = task->cost_fp * fp + task->cost_fn * fn;
        if (cost < least && !(task->fn_stated && fn > task->fn)) {
            least = cost;
            found = *p;
            found.hashes = k;
        }
    }
    *p = found;
    return found.cells > 0;
}

void tepal_plan_counting(const struct plan_task *task, struct tepal_plans *out)
{
    const char *blocked_by;
    const char *unfit = tepal_plan_unfit(task, true, false, false, &blocked_by);
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.kind = TEPAL_KIND_COUNTING;
    p.capacity = task->n;
    p.own[TEPAL_COUNTING_CHOICES] = 1;
    if (unfit == NULL && task->wish->header_bits > 0) {
        blocked_by = "header-bits";
        unfit = "counters are too large for a header";
    }
    if (unfit == NULL && !(task->smallest ? smallest(task, &p) : best(task, &p))) {
        blocked_by = task->smallest ? "fp" : "memory";
        unfit = task->smallest ? "no size keeps these rates" : "no counter fits the memory";
    }
    if (unfit != NULL) {
        tepal_plan_refuse(out, TEPAL_KIND_COUNTING, blocked_by, unfit);
        return;
    }
    struct tepal_proposal *plan = tepal_plan_add(out, TEPAL_KIND_COUNTING, LAYOUT);
    plan->params = p;
    plan->bits = bits_of(&p);
    plan->fp = tepal_bloom_fp(LAYOUT, POSITIONS, p.cells, task->n, p.hashes);
    plan->fn = missed(task, p.cells, p.hashes, plan->fp);
    /* A query reads the bits beside the counters. */
    plan->probes = tepal_plan_reads(tepal_bloom_fill(LAYOUT, POSITIONS, p.cells, task->n, p.hashes),
                                    p.hashes, p.cells);
    snprintf(plan->reason, sizeof plan->reason,
             "one choice: more would harm a set that keys leave, unless receipts are kept");
    tepal_plan_say(plan,
                   "tepal build KEYS -o FILE --kind counting --cells %" PRIu64 " --hashes %" PRIu32
                   " --capacity %" PRIu64,
                   p.cells, p.hashes, task->n);
    tepal_plan_finish(task, plan);
}
