/* census_avx2.c: sums of all counters, in vectors of 256 bits. */
#include "filter/counting/census.h"

const struct counting_census tepal_counting_census_avx2 = {census_sums, census_agrees};
