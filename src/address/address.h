/*
 * address.h: a digest becomes positions. Everything that decides where a key's cells lie is in
 * this file and in tepal/place.h, inline, so that every kind and every kernel uses the same rules.
 *
 * A digest (lo, hi) is 128 random bits. More are drawn from it as words:
 *
 *     word 0 = hi     word 1 = lo     word i = fold((lo ^ i G) * (hi | 1))  for i >= 2
 *
 * where G is the golden ratio's 64 bits, the product has 128 bits, and fold is the exclusive or of
 * its halves. The words are as good as independent at a multiplication each. Taking lo + i * hi
 * ("double hashing") would put a key's positions on an arithmetic progression and leave it with
 * 2 log2 m bits of individuality, which raises the error of small filters well above the
 * textbook's: at 160 bits one can measure it.
 *
 * A word w becomes a number below r as floor(w * r / 2^64): any r, no division, no power of two.
 *
 *   flat         position i = scale(word i, m). Distinct: words 0, 1, 2, ... are used in turn;
 *                one that repeats an earlier position is passed over.
 *   partitioned  slice i is [floor(i m / k), floor((i+1) m / k)); position in it from word i.
 *   blocked      line = scale(word 0, lines); cells in it from word 1 (and, if k > 8, word 2).
 *   paired       first line as blocked with ceil(k/2) cells, from words 0, 1 (and 4);
 *                second line = scale(word 2, lines) with floor(k/2) cells, from word 3 (and 5).
 *
 * Cells of a line. A line is 8 sectors (64-bit words) of 64 bits or 16 counters:
 *
 *     |  sector 0  |  sector 1  |  ...  |  sector 7  |
 *
 * k <= 8 cells lie in k of the sectors, one in each; of k = 8 + r cells, one lies in every sector
 * and one more in each of r sectors. The low bits of byte s of the cell word give the cell in
 * sector s; the low half of the line's word chooses among the C(8, k) or C(8, r) sets of sectors.
 * One cell a sector spreads the load evenly and lets all eight be tested with two vector
 * instructions; choosing the sectors makes any k possible. (10 bits a key: 6 of 8 sectors 0.97 %,
 * all 8 sectors 1.05 %, 6 free cells 0.96 %.)
 */
#ifndef TEPAL_SRC_ADDRESS_ADDRESS_H
#define TEPAL_SRC_ADDRESS_ADDRESS_H

#include <tepal/params.h>
#include <tepal/place.h>

#include "base/wide.h"

#define ADDRESS_SECTORS TEPAL_PLACE_SECTORS

struct address {
    enum tepal_layout layout;
    enum tepal_positions positions;
    uint32_t hashes;
    uint32_t sector_cells; /* cells in a 64-bit word: 64 bits or 16 counters */
    uint64_t cells;
    uint64_t lines; /* blocked and paired */
};

/*
 * The ways to choose r of 8 sectors: tepal_address_subsets[r][i], i <
 * tepal_address_subset_count[r]. Byte s is ADDRESS_SKIP if sector s is *not* chosen, else 0.
 */
#define ADDRESS_SKIP 0x40
extern const uint64_t *const tepal_address_subsets[9];
extern const uint8_t tepal_address_subset_count[9];

/*
 * Cells of one key in one line, a byte a sector: the cell's number, or at least ADDRESS_SKIP where
 * there is none. A shift of 1 by that byte gives the bit, or nothing, as vectors shift. The second
 * round is for k > 8.
 */
struct address_cells {
    uint64_t round[2];
};

/* Params must have passed the gate. cell_bits is 1 or 4. */
struct address tepal_address_of(const struct tepal_params *params, uint32_t cell_bits);

/* All positions of a key, for any layout: out has room for TEPAL_MAX_HASHES. Returns hashes. */
uint32_t tepal_address_positions(const struct address *at, struct tepal_digest d, uint64_t *out);

#define ADDRESS_GOLDEN TEPAL_PLACE_GOLDEN

/* Word i >= 2, from i G: loops get that by adding. */
static inline uint64_t address_more(struct tepal_digest d, uint64_t step)
{
    return tepal_place_more(d, step);
}

static inline uint64_t address_word(struct tepal_digest d, uint32_t i)
{
    return i == 0 ? d.hi : i == 1 ? d.lo : address_more(d, i * ADDRESS_GOLDEN);
}

/* The step of the first word of such a digest (address_rehash), as address_more takes it. */
static inline uint64_t address_rehash_step(uint64_t number)
{
    return (((uint64_t)1 << 20) + 2 * number) * ADDRESS_GOLDEN;
}

/*
 * Another digest of the same key, one for each number below 2^40: two words far beyond those that
 * any position uses. For kinds that ask several filters in one.
 */
static inline struct tepal_digest address_rehash(struct tepal_digest d, uint64_t number)
{
    uint64_t step = address_rehash_step(number);
    return (struct tepal_digest){address_more(d, step), address_more(d, step + ADDRESS_GOLDEN)};
}

static inline uint64_t address_slice_start(uint64_t cells, uint32_t hashes, uint32_t i)
{
    /* i * cells / hashes without overflow (i <= 64), and without a division of 128 bits */
    return i * (cells / hashes) + i * (cells % hashes) / hashes;
}

static inline uint64_t address_line(const struct address *at, uint64_t word)
{
    return wide_scale(word, at->lines);
}

/* The second line of a paired key: any line if colliding, any but the first if distinct. */
static inline uint64_t address_second_line(const struct address *at, uint64_t word, uint64_t first)
{
    return tepal_place_second_line(at->lines, at->positions == TEPAL_POSITIONS_DISTINCT, word,
                                   first);
}

#define ADDRESS_BYTES TEPAL_PLACE_BYTES

/* How many sectors are chosen when a key has so many cells in a line: k, or k - 8 if k > 8. */
static inline uint32_t address_chosen(uint32_t cells)
{
    return cells > ADDRESS_SECTORS ? cells - ADDRESS_SECTORS : cells;
}

/* The sectors that a line's word chooses, of `ways` ways to do so: an entry of address_subsets. */
static inline uint64_t address_sectors(const uint64_t *subsets, uint64_t ways, uint64_t line_word)
{
    return tepal_place_sectors(subsets, ways, line_word);
}

/* In each byte, a cell other than `first`, by `draw` (tepal/place.h). */
static inline uint64_t address_other(uint64_t first, uint64_t draw, uint64_t low_bits)
{
    return tepal_place_other(first, draw, low_bits);
}

/*
 * The cells of a line, of which `sectors` are chosen. `w0` and, if `two` (k > 8), `w1` are the
 * key's cell words; `low_bits` is in each byte the largest number of a cell: 63 or 15.
 */
static inline struct address_cells address_line_cells(bool two, uint64_t sectors, bool distinct,
                                                      uint64_t low_bits, uint64_t w0, uint64_t w1)
{
    w0 &= low_bits;
    w1 &= low_bits;
    if (!two) {
        return (struct address_cells){{w0 | sectors, ADDRESS_SKIP * ADDRESS_BYTES}};
    }
    return (struct address_cells){
        {w0, (distinct ? address_other(w0, w1, low_bits) : w1) | sectors}};
}

#endif
