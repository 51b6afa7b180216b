/*
 * flat.c: the batch loops of the flat generalized filter, where every probe is a cache
 * line of its own. A rolling window: the positions of a key are computed and their lines requested
 * some keys ahead of their use, so that many reads are under way at once.
 */
#include "cells/bits.h"
#include "filter/generalized/kernels.h"

#define KEYS_AHEAD  32
#define LINES_AHEAD 96

static size_t ahead_of(const struct tepal_generalized *g)
{
    size_t keys = LINES_AHEAD / g->at.hashes;
    return keys < 1 ? 1 : keys > KEYS_AHEAD ? KEYS_AHEAD : keys;
}

static void request(const struct tepal_generalized *g, struct tepal_digest d, struct places *key)
{
    tepal_generalized_places(g, d, key);
    for (uint32_t i = 0; i < key->count; i++) {
        bits_prefetch(g->head.words, key->at[i]);
    }
}

static void flat_add(struct tepal_generalized *g, const struct tepal_digest *digests, size_t count)
{
    struct places window[KEYS_AHEAD];
    const size_t ahead = ahead_of(g);
    size_t asked = 0;
    for (size_t i = 0; i < count; i++) {
        for (; asked < count && asked < i + ahead; asked++) {
            request(g, digests[asked], &window[asked % KEYS_AHEAD]);
        }
        tepal_generalized_put(g->head.words, &window[i % KEYS_AHEAD]);
    }
}

static size_t flat_query(const struct tepal_generalized *g, const struct tepal_digest *digests,
                         size_t count, uint64_t *answers)
{
    struct places window[KEYS_AHEAD];
    const size_t ahead = ahead_of(g);
    size_t asked = 0;
    size_t present = 0;
    for (size_t i = 0; i < count; i++) {
        for (; asked < count && asked < i + ahead; asked++) {
            request(g, digests[asked], &window[asked % KEYS_AHEAD]);
        }
        if (i % 64 == 0) {
            answers[i / 64] = 0;
        }
        bool yes = tepal_generalized_found(g, &window[i % KEYS_AHEAD]);
        answers[i / 64] |= (uint64_t)yes << (i % 64);
        present += yes;
    }
    return present;
}

const struct generalized_kernels tepal_generalized_flat = {flat_add, flat_query};
