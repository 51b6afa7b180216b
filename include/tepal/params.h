/*
 * tepal/params.h: everything that makes two filters compatible, as integers. A filter is created
 * from parameters, a file's header carries parameters, a model predicts from parameters.
 */
#ifndef TEPAL_PARAMS_H
#define TEPAL_PARAMS_H

#include <tepal/base.h>
#include <tepal/hash.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of filters; the numbers are those in files and never change. */
enum tepal_kind_id { TEPAL_KIND_BLOOM = 1, TEPAL_KIND_RETOUCHED = 2, TEPAL_KIND_GENERALIZED = 3 };

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
    uint64_t own[TEPAL_OWN_PARAMS]; /* the kind's own; unused ones are 0 */
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
 * The gate. TEPAL_OK, or TEPAL_UNKNOWN_KIND, TEPAL_BAD_PARAMETER or TEPAL_TOO_LARGE, and then
 * `*why` (if why is not NULL) is a static sentence that names the parameter and its limits.
 */
TEPAL_API enum tepal_status tepal_params_check(const struct tepal_params *params, const char **why);

/* The bytes of the filter's cells, as in memory and in a file. Params must have passed the check.
 */
TEPAL_API uint64_t tepal_params_payload_bytes(const struct tepal_params *params);

/* Two filters of equal parameters (capacity aside) have the same cells for the same key. */
TEPAL_API bool tepal_params_compatible(const struct tepal_params *a, const struct tepal_params *b);

/* Names as in the command and in JSON; parse returns false and leaves *out alone if unknown. */
TEPAL_API const char *tepal_layout_name(enum tepal_layout layout);
TEPAL_API const char *tepal_positions_name(enum tepal_positions positions);
TEPAL_API const char *tepal_hash_name(enum tepal_hash hash);
TEPAL_API bool tepal_layout_parse(const char *name, enum tepal_layout *out);
TEPAL_API bool tepal_positions_parse(const char *name, enum tepal_positions *out);

#ifdef __cplusplus
}
#endif

#endif
