/*
 * theorems.c: counting filters and their false negatives (Guo, Liu, Li, Yang): Theorems 1 to 5 as
 * printed, as they should be, and measured. Y are the members that a wrong removal loses in the end
 * (potential), Z those that are missed at once (exposed).
 */
#include "paper002/paper002.h"

#include <stdlib.h>

struct tepal_filter *lab_002_filter(uint64_t cells, uint32_t hashes, uint32_t choices,
                                    enum tepal_counting_rule rule,
                                    enum tepal_counting_policy policy)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct tepal_filter *counting = NULL;
    params.kind = TEPAL_KIND_COUNTING;
    params.cells = cells;
    params.hashes = hashes;
    params.counting.choices = choices;
    params.counting.rule = choices == 1 ? 0 : (uint64_t)rule;
    params.counting.policy = choices == 1 ? 0 : (uint64_t)policy;
    (void)lab_status(tepal_filter_create(&params, NULL, &counting, NULL));
    return counting;
}

struct tepal_digest lab_002_false_positive(struct lab *lab, const struct tepal_filter *counting)
{
    struct tepal_digest d;
    do {
        d = lab_digest(lab);
    } while (!tepal_filter_query(counting, d));
    return d;
}

enum tepal_status lab_002_remove_first(struct tepal_filter *counting, struct tepal_digest key)
{
    uint64_t groups = tepal_counting_groups(counting, key);
    uint32_t group = 0;
    while ((groups >> group & 1) == 0) {
        group++;
    }
    return tepal_counting_remove_group(counting, key, group);
}

uint64_t lab_002_above_zero(struct lab *lab, const struct tepal_filter *counting, uint64_t cells)
{
    uint64_t at;
    do {
        at = lab_draw(lab) % cells;
    } while (tepal_counting_at(counting, at) == 0);
    return at;
}

uint32_t lab_002_expose(struct lab *lab, const struct tepal_filter *counting, uint64_t cells,
                        uint32_t k, const uint32_t *owner)
{
    uint32_t victim[TEPAL_MAX_HASHES];
    uint32_t victims = 0;
    for (uint32_t j = 0; j < k; j++) {
        uint32_t who = owner[lab_002_above_zero(lab, counting, cells)];
        uint32_t i = 0;
        while (i < victims && victim[i] != who) {
            i++;
        }
        victim[victims] = who;
        victims += who != 0 && i == victims;
    }
    return victims;
}

#define KEYS 10000

/*
 * With one choice the number of empty counters has the variance m p0 (1 - (1 + lambda) p0), p0 =
 * e^-lambda; choices even it out. Student's interval of a few filters would be far too wide.
 */
void lab_002_zeros(struct lab_row *row, const struct lab_mean *zeros, uint32_t ratio)
{
    double lambda = floor(ratio * log(2)) / ratio;
    double variance = exp(-lambda) * (1 - (1 + lambda) * exp(-lambda)) / ratio / KEYS;
    double half = LAB_Z * sqrt(variance / zeros->count);
    row->ours = zeros->mean;
    row->low = zeros->mean - half;
    row->high = zeros->mean + half;
}

void lab_002_quotient(struct lab_row *row, const struct lab_row *over, const struct lab_row *under)
{
    row->ours = over->ours / under->ours;
    double half = row->ours * hypot((over->high - over->ours) / over->ours,
                                    (under->high - under->ours) / under->ours);
    row->low = row->ours - half;
    row->high = row->ours + half;
}

void lab_002_more_zeros(struct lab *lab, const struct lab_mean zeros[2], uint32_t ratio,
                        double leeway, const char *before)
{
    struct lab_row row = LAB_ROW;
    struct lab_row part[2] = {LAB_ROW, LAB_ROW};
    double one = lab_002_model(ratio, 1, true).p0;
    lab_002_zeros(&part[0], &zeros[1], ratio);
    lab_002_zeros(&part[1], &zeros[0], ratio);
    lab_002_quotient(&row, &part[0], &part[1]);
    row.ours = 100 * (row.ours - 1);
    row.low = 100 * (row.low - 1);
    row.high = 100 * (row.high - 1);
    row.published = ratio < 16 ? 40 : 30;
    row.source = LAB_WORDS;
    row.rounding = 5; /* "about", in tens */
    row.right = 100 * (lab_002_model(ratio, 50, true).p0 / one - 1);
    row.leeway = 100 * leeway / one;
    lab_row(lab, &row, "%sm/n %u: more zeros at c = 50 than at c = 1, %%", before, ratio);
}

/* ---- Figs. 1 and 2: a small filter, and wrong removals from it ------------------------------- */

#define SMALL_M 1600
#define SMALL_N LAB_002_KEYS
#define ALPHAS  10

/* What wrong removals did, over trials; [y]: potential, [z]: exposed. */
struct harm {
    uint32_t k;
    uint64_t trials;
    uint64_t times[2][TEPAL_MAX_HASHES + 1]; /* how often one removal made so many */
    struct lab_mean mean[2];
    struct lab_mean many[2][ALPHAS]; /* after 1, 2, ... removals */
    uint64_t repeated;
    uint64_t within; /* of these: as many potential as removals at least, k times as many at most */
};

enum { POTENTIAL, EXPOSED };

/* `wrong` wrong removals from a fresh filter, and the two counts. Empties the filter. */
static enum tepal_status trial(struct lab *lab, struct tepal_filter *counting, uint32_t wrong,
                               uint32_t count[2])
{
    struct tepal_digest member[SMALL_N];
    enum tepal_status status = tepal_filter_clear(counting);
    lab_digests(lab, member, SMALL_N);
    if (status == TEPAL_OK) {
        status = tepal_filter_add_many(counting, member, SMALL_N);
    }
    for (uint32_t i = 0; i < wrong && status == TEPAL_OK; i++) {
        status = tepal_filter_remove(counting, lab_002_false_positive(lab, counting));
    }
    count[POTENTIAL] = count[EXPOSED] = 0;
    for (size_t i = 0; i < SMALL_N; i++) {
        count[EXPOSED] += !tepal_filter_query(counting, member[i]);
    }
    for (size_t i = 0; i < SMALL_N; i++) {
        count[POTENTIAL] += tepal_filter_remove(counting, member[i]) != TEPAL_OK;
    }
    return status;
}

static int measure_harm(struct lab *lab, uint32_t k, size_t trials, size_t repeated,
                        struct harm *harm)
{
    uint32_t hashes = lab_sabotaged(lab) ? k - 1 : k;
    struct tepal_filter *counting = lab_002_filter(SMALL_M, hashes, 1, 0, 0);
    enum tepal_status status = TEPAL_OK;
    uint32_t count[2];
    if (counting == NULL) {
        return EXIT_TROUBLE;
    }
    *harm = (struct harm){.k = k, .trials = trials};
    for (size_t t = 0; t < trials && status == TEPAL_OK; t++) {
        status = trial(lab, counting, 1, count);
        for (size_t j = 0; j < 2; j++) {
            harm->times[j][count[j] < TEPAL_MAX_HASHES ? count[j] : TEPAL_MAX_HASHES]++;
            lab_mean_add(&harm->mean[j], count[j]);
        }
    }
    for (size_t t = 0; t < repeated * ALPHAS && status == TEPAL_OK; t++) {
        status = trial(lab, counting, (uint32_t)(t % ALPHAS) + 1, count);
        for (size_t j = 0; j < 2; j++) {
            lab_mean_add(&harm->many[j][t % ALPHAS], count[j]);
        }
        uint32_t wrong = (uint32_t)(t % ALPHAS) + 1;
        harm->repeated++;
        harm->within += count[POTENTIAL] >= wrong && count[POTENTIAL] <= wrong * k;
    }
    tepal_filter_free(counting);
    return lab_status(status);
}

/* Distributions over 0 .. k, and means after 1, 2, ... removals: as printed, and as they should be.
 */
struct theory {
    double printed[TEPAL_MAX_HASHES + 1];
    double right[TEPAL_MAX_HASHES + 1];
    double mean; /* of what is printed */
    double many[ALPHAS];
};

static enum tepal_status theory_of(size_t which, uint32_t k, struct theory *theory)
{
    double share[16];
    enum tepal_status status = tepal_counting_shares(SMALL_M, SMALL_N, k, 1, true, share);
    if (status != TEPAL_OK) {
        return status;
    }
    if (which == POTENTIAL) {
        tepal_counting_potential_printed(k, theory->printed);
        lab_002_lost(SMALL_M, SMALL_N, k, theory->right);
    } else {
        tepal_counting_exposed_printed(SMALL_M, SMALL_N, k, theory->printed);
        status = tepal_counting_exposed(SMALL_M, SMALL_N, k, share[0], share[1], theory->right);
    }
    theory->mean = tepal_counting_mean(theory->printed, k);
    for (uint32_t a = 0; a < ALPHAS; a++) {
        double mean[2];
        lab_002_many(SMALL_M, SMALL_N, k, a + 1, mean);
        theory->many[a] = mean[which];
    }
    return status;
}

static void harm_rows(struct lab *lab, const struct harm *harm, size_t which,
                      const struct theory *theory)
{
    const char *name = which == POTENTIAL ? "Y" : "Z";
    uint32_t k = harm->k;
    for (uint32_t i = 0; i <= k; i++) {
        struct lab_row row = lab_formula(theory->printed[i], theory->right[i]);
        lab_counted(&row, harm->times[which][i], harm->trials);
        lab_row(lab, &row, "k %u: P(%s = %u), Theorem %d", k, name, i, which == POTENTIAL ? 1 : 4);
    }
    struct lab_row row = lab_formula(theory->mean, theory->many[0]);
    lab_measured(&row, &harm->mean[which]);
    lab_row(lab, &row, "k %u: E[%s], Corollary %d", k, name, which == POTENTIAL ? 1 : 3);
    for (uint32_t a = 0; a < ALPHAS; a++) {
        row = lab_formula((a + 1) * theory->mean, theory->many[a]);
        lab_measured(&row, &harm->many[which][a]);
        lab_row(lab, &row, "k %u: %s after %u wrong removals, Corollary %d", k,
                which == POTENTIAL ? "potential" : "exposed", a + 1, which == POTENTIAL ? 2 : 3);
    }
}

/* As printed, as it should be, and as it was measured. */
static void begin_three(struct lab_curves *curves, const char *printed)
{
    *curves = (struct lab_curves){0};
    lab_curve(curves, SVG_DASHED, "%s", printed);
    lab_curve(curves, SVG_LINE, "corrected");
    lab_curve(curves, SVG_MARKS, "measured");
}

static void add_three(struct lab_curves *curves, double x, double printed, double right,
                      struct svg_point measured)
{
    lab_curve_point(curves, 0, lab_point(x, printed));
    lab_curve_point(curves, 1, lab_point(x, right));
    lab_curve_point(curves, 2, measured);
}

static int harm_charts(struct lab *lab, const struct harm *harm, size_t which,
                       const struct theory *theory)
{
    struct lab_curves curves;
    begin_three(&curves, "as printed");
    for (uint32_t i = 0; i <= harm->k; i++) {
        struct lab_row row = LAB_ROW;
        lab_counted(&row, harm->times[which][i], harm->trials);
        add_three(&curves, i, theory->printed[i], theory->right[i], lab_point_row(i, &row));
    }
    int code = lab_curves_draw(lab, &curves,
                               which == POTENTIAL ? "Potential false negatives of one wrong removal"
                                                  : "Exposed false negatives of one wrong removal",
                               "false negatives", "probability", LAB_LINEAR);
    begin_three(&curves, "as printed");
    for (uint32_t a = 0; a < ALPHAS; a++) {
        add_three(&curves, a + 1, (a + 1) * theory->mean, theory->many[a],
                  lab_point_mean(a + 1, &harm->many[which][a]));
    }
    return code == EXIT_YES
               ? lab_curves_draw(lab, &curves, "False negatives of several wrong removals",
                                 "wrong removals", "false negatives", LAB_LINEAR)
               : code;
}

static int figure(struct lab *lab, size_t which, uint32_t first, uint32_t second, struct harm *harm)
{
    int code = EXIT_YES;
    for (size_t i = 0; i < 2 && code == EXIT_YES; i++) {
        struct theory theory;
        uint32_t k = i == 0 ? first : second;
        enum tepal_status status = theory_of(which, k, &theory);
        code = status != TEPAL_OK ? lab_status(status)
                                  : measure_harm(lab, k, lab_trials(lab, 5000, 60000),
                                                 lab_trials(lab, 100, 1000), &harm[i]);
        if (code == EXIT_YES) {
            harm_rows(lab, &harm[i], which, &theory);
            code = harm_charts(lab, &harm[i], which, &theory);
        }
    }
    return code;
}

/* "One incorrect deletion can cause k potential false negative items with high probability". */
static void mostly_all(struct lab *lab, const struct harm *harm)
{
    double right[TEPAL_MAX_HASHES + 1];
    double share = (double)harm->times[POTENTIAL][harm->k] / (double)harm->trials;
    lab_002_lost(SMALL_M, SMALL_N, harm->k, right);
    lab_row_claim(lab, true, right[harm->k] > 0.5, share > 0.5,
                  "k %u: k are lost more often than not", harm->k);
    lab_row_exact(lab, lab_formula(1, NAN), (double)harm->within / (double)harm->repeated,
                  "k %u: share of trials with a to a k potential after a, Corollary 2", harm->k);
}

int lab_002_figure_1(struct lab *lab)
{
    struct harm harm[2];
    int code = figure(lab, POTENTIAL, 5, 11, harm);
    if (code == EXIT_YES) {
        mostly_all(lab, &harm[0]);
        mostly_all(lab, &harm[1]);
    }
    return code;
}

/* "Only about k/2 exposed": k/2 at k = 11, against Theorem 4 put right. */
static void about_half(struct lab *lab, const struct harm *harm)
{
    double mean[2];
    lab_002_many(SMALL_M, SMALL_N, harm->k, 1, mean);
    /* to a whole number of members */
    struct lab_row row = lab_words(0.5 * harm->k, 0.5, mean[EXPOSED]);
    lab_measured(&row, &harm->mean[EXPOSED]);
    lab_row(lab, &row, "k %u: exposed, about k/2 as in the text", harm->k);
}

int lab_002_figure_2(struct lab *lab)
{
    struct harm harm[2];
    int code = figure(lab, EXPOSED, 11, 5, harm);
    if (code == EXIT_YES) {
        about_half(lab, &harm[0]);
    }
    return code;
}

/* ---- Theorems 2, 3 and 5, and what else the text states -------------------------------------- */

static void theorem_2(struct lab *lab, const struct harm *harm)
{
    struct theory theory;
    if (theory_of(EXPOSED, harm->k, &theory) != TEPAL_OK) {
        return;
    }
    double untouched = tepal_retouched_zero(SMALL_M, SMALL_N - 1, harm->k);
    struct lab_row row = lab_formula(pow(1 - untouched, harm->k), theory.right[0]);
    lab_counted(&row, harm->times[EXPOSED][0], harm->trials);
    lab_row(lab, &row, "k %u: nothing exposed, Theorem 2", harm->k);
}

static void theorem_3(struct lab *lab, const struct harm *harm)
{
    double mean[2];
    lab_002_many(SMALL_M, SMALL_N, harm->k, 1, mean);
    double share[16];
    (void)tepal_counting_shares(SMALL_M, SMALL_N, harm->k, 1, true, share);
    double missed = tepal_counting_missed(SMALL_M, SMALL_N, harm->k, share[0], share[1]);
    struct lab_row row = lab_formula(SMALL_N * missed, mean[EXPOSED]);
    lab_measured(&row, &harm->mean[EXPOSED]);
    lab_row(lab, &row, "k %u: exposed, n times Theorem 3", harm->k);
}

/* How many members are found in several groups, and of how many the lowest is not their own. */
struct several {
    struct lab_mean share;
    uint64_t count;
    uint64_t wrong;
    struct lab_mean p0;
};

static int measure_several(struct lab *lab, uint64_t m, uint32_t k, uint32_t c, size_t filters,
                           struct several *several)
{
    struct tepal_filter *counting = lab_002_filter(m, k, c, 0, 0);
    struct tepal_digest *member = malloc(KEYS * sizeof *member);
    uint8_t *group = malloc(KEYS);
    enum tepal_status status =
        counting == NULL || member == NULL || group == NULL ? TEPAL_NO_MEMORY : TEPAL_OK;
    *several = (struct several){0};
    for (size_t f = 0; f < filters && status == TEPAL_OK; f++) {
        uint64_t histogram[TEPAL_MAX_COUNTER + 1];
        uint64_t before = several->count;
        lab_digests(lab, member, KEYS);
        (void)tepal_filter_clear(counting);
        status = tepal_counting_add_many(counting, member, KEYS, group);
        for (size_t i = 0; i < KEYS; i++) {
            uint64_t groups = tepal_counting_groups(counting, member[i]);
            if ((groups & (groups - 1)) != 0) {
                several->count++;
                several->wrong += (groups & ((UINT64_C(1) << group[i]) - 1)) != 0;
            }
        }
        tepal_counting_histogram(counting, histogram);
        lab_mean_add(&several->share, (double)(several->count - before) / KEYS);
        lab_mean_add(&several->p0, (double)histogram[0] / (double)m);
    }
    tepal_filter_free(counting);
    free(member);
    free(group);
    return lab_status(status);
}

#define TRIED 3

static int theorem_5(struct lab *lab)
{
    static const uint32_t choices[TRIED] = {2, 4, 10};
    struct lab_curves curves;
    begin_three(&curves, "Theorem 5, as printed");
    for (size_t i = 0; i < TRIED; i++) {
        struct several several;
        uint32_t c = choices[i];
        if (measure_several(lab, 8 * KEYS, 5, c, lab_trials(lab, 40, 200), &several) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
        double p0 = several.p0.mean;
        struct lab_row row = lab_formula(tepal_counting_wrong_address_printed(p0, 5, c),
                                         tepal_counting_wrong_address(p0, 5, c));
        lab_counted(&row, several.wrong, several.count);
        lab_row(lab, &row, "m/n 8, c %u: the wrong group of several is removed, Theorem 5", c);
        add_three(&curves, c, row.published, row.right, lab_point_row(c, &row));
        double bound = tepal_counting_multi_address(p0, 5, c);
        lab_row_mean(lab, LAB_ROW, &several.share, "m/n 8, c %u: members found in several groups",
                     c);
        lab_row_exact(lab, LAB_ROW, bound, "m/n 8, c %u: the same, the bound of eq. (7)", c);
        lab_row_holds(lab, several.share.mean <= bound, "m/n 8, c %u: eq. (7) is an upper bound",
                      c);
    }
    return lab_curves_draw(lab, &curves,
                           "Removal takes a wrong group of several, 8 counters per key",
                           "c, choices", "probability", LAB_LINEAR);
}

/* The footnote: a counter's chance of 15 at the best k, where its mean is ln 2. */
static void footnote(struct lab *lab)
{
    double mean = log(2);
    struct lab_row row = lab_itself(6.8e-17, 0.05e-17, exp(-mean + 15 * log(mean) - lgamma(16)));
    lab_exact(&row, row.right);
    lab_row(lab, &row, "a counter is 15 at the best k");
    lab_row_exact(lab, lab_itself(6.8e-17, 0.05e-17, NAN), exp(-mean + 16 * log(mean) - lgamma(17)),
                  "a counter is 16 at the best k");
}

int lab_002_theorems(struct lab *lab)
{
    static const uint32_t hashes[] = {5, 11};
    footnote(lab);
    for (size_t i = 0; i < 2; i++) {
        struct harm harm;
        size_t trials = lab_trials(lab, i == 0 ? 20000 : 4000, 100000);
        if (measure_harm(lab, hashes[i], trials, 0, &harm) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
        theorem_2(lab, &harm);
        theorem_3(lab, &harm);
    }
    return theorem_5(lab);
}
