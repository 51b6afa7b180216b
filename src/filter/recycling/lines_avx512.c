/*
 * lines_avx512.c: the recycling filter's blocked loops with AVX-512: a line is one vector. Filters
 * with a second round of cells (k > 8) are for the loops with AVX2.
 */
#include "filter/recycling/internal.h"

#if defined(__AVX512VBMI2__)

#include "cells/bits.h"
#include "filter/lines/line_avx512.h"
#include "filter/recycling/average.h"

struct line_mask {
    __m512i sectors;
};

/* 1 shifted by each of the cells' numbers; a shift by 64 (ADDRESS_SKIP) and more gives nothing. */
static inline struct line_mask line_mask_of(uint64_t cells)
{
    __m128i bytes = _mm_cvtsi64_si128((long long)cells);
    return (struct line_mask){_mm512_sllv_epi64(eight_of(1), _mm512_cvtepu8_epi64(bytes))};
}

static inline struct line_mask line_mask_or(struct line_mask a, struct line_mask b)
{
    return (struct line_mask){_mm512_or_si512(a.sectors, b.sectors)};
}

static inline bool line_holds(const void *line, struct line_mask mask)
{
    __m512i missing = _mm512_andnot_si512(_mm512_load_si512(line), mask.sectors);
    return _mm512_test_epi64_mask(missing, missing) == 0;
}

static inline void line_set(void *line, struct line_mask mask)
{
    _mm512_store_si512(line, _mm512_or_si512(_mm512_load_si512(line), mask.sectors));
}

/* As in line_avx2.h. */
static inline uint32_t line_missing(const void *line, struct line_mask mask, bool two)
{
    __m512i missing = _mm512_andnot_si512(_mm512_load_si512(line), mask.sectors);
    return two ? (uint32_t)_mm512_reduce_add_epi64(_mm512_popcnt_epi64(missing))
               : bits_count_word(_mm512_test_epi64_mask(missing, missing));
}

static inline uint32_t line_shared(const void *line, struct line_mask mask, const void *other,
                                   bool two)
{
    struct line_mask both = {_mm512_and_si512(mask.sectors, _mm512_load_si512(other))};
    return line_missing(line, both, two);
}

/* message_of eight at a time. */
struct line_placer {
    bool can;
    struct line_rule rule;
};

static inline struct line_placer placer_of(const struct address *at)
{
    return (struct line_placer){at->lines <= EIGHT_MAX_RANGE,
                                rule_of(at, NULL, address_chosen(at->hashes))};
}

static inline bool line_places(const struct line_placer *placer, const struct tepal_digest *digests,
                               uint64_t *offsets, uint64_t *cells)
{
    if (placer->can) {
        struct eight d = eight_load(digests);
        place_at(offsets, cells, &placer->rule, eight_scale(d.hi, placer->rule.count), d.hi, d.lo);
    }
    return placer->can;
}

#define PLACE_EACH static __attribute__((noinline)) /* the rest of a batch */

/* As in notes.h, but what a line lacks is the set of its sectors. */
typedef uint8_t line_lack;

static inline line_lack line_lacks(const void *line, struct line_mask mask, bool two)
{
    (void)two;
    __m512i missing = _mm512_andnot_si512(_mm512_load_si512(line), mask.sectors);
    return _mm512_test_epi64_mask(missing, missing);
}

static inline line_lack line_refuses(const void *line, struct line_mask mask)
{
    return line_lacks(line, mask, false);
}

struct line_sums {
    uint64_t seen;
    uint32_t messages;
    uint32_t ones;
};

/* A byte for each message. */
struct line_notes {
    uint8_t lack[GROUP];
    uint8_t others[GROUP];
    uint8_t shared[GROUP];
};

static inline void notes_begin(struct line_notes *notes)
{
    (void)notes;
}

static inline void note_shared(struct line_notes *notes, size_t j, const void *line,
                               struct line_mask mask, const void *newest, bool two)
{
    (void)two;
    __m512i missing = _mm512_andnot_si512(_mm512_load_si512(line), mask.sectors);
    notes->shared[j] = _mm512_test_epi64_mask(missing, _mm512_load_si512(newest));
}

static inline void note(struct line_notes *notes, size_t j, line_lack lack, line_lack others)
{
    notes->lack[j] = lack;
    notes->others[j] = others;
}

static inline struct line_sums notes_end(const struct line_notes *notes)
{
    uint64_t held = none_lack(notes->lack);
    __m512i ones = _mm512_popcnt_epi64(_mm512_loadu_si512(notes->lack));
    return (struct line_sums){held | none_lack(notes->others), GROUP - bits_count_word(held),
                              (uint32_t)_mm512_reduce_add_epi64(ones)};
}

/* sums[j]: the bits of the bytes before byte j. By a product, and by lanes moved up. */
static inline void add_up(const uint8_t bytes[GROUP], uint32_t sums[GROUP + 1])
{
    const __m512i none = _mm512_setzero_si512();
    __m512i counts = _mm512_popcnt_epi8(_mm512_loadu_si512(bytes));
    __m512i within = _mm512_mullo_epi64(counts, eight_of(ADDRESS_BYTES));
    __m512i lanes = _mm512_srli_epi64(within, 56);
    uint64_t before[EIGHT];
    uint64_t until[EIGHT];
    lanes = _mm512_add_epi64(lanes, _mm512_alignr_epi64(lanes, none, 7));
    lanes = _mm512_add_epi64(lanes, _mm512_alignr_epi64(lanes, none, 6));
    lanes = _mm512_add_epi64(lanes, _mm512_alignr_epi64(lanes, none, 4));
    _mm512_storeu_si512(before, _mm512_slli_epi64(within, 8));
    _mm512_storeu_si512(until, lanes);
    for (size_t i = 0; i < EIGHT; i++) {
        __m256i here = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)before[i]));
        __m256i from = _mm256_set1_epi32(i == 0 ? 0 : (int)until[i - 1]);
        _mm256_storeu_si256((__m256i *)(void *)(sums + i * EIGHT), _mm256_add_epi32(here, from));
    }
    sums[GROUP] = (uint32_t)until[EIGHT - 1];
}

static inline void notes_group(const struct line_notes *notes, struct average_group *group)
{
    add_up(notes->lack, group->ones);
    add_up(notes->shared, group->both);
}

#define line_two(r) false
#include "filter/recycling/lines.h"

const struct recycling_kernels tepal_recycling_lines_avx512 = {lines_seen, lines_query,
                                                               line_seen_one, line_query_one};

#else

const struct recycling_kernels tepal_recycling_lines_avx512 = {0};

#endif
