/*
 * recycling_closed.c: the recycling filter in the limit of many bits, any layout, and the N-bounded
 * averages. docs/models.md derives the formulas.
 *
 * Flat, colliding. Throw positions one by one. From state b the next new cell takes M/(M-b) throws,
 * so that D, the throws until sigma + 1 cells are set, has E[D] = sum over b <= sigma of M/(M-b).
 * The trigger is the message of throw D: N0 = ceil(D / k). D spreads over many multiples of k, so D
 * mod k is as good as uniform, and E[ceil(D/k)] = (E[D] + (k-1)/2) / k. By the same token a throw
 * at b is the first of its message with chance 1/k:
 *
 *     E[N0]             = ( M (H_M - H_(M-sigma-1)) + (k-1)/2 ) / k
 *     false positives   = sum over b <= sigma of (b/M)^k M/(M-b), over k
 *
 * What is neglected falls exponentially with sigma^2 / (k^2 M), and like M^-k. In the fluid limit,
 * x = sigma/M, these are -M ln(1-x) / k and M (-ln(1-x) - sum over j <= k of x^j/j) / k. The sums
 * differ from that by Euler and Maclaurin's terms, so both cost O(k) whatever M.
 *
 * Flat, distinct. A message sets (M-b) k/M new cells on average, against M-b times
 * 1 - (1-1/M)^k: the sums shrink by 1 - (k-1)/(2M), up to terms of second order in k/M.
 *
 * Other layouts. With many cells the fill after n keys is as good as certain, so a cycle is N keys
 * with fill(N) = (sigma + 1/2) / M, half a key more for the trigger, and the false positives are
 * the integral over 0 .. N of the layout's own rate at that fill. Crowded lines are in that rate
 * already.
 */
#include "model/recycling.h"

#include "model/numeric.h"
#include "model/occupancy.h"

#include <math.h>

/* ---- integrals ------------------------------------------------------------------------------- */

static const double gauss[8][2] = {
    {0.09501250983763744, 0.18945061045506849}, {0.28160355077925891, 0.18260341504492358},
    {0.45801677765722738, 0.16915651939500253}, {0.61787624440264374, 0.14959598881657673},
    {0.75540440835500303, 0.12462897125553387}, {0.86563120238783174, 0.09515851168249278},
    {0.94457502307323257, 0.06225352393864789}, {0.98940093499164993, 0.02715245941175409},
};

double tepal_model_recycling_integral(recycling_function *f, const void *context, double a,
                                      double b, unsigned panels)
{
    double half = (b - a) / panels / 2;
    double sum = 0;
    for (unsigned p = 0; p < panels; p++) {
        double middle = a + (2 * p + 1) * half;
        for (unsigned i = 0; i < 8; i++) {
            double x = half * gauss[i][0];
            sum += gauss[i][1] * (f(context, middle - x) + f(context, middle + x));
        }
    }
    return sum * half;
}

/* ---- flat ------------------------------------------------------------------------------------ */

/* H_n - H_m for n >= m >= 0: the sum of 1/i over m < i <= n. */
static double harmonic(double n, double m)
{
    double head = 0;
    while (m < 64 && m < n) {
        m++;
        head += 1 / m;
    }
    if (m >= n) {
        return head;
    }
    /* Euler and Maclaurin: log n + 1/(2n) - 1/(12n^2) + 1/(120n^4) */
    double in = 1 / n;
    double im = 1 / m;
    return head + log1p((n - m) / m) + (in - im) / 2 - (in * in - im * im) / 12 +
           (in * in * in * in - im * im * im * im) / 120;
}

/* -ln(1-x) - sum over j <= k of x^j / j, in positive terms where that converges fast. */
static double log_tail(double x, double left, uint32_t k)
{
    double term = pow(x, k + 1);
    double sum = 0;
    if (x > 0.9) {
        double power = 1;
        sum = -log(left); /* left is 1 - x, with all its digits */
        for (uint32_t j = 1; j <= k; j++) {
            power *= x;
            sum -= power / j;
        }
        return sum;
    }
    for (double j = k + 1; term / j > 1e-17 * sum; j++) {
        sum += term / j;
        term *= x;
    }
    return sum;
}

/*
 * The sum over b = 0 .. sigma of psi(b/M), psi(x) = x^k / (1-x), k >= 2: the integral, half the
 * last term, psi'/12 M and - psi'''/720 M^3.
 */
static double colliding_positives(double m, double sigma, double unset, uint32_t k)
{
    double x = sigma / m;
    double u = m / unset;
    double p = pow(x, k);
    /* psi = x^k u; with y = k/x the derivatives are psi times sums of falling factorials */
    double a1 = k / x;
    double a2 = a1 * (k - 1.0) / x;
    double a3 = a2 * (k - 2.0) / x;
    double first = p * u * (a1 + u);
    double third = p * u * (a3 + 3 * a2 * u + 6 * a1 * u * u + 6 * u * u * u);
    return m * log_tail(x, unset / m, k) + p * u / 2 + first / (12 * m) - third / (720 * m * m * m);
}

/* Near the end, where psi is steep, and where it is cheap anyway, the sum itself. */
#define SUM_STATES 2048

static double distinct_rate(double m, double b, uint32_t k)
{
    double rate = 1;
    for (uint32_t i = 0; i < k; i++) {
        rate *= b > i ? (b - i) / (m - i) : 0;
    }
    return rate;
}

struct distinct {
    double m;
    uint32_t k;
};

/* In u = -ln(1 - b/M) the integrand of rho(b) M/(M-b) db is M rho. */
static double distinct_at(const void *context, double u)
{
    const struct distinct *d = context;
    return d->m * distinct_rate(d->m, -d->m * expm1(-u), d->k);
}

static double distinct_positives(double m, double sigma, uint32_t k)
{
    struct distinct d = {m, k};
    double x = sigma / m;
    double u = -log1p(-x);
    double last = distinct_rate(m, sigma, k) / (1 - x);
    double before = distinct_rate(m, sigma - 1, k) / (1 - (sigma - 1) / m);
    unsigned panels = 4 + (unsigned)u;
    return tepal_model_recycling_integral(distinct_at, &d, 0, u, panels) + last / 2 +
           (last - before) / 12;
}

static double positives(const struct tepal_recycling_setting *s)
{
    bool distinct = s->positions == TEPAL_POSITIONS_DISTINCT;
    double m = (double)s->bits;
    uint64_t last = s->sigma; /* whole numbers: doubles do not count that far */
    double sum = 0;
    /* The last states, unless they are far from M. */
    while (last >= 1 && (s->bits - last < SUM_STATES || last < 4 * (uint64_t)s->hashes)) {
        double sigma = (double)last;
        double rate = distinct ? distinct_rate(m, sigma, s->hashes) : pow(sigma / m, s->hashes);
        sum += rate * m / (double)(s->bits - last);
        last--;
    }
    if (last >= 1) {
        double unset = (double)(s->bits - last);
        sum += distinct ? distinct_positives(m, (double)last, s->hashes)
                        : colliding_positives(m, (double)last, unset, s->hashes);
    }
    return sum;
}

static double frozen_flat(const struct tepal_recycling_setting *s)
{
    double m = (double)s->bits;
    double visits[TEPAL_MAX_HASHES];
    for (uint32_t i = 0; i < s->hashes; i++) {
        visits[i] = m / ((double)(s->bits - s->sigma) + i);
    }
    if (!s->keep_trigger) {
        return tepal_model_recycling_frozen(s, visits);
    }
    /*
     * The throw that makes sigma + 1 is any of its message's with the same chance; those that
     * follow it may set more.
     */
    bool distinct = s->positions == TEPAL_POSITIONS_DISTINCT;
    double at[TEPAL_MAX_HASHES + 1] = {1};
    double rate = 0;
    for (uint32_t left = 0; left < s->hashes; left++) {
        for (uint32_t set = 0; set <= left; set++) {
            double b = (double)s->sigma + 1 + set;
            rate += at[set] * (distinct ? distinct_rate(m, b, s->hashes) : pow(b / m, s->hashes));
        }
        for (uint32_t set = left + 2; set-- > 0;) {
            double b = (double)s->sigma + 1 + set;
            double stay = b < m ? b / m : 1;
            double up = b <= m ? (m - b + 1) / m : 0;
            at[set] = (set <= left ? at[set] * stay : 0) + (set > 0 ? at[set - 1] * up : 0);
        }
    }
    return rate / s->hashes;
}

static struct recycling_cycle closed_flat(const struct tepal_recycling_setting *s)
{
    double m = (double)s->bits;
    double k = s->hashes;
    double throws = (s->positions == TEPAL_POSITIONS_DISTINCT ? m - (k - 1) / 2 : m);
    double sum = harmonic(m, (double)(s->bits - s->sigma - 1));
    return (struct recycling_cycle){(throws * sum + (k - 1) / 2) / k,
                                    positives(s) * (throws / m) / k, frozen_flat(s)};
}

/* ---- other layouts --------------------------------------------------------------------------- */

/*
 * The rate of a phase with as many ones as n keys leave on average. The layout's own rate is the
 * mean over all phases of n keys, whose ones vary; but a cycle ends by its ones. A rate that grows
 * like the k-th power of the ones has a mean higher by k (k-1) / 2 times their relative variance.
 */
static double fp_at(const void *context, double n)
{
    const struct tepal_recycling_setting *s = context;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.layout = s->layout;
    p.positions = s->positions;
    p.cells = s->bits;
    p.hashes = s->hashes;
    struct occupancy ones = tepal_occupancy_bloom(&p, n < 1 ? 1 : n < 1e18 ? (uint64_t)n : 0);
    double k = s->hashes;
    double spread = ones.mean > 0 ? ones.variance / (ones.mean * ones.mean) : 0;
    return tepal_model_recycling_fp(s, n) / (1 + k * (k - 1) / 2 * spread);
}

struct recycling_cycle tepal_model_recycling_closed(const struct tepal_recycling_setting *s)
{
    if (s->layout == TEPAL_LAYOUT_FLAT) {
        return closed_flat(s);
    }
    double keys = tepal_model_recycling_keys(s, (double)s->sigma + 0.5);
    /* Before the trigger there are a few ones less than sigma, after it a few more. */
    double x = (double)s->sigma / (double)s->bits;
    double shift = (s->hashes - 1.0) / 2 * (s->keep_trigger ? 1 - x : -(1 - x));
    double frozen = tepal_model_recycling_keys(s, (double)s->sigma + shift);
    unsigned panels = 1 + (unsigned)fmin(-log1p(-x) / 2, 32); /* x may be rounded to 1 */
    return (struct recycling_cycle){
        keys + 0.5, tepal_model_recycling_integral(fp_at, s, 0, keys, panels), fp_at(s, frozen)};
}

/* ---- one hash -------------------------------------------------------------------------------- */

double tepal_recycling_one_hash(uint64_t bits, uint64_t sigma)
{
    double m = (double)bits;
    if (bits == 0 || sigma >= bits) {
        return NAN;
    }
    /* eq. (19): sum of b/(M-b) over sum of M/(M-b) */
    return 1 - ((double)sigma + 1) / (m * harmonic(m, (double)(bits - sigma - 1)));
}
