/*
 * paper002.c: counting filters and their false negatives (Guo, Liu, Li, Yang): Theorems 1 to 5 as
 * printed, as they should be, and measured. Y are the members that a wrong removal loses in the end
 * (potential), Z those that are missed at once (exposed).
 */
#include "paper002.h"

#include <stdlib.h>

#include "papers.h"

struct tepal_digest lab_002_digest(struct lab *lab)
{
    uint64_t lo = lab_draw(lab);
    return (struct tepal_digest){lo, lab_draw(lab)};
}

int lab_002_failed(enum tepal_status status)
{
    return say_error(NULL, "lab", "%s", tepal_status_message(status));
}

struct tepal_counting *lab_002_filter(uint64_t cells, uint32_t hashes, uint32_t choices,
                                      enum tepal_counting_rule rule,
                                      enum tepal_counting_policy policy)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct tepal_counting *counting = NULL;
    params.kind = TEPAL_KIND_COUNTING;
    params.cells = cells;
    params.hashes = hashes;
    params.own[TEPAL_COUNTING_CHOICES] = choices;
    params.own[TEPAL_COUNTING_RULE] = choices == 1 ? 0 : (uint64_t)rule;
    params.own[TEPAL_COUNTING_POLICY] = choices == 1 ? 0 : (uint64_t)policy;
    enum tepal_status status = tepal_counting_create(&params, NULL, &counting);
    if (status != TEPAL_OK) {
        lab_002_failed(status);
    }
    return counting;
}

struct tepal_digest lab_002_false_positive(struct lab *lab, const struct tepal_counting *counting)
{
    struct tepal_digest d;
    do {
        d = lab_002_digest(lab);
    } while (!tepal_counting_query(counting, d));
    return d;
}

struct svg_point lab_002_point(double x, const struct lab_mean *mean)
{
    double half = LAB_Z * lab_mean_error(mean);
    return (struct svg_point){x, mean->mean, fmax(0, mean->mean - half), mean->mean + half};
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
static enum tepal_status trial(struct lab *lab, struct tepal_counting *counting, uint32_t wrong,
                               uint32_t count[2])
{
    struct tepal_digest member[SMALL_N];
    enum tepal_status status = tepal_filter_clear(tepal_counting_filter(counting));
    for (size_t i = 0; i < SMALL_N; i++) {
        member[i] = lab_002_digest(lab);
    }
    if (status == TEPAL_OK) {
        status = tepal_counting_add_many(counting, member, SMALL_N, NULL);
    }
    for (uint32_t i = 0; i < wrong && status == TEPAL_OK; i++) {
        status = tepal_counting_remove(counting, lab_002_false_positive(lab, counting));
    }
    count[POTENTIAL] = count[EXPOSED] = 0;
    for (size_t i = 0; i < SMALL_N; i++) {
        count[EXPOSED] += !tepal_counting_query(counting, member[i]);
    }
    for (size_t i = 0; i < SMALL_N; i++) {
        count[POTENTIAL] += tepal_counting_remove(counting, member[i]) != TEPAL_OK;
    }
    return status;
}

static int measure_harm(struct lab *lab, uint32_t k, size_t trials, size_t repeated,
                        struct harm *harm)
{
    uint32_t hashes = lab_sabotaged(lab) ? k - 1 : k;
    struct tepal_counting *counting = lab_002_filter(SMALL_M, hashes, 1, 0, 0);
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
    tepal_counting_free(counting);
    return status == TEPAL_OK ? EXIT_YES : lab_002_failed(status);
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
        struct lab_row row = LAB_ROW;
        row.published = theory->printed[i];
        row.right = theory->right[i];
        lab_counted(&row, harm->times[which][i], harm->trials);
        lab_row(lab, &row, "k %u: P(%s = %u), Theorem %d", k, name, i, which == POTENTIAL ? 1 : 4);
    }
    struct lab_row row = LAB_ROW;
    row.published = theory->mean;
    row.right = theory->many[0];
    lab_measured(&row, &harm->mean[which]);
    lab_row(lab, &row, "k %u: E[%s], Corollary %d", k, name, which == POTENTIAL ? 1 : 3);
    for (uint32_t a = 0; a < ALPHAS; a++) {
        row.published = (a + 1) * theory->mean;
        row.right = theory->many[a];
        lab_measured(&row, &harm->many[which][a]);
        lab_row(lab, &row, "k %u: %s after %u wrong removals, Corollary %d", k,
                which == POTENTIAL ? "potential" : "exposed", a + 1, which == POTENTIAL ? 2 : 3);
    }
}

static int harm_charts(struct lab *lab, const struct harm *harm, size_t which,
                       const struct theory *theory)
{
    struct svg_point point[3][TEPAL_MAX_HASHES + 1] = {0};
    struct svg_point many[3][ALPHAS] = {0};
    for (uint32_t i = 0; i <= harm->k; i++) {
        struct lab_row row = LAB_ROW;
        lab_counted(&row, harm->times[which][i], harm->trials);
        point[0][i] = (struct svg_point){.x = i, .y = theory->printed[i]};
        point[1][i] = (struct svg_point){.x = i, .y = theory->right[i]};
        point[2][i] = (struct svg_point){i, row.ours, row.low, row.high};
    }
    for (uint32_t a = 0; a < ALPHAS; a++) {
        many[0][a] = (struct svg_point){.x = a + 1, .y = (a + 1) * theory->mean};
        many[1][a] = (struct svg_point){.x = a + 1, .y = theory->many[a]};
        many[2][a] = lab_002_point(a + 1, &harm->many[which][a]);
    }
    struct svg_series series[] = {{"as printed", SVG_DASHED, point[0], harm->k + 1},
                                  {"corrected", SVG_LINE, point[1], harm->k + 1},
                                  {"measured", SVG_MARKS, point[2], harm->k + 1}};
    struct svg_chart chart = {.title = which == POTENTIAL
                                           ? "Potential false negatives of one wrong removal"
                                           : "Exposed false negatives of one wrong removal",
                              .x_label = "false negatives",
                              .y_label = "probability",
                              .series = series,
                              .count = 3};
    int code = lab_chart(lab, &chart);
    for (size_t i = 0; i < 3; i++) {
        series[i].point = many[i];
        series[i].count = ALPHAS;
    }
    chart.title = "False negatives of several wrong removals";
    chart.x_label = "wrong removals";
    chart.y_label = "false negatives";
    return code == EXIT_YES ? lab_chart(lab, &chart) : code;
}

static int figure(struct lab *lab, size_t which, uint32_t first, uint32_t second, struct harm *harm)
{
    int code = EXIT_YES;
    for (size_t i = 0; i < 2 && code == EXIT_YES; i++) {
        struct theory theory;
        uint32_t k = i == 0 ? first : second;
        enum tepal_status status = theory_of(which, k, &theory);
        code = status != TEPAL_OK ? lab_002_failed(status)
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
    struct lab_row row = LAB_ROW;
    double right[TEPAL_MAX_HASHES + 1];
    double share = (double)harm->times[POTENTIAL][harm->k] / (double)harm->trials;
    lab_002_lost(SMALL_M, SMALL_N, harm->k, right);
    row.published = 1;
    row.right = right[harm->k] > 0.5;
    lab_exact(&row, share > 0.5);
    lab_row(lab, &row, "k %u: k are lost more often than not (1: so)", harm->k);
    row = LAB_ROW;
    row.published = 1;
    lab_exact(&row, (double)harm->within / (double)harm->repeated);
    lab_row(lab, &row, "k %u: share of trials with a to a k potential after a, Corollary 2",
            harm->k);
}

static int figure_1(struct lab *lab)
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
    struct lab_row row = LAB_ROW;
    double mean[2];
    lab_002_many(SMALL_M, SMALL_N, harm->k, 1, mean);
    row.right = mean[EXPOSED];
    row.published = 0.5 * harm->k;
    row.rounding = 0.5; /* of a whole number of members */
    lab_measured(&row, &harm->mean[EXPOSED]);
    lab_row(lab, &row, "k %u: exposed, about k/2 as the text has it", harm->k);
}

static int figure_2(struct lab *lab)
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
    struct lab_row row = LAB_ROW;
    double untouched = tepal_retouched_zero(SMALL_M, SMALL_N - 1, harm->k);
    row.published = pow(1 - untouched, harm->k);
    row.right = theory.right[0];
    lab_counted(&row, harm->times[EXPOSED][0], harm->trials);
    lab_row(lab, &row, "k %u: nothing exposed, Theorem 2", harm->k);
}

static void theorem_3(struct lab *lab, const struct harm *harm)
{
    struct lab_row row = LAB_ROW;
    double mean[2];
    lab_002_many(SMALL_M, SMALL_N, harm->k, 1, mean);
    row.published = SMALL_N * tepal_counting_found(SMALL_M, SMALL_N, harm->k);
    row.right = mean[EXPOSED];
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
    struct tepal_counting *counting = lab_002_filter(m, k, c, 0, 0);
    struct tepal_digest *member = malloc(KEYS * sizeof *member);
    uint8_t *group = malloc(KEYS);
    enum tepal_status status =
        counting == NULL || member == NULL || group == NULL ? TEPAL_NO_MEMORY : TEPAL_OK;
    *several = (struct several){0};
    for (size_t f = 0; f < filters && status == TEPAL_OK; f++) {
        uint64_t histogram[TEPAL_COUNTER_MAX + 1];
        uint64_t before = several->count;
        for (size_t i = 0; i < KEYS; i++) {
            member[i] = lab_002_digest(lab);
        }
        (void)tepal_filter_clear(tepal_counting_filter(counting));
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
    tepal_counting_free(counting);
    free(member);
    free(group);
    return status == TEPAL_OK ? EXIT_YES : lab_002_failed(status);
}

#define TRIED 3

static int theorem_5(struct lab *lab)
{
    static const uint32_t choices[TRIED] = {2, 4, 10};
    struct svg_point point[3][TRIED] = {0};
    for (size_t i = 0; i < TRIED; i++) {
        struct several several;
        uint32_t c = choices[i];
        if (measure_several(lab, 8 * KEYS, 5, c, lab_trials(lab, 40, 200), &several) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
        double p0 = several.p0.mean;
        struct lab_row row = LAB_ROW;
        row.published = tepal_counting_wrong_address_printed(p0, 5, c);
        row.right = tepal_counting_wrong_address(p0, 5, c);
        lab_counted(&row, several.wrong, several.count);
        lab_row(lab, &row, "m/n 8, c %u: the wrong group of several is removed, Theorem 5", c);
        point[0][i] = (struct svg_point){.x = c, .y = row.published};
        point[1][i] = (struct svg_point){.x = c, .y = row.right};
        point[2][i] = (struct svg_point){c, row.ours, row.low, row.high};
        struct lab_row bound = LAB_ROW;
        lab_measured(&bound, &several.share);
        lab_row(lab, &bound, "m/n 8, c %u: members found in several groups", c);
        lab_exact(&bound, tepal_counting_multi_address(p0, 5, c));
        lab_row(lab, &bound, "m/n 8, c %u: the same, the bound of eq. (7)", c);
        bound.published = 1;
        lab_exact(&bound, several.share.mean <= tepal_counting_multi_address(p0, 5, c));
        lab_row(lab, &bound, "m/n 8, c %u: eq. (7) is an upper bound (1: so)", c);
    }
    struct svg_series series[] = {{"Theorem 5, as printed", SVG_DASHED, point[0], TRIED},
                                  {"corrected", SVG_LINE, point[1], TRIED},
                                  {"measured", SVG_MARKS, point[2], TRIED}};
    struct svg_chart chart = {.title = "Removal takes a wrong group of several, 8 counters a key",
                              .x_label = "c, choices",
                              .y_label = "probability",
                              .series = series,
                              .count = 3};
    return lab_chart(lab, &chart);
}

/* The footnote: a counter's chance of 15 at the best k, where its mean is ln 2. */
static void footnote(struct lab *lab)
{
    double mean = log(2);
    struct lab_row row = LAB_ROW;
    row.published = 6.8e-17;
    row.rounding = 0.05e-17;
    row.right = exp(-mean + 15 * log(mean) - lgamma(16));
    lab_exact(&row, row.right);
    lab_row(lab, &row, "a counter is 15 at the best k");
    row.right = NAN;
    lab_exact(&row, exp(-mean + 16 * log(mean) - lgamma(17)));
    lab_row(lab, &row, "a counter is 16 at the best k");
}

static int theorems(struct lab *lab)
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

/* ---- the list -------------------------------------------------------------------------------- */

const struct lab_experiment lab_002[] = {
    {"002-fig-1",
     "Fig. 1, Theorem 1",
     "potential false negatives of wrong removals",
     "Theorem 1 knows neither m nor n: it is off where the filter is small or k is large. And "
     "removals do not add up as Corollary 2 has it: a member is lost only once, and one that "
     "cannot "
     "be removed leaves counts that cover for others. \"k with high probability\" is so at k = 5; "
     "at "
     "k = 11 it is two times of five.",
     {2, 15},
     figure_1},
    {"002-fig-2",
     "Fig. 2, Theorem 4",
     "exposed false negatives of wrong removals",
     "Theorem 4 takes the chance that a counter is untouched by n - 1 keys for the chance that a "
     "counter above 0 is exactly 1; the second, p1 / (p1 + p2), is larger. Z can be 0, which the "
     "theorem leaves out. Two thirds of k are exposed, not half, and Corollary 3 does not add up "
     "either.",
     {2, 15},
     figure_2},
    {"002-theorems",
     "Theorems 2, 3, 5",
     "nothing exposed, one found, a wrong group; eq. (7) and the footnote",
     "Theorem 2 has the same slip as Theorem 4. Theorem 3 is right to first order: 0.3 % too much "
     "at k = 11, which only many trials tell. Theorem 5 averages over members that have no "
     "second group, counts c groups where c - 1 are left, and takes E[U] / (1 + E[U]) for "
     "E[U / (1 + U)]; of two groups one is wrong, so the answer is near 1/2. The footnote's "
     "6.8e-17 is the chance of 16, not of 15.",
     {2, 10},
     theorems},
    {"002-fig-3",
     "Figs. 3 and 4",
     "false positives and zeros by the number of choices",
     "Zeros grow by 36, 32, 29 and 25 % at c = 50 where the text has about 40, 40, 30 and 30. At "
     "20 "
     "counters a key false positives fall up to about c = 10 and then rise again; the text has "
     "them "
     "fall throughout. At 16 they are 14 % more at c = 50: \"less or similar\" is not so. The "
     "paper's "
     "own positions are in 002-eq-8.",
     {4, 25},
     lab_002_figure_3},
    {"002-fig-5",
     "Figs. 5 and 6",
     "exposed false negatives, and counters above 1, by the number of choices",
     NULL,
     {5, 30},
     lab_002_figure_5},
    {"002-fig-7",
     "Fig. 7",
     "exposed false negatives of several wrong removals, by the number of choices",
     "The text halves what is exposed with 4, 10 and 20 choices at 8, 12 and 16 counters a key. "
     "With ideal hashing that takes 19, 55 and more than 64 (the most that the library has); "
     "at the paper's numbers 74, 64 and 61 % are still exposed. Four fifths are not reached with "
     "50 choices either.",
     {3, 18},
     lab_002_figure_7},
    {"002-fig-8",
     "Fig. 8",
     "the largest counter",
     "By the paper's hashes: 002-eq-8.",
     {2, 12},
     lab_002_figure_8},
    {"002-fig-9",
     "Fig. 9",
     "members with several addresses, and those that removal keeps",
     NULL,
     {1, 4},
     lab_002_figure_9},
    {"002-fig-10",
     "Fig. 10",
     "false positives after all members were replaced once, what was kept included",
     NULL,
     {1, 4},
     lab_002_figure_10},
    {"002-hashes",
     "Sec. 5.1",
     "names under the paper's three ways to hash them and ours",
     "Hashes of names by SDBM, BUZ and the Mersenne twister, given to the library as digests, do "
     "as "
     "well as ours and as ideal ones. That SDBM_BUZhash is worse in the paper is not so here, nor "
     "with the paper's positions (002-eq-8). Names are generated from syllables, or the "
     "DBLP authors of TEPAL_DATA.",
     {4, 20},
     lab_002_hashes},
    {"002-eq-8",
     "Figs. 1 to 10, eq. (8)",
     "the paper's own positions and three ways to hash, and ours, on names",
     "Positions on an arithmetic progression, as in the paper, do not explain its numbers: zeros "
     "and what is exposed are as with ours. What they spoil is the false-positive rate at many "
     "counters and choices, where short cycles are preferred: see the rows that say how many times "
     "what the zeros say. The strings that are appended for further choices are 1, 2, 3, ...; the "
     "paper does not name its own. Figs. 1 and 2 cannot have been made so: at 1600 counters a name "
     "that is found mostly has a short progression, or one along that of a member, and harms half "
     "as many. Algorithm 1 is the lab's here: the library cannot choose among progressions. Names "
     "are generated.",
     {5, 90},
     lab_002_progression},
    {"002-churn",
     "beyond the paper",
     "keys come and go, with and without wrong removals: every kind and policy",
     "Not in the paper. With more than one choice even right removals do harm: `remove` loses "
     "members, `keep` piles up what it keeps; receipts do neither.",
     {4, 30},
     lab_002_churn},
    {.name = NULL}};
