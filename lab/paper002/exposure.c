/* exposure.c: Figs. 5 to 7 of the paper on counting filters: what wrong removals expose. */
#include <stdlib.h>

#include "paper002/choices.h"

/* ---- Figs. 5 and 6 --------------------------------------------------------------------------- */

/*
 * Who alone owns each counter that is 1 (0: nobody, or one who is found in another group too; else
 * his number plus 1). NULL without memory.
 */
static uint32_t *owners(const struct filled *f)
{
    uint32_t *owner = calloc(f->cells, sizeof *owner);
    for (uint32_t i = 0; i < KEYS && owner != NULL; i++) {
        uint64_t at[TEPAL_MAX_HASHES];
        uint64_t groups = tepal_counting_groups(f->counting, f->member[i]);
        uint32_t count = tepal_counting_positions(f->counting, f->member[i], f->group[i], at);
        for (uint32_t j = 0; j < count; j++) {
            if (tepal_counting_at(f->counting, at[j]) == 1 && (groups & (groups - 1)) == 0) {
                owner[at[j]] = i + 1;
            }
        }
    }
    return owner;
}

struct exposure {
    struct lab_mean z[RATIOS][CHOICES]; /* of single removals */
    struct lab_mean ratio[RATIOS][CHOICES];
};

static int measure_exposure(struct lab *lab, enum tepal_counting_rule rule,
                            struct exposure *exposure)
{
    size_t filters = lab_trials(lab, 3, 20);
    for (size_t n = 0; n < filters * RATIOS * CHOICES; n++) {
        size_t r = n / CHOICES % RATIOS;
        size_t i = n % CHOICES;
        struct filled *f = filled_make(lab, lab_002_ratios[r], lab_002_choices[i], rule);
        uint32_t *owner = f == NULL ? NULL : owners(f);
        if (owner == NULL) {
            filled_free(f);
            return f == NULL ? EXIT_TROUBLE : say_no_memory();
        }
        for (size_t t = 0; t < 3000; t++) {
            lab_mean_add(&exposure->z[r][i],
                         lab_002_expose(lab, f->counting, f->cells, f->k, owner));
        }
        lab_mean_add(&exposure->ratio[r][i], (1 - f->share[0] - f->share[1]) / f->share[1]);
        free(owner);
        filled_free(f);
    }
    return EXIT_YES;
}

static void exposure_rows(struct lab *lab, const struct exposure *e)
{
    static const char *const names[2] = {"improved greedy", "greedy"};
    for (size_t n = 0; n < 2 * RATIOS * CHOICES; n++) {
        size_t r = n / 2 / CHOICES;
        size_t i = n / 2 % CHOICES;
        lab_row_mean(lab, LAB_ROW, &e[n % 2].z[r][i],
                     "m/n %u, c %u, %s: exposed by one wrong removal", lab_002_ratios[r],
                     lab_002_choices[i], names[n % 2]);
        lab_row_mean(lab, LAB_ROW, &e[n % 2].ratio[r][i],
                     "m/n %u, c %u, %s: counters above 1 per counter at 1", lab_002_ratios[r],
                     lab_002_choices[i], names[n % 2]);
    }
    for (size_t n = 0; n < RATIOS * CHOICES; n++) {
        size_t r = n / CHOICES;
        size_t i = n % CHOICES;
        double chance = LAB_Z * hypot(lab_mean_error(&e[0].z[r][i]), lab_mean_error(&e[1].z[r][i]));
        if (lab_002_choices[i] == 1) {
            continue; /* there is no rule */
        }
        lab_row_holds(lab, e[0].z[r][i].mean < e[1].z[r][i].mean + chance,
                      "m/n %u, c %u: improved greedy exposes no more than greedy, beyond chance",
                      lab_002_ratios[r], lab_002_choices[i]);
        lab_row_holds(lab, e[0].ratio[r][i].mean > e[1].ratio[r][i].mean,
                      "m/n %u, c %u: improved greedy has more above 1 per counter at 1",
                      lab_002_ratios[r], lab_002_choices[i]);
    }
}

int lab_002_figure_5(struct lab *lab)
{
    struct exposure e[2] = {0};
    if (measure_exposure(lab, TEPAL_RULE_IMPROVED_GREEDY, &e[0]) != EXIT_YES ||
        measure_exposure(lab, lab_sabotaged(lab) ? TEPAL_RULE_IMPROVED_GREEDY : TEPAL_RULE_GREEDY,
                         &e[1]) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    exposure_rows(lab, e);
    int code = lab_002_grid(lab, e[0].z, RATIOS, "Exposed by one wrong removal, improved greedy",
                            "false negatives");
    code = code == EXIT_YES
               ? lab_002_grid(lab, e[1].z, RATIOS, "Exposed by one wrong removal, greedy",
                              "false negatives")
               : code;
    return code == EXIT_YES
               ? lab_002_grid(lab, e[0].ratio, RATIOS, "Counters above 1 per counter at 1", "ratio")
               : code;
}

/* ---- Fig. 7 ---------------------------------------------------------------------------------- */

#define WRONG  5 /* steps */
#define STEP   4 /* wrong removals in each */
#define CURVES 3

/* Wrong removals of false positives, one after the other; members missed after every step. */
static int expose_many(struct lab *lab, uint32_t ratio, uint32_t c, struct lab_mean missed[WRONG],
                       struct lab_mean *several)
{
    size_t filters = lab_trials(lab, 10, 40);
    for (size_t n = 0; n < filters; n++) {
        struct filled *f = filled_make(lab, ratio, c, TEPAL_RULE_IMPROVED_GREEDY);
        if (f == NULL) {
            return EXIT_TROUBLE;
        }
        lab_mean_add(several, (double)filled_in_several(f) / KEYS);
        for (size_t w = 0; w < WRONG; w++) {
            uint64_t missing = 0;
            for (size_t j = 0; j < STEP; j++) {
                (void)lab_002_remove_first(f->counting, lab_002_false_positive(lab, f->counting));
            }
            for (size_t i = 0; i < KEYS; i++) {
                missing += !tepal_filter_query(f->counting, f->member[i]);
            }
            lab_mean_add(&missed[w], (double)missing);
        }
        filled_free(f);
    }
    return EXIT_YES;
}

/* What the text claims of c choices: the share of c = 1 that is still exposed. */
struct promise {
    uint32_t ratio;
    uint32_t c;
    double left;
};

/* The model counts a member that one removal hits; removals do not add up, and who is found in
 * another group too is not missed. */
static double after_many(uint32_t ratio, uint32_t c, double several)
{
    double one = lab_002_model(ratio, c, true).exposed * (1 - several);
    return tepal_counting_many(one, KEYS, WRONG * STEP);
}

static void keep_promise(struct lab *lab, const struct promise *p, const struct lab_mean *one,
                         const struct lab_mean *many, double several)
{
    struct lab_row row = LAB_ROW;
    struct lab_row part[2] = {LAB_ROW, LAB_ROW};
    lab_measured(&part[0], many);
    lab_measured(&part[1], one);
    lab_002_quotient(&row, &part[0], &part[1]);
    row.published = p->left;
    row.source = LAB_WORDS;
    row.right = after_many(p->ratio, p->c, several) / after_many(p->ratio, 1, 0);
    lab_row(lab, &row, "m/n %u, c %u: exposed, relative to c = 1, after 20 wrong removals",
            p->ratio, p->c);
}

/* How many choices the model needs to halve what is exposed; one more than there are: too few. */
static void halving(struct lab *lab, const struct promise *p)
{
    double half = lab_002_model(p->ratio, 1, true).exposed / 2;
    uint32_t c = p->c;
    while (c <= TEPAL_MAX_CHOICES && lab_002_model(p->ratio, c, true).exposed > half) {
        c++;
    }
    lab_row_exact(lab, lab_printed(p->c, 0, c), c,
                  "m/n %u: choices that halve what is exposed, by the model (65: more)", p->ratio);
}

int lab_002_figure_7(struct lab *lab)
{
    static const struct promise promise[3][2] = {{{8, 4, 0.5}, {8, 50, 0.2}},
                                                 {{12, 10, 0.5}, {12, 50, 0.2}},
                                                 {{16, 20, 0.5}, {16, 50, 0.2}}};
    static const char *const titles[3] = {"Exposed, 8 counters per key",
                                          "Exposed, 12 counters per key",
                                          "Exposed, 16 counters per key"};
    for (size_t r = 0; r < 3; r++) {
        uint32_t c[CURVES] = {1, promise[r][0].c, promise[r][1].c};
        struct lab_mean missed[CURVES][WRONG] = {0};
        struct lab_mean several[CURVES] = {0};
        struct lab_curves curves = {0};
        for (size_t i = 0; i < CURVES; i++) {
            if (expose_many(lab, lab_002_ratios[r], c[i], missed[i], &several[i]) != EXIT_YES) {
                return EXIT_TROUBLE;
            }
            lab_curve(&curves, SVG_LINE, "c = %u", c[i]);
            for (size_t w = 0; w < WRONG; w++) {
                double wrong = (double)(STEP * (w + 1));
                lab_row_mean(lab, LAB_ROW, &missed[i][w],
                             "m/n %u, c %u: exposed after %.0f wrong removals", lab_002_ratios[r],
                             c[i], wrong);
                lab_curve_point(&curves, i, lab_point_mean(wrong, &missed[i][w]));
            }
        }
        halving(lab, &promise[r][0]);
        for (size_t i = 0; i < 2; i++) {
            keep_promise(lab, &promise[r][i], &missed[0][WRONG - 1], &missed[i + 1][WRONG - 1],
                         several[i + 1].mean);
        }
        if (lab_curves_draw(lab, &curves, titles[r], "wrong removals", "members missed",
                            LAB_LINEAR) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
    }
    return EXIT_YES;
}
