/*
 * flat.c: the textbook filter (Bloom 1970), and the three things that are said of its error.
 *
 * n keys throw k positions each into m cells; an absent key asks k cells. Let X be the number of
 * cells set by then. The true rate is
 *
 *     colliding   E[ (X/m)^k ]                       (Bose et al. 2008; Christensen et al. 2010)
 *     distinct    E[ X(X-1)...(X-k+1) / m(m-1)...(m-k+1) ]
 *
 * and the classic formula is (E[X]/m)^k: by Jensen's inequality a lower bound of the first, equal
 * only for k = 1. Inclusion-exclusion gives the true rate as an alternating sum, of which nothing
 * is left in floating point once the rate is below the rounding of its largest term. So two other
 * roads, of positive terms only:
 *
 * The chain. Watch the cells that the absent key asks. `u` of them are still unset; a key of the
 * filter sets some:
 *
 *     (d) --> (d-1) --> ... --> (1) --> (0)        u only falls; (0) is "all asked cells are set"
 *
 * With K the matrix of one key's moves, the rate is (start * K^n)[0]. K is triangular, its entries
 * are chances, and K^n comes from squaring. Squaring alone would double the relative error of the
 * diagonal each time (n roundings in the end), but the diagonal of K^e is known: c_u^e, c_u being
 * the chance that one key misses u given cells. It is put in afresh after each squaring. What is
 * left is an error that grows like k log n roundings: below 1e-12 for every setting allowed.
 * Cost: k^3/6 * log2(n) multiplications; 8 us at k = 10, and 0.8 ms at k = 64.
 *
 * The series. X is nearly fixed when m is large. With g(x) = (x/m)^k (or the falling factorials),
 *
 *     E[g(X)] = g(E X) + g''(E X) Var(X) / 2 + ...
 *
 * where E X and Var X are exact. The next terms are estimated alongside; the series is believed
 * only where they are below 1e-10 of the result, which is for m above some 10^4 k^2, or for a
 * filter so full that nothing matters. Against 400-digit arithmetic its error was never above the
 * estimate, but for some 3e-13 of rounding. Cost: below 1 us.
 */
#include <tepal/papers.h>

#include "model/flat.h"
#include "model/numeric.h"

#include <math.h>

#define STATES (TEPAL_MAX_HASHES + 1)
#define PACKED (STATES * (STATES + 1) / 2)

/* Where the series is as good as exact. */
#define DOUBT_ALLOWED 1e-10

/*
 * Entries below this are not multiplied further. They can add no more than some thousand times as
 * much to a chance, and leaving them out keeps the arithmetic away from subnormal numbers, which
 * are slow.
 */
#define NEGLIGIBLE 1e-290

/* One key's moves, or those of several: row u holds the chances of going from u to 0..u. */
struct moves {
    unsigned states;
    double cell[PACKED];
};

static double *row_of(struct moves *moves, unsigned u)
{
    return moves->cell + u * (u + 1) / 2;
}

/*
 * K, the moves of one key, and log c_u, the log of its chance to stay at u. The key draws one cell
 * after the other; the t-th draw is among m cells, or among the m - t that this key has not drawn.
 */
static void one_key(struct moves *moves, double *log_stay, double m, uint32_t k, bool distinct)
{
    double stay[STATES];
    double fall[STATES]; /* from the state above */
    for (unsigned u = 0; u < moves->states; u++) {
        double *row = row_of(moves, u);
        for (unsigned j = 0; j < u; j++) {
            row[j] = 0;
        }
        row[u] = 1;
        log_stay[u] = 0;
    }
    for (uint32_t t = 0; t < k; t++) {
        double open = distinct ? m - t : m;
        for (unsigned j = 0; (t == 0 || distinct) && j < moves->states; j++) {
            /* j > open only where the row is still zero: nobody can get there. */
            stay[j] = j < open ? (open - j) / open : 0;
            fall[j] = (j + 1) / open;
        }
        for (unsigned u = 0; u < moves->states; u++) {
            double *row = row_of(moves, u);
            for (unsigned j = u > t + 1 ? u - t - 1 : 0; j < u; j++) { /* t have fallen at most */
                row[j] = row[j] * stay[j] + row[j + 1] * fall[j];
            }
            row[u] *= stay[u];
            log_stay[u] += distinct ? log_all_miss(u / open, 1) : 0;
        }
    }
    for (unsigned u = 0; !distinct && u < moves->states; u++) {
        log_stay[u] = k * log_all_miss(u / m, 1);
    }
}

/* moves <- moves * moves, in place: row u needs itself and the rows above it, so go from below. */
static void square(struct moves *moves)
{
    for (unsigned u = moves->states - 1; u > 0; u--) {
        double old[STATES];
        double *row = row_of(moves, u);
        double stay = row[u];
        for (unsigned j = 0; j <= u; j++) {
            old[j] = row[j];
            row[j] *= stay; /* first stay at u, then move as the row says */
        }
        for (unsigned l = 0; l < u; l++) {
            const double *then = row_of(moves, l);
            double chance = old[l];
            if (chance < NEGLIGIBLE) {
                continue;
            }
            for (unsigned j = 0; j <= l; j++) {
                row[j] += chance * then[j];
            }
        }
    }
}

/* at <- at * moves */
static void move(double *at, struct moves *moves)
{
    double next[STATES] = {0};
    for (unsigned u = 0; u < moves->states; u++) {
        const double *row = row_of(moves, u);
        if (at[u] < NEGLIGIBLE) {
            continue;
        }
        for (unsigned j = 0; j <= u; j++) {
            next[j] += at[u] * row[j];
        }
    }
    for (unsigned u = 0; u < moves->states; u++) {
        at[u] = next[u];
    }
}

/* How many different cells does the absent key ask? The start of the chain. */
static void asked(double *at, unsigned states, double m, uint32_t k, bool distinct)
{
    for (unsigned d = 0; d < states; d++) {
        at[d] = 0;
    }
    if (distinct) {
        at[k] = 1;
        return;
    }
    at[0] = 1;
    for (uint32_t t = 0; t < k; t++) {
        for (unsigned d = states - 1; d > 0; d--) {
            at[d] = at[d] * (d / m) + at[d - 1] * ((m - (d - 1)) / m);
        }
        at[0] = 0;
    }
}

double tepal_model_flat_chain(uint64_t m, uint64_t n, uint32_t k, bool distinct)
{
    struct moves moves;
    double log_stay[STATES];
    double at[STATES];
    moves.states = (m < k ? (unsigned)m : k) + 1;
    one_key(&moves, log_stay, (double)m, k, distinct);
    asked(at, moves.states, (double)m, k, distinct);

    double keys = 1; /* `moves` are those of this many keys */
    for (;;) {
        for (unsigned u = 1; u < moves.states; u++) {
            row_of(&moves, u)[u] = exp(keys * log_stay[u]);
        }
        if (n & 1) {
            move(at, &moves);
        }
        n >>= 1;
        if (n == 0) {
            break;
        }
        square(&moves);
        keys *= 2;
    }
    /* The chances add up to one, so the smaller side says more about the larger one. */
    double open = 0;
    for (unsigned u = 1; u < moves.states; u++) {
        open += at[u];
    }
    return open < 0.5 ? 1 - open : at[0];
}

/*
 * The series, and in *doubt an estimate of what it leaves out, relative to the result.
 *
 * Both rules are "N rounds, each hitting h different cells of m": k n rounds of one, or n rounds
 * of k. With q1 the chance that a given cell is unset, and q2 that two given cells are,
 *
 *     q1 = (1 - h/m)^N,  q2/q1 = (1 - h/(m-1))^N,  q2/q1^2 = (1 - h/((m-1)(m-h)))^N,
 *     Var X = m (q1 - q2) + m^2 (q2 - q1^2).
 *
 * Left out are g''' mu3 / 6 and g'''' mu4 / 24 and so on. X moves by single cells, so that mu3 is
 * about Var X or less, and mu4 about 3 Var^2 + Var: of the order of (second term)^2 / 2 and
 * (second term) * g'/(3 g).
 */
double tepal_model_flat_series(uint64_t cells, uint64_t keys, uint32_t k, bool distinct,
                               double *doubt)
{
    double m = (double)cells;
    double n = (double)keys;
    double h = distinct ? k : 1;
    double rounds = distinct ? n : n * k;
    *doubt = INFINITY;
    if (m < 1024) {
        return 0;
    }
    double log_unset = log_all_miss(h / m, rounds);
    double unset = exp(log_unset);
    double mean = m * -expm1(log_unset);
    double variance = -m * unset * expm1(log_all_miss(h / (m - 1), rounds)) +
                      m * m * unset * unset * expm1(log_all_miss(h / ((m - 1) * (m - h)), rounds));

    double log_g;  /* log g(E X) */
    double slope;  /* g'/g */
    double second; /* g''/g */
    if (distinct) {
        double squares = 0;
        log_g = 0;
        slope = 0;
        for (uint32_t i = 0; i < k; i++) {
            double left = mean - i;
            if (left < 0.5) {
                return 0; /* fewer cells set than are asked, on average: not for the series */
            }
            log_g += log(left / (m - i));
            slope += 1 / left;
            squares += 1 / (left * left);
        }
        second = slope * slope - squares;
    } else {
        log_g = k * log_one_minus_exp(log_unset);
        slope = k / mean;
        second = slope * (k - 1) / mean;
    }
    double correction = variance * second / 2;
    *doubt = fabs(correction) * (fabs(correction) + slope);
    return at_most_one(exp(log_g + log1p(correction)));
}

double tepal_model_flat_rate(uint64_t m, uint64_t n, uint32_t k, bool distinct)
{
    if (n == 0) {
        return 0;
    }
    if (k == 1) {
        return tepal_bloom_fp_classic(m, n, 1); /* E[X/m]: nothing to correct */
    }
    double doubt;
    double rate = tepal_model_flat_series(m, n, k, distinct, &doubt);
    return doubt <= DOUBT_ALLOWED ? rate : tepal_model_flat_chain(m, n, k, distinct);
}

double tepal_bloom_fp_classic(uint64_t m, uint64_t n, uint32_t k)
{
    if (m == 0 || k == 0 || k > TEPAL_MAX_HASHES) {
        return NAN;
    }
    if (n == 0) {
        return 0;
    }
    return exp(k * log_one_minus_exp(log_all_miss(1 / (double)m, (double)n * k)));
}

double tepal_bloom_fp_approx(uint64_t m, uint64_t n, uint32_t k)
{
    if (m == 0 || k == 0 || k > TEPAL_MAX_HASHES) {
        return NAN;
    }
    if (n == 0) {
        return 0;
    }
    return exp(k * log_one_minus_exp(-((double)n * k / (double)m)));
}

double tepal_bloom_fp_exact(uint64_t m, uint64_t n, uint32_t k)
{
    if (m == 0 || k == 0 || k > TEPAL_MAX_HASHES) {
        return NAN;
    }
    return tepal_model_flat_rate(m, n, k, false);
}

double tepal_bloom_fp_distinct(uint64_t m, uint64_t n, uint32_t k)
{
    if (m == 0 || k == 0 || k > TEPAL_MAX_HASHES || k > m) {
        return NAN;
    }
    return tepal_model_flat_rate(m, n, k, true);
}
