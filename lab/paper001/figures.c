/*
 * figures.c: Figs. 2, 3 and 5 to 12 of the paper on generalized Bloom filters. Curves are
 * the paper's formulas, points are filters. The paper says neither how many keys most of its
 * figures have nor prints their values: 256 keys, but for Figs. 7 and 8, which have 10.
 */
#include <inttypes.h>

#include "paper001/paper001.h"

/* One picture of a figure: a curve for each setting. */
struct panel {
    unsigned figure;
    const char *name; /* "(a) ", of a figure with two */
    const char *title;
    struct gbf curve[5]; /* up to the first without hashes; bits: for each key */
};

/* All pictures of the experiment's figure. */
static int each_panel(struct lab *lab, const struct panel *panel, size_t count,
                      int (*run)(struct lab *lab, const struct panel *panel))
{
    int code = EXIT_YES;
    for (size_t i = 0; i < count && code == EXIT_YES; i++) {
        code = panel[i].figure == lab_number(lab) ? run(lab, &panel[i]) : code;
    }
    return code;
}

/* The next curve of a panel, begun; or NULL. */
static const struct gbf *next_curve(const struct panel *panel, struct lab_plot *plot, bool sizes)
{
    const struct gbf *at = &panel->curve[plot->curves];
    if (plot->curves == COUNT(panel->curve) || at->k0 + at->k1 == 0) {
        return NULL;
    }
    if (sizes) {
        lab_plot_curve(plot, "(%" PRIu32 ", %" PRIu32 "), m/n %" PRIu64, at->k0, at->k1, at->bits);
    } else {
        lab_plot_curve(plot, "k0 %" PRIu32 ", k1 %" PRIu32, at->k0, at->k1);
    }
    return at;
}

/* ---- the Bloom filter ------------------------------------------------------------------------ */

int lab_001_fig_2(struct lab *lab)
{
    static const uint64_t per_key[] = {4, 8, 16, 32};
    struct lab_plot plot = {0};
    static struct gbf_seen seen;
    for (size_t i = 0; i < COUNT(per_key); i++) {
        uint64_t m = per_key[i] * GBF_KEYS;
        uint32_t best = 1;
        lab_plot_curve(&plot, "m/n %" PRIu64, per_key[i]);
        for (uint32_t k = 1; k <= 24; k++) {
            double f = tepal_bloom_fp_approx(m, GBF_KEYS, k);
            lab_plot_line(&plot, k, f);
            best = f < tepal_bloom_fp_approx(m, GBF_KEYS, best) ? k : best;
            if (k % 4 == 1 && f > 1e-4) {
                struct gbf at = {m, GBF_KEYS, 0, k, 1};
                int code = gbf_measure(lab, &at, lab_trials(lab, 40, 1600), 2000, &seen);
                if (code != EXIT_YES) {
                    return code;
                }
                lab_plot_mark(lab, &plot, k, &seen.fp, f, tepal_bloom_fp_exact(m, GBF_KEYS, k));
            }
        }
        /* k = (m/n) ln 2, to a whole number */
        struct lab_row row = lab_formula((double)per_key[i] * log(2), NAN);
        row.rounding = 1;
        lab_row_exact(lab, row, best, "m/n %" PRIu64 ", the best number of hashes", per_key[i]);
    }
    return lab_plot_draw(lab, &plot, "False positives of a Bloom filter",
                         "number of hash functions, k", "false-positive probability", LAB_LOG_Y);
}

/*
 * Curves by the share of ones, one for each pair of hashes, and filters that were made with that
 * share and then given their 256 keys.
 */
static int draw_ones(struct lab *lab, const struct panel *panel)
{
    const uint64_t m = 16384;
    struct lab_plot plot = {.panel = panel->name};
    static struct gbf_seen seen;
    const struct gbf *k;
    while ((k = next_curve(panel, &plot, false)) != NULL) {
        for (int x = 0; x <= 50; x++) {
            lab_plot_line(&plot, x / 50.0, pow(1 - x / 50.0, k->k0) * pow(x / 50.0, k->k1));
        }
        for (int x = 0; x <= 8; x++) {
            struct gbf at = {m, GBF_KEYS, k->k0, k->k1, 1 - x / 8.0};
            struct tepal_generalized_errors exact;
            double p = tepal_generalized_zero(m, GBF_KEYS, k->k0, k->k1, at.zeros);
            int code = gbf_measure(lab, &at, lab_trials(lab, 20, 1000), 2000, &seen);
            code = code == EXIT_YES ? gbf_exact(&at, 0, &exact, NULL) : code;
            if (code != EXIT_YES) {
                return code;
            }
            lab_plot_mark(lab, &plot, 1 - p, &seen.fp, pow(p, k->k0) * pow(1 - p, k->k1), exact.fp);
        }
    }
    return lab_plot_draw(lab, &plot, panel->title, "share of the bits that are 1, 1 - p",
                         "false-positive probability", LAB_LINEAR);
}

#define HASHES(k0, k1)                                                                             \
    {                                                                                              \
        0, 0, k0, k1, 0                                                                            \
    }

int lab_001_by_ones(struct lab *lab)
{
    static const struct panel panels[] = {
        {3,
         NULL,
         "False positives of a Bloom filter by its fill",
         {HASHES(0, 1), HASHES(0, 2), HASHES(0, 3), HASHES(0, 4)}},
        {5,
         "(a) ",
         "False positives by fill, k1 = 1",
         {HASHES(0, 1), HASHES(1, 1), HASHES(2, 1), HASHES(3, 1)}},
        {5,
         "(b) ",
         "False positives by fill, k0 = 1",
         {HASHES(1, 0), HASHES(1, 1), HASHES(1, 2), HASHES(1, 3)}},
        {6,
         NULL,
         "False positives by fill, k0 = k1",
         {HASHES(1, 1), HASHES(2, 2), HASHES(3, 3), HASHES(4, 4)}}};
    return each_panel(lab, panels, COUNT(panels), draw_ones);
}

/* ---- false negatives ------------------------------------------------------------------------- */

/* Element 1 is the oldest of n = 10. */
static int draw_elements(struct lab *lab, const struct panel *panel)
{
    const uint64_t n = 10;
    const uint64_t m = 128 * n;
    struct lab_plot plot = {.panel = panel->name};
    static struct gbf_seen seen;
    const struct gbf *k;
    while ((k = next_curve(panel, &plot, false)) != NULL) {
        struct gbf at = {m, n, k->k0, k->k1, 1};
        int code = gbf_measure(lab, &at, lab_trials(lab, 4000, 160000), 0, &seen);
        for (uint64_t element = 1; element <= n && code == EXIT_YES; element++) {
            struct tepal_generalized_errors rates;
            double exact;
            double curve = tepal_generalized_fn_age_classic(m, n - element, at.k0, at.k1);
            code = gbf_exact(&at, n - element, &rates, &exact);
            lab_plot_line(&plot, (double)element, curve);
            lab_plot_mark(lab, &plot, (double)element, &seen.fn_age[n - element], curve, exact);
        }
        if (code != EXIT_YES) {
            return code;
        }
    }
    return lab_plot_draw(lab, &plot, panel->title, "element, 1 is the first inserted",
                         "false-negative probability", LAB_LINEAR);
}

int lab_001_by_element(struct lab *lab)
{
    static const struct panel panels[] = {
        {7,
         "(a) ",
         "False negatives by age, k1 = 1, m/n = 128",
         {HASHES(0, 1), HASHES(1, 1), HASHES(2, 1), HASHES(3, 1)}},
        {7,
         "(b) ",
         "False negatives by age, k0 = 1, m/n = 128",
         {HASHES(1, 0), HASHES(1, 1), HASHES(1, 2), HASHES(1, 3)}},
        {8,
         NULL,
         "False negatives by age, k0 = k1, m/n = 128",
         {HASHES(1, 1), HASHES(2, 2), HASHES(4, 4), HASHES(8, 8), HASHES(16, 16)}}};
    return each_panel(lab, panels, COUNT(panels), draw_elements);
}

int lab_001_fig_9(struct lab *lab)
{
    struct lab_plot plot = {0};
    for (uint32_t k0 = 1; k0 <= 4; k0++) {
        lab_plot_curve(&plot, "k0 %" PRIu32 ", k1 1", k0);
        for (uint64_t per_key = 8; per_key <= 512; per_key *= 2) {
            struct gbf at = {per_key * GBF_KEYS, GBF_KEYS, k0, 1, 1};
            struct tepal_generalized_errors rates;
            struct lab_share lost;
            double exact;
            double curve = tepal_generalized_fn_bound(at.bits, GBF_KEYS, k0, 1, 0);
            int code = gbf_oldest(lab, &at, lab_trials(lab, 20, 800), 2000, &lost);
            code = code == EXIT_YES ? gbf_exact(&at, GBF_KEYS, &rates, &exact) : code;
            if (code != EXIT_YES) {
                return code;
            }
            lab_plot_line(&plot, (double)per_key, curve);
            lab_plot_mark(lab, &plot, (double)per_key, &lost, curve, rates.fn_bound);
        }
    }
    return lab_plot_draw(lab, &plot, "Upper bound on the false negatives, k1 = 1",
                         "bits per element, m/n", "F_n", LAB_LOG_X);
}

/* ---- the first state ------------------------------------------------------------------------- */

static int draw_start(struct lab *lab, const struct panel *panel)
{
    struct lab_plot plot = {.panel = panel->name};
    static struct gbf_seen seen;
    const struct gbf *k;
    while ((k = next_curve(panel, &plot, true)) != NULL) {
        uint64_t m = k->bits * GBF_KEYS;
        for (int x = 0; x <= 50; x++) {
            lab_plot_line(&plot, x / 50.0,
                          tepal_generalized_fp_approx(m, GBF_KEYS, k->k0, k->k1, 0, 1 - x / 50.0));
        }
        for (int x = 0; x <= 8; x++) {
            struct gbf at = {m, GBF_KEYS, k->k0, k->k1, 1 - x / 8.0};
            struct tepal_generalized_errors exact;
            int code = gbf_measure(lab, &at, lab_trials(lab, 40, 2000), 2000, &seen);
            code = code == EXIT_YES ? gbf_exact(&at, 0, &exact, NULL) : code;
            if (code != EXIT_YES) {
                return code;
            }
            lab_plot_mark(lab, &plot, x / 8.0, &seen.fp,
                          tepal_generalized_fp_approx(m, GBF_KEYS, k->k0, k->k1, 0, at.zeros),
                          exact.fp);
        }
    }
    return lab_plot_draw(lab, &plot, panel->title, "share of the bits that are 1 initially, 1 - p0",
                         "false-positive probability", LAB_LINEAR);
}

#define SIZED(k0, k1, bits)                                                                        \
    {                                                                                              \
        bits, 0, k0, k1, 0                                                                         \
    }

int lab_001_by_start(struct lab *lab)
{
    static const struct panel panels[] = {
        {10,
         "(a) ",
         "False positives by the initial state, k1 = 2",
         {SIZED(0, 2, 25), SIZED(1, 2, 25), SIZED(2, 2, 25), SIZED(3, 2, 25)}},
        {10,
         "(b) ",
         "False positives by the initial state, k0 = 2",
         {SIZED(2, 0, 25), SIZED(2, 1, 25), SIZED(2, 2, 25), SIZED(2, 3, 25)}},
        {11,
         NULL,
         "False positives by the initial state, k0 = k1 = 2",
         {SIZED(2, 2, 1), SIZED(2, 2, 4), SIZED(2, 2, 8), SIZED(2, 2, 32), SIZED(2, 2, 128)}}};
    return each_panel(lab, panels, COUNT(panels), draw_start);
}

/* ---- both bounds ----------------------------------------------------------------------------- */

/* F_p is what filters of the worst first state do; F_n what they forget of the oldest key. */
static int bounds_by_hashes(struct lab *lab)
{
    static const uint64_t per_key[] = {64, 128, 256, 512};
    struct lab_plot plot = {.panel = "(a) "};
    static struct gbf_seen seen;
    size_t rounds = lab_trials(lab, 40, 1600);
    lab_plot_curve(&plot, "F_p");
    for (uint32_t k = 1; k <= 6; k++) {
        struct gbf at = {65536, GBF_KEYS, k, k, 0.5};
        struct tepal_generalized_errors exact;
        int code = gbf_measure(lab, &at, rounds, 4000, &seen);
        code = code == EXIT_YES ? gbf_exact(&at, 0, &exact, NULL) : code;
        if (code != EXIT_YES) {
            return code;
        }
        lab_plot_line(&plot, k, tepal_generalized_fp_bound(k, k, 0));
        lab_plot_mark(lab, &plot, k, &seen.fp, tepal_generalized_fp_bound(k, k, 0), exact.fp);
    }
    for (size_t i = 0; i < COUNT(per_key); i++) {
        lab_plot_curve(&plot, "F_n, m/n %" PRIu64, per_key[i]);
        for (uint32_t k = 1; k <= 6; k++) {
            struct gbf at = {per_key[i] * GBF_KEYS, GBF_KEYS, k, k, 0.5};
            struct tepal_generalized_errors rates;
            struct lab_share lost;
            double curve = tepal_generalized_fn_bound(at.bits, GBF_KEYS, k, k, 0);
            int code = gbf_oldest(lab, &at, rounds / 2, 1000, &lost);
            code = code == EXIT_YES ? gbf_exact(&at, GBF_KEYS, &rates, NULL) : code;
            if (code != EXIT_YES) {
                return code;
            }
            lab_plot_line(&plot, k, curve);
            lab_plot_mark(lab, &plot, k, &lost, curve, rates.fn_bound);
        }
    }
    return lab_plot_draw(lab, &plot, "Both bounds, k = k0 = k1", "k", "bound on the probability",
                         LAB_LOG_Y);
}

/* The two surfaces, cut at each k0; where they meet is a row. */
static int bounds_by_pairs(struct lab *lab)
{
    const uint64_t m = 256 * GBF_KEYS;
    struct lab_plot plot = {0};
    for (uint32_t k0 = 1; k0 <= 4; k0++) {
        uint32_t meet = 0;
        lab_plot_curve(&plot, "F_p, k0 %" PRIu32, k0);
        for (uint32_t k1 = 1; k1 <= 10; k1++) {
            lab_plot_line(&plot, k1, tepal_generalized_fp_bound(k0, k1, 0));
        }
        lab_plot_curve(&plot, "F_n, k0 %" PRIu32, k0);
        for (uint32_t k1 = 1; k1 <= 10; k1++) {
            double fn = tepal_generalized_fn_bound(m, GBF_KEYS, k0, k1, 0);
            lab_plot_line(&plot, k1, fn);
            meet = meet == 0 && fn >= tepal_generalized_fp_bound(k0, k1, 0) ? k1 : meet;
        }
        lab_row_exact(lab, LAB_ROW, meet,
                      "(b) m/n 256, k0 %" PRIu32 ": the first k1 with F_n >= F_p", k0);
    }
    return lab_plot_draw(lab, &plot, "Both bounds at m/n = 256, a cut for each k0", "k1",
                         "bound on the probability", LAB_LOG_Y);
}

int lab_001_fig_12(struct lab *lab)
{
    int code = bounds_by_hashes(lab);
    return code == EXIT_YES ? bounds_by_pairs(lab) : code;
}
