/*
 * internal.h: the recycling filter from the inside, for its kernels.
 *
 *   recycling.c   the kind: phases and when they turn, any layout
 *   tell.c        what it says of itself: contradictions, figures, its report
 *   average.c     the rule `average`: what a new message risks, and the sums of it; average.h:
 *                 the same for loops
 *   lines.h       the blocked layout's loops; lines_*.c: these in plain C, for AVX2 and AVX-512
 *   notes.h       how they note a group of messages
 */
#ifndef TEPAL_SRC_FILTER_RECYCLING_INTERNAL_H
#define TEPAL_SRC_FILTER_RECYCLING_INTERNAL_H

#include <tepal/recycling.h>

#include <string.h>

#include "address/address.h"
#include "base/wide.h"
#include "filter/bloom/kernels.h"
#include "filter/kind.h"

/* state.own; docs/format.md tells them too */
enum {
    STATE_CYCLES,   /* ended so far */
    STATE_ONES,     /* bits set in the active phase */
    STATE_MESSAGES, /* that set bits in it */
    STATE_FRESH,    /* messages answered "not seen", in all */
    STATE_EXPECTED, /* false positives expected so far: the bits of a double */
    STATE_CLOCKED,  /* 1 once the clock was set */
    STATE_CLOCK,    /* last set */
    STATE_BEGAN,    /* the clock when this cycle began */
    STATE_COUNT
};

#define RATE_STEPS 128

/*
 * Messages and cycles are counted this far and no further: a file may state any numbers up to
 * here, and a filter that goes on from them must still be one that can be loaded.
 */
#define RECYCLING_MOST (((uint64_t)1 << 62) - 1)

struct tepal_recycling;

/* The inner loops, by layout. Digests are answered in order; answers as in query_many. */
struct recycling_kernels {
    size_t (*seen)(struct tepal_recycling *r, const struct tepal_digest *digests, size_t count,
                   uint64_t *answers);
    size_t (*query)(const struct tepal_recycling *r, const struct tepal_digest *digests,
                    size_t count, uint64_t *answers);
    bool (*seen_one)(struct tepal_recycling *r, struct tepal_digest digest);
    bool (*query_one)(const struct tepal_recycling *r, struct tepal_digest digest);
};

/* The blocked layout, hash functions shared by all phases (lines.h). */
extern const struct recycling_kernels tepal_recycling_lines_portable;
extern const struct recycling_kernels tepal_recycling_lines_avx2;
extern const struct recycling_kernels tepal_recycling_lines_avx512;

/* What the rule `average` knows beside its words (average.c). */
struct recycling_average {
    uint64_t arrivals;               /* in all, up to the message at hand */
    uint64_t both[TEPAL_MAX_PHASES]; /* by age: cells set in this phase and the next older one */
    uint64_t ones;                   /* that `rate` is the rate of */
    uint64_t rate;                   /* in units of 2^-64, as the next two */
    uint64_t told;                   /* the chance that a new message is found now */
    wide_int frozen;                 /* what the frozen phases contribute to it */
    uint64_t safe;                   /* so many arrivals cannot be the trigger */
    uint64_t ahead;                  /* as many as the last look ahead found */
};

struct tepal_recycling {
    struct tepal_filter head;
    const struct recycling_kernels *kernels;
    const struct bloom_kernels *bloom; /* ask one phase */
    uint32_t phases;                   /* these six: decoded from params */
    enum tepal_recycling_rule rule;
    uint64_t limit;
    bool retain;
    bool keep_trigger;
    bool only_misses;
    bool own_hashes;   /* has each phase hash functions of its own? */
    struct address at; /* in each phase */
    size_t phase_words;
    size_t cleared;  /* words of the oldest phase that were cleared in advance: its first ones */
    uint64_t active; /* the number of the active phase: cycles % phases */
    uint64_t mark;   /* if the active phase has more ones, somebody must look */
    double odds;     /* expected false positives for each message answered "not seen" */
    double frozen_miss;
    uint64_t frozen_ones[TEPAL_MAX_PHASES]; /* by age; [0] is unused */
    double rate[RATE_STEPS + 1];            /* of a phase, by fill; NaN: not known yet */
    struct recycling_average average;       /* by average only */
    tepal_recycling_callback *callback;
    void *context;
};

extern const struct filter_ops tepal_recycling_ops;

static inline const struct tepal_recycling *recycling_of_const(const struct tepal_filter *filter)
{
    return (const struct tepal_recycling *)filter;
}

/* Is it of this kind? Public calls ask before they look further. */
static inline bool is_recycling(const struct tepal_filter *filter)
{
    return filter->ops == &tepal_recycling_ops;
}

static inline uint64_t *recycling_active(struct tepal_recycling *r)
{
    return r->head.words + r->active * r->phase_words;
}

/* The phase that was active `age` cycles ago. */
static inline uint32_t recycling_phase(const struct tepal_recycling *r, uint32_t age)
{
    return (uint32_t)((r->active + r->phases - age) % r->phases);
}

static inline const uint64_t *recycling_words(const struct tepal_recycling *r, uint32_t phase)
{
    return r->head.words + phase * r->phase_words;
}

/*
 * The rule `average`. A message: first _arrives, as the filter is before it; then _full asks
 * whether it is the trigger; if it is not, _took is told which of its cells are new.
 */
void tepal_average_open(struct tepal_recycling *r);
void tepal_average_weigh(struct tepal_recycling *r); /* the frozen phases have changed */
void tepal_average_turn(struct tepal_recycling *r);  /* the active one has */
void tepal_average_arrives(struct tepal_recycling *r);
bool tepal_average_full(struct tepal_recycling *r, uint64_t ones);
void tepal_average_took(struct tepal_recycling *r, const uint64_t *positions, uint64_t fresh);
/* The first `words` words of the oldest phase from `from` on are about to be cleared. */
void tepal_average_clears(struct tepal_recycling *r, size_t from, size_t words);
const char *tepal_average_flaw(const struct tepal_recycling *r);
double tepal_average_now(const struct tepal_recycling *r);
double tepal_average_so_far(const struct tepal_recycling *r);

/*
 * The digest as phase `phase` takes it: with hash functions of its own, or those of all phases.
 * Words of the digest that no layout asks for (address.h) make the new one.
 */
static inline struct tepal_digest recycling_digest(const struct tepal_recycling *r,
                                                   struct tepal_digest d, uint32_t phase)
{
    if (phase == 0 || !r->own_hashes) {
        return d;
    }
    return (struct tepal_digest){address_more(d, (0x10000 + 2 * phase) * ADDRESS_GOLDEN),
                                 address_more(d, (0x10001 + 2 * phase) * ADDRESS_GOLDEN)};
}

/* Would a message that brings the active phase to `ones` be one too many? */
static inline bool recycling_full(struct tepal_recycling *r, uint64_t ones)
{
    switch (r->rule) {
    case TEPAL_RECYCLING_SIGMA:
        return ones > r->limit;
    case TEPAL_RECYCLING_COUNT:
        return r->head.state.own[STATE_MESSAGES] >= r->limit;
    case TEPAL_RECYCLING_AVERAGE:
        return tepal_average_full(r, ones);
    case TEPAL_RECYCLING_TIME:
        break;
    }
    return false;
}

static inline double recycling_expected(const struct tepal_recycling *r)
{
    double expected;
    memcpy(&expected, &r->head.state.own[STATE_EXPECTED], sizeof expected);
    return expected;
}

/* A message was answered "not seen". */
static inline void recycling_miss(struct tepal_recycling *r)
{
    double expected = recycling_expected(r) + r->odds;
    r->head.state.own[STATE_FRESH]++;
    memcpy(&r->head.state.own[STATE_EXPECTED], &expected, sizeof expected);
}

/* What the kernels leave to recycling.c. */
void tepal_recycling_turn(struct tepal_recycling *r);
void tepal_recycling_trigger(struct tepal_recycling *r, struct tepal_digest digest);
void tepal_recycling_filled(struct tepal_recycling *r);
bool tepal_recycling_seen_one(struct tepal_recycling *r, struct tepal_digest digest);
double tepal_recycling_rate_at(struct tepal_recycling *r, uint32_t step);

/* The rate of a phase with so many ones; of the layouts other than flat, interpolated. */
double tepal_recycling_phase_rate(struct tepal_recycling *r, double ones);
uint64_t tepal_recycling_ones(const struct tepal_recycling *r, uint32_t age);
uint64_t tepal_recycling_phase_ones(const struct tepal_recycling *r, uint32_t age);

/* tell.c: operations of the table. */
const char *tepal_recycling_op_validate(const struct tepal_filter *filter);
const char *tepal_recycling_op_validate_cells(const struct tepal_filter *filter);
uint64_t tepal_recycling_op_ones(const struct tepal_filter *filter);
double tepal_recycling_op_fp_now(const struct tepal_filter *filter);
void tepal_recycling_op_info(const struct tepal_filter *filter, struct tepal_report *report);

#endif
