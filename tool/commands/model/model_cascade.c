/* model_cascade.c: the cascade's model: the smallest, or within --bits, or with a first --fp. */
#include <tepal/model.h>

#include "commands/model/models.h"
#include "cli/options.h"
#include "cli/say.h"

static int cascade_report(const struct args *args, enum tepal_layout layout,
                          struct tepal_report *report)
{
    enum tepal_positions positions = TEPAL_POSITIONS_COLLIDING;
    struct tepal_cascade_plan plan = {.hashes = (uint32_t)arg(args, "hashes")->whole};
    uint64_t keys = arg(args, "keys")->whole;
    uint64_t negatives = arg(args, "negatives")->whole;
    double fp = arg_real(args, "fp", 0);
    if (!arg(args, "keys")->given || keys == 0) {
        return args_wrong(args, "--keys N is needed, at least 1");
    }
    if (!arg(args, "negatives")->given) {
        return args_wrong(args, "--negatives T is needed: a cascade knows them by heart");
    }
    arg_layout(args, &layout);
    arg_positions(args, &positions);
    if (tepal_cascade_choose(layout, positions, keys, negatives, arg(args, "bits")->whole, fp,
                             &plan) != TEPAL_OK ||
        tepal_model_cascade(layout, positions, &plan, keys, negatives, report) != TEPAL_OK) {
        return args_wrong(args, "no cascade of so many bits and hashes is to be expected%s",
                          arg(args, "bits")->given ? "; without --bits: the smallest" : "");
    }
    return EXIT_YES;
}

static const char *const of_cascade[] = {"keys",   "bits",      "fp",        "hashes",
                                         "layout", "positions", "negatives", NULL};

const struct model model_cascade = {"cascade", TEPAL_LAYOUT_FLAT, of_cascade, cascade_report, NULL};
