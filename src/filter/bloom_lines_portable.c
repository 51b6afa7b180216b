/* bloom_lines_portable.c: blocked and paired loops in plain C, for any machine. */
#include "cells/bits.h"
#include "filter/bloom_kernels.h"
#include "filter/line_portable.h"

#include "filter/bloom_lines.h"

const struct bloom_kernels tepal_bloom_lines_portable = {lines_add, lines_query};
