/* atomic.c: the calls for a Bloom filter that threads share; what they do is in atomic.h. */
#include <tepal/bloom.h>

#include "filter/bloom/internal.h"

/*
 * One key more; the number stays at its largest value. Below half of that an addition cannot pass
 * it, whatever other threads do meanwhile.
 */
static void count_key(uint64_t *keys)
{
    uint64_t now = __atomic_load_n(keys, __ATOMIC_RELAXED);
    if (now < UINT64_MAX / 2) {
        (void)__atomic_fetch_add(keys, 1, __ATOMIC_RELAXED);
        return;
    }
    while (now != UINT64_MAX && !__atomic_compare_exchange_n(keys, &now, now + 1, true,
                                                             __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

enum tepal_status tepal_bloom_add_atomic(struct tepal_filter *filter, struct tepal_digest digest,
                                         bool *was_present)
{
    if (filter->params.kind != TEPAL_KIND_BLOOM) {
        return TEPAL_UNSUPPORTED;
    }
    if (filter_read_only(filter)) {
        return TEPAL_READ_ONLY;
    }
    const struct tepal_bloom *bloom = (const struct tepal_bloom *)filter;
    bool present = bloom->atomic->add(bloom, digest);
    count_key(&filter->state.keys_added);
    if (was_present != NULL) {
        *was_present = present;
    }
    return TEPAL_OK;
}

bool tepal_bloom_query_atomic(const struct tepal_filter *filter, struct tepal_digest digest)
{
    if (filter->params.kind != TEPAL_KIND_BLOOM) {
        return tepal_filter_query(filter, digest);
    }
    const struct tepal_bloom *bloom = (const struct tepal_bloom *)filter;
    return bloom->atomic->query(bloom, digest);
}
