/* info.c: what a filter knows about itself, and what to make of it. */
#include <math.h>
#include <stdio.h>

#include <tepal/filter.h>

#include "cli/command.h"
#include "output/render.h"
#include "output/report.h"
#include "files/filter_file.h"
#include "files/packed.h"
#include "cli/options.h"

/* A chain keeps its rate at every size, unless parts were united that were too full together. */
static void print_chain(struct report *r, const struct tepal_filter *filter,
                        const struct tepal_report *report, const char *now)
{
    const struct tepal_quantity *room = tepal_report_find(report, "part_room");
    const struct tepal_quantity *keys = tepal_report_find(report, "part_keys");
    uint64_t capacity = tepal_filter_params(filter)->capacity;
    double held = render_number(report, "keys_now", 0);
    bool crowded = false;
    char most[64];
    for (size_t i = 0; room != NULL && keys != NULL && i < keys->value.list.count; i++) {
        crowded |=
            report->number[keys->value.list.first + i] > report->number[room->value.list.first + i];
    }
    render_rate(render_number(report, "fp_any_size", 1), most, sizeof most);
    if (crowded) {
        report_line(r,
                    "verdict: merged parts have more keys than room; %s false positives now, %s "
                    "planned\n",
                    now, most);
    } else {
        report_line(r,
                    "verdict: %s (%.0f %% of the keys); %s false positives now, at most %s at "
                    "any size\n",
                    held > (double)capacity ? "beyond the plan" : "within the plan",
                    100.0 * held / (double)capacity, now, most);
    }
}

/* A line that says whether all is well. */
static void print_verdict(struct report *r, const struct tepal_filter *filter,
                          const struct tepal_report *report)
{
    uint64_t capacity = tepal_filter_params(filter)->capacity;
    uint64_t added = tepal_filter_keys_added(filter);
    double estimated = render_number(report, "keys_estimated", (double)added);
    char now[64];
    char planned[64];
    bool deletable = (tepal_filter_kind(filter)->promises & TEPAL_DELETABLE) != 0;
    render_rate(render_number(report, "fp_now", 1), now, sizeof now);
    render_rate(render_number(report, "fp_at_capacity", 1), planned, sizeof planned);
    if ((tepal_filter_kind(filter)->promises & TEPAL_ENDLESS) != 0) {
        double average = render_number(report, "fp_average", -1);
        render_rate(average, planned, sizeof planned);
        report_line(r, "verdict: endless; %s false positives now%s%s%s\n", now,
                    average < 0 ? "" : ", ", average < 0 ? "" : planned,
                    average < 0 ? "" : " on average");
    } else if (render_number(report, "fill", 0) >= 1) {
        report_line(r, "verdict: full; every lookup answers \"perhaps\"\n");
    } else if (added == 0 && render_number(report, "fill", 0) == 0) {
        report_line(r, "verdict: empty\n");
    } else if (capacity == 0) {
        report_line(r, "verdict: %s false positives now; no capacity was planned\n", now);
    } else if (tepal_filter_params(filter)->kind == TEPAL_KIND_CHAIN) {
        print_chain(r, filter, report, now);
    } else if (added > capacity && estimated > (double)capacity) {
        report_line(r, "verdict: over capacity; %s false positives now, %s planned\n", now,
                    planned);
    } else if (added > capacity && tepal_filter_kind(filter)->id == TEPAL_KIND_RETOUCHED) {
        /* Bits were cleared: they do not tell whether the keys were new. */
        report_line(r,
                    "verdict: more keys were added than planned; %s false positives now, %s "
                    "planned\n",
                    now, planned);
    } else if (added > capacity) {
        report_line(r, "verdict: within capacity, because keys were %s; %s false positives now\n",
                    deletable ? "removed or added again" : "added again", now);
    } else {
        report_line(r, "verdict: within capacity (%.0f %% used); %s false positives now\n",
                    100.0 * (deletable ? estimated : (double)added) / (double)capacity, now);
    }
}

/* Filters that were built for certain keys err at two rates: neither shall pass for the other. */
static void print_two_rates(struct report *r, const struct tepal_report *report)
{
    double known = render_number(report, "fp_known", NAN);
    char room[2][64];
    if (!isnan(known)) {
        bool later = render_number(report, "added_later", 0) > 0;
        report_line(r, "rates: %s%s on the negatives it was built for%s, %s on all others\n",
                    later ? "up to " : "", render_rate(known, room[0], sizeof room[0]),
                    later ? " (estimated: keys were added since)" : "",
                    render_rate(render_number(report, "fp_now", 1), room[1], sizeof room[1]));
    }
}

/* Members that it was allowed to lose, and what it cannot know of them. */
static void print_lost(struct report *r, const struct tepal_report *report)
{
    double lost = render_number(report, "false_negatives", 0);
    const struct tepal_quantity *expected = tepal_report_find(report, "expected");
    if (expected != NULL && expected->value.flag) {
        report_line(r,
                    "false negatives: about %.0f of about %.0f members, expected: it was retouched "
                    "without its members\n",
                    lost, render_number(report, "members", 0));
    } else if (lost > 0) {
        report_line(r,
                    "false negatives: at most %.0f of %.0f member%s; any of them that were "
                    "added again are found\n",
                    lost, render_number(report, "members", 0),
                    SAY_S(render_number(report, "members", 0)));
    }
}

/* Members that a counting filter lost to the keys that it avoids (tepal avoid). */
static void print_avoided(struct report *r, const struct tepal_report *report)
{
    double lost = render_number(report, "lost", 0);
    if (lost > 0) {
        report_line(r,
                    "false negatives: at most %.0f of %.0f member%s, lost to keys that it avoids\n",
                    lost, render_number(report, "keys_now", 0),
                    SAY_S(render_number(report, "keys_now", 0)));
    }
}

static int print_one(const struct args *args, struct report *r, const char *path)
{
    struct tepal_filter *filter;
    struct tepal_report report = {.count = 0};
    if (filter_file_open(args, path, FILTER_FILE_VIEW, &filter) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    tepal_filter_info(filter, &report);
    report_object(r, NULL);
    report_text(r, "file", path, JSON_ONLY);
    report_line(r, "%s", path == args->operand[0] ? "" : "\n");
    report_name(r, filter_file_name(path, false));
    report_line(r, "\n");
    report_quantities(r, &report, false);
    print_verdict(r, filter, &report);
    print_two_rates(r, &report);
    print_lost(r, &report);
    print_avoided(r, &report);
    report_end(r);
    tepal_filter_free(filter);
    return EXIT_YES;
}

static int info_run(const struct args *args)
{
    struct report r = report_open(args);
    int code = EXIT_YES;
    for (size_t i = 0; i < args->operands; i++) {
        if (print_one(args, &r, args->operand[i]) != EXIT_YES) {
            code = EXIT_TROUBLE;
        }
    }
    return report_close(&r, code);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {OPTION_PACKED_MOST, OPTION_JSON, OPTION_HELP, OPTIONS_END};
static const struct example examples[] = {
    {"tepal info domains.tepal", "All that is known of one filter."},
    {"tepal info --json *.tepal | jq .fp_now",
     "The current false-positive rate of each, for scripts."},
    {NULL, NULL}};

const struct command command_info = {
    .name = "info",
    .synopsis = "FILE... [--json]",
    .summary = "Show the parameters, contents and error rates of a filter.",
    .about = "Prints parameters, counts and error rates, among them the current false-positive "
             "rate (fp_now) and the planned one (fp_at_capacity). Filters may be compressed with "
             "gzip, zstd or xz.",
    .options = options,
    .files = true,
    .least_operands = 1,
    .most_operands = SIZE_MAX,
    .operand_name = "a filter is",
    .examples = examples,
    .run = info_run};
