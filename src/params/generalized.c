/*
 * generalized.c: the parameters of generalized Bloom filters: which of the hashes reset, how many
 * inverted bits are forgiven, how many bits are 1 at first.
 */
#include "params/params.h"

#include <math.h>

uint32_t tepal_generalized_reset_hashes(const struct tepal_params *params)
{
    return (uint32_t)params->own[TEPAL_GENERALIZED_RESET_HASHES];
}

uint32_t tepal_generalized_set_hashes(const struct tepal_params *params)
{
    return params->hashes - (uint32_t)params->own[TEPAL_GENERALIZED_RESET_HASHES];
}

uint32_t tepal_generalized_tolerance(const struct tepal_params *params)
{
    return (uint32_t)params->own[TEPAL_GENERALIZED_TOLERANCE];
}

double tepal_generalized_zeros(const struct tepal_params *params)
{
    return (double)(TEPAL_GENERALIZED_UNIT - params->own[TEPAL_GENERALIZED_ONES]) /
           (double)TEPAL_GENERALIZED_UNIT;
}

enum tepal_status tepal_generalized_params(uint64_t bits, uint32_t reset_hashes,
                                           uint32_t set_hashes, double zeros, uint32_t tolerance,
                                           uint64_t seed, struct tepal_params *out)
{
    if (!(zeros >= 0 && zeros <= 1)) {
        return TEPAL_BAD_ARGUMENT;
    }
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.kind = TEPAL_KIND_GENERALIZED;
    params.cells = bits;
    params.hashes = set_hashes > UINT32_MAX - reset_hashes ? UINT32_MAX : reset_hashes + set_hashes;
    params.seed = seed;
    params.own[TEPAL_GENERALIZED_RESET_HASHES] = reset_hashes;
    params.own[TEPAL_GENERALIZED_TOLERANCE] = tolerance;
    params.own[TEPAL_GENERALIZED_ONES] =
        (uint64_t)llround((1 - zeros) * (double)TEPAL_GENERALIZED_UNIT);
    enum tepal_status status = tepal_params_check(&params, NULL);
    if (status == TEPAL_OK) {
        *out = params;
    }
    return status;
}

static struct params_verdict check(const struct tepal_params *p)
{
    if (p->layout == TEPAL_LAYOUT_PARTITIONED) {
        return params_refuse(PARAMS_LAYOUT,
                             "a generalized filter cannot be partitioned: slices that are only "
                             "ever set or reset saturate; take flat or blocked");
    }
    if (p->layout == TEPAL_LAYOUT_PAIRED) {
        return params_refuse(PARAMS_LAYOUT, "a generalized filter is flat or blocked, not paired");
    }
    if (p->own[TEPAL_GENERALIZED_RESET_HASHES] > p->hashes) {
        return params_refuse_own(TEPAL_GENERALIZED_RESET_HASHES,
                                 "more of the hashes reset than there are hashes");
    }
    if (p->own[TEPAL_GENERALIZED_TOLERANCE] >= p->hashes) {
        return params_refuse_own(
            TEPAL_GENERALIZED_TOLERANCE,
            "the tolerance must be below the number of hashes: every key would pass");
    }
    if (p->own[TEPAL_GENERALIZED_ONES] > TEPAL_GENERALIZED_UNIT) {
        return params_refuse_own(TEPAL_GENERALIZED_ONES,
                                 "the share of bits that are one at first is not within 0..1");
    }
    return PARAMS_PASSED;
}

const struct params_rules tepal_generalized_rules = {
    .kind = {.id = TEPAL_KIND_GENERALIZED,
             .name = "generalized",
             .summary =
                 "a Bloom filter that also resets bits: both errors bounded, whoever fills it",
             .promises = TEPAL_BOUNDED_FALSE_POSITIVES | TEPAL_ENDLESS},
    .cell_bits = 1,
    .layouts = PARAMS_ALL_LAYOUTS, /* so that the check can say why it refuses two of them */
    .own = {[TEPAL_GENERALIZED_RESET_HASHES] = "hashes that reset",
            [TEPAL_GENERALIZED_TOLERANCE] = "tolerance",
            [TEPAL_GENERALIZED_ONES] = "share of ones at first (in units of 2^-32)"},
    .check = check,
};
