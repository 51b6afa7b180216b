/*
 * generalized_struct.h: the generalized Bloom filter from the inside: which bits a key resets and
 * which it sets.
 *
 *   flat     positions 0 .. k0-1 are reset, the others set.
 *   blocked  all in one line of 8 sectors, as the Bloom filter's (address.h). Which of the cells
 *            are resets is drawn for each key anew: were it always the first ones, the first
 *            sectors would be reset ever, the last ones set ever, and both would saturate.
 *
 * A line's cells are one byte a sector: the cell's number; ADDRESS_SKIP is added where there is no
 * cell, and ROLE_RESET where it is reset. Hence 1 shifted by the byte is the bit to set, or
 * nothing; with ROLE_RESET flipped, the bit to reset, or nothing; with it removed, either.
 *
 * For k <= 8 the sectors and their roles are drawn together, from the 8! / (k0! k1! (8-k)!) ways:
 * at most 560, and for k0 = 0 the Bloom filter's own subsets in their own order. For k = 8 + r the
 * first round has a cell in all eight sectors, the second in r of them; the resets are shared out
 * in proportion, and the first round's ways are drawn from word 3.
 */
#ifndef TEPAL_SRC_FILTER_GENERALIZED_STRUCT_H
#define TEPAL_SRC_FILTER_GENERALIZED_STRUCT_H

#include <tepal/generalized.h>

#include "address/address.h"
#include "filter/kind.h"

#define ROLE_RESET      0x80
#define ROLE_RESET_ALL  (ROLE_RESET * ADDRESS_BYTES)
#define ROLES_MAX       560 /* 8! / (3! 3! 2!) */
#define ROLES_FIRST_MAX 70

struct roles {
    uint32_t resets;       /* k0 */
    uint32_t first_resets; /* of these, in the first of two rounds; 0 without */
    uint32_t tolerance;
    bool two;            /* k > 8 */
    uint64_t ways;       /* of the only round, or of the second */
    uint64_t first_ways; /* of the first of two */
    uint64_t table[ROLES_MAX];
    uint64_t first_table[ROLES_FIRST_MAX];
};

struct generalized_kernels;

struct tepal_generalized {
    struct tepal_filter head;
    struct address at;
    const struct generalized_kernels *kernels;
    struct roles roles; /* the tables are those of the blocked layout */
};

/* The positions of a key: first those it resets, then those it sets. */
struct places {
    uint64_t at[TEPAL_MAX_HASHES];
    uint32_t resets;
    uint32_t count;
};

void tepal_generalized_places(const struct tepal_generalized *g, struct tepal_digest d,
                              struct places *out);

/*
 * Bits of a key that are not as it left them: those it reset (0) or set (1). A bit counts once, and
 * one that it reset does not count as one that it set. *places counts the key's bits of that sort.
 */
uint32_t tepal_generalized_lost(const uint64_t *words, const struct places *key, bool set,
                                uint32_t *places);

/* Are at most `tolerance` of a key's bits inverted? */
bool tepal_generalized_found(const struct tepal_generalized *g, const struct places *key);

/* What an addition does: sets first, then resets, which therefore win. */
void tepal_generalized_put(uint64_t *words, const struct places *key);

/* filter_ops.info */
void tepal_generalized_info(const struct tepal_filter *filter, struct tepal_report *report);

/* The cells of a key in its line. Without `two` the second round is empty. */
static inline struct address_cells roles_cells(const struct roles *roles, bool two, bool distinct,
                                               struct tepal_digest d)
{
    uint64_t sectors = address_sectors(roles->table, roles->ways, d.hi);
    if (!two) {
        return address_line_cells(false, sectors, distinct, 63 * ADDRESS_BYTES, d.lo, 0);
    }
    struct address_cells cells =
        address_line_cells(true, sectors, distinct, 63 * ADDRESS_BYTES, d.lo, address_word(d, 2));
    cells.round[0] |= address_sectors(roles->first_table, roles->first_ways, address_word(d, 3));
    return cells;
}

#endif
