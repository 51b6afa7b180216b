/*
 * work.h: what a long call tells its caller on the way (struct tepal_progress), and whether it was
 * stopped. A phase of the work sets the range that its shares fill; shares never fall.
 */
#ifndef TEPAL_SRC_BASE_WORK_H
#define TEPAL_SRC_BASE_WORK_H

#include <tepal/base.h>

#define WORK_KEYS 1024 /* loops over keys tell so often: after microseconds, hardly ever more */

struct work {
    struct tepal_progress to;
    double from;
    double until;
    double told;
    bool stopped;
};

/* Its first phase begins with work_phase. */
static inline struct work work_open(struct tepal_progress to)
{
    return (struct work){.to = to};
}

/* The same, of what may be NULL. */
static inline struct work work_for(const struct tepal_progress *to)
{
    return work_open(to == NULL ? (struct tepal_progress){NULL, NULL} : *to);
}

/* Is it to go on? The share is of the phase. */
static inline bool work_done(struct work *w, double share)
{
    double done = w->from + (w->until - w->from) * (share < 1 ? share : 1);
    w->told = done > w->told ? done : w->told;
    w->stopped = w->stopped || (w->to.go_on != NULL && !w->to.go_on(w->to.ctx, w->told));
    return !w->stopped;
}

/* The same, for the i-th of n keys: it tells now and then. */
static inline bool work_key(struct work *w, uint64_t i, uint64_t n)
{
    return i % WORK_KEYS != 0 || work_done(w, (double)i / (double)n);
}

/* The next phase, which ends at `until`. TEPAL_STOPPED or TEPAL_OK, as the caller says. */
static inline enum tepal_status work_phase(struct work *w, double until)
{
    w->from = w->until;
    w->until = until;
    return work_done(w, 0) ? TEPAL_OK : TEPAL_STOPPED;
}

#endif
