/* sides.h: two files beside a result, a table and a picture, named by options. */
#ifndef TOOL_FILES_SIDES_H
#define TOOL_FILES_SIDES_H

#include "cli/command.h"

/*
 * May the files of the options `a` and `b` be written (those that are given)? Not over the input,
 * not into a directory that is not there, not over a file that has contents (unless --force), and
 * not both to one place. EXIT_YES, or EXIT_TROUBLE after having said why.
 */
int sides_check(const struct args *args, const char *a, const char *b);

#endif
