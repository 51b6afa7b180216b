/*
 * lanes.h: work that comes in pieces, done by several threads, with results in order.
 *
 *     take, one piece after the other  ->  work, in any thread  ->  lanes_next, in order
 *
 * The thread that calls lanes_next takes and works like the others while it has nothing to hand
 * out, so that N jobs are N threads; with one job there is no other thread. The others are started
 * when the second piece is asked for (unless `eager`): what is short never pays for them.
 */
#ifndef TOOL_INPUT_LANES_H
#define TOOL_INPUT_LANES_H

#include <stdbool.h>
#include <stddef.h>

#define LANES_MOST 64

/* The cores of this machine, at most LANES_MOST. */
unsigned lanes_cores(void);

struct lanes_job {
    void *context;
    /* The next piece into `slot`, one call at a time, in order. False: there is none. */
    bool (*take)(void *context, void *slot);
    /* Work on a piece; `lane` is different for every thread, from 0, below `jobs`. */
    void (*work)(void *context, void *slot, unsigned lane);
    /* End a `take` that waits for somebody, soon; NULL: none does. */
    void (*interrupt)(void *context);
    unsigned jobs; /* threads at work */
    /* `take` may wait for somebody: only the other threads call it. */
    bool live;
    /* Only the thread of lanes_next calls `take`. Not together with `live`. */
    bool own;
    /* Pieces are few and long: start the other threads before the first. */
    bool eager;
};

struct lanes;

/* How many slots there should be for so many jobs. */
size_t lanes_slots(unsigned jobs);

/* `slot` has lanes_slots(job->jobs) slots, which stay the caller's. NULL: no memory. */
struct lanes *lanes_open(const struct lanes_job *job, void *const *slot);

/* The next piece, worked on, until the next call; NULL: there is none. */
void *lanes_next(struct lanes *lanes);

/*
 * The same for `count` things that are there from the beginning: `work` is called for each of them
 * by any thread, and `then` in order by the caller's, until it returns false. False: no memory.
 */
bool lanes_each(unsigned jobs, size_t count, void (*work)(void *context, size_t i),
                bool (*then)(void *context, size_t i), void *context);

/* Whatever is under way ends; every thread has ended when this returns. */
void lanes_close(struct lanes *lanes);

#endif
