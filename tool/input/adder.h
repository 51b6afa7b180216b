/*
 * adder.h: keys from a feed into a filter, on several cores.
 *
 * If the order of additions does not matter and filters can be merged, each thread adds to a filter
 * of its own, and these are merged at the end: the result is the same to the bit. Otherwise, or if
 * these filters would take too much memory, one thread adds while others read and hash.
 */
#ifndef TOOL_INPUT_ADDER_H
#define TOOL_INPUT_ADDER_H

#include <tepal/filter.h>

#include "input/feed.h"

/* Does this filter hash on the way, by the seed of its parameters alone? See feed_bare. */
static inline bool adder_hashes(const struct tepal_filter *filter)
{
    const struct tepal_params *params = tepal_filter_params(filter);
    return params->kind == TEPAL_KIND_BLOOM && params->hash == TEPAL_HASH_XXH3;
}

#define ADDER_BYTES ((uint64_t)1 << 30) /* of the threads' own filters together */

struct adder {
    struct tepal_filter *filter;
    struct feed *feed;
    bool divided; /* the threads have filters of their own */
    bool bare;    /* the filter hashes */
    uint64_t bytes;
    struct tepal_filter *own[LANES_MOST];
    uint64_t seen[LANES_MOST]; /* keys that a thread has left to others */
};

/* Before the first batch of the feed. Both stay the caller's, who may want to see the digests. */
void adder_open(struct adder *adder, struct tepal_filter *filter, struct feed *feed, bool digests);

/* The `count` keys of the feed's batch, if they are not in yet. */
enum tepal_status adder_add(struct adder *adder, size_t count);

/* After the last batch: the filter has all keys. */
enum tepal_status adder_finish(struct adder *adder);

/*
 * After TEPAL_FULL, says which key of the batch has no room, and whether that is because it came
 * too often; the filter is of no use any more. Returns EXIT_TROUBLE. The two parts: the first of
 * the digests that has no room (`often`: a fingerprint filter holds it as often as it can), ...
 */
int adder_say_full(struct adder *adder, const struct args *args, size_t count);
size_t adder_full_at(struct tepal_filter *filter, const struct tepal_digest *digests, size_t count,
                     bool *often);

/* ... and the sentence about a key that came too often. */
#define ADDER_OFTEN                                                                                \
    "it came more than 8 times, and a fingerprint filter holds a key 8 times at most; --unique "   \
    "takes each key once, and filters of the kind growing count them"

/* After the feed was closed; in any case. */
void adder_close(struct adder *adder);

#endif
