/*
 * sightings.h: what routes tell of the nodes on them: in how many a node is the penultimate one
 * (ends), and in how many it occurs at all (passes). A monitor's sightings are a file that it can
 * mail, a line for every node:
 *
 *     # address TAB ends TAB passes
 *     192.0.2.1       3       17
 *
 * Sightings of several monitors, and of several cycles, add up. Lines that begin with # are
 * remarks; the file may be compressed.
 */
#ifndef APPS_STOPSET_SIGHTINGS_H
#define APPS_STOPSET_SIGHTINGS_H

#include <stdbool.h>

#include "output/out.h"
#include "readers/traceroute.h"

/* By the number of the node. All zeros is an empty one. */
struct sightings {
    double *ends;
    double *passes;
    double least; /* the share of the routes through a node that must end there; 0: one is enough */
    uint32_t nodes;
    size_t room[2];
};

/* Room for so many nodes; new ones have not been seen. False: no memory. */
bool sightings_grow(struct sightings *s, uint32_t nodes);

/* One more route, which stands for `weight` routes. There is room for all its nodes. */
void sightings_route(struct sightings *s, const struct routes *routes, const struct route *route,
                     double weight);

bool sightings_copy(struct sightings *to, const struct sightings *from);
void sightings_free(struct sightings *s);

/*
 * Is the node in the stop set? In the paper every penultimate node is. But one that is on the way
 * to other destinations stops their routes short; with `least`, only those are at which enough
 * routes end: at SIGHTINGS_HALF, as many as it stops short, or more.
 */
#define SIGHTINGS_HALF 0.5
static inline bool sightings_member(const struct sightings *s, uint32_t node)
{
    return s->ends[node] > 0 && s->ends[node] >= s->least * s->passes[node];
}

/* How many are in the set; how many bits their addresses have (32, of IPv6 128). */
uint64_t sightings_members(const struct sightings *s);
double sightings_bits(const struct sightings *s, const struct names *nodes);

/* The address of a node in bits. */
double sightings_address_bits(const struct names *nodes, uint32_t node);

/* All that were seen, in the order of their numbers. */
void sightings_write(const struct sightings *s, const struct names *nodes, struct out *out);

/* One line of such a file, added to what there is. NULL, or what is wrong with it. */
struct sightings_reader {
    struct names *nodes;
    struct sightings *into;
    uint64_t lines; /* nodes read */
    char why[160];
};
const char *sightings_line(void *reader, const char *text, size_t len);

#endif
