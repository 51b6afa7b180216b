/*
 * occupancy.h: how many ones an honest filter has, from the inside: mean and variance of their
 * number for every layout, and how likely a number is. occupancy.c tells how.
 */
#ifndef TEPAL_SRC_MODEL_OCCUPANCY_H
#define TEPAL_SRC_MODEL_OCCUPANCY_H

#include <tepal/params.h>

struct occupancy {
    double mean; /* NaN: not known */
    double variance;
};

/* A Bloom filter after n different keys. Exact; params have passed the gate. */
struct occupancy tepal_occupancy_bloom(const struct tepal_params *params, uint64_t n);

/*
 * A generalized filter after n keys (of the same layout, positions and size), k0 resets and k1
 * sets, from bits of which each was 0 with a chance of `zeros`. Exact; not known if blocked with
 * more than 8 hashes.
 */
struct occupancy tepal_occupancy_generalized(const struct tepal_params *params, uint64_t n,
                                             uint32_t k0, uint32_t k1, double zeros);

/* P(X <= ones) and P(X >= ones). */
struct occupancy_tails {
    double below;
    double above;
};

/* By the normal approximation, with half a bit of continuity. */
struct occupancy_tails tepal_occupancy_normal(struct occupancy occupancy, uint64_t ones);

/*
 * Of a Bloom filter: exactly if it is flat and small (a few thousand bits), else by the normal
 * approximation.
 */
struct occupancy_tails tepal_occupancy_tails(const struct tepal_params *params, uint64_t n,
                                             uint64_t ones);

/*
 * The chance that some line of a blocked or paired Bloom filter of n keys has `ones` ones or more.
 * An upper bound, close where it matters.
 */
double tepal_occupancy_fullest(const struct tepal_params *params, uint64_t n, uint32_t ones);

#endif
