/*
 * paper000_figures.c: Figs. 3, 5, 6 and 8 to 11 of the paper on retouched Bloom filters, the random
 * clearing of Sec. III-B, the values named in its text, and the methods that it does not have.
 */
#include <stdlib.h>

#include "paper000.h"

static int failed(enum tepal_status status)
{
    return say_error(NULL, "lab", "%s", tepal_status_message(status));
}

/* A value that the text names, beside an exact one of ours. */
static void exactly(struct lab *lab, double published, double rounding, double ours,
                    const char *words)
{
    struct lab_row row = LAB_ROW;
    row.published = published;
    row.rounding = rounding;
    row.right = ours; /* where the text is off it contradicts its own formula */
    lab_exact(&row, ours);
    lab_row(lab, &row, "%s", words);
}

/* A sentence of the text that is so (1) or not (0). */
static void holds(struct lab *lab, bool so, const char *words)
{
    struct lab_row row = LAB_ROW;
    row.published = 1;
    lab_exact(&row, so);
    lab_row(lab, &row, "%s (1: so)", words);
}

/* "A is more than B": in how many of the runs it is. */
static void claim(struct lab *lab, uint64_t held, uint64_t runs, const char *words)
{
    struct lab_row row = LAB_ROW;
    row.published = 1;
    lab_counted(&row, held, runs);
    lab_row(lab, &row, "%s: in what share of the runs", words);
}

static struct svg_point point_of(double x, const struct lab_mean *mean)
{
    double half = LAB_Z * lab_mean_error(mean);
    return (struct svg_point){x, mean->mean, fmax(0, mean->mean - half), mean->mean + half};
}

/* ---- Fig. 3: the Bloom filter ---------------------------------------------------------------- */

#define STRANGERS 100000
#define POINTS    10

/* The false-positive rate of fresh filters, over filters. */
static int measure_fp(struct lab *lab, uint64_t m, uint64_t n, uint32_t k, struct lab_mean *fp)
{
    size_t filters = lab_trials(lab, 8, 60);
    *fp = (struct lab_mean){0};
    for (size_t f = 0; f < filters; f++) {
        struct tepal_params params = TEPAL_PARAMS_INIT;
        struct tepal_bloom *bloom;
        uint64_t hits = 0;
        params.cells = m;
        params.hashes = lab_sabotaged(lab) ? k + 1 : k;
        enum tepal_status status = tepal_bloom_create(&params, NULL, &bloom);
        if (status != TEPAL_OK) {
            return failed(status);
        }
        for (uint64_t i = 0; i < n; i++) {
            (void)tepal_bloom_add(bloom, lab_000_digest(lab));
        }
        for (size_t i = 0; i < STRANGERS; i++) {
            hits += tepal_bloom_query(bloom, lab_000_digest(lab));
        }
        lab_mean_add(fp, (double)hits / STRANGERS);
        tepal_bloom_free(bloom);
    }
    return EXIT_YES;
}

struct sweep {
    const char *title;
    const char *x_label;
    uint64_t m[POINTS];
    uint64_t n[POINTS];
    uint32_t k[POINTS];
    const uint64_t *x; /* which of them varies; NULL: k */
};

static int sweep_chart(struct lab *lab, const struct sweep *sweep)
{
    struct svg_point model[POINTS] = {0};
    struct svg_point ours[POINTS] = {0};
    for (size_t i = 0; i < POINTS; i++) {
        uint64_t m = sweep->m[i];
        uint64_t n = sweep->n[i];
        uint32_t k = sweep->k[i];
        struct lab_mean fp;
        struct lab_row row = LAB_ROW;
        double x = sweep->x == NULL ? k : (double)sweep->x[i];
        if (measure_fp(lab, m, n, k, &fp) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
        row.published = tepal_bloom_fp_classic(m, n, k);
        lab_measured(&row, &fp);
        lab_row(lab, &row, "m %.0f, n %.0f, k %u: eq. (5) and measured", (double)m, (double)n, k);
        model[i] = (struct svg_point){.x = x, .y = row.published};
        ours[i] = point_of(x, &fp);
    }
    struct svg_series series[] = {{"eq. (5)", SVG_DASHED, model, POINTS},
                                  {"measured", SVG_MARKS, ours, POINTS}};
    struct svg_chart chart = {.title = sweep->title,
                              .x_label = sweep->x_label,
                              .y_label = "false-positive rate",
                              .y_log = true,
                              .series = series,
                              .count = 2};
    return lab_chart(lab, &chart);
}

int lab_000_figure_3(struct lab *lab)
{
    struct sweep over_k = {.title = "The rate by the number of hashes", .x_label = "k"};
    struct sweep over_m = {.title = "The rate by the size", .x_label = "m, bits"};
    struct sweep over_n = {.title = "The rate by the number of members", .x_label = "n"};
    for (uint32_t i = 0; i < POINTS; i++) {
        over_k.k[i] = 1 + i;
        over_m.k[i] = over_n.k[i] = HASHES;
        over_k.m[i] = over_n.m[i] = BITS;
        over_m.m[i] = BITS / 10 * (i + 3);
        over_k.n[i] = over_m.n[i] = MEMBERS;
        over_n.n[i] = MEMBERS / 5 * (i + 4);
    }
    over_m.x = over_m.m;
    over_n.x = over_n.n;
    exactly(lab, 0.0094, 0.00005, tepal_bloom_fp_classic(BITS, MEMBERS, HASHES),
            "m 100000, n 10000, k 5: eq. (5), as the text has it");
    exactly(lab, 0.6185, 0.00005, tepal_retouched_least_fp(1, 1),
            "eq. (7): the rate of one bit a member at the best k");
    exactly(lab, 4, 0.5, 1e6 * 32 / 8 / 1e6, "a million addresses of 32 bits as a list, in MB");
    exactly(lab, 25.6, 0.05, 8006 * 32 / 10000.0, "8006 addresses: compression by 10000 bits");
    exactly(lab, 4.2, 0.05, 8006 * 32 / 60000.0, "8006 addresses: compression by 60000 bits");
    exactly(lab, 2.5, 0.05, 8006 * 32 / 100000.0, "8006 addresses: compression by 100000 bits");
    int code = sweep_chart(lab, &over_k);
    code = code == EXIT_YES ? sweep_chart(lab, &over_m) : code;
    return code == EXIT_YES ? sweep_chart(lab, &over_n) : code;
}

/* ---- Sec. III-B: clearing bits at random ----------------------------------------------------- */

#define CLEARED 6

int lab_000_section_3b(struct lab *lab)
{
    static const uint64_t cleared[CLEARED] = {100, 500, 2000, 5000, 10000, 20000};
    struct lab_mean chi[CLEARED] = {0};
    struct lab_mean fp[CLEARED] = {0};
    struct lab_mean fn[CLEARED] = {0};
    struct svg_point model[CLEARED] = {0};
    struct svg_point mark[2][CLEARED] = {0};
    size_t runs = lab_trials(lab, 15, 100);
    for (size_t r = 0; r < runs; r++) {
        struct sample *s = lab_000_sample_draw(lab);
        struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
        int code = s == NULL ? EXIT_TROUBLE : EXIT_YES;
        options.method = lab_sabotaged(lab) ? TEPAL_RETOUCH_RATIO : TEPAL_RETOUCH_RANDOM_BITS;
        options.seed = lab_draw(lab);
        for (size_t i = 0; i < CLEARED && code == EXIT_YES; i++) {
            struct tepal_retouch_report report;
            options.bits = cleared[i];
            code = lab_000_sample_retouch(s, &options, 1, &report);
            if (code == EXIT_YES) {
                lab_mean_add(&chi[i], report.chi);
                lab_mean_add(&fp[i], report.delta_fp);
                lab_mean_add(&fn[i], report.delta_fn);
            }
        }
        lab_000_sample_free(s);
        if (code != EXIT_YES) {
            return code;
        }
    }
    for (size_t i = 0; i < CLEARED; i++) {
        double s = (double)cleared[i];
        double gone = 1 - tepal_retouched_kept(BITS, MEMBERS, HASHES, s);
        struct lab_row row = LAB_ROW;
        row.published = gone;
        lab_measured(&row, &fp[i]);
        lab_row(lab, &row, "%.0f bits cleared: share of false positives removed, eq. (16)", s);
        lab_measured(&row, &fn[i]);
        lab_row(lab, &row, "%.0f bits cleared: share of members lost, eq. (16)", s);
        row.published = 1;
        lab_measured(&row, &chi[i]);
        lab_row(lab, &row, "%.0f bits cleared: chi", s);
        model[i] = (struct svg_point){.x = s, .y = gone};
        mark[0][i] = point_of(s, &fp[i]);
        mark[1][i] = point_of(s, &fn[i]);
    }
    struct svg_series series[] = {{"eq. (16)", SVG_DASHED, model, CLEARED},
                                  {"false positives removed", SVG_MARKS, mark[0], CLEARED},
                                  {"members lost", SVG_MARKS, mark[1], CLEARED}};
    struct svg_chart chart = {.title = "Bits cleared at random remove both in the same proportion",
                              .x_label = "bits cleared",
                              .y_label = "share",
                              .series = series,
                              .count = 3};
    return lab_chart(lab, &chart);
}

/* ---- methods beside each other --------------------------------------------------------------- */

#define MOST_METHODS 6
#define MOST_RUNS    100

struct method {
    const char *name;
    enum tepal_retouch_method method;
    enum tepal_retouch_basis basis;
    bool sweep;
};

/* Every run takes one filter for all methods, so that they can be compared run by run. */
struct contest {
    const struct method *method;
    size_t methods;
    size_t runs;
    double chi[MOST_METHODS][BETAS][MOST_RUNS];
    double bits[MOST_METHODS][BETAS][MOST_RUNS];
    double lost[MOST_METHODS][BETAS][MOST_RUNS];
};

static int contest_run(struct lab *lab, struct contest *c)
{
    struct sample *s = lab_000_sample_draw(lab);
    uint64_t seed = lab_draw(lab);
    int code = s == NULL ? EXIT_TROUBLE : EXIT_YES;
    for (size_t j = 0; j < c->methods * BETAS && code == EXIT_YES; j++) {
        const struct method *method = &c->method[j / BETAS];
        size_t i = j % BETAS;
        struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
        struct tepal_retouch_report report;
        options.method = lab_sabotaged(lab) ? TEPAL_RETOUCH_IMPROVED_MAX_FP : method->method;
        options.basis = method->basis;
        options.sweep = method->sweep;
        options.seed = seed;
        code = lab_000_sample_retouch(s, &options, lab_000_beta[i], &report);
        if (code == EXIT_YES) {
            c->chi[j / BETAS][i][c->runs] = report.chi;
            c->bits[j / BETAS][i][c->runs] = (double)report.bits_cleared;
            c->lost[j / BETAS][i][c->runs] = (double)report.false_negatives;
        }
    }
    lab_000_sample_free(s);
    c->runs++;
    return code;
}

/* NULL after having said why. */
static struct contest *contest(struct lab *lab, const struct method *method, size_t methods,
                               size_t quick, size_t full)
{
    struct contest *c = calloc(1, sizeof *c);
    size_t runs = lab_trials(lab, quick, full);
    int code = c == NULL ? say_error(NULL, "lab", "out of memory") : EXIT_YES;
    if (code == EXIT_YES) {
        c->method = method;
        c->methods = methods;
    }
    for (size_t r = 0; r < runs && code == EXIT_YES; r++) {
        code = contest_run(lab, c);
    }
    if (code != EXIT_YES) {
        free(c);
        return NULL;
    }
    return c;
}

static struct lab_mean mean_of(const double *value, size_t count)
{
    struct lab_mean mean = {0};
    for (size_t i = 0; i < count; i++) {
        lab_mean_add(&mean, value[i]);
    }
    return mean;
}

static int contest_chart(struct lab *lab, const struct contest *c,
                         double value[MOST_METHODS][BETAS][MOST_RUNS], const char *title,
                         const char *label, bool y_log)
{
    struct svg_point point[MOST_METHODS][BETAS] = {0};
    struct svg_series series[MOST_METHODS] = {0};
    for (size_t j = 0; j < c->methods; j++) {
        for (size_t i = 0; i < BETAS; i++) {
            struct lab_mean mean = mean_of(value[j][i], c->runs);
            point[j][i] = point_of(100 * lab_000_beta[i], &mean);
        }
        series[j] = (struct svg_series){c->method[j].name, SVG_LINE, point[j], BETAS};
    }
    struct svg_chart chart = {.title = title,
                              .x_label = "beta, % of the false positives",
                              .y_label = label,
                              .y_log = y_log,
                              .series = series,
                              .count = c->methods};
    return lab_chart(lab, &chart);
}

static void rows_of(struct lab *lab, const struct contest *c,
                    double value[MOST_METHODS][BETAS][MOST_RUNS], const char *what)
{
    for (size_t j = 0; j < c->methods; j++) {
        for (size_t i = 0; i < BETAS; i++) {
            struct lab_mean mean = mean_of(value[j][i], c->runs);
            struct lab_row row = LAB_ROW;
            lab_measured(&row, &mean);
            lab_row(lab, &row, "%s, beta %g %%: %s", c->method[j].name, 100 * lab_000_beta[i],
                    what);
        }
    }
}

/* In how many runs method `a` has more than method `b`. */
static uint64_t above(const struct contest *c, const double a[MOST_RUNS], const double b[MOST_RUNS])
{
    uint64_t held = 0;
    for (size_t r = 0; r < c->runs; r++) {
        held += a[r] > b[r];
    }
    return held;
}

static const struct method standard[TABLES] = {
    [RANDOM] = {"random", TEPAL_RETOUCH_RANDOM, TEPAL_RETOUCH_BASIS_B, false},
    [MIN_FN] = {"minimum FN", TEPAL_RETOUCH_MIN_FN, TEPAL_RETOUCH_BASIS_B, false},
    [MAX_FP] = {"maximum FP", TEPAL_RETOUCH_MAX_FP, TEPAL_RETOUCH_BASIS_ALL, false},
    [RATIO] = {"ratio", TEPAL_RETOUCH_RATIO, TEPAL_RETOUCH_BASIS_ALL, false}};

/* ---- Fig. 5 ---------------------------------------------------------------------------------- */

/* Random selection clears the share y of the ones: the closed form. */
static double cleared_by_random(double beta)
{
    double ones = BITS * (1 - tepal_retouched_zero(BITS, MEMBERS, HASHES));
    double bad = (UNIVERSE - MEMBERS) * tepal_bloom_fp_exact(BITS, MEMBERS, HASHES);
    double cleared = NAN;
    (void)tepal_retouched_random(MEMBERS, HASHES, ones, beta * bad, bad, &cleared, NULL, NULL);
    return cleared;
}

int lab_000_figure_5(struct lab *lab)
{
    struct contest *c = contest(lab, standard, TABLES, 10, 60);
    if (c == NULL) {
        return EXIT_TROUBLE;
    }
    rows_of(lab, c, c->bits, "bits cleared");
    for (size_t i = 0; i < BETAS; i++) {
        struct lab_row row = LAB_ROW;
        lab_exact(&row, cleared_by_random(lab_000_beta[i]));
        lab_row(lab, &row, "random, beta %g %%: bits cleared, closed form", 100 * lab_000_beta[i]);
    }
    size_t all = BETAS - 1;
    claim(lab, above(c, c->bits[RANDOM][all], c->bits[RATIO][all]), c->runs,
          "beta 100 %: random clears more bits than ratio");
    claim(lab, above(c, c->bits[MIN_FN][all], c->bits[MAX_FP][all]), c->runs,
          "beta 100 %: minimum FN clears more bits than maximum FP");
    claim(lab, above(c, c->bits[RATIO][all], c->bits[MAX_FP][all]), c->runs,
          "beta 100 %: ratio clears more bits than maximum FP");
    int code = contest_chart(lab, c, c->bits, "Bits cleared", "bits", true);
    free(c);
    return code;
}

/* ---- Fig. 6 ---------------------------------------------------------------------------------- */

/* chi as Tables I to IV have it; its parts are taken, since two of the totals are misprinted. */
static double chi_printed(const struct table *table, size_t i, double *spread)
{
    const struct printed *cell = table->cell[i];
    double removed = cell[INSIDE].mean + cell[BEYOND].mean;
    double chi = removed / table->cell[BETAS - 1][INSIDE].mean / (cell[LOST].mean / MEMBERS);
    /* At 100 % all are removed in every run: only the members lost vary. */
    double noise = i == BETAS - 1 ? 0 : cell[BOTH].half / removed;
    *spread = chi * hypot(noise, cell[LOST].half / cell[LOST].mean) * LAB_Z / STUDENT_14;
    return chi;
}

static void chi_rows(struct lab *lab, const struct contest *c)
{
    for (size_t j = 0; j < TABLES; j++) {
        for (size_t i = 0; i < BETAS; i++) {
            struct lab_mean mean = mean_of(c->chi[j][i], c->runs);
            struct lab_row row = LAB_ROW;
            row.published = chi_printed(&lab_000_table[j], i, &row.spread);
            row.rounding = 0.5 * row.published / lab_000_table[j].cell[i][LOST].mean;
            lab_measured(&row, &mean);
            lab_row(lab, &row, "%s, beta %g %%: chi, from the printed table", c->method[j].name,
                    100 * lab_000_beta[i]);
        }
    }
}

/* "chi above x" whatever beta: the lowest, which is that at 100 %; the tables have it too. */
static void lowest_chi(struct lab *lab, const struct contest *c, size_t j, double published)
{
    struct lab_mean mean = mean_of(c->chi[j][BETAS - 1], c->runs);
    struct lab_row row = LAB_ROW;
    row.published = published;
    row.right = chi_printed(&lab_000_table[j], BETAS - 1, &row.leeway);
    lab_measured(&row, &mean);
    lab_row(lab, &row, "%s: chi is above, whatever beta", c->method[j].name);
}

static void fall_of_chi(struct lab *lab, const struct contest *c)
{
    struct lab_mean fall = {0};
    struct lab_row row = LAB_ROW;
    double first;
    double last;
    (void)chi_printed(&lab_000_table[RATIO], 0, &first);
    (void)chi_printed(&lab_000_table[RATIO], BETAS - 1, &last);
    for (size_t r = 0; r < c->runs; r++) {
        lab_mean_add(&fall, 100 * (1 - c->chi[RATIO][BETAS - 1][r] / c->chi[RATIO][0][r]));
    }
    row.published = 31.3;
    row.rounding = 0.05;
    row.spread = 100 * (1 - 0.313) * hypot(first / 2.6, last / 1.8);
    lab_measured(&row, &fall);
    lab_row(lab, &row, "ratio: chi falls from beta 1 %% to 100 %%, by %%");
}

int lab_000_figure_6(struct lab *lab)
{
    static const size_t order[TABLES] = {RATIO, MAX_FP, MIN_FN, RANDOM};
    struct contest *c = contest(lab, standard, TABLES, 10, 60);
    if (c == NULL) {
        return EXIT_TROUBLE;
    }
    chi_rows(lab, c);
    lowest_chi(lab, c, RANDOM, 1.4);
    lowest_chi(lab, c, RATIO, 1.8);
    fall_of_chi(lab, c);
    for (size_t j = 0; j < TABLES; j++) {
        double one[MOST_RUNS];
        for (size_t r = 0; r < MOST_RUNS; r++) {
            one[r] = 1;
        }
        uint64_t held = 0;
        for (size_t i = 0; i < BETAS; i++) {
            held += above(c, c->chi[j][i], one);
        }
        struct lab_row row = LAB_ROW;
        row.published = 1;
        lab_counted(&row, held, c->runs * BETAS);
        lab_row(lab, &row, "%s: chi above 1, over all beta: in what share of the runs",
                standard[j].name);
    }
    for (size_t j = 0; j + 1 < TABLES; j++) {
        struct lab_row row = LAB_ROW;
        row.published = 1;
        lab_counted(&row, above(c, c->chi[order[j]][3], c->chi[order[j + 1]][3]), c->runs);
        lab_row(lab, &row, "beta 10 %%: chi of %s above that of %s: in what share of the runs",
                standard[order[j]].name, standard[order[j + 1]].name);
    }
    int code = contest_chart(lab, c, c->chi, "chi", "chi", false);
    free(c);
    return code;
}

/* ---- Figs. 8 to 10: the improved algorithms -------------------------------------------------- */

/* By how many percent chi rises from the first method to the second. */
static struct lab_mean gain_of(const struct contest *c, size_t i)
{
    struct lab_mean gain = {0};
    for (size_t r = 0; r < c->runs; r++) {
        lab_mean_add(&gain, 100 * (c->chi[1][i][r] / c->chi[0][i][r] - 1));
    }
    return gain;
}

/* What Sec. V-C prints for a gain, and what a reference program apart from the library found. */
struct gain {
    size_t beta;
    double published;
    double right;
};

static int improved(struct lab *lab, const struct method pair[2], const struct gain *printed,
                    size_t count)
{
    struct contest *c = contest(lab, pair, 2, 10, 60);
    if (c == NULL) {
        return EXIT_TROUBLE;
    }
    rows_of(lab, c, c->chi, "chi");
    for (size_t i = 0; i < BETAS; i++) {
        struct lab_mean gain = gain_of(c, i);
        struct lab_row row = LAB_ROW;
        for (size_t j = 0; j < count; j++) {
            if (printed[j].beta == i) {
                row.published = printed[j].published;
                row.rounding = 0.0005;
                row.right = printed[j].right;
                row.leeway = 0.5;
            }
        }
        lab_measured(&row, &gain);
        lab_row(lab, &row, "beta %g %%: gain in chi, %%", 100 * lab_000_beta[i]);
    }
    claim(lab, above(c, c->chi[1][BETAS - 1], c->chi[0][BETAS - 1]), c->runs,
          "beta 100 %: the improved algorithm has the higher chi");
    int code = contest_chart(lab, c, c->chi, "chi, as printed and improved", "chi", false);
    free(c);
    return code;
}

int lab_000_figure_8(struct lab *lab)
{
    static const struct method pair[] = {
        {"minimum FN", TEPAL_RETOUCH_MIN_FN, TEPAL_RETOUCH_BASIS_B, false},
        {"improved minimum FN", TEPAL_RETOUCH_IMPROVED_MIN_FN, TEPAL_RETOUCH_BASIS_B, false}};
    static const struct gain printed[] = {{0, 66.048, 2}, {6, 84.129, 42}};
    return improved(lab, pair, printed, 2);
}

int lab_000_figure_9(struct lab *lab)
{
    static const struct method pair[] = {
        {"maximum FP", TEPAL_RETOUCH_MAX_FP, TEPAL_RETOUCH_BASIS_ALL, false},
        {"improved maximum FP", TEPAL_RETOUCH_IMPROVED_MAX_FP, TEPAL_RETOUCH_BASIS_ALL, false}};
    return improved(lab, pair, NULL, 0);
}

int lab_000_figure_10(struct lab *lab)
{
    static const struct method pair[] = {
        {"ratio", TEPAL_RETOUCH_RATIO, TEPAL_RETOUCH_BASIS_ALL, false},
        {"improved ratio", TEPAL_RETOUCH_IMPROVED_RATIO, TEPAL_RETOUCH_BASIS_ALL, false}};
    return improved(lab, pair, NULL, 0);
}

/* ---- ours: sacrifice and sweep --------------------------------------------------------------- */

int lab_000_sacrifice(struct lab *lab)
{
    static const struct method method[] = {
        {"ratio", TEPAL_RETOUCH_RATIO, TEPAL_RETOUCH_BASIS_ALL, false},
        {"improved ratio", TEPAL_RETOUCH_IMPROVED_RATIO, TEPAL_RETOUCH_BASIS_ALL, false},
        {"improved ratio, B alone known", TEPAL_RETOUCH_IMPROVED_RATIO, TEPAL_RETOUCH_BASIS_B,
         false},
        {"improved ratio and sweep", TEPAL_RETOUCH_IMPROVED_RATIO, TEPAL_RETOUCH_BASIS_ALL, true},
        {"random and sweep", TEPAL_RETOUCH_RANDOM, TEPAL_RETOUCH_BASIS_B, true},
        {"sacrifice", TEPAL_RETOUCH_SACRIFICE, TEPAL_RETOUCH_BASIS_B, false}};
    size_t methods = sizeof method / sizeof *method;
    struct contest *c = contest(lab, method, methods, 5, 30);
    if (c == NULL) {
        return EXIT_TROUBLE;
    }
    rows_of(lab, c, c->chi, "chi");
    rows_of(lab, c, c->lost, "false negatives");
    int code = contest_chart(lab, c, c->chi, "chi, beyond the paper", "chi", false);
    code = code == EXIT_YES ? contest_chart(lab, c, c->lost, "False negatives, beyond the paper",
                                            "false negatives", false)
                            : code;
    free(c);
    return code;
}

/* ---- Fig. 11: the lists of elements ---------------------------------------------------------- */

#define SIZES 10

struct lists {
    double filled[2]; /* share of the cells that have an element: of A, of F_P */
    double length[2]; /* elements in a cell that has one */
};

static struct tepal_bloom *bloom_of(uint64_t bits)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct tepal_bloom *bloom = NULL;
    params.cells = bits;
    params.hashes = HASHES;
    enum tepal_status status = tepal_bloom_create(&params, NULL, &bloom);
    if (status != TEPAL_OK) {
        failed(status);
    }
    return bloom;
}

/* The cells that false positives touch are the bits of a Bloom filter of their own. */
static int measure_lists(struct lab *lab, uint64_t bits, struct lists *lists)
{
    struct tepal_bloom *a = bloom_of(bits);
    struct tepal_bloom *b = bloom_of(bits);
    double bad = 0;
    if (a != NULL && b != NULL) {
        for (size_t i = 0; i < MEMBERS; i++) {
            (void)tepal_bloom_add(a, lab_000_digest(lab));
        }
        for (size_t i = 0; i < UNIVERSE - MEMBERS; i++) {
            struct tepal_digest d = lab_000_digest(lab);
            if (tepal_bloom_query(a, d)) {
                (void)tepal_bloom_add(b, d);
                bad++;
            }
        }
        lists->filled[0] = tepal_bloom_fill_now(a);
        lists->filled[1] = tepal_bloom_fill_now(b);
        lists->length[0] = (double)HASHES * MEMBERS / (double)tepal_bloom_ones(a);
        lists->length[1] = HASHES * bad / (double)tepal_bloom_ones(b);
    }
    int code = a == NULL || b == NULL ? EXIT_TROUBLE : EXIT_YES;
    tepal_bloom_free(a);
    tepal_bloom_free(b);
    return code;
}

static int lists_chart(struct lab *lab, struct lab_mean mean[2][SIZES], const char *title,
                       const char *label, bool y_log)
{
    struct svg_point point[2][SIZES] = {0};
    for (size_t i = 0; i < SIZES; i++) {
        point[0][i] = point_of((double)(i + 1) * BITS / SIZES, &mean[0][i]);
        point[1][i] = point_of((double)(i + 1) * BITS / SIZES, &mean[1][i]);
    }
    struct svg_series series[] = {{"v_A", SVG_LINE, point[0], SIZES},
                                  {"v_B", SVG_LINE, point[1], SIZES}};
    struct svg_chart chart = {.title = title,
                              .x_label = "m, cells",
                              .y_label = label,
                              .y_log = y_log,
                              .series = series,
                              .count = 2};
    return lab_chart(lab, &chart);
}

/* What share of their variance a straight line explains. */
static double straightness(const struct lab_mean mean[SIZES])
{
    double x = 0;
    double y = 0;
    double xx = 0;
    double yy = 0;
    double xy = 0;
    for (size_t i = 0; i < SIZES; i++) {
        x += (double)i / SIZES;
        y += mean[i].mean / SIZES;
    }
    for (size_t i = 0; i < SIZES; i++) {
        xx += ((double)i - x) * ((double)i - x);
        yy += (mean[i].mean - y) * (mean[i].mean - y);
        xy += ((double)i - x) * (mean[i].mean - y);
    }
    return xy * xy / (xx * yy);
}

/*
 * The sentences of Sec. V-C on Fig. 11, read as: "nearly linearly": a line explains nine tenths;
 * "the same": within 2 % of the axis, the size of a symbol; "one element": rounded to whole ones.
 */
static void shapes(struct lab *lab, struct lab_mean filled[2][SIZES],
                   struct lab_mean length[2][SIZES])
{
    size_t same = 0;
    struct lab_row row = LAB_ROW;
    while (same < SIZES && fabs(filled[0][same].mean - filled[1][same].mean) < 0.02) {
        same++;
    }
    holds(lab, straightness(filled[0]) >= 0.9,
          "v_A: occupancy falls nearly linearly: a line explains 90 %");
    row.published = 90000;
    lab_exact(&row, (double)(same * BITS / SIZES));
    lab_row(lab, &row, "v_A and v_B are filled alike, within 2 %% of the axis, up to m");
    row.published = 1;
    row.rounding = 0.5;
    lab_measured(&row, &length[0][SIZES - 1]);
    lab_row(lab, &row, "v_A at m = 100000: elements in a filled cell, in the text one");
}

int lab_000_figure_11(struct lab *lab)
{
    struct lab_mean filled[2][SIZES] = {0};
    struct lab_mean length[2][SIZES] = {0};
    size_t runs = lab_trials(lab, 3, 10);
    for (size_t i = 0; i < SIZES * runs; i++) {
        struct lists lists = {0};
        if (measure_lists(lab, (i / runs + 1) * BITS / SIZES, &lists) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
        for (size_t j = 0; j < 2; j++) {
            lab_mean_add(&filled[j][i / runs], lists.filled[j]);
            lab_mean_add(&length[j][i / runs], lists.length[j]);
        }
    }
    for (size_t i = 0; i < 2 * SIZES; i++) {
        struct lab_row row = LAB_ROW;
        size_t m = (i / 2 + 1) * BITS / SIZES;
        lab_measured(&row, &filled[i % 2][i / 2]);
        lab_row(lab, &row, "m %zu: filled share of v_%c", m, "AB"[i % 2]);
        lab_measured(&row, &length[i % 2][i / 2]);
        lab_row(lab, &row, "m %zu: mean list of v_%c", m, "AB"[i % 2]);
    }
    holds(lab, length[0][0].mean < 10, "v_A: fewer than ten in a cell at m = 10000");
    holds(lab, length[1][0].mean / length[1][SIZES - 1].mean >= 100,
          "v_B: lists shrink by two orders of magnitude or more");
    shapes(lab, filled, length);
    int code = lists_chart(lab, filled, "Cells with an element", "share of the cells", false);
    return code == EXIT_YES
               ? lists_chart(lab, length, "Elements in a cell that has one", "elements", true)
               : code;
}
