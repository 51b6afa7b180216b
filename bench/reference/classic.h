/*
 * classic.h: the classic Bloom filter, k = 7 bits anywhere, the positions by multiplying a state
 * again and again: the high half of each product is the position, the low half the next state.
 *
 * One key: probes until the first 0. A batch: 64 keys at a time, probe by probe; the next
 * lines of those that are still in are requested while the others are tested.
 */
#ifndef TEPAL_BENCH_REFERENCE_CLASSIC_H
#define TEPAL_BENCH_REFERENCE_CLASSIC_H

#include "reference/common.h"

#define CLASSIC_HASHES 7
#define CLASSIC_BATCH  64

struct classic {
    uint64_t *words;
    uint64_t bits;
};

static inline struct classic classic_make(uint64_t bits)
{
    return (struct classic){ref_alloc((size_t)(bits / 64 + 1) * 8), bits};
}

/* The next position; `state` moves on. */
REF_INLINE uint64_t classic_next(const struct classic *f, uint64_t *state)
{
    uint64_t at = ref_scale(*state, f->bits);
    *state *= UINT64_C(0xd1342543de82ef95);
    return at;
}

REF_INLINE bool classic_test(const struct classic *f, uint64_t at)
{
    return f->words[at >> 6] >> (at & 63) & 1;
}

REF_INLINE void classic_put(struct classic *f, uint64_t at)
{
    f->words[at >> 6] |= (uint64_t)1 << (at & 63);
}

REF_INLINE bool classic_query(const struct classic *f, uint64_t key)
{
    uint64_t state = ref_hash(key);
    for (int i = 0; i < CLASSIC_HASHES; i++) {
        if (!classic_test(f, classic_next(f, &state))) {
            return false;
        }
    }
    return true;
}

REF_INLINE void classic_add(struct classic *f, uint64_t key)
{
    uint64_t state = ref_hash(key);
    for (int i = 0; i < CLASSIC_HASHES; i++) {
        classic_put(f, classic_next(f, &state));
    }
}

/* Keys under way: the state of each, and the position that was requested. */
struct classic_batch {
    uint64_t state[CLASSIC_BATCH];
    uint64_t at[CLASSIC_BATCH];
};

REF_INLINE void classic_request(const struct classic *f, struct classic_batch *b, size_t j)
{
    b->at[j] = classic_next(f, &b->state[j]);
    __builtin_prefetch(&f->words[b->at[j] >> 6]);
}

static inline size_t classic_query_many(const struct classic *f, const uint64_t *keys, size_t count)
{
    size_t present = 0;
    for (size_t base = 0; base < count; base += CLASSIC_BATCH) {
        struct classic_batch b;
        size_t here = count - base < CLASSIC_BATCH ? count - base : CLASSIC_BATCH;
        uint64_t alive = here == 64 ? UINT64_MAX : ((uint64_t)1 << here) - 1;
        for (size_t j = 0; j < here; j++) {
            b.state[j] = ref_hash(keys[base + j]);
            classic_request(f, &b, j);
        }
        for (int i = 1; alive != 0; i++) {
            for (uint64_t left = alive; left != 0; left &= left - 1) {
                size_t j = (size_t)__builtin_ctzll(left);
                if (!classic_test(f, b.at[j])) {
                    alive &= ~((uint64_t)1 << j);
                } else if (i < CLASSIC_HASHES) {
                    classic_request(f, &b, j);
                }
            }
            if (i == CLASSIC_HASHES) {
                break;
            }
        }
        present += (size_t)__builtin_popcountll(alive);
    }
    return present;
}

static inline void classic_add_many(struct classic *f, const uint64_t *keys, size_t count)
{
    for (size_t base = 0; base < count; base += CLASSIC_BATCH) {
        struct classic_batch b;
        size_t here = count - base < CLASSIC_BATCH ? count - base : CLASSIC_BATCH;
        for (size_t j = 0; j < here; j++) {
            b.state[j] = ref_hash(keys[base + j]);
            classic_request(f, &b, j);
        }
        for (int i = 1; i < CLASSIC_HASHES; i++) {
            for (size_t j = 0; j < here; j++) {
                classic_put(f, b.at[j]);
                classic_request(f, &b, j);
            }
        }
        for (size_t j = 0; j < here; j++) {
            classic_put(f, b.at[j]);
        }
    }
}

#endif
