/*
 * lookup.c: lookups, from neighbour to neighbour: always to the one that says it has the object
 * nearest, of several to any, and never to one that has been there. A liar answers with nothing.
 */
#include <math.h>
#include <string.h>

#include "statistics/random.h"
#include "peers/peers.h"

static bool holds(const struct peers *p, uint32_t v, uint32_t object)
{
    for (uint32_t i = p->first_held[v]; i < p->first_held[v + 1]; i++) {
        if (p->held_object[i] == object) {
            return true;
        }
    }
    return false;
}

/* Does the peer have it as near as that? */
static bool is_near(const struct peers *p, uint32_t v, uint32_t level, uint32_t object)
{
    for (uint32_t i = 0; i < p->circle[v].first[level + 1]; i++) {
        if (holds(p, p->circle[v].at[i], object)) {
            return true;
        }
    }
    return false;
}

/* The next peer, and the level at which it says the object is; GRAPH_NONE: nobody says anything. */
static uint32_t choose(struct peers *p, uint32_t at, struct tepal_digest key, uint32_t *level)
{
    const struct graph *g = &p->graph;
    uint32_t next = GRAPH_NONE;
    uint64_t asked = 0;
    for (uint32_t d = 0; d < p->depth && next == GRAPH_NONE; d++) {
        uint32_t equal = 0;
        for (uint32_t j = g->first[at]; j < g->first[at + 1]; j++) {
            uint32_t v = g->link[j].to;
            if (!p->seen[v] && peers_says(p, v, d, key, &asked)) {
                equal++;
                next = random_draw(&p->random) % equal == 0 ? v : next;
            }
        }
        *level = d;
    }
    return next;
}

static void look_up(struct peers *p, uint32_t from, uint32_t object, struct tally *sum)
{
    uint32_t at = from;
    uint32_t hops = 0;
    uint32_t level = 0;
    sum->lookups++;
    memset(p->seen, 0, p->graph.nodes * sizeof *p->seen);
    while (hops < p->hops && !holds(p, at, object)) {
        p->seen[at] = true;
        uint32_t next = choose(p, at, p->key[object], &level);
        if (next == GRAPH_NONE) {
            break;
        }
        sum->sent++;
        hops++;
        if (p->liar[next] && p->setting->attack != ATTACK_NONE) {
            sum->captured++;
            break;
        }
        sum->wrong += !is_near(p, next, level, object);
        at = next;
    }
    if (holds(p, at, object)) {
        sum->found++;
        sum->hops += hops;
    }
    memset(p->seen, 0, p->graph.nodes * sizeof *p->seen);
}

/* Of an object that nobody has: does any neighbour say at any level that it can be had there? */
static void look_up_absent(struct peers *p, uint32_t from, struct tally *sum)
{
    const struct graph *g = &p->graph;
    uint64_t lo = random_draw(&p->random);
    struct tepal_digest key = {lo, random_draw(&p->random)};
    uint64_t asked = 0;
    bool yes = false;
    for (uint32_t j = g->first[from]; j < g->first[from + 1]; j++) {
        for (uint32_t d = 0; d < p->depth; d++) {
            yes = peers_says(p, g->link[j].to, d, key, &asked) || yes;
        }
    }
    sum->absent++;
    sum->believed += yes;
    sum->most += -expm1((double)asked * log1p(-p->bound));
}

void peers_look_up(struct peers *p, struct tally *sum)
{
    for (uint64_t i = 0; i < p->lookups; i++) {
        uint32_t from = (uint32_t)(random_draw(&p->random) % p->graph.nodes);
        size_t which = (size_t)(random_draw(&p->random) % p->objects.count);
        /* who has the object is found by where it is in the list */
        uint32_t low = 0;
        uint32_t high = p->graph.nodes;
        while (high - low > 1) {
            uint32_t middle = (low + high) / 2;
            if (p->first_held[middle] <= which) {
                low = middle;
            } else {
                high = middle;
            }
        }
        if (!p->liar[from]) {
            look_up_absent(p, from, sum);
            if (!p->liar[low]) {
                look_up(p, from, p->held_object[which], sum);
            }
        }
    }
}
