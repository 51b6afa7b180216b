/*
 * tepal/inline.h: one key at a time, inlined into your own loop. Include it besides tepal/tepal.h
 * where single lookups of Bloom or fingerprint filters are what your program does most.
 *
 *     struct tepal_direct direct;
 *     if (tepal_direct_of(filter, &direct) != TEPAL_OK)
 *         return 1;
 *     for (...)
 *         if (tepal_direct_query_u64(&direct, key))
 *             ...
 *
 * Strings are hashed first, by the filter's hasher (tepal_filter_hasher); the digest does for a
 * lookup and an addition:
 *
 *     struct tepal_digest d = tepal_hash_bytes(&hasher, url, len);
 *     if (!tepal_direct_query(&direct, d))
 *         tepal_direct_add(&direct, d);
 *
 * A struct tepal_direct is what a lookup needs of a filter, taken from the handle once: the cells,
 * their number, the seed's words. Bloom filters without a secret key are then queried and filled
 * without a call, on the flat, blocked and paired layouts (flat: colliding positions); retouched
 * ones, and fingerprint filters of 4 to 16 bits, an even number, are queried so (on little-endian
 * machines). Every other filter works too: its calls go to the handle. Answers
 * and cells are the same, bit for bit, with whatever options your program is compiled; with AVX2
 * or AVX-512 (-mavx2, -march=native) the lines of the blocked and paired layouts and the buckets of
 * fingerprints are tested by vectors, and with BMI2 positions take fewer instructions.
 *
 * In a loop, keep it in a local variable, whose fields the compiler can hold in registers. Where
 * direct.way is known, the functions of that layout spare the question at every key:
 *
 *     if (direct.way == TEPAL_DIRECT_BLOCKED)
 *         for (...)
 *             found += tepal_direct_blocked_query_u64(&direct, key);
 *
 * It stays valid until the filter is freed, or is given a budget (tepal_avoid_budget): take it
 * again then, or additions are not counted there. It belongs to the same thread rules as the
 * handle: queries may run concurrently, additions may not.
 */
#ifndef TEPAL_INLINE_H
#define TEPAL_INLINE_H

#include <string.h>

#include <tepal/filter.h>
#include <tepal/place.h>

#if defined(__AVX2__) && defined(__x86_64__) && !defined(TEPAL_DIRECT_PORTABLE)
#include <immintrin.h>
#define TEPAL_DIRECT_AVX2 1
#if defined(__AVX512F__) && defined(__AVX512VL__)
#define TEPAL_DIRECT_AVX512 1
/* AMD's: a product of 64 bits in a vector is one operation; gcc 12 calls all of them znver3. */
#if defined(__AVX512DQ__) && !defined(TEPAL_DIRECT_WIDE) &&                                        \
    (defined(__znver3__) || defined(__znver4__) || defined(__znver5__))
#define TEPAL_DIRECT_WIDE 1
#endif
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum tepal_direct_way {
    TEPAL_DIRECT_CALL, /* through the handle */
    TEPAL_DIRECT_FLAT,
    TEPAL_DIRECT_BLOCKED,     /* up to 8 hashes, ... */
    TEPAL_DIRECT_PAIRED,      /* ... up to 16: no more cells in a line than it has sectors */
    TEPAL_DIRECT_BLOCKED_TWO, /* more: a line has a second round of cells */
    TEPAL_DIRECT_PAIRED_TWO,
    TEPAL_DIRECT_FINGERPRINT /* whose buckets are whole bytes, eight at most */
};

/* What the keys of a filter have in common in their first lines, or in their second ones. */
struct tepal_direct_line {
    const uint64_t *subsets; /* the ways to choose the sectors ... */
    uint64_t ways;           /* ... and their number */
    bool two;                /* more cells than sectors: there is a second round, ... */
    const uint64_t *more_subsets;
    uint64_t more_ways; /* ... which chooses its sectors in these ways */
};

/* What the keys of a fingerprint filter have in common. */
struct tepal_direct_bucket {
    uint64_t lanes; /* the lowest bit of every slot of a bucket, ... */
    uint64_t highs; /* ... and the highest one */
    uint32_t bytes; /* of a bucket */
    uint32_t shift; /* of a digest's word: what is left is the fingerprint */
};

/* Its fields are set by tepal_direct_of only. */
struct tepal_direct {
    enum tepal_direct_way way;
    uint32_t hashes;
    bool distinct;
    uint64_t *words;
    uint64_t range; /* flat: cells; blocked and paired: lines; fingerprint: buckets */
    struct tepal_direct_line line[2];
    struct tepal_direct_bucket bucket;
    uint64_t integer[2];  /* the seed's words for integers, ... */
    uint64_t factors[3];  /* ... and what all seeds share: from here, an operand each */
    uint64_t *keys_added; /* NULL: additions go to the handle */
    struct tepal_filter *filter;
};

/* The digest of an integer, unless direct->way is TEPAL_DIRECT_CALL. */
static inline struct tepal_digest tepal_direct_digest(const struct tepal_direct *direct,
                                                      uint64_t key)
{
    return tepal_place_mix(key, direct->integer[0], direct->integer[1], direct->factors);
}

/*
 * Eight bytes that number a key's cells in a line, or that they are made of. With AVX-512 they are
 * needed in a vector, and stay there.
 */
#if defined(TEPAL_DIRECT_AVX512)

typedef __m128i tepal_direct_eight;

static inline __m128i tepal_direct_eight_of(uint64_t word)
{
    return _mm_cvtsi64_si128((long long)word);
}

static inline uint64_t tepal_direct_word_of(__m128i eight)
{
    return (uint64_t)_mm_cvtsi128_si64(eight);
}

#else

typedef uint64_t tepal_direct_eight;

static inline uint64_t tepal_direct_eight_of(uint64_t word)
{
    return word;
}

static inline uint64_t tepal_direct_word_of(uint64_t eight)
{
    return eight;
}

#endif

/* A digest: its upper half numbers lines and buckets, its lower one cells. */
struct tepal_direct_halves {
    uint64_t hi;
    tepal_direct_eight lo;
};

static inline struct tepal_direct_halves tepal_direct_halves_of(struct tepal_digest d)
{
    struct tepal_direct_halves halves;
    halves.hi = d.hi;
    halves.lo = tepal_direct_eight_of(d.lo);
    return halves;
}

static inline struct tepal_digest tepal_direct_digest_of(struct tepal_direct_halves halves)
{
    struct tepal_digest d;
    d.lo = tepal_direct_word_of(halves.lo);
    d.hi = halves.hi;
    return d;
}

/*
 * On AMD's processors with AVX-512 an integer is hashed in a vector register, which takes fewer
 * instructions: additions begin there, lookups leave the first product to the other registers, so
 * that both sorts of units have as much to do. Lookups of flat and paired filters do neither: the
 * hash takes longer until it is done, which their branches would wait for.
 */
#if defined(TEPAL_DIRECT_WIDE)

/* What is left after the first product. */
static inline struct tepal_direct_halves tepal_direct_hash_on(const struct tepal_direct *direct,
                                                              __m128i x)
{
    enum { all_xor = 0x96 };
    const __m128i b = _mm_set1_epi64x((long long)direct->integer[1]);
    struct tepal_direct_halves halves;
    x = _mm_ternarylogic_epi64(x, _mm_srli_epi64(x, 27), b, all_xor);
    x = _mm_mullo_epi64(x, _mm_set1_epi64x((long long)direct->factors[1]));
    x = _mm_xor_si128(x, _mm_srli_epi64(x, 31));
    halves.hi = (uint64_t)_mm_cvtsi128_si64(x);
    halves.lo = _mm_mullo_epi64(x, _mm_set1_epi64x((long long)direct->factors[2]));
    return halves;
}

static inline struct tepal_direct_halves tepal_direct_to_ask(const struct tepal_direct *direct,
                                                             uint64_t key)
{
    uint64_t x = key ^ direct->integer[0];
    x = (x ^ x >> 30) * direct->factors[0];
    return tepal_direct_hash_on(direct, _mm_cvtsi64_si128((long long)x));
}

static inline struct tepal_direct_halves tepal_direct_to_add(const struct tepal_direct *direct,
                                                             uint64_t key)
{
    const __m128i a = _mm_set1_epi64x((long long)direct->integer[0]);
    __m128i x = _mm_xor_si128(_mm_cvtsi64_si128((long long)key), a);
    x = _mm_xor_si128(x, _mm_srli_epi64(x, 30));
    x = _mm_mullo_epi64(x, _mm_set1_epi64x((long long)direct->factors[0]));
    return tepal_direct_hash_on(direct, x);
}

#else

static inline struct tepal_direct_halves tepal_direct_to_ask(const struct tepal_direct *direct,
                                                             uint64_t key)
{
    return tepal_direct_halves_of(tepal_direct_digest(direct, key));
}

static inline struct tepal_direct_halves tepal_direct_to_add(const struct tepal_direct *direct,
                                                             uint64_t key)
{
    return tepal_direct_to_ask(direct, key);
}

#endif

/* Word i >= 2 of a digest. */
static inline uint64_t tepal_direct_word(struct tepal_digest d, uint64_t i)
{
    return tepal_place_more(d, i * TEPAL_PLACE_GOLDEN);
}

/* ---- flat ------------------------------------------------------------------------------------ */

/* Is the bit at this position set? */
static inline uint64_t tepal_direct_test(const uint64_t *words, uint64_t at)
{
    return words[at >> 6] >> (at & 63) & 1;
}

/* Set the bit that a word of the digest leads to. */
static inline void tepal_direct_mark(uint64_t *words, uint64_t range, uint64_t word)
{
    uint64_t at = tepal_place_scale(word, range);
    words[at >> 6] |= (uint64_t)1 << (at & 63);
}

/*
 * Whether a bit is set is a coin toss, and a wrong guess of the processor costs more than a probe.
 * So probes are asked by twos: the first two, whose words are the digest itself, refuse three of
 * four absent keys. The others are out of line, so that these have the registers.
 */
static __attribute__((noinline, unused)) bool tepal_direct_flat_rest(const uint64_t *words,
                                                                     uint64_t range,
                                                                     uint32_t hashes,
                                                                     struct tepal_digest d)
{
    uint64_t step = 2 * TEPAL_PLACE_GOLDEN;
    uint32_t i;
    for (i = 2; i + 1 < hashes; i += 2) {
        uint64_t one = tepal_place_scale(tepal_place_more(d, step), range);
        uint64_t other = tepal_place_scale(tepal_place_more(d, step + TEPAL_PLACE_GOLDEN), range);
        if ((tepal_direct_test(words, one) & tepal_direct_test(words, other)) == 0) {
            return false;
        }
        step += 2 * TEPAL_PLACE_GOLDEN;
    }
    return i == hashes ||
           tepal_direct_test(words, tepal_place_scale(tepal_place_more(d, step), range)) != 0;
}

static inline bool tepal_direct_flat_query(const struct tepal_direct *f, struct tepal_digest d)
{
    const uint32_t hashes = f->hashes;
    uint64_t both = tepal_direct_test(f->words, tepal_place_scale(f->range, d.hi));
    if (hashes > 1) {
        both &= tepal_direct_test(f->words, tepal_place_scale(f->range, d.lo));
    }
    return both != 0 && (hashes <= 2 || tepal_direct_flat_rest(f->words, f->range, hashes, d));
}

/* The usual numbers of hashes without a loop: fewer instructions, more lines under way. */
static inline void tepal_direct_flat_set(const struct tepal_direct *f, struct tepal_digest d)
{
    uint64_t *const words = f->words;
    const uint64_t range = f->range;
    const uint32_t hashes = f->hashes;
    uint64_t step = 8 * TEPAL_PLACE_GOLDEN;
    uint32_t i;
    tepal_direct_mark(words, range, d.hi);
    if (hashes > 1) {
        tepal_direct_mark(words, range, d.lo);
    }
    if (hashes > 2) {
        tepal_direct_mark(words, range, tepal_direct_word(d, 2));
    }
    if (hashes > 3) {
        tepal_direct_mark(words, range, tepal_direct_word(d, 3));
    }
    if (hashes > 4) {
        tepal_direct_mark(words, range, tepal_direct_word(d, 4));
    }
    if (hashes > 5) {
        tepal_direct_mark(words, range, tepal_direct_word(d, 5));
    }
    if (hashes > 6) {
        tepal_direct_mark(words, range, tepal_direct_word(d, 6));
    }
    if (hashes > 7) {
        tepal_direct_mark(words, range, tepal_direct_word(d, 7));
    }
    for (i = 8; i < hashes; i++) {
        tepal_direct_mark(words, range, tepal_place_more(d, step));
        step += TEPAL_PLACE_GOLDEN;
    }
}

static inline bool tepal_direct_flat_query_u64(const struct tepal_direct *f, uint64_t key)
{
    return tepal_direct_flat_query(f, tepal_direct_digest(f, key));
}

static inline void tepal_direct_flat_set_u64(const struct tepal_direct *f, uint64_t key)
{
    tepal_direct_flat_set(f, tepal_direct_digest_of(tepal_direct_to_add(f, key)));
}

/* ---- lines ----------------------------------------------------------------------------------- */

#define TEPAL_DIRECT_LOW (63 * TEPAL_PLACE_BYTES)

/*
 * The numbers of a key's cells in a line are a byte for each sector: of `drawn` its low six bits,
 * and 64 from `sectors` where a sector is not chosen. Its bits are 1 shifted by those bytes, and
 * nothing where that is 64 or more.
 */
#if defined(TEPAL_DIRECT_AVX512)

static inline __m128i tepal_direct_numbers_of(__m128i drawn, uint64_t sectors)
{
    enum { and_or = 0xea }; /* (first & second) | third; a constant, or clang refuses it */
    return _mm_ternarylogic_epi64(drawn, _mm_set1_epi64x((long long)TEPAL_DIRECT_LOW),
                                  _mm_set1_epi64x((long long)sectors), and_or);
}

static inline __m512i tepal_direct_mask_of(__m128i cells)
{
    return _mm512_sllv_epi64(_mm512_set1_epi64(1), _mm512_cvtepu8_epi64(cells));
}

static inline bool tepal_direct_holds(const uint64_t *line, __m128i cells)
{
    __m512i mask = tepal_direct_mask_of(cells);
    __m512i both = _mm512_and_si512(mask, _mm512_load_si512(line));
    return _mm512_cmpneq_epi64_mask(both, mask) == 0;
}

static inline void tepal_direct_set(uint64_t *line, __m128i cells)
{
    __m512i mask = tepal_direct_mask_of(cells);
    _mm512_store_si512(line, _mm512_or_si512(mask, _mm512_load_si512(line)));
}

#else

static inline uint64_t tepal_direct_numbers_of(uint64_t drawn, uint64_t sectors)
{
    return (drawn & TEPAL_DIRECT_LOW) | sectors;
}

#if defined(TEPAL_DIRECT_AVX2)

struct tepal_direct_mask {
    __m256i low;  /* sectors 0 to 3 */
    __m256i high; /* sectors 4 to 7 */
};

/* All eight bytes go to both halves of a vector; shuffles bring each to a lane of its own. */
static inline struct tepal_direct_mask tepal_direct_mask_of(uint64_t cells)
{
    const __m256i one = _mm256_set1_epi64x(1);
    const __m256i first = _mm256_setr_epi64x(-256, -255, -254, -253);
    const __m256i last = _mm256_setr_epi64x(-252, -251, -250, -249);
    __m256i all = _mm256_set1_epi64x((long long)cells);
    struct tepal_direct_mask mask;
    mask.low = _mm256_sllv_epi64(one, _mm256_shuffle_epi8(all, first));
    mask.high = _mm256_sllv_epi64(one, _mm256_shuffle_epi8(all, last));
    return mask;
}

static inline bool tepal_direct_holds(const uint64_t *line, uint64_t cells)
{
    const __m256i *at = (const __m256i *)(const void *)line;
    struct tepal_direct_mask mask = tepal_direct_mask_of(cells);
    __m256i missing = _mm256_or_si256(_mm256_andnot_si256(_mm256_load_si256(at), mask.low),
                                      _mm256_andnot_si256(_mm256_load_si256(at + 1), mask.high));
    return _mm256_testz_si256(missing, missing) != 0;
}

static inline void tepal_direct_set(uint64_t *line, uint64_t cells)
{
    __m256i *at = (__m256i *)(void *)line;
    struct tepal_direct_mask mask = tepal_direct_mask_of(cells);
    _mm256_store_si256(at, _mm256_or_si256(_mm256_load_si256(at), mask.low));
    _mm256_store_si256(at + 1, _mm256_or_si256(_mm256_load_si256(at + 1), mask.high));
}

#else

static inline uint64_t tepal_direct_bit(uint64_t cells, int sector)
{
    uint64_t cell = cells >> (8 * sector);
    return (~cell >> 6 & 1) << (cell & 63);
}

static inline bool tepal_direct_holds(const uint64_t *line, uint64_t cells)
{
    uint64_t missing = 0;
    int s;
    for (s = 0; s < TEPAL_PLACE_SECTORS; s++) {
        missing |= tepal_direct_bit(cells, s) & ~line[s];
    }
    return missing == 0;
}

static inline void tepal_direct_set(uint64_t *line, uint64_t cells)
{
    int s;
    for (s = 0; s < TEPAL_PLACE_SECTORS; s++) {
        line[s] |= tepal_direct_bit(cells, s);
    }
}

#endif
#endif

/* A key in one of its lines. */
struct tepal_direct_key {
    uint64_t line; /* its number */
    uint64_t line_word;
    tepal_direct_eight cell_word;
    uint64_t more; /* which word of the digest a second round takes */
};

static inline struct tepal_direct_key tepal_direct_blocked_key(uint64_t lines,
                                                               struct tepal_direct_halves d)
{
    struct tepal_direct_key key;
    key.line = tepal_place_scale(lines, d.hi);
    key.line_word = d.hi;
    key.cell_word = d.lo;
    key.more = 2;
    return key;
}

static inline struct tepal_direct_key tepal_direct_first_key(uint64_t lines,
                                                             struct tepal_direct_halves d)
{
    struct tepal_direct_key key = tepal_direct_blocked_key(lines, d);
    key.more = 4;
    return key;
}

static inline struct tepal_direct_key tepal_direct_second_key(uint64_t lines, bool distinct,
                                                              struct tepal_digest d, uint64_t first)
{
    struct tepal_direct_key key;
    key.line_word = tepal_direct_word(d, 2);
    key.cell_word = tepal_direct_eight_of(tepal_direct_word(d, 3));
    key.line = tepal_place_second_line(lines, distinct, key.line_word, first);
    key.more = 5;
    return key;
}

/* The cells of the only round; or of the first of two, one in every sector. */
static inline tepal_direct_eight tepal_direct_cells(const struct tepal_direct_line *rule,
                                                    struct tepal_direct_key key)
{
    return tepal_direct_numbers_of(key.cell_word,
                                   tepal_place_sectors(rule->subsets, rule->ways, key.line_word));
}

/* The cells of the second round. */
static inline tepal_direct_eight tepal_direct_more(const struct tepal_direct_line *rule,
                                                   bool distinct, struct tepal_digest d,
                                                   struct tepal_direct_key key)
{
    uint64_t first = tepal_direct_word_of(key.cell_word) & TEPAL_DIRECT_LOW;
    uint64_t draw = tepal_direct_word(d, key.more) & TEPAL_DIRECT_LOW;
    return tepal_direct_numbers_of(
        tepal_direct_eight_of(distinct ? tepal_place_other(first, draw, TEPAL_DIRECT_LOW) : draw),
        tepal_place_sectors(rule->more_subsets, rule->more_ways, key.line_word));
}

static inline uint64_t *tepal_direct_at(const struct tepal_direct *f, struct tepal_direct_key key)
{
    return f->words + key.line * TEPAL_PLACE_SECTORS;
}

/* One round. Nothing branches on whether the key is there. */
static inline bool tepal_direct_blocked_ask(const struct tepal_direct *f,
                                            struct tepal_direct_halves d)
{
    struct tepal_direct_key key = tepal_direct_blocked_key(f->range, d);
    return tepal_direct_holds(tepal_direct_at(f, key), tepal_direct_cells(&f->line[0], key));
}

static inline void tepal_direct_blocked_put(const struct tepal_direct *f,
                                            struct tepal_direct_halves d)
{
    struct tepal_direct_key key = tepal_direct_blocked_key(f->range, d);
    tepal_direct_set(tepal_direct_at(f, key), tepal_direct_cells(&f->line[0], key));
}

static inline void tepal_direct_paired_put(const struct tepal_direct *f,
                                           struct tepal_direct_halves d)
{
    struct tepal_direct_key key = tepal_direct_first_key(f->range, d);
    struct tepal_direct_key other =
        tepal_direct_second_key(f->range, f->distinct, tepal_direct_digest_of(d), key.line);
    uint64_t *lines[2] = {tepal_direct_at(f, key), tepal_direct_at(f, other)};
    /* Before anything is written. */
    tepal_direct_eight cells = tepal_direct_cells(&f->line[1], other);
    tepal_direct_set(lines[0], tepal_direct_cells(&f->line[0], key));
    tepal_direct_set(lines[1], cells);
}

/* The same of digests and of integers. */
static inline bool tepal_direct_blocked_query(const struct tepal_direct *f, struct tepal_digest d)
{
    return tepal_direct_blocked_ask(f, tepal_direct_halves_of(d));
}

static inline bool tepal_direct_blocked_query_u64(const struct tepal_direct *f, uint64_t key)
{
    return tepal_direct_blocked_ask(f, tepal_direct_to_ask(f, key));
}

static inline void tepal_direct_blocked_set(const struct tepal_direct *f, struct tepal_digest d)
{
    tepal_direct_blocked_put(f, tepal_direct_halves_of(d));
}

static inline void tepal_direct_blocked_set_u64(const struct tepal_direct *f, uint64_t key)
{
    tepal_direct_blocked_put(f, tepal_direct_to_add(f, key));
}

/* Of absent keys, few pass the first line: the second waits for that. */
static inline bool tepal_direct_paired_query(const struct tepal_direct *f, struct tepal_digest d)
{
    struct tepal_direct_key key = tepal_direct_first_key(f->range, tepal_direct_halves_of(d));
    if (!tepal_direct_holds(tepal_direct_at(f, key), tepal_direct_cells(&f->line[0], key))) {
        return false;
    }
    key = tepal_direct_second_key(f->range, f->distinct, d, key.line);
    return tepal_direct_holds(tepal_direct_at(f, key), tepal_direct_cells(&f->line[1], key));
}

static inline bool tepal_direct_paired_query_u64(const struct tepal_direct *f, uint64_t key)
{
    return tepal_direct_paired_query(f, tepal_direct_digest(f, key));
}

static inline void tepal_direct_paired_set(const struct tepal_direct *f, struct tepal_digest d)
{
    tepal_direct_paired_put(f, tepal_direct_halves_of(d));
}

static inline void tepal_direct_paired_set_u64(const struct tepal_direct *f, uint64_t key)
{
    tepal_direct_paired_put(f, tepal_direct_to_add(f, key));
}

/* A line with a second round, which is asked of keys that pass the first. */
static inline bool tepal_direct_two_query(const struct tepal_direct *f, int which,
                                          struct tepal_digest d, struct tepal_direct_key key)
{
    const struct tepal_direct_line *rule = &f->line[which];
    const uint64_t *line = tepal_direct_at(f, key);
    return tepal_direct_holds(line, tepal_direct_cells(rule, key)) &&
           (!rule->two || tepal_direct_holds(line, tepal_direct_more(rule, f->distinct, d, key)));
}

static inline void tepal_direct_two_set(const struct tepal_direct *f, int which,
                                        struct tepal_digest d, struct tepal_direct_key key)
{
    const struct tepal_direct_line *rule = &f->line[which];
    uint64_t *line = tepal_direct_at(f, key);
    tepal_direct_set(line, tepal_direct_cells(rule, key));
    if (rule->two) { /* of 17 paired cells, the second line has but one round */
        tepal_direct_set(line, tepal_direct_more(rule, f->distinct, d, key));
    }
}

static inline bool tepal_direct_blocked_two_query(const struct tepal_direct *f,
                                                  struct tepal_digest d)
{
    return tepal_direct_two_query(f, 0, d,
                                  tepal_direct_blocked_key(f->range, tepal_direct_halves_of(d)));
}

static inline void tepal_direct_blocked_two_set(const struct tepal_direct *f, struct tepal_digest d)
{
    tepal_direct_two_set(f, 0, d, tepal_direct_blocked_key(f->range, tepal_direct_halves_of(d)));
}

static inline bool tepal_direct_paired_two_query(const struct tepal_direct *f,
                                                 struct tepal_digest d)
{
    struct tepal_direct_key key = tepal_direct_first_key(f->range, tepal_direct_halves_of(d));
    return tepal_direct_two_query(f, 0, d, key) &&
           tepal_direct_two_query(f, 1, d,
                                  tepal_direct_second_key(f->range, f->distinct, d, key.line));
}

static inline void tepal_direct_paired_two_set(const struct tepal_direct *f, struct tepal_digest d)
{
    struct tepal_direct_key key = tepal_direct_first_key(f->range, tepal_direct_halves_of(d));
    tepal_direct_two_set(f, 0, d, key);
    tepal_direct_two_set(f, 1, d, tepal_direct_second_key(f->range, f->distinct, d, key.line));
}

/* ---- fingerprints ---------------------------------------------------------------------------- */

/*
 * Both buckets are read whatever the first one says: a guess would be wrong too often. Four slots
 * are compared by one subtraction: it borrows from a slot's highest bit where a slot is equal.
 */
#if defined(TEPAL_DIRECT_AVX2)

/* The fingerprint; 0 is none, and becomes 1 (tepal_place_print). */
static inline __m128i tepal_direct_print(const struct tepal_direct *f, __m128i lo)
{
    __m128i print = _mm_srl_epi64(lo, _mm_cvtsi32_si128((int)f->bucket.shift));
#if defined(TEPAL_DIRECT_AVX512)
    return _mm_max_epu64(print, _mm_set1_epi64x(1));
#else
    return _mm_sub_epi64(print, _mm_cmpeq_epi64(print, _mm_setzero_si128()));
#endif
}

/* The fingerprint in every slot, for both buckets. */
static inline __m128i tepal_direct_slots(__m128i print, __m128i lanes)
{
#if defined(TEPAL_DIRECT_WIDE)
    return _mm_broadcastq_epi64(_mm_mullo_epi64(print, lanes));
#else
    __m128i high = _mm_mul_epu32(print, _mm_srli_epi64(lanes, 32));
    return _mm_broadcastq_epi64(
        _mm_or_si128(_mm_mul_epu32(print, lanes), _mm_slli_epi64(high, 32)));
#endif
}

/* The number that a fingerprint's buckets add up to (tepal_place_other_bucket). */
static inline uint64_t tepal_direct_bucket_sum(uint64_t buckets, __m128i print)
{
    __m128i x = _mm_mul_epu32(print, _mm_set1_epi64x(TEPAL_PLACE_MIX1));
    x = _mm_mul_epu32(_mm_xor_si128(x, _mm_srli_epi64(x, 16)), _mm_set1_epi64x(TEPAL_PLACE_MIX2));
    x = _mm_mul_epu32(_mm_xor_si128(x, _mm_srli_epi64(x, 32)),
                      _mm_srli_epi64(_mm_cvtsi64_si128((long long)buckets), 1));
    return (uint64_t)_mm_cvtsi128_si64(x) >> 32 << 1 | 1;
}

/*
 * What can be is done in vectors, with one bucket in each half: the hash and the addresses keep the
 * other registers' units busy.
 */
static inline bool tepal_direct_fingerprint_ask(const struct tepal_direct *f,
                                                struct tepal_direct_halves d)
{
    const char *bytes = (const char *)f->words;
    const __m128i lanes = _mm_set1_epi64x((long long)f->bucket.lanes);
    const __m128i highs = _mm_set1_epi64x((long long)f->bucket.highs);
#if defined(TEPAL_DIRECT_AVX512)
    __m128i print = tepal_direct_print(f, d.lo);
#else
    __m128i print = tepal_direct_print(f, _mm_cvtsi64_si128((long long)d.lo));
#endif
    uint64_t bucket = tepal_place_scale(f->range, d.hi);
    uint64_t sum = tepal_direct_bucket_sum(f->range, print);
    uint64_t other = sum - bucket + (sum < bucket ? f->range : 0);
    uint64_t x;
    uint64_t y;
    __m128i both;
    memcpy(&x, bytes + bucket * f->bucket.bytes, sizeof x);
    memcpy(&y, bytes + other * f->bucket.bytes, sizeof y);
    both = _mm_insert_epi64(_mm_cvtsi64_si128((long long)x), (long long)y, 1);
    both = _mm_xor_si128(both, tepal_direct_slots(print, lanes));
    return _mm_testz_si128(_mm_andnot_si128(both, _mm_sub_epi64(both, lanes)), highs) == 0;
}

#else

static inline bool tepal_direct_fingerprint_ask(const struct tepal_direct *f,
                                                struct tepal_direct_halves d)
{
    const char *bytes = (const char *)f->words;
    const uint64_t lanes = f->bucket.lanes;
    uint64_t print = tepal_place_print(d.lo, f->bucket.shift);
    uint64_t bucket = tepal_place_scale(f->range, d.hi);
    uint64_t other = tepal_place_other_bucket(f->range, bucket, print);
    uint64_t x;
    uint64_t y;
    memcpy(&x, bytes + bucket * f->bucket.bytes, sizeof x);
    memcpy(&y, bytes + other * f->bucket.bytes, sizeof y);
    x ^= print * lanes;
    y ^= print * lanes;
    return ((((x - lanes) & ~x) | ((y - lanes) & ~y)) & f->bucket.highs) != 0;
}

#endif

static inline bool tepal_direct_fingerprint_query(const struct tepal_direct *f,
                                                  struct tepal_digest d)
{
    return tepal_direct_fingerprint_ask(f, tepal_direct_halves_of(d));
}

static inline bool tepal_direct_fingerprint_query_u64(const struct tepal_direct *f, uint64_t key)
{
    return tepal_direct_fingerprint_ask(f, tepal_direct_to_ask(f, key));
}

/* ---- any filter ------------------------------------------------------------------------------ */

/* One key more; the number stays at its largest value. */
static inline void tepal_direct_count(const struct tepal_direct *f)
{
    if (__builtin_expect(__builtin_add_overflow(*f->keys_added, 1, f->keys_added), 0)) {
        *f->keys_added = UINT64_MAX;
    }
}

/* As tepal_filter_query. */
static inline bool tepal_direct_query(const struct tepal_direct *f, struct tepal_digest d)
{
    switch (f->way) {
    case TEPAL_DIRECT_BLOCKED:
        return tepal_direct_blocked_query(f, d);
    case TEPAL_DIRECT_PAIRED:
        return tepal_direct_paired_query(f, d);
    case TEPAL_DIRECT_FLAT:
        return tepal_direct_flat_query(f, d);
    case TEPAL_DIRECT_BLOCKED_TWO:
        return tepal_direct_blocked_two_query(f, d);
    case TEPAL_DIRECT_PAIRED_TWO:
        return tepal_direct_paired_two_query(f, d);
    case TEPAL_DIRECT_FINGERPRINT:
        return tepal_direct_fingerprint_query(f, d);
    case TEPAL_DIRECT_CALL:
        break;
    }
    return tepal_filter_query(f->filter, d);
}

/* As tepal_filter_query_u64. */
static inline bool tepal_direct_query_u64(const struct tepal_direct *f, uint64_t key)
{
    switch (f->way) {
    case TEPAL_DIRECT_BLOCKED:
        return tepal_direct_blocked_query_u64(f, key);
    case TEPAL_DIRECT_PAIRED:
        return tepal_direct_paired_query_u64(f, key);
    case TEPAL_DIRECT_FINGERPRINT:
        return tepal_direct_fingerprint_query_u64(f, key);
    case TEPAL_DIRECT_CALL:
        return tepal_filter_query_u64(f->filter, key);
    default:
        return tepal_direct_query(f, tepal_direct_digest(f, key));
    }
}

static inline enum tepal_status tepal_direct_put(const struct tepal_direct *f,
                                                 struct tepal_direct_halves d)
{
    switch (f->way) {
    case TEPAL_DIRECT_BLOCKED:
        tepal_direct_blocked_put(f, d);
        break;
    case TEPAL_DIRECT_PAIRED:
        tepal_direct_paired_put(f, d);
        break;
    case TEPAL_DIRECT_BLOCKED_TWO:
        tepal_direct_blocked_two_set(f, tepal_direct_digest_of(d));
        break;
    case TEPAL_DIRECT_PAIRED_TWO:
        tepal_direct_paired_two_set(f, tepal_direct_digest_of(d));
        break;
    case TEPAL_DIRECT_FLAT:
    case TEPAL_DIRECT_FINGERPRINT: /* whose additions go to the handle, as ... */
    case TEPAL_DIRECT_CALL:
        tepal_direct_flat_set(f, tepal_direct_digest_of(d));
        break;
    }
    tepal_direct_count(f);
    return TEPAL_OK;
}

/* As tepal_filter_add. */
static inline enum tepal_status tepal_direct_add(const struct tepal_direct *f,
                                                 struct tepal_digest d)
{
    return f->keys_added == NULL ? tepal_filter_add(f->filter, d)
                                 : tepal_direct_put(f, tepal_direct_halves_of(d));
}

/* As tepal_filter_add_u64. */
static inline enum tepal_status tepal_direct_add_u64(const struct tepal_direct *f, uint64_t key)
{
    return f->keys_added == NULL ? tepal_filter_add_u64(f->filter, key)
                                 : tepal_direct_put(f, tepal_direct_to_add(f, key));
}

/*
 * Take it from a filter. TEPAL_KEY_NEEDED if the filter is keyed and lacks its key; set the key
 * first.
 */
TEPAL_API enum tepal_status tepal_direct_of(struct tepal_filter *filter, struct tepal_direct *out);

#ifdef __cplusplus
}
#endif

#endif
