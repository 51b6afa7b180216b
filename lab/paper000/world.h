/*
 * world.h: routes of several cycles, generated or measured, and what stop sets do to them.
 */
#ifndef LAB_PAPER000_WORLD_H
#define LAB_PAPER000_WORLD_H

#include <tepal/tepal.h>

#include "experiment/lab.h"
#include "stopset/replay.h"

#define WORLD_TARGETS 10000 /* destinations of generated routes */
#define WORLD_CYCLES  10

struct world {
    const char *name;
    uint32_t cycles;
    size_t start[WORLD_CYCLES + 1]; /* the routes of cycle i: start[i] .. start[i + 1] */
    struct routes routes;
    uint32_t nodes;
    bool *member; /* penultimate in the first cycle */
    double *passes;
    size_t members;
    uint32_t *link; /* of every hop of the second cycle: the number of the link to the next */
    uint32_t links;
    struct tepal_digest *digest;
    bool *stops;
    bool *seen[2];      /* nodes, by the list and by the filter */
    bool *seen_link[2]; /* links */
};

enum { SUCCESS, SHORT, COLLISION, NODES, LINKS, METRICS };
extern const char *const lab_000_metric_names[METRICS];

/* A cycle against the list of penultimate nodes, and against a filter of them. */
void world_replay_list(struct world *w, uint32_t cycle, double metric[METRICS]);
void world_replay_filter(struct world *w, const struct tepal_filter *filter, uint32_t cycle,
                         double metric[METRICS]);

/* On generated routes, and on measured ones if there are any. `many`: as many cycles as can be. */
int lab_000_in_worlds(struct lab *lab, bool many, int (*run)(struct lab *lab, struct world *w));

#endif
