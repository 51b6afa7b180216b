/*
 * model.h: the models of the kinds, from the inside: each fills in a report of what it predicts of
 * parameters and their use; model.c asks the one of the kind.
 */
#ifndef TEPAL_SRC_MODEL_MODEL_H
#define TEPAL_SRC_MODEL_MODEL_H

#include <tepal/papers.h>

#include "base/refuse.h"
#include "base/report.h"
#include "params/params.h"

typedef enum tepal_status model_entry(const struct tepal_params *params,
                                      const struct tepal_use *use, struct tepal_report *report,
                                      struct tepal_error *error);

model_entry tepal_model_bloom;
model_entry tepal_model_retouched;
model_entry tepal_model_generalized;
model_entry tepal_model_counting;
model_entry tepal_model_fingerprint;
model_entry tepal_model_yesno;
model_entry tepal_model_recycling;
model_entry tepal_model_cascade;
model_entry tepal_model_growing;
model_entry tepal_model_chain;

/* tepal_params_fp_bound of these kinds. */
double tepal_model_generalized_bound(const struct tepal_params *params);
double tepal_model_fingerprint_bound(const struct tepal_params *params);
double tepal_model_growing_bound(const struct tepal_params *params);

/* Can digests keep the rate for so many keys (0: not known)? And what is said if not. */
static inline bool model_digests_keep(double fp, uint64_t keys)
{
    return !(fp < TEPAL_MIN_RATE * (double)(keys == 0 ? 1 : keys));
}

#define MODEL_DIGESTS                                                                              \
    "a false-positive rate below keys * 2^-120 cannot be kept: digests of 128 bits are too short"

/* What a recycling filter's model wants to know of it. */
static inline struct tepal_recycling_setting
model_recycling_setting(const struct tepal_params *params)
{
    return (struct tepal_recycling_setting){
        .layout = params->layout,
        .positions = params->positions,
        .bits = params->cells,
        .hashes = params->hashes,
        .sigma = params->recycling.limit,
        .phases = (uint32_t)params->recycling.phases,
        .retain = (params->recycling.flags & TEPAL_RECYCLING_RETAIN) != 0,
        .keep_trigger = (params->recycling.flags & TEPAL_RECYCLING_KEEP_TRIGGER) != 0,
    };
}

/* Of a counting filter with one choice: in long lines its bits are those of a Bloom filter. */
static inline bool model_counting_is_bloom(const struct tepal_params *p)
{
    return p->counting.lines == TEPAL_LINES_LONG;
}

static inline double model_counting_rate(const struct tepal_params *p, uint64_t n)
{
    return (model_counting_is_bloom(p) ? tepal_bloom_fp : tepal_counting_rate)(
        p->layout, p->positions, p->cells, n, p->hashes);
}

static inline double model_counting_fill(const struct tepal_params *p, uint64_t n)
{
    return (model_counting_is_bloom(p) ? tepal_bloom_fill : tepal_counting_fill)(
        p->layout, p->positions, p->cells, n, p->hashes);
}

static inline uint32_t model_counting_best_hashes(const struct tepal_params *p, uint64_t n)
{
    return (model_counting_is_bloom(p) ? tepal_bloom_best_hashes : tepal_counting_best_hashes)(
        p->layout, p->positions, p->cells, n);
}

/* Sets cells and, if they are 0, hashes. */
static inline enum tepal_status model_counting_size(struct tepal_params *p, uint64_t n, double fp)
{
    return (model_counting_is_bloom(p) ? tepal_bloom_size : tepal_counting_size)(
        p->layout, p->positions, n, fp, &p->cells, &p->hashes);
}

#endif
