/* adder.c: filters that are merged in the end. */
#include "input/adder.h"

#include <inttypes.h>

/* A filter for the lane, once it has seen so many keys that one is worth its memory. */
static struct tepal_filter *own_filter(struct adder *a, unsigned lane, size_t count)
{
    if (lane == 0) {
        return a->filter;
    }
    a->seen[lane] += count;
    if (a->own[lane] == NULL && a->seen[lane] >= a->bytes / 64 &&
        tepal_filter_create(tepal_filter_params(a->filter), NULL, &a->own[lane], NULL) !=
            TEPAL_OK) {
        a->own[lane] = NULL; /* no memory: the caller's thread adds */
    }
    return a->own[lane];
}

/* `count` keys, of which the feed or its block has these. */
static enum tepal_status add(const struct adder *a, struct tepal_filter *filter,
                             const void *const *key, const size_t *len,
                             const struct tepal_digest *digest, size_t count)
{
    return a->bare ? tepal_filter_add_bytes_many(filter, key, len, count)
                   : tepal_filter_add_many(filter, digest, count);
}

static void add_block(void *context, unsigned lane, struct feed_block *b)
{
    struct adder *a = context;
    struct tepal_filter *filter = own_filter(a, lane, b->count);
    b->result = filter != NULL && add(a, filter, b->key, b->len, b->digest, b->count) == TEPAL_OK;
}

void adder_open(struct adder *a, struct tepal_filter *filter, struct feed *feed, bool digests)
{
    const struct tepal_params *params = tepal_filter_params(filter);
    unsigned promises = tepal_filter_kind(filter)->promises;
    *a = (struct adder){.filter = filter, .feed = feed, .bytes = tepal_params_cell_bytes(params)};
    a->divided = feed->jobs > 1 && !feed->unique && (promises & TEPAL_MERGEABLE) != 0 &&
                 (promises & TEPAL_ORDER_FREE) != 0 && params->hash == TEPAL_HASH_XXH3 &&
                 a->bytes <= ADDER_BYTES / (feed->jobs - 1);
    a->bare = !digests && adder_hashes(filter) && feed_bare(feed);
    feed->most = a->divided || a->bare ? SIZE_MAX : feed->most;
    if (a->divided) {
        feed->then = add_block;
        feed->then_context = a;
    }
}

enum tepal_status adder_add(struct adder *a, size_t count)
{
    const struct feed *f = a->feed;
    return a->divided && f->block->result != 0
               ? TEPAL_OK
               : add(a, a->filter, f->key, f->len, f->digest, count);
}

enum tepal_status adder_finish(struct adder *a)
{
    enum tepal_status status = TEPAL_OK;
    for (unsigned i = 1; i < LANES_MOST && status == TEPAL_OK; i++) {
        status = a->own[i] == NULL ? TEPAL_OK : tepal_filter_unite(a->filter, a->own[i]);
    }
    return status;
}

size_t adder_full_at(struct tepal_filter *filter, const struct tepal_digest *digests, size_t count,
                     bool *often)
{
    size_t at = 0;
    unsigned copies = 0;
    while (at < count && tepal_filter_add(filter, digests[at]) == TEPAL_OK) {
        at++;
    }
    while (at < count && tepal_filter_kind(filter)->id == TEPAL_KIND_FINGERPRINT &&
           tepal_filter_remove(filter, digests[at]) == TEPAL_OK) {
        copies++;
    }
    *often = copies >= TEPAL_MAX_COPIES;
    return at;
}

int adder_say_full(struct adder *a, const struct args *args, size_t count)
{
    const struct feed *feed = a->feed;
    bool often;
    size_t at = adder_full_at(a->filter, feed->digest, count, &often);
    if (at == count) {
        return args_status(args, TEPAL_FULL, NULL);
    }
    struct key key = feed_key(feed, at);
    return args_about(args, feed_subject(feed), "%s %" PRIu64 ": '%.*s%s': %s", feed->unit,
                      feed_number(feed, at), key.len < 60 ? (int)key.len : 60, key.text,
                      key.len < 60 ? "" : "...",
                      often ? ADDER_OFTEN : "no room is left for it: build a larger filter");
}

void adder_close(struct adder *a)
{
    for (unsigned i = 1; i < LANES_MOST; i++) {
        tepal_filter_free(a->own[i]);
    }
}
