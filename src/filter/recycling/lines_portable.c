/* lines_portable.c: the recycling filter's blocked loops in plain C, for any machine. */
#include "filter/lines/line_portable.h"
#include "filter/recycling/internal.h"

static inline uint32_t line_shared(const void *line, struct line_mask mask, const void *other,
                                   bool two)
{
    const uint64_t *words = line;
    const uint64_t *others = other;
    uint32_t shared = 0;
    for (int s = 0; s < ADDRESS_SECTORS; s++) {
        uint64_t both = mask.sector[s] & ~words[s] & others[s];
        shared += two ? bits_count_word(both) : both != 0;
    }
    return shared;
}

#define line_two(r) ((r)->at.hashes > ADDRESS_SECTORS)

#include "filter/recycling/notes.h"
#include "filter/recycling/lines.h"

const struct recycling_kernels tepal_recycling_lines_portable = {lines_seen, lines_query,
                                                                 line_seen_one, line_query_one};
