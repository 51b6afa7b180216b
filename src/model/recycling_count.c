/*
 * recycling_count.c: recycling filters that count messages: the rate after n messages, averages
 * over a cycle of them, and the other way round.
 *
 * The rate after n messages is that of the expected number of ones, eq. (1): with colliding
 * positions (1 - (1 - 1/M)^(kn))^k, with distinct ones C(b,k) / C(M,k) at b = M (1 - (1 - k/M)^n).
 * Other layouts have the rate of a filter with n keys.
 */
#include "model/recycling.h"

#include "model/search.h"
#include "params/params.h"

#include <math.h>

struct counted {
    const struct tepal_recycling_setting *s;
    bool actual; /* with the false positives that come until the next message sets bits */
};

/* Of the message after n others, n real. */
static double rate_after(const struct tepal_recycling_setting *s, double n)
{
    double m = (double)s->bits;
    if (s->layout != TEPAL_LAYOUT_FLAT) {
        return tepal_model_recycling_fp(s, n);
    }
    if (s->positions == TEPAL_POSITIONS_COLLIDING) {
        /* m = 1: the first message sets everything */
        double c = s->bits == 1 ? 1e300 : -(double)s->hashes * log1p(-1 / m);
        return pow(-expm1(-c * n), s->hashes);
    }
    double ones =
        s->bits == s->hashes ? (n > 0 ? m : 0) : -m * expm1(n * log1p(-(double)s->hashes / m));
    double rate = 1;
    for (uint32_t i = 0; i < s->hashes; i++) {
        rate *= ones > i ? (ones - i) / (m - i) : 0;
    }
    return rate;
}

static double counted_at(const void *context, double n)
{
    const struct counted *a = context;
    double f = rate_after(a->s, n);
    return a->actual ? f / (1 - f) : f;
}

/* The slope at n, which Euler and Maclaurin's last term asks for. */
static double counted_slope(const struct counted *a, double n)
{
    double low = fmax(n - 0.5, 0);
    return (counted_at(a, n + 0.5) - counted_at(a, low)) / (n + 0.5 - low);
}

/* The sum over n = first .. end - 1. */
static double counted_sum(const struct counted *a, double first, double end)
{
    if (end <= 64 || (end <= 4096 && a->s->layout == TEPAL_LAYOUT_FLAT)) {
        double sum = 0;
        for (double n = first; n < end; n++) {
            sum += counted_at(a, n);
        }
        return sum;
    }
    double load = (double)a->s->hashes * end / (double)a->s->bits;
    unsigned panels = 4 + (unsigned)fmin(load, 1000);
    return tepal_model_recycling_integral(counted_at, a, first, end, panels) -
           (counted_at(a, end) - counted_at(a, first)) / 2 +
           (counted_slope(a, end) - counted_slope(a, first)) / 12;
}

/* ---- the three bounds ------------------------------------------------------------------------ */

static struct tepal_recycling_setting flat_setting(enum tepal_positions positions, uint64_t m,
                                                   uint32_t k)
{
    return (struct tepal_recycling_setting){TEPAL_LAYOUT_FLAT, positions, m, k, 0, 1, false, false};
}

/*
 * An oracle's cycle is n messages. A filter that counts to n recycles at the next message that sets
 * bits, so that its cycle has n + 1 of them, found after 0 .. n others, and the false positives.
 */
double tepal_recycling_bound_rate(enum tepal_recycling_bound bound, enum tepal_positions positions,
                                  uint64_t m, uint64_t n, uint32_t k)
{
    struct tepal_recycling_setting s = flat_setting(positions, m, k);
    bool actual = bound == TEPAL_RECYCLING_ACTUAL;
    if (m == 0 || n == 0 || k == 0 || k > TEPAL_MAX_HASHES ||
        (positions == TEPAL_POSITIONS_DISTINCT && k > m)) {
        return NAN;
    }
    if (bound == TEPAL_RECYCLING_WORST) {
        return rate_after(&s, (double)n);
    }
    double count = (double)n + actual;
    double sum = counted_sum(&(struct counted){&s, actual}, 0, count);
    return actual ? (isfinite(sum) ? sum / (count + sum) : 1) : sum / count;
}

double tepal_recycling_worst(uint64_t m, uint64_t n, uint32_t k)
{
    return tepal_recycling_bound_rate(TEPAL_RECYCLING_WORST, TEPAL_POSITIONS_COLLIDING, m, n, k);
}

double tepal_recycling_oracle(uint64_t m, uint64_t n, uint32_t k)
{
    return tepal_recycling_bound_rate(TEPAL_RECYCLING_ORACLE, TEPAL_POSITIONS_COLLIDING, m, n, k);
}

double tepal_recycling_actual(uint64_t m, uint64_t n, uint32_t k)
{
    return tepal_recycling_bound_rate(TEPAL_RECYCLING_ACTUAL, TEPAL_POSITIONS_COLLIDING, m, n, k);
}

/* ---- how many messages ----------------------------------------------------------------------- */

struct counting {
    enum tepal_recycling_bound bound;
    enum tepal_positions positions;
    uint64_t m;
    uint32_t k;
    double fp;
};

static double still_within(const void *context, uint64_t n)
{
    const struct counting *c = context;
    return log(c->fp) - log(tepal_recycling_bound_rate(c->bound, c->positions, c->m, n, c->k));
}

static uint64_t count_for(struct counting c)
{
    uint64_t first;
    uint64_t high = c.m < PARAMS_MAX_CELLS / 4 ? 4 * c.m + 64 : PARAMS_MAX_CELLS;
    double guess = (double)c.m / c.k * 0.7;
    if (!(still_within(&c, 1) >= 0)) {
        return 0;
    }
    /* The first n at which the rate exceeds fp, strictly. */
    if (!tepal_model_search(still_within, &c, 1, high, guess >= 1 ? (uint64_t)guess : 1, &first)) {
        return high;
    }
    return still_within(&c, first) < 0 ? first - 1 : first;
}

uint64_t tepal_recycling_capacity(enum tepal_recycling_bound bound, enum tepal_positions positions,
                                  uint64_t m, double fp, uint32_t *hashes)
{
    uint64_t most = 0;
    uint32_t best = *hashes == 0 ? 1 : *hashes;
    uint32_t worse = 0;
    if (!(fp > 0 && fp < 1) || m == 0 || *hashes > TEPAL_MAX_HASHES) {
        return 0;
    }
    for (uint32_t k = *hashes == 0 ? 1 : *hashes;
         k <= (*hashes == 0 ? TEPAL_MAX_HASHES : *hashes) && worse < 3; k++) {
        uint64_t n = count_for((struct counting){bound, positions, m, k, fp});
        worse = n > most ? 0 : worse + (most > 0);
        if (n > most) {
            most = n;
            best = k;
        }
    }
    *hashes = best;
    return most;
}

/* ---- a filter that counts -------------------------------------------------------------------- */

/*
 * How many messages, false positives among them, come until n of them have set bits. False
 * positives set none, so that the bits after t messages of both sorts are those of any t messages,
 * and the next is found with rate_after(t): T - sum of rate_after over t < T is n. (Eq. (3) takes
 * the bits after n messages that set some for those after any n, which are fewer: a lower bound.)
 * Newton's steps: from the left they never go beyond, since ever fewer messages set bits.
 */
static double messages_until(const struct tepal_recycling_setting *s, double n)
{
    const struct counted a = {s, false};
    double t = n;
    for (unsigned step = 0; step < 1000 && isfinite(t); step++) {
        double whole = floor(t);
        double last = rate_after(s, whole);
        double sum = counted_sum(&a, 0, whole) + (t - whole) * last;
        double more = (n - (t - sum)) / (1 - last);
        if (!(more > 1e-12 * t)) {
            return t;
        }
        t += more;
    }
    return INFINITY;
}

static struct tepal_recycling_rates rates_of(const struct tepal_recycling_setting *s, double n)
{
    double t = messages_until(s, n + 1); /* a cycle from an empty phase, with its trigger */
    struct recycling_cycle cycle = {t, t - (n + 1), rate_after(s, t - 1 + s->keep_trigger)};
    struct tepal_recycling_rates rates = tepal_model_recycling_rates(s, cycle);
    if (!isfinite(t)) {
        rates.fp_active = rates.fp_average = 1;
    }
    rates.fp_full = rate_after(s, t - 1);
    rates.method = TEPAL_RECYCLING_CLOSED;
    return rates;
}

struct sized {
    struct tepal_recycling_setting s;
    double n;
    double fp;
};

static double still_above(const void *context, uint64_t bits)
{
    struct sized at = *(const struct sized *)context;
    at.s.bits = bits;
    return log(rates_of(&at.s, at.n).fp_average) - log(at.fp);
}

/* The fewest bits of a phase, for this number of hashes. 0: none. */
static uint64_t bits_for(const struct sized *w)
{
    uint64_t least = w->s.hashes + 1;
    uint64_t first;
    double guess = w->n * w->s.hashes * 1.44 + (double)least;
    if (!tepal_model_search(still_above, w, least, (uint64_t)1 << 58,
                            guess < 0x1p58 ? (uint64_t)guess : (uint64_t)1 << 58, &first)) {
        return 0;
    }
    return first;
}

enum tepal_status tepal_recycling_for_count(struct tepal_recycling_setting *setting, uint64_t n,
                                            double fp, struct tepal_recycling_rates *rates)
{
    struct tepal_recycling_setting best = *setting;
    bool sizing = setting->bits == 0;
    double least = INFINITY;
    uint32_t last = setting->hashes != 0 ? setting->hashes : TEPAL_MAX_HASHES;
    if (sizing && setting->layout != TEPAL_LAYOUT_FLAT) {
        return TEPAL_UNSUPPORTED;
    }
    if (n == 0 || n >= (uint64_t)1 << 52 || last > TEPAL_MAX_HASHES ||
        (sizing && !(fp > 0 && fp < 1))) {
        return TEPAL_BAD_ARGUMENT;
    }
    unsigned worse = 0;
    for (uint32_t k = setting->hashes != 0 ? setting->hashes : 1; k <= last && worse < 3; k++) {
        struct sized w = {*setting, (double)n, fp};
        w.s.hashes = k;
        if (sizing) {
            w.s.bits = bits_for(&w);
        }
        if (!tepal_model_recycling_valid(&w.s, true)) {
            continue;
        }
        double bad = sizing ? (double)w.s.bits : rates_of(&w.s, (double)n).fp_average;
        worse = bad < least ? 0 : worse + 1;
        if (bad < least) {
            least = bad;
            best = w.s;
        }
    }
    if (!isfinite(least)) {
        return TEPAL_BAD_ARGUMENT;
    }
    *setting = best;
    *rates = rates_of(setting, (double)n);
    return TEPAL_OK;
}
