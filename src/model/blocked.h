/* blocked.h: the rates of the two layouts that live in lines. blocked.c tells how. */
#ifndef TEPAL_SRC_MODEL_BLOCKED_H
#define TEPAL_SRC_MODEL_BLOCKED_H

#include <stdbool.h>
#include <stdint.h>

/* How many keys a line receives: as it is, or in the limit of many lines. */
enum model_load { MODEL_LOAD_BINOMIAL, MODEL_LOAD_POISSON };

/* What a line is made of: eight sectors of so many cells; do a key's two in one sector differ? */
struct model_line {
    uint32_t sector; /* 64 bits, or 16 counters */
    bool distinct;
};

#define MODEL_LINE_SECTORS 8

/* The rate of n keys, a real number, over `lines` >= 1 lines, k <= TEPAL_MAX_HASHES_BLOCKED. */
double tepal_model_blocked_rate(uint64_t lines, double n, uint32_t k, struct model_line line,
                                enum model_load load);

/*
 * The rate of the paired layout, 1 <= k <= TEPAL_MAX_HASHES_PAIRED; lines >= 2 if distinct.
 * *first is the chance that the first line says yes: that the second one has to be read.
 */
double tepal_model_paired_rate(uint64_t lines, double n, uint32_t k, struct model_line line,
                               enum model_load load, double *first);

/* The expected share of ones. Same limits. */
double tepal_model_blocked_fill(uint64_t lines, uint64_t n, uint32_t k, struct model_line line);
double tepal_model_paired_fill(uint64_t lines, uint64_t n, uint32_t k, struct model_line line);

/*
 * What a key with k cells in its line hits there: a given cell; one or both of two given cells of
 * one sector; one or both of two of different sectors.
 */
struct model_line_pairs {
    double hit;
    double hit_sector;
    double hit_line;
};
struct model_line_pairs tepal_model_line_pairs(uint32_t k, struct model_line line);

#endif
