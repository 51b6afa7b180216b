/* census_portable.c: sums of all counters, for any machine. */
#include "filter/counting/census.h"

const struct counting_census tepal_counting_census_portable = {census_sums, census_agrees};
