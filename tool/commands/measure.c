/* measure.c: both errors of a filter, asked for keys whose membership is known. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tepal/filter.h>

#include "cli/command.h"
#include "input/digests.h"
#include "input/feed.h"
#include "output/answers.h"
#include "output/render.h"
#include "output/report.h"
#include "files/filter_file.h"
#include "statistics/wilson.h"
#include "plans/wish.h"
#include "input/slurp.h"
#include "cli/options.h"

#define PLAN_FILE_MOST ((size_t)1 << 20)

/* One error: how often, of how many, and what was promised. */
struct error {
    uint64_t asked;
    uint64_t wrong;
    double promised; /* NaN: nothing */
    double weight;   /* of what was asked, if by weight; else 0 */
    double wrong_weight;
    double squares; /* of the weights */
};

struct measure {
    const struct args *args;
    const char *path;
    struct tepal_filter *filter;
    struct tepal_hasher hasher;
    struct digests members;
    uint64_t left_out; /* strangers that are members */
    struct error fn;
    struct error fp;
};

/* ---- what was promised ----------------------------------------------------------------------- */

/* What the filter says of itself: the rate it was planned for, a bound, an average; or as it is. */
static void promise_of_filter(struct measure *m)
{
    static const char *const names[] = {"fp_bound", "fp_average", "fp_at_capacity", "fp_now"};
    struct tepal_report report = {.count = 0};
    tepal_filter_info(m->filter, &report);
    m->fp.promised = NAN;
    for (size_t i = 0; i < sizeof names / sizeof *names && isnan(m->fp.promised); i++) {
        m->fp.promised = render_number(&report, names[i], NAN);
    }
    m->fn.promised = render_number(&report, "fn_now", NAN);
    double keys = render_number(&report, "keys_added", 0);
    if (isnan(m->fn.promised) && keys > 0) {
        m->fn.promised = render_number(&report, "false_negatives", NAN) / keys;
    }
}

static double number_of(const json_t *plan, const char *name)
{
    const json_t *value = json_object_get(plan, name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static int promise_of_plan(struct measure *m)
{
    const char *path = arg(m->args, "plan")->text;
    size_t len;
    char *text = slurp(m->args, path, PLAN_FILE_MOST, &len);
    if (text == NULL) {
        return EXIT_TROUBLE;
    }
    json_error_t error;
    json_t *o = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
    const json_t *plan = json_array_get(json_object_get(o, "plans"), 0);
    bool is = json_is_object(plan);
    bool weighted = json_is_true(json_object_get(o, "weighted"));
    m->fp.promised = number_of(plan, "fp");
    m->fn.promised = number_of(plan, "fn");
    json_decref(o);
    free(text);
    if (weighted && arg(m->args, "strangers")->given && !arg(m->args, "weights")->given) {
        return say_error(NULL, path,
                         "this plan counts by weight: give --weights, and --strangers with "
                         "weights");
    }
    return is ? EXIT_YES : say_error(NULL, path, "not a plan, as written by tepal plan --json");
}

/* ---- asking ---------------------------------------------------------------------------------- */

static struct feed *open_feed(const struct measure *m, const char *id)
{
    bool weighted = strcmp(id, "strangers") == 0 && arg(m->args, "weights")->given;
    return feed_open_file(m->args, &arg(m->args, id)->text, &m->hasher, weighted);
}

static int ask_members(struct measure *m)
{
    struct feed *feed = open_feed(m, "members");
    uint64_t answers[FEED_BATCH / 64];
    ptrdiff_t count;
    if (feed == NULL) {
        return EXIT_TROUBLE;
    }
    while ((count = feed_next(feed)) > 0) {
        size_t n = (size_t)count;
        m->fn.wrong += n - tepal_filter_query_many(m->filter, feed->digest, n, answers);
        m->fn.asked += n;
        for (size_t i = 0; i < n; i++) {
            if (!digests_add(&m->members, feed->digest[i], 1, NULL, 0)) {
                feed_close(feed);
                return say_no_memory();
            }
        }
    }
    feed_close(feed);
    return count == 0 ? EXIT_YES : EXIT_TROUBLE;
}

static void count_stranger(struct error *e, bool wrong, double weight)
{
    e->asked++;
    e->wrong += wrong;
    e->weight += weight;
    e->wrong_weight += wrong ? weight : 0;
    e->squares += weight * weight;
}

static int ask_strangers(struct measure *m)
{
    struct feed *feed = open_feed(m, "strangers");
    uint64_t answers[FEED_BATCH / 64];
    ptrdiff_t count;
    if (feed == NULL) {
        return EXIT_TROUBLE;
    }
    while ((count = feed_next(feed)) > 0) {
        (void)tepal_filter_query_many(m->filter, feed->digest, (size_t)count, answers);
        for (ptrdiff_t i = 0; i < count; i++) {
            bool member = digests_has(&m->members, feed->digest[i]);
            m->left_out += member;
            if (!member) {
                count_stranger(&m->fp, answer_of(answers, (size_t)i),
                               feed->weighted ? feed->weight[i] : 0);
            }
        }
    }
    feed_close(feed);
    return count == 0 ? EXIT_YES : EXIT_TROUBLE;
}

/* ---- telling --------------------------------------------------------------------------------- */

/* By weight: as sure as so many equal ones would make it. */
static struct wilson measured(const struct error *e)
{
    return e->weight > 0
               ? wilson_share(e->wrong_weight / e->weight, e->weight * e->weight / e->squares)
               : wilson_99(e->wrong, e->asked);
}

/* Does what was measured leave room for what was promised? */
static bool held(const struct error *e)
{
    return e->asked == 0 || isnan(e->promised) || measured(e).low <= e->promised * (1 + 1e-9);
}

static void tell_error(struct report *r, const char *name, const char *asked, const char *verb,
                       const struct error *e)
{
    struct wilson w = measured(e);
    char rate[48];
    char low[48];
    char high[48];
    report_object(r, name);
    report_whole(r, "asked", e->asked, JSON_ONLY);
    report_whole(r, "wrong", e->wrong, JSON_ONLY);
    report_real(r, "rate", w.rate, JSON_ONLY);
    report_real(r, "low", w.low, JSON_ONLY);
    report_real(r, "high", w.high, JSON_ONLY);
    report_real(r, "promised", e->promised, JSON_ONLY);
    report_flag(r, "held", held(e), JSON_ONLY);
    report_end(r);
    if (e->asked == 0) {
        return;
    }
    report_line(r, "%-10s %" PRIu64 " looked up, %" PRIu64 " %s\n", asked, e->asked, e->wrong,
                verb);
    report_line(r, "%-10s %s%s, 99 %% interval: %s to %s; ", name,
                render_rate(w.rate, rate, sizeof rate), e->weight > 0 ? " of the weight" : "",
                render_rate(w.low, low, sizeof low), render_rate(w.high, high, sizeof high));
    if (isnan(e->promised)) {
        report_line(r, "nothing was promised\n");
    } else {
        report_line(r, "promised %s: %s\n", render_rate(e->promised, rate, sizeof rate),
                    held(e) ? "held" : "not held");
    }
}

static int print(const struct measure *m)
{
    bool kept = held(&m->fn) && held(&m->fp);
    struct report r = report_open(m->args);
    report_object(&r, NULL);
    report_text(&r, "file", m->path, JSON_ONLY);
    report_text(&r, "kind", tepal_filter_kind(m->filter)->name, JSON_ONLY);
    tell_error(&r, "fn", "members", "missed", &m->fn);
    tell_error(&r, "fp", "strangers", "found", &m->fp);
    report_whole(&r, "members_among_strangers", m->left_out, JSON_ONLY);
    report_flag(&r, "held", kept, JSON_ONLY);
    if (m->left_out > 0) {
        report_line(&r, "left out   %" PRIu64 " strangers that are members\n", m->left_out);
    }
    report_line(&r, "plan       %s\n", kept ? "held" : "not held");
    report_end(&r);
    return report_close(&r, kept ? EXIT_YES : EXIT_NO);
}

static int work(struct measure *m)
{
    int code = filter_file_hasher(m->args, filter_file_name(m->path, false), m->filter, &m->hasher);
    if (code == EXIT_YES) {
        promise_of_filter(m);
        code = arg(m->args, "plan")->given ? promise_of_plan(m) : EXIT_YES;
    }
    if (code == EXIT_YES && arg(m->args, "members")->given) {
        code = ask_members(m);
    }
    if (code == EXIT_YES && arg(m->args, "strangers")->given) {
        code = ask_strangers(m);
    }
    return code == EXIT_YES ? print(m) : code;
}

static int measure_run(const struct args *args)
{
    struct measure m = {.args = args, .path = args->operand[0]};
    if (!arg(args, "members")->given && !arg(args, "strangers")->given) {
        return args_wrong(args, "--members KEYS, --strangers KEYS or both are needed");
    }
    if (arg(args, "weights")->given && !arg(args, "strangers")->given) {
        return args_wrong(args, "--weights needs --strangers KEYS, with weights");
    }
    if (filter_file_open(args, m.path, FILTER_FILE_VIEW, &m.filter) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    int code = work(&m);
    digests_free(&m.members);
    tepal_filter_free(m.filter);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION(0, "members", OF_VALUE(TAKES_FILE, "KEYS"), "The members: the keys of the set."),
    OPTION(0, "strangers", OF_VALUE(TAKES_FILE, "KEYS"),
           "Non-members: keys that are not in the set. Members among them are left out."),
    OPTION_WISH_WEIGHTS,
    OPTION(0, "plan", OF_VALUE(TAKES_FILE, "PLAN"),
           "The plan to check against, written by tepal plan --json (default: what the model "
           "predicts for FILE)."),
    KEY_OPTIONS,
    OPTION_KEY_FILE,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_HELP,
    OPTIONS_END};
static const struct example examples[] = {
    {"tepal measure seen.tepal --members seen.txt --strangers others.txt",
     "Are the error rates as predicted?"},
    {NULL, NULL}};

const struct command command_measure = {
    .name = "measure",
    .synopsis = "FILE --members KEYS --strangers KEYS [--plan PLAN]",
    .summary = "Measure both error rates of a filter, and whether its plan held.",
    .about = "Looks up members and non-members (strangers) in the filter FILE, and prints both "
             "error rates with their 99 % confidence intervals (Wilson), next to what was "
             "promised.\n\n"
             "Exit status 0 if the plan held (no interval lies above its promise), 1 if not, 2 on "
             "an error.",
    .options = options,
    .files = true,
    .least_operands = 1,
    .most_operands = 1,
    .operand_name = "a filter is",
    .examples = examples,
    .run = measure_run};
