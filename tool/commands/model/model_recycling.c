/* model_recycling.c: the recycling filter's average error by sigma or count, and its inverse. */
#include <tepal/model.h>

#include "commands/model/models.h"

static int recycling_report(const struct args *args, uint64_t keys, struct tepal_params *p,
                            struct tepal_report *report)
{
    struct tepal_use use = TEPAL_USE_INIT;
    struct tepal_error error = {.why = ""};
    (void)keys;
    bool bits = arg(args, "bits")->given;
    bool fp = arg(args, "fp")->given;
    bool messages = arg(args, "messages")->given;
    if (!bits && !(messages && fp)) {
        return args_wrong(args, "--bits M is needed, the bits per phase (or --messages and --fp)");
    }
    if (!messages && arg(args, "sigma")->given == fp) {
        return args_wrong(args, "give one of --sigma S, --messages N and --fp RATE");
    }
    if (messages && bits && fp) {
        return args_wrong(args, "give two of --bits M, --messages N and --fp RATE");
    }
    if (arg(args, "sigma")->given && !arg(args, "hashes")->given) {
        return args_wrong(args, "--sigma needs --hashes K");
    }
    p->kind = TEPAL_KIND_RECYCLING;
    if (arg(args, "distinct")->given) {
        p->positions = TEPAL_POSITIONS_DISTINCT;
    }
    p->recycling.phases = arg_whole(args, "phases", 1);
    p->recycling.rule = messages ? TEPAL_RECYCLING_COUNT : TEPAL_RECYCLING_SIGMA;
    p->recycling.limit = arg(args, messages ? "messages" : "sigma")->whole;
    p->recycling.flags = (arg(args, "retain")->given ? TEPAL_RECYCLING_RETAIN : 0) |
                         (arg(args, "keep-trigger")->given ? TEPAL_RECYCLING_KEEP_TRIGGER : 0);
    use.fp = arg_real(args, "fp", NAN);
    enum tepal_status status = tepal_model(p, &use, report, &error);
    return args_status(args, status, error.why);
}

static const char *const of_recycling[] = {"bits",      "fp",           "hashes",   "layout",
                                           "positions", "phases",       "sigma",    "distinct",
                                           "retain",    "keep-trigger", "messages", NULL};

/* A rate is kept at any size. */
static const char *const recycling_exclusive[][4] = {{"sigma", "messages"}, {NULL}};

const struct model model_recycling = {"recycling", TEPAL_LAYOUT_FLAT, of_recycling,
                                      recycling_report, recycling_exclusive};
