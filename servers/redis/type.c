/*
 * type.c: what the server does with a value.
 *
 * RDB, encoding version 1: what is there (1: a filter, 2: one that is arriving); of a filter its
 * dialect and notes, its length, and its encoded bytes (docs/format.md) in strings of 512 KiB;
 * of one that is arriving its id, dialect and notes, its whole length, how much has come, and that.
 * One string would need the memory of the filter a second time, on both sides. (Strings of 1 MiB,
 * as older ones are, load too. The server reads a string from a replica's link into a buffer of
 * more than twice its length before it makes the string: they took 3.7 MB.) A load checks
 * parameters and length before anything is allocated, and fills memory that was never cleared.
 *
 * AOF, when rewritten without an RDB preamble: TEPAL.SET, or TEPAL.PART in pieces of 16 MiB.
 *
 * There is no defragmentation: cells are one large allocation, which has its own pages and nothing
 * to gain, and the library's small ones are referred to from inside of it.
 */
#include <string.h>

#include "server.h"

#define TYPE_NAME     "tepal-flt" /* in every RDB file: never changes */
#define TYPE_ENCODING 1
#define CHUNK         ((size_t)512 << 10)
#define AOF_PART      ((size_t)16 << 20)

enum { HAS_FILTER = 1, HAS_STAGED = 2 };

/* ---- saving ---------------------------------------------------------------------------------- */

/* A buffer for the value: as much as there is, and no more than `most`. */
static size_t piece(const struct value *value, size_t most)
{
    uint64_t held = value->held != NULL ? tepal_encoded_bytes(value->held->filter) : 0;
    uint64_t staged = value->staged != NULL ? value->staged->have : 0;
    uint64_t larger = held > staged ? held : staged;
    return larger == 0 ? 1 : larger < most ? (size_t)larger : most;
}

static void save_dialect(struct redis_io *io, const struct held *held)
{
    redis.SaveUnsigned(io, held->dialect);
    for (size_t i = 0; i < NOTES; i++) {
        redis.SaveUnsigned(io, held->notes[i]);
    }
}

static void rdb_save(struct redis_io *io, void *ptr)
{
    const struct value *value = ptr;
    const struct held *held = value->held;
    const struct staged *staged = value->staged;
    size_t room = piece(value, CHUNK);
    char *chunk = redis.Alloc(room);
    redis.SaveUnsigned(io, (held != NULL ? HAS_FILTER : 0) | (staged != NULL ? HAS_STAGED : 0));
    if (held != NULL) {
        uint64_t total = tepal_encoded_bytes(held->filter);
        save_dialect(io, held);
        redis.SaveUnsigned(io, total);
        for (uint64_t at = 0; at < total;) {
            size_t len = total - at < room ? (size_t)(total - at) : room;
            (void)tepal_encode_range(held->filter, at, chunk, len, NULL);
            redis.SaveStringBuffer(io, chunk, len);
            at += len;
        }
    }
    if (staged != NULL) {
        redis.SaveStringBuffer(io, staged->id, staged->id_len);
        save_dialect(io, staged->held);
        redis.SaveUnsigned(io, staged->total);
        redis.SaveUnsigned(io, staged->have);
        for (uint64_t at = 0; at < staged->have;) {
            size_t len = staged_range(staged, at, chunk, room);
            redis.SaveStringBuffer(io, chunk, len);
            at += len;
        }
    }
    redis.Free(chunk);
}

/* As TEPAL.SET and TEPAL.PART take it. */
#define DIALECT_FORMAT "clllll"
#define DIALECT_WORDS(h)                                                                           \
    "DIALECT", (long long)(h)->dialect, (long long)(h)->notes[0], (long long)(h)->notes[1],        \
        (long long)(h)->notes[2], (long long)(h)->notes[3]

static void aof_rewrite(struct redis_io *io, struct redis_string *key, void *ptr)
{
    const struct value *value = ptr;
    const struct held *held = value->held;
    const struct staged *staged = value->staged;
    uint64_t total = held != NULL ? tepal_encoded_bytes(held->filter) : 0;
    size_t room = piece(value, AOF_PART);
    char *bytes = redis.Alloc(room);
    for (uint64_t at = 0; at < total;) {
        size_t len = total - at < room ? (size_t)(total - at) : room;
        (void)tepal_encode_range(held->filter, at, bytes, len, NULL);
        if (len == total) {
            redis.EmitAOF(io, "TEPAL.SET", "sb" DIALECT_FORMAT, key, bytes, len,
                          DIALECT_WORDS(held));
        } else {
            redis.EmitAOF(io, "TEPAL.PART", "scllb" DIALECT_FORMAT, key, "rewrite", (long long)at,
                          (long long)total, bytes, len, DIALECT_WORDS(held));
        }
        at += len;
    }
    for (uint64_t at = 0; staged != NULL && at < staged->have;) {
        size_t len = staged_range(staged, at, bytes, room);
        redis.EmitAOF(io, "TEPAL.PART", "sbllb" DIALECT_FORMAT, key, staged->id, staged->id_len,
                      (long long)at, (long long)staged->total, bytes, len,
                      DIALECT_WORDS(staged->held));
        at += len;
    }
    redis.Free(bytes);
}

/* ---- loading --------------------------------------------------------------------------------- */

/* Feeds `count` bytes of strings to whoever takes them. NULL, or why it failed. */
typedef const char *take_bytes(void *to, const char *bytes, size_t len);

static const char *load_bytes(struct redis_io *io, uint64_t count, take_bytes *take, void *to)
{
    const char *wrong = NULL;
    while (count > 0 && wrong == NULL) {
        size_t len = 0;
        char *bytes = redis.LoadStringBuffer(io, &len);
        if (redis.IsIOError(io) || bytes == NULL) {
            return "it ends too early";
        }
        wrong = len == 0 || len > count ? "its pieces do not add up" : take(to, bytes, len);
        redis.Free(bytes);
        count -= len;
    }
    return wrong;
}

static const char *feed_decoder(void *to, const char *bytes, size_t len)
{
    struct tepal_error error;
    enum tepal_status status = tepal_decoder_feed(to, bytes, len, &error);
    return status == TEPAL_OK ? NULL : status == TEPAL_NO_MEMORY ? limits_why() : error.why;
}

static const char *feed_staged(void *to, const char *bytes, size_t len)
{
    return staged_feed(to, bytes, len);
}

static bool load_number(struct redis_io *io, uint64_t *out)
{
    *out = redis.LoadUnsigned(io);
    return !redis.IsIOError(io);
}

static bool load_dialect(struct redis_io *io, struct held *held)
{
    bool read = load_number(io, &held->dialect);
    for (size_t i = 0; i < NOTES && read; i++) {
        read = load_number(io, &held->notes[i]);
    }
    return read;
}

static const char *load_filter(struct redis_io *io, struct held **out)
{
    struct held *held = held_new();
    struct tepal_allocator allocator = held_allocator(held);
    struct tepal_decoder *decoder = NULL;
    struct tepal_error error;
    uint64_t total = 0;
    bool read = load_dialect(io, held) && load_number(io, &total);
    const char *wrong = read ? NULL : "it ends too early";
    if (wrong == NULL &&
        tepal_decoder_create(limits_encoded(), &allocator, &decoder, &error) != TEPAL_OK) {
        wrong = limits_why();
    }
    if (wrong == NULL) {
        wrong = load_bytes(io, total, feed_decoder, decoder);
    }
    if (wrong == NULL) {
        wrong = held_finish(held, decoder);
    }
    tepal_decoder_free(decoder);
    if (wrong != NULL) {
        held_free(held);
        return wrong;
    }
    *out = held;
    return NULL;
}

static const char *load_staged(struct redis_io *io, struct value *value)
{
    struct held told; /* dialect and notes */
    uint64_t total;
    uint64_t have;
    size_t len = 0;
    char *id = redis.LoadStringBuffer(io, &len);
    if (redis.IsIOError(io) || id == NULL) {
        return "it ends too early";
    }
    const char *wrong = NULL;
    if (!load_dialect(io, &told) || !load_number(io, &total) || !load_number(io, &have)) {
        wrong = "it ends too early";
    } else if (len > PART_ID || have >= total) {
        wrong = "its parts do not add up";
    } else {
        value->staged = staged_new(id, len, total);
        wrong = value->staged == NULL ? limits_why() : NULL;
    }
    redis.Free(id);
    if (wrong == NULL) {
        value->staged->held->dialect = told.dialect;
        memcpy(value->staged->held->notes, told.notes, sizeof told.notes);
        transfer_note(value->staged, redis.GetDbIdFromIO(io), redis.GetKeyNameFromIO(io));
        wrong = load_bytes(io, have, feed_staged, value->staged);
    }
    return wrong;
}

static void *rdb_load(struct redis_io *io, int encver)
{
    uint64_t has = 0;
    limits_begin(NULL);
    if (encver != TYPE_ENCODING) {
        redis.LogIOError(io, "warning", "tepal: a filter of encoding version %d cannot be read",
                         encver);
        return NULL;
    }
    struct value *value = value_new(NULL);
    const char *wrong = load_number(io, &has) ? NULL : "it ends too early";
    if (wrong == NULL && (has == 0 || has > (HAS_FILTER | HAS_STAGED))) {
        wrong = "it has neither a filter nor parts";
    }
    if (wrong == NULL && (has & HAS_FILTER) != 0) {
        wrong = load_filter(io, &value->held);
    }
    if (wrong == NULL && (has & HAS_STAGED) != 0) {
        wrong = load_staged(io, value);
    }
    if (wrong != NULL) {
        counts.refused_bytes++;
        redis.LogIOError(io, "warning", "tepal: a filter cannot be loaded: %s", wrong);
        value_free(value);
        return NULL;
    }
    return value;
}

/* ---- the rest -------------------------------------------------------------------------------- */

static size_t mem_usage(const void *ptr)
{
    const struct value *value = ptr;
    size_t bytes = sizeof *value;
    if (value->held != NULL) {
        bytes += sizeof *value->held + value->held->taken;
    }
    return bytes + staged_memory(value->staged);
}

/* From 64 on the server frees in the background. */
static size_t free_effort(struct redis_string *key, const void *ptr)
{
    (void)key;
    return 1 + mem_usage(ptr) / 4096;
}

static void free_value(void *ptr)
{
    value_free(ptr);
}

static void *copy_value(struct redis_string *from, struct redis_string *to, const void *ptr)
{
    const struct value *value = ptr;
    struct tepal_error error;
    (void)from;
    (void)to;
    limits_begin(NULL);
    if (value->held == NULL) {
        return NULL;
    }
    struct held *held = held_clone(value->held, &error);
    return held == NULL ? NULL : value_new(held);
}

static void digest_value(struct redis_digest *digest, void *ptr)
{
    const struct value *value = ptr;
    size_t room = piece(value, CHUNK);
    char *chunk = redis.Alloc(room);
    if (value->held != NULL) {
        uint64_t total = tepal_encoded_bytes(value->held->filter);
        redis.DigestAddLongLong(digest, (long long)value->held->dialect);
        for (uint64_t at = 0; at < total;) {
            size_t len = total - at < room ? (size_t)(total - at) : room;
            (void)tepal_encode_range(value->held->filter, at, chunk, len, NULL);
            redis.DigestAddStringBuffer(digest, chunk, len);
            at += len;
        }
    }
    if (value->staged != NULL) {
        redis.DigestAddLongLong(digest, (long long)value->staged->have);
    }
    redis.DigestEndSequence(digest);
    redis.Free(chunk);
}

int type_register(struct redis_ctx *ctx)
{
    struct redis_type_methods methods = {
        .version = REDIS_TYPE_METHODS,
        .rdb_load = rdb_load,
        .rdb_save = rdb_save,
        .aof_rewrite = aof_rewrite,
        .mem_usage = mem_usage,
        .digest = digest_value,
        .free = free_value,
        .free_effort = free_effort,
        .copy = copy_value,
    };
    value_type = redis.CreateDataType(ctx, TYPE_NAME, TYPE_ENCODING, &methods);
    return value_type == NULL ? REDIS_ERR : REDIS_OK;
}
