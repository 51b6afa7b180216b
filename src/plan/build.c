/*
 * build.c: from a plan to its filter; the one file here that makes filters.
 *
 *     bloom, generalized, counting, fingerprint, recycling   the empty filter, all members added
 *     bloom, counting   with max_fn, and then the budget of what it may lose to keys that it avoids
 *     retouched   the Bloom filter of the members; then max_fn of them are given up
 *     yesno       a veto on the known negatives, with the plan's division of the bits
 *     cascade     levels as the keys ask for them, in max_bits or from the first rate on
 *
 * Everything is checked before anything is made. The kinds that attend to known negatives report by
 * asking their filter again; for the others that is done here.
 */
#include <math.h>

#include <tepal/avoid.h>
#include <tepal/cascade.h>
#include <tepal/papers.h>
#include <tepal/plan.h>
#include <tepal/retouched.h>
#include <tepal/yesno.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/refuse.h"
#include "filter/kind.h"
#include "filter/known/known.h"

/* ---- what is refused ------------------------------------------------------------------------- */

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

enum tepal_status tepal_plan_check(const struct tepal_proposal *plan, struct tepal_error *error)
{
    if (!plan->feasible && !(plan->likely > 0)) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "the plan is not feasible");
    }
    if (plan->kind != plan->params.kind) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "the plan's parameters are those of another kind");
    }
    if (plan->kind == TEPAL_KIND_RETOUCHED && !is_rate(plan->max_fn)) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "a retouched plan needs a share of members to give up, above 0 and below 1");
    }
    if (!(plan->max_fn >= 0 && plan->max_fn < 1)) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "the share of members to give up must be at least 0 and below 1");
    }
    enum tepal_status status = tepal_params_check(&plan->params, error);
    if (status == TEPAL_OK && plan->kind == TEPAL_KIND_CASCADE && plan->max_bits == 0 &&
        !is_rate(first_rate(&plan->params))) {
        return refuse(
            error, TEPAL_BAD_ARGUMENT,
            "a cascade's plan needs bits, or a rate of the first level above 0 and below 1");
    }
    return status;
}

static enum tepal_status check_input(const struct tepal_proposal *plan,
                                     const struct tepal_plan_input *in, struct tepal_error *error)
{
    if (!tepal_plan_streams(plan) && in->known.avoid_count == 0) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "the plan needs known negatives, but none are given");
    }
    if (plan->weighted && in->known.avoid_weights == NULL) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "the plan uses weights of the known negatives, but none are given");
    }
    if (!tepal_known_weights_valid(in->known.avoid_weights, in->known.avoid_count)) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "a known negative's weight is negative or not finite");
    }
    return TEPAL_OK;
}

/* ---- the kinds ------------------------------------------------------------------------------- */

struct build {
    const struct tepal_proposal *plan;
    const struct tepal_plan_input *in;
    const struct tepal_allocator *allocator;
    struct tepal_params params;      /* the plan's, with seed and hash */
    const struct tepal_known *known; /* the input's */
    struct tepal_filter *filter;
    struct tepal_known_report report;
    struct tepal_error *error;
};

static struct tepal_params params_of(const struct tepal_proposal *plan, uint64_t seed,
                                     const uint8_t *key)
{
    struct tepal_params p = plan->params;
    p.seed = seed;
    if (key == NULL || p.hash == TEPAL_HASH_XXH3) { /* the plan names no keyed one */
        p.hash = key == NULL ? TEPAL_HASH_XXH3 : TEPAL_HASH_SIPHASH;
    }
    p.key_check = 0;
    return p;
}

/* An empty filter, with its key. */
static enum tepal_status create(const struct tepal_params *params, const uint8_t *key,
                                const struct tepal_allocator *allocator, struct tepal_filter **out,
                                struct tepal_error *error)
{
    enum tepal_status status = tepal_filter_create(params, allocator, out, error);
    return status != TEPAL_OK || key == NULL ? status
                                             : refuse_if(error, tepal_filter_set_key(*out, key));
}

static enum tepal_status fill(struct build *b, const struct tepal_params *params,
                              struct tepal_filter **out)
{
    enum tepal_status status = create(params, b->in->key, b->allocator, out, b->error);
    return status != TEPAL_OK ? status
                              : refuse_if(b->error, tepal_filter_add_many(*out, b->known->members,
                                                                          b->known->member_count));
}

/* A filter that may learn: the share of the keys that are planned for, or that came. */
static enum tepal_status allow(struct build *b)
{
    double members = fmax((double)b->params.capacity, (double)b->known->member_count);
    return b->plan->max_fn > 0
               ? tepal_avoid_budget(b->filter, (uint64_t)fmax(1, b->plan->max_fn * members),
                                    b->error)
               : TEPAL_OK;
}

static enum tepal_status retouch(struct build *b)
{
    struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    struct tepal_retouch_report r;
    struct tepal_params plain = b->params;
    struct tepal_filter *before = NULL;
    options.limit = TEPAL_RETOUCH_LIMIT_SHARE;
    options.budget = b->plan->max_fn;
    options.progress = b->in->progress;
    plain.kind = TEPAL_KIND_BLOOM;
    enum tepal_status status = fill(b, &plain, &before);
    if (status == TEPAL_OK) {
        before->state.keys_added = saturating_add(before->state.keys_added, b->in->repeats);
        status =
            tepal_retouch(before, b->known, &options, b->allocator, &b->filter, &r, NULL, b->error);
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

static double weight_of(const struct tepal_known *known, size_t i)
{
    return known->avoid_weights == NULL ? 1 : known->avoid_weights[i];
}

static double weight_to_avoid(const struct tepal_known *known)
{
    double weight = 0;
    for (size_t i = 0; i < known->avoid_count; i++) {
        weight += weight_of(known, i);
    }
    return weight;
}

/*
 * What a yes-no filter leaves can be known only when it is built: a heavy key may have no place in
 * one of fifty. Such a filter is built again with the next salt, until it leaves what was planned.
 */
static enum tepal_status veto(struct build *b)
{
    struct tepal_yesno_options options = TEPAL_YESNO_OPTIONS_INIT;
    options.salts = TEPAL_PLAN_SALTS;
    options.weight_left = b->plan->fp_known * weight_to_avoid(b->known);
    options.progress = b->in->progress;
    b->params.capacity = b->known->member_count;
    return tepal_yesno_build(&b->params, b->known, &options, b->allocator, &b->filter, &b->report,
                             b->error);
}

static enum tepal_status cascade(struct build *b)
{
    struct tepal_cascade_options options = {
        .bits = b->plan->max_bits, .fp = b->plan->max_bits > 0 ? 0 : first_rate(&b->plan->params)};
    b->params.capacity = b->known->member_count;
    b->params.cells = 0; /* what follows from the keys, the first level's own included */
    b->params.hashes = 0;
    enum tepal_status status = tepal_cascade_build(&b->params, b->known, &options, b->allocator,
                                                   &b->filter, &b->report, b->error);
    if (status == TEPAL_OK) {
        /* Nothing is left, so no weight is; of those that were found, nobody weighs them. */
        b->report.weight_left = 0;
        b->report.positive_weight =
            b->known->avoid_weights == NULL ? (double)b->report.avoid_positive : NAN;
    }
    return status;
}

/* ---- the report ------------------------------------------------------------------------------ */

/* Of kinds that only add: which members are not found, and which known negatives are? */
static enum tepal_status ask(struct build *b)
{
    const struct tepal_known *in = b->known;
    struct tepal_known_report *r = &b->report;
    struct tepal_allocator allocator = tepal_alloc_choose(b->allocator);
    size_t most = in->member_count > in->avoid_count ? in->member_count : in->avoid_count;
    size_t bytes = (most / 64 + 1) * 8;
    uint64_t *found = tepal_alloc_zeroed(&allocator, bytes);
    if (found == NULL) {
        return refuse_if(b->error, TEPAL_NO_MEMORY);
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
    return refuse_if(b->error, status);
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
        status = status == TEPAL_OK ? allow(b) : status;
        return status == TEPAL_OK && counted ? ask(b) : status;
    }
}

enum tepal_status tepal_plan_build(const struct tepal_proposal *plan,
                                   const struct tepal_plan_input *input,
                                   const struct tepal_allocator *allocator,
                                   struct tepal_filter **out, struct tepal_known_report *report,
                                   struct tepal_error *error)
{
    struct build b = {.plan = plan,
                      .in = input,
                      .allocator = allocator,
                      .params = params_of(plan, input->seed, input->key),
                      .known = &input->known,
                      .error = error};
    enum tepal_status status = tepal_plan_check(plan, error);
    if (status == TEPAL_OK) {
        status = check_input(plan, input, error);
    }
    if (status == TEPAL_OK) {
        status = make(&b, report != NULL);
    }
    if (status == TEPAL_OK && input->key != NULL) {
        status = refuse_if(error, tepal_filter_set_key(b.filter, input->key));
    }
    if (status != TEPAL_OK) {
        tepal_filter_free(b.filter);
        return status;
    }
    if (report != NULL) {
        b.report.members = b.known->member_count;
        b.report.avoid_given = b.known->avoid_count;
        b.report.avoid_weight = weight_to_avoid(b.known);
        *report = b.report;
    }
    *out = b.filter;
    return TEPAL_OK;
}

enum tepal_status tepal_plan_create(const struct tepal_proposal *plan, uint64_t seed,
                                    const uint8_t *key, const struct tepal_allocator *allocator,
                                    struct tepal_filter **out, struct tepal_error *error)
{
    struct tepal_params params = params_of(plan, seed, key);
    enum tepal_status status = tepal_plan_check(plan, error);
    if (status == TEPAL_OK && !tepal_plan_streams(plan)) {
        status = refuse(error, TEPAL_UNSUPPORTED, "the plan needs all keys at once");
    }
    return status == TEPAL_OK ? create(&params, key, allocator, out, error) : status;
}
