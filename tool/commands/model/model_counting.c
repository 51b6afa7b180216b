/* model_counting.c: the rate of a counting filter, and what wrong removals do to it. */
#include <math.h>

#include <tepal/counting.h>
#include <tepal/model.h>

#include "commands/model/models.h"
#include "cli/options.h"
#include "cli/say.h"

static int counting_report(const struct args *args, enum tepal_layout layout,
                           struct tepal_report *report)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    const char *why = "";
    enum tepal_counting_rule rule = TEPAL_RULE_IMPROVED_GREEDY;
    if (!arg(args, "keys")->given || !arg(args, "cells")->given) {
        return args_wrong(args, "counting: --cells M and --keys N are needed");
    }
    if (arg(args, "p0")->given != arg(args, "p1")->given) {
        return args_wrong(args, "--p0 and --p1 are given together");
    }
    if (arg(args, "rule")->given) {
        tepal_counting_rule_parse(arg(args, "rule")->text, &rule);
    }
    p.kind = TEPAL_KIND_COUNTING;
    p.layout = layout;
    arg_layout(args, &p.layout);
    p.cells = arg(args, "cells")->whole;
    p.hashes = (uint32_t)arg(args, "hashes")->whole;
    p.own[TEPAL_COUNTING_CHOICES] = arg_whole(args, "choices", 1);
    p.own[TEPAL_COUNTING_RULE] = (uint64_t)rule;
    enum tepal_status status = tepal_model_counting(
        &p, arg(args, "keys")->whole, arg_real(args, "p0", NAN), arg_real(args, "p1", NAN),
        arg(args, "wrong")->given ? (double)arg(args, "wrong")->whole : 1, report, &why);
    return args_status(args, status, why);
}

static const char *const of_counting[] = {"keys", "layout", "cells", "hashes", "choices",
                                          "rule", "p0",     "p1",    "wrong",  NULL};

const struct model model_counting = {"counting", TEPAL_LAYOUT_FLAT, of_counting, counting_report,
                                     NULL};
