/*
 * push.c: filters built offline go to a server, in pieces that it stages, checks and swaps in. What
 * it had answers until then.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tepal/file.h>

#include "cli/command.h"
#include "cli/options.h"
#include "files/filter_file.h"
#include "files/packed.h"
#include "output/progress.h"
#include "output/render.h"
#include "output/report.h"
#include "server/part.h"
#include "server/parts.h"
#include "server/servers.h"
#include "system/bytes.h"

#define PIECE ((size_t)4 << 20)
#define ID    32

struct push {
    const struct args *args;
    struct servers *servers;
    struct progress progress;
    struct report report;
    uint64_t parts; /* 0: one filter at its own name */
    char *piece;
};

/* One filter on its way. */
struct transfer {
    const char *path;
    const char *name; /* on the server */
    const struct tepal_filter *filter;
    uint64_t total;
    char id[ID + 1];
};

static int trouble(const struct push *p, const char *name, const char *why)
{
    return args_about(p->args, name, "%s", why);
}

/* The server takes no more of it: it need not wait for the rest. Its answer changes nothing. */
static void cancel(const struct push *p, const struct transfer *t)
{
    struct words words = {.count = 0};
    words_text(&words, "TEPAL.PART");
    words_text(&words, t->name);
    words_text(&words, t->id);
    words_text(&words, "CANCEL");
    redisReply *reply = servers_call(p->servers, &words, true);
    freeReplyObject(reply);
}

/* What a server that did not take a piece means. EXIT_NO: it was told not to. */
static int refused(const struct push *p, const struct transfer *t, const redisReply *reply)
{
    char room[512];
    if (reply->type == REDIS_REPLY_NIL) {
        bool absent = arg(p->args, "if-absent")->given;
        if (!arg(p->args, "quiet")->given) {
            say_line("%s: %s; nothing was changed", say_clean(t->name, room, sizeof room),
                     absent ? "there is a filter already" : "there is no filter to replace");
        }
        return EXIT_NO;
    }
    if (servers_error_is(reply, "NOPART") || servers_error_is(reply, "OFFSET")) {
        return trouble(p, t->name,
                       "the transfer was broken off: another client pushes to the same name, or "
                       "the server dropped the parts (tepal.part-timeout)");
    }
    const char *why = servers_explain(reply, room, sizeof room);
    char *told = strstr(room, "; nothing was changed"); /* which we say ourselves */
    if (why == room && told != NULL) {
        *told = '\0';
    }
    return trouble(p, t->name, why);
}

/*
 * A piece that was sent again, after the connection was lost: had it come the first time? The
 * server then says that it waits for what follows.
 */
static bool had_come(const redisReply *reply, uint64_t next)
{
    char room[64];
    snprintf(room, sizeof room, "OFFSET the next part begins at %" PRIu64, next);
    return reply->type == REDIS_REPLY_ERROR && strcmp(reply->str, room) == 0;
}

/* A piece, and its answer. */
static int send_piece(const struct push *p, const struct transfer *t, uint64_t at, size_t len)
{
    struct words words = {.count = 0};
    char numbers[3][32];
    snprintf(numbers[0], sizeof numbers[0], "%" PRIu64, at);
    snprintf(numbers[1], sizeof numbers[1], "%" PRIu64, t->total);
    words_text(&words, "TEPAL.PART");
    words_text(&words, t->name);
    words_text(&words, t->id);
    words_text(&words, numbers[0]);
    words_text(&words, numbers[1]);
    words_add(&words, p->piece, len);
    if (arg(p->args, "if-absent")->given || arg(p->args, "if-present")->given) {
        words_text(&words, arg(p->args, "if-absent")->given ? "NX" : "XX");
    }
    if (arg(p->args, "max-fp")->given) {
        snprintf(numbers[2], sizeof numbers[2], "%.17g", arg(p->args, "max-fp")->real);
        words_text(&words, "MAXFP");
        words_text(&words, numbers[2]);
    }
    bool last = at + len == t->total;
    redisReply *reply = servers_call(p->servers, &words, !last);
    if (reply == NULL) {
        return last ? say_error("the server may have the new filter or the old one", t->name, "%s",
                                servers_why(p->servers))
                    : trouble(p, t->name, servers_why(p->servers));
    }
    int code = EXIT_YES;
    if (had_come(reply, at + len)) {
        code = EXIT_YES;
    } else if (reply->type != REDIS_REPLY_INTEGER) {
        code = refused(p, t, reply);
        if (at > 0 && !servers_error_is(reply, "REFUSED") && !servers_error_is(reply, "NOPART")) {
            cancel(p, t);
        }
    } else if (reply->integer < 0 || (uint64_t)reply->integer != at + len) {
        code = trouble(p, t->name, "the server has another number of bytes than were sent");
    }
    freeReplyObject(reply);
    return code;
}

static int send_filter(struct push *p, const struct transfer *t)
{
    char done[48];
    char all[48];
    int code = EXIT_YES;
    for (uint64_t at = 0; at < t->total && code == EXIT_YES;) {
        size_t len = t->total - at < PIECE ? (size_t)(t->total - at) : PIECE;
        struct tepal_error error;
        if (tepal_encode_range(t->filter, at, p->piece, len, &error) != TEPAL_OK) {
            return filter_file_fault(p->args->command->stays, t->path, &error);
        }
        code = send_piece(p, t, at, len);
        at += len;
        if (progress_due(&p->progress)) {
            progress_show(&p->progress, (double)at / (double)t->total, "%s: %s of %s", t->name,
                          render_bytes(at, done, sizeof done),
                          render_bytes(t->total, all, sizeof all));
        }
    }
    progress_end(&p->progress);
    return code;
}

static void tell(struct push *p, const struct transfer *t)
{
    char room[96];
    char name[256];
    report_object(&p->report, NULL);
    report_text(&p->report, "file", t->path, JSON_ONLY);
    report_text(&p->report, "key", t->name, JSON_ONLY);
    report_text(&p->report, "kind", tepal_filter_kind(t->filter)->name, JSON_ONLY);
    report_whole(&p->report, "bytes", t->total, JSON_ONLY);
    report_end(&p->report);
    report_say(&p->report, "pushed     %s: %s, %s, checked by the server",
               say_clean(t->name, name, sizeof name), tepal_filter_kind(t->filter)->name,
               render_bytes(t->total, room, sizeof room));
}

static int push_one(struct push *p, const char *path, uint64_t part)
{
    struct transfer t = {.path = filter_file_name(path, false)};
    struct tepal_filter *filter = NULL;
    uint64_t random[2];
    char *name = part_name(arg(p->args, "key")->text, part, p->parts);
    if (name == NULL) {
        return args_no_memory(p->args);
    }
    int code = filter_file_open(p->args, path, FILTER_FILE_VIEW, &filter);
    if (code == EXIT_YES && !bytes_draw(random, sizeof random)) {
        code = trouble(p, "random name of a transfer", strerror(errno));
    }
    if (code == EXIT_YES) {
        t.name = name;
        t.filter = filter;
        t.total = tepal_encoded_bytes(filter);
        snprintf(t.id, sizeof t.id, "%016" PRIx64 "%016" PRIx64, random[0], random[1]);
        code = send_filter(p, &t);
    }
    if (code == EXIT_YES) {
        tell(p, &t);
    }
    tepal_filter_free(filter);
    free(name);
    return code;
}

/* Which filters, to how many parts? */
static int check(const struct args *args, uint64_t *parts)
{
    *parts = arg_whole(args, "parts", 0);
    if (*parts > 0 ? args->operands != *parts : args->operands != 1) {
        return args_error(args,
                          "%zu filters for %" PRIu64 " part%s: a file for each part is needed, in "
                          "their order (--parts)",
                          args->operands, *parts == 0 ? 1 : *parts, *parts < 2 ? "" : "s");
    }
    return filter_file_check_inputs(args, NULL, args->operand, args->operands, "");
}

/* The parts that are there must be as many; a whole filter is none of them. */
static int agree(const struct push *p)
{
    uint64_t parts;
    int code = parts_find(p->args, p->servers, &parts);
    if (code == EXIT_YES && parts != p->parts) {
        code = args_about(p->args, arg(p->args, "key")->text,
                          "the filter of that name has %" PRIu64
                          " parts: give --parts and a file for each",
                          parts);
    }
    return code;
}

static int push_all(struct push *p)
{
    int code = agree(p);
    for (size_t i = 0; i < p->args->operands && code == EXIT_YES; i++) {
        code = push_one(p, p->args->operand[i], i);
    }
    if (code == EXIT_YES && p->parts > 0) {
        code = parts_store(p->args, p->servers, p->parts);
    }
    return code;
}

static int push_run(const struct args *args)
{
    struct login login;
    struct push p = {.args = args};
    char why[WIRE_WHY];
    int code = check(args, &p.parts);
    if (code != EXIT_YES || login_read(args, &login) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    p.piece = malloc(PIECE);
    p.servers = p.piece == NULL ? NULL : servers_open(&login, why);
    if (p.servers == NULL) {
        code = p.piece == NULL ? args_no_memory(args) : args_about(args, login.server, "%s", why);
    } else {
        progress_start(&p.progress, !arg(args, "quiet")->given);
        p.report = report_open(args);
        code = p.report.out == NULL ? EXIT_TROUBLE : push_all(&p);
        code =
            report_close_after(&p.report, code == EXIT_YES ? "the filter was pushed" : NULL, code);
    }
    servers_close(p.servers);
    login_forget(&login);
    free(p.piece);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    LOGIN_OPTIONS,
    FLAG(0, "if-absent", "Push only if there is no filter of that name."),
    FLAG(0, "if-present", "Push only if there is a filter to replace."),
    OPTION('p', "max-fp", OF_VALUE(TAKES_SHARE, "RATE"),
           "The server refuses a filter with a higher false-positive rate."),
    OPTION_PACKED_MOST,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_HELP,
    OPTIONS_END};
static const char *const exclusive[][4] = {{"if-absent", "if-present"}, {NULL}};
static const struct example examples[] = {
    {"tepal push blocked.tepal --server localhost:6379 --key blocked",
     "The filter at the name blocked is replaced by this one."},
    {"tepal push new.tepal --server db:6380 --tls --user ops --password-file pw --key seen",
     "With TLS, as the user ops."},
    {"tepal push part.? --server node:7000 --key big --parts 8",
     "Eight parts, made by split and eight builds."},
    {NULL, NULL}};

const struct command command_push = {
    .name = "push",
    .synopsis = "FILE... --server HOST:PORT --key NAME [--parts P]",
    .summary = "Send a filter to a Redis or Valkey server.",
    .about = "Sends the filter FILE to the server, in pieces. The server checks every byte as "
             "`tepal receive` does, and puts the filter in its place when all of it has come: "
             "until then the old one answers. If push fails or is interrupted, the server keeps "
             "what it had. FILE may be compressed, or - (standard input).\n\n"
             "With --parts, P files go to P names, each for itself: if one fails, those before it "
             "have been replaced. P is stored when all have come, and another P is refused from "
             "then on. `tepal split` divides keys by parts; a build makes the filter of "
             "each.\n\n"
             "Exit status 0 if pushed, 1 if --if-absent or --if-present forbade it, 2 on an error.",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .least_operands = 1,
    .most_operands = SIZE_MAX,
    .operand_name = "a filter is",
    .stays = "the server keeps what it had",
    .examples = examples,
    .run = push_run};
