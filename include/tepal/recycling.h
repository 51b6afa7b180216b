/*
 * tepal/recycling.h: the recycling Bloom filter (Dozier, Salamatian and Rubenstein 2024): has this
 * message come by before? For ever, in fixed memory, at a chosen *average* false-positive rate.
 *
 *     struct tepal_recycling *r;
 *     tepal_recycling_create_for_rate(bits, 2, 0.01, seed, &r);   2 phases, 1 % on average
 *     bool seen;
 *     tepal_recycling_seen(r, digest, &seen);                     answers, and remembers it
 *
 * The filter is 1 to 8 *phases*, Bloom filters of params.cells bits each. One is active: messages
 * are inserted there. The others are frozen: they are asked, not written. When the active one is
 * full it freezes, and the oldest phase is cleared and becomes active: the filter *recycles*. With
 * one phase it simply starts anew. So a message is found again for sure as long as its phase lives;
 * later arrivals are false negatives (tepal/model.h tells how many, from the gaps between repeats).
 *
 * Full means, by the rule:
 *   sigma   this message would make the bits set in the active phase exceed sigma
 *   count   this message would be one more than `limit` that set bits in the active phase
 *   time    the phase became active `limit` or more ticks of the caller's clock ago
 *
 * Threads: const calls may run concurrently with each other; all others need the filter alone.
 */
#ifndef TEPAL_RECYCLING_H
#define TEPAL_RECYCLING_H

#include <tepal/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tepal_recycling;

/*
 * From parameters; or for `bits` bits in all phases together at an average false-positive rate of
 * `fp`, on the flat layout, by sigma, retaining (tepal_recycling_plan chooses hashes and sigma).
 * TEPAL_BAD_ARGUMENT, TEPAL_BAD_PARAMETER, TEPAL_TOO_LARGE or TEPAL_NO_MEMORY.
 */
TEPAL_API enum tepal_status tepal_recycling_create(const struct tepal_params *params,
                                                   const struct tepal_allocator *allocator,
                                                   struct tepal_recycling **out);
TEPAL_API enum tepal_status tepal_recycling_create_for_rate(uint64_t bits, uint32_t phases,
                                                            double fp, uint64_t seed,
                                                            struct tepal_recycling **out);
TEPAL_API void tepal_recycling_free(struct tepal_recycling *recycling); /* NULL is allowed */

/* The same filter through the generic handle, and back (NULL if it is of another kind). */
TEPAL_API struct tepal_filter *tepal_recycling_filter(struct tepal_recycling *recycling);
TEPAL_API const struct tepal_filter *
tepal_recycling_filter_const(const struct tepal_recycling *recycling);
TEPAL_API struct tepal_recycling *tepal_filter_recycling(struct tepal_filter *filter);

/* ---- messages -------------------------------------------------------------------------------- */

/*
 * Did this message come before (perhaps)? And remember it: answer and insertion in one walk. This
 * is also what tepal_filter_add does, without telling the answer. TEPAL_READ_ONLY for views.
 */
TEPAL_API enum tepal_status tepal_recycling_seen(struct tepal_recycling *recycling,
                                                 struct tepal_digest digest, bool *seen);

/*
 * Many messages in order, memory prefetched well ahead: the same answers as one by one, also when
 * the filter recycles in between or a message occurs twice. Answers as in tepal_filter_query_many;
 * *count_seen (may be NULL) gets how many were seen.
 */
TEPAL_API enum tepal_status tepal_recycling_seen_many(struct tepal_recycling *recycling,
                                                      const struct tepal_digest *digests,
                                                      size_t count, uint64_t *answers,
                                                      size_t *count_seen);

/* Hashed here. TEPAL_KEY_NEEDED if the filter is keyed and has no key yet. */
TEPAL_API enum tepal_status tepal_recycling_seen_bytes(struct tepal_recycling *recycling,
                                                       const void *key, size_t len, bool *seen);
TEPAL_API enum tepal_status tepal_recycling_seen_u64(struct tepal_recycling *recycling,
                                                     uint64_t key, bool *seen);

/* Ask without inserting. By time, a query answers as of the clock that was last set. */
TEPAL_API bool tepal_recycling_query(const struct tepal_recycling *recycling,
                                     struct tepal_digest digest);
TEPAL_API size_t tepal_recycling_query_many(const struct tepal_recycling *recycling,
                                            const struct tepal_digest *digests, size_t count,
                                            uint64_t *answers);

/* ---- cycles ---------------------------------------------------------------------------------- */

/*
 * It is now `now`, in ticks of the caller's choice (seconds, say); the first call starts the clock.
 * Filters that recycle by time do so here, once for every `limit` ticks since the cycle began (but
 * not more often than there are phases: all are empty then), so that a phase is active for `limit`
 * ticks and gone after phases * limit, whether messages come or not. The others only remember it.
 * TEPAL_CLOCK_BACK if it is earlier than before: nothing has changed. TEPAL_READ_ONLY for views.
 */
TEPAL_API enum tepal_status tepal_recycling_set_clock(struct tepal_recycling *recycling,
                                                      uint64_t now);

/* Recycle now, whatever the rule says. */
TEPAL_API enum tepal_status tepal_recycling_recycle(struct tepal_recycling *recycling);

/* What is known of a cycle when it ends. */
struct tepal_recycling_cycle {
    uint64_t number;   /* 1 for the first */
    uint64_t messages; /* that set bits in the active phase (a trigger that is not kept is not
                          counted) */
    uint64_t ones;     /* bits set in the phase that freezes */
};

/*
 * Called at the end of every cycle, before the oldest phase is cleared; it must not call the
 * filter. NULL: nobody. Not saved with the filter and not cloned.
 */
typedef void tepal_recycling_callback(void *context, const struct tepal_recycling_cycle *cycle);
TEPAL_API void tepal_recycling_on_recycle(struct tepal_recycling *recycling,
                                          tepal_recycling_callback *callback, void *context);

/* Where the filter stands. All of it is kept up to date: cheap to ask at any time. */
struct tepal_recycling_figures {
    uint64_t arrivals; /* messages in all */
    uint64_t fresh;    /* of them, answered "not seen" */
    uint64_t cycles;   /* ended so far */
    uint64_t messages; /* that set bits in the active phase */
    uint64_t ones;     /* bits set in the active phase */
    uint64_t clock;    /* last set; 0: never */
    double fill;       /* ones / cells */
    double fp_now;     /* false-positive rate of the next new message, from the bits set */
    /*
     * False-positive rate so far, averaged over all new messages: estimated from how many messages
     * were answered "not seen" at what fill. 0 before the first.
     */
    double fp_average;
};

/* (It is named as its struct, as stat is; in C++ say `struct tepal_recycling_figures`.) */
#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif
TEPAL_API struct tepal_recycling_figures
tepal_recycling_figures(const struct tepal_recycling *recycling);
#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/* The bits set in a phase: 0 is the active one, 1 the one frozen last. Counts them. */
TEPAL_API uint64_t tepal_recycling_phase_ones(const struct tepal_recycling *recycling,
                                              uint32_t age);

#ifdef __cplusplus
}
#endif

#endif
