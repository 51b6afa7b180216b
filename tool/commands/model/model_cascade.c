/* model_cascade.c: the cascade's model: the smallest, or within --bits, or with a first --fp. */
#include <tepal/model.h>

#include "commands/model/models.h"

static int cascade_report(const struct args *args, uint64_t keys, struct tepal_params *p,
                          struct tepal_report *report)
{
    struct tepal_cascade_plan plan = {.hashes = p->hashes};
    uint64_t negatives = arg(args, "negatives")->whole;
    double fp = arg_real(args, "fp", 0);
    if (!arg(args, "keys")->given || keys == 0) {
        return args_wrong(args, "--keys N is needed, at least 1");
    }
    if (!arg(args, "negatives")->given) {
        return args_wrong(args, "--negatives T is needed: a cascade knows them by heart");
    }
    if (tepal_cascade_choose(p->layout, p->positions, keys, negatives, p->cells, fp, &plan) !=
            TEPAL_OK ||
        tepal_model_cascade(p->layout, p->positions, &plan, keys, negatives, report) != TEPAL_OK) {
        return args_wrong(args, "no cascade of so many bits and hashes is to be expected%s",
                          arg(args, "bits")->given ? "; without --bits: the smallest" : "");
    }
    return EXIT_YES;
}

static const char *const of_cascade[] = {"keys",   "bits",      "fp",        "hashes",
                                         "layout", "positions", "negatives", NULL};

const struct model model_cascade = {"cascade", TEPAL_LAYOUT_FLAT, of_cascade, cascade_report, NULL};
