/*
 * tepal/params.h: everything that makes two filters compatible, as integers. A filter is created
 * from parameters, a file's header carries parameters, a model predicts from parameters.
 *
 * First what all kinds share, then the kinds, then what params.own means to each of them.
 */
#ifndef TEPAL_PARAMS_H
#define TEPAL_PARAMS_H

#include <tepal/base.h>
#include <tepal/hash.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of filters; the numbers are those in files and never change. */
enum tepal_kind_id {
    TEPAL_KIND_BLOOM = 1,
    TEPAL_KIND_RETOUCHED = 2,
    TEPAL_KIND_GENERALIZED = 3,
    TEPAL_KIND_COUNTING = 4,
    TEPAL_KIND_FINGERPRINT = 5,
    TEPAL_KIND_YESNO = 6,
    TEPAL_KIND_RECYCLING = 7,
    TEPAL_KIND_CASCADE = 8
};

/*
 * Where the cells of a key lie:
 *   flat         anywhere: the textbook filter, k independent positions over all cells
 *   partitioned  one in each of k slices of (nearly) equal size
 *   blocked      all in one line of 512 bits: one cache line a key, a slightly higher error
 *   paired       in two lines; the second is read only when the first says yes: close to the flat
 *                error at little more than one cache line an absent key
 */
enum tepal_layout {
    TEPAL_LAYOUT_FLAT = 0,
    TEPAL_LAYOUT_PARTITIONED = 1,
    TEPAL_LAYOUT_BLOCKED = 2,
    TEPAL_LAYOUT_PAIRED = 3
};

/* May two positions of one key coincide (drawn with replacement), or never (without)? */
enum tepal_positions { TEPAL_POSITIONS_COLLIDING = 0, TEPAL_POSITIONS_DISTINCT = 1 };

#define TEPAL_LINE_BITS          512 /* one cache line */
#define TEPAL_MAX_HASHES         64  /* flat and partitioned */
#define TEPAL_MAX_HASHES_BLOCKED 16
#define TEPAL_MAX_HASHES_PAIRED  32
#define TEPAL_OWN_PARAMS         8

/*
 * Start from TEPAL_PARAMS_INIT or from a model's solver, then set what differs. Every create and
 * every load passes tepal_params_check.
 */
struct tepal_params {
    enum tepal_kind_id kind;
    enum tepal_layout layout;
    enum tepal_positions positions;
    enum tepal_hash hash;
    uint32_t hashes;   /* k: 1..64 (blocked: 16, paired: 32) */
    uint64_t cells;    /* m: 1..2^60; blocked and paired: whole lines of 512 bits */
    uint64_t capacity; /* the number of keys it was planned for; 0: not known */
    uint64_t seed;
    uint64_t key_check;             /* tepal_hasher_check of a keyed filter; 0 otherwise */
    uint64_t own[TEPAL_OWN_PARAMS]; /* the kind's own, see below; unused ones are 0 */
};

#define TEPAL_PARAMS_INIT                                                                          \
    {                                                                                              \
        TEPAL_KIND_BLOOM, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, TEPAL_HASH_XXH3, 0, 0, 0,  \
            0, 0,                                                                                  \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

/*
 * The gate. TEPAL_OK, or TEPAL_UNKNOWN_KIND or TEPAL_BAD_PARAMETER, and then `*why` (if why is not
 * NULL) is a static sentence that names the parameter and its limits. It says the same on every
 * machine; whether this one has room for such a filter is seen when the filter is made.
 */
TEPAL_API enum tepal_status tepal_params_check(const struct tepal_params *params, const char **why);

/* The bytes of the filter's cells, as in memory and in a file. Params must have passed the check.
 */
TEPAL_API uint64_t tepal_params_payload_bytes(const struct tepal_params *params);

/* Two filters of equal parameters (capacity aside) have the same cells for the same key. */
TEPAL_API bool tepal_params_compatible(const struct tepal_params *a, const struct tepal_params *b);

/* Are a key's cells in whole lines of 512 bits: is it blocked or paired? */
TEPAL_API bool tepal_layout_in_lines(enum tepal_layout layout);

/* Names as in the command and in JSON; parse returns false and leaves *out alone if unknown. */
TEPAL_API const char *tepal_layout_name(enum tepal_layout layout);
TEPAL_API const char *tepal_positions_name(enum tepal_positions positions);
TEPAL_API const char *tepal_hash_name(enum tepal_hash hash);
TEPAL_API bool tepal_layout_parse(const char *name, enum tepal_layout *out);
TEPAL_API bool tepal_positions_parse(const char *name, enum tepal_positions *out);

/* ---- the kinds ------------------------------------------------------------------------------- */

/* What a kind promises. Property tests are generated from these. */
enum tepal_promise {
    /* what was added is found, until a key is removed that was never added; a yes-no filter may be
       asked for exceptions when it is built */
    TEPAL_NO_FALSE_NEGATIVES = 1 << 0,
    /* of keys that nobody chose, whoever filled it; a generalized filter needs resets and sets for
       it, and a tolerance below the number of either (its info tells the bound) */
    TEPAL_BOUNDED_FALSE_POSITIVES = 1 << 1,
    TEPAL_DELETABLE = 1 << 2, /* but not a counting filter that is the bits alone */
    /* a union finds all that either finds; of order-free kinds, and of counting filters with one
       choice, it is exactly the filter of both sets */
    TEPAL_MERGEABLE = 1 << 3,
    TEPAL_ORDER_FREE = 1 << 4, /* the order of additions does not matter */
    TEPAL_ENDLESS = 1 << 5     /* may be added to forever */
};

/* A kind: what it is called and what it promises. Static storage. */
struct tepal_kind {
    enum tepal_kind_id id;
    const char *name;
    const char *summary;
    unsigned promises; /* of enum tepal_promise */
};

/* The table of kinds: entries 0 .. tepal_kind_count() - 1. Look-ups return NULL if there is none.
 */
TEPAL_API size_t tepal_kind_count(void);
TEPAL_API const struct tepal_kind *tepal_kind_at(size_t index);
TEPAL_API const struct tepal_kind *tepal_kind_by_id(uint32_t id);
TEPAL_API const struct tepal_kind *tepal_kind_by_name(const char *name);

/*
 * What params.own means: enum tepal_KIND_own names the indices, and all others are 0. Bloom and
 * retouched filters have none.
 */

/* ---- counting: cells are counters ------------------------------------------------------------ */

#define TEPAL_MAX_CHOICES         64  /* c, at most */
#define TEPAL_COUNTER_MAX         15  /* where a counter sticks */
#define TEPAL_COUNTING_LINE_CELLS 128 /* counters in a line of 512 bits */

enum tepal_counting_own {
    TEPAL_COUNTING_CHOICES = 0, /* c: 1 .. TEPAL_MAX_CHOICES */
    TEPAL_COUNTING_RULE = 1,    /* enum tepal_counting_rule */
    TEPAL_COUNTING_POLICY = 2,  /* enum tepal_counting_policy */
    TEPAL_COUNTING_FORM = 3     /* enum tepal_counting_form */
};

/*
 * Which of its c groups a key is added to. With c = 1 there is nothing to choose and the rule must
 * be 0. Flat and partitioned layouts take the first two, blocked and paired ones the third: there,
 * Algorithm 1 would prefer the fullest lines, whose counters are above 0 already, and ruin them.
 *
 *   improved-greedy  Algorithm 1 of the paper: fewest counters that become 1; among these, most
 *                    counters that are 1 now; among these, the smallest largest counter; then by
 *                    the key's own hash
 *   greedy           the first step alone
 *   least-increase   least increase of what the group's own lines contribute to the error, taken as
 *                    occupied^4, which gives fewer false positives in the end than occupied^k
 */
enum tepal_counting_rule {
    TEPAL_RULE_IMPROVED_GREEDY = 0,
    TEPAL_RULE_GREEDY = 1,
    TEPAL_RULE_LEAST_INCREASE = 2
};

/*
 * What removal without a receipt does with a key of which several groups are all above 0 (only one
 * is its own, the others are false positives). With c = 1 it must be 0.
 *
 *   keep    nothing: the key stays (the paper's advice). No false negative, but what is kept piles
 *           up, and with it false positives
 *   remove  the lowest of the groups; it is the wrong one about every other time, which harms
 *           other keys
 */
enum tepal_counting_policy { TEPAL_POLICY_KEEP = 0, TEPAL_POLICY_REMOVE = 1 };

/* Counters and bits, or the bits alone (tepal_counting_strip): no additions, no removals. */
enum tepal_counting_form { TEPAL_FORM_COUNTERS = 0, TEPAL_FORM_BITS = 1 };

/* Names as in the command and in JSON; parse returns false and leaves *out alone if unknown. */
TEPAL_API const char *tepal_counting_rule_name(enum tepal_counting_rule rule);
TEPAL_API const char *tepal_counting_policy_name(enum tepal_counting_policy policy);
TEPAL_API bool tepal_counting_rule_parse(const char *name, enum tepal_counting_rule *out);
TEPAL_API bool tepal_counting_policy_parse(const char *name, enum tepal_counting_policy *out);

/* The rule to take when nobody says otherwise: 0, or least-increase on lines if c > 1. */
TEPAL_API enum tepal_counting_rule tepal_counting_rule_for(enum tepal_layout layout,
                                                           uint32_t choices);

/* ---- generalized ----------------------------------------------------------------------------- */

/*
 * params.hashes is k0 + k1.
 *   RESET_HASHES  k0, of the k hashes; 0..k
 *   TOLERANCE     b: so many inverted bits are forgiven; 0..k-1
 *   ONES          the share of bits that are 1 at first, in units of 1 / TEPAL_GENERALIZED_UNIT;
 *                 each bit is drawn by itself, from the filter's seed. (The papers' p0 is the share
 *                 of zeros: 1 minus this.)
 */
enum tepal_generalized_own {
    TEPAL_GENERALIZED_RESET_HASHES = 0,
    TEPAL_GENERALIZED_TOLERANCE = 1,
    TEPAL_GENERALIZED_ONES = 2
};

#define TEPAL_GENERALIZED_UNIT ((uint64_t)1 << 32)

/*
 * Parameters from numbers: m bits, k0 and k1 hashes, the share of zeros at first (p0), the
 * tolerance; flat layout, colliding positions, no capacity: change them afterwards if need be.
 * TEPAL_BAD_ARGUMENT if zeros is not within 0..1; TEPAL_BAD_PARAMETER as tepal_params_check says:
 * no hash at all, more than 64, a tolerance of k or more. A tolerance of min(k0, k1) or more is
 * allowed but bounds nothing: all zeros or all ones then pass every key.
 */
TEPAL_API enum tepal_status tepal_generalized_params(uint64_t bits, uint32_t reset_hashes,
                                                     uint32_t set_hashes, double zeros,
                                                     uint32_t tolerance, uint64_t seed,
                                                     struct tepal_params *out);

/* What parameters of this kind say: k0, k1, b and the share of zeros at first. */
TEPAL_API uint32_t tepal_generalized_reset_hashes(const struct tepal_params *params);
TEPAL_API uint32_t tepal_generalized_set_hashes(const struct tepal_params *params);
TEPAL_API uint32_t tepal_generalized_tolerance(const struct tepal_params *params);
TEPAL_API double tepal_generalized_zeros(const struct tepal_params *params);

/* ---- fingerprint ----------------------------------------------------------------------------- */

/*
 * params.layout is flat, positions are colliding, hashes are 2 (the two buckets); params.cells are
 * the bits of all slots: a multiple of 8 f.
 */
enum tepal_fingerprint_own { TEPAL_FINGERPRINT_BITS = 0 /* f, of a fingerprint: 4..32 */ };

#define TEPAL_FINGERPRINT_SLOTS    4 /* in a bucket */
#define TEPAL_FINGERPRINT_COPIES   8 /* of one key, at most */
#define TEPAL_FINGERPRINT_MIN_BITS 4
#define TEPAL_FINGERPRINT_MAX_BITS 32

/* ---- yesno ----------------------------------------------------------------------------------- */

/*
 * params.cells is m = p + r q, params.hashes is k; layout and positions are those of the yes-filter
 * (a lined layout needs p and r q to be whole lines). The no-filters are always flat, with the same
 * rule for positions; no-filter j takes the bits p + j q .. p + (j + 1) q - 1.
 */
enum tepal_yesno_own {
    TEPAL_YESNO_NO_BITS = 0,    /* q: 1..2^32 - 1 if r > 0, else 0 */
    TEPAL_YESNO_NO_FILTERS = 1, /* r: 0..64; 0: the Bloom filter, bit by bit */
    TEPAL_YESNO_NO_HASHES = 2,  /* k': 1..TEPAL_MAX_HASHES if r > 0, else 0 */
    TEPAL_YESNO_OWN_SEEDS = 3,  /* 1: every no-filter hashes in its own way; 0: all alike (paper) */
    TEPAL_YESNO_SALT = 4        /* 0..2^20 - 1: a whole re-hashing of all keys; 0: none */
};

#define TEPAL_YESNO_MOST_FILTERS 64

/*
 * kind, cells, hashes and the kind's own of *params for p, k, q, r, k'; the rest is left as it is.
 * TEPAL_TOO_LARGE if p + r q is no number; everything else is left to tepal_params_check.
 */
TEPAL_API enum tepal_status tepal_yesno_params(uint64_t p, uint32_t k, uint64_t q, uint64_t r,
                                               uint32_t no_hashes, struct tepal_params *params);

/* p, the bits of the yes-filter: cells - r q. Params of kind yesno that passed the check. */
TEPAL_API uint64_t tepal_yesno_yes_bits(const struct tepal_params *params);

/* ---- cascade --------------------------------------------------------------------------------- */

/*
 * params.cells are the bits of all levels, params.hashes, layout and positions those of the first
 * level, which has cells - rest bits. The others are flat, with the same rule for positions; their
 * sizes and hashes are in words behind the cells (docs/format.md). All zero: one level, a Bloom
 * filter bit by bit.
 */
enum tepal_cascade_own {
    TEPAL_CASCADE_REST = 0,  /* bits of the levels beyond the first */
    TEPAL_CASCADE_BEYOND = 1 /* how many these are: 0..TEPAL_CASCADE_MOST_LEVELS - 1 */
};

#define TEPAL_CASCADE_MOST_LEVELS 63

/* ---- recycling ------------------------------------------------------------------------------- */

#define TEPAL_RECYCLING_MAX_PHASES 8

enum tepal_recycling_rule {
    TEPAL_RECYCLING_SIGMA = 0,
    TEPAL_RECYCLING_COUNT = 1,
    TEPAL_RECYCLING_TIME = 2
};

enum tepal_recycling_own {
    TEPAL_RECYCLING_PHASES = 0,
    TEPAL_RECYCLING_RULE = 1,
    TEPAL_RECYCLING_LIMIT = 2,
    TEPAL_RECYCLING_FLAGS = 3 /* 1: retain, 2: keep_trigger, 4: only_misses */
};

/* The same, typed: what it does beyond its size. */
struct tepal_recycling_options {
    uint32_t phases; /* 1 .. TEPAL_RECYCLING_MAX_PHASES */
    enum tepal_recycling_rule rule;
    uint64_t limit; /* sigma: hashes <= sigma < cells; count and time: at least 1 */
    /*
     * The trigger is the message that finds the active phase full (by sigma or count). Retaining:
     * it is the first message of the new cycle. keep_trigger: it is (also) left in the phase that
     * freezes, which may then hold more than the limit. Neither: the trigger is forgotten. (Both:
     * every phase has hash functions of its own, or the two phases would have cells in common.)
     */
    bool retain;
    bool keep_trigger;
    /*
     * Insert a message only if no phase has it, instead of always (when the active phase does not
     * have it). That stores fewer messages and forgets sooner: a message lives from its first
     * arrival, not from its latest. Every phase then has hash functions of its own: with shared
     * ones the active phase would fill just the cells that are free in the frozen one, and need not
     * ever be full.
     */
    bool only_misses;
};

/* Two phases by sigma, which is still to be set; the trigger is retained. */
#define TEPAL_RECYCLING_OPTIONS_INIT                                                               \
    {                                                                                              \
        2, TEPAL_RECYCLING_SIGMA, 0, true, false, false                                            \
    }

/*
 * Makes params those of a recycling filter: kind and own. The rest (layout, positions, hashes,
 * cells: the bits of *one* phase) is the caller's. Nothing is checked: tepal_params_check does.
 * And back: the options of such params.
 */
TEPAL_API void tepal_recycling_set_options(struct tepal_params *params,
                                           const struct tepal_recycling_options *options);
TEPAL_API struct tepal_recycling_options
tepal_recycling_options_of(const struct tepal_params *params);

#ifdef __cplusplus
}
#endif

#endif
