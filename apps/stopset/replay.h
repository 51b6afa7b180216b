/*
 * replay.h: routes against a set of addresses at which they stop.
 *
 *     1 ── 2 ── 3 ── 4 ── destination      stopped at 4: a success; before it: short; not at all:
 *                                          it collides with the destination
 */
#ifndef APPS_STOPSET_REPLAY_H
#define APPS_STOPSET_REPLAY_H

#include <stdbool.h>

#include "readers/traceroute.h"

#define REPLAY_NOWHERE UINT32_MAX

/*
 * Numbers for the links of the routes from `first` to before `last`: into *link, of every hop of
 * all routes, that of the link to the next one, or REPLAY_NOWHERE. False: no memory; free *link
 * either way.
 */
bool replay_links(const struct routes *routes, size_t first, size_t last, uint32_t **link,
                  uint32_t *links);

struct replay_outcome {
    uint64_t routes;
    uint64_t success;
    uint64_t stopped_short;
    uint64_t collision;
    uint64_t probes;         /* sent, one for each hop up to where it stops */
    uint64_t probes_in_full; /* that tracing them in full would have sent */
};

/* What a replay sees; all NULL: nobody looks. */
struct replay_seen {
    const uint32_t *link; /* of every hop */
    bool *nodes;
    bool *links;
};

/* The first hop at which a route stops; route->hops: it runs into its destination. */
uint32_t replay_end(const struct routes *routes, const struct route *route, const bool *stops);

/* One more route; stops[node]: it stops there. */
void replay_route(const struct routes *routes, const struct route *route, const bool *stops,
                  struct replay_outcome *outcome, const struct replay_seen *seen);

/* The share of what `listed` has that `seen` lacks. */
double replay_missed(const bool *listed, const bool *seen, size_t count);

/* A node that the set takes for one of its own, and how many routes that cuts. */
struct suspect {
    uint32_t node;
    double weight;
};

/* The most troublesome first; of equals, the first seen. */
void suspects_sort(struct suspect *list, size_t count);

#endif
