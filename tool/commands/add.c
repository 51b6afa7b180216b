/* add.c: more keys into a filter that exists; in place, or to another file. */
#include <inttypes.h>
#include <math.h>

#include <tepal/filter.h>

#include "commands/change.h"
#include "input/kept.h"
#include "input/receipts.h"
#include "output/render.h"
#include "output/written.h"
#include "files/filter_file.h"
#include "cli/options.h"

/* Keys that come back from the list of kept ones are in the filter: they leave the batch. */
static size_t drop_returned(struct feed *feed, size_t count, struct kept *kept, uint64_t *returned)
{
    size_t left = 0;
    if (!kept->given) {
        return count;
    }
    for (size_t i = 0; i < count; i++) {
        if (kept_take(kept, feed->digest[i])) {
            ++*returned;
            continue;
        }
        feed->digest[left] = feed->digest[i];
        feed->key[left] = feed->key[i];
        feed->len[left++] = feed->len[i];
    }
    return left;
}

/* What was read. */
struct added {
    uint64_t total;
    uint64_t returned; /* kept keys that were in the filter */
    struct feed_left left;
    double lost; /* by a filter that learns, before */
};

static int add_keys(const struct args *args, struct tepal_filter *filter,
                    const struct tepal_hasher *hasher, struct receipts *receipts, struct kept *kept,
                    struct added *added)
{
    struct feed *feed = feed_open(args, 1, hasher);
    if (feed == NULL) {
        return EXIT_TROUBLE;
    }
    struct adder adder;
    ptrdiff_t count;
    int code = EXIT_YES;
    enum tepal_kind_id kind = tepal_filter_params(filter)->kind;
    feed->notice_repeats = !arg(args, "quiet")->given && !arg(args, "unique")->given &&
                           kind != TEPAL_KIND_RECYCLING && kind != TEPAL_KIND_CHAIN;
    adder_open(&adder, filter, feed, kept->given || arg(args, "receipts")->given);
    while (code == EXIT_YES && (count = feed_next(feed)) != 0) {
        if (count < 0) {
            code = EXIT_TROUBLE;
        } else {
            size_t left = drop_returned(feed, (size_t)count, kept, &added->returned);
            code = receipts_add(receipts, args, &adder, left);
        }
    }
    added->total = feed->total;
    added->left = feed->left;
    feed_close(feed);
    code = code == EXIT_YES ? args_status(args, adder_finish(&adder), NULL) : code;
    adder_close(&adder);
    return code;
}

/* Filters planned by tepal_growing_size come here after 2^15 times their plan, or never. */
#define COPIES_MANY 0.4

static void warn(const struct args *args, const char *to, const struct tepal_filter *filter,
                 uint64_t total)
{
    uint64_t capacity = tepal_filter_params(filter)->capacity;
    /* Keys that are in, as far as the filter knows: what was removed does not count. */
    double added = render_figure(filter, "keys_now", (double)tepal_filter_keys_added(filter));
    bool endless = (tepal_filter_kind(filter)->promises & TEPAL_ENDLESS) != 0;
    enum tepal_kind_id kind = tepal_filter_params(filter)->kind;
    char rate[64];
    if (arg(args, "quiet")->given) {
        return;
    }
    if (total == 0) {
        say_warning(filter_file_name(to, true), "no keys in the input: the filter is unchanged");
    } else if (capacity > 0 && added > (double)capacity && kind == TEPAL_KIND_CHAIN) {
        say_warning(filter_file_name(to, true),
                    "it has %.0f keys, and %" PRIu64 " were planned: the rate holds, and "
                    "further keys take more memory",
                    added, capacity);
    } else if (capacity > 0 && added > (double)capacity && kind == TEPAL_KIND_GROWING) {
        say_warning(filter_file_name(to, true),
                    "%.0f keys have been added, but %" PRIu64 " were planned: false positives are "
                    "at %s now, and rise slowly",
                    added, capacity, render_rate(tepal_filter_fp_now(filter), rate, sizeof rate));
        double copies = render_figure(filter, "copies", 0) / render_figure(filter, "ones", 1);
        if (copies > COPIES_MANY) {
            say_warning(filter_file_name(to, true),
                        "%.0f %% of its entries are copies of old ones, which take memory: build "
                        "it again with a larger --capacity, or settle it (tepal convert --settle)",
                        100 * copies);
        }
    } else if (capacity > 0 && added > (double)capacity && !endless) {
        say_warning(filter_file_name(to, true),
                    "%.0f keys have been added, but %" PRIu64 " were planned: expect more false "
                    "positives than predicted; tepal build --grow makes filters that grow with "
                    "their keys",
                    added, capacity);
    }
    if (total > 0 && tepal_filter_kind(filter)->id == TEPAL_KIND_RETOUCHED) {
        say_warning(filter_file_name(to, true),
                    "keys that the filter was retouched to avoid may be found again after "
                    "additions: retouch it again, or tell it with tepal avoid");
    }
    /* Was it built to veto known negatives? It has not kept them, and cannot look again. */
    if (total > 0 && !isnan(render_figure(filter, "fp_known", NAN))) {
        say_warning(filter_file_name(to, true),
                    "known negatives that the filter was built to avoid may be found again after "
                    "additions: rebuild it to be sure");
    }
}

/* Additions set bits again that were cleared to avoid keys: `back` members return, at most. */
static void tell_back(struct report *r, double back)
{
    if (isnan(back)) { /* no counting filter that learns */
        return;
    }
    if (back > 0) {
        report_say(r,
                   "set again  bits of at most %.0f lost member%s, found again; and keys that were "
                   "avoided may be",
                   back, back > 1 ? "s" : "");
    }
    report_whole(r, "members_back", (uint64_t)back, JSON_ONLY);
}

static int tell(const struct args *args, const char *to, const struct tepal_filter *filter,
                const struct added *added)
{
    struct report r = report_open(args);
    report_object(&r, NULL);
    written_tell(&r, to, filter, added->total);
    written_left_out(&r, args, added->left.comments, added->left.repeats);
    tell_back(&r, added->lost - render_figure(filter, "lost", (double)NAN));
    if (arg(args, "kept")->given) {
        report_say(&r, "returned   %" PRIu64 " kept keys, which were in the filter",
                   added->returned);
        report_whole(&r, "returned", added->returned, JSON_ONLY);
    }
    report_end(&r);
    return written_close(&r);
}

static int save(const struct args *args, const char *from, const char *to,
                const struct tepal_filter *filter, struct receipts *receipts, struct kept *kept,
                const struct added *added)
{
    warn(args, to, filter, added->total);
    int code = receipts_finish(receipts, args);
    code = code == EXIT_YES ? kept_finish(kept, args) : code;
    if (added->total == 0 && change_in_place(from, to)) {
        return code == EXIT_YES && arg(args, "json")->given ? tell(args, to, filter, added) : code;
    }
    struct atomic_file *const beside[] = {&receipts->file, &kept->file.file};
    code = code == EXIT_YES ? filter_file_save_with(args, filter, to, beside, 2) : code;
    return code == EXIT_YES ? tell(args, to, filter, added) : code;
}

static int work(const struct args *args, const char *from, const char *to,
                struct tepal_filter *filter)
{
    struct tepal_hasher hasher;
    struct receipts receipts = {.separator = '\n'};
    struct kept kept = {.given = false};
    static const char *const lists[] = {"kept", NULL};
    const char *const others[] = {from, to};
    struct added added = {.lost = render_figure(filter, "lost", (double)NAN)};
    int code = filter_file_hasher(args, filter_file_name(from, false), filter, &hasher);
    if (code == EXIT_YES) {
        code = receipts_check(args);
    }
    code = code == EXIT_YES ? key_lists_check(args, lists, "kept", others, 2) : code;
    code = code == EXIT_YES
               ? key_lists_check(args, lists, "kept", args->operand + 1, args->operands - 1)
               : code;
    code = code == EXIT_YES ? kept_open(&kept, args, filter, &hasher) : code;
    code = code == EXIT_YES ? receipts_open(&receipts, args, filter) : code;
    code = code == EXIT_YES ? add_keys(args, filter, &hasher, &receipts, &kept, &added) : code;
    code = code == EXIT_YES ? save(args, from, to, filter, &receipts, &kept, &added) : code;
    receipts_free(&receipts);
    kept_free(&kept);
    return code;
}

static int add_run(const struct args *args)
{
    return change_run(args, NULL, work);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION_IN_PLACE_OUTPUT, OPTION_RECEIPTS_OUT, OPTION_KEPT,   KEY_OPTIONS,
    OPTION_UNIQUE,          OPTION_KEY_FILE,     WRITER_OPTIONS};
static const char *const exclusive[][4] = {{"receipts", "kept"}, {NULL}};
static const struct example examples[] = {
    {"tepal add seen.tepal today.txt", "In place, atomically."},
    {"tepal add seen.tepal -o next.tepal < today.txt", "Write the result to another file."},
    {NULL, NULL}};

const struct command command_add = {
    .name = "add",
    .synopsis = "FILE [KEYS...] [--receipts FILE | --kept LIST] [-o OUT]",
    .summary = "Add keys to a filter.",
    .about =
        "Reads keys as build does, adds them to the filter FILE and replaces FILE, atomically.",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .least_operands = 1,
    .most_operands = SIZE_MAX,
    .operand_name = "a filter is",
    .stays = "nothing was changed",
    .examples = examples,
    .run = add_run};
