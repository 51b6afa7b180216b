/*
 * generalized.c: the generalized Bloom filter (R. P. Laufer, P. B. Velloso and O. C. M. B. Duarte,
 * A Generalized Bloom Filter to Secure Distributed Network Applications, Computer Networks 55(8),
 * 2011).
 *
 *     key --hash--> digest --address--> k0 positions g, k1 positions h
 *
 *     bits  0 1 0 0 1 1 0 1 0 0 ...      add:   reset all g, set all h (g wins)
 *           ^ ^     ^   ^                query: is every g 0 and every h 1? Up to b may not be.
 *           g h     h   g
 *
 * Invariants: bits beyond the last cell are zero; a key that was just added has no inverted bit;
 * the cells depend on the order of the additions. There is no invariant on the bits otherwise: any
 * bits are a filter, and whatever they are, only a bounded share of keys is found in it.
 *
 * A g and an h of one key may meet. The key has then reset that bit, so a query looks for a 0
 * there: own resets beat own sets in queries as in additions, or such a key would be a false
 * negative from its birth.
 */
#include <tepal/generalized.h>

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "cells/bits.h"
#include "base/processor.h"
#include "filter/generalized/kernels.h"

static struct tepal_generalized *generalized_of(struct tepal_filter *filter)
{
    return (struct tepal_generalized *)filter;
}

static const struct tepal_generalized *generalized_of_const(const struct tepal_filter *filter)
{
    return (const struct tepal_generalized *)filter;
}

/* ---- the roles of a line's sectors ----------------------------------------------------------- */

/*
 * All ways to choose `cells` of 8 sectors and `resets` of those, in the order of the chosen
 * sectors' numbers (address.c) and then of the resets'. Returns how many.
 */
static uint64_t list_roles(uint32_t cells, uint32_t resets, uint64_t *table)
{
    uint64_t count = 0;
    for (uint32_t way = 0; way < tepal_address_subset_count[cells]; way++) {
        uint64_t chosen = tepal_address_subsets[cells][way];
        for (uint32_t r = 0; r < tepal_address_subset_count[resets]; r++) {
            /* byte s is ADDRESS_SKIP where sector s is not a reset */
            uint64_t others = tepal_address_subsets[resets][r];
            uint64_t kept = ~others & (ADDRESS_SKIP * ADDRESS_BYTES);
            if ((kept & chosen) == 0) { /* only chosen sectors are reset */
                table[count++] = chosen | kept << 1;
            }
        }
    }
    return count;
}

static void make_roles(struct roles *roles, const struct tepal_params *params)
{
    uint32_t k = params->hashes;
    roles->resets = (uint32_t)params->generalized.reset_hashes;
    roles->tolerance = (uint32_t)params->generalized.tolerance;
    roles->two = k > ADDRESS_SECTORS;
    roles->apart = roles->resets > 0 || params->positions == TEPAL_POSITIONS_DISTINCT;
    if (params->layout != TEPAL_LAYOUT_BLOCKED) {
        return;
    }
    uint32_t first = roles->two ? (roles->resets * ADDRESS_SECTORS + k / 2) / k : 0;
    roles->first_resets = first;
    roles->first_ways = list_roles(ADDRESS_SECTORS, first, roles->first_table);
    roles->ways = list_roles(address_chosen(k), roles->resets - first, roles->table);
}

static void generalized_open(struct tepal_filter *filter)
{
    struct tepal_generalized *generalized = generalized_of(filter);
    generalized->at = tepal_address_of(&filter->params, 1);
    make_roles(&generalized->roles, &filter->params);
    generalized->kernels = filter->params.layout == TEPAL_LAYOUT_FLAT ? &tepal_generalized_flat
                           : tepal_processor_has_avx2() ? &tepal_generalized_lines_avx2
                                                        : &tepal_generalized_lines_portable;
}

/* ---- the first state ------------------------------------------------------------------------- */

/*
 * 64 bits, each 1 with a chance of share / 2^32, by comparing 64 random numbers with the share at
 * once, a binary digit at a time from the last one that is not 0: `less` holds whether the digits
 * so far are below the share's.
 */
static uint64_t biased_word(uint64_t share, uint64_t *state)
{
    uint64_t less = 0;
    for (int digit = __builtin_ctzll(share); digit < 32; digit++) {
        uint64_t random = random_word(state);
        less = share >> digit & 1 ? less | ~random : less & ~random;
    }
    return less;
}

static void generalized_reset(struct tepal_filter *filter)
{
    uint64_t share = filter->params.generalized.ones;
    uint64_t state = filter->params.seed ^ UINT64_C(0x7465706174617261);
    size_t count = filter->word_count;
    if (share == 0) {
        memset(filter->words, 0, count * 8);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        filter->words[i] =
            share == TEPAL_GENERALIZED_UNIT ? ~UINT64_C(0) : biased_word(share, &state);
    }
    uint64_t used = filter->params.cells % 64;
    if (used != 0) {
        filter->words[count - 1] &= ((uint64_t)1 << used) - 1;
    }
}

/* ---- one key --------------------------------------------------------------------------------- */

static void line_places(const struct tepal_generalized *g, struct tepal_digest d,
                        struct places *out)
{
    const struct roles *roles = &g->roles;
    const uint64_t rounds[2] = {roles->two ? roles_first(roles, d) : roles_only(roles, d),
                                roles->two ? roles_second(roles, d) : 0};
    uint64_t base = address_line(&g->at, d.hi) * TEPAL_LINE_BITS;
    uint32_t set = roles->resets;
    uint32_t reset = 0;
    for (uint32_t round = 0; round < (roles->two ? 2u : 1u); round++) {
        for (uint32_t s = 0; s < ADDRESS_SECTORS; s++) {
            uint32_t cell = rounds[round] >> (8 * s) & 0xff;
            if ((cell & ADDRESS_SKIP) == 0) {
                uint64_t position = base + s * 64 + (cell & 63);
                out->at[cell & ROLE_RESET ? reset++ : set++] = position;
            }
        }
    }
}

void tepal_generalized_places(const struct tepal_generalized *g, struct tepal_digest d,
                              struct places *out)
{
    out->resets = g->roles.resets;
    out->count = g->at.hashes;
    if (g->at.layout == TEPAL_LAYOUT_FLAT) {
        (void)tepal_address_positions(&g->at, d, out->at);
    } else {
        line_places(g, d, out);
    }
}

static bool among(const uint64_t *positions, uint32_t count, uint64_t position)
{
    for (uint32_t i = 0; i < count; i++) {
        if (positions[i] == position) {
            return true;
        }
    }
    return false;
}

uint32_t tepal_generalized_lost(const uint64_t *words, const struct places *key, bool set,
                                uint32_t *places)
{
    uint32_t first = set ? key->resets : 0;
    uint32_t end = set ? key->count : key->resets;
    uint32_t lost = 0;
    uint32_t bits = 0;
    for (uint32_t i = first; i < end; i++) {
        /* whatever came before wins: equal ones of the same sort, and resets over sets */
        if (!among(key->at, i, key->at[i])) {
            lost += bits_test(words, key->at[i]) != set;
            bits++;
        }
    }
    *places = bits;
    return lost;
}

/* Do two of a key's positions coincide? */
static bool meets(const struct places *key)
{
    bool met = false;
    for (uint32_t i = 1; i < key->count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            met |= key->at[i] == key->at[j];
        }
    }
    return met;
}

bool tepal_generalized_found(const struct tepal_generalized *g, const struct places *key)
{
    /* Hash by hash: that is never less than bit by bit, and the same unless some coincide. */
    const uint64_t *words = g->head.words;
    uint32_t inverted = 0;
    for (uint32_t i = 0; i < key->count; i++) {
        inverted += bits_test(words, key->at[i]) == (i < key->resets);
    }
    if (inverted <= g->roles.tolerance || !meets(key)) {
        return inverted <= g->roles.tolerance;
    }
    uint32_t bits;
    return tepal_generalized_lost(words, key, false, &bits) +
               tepal_generalized_lost(words, key, true, &bits) <=
           g->roles.tolerance;
}

void tepal_generalized_put(uint64_t *words, const struct places *key)
{
    for (uint32_t i = key->resets; i < key->count; i++) {
        bits_set(words, key->at[i]);
    }
    for (uint32_t i = 0; i < key->resets; i++) {
        bits_clear(words, key->at[i]);
    }
}

static bool generalized_query(const struct tepal_filter *filter, struct tepal_digest digest)
{
    struct places key;
    tepal_generalized_places(generalized_of_const(filter), digest, &key);
    return tepal_generalized_found(generalized_of_const(filter), &key);
}

static enum tepal_status generalized_add(struct tepal_filter *filter, struct tepal_digest digest)
{
    struct places key;
    tepal_generalized_places(generalized_of(filter), digest, &key);
    tepal_generalized_put(filter->words, &key);
    filter_count_keys(filter, 1);
    return TEPAL_OK;
}

static enum tepal_status generalized_test_add(struct tepal_filter *filter,
                                              struct tepal_digest digest, bool *was_present)
{
    struct places key;
    tepal_generalized_places(generalized_of(filter), digest, &key);
    *was_present = tepal_generalized_found(generalized_of(filter), &key);
    tepal_generalized_put(filter->words, &key);
    filter_count_keys(filter, 1);
    return TEPAL_OK;
}

/* ---- wildcards ------------------------------------------------------------------------------- */

enum tepal_status tepal_generalized_touch(const struct tepal_filter *filter,
                                          struct tepal_digest digest, uint64_t *mask)
{
    struct places key;
    if (filter->params.kind != TEPAL_KIND_GENERALIZED) {
        return TEPAL_UNSUPPORTED;
    }
    tepal_generalized_places(generalized_of_const(filter), digest, &key);
    for (uint32_t i = 0; i < key.count; i++) {
        bits_set(mask, key.at[i]);
    }
    return TEPAL_OK;
}

enum tepal_status tepal_generalized_query_wild(const struct tepal_filter *filter,
                                               struct tepal_digest digest, const uint64_t *mask,
                                               bool *found)
{
    struct places key;
    uint32_t inverted = 0;
    if (filter->params.kind != TEPAL_KIND_GENERALIZED) {
        return TEPAL_UNSUPPORTED;
    }
    tepal_generalized_places(generalized_of_const(filter), digest, &key);
    for (uint32_t i = 0; i < key.count; i++) {
        inverted += !bits_test(mask, key.at[i]) &&
                    bits_test(filter->words, key.at[i]) == (i < key.resets) &&
                    !among(key.at, i, key.at[i]); /* a bit counts once, and resets win */
    }
    *found = inverted <= generalized_of_const(filter)->roles.tolerance;
    return TEPAL_OK;
}

/* ---- many keys ------------------------------------------------------------------------------- */

static enum tepal_status generalized_add_many(struct tepal_filter *filter,
                                              const struct tepal_digest *digests, size_t count)
{
    struct tepal_generalized *g = generalized_of(filter);
    g->kernels->add(g, digests, count);
    filter_count_keys(filter, count);
    return TEPAL_OK;
}

static size_t generalized_query_many(const struct tepal_filter *filter,
                                     const struct tepal_digest *digests, size_t count,
                                     uint64_t *answers)
{
    const struct tepal_generalized *g = generalized_of_const(filter);
    return count == 0 ? 0 : g->kernels->query(g, digests, count, answers);
}

/* ---- the table entry ------------------------------------------------------------------------- */

const struct filter_ops tepal_generalized_ops = {
    .rules = &tepal_generalized_rules,
    .struct_bytes = sizeof(struct tepal_generalized),
    .open = generalized_open,
    .reset = generalized_reset,
    .add = generalized_add,
    .add_many = generalized_add_many,
    .query = generalized_query,
    .query_many = generalized_query_many,
    .test_add = generalized_test_add,
    .ones = tepal_generalized_ones,
    .fp_now = tepal_generalized_fp_now,
    .info = tepal_generalized_info,
};
