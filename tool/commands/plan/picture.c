/* picture.c: the planner asked for one rate after the other, and its answers as curves. */
#include "commands/plan/picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <tepal/filter.h>

#include "pictures/svg.h"

#define CURVES      TEPAL_MAX_PLANS
#define CURVE_STEPS 13

struct curve {
    enum tepal_kind_id kind;
    enum tepal_layout layout;
    char name[40];
    struct svg_point point[CURVE_STEPS];
    size_t count;
};

/* Has it no rate to choose? A cascade has none but that of strangers. */
static bool is_upright(const struct plan_picture *p, const struct tepal_proposal *plan)
{
    return plan->kind == TEPAL_KIND_CASCADE && p->plans->closed_world;
}

static struct curve *curve_of(const struct plan_picture *p, struct curve *curves, size_t *count,
                              const struct tepal_proposal *plan)
{
    for (size_t i = 0; i < *count; i++) {
        if (curves[i].kind == plan->kind && curves[i].layout == plan->params.layout) {
            return &curves[i];
        }
    }
    if (*count == CURVES) {
        return NULL;
    }
    struct curve *c = &curves[(*count)++];
    *c = (struct curve){.kind = plan->kind, .layout = plan->params.layout};
    snprintf(c->name, sizeof c->name, "%s, %s", tepal_kind_by_id(plan->kind)->name,
             is_upright(p, plan) ? "no error" : tepal_layout_name(plan->params.layout));
    return c;
}

/* Partitioned and paired filters lie by the flat and blocked, and cascades all in one place. */
static bool is_drawn(const struct tepal_proposal *plan)
{
    return plan->params.layout == TEPAL_LAYOUT_FLAT ||
           (plan->params.layout == TEPAL_LAYOUT_BLOCKED && plan->kind != TEPAL_KIND_CASCADE);
}

/* What is drawn for: the keys; of a stream that nothing is known of, those the choice remembers. */
static uint64_t keys_drawn(const struct plan_picture *p)
{
    const struct tepal_wish *w = p->wish;
    double remembers = p->plans->plan[0].remembers;
    bool blind = w->endless && w->stream == TEPAL_STREAM_UNKNOWN && remembers >= 1;
    return p->plans->keys > 0 ? p->plans->keys : blind ? (uint64_t)remembers : 0;
}

/*
 * Rates from 0.3 down to 1e-6, of strangers or, in a closed world, of known negatives; the memory
 * that each kind needs. A cascade has no error on these: a vertical line.
 */
static void trace(const struct plan_picture *p, struct curve *curves, size_t *count)
{
    static const double rates[CURVE_STEPS] = {0.3,  0.1,  0.03, 0.01, 3e-3, 1e-3, 3e-4,
                                              1e-4, 3e-5, 1e-5, 3e-6, 2e-6, 1e-6};
    for (size_t i = 0; i < CURVE_STEPS; i++) {
        struct tepal_wish w = *p->wish;
        struct tepal_plans plans;
        w.progress = (struct tepal_progress){NULL, NULL};
        progress_parts(p->progress, i, CURVE_STEPS, "rates drawn");
        w.keys = keys_drawn(p);
        w.bits = w.keys > 0 || w.stream != TEPAL_STREAM_UNKNOWN ? 0 : w.bits;
        *(p->plans->closed_world ? &w.fp_known : &w.fp) = rates[i];
        w.fp_average = NAN;
        if (tepal_plan(&w, &plans, NULL) != TEPAL_OK) {
            continue;
        }
        for (size_t j = 0; j < plans.count && plans.plan[j].feasible; j++) {
            const struct tepal_proposal *plan = &plans.plan[j];
            struct curve *c = is_drawn(plan) ? curve_of(p, curves, count, plan) : NULL;
            if (c != NULL) {
                double fp = p->plans->closed_world ? plan->fp_known : plan->fp;
                c->point[c->count++] =
                    (struct svg_point){.x = (double)plan->bits / 8,
                                       .y = is_upright(p, plan) ? rates[i] : fmax(fp, 1e-7)};
            }
        }
    }
}

void plan_picture(const void *context, struct out *out)
{
    const struct plan_picture *p = context;
    struct curve curves[CURVES];
    struct svg_series series[CURVES];
    size_t count = 0;
    trace(p, curves, &count);
    for (size_t i = 0; i < count; i++) {
        series[i] = (struct svg_series){.name = curves[i].name,
                                        .style = i < SVG_COLOURS ? SVG_LINE : SVG_DASHED,
                                        .point = curves[i].point,
                                        .count = curves[i].count};
    }
    char title[96];
    if (keys_drawn(p) > 0) {
        char keys[32];
        snprintf(title, sizeof title, "Memory for %s keys",
                 svg_mark(SVG_NUMBER, (double)keys_drawn(p), keys));
    } else {
        snprintf(title, sizeof title, "Memory for the stream%s",
                 isnan(p->wish->fn) ? ", at the same false negatives" : "");
    }
    struct svg_chart chart = {.title = title,
                              .x_label = "memory",
                              .y_label = "false positives",
                              .x_unit = SVG_BYTES,
                              .y_unit = SVG_SHARE,
                              .x_log = true,
                              .y_log = true,
                              .series = series,
                              .count = count};
    svg_print(out, &chart);
}
