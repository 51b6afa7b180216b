/*
 * veto.c: false positives that were seen later, into the no-filters of a yes-no filter; in place,
 * or to another file.
 */
#include <inttypes.h>

#include <tepal/yesno.h>

#include "cli/options.h"
#include "commands/build/kind_options.h"
#include "commands/change.h"
#include "commands/yesno_how.h"
#include "files/filter_file.h"
#include "input/digests.h"
#include "input/feed.h"
#include "output/written.h"
#include "system/bytes.h"

/* One run: what was read, and what came of it. */
struct vetoing {
    const struct args *args;
    struct digests members;
    struct digests avoid;
    uint64_t members_read;
    struct yesno_how how;
    struct tepal_known_report report;
};

static int read_file(const struct vetoing *v, const struct tepal_hasher *hasher, const char *option,
                     const char *weights, struct digests *set, uint64_t *read)
{
    const char *const *path = &arg(v->args, option)->text;
    int code =
        feed_gather(feed_open_file(v->args, path, hasher, arg(v->args, weights)->given), set, read);
    if (code == EXIT_YES && set->count == 0) {
        code = args_about(v->args, filter_file_name(*path, false), "no keys in the input");
    }
    return code;
}

static int read_keys(struct vetoing *v, struct tepal_filter *filter, const char *from)
{
    struct tepal_hasher hasher;
    int code = filter_file_hasher(v->args, filter_file_name(from, false), filter, &hasher);
    if (code == EXIT_YES) {
        code = read_file(v, &hasher, "members", "member-weights", &v->members, &v->members_read);
        code = code == EXIT_YES ? read_file(v, &hasher, "avoid", "weights", &v->avoid, NULL) : code;
    }
    bytes_wipe(&hasher, sizeof hasher);
    return code;
}

static int check_kind(const struct args *args, const struct tepal_filter *filter, const char *from)
{
    const struct tepal_kind *kind = tepal_filter_kind(filter);
    return kind->id == TEPAL_KIND_YESNO
               ? EXIT_YES
               : args_about(args, filter_file_name(from, false),
                            "only yes-no filters can veto keys, and this one is of the kind %s",
                            kind->name);
}

/* Members that are not given may be vetoed, and nobody would notice. */
static int check_members(const struct vetoing *v, const struct tepal_filter *filter)
{
    uint64_t added = tepal_filter_keys_added(filter);
    if (v->members_read >= added) {
        return EXIT_YES;
    }
    return args_about(v->args, filter_file_name(arg(v->args, "members")->text, false),
                      "%" PRIu64 " key%s, but %" PRIu64 " were added to the filter: give all of "
                      "them, or the others may be lost",
                      v->members_read, SAY_S(v->members_read), added);
}

static void say_counts(struct report *r, const struct vetoing *v)
{
    const struct tepal_known_report *c = &v->report;
    report_say(r, "avoid      %" PRIu64 " key%s: %" PRIu64 " found, %" PRIu64 " left",
               c->avoid_given, SAY_S(c->avoid_given), c->avoid_positive, c->avoid_left);
    if (c->avoid_members > 0) {
        report_say(r, "           %" PRIu64 " %s, not vetoed", c->avoid_members,
                   c->avoid_members == 1 ? "is a member" : "are members");
    }
    if (arg(v->args, "weights")->given) {
        report_say(r, "weight     %.6g found, %.6g left", c->positive_weight, c->weight_left);
    }
    if (c->false_negatives > 0) {
        report_say(r, "lost       %" PRIu64 " of %" PRIu64 " member%s, %.6g of their weight %.6g",
                   c->false_negatives, c->members, SAY_S(c->members), c->weight_lost,
                   c->members_weight);
    }
}

static int tell(const struct vetoing *v, const char *path, const struct tepal_filter *filter)
{
    const struct tepal_known_report *c = &v->report;
    struct report r = report_open(v->args);
    report_object(&r, NULL);
    say_counts(&r, v);
    written_tell(&r, path, filter, UINT64_MAX);
    report_whole(&r, "members_given", c->members, JSON_ONLY);
    report_whole(&r, "members_lost", c->false_negatives, JSON_ONLY);
    report_real(&r, "weight_lost", c->weight_lost, JSON_ONLY);
    report_whole(&r, "avoid_given", c->avoid_given, JSON_ONLY);
    report_whole(&r, "avoid_members", c->avoid_members, JSON_ONLY);
    report_whole(&r, "found", c->avoid_positive, JSON_ONLY);
    report_whole(&r, "left", c->avoid_left, JSON_ONLY);
    report_real(&r, "weight_found", c->positive_weight, JSON_ONLY);
    report_real(&r, "weight_left", c->weight_left, JSON_ONLY);
    report_text(&r, "method", tepal_yesno_method_name(v->how.how.method), JSON_ONLY);
    report_flag(&r, "proved_optimal", c->proved_optimal, JSON_ONLY);
    report_end(&r);
    return written_close(&r);
}

static int work(const struct args *args, const char *from, const char *to,
                struct tepal_filter *filter)
{
    struct vetoing v = {.args = args};
    struct tepal_error error = {.why = ""};
    int code = check_kind(args, filter, from);
    code = code == EXIT_YES ? read_keys(&v, filter, from) : code;
    code = code == EXIT_YES ? check_members(&v, filter) : code;
    if (code == EXIT_YES) {
        struct tepal_known known = {
            .members = v.members.digest,
            .member_count = v.members.count,
            .member_weights = arg(args, "member-weights")->given ? v.members.weight : NULL,
            .avoid = v.avoid.digest,
            .avoid_count = v.avoid.count,
            .avoid_weights = arg(args, "weights")->given ? v.avoid.weight : NULL};
        yesno_how_read(&v.how, args);
        enum tepal_status status =
            tepal_yesno_veto_later(filter, &known, &v.how.how, &v.report, &error);
        progress_end(&v.how.progress);
        code = status == TEPAL_OK ? EXIT_YES
                                  : say_status(args->command->stays, filter_file_name(from, false),
                                               status, error.why);
    }
    code = code == EXIT_YES ? filter_file_save(args, filter, to) : code;
    code = code == EXIT_YES ? tell(&v, to, filter) : code;
    digests_free(&v.members);
    digests_free(&v.avoid);
    return code;
}

static int veto_run(const struct args *args)
{
    static const char why[] = "the filter would overwrite the keys";
    const char *from = args->operand[0];
    const char *to = arg(args, "output")->given ? arg(args, "output")->text : from;
    const char *inputs[] = {from, arg(args, "members")->text, arg(args, "avoid")->text};
    if (!arg(args, "avoid")->given) {
        return args_error(args,
                          "--avoid NEW is needed: the keys that were found and should not be");
    }
    if (yesno_how_check(args) != EXIT_YES ||
        filter_file_check_inputs(args, NULL, inputs, 3, "") != EXIT_YES ||
        filter_file_check_inputs(args, from, inputs + 1, 1, why) != EXIT_YES ||
        filter_file_check_inputs(args, to, inputs + 1, 1, why) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    return change_run(args, "avoid", work);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION_MEMBERS,
    OPTION(0, "avoid", OF_VALUE(TAKES_FILE, "NEW"),
           "Keys that were found and should not be, one per line (- is standard input). Those that "
           "are not found, or are members, are counted and skipped."),
    FLAG('w', "weights", "Each line of NEW is a key, a tab and a weight: what finding it costs."),
    OPTION_VETO_METHOD,
    OPTION_TOLERATE,
    OPTION_TOLERATE_WEIGHT,
    OPTION_MEMBER_WEIGHTS,
    OPTION_TIME_LIMIT,
    OPTION_IN_PLACE_OUTPUT,
    KEY_OPTIONS,
    OPTION_KEY_FILE,
    WRITER_OPTIONS};
static const struct example examples[] = {
    {"tepal veto blocked.tepal --members blocked.txt --avoid complaints.txt",
     "In place, atomically."},
    {"tepal veto blocked.tepal --members blocked.txt --avoid new.tsv -w -o next.tepal",
     "By weight, to another file."},
    {NULL, NULL}};

const struct command command_veto = {
    .name = "veto",
    .synopsis = "FILE --members KEYS --avoid NEW [-w] [-o OUT]",
    .summary = "Veto false positives seen later in a yes-no filter.",
    .about = "Puts newly seen false positives into the no-filters of the yes-no filter FILE, as "
             "they are, and replaces FILE, atomically. What was vetoed before stays vetoed, and no "
             "member is lost, unless --tolerate allows it. Reports how many of NEW were found and "
             "how many did not fit. If many do not, build the filter again with all known "
             "negatives.",
    .options = options,
    .needed = "members",
    .files = true,
    .least_operands = 1,
    .most_operands = 1,
    .operand_name = "a filter is",
    .stays = "nothing was changed",
    .examples = examples,
    .run = veto_run};
