/*
 * remove.c: keys out of a filter whose kind can do that; in place, or to another file. With
 * receipts, each from the group that it was added to.
 */
#include <inttypes.h>

#include <tepal/counting.h>
#include <tepal/filter.h>

#include "commands/change.h"
#include "input/receipts.h"
#include "output/written.h"
#include "files/filter_file.h"
#include "cli/options.h"

struct removal {
    const struct args *args;
    struct tepal_filter *filter;
    uint64_t total;
    uint64_t removed;
};

static int refuse(const struct removal *r, const char *name)
{
    const struct tepal_kind *kind = tepal_filter_kind(r->filter);
    bool counting = kind->id == TEPAL_KIND_COUNTING;
    if ((kind->promises & TEPAL_DELETABLE) == 0) {
        return args_about(
            r->args, name,
            "keys cannot be removed from a filter of the kind %s; `tepal kinds` lists the kinds "
            "that are deletable",
            kind->name);
    }
    if (counting && tepal_filter_params(r->filter)->counting.form == TEPAL_FORM_BITS) {
        return args_about(
            r->args, name,
            "its counters were dropped (convert --to bits), so keys cannot be removed");
    }
    if (!counting && arg(r->args, "receipts")->given) {
        return args_about(
            r->args, name,
            "receipts belong to filters of the kind counting, and this one is of the kind %s",
            kind->name);
    }
    return EXIT_YES;
}

static int remove_batch(struct removal *r, const struct feed *feed, size_t count)
{
    size_t removed = 0;
    enum tepal_status status;
    if (arg(r->args, "receipts")->given) {
        uint8_t groups[FEED_BATCH];
        uint32_t choices = (uint32_t)tepal_filter_params(r->filter)->counting.choices;
        if (receipts_groups(r->args, feed, count, choices, groups) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
        status = tepal_counting_remove_many(r->filter, feed->digest, groups, count, NULL, &removed);
    } else {
        status = tepal_filter_remove_many(r->filter, feed->digest, count, &removed);
    }
    if (status != TEPAL_OK) {
        return args_status(r->args, status, NULL);
    }
    r->removed += removed;
    return EXIT_YES;
}

static int remove_keys(struct removal *r, const struct tepal_hasher *hasher)
{
    const struct option_value *receipts = arg(r->args, "receipts");
    struct feed *feed = receipts->given ? feed_open_file(r->args, &receipts->text, hasher, true)
                                        : feed_open(r->args, 1, hasher);
    if (feed == NULL) {
        return EXIT_TROUBLE;
    }
    feed->receipts = receipts->given;
    ptrdiff_t count;
    int code = EXIT_YES;
    while (code == EXIT_YES && (count = feed_next(feed)) != 0) {
        code = count < 0 ? EXIT_TROUBLE : remove_batch(r, feed, (size_t)count);
    }
    r->total = feed->total;
    feed_close(feed);
    return code;
}

static int tell(const struct removal *r, const char *to)
{
    struct report report = report_open(r->args);
    report_object(&report, NULL);
    report_say(&report, "removed    %" PRIu64 " of %" PRIu64 " key%s", r->removed, r->total,
               r->total == 1 ? "" : "s");
    written_tell(&report, to, r->filter, UINT64_MAX);
    report_whole(&report, "keys_read", r->total, JSON_ONLY);
    report_whole(&report, "removed", r->removed, JSON_ONLY);
    report_whole(&report, "not_removed", r->total - r->removed, JSON_ONLY);
    report_end(&report);
    return written_close(&report);
}

static int work(const struct args *args, const char *from, const char *to,
                struct tepal_filter *filter)
{
    struct removal r = {.args = args, .filter = filter};
    struct tepal_hasher hasher;
    int code = refuse(&r, filter_file_name(from, false));
    if (code == EXIT_YES) {
        code = filter_file_hasher(args, filter_file_name(from, false), filter, &hasher);
    }
    code = code == EXIT_YES ? remove_keys(&r, &hasher) : code;
    if (code == EXIT_YES && r.total == 0 && !arg(args, "quiet")->given) {
        say_warning(filter_file_name(to, true), "no keys in the input: the filter is unchanged");
    }
    if (code == EXIT_YES && !(r.total == 0 && change_in_place(from, to))) {
        code = filter_file_save(args, filter, to);
    }
    code = code == EXIT_YES ? tell(&r, to) : code;
    return code == EXIT_YES && r.removed == 0 && r.total > 0 ? EXIT_NO : code;
}

static int remove_run(const struct args *args)
{
    return change_run(args, "receipts", work);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {OPTION_IN_PLACE_OUTPUT, OPTION_RECEIPTS_IN, KEY_OPTIONS,
                                        OPTION_KEY_FILE,        OPTION_FORCE,       OPTION_JSON,
                                        OPTION_QUIET,           OPTION_HELP,        OPTIONS_END};
static const struct example examples[] = {
    {"tepal remove flows.tepal closed.txt", "In place, atomically."},
    {"tepal remove flows.tepal --receipts closed.tsv", "Each key from the group it was added to."},
    {NULL, NULL}};

const struct command command_remove = {
    .name = "remove",
    .synopsis = "FILE [KEYS...] [--receipts FILE] [-o OUT]",
    .summary = "Remove keys from a filter.",
    .about = "Reads keys as build does, removes them from the filter FILE and replaces FILE, "
             "atomically. The kind of the filter must be deletable (see tepal kinds). A key that "
             "is not found is skipped, and so is one that a counting filter keeps by its policy; "
             "the summary reports how many keys were removed.\n\n"
             "Remove only keys that were added: removing a false positive damages other keys. With "
             "more than one choice, use receipts: they make it safe to remove what was added.\n\n"
             "Exit status 0 if a key was removed, 1 if none was, 2 on an error.",
    .options = options,
    .files = true,
    .least_operands = 1,
    .most_operands = SIZE_MAX,
    .operand_name = "a filter is",
    .stays = "nothing was changed",
    .examples = examples,
    .run = remove_run};
