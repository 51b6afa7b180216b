/*
 * kernels.h: the kernels over lines: the blocked and paired layouts of the Bloom filter, and what
 * other kinds with lines take from them.
 *
 *   loops.h                     the loops, over a small set of operations on a line
 *   line_portable.h, _avx2.h    these operations on lines of 512 bits (recycling/lines.h has loops
 *                               of its own over them)
 *   loops_portable.c, _avx2.c   the loops over such lines (counting/lines_*.c: over lines of 128)
 *   loops_avx512.c              loops of their own, eight keys at a time (eight.h)
 */
#ifndef TEPAL_SRC_FILTER_LINES_KERNELS_H
#define TEPAL_SRC_FILTER_LINES_KERNELS_H

#include "filter/bloom/kernels.h"

extern const struct bloom_kernels tepal_bloom_lines_portable;
extern const struct bloom_kernels tepal_bloom_lines_avx2;   /* only if tepal_processor_has_avx2() */
extern const struct bloom_kernels tepal_bloom_lines_avx512; /* ... tepal_processor_has_avx512() */

#endif
