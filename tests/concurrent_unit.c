/*
 * concurrent_unit.c: the calls that may run at the same time. Also run under the thread sanitizer,
 * which reports every race. Additions that may; then all that does not change a filter, plans and
 * models, on filters of every kind.
 */
#include "kinds_help.h"

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

/* ---- const calls, on every kind -------------------------------------------------------------- */

#define ASKED 500

struct reader {
    const struct specimen *s;
    const struct tepal_filter *filter;
    const uint8_t *bytes;
    size_t len;
    bool plans;   /* and models; one of each kind will do */
    uint64_t sum; /* of everything that it was told */
};

static struct tepal_digest asked[ASKED];

static uint64_t mixed(uint64_t sum, const void *bytes, size_t len)
{
    return XXH3_64bits_withSeed(bytes, len, sum);
}

/* The names and values of a report, without pointers and padding. */
static uint64_t mixed_report(uint64_t sum, const struct tepal_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        const struct tepal_quantity *q = &report->item[i];
        sum = mixed(sum, q->name, strlen(q->name));
        if (q->type == TEPAL_QUANTITY_INTEGER) {
            sum = mixed(sum, &q->value.integer, sizeof q->value.integer);
        } else if (q->type == TEPAL_QUANTITY_REAL) {
            sum = mixed(sum, &q->value.real, sizeof q->value.real);
        }
    }
    return sum;
}

static uint64_t modelled(uint64_t sum, const struct specimen *s)
{
    struct tepal_report report;
    struct tepal_use use = TEPAL_USE_INIT;
    use.keys = 300;
    return tepal_model(&s->params, &use, &report, NULL) == TEPAL_OK ? mixed_report(sum, &report)
                                                                    : sum;
}

static uint64_t planned(uint64_t sum, const struct specimen *s)
{
    struct tepal_plans plans;
    struct tepal_wish wish = TEPAL_WISH_INIT;
    static const size_t room = 1 << 16;
    char *text = calloc(1, room);
    wish.keys = 1000 + s->params.kind;
    wish.endless = s->params.kind == TEPAL_KIND_RECYCLING;
    if (text != NULL && tepal_plan(&wish, &plans, NULL) == TEPAL_OK) {
        size_t len = tepal_plans_json(&plans, text, room);
        sum = mixed(sum, text, len < room ? len : room);
    }
    free(text);
    return sum;
}

/* Everything that does not change a filter, on one that all threads have. */
static void *read_all(void *argument)
{
    struct reader *r = argument;
    const struct tepal_filter *f = r->filter;
    uint64_t answers[ASKED / 64 + 1];
    struct tepal_report report;
    struct tepal_judgement judgement;
    struct tepal_terms terms = TEPAL_TERMS_INIT;
    struct tepal_filter *got = NULL;
    uint64_t sum = tepal_filter_query_many(f, asked, ASKED, answers);
    sum = mixed(sum, answers, sizeof answers);
    for (size_t i = 0; i < ASKED; i++) {
        sum += tepal_filter_query(f, asked[i]) * i + tepal_filter_query_u64(f, i);
    }
    tepal_filter_info(f, &report);
    sum = mixed_report(sum, &report);
    tepal_filter_summary(f, &report);
    sum = mixed_report(sum, &report);
    sum += tepal_filter_ones(f) + tepal_filter_validate(f, NULL) + tepal_filter_equal(f, f);
    double fp = tepal_filter_fp_now(f);
    sum = mixed(sum, &fp, sizeof fp);
    terms.max_fp = 1;
    if (tepal_judge(f, &terms, &judgement, NULL) == TEPAL_OK) {
        tepal_judgement_report(&judgement, &report);
        sum = mixed_report(sum, &report) + judgement.verdict;
    }
    if (tepal_receive(r->bytes, r->len, &terms, NULL, &got, &judgement, NULL) == TEPAL_OK) {
        sum += judgement.verdict + (got != NULL);
        tepal_filter_free(got);
        got = NULL;
    }
    if (tepal_decode(r->bytes, r->len, NULL, &got, NULL) == TEPAL_OK) {
        sum += 7 * tepal_filter_equal(f, got);
        tepal_filter_free(got);
        got = NULL;
    }
    if (tepal_filter_clone(f, NULL, &got, NULL) == TEPAL_OK) {
        sum += 9 * tepal_filter_equal(f, got);
        tepal_filter_free(got);
    }
    uint8_t *bytes = malloc(r->len);
    if (bytes != NULL && tepal_encode(f, bytes, r->len, NULL) == TEPAL_OK) {
        sum = mixed(sum, bytes, r->len);
    }
    free(bytes);
    r->sum = r->plans ? planned(modelled(sum, r->s), r->s) : sum;
    return NULL;
}

static void const_calls_run_concurrently(void **state)
{
    (void)state;
    static struct specimens all;
    uint64_t random = 3;
    specimens_init(&all);
    check_digests(&random, asked, ASKED);
    unsigned seen = 0;
    for (size_t n = 0; n < all.count; n++) {
        unsigned kind = 1u << all.at[n].params.kind;
        struct tepal_filter *f = specimen_make(&all.at[n], false);
        pthread_t threads[THREADS];
        struct reader alone = {.s = &all.at[n], .filter = f, .plans = (seen & kind) == 0};
        struct reader readers[THREADS];
        seen |= kind;
        assert_ok(tepal_filter_add_many(f, asked, ASKED / 2));
        alone.bytes = encoded(f, &alone.len);
        for (int i = 0; i < THREADS; i++) {
            readers[i] = alone;
            assert_int_equal(pthread_create(&threads[i], NULL, read_all, &readers[i]), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        }
        (void)read_all(&alone);
        for (int i = 0; i < THREADS; i++) {
            specimen_assert(&all.at[n], readers[i].sum == alone.sum);
        }
        free((void *)(uintptr_t)alone.bytes);
        tepal_filter_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(concurrent_adds_lose_nothing),
        cmocka_unit_test(const_calls_run_concurrently),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
