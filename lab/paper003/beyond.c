/*
 * beyond.c: the formulas of the yes-no paper, printed and corrected, against measurements;
 * and what the paper does not have: other methods, seeds, layouts, weights, cascades.
 */
#include "paper003/paper003.h"

/* ---- formulas -------------------------------------------------------------------------------- */

/* Means over many filters of one setting, all greedy; of strangers, t are asked. */
struct counts {
    struct lab_mean fill;     /* share of ones in the yes-filter, as a Bloom filter has them */
    struct lab_mean positive; /* known negatives that the yes-filter finds: F */
    struct lab_mean left;     /* of these, still found: E */
    struct lab_mean yes;      /* strangers that the yes-filter finds */
    struct lab_mean vetoed;   /* of these, vetoed */
    struct lab_mean passed;   /* of these, not vetoed */
    struct lab_mean found;    /* strangers and members that the yes-filter finds */
    uint64_t members_lost;
};

static int count_one(struct lab *lab, const struct veto_setting *s, struct counts *counts)
{
    struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
    struct tepal_known_report report;
    struct tepal_filter *filter = NULL;
    struct veto_keys keys;
    how.method = TEPAL_YESNO_GREEDY;
    lab_veto_draw(lab, s, &keys);
    struct tepal_filter *bloom = lab_veto_bloom(s, &keys);
    if (bloom == NULL) {
        return EXIT_TROUBLE;
    }
    lab_mean_add(&counts->fill, (double)tepal_filter_ones(bloom) / (double)s->p);
    tepal_filter_free(bloom);
    if (lab_veto_build(lab, s, &keys, &how, &filter, &report) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    lab_mean_add(&counts->positive, (double)report.avoid_positive);
    lab_mean_add(&counts->left, (double)report.avoid_left);
    double members = 0;
    double yes = 0;
    double passed = 0;
    for (size_t i = 0; i < s->n; i++) {
        members += tepal_yesno_query_yes(filter, keys.member[i]);
        counts->members_lost += !tepal_filter_query(filter, keys.member[i]);
    }
    for (size_t i = 0; i < s->t; i++) {
        struct tepal_digest key = lab_digest(lab);
        yes += tepal_yesno_query_yes(filter, key);
        passed += tepal_filter_query(filter, key);
    }
    lab_mean_add(&counts->yes, yes);
    lab_mean_add(&counts->vetoed, yes - passed);
    lab_mean_add(&counts->passed, passed);
    lab_mean_add(&counts->found, members + yes);
    tepal_filter_free(filter);
    return EXIT_YES;
}

static int count(struct lab *lab, const struct veto_setting *s, size_t trials,
                 struct counts *counts)
{
    *counts = (struct counts){0};
    for (size_t i = 0; i < trials; i++) {
        if (count_one(lab, s, counts) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
    }
    return EXIT_YES;
}

/* A printed formula's value against a measurement, scaled; `right`: the corrected formula's. */
static void formula(struct lab *lab, const struct lab_mean *mean, double scale, double printed,
                    double right, double leeway, const char *words)
{
    struct lab_row row = lab_formula(printed, right);
    lab_veto_measured(&row, mean);
    row.ours *= scale;
    row.low *= scale;
    row.high *= scale;
    row.leeway = leeway;
    lab_row(lab, &row, "%s", words);
}

static void settings_rows(struct lab *lab)
{
    static const struct {
        uint64_t p;
        uint64_t q;
        uint64_t r;
        const char *where;
    } sizes[] = {{160, 32, 3, "Sec. V: p + r q = 160 + 3 x 32"},
                 {192, 32, 2, "Sec. VIII: p + r q = 192 + 2 x 32"}};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct tepal_params params = lab_veto_params(sizes[i].p, 4, sizes[i].q, sizes[i].r, 5);
        lab_row_exact(lab, lab_itself(256, 0, NAN), (double)params.cells, "%s", sizes[i].where);
    }
}

static double vetoed_share(const struct counts *c)
{
    return c->vetoed.mean / c->yes.mean;
}

static void known_rows(struct lab *lab, const struct veto_setting *s, const struct counts *c)
{
    double t = (double)s->t;
    double asked = (double)(s->n + s->t);
    double in_set = (double)s->n / asked;
    double fs = tepal_bloom_fp_exact(s->p, s->n, s->k);
    double stored = (c->positive.mean - c->left.mean) / asked;
    formula(lab, &c->fill, 1, tepal_bloom_fill(TEPAL_LAYOUT_FLAT, s->positions, s->p, s->n, s->k),
            NAN, 0, "1 - p by eq. (4): share of ones in the yes-filter");
    formula(lab, &c->positive, 1 / t, tepal_bloom_fp_classic(s->p, s->n, s->k), fs, 0,
            "f_S by eqs. (5), (7); right: without taking bits for independent");
    formula(lab, &c->positive, 1 / t, tepal_bloom_fp_approx(s->p, s->n, s->k), fs, 0,
            "f_S by eqs. (6), (29); right: the same");
    formula(lab, &c->positive, 1, t * tepal_bloom_fp_classic(s->p, s->n, s->k), t * fs, 0,
            "F_p by eq. (32), with (5); right: with the true f_S");
    formula(lab, &c->positive, 1 / asked, tepal_yesno_false_positive(in_set, fs), NAN, 0,
            "Pr[F] by eqs. (8), (11), (16), members included, with the true f_S");
    lab_veto_claim(lab, true, true, c->left.mean < c->positive.mean, "Pr[E] < Pr[F], eq. (25)");
    formula(lab, &c->left, 1 / asked,
            tepal_yesno_error_printed(in_set, c->positive.mean / t, vetoed_share(c), stored),
            LEFT_USUAL / asked, LEFT_USUAL_H / asked,
            "Pr[E] on the known T by eqs. (13), (24), negative; right: Pr[F] - Pr[R]");
    lab_row_exact(lab, lab_formula(0, NAN), (double)c->members_lost,
                  "false negatives (the intersection of G and S)");
}

/* Keys that the filter was not built against: Pr[R] = 0. */
static void stranger_rows(struct lab *lab, const struct veto_setting *s, const struct counts *c)
{
    double t = (double)s->t;
    double asked = (double)(s->n + s->t);
    double in_set = (double)s->n / asked;
    double fs = tepal_bloom_fp_exact(s->p, s->n, s->k);
    double fr = vetoed_share(c);
    formula(lab, &c->vetoed, 1 / c->yes.mean, NAN, NAN, 0,
            "f_R of three no-filters: share of strangers vetoed");
    formula(lab, &c->found, 1 / asked, tepal_yesno_positive(in_set, fs), NAN, 0,
            "Pr[S~], for members and strangers, by eqs. (9), (10)");
    formula(lab, &c->vetoed, 1 / asked, tepal_yesno_positive(in_set, fs) * fr,
            tepal_yesno_false_positive(in_set, fs) * fr, 0,
            "strangers and members that G vetoes by eqs. (17) to (23); right: Pr[F] f_R");
    formula(lab, &c->passed, 1 / asked, tepal_yesno_error_printed(in_set, fs, fr, 0),
            tepal_yesno_error(in_set, fs, fr, 0), 0,
            "Pr[E], for members and strangers, by eq. (24); right: Pr[F] (1 - f_R)");
    formula(lab, &c->passed, 1 / t, fs * (1 - fr), NAN, 0,
            "Pr[E | S^c, R^c], for strangers, by eq. (28)");
    lab_row_exact(lab, LAB_ROW, tepal_bloom_fp_exact(s->p + s->q * s->r, s->n, 6),
                  "the same of a Bloom filter of 256 bits, 6 hashes");
}

static int one_no_filter(struct lab *lab, size_t trials)
{
    struct veto_setting s = lab_veto_usual;
    struct counts c;
    s.r = 1;
    if (count(lab, &s, trials, &c) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    double t = (double)s.t;
    double fs = tepal_bloom_fp_exact(s.p, s.n, s.k);
    double stored = c.positive.mean - c.left.mean;
    double printed = tepal_yesno_veto(s.q, (double)s.n, s.no_hashes);
    double right = tepal_yesno_veto(s.q, stored, s.no_hashes);
    lab_row_exact(lab, LAB_ROW, stored, "r = 1: false positives stored in the no-filter, R");
    formula(lab, &c.left, 1 / t,
            tepal_yesno_error_printed(0, c.positive.mean / t, vetoed_share(&c), stored / t),
            LEFT_ONE / t, LEFT_ONE_H / t,
            "r = 1: Pr[E | S^c] on the known T by eqs. (26), (27); right: f_S - Pr[R]");
    formula(lab, &c.vetoed, 1 / c.yes.mean, printed, right, 0.005,
            "r = 1: f_R by eq. (30), which has n for R; right: with R");
    formula(lab, &c.passed, 1 / t, tepal_bloom_fp_approx(s.p, s.n, s.k) * (1 - printed),
            fs * (1 - right), 0.0005,
            "r = 1: f_E by eq. (31), which has n for R; right: with R and the true f_S");
    return EXIT_YES;
}

/* f_R by the number that is stored: printed for n, and as it is. */
static int draw_formulas(struct lab *lab)
{
    struct lab_curves curves = {0};
    lab_curve(&curves, SVG_DASHED, "f_E, eq. (31) as printed");
    lab_curve(&curves, SVG_LINE, "f_E with R (at most 5) for n");
    lab_curve(&curves, SVG_LINE, "f_S of 160 bits");
    lab_curve(&curves, SVG_LINE, "Bloom filter of 256 bits, 6 hashes");
    for (size_t i = 0; i < 17; i++) {
        uint64_t n = 10 + 5 * (uint64_t)i;
        double x = (double)n;
        double approx = tepal_bloom_fp_approx(160, n, 4);
        double fs = tepal_bloom_fp_exact(160, n, 4);
        double stored = fmin(100 * fs, 5.03);
        lab_curve_point(&curves, 0, lab_point(x, approx * (1 - tepal_yesno_veto(32, x, 5))));
        lab_curve_point(&curves, 1, lab_point(x, fs * (1 - tepal_yesno_veto(32, stored, 5))));
        lab_curve_point(&curves, 2, lab_point(x, fs));
        lab_curve_point(&curves, 3, lab_point(x, tepal_bloom_fp_exact(256, n, 6)));
    }
    return lab_curves_draw(lab, &curves, "Strangers accepted, one no-filter", "n, members",
                           "share of strangers", LAB_LINEAR);
}

int lab_veto_formulas(struct lab *lab)
{
    struct veto_setting s = lab_veto_usual;
    struct counts c;
    size_t trials = lab_trials(lab, 60000, 1000000);
    if (count(lab, &s, trials, &c) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    settings_rows(lab);
    known_rows(lab, &s, &c);
    stranger_rows(lab, &s, &c);
    if (one_no_filter(lab, lab_trials(lab, 60000, 500000)) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    return draw_formulas(lab);
}

/* ---- methods --------------------------------------------------------------------------------- */

int lab_veto_methods(struct lab *lab)
{
    struct lab_curves curves = {0};
    static const char *const names[] = {"colliding positions", "distinct positions",
                                        "distinct, a seed for each no-filter"};
    for (size_t i = 0; i < 3; i++) {
        lab_curve(&curves, SVG_MARKS, "%s", names[i]);
        for (int m = 0; m < TEPAL_YESNO_METHODS; m++) {
            struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
            struct veto_setting s = lab_veto_usual;
            struct veto_sample sample;
            how.method = (enum tepal_yesno_method)m;
            s.positions = i > 0 ? TEPAL_POSITIONS_DISTINCT : TEPAL_POSITIONS_COLLIDING;
            s.own_seeds = i > 1;
            struct lab_row row = m == TEPAL_YESNO_GREEDY ? lab_veto_left(&s) : LAB_ROW;
            if (lab_veto_sample(lab, &s, &how, lab_trials(lab, 2000, 20000), &sample) != EXIT_YES) {
                return EXIT_TROUBLE;
            }
            lab_veto_measured(&row, &sample.left);
            lab_row(lab, &row, "%s, %s", tepal_yesno_method_name(how.method), names[i]);
            lab_curve_point(&curves, i, lab_point_row(m, &row));
        }
    }
    for (uint32_t salts = 1; salts <= 4; salts *= 2) {
        struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
        struct veto_sample sample;
        struct lab_row row = LAB_ROW;
        how.method = TEPAL_YESNO_GREEDY;
        how.salts = salts;
        if (lab_veto_sample(lab, &lab_veto_usual, &how, lab_trials(lab, 2000, 20000), &sample) !=
            EXIT_YES) {
            return EXIT_TROUBLE;
        }
        lab_veto_measured(&row, &sample.left);
        lab_row(lab, &row, "greedy, the best of %u whole re-hashings", salts);
    }
    return lab_curves_draw(lab, &curves, "What each method leaves",
                           "0 greedy, 1 nextfit, 2 bestfit, 3 pairs, 4 local-search, 5 exact",
                           "false positives of 100, mean", LAB_LINEAR);
}

/* ---- layouts --------------------------------------------------------------------------------- */

/* 256 bits: a Bloom filter with its best k, the paper's layout, the one the model chooses. */
int lab_veto_layouts(struct lab *lab)
{
    enum { BLOOM, GREEDY, SEARCH, TUNED, WAYS, PLACES = 6 };
    static const char *const names[WAYS] = {"Bloom, best k", "160 + 3 x 32, greedy",
                                            "160 + 3 x 32, local-search", "tuned, local-search"};
    struct lab_curves curves = {0};
    for (int way = 0; way < WAYS; way++) {
        lab_curve(&curves, way == BLOOM ? SVG_DASHED : SVG_LINE, "%s", names[way]);
    }
    for (size_t i = 0; i < PLACES; i++) {
        struct veto_setting s = lab_veto_usual;
        struct tepal_yesno_setting plan = {0};
        struct lab_row row = LAB_ROW;
        s.n = 20 + 10 * i;
        s.positions = TEPAL_POSITIONS_DISTINCT;
        uint32_t best = tepal_bloom_best_hashes(TEPAL_LAYOUT_FLAT, s.positions, 256, s.n);
        lab_exact(&row, 100 * tepal_bloom_fp_distinct(256, s.n, best));
        lab_row(lab, &row, "n = %zu, Bloom filter, %u hashes", s.n, best);
        lab_curve_point(&curves, BLOOM, lab_point((double)s.n, row.ours));
        if (tepal_yesno_best_setting(TEPAL_LAYOUT_FLAT, s.positions, 256, s.n, s.t, &plan) !=
            TEPAL_OK) {
            return say_error(NULL, "lab", "no layout for %zu members", s.n);
        }
        for (int way = GREEDY; way < WAYS; way++) {
            struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
            struct veto_sample sample;
            size_t trials;
            how.method = way == GREEDY ? TEPAL_YESNO_GREEDY : TEPAL_YESNO_LOCAL_SEARCH;
            if (way == TUNED) {
                s = (struct veto_setting){
                    plan.yes_bits, plan.hashes, plan.no_bits, plan.no_filters, plan.no_hashes,
                    s.n,           s.t,         s.positions,  plan.own_seeds};
            }
            if (lab_veto_afford(lab, &s, &how, lab_quick(lab) ? 4e5 : 2e7, lab_trials(lab, 20, 200),
                                lab_trials(lab, 3000, 30000), &trials) != EXIT_YES ||
                lab_veto_sample(lab, &s, &how, trials, &sample) != EXIT_YES) {
                return EXIT_TROUBLE;
            }
            row = way == GREEDY ? lab_veto_left(&s) : LAB_ROW;
            lab_veto_measured(&row, &sample.left);
            if (way == TUNED) {
                lab_row(lab, &row, "n = %zu, tuned: p %u, k %u, q %u, r %u, k' %u; local-search",
                        s.n, (unsigned)s.p, s.k, (unsigned)s.q, (unsigned)s.r, s.no_hashes);
            } else {
                lab_row(lab, &row, "n = %zu, %s", s.n, names[way]);
            }
            lab_curve_point(&curves, (size_t)way, lab_point_row((double)s.n, &row));
        }
    }
    return lab_curves_draw(lab, &curves, "False positives with 256 bits", "n, members",
                           "false positives of 100, mean", LAB_LOG_Y);
}

/* ---- weights --------------------------------------------------------------------------------- */

/* The heaviest known negatives first: the order in which greedy places them. */
static void heaviest_first(struct veto_keys *keys, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct tepal_digest avoid = keys->avoid[i];
        double weight = keys->weight[i];
        size_t at = i;
        for (; at > 0 && keys->weight[at - 1] < weight; at--) {
            keys->avoid[at] = keys->avoid[at - 1];
            keys->weight[at] = keys->weight[at - 1];
        }
        keys->avoid[at] = avoid;
        keys->weight[at] = weight;
    }
    keys->weighted = true;
}

/* 40 members; the weights of the known negatives are exponential, of mean 1. */
int lab_veto_weights(struct lab *lab)
{
    static const enum tepal_yesno_method methods[] = {TEPAL_YESNO_GREEDY, TEPAL_YESNO_LOCAL_SEARCH,
                                                      TEPAL_YESNO_EXACT};
    enum { METHODS = 3 };
    struct lab_mean weight[2][METHODS] = {0};
    struct lab_curves curves = {0};
    struct veto_setting s = lab_veto_usual;
    size_t trials = lab_trials(lab, 200, 3000);
    s.n = 40;
    for (size_t i = 0; i < trials; i++) {
        struct veto_keys keys;
        lab_veto_draw(lab, &s, &keys);
        for (size_t j = 0; j < s.t; j++) {
            keys.weight[j] = -log(((double)(lab_draw(lab) >> 11) + 1) * 0x1p-53);
        }
        struct veto_keys told = keys;
        heaviest_first(&told, s.t);
        for (size_t j = 0; j < 2 * METHODS; j++) {
            struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
            struct tepal_known_report report;
            double left = 0;
            how.method = methods[j % METHODS];
            how.steps = how.method == TEPAL_YESNO_EXACT ? 50000 : 0;
            struct tepal_filter *filter = NULL;
            if (lab_veto_build(lab, &s, j < METHODS ? &keys : &told, &how, &filter, &report) !=
                EXIT_YES) {
                return EXIT_TROUBLE;
            }
            for (size_t t = 0; t < s.t; t++) {
                left += tepal_filter_query(filter, keys.avoid[t]) ? keys.weight[t] : 0;
            }
            tepal_filter_free(filter);
            lab_mean_add(&weight[j / METHODS][j % METHODS], left);
        }
    }
    lab_curve(&curves, SVG_MARKS, "weights not used");
    lab_curve(&curves, SVG_MARKS, "weights used");
    for (size_t j = 0; j < 2 * METHODS; j++) {
        /* not used, weights are chance: of mean 1 for each that is left */
        struct lab_row row = j == 0 ? lab_expected(LEFT_40, LEFT_40_H) : LAB_ROW;
        lab_veto_measured(&row, &weight[j / METHODS][j % METHODS]);
        lab_row(lab, &row, "weight left of 100, %s, weights %s",
                tepal_yesno_method_name(methods[j % METHODS]), j < METHODS ? "not used" : "used");
        lab_curve_point(&curves, j / METHODS, lab_point_row((double)(j % METHODS), &row));
    }
    return lab_curves_draw(lab, &curves, "Weight left, 40 members",
                           "0 greedy, 1 local-search, 2 exact (50000 steps)", "weight of 100, mean",
                           LAB_LINEAR);
}

/* ---- cascades -------------------------------------------------------------------------------- */

/* Sabotaged, a known negative that was not told is asked for. */
static int cascade_bits(struct lab *lab, const struct veto_setting *s, struct lab_mean *bits,
                        uint64_t *errors)
{
    struct veto_keys keys;
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct tepal_cascade_options options = {0};
    struct tepal_filter *filter = NULL;
    struct tepal_error error = {.why = ""};
    lab_veto_draw(lab, s, &keys);
    struct tepal_known input = {
        .members = keys.member, .member_count = s->n, .avoid = keys.avoid, .avoid_count = s->t};
    params.kind = TEPAL_KIND_CASCADE;
    params.positions = s->positions;
    if (tepal_cascade_build(&params, &input, &options, NULL, &filter, NULL, &error) != TEPAL_OK) {
        return say_error(NULL, "lab", "%s", error.why);
    }
    lab_mean_add(bits, (double)tepal_filter_params(filter)->cells);
    for (size_t i = 0; i < s->n; i++) {
        *errors += !tepal_filter_query(filter, keys.member[i]);
    }
    for (size_t i = 0; i < s->t; i++) {
        struct tepal_digest key = lab_sabotaged(lab) ? lab_digest(lab) : keys.avoid[i];
        *errors += tepal_filter_query(filter, key);
    }
    tepal_filter_free(filter);
    return EXIT_YES;
}

/* The bits of a filter without any error on n members and 100 known negatives. */
int lab_veto_cascade(struct lab *lab)
{
    enum { PLACES = 6 };
    struct lab_curves curves = {0};
    lab_curve(&curves, SVG_LINE, "cascade, no error");
    lab_curve(&curves, SVG_DASHED, "Bloom filter, 0.01 errors");
    for (size_t i = 0; i < PLACES; i++) {
        struct veto_setting s = lab_veto_usual;
        struct lab_mean bits = {0};
        struct lab_row row = LAB_ROW;
        uint64_t errors = 0;
        uint64_t cells = 0;
        uint32_t hashes = 0;
        s.n = 10 * (i + 1);
        s.positions = TEPAL_POSITIONS_DISTINCT;
        for (size_t j = 0; j < lab_trials(lab, 50, 1000); j++) {
            if (cascade_bits(lab, &s, &bits, &errors) != EXIT_YES) {
                return EXIT_TROUBLE;
            }
        }
        lab_measured(&row, &bits);
        lab_row(lab, &row, "n = %zu: bits of the smallest cascade", s.n);
        lab_row_exact(lab, lab_expected(0, 0), (double)errors,
                      "n = %zu: its errors on the known keys", s.n);
        lab_curve_point(&curves, 0, lab_point_row((double)s.n, &row));
        (void)tepal_bloom_size(TEPAL_LAYOUT_FLAT, s.positions, s.n, 0.01 / (double)s.t, &cells,
                               &hashes);
        lab_exact(&row, (double)cells);
        lab_row(lab, &row, "n = %zu: bits of a Bloom filter with 0.01 errors", s.n);
        lab_curve_point(&curves, 1, lab_point((double)s.n, row.ours));
    }
    return lab_curves_draw(lab, &curves, "Bits for 100 known negatives", "n, members", "bits",
                           LAB_LINEAR);
}
