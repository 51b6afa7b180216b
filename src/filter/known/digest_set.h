/*
 * digest_set.h: an exact set of digests: which key of a list is this? Open addressing over indices
 * into the list, which stays the caller's; of equal keys the first is in the set.
 *
 *     door   0 1 0 0 1 ...    16 bits a key, one of them set: turns away most strangers without a
 *                             read that misses the cache
 *     slot   | 0 | 7 | 0 | 3 | ...   an index + 1; at most half of them are taken
 */
#ifndef TEPAL_SRC_FILTER_KNOWN_DIGEST_SET_H
#define TEPAL_SRC_FILTER_KNOWN_DIGEST_SET_H

#include <stdbool.h>

#include <tepal/hash.h>

#include "base/arena.h"

#define DIGEST_SET_NONE UINT32_MAX

struct digest_set {
    const struct tepal_digest *keys; /* as they were given */
    size_t count;
    const uint64_t *chosen;
    uint32_t *slot;
    uint64_t mask;
    uint64_t *door;
    uint64_t door_bits;
};

/*
 * The set of those of `count` keys (2^31 at most) whose bit is set in `chosen`; NULL: of all. False
 * if there is no memory; what was taken is given back with the arena. Keys and bits are not copied.
 */
bool tepal_digest_set_make(struct arena *arena, const struct tepal_digest *keys, size_t count,
                           const uint64_t *chosen, struct digest_set *set);

/* The index of the first chosen key that is equal, or DIGEST_SET_NONE. */
uint32_t tepal_digest_set_find(const struct digest_set *set, struct tepal_digest key);

/*
 * Set the bits of `both`, one a key and all 0, of those chosen keys that are among the members as
 * well. Returns how many they are.
 */
uint64_t tepal_digest_set_meet(const struct digest_set *set, const struct tepal_digest *members,
                               size_t member_count, uint64_t *both);

#endif
