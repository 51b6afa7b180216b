/* one_avx2.c: one key of a Bloom filter with AVX2. Run only where the machine has it. */
#include "filter/bloom/one.h"

const struct bloom_one tepal_bloom_one_avx2[BLOOM_ONES] = ONE_TABLE;
