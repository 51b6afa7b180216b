/*
 * wave_avx512.c: many keys of a chain of blocked parts, with AVX-512. A group of 64 keys goes from
 * part to part, the largest first, one part a turn, and the next group follows a turn later:
 *
 *     turn            part 3   part 2   part 1   part 0
 *        7            group 7  group 6  group 5  group 4    their lines have been requested
 *        8   group 8  group 7  group 6  group 5  answered   and now those of the next part
 *
 * So lines of all parts are under way at any time, a group's lines have a turn to arrive, and keys
 * that a part has leave the group there. A key's digest is made for each part on the way.
 */
#include <string.h>

#include "filter/chain/internal.h"

#if defined(__AVX512VBMI2__)

#include "filter/bloom/internal.h"
#include "filter/lines/line_avx512.h"

/* Parts at a time: those beyond have few keys, and each takes 2.5 KiB of the stack. */
#define WAVE 24

/* The keys of a group that no part before this one has; rows have a vector to spare. */
struct waiting {
    uint64_t absent; /* bit j: key j of the group is here; in this order: */
    size_t count;
    uint64_t lo[GROUP + EIGHT]; /* their digests, ... */
    uint64_t hi[GROUP + EIGHT];
    struct line_group lines; /* ... and their lines in this part */
};

/* A part, and who waits for it. */
struct stage {
    const struct chain_part *part;
    uint32_t number;
    struct line_rule rule;
    struct tepal_direct one; /* used if its keys have two rounds of cells */
    struct waiting keys;
};

/* Who waits at a stage, in its part's own digests and from `slot` on: have their lines brought. */
EIGHT_ALWAYS_INLINE void come(struct stage *stage, size_t slot)
{
    struct waiting *keys = &stage->keys;
    const uint64_t step = address_rehash_step(stage->number);
    struct eight d = {_mm512_loadu_si512(keys->lo + slot), _mm512_loadu_si512(keys->hi + slot)};
    if (stage->number > 0) {
        d = (struct eight){eight_more(d, step), eight_more(d, step + ADDRESS_GOLDEN)};
    }
    place_first(&keys->lines, slot, &stage->rule, d);
    for (size_t j = slot; j < slot + EIGHT; j++) {
        request(&keys->lines, j, &stage->rule);
    }
}

/* Of keys that passed the first round of two, which few absent ones do: those that pass both. */
static __attribute__((noinline)) uint32_t pass_both(const struct stage *stage, size_t slot,
                                                    uint32_t yes)
{
    uint32_t both = 0;
    for (; yes != 0; yes &= yes - 1) {
        const size_t j = slot + (size_t)__builtin_ctz(yes);
        struct tepal_digest d = {stage->keys.lo[j], stage->keys.hi[j]};
        if (tepal_direct_blocked_two_query(&stage->one, chain_digest(stage->number, d))) {
            both |= yes & -yes;
        }
    }
    return both;
}

/* Ask the part about those who wait; the absent ones go to the next stage, whose place is free. */
EIGHT_ALWAYS_INLINE void advance(const struct stage *stage, struct stage *next, bool last)
{
    const struct waiting *keys = &stage->keys;
    const bool two = stage->part->at.hashes > ADDRESS_SECTORS;
    uint64_t absent = 0;
    size_t kept = 0;
    size_t asked = 0; /* of these */
    for (size_t s = 0; s < keys->count; s += EIGHT) {
        uint32_t yes = 0;
        for (size_t j = EIGHT; j-- > 0;) {
            yes = 2 * yes + (uint32_t)holds(&keys->lines, s + j, &stage->rule);
        }
        yes = _bzhi_u32(yes, (uint32_t)(keys->count - s));
        if (two && yes != 0) {
            yes = pass_both(stage, s, yes);
        }
        __mmask8 no = (__mmask8)_bzhi_u32(~yes & UINT8_MAX, (uint32_t)(keys->count - s));
        absent |= (uint64_t)no << s;
        if (!last) {
            __m512i lo = _mm512_loadu_si512(keys->lo + s);
            __m512i hi = _mm512_loadu_si512(keys->hi + s);
            _mm512_storeu_si512(next->keys.lo + kept, _mm512_maskz_compress_epi64(no, lo));
            _mm512_storeu_si512(next->keys.hi + kept, _mm512_maskz_compress_epi64(no, hi));
        }
        kept += bits_count_word(no);
        if (!last && kept >= asked + EIGHT) {
            come(next, asked);
            asked += EIGHT;
        }
    }
    if (!last && kept > asked) {
        come(next, asked);
    }
    next->keys.absent = _pdep_u64(absent, keys->absent);
    next->keys.count = kept;
}

/* A group of up to 64 keys comes to the first stage. */
static void enter(struct stage *stage, const struct tepal_digest *digests, size_t count)
{
    struct tepal_digest room[GROUP] = {{0, 0}};
    if (count < GROUP) {
        memcpy(room, digests, count * sizeof *digests);
        digests = room;
    }
    for (size_t s = 0; s < count; s += EIGHT) {
        struct eight d = eight_load(digests + s);
        _mm512_storeu_si512(stage->keys.lo + s, d.lo);
        _mm512_storeu_si512(stage->keys.hi + s, d.hi);
        come(stage, s);
    }
    stage->keys.absent = _bzhi_u64(UINT64_MAX, (uint32_t)count);
    stage->keys.count = count;
}

/* The keys in parts first .. end - 1 get their bits of `answers`. */
static void in_parts(const struct tepal_chain *chain, uint32_t first, uint32_t end,
                     const struct tepal_digest *digests, size_t count, uint64_t *answers)
{
    struct stage stages[WAVE + 1];
    const size_t depth = end - first;
    const size_t groups = (count + GROUP - 1) / GROUP;
    for (uint32_t i = 0; i < depth; i++) {
        struct stage *stage = &stages[i];
        stage->number = end - 1 - i;
        stage->part = &chain->part[stage->number];
        const struct address *at = &stage->part->at;
        stage->rule = rule_of(at, stage->part->words,
                              at->hashes < ADDRESS_SECTORS ? at->hashes : ADDRESS_SECTORS);
        stage->one = tepal_bloom_direct(at, stage->part->words);
        stage->keys.absent = 0;
        stage->keys.count = 0;
    }
    for (size_t turn = 0; turn < groups + depth; turn++) {
        advance(&stages[depth - 1], &stages[depth], true);
        if (turn >= depth) {
            const size_t left = count - (turn - depth) * GROUP;
            answers[turn - depth] |=
                _bzhi_u64(~stages[depth].keys.absent, left < GROUP ? (uint32_t)left : GROUP);
        }
        for (size_t i = depth - 1; i-- > 0;) {
            advance(&stages[i], &stages[i + 1], false);
        }
        if (turn < groups) {
            const size_t left = count - turn * GROUP;
            enter(&stages[0], digests + turn * GROUP, left < GROUP ? left : GROUP);
        } else {
            stages[0].keys.count = 0;
        }
    }
}

static size_t ask(const struct tepal_chain *chain, const struct tepal_digest *digests, size_t count,
                  uint64_t *answers)
{
    memset(answers, 0, (count + 63) / 64 * 8);
    for (uint32_t end = chain->parts; end > 0;) {
        uint32_t first = end < WAVE ? 0 : end - WAVE;
        in_parts(chain, first, end, digests, count, answers);
        end = first;
    }
    return (size_t)tepal_bits_count(answers, (count + 63) / 64);
}

const chain_ask_many tepal_chain_wave_avx512 = ask;

#else

const chain_ask_many tepal_chain_wave_avx512 = NULL;

#endif
