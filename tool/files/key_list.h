/*
 * key_list.h: keys written beside the result, one per line, if the option that names their file was
 * given: the keys that were refused, the members that are missing. A list takes its name when all
 * went well; a failure leaves nothing.
 */
#ifndef TOOL_FILES_KEY_LIST_H
#define TOOL_FILES_KEY_LIST_H

#include "files/atomic_file.h"

/* All zeros: not open. */
struct key_list {
    struct atomic_file file; /* file.out is NULL if the option was not given */
    char separator;
};

/*
 * May the lists of these options (NULL after the last) be written? Not over each other, nor over
 * one of `others` (names may be NULL, or "-"); not over a file that has contents, unless --force or
 * `update` (the option whose list is there to be changed; NULL: none). EXIT_YES, or EXIT_TROUBLE
 * after having said why.
 */
int key_lists_check(const struct args *args, const char *const *options, const char *update,
                    const char *const *others, size_t count);

/* Each returns EXIT_YES, or EXIT_TROUBLE after having said why; without the option, nothing. */
int key_list_open(struct key_list *list, const struct args *args, const char *option);
void key_list_add(struct key_list *list, const char *text, size_t len);
int key_list_finish(struct key_list *list, const struct args *args);
void key_list_free(struct key_list *list);

#endif
