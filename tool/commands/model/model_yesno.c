/* model_yesno.c: the yes-no filter's model; with --bits alone, the layout that it would choose. */
#include <tepal/model.h>
#include <tepal/papers.h>

#include "commands/model/models.h"

static int said_plan(const struct args *args, struct tepal_yesno_setting *plan)
{
    plan->no_bits = arg(args, "no-bits")->whole;
    plan->no_filters = arg(args, "no-filters")->whole;
    plan->own_seeds = arg(args, "own-seeds")->given;
    plan->yes_bits = arg(args, "yes-bits")->whole;
    if (arg(args, "bits")->given) {
        return args_wrong(args, "--yes-bits and --bits both set the size: give one of them");
    }
    if (plan->no_filters > 0 && (!arg(args, "no-bits")->given || !arg(args, "no-hashes")->given)) {
        return args_wrong(args, "--no-filters R needs --no-bits Q and --no-hashes K");
    }
    if (plan->no_filters > 0 && plan->no_bits > (UINT64_MAX >> 8)) {
        return args_wrong(args, "the no-filters are too large");
    }
    return EXIT_YES;
}

static int yesno_report(const struct args *args, uint64_t keys, struct tepal_params *p,
                        struct tepal_report *report)
{
    struct tepal_yesno_setting plan = {.hashes = p->hashes,
                                       .no_hashes = (uint32_t)arg(args, "no-hashes")->whole};
    struct tepal_use use = TEPAL_USE_INIT;
    struct tepal_error error = {.why = ""};
    if (!arg(args, "keys")->given || keys == 0) {
        return args_wrong(args, "--keys N is needed, at least 1");
    }
    if (!arg(args, "bits")->given && !arg(args, "yes-bits")->given) {
        return args_wrong(args, "--bits M or --yes-bits P is needed");
    }
    if (arg(args, "yes-bits")->given) {
        if (said_plan(args, &plan) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
        if (plan.hashes == 0) {
            plan.hashes = tepal_bloom_best_hashes(p->layout, p->positions, plan.yes_bits, keys);
        }
    } else if (tepal_yesno_best_setting(p->layout, p->positions, p->cells, keys,
                                        arg(args, "negatives")->whole, &plan) != TEPAL_OK) {
        return args_wrong(args, "no yes-no filter with this many bits and hash functions was found "
                                "(blocked and paired need a multiple of 512)");
    }
    p->kind = TEPAL_KIND_YESNO;
    p->cells = plan.yes_bits + plan.no_filters * plan.no_bits;
    p->hashes = plan.hashes;
    p->yesno = (struct tepal_yesno_params){.no_bits = plan.no_bits,
                                           .no_filters = plan.no_filters,
                                           .no_hashes = plan.no_hashes,
                                           .own_seeds = plan.own_seeds};
    use.keys = keys;
    use.known_negatives = arg(args, "negatives")->whole;
    enum tepal_status status = tepal_model(p, &use, report, &error);
    return status == TEPAL_OK ? EXIT_YES : args_wrong(args, "%s", error.why);
}

static const char *const of_yesno[] = {"keys",       "bits",      "hashes",    "layout",
                                       "positions",  "negatives", "yes-bits",  "no-bits",
                                       "no-filters", "no-hashes", "own-seeds", NULL};

const struct model model_yesno = {"yesno", TEPAL_LAYOUT_FLAT, of_yesno, yesno_report, NULL};
