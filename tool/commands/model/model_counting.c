/* model_counting.c: the rate of a counting filter, and what wrong removals do to it. */
#include <math.h>

#include <tepal/counting.h>
#include <tepal/model.h>

#include "commands/build/recipe.h"
#include "commands/model/models.h"

static int counting_report(const struct args *args, uint64_t keys, struct tepal_params *p,
                           struct tepal_report *report)
{
    struct tepal_use use = TEPAL_USE_INIT;
    struct tepal_error error = {.why = ""};
    uint64_t choices = arg_whole(args, "choices", 1);
    enum tepal_counting_rule rule = tepal_counting_default_rule(p->layout, (uint32_t)choices);
    if (!arg(args, "keys")->given || !arg(args, "cells")->given) {
        return args_wrong(args, "counting: --cells M and --keys N are needed");
    }
    if (arg(args, "p0")->given != arg(args, "p1")->given) {
        return args_wrong(args, "--p0 and --p1 go together: give both");
    }
    if (arg(args, "rule")->given && !tepal_counting_rule_parse(arg(args, "rule")->text, &rule)) {
        return args_wrong(args, "--rule %s is for recycling filters", arg(args, "rule")->text);
    }
    p->kind = TEPAL_KIND_COUNTING;
    p->cells = arg(args, "cells")->whole;
    p->counting.choices = choices;
    p->counting.form = recipe_counter_form(args);
    p->counting.lines = recipe_counter_lines(args, p->layout);
    p->counting.rule = (uint64_t)rule;
    use.keys = keys;
    use.p0 = arg_real(args, "p0", NAN);
    use.p1 = arg_real(args, "p1", NAN);
    use.wrong_removals = (double)arg_whole(args, "wrong", 1);
    enum tepal_status status = tepal_model(p, &use, report, &error);
    return args_status(args, status, error.why);
}

static const char *const of_counting[] = {"keys",    "layout",       "cells",      "hashes",
                                          "choices", "rule",         "p0",         "p1",
                                          "wrong",   "counter-bits", "line-cells", NULL};

const struct model model_counting = {"counting", TEPAL_LAYOUT_FLAT, of_counting, counting_report,
                                     NULL};
