/* model_cascade.c: the cascade's model: the smallest, or within --bits, or with a first --fp. */
#include <tepal/model.h>

#include "commands/model/models.h"
#include "cli/say.h"

static int cascade_report(const struct args *args, enum tepal_layout layout,
                          struct tepal_report *report)
{
    const struct option_value *o = args->option;
    const char *name = args->command->name;
    enum tepal_positions positions = TEPAL_POSITIONS_COLLIDING;
    struct tepal_cascade_plan plan = {.hashes = (uint32_t)o[OPT_HASHES].whole};
    uint64_t keys = o[OPT_KEYS].whole;
    uint64_t negatives = o[OPT_NEGATIVES].whole;
    double fp = o[OPT_FP].given ? o[OPT_FP].real : 0;
    if (!o[OPT_KEYS].given || keys == 0) {
        return say_error(NULL, name, "--keys N is needed, at least 1");
    }
    if (!o[OPT_NEGATIVES].given) {
        return say_error(NULL, name, "--negatives T is needed: a cascade knows them by heart");
    }
    if (o[OPT_MODEL_LAYOUT].given) {
        tepal_layout_parse(o[OPT_MODEL_LAYOUT].text, &layout);
    }
    if (o[OPT_POSITIONS].given) {
        tepal_positions_parse(o[OPT_POSITIONS].text, &positions);
    }
    if (tepal_cascade_choose(layout, positions, keys, negatives, o[OPT_BITS].whole, fp, &plan) !=
            TEPAL_OK ||
        tepal_model_cascade(layout, positions, &plan, keys, negatives, report) != TEPAL_OK) {
        return say_error(NULL, name, "no cascade of so many bits and hashes is to be expected%s",
                         o[OPT_BITS].given ? "; without --bits: the smallest" : "");
    }
    return EXIT_YES;
}

static const enum option_id of_cascade[] = {OPT_KEYS,      OPT_BITS,         OPT_FP,
                                            OPT_HASHES,    OPT_MODEL_LAYOUT, OPT_POSITIONS,
                                            OPT_NEGATIVES, OPT_END};

const struct model model_cascade = {"cascade", TEPAL_LAYOUT_FLAT, of_cascade, cascade_report, NULL};
