/* one_avx2.c: one key of a chain with AVX2. Run only where the machine has it. */
#include "filter/chain/one.h"

const struct chain_one tepal_chain_one_avx2[CHAIN_ONES] = ONE_TABLE;
