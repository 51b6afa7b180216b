/* stopset.h: what the parts of `tepal app stopset` share. */
#ifndef APPS_STOPSET_STOPSET_H
#define APPS_STOPSET_STOPSET_H

#include <tepal/tepal.h>

#include "cli/command.h"
#include "output/report.h"
#include "readers/traceroute.h"
#include "stopset/replay.h"

struct stopset {
    const struct args *args;
    struct routes routes;
    uint64_t *cycle; /* the cycles there are, in order */
    size_t cycles;
    uint64_t learn;
    size_t learned; /* routes of that cycle */
    size_t *kept;   /* the selected routes, by index */
    size_t kept_count;
    uint32_t nodes;
    bool *member;   /* is the node in A? */
    double *ends;   /* in how many routes of the cycle learned is it the penultimate */
    double *passes; /* in how many routes of it does it occur */
    uint32_t *link; /* of every hop: the number of the link to the next one, or REPLAY_NOWHERE */
    uint32_t links;
    uint64_t members;
    double list_bits;
    struct tepal_digest *digest; /* of every node */
    bool *stops;                 /* the set at work, by node */
    bool *listed_nodes;          /* what a replay with the list sees in the cycle at work */
    bool *listed_links;
    bool *seen_nodes;
    bool *seen_links;
    struct report report;
};

/* The addresses on a route; the last of them, or ROUTE_SILENT. */
static inline const uint32_t *stopset_hops(const struct stopset *s, const struct route *r)
{
    return s->routes.hop + r->first;
}

static inline uint32_t stopset_penultimate(const struct stopset *s, const struct route *r)
{
    return r->hops == 0 ? ROUTE_SILENT : stopset_hops(s, r)[r->hops - 1];
}

/*
 * From the routes that were read to all that is known of them. EXIT_YES, or EXIT_TROUBLE after
 * having said why.
 */
int stopset_learn(struct stopset *s);

#endif
