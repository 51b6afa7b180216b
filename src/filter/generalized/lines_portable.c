/* lines_portable.c: the blocked loops in plain C, a sector at a time. */
#include "cells/bits.h"
#include "filter/generalized/kernels.h"

struct line_bits {
    uint64_t all[ADDRESS_SECTORS];
    uint64_t set[ADDRESS_SECTORS];
};

static inline struct line_bits line_bits_of(uint64_t cells)
{
    struct line_bits bits;
    for (int s = 0; s < ADDRESS_SECTORS; s++) {
        uint64_t cell = cells >> (8 * s) & 0xff;
        uint64_t bit = cell & ADDRESS_SKIP ? 0 : (uint64_t)1 << (cell & 63);
        bits.all[s] = bit;
        bits.set[s] = cell & ROLE_RESET ? 0 : bit;
    }
    return bits;
}

static inline bool line_matches(const void *line, struct line_bits bits)
{
    const uint64_t *words = line;
    uint64_t inverted = 0;
    for (int s = 0; s < ADDRESS_SECTORS; s++) {
        inverted |= (words[s] & bits.all[s]) ^ bits.set[s];
    }
    return inverted == 0;
}

static inline uint32_t line_inverted(const void *line, struct line_bits bits)
{
    const uint64_t *words = line;
    uint32_t count = 0;
    for (int s = 0; s < ADDRESS_SECTORS; s++) {
        count += ((words[s] & bits.all[s]) ^ bits.set[s]) != 0;
    }
    return count;
}

static inline void line_put(void *line, struct line_bits bits)
{
    uint64_t *words = line;
    for (int s = 0; s < ADDRESS_SECTORS; s++) {
        words[s] = (words[s] & ~bits.all[s]) | bits.set[s];
    }
}

#include "filter/generalized/lines.h"

const struct generalized_kernels tepal_generalized_lines_portable = {lines_add, lines_query};
