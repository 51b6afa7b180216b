/*
 * build.c: the public build of a yes-no filter, and all that the methods share.
 *
 *     members --add--> yes-filter
 *     avoid   --ask--> false positives F | members (reported, not vetoed) | not found
 *                            |
 *                     index (veto.c) --> method --> homes of F --> spend the tolerance
 *                                                              |
 *                                             no-filters --ask again--> report
 *
 * A seed search does all of this for one salt after the other and keeps the filter that leaves the
 * least weight. The report counts by asking the filter, not by adding up what the methods believe.
 */
#include "filter/yesno/internal.h"

#include <string.h>

#include "base/checked.h"
#include "base/names.h"
#include "base/refuse.h"
#include "filter/known/digest_set.h"
#include "filter/known/known.h"

/* ---- names ----------------------------------------------------------------------------------- */

static const char *const names[TEPAL_YESNO_METHODS] = {"greedy", "nextfit",      "bestfit",
                                                       "pairs",  "local-search", "exact"};

static const struct names methods = NAMES(names, "");

const char *tepal_yesno_method_name(enum tepal_yesno_method method)
{
    return names_at(methods, method);
}

bool tepal_yesno_method_parse(const char *name, enum tepal_yesno_method *out)
{
    unsigned value;
    bool known = names_find(methods, name, &value);
    *out = known ? (enum tepal_yesno_method)value : *out;
    return known;
}

/* ---- what is refused ------------------------------------------------------------------------- */

enum tepal_status tepal_yesno_check(const struct tepal_known *in,
                                    const struct tepal_yesno_options *how,
                                    struct tepal_error *error)
{
    if ((unsigned)how->method >= TEPAL_YESNO_METHODS) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "unknown method");
    }
    if (in->member_count == 0) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "there are no members");
    }
    if (!(how->false_negative_weight >= 0)) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "the weight of members to lose is negative");
    }
    if (how->false_negative_weight > 0 &&
        !tepal_known_weights_valid(in->member_weights, in->member_count)) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "the weight of a member is negative or not finite");
    }
    return tepal_known_check(in, error);
}

static enum tepal_status check(const struct tepal_params *params, const struct tepal_known *in,
                               const struct tepal_yesno_options *how, struct tepal_error *error)
{
    if (params->kind != TEPAL_KIND_YESNO) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "the parameters are not those of a yes-no filter");
    }
    enum tepal_status status = tepal_yesno_check(in, how, error);
    return status == TEPAL_OK ? tepal_params_check(params, error) : status;
}

/* ---- when it ends ---------------------------------------------------------------------------- */

/*
 * Where no-filters are tiny, every bit is one of thousands of members, and a single step looks at
 * them all. In instances of any use a step looks at some hundred entries: this is more.
 */
#define STEP_WORK 1024

/* The caller is asked after so many steps, or the work of so many. */
#define ASK_STEPS 1024

void tepal_yesno_limit(struct yesno_run *run, uint64_t steps)
{
    uint64_t work;
    if (!checked_mul(steps, STEP_WORK, &work)) {
        work = UINT64_MAX;
    }
    run->from_steps = run->steps;
    run->most_steps = saturating_add(run->steps, steps);
    run->most_work = saturating_add(run->work, work);
}

/* Of the steps that the search may take; one without a limit is over soon. */
static double share_of(const struct yesno_run *run)
{
    return (double)(run->steps - run->from_steps) / (double)(run->most_steps - run->from_steps);
}

bool tepal_yesno_stopped(struct yesno_run *run)
{
    if (!run->ended && (run->steps - run->asked_steps >= ASK_STEPS ||
                        run->work - run->asked_work >= (uint64_t)ASK_STEPS * STEP_WORK)) {
        run->asked_steps = run->steps;
        run->asked_work = run->work;
        run->ended = !work_done(run->told, share_of(run)) ||
                     (run->how->enough != NULL && run->how->enough(run->how->ctx));
    }
    return run->ended || run->work >= run->most_work;
}

bool tepal_yesno_ended(struct yesno_run *run)
{
    return run->steps >= run->most_steps || tepal_yesno_stopped(run);
}

/* ---- the false positives --------------------------------------------------------------------- */

#define AHEAD 32 /* known negatives that are requested */

/* Those of `found`, with their weights. */
static void gather(struct yesno_run *run, const uint64_t *found, uint32_t *index)
{
    const struct tepal_known *in = run->in;
    for (size_t w = 0; w < (in->avoid_count + 63) / 64; w++) {
        for (uint64_t word = found[w]; word != 0; word &= word - 1) {
            index[run->falses++] = (uint32_t)(64 * w + (size_t)__builtin_ctzll(word));
        }
    }
    for (uint32_t f = 0; f < run->falses; f++) {
        if (f + AHEAD < run->falses) {
            __builtin_prefetch(&in->avoid[index[f + AHEAD]]);
        }
        run->key[f] = in->avoid[index[f]];
        run->weight[f] = known_weight_of(in->avoid_weights, index[f]);
    }
}

/* F: the `count` keys of `found` that are not members. */
static enum tepal_status list_falses(struct yesno_run *run, const uint64_t *found, uint64_t count,
                                     struct tepal_known_report *report)
{
    run->key = tepal_arena_raw(&run->arena, count, sizeof *run->key);
    run->weight = tepal_arena_raw(&run->arena, count, sizeof *run->weight);
    run->home = tepal_arena_raw(&run->arena, count, sizeof *run->home);
    struct arena_piece *last = run->arena.last;
    uint32_t *index = tepal_arena_raw(&run->arena, count, sizeof *index);
    uint64_t *members = tepal_arena_bitmap(&run->arena, count);
    if (run->key == NULL || run->weight == NULL || run->home == NULL || index == NULL ||
        members == NULL) {
        return TEPAL_NO_MEMORY;
    }
    gather(run, found, index);
    struct digest_set set;
    if (!tepal_digest_set_make(&run->arena, run->key, run->falses, NULL, &set)) {
        return TEPAL_NO_MEMORY;
    }
    report->avoid_members =
        tepal_digest_set_meet(&set, run->in->members, run->in->member_count, members);
    run->falses = 0;
    for (uint32_t f = 0; f < count; f++) {
        run->key[run->falses] = run->key[f];
        run->weight[run->falses] = run->weight[f];
        run->falses += !bits_test(members, f);
    }
    memset(run->home, YESNO_HOMELESS, run->falses);
    tepal_arena_release(&run->arena, last);
    return TEPAL_OK;
}

/* ---- deciding -------------------------------------------------------------------------------- */

static enum tepal_status distribute(struct yesno_run *run)
{
    switch (run->how->method) {
    case TEPAL_YESNO_GREEDY:
        tepal_yesno_first_fit(run);
        return TEPAL_OK;
    case TEPAL_YESNO_NEXTFIT:
        tepal_yesno_next_fit(run);
        return TEPAL_OK;
    case TEPAL_YESNO_BESTFIT:
        tepal_yesno_best_fit(run);
        return TEPAL_OK;
    case TEPAL_YESNO_PAIRS:
        return tepal_yesno_pairs(run);
    case TEPAL_YESNO_LOCAL_SEARCH:
        return tepal_yesno_local_search(run);
    case TEPAL_YESNO_EXACT:
        return tepal_yesno_exact(run);
    }
    return TEPAL_BAD_ARGUMENT;
}

void tepal_yesno_write(const struct yesno_run *run, struct tepal_yesno *filter)
{
    for (uint32_t f = 0; f < run->falses; f++) {
        uint32_t j = run->home[f];
        if (j == YESNO_HOMELESS) {
            continue;
        }
        const struct yesno_bits has = run->veto[j].family->has;
        const uint32_t *end = yesno_bits_end(has, f);
        for (const uint32_t *bit = yesno_bits_of(has, f); bit < end; bit++) {
            bits_set(filter->head.words, run->veto[j].first + *bit);
        }
    }
}

enum tepal_status tepal_yesno_decide(struct yesno_run *run, const uint64_t *found, uint64_t count,
                                     struct tepal_known_report *report)
{
    enum tepal_status status = list_falses(run, found, count, report);
    if (status != TEPAL_OK || run->filter->filters == 0) {
        return status;
    }
    status = tepal_yesno_index(run);
    if (status == TEPAL_OK) {
        status = work_phase(run->told, run->until);
    }
    if (status == TEPAL_OK) {
        status = distribute(run);
    }
    if (status == TEPAL_OK && tepal_yesno_tolerates(run->how)) {
        status = tepal_yesno_spend(run);
    }
    return run->told->stopped ? TEPAL_STOPPED : status;
}

/* ---- the report ------------------------------------------------------------------------------ */

uint64_t *tepal_yesno_answers(struct yesno_run *run)
{
    return tepal_arena_bitmap(&run->arena, run->in->member_count);
}

/* Known negatives that are asked for at a time. */
#define ASKED 1024

/* Only F can still be found: what the yes-filter refuses, and members, need not be asked again. */
static void count_left(const struct yesno_run *run, struct tepal_known_report *report)
{
    uint64_t answers[ASKED / 64];
    for (uint32_t first = 0; first < run->falses; first += ASKED) {
        uint32_t count = run->falses - first < ASKED ? run->falses - first : ASKED;
        report->avoid_left +=
            tepal_filter_query_many(&run->filter->head, run->key + first, count, answers);
        for (uint32_t f = 0; f < count; f++) {
            report->positive_weight += run->weight[first + f];
            report->weight_left += bits_test(answers, f) ? run->weight[first + f] : 0;
        }
    }
}

void tepal_yesno_compare(const struct yesno_run *run, uint64_t *answers,
                         struct tepal_known_report *report)
{
    const struct tepal_known *in = run->in;
    report->members = in->member_count;
    report->avoid_given = in->avoid_count;
    report->avoid_positive = run->falses;
    report->avoid_weight = tepal_known_avoid_weight(in);
    report->false_negatives =
        in->member_count -
        tepal_filter_query_many(&run->filter->head, in->members, in->member_count, answers);
    if (in->member_weights == NULL) {
        report->members_weight = (double)in->member_count;
        report->weight_lost = (double)report->false_negatives;
    }
    for (size_t i = 0; in->member_weights != NULL && i < in->member_count; i++) {
        report->members_weight += in->member_weights[i];
        report->weight_lost += bits_test(answers, i) ? 0 : in->member_weights[i];
    }
    count_left(run, report);
    report->salt = run->filter->salt;
    report->steps = run->steps;
    /* the proof is of what can be left without giving up a member */
    report->proved_optimal =
        report->weight_left == 0 || (run->proved && !tepal_yesno_tolerates(run->how));
}

static void keep_state(struct tepal_filter *made, const struct tepal_known_report *report)
{
    uint64_t *own = made->state.own;
    own[YESNO_MEMBERS] = report->members;
    own[YESNO_AVOID] = report->avoid_given - report->avoid_members;
    own[YESNO_POSITIVE] = report->avoid_positive;
    own[YESNO_LEFT] = report->avoid_left;
    own[YESNO_LOST] = report->false_negatives;
}

/* ---- the build ------------------------------------------------------------------------------- */

static enum tepal_status fill(struct yesno_run *run, struct tepal_filter *made,
                              struct tepal_known_report *report)
{
    const struct tepal_known *in = run->in;
    run->filter = (const struct tepal_yesno *)made;
    enum tepal_status status = tepal_filter_add_many(made, in->members, in->member_count);
    uint64_t *found = tepal_arena_bitmap(&run->arena, in->avoid_count);
    if (status != TEPAL_OK || found == NULL) {
        return status != TEPAL_OK ? status : TEPAL_NO_MEMORY;
    }
    uint64_t count = tepal_yesno_query_yes_many(run->filter, in->avoid, in->avoid_count, found);
    status = tepal_yesno_decide(run, found, count, report);
    uint64_t *answers = tepal_yesno_answers(run);
    if (status != TEPAL_OK || answers == NULL) {
        return status != TEPAL_OK ? status : TEPAL_NO_MEMORY;
    }
    tepal_yesno_write(run, (struct tepal_yesno *)made);
    tepal_yesno_compare(run, answers, report);
    return TEPAL_OK;
}

/* The filter for one salt. */
static enum tepal_status build_one(const struct tepal_params *params,
                                   const struct tepal_known *known,
                                   const struct tepal_yesno_options *options, struct work *work,
                                   double until, const struct tepal_allocator *allocator,
                                   struct tepal_filter **out, struct tepal_known_report *report,
                                   struct tepal_error *error)
{
    struct tepal_filter *made;
    enum tepal_status status = tepal_filter_create(params, allocator, &made, error);
    if (status != TEPAL_OK) {
        return status;
    }
    struct yesno_run run = {.in = known,
                            .how = options,
                            .told = work,
                            .until = until,
                            .arena = tepal_arena_open(allocator)};
    tepal_yesno_limit(&run, YESNO_UNLIMITED);
    *report = (struct tepal_known_report){0};
    status = fill(&run, made, report);
    tepal_arena_release(&run.arena, NULL);
    if (status != TEPAL_OK) {
        tepal_filter_free(made);
        return refuse_if(error, status);
    }
    keep_state(made, report);
    *out = made;
    return TEPAL_OK;
}

static bool better(const struct tepal_known_report *a, const struct tepal_known_report *b)
{
    return a->weight_left < b->weight_left ||
           (a->weight_left == b->weight_left && a->false_negatives < b->false_negatives);
}

/* Is there no use in another salt, or has the caller had enough? */
static bool settled(const struct tepal_known_report *best,
                    const struct tepal_yesno_options *options)
{
    return (best->weight_left <= options->weight_left && best->false_negatives == 0) ||
           (options->enough != NULL && options->enough(options->ctx));
}

enum tepal_status tepal_yesno_build(const struct tepal_params *params,
                                    const struct tepal_known *known,
                                    const struct tepal_yesno_options *options,
                                    const struct tepal_allocator *allocator,
                                    struct tepal_filter **out, struct tepal_known_report *report,
                                    struct tepal_error *error)
{
    enum tepal_status status = check(params, known, options, error);
    if (status != TEPAL_OK) {
        return status;
    }
    struct tepal_filter *best = NULL;
    struct tepal_known_report best_report = {0};
    struct tepal_params salted = *params;
    uint64_t steps = 0;
    uint32_t salts = options->salts == 0 ? 1 : options->salts;
    struct work work = work_open(options->progress);
    for (uint32_t i = 0; i < salts; i++) {
        struct tepal_filter *made;
        struct tepal_known_report here;
        salted.yesno.salt = params->yesno.salt + i;
        if (i > 0 &&
            (settled(&best_report, options) || tepal_params_check(&salted, NULL) != TEPAL_OK)) {
            break; /* after the last salt the best so far it is */
        }
        status = refuse_if(error, work_phase(&work, (i + YESNO_FILLED) / salts));
        if (status == TEPAL_OK) {
            status = build_one(&salted, known, options, &work, (i + YESNO_SEARCHED) / salts,
                               allocator, &made, &here, error);
        }
        if (status != TEPAL_OK) {
            tepal_filter_free(best);
            return status;
        }
        steps += here.steps;
        if (best == NULL || better(&here, &best_report)) {
            tepal_filter_free(best);
            best = made;
            best_report = here;
        } else {
            tepal_filter_free(made);
        }
    }
    best_report.steps = steps;
    if (report != NULL) {
        *report = best_report;
    }
    *out = best;
    return TEPAL_OK;
}
