/*
 * receipts.h: which of its groups a counting filter put each key into, as a file: a key, a tab and
 * the number of the group a line. What build and add write, remove and audit read.
 */
#ifndef TOOL_INPUT_RECEIPTS_H
#define TOOL_INPUT_RECEIPTS_H

#include <tepal/counting.h>

#include "input/adder.h"
#include "files/atomic_file.h"

/* ---- writing; all zeros: nothing is written */

struct receipts {
    struct atomic_file file;
    char separator;
    uint8_t group[FEED_BATCH];
};

/*
 * If --receipts was given: may it be written? Each returns EXIT_YES, or EXIT_TROUBLE after having
 * said why.
 */
int receipts_check(const struct args *args);
int receipts_open(struct receipts *receipts, const struct args *args, struct tepal_filter *filter);

/* Add the feed's batch to the filter; its groups are written if there is a file for them. */
int receipts_add(struct receipts *receipts, const struct args *args, struct adder *adder,
                 size_t count);

/* One line of the file, for a key that is in the filter. */
void receipts_write(struct receipts *receipts, const char *text, size_t len, uint8_t group);

/* All is written; the file gets its name with the filter (filter_file_save_with). */
int receipts_finish(struct receipts *receipts, const struct args *args);
void receipts_free(struct receipts *receipts);

/* ---- reading */

/* The groups of a weighted feed's batch, each below `choices`. */
int receipts_groups(const struct args *args, const struct feed *feed, size_t count,
                    uint32_t choices, uint8_t *groups);

#define OPTION_RECEIPTS_OUT                                                                        \
    OPTION(0, "receipts", OF_VALUE(TAKES_FILE, "FILE"),                                            \
           "counting: write a receipt for each key to FILE: the key, a tab and the group it was "  \
           "added to. For remove --receipts.")

#define OPTION_RECEIPTS_IN                                                                         \
    OPTION(0, "receipts", OF_VALUE(TAKES_FILE, "FILE"),                                            \
           "counting: read receipts from FILE (- is standard input), as written by build and "     \
           "add: each a key, a tab and its group.")

#endif
