/* inline_help.h: tepal/inline.h as a program compiled for AVX2 has it (inline_avx2.c). */
#ifndef TEPAL_TESTS_INLINE_HELP_H
#define TEPAL_TESTS_INLINE_HELP_H

#include <tepal/inline.h>

extern const bool inline_avx2_built; /* was that file compiled for AVX2? */

bool inline_avx2_query(const struct tepal_direct *direct, struct tepal_digest digest);
bool inline_avx2_query_u64(const struct tepal_direct *direct, uint64_t key);
enum tepal_status inline_avx2_add(const struct tepal_direct *direct, struct tepal_digest digest);
enum tepal_status inline_avx2_add_u64(const struct tepal_direct *direct, uint64_t key);

#endif
