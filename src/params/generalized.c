/*
 * generalized.c: the parameters of generalized Bloom filters: which of the hashes reset, how many
 * inverted bits are forgiven, how many bits are 1 at first.
 */
#include "params/params.h"

static struct params_verdict check(const struct tepal_params *p)
{
    if (p->layout == TEPAL_LAYOUT_PARTITIONED) {
        return params_refuse(PARAMS_LAYOUT,
                             "a generalized filter cannot be partitioned: slices that are only "
                             "ever set or reset saturate; use flat or blocked");
    }
    if (p->layout == TEPAL_LAYOUT_PAIRED) {
        return params_refuse(PARAMS_LAYOUT, "a generalized filter is flat or blocked, not paired");
    }
    if (p->generalized.reset_hashes > p->hashes) {
        return params_refuse_own(PARAMS_INDEX(generalized.reset_hashes),
                                 "more hash functions reset bits than there are hash functions");
    }
    if (p->generalized.tolerance >= p->hashes) {
        return params_refuse_own(PARAMS_INDEX(generalized.tolerance),
                                 "the tolerance must be below the number of hash functions: "
                                 "otherwise every key is found");
    }
    if (p->generalized.ones > TEPAL_GENERALIZED_UNIT) {
        return params_refuse_own(PARAMS_INDEX(generalized.ones),
                                 "the initial share of ones is not within 0..1");
    }
    return PARAMS_PASSED;
}

const struct params_rules tepal_generalized_rules = {
    .kind = {.id = TEPAL_KIND_GENERALIZED,
             .name = "generalized",
             .summary = "a Bloom filter that also resets bits: both error rates bounded, even if "
                        "others fill it",
             .promises = TEPAL_BOUNDED_FALSE_POSITIVES | TEPAL_ENDLESS},
    .cell_bits = 1,
    .layouts = PARAMS_ALL_LAYOUTS, /* so that the check can say why it refuses two of them */
    .own = {[PARAMS_INDEX(generalized.reset_hashes)] = "hash functions that reset",
            [PARAMS_INDEX(generalized.tolerance)] = "tolerance",
            [PARAMS_INDEX(generalized.ones)] = "initial share of ones (in units of 2^-32)"},
    .check = check,
};
