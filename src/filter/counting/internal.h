/*
 * internal.h: the counting filter from the inside.
 *
 *   counting.c      the kind: construction, one key, its table entry
 *   batch.c         many keys: the same, requested some keys ahead
 *   whole.c         whole filters: invariants, union, difference, the bits alone, info
 *   census_*.c      all counters: their sums, and whether the bits say the same (census.h)
 *   audit.c         what removals have done and would do, against a list of members; repair
 *   avoid.c         keys that must not be found: bits that are cleared and counters that stay
 *   offline.c       groups for keys that are all known: a search
 *   assign.c        which of its groups each of these members is in
 *   change_avx2.c   many keys in short lines, blocked, one choice, a counter in each lane
 *   long.c          the same in long lines, in plain C; long_avx2.c: a sector in each lane
 *   lines_*.c       queries in lines of 128 bits (lines/loops.h once more)
 *
 * The words of a filter: counters, then bits.
 *
 *     | 4-bit counters, 16 a word ......................... | bits, 64 a word .... |
 *       counter i: is bits 4 (i % 16).. of word i / 16        bit i: is its counter above 0?
 *
 * In short lines, 8 words of counters (128 of them, a cache line) belong to 2 words of bits; in
 * long ones, 32 words (512, four cache lines) belong to 8, a cache line: positions, bits and
 * queries are those of a Bloom filter. The counter of position i is number i, and in long lines
 * number counting_slot. Counters of 8 bits are 8 a word, twice as many words a line; the positions
 * of keys are the same.
 *
 * A filter that learns (params.counting.most_lost above 0) may have cleared bits too: 0 although
 * the counter is above 0. Queries ask the bits; removals ask the counters.
 */
#ifndef TEPAL_SRC_FILTER_COUNTING_INTERNAL_H
#define TEPAL_SRC_FILTER_COUNTING_INTERNAL_H

#include <tepal/avoid.h>
#include <tepal/counting.h>

#include "base/work.h"
#include "cells/bits.h"
#include "cells/counters.h"
#include "filter/bloom/kernels.h"
#include "filter/kind.h"

/* What all counters add up to. */
struct counting_sums {
    uint64_t ones; /* counters above 0 */
    uint64_t sum;
    uint64_t stuck;
};

static inline void counting_sums_add(struct counting_sums *sums, struct counting_sums more)
{
    sums->ones += more.ones;
    sums->sum += more.sum;
    sums->stuck += more.stuck;
}

struct counting_census {
    struct counting_sums (*sums)(const uint64_t *words, size_t count, uint32_t wide);
    /*
     * Are these `count` words of bits those of as many times four words of narrow counters? In long
     * lines (`spread`) there are eight words of bits in each. If so, *sums is what they add up to.
     */
    bool (*agrees)(const uint64_t *words, const uint64_t *bits, size_t count, bool spread,
                   struct counting_sums *sums);
};

extern const struct counting_census tepal_counting_census_portable;
extern const struct counting_census tepal_counting_census_avx2; /* if tepal_processor_has_avx2() */
extern const struct counting_census tepal_counting_census_avx512; /* if ..._avx512() */

/* The state of a counting filter: history, then what the cells must agree with. */
enum counting_state {
    COUNTING_REMOVED, /* removals that were done */
    COUNTING_REFUSED, /* removals of keys that were not found */
    COUNTING_MULTI,   /* removals that were done although several groups were found */
    COUNTING_KEPT,    /* removals that were not done, for that reason */
    COUNTING_ONES,    /* counters above 0 */
    COUNTING_SUM,     /* of all counters */
    COUNTING_STUCK,   /* counters at their limit */
    COUNTING_LOST,    /* the sum of the counters whose bits were cleared (avoid.c) */
    COUNTING_STATES
};

#define COUNTING_NOT     "this is not a counting filter"
#define COUNTING_DROPPED "this counting filter has only its bits: the counters were dropped"

#define COUNTING_LINE_WORDS 2 /* of bits, in a short line */

struct tepal_counting {
    struct tepal_filter head;
    struct address at;
    const struct bloom_kernels *kernels; /* query the bits */
    uint64_t *bits;
    uint32_t choices;
    enum tepal_counting_rule rule;
    enum tepal_counting_policy policy;
    bool lined;      /* blocked or paired */
    bool spread;     /* in long lines */
    uint32_t line;   /* cells of a line, if there are lines */
    bool may_repeat; /* two positions of a key may coincide */
    bool has_counters;
    uint32_t wide; /* COUNTERS_NARROW or _WIDE */
    uint32_t most; /* what a counter can be: 15 or 255 */
    bool in_long;  /* long.c can change it */
    bool in_lanes; /* with AVX2: long_avx2.c or change_avx2.c can */
    bool learns;   /* bits may be cleared whose counters are above 0 */
};

extern const struct filter_ops tepal_counting_ops;
extern const struct bloom_kernels tepal_counting_lines_portable;
extern const struct bloom_kernels
    tepal_counting_lines_avx2; /* only if tepal_processor_has_avx2() */

/*
 * Add or remove keys of a filter that is in_lanes and not in_long. `done`: cleared by the caller,
 * or NULL. Returns how many were removed. The counts of keys added are the caller's.
 */
void tepal_counting_blocked_add_avx2(struct tepal_counting *counting,
                                     const struct tepal_digest *digests, size_t count);
size_t tepal_counting_blocked_remove_avx2(struct tepal_counting *counting,
                                          const struct tepal_digest *digests, size_t count,
                                          uint64_t *done);

/* The same for a filter that is in_long (_avx2: and in_lanes); and one query. */
void tepal_counting_long_add(struct tepal_counting *counting, const struct tepal_digest *digests,
                             size_t count);
size_t tepal_counting_long_remove(struct tepal_counting *counting,
                                  const struct tepal_digest *digests, size_t count, uint64_t *done);
void tepal_counting_long_add_avx2(struct tepal_counting *counting,
                                  const struct tepal_digest *digests, size_t count);
size_t tepal_counting_long_remove_avx2(struct tepal_counting *counting,
                                       const struct tepal_digest *digests, size_t count,
                                       uint64_t *done);
/* Either, whatever the lines. */
void tepal_counting_add_lines(struct tepal_counting *counting, const struct tepal_digest *digests,
                              size_t count);
bool tepal_counting_long_query(const struct tepal_counting *counting, struct tepal_digest digest);

static inline struct tepal_counting *counting_of(struct tepal_filter *filter)
{
    return (struct tepal_counting *)filter;
}

static inline const struct tepal_counting *counting_of_const(const struct tepal_filter *filter)
{
    return (const struct tepal_counting *)filter;
}

/* Is it of this kind? Public calls ask before they look further. */
static inline bool counting_is(const struct tepal_filter *filter)
{
    return filter->ops == &tepal_counting_ops;
}

/* Does it have counters? Neither other kinds nor the bits alone have. */
static inline bool counting_counts(const struct tepal_filter *filter)
{
    return counting_is(filter) && counting_of_const(filter)->has_counters;
}

/* May keys be added and removed? A view cannot be written, and bits alone are not counters. */
static inline enum tepal_status counting_writable(const struct tepal_filter *filter)
{
    if (counting_is(filter) && filter_read_only(filter)) {
        return TEPAL_READ_ONLY;
    }
    return counting_counts(filter) ? TEPAL_OK : TEPAL_UNSUPPORTED;
}

/* Keys that were added and not removed. */
static inline uint64_t counting_keys_now(const struct tepal_counting *counting)
{
    uint64_t added = counting->head.state.keys_added;
    uint64_t removed = counting->head.state.own[COUNTING_REMOVED];
    return added > removed ? added - removed : 0;
}

/*
 * The digest of a key's group g: the key's own for g = 0, so that c = 1 has the positions of a
 * Bloom filter, and for the others two words that no layout draws (address.h).
 */
#define COUNTING_GROUP_WORDS ((uint64_t)1 << 20)

static inline struct tepal_digest counting_group(struct tepal_digest d, uint32_t g)
{
    if (g == 0) {
        return d;
    }
    uint64_t step = (COUNTING_GROUP_WORDS + 2 * g) * ADDRESS_GOLDEN;
    return (struct tepal_digest){.lo = address_more(d, step),
                                 .hi = address_more(d, step + ADDRESS_GOLDEN)};
}

/* The distinct positions of a group's digest; returns how many. */
uint32_t tepal_counting_draw(const struct tepal_counting *counting, struct tepal_digest group,
                             uint64_t *out);

/* What adding a key at these positions costs by the filter's rule: the least is chosen. */
uint64_t tepal_counting_cost(const struct tepal_counting *counting, const uint64_t *positions,
                             uint32_t count);

/* Groups of equal cost; one is taken by the key's hash. Start with the largest cost and none. */
struct counting_ties {
    uint64_t cost;
    uint32_t count;
    uint8_t group[TEPAL_MAX_CHOICES];
};

static inline void counting_offer(struct counting_ties *ties, uint32_t group, uint64_t cost)
{
    if (cost < ties->cost) {
        ties->cost = cost;
        ties->count = 0;
    }
    if (cost == ties->cost) {
        ties->group[ties->count++] = (uint8_t)group;
    }
}

static inline uint32_t counting_take(const struct counting_ties *ties, struct tepal_digest d)
{
    if (ties->count == 1) {
        return ties->group[0];
    }
    uint64_t word = address_more(d, (COUNTING_GROUP_WORDS - 1) * ADDRESS_GOLDEN);
    return ties->group[wide_scale(word, ties->count)];
}

static inline bool counting_holds(const struct tepal_counting *counting, const uint64_t *positions,
                                  uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!bits_test(counting->bits, positions[i])) {
            return false;
        }
    }
    return true;
}

/*
 * Clear the bit of a counter, which is above 0 and below its limit: the members that it counts are
 * lost, at most so many. Or set it again.
 */
void tepal_counting_hide(struct tepal_counting *counting, uint64_t position);
void tepal_counting_show(struct tepal_counting *counting, uint64_t position);

/* Increment (decrement) the counters of a key; to decrement, all must be above 0. */
void tepal_counting_raise(struct tepal_counting *counting, const uint64_t *positions,
                          uint32_t count);
void tepal_counting_lower(struct tepal_counting *counting, const uint64_t *positions,
                          uint32_t count);

/* The groups that hold a key, by the bits or by the counters: bit g for group g. */
uint64_t tepal_counting_holding(const struct tepal_counting *counting, struct tepal_digest digest);
uint64_t tepal_counting_counting(const struct tepal_counting *counting, struct tepal_digest digest);

/*
 * Where a long line has the counter of a cell: first the counters of the first words of all
 * sectors, then those of the second ones, so that a cache line has some of each sector (long.c).
 */
static inline uint64_t counting_long_slot(uint32_t wide, uint64_t position)
{
    uint32_t per = 6 - wide; /* log2 of the counters in a word */
    uint64_t cell = position % 64;
    uint64_t sector = position / 64 % ADDRESS_SECTORS;
    return (position & ~(uint64_t)(TEPAL_LINE_BITS - 1)) | (cell >> per) << (per + 3) |
           sector << per | (cell & ((1u << per) - 1));
}

/* The counter of a position. */
static inline uint64_t counting_slot(const struct tepal_counting *counting, uint64_t position)
{
    return counting->spread ? counting_long_slot(counting->wide, position) : position;
}

static inline uint32_t counting_value(const struct tepal_counting *counting, uint64_t position)
{
    return counting->has_counters ? counters_get(counting->head.words, counting->wide,
                                                 counting_slot(counting, position))
                                  : bits_test(counting->bits, position);
}

/* Are all its counters above 0? What removals ask; unless the filter learns, its bits say it. */
static inline bool counting_counted(const struct tepal_counting *counting,
                                    const uint64_t *positions, uint32_t count)
{
    if (!counting->learns || !counting->has_counters) {
        return counting_holds(counting, positions, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (counting_value(counting, positions[i]) == 0) {
            return false;
        }
    }
    return true;
}

/*
 * What members ask of the counters: the group that each is in, and how many of them each counter
 * should have counted (up to a limit, where it stays).
 */
#define COUNTING_WISH_MAX UINT16_MAX

struct arena;
struct counting_wish {
    uint8_t *group;
    uint16_t *wanted;
    bool estimated; /* there were several groups and no receipts */
};

/* Receipts (may be NULL) are below c. TEPAL_NO_MEMORY, or TEPAL_STOPPED by `work`. */
enum tepal_status tepal_counting_assign(const struct tepal_counting *counting,
                                        const struct tepal_digest *members, const uint8_t *receipts,
                                        size_t count, struct work *work, struct arena *arena,
                                        struct counting_wish *wish);

/* The kind's operations that live in other files than counting.c, and those that these call. */
enum tepal_status tepal_counting_op_remove(struct tepal_filter *filter, struct tepal_digest digest);
enum tepal_status tepal_counting_op_add_many(struct tepal_filter *filter,
                                             const struct tepal_digest *digests, size_t count);
enum tepal_status tepal_counting_op_remove_many(struct tepal_filter *filter,
                                                const struct tepal_digest *digests, size_t count,
                                                size_t *removed);
size_t tepal_counting_op_query_many(const struct tepal_filter *filter,
                                    const struct tepal_digest *digests, size_t count,
                                    uint64_t *answers);
enum tepal_status tepal_counting_op_unite(struct tepal_filter *into,
                                          const struct tepal_filter *other);
uint64_t tepal_counting_op_ones(const struct tepal_filter *filter);
double tepal_counting_op_fp_now(const struct tepal_filter *filter);
const char *tepal_counting_op_validate(const struct tepal_filter *filter);
const char *tepal_counting_op_validate_cells(const struct tepal_filter *filter);
void tepal_counting_op_info(const struct tepal_filter *filter, struct tepal_report *report);
enum tepal_status tepal_counting_op_allow(struct tepal_filter *filter, uint64_t members,
                                          struct tepal_error *error);
enum tepal_status tepal_counting_op_avoid(struct tepal_filter *filter,
                                          const struct tepal_digest *digests, size_t count,
                                          uint64_t *refused, struct tepal_avoided *done,
                                          struct tepal_error *error);

#endif
