/*
 * module.c: where the server enters. `loadmodule tepal-redis.so [NAME VALUE ...]`.
 */
#include <string.h>

#include "server.h"

#define MODULE_NAME "tepal"

struct redis_calls redis;

const char *redis_calls_find(struct redis_ctx *ctx)
{
    int (*find)(const char *name, void *to);
    memcpy(&find, ctx, sizeof find); /* the first word of the context is the way to all the rest */
#define REDIS_MUST(type, name, arguments)                                                          \
    if (find("RedisModule_" #name, (void *)&redis.name) != REDIS_OK) {                             \
        return #name;                                                                              \
    }
#define REDIS_MAY(type, name, arguments)                                                           \
    if (find("RedisModule_" #name, (void *)&redis.name) != REDIS_OK) {                             \
        redis.name = NULL;                                                                         \
    }
    REDIS_CALLS(REDIS_MUST, REDIS_MAY)
#undef REDIS_MUST
#undef REDIS_MAY
    return NULL;
}

/* The name that servers look for. */
__attribute__((visibility("default"))) int RedisModule_OnLoad(struct redis_ctx *ctx,
                                                              struct redis_string **argv, int argc);

int RedisModule_OnLoad(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    const char *lacks = redis_calls_find(ctx);
    if (lacks != NULL) {
        if (redis.Log != NULL) {
            redis.Log(ctx, "warning", "tepal: this server has no %s: 7.0 or later is needed",
                      lacks);
        }
        return REDIS_ERR;
    }
    if (redis.IsModuleNameBusy(MODULE_NAME)) {
        return REDIS_ERR;
    }
    int version = TEPAL_VERSION_MAJOR * 10000 + TEPAL_VERSION_MINOR * 100 + TEPAL_VERSION_PATCH;
    redis.SetModuleAttribs(ctx, MODULE_NAME, version, REDIS_API_VERSION);
    redis.SetModuleOptions(ctx, REDIS_HANDLE_IO_ERRORS);
    limits_probe();
    const char *wrong = settings_arguments(argv, argc);
    if (wrong != NULL) {
        redis.Log(ctx, "warning", "tepal: %s", wrong);
        return REDIS_ERR;
    }
    if (settings_register(ctx) != REDIS_OK || type_register(ctx) != REDIS_OK ||
        commands_register(ctx) != REDIS_OK ||
        redis.RegisterInfoFunc(ctx, facts_section) != REDIS_OK) {
        return REDIS_ERR;
    }
    transfer_watch(ctx);
    return REDIS_OK;
}
