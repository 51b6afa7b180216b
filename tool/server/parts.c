/* parts.c: a number at a name of its own. */
#include "server/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"

static char *stored_name(const struct args *args)
{
    const char *name = arg(args, "key")->text;
    size_t size = strlen(name) + sizeof "{:parts}";
    char *out = malloc(size);
    if (out != NULL) {
        snprintf(out, size, "{%s:parts}", name);
    }
    return out;
}

/* The digits of a number of parts; 0: it is none. */
static uint64_t number_of(const char *text, size_t len)
{
    uint64_t number = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9' || number > LOGIN_PARTS) {
            return 0;
        }
        number = 10 * number + (uint64_t)(text[i] - '0');
    }
    return number <= LOGIN_PARTS ? number : 0;
}

static int take(const struct args *args, const char *name, const redisReply *reply, uint64_t *parts)
{
    char room[512];
    uint64_t given = *parts;
    if (reply->type == REDIS_REPLY_NIL || servers_error_is(reply, "NOPERM")) {
        return EXIT_YES;
    }
    if (reply->type == REDIS_REPLY_ERROR && !servers_error_is(reply, "WRONGTYPE")) {
        return args_about(args, arg(args, "key")->text, "%s",
                          servers_explain(reply, room, sizeof room));
    }
    *parts = reply->type == REDIS_REPLY_STRING ? number_of(reply->str, reply->len) : 0;
    if (*parts == 0) {
        return args_about(args, name, "this is no number of parts: delete it, or use another name");
    }
    if (arg(args, "parts")->given && given != *parts) {
        return args_about(args, name,
                          "the filter has %" PRIu64 " parts, not %" PRIu64 ": give --parts %" PRIu64
                          " or leave it out; to divide it anew, delete "
                          "its parts and this name first",
                          *parts, given, *parts);
    }
    return EXIT_YES;
}

int parts_find(const struct args *args, struct servers *servers, uint64_t *parts)
{
    struct words words = {.count = 0};
    char *name = stored_name(args);
    if (name == NULL) {
        return args_no_memory(args);
    }
    words_text(&words, "GET");
    words_text(&words, name);
    redisReply *reply = servers_call(servers, &words, true);
    *parts = arg_whole(args, "parts", 0);
    int code = reply == NULL ? args_about(args, arg(args, "key")->text, "%s", servers_why(servers))
                             : take(args, name, reply, parts);
    freeReplyObject(reply);
    free(name);
    return code;
}

int parts_store(const struct args *args, struct servers *servers, uint64_t parts)
{
    struct words words = {.count = 0};
    char number[24];
    char room[512];
    char *name = stored_name(args);
    if (name == NULL) {
        return args_no_memory(args);
    }
    snprintf(number, sizeof number, "%" PRIu64, parts);
    words_text(&words, "SET");
    words_text(&words, name);
    words_text(&words, number);
    words_text(&words, "NX");
    redisReply *reply = servers_call(servers, &words, true);
    int code = EXIT_YES;
    if (reply == NULL) {
        code = args_about(args, arg(args, "key")->text, "%s", servers_why(servers));
    } else if (servers_error_is(reply, "NOPERM")) {
        say_line("%s: the user has no right to SET it: give --parts %s to every command",
                 say_clean(name, room, sizeof room), number);
    } else if (reply->type == REDIS_REPLY_ERROR) {
        code = args_about(args, name, "%s", servers_explain(reply, room, sizeof room));
    }
    freeReplyObject(reply);
    free(name);
    return code;
}
