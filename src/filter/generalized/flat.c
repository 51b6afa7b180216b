/*
 * flat.c: the batch loops of the flat generalized filter, where every probe is a cache
 * line of its own. A rolling window: the positions of a key are computed and their lines requested
 * some keys ahead of their use, so that many reads are under way at once. A key is absent as soon
 * as more than b of its bits are inverted, which 2 b + 3 of them usually show: of keys that are
 * likely to be absent only these are requested.
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

static bool came_before(const struct places *key, uint32_t i)
{
    bool met = false;
    for (uint32_t j = 0; j < i; j++) {
        met |= key->at[j] == key->at[i];
    }
    return met;
}

/* As tepal_generalized_found. Only inverted bits need to be looked for among those before. */
static bool found(const struct tepal_generalized *g, const struct places *key)
{
    uint32_t inverted = 0;
    for (uint32_t i = 0; i < key->count; i++) {
        bool wrong = bits_test(g->head.words, key->at[i]) == (i < key->resets);
        if (wrong && !came_before(key, i) && ++inverted > g->roles.tolerance) {
            return false;
        }
    }
    return true;
}

/* As request, of colliding positions and in line; the first `some` lines are requested. */
static void request_some(const struct tepal_generalized *g, struct tepal_digest d, uint32_t some,
                         struct places *key)
{
    const uint32_t k = g->at.hashes;
    key->resets = g->roles.resets;
    key->count = k;
    uint64_t step = 2 * ADDRESS_GOLDEN;
    for (uint32_t i = 0; i < k; i++) {
        uint64_t word = i == 0 ? d.hi : d.lo;
        if (i >= 2) {
            word = address_more(d, step);
            step += ADDRESS_GOLDEN;
        }
        key->at[i] = wide_scale(word, g->at.cells);
        if (i < some) {
            bits_prefetch(g->head.words, key->at[i]);
        }
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
    const bool distinct = g->at.positions == TEPAL_POSITIONS_DISTINCT;
    const uint32_t few = 2 * g->roles.tolerance + 3;
    size_t asked = 0;
    size_t present = 0;
    bool likely = false; /* as the last key was: a cheap guess of the next */
    for (size_t i = 0; i < count; i++) {
        for (; asked < count && asked < i + ahead; asked++) {
            struct places *key = &window[asked % KEYS_AHEAD];
            if (distinct) {
                request(g, digests[asked], key);
            } else {
                request_some(g, digests[asked], likely ? g->at.hashes : few, key);
            }
        }
        if (i % 64 == 0) {
            answers[i / 64] = 0;
        }
        bool yes = found(g, &window[i % KEYS_AHEAD]);
        likely = yes;
        answers[i / 64] |= (uint64_t)yes << (i % 64);
        present += yes;
    }
    return present;
}

const struct generalized_kernels tepal_generalized_flat = {flat_add, flat_query};
