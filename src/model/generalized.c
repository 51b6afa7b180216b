/*
 * generalized.c: the formulas of the generalized Bloom filter (R. P. Laufer, P. B. Velloso and
 * O. C. M. B. Duarte, Computer Networks 55(8), 2011), as printed and as usually computed, and their
 * two bounds. generalized_chain.c has the rates without approximation, generalized_plan.c the
 * solver.
 *
 * An addition resets a bit with chance q0, sets it with chance q1, and leaves it alone otherwise.
 * After i additions a bit that nobody touched is as it was; one that was touched is 0 with chance
 * q0 / (q0 + q1), whoever touched it last. With r = (1 - q0 - q1)^i that is all of Sec. 3:
 *
 *     p   = p0 r + q0/(q0+q1) (1 - r)      eq. (7): a bit that was 0 with chance p0
 *     p00 = r + q0/(q0+q1) (1 - r)         eq. (9): one that was 0
 *     p11 = r + q1/(q0+q1) (1 - r)         eq. (10): one that was 1
 *
 * Tolerance (footnote 1). With b inverted bits forgiven, "none of k0 + k1 bits is inverted" becomes
 * "at most b are": a sum of two binomials in place of a product of two powers.
 */
#include <tepal/papers.h>

#include "model/generalized.h"
#include "model/numeric.h"

#include <math.h>

static bool valid(uint64_t m, uint32_t k0, uint32_t k1)
{
    return m >= 1 && (uint64_t)k0 + k1 >= 1 && (uint64_t)k0 + k1 <= UINT32_MAX;
}

/* ---- one addition, eqs. (4) to (6) ----------------------------------------------------------- */

/* 1 - (1 - 1/m)^k and (1 - 1/m)^k; `k` may be a product with n. */
static double log_missed(uint64_t m, double k)
{
    return log_all_miss(1 / (double)m, k);
}

double tepal_generalized_q0(uint64_t m, uint32_t k0, uint32_t k1)
{
    return valid(m, k0, k1) ? -expm1(log_missed(m, k0)) : NAN;
}

double tepal_generalized_q0_approx(uint64_t m, uint32_t k0, uint32_t k1)
{
    return valid(m, k0, k1) ? -expm1(-(double)k0 / (double)m) : NAN;
}

double tepal_generalized_q1(uint64_t m, uint32_t k0, uint32_t k1)
{
    return valid(m, k0, k1) ? -expm1(log_missed(m, k1)) * exp(log_missed(m, k0)) : NAN;
}

double tepal_generalized_q1_approx(uint64_t m, uint32_t k0, uint32_t k1)
{
    double size = (double)m;
    return valid(m, k0, k1) ? -expm1(-(double)k1 / size) * exp(-(double)k0 / size) : NAN;
}

double tepal_generalized_untouched(uint64_t m, uint32_t k0, uint32_t k1)
{
    return valid(m, k0, k1) ? exp(log_missed(m, (double)k0 + (double)k1)) : NAN;
}

double tepal_generalized_untouched_approx(uint64_t m, uint32_t k0, uint32_t k1)
{
    return valid(m, k0, k1) ? exp(-((double)k0 + (double)k1) / (double)m) : NAN;
}

/* ---- many additions, eqs. (7), (9), (10), (22), (23), (26) ----------------------------------- */

/* log r: no addition of `count` touched the bit. */
static double log_untouched(uint64_t m, uint64_t count, uint32_t k0, uint32_t k1)
{
    return log_missed(m, ((double)k0 + (double)k1) * (double)count);
}

static double log_untouched_approx(uint64_t m, uint64_t count, uint32_t k0, uint32_t k1)
{
    return -((double)k0 + (double)k1) * (double)count / (double)m;
}

/* `first` if nobody touched the bit, `touched` otherwise. */
static double mix(double first, double touched, double log_r)
{
    return first * exp(log_r) - touched * expm1(log_r);
}

static double zero_share(uint64_t m, uint32_t k0, uint32_t k1)
{
    double q0 = tepal_generalized_q0(m, k0, k1);
    return q0 / (q0 + tepal_generalized_q1(m, k0, k1));
}

static double zero_share_approx(uint32_t k0, uint32_t k1)
{
    return (double)k0 / ((double)k0 + (double)k1);
}

static bool valid_share(double p0)
{
    return p0 >= 0 && p0 <= 1;
}

double tepal_generalized_zero(uint64_t m, uint64_t n, uint32_t k0, uint32_t k1, double p0)
{
    return valid(m, k0, k1) && valid_share(p0)
               ? mix(p0, zero_share(m, k0, k1), log_untouched(m, n, k0, k1))
               : NAN;
}

double tepal_generalized_zero_approx(uint64_t m, uint64_t n, uint32_t k0, uint32_t k1, double p0)
{
    return valid(m, k0, k1) && valid_share(p0)
               ? mix(p0, zero_share_approx(k0, k1), log_untouched(m, n, k0, k1))
               : NAN;
}

double tepal_generalized_kept_zero(uint64_t m, uint64_t age, uint32_t k0, uint32_t k1)
{
    return tepal_generalized_zero(m, age, k0, k1, 1);
}

double tepal_generalized_kept_one(uint64_t m, uint64_t age, uint32_t k0, uint32_t k1)
{
    return 1 - tepal_generalized_zero(m, age, k0, k1, 0);
}

double tepal_generalized_kept_zero_approx(uint64_t m, uint64_t age, uint32_t k0, uint32_t k1)
{
    return valid(m, k0, k1)
               ? mix(1, zero_share_approx(k0, k1), log_untouched_approx(m, age, k0, k1))
               : NAN;
}

double tepal_generalized_kept_one_approx(uint64_t m, uint64_t age, uint32_t k0, uint32_t k1)
{
    return valid(m, k0, k1)
               ? mix(1, 1 - zero_share_approx(k0, k1), log_untouched_approx(m, age, k0, k1))
               : NAN;
}

/* ---- at most b of k0 + k1 -------------------------------------------------------------------- */

/*
 * The chances of 0 .. most successes in k trials of chance p, into pmf: by recursion from the end
 * that is not small.
 */
static void binomial(uint32_t k, double p, uint32_t most, double *pmf)
{
    bool up = p <= 0.5;
    double rare = up ? p : 1 - p;
    double odds = rare / (1 - rare);
    double here = exp(log_all_miss(rare, k));
    for (uint32_t i = k + 1; i <= most; i++) {
        pmf[i] = 0;
    }
    for (uint32_t i = 0; i <= k; i++) { /* of the rarer outcome */
        uint32_t successes = up ? i : k - i;
        if (successes <= most) {
            pmf[successes] = here;
        } else if (up) {
            break;
        }
        here *= odds * (double)(k - i) / (double)(i + 1);
    }
}

double tepal_model_sum_at_most(uint32_t k0, double p, uint32_t k1, double q, uint32_t b)
{
    if (b >= k0 + k1) {
        return 1;
    }
    if (b == 0) {
        return exp(log_all_miss(p, k0) + log_all_miss(q, k1));
    }
    double first[MODEL_TOLERANCE_MAX + 1];
    double second[MODEL_TOLERANCE_MAX + 1];
    binomial(k0, p, b, first);
    binomial(k1, q, b, second);
    double below = 0; /* P(second <= b - i), from i = b down */
    double sum = 0;
    for (uint32_t i = 0; i <= b; i++) {
        below += second[i];
        sum += first[b - i] * at_most_one(below);
    }
    return at_most_one(sum);
}

/* The complement, summed from what lies above b: it may be 1e-12 and must keep its digits. */
double tepal_model_sum_above(uint32_t k0, double p, uint32_t k1, double q, uint32_t b)
{
    if (b >= k0 + k1) {
        return 0;
    }
    if (b == 0) {
        return -expm1(log_all_miss(p, k0) + log_all_miss(q, k1));
    }
    double alive[MODEL_TOLERANCE_MAX + 1] = {1}; /* so many inverted among the bits so far */
    double above = 0;
    for (uint32_t t = 0; t < k0 + k1; t++) {
        double wrong = t < k0 ? p : q;
        above += alive[b] * wrong;
        for (uint32_t i = b; i > 0; i--) {
            alive[i] = alive[i] * (1 - wrong) + alive[i - 1] * wrong;
        }
        alive[0] *= 1 - wrong;
    }
    return at_most_one(above);
}

/* ---- false positives ------------------------------------------------------------------------- */

double tepal_generalized_fp_classic(uint64_t m, uint64_t n, uint32_t k0, uint32_t k1, double p0)
{
    double p = tepal_generalized_zero(m, n, k0, k1, p0);
    double b0 = (double)m * tepal_generalized_q0(m, k0, k1);
    double b1 = (double)m * tepal_generalized_q1(m, k0, k1);
    return pow(p, b0) * pow(1 - p, b1);
}

static bool valid_tolerance(uint32_t k0, uint32_t k1, uint32_t b)
{
    return b <= MODEL_TOLERANCE_MAX || b >= (uint64_t)k0 + k1;
}

double tepal_generalized_fp_approx(uint64_t m, uint64_t n, uint32_t k0, uint32_t k1, uint32_t b,
                                   double p0)
{
    double p = tepal_generalized_zero_approx(m, n, k0, k1, p0);
    return isnan(p) || !valid_tolerance(k0, k1, b) ? NAN
                                                   : tepal_model_sum_at_most(k0, 1 - p, k1, p, b);
}

/*
 * The largest value of a function with one hill, on 0..1: uphill from *at until the top is between
 * two lower points, then parabolas through the three, which close in fast. *at gets where.
 */
struct passing {
    uint32_t k0;
    uint32_t k1;
    uint32_t b;
};

static double passes(const struct passing *of, double p)
{
    return tepal_model_sum_at_most(of->k0, 1 - p, of->k1, p, of->b);
}

struct hill {
    double x[3];
    double y[3]; /* y[1] is the highest so far */
};

#define STRIDE (1 / 16.0)

static struct hill uphill(const struct passing *of, double at)
{
    struct hill h = {{fmax(at - STRIDE, 0), at, fmin(at + STRIDE, 1)}, {0, 0, 0}};
    for (int i = 0; i < 3; i++) {
        h.y[i] = passes(of, h.x[i]);
    }
    while (h.y[0] > h.y[1] && h.x[0] > 0) {
        double x = fmax(h.x[0] - STRIDE, 0);
        h = (struct hill){{x, h.x[0], h.x[1]}, {passes(of, x), h.y[0], h.y[1]}};
    }
    while (h.y[2] > h.y[1] && h.x[2] < 1) {
        double x = fmin(h.x[2] + STRIDE, 1);
        h = (struct hill){{h.x[1], h.x[2], x}, {h.y[1], h.y[2], passes(of, x)}};
    }
    return h;
}

/* Where the parabola through the three has its top; or within the wider side, if that is no use. */
static double vertex(const struct hill *h, bool halve)
{
    double left = h->x[1] - h->x[0];
    double right = h->x[2] - h->x[1];
    double p = left * left * (h->y[1] - h->y[2]) - right * right * (h->y[1] - h->y[0]);
    double q = left * (h->y[1] - h->y[2]) + right * (h->y[1] - h->y[0]);
    double x = h->x[1] - p / (2 * q);
    if (halve || !(x > h->x[0] && x < h->x[2])) {
        x = left > right ? h->x[1] - 0.38 * left : h->x[1] + 0.38 * right;
    }
    return x;
}

static double hilltop(const struct passing *of, double *at)
{
    struct hill h = uphill(of, *at);
    double width = 1;
    for (int i = 0; i < 60 && h.x[2] - h.x[0] > 1e-7; i++) {
        bool slow = i % 3 == 2 && h.x[2] - h.x[0] > width / 2;
        width = i % 3 == 2 ? h.x[2] - h.x[0] : width;
        double x = vertex(&h, slow);
        double y = passes(of, x);
        bool near = fabs(x - h.x[1]) < 1e-6; /* then the value is right to 1e-13 */
        int higher = y > h.y[1];
        int right = x > h.x[1];
        if (higher) {
            h.x[right ? 0 : 2] = h.x[1];
            h.y[right ? 0 : 2] = h.y[1];
        }
        h.x[higher ? 1 : right ? 2 : 0] = x;
        h.y[higher ? 1 : right ? 2 : 0] = y;
        if (near && !slow) {
            break;
        }
    }
    *at = h.x[1];
    return h.y[1];
}

static bool unbounded(uint32_t k0, uint32_t k1, uint32_t b)
{
    return b >= (k0 < k1 ? k0 : k1);
}

double tepal_generalized_worst_zero(uint32_t k0, uint32_t k1, uint32_t b)
{
    if (unbounded(k0, k1, b) || b > MODEL_TOLERANCE_MAX) {
        return NAN;
    }
    double at = zero_share_approx(k0, k1);
    if (b > 0) {
        (void)hilltop(&(struct passing){k0, k1, b}, &at);
    }
    return at;
}

double tepal_model_fp_bound(uint32_t k0, uint32_t k1, uint32_t b, double *at)
{
    return b == 0 ? passes(&(struct passing){k0, k1, 0}, *at = zero_share_approx(k0, k1))
                  : hilltop(&(struct passing){k0, k1, b}, at);
}

double tepal_generalized_fp_bound(uint32_t k0, uint32_t k1, uint32_t b)
{
    if (!valid(1, k0, k1) || unbounded(k0, k1, b)) {
        return valid(1, k0, k1) ? 1 : NAN;
    }
    double at = zero_share_approx(k0, k1);
    return b > MODEL_TOLERANCE_MAX ? NAN : tepal_model_fp_bound(k0, k1, b, &at);
}

/* ---- false negatives ------------------------------------------------------------------------- */

double tepal_generalized_fn_age_classic(uint64_t m, uint64_t age, uint32_t k0, uint32_t k1)
{
    double log_r = log_untouched(m, age, k0, k1);
    double zeros = zero_share(m, k0, k1);
    double b0 = (double)m * tepal_generalized_q0(m, k0, k1);
    double b1 = (double)m * tepal_generalized_q1(m, k0, k1);
    /* p00 = 1 - (1 - zeros)(1 - r), p11 = 1 - zeros (1 - r) */
    return valid(m, k0, k1) ? -expm1(log_all_miss(-(1 - zeros) * expm1(log_r), b0) +
                                     log_all_miss(-zeros * expm1(log_r), b1))
                            : NAN;
}

double tepal_generalized_fn_age_approx(uint64_t m, uint64_t age, uint32_t k0, uint32_t k1,
                                       uint32_t b)
{
    if (!valid(m, k0, k1) || !valid_tolerance(k0, k1, b)) {
        return NAN;
    }
    double touched = -expm1(log_untouched_approx(m, age, k0, k1));
    double zeros = zero_share_approx(k0, k1);
    return tepal_model_sum_above(k0, (1 - zeros) * touched, k1, zeros * touched, b);
}

double tepal_generalized_fn_bound(uint64_t m, uint64_t n, uint32_t k0, uint32_t k1, uint32_t b)
{
    return tepal_generalized_fn_age_approx(m, n, k0, k1, b);
}

/* Up to so many keys are summed one by one. */
#define SUM_MAX 65536

/*
 * The mean of f at the ages 0 .. n-1; f is 0 at age 0. Beyond SUM_MAX terms the sum is an integral
 * and half its last term (Euler and Maclaurin), by Simpson's rule over ages that are spaced as
 * squares: dense where the curve rises, however far it then stays flat.
 */
typedef double by_age(uint64_t m, uint64_t age, uint32_t k0, uint32_t k1, uint32_t b);

static double mean_over_ages(by_age *f, uint64_t m, uint64_t n, uint32_t k0, uint32_t k1,
                             uint32_t b)
{
    double sum = 0;
    if (n <= SUM_MAX) {
        for (uint64_t age = 0; age < n; age++) {
            sum += f(m, age, k0, k1, b);
        }
        return n == 0 ? 0 : sum / (double)n;
    }
    const int parts = 8192;
    double last = (double)(n - 1);
    for (int i = 0; i <= parts; i++) {
        double x = (double)i / parts;
        double weight = i == 0 || i == parts ? 1 : i % 2 == 1 ? 4 : 2;
        double age = last * x * x + 0.5; /* which may be rounded to 2^64 */
        sum += weight * 2 * x * f(m, age < 0x1p64 ? (uint64_t)age : n - 1, k0, k1, b);
    }
    return (sum / (3 * parts) * last + f(m, n - 1, k0, k1, b) / 2) / (double)n;
}

static double classic_by_age(uint64_t m, uint64_t age, uint32_t k0, uint32_t k1, uint32_t b)
{
    (void)b;
    return tepal_generalized_fn_age_classic(m, age, k0, k1);
}

double tepal_generalized_fn_classic(uint64_t m, uint64_t n, uint32_t k0, uint32_t k1)
{
    return valid(m, k0, k1) ? mean_over_ages(classic_by_age, m, n, k0, k1, 0) : NAN;
}

double tepal_generalized_fn_approx(uint64_t m, uint64_t n, uint32_t k0, uint32_t k1, uint32_t b)
{
    return valid(m, k0, k1) && valid_tolerance(k0, k1, b)
               ? mean_over_ages(tepal_generalized_fn_age_approx, m, n, k0, k1, b)
               : NAN;
}
