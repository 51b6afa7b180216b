/*
 * occupancy.c: how many ones an honest filter has.
 *
 * The number of ones is a sum over cells, so its variance is a sum over pairs of cells. Pairs come
 * in a few classes, alike within each: any two cells (flat); two of one slice; two of one sector,
 * of one line, of two lines. If a key leaves a given cell alone with chance u, and both cells of a
 * pair with chance u_c, then after n keys (q = u^n the share of zeros)
 *
 *     Var = m q (1 - q) + m sum over classes of (partners of a cell) (u_c^n - u^2n)
 *
 * and u_c^n - u^2n = q^2 expm1(n log(u_c / u^2)), where the ratio is written out by hand so that it
 * keeps its digits: it differs from 1 by about 1/m^2 for cells that have nothing in common.
 *
 * A generalized filter: a cell is 1 with chance x(t) after t keys, x(t+1) = q1 + u x(t). For a
 * pair, with D = P(both 1) - x^2, one key gives D' = C D + f0 + f1 x + f2 x^2, where
 * C = P(both alone),
 *
 *     f0 = P(both set) - q1^2,  f1 = 2 (P(one set, one alone) - q1 u),  f2 = C - u^2,
 *
 * each of the order 1/m^2 and again written out by hand. As x(t) = s + e u^t, the sum over t is
 * three geometric series.
 *
 * The distribution itself, for small flat filters: throw after throw, X grows by one with chance
 * (m - X) / m; for distinct positions the i-th throw of a key (from 0) with (m - X) / (m - i),
 * since the i cells it has already are ones. For the others the normal approximation is used. Sums
 * of so weakly dependent indicators are close to normal (Weiss 1958 for the flat layout); blocked
 * lines are nearly independent of each other.
 */
#include "model/occupancy.h"

#include <math.h>

#include "model/blocked.h"
#include "model/numeric.h"

#define EXACT_BITS  4096
#define EXACT_STEPS ((double)(1 << 22))

/* ---- Bloom filters: mean and variance -------------------------------------------------------- */

/* One class of pairs: how many partners each cell has in it, and log(u_c / u^2) of a key. */
struct pairs {
    double partners;
    double log_ratio;
};

static struct occupancy add_up(double cells, double n, double log_u, const struct pairs *pairs,
                               size_t count)
{
    struct occupancy o = {0, 0};
    if (n <= 0) {
        return o;
    }
    double q = exp(n * log_u);
    double sum = 1 - q;
    for (size_t i = 0; i < count && q > 0; i++) {
        if (pairs[i].partners > 0) {
            sum += pairs[i].partners * q * expm1(n * pairs[i].log_ratio);
        }
    }
    o.mean = -cells * expm1(n * log_u);
    o.variance = q > 0 && sum > 0 ? cells * q * sum : 0;
    return o;
}

/* k throws a key into m cells. */
static struct occupancy flat(double m, double n, double k, bool distinct)
{
    struct pairs any = {m - 1, 0};
    if (m > 1) {
        any.log_ratio = distinct ? log1p(-k / ((m - 1) * (m - k))) /* k = m: -inf, and q is 0 */
                                 : k * log1p(-1 / ((m - 1) * (m - 1)));
    }
    return add_up(m, n, distinct ? log1p(-k / m) : k * log1p(-1 / m), &any, 1);
}

static struct occupancy partitioned(uint64_t m, double n, uint32_t k)
{
    /* floor(i m / k) slices: so many are one cell larger than the others */
    double larger = (double)(m % k);
    struct occupancy small = flat((double)(m / k), n, 1, false);
    struct occupancy large = flat((double)(m / k + 1), n, 1, false);
    return (struct occupancy){larger * large.mean + ((double)k - larger) * small.mean,
                              larger * large.variance + ((double)k - larger) * small.variance};
}

/* log(1 - a) - 2 log(1 - b) */
static double log_ratio(double a, double b)
{
    return log1p(-a) - 2 * log1p(-b);
}

static struct occupancy blocked(double m, double n, uint32_t k, bool distinct)
{
    struct model_line_pairs p = tepal_model_line_pairs(k, (struct model_line){64, distinct});
    double lines = m / TEPAL_LINE_BITS;
    double b = p.hit / lines;
    const struct pairs classes[3] = {
        {63, log_ratio(p.hit_sector / lines, b)},
        {448, log_ratio(p.hit_line / lines, b)},
        {m - TEPAL_LINE_BITS, log1p(-b * b / ((1 - b) * (1 - b)))},
    };
    return add_up(m, n, log1p(-b), classes, 3);
}

/* Both lines of a key; `distinct`: never the same line twice. */
static struct occupancy paired(double m, double n, uint32_t k, bool distinct)
{
    struct model_line_pairs p1 =
        tepal_model_line_pairs((k + 1) / 2, (struct model_line){64, distinct});
    struct model_line_pairs p2 = tepal_model_line_pairs(k / 2, (struct model_line){64, distinct});
    double lines = m / TEPAL_LINE_BITS;
    double b1 = p1.hit / lines;
    double b2 = p2.hit / lines;
    if (!distinct) {
        const struct pairs classes[3] = {
            {63, log_ratio(p1.hit_sector / lines, b1) + log_ratio(p2.hit_sector / lines, b2)},
            {448, log_ratio(p1.hit_line / lines, b1) + log_ratio(p2.hit_line / lines, b2)},
            {m - TEPAL_LINE_BITS,
             log1p(-b1 * b1 / ((1 - b1) * (1 - b1))) + log1p(-b2 * b2 / ((1 - b2) * (1 - b2)))},
        };
        return add_up(m, n, log1p(-b1) + log1p(-b2), classes, 3);
    }
    /* Two lines of the filter are both the key's with chance 2 / (L (L - 1)). */
    double b = b1 + b2;
    double both = 2 * p1.hit * p2.hit / (lines * (lines - 1));
    const struct pairs classes[3] = {
        {63, log_ratio((p1.hit_sector + p2.hit_sector) / lines, b)},
        {448, log_ratio((p1.hit_line + p2.hit_line) / lines, b)},
        {m - TEPAL_LINE_BITS, log1p((both - b * b) / ((1 - b) * (1 - b)))},
    };
    return add_up(m, n, log1p(-b), classes, 3);
}

struct occupancy tepal_occupancy_bloom(const struct tepal_params *p, uint64_t n)
{
    double m = (double)p->cells;
    bool distinct = p->positions == TEPAL_POSITIONS_DISTINCT;
    switch (p->layout) {
    case TEPAL_LAYOUT_FLAT:
        return flat(m, (double)n, p->hashes, distinct);
    case TEPAL_LAYOUT_PARTITIONED:
        return partitioned(p->cells, (double)n, p->hashes);
    case TEPAL_LAYOUT_BLOCKED:
        return blocked(m, (double)n, p->hashes, distinct);
    case TEPAL_LAYOUT_PAIRED:
        /* with one hash there is no second line */
        return p->hashes == 1 ? blocked(m, (double)n, 1, distinct)
                              : paired(m, (double)n, p->hashes, distinct);
    }
    return (struct occupancy){NAN, NAN};
}

/* ---- generalized filters: mean and variance -------------------------------------------------- */

/* What one key does to a cell: sets it, leaves it alone; and to the pairs of a class. */
struct step {
    double set;   /* q1 */
    double reset; /* q0 */
};

struct step_pairs {
    double partners;
    double f0, f1, f2;
};

/* sum over t < n of c^(n-1-t) r^t, where d = r - c is known better than the difference */
static double geometric(double log_c, double log_r, double d, double n)
{
    if (n <= 0 || !isfinite(log_c)) {
        return n <= 0 ? 0 : exp((n - 1) * log_r);
    }
    double growth = n * (log_r - log_c);
    if (fabs(growth) < 1e-9) { /* all terms are alike */
        return n * exp((n - 1) * log_c);
    }
    if (fabs(growth) > 1) {
        return (exp(n * log_r) - exp(n * log_c)) / d;
    }
    return exp(n * log_c) * expm1(growth) / d;
}

static struct occupancy walk(double cells, double n, double zeros, struct step step,
                             const struct step_pairs *classes, size_t count)
{
    double touched = step.set + step.reset;
    double u = 1 - touched;
    double log_u = log1p(-touched);
    double steady = step.set / touched;
    double e = 1 - zeros - steady;
    double x = n > 0 ? steady + e * exp(n * log_u) : 1 - zeros;
    double sum = x * (1 - x);
    for (size_t i = 0; i < count; i++) {
        const struct step_pairs *c = &classes[i];
        if (c->partners <= 0) {
            continue;
        }
        double left = c->f2 - touched * (2 - touched); /* C - 1 */
        double log_c = log1p(left);
        double log_uu = log_c - log1p(c->f2 / (u * u));
        sum += c->partners *
               ((c->f0 + c->f1 * steady + c->f2 * steady * steady) * geometric(log_c, 0, -left, n) +
                e * (c->f1 + 2 * c->f2 * steady) * geometric(log_c, log_u, u * touched - c->f2, n) +
                e * e * c->f2 * geometric(log_c, log_uu, -c->f2, n));
    }
    return (struct occupancy){cells * x, sum > 0 ? cells * sum : 0};
}

/* c^2 - c2, where c = (1 - 1/m)^k and c2 = (1 - 2/m)^k: of the order k / m^2. */
static double spread(double m, double k, double c)
{
    return m > 1 ? -c * c * expm1(k * log1p(-1 / ((m - 1) * (m - 1)))) : 0;
}

static struct occupancy walk_flat(double m, double n, double k0, double k1, double zeros)
{
    double a = exp(k0 * log1p(-1 / m)); /* not reset */
    double c = exp(k1 * log1p(-1 / m)); /* not set */
    double da = -spread(m, k0, a);
    double dc = -spread(m, k1, c);
    double a2 = a * a + da;
    struct step step = {-expm1(k1 * log1p(-1 / m)) * a, -expm1(k0 * log1p(-1 / m))};
    struct step_pairs any = {m - 1, da * (1 - c) * (1 - c) + a2 * dc,
                             2 * (da * c * (1 - c) - a2 * dc), da * c * c + a2 * dc};
    return walk(m, n, zeros, step, &any, 1);
}

static struct occupancy walk_distinct(double m, double n, double k0, double k1, double zeros)
{
    double k = k0 + k1;
    double unit = 1 / (m * m * (m - 1));
    struct step step = {k1 / m, k0 / m};
    struct step_pairs any = {m - 1, -k1 * (m - k1) * unit, 2 * k1 * (m - k) * unit,
                             -k * (m - k) * unit};
    return walk(m, n, zeros, step, &any, 1);
}

/* k <= 8: one cell in each of k of the 8 sectors of a line, k1 of them set. */
static struct occupancy walk_blocked(double m, double n, double k0, double k1, double zeros)
{
    double k = k0 + k1;
    double lines = m / TEPAL_LINE_BITS;
    double q1 = k1 / m;
    double touched = k / m;
    double two = 1 / (56.0 * 64 * 64 * lines); /* two given cells in two given roles */
    struct step step = {q1, k0 / m};
    const struct step_pairs classes[3] = {
        /* of one sector: never both */
        {63, -q1 * q1, 2 * q1 * touched, -touched * touched},
        {448, k1 * (k1 - 1) * two - q1 * q1, 2 * (q1 * touched - k1 * (k - 1) * two),
         k * (k - 1) * two - touched * touched},
        {m - TEPAL_LINE_BITS, -q1 * q1, 2 * q1 * touched, -touched * touched},
    };
    return walk(m, n, zeros, step, classes, 3);
}

struct occupancy tepal_occupancy_generalized(const struct tepal_params *p, uint64_t n, uint32_t k0,
                                             uint32_t k1, double zeros)
{
    double m = (double)p->cells;
    bool distinct = p->positions == TEPAL_POSITIONS_DISTINCT;
    if (p->layout == TEPAL_LAYOUT_FLAT && (!distinct || p->hashes == 1)) {
        return walk_flat(m, (double)n, k0, k1, zeros);
    }
    if (p->layout == TEPAL_LAYOUT_FLAT) {
        return walk_distinct(m, (double)n, k0, k1, zeros);
    }
    if (p->layout == TEPAL_LAYOUT_BLOCKED && p->hashes <= 8) {
        return walk_blocked(m, (double)n, k0, k1, zeros);
    }
    return (struct occupancy){NAN, NAN};
}

/* ---- how likely a number is ------------------------------------------------------------------ */

/* P(Z >= z) */
static double upper_tail(double z)
{
    return 0.5 * erfc(z / sqrt(2));
}

struct occupancy_tails tepal_occupancy_normal(struct occupancy o, uint64_t ones)
{
    double off = (double)ones - o.mean;
    if (o.variance < 1e-9) { /* as good as certain */
        return (struct occupancy_tails){off > -0.5, off < 0.5};
    }
    double sigma = sqrt(o.variance);
    return (struct occupancy_tails){upper_tail((-off - 0.5) / sigma),
                                    upper_tail((off - 0.5) / sigma)};
}

/* One key more: k throws into m cells, of which `at[x]` is the chance that x are ones. */
static void throw_key(double *at, uint32_t m, uint32_t most, uint32_t k, bool distinct)
{
    for (uint32_t i = 0; i < k; i++) {
        double free = distinct ? m - i : m;
        for (uint32_t x = most; x > 0; x--) {
            at[x] = at[x] * (1 - (m - x) / free) + at[x - 1] * ((m - (x - 1)) / free);
        }
        at[0] *= 1 - m / free;
    }
}

/*
 * (For distinct positions 1 - (m - x) / (m - i) is negative where x < i, but nothing is there: a
 * key that has thrown i times has set i ones.)
 */
static struct occupancy_tails exact_tails(const struct tepal_params *p, uint64_t n, uint64_t ones)
{
    double at[EXACT_BITS + 1] = {1};
    uint32_t m = (uint32_t)p->cells;
    uint64_t throws = n * p->hashes;
    uint32_t most = throws < m ? (uint32_t)throws : m;
    struct occupancy_tails tails = {0, 0};
    for (uint64_t i = 0; i < n; i++) {
        throw_key(at, m, most, p->hashes, p->positions == TEPAL_POSITIONS_DISTINCT);
    }
    for (uint32_t x = 0; x <= most; x++) {
        tails.below += x <= ones ? at[x] : 0;
        tails.above += x >= ones ? at[x] : 0;
    }
    tails.below = at_most_one(tails.below);
    tails.above = at_most_one(tails.above);
    return tails;
}

struct occupancy_tails tepal_occupancy_tails(const struct tepal_params *p, uint64_t n,
                                             uint64_t ones)
{
    bool small =
        p->cells <= EXACT_BITS && (double)p->cells * (double)p->hashes * (double)n <= EXACT_STEPS;
    if (p->layout == TEPAL_LAYOUT_FLAT && small) {
        return exact_tails(p, n, ones);
    }
    return tepal_occupancy_normal(tepal_occupancy_bloom(p, n), ones);
}

/* ---- the fullest line ------------------------------------------------------------------------ */

/*
 * P(a line has `ones` or more): over its load, which is taken for Poisson (the binomial has lighter
 * tails), and over the ones that so many keys leave, with k different cells each. (For k > 8, and
 * for the second line of a pair, that is more than they set: the chance is overstated.)
 */
double tepal_occupancy_fullest(const struct tepal_params *p, uint64_t n, uint32_t ones)
{
    double at[TEPAL_LINE_BITS + 1] = {1};
    bool pairs = p->layout == TEPAL_LAYOUT_PAIRED && p->hashes > 1;
    uint32_t k = pairs ? (p->hashes + 1) / 2 : p->hashes;
    double lines = (double)(p->cells / TEPAL_LINE_BITS);
    double load = (pairs ? 2 : 1) * (double)n / lines;
    double chance = 0;
    if (lines < 2 || ones == 0 || n == 0 || load * k > 16 * TEPAL_LINE_BITS) {
        /* one line is all there is; any line has that; every line is full */
        return n == 0 && ones > 0 ? 0 : 1;
    }
    double most = load + 12 * sqrt(load) + 60;
    for (double j = 0; j <= most; j++) {
        double above = 0;
        for (uint32_t x = ones; x <= TEPAL_LINE_BITS; x++) {
            above += at[x];
        }
        chance += exp(j * log(load) - load - tepal_log_gamma(j + 1)) * above;
        throw_key(at, TEPAL_LINE_BITS, TEPAL_LINE_BITS, k, true);
    }
    return chance >= 1 ? 1 : at_most_one(-expm1(lines * log1p(-chance)));
}
