/* recipe_growing.c: a growing filter from its options: the rate, and where it holds. */
#include <inttypes.h>

#include <tepal/papers.h>

#include "commands/build/recipe.h"

/* The growth that is planned for where only one end of it is given. */
#define GROWTH 1000

static const char *const growing_options[] = {"fp", "capacity", "grow", "first", NULL};

static bool growing_counts(const struct args *args)
{
    return !arg(args, "capacity")->given && !arg(args, "first")->given;
}

static int growing_params(const struct args *args, uint64_t keys, struct tepal_params *p)
{
    bool told = arg(args, "capacity")->given;
    uint64_t first = arg_whole(args, "first", told ? keys / GROWTH + 1 : keys);
    uint64_t last = told ? keys : first > UINT64_MAX / GROWTH ? first : GROWTH * first;
    if (first > last) {
        return args_error(args, "--first %s: more keys than --capacity %s plans for",
                          arg(args, "first")->text, arg(args, "capacity")->text);
    }
    if (tepal_growing_size(first, last, arg_real(args, "fp", 0.01), p) != TEPAL_OK) {
        return args_error(args, "no growing filter keeps this rate up to %" PRIu64 " keys", last);
    }
    p->capacity = last;
    return recipe_check(args, p);
}

const struct recipe recipe_growing = {TEPAL_KIND_GROWING, growing_options, growing_counts,
                                      growing_params, NULL};
