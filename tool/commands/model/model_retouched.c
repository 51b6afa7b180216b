/* model_retouched.c: what clearing bits at random costs and gives. */
#include <tepal/model.h>

#include "commands/model/models.h"

static int retouched_report(const struct args *args, uint64_t keys, struct tepal_params *p,
                            struct tepal_report *report)
{
    struct tepal_use use = TEPAL_USE_INIT;
    struct tepal_error error = {.why = ""};
    p->kind = TEPAL_KIND_RETOUCHED;
    if (model_need_bloom(args) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    if (!arg(args, "universe")->given) {
        return args_wrong(args, "retouched: --universe N is needed");
    }
    if (arg(args, "universe")->whole <= keys) {
        return args_wrong(args,
                          "--universe %s: too small: it must be larger than the number of members",
                          arg(args, "universe")->text);
    }
    if (arg(args, "layout")->given || arg(args, "positions")->given) {
        return args_wrong(args, "retouched: the formulas hold for the flat layout with colliding "
                                "positions only");
    }
    if (model_solve_bloom(args, p, keys) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    use.keys = keys;
    use.universe = arg(args, "universe")->whole;
    use.share_removed = arg_real(args, "beta", 1);
    use.bits_cleared = arg(args, "clear-bits")->whole;
    enum tepal_status status = tepal_model(p, &use, report, &error);
    return args_status(args, status, error.why);
}

static const char *const of_retouched[] = {"keys",      "bits",     "fp",   "hashes",     "layout",
                                           "positions", "universe", "beta", "clear-bits", NULL};

const struct model model_retouched = {"retouched", TEPAL_LAYOUT_FLAT, of_retouched,
                                      retouched_report, NULL};
