/*
 * tepal/filter.h: any kind of filter through one handle. The command, the file format and server
 * modules work with this; code that knows its kind calls the typed functions (tepal/bloom.h).
 */
#ifndef TEPAL_FILTER_H
#define TEPAL_FILTER_H

#include <tepal/hash.h>
#include <tepal/params.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tepal_filter;

/*
 * An empty filter. Fails as tepal_params_check does, with TEPAL_TOO_LARGE if this machine cannot
 * address so much memory, or with TEPAL_NO_MEMORY; *why (if why is not NULL) is then a static
 * sentence that tells more. A filter whose params ask for TEPAL_HASH_SIPHASH takes digests at once;
 * give it the key (tepal_filter_set_key) before it takes bytes.
 */
TEPAL_API enum tepal_status tepal_filter_create(const struct tepal_params *params,
                                                const struct tepal_allocator *allocator,
                                                struct tepal_filter **out, const char **why);

/* Frees the filter and, for a mapped one, the mapping. NULL is allowed. */
TEPAL_API void tepal_filter_free(struct tepal_filter *filter);

/*
 * A deep copy, writable even if the original is a read-only view; NULL allocator: the default. The
 * copy of a view is validated: TEPAL_CORRUPT if its cells were mapped unseen and are not sound.
 */
TEPAL_API enum tepal_status tepal_filter_clone(const struct tepal_filter *filter,
                                               const struct tepal_allocator *allocator,
                                               struct tepal_filter **out);

TEPAL_API const struct tepal_kind *tepal_filter_kind(const struct tepal_filter *filter);
TEPAL_API const struct tepal_params *tepal_filter_params(const struct tepal_filter *filter);
TEPAL_API bool tepal_filter_read_only(const struct tepal_filter *filter);

/* How many keys were added, repeats included (a merged filter: the sum). */
TEPAL_API uint64_t tepal_filter_keys_added(const struct tepal_filter *filter);

/* The cells as 64-bit words in the order of the format; for tests, tools and other encoders. */
TEPAL_API const uint64_t *tepal_filter_words(const struct tepal_filter *filter, size_t *count);

/*
 * The secret key of a keyed filter. TEPAL_WRONG_KEY if it is not the one whose check the filter
 * carries; a filter that was just created with a key_check of 0 takes any key and keeps its check.
 * Before that it can be neither saved nor combined (TEPAL_KEY_NEEDED).
 * TEPAL_UNSUPPORTED if the filter is not keyed.
 */
TEPAL_API enum tepal_status tepal_filter_set_key(struct tepal_filter *filter,
                                                 const uint8_t key[TEPAL_KEY_BYTES]);

/* The filter's hasher, to make digests for it. TEPAL_KEY_NEEDED if it is keyed and has no key yet.
 */
TEPAL_API enum tepal_status tepal_filter_hasher(const struct tepal_filter *filter,
                                                struct tepal_hasher *out);

/* Add one or many. TEPAL_READ_ONLY for views. */
TEPAL_API enum tepal_status tepal_filter_add(struct tepal_filter *filter,
                                             struct tepal_digest digest);
TEPAL_API enum tepal_status tepal_filter_add_many(struct tepal_filter *filter,
                                                  const struct tepal_digest *digests, size_t count);

/*
 * Remove one key that was added. TEPAL_NOT_PRESENT if the filter does not find it, or keeps it for
 * a reason of the kind's; nothing has changed then. To remove a key that was never added and is a
 * false positive damages other keys: see the kind. TEPAL_UNSUPPORTED unless it promises
 * TEPAL_DELETABLE, and for a counting filter that is the bits alone.
 */
TEPAL_API enum tepal_status tepal_filter_remove(struct tepal_filter *filter,
                                                struct tepal_digest digest);

/* One after the other; *removed counts those that were. Fails, before the first, as remove does. */
TEPAL_API enum tepal_status tepal_filter_remove_many(struct tepal_filter *filter,
                                                     const struct tepal_digest *digests,
                                                     size_t count, size_t *removed);

/* Is the key (perhaps) in the set? */
TEPAL_API bool tepal_filter_query(const struct tepal_filter *filter, struct tepal_digest digest);

/*
 * Many at once: bit i of `answers` (word i / 64, bit i % 64) tells of digest i; the unused bits of
 * the last word are cleared. answers has (count + 63) / 64 words. Returns how many are present.
 */
TEPAL_API size_t tepal_filter_query_many(const struct tepal_filter *filter,
                                         const struct tepal_digest *digests, size_t count,
                                         uint64_t *answers);

/* Back to empty, parameters kept. */
TEPAL_API enum tepal_status tepal_filter_clear(struct tepal_filter *filter);

/*
 * into := into united (intersected) with other. TEPAL_MISMATCH if the parameters differ (capacity
 * aside), TEPAL_UNSUPPORTED if the kind cannot. The union finds every key that either finds, and of
 * an order-free kind or a counting filter with one choice it is exactly the filter of both sets
 * (with more choices: receipts hold in it, but it has more false positives than one that was filled
 * with all the keys). The intersection holds every common key but may hold more than the filter of
 * the common keys would.
 */
TEPAL_API enum tepal_status tepal_filter_unite(struct tepal_filter *into,
                                               const struct tepal_filter *other);
TEPAL_API enum tepal_status tepal_filter_intersect(struct tepal_filter *into,
                                                   const struct tepal_filter *other);

/* Same parameters (capacity aside) and the same cells. */
TEPAL_API bool tepal_filter_equal(const struct tepal_filter *a, const struct tepal_filter *b);

/*
 * Everything the filter knows about itself, by name. Common to all kinds: kind, layout, positions,
 * bits, hashes, capacity, keys_added, keys_estimated, ones, fill, fp_now, fp_at_capacity, fn_now,
 * seed, keyed, bytes, version. Reads all cells.
 */
TEPAL_API void tepal_filter_info(const struct tepal_filter *filter, struct tepal_report *report);

/*
 * Checks every invariant of the structure. TEPAL_OK, or TEPAL_CORRUPT and a static sentence in *why
 * (if not NULL). Loading has done this already; call it on a view that was mapped lazily, or whose
 * file others may have changed. Reads all cells.
 */
TEPAL_API enum tepal_status tepal_validate(const struct tepal_filter *filter, const char **why);

#ifdef __cplusplus
}
#endif

#endif
