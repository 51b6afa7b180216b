/*
 * retouch.c: from a filter, its members and the keys to avoid to a retouched filter, or with
 * --dry-run to the curve of what every budget would remove. All checks come before the work, and
 * all files take their names at the end: whatever is refused, nothing was written.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include <tepal/file.h>
#include <tepal/generalized.h>
#include <tepal/retouched.h>

#include "cli/command.h"
#include "input/digests.h"
#include "input/feed.h"
#include "output/out.h"
#include "output/render.h"
#include "cli/say.h"
#include "files/filter_file.h"
#include "files/atomic_file.h"
#include "pictures/svg.h"
#include "cli/options.h"

#define CURVE_POINTS 201

struct work {
    const struct args *args;
    const char *name;
    const char *stays;
    const char *path; /* of the filter */
    struct tepal_filter *filter;
    struct tepal_hasher hasher;
    struct digests members;
    struct digests avoid;
    struct digests known;
    uint64_t members_read;
    double member_weight; /* of all members */
    struct tepal_retouch_input input;
    struct tepal_retouch_options how;
    struct tepal_retouch_report report;
    bool generalized; /* the filter is, and is retouched by inverting bits */
    enum tepal_generalized_method inverting;
    struct tepal_generalized_retouch_report inverted;
    struct tepal_filter *result;
    uint64_t *victims;
    double seconds;
};

/* ---- before any work ------------------------------------------------------------------------- */

static int check_options(const struct work *w)
{
    bool dry = arg(w->args, "dry-run")->given;
    bool random_bits = w->how.method == TEPAL_RETOUCH_RANDOM_BITS;
    if (!arg(w->args, "avoid")->given) {
        return say_error(NULL, w->name, "--avoid NEGATIVES is needed");
    }
    if (!dry && !arg(w->args, "output")->given) {
        return say_error(NULL, w->name, "--output FILE is needed, or --dry-run");
    }
    if (arg(w->args, "svg")->given && !dry) {
        return say_error(NULL, w->name, "--svg draws the curve of --dry-run: give both");
    }
    if (arg(w->args, "basis")->given && strcmp(arg(w->args, "basis")->text, "all") == 0 &&
        !arg(w->args, "known")->given) {
        return say_error(NULL, w->name, "--basis all needs --known FILE");
    }
    if (arg(w->args, "clear-bits")->given && !random_bits) {
        return say_error(NULL, w->name, "--clear-bits belongs to --method random-bits");
    }
    if (random_bits && !arg(w->args, "clear-bits")->given && !arg(w->args, "max-fn")->given &&
        !arg(w->args, "max-fn-count")->given) {
        return say_error(NULL, w->name, "random-bits needs --clear-bits S or a limit");
    }
    return EXIT_YES;
}

/* What fits the kind of filter that was opened. */
static int check_kind(struct work *w)
{
    static const char *const blooms[] = {"dry-run",    "order", "basis",          "sweep",
                                         "clear-bits", "seed",  "remove-members", NULL};
    const struct option_value *method = arg(w->args, "method");
    bool inverts = method->given && tepal_generalized_method_parse(method->text, &w->inverting);
    w->generalized = tepal_filter_generalized(w->filter) != NULL;
    if (method->given && inverts != w->generalized) {
        return say_error(w->stays, filter_file_name(w->path, false),
                         w->generalized
                             ? "--method %s is for Bloom filters; this is a generalized filter: "
                               "take net-effect or least-fn"
                             : "--method %s is for generalized filters, and this is none",
                         method->text);
    }
    for (const char *const *name = blooms; w->generalized && *name != NULL; name++) {
        if (arg(w->args, *name)->given) {
            return say_error(w->stays, filter_file_name(w->path, false),
                             "--%s is for Bloom filters, and this is a generalized filter", *name);
        }
    }
    return EXIT_YES;
}

static int check_sides(const struct work *w)
{
    static const char *const sides[] = {"victims", "exceptions", "svg"};
    static const char *const others[] = {"members", "avoid",   "known", "key-file",
                                         "output",  "victims", "svg",   "exceptions"};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        const struct option_value *side = arg(w->args, sides[i]);
        if (!side->given) {
            continue;
        }
        bool clash = filter_file_same(side->text, w->path);
        for (size_t j = 0; j < sizeof others / sizeof *others; j++) {
            const struct option_value *other = arg(w->args, others[j]);
            clash = clash || (strcmp(others[j], sides[i]) != 0 && other->given &&
                              (filter_file_same(side->text, other->text) ||
                               strcmp(side->text, other->text) == 0));
        }
        if (clash) {
            return say_error(w->stays, side->text, "this file is also used for something else");
        }
        if (atomic_file_check(w->args, side->text) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
    }
    return EXIT_YES;
}

static int check_files(const struct work *w)
{
    const char *inputs[4] = {w->path, arg(w->args, "members")->text, arg(w->args, "avoid")->text,
                             arg(w->args, "known")->text};
    size_t count = arg(w->args, "known")->given ? 4 : 3;
    const char *output = arg(w->args, "output")->text;
    int code = filter_file_check_inputs(w->stays, NULL, inputs, count, "");
    if (code == EXIT_YES) {
        code = filter_file_check_inputs(w->stays, output, inputs + 1, count - 1,
                                        "the keys would be overwritten by the filter");
    }
    if (code == EXIT_YES && output != NULL && !arg(w->args, "force")->given) {
        code = filter_file_check_inputs(w->stays, output, inputs, 1,
                                        "the output is the filter read (--force replaces it)");
    }
    if (code == EXIT_YES && output != NULL) {
        code = filter_file_check_output(w->args, output);
    }
    return code == EXIT_YES ? check_sides(w) : code;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int no_memory(const struct work *w)
{
    return say_error(w->stays, NULL, "out of memory");
}

/* All keys of the file of an option. *read (may be NULL) gets how many, repeats included. */
static int read_keys(const struct work *w, const char *file, const char *weights,
                     struct digests *set, uint64_t *read)
{
    const char *path = arg(w->args, file)->text;
    bool weighted = weights != NULL && arg(w->args, weights)->given;
    struct feed *feed =
        feed_open_file(w->args, &path, &w->hasher, weighted, arg(w->args, "quiet")->given);
    ptrdiff_t count;
    if (feed == NULL) {
        return EXIT_TROUBLE;
    }
    while ((count = feed_next(feed)) > 0) {
        for (ptrdiff_t i = 0; i < count; i++) {
            if (!digests_add(set, feed->digest[i], weighted ? feed->weight[i] : 1,
                             feed->key[i].text, feed->key[i].len)) {
                feed_close(feed);
                return no_memory(w);
            }
        }
    }
    if (read != NULL) {
        *read = feed->total;
    }
    feed_close(feed);
    return count < 0 ? EXIT_TROUBLE : EXIT_YES;
}

/* A repeated key is one key; without weights, with the weight of one. */
static void forget_repeats(struct digests *set)
{
    for (size_t i = 0; i < set->count; i++) {
        set->weight[i] = 1;
    }
}

/* All known strangers, those to avoid among them. */
static int gather_known(struct work *w)
{
    struct digests more = {.count = 0};
    int code = EXIT_YES;
    if (!arg(w->args, "known")->given) {
        return EXIT_YES;
    }
    code = read_keys(w, "known", NULL, &more, NULL);
    for (int part = w->generalized; part < 2 && code == EXIT_YES; part++) {
        const struct digests *from = part == 0 ? &w->avoid : &more;
        for (size_t i = 0; i < from->count && code == EXIT_YES; i++) {
            if (!digests_has(&w->members, from->digest[i]) &&
                !(w->generalized && digests_has(&w->avoid, from->digest[i])) &&
                !digests_add(&w->known, from->digest[i], 1, NULL, 0)) {
                code = no_memory(w);
            }
        }
    }
    digests_free(&more);
    return code;
}

static uint64_t count_absent(const struct work *w)
{
    uint64_t answers[FEED_BATCH / 64];
    uint64_t present = 0;
    for (size_t at = 0; at < w->members.count; at += FEED_BATCH) {
        size_t left = w->members.count - at;
        present += tepal_filter_query_many(w->filter, w->members.digest + at,
                                           left < FEED_BATCH ? left : FEED_BATCH, answers);
    }
    return w->members.count - present;
}

static int check_keys(const struct work *w)
{
    const char *members = filter_file_name(arg(w->args, "members")->text, false);
    const char *avoid = filter_file_name(arg(w->args, "avoid")->text, false);
    uint64_t count = w->members.count;
    if (count == 0) {
        return say_error(w->stays, members, "no keys: the members of the filter are needed");
    }
    if (w->avoid.count == 0) {
        return say_error(w->stays, avoid, "no keys: there is nothing to avoid");
    }
    if (w->generalized) {
        return EXIT_YES; /* it forgets members by itself, and the library knows how many */
    }
    uint64_t absent = count_absent(w);
    if (absent > count / 2) {
        return say_error(w->stays, members,
                         "%" PRIu64 " of %" PRIu64
                         " keys are not in the filter: these are not its members",
                         absent, count);
    }
    if (arg(w->args, "quiet")->given) {
        return EXIT_YES;
    }
    struct tepal_retouched *earlier = tepal_filter_retouched(w->filter);
    if (absent > (earlier == NULL ? 0 : tepal_retouched_false_negatives(earlier))) {
        say_warning(members,
                    "%" PRIu64 " of %" PRIu64
                    " keys are not in the filter; they count as lost members",
                    absent, count);
    }
    if (w->members_read < tepal_filter_keys_added(w->filter)) {
        say_warning(members,
                    "%" PRIu64 " keys, but %" PRIu64
                    " were added to the filter: the others may get lost, uncounted",
                    w->members_read, tepal_filter_keys_added(w->filter));
    }
    return EXIT_YES;
}

static int read_all(struct work *w)
{
    w->members.texts = arg(w->args, "victims")->given;
    int code = read_keys(w, "members", "member-weights", &w->members, &w->members_read);
    if (code == EXIT_YES) {
        code = read_keys(w, "avoid", "weights", &w->avoid, NULL);
    }
    if (code == EXIT_YES) {
        code = check_keys(w);
    }
    if (code == EXIT_YES) {
        code = gather_known(w);
    }
    return code;
}

/* ---- the input of the library ---------------------------------------------------------------- */

static void choose(struct work *w)
{
    struct tepal_retouch_options how = TEPAL_RETOUCH_OPTIONS_INIT;
    if (arg(w->args, "method")->given) {
        tepal_retouch_method_parse(arg(w->args, "method")->text, &how.method);
    }
    if (arg(w->args, "order")->given && strcmp(arg(w->args, "order")->text, "weight") == 0) {
        how.order = TEPAL_RETOUCH_ORDER_WEIGHT;
    }
    if (arg(w->args, "basis")->given && strcmp(arg(w->args, "basis")->text, "all") == 0) {
        how.basis = TEPAL_RETOUCH_BASIS_ALL;
    }
    how.sweep = arg(w->args, "sweep")->given;
    how.remove_members = arg(w->args, "remove-members")->given;
    how.bits = arg(w->args, "clear-bits")->whole;
    how.seed = arg_whole(w->args, "seed", 1);
    w->how = how;
}

static void set_input(struct work *w)
{
    bool heavy = arg(w->args, "member-weights")->given;
    if (!heavy) {
        forget_repeats(&w->members);
    }
    if (!arg(w->args, "weights")->given) {
        forget_repeats(&w->avoid);
    }
    for (size_t i = 0; i < w->members.count; i++) {
        w->member_weight += w->members.weight[i];
    }
    if (arg(w->args, "max-fn")->given) {
        w->how.limit = heavy ? TEPAL_RETOUCH_LIMIT_WEIGHT : TEPAL_RETOUCH_LIMIT_SHARE;
        w->how.budget =
            heavy ? arg(w->args, "max-fn")->real * w->member_weight : arg(w->args, "max-fn")->real;
    } else if (arg(w->args, "max-fn-count")->given) {
        w->how.limit = TEPAL_RETOUCH_LIMIT_COUNT;
        w->how.budget = (double)arg(w->args, "max-fn-count")->whole;
    }
    w->input.members = w->members.digest;
    w->input.member_count = w->members.count;
    w->input.member_weights = heavy ? w->members.weight : NULL;
    w->input.avoid = w->avoid.digest;
    w->input.avoid_count = w->avoid.count;
    w->input.avoid_weights = arg(w->args, "weights")->given ? w->avoid.weight : NULL;
    w->input.known = w->known.count > 0 ? w->known.digest : NULL;
    w->input.known_count = w->known.count;
}

static int refused(const struct work *w, enum tepal_status status, const char *why)
{
    return say_error(w->stays, filter_file_name(w->path, false), "%s",
                     why != NULL && why[0] != '\0' ? why : tepal_status_message(status));
}

/* ---- what is told ---------------------------------------------------------------------------- */

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void say_counts(const struct work *w)
{
    const struct tepal_retouch_report *r = &w->report;
    if (r->members_absent > 0) {
        say_line("members    %" PRIu64 ", %" PRIu64 " of them lost before", r->members,
                 r->members_absent);
    } else {
        say_line("members    %" PRIu64, r->members);
    }
    say_line("avoid      %" PRIu64 " key%s: %" PRIu64 " %s", r->avoid_given, plural(r->avoid_given),
             r->avoid_positive,
             r->avoid_positive == 1 ? "is a false positive" : "are false positives");
    if (r->avoid_members > 0) {
        say_line("           %" PRIu64 " %s: %s", r->avoid_members,
                 r->avoid_members == 1 ? "is a member" : "are members",
                 w->how.remove_members ? "removed as asked" : "left alone");
    }
}

/* The limit in words, in room. */
static const char *limit_text(const struct work *w, char *room, size_t size)
{
    char rate[64];
    switch (w->how.limit) {
    case TEPAL_RETOUCH_LIMIT_SHARE:
        snprintf(room, size, "at most %" PRIu64 " lost (%s of the members)",
                 (uint64_t)(w->how.budget * (double)w->members.count),
                 render_rate(w->how.budget, rate, sizeof rate));
        break;
    case TEPAL_RETOUCH_LIMIT_COUNT:
        snprintf(room, size, "at most %.0f lost", w->how.budget);
        break;
    case TEPAL_RETOUCH_LIMIT_WEIGHT:
        snprintf(room, size, "at most %s of the members' weight lost",
                 render_rate(arg(w->args, "max-fn")->real, rate, sizeof rate));
        break;
    default:
        snprintf(room, size, "no limit");
    }
    return room;
}

/* The rate at which keys drawn at random are found. */
static double rate_of(const struct tepal_filter *filter)
{
    struct tepal_report report = {.count = 0};
    tepal_filter_info(filter, &report);
    const struct tepal_quantity *q = tepal_report_find(&report, "fp_now");
    return q != NULL && q->type == TEPAL_QUANTITY_REAL ? q->value.real : NAN;
}

/* So many percent more or less, in room. */
static const char *change_text(double change, char *room, size_t size)
{
    if (isnan(change)) {
        snprintf(room, size, "-");
    } else if (change == 0) {
        snprintf(room, size, "0 %%");
    } else {
        snprintf(room, size, "%+.2f %%", change);
    }
    return room;
}

/* A part of a whole, in percent; NaN of nothing. */
static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : NAN;
}

static void say_row(const char *what, const char *before, const char *after, const char *change)
{
    say_line("%-27s %14s %14s %10s", what, before, after, change);
}

static void say_trade(const struct work *w)
{
    const struct tepal_retouch_report *r = &w->report;
    double lost = (double)r->false_negatives - (double)r->members_absent;
    double rate = rate_of(w->filter);
    double rate_now = rate_of(w->result);
    char a[64];
    char b[64];
    char c[64];
    say_row("", "before", "after", "change");
    snprintf(a, sizeof a, "%" PRIu64, r->avoid_positive);
    snprintf(b, sizeof b, "%" PRIu64, r->avoid_left);
    change_text(percent(-(double)r->removed_inside, (double)r->avoid_positive), c, sizeof c);
    say_row("false positives to avoid", a, b, c);
    if (arg(w->args, "weights")->given) {
        double left = r->avoid_left == 0 ? 0 : r->avoid_weight - r->removed_weight;
        snprintf(a, sizeof a, "%.6g", r->avoid_weight);
        snprintf(b, sizeof b, "%.6g", left);
        change_text(percent(-r->removed_weight, r->avoid_weight), c, sizeof c);
        say_row("their weight", a, b, c);
    }
    snprintf(a, sizeof a, "%" PRIu64, r->members_absent);
    snprintf(b, sizeof b, "%" PRIu64, r->false_negatives);
    say_row("members lost", a, b, change_text(percent(lost, (double)r->members), c, sizeof c));
    render_rate(rate, a, sizeof a);
    render_rate(rate_now, b, sizeof b);
    say_row("false positives, any key", a, b,
            change_text(percent(rate_now - rate, rate), c, sizeof c));
    snprintf(a, sizeof a, "%" PRIu64, r->ones_before);
    snprintf(b, sizeof b, "%" PRIu64, r->ones_after);
    change_text(percent((double)r->ones_after - (double)r->ones_before, (double)r->ones_before), c,
                sizeof c);
    say_row("bits set", a, b, c);
}

static const char *method_name(const struct work *w)
{
    return w->generalized ? tepal_generalized_method_name(w->inverting)
                          : tepal_retouch_method_name(w->how.method);
}

static void say_all(const struct work *w)
{
    char room[128];
    say_counts(w);
    say_line("method     %s, %s", method_name(w), limit_text(w, room, sizeof room));
    if (w->generalized) {
        say_line("inverted   %" PRIu64 " bit%s; of the false positives left, %" PRIu64 " %s new",
                 w->inverted.bits_flipped, plural(w->inverted.bits_flipped), w->inverted.created,
                 w->inverted.created == 1 ? "is" : "are");
    }
    say_trade(w);
    if (isfinite(w->report.chi)) {
        say_line("chi        %.4g (share of false positives removed / share of members lost)",
                 w->report.chi);
    }
    say_line("wrote      %s, %s", filter_file_name(arg(w->args, "output")->text, true),
             render_bytes(tepal_encoded_bytes(w->result), room, sizeof room));
}

static void set_whole(json_t *object, const char *name, uint64_t value)
{
    json_object_set_new(object, name, json_integer((json_int_t)value));
}

static void set_real(json_t *object, const char *name, double value)
{
    json_object_set_new(object, name, isfinite(value) ? json_real(value) : json_null());
}

static json_t *describe(const struct work *w)
{
    const struct tepal_retouch_report *r = &w->report;
    json_t *o = json_object();
    json_object_set_new(o, "file", render_string(w->path));
    json_object_set_new(o, "method", json_string(method_name(w)));
    json_object_set_new(
        o, "order", json_string(w->how.order == TEPAL_RETOUCH_ORDER_WEIGHT ? "weight" : "given"));
    json_object_set_new(o, "basis",
                        json_string(w->how.basis == TEPAL_RETOUCH_BASIS_ALL ? "all" : "b"));
    set_real(o, "max_fn", arg_real(w->args, "max-fn", NAN));
    json_object_set_new(o, "max_fn_count",
                        arg(w->args, "max-fn-count")->given
                            ? json_integer((json_int_t)arg(w->args, "max-fn-count")->whole)
                            : json_null());
    set_whole(o, "members", r->members);
    set_whole(o, "members_absent", r->members_absent);
    set_whole(o, "avoid_given", r->avoid_given);
    set_whole(o, "avoid_members", r->avoid_members);
    set_whole(o, "avoid_positive", r->avoid_positive);
    set_whole(o, "avoid_left", r->avoid_left);
    set_whole(o, "removed_beyond", r->removed_beyond);
    set_real(o, "avoid_weight", r->avoid_weight);
    set_real(o, "removed_weight", r->removed_weight);
    set_whole(o, "false_negatives", r->false_negatives);
    set_real(o, "lost_weight", r->lost_weight);
    set_whole(o, "bits_cleared", r->bits_cleared);
    set_whole(o, "ones_before", r->ones_before);
    set_whole(o, "ones_after", r->ones_after);
    if (w->generalized) {
        set_whole(o, "created", w->inverted.created);
        set_whole(o, "bits_flipped", w->inverted.bits_flipped);
    }
    set_real(o, "delta_fp", r->delta_fp);
    set_real(o, "delta_fn", r->delta_fn);
    set_real(o, "chi", r->chi);
    set_real(o, "seconds", w->seconds);
    return o;
}

/* ---- the filter and the lists ---------------------------------------------------------------- */

static int write_victims(const struct work *w, struct atomic_file *side)
{
    char end = arg(w->args, "null")->given ? '\0' : '\n';
    if (atomic_file_open(side, w->args, arg(w->args, "victims")->text) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    for (size_t i = 0; i < w->members.count; i++) {
        if ((w->victims[i / 64] >> (i % 64) & 1) != 0) {
            size_t len;
            const char *text = digests_text(&w->members, i, &len);
            out_bytes(side->out, text, len);
            out_bytes(side->out, &end, 1);
        }
    }
    return atomic_file_finish(side, w->args);
}

static int write_exceptions(const struct work *w, struct atomic_file *side)
{
    struct tepal_exceptions *list = NULL;
    uint8_t *bytes = NULL;
    int code = EXIT_TROUBLE;
    if (tepal_exceptions_create(w->filter, w->members.digest, w->members.count, w->victims, NULL,
                                &list) != TEPAL_OK ||
        (bytes = malloc(tepal_exceptions_bytes(list))) == NULL) {
        no_memory(w);
    } else if (atomic_file_open(side, w->args, arg(w->args, "exceptions")->text) == EXIT_YES) {
        tepal_exceptions_encode(list, bytes);
        out_bytes(side->out, bytes, tepal_exceptions_bytes(list));
        code = atomic_file_finish(side, w->args);
    }
    free(bytes);
    tepal_exceptions_free(list);
    return code;
}

static int write_files(const struct work *w)
{
    struct atomic_file victims = {.path = NULL};
    struct atomic_file exceptions = {.path = NULL};
    int code = EXIT_YES;
    if (arg(w->args, "victims")->given) {
        code = write_victims(w, &victims);
    }
    if (code == EXIT_YES && arg(w->args, "exceptions")->given) {
        code = write_exceptions(w, &exceptions);
    }
    if (code == EXIT_YES) {
        code = filter_file_save(w->stays, w->result, arg(w->args, "output")->text);
    }
    if (code == EXIT_YES && victims.temporary != NULL) {
        code = atomic_file_commit(&victims, w->args);
    }
    if (code == EXIT_YES && exceptions.temporary != NULL) {
        code = atomic_file_commit(&exceptions, w->args);
    }
    atomic_file_free(&victims);
    atomic_file_free(&exceptions);
    return code;
}

static int print_object(json_t *object)
{
    struct out *out = out_open(STDOUT_FILENO);
    if (out == NULL) {
        json_decref(object);
        return EXIT_TROUBLE;
    }
    return out_close(out, render_json(out, object));
}

/* A generalized filter; the report as that of the other kinds, as far as they have it in common. */
static enum tepal_status invert(struct work *w, const char **why)
{
    struct tepal_generalized_retouch_report *g = &w->inverted;
    enum tepal_status status =
        tepal_generalized_retouch(w->filter, &w->input, w->inverting, w->how.limit, w->how.budget,
                                  NULL, &w->result, g, w->victims, why);
    if (status != TEPAL_OK) {
        return status;
    }
    uint64_t ones[2] = {
        tepal_generalized_ones(tepal_filter_generalized_const(w->filter)),
        tepal_generalized_ones(tepal_filter_generalized_const(w->result)),
    };
    struct tepal_retouch_report r = {
        .members = g->members,
        .members_absent = g->members_absent,
        .avoid_given = g->avoid_given,
        .avoid_members = g->avoid_members,
        .avoid_positive = g->positives_before,
        .avoid_left = g->positives_after,
        .removed_inside = g->positives_before - g->positives_after,
        .known_positive = g->known_before,
        .removed_beyond = g->known_before > g->known_after ? g->known_before - g->known_after : 0,
        .false_negatives = g->false_negatives,
        .bits_cleared = ones[0] > ones[1] ? ones[0] - ones[1] : 0,
        .ones_before = ones[0],
        .ones_after = ones[1],
        .avoid_weight = g->weight_before,
        .removed_weight = g->weight_before - g->weight_after,
        .member_weight = g->member_weight,
        .lost_weight = g->lost_weight,
    };
    r.delta_fp = (double)r.removed_inside / (double)r.avoid_positive;
    r.delta_fn = ((double)r.false_negatives - (double)r.members_absent) / (double)r.members;
    r.chi = r.delta_fn > 0 ? r.delta_fp / r.delta_fn : NAN;
    w->report = r;
    return TEPAL_OK;
}

static int retouch(struct work *w)
{
    const char *why = NULL;
    w->victims = calloc(w->members.count / 64 + 1, sizeof *w->victims);
    if (w->victims == NULL) {
        return no_memory(w);
    }
    double started = progress_clock();
    enum tepal_status status = w->generalized
                                   ? invert(w, &why)
                                   : tepal_retouch(w->filter, &w->input, &w->how, NULL, &w->result,
                                                   &w->report, w->victims, &why);
    w->seconds = progress_clock() - started;
    if (status != TEPAL_OK) {
        return refused(w, status, why);
    }
    if (write_files(w) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    if (arg(w->args, "json")->given) {
        return print_object(describe(w));
    }
    if (!arg(w->args, "quiet")->given) {
        say_all(w);
    }
    return EXIT_YES;
}

/* ---- the curve ------------------------------------------------------------------------------- */

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static void print_curve(struct out *out, const struct work *w,
                        const struct tepal_retouch_point *point, size_t count)
{
    out_text(out, "lost\tlost_share\tlost_weight\tremoved\tremoved_weight\tremoved_share\n");
    for (size_t i = 0; i < count; i++) {
        out_format(out, "%" PRIu64 "\t%.6g\t%.10g\t%" PRIu64 "\t%.10g\t%.6g\n",
                   point[i].false_negatives,
                   share((double)point[i].false_negatives, (double)w->report.members),
                   point[i].lost_weight, point[i].avoid_removed, point[i].removed_weight,
                   share(point[i].removed_weight, w->report.avoid_weight));
    }
}

static json_t *describe_curve(const struct work *w, const struct tepal_retouch_point *point,
                              size_t count)
{
    json_t *object = describe(w);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *item = json_object();
        set_whole(item, "lost", point[i].false_negatives);
        set_real(item, "lost_weight", point[i].lost_weight);
        set_whole(item, "removed", point[i].avoid_removed);
        set_real(item, "removed_weight", point[i].removed_weight);
        json_array_append_new(list, item);
    }
    json_object_set_new(object, "curve", list);
    return object;
}

static int draw_curve(const struct work *w, const struct tepal_retouch_point *point, size_t count,
                      struct atomic_file *side)
{
    struct svg_point *drawn = calloc(count, sizeof *drawn);
    char title[160];
    if (drawn == NULL) {
        return no_memory(w);
    }
    for (size_t i = 0; i < count; i++) {
        drawn[i].x = 100 * share((double)point[i].false_negatives, (double)w->report.members);
        drawn[i].y = 100 * share(point[i].removed_weight, w->report.avoid_weight);
    }
    snprintf(title, sizeof title, "What each budget removes: %s, %" PRIu64 " false positives",
             tepal_retouch_method_name(w->how.method), w->report.avoid_positive);
    struct svg_series curve = {.style = SVG_LINE, .point = drawn, .count = count};
    struct svg_chart chart = {.title = title,
                              .x_label = "members lost, %",
                              .y_label = arg(w->args, "weights")->given
                                             ? "weight of false positives removed, %"
                                             : "false positives removed, %",
                              .series = &curve,
                              .count = 1};
    int code = atomic_file_open(side, w->args, arg(w->args, "svg")->text);
    if (code == EXIT_YES) {
        svg_print(side->out, &chart);
        code = atomic_file_finish(side, w->args);
    }
    if (code == EXIT_YES) {
        code = atomic_file_commit(side, w->args);
    }
    atomic_file_free(side);
    free(drawn);
    return code;
}

/*
 * Without a limit the aim is to lose as few as possible when all keys are gone, in any order. The
 * curve is about the order, so it is that of a budget of everything.
 */
static void budget_of_everything(struct work *w)
{
    bool heavy = arg(w->args, "member-weights")->given;
    if (w->how.limit == TEPAL_RETOUCH_LIMIT_ALL) {
        w->how.limit = heavy ? TEPAL_RETOUCH_LIMIT_WEIGHT : TEPAL_RETOUCH_LIMIT_SHARE;
        w->how.budget = heavy ? w->member_weight : 1;
    }
}

static int show_curve(struct work *w)
{
    struct tepal_retouch_point point[CURVE_POINTS];
    struct atomic_file side = {.path = NULL};
    size_t count = 0;
    const char *why = NULL;
    budget_of_everything(w);
    double started = progress_clock();
    enum tepal_status status = tepal_retouch_curve(w->filter, &w->input, &w->how, NULL, point,
                                                   CURVE_POINTS, &count, &w->report, &why);
    w->seconds = progress_clock() - started;
    if (status != TEPAL_OK) {
        return refused(w, status, why);
    }
    if (!arg(w->args, "quiet")->given && !arg(w->args, "json")->given) {
        say_counts(w);
    }
    if (arg(w->args, "svg")->given && draw_curve(w, point, count, &side) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    if (arg(w->args, "json")->given) {
        return print_object(describe_curve(w, point, count));
    }
    struct out *out = out_open(STDOUT_FILENO);
    if (out == NULL) {
        return EXIT_TROUBLE;
    }
    print_curve(out, w, point, count);
    return out_close(out, EXIT_YES);
}

/* ---- the subcommand -------------------------------------------------------------------------- */

static int prepare(struct work *w)
{
    choose(w);
    int code = check_options(w);
    if (code == EXIT_YES) {
        code = check_files(w);
    }
    if (code == EXIT_YES) {
        code = filter_file_open(w->stays, w->path, FILTER_FILE_VIEW, &w->filter);
    }
    if (code == EXIT_YES) {
        code = check_kind(w);
    }
    if (code == EXIT_YES) {
        code = filter_file_hasher(w->args, filter_file_name(w->path, false), w->filter, &w->hasher);
    }
    if (code == EXIT_YES) {
        code = read_all(w);
    }
    sodium_memzero(&w->hasher, sizeof w->hasher);
    return code;
}

static int retouch_run(const struct args *args)
{
    struct work w = {.args = args,
                     .name = args->command->name,
                     .stays = args->command->stays,
                     .path = args->operand[0]};
    int code = prepare(&w);
    if (code == EXIT_YES) {
        set_input(&w);
        code = arg(args, "dry-run")->given ? show_curve(&w) : retouch(&w);
    }
    tepal_filter_free(w.result);
    tepal_filter_free(w.filter);
    free(w.victims);
    digests_free(&w.members);
    digests_free(&w.avoid);
    digests_free(&w.known);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option option_avoid = {
    .name = "avoid",
    .value = "NEGATIVES",
    .type = TAKES_FILE,
    .about = "The keys that must not be found, one a line (- is standard input). Those that "
             "the filter does not find anyway are passed over."};

static const struct option option_weights = {
    .letter = 'w',
    .name = "weights",
    .about = "Each line of NEGATIVES is a key, a tab and a weight: how much its false "
             "positive hurts. The weights of a repeated key are added."};

static const struct option option_max_fn = {
    .name = "max-fn",
    .value = "R",
    .type = TAKES_SHARE,
    .about = "Lose at most the share R of the members, as 0.5%, 0.005 or 1/200. Without a "
             "limit, all of NEGATIVES are removed, whatever that costs."};

static const struct option option_max_fn_count = {.name = "max-fn-count",
                                                  .value = "N",
                                                  .type = TAKES_WHOLE,
                                                  .least = 1,
                                                  .most = UINT64_MAX,
                                                  .about = "Lose at most N members."};

static const struct option option_dry_run = {
    .name = "dry-run",
    .about = "Write no filter; print what each budget would remove, tab-separated, up to "
             "the limit if one is given."};

static const struct option option_svg = {
    .name = "svg",
    .value = "OUT",
    .type = TAKES_FILE,
    .about = "With --dry-run: also draw the curve, as SVG, to OUT."};

static const struct option option_victims = {
    .name = "victims",
    .value = "OUT",
    .type = TAKES_FILE,
    .about = "Write the members that are lost to OUT, one a line."};

static const struct option option_exceptions = {
    .name = "exceptions",
    .value = "OUT",
    .type = TAKES_FILE,
    .about = "Write the lost members to OUT as an exception list, 16 bytes each: `tepal "
             "query --exceptions OUT` finds them again."};

static const struct option option_order = {
    .name = "order",
    .value = "ORDER",
    .type = TAKES_CHOICE,
    .choices = "given weight",
    .about = "The order in which the methods other than sacrifice take the keys to avoid: "
             "as given (the default), or the heaviest first."};

static const struct option option_basis = {
    .name = "basis",
    .value = "BASIS",
    .type = TAKES_CHOICE,
    .choices = "b all",
    .about = "What max-fp, ratio and their improved forms count: the keys to avoid (b, the "
             "default), or these and those of --known (all)."};

static const struct option option_known = {
    .name = "known",
    .value = "FILE",
    .type = TAKES_FILE,
    .about = "More keys that are known not to be members: counted in chi and by --basis "
             "all, but not aimed at."};

static const struct option option_sweep = {
    .name = "sweep",
    .about = "Afterwards clear every bit that only lost members own: it costs nothing more. "
             "sacrifice always does."};

static const struct option option_clear_bits = {
    .name = "clear-bits",
    .value = "S",
    .type = TAKES_WHOLE,
    .least = 1,
    .most = UINT64_MAX,
    .about = "random-bits: how many bits to clear (default: as many as --max-fn "
             "allows)."};

static const struct option option_draw_seed = {
    .letter = 's',
    .name = "seed",
    .value = "S",
    .type = TAKES_SEED,
    .about = "What random-bits and random draw from (default 1)."};

static const struct option option_member_weights = {
    .name = "member-weights",
    .about = "Each line of KEYS is a key, a tab and a weight: how much it hurts to "
             "lose it. --max-fn is then a share of the total weight."};

static const struct option option_remove_members = {
    .name = "remove-members",
    .about = "Remove keys of NEGATIVES even if they are members. Without it such "
             "keys are reported and left alone."};

static const struct option *const options[] = {
    &option_output,    &option_members,        &option_avoid,          &option_weights,
    &option_max_fn,    &option_max_fn_count,   &option_dry_run,        &option_svg,
    &option_victims,   &option_exceptions,     &option_method,         &option_order,
    &option_basis,     &option_known,          &option_sweep,          &option_clear_bits,
    &option_draw_seed, &option_member_weights, &option_remove_members, &option_null,
    &option_hex,       &option_plain,          &option_key_file,       &option_force,
    &option_json,      &option_quiet,          &option_help,           NULL};
static const char *const exclusive[][4] = {{"max-fn", "max-fn-count"},
                                           {"dry-run", "output"},
                                           {"dry-run", "victims"},
                                           {"dry-run", "exceptions"},
                                           {NULL}};
static const struct example examples[] = {
    {"tepal retouch blocked.tepal --members blocked.txt --avoid top.tsv -w --dry-run",
     "What would each budget remove?"},
    {"tepal retouch blocked.tepal --members blocked.txt --avoid top.tsv -w --max-fn 0.5% -o out",
     "Give up at most one blocked domain in 200."},
    {NULL, NULL}};

const struct command command_retouch = {
    .name = "retouch",
    .synopsis = "FILE --members KEYS --avoid NEGATIVES [--weights] [--max-fn R | --max-fn-count "
                "N] (-o OUT | --dry-run)",
    .summary = "Remove the false positives that hurt.",
    .about = "Clears bits of the filter FILE so that keys of NEGATIVES are no longer found, the "
             "heaviest first, and pays with members that are no longer found either, at most as "
             "many as the budget allows. The size, and how the filter is asked, stay the same. "
             "A retouched filter can be retouched again.\n\n"
             "Tells on standard error how many of NEGATIVES are false positives, and the trade, "
             "before and after.",
    .options = options,
    .exclusive = exclusive,
    .needed = "members",
    .files = true,
    .least_operands = 1,
    .most_operands = 1,
    .operand_name = "a filter is",
    .stays = "nothing was written",
    .examples = examples,
    .run = retouch_run};
