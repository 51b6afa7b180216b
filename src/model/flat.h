/* flat.h: the exact rate of the flat layout, from the inside. flat.c tells how. */
#ifndef TEPAL_SRC_MODEL_FLAT_H
#define TEPAL_SRC_MODEL_FLAT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The chance that a key which is not among the n members finds its k cells of m all set. Needs
 * m >= 1, 1 <= k <= TEPAL_MAX_HASHES, and k <= m if `distinct`.
 */
double tepal_model_flat_rate(uint64_t m, uint64_t n, uint32_t k, bool distinct);

/*
 * The two roads that tepal_model_flat_rate chooses from, for n >= 1 and k >= 2. The series sets
 * *doubt to an estimate of its own relative error, infinite where it has no answer.
 */
double tepal_model_flat_chain(uint64_t m, uint64_t n, uint32_t k, bool distinct);
double tepal_model_flat_series(uint64_t m, uint64_t n, uint32_t k, bool distinct, double *doubt);

#endif
