/*
 * loops_avx512.c: blocked and paired loops with AVX-512: the rolling window of loops.h, in whole
 * groups of 64 keys, of which eight at a time are hashed and placed (eight.h), and a line is one
 * vector. What is left of a batch, keys with a second round of cells and filters of 2^32 lines and
 * more are for the loops with AVX2.
 */
#include "filter/lines/kernels.h"

#if defined(__AVX512VBMI2__)

#include "filter/lines/line_avx512.h"

#define ONCE_A_GROUP static __attribute__((noinline)) /* one copy for all loops */

/* The paired layout's second lines (tepal_place_second_line). */
EIGHT_ALWAYS_INLINE void place_second(struct line_group *group, size_t slot,
                                      const struct line_rule *rule, bool distinct, struct eight d)
{
    __m512i word = eight_word(d, 2);
    __m512i line = eight_scale(word, rule->count - distinct);
    if (distinct) {
        __mmask8 beyond = _mm512_cmpge_epu64_mask(line, eight_scale(d.hi, rule->count));
        line = _mm512_mask_add_epi64(line, beyond, line, eight_of(1));
    }
    place(group, slot, rule, line, word, eight_word(d, 3));
}

/* ---- blocked --------------------------------------------------------------------------------- */

/* Test the group `now`, if there is one, and ask for the next, the keys from `first` on. */
EIGHT_ALWAYS_INLINE uint64_t blocked_turn(const struct line_group *now, struct line_group *next,
                                          const struct line_rule *rule,
                                          const struct bloom_source *source, bool integers,
                                          size_t first, bool setting)
{
    uint8_t lacking[GROUP];
    struct tepal_digest room[GROUP];
    const struct tepal_digest *digests = eight_group(source, integers, first, room);
    for (size_t s = 0; s < GROUP; s += EIGHT) {
        place_first(next, s, rule, eight_digests(source, integers, first, digests, s));
        for (size_t j = s; j < s + EIGHT; j++) {
            if (now != NULL && setting) {
                set(now, j, rule);
            } else if (now != NULL) {
                lacking[j] = lacks(now, j, rule);
            }
            request(next, j, rule);
        }
    }
    return now == NULL || setting ? 0 : none_lack(lacking);
}

/* A group that no other follows. */
ONCE_A_GROUP uint64_t last_turn(const struct line_group *now, const struct line_rule *rule,
                                bool setting)
{
    uint8_t lacking[GROUP];
    for (size_t j = 0; j < GROUP; j++) {
        if (setting) {
            set(now, j, rule);
        } else {
            lacking[j] = lacks(now, j, rule);
        }
    }
    return setting ? 0 : none_lack(lacking);
}

EIGHT_ALWAYS_INLINE size_t blocked(const struct address *at, const uint64_t *words,
                                   const struct bloom_source *source, size_t groups,
                                   uint64_t *answers, bool integers, bool setting)
{
    const struct line_rule rule = rule_of(at, words, at->hashes);
    struct line_group group[2];
    size_t present = 0;
    (void)blocked_turn(NULL, &group[0], &rule, source, integers, 0, setting);
    for (size_t g = 0; g < groups; g++) {
        uint64_t found = g + 1 < groups ? blocked_turn(&group[g % 2], &group[1 - g % 2], &rule,
                                                       source, integers, (g + 1) * GROUP, setting)
                                        : last_turn(&group[g % 2], &rule, setting);
        if (!setting) {
            answers[g] = found;
            present += bits_count_word(found);
        }
    }
    return present;
}

/* ---- paired ---------------------------------------------------------------------------------- */

EIGHT_ALWAYS_INLINE void paired_add(const struct address *at, uint64_t *words,
                                    const struct bloom_source *source, size_t groups, bool integers)
{
    const struct line_rule rule[2] = {rule_of(at, words, (at->hashes + 1) / 2),
                                      rule_of(at, words, at->hashes / 2)};
    const bool distinct = at->positions == TEPAL_POSITIONS_DISTINCT;
    struct line_group group[2][2];
    struct tepal_digest room[GROUP];
    for (size_t g = 0; g <= groups; g++) {
        struct line_group *next = group[g % 2];
        const struct line_group *now = group[1 - g % 2];
        const struct tepal_digest *digests =
            g < groups ? eight_group(source, integers, g * GROUP, room) : NULL;
        for (size_t s = 0; s < GROUP; s += EIGHT) {
            if (g < groups) {
                struct eight d = eight_digests(source, integers, g * GROUP, digests, s);
                place_first(&next[0], s, &rule[0], d);
                place_second(&next[1], s, &rule[1], distinct, d);
            }
            for (size_t j = s; j < s + EIGHT; j++) {
                for (int which = 0; which < 2; which++) {
                    if (g > 0) {
                        set(&now[which], j, &rule[which]);
                    }
                    if (g < groups) {
                        request(&next[which], j, &rule[which]);
                    }
                }
            }
        }
    }
}

/* The digests of a group. */
struct digest_group {
    uint64_t lo[GROUP] __attribute__((aligned(64)));
    uint64_t hi[GROUP];
};

/* The keys of a group that passed their first lines, and their second lines. */
struct survivors {
    uint64_t passed; /* bit j: key j */
    struct line_group second;
};

/* The numbers of eight keys, a byte each. */
#define NUMBERS(eight) ((eight)*8 * 0x0101010101010101 + 0x0706050403020100)

/*
 * Have the second lines brought. There are few survivors, usually less than eight, and their number
 * is hard to guess: eight at a time, of which those beyond the last one repeat the first.
 */
ONCE_A_GROUP void survive(struct survivors *keys, uint64_t passed, const struct line_rule *rule,
                          bool distinct, const struct digest_group *digests)
{
    uint8_t numbers[GROUP];
    const __m512i all = _mm512_setr_epi64(NUMBERS(0), NUMBERS(1), NUMBERS(2), NUMBERS(3),
                                          NUMBERS(4), NUMBERS(5), NUMBERS(6), NUMBERS(7));
    __m512i first = _mm512_set1_epi8((char)_tzcnt_u64(passed));
    _mm512_storeu_si512(numbers, _mm512_mask_compress_epi8(first, passed, all));
    for (size_t i = 0; i < bits_count_word(passed); i += EIGHT) {
        __m512i number = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const void *)(numbers + i)));
        struct eight d = {_mm512_i64gather_epi64(number, (const long long *)digests->lo, 8),
                          _mm512_i64gather_epi64(number, (const long long *)digests->hi, 8)};
        place_second(&keys->second, i, rule, distinct, d);
        for (size_t j = i; j < i + EIGHT; j++) {
            request(&keys->second, j, rule);
        }
    }
    keys->passed = passed;
}

/* Ask them. */
ONCE_A_GROUP uint64_t settle(const struct survivors *keys, const struct line_rule *rule)
{
    uint64_t yes = 0;
    for (size_t i = 0; i < bits_count_word(keys->passed); i += EIGHT) {
        for (size_t j = i; j < i + EIGHT; j++) {
            yes |= holds(&keys->second, j, rule) << j;
        }
    }
    return _pdep_u64(yes, keys->passed);
}

EIGHT_ALWAYS_INLINE size_t paired_query(const struct address *at, const uint64_t *words,
                                        const struct bloom_source *source, size_t groups,
                                        uint64_t *answers, bool integers)
{
    const struct line_rule first = rule_of(at, words, (at->hashes + 1) / 2);
    const struct line_rule second = rule_of(at, words, at->hashes / 2);
    const bool distinct = at->positions == TEPAL_POSITIONS_DISTINCT;
    struct line_group group[2];
    struct digest_group digests[2];
    struct survivors survivors[2]; /* of the group that is tested and of the one before */
    struct tepal_digest room[GROUP];
    size_t present = 0;
    for (size_t g = 0; g < groups + 2; g++) {
        const size_t next = g % 2;
        const size_t now = 1 - next;
        uint64_t passed = 0;
        const struct tepal_digest *made =
            g < groups ? eight_group(source, integers, g * GROUP, room) : NULL;
        for (size_t s = 0; s < GROUP && g < groups; s += EIGHT) {
            uint64_t yes = 0;
            struct eight d = eight_digests(source, integers, g * GROUP, made, s);
            _mm512_store_si512(digests[next].lo + s, d.lo);
            _mm512_store_si512(digests[next].hi + s, d.hi);
            place_first(&group[next], s, &first, d);
            for (size_t j = EIGHT; j-- > 0;) { /* backwards: an answer pushes those before it up */
                yes = g == 0 ? 0 : 2 * yes + holds(&group[now], s + j, &first);
                request(&group[next], s + j, &first);
            }
            passed |= yes << s;
        }
        if (g == groups) {
            passed = last_turn(&group[now], &first, false);
        }
        if (g >= 1 && g <= groups) {
            survive(&survivors[now], passed, &second, distinct, &digests[now]);
        }
        if (g >= 2) {
            answers[g - 2] = settle(&survivors[next], &second);
            present += bits_count_word(answers[g - 2]);
        }
    }
    return present;
}

/* ---- one loop for each layout and form of source --------------------------------------------- */

/* How many groups of this batch are for the loops here. */
static size_t groups_here(const struct address *at, size_t count)
{
    uint32_t most = at->layout == TEPAL_LAYOUT_BLOCKED ? ADDRESS_SECTORS : 2 * ADDRESS_SECTORS;
    return at->hashes <= most && at->lines <= EIGHT_MAX_RANGE ? count / GROUP : 0;
}

/* One of four calls, by layout and by whether keys are integers, which each loop knows. */
#define EACH(blocked_call, paired_call)                                                            \
    do {                                                                                           \
        bool is_blocked = at->layout == TEPAL_LAYOUT_BLOCKED;                                      \
        if (source->form == BLOOM_INTEGERS) {                                                      \
            if (is_blocked) {                                                                      \
                blocked_call(true);                                                                \
            } else {                                                                               \
                paired_call(true);                                                                 \
            }                                                                                      \
        } else if (is_blocked) {                                                                   \
            blocked_call(false);                                                                   \
        } else {                                                                                   \
            paired_call(false);                                                                    \
        }                                                                                          \
    } while (0)

static void lines_add(const struct address *at, uint64_t *words, const struct bloom_source *source,
                      size_t count)
{
    size_t groups = groups_here(at, count);
#define BLOCKED(integers) (void)blocked(at, words, source, groups, NULL, integers, true)
#define PAIRED(integers)  paired_add(at, words, source, groups, integers)
    if (groups == 0) {
        tepal_bloom_lines_avx2.add(at, words, source, count);
        return;
    }
    EACH(BLOCKED, PAIRED);
#undef BLOCKED
#undef PAIRED
    struct bloom_source rest = source_from(source, groups * GROUP);
    tepal_bloom_lines_avx2.add(at, words, &rest, count - groups * GROUP);
}

static size_t lines_query(const struct address *at, const uint64_t *words,
                          const struct bloom_source *source, size_t count, uint64_t *answers)
{
    size_t groups = groups_here(at, count);
    size_t present = 0;
#define BLOCKED(integers) present = blocked(at, words, source, groups, answers, integers, false)
#define PAIRED(integers)  present = paired_query(at, words, source, groups, answers, integers)
    if (groups == 0) {
        return tepal_bloom_lines_avx2.query(at, words, source, count, answers);
    }
    EACH(BLOCKED, PAIRED);
#undef BLOCKED
#undef PAIRED
    struct bloom_source rest = source_from(source, groups * GROUP);
    return present +
           tepal_bloom_lines_avx2.query(at, words, &rest, count - groups * GROUP, answers + groups);
}

const struct bloom_kernels tepal_bloom_lines_avx512 = {lines_add, lines_query, NULL};

#else

const struct bloom_kernels tepal_bloom_lines_avx512 = {0};

#endif
