/* slurp.h: a file, whole, in memory. */
#ifndef TOOL_INPUT_SLURP_H
#define TOOL_INPUT_SLURP_H

#include "cli/command.h"

/* On the heap, and *len its length; NULL after having said why, also of more than `most` bytes. */
char *slurp(const struct args *args, const char *path, size_t most, size_t *len);

#endif
