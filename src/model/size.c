/*
 * size.c: parameters from a wish: the smallest filter that keeps a rate, the lowest rate that fits
 * into some bits. Each kind has its solver; this is the one door to them.
 */
#include <math.h>

#include "model/generalized.h"
#include "model/model.h"
#include "model/numeric.h"

/* The gate has the last word; *params changes only if it passes. */
static enum tepal_status settle(const struct tepal_params *done, uint64_t keys,
                                struct tepal_params *params, struct tepal_error *error)
{
    struct tepal_params p = *done;
    p.capacity = keys == 0 ? p.capacity : keys;
    enum tepal_status status = tepal_params_check(&p, error);
    if (status == TEPAL_OK) {
        *params = p;
    }
    return status;
}

static const char *reason(enum tepal_status status)
{
    return status == TEPAL_TOO_LARGE
               ? "no filter of up to 2^60 cells achieves this rate"
               : "no filter of this kind and layout with these hash functions achieves this rate";
}

static enum tepal_status size_recycling(struct tepal_params *p, double fp)
{
    if (p->recycling.phases == 0) {
        p->recycling.phases = 2;
        p->recycling.flags = TEPAL_RECYCLING_RETAIN;
    }
    /* By average: as many hashes as sigma would want; the rate itself is the limit. */
    struct tepal_recycling_setting s = model_recycling_setting(p);
    struct tepal_recycling_rates rates;
    s.sigma = 0;
    enum tepal_status status = tepal_recycling_best_sigma(&s, fp, &rates);
    if (status == TEPAL_OK) {
        p->hashes = s.hashes;
        p->recycling.limit =
            p->recycling.rule == TEPAL_RECYCLING_AVERAGE ? (uint64_t)(fp * 0x1p64) : s.sigma;
        p->capacity = whole_of(rates.messages_per_cycle);
    }
    return status;
}

static enum tepal_status size_counting(struct tepal_params *p, uint64_t keys, double fp)
{
    p->counting.choices += p->counting.choices == 0;
    if (p->counting.choices > 1 && p->counting.rule == 0) {
        p->counting.rule =
            (uint64_t)tepal_counting_default_rule(p->layout, (uint32_t)p->counting.choices);
    }
    return tepal_counting_choices_size(p, keys, fp);
}

static enum tepal_status size_fingerprint(struct tepal_params *p, uint64_t keys, double fp)
{
    uint32_t bits = (uint32_t)p->fingerprint.bits;
    enum tepal_status status = tepal_fingerprint_size(keys, fp, &p->cells, &bits);
    p->fingerprint.bits = bits;
    p->hashes = 2;
    return status;
}

enum tepal_status tepal_params_for_rate(struct tepal_params *params, uint64_t keys, double fp,
                                        struct tepal_error *error)
{
    struct tepal_params p = *params;
    enum tepal_status status = TEPAL_UNSUPPORTED;
    if (tepal_kind_by_id((uint32_t)p.kind) == NULL) {
        return tepal_params_check(&p, error);
    }
    if (!(fp > 0 && fp < 1)) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "the false-positive rate must be above 0 and below 1");
    }
    if (keys == 0 && p.kind != TEPAL_KIND_RECYCLING) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "the number of keys must be at least 1");
    }
    switch (p.kind) {
    case TEPAL_KIND_BLOOM:
    case TEPAL_KIND_RETOUCHED:
        status = tepal_bloom_size(p.layout, p.positions, keys, fp, &p.cells, &p.hashes);
        break;
    case TEPAL_KIND_GENERALIZED:
        status = tepal_model_size_generalized(keys, fp, &p);
        break;
    case TEPAL_KIND_COUNTING:
        status = size_counting(&p, keys, fp);
        break;
    case TEPAL_KIND_FINGERPRINT:
        status = size_fingerprint(&p, keys, fp);
        break;
    case TEPAL_KIND_RECYCLING:
        if (p.recycling.rule != TEPAL_RECYCLING_SIGMA &&
            p.recycling.rule != TEPAL_RECYCLING_AVERAGE) {
            return refuse(error, TEPAL_BAD_ARGUMENT,
                          "only filters that recycle by sigma or average are sized by their rate");
        }
        if (p.cells == 0) {
            return refuse(
                error, TEPAL_BAD_ARGUMENT,
                "set cells, the bits of one phase: a recycling filter is sized within it");
        }
        keys = 0;
        status = size_recycling(&p, fp);
        break;
    case TEPAL_KIND_GROWING:
        /* A thousandfold growth is planned for, from the smallest filter on at the least. */
        status = tepal_growing_size(keys / 1000 + 1, keys, fp, &p);
        break;
    case TEPAL_KIND_CHAIN:
        status = tepal_chain_size(keys, fp, &p);
        break;
    case TEPAL_KIND_YESNO:
    case TEPAL_KIND_CASCADE:
        return refuse(error, TEPAL_UNSUPPORTED,
                      "this kind is sized and built from its known keys: see its build call");
    }
    if (!model_digests_keep(fp, p.kind == TEPAL_KIND_RECYCLING ? p.recycling.phases * p.capacity
                                                               : keys)) {
        return refuse(error, TEPAL_BAD_ARGUMENT, MODEL_DIGESTS);
    }
    if (status == TEPAL_UNSUPPORTED) {
        return refuse(error, status,
                      "with several choices there is no model of the paired layout: set cells and "
                      "hashes, or take another layout or one choice");
    }
    return status == TEPAL_OK ? settle(&p, keys, params, error)
                              : refuse(error, status, reason(status));
}

/* The largest number of cells, in steps of the layout, that so many bits hold. */
static uint64_t cells_in(const struct tepal_params *p, uint64_t bits, uint64_t per_cell)
{
    uint64_t unit = params_unit(p->layout, params_placed_bits(p, 1));
    return bits / per_cell / unit * unit;
}

enum tepal_status tepal_params_for_bits(struct tepal_params *params, uint64_t keys, uint64_t bits,
                                        struct tepal_error *error)
{
    struct tepal_params p = *params;
    uint32_t best = 0;
    if (tepal_kind_by_id((uint32_t)p.kind) == NULL) {
        return tepal_params_check(&p, error);
    }
    if (keys == 0) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "the number of keys must be at least 1");
    }
    if (p.kind == TEPAL_KIND_BLOOM || p.kind == TEPAL_KIND_RETOUCHED) {
        p.cells = cells_in(&p, bits, 1);
        best = tepal_bloom_best_hashes(p.layout, p.positions, p.cells, keys);
    } else if (p.kind == TEPAL_KIND_COUNTING && p.counting.choices <= 1) {
        p.counting.choices = 1;
        p.cells = cells_in(&p, bits, params_counter_bits(&p) + 1); /* and its bit */
        best = model_counting_best_hashes(&p, keys);
    } else if (p.kind == TEPAL_KIND_FINGERPRINT) {
        uint32_t f = (uint32_t)p.fingerprint.bits;
        double each = (double)bits / (double)keys;
        if (tepal_fingerprint_fit(keys, each, &p.cells, &f) != TEPAL_OK) {
            return refuse(error, TEPAL_BAD_ARGUMENT, "this many keys do not fit");
        }
        p.fingerprint.bits = f;
        p.hashes = 2;
    } else {
        return refuse(error, TEPAL_UNSUPPORTED, "this kind cannot be sized by its bits alone");
    }
    if (p.cells > PARAMS_MAX_CELLS) {
        return refuse(error, TEPAL_TOO_LARGE, "the size is over the limit of 2^60 cells");
    }
    p.hashes = p.hashes == 0 ? best : p.hashes;
    return settle(&p, keys, params, error);
}
