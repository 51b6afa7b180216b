/* traceback.h: what the parts of `tepal app traceback` share. */
#ifndef APPS_TRACEBACK_TRACEBACK_H
#define APPS_TRACEBACK_TRACEBACK_H

#include <tepal/tepal.h>

#include "cli/command.h"
#include "output/report.h"
#include "readers/graph.h"
#include "readers/traceroute.h"

/* Who may have sent to whom: the neighbours of v are neighbour[first[v]] .. [first[v + 1] - 1]. */
struct mesh {
    uint32_t nodes;
    uint32_t *first;
    uint32_t *neighbour;
};

/* The routers that a packet passed, the attacker's first. */
struct path {
    uint32_t hops;
    uint64_t router[ROUTE_HOPS + 1];
};

/* What the model says of a path of so many hops. */
struct forecast {
    bool known;
    double zeros;                 /* the share of zeros that the sender begins with */
    double fp;                    /* of a router beside the path */
    double keeps[ROUTE_HOPS + 1]; /* by age: the chance that the filter still knows it */
};

struct step;

struct traceback {
    const struct args *args;
    struct graph graph;
    struct graph_spread spread;
    struct routes routes;
    size_t *usable; /* routes without gaps or repeats */
    size_t usable_count;
    struct mesh mesh;
    uint32_t tree;  /* neighbours of a router; 0: a network or routes */
    uint32_t hops;  /* 0: any */
    uint32_t reach; /* the most routers of a way that is followed */
    uint64_t most;  /* routers that may be asked for one packet, besides those of the path */
    uint64_t packets;
    uint64_t seed;
    uint64_t random;
    bool *asked; /* by node */
    bool *found;
    bool *met;
    uint32_t *queue;
    uint64_t *near;    /* neighbours of a router */
    struct step *step; /* of a walk */
    struct forecast forecast[ROUTE_HOPS + 1];
    double *bound;             /* by the number of ignored bits; 0: not known yet */
    struct tepal_params armed; /* of the filter as the attacker leaves it */
    bool wild;                 /* wildcards: ignore the bits of the routers found so far */
    bool forged;               /* the attacker knows the hash functions */
    bool tuned;                /* the attacker chooses the share of zeros */
    struct report report;
};

/* Sums over packets. */
struct tally {
    uint64_t packets;
    uint64_t full;
    uint64_t hops;
    uint64_t hops_found;
    uint64_t branches;
    uint64_t candidates; /* routers off the path that stand next to it */
    uint64_t strays;     /* all routers off the path that the walk reaches */
    uint64_t asked;
    uint64_t cut; /* walks that would have asked more than they may */
    double expected_full;
    double expected_hops;
    double expected_branches;
    double most_branches; /* the bound, whatever the sender's bits */
};

/* 64-bit words of the filter in a packet. */
static inline size_t mask_words(const struct traceback *t)
{
    return (size_t)((t->armed.cells + 63) / 64);
}

/*
 * Where the paths come from: --tree, --routes or a network. EXIT_YES, or EXIT_TROUBLE after having
 * said why.
 */
int paths_prepare(struct traceback *t);

/*
 * A path drawn at random, and in t->reach the longest way that its victim has reason to follow.
 * False: there is none that is wanted.
 */
bool paths_draw(struct traceback *t, struct path *path);

/* The routers from which the router of a step may have got the packet. Returns how many. */
uint32_t paths_neighbours(const struct traceback *t, const struct path *path,
                          const struct step *step, uint64_t *out);

/* One packet with an armed filter: sent, traced back, and added to the sums. */
enum tepal_status packet_trace(struct traceback *t, struct tally *sum);

/* What the model expects of such a packet. (expect.c) */
enum tepal_status foresee(struct traceback *t, uint32_t hops);

/*
 * Adds what is expected and what is possible at most. By the age of the path's routers: how many
 * routers stand beside each, and with wildcards how many bits are ignored there.
 */
void expect(struct traceback *t, uint32_t hops, const uint32_t *candidates, const uint64_t *wild,
            struct tally *sum);

#endif
