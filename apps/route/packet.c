/*
 * packet.c: headers by the library's in-packet form, and the walk.
 *
 * A node is asked when the packet first comes to it: its links' masks are made, transposed, and
 * matched at once. Nodes keep nothing of a packet, so copies that meet stay copies, and a loop
 * multiplies them; but they are all alike, so that it is enough to count, hop by hop, how many come
 * to each node.
 */
#include "route/packet.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the plan -------------------------------------------------------------------------------- */

/* Every link that leaves `node` and is no member. */
static void add_others(struct packet_plan *plan, uint32_t node)
{
    const struct graph *g = plan->graph;
    for (uint32_t l = g->first[node]; l < g->first[node + 1]; l++) {
        if (!plan->is_member[l]) {
            plan->other[plan->others++] = l;
        }
    }
}

bool packet_plan_make(struct packet_plan *plan, const struct graph *g,
                      const struct graph_spread *spread, uint32_t root, const uint32_t *to,
                      size_t count)
{
    memset(plan, 0, sizeof *plan);
    plan->graph = g;
    plan->root = root;
    plan->to = malloc((count + 1) * sizeof *plan->to);
    plan->member = malloc(((size_t)g->nodes + 1) * sizeof *plan->member);
    plan->other = malloc(((size_t)g->links + 1) * sizeof *plan->other);
    plan->is_member = calloc((size_t)g->links + 1, sizeof *plan->is_member);
    if (plan->to == NULL || plan->member == NULL || plan->other == NULL ||
        plan->is_member == NULL) {
        packet_plan_free(plan);
        return false;
    }
    memcpy(plan->to, to, count * sizeof *to);
    plan->to_count = count;
    plan->members = graph_tree(g, spread, to, count, plan->member);
    for (uint32_t i = 0; i < plan->members; i++) {
        plan->is_member[plan->member[i]] = true;
    }
    for (size_t i = 0; i < count; i++) {
        plan->depth = spread->distance[to[i]] > plan->depth ? spread->distance[to[i]] : plan->depth;
    }
    add_others(plan, root);
    for (uint32_t i = 0; i < plan->members; i++) {
        add_others(plan, g->link[plan->member[i]].to);
    }
    return true;
}

void packet_plan_free(struct packet_plan *plan)
{
    free(plan->to);
    free(plan->member);
    free(plan->other);
    free(plan->is_member);
    memset(plan, 0, sizeof *plan);
}

/* ---- the walker ------------------------------------------------------------------------------ */

struct packet_walker {
    const struct packet_plan *plan;
    const struct packet_setting *setting;
    struct tepal_header_layout layout;
    struct tepal_hasher hasher;
    uint64_t header[TEPAL_MAX_HEADER_WORDS];
    char *key; /* the names of all links, one after the other */
    size_t *key_at;
    struct tepal_digest *digest; /* members, then others */
    size_t *table_at;            /* of every node: its part of the table */
    uint32_t *table;
    uint64_t *answers; /* of one node */
    bool *matched;     /* of every link of a node that was asked */
    uint64_t *asked;   /* of every node: the packet that last asked it */
    uint64_t packet;
    uint32_t *reached; /* the nodes that the packet comes to */
    uint32_t reached_count;
    uint64_t *came; /* of every node: the packet that last came to it */
    uint32_t *into; /* how many crossed links lead to it */
    uint32_t *queue;
    double *copies[2];
};

void packet_walker_free(struct packet_walker *w)
{
    if (w == NULL) {
        return;
    }
    free(w->key);
    free(w->key_at);
    free(w->digest);
    free(w->table_at);
    free(w->table);
    free(w->answers);
    free(w->matched);
    free(w->asked);
    free(w->reached);
    free(w->came);
    free(w->into);
    free(w->queue);
    free(w->copies[0]);
    free(w->copies[1]);
    free(w);
}

/* A link is called FROM, tab, TO, tab, and its number among the parallel ones. */
static bool name_links(struct packet_walker *w)
{
    const struct graph *g = w->plan->graph;
    size_t room = 0;
    for (uint32_t l = 0; l < g->links; l++) {
        room += strlen(names_text(&g->ids, g->link[l].from)) +
                strlen(names_text(&g->ids, g->link[l].to)) + 16;
    }
    w->key = malloc(room + 1);
    w->key_at = malloc(((size_t)g->links + 1) * sizeof *w->key_at);
    if (w->key == NULL || w->key_at == NULL) {
        return false;
    }
    size_t used = 0;
    for (uint32_t l = 0; l < g->links; l++) {
        w->key_at[l] = used;
        used += (size_t)snprintf(w->key + used, room - used + 1, "%s\t%s\t%" PRIu32,
                                 names_text(&g->ids, g->link[l].from),
                                 names_text(&g->ids, g->link[l].to), g->link[l].parallel);
    }
    w->key_at[g->links] = used;
    return true;
}

static bool make_tables(struct packet_walker *w, uint32_t bits)
{
    const struct graph *g = w->plan->graph;
    struct tepal_header_layout size = {.bits = bits, .columns = bits / 32};
    size_t words = 0;
    size_t most = 0;
    w->table_at = malloc(((size_t)g->nodes + 1) * sizeof *w->table_at);
    if (w->table_at == NULL) {
        return false;
    }
    for (uint32_t v = 0; v < g->nodes; v++) {
        size_t links = g->first[v + 1] - g->first[v];
        w->table_at[v] = words;
        words += tepal_header_table_words(&size, links);
        most = links > most ? links : most;
    }
    w->table = calloc(words + 1, sizeof *w->table);
    w->answers = calloc(most / 64 + 1, sizeof *w->answers);
    return w->table != NULL && w->answers != NULL;
}

struct packet_walker *packet_walker_new(const struct packet_plan *plan,
                                        const struct packet_setting *setting)
{
    const struct graph *g = plan->graph;
    size_t nodes = (size_t)g->nodes + 1;
    struct packet_walker *w = calloc(1, sizeof *w);
    if (w == NULL) {
        return NULL;
    }
    w->plan = plan;
    w->setting = setting;
    w->digest = malloc(((size_t)plan->members + plan->others + 1) * sizeof *w->digest);
    w->matched = calloc((size_t)g->links + 1, sizeof *w->matched);
    w->asked = calloc(nodes, sizeof *w->asked);
    w->reached = calloc(nodes, sizeof *w->reached);
    w->came = calloc(nodes, sizeof *w->came);
    w->into = calloc(nodes, sizeof *w->into);
    w->queue = calloc(nodes, sizeof *w->queue);
    w->copies[0] = calloc(nodes, sizeof *w->copies[0]);
    w->copies[1] = calloc(nodes, sizeof *w->copies[1]);
    if (w->digest == NULL || w->matched == NULL || w->asked == NULL || w->reached == NULL ||
        w->came == NULL || w->into == NULL || w->queue == NULL || w->copies[0] == NULL ||
        w->copies[1] == NULL || !name_links(w) ||
        !make_tables(w, (uint32_t)setting->params[0].cells)) {
        packet_walker_free(w);
        return NULL;
    }
    return w;
}

/* ---- headers --------------------------------------------------------------------------------- */

static struct tepal_digest digest_of(const struct packet_walker *w, uint32_t link)
{
    return tepal_hash_bytes(&w->hasher, w->key + w->key_at[link],
                            w->key_at[link + 1] - w->key_at[link]);
}

static enum tepal_status build(struct packet_walker *w, const struct tepal_params *params,
                               struct tepal_filter **out, struct tepal_error *error)
{
    const struct packet_plan *plan = w->plan;
    for (uint32_t i = 0; i < plan->members; i++) {
        w->digest[i] = digest_of(w, plan->member[i]);
    }
    if (params->kind != TEPAL_KIND_YESNO) {
        enum tepal_status status = tepal_filter_create(params, NULL, out, NULL);
        return status == TEPAL_OK ? tepal_filter_add_many(*out, w->digest, plan->members) : status;
    }
    for (uint32_t i = 0; i < plan->others; i++) {
        w->digest[plan->members + i] = digest_of(w, plan->other[i]);
    }
    struct tepal_known input = {.members = w->digest,
                                .member_count = plan->members,
                                .avoid = w->digest + plan->members,
                                .avoid_count = plan->others};
    return tepal_yesno_build(params, &input, &w->setting->how, NULL, out, NULL, error);
}

static enum tepal_status make_header(struct packet_walker *w, enum packet_kind kind, uint64_t seed,
                                     struct tepal_error *error)
{
    struct tepal_params params = w->setting->params[kind];
    struct tepal_filter *filter = NULL;
    params.seed = seed;
    tepal_hasher_init(seed, &w->hasher);
    enum tepal_status status = tepal_header_layout_init(&params, &w->layout, error);
    if (status == TEPAL_OK) {
        status = build(w, &params, &filter, error);
    }
    if (status == TEPAL_OK) {
        status = tepal_header_from_filter(&w->layout, filter, w->header);
    }
    tepal_filter_free(filter);
    return status;
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* Which of its links match? */
static void ask(struct packet_walker *w, uint32_t node)
{
    const struct graph *g = w->plan->graph;
    uint32_t first = g->first[node];
    uint32_t links = g->first[node + 1] - first;
    uint32_t *table = w->table + w->table_at[node];
    uint64_t mask[TEPAL_MAX_HEADER_WORDS];
    if (w->asked[node] == w->packet) {
        return;
    }
    w->asked[node] = w->packet;
    for (uint32_t i = 0; i < links; i++) {
        tepal_header_mask(&w->layout, digest_of(w, first + i), mask);
        tepal_header_table_put(&w->layout, i, mask, table);
    }
    tepal_header_match_many(&w->layout, w->header, table, links, w->answers);
    for (uint32_t i = 0; i < links; i++) {
        w->matched[first + i] = (w->answers[i / 64] >> (i % 64) & 1) != 0;
    }
}

/* All nodes that the packet can come to, and how many matching links lead to each from others. */
static void spread_out(struct packet_walker *w, struct packet_walk *walk)
{
    const struct graph *g = w->plan->graph;
    w->reached_count = 0;
    w->reached[w->reached_count++] = w->plan->root;
    w->came[w->plan->root] = w->packet;
    w->into[w->plan->root] = 0;
    for (uint32_t at = 0; at < w->reached_count; at++) {
        uint32_t v = w->reached[at];
        ask(w, v);
        for (uint32_t l = g->first[v]; l < g->first[v + 1]; l++) {
            uint32_t to = g->link[l].to;
            if (!w->matched[l]) {
                continue;
            }
            walk->taken += !w->plan->is_member[l];
            if (w->came[to] != w->packet) {
                w->came[to] = w->packet;
                w->into[to] = 0;
                w->reached[w->reached_count++] = to;
            }
            w->into[to]++;
        }
    }
}

/*
 * Is there a circle of matching links? Take away nodes that none leads to, again and again; what
 * cannot be taken away is on a circle or behind one. Uses up `into`.
 */
static bool has_loop(struct packet_walker *w)
{
    const struct graph *g = w->plan->graph;
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
    return waiting < w->reached_count;
}

#define MOST_COPIES 1e300 /* a loop may double them at every hop */

/* The copies at v go on over all its matching links. Returns how many crossings that makes. */
static double move(const struct packet_walker *w, uint32_t v, double copies, double *next)
{
    const struct graph *g = w->plan->graph;
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
static void count_copies(struct packet_walker *w, struct packet_walk *walk)
{
    double *now = w->copies[0];
    double *next = w->copies[1];
    double crossings = 0;
    double moving = 1;
    for (uint32_t i = 0; i < w->reached_count; i++) {
        now[w->reached[i]] = 0;
        next[w->reached[i]] = 0;
    }
    now[w->plan->root] = 1;
    for (uint32_t hop = 0; hop <= w->setting->ttl && moving > 0; hop++) {
        moving = 0;
        for (uint32_t i = 0; i < w->reached_count; i++) {
            uint32_t v = w->reached[i];
            double copies = now[v];
            now[v] = 0;
            double moved = copies > 0 ? move(w, v, copies, next) : 0;
            moving += moved;
            walk->expired += hop == w->setting->ttl && moved > 0 ? copies : 0;
        }
        crossings += hop < w->setting->ttl ? moving : 0;
        double *other = now;
        now = next;
        next = other;
    }
    walk->wasted = fmin(crossings, MOST_COPIES) - (double)w->plan->members;
}

enum tepal_status packet_send(struct packet_walker *w, enum packet_kind kind, uint64_t seed,
                              struct packet_walk *walk, struct tepal_error *error)
{
    const struct packet_plan *plan = w->plan;
    enum tepal_status status = make_header(w, kind, seed, error);
    if (status != TEPAL_OK) {
        return status;
    }
    memset(walk, 0, sizeof *walk);
    w->packet++;
    spread_out(w, walk);
    for (uint32_t i = 0; i < plan->others; i++) {
        walk->false_links += w->matched[plan->other[i]];
    }
    count_copies(w, walk);
    walk->loop = has_loop(w);
    return TEPAL_OK;
}

bool packet_crossed(const struct packet_walker *w, uint32_t link)
{
    return w->came[w->plan->graph->link[link].from] == w->packet && w->matched[link];
}
