/*
 * set.h: the stop set as a filter, from sightings: the Bloom filter of all penultimate nodes, and
 * what retouching makes of it. Whoever lacks the penultimate nodes themselves, because monitors
 * sent filters, retouches without them.
 */
#ifndef APPS_STOPSET_SET_H
#define APPS_STOPSET_SET_H

#include <tepal/tepal.h>

#include "cli/command.h"
#include "stopset/replay.h"
#include "stopset/sightings.h"

/* What is asked for. */
struct set_wish {
    uint64_t bits;
    uint32_t hashes; /* 0: the best for that many members */
    double beta;     /* share of the false positives to remove, the worst first; NaN: all */
    double max_fn;   /* share of the members that may be lost; NaN: no limit */
    const char *method;
    uint64_t seed;
};

/*
 * --method, --beta, --max-fn, --hashes and --seed, as far as the command has them; the size is 0.
 */
struct set_wish set_wish_of(const struct args *args);

/* What was made. All counts are of nodes that were seen. */
struct set_made {
    struct tepal_filter *filter;
    uint32_t hashes;
    uint64_t members;
    uint64_t before;          /* false positives of the Bloom filter */
    uint64_t aimed;           /* of them, those to be removed */
    uint64_t false_positives; /* left */
    uint64_t troublesome;     /* of those to be removed, left */
    double cut_before;        /* routes that pass a false positive of the Bloom filter, summed up */
    double cut;               /* the same of those left */
    double false_negatives;   /* members lost: counted, or expected */
    double lost_low;
    double lost_high;
    bool expected;
};

/* The digests of nodes under a seed; NULL: no memory. Free it. */
struct tepal_digest *set_digests(const struct names *nodes, uint64_t seed);

/*
 * The Bloom filter of the members that were seen. EXIT_YES, or EXIT_TROUBLE after having said why.
 */
int set_bloom(const struct args *args, const struct sightings *s, const struct tepal_digest *digest,
              const struct set_wish *wish, struct tepal_filter **out);

/*
 * Retouched by the wish; `bloom` has all members. `known`: all of them are among the sightings;
 * otherwise filters of others were united in it. Free made->filter.
 */
int set_retouch(const struct args *args, const struct sightings *s,
                const struct tepal_digest *digest, const struct set_wish *wish,
                const struct tepal_filter *bloom, bool known, struct set_made *made);

/* The false positives of a filter among the nodes that were seen, and the routes that pass them. */
uint64_t set_false_positives(const struct sightings *s, const struct tepal_digest *digest,
                             const struct tepal_filter *filter, double *cut);

#endif
