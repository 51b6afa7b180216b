/*
 * graph.h: networks from files, and the shortest paths in them. Two forms are understood:
 *
 *   GraphML         as the Internet Topology Zoo has it. Nodes have an id and perhaps a label and a
 *                   place (Longitude and Latitude, or x and y); labels may be missing or shared.
 *                   Document types, and so entities, are refused: a network needs none.
 *   tab-separated   an edge a line, two names. A first line that starts with # may name the
 *                   columns: u and v, from and to, or source and target; asn, network or graph says
 *                   which of several networks the edge is of. Edges are undirected, and whether a
 *                   file lists them in one direction or in both makes no difference.
 *                   Without that line the first two columns count. If the others have more than
 *                   half of the text, or no two edges meet, it is a file of another sort, and
 *                   refused. If no name is in both columns it may be one (`two_sorts`).
 *
 * An undirected edge is two links, a directed one is one. Parallel edges are kept, edges from a
 * node to itself are left out and counted. Whatever a file says, all numbers stay within their
 * limits.
 */
#ifndef APPS_READERS_GRAPH_H
#define APPS_READERS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "readers/names.h"

#define GRAPH_NONE      UINT32_MAX
#define GRAPH_BYTES     ((size_t)256 << 20) /* the largest file, unpacked */
#define GRAPH_LINKS     ((uint32_t)1 << 28) /* the most links */
#define GRAPH_TEXT      4096                /* the longest id or label */
#define GRAPH_DEPTH     64                  /* the deepest nesting of elements */
#define GRAPH_NAME_ROOM (2 * GRAPH_TEXT + 2)

enum graph_form { GRAPH_GUESS, GRAPH_XML, GRAPH_TSV };

struct graph_node {
    uint32_t label; /* in graph.labels */
    uint32_t rank;  /* its place among the nodes by label, and of equal ones by position in file */
    bool shared;    /* another node has the same label */
    double x;       /* where it lies, y upwards; NaN: not known */
    double y;
};

struct graph_link {
    uint32_t from;
    uint32_t to;
    uint32_t edge;     /* the number of its edge in the file; both directions have the same */
    uint32_t parallel; /* how many links of the same direction came before it */
};

/*
 * All zeros is an empty one. The links that leave node v are link[first[v]] .. link[first[v + 1] -
 * 1], by the rank of where they lead and then as in the file. Node v has the v-th id.
 */
struct graph {
    struct names ids;
    struct names labels;
    struct graph_node *node;
    uint32_t nodes;
    struct graph_link *link;
    uint32_t links;
    uint32_t *first;  /* nodes + 1 of them */
    uint32_t edges;   /* loops not among them */
    uint32_t loops;   /* edges from a node to itself, left out */
    double not_taken; /* share of the file's text that is in columns nothing is known of */
    bool two_sorts;   /* no node is in both columns, which nothing named: a network is seldom so */
};

/* What is wrong with a file. */
struct graph_trouble {
    uint64_t line; /* 0: no line in particular */
    char why[240];
};

/*
 * `len` bytes as a graph. network: the one to take of a tab-separated file that has several; NULL:
 * it has one. *graph must be empty and stays so on failure.
 */
bool graph_parse(struct graph *graph, enum graph_form form, const char *network, const char *bytes,
                 size_t len, struct graph_trouble *trouble);

/*
 * A file ("-" is standard input), which may be compressed with gzip, zstd or xz. A name ending in
 * .graphml or .xml says what it is, otherwise the first byte does. EXIT_YES, or EXIT_TROUBLE after
 * having said which line is wrong.
 */
int graph_read(struct graph *graph, const char *path, const char *network);
void graph_free(struct graph *graph);

/*
 * The networks that the file has, in order of appearance: none for GraphML and for files without
 * such a column. EXIT_YES, or EXIT_TROUBLE after having said why. names_free in either case.
 */
int graph_networks(struct names *networks, const char *path);

/* The name of a node that no other has: its label, or LABEL#ID if that is shared. Returns room. */
const char *graph_name(const struct graph *graph, uint32_t node, char room[GRAPH_NAME_ROOM]);

/*
 * The node that is meant by a label, by LABEL#ID, by #ID, or by an id that is nobody's label.
 * GRAPH_NONE: there is none, or several; *several is how many have that label.
 */
uint32_t graph_find(const struct graph *graph, const char *name, uint32_t *several);

/*
 * Shortest paths from one node, in links. Of equally long ones the one with the smallest sequence
 * of ranks. reached: the nodes in order of distance, and of those sequences. All have room for
 * graph->nodes. Returns how many are reached, the root included.
 */
struct graph_spread {
    uint32_t *distance; /* GRAPH_NONE: not reached */
    uint32_t *via;      /* the last link of the path; GRAPH_NONE: the root, or not reached */
    uint32_t *reached;
};
bool graph_spread_new(struct graph_spread *spread, const struct graph *graph);
void graph_spread_free(struct graph_spread *spread);
uint32_t graph_spread(const struct graph *graph, uint32_t root, struct graph_spread *spread);

/*
 * The links from the root of the spread to `to`, which it reaches, into `link` (room for
 * distance[to] of them), in order. Returns how many.
 */
uint32_t graph_path(const struct graph *graph, const struct graph_spread *spread, uint32_t to,
                    uint32_t *link);

/*
 * The links of the paths to all of `to`, each once, as a tree: a link comes after those that lead
 * to it. `link` has room for graph->nodes. Returns how many.
 */
uint32_t graph_tree(const struct graph *graph, const struct graph_spread *spread,
                    const uint32_t *to, size_t count, uint32_t *link);

/*
 * The ends of the longest of all shortest paths; of several, the one with the smallest sequence of
 * ranks. Looks from every node: nodes x links steps. Returns its length; 0: there are no links.
 * `spread` is room to work in.
 */
uint32_t graph_longest(const struct graph *graph, struct graph_spread *spread, uint32_t *from,
                       uint32_t *to);

#endif
