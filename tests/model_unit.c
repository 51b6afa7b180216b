/*
 * model_unit.c: the formulas against naive references that share no code with them: occupancy
 * tables for small filters, alternating sums with their own rounding error, values computed once
 * with several hundred digits, and the process itself played with a generator. Then what must hold
 * among the answers: order, limits, inverses, refusals.
 */
#include "check.h"

#include <tepal/papers.h>

#include <float.h>

#include "model/blocked.h"
#include "model/flat.h"
#include "model/search.h"

#define FLAT        TEPAL_LAYOUT_FLAT
#define PARTITIONED TEPAL_LAYOUT_PARTITIONED
#define BLOCKED     TEPAL_LAYOUT_BLOCKED
#define PAIRED      TEPAL_LAYOUT_PAIRED
#define COLLIDING   TEPAL_POSITIONS_COLLIDING
#define DISTINCT    TEPAL_POSITIONS_DISTINCT
#define LINE        TEPAL_LINE_BITS

static const enum tepal_layout all_layouts[] = {FLAT, PARTITIONED, BLOCKED, PAIRED};
static const enum tepal_positions all_positions[] = {COLLIDING, DISTINCT};

/* Is `got` within `relative` of `want`? Says both if not. */
static void near_(double got, double want, double relative, int line)
{
    if (!(fabs(got - want) <= relative * fabs(want))) {
        fail_msg("line %d: got %.17g, want %.17g within %g", line, got, want, relative);
    }
}
#define assert_near(got, want, relative) near_(got, want, relative, __LINE__)

/* ---- a generator for settings and simulations ------------------------------------------------ */

static uint32_t random_below(uint64_t *state, uint32_t range)
{
    return (uint32_t)(((check_random(state) >> 32) * range) >> 32);
}

static double random_between(uint64_t *state, double from, double to)
{
    return from + (to - from) * ((double)(check_random(state) >> 11) / 9007199254740992.0);
}

/* ---- the naive references -------------------------------------------------------------------- */

#define SMALL 300

/*
 * The distribution of the number of ones after n keys: one throw at a time, x ones become x + 1
 * with chance (open cells that are zero) / (open cells). With distinct positions the cells that
 * the key has drawn already are not open; how many of the ones those are is a second index.
 */
static void occupancy(unsigned m, unsigned n, unsigned k, bool distinct, long double *ones)
{
    memset(ones, 0, (m + 1) * sizeof *ones);
    ones[0] = 1;
    for (unsigned key = 0; key < n; key++) {
        if (!distinct) {
            for (unsigned t = 0; t < k; t++) {
                for (unsigned x = m; x > 0; x--) {
                    ones[x] = ones[x] * x / m + ones[x - 1] * (m - (x - 1)) / m;
                }
                ones[0] = 0;
            }
            continue;
        }
        /* After t draws all t drawn cells are ones: of x ones, x - t are still open. */
        for (unsigned t = 0; t < k; t++) {
            for (unsigned x = m; x > 0; x--) {
                long double stay = x >= t ? (long double)(x - t) / (m - t) : 0;
                ones[x] = ones[x] * stay + ones[x - 1] * (m - (x - 1)) / (m - t);
            }
            ones[0] = 0;
        }
    }
}

static double naive_flat(unsigned m, unsigned n, unsigned k, bool distinct, double *fill)
{
    long double ones[SMALL + 1];
    long double rate = 0;
    long double mean = 0;
    occupancy(m, n, k, distinct, ones);
    for (unsigned x = 0; x <= m; x++) {
        long double all = ones[x];
        for (unsigned i = 0; i < k; i++) {
            all *= distinct ? (x > i ? (long double)(x - i) / (m - i) : 0) : (long double)x / m;
        }
        rate += all;
        mean += ones[x] * x / m;
    }
    *fill = (double)mean;
    return (double)rate;
}

static long double binomial(unsigned n, unsigned i)
{
    long double ways = 1;
    for (unsigned j = 0; j < i; j++) {
        ways = ways * (n - j) / (j + 1);
    }
    return i > n ? 0 : ways;
}

/* A sum and the rounding error it cannot avoid. */
struct sum {
    long double value, size;
};

static void sum_add(struct sum *s, long double term)
{
    s->value += term;
    s->size += fabsl(term);
}

/* got = s.value within `relative`, and within what the sum itself can tell. */
static void near_sum(double got, struct sum s, double relative, int line)
{
    long double allowed = relative * fabsl(s.value) + 1000 * LDBL_EPSILON * s.size;
    if (!(fabsl(got - s.value) <= allowed)) {
        fail_msg("line %d: got %.17g, want %.17Lg within %.3Lg", line, got, s.value, allowed);
    }
}
#define assert_near_sum(got, s, relative) near_sum(got, s, relative, __LINE__)

/* Inclusion-exclusion over the asked cells, positions distinct: sum (-1)^i C(k,i) q_i^n. */
static struct sum alternating_distinct(uint64_t m, uint64_t n, unsigned k)
{
    struct sum s = {0, 0};
    for (unsigned i = 0; i <= k; i++) {
        long double log_miss = 0;
        for (unsigned t = 0; t < k; t++) {
            log_miss += log1pl(-(long double)i / (long double)(m - t));
        }
        sum_add(&s, (i % 2 ? -1 : 1) * binomial(k, i) * expl((long double)n * log_miss));
    }
    return s;
}

/*
 * Inclusion-exclusion for lines, as polynomials: coefficient[a][b] counts the ways to demand that
 * one asked bit be unset in `a` sectors and two in `b` sectors.
 */
static void polynomial(unsigned k, struct model_line line, long double coefficient[9][9])
{
    long double same = line.distinct ? 0 : 1 / (long double)line.sector;
    memset(coefficient, 0, 81 * sizeof(long double));
    coefficient[0][0] = 1;
    for (unsigned sector = 0; sector < 8; sector++) {
        unsigned draws = k / 8 + (sector < k % 8);
        for (unsigned a = 9; a-- > 0;) {
            for (unsigned b = 9; b-- > 0;) {
                long double one = a > 0 ? coefficient[a - 1][b] : 0;
                long double two = b > 0 ? coefficient[a][b - 1] : 0;
                coefficient[a][b] += draws == 1   ? -one
                                     : draws == 2 ? (same - 2) * one + (1 - same) * two
                                                  : 0;
            }
        }
    }
}

/* The chance that `draws` draws in a sector avoid i given bits. */
static long double avoids(unsigned i, unsigned draws, struct model_line line)
{
    if (draws < 2 || !line.distinct) {
        return powl(1 - i / (long double)line.sector, draws);
    }
    long double all = line.sector;
    return (all - i) * (all - 1 - i) / (all * (all - 1));
}

/* The chance that one member with k positions leaves all those bits unset. */
static long double member_avoids(unsigned a, unsigned b, unsigned k, struct model_line line)
{
    unsigned full = k / 8;
    unsigned extra = k % 8;
    long double sum = 0;
    for (unsigned x = 0; x <= a && x <= extra; x++) {
        for (unsigned y = 0; y <= b && x + y <= extra; y++) {
            long double ways = binomial(a, x) * binomial(b, y) * binomial(8 - a - b, extra - x - y);
            sum += ways / binomial(8, extra) * powl(avoids(1, full + 1, line), x) *
                   powl(avoids(1, full, line), a - x) * powl(avoids(2, full + 1, line), y) *
                   powl(avoids(2, full, line), b - y);
        }
    }
    return sum;
}

/* P(all k bits asked in a line are set); members have k1 positions in it, or k2 (0: none do). */
static struct sum alternating_line(uint64_t lines, uint64_t n, unsigned asks, unsigned k1,
                                   unsigned k2, struct model_line line, bool poisson)
{
    long double coefficient[9][9];
    struct sum s = {0, 0};
    long double l = (long double)lines;
    polynomial(asks, line, coefficient);
    for (unsigned a = 0; a <= 8; a++) {
        for (unsigned b = 0; a + b <= 8; b++) {
            long double set1 = 1 - member_avoids(a, b, k1, line);
            long double set2 = k2 ? 1 - member_avoids(a, b, k2, line) : 0;
            long double log_miss =
                line.distinct ? log1pl(-(set1 + set2) / l) : log1pl(-set1 / l) + log1pl(-set2 / l);
            if (poisson) {
                log_miss = -(set1 + set2) / l;
            }
            sum_add(&s, coefficient[a][b] * expl((long double)n * log_miss));
        }
    }
    return s;
}

/* ---- flat ------------------------------------------------------------------------------------ */

static void test_flat_occupancy(void **state)
{
    static const unsigned ms[] = {1, 2, 3, 7, 16, 64, 160, 256};
    static const unsigned ns[] = {1, 2, 5, 30, 100};
    static const unsigned ks[] = {1, 2, 3, 4, 6, 7, 12, 30, 64};
    (void)state;
    for (size_t a = 0; a < COUNT(ms); a++) {
        for (size_t b = 0; b < COUNT(ns); b++) {
            for (size_t c = 0; c < COUNT(ks); c++) {
                unsigned m = ms[a];
                unsigned n = ns[b];
                unsigned k = ks[c];
                double fill;
                double rate = naive_flat(m, n, k, false, &fill);
                assert_near(tepal_bloom_fp_exact(m, n, k), rate, 1e-12);
                assert_near(tepal_bloom_fp(FLAT, COLLIDING, m, n, k), rate, 1e-12);
                assert_near(tepal_bloom_fill(FLAT, COLLIDING, m, n, k), fill, 1e-12);
                if (k <= m) {
                    rate = naive_flat(m, n, k, true, &fill);
                    assert_near(tepal_bloom_fp_distinct(m, n, k), rate, 1e-12);
                    assert_near(tepal_bloom_fp(FLAT, DISTINCT, m, n, k), rate, 1e-12);
                    assert_near(tepal_bloom_fill(FLAT, DISTINCT, m, n, k), fill, 1e-12);
                }
            }
        }
    }
}

/* Alternating sums in 400-digit arithmetic, rounded. */
static void test_flat_many_digits(void **state)
{
    static const struct {
        uint64_t m, n;
        uint32_t k;
        double exact, distinct;
    } known[] = {
        {160, 30, 4, 0.079018980277987164, 0.078378703541825724},
        {256, 30, 6, 0.017012208784254139, 0.016729158391330796},
        {1000, 100, 7, 0.0082662475148435663, 0.0082152598335543801},
        {100, 2, 64, 3.2101229499068702e-8, 1.5234465052938767e-5},
        {64, 1, 64, 1.0971049484501665e-10, 1.0},
        {5000, 3, 24, 5.4624560341284167e-45, 7.7921535285868056e-47},
        {1000000, 100000, 7, 0.008193794400339355, 0.0081937434801127821},
        {1000000, 10000, 40, 5.2946503921253191e-20, 5.2896144701390673e-20},
        {10000000, 695000, 10, 0.00099479273209151102, 0.00099479137178560704},
        {12345678, 900000, 33, 0.044175437591733561, 0.044175700901609518},
        {UINT64_C(1) << 30, 1 << 26, 11, 0.0004587107396885768, 0.00045871073226230652},
        {UINT64_C(1) << 30, 5, 6, 4.7569466024660231e-46, 2.7896849674582836e-46},
        {UINT64_C(1) << 45, 3, 5, 1.4083392103379041e-62, 6.6832476423057466e-63},
        {UINT64_C(10000000000), 1000000000, 7, 0.008193722073095846, 0.0081937220680038301},
        {UINT64_C(1) << 40, UINT64_C(1) << 35, 22, 2.1041553457957566e-7, 2.1041553456560365e-7},
        {UINT64_C(1) << 60, UINT64_C(1) << 50, 5, 2.7418958190432048e-12, 2.7418958190432e-12},
        {UINT64_C(1) << 60, UINT64_C(1) << 54, 44, 4.4274697186060119e-14, 4.4274697186060108e-14},
        {UINT64_C(1) << 60, UINT64_C(1) << 56, 11, 0.00045871073081462795, 0.00045871073081462794},
        {UINT64_C(1) << 60, UINT64_C(1) << 60, 1, 0.63212055882855768, 0.63212055882855768},
        {UINT64_C(1) << 60, UINT64_C(1) << 59, 64, 0.99999999999918949, 0.99999999999918949},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(known); i++) {
        assert_near(tepal_bloom_fp_exact(known[i].m, known[i].n, known[i].k), known[i].exact,
                    1e-10);
        assert_near(tepal_bloom_fp_distinct(known[i].m, known[i].n, known[i].k), known[i].distinct,
                    1e-10);
    }
}

static void test_flat_alternating(void **state)
{
    uint64_t seed = 1;
    (void)state;
    for (int i = 0; i < 300; i++) {
        uint64_t m = (uint64_t)exp2(random_between(&seed, 6, 50));
        unsigned k = 2 + random_below(&seed, 7);
        uint64_t n = 1 + (uint64_t)((double)m / k * exp2(random_between(&seed, -2, 2)));
        assert_near_sum(tepal_bloom_fp_distinct(m, n, k), alternating_distinct(m, n, k), 1e-10);
    }
}

/* Where both roads are open they meet, and the series knows how far it can be believed. */
static void test_flat_chain_and_series(void **state)
{
    uint64_t seed = 2;
    unsigned believed = 0;
    (void)state;
    for (int i = 0; i < 400; i++) {
        unsigned k = 2 + random_below(&seed, i % 8 == 0 ? 63 : 20);
        uint64_t m = (uint64_t)exp2(random_between(&seed, 11, 36));
        uint64_t n = 1 + (uint64_t)((double)m / k * exp2(random_between(&seed, -12, 5)));
        bool distinct = i % 2;
        double doubt;
        double series = tepal_model_flat_series(m, n, k, distinct, &doubt);
        if (!(doubt < 1e-3)) {
            continue;
        }
        double chain = tepal_model_flat_chain(m, n, k, distinct);
        if (chain > 1e-250) {
            assert_near(series, chain, doubt + 1e-12);
            believed++;
        }
    }
    assert_true(believed > 200);
}

static void test_flat_by_hand(void **state)
{
    (void)state;
    /* Two cells, one key, two hashes: one or two cells set, evenly. Bose et al.: 5/8, not 9/16. */
    assert_near(tepal_bloom_fp_exact(2, 1, 2), 5 / 8., 1e-15);
    assert_near(tepal_bloom_fp_classic(2, 1, 2), 9 / 16., 1e-15);
    assert_near(tepal_bloom_fp_exact(2, 1, 3), 25 / 32., 1e-15);
    assert_near(tepal_bloom_fp_distinct(3, 1, 2), 1 / 3., 1e-15);
    assert_near(tepal_bloom_fp_distinct(3, 2, 2), 7 / 9., 1e-15);
    assert_near(tepal_bloom_fp_approx(10, 5, 2), pow(1 - exp(-1), 2), 1e-15);
    /* The textbook's line: ten bits a key and seven hashes, "0.8 %". */
    assert_near(tepal_bloom_fp_approx(1000, 100, 7), 0.0081937, 1e-5);
}

static void test_flat_order(void **state)
{
    uint64_t seed = 3;
    (void)state;
    for (int i = 0; i < 300; i++) {
        uint64_t m = (uint64_t)exp2(random_between(&seed, 1, 24));
        uint32_t k = 2 + random_below(&seed, 15);
        uint64_t n = 1 + (uint64_t)((double)m / k * exp2(random_between(&seed, -3, 1)));
        double classic = tepal_bloom_fp_classic(m, n, k);
        double exact = tepal_bloom_fp_exact(m, n, k);
        double approx = tepal_bloom_fp_approx(m, n, k);
        if (m > 1 && classic > 1e-280) {
            assert_true(exact > classic);                        /* Bose et al., k >= 2 */
            assert_true(classic > approx || classic > 1 - 1e-9); /* 1 - 1/m < e^(-1/m) */
        }
        double one = tepal_bloom_fp_classic(m, n, 1);
        assert_near(tepal_bloom_fp_exact(m, n, 1), one, 0);
        assert_near(tepal_model_flat_chain(m, n, 1, false), one, 1e-12);
        assert_near(tepal_bloom_fp_distinct(m, n, 1), one, 1e-15);
        assert_near(tepal_bloom_fp(PARTITIONED, COLLIDING, m, n, 1), one, 1e-14);
    }
}

/* exact / classic - 1 falls like C(k,2) (e^-l - (1+l) e^-2l) / (m p^2), with l = kn/m. */
static void test_flat_excess(void **state)
{
    (void)state;
    for (uint32_t k = 2; k <= 20; k += 3) {
        uint64_t m = 1000000;
        uint64_t n = m / 10;
        double l = (double)n * k / (double)m;
        double p = 1 - exp(-l);
        double excess = k * (k - 1) / 2. * (exp(-l) - (1 + l) * exp(-2 * l)) / (p * p) / (double)m;
        double ratio = tepal_bloom_fp_exact(m, n, k) / tepal_bloom_fp_classic(m, n, k);
        assert_near(ratio - 1, excess, 1e-3);
    }
}

static void test_partitioned(void **state)
{
    uint64_t seed = 4;
    (void)state;
    /* Slices of 2 and 3 cells. */
    assert_near(tepal_bloom_fp(PARTITIONED, COLLIDING, 5, 1, 2), 1 / 6., 1e-15);
    assert_near(tepal_bloom_fp(PARTITIONED, DISTINCT, 5, 2, 2), 5 / 12., 1e-15);
    assert_near(tepal_bloom_fill(PARTITIONED, COLLIDING, 5, 2, 2), (2 * 3 / 4. + 3 * 5 / 9.) / 5,
                1e-15);
    for (int i = 0; i < 200; i++) {
        uint32_t k = 1 + random_below(&seed, 64);
        uint64_t m = k + random_below(&seed, 5000);
        uint64_t n = random_below(&seed, 2000);
        long double rate = 1;
        long double ones = 0;
        for (uint32_t slice = 0; slice < k; slice++) {
            uint64_t size = (slice + 1) * m / k - slice * m / k;
            long double set = 1 - powl(1 - 1 / (long double)size, (long double)n);
            rate *= set;
            ones += set * (long double)size;
        }
        assert_near(tepal_bloom_fp(PARTITIONED, COLLIDING, m, n, k), (double)rate, 1e-11);
        assert_near(tepal_bloom_fill(PARTITIONED, DISTINCT, m, n, k),
                    (double)(ones / (long double)m), 1e-12);
    }
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void test_lines_many_digits(void **state)
{
    static const struct {
        enum tepal_layout layout;
        uint64_t lines, n;
        uint32_t k;
        double colliding, distinct;
    } known[] = {
        {BLOCKED, 1, 20, 5, 0.00017336429775615095, 0.00017336429775615095},
        {BLOCKED, 3, 100, 9, 0.00094876272359173623, 0.00094281023019093245},
        {BLOCKED, 1000, 51200, 6, 0.0097104509305343302, 0.0097104509305343302},
        {BLOCKED, 1000, 32000, 10, 0.00085903717862837972, 0.00085215705668295345},
        {BLOCKED, 1000, 4000, 13, 1.2389911587208241e-10, 1.027403553005188e-10},
        {BLOCKED, 100000, 100000, 16, 1.5812720243895421e-15, 1.0538882143289721e-15},
        {BLOCKED, 1000000, 100000, 16, 1.3277310756766937e-20, 5.5738675575822731e-21},
        {BLOCKED, 1 << 20, 1 << 20, 8, 1.1421751396460631e-11, 1.1421751396460631e-11},
        {BLOCKED, UINT64_C(1) << 40, UINT64_C(1) << 44, 12, 6.2444316998890112e-6,
         5.9905065440982868e-6},
        {BLOCKED, UINT64_C(1) << 51, UINT64_C(1) << 50, 15, 6.2858602933705094e-17,
         3.6511487207766776e-17},
        {BLOCKED, UINT64_C(1) << 51, UINT64_C(1) << 56, 3, 0.0052929043662862458,
         0.0052929043662862458},
        {BLOCKED, 1 << 30, 2, 4, 1.586032920994613e-18, 1.586032920994613e-18},
        {PAIRED, 2, 100, 7, 0.0074710526861728837, 0.0073732733654417296},
        {PAIRED, 1000, 51200, 7, 0.0084838049010880048, 0.0084836007774585174},
        {PAIRED, 1000, 51200, 1, 0.095162670327180273, 0.095162670327180273},
        {PAIRED, 1000, 10000, 25, 1.1045173868276822e-9, 1.0455365634875443e-9},
        {PAIRED, 1000000, 1000000, 32, 2.9885548313618935e-26, 1.6844190286134396e-26},
        {PAIRED, UINT64_C(1) << 40, UINT64_C(1) << 44, 18, 7.3694764510237302e-7,
         7.2795562493428805e-7},
        {PAIRED, UINT64_C(1) << 51, UINT64_C(1) << 49, 31, 1.7060076006652252e-33,
         5.8172490139414198e-34},
        {PAIRED, UINT64_C(1) << 51, UINT64_C(1) << 55, 2, 0.0036707769576438306,
         0.0036707769576438306},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(known); i++) {
        uint64_t m = known[i].lines * LINE;
        assert_near(tepal_bloom_fp(known[i].layout, COLLIDING, m, known[i].n, known[i].k),
                    known[i].colliding, 1e-11);
        assert_near(tepal_bloom_fp(known[i].layout, DISTINCT, m, known[i].n, known[i].k),
                    known[i].distinct, 1e-11);
    }
}

static void test_lines_alternating(void **state)
{
    uint64_t seed = 5;
    (void)state;
    for (int i = 0; i < 120; i++) {
        uint64_t lines = (uint64_t)exp2(random_between(&seed, 1, i % 2 ? 8 : 40));
        uint64_t n = 1 + (uint64_t)((double)lines * exp2(random_between(&seed, 2, 8)));
        uint32_t k = 1 + random_below(&seed, 16);
        bool distinct = random_below(&seed, 2);
        struct model_line line = {i % 3 == 0 ? 16 : 64, distinct};
        for (int poisson = 0; poisson < 2; poisson++) {
            enum model_load load = poisson ? MODEL_LOAD_POISSON : MODEL_LOAD_BINOMIAL;
            struct sum s = alternating_line(lines, n, k, k, 0, line, poisson);
            assert_near_sum(tepal_model_blocked_rate(lines, (double)n, k, line, load), s, 1e-10);

            uint32_t both = k + random_below(&seed, 2) + (k < 16 ? k : 15);
            uint32_t k1 = (both + 1) / 2;
            uint32_t k2 = both / 2;
            struct sum one = alternating_line(lines, n, k1, k1, k2, line, poisson);
            struct sum two = alternating_line(lines, n, k2, k1, k2, line, poisson);
            struct sum product = {one.value * two.value, one.size * two.size};
            double first;
            double rate = tepal_model_paired_rate(lines, (double)n, both, line, load, &first);
            assert_near_sum(first, one, 1e-10);
            assert_near_sum(rate, product, 1e-10);
        }
    }
}

/* What the layouts cost at common settings, in the limit of many lines. */
static void test_lines_published(void **state)
{
    uint64_t lines = 48000;
    const struct model_line line = {64, true};
    double first;
    (void)state;
    struct {
        uint32_t bits, k;
        double rate, relative;
    } known[] = {{10, 6, 0.009711580, 1e-6},
                 {16, 8, 0.000909, 1e-3},
                 {16, 10, 0.000852578, 1e-6},
                 {24, 12, 5.2928e-05, 1e-4},
                 {32, 14, 5.319e-06, 1e-4}};
    for (size_t i = 0; i < COUNT(known); i++) {
        uint64_t n = lines * LINE / known[i].bits;
        assert_near(
            tepal_model_blocked_rate(lines, (double)n, known[i].k, line, MODEL_LOAD_POISSON),
            known[i].rate, known[i].relative);
    }
    assert_near(tepal_model_paired_rate(lines, (double)(lines * LINE / 10), 7, line,
                                        MODEL_LOAD_POISSON, &first),
                0.00848, 1e-3);
    /* Second lines are read by one absent key in fifteen. */
    assert_near(first, 0.0657, 1e-2);
}

/*
 * Lines with thousands of keys, where steps are taken many at a time. One position: a bit is missed
 * by all with (1 - 1/m)^n. Eight: one line's sectors are filled one apart from the other, and all
 * eight bits are set with (1 - (63/64)^n)^8. Rates are next to 1, so it is 1 - rate that counts.
 */
static void test_blocked_heavy(void **state)
{
    (void)state;
    struct model_line line = {64, false};
    for (uint64_t lines = 1; lines <= 64; lines *= 4) {
        for (double each = 50; each <= 6400; each *= 2) {
            double n = each * (double)lines;
            double miss = exp(n * log1p(-1 / (512.0 * (double)lines)));
            double rate = tepal_model_blocked_rate(lines, n, 1, line, MODEL_LOAD_BINOMIAL);
            assert_near(1 - rate, miss, 1e-11 + 1e-15 / miss);
        }
    }
    for (double n = 1; n <= 1000; n++) {
        double unset = exp(n * log1p(-1.0 / 64));
        double open = -expm1(8 * log1p(-unset));
        double rate = tepal_model_blocked_rate(1, n, 8, line, MODEL_LOAD_BINOMIAL);
        assert_near(1 - rate, open, 1e-12 + 1e-15 / open);
    }
}

/* k = 8 puts one bit in every sector, which are independent then: a(j) = (1 - (63/64)^j)^8. */
static void test_lines_one_bit_a_sector(void **state)
{
    uint64_t n = 400;
    uint64_t lines = 10;
    long double weight = powl(1 - 1.0L / lines, n);
    long double rate = 0;
    (void)state;
    for (unsigned j = 0; j <= n; j++) {
        rate += weight * powl(1 - powl(63 / 64.0L, j), 8);
        weight *= (long double)(n - j) / (j + 1) / (lines - 1);
    }
    assert_near(tepal_bloom_fp(BLOCKED, COLLIDING, lines * LINE, n, 8), (double)rate, 1e-12);
}

/* The process itself. A filter is filled, then asked; the answers are averaged over filters. */
static void draw(uint64_t *seed, uint64_t mask[8], uint32_t k, bool distinct)
{
    uint32_t left = k % 8;
    for (uint32_t sector = 0; sector < 8; sector++) {
        bool extra = random_below(seed, 8 - sector) < left;
        left -= extra;
        mask[sector] = 0;
        for (uint32_t i = 0; i < k / 8 + extra; i++) {
            uint64_t bit;
            do {
                bit = UINT64_C(1) << random_below(seed, 64);
            } while (distinct && mask[sector] & bit);
            mask[sector] |= bit;
        }
    }
}

#define PLAY_LINES 64

struct mean {
    double sum, squares;
    unsigned count;
};

static void mean_add(struct mean *mean, double x)
{
    mean->sum += x;
    mean->squares += x * x;
    mean->count++;
}

/*
 * Is the mean of independent rounds what the model says? Allowed are seven standard errors, which
 * a normal mean exceeds with chance 3e-12. With some thousand rounds the mean is close to normal;
 * what it is not is allowed for generously by calling the chance of a false alarm 1e-8.
 */
static void assert_mean(const struct mean *mean, double want, double slack, int line)
{
    double got = mean->sum / mean->count;
    double variance = mean->squares / mean->count - got * got;
    double allowed = 7 * sqrt(variance / mean->count) + slack;
    if (!(fabs(got - want) <= allowed)) {
        fail_msg("line %d: played %.8g, model %.8g, allowed %.3g", line, got, want, allowed);
    }
}

static void play(uint64_t *seed, bool paired, bool distinct, uint32_t lines, uint32_t n, uint32_t k,
                 unsigned rounds, double slack)
{
    static uint64_t filter[PLAY_LINES][8];
    uint32_t part[2] = {paired ? (k + 1) / 2 : k, paired ? k / 2 : 0};
    struct mean rate = {0, 0, 0};
    struct mean fill = {0, 0, 0};
    for (unsigned round = 0; round < rounds; round++) {
        uint32_t asked = 4 * lines;
        uint32_t yes = 0;
        uint32_t ones = 0;
        memset(filter, 0, sizeof filter);
        for (uint32_t key = 0; key < n + asked; key++) {
            bool all = true;
            uint32_t line[2];
            line[0] = random_below(seed, lines);
            do {
                line[1] = random_below(seed, lines);
            } while (paired && distinct && line[0] == line[1]);
            for (int half = 0; half < 2; half++) {
                uint64_t mask[8];
                draw(seed, mask, part[half], distinct);
                for (int s = 0; s < 8; s++) {
                    if (key < n) {
                        filter[line[half]][s] |= mask[s];
                    } else {
                        all = all && (mask[s] & ~filter[line[half]][s]) == 0;
                    }
                }
            }
            yes += key >= n && all;
        }
        for (uint32_t l = 0; l < lines; l++) {
            for (int s = 0; s < 8; s++) {
                for (uint64_t w = filter[l][s]; w; w &= w - 1) {
                    ones++;
                }
            }
        }
        mean_add(&rate, (double)yes / asked);
        mean_add(&fill, (double)ones / (lines * (double)LINE));
    }
    enum tepal_layout layout = paired ? PAIRED : BLOCKED;
    enum tepal_positions positions = distinct ? DISTINCT : COLLIDING;
    double want = tepal_bloom_fp(layout, positions, lines * (uint64_t)LINE, n, k);
    assert_mean(&rate, want, slack * want, __LINE__);
    assert_mean(&fill, tepal_bloom_fill(layout, positions, lines * (uint64_t)LINE, n, k), 0,
                __LINE__);
}

static void test_lines_played(void **state)
{
    uint64_t seed = 6;
    (void)state;
    for (int distinct = 0; distinct < 2; distinct++) {
        play(&seed, false, distinct, 4, 300, 3, 1500, 0);
        play(&seed, false, distinct, 4, 200, 8, 1500, 0);
        play(&seed, false, distinct, 4, 200, 11, 1500, 0);
        play(&seed, false, distinct, 8, 350, 16, 1000, 0);
        /* The model of the paired layout leaves out a share of the order of 1 / lines. */
        play(&seed, true, distinct, 32, 3000, 5, 250, 1 / 32.);
        play(&seed, true, distinct, 32, 2000, 8, 250, 1 / 32.);
        play(&seed, true, distinct, 32, 1400, 19, 250, 1 / 32.);
        play(&seed, true, distinct, 4, 300, 1, 1000, 0);
    }
}

/* ---- every layout ---------------------------------------------------------------------------- */

static uint64_t unit_of(enum tepal_layout layout)
{
    return layout == BLOCKED || layout == PAIRED ? LINE : 1;
}

static uint32_t most_hashes(enum tepal_layout layout)
{
    return layout == BLOCKED ? 16 : layout == PAIRED ? 32 : 64;
}

static void test_limits(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(all_layouts); i++) {
        for (size_t j = 0; j < COUNT(all_positions); j++) {
            enum tepal_layout layout = all_layouts[i];
            enum tepal_positions positions = all_positions[j];
            for (uint32_t k = 1; k <= most_hashes(layout); k++) {
                static const uint64_t sizes[] = {1024, UINT64_C(1) << 20, UINT64_C(1) << 60};
                for (size_t s = 0; s < COUNT(sizes); s++) {
                    uint64_t m = sizes[s];
                    /* An empty filter says no; an overfull one says yes; nothing is NaN between. */
                    assert_true(tepal_bloom_fp(layout, positions, m, 0, k) == 0);
                    assert_true(tepal_bloom_fill(layout, positions, m, 0, k) == 0);
                    double full = tepal_bloom_fp(layout, positions, m, UINT64_MAX, k);
                    assert_true(full <= 1);
                    assert_near(full, 1, m < UINT64_C(1) << 60 ? 1e-13 : 1e-4);
                    assert_near(tepal_bloom_fill(layout, positions, m, UINT64_MAX, k), 1, 1e-4);
                    double one = tepal_bloom_fp(layout, positions, m, 1, k);
                    assert_true(one >= 0 && one < 0.01);
                }
            }
        }
    }
    for (uint32_t k = 1; k <= 64; k++) {
        assert_near(tepal_bloom_fp_exact(1, 1, k), 1, 1e-15);
        assert_near(tepal_bloom_fp_classic(1, 1, k), 1, 0);
        assert_near(tepal_bloom_fp_exact(1, UINT64_C(1) << 60, k), 1, 1e-15);
        assert_near(tepal_bloom_fp_distinct(k, 1, k), 1, 1e-14); /* every cell is set */
        assert_near(tepal_bloom_fp(PARTITIONED, COLLIDING, k, 1, k), 1, 1e-15);
        assert_true(tepal_bloom_fp_exact(k, 0, k) == 0);
        assert_true(tepal_bloom_fp_approx(k, 0, k) == 0);
    }
    /* One line is a small filter of its own: n keys in it, no more, no fewer. */
    assert_near(tepal_bloom_fp(BLOCKED, COLLIDING, LINE, 1, 1), 1 / 512., 1e-13);
    assert_near(tepal_bloom_fp(BLOCKED, COLLIDING, LINE, 40, 1), tepal_bloom_fp_exact(512, 40, 1),
                1e-12);
    assert_near(tepal_bloom_fp(PAIRED, DISTINCT, 2 * LINE, 1, 2), 1 / (512. * 512), 1e-12);
}

static void test_refusals(void **state)
{
    (void)state;
    assert_true(isnan(tepal_bloom_fp_classic(0, 1, 1)));
    assert_true(isnan(tepal_bloom_fp_classic(1, 1, 0)));
    assert_true(isnan(tepal_bloom_fp_classic(1, 1, 65)));
    assert_true(isnan(tepal_bloom_fp_approx(0, 1, 1)));
    assert_true(isnan(tepal_bloom_fp_approx(9, 1, 65)));
    assert_true(isnan(tepal_bloom_fp_exact(0, 1, 1)));
    assert_true(isnan(tepal_bloom_fp_exact(9, 1, 0)));
    assert_true(isnan(tepal_bloom_fp_exact(9, 0, UINT32_MAX)));
    assert_true(isnan(tepal_bloom_fp_distinct(4, 1, 5)));
    assert_true(isnan(tepal_bloom_fp_distinct(0, 1, 0)));
    static const struct {
        enum tepal_layout layout;
        enum tepal_positions positions;
        uint64_t m;
        uint32_t k;
    } bad[] = {
        {FLAT, COLLIDING, 0, 1},         {FLAT, COLLIDING, 10, 0},
        {FLAT, COLLIDING, 10, 65},       {FLAT, DISTINCT, 4, 5},
        {PARTITIONED, COLLIDING, 4, 5},  {PARTITIONED, DISTINCT, 100, 65},
        {BLOCKED, COLLIDING, 0, 3},      {BLOCKED, COLLIDING, LINE + 1, 3},
        {BLOCKED, COLLIDING, LINE, 17},  {PAIRED, COLLIDING, LINE * 2, 33},
        {PAIRED, COLLIDING, 100, 3},     {PAIRED, DISTINCT, LINE, 3},
        {(enum tepal_layout)4, 0, 9, 1}, {FLAT, (enum tepal_positions)2, 9, 1},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_true(isnan(tepal_bloom_fp(bad[i].layout, bad[i].positions, bad[i].m, 5, bad[i].k)));
        assert_true(
            isnan(tepal_bloom_fill(bad[i].layout, bad[i].positions, bad[i].m, 5, bad[i].k)));
    }
    assert_int_equal(tepal_bloom_best_hashes(FLAT, COLLIDING, 0, 5), 0);
    assert_int_equal(tepal_bloom_best_hashes(BLOCKED, COLLIDING, 100, 5), 0);
    assert_int_equal(tepal_bloom_best_hashes((enum tepal_layout)9, COLLIDING, 512, 5), 0);

    uint64_t cells = 77;
    uint32_t hashes = 0;
    static const double bad_fp[] = {0, 1, -0.5, 2, NAN, INFINITY};
    for (size_t i = 0; i < COUNT(bad_fp); i++) {
        assert_int_equal(tepal_bloom_size(FLAT, COLLIDING, 10, bad_fp[i], &cells, &hashes),
                         TEPAL_BAD_ARGUMENT);
    }
    assert_int_equal(tepal_bloom_size(FLAT, COLLIDING, 0, 0.1, &cells, &hashes),
                     TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_bloom_size((enum tepal_layout)7, COLLIDING, 1, 0.1, &cells, &hashes),
                     TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_bloom_size(FLAT, COLLIDING, UINT64_C(1) << 60, 0.01, &cells, &hashes),
                     TEPAL_TOO_LARGE);
    assert_int_equal(tepal_bloom_size(PAIRED, DISTINCT, UINT64_MAX, 0.5, &cells, &hashes),
                     TEPAL_TOO_LARGE);
    assert_int_equal(hashes, 0);
    hashes = 17;
    assert_int_equal(tepal_bloom_size(BLOCKED, COLLIDING, 10, 0.1, &cells, &hashes),
                     TEPAL_BAD_ARGUMENT);
    hashes = 1;
    assert_int_equal(
        tepal_bloom_size(PARTITIONED, COLLIDING, UINT64_C(1) << 59, 0.01, &cells, &hashes),
        TEPAL_TOO_LARGE);
    assert_int_equal(cells, 77);
    assert_int_equal(hashes, 1);
}

/* More keys never help, more cells never hurt (but for the last digits). */
static void test_monotone(void **state)
{
    uint64_t seed = 7;
    (void)state;
    for (int i = 0; i < 400; i++) {
        enum tepal_layout layout = all_layouts[i % 4];
        enum tepal_positions positions = all_positions[i / 4 % 2];
        uint32_t k = 1 + random_below(&seed, most_hashes(layout) / 2);
        uint64_t units = 2 + k + (uint64_t)exp2(random_between(&seed, 0, i % 3 ? 12 : 45));
        uint64_t m = units * unit_of(layout);
        uint64_t n = 1 + (uint64_t)((double)m / 8 * exp2(random_between(&seed, -4, 3)));
        double rate = tepal_bloom_fp(layout, positions, m, n, k);
        double fill = tepal_bloom_fill(layout, positions, m, n, k);
        assert_true(rate >= 0 && rate <= 1 && fill > 0 && fill <= 1);
        double more = 1 + 1e-11;
        assert_true(tepal_bloom_fp(layout, positions, m, n + 1, k) * more >= rate);
        assert_true(tepal_bloom_fp(layout, positions, m, 2 * n, k) * more >= rate);
        assert_true(tepal_bloom_fp(layout, positions, m + unit_of(layout), n, k) <= rate * more);
        assert_true(tepal_bloom_fp(layout, positions, 2 * m, n, k) <= rate * more);
        assert_true(tepal_bloom_fill(layout, positions, m, 2 * n, k) * more >= fill);
        assert_true(tepal_bloom_fill(layout, positions, 2 * m, n, k) <= fill * more);
    }
}

static void test_best_hashes(void **state)
{
    uint64_t seed = 8;
    (void)state;
    for (int i = 0; i < 240; i++) {
        enum tepal_layout layout = all_layouts[i % 4];
        enum tepal_positions positions = all_positions[i / 4 % 2];
        bool paired = layout == PAIRED;
        if (paired && i % 3) {
            continue; /* slow to try in full */
        }
        uint64_t units = 2 + (uint64_t)exp2(random_between(&seed, 0, i % 5 ? 12 : 40));
        uint64_t m = units * unit_of(layout);
        uint64_t n = 1 + (uint64_t)((double)m * exp2(random_between(&seed, -6.5, 0.5)));
        uint32_t best = 1;
        double lowest = tepal_bloom_fp(layout, positions, m, n, 1);
        for (uint32_t k = 2; k <= most_hashes(layout); k++) {
            double rate = tepal_bloom_fp(layout, positions, m, n, k);
            if (rate < lowest * (1 - 1e-12)) { /* not by rounding alone; false for NaN */
                lowest = rate;
                best = k;
            }
        }
        uint32_t got = tepal_bloom_best_hashes(layout, positions, m, n);
        if (got != best) {
            fail_msg("layout %d, positions %d, m %llu, n %llu: got %u, best is %u", (int)layout,
                     (int)positions, (unsigned long long)m, (unsigned long long)n, got, best);
        }
    }
    assert_int_equal(tepal_bloom_best_hashes(FLAT, COLLIDING, 1000, 0), 1);
    assert_int_equal(tepal_bloom_best_hashes(FLAT, COLLIDING, 1, 1), 1);
    assert_int_equal(tepal_bloom_best_hashes(FLAT, COLLIDING, 1000, UINT64_MAX), 1);
    assert_int_equal(tepal_bloom_best_hashes(FLAT, COLLIDING, 3, 1), 1); /* 1/3 with one or two */
    assert_int_equal(tepal_bloom_best_hashes(FLAT, DISTINCT, 10000000, 1000000), 7);
    assert_int_equal(tepal_bloom_best_hashes(BLOCKED, COLLIDING, 5120000, 512000), 6);
    assert_int_equal(tepal_bloom_best_hashes(PAIRED, COLLIDING, 5120000, 512000), 7);
}

/* Has it a rate above fp? Or none, but only if there is no such filter. */
static bool is_worse(enum tepal_layout layout, enum tepal_positions positions, uint64_t m,
                     uint64_t n, uint32_t k, double fp)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.layout = layout;
    params.positions = positions;
    params.cells = m;
    params.hashes = k;
    double rate = tepal_bloom_fp(layout, positions, m, n, k);
    return tepal_params_check(&params, NULL) == TEPAL_OK ? rate > fp : isnan(rate);
}

/* The size is enough, and one step less is not: with the k given, or with any k. */
static void test_size(void **state)
{
    uint64_t seed = 9;
    (void)state;
    for (int i = 0; i < 240; i++) {
        enum tepal_layout layout = all_layouts[i % 4];
        enum tepal_positions positions = all_positions[i / 4 % 2];
        uint64_t n = (uint64_t)exp2(random_between(&seed, 0, i % 3 ? 14 : 40));
        double fp = i % 7 ? exp2(random_between(&seed, -40, -1)) : random_between(&seed, 0.5, 0.95);
        uint64_t cells = 0;
        uint32_t hashes = 0;
        uint32_t given = i % 2 ? 1 + random_below(&seed, most_hashes(layout)) : 0;
        hashes = given;
        assert_int_equal(tepal_bloom_size(layout, positions, n, fp, &cells, &hashes), TEPAL_OK);
        assert_int_equal(cells % unit_of(layout), 0);
        assert_true(tepal_bloom_fp(layout, positions, cells, n, hashes) <= fp);
        uint64_t less = cells - unit_of(layout);
        if (given) {
            assert_int_equal(hashes, given);
            assert_true(is_worse(layout, positions, less, n, given, fp));
        } else {
            assert_int_equal(hashes, tepal_bloom_best_hashes(layout, positions, cells, n));
            uint32_t best = tepal_bloom_best_hashes(layout, positions, less, n);
            assert_true(is_worse(layout, positions, less, n, best, fp));
        }
    }
}

/* Small enough to try every size. */
static void test_size_exhaustive(void **state)
{
    static const double fps[] = {0.9, 0.5, 0.1, 0.01, 0.001};
    (void)state;
    for (size_t i = 0; i < COUNT(fps); i++) {
        for (uint64_t n = 1; n <= 7; n += 2) {
            for (size_t j = 0; j < COUNT(all_positions); j++) {
                uint64_t cells;
                uint32_t hashes = 0;
                assert_int_equal(
                    tepal_bloom_size(FLAT, all_positions[j], n, fps[i], &cells, &hashes), TEPAL_OK);
                uint64_t m = 0;
                bool enough = false;
                while (!enough) {
                    m++;
                    for (uint32_t k = 1; k <= 30 && !enough; k++) {
                        enough = tepal_bloom_fp(FLAT, all_positions[j], m, n, k) <= fps[i];
                    }
                }
                assert_int_equal(cells, m);
            }
        }
    }
}

/* Not far above what information theory asks for: the flat filter needs 1.44 times as much. */
static void test_size_known(void **state)
{
    uint64_t cells;
    uint32_t hashes = 0;
    (void)state;
    assert_int_equal(tepal_bloom_size(FLAT, COLLIDING, 1000000, 0.01, &cells, &hashes), TEPAL_OK);
    assert_int_equal(hashes, 7);
    assert_near((double)cells, 9592956, 1e-6); /* 9.59 bits a key */
    hashes = 0;
    assert_int_equal(
        tepal_bloom_size(FLAT, DISTINCT, UINT64_C(1000000000000), 1e-12, &cells, &hashes),
        TEPAL_OK);
    assert_near((double)cells / 1e12, log2(1e12) / log(2), 1e-3);
    assert_int_equal(hashes, 40);
    hashes = 0;
    assert_int_equal(tepal_bloom_size(FLAT, COLLIDING, 1, 1e-300, &cells, &hashes), TEPAL_OK);
    assert_true(tepal_bloom_fp(FLAT, COLLIDING, cells, 1, hashes) <= 1e-300);
    assert_int_equal(tepal_bloom_size(FLAT, COLLIDING, 5, nextafter(1, 0), &cells, &hashes),
                     TEPAL_OK);
}

/* ---- the search ------------------------------------------------------------------------------ */

struct step {
    uint64_t at;
    unsigned calls;
    int shape;
};

static double falling(const void *context, uint64_t x)
{
    struct step *step = *(struct step *const *)context;
    step->calls++;
    switch (step->shape) {
    case 0: /* smooth */
        return x < step->at ? fmax(1e-300, log((double)step->at / (double)x))
                            : fmin(-1e-300, log((double)step->at / (double)x));
    case 1: /* a cliff */
        return x < step->at ? 1 : -1;
    case 2: /* a cliff with nothing to hold on to on one side */
        return x < step->at ? NAN : 0;
    default: /* steep */
        return x < step->at ? 1e3 : -1e-9;
    }
}

static void test_search(void **state)
{
    uint64_t seed = 10;
    (void)state;
    for (int i = 0; i < 2000; i++) {
        uint64_t high = (uint64_t)exp2(random_between(&seed, 1, 63.9));
        struct step step = {.shape = i % 4};
        step.at = 1 + (uint64_t)random_between(&seed, 0, (double)high * 1.1);
        const struct step *context = &step;
        uint64_t guess = check_random(&seed) >> random_below(&seed, 64);
        uint64_t found = 0;
        bool is = tepal_model_search(falling, &context, 1, high, guess, &found);
        assert_int_equal(is, step.at <= high);
        assert_true(!is || found == step.at);
        assert_true(step.calls < 300);
    }
}

/* ---- the report ------------------------------------------------------------------------------ */

static double real_of(const struct tepal_report *report, const char *name)
{
    const struct tepal_quantity *q = tepal_report_find(report, name);
    if (q == NULL) {
        fail_msg("%s is missing", name);
        return NAN;
    }
    switch (q->type) {
    case TEPAL_QUANTITY_INTEGER:
        return (double)q->value.integer;
    case TEPAL_QUANTITY_REAL:
        return q->value.real;
    default:
        return NAN;
    }
}

static void test_report(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(all_layouts); i++) {
        for (size_t j = 0; j < COUNT(all_positions); j++) {
            struct tepal_params p = TEPAL_PARAMS_INIT;
            struct tepal_report r;
            uint64_t m = 1 << 18;
            uint64_t n = 20000;
            p.layout = all_layouts[i];
            p.positions = all_positions[j];
            p.cells = m;
            assert_int_equal(model_of_keys(&p, n, &r, NULL), TEPAL_OK);
            assert_true(r.count < TEPAL_MAX_QUANTITIES);
            for (size_t a = 0; a < r.count; a++) {
                assert_true(strlen(r.item[a].name) > 0 && strlen(r.item[a].about) > 0);
                for (size_t b = 0; b < a; b++) {
                    assert_string_not_equal(r.item[a].name, r.item[b].name);
                }
            }
            uint32_t k = (uint32_t)real_of(&r, "hashes");
            assert_int_equal(k, tepal_bloom_best_hashes(p.layout, p.positions, m, n));
            assert_int_equal(real_of(&r, "hashes_best"), k);
            assert_int_equal(real_of(&r, "bits"), m);
            assert_int_equal(real_of(&r, "keys"), n);
            double fp = tepal_bloom_fp(p.layout, p.positions, m, n, k);
            assert_true(real_of(&r, "fp") == fp && real_of(&r, "fp_best") == fp);
            assert_near(real_of(&r, "bits_per_key"), (double)m / (double)n, 1e-15);
            assert_near(real_of(&r, "hashes_best_classic"), (double)m / (double)n * log(2), 1e-14);
            double fill = tepal_bloom_fill(p.layout, p.positions, m, n, k);
            assert_true(real_of(&r, "fill") == fill);
            assert_near(real_of(&r, "ones"), fill * (double)m, 1e-15);
            assert_true(real_of(&r, "fp_classic") == tepal_bloom_fp_classic(m, n, k));
            assert_true(real_of(&r, "fp_approx") == tepal_bloom_fp_approx(m, n, k));
            assert_true(real_of(&r, "fp_exact") == tepal_bloom_fp_exact(m, n, k));
            assert_true(real_of(&r, "fp_distinct") == tepal_bloom_fp_distinct(m, n, k));
            assert_true(real_of(&r, "fp_partitioned") ==
                        tepal_bloom_fp(PARTITIONED, p.positions, m, n, k));
            assert_true(real_of(&r, "fp_blocked") == tepal_bloom_fp(BLOCKED, p.positions, m, n, k));
            assert_true(real_of(&r, "fp_paired") == tepal_bloom_fp(PAIRED, p.positions, m, n, k));
            /* The spread of binomial loads is the smaller one, here by a part in a thousand. */
            double poisson = real_of(&r, "fp_blocked_poisson");
            assert_true(poisson > real_of(&r, "fp_blocked"));
            assert_near(poisson, real_of(&r, "fp_blocked"), 2e-3);
            assert_near(real_of(&r, "fp_paired_poisson"), real_of(&r, "fp_paired"), 2e-3);
            /* flat < paired < blocked, and nothing below the limit */
            assert_true(real_of(&r, "fp_exact") < real_of(&r, "fp_paired"));
            assert_true(real_of(&r, "fp_paired") < real_of(&r, "fp_blocked"));
            assert_near(real_of(&r, "fp_limit"), pow(2, -(double)m / (double)n), 1e-12);
            assert_true(real_of(&r, "fp_limit") < fp);
            assert_true(real_of(&r, "bits_limit") < (double)m);
            assert_near(real_of(&r, "bits_limit"), (double)n * log2(1 / fp), 1e-12);
            assert_int_equal(real_of(&r, "bits_for_fp"), m);
            assert_true(real_of(&r, "bits_for_1_percent") < real_of(&r, "bits_for_1_permille"));
            assert_true(real_of(&r, "bits_for_1_permille") < real_of(&r, "bits_for_1_ppm"));
            uint64_t keys = (uint64_t)real_of(&r, "keys_for_1_percent");
            assert_true(tepal_bloom_fp(p.layout, p.positions, m, keys, k) <= 0.01);
            assert_true(tepal_bloom_fp(p.layout, p.positions, m, keys + 1, k) > 0.01);
            keys = (uint64_t)real_of(&r, "keys_for_1_permille");
            assert_true(tepal_bloom_fp(p.layout, p.positions, m, keys, k) <= 0.001);
            assert_true(tepal_bloom_fp(p.layout, p.positions, m, keys + 1, k) > 0.001);
            const struct tepal_quantity *lines = tepal_report_find(&r, "lines");
            if (unit_of(p.layout) == 1) {
                assert_null(lines);
            } else {
                double touches = p.layout == PAIRED ? 2 : 1;
                assert_int_equal(real_of(&r, "lines"), m / LINE);
                assert_near(real_of(&r, "keys_per_line"), touches * (double)(n * LINE) / (double)m,
                            2e-3);
                assert_near(real_of(&r, "keys_per_line_spread"), sqrt(real_of(&r, "keys_per_line")),
                            1e-2);
                double read = real_of(&r, "lines_read");
                assert_true(p.layout == PAIRED ? read > 1 && read < 1.1 : read == 1);
            }
        }
    }
}

static void test_report_corners(void **state)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_report r;
    struct tepal_error error = {.why = NULL};
    (void)state;
    /* Given hashes are kept; what is not defined is absent. */
    p.cells = 20;
    p.hashes = 21;
    assert_int_equal(model_of_keys(&p, 3, &r, &error), TEPAL_OK);
    assert_int_equal(real_of(&r, "hashes"), 21);
    assert_true(real_of(&r, "fp_best") < real_of(&r, "fp"));
    static const char *const absent[] = {"fp_distinct", "fp_partitioned", "fp_blocked",
                                         "fp_paired"};
    for (size_t i = 0; i < COUNT(absent); i++) {
        assert_int_equal(tepal_report_find(&r, absent[i])->type, TEPAL_QUANTITY_ABSENT);
    }
    /* No keys. */
    p.hashes = 0;
    assert_int_equal(model_of_keys(&p, 0, &r, &error), TEPAL_OK);
    assert_int_equal(real_of(&r, "hashes"), 1);
    assert_true(real_of(&r, "fp") == 0 && real_of(&r, "fp_limit") == 0);
    assert_int_equal(tepal_report_find(&r, "bits_per_key")->type, TEPAL_QUANTITY_ABSENT);
    assert_int_equal(tepal_report_find(&r, "bits_for_1_percent")->type, TEPAL_QUANTITY_ABSENT);
    /* More keys than it could ever hold. */
    assert_int_equal(model_of_keys(&p, UINT64_MAX, &r, &error), TEPAL_OK);
    assert_near(real_of(&r, "fp"), 1, 1e-12);
    assert_int_equal(tepal_report_find(&r, "bits_for_1_percent")->type, TEPAL_QUANTITY_ABSENT);
    /* The largest filter. */
    p.cells = UINT64_C(1) << 60;
    assert_int_equal(model_of_keys(&p, UINT64_C(1) << 56, &r, &error), TEPAL_OK);
    assert_int_equal(real_of(&r, "hashes"), 11);

    /* What the gate refuses is refused with its words, and the report stays as it was. */
    memset(&r, 0x5a, sizeof r);
    struct tepal_report before = r;
    p.cells = 1000;
    p.layout = BLOCKED;
    assert_int_equal(model_of_keys(&p, 10, &r, &error), TEPAL_BAD_PARAMETER);
    assert_non_null(error.why);
    p.layout = FLAT;
    p.hashes = 65;
    assert_int_equal(model_of_keys(&p, 10, &r, &error), TEPAL_BAD_PARAMETER);
    p.hashes = 0;
    p.cells = 0;
    assert_int_equal(model_of_keys(&p, 10, &r, &error), TEPAL_BAD_PARAMETER);
    assert_memory_equal(&r, &before, sizeof r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flat_occupancy),
        cmocka_unit_test(test_flat_many_digits),
        cmocka_unit_test(test_flat_alternating),
        cmocka_unit_test(test_flat_chain_and_series),
        cmocka_unit_test(test_flat_by_hand),
        cmocka_unit_test(test_flat_order),
        cmocka_unit_test(test_flat_excess),
        cmocka_unit_test(test_partitioned),
        cmocka_unit_test(test_lines_many_digits),
        cmocka_unit_test(test_lines_alternating),
        cmocka_unit_test(test_lines_published),
        cmocka_unit_test(test_lines_one_bit_a_sector),
        cmocka_unit_test(test_lines_played),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_monotone),
        cmocka_unit_test(test_best_hashes),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_blocked_heavy),
        cmocka_unit_test(test_size_exhaustive),
        cmocka_unit_test(test_size_known),
        cmocka_unit_test(test_search),
        cmocka_unit_test(test_report),
        cmocka_unit_test(test_report_corners),
    };
    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
