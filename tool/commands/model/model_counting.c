/* model_counting.c: the rate of a counting filter, and what wrong removals do to it. */
#include <math.h>

#include <tepal/counting.h>
#include <tepal/model.h>

#include "commands/model/models.h"
#include "cli/say.h"

static int counting_report(const struct args *args, enum tepal_layout layout,
                           struct tepal_report *report)
{
    const struct option_value *option = args->option;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    const char *why = "";
    enum tepal_counting_rule rule = TEPAL_RULE_IMPROVED_GREEDY;
    if (!option[OPT_KEYS].given || !option[OPT_CELLS].given) {
        return say_error(NULL, args->command->name, "counting: --cells M and --keys N are needed");
    }
    if (option[OPT_P0].given != option[OPT_P1].given) {
        return say_error(NULL, args->command->name, "--p0 and --p1 are given together");
    }
    if (option[OPT_RULE].given) {
        tepal_counting_rule_parse(option[OPT_RULE].text, &rule);
    }
    p.kind = TEPAL_KIND_COUNTING;
    p.layout = layout;
    if (option[OPT_MODEL_LAYOUT].given) {
        tepal_layout_parse(option[OPT_MODEL_LAYOUT].text, &p.layout);
    }
    p.cells = option[OPT_CELLS].whole;
    p.hashes = (uint32_t)option[OPT_HASHES].whole;
    p.own[TEPAL_COUNTING_CHOICES] = option[OPT_CHOICES].given ? option[OPT_CHOICES].whole : 1;
    p.own[TEPAL_COUNTING_RULE] = (uint64_t)rule;
    enum tepal_status status = tepal_model_counting(
        &p, option[OPT_KEYS].whole, option[OPT_P0].given ? option[OPT_P0].real : NAN,
        option[OPT_P1].given ? option[OPT_P1].real : NAN,
        option[OPT_WRONG].given ? (double)option[OPT_WRONG].whole : 1, report, &why);
    return status == TEPAL_OK ? EXIT_YES : say_error(NULL, args->command->name, "%s", why);
}

static const enum option_id of_counting[] = {OPT_KEYS,    OPT_MODEL_LAYOUT, OPT_CELLS, OPT_HASHES,
                                             OPT_CHOICES, OPT_RULE,         OPT_P0,    OPT_P1,
                                             OPT_WRONG,   OPT_END};

const struct model model_counting = {"counting", TEPAL_LAYOUT_FLAT, of_counting, counting_report,
                                     NULL};
