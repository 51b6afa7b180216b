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
#include "plans/plan_json.h"
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
    uint64_t left_out; /* strangers and negatives that are members */
    struct error fn;
    struct error fp;    /* of strangers */
    struct error known; /* of known negatives */
};

/* ---- what was promised ----------------------------------------------------------------------- */

/* Was it built against known negatives? */
static bool negatives_vetoed(const struct measure *m)
{
    enum tepal_kind_id kind = tepal_filter_kind(m->filter)->id;
    return kind == TEPAL_KIND_YESNO || kind == TEPAL_KIND_CASCADE;
}

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
    /* To a kind that was built without known negatives they are strangers. As built, none of them
     * has a weight: of a share of the weight only "none" is known. */
    m->known.promised = render_number(&report, "fp_known", NAN);
    if (!negatives_vetoed(m)) {
        m->known.promised = m->fp.promised;
    } else if (arg(m->args, "weights")->given && m->known.promised > 0) {
        m->known.promised = NAN;
    }
    m->fn.promised = render_number(&report, "fn_now", NAN);
    double keys = render_number(&report, "keys_added", 0);
    if (isnan(m->fn.promised) && keys > 0) {
        m->fn.promised = render_number(&report, "false_negatives", NAN) / keys;
    }
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
    plan_json_rates(plan, &m->fp.promised, &m->known.promised);
    if (isnan(m->known.promised)) {
        m->known.promised = m->fp.promised; /* planned without any */
    }
    const json_t *fn = json_object_get(plan, "fn");
    m->fn.promised = json_is_number(fn) ? json_number_value(fn) : NAN;
    json_decref(o);
    free(text);
    if (weighted && arg(m->args, "negatives")->given && !arg(m->args, "weights")->given) {
        return say_error(NULL, path,
                         "this plan counts by weight: give --weights, and --negatives with "
                         "weights");
    }
    return is ? EXIT_YES : say_error(NULL, path, "not a plan, as written by tepal plan --json");
}

/* ---- asking ---------------------------------------------------------------------------------- */

static struct feed *open_feed(const struct measure *m, const char *id)
{
    bool weighted = strcmp(id, "negatives") == 0 && arg(m->args, "weights")->given;
    return feed_open_file(m->args, &arg(m->args, id)->text, &m->hasher, weighted);
}

/* EXIT_YES if anything was asked: a promise does not hold because nobody looked. */
static int asked_any(const struct measure *m, const char *id, uint64_t asked, uint64_t left_out)
{
    return asked > 0 ? EXIT_YES
                     : args_about(m->args, filter_file_name(arg(m->args, id)->text, false),
                                  left_out > 0 ? "all keys in the input are members: there is "
                                                 "nothing to measure"
                                               : "no keys in the input: there is nothing to "
                                                 "measure");
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
    return count == 0 ? asked_any(m, "members", m->fn.asked, 0) : EXIT_TROUBLE;
}

static void count_stranger(struct error *e, bool wrong, double weight)
{
    e->asked++;
    e->wrong += wrong;
    e->weight += weight;
    e->wrong_weight += wrong ? weight : 0;
    e->squares += weight * weight;
}

/* Strangers, or known negatives. */
static int ask_others(struct measure *m, const char *id, struct error *error)
{
    struct feed *feed = open_feed(m, id);
    uint64_t before = m->left_out;
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
                count_stranger(error, answer_of(answers, (size_t)i),
                               feed->weighted ? feed->weight[i] : 0);
            }
        }
    }
    feed_close(feed);
    return count == 0 ? asked_any(m, id, error->asked, m->left_out - before) : EXIT_TROUBLE;
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

static void tell_error(struct report *r, const char *name, const char *label, const char *asked,
                       const char *verb, const struct error *e)
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
    report_line(r, "%-10s %s%s, 99 %% interval: %s to %s; ", label,
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
    bool kept = held(&m->fn) && held(&m->fp) && held(&m->known);
    struct report r = report_open(m->args);
    report_object(&r, NULL);
    report_text(&r, "file", m->path, JSON_ONLY);
    report_text(&r, "kind", tepal_filter_kind(m->filter)->name, JSON_ONLY);
    tell_error(&r, "fn", "fn", "members", "missed", &m->fn);
    tell_error(&r, "fp", "fp", "strangers", "found", &m->fp);
    tell_error(&r, "fp_known", "fp known", "negatives", "found", &m->known);
    report_whole(&r, "members_among_strangers", m->left_out, JSON_ONLY);
    report_flag(&r, "held", kept, JSON_ONLY);
    if (m->left_out > 0) {
        report_line(&r, "left out   %" PRIu64 " non-members that are members\n", m->left_out);
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
        code = ask_others(m, "strangers", &m->fp);
    }
    if (code == EXIT_YES && arg(m->args, "negatives")->given) {
        code = ask_others(m, "negatives", &m->known);
    }
    return code == EXIT_YES ? print(m) : code;
}

static int measure_run(const struct args *args)
{
    struct measure m = {.args = args, .path = args->operand[0]};
    if (!arg(args, "members")->given && !arg(args, "strangers")->given &&
        !arg(args, "negatives")->given) {
        return args_wrong(args,
                          "--members KEYS, --strangers KEYS or --negatives KEYS is needed, or all");
    }
    if (arg(args, "weights")->given && !arg(args, "negatives")->given) {
        return args_wrong(args, "--weights needs --negatives KEYS, with weights");
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
           "Strangers: keys that are not in the set, and that the filter was not built against. "
           "Members among them are left out."),
    OPTION(0, "negatives", OF_VALUE(TAKES_FILE, "KEYS"),
           "The known negatives: keys not in the set that the filter was built against. They have "
           "a promise of their own. Members among them are left out."),
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
    .synopsis = "FILE --members KEYS --strangers KEYS [--negatives KEYS] [--plan PLAN]",
    .summary = "Measure both error rates of a filter, and whether its plan held.",
    .about = "Looks up members, strangers and known negatives in the filter FILE, and prints their "
             "error rates with 99 % confidence intervals (Wilson), next to what was promised.\n\n"
             "Exit status 0 if the plan held (no interval lies above its promise), 1 if not, 2 on "
             "an error.",
    .options = options,
    .files = true,
    .least_operands = 1,
    .most_operands = 1,
    .operand_name = "a filter is",
    .examples = examples,
    .run = measure_run};
