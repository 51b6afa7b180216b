/*
 * yesno.c: the yes-no Bloom filter's formulas (L. Carrea, A. Vernitski and M. Reed 2016), as they
 * are printed and as they should be, and the choice of a layout.
 *
 * The yes-filter is a Bloom filter of p bits: eqs. (4) to (7) and (29) are that model's. T are the
 * known negatives, F = t f_S of them are positive, R of these are stored in the no-filters.
 *
 * What is left. The paper gives no formula, since distributing F is a hard problem. Two things are
 * in the way of an empty rest, and both can be estimated:
 *
 *   hopeless    a false positive whose bits cover those of a member can be stored nowhere (with
 *               seeds of their own: in none of the r ways to hash). One key alone in a no-filter
 *               holds a given member with chance h, so that F (1 - (1 - h)^n) are hopeless.
 *   congestion  if all of F were stored, R = F / r in each, V = r n f_R members would be vetoed. A
 *               conflict costs a place in one no-filter; with x = V / (F (1 - f_R)), the share
 *               y = .6 x / (1 + .6 x) of F find none in a given one, and y^r in any. (Fitted to
 *               r = 1, and then right for r = 3 and r = 7 in the paper's setting.) If F is large,
 *               chance evens out, and conflicts up to some y_0 can be resolved altogether:
 *               (y - y_0)^r. y_0 is about .15 for k' >= 9 and next to nothing for k' = 2, where
 *               every bit has so many users that nobody can be moved.
 *
 * F varies: the expectation over a Poisson law is taken while it is small.
 */
#include "base/refuse.h"
#include "model/model.h"
#include "model/yesno.h"
#include "params/params.h"

#include "model/numeric.h"

#include <math.h>

/* ---- the paper's equations ------------------------------------------------------------------- */

double tepal_yesno_positive(double in_set, double fs)
{
    return in_set + (1 - in_set) * fs;
}

double tepal_yesno_false_positive(double in_set, double fs)
{
    return (1 - in_set) * fs;
}

double tepal_yesno_error_printed(double in_set, double fs, double fr, double stored)
{
    return (1 - in_set) * fs - tepal_yesno_positive(in_set, fs) * fr - (1 - fr) * stored;
}

double tepal_yesno_error(double in_set, double fs, double fr, double stored)
{
    return (tepal_yesno_false_positive(in_set, fs) - stored) * (1 - fr);
}

double tepal_yesno_veto(uint64_t q, double stored, uint32_t no_hashes)
{
    if (q == 0 || no_hashes == 0 || !(stored >= 0)) {
        return NAN;
    }
    return pow(-expm1(-(double)no_hashes * stored / (double)q), no_hashes);
}

/* ---- what is left ---------------------------------------------------------------------------- */

/* The chance that a given key is in a no-filter of x others, x a real number. */
static double veto_rate(const struct tepal_yesno_setting *plan, enum tepal_positions positions,
                        double x)
{
    double q = (double)plan->no_bits;
    double k = plan->no_hashes;
    double rate = 1;
    if (positions == TEPAL_POSITIONS_COLLIDING) {
        return whole_power(-expm1(k * x * log1p(-1 / q)), plan->no_hashes);
    }
    double ones = k >= q ? q : -q * expm1(x * log1p(-k / q));
    for (uint32_t i = 0; i < plan->no_hashes; i++) {
        rate *= ones > i ? (ones - i) / (q - i) : 0;
    }
    return rate;
}

/* Below this many, the number of false positives is taken to vary. */
#define VARIES 100

/* The share of false positives that no no-filter takes, not even an empty one. */
static double share_hopeless(const struct tepal_yesno_setting *plan, enum tepal_positions positions,
                             double n)
{
    if (plan->no_filters == 0) {
        return 1;
    }
    double one = -expm1(n * log1p(-veto_rate(plan, positions, 1)));
    return plan->own_seeds ? pow(one, (double)plan->no_filters) : one;
}

/* The share of `falses` false positives that the search leaves. */
static double share_left(const struct tepal_yesno_setting *plan, enum tepal_positions positions,
                         double n, double falses, double hopeless)
{
    double r = (double)plan->no_filters;
    double full = veto_rate(plan, positions, falses / r);
    double x = falses > 0 && full < 1 ? r * n * full / (falses * (1 - full)) : 1e9;
    double y = 0.6 * x / (1 + 0.6 * x);
    double congested = whole_power(y, plan->no_filters);
    if (falses > VARIES && r > 1) {
        double slack = 0.15 * pow(fmin(1, (plan->no_hashes - 1.0) / 8), 2);
        congested = whole_power(y > slack ? y - slack : 0, plan->no_filters) +
                    whole_power(y, 3 * plan->no_filters);
    }
    return hopeless + (1 - hopeless) * congested;
}

static double expected_left(const struct tepal_yesno_setting *plan, enum tepal_positions positions,
                            double n, double falses, double hopeless)
{
    if (plan->no_filters == 0 || falses <= 0) {
        return falses;
    }
    if (falses > VARIES) {
        return falses * share_left(plan, positions, n, falses, hopeless);
    }
    double spread = 8 * sqrt(falses) + 8;
    double first = falses > spread ? floor(falses - spread) : 1;
    double chance = exp(first * log(falses) - falses - tepal_log_gamma(first + 1));
    double sum = 0;
    for (double i = first; i <= falses + spread; i++) {
        sum += chance * i * share_left(plan, positions, n, i, hopeless);
        chance *= falses / (i + 1);
    }
    return sum;
}

static bool is_plan(const struct tepal_yesno_setting *plan)
{
    return plan->yes_bits > 0 && plan->hashes > 0 && plan->hashes <= TEPAL_MAX_HASHES &&
           (plan->no_filters == 0 ||
            (plan->no_bits > 0 && plan->no_hashes > 0 && plan->no_hashes <= TEPAL_MAX_HASHES));
}

double tepal_model_least_rate(enum tepal_positions positions, uint64_t m, uint64_t n)
{
    double each = (double)m / (double)n;
    return exp2(-each * (positions == TEPAL_POSITIONS_DISTINCT ? 1 : log(2)));
}

void tepal_model_yesno_rest(struct tepal_yesno_setting *plan, enum tepal_positions positions,
                            uint64_t n)
{
    double hopeless = share_hopeless(plan, positions, (double)n);
    plan->hopeless = plan->positive * hopeless;
    plan->left = expected_left(plan, positions, (double)n, plan->positive, hopeless);
}

/*
 * The share of ones in a no-filter that stores so many keys and vetoes no member. A cell is guarded
 * once some member has ones everywhere else: whoever needs it set is refused. Of z = 1 - fill zeros
 * u are not guarded yet. A key that is stored finds its k' cells set or unguarded: of the cells
 * that it needs it sets k' u / (1 - z + u). As the fill grows by that, the members through a cell
 * (k' n/q on average) come to have their k' - 1 other ones, and unguarded zeros become guarded.
 */
#define FILL_STEPS 100

static double no_fill(const struct tepal_yesno_setting *plan, double n, double stored)
{
    double q = (double)plan->no_bits;
    double k = plan->no_hashes;
    double fill = 0;
    double unguarded = 1;
    double guards = 0; /* members through a cell that have all other ones */
    for (int i = 0; i < FILL_STEPS && stored > 0; i++) {
        double set = k * unguarded / (fill + unguarded) * stored / FILL_STEPS / q;
        fill += fmin(set, unguarded);
        double next = k * n / q * whole_power(fill, plan->no_hashes - 1);
        unguarded = fmax(unguarded - set, 0) * exp(guards - next);
        guards = next;
    }
    return fill;
}

void tepal_model_yesno_unknown(struct tepal_yesno_setting *plan, uint64_t n)
{
    double r = (double)plan->no_filters;
    plan->fp_unknown = plan->fp_yes;
    if (r > 0) {
        double stored = fmax(plan->positive - plan->left, 0) / r;
        double veto = whole_power(no_fill(plan, (double)n, stored), plan->no_hashes);
        plan->fp_unknown *= whole_power(1 - veto, plan->no_filters);
    }
}

/* The rest of a plan whose sizes and hashes are there. */
static void predict(struct tepal_yesno_setting *plan, enum tepal_layout layout,
                    enum tepal_positions positions, uint64_t n, uint64_t t)
{
    plan->fp_yes = tepal_bloom_fp(layout, positions, plan->yes_bits, n, plan->hashes);
    plan->positive = (double)t * plan->fp_yes;
    tepal_model_yesno_rest(plan, positions, n);
    tepal_model_yesno_unknown(plan, n);
}

enum tepal_status tepal_yesno_predict(enum tepal_layout layout, enum tepal_positions positions,
                                      uint64_t n, uint64_t t, struct tepal_yesno_setting *plan)
{
    struct tepal_yesno_setting done = *plan;
    if (!is_plan(plan) || n == 0) {
        return TEPAL_BAD_ARGUMENT;
    }
    predict(&done, layout, positions, n, t);
    if (!(done.fp_yes >= 0)) {
        return TEPAL_BAD_ARGUMENT;
    }
    *plan = done;
    return TEPAL_OK;
}

/* ---- the choice ------------------------------------------------------------------------------ */

/*
 * What is minimised: the rate on known negatives, and a little of the rate on unknown ones, so that
 * bits which would only make something small still smaller go to the yes-filter.
 */
#define UNKNOWN_COUNTS 1e-5

struct choice {
    enum tepal_layout layout;
    enum tepal_positions positions;
    uint64_t m;
    uint64_t n;
    uint64_t t;
    uint32_t hashes;    /* 0: free */
    uint32_t no_hashes; /* 0: free */
    uint64_t unit;      /* p and r q are multiples of this */
    struct tepal_yesno_setting best;
    double score;
};

static double score_of(const struct choice *c, const struct tepal_yesno_setting *plan)
{
    return (c->t == 0 ? 0 : plan->left / (double)c->t) + UNKNOWN_COUNTS * plan->fp_yes;
}

static void offer(struct choice *c, const struct tepal_yesno_setting *plan)
{
    double score = score_of(c, plan);
    if (plan->fp_yes >= 0 && (c->best.yes_bits == 0 || score < c->score)) {
        c->best = *plan;
        c->score = score;
    }
}

#define MOST_NO_HASHES 24

/* Every k' for these sizes. Is one better than the best so far? If `take`, it is taken. */
static bool try_hashes(struct choice *c, struct tepal_yesno_setting *plan, bool take)
{
    double least = INFINITY;
    uint32_t last = c->no_hashes != 0 ? c->no_hashes : MOST_NO_HASHES;
    plan->positive = (double)c->t * plan->fp_yes;
    for (uint32_t k = c->no_hashes != 0 ? c->no_hashes : 1; k <= last; k++) {
        plan->no_hashes = plan->no_filters == 0 ? 0 : k;
        if (k <= plan->no_bits || plan->no_filters == 0 ||
            c->positions == TEPAL_POSITIONS_COLLIDING) {
            tepal_model_yesno_rest(plan, c->positions, c->n);
            if (take) {
                offer(c, plan);
            } else if (c->best.yes_bits == 0 || score_of(c, plan) < c->score) {
                return true;
            }
            least = fmin(least, plan->left);
        }
        if (plan->no_filters == 0 || plan->left > 4 * least) {
            break; /* too many already: more make it worse */
        }
    }
    return false;
}

/* r no-filters of q bits each, with every k'. The best k of the yes-filter is the best of all. */
static void try_sizes(struct choice *c, uint64_t r, uint64_t q)
{
    if (q * r >= c->m) {
        return;
    }
    struct tepal_yesno_setting plan = {
        .yes_bits = c->m - q * r, .no_bits = r == 0 ? 0 : q, .no_filters = r, .own_seeds = r > 1};
    /* Is it worth a look? */
    plan.hashes = 1;
    plan.fp_yes = tepal_model_least_rate(c->positions, plan.yes_bits, c->n);
    if (r > 0 && !try_hashes(c, &plan, false)) {
        return;
    }
    plan.hashes = c->hashes != 0
                      ? c->hashes
                      : tepal_bloom_best_hashes(c->layout, c->positions, plan.yes_bits, c->n);
    if (plan.hashes > 0) {
        plan.fp_yes = tepal_bloom_fp(c->layout, c->positions, plan.yes_bits, c->n, plan.hashes);
        (void)try_hashes(c, &plan, true);
    }
}

/* Small filters: every q, or 4 % apart. Large ones: shares of the whole, 6 % apart. */
static void try_all(struct choice *c, uint64_t most_filters)
{
    try_sizes(c, 0, 0);
    if (c->best.positive < MODEL_NOTHING_LEFT) {
        return; /* a Bloom filter has none of them either */
    }
    for (uint64_t r = 1; r <= most_filters; r++) {
        if (c->m <= 1024 && c->unit == 1) {
            for (uint64_t q = 4; q * r <= c->m * 3 / 4; q += 1 + q / 24) {
                try_sizes(c, r, q);
            }
            continue;
        }
        for (double share = 0.75; share > 0.001; share /= 1.06) {
            uint64_t all = (uint64_t)(share * (double)c->m) / (c->unit * r) * (c->unit * r);
            uint64_t q = all / r;
            if (q > 0 && q <= UINT32_MAX) {
                try_sizes(c, r, q);
            }
        }
    }
}

enum tepal_status tepal_yesno_best_setting(enum tepal_layout layout, enum tepal_positions positions,
                                           uint64_t m, uint64_t n, uint64_t t,
                                           struct tepal_yesno_setting *plan)
{
    struct choice c = {.layout = layout,
                       .positions = positions,
                       .m = m,
                       .n = n,
                       .t = t,
                       .hashes = plan->hashes,
                       .no_hashes = plan->no_hashes,
                       .unit = params_unit(layout, 1)};
    if (n == 0 || m == 0 || m > PARAMS_MAX_CELLS || m % c.unit != 0 ||
        plan->hashes > TEPAL_MAX_HASHES || plan->no_hashes > TEPAL_MAX_HASHES) {
        return TEPAL_BAD_ARGUMENT;
    }
    /* In large filters a third no-filter gains nothing, and costs members' queries a look. */
    try_all(&c, m <= 1024 ? 8 : 2);
    if (c.best.yes_bits == 0) {
        return TEPAL_BAD_ARGUMENT;
    }
    tepal_model_yesno_unknown(&c.best, n);
    *plan = c.best;
    return TEPAL_OK;
}

/* ---- everything by name ---------------------------------------------------------------------- */

static void report_plan(const struct tepal_yesno_setting *plan, struct tepal_report *report)
{
    tepal_report_integer(report, "bits", "m = p + r q",
                         plan->yes_bits + plan->no_bits * plan->no_filters);
    tepal_report_integer(report, "yes_bits", "p, bits of the yes-filter", plan->yes_bits);
    tepal_report_integer(report, "hashes", "k, hash functions of the yes-filter", plan->hashes);
    tepal_report_integer(report, "no_bits", "q, bits of a no-filter", plan->no_bits);
    tepal_report_integer(report, "no_filters", "r, number of no-filters", plan->no_filters);
    tepal_report_integer(report, "no_hashes", "k', hash functions of a no-filter", plan->no_hashes);
    tepal_report_flag(report, "own_seeds", "does each no-filter have its own hash seed?",
                      plan->own_seeds);
}

/* Eqs. (11) to (31) with everything stored that is to be stored. */
static void report_equations(const struct tepal_yesno_setting *plan, uint64_t n, uint64_t t,
                             struct tepal_report *report)
{
    double in_set = (double)n / ((double)n + (double)t);
    double fs = plan->fp_yes;
    double r = (double)plan->no_filters;
    double stored = plan->positive - plan->left;
    double all = stored / ((double)n + (double)t);
    double one = r == 0 ? 0 : tepal_yesno_veto(plan->no_bits, stored / r, plan->no_hashes);
    double fr = 1 - pow(1 - one, r);
    tepal_report_real(report, "positive_share",
                      "Pr[S~], share of lookups that the yes-filter finds, eq. (10)",
                      tepal_yesno_positive(in_set, fs));
    tepal_report_real(report, "false_share", "Pr[F], eq. (11)",
                      tepal_yesno_false_positive(in_set, fs));
    tepal_report_real(
        report, "veto_rate",
        "f_R, probability that a key that is not stored is vetoed, with R/r keys per no-filter",
        fr);
    tepal_report_real(report, "error_printed", "Pr[E] as printed, eqs. (13), (24)",
                      tepal_yesno_error_printed(in_set, fs, fr, all));
    tepal_report_real(report, "error", "Pr[E] = (Pr[F] - Pr[R]) (1 - f_R)",
                      tepal_yesno_error(in_set, fs, fr, all));
    tepal_report_real(report, "error_unknown", "f_S (1 - f_R), keys not in T, eq. (28)",
                      fs * (1 - fr));
    if (plan->no_filters == 1) {
        double printed = tepal_yesno_veto(plan->no_bits, (double)n, plan->no_hashes);
        tepal_report_real(report, "veto_rate_printed", "f_R as printed: n for R, eq. (30)",
                          printed);
        tepal_report_real(report, "error_unknown_printed", "as printed, eq. (31)",
                          tepal_bloom_fp_approx(plan->yes_bits, n, plan->hashes) * (1 - printed));
    }
}

enum tepal_status tepal_model_yesno(const struct tepal_params *params, const struct tepal_use *use,
                                    struct tepal_report *report, struct tepal_error *error)
{
    enum tepal_layout layout = params->layout;
    enum tepal_positions positions = params->positions;
    uint64_t n = use->keys;
    uint64_t t = use->known_negatives;
    struct tepal_yesno_setting done = {.yes_bits = params_yes_bits(params),
                                       .hashes = params->hashes,
                                       .no_bits = params->yesno.no_bits,
                                       .no_filters = params->yesno.no_filters,
                                       .no_hashes = (uint32_t)params->yesno.no_hashes,
                                       .own_seeds = params->yesno.own_seeds != 0};
    if (n == 0) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "there must be members");
    }
    enum tepal_status status =
        params->cells != 0 ? tepal_yesno_predict(layout, positions, n, t, &done)
                           : tepal_yesno_best_setting(layout, positions, use->bits, n, t, &done);
    if (status != TEPAL_OK) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "sizes and numbers of hash functions must be at least 1 and fit the layout");
    }
    uint64_t m = done.yes_bits + done.no_bits * done.no_filters;
    uint32_t best = tepal_bloom_best_hashes(layout, positions, m, n);
    report->count = 0;
    report->numbers = 0;
    report_plan(&done, report);
    if (layout == TEPAL_LAYOUT_FLAT) {
        tepal_report_real(report, "fp_classic", "f_S, the yes-filter's rate, eq. (5)",
                          tepal_bloom_fp_classic(done.yes_bits, n, done.hashes));
        tepal_report_real(report, "fp_approx", "f_S, eqs. (6), (29)",
                          tepal_bloom_fp_approx(done.yes_bits, n, done.hashes));
    }
    tepal_report_real(report, "fp_yes", "the yes-filter's true rate", done.fp_yes);
    tepal_report_real(report, "fp_unknown",
                      "rate on unknown negatives: the yes-filter's, but for those vetoed",
                      done.fp_unknown);
    tepal_report_real(report, "avoid_positive", "known negatives that the yes-filter finds, F",
                      done.positive);
    tepal_report_real(report, "avoid_left", "of them, left by local-search (estimate)", done.left);
    if (t > 0) {
        tepal_report_real(report, "fp_known", "rate on known negatives (estimate)",
                          done.left / (double)t);
    }
    tepal_report_real(report, "bloom_fp",
                      "false-positive rate of a Bloom filter of m bits, with the best k",
                      tepal_bloom_fp(layout, positions, m, n, best));
    if (layout == TEPAL_LAYOUT_FLAT) {
        report_equations(&done, n, t, report);
    }
    return TEPAL_OK;
}
