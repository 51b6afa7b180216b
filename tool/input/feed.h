/*
 * feed.h: keys from files to digests, a batch at a time: what build, add, query and retouch have in
 * common. Blocks are read one after the other, split and hashed by several threads (lanes.h,
 * --jobs), and handed out in order.
 */
#ifndef TOOL_INPUT_FEED_H
#define TOOL_INPUT_FEED_H

#include <tepal/hash.h>

#include "cli/command.h"
#include "input/digests.h"
#include "input/keys.h"
#include "input/lanes.h"
#include "output/progress.h"

#define FEED_BATCH 2048

/* A block of keys. */
struct feed_block {
    struct keys_block text;
    size_t lines; /* those that are no keys (--comments) included */
    size_t count;
    size_t room;
    const void **key; /* where each begins in the text ... */
    size_t *len;      /* ... and how long it is */
    struct tepal_digest *digest;
    double *weight;    /* of a weighted feed */
    uint64_t *answers; /* of feed->then: a bit for each key ... */
    uint64_t result;   /* ... and a number */
    /* After these keys it goes on with one that is wrong, or not at all. */
    struct {
        const char *why; /* NULL: nothing is wrong */
        size_t place;    /* 0: the whole key */
        bool whole;      /* not a key is wrong, but the file */
    } bad;
    unsigned char *bytes; /* of a key in hexadecimal */
    size_t bytes_room;
};

/* What was left out: --comments, --unique. */
struct feed_left {
    uint64_t comments;
    uint64_t repeats;
};

struct feed {
    struct keys *keys;
    struct tepal_hasher hasher;
    char separator;
    bool hex;
    bool weighted;
    bool receipts; /* weighted, and what is behind the tab is a group (receipts.h) */
    bool crlf;     /* --crlf: a carriage return at the end of a line is no part of the key */
    bool comments; /* --comments: lines that begin with # are no keys, nor are empty ones */
    bool unique;   /* --unique: each key once */
    size_t field;  /* --field: which one is the key; 0: the whole line */
    int delimiter; /* --delimiter, or -1: blanks */
    const char *stays;
    const char *unit; /* what a key is called where its place is told */
    struct progress progress;
    uint64_t total; /* keys so far, this batch included */
    struct feed_left left;
    /* To be set before the first batch: how many keys it has at most (FEED_BATCH) ... */
    size_t most;
    /* ... and what is done with every block, by any thread (`lane` tells which), after hashing. */
    void (*then)(void *context, unsigned lane, struct feed_block *block);
    void *then_context;
    bool bare; /* feed_bare */
    unsigned jobs;
    /* The batch. */
    const void **key;
    size_t *len;
    struct tepal_digest *digest;
    double *weight;
    struct feed_block *block; /* the one from which it comes; NULL: none yet */
    /* To be set before the first batch: say if keys come more than once; feed.c sets it back. */
    bool notice_repeats;
    bool told_repeats; /* there were some, and it was said */
    /* The rest is feed.c's. */
    size_t next;         /* of the block's keys: the first that was not handed out */
    uint64_t number;     /* of the block's first line, in its file */
    bool waits;          /* feed_set_wait */
    bool notice;         /* say what may be meant otherwise (look.c) */
    struct digests seen; /* of --unique, or the sample of notice_repeats */
    bool ended;
    struct lanes *lanes;
    struct feed_block *blocks;
    void **slot;
    size_t slots;
    int wake[2]; /* a pipe that ends a read that waits; -1: none */
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

/* No batch is asked for any more: every thread has ended when this returns. */
void feed_stop(struct feed *feed);

/*
 * Before the first batch: nobody will look at digests, if the keys are hashed as they stand in the
 * text (no --hex, --field or --crlf, and no --unique). True: so it is, and `digest` is NULL. Who
 * adds or asks Bloom filters leaves hashing to them: they do it while lines are on their way from
 * the memory.
 */
bool feed_bare(struct feed *feed);

/* A key of the batch, with --field the whole line. */
static inline struct key feed_key(const struct feed *feed, size_t i)
{
    return (struct key){feed->key[i], feed->len[i]};
}

/* How many keys will come, before the first, if counting them is cheap; false: it is not. */
bool feed_count(const struct feed *feed, uint64_t *count);

/* As keys_set_wait, before the first batch: `wait` is called by the thread that calls feed_next. */
void feed_set_wait(struct feed *feed, bool (*wait)(void *context, int fd), void *context);

/* The file of the batch, and the number of the line in it on which its i-th key stands. */
const char *feed_subject(const struct feed *feed);
uint64_t feed_number(const struct feed *feed, size_t i);

/* The batch came from a pipe or a terminal, and ends a block: answer before asking for more. */
bool feed_live(const struct feed *feed);

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
