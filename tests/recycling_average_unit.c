/*
 * recycling_average_unit.c: recycling filters that keep an average, against a naive one that counts
 * everything afresh for every arrival; what they tell, against all messages that there can be;
 * batches, files, cleared phases and long histories; and what must be refused.
 */
/* An account of its own: what the library does on machines without this type has wide_unit.c. */
__extension__ typedef unsigned __int128 wide_u;
__extension__ typedef __int128 wide_s;

#define _GNU_SOURCE
#include <tepal/papers.h>

#include "file_help.h"
#include "recycling_help.h"

#include <unistd.h>

#include "address/address.h"
#include "base/wide.h"
#include "filter/recycling/internal.h"

#define CELLS 512
#define WORDS 5 /* behind the cells: two sums of two words, and the arrivals of the cycle */

static struct tepal_params params_of(enum tepal_layout layout, enum tepal_positions positions,
                                     uint32_t phases, double fp)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct recycling_options options = RECYCLING_OPTIONS_INIT;
    bool lined = tepal_layout_in_lines(layout);
    p.layout = layout;
    p.positions = positions;
    p.hashes = 4;
    p.cells = lined ? 4 * CELLS : 300;
    p.seed = 5;
    options.phases = phases;
    options.rule = TEPAL_RECYCLING_AVERAGE;
    options.limit = (uint64_t)(fp * 0x1p64);
    set_recycling(&p, &options);
    return p;
}

static struct tepal_filter *make(const struct tepal_params *p)
{
    struct tepal_filter *f = NULL;
    assert_ok(tepal_filter_create(p, NULL, &f, NULL));
    return f;
}

/* A stream in which two thirds of the messages are repeats, near and far. */
static struct tepal_digest message(uint64_t *random)
{
    uint64_t r = check_random(random);
    uint64_t pick = r % 3 != 0 ? check_random(random) % (r & 4 ? 20 : 600) : check_random(random);
    return check_digest(&pick);
}

static void feed(struct tepal_filter *f, uint64_t *random, int count)
{
    for (int i = 0; i < count; i++) {
        assert_ok(tepal_filter_add(f, message(random)));
    }
}

static const uint64_t *sums_of(const struct tepal_filter *f)
{
    size_t count;
    const uint64_t *words = tepal_filter_words(f, &count);
    return words + count - WORDS;
}

static wide_u told_of(const struct tepal_filter *f)
{
    return (wide_u)sums_of(f)[1] << 64 | sums_of(f)[0];
}

/* The same cells, sums and states. */
static bool same(const struct tepal_filter *a, const struct tepal_filter *b)
{
    size_t len;
    size_t other;
    uint8_t *bytes = encoded(a, &len);
    uint8_t *bytes_b = encoded(b, &other);
    bool equal = len == other && memcmp(bytes, bytes_b, len) == 0;
    free(bytes);
    free(bytes_b);
    return equal;
}

/* ---- the naive filter, flat ------------------------------------------------------------------ */

struct naive {
    struct tepal_params params;
    bool bit[TEPAL_MAX_PHASES][CELLS]; /* by age */
    uint64_t cycles, arrivals, cycle_arrivals;
    wide_u told, cycle;
};

static uint64_t naive_rate(const struct naive *n, uint64_t ones)
{
    uint64_t rate = UINT64_MAX;
    for (uint64_t i = 0; i < n->params.hashes; i++) {
        uint64_t less = n->params.positions == TEPAL_POSITIONS_DISTINCT ? i : 0;
        uint64_t have = ones > less ? ones - less : 0;
        uint64_t of = n->params.cells - less;
        uint64_t share = have == of ? UINT64_MAX : (uint64_t)(((wide_u)have << 64) / of);
        rate = i == 0 ? share : (uint64_t)((wide_u)rate * share >> 64);
    }
    return rate;
}

/* Cells set in all the phases of these ages. */
static uint64_t naive_count(const struct naive *n, uint64_t first, uint64_t last)
{
    uint64_t ones = 0;
    for (uint64_t i = 0; i < n->params.cells; i++) {
        bool set = true;
        for (uint64_t age = first; age <= last; age++) {
            set = set && n->bit[age][i];
        }
        ones += set;
    }
    return ones;
}

static uint64_t naive_told(const struct naive *n)
{
    wide_s told = 0;
    for (uint64_t age = 0; age < n->params.recycling.phases; age++) {
        told += naive_rate(n, naive_count(n, age, age));
        told -= age > 0 ? naive_rate(n, naive_count(n, age - 1, age)) : 0;
    }
    return told > UINT64_MAX ? UINT64_MAX : (uint64_t)told;
}

static bool naive_full(const struct naive *n, uint64_t now)
{
    wide_s f = n->params.recycling.limit;
    wide_s error = (wide_s)n->told - (wide_s)n->arrivals * f;
    wide_s next = n->cycle_arrivals + 1;
    wide_s owed = error / next;
    owed = owed > f / 2 ? f / 2 : owed;
    owed = owed < -(f / 2) ? -(f / 2) : owed;
    wide_s least = f - owed - (wide_s)(n->params.recycling.phases - 1) * now;
    return least <= 0 || (wide_s)n->cycle >= least * (next - 1);
}

static bool naive_seen(struct naive *n, struct tepal_digest d)
{
    struct address at = tepal_address_of(&n->params, 1);
    uint64_t phases = n->params.recycling.phases;
    uint64_t positions[TEPAL_MAX_HASHES];
    bool with[CELLS];
    bool seen = false;
    uint32_t k = tepal_address_positions(&at, d, positions);
    for (uint64_t age = 0; age < phases; age++) {
        bool all = true;
        for (uint32_t i = 0; i < k; i++) {
            all = all && n->bit[age][positions[i]];
        }
        seen = seen || all;
    }
    n->arrivals++;
    n->cycle_arrivals++;
    n->told += naive_told(n);
    n->cycle += naive_rate(n, naive_count(n, 0, 0));
    memcpy(with, n->bit[0], sizeof with);
    uint64_t ones = naive_count(n, 0, 0);
    for (uint32_t i = 0; i < k; i++) {
        ones += !with[positions[i]];
        with[positions[i]] = true;
    }
    if (!naive_full(n, naive_rate(n, ones))) {
        memcpy(n->bit[0], with, sizeof with);
        return seen;
    }
    memmove(n->bit[1], n->bit[0], (TEPAL_MAX_PHASES - 1) * sizeof n->bit[0]);
    memset(n->bit[0], 0, sizeof n->bit[0]);
    for (uint32_t i = 0; i < k; i++) {
        n->bit[0][positions[i]] = true;
    }
    n->cycles++;
    n->cycle = 0;
    n->cycle_arrivals = 0;
    return seen;
}

static void it_is_the_naive_filter(void **unused)
{
    (void)unused;
    static struct naive n;
    for (uint32_t variant = 0; variant < 2 * TEPAL_MAX_PHASES; variant++) {
        uint32_t phases = 1 + variant / 2;
        struct tepal_params p = params_of(
            TEPAL_LAYOUT_FLAT, variant % 2 ? TEPAL_POSITIONS_DISTINCT : TEPAL_POSITIONS_COLLIDING,
            phases, 0.05);
        struct tepal_filter *f = make(&p);
        uint64_t random = variant;
        memset(&n, 0, sizeof n);
        n.params = p;
        for (int i = 0; i < 2000; i++) {
            struct tepal_digest d = message(&random);
            bool seen;
            assert_ok(tepal_filter_test_add(f, d, &seen));
            assert_int_equal(seen, naive_seen(&n, d));
            if (i % 50 == 0) {
                for (uint32_t age = 0; age < phases; age++) {
                    assert_int_equal(phase_ones(f, age), naive_count(&n, age, age));
                }
                assert_true(told_of(f) == n.told);
                assert_int_equal(sums_of(f)[2], (uint64_t)n.cycle);
                assert_int_equal(sums_of(f)[3], (uint64_t)(n.cycle >> 64));
                assert_int_equal(sums_of(f)[4], n.cycle_arrivals);
                double now = (double)naive_told(&n) * 0x1p-64;
                assert_true(fabs(recycling_figures(f).fp_now - now) <= 1e-12);
            }
        }
        struct tepal_recycling_figures figures = recycling_figures(f);
        assert_int_equal(figures.cycles, n.cycles);
        assert_true(n.cycles > phases);
        double mean = (double)n.told / (double)n.arrivals * 0x1p-64;
        assert_true(fabs(figures.fp_so_far - mean) <= 1e-12);
        assert_true(fabs(info_real(f, "fp_so_far") - mean) <= 1e-12);
        assert_true(fabs(info_real(f, "fp_average") - 0.05) <= 1e-12);
        assert_ok(tepal_filter_validate(f, NULL));
        tepal_filter_free(f);
    }
}

/* ---- what it tells --------------------------------------------------------------------------- */

/* The share of all pairs of positions that some phase has set: every new message of two hashes. */
static double found_of_all(const struct tepal_filter *f)
{
    const struct tepal_params *p = tepal_filter_params(f);
    size_t count;
    const uint64_t *words = tepal_filter_words(f, &count);
    size_t each = (count - WORDS) / p->recycling.phases;
    bool distinct = p->positions == TEPAL_POSITIONS_DISTINCT;
    double found = 0;
    for (uint64_t i = 0; i < p->cells; i++) {
        for (uint64_t j = 0; j < p->cells; j++) {
            bool any = false;
            for (uint64_t phase = 0; phase < p->recycling.phases; phase++) {
                const uint64_t *at = words + phase * each;
                any = any || ((at[i / 64] >> i % 64 & 1) != 0 && (at[j / 64] >> j % 64 & 1) != 0);
            }
            found += any && !(distinct && i == j);
        }
    }
    double cells = (double)p->cells;
    return found / (distinct ? cells * (cells - 1) : cells * cells);
}

static void it_knows_its_own_risk(void **unused)
{
    (void)unused;
    for (uint32_t phases = 1; phases <= TEPAL_MAX_PHASES; phases++) {
        for (int positions = 0; positions < 2; positions++) {
            struct tepal_params p =
                params_of(TEPAL_LAYOUT_FLAT, (enum tepal_positions)positions, phases, 0.2);
            p.hashes = 2;
            p.cells = 150;
            struct tepal_filter *f = make(&p);
            uint64_t random = phases;
            double gap = 0;
            for (int i = 0; i < 40; i++) {
                feed(f, &random, 25);
                double truth = found_of_all(f);
                double told = recycling_figures(f).fp_now;
                assert_true(phases > 2 ? told >= truth - 1e-12 : fabs(told - truth) <= 1e-12);
                gap += told - truth;
                if (i % 10 == 9 && phases > 1) { /* cleared in part, it is the same */
                    assert_ok(tepal_recycling_clear_ahead(f, 8, NULL));
                    truth = found_of_all(f);
                    told = recycling_figures(f).fp_now;
                    assert_true(phases > 2 ? told >= truth - 1e-12 : fabs(told - truth) <= 1e-12);
                }
            }
            assert_true(gap / 40 < 0.1); /* the bound is not an empty one */
            assert_true(recycling_figures(f).cycles > 3);
            tepal_filter_free(f);
        }
    }
}

/* The figure, from the bits that are set. */
static void other_layouts_tell_by_the_table(void **unused)
{
    (void)unused;
    for (int layout = 0; layout < 4; layout++) {
        struct tepal_params p =
            params_of((enum tepal_layout)layout, TEPAL_POSITIONS_COLLIDING, 2, 0.05);
        p.cells = 4 * CELLS;
        struct tepal_filter *f = make(&p);
        uint64_t random = 17;
        double sum = 0;
        for (int i = 0; i < 3000; i++) {
            sum += tepal_filter_fp_now(f);
            feed(f, &random, 1);
        }
        double told = recycling_figures(f).fp_so_far;
        assert_true(fabs(told * 3000 - sum) <= 0.01 * sum);
        assert_true(fabs(told - 0.05) < 0.005);
        assert_true(recycling_figures(f).cycles > 3);
        tepal_filter_free(f);
    }
}

/* ---- batches, files, copies ------------------------------------------------------------------ */

static void batches_answer_as_one_by_one(void **unused)
{
    (void)unused;
    static struct tepal_digest stream[3000];
    for (uint32_t variant = 0; variant < 32; variant++) {
        struct tepal_params p =
            params_of((enum tepal_layout)(variant % 4), (enum tepal_positions)(variant / 4 % 2),
                      1 + variant / 4, 0.02);
        struct tepal_filter *one = make(&p);
        struct tepal_filter *many = make(&p);
        uint64_t random = variant;
        uint64_t answers[8];
        for (size_t i = 0; i < COUNT(stream); i++) {
            stream[i] = message(&random);
        }
        size_t length;
        for (size_t at = 0; at < COUNT(stream); at += length) {
            size_t seen;
            length = 1 + check_random(&random) % 400;
            length = length < COUNT(stream) - at ? length : COUNT(stream) - at;
            assert_ok(tepal_filter_test_add_many(many, stream + at, length, answers, &seen));
            for (size_t i = 0; i < length; i++) {
                bool yes;
                assert_ok(tepal_filter_test_add(one, stream[at + i], &yes));
                assert_int_equal(yes, answers[i / 64] >> i % 64 & 1);
                seen -= yes;
            }
            assert_int_equal(seen, 0);
        }
        assert_true(same(one, many));
        assert_true(recycling_figures(one).cycles > 0);
        tepal_filter_free(one);
        tepal_filter_free(many);
    }
}

static void saved_in_the_middle_it_goes_on(void **unused)
{
    (void)unused;
    for (uint32_t variant = 0; variant < 32; variant++) {
        struct tepal_params p = params_of((enum tepal_layout)(variant % 4),
                                          TEPAL_POSITIONS_COLLIDING, 1 + variant / 4, 0.02);
        struct tepal_filter *f = make(&p);
        struct tepal_filter *loaded = NULL;
        struct tepal_filter *copy = NULL;
        struct tepal_filter *view = NULL;
        uint64_t random = variant;
        char path[] = "/tmp/tepal-average-XXXXXX";
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        (void)close(fd);
        feed(f, &random, 1500);
        assert_ok(tepal_save(f, path, NULL));
        assert_ok(tepal_load(path, NULL, &loaded, NULL));
        assert_ok(tepal_map(path, TEPAL_MAP_LAZY, NULL, &view, NULL));
        assert_ok(tepal_filter_clone(view, NULL, &copy, NULL));
        struct tepal_recycling_figures now = recycling_figures(f);
        struct tepal_recycling_figures there = recycling_figures(view);
        assert_memory_equal(&now, &there, sizeof now);
        uint64_t each[3] = {random, random, random};
        feed(f, &each[0], 2000);
        feed(loaded, &each[1], 2000);
        feed(copy, &each[2], 2000);
        assert_true(same(f, loaded) && same(f, copy));
        assert_true(recycling_figures(f).cycles > now.cycles);
        assert_ok(tepal_filter_clear(f));
        struct tepal_filter *fresh = make(&p);
        assert_true(same(f, fresh));
        feed(f, &each[0], 500);
        feed(fresh, &each[1], 500);
        assert_true(same(f, fresh));
        (void)unlink(path);
        tepal_filter_free(fresh);
        tepal_filter_free(view);
        tepal_filter_free(copy);
        tepal_filter_free(loaded);
        tepal_filter_free(f);
    }
}

/* After 10^12 arrivals that had just their share, all goes on as with the first. */
static void sums_are_exact(void **unused)
{
    (void)unused;
    const uint64_t many = UINT64_C(1000000000000);
    struct tepal_params p =
        params_of(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 2, 0.012345678901234);
    struct tepal_filter *fresh = make(&p);
    struct tepal_filter *old = NULL;
    uint64_t each[2] = {3, 3};
    size_t len;
    uint8_t *bytes = encoded(fresh, &len);
    size_t payload = (size_t)tepal_params_cell_bytes(&p);
    wide_u before = (wide_u)many * p.recycling.limit;
    little_put64(bytes + 64, many);
    little_put64(bytes + 256 + payload - 8 * WORDS, (uint64_t)before);
    little_put64(bytes + 256 + payload - 8 * WORDS + 8, (uint64_t)(before >> 64));
    header_resum(bytes);
    blocks_resum(bytes, payload);
    assert_ok(tepal_decode(bytes, len, NULL, &old, NULL));
    feed(fresh, &each[0], 5000);
    feed(old, &each[1], 5000);
    assert_true(told_of(old) == told_of(fresh) + before);
    size_t count;
    const uint64_t *words = tepal_filter_words(fresh, &count);
    assert_memory_equal(words, tepal_filter_words(old, &count), 8 * (count - WORDS));
    assert_true(fabs(recycling_figures(old).fp_so_far / 0.012345678901234 - 1) < 1e-9);
    free(bytes);
    tepal_filter_free(fresh);
    tepal_filter_free(old);
}

/* ---- phases by hand -------------------------------------------------------------------------- */

/* Cleared in steps, the account is that of the bits that are left: a clone counts them afresh. */
static void cleared_ahead(void **unused)
{
    (void)unused;
    for (uint32_t variant = 0; variant < 28; variant++) {
        struct tepal_params p = params_of((enum tepal_layout)(variant % 4),
                                          TEPAL_POSITIONS_COLLIDING, 2 + variant / 4, 0.05);
        struct tepal_filter *f = make(&p);
        uint64_t random = variant;
        uint64_t left = 1;
        feed(f, &random, 2500);
        while (left > 0) {
            struct tepal_filter *counted = NULL;
            double before = recycling_figures(f).fp_now;
            assert_ok(tepal_recycling_clear_ahead(f, 24, &left));
            assert_ok(tepal_filter_clone(f, NULL, &counted, NULL));
            double now = recycling_figures(f).fp_now;
            assert_true(now == recycling_figures(counted).fp_now && now <= before + 1e-12);
            uint64_t both = random;
            feed(counted, &both, 3);
            feed(f, &random, 3);
            assert_true(same(f, counted));
            tepal_filter_free(counted);
        }
        assert_ok(tepal_recycling_recycle(f));
        assert_int_equal(phase_ones(f, 0), 0);
        assert_int_equal(sums_of(f)[4], 0);
        feed(f, &random, 500);
        assert_ok(tepal_filter_validate(f, NULL));
        tepal_filter_free(f);
    }
}

/*
 * Filled by another rule, then by average: the phases are the same and go on, and the rate is kept
 * from there on, whatever it was before.
 */
static void from_another_rule(void **unused)
{
    (void)unused;
    for (uint32_t variant = 0; variant < 24; variant++) {
        struct tepal_params p = params_of((enum tepal_layout)(variant % 4),
                                          TEPAL_POSITIONS_COLLIDING, 1 + variant / 4 % 3, 0.02);
        uint64_t rule = variant % 3;
        struct tepal_filter *out = NULL;
        uint64_t random = variant;
        p.recycling.rule = rule;
        p.recycling.limit = rule == TEPAL_RECYCLING_SIGMA ? p.cells * 3 / 4 : p.cells / 10;
        struct tepal_filter *f = make(&p);
        feed(f, &random, 200 * (int)(variant % 5));
        assert_ok(tepal_recycling_by_average(f, 0.02, NULL, &out, NULL));
        assert_ok(tepal_filter_validate(out, NULL));
        struct tepal_recycling_figures was = recycling_figures(f);
        struct tepal_recycling_figures is = recycling_figures(out);
        size_t count;
        size_t more;
        const uint64_t *words = tepal_filter_words(f, &count);
        assert_memory_equal(words, tepal_filter_words(out, &more), 8 * count);
        assert_int_equal(more, count + WORDS);
        assert_true(was.cycles == is.cycles && was.ones == is.ones && was.messages == is.messages);
        assert_int_equal(is.arrivals, was.messages);
        assert_true(is.messages == 0 || fabs(is.fp_so_far - 0.02) < 1e-12);
        struct tepal_filter *clone = NULL; /* and it is one that can be copied, saved and loaded */
        assert_ok(tepal_filter_clone(out, NULL, &clone, NULL));
        uint64_t each[2] = {random, random};
        feed(out, &each[0], 20000);
        feed(clone, &each[1], 20000);
        assert_true(same(out, clone));
        assert_true(recycling_figures(out).cycles > was.cycles);
        assert_true(fabs(recycling_figures(out).fp_so_far - 0.02) < 0.0005);
        tepal_filter_free(clone);
        tepal_filter_free(out);
        tepal_filter_free(f);
    }
    struct tepal_params p = params_of(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 2, 0.02);
    struct tepal_filter *f = make(&p);
    struct tepal_filter *out = NULL;
    static const double rates[] = {0, 1, -1, NAN, 1e-30};
    for (size_t i = 0; i < COUNT(rates); i++) {
        struct tepal_error error = {.why = ""};
        enum tepal_status status = tepal_recycling_by_average(f, rates[i], NULL, &out, &error);
        assert_int_equal(status, i < 4 ? TEPAL_BAD_ARGUMENT : TEPAL_BAD_PARAMETER);
        check_error(&error, status);
    }
    for (unsigned n = 1; n <= 2; n++) {
        struct memory m = {.fail_at = n};
        struct tepal_allocator allocator = memory_allocator(&m);
        assert_int_equal(tepal_recycling_by_average(f, 0.1, &allocator, &out, NULL),
                         TEPAL_NO_MEMORY);
        assert_int_equal(m.live, 0);
    }
    assert_null(out);
    tepal_filter_free(f);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void bad_parameters(void **unused)
{
    (void)unused;
    struct tepal_params good = params_of(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 2, 0.01);
    assert_ok(tepal_params_check(&good, NULL));
    for (uint64_t flags = 0; flags < 9; flags++) {
        struct tepal_params p = good;
        struct tepal_error error = {.why = ""};
        p.recycling.flags = flags;
        if (flags != TEPAL_RECYCLING_RETAIN) {
            assert_int_equal(tepal_params_check(&p, &error), TEPAL_BAD_PARAMETER);
            check_error(&error, TEPAL_BAD_PARAMETER);
        }
    }
    struct tepal_params p = good;
    p.recycling.limit = 0;
    assert_int_equal(tepal_params_check(&p, NULL), TEPAL_BAD_PARAMETER);
    p.recycling.limit = UINT64_MAX;
    assert_ok(tepal_params_check(&p, NULL));
    p.recycling.rule = TEPAL_RECYCLING_AVERAGE + 1;
    assert_int_equal(tepal_params_check(&p, NULL), TEPAL_BAD_PARAMETER);
}

/* Rates that cannot be kept or are always kept: it recycles at every arrival, or never. */
static void extreme_rates(void **unused)
{
    (void)unused;
    for (uint32_t variant = 0; variant < 16; variant++) {
        struct tepal_params p = params_of((enum tepal_layout)(variant % 4),
                                          TEPAL_POSITIONS_COLLIDING, 1 + variant / 4, 0.5);
        uint64_t random = 1;
        p.recycling.limit = 1;
        struct tepal_filter *f = make(&p);
        for (int i = 0; i < 300; i++) {
            struct tepal_digest d = message(&random);
            assert_ok(tepal_filter_add(f, d));
            assert_true(tepal_filter_query(f, d));
        }
        assert_true(recycling_figures(f).cycles > 100);
        assert_ok(tepal_filter_validate(f, NULL));
        tepal_filter_free(f);
        p.recycling.limit = UINT64_MAX;
        f = make(&p);
        feed(f, &random, 3000);
        struct tepal_recycling_figures now = recycling_figures(f);
        assert_true(now.fp_so_far >= 0 && now.fp_so_far <= 1 && now.fp_now <= 1);
        assert_ok(tepal_filter_validate(f, NULL));
        tepal_filter_free(f);
    }
}

/* The words behind the cells, with checksums that are right. */
static void lies_about_the_sums(void **unused)
{
    (void)unused;
    struct tepal_params p = params_of(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 3, 0.02);
    struct tepal_filter *f = make(&p);
    uint64_t random = 9;
    size_t len;
    feed(f, &random, 1000);
    uint8_t *good = encoded(f, &len);
    size_t payload = (size_t)tepal_params_cell_bytes(&p);
    static const struct {
        size_t at; /* a word behind the cells; 100 and up: a byte of the header */
        uint64_t value;
        bool bad;
    } lies[] = {
        {0, UINT64_MAX, false}, {1, 1000, true},        {1, 999, false},
        {1, UINT64_MAX, true},  {3, 1000, true},        {3, UINT64_MAX, true},
        {4, 1001, true},        {4, 0, true},           {4, UINT64_MAX, true},
        {4, 1000, false},       {136 + 8 * 4, 1, true}, {64, 5, true},
    };
    for (size_t i = 0; i < COUNT(lies); i++) {
        uint8_t *bytes = copied(good, len);
        struct tepal_filter *out = NULL;
        size_t sums = 256 + payload - 8 * WORDS;
        little_put64(bytes + (lies[i].at < WORDS ? sums + 8 * lies[i].at : lies[i].at),
                     lies[i].value);
        header_resum(bytes);
        blocks_resum(bytes, payload);
        enum tepal_status status = tepal_decode(bytes, len, NULL, &out, NULL);
        assert_int_equal(status, lies[i].bad ? TEPAL_CORRUPT : TEPAL_OK);
        if (!lies[i].bad) {
            feed(out, &random, 500);
            assert_ok(tepal_filter_validate(out, NULL));
            assert_true(recycling_figures(out).fp_so_far <= 1);
            tepal_filter_free(out);
        }
        little_put64(bytes + sums, 7); /* damaged: the checksum notices */
        assert_int_not_equal(tepal_decode(bytes, len, NULL, &out, NULL), TEPAL_OK);
        free(bytes);
    }
    free(good);
    tepal_filter_free(f);
}

/* Where counting ends it ends, and the filter stays one that can be loaded. */
static void the_end_of_counting(void **unused)
{
    (void)unused;
    struct tepal_params p = params_of(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 2, 0.02);
    struct tepal_filter *f = make(&p);
    struct tepal_filter *out = NULL;
    uint64_t random = 9;
    uint64_t answers[16];
    struct tepal_digest digests[1000];
    size_t len;
    size_t seen;
    uint8_t *bytes = encoded(f, &len);
    size_t payload = (size_t)tepal_params_cell_bytes(&p);
    little_put64(bytes + 64, ((uint64_t)1 << 62) - 100);
    header_resum(bytes);
    blocks_resum(bytes, payload);
    assert_ok(tepal_decode(bytes, len, NULL, &out, NULL));
    check_digests(&random, digests, COUNT(digests));
    assert_ok(tepal_filter_test_add_many(out, digests, COUNT(digests), answers, &seen));
    assert_ok(tepal_filter_validate(out, NULL));
    tepal_filter_free(f);
    assert_ok(tepal_filter_clone(out, NULL, &f, NULL));
    assert_ok(tepal_filter_test_add_many(out, digests, COUNT(digests), answers, &seen));
    assert_ok(tepal_filter_test_add_many(f, digests, COUNT(digests), answers, &seen));
    assert_true(same(f, out));
    free(bytes);
    tepal_filter_free(out);
    tepal_filter_free(f);
}

static void sized_by_the_rate(void **unused)
{
    (void)unused;
    static const double rates[] = {0.1, 0.01, 1e-4, 1e-9};
    for (int layout = 0; layout < 4; layout++) {
        for (size_t i = 0; i < COUNT(rates); i++) {
            struct tepal_params p = TEPAL_PARAMS_INIT;
            struct tepal_params sigma;
            p.kind = TEPAL_KIND_RECYCLING;
            p.layout = (enum tepal_layout)layout;
            p.cells = 1 << 17;
            sigma = p;
            p.recycling.rule = TEPAL_RECYCLING_AVERAGE;
            enum tepal_status status = tepal_params_for_rate(&p, 0, rates[i], NULL);
            assert_int_equal(status, tepal_params_for_rate(&sigma, 0, rates[i], NULL));
            if (status == TEPAL_OK) {
                assert_int_equal(p.hashes, sigma.hashes);
                assert_int_equal(p.recycling.phases, 2);
                assert_int_equal(p.recycling.flags, TEPAL_RECYCLING_RETAIN);
                assert_int_equal(p.recycling.limit, (uint64_t)(rates[i] * 0x1p64));
                tepal_filter_free(make(&p));
            }
        }
    }
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.kind = TEPAL_KIND_RECYCLING;
    p.cells = 1 << 17;
    p.recycling.rule = TEPAL_RECYCLING_TIME;
    assert_int_equal(tepal_params_for_rate(&p, 0, 0.01, NULL), TEPAL_BAD_ARGUMENT);
    p.recycling.rule = TEPAL_RECYCLING_AVERAGE;
    p.recycling.phases = 1; /* and not retained */
    assert_int_equal(tepal_params_for_rate(&p, 0, 0.01, NULL), TEPAL_BAD_PARAMETER);
}

/*
 * Messages that are known not to be the trigger are not asked, and the loops over lines keep their
 * own account: the same answers, cells, sums and cycles as if each message were decided exactly.
 */
static void looking_ahead_decides_the_same(void **state)
{
    (void)state;
    enum { MESSAGES = 30000, PIECE = 3000 };
    static struct tepal_digest stream[MESSAGES];
    const struct recycling_kernels *twins[3];
    for (unsigned variant = 0; variant < 32; variant++) {
        /* in large filters the rates of 64 messages lie in one segment of the table */
        bool large = variant >= 24;
        enum tepal_layout layout = variant % 4 == 0 ? TEPAL_LAYOUT_FLAT : TEPAL_LAYOUT_BLOCKED;
        struct tepal_params p = params_of(layout, variant % 2, 1 + variant % 3,
                                          large          ? 0x1p-20
                                          : variant < 12 ? 0.01
                                                         : 0.2);
        uint64_t random = variant;
        uint64_t answers[(PIECE + 63) / 64];
        p.hashes = variant % 5 < 3 ? 5 : 11;
        p.cells *= large ? 64 : variant % 7 == 0 ? 1 : 6;
        struct tepal_filter *exact = make(&p);
        struct tepal_filter *fast = make(&p);
        struct tepal_recycling *r = (struct tepal_recycling *)exact;
        if (layout == TEPAL_LAYOUT_BLOCKED) {
            const size_t count = recycling_twins(p.hashes, twins);
            ((struct tepal_recycling *)fast)->kernels = twins[(variant / 4 + variant) % count];
        }
        for (int i = 0; i < MESSAGES; i++) {
            stream[i] = message(&random);
        }
        for (size_t at = 0; at < MESSAGES; at += PIECE) {
            size_t seen;
            assert_ok(tepal_filter_test_add_many(fast, stream + at, PIECE, answers, &seen));
            for (size_t i = 0; i < PIECE; i++) {
                exact->state.keys_added++;
                r->average.safe = 0;
                bool yes = tepal_recycling_seen_one(r, stream[at + i]);
                assert_int_equal(answers[i / 64] >> (i % 64) & 1, yes);
                seen -= yes;
            }
            assert_int_equal(seen, 0);
            assert_true(tepal_filter_equal(fast, exact));
            assert_memory_equal(&fast->state, &exact->state, sizeof fast->state);
        }
        assert_true(exact->state.own[STATE_CYCLES] > 0);
        assert_ok(tepal_filter_validate(fast, NULL));
        tepal_filter_free(exact);
        tepal_filter_free(fast);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_naive_filter),
        cmocka_unit_test(it_knows_its_own_risk),
        cmocka_unit_test(other_layouts_tell_by_the_table),
        cmocka_unit_test(batches_answer_as_one_by_one),
        cmocka_unit_test(saved_in_the_middle_it_goes_on),
        cmocka_unit_test(sums_are_exact),
        cmocka_unit_test(cleared_ahead),
        cmocka_unit_test(from_another_rule),
        cmocka_unit_test(bad_parameters),
        cmocka_unit_test(extreme_rates),
        cmocka_unit_test(lies_about_the_sums),
        cmocka_unit_test(the_end_of_counting),
        cmocka_unit_test(sized_by_the_rate),
        cmocka_unit_test(looking_ahead_decides_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
