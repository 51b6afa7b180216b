/* one_portable.c: one key of a Bloom filter in plain C, for any machine. */
#define TEPAL_DIRECT_PORTABLE
#include "filter/bloom/one.h"

const struct bloom_one tepal_bloom_one_portable[BLOOM_ONES] = ONE_TABLE;
