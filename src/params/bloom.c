/* bloom.c: the parameters of Bloom filters: those that all kinds share, and none of their own. */
#include "params/params.h"

const struct params_rules tepal_bloom_rules = {
    .kind = {.id = TEPAL_KIND_BLOOM,
             .name = "bloom",
             .summary = "the Bloom filter: no false negatives, a chosen false-positive rate",
             .promises = TEPAL_NO_FALSE_NEGATIVES | TEPAL_MERGEABLE | TEPAL_ORDER_FREE},
    .cell_bits = 1,
    .layouts = PARAMS_ALL_LAYOUTS,
};
