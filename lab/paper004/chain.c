/*
 * chain.c: the Markov chain of Sec. IV, step by step: transition chances as filters make them, the
 * steady state that they imply, and what the paper's way of computing it costs.
 */
#include "paper004/paper004.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- transitions, as filters make them ------------------------------------------------------- */

#define BITS   40
#define HASHES 3
#define SIGMA  16
#define FROM   14 /* close enough to sigma that it stays, moves on, and recycles */

struct variant {
    const char *name;
    enum tepal_positions positions;
    bool retain;
    double stays;  /* tau(14, 14): (14/40)^3, or C(14,3)/C(40,3) */
    uint64_t back; /* a state to which it recycles */
    double right;  /* that chance as it is; NAN: as the equation has it */
    const char *equations;
};

static const struct variant variants[] = {
    {"cn", TEPAL_POSITIONS_COLLIDING, false, 343.0 / 8000, 0, NAN, "(4) to (8)"},
    /* From 14 beyond 16 three bits are set: a message with a collision is never the trigger. */
    {"cr", TEPAL_POSITIONS_COLLIDING, true, 343.0 / 8000, 2, 0, "(9), (10)"},
    {"nn", TEPAL_POSITIONS_DISTINCT, false, 364.0 / 9880, 0, NAN, "(11) to (13)"},
    {"nr", TEPAL_POSITIONS_DISTINCT, true, 364.0 / 9880, 3, NAN, "(14)"},
};

static struct tepal_recycling_setting setting_of(const struct variant *v)
{
    struct tepal_recycling_setting s = rbf_setting(BITS, HASHES, SIGMA, 1);
    s.positions = v->positions;
    s.retain = v->retain;
    return s;
}

static uint64_t ones_of(const struct tepal_filter *r)
{
    struct tepal_recycling_figures figures = {.ones = 0};
    (void)tepal_recycling_get_figures(r, &figures);
    return figures.ones;
}

/* Of the new messages that found FROM bits set: where did they take the filter? */
static int count_moves(struct lab *lab, const struct variant *v, uint64_t moves[SIGMA + 1],
                       uint64_t *all)
{
    struct tepal_recycling_setting s = setting_of(v);
    struct tepal_filter *r = NULL;
    size_t messages = lab_trials(lab, 100000, 1000000);
    int code = rbf_create(lab, &s, TEPAL_RECYCLING_SIGMA, SIGMA, &r);
    uint64_t before = 0;
    for (size_t i = 0; i < messages && code == EXIT_YES; i++) {
        bool seen;
        code = lab_status(tepal_filter_test_add(r, lab_digest(lab), &seen));
        uint64_t after = ones_of(r);
        moves[after] += before == FROM;
        *all += before == FROM;
        before = after;
    }
    tepal_filter_free(r);
    return code;
}

static int transitions(struct lab *lab, const struct variant *v)
{
    struct tepal_recycling_setting s = setting_of(v);
    uint64_t moves[SIGMA + 1] = {0};
    uint64_t all = 0;
    int code = count_moves(lab, v, moves, &all);
    const uint64_t to[] = {FROM, FROM + 1, v->back};
    for (size_t i = 0; i < COUNT(to) && code == EXIT_YES; i++) {
        lab_row_count(lab,
                      lab_formula(tepal_recycling_tau(&s, FROM, to[i]), i == 2 ? v->right : NAN),
                      moves[to[i]], all, "Eqs. %s: tau %s(%d, %" PRIu64 ")", v->equations, v->name,
                      FROM, to[i]);
    }
    lab_row_exact(lab, lab_formula(v->stays, NAN), tepal_recycling_tau(&s, FROM, FROM),
                  "Eq. (17): tau %s(%d, %d) is rho(%d)", v->name, FROM, FROM, FROM);
    return code;
}

/* Eqs. (15), (16): the distribution is what one more message leaves as it is. */
static void steady_state(struct lab *lab, const struct variant *v)
{
    struct tepal_recycling_setting s = setting_of(v);
    double pi[SIGMA + 1];
    double off = 0;
    (void)tepal_recycling_distribution(&s, pi);
    for (uint64_t j = 0; j <= SIGMA; j++) {
        double next = 0;
        for (uint64_t i = 0; i <= SIGMA; i++) {
            next += pi[i] * tepal_recycling_tau(&s, i, j);
        }
        off = fmax(off, fabs(next - pi[j]));
    }
    struct lab_row row = lab_formula(0, NAN);
    row.rounding = 1e-12; /* of sums of doubles */
    lab_row_exact(lab, row, off, "Eqs. (15), (16): pi tau - pi, the largest element, %s", v->name);
}

/* ---- what it costs (Sec. IV-E) --------------------------------------------------------------- */

struct cost {
    double tables; /* elements of tau computed, for 1 .. k hashes */
    double terms;  /* of the sums of eq. (15) */
    double rate;   /* what comes of it: f_sigma */
};

/* Colliding, not retaining, as the paper has it: a band of k + 1 chances per state. */
static bool paper_way(uint64_t m, uint32_t k, uint64_t sigma, struct cost *c)
{
    size_t width = k + 1;
    double *tau = calloc((size_t)(sigma + 1) * width, sizeof *tau);
    double *g = calloc((size_t)sigma + 1, sizeof *g);
    bool room = tau != NULL && g != NULL;
    *c = (struct cost){0, 0, 0};
    for (uint64_t i = 0; i <= sigma && room; i++) {
        tau[i * width] = 1;
    }
    for (uint32_t t = 1; t <= k && room; t++) {
        for (uint64_t i = 0; i <= sigma; i++) {
            for (uint32_t d = t + 1; d-- > 0;) {
                double b = (double)i + d;
                double *at = &tau[i * width + d];
                *at = *at * b / (double)m + (d > 0 ? at[-1] * ((double)m - b + 1) / (double)m : 0);
                c->tables++;
            }
        }
    }
    double messages = 0;
    for (uint64_t i = 0; i <= sigma && room; i++) {
        double sum = i == 0;
        for (uint64_t d = 1; d <= k && d <= i; d++) {
            sum += g[i - d] * tau[(i - d) * width + d];
            c->terms++;
        }
        g[i] = sum / (1 - tau[i * width]);
        messages += g[i];
        c->rate += g[i] * tau[i * width];
    }
    c->rate /= messages;
    free(tau);
    free(g);
    return room;
}

#define COST_BITS 20000

static double growth(double more, double less)
{
    return log2(more / less);
}

static int costs(struct lab *lab)
{
    struct cost at;
    struct cost twice_m;
    struct cost twice_k;
    struct tepal_recycling_rates rates = {0};
    /* k is large enough that k + 3 is hardly more than k. */
    const uint32_t k = 32;
    struct tepal_recycling_setting s =
        rbf_setting(COST_BITS, 5 + lab_sabotaged(lab), COST_BITS * 2 / 5, 1);
    if (!paper_way(COST_BITS, 5, COST_BITS * 2 / 5, &at)) {
        return lab_status(TEPAL_NO_MEMORY);
    }
    (void)tepal_recycling_average(&s, TEPAL_RECYCLING_SWEEP, &rates);
    struct lab_row row = lab_formula(at.rate, NAN);
    row.rounding = 1e-9 * at.rate;
    lab_row_exact(lab, row, rates.fp_average, "Eq. (18): f by tables of tau, and by the sweep");
    lab_row_exact(lab, lab_formula(5.0 * (COST_BITS * 2.0 / 5 + 1) * 4, NAN), at.tables,
                  "Sec. IV-E: elements of tau, M %d, k 5", COST_BITS);
    lab_row_exact(lab, LAB_ROW, at.tables / (5.0 * COST_BITS * 2 / 5),
                  "Sec. IV-E: elements of tau per throw of the sweep, k 5");
    if (!paper_way(COST_BITS, k, COST_BITS * 2 / 5, &at) ||
        !paper_way(2 * COST_BITS, k, 2 * COST_BITS * 2 / 5, &twice_m) ||
        !paper_way(COST_BITS, 2 * k, COST_BITS * 2 / 5, &twice_k)) {
        return lab_status(TEPAL_NO_MEMORY);
    }
    lab_row_exact(lab, lab_words(1, 0.05, NAN), growth(twice_m.tables, at.tables),
                  "Sec. IV-E: tau grows like M to the power");
    lab_row_exact(lab, lab_words(2, 0.1, NAN), growth(twice_k.tables, at.tables),
                  "Sec. IV-E: tau grows like k to the power");
    lab_row_exact(lab, lab_words(1, 0.05, NAN), growth(twice_m.terms, at.terms),
                  "Sec. IV-E: pi grows like M to the power");
    lab_row_exact(lab, lab_words(1, 0.05, NAN), growth(twice_k.terms, at.terms),
                  "Sec. IV-E: pi grows like k to the power");
    return EXIT_YES;
}

int lab_004_chain(struct lab *lab)
{
    int code = EXIT_YES;
    for (size_t i = 0; i < COUNT(variants) && code == EXIT_YES; i++) {
        code = transitions(lab, &variants[i]);
        steady_state(lab, &variants[i]);
    }
    return code == EXIT_YES ? costs(lab) : code;
}
