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
 * known for one choice, whose exact rate in many lines is in blocked.c: that ratio corrects the
 * result. (In few lines one choice does better, because so many keys cannot vary as much from line
 * to line. Several choices have levelled the lines already.)
 */
#include <tepal/papers.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "model/numeric.h"

#define LARGEST TEPAL_LINE_BITS /* cells of a line */
#define SECTORS 8
#define MOST    TEPAL_MAX_HASHES_BLOCKED
#define MOVES   ((LARGEST + 1) * (MOST + 1))

/* A line with o counters above 0 gets z more. */
struct move {
    uint64_t cost;
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
    size_t actives; /* of them, those of lines that there are, or will be soon */
    struct move active[MOVES];
    double fresh[LARGEST + 1][MOST + 1]; /* P(z | o) */
};

static uint64_t cost_of(uint64_t now, uint64_t then)
{
    return then * then * then * then - now * now * now * now;
}

static int by_cost(const void *a, const void *b)
{
    uint64_t x = ((const struct move *)a)->cost;
    uint64_t y = ((const struct move *)b)->cost;
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
            l->move[l->moves++] =
                (struct move){.cost = cost_of(o, o + z), .o = (uint16_t)o, .z = (uint16_t)z};
        }
    }
    qsort(l->move, l->moves, sizeof *l->move, by_cost);
}

/* How the shares move with each key per line. */
static void rates(const struct lines *l, const double *x, double *rate)
{
    double left = 1;
    double taken = 1; /* left^c */
    for (uint32_t o = 0; o <= l->cells; o++) {
        rate[o] = 0;
    }
    for (size_t i = 0; i < l->actives;) {
        size_t end = i;
        double level = 0; /* the weight of all moves that cost the same */
        for (; end < l->actives && l->active[end].cost == l->active[i].cost; end++) {
            level += x[l->active[end].o] * l->fresh[l->active[end].o][l->active[end].z];
        }
        if (!(level > 0)) {
            i = end;
            continue;
        }
        double rest = left - level > 0 ? left - level : 0;
        double after = whole_power(rest, l->c);
        for (; i < end; i++) {
            const struct move *m = &l->active[i];
            double share = (taken - after) * x[m->o] * l->fresh[m->o][m->z] / level;
            rate[m->o] -= share;
            rate[m->o + m->z] += share;
        }
        left = rest;
        taken = after;
    }
}

/*
 * The midpoint rule: a 24th of a key at a time while lines move (in long lines, which one key moves
 * less, a 6th; the best of c candidates moves c times as fast), so that a step moves few of them,
 * and more where they hardly do, so that any number of keys takes some thousand steps.
 */
#define STEP       (1.0 / 24 / TEPAL_COUNTING_LINE_CELLS) /* for each cell of a line */
#define MOVED_MOST 0.02 /* of the lines with as many counters above 0, in a longer step */
#define RARE       1e-12
#define STEPS_MOST 20000

/* Lines that are so few do not matter, unless others may become like them in the next few steps. */
#define NONE  1e-18
#define AHEAD 4 /* keys */
#define EVERY 8 /* steps */

/* How long the next step may be. */
static double step_for(const struct lines *l, const double *x, const double *rate, double left)
{
    double least = fmin(STEP * l->cells, 1.0 / l->c);
    double leaving = 0;
    for (uint32_t o = 0; o <= l->cells; o++) {
        leaving = x[o] > RARE ? fmax(leaving, -rate[o] / x[o]) : leaving;
    }
    return fmin(left, leaving > 0 ? fmax(least, MOVED_MOST / leaving) : left);
}

static void activate(struct lines *l, const double *x)
{
    bool active[LARGEST + 1] = {false};
    for (uint32_t o = 0; o <= l->cells; o++) {
        for (uint32_t up = o; x[o] > NONE && up <= l->cells && up <= o + AHEAD * l->k; up++) {
            active[up] = true;
        }
    }
    l->actives = 0;
    for (size_t i = 0; i < l->moves; i++) {
        if (active[l->move[i].o]) {
            l->active[l->actives++] = l->move[i];
        }
    }
}

static void fill(struct lines *l, double keys, double *x)
{
    for (uint32_t o = 0; o <= l->cells; o++) {
        x[o] = o == 0;
    }
    for (int i = 0; i < STEPS_MOST && keys > 0; i++) {
        double rate[LARGEST + 1];
        double middle[LARGEST + 1];
        if (i % EVERY == 0) {
            activate(l, x);
        }
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

/* The same with one choice, where nothing depends on the other lines: a Poisson number of keys. */
static void fill_by_chance(const struct lines *l, double keys, double *x)
{
    double most = keys + 10 * sqrt(keys) + 30;
    double now[LARGEST + 1] = {1}; /* after j keys */
    for (uint32_t o = 0; o <= l->cells; o++) {
        x[o] = 0;
    }
    for (double j = 0; j < most; j++) {
        double chance = exp(j * log(keys) - keys - tepal_log_gamma(j + 1));
        double next[LARGEST + 1] = {0};
        for (uint32_t o = 0; o <= l->cells; o++) {
            x[o] += chance * now[o];
            for (uint32_t z = 0; now[o] > 0 && z <= l->k && o + z <= l->cells; z++) {
                next[o + z] += now[o] * l->fresh[o][z];
            }
        }
        memcpy(now, next, sizeof now);
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

/* The exact rate of one choice, in a hundred million lines that are as full: in their limit. */
#define MANY_LINES 1e8

static double one_choice(enum tepal_counting_lines lines, enum tepal_positions positions,
                         const struct lines *l, double keys)
{
    uint64_t m = (uint64_t)MANY_LINES * l->cells;
    uint64_t n = whole_of(fmin(MANY_LINES * keys + 0.5, 0x1p60));
    return (lines == TEPAL_LINES_LONG ? tepal_bloom_fp : tepal_counting_rate)(
        TEPAL_LAYOUT_BLOCKED, positions, m, n, l->k);
}

/* With several: c times the rate of a group, and p0. */
static double several(enum tepal_counting_lines lines, enum tepal_positions positions, double keys,
                      struct lines *l, double *p0)
{
    double x[LARGEST + 1];
    prepare(l);
    fill_by_chance(l, keys, x);
    double even = found(l, x);
    fill(l, keys, x);
    *p0 = 0;
    for (uint32_t o = 0; o <= l->cells; o++) {
        *p0 += x[o] * (1 - (double)o / l->cells);
    }
    double group = found(l, x) * (even > 0 ? one_choice(lines, positions, l, keys) / even : 1);
    return -expm1(l->c * log1p(-at_most_one(group)));
}

/*
 * A line is followed key by key, so that a capacity from a file must not decide how long: beyond so
 * many keys, at which nearly every key is found, nothing is added.
 */
#define KEYS_PER_COUNTER 8

double tepal_counting_blocked_choices(enum tepal_counting_lines lines,
                                      enum tepal_positions positions, uint64_t m, uint64_t n,
                                      uint32_t k, uint32_t c, double *p0)
{
    const bool is_long = lines == TEPAL_LINES_LONG;
    const uint32_t cells = is_long ? TEPAL_LINE_BITS : TEPAL_COUNTING_LINE_CELLS;
    double zeros;
    double fp;
    if (m < cells || k == 0 || k > MOST || c == 0 || c > TEPAL_MAX_CHOICES) {
        return NAN;
    }
    if (c > 1 && n > 0) {
        struct lines l = {
            .cells = cells, .k = k, .c = c, .distinct = positions == TEPAL_POSITIONS_DISTINCT};
        double most = KEYS_PER_COUNTER * (double)cells; /* on a line */
        fp = several(lines, positions, fmin((double)n / (double)(m / cells), most), &l, &zeros);
    } else {
        const enum tepal_layout layout = TEPAL_LAYOUT_BLOCKED;
        fp = (is_long ? tepal_bloom_fp : tepal_counting_rate)(layout, positions, m, n, k);
        zeros = 1 - (is_long ? tepal_bloom_fill : tepal_counting_fill)(layout, positions, m, n, k);
    }
    if (p0 != NULL) {
        *p0 = zeros;
    }
    return fp;
}
