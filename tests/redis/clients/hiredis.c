/*
 * hiredis.c: BF.* and CF.* through hiredis, which tells the types of all answers.
 * Usage: hiredis PORT
 */
#include <hiredis/hiredis.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static redisContext *server;
static unsigned passed, failed;

static void check(const char *what, const char *got, const char *want)
{
    if (strcmp(got, want) == 0) {
        passed++;
    } else {
        failed++;
        printf("not ok: %s gave %s instead of %s\n", what, got, want);
    }
}

static void describe(const redisReply *r, char *text, size_t room)
{
    size_t at = strlen(text);
    switch (r->type) {
    case REDIS_REPLY_INTEGER:
        (void)snprintf(text + at, room - at, ":%lld", r->integer);
        break;
    case REDIS_REPLY_NIL:
        (void)snprintf(text + at, room - at, "nil");
        break;
    case REDIS_REPLY_ARRAY:
        (void)snprintf(text + at, room - at, "[");
        for (size_t i = 0; i < r->elements; i++) {
            describe(r->element[i], text, room);
            at = strlen(text);
            (void)snprintf(text + at, room - at, i + 1 < r->elements ? " " : "");
        }
        at = strlen(text);
        (void)snprintf(text + at, room - at, "]");
        break;
    default: /* status, string, error: the mark of the protocol, then the text */
        (void)snprintf(text + at, room - at, "%c%s",
                       r->type == REDIS_REPLY_STATUS  ? '+'
                       : r->type == REDIS_REPLY_ERROR ? '-'
                                                      : '$',
                       r->str);
    }
}

/* Sends a command, and compares its answer. */
static void asks(const char *want, const char *command)
{
    char text[600] = "";
    redisReply *r = redisCommand(server, command);
    if (r == NULL) {
        printf("not ok: %s\n0 passed, 1 failed\n", server->errstr);
        exit(1);
    }
    describe(r, text, sizeof text);
    freeReplyObject(r);
    check(command, text, want);
}

/* All chunks of one key go to another, as bytes. */
static void dump(const char *name, const char *from, const char *to)
{
    char load[32];
    long long at = 0;
    (void)snprintf(load, sizeof load, "%s.LOADCHUNK %%s %%lld %%b", name);
    for (;;) {
        redisReply *r = redisCommand(server, "%s.SCANDUMP %s %lld", name, from, at);
        if (r == NULL || r->type != REDIS_REPLY_ARRAY || r->elements != 2) {
            check("SCANDUMP", "no pair", "a pair");
            freeReplyObject(r);
            return;
        }
        at = r->element[0]->integer;
        if (at == 0) {
            freeReplyObject(r);
            return;
        }
        redisReply *ok = redisCommand(server, load, to, at, r->element[1]->str, r->element[1]->len);
        check("LOADCHUNK", ok != NULL && ok->type == REDIS_REPLY_STATUS ? ok->str : "?", "OK");
        freeReplyObject(ok);
        freeReplyObject(r);
    }
}

int main(int argc, char **argv)
{
    server = argc == 2 ? redisConnect("127.0.0.1", atoi(argv[1])) : NULL;
    if (server == NULL || server->err != 0) {
        printf("no server\n0 passed, 1 failed\n");
        return 1;
    }
    asks("+OK", "BF.RESERVE b 0.01 1000");
    asks("-ERR item exists", "BF.RESERVE b 0.01 1000");
    asks(":1", "BF.ADD b x");
    asks(":0", "BF.ADD b x");
    asks("[:0 :1 :1]", "BF.MADD b x y z");
    asks(":1", "BF.EXISTS b z");
    asks(":0", "BF.EXISTS b none");
    asks("[:1 :0]", "BF.MEXISTS b x none");
    asks("[:1 :1 :0]", "BF.INSERT i CAPACITY 50 ERROR 0.001 EXPANSION 3 ITEMS a b a");
    asks(":3", "BF.CARD b");
    asks("[:1000]", "BF.INFO b CAPACITY");
    asks("[:3]", "BF.INFO i EXPANSION");
    asks("-ERR not found", "BF.INFO none");
    asks("+OK", "BF.RESERVE full 0.01 2 NONSCALING");
    asks("[:1 :1 -ERR non scaling filter is full]", "BF.INSERT full ITEMS a b c d");
    asks("[nil]", "BF.INFO full EXPANSION");
    dump("BF", "b", "b2");
    asks("[:1 :1 :1 :0]", "BF.MEXISTS b2 x y z none");
    asks("-ERR received bad data", "BF.LOADCHUNK bad 1 garbage");

    asks("+OK", "CF.RESERVE c 1000 BUCKETSIZE 4");
    asks("[:0 nil]", "CF.SCANDUMP c 0");
    asks(":1", "CF.ADD c x");
    asks(":1", "CF.ADD c x");
    asks(":0", "CF.ADDNX c x");
    asks(":2", "CF.COUNT c x");
    asks("[:1 :1]", "CF.INSERT c ITEMS y z");
    asks("[:0 :1]", "CF.INSERTNX c ITEMS y w");
    asks(":1", "CF.EXISTS c w");
    asks("[:1 :0]", "CF.MEXISTS c y none");
    dump("CF", "c", "c2");
    asks(":2", "CF.COUNT c2 x");
    asks(":1", "CF.DEL c2 x");
    asks(":1", "CF.DEL c2 x");
    asks(":0", "CF.DEL c2 x");
    asks("-ERR Not found", "CF.DEL none x");
    asks("+OK", "CF.RESERVE small 4 EXPANSION 0");
    asks("[:1 :1 :1 :1 :-1]", "CF.INSERT small ITEMS 1 2 3 4 5");
    redisFree(server);
    printf("%u passed, %u failed\n", passed, failed);
    return failed > 0;
}
