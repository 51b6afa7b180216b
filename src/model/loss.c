/*
 * loss.c: the members that are lost when bits of a Bloom filter are cleared and its members are not
 * known. Given which bits are ones, nothing distinguishes one of them from another: the positions
 * of the members (N of them, k for each of n members) lie on the X ones at random, at least one on
 * each. Bits that are chosen without looking at the members are a random sample of the ones.
 *
 * If V of the N positions are at cleared bits, a member keeps all its k with probability
 *
 *     q = (1 - V/N)^k           E[L] = n (1 - q)
 *
 * V is the sum of the counters of the cleared bits, if there are counters. Otherwise it is expected
 * to be s N/X for s cleared bits. (Algorithm 1's closed form in retouched.c is this with its s.)
 * Layouts in lines have fuller and emptier lines, and false positives lie in the full ones: N of a
 * line is taken in proportion to -ln(1 - X/512), which is how many keys its ones speak for.
 *
 * The variance has two parts:
 *
 *     who is hit      V of N positions are marked at random, in groups of k. Two members keep all
 *                     with probability q2: n q (1 - q) + n (n - 1) (q2 - q^2), where
 *                     q2 / q^2 = prod_{j<k} (1 - k V / ((N - j - k) (N - j - V))).
 *     how many        without counters V varies: each cleared bit has a Poisson number of owners
 *                     that is not 0, of variance u = mu (1 + lambda - mu), where mu = N/X and
 *                     mu = lambda / (1 - e^-lambda). dE[L]/dV = (1 - V/N)^(k-1).
 *
 * The interval is that of a normal distribution, rounded outwards, and within what is possible.
 */
#include "model/loss.h"

#include <math.h>

#include "base/wide.h"
#include "params/params.h"

#define NORMAL_99 2.5758

uint64_t tepal_loss_regions(const struct tepal_params *params)
{
    if (tepal_layout_in_lines(params->layout)) {
        return params->cells / TEPAL_LINE_BITS;
    }
    return params->layout == TEPAL_LAYOUT_PARTITIONED ? params->hashes : 1;
}

uint64_t tepal_loss_region_of(const struct tepal_params *params, uint64_t position)
{
    if (tepal_layout_in_lines(params->layout)) {
        return position / TEPAL_LINE_BITS;
    }
    if (params->layout != TEPAL_LAYOUT_PARTITIONED) {
        return 0;
    }
    /* slice i starts at floor(i m / k): the last one that starts at or before the position */
    wide_int scaled =
        wide_sub(wide_times(wide_of(position + 1), wide_of(params->hashes)), wide_of(1));
    return wide_low(wide_over(scaled, wide_of(params->cells)));
}

/* How many keys the ones of a line speak for, up to a factor. */
static double line_weight(double ones)
{
    double full = (double)TEPAL_LINE_BITS;
    return ones <= 0 ? 0 : -log1p(-fmin(ones, full - 0.5) / full);
}

/* The share of its positions that a region has lost. */
static double gone_share(const struct loss_region *r)
{
    return r->owners > 0 ? fmin(1, r->gone / r->owners) : 0;
}

/* What a region contributes to the share that a stage keeps. */
static double kept_in(const struct loss *loss, uint32_t stage, const struct loss_region *r)
{
    double weight = !loss->lines ? 1 : loss->owners > 0 ? r->owners / loss->owners : 0;
    return weight * pow(1 - gone_share(r), loss->positions[stage]);
}

void tepal_loss_open(struct loss *loss, const struct tepal_params *params, double members,
                     double owners, struct loss_region *region)
{
    uint32_t k = params->hashes;
    *loss = (struct loss){.members = members,
                          .counted = !isnan(owners),
                          .lines = tepal_layout_in_lines(params->layout),
                          .hashes = k,
                          .stages = 1,
                          .regions = tepal_loss_regions(params),
                          .region = region,
                          .owners = isnan(owners) ? members * k : owners};
    loss->positions[0] = k;
    if (params->layout == TEPAL_LAYOUT_PARTITIONED) {
        loss->stages = k;
        for (uint32_t i = 0; i < k; i++) {
            loss->positions[i] = 1;
        }
    } else if (params->layout == TEPAL_LAYOUT_PAIRED) {
        loss->stages = 2;
        loss->positions[0] = k - k / 2;
        loss->positions[1] = k / 2;
    }
    double weights = 0;
    for (uint64_t i = 0; i < loss->regions; i++) {
        weights += loss->lines ? line_weight(region[i].ones) : 1;
    }
    for (uint64_t i = 0; i < loss->regions; i++) {
        double weight = loss->lines ? line_weight(region[i].ones) : 1;
        region[i].owners = weights > 0 ? loss->owners * weight / weights : 0;
    }
    for (uint32_t i = 0; i < loss->stages; i++) {
        loss->kept[i] = 1;
    }
}

double tepal_loss_expected(const struct loss *loss)
{
    double kept = 1;
    for (uint32_t i = 0; i < loss->stages; i++) {
        kept *= loss->kept[i];
    }
    return loss->members * fmin(1, fmax(0, 1 - kept));
}

/* The region after one more of its bits was cleared. */
static struct loss_region without(const struct loss_region *r, double owners)
{
    struct loss_region after = *r;
    after.cleared++;
    after.gone += !isnan(owners) ? owners : r->ones > 0 ? r->owners / r->ones : 0;
    return after;
}

/* Is the stage in this region? */
static bool concerns(const struct loss *loss, uint32_t stage, uint64_t region)
{
    return loss->lines || loss->stages == 1 || stage == region;
}

double tepal_loss_after(const struct loss *loss, uint64_t region, double owners)
{
    struct loss_region after = without(&loss->region[region], owners);
    double kept = 1;
    for (uint32_t i = 0; i < loss->stages; i++) {
        double change = concerns(loss, i, region)
                            ? kept_in(loss, i, &after) - kept_in(loss, i, &loss->region[region])
                            : 0;
        kept *= loss->kept[i] + change;
    }
    return loss->members * fmin(1, fmax(0, 1 - kept));
}

void tepal_loss_clear(struct loss *loss, uint64_t region, double owners)
{
    struct loss_region after = without(&loss->region[region], owners);
    for (uint32_t i = 0; i < loss->stages; i++) {
        if (concerns(loss, i, region)) {
            loss->kept[i] += kept_in(loss, i, &after) - kept_in(loss, i, &loss->region[region]);
        }
    }
    loss->region[region] = after;
}

/* ---- the interval ---------------------------------------------------------------------------- */

/* mu and lambda of a Poisson number that is not 0: mu = lambda / (1 - e^-lambda), solved. */
static double lambda_of(double mu)
{
    double lambda = mu > 1 ? fmin(mu, 2 * (mu - 1)) : 0;
    for (int i = 0; i < 40 && lambda > 0; i++) {
        double e = exp(-lambda);
        double f = lambda / (1 - e) - mu;
        double slope = (1 - e - lambda * e) / ((1 - e) * (1 - e));
        lambda = fmax(lambda - f / slope, 1e-12);
    }
    return lambda;
}

/* The variance of how many owners the cleared bits have. */
static double owners_variance(const struct loss *loss)
{
    double sum = 0;
    for (uint64_t i = 0; i < loss->regions && !loss->counted; i++) {
        const struct loss_region *r = &loss->region[i];
        if (r->cleared > 0 && r->ones > 0) {
            double mu = r->owners / r->ones;
            sum += r->cleared * fmax(0, mu * (1 + lambda_of(mu) - mu));
        }
    }
    return sum;
}

/* The variance of how many of n members are hit when V of their N positions are marked. */
static double hits_variance(const struct loss *loss, double gone)
{
    double n = loss->members;
    double k = loss->hashes;
    double all = n * k; /* N, as if no member had a position twice */
    double marked = loss->owners > 0 ? all * fmin(1, gone / loss->owners) : 0;
    double log_q = 0;
    double log_pair = 0; /* log(q2 / q^2) */
    for (uint32_t j = 0; j < loss->hashes; j++) {
        double a = all - j;
        if (a - k <= 0 || a - marked <= 0 || k * marked >= (a - k) * (a - marked)) {
            return 0; /* so few members, or so much cleared, that all is lost */
        }
        log_q += log1p(-marked / a);
        log_pair += log1p(-k * marked / ((a - k) * (a - marked)));
    }
    double q = exp(log_q);
    return fmax(0, n * q * (1 - q) + n * (n - 1) * q * q * expm1(log_pair));
}

struct loss_interval tepal_loss_interval(const struct loss *loss)
{
    struct loss_interval out = {.expected = tepal_loss_expected(loss)};
    double gone = 0;
    double cleared = 0;
    for (uint64_t i = 0; i < loss->regions; i++) {
        gone += loss->region[i].gone;
        cleared += loss->region[i].cleared;
    }
    double share = loss->owners > 0 ? fmin(1, gone / loss->owners) : 0;
    double slope = pow(1 - share, (double)loss->hashes - 1);
    double variance = hits_variance(loss, gone) + slope * slope * owners_variance(loss);
    double reach = NORMAL_99 * sqrt(variance);
    out.low = fmax(0, floor(out.expected - reach));
    out.high = fmin(ceil(loss->members), ceil(out.expected + reach));
    if (cleared == 0) {
        out.high = 0;
    }
    return out;
}
