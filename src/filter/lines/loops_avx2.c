/*
 * loops_avx2.c: blocked and paired loops with AVX2. Built with -mavx2, run only where the
 * machine has it.
 */
#include "cells/bits.h"
#include "filter/lines/kernels.h"

#if defined(__AVX2__)

#include "filter/lines/line_avx2.h"

#include "filter/lines/loops.h"

const struct bloom_kernels tepal_bloom_lines_avx2 = {lines_add, lines_query, NULL};

#else

const struct bloom_kernels tepal_bloom_lines_avx2 = {0};

#endif
