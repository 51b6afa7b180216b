/*
 * overflow.c: the exact table: keys that found no slot, with the number of times.
 *
 * Equal keys have the same two buckets, however often the filter grows, and these have eight slots.
 * What comes beyond is counted here: open addressing, linear probing, at most half full, each slot
 * the digest's two words and a count (0: empty). It is saved as it is, so that a mapped file can be
 * asked without a copy.
 */
#include <string.h>

#include "base/alloc.h"
#include "filter/growing/internal.h"

#define SLOT      PARAMS_OVERFLOW_WORDS
#define MIN_SLOTS 4

/* The slot of a digest, or the empty one where it would go. A table that is full has none. */
static uint64_t *find(uint64_t *table, uint64_t slots, struct tepal_digest digest)
{
    for (uint64_t i = 0; i < slots; i++) {
        uint64_t *slot = table + ((digest.lo + i) & (slots - 1)) * SLOT;
        if (slot[2] == 0 || (slot[0] == digest.lo && slot[1] == digest.hi)) {
            return slot;
        }
    }
    return NULL;
}

uint64_t tepal_overflow_count(const struct tepal_growing *f, struct tepal_digest digest)
{
    const uint64_t *slot = find(f->at.overflow, f->head.params.growing.overflow, digest);
    return slot == NULL ? 0 : slot[2];
}

/* A table of our own with so many slots and the same keys. */
static bool rebuild(struct tepal_growing *f, uint64_t slots)
{
    uint64_t before = f->head.params.growing.overflow;
    uint64_t *old = f->at.overflow;
    uint64_t *table = tepal_alloc_zeroed(&f->head.allocator, (size_t)(slots * SLOT * 8));
    if (table == NULL) {
        return false;
    }
    for (uint64_t i = 0; i < before; i++) {
        const uint64_t *slot = old + i * SLOT;
        if (slot[2] != 0) { /* also one that a file has twice: as many slots are taken as before */
            uint64_t at = slot[0] & (slots - 1);
            while (table[at * SLOT + 2] != 0) {
                at = (at + 1) & (slots - 1);
            }
            memcpy(table + at * SLOT, slot, SLOT * 8);
        }
    }
    if (f->own_overflow) {
        tepal_alloc_release(&f->head.allocator, old, (size_t)(before * SLOT * 8));
    }
    f->at.overflow = table;
    f->own_overflow = true;
    f->head.params.growing.overflow = slots;
    tepal_growing_resize(f, f->at.buckets);
    return true;
}

enum tepal_status tepal_overflow_add(struct tepal_growing *f, struct tepal_digest digest,
                                     uint64_t times)
{
    uint64_t *own = f->head.state.own;
    uint64_t slots = f->head.params.growing.overflow;
    uint64_t *slot = find(f->at.overflow, slots, digest);
    if (times > GROWING_OVER_MAX - own[GROWING_OVER]) {
        return TEPAL_FULL;
    }
    if (slot == NULL || slot[2] == 0) {
        if (2 * (own[GROWING_OVER_USED] + 1) > slots) {
            if (!rebuild(f, slots == 0 ? MIN_SLOTS : 2 * slots)) {
                return TEPAL_NO_MEMORY;
            }
            slot = find(f->at.overflow, f->head.params.growing.overflow, digest);
        }
        slot[0] = digest.lo;
        slot[1] = digest.hi;
        own[GROWING_OVER_USED]++;
    }
    slot[2] += times;
    own[GROWING_OVER] += times;
    return TEPAL_OK;
}

bool tepal_overflow_remove(struct tepal_growing *f, struct tepal_digest digest)
{
    uint64_t *own = f->head.state.own;
    uint64_t slots = f->head.params.growing.overflow;
    uint64_t *table = f->at.overflow;
    uint64_t *slot = find(table, slots, digest);
    if (slot == NULL || slot[2] == 0) {
        return false;
    }
    own[GROWING_OVER]--;
    if (--slot[2] > 0) {
        return true;
    }
    /* The slot is empty now: those behind it that it kept from their place move up. */
    own[GROWING_OVER_USED]--;
    uint64_t hole = (uint64_t)(slot - table) / SLOT;
    for (uint64_t at = (hole + 1) & (slots - 1); table[at * SLOT + 2] != 0;
         at = (at + 1) & (slots - 1)) {
        uint64_t home = table[at * SLOT] & (slots - 1);
        if (((at - home) & (slots - 1)) >= ((at - hole) & (slots - 1))) {
            memcpy(table + hole * SLOT, table + at * SLOT, SLOT * 8);
            hole = at;
        }
    }
    memset(table + hole * SLOT, 0, SLOT * 8);
    return true;
}

/*
 * A key can be found if no slot between its home and its place is empty. In one walk, from an empty
 * slot on, so that a file cannot make it slow.
 */
const char *tepal_overflow_flaw(const struct tepal_growing *f)
{
    const uint64_t *own = f->head.state.own;
    uint64_t slots = f->head.params.growing.overflow;
    const uint64_t *table = f->at.overflow;
    uint64_t used = 0;
    uint64_t keys = 0;
    uint64_t start = 0;
    uint64_t run = 0; /* slots taken just before this one */
    while (start < slots && table[start * SLOT + 2] != 0) {
        start++;
    }
    for (uint64_t i = 0; i < slots; i++) {
        uint64_t at = (start + i) & (slots - 1);
        const uint64_t *slot = table + at * SLOT;
        if (slot[2] == 0) {
            if (slot[0] != 0 || slot[1] != 0) {
                return "an empty slot of the exact table is not zero";
            }
            run = 0;
            continue;
        }
        if (((at - slot[0]) & (slots - 1)) > run) {
            return "a key of the exact table cannot be found there";
        }
        run++;
        used++;
        keys = saturating_add(keys, slot[2]);
    }
    return used == own[GROWING_OVER_USED] && keys == own[GROWING_OVER]
               ? NULL
               : "the exact table differs from its counts in the header";
}
