/*
 * lru.h: a cache that keeps what was asked for last. Objects are known by the digest of their key
 * and have a size; the cache holds so many objects, or so many bytes, or both, and puts out those
 * that were not asked for the longest.
 *
 *     struct lru cache;
 *     lru_init(&cache, 1000, 0);                      // 1000 objects, any number of bytes
 *     if (!lru_hit(&cache, key)) {
 *         lru_insert(&cache, key, size, NULL, NULL);
 *     }
 *     lru_free(&cache);
 */
#ifndef APPS_SHARED_LRU_H
#define APPS_SHARED_LRU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tepal/hash.h>

#define LRU_NONE UINT32_MAX

struct lru_object {
    struct tepal_digest key;
    uint64_t size;
    uint32_t newer; /* the next one that was asked for later; LRU_NONE: none */
    uint32_t older;
    uint32_t chain; /* the next one of its slot, or of the free list */
};

struct lru {
    uint64_t most_objects; /* 0: any number */
    uint64_t most_bytes;   /* 0: any number */
    uint64_t count;
    uint64_t bytes;
    struct lru_object *object;
    uint32_t used; /* of `object`, the freed ones included */
    uint32_t room;
    uint32_t unused; /* a list of the freed ones */
    uint32_t newest;
    uint32_t oldest;
    uint32_t *slot; /* the first object of each slot; as many slots as there is room for objects */
};

/* An object that leaves the cache. It may not be changed, and is gone after the call. */
typedef void lru_evicted(void *context, const struct lru_object *object);

/* An empty cache of at most so many objects and so many bytes; 0: any number. */
void lru_init(struct lru *cache, uint64_t objects, uint64_t bytes);
void lru_free(struct lru *cache);

/* Is it there? lru_hit counts as asking for it: it becomes the newest. */
bool lru_has(const struct lru *cache, struct tepal_digest key);
bool lru_hit(struct lru *cache, struct tepal_digest key);

/*
 * Put an object in as the newest; if it is there already it gets the new size. Then the oldest ones
 * go, as many as must, each told to `evicted` (which may be NULL). An object that is larger than
 * the whole cache is not kept, and pushes nothing out. False: no memory; nothing has changed.
 */
bool lru_insert(struct lru *cache, struct tepal_digest key, uint64_t size, lru_evicted *evicted,
                void *context);

/* All objects, from the oldest to the newest: the first, and the one after; NULL: no more. */
const struct lru_object *lru_first(const struct lru *cache);
const struct lru_object *lru_next(const struct lru *cache, const struct lru_object *object);

#endif
