/*
 * bloom.c: the parameters of Bloom filters, and of retouched ones, which are Bloom filters that
 * lost some of their bits. All is in what the kinds share; they have no parameters of their own.
 */
#include "params/params.h"

const struct params_rules tepal_bloom_rules = {
    .kind = {.id = TEPAL_KIND_BLOOM,
             .name = "bloom",
             .summary = "the Bloom filter: no false negatives, a chosen rate of false positives",
             .promises = TEPAL_NO_FALSE_NEGATIVES | TEPAL_MERGEABLE | TEPAL_ORDER_FREE},
    .cell_bits = 1,
    .layouts = PARAMS_ALL_LAYOUTS,
};

const struct params_rules tepal_retouched_rules = {
    .kind = {.id = TEPAL_KIND_RETOUCHED,
             .name = "retouched",
             .summary = "a Bloom filter without chosen false positives, for a few false negatives",
             .promises = TEPAL_ORDER_FREE},
    .cell_bits = 1,
    .layouts = PARAMS_ALL_LAYOUTS,
};
