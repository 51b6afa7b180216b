/*
 * tepal/fingerprint.h: the fingerprint filter (a cuckoo filter): a set that keys can leave again,
 * in about 12 bits a key for 0.3 % false positives.
 *
 *     struct tepal_fingerprint *seen;
 *     tepal_fingerprint_create_for_rate(1000000, 0.003, 42, &seen);
 *     tepal_fingerprint_add(seen, digest);             TEPAL_FULL: nothing has changed
 *     tepal_fingerprint_query(seen, digest)
 *     tepal_fingerprint_remove(seen, digest);          TEPAL_NOT_PRESENT: nothing has changed
 *
 * Every key leaves a fingerprint of f bits (4..32, chosen at creation) in one of two buckets of
 * four slots. The rules of use:
 *
 *   - It is full at some load, 95 % of the slots and more in all but the smallest filters, and then
 *     says TEPAL_FULL. Nothing has changed and nothing is lost: there is no stash and no victim.
 *     The planners below leave room for the keys they are told of.
 *   - A key may be added several times, and must then be removed as often. Its two buckets have
 *     TEPAL_FINGERPRINT_COPIES slots: that many additions of one key at most, and TEPAL_FULL for
 *     the next. Where a key comes many times, take a counting filter.
 *   - Remove only keys that were added. Then there are no false negatives. A stranger who is a
 *     false positive takes the fingerprint of one member with him, and of one only.
 *   - Two such filters cannot be united.
 *
 * Additions are deterministic: the same keys in the same order give the same cells. The order of
 * additions changes where fingerprints lie but never an answer.
 *
 * Threads: const calls may run concurrently; anything else needs the caller's lock.
 */
#ifndef TEPAL_FINGERPRINT_H
#define TEPAL_FINGERPRINT_H

#include <tepal/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tepal_fingerprint;

/*
 * From parameters of kind TEPAL_KIND_FINGERPRINT (enum tepal_fingerprint_own). The models
 * (tepal/model.h) find them for a rate or a size. Fails as tepal_filter_create does, or with
 * TEPAL_BAD_ARGUMENT if it is another kind.
 */
TEPAL_API enum tepal_status tepal_fingerprint_create(const struct tepal_params *params,
                                                     const struct tepal_allocator *allocator,
                                                     struct tepal_fingerprint **out);

/*
 * For so many keys at this false-positive rate; with so many bits a key in all. TEPAL_BAD_ARGUMENT:
 * no keys, a rate outside 0 < fp < 1, or one or a size that no fingerprint of 4..32 bits gives;
 * TEPAL_TOO_LARGE, TEPAL_NO_MEMORY.
 */
TEPAL_API enum tepal_status tepal_fingerprint_create_for_rate(uint64_t keys, double fp,
                                                              uint64_t seed,
                                                              struct tepal_fingerprint **out);
TEPAL_API enum tepal_status tepal_fingerprint_create_bits_per_key(uint64_t keys,
                                                                  double bits_per_key,
                                                                  uint64_t seed,
                                                                  struct tepal_fingerprint **out);
TEPAL_API void tepal_fingerprint_free(struct tepal_fingerprint *f); /* NULL is allowed */

/* The same filter through the generic handle and back (NULL if it is of another kind). */
TEPAL_API struct tepal_filter *tepal_fingerprint_filter(struct tepal_fingerprint *f);
TEPAL_API struct tepal_fingerprint *tepal_filter_fingerprint(struct tepal_filter *filter);

/*
 * TEPAL_OK, TEPAL_FULL or TEPAL_READ_ONLY. At most a few microseconds even when it is full: the
 * search for room gives up after a fixed number of buckets.
 */
TEPAL_API enum tepal_status tepal_fingerprint_add(struct tepal_fingerprint *f,
                                                  struct tepal_digest digest);

/*
 * All of them or, with TEPAL_FULL, none: every query is answered as before (fingerprints may have
 * changed between their two buckets).
 */
TEPAL_API enum tepal_status tepal_fingerprint_add_many(struct tepal_fingerprint *f,
                                                       const struct tepal_digest *digests,
                                                       size_t count);

/* TEPAL_OK, TEPAL_NOT_PRESENT or TEPAL_READ_ONLY. */
TEPAL_API enum tepal_status tepal_fingerprint_remove(struct tepal_fingerprint *f,
                                                     struct tepal_digest digest);

/* Is the key (perhaps) in the set? Many at once: answers as in tepal_filter_query_many. */
TEPAL_API bool tepal_fingerprint_query(const struct tepal_fingerprint *f,
                                       struct tepal_digest digest);
TEPAL_API size_t tepal_fingerprint_query_many(const struct tepal_fingerprint *f,
                                              const struct tepal_digest *digests, size_t count,
                                              uint64_t *answers);

/* Fingerprints held now, slots in all, and the first over the second. O(1). */
TEPAL_API uint64_t tepal_fingerprint_held(const struct tepal_fingerprint *f);
TEPAL_API uint64_t tepal_fingerprint_slots(const struct tepal_fingerprint *f);
TEPAL_API double tepal_fingerprint_load(const struct tepal_fingerprint *f);

/*
 * The false-positive rate of this very filter, from its slots alone, whoever filled them: exact, at
 * some 50 ns a slot. (tepal_filter_info tells what so many keys make on average.) No slots whatever
 * reach more than 9 / 2^f: eight slots are looked at, and one fingerprint in 2^f - 1 is twice as
 * likely as the others.
 */
TEPAL_API double tepal_fingerprint_fp_now(const struct tepal_fingerprint *f);
TEPAL_API double tepal_fingerprint_fp_bound(const struct tepal_params *params);

#ifdef __cplusplus
}
#endif

#endif
