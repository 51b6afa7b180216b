/*
 * retouched.c: the parameters of retouched filters: a Bloom filter's, for that is what they are,
 * less some of its bits.
 */
#include "params/params.h"

const struct params_rules tepal_retouched_rules = {
    .kind = {.id = TEPAL_KIND_RETOUCHED,
             .name = "retouched",
             .summary =
                 "a Bloom filter with chosen false positives removed, for a few false negatives",
             .promises = TEPAL_ORDER_FREE},
    .cell_bits = 1,
    .layouts = PARAMS_ALL_LAYOUTS,
};
