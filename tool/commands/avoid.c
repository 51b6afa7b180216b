/*
 * avoid.c: keys that a filter found wrongly and must not find again; in place, or to another file.
 * The library clears bits within the budget of members that the filter may lose.
 */
#include <inttypes.h>
#include <math.h>

#include <tepal/avoid.h>

#include "cli/options.h"
#include "commands/avoid_budget.h"
#include "commands/change.h"
#include "files/filter_file.h"
#include "files/key_list.h"
#include "input/feed.h"
#include "output/render.h"
#include "output/written.h"

/* One run: what was read, and what came of it. */
struct avoiding {
    const struct args *args;
    struct tepal_filter *filter;
    uint64_t total;
    struct tepal_avoided all; /* of all batches */
    struct key_list refused;
};

static int refuse(const struct avoiding *a, const char *from, enum tepal_status status,
                  const char *why)
{
    return say_status(a->args->command->stays, filter_file_name(from, false), status, why);
}

/* The members that the options allow to be lost; 0: they say nothing. */
static uint64_t allowed(const struct avoiding *a)
{
    double members = render_figure(a->filter, "keys_now", (double)NAN); /* of a counting filter */
    if (isnan(members)) {
        members =
            render_figure(a->filter, "members", render_figure(a->filter, "keys_estimated", 0));
    }
    return avoid_budget(a->args, 0, members);
}

static int set_budget(struct avoiding *a, const char *from)
{
    struct tepal_error error = {.why = ""};
    uint64_t most = allowed(a);
    if (most > 0) {
        enum tepal_status status = tepal_avoid_budget(a->filter, most, &error);
        return status == TEPAL_OK ? EXIT_YES : refuse(a, from, status, error.why);
    }
    enum tepal_status status = tepal_avoid(a->filter, NULL, 0, NULL, &a->all, &error);
    if (status == TEPAL_BAD_ARGUMENT) {
        return args_about(a->args, filter_file_name(from, false),
                          "nobody has said yet how many members it may lose: give --max-fn R or "
                          "--max-fn-count N");
    }
    return status == TEPAL_OK ? EXIT_YES : refuse(a, from, status, error.why);
}

static int avoid_batch(struct avoiding *a, const char *from, const struct feed *feed, size_t count)
{
    uint64_t refused[(FEED_BATCH + 63) / 64];
    struct tepal_avoided done;
    struct tepal_error error = {.why = ""};
    enum tepal_status status = tepal_avoid(a->filter, feed->digest, count, refused, &done, &error);
    if (status != TEPAL_OK) {
        return refuse(a, from, status, error.why);
    }
    for (size_t i = 0; i < count; i++) {
        if ((refused[i / 64] >> (i % 64) & 1) != 0) {
            key_list_add(&a->refused, feed->key[i], feed->len[i]);
        }
    }
    done.absent += a->all.absent;
    done.avoided += a->all.avoided;
    done.refused += a->all.refused;
    done.cleared += a->all.cleared;
    done.lost += a->all.lost;
    a->all = done;
    return EXIT_YES;
}

static int avoid_keys(struct avoiding *a, const char *from, const struct tepal_hasher *hasher)
{
    struct feed *feed = feed_open(a->args, 1, hasher);
    if (feed == NULL) {
        return EXIT_TROUBLE;
    }
    ptrdiff_t count;
    int code = EXIT_YES;
    while (code == EXIT_YES && (count = feed_next(feed)) != 0) {
        code = count < 0 ? EXIT_TROUBLE : avoid_batch(a, from, feed, (size_t)count);
    }
    a->total = feed->total;
    feed_close(feed);
    return code;
}

static void say_lost(struct report *r, const struct tepal_avoided *all)
{
    char rate[96];
    double share = all->members > 0 ? fmin(1, all->lost_all / all->members) : 0;
    const char *how = all->expected ? "about" : "at most";
    report_say(r, "lost       %s %.*f member%s, %.*f in all (%s of %.0f); the budget is %.0f", how,
               all->expected, all->lost, all->expected ? "s" : SAY_S(all->lost), all->expected,
               all->lost_all, render_rate(share, rate, sizeof rate), all->members, all->most_lost);
}

static int tell(const struct avoiding *a, const char *to)
{
    const struct tepal_avoided *all = &a->all;
    struct report r = report_open(a->args);
    report_object(&r, NULL);
    report_say(&r, "avoided    %" PRIu64 " of %" PRIu64 " key%s; %" PRIu64 " %s not found anyway",
               all->avoided, a->total, SAY_S(a->total), all->absent,
               all->absent == 1 ? "was" : "were");
    if (all->refused > 0) {
        report_say(&r, "refused    %" PRIu64 " key%s, which %s still found: the budget is spent",
                   all->refused, SAY_S(all->refused), all->refused == 1 ? "is" : "are");
    }
    say_lost(&r, all);
    written_tell(&r, to, a->filter, UINT64_MAX);
    report_whole(&r, "keys_read", a->total, JSON_ONLY);
    report_whole(&r, "avoided", all->avoided, JSON_ONLY);
    report_whole(&r, "absent", all->absent, JSON_ONLY);
    report_whole(&r, "refused", all->refused, JSON_ONLY);
    report_whole(&r, "cleared_now", all->cleared, JSON_ONLY);
    report_real(&r, "lost_now", all->lost, JSON_ONLY);
    report_real(&r, "lost_all", all->lost_all, JSON_ONLY);
    report_flag(&r, "lost_expected", all->expected, JSON_ONLY);
    report_end(&r);
    return written_close(&r);
}

static int save(struct avoiding *a, const char *from, const char *to)
{
    bool unchanged = a->all.avoided == 0 && allowed(a) == 0 && change_in_place(from, to);
    struct atomic_file *const beside[] = {&a->refused.file};
    int code = key_list_finish(&a->refused, a->args);
    return code == EXIT_YES
               ? filter_file_save_with(a->args, unchanged ? NULL : a->filter, to, beside, 1)
               : code;
}

static int work(const struct args *args, const char *from, const char *to,
                struct tepal_filter *filter)
{
    static const char *const lists[] = {"refused", NULL};
    const char *const others[] = {from, to};
    struct avoiding a = {.args = args, .filter = filter};
    struct tepal_hasher hasher;
    int code = set_budget(&a, from);
    code = code == EXIT_YES
               ? filter_file_hasher(args, filter_file_name(from, false), filter, &hasher)
               : code;
    code = code == EXIT_YES ? key_lists_check(args, lists, NULL, others, 2) : code;
    code = code == EXIT_YES
               ? key_lists_check(args, lists, NULL, args->operand + 1, args->operands - 1)
               : code;
    code = code == EXIT_YES ? key_list_open(&a.refused, args, "refused") : code;
    code = code == EXIT_YES ? avoid_keys(&a, from, &hasher) : code;
    if (code == EXIT_YES && a.total == 0 && !arg(args, "quiet")->given) {
        say_warning(filter_file_name(to, true), "no keys in the input");
    }
    code = code == EXIT_YES ? save(&a, from, to) : code;
    code = code == EXIT_YES ? tell(&a, to) : code;
    key_list_free(&a.refused);
    return code == EXIT_YES && a.all.refused > 0 ? EXIT_NO : code;
}

static int avoid_run(const struct args *args)
{
    return change_run(args, NULL, work);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION_BUDGET,
    OPTION_BUDGET_COUNT,
    OPTION(0, "refused", OF_VALUE(TAKES_FILE, "LIST"),
           "Write the keys that the budget does not allow, one per line."),
    OPTION_IN_PLACE_OUTPUT,
    KEY_OPTIONS,
    OPTION_KEY_FILE,
    WRITER_OPTIONS};
static const char *const exclusive[][4] = {{"max-fn", "max-fn-count"}, {NULL}};
static const struct example examples[] = {
    {"tepal avoid blocked.tepal complaints.txt --max-fn 0.1%",
     "The first time, with the budget; in place, atomically."},
    {"echo example.org | tepal avoid blocked.tepal", "One more, within the same budget."},
    {NULL, NULL}};

const struct command command_avoid = {
    .name = "avoid",
    .synopsis = "FILE [KEYS...] [--max-fn R | --max-fn-count N] [--refused LIST] [-o OUT]",
    .summary = "Make a filter no longer find keys that it found wrongly.",
    .about = "Reads keys as build does, clears bits of the filter FILE so that it does not find "
             "them any more, and replaces FILE, atomically. KEYS must not be members. The price is "
             "members that are no longer found either, at most as many as the filter's budget "
             "allows; a key that would exceed it is refused and changes nothing.\n\n"
             "The members are not needed. A counting filter clears the bit with the smallest "
             "counter and keeps the counters: keys can be added and removed as before, and the "
             "report says how many members are lost at most. A Bloom filter becomes a retouched "
             "one; what it loses is predicted. Adding keys sets bits again, so that keys that were "
             "avoided may be found again. If all keys to avoid are known, `tepal retouch` loses "
             "fewer members.\n\n"
             "Exit status 0 if no key of KEYS is found any more, 1 if some were refused, 2 on an "
             "error.",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .least_operands = 1,
    .most_operands = SIZE_MAX,
    .operand_name = "a filter is",
    .stays = "nothing was changed",
    .examples = examples,
    .run = avoid_run};
