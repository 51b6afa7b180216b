/*
 * forge.c: the sender who knows everything but a secret key: the network, the path, and the bits of
 * every router. It cannot choose what the routers of the path write, but all that was there before.
 *
 * To make a router be found, the sender adds it to the filter before the packet leaves. Routers
 * that want different values of a bit exclude each other, and those that the path overwrites are
 * lost, unless the bits are ignored when their turn comes. So each is tried in turn: first those
 * beside the path, beginning far from the victim, where the most bits are ignored and the fewest
 * must be right; then the neighbours of those that it has got, and so on. That is a walk, in which
 * "found" means "can be had too". It finds many, not the most that there could be.
 */
#include "traceback/walk.h"

/* The filter that the sender and then the routers of the path leave. */
struct forgery {
    struct walk walk;
    struct tepal_filter *sent; /* with the routers chosen so far */
    struct tepal_filter *trial;
    enum tepal_status status;
};

static enum tepal_status renew(struct tepal_filter **filter, const struct tepal_filter *like)
{
    tepal_filter_free(*filter);
    *filter = NULL;
    return tepal_filter_clone(like, NULL, filter, NULL);
}

static bool asks(const struct forgery *f, const struct tepal_filter *filter,
                 const struct step *step)
{
    struct tepal_digest digest = walk_digest(&f->walk, step->router);
    bool yes = false;
    if (!f->walk.t->wild) {
        return tepal_filter_query(filter, digest);
    }
    walk_mask(&f->walk, filter, step->parent);
    (void)tepal_generalized_query_wild(filter, digest, f->walk.mask, &yes);
    return yes;
}

/* Would it be found with all those beside the path that there are so far? */
static bool can_be_had(struct walk *walk, const struct step *at)
{
    struct forgery *f = (struct forgery *)walk;
    const struct path *path = walk->path;
    if (f->status != TEPAL_OK || at->on_path) { /* the path is there already */
        return false;
    }
    f->status = renew(&f->trial, f->sent);
    if (f->status == TEPAL_OK) {
        f->status = tepal_filter_add(f->trial, walk_digest(walk, at->router));
    }
    for (uint32_t i = 0; i < path->hops && f->status == TEPAL_OK; i++) {
        f->status = tepal_filter_add(f->trial, walk_digest(walk, path->router[i]));
    }
    bool all = f->status == TEPAL_OK && asks(f, f->trial, at);
    for (uint32_t i = path->hops; i < walk->count && all; i++) {
        all = asks(f, f->trial, &walk->step[i]);
    }
    if (all) {
        f->status = tepal_filter_add(f->sent, walk_digest(walk, at->router));
    }
    return all && f->status == TEPAL_OK;
}

enum tepal_status forge(const struct walk *room, struct tepal_filter **filter)
{
    const uint32_t hops = room->path->hops;
    struct forgery f = {.walk = *room, .sent = *filter};
    f.walk.filter = *filter;
    f.walk.found = can_be_had;
    f.walk.most = FORGED_TRIED;
    for (uint32_t i = 0; i < hops; i++) {
        f.walk.step[i] = (struct step){room->path->router[hops - 1 - i], i - 1, i, true,
                                       false}; /* 0 - 1: none */
    }
    f.walk.count = hops;
    for (uint32_t i = hops; i-- > 0;) {
        (void)walk_follow(&f.walk, i);
    }
    for (uint32_t i = hops; i < f.walk.count && !f.walk.cut; i++) {
        (void)walk_follow(&f.walk, i);
    }
    walk_forget(&f.walk);
    tepal_filter_free(f.trial);
    *filter = f.sent;
    return f.status;
}
