/*
 * search.h: the first whole number at which a falling function is no longer positive. How the
 * models are turned round: how many cells for this rate, how many keys until that one.
 */
#ifndef TEPAL_SRC_MODEL_SEARCH_H
#define TEPAL_SRC_MODEL_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

/* Falls as x grows; NaN counts as positive. Best when nearly linear in log x. */
typedef double model_search_function(const void *context, uint64_t x);

/*
 * The smallest x in low..high (1 <= low <= high) with f(x) <= 0, or false if f(high) is positive.
 * `guess` is where to begin. Should rounding make f waver near its zero, the answer is still an x
 * with f(x) <= 0 and f(x - 1) > 0 (or x = low).
 * Cost: about a dozen calls of f after a good guess, some sixty at worst.
 */
bool tepal_model_search(model_search_function *f, const void *context, uint64_t low, uint64_t high,
                        uint64_t guess, uint64_t *first);

#endif
