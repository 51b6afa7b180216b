/*
 * world.c: the routes that the red stop set is tried on. The paper's traceroutes are not to be had.
 * Routes are generated instead; if the folder with measured data has traceroutes, these are taken
 * too.
 *
 * Generated: 15,000 routers, each linked to an older one (number floor(i u^2), u uniform) and three
 * of ten to a second; links have random lengths, and a route is a shortest path. A router answers
 * with the address of the link by which it was reached. 10 monitors and 10,000 destinations, at
 * random routers that no younger one is linked to; every fiftieth destination at any router of the
 * younger half. From one cycle to the next 5 % of the links change their length and 10 % of the
 * destinations their router.
 */
#include "paper000/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUTERS  15000
#define MONITORS 10

const char *const lab_000_metric_names[METRICS] = {"success", "stopping short", "collision",
                                                   "nodes missed", "links missed"};

static void world_free(struct world *w)
{
    routes_free(&w->routes);
    free(w->member);
    free(w->passes);
    free(w->link);
    free(w->digest);
    free(w->stops);
    for (size_t i = 0; i < 2; i++) {
        free(w->seen[i]);
        free(w->seen_link[i]);
    }
    *w = (struct world){0};
}

/* ---- generated ------------------------------------------------------------------------------- */

#define ARCS (4 * ROUTERS) /* both ways of two links at most for every router */

/* Arc a leads from its tail to head[a]; the way back is a ^ 1. */
struct terrain {
    uint32_t arcs;
    uint32_t head[ARCS];
    uint32_t length[ARCS];
    uint32_t next[ARCS]; /* the next arc of the same tail, ROUTE_SILENT: none */
    uint32_t first[ROUTERS];
    bool edge[ROUTERS]; /* no younger router is linked to it, and no monitor is there */
    uint32_t place[MONITORS];
    uint32_t target[WORLD_TARGETS];
    /* a tree of shortest paths */
    uint64_t distance[ROUTERS];
    uint32_t by[ROUTERS]; /* the arc by which it is reached */
    uint32_t queue[ROUTERS];
    bool queued[ROUTERS];
};

static uint32_t draw_length(struct lab *lab)
{
    return 64 + lab_below(lab, 64);
}

static void connect(struct lab *lab, struct terrain *g, uint32_t from, uint32_t to)
{
    uint32_t ends[2] = {from, to};
    uint32_t length = draw_length(lab);
    for (size_t i = 0; i < 2; i++) {
        uint32_t arc = g->arcs++;
        g->head[arc] = ends[1 - i];
        g->length[arc] = length;
        g->next[arc] = g->first[ends[i]];
        g->first[ends[i]] = arc;
    }
}

static uint32_t draw_young(struct lab *lab)
{
    return ROUTERS / 2 + lab_below(lab, ROUTERS / 2);
}

static uint32_t draw_edge(struct lab *lab, const struct terrain *g)
{
    uint32_t router;
    do {
        router = draw_young(lab);
    } while (!g->edge[router]);
    return router;
}

static uint32_t draw_target(struct lab *lab, const struct terrain *g)
{
    return lab_below(lab, 50) == 0 ? draw_young(lab) : draw_edge(lab, g);
}

static void terrain_draw(struct lab *lab, struct terrain *g)
{
    memset(g->first, 0xff, sizeof g->first);
    memset(g->edge, 1, sizeof g->edge);
    for (uint32_t i = 1; i < ROUTERS; i++) {
        uint32_t links = 1 + (lab_below(lab, 10) < 3);
        for (uint32_t j = 0; j < links; j++) {
            double u = lab_unit(lab);
            uint32_t older = (uint32_t)(i * u * u);
            connect(lab, g, i, older);
            g->edge[older] = false;
        }
    }
    for (size_t i = 0; i < MONITORS; i++) {
        g->place[i] = draw_edge(lab, g);
        g->edge[g->place[i]] = false;
    }
    for (size_t i = 0; i < WORLD_TARGETS; i++) {
        g->target[i] = draw_target(lab, g);
    }
}

static void terrain_change(struct lab *lab, struct terrain *g)
{
    for (uint32_t arc = 0; arc < g->arcs; arc += 2) {
        if (lab_below(lab, 20) == 0) {
            g->length[arc] = g->length[arc + 1] = draw_length(lab);
        }
    }
    for (size_t i = 0; i < WORLD_TARGETS; i++) {
        if (lab_below(lab, 10) == 0) {
            g->target[i] = draw_target(lab, g);
        }
    }
}

/* Shortest paths from a router: routers whose distance fell wait in a ring until nothing falls. */
static void terrain_tree(struct terrain *g, uint32_t root)
{
    size_t waiting = 1;
    size_t at = 0;
    memset(g->distance, 0xff, sizeof g->distance);
    memset(g->by, 0xff, sizeof g->by);
    memset(g->queued, 0, sizeof g->queued);
    g->distance[root] = 0;
    g->queue[0] = root;
    while (waiting > 0) {
        uint32_t router = g->queue[at];
        at = (at + 1) % ROUTERS;
        waiting--;
        g->queued[router] = false;
        for (uint32_t arc = g->first[router]; arc != ROUTE_SILENT; arc = g->next[arc]) {
            uint32_t to = g->head[arc];
            uint64_t distance = g->distance[router] + g->length[arc];
            if (distance < g->distance[to]) {
                g->distance[to] = distance;
                g->by[to] = arc;
                if (!g->queued[to]) {
                    g->queued[to] = true;
                    g->queue[(at + waiting++) % ROUTERS] = to;
                }
            }
        }
    }
}

/* The addresses on the way: the monitor's own router, then one for each arc. */
static bool terrain_trace(struct world *w, const struct terrain *g, uint32_t monitor,
                          uint32_t target)
{
    uint32_t hop[ROUTERS + 1];
    uint32_t count = 0;
    for (uint32_t router = target; g->by[router] != ROUTE_SILENT;) {
        hop[count++] = g->by[router];
        router = g->head[g->by[router] ^ 1];
    }
    hop[count++] = g->arcs + monitor;
    for (uint32_t i = 0; i < count / 2; i++) {
        uint32_t swap = hop[i];
        hop[i] = hop[count - 1 - i];
        hop[count - 1 - i] = swap;
    }
    return routes_add(&w->routes, (struct route){0}, hop, count);
}

static int world_generate(struct lab *lab, uint32_t cycles, struct world *w)
{
    struct terrain *g = calloc(1, sizeof *g);
    bool fits = g != NULL;
    if (fits) {
        terrain_draw(lab, g);
    }
    for (uint32_t c = 0; c < cycles && fits; c++) {
        if (c > 0) {
            terrain_change(lab, g);
        }
        for (uint32_t m = 0; m < MONITORS && fits; m++) {
            terrain_tree(g, g->place[m]);
            for (size_t t = 0; t < WORLD_TARGETS && fits; t++) {
                fits = terrain_trace(w, g, m, g->target[t]);
            }
        }
        w->start[c + 1] = w->routes.count;
    }
    w->name = "generated";
    w->cycles = cycles;
    w->nodes = fits ? g->arcs + MONITORS : 0;
    free(g);
    return fits ? EXIT_YES : say_no_memory();
}

/* ---- measured -------------------------------------------------------------------------------- */

/* Destinations whose penultimate node is on few other routes: else the core itself is the set. */
static int world_read(const char *folder, const char *file, int64_t most_transit, uint32_t cycles,
                      struct world *w)
{
    char path[4096];
    const char *paths[] = {path};
    struct routes routes = {0};
    snprintf(path, sizeof path, "%s/traceroute/%s", folder, file);
    int code = routes_read(&routes, paths, 1);
    for (uint32_t c = 0; c < cycles && code == EXIT_YES; c++) {
        for (size_t i = 0; i < routes.count && code == EXIT_YES; i++) {
            const struct route *r = &routes.route[i];
            if (r->cycle == c + 1 && r->transit >= 0 && r->transit <= most_transit &&
                !routes_add(&w->routes, *r, routes.hop + r->first, r->hops)) {
                code = say_no_memory();
            }
        }
        w->start[c + 1] = w->routes.count;
    }
    w->name = "measured";
    w->cycles = cycles;
    w->nodes = routes.nodes.count;
    routes_free(&routes);
    return code;
}

/* ---- learning -------------------------------------------------------------------------------- */

/* The cycle that is learned: penultimate nodes, and in how many routes each node occurs. */
static void learn(struct world *w)
{
    for (size_t i = 0; i < w->start[1]; i++) {
        const struct route *r = &w->routes.route[i];
        for (uint32_t h = 0; h < r->hops; h++) {
            uint32_t node = w->routes.hop[r->first + h];
            if (node == ROUTE_SILENT) {
                continue;
            }
            w->passes[node]++;
            if (h + 1 == r->hops && !w->member[node]) {
                w->member[node] = true;
                w->members++;
            }
        }
    }
}

static int world_learn(struct world *w)
{
    size_t n = (size_t)w->nodes + 1;
    w->member = calloc(n, sizeof *w->member);
    w->passes = calloc(n, sizeof *w->passes);
    w->digest = calloc(n, sizeof *w->digest);
    w->stops = calloc(n, sizeof *w->stops);
    bool fits = w->member != NULL && w->passes != NULL && w->digest != NULL && w->stops != NULL &&
                replay_links(&w->routes, w->start[1], w->start[2], &w->link, &w->links);
    for (size_t i = 0; i < 2; i++) {
        w->seen[i] = calloc(n, sizeof *w->seen[i]);
        w->seen_link[i] = calloc((size_t)w->links + 1, sizeof *w->seen_link[i]);
        fits = fits && w->seen[i] != NULL && w->seen_link[i] != NULL;
    }
    if (!fits) {
        return say_no_memory();
    }
    learn(w);
    return EXIT_YES;
}

/* ---- replaying ------------------------------------------------------------------------------- */

/* A cycle against w->stops; what is seen is marked (by: 0 the list, 1 a filter; 2: not marked). */
static void replay(struct world *w, uint32_t cycle, size_t by, double metric[METRICS])
{
    struct replay_outcome o = {0};
    struct replay_seen seen = {w->link, by < 2 ? w->seen[by] : NULL,
                               by < 2 ? w->seen_link[by] : NULL};
    if (by < 2) {
        memset(w->seen[by], 0, w->nodes);
        memset(w->seen_link[by], 0, w->links);
    }
    for (size_t i = w->start[cycle]; i < w->start[cycle + 1]; i++) {
        replay_route(&w->routes, &w->routes.route[i], w->stops, &o, &seen);
    }
    metric[SUCCESS] = (double)o.success / (double)o.routes;
    metric[SHORT] = (double)o.stopped_short / (double)o.routes;
    metric[COLLISION] = (double)o.collision / (double)o.routes;
    metric[NODES] = metric[LINKS] = 0;
}

void world_replay_list(struct world *w, uint32_t cycle, double metric[METRICS])
{
    memcpy(w->stops, w->member, w->nodes);
    replay(w, cycle, cycle == 1 ? 0 : 2, metric);
}

void world_replay_filter(struct world *w, const struct tepal_filter *filter, uint32_t cycle,
                         double metric[METRICS])
{
    for (uint32_t node = 0; node < w->nodes; node++) {
        w->stops[node] = tepal_filter_query(filter, w->digest[node]);
    }
    replay(w, cycle, cycle == 1 ? 1 : 2, metric);
    if (cycle == 1) {
        metric[NODES] = replay_missed(w->seen[0], w->seen[1], w->nodes);
        metric[LINKS] = replay_missed(w->seen_link[0], w->seen_link[1], w->links);
    }
}

/* ---- worlds, one after the other ------------------------------------------------------------- */

int lab_000_in_worlds(struct lab *lab, bool many, int (*run)(struct lab *lab, struct world *w))
{
    struct world w = {0};
    const char *folder = lab_data(lab);
    uint32_t cycles = many ? (uint32_t)lab_trials(lab, 5, WORLD_CYCLES) : 2;
    int code = world_generate(lab, cycles, &w);
    code = code == EXIT_YES ? world_learn(&w) : code;
    code = code == EXIT_YES ? run(lab, &w) : code;
    world_free(&w);
    if (code == EXIT_YES && folder != NULL) {
        code = many ? world_read(folder, "planetlab-10cycles.tsv.gz", 10, WORLD_CYCLES, &w)
                    : world_read(folder, "planetlab-2cycles.tsv.gz", 5, 2, &w);
        code = code == EXIT_YES ? world_learn(&w) : code;
        code = code == EXIT_YES ? run(lab, &w) : code;
        world_free(&w);
    }
    return code;
}
