/*
 * tepal/counting.h: the counting Bloom filter and its multichoice form: keys can be removed.
 *
 * Every cell is a counter of 4 bits (or 8) instead of a bit. Adding a key increments its k
 * counters, removing it decrements them, and a query checks whether all are above 0. With c > 1
 * choices a key has c possible addresses (groups of k counters); adding picks one of them by a
 * rule, a query checks whether any of them is all above 0 (D. Guo, Y. Liu, X. Li and P. Yang, False
 * Negative Problem of Counting Bloom Filter, IEEE TKDE 22(5), 2010).
 *
 * One choice needs tepal/filter.h alone: tepal_filter_add, _query, _remove. This header is for
 * receipts, and for what only counters can do. Other kinds: TEPAL_UNSUPPORTED.
 *
 *     struct tepal_params p = TEPAL_PARAMS_INIT;
 *     p.kind = TEPAL_KIND_COUNTING;
 *     p.cells = 160000;                         counters
 *     p.hashes = 11;
 *     p.counting.choices = 4;
 *     tepal_filter_create(&p, NULL, &f, &error);
 *     tepal_counting_add(f, digest, &group);    keep the group: log2 c bits
 *     tepal_counting_remove_group(f, digest, group);
 *
 * What can go wrong with removal. Removing a key that was never added and happens to be found (a
 * false positive) takes counts from other keys, and some of them are then no longer found: false
 * negatives. With c > 1 even a key that was added can be removed wrongly, when more than one of its
 * groups is all above 0: see params.counting.policy, and the receipt, which prevents it. With
 * c = 1, and with receipts, removing only what was added never causes a false negative.
 *
 * A counter that reaches 15 (255) stays there: how many keys share it is no longer known, so it is
 * never decremented again. That can leave false positives behind and never causes a false negative.
 *
 * A bit for each counter (is it above 0?) is kept beside the counters, so that queries touch the
 * bits alone, a fifth of the memory: 5 bits per cell in total (9 with counters of 8 bits).
 *
 * Layouts. As the Bloom filter's, and with c = 1 the same positions, except on the blocked and
 * paired layouts with short lines (params.counting.lines), which have 128 counters instead of 512.
 * Positions of a key that coincide count once.
 */
#ifndef TEPAL_COUNTING_H
#define TEPAL_COUNTING_H

#include <tepal/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Add a key. A key has c groups; the receipt is the number of the one that was chosen, below c, and
 * goes to *group (may be NULL), for tepal_counting_remove_group. TEPAL_UNSUPPORTED for the bits
 * alone, as for all changes. A key may be added more than once, and must then be removed as
 * often; each addition has its own receipt. Costs c k reads and k writes.
 */
TEPAL_API enum tepal_status tepal_counting_add(struct tepal_filter *filter,
                                               struct tepal_digest digest, uint8_t *group);
/* Many keys, as if by single calls in this order; `groups` (may be NULL) has `count` bytes. */
TEPAL_API enum tepal_status tepal_counting_add_many(struct tepal_filter *filter,
                                                    const struct tepal_digest *digests,
                                                    size_t count, uint8_t *groups);

/*
 * The same for a set that is known as a whole: the groups are chosen by a search that starts from
 * what tepal_counting_add_many would do, never gives more false positives, and usually about half
 * as many. What is in the filter stays where it is. `groups` may be NULL. Needs the memory of two
 * more such filters, 2 bytes per counter and 2 per key, and the time of some 25 additions per key.
 * TEPAL_READ_ONLY, TEPAL_UNSUPPORTED, TEPAL_NO_MEMORY or, by `progress` (may be NULL),
 * TEPAL_STOPPED, and nothing is added.
 */
TEPAL_API enum tepal_status tepal_counting_add_offline(struct tepal_filter *filter,
                                                       const struct tepal_digest *digests,
                                                       size_t count,
                                                       const struct tepal_progress *progress,
                                                       const struct tepal_allocator *allocator,
                                                       uint8_t *groups, struct tepal_error *error);

/*
 * The groups whose counters are all above 0: bit g for group g. 0: the key is not in the filter, or
 * the filter is of another kind.
 */
TEPAL_API uint64_t tepal_counting_groups(const struct tepal_filter *filter,
                                         struct tepal_digest digest);

/*
 * The groups from which the key could be removed: those whose counters are all above 0. The same
 * unless bits were cleared to avoid keys (tepal/avoid.h): removals ask the counters, so that
 * members that were given up can still be removed. 0 for the bits alone and for other kinds.
 */
TEPAL_API uint64_t tepal_counting_removable(const struct tepal_filter *filter,
                                            struct tepal_digest digest);

/*
 * Remove a key from the group that adding it returned. Never takes a wrong address, whatever other
 * groups match. TEPAL_BAD_ARGUMENT if group >= c, TEPAL_NOT_PRESENT if the key is not in that
 * group. (tepal_filter_remove removes by the rules of Sec. 3: a key that is found is removed, one
 * that is not found is refused; if several groups are found, the policy decides. Whenever the
 * answer is not TEPAL_OK no counter has changed; info counts refused_removals and kept.)
 */
TEPAL_API enum tepal_status tepal_counting_remove_group(struct tepal_filter *filter,
                                                        struct tepal_digest digest, uint32_t group);

/*
 * Many keys, as if by single calls in this order. `groups`: a receipt for each, or NULL (by
 * policy). Bit i of `answers` (may be NULL; (count + 63) / 64 words) is set if digest i was
 * removed, and *removed (may be NULL) is how many were. TEPAL_BAD_ARGUMENT, and nothing is removed,
 * if a group is not below c.
 */
TEPAL_API enum tepal_status tepal_counting_remove_many(struct tepal_filter *filter,
                                                       const struct tepal_digest *digests,
                                                       const uint8_t *groups, size_t count,
                                                       uint64_t *answers, size_t *removed);

/*
 * The distinct positions of a key's group, in the order in which they were drawn; `positions` has
 * room for TEPAL_MAX_HASHES. Returns how many: k, or fewer if some coincide; 0 if group >= c or the
 * filter is of another kind.
 */
TEPAL_API uint32_t tepal_counting_positions(const struct tepal_filter *filter,
                                            struct tepal_digest digest, uint32_t group,
                                            uint64_t *positions);
/*
 * The counter at a position; 0 or 1 for the bits alone; 0 beyond params.cells and for other kinds.
 */
TEPAL_API uint32_t tepal_counting_at(const struct tepal_filter *filter, uint64_t position);

/* How many counters have each value, up to 15 or 255; above that, 0. Reads all of them. */
TEPAL_API enum tepal_status tepal_counting_histogram(const struct tepal_filter *filter,
                                                     uint64_t histogram[TEPAL_MAX_COUNTER + 1]);

/*
 * The plain Bloom filter of the same keys: a bit wherever a counter is above 0; a fifth of the
 * bytes, for sending. Only with c = 1 and without short lines, where a Bloom filter has the same
 * positions; TEPAL_UNSUPPORTED otherwise: use tepal_counting_strip.
 */
TEPAL_API enum tepal_status tepal_counting_to_bloom(const struct tepal_filter *filter,
                                                    const struct tepal_allocator *allocator,
                                                    struct tepal_filter **out,
                                                    struct tepal_error *error);

/*
 * The same filter without its counters: the bits alone, for sending, on any layout and with any c.
 * It answers every query as the original does, but keys can be neither added nor removed.
 */
TEPAL_API enum tepal_status tepal_counting_strip(const struct tepal_filter *filter,
                                                 const struct tepal_allocator *allocator,
                                                 struct tepal_filter **out,
                                                 struct tepal_error *error);

/* What changed between two snapshots, counter by counter. */
struct tepal_counting_change {
    uint64_t rose;    /* counters that are higher now */
    uint64_t fell;    /* counters that are lower now */
    uint64_t unknown; /* counters that are stuck now: how much they gained is not known */
};

/*
 * The filter of what was added between two snapshots of one filter, `before` and `now`: each
 * counter is now - before, 0 if it fell, and stuck where it is stuck now. If nothing was removed in
 * between (change->fell is 0 then), it is exactly the filter of the keys that were added, up to
 * stuck counters: it finds all of them. If keys were removed too, it holds the added keys that
 * share no counter with a removed one and may miss others. Swap the snapshots to get what was
 * removed. With c > 1, receipts of the added keys are valid in it too. *change may be NULL.
 * TEPAL_MISMATCH if the parameters differ (capacity aside), TEPAL_UNSUPPORTED for the bits alone.
 */
TEPAL_API enum tepal_status
tepal_counting_difference(const struct tepal_filter *now, const struct tepal_filter *before,
                          const struct tepal_allocator *allocator, struct tepal_filter **out,
                          struct tepal_counting_change *change, struct tepal_error *error);

/*
 * What removals have done, computed from the list of all members (a key that was added twice is in
 * it twice; receipts, a group for each, or NULL). The report has: members; exposed, those that are
 * not found now (Sec. 3.2); if keys are avoided, given up, those of them that were lost to these
 * and whose counts are all there; potential, those that would not be found once the members around
 * them are gone (Sec. 3.1); counts missing for members (deficit) and counts that belong to no
 * member (surplus); how many wrong removals would explain the deficit, and what Theorems 1 to 4
 * predict for that many; p0, p1, p2 and the histogram. `findings` (may be NULL) has `count` bytes:
 * what holds of each member, bits of enum tepal_counting_finding.
 *
 * With c > 1 and no receipts, which group a member is in is not known. The assignment with the
 * least deficit that a search finds is taken, and the report says `estimated`: right (no deficit)
 * if nothing was removed wrongly, otherwise a guess that may understate the damage.
 *
 * The theorems are those of the flat layout. Needs the filter's memory once more, 2 bytes per
 * counter and 1 per member. TEPAL_UNSUPPORTED for the bits alone, TEPAL_BAD_ARGUMENT if a receipt
 * is not below c, TEPAL_STOPPED by `progress` (may be NULL).
 */
enum tepal_counting_finding {
    TEPAL_COUNTING_EXPOSED = 1,   /* it is not found */
    TEPAL_COUNTING_POTENTIAL = 2, /* it would not be found once others are removed */
    TEPAL_COUNTING_SEVERAL = 4,   /* it is found in several groups */
    TEPAL_COUNTING_GIVEN_UP = 8   /* it is not found because a key is avoided (tepal/avoid.h) */
};

TEPAL_API enum tepal_status
tepal_counting_audit(const struct tepal_filter *filter, const struct tepal_digest *members,
                     const uint8_t *receipts, size_t count, const struct tepal_progress *progress,
                     const struct tepal_allocator *allocator, uint8_t *findings,
                     struct tepal_report *report, struct tepal_error *error);

/*
 * Undo what wrong removals did to these members: every counter that lacks counts gets them. Then
 * no member is exposed and none is potential, in any order of removal. Members and receipts are as
 * for the audit; a list of some of the members repairs what these lack. Nothing is taken from any
 * counter, so that counts which belong to nobody stay; bits that were cleared to avoid keys stay
 * cleared, and members given up for them stay lost. Fails as the audit does, and with
 * TEPAL_READ_ONLY for a view, leaving the filter unchanged. *repair (may be NULL) tells the cost.
 */
struct tepal_counting_repaired {
    bool estimated;     /* the groups were: see the audit */
    uint64_t exposed;   /* members that were not found, and are now */
    uint64_t potential; /* members that would have been lost, these included */
    uint64_t counts;    /* given back */
    uint64_t counters;  /* that got them */
    uint64_t zeros;     /* of these, counters that were 0: the cost in false positives */
};

TEPAL_API enum tepal_status
tepal_counting_repair(struct tepal_filter *filter, const struct tepal_digest *members,
                      const uint8_t *receipts, size_t count, const struct tepal_progress *progress,
                      const struct tepal_allocator *allocator,
                      struct tepal_counting_repaired *repair, struct tepal_error *error);

#ifdef __cplusplus
}
#endif

#endif
