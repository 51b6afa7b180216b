/*
 * tables.c: generalized Bloom filters (Laufer, Velloso, Duarte). Tables 1 to 8 by the paper's
 * formulas and, where a filter can be made of it, by filters; the numbers in the text.
 */
#include <inttypes.h>
#include <stdio.h>

#include "paper001/paper001.h"

/* ---- Tables 1 to 8 --------------------------------------------------------------------------- */

enum { BLOOM_FP, BLOOM_FN, BLOOM_FP_BOUND, BLOOM_FN_BOUND, FP, FN, FP_BOUND, FN_BOUND, COLUMNS };
static const char *const columns[COLUMNS] = {"Bloom f_p", "Bloom f_n", "Bloom F_p", "Bloom F_n",
                                             "f_p",       "f_n",       "F_p",       "F_n"};

#define ROWS 5

/* One printed row. In percent in Tables 1 to 6. */
struct printed {
    double zeros;
    uint64_t bits;
    uint32_t k0;
    uint32_t k1;
    double cell[COLUMNS];
};

/* A cell that we hold to be misprinted, and what it should be. */
struct misprint {
    uint32_t k1;
    int column;
    double right;
    double leeway;
};

enum by { BY_ZEROS, BY_HASHES, BY_BITS };

struct table {
    enum by by; /* what changes from row to row */
    bool percent;
    struct printed row[ROWS];
    struct misprint misprint[2];
};

/* Half of the unit of the last printed digit: one decimal of a percentage, or two digits. */
static double half_unit(bool percent, double printed)
{
    return percent || printed == 0 ? 0.05 : 0.5 * pow(10, floor(log10(printed) + 1e-9) - 1);
}

/*
 * Some cells were rounded twice, first to one digit more and then half up: 1.546 is printed as 1.6.
 * So a value may lie below what is printed by a tenth of half a unit more than above.
 */
static double rounding_of(bool percent, double printed, double ours)
{
    double half = half_unit(percent, printed);
    return ours < printed ? 1.1 * half : half;
}

/* The columns as they were computed: f_p by eqs. (16) and (26), f_n by (12), the bounds by (19),
 * (24). Sabotaged: f_p by eq. (8). */
static double formula(const struct lab *lab, const struct printed *p, int column)
{
    uint32_t k0 = column < FP ? 0 : p->k0;
    switch (column < FP ? column + FP : column) {
    case FP:
        return lab_sabotaged(lab)
                   ? tepal_generalized_fp_classic(p->bits, GBF_KEYS, k0, p->k1, p->zeros)
                   : tepal_generalized_fp_approx(p->bits, GBF_KEYS, k0, p->k1, 0, p->zeros);
    case FN:
        return tepal_generalized_fn_classic(p->bits, GBF_KEYS, k0, p->k1);
    case FP_BOUND:
        return tepal_generalized_fp_bound(k0, p->k1, 0);
    default:
        return tepal_generalized_fn_bound(p->bits, GBF_KEYS, k0, p->k1, 0);
    }
}

static struct lab_row published(const struct table *table, const struct printed *p, int column)
{
    struct lab_row row = lab_printed(p->cell[column], 0, NAN);
    for (size_t i = 0; i < COUNT(table->misprint); i++) {
        const struct misprint *wrong = &table->misprint[i];
        if (wrong->k1 == p->k1 && wrong->column == column) {
            row.right = wrong->right;
            row.leeway = wrong->leeway;
            row.source = LAB_MISPRINT;
        }
    }
    return row;
}

static void row_name(char *name, size_t room, const struct table *table, const struct printed *p)
{
    if (table->by == BY_ZEROS) {
        snprintf(name, room, "p0 %g %%", 100 * p->zeros);
    } else if (table->by == BY_HASHES) {
        snprintf(name, room, "k1 %" PRIu32, p->k1);
    } else {
        snprintf(name, room, "m %" PRIu64, p->bits);
    }
}

static double place(const struct table *table, const struct printed *p)
{
    return table->by == BY_ZEROS    ? 100 * p->zeros
           : table->by == BY_HASHES ? (double)p->k1
                                    : (double)p->bits;
}

/* The columns that filters can measure. */
static const int measured[3] = {BLOOM_FP, FP, FN};

/* These columns by filters: the Bloom filter is the generalized one without resets. */
static int by_filters(struct lab *lab, const struct table *table, const struct printed *p,
                      const char *name, struct lab_plot *plot)
{
    double unit = table->percent ? 100 : 1;
    struct gbf at = {p->bits, GBF_KEYS, p->k0, p->k1, p->zeros};
    struct gbf bloom = {p->bits, GBF_KEYS, 0, p->k1, p->zeros};
    static struct gbf_seen seen[2];
    size_t rounds = lab_trials(lab, 200, 2000);
    int code = gbf_measure(lab, &bloom, rounds, 1000, &seen[0]);
    code = code == EXIT_YES ? gbf_measure(lab, &at, rounds, 1000, &seen[1]) : code;
    const struct lab_share *share[3] = {&seen[0].fp, &seen[1].fp, &seen[1].fn};
    for (size_t i = 0; i < 3 && code == EXIT_YES; i++) {
        struct lab_row row = published(table, p, measured[i]);
        lab_share_row(&row, share[i], unit);
        row.rounding = rounding_of(table->percent, row.published, row.ours);
        plot->mark[i][plot->marks[i]++] = lab_point_row(place(table, p), &row);
        if (table->percent || row.published > 1e-3) { /* others are too rare to be measured */
            lab_row(lab, &row, "%s, %s, measured", name, columns[measured[i]]);
        }
    }
    return code;
}

static int run_table(struct lab *lab, const struct table *table)
{
    static const char *const names[3] = {"f_p, Bloom, printed", "f_p, printed", "f_n, printed"};
    static const char *const x_label[] = {"p0, % of the bits that are 0 initially", "k1",
                                          "m, bits"};
    struct lab_plot plot = {0};
    for (size_t c = 0; c < 3; c++) {
        lab_plot_curve(&plot, "%s", names[c]);
        for (const struct printed *p = table->row; p < table->row + ROWS; p++) {
            lab_plot_line(&plot, place(table, p), p->cell[measured[c]]);
        }
    }
    for (const struct printed *p = table->row; p < table->row + ROWS; p++) {
        char name[40];
        row_name(name, sizeof name, table, p);
        for (int column = 0; column < COLUMNS; column++) {
            struct lab_row row = published(table, p, column);
            lab_exact(&row, (table->percent ? 100 : 1) * formula(lab, p, column));
            row.rounding = rounding_of(table->percent, row.published, row.ours);
            lab_row(lab, &row, "%s, %s", name, columns[column]);
        }
        if (p->k0 + p->k1 <= TEPAL_MAX_HASHES) {
            int code = by_filters(lab, table, p, name, &plot);
            if (code != EXIT_YES) {
                return code;
            }
        }
    }
    int axes = (table->by == BY_BITS ? LAB_LOG_X : 0) | (table->percent ? 0 : LAB_LOG_Y);
    return lab_plot_draw(lab, &plot, "Printed (dashed) and measured (points)", x_label[table->by],
                         table->percent ? "%" : "probability", (enum lab_axes)axes);
}

/* What every printed row of the Bloom filter says after f_p. */
#define NEVER_LOST       0, 100, 0
#define NEVER_LOST_SHARE 0, 1, 0

static const struct table tables[] = {
    {.by = BY_ZEROS,
     .percent = true,
     .row = {{0, 65536, 2, 2, {100, NEVER_LOST, 0, 1.5, 6.3, 3.1}},
             {0.25, 65536, 2, 2, {56.5, NEVER_LOST, 3.6, 1.5, 6.3, 3.1}},
             {0.5, 65536, 2, 2, {25.4, NEVER_LOST, 6.3, 1.5, 6.3, 3.1}},
             {0.75, 65536, 2, 2, {6.6, NEVER_LOST, 3.6, 1.5, 6.3, 3.1}},
             {1, 65536, 2, 2, {0, NEVER_LOST, 0, 1.5, 6.3, 3.1}}}},
    {.by = BY_ZEROS,
     .percent = true,
     .row = {{0, 65536, 2, 3, {100, NEVER_LOST, 0, 2.3, 3.5, 4.6}},
             {0.25, 65536, 2, 3, {42.7, NEVER_LOST, 2.7, 2.3, 3.5, 4.6}},
             {0.5, 65536, 2, 3, {12.9, NEVER_LOST, 3.1, 2.3, 3.5, 4.6}},
             {0.75, 65536, 2, 3, {1.7, NEVER_LOST, 0.9, 2.3, 3.5, 4.6}},
             {1, 65536, 2, 3, {0, NEVER_LOST, 0, 2.3, 3.5, 4.6}}}},
    {.by = BY_HASHES,
     .percent = true,
     .row = {{0.5, 65536, 2, 1, {50.2, NEVER_LOST, 12.6, 0.8, 14.8, 1.6}},
             {0.5, 65536, 2, 2, {25.4, NEVER_LOST, 6.3, 1.5, 6.3, 3.1}},
             {0.5, 65536, 2, 3, {12.9, NEVER_LOST, 3.1, 2.3, 3.5, 4.6}},
             {0.5, 65536, 2, 4, {6.7, NEVER_LOST, 1.6, 3.0, 2.2, 6.0}},
             {0.5, 65536, 2, 5, {3.4, NEVER_LOST, 0.8, 3.8, 1.5, 7.5}}}},
    {.by = BY_HASHES,
     .percent = true,
     .row = {{0.5, 131072, 2, 1, {50.1, NEVER_LOST, 12.6, 0.4, 14.8, 0.8}},
             {0.5, 131072, 2, 2, {25.2, NEVER_LOST, 6.3, 0.8, 6.3, 1.6}},
             {0.5, 131072, 2, 3, {12.7, NEVER_LOST, 3.1, 1.2, 3.5, 2.3}},
             {0.5, 131072, 2, 4, {6.5, NEVER_LOST, 1.6, 1.5, 2.2, 3.0}},
             {0.5, 131072, 2, 5, {3.3, NEVER_LOST, 0.8, 1.9, 1.5, 3.8}}},
     .misprint = {{1, FP, 12.52, 0.005}, {4, FN_BOUND, 3.07, 0.005}}},
    {.by = BY_BITS,
     .percent = true,
     .row = {{0.25, 8192, 2, 2, {58.5, NEVER_LOST, 4.1, 11.3, 6.3, 21.5}},
             {0.25, 16384, 2, 2, {57.4, NEVER_LOST, 3.8, 5.9, 6.3, 11.6}},
             {0.25, 32768, 2, 2, {56.8, NEVER_LOST, 3.7, 3.0, 6.3, 6.0}},
             {0.25, 65536, 2, 2, {56.5, NEVER_LOST, 3.6, 1.5, 6.3, 3.1}},
             {0.25, 131072, 2, 2, {56.4, NEVER_LOST, 3.6, 0.8, 6.3, 1.6}}}},
    {.by = BY_BITS,
     .percent = true,
     .row = {{1, 8192, 2, 2, {0.4, NEVER_LOST, 0.3, 11.3, 6.3, 21.5}},
             {1, 16384, 2, 2, {0.1, NEVER_LOST, 0.1, 5.9, 6.3, 11.6}},
             {1, 32768, 2, 2, {0, NEVER_LOST, 0, 3.0, 6.3, 6.0}},
             {1, 65536, 2, 2, {0, NEVER_LOST, 0, 1.5, 6.3, 3.1}},
             {1, 131072, 2, 2, {0, NEVER_LOST, 0, 0.8, 6.3, 1.6}}}},
    {.by = BY_BITS,
     .row = {{1, 8192, 1, 22, {2.1e-07, NEVER_LOST_SHARE, 7.9e-08, 4.3e-1, 1.6e-2, 6.9e-1}},
             {1, 16384, 1, 44, {4.4e-14, NEVER_LOST_SHARE, 1.7e-14, 4.3e-1, 8.3e-3, 6.9e-1}},
             {1, 32768, 1, 89, {2.0e-27, NEVER_LOST_SHARE, 7.2e-28, 4.3e-1, 4.1e-3, 7.0e-1}},
             {1, 65536, 1, 177, {3.8e-54, NEVER_LOST_SHARE, 1.4e-54, 4.3e-1, 2.1e-3, 7.0e-1}},
             {1, 131072, 1, 355, {1.5e-107, NEVER_LOST_SHARE, 5.4e-108, 4.3e-1, 1.0e-3, 7.0e-1}}}},
    {.by = BY_BITS,
     .row = {{0.01, 8192, 1, 22, {9.0e-1, NEVER_LOST_SHARE, 1.5e-2, 4.3e-1, 1.6e-2, 6.9e-1}},
             {0.01, 16384, 1, 44, {8.0e-1, NEVER_LOST_SHARE, 7.9e-3, 4.3e-1, 8.3e-3, 6.9e-1}},
             {0.01, 32768, 1, 89, {6.4e-1, NEVER_LOST_SHARE, 4.1e-3, 4.3e-1, 4.1e-3, 7.0e-1}},
             {0.01, 65536, 1, 177, {4.1e-1, NEVER_LOST_SHARE, 2.0e-3, 4.3e-1, 2.1e-3, 7.0e-1}},
             {0.01, 131072, 1, 355, {1.7e-1, NEVER_LOST_SHARE, 6.6e-4, 4.3e-1, 1.0e-3, 7.0e-1}}}}};

int lab_001_tables(struct lab *lab)
{
    return run_table(lab, &tables[lab_number(lab) - 1]);
}

/* ---- the numbers in the text ----------------------------------------------------------------- */

/* A number, what we have instead, and give or take how much. */
struct said {
    const char *words;
    double printed;
    double rounding;
    double ours;
};

static void say_all(struct lab *lab, const struct said *said, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct lab_row row = said[i].rounding == 0 ? lab_words(said[i].printed, 0, NAN)
                                                   : lab_printed(said[i].printed, 0, NAN);
        lab_exact(&row, said[i].ours);
        row.rounding = row.ours < row.published ? 1.1 * said[i].rounding : said[i].rounding;
        lab_row(lab, &row, "%s", said[i].words);
    }
}

static double bound_falls(const struct lab *lab)
{
    bool so = true;
    for (uint32_t k0 = 1; k0 <= 8; k0++) {
        for (uint32_t k1 = 1; k1 <= 8; k1++) {
            double here = tepal_generalized_fp_bound(k0, k1, 0);
            so = so && tepal_generalized_fp_bound(k0 + 1, k1, 0) < here;
            so = so && tepal_generalized_fp_bound(k0, k1 + !lab_sabotaged(lab), 0) < here;
        }
    }
    return so;
}

/* f_n(0) >= f_n(1) >= ... >= f_n(n) */
static double age_forgets(uint64_t m, uint64_t n)
{
    bool so = true;
    for (uint64_t age = 0; age < n; age++) {
        so = so && tepal_generalized_fn_age_classic(m, age + 1, 2, 2) >=
                       tepal_generalized_fn_age_classic(m, age, 2, 2);
    }
    return so;
}

static double ends_are_best(uint64_t m, uint64_t n, uint32_t k1)
{
    double end = fmax(tepal_generalized_fp_approx(m, n, 2, k1, 0, 0),
                      tepal_generalized_fp_approx(m, n, 2, k1, 0, 1));
    bool so = true;
    for (int i = 1; i < 100; i++) {
        so = so && tepal_generalized_fp_approx(m, n, 2, k1, 0, i / 100.0) > end;
    }
    return so;
}

/* Sec. 1 and 2: the Bloom filter; of Sec. 4 what needs no measurement. */
static void say_text(struct lab *lab)
{
    const uint64_t n = GBF_KEYS;
    const uint64_t m = 128 * n; /* "m/n = 128"; and twice of that */
    uint32_t k1 = lab_sabotaged(lab) ? 3 : 2;
    const struct said said[] = {
        {"Sec. 2, best rate of a Bloom filter, to the power n/m", 0.6185, 0.00005,
         pow(tepal_bloom_fp_approx(92000000, 1000000, 64), 1 / 92.0)},
        {"Sec. 2, all bits set, f %", 100, 0.05,
         100 * tepal_generalized_fp_approx(m, n, 0, 2, 0, 0)},
        {"Sec. 4.1, bound of the Bloom filter %", 100, 0.05,
         100 * tepal_generalized_fp_bound(0, 2, 0)},
        {"Sec. 4.1, F_p of (2, 2) %", 6.3, 0.05, 100 * tepal_generalized_fp_bound(2, k1, 0)},
        {"Sec. 4.1, F_p of (3, 3) %", 1.6, 0.05, 100 * tepal_generalized_fp_bound(3, 3, 0)},
        {"Sec. 4.1, F_p of (4, 4) %", 0.4, 0.05, 100 * tepal_generalized_fp_bound(4, 4, 0)},
        {"Sec. 4.1, F_p of (3, 3) times 2^6", 1, 1e-9, 64 * tepal_generalized_fp_bound(3, 3, 0)},
        {"Sec. 4.1, the least f of a Bloom filter with 64 hashes, times 2^64", 1, 0.0005,
         ldexp(tepal_bloom_fp_approx(92332482616893657, 1000000000000000, 64), 64)},
        {"Sec. 4.1, F_p falls with k0 and with k1, both up to 8 (1 yes, 0 no)", 1, 0,
         bound_falls(lab)},
        {"Sec. 4.2, older elements are forgotten no less, (2, 2), 256 of them (1 yes, 0 no)", 1, 0,
         age_forgets(m, n)},
        {"Sec. 4.3, f_p is least from all zeros or all ones, (2, 2) (1 yes, 0 no)", 1, 0,
         ends_are_best(m, n, k1)},
        {"Sec. 4.2, (2, 2), m/n 128: F_p %", 6.3, 0.05, 100 * tepal_generalized_fp_bound(2, k1, 0)},
        {"Sec. 4.2, (2, 2), m/n 128: F_n %", 6.0, 0.05,
         100 * tepal_generalized_fn_bound(m, n, 2, k1, 0)},
        {"Sec. 4.2, (2, 2), m/n 128: f_n %, n 256", 3.0, 0.05,
         100 * tepal_generalized_fn_classic(m, n, 2, k1)},
        {"Sec. 4.2, (2, 2), m/n 128: f_p %, p0 0", 0.02, 0.005,
         100 * tepal_generalized_fp_approx(m, n, 2, k1, 0, 0)},
        {"Sec. 4.2, (2, 2), m/n 128: f_p %, p0 25 %", 3.7, 0.05,
         100 * tepal_generalized_fp_approx(m, n, 2, k1, 0, 0.25)},
        {"Sec. 4.2, (2, 3), m/n 256: F_p %", 3.5, 0.05, 100 * tepal_generalized_fp_bound(2, 3, 0)},
        {"Sec. 4.2, (2, 3), m/n 256: F_n %", 4.6, 0.05,
         100 * tepal_generalized_fn_bound(2 * m, n, 2, 3, 0)},
        {"Sec. 4.2, (2, 3), m/n 256: f_n %", 2.3, 0.05,
         100 * tepal_generalized_fn_classic(2 * m, n, 2, 3)},
        {"Sec. 4.2, (2, 3), m/n 256: f_p %, p0 0", 0.01, 0.005,
         100 * tepal_generalized_fp_approx(2 * m, n, 2, 3, 0, 0)},
        {"Sec. 4.2, (2, 3), m/n 256: f_p %, p0 25 %", 2.7, 0.05,
         100 * tepal_generalized_fp_approx(2 * m, n, 2, 3, 0, 0.25)},
        {"Sec. 4.3, worst first state of (2, 2), p0 %", 50, 0.5,
         100 * tepal_generalized_worst_zero(2, k1, 0)},
        {"Sec. 4.3, f_p / F_p there", 1, 1e-9,
         tepal_generalized_fp_approx(m, n, 2, 2, 0, 0.5) / tepal_generalized_fp_bound(2, k1, 0)},
        {"Sec. 4.3, f_p / F_p after 1000 n keys, p0 1", 1, 1e-9,
         tepal_generalized_fp_approx(m, 1000 * n, 2, 2, 0, 1) /
             tepal_generalized_fp_bound(2, k1, 0)},
    };
    say_all(lab, said, COUNT(said));
    lab_row_exact(lab, lab_itself(0.5, 0.005, NAN), 1 - exp(-64 * 1000000.0 / 92000000),
                  "Sec. 2, share of ones at which it is best");
}

/* Sec. 5: what is said of the tables. */
static void say_tables(struct lab *lab)
{
    const uint64_t n = GBF_KEYS;
    static const double best[] = {22, 44, 89, 177, 355};
    for (uint64_t m = 8192; m <= 65536; m *= 2) {
        /* "roughly a 2x reduction for every time we double the size" */
        /* "roughly": to a whole number */
        lab_row_exact(lab, lab_words(2, 0.5, NAN),
                      tepal_generalized_fn_bound(m, n, 2, 2, 0) /
                          tepal_generalized_fn_bound(2 * m, n, 2, 2, 0),
                      "Sec. 5, F_n at m %" PRIu64 " over F_n at twice that", m);
        lab_row_exact(lab, lab_words(2, 0.5, NAN),
                      tepal_generalized_fn_classic(m, n, 2, 2) /
                          tepal_generalized_fn_classic(2 * m, n, 2, 2),
                      "Sec. 5, f_n at m %" PRIu64 " over f_n at twice that", m);
    }
    for (size_t i = 0; i < COUNT(best); i++) {
        lab_row_exact(lab, lab_itself(best[i], 0.5, NAN), (double)(32u << i) * log(2),
                      "Sec. 5, (m/n) ln 2 at m %u", 8192u << i);
    }
    const struct said said[] = {
        {"Sec. 5, Table 7: f_n %", 43, 0.5, 100 * tepal_generalized_fn_classic(8192, n, 1, 22)},
        {"Sec. 5, Table 7: F_n %, roughly, in tens", 70, 5,
         100 * tepal_generalized_fn_bound(8192, n, 1, 22, 0)},
        {"Sec. 5, Table 8: the least f_p of Bloom %", 17, 0.5,
         100 * tepal_generalized_fp_approx(131072, n, 0, 355, 0, 0.01)},
        {"Sec. 5, Table 8: the largest f_p of Bloom %", 90, 0.5,
         100 * tepal_generalized_fp_approx(8192, n, 0, 22, 0, 0.01)},
        {"Sec. 5, Table 8: the least f_p %", 0.07, 0.005,
         100 * tepal_generalized_fp_approx(131072, n, 1, 355, 0, 0.01)},
        {"Sec. 5, Table 8: the largest f_p %", 1.5, 0.05,
         100 * tepal_generalized_fp_approx(8192, n, 1, 22, 0, 0.01)},
    };
    say_all(lab, said, COUNT(said));
}

static int say_interval(struct lab *lab)
{
    static struct gbf_seen seen;
    struct gbf at = {1280, 10, 3, 1, 1};
    int code = gbf_measure(lab, &at, 1000, 0, &seen);
    if (code == EXIT_YES) {
        code = gbf_interval_row(lab, &at, &seen,
                                "Sec. 4, half of the 95 % interval of 1000 rounds, Fig. 7, (3, 1), "
                                "oldest");
    }
    lab_row_exact(lab, LAB_ROW, 100 * tepal_generalized_fn_classic(1280, 10, 2, 2),
                  "Sec. 4.2, (2, 2), m/n 128: f_n %%, n 10 as in Fig. 7");
    return code;
}

/* The two settings of Sec. 4.2 by size. */
static int draw_text(struct lab *lab)
{
    struct lab_plot plot = {0};
    for (uint32_t k1 = 2; k1 <= 3; k1++) {
        lab_plot_curve(&plot, "F_n, (2, %" PRIu32 ")", k1);
        for (uint64_t per_key = 16; per_key <= 1024; per_key *= 2) {
            lab_plot_line(&plot, (double)per_key,
                          100 * tepal_generalized_fn_bound(per_key * GBF_KEYS, GBF_KEYS, 2, k1, 0));
        }
        lab_plot_curve(&plot, "F_p, (2, %" PRIu32 ")", k1);
        lab_plot_line(&plot, 16, 100 * tepal_generalized_fp_bound(2, k1, 0));
        lab_plot_line(&plot, 1024, 100 * tepal_generalized_fp_bound(2, k1, 0));
    }
    return lab_plot_draw(lab, &plot, "The bounds of Sec. 4.2", "bits per element, m/n", "%",
                         LAB_LOG_X);
}

int lab_001_text(struct lab *lab)
{
    say_text(lab);
    say_tables(lab);
    int code = say_interval(lab);
    return code == EXIT_YES ? draw_text(lab) : code;
}
