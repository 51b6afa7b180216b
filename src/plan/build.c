/*
 * build.c: from a plan to its filter; the one file here that makes filters.
 *
 *     bloom, generalized, counting, fingerprint, recycling   the empty filter, all members added
 *     retouched   the Bloom filter of the members; then max_fn of them are given up
 *     yesno       a veto on the known negatives, with the plan's division of the bits
 *     cascade     levels as the keys ask for them, in most_bits or from the first rate on
 *
 * Everything is checked before anything is made. The kinds that attend to known negatives report by
 * asking their filter again; for the others that is done here.
 */
#include <math.h>

#include <tepal/cascade.h>
#include <tepal/plan.h>
#include <tepal/retouched.h>
#include <tepal/yesno.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/refuse.h"
#include "filter/kind.h"
#include "filter/known/known.h"

/* ---- what is refused ------------------------------------------------------------------------- */

/* Failed, by a call that says no more than its status. */
static enum tepal_status passed_on(const char **why, enum tepal_status status)
{
    return status == TEPAL_OK ? status : refuse(why, status, tepal_status_message(status));
}

bool tepal_plan_streams(const struct tepal_proposal *plan)
{
    return plan->kind != TEPAL_KIND_RETOUCHED && plan->kind != TEPAL_KIND_YESNO &&
           plan->kind != TEPAL_KIND_CASCADE;
}

static bool is_rate(double x)
{
    return x > 0 && x < 1;
}

/* Of a cascade's first level. */
static double first_rate(const struct tepal_params *p)
{
    return tepal_bloom_fp(p->layout, p->positions, p->cells, p->capacity, p->hashes);
}

enum tepal_status tepal_plan_check(const struct tepal_proposal *plan, const char **why)
{
    const char *unheard = "";
    why = why == NULL ? &unheard : why;
    if (!plan->feasible) {
        return refuse(why, TEPAL_BAD_ARGUMENT, "the plan is not feasible");
    }
    if (plan->kind != plan->params.kind) {
        return refuse(why, TEPAL_BAD_ARGUMENT, "the plan's parameters are those of another kind");
    }
    if (plan->kind == TEPAL_KIND_RETOUCHED && !is_rate(plan->max_fn)) {
        return refuse(why, TEPAL_BAD_ARGUMENT,
                      "a retouched plan gives up a share of the members above 0 and below 1");
    }
    enum tepal_status status = tepal_params_check(&plan->params, why);
    if (status == TEPAL_OK && plan->kind == TEPAL_KIND_CASCADE && plan->most_bits == 0 &&
        !is_rate(first_rate(&plan->params))) {
        return refuse(why, TEPAL_BAD_ARGUMENT,
                      "a cascade's plan has bits, or a first level's rate above 0 and below 1");
    }
    return status;
}

static enum tepal_status check_input(const struct tepal_proposal *plan,
                                     const struct tepal_plan_input *in, const char **why)
{
    if (!tepal_plan_streams(plan) && in->avoid_count == 0) {
        return refuse(why, TEPAL_BAD_ARGUMENT,
                      "the plan needs known negatives, and there are none");
    }
    if (plan->weighted && in->avoid_weights == NULL) {
        return refuse(why, TEPAL_BAD_ARGUMENT,
                      "the plan goes by the weights of the known negatives, and there are none");
    }
    if (!tepal_known_weights_valid(in->avoid_weights, in->avoid_count)) {
        return refuse(why, TEPAL_BAD_ARGUMENT,
                      "a known negative's weight is negative or not finite");
    }
    return TEPAL_OK;
}

/* ---- the kinds ------------------------------------------------------------------------------- */

struct build {
    const struct tepal_proposal *plan;
    const struct tepal_plan_input *in;
    const struct tepal_allocator *allocator;
    struct tepal_params params; /* the plan's, with seed and hash */
    struct tepal_filter *filter;
    struct tepal_plan_report report;
    const char *why;
};

static struct tepal_params params_of(const struct tepal_proposal *plan, uint64_t seed,
                                     const uint8_t *key)
{
    struct tepal_params p = plan->params;
    p.seed = seed;
    p.hash = key == NULL ? TEPAL_HASH_XXH3 : TEPAL_HASH_SIPHASH;
    p.key_check = 0;
    return p;
}

/* An empty filter, with its key. */
static enum tepal_status create(const struct tepal_params *params, const uint8_t *key,
                                const struct tepal_allocator *allocator, struct tepal_filter **out)
{
    enum tepal_status status = tepal_filter_create(params, allocator, out, NULL);
    return status != TEPAL_OK || key == NULL ? status : tepal_filter_set_key(*out, key);
}

static enum tepal_status fill(struct build *b, const struct tepal_params *params,
                              struct tepal_filter **out)
{
    enum tepal_status status = create(params, b->in->key, b->allocator, out);
    if (status == TEPAL_OK) {
        status = tepal_filter_add_many(*out, b->in->members, b->in->member_count);
    }
    return passed_on(&b->why, status);
}

static enum tepal_status retouch(struct build *b)
{
    const struct tepal_plan_input *in = b->in;
    struct tepal_retouch_input input = {.members = in->members,
                                        .member_count = in->member_count,
                                        .avoid = in->avoid,
                                        .avoid_count = in->avoid_count,
                                        .avoid_weights = in->avoid_weights};
    struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    struct tepal_retouch_report r;
    struct tepal_params plain = b->params;
    struct tepal_filter *before = NULL;
    options.limit = TEPAL_RETOUCH_LIMIT_SHARE;
    options.budget = b->plan->max_fn;
    plain.kind = TEPAL_KIND_BLOOM;
    enum tepal_status status = fill(b, &plain, &before);
    if (status == TEPAL_OK) {
        before->state.keys_added = saturating_add(before->state.keys_added, in->repeats);
        status =
            tepal_retouch(before, &input, &options, b->allocator, &b->filter, &r, NULL, &b->why);
    }
    tepal_filter_free(before);
    if (status == TEPAL_OK) {
        b->report.avoid_members = r.avoid_members;
        b->report.avoid_positive = r.avoid_positive;
        b->report.avoid_left = r.avoid_left;
        b->report.false_negatives = r.false_negatives;
        b->report.positive_weight = r.avoid_weight;
        b->report.weight_left = r.avoid_left == 0 ? 0 : r.avoid_weight - r.removed_weight;
    }
    return status;
}

static enum tepal_status veto(struct build *b)
{
    struct tepal_yesno_input input = {.members = b->in->members,
                                      .member_count = b->in->member_count,
                                      .avoid = b->in->avoid,
                                      .avoid_count = b->in->avoid_count,
                                      .avoid_weights = b->in->avoid_weights};
    struct tepal_yesno_options options = TEPAL_YESNO_OPTIONS_INIT;
    struct tepal_yesno_report r;
    b->params.capacity = b->in->member_count;
    enum tepal_status status =
        tepal_yesno_build(&b->params, &input, &options, b->allocator, &b->filter, &r, &b->why);
    if (status == TEPAL_OK) {
        b->report.avoid_members = r.avoid_members;
        b->report.avoid_positive = r.avoid_positive;
        b->report.avoid_left = r.avoid_left;
        b->report.false_negatives = r.false_negatives;
        b->report.positive_weight = r.positive_weight;
        b->report.weight_left = r.weight_left;
        b->report.steps = r.steps;
        b->report.proved_optimal = r.proved_optimal;
    }
    return status;
}

static enum tepal_status cascade(struct build *b)
{
    struct tepal_cascade_input input = {.members = b->in->members,
                                        .member_count = b->in->member_count,
                                        .avoid = b->in->avoid,
                                        .avoid_count = b->in->avoid_count};
    struct tepal_cascade_options options = {
        .bits = b->plan->most_bits,
        .fp = b->plan->most_bits > 0 ? 0 : first_rate(&b->plan->params)};
    struct tepal_cascade_report r;
    b->params.capacity = b->in->member_count;
    b->params.cells = 0; /* what follows from the keys, the first level's own included */
    b->params.hashes = 0;
    enum tepal_status status =
        tepal_cascade_build(&b->params, &input, &options, b->allocator, &b->filter, &r, &b->why);
    if (status == TEPAL_OK) {
        b->report.avoid_members = r.avoid_members;
        b->report.avoid_positive = r.avoid_positive;
        b->report.avoid_left = r.avoid_left;
        b->report.false_negatives = r.false_negatives;
        b->report.positive_weight = b->in->avoid_weights == NULL ? (double)r.avoid_positive : NAN;
        b->report.levels = r.levels; /* nothing is left, so no weight is */
    }
    return status;
}

/* ---- the report ------------------------------------------------------------------------------ */

static double weight_of(const struct tepal_plan_input *in, size_t i)
{
    return in->avoid_weights == NULL ? 1 : in->avoid_weights[i];
}

/* Of kinds that only add: which members are not found, and which known negatives are? */
static enum tepal_status ask(struct build *b)
{
    const struct tepal_plan_input *in = b->in;
    struct tepal_plan_report *r = &b->report;
    struct tepal_allocator allocator = tepal_alloc_choose(b->allocator);
    size_t most = in->member_count > in->avoid_count ? in->member_count : in->avoid_count;
    size_t bytes = (most / 64 + 1) * 8;
    uint64_t *found = tepal_alloc_zeroed(&allocator, bytes);
    if (found == NULL) {
        return passed_on(&b->why, TEPAL_NO_MEMORY);
    }
    r->false_negatives =
        in->member_count - tepal_filter_query_many(b->filter, in->members, in->member_count, found);
    (void)tepal_filter_query_many(b->filter, in->avoid, in->avoid_count, found);
    enum tepal_status status =
        tepal_known_pass_members(&allocator, in->members, in->member_count, in->avoid,
                                 in->avoid_count, found, &r->avoid_members);
    for (size_t i = 0; i < in->avoid_count; i++) {
        bool left = (found[i / 64] >> i % 64 & 1) != 0;
        r->avoid_left += left;
        r->weight_left += left ? weight_of(in, i) : 0;
    }
    r->avoid_positive = r->avoid_left;
    r->positive_weight = r->weight_left;
    tepal_alloc_release(&allocator, found, bytes);
    return passed_on(&b->why, status);
}

/* ---- the public calls ------------------------------------------------------------------------ */

static enum tepal_status make(struct build *b, bool counted)
{
    switch (b->plan->kind) {
    case TEPAL_KIND_RETOUCHED:
        return retouch(b);
    case TEPAL_KIND_YESNO:
        return veto(b);
    case TEPAL_KIND_CASCADE:
        return cascade(b);
    default:;
        enum tepal_status status = fill(b, &b->params, &b->filter);
        return status == TEPAL_OK && counted ? ask(b) : status;
    }
}

enum tepal_status tepal_plan_build(const struct tepal_proposal *plan,
                                   const struct tepal_plan_input *input,
                                   const struct tepal_allocator *allocator,
                                   struct tepal_filter **out, struct tepal_plan_report *report,
                                   const char **why)
{
    struct build b = {.plan = plan,
                      .in = input,
                      .allocator = allocator,
                      .params = params_of(plan, input->seed, input->key),
                      .report = {.members = input->member_count, .avoid_given = input->avoid_count},
                      .why = ""};
    for (size_t i = 0; i < input->avoid_count; i++) {
        b.report.avoid_weight += weight_of(input, i);
    }
    enum tepal_status status = tepal_plan_check(plan, &b.why);
    if (status == TEPAL_OK) {
        status = check_input(plan, input, &b.why);
    }
    if (status == TEPAL_OK) {
        status = make(&b, report != NULL);
    }
    if (status == TEPAL_OK && input->key != NULL) {
        status = passed_on(&b.why, tepal_filter_set_key(b.filter, input->key));
    }
    if (status != TEPAL_OK) {
        tepal_filter_free(b.filter);
        if (why != NULL) {
            *why = b.why;
        }
        return status;
    }
    if (report != NULL) {
        *report = b.report;
    }
    *out = b.filter;
    return TEPAL_OK;
}

enum tepal_status tepal_plan_begin(const struct tepal_proposal *plan, uint64_t seed,
                                   const uint8_t *key, const struct tepal_allocator *allocator,
                                   struct tepal_filter **out, const char **why)
{
    struct tepal_params params = params_of(plan, seed, key);
    const char *reason = "";
    enum tepal_status status = tepal_plan_check(plan, &reason);
    if (status == TEPAL_OK && !tepal_plan_streams(plan)) {
        status = refuse(&reason, TEPAL_UNSUPPORTED, "the plan needs all keys together");
    }
    if (status == TEPAL_OK) {
        status = passed_on(&reason, create(&params, key, allocator, out));
    }
    if (status != TEPAL_OK && why != NULL) {
        *why = reason;
    }
    return status;
}
