/* model_growing.c: what a growing filter does when it has grown. */
#include <inttypes.h>

#include <tepal/papers.h>

#include "commands/model/models.h"

static int growing_report(const struct args *args, uint64_t keys, struct tepal_params *p,
                          struct tepal_report *report)
{
    struct tepal_use use = TEPAL_USE_INIT;
    struct tepal_error error = {.why = ""};
    if (!arg(args, "keys")->given || keys == 0) {
        return args_wrong(args, "--keys N is needed, at least 1");
    }
    uint64_t first = arg_whole(args, "first", keys / 1000 + 1);
    p->kind = TEPAL_KIND_GROWING;
    if (tepal_growing_size(first, keys, arg_real(args, "fp", 0.01), p) != TEPAL_OK) {
        return args_wrong(args,
                          "no growing filter keeps this rate from %" PRIu64 " to %" PRIu64 " keys",
                          first, keys);
    }
    use.keys = keys;
    enum tepal_status status = tepal_model(p, &use, report, &error);
    return args_status(args, status, error.why);
}

static const char *const of_growing[] = {"keys", "fp", "first", NULL};

const struct model model_growing = {"growing", TEPAL_LAYOUT_FLAT, of_growing, growing_report, NULL};
