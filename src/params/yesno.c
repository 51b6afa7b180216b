/*
 * yesno.c: the parameters of yes-no filters: the sizes of the no-filters and how they hash. The
 * cells are those of the yes-filter and then those of every no-filter.
 */
#include "params/params.h"

#include <string.h>

#include "base/checked.h"

#define MOST_SALT (((uint64_t)1 << 20) - 1)

enum tepal_status tepal_yesno_params(uint64_t p, uint32_t k, uint64_t q, uint64_t r,
                                     uint32_t no_hashes, struct tepal_params *params)
{
    uint64_t no_bits;
    uint64_t cells;
    if (!checked_mul(q, r, &no_bits) || !checked_add(p, no_bits, &cells)) {
        return TEPAL_TOO_LARGE;
    }
    params->kind = TEPAL_KIND_YESNO;
    params->cells = cells;
    params->hashes = k;
    memset(params->own, 0, sizeof params->own);
    params->own[TEPAL_YESNO_NO_BITS] = r == 0 ? 0 : q;
    params->own[TEPAL_YESNO_NO_FILTERS] = r;
    params->own[TEPAL_YESNO_NO_HASHES] = r == 0 ? 0 : no_hashes;
    return TEPAL_OK;
}

uint64_t tepal_yesno_yes_bits(const struct tepal_params *params)
{
    return params->cells - params->own[TEPAL_YESNO_NO_BITS] * params->own[TEPAL_YESNO_NO_FILTERS];
}

static struct params_verdict check_absent(const struct tepal_params *p)
{
    static const enum tepal_yesno_own theirs[] = {TEPAL_YESNO_NO_BITS, TEPAL_YESNO_NO_HASHES,
                                                  TEPAL_YESNO_OWN_SEEDS};
    for (size_t i = 0; i < PARAMS_COUNT(theirs); i++) {
        if (p->own[theirs[i]] != 0) {
            return params_refuse_own(theirs[i],
                                     "without no-filters their bits, hashes and seeds must be 0");
        }
    }
    return PARAMS_PASSED;
}

static struct params_verdict check_no_filters(const struct tepal_params *p)
{
    uint64_t q = p->own[TEPAL_YESNO_NO_BITS];
    uint64_t r = p->own[TEPAL_YESNO_NO_FILTERS];
    uint64_t hashes = p->own[TEPAL_YESNO_NO_HASHES];
    if (r == 0) {
        return check_absent(p);
    }
    if (r > TEPAL_YESNO_MOST_FILTERS) {
        return params_refuse_own(TEPAL_YESNO_NO_FILTERS,
                                 "the number of no-filters is over the limit of 64");
    }
    if (q == 0 || q > UINT32_MAX) {
        return params_refuse_own(TEPAL_YESNO_NO_BITS, "a no-filter must have 1 to 2^32 - 1 bits");
    }
    if (hashes == 0 || hashes > TEPAL_MAX_HASHES) {
        return params_refuse_own(TEPAL_YESNO_NO_HASHES,
                                 "the number of no-filter hashes must be 1 to 64");
    }
    if (q * r >= p->cells) {
        return params_refuse_own(
            TEPAL_YESNO_NO_BITS,
            "the no-filters leave no bit to the yes-filter: r times q must be less than "
            "the size");
    }
    if (p->positions == TEPAL_POSITIONS_DISTINCT && hashes > q) {
        return params_refuse_own(TEPAL_YESNO_NO_HASHES,
                                 "distinct positions need at least one bit of a no-filter a hash");
    }
    return PARAMS_PASSED;
}

static struct params_verdict check(const struct tepal_params *p)
{
    if (p->own[TEPAL_YESNO_OWN_SEEDS] > 1) {
        return params_refuse_own(TEPAL_YESNO_OWN_SEEDS,
                                 "no-filters either have seeds of their own (1) or not (0)");
    }
    if (p->own[TEPAL_YESNO_SALT] > MOST_SALT) {
        return params_refuse_own(TEPAL_YESNO_SALT, "the salt is over the limit of 2^20 - 1");
    }
    struct params_verdict verdict = check_no_filters(p);
    if (verdict.status != TEPAL_OK) {
        return verdict;
    }
    /* The whole has passed; if the yes-filter by itself does not, the no-filters are to blame. */
    verdict = tepal_params_check_size(p, tepal_yesno_yes_bits(p), 1);
    return verdict.status == TEPAL_OK ? verdict
                                      : params_refuse_own(TEPAL_YESNO_NO_BITS, verdict.why);
}

const struct params_rules tepal_yesno_rules = {
    .kind = {.id = TEPAL_KIND_YESNO,
             .name = "yesno",
             .summary = "a Bloom filter that vetoes known negatives, without false negatives",
             .promises = TEPAL_NO_FALSE_NEGATIVES},
    .cell_bits = 1,
    .layouts = PARAMS_ALL_LAYOUTS,
    .own = {[TEPAL_YESNO_NO_BITS] = "bits of a no-filter",
            [TEPAL_YESNO_NO_FILTERS] = "no-filters",
            [TEPAL_YESNO_NO_HASHES] = "hashes of a no-filter",
            [TEPAL_YESNO_OWN_SEEDS] = "seeds of their own",
            [TEPAL_YESNO_SALT] = "salt"},
    .check = check,
};
