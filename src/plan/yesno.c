/*
 * yesno.c: the yes-no filter. For a size, the model's chooser; for rates of known negatives and of
 * strangers, the smallest size at which a division of its bits reaches it, by halving. What is left
 * falls with the size, and a Bloom filter of that rate is always large enough.
 */
#include <stdio.h>

#include <tepal/papers.h>

#include "model/yesno.h"
#include "plan/plan.h"

/* A division: r no-filters that have a share of the bits together, and k' hashes. */
#define MOST_FILTERS   3
#define LARGEST_SHARE  0.75
#define SMALLEST_SHARE 0.02
/* With weights, more divisions are worth a look. */
#define LARGEST_HEAVY  0.95
#define SMALLEST_HEAVY 0.005
#define SHARE_STEP     1.12
#define MOST_HASHES    24

struct search {
    const struct plan_task *task;
    enum tepal_layout layout;
    enum tepal_positions positions;
    double heavy_keys; /* known negatives that alone weigh more than may be left ... */
    double squares;    /* ... and of the others: sum of the squares of their shares of the weight */
    struct tepal_yesno_setting best;
};

static uint64_t unit_of(const struct search *s)
{
    return params_unit(s->layout, 1);
}

static bool heavy(const struct search *s)
{
    return tepal_plan_weighs(s->task);
}

/*
 * The share of the known negatives' weight that is left. Of F = t f some are hopeless, whatever
 * they weigh; the share x of F finds no place though it could. The heaviest come first, but it is
 * not just the lightest that are left: they are as if drawn at random from the lightest x^(1/b) of
 * F. With few hashes a place is soon refused, so that many are drawn from; fitted to Zipf weights
 * of exponents 0.5 to 1.5 (docs/models.md). If more than MOST_LEFT of F is left, chance rules.
 *
 * A search finds divisions for which the estimate is too low. Plans therefore expect
 * MARGIN times as much. With one or two hashes built filters left up to 1.8 times the estimate
 * where it rests on weights: the margin grows with what these save. All this is empirical
 * (docs/models.md).
 */
#define MOST_LEFT 0.6
#define MARGIN    1.15

static double passes(const struct search *s, const struct tepal_yesno_setting *y)
{
    if (!heavy(s) || !(y->left > 0) || y->left > MOST_LEFT * y->positive) {
        return MARGIN * y->left / (double)s->task->t;
    }
    double x = fmax(y->left - y->hopeless, 0) / y->positive;
    double b = 2 + 32 / ((double)y->no_hashes * y->no_hashes);
    double among = pow(fmin(fmax(x, 1e-12), 1), 1 / b);
    double light = tepal_plan_lightest(s->task, among) / among; /* their weight, 1 on average */
    double margin = y->no_hashes <= 2 ? MARGIN + 1 - light : MARGIN;
    return margin * (y->hopeless / (double)s->task->t + y->fp_yes * x * light);
}

/* Divides m bits, with the least rate that a yes-filter of its size could have. */
static bool divide_roughly(const struct search *s, uint64_t m, uint64_t r, double share,
                           struct tepal_yesno_setting *plan)
{
    uint64_t unit = unit_of(s) * r;
    uint64_t all = (uint64_t)(share * (double)m) / unit * unit;
    if (all == 0 || all >= m || all / r > UINT32_MAX) {
        return false;
    }
    *plan = (struct tepal_yesno_setting){
        .yes_bits = m - all, .no_bits = all / r, .no_filters = r, .own_seeds = r > 1};
    plan->fp_yes = tepal_model_least_rate(s->positions, plan->yes_bits, s->task->n);
    plan->positive = (double)s->task->t * plan->fp_yes;
    return true;
}

/* The same with the yes-filter's best hashes and its rate, which is the same for every k'. */
static bool divide(const struct search *s, uint64_t m, uint64_t r, double share,
                   struct tepal_yesno_setting *plan)
{
    if (!divide_roughly(s, m, r, share, plan)) {
        return false;
    }
    plan->hashes = tepal_bloom_best_hashes(s->layout, s->positions, plan->yes_bits, s->task->n);
    plan->fp_yes =
        tepal_bloom_fp(s->layout, s->positions, plan->yes_bits, s->task->n, plan->hashes);
    plan->positive = (double)s->task->t * plan->fp_yes;
    return plan->hashes > 0;
}

/*
 * The variance of F: that of a binomial number, and the yes-filter's rate varies with its ones,
 * m (e^-a - (1 + a) e^-2a) for a = k n / m. (Of a rough division k is not known: without the ones.)
 */
static double variance_of_positive(const struct search *s, const struct tepal_yesno_setting *y)
{
    double m = (double)y->yes_bits;
    double load = y->hashes * (double)s->task->n / m;
    double zeros = exp(-load);
    double ones = y->hashes == 0 ? 0 : (zeros - (1 + load) * zeros * zeros) / m;
    double own = y->positive * y->hashes / fmax(1 - zeros, 1e-9);
    return y->positive + own * own * ones;
}

/*
 * Are both rates kept? What is left varies: with F, on which it depends steeply; by the number of
 * those left, which is a Poisson number; and by the weights of the hopeless, which may be any. (The
 * others are light: on average no heavier than all.) So many deviations are left for it; and next
 * to never is a key hopeless that weighs too much alone.
 */
#define CHANCE 3
#define NEVER  1e-3

static bool keeps(const struct search *s, struct tepal_yesno_setting *plan)
{
    double t = (double)s->task->t;
    double share = passes(s, plan);
    double variance = share / t + plan->hopeless / t * s->squares;
    if (!(share + CHANCE * sqrt(variance) <= s->task->fp_known) ||
        plan->hopeless / t * s->heavy_keys > NEVER) {
        return false;
    }
    struct tepal_yesno_setting more = *plan;
    more.positive += sqrt(variance_of_positive(s, plan));
    more.fp_yes = more.positive / t;
    tepal_model_yesno_rest(&more, s->positions, s->task->n);
    double steep = passes(s, &more) - share;
    if (!(share + CHANCE * sqrt(variance + steep * steep) <= s->task->fp_known)) {
        return false;
    }
    tepal_model_yesno_unknown(plan, s->task->n);
    return plan->fp_unknown <= s->task->fp_strangers;
}

/* Does some k' reach the rates? Leaves it in the plan. */
static bool reaches(const struct search *s, struct tepal_yesno_setting *plan)
{
    double least = INFINITY;
    for (uint32_t k = 1; k <= MOST_HASHES && k <= plan->no_bits; k++) {
        plan->no_hashes = k;
        tepal_model_yesno_rest(plan, s->positions, s->task->n);
        double left = passes(s, plan);
        if (keeps(s, plan)) {
            return true;
        }
        if (left > 2 * least) {
            return false; /* too many already */
        }
        least = fmin(least, left);
    }
    return false;
}

/* A first look at what cannot be: most do not reach it with the least rate that could be. */
static bool some_reach(struct search *s, uint64_t m)
{
    const struct tepal_yesno_setting *last = &s->best; /* what reached it before comes first */
    uint64_t last_all = last->no_bits * last->no_filters;
    struct tepal_yesno_setting again;
    if (last_all > 0 &&
        divide(s, m, last->no_filters, (double)last_all / (double)(last->yes_bits + last_all),
               &again) &&
        reaches(s, &again)) {
        s->best = again;
        return true;
    }
    uint64_t most = s->task->n <= 4096 ? MOST_FILTERS : 2;
    double smallest = heavy(s) ? SMALLEST_HEAVY : SMALLEST_SHARE;
    for (double share = heavy(s) ? LARGEST_HEAVY : LARGEST_SHARE; share > smallest;
         share /= SHARE_STEP) {
        for (uint64_t r = 1; r <= most; r++) {
            struct tepal_yesno_setting plan;
            if (divide_roughly(s, m, r, share, &plan) && reaches(s, &plan) &&
                divide(s, m, r, share, &plan) && reaches(s, &plan)) {
                s->best = plan;
                return true;
            }
        }
    }
    return false;
}

/*
 * The shares above are steps of a ladder, and what they reach does not quite grow with m: a few
 * bits less may do with a division in between. If there are few bits, divisions near the best are
 * tried, all of them or 0.4 % apart.
 */
#define FEW_BITS 2048

static bool near_reach(struct search *s, uint64_t m)
{
    const struct tepal_yesno_setting *last = &s->best;
    uint64_t all = last->no_bits * last->no_filters;
    uint64_t most = last->no_filters < MOST_FILTERS ? last->no_filters + 1 : MOST_FILTERS;
    for (uint64_t r = last->no_filters > 1 ? last->no_filters - 1 : 1; r <= most; r++) {
        for (uint64_t q = all * 3 / 4 / r; q <= all * 4 / 3 / r; q += 1 + q / 256) {
            struct tepal_yesno_setting plan;
            double share = ((double)(q * r) + 0.5) / (double)m;
            if (divide_roughly(s, m, r, share, &plan) && reaches(s, &plan) &&
                divide(s, m, r, share, &plan) && reaches(s, &plan)) {
                s->best = plan;
                return true;
            }
        }
    }
    return false;
}

/* In steps that grow as long as they succeed: where strangers may pass, most bits may go. */
static void shrink(struct search *s, uint64_t m)
{
    uint64_t step = 1;
    while (step > 0 && m <= FEW_BITS) {
        if (m > step && near_reach(s, m - step)) {
            m -= step;
            step *= 2;
        } else {
            step /= 2;
        }
    }
}

/* The smallest m in low+1 .. high, if high does; to a 2000th if it is large. */
static bool smallest_flat(struct search *s, uint64_t high)
{
    uint64_t low = high / 8;
    uint64_t unit = 1 + high / 2048;
    if (!some_reach(s, high)) {
        return false;
    }
    while (high - low > unit) {
        uint64_t middle = low + (high - low) / 2;
        if (some_reach(s, middle)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    shrink(s, high);
    return true;
}

/* The same division on another layout: a little larger. */
static bool smallest_other(struct search *s, const struct tepal_yesno_setting *flat)
{
    double all = (double)(flat->no_bits * flat->no_filters);
    double m = (double)flat->yes_bits + all;
    double share = all / m;
    uint64_t unit = unit_of(s);
    for (int i = 0; i < 64; i++, m *= 1.01) {
        uint64_t whole = ((uint64_t)(m / (double)unit) + 1) * unit;
        struct tepal_yesno_setting plan;
        if (divide(s, whole, flat->no_filters, share, &plan)) {
            plan.no_hashes = flat->no_hashes;
            if (tepal_yesno_predict(s->layout, s->positions, s->task->n, s->task->t, &plan) ==
                    TEPAL_OK &&
                keeps(s, &plan)) {
                s->best = plan;
                return true;
            }
        }
    }
    return false;
}

/* The share `part` of the known negatives has this weight. */
static void weigh(struct search *s, double part, double weight)
{
    double keys = part * (double)s->task->t;
    if (keys > 0 && weight / keys > s->task->fp_known) {
        s->heavy_keys += keys;
    } else if (keys > 0) {
        s->squares += weight * weight / keys;
    }
}

static void weigh_all(struct search *s)
{
    const struct tepal_plan_weights *w = &s->task->wish->weights;
    double x = 0;
    double y = 0;
    for (size_t i = 0; i < w->count; i++) {
        weigh(s, w->share[i] - x, w->weight[i] - y);
        x = w->share[i];
        y = w->weight[i];
    }
    weigh(s, 1 - x, 1 - y);
}

static double probes_of(const struct search *s)
{
    const struct tepal_yesno_setting *y = &s->best;
    double fill = tepal_bloom_fill(s->layout, s->positions, y->yes_bits, s->task->n, y->hashes);
    double yes = tepal_plan_reads(s->layout, fill, y->hashes, y->yes_bits);
    uint64_t all = y->yes_bits + y->no_bits * y->no_filters;
    /* A key that the yes-filter has is asked in the no-filters, which are about half full. */
    return all <= TEPAL_LINE_BITS ? 1 : yes + y->fp_yes * 2 * (double)y->no_filters;
}

static void add(const struct search *s, struct tepal_plans *out)
{
    const struct plan_task *task = s->task;
    struct tepal_yesno_setting here = s->best;
    const struct tepal_yesno_setting *y = &here;
    struct tepal_proposal *plan = tepal_plan_add(out, TEPAL_KIND_YESNO, s->layout);
    tepal_model_yesno_unknown(&here, task->n);
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.kind = TEPAL_KIND_YESNO;
    p.layout = s->layout;
    p.positions = s->positions;
    p.hashes = y->hashes;
    p.cells = y->yes_bits + y->no_filters * y->no_bits;
    p.capacity = task->n;
    p.yesno.no_bits = y->no_bits;
    p.yesno.no_filters = y->no_filters;
    p.yesno.no_hashes = y->no_hashes;
    p.yesno.own_seeds = y->own_seeds;
    plan->params = p;
    plan->weighted = tepal_plan_weighs(task);
    plan->bits = p.cells;
    plan->fp = y->fp_unknown;
    plan->fp_known = passes(s, y);
    plan->fn = 0;
    plan->probes = probes_of(s);
    snprintf(plan->reason, sizeof plan->reason,
             "for known negatives (an estimate); %.3g %% false positives on strangers",
             100 * y->fp_unknown);
    tepal_plan_finish(task, plan);
}

/* The k' with which the least weight is left, and that weight. */
static double lightest_hashes(const struct search *s, struct tepal_yesno_setting *plan)
{
    double least = INFINITY;
    uint32_t best = 1;
    for (uint32_t k = 1; k <= MOST_HASHES && k <= plan->no_bits; k++) {
        plan->no_hashes = k;
        tepal_model_yesno_rest(plan, s->positions, s->task->n);
        double left = passes(s, plan);
        if (left < least) {
            least = left;
            best = k;
        } else if (left > 4 * least) {
            break; /* too many already */
        }
    }
    plan->no_hashes = best;
    tepal_model_yesno_rest(plan, s->positions, s->task->n);
    return least;
}

/*
 * The division of m bits that leaves the least weight, if one leaves less than s->best. Most leave
 * more, even with the least rate that their yes-filter could have.
 */
static void lightest_division(struct search *s, uint64_t m)
{
    double least = passes(s, &s->best);
    uint64_t most = m <= 1024 ? 2 * MOST_FILTERS : 2;
    for (double share = LARGEST_HEAVY; share > SMALLEST_HEAVY; share /= 1.06) {
        for (uint64_t r = 1; r <= most; r++) {
            struct tepal_yesno_setting plan;
            if (divide_roughly(s, m, r, share, &plan) && lightest_hashes(s, &plan) < least &&
                divide(s, m, r, share, &plan)) {
                double left = lightest_hashes(s, &plan);
                if (left < least) {
                    s->best = plan;
                    least = left;
                }
            }
        }
    }
}

static const char *find_flat(struct search *s)
{
    const struct plan_task *task = s->task;
    if (!task->smallest) {
        uint64_t m = task->limit < (uint64_t)1 << 40 ? task->limit : (uint64_t)1 << 40;
        bool chosen = tepal_yesno_best_setting(s->layout, s->positions, m, task->n, task->t,
                                               &s->best) == TEPAL_OK;
        if (chosen && heavy(s) && s->best.positive >= MODEL_NOTHING_LEFT) {
            lightest_division(s, m);
        }
        return chosen && s->best.no_filters > 0
                   ? NULL
                   : "no-filters do not help here: it would be a Bloom filter";
    }
    uint64_t bloom;
    uint32_t hashes = 0;
    if (tepal_bloom_size(s->layout, s->positions, task->n, task->fp, &bloom, &hashes) != TEPAL_OK ||
        !smallest_flat(s, bloom)) {
        return "the Bloom filter is smaller at this rate";
    }
    return NULL;
}

static bool find_other(struct search *s, const struct tepal_yesno_setting *flat)
{
    const struct plan_task *task = s->task;
    if (task->smallest) {
        return smallest_other(s, flat);
    }
    double all = (double)(flat->no_bits * flat->no_filters);
    double m = (double)flat->yes_bits + all;
    struct tepal_yesno_setting plan;
    if (!divide(s, tepal_plan_down((uint64_t)m, unit_of(s)), flat->no_filters,
                all / m * (1 + 1e-12), &plan)) {
        return false;
    }
    plan.no_hashes = flat->no_hashes;
    s->best = plan;
    return tepal_yesno_predict(s->layout, s->positions, task->n, task->t, &s->best) == TEPAL_OK;
}

void tepal_plan_yesno(const struct plan_task *task, struct tepal_plans *out)
{
    struct plan_bar bar = tepal_plan_bar(task, TEPAL_KIND_YESNO);
    struct search s = {
        .task = task, .layout = TEPAL_LAYOUT_FLAT, .positions = plan_positions(task)};
    weigh_all(&s);
    plan_bar_if(&bar, task->t == 0, "known-negatives", "no negatives are known");
    if (bar.why == NULL) {
        bar = (struct plan_bar){"fp", find_flat(&s)};
    }
    if (tepal_plan_barred(out, TEPAL_KIND_YESNO, bar)) {
        return;
    }
    add(&s, out);
    struct tepal_yesno_setting flat = s.best;
    for (int layout = TEPAL_LAYOUT_PARTITIONED; layout <= (int)task->last; layout++) {
        s.layout = (enum tepal_layout)layout;
        if (tepal_layout_in_lines(s.layout) && !tepal_plan_in_lines(task)) {
            tepal_plan_no(tepal_plan_add(out, TEPAL_KIND_YESNO, s.layout), "header-bits",
                          TEPAL_PLAN_NOT_LINES);
        } else if (find_other(&s, &flat)) {
            add(&s, out);
        } else {
            tepal_plan_no(
                tepal_plan_add(out, TEPAL_KIND_YESNO, s.layout), task->smallest ? "fp" : "memory",
                task->smallest ? "the Bloom filter is smaller at this rate"
                               : "its parts need a cache line each, and these do not fit");
        }
    }
}
