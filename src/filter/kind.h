/*
 * kind.h: what every kind of filter has in common, from the inside.
 *
 *     struct tepal_filter          struct tepal_bloom
 *     +------------------+         +------------------+
 *     | kind    -> table |         | head (a filter)  |
 *     | params, state    |         | address          |
 *     | hasher           |         +------------------+
 *     | words -> cells   |
 *     +------------------+
 *
 * A kind is a struct that begins with a struct tepal_filter, and an entry in the table (kinds.c)
 * with its operations. Users have the head alone (tepal_filter_add) and go through the table, once
 * per batch, or through the head's own two pointers for one key; nothing goes through them twice.
 * What only one kind can do (tepal_counting_add) takes the head too, and asks whether the kind is
 * its own. All cells of a filter are one array of 64-bit words, in memory as in a file: the format
 * knows parameters, state and words, and nothing of kinds.
 */
#ifndef TEPAL_SRC_FILTER_KIND_H
#define TEPAL_SRC_FILTER_KIND_H

#include <tepal/filter.h>

#include "base/checked.h"
#include "params/params.h"

#define FILTER_STATES 8

/* What changes as keys come and go and is stored with the cells. */
struct filter_state {
    uint64_t keys_added;
    uint64_t own[FILTER_STATES]; /* the kind's own (filter_ops.states of them); the others are 0 */
};

struct bloom_source;  /* filter/bloom/kernels.h */
struct tepal_avoided; /* tepal/avoid.h */
struct tepal_direct;  /* tepal/inline.h */

struct filter_ops {
    const struct params_rules *rules; /* what it is called, promises and takes for parameters */
    size_t struct_bytes;              /* of the kind's struct */
    size_t states; /* how many of the state's own numbers the kind has; the others are 0 */

    /*
     * Set what derives from params, state and words. Called once the head is complete; may put
     * faster functions than `query` and `add` below into it.
     */
    void (*open)(struct tepal_filter *filter);
    /* Cells of a new or cleared filter other than all zero; NULL: all zero. */
    void (*reset)(struct tepal_filter *filter);
    /*
     * What is wrong with the invariants beyond the zero tail and stray states, or NULL if nothing
     * is; NULL instead of a function: there are none. First those of the state, which look at a few
     * words at most and are all that a lazily mapped filter has passed: with them alone, no query
     * may leave the cells and no figure its range. Then those that all cells must be read for.
     */
    const char *(*validate)(const struct tepal_filter *filter);
    const char *(*validate_cells)(const struct tepal_filter *filter);

    /* NULL: the kind cannot (TEPAL_UNSUPPORTED). The filter is writable, mates are compatible. */
    enum tepal_status (*add)(struct tepal_filter *filter, struct tepal_digest digest);
    enum tepal_status (*add_many)(struct tepal_filter *filter, const struct tepal_digest *digests,
                                  size_t count);
    /* TEPAL_OK, TEPAL_NOT_PRESENT, or TEPAL_UNSUPPORTED by the parameters of this one. */
    enum tepal_status (*remove)(struct tepal_filter *filter, struct tepal_digest digest);
    enum tepal_status (*remove_many)(struct tepal_filter *filter,
                                     const struct tepal_digest *digests, size_t count,
                                     size_t *removed);
    bool (*query)(const struct tepal_filter *filter, struct tepal_digest digest);
    size_t (*query_many)(const struct tepal_filter *filter, const struct tepal_digest *digests,
                         size_t count, uint64_t *answers);
    /* tepal_filter_keys_now; NULL: all that were added. */
    uint64_t (*keys_now)(const struct tepal_filter *filter);
    /* tepal_filter_copies; NULL: 1 if it is found. */
    uint64_t (*copies)(const struct tepal_filter *filter, struct tepal_digest digest);
    /*
     * Query and add in one walk, as tepal_filter_test_add; NULL: filter.c queries, then adds. Many:
     * `present` is never NULL.
     */
    enum tepal_status (*test_add)(struct tepal_filter *filter, struct tepal_digest digest,
                                  bool *was_present);
    enum tepal_status (*test_add_many)(struct tepal_filter *filter,
                                       const struct tepal_digest *digests, size_t count,
                                       uint64_t *answers, size_t *present);
    /*
     * Keys that are hashed on the way: unkeyed integers, or strings. NULL: keys.c hashes them, in
     * chunks (or all at once if an addition may fail: can_be_full).
     */
    void (*add_keys)(struct tepal_filter *filter, const struct bloom_source *source, size_t count);
    size_t (*query_keys)(const struct tepal_filter *filter, const struct bloom_source *source,
                         size_t count, uint64_t *answers);
    bool can_be_full; /* may an addition say TEPAL_FULL? */
    enum tepal_status (*unite)(struct tepal_filter *into, const struct tepal_filter *other);
    enum tepal_status (*intersect)(struct tepal_filter *into, const struct tepal_filter *other);
    /* tepal_filter_ones, tepal_filter_fp_now; NULL: as info says. */
    uint64_t (*ones)(const struct tepal_filter *filter);
    double (*fp_now)(const struct tepal_filter *filter);
    /* ones, fill, keys_estimated, fp_now, fp_at_capacity, fn_now, then the kind's own. */
    void (*info)(const struct tepal_filter *filter, struct tepal_report *report);

    /*
     * tepal_avoid_budget (at least 1 member) and tepal_avoid; both say in `error` why not. *done is
     * cleared. The kind of the filter may become another one, with the same struct and words.
     */
    enum tepal_status (*allow)(struct tepal_filter *filter, uint64_t members,
                               struct tepal_error *error);
    enum tepal_status (*avoid)(struct tepal_filter *filter, const struct tepal_digest *digests,
                               size_t count, uint64_t *refused, struct tepal_avoided *done,
                               struct tepal_error *error);

    /*
     * A kind that grows has its words in several arrays; NULL for the others. `run` finds word
     * `first`, and how many words lie together from it on. `memory` is the bytes of all arrays.
     * `close` gives the arrays back except `words`, the first one, and leaves its length in
     * word_count.
     */
    uint64_t *(*run)(const struct tepal_filter *filter, uint64_t first, uint64_t *count);
    uint64_t (*memory)(const struct tepal_filter *filter);
    void (*close)(struct tepal_filter *filter);
};

/* Memory that is not ours: how it is given back when the filter is freed. */
struct filter_mapping {
    void (*unmap)(void *start, size_t bytes); /* NULL: there is none, the words are ours */
    void *start;
    size_t bytes;
};

struct tepal_filter {
    /*
     * One key, the calls that programs make most: the kind's own functions or, if it may not be
     * added to, one that says why. Chosen when the filter is opened; nothing is left to be asked.
     * Integers are hashed in the call: by keys.c, or by a kind's own function if it is unkeyed.
     */
    bool (*query)(const struct tepal_filter *filter, struct tepal_digest digest);
    enum tepal_status (*add)(struct tepal_filter *filter, struct tepal_digest digest);
    bool (*query_u64)(const struct tepal_filter *filter, uint64_t key);
    enum tepal_status (*add_u64)(struct tepal_filter *filter, uint64_t key);
    const struct filter_ops *ops;
    struct tepal_allocator allocator;
    struct tepal_params params;
    struct filter_state state;
    struct tepal_hasher hasher;
    bool has_hasher;   /* false: keyed, and the key was not given yet */
    uint64_t *words;   /* never written through if they are in a mapping */
    size_t word_count; /* of the payload; filter_run finds them */
    struct filter_mapping mapping;
};

/* May its words not be written? What tepal_filter_read_only says, without a call. */
static inline bool filter_read_only(const struct tepal_filter *filter)
{
    return filter->mapping.unmap != NULL;
}

/* Word `first` < word_count of the filter, and how many lie together from it on: at least one. */
static inline uint64_t *filter_run(const struct tepal_filter *filter, uint64_t first,
                                   uint64_t *count)
{
    if (filter->ops->run != NULL) {
        return filter->ops->run(filter, first, count);
    }
    *count = filter->word_count - first;
    return filter->words + first;
}

/* Copy `count` words from word `first` on. */
void tepal_filter_copy_words(const struct tepal_filter *filter, uint64_t first, uint64_t count,
                             uint64_t *to);

/* The number of additions; it stays at its largest value rather than wrap. */
static inline void filter_count_keys(struct tepal_filter *filter, uint64_t count)
{
    filter->state.keys_added = saturating_add(filter->state.keys_added, count);
}

/* The same for one key, in two instructions. */
static inline void filter_count_key(struct tepal_filter *filter)
{
    if (__builtin_expect(++filter->state.keys_added == 0, 0)) {
        filter->state.keys_added = UINT64_MAX;
    }
}

/* What a filter's query_u64 and add_u64 are unless its kind has better ones: hash, then pass on. */
bool tepal_filter_hash_query_u64(const struct tepal_filter *filter, uint64_t key);
enum tepal_status tepal_filter_hash_add_u64(struct tepal_filter *filter, uint64_t key);

/* Let one hash integers, as this unkeyed hasher does (bloom/direct.c). */
void tepal_filter_direct_seed(struct tepal_direct *direct, const struct tepal_hasher *hasher);

/* `to` holds the same keys as `from`: it has seen as many, and hashes alike. */
static inline void filter_inherit(struct tepal_filter *to, const struct tepal_filter *from)
{
    to->state = from->state;
    to->hasher = from->hasher;
    to->has_hasher = from->has_hasher;
}

/* May it be changed, by an operation that the kind has or not? TEPAL_READ_ONLY, _UNSUPPORTED. */
enum tepal_status tepal_filter_may(const struct tepal_filter *filter, bool has);

#define FILTER_NO_BUDGET                                                                           \
    "the filter has no budget of members that may be lost: set one (tepal_avoid_budget)"

/* The table. NULL if there is no such kind. */
const struct filter_ops *tepal_filter_ops_by_id(uint32_t id);

/* What a filter is made from. */
struct filter_parts {
    const struct tepal_params *params; /* have passed the gate */
    const struct filter_state *state;  /* NULL: a new filter's */
    uint64_t *words;                   /* NULL: cleared ones of its own */
    struct filter_mapping mapping;     /* that the words are in */
};

/*
 * A filter around its parts: what creating and loading end with. Takes over words and mapping only
 * on success. The words are not looked at: call tepal_filter_validate before anybody gets it.
 * TEPAL_NO_MEMORY, TEPAL_TOO_LARGE for this machine.
 */
enum tepal_status tepal_filter_adopt(const struct filter_parts *parts,
                                     const struct tepal_allocator *allocator,
                                     struct tepal_filter **out, struct tepal_error *error);

/* Everything that derives from kind, parameters, state and words; again if one of them changed. */
void tepal_filter_open(struct tepal_filter *filter);

#define FILTER_STRAY_CELLS "there are cells set beyond the last one"

/* The first number of the state that is not 0 and not the kind's; FILTER_STATES if none is. */
#define FILTER_STRAY_STATE "a state that this kind does not have is not zero"
size_t tepal_filter_stray_state(const struct filter_ops *ops, const struct filter_state *state);

/* Why tepal_filter_validate refuses it, or NULL. Unless `cells`: without reading all of them. */
const char *tepal_filter_flaw(const struct tepal_filter *filter, bool cells);

#endif
