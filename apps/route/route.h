/*
 * route.h: what the parts of `tepal app route` share.
 *
 *   route.c      the command: networks, paths and packets, one after the other
 *   setting.c    the headers that the options ask for, or the planner chooses
 *   demands.c    which paths: the longest, one by name, those of a file, all pairs
 *   split.c      a path that is too long for a header, in parts
 *   files.c      headers, tables, pictures and figures, as files
 *   tell.c       what came of one path, or of a network among many
 *   tell_many.c  what came of many paths
 */
#ifndef APPS_ROUTE_ROUTE_H
#define APPS_ROUTE_ROUTE_H

#include "cli/command.h"
#include "files/atomic_file.h"
#include "output/progress.h"
#include "output/report.h"
#include "readers/graph.h"
#include "route/demands.h"
#include "route/draw.h"
#include "route/networks.h"
#include "route/packet.h"
#include "route/split.h"

/* Sums over packets of one kind of header. */
struct route_sums {
    double false_links;
    double squares;
    double taken;
    double wasted;
    double expired;
    double loops;
    double clean; /* packets that take no false link */
};

/* What it writes: all of it, and then its names. */
enum {
    ROUTE_SVG,
    ROUTE_HEADERS,
    ROUTE_TABLES,
    ROUTE_C,
    ROUTE_FIGURES, /* a table and a picture of each */
    ROUTE_FILES = ROUTE_FIGURES + 6
};

struct route_app {
    const struct args *args;
    uint64_t seed;
    uint64_t allocations;
    bool many; /* paths in one network: rows are paths, not networks */
    struct networks networks;
    struct report report;
    struct atomic_file file[ROUTE_FILES];
    char *figure[ROUTE_FILES - ROUTE_FIGURES]; /* their paths */
    struct draw_row *row; /* of the networks so far; names belong to the networks */
    size_t rows;
    struct progress progress;
};

/* One path, or tree: its size, and what its packets did. */
struct route_path {
    size_t demand;
    uint32_t members;
    uint32_t others;
    uint64_t parts; /* headers that it took, over all seeds */
    struct route_sums sums[PACKET_KINDS];
};

/* One network at work. */
struct route_job {
    struct route_app *app;
    const char *name;
    struct graph graph;
    struct graph_spread spread;
    struct demands demands;
    struct packet_setting setting;
    struct packet_walker *walker;
    struct packet_plan plan;  /* of the path at hand; in the end of the worst */
    struct route_parts parts; /* of it, under the first seed */
    struct route_path path;   /* what came of it */

    uint64_t members; /* of all paths */
    uint64_t others;
    uint64_t all_parts; /* under the first seed */
    uint32_t longest;
    struct route_sums sums[PACKET_KINDS];
    struct route_path worst[PACKET_KINDS];
    uint8_t *use; /* of every link: what the packets of the first seed did */
};

/* Settings (setting.c): what was asked for is sound; and the headers for a network. */
int route_check_setting(const struct args *args);
int route_choose_setting(struct route_job *job);

/* The plan of a demand (route.c). EXIT_YES, or EXIT_TROUBLE after having said why. */
int route_plan(struct route_job *job, size_t demand);

/* Files (files.c): may they be written; each as its turn comes; and their names in the end. */
int route_check_files(const struct route_app *app);
int route_open_headers(struct route_job *job);
void route_print_headers(const struct route_job *job);
int route_write_tables(struct route_job *job);
int route_draw(struct route_job *job);
int route_commit(struct route_app *app);
void route_drop_files(struct route_app *app);

/* The mean over the allocations of what was summed up. */
double route_mean(const struct route_job *job, double sum);

/* Print what came out for a network; of many paths, what came of one of them and of all. */
void route_tell(const struct route_job *job);
void route_tell_path(const struct route_job *job);
void route_tell_many(const struct route_job *job);

/* Parts of it: the network; one kind of header, as JSON and as a row. */
extern const char *const route_kind_name[PACKET_KINDS];
extern const char *const route_kind_words[PACKET_KINDS];
void route_tell_network(const struct route_job *job);
void route_tell_kind(const struct route_job *job, enum packet_kind kind, bool links);
void route_print_kinds(const struct route_job *job);
void route_tell_columns(struct report *r, const struct route_job *job,
                        const struct route_path *path);

#endif
