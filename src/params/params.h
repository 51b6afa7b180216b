/*
 * params.h: the gate from the inside.
 *
 * Each kind has a file here: its rules and the names of its own parameters. kinds.c has the table
 * of the rules, params.c the gate: what all kinds share, then the kind's own. Models, planners and
 * filters hang from here, and nothing here knows of them.
 */
#ifndef TEPAL_SRC_PARAMS_PARAMS_H
#define TEPAL_SRC_PARAMS_PARAMS_H

#include <tepal/params.h>

#include "base/refuse.h"

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
static inline struct params_verdict params_refuse_own(size_t which, const char *why)
{
    return params_refuse(PARAMS_OWN + (unsigned)which, why);
}

/* A verdict in the form that public calls have: `error` may be NULL. */
static inline enum tepal_status params_tell(struct params_verdict verdict,
                                            struct tepal_error *error)
{
    return verdict.status == TEPAL_OK ? TEPAL_OK : refuse(error, verdict.status, verdict.why);
}

/* The index in params.own of a kind's own parameter: PARAMS_INDEX(counting.choices). */
#define PARAMS_INDEX(field)                                                                        \
    ((offsetof(struct tepal_params, field) - offsetof(struct tepal_params, own)) / sizeof(uint64_t))

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
extern const struct params_rules tepal_growing_rules;
extern const struct params_rules tepal_chain_rules;

/* Words behind the phases of a recycling filter that keeps an average (filter/recycling). */
#define PARAMS_AVERAGE_WORDS 5

/* The bits of a slot of a growing filter, and its buckets. */
static inline uint32_t params_growing_slot(const struct tepal_params *p)
{
    return (uint32_t)(p->growing.tag_bits + p->growing.extension_bits + 1);
}

static inline uint64_t params_growing_buckets(const struct tepal_params *p)
{
    return p->cells / (TEPAL_FINGERPRINT_SLOTS * params_growing_slot(p));
}

/* Words of a slot of its exact table: a digest and a count. */
#define PARAMS_OVERFLOW_WORDS 3

/* The parts of a chain, the bits of the first, and the words of a part's entry behind the cells. */
static inline uint64_t params_chain_parts(const struct tepal_params *p)
{
    return p->chain.parts == 0 ? 1 : p->chain.parts;
}

static inline uint64_t params_chain_first(const struct tepal_params *p)
{
    return p->chain.first_bits == 0 ? p->cells : p->chain.first_bits;
}

#define PARAMS_CHAIN_WORDS    4
#define PARAMS_CHAIN_MAX_KEYS ((uint64_t)1 << 56) /* that a part has room for */

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
uint32_t tepal_params_max_hashes(enum tepal_layout layout);

/* The step in which a layout's size grows, in cells. */
static inline uint64_t params_unit(enum tepal_layout layout, uint32_t cell_bits)
{
    return tepal_layout_in_lines(layout) ? TEPAL_LINE_BITS / cell_bits : 1;
}

/* The bits of a counting filter's counter; 0: there is none, the bits are alone. */
static inline uint32_t params_counter_bits(const struct tepal_params *p)
{
    return p->counting.form == TEPAL_FORM_COUNTERS        ? 4
           : p->counting.form == TEPAL_FORM_WIDE_COUNTERS ? 8
                                                          : 0;
}

/* The cells of a counting filter's line. */
static inline uint64_t params_line_cells(const struct tepal_params *p)
{
    return p->counting.lines == TEPAL_LINES_LONG ? TEPAL_LINE_BITS : TEPAL_COUNTING_LINE_CELLS;
}

/* The bits of a cell as cells lie in lines: long lines of counters are lines of bits. */
static inline uint32_t params_placed_bits(const struct tepal_params *p, uint32_t cell_bits)
{
    bool counters = p->kind == TEPAL_KIND_COUNTING;
    return counters ? TEPAL_LINE_BITS / (uint32_t)params_line_cells(p) : cell_bits;
}

/* The bits of a cell: of a counting filter without its counters, one. */
static inline uint32_t params_cell_bits(const struct tepal_params *p,
                                        const struct params_rules *rules)
{
    uint32_t bits = p->kind == TEPAL_KIND_COUNTING ? params_counter_bits(p) : rules->cell_bits;
    return bits == 0 ? 1 : bits;
}

/* p, the bits of a yes-no filter's yes-filter. */
static inline uint64_t params_yes_bits(const struct tepal_params *p)
{
    return p->cells - p->yesno.no_filters * p->yesno.no_bits;
}

/* k1, the hash functions of a generalized filter that set. */
static inline uint32_t params_set_hashes(const struct tepal_params *p)
{
    return p->hashes - (uint32_t)p->generalized.reset_hashes;
}

/* p0, the share of a generalized filter's bits that are 0 at first. */
static inline double params_zeros(const struct tepal_params *p)
{
    return (double)(TEPAL_GENERALIZED_UNIT - p->generalized.ones) / (double)TEPAL_GENERALIZED_UNIT;
}

#define PARAMS_COUNT(array) (sizeof(array) / sizeof *(array))

#endif
