/*
 * retouch.c: from a filter, its members (if they are at hand) and the keys to avoid to a retouched
 * filter, or with
 * --dry-run to the curve of what every budget would remove. All checks come before the work, and
 * all files take their names at the end: whatever is refused, nothing was written.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "commands/retouch/retouching.h"
#include "files/filter_file.h"
#include "files/packed.h"
#include "output/progress.h"
#include "system/bytes.h"

int retouch_refused(const struct retouching *w, enum tepal_status status, const char *why)
{
    return say_status(w->args->command->stays, filter_file_name(w->path, false), status, why);
}

/* How to retouch, by the options. */
static void choose(struct retouching *w)
{
    struct tepal_retouch_options how = TEPAL_RETOUCH_OPTIONS_INIT;
    if (arg(w->args, "method")->given) {
        tepal_retouch_method_parse(arg(w->args, "method")->text, &how.method);
    }
    if (arg(w->args, "order")->given && strcmp(arg(w->args, "order")->text, "weight") == 0) {
        how.order = TEPAL_RETOUCH_ORDER_WEIGHT;
    }
    if (arg(w->args, "basis")->given && strcmp(arg(w->args, "basis")->text, "all") == 0) {
        how.basis = TEPAL_RETOUCH_BASIS_ALL;
    }
    how.sweep = arg(w->args, "sweep")->given;
    how.remove_members = arg(w->args, "remove-members")->given;
    how.bits = arg(w->args, "clear-bits")->whole;
    how.seed = arg_whole(w->args, "seed", 1);
    w->how = how;
}

static int print(const struct retouching *w)
{
    struct report r = report_open(w->args);
    report_object(&r, NULL);
    retouch_tell_counts(&r, w);
    retouch_tell_trade(&r, w);
    retouch_tell_figures(&r, w);
    report_end(&r);
    return report_close(&r, EXIT_YES);
}

static int retouch(struct retouching *w)
{
    struct tepal_error error = {.why = NULL};
    w->victims = calloc(w->members.count / 64 + 1, sizeof *w->victims);
    if (w->victims == NULL) {
        return args_no_memory(w->args);
    }
    double started = progress_clock();
    struct progress progress;
    w->how.progress = progress_of(&progress, !arg(w->args, "quiet")->given, "retouching");
    enum tepal_status status = tepal_retouch(w->filter, &w->input, &w->how, NULL, &w->result,
                                             &w->report, w->victims, &error);
    w->seconds = progress_clock() - started;
    progress_end(&progress);
    if (status != TEPAL_OK) {
        return retouch_refused(w, status, error.why);
    }
    int code = retouch_write(w);
    return code == EXIT_YES ? print(w) : code;
}

static int prepare(struct retouching *w)
{
    choose(w);
    if (retouch_check_options(w) != EXIT_YES || retouch_check_files(w) != EXIT_YES ||
        file_lock_take(&w->lock, w->args, arg(w->args, "output")->text, FILE_LOCK_WAIT) !=
            EXIT_YES ||
        filter_file_open(w->args, w->path, FILTER_FILE_VIEW, &w->filter) != EXIT_YES ||
        retouch_check_kind(w) != EXIT_YES ||
        filter_file_hasher(w->args, filter_file_name(w->path, false), w->filter, &w->hasher) !=
            EXIT_YES) {
        return EXIT_TROUBLE;
    }
    int code = retouch_read(w);
    bytes_wipe(&w->hasher, sizeof w->hasher);
    return code;
}

static int retouch_run(const struct args *args)
{
    struct retouching w = {
        .args = args, .path = args->operand[0], .blind = !arg(args, "members")->given};
    int code = prepare(&w);
    if (code == EXIT_YES) {
        retouch_set_input(&w);
        code = arg(args, "dry-run")->given ? retouch_curve(&w) : retouch(&w);
    }
    file_lock_drop(&w.lock);
    tepal_filter_free(w.result);
    tepal_filter_free(w.filter);
    free(w.victims);
    digests_free(&w.members);
    digests_free(&w.avoid);
    digests_free(&w.known);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION_OUTPUT,
    OPTION_COMPRESS,
    OPTION(0, "members", OF_VALUE(TAKES_FILE, "KEYS"),
           "All keys that the filter was built from, one per line (- is standard input). Without "
           "them the members lost are not counted but expected; see --method."),
    OPTION(0, "avoid", OF_VALUE(TAKES_FILE, "NEGATIVES"),
           "The keys that must not be found, one per line (- is standard input). Keys that the "
           "filter does not find anyway are skipped."),
    FLAG('w', "weights",
         "Each line of NEGATIVES is a key, a tab and a weight: the cost of its false positive. The "
         "weights of a repeated key add up."),
    OPTION(
        0, "max-fn", OF_VALUE(TAKES_SHARE, "R"),
        "Lose at most the share R of the members, as 0.5%, 0.005 or 1/200 (without --members: of "
        "the expected number). Without a limit, all of NEGATIVES are removed at any cost."),
    OPTION(0, "max-fn-count", OF_WHOLE("N", 1, UINT64_MAX), "Lose at most N members."),
    FLAG(0, "dry-run",
         "Write no filter; print what each budget would remove, tab-separated (up to the limit, if "
         "one is given)."),
    OPTION(0, "svg", OF_VALUE(TAKES_FILE, "OUT"),
           "With --dry-run: also draw the curve to OUT, as SVG."),
    OPTION(0, "victims", OF_VALUE(TAKES_FILE, "OUT"),
           "Write the lost members to OUT, one per line."),
    OPTION(0, "exceptions", OF_VALUE(TAKES_FILE, "OUT"),
           "Write the lost members to OUT as an exception list, 16 bytes each: `tepal query "
           "--exceptions OUT` finds them again."),
    OPTION(0, "method", OF_CHOICE("METHOD", METHOD_WORDS),
           "How to choose the bits to clear (default sacrifice, the best): random-bits, random, "
           "min-fn, max-fp, ratio, improved-min-fn, improved-max-fp, improved-ratio or sacrifice. "
           "Without --members: random-bits, random, max-fp (default) or improved-max-fp, and for a "
           "counting filter, whose counters say how many members each bit has, min-fn or ratio "
           "(default). For a generalized filter, whose bits are inverted: net-effect (its default) "
           "or least-fn."),
    OPTION(0, "order", OF_CHOICE("ORDER", "given weight"),
           "The order in which methods other than sacrifice handle the keys to avoid: as given "
           "(default), or by weight, heaviest first."),
    OPTION(0, "basis", OF_CHOICE("BASIS", "b all"),
           "What max-fp, ratio and their improved forms count: the keys to avoid (b, default), or "
           "these and those of --known (all)."),
    OPTION(0, "known", OF_VALUE(TAKES_FILE, "FILE"),
           "Further known non-members: counted in chi and by --basis all, but not targeted."),
    FLAG(0, "sweep",
         "Finally clear every bit that only lost members use, at no further cost. sacrifice always "
         "does so."),
    OPTION(0, "clear-bits", OF_WHOLE("S", 1, UINT64_MAX),
           "random-bits: the number of bits to clear (default: as many as --max-fn allows)."),
    OPTION('s', "seed", OF_VALUE(TAKES_SEED, "S"),
           "The seed of the random choices of random-bits and random (default 1)."),
    FLAG(0, "member-weights",
         "Each line of KEYS is a key, a tab and a weight: the cost of losing it. --max-fn is then "
         "a share of the total weight."),
    FLAG(0, "remove-members",
         "Remove keys of NEGATIVES even if they are members. Without it, such keys are reported "
         "and left alone."),
    KEY_OPTIONS,
    OPTION_KEY_FILE,
    WRITER_OPTIONS};
static const char *const exclusive[][4] = {{"max-fn", "max-fn-count"},
                                           {"dry-run", "output"},
                                           {"dry-run", "victims"},
                                           {"dry-run", "exceptions"},
                                           {NULL}};
static const struct example examples[] = {
    {"tepal retouch blocked.tepal --members blocked.txt --avoid top.tsv -w --dry-run",
     "What would each budget remove?"},
    {"tepal retouch blocked.tepal --members blocked.txt --avoid top.tsv -w --max-fn 0.5% -o out",
     "Give up at most one blocked domain in 200."},
    {"tepal retouch theirs.tepal --avoid wrong.txt --max-fn 1% -o better.tepal",
     "A filter whose members you do not have."},
    {NULL, NULL}};

const struct command command_retouch = {
    .name = "retouch",
    .synopsis =
        "FILE [--members KEYS] --avoid NEGATIVES [--weights] [--max-fn R | --max-fn-count N] "
        "(-o OUT | --dry-run)",
    .summary = "Remove harmful false positives, at the cost of some members.",
    .about = "Clears bits of the filter FILE so that keys of NEGATIVES are no longer found, "
             "heaviest first. The price is members that are no longer found either, at most as "
             "many as the budget allows. The size stays the same, and so do lookups. A retouched "
             "filter can be retouched again; a counting filter loses its counters.\n\n"
             "Without --members (a filter that was received, or merged from others' filters), bits "
             "are chosen by NEGATIVES alone, or by the counters of a counting filter, too. The "
             "report then says how many members are expected to be lost, with a 99 % interval.\n\n"
             "Reports on standard error how many of NEGATIVES are false positives, and both error "
             "rates before and after.",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .least_operands = 1,
    .most_operands = 1,
    .operand_name = "a filter is",
    .stays = "nothing was written",
    .examples = examples,
    .run = retouch_run};
