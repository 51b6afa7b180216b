/* tell.c: what peers tell each other: filters of what they have, and of what they were told. */
#include <stdlib.h>

#include "statistics/random.h"
#include "peers/peers.h"

static bool is_bloom(const struct peers *p)
{
    return p->setting->params.kind == TEPAL_KIND_BLOOM;
}

/* A Bloom filter of ones: keys are added until no bit is left. */
static enum tepal_status saturate(struct peers *p, struct tepal_filter *filter)
{
    enum tepal_status status = TEPAL_OK;
    while (status == TEPAL_OK && tepal_filter_ones(filter) < p->setting->params.cells) {
        for (int i = 0; i < 1000 && status == TEPAL_OK; i++) {
            uint64_t lo = random_draw(&p->random);
            status = tepal_filter_add(filter, (struct tepal_digest){lo, random_draw(&p->random)});
        }
    }
    return status;
}

static enum tepal_status make_own(struct peers *p, uint32_t v)
{
    bool lies = p->liar[v] && p->setting->attack != ATTACK_NONE;
    struct tepal_params params = p->setting->params;
    enum tepal_status status = lies && !is_bloom(p)
                                   ? attack_params(p->setting, random_draw(&p->random), &params)
                                   : TEPAL_OK;
    if (status == TEPAL_OK) {
        status = tepal_filter_create(&params, NULL, &p->own[v], NULL);
    }
    if (status != TEPAL_OK || (lies && !is_bloom(p))) {
        return status;
    }
    return lies ? saturate(p, p->own[v])
                : tepal_filter_add_many(p->own[v], p->held + p->first_held[v],
                                        p->first_held[v + 1] - p->first_held[v]);
}

/* A level of a Bloom filter: the union of the neighbours' next lower ones. */
static enum tepal_status unite_level(struct peers *p, uint32_t d, uint32_t v)
{
    const struct graph *g = &p->graph;
    struct tepal_filter **to = &p->level[(size_t)d * g->nodes + v];
    bool lies = p->liar[v] && p->setting->attack != ATTACK_NONE;
    if (d == 0 || lies) {
        return tepal_filter_clone(p->own[v], NULL, to, NULL);
    }
    enum tepal_status status = tepal_filter_create(&p->setting->params, NULL, to, NULL);
    for (uint32_t j = g->first[v]; j < g->first[v + 1] && status == TEPAL_OK; j++) {
        status = tepal_filter_unite(*to, p->level[(size_t)(d - 1) * g->nodes + g->link[j].to]);
    }
    return status;
}

enum tepal_status peers_tell(struct peers *p, struct tally *sum)
{
    const struct graph *g = &p->graph;
    enum tepal_status status = TEPAL_OK;
    for (uint32_t v = 0; v < g->nodes && status == TEPAL_OK; v++) {
        status = make_own(p, v);
    }
    for (uint32_t d = 0; d < p->depth && is_bloom(p); d++) {
        for (uint32_t v = 0; v < g->nodes && status == TEPAL_OK; v++) {
            status = unite_level(p, d, v);
        }
    }
    for (uint32_t v = 0; v < g->nodes; v++) {
        uint64_t told = is_bloom(p) ? p->depth : p->circle[v].first[p->depth];
        sum->filters += told * (g->first[v + 1] - g->first[v]);
    }
    sum->bits = sum->filters * p->setting->params.cells;
    return status;
}

void peers_forget(struct peers *p)
{
    for (uint32_t v = 0; p->own != NULL && v < p->graph.nodes; v++) {
        tepal_filter_free(p->own[v]);
        p->own[v] = NULL;
    }
    for (size_t i = 0; p->level != NULL && i < (size_t)p->graph.nodes * p->depth; i++) {
        tepal_filter_free(p->level[i]);
        p->level[i] = NULL;
    }
}

bool peers_says(const struct peers *p, uint32_t neighbour, uint32_t level,
                struct tepal_digest object, uint64_t *asked)
{
    const struct circle *circle = &p->circle[neighbour];
    if (is_bloom(p)) {
        (*asked)++;
        return tepal_filter_query(p->level[(size_t)level * p->graph.nodes + neighbour], object);
    }
    bool yes = false;
    for (uint32_t i = circle->first[level]; i < circle->first[level + 1]; i++) {
        (*asked)++;
        yes = yes || tepal_filter_query(p->own[circle->at[i]], object);
    }
    return yes;
}
