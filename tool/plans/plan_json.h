/*
 * plan_json.h: the figures of a plan, and the best plan back from a file. What is read are the
 * parameters; the command that stands beside them is for people, and is not looked at.
 */
#ifndef TOOL_PLANS_PLAN_JSON_H
#define TOOL_PLANS_PLAN_JSON_H

#include <tepal/plan.h>

#include "output/report.h"

/* A row of a table for people, or all of it in JSON. `known`: there are known negatives. */
void plan_figures(struct report *r, const struct tepal_proposal *plan, bool known);

#define PLAN_JSON_WHY 200

/*
 * The best plan of a saved object, ready for tepal_plan_build; every number has passed the gate.
 * NULL, or what is wrong with it, in why.
 */
const char *plan_json_read(const char *text, size_t len, struct tepal_proposal *plan,
                           char why[PLAN_JSON_WHY]);

/*
 * The rates that a saved plan promises, NaN where it promises none. In 0.1.0 "fp" was of the known
 * negatives, and strangers had "fp_unknown".
 */
void plan_json_rates(const json_t *plan, double *fp, double *fp_known);

/* Is the best plan of a saved object such an old one? */
bool plan_json_old(const char *text, size_t len);

#endif
