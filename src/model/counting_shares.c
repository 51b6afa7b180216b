/*
 * counting_shares.c: the expected share of counters at each value, flat layout.
 *
 * With one choice a counter is binomial. With c > 1 choices the shares have no closed form. In the
 * limit of many counters, each key sees c candidates whose counters are drawn from the shares p_v;
 * the chosen one's moves change them: a system of differential equations, solved here
 * (share_rates).
 */
#include "model/counting.h"

#include <math.h>

#include "model/numeric.h"

/* One choice: a counter is hit by each of n keys with chance h = 1 - (1 - 1/m)^k. */
static void one_choice(uint64_t m, uint64_t n, uint32_t k, struct counting_shares *shares)
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

/* Binomial coefficients up to k. */
struct coefficients {
    double of[TEPAL_MAX_HASHES + 1][TEPAL_MAX_HASHES + 1];
};

static void pascal(uint32_t k, struct coefficients *choose)
{
    for (uint32_t i = 0; i <= k; i++) {
        choose->of[i][0] = 1;
        choose->of[i][i] = 1;
        for (uint32_t j = 1; j < i; j++) {
            choose->of[i][j] = choose->of[i - 1][j - 1] + choose->of[i - 1][j];
        }
    }
}

/* What each key chooses from, and how. */
struct candidates {
    uint32_t k;
    uint32_t c;
    bool improved;
    struct coefficients choose;
};

/* Of a chance and of its complement. */
struct powers {
    double yes[TEPAL_MAX_HASHES + 1];
    double no[TEPAL_MAX_HASHES + 1];
};

static void powers_of(double p, uint32_t k, struct powers *powers)
{
    powers->yes[0] = powers->no[0] = 1;
    for (uint32_t i = 0; i < k; i++) {
        powers->yes[i + 1] = powers->yes[i] * p;
        powers->no[i + 1] = powers->no[i] * (1 - p);
    }
}

/*
 * Candidates in the order of preference; a candidate of weight w is chosen if all c are not better
 * and not all are worse: left^c - (left - w)^c, where `left` is the weight of it and all worse.
 */
static struct chosen choose_best(const double *share, const struct candidates *from)
{
    const uint32_t k = from->k;
    struct chosen chosen = {0, 0};
    struct powers zero;
    struct powers one;
    double above = 1 - share[0];
    double q = above > 0 ? share[1] / above : 0;
    double left = 1;
    powers_of(share[0], k, &zero);
    powers_of(q, k, &one);
    for (uint32_t z = 0; z <= k; z++) {
        double of_z = from->choose.of[k][z] * zero.yes[z] * zero.no[k - z];
        double taken = whole_power(left, from->c);
        if (!from->improved) {
            double rest = left - of_z > 0 ? left - of_z : 0;
            double chance = taken - whole_power(rest, from->c);
            chosen.zeros += chance * z;
            chosen.ones += chance * (k - z) * q;
            left = rest;
            continue;
        }
        for (uint32_t o = k - z + 1; o-- > 0;) {
            double w = of_z * from->choose.of[k - z][o] * one.yes[o] * one.no[k - z - o];
            double rest = left - w > 0 ? left - w : 0;
            double after = whole_power(rest, from->c);
            chosen.zeros += (taken - after) * z;
            chosen.ones += (taken - after) * o;
            taken = after;
            left = rest;
        }
    }
    return chosen;
}

/* How the shares move with each key, in units of 1/m. */
static void share_rates(const struct counting_shares *shares, const struct candidates *from,
                        struct counting_shares *rates)
{
    const double *share = shares->of;
    double *rate = rates->of;
    struct chosen chosen = choose_best(share, from);
    double above = 1 - share[0] - share[1];
    double others = (double)from->k - chosen.zeros - chosen.ones;
    double out = chosen.ones;
    rate[0] = -chosen.zeros;
    rate[1] = chosen.zeros - chosen.ones;
    for (uint32_t v = 2; v < shares->values; v++) {
        double in = out;
        out = v + 1 < shares->values && above > 0 ? others * share[v] / above : 0;
        rate[v] = in - out;
    }
}

static void step(struct counting_shares *shares, const struct counting_shares *start,
                 const struct counting_shares *rates, double by)
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
                         struct counting_shares *shares)
{
    double h = (double)n / (double)m / STEPS;
    struct candidates from = {.k = k, .c = c, .improved = improved};
    pascal(k, &from.choose);
    for (uint32_t v = 0; v < shares->values; v++) {
        shares->of[v] = v == 0;
    }
    for (int i = 0; i < STEPS; i++) {
        struct counting_shares r[4];
        struct counting_shares at;
        share_rates(shares, &from, &r[0]);
        step(&at, shares, &r[0], h / 2);
        share_rates(&at, &from, &r[1]);
        step(&at, shares, &r[1], h / 2);
        share_rates(&at, &from, &r[2]);
        step(&at, shares, &r[2], h);
        share_rates(&at, &from, &r[3]);
        for (uint32_t v = 0; v < shares->values; v++) {
            r[0].of[v] = (r[0].of[v] + 2 * r[1].of[v] + 2 * r[2].of[v] + r[3].of[v]) / 6;
        }
        step(shares, shares, &r[0], h);
    }
}

enum tepal_status tepal_model_counting_shares(uint64_t m, uint64_t n, uint32_t k, uint32_t c,
                                              bool improved, struct counting_shares *shares)
{
    if (m == 0 || k == 0 || k > TEPAL_MAX_HASHES || c == 0 || c > TEPAL_MAX_HASHES) {
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
                                        bool improved, double share[COUNTING_VALUES])
{
    struct counting_shares shares = {.values = COUNTING_VALUES};
    enum tepal_status status = tepal_model_counting_shares(m, n, k, c, improved, &shares);
    for (uint32_t v = 0; v < COUNTING_VALUES && status == TEPAL_OK; v++) {
        share[v] = shares.of[v];
    }
    return status;
}
