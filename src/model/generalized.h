/* generalized.h: what the files of the generalized filter's model share. */
#ifndef TEPAL_SRC_MODEL_GENERALIZED_H
#define TEPAL_SRC_MODEL_GENERALIZED_H

#include <tepal/papers.h>

/* Of k > 8 cells on the blocked layout, the resets among the eight of the first round. */
static inline uint32_t model_first_resets(uint32_t k0, uint32_t k)
{
    return (k0 * 8 + k / 2) / k;
}

/* No filter tolerates more. */
#define MODEL_TOLERANCE_MAX (TEPAL_MAX_HASHES - 1)

/*
 * P(Bin(k0, p) + Bin(k1, q) <= b) and P(... > b), each with its own relative precision;
 * b <= MODEL_TOLERANCE_MAX or b >= k0 + k1.
 */
double tepal_model_sum_at_most(uint32_t k0, double p, uint32_t k1, double q, uint32_t b);
double tepal_model_sum_above(uint32_t k0, double p, uint32_t k1, double q, uint32_t b);

/*
 * tepal_generalized_fp_bound for b < min(k0, k1), looked for from the share *at of zeros on, which
 * gets where the bound is reached: next to that of a neighbour, so that a walk is cheap.
 */
double tepal_model_fp_bound(uint32_t k0, uint32_t k1, uint32_t b, double *at);

/*
 * fn_bound of tepal_generalized_rates alone, blocked with at most eight hashes: as exact, and a
 * hundred times faster, since the steady state is not asked for. Params must have passed the check.
 */
double tepal_model_line_forgets(const struct tepal_params *params, uint64_t n);

/* An upper bound of what a line passes, whatever its bits: k0 + k1 of 9 .. 16, two rounds. */
double tepal_model_line_bound(uint32_t k0, uint32_t k1, uint32_t b);

/* Within a line, tolerance bounds nothing worth having; up to 8 hashes the bound is exact. */
#define MODEL_LINE_HASHES 8

/*
 * The fewest lines, and the hashes for it, that keep n keys at both rates, fp whoever fills the
 * filter. Layout and positions are given; false if eight hashes do not.
 */
bool tepal_model_size_lines(uint64_t n, double fp, double fn, struct tepal_params *params);

/*
 * The parameters of a generalized filter of n keys for tepal_params_for_rate: hashes may be given.
 * TEPAL_BAD_ARGUMENT if none keeps both rates, TEPAL_TOO_LARGE.
 */
enum tepal_status tepal_model_size_generalized(uint64_t n, double rate,
                                               struct tepal_params *params);

#endif
