/*
 * audit.c: what removals have done to a counting filter, against the list of its members: false
 * negatives, exposed and potential, beside what the theorems expect; the load of the counters as a
 * picture.
 */
#include <stdlib.h>
#include <string.h>

#include <tepal/counting.h>
#include <tepal/papers.h>

#include "cli/command.h"
#include "input/receipts.h"
#include "output/report.h"
#include "files/filter_file.h"
#include "files/atomic_file.h"
#include "pictures/svg.h"
#include "cli/options.h"

#define VALUES (TEPAL_MAX_COUNTER + 1)
#define BARS   50

struct audit {
    const struct args *args;
    struct tepal_filter *filter;
    struct tepal_digest *members;
    uint8_t *groups; /* with receipts */
    size_t count;
    size_t room;
    struct tepal_report report;
};

/* ---- members --------------------------------------------------------------------------------- */

static int make_room(struct audit *a, size_t more)
{
    if (a->count + more <= a->room) {
        return EXIT_YES;
    }
    size_t room = (a->count + more) * 2;
    struct tepal_digest *members = realloc(a->members, room * sizeof *members);
    if (members != NULL) {
        a->members = members;
    }
    uint8_t *groups = realloc(a->groups, room);
    if (groups != NULL) {
        a->groups = groups;
    }
    if (members == NULL || groups == NULL) {
        return args_wrong(a->args, "out of memory for the members");
    }
    a->room = room;
    return EXIT_YES;
}

static int read_members(struct audit *a, const struct tepal_hasher *hasher)
{
    const struct option_value *receipts = arg(a->args, "receipts");
    const struct option_value *file = receipts->given ? receipts : arg(a->args, "members");
    uint32_t choices = (uint32_t)tepal_filter_params(a->filter)->counting.choices;
    struct feed *feed = feed_open_file(a->args, &file->text, hasher, receipts->given);
    if (feed == NULL) {
        return EXIT_TROUBLE;
    }
    feed->receipts = receipts->given;
    ptrdiff_t got;
    int code = EXIT_YES;
    while (code == EXIT_YES && (got = feed_next(feed)) != 0) {
        code = got < 0 ? EXIT_TROUBLE : make_room(a, (size_t)got);
        if (code == EXIT_YES && receipts->given) {
            code = receipts_groups(a->args, feed, (size_t)got, choices, a->groups + a->count);
        }
        if (code == EXIT_YES) {
            memcpy(a->members + a->count, feed->digest, (size_t)got * sizeof *a->members);
            a->count += (size_t)got;
        }
    }
    feed_close(feed);
    return code;
}

/* ---- the picture ----------------------------------------------------------------------------- */

static const double *histogram_of(const struct audit *a)
{
    const struct tepal_quantity *q = tepal_report_find(&a->report, "histogram");
    return a->report.number + q->value.list.first;
}

static size_t largest(const double *histogram)
{
    size_t top = VALUES - 1;
    while (top > 0 && histogram[top] == 0) {
        top--;
    }
    return top;
}

static void print_bars(struct report *r, const struct audit *a)
{
    const double *histogram = histogram_of(a);
    double most = 0;
    double sum = 0;
    for (size_t v = 0; v < VALUES; v++) {
        most = histogram[v] > most ? histogram[v] : most;
        sum += histogram[v];
    }
    report_line(r, "\nload: counters at each value\n");
    for (size_t v = 0; v <= largest(histogram); v++) {
        size_t length = (size_t)(histogram[v] / most * BARS + 0.5);
        report_line(r, "%5zu %11.0f %8.4f %%  ", v, histogram[v], 100 * histogram[v] / sum);
        for (size_t i = 0; i < length; i++) {
            report_line(r, "#");
        }
        report_line(r, histogram[v] > 0 && length == 0 ? ".\n" : "\n");
    }
}

/* The ideal load beside the real one; models know the flat layout. */
static size_t ideal(const struct audit *a, struct svg_point *point)
{
    const struct tepal_params *p = tepal_filter_params(a->filter);
    double share[VALUES];
    bool improved = p->counting.rule == TEPAL_RULE_IMPROVED_GREEDY;
    if (tepal_counting_shares(p->cells, a->count, p->hashes, (uint32_t)p->counting.choices,
                              improved, share) != TEPAL_OK) {
        return 0;
    }
    size_t count = 0;
    for (size_t v = 0; v < VALUES; v++) {
        double expected = share[v] * (double)p->cells;
        if (expected >= 0.5) {
            point[count++] = (struct svg_point){.x = (double)v, .y = expected};
        }
    }
    return count;
}

static void draw(const void *context, struct out *out)
{
    const struct audit *a = context;
    const double *histogram = histogram_of(a);
    struct svg_point real[VALUES];
    struct svg_point model[VALUES];
    size_t count = 0;
    for (size_t v = 0; v <= largest(histogram); v++) {
        if (histogram[v] > 0) {
            real[count++] = (struct svg_point){.x = (double)v, .y = histogram[v]};
        }
    }
    const struct svg_series series[] = {
        {.name = "this filter", .style = SVG_LINE, .point = real, .count = count},
        {.name = "ideal", .style = SVG_DASHED, .point = model, .count = ideal(a, model)}};
    struct svg_chart chart = {.title = "Load of the counters",
                              .x_label = "value of a counter",
                              .y_label = "counters",
                              .y_log = true,
                              .series = series,
                              .count = 2};
    svg_print(out, &chart);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int print(const struct audit *a)
{
    struct report r = report_open(a->args);
    report_object(&r, NULL);
    report_text(&r, "file", a->args->operand[0], JSON_ONLY);
    report_quantities(&r, &a->report, true);
    if (report_is(&r, REPORT_TEXT)) {
        print_bars(&r, a);
    }
    report_end(&r);
    return report_close(&r, EXIT_YES);
}

static int check(const struct args *args)
{
    const struct option_value *members = arg(args, "members");
    const struct option_value *receipts = arg(args, "receipts");
    const char *path = receipts->given ? receipts->text : members->text;
    if (!members->given && !receipts->given) {
        return args_wrong(args, "the members are needed: --members KEYS, or --receipts FILE");
    }
    if (strcmp(args->operand[0], "-") == 0 && strcmp(path, "-") == 0) {
        return say_error(NULL, "standard input",
                         "the filter and the members cannot both be read from there");
    }
    if (arg(args, "svg")->given &&
        (filter_file_check_inputs(args, arg(args, "svg")->text, &path, 1,
                                  "the picture would overwrite the members") != EXIT_YES ||
         atomic_file_check(args, arg(args, "svg")->text) != EXIT_YES)) {
        return EXIT_TROUBLE;
    }
    return filter_file_check_inputs(args, NULL, &path, 1, "");
}

static int work(struct audit *a)
{
    const char *name = filter_file_name(a->args->operand[0], false);
    struct tepal_hasher hasher;
    if (tepal_filter_kind(a->filter)->id != TEPAL_KIND_COUNTING) {
        return say_error(NULL, name,
                         "only counting filters can be audited, and this one is of the kind %s",
                         tepal_filter_kind(a->filter)->name);
    }
    if (tepal_filter_params(a->filter)->counting.form == TEPAL_FORM_BITS) {
        return say_error(
            NULL, name,
            "its counters were dropped (convert --to bits), so there is nothing to audit");
    }
    int code = filter_file_hasher(a->args, name, a->filter, &hasher);
    code = code == EXIT_YES ? read_members(a, &hasher) : code;
    if (code != EXIT_YES) {
        return code;
    }
    const uint8_t *groups = arg(a->args, "receipts")->given ? a->groups : NULL;
    enum tepal_status status =
        tepal_counting_audit(a->filter, a->members, groups, a->count, NULL, &a->report, NULL);
    if (status != TEPAL_OK) {
        return say_status(NULL, name, status, NULL);
    }
    if (atomic_file_write(a->args, "svg", draw, a) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    return print(a);
}

static int audit_run(const struct args *args)
{
    struct audit a = {.args = args};
    if (check(args) != EXIT_YES ||
        filter_file_open(args, args->operand[0], FILTER_FILE_LOAD, &a.filter) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    int code = work(&a);
    free(a.members);
    free(a.groups);
    tepal_filter_free(a.filter);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION_MEMBERS,
    OPTION_RECEIPTS_IN,
    OPTION(0, "svg", OF_VALUE(TAKES_FILE, "OUT"),
           "Also draw the load of the counters to OUT, as SVG."),
    KEY_OPTIONS,
    OPTION_KEY_FILE,
    OPTION_FORCE,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_HELP,
    OPTIONS_END};
static const char *const exclusive[][4] = {{"members", "receipts"}, {NULL}};
static const struct example examples[] = {
    {"tepal audit flows.tepal --members open.txt", "Which open flows are no longer found?"},
    {"tepal audit flows.tepal --members open.txt --svg load.svg",
     "And draw the load of the counters."},
    {NULL, NULL}};

const struct command command_audit = {
    .name = "audit",
    .synopsis = "FILE (--members KEYS | --receipts FILE) [--json] [--svg OUT]",
    .summary = "Show what removals have done to a counting filter.",
    .about = "Looks up all members of the filter (list each as often as it was added) and reports "
             "how many are no longer found (exposed false negatives), how many would be lost, "
             "these included, once other members are removed (potential ones), the counts that "
             "members lack (deficit) and those that belong to no member (surplus), next to what "
             "the theorems expect of so many wrong removals; and the load of the counters.",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .least_operands = 1,
    .most_operands = 1,
    .operand_name = "a filter is",
    .examples = examples,
    .run = audit_run};
