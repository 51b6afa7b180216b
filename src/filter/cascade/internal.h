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
    const struct bloom_kernels *kernels;    /* of the first level */
    uint32_t levels;                        /* as far as the directory makes sense */
    struct address level[TEPAL_MAX_LEVELS]; /* each from its own first bit */
    uint64_t start[TEPAL_MAX_LEVELS];       /* its first bit */
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

#endif
