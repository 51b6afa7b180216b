/*
 * clear_ahead_unit.c: recycling filters whose oldest phase is cleared in steps. In the end it is as
 * if it had been cleared at once; on the way, the figures are those of the bits that are left, and
 * nothing else is forgotten.
 */
#define _GNU_SOURCE
#include <tepal/papers.h>

#include "file_help.h"
#include "recycling_help.h"

#include <unistd.h>

#define CELLS (8 * 512)
#define BYTES (CELLS / 8)
#define KEYS  2000

struct setting {
    enum tepal_layout layout;
    uint64_t cells;
    uint32_t phases;
    bool only_misses;
};

static const struct setting settings[] = {
    {TEPAL_LAYOUT_FLAT, CELLS, 2, false},       {TEPAL_LAYOUT_FLAT, CELLS - 100, 2, true},
    {TEPAL_LAYOUT_PARTITIONED, 1000, 3, false}, {TEPAL_LAYOUT_BLOCKED, CELLS, 2, false},
    {TEPAL_LAYOUT_BLOCKED, CELLS, 8, false},    {TEPAL_LAYOUT_PAIRED, CELLS, 4, true},
    {TEPAL_LAYOUT_PARTITIONED, 77, 2, false},   {TEPAL_LAYOUT_BLOCKED, CELLS, 3, true},
};

static struct tepal_filter *make(const struct setting *s)
{
    struct recycling_options options = RECYCLING_OPTIONS_INIT;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct tepal_filter *f = NULL;
    options.phases = s->phases;
    options.limit = s->cells / 2;
    options.only_misses = s->only_misses;
    p.layout = s->layout;
    p.cells = s->cells;
    p.hashes = 4;
    p.seed = 3;
    set_recycling(&p, &options);
    assert_ok(tepal_filter_create(&p, NULL, &f, NULL));
    return f;
}

static struct tepal_filter *clone(const struct tepal_filter *f)
{
    struct tepal_filter *copy = NULL;
    assert_ok(tepal_filter_clone(f, NULL, &copy, NULL));
    return copy;
}

static uint64_t cycles(const struct tepal_filter *f)
{
    return recycling_figures(f).cycles;
}

/* A stream of new keys until it has recycled so often, and a few of the next cycle. */
static void fill(struct tepal_filter *f, uint64_t until, uint64_t *state)
{
    uint64_t few = tepal_filter_params(f)->cells / 32 + 1;
    uint64_t done = cycles(f);
    while (done < until || few-- > 0) {
        uint64_t before = tepal_filter_ones(f);
        assert_ok(tepal_filter_add(f, check_digest(state)));
        done += tepal_filter_ones(f) < before; /* cheaper than the figures */
    }
    assert_int_equal(cycles(f), done);
}

/* The words of the oldest phase. */
static const uint64_t *oldest(const struct tepal_filter *f, size_t *count)
{
    size_t all;
    const uint64_t *words = tepal_filter_words(f, &all);
    uint64_t phases = tepal_filter_params(f)->recycling.phases;
    *count = all / phases;
    return words + (cycles(f) + 1) % phases * *count;
}

static uint64_t ones_of(const uint64_t *words, size_t count)
{
    uint64_t ones = 0;
    for (size_t i = 0; i < 64 * count; i++) {
        ones += words[i / 64] >> i % 64 & 1;
    }
    return ones;
}

/* The rate of new keys, phase by phase, from the bits that are set. */
static double plain_rate(const struct tepal_filter *f)
{
    const struct tepal_params *p = tepal_filter_params(f);
    double miss = 1;
    for (uint32_t age = 0; age < p->recycling.phases; age++) {
        uint64_t ones = phase_ones(f, age);
        miss *= 1 - tepal_recycling_rate(p->layout, p->positions, p->cells, ones, p->hashes);
    }
    return 1 - miss;
}

static void check_figures(const struct tepal_filter *f)
{
    uint32_t last = (uint32_t)tepal_filter_params(f)->recycling.phases - 1;
    size_t count;
    const uint64_t *words = oldest(f, &count);
    assert_int_equal(phase_ones(f, last), ones_of(words, count));
    double rate = plain_rate(f);
    assert_true(fabs(recycling_figures(f).fp_now - rate) <= 1e-12);
    assert_true(fabs(tepal_filter_fp_now(f) - rate) <= 1e-12);
    assert_ok(tepal_filter_validate(f, NULL));
}

/*
 * One step: the first bytes of the phase are clear, all others as before. The twin has not been
 * cleared; it is asked for what nobody may forget.
 */
static void check_step(struct tepal_filter *f, const struct tepal_filter *twin, uint64_t bytes,
                       uint64_t *left)
{
    size_t count;
    size_t words;
    uint64_t now = UINT64_MAX;
    assert_ok(tepal_recycling_clear_ahead(f, bytes, &now));
    const uint64_t *mine = oldest(f, &count);
    const uint64_t *whole = oldest(twin, &words);
    /* No more than it may, rounded up to words; unless nothing was set in the rest of it. */
    bool clear = ones_of(whole + (count - *left / 8), (size_t)*left / 8) == 0;
    assert_true(now <= *left && (*left - now < bytes || *left - now < bytes + 8 || clear));
    assert_true(now < *left || *left == 0);
    *left = now;
    assert_int_equal(count, words);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(mine[i], i < count - now / 8 ? 0 : whole[i]);
    }
    const uint64_t *base = tepal_filter_words(f, &words);
    const uint64_t *other = tepal_filter_words(twin, &words);
    for (size_t i = 0; i < words; i++) {
        bool in_oldest = base + i >= mine && base + i < mine + count;
        assert_true(in_oldest || base[i] == other[i]);
    }
    check_figures(f);
}

static void steps_are_as_good_as_one(void **unused)
{
    static const uint64_t sizes[] = {1, 9, 64, BYTES, UINT64_MAX};
    (void)unused;
    for (size_t i = 0; i < COUNT(settings); i++) {
        for (size_t j = 0; j < COUNT(sizes); j++) {
            struct tepal_filter *f = make(&settings[i]);
            uint64_t state = i;
            fill(f, settings[i].phases + 1, &state);
            struct tepal_filter *twin = clone(f);
            uint64_t left = tepal_params_cell_bytes(tepal_filter_params(f)) / settings[i].phases;
            assert_ok(tepal_recycling_clear_ahead(f, 0, &left));
            while (left > 0) {
                check_step(f, twin, sizes[j], &left);
            }
            check_step(f, twin, sizes[j], &left); /* nothing is left to do */
            assert_ok(tepal_recycling_clear_ahead(f, 1, NULL));
            assert_ok(tepal_recycling_recycle(f));
            assert_ok(tepal_recycling_recycle(twin));
            assert_true(tepal_filter_equal(f, twin));
            check_figures(f);
            assert_int_equal(phase_ones(f, 0), 0);
            tepal_filter_free(twin);
            tepal_filter_free(f);
        }
    }
}

/* Half of it is clear when it recycles by itself: the rest is cleared then, and all goes on. */
static void a_part_is_enough(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(settings); i++) {
        struct tepal_filter *f = make(&settings[i]);
        uint64_t state = 50 + i;
        for (uint64_t cycle = 0; cycle < 3 * settings[i].phases; cycle++) {
            uint64_t left;
            fill(f, cycle, &state);
            struct tepal_filter *twin = clone(f);
            uint64_t both = state;
            assert_ok(tepal_recycling_clear_ahead(f, settings[i].cells / 16, &left));
            assert_true(cycle + 1 >= settings[i].phases || left == 0); /* it was never used */
            check_figures(f);
            assert_ok(tepal_recycling_recycle(f));
            assert_ok(tepal_recycling_recycle(twin));
            assert_true(tepal_filter_equal(f, twin));
            fill(f, cycle + 1, &state);
            fill(twin, cycle + 1, &both);
            assert_true(tepal_filter_equal(f, twin));
            check_figures(f);
            tepal_filter_free(twin);
        }
        tepal_filter_free(f);
    }
}

/* Keys whose phase is not the oldest are found as before; of the oldest, none that was not. */
static void others_are_not_forgotten(void **unused)
{
    static struct tepal_digest keys[KEYS];
    static uint64_t phase[KEYS];
    static bool stored[KEYS];
    (void)unused;
    for (size_t i = 0; i < COUNT(settings); i++) {
        struct tepal_filter *f = make(&settings[i]);
        uint64_t phases = settings[i].phases;
        uint64_t state = 90 + i;
        uint64_t left = 1;
        size_t count = 0;
        while (cycles(f) < phases + 2 && count < KEYS) {
            bool seen;
            keys[count] = check_digest(&state);
            assert_ok(tepal_filter_test_add(f, keys[count], &seen));
            stored[count] = !(seen && settings[i].only_misses);
            phase[count++] = cycles(f);
        }
        uint64_t now = cycles(f);
        struct tepal_filter *twin = clone(f);
        while (left > 0) {
            assert_ok(tepal_recycling_clear_ahead(f, 16, &left));
            for (size_t k = 0; k < count; k++) {
                bool found = tepal_filter_query(f, keys[k]);
                bool before = tepal_filter_query(twin, keys[k]);
                bool newer = stored[k] && phase[k] + phases - 1 > now;
                assert_true(newer ? found == before : found <= before);
            }
        }
        tepal_filter_free(twin);
        tepal_filter_free(f);
    }
}

/* Saved, loaded or cloned in the middle: what was cleared stays so, and it may begin anew. */
static void saved_in_the_middle(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(settings); i++) {
        struct tepal_filter *f = make(&settings[i]);
        struct tepal_filter *loaded = NULL;
        uint64_t state = 30 + i;
        uint64_t left;
        size_t len;
        fill(f, settings[i].phases, &state);
        assert_ok(tepal_recycling_clear_ahead(f, settings[i].cells / 20, &left));
        uint8_t *bytes = encoded(f, &len);
        assert_ok(tepal_decode(bytes, len, NULL, &loaded, NULL));
        assert_true(tepal_filter_equal(loaded, f));
        check_figures(loaded);
        struct tepal_filter *copy = clone(f);
        check_figures(copy);
        assert_ok(tepal_recycling_clear_ahead(loaded, UINT64_MAX, &left));
        assert_int_equal(left, 0);
        check_figures(loaded);
        uint64_t each[3] = {state, state, state};
        fill(f, settings[i].phases + 2, &each[0]);
        fill(loaded, settings[i].phases + 2, &each[1]);
        fill(copy, settings[i].phases + 2, &each[2]);
        if (!settings[i].only_misses) { /* else what was forgotten is inserted again */
            assert_true(each[0] == each[1] && tepal_filter_equal(loaded, f));
        }
        assert_true(tepal_filter_equal(copy, f));
        check_figures(f);
        free(bytes);
        tepal_filter_free(copy);
        tepal_filter_free(loaded);
        tepal_filter_free(f);
    }
}

/* Clearing the whole filter in the middle forgets how far it had come. */
static void cleared_in_the_middle(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(settings); i++) {
        struct tepal_filter *f = make(&settings[i]);
        struct tepal_filter *fresh = make(&settings[i]);
        uint64_t each[2] = {i, i};
        uint64_t state = 70 + i;
        uint64_t left;
        fill(f, settings[i].phases, &state);
        assert_ok(tepal_recycling_clear_ahead(f, settings[i].cells / 20, &left));
        assert_ok(tepal_filter_clear(f));
        check_figures(f);
        fill(f, settings[i].phases + 2, &each[0]);
        fill(fresh, settings[i].phases + 2, &each[1]);
        assert_true(tepal_filter_equal(f, fresh));
        check_figures(f);
        tepal_filter_free(fresh);
        tepal_filter_free(f);
    }
}

static void refusals(void **unused)
{
    const struct setting alone = {TEPAL_LAYOUT_FLAT, CELLS, 1, false};
    char path[] = "/tmp/tepal-clear-XXXXXX";
    struct tepal_filter *f = make(&alone);
    struct tepal_filter *view = NULL;
    uint64_t state = 1;
    uint64_t left = 99;
    (void)unused;
    fill(f, 1, &state);
    struct tepal_filter *before = clone(f);
    assert_int_equal(tepal_recycling_clear_ahead(f, 8, &left), TEPAL_UNSUPPORTED);
    assert_true(left == 99 && tepal_filter_equal(f, before));
    tepal_filter_free(before);
    tepal_filter_free(f);
    f = make(&settings[0]);
    fill(f, 3, &state);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    assert_ok(tepal_save(f, path, NULL));
    for (int check = TEPAL_MAP_VERIFY; check <= TEPAL_MAP_LAZY; check++) {
        assert_ok(tepal_map(path, (enum tepal_map_check)check, NULL, &view, NULL));
        assert_int_equal(tepal_recycling_clear_ahead(view, 8, &left), TEPAL_READ_ONLY);
        assert_true(left == 99 && tepal_filter_equal(f, view));
        tepal_filter_free(view);
    }
    (void)unlink(path);
    tepal_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_as_good_as_one), cmocka_unit_test(a_part_is_enough),
        cmocka_unit_test(others_are_not_forgotten), cmocka_unit_test(saved_in_the_middle),
        cmocka_unit_test(cleared_in_the_middle),    cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
