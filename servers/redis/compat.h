/*
 * compat.h: what the commands of RedisBloom share (BF.* in compat_bf.c, CF.* in compat_cf.c; module
 * argument `compat yes`): their keys, and dumps in chunks. A key made by them is a filter of ours
 * with a dialect: TEPAL.* commands work on it too, and the others' do not.
 */
#ifndef TEPAL_REDIS_COMPAT_H
#define TEPAL_REDIS_COMPAT_H

#include "server.h"

/* Errors as clients know them. */
#define NOT_FOUND   "ERR not found"
#define ITEM_EXISTS "ERR item exists"
#define BAD_DATA    "ERR received bad data"

/* False: an error was replied, and nothing is open; an absent key is no error. */
bool compat_open(struct redis_ctx *ctx, struct redis_string *name, enum access access,
                 enum dialect dialect, struct opened *out);
/* The same, and an absent key is an error. */
bool compat_open_existing(struct redis_ctx *ctx, struct redis_string *name, enum access access,
                          enum dialect dialect, struct opened *out);

/*
 * An empty filter of these parameters at an open key, with a seed of its own; told to replicas.
 * False: an error was replied.
 */
bool compat_create(struct redis_ctx *ctx, struct redis_string *name, struct opened *opened,
                   struct tepal_params *params, enum dialect dialect, const uint64_t notes[NOTES]);

struct tepal_digest compat_digest(const struct tepal_filter *filter,
                                  const struct redis_string *item);

/* An integer as long long, as these commands take it. */
bool compat_integer(const struct redis_string *word, long long *out);

/* SCANDUMP and LOADCHUNK. `nothing` replies what follows a 0 at the end. */
int compat_scandump(struct redis_ctx *ctx, const struct held *held, uint64_t iterator,
                    int (*nothing)(struct redis_ctx *ctx));
int compat_loadchunk(struct redis_ctx *ctx, struct redis_string **argv, uint64_t iterator,
                     enum dialect dialect);

#endif
