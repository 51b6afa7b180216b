/* split.c: keys by the part of a divided filter that they belong to, a file for each part. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "cli/command.h"
#include "cli/options.h"
#include "files/atomic_file.h"
#include "files/file_lock.h"
#include "files/filter_file.h"
#include "input/feed.h"
#include "output/report.h"
#include "server/login.h"
#include "server/part.h"

struct split {
    const struct args *args;
    uint64_t parts;
    char **path;
    struct atomic_file *file;
    struct atomic_file **each; /* pointers to them */
    uint64_t *keys;
    uint64_t total;
};

#define OTHERS 64 /* files that are open besides */

/* All parts are open at once. */
static int allow_files(const struct args *args, uint64_t count)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < count + OTHERS) {
        if (limit.rlim_max < count + OTHERS) {
            return args_about(args, "--parts",
                              "%" PRIu64 " parts are as many open files, and this system allows "
                              "%" PRIu64 " (ulimit -Hn): raise that limit",
                              count, (uint64_t)limit.rlim_max);
        }
        limit.rlim_cur = count + OTHERS;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    return EXIT_YES;
}

static int open_parts(struct split *s)
{
    if (allow_files(s->args, s->parts) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    for (uint64_t i = 0; i < s->parts; i++) {
        s->path[i] = part_path(arg(s->args, "output")->text, i, s->parts);
        if (s->path[i] == NULL) {
            return args_no_memory(s->args);
        }
        if (atomic_file_check(s->args, s->path[i]) != EXIT_YES ||
            atomic_file_open(&s->file[i], s->args, s->path[i]) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
    }
    return EXIT_YES;
}

static int divide(struct split *s)
{
    struct tepal_hasher hasher;
    ptrdiff_t count;
    part_hasher(&hasher);
    struct feed *feed = feed_open(s->args, 0, &hasher);
    if (feed == NULL) {
        return EXIT_TROUBLE;
    }
    while ((count = feed_next(feed)) > 0) {
        for (ptrdiff_t i = 0; i < count; i++) {
            uint64_t part = part_of(feed->digest[i], s->parts);
            out_bytes(s->file[part].out, feed->key[i], feed->len[i] + 1);
            s->keys[part]++;
        }
        s->total += (uint64_t)count;
    }
    feed_close(feed);
    return count < 0 ? EXIT_TROUBLE : EXIT_YES;
}

static int keep_parts(struct split *s)
{
    int code = EXIT_YES;
    for (uint64_t i = 0; i < s->parts && code == EXIT_YES; i++) {
        code = atomic_file_finish(&s->file[i], s->args);
        s->each[i] = &s->file[i];
    }
    return code == EXIT_YES ? filter_file_save_with(s->args, NULL, NULL, s->each, (size_t)s->parts)
                            : code;
}

static int tell(const struct split *s)
{
    struct report r = report_open(s->args);
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    for (uint64_t i = 0; i < s->parts; i++) {
        least = s->keys[i] < least ? s->keys[i] : least;
        most = s->keys[i] > most ? s->keys[i] : most;
    }
    report_object(&r, NULL);
    report_whole(&r, "keys", s->total, JSON_ONLY);
    report_whole(&r, "parts", s->parts, JSON_ONLY);
    report_whole(&r, "least", least, JSON_ONLY);
    report_whole(&r, "most", most, JSON_ONLY);
    report_end(&r);
    report_say(&r, "%" PRIu64 " key%s to %" PRIu64 " part%s of %" PRIu64 " to %" PRIu64 " key%s",
               s->total, SAY_S(s->total), s->parts, SAY_S(s->parts), least, most, SAY_S(most));
    return report_close_after(&r, "the parts were written", EXIT_YES);
}

static int split_run(const struct args *args)
{
    struct split s = {.args = args, .parts = arg(args, "parts")->whole};
    const size_t parts = (size_t)s.parts;
    struct file_lock lock = {.path = NULL};
    if (!arg(args, "output")->given) {
        return args_error(args, "--output PREFIX is needed: where the parts go");
    }
    if (filter_file_check_inputs(args, NULL, args->operand, args->operands, "") != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    s.path = calloc(parts, sizeof *s.path);
    s.file = calloc(parts, sizeof *s.file);
    s.each = calloc(parts, sizeof *s.each);
    s.keys = calloc(parts, sizeof *s.keys);
    int code = EXIT_YES;
    if (s.path == NULL || s.file == NULL || s.each == NULL || s.keys == NULL) {
        code = args_no_memory(args);
    }
    /* One lock for all parts: those of two lists must not be mixed. */
    code = code == EXIT_YES ? file_lock_take(&lock, args, arg(args, "output")->text, FILE_LOCK_WAIT)
                            : code;
    code = code == EXIT_YES ? open_parts(&s) : code;
    code = code == EXIT_YES ? divide(&s) : code;
    code = code == EXIT_YES ? keep_parts(&s) : code;
    code = code == EXIT_YES ? tell(&s) : code;
    for (uint64_t i = 0; i < s.parts && s.file != NULL; i++) {
        atomic_file_free(&s.file[i]);
    }
    for (uint64_t i = 0; i < s.parts && s.path != NULL; i++) {
        free(s.path[i]);
    }
    file_lock_drop(&lock);
    free(s.path);
    free(s.file);
    free(s.each);
    free(s.keys);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION(0, "parts", OF_WHOLE("P", 1, LOGIN_PARTS), "The number of parts."),
    OPTION('o', "output", OF_VALUE(TAKES_FILE, "PREFIX"),
           "Write the keys of the parts to PREFIX.0, PREFIX.1 ... (of 16 parts PREFIX.00 ... "
           "PREFIX.15), each atomically."),
    KEY_OPTIONS,
    FLAG('f', "force", "Overwrite files of those names."),
    FLAG(0, "no-wait",
         "Fail at once if another split to PREFIX is under way, instead of waiting for it."),
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_HELP,
    OPTIONS_END};
static const struct example examples[] = {
    {"tepal split keys.txt --parts 8 -o part", "The keys of part 3 are in part.3."},
    {"tepal build part.3 -o 3.tepal", "Its filter; so for each of them."},
    {"tepal push [0-7].tepal --server node:7000 --key big --parts 8", "All of them to a cluster."},
    {NULL, NULL}};

const struct command command_split = {
    .name = "split",
    .synopsis = "[KEYS...] --parts P -o PREFIX",
    .summary = "Divide keys into the parts of a filter that many servers share.",
    .about = "Reads keys as build does and writes each, unchanged and in order, to the file of the "
             "part that it belongs to. The part depends on the key's bytes and on P alone "
             "(docs/redis.md gives the rule), so adding or looking up a key later finds the same "
             "one.\n\n"
             "Build a filter from each file, all for the same error rate, and push them. A lookup "
             "asks one part, so the whole has the error rate of the parts.",
    .options = options,
    .needed = "parts",
    .files = true,
    .least_operands = 0,
    .most_operands = SIZE_MAX,
    .stays = "nothing was written",
    .examples = examples,
    .run = split_run};
