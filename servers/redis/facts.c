/*
 * facts.c: INFO, CARD, VERIFY and KINDS, and the module's section of the server's own INFO.
 */
#include <string.h>

#include "server.h"

int run_info(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    struct opened opened;
    static struct tepal_report report; /* large; commands run one after the other */
    if (argc != 2 && !(argc == 3 && word_is(argv[2], "FULL"))) {
        return redis.WrongArity(ctx);
    }
    if (!value_open_existing(ctx, argv[1], ACCESS_READ, &opened)) {
        return REDIS_OK;
    }
    const struct held *held = opened.value->held;
    if (argc == 3) {
        tepal_filter_info(held->filter, &report);
    } else {
        tepal_filter_summary(held->filter, &report);
    }
    (void)redis.ReplyWithMap(ctx, (long)report.count + 2);
    reply_report(ctx, &report);
    (void)redis.ReplyWithCString(ctx, "memory");
    reply_number(ctx, held->taken);
    (void)redis.ReplyWithCString(ctx, "generation");
    reply_number(ctx, opened.value->generation);
    value_close(&opened);
    return REDIS_OK;
}

int run_card(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    struct opened opened;
    if (argc != 2) {
        return redis.WrongArity(ctx);
    }
    if (!value_open(ctx, argv[1], ACCESS_READ, &opened)) {
        return REDIS_OK;
    }
    reply_number(ctx, opened.value == NULL ? 0 : tepal_filter_keys_now(opened.value->held->filter));
    value_close(&opened);
    return REDIS_OK;
}

int run_verify(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    struct opened opened;
    struct tepal_error error;
    if (argc != 2) {
        return redis.WrongArity(ctx);
    }
    if (!value_open_existing(ctx, argv[1], ACCESS_READ, &opened)) {
        return REDIS_OK;
    }
    enum tepal_status status = tepal_filter_validate(opened.value->held->filter, &error);
    value_close(&opened);
    return status == TEPAL_OK ? redis.ReplyWithSimpleString(ctx, "OK")
                              : reply_status(ctx, status, error.why);
}

int run_kinds(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    (void)argv;
    if (argc != 1) {
        return redis.WrongArity(ctx);
    }
    (void)redis.ReplyWithArray(ctx, (long)tepal_kind_count());
    for (size_t i = 0; i < tepal_kind_count(); i++) {
        const struct tepal_kind *kind = tepal_kind_at(i);
        long count = 0;
        (void)redis.ReplyWithMap(ctx, 3);
        (void)redis.ReplyWithCString(ctx, "kind");
        (void)redis.ReplyWithCString(ctx, kind->name);
        (void)redis.ReplyWithCString(ctx, "summary");
        (void)redis.ReplyWithCString(ctx, kind->summary);
        (void)redis.ReplyWithCString(ctx, "promises");
        (void)redis.ReplyWithArray(ctx, REDIS_POSTPONED);
        for (unsigned promise = 1; tepal_promise_name(promise) != NULL; promise <<= 1) {
            if ((kind->promises & promise) != 0) {
                (void)redis.ReplyWithCString(ctx, tepal_promise_name(promise));
                count++;
            }
        }
        redis.ReplySetArrayLength(ctx, count);
    }
    return REDIS_OK;
}

void facts_section(struct redis_info_ctx *ctx, int for_crash_report)
{
    (void)for_crash_report;
    (void)redis.InfoAddSection(ctx, "filters");
    (void)redis.InfoAddFieldCString(ctx, "version", tepal_version());
    (void)redis.InfoAddFieldULongLong(ctx, "filters", atomic_load(&counts.filters));
    (void)redis.InfoAddFieldULongLong(ctx, "bytes", atomic_load(&counts.bytes));
    (void)redis.InfoAddFieldULongLong(ctx, "transfers", atomic_load(&counts.transfers));
    (void)redis.InfoAddFieldULongLong(ctx, "transfers_expired", counts.expired);
    (void)redis.InfoAddFieldULongLong(ctx, "refused_for_memory", counts.refused_memory);
    (void)redis.InfoAddFieldULongLong(ctx, "refused_bytes", counts.refused_bytes);
}
