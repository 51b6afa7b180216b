/*
 * counting.c: what removals do to a counting Bloom filter (D. Guo, Y. Liu, X. Li and P. Yang, False
 * Negative Problem of Counting Bloom Filter, IEEE TKDE 22(5), 2010), flat layout, colliding
 * positions. Each result of the paper as printed and, where that is not what a filter does, as it
 * should be. docs/models.md has the derivations.
 *
 * The setting. A key that is not in the set, but found, is removed: its d <= k counters lose 1.
 * Y, the potential false negatives: members that will be missed once the other members that share
 * these counters are gone too. Z, the exposed ones: members that are missed at once.
 *
 * Theorem 1 (printed) counts ways to divide k counters among i members and knows nothing of m and
 * n. Rather, each counter has a victim, its last owner, unless another victim owns it too: to first
 * order in 1/m
 *
 *     E[Y] = k - C(k,2) (k-1) / m (1/P + 1/2),  P = 1 - p0
 *
 * What is computed here (victims) follows the members as they leave, and holds for small m too.
 *
 * Theorem 4 (printed) takes P(A = 0) for the chance that a counter of the key is 1 and leaves out
 * Z = 0. A counter that is found above 0 is 1 with the chance q = p1 / (p1 + p2), and two that are
 * 1 have the same owner with the chance (k-1) / (kn). Then Theorem 2 is (p2 / (p1 + p2))^k.
 *
 * Both: positions of the key that coincide count once; the next repeats one of j earlier ones with
 * the chance j / (m P).
 *
 * Many wrong removals (Corollaries 2 and 3) do not add up: a member is lost once. About
 * n (1 - (1 - E/n)^a) after a of them.
 *
 * Theorem 5: given that several of a member's c groups are found, one is its own and U >= 1 are
 * not, U binomial (c-1, f) given U >= 1, f = (1-p0)^k; a random one of them is wrong with the
 * chance E[U / (1 + U)]. The paper has C(c, i), no condition, and E[U] / (1 + E[U]).
 *
 * With c > 1 choices the shares of counters have no closed form. In the limit of many counters,
 * each key sees c candidates whose counters are drawn from the shares p_v; the chosen one's moves
 * change them: a system of differential equations, solved here (share_rates).
 */
#include <tepal/papers.h>

#include <math.h>

#include "base/refuse.h"
#include "model/model.h"
#include "model/numeric.h"

#define VALUES (TEPAL_MAX_SMALL_COUNTER + 1)
#define WIDEST (TEPAL_MAX_COUNTER + 1) /* values of a counter of 8 bits */

static bool valid(uint64_t m, uint32_t k)
{
    return m >= 1 && k >= 1 && k <= TEPAL_MAX_HASHES;
}

static double choose(uint32_t n, uint32_t r)
{
    return exp(tepal_log_gamma(n + 1.0) - tepal_log_gamma(r + 1.0) - tepal_log_gamma(n - r + 1.0));
}

/* P(i of n), each with chance p. */
static double binomial(uint32_t n, uint32_t i, double p)
{
    return choose(n, i) * whole_power(p, i) * whole_power(1 - p, n - i);
}

/* ---- shares of counters ---------------------------------------------------------------------- */

/* Counters at 0, 1, ..., and at `values` - 1 or more: VALUES or WIDEST of them. */
struct shares {
    uint32_t values;
    double of[WIDEST];
};

/* One choice: a counter is hit by each of n keys with chance h = 1 - (1 - 1/m)^k. */
static void one_choice(uint64_t m, uint64_t n, uint32_t k, struct shares *shares)
{
    double miss = log_all_miss(1 / (double)m, k);
    double log_h = log_one_minus_exp(miss);
    double keys = (double)n;
    double below = 0;
    double *share = shares->of;
    uint32_t last = shares->values - 1;
    for (uint32_t v = 0; v < last; v++) {
        double ways =
            tepal_log_gamma(keys + 1) - tepal_log_gamma(v + 1.0) - tepal_log_gamma(keys - v + 1);
        double left = keys - v > 0 ? (keys - v) * miss : 0;
        share[v] = keys >= v ? exp(ways + v * log_h + left) : 0;
        below += share[v];
    }
    /* The tail by its own terms: 1 - below would be rounding error. */
    double tail = 0;
    for (uint32_t v = last; v < last + 200 && keys >= v; v++) {
        double ways =
            tepal_log_gamma(keys + 1) - tepal_log_gamma(v + 1.0) - tepal_log_gamma(keys - v + 1);
        double left = keys - v > 0 ? (keys - v) * miss : 0;
        tail += exp(ways + v * log_h + left);
    }
    share[last] = below < 0.5 ? at_most_one(1 - below) : at_most_one(tail);
}

/* The zeros and ones that the chosen candidate is expected to have. */
struct chosen {
    double zeros;
    double ones;
};

/*
 * Candidates in the order of preference; a candidate of weight w is chosen if all c are not better
 * and not all are worse: left^c - (left - w)^c, where `left` is the weight of it and all worse.
 */
static struct chosen choose_best(const double *share, uint32_t k, uint32_t c, bool improved)
{
    struct chosen chosen = {0, 0};
    double above = 1 - share[0];
    double q = above > 0 ? share[1] / above : 0;
    double left = 1;
    for (uint32_t z = 0; z <= k; z++) {
        double of_z = binomial(k, z, share[0]);
        double taken = whole_power(left, c);
        if (!improved) {
            double rest = left - of_z > 0 ? left - of_z : 0;
            double chance = taken - whole_power(rest, c);
            chosen.zeros += chance * z;
            chosen.ones += chance * (k - z) * q;
            left = rest;
            continue;
        }
        for (uint32_t o = k - z + 1; o-- > 0;) {
            double w = of_z * binomial(k - z, o, q);
            double rest = left - w > 0 ? left - w : 0;
            double after = whole_power(rest, c);
            chosen.zeros += (taken - after) * z;
            chosen.ones += (taken - after) * o;
            taken = after;
            left = rest;
        }
    }
    return chosen;
}

/* How the shares move with each key, in units of 1/m. */
static void share_rates(const struct shares *shares, uint32_t k, uint32_t c, bool improved,
                        struct shares *rates)
{
    const double *share = shares->of;
    double *rate = rates->of;
    struct chosen chosen = choose_best(share, k, c, improved);
    double above = 1 - share[0] - share[1];
    double others = (double)k - chosen.zeros - chosen.ones;
    double out = chosen.ones;
    rate[0] = -chosen.zeros;
    rate[1] = chosen.zeros - chosen.ones;
    for (uint32_t v = 2; v < shares->values; v++) {
        double in = out;
        out = v + 1 < shares->values && above > 0 ? others * share[v] / above : 0;
        rate[v] = in - out;
    }
}

static void step(struct shares *shares, const struct shares *start, const struct shares *rates,
                 double by)
{
    for (uint32_t v = 0; v < start->values; v++) {
        double moved = start->of[v] + by * rates->of[v];
        shares->of[v] = moved > 0 ? moved : 0;
    }
    shares->values = start->values;
}

/* Runge and Kutta's fourth order. The shares are smooth: so few steps are good to six digits. */
#define STEPS 200

static void many_choices(uint64_t m, uint64_t n, uint32_t k, uint32_t c, bool improved,
                         struct shares *shares)
{
    double h = (double)n / (double)m / STEPS;
    for (uint32_t v = 0; v < shares->values; v++) {
        shares->of[v] = v == 0;
    }
    for (int i = 0; i < STEPS; i++) {
        struct shares r[4];
        struct shares at;
        share_rates(shares, k, c, improved, &r[0]);
        step(&at, shares, &r[0], h / 2);
        share_rates(&at, k, c, improved, &r[1]);
        step(&at, shares, &r[1], h / 2);
        share_rates(&at, k, c, improved, &r[2]);
        step(&at, shares, &r[2], h);
        share_rates(&at, k, c, improved, &r[3]);
        for (uint32_t v = 0; v < shares->values; v++) {
            r[0].of[v] = (r[0].of[v] + 2 * r[1].of[v] + 2 * r[2].of[v] + r[3].of[v]) / 6;
        }
        step(shares, shares, &r[0], h);
    }
}

static enum tepal_status shares_of(uint64_t m, uint64_t n, uint32_t k, uint32_t c, bool improved,
                                   struct shares *shares)
{
    if (!valid(m, k) || c == 0 || c > TEPAL_MAX_HASHES) {
        return TEPAL_BAD_ARGUMENT;
    }
    if (c == 1) {
        one_choice(m, n, k, shares);
    } else {
        many_choices(m, n, k, c, improved, shares);
    }
    return TEPAL_OK;
}

enum tepal_status tepal_counting_shares(uint64_t m, uint64_t n, uint32_t k, uint32_t c,
                                        bool improved, double share[VALUES])
{
    struct shares shares = {.values = VALUES};
    enum tepal_status status = shares_of(m, n, k, c, improved, &shares);
    for (uint32_t v = 0; v < VALUES && status == TEPAL_OK; v++) {
        share[v] = shares.of[v];
    }
    return status;
}

/* ---- answers and addresses ------------------------------------------------------------------- */

double tepal_counting_fp(double p0, uint32_t k, uint32_t c)
{
    return -expm1((double)c * log1p(-whole_power(1 - p0, k)));
}

double tepal_counting_multi_address(double p0, uint32_t k, uint32_t c)
{
    return c == 1 ? 0 : tepal_counting_fp(p0, k, c - 1);
}

double tepal_counting_wrong_address(double p0, uint32_t k, uint32_t c)
{
    double f = whole_power(1 - p0, k);
    double several = 0;
    double wrong = 0;
    for (uint32_t u = 1; u < c; u++) {
        double chance = binomial(c - 1, u, f);
        several += chance;
        wrong += chance * u / (1 + u);
    }
    return several > 0 ? wrong / several : 0;
}

double tepal_counting_wrong_address_printed(double p0, uint32_t k, uint32_t c)
{
    double f = whole_power(1 - p0, k);
    double mean = 0;
    for (uint32_t u = 1; u < c; u++) {
        mean += u * binomial(c, u, f);
    }
    return mean / (1 + mean);
}

/* ---- potential false negatives --------------------------------------------------------------- */

/*
 * Eq. (2): P(Y = i) is i! k! times the coefficient of x^k in (sum over a >= 1 of C(k,a) x^a /
 * a!)^i, over the sum of all of these. k! is the same in all.
 */
enum tepal_status tepal_counting_potential_printed(uint32_t k, double pmf[TEPAL_MAX_HASHES + 1])
{
    if (!valid(1, k)) {
        return TEPAL_BAD_ARGUMENT;
    }
    double base[TEPAL_MAX_HASHES + 1] = {0};
    double now[TEPAL_MAX_HASHES + 1] = {1};
    double factorial = 1;
    double sum = 0;
    for (uint32_t a = 1; a <= k; a++) {
        base[a] = choose(k, a) / tgamma(a + 1.0);
    }
    pmf[0] = 0;
    for (uint32_t i = 1; i <= k; i++) {
        double next[TEPAL_MAX_HASHES + 1] = {0};
        for (uint32_t a = 0; a <= k; a++) {
            for (uint32_t b = 1; a + b <= k; b++) {
                next[a + b] += now[a] * base[b];
            }
        }
        for (uint32_t a = 0; a <= k; a++) {
            now[a] = next[a];
        }
        factorial *= i;
        pmf[i] = factorial * now[k];
        sum += pmf[i];
    }
    for (uint32_t i = 1; i <= k; i++) {
        pmf[i] /= sum;
    }
    return TEPAL_OK;
}

/*
 * Victims met one by one: position j is new among the key's own with chance 1 - j / cells, counts
 * with chance `hit`, and then has a new victim with chance 1 - z same.
 */
static void meet(uint32_t k, double cells, double hit, double same,
                 double pmf[TEPAL_MAX_HASHES + 1])
{
    pmf[0] = 1;
    for (uint32_t j = 0; j < k; j++) {
        double fresh = 1 - (double)j / cells;
        pmf[j + 1] = 0;
        for (uint32_t z = j + 1; z-- > 0;) {
            double another = 1 - (double)z * same;
            double up = (fresh > 0 ? fresh : 0) * hit * (another > 0 ? another : 0);
            pmf[z + 1] += pmf[z] * up;
            pmf[z] *= 1 - up;
        }
    }
}

/*
 * 1 - E[(1 - bad)^H], H of the `marked` counters among `draws` of m: that one of them is bad. As
 * the marked ones are above 0 and others need not be, chances are in units of P, and `bad` may be
 * above 1.
 */
static double any_bad(double m, uint32_t marked, uint32_t draws, double bad)
{
    double none = 0;
    double chance = 1; /* of H = h, from its ratio to the one before */
    for (uint32_t i = 0; i < draws; i++) {
        chance *= (m - marked - i) / (m - i);
    }
    double kept = 1;
    for (uint32_t h = 0; h <= marked && h <= draws; h++) {
        none += chance * kept;
        kept *= 1 - bad;
        chance *= ((double)marked - h) * ((double)draws - h) /
                  ((h + 1.0) * (m - marked - draws + h + 1.0));
    }
    return 1 - none;
}

/*
 * The members leave one by one, at times 0 to 1. A counter of the wrong key lacks a count until a
 * member that owns it is refused; that one is a victim, and all its counters are whole again. A
 * member is refused if it is the last owner of one that still lacks a count. With load lambda, a
 * counter that is above 0 lacks a count at time u and has no owner after it with the chance
 * bad = w e^-lambda(1-u) / P, where w is the chance that no other victim has made it whole:
 *
 *     dw/du = - w lambda P(an owner is bad elsewhere)     dY/du = n P(a member is bad somewhere)
 */
#define INSTANTS 64

static double victims(double m, uint32_t k, uint32_t d, double p0)
{
    double lambda = p0 > 0 ? -log(p0) : 700;
    double members = lambda * m / k;
    double w = 1;
    double y = 0;
    if (m < 2.0 * TEPAL_MAX_HASHES) {
        return d; /* too few counters to speak of chances */
    }
    for (int i = 0; i < INSTANTS; i++) {
        double later = exp(-lambda * (1 - (i + 0.5) / INSTANTS));
        /* the midpoint rule, in w too */
        double bad = w * later / (1 - p0);
        double half = w * (1 - lambda * any_bad(m - 1, d - 1, k - 1, bad) / INSTANTS / 2);
        bad = half * later / (1 - p0);
        y += members * any_bad(m, d, k, bad) / INSTANTS;
        w -= half * lambda * any_bad(m - 1, d - 1, k - 1, bad) / INSTANTS;
    }
    return y < d ? y : d;
}

/* How many counters the key has: its positions may coincide. */
static double potential_mean(double m, uint32_t k, double p0)
{
    double own[TEPAL_MAX_HASHES + 1];
    double cells = m * (1 - p0);
    double mean = 0;
    own[0] = 1;
    for (uint32_t j = 0; j < k; j++) {
        own[j + 1] = 0;
        for (uint32_t d = j + 1; d-- > 0;) {
            double fresh = d < cells ? 1 - d / cells : 0;
            own[d + 1] += own[d] * fresh;
            own[d] *= 1 - fresh;
        }
    }
    for (uint32_t d = 1; d <= k; d++) {
        mean += own[d] > 1e-15 ? own[d] * victims(m, k, d, p0) : 0;
    }
    return mean;
}

double tepal_counting_potential_mean(uint64_t m, uint64_t n, uint32_t k, double p0)
{
    return valid(m, k) && n > 0 && p0 >= 0 && p0 < 1 ? potential_mean((double)m, k, p0) : NAN;
}

enum tepal_status tepal_counting_potential(uint64_t m, uint64_t n, uint32_t k, double p0,
                                           double pmf[TEPAL_MAX_HASHES + 1])
{
    if (!valid(m, k) || n == 0 || !(p0 >= 0 && p0 < 1)) {
        return TEPAL_BAD_ARGUMENT;
    }
    double mean = potential_mean((double)m, k, p0);
    /* The distribution with that mean, by bisection. */
    double low = 0;
    double high = 1;
    for (int i = 0; i < 60; i++) {
        double same = (low + high) / 2;
        meet(k, (double)m * (1 - p0), 1, same, pmf);
        if (tepal_counting_mean(pmf, k) > mean) {
            low = same;
        } else {
            high = same;
        }
    }
    return TEPAL_OK;
}

/* ---- exposed false negatives ----------------------------------------------------------------- */

static bool valid_shares(double p0, double p1)
{
    return p0 >= 0 && p1 >= 0 && p0 < 1 && p0 + p1 <= 1 + 1e-12;
}

enum tepal_status tepal_counting_exposed(uint64_t m, uint64_t n, uint32_t k, double p0, double p1,
                                         double pmf[TEPAL_MAX_HASHES + 1])
{
    if (!valid(m, k) || n == 0 || !valid_shares(p0, p1)) {
        return TEPAL_BAD_ARGUMENT;
    }
    double above = 1 - p0;
    double q = at_most_one(p1 / above);
    meet(k, (double)m * above, q, (k - 1.0) / (k * (double)n), pmf);
    return TEPAL_OK;
}

/* P(A_=0^(n-1)) = (1 - 1/m)^(k(n-1)) */
static double others_miss(uint64_t m, uint64_t n, uint32_t k)
{
    return n <= 1 ? 1 : exp(log_all_miss(1 / (double)m, (double)k * (double)(n - 1)));
}

enum tepal_status tepal_counting_exposed_printed(uint64_t m, uint64_t n, uint32_t k,
                                                 double pmf[TEPAL_MAX_HASHES + 1])
{
    if (!valid(m, k)) {
        return TEPAL_BAD_ARGUMENT;
    }
    double zero = others_miss(m, n, k);
    for (uint32_t i = 0; i <= k; i++) {
        pmf[i] = binomial(k, i, zero);
    }
    return TEPAL_OK;
}

/*
 * Theorem 3. The n members own m p1 counters that are 1, out of n times the m h that one of them
 * has: so a counter of theirs is 1 with the chance p1 / (n h), however the members chose. (With one
 * choice, p1 = n h (1-h)^(n-1), that is the paper's P(A_=0^(n-1)).) The wrong key's positions are
 * any of the m (1 - p0) counters above 0.
 */
double tepal_counting_missed(uint64_t m, uint64_t n, uint32_t k, double p0, double p1)
{
    if (!valid(m, k) || n == 0 || !valid_shares(p0, p1)) {
        return NAN;
    }
    double own = -expm1(log_all_miss(1 / (double)m, k));
    double zero = at_most_one(p1 / ((double)n * own));
    double above = 1 - p0;
    double sum = 0;
    for (uint32_t i = 1; i <= k; i++) {
        double hit = at_most_one(i / ((double)m * above));
        sum += binomial(k, i, zero) * -expm1(log_all_miss(hit, k));
    }
    return sum;
}

double tepal_counting_many(double mean, uint64_t n, double deletes)
{
    double keys = (double)n;
    return mean >= keys ? (deletes > 0 ? keys : 0)
                        : -keys * expm1(log_all_miss(mean / keys, deletes));
}

double tepal_counting_mean(const double *pmf, uint32_t k)
{
    double mean = 0;
    for (uint32_t i = 1; i <= k; i++) {
        mean += i * pmf[i];
    }
    return mean;
}

/* ---- everything ------------------------------------------------------------------------------ */

/* The flat layout with colliding positions, which all theorems are about. */
struct flat {
    uint64_t m;
    uint64_t n;
    uint32_t k;
    uint32_t c; /* groups of hashes */
    uint32_t counter_bits;
    bool measured;   /* are p0 and p1? */
    double p0;       /* share of counters that are 0 */
    double p1;       /* that are 1 */
    double p2;       /* that are more */
    double stuck;    /* that are at their limit, or would be more */
    double removals; /* alpha, of keys that were never added */
};

static void report_shares(struct tepal_report *report, const struct flat *f)
{
    report->count = 0;
    report->numbers = 0;
    tepal_report_text(report, "kind", "the kind of filter", "counting");
    tepal_report_integer(report, "cells", "m, counters", f->m);
    tepal_report_integer(report, "hashes", "k", f->k);
    tepal_report_integer(report, "keys", "n", f->n);
    tepal_report_integer(report, "choices", "c, groups of hash functions", f->c);
    tepal_report_integer(report, "counter_bits", "bits per counter: it sticks at 15 (4) or 255 (8)",
                         f->counter_bits);
    tepal_report_flag(report, "measured", "are p0 and p1 measured (Sec. 3.3), not ideal?",
                      f->measured);
    tepal_report_real(report, "p0", "share of counters that are 0", f->p0);
    tepal_report_real(report, "p1", "share of counters that are 1", f->p1);
    tepal_report_real(report, "p2", "share of counters above 1", f->p2);
    tepal_report_real(report, "fp", "1 - (1 - (1-p0)^k)^c; eq. (1) for c = 1",
                      tepal_counting_fp(f->p0, f->k, f->c));
}

static void report_potential(struct tepal_report *report, const struct flat *f)
{
    const uint32_t k = f->k;
    double pmf[TEPAL_MAX_HASHES + 1];
    double printed[TEPAL_MAX_HASHES + 1];
    tepal_counting_potential_printed(k, printed);
    double mean_printed = tepal_counting_mean(printed, k);
    if (tepal_counting_potential(f->m, f->n, k, f->p0, pmf) == TEPAL_OK) {
        double mean = tepal_counting_mean(pmf, k);
        tepal_report_real(report, "potential_mean",
                          "E[Y], potential false negatives per wrong removal", mean);
        tepal_report_real(report, "potential_all", "P(Y = k)", pmf[k]);
        tepal_report_real(
            report, "potential_many",
            "potential false negatives after all wrong removals (Corollary 2, corrected)",
            tepal_counting_many(mean, f->n, f->removals));
        tepal_report_list(report, "potential_pmf", "P(Y = 0), P(Y = 1), ...", pmf, k + 1);
    } else {
        tepal_report_absent(report, "potential_mean", "there are no members");
    }
    tepal_report_real(report, "potential_mean_printed", "E[Y] by Theorem 1 and Corollary 1",
                      mean_printed);
    tepal_report_real(report, "potential_all_printed", "P(Y = k) by Theorem 1", printed[k]);
    tepal_report_real(report, "potential_many_printed", "alpha E[Y], Corollary 2",
                      f->removals * mean_printed);
    tepal_report_list(report, "potential_pmf_printed", "Theorem 1, eq. (2)", printed, k + 1);
}

static void report_exposed(struct tepal_report *report, const struct flat *f)
{
    const uint32_t k = f->k;
    double pmf[TEPAL_MAX_HASHES + 1];
    double printed[TEPAL_MAX_HASHES + 1];
    tepal_counting_exposed_printed(f->m, f->n, k, printed);
    double mean_printed = tepal_counting_mean(printed, k);
    if (tepal_counting_exposed(f->m, f->n, k, f->p0, f->p1, pmf) == TEPAL_OK) {
        double mean = tepal_counting_mean(pmf, k);
        tepal_report_real(report, "exposed_mean",
                          "E[Z], members missed immediately per wrong removal", mean);
        tepal_report_real(
            report, "exposed_many",
            "exposed false negatives after all wrong removals (Corollary 3, corrected)",
            tepal_counting_many(mean, f->n, f->removals));
        tepal_report_real(report, "hidden", "P(Z = 0) = (p2 / (p1 + p2))^k, Theorem 2, corrected",
                          whole_power(1 - at_most_one(f->p1 / (1 - f->p0)), k));
        tepal_report_list(report, "exposed_pmf", "P(Z = 0), P(Z = 1), ...", pmf, k + 1);
    } else {
        tepal_report_absent(report, "exposed_mean", "there are no members");
    }
    tepal_report_real(report, "exposed_mean_printed", "E[Z] by Theorem 4, eqs. (5) and (6)",
                      mean_printed);
    tepal_report_real(report, "exposed_many_printed", "alpha E[Z], Corollary 3",
                      f->removals * mean_printed);
    tepal_report_real(report, "hidden_printed", "Theorem 2, eq. (3)",
                      whole_power(1 - others_miss(f->m, f->n, k), k));
    tepal_report_real(
        report, "found",
        "probability that a member is missed after one wrong removal: Theorem 3, eq. (4)",
        tepal_counting_missed(f->m, f->n, k, f->p0, f->p1));
    tepal_report_real(report, "wrong_removals", "alpha, keys removed that were never added",
                      f->removals);
}

/*
 * Sec. 4.3: what all members with several addresses cost together, if each is removed (`remove`):
 * the number of them, times the chance that a wrong address is taken, times what that does.
 */
static void report_all_addresses(struct tepal_report *report, const struct flat *f)
{
    double n = (double)f->n;
    double several = n * tepal_counting_multi_address(f->p0, f->k, f->c);
    double wrong = several * tepal_counting_wrong_address(f->p0, f->k, f->c);
    double wrong_printed = several * tepal_counting_wrong_address_printed(f->p0, f->k, f->c);
    double y[TEPAL_MAX_HASHES + 1];
    double z[TEPAL_MAX_HASHES + 1];
    bool members = tepal_counting_potential(f->m, f->n, f->k, f->p0, y) == TEPAL_OK &&
                   tepal_counting_exposed(f->m, f->n, f->k, f->p0, f->p1, z) == TEPAL_OK;
    tepal_report_real(report, "multi_address_keys",
                      "members with several addresses, at most: n times that; `keep` retains them",
                      several);
    tepal_report_real(report, "multi_potential",
                      "potential false negatives if all of these are removed, at most",
                      members ? fmin(n, wrong * tepal_counting_mean(y, f->k)) : 0);
    tepal_report_real(report, "multi_exposed",
                      "exposed false negatives if all of these are removed, at most",
                      members ? fmin(n, wrong * tepal_counting_mean(z, f->k)) : 0);
    tepal_counting_potential_printed(f->k, y);
    tepal_counting_exposed_printed(f->m, f->n, f->k, z);
    tepal_report_real(report, "multi_potential_printed", "the same by Theorems 5 and 1",
                      wrong_printed * tepal_counting_mean(y, f->k));
    tepal_report_real(report, "multi_exposed_printed", "the same by Theorems 5 and 4",
                      wrong_printed * tepal_counting_mean(z, f->k));
}

static void report_addresses(struct tepal_report *report, const struct flat *f)
{
    tepal_report_real(report, "multi_address_bound",
                      "probability that a member has several addresses, at most, eq. (7)",
                      tepal_counting_multi_address(f->p0, f->k, f->c));
    if (f->c > 1) {
        tepal_report_real(report, "wrong_address",
                          "probability that removal of such a member takes a wrong address "
                          "(Theorem 5, corrected)",
                          tepal_counting_wrong_address(f->p0, f->k, f->c));
        tepal_report_real(report, "wrong_address_printed", "Theorem 5",
                          tepal_counting_wrong_address_printed(f->p0, f->k, f->c));
    } else {
        tepal_report_absent(report, "wrong_address", "a member has one address");
        tepal_report_absent(report, "wrong_address_printed", "a member has one address");
    }
    report_all_addresses(report, f);
}

static void report_stuck(struct tepal_report *report, const struct flat *f)
{
    double mean = (double)f->m * f->stuck;
    tepal_report_real(report, "stuck_mean", "expected number of counters that stick", mean);
    tepal_report_real(report, "stuck_chance", "probability that there is one", -expm1(-mean));
}

static enum tepal_status report_flat(const struct tepal_params *p, struct flat *f,
                                     struct tepal_report *report, struct tepal_error *error)
{
    struct shares shares = {.values = f->counter_bits == 8 ? WIDEST : VALUES};
    bool improved = p->counting.rule == TEPAL_RULE_IMPROVED_GREEDY;
    if (shares_of(f->m, f->n, f->k, f->c, improved, &shares) != TEPAL_OK) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "the number of choices is out of range");
    }
    f->stuck = shares.of[shares.values - 1];
    if (f->measured) {
        f->p2 = 1 - f->p0 - f->p1;
    } else {
        f->p0 = shares.of[0];
        f->p1 = shares.of[1];
        for (uint32_t v = 2; v < shares.values; v++) {
            f->p2 += shares.of[v];
        }
    }
    report_shares(report, f);
    report_potential(report, f);
    report_exposed(report, f);
    report_addresses(report, f);
    report_stuck(report, f);
    return TEPAL_OK;
}

/*
 * Other layouts: the rate. What a wrong removal does there has a bound and no more: each of the k
 * counters that lack a count has one victim at most.
 */
static enum tepal_status report_other(const struct tepal_params *p, uint64_t n, double deletes,
                                      struct tepal_report *report, struct tepal_error *error)
{
    uint32_t c = (uint32_t)p->counting.choices;
    double p0 = 1 - model_counting_fill(p, n);
    double fp = model_counting_rate(p, n);
    if (c > 1 && p->layout != TEPAL_LAYOUT_BLOCKED) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "with several choices the model knows the flat layout with colliding "
                      "positions, and the blocked layout");
    }
    if (c > 1) {
        fp = tepal_counting_blocked_choices((enum tepal_counting_lines)p->counting.lines,
                                            p->positions, p->cells, n, p->hashes, c, &p0);
    }
    report->count = 0;
    report->numbers = 0;
    tepal_report_text(report, "kind", "the kind of filter", "counting");
    tepal_report_text(report, "layout", "where the counters of a key are",
                      tepal_layout_name(p->layout));
    if (tepal_layout_in_lines(p->layout)) {
        tepal_report_integer(report, "line_cells", "counters in a line", params_line_cells(p));
    }
    tepal_report_integer(report, "cells", "m, counters", p->cells);
    tepal_report_integer(report, "hashes", "k", p->hashes);
    tepal_report_integer(report, "keys", "n", n);
    tepal_report_integer(report, "choices", "c, groups of hash functions", c);
    tepal_report_integer(report, "counter_bits", "bits per counter: it sticks at 15 (4) or 255 (8)",
                         params_counter_bits(p));
    tepal_report_real(report, "p0", "share of counters that are 0", p0);
    tepal_report_real(report, "fp",
                      c > 1 ? "false-positive rate, in the limit of many lines (within 10 %)"
                            : "false-positive rate, that of a Bloom filter with such lines",
                      fp);
    if (c > 1) {
        tepal_report_absent(report, "hashes_best", "known for one choice alone");
    } else {
        tepal_report_integer(report, "hashes_best", "the k with the lowest fp in this layout",
                             model_counting_best_hashes(p, n));
    }
    tepal_report_real(report, "potential_bound", "members missed after all wrong removals, at most",
                      fmin(deletes * p->hashes, (double)n));
    tepal_report_real(report, "wrong_removals", "alpha, keys removed that were never added",
                      deletes);
    return TEPAL_OK;
}

enum tepal_status tepal_model_counting(const struct tepal_params *params,
                                       const struct tepal_use *use, struct tepal_report *report,
                                       struct tepal_error *error)
{
    struct tepal_params p = *params;
    uint64_t n = use->keys;
    bool other = p.layout != TEPAL_LAYOUT_FLAT || p.positions != TEPAL_POSITIONS_COLLIDING;
    if (p.hashes == 0 && p.cells != 0) {
        p.hashes = model_counting_best_hashes(&p, n);
        p.hashes = p.hashes == 0 ? 1 : p.hashes; /* the check tells what is wrong */
    }
    enum tepal_status status = tepal_params_check(&p, error);
    if (status != TEPAL_OK) {
        return status;
    }
    bool measured = !isnan(use->p0) || !isnan(use->p1);
    if (measured && !(use->p0 >= 0 && use->p1 >= 0 && use->p0 + use->p1 <= 1)) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "p0 and p1 are shares: both are needed, and their sum is at most 1");
    }
    if (!(use->wrong_removals >= 0)) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "the number of wrong removals cannot be negative");
    }
    if (other && measured) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "measured shares need the flat layout with colliding positions");
    }
    if (other) {
        return report_other(&p, n, use->wrong_removals, report, error);
    }
    struct flat flat = {.m = p.cells,
                        .n = n,
                        .k = p.hashes,
                        .c = (uint32_t)p.counting.choices,
                        .counter_bits = params_counter_bits(&p),
                        .measured = measured,
                        .p0 = use->p0,
                        .p1 = use->p1,
                        .removals = use->wrong_removals};
    return report_flat(&p, &flat, report, error);
}
