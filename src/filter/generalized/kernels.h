/*
 * kernels.h: the batch loops of the generalized filter, behind one table.
 *
 *   flat.c      the flat layout
 *   lines.h     the blocked layout, over a small set of line operations
 *   lines_*.c   these in plain C and for AVX2: the same answers, bit for bit
 */
#ifndef TEPAL_SRC_FILTER_GENERALIZED_KERNELS_H
#define TEPAL_SRC_FILTER_GENERALIZED_KERNELS_H

#include "filter/generalized/internal.h"

struct generalized_kernels {
    void (*add)(struct tepal_generalized *g, const struct tepal_digest *digests, size_t count);
    /* Answers as in tepal_filter_query_many; count >= 1. */
    size_t (*query)(const struct tepal_generalized *g, const struct tepal_digest *digests,
                    size_t count, uint64_t *answers);
};

extern const struct generalized_kernels tepal_generalized_flat;
extern const struct generalized_kernels tepal_generalized_lines_portable;
extern const struct generalized_kernels tepal_generalized_lines_avx2; /* only on such machines */

#endif
