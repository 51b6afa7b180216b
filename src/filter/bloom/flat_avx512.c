/*
 * flat_avx512.c: flat and partitioned loops with AVX-512: the stages and rounds of flat.h, eight
 * keys at a time (lines/eight.h), in whole groups of 64, in the cache and beyond. What is left of a
 * batch, distinct positions and filters of 2^32 cells and more are for the loops with AVX2.
 *
 * Vectors find positions so fast that requests would come in bursts, more than the machine keeps
 * under way, and nothing would be under way while the next are computed. So each eight requests are
 * followed by what is left to do for eight other keys.
 */
#include "filter/bloom/kernels.h"

#if defined(__AVX512VBMI2__)

#include <string.h>

#include "cells/bits.h"
#include "filter/lines/eight.h"

#define GROUP BLOOM_GROUP

/* Keys that survive so many probes, which few do unless they are present, are asked the rest. */
#define STAGES 16

/* Up to this size probes come from the cache and requesting them first only costs time. */
#define IN_CACHE_CELLS ((uint64_t)4 << 20)

/* Where probe i may fall: all cells (flat) or slice i (partitioned). */
struct slice {
    uint64_t start;
    uint64_t size;
};

static void slices_of(const struct address *at, struct slice slices[TEPAL_MAX_HASHES])
{
    for (uint32_t i = 0; i < at->hashes; i++) {
        uint64_t start = address_slice_start(at->cells, at->hashes, i);
        slices[i] =
            at->layout == TEPAL_LAYOUT_FLAT
                ? (struct slice){0, at->cells}
                : (struct slice){start, address_slice_start(at->cells, at->hashes, i + 1) - start};
    }
}

/* Keys of one group that hit with every probe so far; rows have a vector to spare. */
struct keys {
    uint64_t alive; /* bit j: key j of the group is here; in this order: */
    size_t count;
    uint64_t lo[GROUP + EIGHT]; /* their digests, ... */
    uint64_t hi[GROUP + EIGHT];
    uint64_t position[GROUP + EIGHT]; /* ... and the cells of the next probe */
};

/* The group of keys from `first` on. */
static void enter(struct keys *keys, const struct bloom_source *source, size_t first)
{
    const bool integers = source->form == BLOOM_INTEGERS;
    struct tepal_digest room[GROUP];
    const struct tepal_digest *group = eight_group(source, integers, first, room);
    for (size_t j = 0; j < GROUP; j += EIGHT) {
        struct eight d = eight_digests(source, integers, first, group, j);
        _mm512_storeu_si512(keys->lo + j, d.lo);
        _mm512_storeu_si512(keys->hi + j, d.hi);
    }
    keys->alive = UINT64_MAX;
    keys->count = GROUP;
}

/* The cells of probe i of eight keys; `far`, a constant: have them brought, to the second cache. */
EIGHT_ALWAYS_INLINE void aim(struct keys *keys, size_t j, const uint64_t *words,
                             const struct slice *slices, uint32_t i, bool far)
{
    struct eight d = {_mm512_loadu_si512(keys->lo + j), _mm512_loadu_si512(keys->hi + j)};
    __m512i position =
        _mm512_add_epi64(eight_scale(eight_word(d, i), slices[i].size), eight_of(slices[i].start));
    _mm512_storeu_si512(keys->position + j, position);
    if (far) {
        uint64_t byte[EIGHT];
        _mm512_storeu_si512(byte, _mm512_srli_epi64(position, 3));
        for (size_t n = 0; n < EIGHT; n++) {
            __builtin_prefetch((const char *)words + byte[n], 0, 2);
        }
    }
}

/* ---- queries --------------------------------------------------------------------------------- */

/* Which of eight keys hit. */
EIGHT_ALWAYS_INLINE __mmask8 test(const struct keys *keys, size_t j, const uint64_t *words)
{
    __m512i position = _mm512_loadu_si512(keys->position + j);
    __m512i word =
        _mm512_i64gather_epi64(_mm512_srli_epi64(position, 6), (const long long *)words, 8);
    __mmask8 hit = _mm512_test_epi64_mask(_mm512_rorv_epi64(word, position), eight_of(1));
    return (__mmask8)_bzhi_u32(hit, (uint32_t)(keys->count - j));
}

/*
 * Stage i of a turn: the keys that have come request their probe, while those that came a turn ago
 * (`old`) are tested: the ones that hit go on to `next`, which may be `old`.
 */
EIGHT_ALWAYS_INLINE void advance(struct keys *come, const struct keys *old, struct keys *next,
                                 const uint64_t *words, const struct slice *slices, uint32_t i,
                                 bool far)
{
    const size_t coming = come->count;
    const size_t waiting = old->count;
    uint64_t hits = 0;
    size_t kept = 0;
    for (size_t j = 0; j < coming || j < waiting; j += EIGHT) {
        if (j < coming) {
            aim(come, j, words, slices, i, far);
        }
        if (j < waiting) {
            __mmask8 hit = test(old, j, words);
            __m512i lo = _mm512_loadu_si512(old->lo + j);
            __m512i hi = _mm512_loadu_si512(old->hi + j);
            _mm512_storeu_si512(next->lo + kept, _mm512_maskz_compress_epi64(hit, lo));
            _mm512_storeu_si512(next->hi + kept, _mm512_maskz_compress_epi64(hit, hi));
            kept += bits_count_word(hit);
            hits |= (uint64_t)hit << j;
        }
    }
    next->alive = _pdep_u64(hits, old->alive);
    next->count = kept;
}

/* The answers for keys that have passed the last stage. */
static uint64_t finish(const struct address *at, const uint64_t *words, const struct slice *slices,
                       struct keys *keys)
{
    struct keys none;
    none.count = 0;
    for (uint32_t i = STAGES; i < at->hashes; i++) {
        for (size_t j = 0; j < keys->count; j += EIGHT) {
            aim(keys, j, words, slices, i, false);
        }
        advance(&none, keys, keys, words, slices, i, false);
    }
    return keys->alive;
}

EIGHT_ALWAYS_INLINE size_t in_stages(const struct address *at, const uint64_t *words,
                                     const struct bloom_source *source, size_t groups,
                                     uint64_t *answers, bool far)
{
    struct slice slices[TEPAL_MAX_HASHES];
    struct keys keys[STAGES + 1][2]; /* at each stage: those that come and those that came */
    const uint32_t depth = at->hashes < STAGES ? at->hashes : STAGES;
    size_t present = 0;
    slices_of(at, slices);
    for (uint32_t i = 0; i <= depth; i++) {
        keys[i][0].count = keys[i][1].count = 0;
    }
    for (size_t turn = 0; turn < groups + depth; turn++) {
        const size_t now = turn % 2;
        if (turn < groups) {
            enter(&keys[0][now], source, turn * GROUP);
        } else {
            keys[0][now].count = 0;
        }
        for (uint32_t i = 0; i < depth; i++) {
            advance(&keys[i][now], &keys[i][1 - now], &keys[i + 1][now], words, slices, i, far);
        }
        if (turn >= depth) {
            answers[turn - depth] = finish(at, words, slices, &keys[depth][now]);
            present += keys[depth][now].count;
        }
    }
    return present;
}

/* ---- additions ------------------------------------------------------------------------------- */

/* Probe i of a group, while the probe before it, of these keys or of the last group's, is set. */
EIGHT_ALWAYS_INLINE void add_round(struct keys *keys, uint64_t *words, const struct slice *slices,
                                   uint32_t i, bool far)
{
    for (size_t j = 0; j < GROUP; j += EIGHT) {
        uint64_t before[EIGHT];
        _mm512_storeu_si512(before, _mm512_loadu_si512(keys->position + j));
        aim(keys, j, words, slices, i, far);
        for (size_t n = 0; n < EIGHT; n++) {
            bits_set(words, before[n]);
        }
    }
}

EIGHT_ALWAYS_INLINE void add_rounds(const struct address *at, uint64_t *words,
                                    const struct bloom_source *source, size_t groups, bool far)
{
    struct slice slices[TEPAL_MAX_HASHES];
    struct keys keys;
    slices_of(at, slices);
    for (size_t g = 0; g < groups; g++) {
        enter(&keys, source, g * GROUP);
        for (size_t j = 0; j < GROUP && g == 0; j += EIGHT) {
            aim(&keys, j, words, slices, 0, far);
        }
        for (uint32_t i = g == 0; i < at->hashes; i++) {
            add_round(&keys, words, slices, i, far);
        }
    }
    for (size_t j = 0; j < GROUP; j++) {
        bits_set(words, keys.position[j]);
    }
}

/* ---- a part of a larger filter --------------------------------------------------------------- */

/*
 * Keys that hit with every probe so far: which they are, and their digests in the part. There is
 * room for more than usually stay after two probes; if it is taken, those here are asked the rest.
 */
#define STAYING 768

struct staying {
    uint16_t key[STAYING + EIGHT];
    uint64_t lo[STAYING + EIGHT];
    uint64_t hi[STAYING + EIGHT];
};

/* Which keys of a vector are there, if so many are left. */
EIGHT_ALWAYS_INLINE __mmask8 part_among(uint32_t left)
{
    return (__mmask8)_bzhi_u32(0xff, left < EIGHT ? left : EIGHT);
}

/*
 * Which of eight keys, those in `among`, have the bits that these words lead to. Parts are in the
 * cache, where halves of words are gathered in less time than whole ones.
 */
EIGHT_ALWAYS_INLINE __mmask8 part_test(const struct bloom_part *part, __mmask8 among, __m512i word)
{
    __m512i at = _mm512_add_epi64(eight_scale(word, part->at->cells), eight_of(part->start));
    __m256i half =
        _mm512_i64gather_epi32(_mm512_srli_epi64(at, 5), (const int *)(const void *)part->words, 4);
    __m256i bit = _mm256_rorv_epi32(half, _mm512_cvtepi64_epi32(at));
    return _mm256_mask_test_epi32_mask(among, bit, _mm256_set1_epi32(1));
}

/* Those of eight keys that hit stay; rows may be those that the keys came from. */
EIGHT_ALWAYS_INLINE void part_keep(struct staying *s, uint32_t to, __mmask8 hit, __m128i keys,
                                   struct eight d)
{
    _mm_storeu_si128((__m128i *)(void *)(s->key + to), _mm_maskz_compress_epi16(hit, keys));
    _mm512_storeu_si512(s->lo + to, _mm512_maskz_compress_epi64(hit, d.lo));
    _mm512_storeu_si512(s->hi + to, _mm512_maskz_compress_epi64(hit, d.hi));
}

/* The digests of up to eight keys; most keys have neighbours. Those of others are not read. */
EIGHT_ALWAYS_INLINE struct eight part_digests(const struct tepal_digest *digests,
                                              const uint16_t *keys, uint32_t left, __m128i listed)
{
    if (left >= EIGHT && keys[EIGHT - 1] == keys[0] + EIGHT - 1) {
        return eight_load(digests + keys[0]);
    }
    __mmask8 here = part_among(left);
    __m512i at = _mm512_slli_epi64(_mm512_cvtepu16_epi64(listed), 1);
    const long long *words = (const long long *)(const void *)digests;
    return (struct eight){
        _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), here, at, words, 8),
        _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), here, at, words + 1, 8)};
}

/*
 * Probes of a pass over the keys that stay: more than one, though one would settle half of them, as
 * few keys are left soon, and then a pass takes as long as its instructions wait for each other.
 */
#define PROBES     2
#define PROBES_FEW 4

/* Of `in` keys that hit with the first two probes, those that hit with all, to `stay`. */
EIGHT_ALWAYS_INLINE uint32_t part_rest(const struct bloom_part *part, struct staying *s,
                                       uint32_t in, uint16_t *stay)
{
    const uint32_t hashes = part->at->hashes;
    for (uint32_t i = 2; i < hashes && in > 0;) {
        const uint32_t probes = in > EIGHT ? PROBES : PROBES_FEW;
        const uint32_t next = hashes - i < probes ? hashes : i + probes;
        uint32_t kept = 0;
        for (uint32_t n = 0; n < in; n += EIGHT) {
            struct eight d = {_mm512_loadu_si512(s->lo + n), _mm512_loadu_si512(s->hi + n)};
            __m128i listed = _mm_loadu_si128((const __m128i *)(const void *)(s->key + n));
            __mmask8 hit = part_among(in - n);
            for (uint32_t probe = i; probe < next; probe++) {
                hit = part_test(part, hit, eight_more(d, probe * ADDRESS_GOLDEN));
            }
            part_keep(s, kept, hit, listed, d);
            kept += bits_count_word(hit);
        }
        in = kept;
        i = next;
    }
    memcpy(stay, s->key, in * sizeof *stay);
    return in;
}

/* The first two probes of all keys at once, which settle three of four; then those that stay. */
static uint32_t flat_inside(const struct bloom_part *part, const struct tepal_digest *digests,
                            const uint16_t *keys, uint32_t count, uint16_t *stay)
{
    const struct bloom_part here = *part;
    const uint64_t step = address_rehash_step(part->number);
    const uint32_t hashes = part->at->hashes;
    struct staying s;
    uint32_t in = 0;
    uint32_t found = 0;
    if (part->at->cells > EIGHT_MAX_RANGE) {
        return tepal_bloom_flat_avx2.inside(part, digests, keys, count, stay);
    }
    for (uint32_t n = 0; n < count; n += EIGHT) {
        __mmask8 hit = part_among(count - n);
        __m128i listed = _mm_maskz_loadu_epi16(hit, keys + n);
        struct eight d = part_digests(digests, keys + n, count - n, listed);
        d = (struct eight){eight_more(d, step), eight_more(d, step + ADDRESS_GOLDEN)};
        hit = part_test(&here, hit, d.hi);
        if (hashes > 1) {
            hit = part_test(&here, hit, d.lo);
        }
        part_keep(&s, in, hit, listed, d);
        in += bits_count_word(hit);
        if (in >= STAYING) {
            found += part_rest(&here, &s, in, stay + found);
            in = 0;
        }
    }
    return found + part_rest(&here, &s, in, stay + found);
}

/* ---- the kernels ----------------------------------------------------------------------------- */

/* How many groups of this batch are for the loops here. */
static size_t groups_here(const struct address *at, size_t count)
{
    bool distinct = at->layout == TEPAL_LAYOUT_FLAT && at->positions == TEPAL_POSITIONS_DISTINCT;
    return !distinct && at->cells <= EIGHT_MAX_RANGE ? count / GROUP : 0;
}

static void flat_add(const struct address *at, uint64_t *words, const struct bloom_source *source,
                     size_t count)
{
    size_t groups = groups_here(at, count);
    if (groups == 0) {
        tepal_bloom_flat_avx2.add(at, words, source, count);
        return;
    }
    if (at->cells > IN_CACHE_CELLS) {
        add_rounds(at, words, source, groups, true);
    } else {
        add_rounds(at, words, source, groups, false);
    }
    struct bloom_source rest = source_from(source, groups * GROUP);
    tepal_bloom_flat_avx2.add(at, words, &rest, count - groups * GROUP);
}

/* A function of its own, so that its keys are off the stack when what is left is asked. */
static __attribute__((noinline)) size_t query_groups(const struct address *at,
                                                     const uint64_t *words,
                                                     const struct bloom_source *source,
                                                     size_t groups, uint64_t *answers)
{
    return at->cells > IN_CACHE_CELLS ? in_stages(at, words, source, groups, answers, true)
                                      : in_stages(at, words, source, groups, answers, false);
}

static size_t flat_query(const struct address *at, const uint64_t *words,
                         const struct bloom_source *source, size_t count, uint64_t *answers)
{
    size_t groups = groups_here(at, count);
    if (groups == 0) {
        return tepal_bloom_flat_avx2.query(at, words, source, count, answers);
    }
    size_t present = query_groups(at, words, source, groups, answers);
    struct bloom_source rest = source_from(source, groups * GROUP);
    return present +
           tepal_bloom_flat_avx2.query(at, words, &rest, count - groups * GROUP, answers + groups);
}

const struct bloom_kernels tepal_bloom_flat_avx512 = {flat_add, flat_query, flat_inside};

#else

const struct bloom_kernels tepal_bloom_flat_avx512 = {0};

#endif
