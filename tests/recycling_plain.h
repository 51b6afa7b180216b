/*
 * recycling_plain.h: a recycling filter written a second time, as plainly as possible: it follows
 * the words of tepal/recycling.h with arrays of bools. It recycles by sigma and by count, or when
 * it is told to.
 */
#ifndef TEPAL_TESTS_RECYCLING_PLAIN_H
#define TEPAL_TESTS_RECYCLING_PLAIN_H

#include "recycling_help.h"

#include "address/address.h"

#define PLAIN_PHASES 4 /* that there is room for */
#define PLAIN_CELLS  8192

struct plain_recycling {
    struct tepal_params params;
    struct recycling_options options;
    bool bit[PLAIN_PHASES][PLAIN_CELLS]; /* [0] is active, [1] the youngest frozen one, ... */
    unsigned slot[PLAIN_PHASES];         /* which place in memory it has: this chooses its hashes */
    uint64_t ones, messages, cycles, fresh;
    bool shared; /* one set of hashes for all, whatever the library does */
};

static inline void plain_init(struct plain_recycling *n, const struct tepal_params *params)
{
    memset(n, 0, sizeof *n);
    n->params = *params;
    n->options = recycling_options_of(params);
    for (unsigned i = 0; i < n->options.phases; i++) {
        n->slot[i] = (n->options.phases - i) % n->options.phases;
    }
}

static inline uint32_t plain_positions(const struct plain_recycling *n, unsigned age,
                                       struct tepal_digest d, uint64_t *out)
{
    struct address at = tepal_address_of(&n->params, 1);
    unsigned slot = n->slot[age];
    bool both = n->options.retain && n->options.keep_trigger;
    if ((n->options.only_misses || both) && !n->shared && slot != 0) {
        struct tepal_digest other = {address_word(d, 0x10000 + 2 * slot),
                                     address_word(d, 0x10001 + 2 * slot)};
        d = other;
    }
    return tepal_address_positions(&at, d, out);
}

static inline bool plain_holds(const struct plain_recycling *n, unsigned age, struct tepal_digest d)
{
    uint64_t p[TEPAL_MAX_HASHES];
    uint32_t k = plain_positions(n, age, d, p);
    for (uint32_t i = 0; i < k; i++) {
        if (!n->bit[age][p[i]]) {
            return false;
        }
    }
    return true;
}

static inline void plain_set(struct plain_recycling *n, struct tepal_digest d)
{
    uint64_t p[TEPAL_MAX_HASHES];
    uint32_t k = plain_positions(n, 0, d, p);
    for (uint32_t i = 0; i < k; i++) {
        n->ones += !n->bit[0][p[i]];
        n->bit[0][p[i]] = true;
    }
    n->messages++;
}

static inline void plain_recycle(struct plain_recycling *n)
{
    unsigned phases = n->options.phases;
    unsigned oldest = n->slot[phases - 1];
    for (unsigned age = phases - 1; age > 0; age--) {
        memcpy(n->bit[age], n->bit[age - 1], sizeof n->bit[0]);
        n->slot[age] = n->slot[age - 1];
    }
    n->slot[0] = oldest;
    memset(n->bit[0], 0, sizeof n->bit[0]);
    n->ones = 0;
    n->messages = 0;
    n->cycles++;
}

static inline bool plain_query(const struct plain_recycling *n, struct tepal_digest d)
{
    bool seen = false;
    for (unsigned age = 0; age < n->options.phases; age++) {
        seen |= plain_holds(n, age, d);
    }
    return seen;
}

static inline bool plain_seen(struct plain_recycling *n, struct tepal_digest d)
{
    static bool before[PLAIN_CELLS];
    bool seen = plain_query(n, d);
    n->fresh += !seen;
    if (plain_holds(n, 0, d) || (n->options.only_misses && seen)) {
        return seen;
    }
    uint64_t ones = n->ones;
    memcpy(before, n->bit[0], n->params.cells);
    plain_set(n, d);
    bool full = n->options.rule == TEPAL_RECYCLING_SIGMA   ? n->ones > n->options.limit
                : n->options.rule == TEPAL_RECYCLING_COUNT ? n->messages > n->options.limit
                                                           : false;
    if (full) {
        if (!n->options.keep_trigger) {
            memcpy(n->bit[0], before, n->params.cells);
            n->ones = ones;
        }
        plain_recycle(n);
        if (n->options.retain) {
            plain_set(n, d);
        }
    }
    return seen;
}

#endif
