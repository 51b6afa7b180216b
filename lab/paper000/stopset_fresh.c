/*
 * stopset_fresh.c: red stop sets that are kept fresh, cycle by cycle, beside one that was learned
 * once. In every cycle a twentieth of the routes is traced in full; the next cycle's filter is made
 * of all that is known by then (stopset/fresh.c). A quarter of the list's bits, the best number of
 * hash functions, at most 2 % of the members lost, sacrifice.
 */
#include <stdlib.h>
#include <string.h>

#include "paper000/stopset.h"
#include "stopset/sightings.h"

#define SHARE  0.05
#define MAX_FN 0.02
#define RATIO  4

/* What the library is given. */
struct keys {
    struct tepal_digest *member;
    double *ends;
    struct tepal_digest *seen; /* the others: those that are found are false positives */
    double *passes;
    size_t members;
    size_t others;
};

static bool keys_of(const struct world *w, const struct sightings *known, struct keys *k)
{
    size_t n = (size_t)w->nodes + 1;
    *k = (struct keys){.member = malloc(n * sizeof *k->member),
                       .ends = malloc(n * sizeof *k->ends),
                       .seen = malloc(n * sizeof *k->seen),
                       .passes = malloc(n * sizeof *k->passes)};
    if (k->member == NULL || k->ends == NULL || k->seen == NULL || k->passes == NULL) {
        return false;
    }
    for (uint32_t node = 0; node < w->nodes; node++) {
        if (sightings_member(known, node)) {
            k->member[k->members] = w->digest[node];
            k->ends[k->members++] = known->ends[node];
        } else if (known->passes[node] > 0) {
            k->seen[k->others] = w->digest[node];
            k->passes[k->others++] = known->passes[node];
        }
    }
    return true;
}

static void keys_free(struct keys *k)
{
    free(k->member);
    free(k->ends);
    free(k->seen);
    free(k->passes);
}

/* The filter of all that is known. */
static int make(const struct world *w, const struct sightings *known, struct tepal_filter **out)
{
    struct keys k;
    struct tepal_filter *bloom = NULL;
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct tepal_retouch_options how = TEPAL_RETOUCH_OPTIONS_INIT;
    int code = keys_of(w, known, &k) ? EXIT_YES : say_no_memory();
    params.cells = 32 * w->members / RATIO;
    params.hashes =
        tepal_bloom_best_hashes(params.layout, params.positions, params.cells, k.members);
    how.limit = TEPAL_RETOUCH_LIMIT_SHARE;
    how.budget = MAX_FN;
    struct tepal_known input = {.members = k.member,
                                .member_count = k.members,
                                .member_weights = k.ends,
                                .avoid = k.seen,
                                .avoid_count = k.others,
                                .avoid_weights = k.passes};
    code = code == EXIT_YES ? lab_status(tepal_filter_create(&params, NULL, &bloom, NULL)) : code;
    code = code == EXIT_YES ? lab_status(tepal_filter_add_many(bloom, k.member, k.members)) : code;
    code = code == EXIT_YES
               ? lab_status(tepal_retouch(bloom, &input, &how, NULL, out, NULL, NULL, NULL))
               : code;
    tepal_filter_free(bloom);
    keys_free(&k);
    return code;
}

/* The routes of a cycle: all, or (sabotaged: none) those that are traced in full. */
static void see(struct lab *lab, const struct world *w, uint32_t cycle, double share,
                struct sightings *known)
{
    for (size_t i = w->start[cycle]; i < w->start[cycle + 1]; i++) {
        if (share >= 1 || (lab_unit(lab) < share && !lab_sabotaged(lab))) {
            sightings_route(known, &w->routes, &w->routes.route[i], 1 / share);
        }
    }
}

static int run_once(struct lab *lab, struct world *w, struct lab_mean (*mean)[2])
{
    struct sightings known = {.least = SIGHTINGS_HALF};
    struct tepal_filter *first = NULL;
    double metric[2][METRICS] = {0};
    lab_digests(lab, w->digest, w->nodes);
    int code = sightings_grow(&known, w->nodes) ? EXIT_YES : say_no_memory();
    if (code == EXIT_YES) {
        see(lab, w, 0, 1, &known);
        code = make(w, &known, &first);
    }
    for (uint32_t c = 1; c < w->cycles && code == EXIT_YES; c++) {
        struct tepal_filter *fresh = NULL;
        code = make(w, &known, &fresh);
        if (code == EXIT_YES) {
            world_replay_filter(w, first, c, metric[0]);
            world_replay_filter(w, fresh, c, metric[1]);
            lab_mean_add(&mean[c][0], metric[0][SUCCESS]);
            lab_mean_add(&mean[c][1], metric[1][SUCCESS]);
            see(lab, w, c, SHARE, &known);
        }
        tepal_filter_free(fresh);
    }
    tepal_filter_free(first);
    sightings_free(&known);
    return code;
}

static int fresh(struct lab *lab, struct world *w)
{
    struct lab_mean mean[WORLD_CYCLES][2] = {0};
    struct lab_curves curves = {0};
    size_t runs = lab_trials(lab, 4, 10);
    int code = EXIT_YES;
    for (size_t r = 0; r < runs && code == EXIT_YES; r++) {
        code = run_once(lab, w, mean);
    }
    if (code != EXIT_YES) {
        return code;
    }
    static const char *const names[] = {"learned once", "kept fresh"};
    lab_curve(&curves, SVG_DASHED, "list, learned once");
    lab_curve(&curves, SVG_LINE, "%s", names[0]);
    lab_curve(&curves, SVG_LINE, "%s", names[1]);
    for (uint32_t c = 1; c < w->cycles; c++) {
        double list[METRICS];
        world_replay_list(w, c, list);
        lab_curve_point(&curves, 0, lab_point(c, list[SUCCESS]));
        lab_row_exact(lab, LAB_ROW, list[SUCCESS], "%s, cycle %u, list: success", w->name, c + 1);
        for (size_t i = 0; i < 2; i++) {
            lab_row_mean(lab, LAB_ROW, &mean[c][i], "%s, cycle %u, %s: success", w->name, c + 1,
                         names[i]);
            lab_curve_point(&curves, i + 1, lab_point_mean(c, &mean[c][i]));
        }
    }
    const struct lab_mean *last = mean[w->cycles - 1];
    lab_row_exact(lab, lab_expected(1, 0), last[1].mean > last[0].mean,
                  "%s: kept fresh, more succeed in the last cycle (1 yes, 0 no)", w->name);
    return stopset_draw(lab, w, &curves, "cycles after the one learned", ", kept fresh: success");
}

int lab_000_fresh(struct lab *lab)
{
    return lab_000_in_worlds(lab, true, fresh);
}
