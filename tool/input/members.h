/*
 * members.h: all members of a counting filter in memory, in the order of the file, as often as they
 * stand there: those of --members, or those of --receipts with their groups. For audit and repair.
 */
#ifndef TOOL_INPUT_MEMBERS_H
#define TOOL_INPUT_MEMBERS_H

#include <tepal/filter.h>

#include "cli/command.h"
#include "input/feed.h"

/* All zeros is an empty one. */
struct members {
    bool texts; /* keep the texts: set it before reading */
    size_t count;
    size_t room;
    struct tepal_digest *digest;
    uint8_t *group; /* with --receipts */
    size_t *text_end;
    char *text;
    size_t text_room;
};

/* The file that holds them; NULL: neither option was given. */
const char *members_path(const struct args *args);

/* EXIT_YES, or EXIT_TROUBLE after having said why: no file, or the filter comes from it, too. */
int members_check(const struct args *args);

/* Does the filter have counters? `done`: what cannot be done to one that has not. */
int members_check_kind(const struct args *args, const struct tepal_filter *filter,
                       const char *done);

/* The same returns. */
int members_read(const struct args *args, const struct tepal_filter *filter,
                 const struct tepal_hasher *hasher, struct members *members);

/* A batch of keys of any feed; false: no memory. */
bool members_keep(struct members *members, const struct feed *feed, size_t count);

/* The groups, or NULL if they are not known. */
const uint8_t *members_groups(const struct args *args, const struct members *members);

/* The text of the i-th, if they were kept. */
const char *members_text(const struct members *members, size_t i, size_t *len);

void members_free(struct members *members);

#define OPTION_COUNTED_MEMBERS                                                                     \
    OPTION(0, "members", OF_VALUE(TAKES_FILE, "KEYS"),                                             \
           "All keys that the filter should hold, one per line, each as often as it was added (- " \
           "is standard input).")

#endif
