/*
 * internal.h: retouching from the inside: one run, and who does what in it.
 *
 *   retouched.c   the kind: a Bloom filter with a history
 *   retouch.c     the public calls: what is refused, the order of a run
 *   found.c       who is found before: members, the false positives B
 *   tally.c       the index: which bits B touches, who owns them, who uses them
 *   blocks.c      positions of many keys, a block of the filter at a time
 *   clear.c       the paper's methods: clear a bit of each troublesome key
 *   sacrifice.c   ours: give up members
 *   queue.c       the bits that they may be given up for, the best first
 *   blind.c       the same without the members: what they are expected to lose
 *   avoid.c       keys to avoid that become known one by one
 *   sweep.c       the new filter
 *   report.c      what was done, by asking the new filter
 *   curve.c       the points along the way
 *   exceptions.c  the members given up, as an exact list beside the filter
 *
 * The index. Only bits that a key of B touches can matter, and of those only their members:
 *
 *     touched   0 0 1 0 1 1 0 0 1 ...      a bitmap over all m bits; the ones are numbered
 *     number        0   1 2     3 ...      from the left: `rank` holds the count before each word
 *     owners    bit -> the members that have it            (found ones; as indices)
 *     users     bit -> the false positives that have it    (B first, then others that are known)
 *
 * All lists are two arrays: where each list starts, and all lists one after the other, the owners
 * of a bit and then its users, so that one cache line often holds both. A key that hits a bit twice
 * is in its list once. Which bits a key has is computed from its digest again when needed, or for
 * methods that need it often looked up in lists by key: to compute it takes as many random reads as
 * the key has bits, to look it up two.
 *
 * What changes in a run is two bitmaps: `lost` (members that are given up) and `gone` (false
 * positives that are removed). Every count is taken from the lists and the bitmaps when it is
 * needed, never kept: lists are short (a set bit has kn/ones = 1.3 owners), and nothing drifts.
 */
#ifndef TEPAL_SRC_FILTER_RETOUCHED_INTERNAL_H
#define TEPAL_SRC_FILTER_RETOUCHED_INTERNAL_H

#include <tepal/retouched.h>

#include "base/arena.h"
#include "base/work.h"
#include "cells/bits.h"
#include "filter/bloom/internal.h"
#include "filter/known/known.h"
#include "model/loss.h"

/* The state of a retouched filter. */
enum retouched_state {
    RETOUCHED_MEMBERS,
    RETOUCHED_VICTIMS,
    RETOUCHED_CLEARED,
    RETOUCHED_EXPECTED, /* 1: some of the victims were not counted but expected, members too */
    RETOUCHED_BUDGET,   /* members that avoid.c may lose in total; 0: it was not allowed to */
    RETOUCHED_PART,     /* of a victim, expected, in 2^-32: below 2^32 */
    RETOUCHED_STATES
};

extern const struct filter_ops tepal_retouched_ops;

#define RETOUCHED_PARTS 0x1p32 /* of a victim */

/* The victims, with the part of one that is expected. */
static inline double retouched_lost(const struct tepal_filter *filter)
{
    const uint64_t *own = filter->state.own;
    return (double)own[RETOUCHED_VICTIMS] + (double)own[RETOUCHED_PART] / RETOUCHED_PARTS;
}

/* list of bit i: item[start[i]] .. item[start[i + 1] - 1] */
struct retouch_lists {
    uint32_t *start;
    uint32_t *item;
};

/* What sacrifice asks of a member together. */
struct retouch_member {
    uint32_t first; /* of its bits in `member_bits`, up to the first of the next member */
    uint32_t
        alone;  /* how many of its bits, touched or not, nobody else has; 0: it has no touched */
    float sole; /* sacrifice.c */
};

/* The curve, if one is asked for: every `stride`-th step is kept; when full, every other goes. */
struct retouch_curve {
    struct tepal_retouch_point *points;
    size_t room;
    size_t count;
    uint64_t stride;
    uint64_t steps;
};

struct retouch {
    const struct tepal_bloom *from; /* the filter, of either kind */
    const struct tepal_known *in;
    const struct tepal_retouch_options *how;
    struct work work;
    struct arena arena; /* everything below that is an array */
    struct tepal_retouch_report report;
    uint64_t *wanted; /* over in->avoid: false positives that are to be removed */
    uint64_t *others; /* over in->others: further ones; NULL if none were given */

    /* false positives: the first `targets` are B in the order to be taken */
    uint32_t *falses; /* index into in->avoid, or (from `targets` on) in->others */
    uint32_t targets;
    uint32_t false_count;

    uint64_t *touched;
    uint32_t *rank;
    uint32_t bits;             /* how many are touched */
    struct retouch_lists keys; /* owners of bit i: list 2 i; its users: list 2 i + 1 */
    /* the same, by key: for methods that ask often (sacrifice); else not there */
    struct retouch_member *member; /* and one behind the last */
    uint32_t *member_bits;         /* none of earlier victims */
    struct retouch_lists false_bits;
    uint64_t *owned; /* over touched bits: some given member has it, found or not */

    uint64_t *lost;    /* over members: not found, or given up */
    uint64_t *foreign; /* over members: never added (kind bloom); NULL if there are none */
    uint64_t *gone;    /* over false positives */
    uint64_t *cleared; /* over touched bits */

    /* running totals */
    uint64_t lost_count;
    double lost_weight;
    uint64_t gone_targets;
    double gone_weight;
    struct known_limits limits; /* of these */
    struct retouch_curve *curve;

    /* without the members (blind.c): no owners, and no `owned`, `lost` and `foreign` then */
    bool blind;
    const struct tepal_filter *counters; /* the counting filter that `from` was; NULL: none */
    struct loss loss;                    /* of this run */
    double most_lost;     /* the limit of the expectation, earlier victims included */
    uint64_t *place;      /* over touched bits: where they are */
    uint64_t owners_gone; /* the sum of the counters of the cleared bits */
    bool stuck;           /* one of these counters may have been higher */
};

/* ---- the steps of a run, in their order ------------------------------------------------------ */

/*
 * `lost`, `wanted`, `others`, `falses` and the report's counts of before. TEPAL_MISMATCH (with its
 * error) if the members are not the filter's; TEPAL_NO_MEMORY (without).
 */
enum tepal_status tepal_retouch_find(struct retouch *run, struct tepal_error *error);

/* The filter without what a method cleared. TEPAL_NO_MEMORY. */
enum tepal_status tepal_retouch_make(struct retouch *run, struct tepal_filter **out);

/*
 * The rest of the report, by asking `made`, whose state is set from it; `lost` becomes those who
 * are not found. TEPAL_NO_MEMORY.
 */
enum tepal_status tepal_retouch_compare(struct retouch *run, struct tepal_filter *made);

/* ---- without the members (blind.c) ----------------------------------------------------------- */

/*
 * How many members there are, by the bits (or the counters), and how many were lost before; the
 * limit in members. TEPAL_BAD_ARGUMENT (with its error) if the bits cannot tell; TEPAL_NO_MEMORY.
 */
enum tepal_status tepal_retouch_blind_open(struct retouch *run, struct tepal_error *error);

/* Where the touched bits are; after their index was made. TEPAL_NO_MEMORY. */
enum tepal_status tepal_retouch_blind_index(struct retouch *run);

/* v_A(i), by the counter; NaN without. */
double tepal_retouch_blind_owners(const struct retouch *run, uint32_t bit);

/* Does clearing the bit keep the expectation within the limit? Then clear it. */
bool tepal_retouch_blind_affordable(const struct retouch *run, uint32_t bit);
void tepal_retouch_blind_clear(struct retouch *run, uint32_t bit);

/* What was lost, into the report. */
void tepal_retouch_blind_report(struct retouch *run);

/* The ones of every region (model/loss.h). */
void tepal_retouch_region_ones(const struct tepal_filter *from, struct loss_region *region,
                               uint64_t count);

/* ---- keys that become known later (avoid.c): of Bloom and of retouched filters --------------- */

enum tepal_status tepal_retouched_op_allow(struct tepal_filter *filter, uint64_t members,
                                           struct tepal_error *error);
enum tepal_status tepal_retouched_op_avoid(struct tepal_filter *filter,
                                           const struct tepal_digest *digests, size_t count,
                                           uint64_t *refused, struct tepal_avoided *done,
                                           struct tepal_error *error);

/* ---- the index (tally.c) --------------------------------------------------------------------- */

/* `falses`, `lost` and the bits of `touched` are set; everything that depends on them is made. */
enum tepal_status tepal_retouch_index(struct retouch *run);

/* The numbers of the touched bits that a key has, each once, ascending by hash; at most hashes. */
uint32_t tepal_retouch_bits(const struct retouch *run, struct tepal_digest digest, uint32_t *ids);

static inline struct tepal_digest retouch_false(const struct retouch *run, uint32_t f)
{
    return f < run->targets ? run->in->avoid[run->falses[f]] : run->in->others[run->falses[f]];
}

static inline double retouch_false_weight(const struct retouch *run, uint32_t f)
{
    return f >= run->targets ? 1 : known_weight_of(run->in->avoid_weights, run->falses[f]);
}

static inline double retouch_member_weight(const struct retouch *run, uint32_t a)
{
    return known_weight_of(run->in->member_weights, a);
}

/* Where a bit's owners are in `keys.item`, and where its users are: side by side. */
static inline uint32_t retouch_owners(const struct retouch *run, uint32_t bit)
{
    return run->keys.start[2 * (size_t)bit];
}

static inline uint32_t retouch_owners_end(const struct retouch *run, uint32_t bit)
{
    return run->keys.start[2 * (size_t)bit + 1];
}

static inline uint32_t retouch_users(const struct retouch *run, uint32_t bit)
{
    return run->keys.start[2 * (size_t)bit + 1];
}

static inline uint32_t retouch_users_end(const struct retouch *run, uint32_t bit)
{
    return run->keys.start[2 * (size_t)bit + 2];
}

/* The number of a touched bit. */
static inline uint32_t retouch_number(const struct retouch *run, uint64_t position)
{
    uint64_t below = ((uint64_t)1 << (position & 63)) - 1;
    return run->rank[position >> 6] + bits_count_word(run->touched[position >> 6] & below);
}

/* What giving up all the owners of a bit costs. */
struct retouch_cost {
    uint32_t members;
    double weight;
};

static inline struct retouch_cost retouch_cost_of(const struct retouch *run, uint32_t bit)
{
    struct retouch_cost cost = {0, 0};
    for (uint32_t i = retouch_owners(run, bit); i < retouch_owners_end(run, bit); i++) {
        uint32_t member = run->keys.item[i];
        if (!bits_test(run->lost, member)) {
            cost.members++;
            cost.weight += retouch_member_weight(run, member);
        }
    }
    return cost;
}

static inline bool retouch_affordable(const struct retouch *run, struct retouch_cost cost)
{
    return run->lost_count + cost.members <= run->limits.lost &&
           (run->lost_weight + cost.weight <= run->limits.weight || cost.members == 0);
}

static inline void retouch_lose(struct retouch *run, uint32_t member)
{
    bits_set(run->lost, member);
    run->lost_count++;
    run->lost_weight += retouch_member_weight(run, member);
}

/* A false positive that is not gone yet is removed. */
static inline void retouch_remove(struct retouch *run, uint32_t f)
{
    bits_set(run->gone, f);
    if (f < run->targets) {
        run->gone_targets++;
        run->gone_weight += retouch_false_weight(run, f);
    }
}

/* All that use the bit are. */
static inline void retouch_free_users(struct retouch *run, uint32_t bit)
{
    for (uint32_t i = retouch_users(run, bit); i < retouch_users_end(run, bit); i++) {
        if (!bits_test(run->gone, run->keys.item[i])) {
            retouch_remove(run, run->keys.item[i]);
        }
    }
}

/* Note the totals for the curve, if there is one; called after every step. */
void tepal_retouch_note(struct retouch *run);

/* The last point, from the report of the whole run; returns how many points there are. */
size_t tepal_retouch_curve_end(struct retouch_curve *curve,
                               const struct tepal_retouch_report *report);

/* ---- the methods ----------------------------------------------------------------------------- */

/* random-bits: choose the bits, as `touched`. Before the index is made. */
void tepal_retouch_choose_bits(struct retouch *run);

/* The paper's methods: `cleared`, `lost` and `gone` are set. TEPAL_NO_MEMORY. */
enum tepal_status tepal_retouch_clear(struct retouch *run);

/* Ours: `lost` and `gone` are set. TEPAL_NO_MEMORY. */
enum tepal_status tepal_retouch_sacrifice(struct retouch *run);

#endif
