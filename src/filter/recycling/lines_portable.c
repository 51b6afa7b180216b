/* lines_portable.c: the recycling filter's blocked loops in plain C, for any machine. */
#include "filter/lines/line_portable.h"
#include "filter/recycling/internal.h"

#include "filter/recycling/lines.h"

const struct recycling_kernels tepal_recycling_lines_portable = {lines_seen, lines_query,
                                                                 line_seen_one, line_query_one};
