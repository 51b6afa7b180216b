/*
 * spool.h: input that is read more than once: the files of keys and of known negatives, with
 * standard input, if it is one of them, in a temporary file.
 */
#ifndef TOOL_INPUT_SPOOL_H
#define TOOL_INPUT_SPOOL_H

#include "cli/command.h"

/* All zeros is an empty one. */
struct spool {
    const char **path; /* of the keys: the operands */
    size_t count;
    const char *avoid;    /* of the negatives: --avoid; NULL: none */
    char temporary[4096]; /* where standard input went; "": nowhere */
};

/* EXIT_YES, or EXIT_TROUBLE after saying why; close it either way. */
int spool_open(const struct args *args, struct spool *spool);
void spool_close(struct spool *spool);

#endif
