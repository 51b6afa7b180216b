/*
 * theory.c: what wrong removals do to a counting filter with one choice, worked out
 * further than Theorems 1 to 4 and Corollaries 2 and 3, which are of first order in k^2 / m and
 * take removals to add up. docs/papers/002.md has the derivation in words.
 *
 * A key has k positions, independent and uniform; those that coincide count once. A wrong removal
 * takes 1 from k counters drawn among those above 0, again each at most once.
 */
#include "paper002/paper002.h"

#define MOST  LAB_002_HASHES
#define LOADS 32 /* more owners than a counter has */

/* ---- the members that one removal loses in the end ------------------------------------------- */

/* own[d]: that `draws` draws from so many counters are of d different ones. */
static void distinct(uint32_t draws, double counters, double own[MOST + 1])
{
    own[0] = 1;
    for (uint32_t j = 0; j < draws; j++) {
        own[j + 1] = 0;
        for (uint32_t d = j + 1; d-- > 0;) {
            double fresh = 1 - d / counters;
            own[d + 1] += own[d] * fresh;
            own[d] *= 1 - fresh;
        }
    }
}

/* has[h]: that a key has exactly h of j given counters, whichever. */
static void shares(uint32_t k, uint32_t j, double m, double has[MOST + 1])
{
    for (uint32_t h = 0; h <= j; h++) {
        has[h] = h == 0;
    }
    for (uint32_t draw = 0; draw < k; draw++) {
        for (uint32_t h = j + 1; h-- > 0;) {
            double stay = 1 - (j - h) / m;
            has[h] = has[h] * stay + (h > 0 ? has[h - 1] * (j - h + 1) / m : 0);
        }
    }
}

/*
 * The members leave one after the other. Of the counters that lack a count, j are left; each has
 * an owner among the M members that are left. The next member has h of them. If it is the last
 * owner of one, it is refused: a victim, whose counts stay and make all h whole. covered[M][j] is
 * the chance that each of j counters has an owner among M members, by what the first of them has.
 */
void lab_002_lost(uint64_t m, uint32_t n, uint32_t k, double pmf[TEPAL_MAX_HASHES + 1])
{
    static double covered[LAB_002_KEYS + 1][MOST + 1];
    double has[MOST + 1][MOST + 1];
    double state[MOST + 1][MOST + 1] = {{0}}; /* by counters left and victims so far */
    double sum = 0;
    for (uint32_t j = 0; j <= k; j++) {
        shares(k, j, (double)m, has[j]);
        covered[0][j] = j == 0;
    }
    for (uint32_t left = 1; left <= n; left++) {
        for (uint32_t j = 0; j <= k; j++) {
            covered[left][j] = 0;
            for (uint32_t h = 0; h <= j; h++) {
                covered[left][j] += has[j][h] * covered[left - 1][j - h];
            }
        }
    }
    double own[MOST + 1];
    distinct(k, (double)m, own);
    for (uint32_t d = 1; d <= k; d++) {
        state[d][0] = own[d] * covered[n][d];
        sum += state[d][0];
    }
    for (uint32_t left = n; left > 0; left--) {
        const double *later = covered[left - 1];
        for (uint32_t j = 1; j <= k; j++) { /* upwards: what is added is at fewer counters */
            for (uint32_t y = k; y-- > 0;) {
                double here = state[j][y] / covered[left][j];
                for (uint32_t h = 1; h <= j && here > 0; h++) {
                    state[j - h][y + 1] += here * has[j][h] * (later[j - h] - later[j]);
                }
                state[j][y] = here * later[j];
            }
        }
    }
    for (uint32_t y = 0; y <= k; y++) {
        pmf[y] = state[0][y] / sum;
    }
}

/* ---- several removals ------------------------------------------------------------------------ */

/* at[R][v]: the share of the counters that have R owners left and stand at v. */
struct counters {
    double at[LOADS][LOADS];
};

static double binomial(uint32_t n, uint32_t i, double p)
{
    return exp(lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0) + i * log(p) +
               (n - i) * log1p(-p));
}

/* One wrong removal: every counter above 0 is among its k with the same chance. */
static void remove_wrongly(struct counters *c, double m, uint32_t k)
{
    double zero = 0;
    for (size_t owners = 0; owners < LOADS; owners++) {
        zero += c->at[owners][0];
    }
    double hit = -expm1(k * log1p(-1 / (m * (1 - zero))));
    for (size_t owners = 1; owners < LOADS; owners++) {
        double *at = c->at[owners];
        at[0] += hit * at[1];
        for (size_t v = 1; v <= owners; v++) {
            at[v] = (1 - hit) * at[v] + (v < owners ? hit * at[v + 1] : 0);
        }
    }
}

/* A counter of a member that is left is at 0: counters weighed by their owners. */
static double at_zero(const struct counters *c)
{
    double zero = 0;
    double all = 0;
    for (size_t owners = 1; owners < LOADS; owners++) {
        zero += (double)owners * c->at[owners][0];
        for (size_t v = 0; v < LOADS; v++) {
            all += (double)owners * c->at[owners][v];
        }
    }
    return zero / all;
}

/*
 * That one of d counters is at 0, if each is with chance z. What is at 0 comes from `draws` draws,
 * and one draw makes only one counter 0: draw by draw, not counter by counter.
 */
static double any(double d, double z, double draws)
{
    double each = -expm1(log1p(-z) / draws);
    return 1 - pow(1 - d * each, draws);
}

/*
 * The next of M members leaves. It is refused if any of its counters is at 0, and its counts stay
 * then; another's are taken. `whole` and `lacking`: that an owner is refused because of another of
 * its counters, seen from a counter that lacks none or some.
 */
static void leave(struct counters *c, double left, double whole, double lacking)
{
    struct counters next = {{{0}}};
    for (size_t owners = 0; owners < LOADS; owners++) {
        for (size_t v = 0; v < LOADS; v++) {
            double owned = c->at[owners][v] * fmin(1, (double)owners / left);
            next.at[owners][v] += c->at[owners][v] - owned;
            if (owners > 0 && v == 0) {
                next.at[owners - 1][0] += owned;
            } else if (owners > 0) {
                double refused = owners > v ? lacking : whole;
                next.at[owners - 1][v] += owned * refused;
                next.at[owners - 1][v - 1] += owned * (1 - refused);
            }
        }
    }
    *c = next;
}

void lab_002_many(uint64_t m, uint32_t n, uint32_t k, uint32_t wrong, double mean[2])
{
    static struct counters c;
    double own[MOST + 1];
    double counters = 0; /* of a member */
    double squares = 0;
    double draws = (double)wrong * k;
    distinct(k, (double)m, own);
    for (uint32_t d = 1; d <= k; d++) {
        counters += d * own[d];
        squares += (double)d * d * own[d];
    }
    c = (struct counters){{{0}}};
    for (uint32_t owners = 0; owners < LOADS && owners <= n; owners++) {
        c.at[owners][owners] = binomial(n, owners, counters / (double)m);
    }
    for (uint32_t i = 0; i < wrong; i++) {
        remove_wrongly(&c, (double)m, k);
    }
    mean[0] = mean[1] = 0;
    for (uint32_t left = n; left > 0; left--) {
        double z = at_zero(&c);
        double refused = 0;
        for (uint32_t d = 1; d <= k; d++) {
            refused += own[d] * any(d, z, draws);
        }
        mean[0] += refused;
        mean[1] = left == n ? n * refused : mean[1];
        double others = squares / counters - 1; /* of an owner, which tend to have more */
        leave(&c, left, any(others, z, draws),
              1 - pow(1 + others * expm1(log1p(-z) / draws), draws - 1));
    }
}
