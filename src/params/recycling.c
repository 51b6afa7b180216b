/*
 * recycling.c: the parameters of recycling filters: phases, what makes one full, and what becomes
 * of the message that finds it full.
 */
#include "params/params.h"

#define FLAGS_END (TEPAL_RECYCLING_ONLY_MISSES << 1)

static struct params_verdict check(const struct tepal_params *params)
{
    if (params->recycling.phases < 1 || params->recycling.phases > TEPAL_MAX_PHASES) {
        return params_refuse_own(PARAMS_INDEX(recycling.phases),
                                 "the number of phases must be 1 to 8");
    }
    if (params->recycling.rule > TEPAL_RECYCLING_AVERAGE) {
        return params_refuse_own(PARAMS_INDEX(recycling.rule),
                                 "a filter recycles by sigma, by count, by time or by average");
    }
    if (params->recycling.flags >= FLAGS_END) {
        return params_refuse_own(PARAMS_INDEX(recycling.flags),
                                 "unknown option of a recycling filter");
    }
    if (params->recycling.rule == TEPAL_RECYCLING_SIGMA &&
        params->recycling.limit >= params->cells) {
        return params_refuse_own(PARAMS_INDEX(recycling.limit),
                                 "sigma must be less than the bits of a phase");
    }
    if (params->recycling.rule == TEPAL_RECYCLING_SIGMA &&
        params->recycling.limit < params->hashes) {
        return params_refuse_own(PARAMS_INDEX(recycling.limit),
                                 "sigma must be at least the number of hash functions");
    }
    if (params->recycling.limit == 0) {
        return params_refuse_own(
            PARAMS_INDEX(recycling.limit),
            params->recycling.rule == TEPAL_RECYCLING_AVERAGE
                ? "the average rate, in units of 2^-64, must be at least 1"
                : "the count or time after which a phase is full must be at least 1");
    }
    /* The trigger opens the new phase, and all phases share their hash functions. */
    if (params->recycling.rule == TEPAL_RECYCLING_AVERAGE &&
        params->recycling.flags != TEPAL_RECYCLING_RETAIN) {
        return params_refuse_own(
            PARAMS_INDEX(recycling.flags),
            "by average the trigger is retained, not kept, and not only misses are inserted");
    }
    return PARAMS_PASSED;
}

/* At most 8 phases of 2^57 bytes, and a few words. */
static uint64_t payload_bytes(const struct tepal_params *params)
{
    uint64_t words = params->recycling.rule == TEPAL_RECYCLING_AVERAGE ? PARAMS_AVERAGE_WORDS : 0;
    return params->recycling.phases * tepal_params_cells_bytes(params->cells, 1) + 8 * words;
}

const struct params_rules tepal_recycling_rules = {
    .kind = {.id = TEPAL_KIND_RECYCLING,
             .name = "recycling",
             .summary = "for endless streams: fixed memory, a chosen average false-positive rate",
             .promises = TEPAL_ENDLESS},
    .cell_bits = 1,
    .layouts = PARAMS_ALL_LAYOUTS,
    .own = {[PARAMS_INDEX(recycling.phases)] = "phases",
            [PARAMS_INDEX(recycling.rule)] = "rule",
            [PARAMS_INDEX(recycling.limit)] = "limit",
            [PARAMS_INDEX(recycling.flags)] = "options"},
    .check = check,
    .payload_bytes = payload_bytes,
};
