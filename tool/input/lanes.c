/*
 * lanes.c: a ring of slots behind one mutex.
 *
 *     handed   claimed        taken                  handed + slots
 *       |  done  |  waits for  |        free           |
 *       |or busy |  a worker   |                       |
 *
 * All three only grow; the slot of piece i is i % slots. Pieces are long (a tenth of a millisecond
 * and more), so the mutex is hardly ever contended.
 */
#define _POSIX_C_SOURCE 200809L
#include "input/lanes.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How often somebody who waits looks for news before he sleeps: some 20 microseconds. */
#define LOOKS 100

struct lanes {
    struct lanes_job job;
    atomic_uint told; /* grows with every piece of news */
    void *const *slot;
    size_t slots;
    bool *done;
    uint64_t handed;  /* pieces that lanes_next is through with */
    uint64_t claimed; /* pieces on which work has begun */
    uint64_t taken;
    bool out;    /* piece `handed` is with the caller */
    bool taking; /* somebody is in `take` */
    bool ended;  /* there are no more pieces */
    bool stopped;
    pthread_mutex_t mutex;
    pthread_cond_t news;
    unsigned threads;
    bool started;
    unsigned lanes; /* numbers given out to threads */
    pthread_t thread[LANES_MOST];
};

unsigned lanes_cores(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > LANES_MOST ? LANES_MOST : (unsigned)count;
}

size_t lanes_slots(unsigned jobs)
{
    return jobs <= 1 ? 1 : 2 * (size_t)jobs + 2;
}

struct lanes *lanes_open(const struct lanes_job *job, void *const *slot)
{
    struct lanes *l = calloc(1, sizeof *l);
    if (l == NULL) {
        return NULL;
    }
    l->job = *job;
    l->job.jobs = job->jobs < 1 ? 1 : job->jobs > LANES_MOST ? LANES_MOST : job->jobs;
    l->slot = slot;
    l->slots = lanes_slots(l->job.jobs);
    l->done = calloc(l->slots, sizeof *l->done);
    if (l->done == NULL) {
        free(l);
        return NULL;
    }
    pthread_mutex_init(&l->mutex, NULL);
    pthread_cond_init(&l->news, NULL);
    return l;
}

/* ---- news, with the mutex held --------------------------------------------------------------- */

static void tell(struct lanes *l)
{
    atomic_fetch_add(&l->told, 1);
    pthread_cond_broadcast(&l->news);
}

/*
 * Somebody else is in the middle of a piece, which is over soon: falling asleep and being woken
 * takes longer than that, and the one who is woken finds himself on the core of him who woke him.
 */
static void await(struct lanes *l)
{
    unsigned before = atomic_load(&l->told);
    pthread_mutex_unlock(&l->mutex);
    for (int i = 0; i < LOOKS && atomic_load(&l->told) == before; i++) {
        sched_yield();
    }
    pthread_mutex_lock(&l->mutex);
    if (atomic_load(&l->told) == before) {
        pthread_cond_wait(&l->news, &l->mutex);
    }
}

/* ---- steps, with the mutex held -------------------------------------------------------------- */

static bool can_take(const struct lanes *l, bool main)
{
    bool may = main ? !l->job.live || l->threads == 0 : !l->job.own;
    return may && !l->ended && !l->taking && l->taken - l->handed < l->slots;
}

static void take(struct lanes *l)
{
    size_t at = (size_t)(l->taken % l->slots);
    l->taking = true;
    pthread_mutex_unlock(&l->mutex);
    bool got = l->job.take(l->job.context, l->slot[at]);
    pthread_mutex_lock(&l->mutex);
    l->taking = false;
    l->ended = !got;
    l->taken += got;
    l->done[at] = false;
    tell(l);
}

static void work_one(struct lanes *l, unsigned lane)
{
    size_t at = (size_t)(l->claimed++ % l->slots);
    pthread_mutex_unlock(&l->mutex);
    l->job.work(l->job.context, l->slot[at], lane);
    pthread_mutex_lock(&l->mutex);
    l->done[at] = true;
    tell(l);
}

static bool step(struct lanes *l, bool main, unsigned lane)
{
    bool ahead = main ? l->job.own : l->job.live; /* nobody else takes: keep them busy */
    if (ahead && can_take(l, main)) {
        take(l);
    } else if (l->claimed < l->taken) {
        work_one(l, lane);
    } else if (can_take(l, main)) {
        take(l);
    } else {
        return false;
    }
    return true;
}

/* ---- threads --------------------------------------------------------------------------------- */

static void *run(void *context)
{
    struct lanes *l = context;
    pthread_mutex_lock(&l->mutex);
    unsigned lane = ++l->lanes;
    while (!l->stopped && !(l->ended && l->claimed == l->taken)) {
        if (!step(l, false, lane)) {
            await(l);
        }
    }
    pthread_mutex_unlock(&l->mutex);
    return NULL;
}

/* Signals that come from outside are the first thread's. One thread less is no failure. */
static void start(struct lanes *l)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    sigdelset(&all, SIGBUS); /* its own fault, in a file that was mapped */
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (l->threads + 1 < l->job.jobs &&
           pthread_create(&l->thread[l->threads], NULL, run, l) == 0) {
        l->threads++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    l->started = true;
}

void *lanes_next(struct lanes *l)
{
    pthread_mutex_lock(&l->mutex);
    if (l->job.eager && !l->started) {
        start(l);
    }
    if (l->out) {
        l->out = false;
        l->handed++;
        tell(l);
        if (!l->started && !l->ended) {
            start(l);
        }
    }
    void *slot = NULL;
    while (slot == NULL && !(l->ended && l->handed == l->taken)) {
        size_t at = (size_t)(l->handed % l->slots);
        if (l->handed < l->claimed && l->done[at]) {
            slot = l->slot[at];
        } else if (!step(l, true, 0)) {
            await(l);
        }
    }
    l->out = slot != NULL;
    pthread_mutex_unlock(&l->mutex);
    return slot;
}

void lanes_close(struct lanes *l)
{
    if (l == NULL) {
        return;
    }
    pthread_mutex_lock(&l->mutex);
    l->stopped = true;
    tell(l);
    pthread_mutex_unlock(&l->mutex);
    if (l->threads > 0 && l->job.interrupt != NULL) {
        l->job.interrupt(l->job.context);
    }
    for (unsigned i = 0; i < l->threads; i++) {
        pthread_join(l->thread[i], NULL);
    }
    pthread_mutex_destroy(&l->mutex);
    pthread_cond_destroy(&l->news);
    free(l->done);
    free(l);
}

/* ---- things that are there ------------------------------------------------------------------- */

struct each {
    void (*work)(void *context, size_t i);
    void *context;
    size_t count;
    size_t next;
};

static bool take_each(void *context, void *slot)
{
    struct each *e = context;
    *(size_t *)slot = e->next;
    return e->next < e->count && ++e->next > 0;
}

static void work_each(void *context, void *slot, unsigned lane)
{
    const struct each *e = context;
    (void)lane;
    e->work(e->context, *(size_t *)slot);
}

bool lanes_each(unsigned jobs, size_t count, void (*work)(void *context, size_t i),
                bool (*then)(void *context, size_t i), void *context)
{
    size_t number[2 * LANES_MOST + 2];
    void *slot[2 * LANES_MOST + 2];
    struct each e = {.work = work, .context = context, .count = count};
    struct lanes_job job = {
        .context = &e, .take = take_each, .work = work_each, .jobs = jobs, .eager = true};
    job.jobs = count < jobs ? (unsigned)count : jobs;
    for (size_t i = 0; i < sizeof slot / sizeof *slot; i++) {
        slot[i] = &number[i];
    }
    struct lanes *lanes = lanes_open(&job, slot);
    if (lanes == NULL) {
        return false;
    }
    size_t *i = lanes_next(lanes);
    while (i != NULL && then(context, *i)) {
        i = lanes_next(lanes);
    }
    lanes_close(lanes);
    return true;
}
