/*
 * negatives.c: yes-no filters and cascades from their options, their members and the keys that they
 * shall veto. Sizes: said by the options, or chosen by the model once the keys are counted.
 */
#include "commands/build/negatives.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tepal/model.h>

#include "input/digests.h"
#include "input/feed.h"
#include "output/out.h"
#include "output/progress.h"
#include "commands/build/recipe.h"
#include "output/render.h"
#include "cli/say.h"
#include "files/filter_file.h"

#include <unistd.h>

/* ---- recipes: which options there are -------------------------------------------------------- */

static const enum option_id yesno_options[] = {
    OPT_BITS_PER_KEY, OPT_BITS,        OPT_HASHES,     OPT_LAYOUT,    OPT_POSITIONS,
    OPT_YES_BITS,     OPT_NO_BITS,     OPT_NO_FILTERS, OPT_NO_HASHES, OPT_VETO_AVOID,
    OPT_VETO_WEIGHTS, OPT_VETO_METHOD, OPT_OWN_SEEDS,  OPT_SALTS,     OPT_TOLERATE,
    OPT_TIME_LIMIT,   OPT_END};

static const enum option_id cascade_options[] = {OPT_FP,         OPT_BITS_PER_KEY, OPT_BITS,
                                                 OPT_HASHES,     OPT_LAYOUT,       OPT_POSITIONS,
                                                 OPT_VETO_AVOID, OPT_VETO_WEIGHTS, OPT_END};

const struct recipe recipe_yesno = {TEPAL_KIND_YESNO, yesno_options, NULL, NULL, NULL};
const struct recipe recipe_cascade = {TEPAL_KIND_CASCADE, cascade_options, NULL, NULL, NULL};

bool negatives_builds(enum tepal_kind_id kind)
{
    return kind == TEPAL_KIND_YESNO || kind == TEPAL_KIND_CASCADE;
}

/* ---- before any work ------------------------------------------------------------------------- */

static int wrong(const struct args *args, const char *reason)
{
    return say_error(args->command->stays, args->command->name, "%s", reason);
}

static int check_sizes(const struct args *args)
{
    const struct option_value *o = args->option;
    bool sized = o[OPT_BITS].given || o[OPT_BITS_PER_KEY].given;
    if (o[OPT_YES_BITS].given && sized) {
        return wrong(args, "--yes-bits and --bits are two ways to say the size: give one");
    }
    if (!o[OPT_YES_BITS].given && !sized) {
        return wrong(args, "a size is needed: --bits M, --bits-per-key B, or --yes-bits P with "
                           "--no-bits Q and --no-filters R");
    }
    bool none = o[OPT_NO_FILTERS].given && o[OPT_NO_FILTERS].whole == 0;
    if (none && (o[OPT_NO_BITS].given || o[OPT_NO_HASHES].given)) {
        return wrong(args, "--no-filters 0: then there is nothing for --no-bits or --no-hashes");
    }
    if (!none && o[OPT_NO_FILTERS].given != o[OPT_NO_BITS].given) {
        return wrong(args, "--no-bits Q and --no-filters R go together");
    }
    if (o[OPT_YES_BITS].given && !o[OPT_NO_FILTERS].given) {
        return wrong(args, "--yes-bits P needs --no-bits Q and --no-filters R");
    }
    if (o[OPT_BITS].given && o[OPT_NO_BITS].given &&
        o[OPT_NO_FILTERS].whole >
            (o[OPT_BITS].whole - 1) / (o[OPT_NO_BITS].whole == 0 ? 1 : o[OPT_NO_BITS].whole)) {
        return say_error(args->command->stays, args->command->name,
                         "%" PRIu64 " no-filters of %" PRIu64
                         " bits leave nothing of --bits %s to the yes-filter",
                         o[OPT_NO_FILTERS].whole, o[OPT_NO_BITS].whole, o[OPT_BITS].text);
    }
    return EXIT_YES;
}

int negatives_check(const struct args *args, enum tepal_kind_id kind)
{
    if (!args->option[OPT_VETO_AVOID].given) {
        return say_error(args->command->stays, args->command->name,
                         "--avoid NEGATIVES is needed: what is known not to be in the set");
    }
    if (kind == TEPAL_KIND_YESNO && check_sizes(args) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    size_t operands = args->operands == 0 ? 1 : args->operands;
    const char **paths = malloc((operands + 1) * sizeof *paths);
    if (paths == NULL) {
        return say_error(args->command->stays, NULL, "out of memory");
    }
    for (size_t i = 0; i < operands; i++) {
        paths[i] = args->operands == 0 ? "-" : args->operand[i];
    }
    paths[operands] = args->option[OPT_VETO_AVOID].text;
    int code =
        filter_file_check_inputs(args->command->stays, args->option[OPT_OUTPUT].text, paths,
                                 operands + 1, "the keys would be overwritten by the filter");
    free(paths);
    return code;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int gather(const struct negatives_build *v, struct feed *feed, bool weighted,
                  struct digests *set, uint64_t *total)
{
    if (feed == NULL) {
        return EXIT_TROUBLE;
    }
    ptrdiff_t count;
    while ((count = feed_next(feed)) > 0) {
        for (ptrdiff_t i = 0; i < count; i++) {
            if (!digests_add(set, feed->digest[i], weighted ? feed->weight[i] : 1, NULL, 0)) {
                feed_close(feed);
                return say_error(v->args->command->stays, NULL, "out of memory");
            }
        }
    }
    *total = feed->total;
    feed_close(feed);
    return count == 0 ? EXIT_YES : EXIT_TROUBLE;
}

static int read_keys(struct negatives_build *v, struct digests *members, struct digests *avoid)
{
    const struct option_value *o = v->args->option;
    bool quiet = o[OPT_QUIET].given;
    bool weighted = o[OPT_VETO_WEIGHTS].given;
    uint64_t ignored;
    int code = gather(v, feed_open(v->args, 0, v->hasher, quiet), false, members, &v->keys);
    if (code == EXIT_YES) {
        code =
            gather(v, feed_open_file(v->args, &o[OPT_VETO_AVOID].text, v->hasher, weighted, quiet),
                   weighted, avoid, &ignored);
    }
    if (code == EXIT_YES && members->count == 0) {
        code = say_error(v->args->command->stays, v->args->command->name,
                         "no keys came: there is nothing to build a filter from");
    }
    return code;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static bool in_lines(const struct tepal_params *p)
{
    return p->layout == TEPAL_LAYOUT_BLOCKED || p->layout == TEPAL_LAYOUT_PAIRED;
}

/* --bits, or --bits-per-key for so many; 0: neither. */
static int whole_size(const struct negatives_build *v, size_t members, uint64_t *bits)
{
    const struct option_value *o = v->args->option;
    *bits = o[OPT_BITS].whole;
    if (o[OPT_BITS_PER_KEY].given) {
        double size = ceil(o[OPT_BITS_PER_KEY].real * (double)members);
        if (size > 0x1p60) {
            return wrong(v->args, "the filter would be larger than the limit of 2^60 bits");
        }
        *bits = size < 1 ? 1 : (uint64_t)size;
        if (in_lines(&v->params)) {
            *bits = (*bits + TEPAL_LINE_BITS - 1) / TEPAL_LINE_BITS * TEPAL_LINE_BITS;
        }
    }
    return EXIT_YES;
}

/* The best k' for sizes that were said. */
static void choose_no_hashes(const struct negatives_build *v, size_t n, size_t t,
                             struct tepal_yesno_plan *plan)
{
    struct tepal_yesno_plan best = {.no_hashes = 1};
    for (uint32_t k = 1; k <= 24 && k <= plan->no_bits; k++) {
        struct tepal_yesno_plan here = *plan;
        here.no_hashes = k;
        if (tepal_yesno_predict(v->params.layout, v->params.positions, n, t, &here) == TEPAL_OK &&
            (k == 1 || here.left < best.left)) {
            best = here;
        }
    }
    plan->no_hashes = best.no_hashes;
}

static int said_plan(const struct negatives_build *v, size_t n, size_t t, uint64_t bits,
                     struct tepal_yesno_plan *plan)
{
    const struct option_value *o = v->args->option;
    plan->no_bits = o[OPT_NO_BITS].whole;
    plan->no_filters = o[OPT_NO_FILTERS].whole;
    plan->own_seeds = o[OPT_OWN_SEEDS].given && plan->no_filters > 0;
    plan->yes_bits =
        o[OPT_YES_BITS].given ? o[OPT_YES_BITS].whole : bits - plan->no_bits * plan->no_filters;
    if (!o[OPT_YES_BITS].given && plan->no_bits * plan->no_filters >= bits) {
        return wrong(v->args, "the no-filters leave no bit to the yes-filter");
    }
    if (plan->hashes == 0) {
        plan->hashes =
            tepal_bloom_best_hashes(v->params.layout, v->params.positions, plan->yes_bits, n);
    }
    if (plan->no_hashes == 0 && plan->no_filters > 0 && plan->hashes > 0) {
        choose_no_hashes(v, n, t, plan);
    }
    return EXIT_YES;
}

static int size_yesno(struct negatives_build *v, size_t n, size_t t)
{
    const struct option_value *o = v->args->option;
    struct tepal_yesno_plan plan = {.hashes = (uint32_t)o[OPT_HASHES].whole,
                                    .no_hashes = (uint32_t)o[OPT_NO_HASHES].whole};
    uint64_t bits;
    const char *why = "";
    if (whole_size(v, n, &bits) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    if (o[OPT_NO_FILTERS].given) {
        if (said_plan(v, n, t, bits, &plan) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
    } else if (tepal_yesno_choose(v->params.layout, v->params.positions, bits, n, t, &plan) !=
               TEPAL_OK) {
        return wrong(v->args, in_lines(&v->params) && bits % TEPAL_LINE_BITS != 0
                                  ? "this layout needs whole lines: a multiple of 512 bits"
                                  : "no layout of so many bits and hashes was found");
    }
    enum tepal_status status = tepal_yesno_params(plan.yes_bits, plan.hashes, plan.no_bits,
                                                  plan.no_filters, plan.no_hashes, &v->params);
    v->params.own[TEPAL_YESNO_OWN_SEEDS] = plan.own_seeds;
    v->params.capacity = n;
    if (status != TEPAL_OK) {
        return wrong(v->args, tepal_status_message(status));
    }
    return tepal_params_check(&v->params, &why) == TEPAL_OK ? EXIT_YES : wrong(v->args, why);
}

/* ---- building -------------------------------------------------------------------------------- */

static bool late(void *ctx)
{
    return progress_clock() > ((const struct negatives_build *)ctx)->deadline;
}

static int refused(const struct negatives_build *v, enum tepal_status status, const char *why)
{
    return say_error(v->args->command->stays, v->args->command->name, "%s",
                     why[0] != '\0' ? why : tepal_status_message(status));
}

static int build_yesno(struct negatives_build *v, const struct digests *members,
                       const struct digests *avoid)
{
    const struct option_value *o = v->args->option;
    struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
    struct tepal_yesno_input input = {.members = members->digest,
                                      .member_count = members->count,
                                      .avoid = avoid->digest,
                                      .avoid_count = avoid->count};
    const char *why = "";
    if (o[OPT_VETO_METHOD].given) {
        tepal_yesno_method_parse(o[OPT_VETO_METHOD].text, &how.method);
    }
    v->method = how.method;
    how.salts = (uint32_t)o[OPT_SALTS].whole;
    how.false_negatives = o[OPT_TOLERATE].whole;
    if (o[OPT_TIME_LIMIT].given) {
        v->deadline = progress_clock() + o[OPT_TIME_LIMIT].real;
        how.enough = late;
        how.ctx = v;
        how.steps = UINT64_MAX / 4; /* the clock alone ends it */
    }
    if (o[OPT_VETO_WEIGHTS].given) {
        input.avoid_weights = avoid->weight;
    }
    if (size_yesno(v, members->count, avoid->count) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    enum tepal_status status =
        tepal_yesno_build(&v->params, &input, &how, NULL, &v->filter, &v->yesno, &why);
    return status == TEPAL_OK ? EXIT_YES : refused(v, status, why);
}

static int build_cascade(struct negatives_build *v, const struct digests *members,
                         const struct digests *avoid)
{
    const struct option_value *o = v->args->option;
    struct tepal_cascade_input input = {.members = members->digest,
                                        .member_count = members->count,
                                        .avoid = avoid->digest,
                                        .avoid_count = avoid->count};
    struct tepal_cascade_options how = {.fp = o[OPT_FP].given ? o[OPT_FP].real : 0};
    const char *why = "";
    v->params.hashes = (uint32_t)o[OPT_HASHES].whole;
    v->params.capacity = members->count;
    if (whole_size(v, members->count, &how.bits) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    enum tepal_status status =
        tepal_cascade_build(&v->params, &input, &how, NULL, &v->filter, &v->cascade, &why);
    return status == TEPAL_OK ? EXIT_YES : refused(v, status, why);
}

/* A repeated key is one key: without weights, with the weight of one. */
int negatives_build(struct negatives_build *v)
{
    const struct option_value *o = v->args->option;
    struct digests members = {.count = 0};
    struct digests avoid = {.count = 0};
    if (o[OPT_LAYOUT].given) {
        tepal_layout_parse(o[OPT_LAYOUT].text, &v->params.layout);
    }
    if (o[OPT_POSITIONS].given) {
        tepal_positions_parse(o[OPT_POSITIONS].text, &v->params.positions);
    }
    int code = read_keys(v, &members, &avoid);
    if (code == EXIT_YES) {
        code = v->params.kind == TEPAL_KIND_YESNO ? build_yesno(v, &members, &avoid)
                                                  : build_cascade(v, &members, &avoid);
    }
    digests_free(&members);
    digests_free(&avoid);
    if (code == EXIT_YES && v->params.hash == TEPAL_HASH_SIPHASH) {
        enum tepal_status status = tepal_filter_set_key(v->filter, v->key);
        code = status == TEPAL_OK ? EXIT_YES : refused(v, status, "");
    }
    return code;
}

/* ---- what is told ---------------------------------------------------------------------------- */

/* What both reports have in common. */
struct counts {
    uint64_t members;
    uint64_t avoid_given;
    uint64_t avoid_members;
    uint64_t avoid_positive;
    uint64_t avoid_left;
    uint64_t false_negatives;
};

static struct counts counts_of(const struct negatives_build *v)
{
    const struct tepal_yesno_report *y = &v->yesno;
    const struct tepal_cascade_report *c = &v->cascade;
    return v->params.kind == TEPAL_KIND_YESNO
               ? (struct counts){y->members,        y->avoid_given, y->avoid_members,
                                 y->avoid_positive, y->avoid_left,  y->false_negatives}
               : (struct counts){c->members,        c->avoid_given, c->avoid_members,
                                 c->avoid_positive, c->avoid_left,  c->false_negatives};
}

static void say_counts(const struct negatives_build *v)
{
    struct counts c = counts_of(v);
    bool yesno = v->params.kind == TEPAL_KIND_YESNO;
    say_line("avoid      %" PRIu64 " key%s: %" PRIu64 " found by the %s, %" PRIu64 " left",
             c.avoid_given, c.avoid_given == 1 ? "" : "s", c.avoid_positive,
             yesno ? "yes-filter" : "first level", c.avoid_left);
    if (c.avoid_members > 0) {
        say_line("           %" PRIu64 " %s, and not vetoed", c.avoid_members,
                 c.avoid_members == 1 ? "is a member" : "are members");
    }
    if (c.avoid_given > c.avoid_members) {
        char room[64];
        double known = (double)c.avoid_left / (double)(c.avoid_given - c.avoid_members);
        say_line("known      %s false positives among the keys to avoid",
                 render_rate(known, room, sizeof room));
    }
    if (c.false_negatives > 0) {
        say_line("lost       %" PRIu64 " of %" PRIu64 " members, as tolerated", c.false_negatives,
                 c.members);
    }
    if (yesno) {
        const uint64_t *own = v->params.own;
        say_line("no-filters %" PRIu64 " of %" PRIu64 " bits, %" PRIu64 " hash%s each; method %s%s",
                 own[TEPAL_YESNO_NO_FILTERS], own[TEPAL_YESNO_NO_BITS], own[TEPAL_YESNO_NO_HASHES],
                 own[TEPAL_YESNO_NO_HASHES] == 1 ? "" : "es", tepal_yesno_method_name(v->method),
                 v->yesno.proved_optimal ? " (proved optimal)" : "");
    } else {
        say_line("levels     %" PRIu32, v->cascade.levels);
    }
}

static void set_whole(json_t *object, const char *name, uint64_t value)
{
    json_object_set_new(object, name, json_integer((json_int_t)value));
}

static json_t *describe(const struct negatives_build *v, const char *path)
{
    struct counts c = counts_of(v);
    json_t *o = render_filter(path, v->filter);
    set_whole(o, "keys_read", v->keys);
    set_whole(o, "members", c.members);
    set_whole(o, "avoid_given", c.avoid_given);
    set_whole(o, "avoid_members", c.avoid_members);
    set_whole(o, "avoid_positive", c.avoid_positive);
    set_whole(o, "avoid_left", c.avoid_left);
    set_whole(o, "false_negatives", c.false_negatives);
    if (v->params.kind == TEPAL_KIND_YESNO) {
        json_object_set_new(o, "method", json_string(tepal_yesno_method_name(v->method)));
        json_object_set_new(o, "avoid_weight", json_real(v->yesno.avoid_weight));
        json_object_set_new(o, "positive_weight", json_real(v->yesno.positive_weight));
        json_object_set_new(o, "weight_left", json_real(v->yesno.weight_left));
        json_object_set_new(o, "proved_optimal", json_boolean(v->yesno.proved_optimal));
        set_whole(o, "steps", v->yesno.steps);
    }
    return o;
}

int negatives_written(const struct negatives_build *v, const char *path)
{
    if (!v->args->option[OPT_JSON].given) {
        if (!v->args->option[OPT_QUIET].given) {
            say_counts(v);
        }
        return render_written(v->args, path, v->filter, v->keys);
    }
    struct out *out = out_open(STDOUT_FILENO);
    if (out == NULL) {
        return EXIT_TROUBLE;
    }
    return out_close_after(out, "the filter was written", render_json(out, describe(v, path)));
}
