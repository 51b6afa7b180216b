/*
 * retouched.c: what clearing bits of a Bloom filter does to its two errors (B. Donnet, B. Baynat
 * and T. Friedman, Retouched Bloom Filters, CoNEXT 2006), flat layout.
 *
 * Clearing bits at random (Sec. III-B). Of the p1 m ones, s are cleared. A false positive has k
 * ones, and so has a member; each survives if none of its k was cleared:
 *
 *     r_s = (1 - s / (p1 m))^k          eqs. (13), (16)
 *
 * The same share of both goes: chi = 1, whatever s. That is what any method has to beat.
 *
 * Random selection (Algorithm 1) clears one bit of every troublesome key that is still found. Let y
 * be the share of the X ones that are cleared when t of the b keys have been looked at. The next
 * key is still found with chance (1 - y)^k, and then one more bit goes:
 *
 *     X dy/dt = (1 - y)^k,   y(0) = 0   -->   y = 1 - (1 + (k-1) t / X)^(-1/(k-1))
 *
 * and for k = 1 the limit 1 - e^(-t/X). Members and the other false positives lose the share
 * 1 - (1 - y)^k.
 *
 * The formulas leave out that a key's positions may collide and that the bits of B are not quite a
 * random sample of the ones: below 1 % at the paper's sizes.
 */
#include <tepal/papers.h>

#include <math.h>

#include "base/refuse.h"
#include "model/model.h"

static bool valid(uint64_t m, uint32_t k)
{
    return m >= 1 && k >= 1 && k <= TEPAL_MAX_HASHES;
}

double tepal_retouched_zero(uint64_t m, uint64_t n, uint32_t k)
{
    if (!valid(m, k)) {
        return NAN;
    }
    /* m = 1: log1p(-1) is -infinity, and 0 keys leave the bit alone all the same. */
    return n == 0 ? 1 : exp((double)k * (double)n * log1p(-1 / (double)m));
}

double tepal_retouched_zero_approx(uint64_t m, uint64_t n, uint32_t k)
{
    return valid(m, k) ? exp(-(double)k * (double)n / (double)m) : NAN;
}

double tepal_retouched_best_hashes(uint64_t m, uint64_t n)
{
    return m >= 1 && n >= 1 ? (double)m / (double)n * log(2) : NAN;
}

double tepal_retouched_least_fp(uint64_t m, uint64_t n)
{
    return exp2(-tepal_retouched_best_hashes(m, n));
}

double tepal_retouched_kept(uint64_t m, uint64_t n, uint32_t k, double s)
{
    double ones = (1 - tepal_retouched_zero(m, n, k)) * (double)m;
    return s >= 0 && s <= ones && ones > 0 ? pow(1 - s / ones, k) : NAN;
}

double tepal_retouched_chi(double fp, double fp_after, double fn)
{
    return (fp - fp_after) / fp / fn;
}

enum tepal_status tepal_retouched_random(uint64_t n, uint32_t k, double ones, double b,
                                         double false_positives, double *cleared,
                                         double *false_negatives, double *beyond)
{
    if (!valid(1, k) || !(ones > 0) || !(b >= 0) || !(b <= false_positives) ||
        isinf(false_positives)) {
        return TEPAL_BAD_ARGUMENT;
    }
    double others = (double)k - 1;
    /* log(1 - y), and from it what members and other false positives lose */
    double log_kept = k == 1 ? -b / ones : -log1p(others * b / ones) / others;
    double lost = -expm1((double)k * log_kept);
    if (cleared != NULL) {
        *cleared = -expm1(log_kept) * ones;
    }
    if (false_negatives != NULL) {
        *false_negatives = (double)n * lost;
    }
    if (beyond != NULL) {
        *beyond = (false_positives - b) * lost;
    }
    return TEPAL_OK;
}

enum tepal_status tepal_model_retouched(const struct tepal_params *params,
                                        const struct tepal_use *use, struct tepal_report *report,
                                        struct tepal_error *error)
{
    struct tepal_params p = *params;
    uint64_t n = use->keys;
    uint64_t universe = use->universe;
    double beta = use->share_removed;
    uint64_t bits = use->bits_cleared;
    if (p.layout != TEPAL_LAYOUT_FLAT || p.positions != TEPAL_POSITIONS_COLLIDING) {
        return refuse(
            error, TEPAL_BAD_ARGUMENT,
            "the model of retouching holds only for the flat layout with colliding positions");
    }
    if (p.hashes == 0 && p.cells != 0) {
        p.hashes = tepal_bloom_best_hashes(p.layout, p.positions, p.cells, n);
    }
    enum tepal_status status = tepal_params_check(&p, error);
    if (status != TEPAL_OK) {
        return status;
    }
    if (n == 0 || universe <= n) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "there must be members, and the universe must be larger than their number");
    }
    if (!(beta >= 0 && beta <= 1)) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "beta, the share of false positives to remove, is outside 0..1");
    }
    double m = (double)p.cells;
    double zero = tepal_retouched_zero(p.cells, n, p.hashes);
    double ones = (1 - zero) * m;
    double s = (double)bits;
    if (s > ones) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "more bits to clear than are set in the filter");
    }
    double fp = tepal_bloom_fp_classic(p.cells, n, p.hashes);
    double all = fp * (double)(universe - n);
    double kept = tepal_retouched_kept(p.cells, n, p.hashes, s);
    report->count = 0;
    report->numbers = 0;
    tepal_report_text(report, "kind", "the kind of filter", "retouched");
    tepal_report_integer(report, "bits", "m", p.cells);
    tepal_report_integer(report, "hashes", "k", p.hashes);
    tepal_report_integer(report, "members", "n", n);
    tepal_report_integer(report, "universe", "N, including the members", universe);
    tepal_report_real(report, "zero", "p0 = (1 - 1/m)^(kn), eq. (2)", zero);
    tepal_report_real(report, "zero_approx", "e^(-kn/m), eq. (3)",
                      tepal_retouched_zero_approx(p.cells, n, p.hashes));
    tepal_report_real(report, "fill", "p1 = 1 - p0, eq. (4)", 1 - zero);
    tepal_report_real(report, "fp", "p1^k, eq. (5)", fp);
    tepal_report_real(report, "fp_approx", "(1 - e^(-kn/m))^k, eq. (5)",
                      tepal_bloom_fp_approx(p.cells, n, p.hashes));
    tepal_report_real(report, "best_hashes", "(m/n) ln 2, eq. (6)",
                      tepal_retouched_best_hashes(p.cells, n));
    tepal_report_real(report, "least_fp", "(1/2)^((m/n) ln 2), eq. (7)",
                      tepal_retouched_least_fp(p.cells, n));
    tepal_report_real(report, "false_positives", "|F_P| = fp (N - n), eq. (1)", all);
    tepal_report_integer(report, "random_bits", "s, bits cleared at random", bits);
    tepal_report_real(report, "random_bits_kept", "r_s = (1 - s/(p1 m))^k, eq. (16)", kept);
    tepal_report_real(report, "random_bits_fp", "false-positive rate then, fp r_s, eq. (8)",
                      fp * kept);
    tepal_report_real(report, "random_bits_fn", "false-negative rate then, 1 - r_s, eq. (15)",
                      1 - kept);
    tepal_report_real(report, "random_bits_chi", "eq. (12): 1 for every s",
                      tepal_retouched_chi(fp, fp * kept, 1 - kept));
    double cleared;
    double lost;
    double beyond;
    double b = beta * all;
    status = tepal_retouched_random(n, p.hashes, ones, b, all, &cleared, &lost, &beyond);
    if (status != TEPAL_OK) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "no bit is set in the filter: there is nothing to retouch");
    }
    tepal_report_real(report, "beta", "share of the false positives to remove, eq. (17)", beta);
    tepal_report_real(report, "avoid", "|B| = beta |F_P|", b);
    tepal_report_real(report, "random_cleared", "bits cleared by random selection", cleared);
    tepal_report_real(report, "random_false_negatives", "members it loses, n (1 - (1-y)^k)", lost);
    tepal_report_real(report, "random_beyond", "false positives it removes beyond B", beyond);
    tepal_report_real(report, "random_fp", "false-positive rate then, eq. (8)",
                      (all - b - beyond) / (double)(universe - n));
    tepal_report_real(report, "random_fn", "false-negative rate then, eq. (9)", lost / (double)n);
    tepal_report_real(report, "random_chi", "eq. (12)", (b + beyond) / all / (lost / (double)n));
    return TEPAL_OK;
}
