/* model_recycling.c: the recycling filter's average error, from sigma or the other way round. */
#include <tepal/model.h>

#include "commands/model/models.h"

static int recycling_report(const struct args *args, uint64_t keys, struct tepal_params *p,
                            struct tepal_report *report)
{
    struct tepal_recycling_setting setting = TEPAL_RECYCLING_SETTING_INIT;
    const char *why = "";
    (void)keys;
    if (!arg(args, "bits")->given) {
        return args_wrong(args, "--bits M is needed (of one phase)");
    }
    if (arg(args, "sigma")->given == arg(args, "fp")->given) {
        return args_wrong(args, "give one of --sigma S and --fp RATE");
    }
    if (arg(args, "sigma")->given && !arg(args, "hashes")->given) {
        return args_wrong(args, "--sigma needs --hashes K");
    }
    setting.layout = p->layout;
    setting.positions = arg(args, "distinct")->given ? TEPAL_POSITIONS_DISTINCT : p->positions;
    setting.bits = p->cells;
    setting.hashes = p->hashes;
    setting.sigma = arg(args, "sigma")->whole;
    setting.phases = (uint32_t)arg_whole(args, "phases", 1);
    setting.retain = arg(args, "retain")->given;
    setting.keep_trigger = arg(args, "keep-trigger")->given;
    enum tepal_status status = tepal_model_recycling(&setting, arg(args, "fp")->real, report, &why);
    return args_status(args, status, why);
}

static const char *const of_recycling[] = {"bits",      "fp",           "hashes", "layout",
                                           "positions", "phases",       "sigma",  "distinct",
                                           "retain",    "keep-trigger", NULL};

/* A rate is kept at any size. */
static const char *const recycling_exclusive[][4] = {{NULL}};

const struct model model_recycling = {"recycling", TEPAL_LAYOUT_FLAT, of_recycling,
                                      recycling_report, recycling_exclusive};
