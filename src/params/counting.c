/*
 * counting.c: the parameters of counting Bloom filters: how many groups of counters a key may
 * choose from, by which rule, and what removal does when several are found.
 */
#include "params/params.h"

#include "base/names.h"

static const char *const rules[] = {"improved-greedy", "greedy", "least-increase"};
static const char *const policies[] = {"keep", "remove"};

static const struct names rule_names = NAMES(rules, "unknown");
static const struct names policy_names = NAMES(policies, "unknown");

const char *tepal_counting_rule_name(enum tepal_counting_rule rule)
{
    return names_at(rule_names, rule);
}

const char *tepal_counting_policy_name(enum tepal_counting_policy policy)
{
    return names_at(policy_names, policy);
}

bool tepal_counting_rule_parse(const char *name, enum tepal_counting_rule *out)
{
    unsigned i;
    bool known = names_find(rule_names, name, &i);
    if (known) {
        *out = (enum tepal_counting_rule)i;
    }
    return known;
}

bool tepal_counting_policy_parse(const char *name, enum tepal_counting_policy *out)
{
    unsigned i;
    bool known = names_find(policy_names, name, &i);
    if (known) {
        *out = (enum tepal_counting_policy)i;
    }
    return known;
}

enum tepal_counting_rule tepal_counting_default_rule(enum tepal_layout layout, uint32_t choices)
{
    return tepal_layout_in_lines(layout) && choices > 1 ? TEPAL_RULE_LEAST_INCREASE
                                                        : TEPAL_RULE_IMPROVED_GREEDY;
}

static struct params_verdict check(const struct tepal_params *p)
{
    uint64_t choices = p->counting.choices;
    uint64_t rule = p->counting.rule;
    uint64_t policy = p->counting.policy;
    bool lined = tepal_layout_in_lines(p->layout);
    bool known = rule < rule_names.count;
    if (choices == 0 || choices > TEPAL_MAX_CHOICES) {
        return params_refuse_own(PARAMS_INDEX(counting.choices),
                                 "the number of choices must be 1 to 64");
    }
    if (!known || policy >= policy_names.count) {
        return params_refuse_own(
            (known ? PARAMS_INDEX(counting.policy) : PARAMS_INDEX(counting.rule)),
            "the rule or the policy of this counting filter is unknown");
    }
    if (choices == 1 && (rule != 0 || policy != 0)) {
        return params_refuse_own(
            (rule == 0 ? PARAMS_INDEX(counting.policy) : PARAMS_INDEX(counting.rule)),
            "with one choice there is neither a rule nor a policy");
    }
    if (choices > 1 && lined != (rule == TEPAL_RULE_LEAST_INCREASE)) {
        return params_refuse_own(PARAMS_INDEX(counting.rule),
                                 lined
                                     ? "on blocked and paired layouts the rule must be "
                                       "least-increase: (improved) greedy would fill the fullest "
                                       "lines"
                                     : "the rule least-increase needs a blocked or paired layout");
    }
    if (p->counting.form > TEPAL_FORM_WIDE_COUNTERS) {
        return params_refuse_own(PARAMS_INDEX(counting.form),
                                 "the form of this counting filter is unknown");
    }
    if (p->counting.lines > (lined ? TEPAL_LINES_LONG : TEPAL_LINES_SHORT)) {
        return params_refuse_own(PARAMS_INDEX(counting.lines),
                                 lined ? "the lines of this counting filter are neither short nor "
                                         "long"
                                       : "only blocked and paired layouts have long lines");
    }
    return PARAMS_PASSED;
}

/* The counters, unless it is the bits alone, and then the bits. */
static uint64_t payload_bytes(const struct tepal_params *p)
{
    uint32_t bits = params_counter_bits(p);
    return (bits > 0 ? tepal_params_cells_bytes(p->cells, bits) : 0) +
           tepal_params_cells_bytes(p->cells, 1);
}

const struct params_rules tepal_counting_rules = {
    .kind = {.id = TEPAL_KIND_COUNTING,
             .name = "counting",
             .summary = "counters instead of bits, so keys can be removed; c choices of address",
             .promises = TEPAL_DELETABLE | TEPAL_MERGEABLE},
    .cell_bits = 4,
    .layouts = PARAMS_ALL_LAYOUTS,
    .own = {[PARAMS_INDEX(counting.choices)] = "choices",
            [PARAMS_INDEX(counting.rule)] = "rule",
            [PARAMS_INDEX(counting.policy)] = "policy",
            [PARAMS_INDEX(counting.form)] = "form",
            [PARAMS_INDEX(counting.lines)] = "lines",
            [PARAMS_INDEX(counting.most_lost)] = "most_lost"},
    .check = check,
    .payload_bytes = payload_bytes,
};
