/*
 * large_soak.c: what takes minutes: no false negative in 10^8 keys on every layout, and filters of
 * more than 2^32 bits, which build, save, load, map and answer.
 */
#define _DEFAULT_SOURCE
#include "check.h"

#include <tepal/papers.h>

#include <unistd.h>

#define BATCH 65536

static uint64_t keys[BATCH];
static uint64_t answers[BATCH / 64];

static void fill_keys(uint64_t first, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        keys[i] = first + i;
    }
}

static void add_all(struct tepal_filter *bloom, uint64_t n)
{
    for (uint64_t i = 0; i < n; i += BATCH) {
        size_t here = n - i < BATCH ? (size_t)(n - i) : BATCH;
        fill_keys(i, here);
        assert_ok(tepal_filter_add_u64_many(bloom, keys, here));
    }
}

static uint64_t count_present(const struct tepal_filter *bloom, uint64_t first, uint64_t n)
{
    uint64_t found = 0;
    for (uint64_t i = 0; i < n; i += BATCH) {
        size_t here = n - i < BATCH ? (size_t)(n - i) : BATCH;
        size_t present;
        fill_keys(first + i, here);
        present = tepal_filter_query_u64_many(bloom, keys, here, answers);
        found += present;
    }
    return found;
}

static struct tepal_filter *create(enum tepal_layout layout, uint64_t cells, uint64_t n)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.layout = layout;
    params.cells = (cells + 511) / 512 * 512;
    params.capacity = n;
    params.hashes = tepal_bloom_best_hashes(layout, params.positions, params.cells, n);
    params.seed = 2026;
    struct tepal_filter *bloom;
    assert_ok(tepal_filter_create(&params, NULL, &bloom, NULL));
    return bloom;
}

static void no_false_negative_in_a_hundred_million(void **state)
{
    (void)state;
    const uint64_t n = 100000000;
    for (int layout = 0; layout < 4; layout++) {
        struct tepal_filter *bloom = create((enum tepal_layout)layout, 10 * n, n);
        add_all(bloom, n);
        assert_int_equal(count_present(bloom, 0, n), n);
        const uint64_t asked = 20000000;
        double p = tepal_bloom_fp(tepal_filter_params(bloom)->layout, TEPAL_POSITIONS_COLLIDING,
                                  tepal_filter_params(bloom)->cells, n,
                                  tepal_filter_params(bloom)->hashes);
        double measured = (double)count_present(bloom, n, asked) / (double)asked;
        /* the filter's own rate varies by less than 1 / sqrt(lines) about the model's */
        double spread = p / sqrt(10.0 * (double)n / 512);
        check_within("rate at 10^8 keys", measured, p, sqrt(p / (double)asked) + spread);
        print_message("%s: %.5f %% predicted, %.5f %% measured\n",
                      tepal_layout_name((enum tepal_layout)layout), 100 * p, 100 * measured);
        tepal_filter_free(bloom);
    }
}

/* Beyond 2^32 bits nothing may wrap: keys land in the upper part, and every way back works. */
static void beyond_four_gigabits(void **state)
{
    (void)state;
    const uint64_t cells = ((uint64_t)1 << 32) + ((uint64_t)1 << 31);
    const uint64_t n = 2000000;
    char path[] = "large_soak_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    for (int layout = 0; layout < 4; layout++) {
        struct tepal_filter *bloom = create((enum tepal_layout)layout, cells, cells / 10);
        add_all(bloom, n);
        size_t count;
        const uint64_t *words = tepal_filter_words(bloom, &count);
        assert_int_equal(count, cells / 64);
        uint64_t upper = 0;
        for (size_t i = ((size_t)1 << 32) / 64; i < count; i++) {
            upper += (uint64_t)__builtin_popcountll(words[i]);
        }
        /* a third of the cells: ones there are binomial but for their correlation within keys */
        double ones = (double)tepal_filter_ones(bloom);
        check_within("ones beyond 2^32", (double)upper, ones / 3, sqrt(ones * 2 / 9) * 16);

        struct tepal_error error;
        assert_ok(tepal_save(bloom, path, &error));
        struct tepal_filter *loaded;
        assert_ok(tepal_load(path, NULL, &loaded, &error));
        assert_true(tepal_filter_equal(loaded, bloom));
        tepal_filter_free(loaded);
        struct tepal_filter *mapped;
        assert_ok(tepal_map(path, TEPAL_MAP_VERIFY, NULL, &mapped, &error));
        assert_int_equal(count_present(mapped, 0, n), n);
        assert_true(count_present(mapped, n, n) < n / 100);
        tepal_filter_free(mapped);
        tepal_filter_free(bloom);
    }
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_false_negative_in_a_hundred_million),
        cmocka_unit_test(beyond_four_gigabits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
