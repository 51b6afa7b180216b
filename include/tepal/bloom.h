/*
 * tepal/bloom.h: the Bloom filter. Answers "perhaps" or "certainly not"; never wrong about a key
 * that was added.
 *
 *     struct tepal_bloom *b;
 *     if (tepal_bloom_create_for_rate(1000000, 0.01, 42, &b) != TEPAL_OK) ...
 *     tepal_bloom_add_bytes(b, "example.org", 11);
 *     bool maybe;
 *     tepal_bloom_query_bytes(b, "example.org", 11, &maybe);
 *     tepal_bloom_free(b);
 *
 * Threads: const calls may run concurrently with each other. Calls that change the filter need
 * it for themselves, except those named _atomic, which may run concurrently with each other.
 */
#ifndef TEPAL_BLOOM_H
#define TEPAL_BLOOM_H

#include <tepal/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tepal_bloom;

/*
 * From parameters (any layout, positions, hash), or in three short ways on the flat layout: for n
 * keys at a false-positive rate, for a number of bits and hashes (0 hashes: 7), for n keys at so
 * many bits each. TEPAL_BAD_ARGUMENT, TEPAL_BAD_PARAMETER, TEPAL_TOO_LARGE or TEPAL_NO_MEMORY.
 */
TEPAL_API enum tepal_status tepal_bloom_create(const struct tepal_params *params,
                                               const struct tepal_allocator *allocator,
                                               struct tepal_bloom **out);
TEPAL_API enum tepal_status tepal_bloom_create_for_rate(uint64_t keys, double fp, uint64_t seed,
                                                        struct tepal_bloom **out);
TEPAL_API enum tepal_status tepal_bloom_create_with_bits(uint64_t bits, uint32_t hashes,
                                                         uint64_t seed, struct tepal_bloom **out);
TEPAL_API enum tepal_status tepal_bloom_create_bits_per_key(uint64_t keys, double bits_per_key,
                                                            uint64_t seed,
                                                            struct tepal_bloom **out);
TEPAL_API void tepal_bloom_free(struct tepal_bloom *bloom);

/* The same filter through the generic handle, and back (NULL if it is of another kind). */
TEPAL_API struct tepal_filter *tepal_bloom_filter(struct tepal_bloom *bloom);
TEPAL_API const struct tepal_filter *tepal_bloom_filter_const(const struct tepal_bloom *bloom);
TEPAL_API struct tepal_bloom *tepal_filter_bloom(struct tepal_filter *filter);

/* One key, as a digest. A query costs one to k cell reads and stops at the first miss. */
TEPAL_API enum tepal_status tepal_bloom_add(struct tepal_bloom *bloom, struct tepal_digest digest);
TEPAL_API bool tepal_bloom_query(const struct tepal_bloom *bloom, struct tepal_digest digest);

/* One key, as bytes or as an integer, hashed here. TEPAL_KEY_NEEDED if keyed and without its key.
 */
TEPAL_API enum tepal_status tepal_bloom_add_bytes(struct tepal_bloom *bloom, const void *key,
                                                  size_t len);
TEPAL_API enum tepal_status tepal_bloom_add_u64(struct tepal_bloom *bloom, uint64_t key);
TEPAL_API enum tepal_status tepal_bloom_query_bytes(const struct tepal_bloom *bloom,
                                                    const void *key, size_t len, bool *present);
TEPAL_API enum tepal_status tepal_bloom_query_u64(const struct tepal_bloom *bloom, uint64_t key,
                                                  bool *present);

/*
 * Many keys, as digests: memory is prefetched well ahead, which is several times faster than one
 * by one on filters larger than the cache. Answers as in tepal_filter_query_many.
 */
TEPAL_API enum tepal_status tepal_bloom_add_many(struct tepal_bloom *bloom,
                                                 const struct tepal_digest *digests, size_t count);
TEPAL_API size_t tepal_bloom_query_many(const struct tepal_bloom *bloom,
                                        const struct tepal_digest *digests, size_t count,
                                        uint64_t *answers);

/*
 * Many keys hashed on the way, the fastest path: integers, or keys of `width` bytes each, one after
 * the other in memory. Answers as above; *present (may be NULL) gets how many are there.
 * TEPAL_KEY_NEEDED, TEPAL_READ_ONLY, TEPAL_BAD_ARGUMENT (width 0).
 */
TEPAL_API enum tepal_status tepal_bloom_add_u64_many(struct tepal_bloom *bloom,
                                                     const uint64_t *keys, size_t count);
TEPAL_API enum tepal_status tepal_bloom_query_u64_many(const struct tepal_bloom *bloom,
                                                       const uint64_t *keys, size_t count,
                                                       uint64_t *answers, size_t *present);
TEPAL_API enum tepal_status tepal_bloom_add_fixed(struct tepal_bloom *bloom, const void *keys,
                                                  size_t width, size_t count);
TEPAL_API enum tepal_status tepal_bloom_query_fixed(const struct tepal_bloom *bloom,
                                                    const void *keys, size_t width, size_t count,
                                                    uint64_t *answers, size_t *present);

/*
 * Concurrent: any number of threads may call these two on one filter at the same time. A query
 * finds every key whose add happened before it. *was_present (may be NULL) tells whether all cells
 * were set already. Not to be mixed with the other calls without synchronisation.
 */
TEPAL_API enum tepal_status tepal_bloom_add_atomic(struct tepal_bloom *bloom,
                                                   struct tepal_digest digest, bool *was_present);
TEPAL_API bool tepal_bloom_query_atomic(const struct tepal_bloom *bloom,
                                        struct tepal_digest digest);

/* Whole filters; see tepal_filter_clear, _clone, _unite, _intersect and _equal. */
TEPAL_API enum tepal_status tepal_bloom_clear(struct tepal_bloom *bloom);
TEPAL_API enum tepal_status tepal_bloom_clone(const struct tepal_bloom *bloom,
                                              const struct tepal_allocator *allocator,
                                              struct tepal_bloom **out);
TEPAL_API enum tepal_status tepal_bloom_unite(struct tepal_bloom *into,
                                              const struct tepal_bloom *other);
TEPAL_API enum tepal_status tepal_bloom_intersect(struct tepal_bloom *into,
                                                  const struct tepal_bloom *other);
TEPAL_API bool tepal_bloom_equal(const struct tepal_bloom *a, const struct tepal_bloom *b);

/*
 * A filter of 1/divisor of the size, exactly as if it had been built at that size: each new cell is
 * the OR of `divisor` neighbours. flat: divisor must divide the bits; partitioned: divisor * hashes
 * must; blocked and paired: it must divide the lines. TEPAL_UNSUPPORTED otherwise, and for distinct
 * positions on the flat and paired layouts, which depend on the size in another way (with one
 * hash there is no such dependence).
 */
TEPAL_API enum tepal_status tepal_bloom_fold(const struct tepal_bloom *bloom, uint64_t divisor,
                                             const struct tepal_allocator *allocator,
                                             struct tepal_bloom **out);

/*
 * The same cells under another layout, where both put every key at the same places: with one hash,
 * flat and partitioned agree, and so do blocked and paired. TEPAL_UNSUPPORTED otherwise: build the
 * filter again from its keys.
 */
TEPAL_API enum tepal_status tepal_bloom_relayout(const struct tepal_bloom *bloom,
                                                 enum tepal_layout layout,
                                                 const struct tepal_allocator *allocator,
                                                 struct tepal_bloom **out);

/* What the cells say now. Each reads all cells (on the paired layout, some twice). */
TEPAL_API uint64_t tepal_bloom_ones(const struct tepal_bloom *bloom);
TEPAL_API double tepal_bloom_fill_now(const struct tepal_bloom *bloom);

/*
 * The estimated number of distinct keys: how many leave the share of zeros that is there, about
 * -(m/k) ln(1 - fill). Infinite when all cells are set.
 */
TEPAL_API double tepal_bloom_keys_estimated(const struct tepal_bloom *bloom);

/*
 * The false-positive rate of this very filter: the probability that a key drawn at random,
 * unrelated to those added, is answered "perhaps". From the cells, not from a count of keys; exact
 * for every layout (for paired: to 1/lines).
 */
TEPAL_API double tepal_bloom_fp_now(const struct tepal_bloom *bloom);

#ifdef __cplusplus
}
#endif

#endif
