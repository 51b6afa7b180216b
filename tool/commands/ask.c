/*
 * ask.c: query, and add, for a filter on a server or in parts on many. A batch of keys is divided
 * by parts, every part's keys go in commands of their own, and all nodes answer at the same time.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/options.h"
#include "files/filter_file.h"
#include "input/feed.h"
#include "output/answers.h"
#include "output/report.h"
#include "server/part.h"
#include "server/parts.h"
#include "server/servers.h"

#define BATCH ((size_t)1 << 14)
#define ITEMS 512 /* of one command: other clients of the node wait no longer than for these */

struct ask {
    const struct args *args;
    struct servers *servers;
    struct feed *feed;
    struct out *out;
    uint64_t parts; /* 0: one filter at its own name */
    char **name;    /* of each part */
    bool adds;
    char separator;
    uint64_t keys;
    uint64_t present; /* or with --add: that were there before */
    /* A batch. */
    size_t *first;     /* where the keys of each part begin in `order`; one more than parts */
    size_t *order;     /* keys by their parts */
    const char **text; /* of all commands, one after the other */
    size_t *len;
    size_t *begins; /* where the keys of each command begin in `order` */
    struct request *request;
    uint64_t answers[BATCH / 64];
};

static size_t names(const struct ask *a)
{
    return a->parts == 0 ? 1 : (size_t)a->parts;
}

static uint64_t part_at(const struct ask *a, size_t i)
{
    return a->parts == 0 ? 0 : part_of(a->feed->digest[i], a->parts);
}

/* ---- a batch --------------------------------------------------------------------------------- */

static void sort_by_parts(struct ask *a, size_t count)
{
    memset(a->first, 0, (names(a) + 1) * sizeof *a->first);
    for (size_t i = 0; i < count; i++) {
        a->first[part_at(a, i) + 1]++;
    }
    for (uint64_t p = 0; p < names(a); p++) {
        a->first[p + 1] += a->first[p];
    }
    for (size_t i = count; i-- > 0;) { /* from behind: each part keeps the keys' order */
        a->order[--a->first[part_at(a, i) + 1]] = i;
    }
    memmove(a->first, a->first + 1, names(a) * sizeof *a->first);
    a->first[names(a)] = count;
}

/* The commands of a batch: how many. */
static size_t compose(struct ask *a, size_t count)
{
    const char *command = a->adds ? "TEPAL.MADD" : "TEPAL.MEXISTS";
    size_t requests = 0;
    size_t words = 0;
    sort_by_parts(a, count);
    for (uint64_t p = 0; p < names(a); p++) {
        for (size_t at = a->first[p]; at < a->first[p + 1]; at += ITEMS) {
            size_t end = a->first[p + 1] - at < ITEMS ? a->first[p + 1] : at + ITEMS;
            struct request *r = &a->request[requests];
            *r = (struct request){.text = a->text + words,
                                  .len = a->len + words,
                                  .count = (int)(2 + end - at),
                                  .key = 1,
                                  .again = !a->adds};
            a->begins[requests++] = at;
            a->text[words] = command;
            a->len[words++] = strlen(command);
            a->text[words] = a->name[p];
            a->len[words++] = strlen(a->name[p]);
            for (size_t i = at; i < end; i++) {
                a->text[words] = a->feed->key[a->order[i]];
                a->len[words++] = a->feed->len[a->order[i]];
            }
        }
    }
    return requests;
}

static int take_reply(struct ask *a, const struct request *r, size_t begin)
{
    char room[512];
    size_t items = (size_t)r->count - 2;
    if (r->reply->type == REDIS_REPLY_ERROR) {
        return args_about(a->args, r->text[1], "%s", servers_explain(r->reply, room, sizeof room));
    }
    bool sound = r->reply->type == REDIS_REPLY_ARRAY && r->reply->elements == items;
    for (size_t i = 0; i < items && sound; i++) {
        const redisReply *one = r->reply->element[i];
        sound = one->type == REDIS_REPLY_INTEGER && (one->integer == 0 || one->integer == 1);
        if (sound && (one->integer == 1) != a->adds) { /* MADD tells which are new */
            size_t key = a->order[begin + i];
            a->answers[key / 64] |= (uint64_t)1 << (key % 64);
            a->present++;
        }
    }
    return sound ? EXIT_YES
                 : args_about(a->args, r->text[1], "the server's answer was not understood");
}

static int ask_batch(struct ask *a, size_t count)
{
    size_t requests = compose(a, count);
    int code = EXIT_YES;
    memset(a->answers, 0, sizeof a->answers);
    bool all = servers_run(a->servers, a->request, requests);
    for (size_t i = 0; i < requests; i++) {
        if (code == EXIT_YES && a->request[i].reply != NULL) {
            code = take_reply(a, &a->request[i], a->begins[i]);
        }
        freeReplyObject(a->request[i].reply);
    }
    if (code == EXIT_YES && !all) {
        code = args_about(a->args, arg(a->args, "key")->text, "%s", servers_why(a->servers));
    }
    a->keys += code == EXIT_YES ? count : 0;
    return code;
}

static void print_batch(struct ask *a, size_t count)
{
    const struct args *args = a->args;
    if (a->adds || arg(args, "count")->given || arg(args, "json")->given ||
        arg(args, "quiet")->given) {
        return;
    }
    if (arg(args, "tsv")->given) {
        for (size_t i = 0; i < count; i++) {
            const char line[3] = {'\t', answer_of(a->answers, i) ? '1' : '0', a->separator};
            out_bytes(a->out, a->feed->key[i], a->feed->len[i]);
            out_bytes(a->out, line, sizeof line);
        }
    } else {
        answers_print(a->out, a->feed->key, a->feed->len, a->answers, count,
                      !arg(args, "invert")->given, false);
    }
    if (feed_live(a->feed)) {
        out_flush(a->out);
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static uint64_t selected(const struct ask *a)
{
    return arg(a->args, "invert")->given ? a->keys - a->present : a->present;
}

static int run_batches(struct ask *a)
{
    ptrdiff_t count;
    a->feed->most = BATCH;
    while ((count = feed_next(a->feed)) > 0) {
        if (ask_batch(a, (size_t)count) != EXIT_YES) {
            if (a->adds && a->keys > 0 && !arg(a->args, "quiet")->given) {
                say_line("%" PRIu64 " key%s added before; of the next %td some may be too", a->keys,
                         a->keys == 1 ? " was" : "s were", count);
            }
            return EXIT_TROUBLE;
        }
        print_batch(a, (size_t)count);
        if (!a->adds && arg(a->args, "quiet")->given && selected(a) > 0) {
            return EXIT_YES;
        }
        if (a->out->failed != 0) {
            return EXIT_TROUBLE;
        }
    }
    return count < 0 ? EXIT_TROUBLE : a->adds || selected(a) > 0 ? EXIT_YES : EXIT_NO;
}

static int print_totals(struct ask *a)
{
    struct report r = report_on(a->out, a->args);
    report_object(&r, NULL);
    report_text(&r, "key", arg(a->args, "key")->text, JSON_ONLY);
    report_whole(&r, "nodes", servers_nodes(a->servers), JSON_ONLY);
    report_whole(&r, "keys", a->keys, JSON_ONLY);
    report_whole(&r, "present", a->present, JSON_ONLY);
    report_whole(&r, "absent", a->keys - a->present, JSON_ONLY);
    if (a->adds) {
        report_say(&r, "added %" PRIu64 " key%s: %" PRIu64 " %s not found before", a->keys,
                   SAY_S(a->keys), a->keys - a->present,
                   a->keys - a->present == 1 ? "was" : "were");
    } else if (arg(a->args, "count")->given) {
        report_line(&r, "%" PRIu64 "\n", selected(a));
    }
    report_end(&r);
    return report_code(&r, EXIT_YES);
}

static int ask_all(struct ask *a)
{
    struct tepal_hasher hasher;
    part_hasher(&hasher);
    a->feed = feed_open(a->args, 0, &hasher);
    a->out = a->feed == NULL ? NULL : out_open(STDOUT_FILENO);
    if (a->out == NULL) {
        feed_close(a->feed);
        return EXIT_TROUBLE;
    }
    if (isatty(STDOUT_FILENO)) {
        a->feed->progress.on = false; /* it would run into the output */
    }
    int code = run_batches(a);
    feed_close(a->feed);
    if (code != EXIT_TROUBLE && print_totals(a) != EXIT_YES) {
        code = EXIT_TROUBLE;
    }
    return out_close(a->out, code);
}

/* A batch has at most a command for each part, and one more for every ITEMS keys. */
static bool make_room(struct ask *a)
{
    size_t requests = (names(a) < BATCH ? names(a) : BATCH) + BATCH / ITEMS;
    size_t words = BATCH + 2 * requests;
    a->name = calloc(names(a), sizeof *a->name);
    a->first = calloc(names(a) + 1, sizeof *a->first);
    a->order = calloc(BATCH, sizeof *a->order);
    a->text = calloc(words, sizeof *a->text);
    a->len = calloc(words, sizeof *a->len);
    a->begins = calloc(requests, sizeof *a->begins);
    a->request = calloc(requests, sizeof *a->request);
    bool got = a->name != NULL && a->first != NULL && a->order != NULL && a->text != NULL &&
               a->len != NULL && a->begins != NULL && a->request != NULL;
    for (uint64_t p = 0; p < names(a) && got; p++) {
        a->name[p] = part_name(arg(a->args, "key")->text, p, a->parts);
        got = a->name[p] != NULL;
    }
    return got;
}

static void free_room(struct ask *a)
{
    for (uint64_t p = 0; p < names(a) && a->name != NULL; p++) {
        free(a->name[p]);
    }
    free(a->name);
    free(a->first);
    free(a->order);
    free(a->text);
    free(a->len);
    free(a->begins);
    free(a->request);
}

static int ask_run(const struct args *args)
{
    struct login login;
    char why[WIRE_WHY];
    struct ask a = {.args = args,
                    .adds = arg(args, "add")->given,
                    .separator = arg(args, "null")->given ? '\0' : '\n'};
    bool prints_keys = !a.adds && !arg(args, "count")->given && !arg(args, "quiet")->given &&
                       !arg(args, "json")->given;
    if (filter_file_check_inputs(args, prints_keys ? "-" : NULL, args->operand, args->operands,
                                 "the keys are also the output") != EXIT_YES ||
        login_read(args, &login) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    int code;
    if ((a.servers = servers_open(&login, why)) == NULL) {
        code = args_about(args, login.server, "%s", why);
    } else if ((code = parts_find(args, a.servers, &a.parts)) == EXIT_YES) {
        code = make_room(&a) ? ask_all(&a) : args_no_memory(args);
    }
    if (code == EXIT_YES && a.adds && arg(args, "parts")->given) {
        code = parts_store(args, a.servers, a.parts);
    }
    servers_close(a.servers);
    free_room(&a);
    login_forget(&login);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    LOGIN_OPTIONS,
    FLAG(0, "add", "Add the keys instead of looking them up."),
    FLAG('v', "invert", "Print the keys that are certainly not in the set."),
    FLAG('c', "count", "Print only the number of selected keys."),
    FLAG('q', "quiet", "Print nothing and stop at the first match; with --add print no summary."),
    FLAG('t', "tsv", "Print every key, a tab, and 1 (perhaps in the set) or 0 (certainly not)."),
    OPTION_NULL,
    OPTION_PLAIN,
    OPTION_JSON,
    OPTION_HELP,
    OPTIONS_END};
static const char *const exclusive[][4] = {{"tsv", "quiet", "json", "count"},
                                           {"tsv", "invert", "add"},
                                           {"add", "count"},
                                           {"add", "invert"},
                                           {NULL}};
static const struct example examples[] = {
    {"tepal ask candidates.txt --server localhost:6379 --key blocked",
     "The candidates that may be in the set."},
    {"tepal ask --add new.txt --server node:7000 --key big",
     "Adds keys, in a filter of parts to those they belong to."},
    {NULL, NULL}};

const struct command command_ask = {
    .name = "ask",
    .synopsis = "[KEYS...] --server HOST:PORT --key NAME [--parts P] [--add]",
    .summary = "Look up keys in a filter on a Redis or Valkey server.",
    .about = "Reads keys as query does and prints those that the filter on the server finds, in "
             "order. In a cluster the keys go to the nodes that have their parts, many at a time, "
             "and slots that move meanwhile are followed. If a connection is lost, lookups are "
             "made again until --timeout has passed; additions are not, since nobody knows which "
             "were made.\n\n"
             "Exit status 0 if a key was selected, 1 if none was, 2 on an error; with --add 0 if "
             "all keys were added.",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .least_operands = 0,
    .most_operands = SIZE_MAX,
    .examples = examples,
    .run = ask_run};
