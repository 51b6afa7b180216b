/*
 * auto.h: build by a plan: one that is made from the constraints and the number of keys (--auto),
 * or one that was saved (--plan). Either becomes the options that its command says.
 */
#ifndef TOOL_COMMANDS_BUILD_AUTO_H
#define TOOL_COMMANDS_BUILD_AUTO_H

#include "cli/command.h"

int auto_build(const struct args *args);

/* Without --auto there is no use for constraints: EXIT_YES, or EXIT_TROUBLE after saying so. */
int auto_check(const struct args *args);

#endif
