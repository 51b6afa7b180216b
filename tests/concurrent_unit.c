/*
 * concurrent_unit.c: the calls that may run at the same time. Also run under the thread sanitizer,
 * which reports every race.
 */
#include "check.h"

#include <pthread.h>

#define THREADS 4
#define KEYS    20000

struct work {
    struct tepal_filter *bloom;
    uint64_t first;
    uint64_t new_keys;
    uint64_t missed;
};

/* Add a range that overlaps the neighbours', and find everything added so far. */
static void *add_and_query(void *argument)
{
    struct work *work = argument;
    struct tepal_hasher hasher;
    if (tepal_filter_hasher(work->bloom, &hasher) != TEPAL_OK) {
        work->missed = UINT64_MAX;
        return NULL;
    }
    for (uint64_t i = 0; i < KEYS; i++) {
        bool was_present = true;
        struct tepal_digest d = tepal_hash_u64(&hasher, work->first + i);
        if (tepal_bloom_add_atomic(work->bloom, d, &was_present) != TEPAL_OK) {
            work->missed++;
        }
        work->new_keys += !was_present;
        work->missed += !tepal_bloom_query_atomic(work->bloom, d);
        d = tepal_hash_u64(&hasher, work->first + i / 2);
        work->missed += !tepal_bloom_query_atomic(work->bloom, d);
    }
    return NULL;
}

static void concurrent_adds_lose_nothing(void **state)
{
    (void)state;
    for (int layout = 0; layout < 4; layout++) {
        struct tepal_params params = TEPAL_PARAMS_INIT;
        params.layout = (enum tepal_layout)layout;
        params.cells = 512 * 2000;
        params.hashes = 6;
        struct tepal_filter *together;
        struct tepal_filter *alone;
        assert_ok(tepal_filter_create(&params, NULL, &together, NULL));
        assert_ok(tepal_filter_create(&params, NULL, &alone, NULL));
        pthread_t threads[THREADS];
        struct work work[THREADS];
        for (int i = 0; i < THREADS; i++) {
            work[i] = (struct work){together, (uint64_t)i * KEYS / 2, 0, 0};
            assert_int_equal(pthread_create(&threads[i], NULL, add_and_query, &work[i]), 0);
        }
        uint64_t new_keys = 0;
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            assert_int_equal(work[i].missed, 0);
            new_keys += work[i].new_keys;
        }
        uint64_t last = (uint64_t)(THREADS - 1) * KEYS / 2 + KEYS;
        for (uint64_t i = 0; i < last; i++) {
            assert_ok(tepal_filter_add_u64(alone, i));
        }
        assert_true(tepal_filter_equal(together, alone));
        assert_int_equal(tepal_filter_keys_added(together), THREADS * KEYS);
        /* each bit is new to one adder alone, but a key's bits may be split among several */
        assert_true(new_keys > 0 && new_keys <= (uint64_t)THREADS * KEYS);
        tepal_filter_free(together);
        tepal_filter_free(alone);
    }
}

/* Const calls from several threads on one filter that nobody changes. */
static void *read_all(void *argument)
{
    struct work *work = argument;
    static const uint64_t keys[3] = {1, 2, 3};
    for (int i = 0; i < 50; i++) {
        uint64_t answer;
        struct tepal_report report;
        work->missed += tepal_filter_query_u64_many(work->bloom, keys, 3, &answer) != 3;
        tepal_filter_info(work->bloom, &report);
        work->missed += tepal_report_find(&report, "fp_now") == NULL;
    }
    return NULL;
}

static void const_calls_run_concurrently(void **state)
{
    (void)state;
    struct tepal_filter *bloom;
    assert_ok(tepal_filter_create_for_rate(TEPAL_KIND_BLOOM, 1000, 0.01, 1, &bloom, NULL));
    for (uint64_t i = 0; i < 1000; i++) {
        assert_ok(tepal_filter_add_u64(bloom, i));
    }
    pthread_t threads[THREADS];
    struct work work[THREADS];
    for (int i = 0; i < THREADS; i++) {
        work[i] = (struct work){bloom, 0, 0, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, read_all, &work[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(work[i].missed, 0);
    }
    tepal_filter_free(bloom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(concurrent_adds_lose_nothing),
        cmocka_unit_test(const_calls_run_concurrently),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
