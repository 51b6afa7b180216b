/*
 * traceroute.h: measured routes, from files. Two forms are understood, line by line, and may be
 * mixed in one file:
 *
 *   tab-separated   cycle, monitor, target_as, dst, dst_ttl, pen_transit, hops; or other columns in
 *                   another order if the first line names them (# cycle TAB monitor ...). Needed
 *                   are cycle, monitor, dst and hops: the addresses at TTL 1, 2, ... up to the one
 *                   before the destination, with spaces between them, * where nobody answered.
 *   JSON            what scamper's sc_warts2json prints: an object a line. "trace" objects are
 *                   routes, "cycle-start" objects say which cycle and monitor follow; without them
 *                   every file is a cycle of its own and the source address is the monitor. Of
 *                   several answers at one TTL the first counts.
 *
 * A route is cut where the destination itself answers, and one that never reaches it is left out
 * and counted. Addresses (IPv4 or IPv6) are kept in their canonical spelling.
 */
#ifndef APPS_READERS_TRACEROUTE_H
#define APPS_READERS_TRACEROUTE_H

#include <stddef.h>
#include <stdint.h>

#include "readers/names.h"

#define ROUTE_SILENT    NAMES_NONE /* nobody answered at this TTL */
#define ROUTE_HOPS      254        /* the most that a TTL of one byte allows */
#define ROUTE_NOT_GIVEN INT64_MIN
#define ROUTE_LINE      ((size_t)16 << 20) /* the longest line */

struct route {
    uint64_t cycle;
    uint32_t monitor; /* in routes.monitors */
    uint32_t target;  /* in routes.nodes */
    uint32_t hops;
    size_t first;    /* its first hop in routes.hop; the last one is the penultimate node */
    int64_t transit; /* the column pen_transit, or ROUTE_NOT_GIVEN */
};

/* All zeros is an empty one. */
struct routes {
    struct route *route;
    size_t count;
    size_t room;
    uint32_t *hop; /* in routes.nodes, or ROUTE_SILENT */
    size_t hops;
    size_t hop_room;
    struct names nodes;
    struct names monitors;
    uint64_t incomplete; /* routes left out because they do not reach their destination */
};

enum routes_column {
    COLUMN_CYCLE,
    COLUMN_MONITOR,
    COLUMN_DST,
    COLUMN_HOPS, /* the ones up to here are needed */
    COLUMN_TTL,
    COLUMN_TRANSIT,
    COLUMNS
};

/* Where the reader stands in one file. */
struct routes_file {
    uint64_t line;
    size_t column[COLUMNS]; /* where each stands, SIZE_MAX: nowhere */
    size_t width;           /* how many columns a line has */
    uint64_t cycle;
    uint32_t monitor; /* NAMES_NONE: the source address */
    char why[160];
};

/* Keep a route of these hops; `first` and `hops` of it are set. False: no memory. */
bool routes_add(struct routes *routes, struct route route, const uint32_t *hop, uint32_t hops);

/* The `number`-th file (from 1). */
void routes_begin(struct routes_file *file, uint64_t number);

/* Take one line, without its end. NULL, or what is wrong with it (text of *file or static). */
const char *routes_line(struct routes *routes, struct routes_file *file, const char *text,
                        size_t len);

/*
 * All lines of the files ("-" is standard input), which may be compressed with gzip, zstd or xz.
 * EXIT_YES, or EXIT_TROUBLE after having said which line of which file is wrong.
 */
int routes_read(struct routes *routes, const char *const *paths, size_t count);

void routes_free(struct routes *routes);

#endif
