/* route.h: what the parts of `tepal app route` share. */
#ifndef APPS_ROUTE_ROUTE_H
#define APPS_ROUTE_ROUTE_H

#include "cli/command.h"
#include "files/atomic_file.h"
#include "output/progress.h"
#include "output/report.h"
#include "readers/graph.h"
#include "route/draw.h"
#include "route/networks.h"
#include "route/packet.h"

/* Sums over the allocations of one kind of header. */
struct route_sums {
    double false_links;
    double squares;
    double taken;
    double wasted;
    double expired;
    double loops;
};

struct route_app {
    const struct args *args;
    struct packet_setting setting;
    uint64_t seed;
    uint64_t allocations;
    struct networks networks;
    struct report report;
    struct atomic_file svg;
    struct draw_row *row; /* of the networks so far; names belong to the networks */
    size_t rows;
    struct progress progress;
};

/* One network at work. */
struct route_job {
    struct route_app *app;
    const char *name;
    struct graph graph;
    struct graph_spread spread;
    struct packet_plan plan;
    struct packet_walker *walker;
    struct route_sums sums[PACKET_KINDS];
    uint8_t *use; /* of every link: what the packets of the first seed did */
};

/* The mean over the allocations of what was summed up. */
double route_mean(const struct route_job *job, double sum);

/* Print what came out for a network. */
void route_tell(const struct route_job *job);

#endif
