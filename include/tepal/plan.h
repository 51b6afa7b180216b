/*
 * tepal/plan.h: state your limits, get the filter. The planner turns a wish into a ranked list of
 * plans: one for every kind and layout that can fulfil it, and a reason for every kind that cannot.
 * It uses the models alone: no filter is made, nothing is allocated, the same wish gives the same
 * plans. One more call builds the filter of a plan. Threads may plan and build concurrently.
 *
 *     struct tepal_wish wish = TEPAL_WISH_INIT;
 *     struct tepal_plans plans;
 *     struct tepal_error error;
 *     wish.keys = n;
 *     wish.known_negatives = count;
 *     wish.fp = 0.01;       // of keys that nobody named; of the known negatives none
 *     if (tepal_plan(&wish, &plans, &error) != TEPAL_OK) ...
 *     if (plans.plan[0].feasible) {
 *         struct tepal_plan_input input = {.seed = 42, .known = {.members = a, .member_count = n,
 *                                          .avoid = b, .avoid_count = count}};
 *         struct tepal_known_report report;
 *         tepal_plan_build(&plans.plan[0], &input, NULL, &filter, &report, &error);
 *     }
 *
 * The goal. If fp is given (or neither fp nor a memory): the least memory that achieves fp,
 * fp_known and fn; it must not exceed the memory if that is given too. If only the memory is given:
 * the least cost_fp fp + cost_fn fn in it; with known negatives the least cost_fp fp_known +
 * cost_fn fn, and then the least fp.
 */
#ifndef TEPAL_PLAN_H
#define TEPAL_PLAN_H

#include <tepal/filter.h>
#include <tepal/known.h>
#include <tepal/model.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tepal_prefer { TEPAL_PREFER_SIZE = 0, TEPAL_PREFER_SPEED = 1 };

/*
 * How unequal the weights of the known negatives are (a Lorenz curve): the share[i] of them that
 * weigh least have the share weight[i] of the total. Both ascend within 0..1, and the curve is
 * convex; (0, 0) and (1, 1) are implied. Values between the points are interpolated linearly, which
 * is on the safe side. The arrays stay the caller's. count 0: all weigh the same.
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
     * known; then as many as fit into the memory at fp.
     */
    uint64_t keys;
    uint64_t bits; /* memory of the cells, at most; 0: any */
    /*
     * False-positive rate of strangers (keys that nobody named), at most; NAN: as few as the memory
     * allows, or 1 % if that is any too.
     */
    double fp;
    /*
     * The share of the known negatives (of their weight) that may be found; NAN: none, or as few as
     * the memory allows if only that is given.
     */
    double fp_known;
    double fp_average;    /* the same on average over time, in endless streams; NAN: not stated */
    double fn;            /* at most; NAN: none if possible, else as many as fp (by their costs) */
    bool deletes;         /* keys will be removed */
    double wrong_deletes; /* removals of keys that were never added, per key */
    bool untrusted;       /* the filter comes from untrusted parties, or goes to them */
    uint64_t known_negatives; /* keys known to be looked up that are not in the set */
    /*
     * Nothing but members and known negatives is looked up: strangers may pass. A header is taken
     * for such a world unless fp is given.
     */
    bool closed_world;
    bool endless;
    enum tepal_stream stream;
    double stream_a;
    double stream_b;
    double stream_fresh;
    uint64_t stream_keys;
    struct tepal_gaps gaps;
    uint64_t header_bits; /* exactly this many bits, in a packet; 0: no header */
    enum tepal_prefer prefer;
    double cost_fp; /* of one false positive ... */
    double cost_fn; /* ... and of one false negative; both 0: not stated, 1 each */
    /*
     * Of the known negatives: how often each is looked up, or what its false positive costs.
     * fp_known is then a share of the weight, not of the keys.
     */
    struct tepal_plan_weights weights;
    /*
     * The number of keys grows from this to `keys`, and perhaps beyond, and the memory is to follow
     * it: only growing filters and chains do that. 0: it does not.
     */
    uint64_t keys_first;
    /*
     * Bits of the counters of counting filters, 4 or 8. 0: 4, unless keys are removed and a counter
     * of 4 bits is expected to stick. Keys that are added more than 14 times need 8.
     */
    uint32_t counter_bits;
    /*
     * The filter will learn (tepal_avoid): this share of its members may be lost to keys that it is
     * told to avoid. Only Bloom and counting filters do that. 0: it will not.
     */
    double max_fn;
    struct tepal_progress progress; /* of tepal_plan: from one kind to the next */
};

#define TEPAL_WISH_INIT                                                                            \
    {                                                                                              \
        0, 0, NAN, NAN, NAN, NAN, false, 0, false, 0, false, false, TEPAL_STREAM_UNKNOWN, 0, 0, 0, \
            0, {NULL, NULL, 0, 0}, 0, TEPAL_PREFER_SIZE, 0, 0, {NULL, NULL, 0}, 0, 0, 0,           \
        {                                                                                          \
            NULL, NULL                                                                             \
        }                                                                                          \
    }

#define TEPAL_MAX_PLANS 32
#define TEPAL_PLAN_TEXT 200
#define TEPAL_PLAN_ALSO 64

/* A yes-no plan is built with so many salts at most, until it leaves no more than fp_known. */
#define TEPAL_PLAN_SALTS 6

/*
 * One kind on one layout with its best parameters, or the reason why it is refused; a kind that is
 * refused on all of its layouts for one reason is there once.
 */
struct tepal_proposal {
    enum tepal_kind_id kind;
    bool all_layouts; /* refused on every layout; else params.layout is the one */
    bool feasible;
    /*
     * Not feasible, because it cannot be built with every seed; but with this share of them, 1/2 or
     * more (fingerprint: the keys may not find room). Else 0.
     */
    double likely;
    const char *blocked_by; /* "" if feasible, else the violated limit: "fp", "deletes", ... */
    double excess;          /* by which factor a limit is exceeded; 1 if none is */
    /* Feasible: what it rests on. Else: why not, in a clause. */
    char reason[TEPAL_PLAN_TEXT];
    struct tepal_params params; /* to build with, seed 0; cells 0: there is no such filter */
    /*
     * Further build parameters. For a cascade, params are those of the first level; the others
     * follow, within max_bits in total or, if that is 0, as the rate of the first level requires.
     */
    uint64_t max_bits;
    /*
     * The share of the members that may be given up. retouched: when it is built; bloom, counting:
     * to keys that it avoids later, as in the wish; else 0.
     */
    double max_fn;
    bool weighted;       /* do the weights of the known negatives decide which of them go first? */
    uint64_t bits;       /* memory of the cells: counters and phases included; of what grows, when
                            all keys are in */
    double bits_per_key; /* NaN without keys */
    double fp;           /* predicted, of strangers */
    double fp_known;     /* of the known negatives, by weight; NaN if there are none */
    double fn;           /* NaN: depends on the stream, which is not known */
    double probes;       /* cache lines read per query of an absent key */
    double cost;         /* cost_fp fp + cost_fn fn; with known negatives fp_known for fp */
    double remembers;    /* recycling: messages that are remembered for certain; else NaN */
    double messages_per_cycle; /* recycling: of one phase; else NaN */
};

struct tepal_plans {
    uint64_t keys;     /* as in the wish, or found */
    double fp;         /* of strangers, planned for; NaN: as few as the memory allows, or any */
    double fp_known;   /* of known negatives; NaN: there are none, or as few as the memory allows */
    double fn;         /* allowed for kinds that need some; NaN: by cost */
    bool closed_world; /* may strangers pass? */
    size_t count;
    /*
     * Feasible ones first, the best first (without a stated fn: after those that lose no key); then
     * likely ones.
     */
    struct tepal_proposal plan[TEPAL_MAX_PLANS];
    /*
     * If none is feasible: the constraint that the nearest plan violates ("fp", "fp-known", "fn",
     * "memory", "deletes", "untrusted", "endless", "header-bits", "grow"), else "". `nearest` is
     * that plan, as it would be without the constraint and, if dropping one is not enough, without
     * those in `blocked_also`, separated by blanks.
     */
    const char *blocked_by;
    char blocked_also[TEPAL_PLAN_ALSO];
    struct tepal_proposal nearest;
};

/*
 * TEPAL_OK, also when nothing is feasible; TEPAL_BAD_ARGUMENT if the wish makes no sense (a rate
 * outside 0..1 or below TEPAL_MIN_RATE for each key, removal from a header, ...). Takes a few
 * milliseconds, at most some tens; up to a quarter of a second below 0.05 % for sets that are built
 * once, where counting filters with several choices are looked at, and for endless streams that
 * need few bits; up to half a second for few keys in a closed world.
 */
TEPAL_API enum tepal_status tepal_plan(const struct tepal_wish *wish, struct tepal_plans *out,
                                       struct tepal_error *error);

/*
 * All plans, or one, as a JSON document (docs/json.md, "plan") that the command reads (`tepal build
 * --plan`), ended by a 0 byte. Writes at most `room` bytes including the 0, and returns the length
 * of the whole text without the 0: call it with room 0 to learn how much is needed, as with
 * snprintf.
 */
TEPAL_API size_t tepal_plan_json(const struct tepal_proposal *plan, char *text, size_t room);
TEPAL_API size_t tepal_plans_json(const struct tepal_plans *plans, char *text, size_t room);

/* ---- the filter of a plan -------------------------------------------------------------------- */

/*
 * What a filter is built from: digests made with the seed, and the key of a keyed filter (NULL:
 * none; tepal_hasher_init, tepal_hasher_init_keyed). With a key the hash is SipHash-2-4, unless the
 * plan's params.hash was set to another keyed one (tepal_hasher_init_by).
 */
struct tepal_plan_input {
    uint64_t seed;
    const uint8_t *key; /* TEPAL_KEY_BYTES of them */
    /*
     * Kinds that only add take repeated members as they come; for the others give each once, and in
     * `repeats` how many were left out, which a retouched filter counts among the keys added.
     */
    struct tepal_known known;
    uint64_t repeats;
    struct tepal_progress progress; /* of the kinds that choose: yesno and retouched */
};

/*
 * The filter of a feasible or likely plan, to be freed by tepal_filter_free; *report may be NULL.
 * It is, bit for bit, the one that the kind's own call makes with the same parameters; yesno and
 * cascade note as their capacity the members that they are built from.
 *
 * TEPAL_BAD_ARGUMENT: the plan is neither feasible nor likely, or is inconsistent; a kind that
 * needs known negatives gets none, or a weighted plan no weights; a weight is negative or not
 * finite; there are no members to choose from. TEPAL_FULL: the keys do not fit into a fingerprint
 * filter, or no cascade this small was found; with other seeds, and digests made with them, it may
 * succeed. TEPAL_TOO_LARGE, TEPAL_NO_MEMORY, and as tepal_params_check. Cost and memory: those of
 * the kind.
 */
TEPAL_API enum tepal_status
tepal_plan_build(const struct tepal_proposal *plan, const struct tepal_plan_input *input,
                 const struct tepal_allocator *allocator, struct tepal_filter **out,
                 struct tepal_known_report *report, struct tepal_error *error);

/*
 * Can it be built at all? The checks that tepal_plan_build makes before it looks at any key, for
 * plans that come from elsewhere, such as a file.
 */
TEPAL_API enum tepal_status tepal_plan_check(const struct tepal_proposal *plan,
                                             struct tepal_error *error);

/*
 * Can its kind be filled key by key (bloom, generalized, counting, fingerprint, recycling, growing,
 * chain)?
 */
TEPAL_API bool tepal_plan_streams(const struct tepal_proposal *plan);

/*
 * The empty filter of such a plan: feed it with tepal_filter_add_many, in pieces of any size, and
 * it is the one that tepal_plan_build makes of all of them at once, but for the budget of a filter
 * that will learn (max_fn): set that when the keys are in (tepal_avoid_budget). TEPAL_UNSUPPORTED
 * if the plan needs all keys at once; else fails as tepal_plan_build does.
 */
TEPAL_API enum tepal_status tepal_plan_create(const struct tepal_proposal *plan, uint64_t seed,
                                              const uint8_t *key,
                                              const struct tepal_allocator *allocator,
                                              struct tepal_filter **out, struct tepal_error *error);

#ifdef __cplusplus
}
#endif

#endif
