/*
 * dedup.c: lines in, first sightings out, for ever and in fixed memory: the recycling filter as a
 * command.
 *
 * What was printed and what is remembered must agree after a crash: output is flushed before a
 * state is saved, and nothing is saved when output could not be written. So a line may come out a
 * second time after a crash, but none is ever kept back that did not come out.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sodium.h>

#include <tepal/recycling.h>

#include "cli/command.h"
#include "input/feed.h"
#include "output/out.h"
#include "output/answers.h"
#include "output/render.h"
#include "cli/say.h"
#include "files/filter_file.h"
#include "streams/state.h"
#include "streams/stream.h"
#include "streams/sample.h"
#include "streams/signals.h"

struct dedup {
    const struct args *args;
    struct state state;
    struct tepal_recycling *filter;
    struct feed *feed;
    struct out *out;
    struct sample sample;
    bool prints; /* lines, that is, not counts */
    bool timed;
    bool clock_told;
    uint64_t lines;
    uint64_t repeated;
    uint64_t answers[FEED_BATCH / 64];
};

static const struct tepal_filter *generic(const struct dedup *d)
{
    return tepal_recycling_filter_const(d->filter);
}

/* ---- figures -------------------------------------------------------------------------------- */

static void set_real(json_t *object, const char *name, double value)
{
    json_object_set_new(object, name, isfinite(value) ? json_real(value) : json_null());
}

static json_t *figures_json(const struct dedup *d, const struct tepal_recycling_figures *f)
{
    const struct tepal_params *p = tepal_filter_params(generic(d));
    uint32_t phases = tepal_recycling_options_of(p).phases;
    json_t *o = json_object();
    json_object_set_new(o, "lines", json_integer((json_int_t)d->lines));
    json_object_set_new(o, "new", json_integer((json_int_t)(d->lines - d->repeated)));
    json_object_set_new(o, "repeated", json_integer((json_int_t)d->repeated));
    json_object_set_new(o, "cycles", json_integer((json_int_t)f->cycles));
    set_real(o, "fill", f->fill);
    set_real(o, "fp_average", f->fp_average);
    set_real(o, "fn_estimated", sample_missed(&d->sample));
    json_object_set_new(o, "lines_ever", json_integer((json_int_t)f->arrivals));
    json_object_set_new(o, "memory", json_integer((json_int_t)(p->cells / 8 * phases)));
    json_object_set_new(o, "phases", json_integer((json_int_t)phases));
    json_object_set_new(o, "hashes", json_integer((json_int_t)p->hashes));
    json_object_set_new(o, "layout", json_string(tepal_layout_name(p->layout)));
    return o;
}

static void say_figures(const struct dedup *d, const struct tepal_recycling_figures *f)
{
    double missed = sample_missed(&d->sample);
    char fp[64];
    char fn[64] = "unknown";
    if (isfinite(missed)) {
        render_rate(missed, fn, sizeof fn);
    }
    say_line("lines %" PRIu64 ", new %" PRIu64 ", repeated %" PRIu64 ", cycles %" PRIu64
             ", fill %.1f %%, false positives %s, false negatives %s",
             d->lines, d->lines - d->repeated, d->repeated, f->cycles, f->fill * 100,
             render_rate(f->fp_average, fp, sizeof fp), fn);
}

/* One line of figures on standard error. */
static void tell(const struct dedup *d)
{
    struct tepal_recycling_figures f = tepal_recycling_figures(d->filter);
    if (!d->args->option[OPT_FIGURES_JSON].given) {
        say_figures(d, &f);
        return;
    }
    struct out *out = out_open(STDERR_FILENO);
    if (out != NULL) {
        render_json(out, figures_json(d, &f));
        out_close(out, EXIT_YES);
    }
}

/*
 * Was the rate kept? Without --fp that is asked only if something else decided when to recycle:
 * a state knows how it recycles, not what rate was asked for when it was made.
 */
static void check_rate(const struct dedup *d, double average)
{
    const struct option_value *o = d->args->option;
    const struct option_value *fp = &o[OPT_STREAM_FP];
    bool ruled = o[OPT_SIGMA].given || o[OPT_CYCLE_COUNT].given || o[OPT_EVERY].given;
    if (o[OPT_QUIET].given || !(fp->given || ruled)) {
        return;
    }
    if (average > 1.1 * (fp->given ? fp->real : STREAM_FP)) {
        say_warning(d->args->command->name,
                    "the average rate is above --fp %s: it needs more --memory, or to recycle "
                    "sooner",
                    fp->given ? fp->text : "1% (the default)");
    }
}

/* At the end: counts if they were asked for, figures, and what went wrong with the rate. */
static int conclude(struct dedup *d)
{
    const struct option_value *o = d->args->option;
    struct tepal_recycling_figures f = tepal_recycling_figures(d->filter);
    int code = EXIT_YES;
    if (o[OPT_COUNTS].given && o[OPT_FIGURES_JSON].given) {
        code = render_json(d->out, figures_json(d, &f));
    } else if (o[OPT_COUNTS].given) {
        out_format(d->out, "%" PRIu64 "\n",
                   o[OPT_REPEATS].given ? d->repeated : d->lines - d->repeated);
    }
    if (!o[OPT_QUIET].given && !(o[OPT_COUNTS].given && o[OPT_FIGURES_JSON].given)) {
        tell(d);
    }
    check_rate(d, f.fp_average);
    return code;
}

/* ---- while it runs -------------------------------------------------------------------------- */

/* Seconds would do for people; a stream may want less. */
static uint64_t milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void set_clock(struct dedup *d)
{
    if (!d->timed) {
        return;
    }
    enum tepal_status status = tepal_recycling_set_clock(d->filter, milliseconds());
    if (status == TEPAL_CLOCK_BACK && !d->clock_told && !d->args->option[OPT_QUIET].given) {
        say_warning(d->args->command->name,
                    "the clock ran backwards: time stands still until it has caught up");
        d->clock_told = true;
    }
}

/* What was printed must have left before it is on record that it was seen. */
static void save(struct dedup *d)
{
    out_flush(d->out);
    if (d->out->failed == 0) {
        state_save(&d->state, generic(d));
    }
}

/*
 * Before every read. If nothing is at hand, all that was said so far goes out first; the state is
 * saved when it is due; signals are answered. False: end here.
 */
static bool wait_for_input(void *context, int fd)
{
    struct dedup *d = context;
    bool at_once = true;
    for (;;) {
        double due = state_due(&d->state, generic(d));
        if (due == 0) {
            save(d);
        }
        switch (signals_wait(fd, at_once ? 0 : state_due(&d->state, generic(d)))) {
        case SIGNALS_READY:
            return true;
        case SIGNALS_STOP:
            return false;
        case SIGNALS_TELL:
            set_clock(d);
            tell(d);
            break;
        case SIGNALS_IDLE:
            out_flush(d->out);
            at_once = false;
            break;
        }
    }
}

static int run_batches(struct dedup *d)
{
    bool repeats = d->args->option[OPT_REPEATS].given;
    ptrdiff_t count;
    while ((count = feed_next(d->feed)) > 0) {
        size_t n = (size_t)count;
        size_t seen = 0;
        set_clock(d);
        enum tepal_status status =
            tepal_recycling_seen_many(d->filter, d->feed->digest, n, d->answers, &seen);
        if (status != TEPAL_OK) {
            return say_error(NULL, d->args->command->name, "%s", tepal_status_message(status));
        }
        sample_note(&d->sample, d->feed->digest, d->answers, n);
        d->lines += n;
        d->repeated += seen;
        if (d->prints) {
            answers_print(d->out, d->feed->key, d->answers, n, repeats);
        }
        if (d->out->failed != 0) {
            return EXIT_TROUBLE;
        }
        d->feed->stays = !d->prints ? "the lines before it were read"
                         : repeats  ? "the repeats before it are out"
                                    : "the lines before it are out";
    }
    return count == 0 ? EXIT_YES : EXIT_TROUBLE;
}

/* ---- the filter ----------------------------------------------------------------------------- */

/* A new one, by the options. */
static int make_filter(struct dedup *d)
{
    const struct option_value *seed = &d->args->option[OPT_SEED];
    const char *stays = d->args->command->stays;
    struct tepal_params params;
    if (stream_params(d->args, NULL, &params) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    if (seed->given) {
        params.seed = seed->whole;
    } else {
        randombytes_buf(&params.seed, sizeof params.seed);
    }
    if (d->args->option[OPT_KEY_FILE].given) {
        params.hash = TEPAL_HASH_SIPHASH; /* the key itself comes with the hasher */
    }
    enum tepal_status status = tepal_recycling_create(&params, NULL, &d->filter);
    return status == TEPAL_OK
               ? EXIT_YES
               : say_error(stays, d->args->command->name, "%s", tepal_status_message(status));
}

/* The one of --state, if it is what the options ask for; else a new one. */
static int get_filter(struct dedup *d)
{
    struct tepal_filter *before;
    struct tepal_params wanted;
    int code = state_open(&d->state, d->args, &before);
    if (code != EXIT_YES || before == NULL) {
        return code != EXIT_YES ? code : make_filter(d);
    }
    d->filter = tepal_filter_recycling(before);
    code = stream_params(d->args, tepal_filter_params(before), &wanted);
    return code == EXIT_YES ? state_compare(&d->state, &wanted, tepal_filter_params(before)) : code;
}

static int watch(struct dedup *d)
{
    struct tepal_hasher hasher;
    const char *name = d->state.path != NULL ? d->state.name : d->args->command->name;
    if (filter_file_hasher(d->args, name, tepal_recycling_filter(d->filter), &hasher) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    d->timed =
        tepal_recycling_options_of(tepal_filter_params(generic(d))).rule == TEPAL_RECYCLING_TIME;
    d->feed = feed_open(d->args, 0, &hasher, true);
    d->out = d->feed == NULL ? NULL : out_open(STDOUT_FILENO);
    if (d->out == NULL) {
        feed_close(d->feed);
        return EXIT_TROUBLE;
    }
    keys_set_wait(d->feed->keys, wait_for_input, d);
    int code = run_batches(d);
    feed_close(d->feed);
    if (code == EXIT_YES) {
        code = conclude(d);
    }
    out_flush(d->out);
    bool written = d->out->failed == 0;
    code = out_close(d->out, code);
    if (written && state_close(&d->state, generic(d)) != EXIT_YES) {
        code = EXIT_TROUBLE;
    }
    return code;
}

int dedup_run(const struct args *args)
{
    struct dedup d = {
        .args = args, .prints = !args->option[OPT_COUNTS].given, .state = {.lock = -1}};
    signals_start(); /* before anything that takes time: a question must not kill it */
    int code = filter_file_check_inputs(args->command->stays, d.prints ? "-" : NULL, args->operand,
                                        args->operands, "the lines are also the output");
    if (code == EXIT_YES && args->option[OPT_STATE].given) {
        code = filter_file_check_inputs(args->command->stays, args->option[OPT_STATE].text,
                                        args->operand, args->operands,
                                        "the lines would be overwritten by the state");
    }
    if (code == EXIT_YES && !sample_init(&d.sample)) {
        code = say_error(args->command->stays, NULL, "out of memory");
    }
    if (code == EXIT_YES) {
        code = get_filter(&d);
    }
    if (code == EXIT_YES) {
        code = watch(&d);
    }
    state_free(&d.state);
    tepal_recycling_free(d.filter);
    sample_free(&d.sample);
    return code;
}
