/*
 * atomic.h: one key of a Bloom filter that several threads share; included by two files that
 * compile it in plain C and for AVX2 machines.
 *
 * Relaxed is enough: bits are only ever set, so that a reader who comes after (in the
 * happens-before order) finds them, and one who races may see any part of them, as if it had come
 * before. So it does not matter in which order the words of a line are read. With AVX2 four are
 * read by one instruction: processors read each aligned word of a vector at once, though the
 * language has no name for it, hence the assembly (and words one by one where a tool watches for
 * races).
 */
#define TEPAL_DIRECT_PORTABLE
#include <tepal/inline.h>

#include "filter/bloom/internal.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#if defined(__SANITIZE_THREAD__)
#define WORD_BY_WORD
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WORD_BY_WORD
#endif
#endif

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

#if defined(__AVX2__) && !defined(WORD_BY_WORD)

#include "filter/lines/line_avx2.h"

/* Four words of a line. */
static inline __m256i read_words(const uint64_t *words)
{
    __m256i four;
    __asm__("vmovdqa %1, %0" : "=x"(four) : "m"(*(const __m256i *)(const void *)words));
    return four;
}

/* Set what is missing in a line; a copy for all calls. Was nothing missing any more? */
static __attribute__((noinline)) bool set_words(uint64_t *line, __m256i low, __m256i high)
{
    uint64_t missing[ADDRESS_SECTORS];
    uint64_t still = 0;
    _mm256_storeu_si256((__m256i *)(void *)missing, low);
    _mm256_storeu_si256((__m256i *)(void *)(missing + 4), high);
    for (int s = 0; s < ADDRESS_SECTORS; s++) {
        still |= missing[s] != 0 ? set_bits(&line[s], missing[s]) : 0;
    }
    return still == 0;
}

/* Are the cells of a round all set? If `setting`, they are afterwards. */
ALWAYS_INLINE bool visit_cells(uint64_t *line, uint64_t cells, bool setting)
{
    struct line_mask mask = line_mask_of(cells);
    __m256i low = _mm256_andnot_si256(read_words(line), mask.low);
    __m256i high = _mm256_andnot_si256(read_words(line + 4), mask.high);
    __m256i any = _mm256_or_si256(low, high);
    bool all = _mm256_testz_si256(any, any);
    return all || (setting && set_words(line, low, high));
}

#else

/* Are the cells of a round all set? If `setting`, they are afterwards. */
static bool visit_cells(uint64_t *line, uint64_t cells, bool setting)
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

#endif

/* A key in one of its lines; `two` (a constant) if there may be a second round. */
ALWAYS_INLINE bool visit_line(const struct tepal_direct *f, bool two, int which,
                              struct tepal_digest d, struct tepal_direct_key key, bool setting)
{
    const struct tepal_direct_line *rule = &f->line[which];
    uint64_t *line = f->words + key.line * ADDRESS_SECTORS;
    bool all = visit_cells(line, tepal_direct_cells(rule, key), setting);
    if (two && rule->two && (setting || all)) {
        all &= visit_cells(line, tepal_direct_more(rule, f->distinct, d, key), setting);
    }
    return all;
}

ALWAYS_INLINE bool visit_paired(const struct tepal_direct *f, bool two, struct tepal_digest d,
                                bool setting)
{
    struct tepal_direct_key first = tepal_direct_first_key(f->range, tepal_direct_halves_of(d));
    bool all = visit_line(f, two, 0, d, first, setting);
    if (setting || all) {
        struct tepal_direct_key second =
            tepal_direct_second_key(f->range, f->distinct, d, first.line);
        all &= visit_line(f, two, 1, d, second, setting);
    }
    return all;
}

static inline bool visit_position(uint64_t *words, uint64_t position, bool setting)
{
    uint64_t *word = &words[position >> 6];
    uint64_t missing = missing_bits(word, (uint64_t)1 << (position & 63));
    return missing == 0 || (setting && set_bits(word, missing) == 0);
}

/* By positions: those of the flat layout, or what the addresses say. */
static inline bool visit_positions(const struct tepal_bloom *bloom, bool flat,
                                   struct tepal_digest d, bool setting)
{
    const struct tepal_direct *f = &bloom->direct;
    uint64_t positions[TEPAL_MAX_HASHES];
    bool all = true;
    if (!flat) {
        (void)tepal_address_positions(&bloom->at, d, positions);
    }
    for (uint32_t i = 0; i < f->hashes && (setting || all); i++) {
        uint64_t at = flat ? tepal_place_scale(address_word(d, i), f->range) : positions[i];
        all &= visit_position(f->words, at, setting);
    }
    return all;
}

/* Are the key's bits all set? If `setting`, they are afterwards. `way` is a constant. */
ALWAYS_INLINE bool visit(const struct tepal_bloom *bloom, enum tepal_direct_way way,
                         struct tepal_digest d, bool setting)
{
    const struct tepal_direct *f = &bloom->direct;
    bool two = way == TEPAL_DIRECT_BLOCKED_TWO || way == TEPAL_DIRECT_PAIRED_TWO;
    if (way == TEPAL_DIRECT_BLOCKED || way == TEPAL_DIRECT_BLOCKED_TWO) {
        return visit_line(f, two, 0, d,
                          tepal_direct_blocked_key(f->range, tepal_direct_halves_of(d)), setting);
    }
    if (way == TEPAL_DIRECT_PAIRED || way == TEPAL_DIRECT_PAIRED_TWO) {
        return visit_paired(f, two, d, setting);
    }
    return visit_positions(bloom, way == TEPAL_DIRECT_FLAT, d, setting);
}

#define ATOMIC(name, way)                                                                          \
    static bool name##_query(const struct tepal_bloom *bloom, struct tepal_digest d)               \
    {                                                                                              \
        return visit(bloom, way, d, false);                                                        \
    }                                                                                              \
    static bool name##_add(const struct tepal_bloom *bloom, struct tepal_digest d)                 \
    {                                                                                              \
        return visit(bloom, way, d, true);                                                         \
    }

ATOMIC(call, TEPAL_DIRECT_CALL)
ATOMIC(flat, TEPAL_DIRECT_FLAT)
ATOMIC(blocked, TEPAL_DIRECT_BLOCKED)
ATOMIC(paired, TEPAL_DIRECT_PAIRED)
ATOMIC(blocked_two, TEPAL_DIRECT_BLOCKED_TWO)
ATOMIC(paired_two, TEPAL_DIRECT_PAIRED_TWO)

#define ATOMIC_TABLE                                                                               \
    {                                                                                              \
        [TEPAL_DIRECT_CALL] = {call_query, call_add},                                              \
        [TEPAL_DIRECT_FLAT] = {flat_query, flat_add},                                              \
        [TEPAL_DIRECT_BLOCKED] = {blocked_query, blocked_add},                                     \
        [TEPAL_DIRECT_PAIRED] = {paired_query, paired_add},                                        \
        [TEPAL_DIRECT_BLOCKED_TWO] = {blocked_two_query, blocked_two_add},                         \
        [TEPAL_DIRECT_PAIRED_TWO] = {paired_two_query, paired_two_add},                            \
    }
