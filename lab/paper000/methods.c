/*
 * methods.c: ways to retouch beside each other: Figs. 5, 6 and 8 to 10, and those that the paper
 * does not have.
 */
#include <stdlib.h>

#include "paper000/paper000.h"

/* "A is more than B": in how many of the runs it is. */
static void claim(struct lab *lab, uint64_t held, uint64_t runs, const char *words)
{
    lab_row_count(lab, lab_words(1, 0, NAN), held, runs, "%s: in what share of the runs", words);
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
            c->bits[j / BETAS][i][c->runs] = (double)report.bits_changed;
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
    int code = c == NULL ? say_no_memory() : EXIT_YES;
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
                         const char *label, enum lab_axes axes)
{
    struct lab_curves curves = {0};
    for (size_t j = 0; j < c->methods; j++) {
        lab_curve(&curves, SVG_LINE, "%s", c->method[j].name);
        for (size_t i = 0; i < BETAS; i++) {
            struct lab_mean mean = mean_of(value[j][i], c->runs);
            lab_curve_point(&curves, j, lab_point_mean(100 * lab_000_beta[i], &mean));
        }
    }
    return lab_curves_draw(lab, &curves, title, "beta, % of the false positives", label, axes);
}

static void rows_of(struct lab *lab, const struct contest *c,
                    double value[MOST_METHODS][BETAS][MOST_RUNS], const char *what)
{
    for (size_t j = 0; j < c->methods; j++) {
        for (size_t i = 0; i < BETAS; i++) {
            struct lab_mean mean = mean_of(value[j][i], c->runs);
            lab_row_mean(lab, LAB_ROW, &mean, "%s, beta %g %%: %s", c->method[j].name,
                         100 * lab_000_beta[i], what);
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
        lab_row_exact(lab, LAB_ROW, cleared_by_random(lab_000_beta[i]),
                      "random, beta %g %%: bits cleared, closed form", 100 * lab_000_beta[i]);
    }
    size_t all = BETAS - 1;
    claim(lab, above(c, c->bits[RANDOM][all], c->bits[RATIO][all]), c->runs,
          "beta 100 %: random clears more bits than ratio");
    claim(lab, above(c, c->bits[MIN_FN][all], c->bits[MAX_FP][all]), c->runs,
          "beta 100 %: minimum FN clears more bits than maximum FP");
    claim(lab, above(c, c->bits[RATIO][all], c->bits[MAX_FP][all]), c->runs,
          "beta 100 %: ratio clears more bits than maximum FP");
    int code = contest_chart(lab, c, c->bits, "Bits cleared", "bits", LAB_LOG_Y);
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
    struct lab_row row = lab_printed(published, 0, NAN);
    row.right = chi_printed(&lab_000_table[j], BETAS - 1, &row.leeway);
    lab_measured(&row, &mean);
    lab_row(lab, &row, "%s: chi is above, for all beta", c->method[j].name);
}

static void fall_of_chi(struct lab *lab, const struct contest *c)
{
    struct lab_mean fall = {0};
    double first;
    double last;
    (void)chi_printed(&lab_000_table[RATIO], 0, &first);
    (void)chi_printed(&lab_000_table[RATIO], BETAS - 1, &last);
    for (size_t r = 0; r < c->runs; r++) {
        lab_mean_add(&fall, 100 * (1 - c->chi[RATIO][BETAS - 1][r] / c->chi[RATIO][0][r]));
    }
    struct lab_row row = lab_printed(31.3, 0.05, NAN);
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
        lab_row_count(lab, lab_words(1, 0, NAN), held, c->runs * BETAS,
                      "%s: chi above 1, over all beta: in what share of the runs",
                      standard[j].name);
    }
    for (size_t j = 0; j + 1 < TABLES; j++) {
        lab_row_count(lab, lab_words(1, 0, NAN),
                      above(c, c->chi[order[j]][3], c->chi[order[j + 1]][3]), c->runs,
                      "beta 10 %%: chi of %s above that of %s: in what share of the runs",
                      standard[order[j]].name, standard[order[j + 1]].name);
    }
    int code = contest_chart(lab, c, c->chi, "chi", "chi", LAB_LINEAR);
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

struct improvement {
    struct method pair[2];
    struct gain printed[2];
};

static const struct improvement improvements[] = {
    {{{"minimum FN", TEPAL_RETOUCH_MIN_FN, TEPAL_RETOUCH_BASIS_B, false},
      {"improved minimum FN", TEPAL_RETOUCH_IMPROVED_MIN_FN, TEPAL_RETOUCH_BASIS_B, false}},
     {{0, 66.048, 2}, {6, 84.129, 42}}},
    {{{"maximum FP", TEPAL_RETOUCH_MAX_FP, TEPAL_RETOUCH_BASIS_ALL, false},
      {"improved maximum FP", TEPAL_RETOUCH_IMPROVED_MAX_FP, TEPAL_RETOUCH_BASIS_ALL, false}},
     {{BETAS, 0, 0}, {BETAS, 0, 0}}},
    {{{"ratio", TEPAL_RETOUCH_RATIO, TEPAL_RETOUCH_BASIS_ALL, false},
      {"improved ratio", TEPAL_RETOUCH_IMPROVED_RATIO, TEPAL_RETOUCH_BASIS_ALL, false}},
     {{BETAS, 0, 0}, {BETAS, 0, 0}}}};

int lab_000_improved(struct lab *lab)
{
    const struct improvement *improvement = &improvements[lab_number(lab) - 8];
    struct contest *c = contest(lab, improvement->pair, 2, 10, 60);
    if (c == NULL) {
        return EXIT_TROUBLE;
    }
    rows_of(lab, c, c->chi, "chi");
    for (size_t i = 0; i < BETAS; i++) {
        struct lab_mean gain = gain_of(c, i);
        struct lab_row row = LAB_ROW;
        for (size_t j = 0; j < COUNT(improvement->printed); j++) {
            if (improvement->printed[j].beta == i) {
                row.published = improvement->printed[j].published;
                row.rounding = 0.0005;
                row.right = improvement->printed[j].right;
                row.leeway = 0.5;
            }
        }
        lab_measured(&row, &gain);
        lab_row(lab, &row, "beta %g %%: gain in chi, %%", 100 * lab_000_beta[i]);
    }
    claim(lab, above(c, c->chi[1][BETAS - 1], c->chi[0][BETAS - 1]), c->runs,
          "beta 100 %: the improved algorithm has the higher chi");
    int code = contest_chart(lab, c, c->chi, "chi, as printed and improved", "chi", LAB_LINEAR);
    free(c);
    return code;
}

/* ---- ours: sacrifice and sweep --------------------------------------------------------------- */

int lab_000_sacrifice(struct lab *lab)
{
    enum { IMPROVED = 1, SACRIFICE = 5 };
    static const struct method method[] = {
        {"ratio", TEPAL_RETOUCH_RATIO, TEPAL_RETOUCH_BASIS_ALL, false},
        {"improved ratio", TEPAL_RETOUCH_IMPROVED_RATIO, TEPAL_RETOUCH_BASIS_ALL, false},
        {"improved ratio, B alone known", TEPAL_RETOUCH_IMPROVED_RATIO, TEPAL_RETOUCH_BASIS_B,
         false},
        {"improved ratio and sweep", TEPAL_RETOUCH_IMPROVED_RATIO, TEPAL_RETOUCH_BASIS_ALL, true},
        {"random and sweep", TEPAL_RETOUCH_RANDOM, TEPAL_RETOUCH_BASIS_B, true},
        {"sacrifice", TEPAL_RETOUCH_SACRIFICE, TEPAL_RETOUCH_BASIS_B, false}};
    size_t methods = COUNT(method);
    struct contest *c = contest(lab, method, methods, 5, 30);
    if (c == NULL) {
        return EXIT_TROUBLE;
    }
    rows_of(lab, c, c->chi, "chi");
    rows_of(lab, c, c->lost, "false negatives");
    lab_row_count(lab, lab_expected(1, 0),
                  above(c, c->lost[IMPROVED][BETAS - 1], c->lost[SACRIFICE][BETAS - 1]), c->runs,
                  "beta 100 %%: sacrifice loses fewer than improved ratio: in what share of the "
                  "runs");
    int code = contest_chart(lab, c, c->chi, "chi, beyond the paper", "chi", LAB_LINEAR);
    code = code == EXIT_YES ? contest_chart(lab, c, c->lost, "False negatives, beyond the paper",
                                            "false negatives", LAB_LINEAR)
                            : code;
    free(c);
    return code;
}
