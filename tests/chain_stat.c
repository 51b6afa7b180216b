/*
 * chain_stat.c: chains that grow a thousandfold (flat, blocked) and a hundredfold (other layouts),
 * by both series: the rate at many moments against the wish, the model and strangers; no false
 * negative; the bits and the lines that strangers read against the model. And the filter of fixed
 * size that they are compared with. TEPAL_SHOW=1 prints the figures of docs/growing.md.
 */
#include "check.h"
#include "growing_help.h"

#include <tepal/papers.h>

#include "plan/plan.h"

enum { FIRST = 1000, LAST = 1000000, STRANGERS = 20000 };
#define RATE 0.01

static struct tepal_digest digest[LAST];
static uint64_t answers[LAST / 64 + 1];

struct setting {
    enum tepal_layout layout;
    enum tepal_chain_series series;
    size_t last;
    uint64_t planned; /* keys */
};

/*
 * The rate of a part with k bits set per key varies from filter to filter: relatively by k times
 * the deviation of its fill, 0.554 sqrt(k ln 2 / n) when it is half full and flat; on lines, whose
 * loads vary too, by at most twice that. Parts vary independently, each with its share of the rate.
 */
static double deviation(const struct tepal_filter *f)
{
    struct tepal_report report;
    tepal_filter_info(f, &report);
    const struct tepal_quantity *keys = tepal_report_find(&report, "part_keys");
    double squares = 0;
    double sum = 0;
    for (uint32_t i = 0; i < keys->value.list.count; i++) {
        double share = tepal_chain_share(tepal_filter_params(f), i);
        squares += share * share / fmax(report.number[keys->value.list.first + i], 1);
        sum += share;
    }
    return 2 * 0.554 * sqrt(12 * log(2) * squares) / sum;
}

static double bits_by_model(const struct tepal_params *p, uint64_t parts)
{
    double bits = 0;
    for (uint32_t i = 0; i < parts; i++) {
        struct tepal_chain_part part;
        assert_ok(tepal_chain_part(p, i, &part));
        bits += (double)part.bits;
    }
    return bits;
}

/* The lines that an absent key reads, as plans have it. */
static double lines_by_model(const struct tepal_params *p, uint64_t keys)
{
    double lines = 0;
    for (uint32_t i = 0; keys > 0; i++) {
        struct tepal_chain_part part;
        assert_ok(tepal_chain_part(p, i, &part));
        struct tepal_params one = *p;
        uint64_t its = keys < part.keys ? keys : part.keys;
        one.kind = TEPAL_KIND_BLOOM;
        one.cells = part.bits;
        one.hashes = part.hashes;
        lines += tepal_plan_probes(&one, its);
        keys -= its;
    }
    return lines;
}

static void show(const struct setting *s, const struct tepal_filter *f, size_t n)
{
    if (getenv("TEPAL_SHOW") != NULL && (n == FIRST || n == 10 * FIRST || n == s->last)) {
        const struct tepal_params *p = tepal_filter_params(f);
        printf(
            "%-11s %-7s %7zu keys: %2llu parts, %5.2f bits per key, told %.4f %%, model %.4f %%, "
            "%.2f lines (model %.2f)\n",
            tepal_layout_name(s->layout), tepal_chain_series_name(s->series), n,
            (unsigned long long)p->chain.parts, (double)p->cells / (double)n,
            100 * tepal_filter_fp_now(f), 100 * tepal_chain_fp(p, n), lines_counted(f, STRANGERS),
            lines_by_model(p, info_integer(f, "keys_now")));
    }
}

/*
 * Reads of a half full part are geometric, of variance 2; its fill varies by .28 / sqrt(m), and
 * reads by four times that. Each part has twice the bits of the last, but for two. Of paired lines
 * the second is read or not; and of one line there is nothing to vary.
 */
static void check_lines(const struct tepal_filter *f, double model, uint64_t first_bits)
{
    const struct tepal_params *p = tepal_filter_params(f);
    double parts = (double)(p->kind == TEPAL_KIND_CHAIN ? p->chain.parts : 1);
    double reads = p->layout == TEPAL_LAYOUT_BLOCKED  ? 0
                   : p->layout == TEPAL_LAYOUT_PAIRED ? 0.25
                                                      : 2;
    double fill = tepal_layout_in_lines(p->layout) ? 0 : 16 * 0.0767 * 3 / (double)first_bits;
    check_within("lines", lines_counted(f, STRANGERS), model,
                 sqrt(reads * parts / STRANGERS + fill) + 1e-9);
}

static void grow(const struct setting *s)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_filter *f = NULL;
    uint64_t others = 18;
    double expected = 0;
    size_t found = 0;
    p.kind = TEPAL_KIND_CHAIN;
    p.layout = s->layout;
    p.chain.first_keys = FIRST;
    p.chain.growth = 2 * TEPAL_CHAIN_UNIT;
    p.chain.series = s->series;
    assert_ok(tepal_params_for_rate(&p, s->planned, RATE, NULL));
    assert_ok(tepal_filter_create(&p, NULL, &f, NULL));
    for (size_t n = 0; n < s->last;) {
        size_t next = n == 0 ? FIRST : n + n / 3 < s->last ? n + n / 3 : s->last;
        next = n < 10 * FIRST && next > 10 * FIRST ? 10 * FIRST : next;
        assert_ok(tepal_filter_add_many(f, digest + n, next - n));
        n = next;
        assert_int_equal(tepal_filter_query_many(f, digest, n, answers), n);
        double told = tepal_filter_fp_now(f);
        double model = tepal_chain_fp(&p, info_integer(f, "keys_now"));
        assert_true(told <= RATE && model <= RATE);
        check_within("told", told / model, 1, deviation(f));
        for (size_t i = 0; i < STRANGERS; i++) {
            found += tepal_filter_query(f, check_digest(&others));
        }
        expected += STRANGERS * told;
        const struct tepal_params *now = tepal_filter_params(f);
        assert_true((double)now->cells == bits_by_model(&p, now->chain.parts));
        show(s, f, n);
    }
    check_within("strangers", (double)found, expected, sqrt(expected));
    check_lines(f, lines_by_model(&p, info_integer(f, "keys_now")), p.cells);
    tepal_filter_free(f);
}

static void the_rate_holds_at_every_size(void **unused)
{
    (void)unused;
    static const struct setting settings[] = {
        {TEPAL_LAYOUT_FLAT, TEPAL_CHAIN_EVEN, LAST, LAST},
        {TEPAL_LAYOUT_FLAT, TEPAL_CHAIN_HALVING, LAST, LAST},
        {TEPAL_LAYOUT_PARTITIONED, TEPAL_CHAIN_EVEN, LAST / 10, LAST / 10},
        {TEPAL_LAYOUT_BLOCKED, TEPAL_CHAIN_EVEN, LAST, LAST},
        {TEPAL_LAYOUT_PAIRED, TEPAL_CHAIN_EVEN, LAST / 10, LAST / 10},
        /* Beyond what was planned, by a factor of 50. */
        {TEPAL_LAYOUT_FLAT, TEPAL_CHAIN_EVEN, LAST / 10, 2 * FIRST},
        {TEPAL_LAYOUT_BLOCKED, TEPAL_CHAIN_EVEN, LAST / 10, 2 * FIRST},
    };
    uint64_t state = 17;
    check_digests(&state, digest, LAST);
    for (size_t i = 0; i < COUNT(settings); i++) {
        grow(&settings[i]);
    }
}

/* A Bloom filter that has the last size from the start. */
static void the_fixed_filter(void **unused)
{
    (void)unused;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_filter *f = NULL;
    size_t n = 0;
    assert_ok(tepal_params_for_rate(&p, LAST, RATE, NULL));
    assert_ok(tepal_filter_create(&p, NULL, &f, NULL));
    for (size_t next = FIRST; next <= LAST; next *= 10) {
        assert_ok(tepal_filter_add_many(f, digest + n, next - n));
        n = next;
        double told = tepal_filter_fp_now(f);
        double model = tepal_bloom_fp(p.layout, p.positions, p.cells, n, p.hashes);
        double lines = tepal_plan_probes(&p, n);
        /* k times the relative deviation of the fill, which is at most 1 / sqrt(k n). */
        check_within("fixed: told", told / model, 1, sqrt(p.hashes / (double)n));
        check_lines(f, lines, p.cells);
        if (getenv("TEPAL_SHOW") != NULL) {
            printf("fixed, flat, %7zu keys: %.2f bits per key, told %.4g %%, model %.4g %%, %.2f "
                   "lines (model %.2f)\n",
                   n, (double)p.cells / (double)n, 100 * told, 100 * model,
                   lines_counted(f, STRANGERS), lines);
        }
    }
    tepal_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_rate_holds_at_every_size),
                                       cmocka_unit_test(the_fixed_filter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
