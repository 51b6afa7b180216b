/*
 * tepal/counting.h: the counting Bloom filter and its multichoice form: keys can be removed.
 *
 * Every cell is a counter of 4 bits instead of a bit. Adding a key increments its k counters,
 * removing it decrements them, and a query asks whether all are above 0. With c > 1 choices a key
 * has c possible addresses (groups of k counters); adding picks one of them by a rule, a query asks
 * whether any of them is all above 0 (D. Guo, Y. Liu, X. Li and P. Yang, False Negative Problem of
 * Counting Bloom Filter, IEEE TKDE 22(5), 2010).
 *
 *     struct tepal_params p = TEPAL_PARAMS_INIT;
 *     p.kind = TEPAL_KIND_COUNTING;
 *     p.cells = 160000;                         // counters
 *     p.hashes = 11;
 *     p.own[TEPAL_COUNTING_CHOICES] = 4;
 *     tepal_counting_create(&p, NULL, &f);
 *     tepal_counting_add(f, digest, &group);    // keep the group: log2 c bits
 *     tepal_counting_remove_group(f, digest, group);
 *
 * What removal can do wrong. To remove a key that was never added and happens to be found (a false
 * positive) takes counts from other keys, and some of them are then no longer found: false
 * negatives. With c > 1 even a key that was added can be removed wrongly, when more than one of its
 * groups is all above 0: see enum tepal_counting_policy, and the receipt, which excludes it. With
 * c = 1, and with receipts, removing only what was added never causes a false negative.
 *
 * A counter that reaches 15 sticks there: how many keys share it is no longer known, so it is never
 * decremented again. That can leave false positives behind and never causes a false negative.
 *
 * A bit for each counter (is it above 0?) is kept beside the counters, so that a query reads an
 * eighth of what counters and bits take together: 5 bits a cell in all.
 *
 * Layouts. flat and partitioned: as the Bloom filter's, and with c = 1 the same positions. blocked
 * and paired: lines of 512 bits are 128 counters. Positions of a key that coincide count once.
 *
 * Threads: const calls may run concurrently; calls that change the filter need it for themselves.
 */
#ifndef TEPAL_COUNTING_H
#define TEPAL_COUNTING_H

#include <tepal/bloom.h>
#include <tepal/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tepal_counting;

/*
 * An empty filter of kind TEPAL_KIND_COUNTING; params.cells is the number of counters. Fails as
 * tepal_params_check does, TEPAL_BAD_ARGUMENT if the kind is another, TEPAL_NO_MEMORY.
 */
TEPAL_API enum tepal_status tepal_counting_create(const struct tepal_params *params,
                                                  const struct tepal_allocator *allocator,
                                                  struct tepal_counting **out);
/* The short way: c = 1 on the flat layout, for n keys at a false-positive rate. */
TEPAL_API enum tepal_status tepal_counting_create_for_rate(uint64_t keys, double fp, uint64_t seed,
                                                           struct tepal_counting **out);
TEPAL_API void tepal_counting_free(struct tepal_counting *counting);

/* The same filter through the generic handle, and back (NULL if it is of another kind). */
TEPAL_API struct tepal_filter *tepal_counting_filter(struct tepal_counting *counting);
TEPAL_API const struct tepal_filter *tepal_counting_filter_const(const struct tepal_counting *f);
TEPAL_API struct tepal_counting *tepal_filter_counting(struct tepal_filter *filter);
TEPAL_API const struct tepal_counting *tepal_filter_counting_const(const struct tepal_filter *f);

/*
 * Add a key. *group (if not NULL) becomes the group that was chosen, below c: the receipt, for
 * tepal_counting_remove_group. A key may be added more than once, and is then to be removed as
 * often; each addition has its own receipt. TEPAL_READ_ONLY for views, TEPAL_UNSUPPORTED for the
 * bits alone. Costs c k reads and k writes.
 */
TEPAL_API enum tepal_status tepal_counting_add(struct tepal_counting *counting,
                                               struct tepal_digest digest, uint32_t *group);
/* Many, one after the other as if by single calls; groups (if not NULL) has `count` bytes. */
TEPAL_API enum tepal_status tepal_counting_add_many(struct tepal_counting *counting,
                                                    const struct tepal_digest *digests,
                                                    size_t count, uint8_t *groups);

/* Is the key (perhaps) in the set? As tepal_filter_query and tepal_filter_query_many. */
TEPAL_API bool tepal_counting_query(const struct tepal_counting *counting,
                                    struct tepal_digest digest);
TEPAL_API size_t tepal_counting_query_many(const struct tepal_counting *counting,
                                           const struct tepal_digest *digests, size_t count,
                                           uint64_t *answers);

/* The groups whose counters are all above 0: bit g for group g. 0: the key is not in the filter. */
TEPAL_API uint64_t tepal_counting_groups(const struct tepal_counting *counting,
                                         struct tepal_digest digest);

/*
 * Remove a key, by the rules of Sec. 3: one that is found is removed (rules 1 and 4: the filter
 * cannot know whether it was added), one that is not found is refused (rules 2 and 3) with
 * TEPAL_NOT_PRESENT. If several groups are found, the policy decides; TEPAL_NOT_PRESENT if the key
 * is kept. Whenever the answer is not TEPAL_OK, no counter has changed; the refusal itself is
 * counted in info (refused_removals, kept). TEPAL_READ_ONLY, TEPAL_UNSUPPORTED as add.
 */
TEPAL_API enum tepal_status tepal_counting_remove(struct tepal_counting *counting,
                                                  struct tepal_digest digest);

/*
 * Remove a key from the group that adding it returned. Never takes a wrong address, whatever else
 * is found. TEPAL_BAD_ARGUMENT if group >= c, TEPAL_NOT_PRESENT if the key is not in that group.
 */
TEPAL_API enum tepal_status tepal_counting_remove_group(struct tepal_counting *counting,
                                                        struct tepal_digest digest, uint32_t group);

/*
 * Many, one after the other as if by single calls. groups: a receipt for each, or NULL (by policy).
 * Bit i of `done` (if not NULL; (count + 63) / 64 words) tells whether digest i was removed, and
 * *removed how many were. TEPAL_BAD_ARGUMENT, and nothing is removed, if a group is not below c.
 */
TEPAL_API enum tepal_status tepal_counting_remove_many(struct tepal_counting *counting,
                                                       const struct tepal_digest *digests,
                                                       const uint8_t *groups, size_t count,
                                                       uint64_t *done, size_t *removed);

/*
 * The distinct positions of a key's group, in the order in which they were drawn; out has room
 * for TEPAL_MAX_HASHES. Returns how many: k, or fewer if some coincide. group must be below c.
 */
TEPAL_API uint32_t tepal_counting_positions(const struct tepal_counting *counting,
                                            struct tepal_digest digest, uint32_t group,
                                            uint64_t *out);
/* The counter at a position below params.cells; 0 or 1 for the bits alone. */
TEPAL_API uint32_t tepal_counting_at(const struct tepal_counting *counting, uint64_t position);

/* How many counters have each value. Reads all of them. */
TEPAL_API void tepal_counting_histogram(const struct tepal_counting *counting,
                                        uint64_t histogram[TEPAL_COUNTER_MAX + 1]);

/*
 * The plain Bloom filter of the same keys: a bit wherever a counter is above 0; a fifth of the
 * bytes, for sending. Flat and partitioned layouts with c = 1 only, where a Bloom filter has the
 * same positions; TEPAL_UNSUPPORTED otherwise: then take tepal_counting_strip.
 */
TEPAL_API enum tepal_status tepal_counting_bloom(const struct tepal_counting *counting,
                                                 const struct tepal_allocator *allocator,
                                                 struct tepal_bloom **out);

/*
 * The same filter without its counters: the bits alone, for sending, on any layout and with any c.
 * It answers every query as the original does, and neither adds nor removes.
 */
TEPAL_API enum tepal_status tepal_counting_strip(const struct tepal_counting *counting,
                                                 const struct tepal_allocator *allocator,
                                                 struct tepal_counting **out);

/* What changed between two snapshots, counter by counter. */
struct tepal_counting_change {
    uint64_t rose;    /* counters that are higher now */
    uint64_t fell;    /* counters that are lower now */
    uint64_t unknown; /* counters that are stuck now: what they gained is not known */
};

/*
 * The filter of what was added between two snapshots of one filter, `before` and `now`: each
 * counter is now - before, 0 if it fell, and 15 where it is stuck now. If nothing was removed in
 * between (change->fell is 0 then), it is exactly the filter of the keys that were added, up to
 * stuck counters: it finds all of them. If keys were removed too, it holds the added keys that
 * share no counter with a removed one and may miss others. Swap the snapshots for what was
 * removed. With c > 1, receipts of the keys that were added hold in it too. TEPAL_MISMATCH if the
 * parameters differ (capacity aside), TEPAL_UNSUPPORTED for the bits alone. change may be NULL.
 */
TEPAL_API enum tepal_status tepal_counting_difference(const struct tepal_counting *now,
                                                      const struct tepal_counting *before,
                                                      const struct tepal_allocator *allocator,
                                                      struct tepal_counting_change *change,
                                                      struct tepal_counting **out);

/*
 * What removals have done, told from the list of all members (a key that was added twice is in it
 * twice; receipts, a group for each, or NULL). Fills in the report: members; exposed, those that
 * are not found now (Sec. 3.2); potential, those that would not be found once the members around
 * them are gone (Sec. 3.1); counts that members lack (deficit) and that no member left (surplus);
 * how many wrong removals explain that, and what Theorems 1 to 4 say of so many; p0, p1, p2 and the
 * histogram. Without receipts, a member that is found in several groups is taken to be in the
 * lowest. The theorems are those of the flat layout. Takes as much memory again as the filter.
 * TEPAL_UNSUPPORTED for the bits alone, TEPAL_BAD_ARGUMENT if a receipt is not below c.
 */
TEPAL_API enum tepal_status tepal_counting_audit(const struct tepal_counting *counting,
                                                 const struct tepal_digest *members,
                                                 const uint8_t *receipts, size_t count,
                                                 const struct tepal_allocator *allocator,
                                                 struct tepal_report *report);

#ifdef __cplusplus
}
#endif

#endif
