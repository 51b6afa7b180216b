/*
 * internal.h: the Bloom filter from the inside, for the kinds that are Bloom filters with a
 * history of their own (retouched): the same bits, asked by the same code.
 *
 *   bloom.c     the kind: construction, one key, batches, whole filters, what the bits say
 *   kernels.h   batches: the table of kernels, and where keys come from; flat*: those of the flat
 *               and partitioned layouts; those of the other layouts are in lines/
 *   rate.c      the false-positive rate that bits have, for every kind that asks bits
 */
#ifndef TEPAL_SRC_FILTER_BLOOM_INTERNAL_H
#define TEPAL_SRC_FILTER_BLOOM_INTERNAL_H

#include <tepal/bloom.h>

#include "filter/bloom/kernels.h"
#include "filter/kind.h"

struct tepal_bloom {
    struct tepal_filter head;
    struct address at;
    const struct bloom_kernels *kernels;
};

extern const struct filter_ops tepal_bloom_ops;

/*
 * What `info` tells of a filter whose first bits are a Bloom filter, with these addresses, that
 * every key has to pass, and the share `passes` of unknown negatives also passes the rest: of the
 * first bits as of any Bloom filter, of both together the rates (`at_capacity` says what that one
 * is). Returns the rate on unknown negatives.
 */
double tepal_bloom_report_part(const struct tepal_filter *filter, const struct address *first,
                               double passes, const char *at_capacity, struct tepal_report *report);

#endif
