/*
 * tepal/yesno.h: the yes-no Bloom filter (Carrea, Vernitski and Reed 2016): it vetoes known
 * negatives, without any false negative.
 *
 * p bits of yes-filter with k hash functions, then r no-filters of q bits with k' hash functions
 * each. A key is present if the yes-filter finds it and no no-filter does. The no-filters hold
 * false positives of the yes-filter, distributed so that no member is vetoed.
 *
 *     struct tepal_params p = TEPAL_PARAMS_INIT;
 *     p.kind = TEPAL_KIND_YESNO;
 *     p.yesno.no_filters = 3;                         r
 *     p.yesno.no_bits = 32;                           q
 *     p.yesno.no_hashes = 5;                          k'
 *     p.cells = 160 + 3 * 32;                         p + r q
 *     p.hashes = 4;                                   k
 *     struct tepal_known known = {.members = s, .member_count = n,
 *                                 .avoid = t, .avoid_count = count, .avoid_weights = w};
 *     struct tepal_yesno_options options = TEPAL_YESNO_OPTIONS_INIT;
 *     struct tepal_known_report report;
 *     tepal_yesno_build(&p, &known, &options, NULL, &filter, &report, &error);
 *
 * It is for keys that are *known* to come: an unknown one is accepted if the yes-filter finds it,
 * and the yes-filter is smaller than a Bloom filter of the whole size and errs more often.
 * tepal_filter_info reports both rates (fp_known, fp_now). If the known keys must never be
 * mistaken, use a cascade.
 *
 * A key may be added later: its bits of the yes-filter are set, and where a no-filter would veto
 * it, the first of its bits there is cleared. So a member is always found; some known negatives may
 * be found again. The counts of the build that the filter stores do not include that; info has the
 * number of bits cleared (vetoes_undone). tepal_yesno_veto_later vetoes what was found again, or
 * was not known at first.
 *
 * The result depends on the inputs alone. Digests are made with a hasher of params.seed (and key).
 * Threads: building only reads its inputs.
 */
#ifndef TEPAL_YESNO_H
#define TEPAL_YESNO_H

#include <tepal/filter.h>
#include <tepal/known.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- building -------------------------------------------------------------------------------- */

/*
 * How the false positives are distributed to the no-filters.
 *
 *   greedy        each, in the order given, into the first no-filter where it makes no false
 *                 negative (the paper's algorithm: first fit)
 *   nextfit       a no-filter is closed for good after its first refusal, except the last one
 *   bestfit       ... into the no-filter that gains the fewest ones
 *   pairs         greedy, then one key moves to make room for one that is left over
 *   local-search  greedy, then any number of keys move, or leave, to make room for those left over,
 *                 as long as that lowers the weight left: the default, never worse than greedy
 *   exact         branch and bound: the least weight left, with proof, if the limits allow
 */
enum tepal_yesno_method {
    TEPAL_YESNO_GREEDY = 0,
    TEPAL_YESNO_NEXTFIT = 1,
    TEPAL_YESNO_BESTFIT = 2,
    TEPAL_YESNO_PAIRS = 3,
    TEPAL_YESNO_LOCAL_SEARCH = 4,
    TEPAL_YESNO_EXACT = 5
};

#define TEPAL_YESNO_METHODS 6

/* "greedy" and so on; "" for no method. parse: false, and *out untouched, if unknown. */
TEPAL_API const char *tepal_yesno_method_name(enum tepal_yesno_method method);
TEPAL_API bool tepal_yesno_method_parse(const char *name, enum tepal_yesno_method *out);

struct tepal_yesno_options {
    enum tepal_yesno_method method;
    /*
     * How many members may be vetoed; 0: none, unless false_negative_weight is given. They are
     * spent last, on the false positives left that weigh most for what they cost.
     */
    uint64_t false_negatives;
    /*
     * Seed search: up to this many salts, from params' own on, until no more of the weight to avoid
     * is left than weight_left; 0: one.
     */
    uint32_t salts;
    double weight_left;
    /*
     * Steps (moves, nodes) of local-search and exact, for each salt; 0: chosen.
     * Steps that look at very many members count for several.
     */
    uint64_t steps;
    /* Called now and then by all methods; true ends them with the best so far. NULL: never. */
    bool (*enough)(void *ctx);
    void *ctx;
    /*
     * How much of the members' weight (known.member_weights, 1 each if NULL) may be vetoed; 0: not
     * limited by weight. If both are given, both are kept.
     */
    double false_negative_weight;
    /* Of a search that ends when nothing is left, the share is of the steps that it may take. */
    struct tepal_progress progress;
};

#define TEPAL_YESNO_OPTIONS_INIT                                                                   \
    {                                                                                              \
        TEPAL_YESNO_LOCAL_SEARCH, 0, 0, 0, 0, NULL, NULL, 0,                                       \
        {                                                                                          \
            NULL, NULL                                                                             \
        }                                                                                          \
    }

/*
 * The filter of the members that vetoes the known negatives, to be freed by tepal_filter_free.
 * *report may be NULL. TEPAL_BAD_ARGUMENT: no members, a weight that is negative or not finite, an
 * unknown method, another kind; TEPAL_TOO_LARGE: more than 2^31 keys, or so many false positives or
 * members at risk (see below) that they have 2^32 no-filter bits; TEPAL_NO_MEMORY; and as
 * tepal_params_check.
 *
 * Cost: linear in members and avoid as long as q grows with the members: a false positive looks at
 * the members that share its no-filter bits and are *at risk* (all of their bits are bits of false
 * positives), and at no others. Memory beyond the filter: 8 k' bytes per false positive and per
 * member at risk (r times with seeds of their own), some 60 bytes per false positive, one bit per
 * key, up to 12 r bytes per no-filter bit.
 */
TEPAL_API enum tepal_status
tepal_yesno_build(const struct tepal_params *params, const struct tepal_known *known,
                  const struct tepal_yesno_options *options,
                  const struct tepal_allocator *allocator, struct tepal_filter **out,
                  struct tepal_known_report *report, struct tepal_error *error);

/*
 * False positives that were seen later go into the no-filters of a filter that exists. Bits that
 * are set there stay, so that what was vetoed stays vetoed; the new ones are distributed beside
 * them by the same methods, and no member is lost beyond what the options tolerate (salts are
 * ignored).
 *
 * `known.members` must be all members, those that were added later included: a member that is not
 * given may be vetoed. What is found of `known.avoid` is dealt with: avoid_positive of the report,
 * and avoid_left of that does not fit. false_negatives of the report includes members that were
 * vetoed before. The filter counts avoid_positive and avoid_left on top of its own counts.
 *
 * TEPAL_UNSUPPORTED: another kind; TEPAL_READ_ONLY; TEPAL_BAD_ARGUMENT: as tepal_yesno_build, or a
 * member that the yes-filter does not find; TEPAL_TOO_LARGE, TEPAL_NO_MEMORY. The filter is then
 * unchanged. Cost and memory: as a build of that many false positives.
 */
TEPAL_API enum tepal_status tepal_yesno_veto_later(struct tepal_filter *filter,
                                                   const struct tepal_known *known,
                                                   const struct tepal_yesno_options *options,
                                                   struct tepal_known_report *report,
                                                   struct tepal_error *error);

/* The answer of the yes-filter alone. Another kind answers as tepal_filter_query does. */
TEPAL_API bool tepal_yesno_query_yes(const struct tepal_filter *filter, struct tepal_digest digest);

#ifdef __cplusplus
}
#endif

#endif
