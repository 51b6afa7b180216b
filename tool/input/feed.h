/*
 * feed.h: keys from files to digests, a batch at a time: what build, add, query and retouch have in
 * common.
 */
#ifndef TOOL_INPUT_FEED_H
#define TOOL_INPUT_FEED_H

#include <tepal/hash.h>

#include "cli/command.h"
#include "input/digests.h"
#include "input/keys.h"
#include "output/progress.h"

#define FEED_BATCH 2048

struct feed {
    struct keys *keys;
    struct tepal_hasher hasher;
    bool hex;
    bool weighted;
    bool receipts; /* weighted, and what is behind the tab is a group (receipts.h) */
    size_t field;  /* --field: which one is the key; 0: the whole line */
    int delimiter; /* --delimiter, or -1: blanks */
    const char *stays;
    const char *unit; /* what a key is called where its place is told */
    struct progress progress;
    uint64_t total; /* keys so far, this batch included */
    /* A key that is wrong, to be told once those before it have been handed out. */
    struct {
        const char *why; /* NULL: none */
        uint64_t number;
        size_t place;
    } bad;
    unsigned char *bytes; /* of a key in hexadecimal */
    size_t room;
    struct key key[FEED_BATCH];
    struct tepal_digest digest[FEED_BATCH];
    double weight[FEED_BATCH]; /* of a weighted feed */
};

/*
 * Keys of the operands from `first` on, by the options --null, --hex and --plain. With --field the
 * digest is that of one field; `key` remains the whole line. On the heap; NULL after having said
 * why. Progress is shown, unless --quiet was given (or feed->progress.on is made false).
 */
struct feed *feed_open(const struct args *args, size_t first, const struct tepal_hasher *hasher);

/*
 * Keys of one file. `weighted`: every key is followed by a tab and a weight, a finite number that
 * is not negative; the key is what stands before the last tab.
 */
struct feed *feed_open_file(const struct args *args, const char *const *path,
                            const struct tepal_hasher *hasher, bool weighted);
void feed_close(struct feed *feed);

/*
 * The n-th field (from 1) of a line: between delimiters, or for a delimiter of -1 between runs of
 * blanks and tabs, as awk has it. Empty if there are fewer.
 */
struct key feed_field(const struct key *line, size_t n, int delimiter);

/*
 * The next batch: how many keys, 0 at the end, -1 on a failure that has been said. All keys before
 * one that is wrong have been handed out, whatever the pieces in which they arrived.
 */
ptrdiff_t feed_next(struct feed *feed);

/*
 * All of it into a set, and closes it (NULL: it could not be opened, which has been said). *total
 * (may be NULL) gets how many keys came, repeats included. EXIT_YES, or EXIT_TROUBLE after having
 * said why.
 */
int feed_gather(struct feed *feed, struct digests *set, uint64_t *total);

#endif
