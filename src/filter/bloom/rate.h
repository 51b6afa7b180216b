/*
 * rate.h: rates of the lines of an array of bits, eight lines at a time, a lane each: for rate.c
 * and its kernel for AVX-512. The sums are the same, bit for bit, whatever vectors there are.
 */
#ifndef TEPAL_SRC_FILTER_BLOOM_RATE_H
#define TEPAL_SRC_FILTER_BLOOM_RATE_H

#include "address/address.h"
#include "cells/bits.h"

#define RATE_LANES  8
#define RATE_INLINE static inline __attribute__((always_inline))

typedef double rate_lanes __attribute__((vector_size(8 * RATE_LANES)));

/* The lines `first` .. first + count - 1, eight of them at most. */
struct rate_lines {
    const struct address *at;
    const uint64_t *bits;
    uint64_t first;
    uint32_t count;
};

/* How many bits each sector has set; 0 in lanes beyond the count. */
struct rate_ones {
    rate_lanes sector[ADDRESS_SECTORS];
};

/* The chance that `cells` random cells of a line are all set; beyond the count, anything. */
typedef void rate_kernel(const struct rate_lines *lines, uint32_t cells, rate_lanes *rates);

/* Only if tepal_bits_has_popcnt(), and tepal_processor_has_avx512(). */
rate_kernel tepal_rate_popcnt;
extern rate_kernel *const tepal_rate_avx512;

/* Sector s of line i of these: `size` bits, 64 or 16. */
RATE_INLINE uint64_t rate_sector(const struct rate_lines *l, uint32_t i, uint32_t s)
{
    uint32_t size = l->at->sector_cells;
    uint64_t first = ((l->first + i) * ADDRESS_SECTORS + s) * size;
    return size == 64 ? l->bits[first / 64] : l->bits[first / 64] >> (first % 64) & 0xffff;
}

RATE_INLINE void rate_count(const struct rate_lines *l, struct rate_ones *ones)
{
    for (uint32_t s = 0; s < ADDRESS_SECTORS; s++) {
        for (uint32_t i = 0; i < RATE_LANES; i++) {
            ones->sector[s][i] = i < l->count ? (double)bits_count_word(rate_sector(l, i, s)) : 0;
        }
    }
}

/*
 * Do the cells of a second round differ from those of the first? Then, given that a key's first
 * cell in a sector is set, the chance that its second is: the distance from the first
 * (address_other) is 1 with probability 2/size and each of 2 .. size - 1 with 1/size.
 */
RATE_INLINE bool rate_has_second(const struct rate_lines *l, uint32_t cells)
{
    return cells > ADDRESS_SECTORS && l->at->positions == TEPAL_POSITIONS_DISTINCT;
}

RATE_INLINE void rate_seconds(const struct rate_lines *l, const struct rate_ones *ones,
                              struct rate_ones *second)
{
    const uint32_t size = l->at->sector_cells;
    for (uint32_t s = 0; s < ADDRESS_SECTORS; s++) {
        for (uint32_t i = 0; i < RATE_LANES; i++) {
            uint64_t sector = i < l->count ? rate_sector(l, i, s) : 0;
            double neighbours = bits_count_word(sector & (sector >> 1 | sector << (size - 1)));
            double n = ones->sector[s][i];
            second->sector[s][i] = n > 0 ? (n - 1 + neighbours / n) / size : 0;
        }
    }
}

/*
 * One cell a sector in a random set of sectors: the elementary symmetric polynomial of the sectors'
 * fills, over the number of sets. With more than eight cells, a first round takes every sector's
 * fill as a factor, and `second` (may be NULL) has what the other round sees. Of e_1 .. e_8 those
 * up to `most` are made: what is needed, or, where they stay in registers, all.
 */
RATE_INLINE void rate_of(const struct rate_lines *l, const struct rate_ones *ones,
                         const struct rate_ones *second, uint32_t cells, uint32_t most,
                         rate_lanes *rates)
{
    const double part = 1.0 / l->at->sector_cells; /* a power of two: exact */
    const uint32_t chosen = address_chosen(cells);
    const bool two = cells > ADDRESS_SECTORS;
    const rate_lanes none = {0};
    rate_lanes sum[ADDRESS_SECTORS + 1] = {none + 1};
    rate_lanes first = none + 1;
    for (uint32_t s = 0; s < ADDRESS_SECTORS; s++) {
        rate_lanes next = ones->sector[s] * part;
        if (two) {
            first *= next;
        }
        if (second != NULL) {
            next = second->sector[s];
        }
        for (uint32_t e = most < s + 1 ? most : s + 1; e > 0; e--) {
            sum[e] += sum[e - 1] * next;
        }
    }
    *rates = first * sum[chosen] / tepal_address_subset_count[chosen];
}

#endif
