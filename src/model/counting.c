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
 */
#include <tepal/papers.h>

#include <math.h>

#include "model/model.h"
#include "model/numeric.h"

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

/* ---- answers and addresses ------------------------------------------------------------------- */

static bool addressed(double p0, uint32_t k, uint32_t c)
{
    return valid(1, k) && p0 >= 0 && p0 <= 1 && c >= 1 && c <= TEPAL_MAX_CHOICES;
}

/* That a stranger finds one of so many groups. */
static double one_of(double p0, uint32_t k, uint32_t groups)
{
    return -expm1((double)groups * log1p(-whole_power(1 - p0, k)));
}

double tepal_counting_fp(double p0, uint32_t k, uint32_t c)
{
    return addressed(p0, k, c) ? one_of(p0, k, c) : NAN;
}

double tepal_counting_multi_address(double p0, uint32_t k, uint32_t c)
{
    return !addressed(p0, k, c) ? NAN : c == 1 ? 0 : one_of(p0, k, c - 1);
}

double tepal_counting_wrong_address(double p0, uint32_t k, uint32_t c)
{
    if (!addressed(p0, k, c)) {
        return NAN;
    }
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
    if (!addressed(p0, k, c)) {
        return NAN;
    }
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
