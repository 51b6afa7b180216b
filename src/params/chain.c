/* chain.c: the parameters of chains: how large the parts are, and how they share the rate. */
#include "params/params.h"

#include "base/names.h"

static const char *const series_kinds[] = {"even", "halving"};
static const struct names series_names = NAMES(series_kinds, "unknown");

const char *tepal_chain_series_name(enum tepal_chain_series series)
{
    return names_at(series_names, series);
}

bool tepal_chain_series_parse(const char *name, enum tepal_chain_series *out)
{
    unsigned i;
    bool known = names_find(series_names, name, &i);
    if (known) {
        *out = (enum tepal_chain_series)i;
    }
    return known;
}

#define MAX_GROWTH ((uint64_t)TEPAL_CHAIN_UNIT << 16)

static struct params_verdict check_growth(const struct tepal_chain_params *own)
{
    bool even = own->series == TEPAL_CHAIN_EVEN;
    if (own->first_keys == 0 || own->first_keys > PARAMS_CHAIN_MAX_KEYS) {
        return params_refuse_own(PARAMS_INDEX(chain.first_keys),
                                 "the first part of a chain has room for 1 to 2^56 keys");
    }
    if (own->rate == 0) {
        return params_refuse_own(PARAMS_INDEX(chain.rate), "the rate of a chain is above 0");
    }
    if (own->series >= series_names.count) {
        return params_refuse_own(PARAMS_INDEX(chain.series),
                                 "the series of a chain is neither even nor halving");
    }
    if (own->growth != 0 &&
        (own->growth < TEPAL_CHAIN_UNIT + (uint64_t)even || own->growth > MAX_GROWTH)) {
        return params_refuse_own(PARAMS_INDEX(chain.growth),
                                 "a chain grows by a factor from 1 (even: above 1) to 65536, or "
                                 "by none");
    }
    if (even ? own->planned == 0 || own->planned > TEPAL_MAX_PARTS : own->planned != 0) {
        return params_refuse_own(PARAMS_INDEX(chain.planned),
                                 "an even chain is planned for 1 to 64 parts, another for none");
    }
    return PARAMS_PASSED;
}

static struct params_verdict check(const struct tepal_params *p)
{
    struct params_verdict verdict = check_growth(&p->chain);
    if (verdict.status != TEPAL_OK) {
        return verdict;
    }
    uint64_t parts = params_chain_parts(p);
    uint64_t first = params_chain_first(p);
    if (parts > TEPAL_MAX_PARTS) {
        return params_refuse_own(PARAMS_INDEX(chain.parts), "a chain has at most 64 parts");
    }
    if (p->cells % TEPAL_LINE_BITS != 0) {
        return params_refuse(PARAMS_CELLS,
                             "the parts of a chain are whole cache lines: a multiple of 512 bits");
    }
    if (first % TEPAL_LINE_BITS != 0 || first > p->cells ||
        (p->cells - first) / TEPAL_LINE_BITS < parts - 1 || (parts == 1 && first != p->cells)) {
        return params_refuse_own(PARAMS_INDEX(chain.first_bits),
                                 "the bits of the first part do not match the number of parts");
    }
    /* The whole has passed; if the first part by itself does not, it is to blame. */
    verdict = tepal_params_check_size(p, first, 1);
    return verdict.status == TEPAL_OK
               ? verdict
               : params_refuse_own(PARAMS_INDEX(chain.first_bits), verdict.why);
}

static uint64_t payload_bytes(const struct tepal_params *p)
{
    return tepal_params_cells_bytes(p->cells, 1) + 8 * PARAMS_CHAIN_WORDS * params_chain_parts(p);
}

const struct params_rules tepal_chain_rules = {
    .kind = {.id = TEPAL_KIND_CHAIN,
             .name = "chain",
             .summary = "Bloom filters in a row that grow with their keys and keep their rate",
             .promises = TEPAL_NO_FALSE_NEGATIVES | TEPAL_MERGEABLE},
    .cell_bits = 1,
    .layouts = PARAMS_ALL_LAYOUTS,
    .own = {[PARAMS_INDEX(chain.first_keys)] = "keys of the first part",
            [PARAMS_INDEX(chain.rate)] = "false-positive rate, in units of 2^-64",
            [PARAMS_INDEX(chain.growth)] = "growth, in units of 1/256",
            [PARAMS_INDEX(chain.series)] = "series of sizes and rates",
            [PARAMS_INDEX(chain.planned)] = "planned parts",
            [PARAMS_INDEX(chain.parts)] = "parts now",
            [PARAMS_INDEX(chain.first_bits)] = "bits of the first part"},
    .check = check,
    .payload_bytes = payload_bytes,
};
