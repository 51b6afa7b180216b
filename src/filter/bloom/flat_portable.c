/* flat_portable.c: flat and partitioned loops for any machine. */
#include "cells/bits.h"
#include "filter/bloom/kernels.h"

#include "filter/bloom/flat.h"

const struct bloom_kernels tepal_bloom_flat_portable = {flat_add, flat_query, flat_inside};
