/*
 * graph.c: names of nodes, and shortest paths by breadth-first search.
 *
 * A node's links are sorted by the rank of where they lead. A search that takes nodes in the order
 * in which it found them then finds, at every distance, the nodes in the order of the smallest
 * sequences of ranks that lead to them (by induction: such a sequence is that of the node before,
 * which is found in order, and one rank more). So the first way found to a node is the wanted one,
 * the ways together are a tree, and ties need no further thought.
 */
#include "readers/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void graph_free(struct graph *g)
{
    names_free(&g->ids);
    names_free(&g->labels);
    free(g->node);
    free(g->link);
    free(g->first);
    memset(g, 0, sizeof *g);
}

/* ---- names ----------------------------------------------------------------------------------- */

static const char *label_of(const struct graph *g, uint32_t node)
{
    return names_text(&g->labels, g->node[node].label);
}

const char *graph_name(const struct graph *g, uint32_t node, char room[GRAPH_NAME_ROOM])
{
    const char *label = label_of(g, node);
    if (g->node[node].shared || strchr(label, '#') != NULL) {
        snprintf(room, GRAPH_NAME_ROOM, "%s#%s", label, names_text(&g->ids, node));
    } else {
        snprintf(room, GRAPH_NAME_ROOM, "%s", label);
    }
    return room;
}

/* LABEL#ID or #ID, wherever the # stands that divides the two. */
static uint32_t find_divided(const struct graph *g, const char *name)
{
    for (const char *at = strchr(name, '#'); at != NULL; at = strchr(at + 1, '#')) {
        size_t len = (size_t)(at - name);
        uint32_t node = names_find(&g->ids, at + 1, strlen(at + 1));
        if (node != NAMES_NONE && (len == 0 || (strlen(label_of(g, node)) == len &&
                                                memcmp(label_of(g, node), name, len) == 0))) {
            return node;
        }
    }
    return GRAPH_NONE;
}

uint32_t graph_find(const struct graph *g, const char *name, uint32_t *several)
{
    uint32_t found = find_divided(g, name);
    uint32_t label = names_find(&g->labels, name, strlen(name));
    *several = 0;
    if (found != GRAPH_NONE) {
        return found;
    }
    for (uint32_t v = 0; v < g->nodes && label != NAMES_NONE; v++) {
        if (g->node[v].label == label) {
            found = v;
            (*several)++;
        }
    }
    if (*several > 0) {
        return *several == 1 ? found : GRAPH_NONE;
    }
    found = names_find(&g->ids, name, strlen(name));
    return found == NAMES_NONE ? GRAPH_NONE : found;
}

/* ---- shortest paths -------------------------------------------------------------------------- */

bool graph_spread_new(struct graph_spread *s, const struct graph *g)
{
    size_t room = (size_t)g->nodes + 1;
    s->distance = malloc(room * sizeof *s->distance);
    s->via = malloc(room * sizeof *s->via);
    s->reached = malloc(room * sizeof *s->reached);
    if (s->distance == NULL || s->via == NULL || s->reached == NULL) {
        graph_spread_free(s);
        return false;
    }
    return true;
}

void graph_spread_free(struct graph_spread *s)
{
    free(s->distance);
    free(s->via);
    free(s->reached);
    memset(s, 0, sizeof *s);
}

uint32_t graph_spread(const struct graph *g, uint32_t root, struct graph_spread *s)
{
    uint32_t count = 0;
    memset(s->distance, 0xff, g->nodes * sizeof *s->distance);
    s->distance[root] = 0;
    s->via[root] = GRAPH_NONE;
    s->reached[count++] = root;
    for (uint32_t at = 0; at < count; at++) {
        uint32_t v = s->reached[at];
        for (uint32_t l = g->first[v]; l < g->first[v + 1]; l++) {
            uint32_t to = g->link[l].to;
            if (s->distance[to] == GRAPH_NONE) {
                s->distance[to] = s->distance[v] + 1;
                s->via[to] = l;
                s->reached[count++] = to;
            }
        }
    }
    return count;
}

uint32_t graph_path(const struct graph *g, const struct graph_spread *s, uint32_t to,
                    uint32_t *link)
{
    uint32_t length = s->distance[to];
    for (uint32_t at = length; at > 0; at--) {
        link[at - 1] = s->via[to];
        to = g->link[s->via[to]].from;
    }
    return length;
}

/* Insertion of one path after another: what is there already is a beginning of the path. */
uint32_t graph_tree(const struct graph *g, const struct graph_spread *s, const uint32_t *to,
                    size_t count, uint32_t *link)
{
    uint32_t links = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t start = links;
        for (uint32_t v = to[i]; s->via[v] != GRAPH_NONE; v = g->link[s->via[v]].from) {
            uint32_t have = 0;
            while (have < start && link[have] != s->via[v]) {
                have++;
            }
            if (have < start) {
                break;
            }
            link[links++] = s->via[v];
        }
        for (uint32_t a = start, b = links; a + 1 < b; a++, b--) {
            uint32_t other = link[a];
            link[a] = link[b - 1];
            link[b - 1] = other;
        }
    }
    return links;
}

uint32_t graph_longest(const struct graph *g, struct graph_spread *s, uint32_t *from, uint32_t *to)
{
    uint32_t longest = 0;
    for (uint32_t v = 0; v < g->nodes; v++) {
        uint32_t count = graph_spread(g, v, s);
        uint32_t far = s->distance[s->reached[count - 1]];
        if (far > longest || (far == longest && far > 0 && g->node[v].rank < g->node[*from].rank)) {
            longest = far;
            *from = v;
            while (count > 0 && s->distance[s->reached[count - 1]] == far) {
                *to = s->reached[--count];
            }
        }
    }
    return longest;
}
