/*
 * gaps.c: what would dedup do with this stream? Gaps in, false negatives for every size of memory
 * out, by the model (docs/models.md).
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "input/feed.h"
#include "streams/gap_counts.h"
#include "output/report.h"
#include "files/filter_file.h"
#include "files/sides.h"
#include "files/atomic_file.h"
#include "streams/stream.h"
#include "pictures/svg.h"
#include "cli/options.h"

#define MOST_SIZES 64
#define PHASES     2 /* 1 and 2 are compared; more never clearly helped */

struct row {
    uint64_t memory;
    struct tepal_recycling_setting setting;
    struct tepal_recycling_rates rates; /* of new lines alone */
    struct tepal_recycling_outlook outlook;
};

struct gaps {
    const struct args *args;
    struct gap_counts count;
    double sample;
    double fp;
    enum tepal_layout layout;
    bool by_sigma;
    struct tepal_recycling_stream stream; /* with the steps of the distribution */
    double gap[GAPCOUNT_BINS];
    double survival[GAPCOUNT_BINS];
    struct row row[MOST_SIZES * PHASES];
    size_t rows;
};

/* ---- measure --------------------------------------------------------------------------------- */

static int measure(struct gaps *g)
{
    struct tepal_hasher hasher;
    tepal_hasher_init(1, &hasher);
    struct feed *feed = feed_open(g->args, 0, &hasher);
    ptrdiff_t count = -1;
    bool room = true;
    if (feed == NULL) {
        return EXIT_TROUBLE;
    }
    while (room && (count = feed_next(feed)) > 0) {
        room = gap_counts_note(&g->count, feed->digest, (size_t)count);
    }
    feed_close(feed);
    if (!room) {
        return args_about(g->args, NULL, "out of memory: give --sample");
    }
    if (count == 0 && g->count.arrivals == 0) {
        return args_error(g->args, "no lines in the input");
    }
    return count == 0 ? EXIT_YES : EXIT_TROUBLE;
}

/* ---- predict --------------------------------------------------------------------------------- */

static void add_row(struct gaps *g, uint64_t memory, uint32_t phases)
{
    struct row *r = &g->row[g->rows];
    r->memory = memory;
    if (!stream_plan(g->layout, memory, phases, 0, g->fp, &r->setting, &r->rates)) {
        return;
    }
    double fp = g->by_sigma ? (double)NAN : g->fp;
    if (tepal_recycling_on_stream(&r->setting, fp, &g->stream, &r->outlook) == TEPAL_OK) {
        g->rows++;
    }
}

/*
 * Powers of two, from what holds about a hundredth of the keys to what holds all of them in one of
 * two phases.
 */
static void predict(struct gaps *g)
{
    const struct option_value *memory = arg(g->args, "memory");
    double keys = gap_counts_distinct(&g->count);
    if (memory->given) {
        for (uint32_t phases = 1; phases <= PHASES; phases++) {
            add_row(g, memory->whole, phases);
        }
        return;
    }
    uint64_t size = 256;
    /* About ten bits a key at 1 %, more at lower rates. */
    double bytes = keys * (1 - log2(g->fp)) * 1.44 / 8;
    while ((double)size * 2 <= bytes / 100) {
        size *= 2;
    }
    bool enough = false;
    for (size_t i = 0; i < MOST_SIZES && !enough; i++, size *= 2) {
        for (uint32_t phases = 1; phases <= PHASES; phases++) {
            size_t before = g->rows;
            add_row(g, size, phases);
            enough = phases == PHASES && g->rows > before &&
                     g->row[before].rates.messages_per_cycle >= keys;
        }
    }
}

/* ---- print ----------------------------------------------------------------------------------- */

static void tell_row(struct report *r, const struct row *row, const struct gaps *g)
{
    const struct tepal_recycling_setting *s = &row->setting;
    /* A line's later arrivals do not depend on whether its first one was lost. */
    struct tepal_recycling_counts ways =
        tepal_recycling_ways(row->outlook.fp, 1 / gap_counts_fresh(&g->count));
    report_object(r, NULL);
    report_whole(r, "memory", row->memory, column("memory", 12, NULL));
    report_whole(r, "phases", s->phases, column("phases", 6, NULL));
    report_whole(r, "bits", s->bits, JSON_ONLY);
    report_whole(r, "hashes", s->hashes, column("hashes", 6, NULL));
    report_whole_if(r, "sigma", g->by_sigma, s->sigma, NO_TEXT);
    report_real(r, "messages_per_cycle", row->outlook.messages, column("keys/cycle", 13, "%.0f"));
    report_real(r, "arrivals_per_cycle", row->outlook.period,
                column_or(column("lines/cycle", 13, "%.0f"), "never"));
    report_real(r, "fp", row->outlook.fp, column("fp", 12, "%.3g %%"));
    report_real(r, "fn", row->outlook.fn, column("fn", 12, "%.3g %%"));
    report_real(r, "fp_each", ways.each, NO_TEXT);
    report_real(r, "fp_first", ways.first, column("fp, first", 12, "%.3g %%"));
}

static void tell_stream(struct report *r, const struct gaps *g)
{
    const struct gap_counts *c = &g->count;
    bool watched = c->watched > 0;
    double keys = watched ? gap_counts_distinct(c) : NAN;
    double fresh = watched ? gap_counts_fresh(c) : NAN;
    report_whole(r, "arrivals", c->arrivals, JSON_ONLY);
    report_real(r, "keys", keys, JSON_ONLY);
    report_real(r, "sample", g->sample, JSON_ONLY);
    report_real(r, "fresh", fresh, JSON_ONLY);
    report_line(r, "lines    %" PRIu64 "\n", c->arrivals);
    if (watched) {
        report_line(r, "keys     %.0f%s\n", keys, g->sample < 1 ? " (estimated)" : "");
        report_line(r, "new      %.4g %% of the lines\n", 100 * fresh);
    }
    if (gap_counts_repeats(c) > 0) {
        double median = gap_counts_quantile(c, 0.5);
        double most = gap_counts_quantile(c, 0.9);
        double nearly_all = gap_counts_quantile(c, 0.99);
        report_real(r, "gap_median", median, JSON_ONLY);
        report_real(r, "gap_90", most, JSON_ONLY);
        report_real(r, "gap_99", nearly_all, JSON_ONLY);
        report_real(r, "gap_longest", (double)c->longest, JSON_ONLY);
        report_line(
            r, "gaps     median %.0f, 90 %% up to %.0f, 99 %% up to %.0f, longest %" PRIu64 "\n",
            median, most, nearly_all, c->longest);
    }
    report_text(r, "layout", tepal_layout_name(g->layout), JSON_ONLY);
    report_text(r, "rule", g->by_sigma ? "sigma" : "average", JSON_ONLY);
}

static int print(const struct gaps *g)
{
    struct report r = report_open(g->args);
    report_object(&r, NULL);
    tell_stream(&r, g);
    report_list(&r, "rows");
    report_line(&r, g->rows > 0 ? "\n" : "");
    for (size_t i = 0; i < g->rows; i++) {
        tell_row(&r, &g->row[i], g);
        report_end(&r);
    }
    if (g->rows == 0 && report_is(&r, REPORT_TSV)) {
        tell_row(&r, &g->row[0], g);
        report_headings(&r);
    }
    report_end(&r);
    report_end(&r);
    return report_close(&r, EXIT_YES);
}

/* ---- files beside it ------------------------------------------------------------------------- */

static void draw(const void *context, struct out *out)
{
    const struct gaps *g = context;
    struct svg_point point[PHASES][MOST_SIZES];
    struct svg_series series[PHASES] = {{.name = "1 phase"}, {.name = "2 phases"}};
    memset(point, 0, sizeof point);
    for (size_t i = 0; i < g->rows; i++) {
        const struct row *r = &g->row[i];
        uint32_t p = r->setting.phases - 1;
        struct svg_point *at = &point[p][series[p].count++];
        at->x = (double)r->memory;
        at->y = r->outlook.fn;
        series[p].point = point[p];
    }
    char title[96];
    snprintf(title, sizeof title, "Repeats forgotten, at %.3g %% false positives", 100 * g->fp);
    struct svg_chart chart = {.title = title,
                              .x_label = "memory",
                              .y_label = "repeats forgotten",
                              .x_unit = SVG_BYTES,
                              .y_unit = SVG_SHARE,
                              .x_log = true,
                              .series = series,
                              .count = PHASES};
    svg_print(out, &chart);
}

static void print_counts(const void *context, struct out *out)
{
    const struct gaps *g = context;
    gap_counts_print(&g->count, g->sample, out);
}

/* A sample without keys says nothing of the stream but its length. */
static int without_sample(struct gaps *g)
{
    static const char why[] = "no key was sampled: give a larger --sample";
    if (arg(g->args, "save")->given || arg(g->args, "svg")->given) {
        return args_error(g->args, "%s", why);
    }
    if (!arg(g->args, "quiet")->given) {
        say_warning(g->args->command->name, "%s; no rates can be predicted", why);
    }
    return print(g);
}

static int work(struct gaps *g)
{
    int code = measure(g);
    if (code != EXIT_YES) {
        return code;
    }
    if (g->count.watched == 0) {
        return without_sample(g);
    }
    g->stream.law = TEPAL_STREAM_GAPS;
    g->stream.gaps = gap_counts_steps(&g->count, g->gap, g->survival);
    predict(g);
    if (g->rows == 0) {
        return args_error(g->args, "too little memory for this rate");
    }
    code = sides_write(g->args, &(struct side){"save", print_counts, g},
                       &(struct side){"svg", draw, g});
    return code == EXIT_YES ? print(g) : code;
}

static int gaps_run(const struct args *args)
{
    if (sides_check(args, "save", "svg") != EXIT_YES ||
        filter_file_check_inputs(args, NULL, args->operand, args->operands, "") != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    struct gaps *g = calloc(1, sizeof *g);
    if (g == NULL) {
        return args_no_memory(args);
    }
    g->args = args;
    g->sample = arg_real(args, "sample", 1);
    g->fp = arg_real(args, "fp", STREAM_FP);
    g->layout = stream_layout(args);
    g->by_sigma = stream_by(args, "sigma");
    gap_counts_init(&g->count, g->sample);
    int code = work(g);
    gap_counts_free(&g->count);
    free(g);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION('M', "memory", OF_SIZE(1, (uint64_t)1 << 56),
           "Only this much memory, in bytes (default: powers of 2, up to enough for all keys)."),
    OPTION_STREAM_FP,
    OPTION_STREAM_RULE,
    OPTION_STREAM_LAYOUT,
    OPTION(0, "sample", OF_VALUE(TAKES_SHARE, "R"),
           "Sample the share R of the keys, chosen by hash, as 1% or 1/100, and use memory for "
           "these only. Gaps are still measured in the whole stream."),
    OPTION(0, "svg", OF_VALUE(TAKES_FILE, "FILE"),
           "Draw false negatives against memory to FILE, as SVG."),
    OPTION(0, "save", OF_VALUE(TAKES_FILE, "FILE"),
           "Write the distribution of the gaps to FILE, tab-separated: gap, repeats, share of the "
           "repeats with a longer gap."),
    OPTION_FIELD,
    OPTION_DELIMITER,
    KEY_OPTIONS,
    OPTION_FORCE,
    OPTION_ROWS_TSV,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_HELP,
    OPTIONS_END};
static const char *const exclusive[][4] = {{"tsv", "json"}, {NULL}};
static const struct example examples[] = {
    {"tepal gaps access.log --field 7", "How much memory would dedup need for this log?"},
    {"zcat logs/*.gz | tepal gaps --sample 1/100 --svg memory.svg", "A huge log, from a sample."},
    {NULL, NULL}};

const struct command command_gaps = {
    .name = "gaps",
    .synopsis = "[FILES...] [--fp RATE] [--sample R] [--svg FILE] [--save FILE]",
    .summary = "Measure a stream: how much memory would dedup need?",
    .about = "Reads lines as dedup does and measures, for every repeated line, how many lines ago "
             "it came last: its gap. From the gaps it predicts what share of the repeats dedup "
             "would forget (fn) and what share of the new lines it would lose (fp; by the rule "
             "average, the rate that is asked for), for several sizes of memory and for 1 and 2 "
             "phases.\n\n"
             "Memory is needed for every distinct key, or with --sample for a share of them.",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .most_operands = SIZE_MAX,
    .stays = "nothing was written",
    .examples = examples,
    .run = gaps_run};
