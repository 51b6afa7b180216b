/* kinds.c: the const table of the kinds' rules. A new kind is one line in it (and in params.h). */
#include "params/params.h"

#include <string.h>

static const struct params_rules *const table[] = {
    &tepal_bloom_rules,     &tepal_retouched_rules,   &tepal_generalized_rules,
    &tepal_counting_rules,  &tepal_fingerprint_rules, &tepal_yesno_rules,
    &tepal_recycling_rules, &tepal_cascade_rules,     &tepal_growing_rules,
    &tepal_chain_rules,
};

size_t tepal_kind_count(void)
{
    return PARAMS_COUNT(table);
}

const struct tepal_kind *tepal_kind_at(size_t index)
{
    return index < PARAMS_COUNT(table) ? &table[index]->kind : NULL;
}

const struct params_rules *tepal_params_rules(uint32_t kind)
{
    for (size_t i = 0; i < PARAMS_COUNT(table); i++) {
        if ((uint32_t)table[i]->kind.id == kind) {
            return table[i];
        }
    }
    return NULL;
}

const struct tepal_kind *tepal_kind_by_id(uint32_t id)
{
    const struct params_rules *rules = tepal_params_rules(id);
    return rules == NULL ? NULL : &rules->kind;
}

const struct tepal_kind *tepal_kind_by_name(const char *name)
{
    for (size_t i = 0; i < PARAMS_COUNT(table); i++) {
        if (strcmp(table[i]->kind.name, name) == 0) {
            return &table[i]->kind;
        }
    }
    return NULL;
}

const char *tepal_promise_name(unsigned promise)
{
    switch (promise) {
    case TEPAL_NO_FALSE_NEGATIVES:
        return "no-false-negatives";
    case TEPAL_BOUNDED_FALSE_POSITIVES:
        return "bounded-false-positives";
    case TEPAL_DELETABLE:
        return "deletable";
    case TEPAL_MERGEABLE:
        return "mergeable";
    case TEPAL_ORDER_FREE:
        return "order-free";
    case TEPAL_ENDLESS:
        return "endless";
    default:
        return NULL;
    }
}
