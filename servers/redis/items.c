/*
 * items.c: ADD, EXISTS, REM, SEEN, AVOID and their batches. A batch becomes digests and goes to the
 * library's batch calls, which fetch memory ahead: all of its items are added, or none.
 *
 * What is replicated: a command that changed the filter, as it came. The counts of a filter change
 * when a key is added that it has already; that is told to replicas too, but to nobody who listens
 * for events: to them nothing has changed. A filter that forgets by time is told the time.
 */
#include <stdio.h>
#include <string.h>

#include "compat.h"

#define FEW 128

/* The items of a command as digests. */
struct batch {
    size_t count;
    struct tepal_digest *digests;
    uint64_t *answers; /* a bit for each */
    uint8_t *receipts;
    struct tepal_digest few[FEW];
    uint64_t few_answers[FEW / 64];
    uint8_t few_receipts[FEW];
};

static void batch_free(struct batch *b)
{
    if (b->digests != b->few) {
        redis.Free(b->digests);
    }
}

/* False: an error was replied. */
static bool batch_make(struct redis_ctx *ctx, const struct tepal_filter *filter,
                       struct redis_string **items, size_t count, struct batch *b)
{
    struct tepal_hasher hasher;
    enum tepal_status status = tepal_filter_hasher(filter, &hasher);
    if (status != TEPAL_OK) {
        (void)reply_status(ctx, status, NULL);
        return false;
    }
    b->count = count;
    b->digests = b->few;
    b->answers = b->few_answers;
    b->receipts = b->few_receipts;
    if (count > FEW) {
        size_t words = (count + 63) / 64;
        b->digests = redis.TryAlloc(count * sizeof *b->digests + words * 8 + count);
        if (b->digests == NULL) {
            (void)reply_error(ctx, "OOM out of memory for the items");
            return false;
        }
        b->answers = (uint64_t *)(void *)(b->digests + count);
        b->receipts = (uint8_t *)(b->answers + words);
    }
    for (size_t i = 0; i < count; i++) {
        size_t len;
        const char *item = redis.StringPtrLen(items[i], &len);
        b->digests[i] = tepal_hash_bytes(&hasher, item, len);
    }
    return true;
}

static bool answer(const struct batch *b, size_t i)
{
    return (b->answers[i / 64] >> (i % 64) & 1) != 0;
}

static void reply_answers(struct redis_ctx *ctx, const struct batch *b, bool many, bool inverted)
{
    if (many) {
        (void)redis.ReplyWithArray(ctx, (long)b->count);
    }
    for (size_t i = 0; i < b->count; i++) {
        (void)redis.ReplyWithBool(ctx, answer(b, i) != inverted);
    }
}

static void notify(struct redis_ctx *ctx, const char *event, struct redis_string *key)
{
    (void)redis.NotifyKeyspaceEvent(ctx, REDIS_NOTIFY_MODULE, event, key);
}

/* ---- EXISTS, MEXISTS ------------------------------------------------------------------------- */

static bool open_to_read(struct redis_ctx *ctx, struct redis_string *name, enum dialect of,
                         struct opened *out)
{
    return of == DIALECT_TEPAL ? value_open(ctx, name, ACCESS_READ, out)
                               : compat_open(ctx, name, ACCESS_READ, of, out);
}

int answer_exists(struct redis_ctx *ctx, struct redis_string **argv, int argc, enum dialect of)
{
    struct opened opened;
    size_t len;
    if (argc != 3) {
        return redis.WrongArity(ctx);
    }
    if (!open_to_read(ctx, argv[1], of, &opened)) {
        return REDIS_OK;
    }
    const char *item = redis.StringPtrLen(argv[2], &len);
    bool found =
        opened.value != NULL && tepal_filter_query_bytes(opened.value->held->filter, item, len);
    value_close(&opened);
    return redis.ReplyWithBool(ctx, found);
}

int answer_mexists(struct redis_ctx *ctx, struct redis_string **argv, int argc, enum dialect of)
{
    struct opened opened;
    struct batch b;
    if (argc < 3) {
        return redis.WrongArity(ctx);
    }
    if (!open_to_read(ctx, argv[1], of, &opened)) {
        return REDIS_OK;
    }
    if (opened.value == NULL) {
        (void)redis.ReplyWithArray(ctx, argc - 2);
        for (int i = 2; i < argc; i++) {
            (void)redis.ReplyWithBool(ctx, 0);
        }
    } else if (batch_make(ctx, opened.value->held->filter, argv + 2, (size_t)argc - 2, &b)) {
        (void)tepal_filter_query_many(opened.value->held->filter, b.digests, b.count, b.answers);
        reply_answers(ctx, &b, true, false);
        batch_free(&b);
    }
    value_close(&opened);
    return REDIS_OK;
}

int run_exists(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    return answer_exists(ctx, argv, argc, DIALECT_TEPAL);
}

int run_mexists(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    return answer_mexists(ctx, argv, argc, DIALECT_TEPAL);
}

/* ---- ADD, MADD, SEEN, MSEEN ------------------------------------------------------------------ */

bool filter_counts_repeats(const struct tepal_filter *filter)
{
    switch (tepal_filter_kind(filter)->id) {
    case TEPAL_KIND_BLOOM:
    case TEPAL_KIND_RETOUCHED:
    case TEPAL_KIND_CHAIN:
        return false;
    default:
        return true;
    }
}

static bool by_time(const struct tepal_filter *filter)
{
    const struct tepal_params *p = tepal_filter_params(filter);
    return p->kind == TEPAL_KIND_RECYCLING && p->recycling.rule == TEPAL_RECYCLING_TIME;
}

struct addition {
    const char *event;
    bool many;
    bool seen;     /* answers "was it there?", not "is it new?" */
    bool receipts; /* answers with receipts */
    bool timed;    /* `now` was given, or is needed */
    uint64_t now;
    struct redis_string **items;
    size_t count;
};

/* The clock of a filter that forgets by time: the given one, or the server's, which never goes
 * back. */
static enum tepal_status set_clock(struct tepal_filter *filter, struct addition *a)
{
    struct tepal_recycling_figures figures;
    if (!a->timed) {
        a->now = (uint64_t)redis.Milliseconds() / 1000;
        if (tepal_recycling_get_figures(filter, &figures) == TEPAL_OK && figures.clock > a->now) {
            a->now = figures.clock;
        }
        a->timed = true;
    }
    return tepal_recycling_set_clock(filter, a->now);
}

static void replicate_addition(struct redis_ctx *ctx, struct redis_string *key,
                               const struct addition *a)
{
    if (a->timed) {
        char now[24];
        (void)snprintf(now, sizeof now, "%llu", (unsigned long long)a->now);
        (void)redis.Replicate(ctx, "TEPAL.MSEEN", "svcc", key, a->items, a->count, "NOW", now);
    } else {
        (void)redis.ReplicateVerbatim(ctx);
    }
}

static int add(struct redis_ctx *ctx, struct redis_string *key, struct addition *a)
{
    struct opened opened;
    struct batch b;
    size_t present = 0;
    if (!value_open_existing(ctx, key, ACCESS_WRITE, &opened)) {
        return REDIS_OK;
    }
    struct tepal_filter *filter = opened.value->held->filter;
    if (!batch_make(ctx, filter, a->items, a->count, &b)) {
        value_close(&opened);
        return REDIS_OK;
    }
    enum tepal_status status = TEPAL_OK;
    if (!a->receipts && (a->timed || by_time(filter))) { /* which has none */
        status = set_clock(filter, a);
    }
    if (status == TEPAL_OK) {
        status = a->receipts
                     ? tepal_counting_add_many(filter, b.digests, b.count, b.receipts)
                     : tepal_filter_test_add_many(filter, b.digests, b.count, b.answers, &present);
    }
    if (status != TEPAL_OK) {
        (void)reply_status(ctx, status, NULL);
    } else {
        bool changed = a->receipts || present < b.count || filter_counts_repeats(filter);
        value_changed(opened.value);
        replicate_addition(ctx, key, a);
        if (changed) {
            notify(ctx, a->event, key);
        }
        if (a->receipts) {
            if (a->many) {
                (void)redis.ReplyWithArray(ctx, (long)b.count);
            }
            for (size_t i = 0; i < b.count; i++) {
                (void)redis.ReplyWithLongLong(ctx, b.receipts[i]);
            }
        } else {
            reply_answers(ctx, &b, a->many, !a->seen);
        }
    }
    batch_free(&b);
    value_close(&opened);
    return REDIS_OK;
}

int run_add(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    if (argc != 3 && !(argc == 4 && word_is(argv[3], "RECEIPT"))) {
        return redis.WrongArity(ctx);
    }
    struct addition a = {
        .event = "tepal.add", .receipts = argc == 4, .items = argv + 2, .count = 1};
    return add(ctx, argv[1], &a);
}

int run_madd(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    struct addition a = {.event = "tepal.add", .many = true, .items = argv + 2};
    if (argc > 3 && word_is(argv[argc - 1], "RECEIPT")) {
        a.receipts = true;
        argc--;
    } else if (argc > 3 && word_is(argv[argc - 1], "NORECEIPT")) {
        argc--;
    }
    if (argc < 3) {
        return redis.WrongArity(ctx);
    }
    a.count = (size_t)argc - 2;
    return add(ctx, argv[1], &a);
}

static int seen(struct redis_ctx *ctx, struct redis_string **argv, int argc, bool many)
{
    struct addition a = {.event = "tepal.seen", .many = many, .seen = true, .items = argv + 2};
    if (argc > 4 && word_is(argv[argc - 2], "NOW") && word_u64(argv[argc - 1], &a.now)) {
        a.timed = true;
        argc -= 2;
    }
    if (argc < 3 || (!many && argc != 3)) {
        return redis.WrongArity(ctx);
    }
    a.count = (size_t)argc - 2;
    return add(ctx, argv[1], &a);
}

int run_seen(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    return seen(ctx, argv, argc, false);
}

int run_mseen(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    return seen(ctx, argv, argc, true);
}

/* ---- REM, MREM ------------------------------------------------------------------------------- */

static int rem(struct redis_ctx *ctx, struct redis_string **argv, size_t count, bool many,
               const uint64_t *receipt)
{
    struct opened opened;
    struct batch b;
    bool removed = false;
    if (!value_open_existing(ctx, argv[1], ACCESS_WRITE, &opened)) {
        return REDIS_OK;
    }
    struct tepal_filter *filter = opened.value->held->filter;
    if (!batch_make(ctx, filter, argv + 2, count, &b)) {
        value_close(&opened);
        return REDIS_OK;
    }
    enum tepal_status status = TEPAL_OK;
    memset(b.answers, 0, (count + 63) / 64 * 8);
    for (size_t i = 0; i < count; i++) {
        status = receipt != NULL
                     ? tepal_counting_remove_group(filter, b.digests[i], (uint32_t)*receipt)
                     : tepal_filter_remove(filter, b.digests[i]);
        if (status == TEPAL_OK) {
            b.answers[i / 64] |= (uint64_t)1 << (i % 64);
            removed = true;
        } else if (status != TEPAL_NOT_PRESENT) {
            break; /* no item can be removed: the kind, not the item, is the reason */
        }
    }
    if (status != TEPAL_OK && status != TEPAL_NOT_PRESENT) {
        (void)reply_status(ctx, status, NULL);
    } else {
        value_changed(opened.value); /* refusals are counted */
        (void)redis.ReplicateVerbatim(ctx);
        if (removed) {
            notify(ctx, "tepal.rem", argv[1]);
        }
        reply_answers(ctx, &b, many, false);
    }
    batch_free(&b);
    value_close(&opened);
    return REDIS_OK;
}

int run_rem(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    uint64_t receipt;
    if (argc == 3) {
        return rem(ctx, argv, 1, false, NULL);
    }
    if (argc != 5 || !word_is(argv[3], "RECEIPT")) {
        return redis.WrongArity(ctx);
    }
    if (!word_u64(argv[4], &receipt) || receipt >= TEPAL_MAX_CHOICES) {
        return reply_error(ctx, "ERR a receipt is the number that adding the item returned");
    }
    return rem(ctx, argv, 1, false, &receipt);
}

int run_mrem(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    return argc < 3 ? redis.WrongArity(ctx) : rem(ctx, argv, (size_t)argc - 2, true, NULL);
}

/* ---- AVOID ----------------------------------------------------------------------------------- */

int run_avoid(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    struct opened opened;
    struct batch b;
    struct tepal_avoided done;
    struct tepal_error error;
    if (argc < 3) {
        return redis.WrongArity(ctx);
    }
    if (!value_open_existing(ctx, argv[1], ACCESS_WRITE, &opened)) {
        return REDIS_OK;
    }
    struct tepal_filter *filter = opened.value->held->filter;
    if (batch_make(ctx, filter, argv + 2, (size_t)argc - 2, &b)) {
        enum tepal_status status =
            tepal_avoid(filter, b.digests, b.count, b.answers, &done, &error);
        if (status != TEPAL_OK) {
            (void)reply_status(ctx, status, error.why);
        } else {
            if (done.cleared > 0) {
                value_changed(opened.value);
                (void)redis.ReplicateVerbatim(ctx);
                notify(ctx, "tepal.avoid", argv[1]);
            }
            (void)redis.ReplyWithMap(ctx, 6);
            (void)redis.ReplyWithCString(ctx, "avoided");
            reply_number(ctx, done.avoided);
            (void)redis.ReplyWithCString(ctx, "absent");
            reply_number(ctx, done.absent);
            (void)redis.ReplyWithCString(ctx, "refused");
            reply_number(ctx, done.refused);
            (void)redis.ReplyWithCString(ctx, "lost");
            (void)redis.ReplyWithDouble(ctx, done.lost);
            (void)redis.ReplyWithCString(ctx, "lost_all");
            (void)redis.ReplyWithDouble(ctx, done.lost_all);
            (void)redis.ReplyWithCString(ctx, "budget");
            (void)redis.ReplyWithDouble(ctx, done.most_lost);
        }
        batch_free(&b);
    }
    value_close(&opened);
    return REDIS_OK;
}
