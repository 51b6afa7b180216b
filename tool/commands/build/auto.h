/*
 * auto.h: the plan of a build that goes by one: made from the constraints and the number of keys
 * (--auto), or saved before (--plan). Calls return EXIT_YES, or EXIT_TROUBLE after saying why.
 */
#ifndef TOOL_COMMANDS_BUILD_AUTO_H
#define TOOL_COMMANDS_BUILD_AUTO_H

#include <tepal/plan.h>

#include "cli/command.h"
#include "input/spool.h"

/* Do the options fit each other? With a plan it decides; without, there is none to constrain. */
int auto_check(const struct args *args);

/* The plan, for the keys of the spool; it can be built. Tells it, unless it was given. */
int auto_plan(const struct args *args, const struct spool *spool, struct tepal_proposal *plan);

#endif
