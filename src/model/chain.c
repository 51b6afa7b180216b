/*
 * chain.c: the parts of a chain of Bloom filters, and what they do together (filter/chain;
 * docs/models.md derives this).
 *
 * A stranger asks every part, and the parts have hash functions of their own: if part i alone
 * answers yes with chance f_i <= F w_i, then all together do with chance
 *
 *     1 - (1 - f_0)(1 - f_1) ... <= f_0 + f_1 + ... <= F (w_0 + w_1 + ...) <= F
 *
 * at every size, since a part never has more keys than it has room for, and its rate rises with
 * them. The shares w_i of a series sum to at most 1, however many parts there are:
 *
 *   halving   1/2 + 1/4 + ... + 2^-j = 1 - 2^-j
 *   even      J planned parts have 7/8 / J each. Part J + x has c/8 / ((x + c)(x + c + 1)), with
 *             c = J/7, so that the shares go on nearly as they were; and since that is
 *             c/8 (1/(x + c) - 1/(x + c + 1)), the first x of them sum to 1/8 (1 - c / (x + c))
 */
#include <math.h>

#include "model/model.h"

#define RESERVE 0.125 /* of the rate, for parts beyond the planned ones */

static double factor(const struct tepal_params *p)
{
    return (double)p->chain.growth / TEPAL_CHAIN_UNIT;
}

double tepal_chain_share(const struct tepal_params *p, uint32_t i)
{
    double planned = (double)p->chain.planned;
    if (p->chain.growth == 0) {
        return i == 0;
    }
    if (p->chain.series == TEPAL_CHAIN_HALVING) {
        return i > 1100 ? 0 : ldexp(0.5, -(int)i); /* below the least double */
    }
    if (i < planned) {
        return (1 - RESERVE) / planned;
    }
    double c = planned * RESERVE / (1 - RESERVE);
    double x = i - planned;
    return RESERVE * c / ((x + c) * (x + c + 1));
}

/* Keys that part i has room for, as multiplications make them: alike on every machine. */
static double room_of(const struct tepal_params *p, uint32_t i)
{
    const double first = (double)p->chain.first_keys;
    double power = first;
    for (uint32_t x = 1; x < i; x++) {
        power *= factor(p);
    }
    if (i == 0) {
        return first;
    }
    return p->chain.series == TEPAL_CHAIN_HALVING
               ? floor(power * factor(p))
               : fmax(floor(power * factor(p)) - floor(power), 1);
}

enum tepal_status tepal_chain_part(const struct tepal_params *p, uint32_t i,
                                   struct tepal_chain_part *out)
{
    if (i >= TEPAL_MAX_PARTS || (i > 0 && p->chain.growth == 0)) {
        return TEPAL_FULL;
    }
    double fp = ldexp((double)p->chain.rate, -64) * tepal_chain_share(p, i);
    double keys = room_of(p, i);
    struct tepal_chain_part part = {.hashes = 0};
    if (keys > (double)PARAMS_CHAIN_MAX_KEYS) {
        return TEPAL_FULL;
    }
    part.keys = (uint64_t)keys;
    if (!model_digests_keep(fp, part.keys) ||
        tepal_bloom_size(p->layout, p->positions, part.keys, fp, &part.bits, &part.hashes) !=
            TEPAL_OK ||
        part.bits > PARAMS_MAX_CELLS - TEPAL_LINE_BITS) {
        return TEPAL_FULL;
    }
    part.bits = (part.bits + TEPAL_LINE_BITS - 1) / TEPAL_LINE_BITS * TEPAL_LINE_BITS;
    *out = part;
    return TEPAL_OK;
}

/* The parts that n keys need; more than there can be if these do not have room for them. */
static uint32_t parts_for(const struct tepal_params *p, uint64_t n)
{
    double left = (double)n;
    uint32_t i = 0;
    for (; i < TEPAL_MAX_PARTS && (i == 0 || (left > 0 && p->chain.growth != 0)); i++) {
        left -= room_of(p, i);
    }
    return left > 0 ? TEPAL_MAX_PARTS + 1 : i;
}

/* The bits of all parts when n keys are in, and the rate then. */
static double whole(const struct tepal_params *p, uint64_t n, double *bits)
{
    double passes = 1;
    *bits = 0;
    for (uint32_t i = 0; i == 0 || n > 0; i++) {
        struct tepal_chain_part part;
        if (tepal_chain_part(p, i, &part) != TEPAL_OK) {
            return NAN;
        }
        uint64_t keys = n < part.keys ? n : part.keys;
        passes *= 1 - tepal_bloom_fp(p->layout, p->positions, part.bits, keys, part.hashes);
        *bits += (double)part.bits;
        n -= keys;
    }
    return 1 - passes;
}

double tepal_chain_fp(const struct tepal_params *p, uint64_t n)
{
    double bits;
    return whole(p, n, &bits);
}

enum tepal_status tepal_chain_size(uint64_t n, double fp, struct tepal_params *params)
{
    struct tepal_params p = *params;
    struct tepal_chain_part first;
    if (!(fp > 0 && fp < 1) || n == 0 || fp < 0x1p-64) {
        return TEPAL_BAD_ARGUMENT;
    }
    if (p.chain.first_keys == 0) {
        p.chain = (struct tepal_chain_params){.first_keys = n / 1000 + 1,
                                              .growth = 2 * (uint64_t)TEPAL_CHAIN_UNIT};
    }
    p.chain.rate = (uint64_t)ldexp(fp, 64);
    p.chain.planned = 0;
    p.chain.parts = 0;
    p.chain.first_bits = 0;
    if (p.chain.series == TEPAL_CHAIN_EVEN) {
        uint32_t parts = parts_for(&p, n);
        p.chain.planned = parts < TEPAL_MAX_PARTS ? parts : TEPAL_MAX_PARTS;
    }
    if (tepal_chain_part(&p, 0, &first) != TEPAL_OK) {
        return TEPAL_TOO_LARGE;
    }
    p.cells = first.bits;
    p.hashes = first.hashes;
    *params = p;
    return TEPAL_OK;
}

enum tepal_status tepal_model_chain(const struct tepal_params *params, const struct tepal_use *use,
                                    struct tepal_report *report, struct tepal_error *error)
{
    enum tepal_status status = tepal_params_check(params, error);
    if (status != TEPAL_OK) {
        return status;
    }
    uint64_t n = use->keys;
    double bits;
    double fp = whole(params, n, &bits);
    if (isnan(fp)) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "this chain does not grow to so many keys");
    }
    uint32_t parts = parts_for(params, n);
    double share = 0;
    for (uint32_t i = 0; i < parts; i++) {
        share += tepal_chain_share(params, i);
    }
    report->count = 0;
    report->numbers = 0;
    tepal_report_text(report, "kind", "the kind of filter", "chain");
    tepal_report_text(report, "layout", "where the cells of a key are",
                      tepal_layout_name(params->layout));
    tepal_report_text(report, "series", "series of sizes and rates",
                      tepal_chain_series_name((enum tepal_chain_series)params->chain.series));
    tepal_report_real(report, "growth", "s, the factor by which it grows", factor(params));
    tepal_report_integer(report, "first_keys", "room of the first part, in keys",
                         params->chain.first_keys);
    tepal_report_integer(report, "first_bits", "size when empty, in bits",
                         params_chain_first(params));
    tepal_report_integer(report, "keys", "n", n);
    tepal_report_integer(report, "parts", "filters in a row when n keys are in", parts);
    tepal_report_real(report, "bits", "size when n keys are in, in bits", bits);
    tepal_report_real(report, "bits_per_key", "bits per key then", bits / (double)n);
    tepal_report_real(report, "fp", "probability that a non-member is found then", fp);
    tepal_report_real(report, "fp_bound", "what it cannot exceed with these parts",
                      ldexp((double)params->chain.rate, -64) * share);
    return TEPAL_OK;
}
