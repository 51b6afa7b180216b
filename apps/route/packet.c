/*
 * packet.c: headers by the library's in-packet form. A node is asked when the packet first comes to
 * it: its links' masks are made, transposed, and matched at once.
 */
#include "route/packet.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "route/walk.h"

/* ---- the walker ------------------------------------------------------------------------------ */

struct packet_walker {
    const struct graph *graph;
    const struct packet_setting *setting;
    struct tepal_header_layout layout;
    uint64_t header[TEPAL_MAX_HEADER_WORDS];
    char *key; /* the names of all links, one after the other */
    size_t *key_at;
    struct tepal_digest *digest; /* members, then others */
    uint32_t *table;             /* of one node */
    uint64_t *answers;           /* of one node */
    struct tepal_hasher hasher;
    struct walk walk;
};

void packet_walker_free(struct packet_walker *w)
{
    if (w == NULL) {
        return;
    }
    free(w->key);
    free(w->key_at);
    free(w->digest);
    free(w->table);
    free(w->answers);
    walk_free(&w->walk);
    free(w);
}

/* A link is called FROM, tab, TO, tab, and its number among the parallel ones. */
static bool name_links(struct packet_walker *w)
{
    const struct graph *g = w->graph;
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

/* Room for what the node with the most links is asked. */
static bool make_table(struct packet_walker *w)
{
    const struct graph *g = w->graph;
    uint32_t columns = ((uint32_t)w->setting->params[0].cells + 31) / 32;
    struct tepal_header_layout size = {.columns = columns};
    size_t most = 0;
    for (uint32_t v = 0; v < g->nodes; v++) {
        size_t links = g->first[v + 1] - g->first[v];
        most = links > most ? links : most;
    }
    w->table = calloc(tepal_header_table_words(&size, most) + 1, sizeof *w->table);
    w->answers = calloc(most / 64 + 1, sizeof *w->answers);
    return w->table != NULL && w->answers != NULL;
}

struct packet_walker *packet_walker_new(const struct graph *g, const struct packet_setting *setting)
{
    struct packet_walker *w = calloc(1, sizeof *w);
    if (w == NULL) {
        return NULL;
    }
    w->graph = g;
    w->setting = setting;
    w->digest = malloc(((size_t)g->links + 1) * sizeof *w->digest);
    if (w->digest == NULL || !walk_new(&w->walk, g) || !name_links(w) || !make_table(w)) {
        packet_walker_free(w);
        return NULL;
    }
    return w;
}

/* ---- headers --------------------------------------------------------------------------------- */

static struct tepal_digest digest_of(const struct packet_walker *w,
                                     const struct tepal_hasher *hasher, uint32_t link)
{
    return tepal_hash_bytes(hasher, w->key + w->key_at[link],
                            w->key_at[link + 1] - w->key_at[link]);
}

void packet_mask(const struct packet_walker *w, const struct tepal_header_layout *layout,
                 uint32_t link, uint64_t *mask)
{
    struct tepal_hasher hasher;
    tepal_hasher_init(layout->params.seed, &hasher);
    tepal_header_mask(layout, digest_of(w, &hasher, link), mask);
}

static enum tepal_status build(struct packet_walker *w, const struct packet_plan *plan,
                               const struct tepal_params *params, struct tepal_filter **out,
                               struct tepal_error *error)
{
    for (uint32_t i = 0; i < plan->members; i++) {
        w->digest[i] = digest_of(w, &w->hasher, plan->member[i]);
    }
    if (params->kind != TEPAL_KIND_YESNO) {
        enum tepal_status status = tepal_filter_create(params, NULL, out, NULL);
        return status == TEPAL_OK ? tepal_filter_add_many(*out, w->digest, plan->members) : status;
    }
    for (uint32_t i = 0; i < plan->others; i++) {
        w->digest[plan->members + i] = digest_of(w, &w->hasher, plan->other[i]);
    }
    struct tepal_known input = {.members = w->digest,
                                .member_count = plan->members,
                                .avoid = w->digest + plan->members,
                                .avoid_count = plan->others};
    return tepal_yesno_build(params, &input, &w->setting->how, NULL, out, NULL, error);
}

/* The layout is the filter's: the salt was chosen for this plan. */
static enum tepal_status make_header(struct packet_walker *w, const struct packet_plan *plan,
                                     enum packet_kind kind, uint64_t seed,
                                     struct tepal_error *error)
{
    struct tepal_params params = w->setting->params[kind];
    struct tepal_filter *filter = NULL;
    params.seed = seed;
    tepal_hasher_init(seed, &w->hasher);
    enum tepal_status status = build(w, plan, &params, &filter, error);
    if (status == TEPAL_OK) {
        status = tepal_header_layout_init(tepal_filter_params(filter), &w->layout, error);
    }
    if (status == TEPAL_OK) {
        status = tepal_header_from_filter(&w->layout, filter, w->header);
    }
    tepal_filter_free(filter);
    return status;
}

const uint64_t *packet_header(const struct packet_walker *w)
{
    return w->header;
}

const struct tepal_header_layout *packet_layout(const struct packet_walker *w)
{
    return &w->layout;
}

enum tepal_status packet_try(struct packet_walker *w, const struct packet_plan *plan,
                             enum packet_kind kind, uint64_t seed, uint32_t *left,
                             struct tepal_error *error)
{
    uint64_t mask[TEPAL_MAX_HEADER_WORDS];
    enum tepal_status status = make_header(w, plan, kind, seed, error);
    *left = 0;
    for (uint32_t i = 0; i < plan->others && status == TEPAL_OK; i++) {
        tepal_header_mask(&w->layout, digest_of(w, &w->hasher, plan->other[i]), mask);
        *left += tepal_header_match(&w->layout, w->header, mask);
    }
    return status;
}

/* ---- packets --------------------------------------------------------------------------------- */

/* Which of its links match? */
static void ask(void *ctx, uint32_t node, bool *matched)
{
    struct packet_walker *w = ctx;
    const struct graph *g = w->graph;
    uint32_t first = g->first[node];
    uint32_t links = g->first[node + 1] - first;
    uint64_t mask[TEPAL_MAX_HEADER_WORDS];
    for (uint32_t i = 0; i < links; i++) {
        tepal_header_mask(&w->layout, digest_of(w, &w->hasher, first + i), mask);
        tepal_header_table_put(&w->layout, i, mask, w->table);
    }
    tepal_header_match_many(&w->layout, w->header, w->table, links, w->answers);
    for (uint32_t i = 0; i < links; i++) {
        matched[first + i] = (w->answers[i / 64] >> (i % 64) & 1) != 0;
    }
}

enum tepal_status packet_send(struct packet_walker *w, const struct packet_plan *plan,
                              enum packet_kind kind, uint64_t seed, struct packet_walk *walk,
                              struct tepal_error *error)
{
    const struct graph *g = w->graph;
    double crossings;
    enum tepal_status status = make_header(w, plan, kind, seed, error);
    if (status != TEPAL_OK) {
        return status;
    }
    memset(walk, 0, sizeof *walk);
    walk_spread(&w->walk, plan->root, ask, w);
    for (uint32_t i = 0; i < plan->others; i++) {
        walk->false_links += w->walk.matched[plan->other[i]];
    }
    for (uint32_t at = 0; at < w->walk.reached_count; at++) {
        uint32_t v = w->walk.reached[at];
        for (uint32_t l = g->first[v]; l < g->first[v + 1]; l++) {
            walk->taken += w->walk.matched[l] && !plan->is_member[l];
        }
    }
    walk_count(&w->walk, w->setting->ttl, &crossings, &walk->expired);
    walk->wasted = crossings - (double)plan->members;
    walk->loop = walk_loops(&w->walk);
    return TEPAL_OK;
}

bool packet_crossed(const struct packet_walker *w, uint32_t link)
{
    return walk_crossed(&w->walk, link);
}
