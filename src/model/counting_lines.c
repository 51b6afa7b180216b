/*
 * counting_lines.c: counting filters with c choices on the blocked layout, by the rule
 * least-increase. In the limit of many lines, a key sees c lines drawn from the shares x[o] of
 * lines with o counters above 0; in each its k counters would raise z more of them; the line where
 * occupied^4 grows least is taken, and moves from x[o] to x[o + z]:
 *
 *     dx[o]/dt = sum over z of chosen(o - z, z) - chosen(o, z)      t = keys per line
 *     chosen(o, z): of all c candidates none costs less, and this one is taken among equals
 *
 * Then a group is found with the chance sum of x[o] g(o), g(o) that k counters of such a line are
 * all above 0. Sectors are taken to be evenly filled, which is not quite so. What that does is
 * known for one choice, whose exact rate is in blocked.c: that ratio corrects the result.
 */
#include <tepal/papers.h>

#include <math.h>
#include <stdlib.h>

#include "model/model.h"
#include "model/numeric.h"

#define LARGEST TEPAL_LINE_BITS /* cells of a line */
#define SECTORS 8
#define MOST    TEPAL_MAX_HASHES_BLOCKED
#define MOVES   ((LARGEST + 1) * (MOST + 1))

/* A line with o counters above 0 gets z more. */
struct move {
    uint16_t o;
    uint16_t z;
};

struct lines {
    uint32_t cells; /* of a line */
    uint32_t k;
    uint32_t c;
    bool distinct;
    size_t moves; /* in the order of their cost */
    struct move move[MOVES];
    double fresh[LARGEST + 1][MOST + 1]; /* P(z | o) */
};

static uint64_t cost_of(struct move m)
{
    uint64_t now = m.o;
    uint64_t then = now + m.z;
    return then * then * then * then - now * now * now * now;
}

static int by_cost(const void *a, const void *b)
{
    uint64_t x = cost_of(*(const struct move *)a);
    uint64_t y = cost_of(*(const struct move *)b);
    return x < y ? -1 : x > y;
}

/* So many more draws, each of a counter that is 0 with chance q. */
static void draw(double *pmf, uint32_t from, uint32_t to, double q)
{
    for (uint32_t i = from; i < to; i++) {
        pmf[i + 1] = 0;
        for (uint32_t z = i + 1; z-- > 0;) {
            pmf[z + 1] += pmf[z] * q;
            pmf[z] *= 1 - q;
        }
    }
}

/* The first eight lie in different sectors; a ninth and later one may meet the first of its own. */
static void prepare(struct lines *l)
{
    const double sector = l->cells / SECTORS;
    l->moves = 0;
    for (uint32_t o = 0; o <= l->cells; o++) {
        double q = 1 - (double)o / l->cells;
        double second = l->distinct ? (q * sector - q) / (sector - 1) : q - q / sector;
        double *pmf = l->fresh[o];
        uint32_t first = l->k < SECTORS ? l->k : SECTORS;
        pmf[0] = 1;
        draw(pmf, 0, first, q);
        draw(pmf, first, l->k, second);
        uint32_t most = l->k;
        for (; o + most > l->cells; most--) { /* a full line takes no more */
            pmf[most - 1] += pmf[most];
        }
        for (uint32_t z = 0; z <= most; z++) {
            l->move[l->moves++] = (struct move){.o = (uint16_t)o, .z = (uint16_t)z};
        }
    }
    qsort(l->move, l->moves, sizeof *l->move, by_cost);
}

/* How the shares move with each key per line. */
static void rates(const struct lines *l, const double *x, double *rate)
{
    double left = 1;
    for (uint32_t o = 0; o <= l->cells; o++) {
        rate[o] = 0;
    }
    for (size_t i = 0; i < l->moves;) {
        size_t end = i;
        double level = 0; /* the weight of all moves that cost the same */
        for (; end < l->moves && cost_of(l->move[end]) == cost_of(l->move[i]); end++) {
            level += x[l->move[end].o] * l->fresh[l->move[end].o][l->move[end].z];
        }
        double rest = left - level > 0 ? left - level : 0;
        double chosen = whole_power(left, l->c) - whole_power(rest, l->c);
        for (; i < end; i++) {
            const struct move *m = &l->move[i];
            double share = level > 0 ? chosen * x[m->o] * l->fresh[m->o][m->z] / level : 0;
            rate[m->o] -= share;
            rate[m->o + m->z] += share;
        }
        left = rest;
    }
}

/*
 * The midpoint rule: a 24th of a key at a time while lines move, so that a step moves few of them,
 * and more where they hardly do, so that any number of keys takes some thousand steps.
 */
#define STEP       (1.0 / 24)
#define MOVED_MOST 0.02 /* of the lines with as many counters above 0, in a longer step */
#define RARE       1e-12
#define STEPS_MOST 20000

/* How long the next step may be. */
static double step_for(const struct lines *l, const double *x, const double *rate, double left)
{
    double leaving = 0;
    for (uint32_t o = 0; o <= l->cells; o++) {
        leaving = x[o] > RARE ? fmax(leaving, -rate[o] / x[o]) : leaving;
    }
    return fmin(left, leaving > 0 ? fmax(STEP, MOVED_MOST / leaving) : left);
}

static void fill(const struct lines *l, double keys, double *x)
{
    for (uint32_t o = 0; o <= l->cells; o++) {
        x[o] = o == 0;
    }
    for (int i = 0; i < STEPS_MOST && keys > 0; i++) {
        double rate[LARGEST + 1];
        double middle[LARGEST + 1];
        rates(l, x, rate);
        double h = step_for(l, x, rate, keys);
        for (uint32_t o = 0; o <= l->cells; o++) {
            middle[o] = fmax(0, x[o] + rate[o] * h / 2);
        }
        rates(l, middle, rate);
        for (uint32_t o = 0; o <= l->cells; o++) {
            x[o] = fmax(0, x[o] + rate[o] * h);
        }
        keys -= h;
    }
}

/* That all k counters of a key are above 0 in a line of the shares. */
static double found(const struct lines *l, const double *x)
{
    const double sector = l->cells / SECTORS;
    uint32_t first = l->k < SECTORS ? l->k : SECTORS;
    double sum = 0;
    for (uint32_t o = 1; o <= l->cells; o++) {
        double p = (double)o / l->cells;
        double other = fmax(0, (p * sector - 1) / (sector - 1)); /* one is known to be above 0 */
        double second = l->distinct ? other : (1 + (sector - 1) * other) / sector;
        sum += x[o] * whole_power(p, first) * whole_power(second, l->k - first);
    }
    return sum;
}

double tepal_counting_blocked_choices(enum tepal_counting_lines lines,
                                      enum tepal_positions positions, uint64_t m, uint64_t n,
                                      uint32_t k, uint32_t c, double *p0)
{
    const bool is_long = lines == TEPAL_LINES_LONG;
    const uint32_t cells = is_long ? TEPAL_LINE_BITS : TEPAL_COUNTING_LINE_CELLS;
    if (m < cells || k == 0 || k > MOST || c == 0 || c > TEPAL_MAX_CHOICES) {
        return NAN;
    }
    const enum tepal_layout layout = TEPAL_LAYOUT_BLOCKED;
    double exact = (is_long ? tepal_bloom_fp : tepal_counting_rate)(layout, positions, m, n, k);
    double above = (is_long ? tepal_bloom_fill : tepal_counting_fill)(layout, positions, m, n, k);
    double zeros = 1 - above;
    double keys = (double)n / (double)(m / cells);
    if (c > 1 && n > 0) {
        struct lines l = {
            .cells = cells, .k = k, .c = 1, .distinct = positions == TEPAL_POSITIONS_DISTINCT};
        double x[LARGEST + 1];
        prepare(&l);
        fill(&l, keys, x);
        double even = found(&l, x);
        l.c = c;
        fill(&l, keys, x);
        zeros = 0;
        for (uint32_t o = 0; o <= cells; o++) {
            zeros += x[o] * (1 - (double)o / cells);
        }
        double group = found(&l, x) * (even > 0 ? exact / even : 1);
        exact = -expm1(c * log1p(-at_most_one(group)));
    }
    if (p0 != NULL) {
        *p0 = zeros;
    }
    return exact;
}
