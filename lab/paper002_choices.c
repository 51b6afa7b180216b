/*
 * paper002_choices.c: Figs. 3 to 10 of the paper on counting filters: what c choices do, at 8 to 24
 * counters a key, k = floor(m/n ln 2), 10,000 keys.
 */
#include <stdio.h>
#include <stdlib.h>

#include "paper002.h"

#define KEYS    10000
#define RATIOS  5
#define CHOICES 6

static const uint32_t ratios[RATIOS] = {8, 12, 16, 20, 24};
static const uint32_t choices[CHOICES] = {1, 2, 4, 10, 20, 50};

static uint32_t hashes_for(uint32_t ratio)
{
    return (uint32_t)(ratio * log(2));
}

/* ---- a filled filter ------------------------------------------------------------------------- */

struct filled {
    struct tepal_counting *counting;
    uint64_t cells;
    uint32_t k;
    uint32_t c;
    struct tepal_digest member[KEYS];
    uint8_t group[KEYS];
    double share[TEPAL_COUNTER_MAX + 1]; /* of the counters, by value */
};

static void filled_free(struct filled *f)
{
    if (f != NULL) {
        tepal_counting_free(f->counting);
        free(f);
    }
}

/* NULL after having said why. */
static struct filled *fill(struct lab *lab, uint32_t ratio, uint32_t c,
                           enum tepal_counting_rule rule)
{
    struct filled *f = calloc(1, sizeof *f);
    uint64_t histogram[TEPAL_COUNTER_MAX + 1];
    if (f == NULL) {
        say_error(NULL, "lab", "out of memory");
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
    for (size_t i = 0; i < KEYS; i++) {
        f->member[i] = lab_002_digest(lab);
    }
    (void)tepal_counting_add_many(f->counting, f->member, KEYS, f->group);
    tepal_counting_histogram(f->counting, histogram);
    for (size_t v = 0; v <= TEPAL_COUNTER_MAX; v++) {
        f->share[v] = (double)histogram[v] / (double)f->cells;
    }
    return f;
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
    struct lab_row row = LAB_ROW;
    row.published = 1;
    row.right = modelled;
    lab_exact(&row, measured);
    lab_row(lab, &row, "%s (1: so)", words);
}

static int grid_chart(struct lab *lab, struct lab_mean mean[RATIOS][CHOICES], size_t rows,
                      const char *title, const char *label, bool y_log)
{
    static const char *const names[RATIOS] = {"m/n 8", "m/n 12", "m/n 16", "m/n 20", "m/n 24"};
    struct svg_point point[RATIOS][CHOICES] = {0};
    struct svg_series series[RATIOS] = {0};
    for (size_t r = 0; r < rows; r++) {
        for (size_t i = 0; i < CHOICES; i++) {
            point[r][i] = lab_002_point(choices[i], &mean[r][i]);
        }
        series[r] = (struct svg_series){names[r], SVG_LINE, point[r], CHOICES};
    }
    struct svg_chart chart = {.title = title,
                              .x_label = "c, choices",
                              .y_label = label,
                              .y_log = y_log,
                              .series = series,
                              .count = rows};
    return lab_chart(lab, &chart);
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
        struct filled *f = fill(lab, ratios[r], choices[i], TEPAL_RULE_IMPROVED_GREEDY);
        if (f == NULL) {
            return EXIT_TROUBLE;
        }
        double fp = tepal_counting_fp(f->share[0], f->k, f->c);
        lab_mean_add(&rates->fp[r][i], fp);
        lab_mean_add(&rates->zeros[r][i], f->share[0]);
        lab_mean_add(&rates->factor[r][i], fp / rates->fp[r][0].mean);
        for (size_t j = 0; j < strangers && r < 3; j++) {
            rates->hits[r][i] += tepal_counting_query(f->counting, lab_002_digest(lab));
        }
        filled_free(f);
    }
    return EXIT_YES;
}

static void rate_rows(struct lab *lab, const struct rates *rates)
{
    for (size_t r = 0; r < RATIOS; r++) {
        for (size_t i = 0; i < CHOICES; i++) {
            struct lab_row row = LAB_ROW;
            row.published = rates->fp[r][i].mean;
            lab_counted(&row, rates->hits[r][i], rates->asked);
            if (r < 3) {
                lab_row(lab, &row, "m/n %u, c %u: false positives, 1 - (1 - (1 - p0)^k)^c",
                        ratios[r], choices[i]);
            }
            row.published = NAN;
            lab_measured(&row, &rates->factor[r][i]);
            lab_row(lab, &row, "m/n %u, c %u: change factor of false positives", ratios[r],
                    choices[i]);
            lab_measured(&row, &rates->zeros[r][i]);
            lab_row(lab, &row, "m/n %u, c %u: share of zeros", ratios[r], choices[i]);
        }
    }
}

/* "About 40 percent" more zeros at c = 50; 30 at 16 and 20 counters a key. */
static void more_zeros(struct lab *lab, const struct rates *rates)
{
    static const double printed[] = {40, 40, 30, 30};
    for (size_t r = 0; r < 4; r++) {
        struct lab_row row = LAB_ROW;
        struct lab_row part[2] = {LAB_ROW, LAB_ROW};
        lab_002_zeros(&part[0], &rates->zeros[r][CHOICES - 1], ratios[r]);
        lab_002_zeros(&part[1], &rates->zeros[r][0], ratios[r]);
        lab_002_quotient(&row, &part[0], &part[1]);
        row.ours = 100 * (row.ours - 1);
        row.low = 100 * (row.low - 1);
        row.high = 100 * (row.high - 1);
        row.published = printed[r];
        row.rounding = 5; /* "about", in tens */
        row.right =
            100 *
            (lab_002_model(ratios[r], 50, true).p0 / lab_002_model(ratios[r], 1, true).p0 - 1);
        lab_row(lab, &row, "m/n %u: more zeros at c = 50 than at c = 1, %%", ratios[r]);
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
        lab_002_zeros(&zeros, &rates->zeros[r][i], ratios[r]);
        bool low = below == (i > 0); /* fewer zeros: more false positives */
        fp[i] = tepal_counting_fp(low ? zeros.low : zeros.high, hashes_for(ratios[r]), choices[i]);
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
            lab_002_model(ratios[i / CHOICES], choices[i % CHOICES], true).fp;
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
    sentence(lab, ours[2][2] <= ours[2][0], model[2][2] <= model[2][0],
             "m/n 16: at c = 4 false positives are fewer or alike");
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
    int code = grid_chart(lab, rates.factor, RATIOS, "False positives, relative to one choice",
                          "change factor", false);
    return code == EXIT_YES ? grid_chart(lab, rates.zeros, RATIOS, "Counters at 0",
                                         "share of the counters", false)
                            : code;
}

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

/*
 * Sec. 5.3.2, the first category: k random counters above 0 lose 1; how many members are missed?
 * Asked of the counters, without changing them.
 */
static uint32_t expose(struct lab *lab, const struct filled *f, const uint32_t *owner)
{
    uint32_t victim[TEPAL_MAX_HASHES];
    uint32_t victims = 0;
    for (uint32_t j = 0; j < f->k;) {
        uint64_t at = lab_draw(lab) % f->cells;
        if (tepal_counting_at(f->counting, at) == 0) {
            continue;
        }
        uint32_t i = 0;
        while (i < victims && victim[i] != owner[at]) {
            i++;
        }
        if (owner[at] != 0 && i == victims) {
            victim[victims++] = owner[at];
        }
        j++;
    }
    return victims;
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
        struct filled *f = fill(lab, ratios[r], choices[i], rule);
        uint32_t *owner = f == NULL ? NULL : owners(f);
        if (owner == NULL) {
            filled_free(f);
            return f == NULL ? EXIT_TROUBLE : say_error(NULL, "lab", "out of memory");
        }
        for (size_t t = 0; t < 3000; t++) {
            lab_mean_add(&exposure->z[r][i], expose(lab, f, owner));
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
        struct lab_row row = LAB_ROW;
        lab_measured(&row, &e[n % 2].z[r][i]);
        lab_row(lab, &row, "m/n %u, c %u, %s: exposed by one wrong removal", ratios[r], choices[i],
                names[n % 2]);
        lab_measured(&row, &e[n % 2].ratio[r][i]);
        lab_row(lab, &row, "m/n %u, c %u, %s: counters above 1 to counters at 1", ratios[r],
                choices[i], names[n % 2]);
    }
    for (size_t n = 0; n < RATIOS * CHOICES; n++) {
        size_t r = n / CHOICES;
        size_t i = n % CHOICES;
        struct lab_row row = LAB_ROW;
        double chance = LAB_Z * hypot(lab_mean_error(&e[0].z[r][i]), lab_mean_error(&e[1].z[r][i]));
        if (choices[i] == 1) {
            continue; /* there is no rule */
        }
        row.published = 1;
        lab_exact(&row, e[0].z[r][i].mean < e[1].z[r][i].mean + chance);
        lab_row(lab, &row,
                "m/n %u, c %u: improved greedy exposes no more than greedy, beyond chance (1: so)",
                ratios[r], choices[i]);
        lab_exact(&row, e[0].ratio[r][i].mean > e[1].ratio[r][i].mean);
        lab_row(lab, &row, "m/n %u, c %u: improved greedy has more above 1 to 1 (1: so)", ratios[r],
                choices[i]);
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
    int code = grid_chart(lab, e[0].z, RATIOS, "Exposed by one wrong removal, improved greedy",
                          "false negatives", false);
    code = code == EXIT_YES
               ? grid_chart(lab, e[1].z, RATIOS, "Exposed by one wrong removal, greedy",
                            "false negatives", false)
               : code;
    return code == EXIT_YES ? grid_chart(lab, e[0].ratio, RATIOS,
                                         "Counters above 1 to counters at 1", "ratio", false)
                            : code;
}

/* ---- Fig. 7 ---------------------------------------------------------------------------------- */

#define WRONG  5 /* steps */
#define STEP   4 /* wrong removals in each */
#define CURVES 3

/* Members that are found in more than one of their groups. */
static size_t in_several(const struct filled *f)
{
    size_t several = 0;
    for (size_t i = 0; i < KEYS; i++) {
        uint64_t groups = tepal_counting_groups(f->counting, f->member[i]);
        several += (groups & (groups - 1)) != 0;
    }
    return several;
}

/* Wrong removals of false positives, one after the other; members missed after every step. */
static int expose_many(struct lab *lab, uint32_t ratio, uint32_t c, struct lab_mean missed[WRONG],
                       struct lab_mean *several)
{
    size_t filters = lab_trials(lab, 10, 40);
    for (size_t n = 0; n < filters; n++) {
        struct filled *f = fill(lab, ratio, c, TEPAL_RULE_IMPROVED_GREEDY);
        if (f == NULL) {
            return EXIT_TROUBLE;
        }
        lab_mean_add(several, (double)in_several(f) / KEYS);
        for (size_t w = 0; w < WRONG; w++) {
            uint64_t missing = 0;
            for (size_t j = 0; j < STEP; j++) {
                struct tepal_digest d = lab_002_false_positive(lab, f->counting);
                uint64_t groups = tepal_counting_groups(f->counting, d);
                uint32_t group = 0;
                while ((groups >> group & 1) == 0) {
                    group++;
                }
                (void)tepal_counting_remove_group(f->counting, d, group);
            }
            for (size_t i = 0; i < KEYS; i++) {
                missing += !tepal_counting_query(f->counting, f->member[i]);
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
    row.right = after_many(p->ratio, p->c, several) / after_many(p->ratio, 1, 0);
    lab_row(lab, &row, "m/n %u, c %u: exposed, relative to c = 1, after 20 wrong removals",
            p->ratio, p->c);
}

/* How many choices the model needs to halve what is exposed; one more than there are: too few. */
static void halving(struct lab *lab, const struct promise *p)
{
    struct lab_row row = LAB_ROW;
    double half = lab_002_model(p->ratio, 1, true).exposed / 2;
    uint32_t c = p->c;
    while (c <= TEPAL_MAX_CHOICES && lab_002_model(p->ratio, c, true).exposed > half) {
        c++;
    }
    row.published = p->c;
    row.right = c;
    lab_exact(&row, c);
    lab_row(lab, &row, "m/n %u: choices that halve what is exposed, by the model (65: more)",
            p->ratio);
}

int lab_002_figure_7(struct lab *lab)
{
    static const struct promise promise[3][2] = {{{8, 4, 0.5}, {8, 50, 0.2}},
                                                 {{12, 10, 0.5}, {12, 50, 0.2}},
                                                 {{16, 20, 0.5}, {16, 50, 0.2}}};
    static const char *const titles[3] = {"Exposed, 8 counters a key", "Exposed, 12 counters a key",
                                          "Exposed, 16 counters a key"};
    for (size_t r = 0; r < 3; r++) {
        uint32_t c[CURVES] = {1, promise[r][0].c, promise[r][1].c};
        struct lab_mean missed[CURVES][WRONG] = {0};
        struct lab_mean several[CURVES] = {0};
        struct svg_point point[CURVES][WRONG] = {0};
        struct svg_series series[CURVES] = {0};
        char name[CURVES][16];
        for (size_t i = 0; i < CURVES; i++) {
            if (expose_many(lab, ratios[r], c[i], missed[i], &several[i]) != EXIT_YES) {
                return EXIT_TROUBLE;
            }
            for (size_t w = 0; w < WRONG; w++) {
                struct lab_row row = LAB_ROW;
                double wrong = (double)(STEP * (w + 1));
                lab_measured(&row, &missed[i][w]);
                lab_row(lab, &row, "m/n %u, c %u: exposed after %.0f wrong removals", ratios[r],
                        c[i], wrong);
                point[i][w] = lab_002_point(wrong, &missed[i][w]);
            }
            snprintf(name[i], sizeof name[i], "c = %u", c[i]);
            series[i] = (struct svg_series){name[i], SVG_LINE, point[i], WRONG};
        }
        halving(lab, &promise[r][0]);
        for (size_t i = 0; i < 2; i++) {
            keep_promise(lab, &promise[r][i], &missed[0][WRONG - 1], &missed[i + 1][WRONG - 1],
                         several[i + 1].mean);
        }
        struct svg_chart chart = {.title = titles[r],
                                  .x_label = "wrong removals",
                                  .y_label = "members missed",
                                  .series = series,
                                  .count = CURVES};
        if (lab_chart(lab, &chart) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
    }
    return EXIT_YES;
}

/* ---- Fig. 8 ---------------------------------------------------------------------------------- */

#define LOADED 3 /* the ratios of the figure */

int lab_002_figure_8(struct lab *lab)
{
    struct lab_mean largest[RATIOS][CHOICES] = {0};
    uint64_t most = 0;
    size_t filters = lab_trials(lab, 6, 40);
    for (size_t n = 0; n < filters * LOADED * CHOICES; n++) {
        size_t r = n / CHOICES % LOADED;
        size_t i = n % CHOICES;
        struct filled *f = fill(lab, ratios[r], choices[i], TEPAL_RULE_IMPROVED_GREEDY);
        uint64_t top = TEPAL_COUNTER_MAX;
        if (f == NULL) {
            return EXIT_TROUBLE;
        }
        while (top > 0 && f->share[top] == 0) {
            top--;
        }
        lab_mean_add(&largest[r][i], (double)top);
        most = top > most ? top : most;
        filled_free(f);
    }
    for (size_t n = 0; n < LOADED * CHOICES; n++) {
        struct lab_row row = LAB_ROW;
        lab_measured(&row, &largest[n / CHOICES][n % CHOICES]);
        lab_row(lab, &row, "m/n %u, c %u: largest counter", ratios[n / CHOICES],
                choices[n % CHOICES]);
    }
    struct lab_row row = LAB_ROW;
    row.published = 1;
    lab_exact(&row, most < TEPAL_COUNTER_MAX);
    lab_row(lab, &row, "m/n 8 to 16: four bits suffice, no counter sticks (1: so)");
    lab_exact(&row, (double)most);
    row.published = NAN;
    lab_row(lab, &row, "m/n 8 to 16: the largest counter of all filters");
    return grid_chart(lab, largest, LOADED, "The largest counter", "counter", false);
}

/* ---- Fig. 9 ---------------------------------------------------------------------------------- */

enum { BOUND, FOUND, KEPT, KINDS };

/* Remove all members in random order (Sec. 5.2), by the policy `keep`; how many were removed. */
static size_t remove_all(struct lab *lab, struct filled *f)
{
    size_t removed = 0;
    for (size_t i = KEYS; i > 1; i--) {
        size_t j = lab_draw(lab) % i;
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
        struct filled *f = fill(lab, ratio, c, TEPAL_RULE_IMPROVED_GREEDY);
        if (f == NULL) {
            return EXIT_TROUBLE;
        }
        size_t several = in_several(f);
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
    struct svg_point point[KINDS][CHOICES] = {0};
    struct svg_series series[KINDS] = {0};
    for (size_t i = 0; i < CHOICES; i++) {
        struct lab_mean kept[KINDS] = {0};
        if (measure_kept(lab, 8, choices[i], kept) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
        for (size_t j = 0; j < KINDS; j++) {
            struct lab_row row = LAB_ROW;
            lab_measured(&row, &kept[j]);
            lab_row(lab, &row, "m/n 8, c %u: share of the members, %s", choices[i], names[j]);
            point[j][i] = lab_002_point(choices[i], &kept[j]);
        }
        if (choices[i] > 1) {
            struct lab_row row = LAB_ROW;
            row.published = 1;
            lab_exact(&row,
                      kept[KEPT].mean < kept[FOUND].mean && kept[FOUND].mean < kept[BOUND].mean);
            lab_row(lab, &row, "m/n 8, c %u: kept, several and eq. (7) in this order (1: so)",
                    choices[i]);
        }
    }
    for (size_t j = 0; j < KINDS; j++) {
        series[j] =
            (struct svg_series){names[j], j == BOUND ? SVG_DASHED : SVG_LINE, point[j], CHOICES};
    }
    struct svg_chart chart = {.title = "Members with several addresses, 8 counters a key",
                              .x_label = "c, choices",
                              .y_label = "share of the members",
                              .series = series,
                              .count = KINDS};
    return lab_chart(lab, &chart);
}

/* ---- Fig. 10 --------------------------------------------------------------------------------- */

/* Remove all members (some are kept), add as many others: shares of zeros before and after. */
static int replace_all(struct lab *lab, uint32_t ratio, uint32_t c, struct lab_mean zeros[2])
{
    size_t filters = lab_trials(lab, 6, 40);
    for (size_t n = 0; n < filters; n++) {
        struct filled *f = fill(lab, ratio, c, TEPAL_RULE_IMPROVED_GREEDY);
        uint64_t histogram[TEPAL_COUNTER_MAX + 1];
        if (f == NULL) {
            return EXIT_TROUBLE;
        }
        lab_mean_add(&zeros[0], f->share[0]);
        (void)remove_all(lab, f);
        for (size_t i = 0; i < KEYS; i++) {
            (void)tepal_counting_add(f->counting, lab_002_digest(lab), NULL);
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
    struct svg_point point[2][CHOICES] = {0};
    for (size_t i = 0; i < CHOICES; i++) {
        struct lab_mean zeros[2] = {0};
        struct lab_row fp[2] = {LAB_ROW, LAB_ROW};
        if (replace_all(lab, 8, choices[i], zeros) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
        for (size_t j = 0; j < 2; j++) {
            fp_of(&fp[j], &zeros[j], 8, choices[i]);
            lab_row(lab, &fp[j], "m/n 8, c %u: false positives, %s", choices[i],
                    j == 0 ? "fresh" : "all members replaced");
            point[j][i] = (struct svg_point){choices[i], fp[j].ours, fp[j].low, fp[j].high};
        }
        struct lab_row row = LAB_ROW;
        row.published = 1;
        lab_exact(&row, fp[1].high >= fp[0].low);
        lab_row(lab, &row,
                "m/n 8, c %u: no fewer false positives than fresh, beyond chance (1: so)",
                choices[i]);
        if (choices[i] >= 10) { /* "appropriate to the original value when c >= 10": within 5 % */
            lab_002_quotient(&row, &fp[1], &fp[0]);
            row.rounding = 0.05;
            lab_row(lab, &row, "m/n 8, c %u: false positives relative to fresh", choices[i]);
        }
    }
    struct svg_series series[] = {{"fresh", SVG_LINE, point[0], CHOICES},
                                  {"all members replaced", SVG_LINE, point[1], CHOICES}};
    struct svg_chart chart = {.title = "False positives with what removal kept, 8 counters a key",
                              .x_label = "c, choices",
                              .y_label = "false-positive rate",
                              .series = series,
                              .count = 2};
    return lab_chart(lab, &chart);
}
