/*
 * tepal/params.h: everything that makes two filters compatible, as integers. A filter is created
 * from parameters, a file's header stores parameters, a model predicts from parameters.
 *
 *     struct tepal_params p = TEPAL_PARAMS_INIT;   a Bloom filter on the flat layout
 *     p.kind = TEPAL_KIND_COUNTING;
 *     p.layout = TEPAL_LAYOUT_BLOCKED;
 *     p.counting.choices = 1;                      what only counting filters have
 *     p.seed = 42;
 *     tepal_params_for_rate(&p, 1000000, 0.01, &error);   (tepal/model.h) sets cells and hashes
 *     tepal_filter_create(&p, NULL, &filter, &error);     (tepal/filter.h)
 *
 * First come the parameters that all kinds share, then those of each kind, then the table of kinds.
 */
#ifndef TEPAL_PARAMS_H
#define TEPAL_PARAMS_H

#include <tepal/base.h>
#include <tepal/hash.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of filters. The numbers are those in files and never change. */
enum tepal_kind_id {
    TEPAL_KIND_BLOOM = 1,
    TEPAL_KIND_RETOUCHED = 2,
    TEPAL_KIND_GENERALIZED = 3,
    TEPAL_KIND_COUNTING = 4,
    TEPAL_KIND_FINGERPRINT = 5,
    TEPAL_KIND_YESNO = 6,
    TEPAL_KIND_RECYCLING = 7,
    TEPAL_KIND_CASCADE = 8,
    TEPAL_KIND_GROWING = 9,
    TEPAL_KIND_CHAIN = 10
};

/*
 * Where the cells of a key are:
 *   flat         anywhere: the textbook filter, k independent positions over all cells
 *   partitioned  one in each of k slices of (nearly) equal size
 *   blocked      all in one line of 512 bits: one cache line per key, slightly more false positives
 *   paired       in two lines; the second is read only if the first matches: close to the flat
 *                false-positive rate at little more than one cache line per absent key
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

/* ---- what only one kind has ------------------------------------------------------------------ */

/* Bloom and retouched filters have no parameters of their own. */

/*
 * counting: cells are counters of 4 bits, or 8 (params.counting.form). A counter that reaches 15
 * (255) stays there.
 *
 * `rule` decides which of its c groups a key is added to. With c = 1 there is nothing to choose and
 * the rule must be 0. Flat and partitioned layouts take the first two, blocked and paired ones the
 * third: there, Algorithm 1 would prefer the fullest lines, whose counters are above 0 already.
 *
 *   improved-greedy  Algorithm 1 of the paper: the fewest counters that become 1; among these, the
 *                    most counters that are 1 now; among these, the smallest largest counter; then
 *                    by the key's own hash
 *   greedy           the first step alone
 *   least-increase   the least increase of the lines' contribution to the error, taken as
 *                    occupied^4, which gives fewer false positives in the end than occupied^k
 *
 * `policy` decides what removal without a receipt does with a key of which several groups are all
 * above 0 (only one is its own, the others are false positives). With c = 1 it must be 0.
 *
 *   keep    nothing: the key stays (the paper's advice). No false negatives, but kept keys pile up
 *           and with them false positives. A caller who remembers which keys were kept need not add
 *           one that comes back (Sec. 4.3); the filter cannot tell it from a false positive
 *   remove  removes the lowest of the groups, which is the wrong one about half of the time and
 *           then harms other keys
 *
 * `lines`, blocked and paired layouts only; on the others it must be 0.
 *
 *   short  a line is one cache line of counters, TEPAL_COUNTING_LINE_CELLS of them
 *   long   a line is TEPAL_LINE_BITS counters, whose bits are one cache line: those of a Bloom
 *          filter, with its false-positive rate, which is lower. Additions and removals touch five
 *          cache lines instead of two. `tepal build` and plans take long lines
 */
enum tepal_counting_rule {
    TEPAL_RULE_IMPROVED_GREEDY = 0,
    TEPAL_RULE_GREEDY = 1,
    TEPAL_RULE_LEAST_INCREASE = 2
};
enum tepal_counting_policy { TEPAL_POLICY_KEEP = 0, TEPAL_POLICY_REMOVE = 1 };

/*
 * Counters of 4 bits and bits; or the bits alone (tepal_counting_strip): no additions, no removals;
 * or counters of 8 bits, for keys that are added more than 14 times, and bits.
 */
enum tepal_counting_form {
    TEPAL_FORM_COUNTERS = 0,
    TEPAL_FORM_BITS = 1,
    TEPAL_FORM_WIDE_COUNTERS = 2
};
enum tepal_counting_lines { TEPAL_LINES_SHORT = 0, TEPAL_LINES_LONG = 1 };

#define TEPAL_MAX_CHOICES         64
#define TEPAL_MAX_COUNTER         255 /* of counters of 8 bits */
#define TEPAL_MAX_SMALL_COUNTER   15  /* of counters of 4 bits */
#define TEPAL_COUNTING_LINE_CELLS 128 /* counters in a short line: 512 bits */

struct tepal_counting_params {
    uint64_t choices; /* c: 1 .. TEPAL_MAX_CHOICES */
    uint64_t rule;    /* enum tepal_counting_rule */
    uint64_t policy;  /* enum tepal_counting_policy */
    uint64_t form;    /* enum tepal_counting_form */
    uint64_t lines;   /* enum tepal_counting_lines */
    /* The members that tepal_avoid may lose, its budget (tepal/avoid.h); 0: it clears no bits */
    uint64_t most_lost;
};

/* generalized: params.hashes is k0 + k1, the hash functions that reset and those that set. */
#define TEPAL_GENERALIZED_UNIT ((uint64_t)1 << 32)

struct tepal_generalized_params {
    uint64_t reset_hashes; /* k0: 0 .. hashes */
    uint64_t tolerance;    /* b: up to this many inverted bits are tolerated; 0 .. hashes - 1. From
                              min(k0, k1) on nothing is bounded: all zeros or all ones then pass
                              every key */
    uint64_t ones;         /* initial share of ones, in units of 1 / TEPAL_GENERALIZED_UNIT; each
                              bit is drawn from the seed. (The paper's p0 is 1 minus this.) */
};

/*
 * fingerprint: a cuckoo filter. Each key leaves a fingerprint of f bits in one of its two buckets
 * of four slots; keys can be removed again, at about 12 bits per key for 0.3 % false positives. The
 * layout is flat, positions are colliding, hashes is 2 (the two buckets); cells is the number of
 * bits of all slots, a multiple of 8 times the fingerprint's bits. The rules of use:
 *
 *   - It is full at 95 % of its slots or more (very small filters earlier); additions then return
 *     TEPAL_FULL, and nothing is lost. tepal_params_for_rate leaves room for the keys it is given.
 *   - A key that was added several times must be removed as often. One key can be added at most
 *     TEPAL_MAX_COPIES times; the next addition returns TEPAL_FULL. If keys are added more
 *     often than that, use a counting filter.
 *   - Remove only keys that were added: then there are no false negatives. Removing a key that was
 *     never added and happens to be a false positive makes one member disappear.
 *   - Two of these filters cannot be united. The order of additions never changes an answer.
 */
#define TEPAL_FINGERPRINT_SLOTS    4 /* per bucket */
#define TEPAL_MAX_COPIES           8 /* additions of one key */
#define TEPAL_MIN_FINGERPRINT_BITS 4
#define TEPAL_MAX_FINGERPRINT_BITS 32

struct tepal_fingerprint_params {
    uint64_t bits; /* f: 4 .. 32 */
};

/*
 * yesno: cells is m = p + r q, hashes is k; layout and positions are those of the yes-filter (a
 * layout in lines needs p and r q to be whole lines). The no-filters are always flat, with the same
 * rule for positions; no-filter j takes the bits p + j q .. p + (j + 1) q - 1.
 */
#define TEPAL_MAX_NO_FILTERS 64

struct tepal_yesno_params {
    uint64_t no_bits;    /* q: 1 .. 2^32 - 1 if r > 0, otherwise 0 */
    uint64_t no_filters; /* r: 0 .. 64; 0: the Bloom filter, bit for bit */
    uint64_t no_hashes;  /* k': 1 .. TEPAL_MAX_HASHES if r > 0, otherwise 0 */
    uint64_t own_seeds;  /* 1: each no-filter has its own hash functions; 0: all share (paper) */
    uint64_t salt;       /* 0 .. 2^20 - 1: rehashes all keys; 0: does not */
};

/*
 * cascade: cells is the number of bits of all levels; hashes, layout and positions are those of the
 * first level, which has cells - rest_bits bits. The other levels are flat, with the same rule for
 * positions; their sizes and hashes are in words behind the cells (docs/format.md). All zero: one
 * level, a Bloom filter bit for bit.
 */
#define TEPAL_MAX_LEVELS 63

struct tepal_cascade_params {
    uint64_t rest_bits;   /* bits of the levels beyond the first */
    uint64_t rest_levels; /* how many there are: 0 .. TEPAL_MAX_LEVELS - 1 */
};

/*
 * recycling: cells is the number of bits of *one* phase. The active phase is full, by `rule`, when
 *   sigma   this key would raise the number of bits set in it above `limit`
 *   count   this key would be one more than `limit` keys that set bits in it
 *   time    it became active `limit` or more ticks of the caller's clock ago
 *   average the share of new keys that are found would exceed limit / 2^64, averaged over all
 *           arrivals. Unlike sigma's, this average holds on streams that repeat, too: new keys
 *           come at any time, whatever the phase's age (docs/models.md). Flags: retain, only
 *
 * `flags`. The trigger is the key that finds the active phase full (by sigma, count or
 * average).
 *   retain        the trigger is the first key of the new cycle
 *   keep-trigger  the trigger is (also) left in the phase that freezes, which may then exceed the
 *                 limit. Both flags: every phase has its own hash functions, or the two phases
 *                 would share cells. Neither: the trigger is forgotten
 *   only-misses   insert a key only if no phase has it, instead of whenever the active phase does
 *                 not have it. That stores fewer keys and forgets sooner: a key lives from its
 *                 first arrival, not from its latest. Every phase has its own hash functions
 */
#define TEPAL_MAX_PHASES 8

enum tepal_recycling_rule {
    TEPAL_RECYCLING_SIGMA = 0,
    TEPAL_RECYCLING_COUNT = 1,
    TEPAL_RECYCLING_TIME = 2,
    TEPAL_RECYCLING_AVERAGE = 3
};
enum tepal_recycling_flag {
    TEPAL_RECYCLING_RETAIN = 1,
    TEPAL_RECYCLING_KEEP_TRIGGER = 2,
    TEPAL_RECYCLING_ONLY_MISSES = 4
};

struct tepal_recycling_params {
    uint64_t phases; /* 1 .. TEPAL_MAX_PHASES */
    uint64_t rule;   /* enum tepal_recycling_rule */
    uint64_t limit;  /* sigma: hashes .. cells - 1; others: at least 1 */
    uint64_t flags;  /* of enum tepal_recycling_flag */
};

/*
 * growing: a fingerprint filter that grows with its keys, bucket by bucket, and needs none of them
 * to do so. The layout is flat, positions are colliding, hashes is 2 (the two buckets of a key);
 * cells is the number of bits of all slots *now*, which grows: whole buckets of four slots of
 * tag_bits + extension_bits + 1 bits, at least TEPAL_GROWING_MIN_BUCKETS of them. A new filter has
 * `first` of them and no exact table, whatever cells and overflow say. `capacity` is the
 * number of keys that the false-positive rate is planned for; the filter grows beyond it, at a rate
 * that rises slowly (docs/growing.md).
 *
 *   - Additions never find the filter full. Memory is taken in steps of 1/32 at most.
 *   - A key that was added several times must be removed as often. Copies beyond eight are kept in
 *     an exact table of digests and counts.
 *   - Remove only keys that were added: then there are no false negatives.
 *   - A key older than extension_bits doublings is stored more than once. Removing it leaves the
 *     other copies: they take slots and add to the false positives, and nothing else.
 */
#define TEPAL_GROWING_MIN_BUCKETS 256
#define TEPAL_MIN_TAG_BITS        4
#define TEPAL_MAX_TAG_BITS        15
#define TEPAL_MAX_EXTENSION_BITS  16

struct tepal_growing_params {
    uint64_t tag_bits;       /* t: 4 .. 15; the part of a fingerprint that never shrinks */
    uint64_t extension_bits; /* e: 1 .. 16; the part that becomes addresses, a bit per doubling */
    uint64_t first;          /* cells when it was created or cleared; 0: as many as `cells` */
    uint64_t overflow;       /* slots of the exact table now: 0, or a power of two from 4 on */
};

/*
 * chain: Bloom filters one after the other, each larger than the one before: a filter that grows
 * and keeps its rate at every size, however many keys come. All parts have the layout and positions
 * of the parameters, and each has hash functions of its own; hashes and first_bits are those of the
 * first part, cells is the number of bits of all parts *now*, whole lines of 512 for each. A new
 * filter has the first part alone, whatever parts and cells say. tepal_params_for_rate sets all of
 * this; set first_keys, growth and series before, or leave first_keys 0 for the defaults.
 *
 * The first i + 1 parts have room for N_i keys, N_0 = first_keys, and part i may add the share w_i
 * of the rate. The sum of the shares never exceeds 1 (docs/models.md), so the rate holds.
 *
 *   even     N_i = first_keys growth^i, and w_i = 7/8 / planned for the parts that are planned:
 *            of all series the one with the fewest bits per key at the worst size, an eighth of the
 *            rate aside, which the parts beyond share. (In memory they become more expensive.)
 *   halving  part i has room for first_keys growth^i keys and w_i = 2^-(i + 1): the usual scalable
 *            Bloom filter, that of Redis too
 *
 * Keys that are found are not added again, so that repeats need no room. With a growth of 0 there
 * is one part, which takes the whole rate, and additions beyond first_keys return TEPAL_FULL; so
 * they do when there are TEPAL_MAX_PARTS parts.
 */
#define TEPAL_MAX_PARTS  64
#define TEPAL_CHAIN_UNIT 256

enum tepal_chain_series { TEPAL_CHAIN_EVEN = 0, TEPAL_CHAIN_HALVING = 1 };

struct tepal_chain_params {
    uint64_t first_keys; /* that the first part has room for: 1 .. 2^56 */
    uint64_t rate;       /* of all parts together, in units of 2^-64; at least 1 */
    uint64_t growth;     /* in units of 1 / TEPAL_CHAIN_UNIT: above 1 (halving: from 1 on) up to
                            2^16; or 0: it does not grow */
    uint64_t series;     /* enum tepal_chain_series */
    uint64_t planned;    /* even: parts that are planned, 1 .. TEPAL_MAX_PARTS; otherwise 0 */
    uint64_t parts;      /* now; 0: it is new */
    uint64_t first_bits; /* of the first part; 0: as many as `cells` */
};

/* ---- the parameters -------------------------------------------------------------------------- */

#define TEPAL_OWN_PARAMS 8

/*
 * Start from TEPAL_PARAMS_INIT (a Bloom filter without a size), then set what differs. Creating and
 * loading a filter check the parameters (tepal_params_check).
 */
struct tepal_params {
    enum tepal_kind_id kind;
    enum tepal_layout layout;
    enum tepal_positions positions;
    enum tepal_hash hash;
    uint32_t hashes;    /* k: 1 .. 64 (blocked: 16, paired: 32) */
    uint64_t cells;     /* m: 1 .. 2^60; blocked and paired: whole lines of 512 bits */
    uint64_t capacity;  /* planned number of keys; 0: not known */
    uint64_t seed;      /* of all hash functions */
    uint64_t key_check; /* tepal_hasher_check of a keyed filter; otherwise 0 */
    union {             /* the kind's own; what a kind does not have must be 0 */
        uint64_t own[TEPAL_OWN_PARAMS];
        struct tepal_counting_params counting;
        struct tepal_generalized_params generalized;
        struct tepal_fingerprint_params fingerprint;
        struct tepal_yesno_params yesno;
        struct tepal_cascade_params cascade;
        struct tepal_recycling_params recycling;
        struct tepal_growing_params growing;
        struct tepal_chain_params chain;
    };
};

#define TEPAL_PARAMS_INIT                                                                          \
    {                                                                                              \
        TEPAL_KIND_BLOOM, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, TEPAL_HASH_XXH3, 0, 0, 0,  \
            0, 0,                                                                                  \
        {                                                                                          \
            {                                                                                      \
                0                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

/*
 * Are these the parameters of a legal filter? TEPAL_OK, TEPAL_UNKNOWN_KIND or TEPAL_BAD_PARAMETER;
 * the error names the parameter and its limits. The answer is the same on every machine; whether
 * this one has enough memory shows when the filter is created.
 */
TEPAL_API enum tepal_status tepal_params_check(const struct tepal_params *params,
                                               struct tepal_error *error);

/*
 * The bytes that a filter of these parameters takes: its cells alone (in memory and in a file),
 * everything in memory, the encoded file. Params must have passed the check; 0 for an unknown kind.
 */
TEPAL_API uint64_t tepal_params_cell_bytes(const struct tepal_params *params);
TEPAL_API uint64_t tepal_params_memory_bytes(const struct tepal_params *params);
TEPAL_API uint64_t tepal_params_encoded_bytes(const struct tepal_params *params);

/*
 * Do filters of these parameters have the same cells for the same key? (Capacity may differ, and so
 * may the present sizes of growing filters and chains.)
 */
TEPAL_API bool tepal_params_compatible(const struct tepal_params *a, const struct tepal_params *b);

/* Does this layout keep the cells of a key within lines of 512 bits: is it blocked or paired? */
TEPAL_API bool tepal_layout_in_lines(enum tepal_layout layout);

/*
 * Names as used by the command and in JSON: never NULL, static storage. A parse call returns false
 * and leaves *out unchanged if the name is unknown.
 */
TEPAL_API const char *tepal_layout_name(enum tepal_layout layout);
TEPAL_API bool tepal_layout_parse(const char *name, enum tepal_layout *out);
TEPAL_API const char *tepal_positions_name(enum tepal_positions positions);
TEPAL_API bool tepal_positions_parse(const char *name, enum tepal_positions *out);
TEPAL_API const char *tepal_hash_name(enum tepal_hash hash);
TEPAL_API bool tepal_hash_parse(const char *name, enum tepal_hash *out);
TEPAL_API const char *tepal_counting_rule_name(enum tepal_counting_rule rule);
TEPAL_API bool tepal_counting_rule_parse(const char *name, enum tepal_counting_rule *out);
TEPAL_API const char *tepal_counting_policy_name(enum tepal_counting_policy policy);
TEPAL_API bool tepal_counting_policy_parse(const char *name, enum tepal_counting_policy *out);
TEPAL_API const char *tepal_chain_series_name(enum tepal_chain_series series);
TEPAL_API bool tepal_chain_series_parse(const char *name, enum tepal_chain_series *out);

/* The default rule for a layout and a number of choices: 0, or least-increase on lines if c > 1. */
TEPAL_API enum tepal_counting_rule tepal_counting_default_rule(enum tepal_layout layout,
                                                               uint32_t choices);

/* ---- the table of kinds ---------------------------------------------------------------------- */

/* What a kind promises. The property tests are generated from these. */
enum tepal_promise {
    /* every key that was added is found, until a key is removed that was never added; a yes-no
       filter may be allowed exceptions when it is built */
    TEPAL_NO_FALSE_NEGATIVES = 1 << 0,
    /* for keys drawn independently of the bits, whatever they are; a generalized filter needs both
       resets and sets for it, and a tolerance below the number of either (its info has the bound)
     */
    TEPAL_BOUNDED_FALSE_POSITIVES = 1 << 1,
    TEPAL_DELETABLE = 1 << 2, /* except a counting filter that is the bits alone */
    /* a union finds all that either finds; for order-free kinds, and for counting filters with one
       choice, it is exactly the filter of both sets */
    TEPAL_MERGEABLE = 1 << 3,
    TEPAL_ORDER_FREE = 1 << 4, /* the order of additions does not matter */
    TEPAL_ENDLESS = 1 << 5     /* keys can be added forever */
};

/* A kind: its name and its promises. Static storage. */
struct tepal_kind {
    enum tepal_kind_id id;
    const char *name;
    const char *summary;
    unsigned promises; /* of enum tepal_promise */
};

/* Entries 0 .. tepal_kind_count() - 1 of the table, or by number or name; NULL if there is none. */
TEPAL_API size_t tepal_kind_count(void);
TEPAL_API const struct tepal_kind *tepal_kind_at(size_t index);
TEPAL_API const struct tepal_kind *tepal_kind_by_id(uint32_t id);
TEPAL_API const struct tepal_kind *tepal_kind_by_name(const char *name);

/* "deletable" and so on, for one bit of enum tepal_promise; NULL if there is no such promise. */
TEPAL_API const char *tepal_promise_name(unsigned promise);

#ifdef __cplusplus
}
#endif

#endif
