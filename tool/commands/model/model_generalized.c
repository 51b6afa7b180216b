/* model_generalized.c: the generalized filter: both errors, their bounds, and errors by age. */
#include <tepal/model.h>

#include "commands/model/models.h"
#include "commands/build/recipe.h"
#include "cli/say.h"

static int generalized_report(const struct args *args, enum tepal_layout layout,
                              struct tepal_report *report)
{
    const struct option_value *option = args->option;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    uint64_t keys = option[OPT_KEYS].whole;
    const char *why = "";
    if (!option[OPT_KEYS].given) {
        return say_error(NULL, args->command->name, "--keys N is needed");
    }
    if (!option[OPT_BITS].given && !option[OPT_FP].given && !option[OPT_FN].given) {
        return say_error(NULL, args->command->name, "--bits M is needed, or --fp and --fn RATE");
    }
    p.layout = layout;
    if (option[OPT_MODEL_LAYOUT].given) {
        tepal_layout_parse(option[OPT_MODEL_LAYOUT].text, &p.layout);
    }
    if (option[OPT_POSITIONS].given) {
        tepal_positions_parse(option[OPT_POSITIONS].text, &p.positions);
    }
    if (recipe_generalized_shape(args, keys, &p) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    enum tepal_status status = tepal_model_generalized(&p, keys, report, &why);
    return status == TEPAL_OK ? EXIT_YES : say_error(NULL, args->command->name, "%s", why);
}

static const enum option_id of_generalized[] = {
    OPT_KEYS,         OPT_BITS,           OPT_FP,    OPT_FN,        OPT_MODEL_LAYOUT, OPT_POSITIONS,
    OPT_RESET_HASHES, OPT_SETTING_HASHES, OPT_ZEROS, OPT_TOLERANCE, OPT_END};

static const enum option_id generalized_exclusive[][4] = {
    {OPT_FP, OPT_BITS}, {OPT_FN, OPT_BITS}, {0}};

const struct model model_generalized = {"generalized", TEPAL_LAYOUT_FLAT, of_generalized,
                                        generalized_report, generalized_exclusive};
