/*
 * paper001_figures.c: Figs. 2, 3 and 5 to 12 of the paper on generalized Bloom filters. Curves are
 * the paper's formulas, points are filters. The paper says neither how many keys most of its
 * figures have nor prints their values: 256 keys, but for Figs. 7 and 8, which have 10.
 */
#include <inttypes.h>
#include <stdio.h>

#include "paper001.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

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
        struct lab_row row = LAB_ROW;
        row.published = (double)per_key[i] * log(2); /* k = (m/n) ln 2, to a whole number */
        row.rounding = 1;
        lab_exact(&row, best);
        lab_row(lab, &row, "m/n %" PRIu64 ", the best number of hashes", per_key[i]);
    }
    struct svg_chart axes = {.title = "False positives of a Bloom filter",
                             .x_label = "number of hash functions, k",
                             .y_label = "false-positive probability",
                             .y_log = true};
    return lab_plot_draw(lab, &plot, &axes);
}

/*
 * Curves by the share of ones, one for each pair of hashes, and filters that were made with that
 * share and then given their 256 keys.
 */
static int by_ones(struct lab *lab, const char *panel, const uint32_t (*hashes)[2], size_t count,
                   const char *title)
{
    const uint64_t m = 16384;
    struct lab_plot plot = {.panel = panel};
    static struct gbf_seen seen;
    for (size_t i = 0; i < count; i++) {
        uint32_t k0 = hashes[i][0];
        uint32_t k1 = hashes[i][1];
        lab_plot_curve(&plot, "k0 %" PRIu32 ", k1 %" PRIu32, k0, k1);
        for (int x = 0; x <= 50; x++) {
            lab_plot_line(&plot, x / 50.0, pow(1 - x / 50.0, k0) * pow(x / 50.0, k1));
        }
        for (int x = 0; x <= 8; x++) {
            struct gbf at = {m, GBF_KEYS, k0, k1, 1 - x / 8.0};
            struct tepal_generalized_errors exact;
            double p = tepal_generalized_zero(m, GBF_KEYS, k0, k1, at.zeros);
            int code = gbf_measure(lab, &at, lab_trials(lab, 20, 1000), 2000, &seen);
            code = code == EXIT_YES ? gbf_exact(&at, 0, &exact, NULL) : code;
            if (code != EXIT_YES) {
                return code;
            }
            lab_plot_mark(lab, &plot, 1 - p, &seen.fp, pow(p, k0) * pow(1 - p, k1), exact.fp);
        }
    }
    struct svg_chart axes = {.title = title,
                             .x_label = "share of the bits that are 1, 1 - p",
                             .y_label = "false-positive probability"};
    return lab_plot_draw(lab, &plot, &axes);
}

int lab_001_fig_3(struct lab *lab)
{
    static const uint32_t hashes[][2] = {{0, 1}, {0, 2}, {0, 3}, {0, 4}};
    return by_ones(lab, NULL, hashes, COUNT(hashes),
                   "False positives of a Bloom filter by its fill");
}

int lab_001_fig_5(struct lab *lab)
{
    static const uint32_t sets[][2] = {{0, 1}, {1, 1}, {2, 1}, {3, 1}};
    static const uint32_t resets[][2] = {{1, 0}, {1, 1}, {1, 2}, {1, 3}};
    int code = by_ones(lab, "(a) ", sets, COUNT(sets), "False positives by fill, k1 = 1");
    return code == EXIT_YES
               ? by_ones(lab, "(b) ", resets, COUNT(resets), "False positives by fill, k0 = 1")
               : code;
}

int lab_001_fig_6(struct lab *lab)
{
    static const uint32_t hashes[][2] = {{1, 1}, {2, 2}, {3, 3}, {4, 4}};
    return by_ones(lab, NULL, hashes, COUNT(hashes), "False positives by fill, k0 = k1");
}

/* ---- false negatives ------------------------------------------------------------------------- */

/* Element 1 is the oldest of n = 10. */
static int by_element(struct lab *lab, const char *panel, const uint32_t (*hashes)[2], size_t count,
                      const char *title)
{
    const uint64_t n = 10;
    const uint64_t m = 128 * n;
    struct lab_plot plot = {.panel = panel};
    static struct gbf_seen seen;
    for (size_t i = 0; i < count; i++) {
        struct gbf at = {m, n, hashes[i][0], hashes[i][1], 1};
        int code = gbf_measure(lab, &at, lab_trials(lab, 4000, 160000), 0, &seen);
        lab_plot_curve(&plot, "k0 %" PRIu32 ", k1 %" PRIu32, at.k0, at.k1);
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
    struct svg_chart axes = {.title = title,
                             .x_label = "element, 1 is the first inserted",
                             .y_label = "false-negative probability"};
    return lab_plot_draw(lab, &plot, &axes);
}

int lab_001_fig_7(struct lab *lab)
{
    static const uint32_t sets[][2] = {{0, 1}, {1, 1}, {2, 1}, {3, 1}};
    static const uint32_t resets[][2] = {{1, 0}, {1, 1}, {1, 2}, {1, 3}};
    int code =
        by_element(lab, "(a) ", sets, COUNT(sets), "False negatives by age, k1 = 1, m/n = 128");
    return code == EXIT_YES ? by_element(lab, "(b) ", resets, COUNT(resets),
                                         "False negatives by age, k0 = 1, m/n = 128")
                            : code;
}

int lab_001_fig_8(struct lab *lab)
{
    static const uint32_t hashes[][2] = {{1, 1}, {2, 2}, {4, 4}, {8, 8}, {16, 16}};
    return by_element(lab, NULL, hashes, COUNT(hashes),
                      "False negatives by age, k0 = k1, m/n = 128");
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
    struct svg_chart axes = {.title = "Upper bound on the false negatives, k1 = 1",
                             .x_label = "bits per element, m/n",
                             .y_label = "F_n",
                             .x_log = true};
    return lab_plot_draw(lab, &plot, &axes);
}

/* ---- the first state ------------------------------------------------------------------------- */

struct start {
    uint32_t k0;
    uint32_t k1;
    uint64_t per_key;
};

static int by_start(struct lab *lab, const char *panel, const struct start *start, size_t count,
                    const char *title)
{
    struct lab_plot plot = {.panel = panel};
    static struct gbf_seen seen;
    for (size_t i = 0; i < count; i++) {
        const struct start *s = &start[i];
        uint64_t m = s->per_key * GBF_KEYS;
        lab_plot_curve(&plot, "(%" PRIu32 ", %" PRIu32 "), m/n %" PRIu64, s->k0, s->k1, s->per_key);
        for (int x = 0; x <= 50; x++) {
            lab_plot_line(&plot, x / 50.0,
                          tepal_generalized_fp_approx(m, GBF_KEYS, s->k0, s->k1, 0, 1 - x / 50.0));
        }
        for (int x = 0; x <= 8; x++) {
            struct gbf at = {m, GBF_KEYS, s->k0, s->k1, 1 - x / 8.0};
            struct tepal_generalized_errors exact;
            int code = gbf_measure(lab, &at, lab_trials(lab, 40, 2000), 2000, &seen);
            code = code == EXIT_YES ? gbf_exact(&at, 0, &exact, NULL) : code;
            if (code != EXIT_YES) {
                return code;
            }
            lab_plot_mark(lab, &plot, x / 8.0, &seen.fp,
                          tepal_generalized_fp_approx(m, GBF_KEYS, s->k0, s->k1, 0, at.zeros),
                          exact.fp);
        }
    }
    struct svg_chart axes = {.title = title,
                             .x_label = "share of the bits that are 1 at first, 1 - p0",
                             .y_label = "false-positive probability"};
    return lab_plot_draw(lab, &plot, &axes);
}

int lab_001_fig_10(struct lab *lab)
{
    static const struct start sets[] = {{0, 2, 25}, {1, 2, 25}, {2, 2, 25}, {3, 2, 25}};
    static const struct start resets[] = {{2, 0, 25}, {2, 1, 25}, {2, 2, 25}, {2, 3, 25}};
    int code =
        by_start(lab, "(a) ", sets, COUNT(sets), "False positives by the first state, k1 = 2");
    return code == EXIT_YES ? by_start(lab, "(b) ", resets, COUNT(resets),
                                       "False positives by the first state, k0 = 2")
                            : code;
}

int lab_001_fig_11(struct lab *lab)
{
    static const struct start starts[] = {{2, 2, 1}, {2, 2, 4}, {2, 2, 8}, {2, 2, 32}, {2, 2, 128}};
    return by_start(lab, NULL, starts, COUNT(starts),
                    "False positives by the first state, k0 = k1 = 2");
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
    struct svg_chart axes = {.title = "Both bounds, k = k0 = k1",
                             .x_label = "k",
                             .y_label = "bound on the probability",
                             .y_log = true};
    return lab_plot_draw(lab, &plot, &axes);
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
        struct lab_row row = LAB_ROW;
        lab_exact(&row, meet);
        lab_row(lab, &row, "(b) m/n 256, k0 %" PRIu32 ": the first k1 with F_n >= F_p", k0);
    }
    struct svg_chart axes = {.title = "Both bounds at m/n = 256, a cut for each k0",
                             .x_label = "k1",
                             .y_label = "bound on the probability",
                             .y_log = true};
    return lab_plot_draw(lab, &plot, &axes);
}

int lab_001_fig_12(struct lab *lab)
{
    int code = bounds_by_hashes(lab);
    return code == EXIT_YES ? bounds_by_pairs(lab) : code;
}
