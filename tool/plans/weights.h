/*
 * weights.h: weights of many keys as the few points that a planner wants (a Lorenz curve).
 */
#ifndef TOOL_PLANS_WEIGHTS_H
#define TOOL_PLANS_WEIGHTS_H

#include <tepal/plan.h>

#define WEIGHTS_POINTS 512

/* Ours: free the curve's arrays with weights_free. All zeros is an empty one. */
struct weights {
    double *points;                  /* shares, then weights */
    struct tepal_plan_weights curve; /* count 0: there are none */
};

/* The curve of `count` weights. NULL, or why there is none. */
const char *weights_curve(const double *weight, size_t count, struct weights *out);
void weights_free(struct weights *weights);

#endif
