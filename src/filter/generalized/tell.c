/*
 * tell.c: what the bits of a generalized filter say: its present rate of false
 * positives, whoever filled it, and the age of a key.
 *
 * The rate. On the flat layout it depends on the number of zeros alone. On the blocked layout it is
 * a mean over the lines; in a line it is a sum over all ways to give sectors to resets and sets,
 * which factors into the sectors: each multiplies the ways so far by what its own cells add.
 *
 * The age. A bit that was touched since the key was added is 0 with chance k0/k: so of the bits the
 * key reset the share k1/k t is inverted, of those it set the share k0/k t, where t, the chance to
 * have been touched, is 1 - e^(-k age / m). The likelihood of what is seen is concave in t.
 */
#include <tepal/generalized.h>
#include <tepal/papers.h>

#include <math.h>
#include <string.h>

#include "base/report.h"
#include "cells/bits.h"
#include "filter/generalized/internal.h"
#include "model/generalized.h"
#include "model/numeric.h"

uint64_t tepal_generalized_ones(const struct tepal_filter *filter)
{
    return tepal_bits_count(filter->words, filter->word_count);
}

/* ---- the rate -------------------------------------------------------------------------------- */

/* What a sector may hold of a key, in each of the two rounds. */
enum role { ROLE_NONE, ROLE_ZERO, ROLE_ONE };

#define CELLS 64.0
/* resets of the first round; resets and sets of the second, 8 together; inverted bits */
#define LINE_STATES (9 * 25 * TEPAL_MAX_HASHES_BLOCKED)

/*
 * A sum over all ways to choose roles, sector by sector: so many resets of the first round, resets
 * and sets of the second, and inverted bits so far. Without a first round its resets stay 0.
 */
struct line_sum {
    const struct roles *roles;
    bool distinct;
    uint32_t most[3]; /* resets of the first round; resets and sets of the second */
    double ways[LINE_STATES];
    double next[LINE_STATES];
};

static size_t state_of(const struct line_sum *sum, uint32_t i, uint32_t j, uint32_t l)
{
    return (((size_t)i * (sum->most[1] + 1) + j) * (sum->most[2] + 1) + l) *
           (sum->roles->tolerance + 1);
}

/*
 * The chances of 0, 1 and 2 inverted bits in a sector with `zeros` zeros, of which two cells are
 * wanted as the roles say. If they meet they are one bit, and a reset wins.
 */
static void sector_chances(enum role a, enum role b, double zeros, bool distinct, double out[3])
{
    double wrong_a = a == ROLE_NONE ? 0 : (a == ROLE_ZERO ? CELLS - zeros : zeros) / CELLS;
    double wrong_b = b == ROLE_NONE ? 0 : (b == ROLE_ZERO ? CELLS - zeros : zeros) / CELLS;
    if (a == ROLE_NONE || b == ROLE_NONE) {
        out[0] = 1 - wrong_a - wrong_b;
        out[1] = wrong_a + wrong_b;
        out[2] = 0;
        return;
    }
    /* two different cells: both of the wrong sort, out of those that are left */
    double all = CELLS * wrong_a;
    double both = all * (a == b ? all - 1 : CELLS * wrong_b) / (CELLS * (CELLS - 1));
    both = both < 0 ? 0 : both;
    double meet = distinct ? 0 : 1 / CELLS;
    double wrong_met = a == ROLE_ZERO || b == ROLE_ZERO ? (CELLS - zeros) / CELLS : wrong_a;
    out[2] = (1 - meet) * both;
    out[1] = (1 - meet) * (wrong_a + wrong_b - 2 * both) + meet * wrong_met;
    out[0] = 1 - out[1] - out[2];
}

/* Of `most` things, one a sector at most: how few and how many can there be after s sectors? */
struct range {
    uint32_t low;
    uint32_t end;
};

static struct range after(uint32_t most, uint32_t s)
{
    uint32_t left = ADDRESS_SECTORS - s;
    return (struct range){most > left ? most - left : 0, (most < s ? most : s) + 1};
}

/* Those of the range after s sectors that, with d more, are in the next. */
static struct range before(uint32_t most, uint32_t s, uint32_t d)
{
    struct range now = after(most, s);
    struct range next = after(most, s + 1);
    now.low = now.low + d < next.low ? next.low - d : now.low;
    now.end = now.end + d > next.end ? next.end - d : now.end;
    return now;
}

/* Add the ways in which sector s has these roles. */
static void sector_with(struct line_sum *sum, uint32_t s, enum role a, enum role b, double zeros)
{
    const uint32_t b_most = sum->roles->tolerance;
    const uint32_t di = a == ROLE_ZERO;
    const uint32_t dj = b == ROLE_ZERO;
    const uint32_t dl = b == ROLE_ONE;
    double chance[3];
    sector_chances(a, b, zeros, sum->distinct, chance);
    const struct range ri = before(sum->most[0], s, di);
    const struct range rj = before(sum->most[1], s, dj);
    const struct range rl = before(sum->most[2], s, dl);
    for (uint32_t i = ri.low; i < ri.end; i++) {
        for (uint32_t j = rj.low; j < rj.end; j++) {
            for (uint32_t l = rl.low; l < rl.end; l++) {
                const double *from = &sum->ways[state_of(sum, i, j, l)];
                double *to = &sum->next[state_of(sum, i + di, j + dj, l + dl)];
                for (uint32_t w = 0; w <= b_most; w++) {
                    to[w] += from[w] * chance[0];
                    to[w] += w >= 1 ? from[w - 1] * chance[1] : 0;
                    to[w] += w >= 2 ? from[w - 2] * chance[2] : 0;
                }
            }
        }
    }
}

/* The chance to pass in one line. */
static double line_rate(struct line_sum *sum, const uint64_t *words)
{
    const struct roles *roles = sum->roles;
    const size_t last = state_of(sum, sum->most[0], sum->most[1], sum->most[2]);
    const size_t bytes = (last + roles->tolerance + 1) * sizeof *sum->ways;
    memset(sum->ways, 0, bytes);
    sum->ways[0] = 1;
    for (uint32_t s = 0; s < ADDRESS_SECTORS; s++) {
        double zeros = 64 - bits_count_word(words[s]);
        memset(sum->next, 0, bytes);
        for (int a = roles->two ? ROLE_ZERO : ROLE_NONE; a <= (roles->two ? ROLE_ONE : ROLE_NONE);
             a++) {
            for (int b = ROLE_NONE; b <= ROLE_ONE; b++) {
                sector_with(sum, s, (enum role)a, (enum role)b, zeros);
            }
        }
        memcpy(sum->ways, sum->next, bytes);
    }
    double pass = 0;
    for (uint32_t w = 0; w <= roles->tolerance; w++) {
        pass += sum->ways[last + w];
    }
    return pass / (double)(roles->ways * (roles->two ? roles->first_ways : 1));
}

/*
 * About a second of work, which grows with the tolerance and the hashes. Beyond it the bound stands
 * for the rate: whoever sends a filter chooses these numbers.
 */
#define MOST_STEPS 2e9

static double blocked_rate(const struct tepal_generalized *g)
{
    const struct roles *roles = &g->roles;
    struct line_sum sum = {.roles = roles, .distinct = roles->apart};
    sum.most[0] = roles->first_resets;
    sum.most[1] = roles->resets - roles->first_resets;
    sum.most[2] = address_chosen(g->at.hashes) - sum.most[1];
    double states =
        (sum.most[0] + 1.0) * (sum.most[1] + 1.0) * (sum.most[2] + 1.0) * (roles->tolerance + 1.0);
    if (states * (roles->two ? 48 : 24) * (double)g->at.lines > MOST_STEPS) {
        return tepal_params_fp_bound(&g->head.params);
    }
    double total = 0;
    for (uint64_t line = 0; line < g->at.lines; line++) {
        total += line_rate(&sum, &g->head.words[line * ADDRESS_SECTORS]);
    }
    return at_most_one(total / (double)g->at.lines);
}

static double rate(const struct tepal_generalized *g, uint64_t ones)
{
    const struct tepal_params *p = &g->head.params;
    return p->layout == TEPAL_LAYOUT_BLOCKED
               ? blocked_rate(g)
               : tepal_generalized_fp_given(p->positions == TEPAL_POSITIONS_DISTINCT
                                                ? TEPAL_GENERALIZED_DISTINCT
                                                : TEPAL_GENERALIZED_PRECEDENCE,
                                            p->cells, p->cells - ones, g->roles.resets,
                                            p->hashes - g->roles.resets, g->roles.tolerance);
}

double tepal_generalized_fp_now(const struct tepal_filter *filter)
{
    bool blocked = filter->params.layout == TEPAL_LAYOUT_BLOCKED;
    return rate((const struct tepal_generalized *)filter,
                blocked ? 0 : tepal_generalized_ones(filter));
}

/* ---- the age --------------------------------------------------------------------------------- */

#define SURPRISE 0.025 /* on either side */

/* The chances that a touched bit, which the key had reset or set, is inverted. */
struct tide {
    double reset;
    double set;
    double age; /* insertions that touch a bit with chance 1 - 1/e */
};

static double log_binomial(uint32_t n, uint32_t k, double p)
{
    double log_ways = 0;
    for (uint32_t i = 0; i < k; i++) {
        log_ways += log((double)(n - i) / (double)(i + 1));
    }
    return log_ways + (k > 0 ? k * log(p) : 0) + (n > k ? (n - k) * log1p(-p) : 0);
}

static double log_likelihood(const struct tepal_generalized_trace *a, const struct tide *tide,
                             double touched)
{
    return log_binomial(a->zeros, a->zeros_lost, tide->reset * touched) +
           log_binomial(a->ones, a->ones_lost, tide->set * touched);
}

static uint64_t age_at(const struct tide *tide, double touched)
{
    double age = touched >= 1 ? INFINITY : -log1p(-touched) * tide->age;
    return age < 0x1p63 ? (uint64_t)llround(age) : UINT64_MAX;
}

/* The t with the largest likelihood: it has one hill. */
static double likeliest(const struct tepal_generalized_trace *a, const struct tide *tide)
{
    double low = 0;
    double high = 1;
    if (a->zeros_lost + a->ones_lost == 0) {
        return 0;
    }
    if ((a->zeros_lost > 0 && tide->reset == 0) || (a->ones_lost > 0 && tide->set == 0)) {
        return 1; /* nothing inverts such a bit: the key was never added */
    }
    while (high - low > 1e-9) {
        double third = (high - low) / 3;
        if (log_likelihood(a, tide, low + third) < log_likelihood(a, tide, high - third)) {
            low += third;
        } else {
            high -= third;
        }
    }
    return high > 1 - 1e-8 ? 1 : (low + high) / 2;
}

/* P(more than `lost` inverted) grows with t: where is it `chance`? In 0..1. */
static double crossing(const struct tepal_generalized_trace *a, const struct tide *tide,
                       uint32_t lost, double chance)
{
    double low = 0;
    double high = 1;
    for (int i = 0; i < 60; i++) {
        double t = (low + high) / 2;
        double above =
            tepal_model_sum_above(a->zeros, tide->reset * t, a->ones, tide->set * t, lost);
        if (above < chance) {
            low = t;
        } else {
            high = t;
        }
    }
    return high > 1 - 1e-12 ? 1 : high;
}

enum tepal_status tepal_generalized_age(const struct tepal_filter *filter,
                                        struct tepal_digest digest, uint64_t ones,
                                        struct tepal_generalized_trace *out)
{
    if (filter->params.kind != TEPAL_KIND_GENERALIZED) {
        return TEPAL_UNSUPPORTED;
    }
    const struct tepal_generalized *g = (const struct tepal_generalized *)filter;
    const struct roles *roles = &g->roles;
    const uint64_t *words = filter->words;
    struct places key;
    tepal_generalized_places(g, digest, &key);
    memset(out, 0, sizeof *out);
    out->zeros_lost = tepal_generalized_lost(words, &key, false, &out->zeros);
    out->ones_lost = tepal_generalized_lost(words, &key, true, &out->ones);
    uint32_t lost = out->zeros_lost + out->ones_lost;
    out->present = lost <= roles->tolerance;

    double k = key.count;
    double m = (double)g->at.cells;
    struct tide tide = {(k - roles->resets) / k, roles->resets / k, m / k};
    double t = likeliest(out, &tide);
    out->age = age_at(&tide, t);
    out->likelihood = exp(log_likelihood(out, &tide, t));
    out->age_low = lost == 0 ? 0 : age_at(&tide, crossing(out, &tide, lost - 1, SURPRISE));
    out->age_high = age_at(&tide, crossing(out, &tide, lost, 1 - SURPRISE));
    double fill = (double)ones / m;
    out->likelihood_none = exp(log_binomial(out->zeros, out->zeros_lost, fill) +
                               log_binomial(out->ones, out->ones_lost, 1 - fill));
    return TEPAL_OK;
}

/* ---- everything ------------------------------------------------------------------------------ */

/* What the model expects at capacity; absent without one. `now`: the rates of so many keys. */
static void report_planned(const struct tepal_params *p, uint64_t keys,
                           const struct tepal_generalized_errors *now, struct tepal_report *report)
{
    struct tepal_generalized_errors rates = *now;
    if (p->capacity == 0) {
        tepal_report_absent(report, "fp_at_capacity", "no capacity was given");
        tepal_report_absent(report, "fn_at_capacity", "no capacity was given");
    } else if (keys == p->capacity ||
               tepal_generalized_rates(p, p->capacity, NULL, 0, NULL, &rates) == TEPAL_OK) {
        tepal_report_real(report, "fp_at_capacity",
                          "false-positive rate expected at capacity (model)", rates.fp);
        tepal_report_real(report, "fn_at_capacity",
                          "false-negative rate expected at capacity (model)", rates.fn);
    }
}

/*
 * The share of zeros drifts from p0 to the steady state: from where it is now follows how many keys
 * have come, as long as the way is not over.
 */
static void report_keys(const struct tepal_params *p, uint64_t ones, struct tepal_report *report)
{
    double steady = (double)p->generalized.reset_hashes / p->hashes;
    double first = params_zeros(p);
    double now = 1 - (double)ones / (double)p->cells;
    double left = (now - steady) / (first - steady);
    double noise = 3 * sqrt(0.25 / (double)p->cells) / fabs(first - steady);
    double keys = left >= 1 ? 0 : -log(left) * (double)p->cells / p->hashes;
    if (left > noise && isfinite(keys)) {
        tepal_report_real(report, "keys_estimated",
                          "keys added, estimated from how far the fill is from its steady state",
                          keys);
    } else {
        tepal_report_absent(
            report, "keys_estimated",
            "the fill is at its steady state: the number of keys cannot be estimated");
    }
}

void tepal_generalized_info(const struct tepal_filter *filter, struct tepal_report *report)
{
    const struct tepal_generalized *g = (const struct tepal_generalized *)filter;
    const struct tepal_params *p = &filter->params;
    struct tepal_generalized_errors rates = {0};
    uint64_t ones = tepal_generalized_ones(filter);
    report_keys(p, ones, report);
    tepal_report_integer(report, "ones", "bits set", ones);
    tepal_report_real(report, "fill", "share of bits set", (double)ones / (double)p->cells);
    tepal_report_real(report, "fp_now", "false-positive rate now, from the bits themselves",
                      rate(g, ones));
    /* cannot fail: the parameters have passed the gate */
    (void)tepal_generalized_rates(p, filter->state.keys_added, NULL, 0, NULL, &rates);
    report_planned(p, filter->state.keys_added, &rates, report);
    tepal_report_real(report, "fn_now",
                      "false-negative rate after the added keys (model), mean over them", rates.fn);
    tepal_report_real(report, "fp_bound",
                      "upper bound on the false-positive rate, whatever bits the filter has",
                      tepal_params_fp_bound(p));
    tepal_report_integer(report, "reset_hashes", "hash functions that reset bits (k0)",
                         p->generalized.reset_hashes);
    tepal_report_integer(report, "set_hashes", "hash functions that set bits (k1)",
                         params_set_hashes(p));
    tepal_report_integer(report, "tolerance", "inverted bits that a query tolerates (b)",
                         p->generalized.tolerance);
    tepal_report_real(report, "zeros_initial", "initial share of bits that are 0 (p0)",
                      params_zeros(p));
}
