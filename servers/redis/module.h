/*
 * module.h: the part of the module interface of Redis 7 and Valkey that is used here, declared from
 * its documentation. A server hands out its calls by name; what older or other servers do not have
 * is looked up and may be missing (NULL). The numbers below are part of the interface and the same
 * on all servers.
 */
#ifndef TEPAL_REDIS_MODULE_H
#define TEPAL_REDIS_MODULE_H

#include <stddef.h>
#include <stdint.h>

enum { REDIS_OK = 0, REDIS_ERR = 1 };
enum { REDIS_API_VERSION = 1, REDIS_TYPE_METHODS = 4 };

enum { REDIS_READ = 1 << 0, REDIS_WRITE = 1 << 1, REDIS_UNTOUCHED = 1 << 16 }; /* of OpenKey */
enum { REDIS_KEY_EMPTY = 0 };                                                  /* of KeyType */

enum { /* of GetContextFlags */
       REDIS_IN_MASTER = 1 << 2,
       REDIS_IN_REPLICATED = 1 << 12,
       REDIS_IN_LOADING = 1 << 13,
       REDIS_IN_CHILD = 1 << 20,
       REDIS_IN_RESP3 = 1 << 22,
       REDIS_IN_ASYNC_LOADING = 1 << 23
};

enum { REDIS_NOTIFY_GENERIC = 1 << 2, REDIS_NOTIFY_MODULE = 1 << 13 };
enum { REDIS_HANDLE_IO_ERRORS = 1 << 0 }; /* of SetModuleOptions */
enum { REDIS_POSTPONED = -1 };            /* a length that is told later */

enum { REDIS_CONFIG_DEFAULT = 0, REDIS_CONFIG_IMMUTABLE = 1 << 0, REDIS_CONFIG_MEMORY = 1 << 7 };

struct redis_ctx;
struct redis_string;
struct redis_key;
struct redis_io;
struct redis_type;
struct redis_digest;
struct redis_info_ctx;
struct redis_server_info;
struct redis_command;
struct redis_key_opt;
struct redis_defrag_ctx;

typedef int redis_run(struct redis_ctx *ctx, struct redis_string **argv, int argc);
typedef void redis_timer(struct redis_ctx *ctx, void *data);
typedef void redis_info(struct redis_info_ctx *ctx, int for_crash_report);

/* ---- a data type ----------------------------------------------------------------------------- */

struct redis_type_methods {
    uint64_t version;
    void *(*rdb_load)(struct redis_io *rdb, int encver);
    void (*rdb_save)(struct redis_io *rdb, void *value);
    void (*aof_rewrite)(struct redis_io *aof, struct redis_string *key, void *value);
    size_t (*mem_usage)(const void *value);
    void (*digest)(struct redis_digest *digest, void *value);
    void (*free)(void *value);
    int (*aux_load)(struct redis_io *rdb, int encver, int when);
    void (*aux_save)(struct redis_io *rdb, int when);
    int aux_save_triggers;
    size_t (*free_effort)(struct redis_string *key, const void *value);
    void (*unlink)(struct redis_string *key, const void *value);
    void *(*copy)(struct redis_string *from, struct redis_string *to, const void *value);
    int (*defrag)(struct redis_defrag_ctx *ctx, struct redis_string *key, void **value);
    size_t (*mem_usage2)(struct redis_key_opt *ctx, const void *value, size_t sample_size);
    size_t (*free_effort2)(struct redis_key_opt *ctx, const void *value);
    void (*unlink2)(struct redis_key_opt *ctx, const void *value);
    void *(*copy2)(struct redis_key_opt *ctx, const void *value);
};

/* ---- what COMMAND INFO and COMMAND DOCS tell ------------------------------------------------- */

enum { /* flags of a key */
       REDIS_KEY_RO = 1 << 0,
       REDIS_KEY_RW = 1 << 1,
       REDIS_KEY_OW = 1 << 2,
       REDIS_KEY_ACCESS = 1 << 4,
       REDIS_KEY_UPDATE = 1 << 5,
       REDIS_KEY_INSERT = 1 << 6
};

enum redis_begin_search { REDIS_BEGIN_INVALID, REDIS_BEGIN_UNKNOWN, REDIS_BEGIN_INDEX };
enum redis_find_keys { REDIS_FIND_OMITTED, REDIS_FIND_UNKNOWN, REDIS_FIND_RANGE };

struct redis_key_spec {
    const char *notes;
    uint64_t flags;
    enum redis_begin_search begin_search_type;
    union {
        struct {
            int pos;
        } index;
        struct {
            const char *keyword;
            int startfrom;
        } keyword;
    } begin;
    enum redis_find_keys find_keys_type;
    union {
        struct {
            int lastkey;
            int keystep;
            int limit;
        } range;
        struct {
            int keynumidx;
            int firstkey;
            int keystep;
        } keynum;
    } find;
};

enum redis_arg_type {
    REDIS_ARG_STRING,
    REDIS_ARG_INTEGER,
    REDIS_ARG_DOUBLE,
    REDIS_ARG_KEY,
    REDIS_ARG_PATTERN,
    REDIS_ARG_UNIX_TIME,
    REDIS_ARG_PURE_TOKEN,
    REDIS_ARG_ONEOF,
    REDIS_ARG_BLOCK
};
enum { REDIS_ARG_OPTIONAL = 1 << 0, REDIS_ARG_MULTIPLE = 1 << 1 };

struct redis_arg {
    const char *name;
    enum redis_arg_type type;
    int key_spec_index;
    const char *token;
    const char *summary;
    const char *since;
    int flags;
    const char *deprecated_since;
    struct redis_arg *subargs;
    const char *display_text;
};

struct redis_history {
    const char *since;
    const char *changes;
};

struct redis_command_info_version {
    int version;
    size_t sizeof_history;
    size_t sizeof_key_spec;
    size_t sizeof_arg;
};

struct redis_command_info {
    const struct redis_command_info_version *version;
    const char *summary;
    const char *complexity;
    const char *since;
    struct redis_history *history;
    const char *tips;
    int arity;
    struct redis_key_spec *key_specs;
    struct redis_arg *args;
};

/* ---- settings -------------------------------------------------------------------------------- */

typedef long long redis_get_number(const char *name, void *data);
typedef int redis_set_number(const char *name, long long value, void *data,
                             struct redis_string **error);
typedef struct redis_string *redis_get_string(const char *name, void *data);
typedef int redis_set_string(const char *name, struct redis_string *value, void *data,
                             struct redis_string **error);
typedef int redis_get_bool(const char *name, void *data);
typedef int redis_set_bool(const char *name, int value, void *data, struct redis_string **error);
typedef int redis_apply(struct redis_ctx *ctx, void *data, struct redis_string **error);

/* ---- the calls ------------------------------------------------------------------------------- */

/* X: every server that is supported has it. MAY: looked up, and NULL if the server lacks it. */
#define REDIS_CALLS(X, MAY)                                                                        \
    X(void *, Alloc, (size_t bytes))                                                               \
    X(void *, TryAlloc, (size_t bytes))                                                            \
    X(void, Free, (void *ptr))                                                                     \
    MAY(size_t, MallocSize, (void *ptr))                                                           \
    MAY(size_t, MallocUsableSize, (void *ptr))                                                     \
    X(void, SetModuleAttribs, (struct redis_ctx * ctx, const char *name, int version, int api))    \
    X(int, IsModuleNameBusy, (const char *name))                                                   \
    X(void, SetModuleOptions, (struct redis_ctx * ctx, int options))                               \
    X(int, CreateCommand,                                                                          \
      (struct redis_ctx * ctx, const char *name, redis_run *run, const char *flags, int first,     \
       int last, int step))                                                                        \
    X(struct redis_command *, GetCommand, (struct redis_ctx * ctx, const char *name))              \
    X(int, SetCommandInfo,                                                                         \
      (struct redis_command * command, const struct redis_command_info *info))                     \
    MAY(int, SetCommandACLCategories, (struct redis_command * command, const char *categories))    \
    X(int, WrongArity, (struct redis_ctx * ctx))                                                   \
    X(int, GetContextFlags, (struct redis_ctx * ctx))                                              \
    X(int, GetSelectedDb, (struct redis_ctx * ctx))                                                \
    X(int, SelectDb, (struct redis_ctx * ctx, int db))                                             \
    X(int, ReplyWithLongLong, (struct redis_ctx * ctx, long long value))                           \
    X(int, ReplyWithDouble, (struct redis_ctx * ctx, double value))                                \
    X(int, ReplyWithBool, (struct redis_ctx * ctx, int value))                                     \
    X(int, ReplyWithNull, (struct redis_ctx * ctx))                                                \
    X(int, ReplyWithError, (struct redis_ctx * ctx, const char *text))                             \
    X(int, ReplyWithSimpleString, (struct redis_ctx * ctx, const char *text))                      \
    X(int, ReplyWithCString, (struct redis_ctx * ctx, const char *text))                           \
    X(int, ReplyWithStringBuffer, (struct redis_ctx * ctx, const char *bytes, size_t len))         \
    X(int, ReplyWithString, (struct redis_ctx * ctx, struct redis_string * string))                \
    X(int, ReplyWithArray, (struct redis_ctx * ctx, long len))                                     \
    X(int, ReplyWithMap, (struct redis_ctx * ctx, long len))                                       \
    X(void, ReplySetArrayLength, (struct redis_ctx * ctx, long len))                               \
    X(void, ReplySetMapLength, (struct redis_ctx * ctx, long len))                                 \
    X(struct redis_key *, OpenKey, (struct redis_ctx * ctx, struct redis_string * name, int mode)) \
    X(void, CloseKey, (struct redis_key * key))                                                    \
    X(int, KeyType, (struct redis_key * key))                                                      \
    X(int, DeleteKey, (struct redis_key * key))                                                    \
    X(struct redis_type *, CreateDataType,                                                         \
      (struct redis_ctx * ctx, const char *name, int encver, struct redis_type_methods *methods))  \
    X(struct redis_type *, ModuleTypeGetType, (struct redis_key * key))                            \
    X(void *, ModuleTypeGetValue, (struct redis_key * key))                                        \
    X(int, ModuleTypeSetValue, (struct redis_key * key, struct redis_type * type, void *value))    \
    X(const char *, StringPtrLen, (const struct redis_string *string, size_t *len))                \
    X(struct redis_string *, CreateString,                                                         \
      (struct redis_ctx * ctx, const char *bytes, size_t len))                                     \
    X(void, FreeString, (struct redis_ctx * ctx, struct redis_string * string))                    \
    X(int, Replicate, (struct redis_ctx * ctx, const char *command, const char *format, ...))      \
    X(int, ReplicateVerbatim, (struct redis_ctx * ctx))                                            \
    X(void, EmitAOF, (struct redis_io * io, const char *command, const char *format, ...))         \
    X(void, SaveUnsigned, (struct redis_io * io, uint64_t value))                                  \
    X(uint64_t, LoadUnsigned, (struct redis_io * io))                                              \
    X(void, SaveStringBuffer, (struct redis_io * io, const char *bytes, size_t len))               \
    X(char *, LoadStringBuffer, (struct redis_io * io, size_t * len))                              \
    X(int, IsIOError, (struct redis_io * io))                                                      \
    X(const struct redis_string *, GetKeyNameFromIO, (struct redis_io * io))                       \
    X(int, GetDbIdFromIO, (struct redis_io * io))                                                  \
    X(void, LogIOError, (struct redis_io * io, const char *level, const char *format, ...))        \
    X(void, Log, (struct redis_ctx * ctx, const char *level, const char *format, ...))             \
    X(void, DigestAddStringBuffer, (struct redis_digest * digest, const char *bytes, size_t len))  \
    X(void, DigestAddLongLong, (struct redis_digest * digest, long long value))                    \
    X(void, DigestEndSequence, (struct redis_digest * digest))                                     \
    X(int, NotifyKeyspaceEvent,                                                                    \
      (struct redis_ctx * ctx, int type, const char *event, struct redis_string *key))             \
    X(int, RegisterInfoFunc, (struct redis_ctx * ctx, redis_info * tell))                          \
    X(int, InfoAddSection, (struct redis_info_ctx * ctx, const char *name))                        \
    X(int, InfoAddFieldULongLong,                                                                  \
      (struct redis_info_ctx * ctx, const char *name, unsigned long long value))                   \
    X(int, InfoAddFieldCString,                                                                    \
      (struct redis_info_ctx * ctx, const char *name, const char *value))                          \
    X(struct redis_server_info *, GetServerInfo, (struct redis_ctx * ctx, const char *section))    \
    X(void, FreeServerInfo, (struct redis_ctx * ctx, struct redis_server_info * info))             \
    X(unsigned long long, ServerInfoGetFieldUnsigned,                                              \
      (struct redis_server_info * info, const char *field, int *error))                            \
    X(int, AvoidReplicaTraffic, (void))                                                            \
    X(long long, Milliseconds, (void))                                                             \
    X(uint64_t, CreateTimer,                                                                       \
      (struct redis_ctx * ctx, long long period, redis_timer *call, void *data))                   \
    X(void, GetRandomBytes, (unsigned char *bytes, size_t len))                                    \
    X(int, RegisterNumericConfig,                                                                  \
      (struct redis_ctx * ctx, const char *name, long long value, unsigned flags, long long least, \
       long long most, redis_get_number *get, redis_set_number *set, redis_apply *apply,           \
       void *data))                                                                                \
    X(int, RegisterStringConfig,                                                                   \
      (struct redis_ctx * ctx, const char *name, const char *value, unsigned flags,                \
       redis_get_string *get, redis_set_string *set, redis_apply *apply, void *data))              \
    X(int, RegisterBoolConfig,                                                                     \
      (struct redis_ctx * ctx, const char *name, int value, unsigned flags, redis_get_bool *get,   \
       redis_set_bool *set, redis_apply *apply, void *data))                                       \
    X(int, LoadConfigs, (struct redis_ctx * ctx))

struct redis_calls {
#define REDIS_CALL(type, name, arguments) type(*name) arguments;
    REDIS_CALLS(REDIS_CALL, REDIS_CALL)
#undef REDIS_CALL
};

/* The server's calls; filled when the module is loaded. */
extern struct redis_calls redis;

/* Fills them in from what the server gives. NULL, or the name of the first that it lacks. */
const char *redis_calls_find(struct redis_ctx *ctx);

#endif
