/*
 * plan_json.h: plans as JSON, and the best of them back from a file. What is read are the
 * parameters; the command that stands beside them is for people, and is not looked at.
 */
#ifndef TOOL_PLANS_PLAN_JSON_H
#define TOOL_PLANS_PLAN_JSON_H

#include <jansson.h>

#include <tepal/plan.h>

json_t *plan_json(const struct tepal_wish *wish, const struct tepal_plans *plans);

#define PLAN_JSON_WHY 200

/*
 * The best plan of a saved object, ready for tepal_plan_build; every number has passed the gate.
 * NULL, or what is wrong with it, in why.
 */
const char *plan_json_read(const char *text, size_t len, struct tepal_proposal *plan,
                           char why[PLAN_JSON_WHY]);

#endif
