/* sides.h: two files beside a result, a table and a picture, named by options. */
#ifndef TOOL_FILES_SIDES_H
#define TOOL_FILES_SIDES_H

#include "cli/command.h"
#include "files/atomic_file.h"
#include "output/out.h"

/*
 * May the files of the options `a` and `b` be written (those that are given; atomic_file_check)?
 * EXIT_YES, or EXIT_TROUBLE after having said why.
 */
int sides_check(const struct args *args, const char *a, const char *b);

/* One of them: the option, what writes its contents, and the context of that. */
struct side {
    const char *option;
    void (*write)(const void *context, struct out *out);
    const void *context;
};

/*
 * Write the contents, if the option was given: `file` is all zeros before, and finished then. Who
 * has other files besides gives all of them their names at once (filter_file_save_with).
 */
int sides_prepare(const struct args *args, const struct side *side, struct atomic_file *file);

/*
 * Write both (those that are given): first their contents, then their names, so that what fails
 * before that leaves neither. EXIT_YES, or EXIT_TROUBLE after having said why, and what is there.
 */
int sides_write(const struct args *args, const struct side *a, const struct side *b);

#endif
