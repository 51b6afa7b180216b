/*
 * classic.h: the classic Bloom filter, k = 7 bits anywhere. The positions come from a
 * multiplicative generator that starts with the key's hash: a state, scaled, is a byte; three bits
 * of the next state are the bit in it.
 *
 * One key: probes until the first 0; the next byte is requested while this one is tested. A
 * batch: 64 keys at a time, probe by probe, without a branch on a bit; the next bytes of those that
 * are still in are requested as they are tested.
 */
#ifndef TEPAL_BENCH_REFERENCE_CLASSIC_H
#define TEPAL_BENCH_REFERENCE_CLASSIC_H

#include "reference/common.h"

#define CLASSIC_HASHES 7
#define CLASSIC_BATCH  64

struct classic {
    uint8_t *bytes;
    uint64_t count;
};

static inline struct classic classic_make(uint64_t bits)
{
    uint64_t count = bits / 8 + 1;
    return (struct classic){ref_alloc((size_t)count), count};
}

/* A probe: its byte, requested, and the state that has its bit and the next probe. */
struct classic_probe {
    uint8_t *byte;
    uint64_t state;
};

REF_INLINE struct classic_probe classic_next(const struct classic *f, uint64_t state)
{
    struct classic_probe p = {f->bytes + ref_scale(state, f->count), state * REF_MULTIPLIER};
    __builtin_prefetch(p.byte);
    return p;
}

REF_INLINE bool classic_test(struct classic_probe p)
{
    return *p.byte >> (p.state >> 61) & 1;
}

REF_INLINE void classic_put(struct classic_probe p)
{
    *p.byte = (uint8_t)(*p.byte | 1 << (p.state >> 61));
}

REF_INLINE bool classic_query(const struct classic *f, uint64_t key)
{
    struct classic_probe next = classic_next(f, ref_hash(key));
    for (int i = 1; i < CLASSIC_HASHES; i++) {
        struct classic_probe p = next;
        next = classic_next(f, p.state);
        if (!classic_test(p)) {
            return false;
        }
    }
    return classic_test(next);
}

REF_INLINE void classic_add(struct classic *f, uint64_t key)
{
    uint64_t state = ref_hash(key);
    for (int i = 0; i < CLASSIC_HASHES; i++) {
        struct classic_probe p = classic_next(f, state);
        classic_put(p);
        state = p.state;
    }
}

static inline size_t classic_query_many(const struct classic *f, const uint64_t *keys, size_t count)
{
    size_t present = 0;
    for (size_t base = 0; base < count; base += CLASSIC_BATCH) {
        struct classic_probe probes[CLASSIC_BATCH];
        size_t here = count - base < CLASSIC_BATCH ? count - base : CLASSIC_BATCH;
        uint64_t alive = here == 64 ? UINT64_MAX : ((uint64_t)1 << here) - 1;
        for (size_t j = 0; j < here; j++) {
            probes[j] = classic_next(f, ref_hash(keys[base + j]));
        }
        for (int i = 0; i < CLASSIC_HASHES && alive != 0; i++) {
            for (uint64_t left = alive; left != 0; left &= left - 1) {
                size_t j = (size_t)__builtin_ctzll(left);
                alive &= ~((uint64_t)!classic_test(probes[j]) << j);
                probes[j] = classic_next(f, probes[j].state);
            }
        }
        present += (size_t)__builtin_popcountll(alive);
    }
    return present;
}

static inline void classic_add_many(struct classic *f, const uint64_t *keys, size_t count)
{
    for (size_t base = 0; base < count; base += CLASSIC_BATCH) {
        struct classic_probe probes[CLASSIC_BATCH];
        size_t here = count - base < CLASSIC_BATCH ? count - base : CLASSIC_BATCH;
        for (size_t j = 0; j < here; j++) {
            probes[j] = classic_next(f, ref_hash(keys[base + j]));
        }
        for (int i = 1; i < CLASSIC_HASHES; i++) {
            for (size_t j = 0; j < here; j++) {
                struct classic_probe p = probes[j];
                probes[j] = classic_next(f, p.state);
                classic_put(p);
            }
        }
        for (size_t j = 0; j < here; j++) {
            classic_put(probes[j]);
        }
    }
}

#endif
