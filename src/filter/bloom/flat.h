/*
 * flat.h: the loops of the flat and partitioned layouts, where every probe is a cache line of
 * its own. Plain C, included by two files that compile it for the baseline and for AVX2 machines,
 * whose newer multiplications and shifts save a fifth of the time.
 *
 * Whether a bit is set is a coin toss: nothing branches on one, and an absent key costs about two
 * probes.
 *
 * Queries in the cache run in waves over a chunk: the first two probes of all keys, then the third
 * of those that survived, and so on. When nearly all keys of a chunk (7 of 8) turn out to be
 * present, waves only sort what need not be sorted: the next chunk is asked key by key.
 *
 * Queries beyond the cache run through stages, a group of 64 keys at each: in a turn the keys that
 * wait at stage i have their probe i tested, which was requested a turn ago, and the survivors
 * request probe i + 1 and move on, while a new group enters at the front. So some 128 lines are
 * under way all the time, however many keys drop out.
 *
 * Additions beyond the cache go probe by probe over 64 keys: position i + 1 of a key is computed
 * and requested when its position i is set.
 */
#include <string.h>

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
    return flat ? tepal_place_scale(word, slices->cells)
                : slices->start[i] + tepal_place_scale(word, slices->size[i]);
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
        memcpy(digests, source->digests + first, count * sizeof *digests);
        break;
    case BLOOM_INTEGERS:
        for (size_t i = 0; i < count; i += BLOOM_GROUP) {
            tepal_filter_request_keys(source, first + i);
        }
        for (size_t i = 0; i < count; i++) {
            digests[i] = bloom_digest(source, BLOOM_INTEGERS, first, count, i, digests);
        }
        break;
    case BLOOM_STRINGS:
        for (size_t i = 0; i < count; i += BLOOM_FEW) {
            size_t few = count - i < BLOOM_FEW ? count - i : BLOOM_FEW;
            tepal_filter_hash_strings(source, first + i, few, digests + i);
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

static void in_waves(const struct address *at, const struct slices *slices, const uint64_t *words,
                     struct chunk *chunk)
{
    uint32_t i = 0;
    if (at->hashes >= 2) {
        two_probes(slices, words, chunk);
        i = 2;
    }
    for (; i < at->hashes && chunk->count > 0; i++) {
        one_probe(slices, words, chunk, i);
    }
}

/* ---- queries beyond the cache, in stages ----------------------------------------------------- */

/* Keys that survive so many probes, which few do unless they are present, are asked the rest. */
#define STAGES 16
#define GROUP  BLOOM_GROUP

/* The keys under way. Those at one stage are of one group, which entered a turn later than those
 * at the stage behind it. */
struct stages {
    struct tepal_digest digest[STAGES][GROUP]; /* by group, modulo STAGES */
    uint64_t position[STAGES][GROUP];          /* requested, by stage */
    uint8_t key[STAGES][GROUP + 1];            /* which of the group; one to spare, as above */
    size_t count[STAGES];
};

/* The probe of stage i: those that hit are written to `out`. Returns how many. */
ALWAYS_INLINE size_t stage_test(const struct stages *stages, const uint64_t *words, uint32_t i,
                                uint8_t *out)
{
    size_t kept = 0;
    for (size_t j = 0; j < stages->count[i]; j++) {
        out[kept] = stages->key[i][j];
        kept += bits_test(words, stages->position[i][j]);
    }
    return kept;
}

/* The keys that have come to stage i request their probes there. */
ALWAYS_INLINE void stage_request(struct stages *stages, const struct slices *slices, bool flat,
                                 const uint64_t *words, const struct tepal_digest *digests,
                                 uint32_t i)
{
    const uint64_t step = i * ADDRESS_GOLDEN;
    for (size_t j = 0; j < stages->count[i]; j++) {
        struct tepal_digest d = digests[stages->key[i][j]];
        uint64_t word = i == 0 ? d.hi : i == 1 ? d.lo : address_more(d, step);
        stages->position[i][j] = position(slices, flat, i, word);
        bits_prefetch(words, stages->position[i][j]);
    }
}

/* The answers of a group, of which these keys have passed the last stage. */
static uint64_t stage_answers(const struct address *at, const struct slices *slices,
                              const uint64_t *words, const struct tepal_digest *digests,
                              const uint8_t *keys, size_t count)
{
    uint64_t answers = 0;
    for (size_t j = 0; j < count; j++) {
        uint64_t yes = 1;
        for (uint32_t i = STAGES; i < at->hashes && yes != 0; i++) {
            uint64_t word = address_word(digests[keys[j]], i);
            yes = bits_test(words, position(slices, slices->flat, i, word));
        }
        answers |= yes << keys[j];
    }
    return answers;
}

ALWAYS_INLINE size_t in_stages(const struct address *at, const struct slices *slices, bool flat,
                               const uint64_t *words, const struct bloom_source *source,
                               size_t count, uint64_t *answers)
{
    struct stages stages;
    const size_t depth = at->hashes < STAGES ? at->hashes : STAGES;
    const size_t groups = (count + GROUP - 1) / GROUP;
    size_t present = 0;
    for (size_t turn = 0; turn < groups + depth; turn++) {
        /* the last stage first: each makes room for the one before it */
        for (size_t i = turn < depth ? turn : depth; i-- > 0;) {
            size_t group = turn - 1 - i;
            if (group >= groups) {
                break; /* earlier stages have younger groups: there are none */
            }
            const struct tepal_digest *digests = stages.digest[group % STAGES];
            uint8_t last[GROUP + 1];
            uint8_t *out = i + 1 == depth ? last : stages.key[i + 1];
            size_t kept = stage_test(&stages, words, (uint32_t)i, out);
            if (i + 1 == depth) {
                answers[group] = stage_answers(at, slices, words, digests, last, kept);
                present += bits_count_word(answers[group]);
                continue;
            }
            stages.count[i + 1] = kept;
            stage_request(&stages, slices, flat, words, digests, (uint32_t)i + 1);
        }
        if (turn < groups) {
            size_t here = count - turn * GROUP < GROUP ? count - turn * GROUP : GROUP;
            gather(source, turn * GROUP, here, stages.digest[turn % STAGES]);
            for (size_t j = 0; j < here; j++) {
                stages.key[0][j] = (uint8_t)j;
            }
            stages.count[0] = here;
            stage_request(&stages, slices, flat, words, stages.digest[turn % STAGES], 0);
        }
    }
    return present;
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
    if (at->cells > IN_CACHE_CELLS && !is_distinct(at)) {
        return slices.flat ? in_stages(at, &slices, true, words, source, count, answers)
                           : in_stages(at, &slices, false, words, source, count, answers);
    }
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

/* ---- a part of a larger filter --------------------------------------------------------------- */

/*
 * Waves as above: half of the bits are set, one or two of them settle most keys, and nobody knows
 * which. The digest in the part is made once for those that its first two words do not settle.
 */
ALWAYS_INLINE uint64_t part_test(const struct bloom_part *part, uint64_t cells, uint64_t word)
{
    return bits_test(part->words, part->start + tepal_place_scale(cells, word));
}

#define WAVE 1024 /* keys: their digests are on the stack */

static uint32_t wave_inside(const struct bloom_part *part, const struct tepal_digest *digests,
                            const uint16_t *keys, uint32_t count, uint16_t *stay)
{
    const struct bloom_part here = *part;
    const uint64_t cells = part->at->cells;
    const uint32_t hashes = part->at->hashes;
    uint64_t lo[WAVE];
    uint64_t hi[WAVE];
    uint32_t left = 0;
    for (uint32_t n = 0; n < count; n++) {
        uint16_t key = keys[n];
        uint64_t word = address_rehash(digests[key], here.number).hi;
        stay[left] = key;
        hi[left] = word;
        left += (uint32_t)part_test(&here, cells, word);
    }
    if (hashes == 1) {
        return left;
    }
    count = left;
    left = 0;
    for (uint32_t n = 0; n < count; n++) {
        uint16_t key = stay[n];
        uint64_t word = address_rehash(digests[key], here.number).lo;
        stay[left] = key;
        hi[left] = hi[n];
        lo[left] = word;
        left += (uint32_t)part_test(&here, cells, word);
    }
    for (uint32_t i = 2; i < hashes && left > 0; i++) {
        const uint64_t step = i * ADDRESS_GOLDEN;
        count = left;
        left = 0;
        for (uint32_t n = 0; n < count; n++) {
            struct tepal_digest d = {.lo = lo[n], .hi = hi[n]};
            stay[left] = stay[n];
            hi[left] = d.hi;
            lo[left] = d.lo;
            left += (uint32_t)part_test(&here, cells, address_more(d, step));
        }
    }
    return left;
}

static uint32_t flat_inside(const struct bloom_part *part, const struct tepal_digest *digests,
                            const uint16_t *keys, uint32_t count, uint16_t *stay)
{
    uint32_t found = 0;
    for (uint32_t first = 0; first < count; first += WAVE) {
        uint32_t here = count - first < WAVE ? count - first : WAVE;
        found += wave_inside(part, digests, keys + first, here, stay + found);
    }
    return found;
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
