/*
 * growing_soak.c: ten million additions to a growing filter, a thousandfold growth, one by one:
 * none splits more than four buckets; at most 18 bits of memory per key at any moment; no false
 * negative; rate and bits by the model at every factor of ten; and the longest additions
 * (TEPAL_SHOW=1 prints them, no time is asserted). Then chains to the same size, of both series,
 * and a Bloom filter of that size from the start. TEPAL_FULL=1: a millionfold growth to 10^9 keys,
 * of chains to 10^8, in batches: the last column of the table in docs/growing.md.
 */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include "growing_help.h"

#include <time.h>

#include <tepal/papers.h>

enum { STRANGERS = 1000000, BINS = 40 };
#define RATE 0.01

/* A digest takes two steps of the generator, and shares none with the next. */
static struct tepal_digest key_of(uint64_t i)
{
    uint64_t state = 1 + 2 * i * UINT64_C(0x9e3779b97f4a7c15);
    return check_digest(&state);
}

static void add_batches(struct tepal_filter *f, uint64_t from, uint64_t to)
{
    enum { BATCH = 100000 };
    static struct tepal_digest d[BATCH];
    while (from < to) {
        size_t count = 0;
        for (; count < BATCH && from < to; from++) {
            d[count++] = key_of(from);
        }
        assert_ok(tepal_filter_add_many(f, d, count));
    }
}

static uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void must_find(const struct tepal_filter *f, uint64_t keys)
{
    for (uint64_t i = 0; i < keys; i++) {
        assert_true(tepal_filter_query(f, key_of(i)));
    }
}

/* Strangers are found at the rate told; the share that was found. */
static double must_keep(const struct tepal_filter *f, double told)
{
    uint64_t found = 0;
    for (uint64_t i = 0; i < STRANGERS; i++) {
        found += tepal_filter_query(f, key_of(((uint64_t)1 << 40) + i));
    }
    check_within("strangers", (double)found, STRANGERS * told, sqrt(STRANGERS * told));
    return (double)found / STRANGERS;
}

/* How long additions took, by powers of two of nanoseconds; and what they cost in buckets. */
static void add_timed(struct tepal_filter *f, struct moments *m, uint64_t from, uint64_t to,
                      bool counted)
{
    uint64_t bin[BINS] = {0};
    uint64_t longest = 0;
    for (uint64_t i = from; i < to; i++) {
        const struct tepal_digest d = key_of(i);
        m->keys = i;
        uint64_t cells = tepal_filter_params(f)->cells;
        uint64_t start = clock_ns();
        assert_ok(tepal_filter_add(f, d));
        uint64_t took = clock_ns() - start;
        if (counted) {
            const struct tepal_params *p = tepal_filter_params(f);
            uint64_t bucket = 4 * (p->growing.tag_bits + p->growing.extension_bits + 1);
            assert_true(p->cells - cells <= 4 * bucket);
        }
        longest = took > longest ? took : longest;
        int size = took == 0 ? 0 : 63 - __builtin_clzll(took);
        bin[size < BINS ? size : BINS - 1]++;
    }
    if (getenv("TEPAL_SHOW") != NULL) {
        printf("%llu to %llu keys: longest addition %.1f us;", (unsigned long long)from,
               (unsigned long long)to, (double)longest / 1e3);
        for (int i = 0; i < BINS; i++) {
            if (bin[i] > 0 && i >= 13) {
                printf(" %llu from %.0f us on", (unsigned long long)bin[i], ldexp(1, i) / 1e3);
            }
        }
        printf("\n");
    }
}

static void ten_million_additions(void **unused)
{
    (void)unused;
    const bool full = getenv("TEPAL_FULL") != NULL;
    for (int kind = 0; kind < 4; kind++) {
        struct tepal_params p = TEPAL_PARAMS_INIT;
        struct tepal_filter *f = NULL;
        bool growing = kind == 0;
        const uint64_t first = full ? (growing ? 1000 : 100) : 10000;
        const uint64_t last = first * (full ? 1000000 : 1000);
        p.kind = growing ? TEPAL_KIND_GROWING : TEPAL_KIND_CHAIN;
        p.layout = kind == 2 ? TEPAL_LAYOUT_BLOCKED : TEPAL_LAYOUT_FLAT;
        if (growing) {
            assert_ok(tepal_growing_size(first, last, RATE, &p));
        } else {
            p.chain.first_keys = first;
            p.chain.growth = 2 * TEPAL_CHAIN_UNIT;
            p.chain.series = kind == 3 ? TEPAL_CHAIN_HALVING : TEPAL_CHAIN_EVEN;
            assert_ok(tepal_params_for_rate(&p, last, RATE, NULL));
        }
        struct moments m = {.from = 100000};
        struct tepal_allocator allocator = moments_allocator(&m);
        assert_ok(tepal_filter_create(&p, &allocator, &f, NULL));
        uint64_t from = 0;
        for (uint64_t to = first; to <= last; from = to, to *= 10) {
            if (full) {
                add_batches(f, from, to);
            } else {
                add_timed(f, &m, from, to, growing);
            }
            double told = tepal_filter_fp_now(f);
            assert_true(told <= RATE);
            double found = must_keep(f, told);
            double bits = (double)tepal_filter_params(f)->cells / (double)to;
            double model_fp = tepal_chain_fp(&p, to);
            /* Parts of at least so many keys, by chain_stat.c; growing_stat.c has the other. */
            double deviation = 2 * 0.554 * sqrt(12 * log(2) / (double)first);
            if (growing) {
                uint32_t e = (uint32_t)p.growing.extension_bits;
                uint64_t bucket = 4 * (p.growing.tag_bits + e + 1);
                model_fp = tepal_growing_fp((uint32_t)p.growing.tag_bits, e, p.cells / bucket, to);
                deviation = (0.02 + 2 / sqrt((double)to)) / CHECK_Z;
                double model = tepal_growing_buckets(e, p.cells / bucket, to) * (double)bucket;
                assert_true(fabs(bits * (double)to / model - 1) < 0.01);
            }
            check_within("told", told / model_fp, 1, deviation);
            if (getenv("TEPAL_SHOW") != NULL) {
                printf("%s %s%s, %llu keys: %.2f bits per key, told %.4f %% (model %.4f %%), "
                       "found %.4f %%, %.2f lines\n",
                       tepal_layout_name(p.layout), tepal_filter_kind(f)->name,
                       kind == 3 ? ", halving" : "", (unsigned long long)to, bits, 100 * told,
                       100 * model_fp, 100 * found, lines_counted(f, STRANGERS));
                fflush(stdout);
            }
        }
        must_find(f, last);
        assert_true(full || m.seen >= (growing ? 64 : 6));
        assert_true(!growing || full || m.worst <= 18);
        if (getenv("TEPAL_SHOW") != NULL && !full) {
            printf("%s: at most %.2f bits of memory per key at any moment\n",
                   tepal_filter_kind(f)->name, m.worst);
        }
        tepal_filter_free(f);
    }
}

/* What it costs to know the last size. */
static void the_fixed_filter(void **unused)
{
    (void)unused;
    const uint64_t last = getenv("TEPAL_FULL") != NULL ? 1000000000 : 10000000;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_filter *f = NULL;
    assert_ok(tepal_params_for_rate(&p, last, RATE, NULL));
    assert_ok(tepal_filter_create(&p, NULL, &f, NULL));
    add_batches(f, 0, last);
    double told = tepal_filter_fp_now(f);
    double found = must_keep(f, told);
    double model = tepal_bloom_fp(p.layout, p.positions, p.cells, last, p.hashes);
    check_within("told", told / model, 1, sqrt(p.hashes / (double)last));
    if (getenv("TEPAL_SHOW") != NULL) {
        printf(
            "flat bloom, %llu keys: %.2f bits per key, told %.4f %%, found %.4f %%, %.2f lines\n",
            (unsigned long long)last, (double)p.cells / (double)last, 100 * told, 100 * found,
            lines_counted(f, STRANGERS));
    }
    tepal_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ten_million_additions),
                                       cmocka_unit_test(the_fixed_filter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
