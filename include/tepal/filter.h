/*
 * tepal/filter.h: the one handle. Every kind of filter is created, filled, queried, combined and
 * freed through it; the headers of the kinds (tepal/counting.h, ...) add only what one kind alone
 * can do, on the same handle.
 *
 *     struct tepal_filter *f;
 *     struct tepal_error error;
 *     if (tepal_filter_create_for_rate(TEPAL_KIND_BLOOM, 1000000, 0.01, 42, &f, &error)) {
 *         fprintf(stderr, "%s\n", error.why);         not TEPAL_OK, which is 0
 *         return 1;
 *     }
 *     tepal_filter_add_bytes(f, "example.org", 11);
 *     if (tepal_filter_query_bytes(f, "example.org", 11))
 *         puts("perhaps");
 *     tepal_filter_free(f);
 *
 * Keys come in three forms, and calls that take keys have the same endings:
 *   (none)   a digest, made by the caller with the filter's seed and key (tepal_filter_hasher):
 *            hash once, query many filters. A digest made with another seed is another key
 *   _bytes   a string of any length, hashed here
 *   _u64     a 64-bit integer, hashed here
 *   _many    an array of digests; _bytes_many, _packed_many, _u64_many and _fixed_many for the
 *            other forms. Much faster than one by one on filters larger than the cache: memory is
 *            prefetched
 * Batches of test_add and remove, and what only one kind can do, take digests alone
 * (tepal_hash_bytes_many makes them).
 *
 * Calls that change a filter fail with TEPAL_UNSUPPORTED if the kind cannot do it, with
 * TEPAL_READ_ONLY if the filter is a mapped file, and with TEPAL_KEY_NEEDED if they have to hash
 * and the filter is keyed but has not been given its secret key. A query cannot fail: a keyed
 * filter without its key answers "perhaps" to every key (tepal_filter_needs_key).
 *
 * Threads: const calls may run concurrently with each other; all others need exclusive access to
 * the filter, except the atomic calls of tepal/bloom.h.
 */
#ifndef TEPAL_FILTER_H
#define TEPAL_FILTER_H

#include <tepal/hash.h>
#include <tepal/params.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tepal_filter;

/* ---- construction ---------------------------------------------------------------------------- */

/*
 * An empty filter. Fails as tepal_params_check does, with TEPAL_TOO_LARGE if this machine cannot
 * address that much memory, or with TEPAL_NO_MEMORY. A filter with the hash TEPAL_HASH_SIPHASH
 * takes digests at once, and bytes and integers after tepal_filter_set_key. Yes-no filters and
 * cascades that veto known keys are built from all of their keys: tepal_yesno_build,
 * tepal_cascade_build.
 */
TEPAL_API enum tepal_status tepal_filter_create(const struct tepal_params *params,
                                                const struct tepal_allocator *allocator,
                                                struct tepal_filter **out,
                                                struct tepal_error *error);

/*
 * The short way: an empty filter for so many keys at this false-positive rate, on the flat layout,
 * sized by tepal_params_for_rate, and failing as it does. For bloom, retouched, generalized,
 * counting, fingerprint, growing and chain; TEPAL_UNSUPPORTED for the others.
 */
TEPAL_API enum tepal_status tepal_filter_create_for_rate(enum tepal_kind_id kind, uint64_t keys,
                                                         double fp, uint64_t seed,
                                                         struct tepal_filter **out,
                                                         struct tepal_error *error);

/* Frees the filter and, for a mapped one, the mapping. NULL is allowed. */
TEPAL_API void tepal_filter_free(struct tepal_filter *filter);

/*
 * A deep copy, writable even if the original is a read-only view. The copy of a view is validated:
 * TEPAL_CORRUPT if its cells were mapped without being read and are not sound.
 */
TEPAL_API enum tepal_status tepal_filter_clone(const struct tepal_filter *filter,
                                               const struct tepal_allocator *allocator,
                                               struct tepal_filter **out,
                                               struct tepal_error *error);

/*
 * The secret key of a keyed filter. TEPAL_WRONG_KEY if it is not the one the filter was made with;
 * a filter that was just created with a key_check of 0 takes any key and stores its check. Before
 * that it can be neither saved nor combined (TEPAL_KEY_NEEDED). TEPAL_UNSUPPORTED if the filter is
 * not keyed.
 */
TEPAL_API enum tepal_status tepal_filter_set_key(struct tepal_filter *filter,
                                                 const uint8_t key[TEPAL_KEY_BYTES]);

/* Is it keyed and still without its key, as after loading it from a file? */
TEPAL_API bool tepal_filter_needs_key(const struct tepal_filter *filter);

/* The filter's hasher, to make digests for it. TEPAL_KEY_NEEDED if it is keyed and has no key. */
TEPAL_API enum tepal_status tepal_filter_hasher(const struct tepal_filter *filter,
                                                struct tepal_hasher *out);

/* ---- adding ---------------------------------------------------------------------------------- */

/*
 * Add one key. TEPAL_FULL if a fingerprint filter, a chain that may not grow (or, rarely, a
 * cascade) has no room left, TEPAL_NO_MEMORY if a growing filter finds neither a slot nor memory or
 * a chain no memory for its next part; nothing has changed then. A key that a chain finds is
 * counted, and nothing else. The key that opens a part of a chain waits until it is cleared.
 */
TEPAL_API enum tepal_status tepal_filter_add(struct tepal_filter *filter,
                                             struct tepal_digest digest);
TEPAL_API enum tepal_status tepal_filter_add_bytes(struct tepal_filter *filter, const void *key,
                                                   size_t len);
TEPAL_API enum tepal_status tepal_filter_add_u64(struct tepal_filter *filter, uint64_t key);

/*
 * Add many keys, in their order: all of them or, if the call fails, none. Keys of any length: key i
 * is the lens[i] bytes at keys[i]. Packed: all in one array, key i from offsets[i] up to
 * offsets[i + 1]; there are count + 1 offsets, and a key that would end before it begins is empty.
 * Fixed: keys of `width` bytes each, stored one after the other.
 * No memory is taken, except by growing filters and chains for what they grow, and for more than
 * 256 keys that are hashed here for a kind that can fail (fingerprint, cascade, growing, chain):
 * these take 16 bytes per key, or fail with TEPAL_NO_MEMORY or TEPAL_TOO_LARGE. A growing filter
 * that takes a batch back keeps its new size. A chain takes memory for all keys of the batch that
 * it does not find, repeats included; a chain that may not grow is full if these are too many.
 */
TEPAL_API enum tepal_status tepal_filter_add_many(struct tepal_filter *filter,
                                                  const struct tepal_digest *digests, size_t count);
TEPAL_API enum tepal_status tepal_filter_add_bytes_many(struct tepal_filter *filter,
                                                        const void *const *keys, const size_t *lens,
                                                        size_t count);
TEPAL_API enum tepal_status tepal_filter_add_packed_many(struct tepal_filter *filter,
                                                         const void *bytes, const uint64_t *offsets,
                                                         size_t count);
TEPAL_API enum tepal_status tepal_filter_add_u64_many(struct tepal_filter *filter,
                                                      const uint64_t *keys, size_t count);
TEPAL_API enum tepal_status tepal_filter_add_fixed_many(struct tepal_filter *filter,
                                                        const void *keys, size_t width,
                                                        size_t count);

/*
 * Query and add in one call: *was_present is what tepal_filter_query would have answered just
 * before. This is how to ask a recycling filter "has this key been seen?". Many: as if one by one,
 * so that a key that occurs twice is present the second time; bit i of `answers` is for digest i,
 * as in tepal_filter_query_many, and *present (may be NULL) gets how many were present. If the
 * call fails no key was added, but `answers` may have been written to.
 */
TEPAL_API enum tepal_status tepal_filter_test_add(struct tepal_filter *filter,
                                                  struct tepal_digest digest, bool *was_present);
TEPAL_API enum tepal_status tepal_filter_test_add_bytes(struct tepal_filter *filter,
                                                        const void *key, size_t len,
                                                        bool *was_present);
TEPAL_API enum tepal_status tepal_filter_test_add_u64(struct tepal_filter *filter, uint64_t key,
                                                      bool *was_present);
TEPAL_API enum tepal_status tepal_filter_test_add_many(struct tepal_filter *filter,
                                                       const struct tepal_digest *digests,
                                                       size_t count, uint64_t *answers,
                                                       size_t *present);

/* ---- querying -------------------------------------------------------------------------------- */

/* Is the key (perhaps) in the set? */
TEPAL_API bool tepal_filter_query(const struct tepal_filter *filter, struct tepal_digest digest);
TEPAL_API bool tepal_filter_query_bytes(const struct tepal_filter *filter, const void *key,
                                        size_t len);
TEPAL_API bool tepal_filter_query_u64(const struct tepal_filter *filter, uint64_t key);

/*
 * Many at once: bit i of `answers` (word i / 64, bit i % 64) is the answer for key i; the unused
 * bits of the last word are cleared. `answers` has room for (count + 63) / 64 words. Returns how
 * many keys are present.
 */
TEPAL_API size_t tepal_filter_query_many(const struct tepal_filter *filter,
                                         const struct tepal_digest *digests, size_t count,
                                         uint64_t *answers);
TEPAL_API size_t tepal_filter_query_bytes_many(const struct tepal_filter *filter,
                                               const void *const *keys, const size_t *lens,
                                               size_t count, uint64_t *answers);
TEPAL_API size_t tepal_filter_query_packed_many(const struct tepal_filter *filter,
                                                const void *bytes, const uint64_t *offsets,
                                                size_t count, uint64_t *answers);
TEPAL_API size_t tepal_filter_query_u64_many(const struct tepal_filter *filter,
                                             const uint64_t *keys, size_t count, uint64_t *answers);
TEPAL_API size_t tepal_filter_query_fixed_many(const struct tepal_filter *filter, const void *keys,
                                               size_t width, size_t count, uint64_t *answers);

/*
 * How often the key was added and not removed: never less, unless a key was removed that was not in
 * the filter, and more if others share its cells. Counting: up to the limit of its counters;
 * fingerprint and growing: exact but for false positives. Other kinds do not count: 1 if it is
 * found, else 0. With choices, the sum over all groups that hold it.
 */
TEPAL_API uint64_t tepal_filter_copies(const struct tepal_filter *filter,
                                       struct tepal_digest digest);

/* ---- removing -------------------------------------------------------------------------------- */

/*
 * Remove one key that was added. TEPAL_NOT_PRESENT if the filter does not find it, or keeps it (see
 * enum tepal_counting_policy); no cell has changed then (a counting filter counts the refusal in
 * its info). Removing a key that was never added and happens to be a false positive damages other
 * keys. TEPAL_UNSUPPORTED unless the kind promises TEPAL_DELETABLE, and for a counting filter that
 * is the bits alone.
 */
TEPAL_API enum tepal_status tepal_filter_remove(struct tepal_filter *filter,
                                                struct tepal_digest digest);
TEPAL_API enum tepal_status tepal_filter_remove_bytes(struct tepal_filter *filter, const void *key,
                                                      size_t len);
TEPAL_API enum tepal_status tepal_filter_remove_u64(struct tepal_filter *filter, uint64_t key);

/*
 * Many keys, in this order; *removed (may be NULL) gets how many were removed. Keys that are not
 * present are skipped; any other failure comes before the first removal.
 */
TEPAL_API enum tepal_status tepal_filter_remove_many(struct tepal_filter *filter,
                                                     const struct tepal_digest *digests,
                                                     size_t count, size_t *removed);

/* ---- whole filters --------------------------------------------------------------------------- */

/* Back to empty; the parameters stay. */
TEPAL_API enum tepal_status tepal_filter_clear(struct tepal_filter *filter);

/*
 * into := into united (intersected) with other. TEPAL_MISMATCH if the parameters differ (capacity
 * aside), TEPAL_UNSUPPORTED if the kind cannot do this, TEPAL_NO_MEMORY, TEPAL_FULL if two growing
 * filters hold more than eight copies of one key together; nothing has changed then. The union
 * finds every key that either finds; for an order-free kind or a counting filter with one choice it
 * is exactly the filter of both sets (with more choices receipts stay valid, but there are more
 * false positives than in a filter that was filled with all the keys). Chains are united part by
 * part, and parts that have more keys together than they have room for let more strangers through.
 * The intersection finds every common key but may find more than the filter of the common keys
 * would.
 */
TEPAL_API enum tepal_status tepal_filter_unite(struct tepal_filter *into,
                                               const struct tepal_filter *other);
TEPAL_API enum tepal_status tepal_filter_intersect(struct tepal_filter *into,
                                                   const struct tepal_filter *other);

/* Same parameters (capacity aside) and the same cells? */
TEPAL_API bool tepal_filter_equal(const struct tepal_filter *a, const struct tepal_filter *b);

/* ---- what a filter is and knows -------------------------------------------------------------- */

/* The kind is static; the parameters belong to the filter and live as long as it does. */
TEPAL_API const struct tepal_kind *tepal_filter_kind(const struct tepal_filter *filter);
TEPAL_API const struct tepal_params *tepal_filter_params(const struct tepal_filter *filter);
TEPAL_API bool tepal_filter_read_only(const struct tepal_filter *filter);

/* How many keys were added, repeats included (a merged filter: the sum). */
TEPAL_API uint64_t tepal_filter_keys_added(const struct tepal_filter *filter);

/*
 * How many of them it holds, by its counts, at any size at once: those added and not removed
 * (counting, fingerprint, growing), those that were not found when they were added (chain), else
 * all that were added.
 */
TEPAL_API uint64_t tepal_filter_keys_now(const struct tepal_filter *filter);

/* The bytes this filter has taken from its allocator (a view: in addition to the mapping). */
TEPAL_API uint64_t tepal_filter_memory_bytes(const struct tepal_filter *filter);

/*
 * The cells as 64-bit words in the order of the format, for tests, tools and other encoders. They
 * belong to the filter, live as long as it does and change with it. NULL and 0 for a filter that
 * has grown: its words are in several arrays, and tepal_encode_range has them in order.
 */
TEPAL_API const uint64_t *tepal_filter_words(const struct tepal_filter *filter, size_t *count);

/*
 * Bits set (counting: counters above 0; fingerprint, growing: slots taken; recycling: in the active
 * phase). Reads all cells, unless the kind counts as it goes (counting, fingerprint, growing,
 * recycling).
 */
TEPAL_API uint64_t tepal_filter_ones(const struct tepal_filter *filter);

/*
 * The false-positive rate of this very filter: the probability that a key drawn at random,
 * unrelated to those added, is found. Computed from the cells, not from a count of keys, so it
 * holds for untrusted filters too. Bloom, retouched, generalized: exact for every layout
 * (generalized on the blocked layout with more than 8 hash functions: very nearly, or its bound
 * where that would take seconds). Fingerprint: exact, at about 50 ns per slot (the fp_now of
 * tepal_filter_info is the model's, for as many keys). Growing: the sum over its entries of what
 * each lets through, which is kept. Chain: exact, from all parts. Counting, yes-no, cascade and
 * recycling: as their info says. Reads all cells, except of counting, growing and recycling
 * filters.
 */
TEPAL_API double tepal_filter_fp_now(const struct tepal_filter *filter);

/*
 * What the filter knows about itself, by name. The summary is cheap at any size: parameters and
 * counts, nothing that reads the cells. The info has everything, and reads all cells. Both have
 * kind, layout, positions, bits, hashes, capacity, keys_added, seed, keyed, bytes and
 * version; the info also keys_estimated, ones, fill, fp_now, fp_at_capacity, fn_now and what the
 * kind adds.
 */
TEPAL_API void tepal_filter_summary(const struct tepal_filter *filter, struct tepal_report *report);
TEPAL_API void tepal_filter_info(const struct tepal_filter *filter, struct tepal_report *report);

/*
 * Checks every invariant of the structure: TEPAL_OK or TEPAL_CORRUPT. Loading has done this
 * already; call it on a view that was mapped lazily, or whose file others may have changed. Reads
 * all cells.
 */
TEPAL_API enum tepal_status tepal_filter_validate(const struct tepal_filter *filter,
                                                  struct tepal_error *error);

#ifdef __cplusplus
}
#endif

#endif
