/* lines_avx2.c: the recycling filter's blocked loops with AVX2. */
#include "filter/recycling/internal.h"

#if defined(__AVX2__)

#include "filter/lines/line_avx2.h"

#include "filter/recycling/lines.h"

const struct recycling_kernels tepal_recycling_lines_avx2 = {lines_seen, lines_query, line_seen_one,
                                                             line_query_one};

#else

const struct recycling_kernels tepal_recycling_lines_avx2 = {0};

#endif
