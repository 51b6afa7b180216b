/*
 * walk.h: the walk back from the victim's router, one step per router and way to it.
 *
 * With wildcards, whether a router is found depends on the routers between it and the victim: the
 * bits that these touched are ignored. So a step is a router with a chain of others down to the
 * victim's, and the same router may be met on several chains. Without, each router is asked once.
 */
#ifndef APPS_TRACEBACK_WALK_H
#define APPS_TRACEBACK_WALK_H

#include "traceback/traceback.h"

#define STEP_NONE    UINT32_MAX
#define MASK_WORDS   1024 /* of the largest filter in a packet */
#define FORGED_TRIED 600  /* routers that a forger tries for one packet */

struct step {
    uint64_t router;
    uint32_t parent; /* the step it was met from; STEP_NONE: the victim's router */
    uint32_t depth;  /* routers between it and the victim */
    bool on_path;    /* the packet came this way */
    bool followed;   /* its neighbours have been asked */
};

struct walk {
    struct traceback *t;
    const struct path *path;
    struct tepal_hasher hasher; /* of the packet */
    struct step *step;          /* room for as many as may be asked, and the path */
    uint32_t count;
    uint64_t *mask; /* room for the bits of a filter */
    uint64_t asked;
    uint64_t most; /* that may be asked, besides the path */
    bool cut;      /* there were more */
    const struct tepal_filter *filter;
    /* Is the router of `at` found, if the bits of the mask are ignored? It is to be a step next. */
    bool (*found)(struct walk *walk, const struct step *at);
};

/* A router as the packet's filter knows it. */
struct tepal_digest walk_digest(const struct walk *walk, uint64_t router);

/* The bits that the router of a step and those between it and the victim touch, into the mask. */
void walk_mask(const struct walk *walk, const struct tepal_filter *filter, uint32_t step);

/*
 * Ask the neighbours of a step: those that are found are new steps. Returns the one of them that is
 * on the path, or STEP_NONE.
 */
uint32_t walk_follow(struct walk *walk, uint32_t step);

/* Who was asked is asked again by the next walk. */
void walk_forget(const struct walk *walk);

/* The whole walk: first along the path, then wherever it leads. */
void walk_back(struct walk *walk);

/*
 * Adds to *filter, before the packet is sent, the routers of a sender who knows the hash functions,
 * the network and the path (forge.c). `room` is a walk of that packet, whose steps are lost.
 */
enum tepal_status forge(const struct walk *room, struct tepal_filter **filter);

#endif
