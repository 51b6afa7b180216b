/*
 * repair.c: what wrong removals took from the members of a counting filter, given back. The members
 * must be known: the filter itself cannot tell who lacks what.
 */
#include <inttypes.h>

#include <tepal/counting.h>

#include "cli/options.h"
#include "commands/change.h"
#include "files/filter_file.h"
#include "input/members.h"
#include "input/receipts.h"
#include "output/progress.h"
#include "output/render.h"
#include "output/written.h"

static int tell(const struct args *args, const char *to, const struct tepal_filter *filter,
                uint64_t members, double before, const struct tepal_counting_repaired *repair)
{
    struct report r = report_open(args);
    char was[96];
    char is[96];
    double after = render_figure(filter, "fp_now", before);
    report_object(&r, NULL);
    report_say(&r,
               "repaired   %" PRIu64 " of %" PRIu64 " member%s %s not found, %" PRIu64 " more "
               "would have been lost%s",
               repair->exposed, members, SAY_S(members), repair->exposed == 1 ? "was" : "were",
               repair->potential - repair->exposed,
               repair->estimated ? " (estimated: there are no receipts)" : "");
    report_say(&r,
               "cost       %" PRIu64 " count%s to %" PRIu64 " counter%s, %" PRIu64 " of which %s "
               "0: false positives %s -> %s",
               repair->counts, SAY_S(repair->counts), repair->counters, SAY_S(repair->counters),
               repair->zeros, repair->zeros == 1 ? "was" : "were",
               render_rate(before, was, sizeof was), render_rate(after, is, sizeof is));
    written_tell(&r, to, filter, UINT64_MAX);
    report_whole(&r, "members", members, JSON_ONLY);
    report_flag(&r, "estimated", repair->estimated, JSON_ONLY);
    report_whole(&r, "exposed_before", repair->exposed, JSON_ONLY);
    report_whole(&r, "potential_before", repair->potential, JSON_ONLY);
    report_whole(&r, "counts_added", repair->counts, JSON_ONLY);
    report_whole(&r, "counters_raised", repair->counters, JSON_ONLY);
    report_whole(&r, "zeros_raised", repair->zeros, JSON_ONLY);
    report_real(&r, "fp_before", before, JSON_ONLY);
    report_end(&r);
    return written_close(&r);
}

static int work(const struct args *args, const char *from, const char *to,
                struct tepal_filter *filter)
{
    const char *name = filter_file_name(from, false);
    struct members members = {.count = 0};
    struct tepal_counting_repaired repair = {.counts = 0};
    struct tepal_error error = {.why = NULL};
    struct tepal_hasher hasher;
    double before = render_figure(filter, "fp_now", 0);
    int code = members_check_kind(args, filter, "repaired");
    code = code == EXIT_YES ? filter_file_hasher(args, name, filter, &hasher) : code;
    code = code == EXIT_YES ? members_read(args, filter, &hasher, &members) : code;
    if (code == EXIT_YES) {
        struct progress shown;
        struct tepal_progress progress =
            progress_of(&shown, !arg(args, "quiet")->given, "repairing");
        enum tepal_status status =
            tepal_counting_repair(filter, members.digest, members_groups(args, &members),
                                  members.count, &progress, NULL, &repair, &error);
        progress_end(&shown);
        code = args_status(args, status, error.why);
    }
    if (code == EXIT_YES && !(repair.counts == 0 && change_in_place(from, to))) {
        code = filter_file_save(args, filter, to);
    }
    code = code == EXIT_YES ? tell(args, to, filter, members.count, before, &repair) : code;
    members_free(&members);
    return code;
}

static int repair_run(const struct args *args)
{
    if (members_check(args) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    return change_run(args, arg(args, "receipts")->given ? "receipts" : "members", work);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {OPTION_COUNTED_MEMBERS, OPTION_RECEIPTS_IN,
                                        OPTION_IN_PLACE_OUTPUT, KEY_OPTIONS,
                                        OPTION_KEY_FILE,        WRITER_OPTIONS};
static const char *const exclusive[][4] = {{"members", "receipts"}, {NULL}};
static const struct example examples[] = {
    {"tepal repair flows.tepal --members open.txt", "Every open flow is found again."},
    {"tepal repair flows.tepal --receipts open.tsv -o mended.tepal",
     "With several choices, exactly; and leave flows.tepal as it is."},
    {NULL, NULL}};

const struct command command_repair = {
    .name = "repair",
    .synopsis = "FILE (--members KEYS | --receipts FILE) [-o OUT]",
    .summary = "Give members of a counting filter back what wrong removals took.",
    .about = "Reads the members of the filter FILE (list each as often as it was added), raises "
             "every counter that lacks counts for them, and replaces FILE, atomically. Then all of "
             "them are found, and removing some loses no others. The summary tells how many were "
             "missing and what the repair cost: counters that are above 0 again, and so false "
             "positives. Counts that belong to no member stay; only building the filter again "
             "removes them.\n\n"
             "With more than one choice and no receipts, the groups of the members are estimated "
             "(see tepal audit).",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .least_operands = 1,
    .most_operands = 1,
    .operand_name = "a filter is",
    .stays = "nothing was changed",
    .examples = examples,
    .run = repair_run};
