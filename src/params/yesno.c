/*
 * yesno.c: the parameters of yes-no filters: the sizes of the no-filters and how they hash. The
 * cells are those of the yes-filter and then those of every no-filter.
 */
#include "params/params.h"

#define MAX_SALT (((uint64_t)1 << 20) - 1)

static struct params_verdict check_absent(const struct tepal_params *p)
{
    static const size_t theirs[] = {PARAMS_INDEX(yesno.no_bits), PARAMS_INDEX(yesno.no_hashes),
                                    PARAMS_INDEX(yesno.own_seeds)};
    for (size_t i = 0; i < PARAMS_COUNT(theirs); i++) {
        if (p->own[theirs[i]] != 0) {
            return params_refuse_own(
                theirs[i], "without no-filters, their bits, hash functions and seeds must be 0");
        }
    }
    return PARAMS_PASSED;
}

static struct params_verdict check_no_filters(const struct tepal_params *p)
{
    uint64_t q = p->yesno.no_bits;
    uint64_t r = p->yesno.no_filters;
    uint64_t hashes = p->yesno.no_hashes;
    if (r == 0) {
        return check_absent(p);
    }
    if (r > TEPAL_MAX_NO_FILTERS) {
        return params_refuse_own(PARAMS_INDEX(yesno.no_filters),
                                 "the number of no-filters is over the limit of 64");
    }
    if (q == 0 || q > UINT32_MAX) {
        return params_refuse_own(PARAMS_INDEX(yesno.no_bits),
                                 "a no-filter must have 1 to 2^32 - 1 bits");
    }
    if (hashes == 0 || hashes > TEPAL_MAX_HASHES) {
        return params_refuse_own(PARAMS_INDEX(yesno.no_hashes),
                                 "the number of hash functions of a no-filter must be 1 to 64");
    }
    if (q * r >= p->cells) {
        return params_refuse_own(
            PARAMS_INDEX(yesno.no_bits),
            "the no-filters leave no bits for the yes-filter: r times q must be less than "
            "the size");
    }
    if (p->positions == TEPAL_POSITIONS_DISTINCT && hashes > q) {
        return params_refuse_own(
            PARAMS_INDEX(yesno.no_hashes),
            "distinct positions need at least one bit per hash function in a no-filter");
    }
    return PARAMS_PASSED;
}

static struct params_verdict check(const struct tepal_params *p)
{
    if (p->yesno.own_seeds > 1) {
        return params_refuse_own(PARAMS_INDEX(yesno.own_seeds),
                                 "no-filters either have seeds of their own (1) or not (0)");
    }
    if (p->yesno.salt > MAX_SALT) {
        return params_refuse_own(PARAMS_INDEX(yesno.salt),
                                 "the salt is over the limit of 2^20 - 1");
    }
    struct params_verdict verdict = check_no_filters(p);
    if (verdict.status != TEPAL_OK) {
        return verdict;
    }
    /* The whole has passed; if the yes-filter by itself does not, the no-filters are to blame. */
    verdict = tepal_params_check_size(p, params_yes_bits(p), 1);
    return verdict.status == TEPAL_OK ? verdict
                                      : params_refuse_own(PARAMS_INDEX(yesno.no_bits), verdict.why);
}

const struct params_rules tepal_yesno_rules = {
    .kind = {.id = TEPAL_KIND_YESNO,
             .name = "yesno",
             .summary = "a Bloom filter that vetoes known negatives, without false negatives",
             .promises = TEPAL_NO_FALSE_NEGATIVES},
    .cell_bits = 1,
    .layouts = PARAMS_ALL_LAYOUTS,
    .own = {[PARAMS_INDEX(yesno.no_bits)] = "bits of a no-filter",
            [PARAMS_INDEX(yesno.no_filters)] = "no-filters",
            [PARAMS_INDEX(yesno.no_hashes)] = "hash functions of a no-filter",
            [PARAMS_INDEX(yesno.own_seeds)] = "seeds of their own",
            [PARAMS_INDEX(yesno.salt)] = "salt"},
    .check = check,
};
