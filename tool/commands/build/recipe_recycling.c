/* recipe_recycling.c: a recycling filter from its options: by rate, by sigma or by messages. */
#include <tepal/model.h>
#include <tepal/recycling.h>

#include "commands/build/recipe.h"
#include "cli/say.h"

static const enum option_id recycling_options[] = {
    OPT_FP,        OPT_BITS,         OPT_HASHES,      OPT_LAYOUT,
    OPT_POSITIONS, OPT_CYCLE_PHASES, OPT_CYCLE_SIGMA, OPT_CYCLE_MESSAGES,
    OPT_FORGET,    OPT_KEEP_TRIGGER, OPT_ONLY_MISSES, OPT_END};

static bool recycling_counts(const struct args *args)
{
    (void)args;
    return false; /* its size does not depend on how many come */
}

static int refuse(const struct args *args, const char *why)
{
    return say_error(args->command->stays, args->command->name, "%s", why);
}

/* Sigma, and the number of hashes if it was not given, for the rate. */
static int plan(const struct args *args, struct tepal_params *p,
                struct tepal_recycling_options *cycle)
{
    const struct option_value *fp = &args->option[OPT_FP];
    struct tepal_recycling_rates rates;
    struct tepal_recycling_setting setting = {
        p->layout, p->positions,  p->cells,      p->hashes,
        0,         cycle->phases, cycle->retain, cycle->keep_trigger};
    struct tepal_params any = *p;
    const char *why = "";
    any.hashes = p->hashes == 0 ? 1 : p->hashes;
    any.kind = TEPAL_KIND_BLOOM;
    if (tepal_params_check(&any, &why) != TEPAL_OK) {
        return refuse(args, why);
    }
    if (tepal_recycling_plan(&setting, fp->given ? fp->real : 0.01, &rates) != TEPAL_OK) {
        return refuse(args,
                      "no sigma keeps that average: more --bits or fewer --hashes are needed");
    }
    p->hashes = setting.hashes;
    p->capacity = (uint64_t)rates.messages_per_cycle;
    cycle->limit = setting.sigma;
    return EXIT_YES;
}

static int limit_of(const struct args *args, struct tepal_params *p,
                    struct tepal_recycling_options *cycle)
{
    const struct option_value *option = args->option;
    if (!option[OPT_CYCLE_SIGMA].given && !option[OPT_CYCLE_MESSAGES].given) {
        return plan(args, p, cycle);
    }
    if (option[OPT_FP].given) {
        return refuse(args, "--fp contradicts --sigma and --messages: give one of them");
    }
    if (!option[OPT_HASHES].given) {
        return refuse(args, "--sigma and --messages need --hashes K");
    }
    if (option[OPT_CYCLE_MESSAGES].given) {
        cycle->rule = TEPAL_RECYCLING_COUNT;
        cycle->limit = option[OPT_CYCLE_MESSAGES].whole;
    } else {
        cycle->limit = option[OPT_CYCLE_SIGMA].whole;
    }
    return EXIT_YES;
}

static int recycling_params(const struct args *args, uint64_t keys, struct tepal_params *out)
{
    const struct option_value *option = args->option;
    struct tepal_recycling_options cycle = TEPAL_RECYCLING_OPTIONS_INIT;
    struct tepal_params p = *out;
    const char *why = "";
    (void)keys;
    if (!option[OPT_BITS].given) {
        return refuse(args, "--kind recycling needs --bits M, the bits of one phase");
    }
    if (option[OPT_LAYOUT].given) {
        tepal_layout_parse(option[OPT_LAYOUT].text, &p.layout);
    }
    if (option[OPT_POSITIONS].given) {
        tepal_positions_parse(option[OPT_POSITIONS].text, &p.positions);
    }
    if (option[OPT_CYCLE_PHASES].given) {
        cycle.phases = (uint32_t)option[OPT_CYCLE_PHASES].whole;
    }
    cycle.retain = !option[OPT_FORGET].given;
    cycle.keep_trigger = option[OPT_KEEP_TRIGGER].given;
    cycle.only_misses = option[OPT_ONLY_MISSES].given;
    p.cells = option[OPT_BITS].whole;
    p.hashes = (uint32_t)option[OPT_HASHES].whole;
    if (limit_of(args, &p, &cycle) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    tepal_recycling_set_options(&p, &cycle);
    if (tepal_params_check(&p, &why) != TEPAL_OK) {
        return refuse(args, why);
    }
    *out = p;
    return EXIT_YES;
}

/* A rate is kept at any size. */
static const enum option_id recycling_exclusive[][4] = {{OPT_CYCLE_SIGMA, OPT_CYCLE_MESSAGES}, {0}};

const struct recipe recipe_recycling = {TEPAL_KIND_RECYCLING, recycling_options, recycling_counts,
                                        recycling_params, recycling_exclusive};
