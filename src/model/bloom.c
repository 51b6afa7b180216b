/*
 * bloom.c: what the models say of a Bloom filter in each layout: its rate, its fill, its best
 * number of hashes, the size it needs, and all of it as a report.
 *
 *     flat         flat.c: a chain over the asked cells, or a series for large filters
 *     partitioned  here: the slices are independent, so the rate is a product
 *     blocked      blocked.c: a sum over the loads of a line
 *     paired       blocked.c: the same, twice
 *
 * Everything is the rate of an ideal filter: hashes that are independent and uniform, an absent
 * key that knows nothing of the members, an average over all the filters that could have come of
 * n keys. One filter differs from that average a little (by the spread of its number of ones), and
 * a filter with poor hashes by any amount.
 *
 * The partitioned layout is where Bloom's own reasoning is exact. Slice i has s_i cells, and each
 * key sets one of them:
 *
 *     rate = product over i of 1 - (1 - 1/s_i)^n
 *
 * A key misses a given cell with chance 1 - k/m, below the (1 - 1/m)^k of k free throws: the slices
 * fill a little faster than a flat filter, and err a little more.
 *
 * The best number of hashes is found by asking, not by formula: m/n ln 2 is where the classic rate
 * has its minimum, the true rates have theirs near it (flat) or below it (lines). From there the
 * search goes downhill; it looks two steps ahead, for the rates of the paired layout ripple by a
 * thousandth between even and odd k. The size solver takes the m that one k needs, then asks
 * whether any k could do with less, until none can.
 */
#include <tepal/papers.h>

#include "model/blocked.h"
#include "model/flat.h"
#include "model/model.h"
#include "model/numeric.h"
#include "model/search.h"
#include "params/params.h"

#include <math.h>

#define LN2 0.6931471805599453

/* Where cells lie; and of what size they are, which decides how many go into a line's sector. */
struct shape {
    enum tepal_layout layout;
    enum tepal_positions positions;
    uint32_t sector;
};

#define SECTOR_BITS     64
#define SECTOR_COUNTERS 16

static struct model_line line_of(const struct shape *s)
{
    return (struct model_line){s->sector, s->positions == TEPAL_POSITIONS_DISTINCT};
}

/* The step in which a layout's size grows, in cells. */
static uint64_t unit_of(const struct shape *s)
{
    return tepal_layout_in_lines(s->layout) ? (uint64_t)MODEL_LINE_SECTORS * s->sector : 1;
}

/* The fewest cells for k hashes. */
static uint64_t least_cells(const struct shape *s, uint32_t k)
{
    bool distinct = s->positions == TEPAL_POSITIONS_DISTINCT;
    switch (s->layout) {
    case TEPAL_LAYOUT_FLAT:
        return distinct ? k : 1;
    case TEPAL_LAYOUT_PARTITIONED:
        return k;
    case TEPAL_LAYOUT_BLOCKED:
        return unit_of(s);
    case TEPAL_LAYOUT_PAIRED:
        return (distinct ? 2 : 1) * unit_of(s);
    }
    return UINT64_MAX;
}

static bool rule_known(const struct shape *s)
{
    return tepal_params_max_hashes(s->layout) != 0 &&
           (s->positions == TEPAL_POSITIONS_COLLIDING || s->positions == TEPAL_POSITIONS_DISTINCT);
}

/* Is this a filter at all? */
static bool valid(const struct shape *s, uint64_t m, uint32_t k)
{
    return rule_known(s) && k >= 1 && k <= tepal_params_max_hashes(s->layout) &&
           m % unit_of(s) == 0 && m >= least_cells(s, k);
}

/* m = k * size + larger: `larger` of the slices have one cell more. */
static double partitioned_rate(uint64_t m, uint64_t n, uint32_t k)
{
    if (n == 0) {
        return 0;
    }
    double size = (double)(m / k);
    double larger = (double)(m % k);
    return exp((k - larger) * log_one_minus_exp(log_all_miss(1 / size, (double)n)) +
               larger * log_one_minus_exp(log_all_miss(1 / (size + 1), (double)n)));
}

static double partitioned_fill(uint64_t m, uint64_t n, uint32_t k)
{
    double size = (double)(m / k);
    double larger = (double)(m % k);
    double ones = -(k - larger) * size * expm1(log_all_miss(1 / size, (double)n)) -
                  larger * (size + 1) * expm1(log_all_miss(1 / (size + 1), (double)n));
    return ones / (double)m;
}

static double rate_of(const struct shape *s, uint64_t m, uint64_t n, uint32_t k)
{
    double first;
    if (!valid(s, m, k)) {
        return NAN;
    }
    switch (s->layout) {
    case TEPAL_LAYOUT_FLAT:
        return tepal_model_flat_rate(m, n, k, s->positions == TEPAL_POSITIONS_DISTINCT);
    case TEPAL_LAYOUT_PARTITIONED:
        return partitioned_rate(m, n, k);
    case TEPAL_LAYOUT_BLOCKED:
        return tepal_model_blocked_rate(m / unit_of(s), (double)n, k, line_of(s),
                                        MODEL_LOAD_BINOMIAL);
    case TEPAL_LAYOUT_PAIRED:
        return tepal_model_paired_rate(m / unit_of(s), (double)n, k, line_of(s),
                                       MODEL_LOAD_BINOMIAL, &first);
    }
    return NAN;
}

/*
 * The rate, and in *doubt how far off it may be, relative to itself: most comparisons need no more.
 * In flat filters the series is a hundred times cheaper than the chain.
 */
static double rough_of(const struct shape *s, uint64_t m, uint64_t n, uint32_t k, double *doubt)
{
    if (s->layout == TEPAL_LAYOUT_FLAT && k > 1 && n > 0 && valid(s, m, k)) {
        double rate =
            tepal_model_flat_series(m, n, k, s->positions == TEPAL_POSITIONS_DISTINCT, doubt);
        *doubt = 2 * *doubt + 1e-11;
        if (*doubt < 0.01) {
            return rate;
        }
    }
    *doubt = 0;
    return rate_of(s, m, n, k);
}

static double fill_of(const struct shape *s, uint64_t m, uint64_t n, uint32_t k)
{
    bool distinct = s->positions == TEPAL_POSITIONS_DISTINCT;
    if (!valid(s, m, k)) {
        return NAN;
    }
    switch (s->layout) {
    case TEPAL_LAYOUT_FLAT: /* k n throws at one of m, or n throws at k of m */
        return distinct ? -expm1(log_all_miss(k / (double)m, (double)n))
                        : -expm1(log_all_miss(1 / (double)m, (double)n * k));
    case TEPAL_LAYOUT_PARTITIONED:
        return partitioned_fill(m, n, k);
    case TEPAL_LAYOUT_BLOCKED:
        return tepal_model_blocked_fill(m / unit_of(s), n, k, line_of(s));
    case TEPAL_LAYOUT_PAIRED:
        return tepal_model_paired_fill(m / unit_of(s), n, k, line_of(s));
    }
    return NAN;
}

/*
 * Where to begin looking for the best k. Lines with more bits a key profit less and less from more
 * hashes, for it is the fullest lines that err: the root is fitted to the results, and only saves
 * steps.
 */
static double likely_hashes(enum tepal_layout layout, double bits_per_key)
{
    double classic = bits_per_key * LN2;
    double root = sqrt(bits_per_key);
    switch (layout) {
    case TEPAL_LAYOUT_FLAT:
    case TEPAL_LAYOUT_PARTITIONED:
        return classic;
    case TEPAL_LAYOUT_BLOCKED:
        return fmin(classic, 2.5 * root);
    case TEPAL_LAYOUT_PAIRED:
        return fmin(classic, 3.55 * root);
    }
    return 1;
}

/* The whole number nearest to x within 1..most. */
static uint32_t nearest_hashes(double x, uint32_t most)
{
    if (!(x >= 1)) {
        return 1;
    }
    return x >= most ? most : (uint32_t)(x + 0.5);
}

/*
 * Is k better than the best so far? Of equals the smaller: it is the cheaper one. Rates that only
 * rounding tells apart are equal, or the choice, which goes into files, would be the machine's.
 */
#define ROUNDING 1e-12

struct tried {
    double rate;  /* below 0: not asked yet */
    double doubt; /* 0: exact */
};

static bool beats(const struct shape *s, uint64_t m, uint64_t n, struct tried *tried, uint32_t k,
                  uint32_t best)
{
    double apart = fabs(tried[k].rate - tried[best].rate);
    if (apart <= tried[k].rate * tried[k].doubt + tried[best].rate * tried[best].doubt) {
        const uint32_t both[2] = {k, best};
        for (int i = 0; i < 2; i++) {
            if (tried[both[i]].doubt > 0) {
                tried[both[i]] = (struct tried){rate_of(s, m, n, both[i]), 0};
            }
        }
    }
    return k < best ? tried[k].rate <= tried[best].rate * (1 + ROUNDING)
                    : tried[k].rate < tried[best].rate * (1 - ROUNDING);
}

static uint32_t best_hashes(const struct shape *s, uint64_t m, uint64_t n)
{
    struct tried tried[TEPAL_MAX_HASHES + 1];
    if (!valid(s, m, 1)) {
        return 0;
    }
    if (n == 0) {
        return 1;
    }
    uint32_t most = tepal_params_max_hashes(s->layout);
    while (!valid(s, m, most)) {
        most--;
    }
    for (uint32_t k = 1; k <= most; k++) {
        tried[k].rate = -1;
    }
    uint32_t best = nearest_hashes(likely_hashes(s->layout, (double)m / (double)n), most);
    tried[best].rate = rough_of(s, m, n, best, &tried[best].doubt);
    for (;;) {
        uint32_t from = best > 2 ? best - 2 : 1;
        uint32_t to = best + 2 < most ? best + 2 : most;
        uint32_t next = best;
        for (uint32_t k = from; k <= to; k++) {
            if (tried[k].rate < 0) {
                tried[k].rate = rough_of(s, m, n, k, &tried[k].doubt);
            }
            next = k != next && beats(s, m, n, tried, k, next) ? k : next;
        }
        if (next == best) {
            return best;
        }
        best = next;
    }
}

/* For the search: how far above the wanted rate, in logs. */
struct wanted {
    struct shape shape;
    uint64_t keys, cells; /* one of them is searched for */
    uint32_t hashes;
    double fp;
};

static double log_excess(const struct wanted *w, uint64_t m, uint64_t n)
{
    double doubt;
    double rate = rough_of(&w->shape, m, n, w->hashes, &doubt);
    if (fabs(rate - w->fp) <= doubt * rate) { /* too close for less than the truth */
        rate = rate_of(&w->shape, m, n, w->hashes);
    }
    if (rate == w->fp) {
        return 0;
    }
    double excess = log(rate) - log(w->fp);
    if (rate < w->fp) { /* the comparison decides, not the rounding of two logs */
        return excess < -1e3 ? -1e3 : excess < 0 ? excess : -1e-300;
    }
    return excess > 0 ? excess : 1e-300;
}

static double by_units(const void *context, uint64_t units)
{
    const struct wanted *w = context;
    return log_excess(w, units * unit_of(&w->shape), w->keys);
}

/* Turned round: positive until the rate is above the wanted one. */
static double by_keys(const void *context, uint64_t n)
{
    const struct wanted *w = context;
    double excess = log_excess(w, w->cells, n);
    return excess < 0 || excess > 0 ? -excess : 1e-300; /* equal is still good enough */
}

/* The smallest number of cells, at most `most`, for these hashes; 0 if there is none. */
static uint64_t cells_for(const struct wanted *w, uint64_t most)
{
    uint64_t unit = unit_of(&w->shape);
    uint64_t low = least_cells(&w->shape, w->hashes) / unit;
    uint64_t high = most / unit;
    uint64_t units;
    /* The classic formula, solved for m, is never far off. */
    double classic = -(double)w->keys * w->hashes / log1p(-pow(w->fp, 1. / w->hashes));
    double guess = ceil(classic / (double)unit);
    uint64_t begin = guess < (double)high ? (uint64_t)guess : high;
    if (low > high || !tepal_model_search(by_units, w, low, high, begin, &units)) {
        return 0;
    }
    return units * unit;
}

static enum tepal_status size_of(const struct shape *s, uint64_t n, double fp, uint64_t *cells,
                                 uint32_t *hashes)
{
    if (!rule_known(s) || !cells || !hashes || n == 0 || !(fp > 0 && fp < 1) ||
        *hashes > tepal_params_max_hashes(s->layout)) {
        return TEPAL_BAD_ARGUMENT;
    }
    uint64_t unit = unit_of(s);
    struct wanted w = {.shape = *s, .keys = n, .fp = fp};
    double likely = likely_hashes(s->layout, -log2(fp) / LN2); /* 1.44 log2(1/fp) bits a key */
    w.hashes = *hashes ? *hashes : nearest_hashes(likely, tepal_params_max_hashes(s->layout));
    uint64_t found = cells_for(&w, PARAMS_MAX_CELLS);
    if (*hashes == 0) {
        for (;;) {
            /* Could any k do with less? */
            uint64_t less = (found ? found : PARAMS_MAX_CELLS + unit) - unit;
            uint32_t k = best_hashes(s, less, n);
            if (k == 0 || !(rate_of(s, less, n, k) <= fp)) {
                break;
            }
            w.hashes = k;
            found = cells_for(&w, less);
            found = found ? found : less; /* `less` was good enough: this ends, come what may */
        }
    }
    if (found == 0) {
        return TEPAL_TOO_LARGE;
    }
    *cells = found;
    if (*hashes == 0) {
        *hashes = best_hashes(s, found, n);
    }
    return TEPAL_OK;
}

/* ---- for bits and for counters --------------------------------------------------------------- */

double tepal_bloom_fp(enum tepal_layout layout, enum tepal_positions positions, uint64_t m,
                      uint64_t n, uint32_t k)
{
    return rate_of(&(struct shape){layout, positions, SECTOR_BITS}, m, n, k);
}

double tepal_bloom_fill(enum tepal_layout layout, enum tepal_positions positions, uint64_t m,
                        uint64_t n, uint32_t k)
{
    return fill_of(&(struct shape){layout, positions, SECTOR_BITS}, m, n, k);
}

uint32_t tepal_bloom_best_hashes(enum tepal_layout layout, enum tepal_positions positions,
                                 uint64_t m, uint64_t n)
{
    return best_hashes(&(struct shape){layout, positions, SECTOR_BITS}, m, n);
}

enum tepal_status tepal_bloom_size(enum tepal_layout layout, enum tepal_positions positions,
                                   uint64_t n, double fp, uint64_t *cells, uint32_t *hashes)
{
    return size_of(&(struct shape){layout, positions, SECTOR_BITS}, n, fp, cells, hashes);
}

double tepal_counting_rate(enum tepal_layout layout, enum tepal_positions positions, uint64_t m,
                           uint64_t n, uint32_t k)
{
    return rate_of(&(struct shape){layout, positions, SECTOR_COUNTERS}, m, n, k);
}

double tepal_counting_fill(enum tepal_layout layout, enum tepal_positions positions, uint64_t m,
                           uint64_t n, uint32_t k)
{
    return fill_of(&(struct shape){layout, positions, SECTOR_COUNTERS}, m, n, k);
}

uint32_t tepal_counting_best_hashes(enum tepal_layout layout, enum tepal_positions positions,
                                    uint64_t m, uint64_t n)
{
    return best_hashes(&(struct shape){layout, positions, SECTOR_COUNTERS}, m, n);
}

enum tepal_status tepal_counting_size(enum tepal_layout layout, enum tepal_positions positions,
                                      uint64_t n, double fp, uint64_t *cells, uint32_t *hashes)
{
    return size_of(&(struct shape){layout, positions, SECTOR_COUNTERS}, n, fp, cells, hashes);
}

/* ---- everything, as a report ----------------------------------------------------------------- */

/* The most keys that leave the rate at or below fp. */
static uint64_t keys_for(const struct tepal_params *p, double fp)
{
    struct wanted w = {.shape = {p->layout, p->positions, SECTOR_BITS},
                       .cells = p->cells,
                       .hashes = p->hashes,
                       .fp = fp};
    double guess = -(double)p->cells / p->hashes * log1p(-pow(fp, 1. / p->hashes));
    uint64_t above;
    if (!tepal_model_search(by_keys, &w, 1, UINT64_MAX, guess < 1 ? 1 : (uint64_t)guess, &above)) {
        return UINT64_MAX;
    }
    return above - 1;
}

static void report_size(struct tepal_report *report, const char *name, const char *about,
                        const struct tepal_params *p, uint64_t n, double fp)
{
    uint64_t cells;
    uint32_t hashes = 0;
    if (tepal_bloom_size(p->layout, p->positions, n, fp, &cells, &hashes) == TEPAL_OK) {
        tepal_report_integer(report, name, about, cells);
    } else {
        tepal_report_absent(report, name, about);
    }
}

/* The same m, n and k in every layout that admits them; what does not is absent (NaN). */
static void report_rates(struct tepal_report *report, const struct tepal_params *p, uint64_t n)
{
    uint64_t m = p->cells;
    uint64_t lines = m / TEPAL_LINE_BITS;
    uint32_t k = p->hashes;
    struct shape in_lines = {TEPAL_LAYOUT_BLOCKED, p->positions, SECTOR_BITS};
    struct shape in_pairs = {TEPAL_LAYOUT_PAIRED, p->positions, SECTOR_BITS};
    struct model_line line = line_of(&in_lines);
    bool blocked = valid(&in_lines, m, k);
    bool paired = valid(&in_pairs, m, k);
    double first = NAN;

    tepal_report_real(report, "fp_classic",
                      "flat, (1 - (1 - 1/m)^(kn))^k: a lower bound of fp_exact, equal for k = 1",
                      tepal_bloom_fp_classic(m, n, k));
    tepal_report_real(report, "fp_approx", "flat, (1 - e^(-kn/m))^k: approximates fp_classic",
                      tepal_bloom_fp_approx(m, n, k));
    tepal_report_real(report, "fp_exact",
                      "flat, positions colliding, E[(X/m)^k] (Bose et al. 2008): exact",
                      tepal_bloom_fp_exact(m, n, k));
    tepal_report_real(report, "fp_distinct", "flat, positions distinct, E[C(X,k) / C(m,k)]: exact",
                      tepal_bloom_fp_distinct(m, n, k));
    tepal_report_real(report, "fp_partitioned",
                      "one cell in each of k slices, product of 1 - (1 - 1/s)^n: exact",
                      tepal_bloom_fp(TEPAL_LAYOUT_PARTITIONED, p->positions, m, n, k));
    tepal_report_real(
        report, "fp_blocked",
        "one line per key, sum over binomial line loads (after Putze et al. 2007): "
        "exact",
        blocked ? tepal_model_blocked_rate(lines, (double)n, k, line, MODEL_LOAD_BINOMIAL) : NAN);
    tepal_report_real(
        report, "fp_blocked_poisson", "as fp_blocked with Poisson loads: its limit for many lines",
        blocked ? tepal_model_blocked_rate(lines, (double)n, k, line, MODEL_LOAD_POISSON) : NAN);
    tepal_report_real(
        report, "fp_paired",
        "two lines per key, product of the lines' rates under binomial loads: exact up to a "
        "relative error of the order of 1 / lines",
        paired ? tepal_model_paired_rate(lines, (double)n, k, line, MODEL_LOAD_BINOMIAL, &first)
               : NAN);
    tepal_report_real(
        report, "fp_paired_poisson",
        "as fp_paired with Poisson loads: exact in the limit of many lines",
        paired ? tepal_model_paired_rate(lines, (double)n, k, line, MODEL_LOAD_POISSON, &first)
               : NAN);
    tepal_report_real(report, "fp_limit",
                      "2^(-m/n): no filter of m bits without false negatives can have a lower rate "
                      "(information-theoretic lower bound)",
                      n == 0 ? 0 : exp2(-(double)m / (double)n));
}

static void report_lines(struct tepal_report *report, const struct tepal_params *p, uint64_t n)
{
    double lines = (double)p->cells / TEPAL_LINE_BITS;
    bool distinct = p->positions == TEPAL_POSITIONS_DISTINCT;
    double touch = 1 / lines; /* the chance that a key has cells in a given line */
    double second = 0;        /* the chance that an absent key has the second line read */
    if (p->layout == TEPAL_LAYOUT_PAIRED && p->hashes > 1) {
        touch = distinct ? 2 / lines : (2 - 1 / lines) / lines;
        tepal_model_paired_rate(p->cells / TEPAL_LINE_BITS, (double)n, p->hashes,
                                (struct model_line){SECTOR_BITS, distinct}, MODEL_LOAD_BINOMIAL,
                                &second);
    }
    tepal_report_integer(report, "lines", "lines of 512 bits, m / 512", p->cells / TEPAL_LINE_BITS);
    tepal_report_real(report, "keys_per_line",
                      "expected number of keys with cells in a given line: exact",
                      (double)n * touch);
    tepal_report_real(report, "keys_per_line_spread",
                      "the standard deviation of that number, which is binomial: exact",
                      sqrt((double)n * touch * (1 - touch)));
    tepal_report_real(
        report, "lines_read",
        "expected cache lines read per lookup of an absent key: 1; paired: plus the probability "
        "that the first line matches",
        1 + second);
}

enum tepal_status tepal_model_bloom(const struct tepal_params *params, const struct tepal_use *use,
                                    struct tepal_report *report, struct tepal_error *error)
{
    struct tepal_params p = *params;
    struct tepal_report r = {0};
    uint64_t n = use->keys;
    enum tepal_status status;
    p.hashes = params->hashes ? params->hashes : 1;
    status = tepal_params_check(&p, error);
    if (status != TEPAL_OK) {
        return status;
    }
    uint32_t best = tepal_bloom_best_hashes(p.layout, p.positions, p.cells, n);
    double fp_best = tepal_bloom_fp(p.layout, p.positions, p.cells, n, best);
    p.hashes = params->hashes ? params->hashes : best;
    double fp = tepal_bloom_fp(p.layout, p.positions, p.cells, n, p.hashes);
    double fill = tepal_bloom_fill(p.layout, p.positions, p.cells, n, p.hashes);

    tepal_report_text(&r, "layout", "where the cells of a key are", tepal_layout_name(p.layout));
    tepal_report_text(&r, "positions", "may two positions of a key be the same?",
                      tepal_positions_name(p.positions));
    tepal_report_integer(&r, "bits", "m, cells of one bit", p.cells);
    tepal_report_integer(&r, "keys", "n, distinct keys in the filter", n);
    tepal_report_integer(&r, "hashes", "k, positions per key", p.hashes);
    tepal_report_real(&r, "bits_per_key", "m / n", (double)p.cells / (double)n);
    tepal_report_real(&r, "fp",
                      "false-positive rate of this layout with "
                      "these positions (exact; paired: see fp_paired)",
                      fp);
    tepal_report_real(&r, "fill", "expected share of ones: exact", fill);
    tepal_report_real(&r, "ones", "expected number of ones, m * fill: exact",
                      fill * (double)p.cells);
    tepal_report_integer(&r, "hashes_best", "the k with the lowest fp in this layout", best);
    tepal_report_real(&r, "hashes_best_classic",
                      "m/n ln 2, where fp_approx is lowest if k need not be whole",
                      (double)p.cells / (double)n * LN2);
    tepal_report_real(&r, "fp_best", "fp with hashes_best", fp_best);
    report_rates(&r, &p, n);
    tepal_report_real(&r, "bits_limit",
                      "n log2(1/fp): no filter with this fp and without false negatives can be "
                      "smaller (information-theoretic lower bound)",
                      n == 0 ? 0 : -(double)n * log2(fp));
    report_size(&r, "bits_for_fp",
                "the smallest m of this layout, with its best k, for n keys at this fp", &p, n, fp);
    report_size(&r, "bits_for_1_percent",
                "the smallest m of this layout, with its best k, for n keys at fp 0.01", &p, n,
                1e-2);
    report_size(&r, "bits_for_1_permille",
                "the smallest m of this layout, with its best k, for n keys at fp 0.001", &p, n,
                1e-3);
    report_size(&r, "bits_for_1_ppm",
                "the smallest m of this layout, with its best k, for n keys at fp 0.000001", &p, n,
                1e-6);
    tepal_report_integer(
        &r, "keys_for_1_percent",
        "the largest number of keys that keeps fp at or below 0.01 with this m and k",
        keys_for(&p, 1e-2));
    tepal_report_integer(
        &r, "keys_for_1_permille",
        "the largest number of keys that keeps fp at or below 0.001 with this m and k",
        keys_for(&p, 1e-3));
    if (tepal_layout_in_lines(p.layout)) {
        report_lines(&r, &p, n);
    }
    *report = r;
    return TEPAL_OK;
}
