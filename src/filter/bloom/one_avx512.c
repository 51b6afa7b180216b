/*
 * one_avx512.c: one key of a Bloom filter with AVX-512, on the layouts that gain by it: a line is
 * one vector. Run only where the machine has it.
 */
#include "filter/bloom/internal.h"

#if defined(__AVX512VBMI2__)

#define ONE_LINES_ALONE
#include "filter/bloom/one.h"

const struct bloom_one tepal_bloom_one_avx512[BLOOM_ONES] = {
    [BLOOM_ONE_BLOCKED] = CALLS(blocked), [BLOOM_ONE_PAIRED] = CALLS(paired)};

#else

const struct bloom_one tepal_bloom_one_avx512[BLOOM_ONES] = {0};

#endif
