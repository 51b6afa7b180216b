/* loops_portable.c: blocked and paired loops in plain C, for any machine. */
#include "cells/bits.h"
#include "filter/lines/kernels.h"
#include "filter/lines/line_portable.h"

#include "filter/lines/loops.h"

const struct bloom_kernels tepal_bloom_lines_portable = {lines_add, lines_query, NULL};
