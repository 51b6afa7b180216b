/*
 * atomic.c: one key of a Bloom filter that several threads share.
 *
 * Relaxed is enough: bits are only ever set, so that a reader who comes after (in the
 * happens-before order) finds them, and one who races may see any part of them, as if it had come
 * before.
 */
#include <tepal/bloom.h>

/* Words one by one: a vector is not atomic. */
#define TEPAL_DIRECT_PORTABLE
#include <tepal/inline.h>

#include "filter/bloom/internal.h"

/* Which of these bits are not set? Reading spares a line's ownership when they are all there. */
static inline uint64_t missing_bits(const uint64_t *word, uint64_t bits)
{
    return bits & ~__atomic_load_n(word, __ATOMIC_RELAXED);
}

/* Set them. Was one of them still missing? */
static inline uint64_t set_bits(uint64_t *word, uint64_t bits)
{
    return bits & ~__atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
}

/* Are the cells of a round all set? If `setting`, they are afterwards. */
static inline bool visit_cells(uint64_t *line, uint64_t cells, bool setting)
{
    uint64_t missing = 0;
    for (int s = 0; s < ADDRESS_SECTORS; s++) {
        missing |= missing_bits(&line[s], tepal_direct_bit(cells, s));
    }
    if (!setting || missing == 0) {
        return missing == 0;
    }
    missing = 0;
    for (int s = 0; s < ADDRESS_SECTORS; s++) {
        uint64_t bits = missing_bits(&line[s], tepal_direct_bit(cells, s));
        missing |= bits != 0 ? set_bits(&line[s], bits) : 0;
    }
    return missing == 0;
}

/* A key in one of its lines. */
static inline bool visit_line(const struct tepal_direct *f, int which, struct tepal_digest d,
                              struct tepal_direct_key key, bool setting)
{
    const struct tepal_direct_line *rule = &f->line[which];
    uint64_t *line = f->words + key.line * ADDRESS_SECTORS;
    bool all = visit_cells(line, tepal_direct_cells(rule, key), setting);
    if (rule->two && (setting || all)) {
        all &= visit_cells(line, tepal_direct_more(rule, f->distinct, d, key), setting);
    }
    return all;
}

static inline bool visit_paired(const struct tepal_direct *f, struct tepal_digest d, bool setting)
{
    struct tepal_direct_key first = tepal_direct_first_key(f->range, d);
    bool all = visit_line(f, 0, d, first, setting);
    if (setting || all) {
        struct tepal_direct_key second =
            tepal_direct_second_key(f->range, f->distinct, d, first.line);
        all &= visit_line(f, 1, d, second, setting);
    }
    return all;
}

static inline bool visit_position(uint64_t *words, uint64_t position, bool setting)
{
    uint64_t *word = &words[position >> 6];
    uint64_t missing = missing_bits(word, (uint64_t)1 << (position & 63));
    return missing == 0 || (setting && set_bits(word, missing) == 0);
}

/* Are the key's bits all set? If `setting`, they are afterwards. */
static inline bool visit(const struct tepal_bloom *bloom, struct tepal_digest d, bool setting)
{
    const struct tepal_direct *f = &bloom->direct;
    uint64_t positions[TEPAL_MAX_HASHES];
    bool all = true;
    switch (f->way) {
    case TEPAL_DIRECT_BLOCKED:
    case TEPAL_DIRECT_BLOCKED_TWO:
        return visit_line(f, 0, d, tepal_direct_blocked_key(f->range, d), setting);
    case TEPAL_DIRECT_PAIRED:
    case TEPAL_DIRECT_PAIRED_TWO:
        return visit_paired(f, d, setting);
    case TEPAL_DIRECT_FLAT:
        for (uint32_t i = 0; i < f->hashes && (setting || all); i++) {
            all &= visit_position(f->words, wide_scale(address_word(d, i), f->range), setting);
        }
        return all;
    case TEPAL_DIRECT_CALL:
        break;
    }
    (void)tepal_address_positions(&bloom->at, d, positions);
    for (uint32_t i = 0; i < f->hashes && (setting || all); i++) {
        all &= visit_position(f->words, positions[i], setting);
    }
    return all;
}

enum tepal_status tepal_bloom_add_atomic(struct tepal_filter *filter, struct tepal_digest digest,
                                         bool *was_present)
{
    if (filter->params.kind != TEPAL_KIND_BLOOM) {
        return TEPAL_UNSUPPORTED;
    }
    if (filter_read_only(filter)) {
        return TEPAL_READ_ONLY;
    }
    bool present = visit((const struct tepal_bloom *)filter, digest, true);
    uint64_t *keys = &filter->state.keys_added;
    uint64_t now = __atomic_load_n(keys, __ATOMIC_RELAXED);
    while (now != UINT64_MAX && !__atomic_compare_exchange_n(keys, &now, now + 1, true,
                                                             __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    if (was_present != NULL) {
        *was_present = present;
    }
    return TEPAL_OK;
}

bool tepal_bloom_query_atomic(const struct tepal_filter *filter, struct tepal_digest digest)
{
    if (filter->params.kind != TEPAL_KIND_BLOOM) {
        return tepal_filter_query(filter, digest);
    }
    return visit((const struct tepal_bloom *)filter, digest, false);
}
