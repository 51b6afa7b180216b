/*
 * stream_tool_unit.c: the parts of dedup, gaps and app admit: durations, fields, the sample that
 * watches false negatives, the counter of gaps, readers that are stopped, and planning by memory.
 */
#include "check.h"

#include <tepal/papers.h>

#include <fcntl.h>
#include <unistd.h>

#include "input/feed.h"
#include "streams/gap_counts.h"
#include "input/keys.h"
#include "cli/number.h"
#include "streams/stream.h"
#include "streams/sample.h"

static void test_durations(void **state)
{
    static const struct {
        const char *text;
        uint64_t milliseconds;
    } good[] = {{"500ms", 500},    {"90s", 90000},           {"10m", 600000},  {"2h", 7200000},
                {"7d", 604800000}, {"1.5h", 5400000},        {"0.001s", 1},    {"0s", 0},
                {"1.50m", 90000},  {"00010s", 10000},        {"5min", 300000}, {"1h30m", 5400000},
                {"3sec", 3000},    {"1d2h3m4s5ms", 93784005}};
    static const char *const bad[] = {"",
                                      "10",
                                      "s",
                                      "10x",
                                      "10 s",
                                      "-5s",
                                      "1e3s",
                                      "10S",
                                      "10M",
                                      "1:30",
                                      "inf",
                                      "nans",
                                      "10ss",
                                      "0.0001s",
                                      "1.5ms",
                                      "300000000000000d",
                                      "99999999999999999999s",
                                      "1h30",
                                      "30m1h",
                                      "1h1h",
                                      "10minutes",
                                      "1h 30m",
                                      "213503982334d14h25m51s616ms"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t value = 77;
        assert_null(number_duration(good[i].text, &value));
        assert_int_equal(value, good[i].milliseconds);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t value = 77;
        if (number_duration(bad[i], &value) == NULL) {
            fail_msg("%s was taken", bad[i]);
        }
        assert_int_equal(value, 77);
    }
}

static void check_field(const char *line, size_t n, int delimiter, const char *want)
{
    struct key key = {line, strlen(line)};
    struct key got = feed_field(&key, n, delimiter);
    assert_int_equal(got.len, strlen(want));
    assert_memory_equal(got.text, want, got.len);
    assert_true(got.text >= line && got.text + got.len <= line + key.len);
}

static void test_fields(void **state)
{
    (void)state;
    check_field("a b c", 1, -1, "a");
    check_field("a b c", 3, -1, "c");
    check_field("a b c", 4, -1, "");
    check_field("a b c", SIZE_MAX, -1, "");
    check_field("  a \t b  ", 1, -1, "a");
    check_field("  a \t b  ", 2, -1, "b");
    check_field("  a \t b  ", 3, -1, "");
    check_field("", 1, -1, "");
    check_field("   ", 1, -1, "");
    check_field("a,b,,d", 1, ',', "a");
    check_field("a,b,,d", 3, ',', "");
    check_field("a,b,,d", 4, ',', "d");
    check_field("a,b,,d", 5, ',', "");
    check_field(",", 1, ',', "");
    check_field(",x", 2, ',', "x");
    check_field("", 1, ',', "");
    check_field("", 2, ',', "");
}

/* ---- the sample ------------------------------------------------------------------------------ */

/* A stream of more keys than fit, answered wrongly at known rates. */
static void test_trace(void **state)
{
    struct sample t;
    uint64_t random = 3;
    uint64_t repeats = 0;
    uint64_t missed = 0;
    const uint64_t keys = 20 * TRACE_KEYS;
    bool *came = calloc(keys, sizeof *came);
    struct tepal_hasher hasher;
    (void)state;
    assert_non_null(came);
    assert_true(sample_init(&t));
    assert_true(isnan(sample_missed(&t)));
    tepal_hasher_init(5, &hasher);
    for (uint64_t i = 0; i < 4 * keys; i++) {
        uint64_t key = check_random(&random) % keys;
        struct tepal_digest d = tepal_hash_u64(&hasher, key);
        uint64_t seen = came[key] && check_random(&random) % 5 != 0;
        repeats += came[key];
        missed += came[key] && !seen;
        came[key] = true;
        sample_note(&t, &d, &seen, 1);
        assert_true(t.used <= TRACE_KEYS);
    }
    double truth = (double)missed / (double)repeats;
    /* Between 2^13 and 2^14 keys are watched, with three repeats each or more: 24,000 trials. */
    assert_true(t.used > TRACE_KEYS / 4);
    check_within("missed", sample_missed(&t), truth, sqrt(truth * (1 - truth) / 24000));
    sample_free(&t);
    free(came);
}

/* As long as all keys fit, it is no sample but the truth; answers may span words. */
static void test_trace_exact(void **state)
{
    struct sample t;
    struct tepal_digest d[130];
    uint64_t answers[3] = {0, 0, 0};
    struct tepal_hasher hasher;
    (void)state;
    assert_true(sample_init(&t));
    tepal_hasher_init(5, &hasher);
    for (uint64_t i = 0; i < 130; i++) {
        d[i] = tepal_hash_u64(&hasher, i % 65);
        if (i >= 65 && i % 13 != 0) {
            answers[i / 64] |= (uint64_t)1 << (i % 64);
        }
    }
    sample_note(&t, d, answers, 130);
    assert_int_equal(t.used, 65);
    assert_true(sample_missed(&t) == 5.0 / 65);
    sample_free(&t);
}

/*
 * Different keys, from a sample: the interval has to hold the number in 95 % of the cases. Keys
 * come once to 40 times, 2 % are taken for repeats at first, and `forgets` % of the repeats are
 * forgotten.
 */
static bool distinct_holds(uint64_t seed, uint64_t keys, unsigned forgets, double *off)
{
    struct sample t;
    struct tepal_hasher hasher;
    uint64_t random = seed;
    uint64_t fresh = 0;
    assert_true(sample_init(&t));
    tepal_hasher_init(seed, &hasher);
    for (uint64_t key = 0; key < keys; key++) {
        struct tepal_digest d = tepal_hash_u64(&hasher, key);
        uint64_t arrivals = key % 50 == 0 ? 40 : 1 + key % 3;
        for (uint64_t i = 0; i < arrivals; i++) {
            unsigned chance = i == 0 ? 98 : forgets;
            uint64_t seen = check_random(&random) % 100 >= chance;
            fresh += !seen;
            sample_note(&t, &d, &seen, 1);
        }
    }
    struct sample_distinct got = sample_distinct(&t, fresh);
    sample_free(&t);
    *off = got.keys / (double)keys - 1;
    return got.low <= (double)keys && (double)keys <= got.high;
}

static void test_distinct(void **state)
{
    (void)state;
    static const struct {
        unsigned forgets; /* in 100 */
        double error;     /* standard error at 30,000 keys of which half are watched, at most */
    } at[] = {{0, 0.0012}, {20, 0.0082}, {90, 0.0082}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        const unsigned trials = 60;
        unsigned holds = 0;
        double squares = 0;
        for (uint64_t seed = 1; seed <= trials; seed++) {
            double off;
            holds += distinct_holds(seed, 30000, at[i].forgets, &off);
            squares += off * off;
        }
        /* 57 of 60, standard deviation 1.7: below 47 less than once in 10^5. */
        if (holds < 47 || !(sqrt(squares / trials) < 1.3 * at[i].error)) {
            fail_msg("forgets %u %%: %u of %u hold, error %g", at[i].forgets, holds, trials,
                     sqrt(squares / trials));
        }
    }
    double off;
    assert_true(distinct_holds(1, 16384, 50, &off)); /* all are watched */
    assert_true(off == 0);
}

/* ---- gaps ------------------------------------------------------------------------------------ */

static void test_bins(void **state)
{
    (void)state;
    size_t last = 0;
    for (uint64_t gap = 1; gap < 100000; gap++) {
        size_t bin = gap_counts_bin(gap);
        assert_true(bin == last || bin == last + 1); /* none is left out, none goes back */
        assert_true(gap >= 64 || bin == gap);
        last = bin;
    }
    assert_true(gap_counts_bin(UINT64_MAX) < GAPCOUNT_BINS);
    assert_int_equal(gap_counts_bin(UINT64_MAX), GAPCOUNT_BINS - 1);
}

/* Against a list: every gap, exactly. */
static void test_gap_counts(void **state)
{
    enum { ARRIVALS = 20000, KEYS = 3000 };
    struct gap_counts *g = malloc(sizeof *g);
    uint64_t last[KEYS] = {0};
    uint64_t random = 9;
    uint64_t repeats = 0;
    uint64_t distinct = 0;
    uint64_t longest = 0;
    double sum = 0;
    double total = 0;
    struct tepal_hasher hasher;
    double gap[GAPCOUNT_BINS];
    double survival[GAPCOUNT_BINS];
    (void)state;
    assert_non_null(g);
    gap_counts_init(g, 1);
    tepal_hasher_init(5, &hasher);
    for (uint64_t i = 1; i <= ARRIVALS; i++) {
        uint64_t key = check_random(&random) % (1 + check_random(&random) % KEYS);
        struct tepal_digest d = tepal_hash_u64(&hasher, key);
        assert_true(gap_counts_note(g, &d, 1));
        if (last[key] != 0) {
            repeats++;
            sum += (double)(i - last[key]);
            longest = i - last[key] > longest ? i - last[key] : longest;
        }
        distinct += last[key] == 0;
        last[key] = i;
    }
    assert_int_equal(g->keys, distinct);
    assert_int_equal(gap_counts_repeats(g), repeats);
    assert_int_equal(g->longest, longest);
    assert_true(gap_counts_fresh(g) == (double)distinct / ARRIVALS);
    assert_true(gap_counts_distinct(g) == (double)distinct);
    /* The integral of the survival function is the mean gap, exactly. */
    struct tepal_gaps steps = gap_counts_steps(g, gap, survival);
    double before = 0;
    double height = 1;
    for (size_t i = 0; i < steps.count; i++) {
        assert_true(gap[i] > before && survival[i] < height);
        total += (gap[i] - before) * height;
        before = gap[i];
        height = survival[i];
    }
    assert_true(height == 0);
    assert_true(fabs(total / (sum / (double)repeats) - 1) < 1e-12);
    assert_true(gap_counts_quantile(g, 1) >= (double)longest * 31 / 32);
    assert_true(gap_counts_quantile(g, 0.5) < gap_counts_quantile(g, 0.9));
    gap_counts_free(g);
    free(g);
}

/* A sample of the keys tells the same of the stream, and gaps stay those of the whole stream. */
static void test_gap_counts_sample(void **state)
{
    struct gap_counts *all = malloc(sizeof *all);
    struct gap_counts *some = malloc(sizeof *some);
    struct tepal_hasher hasher;
    (void)state;
    assert_true(all != NULL && some != NULL);
    gap_counts_init(all, 1);
    gap_counts_init(some, 0.1);
    tepal_hasher_init(5, &hasher);
    for (uint64_t i = 0; i < 200000; i++) {
        struct tepal_digest d = tepal_hash_u64(&hasher, i % 20000); /* every gap is 20000 */
        assert_true(gap_counts_note(all, &d, 1) && gap_counts_note(some, &d, 1));
    }
    assert_int_equal(some->longest, 20000);
    assert_true(gap_counts_quantile(some, 0.01) == 20000);
    /* 20000 keys, each watched with probability 0.1. */
    check_within("keys", gap_counts_distinct(some), 20000, sqrt(20000 * 0.1 * 0.9) / 0.1);
    assert_true(fabs(gap_counts_fresh(some) - gap_counts_fresh(all)) < 1e-12);
    gap_counts_free(all);
    gap_counts_free(some);
    free(all);
    free(some);
}

/* ---- readers that are stopped ---------------------------------------------------------------- */

static bool wait_twice(void *context, int fd)
{
    int *left = context;
    (void)fd;
    return (*left)-- > 0;
}

/* The pieces that were let through count; the key that is not complete is dropped. */
static void test_stopped(void **state)
{
    int ends[2];
    int left = 1;
    struct keys_options how = {'\n', true};
    struct key batch[8];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "a\nbb\nhalf", 9), 9);
    struct keys *keys = keys_open_fd(ends[0], &how);
    assert_non_null(keys);
    keys_set_wait(keys, wait_twice, &left);
    assert_int_equal(keys_next(keys, batch, 8), 2);
    assert_int_equal(batch[1].len, 2);
    assert_int_equal(keys_next(keys, batch, 8), 0);
    assert_int_equal(keys_next(keys, batch, 8), 0);
    keys_close(keys);
    close(ends[0]);
    close(ends[1]);
}

/* In the middle of compressed data that is not an error, as it would be at a file's end. */
static void test_stopped_gzip(void **state)
{
    static const char bytes[] = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03";
    int ends[2];
    int left = 1;
    struct keys_options how = {'\n', false};
    struct key batch[8];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], bytes, 10), 10);
    struct keys *keys = keys_open_fd(ends[0], &how);
    assert_non_null(keys);
    keys_set_wait(keys, wait_twice, &left);
    assert_int_equal(keys_next(keys, batch, 8), 0);
    keys_close(keys);
    close(ends[0]);
    close(ends[1]);
}

/* ---- planning -------------------------------------------------------------------------------- */

static void test_phase_bits(void **state)
{
    (void)state;
    assert_int_equal(stream_phase_bits(128, 2, TEPAL_LAYOUT_BLOCKED), 512);
    assert_int_equal(stream_phase_bits(127, 2, TEPAL_LAYOUT_BLOCKED), 0);
    assert_int_equal(stream_phase_bits(64, 1, TEPAL_LAYOUT_PAIRED), 512);
    assert_int_equal(stream_phase_bits(16, 2, TEPAL_LAYOUT_FLAT), 64);
    assert_int_equal(stream_phase_bits(15, 2, TEPAL_LAYOUT_FLAT), 0);
    assert_int_equal(stream_phase_bits(UINT64_MAX, 1, TEPAL_LAYOUT_FLAT), 0);
    for (uint64_t bytes = 1; bytes < 5000; bytes += 7) {
        for (uint32_t phases = 1; phases <= TEPAL_MAX_PHASES; phases++) {
            uint64_t bits = stream_phase_bits(bytes, phases, TEPAL_LAYOUT_FLAT);
            assert_true(bits % 64 == 0 && bits / 8 * phases <= bytes);
        }
    }
}

/* Rates from common to rare are kept on every layout, also beyond the hashes of a line. */
static void test_plan(void **state)
{
    static const enum tepal_layout layouts[] = {TEPAL_LAYOUT_FLAT, TEPAL_LAYOUT_BLOCKED,
                                                TEPAL_LAYOUT_PAIRED};
    static const double rates[] = {0.1, 0.01, 1e-4, 1e-6, 1e-9};
    (void)state;
    for (size_t l = 0; l < 3; l++) {
        double before = INFINITY;
        for (size_t r = 0; r < 5; r++) {
            struct tepal_recycling_setting s;
            struct tepal_recycling_rates got;
            assert_true(stream_plan(layouts[l], 1 << 20, 2, 0, rates[r], &s, &got));
            assert_true(got.fp_average <= rates[r] * 1.0001 && got.fp_average > rates[r] * 0.9);
            assert_true(got.messages_per_cycle < before);
            assert_true(s.retain && s.phases == 2 && s.bits == (uint64_t)4 << 20);
            before = got.messages_per_cycle;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_durations),  cmocka_unit_test(test_fields),
        cmocka_unit_test(test_trace),      cmocka_unit_test(test_trace_exact),
        cmocka_unit_test(test_distinct),   cmocka_unit_test(test_bins),
        cmocka_unit_test(test_gap_counts), cmocka_unit_test(test_gap_counts_sample),
        cmocka_unit_test(test_stopped),    cmocka_unit_test(test_stopped_gzip),
        cmocka_unit_test(test_phase_bits), cmocka_unit_test(test_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
