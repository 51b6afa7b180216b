/*
 * recycling.c: the parameters of recycling filters: phases, what makes one full, and what becomes
 * of the message that finds it full.
 */
#include "params/params.h"

#include <string.h>

enum { FLAG_RETAIN = 1, FLAG_KEEP_TRIGGER = 2, FLAG_ONLY_MISSES = 4, FLAGS_END = 8 };

void tepal_recycling_set_options(struct tepal_params *params,
                                 const struct tepal_recycling_options *options)
{
    params->kind = TEPAL_KIND_RECYCLING;
    memset(params->own, 0, sizeof params->own);
    params->own[TEPAL_RECYCLING_PHASES] = options->phases;
    params->own[TEPAL_RECYCLING_RULE] = (uint64_t)options->rule;
    params->own[TEPAL_RECYCLING_LIMIT] = options->limit;
    params->own[TEPAL_RECYCLING_FLAGS] = (options->retain ? FLAG_RETAIN : 0) |
                                         (options->keep_trigger ? FLAG_KEEP_TRIGGER : 0) |
                                         (options->only_misses ? FLAG_ONLY_MISSES : 0);
}

struct tepal_recycling_options tepal_recycling_options_of(const struct tepal_params *params)
{
    uint64_t flags = params->own[TEPAL_RECYCLING_FLAGS];
    return (struct tepal_recycling_options){
        .phases = (uint32_t)params->own[TEPAL_RECYCLING_PHASES],
        .rule = (enum tepal_recycling_rule)params->own[TEPAL_RECYCLING_RULE],
        .limit = params->own[TEPAL_RECYCLING_LIMIT],
        .retain = (flags & FLAG_RETAIN) != 0,
        .keep_trigger = (flags & FLAG_KEEP_TRIGGER) != 0,
        .only_misses = (flags & FLAG_ONLY_MISSES) != 0,
    };
}

static struct params_verdict check(const struct tepal_params *params)
{
    const uint64_t *own = params->own;
    if (own[TEPAL_RECYCLING_PHASES] < 1 ||
        own[TEPAL_RECYCLING_PHASES] > TEPAL_RECYCLING_MAX_PHASES) {
        return params_refuse_own(TEPAL_RECYCLING_PHASES, "the number of phases must be 1 to 8");
    }
    if (own[TEPAL_RECYCLING_RULE] > TEPAL_RECYCLING_TIME) {
        return params_refuse_own(TEPAL_RECYCLING_RULE,
                                 "a filter recycles by sigma, by count or by time");
    }
    if (own[TEPAL_RECYCLING_FLAGS] >= FLAGS_END) {
        return params_refuse_own(TEPAL_RECYCLING_FLAGS,
                                 "there is an option that a recycling filter does not have");
    }
    if (own[TEPAL_RECYCLING_RULE] == TEPAL_RECYCLING_SIGMA &&
        own[TEPAL_RECYCLING_LIMIT] >= params->cells) {
        return params_refuse_own(TEPAL_RECYCLING_LIMIT,
                                 "sigma must be less than the bits of a phase");
    }
    if (own[TEPAL_RECYCLING_RULE] == TEPAL_RECYCLING_SIGMA &&
        own[TEPAL_RECYCLING_LIMIT] < params->hashes) {
        return params_refuse_own(TEPAL_RECYCLING_LIMIT,
                                 "sigma must be at least the number of hashes");
    }
    if (own[TEPAL_RECYCLING_LIMIT] == 0) {
        return params_refuse_own(
            TEPAL_RECYCLING_LIMIT,
            "the count or time after which a phase is full must be at least 1");
    }
    return PARAMS_PASSED;
}

/* At most 8 phases of 2^57 bytes. */
static uint64_t payload_bytes(const struct tepal_params *params)
{
    return params->own[TEPAL_RECYCLING_PHASES] * tepal_params_cells_bytes(params->cells, 1);
}

const struct params_rules tepal_recycling_rules = {
    .kind = {.id = TEPAL_KIND_RECYCLING,
             .name = "recycling",
             .summary = "an endless stream in fixed memory at a chosen average error",
             .promises = TEPAL_ENDLESS},
    .cell_bits = 1,
    .layouts = PARAMS_ALL_LAYOUTS,
    .own = {[TEPAL_RECYCLING_PHASES] = "phases",
            [TEPAL_RECYCLING_RULE] = "rule",
            [TEPAL_RECYCLING_LIMIT] = "limit",
            [TEPAL_RECYCLING_FLAGS] = "options"},
    .check = check,
    .payload_bytes = payload_bytes,
};
