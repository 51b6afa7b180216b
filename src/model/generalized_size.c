/*
 * generalized_size.c: the smallest generalized filter of so many keys that keeps both bounds: no
 * filter of its size, whoever filled it, passes more strangers than fp, and the oldest of the keys
 * is forgotten with a chance of at most fn. The solver (tepal_generalized_size) knows many bits; a
 * filter of few passes a little more, and a blocked one much more (tepal_params_fp_bound), which is
 * made good here.
 */
#include "model/generalized.h"

#include <math.h>

#include "model/search.h"
#include "params/params.h"

static void set_hashes(struct tepal_params *p, uint32_t k0, uint32_t k1, uint32_t b)
{
    p->hashes = k0 + k1;
    p->generalized.reset_hashes = k0;
    p->generalized.tolerance = b;
}

/* ---- the cells for given hashes -------------------------------------------------------------- */

struct wanted {
    const struct tepal_params *params;
    uint64_t n;
    double fn;
    uint64_t unit;
};

/* Falls as the cells grow: not positive where fn is kept. */
static double too_much(const void *context, uint64_t units)
{
    const struct wanted *w = context;
    struct tepal_params p = *w->params;
    p.cells = units * w->unit;
    if (tepal_layout_in_lines(p.layout)) {
        return tepal_model_line_forgets(&p, w->n) - w->fn;
    }
    return tepal_generalized_fn_bound(p.cells, w->n, (uint32_t)p.generalized.reset_hashes,
                                      params_set_hashes(&p), (uint32_t)p.generalized.tolerance) -
           w->fn;
}

/* `bits` are about how many it will be. */
static enum tepal_status fewest_cells(uint64_t n, double fn, double bits, struct tepal_params *p)
{
    uint64_t unit = params_unit(p->layout, 1);
    struct wanted w = {p, n, fn, unit};
    uint64_t found;
    if (!(bits < (double)PARAMS_MAX_CELLS)) {
        return TEPAL_TOO_LARGE;
    }
    uint64_t most = PARAMS_MAX_CELLS / unit;
    uint64_t low = (uint64_t)(bits / (double)unit) + 1;
    while (low > 1 && too_much(&w, low) <= 0) {
        most = low;
        low = (low + 1) / 2;
    }
    if (!tepal_model_search(too_much, &w, low, most, low + low / 2, &found)) {
        return TEPAL_TOO_LARGE;
    }
    p->cells = found * unit;
    return TEPAL_OK;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* To first order F_n = 2 k0 k1 n / m, and never more. */
static double line_bits(double k0, double k1, double fn)
{
    return 2 * k0 * k1 / fn;
}

/* The hashes that keep the bound at the fewest bits, if lines were alike: these bits a key. */
static double choose_in_line(double fp, double fn, struct tepal_params *p)
{
    double fewest = INFINITY;
    p->cells = TEPAL_LINE_BITS;
    for (uint32_t k0 = 1; k0 < MODEL_LINE_HASHES; k0++) {
        for (uint32_t k1 = k0; k0 + k1 <= MODEL_LINE_HASHES; k1++) {
            struct tepal_params here = *p;
            set_hashes(&here, k0, k1, 0);
            double each = line_bits(k0, k1, fn);
            if (each < fewest && tepal_params_fp_bound(&here) <= fp) {
                fewest = each;
                *p = here;
            }
        }
    }
    return fewest;
}

bool tepal_model_size_lines(uint64_t n, double fp, double fn, struct tepal_params *params)
{
    double each = choose_in_line(fp, fn, params);
    return fewest_cells(n, fn, each * (double)n, params) == TEPAL_OK;
}

/* ---- any layout ------------------------------------------------------------------------------ */

#define MOST_TRIES 16

/* The model's setting, and again for a little less while the bound of so few bits is too high. */
static enum tepal_status size_flat(uint64_t n, double rate, struct tepal_params *p)
{
    struct tepal_generalized_setting s;
    double fp = rate;
    for (int i = 0; i < MOST_TRIES; i++) {
        if (tepal_generalized_size(fp, rate, TEPAL_GENERALIZED_ANY, TEPAL_MAX_HASHES, &s) !=
            TEPAL_OK) {
            return TEPAL_BAD_ARGUMENT;
        }
        double cells = ceil(s.bits_per_key * (double)n);
        if (!(cells < (double)PARAMS_MAX_CELLS)) {
            return TEPAL_TOO_LARGE;
        }
        set_hashes(p, s.k0, s.k1, s.tolerance);
        p->cells = (uint64_t)cells;
        double bound = tepal_params_fp_bound(p);
        if (bound <= rate) {
            return TEPAL_OK;
        }
        fp = fmin(fp, s.fp_bound) * rate / bound * (1 - 1e-9);
    }
    return TEPAL_BAD_ARGUMENT;
}

/* Hashes are given, and perhaps which of them reset; else half do, and tolerance is the highest. */
static enum tepal_status size_given(uint64_t n, double rate, struct tepal_params *p)
{
    struct tepal_generalized_params *own = &p->generalized;
    bool lines = tepal_layout_in_lines(p->layout);
    bool chosen = own->reset_hashes == 0;
    if (chosen) {
        own->reset_hashes = p->hashes / 2;
        own->tolerance = lines || p->hashes < 2 ? 0 : own->reset_hashes - 1;
    }
    if (p->hashes > (lines ? MODEL_LINE_HASHES : TEPAL_MAX_HASHES) || own->reset_hashes == 0 ||
        own->reset_hashes >= p->hashes || own->tolerance >= p->hashes) {
        return TEPAL_BAD_ARGUMENT;
    }
    for (;; own->tolerance--) {
        enum tepal_status status = fewest_cells(n, rate, (double)n, p);
        bool kept = status == TEPAL_OK && tepal_params_fp_bound(p) <= rate;
        if (kept || !chosen || own->tolerance == 0) {
            return kept || status != TEPAL_OK ? status : TEPAL_BAD_ARGUMENT;
        }
    }
}

enum tepal_status tepal_model_size_generalized(uint64_t n, double rate, struct tepal_params *params)
{
    bool lines = params->layout == TEPAL_LAYOUT_BLOCKED;
    if (params->layout != TEPAL_LAYOUT_FLAT && !lines) {
        set_hashes(params, 1, 1, 0); /* the gate will say what is wrong with the layout */
        params->cells = TEPAL_LINE_BITS;
        return TEPAL_OK;
    }
    if (params->hashes != 0) {
        return size_given(n, rate, params);
    }
    if (!lines) {
        return size_flat(n, rate, params);
    }
    return tepal_model_size_lines(n, rate, rate, params) ? TEPAL_OK : TEPAL_BAD_ARGUMENT;
}
