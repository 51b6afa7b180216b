/*
 * retouch.c: the public calls of retouching: which methods there are, what is refused, and the
 * order of a run that clears bits. (Generalized filters have theirs inverted: their own folder.)
 *
 *     found.c     who is found: members, false positives B
 *        |
 *     tally.c     index over B --> method (clear.c, sacrifice.c) --> lost members, cleared bits
 *                                                                                |
 *     report.c    report <--ask again-- new filter <-------------------------- sweep.c
 */
#include "filter/retouched/internal.h"

#include <math.h>
#include <string.h>

#include "address/address.h"
#include "base/names.h"
#include "base/refuse.h"
#include "filter/counting/internal.h"
#include "filter/generalized/internal.h"
#include "filter/known/known.h"

/* ---- names ----------------------------------------------------------------------------------- */

static const char *const names[TEPAL_RETOUCH_METHODS] = {
    "random-bits",     "random",         "min-fn",    "max-fp",     "ratio",    "improved-min-fn",
    "improved-max-fp", "improved-ratio", "sacrifice", "net-effect", "least-fn", "best"};

static const struct names methods = NAMES(names, "");

const char *tepal_retouch_method_name(enum tepal_retouch_method method)
{
    return names_at(methods, method);
}

bool tepal_retouch_method_parse(const char *name, enum tepal_retouch_method *out)
{
    unsigned value;
    bool known = names_find(methods, name, &value);
    *out = known ? (enum tepal_retouch_method)value : *out;
    return known;
}

/* ---- what is refused ------------------------------------------------------------------------- */

/* The method: `best` becomes the one that is best for the kind. */
static enum tepal_status choose_method(bool generalized, struct tepal_retouch_options *how,
                                       struct tepal_error *error)
{
    bool inverts = how->method == TEPAL_RETOUCH_NET_EFFECT || how->method == TEPAL_RETOUCH_LEAST_FN;
    if (how->method == TEPAL_RETOUCH_BEST) {
        how->method = generalized ? TEPAL_RETOUCH_NET_EFFECT : TEPAL_RETOUCH_SACRIFICE;
    } else if (generalized && !inverts) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "the methods of generalized filters are net-effect, least-fn and best");
    } else if (!generalized && inverts) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "the methods of bloom and retouched filters are random-bits, random, min-fn, "
                      "max-fp, ratio, improved-min-fn, improved-max-fp, improved-ratio, sacrifice "
                      "and best");
    }
    return TEPAL_OK;
}

/* Are the members not known? Then bits are cleared by what B, and perhaps counters, tell. */
static bool is_blind(const struct tepal_filter *filter, const struct tepal_known *in)
{
    return filter->params.kind != TEPAL_KIND_GENERALIZED && in->members == NULL &&
           in->member_count == 0;
}

/* Without the members: the methods that do not ask for them, or ask only how many a bit has. */
static enum tepal_status choose_blind(bool counts, struct tepal_retouch_options *how,
                                      struct tepal_error *error)
{
    switch (how->method) {
    case TEPAL_RETOUCH_BEST:
        how->method = counts ? TEPAL_RETOUCH_RATIO : TEPAL_RETOUCH_MAX_FP;
        break;
    case TEPAL_RETOUCH_RANDOM_BITS:
    case TEPAL_RETOUCH_RANDOM:
    case TEPAL_RETOUCH_MAX_FP:
    case TEPAL_RETOUCH_IMPROVED_MAX_FP:
        break;
    case TEPAL_RETOUCH_MIN_FN:
    case TEPAL_RETOUCH_RATIO:
        if (!counts) {
            return refuse(error, TEPAL_BAD_ARGUMENT,
                          "min-fn and ratio need the members, or a counting filter, whose counters "
                          "say how many members each bit has");
        }
        break;
    default:
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "this method needs the members; without them there are random-bits, random, "
                      "max-fp, improved-max-fp and, of a counting filter, min-fn and ratio");
    }
    return how->sweep ? refuse(error, TEPAL_BAD_ARGUMENT, "a sweep needs the members") : TEPAL_OK;
}

/* What only clearing bits asks for. */
static enum tepal_status check_clearing(const struct tepal_known *in,
                                        const struct tepal_retouch_options *how,
                                        struct tepal_error *error)
{
    if ((unsigned)how->basis > TEPAL_RETOUCH_BASIS_ALL ||
        (unsigned)how->order > TEPAL_RETOUCH_ORDER_WEIGHT) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "unknown basis or order");
    }
    if (in->member_count == 0 && in->members != NULL) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "there are no members");
    }
    if (how->basis == TEPAL_RETOUCH_BASIS_ALL && in->others == NULL) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "the basis of all false positives needs them to be given");
    }
    return TEPAL_OK;
}

static enum tepal_status check_budget(const struct tepal_retouch_options *how,
                                      struct tepal_error *error)
{
    if (how->limit == TEPAL_RETOUCH_LIMIT_SHARE && !(how->budget >= 0 && how->budget <= 1)) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "the budget is a share outside 0..1");
    }
    if (how->limit != TEPAL_RETOUCH_LIMIT_ALL && !(how->budget >= 0)) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "the budget is negative or not a number");
    }
    return TEPAL_OK;
}

/* Everything that can be refused before the keys are looked at; how->method becomes a real one. */
static enum tepal_status check(const struct tepal_filter *filter, const struct tepal_known *in,
                               struct tepal_retouch_options *how, struct tepal_error *error)
{
    enum tepal_kind_id kind = filter->params.kind;
    bool generalized = kind == TEPAL_KIND_GENERALIZED;
    if (kind != TEPAL_KIND_BLOOM && kind != TEPAL_KIND_RETOUCHED && kind != TEPAL_KIND_COUNTING &&
        !generalized) {
        return refuse(
            error, TEPAL_UNSUPPORTED,
            "filters of this kind cannot be retouched: the kind must be bloom, retouched, "
            "counting or generalized");
    }
    if ((unsigned)how->method >= TEPAL_RETOUCH_METHODS ||
        (unsigned)how->limit > TEPAL_RETOUCH_LIMIT_WEIGHT) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "unknown method or limit");
    }
    enum tepal_status status = is_blind(filter, in)
                                   ? choose_blind(counting_counts(filter), how, error)
                                   : choose_method(generalized, how, error);
    if (status == TEPAL_OK && !generalized) {
        status = check_clearing(in, how, error);
    }
    if (status == TEPAL_OK) {
        status = check_budget(how, error);
    }
    if (status == TEPAL_OK) {
        status = tepal_known_check(in, error);
    }
    if (status == TEPAL_OK && !tepal_known_weights_valid(in->member_weights, in->member_count)) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "a member's weight is negative or not finite");
    }
    return status;
}

/* All members may be given up, or a share of them, or so many, or so much of their weight. */
static struct known_limits limits_of(const struct tepal_retouch_options *how, size_t members)
{
    struct known_limits most = {UINT64_MAX, HUGE_VAL};
    double n = (double)members;
    switch (how->limit) {
    case TEPAL_RETOUCH_LIMIT_ALL:
        break;
    case TEPAL_RETOUCH_LIMIT_SHARE:
        /* 0.01 * 10000 must be 100, whatever the doubles say. */
        most.lost = (uint64_t)(how->budget * n * (1 + 1e-12));
        break;
    case TEPAL_RETOUCH_LIMIT_COUNT:
        most.lost = how->budget < n ? (uint64_t)how->budget : (uint64_t)n;
        break;
    case TEPAL_RETOUCH_LIMIT_WEIGHT:
        most.weight = how->budget;
        break;
    }
    return most;
}

/* ---- one run --------------------------------------------------------------------------------- */

/* Everything up to the decisions: lost members and cleared bits. */
static enum tepal_status decide(struct retouch *run)
{
    uint64_t positions[TEPAL_MAX_HASHES];
    size_t words = run->from->head.word_count;
    run->touched = tepal_arena_take(&run->arena, words, 8);
    if (run->touched == NULL) {
        return TEPAL_NO_MEMORY;
    }
    for (uint32_t f = 0; f < run->false_count; f++) {
        uint32_t k = tepal_address_positions(&run->from->at, retouch_false(run, f), positions);
        for (uint32_t i = 0; i < k; i++) {
            bits_set(run->touched, positions[i]);
        }
    }
    if (run->how->method == TEPAL_RETOUCH_RANDOM_BITS) {
        tepal_retouch_choose_bits(run);
    }
    enum tepal_status status = tepal_retouch_index(run);
    status = status == TEPAL_OK ? work_phase(&run->work, 0.9) : status;
    if (status != TEPAL_OK) {
        return status;
    }
    tepal_retouch_note(run);
    return run->how->method == TEPAL_RETOUCH_SACRIFICE ? tepal_retouch_sacrifice(run)
                                                       : tepal_retouch_clear(run);
}

/* From the input to the new filter and the report; what the choices were made from goes early. */
static enum tepal_status retouch(struct retouch *run, struct tepal_filter **out,
                                 struct tepal_error *error)
{
    struct tepal_filter *made = NULL;
    enum tepal_status status = work_phase(&run->work, 0.2);
    if (status == TEPAL_OK) {
        status = tepal_retouch_find(run, error);
    }
    struct arena_piece *last = run->arena.last;
    if (status == TEPAL_OK) {
        status = work_phase(&run->work, 0.4);
    }
    if (status == TEPAL_OK) {
        status = decide(run);
    }
    if (status == TEPAL_OK) {
        status = run->work.stopped ? TEPAL_STOPPED : work_phase(&run->work, 1);
    }
    if (status == TEPAL_OK) {
        status = tepal_retouch_make(run, &made);
    }
    if (status == TEPAL_OK) {
        tepal_arena_release(&run->arena, last);
        status = tepal_retouch_compare(run, made);
    }
    if (status != TEPAL_OK) {
        tepal_filter_free(made);
        return status;
    }
    *out = made;
    return TEPAL_OK;
}

/* `run` has its Bloom filter, input, options and perhaps a curve; all have been checked. */
static enum tepal_status run_on(struct retouch *run, const struct tepal_allocator *allocator,
                                struct tepal_filter **out, uint64_t *victims,
                                struct tepal_error *error)
{
    run->arena = tepal_arena_open(allocator);
    run->limits = limits_of(run->how, run->in->member_count);
    enum tepal_status status = retouch(run, out, error);
    if (status == TEPAL_OK && victims != NULL && !run->blind) {
        memcpy(victims, run->lost, (run->in->member_count + 63) / 64 * 8);
    }
    tepal_arena_release(&run->arena, NULL);
    bool told = status == TEPAL_MISMATCH || status == TEPAL_BAD_ARGUMENT;
    return told ? status : refuse_if(error, status);
}

/*
 * The same for any filter whose bits are cleared. A counting filter becomes the Bloom filter of its
 * bits first; its counters say how many members each has.
 */
static enum tepal_status clear_bits(const struct tepal_filter *filter, struct retouch *run,
                                    const struct tepal_allocator *allocator,
                                    struct tepal_filter **out, uint64_t *victims,
                                    struct tepal_error *error)
{
    struct tepal_filter *bloom = NULL;
    run->blind = is_blind(filter, run->in);
    if (counting_is(filter)) {
        enum tepal_status status = tepal_counting_to_bloom(filter, allocator, &bloom, error);
        if (status != TEPAL_OK) {
            return status;
        }
        run->counters = run->blind && counting_counts(filter) ? filter : NULL;
    }
    run->from = (const struct tepal_bloom *)(bloom != NULL ? bloom : filter);
    enum tepal_status status = run_on(run, allocator, out, victims, error);
    tepal_filter_free(bloom);
    return status;
}

/* ---- the public calls ------------------------------------------------------------------------ */

enum tepal_status tepal_retouch(const struct tepal_filter *filter, const struct tepal_known *known,
                                const struct tepal_retouch_options *options,
                                const struct tepal_allocator *allocator, struct tepal_filter **out,
                                struct tepal_retouch_report *report, uint64_t *victims,
                                struct tepal_error *error)
{
    struct tepal_retouch_options how = *options;
    enum tepal_status status = check(filter, known, &how, error);
    if (status != TEPAL_OK) {
        return status;
    }
    if (filter->params.kind == TEPAL_KIND_GENERALIZED) {
        struct known_limits limits = limits_of(&how, known->member_count);
        struct work work = work_open(how.progress);
        (void)work_phase(&work, 1);
        return tepal_generalized_retouch(filter, known, how.method, limits, &work, allocator, out,
                                         report, victims, error);
    }
    struct retouch run = {.in = known, .how = &how, .work = work_open(how.progress)};
    status = clear_bits(filter, &run, allocator, out, victims, error);
    if (status == TEPAL_OK && report != NULL) {
        *report = run.report;
    }
    return status;
}

enum tepal_status tepal_retouch_curve(const struct tepal_filter *filter,
                                      const struct tepal_known *known,
                                      const struct tepal_retouch_options *options,
                                      const struct tepal_allocator *allocator,
                                      struct tepal_retouch_point *points, size_t room,
                                      size_t *count, struct tepal_retouch_report *report,
                                      struct tepal_error *error)
{
    if (room < 2) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "a curve has at least two points");
    }
    struct tepal_retouch_options how = *options;
    enum tepal_status status = check(filter, known, &how, error);
    if (status != TEPAL_OK) {
        return status;
    }
    if (filter->params.kind == TEPAL_KIND_GENERALIZED) {
        struct known_limits limits = limits_of(&how, known->member_count);
        struct work work = work_open(how.progress);
        return tepal_generalized_curve(filter, known, how.method, limits, &work, allocator, points,
                                       room, count, report, error);
    }
    struct retouch_curve curve = {.points = points, .room = room, .stride = 1};
    struct retouch run = {
        .in = known, .how = &how, .curve = &curve, .work = work_open(how.progress)};
    struct tepal_filter *made;
    status = clear_bits(filter, &run, allocator, &made, NULL, error);
    if (status != TEPAL_OK) {
        return status;
    }
    tepal_filter_free(made);
    *count = tepal_retouch_curve_end(&curve, &run.report);
    if (report != NULL) {
        *report = run.report;
    }
    return TEPAL_OK;
}
