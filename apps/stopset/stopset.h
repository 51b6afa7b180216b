/*
 * stopset.h: what the parts of `tepal app stopset` share, which tries stop sets on measured routes.
 *
 *   learn.c     which cycle is learned, which routes are looked at, what they tell
 *   trial.c     a set against the routes of a cycle: the outcome, and its row
 *   fresh.c     sets that are kept fresh by a share of routes traced in full
 *   best.c      the search for the best beta and size
 *   aspects.c   Table V
 *   stopset.c   the command: which sets are tried
 *
 *   set.c, sightings.c, replay.c    used by the steps of a deployment, too: step_*.c
 */
#ifndef APPS_STOPSET_STOPSET_H
#define APPS_STOPSET_STOPSET_H

#include <tepal/tepal.h>

#include "cli/command.h"
#include "output/report.h"
#include "readers/traceroute.h"
#include "stopset/replay.h"
#include "stopset/set.h"
#include "stopset/sightings.h"

struct stopset {
    const struct args *args;
    struct routes routes;
    uint64_t *cycle; /* the cycles there are, in order */
    size_t cycles;
    uint64_t learn;
    size_t learned; /* routes of that cycle */
    size_t *kept;   /* the selected routes, by index */
    size_t kept_count;
    uint32_t nodes;
    struct sightings seen; /* in the cycle learned */
    bool *member;          /* is the node in A? */
    uint32_t *link; /* of every hop: the number of the link to the next one, or REPLAY_NOWHERE */
    uint32_t links;
    uint64_t members;
    double list_bits;            /* of all members' addresses */
    double lists_up;             /* of the lists of all monitors, one after the other */
    struct tepal_digest *digest; /* of every node */
    bool *stops;                 /* the set at work, by node */
    bool *listed_nodes;          /* what a replay with the list sees in the cycle at work */
    bool *listed_links;
    bool *seen_nodes;
    bool *seen_links;
    uint64_t probing; /* cycles tried with the set at work */
    double hits;      /* their hits per destination, added up */
    struct report report;
};

/*
 * From the routes that were read to all that is known of them. EXIT_YES, or EXIT_TROUBLE after
 * having said why.
 */
int stopset_learn(struct stopset *s);

/* ---- trials ---------------------------------------------------------------------------------- */

/* One set, as it is reported. */
struct variant {
    const char *set; /* "list", "bloom", "retouched", "fresh" */
    uint64_t bits;   /* 0: the list */
    double beta;     /* NaN: none */
    double max_fn;   /* NaN: none */
    double feedback; /* share of the routes traced in full; 0: none */
    struct set_made made;
};

/* What came of a set in a cycle. */
struct trial {
    uint64_t cycle;
    struct replay_outcome outcome;
    uint64_t in_full; /* routes traced in full, which are not in the outcome */
    uint64_t destinations;
    double nodes_missed;
    double links_missed;
    uint64_t probing;   /* cycles since the one learned, with this one */
    double hits_so_far; /* per destination and cycle, since and with the one learned */
};

/* Is the route traced in full in its cycle, at that share? The same in every run. */
bool stopset_in_full(const struct stopset *s, const struct route *route, double share);

/*
 * A cycle with s->stops as the set, in which the share `in_full` of the routes is traced in full.
 */
struct trial stopset_try(struct stopset *s, uint64_t cycle, double in_full);

/* s->stops := what the filter finds. */
void stopset_stop_at(struct stopset *s, const struct tepal_filter *filter);

/* A new set: nothing was tried with it. */
void stopset_begin(struct stopset *s);

/* A row of a trial. */
void stopset_tell(struct stopset *s, const struct variant *v, const struct trial *t);

/* A row for every cycle after the one learned, with s->stops as the set. */
void stopset_tell_all(struct stopset *s, const struct variant *v);

/* The Bloom filter of the cycle learned, and its variant. Free the filter. */
int stopset_bloom(struct stopset *s, const struct set_wish *wish, struct tepal_filter **bloom,
                  struct variant *v);

/* The rows of a set that is kept fresh. */
int stopset_fresh(struct stopset *s, const struct set_wish *wish, double share);

/* For each of the sizes the beta with the most success in the next cycle; then the size. */
int stopset_best(struct stopset *s, const uint64_t *bits, size_t count);

/* Table V, of the sets with this wish, from the next cycle. */
int stopset_table(struct stopset *s, const struct set_wish *wish);

#endif
