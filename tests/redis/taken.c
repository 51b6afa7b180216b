/*
 * taken.c: a module that has one of RedisBloom's names.
 */
#include <string.h>

#include "../../servers/redis/module.h"

static int (*answer)(struct redis_ctx *ctx, const char *text);

static int run(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    (void)argv;
    (void)argc;
    return answer(ctx, "taken");
}

__attribute__((visibility("default"))) redis_run RedisModule_OnLoad;

int RedisModule_OnLoad(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    int (*find)(const char *name, void *to);
    void (*name)(struct redis_ctx * ctx, const char *name, int version, int api);
    int (*create)(struct redis_ctx * ctx, const char *name, redis_run *run, const char *flags,
                  int first, int last, int step);
    (void)argv;
    (void)argc;
    memcpy(&find, ctx, sizeof find);
    if (find("RedisModule_SetModuleAttribs", (void *)&name) != REDIS_OK ||
        find("RedisModule_CreateCommand", (void *)&create) != REDIS_OK ||
        find("RedisModule_ReplyWithSimpleString", (void *)&answer) != REDIS_OK) {
        return REDIS_ERR;
    }
    name(ctx, "taken", 1, REDIS_API_VERSION);
    return create(ctx, "BF.MADD", run, "write", 1, 1, 1);
}
