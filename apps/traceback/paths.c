/*
 * paths.c: where packets may come from: a network and its shortest paths, measured routes, or a
 * tree in which no router is met twice and nothing needs to be kept.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "statistics/random.h"
#include "traceback/walk.h"

#define TREE_HOPS 15

/* ---- the mesh -------------------------------------------------------------------------------- */

/* Two neighbours as one number. */
static uint64_t pair(uint32_t to, uint32_t from)
{
    return (uint64_t)to << 32 | from;
}

static int compare_pairs(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* From pairs, in any order and repeated. */
static int make_mesh(struct traceback *t, uint32_t nodes, uint64_t *pairs, size_t count)
{
    struct mesh *m = &t->mesh;
    m->nodes = nodes;
    m->first = calloc((size_t)nodes + 2, sizeof *m->first);
    m->neighbour = malloc((count + 1) * sizeof *m->neighbour);
    t->asked = calloc((size_t)nodes + 1, sizeof *t->asked);
    t->found = calloc((size_t)nodes + 1, sizeof *t->found);
    t->met = calloc((size_t)nodes + 1, sizeof *t->met);
    t->queue = malloc(((size_t)nodes + 1) * sizeof *t->queue);
    if (m->first == NULL || m->neighbour == NULL || t->asked == NULL || t->found == NULL ||
        t->met == NULL || t->queue == NULL) {
        return say_no_memory();
    }
    qsort(pairs, count, sizeof *pairs, compare_pairs);
    uint32_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || pairs[i - 1] != pairs[i]) {
            m->neighbour[kept++] = (uint32_t)pairs[i];
            m->first[(pairs[i] >> 32) + 1]++;
        }
    }
    for (uint32_t v = 0; v < nodes; v++) {
        m->first[v + 1] += m->first[v];
    }
    return EXIT_YES;
}

static int mesh_of_graph(struct traceback *t)
{
    const struct graph *g = &t->graph;
    uint64_t *pairs = malloc(((size_t)g->links + 1) * sizeof *pairs);
    if (pairs == NULL || !graph_spread_new(&t->spread, g)) {
        free(pairs);
        return say_no_memory();
    }
    for (uint32_t i = 0; i < g->links; i++) {
        pairs[i] = pair(g->link[i].to, g->link[i].from);
    }
    int code = make_mesh(t, g->nodes, pairs, g->links);
    free(pairs);
    return code;
}

/* No gap, no address twice, and as long as is wanted. */
static bool is_usable(struct traceback *t, const struct route *r)
{
    const uint32_t *hop = t->routes.hop + r->first;
    bool usable = r->hops >= 2 && (t->hops == 0 || r->hops == t->hops);
    uint32_t marked = 0;
    for (; marked < r->hops && usable; marked++) {
        usable = hop[marked] != ROUTE_SILENT && !t->met[hop[marked]];
        if (!usable) {
            break;
        }
        t->met[hop[marked]] = true;
    }
    for (uint32_t i = 0; i < marked; i++) {
        t->met[hop[i]] = false;
    }
    return usable;
}

static int mesh_of_routes(struct traceback *t)
{
    const struct routes *r = &t->routes;
    uint64_t *pairs = malloc((2 * r->hops + 1) * sizeof *pairs);
    size_t count = 0;
    t->usable = malloc((r->count + 1) * sizeof *t->usable);
    if (pairs == NULL || t->usable == NULL) {
        free(pairs);
        return say_no_memory();
    }
    for (size_t i = 0; i < r->count; i++) {
        const uint32_t *hop = r->hop + r->route[i].first;
        for (uint32_t h = 0; h + 1 < r->route[i].hops; h++) {
            if (hop[h] != ROUTE_SILENT && hop[h + 1] != ROUTE_SILENT && hop[h] != hop[h + 1]) {
                pairs[count++] = pair(hop[h], hop[h + 1]);
                pairs[count++] = pair(hop[h + 1], hop[h]);
            }
        }
    }
    int code = make_mesh(t, r->nodes.count, pairs, count);
    free(pairs);
    for (size_t i = 0; i < r->count && code == EXIT_YES; i++) {
        if (is_usable(t, &r->route[i])) {
            t->usable[t->usable_count++] = i;
            t->reach = r->route[i].hops > t->reach ? r->route[i].hops : t->reach;
        }
    }
    return code;
}

/* ---- a path ---------------------------------------------------------------------------------- */

/* A path from the source to a victim drawn at random; false: there is none that is wanted. */
static bool draw_victim(struct traceback *t, uint32_t source, struct path *path)
{
    uint32_t link[ROUTE_HOPS + 1];
    uint32_t reached = graph_spread(&t->graph, source, &t->spread);
    uint32_t fit = 0;
    for (uint32_t i = 1; i < reached; i++) { /* the victims that are far enough */
        uint32_t routers = t->spread.distance[t->spread.reached[i]] + 1;
        if (routers <= ROUTE_HOPS && (t->hops == 0 || routers == t->hops)) {
            t->queue[fit++] = t->spread.reached[i];
        }
    }
    if (fit == 0) {
        return false;
    }
    uint32_t victim = t->queue[random_draw(&t->random) % fit];
    uint32_t count = graph_path(&t->graph, &t->spread, victim, link);
    path->router[0] = source;
    for (uint32_t i = 0; i < count; i++) {
        path->router[i + 1] = t->graph.link[link[i]].to;
    }
    path->hops = count + 1;
    return true;
}

/* From a source drawn at random; if few have such paths, from the first that has. */
static bool draw_shortest(struct traceback *t, struct path *path)
{
    bool drawn = false;
    for (int i = 0; i < 200 && !drawn; i++) {
        drawn = draw_victim(t, (uint32_t)(random_draw(&t->random) % t->graph.nodes), path);
    }
    for (uint32_t source = 0; source < t->graph.nodes && !drawn; source++) {
        drawn = draw_victim(t, source, path);
    }
    return drawn;
}

static bool draw_route(struct traceback *t, struct path *path)
{
    const struct route *r =
        &t->routes.route[t->usable[(size_t)(random_draw(&t->random) % t->usable_count)]];
    for (uint32_t i = 0; i < r->hops; i++) {
        path->router[i] = t->routes.hop[r->first + i];
    }
    path->hops = r->hops;
    return true;
}

/* ---- the tree -------------------------------------------------------------------------------- */

#define TREE_ROOT 1

/* Every router has a number of its own, from that of the one nearer to the victim. */
static uint64_t tree_child(uint64_t router, uint64_t which)
{
    return random_mix(router + (which + 1) * RANDOM_STEP);
}

/* Always the first child. */
static bool tree_path(const struct traceback *t, struct path *path)
{
    uint64_t router = TREE_ROOT;
    path->hops = t->hops;
    for (uint32_t i = t->hops; i-- > 0; router = tree_child(router, 0)) {
        path->router[i] = router;
    }
    return true;
}

static uint32_t tree_neighbours(const struct traceback *t, const struct path *path,
                                const struct step *step, uint64_t *out)
{
    uint32_t count = t->tree - (step->depth > 0);
    uint32_t first = step->on_path && step->depth + 1 < path->hops ? 0 : 1;
    for (uint32_t i = 0; i < count; i++) {
        out[i] = tree_child(step->router, first + i);
    }
    return count;
}

/* ---- what a walk asks ------------------------------------------------------------------------ */

uint32_t paths_neighbours(const struct traceback *t, const struct path *path,
                          const struct step *step, uint64_t *out)
{
    if (t->tree != 0) {
        return tree_neighbours(t, path, step, out);
    }
    const uint32_t *neighbour = t->mesh.neighbour + t->mesh.first[step->router];
    uint32_t count = t->mesh.first[step->router + 1] - t->mesh.first[step->router];
    for (uint32_t i = 0; i < count; i++) {
        out[i] = neighbour[i];
    }
    return count;
}

/* Routers on the way from the one that is farthest from here. */
static uint32_t farthest(struct traceback *t, uint32_t start)
{
    const struct mesh *m = &t->mesh;
    uint32_t levels = 0;
    uint32_t head = 0;
    uint32_t tail = 1;
    t->queue[0] = start;
    t->asked[start] = true;
    for (; head < tail; levels++) {
        for (uint32_t end = tail; head < end; head++) {
            uint32_t v = t->queue[head];
            for (uint32_t i = m->first[v]; i < m->first[v + 1]; i++) {
                if (!t->asked[m->neighbour[i]]) {
                    t->asked[m->neighbour[i]] = true;
                    t->queue[tail++] = m->neighbour[i];
                }
            }
        }
    }
    memset(t->asked, 0, m->nodes * sizeof *t->asked);
    return levels;
}

bool paths_draw(struct traceback *t, struct path *path)
{
    bool drawn = t->tree != 0          ? tree_path(t, path)
                 : t->usable_count > 0 ? draw_route(t, path)
                                       : draw_shortest(t, path);
    const struct option_value *reach = arg(t->args, "max-hops");
    if (reach->given) {
        t->reach = (uint32_t)reach->whole;
    } else if (drawn && t->usable_count == 0 && t->tree == 0) {
        t->reach = farthest(t, (uint32_t)path->router[path->hops - 1]);
    }
    return drawn;
}

/* ---- where the paths come from --------------------------------------------------------------- */

static int set_tree(struct traceback *t)
{
    if (t->args->operands > 0) {
        return say_error(NULL, t->args->command->name,
                         "--tree and the network %s cannot be combined: give one of them",
                         t->args->operand[0]);
    }
    t->tree = (uint32_t)arg(t->args, "tree")->whole;
    if (t->tree < 2) {
        return say_error(NULL, t->args->command->name,
                         "--tree %s: a router on a path has at least 2 neighbours",
                         arg(t->args, "tree")->text);
    }
    t->hops = t->hops == 0 ? TREE_HOPS : t->hops;
    t->reach = t->hops;
    return EXIT_YES;
}

static int set_routes(struct traceback *t)
{
    int code = routes_read(&t->routes, t->args->operand, t->args->operands);
    code = code == EXIT_YES ? mesh_of_routes(t) : code;
    if (code == EXIT_YES && t->usable_count == 0) {
        code = say_error(NULL, t->args->command->name,
                         "no route of %s routers, all of which answered and none twice",
                         t->hops == 0 ? "two or more" : arg(t->args, "hops")->text);
    }
    return code;
}

static int set_network(struct traceback *t)
{
    const struct args *args = t->args;
    if (args->operands != 1) {
        return say_error(NULL, args->command->name,
                         args->operands == 0
                             ? "a network is needed, or --tree N; see 'tepal app traceback --help'"
                             : "give only one network (or --routes with several files of routes)");
    }
    int code = graph_read(&t->graph, args->operand[0], arg(args, "network")->text);
    if (code == EXIT_YES && t->graph.links == 0) {
        code = say_error(NULL, args->operand[0], "a network without links has no paths");
    }
    return code == EXIT_YES ? mesh_of_graph(t) : code;
}

int paths_prepare(struct traceback *t)
{
    return arg(t->args, "tree")->given     ? set_tree(t)
           : arg(t->args, "routes")->given ? set_routes(t)
                                           : set_network(t);
}
