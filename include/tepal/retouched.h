/*
 * tepal/retouched.h: remove the false positives that hurt, and pay with a few false negatives
 * (Donnet, Baynat and Friedman 2006).
 *
 *     struct tepal_known known = {.members = a, .member_count = n,
 *                                 .avoid = b, .avoid_count = count, .avoid_weights = w};
 *     struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
 *     options.limit = TEPAL_RETOUCH_LIMIT_SHARE;
 *     options.budget = 0.01;                        give up at most 1 % of the members
 *     struct tepal_retouch_report report;
 *     struct tepal_error error;
 *     tepal_retouch(filter, &known, &options, NULL, &retouched, &report, NULL, &error);
 *
 * A Bloom filter becomes a retouched filter of the same size, with the same file layout and the
 * same lookups; only some bits have become 0. A key whose bit was cleared is no longer found: a
 * *troublesome* key, as intended, or a member, which is then a *victim* (a false negative). The
 * methods differ in which bits they clear. A generalized filter stays generalized: there, bits are
 * inverted. The result depends on the inputs alone: ties go to the lowest bit, and random choices
 * are drawn from options.seed.
 *
 * Who received a filter does not have its members. Leave known.members NULL then: bits are chosen
 * by the keys to avoid alone (random, max-fp), or with a counting filter by its counters, too
 * (min-fn, ratio), and the members lost are expected, with an interval, instead of counted.
 *
 * A key may be added to a retouched filter later; that sets its bits again, which may bring back
 * false positives that had been removed. Retouched filters cannot be united or intersected: unite
 * the Bloom filters, then retouch.
 *
 * Threads: retouching only reads its inputs.
 */
#ifndef TEPAL_RETOUCHED_H
#define TEPAL_RETOUCHED_H

#include <tepal/filter.h>
#include <tepal/known.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what to do ------------------------------------------------------------------------------ */

/*
 * Which bits are changed. B are the troublesome keys, A the members. For Bloom and retouched
 * filters:
 *
 *   random-bits      set bits at random, regardless of their owners (Sec. III-B); B is ignored
 *   random           a random bit of each key of B that is still found       (Algorithm 1)
 *   min-fn           ... its bit with the fewest members                     (Algorithm 2)
 *   max-fp           ... its bit with the most false positives               (Algorithm 3)
 *   ratio            ... its bit with the lowest members / false positives   (Algorithm 4)
 *   improved-*       the same three with counts that are kept up to date     (Algorithms 5 to 7)
 *   sacrifice        chooses the members to give up, not the bits: best by far
 *
 * For generalized filters. A false positive is removed by inverting one of its bits: a 0 that it
 * would have reset becomes 1, or a 1 that it would have set becomes 0 (with a tolerance of b, and c
 * of its bits inverted already, b + 1 - c bits). That also removes every other false positive that
 * has the bit, loses the members that have it and, unlike in a Bloom filter, *creates* false
 * positives: keys that only this bit had kept out.
 *
 *   net-effect       the bit that removes the most weight of known false positives, less what it
 *                    creates, and less twice the weight of the members that it loses; repeated
 *                    until no bit helps: best by far
 *   least-fn         the bit that loses the least weight of members, among equals the one with the
 *                    larger net effect; each key once
 *
 * best (the default) is sacrifice or net-effect, by the kind. Without the members there are
 * random-bits, random, max-fp and improved-max-fp, and of a counting filter min-fn and ratio: v_A
 * is its counters; best is then max-fp or ratio. Weights, where given, are summed in place of
 * counting.
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
    TEPAL_RETOUCH_SACRIFICE = 8,
    TEPAL_RETOUCH_NET_EFFECT = 9,
    TEPAL_RETOUCH_LEAST_FN = 10,
    TEPAL_RETOUCH_BEST = 11
};

#define TEPAL_RETOUCH_METHODS 12

/* "random-bits" and so on; "" for no method. parse: false, and *out untouched, if unknown. */
TEPAL_API const char *tepal_retouch_method_name(enum tepal_retouch_method method);
TEPAL_API bool tepal_retouch_method_parse(const char *name, enum tepal_retouch_method *out);

/*
 * The budget of the *result* (victims of an earlier retouch count). It is never exceeded: a step
 * that would exceed it is skipped, and the run ends when nothing fits any more.
 *
 *   all      no limit: remove all of B
 *   share    at most budget * members victims, 0 <= budget <= 1
 *   count    at most `budget` victims
 *   weight   victims whose member weights add up to at most `budget`
 *
 * Without the members, it is the expected number of victims that is limited.
 */
enum tepal_retouch_limit {
    TEPAL_RETOUCH_LIMIT_ALL = 0,
    TEPAL_RETOUCH_LIMIT_SHARE = 1,
    TEPAL_RETOUCH_LIMIT_COUNT = 2,
    TEPAL_RETOUCH_LIMIT_WEIGHT = 3
};

/*
 * What max-fp, ratio and their improved forms count as false positives of a bit: the troublesome
 * keys (the paper's text), or all known false positives, known.others (which gives the paper's
 * tables). The other methods ignore it.
 */
enum tepal_retouch_basis { TEPAL_RETOUCH_BASIS_B = 0, TEPAL_RETOUCH_BASIS_ALL = 1 };

/* In which order Algorithms 1 to 7 take the troublesome keys: as given, or the heaviest first. */
enum tepal_retouch_order { TEPAL_RETOUCH_ORDER_GIVEN = 0, TEPAL_RETOUCH_ORDER_WEIGHT = 1 };

struct tepal_retouch_options {
    enum tepal_retouch_method method;
    enum tepal_retouch_limit limit;
    double budget; /* see enum tepal_retouch_limit; ignored for `all` */
    enum tepal_retouch_basis basis;
    enum tepal_retouch_order order;
    /*
     * After the method, clear every bit all of whose owners are victims: no further member is lost,
     * and the result is the Bloom filter of the surviving members. `sacrifice` always does.
     */
    bool sweep;
    /*
     * A troublesome key that is also a member (the same digest) is reported and left alone, unless
     * this is set: then it is removed as any other, and is a victim itself.
     */
    bool remove_members;
    uint64_t bits; /* random-bits: how many to clear; 0: as many as the budget allows */
    uint64_t seed; /* of random-bits and random */
    struct tepal_progress progress;
};

#define TEPAL_RETOUCH_OPTIONS_INIT                                                                 \
    {                                                                                              \
        TEPAL_RETOUCH_BEST, TEPAL_RETOUCH_LIMIT_ALL, 0, TEPAL_RETOUCH_BASIS_B,                     \
            TEPAL_RETOUCH_ORDER_GIVEN, false, false, 0, 0,                                         \
        {                                                                                          \
            NULL, NULL                                                                             \
        }                                                                                          \
    }

/*
 * What was done. The false positives F are those of known.others if given. Without the members,
 * `members` is an estimate, and false_negatives is the expectation, rounded.
 */
struct tepal_retouch_report {
    bool expected;            /* the members were not given */
    uint64_t members;         /* given; else estimated from the bits, or counted by counters */
    uint64_t members_absent;  /* of them, not found before: earlier victims, or never added */
    uint64_t avoid_given;     /* |B| as given */
    uint64_t avoid_members;   /* of them, members (left alone unless remove_members) */
    uint64_t avoid_positive;  /* of them, found before and to be removed: the false positives */
    uint64_t avoid_left;      /* keys of B, members aside, that are found now */
    uint64_t avoid_created;   /* of these, not found before: generalized filters only */
    uint64_t removed_inside;  /* avoid_positive - (avoid_left - avoid_created) */
    uint64_t others_positive; /* of `others`, found before; 0 without */
    uint64_t others_left;     /* of `others`, found now; 0 without */
    uint64_t removed_beyond;  /* of `others`, not in B, found before and not now; 0 without */
    uint64_t false_negatives; /* members that are not found now (members_absent included) */
    uint64_t bits_changed;    /* cleared; of a generalized filter: inverted */
    uint64_t ones_before;
    uint64_t ones_after;
    double avoid_weight;   /* of the avoid_positive keys */
    double removed_weight; /* of these, less that of the avoid_left keys */
    double member_weight;  /* of all given members */
    double lost_weight;    /* of the false negatives */
    /*
     * The members that are not found now. Counted if the members were given: all four are equal.
     * Otherwise as expected of hash functions that scatter ideally, with the 99 % interval of this
     * call (members lost before, members_absent, are added as they were told), and the most that
     * it can be: the sum of the counters of all cleared bits (without counters: all members).
     */
    double lost_expected;
    double lost_low;
    double lost_high;
    uint64_t lost_most;
    /*
     * Eqs. (10) to (12): the share of false positives removed, the share of members lost by this
     * call, and their ratio; NaN where a share has nothing to divide by (chi: no member lost).
     * delta_fp is counted over `others` if given, otherwise it is that of keys drawn at random,
     * from the set bits before and after. Of a generalized filter it is counted over B, those
     * created included.
     */
    double delta_fp;
    double delta_fn;
    double chi;
};

/*
 * Retouch `filter`, of kind bloom, retouched, counting or generalized, into a new filter, to be
 * freed by tepal_filter_free. The filter itself is not changed. Bloom filters become retouched
 * filters, and so do counting filters, which lose their counters (one choice and no short lines:
 * those that have the positions of a Bloom filter); generalized filters stay generalized.
 *
 * With known.members NULL and member_count 0, none is known: see `expected` in the report; all of
 * `avoid` is then taken for non-members, and sweep is refused. Otherwise all members must be given:
 * a set bit that no given member owns is taken for the bit of a
 * forgotten member and is never cleared. For a generalized filter, give *all* keys that are known
 * not to be members in `avoid`, including those that are not found: what a flip creates is counted
 * among them (and among `others`, which are not aimed at and must not repeat keys of `avoid`). Its
 * options are method, limit and budget; the others are ignored.
 *
 * Incremental: give a retouched filter, all members again (earlier victims are recognised: they are
 * the members that are not found) and the new troublesome keys. Keys that were removed before stay
 * removed, because bits are only ever cleared.
 *
 * *report (may be NULL) is filled in; `victims` (may be NULL) has room for (member_count + 63) / 64
 * words and gets bit i set for every member i that the result does not find (without the members:
 * it is left alone).
 *
 * TEPAL_BAD_ARGUMENT: members that are an empty array (of a filter whose bits are cleared), a
 * method that needs members without them, all bits set then (they tell no number of members), a
 * weight that is negative or not finite, a budget outside its limits, the basis `all` without
 * `others`, an unknown method or one of another kind; TEPAL_MISMATCH: the members do not belong to
 * this filter (more than half of those that should be found are not); TEPAL_UNSUPPORTED: another
 * kind; TEPAL_TOO_LARGE; TEPAL_NO_MEMORY.
 *
 * Cost: O(k (members + avoid + others)), and O(m) for a copy of the bits; `sacrifice` adds a heap
 * over the bits of B; the generalized methods sort all bits of all keys, 16 bytes each. Memory,
 * including the result: some bitmaps of m bits, 4 to 24 bytes per bit of B and 4 per member that
 * owns one; with 10 bits per member and a tenth as many keys in B 16 bytes per member, 31 for
 * `sacrifice`. All of it comes from the allocator.
 */
TEPAL_API enum tepal_status
tepal_retouch(const struct tepal_filter *filter, const struct tepal_known *known,
              const struct tepal_retouch_options *options, const struct tepal_allocator *allocator,
              struct tepal_filter **out, struct tepal_retouch_report *report, uint64_t *victims,
              struct tepal_error *error);

/* ---- the trade-off --------------------------------------------------------------------------- */

/* Giving up this many members removes this much. */
struct tepal_retouch_point {
    uint64_t false_negatives;
    double lost_weight; /* of the members */
    uint64_t avoid_removed;
    double removed_weight; /* of the troublesome keys */
};

/*
 * The curve of budget against weight removed, from one run (of generalized filters, where flips are
 * taken back: from a run for each point, 25 at most): points in the order of growing false
 * negatives and growing weight, the first with nothing removed, the last where options.limit ends
 * the run (all of B: LIMIT_ALL). At most `room` (>= 2) points are written, thinned evenly if there
 * are more steps; *count gets how many. Without the members, false_negatives is the expectation,
 * rounded, and lost_weight the expectation itself. A run with the budget of one of the points
 * removes at least that point's weight, or nearly so: `sacrifice` spends what it saves at the end.
 * (To compare budgets use the share 1, not LIMIT_ALL: without a budget `sacrifice` first takes what
 * is hard to get, not what weighs most.) *report (may be NULL) gets what tepal_retouch would report
 * of the whole run. Fails as tepal_retouch does; `points` may have been written to then.
 */
TEPAL_API enum tepal_status tepal_retouch_curve(const struct tepal_filter *filter,
                                                const struct tepal_known *known,
                                                const struct tepal_retouch_options *options,
                                                const struct tepal_allocator *allocator,
                                                struct tepal_retouch_point *points, size_t room,
                                                size_t *count, struct tepal_retouch_report *report,
                                                struct tepal_error *error);

/* ---- the exception list ---------------------------------------------------------------------- */

/*
 * The victims themselves, as an exact set of digests: filter and list together find every member
 * again and keep the troublesome keys out (unless two keys share a 128-bit digest by chance). 16
 * bytes per victim, sorted; a query is a binary search, needed only for keys that the filter does
 * not find.
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
                                                    struct tepal_exceptions **out,
                                                    struct tepal_error *error);
TEPAL_API void tepal_exceptions_free(struct tepal_exceptions *list); /* NULL is allowed */
TEPAL_API size_t tepal_exceptions_count(const struct tepal_exceptions *list);
TEPAL_API bool tepal_exceptions_query(const struct tepal_exceptions *list,
                                      struct tepal_digest digest);

/* Was the list made with this filter's hash, seed and key? */
TEPAL_API bool tepal_exceptions_belong(const struct tepal_exceptions *list,
                                       const struct tepal_filter *filter);

/*
 * As bytes, to be stored beside the filter: 48 + 16 per victim, little-endian, with a checksum.
 * TEPAL_BAD_LENGTH if there is not room for tepal_exceptions_encoded_bytes(list).
 */
TEPAL_API uint64_t tepal_exceptions_encoded_bytes(const struct tepal_exceptions *list);
TEPAL_API enum tepal_status tepal_exceptions_encode(const struct tepal_exceptions *list,
                                                    void *bytes, size_t room,
                                                    struct tepal_error *error);

/*
 * Back from bytes; every length, the order and the checksum are checked. TEPAL_NOT_A_FILTER (not
 * such a list), TEPAL_BAD_VERSION, TEPAL_BAD_LENGTH, TEPAL_BAD_CHECKSUM, TEPAL_CORRUPT,
 * TEPAL_NO_MEMORY.
 */
TEPAL_API enum tepal_status tepal_exceptions_decode(const void *bytes, size_t len,
                                                    const struct tepal_allocator *allocator,
                                                    struct tepal_exceptions **out,
                                                    struct tepal_error *error);

#ifdef __cplusplus
}
#endif

#endif
