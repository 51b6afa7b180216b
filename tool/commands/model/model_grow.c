/* model_grow.c: what filters that grow do when they have grown. */
#include <inttypes.h>

#include <tepal/papers.h>

#include "commands/model/models.h"

static int predict(const struct args *args, uint64_t keys, const struct tepal_params *p,
                   struct tepal_report *report)
{
    struct tepal_use use = TEPAL_USE_INIT;
    struct tepal_error error = {.why = ""};
    use.keys = keys;
    enum tepal_status status = tepal_model(p, &use, report, &error);
    return args_status(args, status, error.why);
}

static int need_keys(const struct args *args, uint64_t keys)
{
    return arg(args, "keys")->given && keys > 0
               ? EXIT_YES
               : args_wrong(args, "--keys N is needed, at least 1");
}

static int growing_report(const struct args *args, uint64_t keys, struct tepal_params *p,
                          struct tepal_report *report)
{
    if (need_keys(args, keys) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    uint64_t first = arg_whole(args, "first", keys / 1000 + 1);
    p->kind = TEPAL_KIND_GROWING;
    if (tepal_growing_size(first, keys, arg_real(args, "fp", 0.01), p) != TEPAL_OK) {
        return args_wrong(args,
                          "no growing filter keeps this rate from %" PRIu64 " to %" PRIu64 " keys",
                          first, keys);
    }
    return predict(args, keys, p, report);
}

static const char *const of_growing[] = {"keys", "fp", "first", NULL};

const struct model model_growing = {"growing", TEPAL_LAYOUT_FLAT, of_growing, growing_report, NULL};

static int chain_report(const struct args *args, uint64_t keys, struct tepal_params *p,
                        struct tepal_report *report)
{
    struct tepal_error error = {.why = ""};
    p->kind = TEPAL_KIND_CHAIN;
    if (need_keys(args, keys) != EXIT_YES || recipe_chain_series(args, p) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    p->chain.first_keys = arg_whole(args, "first", keys / 1000 + 1);
    if (tepal_params_for_rate(p, keys, arg_real(args, "fp", 0.01), &error) != TEPAL_OK) {
        return args_wrong(args, "%s", error.why);
    }
    return predict(args, keys, p, report);
}

static const char *const of_chain[] = {"keys",   "fp",     "first",     "layout",
                                       "growth", "series", "positions", NULL};

const struct model model_chain = {"chain", TEPAL_LAYOUT_FLAT, of_chain, chain_report, NULL};
