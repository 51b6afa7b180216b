/*
 * internal.h: the generalized Bloom filter from the inside: who does what, and which bits a key
 * resets and which it sets.
 *
 *   generalized.c   the kind: its first state, one key, its table entry
 *   kernels.h       batches: the table of kernels, and who has them
 *   tell.c          what its bits say: its rate now, the age of a key, info
 *   retouch.c       false positives removed by inverting bits
 *   curve.c         what each budget would remove
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
 * in proportion. The first round's ways are drawn from the 16 bits of its cell word that choose no
 * cell. If there are resets, a key's two cells in one sector always differ, whatever the rule for
 * positions says: no reset meets a set, and the rounds can be asked one after the other.
 */
#ifndef TEPAL_SRC_FILTER_GENERALIZED_INTERNAL_H
#define TEPAL_SRC_FILTER_GENERALIZED_INTERNAL_H

#include <tepal/generalized.h>
#include <tepal/retouched.h>

#if defined(__BMI2__) && defined(__x86_64__)
#include <immintrin.h>
#endif

#include "address/address.h"
#include "base/work.h"
#include "filter/kind.h"
#include "filter/known/known.h"

#define ROLE_RESET      0x80
#define ROLE_RESET_ALL  (ROLE_RESET * ADDRESS_BYTES)
#define ROLES_MAX       560 /* 8! / (3! 3! 2!) */
#define ROLES_FIRST_MAX 70

struct roles {
    uint32_t resets;       /* k0 */
    uint32_t first_resets; /* of these, in the first of two rounds; 0 without */
    uint32_t tolerance;
    bool two;            /* k > 8 */
    bool apart;          /* the two cells of a sector differ */
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

/* filter_ops.ones, .fp_now and .info (tell.c) */
uint64_t tepal_generalized_ones(const struct tepal_filter *filter);
double tepal_generalized_fp_now(const struct tepal_filter *filter);
void tepal_generalized_info(const struct tepal_filter *filter, struct tepal_report *report);

/*
 * What tepal_retouch does with a generalized filter, once all has been checked: by net-effect or
 * least-fn, within these limits. `work` is in the phase that this is.
 */
enum tepal_status
tepal_generalized_retouch(const struct tepal_filter *filter, const struct tepal_known *known,
                          enum tepal_retouch_method method, struct known_limits limits,
                          struct work *work, const struct tepal_allocator *allocator,
                          struct tepal_filter **out, struct tepal_retouch_report *report,
                          uint64_t *victims, struct tepal_error *error);

/* The same for tepal_retouch_curve; room >= 2. */
enum tepal_status
tepal_generalized_curve(const struct tepal_filter *filter, const struct tepal_known *known,
                        enum tepal_retouch_method method, struct known_limits limits,
                        struct work *work, const struct tepal_allocator *allocator,
                        struct tepal_retouch_point *points, size_t room, size_t *count,
                        struct tepal_retouch_report *report, struct tepal_error *error);

/* The only round of a key's cells, if k <= 8. */
static inline uint64_t roles_only(const struct roles *roles, struct tepal_digest d)
{
    return (d.lo & (63 * ADDRESS_BYTES)) | address_sectors(roles->table, roles->ways, d.hi);
}

/* The 16 bits of a cell word that choose no cell: two a byte, moved together. */
static inline uint64_t roles_rest(uint64_t word)
{
#if defined(__BMI2__) && defined(__x86_64__)
    return _pext_u64(word, ~(63 * ADDRESS_BYTES));
#else
    word = word >> 6 & (3 * ADDRESS_BYTES);
    word = (word | word >> 6) & UINT64_C(0x000f000f000f000f);
    word = (word | word >> 12) & UINT64_C(0x000000ff000000ff);
    return (word | word >> 24) & 0xffff;
#endif
}

/* The first of two rounds. */
static inline uint64_t roles_first(const struct roles *roles, struct tepal_digest d)
{
    return (d.lo & (63 * ADDRESS_BYTES)) |
           roles->first_table[roles_rest(d.lo) * roles->first_ways >> 16];
}

/* The second of two. */
static inline uint64_t roles_second(const struct roles *roles, struct tepal_digest d)
{
    uint64_t sectors = address_sectors(roles->table, roles->ways, d.hi);
    return address_line_cells(true, sectors, roles->apart, 63 * ADDRESS_BYTES, d.lo,
                              address_word(d, 2))
        .round[1];
}

#endif
