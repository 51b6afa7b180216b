/*
 * keys.c: keys that are hashed here, for every kind: bytes, integers, and many of them. One key is
 * hashed and passed on as its digest. Many are hashed in chunks, or on the way by kinds whose
 * batches can (add_keys, query_keys: the fastest path, for unkeyed integers and for strings).
 */
#include "base/alloc.h"
#include "base/checked.h"
#include "filter/bloom/kernels.h"
#include "filter/kind.h"

/* Keys hashed at a time: whole words of answers. */
#define CHUNK 256

/* ---- one key --------------------------------------------------------------------------------- */

/*
 * Up to this many bytes XXH3 is some twenty instructions and worth having in line, and up to that
 * many worth having in a function of its own, which saves and restores registers.
 */
#define SHORT_BYTES  16
#define MIDDLE_BYTES 128

/* An unkeyed filter can always hash; a keyed one can if it has its key. */
static inline bool unkeyed(const struct tepal_filter *filter)
{
    return __builtin_expect(filter->params.hash == TEPAL_HASH_XXH3, 1);
}

static inline bool is_short(const struct tepal_filter *filter, size_t len)
{
    return unkeyed(filter) && len > 0 && len <= SHORT_BYTES;
}

static inline bool is_middle(const struct tepal_filter *filter, size_t len)
{
    return unkeyed(filter) && len > SHORT_BYTES && len <= MIDDLE_BYTES;
}

/* Callers are `flatten`: with so few bytes, most of XXH3 is known not to be needed. */
static inline struct tepal_digest of_short(const struct tepal_filter *filter, const void *key,
                                           size_t len)
{
    return digest_bytes(key, len, filter->hasher.seed);
}

static inline struct tepal_digest of_middle(const struct tepal_filter *filter, const void *key,
                                            size_t len)
{
    if (len <= SHORT_BYTES || len > MIDDLE_BYTES) {
        __builtin_unreachable();
    }
    return digest_bytes(key, len, filter->hasher.seed);
}

/* The other cases are calls of their own, so that nothing is saved and restored for them. */
#define OTHER static __attribute__((noinline))

OTHER __attribute__((flatten)) enum tepal_status add_middle(struct tepal_filter *filter,
                                                            const void *key, size_t len)
{
    return filter->add(filter, of_middle(filter, key, len));
}

OTHER __attribute__((flatten)) bool query_middle(const struct tepal_filter *filter, const void *key,
                                                 size_t len)
{
    return filter->query(filter, of_middle(filter, key, len));
}

OTHER enum tepal_status add_other(struct tepal_filter *filter, const void *key, size_t len)
{
    return filter->has_hasher ? filter->add(filter, tepal_hash_bytes(&filter->hasher, key, len))
                              : TEPAL_KEY_NEEDED;
}

OTHER bool query_other(const struct tepal_filter *filter, const void *key, size_t len)
{
    return !filter->has_hasher ||
           filter->query(filter, tepal_hash_bytes(&filter->hasher, key, len));
}

__attribute__((flatten)) enum tepal_status tepal_filter_add_bytes(struct tepal_filter *filter,
                                                                  const void *key, size_t len)
{
    if (is_short(filter, len)) {
        return filter->add(filter, of_short(filter, key, len));
    }
    return is_middle(filter, len) ? add_middle(filter, key, len) : add_other(filter, key, len);
}

bool tepal_filter_hash_query_u64(const struct tepal_filter *filter, uint64_t key)
{
    return !filter->has_hasher || filter->query(filter, tepal_hash_u64(&filter->hasher, key));
}

enum tepal_status tepal_filter_hash_add_u64(struct tepal_filter *filter, uint64_t key)
{
    return filter->has_hasher ? filter->add(filter, tepal_hash_u64(&filter->hasher, key))
                              : TEPAL_KEY_NEEDED;
}

enum tepal_status tepal_filter_add_u64(struct tepal_filter *filter, uint64_t key)
{
    return filter->add_u64(filter, key);
}

__attribute__((flatten)) bool tepal_filter_query_bytes(const struct tepal_filter *filter,
                                                       const void *key, size_t len)
{
    if (is_short(filter, len)) {
        return filter->query(filter, of_short(filter, key, len));
    }
    return is_middle(filter, len) ? query_middle(filter, key, len) : query_other(filter, key, len);
}

bool tepal_filter_query_u64(const struct tepal_filter *filter, uint64_t key)
{
    return filter->query_u64(filter, key);
}

enum tepal_status tepal_filter_test_add_bytes(struct tepal_filter *filter, const void *key,
                                              size_t len, bool *was_present)
{
    return filter->has_hasher
               ? tepal_filter_test_add(filter, tepal_hash_bytes(&filter->hasher, key, len),
                                       was_present)
               : TEPAL_KEY_NEEDED;
}

enum tepal_status tepal_filter_test_add_u64(struct tepal_filter *filter, uint64_t key,
                                            bool *was_present)
{
    return filter->has_hasher
               ? tepal_filter_test_add(filter, tepal_hash_u64(&filter->hasher, key), was_present)
               : TEPAL_KEY_NEEDED;
}

enum tepal_status tepal_filter_remove_bytes(struct tepal_filter *filter, const void *key,
                                            size_t len)
{
    return filter->has_hasher
               ? tepal_filter_remove(filter, tepal_hash_bytes(&filter->hasher, key, len))
               : TEPAL_KEY_NEEDED;
}

enum tepal_status tepal_filter_remove_u64(struct tepal_filter *filter, uint64_t key)
{
    return filter->has_hasher ? tepal_filter_remove(filter, tepal_hash_u64(&filter->hasher, key))
                              : TEPAL_KEY_NEEDED;
}

/* ---- many keys ------------------------------------------------------------------------------- */

void tepal_filter_hash_keys(const struct bloom_source *source, size_t first, size_t count,
                            struct tepal_digest *digests)
{
    const struct tepal_hasher *hasher = &source->hasher;
    if (source->form == BLOOM_INTEGERS) {
        tepal_hash_u64_many(hasher, source->integers + first, count, digests);
    } else if (source->pointers != NULL) {
        tepal_hash_bytes_many(hasher, source->pointers + first, source->lens + first, count,
                              digests);
    } else if (source->offsets != NULL) {
        tepal_hash_packed_many(hasher, source->bytes, source->offsets + first, count, digests);
    } else {
        const uint8_t *bytes = source->width == 0 ? NULL : source->bytes + first * source->width;
        tepal_hash_fixed_many(hasher, bytes, source->width, count, digests);
    }
}

/* So many digests and integers ahead of the group that is asked for. */
#define KEYS_AHEAD (4 * BLOOM_GROUP)

static void request_bytes(const void *start, size_t offset, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 64) {
        __builtin_prefetch((const void *)((uintptr_t)start + offset + i)); /* or beyond the end */
    }
}

void tepal_filter_request_keys(const struct bloom_source *source, size_t first)
{
    const size_t digest = sizeof *source->digests;
    const size_t integer = sizeof *source->integers;
    if (source->form == BLOOM_DIGESTS) {
        request_bytes(source->digests, (first + KEYS_AHEAD) * digest, BLOOM_GROUP * digest);
    } else if (source->form == BLOOM_INTEGERS) {
        request_bytes(source->integers, (first + KEYS_AHEAD) * integer, BLOOM_GROUP * integer);
    }
}

/* So many strings, or bytes of a packed array, ahead of those that are hashed. */
#define STRINGS_AHEAD 64
#define PACKED_AHEAD  2048

/* Longer strings are not worth it: reading them takes longer than the first line. */
#define STRINGS_BYTES 2048

/* Strings that follow each other, as the lines of a text do, take fewer requests than pointers. */
static void request_behind(const void *const *pointers, size_t count)
{
    size_t span = (uintptr_t)pointers[count - 1] - (uintptr_t)pointers[0];
    if (span < 64 * count) {
        request_bytes(pointers[0], 0, span + 1);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        __builtin_prefetch(pointers[i]);
    }
}

static void request_strings(const struct bloom_source *source, size_t first, size_t count)
{
    size_t ahead = first + STRINGS_AHEAD;
    if (source->pointers != NULL) {
        request_bytes(source->pointers, (ahead + STRINGS_AHEAD) * sizeof(void *),
                      count * sizeof(void *));
        request_bytes(source->lens, (ahead + STRINGS_AHEAD) * sizeof(size_t),
                      count * sizeof(size_t));
        if (ahead < source->count) {
            size_t left = source->count - ahead;
            request_behind(source->pointers + ahead, left < count ? left : count);
        }
    } else if (source->offsets != NULL) {
        uint64_t start = source->offsets[first];
        uint64_t bytes = source->offsets[first + count] - start;
        request_bytes(source->offsets, (ahead + STRINGS_AHEAD) * sizeof(uint64_t),
                      count * sizeof(uint64_t));
        if (bytes <= STRINGS_BYTES) {
            request_bytes(source->bytes, (size_t)start + PACKED_AHEAD, (size_t)bytes);
        }
    } else if (count * source->width <= STRINGS_BYTES) {
        request_bytes(source->bytes, ahead * source->width, count * source->width);
    }
}

void tepal_filter_hash_strings(const struct bloom_source *source, size_t first, size_t count,
                               struct tepal_digest *digests)
{
    if (source->form == BLOOM_STRINGS) {
        request_strings(source, first, count);
    }
    tepal_filter_hash_keys(source, first, count, digests);
}

/* Can the kind hash them on the way? Integers only unkeyed. */
static bool on_the_way(const struct bloom_source *source)
{
    return source->form == BLOOM_STRINGS || source->hasher.hash == TEPAL_HASH_XXH3;
}

/* Kinds that can be full take all or none, so they need all digests at once. */
static enum tepal_status add_at_once(struct tepal_filter *filter, const struct bloom_source *source,
                                     size_t count)
{
    uint64_t bytes;
    if (!checked_mul(count, sizeof(struct tepal_digest), &bytes) || !checked_size(bytes)) {
        return TEPAL_TOO_LARGE;
    }
    struct tepal_digest *digests = tepal_alloc_zeroed(&filter->allocator, (size_t)bytes);
    if (digests == NULL) {
        return TEPAL_NO_MEMORY;
    }
    tepal_filter_hash_keys(source, 0, count, digests);
    enum tepal_status status = tepal_filter_add_many(filter, digests, count);
    tepal_alloc_release(&filter->allocator, digests, (size_t)bytes);
    return status;
}

static enum tepal_status add_keys(struct tepal_filter *filter, struct bloom_source *source,
                                  size_t count)
{
    struct tepal_digest digests[CHUNK];
    enum tepal_status status = tepal_filter_may(filter, filter->ops->add_many != NULL);
    if (status != TEPAL_OK || count == 0) {
        return status;
    }
    if (!filter->has_hasher) {
        return TEPAL_KEY_NEEDED;
    }
    source->hasher = filter->hasher;
    source->count = count;
    if (filter->ops->add_keys != NULL && on_the_way(source)) {
        filter->ops->add_keys(filter, source, count);
        return TEPAL_OK;
    }
    if (filter->ops->can_be_full && count > CHUNK) {
        return add_at_once(filter, source, count);
    }
    for (size_t i = 0; i < count && status == TEPAL_OK; i += CHUNK) {
        size_t here = count - i < CHUNK ? count - i : CHUNK;
        tepal_filter_hash_keys(source, i, here, digests);
        status = tepal_filter_add_many(filter, digests, here);
    }
    return status;
}

/* A filter that cannot hash cannot tell: every key may be in it. */
static size_t perhaps(size_t count, uint64_t *answers)
{
    for (size_t i = 0; i < count; i += 64) {
        answers[i / 64] = count - i < 64 ? ((uint64_t)1 << (count - i)) - 1 : UINT64_MAX;
    }
    return count;
}

static size_t query_keys(const struct tepal_filter *filter, struct bloom_source *source,
                         size_t count, uint64_t *answers)
{
    struct tepal_digest digests[CHUNK];
    size_t present = 0;
    if (!filter->has_hasher || count == 0) {
        return perhaps(count, answers);
    }
    source->hasher = filter->hasher;
    source->count = count;
    if (filter->ops->query_keys != NULL && on_the_way(source)) {
        return filter->ops->query_keys(filter, source, count, answers);
    }
    for (size_t i = 0; i < count; i += CHUNK) {
        size_t here = count - i < CHUNK ? count - i : CHUNK;
        tepal_filter_hash_keys(source, i, here, digests);
        present += tepal_filter_query_many(filter, digests, here, answers + i / 64);
    }
    return present;
}

enum tepal_status tepal_filter_add_bytes_many(struct tepal_filter *filter, const void *const *keys,
                                              const size_t *lens, size_t count)
{
    struct bloom_source all = {.form = BLOOM_STRINGS, .pointers = keys, .lens = lens};
    return add_keys(filter, &all, count);
}

enum tepal_status tepal_filter_add_u64_many(struct tepal_filter *filter, const uint64_t *keys,
                                            size_t count)
{
    struct bloom_source all = {.form = BLOOM_INTEGERS, .integers = keys};
    return add_keys(filter, &all, count);
}

enum tepal_status tepal_filter_add_fixed_many(struct tepal_filter *filter, const void *keys,
                                              size_t width, size_t count)
{
    struct bloom_source all = {.form = BLOOM_STRINGS, .bytes = keys, .width = width};
    return add_keys(filter, &all, count);
}

enum tepal_status tepal_filter_add_packed_many(struct tepal_filter *filter, const void *bytes,
                                               const uint64_t *offsets, size_t count)
{
    struct bloom_source all = {.form = BLOOM_STRINGS, .bytes = bytes, .offsets = offsets};
    return add_keys(filter, &all, count);
}

size_t tepal_filter_query_bytes_many(const struct tepal_filter *filter, const void *const *keys,
                                     const size_t *lens, size_t count, uint64_t *answers)
{
    struct bloom_source all = {.form = BLOOM_STRINGS, .pointers = keys, .lens = lens};
    return query_keys(filter, &all, count, answers);
}

size_t tepal_filter_query_u64_many(const struct tepal_filter *filter, const uint64_t *keys,
                                   size_t count, uint64_t *answers)
{
    struct bloom_source all = {.form = BLOOM_INTEGERS, .integers = keys};
    return query_keys(filter, &all, count, answers);
}

size_t tepal_filter_query_fixed_many(const struct tepal_filter *filter, const void *keys,
                                     size_t width, size_t count, uint64_t *answers)
{
    struct bloom_source all = {.form = BLOOM_STRINGS, .bytes = keys, .width = width};
    return query_keys(filter, &all, count, answers);
}

size_t tepal_filter_query_packed_many(const struct tepal_filter *filter, const void *bytes,
                                      const uint64_t *offsets, size_t count, uint64_t *answers)
{
    struct bloom_source all = {.form = BLOOM_STRINGS, .bytes = bytes, .offsets = offsets};
    return query_keys(filter, &all, count, answers);
}
