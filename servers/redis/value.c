/*
 * value.c: what is at a key. A value has a filter, or parts of one that is arriving, or both: the
 * old filter answers until the new one is whole and found right.
 */
#include <string.h>

#include "server.h"

struct redis_type *value_type;

/* ---- a filter and its memory ----------------------------------------------------------------- */

struct held *held_new(void)
{
    struct held *held = redis.Alloc(sizeof *held);
    memset(held, 0, sizeof *held);
    return held;
}

void held_free(struct held *held)
{
    if (held != NULL) {
        if (held->filter != NULL) {
            tepal_filter_free(held->filter);
            atomic_fetch_sub(&counts.filters, 1);
        }
        redis.Free(held);
    }
}

struct tepal_allocator held_allocator(struct held *held)
{
    return limits_allocator(&held->taken);
}

struct held *held_clone(const struct held *held, struct tepal_error *error)
{
    struct held *copy = held_new();
    struct tepal_allocator allocator = held_allocator(copy);
    if (tepal_filter_clone(held->filter, &allocator, &copy->filter, error) != TEPAL_OK) {
        held_free(copy);
        return NULL;
    }
    atomic_fetch_add(&counts.filters, 1);
    copy->dialect = held->dialect;
    memcpy(copy->notes, held->notes, sizeof copy->notes);
    return copy;
}

const char *held_flaw(const struct held *held)
{
    enum tepal_kind_id kind = tepal_filter_kind(held->filter)->id;
    bool right = held->dialect == DIALECT_TEPAL ||
                 (held->dialect == DIALECT_BF && kind == TEPAL_KIND_CHAIN) ||
                 (held->dialect == DIALECT_CF && kind == TEPAL_KIND_GROWING);
    bool notes = held->dialect != DIALECT_CF || held->notes[1] > 0; /* the size of a bucket */
    for (size_t i = 0; i < NOTES; i++) {
        notes = notes && held->notes[i] <= INT64_MAX;
    }
    bool plain = held->dialect == DIALECT_TEPAL || tepal_filter_params(held->filter)->hash == 0;
    return right && notes && plain ? NULL : "its dialect does not fit its kind";
}

/* ---- a value --------------------------------------------------------------------------------- */

void value_changed(struct value *value)
{
    static uint64_t latest;
    if (latest == 0) { /* after a restart no generation comes again */
        latest = (uint64_t)redis.Milliseconds() << 12;
    }
    value->generation = ++latest;
}

struct value *value_new(struct held *held)
{
    struct value *value = redis.Alloc(sizeof *value);
    value->held = held;
    value->staged = NULL;
    value_changed(value);
    return value;
}

void value_free(struct value *value)
{
    held_free(value->held);
    staged_free(value->staged);
    redis.Free(value);
}

/* ---- at a key -------------------------------------------------------------------------------- */

bool value_open(struct redis_ctx *ctx, struct redis_string *name, enum access access,
                struct opened *out)
{
    int mode = access == ACCESS_READ ? REDIS_READ : REDIS_READ | REDIS_WRITE;
    limits_begin(ctx);
    out->key = redis.OpenKey(ctx, name, mode);
    out->value = NULL;
    if (out->key == NULL || redis.KeyType(out->key) == REDIS_KEY_EMPTY) {
        return true;
    }
    if (redis.ModuleTypeGetType(out->key) != value_type) {
        (void)redis.ReplyWithError(ctx, WRONG_TYPE);
        value_close(out);
        return false;
    }
    out->value = redis.ModuleTypeGetValue(out->key);
    if (out->value->held == NULL && access != ACCESS_ANY) {
        (void)reply_error(ctx, "ARRIVING the filter of this key is still being sent in parts");
        value_close(out);
        return false;
    }
    return true;
}

bool value_open_existing(struct redis_ctx *ctx, struct redis_string *name, enum access access,
                         struct opened *out)
{
    if (!value_open(ctx, name, access, out)) {
        return false;
    }
    if (out->value == NULL) {
        (void)reply_error(ctx, "ERR there is no filter at this key: make one with TEPAL.RESERVE");
        value_close(out);
        return false;
    }
    return true;
}

void value_close(struct opened *opened)
{
    if (opened->key != NULL) {
        redis.CloseKey(opened->key);
        opened->key = NULL;
    }
}

void value_put(struct opened *opened, struct held *held)
{
    if (opened->value == NULL) {
        opened->value = value_new(held);
        (void)redis.ModuleTypeSetValue(opened->key, value_type, opened->value);
    } else {
        held_free(opened->value->held);
        opened->value->held = held;
        value_changed(opened->value);
    }
}
