/*
 * transfer.c: SET, GET and PART: filters in the format of files (docs/format.md), as the command
 * `tepal` writes and reads them, whole or in parts. What comes is checked as `tepal receive` checks
 * a stranger's filter; until all of it has come and was found right, what is at the key stays.
 */
#include <math.h>
#include <string.h>

#include "server.h"

#define MOST_AT_ONCE ((uint64_t)512 << 20) /* of one reply: the server's own limit for a string */

/* What may follow the bytes. */
struct options {
    bool nx, xx;
    double max_fp; /* NaN: any */
    uint64_t dialect;
    uint64_t notes[NOTES];
};

static bool read_options(struct words *words, struct options *o)
{
    memset(o, 0, sizeof *o);
    o->max_fp = NAN;
    while (words->at < words->argc) {
        if (words_take(words, "NX") && !o->xx) {
            o->nx = true;
        } else if (words_take(words, "XX") && !o->nx) {
            o->xx = true;
        } else if (words_take(words, "MAXFP") && words->at < words->argc &&
                   word_real(words->argv[words->at], &o->max_fp) && o->max_fp >= 0 &&
                   o->max_fp <= 1) {
            words->at++;
        } else if (words_take(words, "DIALECT") && words->argc - words->at >= 1 + NOTES &&
                   word_u64(words->argv[words->at], &o->dialect)) {
            words->at++;
            for (size_t i = 0; i < NOTES; i++) {
                if (!word_u64(words->argv[words->at++], &o->notes[i])) {
                    return false;
                }
            }
        } else {
            return false;
        }
    }
    return true;
}

/* Reads the options, and opens the key if it is as NX or XX want it. False: it was replied. */
static bool open_as_wanted(struct words *words, struct options *o, struct opened *opened)
{
    if (!read_options(words, o)) {
        (void)reply_error(words->ctx, "ERR after the bytes may follow: NX or XX, MAXFP p with p "
                                      "from 0 to 1");
        return false;
    }
    if (!value_open(words->ctx, words->argv[1], ACCESS_ANY, opened)) {
        return false;
    }
    bool there = opened->value != NULL && opened->value->held != NULL;
    if ((o->nx && there) || (o->xx && !there)) {
        value_close(opened);
        (void)redis.ReplyWithNull(words->ctx);
        return false;
    }
    return true;
}

/* A sound filter has come: is it one to take? NULL, or why not. */
static const char *judge(const struct held *held, const struct options *o)
{
    static char why[sizeof(struct tepal_judgement)];
    struct tepal_terms terms = TEPAL_TERMS_INIT;
    struct tepal_judgement judgement;
    struct tepal_error error;
    if (isnan(o->max_fp)) {
        return NULL;
    }
    terms.max_fp = o->max_fp;
    terms.repeats = true; /* filters on servers count them */
    if (tepal_judge(held->filter, &terms, &judgement, &error) != TEPAL_OK) {
        return error.why;
    }
    if (judgement.verdict == TEPAL_ACCEPTED) {
        return NULL;
    }
    memcpy(why, judgement.why, sizeof judgement.why);
    return why;
}

static struct staged *stage(const char *id, size_t id_len, uint64_t total, const struct options *o)
{
    struct staged *staged = staged_new(id, id_len, total);
    if (staged != NULL) {
        staged->held->dialect = o->dialect;
        memcpy(staged->held->notes, o->notes, sizeof o->notes);
    }
    return staged;
}

static const char *put(struct opened *opened, struct staged *staged, const struct options *o)
{
    const char *wrong = held_finish(staged->held, staged->decoder);
    if (wrong == NULL && o != NULL) {
        wrong = judge(staged->held, o);
    }
    if (wrong == NULL) {
        value_put(opened, staged->held);
        staged->held = NULL;
    }
    return wrong;
}

static int refused(struct redis_ctx *ctx, const char *wrong)
{
    counts.refused_bytes++;
    return reply_error(ctx, "REFUSED %s; nothing was changed", wrong);
}

/* What has changed a key is told to replicas, and if a filter was put there, to those who watch. */
static void tell(struct redis_ctx *ctx, struct redis_string *name, bool placed)
{
    (void)redis.ReplicateVerbatim(ctx);
    if (placed) {
        (void)redis.NotifyKeyspaceEvent(ctx, REDIS_NOTIFY_MODULE, "tepal.set", name);
    }
}

/* All bytes at once: what a transfer does, without a place for what is still to come. */
int run_set(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    struct words words = {ctx, argv, argc, 3};
    struct options options;
    struct opened opened;
    size_t len;
    if (argc < 3) {
        return redis.WrongArity(ctx);
    }
    if (!open_as_wanted(&words, &options, &opened)) {
        return REDIS_OK;
    }
    const char *bytes = redis.StringPtrLen(argv[2], &len);
    struct staged *staged = stage("", 0, len, &options);
    const char *wrong = staged == NULL ? limits_why() : staged_feed(staged, bytes, len);
    if (wrong == NULL) {
        wrong = put(&opened, staged, &options);
    }
    staged_free(staged);
    value_close(&opened);
    if (wrong != NULL) {
        return refused(ctx, wrong);
    }
    tell(ctx, argv[1], true);
    return redis.ReplyWithSimpleString(ctx, "OK");
}

/* ---- GET ------------------------------------------------------------------------------------- */

static int reply_bytes(struct redis_ctx *ctx, const struct tepal_filter *filter, uint64_t at,
                       size_t len, long long generation)
{
    struct tepal_error error;
    char *bytes = redis.TryAlloc(len > 0 ? len : 1);
    if (bytes == NULL) {
        return reply_error(ctx, "OOM out of memory for the reply");
    }
    enum tepal_status status =
        len == 0 ? TEPAL_OK : tepal_encode_range(filter, at, bytes, len, &error);
    if (status != TEPAL_OK) {
        redis.Free(bytes);
        return reply_status(ctx, status, error.why);
    }
    if (generation >= 0) {
        (void)redis.ReplyWithArray(ctx, 3);
        (void)redis.ReplyWithLongLong(ctx, generation);
        (void)redis.ReplyWithLongLong(ctx, (long long)tepal_encoded_bytes(filter));
    }
    (void)redis.ReplyWithStringBuffer(ctx, bytes, len);
    redis.Free(bytes);
    return REDIS_OK;
}

int run_get(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    struct opened opened;
    uint64_t at = 0;
    uint64_t len = MOST_AT_ONCE;
    uint64_t generation = 0;
    if (argc != 2 && argc != 4 && argc != 6) {
        return redis.WrongArity(ctx);
    }
    if (argc >= 4 && (!word_u64(argv[2], &at) || !word_u64(argv[3], &len))) {
        return reply_error(ctx, "ERR offset and length are numbers of bytes");
    }
    if (argc == 6 && (!word_is(argv[4], "GENERATION") || !word_u64(argv[5], &generation))) {
        return reply_error(ctx, "ERR after the length may follow: GENERATION g");
    }
    if (!value_open(ctx, argv[1], ACCESS_READ, &opened)) {
        return REDIS_OK;
    }
    if (opened.value == NULL) {
        value_close(&opened);
        return redis.ReplyWithNull(ctx);
    }
    const struct value *value = opened.value;
    uint64_t total = tepal_encoded_bytes(value->held->filter);
    if (argc == 2 && total > MOST_AT_ONCE) {
        (void)reply_error(ctx, "ERR the filter has %llu bytes: read it by ranges",
                          (unsigned long long)total);
    } else if (argc == 6 && generation != value->generation) {
        (void)reply_error(ctx, "CHANGED the filter has changed since; begin again");
    } else if (at > total) {
        (void)reply_error(ctx, "ERR the filter has %llu bytes", (unsigned long long)total);
    } else {
        uint64_t rest = total - at < MOST_AT_ONCE ? total - at : MOST_AT_ONCE;
        (void)reply_bytes(ctx, value->held->filter, at, (size_t)(len < rest ? len : rest),
                          argc == 2 ? -1 : (long long)value->generation);
    }
    value_close(&opened);
    return REDIS_OK;
}

/* ---- PART ------------------------------------------------------------------------------------ */

void transfer_drop(struct redis_ctx *ctx, struct redis_string *name, struct opened *opened)
{
    staged_free(opened->value->staged);
    opened->value->staged = NULL;
    if (opened->value->held == NULL) {
        (void)redis.DeleteKey(opened->key); /* frees the value */
        opened->value = NULL;
        (void)redis.NotifyKeyspaceEvent(ctx, REDIS_NOTIFY_GENERIC, "del", name);
    }
}

bool transfer_is(const struct staged *staged, const char *id, size_t len)
{
    return staged != NULL && staged->id_len == len && memcmp(staged->id, id, len) == 0;
}

static int cancel(struct redis_ctx *ctx, struct redis_string **argv)
{
    struct opened opened;
    size_t len;
    const char *id = redis.StringPtrLen(argv[2], &len);
    if (!value_open(ctx, argv[1], ACCESS_ANY, &opened)) {
        return REDIS_OK;
    }
    bool there = opened.value != NULL && transfer_is(opened.value->staged, id, len);
    if (there) {
        transfer_drop(ctx, argv[1], &opened);
        (void)redis.ReplicateVerbatim(ctx);
    }
    value_close(&opened);
    return redis.ReplyWithBool(ctx, there);
}

void transfer_begin(struct redis_ctx *ctx, struct redis_string *name, struct opened *opened,
                    struct staged *staged)
{
    if (opened->value == NULL) {
        opened->value = value_new(NULL);
        (void)redis.ModuleTypeSetValue(opened->key, value_type, opened->value);
    }
    staged_free(opened->value->staged);
    opened->value->staged = staged;
    transfer_note(staged, redis.GetSelectedDb(ctx), name);
}

static const char *swap(struct opened *opened, const struct options *o)
{
    const char *wrong = put(opened, opened->value->staged, o);
    if (wrong == NULL) {
        staged_free(opened->value->staged);
        opened->value->staged = NULL;
    }
    return wrong;
}

const char *transfer_end(struct opened *opened)
{
    return swap(opened, NULL);
}

int run_part(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    struct words words = {ctx, argv, argc, 6};
    struct options options;
    struct opened opened;
    uint64_t at;
    uint64_t total;
    if (argc == 4 && word_is(argv[3], "CANCEL")) {
        return cancel(ctx, argv);
    }
    if (argc < 6) {
        return redis.WrongArity(ctx);
    }
    size_t id_len;
    size_t len;
    char known[PART_ID]; /* the transfer that replicas know of: this one, or another before it */
    size_t known_len = 0;
    const char *id = redis.StringPtrLen(argv[2], &id_len);
    const char *bytes = redis.StringPtrLen(argv[5], &len);
    if (!word_u64(argv[3], &at) || !word_u64(argv[4], &total) || total > INT64_MAX || at >= total ||
        len == 0 || len > total - at || id_len == 0 || id_len > PART_ID) {
        return reply_error(ctx, "ERR key id offset total bytes: an id of 1 to 64 bytes, and a part "
                                "that is not empty and lies within the total");
    }
    if (!open_as_wanted(&words, &options, &opened)) {
        return REDIS_OK;
    }
    if (opened.value != NULL && opened.value->staged != NULL) {
        known_len = opened.value->staged->id_len;
        memcpy(known, opened.value->staged->id, known_len);
    }
    if (at == 0) { /* begins, perhaps again */
        struct staged *begun = stage(id, id_len, total, &options);
        if (begun == NULL) {
            value_close(&opened);
            return refused(ctx, limits_why());
        }
        transfer_begin(ctx, argv[1], &opened, begun);
    } else if (opened.value == NULL || !transfer_is(opened.value->staged, id, id_len) ||
               opened.value->staged->total != total) {
        value_close(&opened);
        return reply_error(ctx, "NOPART no transfer of this id and total is under way: begin at 0");
    } else if (opened.value->staged->have != at) {
        (void)reply_error(ctx, "OFFSET the next part begins at %llu",
                          (unsigned long long)opened.value->staged->have);
        value_close(&opened);
        return REDIS_OK;
    }
    struct staged *staged = opened.value->staged;
    const char *wrong = staged_feed(staged, bytes, len);
    bool last = wrong == NULL && staged->have == total;
    if (last) {
        wrong = swap(&opened, &options);
    }
    if (wrong != NULL) {
        (void)refused(ctx, wrong);
        transfer_drop(ctx, argv[1], &opened);
        value_close(&opened);
        if (known_len > 0) {
            (void)redis.Replicate(ctx, "TEPAL.PART", "sbc", argv[1], known, known_len, "CANCEL");
        }
        return REDIS_OK;
    }
    value_close(&opened);
    tell(ctx, argv[1], last);
    return redis.ReplyWithLongLong(ctx, (long long)(at + len));
}

/* ---- transfers that nobody goes on with ------------------------------------------------------ */

/*
 * Where transfers were begun. Values are freed in other threads too, so they are not referred to:
 * whoever is in the list is looked up by its key, and leaves it when it is not there any more.
 */
struct noted {
    struct noted *next;
    struct redis_string *key;
    int db;
    uint64_t serial;
};

static struct noted *noted;

void transfer_note(const struct staged *staged, int db, const struct redis_string *key)
{
    size_t len = 0;
    const char *name = key == NULL ? NULL : redis.StringPtrLen(key, &len);
    if (name == NULL) {
        return; /* RESTORE of an unknown key: it lives as long as the key does */
    }
    struct noted *note = redis.Alloc(sizeof *note);
    note->key = redis.CreateString(NULL, name, len);
    note->db = db;
    note->serial = staged->serial;
    note->next = noted;
    noted = note;
}

/* Opens the key of a transfer, if that is there still. */
static bool find(struct redis_ctx *ctx, const struct noted *note, int mode, struct opened *out)
{
    out->key = redis.OpenKey(ctx, note->key, mode | REDIS_UNTOUCHED);
    out->value = out->key != NULL && redis.ModuleTypeGetType(out->key) == value_type
                     ? redis.ModuleTypeGetValue(out->key)
                     : NULL;
    if (out->value != NULL && out->value->staged != NULL &&
        out->value->staged->serial == note->serial) {
        return true;
    }
    value_close(out);
    return false;
}

/*
 * Is it there no more, or was it just dropped? A key that was renamed is left to its owner. Only a
 * master drops, which tells its replicas, and not while clients are paused: then nothing may be
 * told.
 */
static bool gone(struct redis_ctx *ctx, const struct noted *note)
{
    struct opened opened;
    if (redis.SelectDb(ctx, note->db) != REDIS_OK || !find(ctx, note, REDIS_READ, &opened)) {
        return true;
    }
    long long idle = redis.Milliseconds() - opened.value->staged->latest;
    value_close(&opened);
    if (idle < (long long)settings.part_timeout ||
        (redis.GetContextFlags(ctx) & REDIS_IN_MASTER) == 0 || redis.AvoidReplicaTraffic()) {
        return false;
    }
    if (find(ctx, note, REDIS_READ | REDIS_WRITE, &opened)) {
        (void)redis.Replicate(ctx, "TEPAL.PART", "sbc", note->key, opened.value->staged->id,
                              opened.value->staged->id_len, "CANCEL");
        transfer_drop(ctx, note->key, &opened);
        value_close(&opened);
        counts.expired++;
    }
    return true;
}

static void sweep(struct redis_ctx *ctx, void *data)
{
    (void)data;
    for (struct noted **at = &noted; *at != NULL;) {
        struct noted *note = *at;
        if (gone(ctx, note)) {
            *at = note->next;
            redis.FreeString(NULL, note->key);
            redis.Free(note);
        } else {
            at = &note->next;
        }
    }
    transfer_watch(ctx);
}

void transfer_watch(struct redis_ctx *ctx)
{
    long long period = (long long)settings.part_timeout / 4;
    (void)redis.CreateTimer(ctx, period < 1000 ? period : 1000, sweep, NULL);
}
