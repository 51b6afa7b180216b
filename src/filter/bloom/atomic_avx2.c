/* atomic_avx2.c: one key of a shared Bloom filter with AVX2. Run only where the machine has it. */
#include "filter/bloom/atomic.h"

const struct bloom_atomic tepal_bloom_atomic_avx2[BLOOM_DIRECT_WAYS] = ATOMIC_TABLE;
