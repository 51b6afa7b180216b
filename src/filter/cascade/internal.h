/*
 * internal.h: the cascade from the inside.
 *
 *   cascade.c   the filter: queries, additions, what it tells of itself
 *   build.c     which levels it gets, and what goes into them
 */
#ifndef TEPAL_SRC_FILTER_CASCADE_INTERNAL_H
#define TEPAL_SRC_FILTER_CASCADE_INTERNAL_H

#include <tepal/cascade.h>

#include "address/address.h"
#include "cells/bits.h"
#include "filter/bloom/kernels.h"
#include "filter/kind.h"

struct tepal_cascade {
    struct tepal_filter head;
    const struct bloom_kernels *kernels;             /* of the first level */
    uint32_t levels;                                 /* as far as the directory makes sense */
    struct address level[TEPAL_CASCADE_MOST_LEVELS]; /* each from its own first bit */
    uint64_t start[TEPAL_CASCADE_MOST_LEVELS];       /* its first bit */
};

/* The state: what the build knew. */
enum cascade_state {
    CASCADE_MEMBERS,
    CASCADE_AVOID,    /* known negatives, members among them not counted */
    CASCADE_POSITIVE, /* of them, found by the first level */
    CASCADE_LEFT,     /* of these, still found */
    CASCADE_ADDED,    /* keys added since */
    CASCADE_STATES
};

extern const struct filter_ops tepal_cascade_ops;

/* A word of the directory: the size of a level and its hashes. */
#define CASCADE_HASH_BITS 8

static inline uint64_t cascade_entry(uint64_t bits, uint32_t hashes)
{
    return bits << CASCADE_HASH_BITS | hashes;
}

/* Does level i have the key? */
bool tepal_cascade_in_level(const struct tepal_cascade *cascade, uint32_t i,
                            struct tepal_digest digest);

/* Put it there. */
void tepal_cascade_put(struct tepal_cascade *cascade, uint32_t i, struct tepal_digest digest);

#endif
