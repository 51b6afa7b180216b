/*
 * params.c: the one gate that every create and every load passes.
 *
 * It decides whether parameters are those of a legal filter, and nothing else: whether this machine
 * can hold one is asked where memory is taken. So it answers alike everywhere.
 */
#include "params/params.h"

#include <string.h>

#include "base/names.h"

static const char *const layouts[] = {"flat", "partitioned", "blocked", "paired"};
static const char *const positions_kinds[] = {"colliding", "distinct"};
static const char *const hashes[] = {"xxh3-128", "siphash-128", "siphash13-128"};

static const struct names layout_names = NAMES(layouts, "unknown");
static const struct names positions_names = NAMES(positions_kinds, "unknown");
static const struct names hash_names = NAMES(hashes, "unknown");

bool tepal_layout_in_lines(enum tepal_layout layout)
{
    return layout == TEPAL_LAYOUT_BLOCKED || layout == TEPAL_LAYOUT_PAIRED;
}

uint32_t tepal_params_max_hashes(enum tepal_layout layout)
{
    switch (layout) {
    case TEPAL_LAYOUT_FLAT:
    case TEPAL_LAYOUT_PARTITIONED:
        return TEPAL_MAX_HASHES;
    case TEPAL_LAYOUT_BLOCKED:
        return TEPAL_MAX_HASHES_BLOCKED;
    case TEPAL_LAYOUT_PAIRED:
        return TEPAL_MAX_HASHES_PAIRED;
    }
    return 0;
}

/* ---- the gate -------------------------------------------------------------------------------- */

static struct params_verdict check_names(const struct tepal_params *p,
                                         const struct params_rules *rules)
{
    /* The enums may hold anything a file says, so they are compared as numbers. */
    if ((uint32_t)p->layout >= layout_names.count) {
        return params_refuse(PARAMS_LAYOUT,
                             "the layout is not one of flat, partitioned, blocked, paired");
    }
    if ((rules->layouts >> (uint32_t)p->layout & 1) == 0) {
        return params_refuse(PARAMS_LAYOUT, "this kind of filter does not support this layout");
    }
    if ((uint32_t)p->positions >= positions_names.count) {
        return params_refuse(PARAMS_POSITIONS, "positions are neither colliding nor distinct");
    }
    if ((uint32_t)p->hash >= hash_names.count) {
        return params_refuse(PARAMS_HASH,
                             "the hash is none of xxh3-128, siphash-128 and siphash13-128");
    }
    if (!tepal_hash_is_keyed(p->hash) && p->key_check != 0) {
        return params_refuse(PARAMS_KEY_CHECK,
                             "a filter without a secret key cannot have a key check");
    }
    return PARAMS_PASSED;
}

struct params_verdict tepal_params_check_size(const struct tepal_params *p, uint64_t cells,
                                              uint32_t cell_bits)
{
    static const char *const too_many[] = {
        [TEPAL_LAYOUT_FLAT] = "the number of hash functions is over the limit of 64",
        [TEPAL_LAYOUT_PARTITIONED] = "the number of hash functions is over the limit of 64",
        [TEPAL_LAYOUT_BLOCKED] =
            "the number of hash functions is over the blocked layout's limit of 16",
        [TEPAL_LAYOUT_PAIRED] =
            "the number of hash functions is over the paired layout's limit of 32",
    };
    bool lined = tepal_layout_in_lines(p->layout);
    bool distinct = p->positions == TEPAL_POSITIONS_DISTINCT;
    if (p->hashes == 0) {
        return params_refuse(PARAMS_HASHES, "the number of hash functions must be at least 1");
    }
    if (cells == 0) {
        return params_refuse(PARAMS_CELLS, "the size must be at least 1 bit");
    }
    if (cells > PARAMS_MAX_CELLS) {
        return params_refuse(PARAMS_CELLS, "the size is over the limit of 2^60");
    }
    if (cells % params_unit(p->layout, cell_bits) != 0) {
        return params_refuse(PARAMS_CELLS,
                             "this layout needs whole cache lines: a multiple of 512 bits");
    }
    if (p->hashes > tepal_params_max_hashes(p->layout)) {
        return params_refuse(PARAMS_HASHES, too_many[p->layout]);
    }
    if (p->layout == TEPAL_LAYOUT_PARTITIONED && p->hashes > cells) {
        return params_refuse(PARAMS_CELLS,
                             "the partitioned layout needs at least one cell per hash function");
    }
    if (!lined && distinct && p->hashes > cells) {
        return params_refuse(PARAMS_CELLS,
                             "distinct positions need at least one cell per hash function");
    }
    if (p->layout == TEPAL_LAYOUT_PAIRED && distinct &&
        cells < 2 * params_unit(p->layout, cell_bits)) {
        return params_refuse(
            PARAMS_CELLS, "distinct positions on the paired layout need at least two cache lines");
    }
    return PARAMS_PASSED;
}

static struct params_verdict check_own(const struct tepal_params *p,
                                       const struct params_rules *rules)
{
    for (unsigned i = 0; i < TEPAL_OWN_PARAMS; i++) {
        if (rules->own[i] == NULL && p->own[i] != 0) {
            return params_refuse_own(i, "a parameter that this kind does not have is not zero");
        }
    }
    return rules->check == NULL ? PARAMS_PASSED : rules->check(p);
}

struct params_verdict tepal_params_gate(const struct tepal_params *p)
{
    const struct params_rules *rules = tepal_params_rules((uint32_t)p->kind);
    if (rules == NULL) {
        return (struct params_verdict){TEPAL_UNKNOWN_KIND, PARAMS_KIND,
                                       "this kind of filter is unknown to this version"};
    }
    struct params_verdict verdict = check_names(p, rules);
    if (verdict.status == TEPAL_OK) {
        verdict = tepal_params_check_size(p, p->cells, params_placed_bits(p, rules->cell_bits));
    }
    return verdict.status == TEPAL_OK ? check_own(p, rules) : verdict;
}

enum tepal_status tepal_params_check(const struct tepal_params *params, struct tepal_error *error)
{
    return params_tell(tepal_params_gate(params), error);
}

/* ---- sizes and mates ------------------------------------------------------------------------- */

uint64_t tepal_params_cells_bytes(uint64_t cells, uint32_t cell_bits)
{
    uint64_t per_word = 64 / cell_bits;
    return (cells / per_word + (cells % per_word != 0)) * 8;
}

uint64_t tepal_params_cell_bytes(const struct tepal_params *params)
{
    const struct params_rules *rules = tepal_params_rules((uint32_t)params->kind);
    if (rules == NULL) {
        return 0;
    }
    return rules->payload_bytes != NULL ? rules->payload_bytes(params)
                                        : tepal_params_cells_bytes(params->cells, rules->cell_bits);
}

bool tepal_params_compatible(const struct tepal_params *a, const struct tepal_params *b)
{
    struct tepal_params x = *a;
    if (a->kind == TEPAL_KIND_GROWING && b->kind == TEPAL_KIND_GROWING) {
        x.cells = b->cells; /* what changes as they grow */
        x.growing.first = b->growing.first;
        x.growing.overflow = b->growing.overflow;
    }
    if (a->kind == TEPAL_KIND_CHAIN && b->kind == TEPAL_KIND_CHAIN &&
        params_chain_first(a) == params_chain_first(b)) {
        x.cells = b->cells;
        x.chain.parts = b->chain.parts;
        x.chain.first_bits = b->chain.first_bits;
    }
    if (a->kind == TEPAL_KIND_COUNTING && b->kind == TEPAL_KIND_COUNTING) {
        x.counting.most_lost = b->counting.most_lost; /* what was allowed, not where keys are */
    }
    return x.kind == b->kind && x.layout == b->layout && x.positions == b->positions &&
           x.hash == b->hash && x.hashes == b->hashes && x.cells == b->cells && x.seed == b->seed &&
           x.key_check == b->key_check && memcmp(x.own, b->own, sizeof x.own) == 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

const char *tepal_layout_name(enum tepal_layout layout)
{
    return names_at(layout_names, layout);
}

const char *tepal_positions_name(enum tepal_positions positions)
{
    return names_at(positions_names, positions);
}

const char *tepal_hash_name(enum tepal_hash hash)
{
    return names_at(hash_names, hash);
}

bool tepal_layout_parse(const char *name, enum tepal_layout *out)
{
    unsigned i;
    bool known = names_find(layout_names, name, &i);
    if (known) {
        *out = (enum tepal_layout)i;
    }
    return known;
}

bool tepal_hash_parse(const char *name, enum tepal_hash *out)
{
    unsigned i;
    bool known = names_find(hash_names, name, &i);
    if (known) {
        *out = (enum tepal_hash)i;
    }
    return known;
}

bool tepal_positions_parse(const char *name, enum tepal_positions *out)
{
    unsigned i;
    bool known = names_find(positions_names, name, &i);
    if (known) {
        *out = (enum tepal_positions)i;
    }
    return known;
}
