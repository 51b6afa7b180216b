/* plan_command.h: the command that makes a plan's filter, for people to read and to run. */
#ifndef TOOL_PLANS_PLAN_COMMAND_H
#define TOOL_PLANS_PLAN_COMMAND_H

#include <tepal/plan.h>

/* More than any command has whose names are KEYS, NEGATIVES and FILE. */
#define PLAN_COMMAND 512

/*
 * The command, with KEYS and FILE to fill in, and NEGATIVES unless they have a name (not NULL); ""
 * for a plan that cannot be. Returns room.
 */
const char *plan_command(const struct tepal_proposal *plan, const char *negatives, char *room,
                         size_t size);

#endif
