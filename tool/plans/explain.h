/*
 * explain.h: a plan's equations with the numbers in, as lines of text.
 */
#ifndef TOOL_PLANS_EXPLAIN_H
#define TOOL_PLANS_EXPLAIN_H

#include <tepal/plan.h>

#include "output/out.h"

void explain_plan(struct out *out, const struct tepal_wish *wish, const struct tepal_plans *plans,
                  const struct tepal_proposal *plan);

#endif
