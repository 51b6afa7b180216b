/*
 * steps.h: what the steps of a deployed stop set share.
 *
 *     monitor 1  routes ── learn ──> sightings or a filter ──┐
 *     monitor 2  routes ── learn ──> sightings or a filter ──┤
 *         ...                                                 v
 *     server                                              combine ──> the stop set, a filter
 *                                                             ^            |
 *     monitor 1  routes ── trace <── the stop set ────────────┼────────────┘
 *                            └────── sightings of the share traced in full (fed back)
 */
#ifndef APPS_STOPSET_STEPS_H
#define APPS_STOPSET_STEPS_H

#include "cli/command.h"
#include "readers/traceroute.h"

/* The routes of the files that --cycle, --monitor and --max-transit keep. */
struct step_routes {
    struct routes routes;
    size_t *kept; /* by index */
    size_t count;
};

/* EXIT_YES, or EXIT_TROUBLE after having said why. Free it either way. */
int step_read(const struct args *args, struct step_routes *r);
void step_free(struct step_routes *r);

#define OPTION_STEP_CYCLE                                                                          \
    OPTION(0, "cycle", OF_WHOLE("C", 0, UINT64_MAX), "Only the routes of cycle C (default: all).")

#define OPTION_STEP_MONITOR                                                                        \
    OPTION(0, "monitor", OF_VALUE(TAKES_TEXT, "NAME"),                                             \
           "Only the routes of this monitor (default: of all that are in ROUTES).")

#endif
