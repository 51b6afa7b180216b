/* diff.c: what was added to a counting filter between two snapshots of it. */
#include <inttypes.h>

#include <tepal/counting.h>

#include "cli/command.h"
#include "output/written.h"
#include "files/file_lock.h"
#include "files/filter_file.h"
#include "cli/options.h"

static int subtract(const struct args *args, struct tepal_filter *now, struct tepal_filter *before,
                    struct tepal_counting_change *change, struct tepal_filter **out)
{
    struct tepal_filter *const both[] = {now, before};
    for (size_t i = 0; i < 2; i++) {
        if (tepal_filter_kind(both[i])->id != TEPAL_KIND_COUNTING) {
            return args_about(
                args, filter_file_name(args->operand[i], false),
                "only counting filters can be subtracted, and this one is of the kind %s",
                tepal_filter_kind(both[i])->name);
        }
    }
    enum tepal_status status = tepal_counting_difference(now, before, NULL, out, change, NULL);
    if (status == TEPAL_MISMATCH) {
        return args_about(args, filter_file_name(args->operand[1], false),
                          "is not a snapshot of %s: their parameters differ",
                          filter_file_name(args->operand[0], false));
    }
    return say_status(args->command->stays, filter_file_name(args->operand[0], false), status,
                      NULL);
}

static int tell(const struct args *args, const char *output,
                const struct tepal_counting_change *change, const struct tepal_filter *filter)
{
    struct report r = report_open(args);
    if (change->fell > 0 && !r.quiet) {
        say_warning(filter_file_name(output, true),
                    "%" PRIu64 " counter%s fell: keys were removed in between, so some added "
                    "keys may be missing from the result",
                    change->fell, SAY_S(change->fell));
    }
    report_object(&r, NULL);
    report_say(&r, "counters   %" PRIu64 " rose, %" PRIu64 " fell, %" PRIu64 " stuck", change->rose,
               change->fell, change->unknown);
    written_tell(&r, output, filter, UINT64_MAX);
    report_whole(&r, "rose", change->rose, JSON_ONLY);
    report_whole(&r, "fell", change->fell, JSON_ONLY);
    report_whole(&r, "unknown", change->unknown, JSON_ONLY);
    report_end(&r);
    return written_close(&r);
}

static int work(const struct args *args, const char *output, struct tepal_filter *now,
                struct tepal_filter *before)
{
    struct tepal_filter *gain;
    struct tepal_counting_change change;
    int code = subtract(args, now, before, &change, &gain);
    if (code != EXIT_YES) {
        return code;
    }
    code = filter_file_save(args, gain, output);
    code = code == EXIT_YES ? tell(args, output, &change, gain) : code;
    tepal_filter_free(gain);
    return code;
}

static int diff_run(const struct args *args)
{
    const char *output = arg(args, "output")->text;
    struct file_lock lock = {.path = NULL};
    struct tepal_filter *now = NULL;
    struct tepal_filter *before = NULL;
    if (filter_file_check_inputs(
            args, arg(args, "force")->given ? NULL : output, args->operand, 2,
            "the output is one of the input filters; use --force to replace it") != EXIT_YES ||
        filter_file_check_output(args, output) != EXIT_YES ||
        file_lock_take(&lock, args, output, FILE_LOCK_WAIT) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    int code = filter_file_open(args, args->operand[0], FILTER_FILE_LOAD, &now);
    code = code == EXIT_YES ? filter_file_open(args, args->operand[1], FILTER_FILE_VIEW, &before)
                            : code;
    code = code == EXIT_YES ? work(args, output, now, before) : code;
    file_lock_drop(&lock);
    tepal_filter_free(before);
    tepal_filter_free(now);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {OPTION_OUTPUT, WRITER_OPTIONS};
static const struct example examples[] = {
    {"tepal diff noon.tepal morning.tepal -o since.tepal", "What was added since the morning."},
    {NULL, NULL}};

const struct command command_diff = {
    .name = "diff",
    .synopsis = "NOW BEFORE -o OUT",
    .summary = "Write what was added to a counting filter between two snapshots.",
    .about = "Each counter of the result is that of NOW minus that of BEFORE. If no key was "
             "removed in between, the result is the filter of the keys that were added. Otherwise "
             "counters that fell become 0, a warning reports them, and some added keys may be "
             "missing. A counter that is stuck at 15 stays at 15.",
    .options = options,
    .needed = "output",
    .files = true,
    .least_operands = 2,
    .most_operands = 2,
    .operand_name = "two filters are",
    .stays = "nothing was written",
    .examples = examples,
    .run = diff_run};
