/*
 * flat_avx2.c: flat and partitioned loops for machines with AVX2 and the bit manipulation
 * extensions that come with it.
 */
#include "cells/bits.h"
#include "filter/bloom/kernels.h"

#if defined(__AVX2__)

#include "filter/bloom/flat.h"

const struct bloom_kernels tepal_bloom_flat_avx2 = {flat_add, flat_query, flat_inside};

#else

const struct bloom_kernels tepal_bloom_flat_avx2 = {0};

#endif
