/*
 * generalized_chain.c: the rates of the generalized filter without approximation.
 *
 * Backwards in time. A key has a bits that it resets and b that it sets, all different. Whether
 * each of them is right now was decided by whoever touched it last. So we follow the additions from
 * the last one back, and within an addition first its resets, then its sets, for resets win; one
 * throw after the other:
 *
 *     (a, b, w)   a and b bits that no throw has hit so far, w of the others are inverted
 *
 *     a reset     hits one of the a: right;     one of the b: inverted;     none: nothing
 *     a set       hits one of the b: right;     one of the a: inverted;     none: nothing
 *
 * When all additions are done, what is left of a and b has its first value: right, for a key that
 * was added (they are its own bits), or drawn with p0, for one that never was. More than the
 * tolerance inverted is a state that one cannot leave. So one chain gives false positives and
 * false negatives of every age. Each throw is uniform over the m bits; with distinct positions the
 * j-th of an addition is uniform over the m - j that it has not taken, and an undecided bit is
 * among them, as it would be decided otherwise.
 *
 * On the blocked layout (k <= 8) only the additions to the key's own line count, a binomial number
 * of them, and a throw is first a sector that the addition has not used, then one of its 64 cells.
 * With k > 8 there are two rounds; what is left out is that a sector's two cells depend on each
 * other in the additions, an error below 1 %.
 *
 * Cost: n (k0 + k1) (k0 + 1)(k1 + 1)(tolerance + 1) steps; after 40 m / (k0 + k1) additions
 * nothing is undecided any more (e^-40).
 */
#include "model/generalized.h"
#include "model/model.h"
#include "model/numeric.h"
#include "params/params.h"

#include <math.h>
#include <string.h>

#define MAX_WORK   3e7
#define DECIDED    40.0
#define MAX_STATES 8192

#define SECTORS      8
#define SECTOR_CELLS 64.0

/* ---- the bits of a key ----------------------------------------------------------------------- */

struct chain {
    uint32_t k0;
    uint32_t k1;
    uint32_t tolerance;
    double m;
    bool distinct;
    bool rounds; /* k > 8 cells in a line: two rounds, each without collisions of its own */
    double mass[MAX_STATES]; /* of (a, b, w), w fastest */
    double failed;           /* more than the tolerance inverted */
    double pass[MAX_STATES]; /* of (a, b, w): not more than the tolerance, once a and b are drawn */
};

static size_t states(const struct chain *c)
{
    return (size_t)(c->k0 + 1) * (c->k1 + 1) * (c->tolerance + 1);
}

static size_t state_at(const struct chain *c, uint32_t a, uint32_t b)
{
    return ((size_t)a * (c->k1 + 1) + b) * (c->tolerance + 1);
}

static double *mass_at(struct chain *c, uint32_t a, uint32_t b)
{
    return &c->mass[state_at(c, a, b)];
}

/* One more undecided bit, inverted with chance p, before the states in `rest`. */
static void draw_one(const struct chain *c, double *to, const double *rest, double p)
{
    for (uint32_t w = 0; w <= c->tolerance; w++) {
        to[w] = (1 - p) * rest[w] + (w < c->tolerance ? p * rest[w + 1] : 0);
    }
}

/* What is left undecided is 0 with chance p0. */
static void weigh_undecided(struct chain *c, double p0)
{
    for (uint32_t w = 0; w <= c->tolerance; w++) {
        c->pass[w] = 1;
    }
    for (uint32_t a = 0; a <= c->k0; a++) {
        for (uint32_t b = 0; b <= c->k1; b++) {
            double *here = &c->pass[state_at(c, a, b)];
            if (b > 0) {
                draw_one(c, here, &c->pass[state_at(c, a, b - 1)], p0);
            } else if (a > 0) {
                draw_one(c, here, &c->pass[state_at(c, a - 1, b)], 1 - p0);
            }
        }
    }
}

/*
 * How many different bits a key has: k0 throws, of which an own collision adds nothing, then k1.
 */
static void begin(struct chain *c)
{
    memset(c->mass, 0, states(c) * sizeof *c->mass);
    c->failed = 0;
    if (c->distinct) {
        mass_at(c, c->k0, c->k1)[0] = 1;
        return;
    }
    mass_at(c, 0, 0)[0] = 1;
    for (uint32_t t = 0; t < c->k0; t++) {
        for (uint32_t a = t + 1; a > 0; a--) {
            *mass_at(c, a, 0) = *mass_at(c, a, 0) * a / c->m +
                                *mass_at(c, a - 1, 0) * fmax(0, c->m - (a - 1)) / c->m;
        }
        *mass_at(c, 0, 0) = 0;
    }
    for (uint32_t t = 0; t < c->k1; t++) {
        for (uint32_t a = 0; a <= c->k0; a++) {
            for (uint32_t b = t + 1; b > 0; b--) {
                *mass_at(c, a, b) = *mass_at(c, a, b) * (a + b) / c->m +
                                    *mass_at(c, a, b - 1) * fmax(0, c->m - (a + b - 1)) / c->m;
            }
            *mass_at(c, a, 0) *= a / c->m;
        }
    }
}

/*
 * The same for two rounds in one line. Each of the second round's r cells meets, with chance 1/64,
 * the first round's cell of its sector, which is a reset with chance f/8. Two resets that meet are
 * one bit; of a reset and a set that meet the reset is left; two sets are one bit.
 */
static void begin_rounds(struct chain *c)
{
    uint32_t k = c->k0 + c->k1;
    uint32_t first = model_first_resets(c->k0, k);
    uint32_t resets = c->k0 - first;
    double meet = c->distinct ? 0 : 1 / SECTOR_CELLS;
    double with_reset = meet * first / SECTORS;
    memset(c->mass, 0, states(c) * sizeof *c->mass);
    c->failed = 0;
    mass_at(c, c->k0, c->k1)[0] = 1;
    for (uint32_t t = 0; t < k - SECTORS; t++) {
        double less_a = t < resets ? with_reset : 0;
        double less_b = meet - less_a;
        for (uint32_t a = 0; a <= c->k0; a++) {
            for (uint32_t b = 0; b <= c->k1; b++) {
                double *here = mass_at(c, a, b);
                *here *= 1 - less_a - less_b;
                *here += a < c->k0 ? *mass_at(c, a + 1, b) * less_a : 0;
                *here += b < c->k1 ? *mass_at(c, a, b + 1) * less_b : 0;
            }
        }
    }
}

/* One throw over `room` bits: a reset or a set. In place: states come from larger ones. */
static void throw_one(struct chain *c, bool resets, double room)
{
    static const double none[MODEL_TOLERANCE_MAX + 1];
    const uint32_t w_count = c->tolerance + 1;
    for (uint32_t a = 0; a <= c->k0; a++) {
        for (uint32_t b = 0; b <= c->k1; b++) {
            double *restrict here = mass_at(c, a, b);
            const double *more_a = a < c->k0 ? mass_at(c, a + 1, b) : none;
            const double *more_b = b < c->k1 ? mass_at(c, a, b + 1) : none;
            const double *right = resets ? more_a : more_b;
            const double *wrong = resets ? more_b : more_a;
            double by_right = (double)((resets ? a : b) + 1) / room;
            double by_wrong = (double)((resets ? b : a) + 1) / room;
            double stay = 1 - (double)(a + b) / room;
            here[0] = here[0] * stay + right[0] * by_right;
            for (uint32_t w = 1; w < w_count; w++) {
                here[w] = here[w] * stay + right[w] * by_right + wrong[w - 1] * by_wrong;
            }
            c->failed += wrong[w_count - 1] * by_wrong;
        }
    }
}

static void add_one(struct chain *c)
{
    for (uint32_t t = 0; t < c->k0 + c->k1; t++) {
        throw_one(c, t < c->k0, c->m - (c->distinct ? t : c->rounds ? t % SECTORS : 0));
    }
}

/* The chance to pass of a key that was never added. */
static double pass_chance(const struct chain *c)
{
    double sum = 0;
    for (size_t i = 0; i < states(c); i++) {
        sum += c->mass[i] * c->pass[i];
    }
    return at_most_one(sum);
}

/* ---- the line of a key, k <= 8 --------------------------------------------------------------- */

/* To choose g and then h of n sectors: n! / (g! h! (n - g - h)!). */
static double choose_two(uint32_t n, uint32_t g, uint32_t h)
{
    static const double factorial[SECTORS + 1] = {1, 1, 2, 6, 24, 120, 720, 5040, 40320};
    return g + h > n ? 0 : factorial[n] / (factorial[g] * factorial[h] * factorial[n - g - h]);
}

/*
 * hit[u][g][h]: u undecided bits lie in u sectors; the chance that one addition to the line resets
 * g given ones of them, sets h other given ones, and leaves the rest alone. That c and d more of
 * their sectors are used and missed is summed over.
 */
struct line_step {
    double hit[SECTORS + 1][SECTORS + 1][SECTORS + 1];
};

static double hit_chance(const struct chain *c, uint32_t u, uint32_t g, uint32_t h)
{
    double sum = 0;
    for (uint32_t more_g = 0; g + more_g <= c->k0; more_g++) {
        for (uint32_t more_h = 0; h + more_h <= c->k1; more_h++) {
            sum += choose_two(u - g - h, more_g, more_h) *
                   choose_two(SECTORS - u, c->k0 - g - more_g, c->k1 - h - more_h) *
                   pow(1 - 1 / SECTOR_CELLS, more_g + more_h);
        }
    }
    return sum / choose_two(SECTORS, c->k0, c->k1) / pow(SECTOR_CELLS, g + h);
}

static void make_step(const struct chain *c, struct line_step *step)
{
    for (uint32_t u = 0; u <= c->k0 + c->k1; u++) {
        for (uint32_t g = 0; g <= c->k0 && g <= u; g++) {
            for (uint32_t h = 0; h <= c->k1 && g + h <= u; h++) {
                step->hit[u][g][h] = hit_chance(c, u, g, h);
            }
        }
    }
}

/* What becomes of the mass of (a, b): x and y of the a, z and v of the b are reset and set. */
static void line_spread(struct chain *c, const struct line_step *step, uint32_t a, uint32_t b)
{
    double old[SECTORS];
    double *here = mass_at(c, a, b);
    const uint32_t w_count = c->tolerance + 1;
    memcpy(old, here, w_count * sizeof *old);
    memset(here, 0, w_count * sizeof *here);
    for (uint32_t x = 0; x <= a; x++) {
        for (uint32_t y = 0; x + y <= a; y++) {
            for (uint32_t z = 0; z <= b && x + z <= c->k0; z++) {
                for (uint32_t v = 0; z + v <= b && y + v <= c->k1; v++) {
                    double chance =
                        choose_two(a, x, y) * choose_two(b, z, v) * step->hit[a + b][x + z][y + v];
                    double *to = mass_at(c, a - x - y, b - z - v);
                    for (uint32_t w = 0; w < w_count; w++) {
                        if (w + y + z < w_count) {
                            to[w + y + z] += chance * old[w];
                        } else {
                            c->failed += chance * old[w];
                        }
                    }
                }
            }
        }
    }
}

/* States go to smaller ones or stay, so each is spread once, the small ones first. */
static void line_add_one(struct chain *c, const struct line_step *step)
{
    for (uint32_t a = 0; a <= c->k0; a++) {
        for (uint32_t b = 0; b <= c->k1; b++) {
            line_spread(c, step, a, b);
        }
    }
}

/* ---- the number of additions to a line ------------------------------------------------------- */

/* Walks through j = 0, 1, 2, ...: P(Bin(count, share) = j), and what is left above j. */
struct load {
    double count;
    double log_odds; /* of share */
    double log_now;
    double now;
    double above;
};

static struct load load_of(uint64_t count, double share)
{
    struct load load = {.count = (double)count, .log_odds = log(share) - log1p(-share)};
    load.log_now = log_all_miss(share, load.count);
    if (share >= 1) { /* one line: all of them */
        load.log_odds = INFINITY;
    }
    load.now = exp(load.log_now);
    load.above = -expm1(load.log_now);
    return load;
}

static void load_next(struct load *load, uint64_t j) /* from j to j + 1 */
{
    if (load->log_odds == INFINITY) {
        load->now = (double)(j + 1) == load->count ? 1 : 0;
        load->above = (double)(j + 1) < load->count ? 1 : 0;
        return;
    }
    if ((double)j >= load->count) {
        load->now = load->above = 0;
        return;
    }
    load->log_now += log((load->count - (double)j) / (double)(j + 1)) + load->log_odds;
    load->now = exp(load->log_now);
    load->above = fmax(0, load->above - load->now);
}

/* ---- the rates ------------------------------------------------------------------------------- */

/* What is asked for, and where it is collected. */
struct asked {
    uint64_t n;
    const uint64_t *ages;
    size_t age_count;
    double *fn_by_age;
    struct tepal_generalized_errors *out;
    double p0;
};

static double steady(const struct chain *c)
{
    uint64_t m = (uint64_t)c->m;
    double q0 = tepal_generalized_q0(m, c->k0, c->k1);
    double zeros = q0 / (q0 + tepal_generalized_q1(m, c->k0, c->k1));
    return tepal_model_sum_at_most(c->k0, 1 - zeros, c->k1, zeros, c->tolerance);
}

static void flat_exact(struct chain *c, const struct asked *ask, double turns)
{
    double sum = 0;
    size_t next = 0;
    uint64_t age = 0;
    begin(c);
    weigh_undecided(c, ask->p0);
    for (; (double)age <= turns; age++) {
        for (; next < ask->age_count && ask->ages[next] == age; next++) {
            ask->fn_by_age[next] = c->failed;
        }
        if (age == ask->n) {
            ask->out->fp = pass_chance(c);
            ask->out->fn_bound = c->failed;
        }
        sum += age < ask->n ? c->failed : 0;
        add_one(c);
    }
    for (; next < ask->age_count; next++) { /* nothing changes any more */
        ask->fn_by_age[next] = c->failed;
    }
    ask->out->fp_steady = pass_chance(c);
    if (ask->n >= age) {
        ask->out->fp = ask->out->fp_steady;
        ask->out->fn_bound = c->failed;
        sum += (double)(ask->n - age) * c->failed;
    }
    ask->out->fn = ask->n == 0 ? 0 : sum / (double)ask->n;
}

#define AGES_AT_ONCE 128

/* A key's bits in one line, as further keys are added to that line. */
struct line_walk {
    struct chain *chain;
    bool sectors; /* one bit a sector: the chain takes `step`; else its own, over two rounds */
    struct line_step step;
};

static void line_begin(struct line_walk *walk, struct chain *c, bool sectors)
{
    walk->chain = c;
    walk->sectors = sectors;
    if (sectors) {
        memset(&walk->step, 0, sizeof walk->step);
        begin(c);
        make_step(c, &walk->step);
    } else {
        begin_rounds(c);
    }
}

static void line_next(struct line_walk *walk)
{
    if (walk->sectors) {
        line_add_one(walk->chain, &walk->step);
    } else {
        add_one(walk->chain);
    }
}

/*
 * How many keys came to a line: of all n, and of those since an age that is asked for. What is
 * asked for are means over these numbers.
 */
struct line_loads {
    double lines;
    struct load keys;
    struct load since[AGES_AT_ONCE];
    double fn_weight; /* of the mean over all ages, so far */
};

static void loads_begin(struct line_loads *loads, const struct asked *ask, double lines)
{
    loads->lines = lines;
    loads->keys = load_of(ask->n, 1 / lines);
    loads->fn_weight = 0;
    for (size_t i = 0; i < ask->age_count; i++) {
        loads->since[i] = load_of(ask->ages[i], 1 / lines);
        ask->fn_by_age[i] = 0;
    }
    ask->out->fp = ask->out->fn = ask->out->fn_bound = 0;
}

static void loads_next(struct line_loads *loads, const struct asked *ask, uint64_t j)
{
    load_next(&loads->keys, j);
    for (size_t i = 0; i < ask->age_count; i++) {
        load_next(&loads->since[i], j);
    }
}

/* The share of so many additions; after the last that is looked at nothing changes any more. */
static double share_of(const struct load *load, bool last)
{
    return last ? load->now + load->above : load->now;
}

/* The terms of all means for the number of additions that the walk is at. */
static void collect(struct line_loads *loads, const struct chain *c, const struct asked *ask,
                    bool last)
{
    struct tepal_generalized_errors *out = ask->out;
    const struct load *keys = &loads->keys;
    double pass = last || keys->now > 0 ? pass_chance(c) : 0;
    out->fp += share_of(keys, last) * pass;
    out->fn_bound += share_of(keys, last) * c->failed;
    /* sum over ages i < n of P(Bin(i, s) = j) is P(Bin(n, s) > j) / s */
    double weight = ask->n == 0 ? 0 : keys->above * loads->lines / (double)ask->n;
    out->fn += (last ? fmax(0, 1 - loads->fn_weight) : weight) * c->failed;
    loads->fn_weight += weight;
    for (size_t i = 0; i < ask->age_count; i++) {
        ask->fn_by_age[i] += share_of(&loads->since[i], last) * c->failed;
    }
    if (last) {
        out->fp_steady = pass;
        out->fn = ask->n == 0 ? 0 : out->fn;
    }
}

static double line_turns(const struct chain *c)
{
    return DECIDED * TEPAL_LINE_BITS / (c->k0 + c->k1);
}

static void lines_rates(struct chain *c, const struct asked *ask, double lines, bool sectors)
{
    struct line_walk walk;
    struct line_loads loads;
    weigh_undecided(c, ask->p0);
    line_begin(&walk, c, sectors);
    loads_begin(&loads, ask, lines);
    uint64_t j = 0;
    for (; (double)j < line_turns(c); j++) {
        collect(&loads, c, ask, false);
        loads_next(&loads, ask, j);
        line_next(&walk);
    }
    collect(&loads, c, ask, true);
}

static void approximate(struct chain *c, const struct asked *ask, uint64_t m)
{
    struct tepal_generalized_errors *out = ask->out;
    uint32_t b = c->tolerance;
    out->fp = tepal_generalized_fp_approx(m, ask->n, c->k0, c->k1, b, ask->p0);
    out->fn = tepal_generalized_fn_approx(m, ask->n, c->k0, c->k1, b);
    out->fn_bound = tepal_generalized_fn_bound(m, ask->n, c->k0, c->k1, b);
    out->fp_steady = steady(c);
    for (size_t i = 0; i < ask->age_count; i++) {
        ask->fn_by_age[i] = tepal_generalized_fn_age_approx(m, ask->ages[i], c->k0, c->k1, b);
    }
}

static void set_chain(struct chain *c, const struct tepal_params *params)
{
    c->k0 = (uint32_t)params->generalized.reset_hashes;
    c->k1 = params->hashes - c->k0;
    c->tolerance = (uint32_t)params->generalized.tolerance;
    c->distinct = params->positions == TEPAL_POSITIONS_DISTINCT;
    c->m = (double)params->cells;
    c->rounds = false;
}

enum tepal_status tepal_generalized_rates(const struct tepal_params *params, uint64_t n,
                                          const uint64_t *ages, size_t age_count, double *fn_by_age,
                                          struct tepal_generalized_errors *out)
{
    struct chain c;
    if (params->kind != TEPAL_KIND_GENERALIZED || age_count > AGES_AT_ONCE) {
        return TEPAL_BAD_ARGUMENT;
    }
    enum tepal_status status = tepal_params_check(params, NULL);
    if (status != TEPAL_OK) {
        return status;
    }
    set_chain(&c, params);
    struct asked ask = {n, ages, age_count, fn_by_age, out, params_zeros(params)};
    double turns = DECIDED * c.m / (c.k0 + c.k1);
    bool fits = states(&c) <= MAX_STATES;
    if (params->layout == TEPAL_LAYOUT_BLOCKED && fits) {
        bool sectors = params->hashes <= SECTORS;
        c.rounds = !sectors;
        c.distinct = sectors || c.distinct || c.k0 > 0; /* generalized/internal.h */
        c.m = TEPAL_LINE_BITS;
        lines_rates(&c, &ask, (double)params->cells / TEPAL_LINE_BITS, sectors);
        out->exact = sectors;
        return TEPAL_OK;
    }
    /* the steady state is worth its time only where it comes with the rest */
    double least = fmin(turns, (double)n);
    double work = (double)states(&c) * (c.k0 + c.k1);
    out->exact = fits && params->layout == TEPAL_LAYOUT_FLAT && least * work <= MAX_WORK;
    if (!out->exact) {
        approximate(&c, &ask, params->cells);
    } else if (turns * work <= MAX_WORK) {
        flat_exact(&c, &ask, turns);
    } else {
        flat_exact(&c, &ask, (double)n);
        out->fp_steady = steady(&c);
    }
    return TEPAL_OK;
}

double tepal_model_line_forgets(const struct tepal_params *params, uint64_t n)
{
    struct chain c;
    struct line_walk walk;
    set_chain(&c, params);
    double lines = c.m / TEPAL_LINE_BITS;
    double turns = line_turns(&c);
    struct load keys = load_of(n, 1 / lines);
    double sum = 0;
    c.m = TEPAL_LINE_BITS;
    c.distinct = true;
    line_begin(&walk, &c, true);
    for (uint64_t j = 0;; j++) {
        if ((double)j >= turns) {
            return sum + (keys.now + keys.above) * c.failed;
        }
        sum += keys.now * c.failed;
        if ((double)j > (double)n / lines && keys.now < 1e-13 * sum) {
            return sum;
        }
        load_next(&keys, j);
        line_next(&walk);
    }
}

/* ---- the bound ------------------------------------------------------------------------------- */

double tepal_model_generalized_bound(const struct tepal_params *params)
{
    struct chain c;
    set_chain(&c, params);
    if (params->layout == TEPAL_LAYOUT_FLAT) {
        return tepal_generalized_fp_bound_finite(c.distinct ? TEPAL_GENERALIZED_DISTINCT
                                                            : TEPAL_GENERALIZED_PRECEDENCE,
                                                 params->cells, c.k0, c.k1, c.tolerance);
    }
    if (params->hashes > SECTORS) {
        return tepal_model_line_bound(c.k0, c.k1, c.tolerance);
    }
    /*
     * In a line the chance to pass is linear in the zeros of each sector, for no key has two cells
     * there: its maximum is at a corner, where every sector is all zeros or all ones. What is left
     * is a filter of 8 bits.
     */
    return tepal_generalized_fp_bound_finite(TEPAL_GENERALIZED_DISTINCT, SECTORS, c.k0, c.k1,
                                             c.tolerance);
}
