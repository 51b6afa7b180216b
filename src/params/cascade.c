/*
 * cascade.c: the parameters of cascades: how much of the cells belongs to levels beyond the first,
 * and how many these are. Their sizes are in a directory behind the cells, a word for each.
 */
#include "params/params.h"

/* A word of the directory has 56 bits for the size of a level, and 8 for its hashes. */
#define MAX_REST ((uint64_t)1 << 56)

static struct params_verdict check(const struct tepal_params *p)
{
    uint64_t rest = p->cascade.rest_bits;
    uint64_t beyond = p->cascade.rest_levels;
    if (beyond >= TEPAL_MAX_LEVELS) {
        return params_refuse_own(PARAMS_INDEX(cascade.rest_levels),
                                 "a cascade has at most 63 levels");
    }
    if (rest < beyond || (beyond == 0 && rest != 0)) {
        return params_refuse_own(
            PARAMS_INDEX(cascade.rest_bits),
            "the bits beyond the first level do not match the number of levels");
    }
    if (rest >= MAX_REST) {
        return params_refuse_own(PARAMS_INDEX(cascade.rest_bits),
                                 "the levels beyond the first are over the limit of 2^56 bits");
    }
    if (rest >= p->cells) {
        return params_refuse_own(PARAMS_INDEX(cascade.rest_bits),
                                 "the other levels leave no bits for the first");
    }
    /* The whole has passed; if the first level by itself does not, the rest is to blame. */
    struct params_verdict verdict = tepal_params_check_size(p, p->cells - rest, 1);
    return verdict.status == TEPAL_OK
               ? verdict
               : params_refuse_own(PARAMS_INDEX(cascade.rest_bits), verdict.why);
}

static uint64_t payload_bytes(const struct tepal_params *p)
{
    return tepal_params_cells_bytes(p->cells, 1) + 8 * p->cascade.rest_levels;
}

const struct params_rules tepal_cascade_rules = {
    .kind = {.id = TEPAL_KIND_CASCADE,
             .name = "cascade",
             .summary = "filters of each other's errors: no errors on the keys it was built from",
             .promises = TEPAL_NO_FALSE_NEGATIVES},
    .cell_bits = 1,
    .layouts = PARAMS_ALL_LAYOUTS,
    .own = {[PARAMS_INDEX(cascade.rest_bits)] = "bits beyond the first level",
            [PARAMS_INDEX(cascade.rest_levels)] = "levels beyond the first"},
    .check = check,
    .payload_bytes = payload_bytes,
};
