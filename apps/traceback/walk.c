/* walk.c: the walk itself. */
#include "traceback/walk.h"

#include <string.h>

struct tepal_digest walk_digest(const struct walk *walk, uint64_t router)
{
    return tepal_hash_u64(&walk->hasher, router);
}

void walk_mask(const struct walk *walk, const struct tepal_filter *filter, uint32_t step)
{
    memset(walk->mask, 0, mask_words(walk->t) * sizeof *walk->mask);
    for (; step != STEP_NONE; step = walk->step[step].parent) {
        (void)tepal_generalized_touch(filter, walk_digest(walk, walk->step[step].router),
                                      walk->mask);
    }
}

/* Is this where the packet came from? With wildcards, it must also be the right way there. */
static bool is_on_path(const struct walk *walk, const struct step *from, uint64_t router)
{
    const struct path *path = walk->path;
    if (walk->t->wild) {
        return from->on_path && from->depth + 1 < path->hops &&
               path->router[path->hops - 2 - from->depth] == router;
    }
    for (uint32_t i = 0; i < path->hops; i++) {
        if (path->router[i] == router) {
            return true;
        }
    }
    return false;
}

/* The routers of its own chain are not asked again: packets do not run in circles. */
static void mark_chain(const struct walk *walk, uint32_t step, bool mark)
{
    for (; walk->t->wild && walk->t->tree == 0 && step != STEP_NONE;
         step = walk->step[step].parent) {
        walk->t->asked[walk->step[step].router] = mark;
    }
}

uint32_t walk_follow(struct walk *walk, uint32_t at)
{
    struct traceback *t = walk->t;
    struct step from = walk->step[at];
    uint32_t onward = STEP_NONE;
    walk->step[at].followed = true;
    if (from.depth >= t->reach) {
        return STEP_NONE;
    }
    uint32_t count = paths_neighbours(t, walk->path, &from, t->near);
    if (t->wild) {
        walk_mask(walk, walk->filter, at);
    }
    mark_chain(walk, at, true);
    for (uint32_t i = 0; i < count; i++) {
        struct step next = {t->near[i], at, from.depth + 1, false, false};
        if (t->tree == 0 && t->asked[next.router]) {
            continue;
        }
        next.on_path = is_on_path(walk, &from, next.router);
        if (walk->asked >= walk->most && !next.on_path) {
            walk->cut = true;
            continue;
        }
        if (t->tree == 0 && !t->wild) {
            t->asked[next.router] = true;
        }
        walk->asked++;
        if (walk->found(walk, &next)) {
            onward = next.on_path ? walk->count : onward;
            walk->step[walk->count++] = next;
        }
    }
    mark_chain(walk, at, false);
    return onward;
}

void walk_forget(const struct walk *walk)
{
    if (walk->t->tree == 0) {
        memset(walk->t->asked, 0, walk->t->mesh.nodes * sizeof *walk->t->asked);
    }
}

void walk_back(struct walk *walk)
{
    const struct traceback *t = walk->t;
    const struct path *path = walk->path;
    walk->step[0] = (struct step){path->router[path->hops - 1], STEP_NONE, 0, true, false};
    walk->count = 1;
    if (t->tree == 0 && !t->wild) {
        t->asked[walk->step[0].router] = true;
    }
    for (uint32_t at = 0; at != STEP_NONE;) {
        at = walk_follow(walk, at);
    }
    for (uint32_t at = 0; at < walk->count && !walk->cut; at++) {
        if (!walk->step[at].followed) {
            (void)walk_follow(walk, at);
        }
    }
    walk_forget(walk);
}
