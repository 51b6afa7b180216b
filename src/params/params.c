/* params.c: the one gate that every create and every load passes. */
#include "params/params.h"

#include <string.h>

#include "base/checked.h"

static const char *const layout_names[] = {"flat", "partitioned", "blocked", "paired"};
static const char *const positions_names[] = {"colliding", "distinct"};
static const char *const hash_names[] = {"xxh3-128", "siphash-128"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static enum tepal_status refuse(const char *sentence, const char **why)
{
    *why = sentence;
    return TEPAL_BAD_PARAMETER;
}

uint64_t tepal_params_cells_bytes(uint64_t cells, uint32_t cell_bits)
{
    uint64_t per_word = 64 / cell_bits;
    return (cells / per_word + (cells % per_word != 0)) * 8;
}

static enum tepal_status check_names(const struct tepal_params *p, const struct params_rules *rules,
                                     const char **why)
{
    /* The enums may hold anything a file says, so they are compared as numbers. */
    if ((uint32_t)p->layout >= COUNT(layout_names)) {
        return refuse("the layout is not one of flat, partitioned, blocked, paired", why);
    }
    if ((rules->layouts >> (uint32_t)p->layout & 1) == 0) {
        return refuse("this kind of filter does not know that layout", why);
    }
    if ((uint32_t)p->positions >= COUNT(positions_names)) {
        return refuse("positions are neither colliding nor distinct", why);
    }
    if ((uint32_t)p->hash >= COUNT(hash_names)) {
        return refuse("the hash is neither xxh3-128 nor siphash-128", why);
    }
    if (p->hash == TEPAL_HASH_XXH3 && p->key_check != 0) {
        return refuse("a filter without a secret key cannot have a key check", why);
    }
    return TEPAL_OK;
}

static enum tepal_status check_sizes(const struct tepal_params *p, const struct params_rules *rules,
                                     const char **why)
{
    if (p->hashes == 0) {
        return refuse("the number of hashes must be at least 1", why);
    }
    if (p->cells == 0) {
        return refuse("the size must be at least 1 bit", why);
    }
    if (p->cells > PARAMS_MAX_CELLS) {
        return refuse("the size is over the limit of 2^60", why);
    }
    bool lined = p->layout == TEPAL_LAYOUT_BLOCKED || p->layout == TEPAL_LAYOUT_PAIRED;
    if (lined && p->cells % params_line_cells(rules->cell_bits) != 0) {
        return refuse("this layout needs whole lines: a multiple of 512 bits", why);
    }
    switch (p->layout) {
    case TEPAL_LAYOUT_FLAT:
    case TEPAL_LAYOUT_PARTITIONED:
        if (p->hashes > TEPAL_MAX_HASHES) {
            return refuse("the number of hashes is over the limit of 64", why);
        }
        if (p->layout == TEPAL_LAYOUT_PARTITIONED && p->hashes > p->cells) {
            return refuse("the partitioned layout needs at least one cell a hash", why);
        }
        if (p->positions == TEPAL_POSITIONS_DISTINCT && p->hashes > p->cells) {
            return refuse("distinct positions need at least one cell a hash", why);
        }
        break;
    case TEPAL_LAYOUT_BLOCKED:
        if (p->hashes > TEPAL_MAX_HASHES_BLOCKED) {
            return refuse("the number of hashes is over the blocked layout's limit of 16", why);
        }
        break;
    case TEPAL_LAYOUT_PAIRED:
        if (p->hashes > TEPAL_MAX_HASHES_PAIRED) {
            return refuse("the number of hashes is over the paired layout's limit of 32", why);
        }
        if (p->positions == TEPAL_POSITIONS_DISTINCT &&
            p->cells < 2 * params_line_cells(rules->cell_bits)) {
            return refuse("distinct positions on the paired layout need at least two lines", why);
        }
        break;
    }
    return TEPAL_OK;
}

enum tepal_status tepal_params_gate(const struct tepal_params *p, const struct params_rules *rules,
                                    const char **why)
{
    enum tepal_status status = check_names(p, rules, why);
    if (status == TEPAL_OK) {
        status = check_sizes(p, rules, why);
    }
    if (status != TEPAL_OK) {
        return status;
    }
    if (rules->check != NULL) {
        status = rules->check(p, why);
        if (status != TEPAL_OK) {
            return status;
        }
    } else {
        for (size_t i = 0; i < TEPAL_OWN_PARAMS; i++) {
            if (p->own[i] != 0) {
                return refuse("a parameter that this kind does not have is not zero", why);
            }
        }
    }
    uint64_t bytes = rules->payload_bytes != NULL
                         ? rules->payload_bytes(p)
                         : tepal_params_cells_bytes(p->cells, rules->cell_bits);
    if (!checked_size(bytes)) {
        *why = "the size is larger than this machine can address";
        return TEPAL_TOO_LARGE;
    }
    return TEPAL_OK;
}

bool tepal_params_compatible(const struct tepal_params *a, const struct tepal_params *b)
{
    return a->kind == b->kind && a->layout == b->layout && a->positions == b->positions &&
           a->hash == b->hash && a->hashes == b->hashes && a->cells == b->cells &&
           a->seed == b->seed && a->key_check == b->key_check &&
           memcmp(a->own, b->own, sizeof a->own) == 0;
}

const char *tepal_layout_name(enum tepal_layout layout)
{
    return (uint32_t)layout < COUNT(layout_names) ? layout_names[layout] : "unknown";
}

const char *tepal_positions_name(enum tepal_positions positions)
{
    return (uint32_t)positions < COUNT(positions_names) ? positions_names[positions] : "unknown";
}

const char *tepal_hash_name(enum tepal_hash hash)
{
    return (uint32_t)hash < COUNT(hash_names) ? hash_names[hash] : "unknown";
}

static bool parse(const char *const *names, size_t count, const char *name, uint32_t *out)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            *out = (uint32_t)i;
            return true;
        }
    }
    return false;
}

bool tepal_layout_parse(const char *name, enum tepal_layout *out)
{
    uint32_t i;
    if (!parse(layout_names, COUNT(layout_names), name, &i)) {
        return false;
    }
    *out = (enum tepal_layout)i;
    return true;
}

bool tepal_positions_parse(const char *name, enum tepal_positions *out)
{
    uint32_t i;
    if (!parse(positions_names, COUNT(positions_names), name, &i)) {
        return false;
    }
    *out = (enum tepal_positions)i;
    return true;
}
