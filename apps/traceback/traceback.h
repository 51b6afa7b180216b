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

/* One packet: the routers it passed, the attacker's first, and those that the walk may meet. */
struct path {
    uint32_t hops;
    uint32_t router[ROUTE_HOPS + 1];
};

/* What the model says of a path of so many hops. */
struct forecast {
    bool known;
    double fp;
    double keeps[ROUTE_HOPS + 1]; /* by age: the chance that the filter still knows it */
};

struct traceback {
    const struct args *args;
    struct graph graph;
    struct graph_spread spread;
    struct routes routes;
    size_t *usable; /* routes without gaps or repeats */
    size_t usable_count;
    struct mesh mesh;
    uint32_t tree; /* neighbours of a router; 0: a network or routes */
    uint32_t hops; /* 0: any */
    uint64_t packets;
    uint64_t seed;
    uint64_t random;
    bool *asked; /* by node */
    bool *found;
    bool *on_path;
    uint32_t *queue;
    struct forecast forecast[ROUTE_HOPS + 1];
    struct tepal_params armed; /* of the filter as the attacker leaves it */
    struct report report;
};

/*
 * Where the paths come from: --tree, --routes or a network. EXIT_YES, or EXIT_TROUBLE after having
 * said why.
 */
int paths_prepare(struct traceback *t);

/* A path drawn at random from the network or the routes. False: there is none that is wanted. */
bool paths_draw(struct traceback *t, struct path *path);

#endif
