/*
 * census.h: all counters of a filter: what they add up to, and whether the bits say the same. Plain
 * C over arrays of words, which the compiler turns into vectors; included by two files that compile
 * it for the baseline and for AVX2.
 */
#include "filter/counting/internal.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/*
 * So many words are added up side by side: a counter of 4 bits has room for so many flags, and a
 * byte for so many sums of two. LANES such sums are made in vectors. `wide` is a constant.
 */
#define SUMMED 8
#define LANES  8

ALWAYS_INLINE void sum_lane(const uint64_t *words, size_t count, uint32_t wide, uint64_t *sums)
{
    uint64_t above = 0;
    uint64_t full = 0;
    uint64_t pairs = 0;
    for (size_t i = 0; i < count; i++) {
        above += counters_above_zero(words[i * LANES], wide);
        full += counters_at_max(words[i * LANES], wide);
        pairs += counters_pairs(words[i * LANES], wide);
    }
    sums[0] = above;
    sums[LANES] = full;
    sums[2 * LANES] = pairs;
}

/* The last words: fewer in each lane, and none in some. A copy for both widths, not unrolled. */
static __attribute__((noinline)) void sum_rest(const uint64_t *words, size_t left, uint32_t wide,
                                               uint64_t *sums)
{
    for (size_t lane = 0; lane < LANES; lane++) {
        size_t here = lane < left ? (left - lane + LANES - 1) / LANES : 0;
        sum_lane(words + lane, here, wide, sums + lane);
    }
}

ALWAYS_INLINE struct counting_sums sums_of(const uint64_t *words, size_t count, uint32_t wide)
{
    struct counting_sums all = {0, 0, 0};
    for (size_t first = 0; first < count; first += SUMMED * LANES) {
        uint64_t sums[3 * LANES];
        size_t left = count - first;
        if (left >= SUMMED * LANES) {
            for (size_t lane = 0; lane < LANES; lane++) {
                sum_lane(words + first + lane, SUMMED, wide, sums + lane);
            }
        } else {
            sum_rest(words + first, left, wide, sums);
        }
        for (size_t lane = 0; lane < LANES; lane++) {
            all.ones += counters_sum(sums[lane], wide);
            all.stuck += counters_sum(sums[LANES + lane], wide);
            all.sum += counters_sum_pairs(sums[2 * LANES + lane], wide);
        }
    }
    return all;
}

static struct counting_sums census_sums(const uint64_t *words, size_t count, uint32_t wide)
{
    return wide == COUNTERS_WIDE ? sums_of(words, count, COUNTERS_WIDE)
                                 : sums_of(words, count, COUNTERS_NARROW);
}

/* The bits whose numbers have bit p clear and bit q set change places with those the other way. */
ALWAYS_INLINE uint64_t exchange(uint64_t word, uint64_t mask, uint32_t shift)
{
    uint64_t differ = (word ^ word >> shift) & mask;
    return word ^ differ ^ differ << shift;
}

/*
 * Bit 4 n + i becomes bit 16 i + n: from flags of four words of counters, one in each nibble, to
 * bits. That turns the six bits of their numbers by two, in four exchanges: 5 and 1, 4 and 0, 3 and
 * 1, 2 and 0.
 */
ALWAYS_INLINE uint64_t flags_to_bits(uint64_t flags)
{
    flags = exchange(flags, UINT64_C(0x00000000cccccccc), 30);
    flags = exchange(flags, UINT64_C(0x0000aaaa0000aaaa), 15);
    flags = exchange(flags, UINT64_C(0x00cc00cc00cc00cc), 6);
    return exchange(flags, UINT64_C(0x0a0a0a0a0a0a0a0a), 3);
}

/* Are these the bits of four words of counters, `step` words apart? Not 0 if not. */
ALWAYS_INLINE uint64_t differs(const uint64_t *words, size_t step, uint64_t bits)
{
    uint64_t flags = 0;
    for (size_t i = 0; i < 4; i++) {
        flags |= counters_above_zero(words[i * step], COUNTERS_NARROW) << i;
    }
    return flags_to_bits(flags) ^ bits;
}

/* A piece at a time, of whole lines, so that what was compared is added up in the cache. */
#define PIECE ((size_t)64)

static bool census_agrees(const uint64_t *words, const uint64_t *bits, size_t count, bool spread,
                          struct counting_sums *sums)
{
    uint64_t wrong = 0;
    *sums = (struct counting_sums){0, 0, 0};
    for (size_t first = 0; first < count && wrong == 0; first += PIECE) {
        size_t end = count - first < PIECE ? count : first + PIECE;
        for (size_t i = first; spread && i < end; i += ADDRESS_SECTORS) {
            for (size_t s = 0; s < ADDRESS_SECTORS; s++) {
                wrong |= differs(words + 4 * i + s, ADDRESS_SECTORS, bits[i + s]);
            }
        }
        for (size_t i = first; !spread && i < end; i++) {
            wrong |= differs(words + 4 * i, 1, bits[i]);
        }
        counting_sums_add(sums, census_sums(words + 4 * first, 4 * (end - first), COUNTERS_NARROW));
    }
    return wrong == 0;
}
