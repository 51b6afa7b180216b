/*
 * params.h: the gate from the inside.
 *
 * Each kind has a file here: its rules, the names of its own parameters, its typed options and what
 * converts them. kinds.c has the table of the rules, params.c the gate: what all kinds share, then
 * the kind's own. Models, planners and filters hang from here, and nothing here knows of them.
 */
#ifndef TEPAL_SRC_PARAMS_PARAMS_H
#define TEPAL_SRC_PARAMS_PARAMS_H

#include <tepal/params.h>

#define PARAMS_MAX_CELLS ((uint64_t)1 << 60)

/* What a verdict is about. */
enum params_field {
    PARAMS_KIND,
    PARAMS_LAYOUT,
    PARAMS_POSITIONS,
    PARAMS_HASH,
    PARAMS_HASHES,
    PARAMS_CELLS,
    PARAMS_KEY_CHECK,
    PARAMS_OWN, /* own[0]; own[i] is PARAMS_OWN + i */
    PARAMS_FIELDS = PARAMS_OWN + TEPAL_OWN_PARAMS
};

/* The gate's answer: TEPAL_OK, or which field is wrong and a static sentence that tells why. */
struct params_verdict {
    enum tepal_status status;
    enum params_field field;
    const char *why;
};

#define PARAMS_PASSED ((struct params_verdict){TEPAL_OK, PARAMS_KIND, ""})

static inline struct params_verdict params_refuse(unsigned field, const char *why)
{
    return (struct params_verdict){TEPAL_BAD_PARAMETER, (enum params_field)field, why};
}

/* The same about one of the kind's own parameters. */
static inline struct params_verdict params_refuse_own(unsigned which, const char *why)
{
    return params_refuse(PARAMS_OWN + which, why);
}

/* A verdict in the form that public calls have: `why` may be NULL. */
static inline enum tepal_status params_tell(struct params_verdict verdict, const char **why)
{
    if (verdict.status != TEPAL_OK && why != NULL) {
        *why = verdict.why;
    }
    return verdict.status;
}

/* The rules of a kind. */
struct params_rules {
    struct tepal_kind kind; /* the public part */
    uint32_t cell_bits;     /* 1: bits, 4: counters */
    unsigned layouts;       /* which layouts the kind knows: bits 1 << enum tepal_layout */
    /* Its own parameters, the first ones of params.own; the others must be 0. */
    const char *own[TEPAL_OWN_PARAMS];
    /* Limits beyond those that all kinds share; NULL: none. */
    struct params_verdict (*check)(const struct tepal_params *params);
    /* Bytes of payload, if it is not simply the cells; NULL otherwise. At most 2^62. */
    uint64_t (*payload_bytes)(const struct tepal_params *params);
};

#define PARAMS_ALL_LAYOUTS                                                                         \
    (1u << TEPAL_LAYOUT_FLAT | 1u << TEPAL_LAYOUT_PARTITIONED | 1u << TEPAL_LAYOUT_BLOCKED |       \
     1u << TEPAL_LAYOUT_PAIRED)

extern const struct params_rules tepal_bloom_rules;
extern const struct params_rules tepal_retouched_rules;
extern const struct params_rules tepal_generalized_rules;
extern const struct params_rules tepal_counting_rules;
extern const struct params_rules tepal_fingerprint_rules;
extern const struct params_rules tepal_yesno_rules;
extern const struct params_rules tepal_recycling_rules;
extern const struct params_rules tepal_cascade_rules;

/* The table. NULL if there is no such kind. */
const struct params_rules *tepal_params_rules(uint32_t kind);

/* The gate: parameters against what all kinds share, and then against the rules of their kind. */
struct params_verdict tepal_params_gate(const struct tepal_params *params);

/*
 * Of the gate the part that is about sizes: are so many cells a filter of this layout? For kinds
 * whose cells are not all of one filter. Layout and positions are known ones.
 */
struct params_verdict tepal_params_check_size(const struct tepal_params *params, uint64_t cells,
                                              uint32_t cell_bits);

/* Bytes of `cells` cells, in whole 64-bit words. */
uint64_t tepal_params_cells_bytes(uint64_t cells, uint32_t cell_bits);

/* The most hashes that a layout takes at any size; 0 for what is no layout. */
uint32_t tepal_params_most_hashes(enum tepal_layout layout);

/* The step in which a layout's size grows, in cells. */
static inline uint64_t params_unit(enum tepal_layout layout, uint32_t cell_bits)
{
    return tepal_layout_in_lines(layout) ? TEPAL_LINE_BITS / cell_bits : 1;
}

#define PARAMS_COUNT(array) (sizeof(array) / sizeof *(array))

#endif
