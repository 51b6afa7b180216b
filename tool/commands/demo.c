/*
 * demo.c: the promise, put to the test. Keys are the integers 0 .. n-1, strangers those after them;
 * the digest makes both look random. The predicted error comes from the model and knows nothing of
 * the filter; the measured one comes from asking.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <tepal/filter.h>
#include <tepal/papers.h>

#include "cli/command.h"
#include "output/progress.h"
#include "output/render.h"
#include "output/report.h"
#include "cli/options.h"

#define BATCH          2048
#define STRANGERS      10       /* for each key */
#define LEAST_STRANGER 100000   /* but never fewer than this */
#define Z99            2.575829 /* 99 % of a normal lie within so many standard deviations */

struct trial {
    const struct args *args;
    struct progress *progress;
    uint64_t keys;
    uint64_t strangers;
    double rate; /* asked for */
    struct tepal_params params;
    struct tepal_hasher hasher;
    struct tepal_filter *filter;
    double predicted;
    uint64_t missed;   /* members not found */
    uint64_t mistaken; /* strangers taken for members */
    double measured;
    double low; /* of the 99 % interval */
    double high;
    double ns_add;
    double ns_query; /* of a stranger */
};

/* Wilson's score interval for `hits` of `total`. */
static void interval(struct trial *t)
{
    double n = (double)t->strangers;
    double p = (double)t->mistaken / n;
    double z2 = Z99 * Z99;
    double middle = p + z2 / (2 * n);
    double half = Z99 * sqrt(p * (1 - p) / n + z2 / (4 * n * n));
    t->measured = p;
    t->low = t->mistaken == 0 ? 0 : (middle - half) / (1 + z2 / n);
    t->high = (middle + half) / (1 + z2 / n);
}

static size_t digests_of(const struct trial *t, uint64_t from, uint64_t to,
                         struct tepal_digest *digests)
{
    size_t count = to - from < BATCH ? (size_t)(to - from) : BATCH;
    for (size_t i = 0; i < count; i++) {
        digests[i] = tepal_hash_u64(&t->hasher, from + i);
    }
    return count;
}

static enum tepal_status add_members(struct trial *t)
{
    struct tepal_digest digests[BATCH];
    double start = progress_clock();
    for (uint64_t i = 0; i < t->keys;) {
        size_t count = digests_of(t, i, t->keys, digests);
        enum tepal_status status = tepal_filter_add_many(t->filter, digests, count);
        if (status != TEPAL_OK) {
            return status;
        }
        i += count;
        progress_parts(t->progress, i, t->keys, "keys added");
    }
    t->ns_add = (progress_clock() - start) * 1e9 / (double)t->keys;
    return TEPAL_OK;
}

/* How many of the integers from .. to - 1 the filter says "perhaps" to. */
static uint64_t ask(struct trial *t, uint64_t from, uint64_t to)
{
    struct tepal_digest digests[BATCH];
    uint64_t answers[BATCH / 64];
    uint64_t present = 0;
    for (uint64_t i = from; i < to;) {
        size_t count = digests_of(t, i, to, digests);
        present += tepal_filter_query_many(t->filter, digests, count, answers);
        i += count;
        progress_parts(t->progress, i - from, to - from, "keys looked up");
    }
    return present;
}

static int failed(const struct trial *t, enum tepal_status status)
{
    progress_end(t->progress);
    return args_wrong(t->args, "%s layout: %s", tepal_layout_name(t->params.layout),
                      tepal_status_message(status));
}

static int run_trial(struct trial *t)
{
    struct tepal_params *p = &t->params;
    p->capacity = t->keys;
    enum tepal_status status =
        tepal_bloom_size(p->layout, p->positions, t->keys, t->rate, &p->cells, &p->hashes);
    if (status == TEPAL_OK) {
        status = tepal_filter_create(p, NULL, &t->filter, NULL);
    }
    if (status != TEPAL_OK) {
        return failed(t, status);
    }
    t->predicted = tepal_bloom_fp(p->layout, p->positions, p->cells, t->keys, p->hashes);
    tepal_hasher_init(p->seed, &t->hasher);
    status = add_members(t);
    if (status == TEPAL_OK) {
        t->missed = t->keys - ask(t, 0, t->keys);
        double start = progress_clock();
        t->mistaken = ask(t, t->keys, t->keys + t->strangers);
        t->ns_query = (progress_clock() - start) * 1e9 / (double)t->strangers;
        interval(t);
    }
    tepal_filter_free(t->filter);
    return status == TEPAL_OK ? EXIT_YES : failed(t, status);
}

static void tell_row(struct report *r, const struct trial *t)
{
    const struct tepal_params *p = &t->params;
    char span[64];
    snprintf(span, sizeof span, " %.5f .. %.5f %%", t->low * 100, t->high * 100);
    report_object(r, NULL);
    report_text(r, "layout", tepal_layout_name(p->layout), column("layout", -12, NULL));
    report_real(r, NULL, (double)p->cells / (double)t->keys, text_column("bits/key", 8, "%.2f"));
    report_whole(r, "bits", p->cells, JSON_ONLY);
    report_whole(r, "hashes", p->hashes, column("hashes", 6, NULL));
    report_whole(r, "keys", t->keys, JSON_ONLY);
    report_whole(r, "strangers", t->strangers, JSON_ONLY);
    report_real(r, "fp_asked", t->rate, JSON_ONLY);
    report_real(r, "fp_predicted", t->predicted, column("predicted", 10, "%.4f %%"));
    report_real(r, "fp_measured", t->measured, column("measured", 10, "%.4f %%"));
    report_text(r, NULL, span, text_column(" 99 % interval", -23, NULL));
    report_real(r, "fp_low", t->low, JSON_ONLY);
    report_real(r, "fp_high", t->high, JSON_ONLY);
    report_whole(r, "false_negatives", t->missed, column("false negatives", 16, NULL));
    report_real(r, "ns_add", t->ns_add, column("add", 6, "%.0f ns"));
    report_real(r, "ns_query", t->ns_query, column("query", 6, "%.0f ns"));
    report_whole(r, "seed", p->seed, JSON_ONLY);
    report_end(r);
}

static int show(const struct args *args, struct report *r, struct trial *t)
{
    struct progress progress;
    char rate[64];
    progress_start(&progress, !arg(args, "quiet")->given);
    t->progress = &progress;
    int code = run_trial(t);
    progress_end(&progress);
    if (code != EXIT_YES) {
        return code;
    }
    if (r->rows == 0) {
        report_line(
            r, "%" PRIu64 " key%s for %s false positives; %" PRIu64 " non-members looked up\n\n",
            t->keys, SAY_S(t->keys), render_rate(t->rate, rate, sizeof rate), t->strangers);
    }
    tell_row(r, t);
    out_flush(r->out);
    return t->missed == 0 ? EXIT_YES
                          : args_wrong(args, "%" PRIu64 " members were not found", t->missed);
}

static struct trial make_trial(const struct args *args, enum tepal_layout layout)
{
    const struct option_value *keys = arg(args, "keys");
    const struct option_value *rate = arg(args, "fp");
    const struct option_value *seed = arg(args, "seed");
    struct trial t = {.args = args,
                      .keys = keys->given ? keys->whole : 1000000,
                      .rate = rate->given ? rate->real : 0.01,
                      .params = TEPAL_PARAMS_INIT};
    t.params.layout = layout;
    t.params.seed = seed->given ? seed->whole : 1;
    t.strangers = t.keys * STRANGERS > LEAST_STRANGER ? t.keys * STRANGERS : LEAST_STRANGER;
    return t;
}

static int demo_run(const struct args *args)
{
    static const enum tepal_layout layouts[] = {TEPAL_LAYOUT_FLAT, TEPAL_LAYOUT_BLOCKED,
                                                TEPAL_LAYOUT_PAIRED};
    const struct option_value *only = arg(args, "layout");
    struct report r = report_open(args);
    int code = report_code(&r, EXIT_YES);
    for (size_t i = 0; i < (only->given ? 1 : 3) && code == EXIT_YES; i++) {
        struct trial t = make_trial(args, layouts[i]);
        if (only->given) {
            tepal_layout_parse(only->text, &t.params.layout);
        }
        code = show(args, &r, &t);
    }
    return report_close(&r, code);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION('n', "keys", OF_WHOLE("N", 1, (uint64_t)1 << 32),
           "How many keys to add (default 1000000)."),
    OPTION_FP,
    OPTION('l', "layout", OF_CHOICE("LAYOUT", LAYOUT_WORDS),
           "Only this layout (default: flat, blocked and paired)."),
    OPTION_DEMO_SEED,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_HELP,
    OPTIONS_END};
static const struct example examples[] = {
    {"tepal demo", "A million keys at 1 %, in three layouts."},
    {"tepal demo --fp 1/1000 --layout paired", "One layout at a lower error rate."},
    {NULL, NULL}};

const struct command command_demo = {
    .name = "demo",
    .synopsis = "[--keys N] [--fp RATE] [--layout LAYOUT]",
    .summary = "Compare predicted and measured error rates on generated keys.",
    .about = "Generates keys, builds filters for the given false-positive rate, looks up every "
             "member and many non-members, and prints predicted and measured rates side by side. "
             "Exit status 2 if a member was not found.",
    .options = options,
    .examples = examples,
    .run = demo_run};
