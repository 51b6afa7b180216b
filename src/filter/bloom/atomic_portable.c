/* atomic_portable.c: one key of a shared Bloom filter in plain C, for any machine. */
#include "filter/bloom/atomic.h"

const struct bloom_atomic tepal_bloom_atomic_portable[BLOOM_DIRECT_WAYS] = ATOMIC_TABLE;
