/*
 * rate.c: the false-positive rate of an array of bits, from the bits themselves, whatever the
 * layout: of a Bloom filter's, whose lines have 512 bits, or of those beside counters, whose lines
 * have 128. It is the chance that the cells of a random key are all set.
 */
#include <math.h>

#include "cells/bits.h"
#include "filter/bloom/kernels.h"

/* Bits of a sector are counted by an instruction where there is one (cells/bits.h). */
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#if defined(__x86_64__)
#define WITH_POPCNT __attribute__((target("popcnt")))
#else
#define WITH_POPCNT
#endif

/* Sector s of a line: `size` bits, 64 or 16. */
ALWAYS_INLINE uint64_t sector_of(const uint64_t *bits, uint64_t line, uint32_t s, uint32_t size)
{
    uint64_t first = (line * ADDRESS_SECTORS + s) * size;
    return size == 64 ? bits[first / 64] : bits[first / 64] >> (first % 64) & 0xffff;
}

/*
 * Given that a key's first cell in this sector is set: the chance that its second is. The distance
 * from the first (address_other) is 1 with probability 2/size and each of 2 .. size - 1 with
 * 1/size.
 */
ALWAYS_INLINE double second_of(uint64_t sector, uint32_t size, double ones)
{
    uint64_t around = sector >> 1 | sector << (size - 1);
    double neighbours = (double)bits_count_word(sector & around);
    return ones > 0 ? (ones - 1 + neighbours / ones) / size : 0;
}

/*
 * The chance that `cells` random cells of one line are all set. One cell a sector in a random set
 * of sectors: the elementary symmetric polynomial of the sectors' fills, over the number of sets.
 * With more than eight cells, a first round takes every sector's fill as a factor.
 */
ALWAYS_INLINE double line_rate(const struct address *at, const uint64_t *bits, uint64_t line,
                               uint32_t cells)
{
    uint32_t chosen = address_chosen(cells);
    bool two = cells > ADDRESS_SECTORS;
    double sum[ADDRESS_SECTORS + 1] = {1}; /* e_0 .. e_8, as far as they are needed */
    double first = 1;
    for (uint32_t s = 0; s < ADDRESS_SECTORS; s++) {
        uint64_t sector = sector_of(bits, line, s, at->sector_cells);
        double ones = (double)bits_count_word(sector);
        double fill = ones / at->sector_cells;
        double next = fill;
        if (two) {
            first *= fill;
            next = at->positions == TEPAL_POSITIONS_DISTINCT
                       ? second_of(sector, at->sector_cells, ones)
                       : fill;
        }
        for (uint32_t e = chosen; e > 0; e--) {
            sum[e] += sum[e - 1] * next;
        }
    }
    return first * sum[chosen] / tepal_address_subset_count[chosen];
}

/*
 * The same for all cells of a key and a random line. *worst (may be NULL): for keys of the line
 * that says yes most often. Whoever chooses the keys can choose the line.
 */
ALWAYS_INLINE double blocked_sum(const struct address *at, const uint64_t *bits, double *worst)
{
    double sum = 0;
    double most = 0;
    for (uint64_t line = 0; line < at->lines; line++) {
        double rate = line_rate(at, bits, line, at->hashes);
        sum += rate;
        most = rate > most ? rate : most;
    }
    if (worst != NULL) {
        *worst = most;
    }
    return sum / (double)at->lines;
}

WITH_POPCNT static double blocked_popcnt(const struct address *at, const uint64_t *bits,
                                         double *worst)
{
    return blocked_sum(at, bits, worst);
}

static double blocked_rate(const struct address *at, const uint64_t *bits, double *worst)
{
    return tepal_bits_has_popcnt() ? blocked_popcnt(at, bits, worst) : blocked_sum(at, bits, worst);
}

/*
 * Two lines a key, each with its own part of the cells: any two if positions may collide, two
 * different ones if not, and then the pairs of different lines are summed. *worst: for keys that
 * have their first part in the line that says yes to most of these, or their second.
 */
ALWAYS_INLINE double paired_sum(const struct address *at, const uint64_t *bits, double *worst)
{
    const double lines = (double)at->lines;
    double first = 0;
    double second = 0;
    double different = 0;
    double most[2][2] = {{0, 0}, {0, 0}}; /* a and b where a is largest, and where b is */
    for (uint64_t line = 0; line < at->lines; line++) {
        double a = line_rate(at, bits, line, (at->hashes + 1) / 2);
        double b = at->hashes > 1 ? line_rate(at, bits, line, at->hashes / 2) : 1;
        different += a * second + b * first;
        first += a;
        second += b;
        if (a > most[0][0]) {
            most[0][0] = a, most[0][1] = b;
        }
        if (b > most[1][1]) {
            most[1][0] = a, most[1][1] = b;
        }
    }
    bool distinct = at->positions == TEPAL_POSITIONS_DISTINCT;
    if (worst != NULL) {
        double with_first =
            most[0][0] * (distinct ? (second - most[0][1]) / (lines - 1) : second / lines);
        double with_second =
            most[1][1] * (distinct ? (first - most[1][0]) / (lines - 1) : first / lines);
        *worst = with_first > with_second ? with_first : with_second;
    }
    return distinct ? different / (lines * (lines - 1)) : first * second / (lines * lines);
}

WITH_POPCNT static double paired_popcnt(const struct address *at, const uint64_t *bits,
                                        double *worst)
{
    return paired_sum(at, bits, worst);
}

static double paired_rate(const struct address *at, const uint64_t *bits, double *worst)
{
    return tepal_bits_has_popcnt() ? paired_popcnt(at, bits, worst) : paired_sum(at, bits, worst);
}

double tepal_bits_flat_rate(const struct address *at, double ones)
{
    if (at->positions == TEPAL_POSITIONS_COLLIDING) {
        return pow(ones / (double)at->cells, at->hashes);
    }
    double rate = 1;
    for (uint32_t i = 0; i < at->hashes; i++) {
        rate *= ones > i ? (ones - i) / ((double)at->cells - i) : 0;
    }
    return rate;
}

static double partitioned_rate(const struct address *at, const uint64_t *bits)
{
    double rate = 1;
    for (uint32_t i = 0; i < at->hashes; i++) {
        uint64_t start = address_slice_start(at->cells, at->hashes, i);
        uint64_t end = address_slice_start(at->cells, at->hashes, i + 1);
        rate *= (double)tepal_bits_count_range(bits, start, end) / (double)(end - start);
    }
    return rate;
}

double tepal_bits_rate(const struct address *at, const uint64_t *bits, double *worst)
{
    switch (at->layout) {
    case TEPAL_LAYOUT_FLAT:
        return tepal_bits_flat_rate(at, (double)tepal_bits_count_range(bits, 0, at->cells));
    case TEPAL_LAYOUT_PARTITIONED:
        return partitioned_rate(at, bits);
    case TEPAL_LAYOUT_BLOCKED:
        return blocked_rate(at, bits, worst);
    case TEPAL_LAYOUT_PAIRED:
        return paired_rate(at, bits, worst);
    }
    return 1;
}
