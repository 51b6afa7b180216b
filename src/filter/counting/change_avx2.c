/*
 * change_avx2.c: additions and removals on the blocked layout with 4-bit counters, one choice and
 * at most eight hashes, with AVX2: a counter in each chosen sector, a sector in each 64-bit lane,
 * so that a key's counters are changed by two vectors. The lines of key i + 64 are requested while
 * key i is changed. Counters, bits and state become what counting.c makes of them, one by one.
 */
#include "filter/counting/internal.h"

#if defined(__AVX2__)

#include <immintrin.h>

#define WINDOW 64

/* 1 at the lowest bit of the counter that a lane's key has; 0 in a lane where it has none. */
static inline __m256i four_ones(uint64_t cells, int half)
{
    __m128i bytes = _mm_cvtsi32_si128((int)(uint32_t)(cells >> (32 * half)));
    return _mm256_sllv_epi64(_mm256_set1_epi64x(1),
                             _mm256_slli_epi64(_mm256_cvtepu8_epi64(bytes), 2));
}

/* Lane by lane, how many counters left or reached 0, changed, reached 15. */
struct tallies {
    __m256i ones;
    __m256i changed;
    __m256i stuck;
};

static inline struct tallies no_tallies(void)
{
    __m256i zero = _mm256_setzero_si256();
    return (struct tallies){zero, zero, zero};
}

static inline uint64_t total(__m256i lanes)
{
    uint64_t lane[4];
    _mm256_storeu_si256((__m256i *)(void *)lane, lanes);
    return lane[0] + lane[1] + lane[2] + lane[3];
}

/* A comparison is -1 where it holds, so that subtracting it counts. */
static inline __m256i raise4(__m256i line, __m256i one, struct tallies *t)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i field = _mm256_sub_epi64(_mm256_slli_epi64(one, 4), one); /* 15 in the counter */
    __m256i value = _mm256_and_si256(line, field);
    __m256i none = _mm256_cmpeq_epi64(one, zero);
    __m256i full = _mm256_cmpeq_epi64(value, field); /* also where there is no counter */
    __m256i after = _mm256_add_epi64(value, one);
    t->ones = _mm256_sub_epi64(t->ones, _mm256_andnot_si256(none, _mm256_cmpeq_epi64(value, zero)));
    t->changed = _mm256_sub_epi64(t->changed, _mm256_andnot_si256(full, _mm256_set1_epi64x(-1)));
    t->stuck =
        _mm256_sub_epi64(t->stuck, _mm256_andnot_si256(none, _mm256_cmpeq_epi64(after, field)));
    return _mm256_add_epi64(line, _mm256_andnot_si256(full, one));
}

/* `*emptied`: all ones in the lanes whose counter reached 0. */
static inline __m256i lower4(__m256i line, __m256i one, struct tallies *t, __m256i *emptied)
{
    __m256i field = _mm256_sub_epi64(_mm256_slli_epi64(one, 4), one);
    __m256i value = _mm256_and_si256(line, field);
    __m256i stay = _mm256_or_si256(_mm256_cmpeq_epi64(value, field),
                                   _mm256_cmpeq_epi64(value, _mm256_setzero_si256()));
    *emptied = _mm256_andnot_si256(stay, _mm256_cmpeq_epi64(value, one));
    t->ones = _mm256_sub_epi64(t->ones, *emptied);
    t->changed = _mm256_sub_epi64(t->changed, _mm256_andnot_si256(stay, _mm256_set1_epi64x(-1)));
    return _mm256_sub_epi64(line, _mm256_andnot_si256(stay, one));
}

/* The bits of a key in a line of 8 sectors of 16 bits. */
static inline __m128i bits_of(uint64_t cells)
{
    __m256i shifts = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)cells));
    __m256i wide = _mm256_sllv_epi32(_mm256_set1_epi32(1), shifts);
    return _mm_packus_epi32(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
}

/* Keys under way: their lines, and their cells in them. */
struct change_window {
    uint64_t line[WINDOW];
    uint64_t cells[WINDOW];
};

static inline void ask(const struct tepal_counting *c, struct change_window *w, size_t slot,
                       struct tepal_digest d)
{
    const uint32_t chosen = address_chosen(c->at.hashes);
    uint64_t sectors =
        address_sectors(tepal_address_subsets[chosen], tepal_address_subset_count[chosen], d.hi);
    uint64_t line = address_line(&c->at, d.hi);
    __builtin_prefetch(c->head.words + line * ADDRESS_SECTORS, 1);
    __builtin_prefetch(c->bits + line * COUNTING_LINE_WORDS, 1);
    w->line[slot] = line;
    w->cells[slot] =
        address_line_cells(false, sectors, false, 15 * ADDRESS_BYTES, d.lo, 0).round[0];
}

void tepal_counting_blocked_add_avx2(struct tepal_counting *c, const struct tepal_digest *digests,
                                     size_t count)
{
    struct change_window w;
    struct tallies t = no_tallies();
    for (size_t i = 0; i < count && i < WINDOW; i++) {
        ask(c, &w, i, digests[i]);
    }
    for (size_t i = 0; i < count; i++) {
        size_t slot = i % WINDOW;
        uint64_t cells = w.cells[slot];
        __m256i *line = (__m256i *)(void *)(c->head.words + w.line[slot] * ADDRESS_SECTORS);
        __m128i *bits = (__m128i *)(void *)(c->bits + w.line[slot] * COUNTING_LINE_WORDS);
        _mm256_storeu_si256(line, raise4(_mm256_loadu_si256(line), four_ones(cells, 0), &t));
        _mm256_storeu_si256(line + 1,
                            raise4(_mm256_loadu_si256(line + 1), four_ones(cells, 1), &t));
        _mm_storeu_si128(bits, _mm_or_si128(_mm_loadu_si128(bits), bits_of(cells)));
        if (i + WINDOW < count) {
            ask(c, &w, slot, digests[i + WINDOW]);
        }
    }
    uint64_t *own = c->head.state.own;
    own[COUNTING_ONES] += total(t.ones);
    own[COUNTING_SUM] += total(t.changed);
    own[COUNTING_STUCK] += total(t.stuck);
}

/* Decrement a key's counters, and clear the bits of those that reach 0. */
static inline void take_out(uint64_t *words, __m128i *bits, __m128i mask, uint64_t cells,
                            struct tallies *t)
{
    const __m256i even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    __m256i *line = (__m256i *)(void *)words;
    __m256i low;
    __m256i high;
    _mm256_storeu_si256(line, lower4(_mm256_loadu_si256(line), four_ones(cells, 0), t, &low));
    _mm256_storeu_si256(line + 1,
                        lower4(_mm256_loadu_si256(line + 1), four_ones(cells, 1), t, &high));
    /* lanes of 64 bits become sectors of 16 */
    __m128i emptied =
        _mm_packs_epi32(_mm256_castsi256_si128(_mm256_permutevar8x32_epi32(low, even)),
                        _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(high, even)));
    __m128i clear = _mm_and_si128(emptied, mask);
    _mm_storeu_si128(bits, _mm_andnot_si128(clear, _mm_loadu_si128(bits)));
}

size_t tepal_counting_blocked_remove_avx2(struct tepal_counting *c,
                                          const struct tepal_digest *digests, size_t count,
                                          uint64_t *done)
{
    struct change_window w;
    struct tallies t = no_tallies();
    size_t removed = 0;
    for (size_t i = 0; i < count && i < WINDOW; i++) {
        ask(c, &w, i, digests[i]);
    }
    for (size_t i = 0; i < count; i++) {
        size_t slot = i % WINDOW;
        __m128i *bits = (__m128i *)(void *)(c->bits + w.line[slot] * COUNTING_LINE_WORDS);
        __m128i mask = bits_of(w.cells[slot]);
        bool yes = _mm_testc_si128(_mm_loadu_si128(bits), mask) != 0;
        if (yes) {
            take_out(c->head.words + w.line[slot] * ADDRESS_SECTORS, bits, mask, w.cells[slot], &t);
        }
        if (done != NULL) {
            done[i / 64] |= (uint64_t)yes << (i % 64);
        }
        removed += yes;
        if (i + WINDOW < count) {
            ask(c, &w, slot, digests[i + WINDOW]);
        }
    }
    uint64_t *own = c->head.state.own;
    own[COUNTING_ONES] -= total(t.ones);
    own[COUNTING_SUM] -= total(t.changed);
    own[COUNTING_REMOVED] = saturating_add(own[COUNTING_REMOVED], removed);
    own[COUNTING_REFUSED] = saturating_add(own[COUNTING_REFUSED], count - removed);
    return removed;
}

#else

void tepal_counting_blocked_add_avx2(struct tepal_counting *c, const struct tepal_digest *digests,
                                     size_t count)
{
    (void)c;
    (void)digests;
    (void)count;
}

size_t tepal_counting_blocked_remove_avx2(struct tepal_counting *c,
                                          const struct tepal_digest *digests, size_t count,
                                          uint64_t *done)
{
    (void)c;
    (void)digests;
    (void)count;
    (void)done;
    return 0;
}

#endif
