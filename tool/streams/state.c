/* state.c: lock, load, compare, save. */
#define _DEFAULT_SOURCE
#include "streams/state.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <tepal/recycling.h>

#include "output/progress.h"
#include "output/render.h"
#include "files/filter_file.h"
#include "streams/stream.h"
#include "cli/options.h"

/* ---- open ------------------------------------------------------------------------------------ */

/* Is there a state? Only "no such file", or an empty one, means no: anything else is an error. */
static int look(const struct args *args, const char *name, const char *path, bool *there)
{
    struct stat about;
    *there = stat(path, &about) == 0;
    if (!*there) {
        return errno == ENOENT ? EXIT_YES : args_about(args, name, "%s", strerror(errno));
    }
    *there = !S_ISREG(about.st_mode) || about.st_size > 0;
    return EXIT_YES;
}

/* The filter in the file, or NULL if there is no file yet, or an empty one. */
static int load(struct state *s, struct tepal_filter **before)
{
    bool there;
    *before = NULL;
    if (look(s->args, s->name, s->path, &there) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    if (!there) {
        return EXIT_YES;
    }
    if (filter_file_open(s->args, s->name, FILTER_FILE_LOAD, before) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    if (tepal_filter_kind(*before)->id == TEPAL_KIND_RECYCLING) {
        s->saved = tepal_filter_keys_added(*before);
        return EXIT_YES;
    }
    int code = args_about(s->args, s->name, "this is a filter of the kind %s, not a state of dedup",
                          tepal_filter_kind(*before)->name);
    tepal_filter_free(*before);
    *before = NULL;
    return code;
}

/* May there be a state at that path? Says no before anything is read. */
static int check_place(const struct args *args, const char *path)
{
    bool there;
    if (strcmp(path, "-") == 0) {
        return args_error(args, "--state -: the state must be a file");
    }
    if (look(args, path, path, &there) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    return there ? filter_file_check_in_place(args, path) : filter_file_check_output(args, path);
}

int state_open(struct state *s, const struct args *args, struct tepal_filter **before)
{
    const struct option_value *file = arg(args, "state");
    const struct option_value *every = arg(args, "save-every");
    *s = (struct state){.args = args, .name = file->text};
    *before = NULL;
    if (!file->given) {
        return EXIT_YES;
    }
    if (check_place(args, file->text) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    if (file_lock_take(&s->lock, args, file->text, FILE_LOCK_REFUSE) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    s->path = s->lock.file;
    if (load(s, before) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    s->interval = every->given ? (double)every->whole / 1000 : 60;
    s->next = progress_clock() + s->interval;
    return EXIT_YES;
}

static int differs(const struct state *s, const char *what, uint64_t has, uint64_t wants)
{
    return args_about(s->args, s->name,
                      "this state was made with other parameters: its %s is %" PRIu64 ", and the "
                      "options give %" PRIu64,
                      what, has, wants);
}

/* The rate that a state keeps, by the rules that keep one: as it was asked for, or by the model. */
static double kept(const struct tepal_params *params)
{
    struct tepal_recycling_setting setting;
    struct tepal_recycling_rates rates;
    if (params->recycling.rule == TEPAL_RECYCLING_AVERAGE) {
        return stream_rate(params->recycling.limit);
    }
    return stream_rates(params, &setting, &rates) ? rates.fp_average : NAN;
}

static int other_rate(const struct state *s, const struct tepal_params *before)
{
    char has[64];
    char wants[64];
    return args_about(s->args, s->name,
                      "this state was made with other parameters: its false-positive rate is %s, "
                      "and --fp gives %s",
                      render_rate(kept(before), has, sizeof has),
                      render_rate(arg(s->args, "fp")->real, wants, sizeof wants));
}

int state_compare(const struct state *s, const struct tepal_params *wanted,
                  const struct tepal_params *before)
{
    struct tepal_recycling_params has = before->recycling;
    struct tepal_recycling_params wants = wanted->recycling;
    const struct option_value *seed = arg(s->args, "seed");
    enum tepal_hash hash;
    if (arg_hash(s->args, &hash) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    if (arg(s->args, "hash")->given && before->hash != hash) {
        return args_about(
            s->args, s->name,
            "this state was made with other parameters: its hash is %s, and the options give %s",
            tepal_hash_name(before->hash), tepal_hash_name(hash));
    }
    if (before->layout != wanted->layout) {
        return args_about(
            s->args, s->name,
            "this state was made with other parameters: its layout is %s, and the options give %s",
            tepal_layout_name(before->layout), tepal_layout_name(wanted->layout));
    }
    if (has.phases != wants.phases) {
        return differs(s, "number of phases", has.phases, wants.phases);
    }
    if (before->cells != wanted->cells) {
        return differs(s, "memory in bytes", before->cells / 8 * has.phases,
                       wanted->cells / 8 * wants.phases);
    }
    if (has.rule != wants.rule) {
        static const char *const rules[] = {"sigma", "count", "every", "average"};
        return args_about(s->args, s->name,
                          "this state was made with other parameters: it recycles by %s, and the "
                          "options give %s",
                          rules[has.rule], rules[wants.rule]);
    }
    bool by_rate = arg(s->args, "fp")->given && !arg(s->args, "sigma")->given &&
                   (has.rule == TEPAL_RECYCLING_SIGMA || has.rule == TEPAL_RECYCLING_AVERAGE);
    if (by_rate && has.limit != wants.limit) { /* the hashes follow from it */
        return other_rate(s, before);
    }
    if (before->hashes != wanted->hashes) {
        return differs(s, "number of hashes", before->hashes, wanted->hashes);
    }
    if (has.limit != wants.limit) {
        return differs(s,
                       has.rule == TEPAL_RECYCLING_SIGMA   ? "sigma"
                       : has.rule == TEPAL_RECYCLING_COUNT ? "count"
                                                           : "time in milliseconds",
                       has.limit, wants.limit);
    }
    if (((has.flags ^ wants.flags) & TEPAL_RECYCLING_ONLY_MISSES) != 0) {
        return args_about(s->args, s->name,
                          "this state was made with other parameters: it holds every line, but "
                          "--only-misses is given");
    }
    if (seed->given && before->seed != seed->whole) {
        return differs(s, "seed", before->seed, seed->whole);
    }
    return EXIT_YES;
}

int state_change_rule(struct state *s, struct tepal_filter **filter)
{
    const struct tepal_params *before = tepal_filter_params(*filter);
    const struct option_value *fp = arg(s->args, "fp");
    struct tepal_filter *other = NULL;
    struct tepal_error error = {.why = ""};
    if (!stream_by(s->args, "average") || before->recycling.rule == TEPAL_RECYCLING_AVERAGE) {
        return EXIT_YES;
    }
    double rate = kept(before);
    rate = fp->given ? fp->real : isnan(rate) ? STREAM_FP : rate;
    enum tepal_status status = tepal_recycling_by_average(*filter, rate, NULL, &other, &error);
    if (status != TEPAL_OK) {
        return args_about(s->args, s->name, "%s", error.why);
    }
    tepal_filter_free(*filter);
    *filter = other;
    s->saved = UINT64_MAX; /* even if no line comes */
    return EXIT_YES;
}

void state_tell_rule(const struct state *s, const struct tepal_filter *filter)
{
    const struct tepal_recycling_params *cycle = &tepal_filter_params(filter)->recycling;
    bool meant = arg(s->args, "rule")->given || arg(s->args, "sigma")->given;
    if (cycle->rule == TEPAL_RECYCLING_SIGMA && cycle->flags == TEPAL_RECYCLING_RETAIN && !meant &&
        !arg(s->args, "quiet")->given) {
        say_line("tepal: %s: this state recycles by sigma, and more new lines than its rate are "
                 "lost if lines repeat a lot; --rule average changes that, --rule sigma keeps it",
                 s->name);
    }
}

/* ---- save ------------------------------------------------------------------------------------ */

static bool changed(const struct state *s, const struct tepal_filter *filter)
{
    struct stat about;
    return tepal_filter_keys_added(filter) != s->saved || stat(s->path, &about) != 0 ||
           about.st_size == 0;
}

double state_due(const struct state *s, const struct tepal_filter *filter)
{
    if (s->path == NULL || tepal_filter_keys_added(filter) == s->saved) {
        return -1;
    }
    double left = s->next - progress_clock();
    return left > 0 ? left : 0;
}

static void save(struct state *s, const struct tepal_filter *filter, bool last)
{
    struct tepal_error error = {.status = TEPAL_OK};
    if (s->path == NULL || !changed(s, filter)) {
        return;
    }
    bool failed = filter_file_save_quietly(filter, s->path, &error) != TEPAL_OK;
    bool in_place = failed && filter_file_in_place(&error);
    bool told = s->failing && !last;
    if (in_place && !told) {
        say_warning(s->name, "%s: %s", error.why, strerror(error.system));
    } else if (failed && !told) {
        const char *why = error.system != 0   ? strerror(error.system)
                          : error.why != NULL ? error.why
                                              : tepal_status_message(error.status);
        if (last) {
            (void)say_error(NULL, s->name,
                            "the state could not be saved (%s): the previous one is kept", why);
        } else {
            say_warning(
                s->name,
                "the state could not be saved (%s): the previous one is kept, and dedup continues",
                why);
        }
    }
    if (!failed || in_place) {
        s->saved = tepal_filter_keys_added(filter);
    }
    s->failing = failed;
    s->next = progress_clock() + s->interval;
}

void state_save(struct state *s, const struct tepal_filter *filter)
{
    save(s, filter, false);
}

int state_close(struct state *s, const struct tepal_filter *filter)
{
    save(s, filter, true);
    int code = s->failing ? EXIT_TROUBLE : EXIT_YES;
    state_free(s);
    return code;
}

void state_free(struct state *s)
{
    file_lock_drop(&s->lock);
    s->path = NULL;
}
