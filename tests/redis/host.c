/*
 * host.c: a small host of the module interface, to run the module under sanitizers with what a
 * hostile client can send: mutated filters with right checksums, as SET, PART, LOADCHUNK and as
 * saved values (RESTORE), and commands of random words.
 *
 * The host watches what a server would suffer from: every command gives exactly one complete reply,
 * no more memory is taken than the limit allows, all of it is given back, and a filter that was
 * accepted keeps every invariant whatever is done with it. Arguments: how many payloads, and the
 * seed.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "../../servers/redis/module.h"
#include <tepal/tepal.h>

#define LIMIT  ((size_t)256 << 10) /* max-filter-bytes */
#define KEYS   8
#define STREAM ((size_t)1 << 20)
#define TIMERS 4
#define ARGS   40

static char failure[600]; /* the error of the latest reply */

int RedisModule_OnLoad(struct redis_ctx *ctx, struct redis_string **argv, int argc);

#define REQUIRE(holds)                                                                             \
    do {                                                                                           \
        if (!(holds)) {                                                                            \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #holds, failure);              \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* ---- what the server's structs are here ------------------------------------------------------ */

struct redis_string {
    size_t len;
    char *bytes;
};

struct place {
    char *name;
    size_t len;
    void *value;
};

struct redis_key {
    struct place *at; /* NULL: a key that is not there, opened for reading */
    struct redis_string *name;
};

struct redis_io {
    unsigned char bytes[STREAM];
    size_t len;
    size_t at;
    int error;
};

struct redis_ctx {
    int (*find)(const char *name, void *to);
};

struct redis_digest {
    int unused;
};
struct redis_info_ctx {
    int unused;
};
struct redis_server_info {
    int unused;
};
struct redis_command {
    int unused;
};
struct redis_type {
    struct redis_type_methods methods;
};

static struct place places[KEYS];
static struct redis_type type;
static struct redis_ctx ctx;
static long long clock_now = 1000000;

static struct {
    redis_run *run;
    const char *name;
} commands[64];
static size_t command_count;

static redis_timer *timer;
static int replicated;

/* ---- random numbers -------------------------------------------------------------------------- */

static uint64_t state;

static uint64_t draw(void)
{
    state += 0x9e3779b97f4a7c15u;
    uint64_t z = state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t below(uint64_t n)
{
    return draw() % n;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static size_t taken; /* by the module */
static size_t most;  /* at once, since it was last set to `taken` */

static void *host_TryAlloc(size_t bytes)
{
    size_t *block = malloc(bytes + 16);
    if (block == NULL) {
        return NULL;
    }
    *block = bytes;
    taken += bytes;
    most = taken > most ? taken : most;
    return block + 2;
}

static void *host_Alloc(size_t bytes)
{
    void *block = host_TryAlloc(bytes);
    REQUIRE(block != NULL);
    return block;
}

static void host_Free(void *ptr)
{
    if (ptr != NULL) {
        size_t *block = (size_t *)ptr - 2;
        taken -= *block;
        free(block);
    }
}

static size_t host_MallocSize(void *ptr)
{
    return ((size_t *)ptr)[-2];
}

static size_t host_MallocUsableSize(void *ptr)
{
    return host_MallocSize(ptr);
}

/* ---- strings --------------------------------------------------------------------------------- */

static struct redis_string *string_of(const void *bytes, size_t len)
{
    struct redis_string *s = malloc(sizeof *s);
    REQUIRE(s != NULL);
    s->len = len;
    s->bytes = malloc(len + 1); /* exactly: sanitizers see a step beyond */
    REQUIRE(s->bytes != NULL);
    if (len > 0) {
        memcpy(s->bytes, bytes, len);
    }
    s->bytes[len] = 0;
    return s;
}

static void string_free(struct redis_string *s)
{
    free(s->bytes);
    free(s);
}

static struct redis_string *host_CreateString(struct redis_ctx *c, const char *bytes, size_t len)
{
    (void)c;
    return string_of(bytes, len);
}

static void host_FreeString(struct redis_ctx *c, struct redis_string *s)
{
    (void)c;
    string_free(s);
}

static const char *host_StringPtrLen(const struct redis_string *s, size_t *len)
{
    *len = s->len;
    return s->bytes;
}

/* ---- replies: exactly one, complete ---------------------------------------------------------- */

static struct {
    long want; /* -1: told later */
    long got;
} levels[16];
static size_t depth;

static unsigned char *kept; /* the largest string of a reply */
static size_t kept_len;

static int replied(void)
{
    levels[depth].got++;
    while (depth > 0 && levels[depth].want >= 0 && levels[depth].got == levels[depth].want) {
        depth--;
        levels[depth].got++;
    }
    return REDIS_OK;
}

static int open_level(long want)
{
    if (want == 0) {
        return replied();
    }
    REQUIRE(depth + 1 < sizeof levels / sizeof *levels);
    depth++;
    levels[depth].want = want;
    levels[depth].got = 0;
    return REDIS_OK;
}

static void close_level(long want)
{
    REQUIRE(depth > 0 && levels[depth].want == -1 && levels[depth].got == want);
    depth--;
    (void)replied();
}

static int host_ReplyWithLongLong(struct redis_ctx *c, long long value)
{
    (void)c;
    (void)value;
    return replied();
}
static int host_ReplyWithDouble(struct redis_ctx *c, double value)
{
    (void)c;
    (void)value;
    return replied();
}
static int host_ReplyWithBool(struct redis_ctx *c, int value)
{
    (void)c;
    REQUIRE(value == 0 || value == 1);
    return replied();
}
static int host_ReplyWithNull(struct redis_ctx *c)
{
    (void)c;
    return replied();
}
static int host_ReplyWithError(struct redis_ctx *c, const char *text)
{
    (void)c;
    REQUIRE(strlen(text) > 3 && strpbrk(text, "\r\n") == NULL);
    (void)snprintf(failure, sizeof failure, "%s", text);
    return replied();
}
static int host_ReplyWithSimpleString(struct redis_ctx *c, const char *text)
{
    (void)c;
    REQUIRE(strlen(text) > 0);
    return replied();
}
static int host_ReplyWithCString(struct redis_ctx *c, const char *text)
{
    (void)c;
    REQUIRE(strlen(text) < 10000);
    return replied();
}
static int host_ReplyWithStringBuffer(struct redis_ctx *c, const char *bytes, size_t len)
{
    (void)c;
    if (len > 0) {
        kept = realloc(kept, len);
        REQUIRE(kept != NULL);
        memcpy(kept, bytes, len);
    }
    kept_len = len;
    return replied();
}
static int host_ReplyWithString(struct redis_ctx *c, struct redis_string *s)
{
    return host_ReplyWithStringBuffer(c, s->bytes, s->len);
}
static int host_ReplyWithArray(struct redis_ctx *c, long len)
{
    (void)c;
    return open_level(len);
}
static int host_ReplyWithMap(struct redis_ctx *c, long len)
{
    (void)c;
    return open_level(len < 0 ? len : 2 * len);
}
static void host_ReplySetArrayLength(struct redis_ctx *c, long len)
{
    (void)c;
    close_level(len);
}
static void host_ReplySetMapLength(struct redis_ctx *c, long len)
{
    (void)c;
    close_level(2 * len);
}
static int host_WrongArity(struct redis_ctx *c)
{
    return host_ReplyWithError(c, "ERR wrong number of arguments");
}

/* ---- keys ------------------------------------------------------------------------------------ */

static struct place *find_place(const struct redis_string *name, int make)
{
    struct place *empty = NULL;
    for (size_t i = 0; i < KEYS; i++) {
        struct place *p = &places[i];
        if (p->name != NULL && p->len == name->len && memcmp(p->name, name->bytes, p->len) == 0) {
            return p;
        }
        empty = p->name == NULL ? p : empty;
    }
    if (!make || empty == NULL) {
        return NULL;
    }
    empty->len = name->len;
    empty->name = malloc(name->len + 1);
    REQUIRE(empty->name != NULL);
    memcpy(empty->name, name->bytes, name->len);
    empty->value = NULL;
    return empty;
}

static void clear_place(struct place *p)
{
    if (p->value != NULL) {
        type.methods.free(p->value);
    }
    free(p->name);
    memset(p, 0, sizeof *p);
}

static struct redis_key *host_OpenKey(struct redis_ctx *c, struct redis_string *name, int mode)
{
    (void)c;
    struct place *at = find_place(name, (mode & REDIS_WRITE) != 0);
    if (at == NULL) {
        REQUIRE((mode & REDIS_WRITE) == 0); /* no more names than places */
        return NULL;
    }
    struct redis_key *key = malloc(sizeof *key);
    REQUIRE(key != NULL);
    key->at = at;
    return key;
}

static void host_CloseKey(struct redis_key *key)
{
    if (key->at->name != NULL && key->at->value == NULL) {
        clear_place(key->at);
    }
    free(key);
}
static int host_KeyType(struct redis_key *key)
{
    return key == NULL || key->at->value == NULL ? REDIS_KEY_EMPTY : 6;
}
static int host_DeleteKey(struct redis_key *key)
{
    type.methods.free(key->at->value);
    key->at->value = NULL;
    return REDIS_OK;
}
static struct redis_type *host_CreateDataType(struct redis_ctx *c, const char *name, int encver,
                                              struct redis_type_methods *methods)
{
    (void)c;
    REQUIRE(strlen(name) == 9 && encver == 1 && methods->version == REDIS_TYPE_METHODS);
    type.methods = *methods;
    return &type;
}
static struct redis_type *host_ModuleTypeGetType(struct redis_key *key)
{
    return key->at->value == NULL ? NULL : &type;
}
static void *host_ModuleTypeGetValue(struct redis_key *key)
{
    return key->at->value;
}
static int host_ModuleTypeSetValue(struct redis_key *key, struct redis_type *t, void *value)
{
    REQUIRE(t == &type && key->at->value == NULL);
    key->at->value = value;
    return REDIS_OK;
}

/* ---- saving and loading ---------------------------------------------------------------------- */

static void io_put(struct redis_io *io, const void *bytes, size_t len)
{
    REQUIRE(len <= STREAM - io->len);
    memcpy(io->bytes + io->len, bytes, len);
    io->len += len;
}

static int io_get(struct redis_io *io, void *bytes, size_t len)
{
    if (io->error || len > io->len - io->at) {
        io->error = 1;
        return 0;
    }
    memcpy(bytes, io->bytes + io->at, len);
    io->at += len;
    return 1;
}

static void host_SaveUnsigned(struct redis_io *io, uint64_t value)
{
    io_put(io, &value, sizeof value);
}
static uint64_t host_LoadUnsigned(struct redis_io *io)
{
    uint64_t value = 0;
    return io_get(io, &value, sizeof value) ? value : 0;
}
static void host_SaveStringBuffer(struct redis_io *io, const char *bytes, size_t len)
{
    host_SaveUnsigned(io, len);
    io_put(io, bytes, len);
}
static char *host_LoadStringBuffer(struct redis_io *io, size_t *len)
{
    uint64_t want = host_LoadUnsigned(io);
    if (io->error || want > io->len - io->at) {
        io->error = 1;
        return NULL;
    }
    char *bytes = host_Alloc(want > 0 ? want : 1);
    (void)io_get(io, bytes, want);
    *len = want;
    return bytes;
}
static int host_IsIOError(struct redis_io *io)
{
    return io->error;
}
static const struct redis_string *host_GetKeyNameFromIO(struct redis_io *io)
{
    (void)io;
    return NULL;
}
static int host_GetDbIdFromIO(struct redis_io *io)
{
    (void)io;
    return 0;
}
static void host_LogIOError(struct redis_io *io, const char *level, const char *format, ...)
{
    (void)io;
    (void)level;
    REQUIRE(strlen(format) > 0);
}
static void host_Log(struct redis_ctx *c, const char *level, const char *format, ...)
{
    (void)c;
    (void)level;
    REQUIRE(strlen(format) > 0);
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void host_SetModuleAttribs(struct redis_ctx *c, const char *name, int version, int api)
{
    (void)c;
    REQUIRE(strcmp(name, "tepal") == 0 && version > 0 && api == 1);
}
static int host_IsModuleNameBusy(const char *name)
{
    (void)name;
    return 0;
}
static void host_SetModuleOptions(struct redis_ctx *c, int options)
{
    (void)c;
    REQUIRE(options == REDIS_HANDLE_IO_ERRORS);
}
static int host_CreateCommand(struct redis_ctx *c, const char *name, redis_run *run,
                              const char *flags, int first, int last, int step)
{
    (void)c;
    (void)last;
    REQUIRE(strstr(flags, "write") != NULL || strstr(flags, "readonly") != NULL);
    REQUIRE((first == 0) == (step == 0));
    REQUIRE(command_count < sizeof commands / sizeof *commands);
    commands[command_count].name = name;
    commands[command_count++].run = run;
    return REDIS_OK;
}
static struct redis_command *host_GetCommand(struct redis_ctx *c, const char *name)
{
    static struct redis_command one;
    (void)c;
    (void)name;
    return &one;
}
static int host_SetCommandInfo(struct redis_command *command, const struct redis_command_info *info)
{
    (void)command;
    REQUIRE(info->summary != NULL && info->arity != 0);
    return REDIS_OK;
}
static int host_SetCommandACLCategories(struct redis_command *command, const char *categories)
{
    (void)command;
    (void)categories;
    return REDIS_OK;
}
static int host_GetContextFlags(struct redis_ctx *c)
{
    (void)c;
    return REDIS_IN_MASTER;
}
static int host_GetSelectedDb(struct redis_ctx *c)
{
    (void)c;
    return 0;
}
static int host_SelectDb(struct redis_ctx *c, int db)
{
    (void)c;
    return db == 0 ? REDIS_OK : REDIS_ERR;
}
static int host_Replicate(struct redis_ctx *c, const char *command, const char *format, ...)
{
    (void)c;
    REQUIRE(strlen(command) > 0 && strlen(format) > 0);
    replicated++;
    return REDIS_OK;
}
static int host_ReplicateVerbatim(struct redis_ctx *c)
{
    (void)c;
    replicated++;
    return REDIS_OK;
}
static void host_EmitAOF(struct redis_io *io, const char *command, const char *format, ...)
{
    (void)io;
    REQUIRE(strlen(command) > 0 && strlen(format) > 0);
}
static void host_DigestAddStringBuffer(struct redis_digest *d, const char *bytes, size_t len)
{
    (void)d;
    REQUIRE(bytes != NULL || len == 0);
}
static void host_DigestAddLongLong(struct redis_digest *d, long long value)
{
    (void)d;
    (void)value;
}
static void host_DigestEndSequence(struct redis_digest *d)
{
    (void)d;
}
static int host_NotifyKeyspaceEvent(struct redis_ctx *c, int kind, const char *event,
                                    struct redis_string *key)
{
    (void)c;
    (void)kind;
    REQUIRE(strlen(event) > 0 && key != NULL);
    return REDIS_OK;
}
static int host_RegisterInfoFunc(struct redis_ctx *c, redis_info *tell)
{
    (void)c;
    struct redis_info_ctx none;
    tell(&none, 0);
    return REDIS_OK;
}
static int host_InfoAddSection(struct redis_info_ctx *c, const char *name)
{
    (void)c;
    (void)name;
    return REDIS_OK;
}
static int host_InfoAddFieldULongLong(struct redis_info_ctx *c, const char *name,
                                      unsigned long long value)
{
    (void)c;
    (void)name;
    (void)value;
    return REDIS_OK;
}
static int host_InfoAddFieldCString(struct redis_info_ctx *c, const char *name, const char *value)
{
    (void)c;
    (void)name;
    (void)value;
    return REDIS_OK;
}
static struct redis_server_info *host_GetServerInfo(struct redis_ctx *c, const char *section)
{
    static struct redis_server_info info;
    (void)c;
    (void)section;
    return &info;
}
static void host_FreeServerInfo(struct redis_ctx *c, struct redis_server_info *info)
{
    (void)c;
    (void)info;
}
static unsigned long long host_ServerInfoGetFieldUnsigned(struct redis_server_info *info,
                                                          const char *field, int *error)
{
    (void)info;
    (void)field;
    *error = 0;
    return 0;
}
static int host_AvoidReplicaTraffic(void)
{
    return below(4) == 0;
}
static long long host_Milliseconds(void)
{
    return clock_now;
}
static uint64_t host_CreateTimer(struct redis_ctx *c, long long period, redis_timer *call,
                                 void *data)
{
    (void)c;
    (void)data;
    REQUIRE(period > 0);
    timer = call;
    return 1;
}
static void host_GetRandomBytes(unsigned char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bytes[i] = (unsigned char)draw();
    }
}
static int host_RegisterNumericConfig(struct redis_ctx *c, const char *name, long long value,
                                      unsigned flags, long long least, long long top,
                                      redis_get_number *get, redis_set_number *set,
                                      redis_apply *apply, void *data)
{
    struct redis_string *error = NULL;
    (void)c;
    (void)flags;
    (void)apply;
    REQUIRE(least <= value && value <= top && get(name, data) == value);
    return set(name, value, data, &error);
}
static int host_RegisterStringConfig(struct redis_ctx *c, const char *name, const char *value,
                                     unsigned flags, redis_get_string *get, redis_set_string *set,
                                     redis_apply *apply, void *data)
{
    (void)c;
    (void)name;
    (void)value;
    (void)flags;
    (void)get;
    (void)set;
    (void)apply;
    (void)data;
    return REDIS_OK;
}
static int host_RegisterBoolConfig(struct redis_ctx *c, const char *name, int value, unsigned flags,
                                   redis_get_bool *get, redis_set_bool *set, redis_apply *apply,
                                   void *data)
{
    (void)c;
    (void)flags;
    (void)set;
    (void)apply;
    REQUIRE(get(name, data) == value);
    return REDIS_OK;
}
static int host_LoadConfigs(struct redis_ctx *c)
{
    (void)c;
    return REDIS_OK;
}

static int find_call(const char *name, void *to)
{
#define HOST_CALL(type, call, arguments)                                                           \
    if (strcmp(name, "RedisModule_" #call) == 0) {                                                 \
        type(*function) arguments = host_##call;                                                   \
        memcpy(to, &function, sizeof function);                                                    \
        return REDIS_OK;                                                                           \
    }
    REDIS_CALLS(HOST_CALL, HOST_CALL)
#undef HOST_CALL
    return REDIS_ERR;
}

/* ---- commands -------------------------------------------------------------------------------- */

/* Runs a command of strings, which are freed; true unless the reply was an error. */
static bool run(struct redis_string **argv, int argc)
{
    bool known = false;
    levels[0].want = 1;
    levels[0].got = 0;
    failure[0] = 0;
    for (size_t i = 0; i < command_count; i++) {
        if (strcasecmp(commands[i].name, argv[0]->bytes) == 0) {
            known = true;
            REQUIRE(commands[i].run(&ctx, argv, argc) == REDIS_OK);
        }
    }
    REQUIRE(known && depth == 0 && levels[0].got == 1);
    for (int i = 0; i < argc; i++) {
        string_free(argv[i]);
    }
    return failure[0] == 0;
}

/* The same from text, with `%` for the bytes that follow the format. */
static bool say(const char *format, const void *bytes, size_t len)
{
    struct redis_string *argv[ARGS];
    int argc = 0;
    while (*format != 0) {
        size_t word = strcspn(format, " ");
        argv[argc++] =
            word == 1 && *format == '%' ? string_of(bytes, len) : string_of(format, word);
        format += word + (format[word] == ' ');
    }
    return run(argv, argc);
}

static void flush(void)
{
    for (size_t i = 0; i < KEYS; i++) {
        if (places[i].name != NULL) {
            clear_place(&places[i]);
        }
    }
}

/* What was accepted is whole, and stays so. */
static void use(const char *key)
{
    static const char *const more[] = {"TEPAL.INFO %s FULL",   "TEPAL.EXISTS %s x",
                                       "TEPAL.CARD %s",        "TEPAL.MEXISTS %s a b c d e f",
                                       "TEPAL.ADD %s x",       "TEPAL.MADD %s a b c d e f g h",
                                       "TEPAL.REM %s x",       "TEPAL.MREM %s a b z",
                                       "TEPAL.SEEN %s x",      "TEPAL.MSEEN %s a b NOW 99999999999",
                                       "TEPAL.AVOID %s q r",   "TEPAL.MERGE other %s",
                                       "TEPAL.MERGE %s other", "TEPAL.INTERSECT %s other",
                                       "TEPAL.GET %s",         "TEPAL.GET %s 100 1000",
                                       "BF.ADD %s x",          "BF.INFO %s",
                                       "BF.DEBUG %s",          "CF.ADD %s y",
                                       "CF.INFO %s",           "CF.COUNT %s y",
                                       "CF.DEL %s y",          "CF.SCANDUMP %s 0",
                                       "BF.SCANDUMP %s 1"};
    char text[100];
    (void)snprintf(text, sizeof text, "TEPAL.VERIFY %s", key);
    REQUIRE(say(text, NULL, 0));
    for (int i = 0; i < 4; i++) {
        char line[100];
        (void)snprintf(line, sizeof line, more[below(sizeof more / sizeof *more)], key);
        (void)say(line, NULL, 0);
        REQUIRE(say(text, NULL, 0));
    }
    struct place *p = NULL;
    struct redis_string *name = string_of(key, strlen(key));
    p = find_place(name, 0);
    string_free(name);
    struct redis_digest digest;
    type.methods.digest(&digest, p->value);
    REQUIRE(type.methods.mem_usage(p->value) > 0);
    REQUIRE(type.methods.free_effort(NULL, p->value) > 0);
    void *copy = type.methods.copy(NULL, NULL, p->value);
    if (copy != NULL) {
        type.methods.free(copy);
    }
}

/* ---- payloads -------------------------------------------------------------------------------- */

#define SEEDS 24

static struct {
    unsigned char *bytes;
    size_t len;
} seeds[SEEDS];
static size_t seed_count;

static const char *const makers[] = {
    "TEPAL.RESERVE k KEYS 600 FP 0.02 KIND bloom LAYOUT flat SEED 1",
    "TEPAL.RESERVE k KEYS 600 FP 0.02 KIND bloom LAYOUT blocked SEED 1",
    "TEPAL.RESERVE k KEYS 600 FP 0.02 KIND bloom LAYOUT paired SEED 1",
    "TEPAL.RESERVE k KEYS 600 FP 0.02 KIND bloom LAYOUT partitioned SEED 1",
    "TEPAL.RESERVE k KEYS 600 FP 0.05 FN 0.1 KIND bloom SEED 1",
    "TEPAL.RESERVE k KEYS 600 FP 0.1 UNTRUSTED KIND generalized SEED 1",
    "TEPAL.RESERVE k KEYS 600 FP 0.02 DELETES KIND counting SEED 1",
    "TEPAL.RESERVE k KEYS 600 FP 0.02 DELETES KIND fingerprint SEED 1",
    "TEPAL.RESERVE k KEYS 600 FP 0.02 ENDLESS KIND recycling SEED 1",
    "TEPAL.RESERVE k KEYS 600 FP 0.02 WINDOW 60 SEED 1",
    "TEPAL.RESERVE k KEYS 3000 FP 0.02 GROW KIND growing SEED 1",
    "TEPAL.RESERVE k KEYS 3000 FP 0.02 GROW KIND chain SEED 1",
    "BF.RESERVE k 0.01 20",
    "CF.RESERVE k 64 BUCKETSIZE 4",
};

static void make_seeds(void)
{
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        REQUIRE(say(makers[i], NULL, 0));
        for (int n = 0; n < 100; n++) {
            char line[100];
            (void)snprintf(line, sizeof line, "TEPAL.MADD k a%d b%d c%d d%d", n, n, n, n);
            REQUIRE(say(line, NULL, 0));
        }
        for (int n = 0; n < 30 && i == 10; n++) { /* the exact table of a growing filter */
            REQUIRE(say("TEPAL.ADD k often", NULL, 0));
        }
        REQUIRE(say("TEPAL.GET k", NULL, 0));
        seeds[seed_count].bytes = malloc(kept_len);
        REQUIRE(seeds[seed_count].bytes != NULL);
        memcpy(seeds[seed_count].bytes, kept, kept_len);
        seeds[seed_count++].len = kept_len;
        flush();
    }
}

static uint64_t get64(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static void put64(unsigned char *p, uint64_t v)
{
    memcpy(p, &v, sizeof v);
}

/* Makes all checksums right, as far as the lengths allow (docs/format.md; little-endian hosts). */
static void seal(unsigned char *bytes, size_t len)
{
    if (len < 256) {
        return;
    }
    uint64_t payload = get64(bytes + 200);
    put64(bytes + 248, XXH3_64bits(bytes, 248));
    if (payload > len - 256) {
        return;
    }
    for (uint64_t block = 0; block * 65536 < payload; block++) {
        uint64_t at = 256 + payload + 8 * block;
        uint64_t here = payload - block * 65536 < 65536 ? payload - block * 65536 : 65536;
        if (at + 8 <= len) {
            put64(bytes + at, XXH3_64bits_withSeed(bytes + 256 + block * 65536, here, block));
        }
    }
}

static uint64_t strange(void)
{
    static const uint64_t values[] = {0,     1,     2,        7,          8,          63,
                                      64,    65,    255,      256,        511,        512,
                                      65535, 65536, 1u << 20, UINT32_MAX, UINT64_MAX, INT64_MAX};
    switch (below(4)) {
    case 0:
        return (uint64_t)1 << below(64);
    case 1:
        return draw();
    case 2:
        return below(100);
    default:
        return values[below(sizeof values / sizeof *values)];
    }
}

static unsigned char *mutate(size_t *len)
{
    size_t which = below(seed_count);
    size_t room = seeds[which].len + 256;
    unsigned char *bytes = malloc(room);
    REQUIRE(bytes != NULL);
    memset(bytes, 0, room);
    *len = seeds[which].len;
    memcpy(bytes, seeds[which].bytes, *len);
    for (uint64_t n = below(4); n-- > 0;) {
        switch (below(6)) {
        case 0:
            bytes[below(*len)] ^= (unsigned char)(1u << below(8));
            break;
        case 1:
            put64(bytes + 8 * below(31), strange());
            break;
        case 2:
            bytes[8 + below(24)] = (unsigned char)strange();
            break;
        case 3:
            put64(bytes + 72 + 8 * below(16), get64(bytes + 72 + 8 * below(16)) + below(3) - 1);
            break;
        case 4:
            if (*len > 300) {
                put64(bytes + 256 + 8 * below((*len - 256) / 8), strange());
            }
            break;
        default:
            *len = below(8) == 0 ? below(*len) : *len + below(2) * below(64);
            break;
        }
        if (*len < 8) {
            break;
        }
    }
    if (below(5) > 0) {
        seal(bytes, *len);
    }
    return bytes;
}

/* ---- what is done with them ------------------------------------------------------------------ */

static bool by_set(const unsigned char *bytes, size_t len)
{
    static const char *const forms[] = {
        "TEPAL.SET k %", "TEPAL.SET k % MAXFP 0.05", "TEPAL.SET k % DIALECT 1 0 0 0 0",
        "TEPAL.SET k % DIALECT 2 4 2 20 1", "TEPAL.SET k % DIALECT 2 4 0 20 1"};
    return say(forms[below(sizeof forms / sizeof *forms)], bytes, len);
}

static bool by_parts(const unsigned char *bytes, size_t len)
{
    size_t at = 0;
    bool taken_all = false;
    while (at < len) {
        size_t here = 1 + below(len - at < 700 ? len - at : 700);
        char line[100];
        uint64_t total = below(50) == 0 ? strange() : len;
        (void)snprintf(line, sizeof line, "TEPAL.PART k id %zu %llu %%", at,
                       (unsigned long long)total);
        if (!say(line, bytes + at, here)) {
            break;
        }
        at += here;
        taken_all = at == len && total == len;
        if (below(20) == 0) { /* saved and loaded in between */
            struct redis_string *name = string_of("k", 1);
            struct place *p = find_place(name, 0);
            string_free(name);
            static struct redis_io io;
            io.len = io.at = 0;
            io.error = 0;
            type.methods.rdb_save(&io, p->value);
            void *again = type.methods.rdb_load(&io, 1);
            REQUIRE(again != NULL && io.at == io.len);
            type.methods.aof_rewrite(&io, NULL, p->value);
            type.methods.free(p->value);
            p->value = again;
            most = taken; /* saving has buffers of its own */
        }
    }
    return taken_all;
}

static bool by_chunks(const unsigned char *bytes, size_t len)
{
    unsigned char header[80] = "tepal-dump-1\n";
    struct tepal_hasher hasher;
    bool bf = below(2) == 0;
    put64(header + 16, len);
    put64(header + 24, bf ? 1 : 2);
    put64(header + 32, 64);
    put64(header + 40, below(10) == 0 ? strange() : 2);
    if (below(10) == 0) {
        put64(header + 8 * below(8), strange());
    }
    tepal_hasher_init(0, &hasher);
    struct tepal_digest sum = tepal_hash_bytes(&hasher, header, 64);
    put64(header + 64, sum.lo);
    put64(header + 72, below(50) == 0 ? strange() : sum.hi);
    if (!say(bf ? "BF.LOADCHUNK k 1 %" : "CF.LOADCHUNK k 1 %", header, sizeof header)) {
        return false;
    }
    size_t half = below(len + 1);
    for (int i = 0; i < 2; i++) {
        char line[100];
        uint64_t iterator = below(30) == 0 ? strange() & INT64_MAX : 1 + (i == 0 ? half : len);
        (void)snprintf(line, sizeof line, "%s.LOADCHUNK k %llu %%", bf ? "BF" : "CF",
                       (unsigned long long)iterator);
        bool right = i == 0 ? say(line, bytes, half) : say(line, bytes + half, len - half);
        if (!right) {
            return false;
        }
        if (iterator != 1 + (i == 0 ? half : len)) {
            return false;
        }
    }
    return true;
}

/* RESTORE: the value as it is saved, with this filter in it. */
static bool by_restore(const unsigned char *bytes, size_t len)
{
    static struct redis_io io;
    io.len = io.at = 0;
    io.error = 0;
    host_SaveUnsigned(&io, below(20) == 0 ? strange() : 1);
    uint64_t dialect = below(3);
    host_SaveUnsigned(&io, dialect);
    for (int i = 0; i < 4; i++) {
        host_SaveUnsigned(&io, below(30) == 0 ? strange() : 2);
    }
    host_SaveUnsigned(&io, below(20) == 0 ? strange() : len);
    for (size_t at = 0; at < len;) {
        size_t here = below(5) == 0 ? 1 + below(len - at) : len - at;
        host_SaveStringBuffer(&io, (const char *)bytes + at, here);
        at += here;
    }
    if (below(10) == 0) {
        io.len = below(io.len);
    }
    if (below(10) == 0) {
        io.bytes[below(io.len < 100 ? io.len + 1 : 100)] ^= (unsigned char)draw();
    }
    void *value = type.methods.rdb_load(&io, below(50) == 0 ? 2 : 1);
    if (value == NULL) {
        return false;
    }
    struct redis_string *name = string_of("k", 1);
    find_place(name, 1)->value = value;
    string_free(name);
    return true;
}

static uint64_t payloads(uint64_t count)
{
    static bool (*const ways[])(const unsigned char *, size_t) = {by_set, by_parts, by_chunks,
                                                                  by_restore};
    uint64_t accepted = 0;
    for (uint64_t i = 0; i < count; i++) {
        size_t len;
        unsigned char *bytes = mutate(&len);
        if (below(3) == 0) {
            REQUIRE(say("TEPAL.RESERVE other KEYS 600 FP 0.02 SEED 1", NULL, 0));
        }
        size_t before = taken;
        most = taken;
        if (ways[below(4)](bytes, len)) {
            accepted++;
            REQUIRE(most - before < 2 * LIMIT); /* the filter, and what it came in */
            struct redis_string *name = string_of("k", 1);
            struct place *p = find_place(name, 0);
            string_free(name);
            if (p != NULL && say("TEPAL.CARD k", NULL, 0)) {
                use("k");
            }
        }
        REQUIRE(most - before < 8 * LIMIT);
        free(bytes);
        if (below(100) == 0) {
            clock_now += 100000;
            timer(&ctx, NULL);
        }
        flush();
        clock_now += 1;
    }
    clock_now += 100000;
    timer(&ctx, NULL);
    return accepted;
}

/* ---- random words ---------------------------------------------------------------------------- */

static void random_command(void)
{
    static const char *const words[] = {
        "k",         "j",        "other",      "KEYS",       "FP",
        "FN",        "MEMORY",   "KIND",       "LAYOUT",     "DELETES",
        "ENDLESS",   "WINDOW",   "UNTRUSTED",  "GROW",       "KEYED",
        "SEED",      "PARAMS",   "RECEIPT",    "NORECEIPT",  "NOW",
        "NX",        "XX",       "MAXFP",      "GENERATION", "CANCEL",
        "FULL",      "DIALECT",  "ITEMS",      "CAPACITY",   "ERROR",
        "EXPANSION", "NOCREATE", "NONSCALING", "BUCKETSIZE", "MAXITERATIONS",
        "bloom",     "counting", "growing",    "chain",      "recycling",
        "flat",      "blocked",  "0.01",       "0.5",        "1e-9",
        "-1",        "nan",      "1e400",      "",           "100",
        "1000",      "a",        "b",          "c"};
    struct redis_string *argv[ARGS];
    int argc = 0;
    const char *name = commands[below(command_count)].name;
    argv[argc++] = string_of(name, strlen(name));
    for (uint64_t n = below(12); n-- > 0;) {
        char number[32];
        if (below(4) == 0) {
            (void)snprintf(number, sizeof number, "%llu", (unsigned long long)strange());
            argv[argc++] = string_of(number, strlen(number));
        } else if (below(10) == 0) {
            uint64_t bits = draw();
            argv[argc++] = string_of(&bits, below(9));
        } else {
            /* names of keys are few: the host has few places */
            const char *word =
                argc == 1 ? words[below(3)] : words[below(sizeof words / sizeof *words)];
            argv[argc++] = string_of(word, strlen(word));
        }
    }
    if (argc > 1) { /* a key that there is room for */
        const char *word = words[below(3)];
        string_free(argv[1]);
        argv[1] = string_of(word, strlen(word));
    }
    (void)run(argv, argc);
    if (below(20) == 0) {
        flush();
    }
}

int main(int argc, char **argv)
{
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    char limit[24];
    (void)snprintf(limit, sizeof limit, "%zu", LIMIT);
    struct redis_string *settings[] = {string_of("compat", 6), string_of("yes", 3),
                                       string_of("max-filter-bytes", 16),
                                       string_of(limit, strlen(limit))};
    ctx.find = find_call;
    REQUIRE(RedisModule_OnLoad(&ctx, settings, 4) == REDIS_OK && command_count > 40);
    for (int i = 0; i < 4; i++) {
        string_free(settings[i]);
    }
    make_seeds();
    size_t before = taken;
    uint64_t accepted = payloads(count);
    REQUIRE(accepted > count / 20 && accepted < count); /* neither all nor nothing gets in */
    for (uint64_t i = 0; i < count; i++) {
        random_command();
    }
    flush();
    clock_now += 100000;
    timer(&ctx, NULL);
    REQUIRE(taken == before); /* all is given back */
    for (size_t i = 0; i < seed_count; i++) {
        free(seeds[i].bytes);
    }
    free(kept);
    printf("%llu payloads, %llu accepted; 1 passed, 0 failed\n", (unsigned long long)count,
           (unsigned long long)accepted);
    return 0;
}
