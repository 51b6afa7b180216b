/*
 * internal.h: the recycling filter from the inside, for its kernels.
 *
 *   recycling.c   the kind: phases and when they turn, any layout, what it tells of itself
 *   lines.h       the blocked layout's loops; lines_*.c: these in plain C, and for AVX2
 */
#ifndef TEPAL_SRC_FILTER_RECYCLING_INTERNAL_H
#define TEPAL_SRC_FILTER_RECYCLING_INTERNAL_H

#include <tepal/recycling.h>

#include <string.h>

#include "address/address.h"
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

struct tepal_recycling {
    struct tepal_filter head;
    const struct recycling_kernels *kernels;
    uint32_t phases; /* these six: decoded from params */
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
    tepal_recycling_callback *callback;
    void *context;
};

static inline uint64_t *recycling_active(struct tepal_recycling *r)
{
    return r->head.words + r->active * r->phase_words;
}

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
static inline bool recycling_full(const struct tepal_recycling *r, uint64_t ones)
{
    switch (r->rule) {
    case TEPAL_RECYCLING_SIGMA:
        return ones > r->limit;
    case TEPAL_RECYCLING_COUNT:
        return r->head.state.own[STATE_MESSAGES] >= r->limit;
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

#endif
