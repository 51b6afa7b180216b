/*
 * tepal/avoid.h: filters that learn. A service finds out one by one which answers of its filter
 * were wrong; the filter is told, and does not find these keys any more. The price is members that
 * are no longer found either, at most as many as its budget allows.
 *
 *     tepal_avoid_budget(f, 20, &error);                  once: at most 20 members may be lost
 *     tepal_avoid(f, &digest, 1, NULL, &done, &error);    a false positive was seen
 *
 * The selections of B. Donnet, B. Baynat and T. Friedman, Retouched Bloom Filters (CoNEXT 2006),
 * at run time and without the members:
 *
 *   counting          the counters say how many members each bit has. The bit with the smallest
 *                     counter is cleared (Minimum FN), in every group that holds the key, and the
 *                     counters stay. What is lost is bounded by the counters of the cleared bits.
 *   Bloom, retouched  one bit at random (Random). The filter becomes a retouched one, in place.
 *                     What is lost is expected, from the number of bits that are set.
 *
 * Other kinds: TEPAL_UNSUPPORTED. tepal/retouched.h does the same at once for all keys that are
 * known, better, and with the members.
 *
 * Afterwards. Adding a key sets its bits again: members that were lost return, and so may keys that
 * were avoided. Removing asks the counters, so that lost members can be removed. A union finds what
 * either filter finds; its budget is the sum of both. Whoever can choose the keys that are avoided
 * can choose members to be lost, up to the budget.
 */
#ifndef TEPAL_AVOID_H
#define TEPAL_AVOID_H

#include <tepal/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What was done. `expected`: the losses are expectations, of a Bloom or retouched filter. Otherwise
 * they are upper bounds, provided that no key was removed that was not in the filter; and exact for
 * the first bit that is cleared, if no key was added twice.
 */
struct tepal_avoided {
    uint64_t absent;  /* keys that were not found anyway */
    uint64_t avoided; /* keys that were found, and are not any more */
    uint64_t refused; /* keys that are still found: the budget does not allow it */
    uint64_t cleared; /* bits */
    bool expected;
    double lost;      /* members lost by this call */
    double lost_all;  /* by all calls, and by retouching; additions and removals taken off */
    double most_lost; /* the budget */
    double members;   /* counted, or estimated from the bits; those that were lost included */
};

/*
 * The budget: how many members may be lost in total, at least 1 and not below what is lost already.
 * It is saved with the filter, and may be set again. A counting filter can also be created with one
 * (params.counting.most_lost). A Bloom filter becomes a retouched one, and so no longer promises to
 * find all members. TEPAL_READ_ONLY; TEPAL_UNSUPPORTED for other kinds, and for a counting filter
 * without its counters; TEPAL_BAD_ARGUMENT for a number that is too small, or for a Bloom filter in
 * which all bits are set. Nothing is changed then.
 */
TEPAL_API enum tepal_status tepal_avoid_budget(struct tepal_filter *filter, uint64_t members,
                                               struct tepal_error *error);

/*
 * Avoid these keys, one after the other. They must not be members: a member would be lost. A key
 * that would exceed the budget is refused and changes nothing; a counter at its limit does not say
 * how many members it has, so its bit is never cleared. Bit i of `refused` (may be NULL; (count +
 * 63) / 64 words) is set if digest i was refused; *done may be NULL.
 *
 * Costs c k reads for each key; for a Bloom filter, besides, one pass over its bits and on the
 * blocked and paired layouts memory of 32 bytes for each line. TEPAL_BAD_ARGUMENT if the filter has
 * no budget or claims more members than 2^60, TEPAL_NO_MEMORY, or as tepal_avoid_budget; nothing is
 * changed then.
 */
TEPAL_API enum tepal_status tepal_avoid(struct tepal_filter *filter,
                                        const struct tepal_digest *digests, size_t count,
                                        uint64_t *refused, struct tepal_avoided *done,
                                        struct tepal_error *error);

#ifdef __cplusplus
}
#endif

#endif
