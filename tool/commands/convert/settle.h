/* settle.h: a filter that grew, built again as one of fixed size from the keys at hand. */
#ifndef TOOL_COMMANDS_CONVERT_SETTLE_H
#define TOOL_COMMANDS_CONVERT_SETTLE_H

#include <tepal/filter.h>

#include "cli/command.h"
#include "output/report.h"

/* *filter becomes the fixed one; EXIT_YES, or EXIT_TROUBLE after saying why. */
int settle(const struct args *args, const char *name, struct tepal_filter **filter);

/* What was saved of `before`, the bytes of the filter that grew. */
void settle_tell(struct report *r, uint64_t before, uint64_t after);

#endif
