/* model_retouched.c: what clearing bits at random costs and gives. */
#include <tepal/model.h>

#include "commands/model/models.h"
#include "cli/say.h"

static int retouched_report(const struct args *args, enum tepal_layout layout,
                            struct tepal_report *report)
{
    const struct option_value *option = args->option;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    uint64_t keys = option[OPT_KEYS].whole;
    const char *why = "";
    if (!option[OPT_KEYS].given) {
        return say_error(NULL, args->command->name, "--keys N is needed");
    }
    if (!option[OPT_BITS].given && !option[OPT_FP].given) {
        return say_error(NULL, args->command->name, "--bits M or --fp RATE is needed");
    }
    p.kind = TEPAL_KIND_RETOUCHED;
    p.layout = layout;
    p.hashes = (uint32_t)option[OPT_HASHES].whole;
    p.cells = option[OPT_BITS].whole;
    if (!option[OPT_UNIVERSE].given) {
        return say_error(NULL, args->command->name, "retouched: --universe N is needed");
    }
    if (option[OPT_UNIVERSE].whole <= keys) {
        return say_error(NULL, args->command->name,
                         "--universe %s: too small: it must hold more than the members",
                         option[OPT_UNIVERSE].text);
    }
    if (option[OPT_MODEL_LAYOUT].given || option[OPT_POSITIONS].given) {
        return say_error(NULL, args->command->name,
                         "retouched: the formulas are those of the flat layout with colliding "
                         "positions");
    }
    if (option[OPT_FP].given && model_solve_bloom(args, &p, keys) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    enum tepal_status status = tepal_model_retouched(
        &p, keys, option[OPT_UNIVERSE].whole, option[OPT_BETA].given ? option[OPT_BETA].real : 1,
        option[OPT_MODEL_CLEAR_BITS].whole, report, &why);
    return status == TEPAL_OK ? EXIT_YES : say_error(NULL, args->command->name, "%s", why);
}

static const enum option_id of_retouched[] = {
    OPT_KEYS,      OPT_BITS,     OPT_FP,   OPT_HASHES,           OPT_MODEL_LAYOUT,
    OPT_POSITIONS, OPT_UNIVERSE, OPT_BETA, OPT_MODEL_CLEAR_BITS, OPT_END};

const struct model model_retouched = {"retouched", TEPAL_LAYOUT_FLAT, of_retouched,
                                      retouched_report, NULL};
