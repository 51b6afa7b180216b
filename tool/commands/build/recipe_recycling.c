/* recipe_recycling.c: a recycling filter from its options: by rate, by sigma or by messages. */
#include <tepal/papers.h>
#include <tepal/recycling.h>

#include "commands/build/recipe.h"
#include "cli/options.h"
#include "streams/stream.h"

static const char *const recycling_options[] = {
    "fp",       "bits",           "hashes",       "layout",      "positions", "phases", "sigma",
    "messages", "forget-trigger", "keep-trigger", "only-misses", "rule",      NULL};

static bool recycling_counts(const struct args *args)
{
    (void)args;
    return false; /* its size does not depend on how many come */
}

static struct tepal_recycling_setting setting_of(const struct tepal_params *p)
{
    return (struct tepal_recycling_setting){
        .layout = p->layout,
        .positions = p->positions,
        .bits = p->cells,
        .hashes = p->hashes,
        .phases = (uint32_t)p->recycling.phases,
        .retain = (p->recycling.flags & TEPAL_RECYCLING_RETAIN) != 0,
        .keep_trigger = (p->recycling.flags & TEPAL_RECYCLING_KEEP_TRIGGER) != 0};
}

/* Sigma, and the number of hashes if it was not given, for the rate. */
static int plan(const struct args *args, struct tepal_params *p)
{
    struct tepal_recycling_rates rates;
    struct tepal_recycling_setting setting = setting_of(p);
    struct tepal_params any = TEPAL_PARAMS_INIT;
    any.layout = p->layout;
    any.positions = p->positions;
    any.cells = p->cells;
    any.hashes = p->hashes == 0 ? 1 : p->hashes;
    if (recipe_check(args, &any) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    if (tepal_recycling_best_sigma(&setting, arg_real(args, "fp", STREAM_FP), &rates) != TEPAL_OK) {
        return args_error(args,
                          "no sigma keeps this average rate: give more --bits or fewer --hashes");
    }
    p->hashes = setting.hashes;
    p->capacity = (uint64_t)rates.messages_per_cycle;
    p->recycling.limit = setting.sigma;
    if (stream_by(args, "average")) {
        p->recycling.rule = TEPAL_RECYCLING_AVERAGE;
        p->recycling.limit = stream_limit(arg_real(args, "fp", STREAM_FP));
        p->capacity = 0; /* that is the stream's choice */
    }
    return EXIT_YES;
}

/* By count: the messages give the bits, if not given (then --fp is), and the hashes likewise. */
static int count(const struct args *args, struct tepal_params *p)
{
    struct tepal_recycling_rates rates;
    struct tepal_recycling_setting setting = setting_of(p);
    p->recycling.rule = TEPAL_RECYCLING_COUNT;
    p->recycling.limit = arg(args, "messages")->whole;
    if (arg(args, "fp")->given == arg(args, "bits")->given) {
        return args_error(args, "--messages needs one of --bits M and --fp RATE");
    }
    if (p->cells != 0 && p->hashes != 0) {
        return EXIT_YES;
    }
    if (p->cells == 0 && p->layout != TEPAL_LAYOUT_FLAT) {
        return args_error(args, "--messages with --fp is for --layout flat: give --bits M");
    }
    if (tepal_recycling_for_count(&setting, p->recycling.limit, arg_real(args, "fp", STREAM_FP),
                                  &rates) != TEPAL_OK) {
        return args_error(args, "no filter counts to --messages %s", arg(args, "messages")->text);
    }
    p->cells = setting.bits;
    p->hashes = setting.hashes;
    return EXIT_YES;
}

static int limit_of(const struct args *args, struct tepal_params *p)
{
    if (arg(args, "rule")->given && !stream_by(args, "average") && !stream_by(args, "sigma")) {
        return args_error(args, "--rule %s is for --kind counting", arg(args, "rule")->text);
    }
    if (arg(args, "messages")->given) {
        return count(args, p);
    }
    if (!arg(args, "sigma")->given) {
        return plan(args, p);
    }
    if (arg(args, "fp")->given) {
        return args_error(args, "--fp and --sigma cannot be combined: give one of them");
    }
    if (!arg(args, "hashes")->given) {
        return args_error(args, "--sigma needs --hashes K");
    }
    p->recycling.limit = arg(args, "sigma")->whole;
    return EXIT_YES;
}

static int recycling_params(const struct args *args, uint64_t keys, struct tepal_params *p)
{
    (void)keys;
    if (!arg(args, "bits")->given && !arg(args, "messages")->given) {
        return args_error(args, "--kind recycling needs --bits M, the bits per phase");
    }
    recipe_places(args, 0, p);
    p->recycling.phases = arg_whole(args, "phases", 2);
    p->recycling.flags = (arg(args, "forget-trigger")->given ? 0 : TEPAL_RECYCLING_RETAIN) |
                         (arg(args, "keep-trigger")->given ? TEPAL_RECYCLING_KEEP_TRIGGER : 0) |
                         (arg(args, "only-misses")->given ? TEPAL_RECYCLING_ONLY_MISSES : 0);
    p->cells = arg(args, "bits")->whole;
    if (limit_of(args, p) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    return recipe_check(args, p);
}

/* A rate is kept at any size. */
static const char *const recycling_exclusive[][4] = {{"sigma", "messages", "rule"}, {NULL}};

const struct recipe recipe_recycling = {TEPAL_KIND_RECYCLING, recycling_options, recycling_counts,
                                        recycling_params, recycling_exclusive};
