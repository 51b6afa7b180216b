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
#include "files/key_list.h"
#include "input/members.h"
#include "input/receipts.h"
#include "output/progress.h"
#include "output/report.h"
#include "files/filter_file.h"
#include "files/sides.h"
#include "pictures/svg.h"
#include "cli/options.h"

#define VALUES (TEPAL_MAX_COUNTER + 1) /* at most */
#define BARS   50

struct audit {
    const struct args *args;
    struct tepal_filter *filter;
    struct members members;
    uint8_t *findings; /* of each member; NULL: nobody asked */
    struct tepal_report report;
};

/* ---- lists of members ------------------------------------------------------------------------ */

static const char *const lists[] = {"exposed", "potential", "several", NULL};
static const uint8_t finding[] = {TEPAL_COUNTING_EXPOSED, TEPAL_COUNTING_POTENTIAL,
                                  TEPAL_COUNTING_SEVERAL};
#define LISTS 3

static bool any_list(const struct args *args)
{
    return arg(args, lists[0])->given || arg(args, lists[1])->given || arg(args, lists[2])->given;
}

static int write_list(const struct audit *a, size_t l, struct key_list *list)
{
    int code = key_list_open(list, a->args, lists[l]);
    for (size_t i = 0; i < a->members.count && code == EXIT_YES && list->file.out != NULL; i++) {
        size_t len;
        const char *text = members_text(&a->members, i, &len);
        if (a->findings[i] & finding[l]) {
            key_list_add(list, text, len);
        }
    }
    return code == EXIT_YES ? key_list_finish(list, a->args) : code;
}

/* ---- the picture ----------------------------------------------------------------------------- */

static const double *histogram_of(const struct audit *a, size_t *values)
{
    const struct tepal_quantity *q = tepal_report_find(&a->report, "histogram");
    *values = q->value.list.count;
    return a->report.number + q->value.list.first;
}

static size_t largest(const double *histogram, size_t values)
{
    size_t top = values - 1;
    while (top > 0 && histogram[top] == 0) {
        top--;
    }
    return top;
}

static void print_bars(struct report *r, const struct audit *a)
{
    size_t values;
    const double *histogram = histogram_of(a, &values);
    double most = 0;
    double sum = 0;
    for (size_t v = 0; v < values; v++) {
        most = histogram[v] > most ? histogram[v] : most;
        sum += histogram[v];
    }
    report_line(r, "\nload: counters at each value\n");
    for (size_t v = 0; v <= largest(histogram, values); v++) {
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
    double share[TEPAL_MAX_SMALL_COUNTER + 1];
    bool improved = p->counting.rule == TEPAL_RULE_IMPROVED_GREEDY;
    if (tepal_counting_shares(p->cells, a->members.count, p->hashes, (uint32_t)p->counting.choices,
                              improved, share) != TEPAL_OK) {
        return 0;
    }
    size_t count = 0;
    for (size_t v = 0; v <= TEPAL_MAX_SMALL_COUNTER; v++) {
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
    size_t values;
    const double *histogram = histogram_of(a, &values);
    struct svg_point real[VALUES];
    struct svg_point model[VALUES];
    size_t count = 0;
    for (size_t v = 0; v <= largest(histogram, values); v++) {
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

/* The lists and the picture: first their contents, then their names. */
static int write_files(const struct audit *a)
{
    const struct side svg = {"svg", draw, a};
    struct key_list list[LISTS];
    struct atomic_file picture = {.path = NULL};
    int code = EXIT_YES;
    memset(list, 0, sizeof list);
    for (size_t l = 0; l < LISTS && code == EXIT_YES; l++) {
        code = write_list(a, l, &list[l]);
    }
    struct atomic_file *const beside[] = {&list[0].file, &list[1].file, &list[2].file, &picture};
    code = code == EXIT_YES ? sides_prepare(a->args, &svg, &picture) : code;
    code = code == EXIT_YES ? filter_file_save_with(a->args, NULL, NULL, beside, LISTS + 1) : code;
    for (size_t l = 0; l < LISTS; l++) {
        key_list_free(&list[l]);
    }
    atomic_file_free(&picture);
    return code;
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
    if (members_check(args) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    const char *path = members_path(args);
    const char *const others[] = {args->operand[0], path, arg(args, "svg")->text};
    if (arg(args, "svg")->given && atomic_file_check(args, arg(args, "svg")->text) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    return key_lists_check(args, lists, NULL, others, 3);
}

static int work(struct audit *a)
{
    const char *name = filter_file_name(a->args->operand[0], false);
    struct tepal_hasher hasher;
    struct tepal_error error = {.why = NULL};
    int code = members_check_kind(a->args, a->filter, "audited");
    code = code == EXIT_YES ? filter_file_hasher(a->args, name, a->filter, &hasher) : code;
    a->members.texts = any_list(a->args);
    code = code == EXIT_YES ? members_read(a->args, a->filter, &hasher, &a->members) : code;
    if (code != EXIT_YES) {
        return code;
    }
    size_t count = a->members.count;
    a->findings = any_list(a->args) ? malloc(count + 1) : NULL;
    if (any_list(a->args) && a->findings == NULL) {
        return say_no_memory();
    }
    struct progress shown;
    struct tepal_progress progress = progress_of(&shown, !arg(a->args, "quiet")->given, "auditing");
    enum tepal_status status =
        tepal_counting_audit(a->filter, a->members.digest, members_groups(a->args, &a->members),
                             count, &progress, NULL, a->findings, &a->report, &error);
    progress_end(&shown);
    if (status != TEPAL_OK) {
        return say_status(NULL, name, status, error.why);
    }
    const struct tepal_quantity *estimated = tepal_report_find(&a->report, "estimated");
    if (estimated != NULL && estimated->value.flag && !arg(a->args, "quiet")->given) {
        say_warning(name, "which group each member is in was estimated, so that the fewest counts "
                          "are missing: more may be; --receipts FILE, with the receipts of the "
                          "members, tells exactly");
    }
    if (write_files(a) != EXIT_YES) {
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
    members_free(&a.members);
    free(a.findings);
    tepal_filter_free(a.filter);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION_COUNTED_MEMBERS,
    OPTION_RECEIPTS_IN,
    OPTION(0, "exposed", OF_VALUE(TAKES_FILE, "LIST"),
           "Write the members that are not found to LIST."),
    OPTION(0, "potential", OF_VALUE(TAKES_FILE, "LIST"),
           "Write the members that are lost once others are removed, the exposed ones included, to "
           "LIST."),
    OPTION(0, "several", OF_VALUE(TAKES_FILE, "LIST"),
           "Write the members that are found in several groups to LIST."),
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
    {"tepal audit flows.tepal --members open.txt --exposed missing.txt", "The members themselves."},
    {NULL, NULL}};

const struct command command_audit = {
    .name = "audit",
    .synopsis = "FILE (--members KEYS | --receipts FILE) [--exposed LIST] [--potential LIST] "
                "[--several LIST] [--json] [--svg OUT]",
    .summary = "Show what removals have done to a counting filter.",
    .about = "Looks up all members of the filter (list each as often as it was added) and reports "
             "how many are no longer found (exposed false negatives), how many would be lost, "
             "these included, once other members are removed (potential ones), the counts that "
             "members lack (deficit) and those that belong to no member (surplus), next to what "
             "the theorems expect of so many wrong removals; and the load of the counters.\n\n"
             "With more than one choice and no receipts, which group a member is in is not known. "
             "The groups with the least deficit are taken, and the report says `estimated`. "
             "`tepal repair` gives members back what they lack.",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .least_operands = 1,
    .most_operands = 1,
    .operand_name = "a filter is",
    .examples = examples,
    .run = audit_run};
