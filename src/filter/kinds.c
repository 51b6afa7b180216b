/* kinds.c: the const table of kinds. A new kind is one line in each of the two lists below. */
#include "filter/kind.h"

#include <string.h>

extern const struct filter_ops tepal_bloom_ops;
extern const struct filter_ops tepal_retouched_ops;
extern const struct filter_ops tepal_generalized_ops;
extern const struct filter_ops tepal_counting_ops;
extern const struct filter_ops tepal_fingerprint_ops;
extern const struct filter_ops tepal_yesno_ops;
extern const struct filter_ops tepal_recycling_ops;
extern const struct filter_ops tepal_cascade_ops;

static const struct filter_ops *const table[] = {
    &tepal_bloom_ops,       &tepal_retouched_ops, &tepal_generalized_ops, &tepal_counting_ops,
    &tepal_fingerprint_ops, &tepal_yesno_ops,     &tepal_recycling_ops,   &tepal_cascade_ops,
};

#define KINDS (sizeof table / sizeof *table)

size_t tepal_kind_count(void)
{
    return KINDS;
}

const struct tepal_kind *tepal_kind_at(size_t index)
{
    return index < KINDS ? &table[index]->kind : NULL;
}

const struct filter_ops *tepal_filter_ops_by_id(uint32_t id)
{
    for (size_t i = 0; i < KINDS; i++) {
        if ((uint32_t)table[i]->kind.id == id) {
            return table[i];
        }
    }
    return NULL;
}

const struct tepal_kind *tepal_kind_by_id(uint32_t id)
{
    const struct filter_ops *ops = tepal_filter_ops_by_id(id);
    return ops == NULL ? NULL : &ops->kind;
}

const struct tepal_kind *tepal_kind_by_name(const char *name)
{
    for (size_t i = 0; i < KINDS; i++) {
        if (strcmp(table[i]->kind.name, name) == 0) {
            return &table[i]->kind;
        }
    }
    return NULL;
}

enum tepal_status tepal_params_check(const struct tepal_params *params, const char **why)
{
    const char *reason = "";
    enum tepal_status status = TEPAL_UNKNOWN_KIND;
    const struct filter_ops *ops = tepal_filter_ops_by_id((uint32_t)params->kind);
    if (ops == NULL) {
        reason = "this kind of filter is unknown to this version";
    } else {
        status = tepal_params_gate(params, &ops->rules, &reason);
    }
    if (why != NULL && status != TEPAL_OK) {
        *why = reason;
    }
    return status;
}

uint64_t tepal_params_payload_bytes(const struct tepal_params *params)
{
    const struct filter_ops *ops = tepal_filter_ops_by_id((uint32_t)params->kind);
    if (ops == NULL) {
        return 0;
    }
    if (ops->rules.payload_bytes != NULL) {
        return ops->rules.payload_bytes(params);
    }
    return tepal_params_cells_bytes(params->cells, ops->rules.cell_bits);
}
