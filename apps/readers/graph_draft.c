/* graph_draft.c: what was read of a network, and the graph that it becomes. */
#include "readers/graph_draft.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/grow.h"

void draft_free(struct draft *d)
{
    names_free(&d->ids);
    names_free(&d->labels);
    free(d->node);
    free(d->declared);
    free(d->edge);
}

bool draft_trouble(struct draft *d, uint64_t line, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    d->trouble->line = line;
    vsnprintf(d->trouble->why, sizeof d->trouble->why, format, list);
    va_end(list);
    return false;
}

/* The number of an id. */
bool draft_mention(struct draft *d, uint64_t line, const char *id, size_t len, uint32_t *number)
{
    if (len == 0 || len > GRAPH_TEXT) {
        return draft_trouble(d, line, "the name of a node has %s characters",
                             len == 0 ? "no" : "more than 4096");
    }
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)id[i] < 0x20 || id[i] == 0x7f) {
            return draft_trouble(d, line, "the name of a node has a control character");
        }
    }
    uint32_t before = d->ids.count;
    if (!names_add(&d->ids, id, len, number)) {
        return draft_trouble(d, 0, LINES_NO_MEMORY);
    }
    if (d->ids.count > before) {
        if (!grow(&d->node, &d->node_room, (size_t)before + 1, sizeof *d->node)) {
            return draft_trouble(d, 0, LINES_NO_MEMORY);
        }
        d->node[before] = (struct draft_node){.label = NAMES_NONE, .x = NAN, .y = NAN};
    }
    return true;
}

bool draft_declare(struct draft *d, uint32_t number)
{
    if (!grow(&d->declared, &d->declared_room, (size_t)d->declared_count + 1,
              sizeof *d->declared)) {
        return draft_trouble(d, 0, LINES_NO_MEMORY);
    }
    d->declared[d->declared_count++] = number;
    d->node[number].declared = true;
    return true;
}

bool draft_edge_add(struct draft *d, struct draft_edge edge)
{
    if (d->edges == GRAPH_LINKS / 2) {
        return draft_trouble(d, edge.line, "more than %" PRIu32 " edges", GRAPH_LINKS / 2);
    }
    if (!grow(&d->edge, &d->edge_room, (size_t)d->edges + 1, sizeof *d->edge)) {
        return draft_trouble(d, 0, LINES_NO_MEMORY);
    }
    d->edge[d->edges++] = edge;
    return true;
}

/* ---- from the draft to the graph ------------------------------------------------------------- */

struct ranked {
    const char *label;
    uint32_t node;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;
    int order = strcmp(x->label, y->label);
    return order != 0 ? order : x->node < y->node ? -1 : x->node > y->node;
}

/* Ranks, and who shares a label. */
static bool rank_nodes(struct graph *g)
{
    struct ranked *list = malloc(((size_t)g->nodes + 1) * sizeof *list);
    if (list == NULL) {
        return false;
    }
    for (uint32_t v = 0; v < g->nodes; v++) {
        list[v].label = names_text(&g->labels, g->node[v].label);
        list[v].node = v;
    }
    qsort(list, g->nodes, sizeof *list, compare_ranked);
    for (uint32_t i = 0; i < g->nodes; i++) {
        struct graph_node *node = &g->node[list[i].node];
        node->rank = i;
        node->shared = (i > 0 && list[i - 1].label == list[i].label) ||
                       (i + 1 < g->nodes && list[i + 1].label == list[i].label);
    }
    free(list);
    return true;
}

/* The nodes in the order of their declaration. A node without a label is called by its id. */
static bool take_nodes(struct draft *d, struct graph *g)
{
    g->node = calloc((size_t)d->declared_count + 1, sizeof *g->node);
    if (g->node == NULL) {
        return draft_trouble(d, 0, LINES_NO_MEMORY);
    }
    for (uint32_t i = 0; i < d->declared_count; i++) {
        const struct draft_node *from = &d->node[d->declared[i]];
        const char *id = names_text(&d->ids, d->declared[i]);
        const char *label = from->label == NAMES_NONE ? id : names_text(&d->labels, from->label);
        struct graph_node *node = &g->node[i];
        uint32_t number;
        if (!names_add(&g->ids, id, strlen(id), &number) ||
            !names_add(&g->labels, label, strlen(label), &node->label)) {
            return draft_trouble(d, 0, LINES_NO_MEMORY);
        }
        node->x = from->x;
        node->y = from->y;
    }
    g->nodes = d->declared_count;
    return rank_nodes(g) || draft_trouble(d, 0, LINES_NO_MEMORY);
}

/* By where they start, where they lead (`parallel` holds that node's rank), and as in the file. */
static int compare_links(const void *a, const void *b)
{
    const struct graph_link *x = a;
    const struct graph_link *y = b;
    if (x->from != y->from) {
        return x->from < y->from ? -1 : 1;
    }
    if (x->parallel != y->parallel) {
        return x->parallel < y->parallel ? -1 : 1;
    }
    return x->edge < y->edge ? -1 : x->edge > y->edge;
}

static void sort_links(struct graph *g)
{
    for (uint32_t l = 0; l < g->links; l++) {
        g->link[l].parallel = g->node[g->link[l].to].rank;
        g->first[g->link[l].from + 1]++;
    }
    qsort(g->link, g->links, sizeof *g->link, compare_links);
    for (uint32_t v = 0; v < g->nodes; v++) {
        g->first[v + 1] += g->first[v];
    }
    for (uint32_t l = 0; l < g->links; l++) {
        bool again =
            l > 0 && g->link[l - 1].from == g->link[l].from && g->link[l - 1].to == g->link[l].to;
        g->link[l].parallel = again ? g->link[l - 1].parallel + 1 : 0;
    }
}

static bool take_edges(struct draft *d, struct graph *g)
{
    g->link = malloc(((size_t)d->edges * 2 + 1) * sizeof *g->link);
    g->first = calloc((size_t)g->nodes + 1, sizeof *g->first);
    if (g->link == NULL || g->first == NULL) {
        return draft_trouble(d, 0, LINES_NO_MEMORY);
    }
    for (uint32_t e = 0; e < d->edges; e++) {
        const struct draft_edge *edge = &d->edge[e];
        uint32_t end[2];
        for (size_t i = 0; i < 2; i++) {
            const char *id = names_text(&d->ids, edge->end[i]);
            end[i] = names_find(&g->ids, id, strlen(id));
            if (end[i] == NAMES_NONE) {
                return draft_trouble(d, edge->line,
                                     "the edge leads to node '%.*s', which does not exist",
                                     SHOWN(strlen(id)), id);
            }
        }
        if (edge->dropped || end[0] == end[1]) {
            g->loops += !edge->dropped;
            continue;
        }
        g->link[g->links++] = (struct graph_link){end[0], end[1], g->edges, 0};
        if (!edge->directed) {
            g->link[g->links++] = (struct graph_link){end[1], end[0], g->edges, 0};
        }
        g->edges++;
    }
    sort_links(g);
    return true;
}

bool draft_finish(struct draft *d, struct graph *g)
{
    if (d->declared_count == 0) {
        return draft_trouble(d, 0, "it contains no nodes");
    }
    g->not_taken = d->not_taken;
    g->two_sorts = d->two_sorts;
    return take_nodes(d, g) && take_edges(d, g);
}
