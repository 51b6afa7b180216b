/*
 * cascade.c: the cascade. No error on the keys that it is built from; its size is expected,
 * since each level stores what the one before it lets through. The model (model/cascade.c) tells
 * what to expect of a first level; here one is looked for, by a quicker estimate of the others.
 */
#include <stdio.h>

#include <tepal/papers.h>

#include "plan/plan.h"

#define POSITIONS TEPAL_POSITIONS_COLLIDING
/* To halve a rate takes so many bits a key. */
#define HALVES 1.44
/* Levels of so few keys at so low a rate are sized by that, while others are compared. */
#define TINY 64
#define RARE 1e-3
/* Beyond 2^-60 no rate of unknown keys is worth bits. */
#define LOWEST_RATE 60

static double rate_for(double stored, double asked)
{
    return fmin(stored / asked * sqrt(0.5), 0.5);
}

/*
 * About the bits of the levels beyond a first one of rate f1. In whole units of the first one's
 * layout they are all, though flat.
 */
static double about_rest(const struct plan_task *task, double f1, double unit)
{
    double stored = (double)task->t * f1;
    double asked = (double)task->n;
    double bits = 0;
    for (int level = 2; level <= TEPAL_MAX_LEVELS && stored > 0.5; level++) {
        uint64_t cells;
        uint32_t hashes = 0;
        double f = rate_for(stored, asked);
        double each = ceil(stored);
        if (each <= TINY && f < RARE) {
            cells = (uint64_t)(-HALVES * log2(f) * each);
        } else if (tepal_bloom_size(TEPAL_LAYOUT_FLAT, POSITIONS, (uint64_t)each, f, &cells,
                                    &hashes) != TEPAL_OK) {
            return INFINITY;
        }
        bits += ceil((double)cells / unit) * unit;
        double next = asked * f;
        asked = stored;
        stored = next;
    }
    return bits;
}

struct choice {
    double f1;
    double fp; /* of strangers */
    struct tepal_params first;
    double bits;
};

/* As the model has it. */
static void predict(const struct plan_task *task, struct choice *c)
{
    struct tepal_cascade_setting plan = {.first_bits = c->first.cells, .hashes = c->first.hashes};
    if (tepal_cascade_predict(c->first.layout, POSITIONS, task->n, task->t, &plan) == TEPAL_OK) {
        c->f1 = plan.rate[0];
        c->fp = plan.fp_unknown;
        c->bits = plan.bits;
    }
}

/* With so many cells in the first level, and its best hashes. */
static struct choice with_cells(const struct plan_task *task, enum tepal_layout layout,
                                double cells, bool about)
{
    struct choice c = {.f1 = 1, .fp = 1, .first = TEPAL_PARAMS_INIT, .bits = INFINITY};
    double unit = (double)params_unit(layout, 1);
    double whole = fmax(floor(cells / unit), 1) * unit;
    if (!(whole <= 0x1p60)) {
        return c;
    }
    c.first.layout = layout;
    c.first.cells = (uint64_t)whole;
    /* To compare sizes, the hashes of the formula will do: (m/n) ln 2. */
    double about_hashes = fmin(fmax(rint(whole / (double)task->n * log(2)), 1), TEPAL_MAX_HASHES);
    c.first.hashes = about && unit < 2 && about_hashes <= whole
                         ? (uint32_t)about_hashes
                         : tepal_bloom_best_hashes(layout, POSITIONS, c.first.cells, task->n);
    c.f1 = tepal_bloom_fp(layout, POSITIONS, c.first.cells, task->n, c.first.hashes);
    if (!(c.f1 < 1)) {
        return c; /* no rate to build with: one bit for one key, say */
    }
    if (!about) {
        predict(task, &c);
        return c;
    }
    c.bits = whole + about_rest(task, c.f1, unit);
    return c;
}

/*
 * The smallest cascade: its first rate lies near n / (t sqrt 2), or 1/2 if that is less. Sizes
 * around the one for that are tried, and then nearer and nearer to the best.
 */
#define AROUND 2      /* octaves */
#define MANY   100000 /* keys */
#define FULL   0.3    /* fewer bits a key let nearly all through */

static struct choice smallest(const struct plan_task *task, enum tepal_layout layout)
{
    double rate = rate_for((double)task->n, (double)task->t);
    double octave = HALVES * (double)task->n;
    double middle = -log2(rate) * octave;
    struct choice best = with_cells(task, layout, middle, true);
    /* Levels have whole keys: if these are few, the size is not smooth. Lines cost more to look. */
    double stride = tepal_layout_in_lines(layout) ? 0.25
                    : task->n > MANY              ? 0.125
                                                  : fmax(0.02, 1 / octave);
    for (double at = -AROUND; at <= AROUND; at += stride) {
        double cells = middle + at * octave;
        struct choice here =
            cells > FULL * (double)task->n ? with_cells(task, layout, cells, true) : best;
        best = here.bits < best.bits ? here : best;
    }
    double finest = tepal_layout_in_lines(layout) ? 0.03 : 0.003;
    for (double step = stride / 2; step > finest; step /= 2) {
        double centre = (double)best.first.cells;
        for (int side = -1; side <= 1; side += 2) {
            double cells = centre + side * step * octave;
            struct choice here =
                cells > FULL * (double)task->n ? with_cells(task, layout, cells, true) : best;
            best = here.bits < best.bits ? here : best;
        }
    }
    return with_cells(task, layout, (double)best.first.cells, false);
}

#define CLOSE 0x1p20 /* of so many bits one does not matter */

/*
 * The smallest first level that keeps the rate of strangers, where the smallest cascade does not:
 * they fall with it, and beyond that one every bit of the first level is a bit more in all.
 */
static struct choice strict(const struct plan_task *task, struct choice best)
{
    enum tepal_layout layout = best.first.layout;
    double unit = (double)params_unit(layout, 1);
    double low = (double)best.first.cells;
    uint64_t most;
    uint32_t hashes = 0;
    if (tepal_bloom_size(layout, POSITIONS, task->n, task->fp_strangers, &most, &hashes) !=
        TEPAL_OK) {
        best.bits = INFINITY;
        return best;
    }
    double high = fmax((double)most, low + unit); /* alone it keeps the rate */
    double close = fmax(unit, high / CLOSE);
    best = with_cells(task, layout, high, false);
    while (high - low > close) {
        double middle = low + floor((high - low) / unit / 2) * unit;
        struct choice here = with_cells(task, layout, middle, false);
        if (here.fp <= task->fp_strangers) {
            high = middle;
            best = here;
        } else {
            low = middle;
        }
    }
    return best;
}

/* The largest first level that goes, with what follows, into the limit. */
static struct choice fullest(const struct plan_task *task, struct choice best)
{
    double low = (double)best.first.cells;
    double high = fmin((double)task->limit, low + LOWEST_RATE * HALVES * (double)task->n);
    enum tepal_layout layout = best.first.layout;
    double unit = (double)params_unit(layout, 1);
    double close = fmax(unit, low / 65536);
    while (high - low > close) {
        struct choice here = with_cells(task, layout, (low + high) / 2, true);
        if (here.bits <= (double)task->limit) {
            low = (low + high) / 2;
        } else {
            high = (low + high) / 2;
        }
    }
    for (int i = 0; i < 4 && low > (double)best.first.cells; i++) {
        struct choice here = with_cells(task, layout, low, false);
        if (here.bits <= (double)task->limit) {
            return here;
        }
        low -= fmax(here.bits - (double)task->limit, close);
    }
    return best;
}

static double probes_of(const struct plan_task *task, const struct choice *c)
{
    const struct tepal_params *p = &c->first;
    double fill = tepal_bloom_fill(p->layout, POSITIONS, p->cells, task->n, p->hashes);
    return tepal_plan_reads(p->layout, fill, p->hashes, p->cells) + 2 * c->f1;
}

static void add(const struct plan_task *task, const struct choice *c, struct tepal_proposal *plan)
{
    plan->params = c->first; /* the first level: the others follow from the keys */
    plan->params.kind = TEPAL_KIND_CASCADE;
    plan->params.capacity = task->n;
    plan->max_bits = task->smallest ? 0 : task->limit;
    plan->weighted = tepal_plan_weighs(task);
    plan->bits = (uint64_t)ceil(c->bits);
    plan->fp = c->fp;
    plan->fp_known = 0;
    plan->fn = 0;
    plan->probes = probes_of(task, c);
    snprintf(plan->reason, sizeof plan->reason,
             "no errors on known keys; the size is an estimate; %.3g %% false positives on "
             "strangers",
             100 * plan->fp);
    tepal_plan_finish(task, plan);
}

void tepal_plan_cascade(const struct plan_task *task, struct tepal_plans *out)
{
    struct plan_bar bar = tepal_plan_bar(task, TEPAL_KIND_CASCADE);
    plan_bar_if(&bar, task->t == 0, "known-negatives", "no negatives are known");
    plan_bar_if(&bar, task->wish->header_bits > 0, "header-bits",
                "its levels need a directory, which does not fit into a header");
    if (tepal_plan_barred(out, TEPAL_KIND_CASCADE, bar)) {
        return;
    }
    for (int layout = TEPAL_LAYOUT_FLAT; layout <= (int)task->last; layout++) {
        struct tepal_proposal *plan =
            tepal_plan_add(out, TEPAL_KIND_CASCADE, (enum tepal_layout)layout);
        struct choice c = smallest(task, (enum tepal_layout)layout);
        if (c.bits < 0x1p60 && task->smallest && c.fp > task->fp_strangers) {
            c = strict(task, c);
        } else if (!task->smallest && c.bits <= (double)task->limit) {
            c = fullest(task, c);
        }
        if (c.bits < 0x1p60) {
            add(task, &c, plan);
        } else {
            tepal_plan_no(plan, "memory", "no size is sufficient");
        }
    }
}
