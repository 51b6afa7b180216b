/*
 * tepal/recycling.h: the recycling Bloom filter (Dozier, Salamatian and Rubenstein 2024): has this
 * key been seen before? On an endless stream, in fixed memory, at a chosen *average* false-positive
 * rate.
 *
 *     struct tepal_params p = TEPAL_PARAMS_INIT;
 *     p.kind = TEPAL_KIND_RECYCLING;
 *     p.cells = 1 << 20;                              bits of one phase; two phases by default
 *     tepal_params_for_rate(&p, 0, 0.01, &error);     1 % on average: sets hashes and the limit
 *     tepal_filter_create(&p, NULL, &f, &error);
 *     tepal_filter_test_add_bytes(f, line, len, &seen);   answers, and remembers it
 *
 * The filter is 1 to 8 *phases*, Bloom filters of params.cells bits each. One is active: keys are
 * inserted there. The others are frozen: they are queried, not written. When the active one is full
 * (params.recycling.rule) it freezes, and the oldest phase is cleared and becomes active: the
 * filter *recycles*. With one phase it simply starts over. So a key is certainly found as long as
 * its phase lives; later arrivals are false negatives (tepal/papers.h predicts how many, from the
 * gaps between repeats). tepal_filter_add is tepal_filter_test_add without the answer.
 *
 * Set p.recycling.rule = TEPAL_RECYCLING_AVERAGE before tepal_params_for_rate, and the filter keeps
 * track of its own chance to find a new key: then the rate holds on streams that repeat, too.
 *
 * Other kinds of filter: TEPAL_UNSUPPORTED.
 */
#ifndef TEPAL_RECYCLING_H
#define TEPAL_RECYCLING_H

#include <tepal/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Sets the clock to `now`, in ticks of the caller's choice (seconds, say); the first call starts
 * it. Filters that recycle by time do so here, once for every `limit` ticks since the cycle began
 * (but not more often than there are phases: all are empty then), so that a phase is active for
 * `limit` ticks and gone after phases * limit, whether keys arrive or not. Other filters only store
 * it. Queries answer as of the clock that was last set. TEPAL_CLOCK_BACK if it is earlier than
 * before: nothing has changed.
 */
TEPAL_API enum tepal_status tepal_recycling_set_clock(struct tepal_filter *filter, uint64_t now);

/* Recycle now, whatever the rule says. */
TEPAL_API enum tepal_status tepal_recycling_recycle(struct tepal_filter *filter);

/*
 * Recycling clears a whole phase at once, which takes a while if it is large. To spread that out,
 * clear the oldest phase in advance, up to `bytes` bytes per call (in whole words of 8); *left (may
 * be NULL) gets how many bytes of it are still to be cleared, 0 when the next recycling will be
 * quick. What is cleared is forgotten early: begin when the active phase is
 * nearly full (by sigma: when figures.ones comes near params.recycling.limit). A filter
 * of one phase has nothing to clear in advance: TEPAL_UNSUPPORTED.
 */
TEPAL_API enum tepal_status tepal_recycling_clear_ahead(struct tepal_filter *filter, uint64_t bytes,
                                                        uint64_t *left);

/*
 * A filter that goes on with what the phases of this one hold, but recycles by average, at a rate
 * of fp, whatever the rule was. Its account of keys and rates begins anew, with the keys that the
 * active phase holds. The flags must be those of the rule average (TEPAL_RECYCLING_RETAIN), else
 * TEPAL_UNSUPPORTED; TEPAL_BAD_ARGUMENT unless 0 < fp < 1, TEPAL_BAD_PARAMETER below 2^-64. The
 * filter itself stays as it is.
 */
TEPAL_API enum tepal_status tepal_recycling_by_average(const struct tepal_filter *filter, double fp,
                                                       const struct tepal_allocator *allocator,
                                                       struct tepal_filter **out,
                                                       struct tepal_error *error);

/* A cycle that has ended. */
struct tepal_recycling_cycle {
    uint64_t number;   /* 1 for the first */
    uint64_t messages; /* that set bits in the active phase (without a trigger that is not kept) */
    uint64_t ones;     /* bits set in the phase that freezes */
};

/*
 * Called at the end of every cycle, before the oldest phase is cleared; it must not call the
 * filter. NULL: no callback. Neither saved with the filter nor cloned.
 */
typedef void tepal_recycling_callback(void *context, const struct tepal_recycling_cycle *cycle);
TEPAL_API enum tepal_status tepal_recycling_on_recycle(struct tepal_filter *filter,
                                                       tepal_recycling_callback *callback,
                                                       void *context);

/*
 * The state of the filter. Kept up to date, so cheap at any time; only a mapped view has to count
 * the bits of its frozen phases.
 */
struct tepal_recycling_figures {
    uint64_t arrivals; /* keys in all, repeats included */
    uint64_t fresh;    /* of them, answered "not seen" */
    uint64_t cycles;   /* ended so far */
    uint64_t messages; /* keys that set bits in the active phase */
    uint64_t ones;     /* bits set in the active phase */
    uint64_t clock;    /* last set; 0: never */
    double fill;       /* ones / cells */
    double fp_now;     /* false-positive rate of the next new key, from the bits set */
    /*
     * False-positive rate so far, averaged over all new keys: estimated from how many keys were
     * answered "not seen" at what fill. 0 before the first. By average: the mean of the filter's
     * own chance to find a new key, over all arrivals; exact on the flat layout with one or two
     * phases, an upper bound with more, and from the model of a phase on the other layouts.
     */
    double fp_so_far;
};
TEPAL_API enum tepal_status tepal_recycling_get_figures(const struct tepal_filter *filter,
                                                        struct tepal_recycling_figures *figures);

#ifdef __cplusplus
}
#endif

#endif
