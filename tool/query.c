/*
 * query.c: keys in, keys out, like grep. Answers come a batch at a time; keys that stand next to
 * each other in the buffer and are both wanted are copied together.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <tepal/filter.h>

#include "command.h"
#include "feed.h"
#include "out.h"
#include "render.h"
#include "say.h"
#include "shelf.h"

struct query {
    const struct args *args;
    const char *path;
    struct tepal_filter *filter;
    struct feed *feed;
    struct out *out;
    char separator;
    uint64_t keys;
    uint64_t present;
    uint64_t answers[FEED_BATCH / 64];
};

static bool answer(const struct query *q, size_t i)
{
    return (q->answers[i / 64] >> (i % 64) & 1) != 0;
}

/* Keys of the batch whose answer is `wanted`; those next to each other in one piece. */
static void print_keys(struct query *q, size_t count, bool wanted)
{
    const struct key *key = q->feed->key;
    size_t i = 0;
    while (i < count) {
        if (answer(q, i) != wanted) {
            i++;
            continue;
        }
        const char *from = key[i].text;
        const char *to = from;
        for (; i < count && answer(q, i) == wanted; i++) {
            to = key[i].text + key[i].len + 1;
        }
        out_bytes(q->out, from, (size_t)(to - from));
    }
}

static void print_table(struct query *q, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char line[3] = {'\t', answer(q, i) ? '1' : '0', q->separator};
        out_bytes(q->out, q->feed->key[i].text, q->feed->key[i].len);
        out_bytes(q->out, line, sizeof line);
    }
}

static void print_batch(struct query *q, size_t count)
{
    const struct option_value *option = q->args->option;
    if (option[OPT_COUNT].given || option[OPT_JSON].given || option[OPT_SILENT].given) {
        return;
    }
    if (option[OPT_TSV].given) {
        print_table(q, count);
    } else {
        print_keys(q, count, !option[OPT_INVERT].given);
    }
    if (keys_live(q->feed->keys)) {
        out_flush(q->out);
    }
}

/* How many keys the user asked for: those present, or with -v the others. */
static uint64_t selected(const struct query *q)
{
    return q->args->option[OPT_INVERT].given ? q->keys - q->present : q->present;
}

static int run_batches(struct query *q)
{
    ptrdiff_t count;
    while ((count = feed_next(q->feed)) > 0) {
        size_t n = (size_t)count;
        q->present += tepal_filter_query_many(q->filter, q->feed->digest, n, q->answers);
        q->keys += n;
        print_batch(q, n);
        if (q->args->option[OPT_SILENT].given && selected(q) > 0) {
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
    if (q->args->option[OPT_JSON].given) {
        json_t *object = json_object();
        json_object_set_new(object, "file", render_string(q->path));
        json_object_set_new(object, "keys", json_integer((json_int_t)q->keys));
        json_object_set_new(object, "present", json_integer((json_int_t)q->present));
        json_object_set_new(object, "absent", json_integer((json_int_t)(q->keys - q->present)));
        return render_json(q->out, object);
    }
    if (q->args->option[OPT_COUNT].given) {
        out_format(q->out, "%" PRIu64 "\n", selected(q));
    }
    return EXIT_YES;
}

static int ask(struct query *q, const struct tepal_hasher *hasher)
{
    /* Output and progress would run into each other on one terminal. */
    bool quiet = q->args->option[OPT_SILENT].given || isatty(STDOUT_FILENO);
    q->feed = feed_open(q->args, 1, hasher, quiet);
    q->out = q->feed == NULL ? NULL : out_open(STDOUT_FILENO);
    if (q->out == NULL) {
        feed_close(q->feed);
        return EXIT_TROUBLE;
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
    bool reads_standard = args->operands == 1;
    for (size_t i = 1; i < args->operands; i++) {
        reads_standard = reads_standard || strcmp(args->operand[i], "-") == 0;
    }
    if (reads_standard && strcmp(args->operand[0], "-") == 0) {
        return say_error(NULL, "standard input",
                         "the filter is read from there, so the keys must come from files");
    }
    /* Keys that come out where they are read would be read again, until the disk is full. */
    const struct option_value *option = args->option;
    bool prints_keys =
        !option[OPT_COUNT].given && !option[OPT_SILENT].given && !option[OPT_JSON].given;
    return shelf_check_inputs(NULL, prints_keys ? "-" : NULL, args->operand + 1, args->operands - 1,
                              "the keys are also the output");
}

int query_run(const struct args *args)
{
    struct query q = {.args = args,
                      .path = args->operand[0],
                      .separator = args->option[OPT_NULL].given ? '\0' : '\n'};
    struct tepal_hasher hasher;
    enum shelf_mode mode = args->option[OPT_LAZY].given ? SHELF_GLANCE : SHELF_VIEW;
    if (check(args) != EXIT_YES || shelf_open(NULL, q.path, mode, &q.filter) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    int code = shelf_hasher(args, shelf_name(q.path, false), q.filter, &hasher);
    if (code == EXIT_YES) {
        code = ask(&q, &hasher);
    }
    tepal_filter_free(q.filter);
    return code;
}
