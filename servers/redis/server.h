/*
 * server.h: what the files of the module share. Which does what:
 *
 *   module.c    the entry point: settings, type, commands
 *   settings.c  the settings, and the secret keys that a file holds
 *   limits.c    memory: may it be taken, and from where
 *   value.c     what is at a key: a filter, and perhaps parts of its successor
 *   staged.c    filters that arrive in parts
 *   type.c      what the server does with a value: save, load, copy, free, measure
 *   commands.c  the table of commands
 *   args.c      words and numbers of a command; reply.c  answers and errors
 *   wish.c      RESERVE, PLAN       items.c     ADD, EXISTS, REM, SEEN, AVOID and their batches
 *   combine.c   MERGE, INTERSECT    transfer.c  SET, GET, PART
 *   compat.c    what BF.* (compat_bf.c) and CF.* (compat_cf.c) share
 *   facts.c     INFO, CARD, VERIFY, KINDS, and the section of the server's INFO
 */
#ifndef TEPAL_REDIS_SERVER_H
#define TEPAL_REDIS_SERVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <tepal/tepal.h>

#include "module.h"

/* ---- settings.c ------------------------------------------------------------------------------ */

struct settings {
    bool compat;               /* BF.* and CF.* */
    uint64_t max_filter_bytes; /* that one filter may take */
    uint64_t part_timeout;     /* milliseconds, after which an abandoned transfer is dropped */
};

extern struct settings settings;

/* Module arguments: NAME VALUE pairs. NULL, or what is wrong with them. */
const char *settings_arguments(struct redis_string **argv, int argc);
int settings_register(struct redis_ctx *ctx);

/* Gives a keyed filter its key, if the file of keys has it. */
enum tepal_status settings_unlock(struct tepal_filter *filter);
/* The key for new keyed filters: the first of the file; NULL if there is none. */
const uint8_t *settings_secret(void);

/* ---- limits.c -------------------------------------------------------------------------------- */

/* What this module did, for INFO. Freeing happens in other threads too. */
struct counts {
    _Atomic uint64_t filters;
    _Atomic uint64_t bytes;
    _Atomic uint64_t transfers; /* under way */
    uint64_t refused_memory;    /* for want of memory, or by the limit */
    uint64_t refused_bytes;     /* SET, PART, RESTORE: bytes that were not a sound filter */
    uint64_t expired;           /* transfers that were abandoned */
};

extern struct counts counts;

/*
 * Whose command is being run: what comes from a master, from the disk or from a timer (NULL) is
 * not refused for what the operator set, only if this machine cannot hold it.
 */
void limits_begin(struct redis_ctx *ctx);

/*
 * May so many bytes be taken for a filter? If not, limits_why says why, counted as a refusal. The
 * server's own check (deny-oom) looks before a command and knows nothing of what it will take.
 */
bool limits_allow(uint64_t bytes);
const char *limits_why(void);

/* The most bytes that an encoded filter may have now; 0: any number. */
uint64_t limits_encoded(void);

/* Once, when the module is loaded: how does the server's allocator align? */
void limits_probe(void);

/* Memory of the server, tallied in *taken as what was really taken; refuses as limits_allow. */
struct tepal_allocator limits_allocator(size_t *taken);

/* ---- value.c --------------------------------------------------------------------------------- */

enum dialect { DIALECT_TEPAL = 0, DIALECT_BF = 1, DIALECT_CF = 2 };

#define NOTES 4

/* A filter, what it takes, and what BF and CF commands want to be told again. */
struct held {
    struct tepal_filter *filter;
    size_t taken;
    uint64_t dialect; /* enum dialect */
    uint64_t notes[NOTES];
};

struct held *held_new(void);
void held_free(struct held *held);
struct tepal_allocator held_allocator(struct held *held);
struct held *held_clone(const struct held *held, struct tepal_error *error);
/* What does not fit together in it (a dialect of another kind); NULL: nothing. */
const char *held_flaw(const struct held *held);
/* All bytes have come: the filter, with its key. NULL, or why not. */
const char *held_finish(struct held *held, struct tepal_decoder *decoder);

/* A filter that arrives in parts. */
#define PART_ID 64

struct staged {
    struct held *held; /* where it will be */
    struct tepal_decoder *decoder;
    uint64_t serial;  /* of this process: no other transfer has it */
    char id[PART_ID]; /* given by who sends it */
    size_t id_len;
    uint64_t total;
    uint64_t have;
    long long latest;    /* when the latest part came, in milliseconds */
    uint8_t header[256]; /* as it came, and so did the sums; the decoder has the rest */
    uint8_t *sums;
    uint64_t sums_at;
};

struct value {
    struct held *held; /* NULL: only parts have come */
    struct staged *staged;
    uint64_t generation; /* changes whenever the filter does, and never repeats */
};

/* Nothing of `total` bytes has come. NULL: limits_why says why. */
struct staged *staged_new(const char *id, size_t id_len, uint64_t total);
/* The next bytes. NULL, or why not: then nothing can follow. */
const char *staged_feed(struct staged *staged, const char *bytes, size_t len);
/* What has come, from `at` on: at least a byte of it, at most `room`. */
size_t staged_range(const struct staged *staged, uint64_t at, char *bytes, size_t room);
size_t staged_memory(const struct staged *staged);
void staged_free(struct staged *staged);

struct value *value_new(struct held *held);
void value_free(struct value *value);
void value_changed(struct value *value);

extern struct redis_type *value_type;

/*
 * The value at a key. Reading and writing need a filter that is whole; `any` also takes one that is
 * still arriving.
 */
enum access { ACCESS_READ, ACCESS_WRITE, ACCESS_ANY };
struct opened {
    struct redis_key *key;
    struct value *value; /* NULL: absent */
};
/* False: an error was replied, and nothing is open. */
bool value_open(struct redis_ctx *ctx, struct redis_string *name, enum access access,
                struct opened *out);
/* The same, and a key that is not there is an error. */
bool value_open_existing(struct redis_ctx *ctx, struct redis_string *name, enum access access,
                         struct opened *out);
void value_close(struct opened *opened);
/* Puts a filter at the key, which is open for writing: a new one, or in place of the old. */
void value_put(struct opened *opened, struct held *held);

/* ---- type.c ---------------------------------------------------------------------------------- */

int type_register(struct redis_ctx *ctx);

/* ---- commands.c ------------------------------------------------------------------------------ */

struct command {
    const char *name;
    redis_run *run;
    int arity; /* negative: at least so many words */
    const char *flags;
    int first, last, step; /* keys */
    unsigned key_flags;
    const char *summary;
    const char *complexity;
    struct redis_arg *args;
};

int commands_register(struct redis_ctx *ctx);

/* ---- args.c, reply.c ------------------------------------------------------------------------- */

struct words {
    struct redis_ctx *ctx;
    struct redis_string **argv;
    int argc;
    int at;
};

bool word_is(const struct redis_string *word, const char *name);
/* Takes the next word if it is this one. */
bool words_take(struct words *words, const char *name);
bool word_u64(const struct redis_string *word, uint64_t *out);
bool word_real(const struct redis_string *word, double *out);
/* The word as a C string of at most `room` - 1 characters; false if it is longer or has a 0. */
bool word_text(const struct redis_string *word, char *text, size_t room);

int reply_error(struct redis_ctx *ctx, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* An error of the library; `why` NULL: the message of the status. */
int reply_status(struct redis_ctx *ctx, enum tepal_status status, const char *why);
void reply_report(struct redis_ctx *ctx, const struct tepal_report *report);
void reply_number(struct redis_ctx *ctx, uint64_t number);

#define WRONG_TYPE "WRONGTYPE Operation against a key holding the wrong kind of value"

/* ---- the commands ---------------------------------------------------------------------------- */

redis_run run_reserve, run_plan;
redis_run run_add, run_madd, run_exists, run_mexists, run_rem, run_mrem, run_seen, run_mseen,
    run_avoid;
/* EXISTS and MEXISTS of keys of a dialect; DIALECT_TEPAL: of any key. */
int answer_exists(struct redis_ctx *ctx, struct redis_string **argv, int argc, enum dialect of);
int answer_mexists(struct redis_ctx *ctx, struct redis_string **argv, int argc, enum dialect of);
/* Does adding a key again change the cells? */
bool filter_counts_repeats(const struct tepal_filter *filter);
redis_run run_merge, run_intersect;
redis_run run_set, run_get, run_part;
redis_run run_bf_reserve, run_bf_add, run_bf_madd, run_bf_insert, run_bf_exists, run_bf_mexists;
redis_run run_bf_info, run_bf_card, run_bf_debug, run_bf_scandump, run_bf_loadchunk;
redis_run run_cf_reserve, run_cf_add, run_cf_addnx, run_cf_insert, run_cf_insertnx, run_cf_exists;
redis_run run_cf_mexists, run_cf_count, run_cf_del, run_cf_info, run_cf_debug, run_cf_compact;
redis_run run_cf_scandump, run_cf_loadchunk;
redis_run run_info, run_card, run_verify, run_kinds;

/* RESERVE in numbers: how every creation is told to replicas and to the append-only file. */
void replicate_create(struct redis_ctx *ctx, struct redis_string *key, const struct held *held,
                      uint64_t budget);

void facts_section(struct redis_info_ctx *ctx, int for_crash_report);

/* Drops abandoned transfers from now on; and this one, if it is abandoned. */
void transfer_watch(struct redis_ctx *ctx);
/* Begins a transfer to an open key, in place of another. */
void transfer_begin(struct redis_ctx *ctx, struct redis_string *name, struct opened *opened,
                    struct staged *staged);
/* All parts are there: their filter takes its place. NULL, or why it does not. */
const char *transfer_end(struct opened *opened);
/* Has it this id? NULL: no. */
bool transfer_is(const struct staged *staged, const char *id, size_t len);
/* Drops what has come of a transfer, and the key if there is nothing else: then it says so. */
void transfer_drop(struct redis_ctx *ctx, struct redis_string *name, struct opened *opened);
void transfer_note(const struct staged *staged, int db, const struct redis_string *key);

#endif
