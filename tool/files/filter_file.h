/*
 * filter_file.h: filters where the user keeps them: a path, or "-" for the standard descriptors.
 * What can be refused is refused before any work is done. Every call returns EXIT_YES, or
 * EXIT_TROUBLE after having said why.
 */
#ifndef TOOL_FILES_FILTER_FILE_H
#define TOOL_FILES_FILTER_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include <tepal/file.h>
#include <tepal/filter.h>

#include "cli/command.h"
#include "files/atomic_file.h"

enum filter_file_mode {
    FILTER_FILE_LOAD,  /* into memory, to be changed */
    FILTER_FILE_VIEW,  /* to be read: mapped if it is a regular file */
    FILTER_FILE_GLANCE /* the same, without checking the cells */
};

int filter_file_open(const struct args *args, const char *path, enum filter_file_mode mode,
                     struct tepal_filter **out);

/* As filter_file_open, but says nothing: fills in `error`. */
enum tepal_status filter_file_try(const char *path, enum filter_file_mode mode,
                                  struct tepal_filter **out, struct tepal_error *error);

/* Say what the error is, and what stays as it was (NULL: nothing is said of that). */
int filter_file_fault(const char *stays, const char *path, const struct tepal_error *error);

/*
 * May the filter be written to `path`? Not to a terminal, nor to where --json goes; not into a
 * directory that is not there; not over something that is not a filter (unless --force).
 */
int filter_file_check_output(const struct args *args, const char *path);

/* May the filter at `path` be read, and a changed one be put in its place? */
int filter_file_check_in_place(const struct args *args, const char *path);

/*
 * May these files be read, and is none of them `output`? For keys, that is never allowed; `why`
 * ends the sentence. output may be NULL. No paths at all mean standard input.
 */
int filter_file_check_inputs(const struct args *args, const char *output, const char *const *paths,
                             size_t count, const char *why);

/* Are the two the same file, or will they be? "-" is like no other. */
bool filter_file_same(const char *a, const char *b);

/*
 * Is `path`, the value of one of the command's options or a name that is made of it, none of its
 * other files, nor standard input? Even --force does not allow that, but for a filter: it may
 * replace an operand, if the command does, and the filter of --like.
 */
int filter_file_check_own(const struct args *args, const char *path, bool filter);

/*
 * Write: atomically to a path, with signals held off so that no temporary file stays behind. Who
 * calls filter_file_save holds the lock of the path (files/file_lock.h), since before it read what
 * it replaces; filter_file_replace takes it, for those who read nothing of it. What is read and
 * written then is the file that was locked, even if a link on the way leads elsewhere meanwhile.
 *
 * filter_file_save_with also gives the `count` files beside the filter their names (atomic_file.h;
 * they are finished, or not open), once the filter is in place: if it does not get there they are
 * gone, and if one of them does not get its name, the error says where it is. A NULL filter has
 * nothing to save.
 */
int filter_file_save_with(const struct args *args, const struct tepal_filter *filter,
                          const char *path, struct atomic_file *const *beside, size_t count);
int filter_file_save(const struct args *args, const struct tepal_filter *filter, const char *path);
int filter_file_replace(const struct args *args, const struct tepal_filter *filter,
                        const char *path, struct atomic_file *const *beside, size_t count);

/* A save can fail after it has put the file in place, when it cannot sync the directory. */
bool filter_file_in_place(const struct tepal_error *error);

/* The same to a path, but says nothing: fills in `error`. */
enum tepal_status filter_file_save_quietly(const struct tepal_filter *filter, const char *path,
                                           struct tepal_error *error);

/* How large the filter is there; unless it is compressed, also where there is no file. */
uint64_t filter_file_bytes(const char *path, const struct tepal_filter *filter);

/* The filter's hasher, with the secret key of --key-file if the filter needs one. */
int filter_file_hasher(const struct args *args, const char *path, struct tepal_filter *filter,
                       struct tepal_hasher *hasher);

/* "standard input" or "standard output" for "-", else the path. */
const char *filter_file_name(const char *path, bool output);

#endif
