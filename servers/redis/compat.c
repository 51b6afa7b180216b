/*
 * compat.c: keys and dumps of the commands of RedisBloom.
 *
 * A dump is our own: the first chunk, iterator 1, is a header that no dump of RedisBloom can be
 * taken for; then follow the encoded bytes of the filter in chunks of 16 MiB, each with the
 * iterator 1 + the offset of its end. They arrive as the parts of a transfer do (staged.c), and are
 * checked in the same way.
 */
#include "compat.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK    ((uint64_t)16 << 20)
#define CHUNK_ID "LOADCHUNK"

/* ---- keys ------------------------------------------------------------------------------------ */

bool compat_open(struct redis_ctx *ctx, struct redis_string *name, enum access access,
                 enum dialect dialect, struct opened *out)
{
    if (!value_open(ctx, name, access, out)) {
        return false;
    }
    const struct held *held = out->value == NULL ? NULL : out->value->held;
    if (held != NULL && held->dialect != (uint64_t)dialect) {
        value_close(out);
        (void)redis.ReplyWithError(ctx, WRONG_TYPE);
        return false;
    }
    return true;
}

bool compat_open_existing(struct redis_ctx *ctx, struct redis_string *name, enum access access,
                          enum dialect dialect, struct opened *out)
{
    if (!compat_open(ctx, name, access, dialect, out)) {
        return false;
    }
    if (out->value == NULL) {
        value_close(out);
        (void)redis.ReplyWithError(ctx, NOT_FOUND);
        return false;
    }
    return true;
}

bool compat_create(struct redis_ctx *ctx, struct redis_string *name, struct opened *opened,
                   struct tepal_params *params, enum dialect dialect, const uint64_t notes[NOTES])
{
    struct tepal_error error;
    struct held *held = NULL;
    redis.GetRandomBytes((unsigned char *)&params->seed, sizeof params->seed);
    params->seed >>= 1;
    if (tepal_params_check(params, &error) == TEPAL_OK &&
        limits_allow(tepal_params_memory_bytes(params))) {
        held = held_new();
        struct tepal_allocator allocator = held_allocator(held);
        if (tepal_filter_create(params, &allocator, &held->filter, &error) != TEPAL_OK) {
            held_free(held);
            held = NULL;
        }
    }
    if (held == NULL) {
        (void)redis.ReplyWithError(ctx, "ERR Insufficient memory to create filter");
        return false;
    }
    atomic_fetch_add(&counts.filters, 1);
    held->dialect = dialect;
    memcpy(held->notes, notes, sizeof held->notes);
    value_put(opened, held);
    replicate_create(ctx, name, held, 0);
    return true;
}

struct tepal_digest compat_digest(const struct tepal_filter *filter,
                                  const struct redis_string *item)
{
    struct tepal_hasher hasher;
    size_t len;
    const char *bytes = redis.StringPtrLen(item, &len);
    (void)tepal_filter_hasher(filter, &hasher); /* these filters have no secret key */
    return tepal_hash_bytes(&hasher, bytes, len);
}

bool compat_integer(const struct redis_string *word, long long *out)
{
    char text[24];
    uint64_t number;
    if (!word_text(word, text, sizeof text)) {
        return false;
    }
    if (text[0] == '-') {
        char *end;
        long long negative = strtoll(text, &end, 10);
        if (*end != 0 || end == text + 1) {
            return false;
        }
        *out = negative;
        return true;
    }
    if (!word_u64(word, &number) || number > INT64_MAX) {
        return false;
    }
    *out = (long long)number;
    return true;
}

/* ---- dumps ----------------------------------------------------------------------------------- */

#define MAGIC "tepal-dump-1\n"

/* Little-endian: magic, the length of all, the dialect, the notes, and the digest of all that. */
#define HEADER     (16 + 8 * (2 + NOTES))
#define HEADER_ALL (HEADER + 16)

static void put_little(uint64_t value, uint8_t bytes[8])
{
    for (int i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(value >> 8 * i);
    }
}

static uint64_t get_little(const uint8_t bytes[8])
{
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--) {
        value = value << 8 | bytes[i];
    }
    return value;
}

static struct tepal_digest header_digest(const uint8_t bytes[HEADER])
{
    struct tepal_hasher hasher;
    tepal_hasher_init(0, &hasher);
    return tepal_hash_bytes(&hasher, bytes, HEADER);
}

static int reply_header(struct redis_ctx *ctx, const struct held *held)
{
    uint8_t bytes[HEADER_ALL] = MAGIC;
    put_little(tepal_encoded_bytes(held->filter), bytes + 16);
    put_little(held->dialect, bytes + 24);
    for (size_t i = 0; i < NOTES; i++) {
        put_little(held->notes[i], bytes + 32 + 8 * i);
    }
    struct tepal_digest digest = header_digest(bytes);
    put_little(digest.lo, bytes + HEADER);
    put_little(digest.hi, bytes + HEADER + 8);
    (void)redis.ReplyWithLongLong(ctx, 1);
    return redis.ReplyWithStringBuffer(ctx, (const char *)bytes, sizeof bytes);
}

int compat_scandump(struct redis_ctx *ctx, const struct held *held, uint64_t iterator,
                    int (*nothing)(struct redis_ctx *ctx))
{
    uint64_t total = tepal_encoded_bytes(held->filter);
    if (iterator == 0) {
        (void)redis.ReplyWithArray(ctx, 2);
        return reply_header(ctx, held);
    }
    if (iterator - 1 >= total) {
        (void)redis.ReplyWithArray(ctx, 2);
        (void)redis.ReplyWithLongLong(ctx, 0);
        return nothing(ctx);
    }
    uint64_t at = iterator - 1;
    size_t len = (size_t)(total - at < CHUNK ? total - at : CHUNK);
    char *bytes = redis.TryAlloc(len);
    if (bytes == NULL || tepal_encode_range(held->filter, at, bytes, len, NULL) != TEPAL_OK) {
        redis.Free(bytes);
        return redis.ReplyWithError(ctx, "ERR out of memory for the chunk");
    }
    (void)redis.ReplyWithArray(ctx, 2);
    (void)redis.ReplyWithLongLong(ctx, (long long)(iterator + len));
    (void)redis.ReplyWithStringBuffer(ctx, bytes, len);
    redis.Free(bytes);
    return REDIS_OK;
}

/* The header of a dump: begins a transfer. NULL, or the error. */
static const char *begin(struct redis_ctx *ctx, struct redis_string **argv, enum dialect dialect,
                         struct opened *opened)
{
    size_t len;
    const char *text = redis.StringPtrLen(argv[3], &len);
    const uint8_t *bytes = (const uint8_t *)text;
    if (opened->value != NULL && opened->value->held != NULL) {
        return dialect == DIALECT_CF ? ITEM_EXISTS : "ERR invalid offset - no link found";
    }
    if (len != HEADER_ALL) {
        return BAD_DATA;
    }
    struct tepal_digest digest = header_digest(bytes);
    if (memcmp(bytes, MAGIC, sizeof MAGIC) != 0 || get_little(bytes + 24) != (uint64_t)dialect ||
        get_little(bytes + HEADER) != digest.lo || get_little(bytes + HEADER + 8) != digest.hi) {
        return dialect == DIALECT_CF ? "ERR Couldn't create filter!" : BAD_DATA;
    }
    struct staged *staged = staged_new(CHUNK_ID, sizeof CHUNK_ID - 1, get_little(bytes + 16));
    if (staged == NULL) {
        return "ERR Insufficient memory to create filter";
    }
    staged->held->dialect = dialect;
    for (size_t i = 0; i < NOTES; i++) {
        staged->held->notes[i] = get_little(bytes + 32 + 8 * i);
    }
    transfer_begin(ctx, argv[1], opened, staged);
    return NULL;
}

/* A chunk whose end the iterator tells. NULL, or the error; *ended: nothing can follow. */
static const char *go_on(struct redis_string *chunk, uint64_t iterator, enum dialect dialect,
                         struct opened *opened, bool *ended)
{
    size_t len;
    const char *bytes = redis.StringPtrLen(chunk, &len);
    struct staged *staged = opened->value == NULL ? NULL : opened->value->staged;
    if (opened->value == NULL) {
        return NOT_FOUND;
    }
    if (!transfer_is(staged, CHUNK_ID, sizeof CHUNK_ID - 1) ||
        staged->held->dialect != (uint64_t)dialect || len == 0 || iterator - 1 < len ||
        iterator - 1 - len != staged->have) {
        return "ERR invalid offset - no link found";
    }
    if (len > staged->total - staged->have) {
        return "ERR invalid chunk - Too big for current filter";
    }
    *ended = true;
    if (staged_feed(staged, bytes, len) != NULL) {
        return BAD_DATA;
    }
    *ended = staged->have == staged->total;
    return *ended && transfer_end(opened) != NULL ? BAD_DATA : NULL;
}

int compat_loadchunk(struct redis_ctx *ctx, struct redis_string **argv, uint64_t iterator,
                     enum dialect dialect)
{
    struct opened opened;
    bool ended = false;
    if (!compat_open(ctx, argv[1], ACCESS_ANY, dialect, &opened)) {
        return REDIS_OK;
    }
    const char *wrong = iterator == 1 ? begin(ctx, argv, dialect, &opened)
                                      : go_on(argv[3], iterator, dialect, &opened, &ended);
    if (wrong != NULL && dialect == DIALECT_CF && iterator != 1 && opened.value != NULL) {
        wrong = "Couldn't load chunk!";
    }
    if (wrong == NULL) {
        (void)redis.ReplicateVerbatim(ctx);
        (void)redis.NotifyKeyspaceEvent(ctx, REDIS_NOTIFY_MODULE, "tepal.loadchunk", argv[1]);
        (void)redis.ReplyWithSimpleString(ctx, "OK");
    } else {
        (void)redis.ReplyWithError(ctx, wrong);
        if (ended) {
            transfer_drop(ctx, argv[1], &opened);
            (void)redis.Replicate(ctx, "TEPAL.PART", "scc", argv[1], CHUNK_ID, "CANCEL");
            counts.refused_bytes++;
        }
    }
    value_close(&opened);
    return REDIS_OK;
}
