/*
 * avoid.c: retouching at run time (tepal/avoid.h): the filter is told one by one which of its
 * answers were wrong, and has no members to choose by. A Bloom filter does what Algorithm 1 does, a
 * counting filter what Algorithm 2 does, for its counters are v_A: so both should lose what the
 * paper's Tables I and II print. Then with weights: the share of the requests for false positives
 * that a budget of members removes, beside retouching that knows all keys at once.
 */
#include <stdlib.h>

#include "paper000/paper000.h"

enum { BLOOM, COUNTING, ONLINE };

static const char *const names[ONLINE] = {"a Bloom filter (Table I)",
                                          "a counting filter (Table II)"};
static const size_t tables[ONLINE] = {RANDOM, MIN_FN};

/* A filter of the sample that may lose so many members. */
static int learner(const struct sample *s, size_t which, uint64_t budget, struct tepal_filter **out)
{
    int code = which == COUNTING ? lab_000_counting(s, out)
                                 : lab_status(tepal_filter_clone(s->bloom, NULL, out, NULL));
    return code == EXIT_YES ? lab_status(tepal_avoid_budget(*out, budget, NULL)) : code;
}

static double lost_by(const struct sample *s, const struct tepal_filter *filter)
{
    uint64_t answers[MEMBERS / 64 + 1];
    return MEMBERS - (double)tepal_filter_query_many(filter, s->member, MEMBERS, answers);
}

/* ---- Tables I and II ------------------------------------------------------------------------- */

struct outcome {
    struct lab_mean lost;
    struct lab_mean told; /* predicted, or at most */
    uint64_t kept;        /* runs in which no more were lost than told */
};

/* The share beta of the false positives, one by one. */
static int tell(struct lab *lab, const struct sample *s, size_t which, double beta,
                struct outcome *sum)
{
    struct tepal_filter *filter = NULL;
    struct tepal_avoided done = {.absent = 0};
    size_t count = (size_t)(beta * (double)s->bad_count);
    int code = learner(s, which, UINT32_MAX, &filter);
    for (size_t i = 0; i < count && code == EXIT_YES; i++) {
        code = lab_status(tepal_avoid(filter, &s->bad[i], 1, NULL, &done, NULL));
    }
    if (code == EXIT_YES) {
        /* sabotaged: the filter that was told nothing has lost nobody */
        double lost = lost_by(s, lab_sabotaged(lab) ? s->bloom : filter);
        lab_mean_add(&sum->lost, lost);
        lab_mean_add(&sum->told, done.lost_all);
        sum->kept += lost <= done.lost_all;
    }
    tepal_filter_free(filter);
    return code;
}

/* A Bloom filter counts its bits at every call: so not all of the shares. */
static const size_t shares[] = {0, 2, 3};

#define SHARES COUNT(shares)

int lab_000_told(struct lab *lab)
{
    struct outcome sum[ONLINE][SHARES] = {0};
    size_t runs = lab_trials(lab, 5, 30);
    int code = EXIT_YES;
    for (size_t r = 0; r < runs && code == EXIT_YES; r++) {
        struct sample *s = lab_000_sample_draw(lab);
        code = s == NULL ? EXIT_TROUBLE : EXIT_YES;
        for (size_t i = 0; i < ONLINE * SHARES && code == EXIT_YES; i++) {
            code = tell(lab, s, i / SHARES, lab_000_beta[shares[i % SHARES]],
                        &sum[i / SHARES][i % SHARES]);
        }
        lab_000_sample_free(s);
    }
    for (size_t i = 0; i < ONLINE * SHARES && code == EXIT_YES; i++) {
        const struct outcome *o = &sum[i / SHARES][i % SHARES];
        const struct printed *cell =
            &lab_000_table[tables[i / SHARES]].cell[shares[i % SHARES]][LOST];
        double beta = 100 * lab_000_beta[shares[i % SHARES]];
        struct lab_row row = lab_printed(cell->mean, 0.5, NAN);
        row.spread = LAB_Z * cell->half / STUDENT_14;
        lab_row_mean(lab, row, &o->lost, "%s, told beta %g %%: members lost", names[i / SHARES],
                     beta);
        if (i / SHARES == BLOOM) {
            /* what model/loss.c leaves out is below a hundredth */
            lab_row_mean(lab, lab_expected(o->told.mean, o->told.mean / 100), &o->lost,
                         "beta %g %%: members lost, as predicted", beta);
        } else {
            lab_row_mean(lab, LAB_ROW, &o->told, "beta %g %%: members lost, told as \"at most\"",
                         beta);
            lab_row_count(lab, lab_expected(1, 0), o->kept, runs,
                          "beta %g %%: in what share of the runs that held", beta);
        }
    }
    return code;
}

/* ---- weights --------------------------------------------------------------------------------- */

#define REQUESTS 100000 /* for false positives, by their weights, until the budget is used up */

static const double budgets[] = {0.001, 0.01, 0.05}; /* of the members */

#define BUDGETS COUNT(budgets)

enum { WAY_BLOOM, WAY_COUNTING, WAY_MIN_FN, WAY_RATIO, WAY_SACRIFICE, WAYS };

static const struct {
    const char *name;
    enum tepal_retouch_method method; /* of those that know all keys at once */
} ways[WAYS] = {[WAY_BLOOM] = {.name = "told one by one, a Bloom filter"},
                [WAY_COUNTING] = {.name = "told one by one, a counting filter"},
                [WAY_MIN_FN] = {"all at once, min-fn", TEPAL_RETOUCH_MIN_FN},
                [WAY_RATIO] = {"all at once, ratio", TEPAL_RETOUCH_RATIO},
                [WAY_SACRIFICE] = {"all at once, sacrifice", TEPAL_RETOUCH_SACRIFICE}};

/* The false positives with weights: 1 / rank, in the order in which they were drawn. */
struct world {
    struct sample *sample;
    double weight[MOST_BAD];
    double sums[MOST_BAD];
};

static void weigh(struct world *w)
{
    double sum = 0;
    for (size_t i = 0; i < w->sample->bad_count; i++) {
        w->weight[i] = 1 / (double)(i + 1);
        w->sums[i] = sum += w->weight[i];
    }
}

/* One of them, with a probability by its weight. */
static size_t request(struct lab *lab, const struct world *w)
{
    size_t low = 0;
    size_t high = w->sample->bad_count - 1;
    double at = lab_unit(lab) * w->sums[high];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        *(w->sums[middle] > at ? &high : &low) = w->sums[middle] > at ? middle : middle + 1;
    }
    return low;
}

/* The weight of the false positives that a filter does not find any more, as a share. */
static double removed(const struct world *w, const struct tepal_filter *filter)
{
    double gone = 0;
    for (size_t i = 0; i < w->sample->bad_count; i++) {
        gone += tepal_filter_query(filter, w->sample->bad[i]) ? 0 : w->weight[i];
    }
    return gone / w->sums[w->sample->bad_count - 1];
}

/* Requests come; every wrong answer is told; the first refusal ends it. */
static int learn(struct lab *lab, const struct world *w, size_t which, double budget,
                 struct tepal_filter **out)
{
    struct tepal_avoided done = {.refused = 0};
    int code = learner(w->sample, which, (uint64_t)(budget * MEMBERS), out);
    for (size_t i = 0; i < REQUESTS && code == EXIT_YES && done.refused == 0; i++) {
        struct tepal_digest key = w->sample->bad[request(lab, w)];
        if (tepal_filter_query(*out, key)) {
            code = lab_status(tepal_avoid(*out, &key, 1, NULL, &done, NULL));
        }
    }
    return code;
}

static int retouch(struct lab *lab, const struct world *w, size_t way, double budget,
                   struct tepal_filter **out)
{
    struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    struct tepal_known known = {.members = w->sample->member,
                                .member_count = MEMBERS,
                                .avoid = w->sample->bad,
                                .avoid_count = w->sample->bad_count,
                                .avoid_weights = w->weight};
    options.method = ways[way].method;
    options.limit = TEPAL_RETOUCH_LIMIT_COUNT;
    options.budget = budget * MEMBERS;
    options.seed = lab_draw(lab);
    return lab_status(
        tepal_retouch(w->sample->bloom, &known, &options, NULL, out, NULL, NULL, NULL));
}

static int contest(struct lab *lab, struct world *w, struct lab_mean gone[WAYS][BUDGETS],
                   struct lab_mean lost[WAYS][BUDGETS])
{
    int code = EXIT_YES;
    w->sample = lab_000_sample_draw(lab);
    if (w->sample == NULL) {
        return EXIT_TROUBLE;
    }
    weigh(w);
    for (size_t i = 0; i < WAYS * BUDGETS && code == EXIT_YES; i++) {
        size_t way = i / BUDGETS;
        struct tepal_filter *filter = NULL;
        code = way < WAY_MIN_FN ? learn(lab, w, way, budgets[i % BUDGETS], &filter)
                                : retouch(lab, w, way, budgets[i % BUDGETS], &filter);
        if (code == EXIT_YES) {
            const struct tepal_filter *seen = lab_sabotaged(lab) ? w->sample->bloom : filter;
            lab_mean_add(&gone[way][i % BUDGETS], removed(w, seen));
            lab_mean_add(&lost[way][i % BUDGETS], lost_by(w->sample, seen));
        }
        tepal_filter_free(filter);
    }
    lab_000_sample_free(w->sample);
    return code;
}

int lab_000_learn(struct lab *lab)
{
    struct lab_mean gone[WAYS][BUDGETS] = {0};
    struct lab_mean lost[WAYS][BUDGETS] = {0};
    struct lab_curves curves = {0};
    size_t runs = lab_trials(lab, 5, 20);
    struct world *w = malloc(sizeof *w);
    int code = w == NULL ? say_no_memory() : EXIT_YES;
    for (size_t r = 0; r < runs && code == EXIT_YES; r++) {
        code = contest(lab, w, gone, lost);
    }
    free(w);
    for (size_t i = 0; i < WAYS * BUDGETS && code == EXIT_YES; i++) {
        size_t way = i / BUDGETS;
        double budget = 100 * budgets[i % BUDGETS];
        lab_row_mean(lab, LAB_ROW, &gone[way][i % BUDGETS],
                     "%s, a budget of %g %%: share of the weight removed", ways[way].name, budget);
        lab_row_mean(lab, LAB_ROW, &lost[way][i % BUDGETS], "%s, a budget of %g %%: members lost",
                     ways[way].name, budget);
    }
    for (size_t way = 0; way < WAYS; way++) {
        lab_curve(&curves, SVG_LINE, "%s", ways[way].name);
        for (size_t b = 0; b < BUDGETS; b++) {
            lab_curve_point(&curves, way, lab_point_mean(100 * budgets[b], &gone[way][b]));
        }
    }
    bool so = gone[WAY_COUNTING][1].mean > gone[WAY_BLOOM][1].mean &&
              gone[WAY_SACRIFICE][1].mean > gone[WAY_COUNTING][1].mean;
    lab_row_exact(lab, lab_expected(1, 0), so,
                  "at 1 %%: counters beat chance, and knowing all keys beats counters");
    return code != EXIT_YES
               ? code
               : lab_curves_draw(lab, &curves, "Requests for false positives that are answered no",
                                 "members that may be lost, %", "share of the weight", LAB_LINEAR);
}
