/* files.h: the lab's files: tables, pictures, pages. */
#ifndef LAB_EXPERIMENT_FILES_H
#define LAB_EXPERIMENT_FILES_H

#include "cli/command.h"
#include "output/out.h"

/* FOLDER/NAME + ending, in heap memory; NULL without memory. */
char *lab_path(const char *folder, const char *name, const char *ending);

/* The same of the picture with this number, from 1: NAME.svg, NAME-2.svg and so on. */
char *lab_picture_path(const char *folder, const char *name, unsigned number);

/* The whole file, with a NUL after it; NULL with errno set. Files of more than 64 MiB: EFBIG. */
char *lab_slurp(const char *path);

/*
 * A file by `print`, which returns EXIT_YES or says why not. It takes its name when it is whole,
 * and signals wait until then: who interrupts a run finds no half files and no temporary ones.
 */
int lab_write(const struct args *args, const char *path, int (*print)(struct out *out, void *what),
              void *what);

#endif
