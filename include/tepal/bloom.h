/*
 * tepal/bloom.h: what only Bloom filters can do, besides everything in tepal/filter.h: concurrent
 * additions, folding to a smaller size, and changing the layout. Other kinds: TEPAL_UNSUPPORTED.
 *
 * A Bloom filter answers "perhaps" or "certainly not", and is never wrong about a key that was
 * added.
 */
#ifndef TEPAL_BLOOM_H
#define TEPAL_BLOOM_H

#include <tepal/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Concurrent: any number of threads may call these two on one filter at the same time. A query
 * finds every key whose addition happened before it. *was_present (may be NULL) becomes true if all
 * cells were set already. Do not mix with other calls without synchronisation. On other kinds the
 * query is tepal_filter_query.
 */
TEPAL_API enum tepal_status tepal_bloom_add_atomic(struct tepal_filter *filter,
                                                   struct tepal_digest digest, bool *was_present);
TEPAL_API bool tepal_bloom_query_atomic(const struct tepal_filter *filter,
                                        struct tepal_digest digest);

/*
 * A filter of 1/divisor of the size, exactly as if it had been built at that size: each new cell is
 * the OR of `divisor` neighbours. flat: divisor must divide the bits; partitioned: divisor * hashes
 * must; blocked and paired: it must divide the lines. TEPAL_BAD_ARGUMENT for 0. TEPAL_UNSUPPORTED
 * otherwise, and for distinct positions on the flat and paired layouts, which depend on the size in
 * another way (unless there is one hash function).
 */
TEPAL_API enum tepal_status tepal_bloom_fold(const struct tepal_filter *filter, uint64_t divisor,
                                             const struct tepal_allocator *allocator,
                                             struct tepal_filter **out, struct tepal_error *error);

/*
 * The same cells under another layout, where both layouts place every key alike: with one hash
 * function, flat and partitioned agree, and so do blocked and paired. TEPAL_UNSUPPORTED otherwise:
 * rebuild the filter from its keys.
 */
TEPAL_API enum tepal_status tepal_bloom_relayout(const struct tepal_filter *filter,
                                                 enum tepal_layout layout,
                                                 const struct tepal_allocator *allocator,
                                                 struct tepal_filter **out,
                                                 struct tepal_error *error);

#ifdef __cplusplus
}
#endif

#endif
