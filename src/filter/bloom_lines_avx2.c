/*
 * bloom_lines_avx2.c: blocked and paired loops with AVX2. Built with -mavx2, run only where the
 * machine has it.
 */
#include "cells/bits.h"
#include "filter/bloom_kernels.h"

#if defined(__AVX2__)

#include "filter/line_avx2.h"

#include "filter/bloom_lines.h"

const struct bloom_kernels tepal_bloom_lines_avx2 = {lines_add, lines_query};

#else

const struct bloom_kernels tepal_bloom_lines_avx2 = {0};

#endif
