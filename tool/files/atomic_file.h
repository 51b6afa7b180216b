/*
 * atomic_file.h: a file written beside the result: a list, a picture. It is written to a temporary
 * file in the same directory, synced, and takes its name when all went well, so that a failure
 * leaves nothing. As with filters, a file that is there already keeps its mode and, if we may, its
 * owner; a symbolic link stays, and what it names is replaced.
 */
#ifndef TOOL_FILES_ATOMIC_FILE_H
#define TOOL_FILES_ATOMIC_FILE_H

#include "cli/command.h"
#include "output/out.h"

/* All zeros: not open. */
struct atomic_file {
    const char *path; /* as the user calls it */
    struct out *out;
    char *target;    /* the path, after symbolic links */
    char *temporary; /* NULL: it is not open, or has its name */
    bool named;      /* it has its name, even if its directory could not be synced */
};

/*
 * May `path` be written? Not over another file of the command, not into a directory that is not
 * there, not over a file that has contents (unless --force). EXIT_YES, or EXIT_TROUBLE after having
 * said why.
 */
int atomic_file_check(const struct args *args, const char *path);

/* Open for writing to file->out. EXIT_YES, or EXIT_TROUBLE after having said why. */
int atomic_file_open(struct atomic_file *file, const struct args *args, const char *path);

/* Everything has been written to file->out: flush it, and keep the temporary file for later. */
int atomic_file_finish(struct atomic_file *file, const struct args *args);

/*
 * Give the file its name. `done` is what the command has changed already (NULL: nothing): if the
 * file cannot get its name then, it stays as the temporary file, and the error says where.
 */
int atomic_file_commit(struct atomic_file *file, const struct args *args, const char *done);

/*
 * All of it, if the option of that name was given: `write` writes the contents. EXIT_YES, or
 * EXIT_TROUBLE after having said why.
 */
int atomic_file_write(const struct args *args, const char *option,
                      void (*write)(const void *context, struct out *out), const void *context);

/* Remove what is left of it. Always allowed, also after a commit and on all zeros. */
void atomic_file_free(struct atomic_file *file);

#endif
