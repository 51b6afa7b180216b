/*
 * atomic_file.h: a file written beside the result: a list, a picture. It is written to a temporary
 * file in the same directory and takes its name when all went well, so that a failure leaves
 * nothing.
 */
#ifndef TOOL_FILES_ATOMIC_FILE_H
#define TOOL_FILES_ATOMIC_FILE_H

#include "cli/command.h"
#include "output/out.h"

struct atomic_file {
    const char *path;
    struct out *out;
    char *temporary;
};

/*
 * May `path` be written? Not into a directory that is not there, not over a file that has contents
 * (unless --force). EXIT_YES, or EXIT_TROUBLE after having said why.
 */
int atomic_file_check(const struct args *args, const char *path);

/* Open for writing to file->out. EXIT_YES, or EXIT_TROUBLE after having said why. */
int atomic_file_open(struct atomic_file *file, const struct args *args, const char *path);

/* Everything has been written to file->out: flush it, and keep the temporary file for later. */
int atomic_file_finish(struct atomic_file *file, const struct args *args);

/* Give the file its name. */
int atomic_file_commit(struct atomic_file *file, const struct args *args);

/*
 * All of it, if the option of that name was given: `write` writes the contents. EXIT_YES, or
 * EXIT_TROUBLE after having said why.
 */
int atomic_file_write(const struct args *args, const char *option,
                      void (*write)(const void *context, struct out *out), const void *context);

/* Remove what is left of it. Always allowed, also after a commit and on all zeros. */
void atomic_file_free(struct atomic_file *file);

#endif
