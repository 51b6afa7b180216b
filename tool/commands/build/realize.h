/*
 * realize.h: a plan made true: the filter that it says, built in memory from digests.
 */
#ifndef TOOL_COMMANDS_BUILD_REALIZE_H
#define TOOL_COMMANDS_BUILD_REALIZE_H

#include <tepal/plan.h>

#include <tepal/filter.h>

struct realize {
    const struct tepal_proposal *plan;
    uint64_t limit; /* bits that a cascade may have; 0: as its plan says */
    const struct tepal_digest *members;
    size_t member_count;
    const struct tepal_digest *avoid; /* known negatives; different from members */
    size_t avoid_count;
    const double *avoid_weights; /* NULL: 1 each */
};

/* The status of what failed; *why may name it. The filter is the caller's to free. */
enum tepal_status realize_plan(const struct realize *what, uint64_t seed, struct tepal_filter **out,
                               const char **why);

#endif
