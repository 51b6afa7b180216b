/* world.c: the network, the objects, and who has them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "statistics/random.h"
#include "peers/peers.h"

/* ---- who has what ---------------------------------------------------------------------------- */

/* Every peer gets so many objects that no other has. */
static int deal_objects(struct peers *p)
{
    uint64_t each = arg_whole(p->args, "per-peer", 16);
    struct requests_file file;
    struct requests_form form = {NULL, NULL, NULL};
    requests_begin(&file, &form);
    for (uint32_t v = 0; v < p->graph.nodes; v++) {
        for (uint64_t i = 0; i < each; i++) {
            char line[64];
            int len = snprintf(line, sizeof line, "%" PRIu32 "\t%" PRIu32 "/%" PRIu64, v, v, i);
            const char *why = requests_line(&p->objects, &file, line, (size_t)len);
            if (why != NULL) {
                return say_error(NULL, p->args->command->name, "%s", why);
            }
        }
    }
    return EXIT_YES;
}

/* The peer of every name in the list of objects. */
static int place_names(const struct peers *p, bool dealt, uint32_t *peer)
{
    for (uint32_t i = 0; i < p->objects.who.count; i++) {
        const char *name = names_text(&p->objects.who, i);
        uint32_t several = 0;
        peer[i] = dealt ? i : graph_find(&p->graph, name, &several);
        if (peer[i] == GRAPH_NONE) {
            return say_error(NULL, arg(p->args, "objects")->text,
                             several > 0 ? "'%s' is the name of several peers: write #ID"
                                         : "'%s' is not a peer of the network",
                             name);
        }
    }
    return EXIT_YES;
}

/* Sort the objects by peer. */
static int hold(struct peers *p, bool dealt)
{
    const struct requests *objects = &p->objects;
    uint32_t *peer = calloc((size_t)objects->who.count + 1, sizeof *peer);
    p->first_held = calloc((size_t)p->graph.nodes + 2, sizeof *p->first_held);
    p->held = calloc(objects->count + 1, sizeof *p->held);
    p->held_object = calloc(objects->count + 1, sizeof *p->held_object);
    p->key = calloc((size_t)objects->keys.count + 1, sizeof *p->key);
    if (peer == NULL || p->first_held == NULL || p->held == NULL || p->held_object == NULL ||
        p->key == NULL) {
        free(peer);
        return say_no_memory();
    }
    int code = place_names(p, dealt, peer);
    for (size_t i = 0; i < objects->count && code == EXIT_YES; i++) {
        if (objects->request[i].who == NAMES_NONE) {
            code = say_error(NULL, arg(p->args, "objects")->text,
                             "a line needs two fields: the peer and the object");
        } else {
            p->first_held[peer[objects->request[i].who] + 2]++;
        }
    }
    for (uint32_t v = 2; v < p->graph.nodes + 2 && code == EXIT_YES; v++) {
        p->first_held[v] += p->first_held[v - 1];
    }
    for (size_t i = 0; i < objects->count && code == EXIT_YES; i++) {
        p->held_object[p->first_held[peer[objects->request[i].who] + 1]++] =
            objects->request[i].key;
    }
    free(peer);
    return code;
}

static int read_objects(struct peers *p)
{
    const struct option_value *file = arg(p->args, "objects");
    struct requests_form form = {NULL, NULL, NULL};
    int code = file->given ? requests_read(&p->objects, &form, &file->text, 1) : deal_objects(p);
    code = code == EXIT_YES ? hold(p, !file->given) : code;
    if (code == EXIT_YES && p->objects.count == 0) {
        code = say_error(NULL, file->given ? file->text : p->args->command->name, "no objects");
    }
    return code;
}

/* ---- who is how far -------------------------------------------------------------------------- */

static bool make_circle(const struct peers *p, uint32_t v, uint32_t *queue, struct circle *circle)
{
    const struct graph *g = &p->graph;
    uint32_t tail = 1;
    queue[0] = v;
    p->seen[v] = true;
    for (uint32_t d = 0; d < p->depth; d++) {
        uint32_t end = tail;
        circle->first[d + 1] = end;
        for (uint32_t i = circle->first[d]; i < end && d + 1 < p->depth; i++) {
            for (uint32_t j = g->first[queue[i]]; j < g->first[queue[i] + 1]; j++) {
                uint32_t w = g->link[j].to;
                if (!p->seen[w]) {
                    p->seen[w] = true;
                    queue[tail++] = w;
                }
            }
        }
    }
    for (uint32_t i = 0; i < tail; i++) {
        p->seen[queue[i]] = false;
    }
    circle->at = malloc(tail * sizeof *circle->at);
    if (circle->at != NULL) {
        memcpy(circle->at, queue, tail * sizeof *circle->at);
    }
    return circle->at != NULL;
}

static int draw_circles(struct peers *p)
{
    uint32_t nodes = p->graph.nodes;
    uint32_t *queue = malloc(((size_t)nodes + 1) * sizeof *queue);
    p->circle = calloc((size_t)nodes + 1, sizeof *p->circle);
    p->seen = calloc((size_t)nodes + 1, sizeof *p->seen);
    p->liar = calloc((size_t)nodes + 1, sizeof *p->liar);
    p->own = calloc((size_t)nodes + 1, sizeof(struct tepal_filter *));
    p->level = calloc((size_t)nodes * p->depth + 1, sizeof(struct tepal_filter *));
    bool fine = queue != NULL && p->circle != NULL && p->seen != NULL && p->liar != NULL &&
                p->own != NULL && p->level != NULL;
    for (uint32_t v = 0; v < nodes && fine; v++) {
        fine = make_circle(p, v, queue, &p->circle[v]);
    }
    free(queue);
    return fine ? EXIT_YES : say_no_memory();
}

/* So many liars, drawn at random. */
static int draw_liars(struct peers *p)
{
    uint64_t liars = arg_whole(p->args, "liars", 1 + p->graph.nodes / 32);
    if (liars >= p->graph.nodes) {
        return say_error(NULL, p->args->command->name,
                         "--liars %" PRIu64 ": there are only %" PRIu32 " peers", liars,
                         p->graph.nodes);
    }
    for (uint64_t i = 0; i < liars;) {
        uint32_t v = (uint32_t)(random_draw(&p->random) % p->graph.nodes);
        i += !p->liar[v];
        p->liar[v] = true;
    }
    return EXIT_YES;
}

int peers_read(struct peers *p)
{
    const char *path = p->args->operand[0];
    int code = graph_read(&p->graph, path, arg(p->args, "network")->text);
    if (code == EXIT_YES && p->graph.links == 0) {
        code = say_error(NULL, path, "a network without links has no neighbours to ask");
    }
    if (code == EXIT_YES && p->graph.nodes > PEERS_MOST) {
        code = say_error(NULL, path, "%" PRIu32 " peers: %d at most", p->graph.nodes, PEERS_MOST);
    }
    code = code == EXIT_YES ? read_objects(p) : code;
    code = code == EXIT_YES ? draw_circles(p) : code;
    return code == EXIT_YES ? draw_liars(p) : code;
}
