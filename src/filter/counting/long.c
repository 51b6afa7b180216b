/*
 * long.c: keys in long lines, on the blocked layout with one choice and at most eight hashes, in
 * plain C. A line is 512 bits, a cache line, and 512 counters, four of them (eight, if the counters
 * are wide), each of which has a word of every sector:
 *
 *     bits        | sector 0                 | sector 1 | ... | sector 7 |
 *     counters    | sector 0, cells 0 .. 15  | sector 1 | ... | sector 7 |
 *                 | sector 0, cells 16 .. 31 | sector 1 | ...
 *                 ...
 *
 * A key has its cells in different sectors, so in different words: its counters can be changed side
 * by side (long_avx2.c), and what they are is counted without a branch. The lines of key i + 32 are
 * requested while key i is changed.
 */
#include "filter/counting/long.h"

/* The sectors of a key's cells: bit 8 s for sector s. */
static inline uint64_t sectors_of(uint64_t cells)
{
    return ~cells / ADDRESS_SKIP & ADDRESS_BYTES;
}

void tepal_counting_long_add(struct tepal_counting *c, const struct tepal_digest *digests,
                             size_t count)
{
    const struct long_rule rule = long_rule_of(c);
    const uint32_t most = c->most;
    struct long_key window[LONG_WINDOW];
    uint64_t ones = 0;
    uint64_t sum = 0;
    uint64_t stuck = 0;
    for (size_t i = 0; i < count && i < LONG_WINDOW; i++) {
        long_ask(&rule, digests[i], &window[i]);
    }
    for (size_t i = 0; i < count; i++) {
        struct long_key key = window[i % LONG_WINDOW];
        uint64_t *bits = rule.bits + key.line * ADDRESS_SECTORS;
        uint64_t *counters = rule.counters + key.line * rule.words;
        for (uint64_t left = sectors_of(key.cells); left != 0; left &= left - 1) {
            uint32_t byte = (uint32_t)__builtin_ctzll(left);
            uint32_t position = 8 * byte + (uint32_t)(key.cells >> byte & 63);
            uint64_t slot = counting_long_slot(c->wide, position);
            uint32_t value = counters_get(counters, c->wide, slot);
            uint64_t up = value < most;
            counters_add(counters, c->wide, slot, up);
            bits_set(bits, position);
            ones += value == 0;
            stuck += value == most - 1;
            sum += up;
        }
        if (i + LONG_WINDOW < count) {
            long_ask(&rule, digests[i + LONG_WINDOW], &window[i % LONG_WINDOW]);
        }
    }
    uint64_t *own = c->head.state.own;
    own[COUNTING_ONES] += ones;
    own[COUNTING_SUM] += sum;
    own[COUNTING_STUCK] += stuck;
}

static inline bool holds(const uint64_t *bits, uint64_t cells)
{
    uint64_t missing = 0;
    for (uint32_t s = 0; s < ADDRESS_SECTORS; s++) {
        uint64_t cell = cells >> (8 * s);
        missing |= ~(bits[s] >> (cell & 63)) & ~cell / ADDRESS_SKIP;
    }
    return (missing & 1) == 0;
}

size_t tepal_counting_long_remove(struct tepal_counting *c, const struct tepal_digest *digests,
                                  size_t count, uint64_t *done)
{
    const struct long_rule rule = long_rule_of(c);
    struct long_key window[LONG_WINDOW];
    uint64_t ones = 0;
    uint64_t sum = 0;
    size_t removed = 0;
    for (size_t i = 0; i < count && i < LONG_WINDOW; i++) {
        long_ask(&rule, digests[i], &window[i]);
    }
    for (size_t i = 0; i < count; i++) {
        struct long_key key = window[i % LONG_WINDOW];
        uint64_t *bits = rule.bits + key.line * ADDRESS_SECTORS;
        uint64_t *counters = rule.counters + key.line * rule.words;
        bool yes = holds(bits, key.cells);
        for (uint64_t left = yes ? sectors_of(key.cells) : 0; left != 0; left &= left - 1) {
            uint32_t byte = (uint32_t)__builtin_ctzll(left);
            uint32_t position = 8 * byte + (uint32_t)(key.cells >> byte & 63);
            uint64_t slot = counting_long_slot(c->wide, position);
            uint32_t value = counters_get(counters, c->wide, slot);
            uint64_t down = value > 0 && value < c->most;
            uint64_t empty = value == 1;
            counters_add(counters, c->wide, slot, -down);
            bits[position / 64] &= ~(empty << position % 64);
            ones += empty;
            sum += down;
        }
        long_answer(done, i, yes);
        removed += yes;
        if (i + LONG_WINDOW < count) {
            long_ask(&rule, digests[i + LONG_WINDOW], &window[i % LONG_WINDOW]);
        }
    }
    long_removed(c, count, removed, ones, sum);
    return removed;
}

bool tepal_counting_long_query(const struct tepal_counting *c, struct tepal_digest d)
{
    const struct long_rule rule = long_rule_of(c);
    struct long_key key = long_key_of(&rule, d);
    return holds(rule.bits + key.line * ADDRESS_SECTORS, key.cells);
}
