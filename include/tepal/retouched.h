/*
 * tepal/retouched.h: the retouched Bloom filter (Donnet, Baynat and Friedman 2006): remove the
 * false positives that hurt, and pay with a few false negatives.
 *
 *     struct tepal_retouch_input input = {.members = a, .member_count = n,
 *                                         .avoid = b, .avoid_count = count, .avoid_weights = w};
 *     struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
 *     options.limit = TEPAL_RETOUCH_LIMIT_SHARE;
 *     options.budget = 0.01;                        at most 1 % of the members are given up
 *     struct tepal_retouch_report report;
 *     const char *why = "";
 *     tepal_retouch(filter, &input, &options, NULL, &retouched, &report, NULL, &why);
 *
 * The result has the size, the file and the query of the Bloom filter it comes from; only some bits
 * have become 0. A key whose bit was cleared is no longer found: a *troublesome* key, which is what
 * one wants, or a member, which is then a *victim* (a false negative). The methods differ in which
 * bits they clear. Everything is a function of the inputs: ties go to the lowest bit, and what is
 * drawn at random is drawn from options.seed.
 *
 * Threads: retouching reads its inputs only; const calls may run concurrently.
 */
#ifndef TEPAL_RETOUCHED_H
#define TEPAL_RETOUCHED_H

#include <tepal/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tepal_retouched;

/* ---- what to do ------------------------------------------------------------------------------ */

/*
 * Which bits are cleared. B are the troublesome keys, A the members.
 *
 *   random-bits      so many set bits at random, whoever owns them (Sec. III-B); B is not looked at
 *   random           a random bit of each key of B that is still found       (Algorithm 1)
 *   min-fn           ... its bit with the fewest members                     (Algorithm 2)
 *   max-fp           ... its bit with the most false positives               (Algorithm 3)
 *   ratio            ... its bit with the lowest members / false positives   (Algorithm 4)
 *   improved-*       the same three with counts that are kept up to date     (Algorithms 5 to 7)
 *   sacrifice        chooses the members to give up, not the bits: best by far, and the default
 *
 * Where weights are given they are summed in place of counting.
 */
enum tepal_retouch_method {
    TEPAL_RETOUCH_RANDOM_BITS = 0,
    TEPAL_RETOUCH_RANDOM = 1,
    TEPAL_RETOUCH_MIN_FN = 2,
    TEPAL_RETOUCH_MAX_FP = 3,
    TEPAL_RETOUCH_RATIO = 4,
    TEPAL_RETOUCH_IMPROVED_MIN_FN = 5,
    TEPAL_RETOUCH_IMPROVED_MAX_FP = 6,
    TEPAL_RETOUCH_IMPROVED_RATIO = 7,
    TEPAL_RETOUCH_SACRIFICE = 8
};

#define TEPAL_RETOUCH_METHODS 9

/* "random-bits" and so on; "" for no method. parse: false, and *out untouched, if unknown. */
TEPAL_API const char *tepal_retouch_method_name(enum tepal_retouch_method method);
TEPAL_API bool tepal_retouch_method_parse(const char *name, enum tepal_retouch_method *out);

/*
 * The budget, of the *result* (victims of an earlier retouch count). It is never exceeded: a step
 * that would exceed it is passed over, and the run ends when nothing fits any more.
 *
 *   all      no limit: remove all of B
 *   share    at most budget * members victims, 0 <= budget <= 1
 *   count    at most `budget` victims
 *   weight   victims whose member weights add up to at most `budget`
 */
enum tepal_retouch_limit {
    TEPAL_RETOUCH_LIMIT_ALL = 0,
    TEPAL_RETOUCH_LIMIT_SHARE = 1,
    TEPAL_RETOUCH_LIMIT_COUNT = 2,
    TEPAL_RETOUCH_LIMIT_WEIGHT = 3
};

/*
 * What max-fp, ratio and their improved forms count as false positives of a bit: the troublesome
 * keys (the paper's text), or all known false positives, input.known (what gives the paper's
 * tables). The other methods do not ask.
 */
enum tepal_retouch_basis { TEPAL_RETOUCH_BASIS_B = 0, TEPAL_RETOUCH_BASIS_ALL = 1 };

/* In which order Algorithms 1 to 7 take the troublesome keys: as given, or the heaviest first. */
enum tepal_retouch_order { TEPAL_RETOUCH_ORDER_GIVEN = 0, TEPAL_RETOUCH_ORDER_WEIGHT = 1 };

struct tepal_retouch_options {
    enum tepal_retouch_method method;
    enum tepal_retouch_limit limit;
    double budget; /* see enum tepal_retouch_limit; not looked at for `all` */
    enum tepal_retouch_basis basis;
    enum tepal_retouch_order order;
    /*
     * After the method, clear every bit all of whose owners are victims: it costs nothing more, and
     * the result is the Bloom filter of the surviving members. `sacrifice` always does.
     */
    bool sweep;
    /*
     * A troublesome key that is also a member (the same digest) is reported and left alone, unless
     * this is set: then it is removed as any other, and is a victim itself.
     */
    bool remove_members;
    uint64_t bits; /* random-bits: how many to clear; 0: as many as the budget allows */
    uint64_t seed; /* of random-bits and random */
};

#define TEPAL_RETOUCH_OPTIONS_INIT                                                                 \
    {                                                                                              \
        TEPAL_RETOUCH_SACRIFICE, TEPAL_RETOUCH_LIMIT_ALL, 0, TEPAL_RETOUCH_BASIS_B,                \
            TEPAL_RETOUCH_ORDER_GIVEN, false, false, 0, 0                                          \
    }

/*
 * What is known, as digests made with the filter's own hasher. Arrays stay the caller's and are not
 * changed; each weight array is NULL (1 each) or as long as its keys, with finite weights >= 0.
 *
 * Give each key once: a member given twice counts twice. All members must be given: a set bit that
 * no given member owns is taken for the bit of a member that was forgotten, and never cleared.
 * At most 2^31 members, troublesome keys and known false positives each.
 */
struct tepal_retouch_input {
    const struct tepal_digest *members;
    size_t member_count;
    const double *member_weights;

    const struct tepal_digest *avoid; /* B; those that the filter does not find are passed over */
    size_t avoid_count;
    const double *avoid_weights;

    /*
     * All known false positives, B among them; NULL if B is all that is known. For the basis `all`
     * and for the report (what was removed beyond B). Keys that the filter does not find are passed
     * over. Members must not be among them.
     */
    const struct tepal_digest *known;
    size_t known_count;
};

/* What was done. F_P is `known` if it was given. */
struct tepal_retouch_report {
    uint64_t members;         /* given */
    uint64_t members_absent;  /* of them, not found before: earlier victims, or never added */
    uint64_t avoid_given;     /* |B| as given */
    uint64_t avoid_members;   /* of them, members (left alone unless remove_members) */
    uint64_t avoid_positive;  /* of them, found before and to be removed: the false positives */
    uint64_t avoid_left;      /* of these, still found */
    uint64_t removed_inside;  /* avoid_positive - avoid_left */
    uint64_t known_positive;  /* of `known`, found before; 0 without */
    uint64_t removed_beyond;  /* of these, not in B and no longer found; 0 without */
    uint64_t false_negatives; /* members that are not found now (members_absent included) */
    uint64_t bits_cleared;
    uint64_t ones_before;
    uint64_t ones_after;
    double avoid_weight;   /* of the avoid_positive keys */
    double removed_weight; /* of the removed_inside keys */
    double member_weight;  /* of all given members */
    double lost_weight;    /* of the false negatives */
    /*
     * Eqs. (10) to (12): the share of false positives removed, the share of members lost by this
     * call, and their ratio; NaN where a share has nothing to divide by (chi: no member lost).
     * delta_fp is counted over `known` if it was given, else it is that of keys drawn at random,
     * from the set bits before and after.
     */
    double delta_fp;
    double delta_fn;
    double chi;
};

/*
 * Retouch `filter`, of kind bloom or retouched, into a new filter of kind retouched, to be freed by
 * tepal_filter_free. The filter itself is not changed.
 *
 * Incremental: give a retouched filter, all members again (the earlier victims among them are
 * recognised: they are the members that are not found) and the new troublesome keys. Keys that were
 * removed before stay removed, for bits are only ever cleared.
 *
 * *report (may be NULL) is filled; `victims` (may be NULL) has room for (member_count + 63) / 64
 * words and gets bit i set for every member i that the result does not find. *why (may be NULL)
 * gets a static sentence on failure.
 *
 * TEPAL_BAD_ARGUMENT: a weight that is negative or not finite, a budget outside its limits, the
 * basis `all` without `known`, an unknown method; TEPAL_MISMATCH: the members do not belong to this
 * filter (more than half of those that should be found are not); TEPAL_UNSUPPORTED: another kind;
 * TEPAL_TOO_LARGE; TEPAL_NO_MEMORY. Nothing is changed then.
 *
 * Cost: O(k (members + avoid + known)), and O(m) for a copy of the bits; `sacrifice` adds a heap
 * over the bits of B. Memory, the result included: some bitmaps of m bits, 4 to 24 bytes for each
 * bit of B and 4 for each member that owns one; with 10 bits a member and a tenth as many keys in B
 * 16 bytes a member, 31 for `sacrifice`. All of it comes from the allocator.
 */
TEPAL_API enum tepal_status
tepal_retouch(const struct tepal_filter *filter, const struct tepal_retouch_input *input,
              const struct tepal_retouch_options *options, const struct tepal_allocator *allocator,
              struct tepal_filter **out, struct tepal_retouch_report *report, uint64_t *victims,
              const char **why);

/* ---- the trade-off --------------------------------------------------------------------------- */

/* So many victims remove so much. */
struct tepal_retouch_point {
    uint64_t false_negatives;
    double lost_weight; /* of the members */
    uint64_t avoid_removed;
    double removed_weight; /* of the troublesome keys */
};

/*
 * The curve of budget against weight removed, from one run without making a filter: points in the
 * order of growing false negatives and growing weight, the first with nothing removed, the last
 * where options.limit ends the run (all of B: LIMIT_ALL). At most `capacity` (>= 2) points are
 * written, thinned evenly if there are more steps; *count gets how many. A run with the budget of
 * one of the points removes at least that point's weight, or nearly so: `sacrifice` spends what it
 * saves at the end. (To compare budgets ask for the share 1, not for LIMIT_ALL: without a budget
 * `sacrifice` takes first what is hard to get, not what weighs most.) *report (may be NULL) gets
 * what tepal_retouch would report of the whole run. Fails as tepal_retouch does; `points` may have
 * been written to then.
 */
TEPAL_API enum tepal_status tepal_retouch_curve(const struct tepal_filter *filter,
                                                const struct tepal_retouch_input *input,
                                                const struct tepal_retouch_options *options,
                                                const struct tepal_allocator *allocator,
                                                struct tepal_retouch_point *points, size_t capacity,
                                                size_t *count, struct tepal_retouch_report *report,
                                                const char **why);

/* ---- the filter ------------------------------------------------------------------------------ */

/*
 * The same filter through its typed handle (NULL if it is of another kind). Queries run through the
 * Bloom filter's own kernels. A key may be added later; that sets its bits again, which may bring
 * back false positives that had been removed. Retouched filters cannot be united or intersected:
 * unite the Bloom filters, then retouch.
 */
TEPAL_API struct tepal_retouched *tepal_filter_retouched(struct tepal_filter *filter);
TEPAL_API struct tepal_filter *tepal_retouched_filter(struct tepal_retouched *retouched);
TEPAL_API bool tepal_retouched_query(const struct tepal_retouched *retouched,
                                     struct tepal_digest digest);
TEPAL_API size_t tepal_retouched_query_many(const struct tepal_retouched *retouched,
                                            const struct tepal_digest *digests, size_t count,
                                            uint64_t *answers);

/*
 * What the filter carries, also through a file: the members it was retouched for (plus those added
 * since), how many of them are victims, and how many bits were cleared in all.
 */
TEPAL_API uint64_t tepal_retouched_members(const struct tepal_retouched *retouched);
TEPAL_API uint64_t tepal_retouched_false_negatives(const struct tepal_retouched *retouched);
TEPAL_API uint64_t tepal_retouched_bits_cleared(const struct tepal_retouched *retouched);

/* ---- the exception list ---------------------------------------------------------------------- */

/*
 * The victims themselves, as an exact set of digests: filter and list together find every member
 * again and keep the troublesome keys out (unless a digest of 128 bits repeats by chance). 16 bytes
 * a victim, sorted; a query is a binary search, and only for keys that the filter does not find.
 *
 *     present = tepal_filter_query(filter, d) || tepal_exceptions_query(list, d);
 */
struct tepal_exceptions;

/*
 * The members whose bit is set in `victims` (as tepal_retouch gives it), copied; `filter` is the
 * filter they belong to: its seed and key check are kept with the list. TEPAL_NO_MEMORY.
 */
TEPAL_API enum tepal_status tepal_exceptions_create(const struct tepal_filter *filter,
                                                    const struct tepal_digest *members,
                                                    size_t member_count, const uint64_t *victims,
                                                    const struct tepal_allocator *allocator,
                                                    struct tepal_exceptions **out);
TEPAL_API void tepal_exceptions_free(struct tepal_exceptions *list); /* NULL is allowed */
TEPAL_API size_t tepal_exceptions_count(const struct tepal_exceptions *list);
TEPAL_API bool tepal_exceptions_query(const struct tepal_exceptions *list,
                                      struct tepal_digest digest);

/* Was the list made with this filter's hash, seed and key? */
TEPAL_API bool tepal_exceptions_belong(const struct tepal_exceptions *list,
                                       const struct tepal_filter *filter);

/*
 * As bytes, to be stored beside the filter: 48 + 16 a victim, little-endian, with a checksum.
 * `bytes` has room for tepal_exceptions_bytes(list).
 */
TEPAL_API size_t tepal_exceptions_bytes(const struct tepal_exceptions *list);
TEPAL_API void tepal_exceptions_encode(const struct tepal_exceptions *list, uint8_t *bytes);

/*
 * Back from bytes; every length, the order and the checksum are checked. TEPAL_NOT_A_FILTER (not
 * such a list), TEPAL_BAD_VERSION, TEPAL_BAD_LENGTH, TEPAL_BAD_CHECKSUM, TEPAL_CORRUPT,
 * TEPAL_NO_MEMORY.
 */
TEPAL_API enum tepal_status tepal_exceptions_decode(const uint8_t *bytes, size_t len,
                                                    const struct tepal_allocator *allocator,
                                                    struct tepal_exceptions **out);

#ifdef __cplusplus
}
#endif

#endif
