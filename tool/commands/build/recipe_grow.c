/* recipe_grow.c: filters that grow, from their options: the rate, and from where to where. */
#include <inttypes.h>
#include <math.h>

#include <tepal/papers.h>

#include "commands/build/recipe.h"

/* The growth that is planned for where only one end of it is given. */
#define GROWTH 1000

static bool grow_counts(const struct args *args)
{
    return !arg(args, "capacity")->given && !arg(args, "first")->given;
}

/* From `keys` (the planned ones, if --capacity tells them) to where it begins and ends. */
static int range_of(const struct args *args, uint64_t keys, uint64_t *first, uint64_t *last)
{
    bool told = arg(args, "capacity")->given;
    *first = arg_whole(args, "first", told ? keys / GROWTH + 1 : keys);
    *last = told ? keys : *first > UINT64_MAX / GROWTH ? *first : GROWTH * *first;
    if (*first > *last) {
        return args_error(args, "--first %s: more keys than --capacity %s plans for",
                          arg(args, "first")->text, arg(args, "capacity")->text);
    }
    return EXIT_YES;
}

/* ---- growing --------------------------------------------------------------------------------- */

static const char *const growing_options[] = {"fp", "capacity", "grow", "first", "layout", NULL};

static int growing_params(const struct args *args, uint64_t keys, struct tepal_params *p)
{
    uint64_t first;
    uint64_t last;
    if (recipe_flat(args) != EXIT_YES || range_of(args, keys, &first, &last) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    if (tepal_growing_size(first, last, arg_real(args, "fp", 0.01), p) != TEPAL_OK) {
        return args_error(args, "no growing filter keeps this rate up to %" PRIu64 " keys", last);
    }
    p->capacity = last;
    return recipe_check(args, p);
}

const struct recipe recipe_growing = {TEPAL_KIND_GROWING, growing_options, grow_counts,
                                      growing_params, NULL};

/* ---- chain ----------------------------------------------------------------------------------- */

static const char *const chain_options[] = {"fp",     "capacity", "grow",      "first", "layout",
                                            "growth", "series",   "positions", NULL};

int recipe_chain_series(const struct args *args, struct tepal_params *p)
{
    enum tepal_chain_series series = TEPAL_CHAIN_EVEN;
    double growth = arg_real(args, "growth", 2);
    if (arg(args, "series")->given) {
        (void)tepal_chain_series_parse(arg(args, "series")->text, &series);
    }
    if (!(growth <= 65536)) {
        return args_error(args, "--growth %s: at most 65536", arg(args, "growth")->text);
    }
    p->chain.growth = (uint64_t)llround(growth * TEPAL_CHAIN_UNIT);
    p->chain.series = (uint64_t)series;
    if (p->chain.growth < TEPAL_CHAIN_UNIT + (uint64_t)(series == TEPAL_CHAIN_EVEN)) {
        return args_error(args, "--growth %s: %s", arg(args, "growth")->text,
                          series == TEPAL_CHAIN_EVEN ? "must be above 1 (by 1/256 at least)"
                                                     : "must be at least 1");
    }
    return EXIT_YES;
}

static int chain_params(const struct args *args, uint64_t keys, struct tepal_params *p)
{
    uint64_t last;
    struct tepal_error error = {.why = ""};
    recipe_places(args, 0, p);
    if (range_of(args, keys, &p->chain.first_keys, &last) != EXIT_YES ||
        recipe_chain_series(args, p) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    enum tepal_status status = tepal_params_for_rate(p, last, arg_real(args, "fp", 0.01), &error);
    return status == TEPAL_OK ? EXIT_YES : args_error(args, "%s", error.why);
}

const struct recipe recipe_chain = {TEPAL_KIND_CHAIN, chain_options, grow_counts, chain_params,
                                    NULL};
