/* demands.c: nodes by name, and the paths between them. */
#include "route/demands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/suggest.h"
#include "readers/lines.h"
#include "shared/grow.h"

void demands_free(struct demands *d)
{
    free(d->list);
    free(d->to);
    memset(d, 0, sizeof *d);
}

bool demands_many(const struct args *args)
{
    return arg(args, "all-pairs")->given || arg(args, "demands")->given;
}

/* One more; its destinations follow. False: no memory. */
static bool add_demand(struct demands *d, uint32_t from)
{
    if (!grow(&d->list, &d->room, d->count + 1, sizeof *d->list)) {
        return false;
    }
    d->list[d->count++] = (struct demand){from, 0, d->to_count};
    return true;
}

static bool add_to(struct demands *d, uint32_t to)
{
    if (!grow(&d->to, &d->to_room, d->to_count + 1, sizeof *d->to)) {
        return false;
    }
    d->to[d->to_count++] = to;
    d->list[d->count - 1].count++;
    return true;
}

/* ---- by name --------------------------------------------------------------------------------- */

struct reader {
    struct demands *demands;
    const struct graph *graph;
    struct graph_spread *spread;
    char why[512];
};

static const char *find_node(struct reader *r, const char *name, uint32_t *node)
{
    const struct graph *g = r->graph;
    char room[GRAPH_NAME_ROOM];
    char hint[96];
    uint32_t several;
    *node = graph_find(g, name, &several);
    if (*node != GRAPH_NONE) {
        return NULL;
    }
    if (several > 0) {
        uint32_t v = 0;
        while (strcmp(names_text(&g->labels, g->node[v].label), name) != 0) {
            v++;
        }
        snprintf(r->why, sizeof r->why,
                 "%" PRIu32 " nodes are called '%.60s': choose one, as %.80s", several, name,
                 graph_name(g, v, room));
        return r->why;
    }
    struct suggest near = {.word = name};
    for (uint32_t v = 0; v < g->labels.count; v++) {
        suggest_offer(&near, names_text(&g->labels, v));
    }
    snprintf(r->why, sizeof r->why, "there is no node '%.60s'%s", name,
             suggest_text(&near, "", hint, sizeof hint));
    return r->why;
}

/* The sender; its paths are found at once. */
static const char *read_from(struct reader *r, const char *name)
{
    uint32_t from;
    const char *why = find_node(r, name, &from);
    if (why == NULL && !add_demand(r->demands, from)) {
        why = LINES_NO_MEMORY;
    }
    if (why == NULL) {
        graph_spread(r->graph, from, r->spread);
    }
    return why;
}

/* A destination of the last sender. */
static const char *read_to(struct reader *r, const char *name)
{
    uint32_t from = r->demands->list[r->demands->count - 1].from;
    char from_name[GRAPH_NAME_ROOM];
    char to_name[GRAPH_NAME_ROOM];
    uint32_t to;
    const char *why = find_node(r, name, &to);
    if (why != NULL) {
        return why;
    }
    if (to == from) {
        snprintf(r->why, sizeof r->why, "--from and --to are the same node: %.60s", name);
        return r->why;
    }
    if (r->spread->distance[to] == GRAPH_NONE) {
        snprintf(r->why, sizeof r->why, "there is no path from %.60s to %.60s",
                 graph_name(r->graph, from, from_name), graph_name(r->graph, to, to_name));
        return r->why;
    }
    return add_to(r->demands, to) ? NULL : LINES_NO_MEMORY;
}

static int named(struct reader *r, const struct args *args, const char *name)
{
    const char *why = read_from(r, args_text(args, "from", 0));
    const char *to;
    for (size_t i = 0; why == NULL && (to = args_text(args, "to", i)) != NULL; i++) {
        why = read_to(r, to);
    }
    return why == NULL ? EXIT_YES : say_error(NULL, name, "%s", why);
}

/* A line: the sender, a tab, and the receivers. */
static const char *read_line(void *ctx, const char *text, size_t len)
{
    struct reader *r = ctx;
    struct piece line = {text, len};
    struct piece field[LINE_COLUMNS];
    char name[GRAPH_NAME_ROOM];
    if (line_sort(2, &line) != LINE_VALUES) {
        return NULL;
    }
    size_t count = piece_split(line, '\t', field, LINE_COLUMNS);
    if (count < 2) {
        return "a sender and a receiver are needed, with a tab between them";
    }
    if (count > LINE_COLUMNS) {
        return "more than 63 receivers";
    }
    if (r->demands->count == DEMANDS_MOST) {
        return "more than 16777216 paths";
    }
    const char *why = NULL;
    for (size_t i = 0; i < count && why == NULL; i++) {
        if (field[i].len == 0 || !piece_copy(field[i], name, sizeof name)) {
            return "the name of a node is empty, too long or has a NUL byte";
        }
        why = i == 0 ? read_from(r, name) : read_to(r, name);
    }
    return why;
}

/* ---- without names --------------------------------------------------------------------------- */

static int all_pairs(struct demands *d, const struct graph *g, const char *name,
                     struct graph_spread *spread)
{
    if ((uint64_t)g->nodes * g->nodes > DEMANDS_MOST) {
        return say_error(NULL, name,
                         "--all-pairs: %" PRIu32 " nodes have too many pairs: at most 4096 nodes, "
                         "or choose paths with --demands",
                         g->nodes);
    }
    for (uint32_t v = 0; v < g->nodes; v++) {
        uint32_t count = graph_spread(g, v, spread);
        for (uint32_t i = 1; i < count; i++) {
            if (!add_demand(d, v) || !add_to(d, spread->reached[i])) {
                return say_no_memory();
            }
        }
    }
    return d->count > 0 ? EXIT_YES : EXIT_NO;
}

static int longest(struct demands *d, const struct graph *g, struct graph_spread *spread)
{
    uint32_t from = 0;
    uint32_t to = 0;
    if (graph_longest(g, spread, &from, &to) == 0) {
        return EXIT_NO;
    }
    return add_demand(d, from) && add_to(d, to) ? EXIT_YES : say_no_memory();
}

int demands_find(struct demands *d, const struct args *args, const struct graph *g,
                 const char *name, struct graph_spread *spread)
{
    struct reader r = {.demands = d, .graph = g, .spread = spread};
    const char *file = arg(args, "demands")->text;
    if (arg(args, "demands")->given) {
        int code = lines_read(file, read_line, &r);
        return code == EXIT_YES && d->count == 0
                   ? say_error(NULL, lines_subject(file), "it names no paths")
                   : code;
    }
    if (arg(args, "all-pairs")->given) {
        return all_pairs(d, g, name, spread);
    }
    return arg(args, "from")->given ? named(&r, args, name) : longest(d, g, spread);
}
