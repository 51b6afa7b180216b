/* yesno.h: the part of the yes-no filter's model that a search asks for many divisions of bits. */
#ifndef TEPAL_SRC_MODEL_YESNO_H
#define TEPAL_SRC_MODEL_YESNO_H

#include <tepal/papers.h>

/* Known negatives that the plain filter is expected to have: so few cannot be noticed. */
#define MODEL_NOTHING_LEFT 1e-6

/* What tepal_yesno_predict finds, of a plan whose fp_yes and positive are there: left, hopeless. */
void tepal_model_yesno_rest(struct tepal_yesno_setting *plan, enum tepal_positions positions,
                            uint64_t n);

/* And fp_unknown, of a plan that has these. */
void tepal_model_yesno_unknown(struct tepal_yesno_setting *plan, uint64_t n);

/*
 * No more than the rate of any Bloom filter of m bits and n keys: 2^(-k) with k = m ln 2 / n, a
 * real number; distinct positions of few keys do better, but no set in m bits beats 2^(-m/n).
 */
double tepal_model_least_rate(enum tepal_positions positions, uint64_t m, uint64_t n);

#endif
