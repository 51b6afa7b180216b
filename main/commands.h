/* commands.h: all that the command can do. */
#ifndef MAIN_COMMANDS_H
#define MAIN_COMMANDS_H

#include "cli/command.h"

extern const struct program tepal_program;

#endif
