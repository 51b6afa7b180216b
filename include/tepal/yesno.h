/*
 * tepal/yesno.h: the yes-no Bloom filter (Carrea, Vernitski and Reed 2016): it knows some of the
 * keys that it will be asked for and vetoes them, without any false negative.
 *
 * p bits of yes-filter with k hashes, then r no-filters of q bits with k' hashes each. A key is
 * present if the yes-filter has it and no no-filter has it. The no-filters hold false positives of
 * the yes-filter, distributed so that no member is vetoed.
 *
 *     struct tepal_params params = TEPAL_PARAMS_INIT;
 *     tepal_yesno_params(160, 4, 32, 3, 5, &params);     p, k, q, r, k'
 *     struct tepal_yesno_input input = {.members = s, .member_count = n,
 *                                       .avoid = t, .avoid_count = count, .avoid_weights = w};
 *     struct tepal_yesno_options options = TEPAL_YESNO_OPTIONS_INIT;
 *     struct tepal_yesno_report report;
 *     const char *why = "";
 *     tepal_yesno_build(&params, &input, &options, NULL, &filter, &report, &why);
 *
 * It is for keys that are *known* to come: an unknown one is accepted if the yes-filter has it, and
 * that is smaller than a Bloom filter of the whole size and errs more often. tepal_filter_info
 * tells both rates (fp_known, fp_now). If the known keys must never be mistaken, see the cascade.
 *
 * Everything is a function of the inputs. Digests are made with a hasher of params.seed (and key).
 * Threads: building reads its inputs only; const calls may run concurrently.
 */
#ifndef TEPAL_YESNO_H
#define TEPAL_YESNO_H

#include <tepal/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The key alone in a filter of these parameters (Sec. III-A): its k bits of the yes-filter and its
 * k' bits in every no-filter. `mask` has tepal_params_payload_bytes / 8 words and is overwritten. A
 * header h, the words of a filter, holds the key if h contains the yes part of the mask and, for no
 * j, the part of no-filter j.
 */
TEPAL_API void tepal_yesno_mask(const struct tepal_params *params, struct tepal_digest digest,
                                uint64_t *mask);

/* ---- building -------------------------------------------------------------------------------- */

/*
 * How the false positives are distributed to the no-filters.
 *
 *   greedy        each, in the order given, into the first no-filter where it makes no false
 *                 negative (the paper's algorithm: first fit)
 *   nextfit       a no-filter is closed for good after its first refusal, save the last one
 *   bestfit       ... into the no-filter that gains the fewest ones
 *   pairs         greedy, then one moves over for one that is left over
 *   local-search  greedy, then any number move over, or out, for what is left over, as long as that
 *                 brings less weight left: the default, never worse than greedy
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
    /* Members that may be vetoed. They are spent last, on the heaviest false positives left. */
    uint64_t false_negatives;
    /* Seed search: so many salts, params' own and the following, until nothing is left; 0 is 1. */
    uint32_t salts;
    /*
     * Steps (moves, nodes) of local-search and exact, for each salt; 0: as many as seem right.
     * Steps that look at very many members count for several.
     */
    uint64_t steps;
    /* Asked every so often by all methods; true ends them with the best so far. NULL: never. */
    bool (*enough)(void *ctx);
    void *ctx;
};

#define TEPAL_YESNO_OPTIONS_INIT                                                                   \
    {                                                                                              \
        TEPAL_YESNO_LOCAL_SEARCH, 0, 0, 0, NULL, NULL                                              \
    }

/*
 * What is known. Arrays stay the caller's and are not changed; avoid_weights is NULL (1 each) or
 * as long as avoid, with finite weights >= 0. A known negative that is also a member (the same
 * digest) is reported and not vetoed: members win. Known negatives given twice count twice.
 * At most 2^31 of each.
 */
struct tepal_yesno_input {
    const struct tepal_digest *members; /* S */
    size_t member_count;
    const struct tepal_digest *avoid; /* T */
    size_t avoid_count;
    const double *avoid_weights;
};

/* What was done. */
struct tepal_yesno_report {
    uint64_t members;         /* given */
    uint64_t avoid_given;     /* |T| as given */
    uint64_t avoid_members;   /* of them, members: not counted below */
    uint64_t avoid_positive;  /* of the others, found by the yes-filter alone: F */
    uint64_t avoid_left;      /* of these, still found */
    uint64_t false_negatives; /* members that are not found; at most what the options allow */
    double avoid_weight;      /* of T as given */
    double positive_weight;   /* of F */
    double weight_left;       /* of what is still found */
    uint64_t salt;            /* params.own[TEPAL_YESNO_SALT] of the result */
    uint64_t steps;           /* moves and nodes of the search, over all salts */
    bool proved_optimal;      /* no distribution leaves less weight, for this salt */
};

/*
 * The filter of the members that vetoes the known negatives, to be freed by tepal_filter_free.
 * *report and *why may be NULL. TEPAL_BAD_ARGUMENT: no members, a weight that is negative or not
 * finite, an unknown method, another kind; TEPAL_TOO_LARGE: more than 2^31 keys;
 * TEPAL_NO_MEMORY; and as tepal_params_check.
 *
 * Cost: linear in members and avoid as long as q grows with the members: a false positive looks at
 * the members that share its no-filter bits and are *at risk* (all of their bits are bits of false
 * positives), and at no others. Memory besides the filter: 8 k' bytes a false positive and a member
 * at risk (r times with seeds of their own), a bit a key, 4 r bytes a no-filter bit.
 */
TEPAL_API enum tepal_status tepal_yesno_build(const struct tepal_params *params,
                                              const struct tepal_yesno_input *input,
                                              const struct tepal_yesno_options *options,
                                              const struct tepal_allocator *allocator,
                                              struct tepal_filter **out,
                                              struct tepal_yesno_report *report, const char **why);

/* ---- the filter ------------------------------------------------------------------------------ */

/*
 * The same filter through its typed handle (NULL if it is of another kind).
 *
 * A key may be added later: its bits of the yes-filter are set, and where a no-filter would veto
 * it, the first of its bits there is cleared. So a member is always found; some known negatives may
 * come back. The counts of the build that the filter carries do not know of that:
 * tepal_yesno_vetoes_undone tells how many bits were cleared.
 */
struct tepal_yesno;

TEPAL_API struct tepal_yesno *tepal_filter_yesno(struct tepal_filter *filter);
TEPAL_API struct tepal_filter *tepal_yesno_filter(struct tepal_yesno *yesno);
TEPAL_API bool tepal_yesno_query(const struct tepal_yesno *yesno, struct tepal_digest digest);
TEPAL_API size_t tepal_yesno_query_many(const struct tepal_yesno *yesno,
                                        const struct tepal_digest *digests, size_t count,
                                        uint64_t *answers);

/* What the yes-filter alone says. */
TEPAL_API bool tepal_yesno_query_yes(const struct tepal_yesno *yesno, struct tepal_digest digest);
TEPAL_API uint64_t tepal_yesno_vetoes_undone(const struct tepal_yesno *yesno);

#ifdef __cplusplus
}
#endif

#endif
