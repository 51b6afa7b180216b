/*
 * packet.c: one packet: what its sender writes, what the routers add, what the victim finds.
 */
#include <string.h>

#include "statistics/random.h"
#include "traceback/walk.h"

static bool asks_filter(struct walk *walk, const struct step *at)
{
    struct tepal_digest digest = walk_digest(walk, at->router);
    bool yes = false;
    if (!walk->t->wild) {
        return tepal_filter_query(walk->filter, digest);
    }
    (void)tepal_generalized_query_wild(walk->filter, digest, walk->mask, &yes);
    return yes;
}

/*
 * Routers off the path next to each router on it, each counted at one alone: without wildcards the
 * first from which it is asked; with wildcards the last, where the most bits are ignored: whoever
 * is not found there is not found before.
 */
static void count_candidates(struct traceback *t, const struct path *path, uint32_t *candidates)
{
    const struct mesh *m = &t->mesh;
    for (uint32_t i = 0; i < path->hops; i++) {
        t->asked[path->router[i]] = true;
    }
    for (uint32_t i = 0; i < path->hops; i++) {
        uint32_t age = t->wild ? path->hops - 1 - i : i;
        uint64_t v = path->router[path->hops - 1 - age];
        candidates[age] = 0;
        for (uint32_t j = m->first[v]; j < m->first[v + 1]; j++) {
            uint32_t w = m->neighbour[j];
            candidates[age] += !t->asked[w];
            t->asked[w] = true;
        }
    }
    memset(t->asked, 0, m->nodes * sizeof *t->asked);
}

/* Those off the path that are found next to one that is found on it, each once. */
static uint64_t count_branches(struct traceback *t, const struct path *path)
{
    const struct mesh *m = &t->mesh;
    uint64_t branches = 0;
    for (uint32_t i = 0; i < path->hops; i++) {
        t->asked[path->router[i]] = true;
    }
    for (uint32_t i = 0; i < path->hops; i++) {
        uint64_t v = path->router[i];
        for (uint32_t j = m->first[v]; t->found[v] && j < m->first[v + 1]; j++) {
            uint32_t w = m->neighbour[j];
            branches += t->found[w] && !t->asked[w];
            t->asked[w] = true;
        }
    }
    memset(t->asked, 0, m->nodes * sizeof *t->asked);
    return branches;
}

static void count_mesh(struct traceback *t, const struct walk *walk, uint32_t *candidates,
                       struct tally *sum)
{
    count_candidates(t, walk->path, candidates);
    for (uint32_t i = 0; i < walk->count; i++) {
        const struct step *s = &walk->step[i];
        /* with wildcards, a branch is one that is found from the path itself */
        bool beside = !t->wild || s->on_path || walk->step[s->parent].on_path;
        t->found[s->router] = t->found[s->router] || beside;
        sum->strays += !s->on_path && !t->met[s->router];
        t->met[s->router] = true;
    }
    sum->branches += count_branches(t, walk->path);
    memset(t->found, 0, t->mesh.nodes * sizeof *t->found);
    memset(t->met, 0, t->mesh.nodes * sizeof *t->met);
}

static void count_tree(const struct traceback *t, const struct walk *walk, uint32_t *candidates,
                       struct tally *sum)
{
    for (uint32_t age = 0; age < t->hops; age++) {
        /* all neighbours but the routers of the path before and after it */
        candidates[age] = t->tree - (age > 0) - (age + 1 < t->hops);
    }
    for (uint32_t i = 1; i < walk->count; i++) {
        const struct step *s = &walk->step[i];
        sum->strays += !s->on_path;
        sum->branches += !s->on_path && walk->step[s->parent].on_path;
    }
}

/* Bits that the routers up to each age touch. */
static void count_wild(const struct walk *walk, uint64_t *wild)
{
    const struct path *path = walk->path;
    memset(walk->mask, 0, mask_words(walk->t) * sizeof *walk->mask);
    for (uint32_t age = 0; age < path->hops; age++) {
        (void)tepal_generalized_touch(
            walk->filter, walk_digest(walk, path->router[path->hops - 1 - age]), walk->mask);
        wild[age] = 0;
        for (size_t i = 0; i < mask_words(walk->t); i++) {
            wild[age] += (uint64_t)__builtin_popcountll(walk->mask[i]);
        }
    }
}

static void count(struct traceback *t, const struct walk *walk, struct tally *sum)
{
    uint32_t candidates[ROUTE_HOPS + 1];
    uint64_t wild[ROUTE_HOPS + 1] = {0};
    uint32_t found = 0;
    for (uint32_t i = 0; i < walk->count; i++) {
        found += walk->step[i].on_path;
    }
    if (t->tree != 0) {
        count_tree(t, walk, candidates, sum);
    } else {
        count_mesh(t, walk, candidates, sum);
    }
    if (t->wild) {
        count_wild(walk, wild);
    }
    for (uint32_t age = 0; age < walk->path->hops; age++) {
        sum->candidates += candidates[age];
    }
    sum->packets++;
    sum->hops += walk->path->hops;
    sum->hops_found += found;
    sum->full += found == walk->path->hops;
    sum->asked += walk->asked;
    sum->cut += walk->cut;
    expect(t, walk->path->hops, candidates, wild, sum);
}

/* The filter as the sender leaves it. */
static enum tepal_status send(struct traceback *t, const struct walk *walk, uint64_t seed,
                              struct tepal_filter **filter)
{
    struct tepal_params params = t->armed;
    enum tepal_status status = foresee(t, walk->path->hops);
    params.seed = seed; /* other bits of the attacker's for every packet */
    if (t->wild && t->tuned) {
        double ones = 1 - t->forecast[walk->path->hops].zeros;
        params.generalized.ones = (uint64_t)(ones * (double)TEPAL_GENERALIZED_UNIT);
    }
    if (status == TEPAL_OK) {
        status = tepal_filter_create(&params, NULL, filter, NULL);
    }
    return status == TEPAL_OK && t->forged ? forge(walk, filter) : status;
}

enum tepal_status packet_trace(struct traceback *t, struct tally *sum)
{
    struct path path = {0, {0}};
    uint64_t mask[MASK_WORDS];
    struct tepal_filter *filter = NULL;
    struct walk walk = {.t = t, .path = &path, .step = t->step, .mask = mask};
    walk.most = t->most;
    walk.found = asks_filter;
    uint64_t seed = random_draw(&t->random);
    if (!paths_draw(t, &path)) {
        return TEPAL_NOT_PRESENT;
    }
    tepal_hasher_init(random_draw(&t->random),
                      &walk.hasher); /* every packet has hashes of its own */
    enum tepal_status status = send(t, &walk, seed, &filter);
    for (uint32_t i = 0; i < path.hops && status == TEPAL_OK; i++) {
        status = tepal_filter_add(filter, walk_digest(&walk, path.router[i]));
    }
    if (status == TEPAL_OK) {
        walk.filter = filter;
        walk_back(&walk);
        count(t, &walk, sum);
    }
    tepal_filter_free(filter);
    return status;
}
