/*
 * tepal/generalized.h: the generalized Bloom filter (Laufer, Velloso and Duarte 2011). Some hashes
 * of a key reset bits, the others set bits; a key is present if its bits are as it left them.
 *
 *     struct tepal_generalized *g;
 *     struct tepal_params p;
 *     tepal_generalized_params(65536, 2, 2, 1.0, 0, seed, &p);   // 2 reset, 2 set, all bits 0
 *     if (tepal_generalized_create(&p, NULL, &g) != TEPAL_OK) ...
 *     tepal_generalized_add_bytes(g, "example.org", 11);
 *     bool maybe;
 *     tepal_generalized_query_bytes(g, "example.org", 11, &maybe);
 *     tepal_generalized_free(g);
 *
 * What it gives: whoever filled the filter, with whatever bits, a key drawn without looking at them
 * is answered "present" with a probability of at most (k0/k)^k0 (k1/k)^k1, k = k0 + k1 (and a
 * little more in a small filter: tepal_generalized_fp_bound_finite). It cannot be saturated, and
 * may be added to for ever.
 * What it costs: later keys overwrite the bits of earlier ones, so that a key is forgotten with a
 * probability that grows with its age. A tolerance of b inverted bits makes that rarer.
 *
 * The rules:
 *   - within one key a reset beats a set at the same bit, when it is added and when it is asked:
 *     so a key that was just added is always found;
 *   - a bit that two of a key's hashes name counts once among the inverted ones;
 *   - the order of additions matters, so filters cannot be united or intersected;
 *   - with no reset hashes, no tolerance and all bits 0 at first it is, bit for bit, the Bloom
 *     filter of the same layout, positions and seed.
 *
 * Layouts: flat and blocked. (Partitioned cannot be: a slice that is only ever set saturates.)
 *
 * Threads: const calls may run concurrently with each other; calls that change the filter need it
 * for themselves.
 */
#ifndef TEPAL_GENERALIZED_H
#define TEPAL_GENERALIZED_H

#include <tepal/filter.h>
#include <tepal/retouched.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tepal_generalized;

/*
 * A filter in its first state. TEPAL_BAD_ARGUMENT if the params are of another kind; else fails as
 * tepal_filter_create does.
 */
TEPAL_API enum tepal_status tepal_generalized_create(const struct tepal_params *params,
                                                     const struct tepal_allocator *allocator,
                                                     struct tepal_generalized **out);
TEPAL_API void tepal_generalized_free(struct tepal_generalized *generalized); /* NULL is allowed */

/* The same filter through the generic handle, and back (NULL if it is of another kind). */
TEPAL_API struct tepal_filter *tepal_generalized_filter(struct tepal_generalized *generalized);
TEPAL_API const struct tepal_filter *
tepal_generalized_filter_const(const struct tepal_generalized *generalized);
TEPAL_API struct tepal_generalized *tepal_filter_generalized(struct tepal_filter *filter);
TEPAL_API const struct tepal_generalized *
tepal_filter_generalized_const(const struct tepal_filter *filter);

/* One key, as a digest. TEPAL_READ_ONLY for views. */
TEPAL_API enum tepal_status tepal_generalized_add(struct tepal_generalized *generalized,
                                                  struct tepal_digest digest);
TEPAL_API bool tepal_generalized_query(const struct tepal_generalized *generalized,
                                       struct tepal_digest digest);

/* One key, as bytes, hashed here. TEPAL_KEY_NEEDED if the filter is keyed and without its key. */
TEPAL_API enum tepal_status tepal_generalized_add_bytes(struct tepal_generalized *generalized,
                                                        const void *key, size_t len);
TEPAL_API enum tepal_status
tepal_generalized_query_bytes(const struct tepal_generalized *generalized, const void *key,
                              size_t len, bool *present);

/* Many keys, as digests, in their order; memory is prefetched. As tepal_filter_query_many. */
TEPAL_API enum tepal_status tepal_generalized_add_many(struct tepal_generalized *generalized,
                                                       const struct tepal_digest *digests,
                                                       size_t count);
TEPAL_API size_t tepal_generalized_query_many(const struct tepal_generalized *generalized,
                                              const struct tepal_digest *digests, size_t count,
                                              uint64_t *answers);

/* ---- what the bits say ----------------------------------------------------------------------- */

/* Bits that are 1 now. Reads all cells. */
TEPAL_API uint64_t tepal_generalized_ones(const struct tepal_generalized *generalized);

/*
 * The false-positive rate of this very filter: the probability that a key drawn without looking at
 * the bits is answered "present". From the bits alone, whoever set them; exact (blocked, more
 * than 8 hashes, distinct positions: very nearly). Reads all cells; blocked at
 * about 1 us a line for up to 8 hashes. With more hashes and a large tolerance a line takes up to
 * 400 us; where that would be seconds, the answer is tepal_generalized_fp_bound_of instead.
 */
TEPAL_API double tepal_generalized_fp_now(const struct tepal_generalized *generalized);

/*
 * What a key's bits tell of its age: how many insertions ago it was last added.
 *
 * Each later insertion overwrites a bit with the same small chance, so that after `age` insertions
 * a bit is inverted with a probability that is known (eqs. (9), (10)); the number of inverted bits
 * is all the filter remembers. With few hashes that is little: the interval is wide, and a key that
 * has lost nothing may still be old.
 */
struct tepal_generalized_trace {
    bool present;           /* at most `tolerance` of its bits are inverted */
    uint32_t zeros;         /* bits the key would have reset ... */
    uint32_t zeros_lost;    /* ... that are 1 now */
    uint32_t ones;          /* bits the key would have set (not reset by itself) ... */
    uint32_t ones_lost;     /* ... that are 0 now */
    uint64_t age;           /* the age at which that is most likely; 0: the newest key; UINT64_MAX:
                               older than can be told, or never added */
    uint64_t age_low;       /* 95 % of the time the age is between these two, */
    uint64_t age_high;      /* UINT64_MAX: there is no upper limit */
    double likelihood;      /* the chance of these lost bits at `age` ... */
    double likelihood_none; /* ... and for a key that was never added, at the fill there is now */
};

/*
 * Reads the key's bits; `ones` is tepal_generalized_ones, which the caller computes once for many
 * keys. The model is that of equations (9) and (10), for the flat layout; on the blocked layout
 * `age` counts insertions into the whole filter too, and the interval is somewhat too narrow, for
 * lines are not equally busy.
 */
TEPAL_API void tepal_generalized_age(const struct tepal_generalized *generalized,
                                     struct tepal_digest digest, uint64_t ones,
                                     struct tepal_generalized_trace *out);

/* ---- removing false positives ---------------------------------------------------------------- */

/*
 * A false positive is removed by inverting one of its bits: a 0 that it would have reset becomes 1,
 * or a 1 that it would have set becomes 0 (with a tolerance of b, and c of its bits inverted
 * already, b + 1 - c bits). That removes every other false positive which has the bit, loses the
 * members which have it, and, unlike in a Bloom filter, *creates* false positives: keys for which
 * that very bit was what kept them out.
 *
 *   net-effect  the bit that removes the most weight of known false positives, less what it
 *               creates, and less twice the weight of the members that it loses; again and again,
 *               until no bit helps. The best by far, and the default
 *   least-fn    the bit that loses the least weight of members, of equals the one with the larger
 *               net effect; each key once
 */
enum tepal_generalized_method { TEPAL_GENERALIZED_NET_EFFECT = 0, TEPAL_GENERALIZED_LEAST_FN = 1 };

/* "net-effect", "least-fn"; "" for no method. parse: false, and *out untouched, if unknown. */
TEPAL_API const char *tepal_generalized_method_name(enum tepal_generalized_method method);
TEPAL_API bool tepal_generalized_method_parse(const char *name, enum tepal_generalized_method *out);

/* What was done; weights are 1 each where none were given. */
struct tepal_generalized_retouch_report {
    uint64_t members;          /* given */
    uint64_t members_absent;   /* of them, not found before */
    uint64_t avoid_given;      /* keys to avoid, as given */
    uint64_t avoid_members;    /* of them, members: left alone */
    uint64_t positives_before; /* of the others, found before ... */
    uint64_t positives_after;  /* ... and after: those left, and those created */
    uint64_t created;          /* of these, not found before */
    uint64_t known_before;     /* of `known`, found before ... */
    uint64_t known_after;      /* ... and after */
    uint64_t false_negatives;  /* members that are not found now (members_absent included) */
    uint64_t bits_flipped;
    double weight_before; /* of positives_before */
    double weight_after;
    double member_weight; /* of all given members */
    double lost_weight;   /* of the false negatives */
};

/*
 * A copy of `filter`, of this kind, in which keys of input->avoid are no longer found; to be freed
 * by tepal_filter_free. Give *all* keys that are known not to be members, those that are not found
 * too: what a flip creates is counted among them (and among input->known, which is not aimed at and
 * must not repeat keys of `avoid`). A key to avoid that is also a member is left alone. The limit
 * is that of tepal_retouch_options, and never exceeded; a member that is found again is welcome.
 *
 * *report and `victims` (may be NULL) are as in tepal_retouch; *why (may be NULL) gets a static
 * sentence on failure. TEPAL_UNSUPPORTED: another kind; TEPAL_BAD_ARGUMENT: a weight that is
 * negative or not finite, a budget outside its limits, an unknown method; TEPAL_MISMATCH: more than
 * half of the members are not found, and more than the model expects of so many keys;
 * TEPAL_TOO_LARGE; TEPAL_NO_MEMORY. Keys added later may bring false positives back.
 *
 * Cost: a sort of all bits of all keys, 16 bytes each, then some searches a false positive.
 */
TEPAL_API enum tepal_status tepal_generalized_retouch(
    const struct tepal_filter *filter, const struct tepal_retouch_input *input,
    enum tepal_generalized_method method, enum tepal_retouch_limit limit, double budget,
    const struct tepal_allocator *allocator, struct tepal_filter **out,
    struct tepal_generalized_retouch_report *report, uint64_t *victims, const char **why);

#ifdef __cplusplus
}
#endif

#endif
