/*
 * query.c: keys in, keys out, like grep. Answers come a batch at a time.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tepal/counting.h>
#include <tepal/filter.h>
#include <tepal/generalized.h>
#include <tepal/retouched.h>

#include "cli/command.h"
#include "input/adder.h"
#include "input/feed.h"
#include "input/slurp.h"
#include "output/answers.h"
#include "output/report.h"
#include "files/filter_file.h"
#include "files/packed.h"
#include "cli/options.h"

#define LOADED_MOST ((uint64_t)1 << 26) /* bytes: larger filters are mapped */

struct query {
    const struct args *args;
    const char *path;
    struct tepal_filter *filter;
    struct tepal_exceptions *exceptions; /* NULL: none */
    struct feed *feed;
    struct out *out;
    char separator;
    uint64_t keys;
    uint64_t present;
    uint64_t ones; /* of a generalized filter whose ages are asked for */
};

static const uint64_t *answers_of(const struct query *q)
{
    return q->feed->block->answers;
}

static void print_table(struct query *q, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char line[3] = {'\t', answer_of(answers_of(q), i) ? '1' : '0', q->separator};
        out_bytes(q->out, q->feed->key[i], q->feed->len[i]);
        out_bytes(q->out, line, sizeof line);
    }
}

/* Every key that is found, and the numbers of the groups that hold it. */
static void print_groups(struct query *q, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t groups = tepal_counting_groups(q->filter, q->feed->digest[i]);
        char between = '\t';
        if (groups == 0) {
            continue;
        }
        out_bytes(q->out, q->feed->key[i], q->feed->len[i]);
        for (; groups != 0; groups &= groups - 1) {
            out_format(q->out, "%c%d", between, __builtin_ctzll(groups));
            between = ',';
        }
        out_bytes(q->out, &q->separator, 1);
    }
}

/* "-": too old to tell, or without a limit. */
static void print_age(struct query *q, uint64_t age)
{
    if (age == UINT64_MAX) {
        out_text(q->out, "\t-");
    } else {
        out_format(q->out, "\t%" PRIu64, age);
    }
}

/* Whether each key is there, how many keys came after it, and between which numbers. */
static void print_ages(struct query *q, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct tepal_generalized_trace trace;
        (void)tepal_generalized_age(q->filter, q->feed->digest[i], q->ones, &trace);
        out_bytes(q->out, q->feed->key[i], q->feed->len[i]);
        out_text(q->out, trace.present ? "\t1" : "\t0");
        print_age(q, trace.age);
        print_age(q, trace.age_low);
        print_age(q, trace.age_high);
        out_bytes(q->out, &q->separator, 1);
    }
}

static void print_batch(struct query *q, size_t count)
{
    if (arg(q->args, "count")->given || arg(q->args, "json")->given ||
        arg(q->args, "quiet")->given) {
        return;
    }
    if (arg(q->args, "groups")->given) {
        print_groups(q, count);
    } else if (arg(q->args, "age")->given) {
        print_ages(q, count);
    } else if (arg(q->args, "tsv")->given) {
        print_table(q, count);
    } else {
        answers_print(q->out, q->feed->key, q->feed->len, answers_of(q), count,
                      !arg(q->args, "invert")->given, q->feed->comments);
    }
    if (feed_live(q->feed)) {
        out_flush(q->out);
    }
}

/* How many keys the user asked for: those present, or with -v the others. */
static uint64_t selected(const struct query *q)
{
    return arg(q->args, "invert")->given ? q->keys - q->present : q->present;
}

/* ---- the exception list of a retouched filter ------------------------------------------------ */

static int load_exceptions(struct query *q)
{
    const struct option_value *file = arg(q->args, "exceptions");
    size_t len = 0;
    if (!file->given) {
        return EXIT_YES;
    }
    char *bytes = slurp(q->args, file->text, SIZE_MAX - 1, &len);
    if (bytes == NULL) {
        return EXIT_TROUBLE;
    }
    enum tepal_status status = tepal_exceptions_decode(bytes, len, NULL, &q->exceptions, NULL);
    free(bytes);
    if (status == TEPAL_NOT_A_FILTER) {
        return say_error(NULL, file->text, "not an exception list");
    }
    if (status != TEPAL_OK) {
        return say_status(NULL, file->text, status, NULL);
    }
    if (!tepal_exceptions_belong(q->exceptions, q->filter)) {
        return say_error(NULL, file->text, "this exception list belongs to another filter");
    }
    return EXIT_YES;
}

/* ---- batches --------------------------------------------------------------------------------- */

/* By any thread. */
static void answer_bare(void *context, unsigned lane, struct feed_block *b)
{
    const struct query *q = context;
    (void)lane;
    b->result = tepal_filter_query_bytes_many(q->filter, b->key, b->len, b->count, b->answers);
}

/* The same by digests; and members that the filter lost, which are found in the list. */
static void answer_block(void *context, unsigned lane, struct feed_block *b)
{
    const struct query *q = context;
    (void)lane;
    b->result = tepal_filter_query_many(q->filter, b->digest, b->count, b->answers);
    for (size_t i = 0; i < b->count && q->exceptions != NULL; i++) {
        if (!answer_of(b->answers, i) && tepal_exceptions_query(q->exceptions, b->digest[i])) {
            b->answers[i / 64] |= (uint64_t)1 << (i % 64);
            b->result++;
        }
    }
}

static int run_batches(struct query *q)
{
    ptrdiff_t count;
    q->feed->most = SIZE_MAX; /* whole blocks */
    bool bare = q->exceptions == NULL && adder_hashes(q->filter) && feed_bare(q->feed);
    q->feed->then = bare ? answer_bare : answer_block;
    q->feed->then_context = q;
    while ((count = feed_next(q->feed)) > 0) {
        q->present += q->feed->block->result;
        q->keys += (uint64_t)count;
        print_batch(q, (size_t)count);
        if (arg(q->args, "quiet")->given && selected(q) > 0) {
            return EXIT_YES;
        }
        if (q->out->failed != 0) {
            return EXIT_TROUBLE;
        }
    }
    if (count < 0) {
        return EXIT_TROUBLE;
    }
    return selected(q) > 0 ? EXIT_YES : EXIT_NO;
}

static int print_totals(struct query *q)
{
    struct report r = report_on(q->out, q->args);
    report_object(&r, NULL);
    report_text(&r, "file", q->path, JSON_ONLY);
    report_whole(&r, "keys", q->keys, JSON_ONLY);
    report_whole(&r, "present", q->present, JSON_ONLY);
    report_whole(&r, "absent", q->keys - q->present, JSON_ONLY);
    if (arg(q->args, "count")->given) {
        report_line(&r, "%" PRIu64 "\n", selected(q));
    }
    report_end(&r);
    return report_code(&r, EXIT_YES);
}

static int ask(struct query *q, const struct tepal_hasher *hasher)
{
    q->feed = feed_open(q->args, 1, hasher);
    q->out = q->feed == NULL ? NULL : out_open(STDOUT_FILENO);
    if (q->out == NULL) {
        feed_close(q->feed);
        return EXIT_TROUBLE;
    }
    if (isatty(STDOUT_FILENO)) {
        q->feed->progress.on = false; /* it would run into the output */
    }
    int code = run_batches(q);
    feed_close(q->feed);
    if (code != EXIT_TROUBLE && print_totals(q) != EXIT_YES) {
        code = EXIT_TROUBLE;
    }
    return out_close(q->out, code);
}

static int check(const struct args *args)
{
    if (arg(args, "delimiter")->given && !arg(args, "field")->given) {
        return say_error(NULL, args->command->name,
                         "--delimiter needs --field: which field is the key?");
    }
    bool reads_standard = args->operands == 1;
    for (size_t i = 1; i < args->operands; i++) {
        reads_standard = reads_standard || strcmp(args->operand[i], "-") == 0;
    }
    if (reads_standard && strcmp(args->operand[0], "-") == 0) {
        return say_error(NULL, "standard input",
                         "the filter is read from there, so the keys must come from files");
    }
    /* Keys that come out where they are read would be read again, until the disk is full. */
    bool prints_keys =
        !arg(args, "count")->given && !arg(args, "quiet")->given && !arg(args, "json")->given;
    return filter_file_check_inputs(args, prints_keys ? "-" : NULL, args->operand + 1,
                                    args->operands - 1, "the keys are also the output");
}

/* Only a generalized filter knows ages. */
static int check_age(struct query *q)
{
    if (!arg(q->args, "age")->given) {
        return EXIT_YES;
    }
    if (tepal_filter_params(q->filter)->kind != TEPAL_KIND_GENERALIZED) {
        return say_error(NULL, filter_file_name(q->path, false),
                         "--age needs a generalized filter: this is of the kind %s",
                         tepal_filter_kind(q->filter)->name);
    }
    q->ones = tepal_filter_ones(q->filter);
    return EXIT_YES;
}

/*
 * Mapped, or loaded: a loaded filter has huge pages, with which lookups take two thirds of the
 * time, but it takes memory and a copy. That pays for many keys, unless the first ends it.
 */
static enum filter_file_mode mode_for(const struct args *args)
{
    struct stat filter;
    uint64_t keys = 0;
    if (arg(args, "lazy")->given) {
        return FILTER_FILE_GLANCE;
    }
    for (size_t i = 1; i < args->operands; i++) {
        struct stat about;
        if (stat(args->operand[i], &about) == 0) {
            keys += S_ISREG(about.st_mode) ? (uint64_t)about.st_size : LOADED_MOST;
        }
    }
    keys = args->operands == 1 ? LOADED_MOST : keys;
    return arg(args, "quiet")->given || stat(args->operand[0], &filter) != 0 ||
                   (uint64_t)filter.st_size > keys || (uint64_t)filter.st_size > LOADED_MOST
               ? FILTER_FILE_VIEW
               : FILTER_FILE_LOAD;
}

static int query_run(const struct args *args)
{
    struct query q = {.args = args,
                      .path = args->operand[0],
                      .separator = arg(args, "null")->given ? '\0' : '\n'};
    struct tepal_hasher hasher;
    if (check(args) != EXIT_YES ||
        filter_file_open(args, q.path, mode_for(args), &q.filter) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    int code = filter_file_hasher(args, filter_file_name(q.path, false), q.filter, &hasher);
    if (code == EXIT_YES && arg(args, "groups")->given &&
        tepal_filter_kind(q.filter)->id != TEPAL_KIND_COUNTING) {
        code = args_about(args, "--groups",
                          "only filters of the kind counting have groups, and this one is %s",
                          tepal_filter_kind(q.filter)->name);
    }
    code = code == EXIT_YES ? check_age(&q) : code;
    code = code == EXIT_YES ? load_exceptions(&q) : code;
    code = code == EXIT_YES ? ask(&q, &hasher) : code;
    tepal_exceptions_free(q.exceptions);
    tepal_filter_free(q.filter);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    FLAG('v', "invert", "Print the keys that are certainly not in the set."),
    FLAG('c', "count", "Print only the number of selected keys."),
    FLAG('q', "quiet", "Print nothing and stop at the first match; see the exit status."),
    FLAG('t', "tsv", "Print every key, a tab, and 1 (perhaps in the set) or 0 (certainly not)."),
    FLAG(0, "groups",
         "counting: after each key print a tab and the groups that hold it, from 0: one is its "
         "own, others are false positives."),
    FLAG(0, "age",
         "generalized: print every key, 1 or 0 as --tsv does, and how many keys were added after "
         "it: the most likely number, and the lowest and the highest (95 % confidence), separated "
         "by tabs; - means that it cannot be told."),
    KEY_OPTIONS,
    OPTION_FIELD,
    OPTION_DELIMITER,
    OPTION_KEY_FILE,
    OPTION_PACKED_MOST,
    FLAG(0, "lazy",
         "Check only the header of FILE, not the checksums of its cells, so that a large filter "
         "opens immediately."),
    OPTION(0, "exceptions", OF_VALUE(TAKES_FILE, "LIST"),
           "The exception list written by retouch: keys on it are found although the filter lost "
           "them."),
    OPTION_JSON,
    OPTION_HELP,
    OPTIONS_END};
static const char *const exclusive[][4] = {{"tsv", "quiet", "json", "age"},
                                           {"tsv", "count"},
                                           {"tsv", "invert"},
                                           {"quiet", "count"},
                                           {"groups", "quiet", "json"},
                                           {"groups", "count"},
                                           {"groups", "invert", "tsv"},
                                           {"groups", "age"},
                                           {"age", "count"},
                                           {"age", "invert"},
                                           {NULL}};
static const struct example examples[] = {
    {"tepal query domains.tepal candidates.txt", "The candidates that may be in the set."},
    {"tepal query -v seen.tepal < today.txt > new.txt", "The lines that are certainly new."},
    {"tepal query blocked.tepal access.log --field 1", "The requests of blocked clients."},
    {"echo example.org | tepal query -q domains.tepal && echo blocked",
     "Check one key in a script."},
    {NULL, NULL}};

const struct command command_query = {
    .name = "query",
    .synopsis = "FILE [KEYS...] [-v] [-c | -q | --tsv | --groups | --age]",
    .summary = "Look up keys, and print those that may be in the set.",
    .about = "Reads keys as build does and prints those that may be in the set of the filter FILE, "
             "unchanged and in order. With --field, lines are looked up by one of their fields and "
             "printed "
             "whole. FILE may be compressed with gzip, zstd or xz; it may be - "
             "(standard input) if the keys come from files.\n\n"
             "Exit status 0 if a key was selected, 1 if none was, 2 on an error.",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .least_operands = 1,
    .most_operands = SIZE_MAX,
    .operand_name = "a filter is",
    .examples = examples,
    .run = query_run};
