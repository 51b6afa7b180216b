/*
 * remove.c: keys out of a filter whose kind can do that; in place, or to another file. With
 * receipts, each from the group that it was added to.
 */
#include <inttypes.h>

#include <tepal/counting.h>
#include <tepal/filter.h>

#include "commands/change.h"
#include "files/key_list.h"
#include "input/kept.h"
#include "input/receipts.h"
#include "output/render.h"
#include "output/written.h"
#include "files/filter_file.h"
#include "cli/options.h"

struct removal {
    const struct args *args;
    struct tepal_filter *filter;
    uint64_t total;
    uint64_t removed;
    uint64_t kept; /* the others were refused */
    struct key_list refused_list;
    struct kept kept_list;
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

/* The groups of the receipts, or NULL if there are none. EXIT_YES, or EXIT_TROUBLE. */
static int groups_of(const struct removal *r, const struct feed *feed, size_t count,
                     uint8_t room[FEED_BATCH], const uint8_t **groups)
{
    uint32_t choices = (uint32_t)tepal_filter_params(r->filter)->counting.choices;
    *groups = arg(r->args, "receipts")->given ? room : NULL;
    return *groups == NULL ? EXIT_YES : receipts_groups(r->args, feed, count, choices, room);
}

/* Key by key, so that each is known: removed, refused, or kept because several groups hold it. */
static int remove_listed(struct removal *r, const struct feed *feed, size_t count,
                         const uint8_t *groups)
{
    for (size_t i = 0; i < count; i++) {
        struct tepal_digest digest = feed->digest[i];
        uint64_t found = tepal_counting_removable(r->filter, digest);
        enum tepal_status status = groups == NULL
                                       ? tepal_filter_remove(r->filter, digest)
                                       : tepal_counting_remove_group(r->filter, digest, groups[i]);
        if (status != TEPAL_OK && status != TEPAL_NOT_PRESENT) {
            return args_status(r->args, status, NULL);
        }
        bool kept = status != TEPAL_OK && groups == NULL && found != 0;
        struct key key = feed_key(feed, i);
        r->removed += status == TEPAL_OK;
        r->kept += kept;
        if (status == TEPAL_OK) {
            (void)kept_take(&r->kept_list, digest);
        } else if (!kept) {
            key_list_add(&r->refused_list, key.text, key.len);
        } else if (!kept_put(&r->kept_list, digest, &key)) {
            return args_wrong(r->args, "out of memory for the list of kept keys");
        }
    }
    return EXIT_YES;
}

static int remove_batch(struct removal *r, const struct feed *feed, size_t count, bool listed)
{
    uint8_t room[FEED_BATCH];
    const uint8_t *groups;
    size_t removed = 0;
    if (groups_of(r, feed, count, room, &groups) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    if (listed) {
        return remove_listed(r, feed, count, groups);
    }
    enum tepal_status status =
        groups != NULL
            ? tepal_counting_remove_many(r->filter, feed->digest, groups, count, NULL, &removed)
            : tepal_filter_remove_many(r->filter, feed->digest, count, &removed);
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
    const bool listed = arg(r->args, "refused")->given || arg(r->args, "kept")->given;
    double kept = listed ? 0 : render_figure(r->filter, "kept", 0); /* looks at all cells: once */
    ptrdiff_t count;
    int code = EXIT_YES;
    while (code == EXIT_YES && (count = feed_next(feed)) != 0) {
        code = count < 0 ? EXIT_TROUBLE : remove_batch(r, feed, (size_t)count, listed);
    }
    if (!listed) {
        r->kept = (uint64_t)(render_figure(r->filter, "kept", 0) - kept);
    }
    r->total = feed->total;
    feed_close(feed);
    return code;
}

static int tell(const struct removal *r, const char *to)
{
    struct report report = report_open(r->args);
    uint64_t refused = r->total - r->removed - r->kept;
    report_object(&report, NULL);
    report_say(&report, "removed    %" PRIu64 " of %" PRIu64 " key%s", r->removed, r->total,
               SAY_S(r->total));
    if (refused > 0) {
        report_say(&report, "refused    %" PRIu64 ", which were not found", refused);
    }
    if (r->kept > 0) {
        report_say(&report, "kept       %" PRIu64 ", which were found in several groups", r->kept);
    }
    written_tell(&report, to, r->filter, UINT64_MAX);
    report_whole(&report, "keys_read", r->total, JSON_ONLY);
    report_whole(&report, "removed", r->removed, JSON_ONLY);
    report_whole(&report, "not_removed", r->total - r->removed, JSON_ONLY);
    report_whole(&report, "refused_now", refused, JSON_ONLY);
    report_whole(&report, "kept_now", r->kept, JSON_ONLY);
    report_end(&report);
    return written_close(&report);
}

static int open_lists(struct removal *r, const char *from, const char *to,
                      const struct tepal_hasher *hasher)
{
    static const char *const lists[] = {"refused", "kept", NULL};
    const char *const others[] = {from, to, arg(r->args, "receipts")->text};
    if (key_lists_check(r->args, lists, "kept", others, 3) != EXIT_YES ||
        key_lists_check(r->args, (const char *const[]){"refused", NULL}, NULL, r->args->operand + 1,
                        r->args->operands - 1) != EXIT_YES ||
        kept_open(&r->kept_list, r->args, r->filter, hasher) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    return key_list_open(&r->refused_list, r->args, "refused");
}

/* The lists, then the filter; each takes its name once all of them are written. */
static int save(struct removal *r, const char *from, const char *to)
{
    int code = key_list_finish(&r->refused_list, r->args);
    code = code == EXIT_YES ? kept_finish(&r->kept_list, r->args) : code;
    struct atomic_file *const beside[] = {&r->refused_list.file, &r->kept_list.file.file};
    bool unchanged = r->total == 0 && change_in_place(from, to);
    return code == EXIT_YES
               ? filter_file_save_with(r->args, unchanged ? NULL : r->filter, to, beside, 2)
               : code;
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
    code = code == EXIT_YES ? open_lists(&r, from, to, &hasher) : code;
    code = code == EXIT_YES ? remove_keys(&r, &hasher) : code;
    if (code == EXIT_YES && r.total == 0 && !arg(args, "quiet")->given) {
        say_warning(filter_file_name(to, true), "no keys in the input: the filter is unchanged");
    }
    code = code == EXIT_YES ? save(&r, from, to) : code;
    code = code == EXIT_YES ? tell(&r, to) : code;
    key_list_free(&r.refused_list);
    kept_free(&r.kept_list);
    return code == EXIT_YES && r.removed == 0 && r.total > 0 ? EXIT_NO : code;
}

static int remove_run(const struct args *args)
{
    return change_run(args, "receipts", work);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION_IN_PLACE_OUTPUT,
    OPTION_RECEIPTS_IN,
    OPTION(0, "refused", OF_VALUE(TAKES_FILE, "LIST"),
           "Write the keys that were not found, and so not removed, to LIST."),
    OPTION_KEPT,
    KEY_OPTIONS,
    OPTION_KEY_FILE,
    WRITER_OPTIONS};
static const struct example examples[] = {
    {"tepal remove flows.tepal closed.txt", "In place, atomically."},
    {"tepal remove flows.tepal --receipts closed.tsv", "Each key from the group it was added to."},
    {"tepal remove flows.tepal closed.txt --refused never-open.txt --kept kept.txt",
     "And list what was not removed, and why."},
    {NULL, NULL}};

const struct command command_remove = {
    .name = "remove",
    .synopsis = "FILE [KEYS...] [--receipts FILE] [--refused LIST] [--kept LIST] [-o OUT]",
    .summary = "Remove keys from a filter.",
    .about = "Reads keys as build does, removes them from the filter FILE and replaces FILE, "
             "atomically. The kind of the filter must be deletable (see tepal kinds). A key that "
             "is not found is skipped, and so is one that a counting filter keeps by its policy; "
             "the summary reports how many keys were removed, refused and kept.\n\n"
             "Kept keys stay in the filter, which cannot tell them from members. --kept LIST "
             "remembers them: give the same LIST to every remove and add of this filter. A kept "
             "key that is added again then changes nothing, and `tepal remove FILE LIST --kept "
             "LIST` removes those that can be removed by now.\n\n"
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
