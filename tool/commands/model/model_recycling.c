/* model_recycling.c: the recycling filter's average error, from sigma or the other way round. */
#include <tepal/model.h>

#include "commands/model/models.h"
#include "cli/say.h"

static int recycling_report(const struct args *args, enum tepal_layout layout,
                            struct tepal_report *report)
{
    const struct option_value *option = args->option;
    struct tepal_recycling_setting setting = TEPAL_RECYCLING_SETTING_INIT;
    const char *why = "";
    if (!option[OPT_BITS].given) {
        return say_error(NULL, args->command->name, "--bits M is needed (of one phase)");
    }
    if (option[OPT_CYCLE_SIGMA].given == option[OPT_FP].given) {
        return say_error(NULL, args->command->name, "give one of --sigma S and --fp RATE");
    }
    if (option[OPT_CYCLE_SIGMA].given && !option[OPT_HASHES].given) {
        return say_error(NULL, args->command->name, "--sigma needs --hashes K");
    }
    setting.layout = layout;
    setting.bits = option[OPT_BITS].whole;
    setting.hashes = (uint32_t)option[OPT_HASHES].whole;
    setting.sigma = option[OPT_CYCLE_SIGMA].whole;
    setting.phases = option[OPT_CYCLE_PHASES].given ? (uint32_t)option[OPT_CYCLE_PHASES].whole : 1;
    setting.retain = option[OPT_RETAIN].given;
    setting.keep_trigger = option[OPT_KEEP_TRIGGER].given;
    if (option[OPT_MODEL_LAYOUT].given) {
        tepal_layout_parse(option[OPT_MODEL_LAYOUT].text, &setting.layout);
    }
    if (option[OPT_POSITIONS].given) {
        tepal_positions_parse(option[OPT_POSITIONS].text, &setting.positions);
    }
    if (option[OPT_DISTINCT].given) {
        setting.positions = TEPAL_POSITIONS_DISTINCT;
    }
    enum tepal_status status = tepal_model_recycling(&setting, option[OPT_FP].real, report, &why);
    return status == TEPAL_OK ? EXIT_YES : say_error(NULL, args->command->name, "%s", why);
}

static const enum option_id of_recycling[] = {
    OPT_BITS,        OPT_FP,       OPT_HASHES, OPT_MODEL_LAYOUT, OPT_POSITIONS, OPT_CYCLE_PHASES,
    OPT_CYCLE_SIGMA, OPT_DISTINCT, OPT_RETAIN, OPT_KEEP_TRIGGER, OPT_END};

/* A rate is kept at any size. */
static const enum option_id recycling_exclusive[][4] = {{0}};

const struct model model_recycling = {"recycling", TEPAL_LAYOUT_FLAT, of_recycling,
                                      recycling_report, recycling_exclusive};
