/*
 * lru.c: one array of objects, linked by age and, slot by slot, by digest. Digests are random
 * already, so their low bits are the slot.
 */
#include "shared/lru.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 64
#define MOST_ROOM  ((uint32_t)1 << 31)

void lru_init(struct lru *c, uint64_t objects, uint64_t bytes)
{
    memset(c, 0, sizeof *c);
    c->most_objects = objects;
    c->most_bytes = bytes;
    c->unused = LRU_NONE;
    c->newest = LRU_NONE;
    c->oldest = LRU_NONE;
}

void lru_free(struct lru *c)
{
    free(c->object);
    free(c->slot);
    lru_init(c, c->most_objects, c->most_bytes);
}

/* ---- by digest ------------------------------------------------------------------------------- */

static uint32_t *slot_of(const struct lru *c, struct tepal_digest key)
{
    return &c->slot[key.lo & (c->room - 1)];
}

static uint32_t find(const struct lru *c, struct tepal_digest key)
{
    uint32_t i = c->room == 0 ? LRU_NONE : *slot_of(c, key);
    while (i != LRU_NONE && (c->object[i].key.lo != key.lo || c->object[i].key.hi != key.hi)) {
        i = c->object[i].chain;
    }
    return i;
}

static void enter_slot(struct lru *c, uint32_t i)
{
    uint32_t *slot = slot_of(c, c->object[i].key);
    c->object[i].chain = *slot;
    *slot = i;
}

static void leave_slot(struct lru *c, uint32_t i)
{
    uint32_t *at = slot_of(c, c->object[i].key);
    while (*at != i) {
        at = &c->object[*at].chain;
    }
    *at = c->object[i].chain;
}

/* Twice the room; every object is in use when this is called. */
static bool grow(struct lru *c)
{
    uint32_t room = c->room == 0 ? FIRST_ROOM : c->room * 2;
    if (c->room == MOST_ROOM) {
        return false;
    }
    struct lru_object *object = realloc(c->object, room * sizeof *object);
    if (object == NULL) {
        return false;
    }
    c->object = object;
    uint32_t *slot = malloc(room * sizeof *slot);
    if (slot == NULL) {
        return false;
    }
    free(c->slot);
    c->slot = slot;
    c->room = room;
    memset(slot, 0xff, room * sizeof *slot);
    for (uint32_t i = 0; i < c->used; i++) {
        enter_slot(c, i);
    }
    return true;
}

/* ---- by age ---------------------------------------------------------------------------------- */

static void leave_line(struct lru *c, uint32_t i)
{
    const struct lru_object *o = &c->object[i];
    *(o->newer == LRU_NONE ? &c->newest : &c->object[o->newer].older) = o->older;
    *(o->older == LRU_NONE ? &c->oldest : &c->object[o->older].newer) = o->newer;
}

static void become_newest(struct lru *c, uint32_t i)
{
    struct lru_object *o = &c->object[i];
    o->newer = LRU_NONE;
    o->older = c->newest;
    *(c->newest == LRU_NONE ? &c->oldest : &c->object[c->newest].newer) = i;
    c->newest = i;
}

/* ---- in and out ------------------------------------------------------------------------------ */

static void take_out(struct lru *c, uint32_t i)
{
    leave_slot(c, i);
    leave_line(c, i);
    c->count--;
    c->bytes -= c->object[i].size;
    c->object[i].chain = c->unused;
    c->unused = i;
}

/* There is room for it. */
static void put_in(struct lru *c, struct tepal_digest key, uint64_t size)
{
    uint32_t i = c->unused;
    if (i != LRU_NONE) {
        c->unused = c->object[i].chain;
    } else {
        i = c->used++;
    }
    c->object[i].key = key;
    c->object[i].size = size;
    enter_slot(c, i);
    become_newest(c, i);
    c->count++;
    c->bytes += size;
}

/* Is there too much in it, if `objects` more with `bytes` more came? Bytes never overflow. */
static bool over(const struct lru *c, uint64_t objects, uint64_t bytes)
{
    return (c->most_objects != 0 && c->count + objects > c->most_objects) ||
           (c->most_bytes != 0 && bytes > c->most_bytes - c->bytes) ||
           bytes > UINT64_MAX - c->bytes;
}

static void evict(struct lru *c, lru_evicted *evicted, void *context)
{
    uint32_t i = c->oldest;
    take_out(c, i);
    if (evicted != NULL) {
        evicted(context, &c->object[i]);
    }
}

bool lru_has(const struct lru *c, struct tepal_digest key)
{
    return find(c, key) != LRU_NONE;
}

bool lru_hit(struct lru *c, struct tepal_digest key)
{
    uint32_t i = find(c, key);
    if (i == LRU_NONE) {
        return false;
    }
    leave_line(c, i);
    become_newest(c, i);
    return true;
}

/* A new size for one that is there: it is the newest, so the others go before it does. */
static void resize(struct lru *c, uint32_t i, uint64_t size, lru_evicted *evicted, void *context)
{
    leave_line(c, i);
    become_newest(c, i);
    c->bytes -= c->object[i].size;
    c->object[i].size = 0;
    while (over(c, 0, size) && c->oldest != i) {
        evict(c, evicted, context);
    }
    if (over(c, 0, size)) {
        evict(c, evicted, context);
        return;
    }
    c->object[i].size = size;
    c->bytes += size;
}

bool lru_insert(struct lru *c, struct tepal_digest key, uint64_t size, lru_evicted *evicted,
                void *context)
{
    uint32_t i = find(c, key);
    if (i != LRU_NONE) {
        resize(c, i, size, evicted, context);
        return true;
    }
    if (c->most_bytes != 0 && size > c->most_bytes) {
        return true;
    }
    /* Room first: if there is none, nothing may have changed. */
    if (c->unused == LRU_NONE && c->used == c->room && !grow(c)) {
        return false;
    }
    while (c->count > 0 && over(c, 1, size)) {
        evict(c, evicted, context);
    }
    put_in(c, key, size);
    return true;
}

const struct lru_object *lru_first(const struct lru *c)
{
    return c->oldest == LRU_NONE ? NULL : &c->object[c->oldest];
}

const struct lru_object *lru_next(const struct lru *c, const struct lru_object *object)
{
    return object->newer == LRU_NONE ? NULL : &c->object[object->newer];
}
