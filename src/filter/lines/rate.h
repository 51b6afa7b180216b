/*
 * rate.h: the false-positive rate of the blocked and paired layouts from the bits themselves,
 * for lines of 512 bits (Bloom) and of 128 (the bits beside 128 counters).
 */
#ifndef TEPAL_SRC_FILTER_LINES_RATE_H
#define TEPAL_SRC_FILTER_LINES_RATE_H

#include "address/address.h"

/* The chance that `cells` cells of a random line, drawn as a key's are, are all set. */
double tepal_line_rate_mean(const struct address *at, const uint64_t *bits, uint32_t cells);

#endif
