/*
 * params.h: the gate from the inside. A kind brings its rules; the gate checks parameters against
 * what all kinds share and then against the rules.
 */
#ifndef TEPAL_SRC_PARAMS_PARAMS_H
#define TEPAL_SRC_PARAMS_PARAMS_H

#include <tepal/params.h>

#define PARAMS_MAX_CELLS ((uint64_t)1 << 60)

struct params_rules {
    uint32_t cell_bits; /* 1: bits, 4: counters */
    unsigned layouts;   /* which layouts the kind knows: bits 1 << enum tepal_layout */
    /* The kind's own parameters; NULL: it has none and all must be 0. */
    enum tepal_status (*check)(const struct tepal_params *params, const char **why);
    /* Bytes of payload, if it is not simply the cells; NULL otherwise. Must not overflow after
     * check. */
    uint64_t (*payload_bytes)(const struct tepal_params *params);
};

/* Cells in a line of 512 bits. */
static inline uint64_t params_line_cells(uint32_t cell_bits)
{
    return TEPAL_LINE_BITS / cell_bits;
}

/* `why` must not be NULL. */
enum tepal_status tepal_params_gate(const struct tepal_params *params,
                                    const struct params_rules *rules, const char **why);

/* Bytes of `cells` cells, in whole 64-bit words. */
uint64_t tepal_params_cells_bytes(uint64_t cells, uint32_t cell_bits);

#endif
