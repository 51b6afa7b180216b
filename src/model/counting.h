/* counting.h: the parts of the counting filter's model, from the inside. */
#ifndef TEPAL_SRC_MODEL_COUNTING_H
#define TEPAL_SRC_MODEL_COUNTING_H

#include <tepal/papers.h>

#define COUNTING_VALUES (TEPAL_MAX_SMALL_COUNTER + 1)
#define COUNTING_WIDEST (TEPAL_MAX_COUNTER + 1) /* values of a counter of 8 bits */

/*
 * Counters at 0, 1, ..., and at `values` - 1 or more: COUNTING_VALUES or COUNTING_WIDEST of them,
 * or 3 if only zeros and ones matter.
 */
struct counting_shares {
    uint32_t values;
    double of[COUNTING_WIDEST];
};

/* tepal_counting_shares, of any number of values. */
enum tepal_status tepal_model_counting_shares(uint64_t m, uint64_t n, uint32_t k, uint32_t c,
                                              bool improved, struct counting_shares *shares);

#endif
