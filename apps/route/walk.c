/* walk.c: a packet, hop by hop. */
#include "route/walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool walk_new(struct walk *w, const struct graph *g)
{
    size_t nodes = (size_t)g->nodes + 1;
    memset(w, 0, sizeof *w);
    w->graph = g;
    w->matched = calloc((size_t)g->links + 1, sizeof *w->matched);
    w->reached = calloc(nodes, sizeof *w->reached);
    w->came = calloc(nodes, sizeof *w->came);
    w->into = calloc(nodes, sizeof *w->into);
    w->queue = calloc(nodes, sizeof *w->queue);
    w->copies[0] = calloc(nodes, sizeof *w->copies[0]);
    w->copies[1] = calloc(nodes, sizeof *w->copies[1]);
    if (w->matched == NULL || w->reached == NULL || w->came == NULL || w->into == NULL ||
        w->queue == NULL || w->copies[0] == NULL || w->copies[1] == NULL) {
        walk_free(w);
        return false;
    }
    return true;
}

void walk_free(struct walk *w)
{
    free(w->matched);
    free(w->reached);
    free(w->came);
    free(w->into);
    free(w->queue);
    free(w->copies[0]);
    free(w->copies[1]);
    memset(w, 0, sizeof *w);
}

static void come_to(struct walk *w, uint32_t node)
{
    if (w->came[node] != w->packet) {
        w->came[node] = w->packet;
        w->into[node] = 0;
        w->reached[w->reached_count++] = node;
    }
}

/* Every node is asked once: when its turn comes. */
void walk_spread(struct walk *w, uint32_t root, walk_ask *ask, void *ctx)
{
    const struct graph *g = w->graph;
    w->packet++;
    w->reached_count = 0;
    come_to(w, root);
    for (uint32_t at = 0; at < w->reached_count; at++) {
        uint32_t v = w->reached[at];
        ask(ctx, v, w->matched);
        for (uint32_t l = g->first[v]; l < g->first[v + 1]; l++) {
            if (w->matched[l]) {
                come_to(w, g->link[l].to);
                w->into[g->link[l].to]++;
            }
        }
    }
}

/*
 * Is there a circle of matching links? Take away nodes that none leads to, again and again; what
 * cannot be taken away is on a circle or behind one.
 */
bool walk_loops(struct walk *w)
{
    const struct graph *g = w->graph;
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < w->reached_count; i++) {
        if (w->into[w->reached[i]] == 0) {
            w->queue[waiting++] = w->reached[i];
        }
    }
    for (uint32_t taken = 0; taken < waiting; taken++) {
        uint32_t v = w->queue[taken];
        for (uint32_t l = g->first[v]; l < g->first[v + 1]; l++) {
            if (w->matched[l] && --w->into[g->link[l].to] == 0) {
                w->queue[waiting++] = g->link[l].to;
            }
        }
    }
    for (uint32_t taken = 0; taken < waiting; taken++) { /* and put them back */
        uint32_t v = w->queue[taken];
        for (uint32_t l = g->first[v]; l < g->first[v + 1]; l++) {
            w->into[g->link[l].to] += w->matched[l];
        }
    }
    return waiting < w->reached_count;
}

#define MOST_COPIES 1e300 /* a loop may double them at every hop */

/* The copies at v go on over all its matching links. Returns how many crossings that makes. */
static double move(const struct walk *w, uint32_t v, double copies, double *next)
{
    const struct graph *g = w->graph;
    double crossings = 0;
    for (uint32_t l = g->first[v]; l < g->first[v + 1]; l++) {
        if (w->matched[l]) {
            next[g->link[l].to] = fmin(next[g->link[l].to] + copies, MOST_COPIES);
            crossings += copies;
        }
    }
    return crossings;
}

/* Hop by hop, as many as the time to live allows, and one more to see what would have gone on. */
void walk_count(struct walk *w, uint32_t ttl, double *crossings, double *expired)
{
    double *now = w->copies[0];
    double *next = w->copies[1];
    double moving = 1;
    *crossings = 0;
    *expired = 0;
    for (uint32_t i = 0; i < w->reached_count; i++) {
        now[w->reached[i]] = 0;
        next[w->reached[i]] = 0;
    }
    now[w->reached[0]] = 1;
    for (uint32_t hop = 0; hop <= ttl && moving > 0; hop++) {
        moving = 0;
        for (uint32_t i = 0; i < w->reached_count; i++) {
            uint32_t v = w->reached[i];
            double copies = now[v];
            now[v] = 0;
            double moved = copies > 0 ? move(w, v, copies, next) : 0;
            moving += moved;
            *expired += hop == ttl && moved > 0 ? copies : 0;
        }
        *crossings += hop < ttl ? moving : 0;
        double *other = now;
        now = next;
        next = other;
    }
    *crossings = fmin(*crossings, MOST_COPIES);
}
