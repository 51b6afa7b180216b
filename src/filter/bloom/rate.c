/*
 * rate.c: the false-positive rate of an array of bits, from the bits themselves, whatever the
 * layout: of a Bloom filter's, whose lines have 512 bits, or of those beside counters, whose lines
 * have 128. It is the chance that the cells of a random key are all set.
 */
#include <math.h>

#include "base/processor.h"
#include "filter/bloom/kernels.h"
#include "filter/bloom/rate.h"

/* Bits of a sector are counted by an instruction where there is one (cells/bits.h). */
#if defined(__x86_64__)
#define WITH_POPCNT __attribute__((target("popcnt")))
#else
#define WITH_POPCNT
#endif

RATE_INLINE void rates(const struct rate_lines *l, uint32_t cells, rate_lanes *rates)
{
    struct rate_ones ones;
    rate_count(l, &ones);
    if (rate_has_second(l, cells)) {
        struct rate_ones second;
        rate_seconds(l, &ones, &second);
        rate_of(l, &ones, &second, cells, address_chosen(cells), rates);
    } else {
        rate_of(l, &ones, NULL, cells, address_chosen(cells), rates);
    }
}

static void rates_plain(const struct rate_lines *l, uint32_t cells, rate_lanes *of)
{
    rates(l, cells, of);
}

WITH_POPCNT void tepal_rate_popcnt(const struct rate_lines *l, uint32_t cells, rate_lanes *of)
{
    rates(l, cells, of);
}

static rate_kernel *kernel(void)
{
    return tepal_processor_has_avx512() ? tepal_rate_avx512
           : tepal_bits_has_popcnt()    ? tepal_rate_popcnt
                                        : rates_plain;
}

/* Some lines from number `first` on. */
static struct rate_lines lines_from(const struct address *at, const uint64_t *bits, uint64_t first)
{
    uint64_t left = at->lines - first;
    return (struct rate_lines){at, bits, first, left < RATE_LANES ? (uint32_t)left : RATE_LANES};
}

/*
 * The chance that all cells of a key in a random line are set. *worst (may be NULL): for keys of
 * the line that says yes most often. Whoever chooses the keys can choose the line.
 */
static double blocked_rate(const struct address *at, const uint64_t *bits, double *worst)
{
    rate_kernel *of = kernel();
    rate_lanes sums = {0};
    double sum = 0;
    double most = 0;
    for (uint64_t line = 0; line < at->lines; line += RATE_LANES) {
        struct rate_lines l = lines_from(at, bits, line);
        rate_lanes rate;
        of(&l, at->hashes, &rate);
        for (uint32_t i = l.count; i < RATE_LANES; i++) {
            rate[i] = 0;
        }
        sums += rate;
        for (uint32_t i = 0; worst != NULL && i < l.count; i++) {
            most = rate[i] > most ? rate[i] : most;
        }
    }
    for (uint32_t i = 0; i < RATE_LANES; i++) {
        sum += sums[i];
    }
    if (worst != NULL) {
        *worst = most;
    }
    return sum / (double)at->lines;
}

/*
 * Two lines a key, each with its own part of the cells: any two if positions may collide, two
 * different ones if not, and then the pairs of different lines are summed. *worst: for keys that
 * have their first part in the line that says yes to most of these, or their second.
 */
static double paired_rate(const struct address *at, const uint64_t *bits, double *worst)
{
    rate_kernel *of = kernel();
    const double lines = (double)at->lines;
    double first = 0;
    double second = 0;
    double different = 0;
    double most[2][2] = {{0, 0}, {0, 0}}; /* a and b where a is largest, and where b is */
    for (uint64_t line = 0; line < at->lines; line += RATE_LANES) {
        struct rate_lines l = lines_from(at, bits, line);
        rate_lanes firsts;
        rate_lanes seconds;
        of(&l, (at->hashes + 1) / 2, &firsts);
        of(&l, at->hashes / 2, &seconds); /* 1 for no cells */
        for (uint32_t i = 0; i < l.count; i++) {
            double a = firsts[i];
            double b = seconds[i];
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
