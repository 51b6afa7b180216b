/* model_yesno.c: the yes-no filter's model; with --bits alone, the layout that it would choose. */
#include <tepal/model.h>

#include "commands/model/models.h"
#include "cli/say.h"

static int said_plan(const struct args *args, struct tepal_yesno_plan *plan)
{
    const struct option_value *o = args->option;
    const char *name = args->command->name;
    plan->no_bits = o[OPT_NO_BITS].whole;
    plan->no_filters = o[OPT_NO_FILTERS].whole;
    plan->own_seeds = o[OPT_OWN_SEEDS].given;
    plan->yes_bits = o[OPT_YES_BITS].whole;
    if (o[OPT_BITS].given) {
        return say_error(NULL, name,
                         "--yes-bits and --bits are two ways to say the size: give one");
    }
    if (plan->no_filters > 0 && (!o[OPT_NO_BITS].given || !o[OPT_NO_HASHES].given)) {
        return say_error(NULL, name, "--no-filters R needs --no-bits Q and --no-hashes K");
    }
    if (plan->no_filters > 0 && plan->no_bits > (UINT64_MAX >> 8)) {
        return say_error(NULL, name, "the no-filters are too large");
    }
    return EXIT_YES;
}

static int yesno_report(const struct args *args, enum tepal_layout layout,
                        struct tepal_report *report)
{
    const struct option_value *o = args->option;
    const char *name = args->command->name;
    enum tepal_positions positions = TEPAL_POSITIONS_COLLIDING;
    struct tepal_yesno_plan plan = {.hashes = (uint32_t)o[OPT_HASHES].whole,
                                    .no_hashes = (uint32_t)o[OPT_NO_HASHES].whole};
    uint64_t keys = o[OPT_KEYS].whole;
    uint64_t negatives = o[OPT_NEGATIVES].whole;
    const char *why = "";
    if (!o[OPT_KEYS].given || keys == 0) {
        return say_error(NULL, name, "--keys N is needed, at least 1");
    }
    if (!o[OPT_BITS].given && !o[OPT_YES_BITS].given) {
        return say_error(NULL, name, "--bits M or --yes-bits P is needed");
    }
    if (o[OPT_MODEL_LAYOUT].given) {
        tepal_layout_parse(o[OPT_MODEL_LAYOUT].text, &layout);
    }
    if (o[OPT_POSITIONS].given) {
        tepal_positions_parse(o[OPT_POSITIONS].text, &positions);
    }
    if (o[OPT_YES_BITS].given) {
        if (said_plan(args, &plan) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
        if (plan.hashes == 0) {
            plan.hashes = tepal_bloom_best_hashes(layout, positions, plan.yes_bits, keys);
        }
    } else if (tepal_yesno_choose(layout, positions, o[OPT_BITS].whole, keys, negatives, &plan) !=
               TEPAL_OK) {
        return say_error(NULL, name,
                         "no yes-no filter of so many bits and hashes was found (blocked and "
                         "paired need a multiple of 512)");
    }
    enum tepal_status status =
        tepal_model_yesno(layout, positions, &plan, keys, negatives, report, &why);
    return status == TEPAL_OK ? EXIT_YES : say_error(NULL, name, "%s", why);
}

static const enum option_id of_yesno[] = {
    OPT_KEYS,     OPT_BITS,    OPT_HASHES,     OPT_MODEL_LAYOUT, OPT_POSITIONS, OPT_NEGATIVES,
    OPT_YES_BITS, OPT_NO_BITS, OPT_NO_FILTERS, OPT_NO_HASHES,    OPT_OWN_SEEDS, OPT_END};

const struct model model_yesno = {"yesno", TEPAL_LAYOUT_FLAT, of_yesno, yesno_report, NULL};
