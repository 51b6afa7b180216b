/*
 * retouch.c: the public calls of retouching: which method there is, what is refused, and the order
 * of a run.
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
#include "filter/known/known.h"

/* ---- names ----------------------------------------------------------------------------------- */

static const char *const names[TEPAL_RETOUCH_METHODS] = {
    "random-bits",     "random",          "min-fn",         "max-fp",   "ratio",
    "improved-min-fn", "improved-max-fp", "improved-ratio", "sacrifice"};

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

/* ---- input and budget, of any kind of filter ------------------------------------------------- */

enum tepal_status tepal_retouch_check_input(const struct tepal_retouch_input *in,
                                            enum tepal_retouch_limit limit, double budget,
                                            const char **why)
{
    if (in->member_count > KNOWN_MOST_KEYS || in->avoid_count > KNOWN_MOST_KEYS ||
        in->known_count > KNOWN_MOST_KEYS) {
        return refuse(why, TEPAL_TOO_LARGE, "more than 2^31 keys");
    }
    if (limit == TEPAL_RETOUCH_LIMIT_SHARE && !(budget >= 0 && budget <= 1)) {
        return refuse(why, TEPAL_BAD_ARGUMENT, "the budget is a share outside 0..1");
    }
    if (limit != TEPAL_RETOUCH_LIMIT_ALL && !(budget >= 0)) {
        return refuse(why, TEPAL_BAD_ARGUMENT, "the budget is negative or not a number");
    }
    if (!tepal_known_weights_valid(in->member_weights, in->member_count)) {
        return refuse(why, TEPAL_BAD_ARGUMENT, "a member's weight is negative or not finite");
    }
    if (!tepal_known_weights_valid(in->avoid_weights, in->avoid_count)) {
        return refuse(why, TEPAL_BAD_ARGUMENT,
                      "a troublesome key's weight is negative or not finite");
    }
    return TEPAL_OK;
}

/* All members may be given up, or a share of them, or so many, or so much of their weight. */
struct retouch_limits tepal_retouch_limits(enum tepal_retouch_limit limit, double budget,
                                           size_t members)
{
    struct retouch_limits most = {UINT64_MAX, HUGE_VAL};
    double n = (double)members;
    switch (limit) {
    case TEPAL_RETOUCH_LIMIT_ALL:
        break;
    case TEPAL_RETOUCH_LIMIT_SHARE:
        /* 0.01 * 10000 must be 100, whatever the doubles say. */
        most.lost = (uint64_t)(budget * n * (1 + 1e-12));
        break;
    case TEPAL_RETOUCH_LIMIT_COUNT:
        most.lost = budget < n ? (uint64_t)budget : (uint64_t)n;
        break;
    case TEPAL_RETOUCH_LIMIT_WEIGHT:
        most.weight = budget;
        break;
    }
    return most;
}

/* ---- one run --------------------------------------------------------------------------------- */

static enum tepal_status check(const struct retouch *run, const char **why)
{
    const struct filter_ops *kind = run->from->head.ops;
    const struct tepal_retouch_input *in = run->in;
    const struct tepal_retouch_options *how = run->how;
    if (kind != &tepal_bloom_ops && kind != &tepal_retouched_ops) {
        return refuse(
            why, TEPAL_UNSUPPORTED,
            "filters of this kind cannot be retouched: it must be bloom, retouched or generalized");
    }
    if ((unsigned)how->method >= TEPAL_RETOUCH_METHODS ||
        (unsigned)how->limit > TEPAL_RETOUCH_LIMIT_WEIGHT ||
        (unsigned)how->basis > TEPAL_RETOUCH_BASIS_ALL ||
        (unsigned)how->order > TEPAL_RETOUCH_ORDER_WEIGHT) {
        return refuse(why, TEPAL_BAD_ARGUMENT, "there is no such method, limit, basis or order");
    }
    if (in->member_count == 0) {
        return refuse(why, TEPAL_BAD_ARGUMENT, "there are no members");
    }
    if (how->basis == TEPAL_RETOUCH_BASIS_ALL && in->known == NULL) {
        return refuse(why, TEPAL_BAD_ARGUMENT,
                      "counting over all false positives needs all known ones");
    }
    return tepal_retouch_check_input(in, how->limit, how->budget, why);
}

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
    if (status != TEPAL_OK) {
        return status;
    }
    tepal_retouch_note(run);
    return run->how->method == TEPAL_RETOUCH_SACRIFICE ? tepal_retouch_sacrifice(run)
                                                       : tepal_retouch_clear(run);
}

/* From the input to the new filter and the report; what the choices were made from goes early. */
static enum tepal_status retouch(struct retouch *run, struct tepal_filter **out, const char **why)
{
    struct tepal_filter *made = NULL;
    enum tepal_status status = tepal_retouch_find(run, why);
    struct arena_piece *last = run->arena.last;
    if (status == TEPAL_OK) {
        status = decide(run);
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

/* `run` has its filter, input, options and perhaps a curve. */
static enum tepal_status start(struct retouch *run, const struct tepal_allocator *allocator,
                               struct tepal_filter **out, uint64_t *victims, const char **why)
{
    enum tepal_status status = check(run, why);
    if (status != TEPAL_OK) {
        return status;
    }
    run->arena = tepal_arena_open(allocator);
    run->limits = tepal_retouch_limits(run->how->limit, run->how->budget, run->in->member_count);
    status = retouch(run, out, why);
    if (status == TEPAL_OK && victims != NULL) {
        memcpy(victims, run->lost, (run->in->member_count + 63) / 64 * 8);
    }
    tepal_arena_release(&run->arena, NULL);
    if (status == TEPAL_NO_MEMORY || status == TEPAL_TOO_LARGE) {
        (void)refuse(why, status, tepal_status_message(status));
    }
    return status;
}

/* ---- the public calls ------------------------------------------------------------------------ */

enum tepal_status tepal_retouch(const struct tepal_filter *filter,
                                const struct tepal_retouch_input *input,
                                const struct tepal_retouch_options *options,
                                const struct tepal_allocator *allocator, struct tepal_filter **out,
                                struct tepal_retouch_report *report, uint64_t *victims,
                                const char **why)
{
    struct retouch run = {.from = (const struct tepal_bloom *)filter, .in = input, .how = options};
    enum tepal_status status = start(&run, allocator, out, victims, why);
    if (status == TEPAL_OK && report != NULL) {
        *report = run.report;
    }
    return status;
}

enum tepal_status tepal_retouch_curve(const struct tepal_filter *filter,
                                      const struct tepal_retouch_input *input,
                                      const struct tepal_retouch_options *options,
                                      const struct tepal_allocator *allocator,
                                      struct tepal_retouch_point *points, size_t capacity,
                                      size_t *count, struct tepal_retouch_report *report,
                                      const char **why)
{
    if (capacity < 2) {
        return refuse(why, TEPAL_BAD_ARGUMENT, "a curve has at least two points");
    }
    struct retouch_curve curve = {.points = points, .capacity = capacity, .stride = 1};
    struct retouch run = {
        .from = (const struct tepal_bloom *)filter, .in = input, .how = options, .curve = &curve};
    struct tepal_filter *made;
    enum tepal_status status = start(&run, allocator, &made, NULL, why);
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
