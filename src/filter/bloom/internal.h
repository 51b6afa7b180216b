/*
 * internal.h: the Bloom filter from the inside, for the kinds that are Bloom filters with a
 * history of their own (retouched): the same bits, asked by the same code.
 */
#ifndef TEPAL_SRC_FILTER_BLOOM_INTERNAL_H
#define TEPAL_SRC_FILTER_BLOOM_INTERNAL_H

#include <tepal/bloom.h>

#include "filter/lines/kernels.h"
#include "filter/kind.h"

struct tepal_bloom {
    struct tepal_filter head;
    struct address at;
    const struct bloom_kernels *kernels;
};

extern const struct filter_ops tepal_bloom_ops;

#endif
