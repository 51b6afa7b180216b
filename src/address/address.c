/*
 * address.c: the general way from a digest to positions, for any layout: what tallies, tests and
 * slow paths use. The kernels take short cuts through address.h and are tested against this.
 */
#include "address/address.h"

/*
 * Row after row: all ways to choose r of 8 sectors, in the order of the numbers whose bit s is set
 * if sector s is chosen; byte s of an entry is 0 if it is and ADDRESS_SKIP if it is not.
 */
static const uint64_t subsets[256] = {
    0x4040404040404040, 0x4040404040404000, 0x4040404040400040, 0x4040404040004040,
    0x4040404000404040, 0x4040400040404040, 0x4040004040404040, 0x4000404040404040,
    0x0040404040404040, 0x4040404040400000, 0x4040404040004000, 0x4040404040000040,
    0x4040404000404000, 0x4040404000400040, 0x4040404000004040, 0x4040400040404000,
    0x4040400040400040, 0x4040400040004040, 0x4040400000404040, 0x4040004040404000,
    0x4040004040400040, 0x4040004040004040, 0x4040004000404040, 0x4040000040404040,
    0x4000404040404000, 0x4000404040400040, 0x4000404040004040, 0x4000404000404040,
    0x4000400040404040, 0x4000004040404040, 0x0040404040404000, 0x0040404040400040,
    0x0040404040004040, 0x0040404000404040, 0x0040400040404040, 0x0040004040404040,
    0x0000404040404040, 0x4040404040000000, 0x4040404000400000, 0x4040404000004000,
    0x4040404000000040, 0x4040400040400000, 0x4040400040004000, 0x4040400040000040,
    0x4040400000404000, 0x4040400000400040, 0x4040400000004040, 0x4040004040400000,
    0x4040004040004000, 0x4040004040000040, 0x4040004000404000, 0x4040004000400040,
    0x4040004000004040, 0x4040000040404000, 0x4040000040400040, 0x4040000040004040,
    0x4040000000404040, 0x4000404040400000, 0x4000404040004000, 0x4000404040000040,
    0x4000404000404000, 0x4000404000400040, 0x4000404000004040, 0x4000400040404000,
    0x4000400040400040, 0x4000400040004040, 0x4000400000404040, 0x4000004040404000,
    0x4000004040400040, 0x4000004040004040, 0x4000004000404040, 0x4000000040404040,
    0x0040404040400000, 0x0040404040004000, 0x0040404040000040, 0x0040404000404000,
    0x0040404000400040, 0x0040404000004040, 0x0040400040404000, 0x0040400040400040,
    0x0040400040004040, 0x0040400000404040, 0x0040004040404000, 0x0040004040400040,
    0x0040004040004040, 0x0040004000404040, 0x0040000040404040, 0x0000404040404000,
    0x0000404040400040, 0x0000404040004040, 0x0000404000404040, 0x0000400040404040,
    0x0000004040404040, 0x4040404000000000, 0x4040400040000000, 0x4040400000400000,
    0x4040400000004000, 0x4040400000000040, 0x4040004040000000, 0x4040004000400000,
    0x4040004000004000, 0x4040004000000040, 0x4040000040400000, 0x4040000040004000,
    0x4040000040000040, 0x4040000000404000, 0x4040000000400040, 0x4040000000004040,
    0x4000404040000000, 0x4000404000400000, 0x4000404000004000, 0x4000404000000040,
    0x4000400040400000, 0x4000400040004000, 0x4000400040000040, 0x4000400000404000,
    0x4000400000400040, 0x4000400000004040, 0x4000004040400000, 0x4000004040004000,
    0x4000004040000040, 0x4000004000404000, 0x4000004000400040, 0x4000004000004040,
    0x4000000040404000, 0x4000000040400040, 0x4000000040004040, 0x4000000000404040,
    0x0040404040000000, 0x0040404000400000, 0x0040404000004000, 0x0040404000000040,
    0x0040400040400000, 0x0040400040004000, 0x0040400040000040, 0x0040400000404000,
    0x0040400000400040, 0x0040400000004040, 0x0040004040400000, 0x0040004040004000,
    0x0040004040000040, 0x0040004000404000, 0x0040004000400040, 0x0040004000004040,
    0x0040000040404000, 0x0040000040400040, 0x0040000040004040, 0x0040000000404040,
    0x0000404040400000, 0x0000404040004000, 0x0000404040000040, 0x0000404000404000,
    0x0000404000400040, 0x0000404000004040, 0x0000400040404000, 0x0000400040400040,
    0x0000400040004040, 0x0000400000404040, 0x0000004040404000, 0x0000004040400040,
    0x0000004040004040, 0x0000004000404040, 0x0000000040404040, 0x4040400000000000,
    0x4040004000000000, 0x4040000040000000, 0x4040000000400000, 0x4040000000004000,
    0x4040000000000040, 0x4000404000000000, 0x4000400040000000, 0x4000400000400000,
    0x4000400000004000, 0x4000400000000040, 0x4000004040000000, 0x4000004000400000,
    0x4000004000004000, 0x4000004000000040, 0x4000000040400000, 0x4000000040004000,
    0x4000000040000040, 0x4000000000404000, 0x4000000000400040, 0x4000000000004040,
    0x0040404000000000, 0x0040400040000000, 0x0040400000400000, 0x0040400000004000,
    0x0040400000000040, 0x0040004040000000, 0x0040004000400000, 0x0040004000004000,
    0x0040004000000040, 0x0040000040400000, 0x0040000040004000, 0x0040000040000040,
    0x0040000000404000, 0x0040000000400040, 0x0040000000004040, 0x0000404040000000,
    0x0000404000400000, 0x0000404000004000, 0x0000404000000040, 0x0000400040400000,
    0x0000400040004000, 0x0000400040000040, 0x0000400000404000, 0x0000400000400040,
    0x0000400000004040, 0x0000004040400000, 0x0000004040004000, 0x0000004040000040,
    0x0000004000404000, 0x0000004000400040, 0x0000004000004040, 0x0000000040404000,
    0x0000000040400040, 0x0000000040004040, 0x0000000000404040, 0x4040000000000000,
    0x4000400000000000, 0x4000004000000000, 0x4000000040000000, 0x4000000000400000,
    0x4000000000004000, 0x4000000000000040, 0x0040400000000000, 0x0040004000000000,
    0x0040000040000000, 0x0040000000400000, 0x0040000000004000, 0x0040000000000040,
    0x0000404000000000, 0x0000400040000000, 0x0000400000400000, 0x0000400000004000,
    0x0000400000000040, 0x0000004040000000, 0x0000004000400000, 0x0000004000004000,
    0x0000004000000040, 0x0000000040400000, 0x0000000040004000, 0x0000000040000040,
    0x0000000000404000, 0x0000000000400040, 0x0000000000004040, 0x4000000000000000,
    0x0040000000000000, 0x0000400000000000, 0x0000004000000000, 0x0000000040000000,
    0x0000000000400000, 0x0000000000004000, 0x0000000000000040, 0x0000000000000000,
};

const uint64_t *const tepal_address_subsets[9] = {subsets,       subsets + 1,   subsets + 9,
                                                  subsets + 37,  subsets + 93,  subsets + 163,
                                                  subsets + 219, subsets + 247, subsets + 255};

const uint8_t tepal_address_subset_count[9] = {1, 8, 28, 56, 70, 56, 28, 8, 1};

struct address tepal_address_of(const struct tepal_params *params, uint32_t cell_bits)
{
    return (struct address){
        .layout = params->layout,
        .positions = params->positions,
        .hashes = params->hashes,
        .sector_cells = 64 / cell_bits,
        .cells = params->cells,
        .lines = params->cells / (TEPAL_LINE_BITS / cell_bits),
    };
}

static bool among(const uint64_t *positions, uint32_t count, uint64_t position)
{
    for (uint32_t i = 0; i < count; i++) {
        if (positions[i] == position) {
            return true;
        }
    }
    return false;
}

/*
 * Words in turn, passing over repeats. With k close to m most words repeat; after so many that even
 * k = m = 64 needs them once in 10^20 keys, the next free cell is taken, so that no digest can hold
 * us up.
 */
static void flat_distinct(const struct address *at, struct tepal_digest d, uint64_t *out)
{
    uint32_t word = 0;
    for (uint32_t i = 0; i < at->hashes; i++) {
        uint64_t position = wide_scale(address_word(d, word++), at->cells);
        while (among(out, i, position)) {
            position = word < 4096 ? wide_scale(address_word(d, word++), at->cells)
                                   : (position + 1) % at->cells;
        }
        out[i] = position;
    }
}

/* `count` cells of the line that `line_word` gave, from cell words w0 and w1. */
static uint32_t line_positions(const struct address *at, uint64_t line, uint32_t count,
                               uint64_t line_word, uint64_t w0, uint64_t w1, uint64_t *out)
{
    uint64_t base = line * ADDRESS_SECTORS * at->sector_cells;
    uint32_t chosen = address_chosen(count);
    uint64_t sectors = address_sectors(tepal_address_subsets[chosen],
                                       tepal_address_subset_count[chosen], line_word);
    struct address_cells cells = address_line_cells(count > ADDRESS_SECTORS, sectors,
                                                    at->positions == TEPAL_POSITIONS_DISTINCT,
                                                    (at->sector_cells - 1) * ADDRESS_BYTES, w0, w1);
    uint32_t found = 0;
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t s = 0; s < ADDRESS_SECTORS; s++) {
            uint64_t cell = cells.round[round] >> (8 * s) & 0xff;
            if (cell < ADDRESS_SKIP) {
                out[found++] = base + s * at->sector_cells + cell;
            }
        }
    }
    return found;
}

uint32_t tepal_address_positions(const struct address *at, struct tepal_digest d, uint64_t *out)
{
    uint32_t k = at->hashes;
    switch (at->layout) {
    case TEPAL_LAYOUT_FLAT:
        if (at->positions == TEPAL_POSITIONS_DISTINCT) {
            flat_distinct(at, d, out);
            break;
        }
        for (uint32_t i = 0; i < k; i++) {
            out[i] = wide_scale(address_word(d, i), at->cells);
        }
        break;
    case TEPAL_LAYOUT_PARTITIONED:
        for (uint32_t i = 0; i < k; i++) {
            uint64_t start = address_slice_start(at->cells, k, i);
            uint64_t end = address_slice_start(at->cells, k, i + 1);
            out[i] = start + wide_scale(address_word(d, i), end - start);
        }
        break;
    case TEPAL_LAYOUT_BLOCKED: {
        uint64_t word = address_word(d, 0);
        (void)line_positions(at, address_line(at, word), k, word, address_word(d, 1),
                             address_word(d, 2), out);
        break;
    }
    case TEPAL_LAYOUT_PAIRED: {
        uint64_t first = address_line(at, address_word(d, 0));
        uint64_t second = address_second_line(at, address_word(d, 2), first);
        uint32_t found = line_positions(at, first, (k + 1) / 2, address_word(d, 0),
                                        address_word(d, 1), address_word(d, 4), out);
        (void)line_positions(at, second, k / 2, address_word(d, 2), address_word(d, 3),
                             address_word(d, 5), out + found);
        break;
    }
    }
    return k;
}
