/*
 * rate_stat.c: does the filter make the errors that the model predicts? Many keys, so this runs in
 * the optimised build only.
 *
 * For R filters (each with a seed of its own) and Q strangers asked of each, the number of false
 * positives has the mean R Q p and the variance
 *
 *     R Q p (1 - p)  +  R Q^2 V,        V = the variance of a filter's own rate about p.
 *
 * V comes from the spread of the fill: by the delta method (k p / q)^2 q (1 - q) / m for m cells
 * with a share q of ones (occupancy varies less than that binomial, so this is an upper bound), and
 * for lines that are filled at random from the variance of the lines' rates over their number.
 */
#include "check.h"

#include <tepal/papers.h>

#define BATCH 8192

/* The rate of a line that got j keys, near enough for its variance. */
static double line_rate(double j, uint32_t k)
{
    return pow(1 - pow(1 - k / 512.0, j), k);
}

/* Variance of the rate between lines, loads being Poisson. */
static double line_variance(double load, uint32_t k)
{
    double mean = 0;
    double square = 0;
    double weight = exp(-load);
    for (int j = 0; j < 40 * (int)(load + 10); j++) {
        double rate = line_rate(j, k);
        mean += weight * rate;
        square += weight * rate * rate;
        weight *= load / (j + 1);
    }
    return square - mean * mean;
}

static double filter_variance(const struct tepal_params *params, uint64_t n, double p)
{
    double k = params->hashes;
    double m = (double)params->cells;
    double q =
        tepal_bloom_fill(params->layout, params->positions, params->cells, n, params->hashes);
    double spread = (k * p / q) * (k * p / q) * q * (1 - q) / m;
    double load = (double)n * 512 / m;
    if (params->layout == TEPAL_LAYOUT_BLOCKED) {
        spread += line_variance(load, params->hashes) * 512 / m;
    } else if (params->layout == TEPAL_LAYOUT_PAIRED) {
        /* a product of two means over the same lines, each of relative variance v */
        double half = line_variance(load * 2, (params->hashes + 1) / 2);
        double mean = sqrt(p);
        spread += 4 * half / (mean * mean) * p * p * 512 / m;
    }
    return spread;
}

/* Build `filters` filters of n keys, ask `asked` strangers of each; no member may be missed. */
static double measure(struct tepal_params params, uint64_t n, uint64_t filters, uint64_t asked)
{
    static uint64_t keys[BATCH];
    static uint64_t answers[BATCH / 64];
    struct tepal_filter *bloom;
    uint64_t hits = 0;
    for (uint64_t f = 0; f < filters; f++) {
        params.seed = f * 1000003 + n;
        assert_ok(tepal_filter_create(&params, NULL, &bloom, NULL));
        for (uint64_t i = 0; i < n + asked;) {
            uint64_t end = i < n ? n : n + asked;
            size_t here = end - i < BATCH ? (size_t)(end - i) : BATCH;
            for (size_t j = 0; j < here; j++) {
                keys[j] = i + j;
            }
            size_t present = 0;
            if (i < n) {
                assert_ok(tepal_filter_add_u64_many(bloom, keys, here));
                present = tepal_filter_query_u64_many(bloom, keys, here, answers);
                assert_int_equal(present, here);
            } else {
                present = tepal_filter_query_u64_many(bloom, keys, here, answers);
                hits += present;
            }
            i += here;
        }
        tepal_filter_free(bloom);
    }
    return (double)hits / ((double)filters * (double)asked);
}

static double check_rate(enum tepal_layout layout, enum tepal_positions positions, uint64_t cells,
                         uint32_t hashes, uint64_t n, uint64_t filters, uint64_t asked)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.layout = layout;
    params.positions = positions;
    bool lines = layout == TEPAL_LAYOUT_BLOCKED || layout == TEPAL_LAYOUT_PAIRED;
    params.cells = lines ? (cells + 511) / 512 * 512 : cells;
    params.hashes =
        hashes != 0 ? hashes : tepal_bloom_best_hashes(layout, positions, params.cells, n);
    double p = tepal_bloom_fp(layout, positions, params.cells, n, params.hashes);
    double measured = measure(params, n, filters, asked);
    double trials = (double)filters * (double)asked;
    double variance = p * (1 - p) / trials + filter_variance(&params, n, p) / (double)filters;
    char what[160];
    snprintf(what, sizeof what, "%s %s m=%llu k=%u n=%llu", tepal_layout_name(layout),
             tepal_positions_name(positions), (unsigned long long)params.cells, params.hashes,
             (unsigned long long)n);
    if (getenv("TEPAL_SHOW") != NULL) {
        print_message("%-60s %.6g predicted %.6g z %.2f\n", what, measured, p,
                      (measured - p) / sqrt(variance));
    }
    check_within(what, measured, p, sqrt(variance));
    return measured;
}

static const double sizes[] = {8, 10, 12, 16, 20, 24};

#define SIZES (sizeof sizes / sizeof *sizes)

/* rates[i][layout] are what is measured at sizes[i]. */
static void check_sizes(uint64_t n, uint64_t filters, uint64_t asked, double rates[SIZES][4])
{
    for (size_t i = 0; i < SIZES; i++) {
        uint64_t cells = (uint64_t)(sizes[i] * (double)n);
        for (int layout = 0; layout < 4; layout++) {
            rates[i][layout] = check_rate((enum tepal_layout)layout, TEPAL_POSITIONS_COLLIDING,
                                          cells, 0, n, filters, asked);
        }
    }
}

static void thousand_keys(void **state)
{
    (void)state;
    double rates[SIZES][4];
    check_sizes(1000, 500, 20000, rates);
}

static void hundred_thousand_keys(void **state)
{
    (void)state;
    double rates[SIZES][4];
    check_sizes(100000, 10, 1000000, rates);
}

/* With the rates that the README and the docs promise. */
static void ten_million_keys(void **state)
{
    (void)state;
    const uint64_t n = 10000000;
    double rates[SIZES][4];
    check_sizes(n, 1, n, rates);
    const double *at10 = rates[1];
    const double *at16 = rates[3];
    double z = CHECK_Z / sqrt((double)n);
    assert_true(fabs(at10[TEPAL_LAYOUT_FLAT] - 0.0082) < 0.00005 + z * sqrt(0.0082));
    assert_true(at10[TEPAL_LAYOUT_BLOCKED] <= 0.0098);
    assert_true(at16[TEPAL_LAYOUT_BLOCKED] <= 0.0009);
    assert_true(at10[TEPAL_LAYOUT_PAIRED] <= 0.0087);
}

/* Filters of a packet header's size, where hashing that is not ideal shows. */
static void tiny_filters_behave_like_ideal_hashing(void **state)
{
    (void)state;
    static const uint64_t bits[] = {160, 256};
    for (size_t i = 0; i < 2; i++) {
        for (uint32_t k = 1; k <= 10; k++) {
            for (int positions = 0; positions < 2; positions++) {
                (void)check_rate(TEPAL_LAYOUT_FLAT, (enum tepal_positions)positions, bits[i], k, 30,
                                 20000, 300);
            }
            (void)check_rate(TEPAL_LAYOUT_PARTITIONED, TEPAL_POSITIONS_COLLIDING, bits[i], k, 30,
                             20000, 300);
        }
    }
    for (uint32_t k = 1; k <= 16; k++) {
        for (int positions = 0; positions < 2; positions++) {
            (void)check_rate(TEPAL_LAYOUT_BLOCKED, (enum tepal_positions)positions, 512, k, 30,
                             5000, 300);
            (void)check_rate(TEPAL_LAYOUT_BLOCKED, (enum tepal_positions)positions, 5120, k, 500,
                             1000, 2000);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiny_filters_behave_like_ideal_hashing),
        cmocka_unit_test(thousand_keys),
        cmocka_unit_test(hundred_thousand_keys),
        cmocka_unit_test(ten_million_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
