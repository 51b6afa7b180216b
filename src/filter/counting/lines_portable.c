/*
 * lines_portable.c: the blocked and paired loops over lines of 128 bits, in plain C. A
 * line is two words of four sectors of 16 bits.
 */
#include "cells/bits.h"
#include "filter/counting/internal.h"

struct line_mask {
    uint64_t half[2];
};

/* 1 shifted by a cell's number; nothing for ADDRESS_SKIP and above. */
static inline uint64_t cell_bit(uint64_t cells, int sector)
{
    uint64_t cell = cells >> (8 * sector);
    return (~cell / ADDRESS_SKIP & 1) << (cell & 15);
}

static inline struct line_mask line_mask_of(uint64_t cells)
{
    struct line_mask mask = {{0, 0}};
    for (int s = 0; s < ADDRESS_SECTORS; s++) {
        mask.half[s / 4] |= cell_bit(cells, s) << (16 * (s % 4));
    }
    return mask;
}

static inline struct line_mask line_mask_or(struct line_mask a, struct line_mask b)
{
    return (struct line_mask){{a.half[0] | b.half[0], a.half[1] | b.half[1]}};
}

static inline bool line_holds(const void *line, struct line_mask mask)
{
    const uint64_t *words = line;
    return ((mask.half[0] & ~words[0]) | (mask.half[1] & ~words[1])) == 0;
}

static inline void line_set(void *line, struct line_mask mask)
{
    uint64_t *words = line;
    words[0] |= mask.half[0];
    words[1] |= mask.half[1];
}

#define LINE_BYTES        16
#define LINE_SECTOR_CELLS 16
#define LINES_DIGESTS_ALONE
#include "filter/lines/loops.h"

const struct bloom_kernels tepal_counting_lines_portable = {.query = lines_query};
