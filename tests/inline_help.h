/*
 * inline_help.h: tepal/inline.h as a program has it that is compiled for AVX2 (inline_avx2.c), for
 * AVX-512 (inline_avx512.c), or for AMD's processors with it (inline_wide.c).
 */
#ifndef TEPAL_TESTS_INLINE_HELP_H
#define TEPAL_TESTS_INLINE_HELP_H

#include <tepal/inline.h>

struct inline_calls {
    bool built; /* was that file compiled for what it is named after? */
    struct tepal_digest (*digest)(const struct tepal_direct *direct, uint64_t key);
    struct tepal_digest (*to_ask)(const struct tepal_direct *direct, uint64_t key);
    struct tepal_digest (*to_add)(const struct tepal_direct *direct, uint64_t key);
    bool (*query)(const struct tepal_direct *direct, struct tepal_digest digest);
    bool (*query_u64)(const struct tepal_direct *direct, uint64_t key);
    enum tepal_status (*add)(const struct tepal_direct *direct, struct tepal_digest digest);
    enum tepal_status (*add_u64)(const struct tepal_direct *direct, uint64_t key);
};

extern const struct inline_calls inline_avx2;
extern const struct inline_calls inline_avx512;
extern const struct inline_calls inline_wide;

static inline struct tepal_digest inline_to_ask(const struct tepal_direct *direct, uint64_t key)
{
    return tepal_direct_digest_of(tepal_direct_to_ask(direct, key));
}

static inline struct tepal_digest inline_to_add(const struct tepal_direct *direct, uint64_t key)
{
    return tepal_direct_digest_of(tepal_direct_to_add(direct, key));
}

/* The calls as the file that includes this has them. */
#define INLINE_CALLS(was_built)                                                                    \
    {                                                                                              \
        .built = (was_built), .digest = tepal_direct_digest, .to_ask = inline_to_ask,              \
        .to_add = inline_to_add, .query = tepal_direct_query, .query_u64 = tepal_direct_query_u64, \
        .add = tepal_direct_add, .add_u64 = tepal_direct_add_u64                                   \
    }

#endif
