/*
 * internal.h: the Bloom filter from the inside, for the kinds that are Bloom filters with a
 * history of their own (retouched): the same bits, queried by the same code.
 *
 *   bloom.c     the kind: batches, whole filters, what the bits say
 *   one.h       one key, a function for each layout; one_*.c: these in plain C, for AVX2 and (two
 *               of them) for AVX-512
 *   direct.c    what one key needs of a filter (tepal/inline.h)
 *   atomic.h    one key of a filter that several threads share; atomic_*.c: in plain C, and for
 *               AVX2; atomic.c: the calls
 *   kernels.h   batches: the table of kernels, and where keys come from; flat*: those of the flat
 *               and partitioned layouts; those of the other layouts are in lines/
 *   rate.c      the false-positive rate that bits have, for every kind that asks bits
 */
#ifndef TEPAL_SRC_FILTER_BLOOM_INTERNAL_H
#define TEPAL_SRC_FILTER_BLOOM_INTERNAL_H

#include <tepal/bloom.h>
#include <tepal/inline.h>

#include "filter/bloom/kernels.h"
#include "filter/kind.h"

struct tepal_bloom;

/* The calls that take one key, of a layout. */
struct bloom_one {
    bool (*query)(const struct tepal_filter *filter, struct tepal_digest digest);
    bool (*query_u64)(const struct tepal_filter *filter, uint64_t key); /* unkeyed */
    enum tepal_status (*add)(struct tepal_filter *filter, struct tepal_digest digest);
    enum tepal_status (*add_u64)(struct tepal_filter *filter, uint64_t key); /* unkeyed */
    enum tepal_status (*test_add)(struct tepal_filter *filter, struct tepal_digest digest,
                                  bool *was_present);
};

enum bloom_one_way {
    BLOOM_ONE_FLAT,
    BLOOM_ONE_PARTITIONED,
    BLOOM_ONE_BLOCKED,
    BLOOM_ONE_PAIRED,
    BLOOM_ONE_BLOCKED_TWO, /* more hashes than a line has sectors: two rounds of cells */
    BLOOM_ONE_PAIRED_TWO,
    BLOOM_ONE_DISTINCT, /* flat, distinct positions */
    BLOOM_ONES
};

extern const struct bloom_one tepal_bloom_one_portable[BLOOM_ONES];
extern const struct bloom_one tepal_bloom_one_avx2[BLOOM_ONES]; /* if tepal_processor_has_avx2() */
/* If tepal_processor_has_avx512(), and of one round in a line; the others are NULL. */
extern const struct bloom_one tepal_bloom_one_avx512[BLOOM_ONES];

/* One key of a filter that threads share: are its bits all set? `add` sets them. */
struct bloom_atomic {
    bool (*query)(const struct tepal_bloom *bloom, struct tepal_digest digest);
    bool (*add)(const struct tepal_bloom *bloom, struct tepal_digest digest);
};

#define BLOOM_DIRECT_WAYS (TEPAL_DIRECT_PAIRED_TWO + 1)

/* By enum tepal_direct_way; the second only if tepal_processor_has_avx2(). */
extern const struct bloom_atomic tepal_bloom_atomic_portable[BLOOM_DIRECT_WAYS];
extern const struct bloom_atomic tepal_bloom_atomic_avx2[BLOOM_DIRECT_WAYS];

struct tepal_bloom {
    struct tepal_filter head;
    struct address at;
    struct tepal_direct direct; /* without the handle; the seed's words are there if unkeyed */
    const struct bloom_one *one;
    const struct bloom_atomic *atomic;
    const struct bloom_kernels *kernels;
};

/* So many cells in a line: what their keys have in common there. */
static inline struct tepal_direct_line bloom_line(uint32_t cells)
{
    bool two = cells > ADDRESS_SECTORS;
    uint32_t chosen = address_chosen(cells);
    uint32_t first = two ? ADDRESS_SECTORS : chosen; /* of two rounds the first takes all */
    return (struct tepal_direct_line){.subsets = tepal_address_subsets[first],
                                      .ways = tepal_address_subset_count[first],
                                      .two = two,
                                      .more_subsets = tepal_address_subsets[chosen],
                                      .more_ways = tepal_address_subset_count[chosen]};
}

/* What one key needs of these cells; without a handle. */
struct tepal_direct tepal_bloom_direct(const struct address *at, uint64_t *words);

extern const struct filter_ops tepal_bloom_ops;

/*
 * Its operations (filter_ops), for any kind whose struct begins with a struct tepal_bloom and whose
 * cells are the bits of one. Additions count keys_added; what else a kind counts it counts itself.
 */
void tepal_bloom_op_open(struct tepal_filter *filter);
enum tepal_status tepal_bloom_op_add(struct tepal_filter *filter, struct tepal_digest digest);
enum tepal_status tepal_bloom_op_add_many(struct tepal_filter *filter,
                                          const struct tepal_digest *digests, size_t count);
bool tepal_bloom_op_query(const struct tepal_filter *filter, struct tepal_digest digest);
size_t tepal_bloom_op_query_many(const struct tepal_filter *filter,
                                 const struct tepal_digest *digests, size_t count,
                                 uint64_t *answers);
enum tepal_status tepal_bloom_op_test_add(struct tepal_filter *filter, struct tepal_digest digest,
                                          bool *was_present);
enum tepal_status tepal_bloom_op_test_add_many(struct tepal_filter *filter,
                                               const struct tepal_digest *digests, size_t count,
                                               uint64_t *answers, size_t *present);
void tepal_bloom_op_add_keys(struct tepal_filter *filter, const struct bloom_source *source,
                             size_t count);
size_t tepal_bloom_op_query_keys(const struct tepal_filter *filter,
                                 const struct bloom_source *source, size_t count,
                                 uint64_t *answers);
uint64_t tepal_bloom_op_ones(const struct tepal_filter *filter);
double tepal_bloom_op_fp_now(const struct tepal_filter *filter);

/* How many distinct keys so many ones speak for; infinite if all bits are set. */
double tepal_bloom_estimate(const struct tepal_params *params, uint64_t ones);

/*
 * What `info` tells of a filter whose first bits are a Bloom filter, with these addresses, that
 * every key has to pass, and the share `passes` of unknown negatives also passes the rest: of the
 * first bits as of any Bloom filter, of both together the rates (`at_capacity` says what that one
 * is). Returns the rate on unknown negatives.
 */
double tepal_bloom_report_part(const struct tepal_filter *filter, const struct address *first,
                               double passes, const char *at_capacity, struct tepal_report *report);

#endif
