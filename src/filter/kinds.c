/*
 * kinds.c: the const table of what each kind does. A new kind is one line in each of the two lists
 * below (and in the table of rules, params/kinds.c).
 */
#include "filter/kind.h"

extern const struct filter_ops tepal_bloom_ops;
extern const struct filter_ops tepal_retouched_ops;
extern const struct filter_ops tepal_generalized_ops;
extern const struct filter_ops tepal_counting_ops;
extern const struct filter_ops tepal_fingerprint_ops;
extern const struct filter_ops tepal_yesno_ops;
extern const struct filter_ops tepal_recycling_ops;
extern const struct filter_ops tepal_cascade_ops;
extern const struct filter_ops tepal_growing_ops;
extern const struct filter_ops tepal_chain_ops;

static const struct filter_ops *const table[] = {
    [TEPAL_KIND_BLOOM] = &tepal_bloom_ops,
    [TEPAL_KIND_RETOUCHED] = &tepal_retouched_ops,
    [TEPAL_KIND_GENERALIZED] = &tepal_generalized_ops,
    [TEPAL_KIND_COUNTING] = &tepal_counting_ops,
    [TEPAL_KIND_FINGERPRINT] = &tepal_fingerprint_ops,
    [TEPAL_KIND_YESNO] = &tepal_yesno_ops,
    [TEPAL_KIND_RECYCLING] = &tepal_recycling_ops,
    [TEPAL_KIND_CASCADE] = &tepal_cascade_ops,
    [TEPAL_KIND_GROWING] = &tepal_growing_ops,
    [TEPAL_KIND_CHAIN] = &tepal_chain_ops,
};

const struct filter_ops *tepal_filter_ops_by_id(uint32_t id)
{
    return id < PARAMS_COUNT(table) ? table[id] : NULL;
}
