/*
 * walk.h: where a packet goes: over every link that matches its header, from node to node, until
 * nothing matches or its time to live ends. Who matches is asked node by node.
 *
 * Nodes keep nothing of a packet, so copies that meet stay copies, and a loop multiplies them; but
 * they are all alike, so that it is enough to count, hop by hop, how many come to each node.
 */
#ifndef APPS_ROUTE_WALK_H
#define APPS_ROUTE_WALK_H

#include "readers/graph.h"

struct walk {
    const struct graph *graph;
    bool *matched; /* of every link that leaves a node that the packet comes to */
    uint64_t packet;
    uint32_t *reached; /* the nodes that the packet comes to, the root first */
    uint32_t reached_count;
    uint64_t *came; /* of every node: the packet that last came to it */
    uint32_t *into; /* how many crossed links lead to it */
    uint32_t *queue;
    double *copies[2];
};

/* False: no memory. The graph must outlive it. */
bool walk_new(struct walk *walk, const struct graph *graph);
void walk_free(struct walk *walk);

/* Set `matched` of the links that leave the node. */
typedef void walk_ask(void *ctx, uint32_t node, bool *matched);

/* Send a packet from the root: finds all nodes that it comes to, in order of distance. */
void walk_spread(struct walk *walk, uint32_t root, walk_ask *ask, void *ctx);

/* Of the last packet: did it cross this link? */
static inline bool walk_crossed(const struct walk *walk, uint32_t link)
{
    return walk->came[walk->graph->link[link].from] == walk->packet && walk->matched[link];
}

/* How often it crosses links, and how many copies its time to live ends. */
void walk_count(struct walk *walk, uint32_t ttl, double *crossings, double *expired);

/* Does it come back to a node where it was? */
bool walk_loops(struct walk *walk);

#endif
