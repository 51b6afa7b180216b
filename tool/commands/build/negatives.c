/*
 * negatives.c: filters that are built from members and known negatives at once: yes-no filters and
 * cascades from their options, and these and retouched ones from a plan. Sizes: said by the
 * options, or chosen by the model once the keys are counted.
 */
#include "commands/build/negatives.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include <tepal/cascade.h>
#include <tepal/model.h>
#include <tepal/papers.h>

#include "input/digests.h"
#include "input/feed.h"
#include "output/progress.h"
#include "commands/build/recipe.h"
#include "commands/yesno_how.h"
#include "output/render.h"
#include "output/written.h"
#include "cli/options.h"
#include "files/filter_file.h"

/* ---- recipes: which options there are -------------------------------------------------------- */

static const char *const yesno_options[] = {
    "fp",         "bits-per-key", "bits",       "hashes",    "layout",          "positions",
    "yes-bits",   "no-bits",      "no-filters", "no-hashes", "avoid",           "weights",
    "method",     "own-seeds",    "salts",      "tolerate",  "tolerate-weight", "member-weights",
    "time-limit", "fp-known",     NULL};

static const char *const cascade_options[] = {
    "fp", "bits-per-key", "bits", "hashes", "layout", "positions", "avoid", "weights", NULL};

static const char *const yesno_exclusive[][4] = {{"fp", "bits-per-key", "bits"},
                                                 {"fp", "yes-bits"},
                                                 {"fp", "no-bits"},
                                                 {"fp", "no-filters"},
                                                 {NULL}};

const struct recipe recipe_yesno = {TEPAL_KIND_YESNO, yesno_options, NULL, NULL, yesno_exclusive};
const struct recipe recipe_cascade = {TEPAL_KIND_CASCADE, cascade_options, NULL, NULL, NULL};

bool negatives_builds(enum tepal_kind_id kind)
{
    return kind == TEPAL_KIND_YESNO || kind == TEPAL_KIND_CASCADE || kind == TEPAL_KIND_RETOUCHED;
}

/* ---- before any work ------------------------------------------------------------------------- */

static int check_sizes(const struct args *args)
{
    bool sized = arg(args, "bits")->given || arg(args, "bits-per-key")->given;
    if (arg(args, "yes-bits")->given && sized) {
        return args_error(args, "--yes-bits and --bits both set the size: give one of them");
    }
    if (!arg(args, "yes-bits")->given && !sized && !arg(args, "fp")->given) {
        return args_error(
            args, "a size is needed: --fp RATE, --bits M, --bits-per-key B, or --yes-bits P "
                  "with --no-bits Q and --no-filters R");
    }
    bool none = arg(args, "no-filters")->given && arg(args, "no-filters")->whole == 0;
    if (none && (arg(args, "no-bits")->given || arg(args, "no-hashes")->given)) {
        return args_error(args,
                          "--no-filters 0 leaves nothing for --no-bits or --no-hashes to set");
    }
    if (!none && arg(args, "no-filters")->given != arg(args, "no-bits")->given) {
        return args_error(args, "--no-bits Q and --no-filters R go together");
    }
    if (arg(args, "yes-bits")->given && !arg(args, "no-filters")->given) {
        return args_error(args, "--yes-bits P needs --no-bits Q and --no-filters R");
    }
    if (arg(args, "bits")->given && arg(args, "no-bits")->given &&
        arg(args, "no-filters")->whole >
            (arg(args, "bits")->whole - 1) /
                (arg(args, "no-bits")->whole == 0 ? 1 : arg(args, "no-bits")->whole)) {
        return args_error(args,
                          "%" PRIu64 " no-filters of %" PRIu64 " bits leave nothing of --bits %s "
                          "for the yes-filter",
                          arg(args, "no-filters")->whole, arg(args, "no-bits")->whole,
                          arg(args, "bits")->text);
    }
    return EXIT_YES;
}

int negatives_check(const struct negatives_build *v)
{
    const struct args *args = v->args;
    if (v->avoid == NULL) {
        return args_error(args, "--avoid NEGATIVES is needed: the keys known not to be in the set");
    }
    if (v->plan == NULL && v->params.kind == TEPAL_KIND_YESNO &&
        (check_sizes(args) != EXIT_YES || yesno_how_check(args) != EXIT_YES)) {
        return EXIT_TROUBLE;
    }
    size_t operands = args->operands == 0 ? 1 : args->operands;
    const char **paths = malloc((operands + 1) * sizeof *paths);
    if (paths == NULL) {
        return args_no_memory(args);
    }
    for (size_t i = 0; i < operands; i++) {
        paths[i] = args->operands == 0 ? "-" : args->operand[i];
    }
    paths[operands] = v->avoid;
    int code = filter_file_check_inputs(args, arg(args, "output")->text, paths, operands + 1,
                                        "the filter would overwrite the keys");
    free(paths);
    return code;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int read_keys(struct negatives_build *v, struct digests *members, struct digests *avoid)
{
    struct feed *keys = feed_open(v->args, 0, v->hasher);
    if (keys != NULL) {
        keys->weighted = arg(v->args, "member-weights")->given;
    }
    int code = feed_gather(keys, members, &v->keys);
    if (code == EXIT_YES) {
        code = feed_gather(feed_open_file(v->args, &v->avoid, v->hasher, v->weighted), avoid, NULL);
    }
    if (code == EXIT_YES && members->count == 0) {
        code = args_error(v->args, "no keys in the input: there is nothing to build a filter from");
    }
    return code;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* --bits, or --bits-per-key for so many; 0: neither. */
static int whole_size(const struct negatives_build *v, size_t members, uint64_t *bits)
{
    *bits = arg(v->args, "bits")->whole;
    if (arg(v->args, "bits-per-key")->given) {
        double size = ceil(arg(v->args, "bits-per-key")->real * (double)members);
        if (size > 0x1p60) {
            return args_error(v->args, "the filter would be larger than the limit of 2^60 bits");
        }
        *bits = size < 1 ? 1 : (uint64_t)size;
        if (tepal_layout_in_lines(v->params.layout)) {
            *bits = (*bits + TEPAL_LINE_BITS - 1) / TEPAL_LINE_BITS * TEPAL_LINE_BITS;
        }
    }
    return EXIT_YES;
}

/* The best k' for sizes that were said. */
static void choose_no_hashes(const struct negatives_build *v, size_t n, size_t t,
                             struct tepal_yesno_setting *plan)
{
    struct tepal_yesno_setting best = {.no_hashes = 1};
    for (uint32_t k = 1; k <= 24 && k <= plan->no_bits; k++) {
        struct tepal_yesno_setting here = *plan;
        here.no_hashes = k;
        if (tepal_yesno_predict(v->params.layout, v->params.positions, n, t, &here) == TEPAL_OK &&
            (k == 1 || here.left < best.left)) {
            best = here;
        }
    }
    plan->no_hashes = best.no_hashes;
}

static int said_plan(const struct negatives_build *v, size_t n, size_t t, uint64_t bits,
                     struct tepal_yesno_setting *plan)
{
    plan->no_bits = arg(v->args, "no-bits")->whole;
    plan->no_filters = arg(v->args, "no-filters")->whole;
    plan->own_seeds = arg(v->args, "own-seeds")->given && plan->no_filters > 0;
    plan->yes_bits = arg_whole(v->args, "yes-bits", bits - plan->no_bits * plan->no_filters);
    if (!arg(v->args, "yes-bits")->given && plan->no_bits * plan->no_filters >= bits) {
        return args_error(v->args, "the no-filters leave no bits for the yes-filter");
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

/* Do so many bits, divided as --bits would, keep strangers at --fp? */
static bool keeps_rate(const struct negatives_build *v, uint64_t bits, size_t n, size_t t,
                       struct tepal_yesno_setting *plan)
{
    return tepal_yesno_best_setting(v->params.layout, v->params.positions, bits, n, t, plan) ==
               TEPAL_OK &&
           plan->fp_unknown <= arg(v->args, "fp")->real;
}

/* The fewest bits that do, but for one in NEARLY: by doubling and halving. 0: none. */
#define NEARLY 4096

static uint64_t bits_for_rate(const struct negatives_build *v, size_t n, size_t t,
                              const struct tepal_yesno_setting *said)
{
    uint64_t unit = tepal_layout_in_lines(v->params.layout) ? TEPAL_LINE_BITS : 1;
    uint64_t low = 0; /* too few */
    uint64_t high = n / unit + 1;
    struct tepal_yesno_setting plan = *said;
    while (!keeps_rate(v, high * unit, n, t, &plan)) {
        low = high;
        high *= 2;
        plan = *said;
        if (high > ((uint64_t)1 << 60) / unit) {
            return 0;
        }
    }
    while (high - low > 1 + high / NEARLY) {
        uint64_t middle = low + (high - low) / 2;
        plan = *said;
        *(keeps_rate(v, middle * unit, n, t, &plan) ? &high : &low) = middle;
    }
    return high * unit;
}

static int size_yesno(struct negatives_build *v, size_t n, size_t t)
{
    struct tepal_yesno_setting plan = {.hashes = (uint32_t)arg(v->args, "hashes")->whole,
                                       .no_hashes = (uint32_t)arg(v->args, "no-hashes")->whole};
    uint64_t bits;
    if (arg_rate_kept(v->args, "fp", n) != EXIT_YES || whole_size(v, n, &bits) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    if (arg(v->args, "fp")->given) {
        bits = bits_for_rate(v, n, t, &plan);
        if (bits == 0) {
            return args_error(v->args, "no yes-no filter up to 2^60 bits with these hash functions "
                                       "has this rate");
        }
    }
    if (arg(v->args, "no-filters")->given) {
        if (said_plan(v, n, t, bits, &plan) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
    } else if (tepal_yesno_best_setting(v->params.layout, v->params.positions, bits, n, t, &plan) !=
               TEPAL_OK) {
        return args_error(
            v->args, "%s",
            tepal_layout_in_lines(v->params.layout) && bits % TEPAL_LINE_BITS != 0
                ? "this layout needs whole cache lines: a multiple of 512 bits"
                : "no yes-no filter with this many bits and hash functions was found");
    }
    if (plan.no_filters > 0 && plan.no_bits > (UINT64_MAX - plan.yes_bits) / plan.no_filters) {
        return args_error(v->args, "%s", tepal_status_message(TEPAL_TOO_LARGE));
    }
    v->params.cells = plan.yes_bits + plan.no_filters * plan.no_bits;
    v->params.hashes = plan.hashes;
    v->params.capacity = n;
    v->params.yesno.no_filters = plan.no_filters;
    v->params.yesno.own_seeds = plan.own_seeds;
    if (plan.no_filters > 0) {
        v->params.yesno.no_bits = plan.no_bits;
        v->params.yesno.no_hashes = plan.no_hashes;
    }
    return recipe_check(v->args, &v->params);
}

/* With --fp-known, re-hashings end when so little of the known negatives' weight is left. */
static void limit_salts(const struct negatives_build *v, const struct tepal_known *known,
                        struct tepal_yesno_options *how)
{
    double weight = 0;
    for (size_t i = 0; i < known->avoid_count; i++) {
        weight += known->avoid_weights == NULL ? 1 : known->avoid_weights[i];
    }
    if (arg(v->args, "fp-known")->given) {
        how->weight_left = arg(v->args, "fp-known")->real * weight;
        how->salts = (uint32_t)arg_whole(v->args, "salts", TEPAL_PLAN_SALTS);
    }
}

/* ---- building -------------------------------------------------------------------------------- */

static int refused(const struct negatives_build *v, enum tepal_status status, const char *why)
{
    return args_error(v->args, "%s", why[0] != '\0' ? why : tepal_status_message(status));
}

static struct tepal_known known_keys(const struct negatives_build *v, const struct digests *members,
                                     const struct digests *avoid)
{
    return (struct tepal_known){.members = members->digest,
                                .member_count = members->count,
                                .member_weights =
                                    arg(v->args, "member-weights")->given ? members->weight : NULL,
                                .avoid = avoid->digest,
                                .avoid_count = avoid->count,
                                .avoid_weights = v->weighted ? avoid->weight : NULL};
}

static int build_yesno(struct negatives_build *v, const struct digests *members,
                       const struct digests *avoid)
{
    struct yesno_how how;
    struct tepal_known input = known_keys(v, members, avoid);
    struct tepal_error error = {.why = ""};
    yesno_how_read(&how, v->args);
    limit_salts(v, &input, &how.how);
    v->method = how.how.method;
    if (size_yesno(v, members->count, avoid->count) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    enum tepal_status status =
        tepal_yesno_build(&v->params, &input, &how.how, NULL, &v->filter, &v->report, &error);
    progress_end(&how.progress);
    return status == TEPAL_OK ? EXIT_YES : refused(v, status, error.why);
}

static int build_cascade(struct negatives_build *v, const struct digests *members,
                         const struct digests *avoid)
{
    struct tepal_known input = known_keys(v, members, avoid);
    struct tepal_cascade_options how = {.fp = arg(v->args, "fp")->given ? arg(v->args, "fp")->real
                                                                        : 0};
    struct tepal_error error = {.why = ""};
    v->params.hashes = (uint32_t)arg(v->args, "hashes")->whole;
    v->params.capacity = members->count;
    if (arg_rate_kept(v->args, "fp", members->count) != EXIT_YES ||
        whole_size(v, members->count, &how.bits) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    enum tepal_status status =
        tepal_cascade_build(&v->params, &input, &how, NULL, &v->filter, &v->report, &error);
    return status == TEPAL_OK ? EXIT_YES : refused(v, status, error.why);
}

static int build_plan(struct negatives_build *v, const struct digests *members,
                      const struct digests *avoid)
{
    struct tepal_plan_input input = {.seed = v->params.seed,
                                     .key = tepal_hash_is_keyed(v->params.hash) ? v->key : NULL,
                                     .known = known_keys(v, members, avoid),
                                     .repeats = members->repeats};
    struct tepal_error error = {.why = ""};
    struct progress progress;
    v->method = TEPAL_YESNO_LOCAL_SEARCH;
    input.progress =
        progress_of(&progress, !arg(v->args, "quiet")->given, "choosing what is avoided");
    enum tepal_status status =
        tepal_plan_build(v->plan, &input, NULL, &v->filter, &v->report, &error);
    progress_end(&progress);
    v->full = status == TEPAL_FULL;
    if (v->full && v->more) {
        return EXIT_TROUBLE;
    }
    return status == TEPAL_OK ? EXIT_YES : refused(v, status, error.why);
}

/* A repeated key is one key: without weights, with the weight of one. */
int negatives_build(struct negatives_build *v)
{
    struct digests members = {.count = 0};
    struct digests avoid = {.count = 0};
    arg_layout(v->args, &v->params.layout);
    arg_positions(v->args, &v->params.positions);
    int code = read_keys(v, &members, &avoid);
    if (code == EXIT_YES) {
        code = v->plan != NULL                      ? build_plan(v, &members, &avoid)
               : v->params.kind == TEPAL_KIND_YESNO ? build_yesno(v, &members, &avoid)
                                                    : build_cascade(v, &members, &avoid);
    }
    digests_free(&members);
    digests_free(&avoid);
    if (code == EXIT_YES && tepal_hash_is_keyed(v->params.hash)) {
        enum tepal_status status = tepal_filter_set_key(v->filter, v->key);
        code = status == TEPAL_OK ? EXIT_YES : refused(v, status, "");
    }
    return code;
}

/* ---- what is told ---------------------------------------------------------------------------- */

static void say_counts(struct report *r, const struct negatives_build *v)
{
    const struct tepal_known_report *c = &v->report;
    const struct tepal_yesno_params *no = &tepal_filter_params(v->filter)->yesno;
    enum tepal_kind_id kind = v->params.kind;
    report_say(r, "avoid      %" PRIu64 " key%s: %" PRIu64 " found by the %s, %" PRIu64 " left",
               c->avoid_given, SAY_S(c->avoid_given), c->avoid_positive,
               kind == TEPAL_KIND_YESNO     ? "yes-filter"
               : kind == TEPAL_KIND_CASCADE ? "first level"
                                            : "Bloom filter",
               c->avoid_left);
    if (c->avoid_members > 0) {
        report_say(r, "           %" PRIu64 " %s, not %s", c->avoid_members,
                   c->avoid_members == 1 ? "is a member" : "are members",
                   kind == TEPAL_KIND_RETOUCHED ? "cleared" : "vetoed");
    }
    if (kind == TEPAL_KIND_RETOUCHED && v->weighted) {
        report_say(r, "weight     %.6g found, %.6g left", c->positive_weight, c->weight_left);
    }
    if (c->avoid_given > c->avoid_members) {
        char room[64];
        double known = (double)c->avoid_left / (double)(c->avoid_given - c->avoid_members);
        report_say(r, "known      %s false positives among the keys to avoid",
                   render_rate(known, room, sizeof room));
    }
    if (c->false_negatives > 0) {
        report_say(r, "lost       %" PRIu64 " of %" PRIu64 " member%s, as %s", c->false_negatives,
                   c->members, SAY_S(c->members),
                   kind == TEPAL_KIND_RETOUCHED ? "planned" : "tolerated");
        if (arg(v->args, "member-weights")->given) {
            report_say(r, "           %.6g of their weight %.6g", c->weight_lost,
                       c->members_weight);
        }
    }
    if (kind == TEPAL_KIND_YESNO) {
        report_say(
            r, "no-filters %" PRIu64 " of %" PRIu64 " bit%s, %" PRIu64 " hash%s each; method %s%s",
            no->no_filters, no->no_bits, SAY_S(no->no_bits), no->no_hashes,
            no->no_hashes == 1 ? "" : "es", tepal_yesno_method_name(v->method),
            c->proved_optimal ? " (proved optimal)" : "");
    } else if (kind == TEPAL_KIND_CASCADE) {
        report_say(r, "levels     %" PRIu32, c->levels);
    }
}

int negatives_written(const struct negatives_build *v, const char *path)
{
    const struct tepal_known_report *c = &v->report;
    struct report r = report_open(v->args);
    report_object(&r, NULL);
    say_counts(&r, v);
    written_tell(&r, path, v->filter, v->keys);
    report_whole(&r, "members", c->members, JSON_ONLY);
    report_whole(&r, "avoid_given", c->avoid_given, JSON_ONLY);
    report_whole(&r, "avoid_members", c->avoid_members, JSON_ONLY);
    report_whole(&r, "avoid_positive", c->avoid_positive, JSON_ONLY);
    report_whole(&r, "avoid_left", c->avoid_left, JSON_ONLY);
    report_whole(&r, "false_negatives", c->false_negatives, JSON_ONLY);
    bool yesno = v->params.kind == TEPAL_KIND_YESNO;
    if (yesno) {
        report_text(&r, "method", tepal_yesno_method_name(v->method), JSON_ONLY);
    }
    if (v->params.kind != TEPAL_KIND_CASCADE) {
        report_real(&r, "avoid_weight", c->avoid_weight, JSON_ONLY);
        report_real(&r, "positive_weight", c->positive_weight, JSON_ONLY);
        report_real(&r, "weight_left", c->weight_left, JSON_ONLY);
    }
    if (yesno) {
        report_real(&r, "weight_lost", c->weight_lost, JSON_ONLY);
        report_flag(&r, "proved_optimal", c->proved_optimal, JSON_ONLY);
        report_whole(&r, "steps", c->steps, JSON_ONLY);
    }
    report_end(&r);
    return written_close(&r);
}
