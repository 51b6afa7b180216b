/*
 * split.h: a path that is too long for one header is cut into parts, each with a header of its own.
 * Where a part ends, its last node puts the next header into the packet.
 */
#ifndef APPS_ROUTE_SPLIT_H
#define APPS_ROUTE_SPLIT_H

#include "route/packet.h"

/* A part of a path: its links, and its yes-no header. */
struct route_part {
    uint32_t first; /* of the path's links */
    uint32_t count;
    uint32_t left; /* links beside it that its header matches falsely */
    uint32_t salt;
    uint64_t header[TEPAL_MAX_HEADER_WORDS];
};

/* All zeros is none. */
struct route_parts {
    struct route_part *part;
    size_t count;
    size_t room;
};

/*
 * The parts of a path under the seed: each as long as its yes-no header leaves no false link, found
 * by halving. A part of one link is taken as it is. `whole`: one part, whatever is left.
 */
enum tepal_status route_split(struct packet_walker *walker, const struct packet_plan *plan,
                              uint64_t seed, bool whole, struct route_parts *parts,
                              struct tepal_error *error);
void route_parts_free(struct route_parts *parts);

#endif
