/*
 * stopset_methods.c: the red stop set by the share of false positives that is removed (Fig. 18), by
 * age (Fig. 19) and by method (Figs. 20 to 22).
 */
#include "paper000/stopset.h"

/* ---- Fig. 18 --------------------------------------------------------------------------------- */

#define SHARES 21

/*
 * The text contradicts itself: rates that must add up to 1 do not. What is printed, and what the
 * other two leave.
 */
static void sum_up(struct lab *lab, double published, double others, const char *words)
{
    struct lab_row row = lab_itself(published, 0.0001, 1 - others);
    lab_exact(&row, row.right);
    lab_row(lab, &row, "%s: success, and what the other two rates leave", words);
}

/* The numbers of the text; a beta is as good as the best one if chance may have put it below. */
static void share_values(struct lab *lab, const struct world *w,
                         struct lab_mean mean[SHARES][METRICS], size_t best)
{
    static const struct {
        size_t share; /* in steps of 5 % */
        size_t metric;
        double printed;
        const char *words;
    } value[] = {{SHARES - 1, SUCCESS, 0.4575, "beta 100 %: success, in the text"},
                 {0, SHORT, 0.6842, "beta 0: stopping short, in the text"},
                 {SHARES - 1, SHORT, 0, "beta 100 %: stopping short, in the text"},
                 {0, COLLISION, 0.0081, "beta 0: collision, in the text"},
                 {SHARES - 1, COLLISION, 0.5387, "beta 100 %: collision, in the text"},
                 {2, SUCCESS, 0.7015, "beta 10 %: success, in the text"},
                 {6, SUCCESS, 0.7218, "beta 30 %: success, in the text"},
                 {2, COLLISION, 0.1073, "beta 10 %: collision, in the text"},
                 {6, COLLISION, 0.1987, "beta 30 %: collision, in the text"},
                 {2, SHORT, 0.2355, "beta 10 %: stopping short, in the text"},
                 {6, SHORT, 0.1168, "beta 30 %: stopping short, in the text"}};
    const struct lab_mean *top = &mean[best][SUCCESS];
    struct lab_row row = stopset_skitter(24);
    row.ours = row.low = row.high = 5.0 * (double)best;
    for (size_t i = 0; i < SHARES; i++) {
        double half = LAB_Z * hypot(lab_mean_error(top), lab_mean_error(&mean[i][SUCCESS]));
        if (mean[i][SUCCESS].mean >= top->mean - half) {
            row.low = fmin(row.low, 5.0 * (double)i);
            row.high = fmax(row.high, 5.0 * (double)i);
        }
    }
    lab_row(lab, &row, "%s: the best beta, %%", w->name);
    stopset_skitter_row(lab, 0.642, top, w, "the best beta: success");
    for (size_t i = 0; i < COUNT(value); i++) {
        stopset_skitter_row(lab, value[i].printed, &mean[value[i].share][value[i].metric], w,
                            value[i].words);
    }
}

static int shares(struct lab *lab, struct world *w)
{
    struct lab_mean mean[SHARES][METRICS] = {0};
    struct lab_curves curves = {0};
    size_t runs = lab_trials(lab, 6, 30);
    size_t best = 0;
    for (size_t r = 0; r < runs; r++) {
        struct stopset s;
        int code = stopset_make(lab, w, 60000, 1, &s);
        for (size_t i = 0; i < SHARES && code == EXIT_YES; i++) {
            code = stopset_measure(lab, w, &s, TEPAL_RETOUCH_RATIO, (double)i / (SHARES - 1), 1,
                                   mean[i], NULL);
        }
        stopset_free(&s);
        if (code != EXIT_YES) {
            return code;
        }
    }
    for (size_t i = 0; i < SHARES; i++) {
        best = mean[i][SUCCESS].mean > mean[best][SUCCESS].mean ? i : best;
        for (size_t j = 0; j < 3; j++) {
            lab_row_mean(lab, LAB_ROW, &mean[i][j], "%s, beta %zu %%: %s", w->name,
                         100 * i / (SHARES - 1), lab_000_metric_names[j]);
            if (i == 0) {
                lab_curve(&curves, SVG_LINE, "%s", lab_000_metric_names[j]);
            }
            lab_curve_point(&curves, j,
                            lab_point_mean(100.0 * (double)i / (SHARES - 1), &mean[i][j]));
        }
    }
    share_values(lab, w, mean, best);
    stopset_holds(lab, w, best > 0 && best < SHARES - 1,
                  "success is best at a beta between 0 and 100 %");
    stopset_holds(lab, w, mean[SHARES - 1][SHORT].mean < mean[0][SHORT].mean,
                  "fewer stop short at beta 100 % than at 0");
    stopset_holds(lab, w, mean[SHARES - 1][COLLISION].mean > mean[0][COLLISION].mean,
                  "more collide at beta 100 % than at 0");
    stopset_holds(lab, w, mean[6][COLLISION].mean < 0.2,
                  "beta up to 30 %: less than 20 % of the probes hit a destination");
    return stopset_draw(lab, w, &curves, "beta, % of the false positives", ", 60000 bits, k = 1");
}

int lab_000_figure_18(struct lab *lab)
{
    sum_up(lab, 0.7812, 0.0936 + 0.1251, "as printed, list");
    sum_up(lab, 0.2446, 0.7668, "as printed, Bloom filter of 100000 bits (at most)");
    sum_up(lab, 0.7015, 0.1073 + 0.2355, "as printed, 60000 bits, beta 10 %");
    sum_up(lab, 0.7218, 0.1987 + 0.1168, "as printed, 60000 bits, beta 30 %");
    sum_up(lab, 0.4575, 0.5387 + 0, "as printed, 60000 bits, beta 100 %");
    sum_up(lab, 0.2446, 0.6842 + 0.0081,
           "as printed, Bloom filter: the best, no less than at 60000");
    /* the peak must be no lower than what other betas have */
    double peak = fmax(1 - 0.1073 - 0.2355, 1 - 0.1987 - 0.1168);
    lab_row_exact(lab, lab_itself(0.642, 0, peak), peak,
                  "as printed, 60000 bits: the peak, at least that at beta 10 and 30 %%");
    return lab_000_in_worlds(lab, false, shares);
}

/* ---- Fig. 19 --------------------------------------------------------------------------------- */

static int cycles(struct lab *lab, struct world *w)
{
    struct lab_curves curves = {0};
    for (size_t j = 0; j < 6; j++) {
        lab_curve(&curves, j < 3 ? SVG_DASHED : SVG_LINE, "%s, %s", lab_000_metric_names[j % 3],
                  j < 3 ? "list" : "retouched");
    }
    size_t runs = lab_trials(lab, 6, 10);
    bool raised = true;
    for (uint32_t c = 1; c < w->cycles; c++) {
        struct lab_mean mean[METRICS] = {0};
        struct lab_mean bloom[METRICS] = {0};
        double list[METRICS];
        for (size_t r = 0; r < runs; r++) {
            struct stopset s;
            int code = stopset_make(lab, w, 60000, 1, &s);
            code = code == EXIT_YES
                       ? stopset_measure(lab, w, &s, TEPAL_RETOUCH_RATIO, 0.25, c, mean, NULL)
                       : code;
            code = code == EXIT_YES
                       ? stopset_measure(lab, w, &s, TEPAL_RETOUCH_RATIO, 0, c, bloom, NULL)
                       : code;
            stopset_free(&s);
            if (code != EXIT_YES) {
                return code;
            }
        }
        raised = raised && mean[SUCCESS].mean > bloom[SUCCESS].mean;
        world_replay_list(w, c, list);
        for (size_t j = 0; j < 3; j++) {
            lab_row_exact(lab, LAB_ROW, list[j], "%s, cycle %u, list: %s", w->name, c + 1,
                          lab_000_metric_names[j]);
            lab_row_mean(lab, LAB_ROW, &mean[j], "%s, cycle %u, beta 25 %%: %s", w->name, c + 1,
                         lab_000_metric_names[j]);
            lab_curve_point(&curves, j, lab_point(c, list[j]));
            lab_curve_point(&curves, j + 3, lab_point_mean(c, &mean[j]));
        }
    }
    /* what it was retouched for, as in Fig. 13 */
    stopset_holds(lab, w, raised, "beta 25 %: retouching raises success in every cycle");
    stopset_holds(lab, w, curves.point[0][w->cycles - 2].y <= curves.point[0][0].y,
                  "the list's success falls with time");
    stopset_holds(lab, w, curves.point[3][w->cycles - 2].y <= curves.point[3][0].y,
                  "the retouched filter's success falls with time");
    return stopset_draw(lab, w, &curves, "cycles after the one learned",
                        ", cycle by cycle, 60000 bits, k = 1");
}

int lab_000_figure_19(struct lab *lab)
{
    return lab_000_in_worlds(lab, true, cycles);
}

/* ---- Figs. 20 to 22 -------------------------------------------------------------------------- */

#define TRIED 6

struct tried {
    const char *name;
    enum tepal_retouch_method method;
    double beta;
};

static const struct tried tried[TRIED] = {
    {"ratio, beta 1 %", TEPAL_RETOUCH_RATIO, 0.01},
    {"improved ratio, beta 1 %", TEPAL_RETOUCH_IMPROVED_RATIO, 0.01},
    {"sacrifice, beta 1 %", TEPAL_RETOUCH_SACRIFICE, 0.01},
    {"ratio, beta 25 %", TEPAL_RETOUCH_RATIO, 0.25},
    {"improved ratio, beta 25 %", TEPAL_RETOUCH_IMPROVED_RATIO, 0.25},
    {"sacrifice, beta 25 %", TEPAL_RETOUCH_SACRIFICE, 0.25}};

/* What the text says of single sizes. */
static void method_values(struct lab *lab, const struct world *w,
                          struct lab_mean mean[TRIED][SIZES][METRICS], const double list[METRICS])
{
    struct lab_row row = stopset_skitter(2); /* 20,000 and 30,000 */
    double more = 0;
    for (size_t m = 0; m < SIZES; m++) {
        more += mean[4][m][SHORT].mean > mean[3][m][SHORT].mean;
    }
    lab_exact(&row, more);
    lab_row(lab, &row, "%s, beta 25 %%: sizes, of ten, at which improved ratio stops short more",
            w->name);
    for (size_t m = 7; m < SIZES; m++) { /* beyond 70,000 bits no difference is to be seen */
        row = stopset_skitter(0);
        lab_measured(&row, &mean[4][m][COLLISION]);
        row.ours -= list[COLLISION];
        row.low -= list[COLLISION];
        row.high -= list[COLLISION];
        lab_row(lab, &row,
                "%s, %.0f bits: collisions of improved ratio, beta 25 %%, less the list's", w->name,
                (double)size_of(m));
    }
    for (size_t i = 0; i < 2; i++) {
        double gain[2] = {0};
        for (size_t m = 0; m < SIZES; m++) {
            gain[m / 5] += (mean[3 * i + 1][m][SUCCESS].mean - mean[3 * i][m][SUCCESS].mean) / 5;
        }
        row = stopset_skitter(i == 0);
        lab_exact(&row, gain[1] > gain[0]);
        lab_row(lab, &row, "%s, beta %s: improved ratio gains more above 50000 bits (1 yes, 0 no)",
                w->name, i == 0 ? "1 %" : "25 %");
    }
}

static int methods(struct lab *lab, struct world *w)
{
    struct lab_mean mean[TRIED][SIZES][METRICS] = {0};
    double list[METRICS];
    size_t runs = lab_trials(lab, 6, 30);
    world_replay_list(w, 1, list);
    for (size_t r = 0; r < runs * SIZES; r++) {
        struct stopset s;
        int code = stopset_make(lab, w, size_of(r % SIZES), HASHES, &s);
        for (size_t i = 0; i < TRIED && code == EXIT_YES; i++) {
            code = stopset_measure(lab, w, &s, tried[i].method, tried[i].beta, 1,
                                   mean[i][r % SIZES], NULL);
        }
        stopset_free(&s);
        if (code != EXIT_YES) {
            return code;
        }
    }
    double sum[TRIED] = {0};
    for (size_t i = 0; i < TRIED; i++) {
        for (size_t m = 0; m < SIZES; m++) {
            sum[i] += mean[i][m][SUCCESS].mean;
            for (size_t j = 0; j < 3 && m % 4 == 1; j++) {
                lab_row_mean(lab, LAB_ROW, &mean[i][m][j], "%s, k 5, %.0f bits, %s: %s", w->name,
                             (double)size_of(m), tried[i].name, lab_000_metric_names[j]);
            }
        }
    }
    stopset_holds(lab, w, sum[4] > sum[3],
                  "beta 25 %: improved ratio succeeds more often, over all sizes");
    method_values(lab, w, mean, list);
    for (size_t j = 0; j < 3; j++) {
        struct lab_curves curves = {0};
        for (size_t i = 0; i < TRIED; i++) {
            lab_curve(&curves, SVG_LINE, "%s", tried[i].name);
            for (size_t m = 0; m < SIZES; m++) {
                lab_curve_point(&curves, i, lab_point_mean((double)size_of(m), &mean[i][m][j]));
            }
        }
        if (stopset_draw(lab, w, &curves, "bits", ", k = 5: %s", lab_000_metric_names[j]) !=
            EXIT_YES) {
            return EXIT_TROUBLE;
        }
    }
    return EXIT_YES;
}

int lab_000_figure_20(struct lab *lab)
{
    return lab_000_in_worlds(lab, false, methods);
}
