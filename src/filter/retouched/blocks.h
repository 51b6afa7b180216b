/*
 * blocks.h: the positions of many keys, a block of the filter at a time.
 *
 * Each key has its positions all over the filter, which is larger than the cache. What looks at the
 * positions of all keys waits for memory at every one of them. So a slab of keys is taken at a
 * time, and its positions are ordered by block, of 2^20 bits and more:
 *
 *     keys of a slab     a         b         c
 *     positions      7 3 1     2 6 3     5 1 7
 *     by block       1 2 3 3 1 | 7 6 5 7            in a block, in the order of the keys
 *
 * What belongs to a block fits into the cache, and each of its lines is used several times.
 */
#ifndef TEPAL_SRC_FILTER_RETOUCHED_BLOCKS_H
#define TEPAL_SRC_FILTER_RETOUCHED_BLOCKS_H

#include <stdbool.h>

#include "address/address.h"
#include "base/arena.h"

#define BLOCKS_MARK  ((uint64_t)1 << 63) /* no filter has so many bits */
#define BLOCKS_INDEX 24                  /* bits of the index of a position in its slab */

struct blocks {
    const struct address *at;
    uint32_t shift;   /* a block has 2^shift positions */
    uint32_t count;   /* of the blocks */
    uint32_t room;    /* keys in a slab */
    uint32_t given;   /* positions so far, each key's `hashes` after the others' */
    uint64_t *place;  /* where they are, with BLOCKS_MARK; all ones: the key was passed over */
    uint64_t *sorted; /* offset in the block, index, mark */
    uint32_t *end;    /* of each block in `sorted`; end[0] is 0 and end[b + 1] that of block b */
};

/* For a filter and so many keys; false: no memory. */
bool tepal_blocks_open(struct blocks *blocks, struct arena *arena, const struct address *at,
                       uint64_t keys);

/* A new slab. */
void tepal_blocks_clear(struct blocks *blocks);

/* The next key of the slab, marked or not; or one whose positions are not wanted. */
void tepal_blocks_add(struct blocks *blocks, struct tepal_digest digest, bool mark);
void tepal_blocks_skip(struct blocks *blocks);

/* All keys of the slab are there. */
void tepal_blocks_sort(struct blocks *blocks);

static inline uint64_t blocks_position(const struct blocks *blocks, uint32_t block, uint64_t entry)
{
    return ((uint64_t)block << blocks->shift) + (entry >> (BLOCKS_INDEX + 1));
}

/* Hash j of key i of the slab: i * hashes + j. */
static inline uint32_t blocks_index(uint64_t entry)
{
    return (uint32_t)(entry >> 1) & (((uint32_t)1 << BLOCKS_INDEX) - 1);
}

static inline bool blocks_marked(uint64_t entry)
{
    return entry & 1;
}

#endif
