/*
 * reply.c: answers and errors. An error begins with a word in capitals that programs can tell it
 * by, as the server's own do.
 */
#include <stdarg.h>
#include <stdio.h>

#include "server.h"

int reply_error(struct redis_ctx *ctx, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    for (char *c = text; *c != 0; c++) { /* an error is one line */
        if (*c == '\r' || *c == '\n') {
            *c = ' ';
        }
    }
    return redis.ReplyWithError(ctx, text);
}

int reply_status(struct redis_ctx *ctx, enum tepal_status status, const char *why)
{
    if (status == TEPAL_NO_MEMORY || status == TEPAL_TOO_LARGE) {
        return reply_error(ctx, "OOM %s",
                           status == TEPAL_NO_MEMORY ? limits_why()
                           : why != NULL             ? why
                                                     : tepal_status_message(status));
    }
    const char *word = status == TEPAL_FULL          ? "FULL"
                       : status == TEPAL_UNSUPPORTED ? "UNSUPPORTED"
                       : status == TEPAL_MISMATCH    ? "MISMATCH"
                       : status == TEPAL_CLOCK_BACK  ? "CLOCK"
                       : status == TEPAL_KEY_NEEDED  ? "NOKEY"
                       : status == TEPAL_WRONG_KEY   ? "NOKEY"
                                                     : "ERR";
    return reply_error(ctx, "%s %s", word, why != NULL ? why : tepal_status_message(status));
}

void reply_number(struct redis_ctx *ctx, uint64_t number)
{
    if (number <= INT64_MAX) {
        (void)redis.ReplyWithLongLong(ctx, (long long)number);
    } else {
        char text[24];
        (void)snprintf(text, sizeof text, "%llu", (unsigned long long)number);
        (void)redis.ReplyWithCString(ctx, text);
    }
}

void reply_report(struct redis_ctx *ctx, const struct tepal_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        const struct tepal_quantity *q = &report->item[i];
        (void)redis.ReplyWithCString(ctx, q->name);
        switch (q->type) {
        case TEPAL_QUANTITY_FLAG:
            (void)redis.ReplyWithBool(ctx, q->value.flag);
            break;
        case TEPAL_QUANTITY_INTEGER:
            reply_number(ctx, q->value.integer);
            break;
        case TEPAL_QUANTITY_REAL:
            (void)redis.ReplyWithDouble(ctx, q->value.real);
            break;
        case TEPAL_QUANTITY_TEXT:
            (void)redis.ReplyWithCString(ctx, q->value.text);
            break;
        case TEPAL_QUANTITY_LIST:
            (void)redis.ReplyWithArray(ctx, (long)q->value.list.count);
            for (size_t n = 0; n < q->value.list.count; n++) {
                (void)redis.ReplyWithDouble(ctx, report->number[q->value.list.first + n]);
            }
            break;
        case TEPAL_QUANTITY_ABSENT:
            (void)redis.ReplyWithNull(ctx);
            break;
        }
    }
}
