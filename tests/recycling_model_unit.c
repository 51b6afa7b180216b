/*
 * recycling_model_unit.c: the recycling filter's model: values known beforehand, a chain worked out
 * the long way (every tau as a matrix, the steady state by iteration), the closed forms against the
 * sweep, the inverse, and the false negatives of streams.
 */
#include "check.h"

#include <tepal/papers.h>

static void relative(const char *what, double value, double expected, double most)
{
    if (!(fabs(value / expected - 1) <= most)) {
        print_error("%s: %.15g, expected %.15g within %g\n", what, value, expected, most);
        fail();
    }
}

static struct tepal_recycling_setting setting_of(uint64_t bits, uint32_t hashes, uint64_t sigma)
{
    struct tepal_recycling_setting s = TEPAL_RECYCLING_SETTING_INIT;
    s.bits = bits;
    s.hashes = hashes;
    s.sigma = sigma;
    return s;
}

static struct tepal_recycling_rates average(const struct tepal_recycling_setting *s,
                                            enum tepal_recycling_method method)
{
    struct tepal_recycling_rates rates;
    assert_ok(tepal_recycling_average(s, method, &rates));
    assert_int_equal(rates.method, method);
    return rates;
}

/* ---- values worked out elsewhere ------------------------------------------------------------- */

static void values_known_beforehand(void **state)
{
    (void)state;
    struct tepal_recycling_setting s = setting_of(1000, 5, 400);
    struct tepal_recycling_rates one = average(&s, TEPAL_RECYCLING_SWEEP);
    relative("f1", one.fp_average, 0.00204770061125, 1e-9);
    relative("E[N0]", one.messages_per_cycle, 102.831821049, 1e-9);
    s.retain = true;
    struct tepal_recycling_rates retaining = average(&s, TEPAL_RECYCLING_SWEEP);
    relative("f1, retaining", retaining.fp_average, 0.00206780926285, 1e-9);
    relative("one message less", retaining.messages_per_cycle, 101.831821049, 1e-9);
    s.retain = false;
    s.phases = 2;
    relative("f2", average(&s, TEPAL_RECYCLING_SWEEP).fp_average, 0.0121149722635, 1e-9);
    s.keep_trigger = true;
    relative("f2, kept", average(&s, TEPAL_RECYCLING_SWEEP).fp_average, 0.0125512235499, 1e-9);
}

/* ---- the long way ---------------------------------------------------------------------------- */

enum { SMALL = 64 };

/* tau_k(i, j) without recycling, eqs. (4), (6) to (8) and (11). */
static void make_tau(double tau[SMALL + 1][SMALL + 1], unsigned m, unsigned k, bool distinct)
{
    static double next[SMALL + 1][SMALL + 1];
    for (unsigned i = 0; i <= m; i++) {
        for (unsigned j = 0; j <= m; j++) {
            tau[i][j] = i == j;
        }
    }
    for (unsigned t = 1; t <= k; t++) {
        double d = distinct ? m - t + 1.0 : m;
        for (unsigned i = 0; i <= m; i++) {
            for (unsigned j = 0; j <= m; j++) {
                double hit = distinct ? (j + 1.0 > t ? j + 1.0 - t : 0) : j;
                next[i][j] = tau[i][j] * hit / d;
                next[i][j] += j > 0 ? tau[i][j - 1] * (m - j + 1.0) / d : 0;
            }
        }
        memcpy(tau, next, sizeof next);
    }
}

static double rho(unsigned m, unsigned k, bool distinct, unsigned ones)
{
    double rate = 1;
    for (unsigned i = 0; i < k; i++) {
        rate *= distinct ? (ones > i ? ((double)ones - i) / ((double)m - i) : 0) : (double)ones / m;
    }
    return rate;
}

static void check_chain(unsigned m, unsigned k, unsigned sigma, bool distinct, bool retain,
                        bool keep)
{
    static double tau[SMALL + 1][SMALL + 1];
    double pi[SMALL + 1] = {0};
    double next[SMALL + 1];
    double got[SMALL + 1];
    make_tau(tau, m, k, distinct);
    /* The steady state, message after message from an empty filter. */
    pi[0] = 1;
    for (int step = 0; step < 20000; step++) {
        double beyond = 0;
        memset(next, 0, sizeof next);
        for (unsigned i = 0; i <= sigma; i++) {
            for (unsigned j = i; j <= m && j <= i + k; j++) {
                *(j <= sigma ? &next[j] : &beyond) += pi[i] * tau[i][j];
            }
        }
        for (unsigned j = 0; j <= sigma; j++) {
            next[j] += beyond * (retain ? tau[0][j] : j == 0);
        }
        for (unsigned j = 0; j <= sigma; j++) {
            pi[j] = (pi[j] + next[j]) / 2; /* the same limit, without going round in circles */
        }
    }
    double f = 0;
    double frozen = 0;
    double recycled = 0;
    for (unsigned i = 0; i <= sigma; i++) {
        f += pi[i] * rho(m, k, distinct, i);
        for (unsigned j = sigma + 1; j <= m; j++) {
            frozen += pi[i] * tau[i][j] * rho(m, k, distinct, keep ? j : i);
            recycled += pi[i] * tau[i][j];
        }
    }
    frozen /= recycled;
    /* Eqs. (22), (23) with the boundary where it belongs: zero beyond sigma, not from it on. */
    double messages[SMALL + 1] = {0};
    for (unsigned b = sigma + 1; b-- > 0;) {
        double sum = 1;
        for (unsigned j = b + 1; j <= sigma; j++) {
            sum += tau[b][j] * messages[j];
        }
        messages[b] = sum / (1 - tau[b][b]);
    }
    struct tepal_recycling_setting s = setting_of(m, k, sigma);
    s.positions = distinct ? TEPAL_POSITIONS_DISTINCT : TEPAL_POSITIONS_COLLIDING;
    s.retain = retain;
    s.keep_trigger = keep;
    s.phases = 3;
    struct tepal_recycling_rates rates = average(&s, TEPAL_RECYCLING_SWEEP);
    relative("active", rates.fp_active, f, 1e-9);
    relative("frozen", rates.fp_frozen, frozen, 1e-9);
    relative("three phases", rates.fp_average, -expm1(log1p(-f) + 2 * log1p(-frozen)), 1e-9);
    relative("E[N0]", rates.messages_from_zero, messages[0], 1e-11);
    relative("a cycle", rates.messages_per_cycle, 1 / recycled, 1e-9);
    assert_ok(tepal_recycling_distribution(&s, got));
    for (unsigned i = 0; i <= sigma; i++) {
        assert_true(fabs(got[i] - pi[i]) <= 1e-11);
    }
}

/* Eqs. (5), (9), (10), (12) to (14): what goes beyond sigma begins again. */
static void check_tau(unsigned m, unsigned k, unsigned sigma, bool distinct, bool retain)
{
    static double tau[SMALL + 1][SMALL + 1];
    make_tau(tau, m, k, distinct);
    struct tepal_recycling_setting s = setting_of(m, k, sigma);
    s.positions = distinct ? TEPAL_POSITIONS_DISTINCT : TEPAL_POSITIONS_COLLIDING;
    s.retain = retain;
    for (unsigned i = 0; i <= sigma; i++) {
        double beyond = 0;
        for (unsigned j = sigma + 1; j <= m; j++) {
            beyond += tau[i][j];
        }
        for (unsigned j = 0; j <= sigma; j++) {
            double expected = tau[i][j] + beyond * (retain ? tau[0][j] : j == 0);
            assert_true(fabs(tepal_recycling_tau(&s, i, j) - expected) <= 1e-14);
        }
    }
    assert_true(isnan(tepal_recycling_tau(&s, sigma + 1, 0)));
    assert_true(isnan(tepal_recycling_tau(&s, 0, sigma + 1)));
    s.sigma = s.bits; /* without recycling */
    for (unsigned i = 0; i <= m; i++) {
        for (unsigned j = 0; j <= m; j++) {
            assert_true(fabs(tepal_recycling_tau(&s, i, j) - tau[i][j]) <= 1e-14);
        }
    }
    s.layout = TEPAL_LAYOUT_PARTITIONED;
    assert_true(isnan(tepal_recycling_tau(&s, 0, 1)));
    s.layout = TEPAL_LAYOUT_FLAT;
    s.hashes = 0;
    assert_true(isnan(tepal_recycling_tau(&s, 0, 1)));
}

static void the_sweep_is_the_chain(void **state)
{
    (void)state;
    static const struct {
        unsigned m, k, sigma;
    } small[] = {{40, 3, 20}, {64, 5, 37}, {30, 1, 12}, {50, 8, 8}, {24, 7, 23}, {64, 2, 63}};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        for (int variant = 0; variant < 8; variant++) {
            /* A cycle that retains a message which fills it alone has no message of its own. */
            check_chain(small[i].m, small[i].k, small[i].sigma, variant & 1, variant & 2,
                        variant & 4);
            check_tau(small[i].m, small[i].k, small[i].sigma, variant & 1, variant & 2);
        }
    }
}

/* ---- closed forms ---------------------------------------------------------------------------- */

static void one_hash_in_closed_form(void **state)
{
    (void)state;
    static const uint64_t at[][2] = {{1000, 400}, {10, 9}, {2, 1}, {100000, 50000}, {77, 5}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        struct tepal_recycling_setting s = setting_of(at[i][0], 1, at[i][1]);
        double closed = tepal_recycling_one_hash(at[i][0], at[i][1]);
        relative("one hash", average(&s, TEPAL_RECYCLING_SWEEP).fp_average, closed, 1e-11);
        relative("one hash", average(&s, TEPAL_RECYCLING_CLOSED).fp_average, closed, 1e-9);
        /* eq. (19) itself */
        double above = 0;
        double below = 0;
        for (uint64_t b = 0; b <= at[i][1]; b++) {
            above += (double)b / (double)(at[i][0] - b);
            below += (double)at[i][0] / (double)(at[i][0] - b);
        }
        relative("eq. (19)", closed, above / below, 1e-11);
    }
    assert_true(isnan(tepal_recycling_one_hash(10, 10)));
    assert_true(isnan(tepal_recycling_one_hash(0, 0)));
}

/*
 * The closed form against the sweep: to rounding for colliding positions, whose corrections are all
 * there, and to second order in k/M for distinct ones.
 */
static void closed_form_and_sweep_agree(void **state)
{
    (void)state;
    static const struct {
        uint64_t m;
        uint32_t k;
        double fill;
    } at[] = {{1000, 5, 0.4},   {1000, 2, 0.9},    {10000, 6, 0.6},
              {10000, 20, 0.5}, {65536, 7, 0.5},   {65536, 13, 0.05},
              {300000, 9, 0.7}, {300000, 64, 0.6}, {20000, 6, 0.999}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        for (int variant = 0; variant < 8; variant++) {
            struct tepal_recycling_setting s =
                setting_of(at[i].m, at[i].k, (uint64_t)((double)at[i].m * at[i].fill));
            s.phases = 2;
            s.positions = variant & 1 ? TEPAL_POSITIONS_DISTINCT : TEPAL_POSITIONS_COLLIDING;
            s.retain = variant & 2;
            s.keep_trigger = variant & 4;
            struct tepal_recycling_rates sweep = average(&s, TEPAL_RECYCLING_SWEEP);
            struct tepal_recycling_rates closed = average(&s, TEPAL_RECYCLING_CLOSED);
            double order = (double)at[i].k / (double)at[i].m;
            double most = variant & 1 ? 2 * order * order * at[i].k / at[i].fill + 1e-9 : 1e-9;
            /* sparse: the number of throws spreads over too few messages to be "any" of them */
            double spread = 9.87 * at[i].fill * at[i].fill * (double)at[i].m;
            most += exp(-spread / (at[i].k * at[i].k));
            double kept = variant & 1 && variant & 4 ? order * at[i].k / 10 : 0;
            relative("active", closed.fp_active, sweep.fp_active, most);
            relative("messages", closed.messages_per_cycle, sweep.messages_per_cycle, most);
            relative("average", closed.fp_average, sweep.fp_average, most + kept);
        }
    }
}

/* Ten million bits here; a hundred million in recycling_stat.c. */
static void large_filters(void **state)
{
    (void)state;
    struct tepal_recycling_setting s = setting_of(2000000, 7, 1000000);
    s.phases = 2;
    struct tepal_recycling_rates sweep = average(&s, TEPAL_RECYCLING_SWEEP);
    struct tepal_recycling_rates closed = average(&s, TEPAL_RECYCLING_CLOSED);
    relative("fp", closed.fp_average, sweep.fp_average, 1e-11);
    relative("fp", closed.fp_active, sweep.fp_active, 1e-11);
    relative("E[N0]", closed.messages_per_cycle, sweep.messages_per_cycle, 1e-11);
    struct tepal_recycling_rates chosen;
    assert_ok(tepal_recycling_average(&s, TEPAL_RECYCLING_AUTO, &chosen));
    assert_int_equal(chosen.method, TEPAL_RECYCLING_CLOSED);
    s = setting_of((uint64_t)1 << 60, 7, (uint64_t)1 << 59);
    struct tepal_recycling_rates huge = average(&s, TEPAL_RECYCLING_CLOSED);
    /* the fluid limit: 1 - sum of x^j/j over -ln(1-x) */
    double tail = -log(0.5);
    for (int j = 1; j <= 7; j++) {
        tail -= pow(0.5, j) / j;
    }
    relative("fluid limit", huge.fp_average, tail / log(2), 1e-12);
}

/* ---- counting messages ----------------------------------------------------------------------- */

static void counting_messages(void **state)
{
    (void)state;
    /* Against the sums of eqs. (2) and (3), which are added up in integrals above 4096. */
    static const struct {
        uint64_t m, n;
        uint32_t k;
    } at[] = {{1000, 100, 5}, {100000, 9000, 7}, {100000, 60000, 3}, {50000, 5000, 1}, {1, 2, 1}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        double oracle = 0;
        double above = 0;
        for (uint64_t n = 0; n <= at[i].n; n++) {
            double f = n == 0 ? 0 : tepal_recycling_worst(at[i].m, n, at[i].k);
            oracle += n < at[i].n ? f : 0;
            above += f / (1 - f);
        }
        double count = (double)at[i].n;
        relative("oracle", tepal_recycling_oracle(at[i].m, at[i].n, at[i].k), oracle / count,
                 1e-10);
        relative("actual", tepal_recycling_actual(at[i].m, at[i].n, at[i].k),
                 isfinite(above) ? above / (count + 1 + above) : 1, 1e-10);
    }
    relative("worst", tepal_recycling_worst(1000, 100, 5), pow(1 - pow(0.999, 500), 5), 1e-12);
    assert_true(isnan(tepal_recycling_worst(0, 1, 1)));
    assert_true(isnan(tepal_recycling_oracle(10, 0, 1)));
    assert_true(isnan(tepal_recycling_actual(10, 1, 65)));
    struct tepal_recycling_counts counts = tepal_recycling_ways(0.01, 4);
    relative("count-first", counts.first, 0.0025, 1e-12);
    relative("count-each", counts.each, 0.01, 1e-12);
    relative("count-instance", counts.instance, 0.01, 1e-12);
}

/*
 * A filter of m bits that counts to n messages which set bits, throw by throw: at[b] is the chance
 * that b bits are set after so many of them. The next one is preceded by rho / (1 - rho) false
 * positives, and sets bits as a message does that is none.
 */
static double counted_exactly(uint32_t m, uint32_t n, uint32_t k)
{
    double at[512] = {1};
    double positives = 0;
    for (uint32_t message = 0; message <= n; message++) {
        double next[512] = {0};
        for (uint32_t b = 0; b < m && b <= message * k; b++) {
            double here[512] = {0};
            double rho = pow((double)b / m, k);
            positives += at[b] * rho / (1 - rho);
            here[b] = 1;
            for (uint32_t t = 0; t < k; t++) {
                for (uint32_t to = m; to > b; to--) {
                    here[to] = here[to] * to / m + here[to - 1] * (m - to + 1) / m;
                }
                here[b] = here[b] * b / m;
            }
            for (uint32_t to = b + 1; to <= m; to++) {
                next[to] += at[b] * here[to] / (1 - rho);
            }
        }
        memcpy(at, next, sizeof at);
    }
    return positives / (n + 1 + positives);
}

/* f_a of n is the filter's with the limit n, from below; that of n - 1 is not. */
static void counting_filters(void **state)
{
    (void)state;
    static const struct {
        uint32_t m, n, k;
        double tight;
    } at[] = {{200, 20, 3, 0.98}, {200, 20, 6, 0.97}, {400, 60, 2, 0.96}, {100, 1, 4, 0.98}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        double exact = counted_exactly(at[i].m, at[i].n, at[i].k);
        double told = tepal_recycling_actual(at[i].m, at[i].n, at[i].k);
        print_message("m %u, n %u, k %u: %.6g, exactly %.6g (%+.2f %%)\n", at[i].m, at[i].n,
                      at[i].k, told, exact, 100 * (told / exact - 1));
        assert_true(told <= exact && told >= at[i].tight * exact);
    }
    relative("with another program", counted_exactly(200, 20, 3), 0.005084, 1e-4);
}

/* What recycling by the average allows, against the worst case. */
static void capacities(void **state)
{
    (void)state;
    static const double known[][3] = {
        /* fp, N_w / N_sigma, one-phase capacity over twice the half's */
        {0.1, 0.57, 1.91}, {0.01, 0.67, 1.54},  {1e-3, 0.73, 0},
        {1e-4, 0.77, 0},   {1e-6, 0.815, 1.23},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct tepal_recycling_setting s = setting_of(100000, 0, 0);
        struct tepal_recycling_setting half = setting_of(50000, 0, 0);
        struct tepal_recycling_rates rates;
        struct tepal_recycling_rates two;
        uint32_t k[3] = {0, 0, 0};
        double n[3];
        half.phases = 2;
        assert_ok(tepal_recycling_best_sigma(&s, known[i][0], &rates));
        assert_ok(tepal_recycling_best_sigma(&half, known[i][0], &two));
        for (int bound = 0; bound < 3; bound++) {
            n[bound] = (double)tepal_recycling_capacity((enum tepal_recycling_bound)bound,
                                                        TEPAL_POSITIONS_COLLIDING, 100000,
                                                        known[i][0], &k[bound]);
        }
        assert_true(fabs(n[0] / rates.messages_per_cycle - known[i][1]) < 0.01);
        /* worst < actual <= oracle <= sigma, but for the rounding of n */
        assert_true(n[0] < n[2] && n[2] <= n[1] && n[1] <= rates.messages_per_cycle * 1.0005);
        if (known[i][2] > 0) {
            double ratio = rates.messages_per_cycle / (2 * two.messages_per_cycle);
            assert_true(fabs(ratio - known[i][2]) < 0.01);
        }
    }
    uint32_t k = 0;
    assert_int_equal(tepal_recycling_capacity(TEPAL_RECYCLING_WORST, TEPAL_POSITIONS_COLLIDING,
                                              100000, 0.01, &k),
                     10424);
    assert_int_equal(k, 7);
    k = 0;
    assert_int_equal(
        tepal_recycling_capacity(TEPAL_RECYCLING_WORST, TEPAL_POSITIONS_COLLIDING, 0, 0.01, &k), 0);
    assert_int_equal(
        tepal_recycling_capacity(TEPAL_RECYCLING_WORST, TEPAL_POSITIONS_COLLIDING, 10, 1.5, &k), 0);
}

/* Distinct positions: eqs. (2) and (3) summed up by hand, from the rate at the expected ones. */
static void counting_distinct(void **state)
{
    (void)state;
    static const struct {
        uint64_t m, n;
        uint32_t k;
    } at[] = {{200, 20, 3}, {1000, 100, 5}, {100000, 9000, 7}, {7, 3, 7}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        double m = (double)at[i].m;
        double unset = m;
        double sum = 0;
        double above = 0;
        double f = 0;
        for (uint64_t n = 0; n <= at[i].n; n++) {
            f = 1;
            for (uint32_t t = 0; t < at[i].k; t++) {
                f *= m - unset > t ? (m - unset - t) / (m - t) : 0;
            }
            sum += n < at[i].n ? f : 0;
            above += f / (1 - f);
            unset *= 1 - at[i].k / m;
        }
        double n = (double)at[i].n;
        enum tepal_positions distinct = TEPAL_POSITIONS_DISTINCT;
        relative(
            "worst",
            tepal_recycling_bound_rate(TEPAL_RECYCLING_WORST, distinct, at[i].m, at[i].n, at[i].k),
            f, 1e-9);
        relative(
            "oracle",
            tepal_recycling_bound_rate(TEPAL_RECYCLING_ORACLE, distinct, at[i].m, at[i].n, at[i].k),
            sum / n, 1e-7);
        if (at[i].k < at[i].m) {
            relative("actual",
                     tepal_recycling_bound_rate(TEPAL_RECYCLING_ACTUAL, distinct, at[i].m, at[i].n,
                                                at[i].k),
                     above / (n + 1 + above), 1e-7);
        }
    }
    assert_true(isnan(
        tepal_recycling_bound_rate(TEPAL_RECYCLING_WORST, TEPAL_POSITIONS_DISTINCT, 3, 1, 4)));
    uint32_t k = 7;
    uint64_t most =
        tepal_recycling_capacity(TEPAL_RECYCLING_ACTUAL, TEPAL_POSITIONS_DISTINCT, 1000, 0.01, &k);
    for (uint64_t n = most; n <= most + 1; n++) {
        double rate = tepal_recycling_bound_rate(TEPAL_RECYCLING_ACTUAL, TEPAL_POSITIONS_DISTINCT,
                                                 1000, n, 7);
        assert_true((rate <= 0.01) == (n == most));
    }
}

/* Messages come until n + 1 of them have set bits; each finds the bits of all before it. */
static double counted_in_turn(const struct tepal_recycling_setting *s, uint64_t n)
{
    double found = 0;
    double set = 0;
    double t = 0;
    while (set < (double)n + 1) {
        double rate = t == 0 ? 0
                             : tepal_recycling_bound_rate(TEPAL_RECYCLING_WORST, s->positions,
                                                          s->bits, (uint64_t)t, s->hashes);
        double part = fmin(1, ((double)n + 1 - set) / (1 - rate));
        found += part * rate;
        set += part * (1 - rate);
        t += part;
    }
    return found / t;
}

/* What a filter that counts is told to do, against the exact chain; eq. (3) beside it. */
static void counting_filters_are_told(void **state)
{
    (void)state;
    static const struct {
        uint32_t m, n, k;
    } at[] = {{200, 20, 3}, {200, 20, 6}, {400, 60, 2}, {290, 100, 3}, {290, 100, 2}, {160, 80, 2}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        struct tepal_recycling_setting s = setting_of(at[i].m, at[i].k, 0);
        struct tepal_recycling_rates rates;
        assert_ok(tepal_recycling_for_count(&s, at[i].n, 0, &rates));
        double exact = counted_exactly(at[i].m, at[i].n, at[i].k);
        double third = tepal_recycling_actual(at[i].m, at[i].n, at[i].k);
        print_message("m %u, n %u, k %u: %.6g, exactly %.6g (%+.2f %%; eq. (3) %+.2f %%)\n",
                      at[i].m, at[i].n, at[i].k, rates.fp_average, exact,
                      100 * (rates.fp_average / exact - 1), 100 * (third / exact - 1));
        /* what is left comes from the variance of the ones in so few bits */
        assert_true(fabs(rates.fp_average / exact - 1) < 0.03);
        assert_true(fabs(rates.fp_average - exact) < fabs(third - exact));
    }
}

/* Sizes and hashes for a count: every one of them tried. */
static void filters_that_count(void **state)
{
    (void)state;
    for (int variant = 0; variant < 8; variant++) {
        struct tepal_recycling_setting s = setting_of(0, 0, 0);
        struct tepal_recycling_rates rates;
        s.positions = variant & 1 ? TEPAL_POSITIONS_DISTINCT : TEPAL_POSITIONS_COLLIDING;
        s.phases = variant & 2 ? 2 : 1;
        s.retain = variant & 4;
        struct tepal_recycling_setting found = s;
        assert_ok(tepal_recycling_for_count(&found, 50, 0.02, &rates));
        assert_true(rates.fp_average <= 0.02);
        double best = 1;
        for (s.bits = found.bits - 1; s.bits <= found.bits; s.bits++) {
            for (s.hashes = 1; s.hashes <= 20; s.hashes++) {
                struct tepal_recycling_setting same = s;
                assert_ok(tepal_recycling_for_count(&same, 50, 0, &rates));
                assert_int_equal(same.hashes, s.hashes);
                assert_true(s.bits == found.bits || rates.fp_average > 0.02);
                best = s.bits == found.bits ? fmin(best, rates.fp_average) : 1;
            }
        }
        s.bits = found.bits;
        s.hashes = 0;
        assert_ok(tepal_recycling_for_count(&s, 50, 0, &rates));
        assert_true(rates.fp_average == best);
        if (!s.retain && s.phases == 1) {
            relative("message by message", rates.fp_average, counted_in_turn(&s, 50), 1e-9);
            /* eq. (3) is a lower bound of it */
            assert_true(rates.fp_average > tepal_recycling_bound_rate(TEPAL_RECYCLING_ACTUAL,
                                                                      s.positions, s.bits, 50,
                                                                      s.hashes));
        }
    }
    struct tepal_recycling_setting s = setting_of(0, 0, 0);
    struct tepal_recycling_rates rates;
    assert_int_equal(tepal_recycling_for_count(&s, 0, 0.01, &rates), TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_recycling_for_count(&s, 9, 1, &rates), TEPAL_BAD_ARGUMENT);
    s.layout = TEPAL_LAYOUT_BLOCKED;
    assert_int_equal(tepal_recycling_for_count(&s, 9, 0.01, &rates), TEPAL_UNSUPPORTED);
}

/* ---- the inverse ----------------------------------------------------------------------------- */

static void plans_known_beforehand(void **state)
{
    (void)state;
    struct tepal_recycling_setting s = setting_of(100000, 0, 0);
    struct tepal_recycling_rates rates;
    assert_ok(tepal_recycling_best_sigma(&s, 0.01, &rates));
    assert_int_equal(s.hashes, 6);
    assert_int_equal(s.sigma, 60624);
    assert_true(fabs(rates.messages_per_cycle - 15534.27) < 0.01);
    s = setting_of((uint64_t)1 << 40, 0, 0); /* the limits of large M */
    assert_ok(tepal_recycling_best_sigma(&s, 0.01, &rates));
    assert_int_equal(s.hashes, 6);
    assert_true(fabs((double)s.sigma / 0x1p40 - 0.6062) < 1e-4);
    assert_true(fabs(rates.messages_per_cycle / 0x1p40 - 0.15534) < 1e-5);
    s = setting_of((uint64_t)1 << 39, 0, 0);
    s.phases = 2;
    assert_ok(tepal_recycling_best_sigma(&s, 0.01, &rates));
    assert_int_equal(s.hashes, 7);
    assert_true(fabs((double)s.sigma / 0x1p39 - 0.5069) < 1e-4);
    assert_true(fabs(rates.messages_per_cycle / 0x1p40 - 0.05050) < 1e-5);
}

/* The plan keeps the average, and neither one bit more nor another k would hold more. */
static void plans_are_the_best(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {64, 700, 4096, 100000, (uint64_t)1 << 33, (uint64_t)1 << 60};
    static const double rates_asked[] = {0.3, 0.01, 1e-5};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t j = 0; j < 3; j++) {
            for (uint32_t phases = 1; phases <= 4; phases++) {
                struct tepal_recycling_setting s = setting_of(sizes[i], 0, 0);
                struct tepal_recycling_rates rates;
                s.phases = phases;
                s.retain = phases % 2 == 0;
                s.positions = phases == 3 ? TEPAL_POSITIONS_DISTINCT : TEPAL_POSITIONS_COLLIDING;
                enum tepal_status status = tepal_recycling_best_sigma(&s, rates_asked[j], &rates);
                if (sizes[i] == 64 && rates_asked[j] < 0.01) {
                    continue; /* may be impossible */
                }
                assert_ok(status);
                assert_true(rates.fp_average <= rates_asked[j] * (1 + 1e-9));
                struct tepal_recycling_setting more = s;
                struct tepal_recycling_rates then;
                more.sigma++;
                if (more.sigma < more.bits) {
                    assert_ok(tepal_recycling_average(&more, TEPAL_RECYCLING_AUTO, &then));
                    assert_true(then.fp_average > rates_asked[j] * (1 - 1e-9));
                }
                for (int other = -1; other <= 1; other += 2) {
                    struct tepal_recycling_setting k = s;
                    k.hashes += (uint32_t)other;
                    if (k.hashes >= 1 && k.hashes <= TEPAL_MAX_HASHES &&
                        tepal_recycling_best_sigma(&k, rates_asked[j], &then) == TEPAL_OK) {
                        assert_int_equal(k.hashes, s.hashes + (uint32_t)other);
                        assert_true(then.messages_per_cycle <=
                                    rates.messages_per_cycle * (1 + 1e-9));
                    }
                }
            }
        }
    }
}

static void plans_of_other_layouts(void **state)
{
    (void)state;
    for (int layout = 1; layout < 4; layout++) {
        for (uint32_t phases = 1; phases <= 2; phases++) {
            struct tepal_recycling_setting s = setting_of(512 * 64 * phases, 0, 0);
            struct tepal_recycling_setting flat = s;
            struct tepal_recycling_rates rates;
            struct tepal_recycling_rates best;
            s.layout = (enum tepal_layout)layout;
            s.phases = flat.phases = phases;
            assert_ok(tepal_recycling_best_sigma(&s, 0.01, &rates));
            assert_ok(tepal_recycling_best_sigma(&flat, 0.01, &best));
            assert_true(rates.fp_average <= 0.01 && rates.fp_average > 0.0098);
            /* confined keys err more: less is held than by the flat layout, but not much less */
            assert_true(rates.messages_per_cycle < best.messages_per_cycle * 1.003);
            assert_true(rates.messages_per_cycle > best.messages_per_cycle * 0.9);
        }
    }
}

static void what_cannot_be(void **state)
{
    (void)state;
    struct tepal_recycling_rates rates;
    struct tepal_recycling_setting s = setting_of(1000, 5, 1000);
    assert_int_equal(tepal_recycling_average(&s, TEPAL_RECYCLING_AUTO, &rates), TEPAL_BAD_ARGUMENT);
    s.sigma = 4; /* less than k */
    assert_int_equal(tepal_recycling_average(&s, TEPAL_RECYCLING_AUTO, &rates), TEPAL_BAD_ARGUMENT);
    s.sigma = 400;
    s.phases = 0;
    assert_int_equal(tepal_recycling_average(&s, TEPAL_RECYCLING_AUTO, &rates), TEPAL_BAD_ARGUMENT);
    s.phases = 1;
    s.hashes = 0;
    assert_int_equal(tepal_recycling_average(&s, TEPAL_RECYCLING_AUTO, &rates), TEPAL_BAD_ARGUMENT);
    s.hashes = 5;
    s.layout = TEPAL_LAYOUT_BLOCKED; /* not whole lines */
    assert_int_equal(tepal_recycling_average(&s, TEPAL_RECYCLING_AUTO, &rates), TEPAL_BAD_ARGUMENT);
    s.bits = 1024;
    assert_int_equal(tepal_recycling_average(&s, TEPAL_RECYCLING_SWEEP, &rates), TEPAL_UNSUPPORTED);
    double pi[1];
    assert_int_equal(tepal_recycling_distribution(&s, pi), TEPAL_UNSUPPORTED);
    static const double bad[] = {0, 1, -1, 2, NAN};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        s = setting_of(1000, 0, 0);
        assert_int_equal(tepal_recycling_best_sigma(&s, bad[i], &rates), TEPAL_BAD_ARGUMENT);
    }
    s = setting_of(100, 50, 0);
    assert_int_equal(tepal_recycling_best_sigma(&s, 1e-20, &rates), TEPAL_BAD_ARGUMENT);
    assert_int_equal(s.hashes, 50);
    assert_true(
        isnan(tepal_recycling_rate(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 10, 11, 3)));
    assert_true(
        isnan(tepal_recycling_rate(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 10, 5, 0)));
}

/* ---- false negatives ------------------------------------------------------------------------- */

/* 20,000 bits in all, 1 %, retaining, half of the messages fresh: the values of the formulas. */
static void false_negatives_known_beforehand(void **state)
{
    (void)state;
    static const struct {
        char what;
        double a;
        double fn[2];
    } known[] = {
        {'g', 200, {0.0329, 1.2e-5}},  {'g', 1000, {0.1887, 0.1522}},
        {'g', 3000, {0.5466, 0.5745}}, {'p', 1.5, {0.00928, 5.96e-4}},
        {'z', 0.8, {0.594, 0.600}},
    };
    for (uint32_t phases = 1; phases <= 2; phases++) {
        struct tepal_recycling_setting s = setting_of(20000 / phases, 0, 0);
        struct tepal_recycling_rates rates;
        s.phases = phases;
        s.retain = true;
        assert_ok(tepal_recycling_best_sigma(&s, 0.01, &rates));
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            struct tepal_recycling_misses m;
            double a = known[i].a;
            switch (known[i].what) {
            case 'g':
                assert_ok(tepal_recycling_fn_geometric(&s, &rates, a, 0.5, &m));
                break;
            case 'p':
                assert_ok(tepal_recycling_fn_pareto(&s, &rates, a, 20, 0.5, &m));
                break;
            default:
                assert_ok(tepal_recycling_fn_zipf(&s, &rates, a, 20000, &m));
            }
            double expected = known[i].fn[phases - 1];
            relative("false negatives", m.fn, expected, expected < 1e-4 ? 0.05 : 0.005);
        }
    }
}

/* Steps that follow a law give that law's numbers; whatever is forgotten at once is missed. */
static void measured_gaps(void **state)
{
    (void)state;
    enum { STEPS = 20000 };
    static double gap[STEPS];
    static double survival[STEPS];
    struct tepal_recycling_setting s = setting_of(10000, 7, 5000);
    s.retain = true;
    s.phases = 2;
    struct tepal_recycling_rates rates = average(&s, TEPAL_RECYCLING_SWEEP);
    struct tepal_recycling_misses steps;
    struct tepal_recycling_misses law;
    for (int i = 0; i < STEPS; i++) {
        gap[i] = i + 0.5;
        survival[i] = pow(1 - 1 / 700., i + 1);
    }
    gap[0] = 0.5;
    struct tepal_gaps gaps = {gap, survival, STEPS, 0.4};
    assert_ok(tepal_recycling_fn_gaps(&s, &rates, &gaps, &steps));
    assert_ok(tepal_recycling_fn_geometric(&s, &rates, 700, 0.4, &law));
    relative("period", steps.period, law.period, 1e-3);
    relative("steps", steps.fn, law.fn, 2e-3);

    /* No gaps at all: G is 1 for ever, every arrival fills the phase, every repeat is missed. */
    gaps = (struct tepal_gaps){NULL, NULL, 0, 0};
    assert_ok(tepal_recycling_fn_gaps(&s, &rates, &gaps, &steps));
    relative("period", steps.period, rates.messages_per_cycle, 1e-9);
    relative("all", steps.fn, 1 - rates.fp_average, 1e-9);

    /* Nothing fresh and all gaps short: the filter never recycles and never forgets. */
    double ten = 10;
    double none = 0;
    gaps = (struct tepal_gaps){&ten, &none, 1, 0};
    assert_ok(tepal_recycling_fn_gaps(&s, &rates, &gaps, &steps));
    assert_true(isinf(steps.period) && steps.fn == 0);
    assert_ok(tepal_recycling_fn_zipf(&s, &rates, 1, 100, &steps));
    assert_true(isinf(steps.period) && steps.fn == 0);

    /* The trigger forgotten: one message a cycle more is missed. */
    struct tepal_recycling_setting forget = s;
    forget.retain = false;
    assert_ok(tepal_recycling_fn_geometric(&forget, &rates, 700, 0.4, &steps));
    relative("forgotten", steps.fn, law.fn + (1 - law.fn) / law.period, 1e-9);
    forget.keep_trigger = true; /* it is in the frozen phase */
    assert_ok(tepal_recycling_fn_geometric(&forget, &rates, 700, 0.4, &steps));
    relative("kept", steps.fn, law.fn, 1e-9);
}

static void streams_that_cannot_be(void **state)
{
    (void)state;
    struct tepal_recycling_setting s = setting_of(10000, 7, 5000);
    struct tepal_recycling_rates rates = average(&s, TEPAL_RECYCLING_SWEEP);
    struct tepal_recycling_misses m;
    double gap[2] = {1, 1};
    double survival[2] = {0.5, 0.6};
    struct tepal_gaps gaps = {gap, survival, 2, 0.5};
    assert_int_equal(tepal_recycling_fn_gaps(&s, &rates, &gaps, &m), TEPAL_BAD_ARGUMENT);
    gap[1] = 2; /* survival rises */
    assert_int_equal(tepal_recycling_fn_gaps(&s, &rates, &gaps, &m), TEPAL_BAD_ARGUMENT);
    survival[1] = 0.5;
    assert_ok(tepal_recycling_fn_gaps(&s, &rates, &gaps, &m));
    gaps.fresh = 1.5;
    assert_int_equal(tepal_recycling_fn_gaps(&s, &rates, &gaps, &m), TEPAL_BAD_ARGUMENT);
    gaps.fresh = NAN;
    assert_int_equal(tepal_recycling_fn_gaps(&s, &rates, &gaps, &m), TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_recycling_fn_geometric(&s, &rates, 0.5, 0.5, &m), TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_recycling_fn_geometric(&s, &rates, NAN, 0.5, &m), TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_recycling_fn_pareto(&s, &rates, 0, 1, 0.5, &m), TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_recycling_fn_pareto(&s, &rates, 1, 0, 0.5, &m), TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_recycling_fn_zipf(&s, &rates, -1, 10, &m), TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_recycling_fn_zipf(&s, &rates, 1, 0, &m), TEPAL_BAD_ARGUMENT);
}

/* ---- the report ------------------------------------------------------------------------------ */

static enum tepal_status report_of(const struct tepal_recycling_setting *s, double fp,
                                   struct tepal_report *report, struct tepal_error *error)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    struct tepal_use use = TEPAL_USE_INIT;
    params.kind = TEPAL_KIND_RECYCLING;
    params.layout = s->layout;
    params.positions = s->positions;
    params.cells = s->bits;
    params.hashes = s->hashes;
    params.recycling.phases = s->phases;
    params.recycling.limit = s->sigma;
    params.recycling.flags = (s->retain ? TEPAL_RECYCLING_RETAIN : 0u) |
                             (s->keep_trigger ? TEPAL_RECYCLING_KEEP_TRIGGER : 0u);
    use.fp = fp;
    return tepal_model(&params, &use, report, error);
}

static void the_report(void **state)
{
    (void)state;
    struct tepal_report report;
    struct tepal_recycling_setting s = setting_of(1000, 5, 400);
    struct tepal_error error = {.why = NULL};
    assert_ok(report_of(&s, NAN, &report, &error));
    relative("fp_average", tepal_report_find(&report, "fp_average")->value.real, 0.00204770061125,
             1e-9);
    relative("fp_worst", tepal_report_find(&report, "fp_worst")->value.real,
             tepal_recycling_worst(1000, 103, 5), 1e-12);
    assert_string_equal(tepal_report_find(&report, "counting")->value.text, "count-instance");
    s.sigma = 0;
    s.hashes = 0;
    assert_ok(report_of(&s, 0.01, &report, &error));
    assert_int_equal(tepal_report_find(&report, "hashes")->value.integer, 6);
    assert_int_equal(tepal_report_find(&report, "sigma")->value.integer, 606);
    static const struct {
        uint64_t bits, sigma;
        uint32_t hashes, phases;
        double fp;
    } bad[] = {{1000, 1000, 5, 1, 0}, {1000, 4, 5, 1, 0}, {1000, 400, 5, 0, 0}, {0, 1, 5, 1, 0},
               {1000, 0, 5, 1, 0},    {1000, 0, 5, 1, 1}, {1000, 400, 0, 1, 0}, {9, 0, 8, 4, 1e-9}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        s = setting_of(bad[i].bits, bad[i].hashes, bad[i].sigma);
        s.phases = bad[i].phases;
        assert_int_equal(report_of(&s, bad[i].fp, &report, &error), TEPAL_BAD_ARGUMENT);
        check_error(&error, TEPAL_BAD_ARGUMENT);
    }
}

/* By time: a filter in which keys lie that came at each of many times of a phase, counted. */
static void ages_by_time(void **state)
{
    (void)state;
    const double every = 7;
    const unsigned parts = 1000;
    for (uint32_t phases = 1; phases <= 8; phases++) {
        for (double age = 0; age < 80; age += 0.37) {
            double missed = 0;
            for (unsigned i = 0; i < parts; i++) {
                double at = (i + 0.5) * every / parts; /* of phase 0 */
                missed += floor((at + age) / every) >= phases;
            }
            double told = tepal_recycling_fn_age(phases, every, age, 0);
            assert_true(fabs(missed / parts - told) <= 1.0 / parts);
            assert_true(tepal_recycling_fn_age(phases, every, age, 0.25) == 0.75 * told);
        }
        assert_true(tepal_recycling_fn_age(phases, every, (phases - 1) * every, 0) == 0);
        assert_true(tepal_recycling_fn_age(phases, every, phases * every, 0) == 1);
    }
    assert_true(isnan(tepal_recycling_fn_age(0, 1, 1, 0)));
    assert_true(isnan(tepal_recycling_fn_age(1, 0, 1, 0)));
    assert_true(isnan(tepal_recycling_fn_age(1, 1, -1, 0)));
    assert_true(isnan(tepal_recycling_fn_age(1, 1, 1, 1.5)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_known_beforehand),
        cmocka_unit_test(the_sweep_is_the_chain),
        cmocka_unit_test(one_hash_in_closed_form),
        cmocka_unit_test(closed_form_and_sweep_agree),
        cmocka_unit_test(large_filters),
        cmocka_unit_test(counting_messages),
        cmocka_unit_test(counting_filters),
        cmocka_unit_test(capacities),
        cmocka_unit_test(counting_distinct),
        cmocka_unit_test(filters_that_count),
        cmocka_unit_test(counting_filters_are_told),
        cmocka_unit_test(plans_known_beforehand),
        cmocka_unit_test(plans_are_the_best),
        cmocka_unit_test(plans_of_other_layouts),
        cmocka_unit_test(what_cannot_be),
        cmocka_unit_test(false_negatives_known_beforehand),
        cmocka_unit_test(measured_gaps),
        cmocka_unit_test(streams_that_cannot_be),
        cmocka_unit_test(the_report),
        cmocka_unit_test(ages_by_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
