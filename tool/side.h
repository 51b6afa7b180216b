/*
 * side.h: a file written beside the result: a list, a picture. It is written to a temporary file in
 * the same directory and takes its name when all went well, so that a failure leaves nothing.
 */
#ifndef TOOL_SIDE_H
#define TOOL_SIDE_H

#include "command.h"
#include "out.h"

struct side {
    const char *path;
    struct out *out;
    char *temporary;
};

/*
 * May `path` be written? Not into a directory that is not there, not over a file that has contents
 * (unless --force). EXIT_YES, or EXIT_TROUBLE after having said why.
 */
int side_check(const struct args *args, const char *path);

/* Open for writing to side->out. EXIT_YES, or EXIT_TROUBLE after having said why. */
int side_open(struct side *side, const struct args *args, const char *path);

/* Everything has been written to side->out: flush it, and keep the temporary file for later. */
int side_finish(struct side *side, const struct args *args);

/* Give the file its name. */
int side_commit(struct side *side, const struct args *args);

/* Remove what is left of it. Always allowed, also after a commit and on all zeros. */
void side_free(struct side *side);

#endif
