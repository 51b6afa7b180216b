/*
 * input.c: what retouching any kind of filter asks of its input, and what a budget allows.
 *
 * A budget limits the members that are given up: all may be, or a share of them, or so many, or so
 * much of their weight.
 */
#include "filter/retouched/internal.h"

#include <math.h>

#include "base/refuse.h"
#include "filter/known/known.h"

enum tepal_status tepal_retouch_check_input(const struct tepal_retouch_input *in,
                                            enum tepal_retouch_limit limit, double budget,
                                            const char **why)
{
    if (in->member_count > KNOWN_MOST_KEYS || in->avoid_count > KNOWN_MOST_KEYS ||
        in->known_count > KNOWN_MOST_KEYS) {
        return refuse(why, TEPAL_TOO_LARGE, "more than 2^31 keys");
    }
    if (limit == TEPAL_RETOUCH_LIMIT_SHARE && !(budget >= 0 && budget <= 1)) {
        return refuse(why, TEPAL_BAD_ARGUMENT, "the budget is a share outside 0..1");
    }
    if (limit != TEPAL_RETOUCH_LIMIT_ALL && !(budget >= 0)) {
        return refuse(why, TEPAL_BAD_ARGUMENT, "the budget is negative or not a number");
    }
    if (!tepal_known_weights_valid(in->member_weights, in->member_count)) {
        return refuse(why, TEPAL_BAD_ARGUMENT, "a member's weight is negative or not finite");
    }
    if (!tepal_known_weights_valid(in->avoid_weights, in->avoid_count)) {
        return refuse(why, TEPAL_BAD_ARGUMENT,
                      "a troublesome key's weight is negative or not finite");
    }
    return TEPAL_OK;
}

struct retouch_limits tepal_retouch_limits(enum tepal_retouch_limit limit, double budget,
                                           size_t members)
{
    struct retouch_limits most = {UINT64_MAX, HUGE_VAL};
    double n = (double)members;
    switch (limit) {
    case TEPAL_RETOUCH_LIMIT_ALL:
        break;
    case TEPAL_RETOUCH_LIMIT_SHARE:
        /* 0.01 * 10000 must be 100, whatever the doubles say. */
        most.lost = (uint64_t)(budget * n * (1 + 1e-12));
        break;
    case TEPAL_RETOUCH_LIMIT_COUNT:
        most.lost = budget < n ? (uint64_t)budget : (uint64_t)n;
        break;
    case TEPAL_RETOUCH_LIMIT_WEIGHT:
        most.weight = budget;
        break;
    }
    return most;
}
