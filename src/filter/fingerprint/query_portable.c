/* query_portable.c: batches of queries to the fingerprint filter, for any machine. */
#include "filter/fingerprint/internal.h"

#include "filter/fingerprint/query.h"

size_t tepal_fingerprint_query_portable(const struct fingerprint_table *t,
                                        const struct tepal_digest *digests, size_t count,
                                        uint64_t *answers)
{
    return query_batch(t, digests, count, answers);
}

uint64_t tepal_fingerprint_held_from(const struct fingerprint_table *t, uint64_t first)
{
    return held_from(t, first);
}

const struct fingerprint_one tepal_fingerprint_one_portable[FINGERPRINT_WIDTHS] = ONE_TABLE;
