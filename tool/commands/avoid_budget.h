/*
 * avoid_budget.h: the options by which build and avoid say how many members a filter may lose to
 * the keys that it avoids.
 */
#ifndef TOOL_COMMANDS_AVOID_BUDGET_H
#define TOOL_COMMANDS_AVOID_BUDGET_H

#include <math.h>

#include "cli/command.h"
#include "cli/options.h"

#define OPTION_BUDGET                                                                              \
    OPTION(                                                                                        \
        0, "max-fn", OF_VALUE(TAKES_SHARE, "R"),                                                   \
        "The budget of tepal avoid: the filter may lose at most the share R of its members, as "   \
        "0.1% or 1/1000, in all. It is saved with the filter; avoid can change it.")
#define OPTION_BUDGET_COUNT                                                                        \
    OPTION(0, "max-fn-count", OF_WHOLE("N", 1, UINT64_MAX),                                        \
           "The same as a number: at most N members.")

/* What they allow for so many members, if they were not given this share; 0: nothing. */
static inline uint64_t avoid_budget(const struct args *args, double share, double members)
{
    share = arg_real(args, "max-fn", share);
    if (arg(args, "max-fn-count")->given) {
        return arg(args, "max-fn-count")->whole;
    }
    return share > 0 ? (uint64_t)fmax(1, fmin(floor(share * members * (1 + 1e-12)), 0x1p60)) : 0;
}

#endif
