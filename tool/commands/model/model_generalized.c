/* model_generalized.c: the generalized filter: both errors, their bounds, and errors by age. */
#include <tepal/model.h>

#include "commands/model/models.h"
#include "commands/build/recipe.h"

static int generalized_report(const struct args *args, uint64_t keys, struct tepal_params *p,
                              struct tepal_report *report)
{
    struct tepal_use use = TEPAL_USE_INIT;
    struct tepal_error error = {.why = ""};
    if (!arg(args, "keys")->given) {
        return args_wrong(args, "--keys N is needed");
    }
    if (!arg(args, "bits")->given && !arg(args, "fp")->given && !arg(args, "fn")->given) {
        return args_wrong(args, "--bits M is needed, or --fp and --fn RATE");
    }
    if (recipe_generalized_shape(args, keys, p) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    use.keys = keys;
    enum tepal_status status = tepal_model(p, &use, report, &error);
    return args_status(args, status, error.why);
}

static const char *const of_generalized[] = {
    "keys",         "bits",       "fp",    "fn",        "layout", "positions",
    "reset-hashes", "set-hashes", "zeros", "tolerance", NULL};

static const char *const generalized_exclusive[][4] = {{"fp", "bits"}, {"fn", "bits"}, {0}};

const struct model model_generalized = {"generalized", TEPAL_LAYOUT_FLAT, of_generalized,
                                        generalized_report, generalized_exclusive};
