/* inline_avx2.c: the calls of tepal/inline.h, compiled for AVX2 if the compiler can. */
#include "inline_help.h"

#if defined(TEPAL_DIRECT_AVX2)
const bool inline_avx2_built = true;
#else
const bool inline_avx2_built = false;
#endif

bool inline_avx2_query(const struct tepal_direct *direct, struct tepal_digest digest)
{
    return tepal_direct_query(direct, digest);
}

bool inline_avx2_query_u64(const struct tepal_direct *direct, uint64_t key)
{
    return tepal_direct_query_u64(direct, key);
}

enum tepal_status inline_avx2_add(const struct tepal_direct *direct, struct tepal_digest digest)
{
    return tepal_direct_add(direct, digest);
}

enum tepal_status inline_avx2_add_u64(const struct tepal_direct *direct, uint64_t key)
{
    return tepal_direct_add_u64(direct, key);
}
