/* one_portable.c: one key of a chain in plain C, for any machine. */
#include "filter/chain/one.h"

const struct chain_one tepal_chain_one_portable[CHAIN_ONES] = ONE_TABLE;
