/* lines_avx2.c: the recycling filter's blocked loops with AVX2. */
#include "filter/recycling/internal.h"

#if defined(__AVX2__)

#include "filter/lines/line_avx2.h"

/* As line_missing of a line that has what the other has not. */
static inline uint32_t line_shared(const void *line, struct line_mask mask, const void *other,
                                   bool two)
{
    const __m256i *at = other;
    struct line_mask both = {_mm256_and_si256(mask.low, _mm256_load_si256(at)),
                             _mm256_and_si256(mask.high, _mm256_load_si256(at + 1))};
    return line_missing(line, both, two);
}

#define line_two(r) ((r)->at.hashes > ADDRESS_SECTORS)

#include "filter/recycling/notes.h"

#include "filter/recycling/lines.h"

const struct recycling_kernels tepal_recycling_lines_avx2 = {lines_seen, lines_query, line_seen_one,
                                                             line_query_one};

#else

const struct recycling_kernels tepal_recycling_lines_avx2 = {0};

#endif
