/* recipe_recycling.c: a recycling filter from its options: by rate, by sigma or by messages. */
#include <tepal/model.h>
#include <tepal/recycling.h>

#include "commands/build/recipe.h"
#include "cli/options.h"

static const char *const recycling_options[] = {
    "fp",    "bits",     "hashes",         "layout",       "positions",   "phases",
    "sigma", "messages", "forget-trigger", "keep-trigger", "only-misses", NULL};

static bool recycling_counts(const struct args *args)
{
    (void)args;
    return false; /* its size does not depend on how many come */
}

/* Sigma, and the number of hashes if it was not given, for the rate. */
static int plan(const struct args *args, struct tepal_params *p,
                struct tepal_recycling_options *cycle)
{
    struct tepal_recycling_rates rates;
    struct tepal_recycling_setting setting = {
        p->layout, p->positions,  p->cells,      p->hashes,
        0,         cycle->phases, cycle->retain, cycle->keep_trigger};
    struct tepal_params any = *p;
    any.hashes = p->hashes == 0 ? 1 : p->hashes;
    any.kind = TEPAL_KIND_BLOOM;
    if (recipe_check(args, &any) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    if (tepal_recycling_plan(&setting, arg_real(args, "fp", 0.01), &rates) != TEPAL_OK) {
        return args_error(args,
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
    if (!arg(args, "sigma")->given && !arg(args, "messages")->given) {
        return plan(args, p, cycle);
    }
    if (arg(args, "fp")->given) {
        return args_error(args, "--fp contradicts --sigma and --messages: give one of them");
    }
    if (!arg(args, "hashes")->given) {
        return args_error(args, "--sigma and --messages need --hashes K");
    }
    if (arg(args, "messages")->given) {
        cycle->rule = TEPAL_RECYCLING_COUNT;
        cycle->limit = arg(args, "messages")->whole;
    } else {
        cycle->limit = arg(args, "sigma")->whole;
    }
    return EXIT_YES;
}

static int recycling_params(const struct args *args, uint64_t keys, struct tepal_params *p)
{
    struct tepal_recycling_options cycle = TEPAL_RECYCLING_OPTIONS_INIT;
    (void)keys;
    if (!arg(args, "bits")->given) {
        return args_error(args, "--kind recycling needs --bits M, the bits of one phase");
    }
    recipe_places(args, 0, p);
    if (arg(args, "phases")->given) {
        cycle.phases = (uint32_t)arg(args, "phases")->whole;
    }
    cycle.retain = !arg(args, "forget-trigger")->given;
    cycle.keep_trigger = arg(args, "keep-trigger")->given;
    cycle.only_misses = arg(args, "only-misses")->given;
    p->cells = arg(args, "bits")->whole;
    if (limit_of(args, p, &cycle) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    tepal_recycling_set_options(p, &cycle);
    return recipe_check(args, p);
}

/* A rate is kept at any size. */
static const char *const recycling_exclusive[][4] = {{"sigma", "messages"}, {NULL}};

const struct recipe recipe_recycling = {TEPAL_KIND_RECYCLING, recycling_options, recycling_counts,
                                        recycling_params, recycling_exclusive};
