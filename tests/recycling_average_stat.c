/*
 * recycling_average_stat.c: recycling filters that keep an average, on streams that repeat: is the
 * share of new messages that they find the one that they tell, and the one that was asked for?
 *
 * A message is new with chance q, whatever came before: then it is found with the chance that the
 * filter told just before. So "new and found" happens with chance q told at each arrival; its
 * number, less q times the sum of told, is a sum of differences that are 0 on average given the
 * past, and its variance is at most q times that sum. That gives a z-test for any stream and any
 * rule. On the flat layout nothing else is allowed for. On the others told comes from the model of
 * a phase at its number of ones, where MODEL is allowed for 32 lines of it.
 */
#include "check.h"
#include "recycling_help.h"

#define CELLS    16384
#define HASHES   6
#define FP       0.01
#define ARRIVALS 1000000
#define MODEL    0.01
#define RECENT   1024

enum shape { UNIFORM, POWER, IN_TURN, LATELY, ZIPF };

/* The first five are the streams on which a fixed sigma finds 1.00, 1.18, 2.16, 1.07, 1.18 %. */
static const struct stream {
    const char *name;
    double fresh; /* q */
    enum shape shape;
    double keys;
    double exponent;
} streams[] = {
    {"all new", 1, UNIFORM, 1, 0},
    {"2 % new, uniform over 4290", 0.02, UNIFORM, 4290, 0},
    {"2 % new, uniform over 1430", 0.02, UNIFORM, 1430, 0},
    {"5 % new, skewed over 20,000", 0.05, POWER, 20000, 3},
    {"30 % new, skewed over 3000", 0.3, POWER, 3000, 2},
    {"10 % new, 5000 in turn", 0.1, IN_TURN, 5000, 0},
    {"50 % new, or one of the last 1024", 0.5, LATELY, RECENT, 0},
    {"20 % new, Zipf over 20,000", 0.2, ZIPF, 20000, 0},
};

struct source {
    const struct stream *stream;
    uint64_t random;
    uint64_t arrivals;
    struct tepal_digest recent[RECENT];
};

static double uniform(uint64_t *random)
{
    return (double)(check_random(random) >> 11) * 0x1p-53;
}

static struct tepal_digest numbered(double number)
{
    uint64_t state = (uint64_t)number * 2 + 1;
    return check_digest(&state);
}

static struct tepal_digest repeat(struct source *s)
{
    double keys = s->stream->keys;
    double u = uniform(&s->random);
    switch (s->stream->shape) {
    case UNIFORM:
        return numbered(keys * u);
    case POWER:
        return numbered(keys * pow(u, s->stream->exponent));
    case IN_TURN:
        return numbered(fmod((double)s->arrivals, keys));
    case LATELY:
        return s->recent[(size_t)(keys * u)];
    case ZIPF:
        break;
    }
    return numbered(pow(keys, u));
}

static struct tepal_digest next(struct source *s, bool *fresh)
{
    *fresh = uniform(&s->random) < s->stream->fresh || s->arrivals < RECENT;
    struct tepal_digest d = *fresh ? check_digest(&s->random) : repeat(s);
    s->recent[s->arrivals++ % RECENT] = d;
    return d;
}

static struct tepal_filter *make(enum tepal_layout layout, enum tepal_positions positions,
                                 uint32_t phases, uint64_t cells)
{
    struct tepal_params p = TEPAL_PARAMS_INIT;
    struct recycling_options options = RECYCLING_OPTIONS_INIT;
    struct tepal_filter *f = NULL;
    p.layout = layout;
    p.positions = positions;
    p.cells = cells;
    p.hashes = HASHES;
    options.phases = phases;
    options.rule = TEPAL_RECYCLING_AVERAGE;
    options.limit = (uint64_t)(FP * 0x1p64);
    set_recycling(&p, &options);
    assert_ok(tepal_filter_create(&p, NULL, &f, NULL));
    return f;
}

struct outcome {
    double told;     /* the average over all arrivals */
    double expected; /* new messages found: q times the sum of told */
    double found;    /* as counted */
};

static struct outcome run(struct tepal_filter *f, const struct stream *stream, uint64_t seed)
{
    static struct source s;
    struct outcome out = {0, 0, 0};
    s.stream = stream;
    s.random = seed;
    s.arrivals = 0;
    bool fresh;
    bool seen;
    for (size_t i = 0; i < RECENT; i++) { /* nothing to repeat yet: these do not count */
        assert_ok(tepal_filter_test_add(f, next(&s, &fresh), &seen));
    }
    double before = recycling_figures(f).fp_so_far * RECENT;
    for (size_t i = 0; i < ARRIVALS; i++) {
        assert_ok(tepal_filter_test_add(f, next(&s, &fresh), &seen));
        out.found += fresh && seen;
    }
    out.told = recycling_figures(f).fp_so_far;
    out.expected = stream->fresh * (out.told * (ARRIVALS + RECENT) - before);
    assert_true(recycling_figures(f).cycles >= 10);
    assert_ok(tepal_filter_validate(f, NULL));
    return out;
}

static void tell(const char *layout, uint32_t phases, const struct stream *s, struct outcome o)
{
    print_message("%-11s %u  %-34s told %.4f %%  measured %.4f %% +- %.4f  z %.2f\n", layout,
                  phases, s->name, 100 * o.told, 100 * o.found / (s->fresh * ARRIVALS),
                  100 * sqrt(o.expected) / (s->fresh * ARRIVALS),
                  (o.found - o.expected) / sqrt(o.expected));
}

/* One and two phases: what is told is what happens, and it is what was asked for. */
static void told_is_measured(void **unused)
{
    (void)unused;
    for (int layout = 0; layout < 4; layout++) {
        for (uint32_t phases = 1; phases <= 2; phases++) {
            for (size_t i = 0; i < COUNT(streams); i++) {
                enum tepal_positions positions = (enum tepal_positions)(i % 2);
                struct tepal_filter *f = make((enum tepal_layout)layout, positions, phases, CELLS);
                struct outcome o = run(f, &streams[i], 1 + i);
                double model = layout == TEPAL_LAYOUT_FLAT ? 0 : MODEL * o.expected;
                tell(tepal_layout_name((enum tepal_layout)layout), phases, &streams[i], o);
                assert_true(fabs(o.found - o.expected) <= CHECK_Z * sqrt(o.expected) + model);
                assert_true(o.told <= FP * 1.005 && o.told >= FP * 0.99);
                tepal_filter_free(f);
            }
        }
    }
}

/* More phases: at most what is told. */
static void told_is_a_bound(void **unused)
{
    (void)unused;
    for (uint32_t phases = 3; phases <= TEPAL_MAX_PHASES; phases++) {
        for (size_t i = 0; i < COUNT(streams); i++) {
            struct tepal_filter *f =
                make(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, phases, CELLS / 4);
            struct outcome o = run(f, &streams[i], 100 + i);
            tell("flat", phases, &streams[i], o);
            assert_true(o.found <= o.expected + CHECK_Z * sqrt(o.expected));
            assert_true(o.told <= FP * 1.005 && o.told >= FP * 0.99);
            tepal_filter_free(f);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(told_is_measured),
        cmocka_unit_test(told_is_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
