/*
 * recycling.c: the recycling filter exactly (Dozier, Salamatian and Rubenstein 2024), flat layout.
 *
 * A phase that has b bits set is the state b of a chain; each new message moves it from i to
 * j = i .. i + k with chance tau_k(i, j), and beyond sigma it recycles. All that is wanted is g(b),
 * how often on average a cycle's messages find the state b, when the cycle begins in state 0:
 *
 *     E[N0] = sum g(b)      f = sum g(b) rho(b) / E[N0]      rho(b) = (b/M)^k or C(b,k)/C(M,k)
 *
 * tau is never built. Throw the k positions of a message one after the other, and let h_t(b) be the
 * expected number of messages of a cycle that stand at b after t throws:
 *
 *     h_0 = g     h_t(b) = h_(t-1)(b) x_t + h_(t-1)(b-1) y_t     h_k(b) = g(b), 1 <= b <= sigma
 *
 *     x_t = b/M,               y_t = (M-b+1)/M             positions colliding     eq. (4)
 *     x_t = (b-t+1)/(M-t+1),   y_t = (M-b+1)/(M-t+1)       positions distinct      eq. (11)
 *
 * h_t(b) contains g(b) x_1 ... x_t; call the rest c_t. Then c_t = c_(t-1) x_t + h_(t-1)(b-1) y_t,
 * g(b) = c_k / (1 - x_1 ... x_k), and h follows: one sweep over b with k numbers of memory, all of
 * them positive. A cycle that retains its trigger begins one message later, in the state that this
 * message makes: it never finds 0, so all sums lose the one message of state 0 (whose rho is 0).
 *
 * The phase that freezes: without its trigger it stands at i with chance g(i) P(beyond sigma from
 * i), eq. (24); with it, at j > sigma with chance h_k(j), for which the sweep is run k states on
 * with g = 0. The phases of different cycles are independent of each other when every message is
 * inserted, so that their chances to say no multiply, eq. (26).
 */
#include "model/recycling.h"

#include "model/blocked.h"
#include "model/numeric.h"
#include "params/params.h"

#include <math.h>

bool tepal_model_recycling_valid(const struct tepal_recycling_setting *s, bool planning)
{
    uint32_t k = s->hashes == 0 && planning ? 1 : s->hashes;
    return s->bits <= PARAMS_MAX_CELLS &&
           isfinite(tepal_bloom_fill(s->layout, s->positions, s->bits, 1, k)) && s->phases >= 1 &&
           s->phases <= 64 && (planning || (s->sigma >= k && s->sigma < s->bits));
}

/* ---- the rate at a state --------------------------------------------------------------------- */

static double flat_rate(bool distinct, double m, double ones, uint32_t k)
{
    if (!distinct) {
        return pow(ones / m, k);
    }
    double rate = 1;
    for (uint32_t i = 0; i < k; i++) {
        rate *= ones > i ? (ones - i) / (m - i) : 0;
    }
    return rate;
}

double tepal_model_recycling_keys(const struct tepal_recycling_setting *s, double ones)
{
    /* Every layout's fill is 1 - (1 - q)^n, where q is the share that one key sets. */
    double q = tepal_bloom_fill(s->layout, s->positions, s->bits, 1, s->hashes);
    double share = ones / (double)s->bits;
    return share < 1 ? log1p(-share) / log1p(-q) : INFINITY;
}

/* Between whole numbers of keys, as the accounts in files have it: they must not change. */
static double between(const struct tepal_recycling_setting *s, double n)
{
    double whole = n > 1e7 ? rint(n) : floor(n);
    if (!(n < 1e18)) {
        return 1;
    }
    double low = tepal_bloom_fp(s->layout, s->positions, s->bits, (uint64_t)whole, s->hashes);
    if (n > 1e7) { /* among so many keys one more does not matter */
        return low;
    }
    double high = tepal_bloom_fp(s->layout, s->positions, s->bits, (uint64_t)whole + 1, s->hashes);
    return low + (n - whole) * (high - low);
}

double tepal_model_recycling_fp(const struct tepal_recycling_setting *s, double n)
{
    const struct model_line line = {64, s->positions == TEPAL_POSITIONS_DISTINCT};
    uint64_t lines = s->bits / TEPAL_LINE_BITS;
    double first;
    if (!(n < 1e18)) {
        return 1;
    }
    switch (s->layout) { /* lines have a rate at any load, in one step */
    case TEPAL_LAYOUT_BLOCKED:
        return tepal_model_blocked_rate(lines, n, s->hashes, line, MODEL_LOAD_BINOMIAL);
    case TEPAL_LAYOUT_PAIRED:
        return tepal_model_paired_rate(lines, n, s->hashes, line, MODEL_LOAD_BINOMIAL, &first);
    case TEPAL_LAYOUT_FLAT:
    case TEPAL_LAYOUT_PARTITIONED:
        break;
    }
    return between(s, n);
}

double tepal_recycling_rate(enum tepal_layout layout, enum tepal_positions positions, uint64_t bits,
                            uint64_t ones, uint32_t hashes)
{
    struct tepal_recycling_setting s = {layout, positions, bits, hashes, 0, 1, false, false};
    if (hashes == 0 || ones > bits || !tepal_model_recycling_valid(&s, true)) {
        return NAN;
    }
    if (layout == TEPAL_LAYOUT_FLAT) {
        return flat_rate(positions == TEPAL_POSITIONS_DISTINCT, (double)bits, (double)ones, hashes);
    }
    return between(&s, tepal_model_recycling_keys(&s, (double)ones));
}

/* ---- the sweep ------------------------------------------------------------------------------- */

struct sweep {
    double m;
    uint32_t k;
    bool distinct;
    double h[TEPAL_MAX_HASHES + 1];   /* at the state before this one */
    double c[TEPAL_MAX_HASHES + 1];   /* h without what comes of g */
    double x[TEPAL_MAX_HASHES + 1];   /* x_1 ... x_t */
    double inv[TEPAL_MAX_HASHES + 1]; /* 1 / (M-t+1) */
};

static void sweep_begin(struct sweep *w, const struct tepal_recycling_setting *s)
{
    *w = (struct sweep){
        .m = (double)s->bits, .k = s->hashes, .distinct = s->positions == TEPAL_POSITIONS_DISTINCT};
    for (uint32_t t = 1; t <= w->k; t++) {
        w->inv[t] = 1 / (w->distinct ? w->m - t + 1 : w->m);
    }
    w->x[0] = 1;
    w->h[0] = 1; /* state 0: one message finds it, and its first throw leaves it */
}

/* c_1 .. c_k and the products of x at state b, from h at b - 1. */
static inline __attribute__((always_inline)) void sweep_throw(struct sweep *w, double b, uint32_t k,
                                                              bool distinct)
{
    double c = 0;
    double product = 1;
    double up = w->m - b + 1;
    for (uint32_t t = 1; t <= k; t++) {
        double hit = distinct ? (b < t ? 0 : b - t + 1) : b;
        double x = hit * w->inv[t];
        c = c * x + w->h[t - 1] * (up * w->inv[t]);
        product *= x;
        w->c[t] = c;
        w->x[t] = product;
    }
}

/* Advance to state b and return g(b). k and distinct are constants where it matters. */
static inline __attribute__((always_inline)) double sweep_step(struct sweep *w, double b,
                                                               uint32_t k, bool distinct)
{
    sweep_throw(w, b, k, distinct);
    double g = w->c[k] / (1 - w->x[k]);
    w->h[0] = g;
    for (uint32_t t = 1; t <= k; t++) {
        w->h[t] = g * w->x[t] + w->c[t];
    }
    return g;
}

/* h_k(b) beyond sigma, where no message begins: the phase that freezes with its trigger in it. */
static double sweep_beyond(struct sweep *w, double b)
{
    if (b > w->m) {
        return 0;
    }
    sweep_throw(w, b, w->k, w->distinct);
    for (uint32_t t = 0; t <= w->k; t++) {
        w->h[t] = t == 0 ? 0 : w->c[t];
    }
    return w->c[w->k];
}

static inline __attribute__((always_inline)) void
sweep_states(struct sweep *w, double first, double end, uint32_t k, bool distinct, double *messages,
             double *positives, double *visits, double *last)
{
    double all = 0;
    double yes = 0;
    for (double b = first; b < end; b++) {
        double g = sweep_step(w, b, k, distinct);
        all += g;
        yes += g * w->x[k]; /* x_1 ... x_k is rho(b) */
        last[(uint64_t)b % TEPAL_MAX_HASHES] = g;
        if (visits != NULL) {
            visits[(uint64_t)b] = g;
        }
    }
    *messages += all;
    *positives += yes;
}

/*
 * A cycle leaves every state b <= sigma exactly once: the sum over t < k of h_t(b) y_(t+1), taken
 * at b + 1, is 1. Over 10^8 states rounding moves it by some 1e-9, which is put right now and then.
 */
static void sweep_settle(struct sweep *w, double b)
{
    double leaves = 0;
    for (uint32_t t = 0; t < w->k; t++) {
        leaves += w->h[t] * ((w->m - b) * w->inv[t + 1]);
    }
    for (uint32_t t = 0; t <= w->k; t++) {
        w->h[t] /= leaves;
    }
}

/* Sums are made of parts, so that 10^8 terms lose no digits. */
#define PART 4096

struct recycling_cycle tepal_model_recycling_sweep(const struct tepal_recycling_setting *s,
                                                   double *visits)
{
    struct sweep w;
    struct recycling_cycle cycle = {1, 0, 0};
    double last[TEPAL_MAX_HASHES] = {1}; /* g of the last states, by b % 64 */
    double end = (double)s->sigma + 1;
    sweep_begin(&w, s);
    if (visits != NULL) {
        visits[0] = 1;
    }
#define STATES(k, distinct)                                                                        \
    sweep_states(&w, b, to, k, distinct, &cycle.messages, &cycle.positives, visits, last)
    for (double b = 1; b < end; b += PART) {
        double to = b + PART < end ? b + PART : end;
        sweep_settle(&w, b - 1);
        if (w.distinct) {
            STATES(w.k, true);
            continue;
        }
        switch (w.k) { /* a known k keeps its h in registers */
        case 4:
            STATES(4, false);
            break;
        case 5:
            STATES(5, false);
            break;
        case 6:
            STATES(6, false);
            break;
        case 7:
            STATES(7, false);
            break;
        case 8:
            STATES(8, false);
            break;
        case 10:
            STATES(10, false);
            break;
        default:
            STATES(w.k, false);
        }
    }
#undef STATES
    if (s->keep_trigger) {
        for (uint32_t i = 1; i <= w.k; i++) {
            double ones = (double)s->sigma + i;
            cycle.frozen += sweep_beyond(&w, ones) * flat_rate(w.distinct, w.m, ones, w.k);
        }
    } else {
        double recent[TEPAL_MAX_HASHES];
        for (uint32_t i = 0; i < w.k; i++) {
            recent[i] = i <= s->sigma ? last[(s->sigma - i) % TEPAL_MAX_HASHES] : 0;
        }
        cycle.frozen = tepal_model_recycling_frozen(s, recent);
    }
    return cycle;
}

/* ---- the phase that freezes ------------------------------------------------------------------ */

/* step[d]: the chance that one message takes a phase from `ones` to `ones` + d bits, d = 0 .. k. */
static void step_chances(const struct tepal_recycling_setting *s, uint64_t ones,
                         double step[TEPAL_MAX_HASHES + 1])
{
    bool distinct = s->positions == TEPAL_POSITIONS_DISTINCT;
    double m = (double)s->bits;
    for (uint32_t set = 0; set <= s->hashes; set++) {
        step[set] = set == 0; /* by how many it has set so far */
    }
    for (uint32_t t = 1; t <= s->hashes; t++) {
        for (uint32_t set = t + 1; set-- > 0;) {
            double b = (double)ones + set;
            double d = distinct ? m - t + 1 : m;
            double stay = distinct ? (b < t ? 0 : (b - t + 1) / d) : b / d;
            double up = b - 1 < m ? (m - b + 1) / d : 0;
            step[set] = step[set] * (stay < 1 ? stay : 1) + (set > 0 ? step[set - 1] * up : 0);
        }
    }
}

/* The chance that one message brings a phase with `ones` ones beyond sigma. */
static double beyond_sigma(const struct tepal_recycling_setting *s, uint64_t ones)
{
    double step[TEPAL_MAX_HASHES + 1];
    double beyond = 0;
    step_chances(s, ones, step);
    for (uint32_t set = 1; set <= s->hashes; set++) {
        beyond += ones + set > s->sigma ? step[set] : 0;
    }
    return beyond;
}

double tepal_recycling_tau(const struct tepal_recycling_setting *s, uint64_t from, uint64_t to)
{
    double step[TEPAL_MAX_HASHES + 1];
    bool recycles = s->sigma != s->bits;
    if (s->layout != TEPAL_LAYOUT_FLAT || s->hashes == 0 ||
        !tepal_model_recycling_valid(s, !recycles) || from > s->sigma || to > s->sigma) {
        return NAN;
    }
    step_chances(s, from, step);
    double tau = to >= from && to - from <= s->hashes ? step[to - from] : 0;
    double again = recycles ? beyond_sigma(s, from) : 0;
    if (s->retain && to <= s->hashes) {
        step_chances(s, 0, step);
        return tau + again * step[to];
    }
    return tau + (!s->retain && to == 0 ? again : 0);
}

double tepal_model_recycling_frozen(const struct tepal_recycling_setting *s, const double *visits)
{
    bool distinct = s->positions == TEPAL_POSITIONS_DISTINCT;
    double all = 0;
    double yes = 0;
    for (uint32_t i = 0; i < s->hashes && i <= s->sigma; i++) {
        uint64_t ones = s->sigma - i;
        double weight = visits[i] * beyond_sigma(s, ones);
        all += weight;
        yes += weight * flat_rate(distinct, (double)s->bits, (double)ones, s->hashes);
    }
    return yes / all;
}

/* ---- what is asked for ----------------------------------------------------------------------- */

struct tepal_recycling_rates tepal_model_recycling_rates(const struct tepal_recycling_setting *s,
                                                         struct recycling_cycle cycle)
{
    struct tepal_recycling_rates rates = {0};
    double messages = cycle.messages - (s->retain ? 1 : 0);
    /* A cycle that retains its trigger may hold no further message: sigma = k, say. */
    rates.fp_active = messages > 0 ? at_most_one(cycle.positives / messages) : 0;
    rates.fp_frozen = at_most_one(cycle.frozen);
    rates.fp_average = rates.fp_active;
    if (s->phases > 1) {
        double no = log1p(-rates.fp_active) + (s->phases - 1) * log1p(-rates.fp_frozen);
        rates.fp_average = -expm1(no);
    }
    rates.fp_full = tepal_recycling_rate(s->layout, s->positions, s->bits, s->sigma, s->hashes);
    rates.messages_per_cycle = messages;
    rates.messages_from_zero = cycle.messages;
    return rates;
}

/* Throws that the sweep may take before the closed form is preferred: some 10 ms. */
#define SWEEP_THROWS 4e6

enum tepal_status tepal_recycling_average(const struct tepal_recycling_setting *s,
                                          enum tepal_recycling_method method,
                                          struct tepal_recycling_rates *rates)
{
    if (!tepal_model_recycling_valid(s, false)) {
        return TEPAL_BAD_ARGUMENT;
    }
    if (method == TEPAL_RECYCLING_SWEEP && s->layout != TEPAL_LAYOUT_FLAT) {
        return TEPAL_UNSUPPORTED;
    }
    if (method == TEPAL_RECYCLING_AUTO) {
        bool small = (double)s->sigma * s->hashes <= SWEEP_THROWS;
        method = s->layout == TEPAL_LAYOUT_FLAT && small ? TEPAL_RECYCLING_SWEEP
                                                         : TEPAL_RECYCLING_CLOSED;
    }
    *rates = tepal_model_recycling_rates(s, method == TEPAL_RECYCLING_SWEEP
                                                ? tepal_model_recycling_sweep(s, NULL)
                                                : tepal_model_recycling_closed(s));
    rates->method = method;
    return TEPAL_OK;
}

enum tepal_status tepal_recycling_distribution(const struct tepal_recycling_setting *s, double *pi)
{
    if (!tepal_model_recycling_valid(s, false)) {
        return TEPAL_BAD_ARGUMENT;
    }
    if (s->layout != TEPAL_LAYOUT_FLAT) {
        return TEPAL_UNSUPPORTED;
    }
    double messages = tepal_model_recycling_sweep(s, pi).messages;
    if (s->retain) {
        pi[0] = 0;
        messages -= 1;
    }
    for (uint64_t i = 0; i <= s->sigma; i++) {
        pi[i] /= messages;
    }
    return TEPAL_OK;
}

struct tepal_recycling_counts tepal_recycling_ways(double fp, double arrivals)
{
    return (struct tepal_recycling_counts){fp / arrivals, fp, fp};
}
