/*
 * repair.c: what wrong removals took from the members of a counting filter, given back. The members
 * must be known: the filter itself cannot tell who lacks what.
 */
#include <inttypes.h>
#include <math.h>

#include <tepal/counting.h>

#include "cli/options.h"
#include "commands/change.h"
#include "files/filter_file.h"
#include "input/members.h"
#include "input/receipts.h"
#include "output/progress.h"
#include "output/render.h"
#include "output/written.h"

#define BATCH      ((size_t)4096) /* keys that are looked up at a time */
#define DEVIATIONS 4.0            /* so far the number of strangers found may be from its mean */

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

/*
 * All keys of a list would be added if they were strangers, and of strangers this share is found.
 * Members that wrong removals have not taken are found besides, so that a list which is found no
 * more often than strangers is of another set, or nothing is left to repair.
 */
static int check_members(const struct args *args, const struct tepal_filter *filter,
                         const struct members *members, double share)
{
    uint64_t answers[BATCH / 64];
    size_t found = 0;
    for (size_t i = 0; i < members->count; i += BATCH) {
        size_t here = members->count - i < BATCH ? members->count - i : BATCH;
        found += tepal_filter_query_many(filter, members->digest + i, here, answers);
    }
    size_t missing = members->count - found;
    double chance = (double)members->count * share;
    if (arg(args, "force")->given || found >= missing ||
        (double)found > chance + DEVIATIONS * sqrt(chance * (1 - share))) {
        return EXIT_YES;
    }
    return args_about(
        args, filter_file_name(members_path(args), false),
        "%zu of these %zu key%s %s not found, as many as if none was a member of this "
        "filter (--force repairs them all the same)",
        missing, members->count, SAY_S(members->count), missing == 1 ? "is" : "are");
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
    code = code == EXIT_YES ? check_members(args, filter, &members, before) : code;
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

#define OPTION_REPAIR_FORCE                                                                        \
    FLAG('f', "force",                                                                             \
         "Overwrite FILE even if it is not a filter or is one of the filters read; and repair "    \
         "keys that seem to be no members.")

static const struct option options[] = {OPTION_COUNTED_MEMBERS,
                                        OPTION_RECEIPTS_IN,
                                        OPTION_IN_PLACE_OUTPUT,
                                        KEY_OPTIONS,
                                        OPTION_KEY_FILE,
                                        OPTION_REPAIR_FORCE,
                                        OPTION_NO_WAIT,
                                        OPTION_JSON,
                                        OPTION_QUIET,
                                        OPTION_HELP,
                                        OPTIONS_END};
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
             "A list that is found no more often than keys that are no members at all is refused, "
             "unless --force is given.\n\n"
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
