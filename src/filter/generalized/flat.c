/*
 * flat.c: the batch loops of the flat generalized filter, where every probe is a cache
 * line of its own. Additions have a rolling window: the positions of a key are computed and their
 * lines requested some keys ahead of their use, so that many reads are under way at once. A key is
 * absent as soon as more than b of its bits are inverted, which few of them show: queries go in
 * waves.
 */
#include <string.h>

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

/*
 * Queries of colliding positions go in waves, so that nothing branches on a bit: position 0 of
 * KEYS keys, then position 1 of those that are left, and so on. A wave's lines are requested before
 * it is tested, the first one's while the KEYS before are.
 */
#define KEYS 128

struct waves {
    uint64_t at[TEPAL_MAX_HASHES][KEYS];
    uint64_t first[KEYS]; /* position 0 of the next ones */
    uint8_t inverted[KEYS];
    uint8_t left[KEYS]; /* who is, in order */
};

/* Position i of a key, requested. */
static inline uint64_t request_one(const struct tepal_generalized *g, struct tepal_digest d,
                                   uint32_t i)
{
    uint64_t at = wide_scale(address_word(d, i), g->at.cells);
    bits_prefetch(g->head.words, at);
    return at;
}

static void request_first(const struct tepal_generalized *g, const struct tepal_digest *digests,
                          size_t count, struct waves *waves)
{
    for (size_t n = 0; n < count && n < KEYS; n++) {
        waves->first[n] = request_one(g, digests[n], 0);
    }
}

/* Of `count` keys that are left, those that have at most b inverted bits after position i. */
static uint32_t wave(const struct tepal_generalized *g, struct waves *waves, uint32_t i,
                     uint32_t count)
{
    const uint64_t *const words = g->head.words;
    const uint32_t tolerance = g->roles.tolerance;
    const bool reset = i < g->roles.resets;
    uint32_t left = 0;
    for (uint32_t m = 0; m < count; m++) {
        uint8_t n = waves->left[m];
        uint64_t at = waves->at[i][n];
        bool wrong = bits_test(words, at) == reset;
        for (uint32_t j = 0; j < i; j++) {
            wrong &= waves->at[j][n] != at;
        }
        waves->inverted[n] = (uint8_t)(waves->inverted[n] + wrong);
        waves->left[left] = n;
        left += waves->inverted[n] <= tolerance;
    }
    return left;
}

/* Up to KEYS keys, whose first lines are requested, as those of the `more` that follow will be. */
static size_t query_waves(const struct tepal_generalized *g, const struct tepal_digest *digests,
                          size_t count, size_t more, struct waves *waves, uint64_t *answers)
{
    uint32_t left = (uint32_t)count;
    memcpy(waves->at[0], waves->first, sizeof waves->first);
    request_first(g, digests + count, more, waves);
    memset(waves->inverted, 0, sizeof waves->inverted);
    for (uint32_t n = 0; n < count; n++) {
        waves->left[n] = (uint8_t)n;
    }
    left = wave(g, waves, 0, left);
    for (uint32_t i = 1; i < g->at.hashes && left > 0; i++) {
        for (uint32_t m = 0; m < left; m++) {
            uint8_t n = waves->left[m];
            waves->at[i][n] = request_one(g, digests[n], i);
        }
        left = wave(g, waves, i, left);
    }
    memset(answers, 0, (count + 63) / 64 * 8);
    for (uint32_t m = 0; m < left; m++) {
        answers[waves->left[m] / 64] |= (uint64_t)1 << waves->left[m] % 64;
    }
    return left;
}

/* Positions that are distinct are drawn together. */
static size_t query_distinct(const struct tepal_generalized *g, const struct tepal_digest *digests,
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

static size_t flat_query(const struct tepal_generalized *g, const struct tepal_digest *digests,
                         size_t count, uint64_t *answers)
{
    struct waves waves;
    size_t present = 0;
    if (g->at.positions == TEPAL_POSITIONS_DISTINCT) {
        return query_distinct(g, digests, count, answers);
    }
    request_first(g, digests, count, &waves);
    for (size_t i = 0; i < count; i += KEYS) {
        size_t here = count - i < KEYS ? count - i : KEYS;
        present += query_waves(g, digests + i, here, count - i - here, &waves, answers + i / 64);
    }
    return present;
}

const struct generalized_kernels tepal_generalized_flat = {flat_add, flat_query};
