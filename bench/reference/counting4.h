/*
 * counting4.h: the counting Bloom filter (L. Fan, P. Cao, J. Almeida and A. Z. Broder, Summary
 * Cache, 1998): the classic filter with 4-bit counters, two to a byte. A counter that reached 15
 * stays there. A removal asks first, as it must not touch a key that is not there.
 */
#ifndef TEPAL_BENCH_REFERENCE_COUNTING4_H
#define TEPAL_BENCH_REFERENCE_COUNTING4_H

#include "reference/common.h"

#define COUNTING4_HASHES 7

struct counting4 {
    uint8_t *bytes;
    uint64_t cells;
};

static inline struct counting4 counting4_make(uint64_t cells)
{
    return (struct counting4){ref_alloc((size_t)cells / 2 + 1), cells};
}

REF_INLINE uint64_t counting4_next(const struct counting4 *f, uint64_t *state)
{
    uint64_t at = ref_scale(*state, f->cells);
    *state *= REF_MULTIPLIER;
    return at;
}

REF_INLINE unsigned counting4_get(const struct counting4 *f, uint64_t at)
{
    return f->bytes[at >> 1] >> (at & 1) * 4 & 15;
}

/* All positions of a key are computed first: their lines come together. */
REF_INLINE void counting4_positions(const struct counting4 *f, uint64_t key,
                                    uint64_t at[COUNTING4_HASHES])
{
    uint64_t state = ref_hash(key);
    for (int i = 0; i < COUNTING4_HASHES; i++) {
        at[i] = counting4_next(f, &state);
    }
}

REF_INLINE void counting4_add(struct counting4 *f, uint64_t key)
{
    uint64_t at[COUNTING4_HASHES];
    counting4_positions(f, key, at);
    for (int i = 0; i < COUNTING4_HASHES; i++) {
        unsigned room = counting4_get(f, at[i]) != 15;
        f->bytes[at[i] >> 1] = (uint8_t)(f->bytes[at[i] >> 1] + (room << (at[i] & 1) * 4));
    }
}

REF_INLINE bool counting4_query(const struct counting4 *f, uint64_t key)
{
    uint64_t state = ref_hash(key);
    for (int i = 0; i < COUNTING4_HASHES; i++) {
        if (counting4_get(f, counting4_next(f, &state)) == 0) {
            return false;
        }
    }
    return true;
}

REF_INLINE bool counting4_remove(struct counting4 *f, uint64_t key)
{
    uint64_t at[COUNTING4_HASHES];
    counting4_positions(f, key, at);
    unsigned all = 1;
    for (int i = 0; i < COUNTING4_HASHES; i++) {
        all &= counting4_get(f, at[i]) != 0;
    }
    if (all == 0) {
        return false;
    }
    for (int i = 0; i < COUNTING4_HASHES; i++) {
        unsigned value = counting4_get(f, at[i]);
        unsigned down = value != 15 && value != 0;
        f->bytes[at[i] >> 1] = (uint8_t)(f->bytes[at[i] >> 1] - (down << (at[i] & 1) * 4));
    }
    return true;
}

#endif
