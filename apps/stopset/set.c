/* set.c: penultimate nodes into a filter, and its most troublesome false positives out of it. */
#include "stopset/set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tepal/papers.h>

struct set_wish set_wish_of(const struct args *args)
{
    return (struct set_wish){.hashes = (uint32_t)arg_whole(args, "hashes", 0),
                             .beta = arg_real(args, "beta", NAN),
                             .max_fn = arg_real(args, "max-fn", NAN),
                             .method = arg(args, "method")->text,
                             .seed = arg_whole(args, "seed", 1)};
}

struct tepal_digest *set_digests(const struct names *nodes, uint64_t seed)
{
    struct tepal_hasher hasher;
    struct tepal_digest *digest = malloc(((size_t)nodes->count + 1) * sizeof *digest);
    tepal_hasher_init(seed, &hasher);
    for (uint32_t node = 0; digest != NULL && node < nodes->count; node++) {
        const char *text = names_text(nodes, node);
        digest[node] = tepal_hash_bytes(&hasher, text, strlen(text));
    }
    return digest;
}

int set_bloom(const struct args *args, const struct sightings *s, const struct tepal_digest *digest,
              const struct set_wish *wish, struct tepal_filter **out)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct tepal_error error = {.why = NULL};
    uint64_t members = sightings_members(s);
    params.cells = wish->bits;
    params.hashes = wish->hashes != 0
                        ? wish->hashes
                        : tepal_bloom_best_hashes(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING,
                                                  wish->bits, members);
    params.capacity = members;
    params.seed = wish->seed;
    enum tepal_status status = tepal_filter_create(&params, NULL, out, &error);
    for (uint32_t node = 0; node < s->nodes && status == TEPAL_OK; node++) {
        if (sightings_member(s, node)) {
            status = tepal_filter_add(*out, digest[node]);
        }
    }
    return args_status(args, status, error.why);
}

uint64_t set_false_positives(const struct sightings *s, const struct tepal_digest *digest,
                             const struct tepal_filter *filter, double *cut)
{
    uint64_t count = 0;
    *cut = 0;
    for (uint32_t node = 0; node < s->nodes; node++) {
        if (!sightings_member(s, node) && s->passes[node] > 0 &&
            tepal_filter_query(filter, digest[node])) {
            count++;
            *cut += s->passes[node];
        }
    }
    return count;
}

/* ---- retouching ------------------------------------------------------------------------------ */

/* What the library is given, and who it was. */
struct input {
    struct tepal_digest *members;
    double *member_weights;
    struct tepal_digest *avoid;
    double *avoid_weights;
    struct suspect *suspect; /* the false positives, the worst first */
    size_t suspects;
    size_t member_count;
};

static void free_input(struct input *in)
{
    free(in->members);
    free(in->member_weights);
    free(in->avoid);
    free(in->avoid_weights);
    free(in->suspect);
}

static bool fill_input(struct input *in, const struct sightings *s,
                       const struct tepal_digest *digest, const struct tepal_filter *bloom)
{
    size_t n = (size_t)s->nodes + 1;
    in->members = malloc(n * sizeof *in->members);
    in->member_weights = malloc(n * sizeof *in->member_weights);
    in->avoid = malloc(n * sizeof *in->avoid);
    in->avoid_weights = malloc(n * sizeof *in->avoid_weights);
    in->suspect = malloc(n * sizeof *in->suspect);
    if (in->members == NULL || in->member_weights == NULL || in->avoid == NULL ||
        in->avoid_weights == NULL || in->suspect == NULL) {
        return false;
    }
    for (uint32_t node = 0; node < s->nodes; node++) {
        if (sightings_member(s, node)) {
            in->members[in->member_count] = digest[node];
            in->member_weights[in->member_count++] = s->ends[node];
        } else if (s->passes[node] > 0 && tepal_filter_query(bloom, digest[node])) {
            in->suspect[in->suspects++] = (struct suspect){node, s->passes[node]};
        }
    }
    suspects_sort(in->suspect, in->suspects);
    for (size_t i = 0; i < in->suspects; i++) {
        in->avoid[i] = digest[in->suspect[i].node];
        in->avoid_weights[i] = in->suspect[i].weight;
    }
    return true;
}

/*
 * sacrifice weighs: a troublesome node by the routes it cuts, a penultimate one by the routes that
 * end there. The paper's methods count, as they do in the paper. Without members the library
 * chooses what is best then, by weight.
 */
static enum tepal_status retouch(const struct input *in, const struct set_wish *wish, bool known,
                                 const struct tepal_filter *bloom, struct set_made *made,
                                 struct tepal_error *error)
{
    struct tepal_retouch_options how = TEPAL_RETOUCH_OPTIONS_INIT;
    struct tepal_retouch_report report;
    if (wish->method != NULL) {
        (void)tepal_retouch_method_parse(wish->method, &how.method);
    }
    if (isfinite(wish->max_fn)) {
        how.limit = TEPAL_RETOUCH_LIMIT_SHARE;
        how.budget = wish->max_fn;
    }
    bool weighs = wish->method == NULL || how.method == TEPAL_RETOUCH_SACRIFICE;
    struct tepal_known input = {.members = known ? in->members : NULL,
                                .member_count = known ? in->member_count : 0,
                                .member_weights = known && weighs ? in->member_weights : NULL,
                                .avoid = in->avoid,
                                .avoid_count = (size_t)made->aimed,
                                .avoid_weights = weighs ? in->avoid_weights : NULL};
    enum tepal_status status =
        tepal_retouch(bloom, &input, &how, NULL, &made->filter, &report, NULL, error);
    if (status == TEPAL_OK) {
        made->false_negatives = report.lost_expected;
        made->lost_low = report.lost_low;
        made->lost_high = report.lost_high;
        made->expected = report.expected;
        made->troublesome = report.avoid_left;
        made->members = report.members;
    }
    return status;
}

int set_retouch(const struct args *args, const struct sightings *s,
                const struct tepal_digest *digest, const struct set_wish *wish,
                const struct tepal_filter *bloom, bool known, struct set_made *made)
{
    struct input in = {.suspects = 0};
    struct tepal_error error = {.why = NULL};
    *made = (struct set_made){.hashes = tepal_filter_params(bloom)->hashes};
    if (!fill_input(&in, s, digest, bloom)) {
        free_input(&in);
        return args_no_memory(args);
    }
    made->before = set_false_positives(s, digest, bloom, &made->cut_before);
    made->aimed = isfinite(wish->beta) ? (uint64_t)ceil(wish->beta * (double)in.suspects - 1e-9)
                                       : in.suspects;
    enum tepal_status status = retouch(&in, wish, known, bloom, made, &error);
    if (status == TEPAL_OK) {
        made->false_positives = set_false_positives(s, digest, made->filter, &made->cut);
    }
    free_input(&in);
    return args_status(args, status, error.why);
}
