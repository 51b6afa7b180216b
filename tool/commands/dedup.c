/*
 * dedup.c: lines in, first sightings out, for ever and in fixed memory: the recycling filter as a
 * command.
 *
 * What was printed and what is remembered must agree after a crash: output is flushed before a
 * state is saved, and nothing is saved when output could not be written. So a line may come out a
 * second time after a crash, but none is ever kept back that did not come out.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tepal/recycling.h>

#include "cli/command.h"
#include "input/feed.h"
#include "output/answers.h"
#include "output/render.h"
#include "output/report.h"
#include "files/atomic_file.h"
#include "files/filter_file.h"
#include "files/sides.h"
#include "streams/state.h"
#include "streams/stream.h"
#include "streams/sample.h"
#include "streams/times.h"
#include "streams/signals.h"
#include "cli/options.h"

struct dedup {
    const struct args *args;
    struct state state;
    struct tepal_filter *filter;
    struct feed *feed;
    struct out *out;
    struct sample sample;
    struct ages ages;
    bool prints; /* lines, that is, not counts */
    bool timed;
    bool clock_told;
    bool began; /* with an empty filter: what it finds at first it finds by mistake */
    uint64_t lines;
    uint64_t repeated;
    uint64_t answers[FEED_BATCH / 64];
};

/* ---- figures --------------------------------------------------------------------------------- */

/* The average so far; less than what can be told is said to be that. */
static void tell_average(struct report *r, const struct dedup *d, double average)
{
    char room[64];
    char text[80];
    double least = stream_floor(tepal_filter_params(d->filter));
    bool less = average > 0 && average < least;
    snprintf(text, sizeof text, "%s%s", less ? "less than " : "",
             render_rate(less ? least : average, room, sizeof room));
    report_real(r, "fp_average", less ? least : average, JSON_ONLY);
    report_text(r, "fp_average", text, text_column("false positives", 0, NULL));
}

/* What the sample has seen: the ways of counting false positives, and different lines. */
static void tell_sample(struct report *r, const struct dedup *d)
{
    struct tepal_recycling_counts ways = {NAN, NAN, NAN};
    struct sample_distinct distinct = sample_distinct(&d->sample, d->lines - d->repeated);
    if (d->began) {
        ways = sample_ways(&d->sample);
    }
    report_real(r, "fp_first", ways.first, JSON_ONLY);
    report_real(r, "fp_each", ways.each, JSON_ONLY);
    report_real(r, "fp_instance", ways.instance, JSON_ONLY);
    report_real(r, "distinct", distinct.keys, JSON_ONLY);
    report_real(r, "distinct_low", distinct.low, JSON_ONLY);
    report_real(r, "distinct_high", distinct.high, JSON_ONLY);
}

/* The number of different lines; with its interval unless every key was watched. */
static void tell_distinct(struct report *r, const struct dedup *d)
{
    struct sample_distinct distinct = sample_distinct(&d->sample, d->lines - d->repeated);
    if (isnan(distinct.keys)) {
        report_line(r, "unknown (out of memory)\n");
    } else if (d->sample.mask == 0) {
        report_line(r, "%.0f (exact)\n", distinct.keys);
    } else {
        report_line(r, "%.0f (95 %%: %.0f to %.0f)\n", distinct.keys, distinct.low, distinct.high);
    }
}

static void tell_figures(struct report *r, const struct dedup *d)
{
    struct tepal_recycling_figures f = {.arrivals = 0};
    const struct tepal_params *p = tepal_filter_params(d->filter);
    uint64_t phases = p->recycling.phases;
    (void)tepal_recycling_get_figures(d->filter, &f);
    r->sentence = true;
    report_object(r, NULL);
    report_whole(r, "lines", d->lines, column("lines", 0, NULL));
    report_whole(r, "new", d->lines - d->repeated, column("new", 0, NULL));
    report_whole(r, "repeated", d->repeated, column("repeated", 0, NULL));
    report_whole(r, "cycles", f.cycles, column("cycles", 0, NULL));
    report_real(r, "fill", f.fill, column("fill", 0, "%.1f %%"));
    tell_average(r, d, f.fp_so_far);
    report_real(r, "fn_estimated", sample_missed(&d->sample),
                column_or(column("false negatives", 0, NULL), "unknown"));
    tell_sample(r, d);
    report_whole(r, "lines_ever", f.arrivals, JSON_ONLY);
    report_whole(r, "memory", p->cells / 8 * phases, JSON_ONLY);
    report_whole(r, "phases", phases, JSON_ONLY);
    report_whole(r, "hashes", p->hashes, JSON_ONLY);
    report_text(r, "layout", tepal_layout_name(p->layout), JSON_ONLY);
    report_end(r);
}

/* One line of figures on standard error. */
static void tell(const struct dedup *d)
{
    struct report r = report_on(out_open(STDERR_FILENO), d->args);
    tell_figures(&r, d);
    report_close(&r, EXIT_YES);
}

/*
 * Was the rate kept? Without --fp that is asked only if something else decided when to recycle:
 * a state knows how it recycles, not what rate was asked for when it was made.
 */
static void check_rate(const struct dedup *d, double average)
{
    const struct option_value *fp = arg(d->args, "fp");
    bool ruled = arg(d->args, "sigma")->given || arg(d->args, "count")->given ||
                 arg(d->args, "every")->given || arg(d->args, "within")->given;
    if (arg(d->args, "quiet")->given || !(fp->given || ruled)) {
        return;
    }
    if (average > 1.1 * (fp->given ? fp->real : STREAM_FP)) {
        say_warning(d->args->command->name,
                    "the average false-positive rate is above --fp %s: give more --memory, or "
                    "recycle sooner",
                    fp->given ? fp->text : "1% (the default)");
    }
}

/* At the end: counts if they were asked for, figures, and what went wrong with the rate. */
static int conclude(struct dedup *d)
{
    struct report r = report_on(d->out, d->args);
    bool distinct = arg(d->args, "count-distinct")->given;
    bool counts = distinct || arg(d->args, "count-only")->given;
    bool json = report_is(&r, REPORT_JSON);
    if (counts && json) {
        tell_figures(&r, d);
    } else if (distinct) {
        tell_distinct(&r, d);
    } else if (counts) {
        report_line(&r, "%" PRIu64 "\n",
                    arg(d->args, "repeats")->given ? d->repeated : d->lines - d->repeated);
    }
    if (!r.quiet && !(counts && json)) {
        tell(d);
    }
    struct tepal_recycling_figures f = {.fp_so_far = 0};
    (void)tepal_recycling_get_figures(d->filter, &f);
    check_rate(d, f.fp_so_far);
    d->ages.fp = f.fp_so_far;
    struct args_after after;
    int code = sides_write(args_after(&after, d->args, "all lines were read"),
                           &(struct side){"ages", ages_print, &d->ages},
                           &(struct side){"svg", ages_draw, &d->ages});
    return report_code(&r, code);
}

/* ---- while it runs --------------------------------------------------------------------------- */

/* Seconds would do for people; a stream may want less. */
static uint64_t milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void set_clock(struct dedup *d, uint64_t now)
{
    if (!d->timed) {
        return;
    }
    enum tepal_status status = tepal_recycling_set_clock(d->filter, now);
    d->sample.now = status == TEPAL_OK ? now : d->sample.now;
    if (status == TEPAL_CLOCK_BACK && !d->clock_told && !arg(d->args, "quiet")->given) {
        say_warning(
            d->args->command->name,
            "the clock went backwards: recycling by time pauses until the clock has caught up");
        d->clock_told = true;
    }
}

/* What was printed must have left before it is on record that it was seen. */
static void save(struct dedup *d)
{
    out_flush(d->out);
    if (d->out->failed == 0) {
        state_save(&d->state, d->filter);
    }
}

/*
 * Before every read. If nothing is at hand, all that was said so far goes out first; the state is
 * saved when it is due; signals are answered. False: end here.
 */
static bool wait_for_input(void *context, int fd)
{
    struct dedup *d = context;
    bool at_once = true;
    for (;;) {
        double due = state_due(&d->state, d->filter);
        if (due == 0) {
            save(d);
        }
        switch (signals_wait(fd, at_once ? 0 : state_due(&d->state, d->filter))) {
        case SIGNALS_READY:
            return true;
        case SIGNALS_STOP:
            return false;
        case SIGNALS_TELL:
            if (!arg(d->args, "time-field")->given) {
                set_clock(d, milliseconds());
            }
            tell(d);
            break;
        case SIGNALS_IDLE:
            out_flush(d->out);
            at_once = false;
            break;
        }
    }
}

/* What a failure leaves, once there were lines: they are remembered, as they were dealt with. */
static const char *stays(const struct dedup *d)
{
    static const char *const what[][2] = {
        {"the lines before it were read", "the lines before it were read, and go into the state"},
        {"the repeats before it are out", "the repeats before it are out, and go into the state"},
        {"the lines before it are out", "the lines before it are out, and go into the state"},
    };
    size_t i = !d->prints ? 0 : arg(d->args, "repeats")->given ? 1 : 2;
    return what[i][d->state.path != NULL];
}

/* Lines that all come now: `n` of the batch, from the first on. */
static enum tepal_status take_batch(struct dedup *d, size_t n)
{
    size_t seen = 0;
    set_clock(d, milliseconds());
    enum tepal_status status =
        tepal_filter_test_add_many(d->filter, d->feed->digest, n, d->answers, &seen);
    sample_note(&d->sample, d->feed->digest, d->answers, n);
    d->repeated += seen;
    return status;
}

/*
 * Lines that bring their times. *n becomes the number of those before a line without one; *why is
 * then what is wrong with it, else NULL.
 */
static enum tepal_status take_timed(struct dedup *d, size_t *n, const char **why)
{
    size_t field = (size_t)arg(d->args, "time-field")->whole;
    *why = NULL;
    for (size_t i = 0; i < *n; i++) {
        const struct tepal_digest *digest = &d->feed->digest[i];
        uint64_t *word = &d->answers[i / 64];
        uint64_t now;
        bool seen = false;
        struct key line = feed_key(d->feed, i);
        *why = times_read(d->feed, &line, field, &now);
        if (*why != NULL) {
            *n = i;
            return TEPAL_OK;
        }
        set_clock(d, now);
        enum tepal_status status = tepal_filter_test_add(d->filter, *digest, &seen);
        if (status != TEPAL_OK) {
            return status;
        }
        uint64_t answer = seen;
        sample_note(&d->sample, digest, &answer, 1);
        *word = (i % 64 == 0 ? 0 : *word) | answer << (i % 64);
        d->repeated += seen;
    }
    return TEPAL_OK;
}

static int run_batches(struct dedup *d)
{
    bool repeats = arg(d->args, "repeats")->given;
    bool timed = arg(d->args, "time-field")->given;
    ptrdiff_t count;
    while ((count = feed_next(d->feed)) > 0) {
        size_t n = (size_t)count;
        const char *why = NULL;
        enum tepal_status status = timed ? take_timed(d, &n, &why) : take_batch(d, n);
        if (status != TEPAL_OK) {
            return args_wrong(d->args, "%s", tepal_status_message(status));
        }
        d->lines += n;
        if (d->prints) {
            answers_print(d->out, d->feed->key, d->feed->len, d->answers, n, repeats,
                          d->feed->comments);
        }
        if (d->out->failed != 0) {
            return EXIT_TROUBLE;
        }
        if (why != NULL) {
            return say_error(NULL, feed_subject(d->feed), "line %" PRIu64 ": %s; %s",
                             feed_number(d->feed, n), why,
                             d->lines == 0 ? d->args->command->stays : stays(d));
        }
        d->feed->stays = stays(d);
    }
    return count == 0 ? EXIT_YES : EXIT_TROUBLE;
}

/* ---- the filter ------------------------------------------------------------------------------ */

/* A new one, by the options. */
static int make_filter(struct dedup *d)
{
    struct tepal_params params;
    if (stream_params(d->args, NULL, &params) != EXIT_YES ||
        arg_seed(d->args, &params.seed) != EXIT_YES ||
        arg_hash(d->args, &params.hash) != EXIT_YES) { /* the key itself comes with the hasher */
        return EXIT_TROUBLE;
    }
    enum tepal_status status = tepal_filter_create(&params, NULL, &d->filter, NULL);
    return args_status(d->args, status, NULL);
}

/* The one of --state, if it is what the options ask for; else a new one. */
static int get_filter(struct dedup *d)
{
    struct tepal_filter *before;
    struct tepal_params wanted;
    int code = state_open(&d->state, d->args, &before);
    if (code != EXIT_YES || before == NULL) {
        return code != EXIT_YES ? code : make_filter(d);
    }
    d->filter = before;
    if (state_change_rule(&d->state, &d->filter) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    before = d->filter;
    code = stream_params(d->args, tepal_filter_params(before), &wanted);
    code = code == EXIT_YES ? state_compare(&d->state, &wanted, tepal_filter_params(before)) : code;
    if (code == EXIT_YES) {
        state_tell_rule(&d->state, before);
    }
    return code;
}

static int watch(struct dedup *d)
{
    struct tepal_hasher hasher;
    const char *name = d->state.path != NULL ? d->state.name : d->args->command->name;
    if (filter_file_hasher(d->args, name, d->filter, &hasher) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    struct tepal_recycling_figures before = {.arrivals = 0};
    (void)tepal_recycling_get_figures(d->filter, &before);
    d->began = before.arrivals == 0;
    const struct tepal_recycling_params *cycle = &tepal_filter_params(d->filter)->recycling;
    d->timed = cycle->rule == TEPAL_RECYCLING_TIME;
    for (size_t i = 0; i < 3 && !d->timed; i++) {
        static const char *const by_time[] = {"time-field", "ages", "svg"};
        if (arg(d->args, by_time[i])->given) {
            return args_error(d->args, "--%s needs --every or --within", by_time[i]);
        }
    }
    if (arg(d->args, "ages")->given || arg(d->args, "svg")->given) {
        ages_init(&d->ages, tepal_filter_params(d->filter));
        d->sample.ages = &d->ages;
        d->sample.only_misses = (cycle->flags & TEPAL_RECYCLING_ONLY_MISSES) != 0;
    }
    d->feed = feed_open(d->args, 0, &hasher);
    d->out = d->feed == NULL ? NULL : out_open(STDOUT_FILENO);
    if (d->out == NULL) {
        feed_close(d->feed);
        return EXIT_TROUBLE;
    }
    if (d->args->operands == 0 || isatty(STDOUT_FILENO)) {
        d->feed->progress.on = false; /* a stream has no end, and it would run into the output */
    }
    feed_set_wait(d->feed, wait_for_input, d);
    int code = run_batches(d);
    feed_close(d->feed);
    code = code == EXIT_YES ? conclude(d) : code;
    out_flush(d->out);
    bool written = d->out->failed == 0;
    code = out_close(d->out, code);
    bool begun = code == EXIT_YES || d->lines > 0; /* if nothing was read, nothing is saved */
    if (written && begun && state_close(&d->state, d->filter) != EXIT_YES) {
        code = EXIT_TROUBLE;
    }
    return code;
}

static int dedup_run(const struct args *args)
{
    struct dedup d = {.args = args,
                      .prints =
                          !arg(args, "count-only")->given && !arg(args, "count-distinct")->given};
    signals_start(); /* before anything that takes time: a question must not kill it */
    int code = filter_file_check_inputs(args, d.prints ? "-" : NULL, args->operand, args->operands,
                                        "the lines are also the output");
    if (code == EXIT_YES && arg(args, "state")->given) {
        code = filter_file_check_inputs(args, arg(args, "state")->text, args->operand,
                                        args->operands, "the state would overwrite the lines");
    }
    code = code == EXIT_YES ? sides_check(args, "ages", "svg") : code;
    if (code == EXIT_YES && !sample_init(&d.sample)) {
        code = args_no_memory(args);
    }
    code = code == EXIT_YES ? get_filter(&d) : code;
    code = code == EXIT_YES ? watch(&d) : code;
    state_free(&d.state);
    tepal_filter_free(d.filter);
    sample_free(&d.sample);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    FLAG('d', "repeats", "Print the repeats instead of the new lines."),
    FLAG('c', "count-only", "Print only the number of lines (with --json: all figures)."),
    FLAG(0, "count-distinct",
         "Print only the number of different lines of this run, corrected for both errors by a "
         "sample of the keys, with a 95 % interval. Exact up to 16384 different lines."),
    OPTION_MEMORY,
    OPTION_STREAM_FP,
    OPTION_STREAM_RULE,
    OPTION_PHASES,
    OPTION_SIGMA,
    OPTION_CYCLE_COUNT,
    OPTION_EVERY,
    OPTION_WITHIN,
    OPTION_LINES,
    OPTION_TIME_FIELD,
    OPTION(0, "ages", OF_VALUE(TAKES_FILE, "FILE"),
           "Write what was forgotten against how long ago a line came last to FILE, tab-separated, "
           "with what the model tells."),
    OPTION(0, "svg", OF_VALUE(TAKES_FILE, "FILE"), "Draw the same to FILE, as SVG."),
    OPTION_STREAM_ONLY_MISSES,
    OPTION_STATE,
    OPTION_SAVE_EVERY,
    OPTION_FIELD,
    OPTION_DELIMITER,
    KEY_OPTIONS,
    OPTION_STREAM_LAYOUT,
    OPTION_STREAM_HASHES,
    OPTION_SEED,
    OPTION_KEY_FILE,
    OPTION_HASH,
    OPTION_FORCE,
    FLAG('j', "json",
         "Print the figures as JSON, one object per line, on standard error (with -c on standard "
         "output)."),
    OPTION_QUIET,
    OPTION_HELP,
    OPTIONS_END};
static const char *const exclusive[][4] = {{"rule", "sigma", "count", "every"},
                                           {"within", "rule", "sigma", "count"},
                                           {"within", "every"},
                                           {"lines", "memory"},
                                           {"count-distinct", "count-only"},
                                           {"count-distinct", "repeats"},
                                           {NULL}};
static const struct example examples[] = {
    {"tail -F access.log | tepal dedup --field 1", "Each client once, when it first appears."},
    {"tepal dedup --memory 1Gi --fp 1/1000 huge.txt > distinct.txt",
     "A file of any size, in a gibibyte of memory."},
    {"tepal dedup --count-distinct --field 1 access.log", "How many different clients?"},
    {"tepal dedup --every 10m --only-misses --state alerts.state < alerts",
     "Each alert at most once in 10 minutes, across restarts."},
    {"tepal dedup --within 1h --lines 1M --time-field 1 --field 2 events.tsv",
     "Events of a file, each at most once an hour, by the times in the file."},
    {NULL, NULL}};

const struct command command_dedup = {
    .name = "dedup",
    .synopsis = "[FILES...] [-d] [-c] [--memory SIZE] [--fp RATE] [--state FILE]",
    .summary = "Print lines not seen before, in fixed memory for endless streams.",
    .about =
        "Reads lines from FILES (standard input if there are none, or for -) and prints each line "
        "that it has not seen before, immediately. Memory is fixed however long the stream is: old "
        "lines are forgotten, and may be printed again. So there are two errors: a new line taken "
        "for a repeat (the rate is --fp), and a repeat that was forgotten (the rate depends on the "
        "stream: `tepal gaps` predicts it). Files may be compressed with gzip, zstd or xz.\n\n"
        "At the end, and on SIGUSR1, prints a line of figures on standard error: lines, new lines "
        "and repeats of this run; completed cycles, fill and average false-positive rate of the "
        "filter; and the false negatives, measured on a sample of the keys. SIGINT and SIGTERM act "
        "like the end of the input.",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .most_operands = SIZE_MAX,
    .stays = "nothing was read",
    .examples = examples,
    .run = dedup_run};
