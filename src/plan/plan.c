/*
 * plan.c: a wish made definite, the kinds asked, their plans ranked; and if there is none, the
 * constraint that is in the way.
 */
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

#include "base/refuse.h"
#include "base/work.h"
#include "model/blocked.h"
#include "model/model.h"
#include "model/recycling.h"

#define FP_UNSTATED 0.01
#define WORD        64
#define MOST_KEYS   ((uint64_t)1 << 50)

/* ---- what the kinds share -------------------------------------------------------------------- */

struct tepal_proposal *tepal_plan_add(struct tepal_plans *out, enum tepal_kind_id kind,
                                      enum tepal_layout layout)
{
    struct tepal_proposal *plan =
        &out->plan[out->count < TEPAL_MAX_PLANS ? out->count++ : TEPAL_MAX_PLANS - 1];
    *plan = (struct tepal_proposal){.kind = kind,
                                    .blocked_by = "",
                                    .excess = INFINITY,
                                    .params = TEPAL_PARAMS_INIT,
                                    .bits_per_key = NAN,
                                    .fp = NAN,
                                    .fp_known = NAN,
                                    .fn = NAN,
                                    .probes = NAN,
                                    .cost = NAN,
                                    .remembers = NAN,
                                    .messages_per_cycle = NAN};
    plan->params.kind = kind;
    plan->params.layout = layout;
    return plan;
}

void tepal_plan_no(struct tepal_proposal *plan, const char *blocked_by, const char *reason)
{
    plan->blocked_by = blocked_by;
    snprintf(plan->reason, sizeof plan->reason, "%s", reason);
}

struct plan_bar tepal_plan_bar(const struct plan_task *task, enum tepal_kind_id kind)
{
    const struct tepal_wish *w = task->wish;
    unsigned lacks = ~tepal_kind_by_id((uint32_t)kind)->promises;
    struct plan_bar bar = {"", NULL};
    plan_bar_if(&bar, w->deletes && (lacks & TEPAL_DELETABLE) != 0, "deletes",
                "keys cannot be removed");
    plan_bar_if(&bar, w->untrusted && (lacks & TEPAL_BOUNDED_FALSE_POSITIVES) != 0, "untrusted",
                "its error is unbounded: an attacker can fill it");
    plan_bar_if(&bar, w->endless && (lacks & TEPAL_ENDLESS) != 0, "endless",
                "fills up: not for endless streams");
    plan_bar_if(&bar, w->keys_first > 0 && kind != TEPAL_KIND_GROWING && kind != TEPAL_KIND_CHAIN,
                "grow", "does not grow: it takes the memory of its last size from the start");
    plan_bar_if(&bar, w->max_fn > 0 && kind != TEPAL_KIND_BLOOM && kind != TEPAL_KIND_COUNTING,
                "max-fn",
                kind == TEPAL_KIND_RETOUCHED ? "gives up members once, when it is built"
                                             : "cannot avoid keys that come to light later");
    if (task->t > 0 && task->fp_known == 0 && kind != TEPAL_KIND_CASCADE) {
        plan_bar_if(&bar, true, "fp-known",
                    kind == TEPAL_KIND_YESNO || kind == TEPAL_KIND_RETOUCHED
                        ? "estimates what is left of the known negatives: it cannot promise that "
                          "none is found"
                        : "finds known negatives as often as strangers, but none may be found");
    }
    return bar;
}

bool tepal_plan_barred(struct tepal_plans *out, enum tepal_kind_id kind, struct plan_bar bar)
{
    if (bar.why != NULL) {
        struct tepal_proposal *plan = tepal_plan_add(out, kind, TEPAL_LAYOUT_FLAT);
        plan->all_layouts = true;
        tepal_plan_no(plan, bar.by, bar.why);
    }
    return bar.why != NULL;
}

double tepal_plan_lightest(const struct plan_task *task, double share)
{
    const struct tepal_plan_weights *w = &task->wish->weights;
    size_t low = 0; /* points below it lie at share or before */
    size_t high = w->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (w->share[middle] <= share) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    double x0 = low == 0 ? 0 : w->share[low - 1];
    double y0 = low == 0 ? 0 : w->weight[low - 1];
    double x1 = low == w->count ? 1 : w->share[low];
    double y1 = low == w->count ? 1 : w->weight[low];
    return x1 > x0 ? y0 + (y1 - y0) * (fmin(share, 1) - x0) / (x1 - x0) : y1;
}

bool tepal_plan_weighs(const struct plan_task *task)
{
    return task->wish->weights.count > 0;
}

uint64_t tepal_plan_down(uint64_t bits, uint64_t unit)
{
    return bits / unit * unit;
}

bool tepal_plan_in_lines(const struct plan_task *task)
{
    return task->wish->header_bits % TEPAL_LINE_BITS == 0;
}

uint64_t tepal_plan_most(const struct plan_task *task, uint64_t unit)
{
    return tepal_plan_down(task->limit < PARAMS_MAX_CELLS ? task->limit : PARAMS_MAX_CELLS, unit);
}

double tepal_plan_reads(enum tepal_layout layout, double fill, uint32_t k, uint64_t m)
{
    if (tepal_layout_in_lines(layout) || m <= TEPAL_LINE_BITS) {
        return 1;
    }
    /* A position lies in none of the x lines before it with (1 - 1/lines)^x. */
    double next =
        fill * (layout == TEPAL_LAYOUT_FLAT ? 1 - (double)TEPAL_LINE_BITS / (double)m : 1);
    return next >= 1 ? k : (1 - pow(next, k)) / (1 - next);
}

double tepal_plan_probes(const struct tepal_params *p, uint64_t n)
{
    bool counters = p->kind == TEPAL_KIND_COUNTING;
    uint32_t cells = counters ? (uint32_t)params_line_cells(p) : TEPAL_LINE_BITS;
    struct model_line line = {cells / MODEL_LINE_SECTORS, p->positions == TEPAL_POSITIONS_DISTINCT};
    double first = 0;
    uint64_t c = counters ? p->counting.choices : 1; /* all groups of an absent key are asked */
    if (c > 1) {
        double group = -expm1(log1p(-tepal_counting_choices_rate(p, n)) / (double)c);
        return (double)c *
               tepal_plan_reads(p->layout, pow(group, 1.0 / p->hashes), p->hashes, p->cells);
    }
    switch (p->layout) {
    case TEPAL_LAYOUT_BLOCKED:
        return 1;
    case TEPAL_LAYOUT_PAIRED:
        (void)tepal_model_paired_rate(p->cells / cells, (double)n, p->hashes, line,
                                      MODEL_LOAD_POISSON, &first);
        return 1 + first;
    default:;
        double fill = (counters ? tepal_counting_fill : tepal_bloom_fill)(p->layout, p->positions,
                                                                          p->cells, n, p->hashes);
        return tepal_plan_reads(p->layout, fill, p->hashes, p->cells);
    }
}

/* ---- is everything kept? --------------------------------------------------------------------- */

/* Rates that a solver met to the last digit. */
#define ROUNDING 1e-9

/* Errors that make a filter useless, whatever is asked for. */
#define NEARLY_ALL 0.99

static void block(struct tepal_proposal *plan, const char *by, double excess, const char *reason)
{
    if (plan->feasible || excess > plan->excess) {
        plan->feasible = false;
        plan->blocked_by = by;
        plan->excess = excess;
        snprintf(plan->reason, sizeof plan->reason, "%s", reason);
    }
}

static double over(double value, double limit)
{
    return limit > 0 ? value / limit : value > 0 ? INFINITY : 1;
}

void tepal_plan_finish(const struct plan_task *task, struct tepal_proposal *plan)
{
    const struct tepal_wish *w = task->wish;
    char why[TEPAL_PLAN_TEXT];
    double fp_most = w->endless && !isnan(w->fp_average) ? w->fp_average : task->fp_strangers;
    if (task->t > 0 && isnan(plan->fp_known)) {
        plan->fp_known = plan->fp;
    }
    double counted = task->t > 0 ? plan->fp_known : plan->fp;
    plan->bits_per_key = task->n > 0 ? (double)plan->bits / (double)task->n : NAN;
    plan->cost = task->cost_fp * counted + (isnan(plan->fn) ? 0 : task->cost_fn * plan->fn);
    plan->feasible = true;
    plan->excess = 1;
    if (plan->bits > task->limit) {
        uint64_t unit = w->header_bits > 0 ? 8 : WORD; /* cells are kept in words */
        uint64_t allowed = w->header_bits > 0 ? task->limit : w->bits;
        snprintf(why, sizeof why, "needs %llu bytes, but only %llu are allowed",
                 (unsigned long long)((plan->bits + unit - 1) / unit * unit / 8),
                 (unsigned long long)allowed / 8);
        block(plan, plan_memory(task), over((double)plan->bits, (double)task->limit), why);
    }
    if (plan->fp > fp_most * (1 + ROUNDING)) {
        snprintf(why, sizeof why, "has %.3g %% false positives", 100 * plan->fp);
        block(plan, "fp", over(plan->fp, fp_most), why);
    }
    if (task->t > 0 && plan->fp_known > task->fp_known * (1 + ROUNDING)) {
        snprintf(why, sizeof why, "finds %.3g %% of the known negatives", 100 * plan->fp_known);
        block(plan, "fp-known", over(plan->fp_known, task->fp_known), why);
    }
    if (!task->smallest && counted >= NEARLY_ALL) {
        block(plan, plan_memory(task), INFINITY,
              "with so few bits nearly every key is a false positive");
    }
    if (!task->smallest && plan->fn >= NEARLY_ALL) {
        block(plan, plan_memory(task), INFINITY,
              "with so few bits nearly every key is a false negative");
    }
    if (task->fn_stated && plan->fn > task->fn * (1 + ROUNDING)) {
        snprintf(why, sizeof why, "has %.3g %% false negatives", 100 * plan->fn);
        block(plan, "fn", over(plan->fn, task->fn), why);
    }
    if (task->fn_stated && isnan(plan->fn)) {
        block(plan, "fn", INFINITY, "its false negatives depend on the stream: give its gaps");
    }
    if (w->endless && plan->remembers < (double)task->n) {
        snprintf(why, sizeof why, "remembers only the latest %.0f keys", plan->remembers);
        block(plan, "memory", (double)task->n / fmax(plan->remembers, 1), why);
    }
}

/* ---- ranking --------------------------------------------------------------------------------- */

/* Probes that differ by less are the same. */
#define SAME_PROBES 0.01

static int compare(double a, double b)
{
    return a < b ? -1 : a > b;
}

/* Is a better than b? Negative: yes. */
static int better(const struct plan_task *task, const struct tepal_proposal *a,
                  const struct tepal_proposal *b)
{
    int order;
    if (a->feasible != b->feasible) {
        return a->feasible ? -1 : 1;
    }
    if (!a->feasible) {
        order = compare(b->likely, a->likely);
        return order != 0 ? order : compare(a->excess, b->excess);
    }
    bool zero_first = !task->fn_stated && !task->costs;
    if (zero_first && (a->fn == 0) != (b->fn == 0)) {
        return a->fn == 0 ? -1 : 1;
    }
    /* What grows has its smallest size at some moments only, and lookups at all of them. */
    bool by_speed = task->wish->prefer == TEPAL_PREFER_SPEED || task->wish->keys_first > 0;
    if (by_speed && fabs(a->probes - b->probes) > SAME_PROBES) {
        return compare(a->probes, b->probes);
    }
    if (!task->smallest && isnan(a->fn) && isnan(b->fn)) {
        return compare(b->remembers, a->remembers); /* all that is known of what forgets */
    }
    order = task->smallest ? compare((double)a->bits, (double)b->bits) : compare(a->cost, b->cost);
    if (order == 0) {
        order = compare(a->cost, b->cost);
    }
    if (order == 0) {
        order = compare(a->fp, b->fp); /* of known negatives both have none */
    }
    return order != 0 ? order : compare((double)a->bits, (double)b->bits);
}

static void rank(const struct plan_task *task, struct tepal_plans *out)
{
    for (size_t i = 1; i < out->count; i++) {
        struct tepal_proposal here = out->plan[i];
        size_t at = i;
        for (; at > 0 && better(task, &here, &out->plan[at - 1]) < 0; at--) {
            out->plan[at] = out->plan[at - 1];
        }
        out->plan[at] = here;
    }
}

/* ---- a wish, made definite ------------------------------------------------------------------- */

static bool is_rate(double x)
{
    return isnan(x) || (x > 0 && x < 1);
}

static bool is_cost(double x)
{
    return x >= 0 && isfinite(x);
}

/* Something that a wish must not have, and what is said if it has. */
struct objection {
    bool holds;
    const char *why;
};

static const char *first_of(const struct objection *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i].holds) {
            return list[i].why;
        }
    }
    return NULL;
}

static const char *nonsense_rates(const struct tepal_wish *w)
{
    const struct objection list[] = {
        {!is_rate(w->fp), "the maximum false-positive rate must be above 0 and below 1"},
        {!is_rate(w->fp_average), "the average false-positive rate must be above 0 and below 1"},
        {!isnan(w->fp_known) && !(w->fp_known >= 0 && w->fp_known < 1),
         "the rate of known negatives must be at least 0 and below 1"},
        {!model_digests_keep(fmin(w->fp, w->fp_average), w->keys) ||
             (w->fp_known > 0 && !model_digests_keep(w->fp_known, w->keys)),
         MODEL_DIGESTS},
        {!isnan(w->fn) && !(w->fn >= 0 && w->fn < 1),
         "the maximum false-negative rate must be at least 0 and below 1"},
        {!(w->max_fn >= 0 && w->max_fn < 1),
         "the share of members that may be lost to avoided keys must be at least 0 and below 1"},
        {!is_cost(w->wrong_deletes), "wrong deletes per key must be at least 0"},
        {!is_cost(w->cost_fp) || !is_cost(w->cost_fn), "costs must be at least 0"},
    };
    return first_of(list, PARAMS_COUNT(list));
}

/* Sums of many weights may differ by a rounding. */
#define SLOPE_ROUNDING 1e-6

/* Does the curve go from (0, 0) to (1, 1), ever steeper? */
static bool weights_valid(const struct tepal_plan_weights *w)
{
    double x = 0;
    double y = 0;
    double slope = 0;
    for (size_t i = 0; i < w->count; i++) {
        double here = (w->weight[i] - y) / (w->share[i] - x);
        if (!(w->share[i] > x) || !(w->share[i] <= 1) || !(w->weight[i] >= y) ||
            !(here >= slope * (1 - SLOPE_ROUNDING))) {
            return false;
        }
        x = w->share[i];
        y = w->weight[i];
        slope = here;
    }
    return x < 1 ? (1 - y) / (1 - x) >= slope * (1 - SLOPE_ROUNDING) : w->count == 0 || y == 1;
}

static const char *nonsense_weights(const struct tepal_wish *w)
{
    if (!weights_valid(&w->weights)) {
        return "the weights of the known negatives are not a convex curve from 0 to 1";
    }
    if (w->weights.count > 0 && w->known_negatives == 0) {
        return "weights need known negatives, but none are given";
    }
    return NULL;
}

static const char *nonsense_stream(const struct tepal_wish *w)
{
    bool fresh = w->stream_fresh >= 0 && w->stream_fresh <= 1;
    switch (w->stream) {
    case TEPAL_STREAM_UNKNOWN:
        return NULL;
    case TEPAL_STREAM_GAPS:
        return w->gaps.count > 0 && tepal_model_gaps_valid(&w->gaps)
                   ? NULL
                   : "the gaps are not a distribution";
    case TEPAL_STREAM_GEOMETRIC:
        return w->stream_a >= 1 && isfinite(w->stream_a) && fresh
                   ? NULL
                   : "geometric gaps need a mean of at least 1 and a share of new messages";
    case TEPAL_STREAM_PARETO:
        return w->stream_a > 0 && w->stream_b > 0 && isfinite(w->stream_a) &&
                       isfinite(w->stream_b) && fresh
                   ? NULL
                   : "Pareto gaps need a shape and a scale above 0 and a share of new messages";
    case TEPAL_STREAM_ZIPF:
        return w->stream_a >= 0 && isfinite(w->stream_a) && w->stream_keys > 0 &&
                       w->stream_keys <= (uint64_t)1 << 60
                   ? NULL
                   : "Zipf references need an exponent of at least 0 and a number of keys";
    }
    return "unknown distribution of gaps";
}

static const char *contradiction(const struct tepal_wish *w)
{
    const struct objection list[] = {
        {w->known_negatives == 0 && (w->closed_world || !isnan(w->fp_known)),
         "a closed world, or a rate of known negatives, needs known negatives"},
        {w->closed_world && !isnan(w->fp),
         "a closed world has no strangers: give their rate, or a closed world"},
        {w->counter_bits != 0 && w->counter_bits != 4 && w->counter_bits != 8,
         "counters have 4 or 8 bits"},
        {w->deletes && w->header_bits > 0, "deletes and a header cannot be combined: counters and "
                                           "fingerprints do not fit into a header"},
        {w->endless && w->header_bits > 0 && w->keys == 0, "a header needs the number of keys"},
        {w->wrong_deletes > 0 && !w->deletes, "wrong deletes need deletes"},
        {!w->endless && !isnan(w->fp_average), "an average over time needs an endless stream"},
        {!w->endless && w->stream != TEPAL_STREAM_UNKNOWN,
         "gaps and distributions need an endless stream"},
        {w->header_bits > 0 && w->bits > 0,
         "a header and a memory cannot be combined: give one of them"},
        {w->keys_first > w->keys, "it cannot grow from more keys to fewer"},
        {w->keys_first > 0 && w->endless,
         "an endless stream is not a set that grows: give one of the two"},
        {w->header_bits > (uint64_t)1 << 20,
         "a header has at most 2^20 bits: give a memory instead"},
    };
    return first_of(list, PARAMS_COUNT(list));
}

static const char *too_little(const struct tepal_wish *w)
{
    bool unsized = w->keys == 0 && w->bits == 0;
    const struct objection list[] = {
        {w->keys > MOST_KEYS || w->known_negatives > MOST_KEYS, "too many keys: the limit is 2^50"},
        {w->bits > PARAMS_MAX_CELLS, "too many bits: the limit is 2^60"},
        {w->keys == 0 && w->header_bits > 0, "a header needs the number of keys"},
        {unsized && w->endless && w->stream == TEPAL_STREAM_UNKNOWN,
         "an endless stream needs a memory, the number of keys to remember, or its gaps"},
        {unsized && !w->endless, "the number of keys or a memory is needed"},
    };
    return first_of(list, PARAMS_COUNT(list));
}

static const char *nonsense(const struct tepal_wish *w)
{
    const char *why = nonsense_rates(w);
    why = why == NULL ? nonsense_weights(w) : why;
    why = why == NULL ? nonsense_stream(w) : why;
    why = why == NULL ? contradiction(w) : why;
    return why == NULL ? too_little(w) : why;
}

/* False negatives where they must be: as many as false positives, or what costs the same. */
static double fn_unstated(const struct plan_task *task)
{
    double fp = task->closed ? task->fp_known : task->fp_strangers;
    double fn = fp * (task->cost_fn > 0 ? task->cost_fp / task->cost_fn : 1);
    return fn > 0.5 ? 0.5 : fn > 1e-9 ? fn : 1e-9;
}

struct plan_task tepal_plan_definite(const struct tepal_wish *w)
{
    struct plan_task task = {
        .wish = w, .n = w->keys, .t = w->known_negatives, .last = TEPAL_LAYOUT_PAIRED};
    task.costs = w->cost_fp > 0 || w->cost_fn > 0;
    task.cost_fp = task.costs ? w->cost_fp : 1;
    task.cost_fn = task.costs ? w->cost_fn : 1;
    task.fn_stated = !isnan(w->fn);
    task.fp_strangers = w->endless && isnan(w->fp) ? w->fp_average : w->fp;
    task.fp_known = task.t > 0 ? w->fp_known : NAN;
    task.closed = w->closed_world || (w->header_bits > 0 && task.t > 0 && isnan(w->fp));
    if (w->header_bits > 0) {
        task.limit = w->header_bits;
    } else {
        /* Cells are kept in words. */
        task.limit = w->bits == 0     ? UINT64_MAX
                     : w->bits < WORD ? w->bits
                                      : tepal_plan_down(w->bits, WORD);
    }
    bool aims = !isnan(w->closed_world ? task.fp_known : task.fp_strangers);
    task.smallest = w->header_bits == 0 && (aims || w->bits == 0);
    if (task.smallest && isnan(task.fp_strangers)) {
        task.fp_strangers = FP_UNSTATED;
    }
    task.fp_strangers = task.closed ? 1 : task.fp_strangers;
    if (task.smallest && task.t > 0 && isnan(task.fp_known)) {
        task.fp_known = 0;
    }
    task.fp = fmin(task.fp_strangers, task.fp_known); /* fmin: of NaN and a number, the number */
    task.fn = task.fn_stated ? w->fn : task.smallest ? fn_unstated(&task) : NAN;
    return task;
}

static void (*const planners[])(const struct plan_task *task, struct tepal_plans *out) = {
    tepal_plan_bloom,   tepal_plan_fingerprint, tepal_plan_counting,    tepal_plan_yesno,
    tepal_plan_cascade, tepal_plan_retouched,   tepal_plan_generalized, tepal_plan_recycling,
    tepal_plan_growing, tepal_plan_chain};

/*
 * quick: the best alone. Without the generalized kind, unless it may be that; on the flat layout,
 * which is the smallest, unless speed is preferred.
 */
static void solve(const struct tepal_wish *w, bool quick, struct work *work,
                  struct tepal_plans *out)
{
    struct plan_task task = tepal_plan_definite(w);
    if (quick && w->prefer == TEPAL_PREFER_SIZE) {
        task.last = TEPAL_LAYOUT_FLAT;
    }
    out->keys = task.n;
    out->fp = task.closed ? NAN : task.fp_strangers;
    out->fp_known = task.fp_known;
    out->closed_world = task.closed;
    out->fn = task.fn;
    out->count = 0;
    out->blocked_by = "";
    out->plan[0] = (struct tepal_proposal){.blocked_by = ""}; /* if it is stopped at once */
    const size_t kinds = PARAMS_COUNT(planners);
    for (size_t i = 0; i < kinds && work_done(work, (double)i / (double)kinds); i++) {
        bool slow = planners[i] == tepal_plan_generalized && quick && !w->untrusted;
        bool grows = planners[i] == tepal_plan_growing || planners[i] == tepal_plan_chain;
        if (!slow && (!grows || w->keys_first > 0)) {
            planners[i](&task, out);
        }
    }
    rank(&task, out);
}

/* ---- the constraint in the way --------------------------------------------------------------- */

static bool exists(const struct tepal_proposal *plan)
{
    return plan->params.cells > 0 && isfinite(plan->excess);
}

/* Qualities, the one most easily given up first. */
static const char *const quality_name[] = {
    "fn", "fp-known", "memory", "max-fn", "untrusted", "deletes", "endless", "header-bits", "grow"};

#define QUALITIES 9

/* False: this one is not asked for. */
static bool drop(struct tepal_wish *w, unsigned quality)
{
    switch (quality) {
    case 0:;
        bool stated = !isnan(w->fn);
        w->fn = NAN;
        return stated;
    case 1:
        w->fp_known = w->closed_world ? FP_UNSTATED : 1;
        return w->known_negatives > 0;
    case 2:;
        bool limited = w->bits > 0 && (w->keys > 0 || w->stream != TEPAL_STREAM_UNKNOWN);
        w->bits = limited ? 0 : w->bits;
        return limited;
    case 3:
        return w->max_fn > 0 && (w->max_fn = 0, true);
    case 4:
        return w->untrusted && (w->untrusted = false, true);
    case 5:
        w->wrong_deletes = 0;
        return w->deletes && (w->deletes = false, true);
    case 6:
        w->stream = TEPAL_STREAM_UNKNOWN;
        w->fp_average = NAN;
        return w->endless && w->keys > 0 && (w->endless = false, true);
    case 7:
        return w->header_bits > 0 && (w->header_bits = 0, true);
    default:
        return w->keys_first > 0 && (w->keys_first = 0, true);
    }
}

/* Is there a plan without these qualities (bits)? Then it is the nearest. */
static bool goes_without(const struct tepal_wish *w, unsigned set, struct work *work,
                         struct tepal_plans *out)
{
    struct tepal_wish less = *w;
    struct tepal_plans others;
    for (unsigned i = 0; i < QUALITIES; i++) {
        if ((set >> i & 1) != 0) {
            (void)drop(&less, i);
        }
    }
    solve(&less, true, work, &others);
    if (others.plan[0].feasible) {
        out->nearest = others.plan[0];
    }
    return others.plan[0].feasible;
}

/* One after the other goes until there is a plan, and comes back if there is one with it too. */
static void go_without_several(const struct tepal_wish *w, struct work *work,
                               struct tepal_plans *out)
{
    unsigned set = 0;
    unsigned last = 0;
    for (unsigned i = 0; i < QUALITIES; i++) {
        struct tepal_wish less = *w;
        if (!drop(&less, i)) {
            continue;
        }
        bool several = set != 0;
        set |= 1u << i;
        if (several && goes_without(w, set, work, out)) { /* each alone was tried before */
            last = i;
            break;
        }
    }
    if (last == 0) {
        return;
    }
    out->blocked_by = quality_name[last];
    for (unsigned i = 0; i < last; i++) {
        unsigned fewer = set & ~(1u << i);
        if (fewer != set && goes_without(w, fewer, work, out)) {
            set = fewer;
        } else if (fewer != set) {
            size_t used = strlen(out->blocked_also);
            snprintf(out->blocked_also + used, sizeof out->blocked_also - used, "%s%s",
                     used > 0 ? " " : "", quality_name[i]);
        }
    }
}

static void find_nearest(const struct tepal_wish *w, struct work *work, struct tepal_plans *out)
{
    out->nearest = out->plan[0];
    out->blocked_by = out->plan[0].blocked_by;
    out->blocked_also[0] = '\0';
    if (out->plan[0].feasible || exists(&out->plan[0])) {
        return; /* a matter of degree: plan[0] is the least over its limit */
    }
    for (unsigned i = 0; i < QUALITIES; i++) {
        struct tepal_wish less = *w;
        if (drop(&less, i) && goes_without(w, 1u << i, work, out)) {
            out->blocked_by = quality_name[i];
            return;
        }
    }
    go_without_several(w, work, out);
}

/* ---- as many keys as fit --------------------------------------------------------------------- */

/* Within what is planned for. */
static double whole_keys(double keys)
{
    return fmin(fmax(1, floor(keys)), (double)MOST_KEYS);
}

/* The memory is nearly proportional to the keys: a few steps, and then a little less. */
static void fit_keys(struct tepal_wish *w, struct work *work, struct tepal_plans *out)
{
    struct tepal_wish free_size = *w;
    double keys = whole_keys((double)w->bits / 16);
    free_size.bits = 0;
    for (int i = 0; i < 3; i++) {
        free_size.keys = (uint64_t)keys;
        solve(&free_size, true, work, out);
        if (!out->plan[0].feasible) {
            break;
        }
        double before = keys;
        keys = whole_keys(keys * (double)w->bits / (double)out->plan[0].bits);
        if (keys == before) {
            break;
        }
    }
    for (int i = 0; i < 8; i++) {
        w->keys = (uint64_t)keys;
        solve(w, true, work, out);
        if (out->plan[0].feasible || keys <= 1) {
            return;
        }
        keys = whole_keys(keys * (1 - 1e-4 * (double)(1 << i)) - 1);
    }
}

enum tepal_status tepal_plan(const struct tepal_wish *wish, struct tepal_plans *out,
                             struct tepal_error *error)
{
    struct tepal_wish w = *wish;
    struct work work = work_open(wish->progress);
    const char *why = nonsense(wish);
    if (why == NULL && w.keys == 0 && !w.endless) {
        w.fp = isnan(w.fp) && !w.closed_world ? FP_UNSTATED : w.fp;
        w.fp_known = isnan(w.fp_known) && w.closed_world ? 0 : w.fp_known;
        fit_keys(&w, &work, out);
        why = nonsense_rates(&w); /* for that many keys */
    }
    if (why != NULL) {
        return refuse(error, TEPAL_BAD_ARGUMENT, why);
    }
    if (work_phase(&work, 1) == TEPAL_OK) {
        solve(&w, false, &work, out);
        find_nearest(&w, &work, out);
    }
    return refuse_if(error, work.stopped ? TEPAL_STOPPED : TEPAL_OK);
}
