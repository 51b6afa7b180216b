/* model.c: one call for all kinds: what the model of the kind predicts, and its bound. */
#include "model/model.h"

static model_entry *const table[] = {
    [TEPAL_KIND_BLOOM] = tepal_model_bloom,
    [TEPAL_KIND_RETOUCHED] = tepal_model_retouched,
    [TEPAL_KIND_GENERALIZED] = tepal_model_generalized,
    [TEPAL_KIND_COUNTING] = tepal_model_counting,
    [TEPAL_KIND_FINGERPRINT] = tepal_model_fingerprint,
    [TEPAL_KIND_YESNO] = tepal_model_yesno,
    [TEPAL_KIND_RECYCLING] = tepal_model_recycling,
    [TEPAL_KIND_CASCADE] = tepal_model_cascade,
    [TEPAL_KIND_GROWING] = tepal_model_growing,
    [TEPAL_KIND_CHAIN] = tepal_model_chain,
};

enum tepal_status tepal_model(const struct tepal_params *params, const struct tepal_use *use,
                              struct tepal_report *report, struct tepal_error *error)
{
    uint32_t kind = (uint32_t)params->kind;
    if (kind >= PARAMS_COUNT(table) || table[kind] == NULL) {
        return refuse_if(error, TEPAL_UNKNOWN_KIND);
    }
    return table[kind](params, use, report, error);
}

double tepal_params_fp_bound(const struct tepal_params *params)
{
    switch (params->kind) {
    case TEPAL_KIND_GENERALIZED:
        return tepal_model_generalized_bound(params);
    case TEPAL_KIND_FINGERPRINT:
        return tepal_model_fingerprint_bound(params);
    case TEPAL_KIND_BLOOM:
    case TEPAL_KIND_RETOUCHED:
    case TEPAL_KIND_COUNTING:
    case TEPAL_KIND_YESNO:
    case TEPAL_KIND_RECYCLING:
    case TEPAL_KIND_CASCADE:
    case TEPAL_KIND_CHAIN:
        break;
    case TEPAL_KIND_GROWING:
        return tepal_model_growing_bound(params);
    }
    return 1;
}
