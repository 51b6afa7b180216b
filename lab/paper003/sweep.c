/*
 * sweep.c: Figs. 6 to 14 of the yes-no paper: what is left of 100 known negatives when one
 * of the parameters varies, and the others are as usual.
 *
 * The paper prints no number beside these curves. What the text says of them is checked: that there
 * is a minimum, that one curve stays below another, where they cross.
 */
#include <stddef.h>

#include "paper003/paper003.h"

#define MOST_POINTS 20

enum { GREEDY, NEXTFIT, SEARCH, EXACT, METHODS };

static const enum tepal_yesno_method methods[METHODS] = {
    TEPAL_YESNO_GREEDY, TEPAL_YESNO_NEXTFIT, TEPAL_YESNO_LOCAL_SEARCH, TEPAL_YESNO_EXACT};

struct place {
    double x;
    struct veto_setting s;
    double bloom; /* left by a Bloom filter of the same p + r q bits, by eq. (5) as the paper */
    double yes;   /* by one of p bits, eq. (5) */
    struct veto_sample sample[METHODS];
};

struct sweep {
    struct place place[MOST_POINTS];
    size_t count;
    const char *letter; /* what varies */
    const char *x_label;
    const char *title;
};

/* ---- running --------------------------------------------------------------------------------- */

static void add_place(struct sweep *sweep, double x, const struct veto_setting *s)
{
    uint64_t m = s->p + s->q * s->r;
    sweep->place[sweep->count++] =
        (struct place){.x = x,
                       .s = *s,
                       .bloom = (double)s->t * tepal_bloom_fp_classic(m, s->n, s->k),
                       .yes = (double)s->t * tepal_bloom_fp_classic(s->p, s->n, s->k)};
}

/*
 * Greedy and next fit are fast: as many instances as the paper has. The searches get a number of
 * steps; the exact one runs only where that was plenty.
 */
static int run_method(struct lab *lab, struct place *place, int method)
{
    struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
    size_t trials = lab_trials(lab, 1500, 10000);
    int code = EXIT_YES;
    how.method = methods[method];
    if (method == SEARCH || method == EXACT) {
        size_t most = lab_trials(lab, 500, 10000);
        if (method == EXACT && place->sample[SEARCH].left.count < (double)most) {
            return EXIT_YES;
        }
        how.steps = method == EXACT ? 20000 : 0;
        code = lab_veto_afford(lab, &place->s, &how, lab_quick(lab) ? 4e5 : 6e6,
                               lab_trials(lab, 20, 100), most, &trials);
    }
    return code == EXIT_YES ? lab_veto_sample(lab, &place->s, &how, trials, &place->sample[method])
                            : code;
}

static int run(struct lab *lab, struct sweep *sweep, int count)
{
    for (size_t i = 0; i < sweep->count; i++) {
        for (int m = 0; m < count; m++) {
            if (run_method(lab, &sweep->place[i], m) != EXIT_YES) {
                return EXIT_TROUBLE;
            }
        }
    }
    return EXIT_YES;
}

/* ---- what a curve does ----------------------------------------------------------------------- */

static const struct lab_mean *left(const struct sweep *sweep, size_t i, int method)
{
    return &sweep->place[i].sample[method].left;
}

/* Is it lower in one place than in another, beyond chance? */
static bool lower(const struct lab_mean *a, const struct lab_mean *b)
{
    return a->mean < b->mean - LAB_Z * hypot(lab_mean_error(a), lab_mean_error(b));
}

/* Is a place in between lower than the first and the last one? */
static bool dips(const struct sweep *sweep, int method)
{
    for (size_t i = 1; i + 1 < sweep->count; i++) {
        if (lower(left(sweep, i, method), left(sweep, 0, method)) &&
            lower(left(sweep, i, method), left(sweep, sweep->count - 1, method))) {
            return true;
        }
    }
    return false;
}

/* The highest place over the lowest. */
static double range_of(const struct sweep *sweep, int method)
{
    double most = 0;
    double least = INFINITY;
    for (size_t i = 0; i < sweep->count; i++) {
        most = fmax(most, left(sweep, i, method)->mean);
        least = fmin(least, left(sweep, i, method)->mean);
    }
    return most / least;
}

static double lowest(const struct sweep *sweep, int method)
{
    size_t best = 0;
    for (size_t i = 1; i < sweep->count; i++) {
        best = left(sweep, i, method)->mean < left(sweep, best, method)->mean ? i : best;
    }
    return sweep->place[best].x;
}

/* Where the method, moved up by so many standard errors, first exceeds the Bloom filter; NAN. */
static double crossing(const struct sweep *sweep, int method, double errors)
{
    double before = 0;
    for (size_t i = 0; i < sweep->count; i++) {
        const struct lab_mean *mean = left(sweep, i, method);
        double over = mean->mean + errors * lab_mean_error(mean) - sweep->place[i].bloom;
        if (i > 0 && before <= 0 && over > 0) {
            double step = sweep->place[i].x - sweep->place[i - 1].x;
            return sweep->place[i].x - step * over / (over - before);
        }
        before = over;
    }
    return NAN;
}

static void cross_row(struct lab *lab, const struct sweep *sweep, int method, double published,
                      double rounding)
{
    struct lab_row row = lab_words(published, rounding, NAN);
    row.ours = crossing(sweep, method, 0);
    row.low = crossing(sweep, method, LAB_Z);
    row.high = crossing(sweep, method, -LAB_Z);
    if (!isnan(row.ours) || !isnan(published)) {
        lab_row(lab, &row, "the Bloom filter is better beyond %s, %s", sweep->letter,
                tepal_yesno_method_name(methods[method]));
    }
}

/* Places where the greedy mean is below the line. */
static void count_row(struct lab *lab, const struct sweep *sweep, size_t line, size_t first,
                      double right, const char *words)
{
    double below = 0;
    for (size_t i = first; i < sweep->count; i++) {
        double bar = *(const double *)((const char *)&sweep->place[i] + line);
        below += left(sweep, i, GREEDY)->mean < bar;
    }
    struct lab_row row = lab_words((double)(sweep->count - first), 0, right);
    lab_exact(&row, below);
    lab_row(lab, &row, "values of %s, of %g, at which greedy leaves less than %s", sweep->letter,
            row.published, words);
}

/* ---- rows and pictures ----------------------------------------------------------------------- */

static void best_row(struct lab *lab, const struct sweep *sweep, int method)
{
    lab_row_exact(lab, LAB_ROW, lowest(sweep, method), "the best %s of these, %s", sweep->letter,
                  tepal_yesno_method_name(methods[method]));
}

/* The first `count` methods, and a Bloom filter: of all bits, or of the yes-filter's. */
static void rows(struct lab *lab, const struct sweep *sweep, int count, bool beside_yes)
{
    for (size_t i = 0; i < sweep->count; i++) {
        const struct place *place = &sweep->place[i];
        struct lab_row bloom = LAB_ROW;
        for (int m = 0; m < count; m++) {
            const struct veto_sample *sample = &place->sample[m];
            struct lab_row row = m == GREEDY ? lab_veto_left(&place->s) : LAB_ROW;
            if (sample->left.count > 0 &&
                (m != EXACT || (double)sample->proved == sample->left.count)) {
                lab_veto_measured(&row, &sample->left);
                lab_row(lab, &row, "%s = %g, %s", sweep->letter, place->x,
                        tepal_yesno_method_name(methods[m]));
            }
        }
        uint64_t bits = place->s.p + (beside_yes ? 0 : place->s.q * place->s.r);
        lab_exact(&bloom, (double)place->s.t * tepal_bloom_fp_exact(bits, place->s.n, place->s.k));
        lab_row(lab, &bloom, "%s = %g, a Bloom filter of %g bits", sweep->letter, place->x,
                (double)bits);
    }
}

/* The paper's axes, and the same with a logarithmic one that shows the methods apart. */
static int draw(struct lab *lab, const struct sweep *sweep, size_t line, const char *line_name,
                int count)
{
    struct lab_curves curves = {0};
    lab_curve(&curves, SVG_DASHED, "%s", line_name);
    for (size_t i = 0; i < sweep->count; i++) {
        const struct place *place = &sweep->place[i];
        double y = *(const double *)((const char *)place + line);
        lab_curve_point(&curves, 0, lab_point(place->x, y));
    }
    for (int m = 0; m < count; m++) {
        size_t curve = lab_curve(&curves, m == GREEDY ? SVG_LINE : SVG_MARKS, "%s",
                                 tepal_yesno_method_name(methods[m]));
        for (size_t i = 0; i < sweep->count; i++) {
            if (left(sweep, i, m)->count > 0) {
                lab_curve_point(&curves, curve,
                                lab_point_mean(sweep->place[i].x, left(sweep, i, m)));
            }
        }
    }
    static const char label[] = "false positives of 100, mean";
    int code = lab_curves_draw(lab, &curves, sweep->title, sweep->x_label, label, LAB_LINEAR);
    return code == EXIT_YES && count > 1
               ? lab_curves_draw(lab, &curves, sweep->title, sweep->x_label, label, LAB_LOG_Y)
               : code;
}

#define BLOOM offsetof(struct place, bloom)
#define YES   offsetof(struct place, yes)

/* ---- hashes ---------------------------------------------------------------------------------- */

static void sweep_k(struct sweep *sweep)
{
    *sweep = (struct sweep){.letter = "k",
                            .x_label = "k, hashes of the yes-filter",
                            .title = "False positives by hashes of the yes-filter"};
    for (uint32_t k = 1; k <= 14; k++) {
        struct veto_setting s = lab_veto_usual;
        s.k = k;
        add_place(sweep, k, &s);
    }
}

int lab_veto_fig_6(struct lab *lab)
{
    static struct sweep sweep;
    sweep_k(&sweep);
    if (run(lab, &sweep, METHODS) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    lab_veto_claim(lab, true, true, dips(&sweep, GREEDY), "greedy has a minimum in between");
    lab_veto_claim(lab, true, true,
                   left(&sweep, 1, GREEDY)->mean * 10 < sweep.place[1].bloom &&
                       left(&sweep, 2, GREEDY)->mean * 10 < sweep.place[2].bloom,
                   "for few hashes (2, 3) greedy leaves a tenth of the Bloom filter's, or less");
    lab_veto_claim(lab, true, true, left(&sweep, 13, GREEDY)->mean > sweep.place[13].bloom,
                   "for many hashes (14) the Bloom filter is better than greedy");
    for (int m = GREEDY; m <= SEARCH; m++) {
        cross_row(lab, &sweep, m, NAN, 0);
        best_row(lab, &sweep, m);
    }
    rows(lab, &sweep, METHODS, false);
    return draw(lab, &sweep, BLOOM, "Bloom filter of 256 bits, eq. (5)", METHODS);
}

int lab_veto_fig_7(struct lab *lab)
{
    static struct sweep sweep;
    sweep_k(&sweep);
    if (run(lab, &sweep, 1) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    count_row(lab, &sweep, YES, 0, NAN, "a Bloom filter of 160 bits");
    for (size_t i = 0; i < sweep.count; i++) {
        struct lab_row row = lab_veto_left(&sweep.place[i].s);
        const struct lab_mean *mean = left(&sweep, i, GREEDY);
        lab_veto_measured(&row, mean);
        row.ours /= sweep.place[i].yes;
        row.low /= sweep.place[i].yes;
        row.high /= sweep.place[i].yes;
        row.right /= sweep.place[i].yes;
        row.leeway /= sweep.place[i].yes;
        lab_row(lab, &row, "k = %g, share that greedy leaves", sweep.place[i].x);
    }
    return draw(lab, &sweep, YES, "Bloom filter of 160 bits, eq. (5)", 1);
}

int lab_veto_fig_8(struct lab *lab)
{
    static struct sweep sweep;
    sweep = (struct sweep){.letter = "k'",
                           .x_label = "k', hashes of a no-filter",
                           .title = "False positives by hashes of the no-filters"};
    for (uint32_t k = 1; k <= 14; k++) {
        struct veto_setting s = lab_veto_usual;
        s.no_hashes = k;
        add_place(&sweep, k, &s);
    }
    if (run(lab, &sweep, METHODS) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    lab_veto_claim(lab, true, true, dips(&sweep, GREEDY), "greedy has a minimum in between");
    lab_veto_claim(
        lab, false, true, range_of(&sweep, GREEDY) > 10,
        "k' has great influence: the most that greedy leaves is over 10 times the least");
    count_row(lab, &sweep, BLOOM, 0, 13, "a Bloom filter of 256 bits");
    for (int m = GREEDY; m <= SEARCH; m++) {
        best_row(lab, &sweep, m);
    }
    rows(lab, &sweep, METHODS, false);
    return draw(lab, &sweep, BLOOM, "Bloom filter of 256 bits, eq. (5)", METHODS);
}

/* ---- members --------------------------------------------------------------------------------- */

static void sweep_n(struct sweep *sweep)
{
    *sweep = (struct sweep){
        .letter = "n", .x_label = "n, members", .title = "False positives by members"};
    for (size_t n = 10; n <= 90; n += 5) {
        struct veto_setting s = lab_veto_usual;
        s.n = n;
        add_place(sweep, (double)n, &s);
    }
}

int lab_veto_fig_9(struct lab *lab)
{
    static struct sweep sweep;
    bool rises = true;
    sweep_n(&sweep);
    if (run(lab, &sweep, SEARCH + 1) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    for (size_t i = 1; i < sweep.count; i++) {
        rises = rises && !lower(left(&sweep, i, GREEDY), left(&sweep, i - 1, GREEDY));
    }
    lab_veto_claim(lab, true, true, rises, "greedy never falls");
    cross_row(lab, &sweep, GREEDY, 60, 5);
    cross_row(lab, &sweep, NEXTFIT, NAN, 0);
    cross_row(lab, &sweep, SEARCH, NAN, 0);
    rows(lab, &sweep, SEARCH + 1, false);
    return draw(lab, &sweep, BLOOM, "Bloom filter of 256 bits, eq. (5)", SEARCH + 1);
}

int lab_veto_fig_10(struct lab *lab)
{
    static struct sweep sweep;
    sweep_n(&sweep);
    if (run(lab, &sweep, 1) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    count_row(lab, &sweep, YES, 0, NAN, "a Bloom filter of 160 bits");
    rows(lab, &sweep, 1, true);
    return draw(lab, &sweep, YES, "Bloom filter of 160 bits, eq. (5)", 1);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static void sweep_q(struct sweep *sweep)
{
    static const uint64_t sizes[] = {10, 15, 20, 25, 30, 32, 35, 40, 45, 50, 55, 59};
    *sweep = (struct sweep){.letter = "q",
                            .x_label = "q, bits of a no-filter",
                            .title = "False positives by size of the no-filters"};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct veto_setting s = lab_veto_usual;
        s.q = sizes[i];
        add_place(sweep, (double)s.q, &s);
    }
}

/* The smallest number that at least this share of the instances leave, or fewer. */
static size_t quantile(const struct veto_sample *sample, double share)
{
    size_t value = 0;
    double seen = (double)sample->by_left[0];
    while (value + 1 < VETO_MOST && seen < share * sample->left.count) {
        seen += (double)sample->by_left[++value];
    }
    return value;
}

int lab_veto_fig_11(struct lab *lab)
{
    static const double shares[] = {0.25, 0.5, 0.75, 0.95, 0.99};
    enum { SHARES = COUNT(shares) };
    static const char *const names[] = {"quartile", "median", "third quartile", "95 %", "99 %"};
    static struct sweep sweep;
    struct lab_curves curves = {0};
    for (size_t j = 0; j < SHARES; j++) {
        lab_curve(&curves, SVG_LINE, "%s", names[j]);
    }
    sweep_q(&sweep);
    if (run(lab, &sweep, 1) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    for (size_t i = 0; i < sweep.count; i++) {
        const struct veto_sample *sample = &sweep.place[i].sample[GREEDY];
        struct lab_row row = LAB_ROW;
        for (size_t j = 0; j < SHARES; j++) {
            double value = (double)quantile(sample, shares[j]);
            lab_curve_point(&curves, j, lab_point(sweep.place[i].x, value));
            lab_exact(&row, value);
            lab_row(lab, &row, "q = %g, greedy, %s", sweep.place[i].x, names[j]);
        }
        lab_counted(&row, sample->by_left[0], (uint64_t)sample->left.count);
        lab_row(lab, &row, "q = %g, greedy, share that leaves nothing", sweep.place[i].x);
        row = lab_veto_left(&sweep.place[i].s);
        lab_veto_measured(&row, &sample->left);
        lab_row(lab, &row, "q = %g, greedy, mean", sweep.place[i].x);
    }
    return lab_curves_draw(lab, &curves, "How many false positives are left, greedy", sweep.x_label,
                           "false positives of 100", LAB_LINEAR);
}

int lab_veto_fig_12(struct lab *lab)
{
    static struct sweep sweep;
    sweep_q(&sweep);
    if (run(lab, &sweep, METHODS) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    lab_veto_claim(lab, true, false, dips(&sweep, GREEDY), "greedy has a minimum in between");
    lab_veto_claim(lab, false, true,
                   left(&sweep, 0, GREEDY)->mean > 10 * left(&sweep, sweep.count - 1, GREEDY)->mean,
                   "q has a strong influence: 10 bits leave over 10 times as much as 59");
    count_row(lab, &sweep, BLOOM, 0, NAN, "a Bloom filter of the same size");
    rows(lab, &sweep, METHODS, false);
    return draw(lab, &sweep, BLOOM, "Bloom filter of the same size, eq. (5)", METHODS);
}

/* Built with r = 0, does it answer as the Bloom filter of the same bits? */
static int same_as_bloom(struct lab *lab, const struct veto_setting *s)
{
    struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
    double differ = 0;
    for (size_t trial = 0; trial < 100; trial++) {
        struct veto_keys keys;
        struct tepal_known_report report;
        double found = 0;
        lab_veto_draw(lab, s, &keys);
        if (lab_veto_build(lab, s, &keys, &how, NULL, &report) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
        struct tepal_filter *bloom = lab_veto_bloom(s, &keys);
        if (bloom == NULL) {
            return EXIT_TROUBLE;
        }
        for (size_t i = 0; i < s->t; i++) {
            found += tepal_filter_query(bloom, keys.avoid[i]);
        }
        tepal_filter_free(bloom);
        differ += found != (double)report.avoid_left;
    }
    lab_row_exact(lab, lab_words(0, 0, NAN), differ,
                  "r = 0: of 100 filters, those that find other keys than the Bloom filter");
    return EXIT_YES;
}

int lab_veto_fig_13(struct lab *lab)
{
    static struct sweep sweep;
    sweep = (struct sweep){.letter = "r",
                           .x_label = "r, no-filters of 32 bits, with p = 160",
                           .title = "False positives by number of no-filters, p = 160"};
    for (uint64_t r = 0; r <= 9; r++) {
        struct veto_setting s = lab_veto_usual;
        s.r = r;
        add_place(&sweep, (double)r, &s);
    }
    if (same_as_bloom(lab, &sweep.place[0].s) != EXIT_YES ||
        run(lab, &sweep, METHODS) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    count_row(lab, &sweep, BLOOM, 1, NAN, "a Bloom filter of the same size");
    rows(lab, &sweep, METHODS, false);
    return draw(lab, &sweep, BLOOM, "Bloom filter of the same size, eq. (5)", METHODS);
}

int lab_veto_fig_14(struct lab *lab)
{
    static struct sweep sweep;
    sweep = (struct sweep){.letter = "r",
                           .x_label = "r, no-filters of 32 bits out of 256",
                           .title = "False positives by number of no-filters, m = 256"};
    for (uint64_t r = 0; r <= 7; r++) {
        struct veto_setting s = lab_veto_usual;
        s.r = r;
        s.p = 256 - s.q * r;
        add_place(&sweep, (double)r, &s);
    }
    if (same_as_bloom(lab, &sweep.place[0].s) != EXIT_YES ||
        run(lab, &sweep, METHODS) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    lab_veto_claim(lab, true, true, dips(&sweep, GREEDY), "greedy has a minimum in between");
    for (int m = GREEDY; m <= SEARCH; m++) {
        best_row(lab, &sweep, m);
    }
    rows(lab, &sweep, METHODS, false);
    return draw(lab, &sweep, BLOOM, "Bloom filter of 256 bits, eq. (5)", METHODS);
}
