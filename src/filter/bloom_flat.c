/*
 * bloom_flat.c: the loops of the flat and partitioned layouts, where every probe is a cache line of
 * its own.
 *
 * Queries run in waves: the first probe of all keys of a chunk, then the second of those that
 * survived, and so on; an absent key costs about two probes. In a filter larger than the cache, a
 * wave's lines are requested together before the first is looked at. Nothing branches on a bit, as
 * whether it is set is a coin toss, and no address depends on one until a whole wave has been
 * read: so the reads of many keys overlap.
 *
 * In the cache, where a read costs little, the first wave takes two probes at once.
 */
#include "cells/bits.h"
#include "filter/bloom_kernels.h"

#define CHUNK         512
#define ADD_AHEAD     16
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Up to this size probes come from the cache and requesting them first only costs time. */
#define IN_CACHE_CELLS ((uint64_t)4 << 20)

/* Where probe i may fall: all cells (flat) or slice i (partitioned). */
struct slices {
    uint64_t start[TEPAL_MAX_HASHES];
    uint64_t size[TEPAL_MAX_HASHES];
};

static void slices_of(const struct address *at, struct slices *slices)
{
    bool flat = at->layout == TEPAL_LAYOUT_FLAT;
    for (uint32_t i = 0; i < at->hashes; i++) {
        uint64_t start = flat ? 0 : address_slice_start(at->cells, at->hashes, i);
        uint64_t end = flat ? at->cells : address_slice_start(at->cells, at->hashes, i + 1);
        slices->start[i] = start;
        slices->size[i] = end - start;
    }
}

ALWAYS_INLINE uint64_t position(const struct slices *slices, uint32_t i, uint64_t word)
{
    return slices->start[i] + wide_scale(word, slices->size[i]);
}

/* Distinct positions depend on each other and are computed together, by address_positions. */
static bool is_distinct(const struct address *at)
{
    return at->layout == TEPAL_LAYOUT_FLAT && at->positions == TEPAL_POSITIONS_DISTINCT;
}

/* Digests of keys first .. first + count - 1. */
static void gather(const struct bloom_source *source, size_t first, size_t count,
                   struct tepal_digest *digests)
{
    switch (source->form) {
    case BLOOM_DIGESTS:
        for (size_t i = 0; i < count; i++) {
            digests[i] = bloom_digest(source, BLOOM_DIGESTS, first + i);
        }
        break;
    case BLOOM_INTEGERS:
        for (size_t i = 0; i < count; i++) {
            digests[i] = bloom_digest(source, BLOOM_INTEGERS, first + i);
        }
        break;
    case BLOOM_FIXED:
        for (size_t i = 0; i < count; i++) {
            digests[i] = bloom_digest(source, BLOOM_FIXED, first + i);
        }
        break;
    }
}

/* ---- queries -------------------------------------------------------------------------------- */

/* A chunk of keys under way: their digests, and the numbers of those that have not missed yet. */
struct chunk {
    struct tepal_digest digest[CHUNK];
    uint16_t alive[CHUNK + 1]; /* one to spare: compacting writes before it decides */
    size_t count;
};

/* Keep the keys whose probe hit: hit[j] tells of key alive[j]. */
static void compact(struct chunk *chunk, const bool *hit)
{
    size_t kept = 0;
    for (size_t j = 0; j < chunk->count; j++) {
        chunk->alive[kept] = chunk->alive[j];
        kept += hit[j];
    }
    chunk->count = kept;
}

/* Probes 0 and 1 of every key. They need no further words: those are the digest itself. */
static void two_probes(const struct slices *slices, const uint64_t *words, struct chunk *chunk)
{
    bool hit[CHUNK];
    for (size_t j = 0; j < chunk->count; j++) {
        struct tepal_digest d = chunk->digest[j];
        unsigned both = bits_test(words, position(slices, 0, d.hi));
        both &= bits_test(words, position(slices, 1, d.lo)); /* no branch between the two */
        hit[j] = both != 0;
    }
    compact(chunk, hit);
}

static void one_probe(const struct slices *slices, const uint64_t *words, struct chunk *chunk,
                      uint32_t i)
{
    bool hit[CHUNK];
    for (size_t j = 0; j < chunk->count; j++) {
        uint64_t word = address_word(chunk->digest[chunk->alive[j]], i);
        hit[j] = bits_test(words, position(slices, i, word));
    }
    compact(chunk, hit);
}

static void one_probe_requested(const struct slices *slices, const uint64_t *words,
                                struct chunk *chunk, uint32_t i)
{
    bool hit[CHUNK];
    uint64_t positions[CHUNK];
    for (size_t j = 0; j < chunk->count; j++) {
        uint64_t word = address_word(chunk->digest[chunk->alive[j]], i);
        positions[j] = position(slices, i, word);
        bits_prefetch(words, positions[j]);
    }
    for (size_t j = 0; j < chunk->count; j++) {
        hit[j] = bits_test(words, positions[j]);
    }
    compact(chunk, hit);
}

static void all_probes_distinct(const struct address *at, const uint64_t *words,
                                struct chunk *chunk)
{
    bool hit[CHUNK];
    for (size_t j = 0; j < chunk->count; j++) {
        uint64_t positions[TEPAL_MAX_HASHES];
        uint32_t k = tepal_address_positions(at, chunk->digest[j], positions);
        uint32_t i = 0;
        while (i < k && bits_test(words, positions[i])) {
            i++;
        }
        hit[j] = i == k;
    }
    compact(chunk, hit);
}

static void probe_chunk(const struct address *at, const struct slices *slices,
                        const uint64_t *words, struct chunk *chunk)
{
    if (is_distinct(at)) {
        all_probes_distinct(at, words, chunk);
        return;
    }
    bool in_cache = at->cells <= IN_CACHE_CELLS;
    uint32_t i = 0;
    if (in_cache && at->hashes >= 2) {
        two_probes(slices, words, chunk);
        i = 2;
    }
    for (; i < at->hashes && chunk->count > 0; i++) {
        if (in_cache) {
            one_probe(slices, words, chunk, i);
        } else {
            one_probe_requested(slices, words, chunk, i);
        }
    }
}

static size_t flat_query(const struct address *at, const uint64_t *words,
                         const struct bloom_source *source, size_t count, uint64_t *answers)
{
    struct slices slices;
    struct chunk chunk;
    size_t present = 0;
    slices_of(at, &slices);
    for (size_t base = 0; base < count; base += CHUNK) {
        chunk.count = count - base < CHUNK ? count - base : CHUNK;
        gather(source, base, chunk.count, chunk.digest);
        for (size_t j = 0; j < chunk.count; j++) {
            chunk.alive[j] = (uint16_t)j;
            if (j % 64 == 0) {
                answers[(base + j) / 64] = 0;
            }
        }
        probe_chunk(at, &slices, words, &chunk);
        for (size_t j = 0; j < chunk.count; j++) {
            bits_set(answers, base + chunk.alive[j]);
        }
        present += chunk.count;
    }
    return present;
}

/* ---- additions ------------------------------------------------------------------------------- */

/* All positions of one key. */
ALWAYS_INLINE void positions_of(const struct address *at, const struct slices *slices,
                                struct tepal_digest d, uint64_t *out)
{
    if (is_distinct(at)) {
        (void)tepal_address_positions(at, d, out);
        return;
    }
    out[0] = position(slices, 0, d.hi);
    if (at->hashes > 1) {
        out[1] = position(slices, 1, d.lo);
    }
    uint64_t step = 2 * ADDRESS_GOLDEN;
    for (uint32_t i = 2; i < at->hashes; i++) {
        out[i] = position(slices, i, address_more(d, step));
        step += ADDRESS_GOLDEN;
    }
}

/* In the cache: set each bit as its position is known. */
static void add_chunk(const struct address *at, const struct slices *slices, uint64_t *words,
                      const struct tepal_digest *digests, size_t count)
{
    const uint32_t hashes = at->hashes;
    for (size_t j = 0; j < count; j++) {
        struct tepal_digest d = digests[j];
        bits_set(words, position(slices, 0, d.hi));
        if (hashes > 1) {
            bits_set(words, position(slices, 1, d.lo));
        }
        uint64_t step = 2 * ADDRESS_GOLDEN;
        for (uint32_t i = 2; i < hashes; i++) {
            bits_set(words, position(slices, i, address_more(d, step)));
            step += ADDRESS_GOLDEN;
        }
    }
}

/* Beyond it: positions are computed, and their lines requested, some keys ahead. */
static void add_chunk_requested(const struct address *at, const struct slices *slices,
                                uint64_t *words, const struct tepal_digest *digests, size_t count)
{
    const uint32_t hashes = at->hashes;
    uint64_t window[ADD_AHEAD][TEPAL_MAX_HASHES];
    size_t asked = 0;
    for (size_t j = 0; j < count; j++) {
        for (; asked < count && asked < j + ADD_AHEAD; asked++) {
            uint64_t *positions = window[asked % ADD_AHEAD];
            positions_of(at, slices, digests[asked], positions);
            for (uint32_t i = 0; i < hashes; i++) {
                bits_prefetch(words, positions[i]);
            }
        }
        for (uint32_t i = 0; i < hashes; i++) {
            bits_set(words, window[j % ADD_AHEAD][i]);
        }
    }
}

static void flat_add(const struct address *at, uint64_t *words, const struct bloom_source *source,
                     size_t count)
{
    struct slices slices;
    struct tepal_digest digests[CHUNK];
    slices_of(at, &slices);
    for (size_t base = 0; base < count; base += CHUNK) {
        size_t here = count - base < CHUNK ? count - base : CHUNK;
        gather(source, base, here, digests);
        if (at->cells <= IN_CACHE_CELLS && !is_distinct(at)) {
            add_chunk(at, &slices, words, digests, here);
        } else {
            add_chunk_requested(at, &slices, words, digests, here);
        }
    }
}

const struct bloom_kernels tepal_bloom_flat = {flat_add, flat_query};
