/*
 * graph_draft.h: a network as it is read: nodes and edges as they come, with the lines they came
 * from, since GraphML may name a node before it is declared. Both parsers fill one.
 */
#ifndef APPS_READERS_GRAPH_DRAFT_H
#define APPS_READERS_GRAPH_DRAFT_H

#include "cli/say.h"
#include "readers/graph.h"
#include "readers/lines.h"

/* At most 40 characters of a text, for errors. */
#define SHOWN(len) ((len) < 40 ? (int)(len) : 40)

struct draft_node {
    bool declared;
    bool end[2];    /* of an edge list: it stands in the first column of edges, in the second */
    uint32_t label; /* in draft.labels, or NAMES_NONE */
    double x;
    double y;
};

struct draft_edge {
    uint32_t end[2]; /* in draft.ids */
    bool directed;
    bool dropped;
    uint64_t line;
};

struct draft {
    struct names ids; /* all that were mentioned */
    struct names labels;
    struct draft_node *node; /* by their numbers in ids */
    size_t node_room;
    uint32_t *declared; /* the numbers in ids, in the order of declaration */
    uint32_t declared_count;
    size_t declared_room;
    struct draft_edge *edge;
    uint32_t edges;
    size_t edge_room;
    double not_taken; /* as of the graph */
    bool two_sorts;   /* as of the graph */
    struct graph_trouble *trouble;
};

void draft_free(struct draft *draft);

/* Notes what is wrong, and in which line (0: in none). Always false. */
bool draft_trouble(struct draft *draft, uint64_t line, const char *format, ...) SAY_FORMAT(3, 4);

/* The number of an id; a node that is there; an edge. False: the trouble has been noted. */
bool draft_mention(struct draft *draft, uint64_t line, const char *id, size_t len,
                   uint32_t *number);
bool draft_declare(struct draft *draft, uint32_t number);
bool draft_edge_add(struct draft *draft, struct draft_edge edge);

/* The graph of it. False: the trouble has been noted. */
bool draft_finish(struct draft *draft, struct graph *graph);

/* Fill a draft from GraphML (graphml.c). False: the trouble has been noted. */
bool graphml_parse(struct draft *draft, const char *bytes, size_t len);

/*
 * Fill it from an edge list (edge_list.c): with the edges of `network` (NULL: there must be one
 * network only). `networks` gets the names of all there are; `listing`: these alone are wanted.
 */
bool edge_list_parse(struct draft *draft, const char *network, struct names *networks, bool listing,
                     const char *bytes, size_t len);

#endif
