/* bloom_lines_portable.c: blocked and paired loops in plain C, for any machine. */
#include "cells/bits.h"
#include "filter/bloom_kernels.h"

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

static inline uint64_t line_answers(const bool yes[64])
{
    uint64_t answers = 0;
    for (int i = 0; i < 64; i++) {
        answers |= (uint64_t)yes[i] << i;
    }
    return answers;
}

#include "filter/bloom_lines.h"

const struct bloom_kernels tepal_bloom_lines_portable = {lines_add, lines_query};
