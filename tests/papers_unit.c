/*
 * papers_unit.c: the equations of the papers (tepal/papers.h) that no other test is about: Theorems
 * 1, 3 and 4 on counting filters (Guo, Liu, Li and Yang 2010), printed and right; the four of
 * counting filters on any layout; eq. (26) of the generalized filter. Each against the values that
 * are known, against the same thing written out plainly or played with a generator, and in its
 * limits; and what each refuses. And of the other models, numbers that no filter has.
 */
#include "check.h"

#include <tepal/papers.h>

#define FLAT        TEPAL_LAYOUT_FLAT
#define PARTITIONED TEPAL_LAYOUT_PARTITIONED
#define BLOCKED     TEPAL_LAYOUT_BLOCKED
#define PAIRED      TEPAL_LAYOUT_PAIRED
#define COLLIDING   TEPAL_POSITIONS_COLLIDING
#define DISTINCT    TEPAL_POSITIONS_DISTINCT
#define LINE        TEPAL_COUNTING_LINE_CELLS
#define SECTOR      16
#define MOST        TEPAL_MAX_HASHES

static const enum tepal_layout all_layouts[] = {FLAT, PARTITIONED, BLOCKED, PAIRED};
static const enum tepal_positions all_positions[] = {COLLIDING, DISTINCT};
static const uint32_t most_hashes[] = {MOST, MOST, TEPAL_MAX_HASHES_BLOCKED,
                                       TEPAL_MAX_HASHES_PAIRED};

/* The figures of the paper: Figs. 1 and 2. */
#define PAPER_M 1600
#define PAPER_N 100

static void near_(double got, double want, double relative, int line)
{
    if (!(fabs(got - want) <= relative * fabs(want))) {
        fail_msg("line %d: got %.17g, want %.17g within %g", line, got, want, relative);
    }
}
#define assert_near(got, want, relative) near_(got, want, relative, __LINE__)

/* Is it what a text says, rounded to the last digit given? */
#define assert_digits(got, text, unit) assert_true(fabs((got) - (text)) <= (unit) / 2)

static double sum_of(const double *pmf, uint32_t k)
{
    double sum = 0;
    for (uint32_t i = 0; i <= k; i++) {
        assert_true(pmf[i] >= 0 && pmf[i] <= 1);
        sum += pmf[i];
    }
    return sum;
}

/* Outputs of a call that refuses are as they were. */
static void fill_with(double *pmf, double value)
{
    for (uint32_t i = 0; i <= MOST; i++) {
        pmf[i] = value;
    }
}

static void assert_untouched(const double *pmf)
{
    for (uint32_t i = 0; i <= MOST; i++) {
        assert_true(pmf[i] == 7);
    }
}

static long double ways(uint32_t n, uint32_t i)
{
    long double product = 1;
    for (uint32_t j = 0; j < i; j++) {
        product = product * (n - j) / (j + 1);
    }
    return product;
}

/* (1 - 1/m)^throws, by multiplying. */
static long double missed_by(uint64_t m, uint64_t throws)
{
    long double all = 1;
    for (uint64_t i = 0; i < throws; i++) {
        all *= 1 - 1 / (long double)m;
    }
    return all;
}

/* ---- Theorem 1: potential false negatives ---------------------------------------------------- */

/*
 * The sum of eq. (2) as it stands: over all ordered a_1 + ... + a_i = `left`, the product of
 * C(k, a_j) C(k - a_1 - ... - a_(j-1), a_j).
 */
static long double clusters(uint32_t k, uint32_t i, uint32_t left)
{
    if (i == 0) {
        return left == 0;
    }
    long double sum = 0;
    for (uint32_t a = 1; a <= left; a++) {
        sum += ways(k, a) * ways(left, a) * clusters(k, i - 1, left - a);
    }
    return sum;
}

static void theorem_1_as_printed(void **state)
{
    (void)state;
    double pmf[MOST + 1];
    for (uint32_t k = 1; k <= 10; k++) {
        long double outcomes[11];
        long double all = 0;
        long double factorial = 1;
        for (uint32_t i = 1; i <= k; i++) {
            factorial *= i;
            outcomes[i] = factorial * clusters(k, i, k);
            all += outcomes[i];
        }
        assert_ok(tepal_counting_potential_printed(k, pmf));
        assert_true(pmf[0] == 0);
        for (uint32_t i = 1; i <= k; i++) {
            assert_near(pmf[i], (double)(outcomes[i] / all), 1e-12);
        }
    }
    /* One way to give both counters to one member, 2! 2 2 2 1 to give them to two. */
    assert_ok(tepal_counting_potential_printed(2, pmf));
    assert_near(pmf[1], 1 / 17., 1e-14);
    assert_near(pmf[2], 16 / 17., 1e-14);
    /* Fig. 1 */
    assert_ok(tepal_counting_potential_printed(5, pmf));
    assert_digits(tepal_counting_mean(pmf, 5), 4.84907, 1e-5);
    assert_digits(pmf[5], 0.856, 1e-3);
    for (uint32_t k = 1; k <= MOST; k++) {
        assert_ok(tepal_counting_potential_printed(k, pmf));
        assert_near(sum_of(pmf, k), 1, 1e-12);
    }
    fill_with(pmf, 7);
    assert_int_equal(tepal_counting_potential_printed(0, pmf), TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_counting_potential_printed(MOST + 1, pmf), TEPAL_BAD_ARGUMENT);
    assert_untouched(pmf);
}

/*
 * E[Y] to first order in 1/m, by cases. A member owns two given counters of the wrong key with the
 * chance lambda (k-1) / (m P^2), given that both are above 0. It leaves at a time u of 0..1 and is
 * the last owner of either with the chance a = e^-lambda(1-u). If it is that of one or of both, the
 * two counters have one victim, not two: 1 - (1-a)^2, over all u 2P/lambda - (1-p0^2)/(2 lambda).
 * And two positions of the key itself coincide with the chance 1 / (mP).
 */
static double potential_first_order(double m, double k, double p0)
{
    double lambda = -log(p0);
    double above = 1 - p0;
    double shared = lambda * (k - 1) / (m * above * above);
    double one = (2 * above - (1 - p0 * p0) / 2) / lambda;
    return k - k * (k - 1) / 2 * (shared * one + 1 / (m * above));
}

static void the_mean_of_theorem_1(void **state)
{
    (void)state;
    double pmf[MOST + 1];
    for (uint32_t k = 1; k <= 30; k++) {
        double before = 0;
        for (uint64_t m = 2000; m <= 2000000; m *= 10) {
            uint64_t n = m / 16;
            double p0 = 1 - tepal_counting_fill(FLAT, COLLIDING, m, n, k);
            double mean = tepal_counting_potential_mean(m, n, k, p0);
            assert_ok(tepal_counting_potential(m, n, k, p0, pmf));
            assert_near(sum_of(pmf, k), 1, 1e-12);
            /* The distribution is fitted to the mean; but one counter has one victim, always. */
            assert_near(tepal_counting_mean(pmf, k), mean, k == 1 ? 1e-6 : 1e-12);
            /*
             * What first order leaves out is of second: a part of its square. And the integral is
             * a midpoint rule of 64 steps, low by about lambda^2 / 24 / 64^2.
             */
            double low = k - potential_first_order((double)m, k, p0);
            double lambda = -log(p0);
            double allowed = 0.3 * low * low + 1.1 * k * lambda * lambda / 24 / 4096;
            assert_true(fabs(mean - (k - low)) <= allowed);
            assert_true(mean <= k && (k == 1 || mean > before)); /* in more, fewer are shared */
            before = mean;
        }
    }
    /* Figs. 1 and 2; measured 4.871 +- .012, and 10.14 */
    double paper_p0 = (double)missed_by(PAPER_M, 5 * PAPER_N);
    assert_digits(tepal_counting_potential_mean(PAPER_M, PAPER_N, 5, paper_p0), 4.874, 1e-3);
    paper_p0 = (double)missed_by(PAPER_M, 11 * PAPER_N);
    assert_digits(tepal_counting_potential_mean(PAPER_M, PAPER_N, 11, paper_p0), 10.146, 1e-3);
    const double p0 = 0.5;
    assert_true(isnan(tepal_counting_potential_mean(0, 100, 5, p0)));
    assert_true(isnan(tepal_counting_potential_mean(1600, 0, 5, p0)));
    assert_true(isnan(tepal_counting_potential_mean(1600, 100, 0, p0)));
    assert_true(isnan(tepal_counting_potential_mean(1600, 100, MOST + 1, p0)));
    assert_true(isnan(tepal_counting_potential_mean(1600, 100, 5, -0.01)));
    assert_true(isnan(tepal_counting_potential_mean(1600, 100, 5, 1)));
    assert_true(isnan(tepal_counting_potential_mean(1600, 100, 5, (double)NAN)));
}

/* ---- Theorems 3 and 4: exposed false negatives ----------------------------------------------- */

static void theorem_4_as_printed(void **state)
{
    (void)state;
    double pmf[MOST + 1];
    for (uint32_t k = 1; k <= 20; k++) {
        long double zero = missed_by(PAPER_M, (uint64_t)k * (PAPER_N - 1));
        assert_ok(tepal_counting_exposed_printed(PAPER_M, PAPER_N, k, pmf));
        for (uint32_t i = 0; i <= k; i++) {
            long double chance = ways(k, i) * powl(zero, i) * powl(1 - zero, k - i); /* eq. (5) */
            assert_near(pmf[i], (double)chance, 1e-11);
        }
        assert_near(sum_of(pmf, k), 1, 1e-12);
        assert_near(tepal_counting_mean(pmf, k), (double)(k * zero), 1e-11);
    }
    assert_ok(tepal_counting_exposed_printed(PAPER_M, PAPER_N, 11, pmf));
    assert_digits(tepal_counting_mean(pmf, 11), 5.568, 1e-3);
    assert_ok(tepal_counting_exposed_printed(PAPER_M, PAPER_N, 5, pmf));
    assert_digits(tepal_counting_mean(pmf, 5), 3.669, 1e-3);
    /* A single member shares its counters with nobody; in one counter all others sit too. */
    assert_ok(tepal_counting_exposed_printed(PAPER_M, 1, 5, pmf));
    assert_true(pmf[5] == 1);
    assert_ok(tepal_counting_exposed_printed(1, 2, 5, pmf));
    assert_true(pmf[0] == 1);
    fill_with(pmf, 7);
    assert_int_equal(tepal_counting_exposed_printed(0, 100, 5, pmf), TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_counting_exposed_printed(1600, 100, 0, pmf), TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_counting_exposed_printed(1600, 100, MOST + 1, pmf), TEPAL_BAD_ARGUMENT);
    assert_untouched(pmf);
}

static void theorem_4(void **state)
{
    (void)state;
    double pmf[MOST + 1];
    const double p0 = 0.6;
    const double p1 = 0.3;
    const double q = p1 / (1 - p0);
    /* One counter; then two, which may be the same one, and may be the same member's. */
    assert_ok(tepal_counting_exposed(50, 7, 1, p0, p1, pmf));
    assert_near(pmf[1], q, 1e-14);
    assert_near(pmf[0], 1 - q, 1e-14);
    double fresh = 1 - 1 / (50 * (1 - p0));
    double other = 1 - 1 / (2. * 7);
    assert_ok(tepal_counting_exposed(50, 7, 2, p0, p1, pmf));
    assert_near(pmf[0], (1 - q) * (1 - fresh * q), 1e-14);
    assert_near(pmf[2], q * fresh * q * other, 1e-14);
    assert_near(sum_of(pmf, 2), 1, 1e-14);
    /* Too many counters and members for any of that: binomial, and Theorem 2 is its first. */
    for (uint32_t k = 1; k <= MOST; k++) {
        assert_ok(tepal_counting_exposed(UINT64_C(1) << 60, UINT64_C(1) << 56, k, p0, p1, pmf));
        for (uint32_t i = 0; i <= k; i++) {
            long double chance = ways(k, i) * powl(q, i) * powl(1 - (long double)q, k - i);
            assert_near(pmf[i], (double)chance, 1e-10);
        }
        assert_near(sum_of(pmf, k), 1, 1e-12);
    }
    /* All counters above 0 are 1, or none is. */
    assert_ok(tepal_counting_exposed(UINT64_C(1) << 60, UINT64_C(1) << 56, 9, p0, 1 - p0, pmf));
    assert_near(pmf[9], 1, 1e-12);
    assert_ok(tepal_counting_exposed(1600, 100, 9, p0, 0, pmf));
    assert_true(pmf[0] == 1);
    /* Fig. 2 (measured 7.40 +- .05), and the same with Fig. 1's k */
    for (uint32_t k = 5; k <= 11; k += 6) {
        double share[16];
        assert_ok(tepal_counting_shares(PAPER_M, PAPER_N, k, 1, true, share));
        assert_ok(tepal_counting_exposed(PAPER_M, PAPER_N, k, share[0], share[1], pmf));
        assert_near(sum_of(pmf, k), 1, 1e-12);
        assert_digits(tepal_counting_mean(pmf, k), k == 5 ? 4.189 : 7.390, 1e-3);
    }
}

static void theorem_4_refuses(void **state)
{
    (void)state;
    static const struct {
        uint64_t m, n;
        uint32_t k;
        double p0, p1;
    } bad[] = {
        {0, 9, 5, 0.5, 0.3},          {99, 0, 5, 0.5, 0.3},  {99, 9, 0, 0.5, 0.3},
        {99, 9, MOST + 1, 0.5, 0.3},  {99, 9, 5, -0.1, 0.3}, {99, 9, 5, 1, 0},
        {99, 9, 5, 0.5, -0.1},        {99, 9, 5, 0.5, 0.6},  {99, 9, 5, (double)NAN, 0.3},
        {99, 9, 5, 0.5, (double)NAN},
    };
    double pmf[MOST + 1];
    fill_with(pmf, 7);
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(
            tepal_counting_exposed(bad[i].m, bad[i].n, bad[i].k, bad[i].p0, bad[i].p1, pmf),
            TEPAL_BAD_ARGUMENT);
    }
    assert_untouched(pmf);
}

/* Theorem 3 with the shares of the model. */
static double missed_of(uint64_t m, uint64_t n, uint32_t k, uint32_t c)
{
    double share[16];
    assert_ok(tepal_counting_shares(m, n, k, c, true, share));
    return tepal_counting_missed(m, n, k, share[0], share[1]);
}

static void theorem_3(void **state)
{
    (void)state;
    for (uint32_t k = 1; k <= 16; k++) {
        for (uint64_t m = 40; m <= 4000; m *= 10) {
            uint64_t n = m / 10;
            long double zero = missed_by(m, k * (n - 1));
            long double above = 1 - missed_by(m, k * n);
            long double sum = 0;
            /* With the inner sum of the proof, event E_2, as it stands. */
            for (uint32_t i = 1; i <= k; i++) {
                long double hit = i / ((long double)m * above);
                for (uint32_t j = 1; j <= k; j++) {
                    sum += ways(k, i) * powl(zero, i) * powl(1 - zero, k - i) * ways(k, j) *
                           powl(hit, j) * powl(1 - hit, k - j);
                }
            }
            assert_near(missed_of(m, n, k, 1), (double)sum, 1e-11);
        }
    }
    assert_digits(PAPER_N * missed_of(PAPER_M, PAPER_N, 11, 1), 7.412, 1e-3);
    /* A single member with a single counter is missed; among many it hardly ever is. */
    assert_near(missed_of(PAPER_M, 1, 1, 1), 1, 1e-9);
    assert_near(missed_of(1, 1, 1, 1), 1, 1e-15);
    assert_true(missed_of(1, 2, 5, 1) == 0);
    assert_true(missed_of(PAPER_M, UINT64_C(1) << 40, 5, 1) == 0);
    assert_true(isnan(tepal_counting_missed(0, 100, 5, 0.5, 0.2)));
    assert_true(isnan(tepal_counting_missed(1600, 0, 5, 0.5, 0.2)));
    assert_true(isnan(tepal_counting_missed(1600, 100, 0, 0.5, 0.2)));
    assert_true(isnan(tepal_counting_missed(1600, 100, MOST + 1, 0.5, 0.2)));
    assert_true(isnan(tepal_counting_missed(1600, 100, 5, 1, 0)));
    assert_true(isnan(tepal_counting_missed(1600, 100, 5, 0.9, 0.2)));
    assert_true(isnan(tepal_counting_missed(1600, 100, 5, NAN, 0.2)));
}

/* With any number of choices, and any shares, n times it is E[Z]. */
static void theorem_3_knows_the_counters(void **state)
{
    (void)state;
    static const uint32_t choices[] = {1, 2, 4, 20, 50};
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        for (uint32_t k = 3; k <= 11; k += 4) {
            double pmf[MOST + 1];
            double share[16];
            const uint64_t n = 10000;
            const uint64_t m = 3 * k / 2 * n;
            assert_ok(tepal_counting_shares(m, n, k, choices[i], true, share));
            assert_ok(tepal_counting_exposed(m, n, k, share[0], share[1], pmf));
            double missed = missed_of(m, n, k, choices[i]);
            assert_near((double)n * missed, tepal_counting_mean(pmf, k), 1e-3);
            assert_ok(tepal_counting_exposed(m, n, k, 0.6, 0.05, pmf));
            missed = tepal_counting_missed(m, n, k, 0.6, 0.05);
            assert_near((double)n * missed, tepal_counting_mean(pmf, k), 1e-3);
        }
    }
    /* As filters were measured: 2.65, and 3.57 with one choice. */
    assert_near(10000 * missed_of(80000, 10000, 5, 4), 2.65, 0.01);
    assert_near(10000 * missed_of(80000, 10000, 5, 1), 3.57, 0.01);
}

/* One choice in lines is the exact rate; more zeros with each choice; limits. */
static void choices_in_lines(void **state)
{
    (void)state;
    const enum tepal_positions colliding = TEPAL_POSITIONS_COLLIDING;
    double last = 0;
    double p0;
    assert_near(
        tepal_counting_blocked_choices(TEPAL_LINES_SHORT, colliding, 160000, 10000, 11, 1, &p0),
        tepal_counting_rate(TEPAL_LAYOUT_BLOCKED, colliding, 160000, 10000, 11), 1e-12);
    for (uint32_t c = 1; c <= 64; c *= 2) {
        double fp =
            tepal_counting_blocked_choices(TEPAL_LINES_SHORT, colliding, 160000, 10000, 11, c, &p0);
        assert_true(fp > 0 && fp < 1 && p0 > last);
        last = p0;
    }
    assert_near(
        tepal_counting_blocked_choices(TEPAL_LINES_SHORT, colliding, 160000, 10000, 11, 3, NULL),
        8.33e-4, 0.05);
    assert_int_equal(
        tepal_counting_blocked_choices(TEPAL_LINES_SHORT, colliding, 160000, 0, 11, 3, &p0), 0);
    assert_near(p0, 1, 1e-12);
    /* more keys than there is room for */
    double full =
        tepal_counting_blocked_choices(TEPAL_LINES_SHORT, colliding, 1280, 1000000, 11, 3, &p0);
    assert_true(full > 0.99 && full <= 1 && p0 >= 0 && p0 < 0.01);
    assert_near(
        tepal_counting_blocked_choices(TEPAL_LINES_LONG, colliding, 163840, 10000, 11, 1, &p0),
        tepal_bloom_fp(TEPAL_LAYOUT_BLOCKED, colliding, 163840, 10000, 11), 1e-12);
    full = tepal_counting_blocked_choices(TEPAL_LINES_LONG, colliding, 5120, 1000000, 11, 3, &p0);
    assert_true(full > 0.99 && full <= 1 && p0 >= 0 && p0 < 0.01);
    assert_true(
        isnan(tepal_counting_blocked_choices(TEPAL_LINES_LONG, colliding, 511, 10, 3, 2, NULL)));
    assert_true(
        isnan(tepal_counting_blocked_choices(TEPAL_LINES_SHORT, colliding, 127, 10, 3, 2, NULL)));
    assert_true(
        isnan(tepal_counting_blocked_choices(TEPAL_LINES_SHORT, colliding, 1280, 10, 17, 2, NULL)));
    assert_true(
        isnan(tepal_counting_blocked_choices(TEPAL_LINES_SHORT, colliding, 1280, 10, 0, 2, NULL)));
    assert_true(
        isnan(tepal_counting_blocked_choices(TEPAL_LINES_SHORT, colliding, 1280, 10, 3, 65, NULL)));
}

/* What the report of a model says of a counting filter. */
static double told(const struct tepal_params *params, uint64_t keys, const char *name)
{
    struct tepal_use use = TEPAL_USE_INIT;
    struct tepal_report report;
    use.keys = keys;
    assert_ok(tepal_model(params, &use, &report, NULL));
    return check_number(&report, name);
}

/* Counters stick at 15, or at 255: a counter has a binomial number of keys. */
static void counters_of_both_widths_stick(void **state)
{
    (void)state;
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.kind = TEPAL_KIND_COUNTING;
    params.cells = 10;
    params.hashes = 1;
    params.counting.choices = 1;
    for (int wide = 0; wide < 2; wide++) {
        uint64_t keys = wide ? 2000 : 60;
        uint32_t limit = wide ? 255 : 15;
        double tail = 0;
        for (uint64_t v = limit; v <= keys; v++) {
            tail += exp(lgamma((double)keys + 1) - lgamma((double)v + 1) -
                        lgamma((double)(keys - v) + 1) + (double)v * log(0.1) +
                        (double)(keys - v) * log(0.9));
        }
        params.counting.form = wide ? TEPAL_FORM_WIDE_COUNTERS : TEPAL_FORM_COUNTERS;
        assert_near(told(&params, keys, "stuck_mean"), 10 * tail, 1e-9);
        assert_int_equal(told(&params, keys, "counter_bits"), wide ? 8 : 4);
    }
    params.cells = 80000;
    params.hashes = 5;
    params.counting.choices = 16;
    assert_true(told(&params, 10000, "stuck_mean") < 1e-12);
    assert_true(told(&params, 10000, "p2") > 0.1);
}

/* Sec. 4.3 in numbers: so many members, times the chance, times what one wrong removal does. */
static void all_members_with_several_addresses(void **state)
{
    (void)state;
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.kind = TEPAL_KIND_COUNTING;
    params.cells = 80000;
    params.hashes = 5;
    params.counting.choices = 4;
    double several = told(&params, 10000, "multi_address_keys");
    double f = pow(1 - told(&params, 10000, "p0"), 5);
    assert_near(several, 10000 * (1 - pow(1 - f, 3)), 1e-6);
    assert_near(told(&params, 10000, "multi_potential"),
                several * told(&params, 10000, "wrong_address") *
                    told(&params, 10000, "potential_mean"),
                1e-6);
    assert_near(told(&params, 10000, "multi_exposed"),
                several * told(&params, 10000, "wrong_address") *
                    told(&params, 10000, "exposed_mean"),
                1e-6);
    assert_near(told(&params, 10000, "multi_exposed_printed"),
                several * told(&params, 10000, "wrong_address_printed") *
                    told(&params, 10000, "exposed_mean_printed"),
                1e-6);
    params.counting.choices = 1;
    assert_int_equal(told(&params, 10000, "multi_potential"), 0);
}

/* ---- the process itself ---------------------------------------------------------------------- */

#define TRIALS 20000

/* k positions of which equal ones are entered once; all among the counters above 0 if `found`. */
static uint32_t draw(uint64_t *seed, uint32_t k, const uint16_t *found, uint32_t *position)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < k; i++) {
        uint32_t at;
        uint32_t j = 0;
        do {
            at = (uint32_t)(((check_random(seed) >> 32) * PAPER_M) >> 32);
        } while (found != NULL && found[at] == 0);
        while (j < count && position[j] != at) {
            j++;
        }
        position[count] = at;
        count += j == count;
    }
    return count;
}

static bool has_all(const uint16_t *counter, const uint32_t *position, uint32_t count)
{
    uint32_t found = 0;
    while (found < count && counter[position[found]] > 0) {
        found++;
    }
    return found == count;
}

static void add(uint16_t *counter, const uint32_t *position, uint32_t count, int by)
{
    for (uint32_t i = 0; i < count; i++) {
        counter[position[i]] = (uint16_t)(counter[position[i]] + by);
    }
}

/* One wrong removal from a new filter: Z are missed at once, Y when all members are removed. */
static void play(uint64_t *seed, uint32_t k, uint32_t *y, uint32_t *z)
{
    uint16_t counter[PAPER_M] = {0};
    uint32_t position[PAPER_N][MOST];
    uint32_t count[PAPER_N];
    uint32_t wrong[MOST];
    for (uint32_t i = 0; i < PAPER_N; i++) {
        count[i] = draw(seed, k, NULL, position[i]);
        add(counter, position[i], count[i], 1);
    }
    add(counter, wrong, draw(seed, k, counter, wrong), -1);
    *y = 0;
    *z = 0;
    for (uint32_t i = 0; i < PAPER_N; i++) {
        *z += !has_all(counter, position[i], count[i]);
    }
    for (uint32_t i = 0; i < PAPER_N; i++) {
        bool there = has_all(counter, position[i], count[i]);
        *y += !there;
        add(counter, position[i], there ? count[i] : 0, -1);
    }
}

/*
 * Shares and means of TRIALS trials within CHECK_Z standard errors: a chance of 8e-11 each if they
 * are normal. Shares are checked where 100 trials or more are expected, which is close to it; for
 * their dozen the chance of a false alarm is surely below 1e-8.
 */
static void played(uint32_t k)
{
    uint64_t seed = 1000 + k;
    double times_y[MOST + 1] = {0};
    double times_z[MOST + 1] = {0};
    double pmf_y[MOST + 1];
    double pmf_z[MOST + 1];
    double share[16];
    for (int trial = 0; trial < TRIALS; trial++) {
        uint32_t y;
        uint32_t z;
        play(&seed, k, &y, &z);
        assert_true(z <= y && y >= 1 && y <= k);
        times_y[y]++;
        times_z[z]++;
    }
    assert_ok(tepal_counting_shares(PAPER_M, PAPER_N, k, 1, true, share));
    assert_ok(tepal_counting_potential(PAPER_M, PAPER_N, k, share[0], pmf_y));
    assert_ok(tepal_counting_exposed(PAPER_M, PAPER_N, k, share[0], share[1], pmf_z));
    double mean_y = 0;
    double mean_z = 0;
    double squares_y = 0;
    double squares_z = 0;
    for (uint32_t i = 0; i <= k; i++) {
        mean_y += i * times_y[i] / TRIALS;
        mean_z += i * times_z[i] / TRIALS;
        squares_y += i * i * times_y[i] / TRIALS;
        squares_z += i * i * times_z[i] / TRIALS;
        if (pmf_z[i] * TRIALS >= 100) {
            check_within("P(Z = i)", times_z[i] / TRIALS, pmf_z[i],
                         sqrt(pmf_z[i] * (1 - pmf_z[i]) / TRIALS));
        }
        if (pmf_y[i] * TRIALS >= 100) {
            check_within("P(Y = i)", times_y[i] / TRIALS, pmf_y[i],
                         sqrt(pmf_y[i] * (1 - pmf_y[i]) / TRIALS));
        }
    }
    double error_y = sqrt((squares_y - mean_y * mean_y) / TRIALS);
    double error_z = sqrt((squares_z - mean_z * mean_z) / TRIALS);
    check_within("E[Y]", mean_y, tepal_counting_potential_mean(PAPER_M, PAPER_N, k, share[0]),
                 error_y);
    check_within("E[Z]", mean_z, tepal_counting_mean(pmf_z, k), error_z);
    /* Theorem 3 is right to first order only: 1 % more. The printed Theorem 4 is far off. */
    double missed = PAPER_N * missed_of(PAPER_M, PAPER_N, k, 1);
    assert_true(fabs(mean_z - missed) <= CHECK_Z * error_z + 0.01 * mean_z);
    assert_ok(tepal_counting_exposed_printed(PAPER_M, PAPER_N, k, pmf_z));
    assert_true(fabs(mean_z - tepal_counting_mean(pmf_z, k)) > 20 * error_z);
}

static void one_wrong_removal_played(void **state)
{
    (void)state;
    played(5);
    played(11);
}

/* ---- counting filters on any layout ---------------------------------------------------------- */

static uint64_t unit_of(enum tepal_layout layout)
{
    return layout == BLOCKED || layout == PAIRED ? LINE : 1;
}

/* That k draws in a line raise a given counter of it: whole rounds of the sectors, and a rest. */
static long double raised(uint32_t k, bool distinct)
{
    long double one =
        distinct ? (k / 8) / (long double)SECTOR : 1 - powl(1 - 1 / (long double)SECTOR, k / 8);
    long double more = distinct ? (k / 8 + 1) / (long double)SECTOR
                                : 1 - powl(1 - 1 / (long double)SECTOR, k / 8 + 1);
    return one + (more - one) * (k % 8) / 8;
}

/* That a key leaves a given counter alone. */
static long double left_alone(enum tepal_layout layout, bool distinct, uint64_t m, uint32_t k)
{
    long double lines = (long double)m / LINE;
    long double first = raised((k + 1) / 2, distinct) / lines;
    long double second = raised(k / 2, distinct) / lines;
    switch (layout) {
    case FLAT:
        return distinct ? 1 - k / (long double)m : missed_by(m, k);
    case PARTITIONED: /* of k slices of equal size */
        return 1 - k / (long double)m;
    case BLOCKED:
        return 1 - raised(k, distinct) / lines;
    case PAIRED: /* two lines, different ones if distinct */
        return distinct ? 1 - first - second : (1 - first) * (1 - second);
    }
    return NAN;
}

static void fill_is_what_is_above_zero(void **state)
{
    (void)state;
    for (int l = 0; l < 4; l++) {
        for (int d = 0; d < 2; d++) {
            for (uint32_t k = 1; k <= 16; k++) {
                uint64_t m = (uint64_t)k * LINE * 3;
                for (uint64_t n = 0; n < 4 * m; n = 3 * n + 1) {
                    double want = (double)(1 - powl(left_alone(all_layouts[l], d, m, k), n));
                    double fill = tepal_counting_fill(all_layouts[l], all_positions[d], m, n, k);
                    assert_near(fill, want, 1e-10);
                    assert_true(n > 0 || fill == 0);
                }
            }
        }
    }
    for (uint32_t k = 1; k <= MOST; k += 9) {
        for (uint64_t m = 1; m < 1000000; m = 7 * m + 1) {
            double share[16];
            double fill = tepal_counting_fill(FLAT, COLLIDING, m, m / 8, k);
            assert_ok(tepal_counting_shares(m, m / 8, k, 1, true, share));
            assert_near(1 - fill, share[0], 1e-12);
            /* outside lines a counter is as good as a bit */
            assert_true(fill == tepal_bloom_fill(FLAT, COLLIDING, m, m / 8, k));
        }
    }
}

static uint32_t best_by_trying(enum tepal_layout layout, enum tepal_positions positions, uint64_t m,
                               uint64_t n)
{
    uint32_t best = 0;
    double lowest = 2;
    for (uint32_t k = 1; k <= most_hashes[layout]; k++) {
        double rate = tepal_counting_rate(layout, positions, m, n, k);
        if (rate < lowest) { /* false for NaN; of equals the first */
            lowest = rate;
            best = k;
        }
    }
    return best;
}

static void best_hashes_are_the_best(void **state)
{
    (void)state;
    static const double counters_per_key[] = {0.5, 2, 6, 11, 20, 45};
    for (int l = 0; l < 4; l++) {
        for (int d = 0; d < 2; d++) {
            for (size_t i = 0; i < COUNT(counters_per_key); i++) {
                for (uint64_t m = 2 * LINE; m < 200000; m *= 16) {
                    uint64_t n = (uint64_t)((double)m / counters_per_key[i]);
                    uint32_t best = best_by_trying(all_layouts[l], all_positions[d], m, n);
                    assert_int_equal(
                        tepal_counting_best_hashes(all_layouts[l], all_positions[d], m, n), best);
                }
            }
        }
    }
    /* (m/n) ln 2, rounded, for the paper's m/n; crowded lines want fewer. */
    assert_int_equal(tepal_counting_best_hashes(FLAT, COLLIDING, 120000, 10000), 8);
    assert_int_equal(tepal_counting_best_hashes(FLAT, COLLIDING, 160000, 10000), 11);
    assert_int_equal(tepal_counting_best_hashes(FLAT, COLLIDING, 200000, 10000), 14);
    assert_true(tepal_counting_best_hashes(BLOCKED, COLLIDING, 160000, 10000) <
                tepal_bloom_best_hashes(BLOCKED, COLLIDING, 163840, 10240));
    assert_int_equal(tepal_counting_best_hashes(FLAT, COLLIDING, 1000, 0), 1);
    assert_int_equal(tepal_counting_best_hashes(FLAT, DISTINCT, 1, 1), 1);
    assert_int_equal(tepal_counting_best_hashes(FLAT, COLLIDING, 0, 5), 0);
    assert_int_equal(tepal_counting_best_hashes(BLOCKED, COLLIDING, LINE - 1, 5), 0);
    assert_int_equal(tepal_counting_best_hashes(PAIRED, DISTINCT, LINE, 5), 0);
    assert_int_equal(tepal_counting_best_hashes((enum tepal_layout)9, COLLIDING, LINE, 5), 0);
    assert_int_equal(tepal_counting_best_hashes(FLAT, (enum tepal_positions)9, LINE, 5), 0);
}

/* Enough, and one step less is not, with the k given or with any. */
static void size_is_the_smallest(void **state)
{
    (void)state;
    static const double fps[] = {0.5, 0.05, 1e-3, 1e-6};
    for (int l = 0; l < 4; l++) {
        for (int d = 0; d < 2; d++) {
            for (size_t i = 0; i < COUNT(fps); i++) {
                enum tepal_layout layout = all_layouts[l];
                enum tepal_positions positions = all_positions[d];
                uint64_t n = 300 + 100 * (uint64_t)i;
                uint64_t cells = 0;
                uint32_t hashes = 0;
                assert_ok(tepal_counting_size(layout, positions, n, fps[i], &cells, &hashes));
                assert_int_equal(cells % unit_of(layout), 0);
                assert_true(tepal_counting_rate(layout, positions, cells, n, hashes) <= fps[i]);
                assert_int_equal(hashes, best_by_trying(layout, positions, cells, n));
                uint64_t less = cells - unit_of(layout);
                for (uint32_t k = 1; k <= most_hashes[layout]; k++) { /* or NaN: no such filter */
                    assert_false(tepal_counting_rate(layout, positions, less, n, k) <= fps[i]);
                }
                hashes = 3;
                assert_ok(tepal_counting_size(layout, positions, n, fps[i], &cells, &hashes));
                assert_int_equal(hashes, 3);
                assert_true(tepal_counting_rate(layout, positions, cells, n, 3) <= fps[i]);
                assert_false(tepal_counting_rate(layout, positions, cells - unit_of(layout), n,
                                                 3) <= fps[i]);
            }
        }
    }
}

/* What lines of 128 counters cost over the flat layout, which costs what a Bloom filter does. */
static void lines_cost_what_the_text_says(void **state)
{
    (void)state;
    static const struct {
        enum tepal_layout layout;
        double fp, more, unit;
    } says[] = {
        {BLOCKED, 0.01, 0.14, 0.01},
        {BLOCKED, 3e-5, 0.84, 0.01},
        {PAIRED, 0.01, 0.024, 0.001},
        {PAIRED, 3e-5, 0.18, 0.01},
    };
    for (size_t i = 0; i < COUNT(says); i++) {
        uint64_t flat;
        uint64_t bits;
        uint64_t lines;
        uint32_t hashes = 0;
        assert_ok(tepal_counting_size(FLAT, COLLIDING, 100000, says[i].fp, &flat, &hashes));
        hashes = 0;
        assert_ok(tepal_bloom_size(FLAT, COLLIDING, 100000, says[i].fp, &bits, &hashes));
        assert_int_equal(flat, bits);
        hashes = 0;
        assert_ok(
            tepal_counting_size(says[i].layout, COLLIDING, 100000, says[i].fp, &lines, &hashes));
        assert_digits((double)lines / (double)flat - 1, says[i].more, says[i].unit);
    }
}

static void no_size_is_refused(void **state)
{
    (void)state;
    static const double bad[] = {0, 1, -0.1, 1.5, (double)NAN, (double)INFINITY};
    uint64_t cells = 7;
    uint32_t hashes = 0;
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(tepal_counting_size(FLAT, COLLIDING, 9, bad[i], &cells, &hashes),
                         TEPAL_BAD_ARGUMENT);
    }
    assert_int_equal(tepal_counting_size(FLAT, COLLIDING, 0, 0.1, &cells, &hashes),
                     TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_counting_size((enum tepal_layout)9, COLLIDING, 9, 0.1, &cells, &hashes),
                     TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_counting_size(FLAT, (enum tepal_positions)9, 9, 0.1, &cells, &hashes),
                     TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_counting_size(FLAT, COLLIDING, 9, 0.1, NULL, &hashes),
                     TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_counting_size(FLAT, COLLIDING, 9, 0.1, &cells, NULL),
                     TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_counting_size(FLAT, COLLIDING, UINT64_C(1) << 60, 0.01, &cells, &hashes),
                     TEPAL_TOO_LARGE);
    assert_int_equal(hashes, 0);
    hashes = TEPAL_MAX_HASHES_BLOCKED + 1;
    assert_int_equal(tepal_counting_size(BLOCKED, COLLIDING, 9, 0.1, &cells, &hashes),
                     TEPAL_BAD_ARGUMENT);
    assert_int_equal(hashes, TEPAL_MAX_HASHES_BLOCKED + 1);
    assert_int_equal(cells, 7);

    static const struct {
        enum tepal_layout layout;
        enum tepal_positions positions;
        uint64_t m;
        uint32_t k;
    } none[] = {
        {FLAT, COLLIDING, 0, 1},         {FLAT, COLLIDING, 99, 0},
        {FLAT, COLLIDING, 99, MOST + 1}, {FLAT, DISTINCT, 5, 6},
        {PARTITIONED, COLLIDING, 5, 6},  {BLOCKED, COLLIDING, LINE + 1, 6},
        {PAIRED, DISTINCT, LINE, 6},     {BLOCKED, COLLIDING, LINE, TEPAL_MAX_HASHES_BLOCKED + 1},
    };
    for (size_t i = 0; i < COUNT(none); i++) {
        assert_true(
            isnan(tepal_counting_fill(none[i].layout, none[i].positions, none[i].m, 5, none[i].k)));
        assert_true(
            isnan(tepal_counting_rate(none[i].layout, none[i].positions, none[i].m, 5, none[i].k)));
    }
}

/* ---- the generalized filter ------------------------------------------------------------------ */

static void equation_26(void **state)
{
    (void)state;
    static const uint32_t hashes[][2] = {{1, 4}, {2, 2}, {7, 10}, {0, 3}, {3, 0}, {1, 355}};
    static const double first[] = {0, 0.25, 0.5, 0.9, 1};
    for (size_t i = 0; i < COUNT(hashes); i++) {
        uint32_t k0 = hashes[i][0];
        uint32_t k1 = hashes[i][1];
        double steady = k0 / (double)(k0 + k1);
        for (size_t j = 0; j < COUNT(first); j++) {
            double p0 = first[j];
            for (uint64_t m = 500; m <= 5000000; m *= 100) {
                uint64_t n = m / 50;
                /* n powers of 1 - q0 - q1, eqs. (4) and (5) */
                long double one = 1 - 1 / (long double)m;
                long double q0 = 1 - powl(one, k0);
                long double q1 = (1 - powl(one, k1)) * powl(one, k0);
                long double r = powl(1 - q0 - q1, n);
                double got = tepal_generalized_zero_approx(m, n, k0, k1, p0);
                assert_true(fabsl(got - (p0 * r + steady * (1 - r))) <= 1e-12);
                /* k0/(k0+k1) for q0/(q0+q1) is right to first order in k/m. */
                double exact = tepal_generalized_zero(m, n, k0, k1, p0);
                assert_true(fabs(got - exact) <= 0.5 * (k0 + k1) / (double)m);
            }
            assert_true(tepal_generalized_zero_approx(1000, 0, k0, k1, p0) == p0);
            assert_near(tepal_generalized_zero_approx(1000, UINT64_MAX, k0, k1, p0), steady, 1e-15);
        }
        /* eq. (27): begun so, it stays so */
        for (uint64_t n = 0; n < 100000; n = 5 * n + 1) {
            assert_near(tepal_generalized_zero_approx(4096, n, k0, k1, steady), steady, 1e-14);
        }
    }
    /* One bit: the first key resets it, or sets it, and k0/(k0+k1) knows no precedence. */
    assert_near(tepal_generalized_zero_approx(1, 1, 1, 3, 0.5), 0.25, 1e-15);
    assert_true(isnan(tepal_generalized_zero_approx(0, 5, 2, 2, 0.5)));
    assert_true(isnan(tepal_generalized_zero_approx(99, 5, 0, 0, 0.5)));
    assert_true(isnan(tepal_generalized_zero_approx(99, 5, 2, 2, -0.1)));
    assert_true(isnan(tepal_generalized_zero_approx(99, 5, 2, 2, 1.1)));
    assert_true(isnan(tepal_generalized_zero_approx(99, 5, 2, 2, (double)NAN)));
}

/* ---- numbers that no filter has -------------------------------------------------------------- */

#define HUGE UINT32_MAX

static void addresses_of_no_filter(void **state)
{
    (void)state;
    static const struct {
        double p0;
        uint32_t k;
        uint32_t c;
    } none[] = {
        {0.5, 0, 2},  {0.5, MOST + 1, 2}, {0.5, 3, 0},         {0.5, 3, TEPAL_MAX_CHOICES + 1},
        {-0.1, 3, 2}, {1.1, 3, 2},        {(double)NAN, 3, 2}, {0.5, 3, HUGE}};
    for (size_t i = 0; i < COUNT(none); i++) {
        assert_true(isnan(tepal_counting_fp(none[i].p0, none[i].k, none[i].c)));
        assert_true(isnan(tepal_counting_multi_address(none[i].p0, none[i].k, none[i].c)));
        assert_true(isnan(tepal_counting_wrong_address(none[i].p0, none[i].k, none[i].c)));
        assert_true(isnan(tepal_counting_wrong_address_printed(none[i].p0, none[i].k, none[i].c)));
    }
    assert_true(tepal_counting_fp(1, 3, 2) == 0 && tepal_counting_fp(0, 3, 64) == 1);
}

static void growth_of_no_filter(void **state)
{
    (void)state;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_chain_part part = {.keys = 7};
    assert_true(isnan(tepal_growing_fp(8, 8, 0, 1000)));
    assert_true(isnan(tepal_growing_fp(HUGE, 8, 256, 1000)));
    assert_true(isnan(tepal_growing_fp(8, HUGE, 256, 1000)));
    assert_true(isnan(tepal_growing_buckets(8, 0, 1000)));
    assert_true(isnan(tepal_growing_buckets(HUGE, 256, 1000)));
    assert_true(isnan(tepal_growing_rise(8, 0, 0, 1)));
    assert_true(isnan(tepal_growing_rise(HUGE, 256, 0, 1)));
    assert_true(isnan(tepal_growing_rise(8, 256, -1, 1)));
    assert_true(isnan(tepal_growing_rise(8, 256, 0, (double)NAN)));
    p.kind = TEPAL_KIND_CHAIN;
    for (int series = TEPAL_CHAIN_EVEN; series <= TEPAL_CHAIN_HALVING; series++) {
        p.chain = (struct tepal_chain_params){.first_keys = 1, .series = (uint64_t)series};
        p.chain.growth = TEPAL_CHAIN_UNIT + 1;
        assert_ok(tepal_chain_size(100, 0.01, &p));
        for (uint32_t i = TEPAL_MAX_PARTS; i != 0; i = i == HUGE ? 0 : HUGE) {
            assert_true(tepal_chain_share(&p, i) >= 0 && tepal_chain_share(&p, i) < 1);
            assert_int_equal(tepal_chain_part(&p, i, &part), TEPAL_FULL);
        }
        assert_true(tepal_chain_share(&p, TEPAL_MAX_PARTS - 1) > 0);
    }
    assert_int_equal(part.keys, 7);
    assert_true(tepal_fingerprint_room(8, UINT64_MAX) == UINT64_MAX);
    assert_true(tepal_fingerprint_fits(8, UINT64_MAX, 1) == 1);
}

static void phases_and_levels_of_no_filter(void **state)
{
    (void)state;
    struct tepal_recycling_setting s = TEPAL_RECYCLING_SETTING_INIT;
    struct tepal_recycling_rates rates;
    struct tepal_cascade_setting levels = {.first_bits = UINT64_C(1) << 63, .hashes = 7};
    s.layout = BLOCKED;
    s.bits = 1 << 20;
    s.hashes = HUGE;
    assert_int_equal(tepal_recycling_for_count(&s, 1000, 0.01, &rates), TEPAL_BAD_ARGUMENT);
    assert_int_equal(s.hashes, HUGE);
    /* A sigma that is not the size itself, but rounds to it. */
    s = (struct tepal_recycling_setting){
        PARTITIONED, COLLIDING, UINT64_C(1) << 60, 8, (UINT64_C(1) << 60) - 1, 2, true, false};
    assert_ok(tepal_recycling_average(&s, TEPAL_RECYCLING_CLOSED, &rates));
    s.bits++;
    assert_int_equal(tepal_recycling_average(&s, TEPAL_RECYCLING_CLOSED, &rates),
                     TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_recycling_best_sigma(&s, 0.5, &rates), TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_cascade_predict(FLAT, COLLIDING, 1000, 10, &levels), TEPAL_BAD_ARGUMENT);
    assert_int_equal(levels.levels, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choices_in_lines),
        cmocka_unit_test(counters_of_both_widths_stick),
        cmocka_unit_test(all_members_with_several_addresses),
        cmocka_unit_test(theorem_1_as_printed),
        cmocka_unit_test(the_mean_of_theorem_1),
        cmocka_unit_test(theorem_4_as_printed),
        cmocka_unit_test(theorem_4),
        cmocka_unit_test(theorem_4_refuses),
        cmocka_unit_test(theorem_3),
        cmocka_unit_test(theorem_3_knows_the_counters),
        cmocka_unit_test(one_wrong_removal_played),
        cmocka_unit_test(fill_is_what_is_above_zero),
        cmocka_unit_test(best_hashes_are_the_best),
        cmocka_unit_test(size_is_the_smallest),
        cmocka_unit_test(lines_cost_what_the_text_says),
        cmocka_unit_test(no_size_is_refused),
        cmocka_unit_test(equation_26),
        cmocka_unit_test(addresses_of_no_filter),
        cmocka_unit_test(growth_of_no_filter),
        cmocka_unit_test(phases_and_levels_of_no_filter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
