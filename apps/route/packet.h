/*
 * packet.h: a path, or a tree of paths, in a packet's header, and what becomes of the packet.
 *
 *     root ──> a ──> b ──> destination        members: the links of the path (S)
 *              │     │
 *              x     y                        others: every other link that leaves a node of the
 *                                             path, reverse and parallel ones too (T)
 *
 * A node forwards over all of its links that match the header. A match that is not a member is a
 * false link: the packet's copy goes on from there, by the same rule (walk.h).
 */
#ifndef APPS_ROUTE_PACKET_H
#define APPS_ROUTE_PACKET_H

#include <tepal/tepal.h>

#include "readers/graph.h"

/* ---- what a header is for (plan.c) ----------------------------------------------------------- */

struct packet_plan {
    const struct graph *graph;
    uint32_t root;
    uint32_t *to; /* the destinations */
    size_t to_count;
    uint32_t *member; /* in an order in which each link comes after those that lead to it */
    uint32_t members;
    uint32_t *other; /* by the node they leave, as these come */
    uint32_t others;
    bool *is_member; /* of every link */
    uint32_t depth;  /* of the farthest destination, in links */
};

/*
 * The tree of shortest paths from root to the nodes `to` (one: a path), by the spread from the
 * root. False: no memory. All of `to` must be reached.
 */
bool packet_plan_make(struct packet_plan *plan, const struct graph *graph,
                      const struct graph_spread *spread, uint32_t root, const uint32_t *to,
                      size_t count);

/* `count` links of a path, from its first-th on, as a path of their own. False: no memory. */
bool packet_plan_part(struct packet_plan *part, const struct packet_plan *path, uint32_t first,
                      uint32_t count);
void packet_plan_free(struct packet_plan *plan);

/* ---- headers and packets (packet.c) ---------------------------------------------------------- */

enum packet_kind { PACKET_BLOOM, PACKET_YESNO, PACKET_KINDS };

struct packet_setting {
    struct tepal_params params[PACKET_KINDS]; /* seeds aside; both of the same size */
    struct tepal_yesno_options how;
    uint32_t ttl;
};

/* What one header does. */
struct packet_walk {
    uint32_t false_links; /* of `others`: the paper's false positives */
    uint32_t taken;       /* false links that the packet takes, also far from the path */
    double wasted;        /* crossings of links beyond one a member */
    double expired;       /* copies that the time to live ended */
    bool loop;            /* somewhere the packet comes back to where it was */
};

struct packet_walker;

/* NULL: no memory. The graph and the setting must outlive it. */
struct packet_walker *packet_walker_new(const struct graph *graph,
                                        const struct packet_setting *setting);
void packet_walker_free(struct packet_walker *walker);

/* Build the header of that kind under the seed and follow the packet. */
enum tepal_status packet_send(struct packet_walker *walker, const struct packet_plan *plan,
                              enum packet_kind kind, uint64_t seed, struct packet_walk *walk,
                              struct tepal_error *error);

/* Build the header alone: how many of `others` match it? */
enum tepal_status packet_try(struct packet_walker *walker, const struct packet_plan *plan,
                             enum packet_kind kind, uint64_t seed, uint32_t *left,
                             struct tepal_error *error);

/* Of the last packet: did it cross this link? */
bool packet_crossed(const struct packet_walker *walker, uint32_t link);

/* The last header, and how it is read. */
const uint64_t *packet_header(const struct packet_walker *walker);
const struct tepal_header_layout *packet_layout(const struct packet_walker *walker);

/* The mask of a link for headers of `layout`: what the node that it leaves holds. */
void packet_mask(const struct packet_walker *walker, const struct tepal_header_layout *layout,
                 uint32_t link, uint64_t *mask);

#endif
