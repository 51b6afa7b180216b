/* commands.h: all that the command can do. */
#ifndef PROGRAM_COMMANDS_H
#define PROGRAM_COMMANDS_H

#include "cli/command.h"

extern const struct program tepal_program;

#endif
