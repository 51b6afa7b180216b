/*
 * graph_fuzz.c: the reader of networks, fed with any bytes. What it accepts must keep the promises
 * of graph.h; what it refuses must leave an empty graph and a reason. The first byte chooses the
 * form.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "readers/graph.h"
#include "fail.h"
#include "must.h"

static void check_names(const struct graph *g)
{
    char room[GRAPH_NAME_ROOM];
    uint32_t several;
    for (uint32_t v = 0; v < g->nodes; v++) {
        MUST(g->node[v].label < g->labels.count && g->node[v].rank < g->nodes);
        MUST(names_text(&g->labels, g->node[v].label)[0] != '\0');
        uint32_t found = graph_find(g, graph_name(g, v, room), &several);
        MUST(found < g->nodes);
        MUST(isnan(g->node[v].x) || fabs(g->node[v].x) <= 1e9);
    }
}

static void check_links(const struct graph *g)
{
    MUST(g->first[0] == 0 && g->first[g->nodes] == g->links);
    for (uint32_t v = 0; v < g->nodes; v++) {
        for (uint32_t l = g->first[v]; l < g->first[v + 1]; l++) {
            const struct graph_link *link = &g->link[l];
            MUST(link->from == v && link->to < g->nodes && link->to != v);
            MUST(link->edge < g->edges);
            MUST(l == g->first[v] || g->node[link[-1].to].rank <= g->node[link->to].rank);
        }
    }
}

static void check_paths(const struct graph *g)
{
    struct graph_spread s;
    uint32_t from = 0;
    uint32_t to = 0;
    uint32_t *link = malloc((g->nodes + 1) * sizeof *link);
    MUST(link != NULL && graph_spread_new(&s, g));
    uint32_t length = graph_longest(g, &s, &from, &to);
    uint32_t count = graph_spread(g, from, &s);
    MUST(count >= 1 && count <= g->nodes);
    MUST(length == 0 || graph_path(g, &s, to, link) == length);
    MUST(graph_tree(g, &s, s.reached, count, link) == count - 1);
    graph_spread_free(&s);
    free(link);
}

struct again {
    const struct graph *graph;
    const char *path;
    const char *network;
    bool plain;
};

/* The same from a file: the same network, or none. */
static bool read_again(const struct again *a)
{
    struct graph again = {.nodes = 0};
    struct graph_spread spread;
    struct names networks = {.count = 0};
    int code = graph_read(&again, a->path, a->network);
    if (code == 0 && a->plain) {
        MUST(again.nodes == a->graph->nodes && again.links == a->graph->links);
    }
    if (code == 0 && graph_spread_new(&spread, &again)) {
        graph_spread_free(&spread);
    }
    (void)graph_networks(&networks, a->path);
    names_free(&networks);
    graph_free(&again);
    return code == 0;
}

static void read_failing(void *context)
{
    (void)read_again(context);
}

static void check_file(const struct graph *g, const char *network, const char *bytes, size_t len)
{
    char path[MUST_PATH];
    int fd = must_file(bytes, len, path);
    struct again again = {g, path, network, must_be_plain((const uint8_t *)bytes, len)};
    MUST(read_again(&again) == (g->nodes > 0) || !again.plain);
    if (len % 8 == 0) {
        fail_each(read_failing, &again);
    }
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum graph_form forms[] = {GRAPH_GUESS, GRAPH_XML, GRAPH_TSV};
    struct graph g = {.nodes = 0};
    struct graph_trouble why = {0, ""};
    if (size == 0) {
        return 0;
    }
    const char *network = (data[0] & 4) != 0 ? "1" : NULL;
    if (graph_parse(&g, forms[(data[0] & 3) % 3], network, (const char *)data + 1, size - 1,
                    &why)) {
        check_names(&g);
        check_links(&g);
        check_paths(&g);
    } else {
        MUST(why.why[0] != '\0' && strlen(why.why) < sizeof why.why);
        MUST(g.nodes == 0 && g.node == NULL && g.link == NULL && g.first == NULL);
    }
    if ((data[0] & 3) % 3 == 0) {
        check_file(&g, network, (const char *)data + 1, size - 1);
    }
    graph_free(&g);
    return 0;
}
