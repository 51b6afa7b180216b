/*
 * choices.c: Figs. 3, 4 and 8 to 10 of the paper on counting filters: what c choices do, at 8 to 24
 * counters a key, k = floor(m/n ln 2), 10,000 keys.
 */
#include <stdlib.h>

#include "paper002/choices.h"

const uint32_t lab_002_ratios[RATIOS] = {8, 12, 16, 20, 24};
const uint32_t lab_002_choices[CHOICES] = {1, 2, 4, 10, 20, 50};

static uint32_t hashes_for(uint32_t ratio)
{
    return (uint32_t)(ratio * log(2));
}

/* ---- a filled filter ------------------------------------------------------------------------- */

void filled_free(struct filled *f)
{
    if (f != NULL) {
        tepal_filter_free(f->counting);
        free(f);
    }
}

struct filled *filled_make(struct lab *lab, uint32_t ratio, uint32_t c,
                           enum tepal_counting_rule rule)
{
    struct filled *f = calloc(1, sizeof *f);
    uint64_t histogram[TEPAL_MAX_COUNTER + 1];
    if (f == NULL) {
        say_no_memory();
        return NULL;
    }
    f->cells = (uint64_t)ratio * KEYS;
    f->k = hashes_for(ratio);
    f->c = lab_sabotaged(lab) && c > 1 ? 1 : c;
    f->counting = lab_002_filter(f->cells, f->k, f->c, rule, TEPAL_POLICY_KEEP);
    if (f->counting == NULL) {
        filled_free(f);
        return NULL;
    }
    lab_digests(lab, f->member, KEYS);
    (void)tepal_counting_add_many(f->counting, f->member, KEYS, f->group);
    tepal_counting_histogram(f->counting, histogram);
    for (size_t v = 0; v <= TEPAL_MAX_COUNTER; v++) {
        f->share[v] = (double)histogram[v] / (double)f->cells;
    }
    return f;
}

size_t filled_in_several(const struct filled *f)
{
    size_t several = 0;
    for (size_t i = 0; i < KEYS; i++) {
        uint64_t groups = tepal_counting_groups(f->counting, f->member[i]);
        several += (groups & (groups - 1)) != 0;
    }
    return several;
}

/* ---- the model, which the filters are compared with ------------------------------------------ */

struct lab_002_model lab_002_model(uint32_t ratio, uint32_t c, bool improved)
{
    struct lab_002_model model = {NAN, NAN, NAN};
    double share[16];
    double pmf[TEPAL_MAX_HASHES + 1];
    uint32_t k = hashes_for(ratio);
    uint64_t m = (uint64_t)ratio * KEYS;
    if (tepal_counting_shares(m, KEYS, k, c, improved, share) == TEPAL_OK &&
        tepal_counting_exposed(m, KEYS, k, share[0], share[1], pmf) == TEPAL_OK) {
        model.p0 = share[0];
        model.fp = tepal_counting_fp(share[0], k, c);
        model.exposed = tepal_counting_mean(pmf, k);
    }
    return model;
}

/* A sentence that is so (1) or not (0): measured, and by the model. */
static void sentence(struct lab *lab, bool measured, bool modelled, const char *words)
{
    lab_row_claim(lab, true, modelled, measured, "%s", words);
}

int lab_002_grid(struct lab *lab, struct lab_mean mean[RATIOS][CHOICES], size_t rows,
                 const char *title, const char *label)
{
    struct lab_curves curves = {0};
    for (size_t r = 0; r < rows; r++) {
        lab_curve(&curves, SVG_LINE, "m/n %u", lab_002_ratios[r]);
        for (size_t i = 0; i < CHOICES; i++) {
            lab_curve_point(&curves, r, lab_point_mean(lab_002_choices[i], &mean[r][i]));
        }
    }
    return lab_curves_draw(lab, &curves, title, "c, choices", label, LAB_LINEAR);
}

/* ---- Figs. 3 and 4 --------------------------------------------------------------------------- */

struct rates {
    struct lab_mean fp[RATIOS][CHOICES]; /* by the share of zeros */
    struct lab_mean factor[RATIOS][CHOICES];
    struct lab_mean zeros[RATIOS][CHOICES];
    uint64_t hits[RATIOS][CHOICES]; /* strangers that were found */
    uint64_t asked;
};

static int measure_rates(struct lab *lab, struct rates *rates)
{
    size_t filters = lab_trials(lab, 4, 20);
    size_t strangers = lab_trials(lab, 50000, 400000);
    rates->asked = filters * strangers;
    for (size_t n = 0; n < filters * RATIOS * CHOICES; n++) {
        size_t r = n / CHOICES % RATIOS;
        size_t i = n % CHOICES;
        struct filled *f =
            filled_make(lab, lab_002_ratios[r], lab_002_choices[i], TEPAL_RULE_IMPROVED_GREEDY);
        if (f == NULL) {
            return EXIT_TROUBLE;
        }
        double fp = tepal_counting_fp(f->share[0], f->k, f->c);
        lab_mean_add(&rates->fp[r][i], fp);
        lab_mean_add(&rates->zeros[r][i], f->share[0]);
        lab_mean_add(&rates->factor[r][i], fp / rates->fp[r][0].mean);
        for (size_t j = 0; j < strangers && r < 3; j++) {
            rates->hits[r][i] += tepal_filter_query(f->counting, lab_digest(lab));
        }
        filled_free(f);
    }
    return EXIT_YES;
}

static void rate_rows(struct lab *lab, const struct rates *rates)
{
    for (size_t r = 0; r < RATIOS; r++) {
        for (size_t i = 0; i < CHOICES; i++) {
            uint32_t ratio = lab_002_ratios[r];
            uint32_t c = lab_002_choices[i];
            if (r < 3) {
                lab_row_count(lab, lab_formula(rates->fp[r][i].mean, NAN), rates->hits[r][i],
                              rates->asked, "m/n %u, c %u: false positives, 1 - (1 - (1 - p0)^k)^c",
                              ratio, c);
            }
            lab_row_mean(lab, LAB_ROW, &rates->factor[r][i],
                         "m/n %u, c %u: change factor of false positives", ratio, c);
            lab_row_mean(lab, LAB_ROW, &rates->zeros[r][i], "m/n %u, c %u: share of zeros", ratio,
                         c);
        }
    }
}

static void more_zeros(struct lab *lab, const struct rates *rates)
{
    for (size_t r = 0; r < 4; r++) {
        const struct lab_mean zeros[2] = {rates->zeros[r][0], rates->zeros[r][CHOICES - 1]};
        lab_002_more_zeros(lab, zeros, lab_002_ratios[r], 0, "");
    }
}

/* Is the false-positive rate the higher (`sign` 1) or lower (-1) the more choices there are? */
static bool steady(const double fp[CHOICES], int sign)
{
    bool so = true;
    for (size_t i = 1; i < CHOICES; i++) {
        so = so && sign * (fp[i] - fp[i - 1]) > 0;
    }
    return so;
}

/* Is it at no c below (or above) `factor` times what it is at c = 1? */
static bool never_by(const double fp[CHOICES], double factor, bool below)
{
    bool so = true;
    for (size_t i = 1; i < CHOICES; i++) {
        so = so && (below ? fp[i] >= factor * fp[0] : fp[i] <= factor * fp[0]);
    }
    return so;
}

/* The same of what was measured, at the far end of the interval. */
static bool never(const struct rates *rates, size_t r, double factor, bool below)
{
    double fp[CHOICES];
    for (size_t i = 0; i < CHOICES; i++) {
        struct lab_row zeros = LAB_ROW;
        lab_002_zeros(&zeros, &rates->zeros[r][i], lab_002_ratios[r]);
        bool low = below == (i > 0); /* fewer zeros: more false positives */
        fp[i] = tepal_counting_fp(low ? zeros.low : zeros.high, hashes_for(lab_002_ratios[r]),
                                  lab_002_choices[i]);
    }
    return never_by(fp, factor, below);
}

static void rate_sentences(struct lab *lab, const struct rates *rates)
{
    double ours[RATIOS][CHOICES];
    double model[RATIOS][CHOICES];
    for (size_t i = 0; i < RATIOS * CHOICES; i++) {
        ours[i / CHOICES][i % CHOICES] = rates->fp[i / CHOICES][i % CHOICES].mean;
        model[i / CHOICES][i % CHOICES] =
            lab_002_model(lab_002_ratios[i / CHOICES], lab_002_choices[i % CHOICES], true).fp;
    }
    bool zeros = true;
    for (size_t i = 1; i < CHOICES; i++) {
        zeros = zeros && rates->zeros[0][i].mean > rates->zeros[0][i - 1].mean;
    }
    sentence(lab, zeros, true, "m/n 8: zeros grow with c");
    sentence(lab, steady(ours[0], 1), steady(model[0], 1), "m/n 8: false positives grow with c");
    sentence(lab, ours[1][CHOICES - 1] > ours[1][0], model[1][CHOICES - 1] > model[1][0],
             "m/n 12: more false positives at c = 50 than at c = 1");
    sentence(lab, never(rates, 1, 1, true), never_by(model[1], 1, true),
             "m/n 12: at no c fewer false positives than at c = 1, beyond chance");
    sentence(lab, never(rates, 2, 1.05, false), never_by(model[2], 1.05, false),
             "m/n 16: at no c 5 % more false positives than at c = 1, beyond chance");
    sentence(lab, ours[2][2] <= 1.05 * ours[2][0], model[2][2] <= 1.05 * model[2][0],
             "m/n 16: at c = 4 false positives are fewer or similar, within 5 %");
    sentence(lab, steady(ours[3], -1), steady(model[3], -1),
             "m/n 20: false positives fall with c, throughout");
    sentence(lab, ours[3][CHOICES - 1] < ours[3][0], model[3][CHOICES - 1] < model[3][0],
             "m/n 20: fewer false positives at c = 50 than at c = 1");
}

int lab_002_figure_3(struct lab *lab)
{
    struct rates rates = {0};
    if (measure_rates(lab, &rates) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    rate_rows(lab, &rates);
    more_zeros(lab, &rates);
    rate_sentences(lab, &rates);
    int code = lab_002_grid(lab, rates.factor, RATIOS, "False positives, relative to one choice",
                            "change factor");
    return code == EXIT_YES
               ? lab_002_grid(lab, rates.zeros, RATIOS, "Counters at 0", "share of the counters")
               : code;
}

/* ---- Fig. 8 ---------------------------------------------------------------------------------- */

#define LOADED 3 /* the ratios of the figure */

/* The share of counters above 1, by the model. */
static double above_one(uint32_t ratio, uint32_t c)
{
    double share[16] = {NAN};
    (void)tepal_counting_shares((uint64_t)ratio * KEYS, KEYS, hashes_for(ratio), c, true, share);
    return 1 - share[0] - share[1];
}

int lab_002_figure_8(struct lab *lab)
{
    struct lab_mean largest[RATIOS][CHOICES] = {0};
    struct lab_mean above[RATIOS][CHOICES] = {0};
    uint64_t most = 0;
    size_t filters = lab_trials(lab, 6, 40);
    for (size_t n = 0; n < filters * LOADED * CHOICES; n++) {
        size_t r = n / CHOICES % LOADED;
        size_t i = n % CHOICES;
        struct filled *f =
            filled_make(lab, lab_002_ratios[r], lab_002_choices[i], TEPAL_RULE_IMPROVED_GREEDY);
        uint64_t top = TEPAL_MAX_COUNTER;
        if (f == NULL) {
            return EXIT_TROUBLE;
        }
        while (top > 0 && f->share[top] == 0) {
            top--;
        }
        lab_mean_add(&largest[r][i], (double)top);
        lab_mean_add(&above[r][i], 1 - f->share[0] - f->share[1]);
        most = top > most ? top : most;
        filled_free(f);
    }
    for (size_t n = 0; n < LOADED * CHOICES; n++) {
        size_t r = n / CHOICES;
        size_t i = n % CHOICES;
        lab_row_mean(lab, LAB_ROW, &largest[r][i], "m/n %u, c %u: largest counter",
                     lab_002_ratios[r], lab_002_choices[i]);
        lab_row_mean(lab, lab_expected(above_one(lab_002_ratios[r], lab_002_choices[i]), 0.001),
                     &above[r][i], "m/n %u, c %u: share of counters above 1, and by the model",
                     lab_002_ratios[r], lab_002_choices[i]);
    }
    lab_row_holds(lab, most < TEPAL_MAX_SMALL_COUNTER,
                  "m/n 8 to 16: four bits suffice, no counter sticks");
    lab_row_exact(lab, LAB_ROW, (double)most, "m/n 8 to 16: the largest counter of all filters");
    return lab_002_grid(lab, largest, LOADED, "The largest counter", "counter");
}

/* ---- Fig. 9 ---------------------------------------------------------------------------------- */

enum { BOUND, FOUND, KEPT, KINDS };

/* Remove all members in random order (Sec. 5.2), by the policy `keep`; how many were removed. */
static size_t remove_all(struct lab *lab, struct filled *f)
{
    size_t removed = 0;
    for (size_t i = KEYS; i > 1; i--) {
        size_t j = (size_t)(lab_draw(lab) % i);
        struct tepal_digest d = f->member[i - 1];
        f->member[i - 1] = f->member[j];
        f->member[j] = d;
    }
    (void)tepal_counting_remove_many(f->counting, f->member, NULL, KEYS, NULL, &removed);
    return removed;
}

/* Eq. (7), members found in several groups, and those that stay when all are removed in turn. */
static int measure_kept(struct lab *lab, uint32_t ratio, uint32_t c, struct lab_mean kept[KINDS])
{
    size_t filters = lab_trials(lab, 6, 40);
    for (size_t n = 0; n < filters; n++) {
        struct filled *f = filled_make(lab, ratio, c, TEPAL_RULE_IMPROVED_GREEDY);
        if (f == NULL) {
            return EXIT_TROUBLE;
        }
        size_t several = filled_in_several(f);
        size_t removed = remove_all(lab, f);
        lab_mean_add(&kept[BOUND], tepal_counting_multi_address(f->share[0], f->k, f->c));
        lab_mean_add(&kept[FOUND], (double)several / KEYS);
        lab_mean_add(&kept[KEPT], (double)(KEYS - removed) / KEYS);
        filled_free(f);
    }
    return EXIT_YES;
}

int lab_002_figure_9(struct lab *lab)
{
    static const char *const names[KINDS] = {"eq. (7)", "found in several groups",
                                             "kept by removal"};
    struct lab_curves curves = {0};
    for (size_t j = 0; j < KINDS; j++) {
        lab_curve(&curves, j == BOUND ? SVG_DASHED : SVG_LINE, "%s", names[j]);
    }
    for (size_t i = 0; i < CHOICES; i++) {
        struct lab_mean kept[KINDS] = {0};
        if (measure_kept(lab, 8, lab_002_choices[i], kept) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
        for (size_t j = 0; j < KINDS; j++) {
            lab_row_mean(lab, LAB_ROW, &kept[j], "m/n 8, c %u: share of the members, %s",
                         lab_002_choices[i], names[j]);
            lab_curve_point(&curves, j, lab_point_mean(lab_002_choices[i], &kept[j]));
        }
        if (lab_002_choices[i] > 1) {
            lab_row_holds(
                lab, kept[KEPT].mean < kept[FOUND].mean && kept[FOUND].mean < kept[BOUND].mean,
                "m/n 8, c %u: kept, several and eq. (7) in this order", lab_002_choices[i]);
        }
    }
    return lab_curves_draw(lab, &curves, "Members with several addresses, 8 counters per key",
                           "c, choices", "share of the members", LAB_LINEAR);
}

/* ---- Fig. 10 --------------------------------------------------------------------------------- */

/* Remove all members (some are kept), add as many others: shares of zeros before and after. */
static int replace_all(struct lab *lab, uint32_t ratio, uint32_t c, struct lab_mean zeros[2])
{
    size_t filters = lab_trials(lab, 6, 40);
    for (size_t n = 0; n < filters; n++) {
        struct filled *f = filled_make(lab, ratio, c, TEPAL_RULE_IMPROVED_GREEDY);
        uint64_t histogram[TEPAL_MAX_COUNTER + 1];
        if (f == NULL) {
            return EXIT_TROUBLE;
        }
        lab_mean_add(&zeros[0], f->share[0]);
        (void)remove_all(lab, f);
        for (size_t i = 0; i < KEYS; i++) {
            (void)tepal_filter_add(f->counting, lab_digest(lab));
        }
        tepal_counting_histogram(f->counting, histogram);
        lab_mean_add(&zeros[1], (double)histogram[0] / (double)f->cells);
        filled_free(f);
    }
    return EXIT_YES;
}

/* By the share of zeros, at its ends too. */
static void fp_of(struct lab_row *row, const struct lab_mean *zeros, uint32_t ratio, uint32_t c)
{
    struct lab_row z = LAB_ROW;
    uint32_t k = hashes_for(ratio);
    lab_002_zeros(&z, zeros, ratio);
    row->ours = tepal_counting_fp(z.ours, k, c);
    row->low = tepal_counting_fp(z.high, k, c);
    row->high = tepal_counting_fp(z.low, k, c);
}

int lab_002_figure_10(struct lab *lab)
{
    struct lab_curves curves = {0};
    lab_curve(&curves, SVG_LINE, "fresh");
    lab_curve(&curves, SVG_LINE, "all members replaced");
    for (size_t i = 0; i < CHOICES; i++) {
        struct lab_mean zeros[2] = {0};
        struct lab_row fp[2] = {LAB_ROW, LAB_ROW};
        if (replace_all(lab, 8, lab_002_choices[i], zeros) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
        for (size_t j = 0; j < 2; j++) {
            if (j == 0) {
                fp[j] = lab_expected(lab_002_model(8, lab_002_choices[i], true).fp, 0);
            }
            fp_of(&fp[j], &zeros[j], 8, lab_002_choices[i]);
            lab_row(lab, &fp[j], "m/n 8, c %u: false positives, %s", lab_002_choices[i],
                    j == 0 ? "fresh" : "all members replaced");
            lab_curve_point(&curves, j, lab_point_row(lab_002_choices[i], &fp[j]));
        }
        lab_row_holds(lab, fp[1].high >= fp[0].low,
                      "m/n 8, c %u: no fewer false positives than fresh, beyond chance",
                      lab_002_choices[i]);
        /* "appropriate to the original value when c >= 10": within 5 % */
        if (lab_002_choices[i] >= 10) {
            struct lab_row row = lab_words(1, 0.05, NAN);
            lab_002_quotient(&row, &fp[1], &fp[0]);
            lab_row(lab, &row, "m/n 8, c %u: false positives relative to fresh",
                    lab_002_choices[i]);
        }
    }
    return lab_curves_draw(lab, &curves,
                           "False positives with what removal kept, 8 counters per key",
                           "c, choices", "false-positive rate", LAB_LINEAR);
}
