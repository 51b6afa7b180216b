/*
 * one.h: one key of a chain, a loop over its parts for each layout: the last and largest is asked
 * first. The lines and the flat layout are those of tepal/inline.h; included by two files that
 * compile it in plain C and for AVX2 machines.
 */
#include "cells/bits.h"
#include "filter/bloom/internal.h"
#include "filter/chain/internal.h"

/*
 * A layout: `aim` says what the cells of a part are. `holds` asks them for the key's digest there,
 * and `puts` sets its bits.
 */
#define ONE(layout, aim, holds, puts)                                                              \
    static bool layout##_ask(const struct tepal_chain *chain, uint32_t first, uint32_t end,        \
                             struct tepal_digest digest)                                           \
    {                                                                                              \
        for (uint32_t i = end; i > first; i--) {                                                   \
            const struct tepal_direct direct = aim(&chain->part[i - 1]);                           \
            struct tepal_digest d = chain_digest(i - 1, digest);                                   \
            if (holds(&direct, d)) {                                                               \
                return true;                                                                       \
            }                                                                                      \
        }                                                                                          \
        return false;                                                                              \
    }                                                                                              \
    static void layout##_put(const struct tepal_chain *chain, uint32_t part,                       \
                             struct tepal_digest digest)                                           \
    {                                                                                              \
        const struct tepal_direct direct = aim(&chain->part[part]);                                \
        puts(&direct, chain_digest(part, digest));                                                 \
    }

static inline struct tepal_direct flat_aim(const struct chain_part *part)
{
    return (struct tepal_direct){
        .words = part->words, .range = part->at.cells, .hashes = part->at.hashes};
}

static inline struct tepal_direct blocked_aim(const struct chain_part *part)
{
    return (struct tepal_direct){.words = part->words,
                                 .range = part->at.lines,
                                 .distinct = part->at.positions == TEPAL_POSITIONS_DISTINCT,
                                 .line = {bloom_line(part->at.hashes)}};
}

static inline struct tepal_direct paired_aim(const struct chain_part *part)
{
    return (struct tepal_direct){
        .words = part->words,
        .range = part->at.lines,
        .distinct = part->at.positions == TEPAL_POSITIONS_DISTINCT,
        .line = {bloom_line((part->at.hashes + 1) / 2), bloom_line(part->at.hashes / 2)}};
}

ONE(flat, flat_aim, tepal_direct_flat_query, tepal_direct_flat_set)
ONE(blocked, blocked_aim, tepal_direct_blocked_two_query, tepal_direct_blocked_two_set)
ONE(paired, paired_aim, tepal_direct_paired_two_query, tepal_direct_paired_two_set)

/* Any layout and positions. */
static bool any_ask(const struct tepal_chain *chain, uint32_t first, uint32_t end,
                    struct tepal_digest digest)
{
    for (uint32_t i = end; i > first; i--) {
        const struct chain_part *part = &chain->part[i - 1];
        uint64_t positions[TEPAL_MAX_HASHES];
        uint32_t k = tepal_address_positions(&part->at, chain_digest(i - 1, digest), positions);
        uint32_t x = 0;
        while (x < k && bits_test(part->words, positions[x])) {
            x++;
        }
        if (x == k) {
            return true;
        }
    }
    return false;
}

static void any_put(const struct tepal_chain *chain, uint32_t part, struct tepal_digest digest)
{
    const struct chain_part *to = &chain->part[part];
    uint64_t positions[TEPAL_MAX_HASHES];
    uint32_t k = tepal_address_positions(&to->at, chain_digest(part, digest), positions);
    for (uint32_t x = 0; x < k; x++) {
        bits_set(to->words, positions[x]);
    }
}

#define ONE_TABLE                                                                                  \
    {                                                                                              \
        [CHAIN_ONE_FLAT] = {flat_ask, flat_put}, [CHAIN_ONE_BLOCKED] = {blocked_ask, blocked_put}, \
        [CHAIN_ONE_PAIRED] = {paired_ask, paired_put}, [CHAIN_ONE_ANY] = {any_ask, any_put},       \
    }
