/* model_retouched.c: what clearing bits at random costs and gives. */
#include <tepal/model.h>

#include "commands/model/models.h"

static int retouched_report(const struct args *args, uint64_t keys, struct tepal_params *p,
                            struct tepal_report *report)
{
    const char *why = "";
    p->kind = TEPAL_KIND_RETOUCHED;
    if (model_need_bloom(args) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    if (!arg(args, "universe")->given) {
        return args_wrong(args, "retouched: --universe N is needed");
    }
    if (arg(args, "universe")->whole <= keys) {
        return args_wrong(args, "--universe %s: too small: it must hold more than the members",
                          arg(args, "universe")->text);
    }
    if (arg(args, "layout")->given || arg(args, "positions")->given) {
        return args_wrong(args,
                          "retouched: the formulas are those of the flat layout with colliding "
                          "positions");
    }
    if (model_solve_bloom(args, p, keys) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    enum tepal_status status =
        tepal_model_retouched(p, keys, arg(args, "universe")->whole, arg_real(args, "beta", 1),
                              arg(args, "clear-bits")->whole, report, &why);
    return args_status(args, status, why);
}

static const char *const of_retouched[] = {"keys",      "bits",     "fp",   "hashes",     "layout",
                                           "positions", "universe", "beta", "clear-bits", NULL};

const struct model model_retouched = {"retouched", TEPAL_LAYOUT_FLAT, of_retouched,
                                      retouched_report, NULL};
