/*
 * pull.c: a filter from a server into a file: by ranges of one generation, checked byte by byte,
 * written atomically.
 */
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
#include "output/written.h"
#include "server/part.h"
#include "server/parts.h"
#include "server/servers.h"

#define PIECE    ((uint64_t)4 << 20)
#define ATTEMPTS 5 /* of a filter that changes meanwhile */

struct pull {
    const struct args *args;
    struct args_after after; /* the first part */
    struct servers *servers;
    struct progress progress;
    struct report report;
    uint64_t parts; /* 0: one filter at its own name */
};

/* A reading, from the first range to the last. */
struct reading {
    const char *name;
    struct tepal_decoder *decoder;
    long long generation;
    uint64_t total;
    uint64_t at;
    bool changed; /* by somebody else: begin again */
};

static int trouble(const struct pull *p, const char *name, const char *why)
{
    return args_about(p->args, name, "%s", why);
}

/* [generation, length of the whole, bytes], as it should be after what came before. */
static int take_range(const struct pull *p, struct reading *r, const redisReply *reply)
{
    struct tepal_error error;
    char room[512];
    if (servers_error_is(reply, "CHANGED")) {
        r->changed = true;
        return EXIT_NO;
    }
    if (reply->type == REDIS_REPLY_NIL) {
        return trouble(p, r->name, "the server has no filter of that name");
    }
    if (reply->type == REDIS_REPLY_ERROR) {
        return trouble(p, r->name, servers_explain(reply, room, sizeof room));
    }
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 3 ||
        reply->element[0]->type != REDIS_REPLY_INTEGER ||
        reply->element[1]->type != REDIS_REPLY_INTEGER || reply->element[1]->integer <= 0 ||
        reply->element[2]->type != REDIS_REPLY_STRING || reply->element[2]->len == 0 ||
        (r->at > 0 && ((uint64_t)reply->element[1]->integer != r->total ||
                       reply->element[0]->integer != r->generation)) ||
        reply->element[2]->len > (uint64_t)reply->element[1]->integer - r->at) {
        return trouble(p, r->name, "the server's answer was not understood");
    }
    r->generation = reply->element[0]->integer;
    r->total = (uint64_t)reply->element[1]->integer;
    if (tepal_decoder_feed(r->decoder, reply->element[2]->str, reply->element[2]->len, &error) !=
        TEPAL_OK) {
        return filter_file_fault(p->args->command->stays, r->name, &error);
    }
    r->at += reply->element[2]->len;
    return EXIT_YES;
}

static int next_range(const struct pull *p, struct reading *r)
{
    struct words words = {.count = 0};
    char numbers[3][32];
    snprintf(numbers[0], sizeof numbers[0], "%" PRIu64, r->at);
    snprintf(numbers[1], sizeof numbers[1], "%" PRIu64, PIECE);
    words_text(&words, "TEPAL.GET");
    words_text(&words, r->name);
    words_text(&words, numbers[0]);
    words_text(&words, numbers[1]);
    if (r->at > 0) {
        snprintf(numbers[2], sizeof numbers[2], "%lld", r->generation);
        words_text(&words, "GENERATION");
        words_text(&words, numbers[2]);
    }
    redisReply *reply = servers_call(p->servers, &words, true);
    if (reply == NULL) {
        return trouble(p, r->name, servers_why(p->servers));
    }
    int code = take_range(p, r, reply);
    freeReplyObject(reply);
    return code;
}

/* EXIT_NO: it changed meanwhile. */
static int read_once(struct pull *p, const char *name, struct tepal_filter **out)
{
    struct reading r = {.name = name};
    struct tepal_error error;
    char done[48];
    char all[48];
    if (tepal_decoder_create(arg_whole(p->args, "max-bytes", 0), NULL, &r.decoder, &error) !=
        TEPAL_OK) {
        return filter_file_fault(p->args->command->stays, name, &error);
    }
    int code = EXIT_YES;
    do {
        code = next_range(p, &r);
        if (code == EXIT_YES && progress_due(&p->progress)) {
            progress_show(&p->progress, (double)r.at / (double)r.total, "%s: %s of %s", name,
                          render_bytes(r.at, done, sizeof done),
                          render_bytes(r.total, all, sizeof all));
        }
    } while (code == EXIT_YES && r.at < r.total);
    progress_end(&p->progress);
    if (code == EXIT_YES && tepal_decoder_finish(r.decoder, out, &error) != TEPAL_OK) {
        code = filter_file_fault(p->args->command->stays, name, &error);
    }
    tepal_decoder_free(r.decoder);
    return code;
}

static int read_filter(struct pull *p, const char *name, struct tepal_filter **out)
{
    int code = EXIT_NO;
    for (int i = 0; i < ATTEMPTS && code == EXIT_NO; i++) {
        code = read_once(p, name, out);
    }
    return code != EXIT_NO ? code
                           : trouble(p, name,
                                     "the filter is being changed, and was each of the 5 times "
                                     "that it was read: pull a copy (COPY on the server), or stop "
                                     "its writers");
}

static int pull_one(struct pull *p, uint64_t part)
{
    struct tepal_filter *filter = NULL;
    char *name = part_name(arg(p->args, "key")->text, part, p->parts);
    char *path = part_path(arg(p->args, "output")->text, part, p->parts);
    int code = name == NULL || path == NULL ? args_no_memory(p->args) : EXIT_YES;
    code = code == EXIT_YES && p->parts > 0 ? filter_file_check_output(p->args, path) : code;
    code = code == EXIT_YES ? read_filter(p, name, &filter) : code;
    code = code == EXIT_YES ? filter_file_replace(p->args, filter, path, NULL, 0) : code;
    if (code == EXIT_YES) {
        report_object(&p->report, NULL);
        report_text(&p->report, "key", name, JSON_ONLY);
        written_tell(&p->report, path, filter, UINT64_MAX);
        report_end(&p->report);
        p->args = part == 0 ? args_after(&p->after, p->args, "the parts before it were written")
                            : p->args;
    }
    tepal_filter_free(filter);
    free(name);
    free(path);
    return code;
}

static int no_stream(const struct pull *p)
{
    return args_wrong(p->args, "parts are files of their own: give --output a path");
}

static int find_parts(struct pull *p)
{
    int code = parts_find(p->args, p->servers, &p->parts);
    return code == EXIT_YES && p->parts > 0 && strcmp(arg(p->args, "output")->text, "-") == 0
               ? no_stream(p)
               : code;
}

static int pull_run(const struct args *args)
{
    struct login login;
    struct pull p = {.args = args, .parts = arg_whole(args, "parts", 0)};
    char why[WIRE_WHY];
    const char *output = arg(args, "output")->text;
    if (p.parts > 0 && strcmp(output, "-") == 0) {
        return no_stream(&p);
    }
    if ((p.parts == 0 && filter_file_check_output(args, output) != EXIT_YES) ||
        login_read(args, &login) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    int code = EXIT_TROUBLE;
    p.servers = servers_open(&login, why);
    if (p.servers == NULL) {
        code = args_about(args, login.server, "%s", why);
    } else {
        progress_start(&p.progress, !arg(args, "quiet")->given);
        p.report = report_open(args);
        code = p.report.out == NULL ? EXIT_TROUBLE : find_parts(&p);
        for (uint64_t i = 0; i < (p.parts == 0 ? 1 : p.parts) && code == EXIT_YES; i++) {
            code = pull_one(&p, i);
        }
        code = code == EXIT_YES ? written_close(&p.report) : report_close(&p.report, code);
    }
    servers_close(p.servers);
    login_forget(&login);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    LOGIN_OPTIONS,
    OPTION('o', "output", OF_VALUE(TAKES_FILE, "FILE"),
           "Write the filter to FILE, atomically: after a failure FILE has its old contents. - is "
           "standard output. Of 16 parts: to FILE.00 ... FILE.15."),
    OPTION(0, "max-bytes", OF_SIZE(1, UINT64_MAX),
           "Refuse a filter of more than SIZE bytes (default: any)."),
    OPTION_COMPRESS, WRITER_OPTIONS};
static const struct example examples[] = {
    {"tepal pull --server localhost:6379 --key blocked -o blocked.tepal",
     "What the server has now, for lookups elsewhere."},
    {"tepal pull --server unix:/run/redis.sock --key seen -o - | tepal info -", "Just to see it."},
    {"tepal pull --server node:7000 --key big -o part", "All 8 parts: part.0 to part.7."},
    {NULL, NULL}};

const struct command command_pull = {
    .name = "pull",
    .synopsis = "--server HOST:PORT --key NAME -o FILE [--parts P]",
    .summary = "Fetch a filter from a Redis or Valkey server.",
    .about = "Reads the filter by ranges, all of one generation: if somebody changes it meanwhile, "
             "pull begins again, five times at most. Every byte is checked before FILE is "
             "replaced, and FILE is what the server holds, byte for byte. The filter is in memory "
             "meanwhile.",
    .options = options,
    .needed = "output",
    .least_operands = 0,
    .most_operands = 0,
    .stays = "nothing was written",
    .examples = examples,
    .run = pull_run};
