/*
 * paper000_stopset.c: the red stop set (Figs. 13 to 22). The paper's traceroutes are not to be had.
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paper000.h"
#include "traceroute.h"

#define NOBODY   UINT32_MAX
#define ROUTERS  15000
#define MONITORS 10
#define TARGETS  10000
#define CYCLES   10

/* ---- routes ---------------------------------------------------------------------------------- */

struct trace {
    size_t first; /* its hops in world.hop */
    uint32_t hops;
};

struct world {
    const char *name;
    uint32_t cycles;
    size_t start[CYCLES + 1]; /* the traces of cycle i: start[i] .. start[i + 1] */
    struct trace *trace;
    size_t traces;
    size_t trace_room;
    uint32_t *hop; /* addresses, by number; NOBODY: no answer */
    size_t hops;
    size_t hop_room;
    uint32_t nodes;
    bool *member; /* penultimate in the first cycle */
    double *passes;
    uint64_t members;
    uint32_t *link; /* of every hop but the last: the number of the link to the next */
    uint32_t links;
    struct tepal_digest *digest;
    bool *stops;
    bool *seen[2];      /* nodes, by the list and by the filter */
    bool *seen_link[2]; /* links */
};

static void world_free(struct world *w)
{
    free(w->trace);
    free(w->hop);
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

static int no_memory(void)
{
    return say_error(NULL, "lab", "out of memory");
}

static bool grow(void **array, size_t *room, size_t needed, size_t width)
{
    if (needed > *room) {
        size_t larger = 2 * needed + 1024;
        void *moved = realloc(*array, larger * width);
        if (moved == NULL) {
            return false;
        }
        *array = moved;
        *room = larger;
    }
    return true;
}

static bool add_trace(struct world *w, const uint32_t *hop, uint32_t hops)
{
    void *traces = w->trace;
    void *all = w->hop;
    bool fits = grow(&traces, &w->trace_room, w->traces + 1, sizeof *w->trace);
    w->trace = traces;
    fits = fits && grow(&all, &w->hop_room, w->hops + hops, sizeof *w->hop);
    w->hop = all;
    if (fits) {
        w->trace[w->traces++] = (struct trace){w->hops, hops};
        memcpy(w->hop + w->hops, hop, hops * sizeof *hop);
        w->hops += hops;
    }
    return fits;
}

/* ---- generated ------------------------------------------------------------------------------- */

#define ARCS (4 * ROUTERS) /* both ways of two links at most for every router */

/* Arc a leads from its tail to head[a]; the way back is a ^ 1. */
struct graph {
    uint32_t arcs;
    uint32_t head[ARCS];
    uint32_t length[ARCS];
    uint32_t next[ARCS]; /* the next arc of the same tail, NOBODY: none */
    uint32_t first[ROUTERS];
    bool edge[ROUTERS]; /* no younger router is linked to it, and no monitor is there */
    uint32_t place[MONITORS];
    uint32_t target[TARGETS];
    /* a tree of shortest paths */
    uint64_t distance[ROUTERS];
    uint32_t by[ROUTERS]; /* the arc by which it is reached */
    uint32_t queue[ROUTERS];
    bool queued[ROUTERS];
};

static uint32_t draw_below(struct lab *lab, uint64_t limit)
{
    return (uint32_t)(lab_draw(lab) % limit);
}

static double draw_unit(struct lab *lab)
{
    return (double)(lab_draw(lab) >> 11) * 0x1p-53;
}

static uint32_t draw_length(struct lab *lab)
{
    return 64 + draw_below(lab, 64);
}

static void connect(struct lab *lab, struct graph *g, uint32_t from, uint32_t to)
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
    return ROUTERS / 2 + draw_below(lab, ROUTERS / 2);
}

static uint32_t draw_edge(struct lab *lab, const struct graph *g)
{
    uint32_t router;
    do {
        router = draw_young(lab);
    } while (!g->edge[router]);
    return router;
}

static uint32_t draw_target(struct lab *lab, const struct graph *g)
{
    return draw_below(lab, 50) == 0 ? draw_young(lab) : draw_edge(lab, g);
}

static void graph_draw(struct lab *lab, struct graph *g)
{
    memset(g->first, 0xff, sizeof g->first);
    memset(g->edge, 1, sizeof g->edge);
    for (uint32_t i = 1; i < ROUTERS; i++) {
        uint32_t links = 1 + (draw_below(lab, 10) < 3);
        for (uint32_t j = 0; j < links; j++) {
            double u = draw_unit(lab);
            uint32_t older = (uint32_t)(i * u * u);
            connect(lab, g, i, older);
            g->edge[older] = false;
        }
    }
    for (size_t i = 0; i < MONITORS; i++) {
        g->place[i] = draw_edge(lab, g);
        g->edge[g->place[i]] = false;
    }
    for (size_t i = 0; i < TARGETS; i++) {
        g->target[i] = draw_target(lab, g);
    }
}

static void graph_change(struct lab *lab, struct graph *g)
{
    for (uint32_t arc = 0; arc < g->arcs; arc += 2) {
        if (draw_below(lab, 20) == 0) {
            g->length[arc] = g->length[arc + 1] = draw_length(lab);
        }
    }
    for (size_t i = 0; i < TARGETS; i++) {
        if (draw_below(lab, 10) == 0) {
            g->target[i] = draw_target(lab, g);
        }
    }
}

/* Shortest paths from a router: routers whose distance fell wait in a ring until nothing falls. */
static void graph_tree(struct graph *g, uint32_t root)
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
        for (uint32_t arc = g->first[router]; arc != NOBODY; arc = g->next[arc]) {
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
static bool graph_trace(struct world *w, const struct graph *g, uint32_t monitor, uint32_t target)
{
    uint32_t hop[ROUTERS + 1];
    uint32_t count = 0;
    for (uint32_t router = target; g->by[router] != NOBODY;) {
        hop[count++] = g->by[router];
        router = g->head[g->by[router] ^ 1];
    }
    hop[count++] = g->arcs + monitor;
    for (uint32_t i = 0; i < count / 2; i++) {
        uint32_t swap = hop[i];
        hop[i] = hop[count - 1 - i];
        hop[count - 1 - i] = swap;
    }
    return add_trace(w, hop, count);
}

static int world_generate(struct lab *lab, uint32_t cycles, struct world *w)
{
    struct graph *g = calloc(1, sizeof *g);
    bool fits = g != NULL;
    if (fits) {
        graph_draw(lab, g);
    }
    for (uint32_t c = 0; c < cycles && fits; c++) {
        if (c > 0) {
            graph_change(lab, g);
        }
        for (uint32_t m = 0; m < MONITORS && fits; m++) {
            graph_tree(g, g->place[m]);
            for (size_t t = 0; t < TARGETS && fits; t++) {
                fits = graph_trace(w, g, m, g->target[t]);
            }
        }
        w->start[c + 1] = w->traces;
    }
    w->name = "generated";
    w->cycles = cycles;
    w->nodes = fits ? g->arcs + MONITORS : 0;
    free(g);
    return fits ? EXIT_YES : no_memory();
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
                !add_trace(w, routes.hop + r->first, r->hops)) {
                code = no_memory();
            }
        }
        w->start[c + 1] = w->traces;
    }
    w->name = "measured";
    w->cycles = cycles;
    w->nodes = routes.nodes.count;
    routes_free(&routes);
    return code;
}

/* ---- learning -------------------------------------------------------------------------------- */

static const uint32_t *hops_of(const struct world *w, const struct trace *t)
{
    return w->hop + t->first;
}

/* The cycle that is learned: penultimate nodes, and in how many routes each node occurs. */
static void learn(struct world *w)
{
    for (size_t i = 0; i < w->start[1]; i++) {
        const struct trace *t = &w->trace[i];
        for (uint32_t h = 0; h < t->hops; h++) {
            uint32_t node = hops_of(w, t)[h];
            if (node == NOBODY) {
                continue;
            }
            w->passes[node]++;
            if (h + 1 == t->hops && !w->member[node]) {
                w->member[node] = true;
                w->members++;
            }
        }
    }
}

/* Links of the second cycle get numbers, by a table with linear probing. */
static bool number_links(struct world *w)
{
    size_t slots = 1024;
    while (slots < 2 * w->hops) {
        slots *= 2;
    }
    uint64_t *key = malloc(slots * sizeof *key);
    uint32_t *number = malloc(slots * sizeof *number);
    w->link = malloc((w->hops + 1) * sizeof *w->link);
    bool fits = key != NULL && number != NULL && w->link != NULL;
    if (fits) {
        memset(number, 0xff, slots * sizeof *number);
        memset(w->link, 0xff, (w->hops + 1) * sizeof *w->link);
    }
    for (size_t i = w->start[1]; i < w->start[2] && fits; i++) {
        const struct trace *t = &w->trace[i];
        for (uint32_t h = 0; h + 1 < t->hops; h++) {
            const uint32_t *hop = hops_of(w, t) + h;
            if (hop[0] == NOBODY || hop[1] == NOBODY) {
                continue;
            }
            uint64_t ends = (uint64_t)hop[0] << 32 | hop[1];
            size_t at = (size_t)((ends * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (slots - 1);
            while (number[at] != NOBODY && key[at] != ends) {
                at = (at + 1) & (slots - 1);
            }
            if (number[at] == NOBODY) {
                key[at] = ends;
                number[at] = w->links++;
            }
            w->link[t->first + h] = number[at];
        }
    }
    free(key);
    free(number);
    return fits;
}

static int world_learn(struct world *w)
{
    size_t n = (size_t)w->nodes + 1;
    w->member = calloc(n, sizeof *w->member);
    w->passes = calloc(n, sizeof *w->passes);
    w->digest = calloc(n, sizeof *w->digest);
    w->stops = calloc(n, sizeof *w->stops);
    bool fits = w->member != NULL && w->passes != NULL && w->digest != NULL && w->stops != NULL &&
                number_links(w);
    for (size_t i = 0; i < 2; i++) {
        w->seen[i] = calloc(n, sizeof *w->seen[i]);
        w->seen_link[i] = calloc((size_t)w->links + 1, sizeof *w->seen_link[i]);
        fits = fits && w->seen[i] != NULL && w->seen_link[i] != NULL;
    }
    if (!fits) {
        return no_memory();
    }
    learn(w);
    return EXIT_YES;
}

/* ---- replaying ------------------------------------------------------------------------------- */

enum { SUCCESS, SHORT, COLLISION, NODES, LINKS, METRICS };
static const char *const metric_names[METRICS] = {"success", "stopping short", "collision",
                                                  "nodes missed", "links missed"};

/* A cycle against w->stops; what is seen is marked (by: 0 the list, 1 a filter; 2: not marked). */
static void replay(struct world *w, uint32_t cycle, size_t by, double metric[METRICS])
{
    double count[3] = {0};
    if (by < 2) {
        memset(w->seen[by], 0, w->nodes);
        memset(w->seen_link[by], 0, w->links);
    }
    for (size_t i = w->start[cycle]; i < w->start[cycle + 1]; i++) {
        const struct trace *t = &w->trace[i];
        const uint32_t *hop = hops_of(w, t);
        uint32_t h = 0;
        while (h < t->hops && (hop[h] == NOBODY || !w->stops[hop[h]])) {
            h++;
        }
        count[h == t->hops ? COLLISION : h + 1 == t->hops ? SUCCESS : SHORT]++;
        for (uint32_t j = 0; by < 2 && j <= h && j < t->hops; j++) {
            if (hop[j] != NOBODY) {
                w->seen[by][hop[j]] = true;
            }
            if (j < h && w->link[t->first + j] != NOBODY) {
                w->seen_link[by][w->link[t->first + j]] = true;
            }
        }
    }
    for (size_t j = 0; j < 3; j++) {
        metric[j] = count[j] / (double)(w->start[cycle + 1] - w->start[cycle]);
    }
}

/* Of what the list sees, the share that the filter does not. */
static double missed(const bool *list, const bool *filter, uint32_t count)
{
    double all = 0;
    double lost = 0;
    for (uint32_t i = 0; i < count; i++) {
        all += list[i];
        lost += list[i] && !filter[i];
    }
    return all > 0 ? lost / all : 0;
}

static void replay_list(struct world *w, uint32_t cycle, double metric[METRICS])
{
    memcpy(w->stops, w->member, w->nodes);
    metric[NODES] = metric[LINKS] = 0;
    replay(w, cycle, cycle == 1 ? 0 : 2, metric);
}

static void replay_filter(struct world *w, const struct tepal_filter *filter, uint32_t cycle,
                          double metric[METRICS])
{
    for (uint32_t node = 0; node < w->nodes; node++) {
        w->stops[node] = tepal_filter_query(filter, w->digest[node]);
    }
    metric[NODES] = metric[LINKS] = 0;
    replay(w, cycle, cycle == 1 ? 1 : 2, metric);
    if (cycle == 1) {
        metric[NODES] = missed(w->seen[0], w->seen[1], w->nodes);
        metric[LINKS] = missed(w->seen_link[0], w->seen_link[1], w->links);
    }
}

/* ---- filters --------------------------------------------------------------------------------- */

struct suspect {
    uint32_t node;
    double weight;
};

/* The most troublesome first. */
static int compare_suspects(const void *a, const void *b)
{
    const struct suspect *x = a;
    const struct suspect *y = b;
    if (x->weight != y->weight) {
        return x->weight > y->weight ? -1 : 1;
    }
    return x->node < y->node ? -1 : x->node > y->node;
}

/* A Bloom filter of the penultimate nodes, with all that retouching wants to know. */
struct stopset {
    struct tepal_filter *bloom;
    struct tepal_digest *member;
    struct tepal_digest *bad; /* false positives among the nodes that were seen, heaviest first */
    struct suspect *suspect;
    size_t bad_count;
};

static void stopset_free(struct stopset *s)
{
    tepal_filter_free(s->bloom);
    free(s->member);
    free(s->bad);
    free(s->suspect);
}

/* Nodes get new hashes. */
static int stopset_make(struct lab *lab, struct world *w, uint64_t bits, uint32_t hashes,
                        struct stopset *s)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    size_t members = 0;
    *s = (struct stopset){.member = malloc((w->members + 1) * sizeof *s->member),
                          .bad = malloc(((size_t)w->nodes + 1) * sizeof *s->bad),
                          .suspect = malloc(((size_t)w->nodes + 1) * sizeof *s->suspect)};
    params.cells = bits;
    params.hashes = hashes;
    if (s->member == NULL || s->bad == NULL || s->suspect == NULL ||
        tepal_filter_create(&params, NULL, &s->bloom, NULL) != TEPAL_OK) {
        return no_memory();
    }
    for (uint32_t node = 0; node < w->nodes; node++) {
        w->digest[node] = lab_000_digest(lab);
        if (w->member[node]) {
            s->member[members++] = w->digest[node];
            (void)tepal_filter_add(s->bloom, w->digest[node]);
        }
    }
    for (uint32_t node = 0; node < w->nodes; node++) {
        if (!w->member[node] && w->passes[node] > 0 &&
            tepal_filter_query(s->bloom, w->digest[node])) {
            s->suspect[s->bad_count++] = (struct suspect){node, w->passes[node]};
        }
    }
    qsort(s->suspect, s->bad_count, sizeof *s->suspect, compare_suspects);
    for (size_t i = 0; i < s->bad_count; i++) {
        s->bad[i] = w->digest[s->suspect[i].node];
    }
    return EXIT_YES;
}

/* Without the share beta of its false positives that is the most troublesome. */
static int stopset_retouch(struct lab *lab, const struct world *w, const struct stopset *s,
                           enum tepal_retouch_method method, double beta, struct tepal_filter **out)
{
    struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    struct tepal_retouch_input input = {.members = s->member,
                                        .member_count = w->members,
                                        .avoid = s->bad,
                                        .avoid_count = (size_t)ceil(beta * (double)s->bad_count),
                                        .known = s->bad,
                                        .known_count = s->bad_count};
    options.method = method;
    options.basis = TEPAL_RETOUCH_BASIS_ALL;
    if (lab_sabotaged(lab)) {
        input.avoid_count = 0;
    }
    enum tepal_status status =
        tepal_retouch(s->bloom, &input, &options, NULL, out, NULL, NULL, NULL);
    return status == TEPAL_OK ? EXIT_YES
                              : say_error(NULL, "lab", "%s", tepal_status_message(status));
}

/* A retouched set against a cycle. beta 0: the Bloom filter. The run's own numbers: metric. */
static int measure_run(struct lab *lab, struct world *w, const struct stopset *s,
                       enum tepal_retouch_method method, double beta, uint32_t cycle,
                       struct lab_mean mean[METRICS], double metric[METRICS])
{
    struct tepal_filter *out = NULL;
    if (beta > 0 && stopset_retouch(lab, w, s, method, beta, &out) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    replay_filter(w, beta > 0 ? out : s->bloom, cycle, metric);
    for (size_t j = 0; j < METRICS; j++) {
        lab_mean_add(&mean[j], metric[j]);
    }
    tepal_filter_free(out);
    return EXIT_YES;
}

static int measure(struct lab *lab, struct world *w, const struct stopset *s,
                   enum tepal_retouch_method method, double beta, uint32_t cycle,
                   struct lab_mean mean[METRICS])
{
    double metric[METRICS];
    return measure_run(lab, w, s, method, beta, cycle, mean, metric);
}

/* ---- worlds, one after the other ------------------------------------------------------------- */

/* On generated routes, and on measured ones if there are any. `many`: as many cycles as can be. */
static int in_worlds(struct lab *lab, bool many, int (*run)(struct lab *lab, struct world *w))
{
    struct world w = {0};
    const char *folder = lab_data(lab);
    uint32_t cycles = many ? (uint32_t)lab_trials(lab, 5, CYCLES) : 2;
    int code = world_generate(lab, cycles, &w);
    code = code == EXIT_YES ? world_learn(&w) : code;
    code = code == EXIT_YES ? run(lab, &w) : code;
    world_free(&w);
    if (code == EXIT_YES && folder != NULL) {
        code = many ? world_read(folder, "planetlab-10cycles.tsv.gz", 10, CYCLES, &w)
                    : world_read(folder, "planetlab-2cycles.tsv.gz", 5, 2, &w);
        code = code == EXIT_YES ? world_learn(&w) : code;
        code = code == EXIT_YES ? run(lab, &w) : code;
        world_free(&w);
    }
    return code;
}

static struct svg_point point_of(double x, const struct lab_mean *mean)
{
    double half = LAB_Z * lab_mean_error(mean);
    return (struct svg_point){x, mean->mean, fmax(0, mean->mean - half), mean->mean + half};
}

static void mean_row(struct lab *lab, const struct lab_mean *mean, const char *words)
{
    struct lab_row row = LAB_ROW;
    lab_measured(&row, mean);
    lab_row(lab, &row, "%s", words);
}

/* A sentence of the text that is so (1) or not (0). */
static void holds(struct lab *lab, const struct world *w, bool so, const char *words)
{
    struct lab_row row = LAB_ROW;
    row.published = 1;
    lab_exact(&row, so);
    lab_row(lab, &row, "%s, %s (1: so)", w->name, words);
}

/* What the text says of skitter's routes, to stand beside ours. */
static struct lab_row skitter(double published)
{
    struct lab_row row = LAB_ROW;
    row.published = published;
    row.elsewhere = true;
    return row;
}

static void skitter_row(struct lab *lab, double published, const struct lab_mean *mean,
                        const struct world *w, const char *words)
{
    struct lab_row row = skitter(published);
    lab_measured(&row, mean);
    lab_row(lab, &row, "%s, %s", w->name, words);
}

static void list_rows(struct lab *lab, struct world *w)
{
    static const double printed[] = {0.7812, 0.0936, 0.1251};
    double metric[METRICS];
    replay_list(w, 1, metric);
    for (size_t j = 0; j < 3; j++) {
        struct lab_row row = skitter(printed[j]);
        lab_exact(&row, metric[j]);
        lab_row(lab, &row, "%s, list: %s", w->name, metric_names[j]);
    }
    struct lab_row row = skitter(8006);
    lab_exact(&row, (double)w->members);
    lab_row(lab, &row, "%s: penultimate addresses", w->name);
}

/* ---- Figs. 13 and 15 to 17 ------------------------------------------------------------------- */

#define SIZES 10
#define SETS  5

static const double set_beta[SETS] = {0, 0.01, 0.05, 0.1, 0.25};
static const char *const set_names[SETS] = {"Bloom", "beta 1 %", "beta 5 %", "beta 10 %",
                                            "beta 25 %"};

static uint64_t size_of(size_t i)
{
    return 10000 * (i + 1);
}

static int size_charts(struct lab *lab, struct world *w, struct lab_mean mean[SIZES][SETS][METRICS],
                       uint32_t k)
{
    double list[METRICS];
    replay_list(w, 1, list);
    size_t shown = k == 1 ? METRICS : 1;
    for (size_t j = 0; j < shown; j++) {
        struct svg_point point[SETS + 1][SIZES] = {0};
        struct svg_series series[SETS + 1] = {0};
        char title[80];
        for (size_t s = 0; s < SETS; s++) {
            for (size_t i = 0; i < SIZES; i++) {
                point[s][i] = point_of((double)size_of(i), &mean[i][s][j]);
            }
            series[s] = (struct svg_series){set_names[s], SVG_LINE, point[s], SIZES};
        }
        for (size_t i = 0; i < SIZES; i++) {
            point[SETS][i] = (struct svg_point){.x = (double)size_of(i), .y = list[j]};
        }
        series[SETS] = (struct svg_series){"list", SVG_DASHED, point[SETS], SIZES};
        snprintf(title, sizeof title, "%s routes, k = %u: %s", w->name, k, metric_names[j]);
        struct svg_chart chart = {.title = title,
                                  .x_label = "bits",
                                  .y_label = "share",
                                  .series = series,
                                  .count = SETS + 1};
        if (lab_chart(lab, &chart) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
    }
    return EXIT_YES;
}

/* Where the mean is highest. */
static size_t best_size(struct lab_mean mean[SIZES][SETS][METRICS], size_t set)
{
    size_t best = 0;
    for (size_t i = 1; i < SIZES; i++) {
        best = mean[i][set][SUCCESS].mean > mean[best][set][SUCCESS].mean ? i : best;
    }
    return best;
}

/* The numbers of the text. less: by what share fewer stop short with beta 25 %, run by run. */
static void size_values(struct lab *lab, const struct world *w,
                        struct lab_mean mean[SIZES][SETS][METRICS],
                        const struct lab_mean less[SIZES])
{
    const size_t last = SIZES - 1;
    const size_t most = SETS - 1;
    skitter_row(lab, 0.2446, &mean[last][0][SUCCESS], w, "k 1, Bloom, 100000 bits: success");
    skitter_row(lab, 0.9981, &mean[0][0][SHORT], w, "k 1, Bloom, 10000 bits: stopping short");
    skitter_row(lab, 0.7668, &mean[last][0][SHORT], w, "k 1, Bloom, 100000 bits: stopping short");
    skitter_row(lab, 0.8, &mean[5][0][NODES], w,
                "k 1, Bloom, 60000 bits: nodes missed (in the paper above)");
    skitter_row(lab, 0.8, &mean[5][0][LINKS], w,
                "k 1, Bloom, 60000 bits: links missed (in the paper above)");
    skitter_row(lab, 0.7564, &mean[best_size(mean, most)][most][SUCCESS], w,
                "k 1, beta 25 %: success at the best size");
    skitter_row(lab, 76.17, &less[0], w, "k 1, 10000 bits: fewer stop short with beta 25 %, by %");
    skitter_row(lab, 84.35, &less[last], w,
                "k 1, 100000 bits: fewer stop short with beta 25 %, by %");
}

/*
 * The sentences on Figs. 13 to 17, read as: "approaches": nine tenths of the list's; "less marked":
 * less for each bit; "a wide range": most of the ten sizes.
 */
static void size_sentences(struct lab *lab, const struct world *w,
                           struct lab_mean mean[SIZES][SETS][METRICS], const double list[METRICS])
{
    const size_t most = SETS - 1;
    bool slower = true;
    size_t lower = 0;
    size_t best = 0;
    bool rescued = true;
    for (size_t s = 0; s < SETS; s++) {
        double early = (mean[5][s][SUCCESS].mean - mean[0][s][SUCCESS].mean) / 5;
        double late = (mean[SIZES - 1][s][SUCCESS].mean - mean[5][s][SUCCESS].mean) / 4;
        slower = slower && (s < 2 || late < early);
        best = mean[best_size(mean, s)][s][SUCCESS].mean >
                       mean[best_size(mean, best)][best][SUCCESS].mean
                   ? s
                   : best;
    }
    for (size_t i = 0; i < SIZES; i++) {
        const struct lab_mean *bloom = mean[i][0];
        const struct lab_mean *retouched = mean[i][most];
        rescued = rescued && retouched[SUCCESS].mean >= bloom[SUCCESS].mean &&
                  retouched[SHORT].mean <= bloom[SHORT].mean &&
                  retouched[NODES].mean <= bloom[NODES].mean;
        lower += mean[i][most - 1][COLLISION].mean < list[COLLISION];
    }
    holds(lab, w, mean[SIZES - 1][0][SUCCESS].mean < mean[SIZES - 1][most][SUCCESS].mean,
          "k 1, 100000 bits: retouching raises success");
    holds(lab, w, rescued, "k 1: with beta 25 % more succeed and less is missed at every size");
    holds(lab, w, best == most, "k 1: of 0, 1, 5, 10 and 25 %, success is highest with beta 25 %");
    holds(lab, w, slower, "k 1, beta 5 to 25 %: beyond 60000 bits success rises more slowly");
    holds(lab, w, mean[5][most][SUCCESS].mean >= 0.9 * list[SUCCESS],
          "k 1, 60000 bits, beta 25 %: success is nine tenths of the list's, or more");
    holds(lab, w, mean[0][most][SUCCESS].mean > list[SUCCESS] / 4,
          "k 1, 10000 bits, beta 25 %: success is over a quarter of the list's");
    struct lab_row row = LAB_ROW;
    lab_exact(&row, (double)lower);
    lab_row(lab, &row, "%s, k 1, beta 10 %%: sizes, of ten, with fewer collisions than the list",
            w->name);
}

static void size_rows(struct lab *lab, const struct world *w,
                      struct lab_mean mean[SIZES][SETS][METRICS], uint32_t k)
{
    for (size_t i = 1; i < SIZES; i += 4) {
        for (size_t s = 0; s < SETS; s++) {
            for (size_t j = 0; j < METRICS; j++) {
                char words[120];
                snprintf(words, sizeof words, "%s, k %u, %.0f bits, %s: %s", w->name, k,
                         (double)size_of(i), set_names[s], metric_names[j]);
                mean_row(lab, &mean[i][s][j], words);
            }
        }
    }
}

static int sizes_with(struct lab *lab, struct world *w, uint32_t k)
{
    struct lab_mean mean[SIZES][SETS][METRICS] = {0};
    struct lab_mean less[SIZES] = {0};
    double list[METRICS];
    size_t runs = lab_trials(lab, 6, 30);
    replay_list(w, 1, list);
    for (size_t r = 0; r < runs * SIZES; r++) {
        struct stopset s;
        double metric[SETS][METRICS];
        int code = stopset_make(lab, w, size_of(r % SIZES), k, &s);
        for (size_t i = 0; i < SETS && code == EXIT_YES; i++) {
            code = measure_run(lab, w, &s, TEPAL_RETOUCH_RATIO, set_beta[i], 1, mean[r % SIZES][i],
                               metric[i]);
        }
        stopset_free(&s);
        if (code != EXIT_YES) {
            return code;
        }
        lab_mean_add(&less[r % SIZES], 100 * (1 - metric[SETS - 1][SHORT] / metric[0][SHORT]));
    }
    size_rows(lab, w, mean, k);
    if (k == 1) {
        size_values(lab, w, mean, less);
        size_sentences(lab, w, mean, list);
    }
    bool fewer = true;
    for (size_t i = 0; i < SIZES; i++) {
        fewer = fewer && mean[i][0][COLLISION].mean <= list[COLLISION];
    }
    holds(lab, w, fewer,
          k == 1 ? "k 1: stopping short keeps a Bloom filter's collisions below the list's"
                 : "k 5: stopping short keeps a Bloom filter's collisions below the list's");
    return size_charts(lab, w, mean, k);
}

static int sizes(struct lab *lab, struct world *w)
{
    list_rows(lab, w);
    int code = sizes_with(lab, w, 1);
    return code == EXIT_YES ? sizes_with(lab, w, HASHES) : code;
}

int lab_000_figure_13(struct lab *lab)
{
    return in_worlds(lab, false, sizes);
}

/* ---- Fig. 14 --------------------------------------------------------------------------------- */

static int troublesome_chart(struct lab *lab, const struct world *w, const struct stopset *s)
{
    struct svg_point point[64] = {0};
    size_t points = 0;
    /* How many have at least so many routes, for powers of the square root of two. */
    for (double degree = 1; s->bad_count > 0 && degree <= s->suspect[0].weight && points < 64;
         degree *= 1.4142135623730951) {
        size_t count = 0;
        while (count < s->bad_count && s->suspect[count].weight >= degree) {
            count++;
        }
        point[points++] = (struct svg_point){.x = degree, .y = (double)count};
    }
    char title[80];
    snprintf(title, sizeof title, "%s routes: troublesome false positives", w->name);
    struct svg_series series[] = {{NULL, SVG_LINE, point, points}};
    struct svg_chart chart = {.title = title,
                              .x_label = "routes cut, at least",
                              .y_label = "false positives",
                              .x_log = true,
                              .y_log = true,
                              .series = series,
                              .count = 1};
    return lab_chart(lab, &chart);
}

enum { BAD, WORST, FULLY, TOP, TROUBLES };

static void add_trouble(struct lab_mean mean[TROUBLES], const struct stopset *s)
{
    double all = 0;
    double top = 0;
    double fully = 0;
    for (size_t i = 0; i < s->bad_count; i++) {
        all += s->suspect[i].weight;
        top += i < s->bad_count / 100 + 1 ? s->suspect[i].weight : 0;
        fully += s->suspect[i].weight >= TARGETS;
    }
    lab_mean_add(&mean[BAD], (double)s->bad_count);
    lab_mean_add(&mean[WORST], s->bad_count > 0 ? s->suspect[0].weight : 0);
    lab_mean_add(&mean[FULLY], fully);
    lab_mean_add(&mean[TOP], all > 0 ? top / all : 0);
}

static int troublesome(struct lab *lab, struct world *w)
{
    struct lab_mean mean[TROUBLES] = {0};
    size_t runs = lab_trials(lab, 6, 30);
    for (size_t r = 0; r < runs; r++) {
        struct stopset s;
        int code = stopset_make(lab, w, 60000, 1, &s);
        if (code == EXIT_YES) {
            add_trouble(mean, &s);
            code = r == 0 ? troublesome_chart(lab, w, &s) : code;
        }
        stopset_free(&s);
        if (code != EXIT_YES) {
            return code;
        }
    }
    skitter_row(lab, 10000, &mean[WORST], w, "routes that the worst of them cuts");
    skitter_row(lab, 9, &mean[FULLY], w, "false positives that cut 10000 routes or more");
    struct lab_row row = LAB_ROW;
    lab_measured(&row, &mean[BAD]);
    lab_row(lab, &row, "%s, k 1, 60000 bits: false positives", w->name);
    lab_measured(&row, &mean[TOP]);
    lab_row(lab, &row, "%s: share of all the trouble that the worst 1 %% make", w->name);
    return EXIT_YES;
}

int lab_000_figure_14(struct lab *lab)
{
    return in_worlds(lab, false, troublesome);
}

/* ---- Fig. 18 --------------------------------------------------------------------------------- */

#define SHARES 21

/*
 * The text contradicts itself: rates that must add up to 1 do not. What is printed, and what the
 * other two leave.
 */
static void sum_up(struct lab *lab, double published, double others, const char *words)
{
    struct lab_row row = LAB_ROW;
    row.published = published;
    row.rounding = 0.0001;
    row.right = 1 - others;
    lab_exact(&row, row.right);
    lab_row(lab, &row, "%s: success, and what the other two rates leave", words);
}

/* The numbers of the text; a beta is as good as the best one if chance may have put it below. */
static void share_values(struct lab *lab, const struct world *w,
                         struct lab_mean mean[SHARES][METRICS], size_t best)
{
    static const struct {
        size_t share; /* in steps of 5 % */
        size_t metric;
        double printed;
        const char *words;
    } value[] = {{SHARES - 1, SUCCESS, 0.4575, "beta 100 %: success, in the text"},
                 {0, SHORT, 0.6842, "beta 0: stopping short, in the text"},
                 {SHARES - 1, SHORT, 0, "beta 100 %: stopping short, in the text"},
                 {0, COLLISION, 0.0081, "beta 0: collision, in the text"},
                 {SHARES - 1, COLLISION, 0.5387, "beta 100 %: collision, in the text"},
                 {2, SUCCESS, 0.7015, "beta 10 %: success, in the text"},
                 {6, SUCCESS, 0.7218, "beta 30 %: success, in the text"},
                 {2, COLLISION, 0.1073, "beta 10 %: collision, in the text"},
                 {6, COLLISION, 0.1987, "beta 30 %: collision, in the text"},
                 {2, SHORT, 0.2355, "beta 10 %: stopping short, in the text"},
                 {6, SHORT, 0.1168, "beta 30 %: stopping short, in the text"}};
    const struct lab_mean *top = &mean[best][SUCCESS];
    struct lab_row row = skitter(24);
    row.ours = row.low = row.high = 5.0 * (double)best;
    for (size_t i = 0; i < SHARES; i++) {
        double half = LAB_Z * hypot(lab_mean_error(top), lab_mean_error(&mean[i][SUCCESS]));
        if (mean[i][SUCCESS].mean >= top->mean - half) {
            row.low = fmin(row.low, 5.0 * (double)i);
            row.high = fmax(row.high, 5.0 * (double)i);
        }
    }
    lab_row(lab, &row, "%s: the best beta, %%", w->name);
    skitter_row(lab, 0.642, top, w, "the best beta: success");
    for (size_t i = 0; i < sizeof value / sizeof *value; i++) {
        skitter_row(lab, value[i].printed, &mean[value[i].share][value[i].metric], w,
                    value[i].words);
    }
}

static int shares(struct lab *lab, struct world *w)
{
    struct lab_mean mean[SHARES][METRICS] = {0};
    struct svg_point point[3][SHARES] = {0};
    struct svg_series series[3] = {0};
    size_t runs = lab_trials(lab, 6, 30);
    size_t best = 0;
    for (size_t r = 0; r < runs; r++) {
        struct stopset s;
        int code = stopset_make(lab, w, 60000, 1, &s);
        for (size_t i = 0; i < SHARES && code == EXIT_YES; i++) {
            code = measure(lab, w, &s, TEPAL_RETOUCH_RATIO, (double)i / (SHARES - 1), 1, mean[i]);
        }
        stopset_free(&s);
        if (code != EXIT_YES) {
            return code;
        }
    }
    for (size_t i = 0; i < SHARES; i++) {
        best = mean[i][SUCCESS].mean > mean[best][SUCCESS].mean ? i : best;
        for (size_t j = 0; j < 3; j++) {
            char words[100];
            snprintf(words, sizeof words, "%s, beta %zu %%: %s", w->name, 100 * i / (SHARES - 1),
                     metric_names[j]);
            mean_row(lab, &mean[i][j], words);
            point[j][i] = point_of(100.0 * (double)i / (SHARES - 1), &mean[i][j]);
        }
    }
    share_values(lab, w, mean, best);
    holds(lab, w, best > 0 && best < SHARES - 1, "success is best at a beta between 0 and 100 %");
    holds(lab, w, mean[SHARES - 1][SHORT].mean < mean[0][SHORT].mean,
          "fewer stop short at beta 100 % than at 0");
    holds(lab, w, mean[SHARES - 1][COLLISION].mean > mean[0][COLLISION].mean,
          "more collide at beta 100 % than at 0");
    holds(lab, w, mean[6][COLLISION].mean < 0.2,
          "beta up to 30 %: less than 20 % of the probes hit a destination");
    for (size_t j = 0; j < 3; j++) {
        series[j] = (struct svg_series){metric_names[j], SVG_LINE, point[j], SHARES};
    }
    char title[80];
    snprintf(title, sizeof title, "%s routes, 60000 bits, k = 1", w->name);
    struct svg_chart chart = {.title = title,
                              .x_label = "beta, % of the false positives",
                              .y_label = "share",
                              .series = series,
                              .count = 3};
    return lab_chart(lab, &chart);
}

int lab_000_figure_18(struct lab *lab)
{
    sum_up(lab, 0.7812, 0.0936 + 0.1251, "as printed, list");
    sum_up(lab, 0.2446, 0.7668, "as printed, Bloom filter of 100000 bits (at most)");
    sum_up(lab, 0.7015, 0.1073 + 0.2355, "as printed, 60000 bits, beta 10 %");
    sum_up(lab, 0.7218, 0.1987 + 0.1168, "as printed, 60000 bits, beta 30 %");
    sum_up(lab, 0.4575, 0.5387 + 0, "as printed, 60000 bits, beta 100 %");
    sum_up(lab, 0.2446, 0.6842 + 0.0081,
           "as printed, Bloom filter: the best, no less than at 60000");
    struct lab_row row = LAB_ROW;
    row.published = 0.642; /* the peak must be no lower than what other betas have */
    row.right = fmax(1 - 0.1073 - 0.2355, 1 - 0.1987 - 0.1168);
    lab_exact(&row, row.right);
    lab_row(lab, &row, "as printed, 60000 bits: the peak, at least that at beta 10 and 30 %%");
    return in_worlds(lab, false, shares);
}

/* ---- Fig. 19 --------------------------------------------------------------------------------- */

static int cycles(struct lab *lab, struct world *w)
{
    struct svg_point point[6][CYCLES] = {0};
    struct svg_series series[6] = {0};
    static const char *const names[6] = {
        "success, list",      "stopping short, list",      "collision, list",
        "success, retouched", "stopping short, retouched", "collision, retouched"};
    size_t runs = lab_trials(lab, 6, 10);
    for (uint32_t c = 1; c < w->cycles; c++) {
        struct lab_mean mean[METRICS] = {0};
        double list[METRICS];
        for (size_t r = 0; r < runs; r++) {
            struct stopset s;
            int code = stopset_make(lab, w, 60000, 1, &s);
            code =
                code == EXIT_YES ? measure(lab, w, &s, TEPAL_RETOUCH_RATIO, 0.25, c, mean) : code;
            stopset_free(&s);
            if (code != EXIT_YES) {
                return code;
            }
        }
        replay_list(w, c, list);
        for (size_t j = 0; j < 3; j++) {
            struct lab_row row = LAB_ROW;
            char words[100];
            lab_exact(&row, list[j]);
            lab_row(lab, &row, "%s, cycle %u, list: %s", w->name, c + 1, metric_names[j]);
            snprintf(words, sizeof words, "%s, cycle %u, beta 25 %%: %s", w->name, c + 1,
                     metric_names[j]);
            mean_row(lab, &mean[j], words);
            point[j][c - 1] = (struct svg_point){.x = c, .y = list[j]};
            point[j + 3][c - 1] = point_of(c, &mean[j]);
        }
    }
    for (size_t j = 0; j < 6; j++) {
        series[j] =
            (struct svg_series){names[j], j < 3 ? SVG_DASHED : SVG_LINE, point[j], w->cycles - 1};
    }
    holds(lab, w, point[0][w->cycles - 2].y <= point[0][0].y, "the list's success falls with time");
    holds(lab, w, point[3][w->cycles - 2].y <= point[3][0].y,
          "the retouched filter's success falls with time");
    char title[80];
    snprintf(title, sizeof title, "%s routes, cycle by cycle, 60000 bits, k = 1", w->name);
    struct svg_chart chart = {.title = title,
                              .x_label = "cycles after the one learned",
                              .y_label = "share",
                              .series = series,
                              .count = 6};
    return lab_chart(lab, &chart);
}

int lab_000_figure_19(struct lab *lab)
{
    return in_worlds(lab, true, cycles);
}

/* ---- Figs. 20 to 22 -------------------------------------------------------------------------- */

#define TRIED 6

struct tried {
    const char *name;
    enum tepal_retouch_method method;
    double beta;
};

static const struct tried tried[TRIED] = {
    {"ratio, beta 1 %", TEPAL_RETOUCH_RATIO, 0.01},
    {"improved ratio, beta 1 %", TEPAL_RETOUCH_IMPROVED_RATIO, 0.01},
    {"sacrifice, beta 1 %", TEPAL_RETOUCH_SACRIFICE, 0.01},
    {"ratio, beta 25 %", TEPAL_RETOUCH_RATIO, 0.25},
    {"improved ratio, beta 25 %", TEPAL_RETOUCH_IMPROVED_RATIO, 0.25},
    {"sacrifice, beta 25 %", TEPAL_RETOUCH_SACRIFICE, 0.25}};

/* What the text says of single sizes. */
static void method_values(struct lab *lab, const struct world *w,
                          struct lab_mean mean[TRIED][SIZES][METRICS], const double list[METRICS])
{
    struct lab_row row = skitter(2); /* 20,000 and 30,000 */
    double more = 0;
    for (size_t m = 0; m < SIZES; m++) {
        more += mean[4][m][SHORT].mean > mean[3][m][SHORT].mean;
    }
    lab_exact(&row, more);
    lab_row(lab, &row, "%s, beta 25 %%: sizes, of ten, at which improved ratio stops short more",
            w->name);
    for (size_t m = 7; m < SIZES; m++) { /* beyond 70,000 bits no difference is to be seen */
        row = skitter(0);
        lab_measured(&row, &mean[4][m][COLLISION]);
        row.ours -= list[COLLISION];
        row.low -= list[COLLISION];
        row.high -= list[COLLISION];
        lab_row(lab, &row,
                "%s, %.0f bits: collisions of improved ratio, beta 25 %%, less the list's", w->name,
                (double)size_of(m));
    }
    for (size_t i = 0; i < 2; i++) {
        double gain[2] = {0};
        for (size_t m = 0; m < SIZES; m++) {
            gain[m / 5] += (mean[3 * i + 1][m][SUCCESS].mean - mean[3 * i][m][SUCCESS].mean) / 5;
        }
        row = skitter(i == 0);
        lab_exact(&row, gain[1] > gain[0]);
        lab_row(lab, &row, "%s, beta %s: improved ratio gains more above 50000 bits (1: so)",
                w->name, i == 0 ? "1 %" : "25 %");
    }
}

static int methods(struct lab *lab, struct world *w)
{
    struct lab_mean mean[TRIED][SIZES][METRICS] = {0};
    double list[METRICS];
    size_t runs = lab_trials(lab, 6, 30);
    replay_list(w, 1, list);
    for (size_t r = 0; r < runs * SIZES; r++) {
        struct stopset s;
        int code = stopset_make(lab, w, size_of(r % SIZES), HASHES, &s);
        for (size_t i = 0; i < TRIED && code == EXIT_YES; i++) {
            code = measure(lab, w, &s, tried[i].method, tried[i].beta, 1, mean[i][r % SIZES]);
        }
        stopset_free(&s);
        if (code != EXIT_YES) {
            return code;
        }
    }
    double sum[TRIED] = {0};
    for (size_t i = 0; i < TRIED; i++) {
        for (size_t m = 0; m < SIZES; m++) {
            sum[i] += mean[i][m][SUCCESS].mean;
            for (size_t j = 0; j < 3 && m % 4 == 1; j++) {
                char words[120];
                snprintf(words, sizeof words, "%s, k 5, %.0f bits, %s: %s", w->name,
                         (double)size_of(m), tried[i].name, metric_names[j]);
                mean_row(lab, &mean[i][m][j], words);
            }
        }
    }
    holds(lab, w, sum[4] >= sum[3],
          "beta 25 %: improved ratio succeeds more often, over all sizes");
    method_values(lab, w, mean, list);
    for (size_t j = 0; j < 3; j++) {
        struct svg_point point[TRIED][SIZES] = {0};
        struct svg_series series[TRIED] = {0};
        char title[80];
        for (size_t i = 0; i < TRIED; i++) {
            for (size_t m = 0; m < SIZES; m++) {
                point[i][m] = point_of((double)size_of(m), &mean[i][m][j]);
            }
            series[i] = (struct svg_series){tried[i].name, SVG_LINE, point[i], SIZES};
        }
        snprintf(title, sizeof title, "%s routes, k = 5: %s", w->name, metric_names[j]);
        struct svg_chart chart = {.title = title,
                                  .x_label = "bits",
                                  .y_label = "share",
                                  .series = series,
                                  .count = TRIED};
        if (lab_chart(lab, &chart) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
    }
    return EXIT_YES;
}

int lab_000_figure_20(struct lab *lab)
{
    return in_worlds(lab, false, methods);
}
