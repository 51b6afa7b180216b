/*
 * ring.h: counting filters as the paper's own program had them: positions on an arithmetic
 * progression, eq. (8), and the choice among c progressions (Algorithm 1).
 *
 *     h_i(x) = (g1(x) + i g2(x)) mod m        i = 0 .. k - 1
 *
 * The library has no such positions. But a filter of one hash is a row of counters that can be
 * addressed one by one: its position is the high half of the digest, scaled to m (docs/format.md).
 * So the counters are the library's. Beside them: the library's own filter (LAB_002_OURS), with
 * positions and choices of its own.
 */
#ifndef LAB_PAPER002_RING_H
#define LAB_PAPER002_RING_H

#include "paper002/paper002.h"

#define RING_KEYS    10000
#define RING_CHOICES 50 /* at most */

/* What a name and the string of a choice hash to. */
struct ring_pair {
    uint32_t g1;
    uint32_t g2;
};

struct ring {
    struct lab *lab;
    enum lab_002_method method;
    struct tepal_filter *counting;
    uint64_t m;
    uint32_t k;
    uint32_t c;
    const struct ring_pair (*pair)[RING_CHOICES];
    const struct tepal_digest *digest; /* the library's own way */
    uint8_t group[RING_KEYS];
};

/* A name with the string of a choice behind it; table: random words of the BUZ hash. */
struct ring_pair ring_hash(const uint64_t table[256], enum lab_002_method method, const char *name,
                           uint32_t choice);

/* The first `count` names, with every choice. */
void ring_hash_all(const struct lab_002_names *list, const uint64_t table[256],
                   enum lab_002_method method, size_t count,
                   struct ring_pair (*pair)[RING_CHOICES]);

/* Eq. (8), each counter once: a progression that returns to its start is shorter than k. */
uint32_t ring_progression(const struct ring *r, struct ring_pair pair, uint64_t *out);

/* The same of a key and a choice; both return how many counters. */
uint32_t ring_address(const struct ring *r, size_t key, uint32_t choice, uint64_t *out);

/* Are all these counters above 0? */
bool ring_all_above(const struct ring *r, const uint64_t *at, uint32_t count);

/* In how many of its groups a key is found. */
uint32_t ring_groups(const struct ring *r, size_t key);

/* Add 1 to each counter of an address, or take 1 away. */
void ring_change(const struct ring *r, const uint64_t *at, uint32_t count, bool up);

/* Add a key by Algorithm 1; the group that was chosen. */
uint32_t ring_insert(const struct ring *r, size_t key);

/* A filter of RING_KEYS keys; EXIT_TROUBLE after having said why. */
int ring_fill(struct ring *r, uint32_t ratio, uint32_t c);

#endif
