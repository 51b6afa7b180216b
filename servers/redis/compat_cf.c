/*
 * compat_cf.c: CF.* over the growing filter, which doubles in small steps and has no subfilters.
 * BUCKETSIZE, MAXITERATIONS and EXPANSION are kept and told again. What a client can notice of
 * subfilters is told as if there were any: how many there would be, EXPANSION 0 (full at the
 * capacity) and "Maximum expansions reached".
 */
#include <stdio.h>

#include "compat.h"

#define RATE          0.01 /* about that of RedisBloom's fingerprints of 8 bits in buckets of 2 */
#define MAX_FILTERS   32
#define MAX_BUCKET    255
#define MAX_ITERATION 65535
#define MAX_EXPANSION 32768

enum { CAPACITY, BUCKET_SIZE, MAX_ITERATIONS, EXPANSION }; /* the notes */

static const uint64_t DEFAULTS[NOTES] = {1024, 2, 20, 1};

static bool create(struct redis_ctx *ctx, struct redis_string *name, struct opened *opened,
                   const uint64_t notes[NOTES])
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_error error;
    uint64_t capacity = notes[CAPACITY];
    p.kind = TEPAL_KIND_GROWING;
    /*
     * It begins with room for a thousandth of the keys that it is planned for, and grows when seven
     * of eight slots are taken: not before it has as many keys as were asked for.
     */
    capacity += capacity <= INT64_MAX ? capacity / 7 + 1 : 0;
    uint64_t planned =
        notes[EXPANSION] == 0 || capacity > ((uint64_t)1 << 44) ? capacity : capacity * 1000;
    if (tepal_params_for_rate(&p, planned, RATE, &error) != TEPAL_OK) {
        (void)redis.ReplyWithError(ctx, "ERR Insufficient memory to create filter");
        return false;
    }
    return compat_create(ctx, name, opened, &p, DIALECT_CF, notes);
}

/* ---- what subfilters would be ---------------------------------------------------------------- */

static uint64_t buckets(const struct held *held)
{
    uint64_t want = held->notes[CAPACITY] / held->notes[BUCKET_SIZE];
    return want < 2 ? 1 : (uint64_t)1 << (64 - __builtin_clzll(want - 1));
}

static uint64_t filters(const struct held *held, uint64_t items)
{
    double slots = (double)buckets(held) * (double)held->notes[BUCKET_SIZE];
    double room = slots;
    uint64_t count = 1;
    while (room <= (double)items && held->notes[EXPANSION] > 0 && count < UINT16_MAX) {
        slots *= (double)held->notes[EXPANSION];
        room += slots;
        count++;
    }
    return count;
}

static bool full(const struct held *held)
{
    return held->notes[EXPANSION] == 0 &&
           tepal_filter_keys_now(held->filter) >= buckets(held) * held->notes[BUCKET_SIZE];
}

/* ---- CF.RESERVE ------------------------------------------------------------------------------ */

static const char *read_option(struct words *words, const char *name, long long least,
                               long long most, const char *unreadable, const char *outside,
                               uint64_t *out, bool *taken)
{
    long long value;
    *taken = words_take(words, name);
    if (!*taken) {
        return NULL;
    }
    if (words->at == words->argc || !compat_integer(words->argv[words->at++], &value)) {
        return unreadable;
    }
    if (value < least || value > most) {
        return outside;
    }
    *out = (uint64_t)value;
    return NULL;
}

static const char *read_options(struct words *words, uint64_t notes[NOTES])
{
    while (words->at < words->argc) {
        bool taken;
        const char *wrong = read_option(
            words, "MAXITERATIONS", 1, MAX_ITERATION, "ERR Couldn't parse MAXITERATIONS",
            "ERR MAXITERATIONS: value must be an integer between 1 and 65535, "
            "inclusive.",
            &notes[MAX_ITERATIONS], &taken);
        if (!taken) {
            wrong = read_option(
                words, "BUCKETSIZE", 1, MAX_BUCKET, "ERR Couldn't parse BUCKETSIZE",
                "ERR BUCKETSIZE: value must be an integer between 1 and 255, inclusive.",
                &notes[BUCKET_SIZE], &taken);
        }
        if (!taken) {
            wrong = read_option(
                words, "EXPANSION", 0, MAX_EXPANSION, "ERR Couldn't parse EXPANSION",
                "ERR EXPANSION: value must be an integer between 0 and 32768, inclusive.",
                &notes[EXPANSION], &taken);
        }
        if (!taken) {
            return "ERR Unknown argument received";
        }
        if (wrong != NULL) {
            return wrong;
        }
    }
    return notes[BUCKET_SIZE] * 2 > notes[CAPACITY]
               ? "ERR Capacity must be at least (BucketSize * 2)"
               : NULL;
}

int run_cf_reserve(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    struct words words = {ctx, argv, argc, 3};
    uint64_t notes[NOTES] = {0, DEFAULTS[1], DEFAULTS[2], DEFAULTS[3]};
    long long capacity;
    struct opened opened;
    if (argc < 3 || argc % 2 == 0) {
        return redis.WrongArity(ctx);
    }
    if (!compat_integer(argv[2], &capacity) || capacity <= 0) {
        return redis.ReplyWithError(ctx, "ERR Bad capacity");
    }
    notes[CAPACITY] = (uint64_t)capacity;
    const char *wrong = read_options(&words, notes);
    if (wrong != NULL) {
        return redis.ReplyWithError(ctx, wrong);
    }
    if (!compat_open(ctx, argv[1], ACCESS_ANY, DIALECT_CF, &opened)) {
        return REDIS_OK;
    }
    if (opened.value != NULL) {
        (void)redis.ReplyWithError(ctx, ITEM_EXISTS);
    } else if (create(ctx, argv[1], &opened, notes)) {
        (void)redis.ReplyWithSimpleString(ctx, "OK");
    }
    value_close(&opened);
    return REDIS_OK;
}

/* ---- adding ---------------------------------------------------------------------------------- */

struct insertion {
    struct redis_string **items;
    size_t count;
    bool many, only_new, creates;
    uint64_t notes[NOTES];
};

/* One item: TEPAL_OK and whether it was added, or why not. `closed`: no more are added. */
static enum tepal_status insert_one(struct held *held, const struct insertion *in, bool closed,
                                    const struct redis_string *item, bool *added)
{
    struct tepal_digest digest = compat_digest(held->filter, item);
    *added = !(in->only_new && tepal_filter_query(held->filter, digest));
    if (!*added) {
        return TEPAL_OK;
    }
    return closed || full(held) ? TEPAL_FULL : tepal_filter_add(held->filter, digest);
}

/* Among answers that are integers -1; among booleans false, since what was added is true. */
static void reply_refused(struct redis_ctx *ctx, bool integers)
{
    if (integers || (redis.GetContextFlags(ctx) & REDIS_IN_RESP3) == 0) {
        (void)redis.ReplyWithLongLong(ctx, -1);
    } else {
        (void)redis.ReplyWithBool(ctx, 0);
    }
}

static int insert(struct redis_ctx *ctx, struct redis_string *key, const struct insertion *in)
{
    struct opened opened;
    bool changed = false;
    if (!(in->creates ? compat_open : compat_open_existing)(ctx, key, ACCESS_WRITE, DIALECT_CF,
                                                            &opened)) {
        return REDIS_OK;
    }
    if (opened.value == NULL && !create(ctx, key, &opened, in->notes)) {
        value_close(&opened);
        return REDIS_OK;
    }
    struct held *held = opened.value->held;
    uint64_t items = tepal_filter_keys_now(held->filter);
    /* All but the last of so many have at least half of the capacity each. */
    if (items / (MAX_FILTERS / 2 - 1) >= held->notes[CAPACITY] &&
        filters(held, items) >= MAX_FILTERS) {
        value_close(&opened);
        return redis.ReplyWithError(ctx, "ERR Maximum expansions reached");
    }
    if (in->many) {
        (void)redis.ReplyWithArray(ctx, (long)in->count);
    }
    bool integers = in->many && in->only_new;
    size_t done = in->count; /* behind the first that was refused none is added */
    for (size_t i = 0; i < in->count; i++) {
        bool added;
        enum tepal_status status = insert_one(held, in, i > done, in->items[i], &added);
        if (status != TEPAL_OK) {
            done = i < done ? i : done;
            if (in->many) {
                reply_refused(ctx, integers);
            } else {
                (void)redis.ReplyWithError(ctx, status == TEPAL_FULL
                                                    ? "ERR Filter is full"
                                                    : "ERR Memory allocation failure");
            }
        } else {
            changed = changed || added;
            (void)(integers ? redis.ReplyWithLongLong(ctx, added)
                            : redis.ReplyWithBool(ctx, added));
        }
    }
    if (changed) {
        value_changed(opened.value);
        if (done == in->count) {
            (void)redis.ReplicateVerbatim(ctx);
        } else { /* what was refused here is nothing that a replica would refuse */
            (void)redis.Replicate(ctx, in->only_new ? "CF.INSERTNX" : "CF.INSERT", "scv", key,
                                  "ITEMS", in->items, done);
        }
        (void)redis.NotifyKeyspaceEvent(ctx, REDIS_NOTIFY_MODULE, "cf.add", key);
    }
    value_close(&opened);
    return REDIS_OK;
}

static int add(struct redis_ctx *ctx, struct redis_string **argv, int argc, bool only_new)
{
    struct insertion in = {argv + 2, 1,    false,
                           only_new, true, {DEFAULTS[0], DEFAULTS[1], DEFAULTS[2], DEFAULTS[3]}};
    return argc != 3 ? redis.WrongArity(ctx) : insert(ctx, argv[1], &in);
}

int run_cf_add(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    return add(ctx, argv, argc, false);
}

int run_cf_addnx(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    return add(ctx, argv, argc, true);
}

static int insert_items(struct redis_ctx *ctx, struct redis_string **argv, int argc, bool only_new)
{
    struct insertion in = {NULL,     0,    true,
                           only_new, true, {DEFAULTS[0], DEFAULTS[1], DEFAULTS[2], DEFAULTS[3]}};
    struct words words = {ctx, argv, argc, 2};
    bool items = false;
    if (argc < 4) {
        return redis.WrongArity(ctx);
    }
    while (words.at < argc && !items) {
        if (words_take(&words, "ITEMS")) {
            items = true;
        } else if (words_take(&words, "NOCREATE")) {
            in.creates = false;
        } else if (words_take(&words, "CAPACITY")) {
            long long capacity;
            if (words.at == argc || !compat_integer(argv[words.at++], &capacity)) {
                return redis.ReplyWithError(ctx, "ERR Bad capacity");
            }
            if (capacity < 2 * (long long)DEFAULTS[BUCKET_SIZE]) {
                return redis.ReplyWithError(ctx, "ERR Capacity must be at least (BucketSize * 2)");
            }
            in.notes[CAPACITY] = (uint64_t)capacity;
        } else {
            return redis.ReplyWithError(ctx, "ERR Unknown argument received");
        }
    }
    if (!items || words.at == argc) {
        return redis.WrongArity(ctx);
    }
    in.items = argv + words.at;
    in.count = (size_t)(argc - words.at);
    return insert(ctx, argv[1], &in);
}

int run_cf_insert(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    return insert_items(ctx, argv, argc, false);
}

int run_cf_insertnx(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    return insert_items(ctx, argv, argc, true);
}

/* ---- asking and removing --------------------------------------------------------------------- */

int run_cf_exists(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    return answer_exists(ctx, argv, argc, DIALECT_CF);
}

int run_cf_mexists(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    return answer_mexists(ctx, argv, argc, DIALECT_CF);
}

int run_cf_count(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    struct opened opened;
    if (argc != 3) {
        return redis.WrongArity(ctx);
    }
    if (!compat_open(ctx, argv[1], ACCESS_READ, DIALECT_CF, &opened)) {
        return REDIS_OK;
    }
    const struct tepal_filter *filter = opened.value == NULL ? NULL : opened.value->held->filter;
    reply_number(ctx,
                 filter == NULL ? 0 : tepal_filter_copies(filter, compat_digest(filter, argv[2])));
    value_close(&opened);
    return REDIS_OK;
}

int run_cf_del(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    struct opened opened;
    if (argc != 3) {
        return redis.WrongArity(ctx);
    }
    if (!compat_open(ctx, argv[1], ACCESS_WRITE, DIALECT_CF, &opened)) {
        return REDIS_OK;
    }
    if (opened.value == NULL) {
        value_close(&opened);
        return redis.ReplyWithError(ctx, "ERR Not found");
    }
    size_t len;
    const char *item = redis.StringPtrLen(argv[2], &len);
    bool removed = tepal_filter_remove_bytes(opened.value->held->filter, item, len) == TEPAL_OK;
    if (removed) {
        value_changed(opened.value);
        (void)redis.ReplicateVerbatim(ctx);
        (void)redis.NotifyKeyspaceEvent(ctx, REDIS_NOTIFY_MODULE, "cf.del", argv[1]);
    }
    value_close(&opened);
    return redis.ReplyWithBool(ctx, removed);
}

/* ---- facts ----------------------------------------------------------------------------------- */

struct facts {
    uint64_t size, buckets, filters, items, deleted, bucket_size, expansion, iterations;
};

static struct facts facts_of(const struct held *held)
{
    uint64_t items = tepal_filter_keys_now(held->filter);
    return (struct facts){tepal_filter_memory_bytes(held->filter),
                          buckets(held),
                          filters(held, items > 0 ? items - 1 : 0),
                          items,
                          tepal_filter_keys_added(held->filter) - items,
                          held->notes[BUCKET_SIZE],
                          held->notes[EXPANSION],
                          held->notes[MAX_ITERATIONS]};
}

int run_cf_info(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    struct opened opened;
    if (argc != 2) {
        return redis.WrongArity(ctx);
    }
    if (!compat_open_existing(ctx, argv[1], ACCESS_READ, DIALECT_CF, &opened)) {
        return REDIS_OK;
    }
    struct facts f = facts_of(opened.value->held);
    const struct {
        const char *name;
        uint64_t value;
    } told[] = {{"Size", f.size},
                {"Number of buckets", f.buckets},
                {"Number of filters", f.filters},
                {"Number of items inserted", f.items},
                {"Number of items deleted", f.deleted},
                {"Bucket size", f.bucket_size},
                {"Expansion rate", f.expansion},
                {"Max iterations", f.iterations}};
    (void)redis.ReplyWithMap(ctx, sizeof told / sizeof *told);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        (void)redis.ReplyWithSimpleString(ctx, told[i].name);
        reply_number(ctx, told[i].value);
    }
    value_close(&opened);
    return REDIS_OK;
}

int run_cf_debug(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    struct opened opened;
    char line[240];
    if (argc != 2) {
        return redis.WrongArity(ctx);
    }
    if (!compat_open_existing(ctx, argv[1], ACCESS_READ, DIALECT_CF, &opened)) {
        return REDIS_OK;
    }
    struct facts f = facts_of(opened.value->held);
    (void)snprintf(line, sizeof line,
                   "bktsize:%llu buckets:%llu items:%llu deletes:%llu filters:%llu "
                   "max_iterations:%llu expansion:%llu",
                   (unsigned long long)f.bucket_size, (unsigned long long)f.buckets,
                   (unsigned long long)f.items, (unsigned long long)f.deleted,
                   (unsigned long long)f.filters, (unsigned long long)f.iterations,
                   (unsigned long long)f.expansion);
    value_close(&opened);
    return redis.ReplyWithCString(ctx, line);
}

/* There is nothing to compact: what was removed has left its place. */
int run_cf_compact(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    struct opened opened;
    if (argc != 2) {
        return redis.WrongArity(ctx);
    }
    if (!compat_open_existing(ctx, argv[1], ACCESS_READ, DIALECT_CF, &opened)) {
        return REDIS_OK;
    }
    value_close(&opened);
    return redis.ReplyWithSimpleString(ctx, "OK");
}

/* ---- dumps ----------------------------------------------------------------------------------- */

static int null(struct redis_ctx *ctx)
{
    return redis.ReplyWithNull(ctx);
}

int run_cf_scandump(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    struct opened opened;
    long long iterator;
    if (argc != 3) {
        return redis.WrongArity(ctx);
    }
    if (!compat_integer(argv[2], &iterator) || iterator < 0) {
        return redis.ReplyWithError(ctx, "ERR Invalid position");
    }
    if (!compat_open_existing(ctx, argv[1], ACCESS_READ, DIALECT_CF, &opened)) {
        return REDIS_OK;
    }
    bool none =
        tepal_filter_keys_now(opened.value->held->filter) == 0; /* an empty one is not dumped */
    (void)compat_scandump(ctx, opened.value->held, none ? UINT64_MAX : (uint64_t)iterator, null);
    value_close(&opened);
    return REDIS_OK;
}

int run_cf_loadchunk(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    long long iterator;
    if (argc != 4) {
        return redis.WrongArity(ctx);
    }
    if (!compat_integer(argv[2], &iterator) || iterator < 1) {
        return redis.ReplyWithError(ctx, "ERR Invalid position");
    }
    return compat_loadchunk(ctx, argv, (uint64_t)iterator, DIALECT_CF);
}
