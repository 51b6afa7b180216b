/*
 * generalized_stat.c: does the generalized filter make the errors that its exact model predicts?
 * 1000 filters at each of 24 points: k0, k1 in 1..4, m/n in 25, 128, 256, p0 in 0, .25, .5, .75, 1;
 * and the paper's own universal hashing, eq. (15), beside it.
 *
 * The interval is that of 99.9 % about the model, from the spread of the 1000 measured filters
 * (f_p: each filter's share of 2000 strangers found; f_n(i): found or not, so the binomial's).
 * The claim is the requirement's own: 24 * (f_p, F_n at three ages, f_n) values, of which even a
 * true model puts one in a thousand outside. So up to three of the 120 may be outside 3.29 standard
 * errors (more than three: 7e-6 for a true model, by the Poisson law of mean 0.12), and none may be
 * outside 5.5 (120 * 4e-8 = 5e-6). The seeds are fixed, so that the test is the same each time;
 * they were not chosen among others.
 */
#include "check.h"
#include "generalized_help.h"

#include <tepal/papers.h>

#define ROUNDS    1000
#define STRANGERS 2000
#define KEYS      10
#define INTERVAL  3.2905 /* 99.9 %, two sides */
#define NEVER     5.5

struct point {
    uint32_t k0;
    uint32_t k1;
    uint32_t tolerance;
    uint64_t per_key;
    double p0;
};

static const struct point points[] = {
    {1, 1, 0, 25, 0.00},  {1, 1, 0, 128, 0.50}, {1, 2, 0, 25, 0.25},  {2, 1, 0, 25, 0.75},
    {2, 2, 0, 25, 0.00},  {2, 2, 0, 25, 0.50},  {2, 2, 0, 128, 0.25}, {2, 2, 0, 256, 1.00},
    {2, 3, 0, 256, 0.25}, {3, 2, 0, 128, 0.75}, {3, 3, 0, 25, 1.00},  {3, 3, 0, 128, 0.00},
    {4, 1, 0, 25, 0.50},  {1, 4, 0, 25, 0.50},  {4, 4, 0, 25, 0.25},  {4, 4, 0, 128, 0.50},
    {4, 4, 0, 256, 0.75}, {3, 4, 0, 25, 0.50},  {4, 2, 0, 256, 0.00}, {1, 3, 0, 128, 1.00},
    {3, 3, 1, 25, 0.50},  {4, 4, 1, 128, 0.25}, {4, 4, 2, 25, 0.75},  {3, 4, 2, 128, 1.00},
};

#define POINTS (sizeof points / sizeof *points)

struct tally {
    int values;
    int outside;
    double worst;
};

static void compare(struct tally *tally, const struct point *p, const char *what, double measured,
                    double model, double error)
{
    double z = error > 0 ? (measured - model) / error : measured == model ? 0 : INFINITY;
    tally->values++;
    if (isnan(z)) {
        z = INFINITY;
    }
    tally->outside += fabs(z) > INTERVAL;
    tally->worst = fmax(tally->worst, fabs(z));
    if (getenv("TEPAL_SHOW") != NULL || fabs(z) > INTERVAL) {
        print_message("(%u, %u) b %u, m/n %llu, p0 %g: %s %.6g, model %.6g, z %.2f\n", p->k0, p->k1,
                      p->tolerance, (unsigned long long)p->per_key, p->p0, what, measured, model,
                      z);
    }
}

/* The spread of a mean of `ROUNDS` values. */
struct series {
    double sum;
    double square;
};

static void note(struct series *s, double x)
{
    s->sum += x;
    s->square += x * x;
}

static double mean_of(const struct series *s)
{
    return s->sum / ROUNDS;
}

static double error_of(const struct series *s)
{
    double mean = mean_of(s);
    return sqrt(fmax(0, s->square / ROUNDS - mean * mean) / ROUNDS);
}

static void check_point(const struct point *at, size_t number, struct tally *tally,
                        enum tepal_layout layout, enum tepal_positions positions, uint64_t keys)
{
    static struct tepal_digest members[1024];
    static struct tepal_digest strangers[STRANGERS];
    static uint64_t answers[STRANGERS / 64 + 1];
    struct tepal_params p;
    struct tepal_generalized_errors rates;
    struct tepal_filter *g;
    struct series fp = {0};
    struct series fn = {0};
    const uint64_t ages[3] = {1, keys / 2, keys - 1};
    double model[3];
    double lost[3] = {0};
    uint64_t seed = number * 7919 + 1;
    uint64_t cells = at->per_key * keys;
    assert_ok(set_generalized(layout == TEPAL_LAYOUT_BLOCKED ? (cells + 511) / 512 * 512 : cells,
                              at->k0, at->k1, at->p0, at->tolerance, 0, &p));
    p.layout = layout;
    p.positions = positions;
    assert_ok(tepal_generalized_rates(&p, keys, ages, 3, model, &rates));
    assert_true(rates.exact);
    for (int round = 0; round < ROUNDS; round++) {
        p.seed = check_random(&seed);
        assert_ok(tepal_filter_create(&p, NULL, &g, NULL));
        for (uint64_t i = 0; i < keys; i++) {
            members[i] = check_digest(&seed);
        }
        assert_ok(tepal_filter_add_many(g, members, (size_t)keys));
        size_t found = tepal_filter_query_many(g, members, (size_t)keys, answers);
        note(&fn, 1 - (double)found / (double)keys);
        for (int i = 0; i < 3; i++) {
            lost[i] += !tepal_filter_query(g, members[keys - 1 - ages[i]]);
        }
        check_digests(&seed, strangers, STRANGERS);
        found = tepal_filter_query_many(g, strangers, STRANGERS, answers);
        note(&fp, (double)found / STRANGERS);
        tepal_filter_free(g);
    }
    /* no spread seen is no reason to trust one point: at least the binomial's */
    compare(tally, at, "f_p", mean_of(&fp), rates.fp,
            fmax(error_of(&fp), sqrt(rates.fp / (double)ROUNDS / STRANGERS)));
    compare(tally, at, "f_n", mean_of(&fn), rates.fn,
            fmax(error_of(&fn), sqrt(rates.fn / (double)ROUNDS / (double)keys)));
    static const char *const names[3] = {"f_n(n-1)", "f_n(n/2)", "f_n(1)"};
    for (int i = 0; i < 3; i++) {
        compare(tally, at, names[i], lost[i] / ROUNDS, model[i],
                sqrt(model[i] * (1 - model[i]) / ROUNDS));
    }
}

static void settle(const struct tally *tally, int values)
{
    assert_int_equal(tally->values, values);
    print_message("%d of %d values outside the 99.9 %% interval, the worst at %.2f\n",
                  tally->outside, tally->values, tally->worst);
    assert_in_range(tally->outside, 0, 3);
    assert_true(tally->worst < NEVER);
}

static void the_flat_filter_is_the_model(void **state)
{
    (void)state;
    struct tally tally = {0};
    for (size_t i = 0; i < POINTS; i++) {
        check_point(&points[i], i, &tally, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, KEYS);
    }
    settle(&tally, (int)POINTS * 5);
}

static void distinct_positions_are_the_model(void **state)
{
    (void)state;
    struct tally tally = {0};
    for (size_t i = 0; i < POINTS; i += 2) {
        check_point(&points[i], 100 + i, &tally, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_DISTINCT, KEYS);
    }
    settle(&tally, (int)POINTS / 2 * 5);
}

static void the_blocked_filter_is_the_model(void **state)
{
    (void)state;
    struct tally tally = {0};
    for (size_t i = 0; i < POINTS; i += 3) {
        check_point(&points[i], 200 + i, &tally, TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_COLLIDING,
                    points[i].per_key == 25 ? 200 : 60);
    }
    settle(&tally, (int)POINTS / 3 * 5);
}

/*
 * The steady state and the bound, by asking: after 100 n keys from any first state the rate is
 * within 3 standard errors of the steady state's, as the requirement has it, at 10 points with
 * fixed seeds (a true model fails one of them with probability 0.027 under other seeds, so one in
 * ten may be between 3 and 5.5). No filter of them all is above the bound and 3 standard errors of
 * its 20,000 strangers, and the same number again for the most among 200 of them.
 */
static void endless_additions_stay_bounded(void **state)
{
    (void)state;
    static struct tepal_digest digests[20000];
    static uint64_t answers[20000 / 64 + 1];
    static const double shares[] = {0, 0.25, 0.5, 0.75, 1};
    int outside = 0;
    for (size_t i = 0; i < 10; i++) {
        struct tepal_params p;
        struct tepal_generalized_errors rates;
        uint64_t seed = 500 + i;
        uint32_t k1 = 2 + i % 2;
        const uint64_t n = 64;
        double sum = 0;
        double square = 0;
        const int filters = 20;
        assert_ok(set_generalized(25 * n, 2, k1, shares[i / 2], 0, 0, &p));
        assert_ok(tepal_generalized_rates(&p, 100 * n, NULL, 0, NULL, &rates));
        double bound = tepal_params_fp_bound(&p);
        for (int f = 0; f < filters; f++) {
            struct tepal_filter *g;
            p.seed = check_random(&seed);
            assert_ok(tepal_filter_create(&p, NULL, &g, NULL));
            for (uint64_t j = 0; j < 100 * n; j++) {
                assert_ok(tepal_filter_add(g, check_digest(&seed)));
            }
            check_digests(&seed, digests, 20000);
            double rate = (double)tepal_filter_query_many(g, digests, 20000, answers) / 20000;
            assert_true(rate <= bound + 6 * sqrt(bound * (1 - bound) / 20000));
            assert_true(tepal_filter_fp_now(g) <= bound);
            sum += rate;
            square += rate * rate;
            tepal_filter_free(g);
        }
        double mean = sum / filters;
        double error = sqrt((square / filters - mean * mean) / (filters - 1));
        double z = (mean - rates.fp_steady) / error;
        outside += fabs(z) > 3;
        assert_true(fabs(z) < NEVER);
        assert_true(mean <= bound + 3 * sqrt(bound * (1 - bound) / 20000 / filters));
    }
    assert_in_range(outside, 0, 1);
}

/* ---- the hashing of the paper ---------------------------------------------------------------- */

/*
 * Eq. (15): ((c x + d) mod z) mod m, with new c and d for every function and round, z the prime
 * 2,100,000,011; keys from the first half of the universe, strangers from the second. A filter of
 * bytes, written here from the paper alone: so the model is tested beside the library's own
 * addressing.
 */
#define PRIME UINT64_C(2100000011)

struct universal {
    uint64_t c[8];
    uint64_t d[8];
};

static uint64_t place(const struct universal *u, uint32_t i, uint64_t x, uint64_t m)
{
    return (u->c[i] * x + u->d[i]) % PRIME % m;
}

static bool universal_found(const uint8_t *cells, const struct universal *u, const struct point *at,
                            uint64_t x, uint64_t m)
{
    uint32_t k = at->k0 + at->k1;
    uint64_t spot[8];
    uint32_t inverted = 0;
    for (uint32_t i = 0; i < k; i++) {
        spot[i] = place(u, i, x, m);
        bool before = false;
        for (uint32_t j = 0; j < i; j++) {
            before = before || spot[j] == spot[i];
        }
        inverted += !before && cells[spot[i]] != (i >= at->k0);
    }
    return inverted <= at->tolerance;
}

static void universal_hashing_is_the_model(void **state)
{
    (void)state;
    struct tally tally = {0};
    for (size_t number = 0; number < POINTS; number += 2) {
        const struct point *at = &points[number];
        uint64_t seed = 900 + number;
        const uint64_t m = at->per_key * KEYS;
        struct series fp = {0};
        struct series fn = {0};
        struct tepal_params p;
        struct tepal_generalized_errors rates;
        static uint8_t cells[256 * KEYS];
        assert_ok(set_generalized(m, at->k0, at->k1, at->p0, at->tolerance, 0, &p));
        assert_ok(tepal_generalized_rates(&p, KEYS, NULL, 0, NULL, &rates));
        for (int round = 0; round < ROUNDS; round++) {
            struct universal u;
            uint64_t keys[KEYS];
            int lost = 0;
            int found = 0;
            for (uint32_t i = 0; i < at->k0 + at->k1; i++) {
                u.c[i] = 1 + check_random(&seed) % (PRIME - 1);
                u.d[i] = check_random(&seed) % PRIME;
            }
            for (uint64_t i = 0; i < m; i++) {
                cells[i] = (double)(check_random(&seed) >> 11) * 0x1p-53 >= at->p0;
            }
            for (int i = 0; i < KEYS; i++) {
                keys[i] = 1 + check_random(&seed) % (PRIME / 2);
                for (uint32_t j = at->k0; j < at->k0 + at->k1; j++) {
                    cells[place(&u, j, keys[i], m)] = 1;
                }
                for (uint32_t j = 0; j < at->k0; j++) {
                    cells[place(&u, j, keys[i], m)] = 0;
                }
            }
            for (int i = 0; i < KEYS; i++) {
                lost += !universal_found(cells, &u, at, keys[i], m);
            }
            for (int i = 0; i < 1000; i++) {
                uint64_t x = PRIME / 2 + 1 + check_random(&seed) % (PRIME / 2 - 1);
                found += universal_found(cells, &u, at, x, m);
            }
            note(&fn, (double)lost / KEYS);
            note(&fp, (double)found / 1000);
        }
        compare(&tally, at, "universal f_p", mean_of(&fp), rates.fp,
                fmax(error_of(&fp), sqrt(rates.fp / ROUNDS / 1000)));
        compare(&tally, at, "universal f_n", mean_of(&fn), rates.fn,
                fmax(error_of(&fn), sqrt(rates.fn / ROUNDS / KEYS)));
    }
    settle(&tally, (int)POINTS);
}

/* ---- removing false positives ---------------------------------------------------------------- */

/*
 * 8192 bits, 256 members, (2, 2), 20,000 strangers. Known from elsewhere: a bit chosen by what it
 * removes less what it creates leaves 35, 81 and 1.9 of 792, 1255 and 61 false positives (p0 .75,
 * .5, 1) and loses 13, 22 and 1.7 members; by the fewest members alone 443, 381 and 16.5 are left.
 * net-effect must do at least as well in both, and least-fn lose no members to speak of; means of
 * 20 filters. The number before is the exact model's, with the spread seen; the numbers after have
 * a spread of about their square root, a hundredth of the distance to the limits.
 */
static void retouching_beats_what_is_known(void **state)
{
    (void)state;
    static const struct {
        double p0;
        double before;
        double after;
        double lost;
        double least_fn_after;
    } known[] = {{0.75, 792, 35, 13, 443}, {0.5, 1255, 81, 22, 381}, {1, 61, 1.9, 1.7, 16.5}};
    static struct tepal_digest members[256];
    static struct tepal_digest avoid[20000];
    const int filters = 20;
    for (size_t i = 0; i < 3; i++) {
        double after[2] = {0};
        double lost[2] = {0};
        struct series before = {0};
        struct tepal_generalized_errors rates;
        struct tepal_params p;
        uint64_t seed = 3000 + i;
        assert_ok(set_generalized(8192, 2, 2, known[i].p0, 0, 0, &p));
        assert_ok(tepal_generalized_rates(&p, 256, NULL, 0, NULL, &rates));
        for (int f = 0; f < filters; f++) {
            struct tepal_filter *g;
            p.seed = check_random(&seed);
            assert_ok(tepal_filter_create(&p, NULL, &g, NULL));
            check_digests(&seed, members, 256);
            check_digests(&seed, avoid, 20000);
            assert_ok(tepal_filter_add_many(g, members, 256));
            struct tepal_known in = {
                .members = members, .member_count = 256, .avoid = avoid, .avoid_count = 20000};
            for (unsigned method = 0; method < 2; method++) {
                struct tepal_retouch_report r;
                struct tepal_filter *made;
                struct tepal_retouch_options how = TEPAL_RETOUCH_OPTIONS_INIT;
                how.method = method == 0 ? TEPAL_RETOUCH_NET_EFFECT : TEPAL_RETOUCH_LEAST_FN;
                assert_ok(tepal_retouch(g, &in, &how, NULL, &made, &r, NULL, NULL));
                after[method] += (double)r.avoid_left / filters;
                lost[method] += ((double)r.false_negatives - (double)r.members_absent) / filters;
                if (method == 0) {
                    note(&before, (double)r.avoid_positive);
                }
                tepal_filter_free(made);
            }
            tepal_filter_free(g);
        }
        double mean = before.sum / filters;
        double spread = sqrt((before.square / filters - mean * mean) / (filters - 1));
        check_within("false positives before", mean, 20000 * rates.fp, spread);
        /* what is known comes from a few filters: allow it the spread of four */
        check_within("false positives known", known[i].before, 20000 * rates.fp,
                     spread * sqrt(filters / 4.0));
        print_message("p0 %g: %.1f false positives; net-effect leaves %.2f, loses %.2f members; "
                      "least-fn leaves %.2f, loses %.2f\n",
                      known[i].p0, mean, after[0], lost[0], after[1], lost[1]);
        assert_true(after[0] <= known[i].after && lost[0] <= known[i].lost);
        assert_true(after[1] <= known[i].least_fn_after && lost[1] <= 1);
        assert_true(after[0] < after[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_flat_filter_is_the_model),
        cmocka_unit_test(distinct_positions_are_the_model),
        cmocka_unit_test(the_blocked_filter_is_the_model),
        cmocka_unit_test(endless_additions_stay_bounded),
        cmocka_unit_test(universal_hashing_is_the_model),
        cmocka_unit_test(retouching_beats_what_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
