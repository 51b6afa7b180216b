/*
 * line_portable.h: the operations on a line of 512 bits in plain C, for the loops that are written
 * once (loops.h, recycling/lines.h).
 */
#ifndef TEPAL_SRC_FILTER_LINES_LINE_PORTABLE_H
#define TEPAL_SRC_FILTER_LINES_LINE_PORTABLE_H

#include "address/address.h"
#include "cells/bits.h"

struct line_mask {
    uint64_t sector[ADDRESS_SECTORS];
};

/* 1 shifted by a cell's number; nothing for ADDRESS_SKIP and above. */
static inline uint64_t cell_bit(uint64_t cells, int sector)
{
    uint64_t cell = cells >> (8 * sector);
    return (~cell / ADDRESS_SKIP & 1) << (cell & 63);
}

static inline struct line_mask line_mask_of(uint64_t cells)
{
    struct line_mask mask;
    for (int s = 0; s < ADDRESS_SECTORS; s++) {
        mask.sector[s] = cell_bit(cells, s);
    }
    return mask;
}

static inline struct line_mask line_mask_or(struct line_mask a, struct line_mask b)
{
    for (int s = 0; s < ADDRESS_SECTORS; s++) {
        a.sector[s] |= b.sector[s];
    }
    return a;
}

static inline bool line_holds(const void *line, struct line_mask mask)
{
    const uint64_t *words = line;
    uint64_t missing = 0;
    for (int s = 0; s < ADDRESS_SECTORS; s++) {
        missing |= mask.sector[s] & ~words[s];
    }
    return missing == 0;
}

static inline void line_set(void *line, struct line_mask mask)
{
    uint64_t *words = line;
    for (int s = 0; s < ADDRESS_SECTORS; s++) {
        words[s] |= mask.sector[s];
    }
}

/* How many bits of the mask are not set in the line; `two` if a sector may have two of them. */
static inline uint32_t line_missing(const void *line, struct line_mask mask, bool two)
{
    const uint64_t *words = line;
    uint32_t missing = 0;
    for (int s = 0; s < ADDRESS_SECTORS; s++) {
        uint64_t left = mask.sector[s] & ~words[s];
        missing += two ? bits_count_word(left) : left != 0;
    }
    return missing;
}

#endif
