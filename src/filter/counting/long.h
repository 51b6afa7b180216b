/*
 * long.h: what long.c and long_avx2.c share: where the keys of a filter that is in_long have their
 * cells, and a window of them.
 */
#ifndef TEPAL_SRC_FILTER_COUNTING_LONG_H
#define TEPAL_SRC_FILTER_COUNTING_LONG_H

#include "base/checked.h"
#include "filter/counting/internal.h"

#define LONG_WINDOW 32

/* What is the same for all keys of a batch. */
struct long_rule {
    uint64_t *bits;
    uint64_t *counters;
    uint64_t words; /* of counters in a line */
    uint64_t lines;
    const uint64_t *subsets; /* the ways to choose the sectors ... */
    uint64_t ways;           /* ... and their number */
};

/* A key in its line: a byte for the cell of each sector, ADDRESS_SKIP or more if it has none. */
struct long_key {
    uint64_t line;
    uint64_t cells;
};

static inline struct long_rule long_rule_of(const struct tepal_counting *c)
{
    return (struct long_rule){.bits = c->bits,
                              .counters = c->head.words,
                              .words = (uint64_t)ADDRESS_SECTORS << c->wide,
                              .lines = c->at.lines,
                              .subsets = tepal_address_subsets[c->at.hashes],
                              .ways = tepal_address_subset_count[c->at.hashes]};
}

static inline struct long_key long_key_of(const struct long_rule *rule, struct tepal_digest d)
{
    uint64_t sectors = address_sectors(rule->subsets, rule->ways, d.hi);
    return (struct long_key){
        .line = wide_scale(d.hi, rule->lines),
        .cells = address_line_cells(false, sectors, false, 63 * ADDRESS_BYTES, d.lo, 0).round[0]};
}

/* Have the lines of a key brought. */
static inline void long_ask(const struct long_rule *rule, struct tepal_digest d,
                            struct long_key *key)
{
    *key = long_key_of(rule, d);
    const uint64_t *counters = rule->counters + key->line * rule->words;
    __builtin_prefetch(rule->bits + key->line * ADDRESS_SECTORS, 1);
    for (uint64_t i = 0; i < rule->words; i += ADDRESS_SECTORS) {
        __builtin_prefetch(counters + i, 1);
    }
}

static inline void long_answer(uint64_t *done, size_t i, bool yes)
{
    if (done != NULL) {
        done[i / 64] |= (uint64_t)yes << (i % 64);
    }
}

/* The state after a batch: counters that reached 0, and what the sum lost. */
static inline void long_removed(struct tepal_counting *c, size_t count, size_t removed,
                                uint64_t ones, uint64_t sum)
{
    uint64_t *own = c->head.state.own;
    own[COUNTING_ONES] -= ones;
    own[COUNTING_SUM] -= sum;
    own[COUNTING_REMOVED] = saturating_add(own[COUNTING_REMOVED], removed);
    own[COUNTING_REFUSED] = saturating_add(own[COUNTING_REFUSED], count - removed);
}

#endif
