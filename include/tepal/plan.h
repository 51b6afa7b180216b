/*
 * tepal/plan.h: say what you can bear, get the filter. From a wish to a ranked list of plans, one
 * for every kind and layout that can fulfil it and a reason for every kind that cannot, by the
 * models alone: no filter is made, nothing is allocated, the same wish gives the same plans. From a
 * plan to its filter it is one call more. Any number of threads may plan and build at once.
 *
 *     struct tepal_wish wish = TEPAL_WISH_INIT;
 *     struct tepal_plans plans;
 *     const char *why = "";
 *     wish.keys = n;
 *     wish.known_negatives = count;
 *     wish.fp = 0.01;
 *     if (tepal_plan(&wish, &plans, &why) != TEPAL_OK) ...
 *     if (plans.plan[0].feasible) {
 *         struct tepal_plan_input input = {.seed = 42, .members = a, .member_count = n,
 *                                          .avoid = b, .avoid_count = count};
 *         struct tepal_plan_report report;
 *         tepal_plan_build(&plans.plan[0], &input, NULL, &filter, &report, &why);
 *     }
 *
 * What is looked for. If fp is stated (or neither fp nor a memory): the least memory that keeps fp
 * and fn, which must not exceed the memory if that is stated too. If only the memory is stated: the
 * least cost_fp fp + cost_fn fn in it.
 */
#ifndef TEPAL_PLAN_H
#define TEPAL_PLAN_H

#include <math.h>

#include <tepal/filter.h>
#include <tepal/model.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tepal_prefer { TEPAL_PREFER_SIZE = 0, TEPAL_PREFER_SPEED = 1 };

/* How an endless stream repeats itself: for the false negatives of what forgets. */
enum tepal_stream {
    TEPAL_STREAM_UNKNOWN = 0,
    TEPAL_STREAM_GAPS = 1,      /* measured: `gaps` */
    TEPAL_STREAM_GEOMETRIC = 2, /* stream_a: mean gap; stream_fresh: share of new messages */
    TEPAL_STREAM_PARETO = 3,    /* stream_a: shape; stream_b: scale; stream_fresh */
    TEPAL_STREAM_ZIPF = 4       /* stream_a: exponent; stream_keys: how many keys there are */
};

/*
 * How unequal the weights of the known negatives are (a Lorenz curve): the share[i] of them that
 * weigh least have the share weight[i] of the total. Both ascend within 0..1, and weight ever
 * faster; 0 and 1 are understood. Between the points lines are drawn, which lie on the safe side.
 * The arrays stay the caller's. count 0: all weigh the same.
 */
struct tepal_plan_weights {
    const double *share;
    const double *weight;
    size_t count;
};

/* What is wanted. Start from TEPAL_WISH_INIT, set what is known. */
struct tepal_wish {
    /*
     * The number of keys; in an endless stream, how many of the latest must be remembered. 0: not
     * known; then as many as the memory takes at fp.
     */
    uint64_t keys;
    uint64_t bits;        /* memory of the cells, at most; 0: any */
    double fp;            /* at most; NAN: as few as the memory allows, or 1 % if that is any too */
    double fp_average;    /* the same on average over time, in endless streams; NAN: not stated */
    double fn;            /* at most; NAN: none if possible, else as many as fp (by their costs) */
    bool deletes;         /* keys will be removed */
    double wrong_deletes; /* removals of keys that are not there, for each key there is */
    bool untrusted;       /* the filter comes from strangers, or goes to them */
    uint64_t known_negatives; /* keys that are known to be asked for and not to be in the set */
    bool endless;
    enum tepal_stream stream;
    double stream_a;
    double stream_b;
    double stream_fresh;
    uint64_t stream_keys;
    struct tepal_recycling_gaps gaps;
    uint64_t header_bits; /* exactly so many bits, in a packet; 0: no header */
    enum tepal_prefer prefer;
    double cost_fp; /* of one false positive ... */
    double cost_fn; /* ... and of one false negative; both 0: not stated, 1 each */
    /*
     * Of the known negatives: how often each is asked for, or what its false positive costs. fp is
     * then the share of the weight that passes, not of the keys.
     */
    struct tepal_plan_weights weights;
};

#define TEPAL_WISH_INIT                                                                            \
    {                                                                                              \
        0, 0, NAN, NAN, NAN, false, 0, false, 0, false, TEPAL_STREAM_UNKNOWN, 0, 0, 0, 0,          \
            {NULL, NULL, 0, 0}, 0, TEPAL_PREFER_SIZE, 0, 0,                                        \
        {                                                                                          \
            NULL, NULL, 0                                                                          \
        }                                                                                          \
    }

#define TEPAL_PLAN_TEXT  200
#define TEPAL_PLANS_MOST 32
#define TEPAL_PLAN_ALSO  64

/*
 * One kind on one layout with its best parameters, or the reason why it is refused; a kind that is
 * refused on all of its layouts for one reason is there once.
 */
struct tepal_proposal {
    enum tepal_kind_id kind;
    bool all_layouts; /* refused, on whatever layout; else params.layout is meant */
    bool feasible;
    const char *blocked_by; /* "" if feasible, else what is in the way: "fp", "deletes", ... */
    double excess;          /* by which factor a limit is exceeded; 1 if none is */
    /* Feasible: what it rests on. Else: why not, in a clause. */
    char reason[TEPAL_PLAN_TEXT];
    struct tepal_params params; /* to build with, seed 0; cells 0: it cannot be at all */
    /*
     * What else it is built by. params are those of a cascade's first level: the others follow, in
     * most_bits together, or if that is 0 as the first one's rate asks for.
     */
    uint64_t most_bits;
    double max_fn;       /* retouched: the share of the members that may be given up; else 0 */
    bool weighted;       /* do the weights of the known negatives decide which of them go first? */
    uint64_t bits;       /* memory of the cells: counters and phases included */
    double bits_per_key; /* NaN without keys */
    double fp;           /* predicted; of the known negatives (their weight) if any */
    double fp_unknown;   /* of others */
    double fn;           /* NaN: depends on the stream, which is not known */
    double probes;       /* cache lines that the query of an absent key reads */
    double cost;         /* cost_fp fp + cost_fn fn */
    double remembers;    /* recycling: messages that are remembered for certain; else NaN */
    double messages_per_cycle; /* recycling: of one phase; else NaN */
};

struct tepal_plans {
    uint64_t keys; /* as in the wish, or found */
    double fp;     /* planned for; NaN: as few as the memory allows */
    double fn;     /* allowed to kinds that cannot do without; NaN: by cost */
    size_t count;
    struct tepal_proposal plan[TEPAL_PLANS_MOST]; /* the feasible ones first, the best first */
    /*
     * If none is feasible: the constraint in the way of the one that comes nearest ("fp", "fn",
     * "memory", "deletes", "untrusted", "endless", "header-bits"), else "". `nearest` is that one,
     * as it would be without the constraint; and without those in `blocked_also`, with blanks
     * between them, if one alone is not enough.
     */
    const char *blocked_by;
    char blocked_also[TEPAL_PLAN_ALSO];
    struct tepal_proposal nearest;
};

/*
 * TEPAL_OK, also when nothing is feasible; TEPAL_BAD_ARGUMENT if the wish is nonsense (a rate
 * outside 0..1, removal from a header, ...), and then *why (which may be NULL) is a static
 * sentence. Takes some milliseconds, at most some tens.
 */
TEPAL_API enum tepal_status tepal_plan(const struct tepal_wish *wish, struct tepal_plans *out,
                                       const char **why);

/* ---- the filter of a plan -------------------------------------------------------------------- */

/*
 * What a filter is built from: digests made with the seed, and the key of a keyed filter (NULL:
 * none; tepal_hasher_init, tepal_hasher_init_keyed). Arrays stay the caller's and are not changed.
 */
struct tepal_plan_input {
    uint64_t seed;
    const uint8_t *key; /* TEPAL_KEY_BYTES of them */
    /*
     * Kinds that only add take repeated members as they come; to the others give each once, and in
     * `repeats` how many were left out, which a retouched filter counts among the keys added.
     */
    const struct tepal_digest *members;
    size_t member_count;
    uint64_t repeats;
    const struct tepal_digest *avoid; /* the known negatives, each once */
    size_t avoid_count;
    const double *avoid_weights; /* NULL: 1 each; else as many as there are negatives */
};

/* What was done, counted by asking the filter. */
struct tepal_plan_report {
    uint64_t members;         /* given */
    uint64_t avoid_given;     /* known negatives, as given */
    uint64_t avoid_members;   /* of them, members: not counted below */
    uint64_t avoid_positive;  /* of the others, found before they were attended to: by the Bloom
                                 filter, by the yes-filter alone, by a cascade's first level */
    uint64_t avoid_left;      /* of these, still found; all of them by kinds that only add */
    uint64_t false_negatives; /* members that are not found: given up, or forgotten */
    double avoid_weight;      /* of the known negatives as given */
    double positive_weight;   /* of avoid_positive; NaN: a cascade does not weigh */
    double weight_left;       /* of avoid_left */
    uint64_t steps;           /* yesno: moves of the search */
    bool proved_optimal;      /* yesno: no distribution leaves less weight */
    uint32_t levels;          /* of a cascade; else 0 */
};

/*
 * The filter of a feasible plan, to be freed by tepal_filter_free; *report and *why may be NULL.
 * It is, bit for bit, the one that the kind's own call makes with the same parameters; yesno and
 * cascade note as their capacity the members that they are built from.
 *
 * TEPAL_BAD_ARGUMENT: the plan is not feasible or contradicts itself; a kind that attends to known
 * negatives gets none, or a weighted plan no weights; a weight is negative or not finite; there are
 * no members to choose from. TEPAL_FULL: a fingerprint filter has no room for so many, or no
 * cascade of so few bits was found. TEPAL_TOO_LARGE, TEPAL_NO_MEMORY, and as tepal_params_check.
 * *why is a static sentence then, and nothing else was changed. Cost and memory: those of the kind.
 */
TEPAL_API enum tepal_status tepal_plan_build(const struct tepal_proposal *plan,
                                             const struct tepal_plan_input *input,
                                             const struct tepal_allocator *allocator,
                                             struct tepal_filter **out,
                                             struct tepal_plan_report *report, const char **why);

/*
 * Can it be built at all? As tepal_plan_build asks before it looks at any key: for plans that come
 * from elsewhere, a file say.
 */
TEPAL_API enum tepal_status tepal_plan_check(const struct tepal_proposal *plan, const char **why);

/* Does its kind only add keys (bloom, generalized, counting, fingerprint, recycling)? */
TEPAL_API bool tepal_plan_streams(const struct tepal_proposal *plan);

/*
 * The empty filter of such a plan: feed it with tepal_filter_add_many, in pieces of any size, and
 * it is the one that tepal_plan_build makes of all of them at once. TEPAL_UNSUPPORTED if the plan
 * needs all keys together; else fails as tepal_plan_build does.
 */
TEPAL_API enum tepal_status tepal_plan_begin(const struct tepal_proposal *plan, uint64_t seed,
                                             const uint8_t *key,
                                             const struct tepal_allocator *allocator,
                                             struct tepal_filter **out, const char **why);

#ifdef __cplusplus
}
#endif

#endif
