/*
 * flat.h: the loops of the flat and partitioned layouts, where every probe is a cache line of
 * its own. Plain C, included by two files that compile it for the baseline and for AVX2 machines,
 * whose newer multiplications and shifts save a fifth of the time.
 *
 * Queries run in waves: the first probe of all keys of a chunk, then the second of those that
 * survived, and so on; an absent key costs about two probes. In a filter larger than the cache, a
 * wave's lines are requested together before the first is looked at. Nothing branches on a bit, as
 * whether it is set is a coin toss, and no address depends on one until a whole wave has been
 * read: so the reads of many keys overlap. In the cache, where a read costs little, the first wave
 * takes two probes at once.
 *
 * When nearly all keys of a chunk (7 of 8) turn out to be present, waves only sort what need not be
 * sorted: the next chunk is asked key by key, all probes of each, requested some keys ahead.
 *
 * Additions beyond the cache go probe by probe over 64 keys: position i + 1 of a key is computed
 * and requested when its position i is set.
 */
#define CHUNK         512
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Probes that are requested ahead of their use, when positions are computed key by key. */
#define LINES_AHEAD 80
#define KEYS_AHEAD  64

/* Up to this size probes come from the cache and requesting them first only costs time. */
#define IN_CACHE_CELLS ((uint64_t)4 << 20)

/* Where probe i may fall: all cells (flat) or slice i (partitioned). */
struct slices {
    bool flat;
    uint64_t cells;
    uint64_t start[TEPAL_MAX_HASHES];
    uint64_t size[TEPAL_MAX_HASHES];
};

static void slices_of(const struct address *at, struct slices *slices)
{
    slices->flat = at->layout == TEPAL_LAYOUT_FLAT;
    slices->cells = at->cells;
    for (uint32_t i = 0; i < at->hashes && !slices->flat; i++) {
        slices->start[i] = address_slice_start(at->cells, at->hashes, i);
        slices->size[i] = address_slice_start(at->cells, at->hashes, i + 1) - slices->start[i];
    }
}

/* `flat` repeats slices->flat: a constant where loops are worth having twice. */
ALWAYS_INLINE uint64_t position(const struct slices *slices, bool flat, uint32_t i, uint64_t word)
{
    return flat ? wide_scale(word, slices->cells)
                : slices->start[i] + wide_scale(word, slices->size[i]);
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

/* ---- queries --------------------------------------------------------------------------------- */

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
        unsigned both = bits_test(words, position(slices, slices->flat, 0, d.hi));
        both &= bits_test(words, position(slices, slices->flat, 1, d.lo)); /* no branch between */
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
        hit[j] = bits_test(words, position(slices, slices->flat, i, word));
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
        positions[j] = position(slices, slices->flat, i, word);
        bits_prefetch(words, positions[j]);
    }
    for (size_t j = 0; j < chunk->count; j++) {
        hit[j] = bits_test(words, positions[j]);
    }
    compact(chunk, hit);
}

static void in_waves(const struct address *at, const struct slices *slices, const uint64_t *words,
                     struct chunk *chunk)
{
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

/* ---- all positions of a key, for additions and for keys that are there ----------------------- */

/*
 * What happens at each position of a key: set the bit, or keep *all only if it is set. In the cache
 * this is done as soon as the position is known; elsewhere the lines are requested first.
 */
ALWAYS_INLINE void visit(uint64_t *words, uint64_t position, bool setting, uint64_t *all)
{
    if (setting) {
        bits_set(words, position);
    } else {
        *all &= bits_test(words, position);
    }
}

ALWAYS_INLINE uint64_t visit_in_cache(const struct slices *slices, bool flat, uint32_t hashes,
                                      uint64_t *words, struct tepal_digest d, bool setting)
{
    uint64_t all = 1;
    visit(words, position(slices, flat, 0, d.hi), setting, &all);
    if (hashes > 1) {
        visit(words, position(slices, flat, 1, d.lo), setting, &all);
    }
    uint64_t step = 2 * ADDRESS_GOLDEN;
    for (uint32_t i = 2; i < hashes; i++) {
        visit(words, position(slices, flat, i, address_more(d, step)), setting, &all);
        step += ADDRESS_GOLDEN;
    }
    return all;
}

/* All positions of a key into `out`, their lines requested. */
ALWAYS_INLINE void request_all(const struct address *at, const struct slices *slices,
                               const uint64_t *words, struct tepal_digest d, uint64_t *out)
{
    const uint32_t hashes = at->hashes;
    if (is_distinct(at)) {
        (void)tepal_address_positions(at, d, out);
        for (uint32_t i = 0; i < hashes; i++) {
            bits_prefetch(words, out[i]);
        }
        return;
    }
    uint64_t step = 2 * ADDRESS_GOLDEN;
    for (uint32_t i = 0; i < hashes; i++) {
        uint64_t word = i == 0 ? d.hi : d.lo;
        if (i >= 2) {
            word = address_more(d, step);
            step += ADDRESS_GOLDEN;
        }
        out[i] = position(slices, slices->flat, i, word);
        bits_prefetch(words, out[i]);
    }
}

/* Visit all positions of `count` keys; hit[j] tells of key j when not setting. */
ALWAYS_INLINE void visit_all(const struct address *at, const struct slices *slices, uint64_t *words,
                             const struct tepal_digest *digests, size_t count, bool setting,
                             bool *hit)
{
    const uint32_t hashes = at->hashes;
    if (at->cells <= IN_CACHE_CELLS && !is_distinct(at)) {
        for (size_t j = 0; j < count; j++) {
            uint64_t all = slices->flat
                               ? visit_in_cache(slices, true, hashes, words, digests[j], setting)
                               : visit_in_cache(slices, false, hashes, words, digests[j], setting);
            if (!setting) {
                hit[j] = all != 0;
            }
        }
        return;
    }
    uint64_t window[KEYS_AHEAD][TEPAL_MAX_HASHES];
    const size_t ahead = LINES_AHEAD / hashes < KEYS_AHEAD ? LINES_AHEAD / hashes : KEYS_AHEAD;
    size_t asked = 0;
    for (size_t j = 0; j < count; j++) {
        for (; asked < count && asked < j + ahead; asked++) {
            request_all(at, slices, words, digests[asked], window[asked % KEYS_AHEAD]);
        }
        const uint64_t *positions = window[j % KEYS_AHEAD];
        uint64_t all = 1;
        for (uint32_t i = 0; i < hashes; i++) {
            visit(words, positions[i], setting, &all);
        }
        if (!setting) {
            hit[j] = all != 0;
        }
    }
}

/* ---- the kernels ----------------------------------------------------------------------------- */

static size_t flat_query(const struct address *at, const uint64_t *words,
                         const struct bloom_source *source, size_t count, uint64_t *answers)
{
    struct slices slices;
    struct chunk chunk;
    size_t present = 0;
    bool mostly_present = is_distinct(at); /* whose positions come all at once anyway */
    slices_of(at, &slices);
    for (size_t base = 0; base < count; base += CHUNK) {
        size_t here = count - base < CHUNK ? count - base : CHUNK;
        chunk.count = here;
        gather(source, base, here, chunk.digest);
        for (size_t j = 0; j < here; j++) {
            chunk.alive[j] = (uint16_t)j;
            if (j % 64 == 0) {
                answers[(base + j) / 64] = 0;
            }
        }
        if (mostly_present) {
            bool hit[CHUNK];
            /* not written: nothing is set */
            visit_all(at, &slices, (uint64_t *)(uintptr_t)words, chunk.digest, here, false, hit);
            compact(&chunk, hit);
        } else {
            in_waves(at, &slices, words, &chunk);
        }
        for (size_t j = 0; j < chunk.count; j++) {
            bits_set(answers, base + chunk.alive[j]);
        }
        present += chunk.count;
        mostly_present = is_distinct(at) || chunk.count > here - here / 8;
    }
    return present;
}

#define ADD_KEYS 64

/* Probe i of `count` keys, after the probe before it, of `waiting` keys, is set. */
ALWAYS_INLINE void add_round(const struct slices *slices, bool flat, uint64_t *words,
                             const struct tepal_digest *digests, size_t count, uint32_t i,
                             size_t waiting, uint64_t *positions)
{
    const uint64_t step = i * ADDRESS_GOLDEN;
    for (size_t j = 0; j < count; j++) {
        struct tepal_digest d = digests[j];
        uint64_t next = position(slices, flat, i,
                                 i == 0   ? d.hi
                                 : i == 1 ? d.lo
                                          : address_more(d, step));
        bits_prefetch(words, next);
        if (j < waiting) {
            bits_set(words, positions[j]);
        }
        positions[j] = next;
    }
    for (size_t j = count; j < waiting; j++) {
        bits_set(words, positions[j]);
    }
}

ALWAYS_INLINE void add_rounds(const struct address *at, const struct slices *slices, bool flat,
                              uint64_t *words, const struct bloom_source *source, size_t count)
{
    struct tepal_digest digests[ADD_KEYS];
    uint64_t positions[ADD_KEYS];
    size_t waiting = 0;
    for (size_t base = 0; base < count; base += ADD_KEYS) {
        size_t here = count - base < ADD_KEYS ? count - base : ADD_KEYS;
        gather(source, base, here, digests);
        for (uint32_t i = 0; i < at->hashes; i++) {
            if (here == ADD_KEYS && waiting == ADD_KEYS) { /* the usual case, of known length */
                add_round(slices, flat, words, digests, ADD_KEYS, i, ADD_KEYS, positions);
            } else {
                add_round(slices, flat, words, digests, here, i, waiting, positions);
            }
            waiting = here;
        }
    }
    for (size_t j = 0; j < waiting; j++) {
        bits_set(words, positions[j]);
    }
}

static void flat_add(const struct address *at, uint64_t *words, const struct bloom_source *source,
                     size_t count)
{
    struct slices slices;
    struct tepal_digest digests[CHUNK];
    slices_of(at, &slices);
    if (at->cells > IN_CACHE_CELLS && !is_distinct(at)) {
        if (slices.flat) {
            add_rounds(at, &slices, true, words, source, count);
        } else {
            add_rounds(at, &slices, false, words, source, count);
        }
        return;
    }
    for (size_t base = 0; base < count; base += CHUNK) {
        size_t here = count - base < CHUNK ? count - base : CHUNK;
        gather(source, base, here, digests);
        visit_all(at, &slices, words, digests, here, true, NULL);
    }
}
