/*
 * peers.h: what the parts of `tepal app peers` share: peers in a network, objects that they hold,
 * and what each has been told about the others.
 *
 * A peer knows of each neighbour what that neighbour has (level 0), what is one hop behind it
 * (level 1), and so on: an attenuated filter (Rhea and Kubiatowicz 2002).
 *
 *   Bloom         a level is one filter: the union of what the neighbours' neighbours have told as
 *                 their next lower level. All have the same size, so the higher ones are fuller,
 * and
 *                 one full filter fills all that it is united with.
 *   generalized   filters cannot be united: a level is a list of filters, passed on as they are,
 *                 one for each peer at that distance.
 */
#ifndef APPS_PEERS_PEERS_H
#define APPS_PEERS_PEERS_H

#include <tepal/tepal.h>

#include "cli/command.h"
#include "output/report.h"
#include "readers/graph.h"
#include "readers/requests.h"
#include "shared/attack.h"

#define PEERS_DEPTH 8
#define PEERS_MOST  20000

/* The peers at a distance from one: at[first[d]] .. at[first[d + 1] - 1]. */
struct circle {
    uint32_t *at;
    uint32_t first[PEERS_DEPTH + 1];
};

struct peers {
    const struct args *args;
    struct graph graph;
    struct requests objects;   /* who has what */
    struct tepal_digest *key;  /* of every object */
    struct tepal_digest *held; /* keys by peer: held[first_held[v]] .. */
    uint32_t *held_object;     /* their numbers */
    uint32_t *first_held;
    struct circle *circle; /* of every peer */
    bool *liar;
    bool *seen;
    uint32_t depth;
    uint32_t hops; /* the most that a lookup takes */
    uint64_t lookups;
    uint64_t random;
    struct tepal_filter **own;   /* of every peer: what it says it has */
    struct tepal_filter **level; /* Bloom: level d of peer v is level[d * nodes + v] */
    const struct attack_setting *setting;
    double bound; /* on the false positives of one filter */
    struct report report;
};

struct tally {
    uint64_t lookups;  /* for an object that an honest peer has */
    uint64_t found;    /* that got there */
    uint64_t hops;     /* of these */
    uint64_t captured; /* sent to a liar */
    uint64_t sent;     /* messages between peers */
    uint64_t wrong;    /* of these, to an honest peer that has not got it as near as it said */
    uint64_t absent;   /* lookups for what nobody has */
    uint64_t believed; /* of these, those that some neighbour says it can serve */
    double most;       /* as many at most, by the bound */
    uint64_t filters;  /* advertised: each to every neighbour */
    uint64_t bits;
};

/* The network, the objects, who is where. EXIT_YES, or EXIT_TROUBLE after having said why. */
int peers_read(struct peers *p);

/* What everybody tells, in this setting; its size is added to the sums. */
enum tepal_status peers_tell(struct peers *p, struct tally *sum);
void peers_forget(struct peers *p);

/* Does the neighbour say that the object is at this level? *asked counts the filters. */
bool peers_says(const struct peers *p, uint32_t neighbour, uint32_t level,
                struct tepal_digest object, uint64_t *asked);

/* Lookups by what was told, and for what nobody has. */
void peers_look_up(struct peers *p, struct tally *sum);

#endif
