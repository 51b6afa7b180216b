/*
 * figures.c: Figs. 3 and 11 of the paper on retouched Bloom filters, the random clearing of Sec.
 * III-B, and the values named in its text.
 */
#include <stdlib.h>

#include "paper000/paper000.h"

/* ---- Fig. 3: the Bloom filter ---------------------------------------------------------------- */

#define STRANGERS 100000
#define POINTS    10

/* The false-positive rate of fresh filters, over filters. */
static int measure_fp(struct lab *lab, uint64_t m, uint64_t n, uint32_t k, struct lab_mean *fp)
{
    size_t filters = lab_trials(lab, 8, 60);
    *fp = (struct lab_mean){0};
    for (size_t f = 0; f < filters; f++) {
        struct tepal_filter *bloom = lab_000_bloom(m, lab_sabotaged(lab) ? k + 1 : k);
        uint64_t hits = 0;
        if (bloom == NULL) {
            return EXIT_TROUBLE;
        }
        for (uint64_t i = 0; i < n; i++) {
            (void)tepal_filter_add(bloom, lab_digest(lab));
        }
        for (size_t i = 0; i < STRANGERS; i++) {
            hits += tepal_filter_query(bloom, lab_digest(lab));
        }
        lab_mean_add(fp, (double)hits / STRANGERS);
        tepal_filter_free(bloom);
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
    struct lab_curves curves = {0};
    lab_curve(&curves, SVG_DASHED, "eq. (5)");
    lab_curve(&curves, SVG_MARKS, "measured");
    for (size_t i = 0; i < POINTS; i++) {
        uint64_t m = sweep->m[i];
        uint64_t n = sweep->n[i];
        uint32_t k = sweep->k[i];
        struct lab_mean fp;
        double x = sweep->x == NULL ? k : (double)sweep->x[i];
        if (measure_fp(lab, m, n, k, &fp) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
        struct lab_row row = lab_formula(tepal_bloom_fp_classic(m, n, k), NAN);
        lab_measured(&row, &fp);
        lab_row(lab, &row, "m %.0f, n %.0f, k %u: eq. (5) and measured", (double)m, (double)n, k);
        lab_curve_point(&curves, 0, lab_point(x, row.published));
        lab_curve_point(&curves, 1, lab_point_mean(x, &fp));
    }
    return lab_curves_draw(lab, &curves, sweep->title, sweep->x_label, "false-positive rate",
                           LAB_LOG_Y);
}

int lab_000_figure_3(struct lab *lab)
{
    static const struct {
        double bits;
        double printed;
    } compression[] = {{10000, 25.6}, {60000, 4.2}, {100000, 2.5}};
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
    lab_row_exact(lab, lab_printed(0.0094, 0.00005, NAN),
                  tepal_bloom_fp_classic(BITS, MEMBERS, HASHES),
                  "m 100000, n 10000, k 5: eq. (5), as in the text");
    lab_row_exact(lab, lab_printed(0.6185, 0.00005, NAN), tepal_retouched_least_fp(1, 1),
                  "eq. (7): the rate at one bit per member and the best k");
    lab_row_exact(lab, lab_itself(4, 0.5, NAN), 1e6 * 32 / 8 / 1e6,
                  "a million addresses of 32 bits as a list, in MB");
    for (size_t i = 0; i < COUNT(compression); i++) {
        double ours = 8006 * 32 / compression[i].bits;
        lab_row_exact(lab, lab_itself(compression[i].printed, 0.05, ours), ours,
                      "8006 addresses: compression by %.0f bits", compression[i].bits);
    }
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
    struct lab_curves curves = {0};
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
    lab_curve(&curves, SVG_DASHED, "eq. (16)");
    lab_curve(&curves, SVG_MARKS, "false positives removed");
    lab_curve(&curves, SVG_MARKS, "members lost");
    for (size_t i = 0; i < CLEARED; i++) {
        double s = (double)cleared[i];
        double gone = 1 - tepal_retouched_kept(BITS, MEMBERS, HASHES, s);
        lab_row_mean(lab, lab_formula(gone, NAN), &fp[i],
                     "%.0f bits cleared: share of false positives removed, eq. (16)", s);
        lab_row_mean(lab, lab_formula(gone, NAN), &fn[i],
                     "%.0f bits cleared: share of members lost, eq. (16)", s);
        lab_row_mean(lab, lab_printed(1, 0, NAN), &chi[i], "%.0f bits cleared: chi", s);
        lab_curve_point(&curves, 0, lab_point(s, gone));
        lab_curve_point(&curves, 1, lab_point_mean(s, &fp[i]));
        lab_curve_point(&curves, 2, lab_point_mean(s, &fn[i]));
    }
    return lab_curves_draw(lab, &curves,
                           "Bits cleared at random remove both in the same proportion",
                           "bits cleared", "share", LAB_LINEAR);
}

/* ---- Fig. 11: the lists of elements ---------------------------------------------------------- */

#define SIZES 10

struct lists {
    double filled[2]; /* share of the cells that have an element: of A, of F_P */
    double length[2]; /* elements in a cell that has one */
};

/*
 * The cells that false positives touch are the bits of a Bloom filter of their own. Sabotaged, a
 * key has one more hash.
 */
static int measure_lists(struct lab *lab, uint64_t bits, struct lists *lists)
{
    struct tepal_filter *a = lab_000_bloom(bits, HASHES + lab_sabotaged(lab));
    struct tepal_filter *b = lab_000_bloom(bits, HASHES + lab_sabotaged(lab));
    double bad = 0;
    if (a != NULL && b != NULL) {
        for (size_t i = 0; i < MEMBERS; i++) {
            (void)tepal_filter_add(a, lab_digest(lab));
        }
        for (size_t i = 0; i < UNIVERSE - MEMBERS; i++) {
            struct tepal_digest d = lab_digest(lab);
            if (tepal_filter_query(a, d)) {
                (void)tepal_filter_add(b, d);
                bad++;
            }
        }
        lists->filled[0] = (double)tepal_filter_ones(a) / (double)bits;
        lists->filled[1] = (double)tepal_filter_ones(b) / (double)bits;
        lists->length[0] = (double)HASHES * MEMBERS / (double)tepal_filter_ones(a);
        lists->length[1] = HASHES * bad / (double)tepal_filter_ones(b);
    }
    int code = a == NULL || b == NULL ? EXIT_TROUBLE : EXIT_YES;
    tepal_filter_free(a);
    tepal_filter_free(b);
    return code;
}

static int lists_chart(struct lab *lab, struct lab_mean mean[2][SIZES], const char *title,
                       const char *label, enum lab_axes axes)
{
    struct lab_curves curves = {0};
    for (size_t i = 0; i < 2 * SIZES; i++) {
        size_t j =
            i % SIZES == 0 ? lab_curve(&curves, SVG_LINE, "v_%c", "AB"[i / SIZES]) : i / SIZES;
        double m = (double)(i % SIZES + 1) * BITS / SIZES;
        lab_curve_point(&curves, j, lab_point_mean(m, &mean[j][i % SIZES]));
    }
    return lab_curves_draw(lab, &curves, title, "m, cells", label, axes);
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
 * "the same": within 5 %; "one element": rounded to whole ones.
 */
static void shapes(struct lab *lab, struct lab_mean filled[2][SIZES],
                   struct lab_mean length[2][SIZES])
{
    size_t same = 0;
    while (same < SIZES && fabs(filled[1][same].mean / filled[0][same].mean - 1) <= 0.05) {
        same++;
    }
    lab_row_holds(lab, straightness(filled[0]) >= 0.9,
                  "v_A: occupancy falls nearly linearly: a line explains 90 %%");
    lab_row_exact(lab, lab_printed(90000, 0, NAN), (double)(same * BITS / SIZES),
                  "v_A and v_B are filled alike, within 5 %%, up to m");
    lab_row_mean(lab, lab_words(1, 0.5, NAN), &length[0][SIZES - 1],
                 "v_A at m = 100000: elements in a filled cell, in the text one");
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
        size_t m = (i / 2 + 1) * BITS / SIZES;
        /* by eq. (2) a bit is 1: a cell of v_A has an element */
        double ones = i % 2 == 0 ? 1 - tepal_retouched_zero(m, MEMBERS, HASHES) : NAN;
        lab_row_mean(lab, lab_formula(ones, NAN), &filled[i % 2][i / 2],
                     "m %zu: filled share of v_%c", m, "AB"[i % 2]);
        lab_row_mean(lab, LAB_ROW, &length[i % 2][i / 2], "m %zu: mean list of v_%c", m,
                     "AB"[i % 2]);
    }
    lab_row_holds(lab, length[0][0].mean < 10, "v_A: fewer than ten in a cell at m = 10000");
    lab_row_holds(lab, length[1][0].mean / length[1][SIZES - 1].mean >= 100,
                  "v_B: lists shrink by two orders of magnitude or more");
    shapes(lab, filled, length);
    int code = lists_chart(lab, filled, "Cells with an element", "share of the cells", LAB_LINEAR);
    return code == EXIT_YES
               ? lists_chart(lab, length, "Elements in a cell that has one", "elements", LAB_LOG_Y)
               : code;
}
