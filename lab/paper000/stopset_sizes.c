/* stopset_sizes.c: the red stop set by the size of its filter (Figs. 13 to 17). */
#include <stdio.h>

#include "paper000/stopset.h"

static void list_rows(struct lab *lab, struct world *w)
{
    static const double printed[] = {0.7812, 0.0936, 0.1251};
    double metric[METRICS];
    world_replay_list(w, 1, metric);
    for (size_t j = 0; j < 3; j++) {
        struct lab_row row = stopset_skitter(printed[j]);
        lab_exact(&row, metric[j]);
        lab_row(lab, &row, "%s, list: %s", w->name, lab_000_metric_names[j]);
    }
    struct lab_row row = stopset_skitter(8006);
    lab_exact(&row, (double)w->members);
    lab_row(lab, &row, "%s: penultimate addresses", w->name);
}

/* ---- Figs. 13 and 15 to 17 ------------------------------------------------------------------- */

#define SETS 5

static const double set_beta[SETS] = {0, 0.01, 0.05, 0.1, 0.25};
static const char *const set_names[SETS] = {"Bloom", "beta 1 %", "beta 5 %", "beta 10 %",
                                            "beta 25 %"};

static int size_charts(struct lab *lab, struct world *w, struct lab_mean mean[SIZES][SETS][METRICS],
                       uint32_t k)
{
    double list[METRICS];
    world_replay_list(w, 1, list);
    size_t shown = k == 1 ? METRICS : 1;
    for (size_t j = 0; j < shown; j++) {
        struct lab_curves curves = {0};
        for (size_t s = 0; s < SETS; s++) {
            lab_curve(&curves, SVG_LINE, "%s", set_names[s]);
            for (size_t i = 0; i < SIZES; i++) {
                lab_curve_point(&curves, s, lab_point_mean((double)size_of(i), &mean[i][s][j]));
            }
        }
        lab_curve(&curves, SVG_DASHED, "list");
        for (size_t i = 0; i < SIZES; i++) {
            lab_curve_point(&curves, SETS, lab_point((double)size_of(i), list[j]));
        }
        if (stopset_draw(lab, w, &curves, "bits", ", k = %u: %s", k, lab_000_metric_names[j]) !=
            EXIT_YES) {
            return EXIT_TROUBLE;
        }
    }
    return EXIT_YES;
}

/* Where the mean is highest. */
static size_t best_size(struct lab_mean mean[SIZES][SETS][METRICS], size_t set)
{
    size_t best = 0;
    for (size_t i = 1; i < SIZES; i++) {
        best = mean[i][set][SUCCESS].mean > mean[best][set][SUCCESS].mean ? i : best;
    }
    return best;
}

/* The numbers of the text. less: by what share fewer stop short with beta 25 %, run by run. */
static void size_values(struct lab *lab, const struct world *w,
                        struct lab_mean mean[SIZES][SETS][METRICS],
                        const struct lab_mean less[SIZES])
{
    const size_t last = SIZES - 1;
    const size_t most = SETS - 1;
    stopset_skitter_row(lab, 0.2446, &mean[last][0][SUCCESS], w,
                        "k 1, Bloom, 100000 bits: success");
    stopset_skitter_row(lab, 0.9981, &mean[0][0][SHORT], w,
                        "k 1, Bloom, 10000 bits: stopping short");
    stopset_skitter_row(lab, 0.7668, &mean[last][0][SHORT], w,
                        "k 1, Bloom, 100000 bits: stopping short");
    stopset_skitter_row(lab, 0.8, &mean[5][0][NODES], w,
                        "k 1, Bloom, 60000 bits: nodes missed (in the paper above)");
    stopset_skitter_row(lab, 0.8, &mean[5][0][LINKS], w,
                        "k 1, Bloom, 60000 bits: links missed (in the paper above)");
    stopset_skitter_row(lab, 0.7564, &mean[best_size(mean, most)][most][SUCCESS], w,
                        "k 1, beta 25 %: success at the best size");
    stopset_skitter_row(lab, 76.17, &less[0], w,
                        "k 1, 10000 bits: fewer stop short with beta 25 %, by %");
    stopset_skitter_row(lab, 84.35, &less[last], w,
                        "k 1, 100000 bits: fewer stop short with beta 25 %, by %");
}

/*
 * The sentences on Figs. 13 to 17, read as: "approaches": nine tenths of the list's; "less marked":
 * less for each bit; "a wide range": most of the ten sizes.
 */
static void size_sentences(struct lab *lab, const struct world *w,
                           struct lab_mean mean[SIZES][SETS][METRICS], const double list[METRICS])
{
    const size_t most = SETS - 1;
    bool slower = true;
    size_t lower = 0;
    size_t best = 0;
    bool rescued = true;
    for (size_t s = 0; s < SETS; s++) {
        double early = (mean[5][s][SUCCESS].mean - mean[0][s][SUCCESS].mean) / 5;
        double late = (mean[SIZES - 1][s][SUCCESS].mean - mean[5][s][SUCCESS].mean) / 4;
        slower = slower && (s < 2 || late < early);
        best = mean[best_size(mean, s)][s][SUCCESS].mean >
                       mean[best_size(mean, best)][best][SUCCESS].mean
                   ? s
                   : best;
    }
    for (size_t i = 0; i < SIZES; i++) {
        const struct lab_mean *bloom = mean[i][0];
        const struct lab_mean *retouched = mean[i][most];
        rescued = rescued && retouched[SUCCESS].mean >= bloom[SUCCESS].mean &&
                  retouched[SHORT].mean <= bloom[SHORT].mean &&
                  retouched[NODES].mean <= bloom[NODES].mean;
        lower += mean[i][most - 1][COLLISION].mean < list[COLLISION];
    }
    stopset_holds(lab, w, mean[SIZES - 1][0][SUCCESS].mean < mean[SIZES - 1][most][SUCCESS].mean,
                  "k 1, 100000 bits: retouching raises success");
    stopset_holds(lab, w, rescued,
                  "k 1: with beta 25 % more succeed and less is missed at every size");
    stopset_holds(lab, w, best == most,
                  "k 1: of 0, 1, 5, 10 and 25 %, success is highest with beta 25 %");
    stopset_holds(lab, w, slower,
                  "k 1, beta 5 to 25 %: beyond 60000 bits success rises more slowly");
    stopset_holds(lab, w, mean[5][most][SUCCESS].mean >= 0.9 * list[SUCCESS],
                  "k 1, 60000 bits, beta 25 %: success is nine tenths of the list's, or more");
    stopset_holds(lab, w, mean[0][most][SUCCESS].mean > list[SUCCESS] / 4,
                  "k 1, 10000 bits, beta 25 %: success is over a quarter of the list's");
    lab_row_exact(lab, LAB_ROW, (double)lower,
                  "%s, k 1, beta 10 %%: sizes, of ten, with fewer collisions than the list",
                  w->name);
}

static void size_rows(struct lab *lab, const struct world *w,
                      struct lab_mean mean[SIZES][SETS][METRICS], uint32_t k)
{
    for (size_t i = 1; i < SIZES; i += 4) {
        for (size_t s = 0; s < SETS; s++) {
            for (size_t j = 0; j < METRICS; j++) {
                lab_row_mean(lab, LAB_ROW, &mean[i][s][j], "%s, k %u, %.0f bits, %s: %s", w->name,
                             k, (double)size_of(i), set_names[s], lab_000_metric_names[j]);
            }
        }
    }
}

static int sizes_with(struct lab *lab, struct world *w, uint32_t k)
{
    struct lab_mean mean[SIZES][SETS][METRICS] = {0};
    struct lab_mean less[SIZES] = {0};
    double list[METRICS];
    size_t runs = lab_trials(lab, 6, 30);
    world_replay_list(w, 1, list);
    for (size_t r = 0; r < runs * SIZES; r++) {
        struct stopset s;
        double metric[SETS][METRICS];
        int code = stopset_make(lab, w, size_of(r % SIZES), k, &s);
        for (size_t i = 0; i < SETS && code == EXIT_YES; i++) {
            code = stopset_measure(lab, w, &s, TEPAL_RETOUCH_RATIO, set_beta[i], 1,
                                   mean[r % SIZES][i], metric[i]);
        }
        stopset_free(&s);
        if (code != EXIT_YES) {
            return code;
        }
        lab_mean_add(&less[r % SIZES], 100 * (1 - metric[SETS - 1][SHORT] / metric[0][SHORT]));
    }
    size_rows(lab, w, mean, k);
    if (k == 1) {
        size_values(lab, w, mean, less);
        size_sentences(lab, w, mean, list);
    }
    bool fewer = true;
    for (size_t i = 0; i < SIZES; i++) {
        fewer = fewer && mean[i][0][COLLISION].mean <= list[COLLISION];
    }
    stopset_holds(lab, w, fewer,
                  k == 1
                      ? "k 1: stopping short keeps a Bloom filter's collisions below the list's"
                      : "k 5: stopping short keeps a Bloom filter's collisions below the list's");
    return size_charts(lab, w, mean, k);
}

static int sizes(struct lab *lab, struct world *w)
{
    list_rows(lab, w);
    int code = sizes_with(lab, w, 1);
    return code == EXIT_YES ? sizes_with(lab, w, HASHES) : code;
}

int lab_000_figure_13(struct lab *lab)
{
    return lab_000_in_worlds(lab, false, sizes);
}

/* ---- Fig. 14 --------------------------------------------------------------------------------- */

static int troublesome_chart(struct lab *lab, const struct world *w, const struct stopset *s)
{
    struct svg_point point[64] = {0};
    size_t points = 0;
    /* How many have at least so many routes, for powers of the square root of two. */
    for (double degree = 1; s->bad_count > 0 && degree <= s->suspect[0].weight && points < 64;
         degree *= 1.4142135623730951) {
        size_t count = 0;
        while (count < s->bad_count && s->suspect[count].weight >= degree) {
            count++;
        }
        point[points++] = lab_point(degree, (double)count);
    }
    char title[80];
    snprintf(title, sizeof title, "%s routes: troublesome false positives", w->name);
    struct svg_series series[] = {{NULL, SVG_LINE, point, points}};
    return lab_chart(lab, series, 1, title, "routes cut, at least", "false positives",
                     LAB_LOG_BOTH);
}

enum { BAD, WORST, FULLY, TOP, TROUBLES };

static void add_trouble(struct lab_mean mean[TROUBLES], const struct stopset *s)
{
    double all = 0;
    double top = 0;
    double fully = 0;
    for (size_t i = 0; i < s->bad_count; i++) {
        all += s->suspect[i].weight;
        top += i < s->bad_count / 100 + 1 ? s->suspect[i].weight : 0;
        fully += s->suspect[i].weight >= WORLD_TARGETS;
    }
    lab_mean_add(&mean[BAD], (double)s->bad_count);
    lab_mean_add(&mean[WORST], s->bad_count > 0 ? s->suspect[0].weight : 0);
    lab_mean_add(&mean[FULLY], fully);
    lab_mean_add(&mean[TOP], all > 0 ? top / all : 0);
}

static int troublesome(struct lab *lab, struct world *w)
{
    struct lab_mean mean[TROUBLES] = {0};
    size_t runs = lab_trials(lab, 6, 30);
    for (size_t r = 0; r < runs; r++) {
        struct stopset s;
        int code = stopset_make(lab, w, 60000, 1 + lab_sabotaged(lab), &s);
        if (code == EXIT_YES) {
            add_trouble(mean, &s);
            code = r == 0 ? troublesome_chart(lab, w, &s) : code;
        }
        stopset_free(&s);
        if (code != EXIT_YES) {
            return code;
        }
    }
    stopset_skitter_row(lab, 10000, &mean[WORST], w, "routes that the worst of them cuts");
    stopset_skitter_row(lab, 9, &mean[FULLY], w, "false positives that cut 10000 routes or more");
    double others = 0;
    for (uint32_t node = 0; node < w->nodes; node++) {
        others += !w->member[node] && w->passes[node] > 0;
    }
    lab_row_mean(lab, lab_formula(others * tepal_bloom_fp_classic(60000, w->members, 1), NAN),
                 &mean[BAD], "%s, k 1, 60000 bits: false positives, by eq. (5)", w->name);
    lab_row_mean(lab, LAB_ROW, &mean[TOP], "%s: share of all the trouble that the worst 1 %% make",
                 w->name);
    return EXIT_YES;
}

int lab_000_figure_14(struct lab *lab)
{
    return lab_000_in_worlds(lab, false, troublesome);
}
