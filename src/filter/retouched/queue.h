/*
 * queue.h: the bits that sacrifice.c may free, the best first: the largest worth, of equals the
 * lowest bit.
 *
 *     bins      worth >= 8 | ... | 1.02 | 1.00 | .98 | .97 | ...     64 to an octave, unordered
 *                             ^
 *     run       the highest bin that is not empty, sorted; taken from its front
 *     heap      what has come to that bin, or to a higher one, since it was opened
 *
 * Nothing is ever moved: a bit whose worth changes enters once more, and what is in the queue by
 * another worth than its bit has now is passed over. So bins are written in sequence, and only the
 * run and the heap, which are small, are read in any order. And the run tells what will be asked
 * next, so that it can be fetched.
 */
#ifndef TEPAL_SRC_FILTER_RETOUCHED_QUEUE_H
#define TEPAL_SRC_FILTER_RETOUCHED_QUEUE_H

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"

#define QUEUE_BINS  ((size_t)1 << 15)
#define QUEUE_SHIFT 49 /* of an entry's 64 bits, so many are not the number of its bin */
#define QUEUE_CHUNK 62
#define QUEUE_NONE  UINT64_MAX /* no entry: no worth has such bits */

/* An entry: the bits of the worth, then the bit's number inverted. The better, the larger. */
static inline uint64_t queue_entry(float worth, uint32_t bit)
{
    uint32_t word;
    memcpy(&word, &worth, sizeof word);
    return (uint64_t)word << 32 | ~bit;
}

static inline uint32_t queue_bit(uint64_t entry)
{
    return ~(uint32_t)entry;
}

static inline float queue_worth(uint64_t entry)
{
    uint32_t word = (uint32_t)(entry >> 32);
    float worth;
    memcpy(&worth, &word, sizeof worth);
    return worth;
}

struct queue_chunk {
    struct queue_chunk *next;
    size_t count;
    uint64_t entry[QUEUE_CHUNK];
};

/* A growing array. */
struct queue_array {
    uint64_t *entry;
    size_t count;
    size_t room;
};

struct queue {
    struct arena *arena;
    struct queue_chunk **bin; /* the last chunk of each */
    struct queue_chunk *spare;
    size_t pieces; /* chunks taken so far */
    size_t open;   /* the bin of the run: those below are closed */
    struct queue_array run;
    size_t next; /* in the run */
    struct queue_array heap;
    struct queue_array other; /* to sort with */
    bool failed;              /* there was no memory: the queue is not to be used any more */
};

/* Empty. False: no memory. */
bool tepal_queue_open(struct queue *queue, struct arena *arena);
void tepal_queue_clear(struct queue *queue);

void tepal_queue_push(struct queue *queue, uint64_t entry);

/*
 * The best entry, or QUEUE_NONE; `take` removes it. A new run may be opened for it: its entries are
 * run.entry[0 .. run.count), and `next` is 0.
 */
uint64_t tepal_queue_best(struct queue *queue);
void tepal_queue_take(struct queue *queue, uint64_t best);

#endif
