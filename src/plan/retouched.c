/*
 * retouched.c: the retouched Bloom filter.
 *
 * To give up the share fn of the members, drawn at random, leaves the Bloom filter of the others.
 * Retouching chooses: for each false positive that goes it clears the bit with the fewest owners,
 *
 *     c = sum over j of P(a set bit has j owners or more)^k
 *
 * of them (hardly more than one), and the heaviest false positives go first. A known one is left if
 * there are lost / c or more heavier ones, whose number varies as a Poisson number does. Members
 * that are given up take others with them, so that this is what is reached at least; and if the
 * negatives are so many that hardly any goes, the Bloom filter of the others still is.
 */
#include <stdio.h>

#include <tepal/papers.h>

#include "plan/plan.h"

static uint64_t kept(uint64_t n, double fn)
{
    double lost = floor((double)n * fn * (1 + 1e-12));
    return n - (uint64_t)(lost < (double)n ? lost : (double)n - 1);
}

/* Owners of a bit, on average. */
#define CROWDED 40

/* Members that the removal of one false positive costs. */
static double members_each(const struct tepal_params *p, uint64_t n)
{
    double load = p->hashes * (double)n / (double)p->cells;
    if (load > CROWDED) { /* nearly normal; the least of k is not further below the mean */
        return fmax(load - sqrt(2 * log(p->hashes) * load), 1);
    }
    double chance = exp(-load); /* of j owners */
    double set = -expm1(-load);
    double tail = set;
    double sum = 0;
    for (int j = 1; j < 3 * CROWDED && tail > 1e-6 * set; j++) {
        sum += pow(tail / set, p->hashes);
        chance *= load / j;
        tail -= chance;
    }
    return fmax(sum, 1);
}

#define EXACT 32 /* numbers taken; more are nearly normal */
#define FAR   9  /* standard deviations */

/* E max(0, X - taken) of a Poisson number X. */
static double excess(double mean, double taken)
{
    double z = (mean - taken) / sqrt(mean);
    if (!(z > -FAR)) {
        return 0;
    }
    if (z > FAR) {
        return mean - taken;
    }
    if (taken > EXACT) {
        return sqrt(mean) * (z * erfc(-z / sqrt(2)) / 2 + exp(-z * z / 2) / sqrt(2 * acos(-1)));
    }
    double chance = exp(-mean); /* of j */
    double sum = mean - taken;
    for (int j = 0; j < taken; j++) {
        sum += (taken - j) * chance;
        chance *= mean / (j + 1);
    }
    return fmax(sum, 0);
}

/*
 * The share of the false positives' weight that is left when the heaviest of them are taken. One
 * that has lambda heavier ones on average is left with probability P(X >= taken), the derivative of
 * the excess: its mean over a piece of the weights' curve follows from both ends.
 */
static double weight_left(const struct plan_task *task, double falses, double taken)
{
    const struct tepal_plan_weights *w = &task->wish->weights;
    double x0 = 0;
    double y0 = 0;
    double above = excess(falses, taken);
    double sum = 0;
    for (size_t i = 0; x0 < 1 && falses > 0; i++) {
        double x = i < w->count ? w->share[i] : 1;
        double y = i < w->count ? w->weight[i] : 1;
        double here = excess(falses * (1 - x), taken);
        sum += (y - y0) * (above - here) / (falses * (x - x0));
        x0 = x;
        y0 = y;
        above = here;
    }
    return fmin(sum, 1);
}

/* What is left of the known negatives' weight. */
static double retouched_fp(const struct plan_task *task, const struct tepal_params *p, double fn)
{
    uint64_t left = kept(task->n, fn);
    double others = tepal_bloom_fp(p->layout, p->positions, p->cells, left, p->hashes);
    double fp = tepal_bloom_fp(p->layout, p->positions, p->cells, task->n, p->hashes);
    double taken = (double)(task->n - left) / members_each(p, task->n);
    return fmin(others, fp * weight_left(task, fp * (double)task->t, taken));
}

/* With the best hashes, which are those of all members or of the others. */
static double rate_at(const struct plan_task *task, struct tepal_params *p, double fn)
{
    uint32_t all = tepal_bloom_best_hashes(p->layout, p->positions, p->cells, task->n);
    uint32_t few = tepal_bloom_best_hashes(p->layout, p->positions, p->cells, kept(task->n, fn));
    p->hashes = few;
    double fp = retouched_fp(task, p, fn);
    if (all != few) {
        p->hashes = all;
        double other = retouched_fp(task, p, fn);
        p->hashes = other < fp ? all : few;
        fp = fmin(fp, other);
    }
    return fp;
}

/* Are the rates of known negatives and of strangers kept, with these hashes? */
static bool keeps(const struct plan_task *task, const struct tepal_params *p)
{
    return retouched_fp(task, p, task->fn) <= task->fp_known &&
           (task->closed || tepal_bloom_fp(p->layout, p->positions, p->cells, task->n, p->hashes) <=
                                task->fp_strangers);
}

/* With the best hashes, which are those of all members or of the others? */
static bool keeps_some(const struct plan_task *task, struct tepal_params *p)
{
    uint64_t left = kept(task->n, task->fn);
    p->hashes = tepal_bloom_best_hashes(p->layout, p->positions, p->cells, left);
    if (keeps(task, p)) {
        return true;
    }
    p->hashes = tepal_bloom_best_hashes(p->layout, p->positions, p->cells, task->n);
    return keeps(task, p);
}

/* The fewest bits for the rates, by halving: the Bloom filter of all members is large enough. */
static bool size_retouched(const struct plan_task *task, struct tepal_params *p)
{
    if (!tepal_plan_bloom_size(task, task->n, p)) {
        return false;
    }
    struct tepal_params best = *p;
    uint64_t unit = params_unit(p->layout, 1);
    uint64_t low = 0;
    uint64_t high = p->cells / unit;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        p->cells = middle * unit;
        if (keeps_some(task, p)) {
            high = middle;
            best = *p;
        } else {
            low = middle;
        }
    }
    *p = best;
    return p->hashes > 0;
}

/*
 * How many members to give up costs least. Each is tried if they are few; else numbers 5 % apart,
 * and then between the neighbours of the best. In lines, where a rate takes a hundred times as
 * long, halves down to a thousandth, and between the neighbours of the best to a thousandth of it.
 */
#define FEW      128
#define THOUSAND 1024

struct loss {
    const struct plan_task *task;
    struct tepal_params *p;
    double least;
    uint64_t best;
};

static void try_loss(struct loss *loss, uint64_t lost)
{
    const struct plan_task *task = loss->task;
    double fn = (double)lost / (double)task->n;
    struct tepal_params here = *loss->p;
    double cost = task->cost_fp * rate_at(task, &here, fn) + task->cost_fn * fn;
    if (cost < loss->least) {
        loss->least = cost;
        loss->best = lost;
        loss->p->hashes = here.hashes;
    }
}

static double give_up(const struct plan_task *task, struct tepal_params *p)
{
    struct loss loss = {.task = task, .p = p, .least = INFINITY, .best = 1};
    uint64_t most = (uint64_t)((task->fn_stated ? task->fn : 0.5) * (double)task->n);
    bool lined = tepal_layout_in_lines(p->layout);
    uint64_t few = lined ? most / THOUSAND : FEW;
    for (uint64_t lost = most; lost > (lined ? few : 0);) {
        try_loss(&loss, lost);
        lost -= lost <= few ? 1 : lined ? (lost + 1) / 2 : 1 + lost / 20;
    }
    try_loss(&loss, 1);
    uint64_t finest = lined ? loss.best / THOUSAND : 0;
    for (uint64_t step = loss.best / (lined ? 4 : 40); step > finest; step /= 2) {
        uint64_t centre = loss.best;
        try_loss(&loss, centre - step);
        try_loss(&loss, centre + step <= most ? centre + step : most);
    }
    return (double)loss.best / (double)task->n;
}

/* As people write a share: what is said of a plan is then what is built by it. */
static double nine_digits(double share)
{
    double scale = pow(10, 8 - floor(log10(share)));
    return rint(share * scale) / scale;
}

static void on_layout(const struct plan_task *task, enum tepal_layout layout,
                      struct tepal_plans *out)
{
    struct tepal_proposal *plan = tepal_plan_add(out, TEPAL_KIND_RETOUCHED, layout);
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.layout = layout;
    p.capacity = task->n;
    if (!(task->smallest ? size_retouched(task, &p) : tepal_plan_bloom_size(task, task->n, &p))) {
        tepal_plan_bloom_no(task, plan);
        return;
    }
    double fn = task->smallest ? task->fn : give_up(task, &p);
    plan->params = p;
    plan->params.kind = TEPAL_KIND_RETOUCHED;
    plan->max_fn = nine_digits(fn);
    plan->weighted = tepal_plan_weighs(task);
    plan->bits = p.cells;
    plan->fn = fn;
    plan->fp_known = retouched_fp(task, &p, fn);
    /* It stops when the known ones are gone: of others no more is promised than before. */
    plan->fp = tepal_bloom_fp(p.layout, p.positions, p.cells, task->n, p.hashes);
    plan->probes = tepal_plan_probes(&p, kept(task->n, fn));
    snprintf(
        plan->reason, sizeof plan->reason,
        "an estimate: clears one bit per false positive, heaviest first, which loses its members");
    tepal_plan_finish(task, plan);
}

void tepal_plan_retouched(const struct plan_task *task, struct tepal_plans *out)
{
    struct plan_bar bar = tepal_plan_bar(task, TEPAL_KIND_RETOUCHED);
    plan_bar_if(&bar, task->t == 0, "known-negatives", "no negatives are known");
    plan_bar_if(&bar, task->fn_stated && !(task->fn > 0), "fn",
                "gives up members, but no false negatives are allowed");
    plan_bar_if(&bar, task->fn_stated && task->fn * (double)task->n < 1, "fn",
                "not even one member may be given up");
    plan_bar_if(&bar, task->wish->header_bits > 0, "header-bits",
                "not for headers: yesno vetoes without losing members");
    if (tepal_plan_barred(out, TEPAL_KIND_RETOUCHED, bar)) {
        return;
    }
    for (int layout = TEPAL_LAYOUT_FLAT; layout <= (int)task->last; layout++) {
        on_layout(task, (enum tepal_layout)layout, out);
    }
}
