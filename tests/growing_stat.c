/*
 * growing_stat.c: a growing filter through a thousandfold growth at 1 %: at every moment no member
 * is missing, the rate is as told and as the model says, memory follows the keys (also if every
 * moment is looked at), and a lookup reads two or three cache lines. TEPAL_SHOW=1 prints the table
 * of docs/growing.md.
 */
#include "check.h"
#include "growing_help.h"

#include <tepal/papers.h>
#include <tepal/tepal.h>

#define FIRST     1000
#define GROWTH    1000
#define LAST      (FIRST * GROWTH)
#define RATE      0.01
#define STRANGERS 40000

/* Lines that a lookup of an absent key reads: those of two buckets, wherever these lie. */
static double lines_per_query(uint64_t bits)
{
    unsigned lines = 0;
    const unsigned buckets = 128; /* their bits are whole lines, for every width */
    for (uint64_t b = 0; b < buckets; b++) {
        uint64_t at = b * GROWING_SLOTS * bits;
        uint64_t last_word = ((at + 2 * bits) >> 6) + 1;
        lines += 1 + (unsigned)(last_word / 8 - at / 512);
    }
    return 2.0 * lines / buckets;
}

/*
 * The same derived: a bucket begins anywhere in a line, in steps of g = gcd(4 bits, 512) bits, and
 * is read to the end of the word after that of its third slot. So it takes a second line if it
 * begins in the last 64 + 2 bits of one.
 */
static double lines_derived(uint64_t bits)
{
    uint64_t step = GROWING_SLOTS * bits;
    step &= ~step + 1; /* 512 is a power of two */
    step = step < 512 ? step : 512;
    uint64_t crossing = (64 + 2 * bits + step - 1) / step;
    uint64_t aligned = (448 - 2 * bits) % step == 0 ? 0 : 1; /* the first that crosses is later */
    return 2 * (1 + (double)(crossing - aligned) * (double)step / 512);
}

static void lookups_read_few_lines(void **unused)
{
    (void)unused;
    for (uint64_t bits = TEPAL_MIN_TAG_BITS + 2;
         bits <= TEPAL_MAX_TAG_BITS + TEPAL_MAX_EXTENSION_BITS + 1; bits++) {
        assert_true(lines_per_query(bits) < 3);
        assert_true(fabs(lines_per_query(bits) - lines_derived(bits)) < 1e-9);
    }
}

static void show(const struct tepal_filter *f, uint64_t n, double bits, double model_bits)
{
    const struct tepal_params *p = tepal_filter_params(f);
    uint32_t t = (uint32_t)p->growing.tag_bits;
    uint32_t e = (uint32_t)p->growing.extension_bits;
    uint64_t buckets = p->growing.first / (GROWING_SLOTS * (t + e + 1));
    printf(
        "%8llu keys: %6.2f bits per key (model %6.2f), rate %.3f %% (model %.3f %%), %.2f lines\n",
        (unsigned long long)n, bits, model_bits, 100 * tepal_filter_fp_now(f),
        100 * tepal_growing_fp(t, e, buckets, n), lines_counted(f, STRANGERS));
}

static void a_thousandfold_growth(void **unused)
{
    (void)unused;
    static struct tepal_digest d[LAST];
    static uint64_t answers[LAST / 64 + 1];
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_filter *f = NULL;
    uint64_t state = 17;
    uint64_t others = 18;
    unsigned moments = 0;
    p.kind = TEPAL_KIND_GROWING;
    check_digests(&state, d, LAST);
    assert_ok(tepal_growing_size(FIRST, LAST, RATE, &p));
    assert_ok(tepal_filter_create(&p, NULL, &f, NULL));
    uint32_t t = (uint32_t)p.growing.tag_bits;
    uint32_t e = (uint32_t)p.growing.extension_bits;
    uint64_t first = p.cells / (GROWING_SLOTS * (t + e + 1));
    double worst = 0;
    size_t found = 0;
    double expected = 0;
    for (size_t n = 0; n < LAST;) {
        size_t next = n == 0 ? FIRST : n + n / 5 < LAST ? n + n / 5 : LAST;
        next = n < (size_t)10 * FIRST && next > (size_t)10 * FIRST ? (size_t)10 * FIRST : next;
        assert_ok(tepal_filter_add_many(f, d + n, next - n));
        n = next;
        moments++;
        assert_int_equal(tepal_filter_query_many(f, d, n, answers), n);
        double told = tepal_filter_fp_now(f);
        assert_true(told <= RATE);
        /* The model's entries are spread evenly; n of them differ by about sqrt(n). */
        double model = tepal_growing_fp(t, e, first, n);
        assert_true(fabs(told / model - 1) < 0.02 + 2 / sqrt((double)n));
        for (size_t i = 0; i < STRANGERS; i++) {
            found += tepal_filter_query(f, check_digest(&others));
        }
        expected += STRANGERS * told;
        /* The cells follow the model, the memory the cells: but for 1/32 and the handle. */
        double bits = (double)tepal_filter_params(f)->cells / (double)n;
        double model_bits =
            tepal_growing_buckets(e, first, n) * GROWING_SLOTS * (t + e + 1) / (double)n;
        assert_true(fabs(bits / model_bits - 1) < 0.01);
        double memory = 8 * (double)tepal_filter_memory_bytes(f) / (double)n;
        if (n >= 100000) {
            worst = fmax(worst, memory);
        }
        if (getenv("TEPAL_SHOW") != NULL && (n == FIRST || n == (size_t)10 * FIRST || n == LAST)) {
            show(f, n, bits, model_bits);
        }
    }
    assert_true(moments > 35);
    /* One line or two for each of the two buckets: a deviation of 1/2 at most. */
    double counted = lines_counted(f, STRANGERS);
    assert_true(fabs(counted - lines_derived(t + e + 1)) < CHECK_Z * 0.75 / sqrt(STRANGERS));
    if (getenv("TEPAL_SHOW") != NULL) {
        printf("%.3f lines per lookup counted, %.3f derived\n", counted, lines_derived(t + e + 1));
    }
    /* No two keys in a row are correlated: the sum over all moments is Poisson, nearly. */
    assert_true(fabs((double)found - expected) < CHECK_Z * sqrt(expected));
    assert_true(worst <= 18);
    if (getenv("TEPAL_SHOW") != NULL) {
        printf("at most %.2f bits of memory per key from 10^5 keys on\n", worst);
    }
    /* Beyond what was planned it goes on, and tells its rate. */
    assert_ok(tepal_filter_add_many(f, d, LAST / 4));
    assert_true(tepal_filter_fp_now(f) > tepal_growing_fp(t, e, first, LAST));
    tepal_filter_free(f);
}

/* The filter from bytes again, on the same allocator, after the old one has gone. */
static struct tepal_filter *reload(struct tepal_filter *f, const struct tepal_allocator *allocator)
{
    size_t bytes = (size_t)tepal_encoded_bytes(f);
    uint8_t *room = malloc(bytes);
    struct tepal_filter *back = NULL;
    assert_non_null(room);
    assert_ok(tepal_encode(f, room, bytes, NULL));
    tepal_filter_free(f);
    assert_ok(tepal_decode(room, bytes, allocator, &back, NULL));
    free(room);
    return back;
}

/*
 * At most 18 bits per key at any moment of a thousandfold growth and of as much again beyond it,
 * the handle and what is not used yet included; also if the filter was saved and loaded on the way.
 */
static void memory_at_every_moment(void **unused)
{
    (void)unused;
    const uint64_t firsts[] = {100, 500};
    for (size_t i = 0; i < 3 * sizeof firsts / sizeof *firsts; i++) {
        struct tepal_params p = TEPAL_PARAMS_INIT;
        struct tepal_filter *f = NULL;
        const uint64_t first = firsts[i / 3];
        const uint64_t last = first * GROWTH;
        const bool travels = i % 3 == 1;
        uint64_t state = 100 + i;
        struct moments m = {.from = last < 100000 ? last : 100000};
        struct tepal_allocator allocator = moments_allocator(&m);
        p.kind = TEPAL_KIND_GROWING;
        assert_ok(tepal_growing_size(first, last, i % 3 == 2 ? 0.02 : RATE, &p));
        assert_ok(tepal_filter_create(&p, &allocator, &f, NULL));
        for (; m.keys < 2 * last; m.keys++) {
            if (travels && m.keys % 99991 == 99990) {
                f = reload(f, &allocator);
            }
            assert_ok(tepal_filter_add(f, check_digest(&state)));
        }
        assert_true(m.seen >= 16);
        assert_true(m.worst <= 18);
        /* The longest file, too, has few bits per key. */
        assert_true(8 * (double)tepal_encoded_bytes(f) <= 18 * (double)m.keys);
        if (getenv("TEPAL_SHOW") != NULL) {
            printf("from %llu to %llu keys, %llu moments%s: at most %.2f bits per key\n",
                   (unsigned long long)first, (unsigned long long)(2 * last),
                   (unsigned long long)m.seen, travels ? ", loaded on the way" : "", m.worst);
        }
        tepal_filter_free(f);
        assert_int_equal(m.bytes, 0);
    }
}

/*
 * A plan that was wrong: at 1, 4, 16 and 64 times its keys and at a thousand times the first ones,
 * 18 bits per key at the most, as the model says, no member missing, the rate as told.
 */
static void memory_past_the_plan(void **unused)
{
    (void)unused;
    enum { MOST = 1280000 };
    static struct tepal_digest d[MOST];
    static uint64_t answers[MOST / 64];
    static const struct {
        uint64_t first;
        uint64_t last;
        double rate;
    } plan[] = {{1000, 1000, 0.01},  {1000, 2000, 0.01}, {1000, 2000, 0.1},   {20, 20000, 0.01},
                {1000, 20000, 0.01}, {20, 20000, 0.1},   {1000, 2000, 0.001}, {1, 1, 0.5}};
    uint64_t state = 2026;
    check_digests(&state, d, MOST);
    for (size_t i = 0; i < sizeof plan / sizeof *plan; i++) {
        struct tepal_params p = TEPAL_PARAMS_INIT;
        struct tepal_filter *f = NULL;
        size_t n = 0;
        p.kind = TEPAL_KIND_GROWING;
        assert_ok(tepal_growing_size(plan[i].first, plan[i].last, plan[i].rate, &p));
        assert_ok(tepal_filter_create(&p, NULL, &f, NULL));
        uint32_t slot = params_growing_slot(&p);
        /* From the smallest size on, of 256 buckets; the last: a thousand times what it holds. */
        size_t begin = (size_t)fmax((double)plan[i].last, 3.5 * TEPAL_GROWING_MIN_BUCKETS);
        size_t beyond = 1000 * (size_t)fmax((double)plan[i].first, 896);
        for (size_t times = 1; times <= 256; times *= 4) {
            size_t to = times == 256 && beyond > n ? beyond : begin * times;
            if (to > MOST || (times == 256 && to != beyond)) {
                continue;
            }
            assert_ok(tepal_filter_add_many(f, d + n, to - n));
            n = to;
            assert_int_equal(tepal_filter_query_many(f, d, n, answers), n);
            double bits = (double)tepal_filter_params(f)->cells / (double)n;
            double model = tepal_growing_buckets((uint32_t)p.growing.extension_bits,
                                                 p.cells / (GROWING_SLOTS * slot), n) *
                           GROWING_SLOTS * slot / (double)n;
            if (getenv("TEPAL_SHOW") != NULL) {
                printf("planned for %llu to %llu keys at %g: with %zu keys %.2f bits per key "
                       "(model %.2f), %.3f %% (planned %.3f %%)\n",
                       (unsigned long long)plan[i].first, (unsigned long long)plan[i].last,
                       plan[i].rate, n, bits, model, 100 * tepal_filter_fp_now(f),
                       100 * tepal_growing_fp((uint32_t)p.growing.tag_bits,
                                              (uint32_t)p.growing.extension_bits,
                                              p.cells / (GROWING_SLOTS * slot), plan[i].last));
            }
            assert_true(bits <= 18 && fabs(bits / model - 1) < 0.03);
            size_t found = 0;
            double told = tepal_filter_fp_now(f);
            assert_true(n > plan[i].last || told <= plan[i].rate);
            for (size_t k = 0; k < STRANGERS; k++) {
                found += tepal_filter_query(f, check_digest(&state));
            }
            check_within("strangers", (double)found, STRANGERS * told, sqrt(STRANGERS * told));
        }
        tepal_filter_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lookups_read_few_lines),
        cmocka_unit_test(a_thousandfold_growth),
        cmocka_unit_test(memory_at_every_moment),
        cmocka_unit_test(memory_past_the_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
