/*
 * tepal/generalized.h: the generalized Bloom filter (Laufer, Velloso and Duarte 2011). Some hash
 * functions of a key reset bits, the others set bits; a key is present if its bits are as it left
 * them. It is created, filled and queried through tepal/filter.h:
 *
 *     struct tepal_params p = TEPAL_PARAMS_INIT;
 *     p.kind = TEPAL_KIND_GENERALIZED;
 *     p.cells = 65536;
 *     p.hashes = 4;
 *     p.generalized.reset_hashes = 2;              2 reset, 2 set; all bits initially 0
 *     tepal_filter_create(&p, NULL, &filter, &error);
 *
 * What it gives: whatever its bits are and whoever set them, a key drawn independently of them is
 * found with a probability of at most (k0/k)^k0 (k1/k)^k1, k = k0 + k1 (slightly more in a small
 * filter: tepal_params_fp_bound). It cannot be saturated, and keys can be added forever.
 * What it costs: later keys overwrite the bits of earlier ones, so the probability that a key is
 * forgotten grows with its age. A tolerance of b inverted bits makes that rarer.
 *
 * The rules:
 *   - within one key a reset beats a set at the same bit, when it is added and when it is queried:
 *     so a key that was just added is always found;
 *   - a bit that two hash functions of a key share counts once if it is inverted;
 *   - the order of additions matters, so filters cannot be united or intersected;
 *   - with no reset hashes, no tolerance and all bits initially 0 it is, bit for bit, the Bloom
 *     filter of the same layout, positions and seed.
 *
 * Layouts: flat and blocked. (Not partitioned: a slice that is only ever set saturates.)
 * To remove known false positives from one: tepal_retouch.
 */
#ifndef TEPAL_GENERALIZED_H
#define TEPAL_GENERALIZED_H

#include <tepal/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a key's bits reveal about its age: how many insertions ago it was last added.
 *
 * Each later insertion overwrites a bit with the same small probability, so that after `age`
 * insertions a bit is inverted with a known probability (eqs. (9), (10)); the number of inverted
 * bits is all the filter remembers. With few hash functions that is little: the interval is wide,
 * and a key that has lost nothing may still be old.
 */
struct tepal_generalized_trace {
    bool present;           /* at most `tolerance` of its bits are inverted */
    uint32_t zeros;         /* bits the key would have reset ... */
    uint32_t zeros_lost;    /* ... that are 1 now */
    uint32_t ones;          /* bits the key would have set (not reset by itself) ... */
    uint32_t ones_lost;     /* ... that are 0 now */
    uint64_t age;           /* the most likely age; 0: the newest key; UINT64_MAX: too old to tell,
                               or never added */
    uint64_t age_low;       /* in 95 % of cases the age is between these two; */
    uint64_t age_high;      /* UINT64_MAX: no upper limit */
    double likelihood;      /* the probability of these lost bits at `age` ... */
    double likelihood_none; /* ... and for a key that was never added, at the present fill */
};

/*
 * Reads the key's bits. `ones` is tepal_filter_ones, which the caller computes once for many keys.
 * The model is that of equations (9) and (10), for the flat layout; on the blocked layout `age`
 * counts insertions into the whole filter too, and the interval is somewhat too narrow, because
 * lines are not equally busy. TEPAL_UNSUPPORTED: another kind.
 */
TEPAL_API enum tepal_status tepal_generalized_age(const struct tepal_filter *filter,
                                                  struct tepal_digest digest, uint64_t ones,
                                                  struct tepal_generalized_trace *out);

/*
 * Wildcards: queries that ignore bits. Whoever knows which keys were added last, as when a packet's
 * path is walked backwards, knows the bits that these touched; such bits say nothing about earlier
 * keys. A key that was added is then always found, however many known keys came after it:
 *
 *     uint64_t mask[(BITS + 63) / 64] = {0};
 *     tepal_generalized_touch(filter, newest, mask);
 *     tepal_generalized_query_wild(filter, older, mask, &found);
 *
 * touch   adds to `mask` the bits that adding the key sets or resets.
 * query   is tepal_filter_query, but a bit of the key that is in `mask` counts as right. The price
 *         is that others pass more easily, by about (1 + w)^k if the share w of all bits is
 *         ignored: tepal_generalized_fp_bound_wild (tepal/papers.h).
 *
 * Bit i of the filter is bit i % 64 of mask[i / 64]; a mask has (cells + 63) / 64 words, and bits
 * beyond the last cell are not read. TEPAL_UNSUPPORTED: another kind; nothing has changed then.
 */
TEPAL_API enum tepal_status tepal_generalized_touch(const struct tepal_filter *filter,
                                                    struct tepal_digest digest, uint64_t *mask);
TEPAL_API enum tepal_status tepal_generalized_query_wild(const struct tepal_filter *filter,
                                                         struct tepal_digest digest,
                                                         const uint64_t *mask, bool *found);

#ifdef __cplusplus
}
#endif

#endif
