/*
 * generalized_plan.c: the solver of the generalized filter: the fewest bits a key that keep both
 * bounds, F_p and F_n.
 *
 * F_p depends on k0, k1 and the tolerance b alone, and falls as k0 or k1 grows; F_n, for given
 * hashes, depends on m/n alone. So for each b the hashes worth looking at are a staircase: for each
 * k0 the smallest k1 that keeps F_p (and, with the 1 % rule, a few above it). As k0 rises, k1
 * falls: some 2 * 64 values of F_p a staircase.
 *
 * The bits a key follow from F_n. With s = 1 - e^(-k n/m), the chance that a bit was touched, F_n
 * is a sum over binomials in s, about s^(b+1) where it is small: a straight line in logarithms,
 * solved by secants.
 */
#include "model/generalized.h"

#include <math.h>

#define TOUCHED_MOST (1 - 1e-6) /* practically everything was overwritten */
#define NEAR_BEST    1.01

#define TOLERANCES (TEPAL_MAX_HASHES / 2)

struct search {
    double fp;
    double fn;
    uint32_t max_hashes;
    double fewest; /* bits a key so far */
    double fewest_with[TOLERANCES];
    bool choosing; /* second pass: the lowest F_p within 1 % of the fewest */
    bool found;
    struct tepal_generalized_setting best;
};

static double forgotten(const struct tepal_generalized_setting *p, double touched)
{
    double k = (double)p->k0 + (double)p->k1;
    return tepal_model_sum_above(p->k0, p->k1 / k * touched, p->k1, p->k0 / k * touched,
                                 p->tolerance);
}

static double touched_at(const struct tepal_generalized_setting *p, double bits_per_key)
{
    return -expm1(-((double)p->k0 + (double)p->k1) / bits_per_key);
}

/* The largest s with F_n(s) <= fn: regula falsi on log F_n over log s, Illinois style. */
static double solve_touched(const struct tepal_generalized_setting *p, double fn)
{
    double high = log(TOUCHED_MOST);
    double at_high = log(forgotten(p, TOUCHED_MOST) / fn);
    if (at_high <= 0) {
        return TOUCHED_MOST;
    }
    double low = high;
    double at_low = at_high;
    while (at_low > 0) {
        high = low;
        at_high = at_low;
        low -= fmax(0.1, at_low / (p->tolerance + 1) * 1.05);
        at_low = log(forgotten(p, exp(low)) / fn);
    }
    for (int i = 0; i < 60 && high - low > 1e-10; i++) {
        double x = low - at_low * (high - low) / (at_high - at_low);
        double at = log(forgotten(p, exp(x)) / fn);
        if (at <= 0) {
            low = x;
            at_low = at;
            at_high /= 2;
        } else {
            high = x;
            at_high = at;
            at_low /= 2;
        }
        if (fabs(at) < 1e-10) {
            break;
        }
    }
    return exp(low);
}

/* Is this plan better than the best so far? Most are refused by one look at F_n. */
static bool look(struct search *s, struct tepal_generalized_setting *p)
{
    double limit = s->choosing ? s->fewest * NEAR_BEST : s->fewest;
    limit = s->choosing ? limit : fmin(limit * NEAR_BEST, s->fewest_with[p->tolerance]);
    if (limit < INFINITY && forgotten(p, touched_at(p, limit)) > s->fn) {
        return false;
    }
    double k = (double)p->k0 + (double)p->k1;
    double touched = solve_touched(p, s->fn);
    p->bits_per_key = -k / log1p(-touched);
    s->fewest_with[p->tolerance] = fmin(s->fewest_with[p->tolerance], p->bits_per_key);
    p->fn_bound = forgotten(p, touched);
    /* Exchanged, k0 and k1 have the same F_p, but for roundings: the first one is taken. */
    bool better = s->choosing ? !s->found || p->fp_bound < s->best.fp_bound * (1 - 1e-12)
                              : p->bits_per_key < s->fewest;
    if (better) {
        s->best = *p;
        s->found = true;
        s->fewest = s->choosing ? s->fewest : p->bits_per_key;
    }
    return true;
}

/* Is F_p too high? Most are told by one look at the worst share of zeros of a neighbour. */
static bool too_high(const struct search *s, struct tepal_generalized_setting *p, double *at)
{
    if (tepal_model_sum_at_most(p->k0, 1 - *at, p->k1, *at, p->tolerance) > s->fp) {
        return true;
    }
    p->fp_bound = tepal_model_fp_bound(p->k0, p->k1, p->tolerance, at);
    return p->fp_bound > s->fp;
}

static void climb(struct search *s, uint32_t b)
{
    uint32_t k1 = s->max_hashes;
    double at = 0.5;
    if (s->choosing && s->fewest_with[b] > s->fewest * NEAR_BEST) {
        return; /* not one is near */
    }
    for (uint32_t k0 = b + 1; k0 + b + 1 <= s->max_hashes; k0++) {
        k1 = k0 + k1 > s->max_hashes ? s->max_hashes - k0 : k1;
        struct tepal_generalized_setting p = {.k0 = k0, .k1 = k1, .tolerance = b};
        if (too_high(s, &p, &at)) {
            continue;
        }
        while (k1 > b + 1) {
            struct tepal_generalized_setting fewer = {.k0 = k0, .k1 = k1 - 1, .tolerance = b};
            double there = at;
            if (too_high(s, &fewer, &there)) {
                break;
            }
            p = fewer;
            k1--;
            at = there;
        }
        bool near = look(s, &p);
        for (p.k1 = k1 + 1; s->choosing && near && k0 + p.k1 <= s->max_hashes; p.k1++) {
            double there = at;
            p.fp_bound = tepal_model_fp_bound(k0, p.k1, b, &there);
            near = look(s, &p);
        }
    }
}

enum tepal_status tepal_generalized_size(double fp, double fn, uint32_t tolerance,
                                         uint32_t max_hashes, struct tepal_generalized_setting *out)
{
    if (!(fp > 0 && fp < 1) || !(fn > 0 && fn < 1) || max_hashes < 2 ||
        max_hashes > TEPAL_MAX_HASHES ||
        (tolerance != TEPAL_GENERALIZED_ANY && tolerance > MODEL_TOLERANCE_MAX)) {
        return TEPAL_BAD_ARGUMENT;
    }
    if (tolerance != TEPAL_GENERALIZED_ANY && tolerance >= TOLERANCES) {
        return TEPAL_TOO_LARGE; /* more than half of the hashes bound nothing */
    }
    struct search s = {.fp = fp, .fn = fn, .max_hashes = max_hashes, .fewest = INFINITY};
    for (uint32_t b = 0; b < TOLERANCES; b++) {
        s.fewest_with[b] = INFINITY;
    }
    uint32_t first = tolerance == TEPAL_GENERALIZED_ANY ? 0 : tolerance;
    uint32_t last = tolerance == TEPAL_GENERALIZED_ANY ? max_hashes / 2 - 1 : tolerance;
    for (uint32_t b = first; b <= last; b++) {
        climb(&s, b);
    }
    if (!s.found) {
        return TEPAL_TOO_LARGE;
    }
    s.choosing = true;
    s.found = false;
    for (uint32_t b = first; b <= last; b++) {
        climb(&s, b);
    }
    *out = s.best;
    return TEPAL_OK;
}
