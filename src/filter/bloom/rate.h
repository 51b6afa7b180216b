/*
 * rate.h: the false-positive rate of an array of bits, from the bits themselves, whatever the
 * layout: of a Bloom filter's, whose lines have 512 bits, or of those beside counters, whose lines
 * have 128.
 */
#ifndef TEPAL_SRC_FILTER_BLOOM_RATE_H
#define TEPAL_SRC_FILTER_BLOOM_RATE_H

#include "address/address.h"

/* The chance that the cells of a random key are all set. Reads all bits. */
double tepal_bits_rate(const struct address *at, const uint64_t *bits);

#endif
