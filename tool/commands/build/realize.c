/* realize.c: by the kind, as `tepal build` and `tepal retouch` would. */
#include "commands/build/realize.h"

#include <math.h>
#include <stddef.h>

#include <tepal/cascade.h>
#include <tepal/retouched.h>
#include <tepal/yesno.h>

static enum tepal_status fill(const struct realize *what, const struct tepal_params *params,
                              struct tepal_filter **out)
{
    enum tepal_status status = tepal_filter_create(params, NULL, out, NULL);
    if (status == TEPAL_OK) {
        status = tepal_filter_add_many(*out, what->members, what->member_count);
        if (status != TEPAL_OK) {
            tepal_filter_free(*out);
            *out = NULL;
        }
    }
    return status;
}

static enum tepal_status retouch(const struct realize *what, struct tepal_params params,
                                 struct tepal_filter **out, const char **why)
{
    struct tepal_filter *plain = NULL;
    struct tepal_retouch_input input = {.members = what->members,
                                        .member_count = what->member_count,
                                        .avoid = what->avoid,
                                        .avoid_count = what->avoid_count,
                                        .avoid_weights = what->avoid_weights};
    struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    params.kind = TEPAL_KIND_BLOOM;
    options.limit = TEPAL_RETOUCH_LIMIT_SHARE;
    options.budget = what->plan->fn;
    enum tepal_status status = fill(what, &params, &plain);
    if (status == TEPAL_OK) {
        status = tepal_retouch(plain, &input, &options, NULL, out, NULL, NULL, why);
    }
    tepal_filter_free(plain);
    return status;
}

static enum tepal_status veto(const struct realize *what, const struct tepal_params *params,
                              struct tepal_filter **out, const char **why)
{
    struct tepal_yesno_input input = {.members = what->members,
                                      .member_count = what->member_count,
                                      .avoid = what->avoid,
                                      .avoid_count = what->avoid_count,
                                      .avoid_weights = what->avoid_weights};
    struct tepal_yesno_options options = TEPAL_YESNO_OPTIONS_INIT;
    return tepal_yesno_build(params, &input, &options, NULL, out, NULL, why);
}

static enum tepal_status cascade(const struct realize *what, struct tepal_params params,
                                 struct tepal_filter **out, const char **why)
{
    struct tepal_cascade_input input = {.members = what->members,
                                        .member_count = what->member_count,
                                        .avoid = what->avoid,
                                        .avoid_count = what->avoid_count};
    /* The plan's parameters are those of the first level: so is its rate. */
    struct tepal_cascade_options options = {
        .bits = what->limit,
        .fp = what->limit > 0 ? 0
                              : tepal_bloom_fp(params.layout, params.positions, params.cells,
                                               params.capacity, params.hashes)};
    params.cells = 0;
    params.hashes = 0;
    return tepal_cascade_build(&params, &input, &options, NULL, out, NULL, why);
}

enum tepal_status realize_plan(const struct realize *what, uint64_t seed, struct tepal_filter **out,
                               const char **why)
{
    struct tepal_params params = what->plan->params;
    params.seed = seed;
    switch (params.kind) {
    case TEPAL_KIND_RETOUCHED:
        return retouch(what, params, out, why);
    case TEPAL_KIND_YESNO:
        return veto(what, &params, out, why);
    case TEPAL_KIND_CASCADE:
        return cascade(what, params, out, why);
    default:
        return fill(what, &params, out);
    }
}
