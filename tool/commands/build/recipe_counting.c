/* recipe_counting.c: a counting filter from its options: by counters, by bits a key, or by rate. */
#include <math.h>

#include <tepal/counting.h>
#include <tepal/papers.h>

#include "commands/build/recipe.h"

static const char *const counting_options[] = {
    "fp",        "bits-per-key", "cells",  "hashes",       "capacity", "layout",
    "positions", "choices",      "rule",   "policy",       "receipts", "counter-bits",
    "offline",   "line-cells",   "max-fn", "max-fn-count", NULL};

static bool counting_counts(const struct args *args)
{
    return !arg(args, "capacity")->given && !arg(args, "cells")->given;
}

static int size_by_keys(const struct args *args, uint64_t keys, struct tepal_params *p)
{
    double each = p->counting.form == TEPAL_FORM_WIDE_COUNTERS ? 9 : 5; /* and a bit beside it */
    double cells = floor(arg(args, "bits-per-key")->real * (double)keys / each);
    if (cells > 0x1p60) {
        return args_error(args, "the filter would be larger than the limit of 2^60 counters");
    }
    p->cells = cells < 1 ? 1 : (uint64_t)cells;
    recipe_fill_line(p, recipe_line_cells(p));
    return EXIT_YES;
}

static int size_by_rate(const struct args *args, uint64_t keys, struct tepal_params *p)
{
    double rate = arg_real(args, "fp", 0.01);
    enum tepal_status status = tepal_counting_choices_size(p, keys, rate);
    if (status == TEPAL_UNSUPPORTED) {
        return args_error(args,
                          "--fp does not size a filter with several choices on the paired layout: "
                          "give --cells M or --bits-per-key B, or another layout");
    }
    if (status == TEPAL_TOO_LARGE) {
        return args_error(args, "no size up to 2^60 counters holds this many keys at this rate");
    }
    return args_status(args, status, NULL);
}

static int size(const struct args *args, uint64_t keys, struct tepal_params *p)
{
    if (arg(args, "cells")->given) {
        return recipe_whole_lines(args, "cells", recipe_line_cells(p), p);
    }
    return arg(args, "bits-per-key")->given ? size_by_keys(args, keys, p)
                                            : size_by_rate(args, keys, p);
}

/* Choices, rule, policy, lines and the width of a counter. */
static int choose(const struct args *args, struct tepal_params *p)
{
    const struct option_value *choices = arg(args, "choices");
    uint64_t c = choices->given ? choices->whole : 1;
    enum tepal_counting_rule rule = tepal_counting_default_rule(p->layout, (uint32_t)c);
    enum tepal_counting_policy policy = TEPAL_POLICY_KEEP;
    if (c == 1 && arg(args, "offline")->given) {
        return args_error(args, "--offline chooses between groups: give --choices C, C above 1");
    }
    if (c == 1 && (arg(args, "rule")->given || arg(args, "policy")->given)) {
        return args_error(args, "--%s is for filters with more than one choice: give --choices C",
                          arg(args, "rule")->given ? "rule" : "policy");
    }
    if (arg(args, "rule")->given && !tepal_counting_rule_parse(arg(args, "rule")->text, &rule)) {
        return args_error(args, "--rule %s is for --kind recycling", arg(args, "rule")->text);
    }
    if (arg(args, "policy")->given) {
        tepal_counting_policy_parse(arg(args, "policy")->text, &policy);
    }
    p->counting.choices = c;
    p->counting.rule = (uint64_t)rule;
    p->counting.policy = (uint64_t)policy;
    p->counting.form = recipe_counter_form(args);
    p->counting.lines = recipe_counter_lines(args, p->layout);
    if (arg(args, "line-cells")->given && !tepal_layout_in_lines(p->layout)) {
        return args_error(args, "--line-cells is for the blocked and paired layouts");
    }
    return EXIT_YES;
}

static int counting_params(const struct args *args, uint64_t keys, struct tepal_params *p)
{
    recipe_places(args, keys, p);
    if (choose(args, p) != EXIT_YES || size(args, keys, p) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    if (p->hashes == 0 && keys > 0 && p->counting.lines == TEPAL_LINES_SHORT) {
        /* not those of bits: a line has fewer counters */
        p->hashes = tepal_counting_best_hashes(p->layout, p->positions, p->cells, keys);
    }
    return recipe_hashes(args, keys, p);
}

static const char *const counting_exclusive[][4] = {
    {"fp", "bits-per-key", "bits", "cells"}, {"max-fn", "max-fn-count"}, {0}};

const struct recipe recipe_counting = {TEPAL_KIND_COUNTING, counting_options, counting_counts,
                                       counting_params, counting_exclusive};
