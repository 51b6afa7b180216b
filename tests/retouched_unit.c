/*
 * retouched_unit.c: the retouched filter: what each method must do whatever it chooses, that the
 * sweep leaves the Bloom filter of the survivors, that budgets are kept to the member, that the
 * incremental Algorithm 7 decides as the printed one, and what bad input and missing memory do.
 */
#include "file_help.h"
#include "check.h"

#include <tepal/papers.h>

#include "address/address.h"
#include "filter/kind.h"

#define MEMBERS  400
#define BITS     4096 /* 8 lines; about 10 bits a member */
#define HASHES   4
#define STRANGE  12000 /* keys that were not added */
#define MOST_BAD 2000

/* A filter, its members, and all its false positives among STRANGE other keys. */
struct scene {
    struct tepal_filter *bloom;
    struct tepal_digest member[MEMBERS];
    struct tepal_digest bad[MOST_BAD];
    size_t bad_count;
};

static void scene_make(struct scene *s, enum tepal_layout layout, enum tepal_positions positions,
                       uint64_t seed)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.layout = layout;
    params.positions = positions;
    params.cells = BITS;
    params.hashes = HASHES;
    assert_ok(tepal_filter_create(&params, NULL, &s->bloom, NULL));
    check_digests(&seed, s->member, MEMBERS);
    assert_ok(tepal_filter_add_many(s->bloom, s->member, MEMBERS));
    s->bad_count = 0;
    for (size_t i = 0; i < STRANGE; i++) {
        struct tepal_digest d = check_digest(&seed);
        if (tepal_filter_query(s->bloom, d) && s->bad_count < MOST_BAD) {
            s->bad[s->bad_count++] = d;
        }
    }
    assert_true(s->bad_count > 50);
}

static void scene_free(struct scene *s)
{
    tepal_filter_free(s->bloom);
}

static struct tepal_known scene_input(const struct scene *s)
{
    return (struct tepal_known){.members = s->member,
                                .member_count = MEMBERS,
                                .avoid = s->bad,
                                .avoid_count = s->bad_count};
}

/* Retouch, or fail the test. */
static struct tepal_filter *touch(const struct tepal_filter *filter,
                                  const struct tepal_known *input,
                                  const struct tepal_retouch_options *options,
                                  struct tepal_retouch_report *report, uint64_t *victims)
{
    struct tepal_filter *out = NULL;
    struct tepal_error error = {.why = ""};
    if (tepal_retouch(filter, input, options, NULL, &out, report, victims, &error) != TEPAL_OK) {
        fail_msg("%s: %s", tepal_retouch_method_name(options->method), error.why);
    }
    assert_ok(tepal_filter_validate(out, NULL));
    return out;
}

static const struct {
    enum tepal_layout layout;
    enum tepal_positions positions;
} layouts[] = {
    {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING},
    {TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_DISTINCT},
    {TEPAL_LAYOUT_PARTITIONED, TEPAL_POSITIONS_COLLIDING},
    {TEPAL_LAYOUT_BLOCKED, TEPAL_POSITIONS_DISTINCT},
    {TEPAL_LAYOUT_PAIRED, TEPAL_POSITIONS_COLLIDING},
};

#define LAYOUTS (sizeof layouts / sizeof *layouts)

/* ---- what every method does ------------------------------------------------------------------ */

/* The report, counted again by hand; bits are only cleared; victims are those not found. */
static void check_report(const struct scene *s, const struct tepal_filter *before,
                         const struct tepal_filter *after, const struct tepal_retouch_report *r,
                         const uint64_t *victims)
{
    size_t words;
    const uint64_t *old = tepal_filter_words(before, &words);
    const uint64_t *new = tepal_filter_words(after, &words);
    uint64_t cleared = 0;
    for (size_t i = 0; i < words; i++) {
        assert_int_equal(new[i] & ~old[i], 0);
        cleared += (uint64_t)__builtin_popcountll(old[i] & ~new[i]);
    }
    assert_int_equal(cleared, r->bits_changed);
    assert_int_equal(r->ones_before - r->ones_after, cleared);
    uint64_t lost = 0;
    for (size_t i = 0; i < MEMBERS; i++) {
        bool found = tepal_filter_query(after, s->member[i]);
        lost += !found;
        assert_int_equal(victims[i / 64] >> i % 64 & 1, !found);
    }
    assert_int_equal(lost, r->false_negatives);
    assert_int_equal(r->members, MEMBERS);
    uint64_t left = 0;
    for (size_t i = 0; i < s->bad_count; i++) {
        left += tepal_filter_query(after, s->bad[i]);
    }
    assert_int_equal(left, r->avoid_left);
    assert_int_equal(r->avoid_positive - r->avoid_left, r->removed_inside);
}

/* The Bloom filter of the members that are no victims. */
static struct tepal_filter *survivors(const struct scene *s, const uint64_t *victims)
{
    struct tepal_filter *bloom;
    assert_ok(tepal_filter_create(tepal_filter_params(s->bloom), NULL, &bloom, NULL));
    for (size_t i = 0; i < MEMBERS; i++) {
        if ((victims[i / 64] >> i % 64 & 1) == 0) {
            assert_ok(tepal_filter_add(bloom, s->member[i]));
        }
    }
    return bloom;
}

static void assert_same_words(const struct tepal_filter *a, const struct tepal_filter *b)
{
    size_t words;
    const uint64_t *x = tepal_filter_words(a, &words);
    const uint64_t *y = tepal_filter_words(b, &words);
    assert_memory_equal(x, y, words * 8);
}

/* All of B goes; the sweep adds no false negative and leaves the survivors' Bloom filter. */
static void every_method_on_every_layout(void **state)
{
    (void)state;
    for (size_t l = 0; l < LAYOUTS; l++) {
        struct scene s;
        scene_make(&s, layouts[l].layout, layouts[l].positions, 17 + l);
        const struct tepal_filter *before = s.bloom;
        struct tepal_known input = scene_input(&s);
        for (unsigned m = 0; m <= TEPAL_RETOUCH_SACRIFICE; m++) {
            struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
            options.method = (enum tepal_retouch_method)m;
            options.bits = 100;
            options.seed = 5;
            struct tepal_retouch_report plain;
            struct tepal_retouch_report swept;
            uint64_t victims[MEMBERS / 64 + 1];
            uint64_t swept_victims[MEMBERS / 64 + 1];
            struct tepal_filter *a = touch(before, &input, &options, &plain, victims);
            check_report(&s, before, a, &plain, victims);
            assert_int_equal(plain.avoid_given, s.bad_count);
            assert_int_equal(plain.avoid_positive, s.bad_count);
            if (m != TEPAL_RETOUCH_RANDOM_BITS) {
                assert_int_equal(plain.avoid_left, 0);
            } else {
                assert_int_equal(plain.bits_changed, 100);
            }
            options.sweep = true;
            struct tepal_filter *b = touch(before, &input, &options, &swept, swept_victims);
            check_report(&s, before, b, &swept, swept_victims);
            assert_memory_equal(victims, swept_victims, MEMBERS / 64 * 8);
            assert_int_equal(plain.false_negatives, swept.false_negatives);
            assert_true(swept.bits_changed >= plain.bits_changed);
            struct tepal_filter *rest = survivors(&s, swept_victims);
            assert_same_words(b, rest);
            if (m == TEPAL_RETOUCH_SACRIFICE) {
                assert_same_words(a, b);
            }
            tepal_filter_free(rest);
            tepal_filter_free(a);
            tepal_filter_free(b);
        }
        scene_free(&s);
    }
}

/* Sacrifice loses fewer members than any other method, on every layout. */
static void sacrifice_is_best(void **state)
{
    (void)state;
    for (size_t l = 0; l < LAYOUTS; l++) {
        struct scene s;
        scene_make(&s, layouts[l].layout, layouts[l].positions, 170 + l);
        struct tepal_known input = scene_input(&s);
        uint64_t ours = 0;
        for (unsigned m = TEPAL_RETOUCH_SACRIFICE; m >= TEPAL_RETOUCH_RANDOM; m--) {
            struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
            options.method = (enum tepal_retouch_method)m;
            struct tepal_retouch_report report;
            tepal_filter_free(touch(s.bloom, &input, &options, &report, NULL));
            if (m == TEPAL_RETOUCH_SACRIFICE) {
                ours = report.false_negatives;
            } else {
                assert_true(report.false_negatives > ours);
            }
        }
        scene_free(&s);
    }
}

/* ---- literal algorithms ---------------------------------------------------------------------- */

/* One run of Algorithms 2 to 7 as printed, all vectors recomputed from sets; slow and obvious. */
struct literal {
    bool v[BITS];
    bool in_a[MEMBERS];
    bool in_b[MOST_BAD];
    uint64_t a_at[MEMBERS][HASHES];
    uint64_t b_at[MOST_BAD][HASHES];
};

static bool has(const uint64_t *at, uint64_t bit)
{
    for (unsigned i = 0; i < HASHES; i++) {
        if (at[i] == bit) {
            return true;
        }
    }
    return false;
}

static double reluctance(const struct literal *run, const struct scene *s, unsigned method,
                         uint64_t bit)
{
    bool improved = method >= TEPAL_RETOUCH_IMPROVED_MIN_FN;
    double a = 0;
    double b = 0;
    for (size_t i = 0; i < MEMBERS; i++) {
        a += (!improved || run->in_a[i]) && has(run->a_at[i], bit);
    }
    for (size_t i = 0; i < s->bad_count; i++) {
        b += (!improved || run->in_b[i]) && has(run->b_at[i], bit);
    }
    switch (method) {
    case TEPAL_RETOUCH_MIN_FN:
    case TEPAL_RETOUCH_IMPROVED_MIN_FN:
        return a;
    case TEPAL_RETOUCH_MAX_FP:
    case TEPAL_RETOUCH_IMPROVED_MAX_FP:
        return -b;
    default:
        return a / b;
    }
}

static void literal_run(struct literal *run, const struct scene *s, unsigned method)
{
    const struct tepal_filter *filter = s->bloom;
    struct address at = tepal_address_of(tepal_filter_params(filter), 1);
    for (size_t i = 0; i < MEMBERS; i++) {
        tepal_address_positions(&at, s->member[i], run->a_at[i]);
        run->in_a[i] = true;
    }
    for (size_t i = 0; i < s->bad_count; i++) {
        tepal_address_positions(&at, s->bad[i], run->b_at[i]);
        run->in_b[i] = true;
    }
    size_t words;
    const uint64_t *bits = tepal_filter_words(filter, &words);
    for (size_t i = 0; i < BITS; i++) {
        run->v[i] = bits[i / 64] >> i % 64 & 1;
    }
    for (size_t i = 0; i < s->bad_count; i++) {
        bool found = true;
        for (unsigned j = 0; j < HASHES; j++) {
            found = found && run->v[run->b_at[i][j]];
        }
        if (!found) {
            continue;
        }
        uint64_t index = BITS;
        double least = 0;
        for (unsigned j = 0; j < HASHES; j++) {
            uint64_t bit = run->b_at[i][j];
            double r = reluctance(run, s, method, bit);
            if (index == BITS || r < least || (!(r > least) && bit < index)) {
                index = bit;
                least = r;
            }
        }
        run->v[index] = false;
        for (size_t x = 0; x < MEMBERS; x++) {
            run->in_a[x] = run->in_a[x] && !has(run->a_at[x], index);
        }
        for (size_t x = 0; x < s->bad_count; x++) {
            run->in_b[x] = run->in_b[x] && !has(run->b_at[x], index);
        }
    }
}

/* 20 traces of Algorithm 7, and a few of each of the others. */
static void methods_decide_as_printed(void **state)
{
    (void)state;
    static struct literal run;
    for (unsigned m = TEPAL_RETOUCH_MIN_FN; m <= TEPAL_RETOUCH_IMPROVED_RATIO; m++) {
        unsigned traces = m == TEPAL_RETOUCH_IMPROVED_RATIO ? 20 : 4;
        for (unsigned t = 0; t < traces; t++) {
            struct scene s;
            scene_make(&s, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 1000 + 50 * m + t);
            literal_run(&run, &s, m);
            struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
            options.method = (enum tepal_retouch_method)m;
            struct tepal_known input = scene_input(&s);
            struct tepal_filter *out = touch(s.bloom, &input, &options, NULL, NULL);
            size_t words;
            const uint64_t *bits = tepal_filter_words(out, &words);
            for (size_t i = 0; i < BITS; i++) {
                assert_int_equal(bits[i / 64] >> i % 64 & 1, run.v[i]);
            }
            tepal_filter_free(out);
            scene_free(&s);
        }
    }
}

/* ---- budgets --------------------------------------------------------------------------------- */

static void budgets_are_kept(void **state)
{
    (void)state;
    struct scene s;
    scene_make(&s, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 3);
    struct tepal_known input = scene_input(&s);
    double weights[MEMBERS];
    for (size_t i = 0; i < MEMBERS; i++) {
        weights[i] = 1 + (double)(i % 7);
    }
    for (unsigned m = 0; m <= TEPAL_RETOUCH_SACRIFICE; m++) {
        double removed = -1;
        for (unsigned budget = 0; budget <= 60; budget += 15) {
            struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
            options.method = (enum tepal_retouch_method)m;
            struct tepal_retouch_report by_count;
            struct tepal_retouch_report by_share;
            struct tepal_retouch_report by_weight;
            options.limit = TEPAL_RETOUCH_LIMIT_COUNT;
            options.budget = budget;
            const struct tepal_filter *from = s.bloom;
            struct tepal_filter *a = touch(from, &input, &options, &by_count, NULL);
            options.limit = TEPAL_RETOUCH_LIMIT_SHARE;
            options.budget = (double)budget / MEMBERS;
            struct tepal_filter *b = touch(from, &input, &options, &by_share, NULL);
            assert_true(tepal_filter_equal(a, b));
            /* To the member: cheap steps fill what dear ones leave. */
            assert_true(by_count.false_negatives <= budget);
            if (by_count.avoid_left > 0) {
                uint64_t slack = m == TEPAL_RETOUCH_SACRIFICE ? 0 : 1;
                assert_true(by_count.false_negatives + slack >= budget);
            }
            input.member_weights = weights;
            options.limit = TEPAL_RETOUCH_LIMIT_WEIGHT;
            options.budget = budget;
            struct tepal_filter *c = touch(from, &input, &options, &by_weight, NULL);
            assert_true(by_weight.lost_weight <= budget);
            assert_true(by_weight.lost_weight >= budget - 7.0 || by_weight.avoid_left == 0);
            input.member_weights = NULL;
            if (m == TEPAL_RETOUCH_SACRIFICE) {
                assert_true(by_count.removed_weight > removed || by_count.avoid_left == 0);
                removed = by_count.removed_weight;
            }
            tepal_filter_free(a);
            tepal_filter_free(b);
            tepal_filter_free(c);
        }
    }
    scene_free(&s);
}

/* Members that weigh much are spared, troublesome keys that weigh much go first. */
static void weights_count(void **state)
{
    (void)state;
    struct scene s;
    scene_make(&s, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 4);
    struct tepal_known input = scene_input(&s);
    double heavy[MOST_BAD];
    double dear[MEMBERS];
    for (size_t i = 0; i < s.bad_count; i++) {
        heavy[i] = i % 10 == 0 ? 100 : 1;
    }
    for (size_t i = 0; i < MEMBERS; i++) {
        dear[i] = i < MEMBERS / 2 ? 1000 : 1;
    }
    struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    options.limit = TEPAL_RETOUCH_LIMIT_COUNT;
    options.budget = 10;
    for (int sacrifice = 0; sacrifice < 2; sacrifice++) {
        options.method = sacrifice ? TEPAL_RETOUCH_SACRIFICE : TEPAL_RETOUCH_IMPROVED_RATIO;
        options.order = sacrifice ? TEPAL_RETOUCH_ORDER_GIVEN : TEPAL_RETOUCH_ORDER_WEIGHT;
        struct tepal_retouch_report plain;
        struct tepal_retouch_report weighted;
        uint64_t victims[MEMBERS / 64 + 1];
        input.avoid_weights = NULL;
        input.member_weights = NULL;
        tepal_filter_free(touch(s.bloom, &input, &options, &plain, NULL));
        input.avoid_weights = heavy;
        input.member_weights = dear;
        tepal_filter_free(touch(s.bloom, &input, &options, &weighted, victims));
        double average = weighted.avoid_weight / (double)weighted.avoid_positive;
        assert_true(weighted.removed_weight > 1.5 * average * (double)plain.removed_inside);
        if (sacrifice) {
            assert_true(weighted.lost_weight <= 10);
        }
    }
    scene_free(&s);
}

/* ---- later, and with more known -------------------------------------------------------------- */

static void retouching_again(void **state)
{
    (void)state;
    for (unsigned m = TEPAL_RETOUCH_RANDOM; m <= TEPAL_RETOUCH_SACRIFICE; m++) {
        struct scene s;
        scene_make(&s, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 500 + m);
        struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
        options.method = (enum tepal_retouch_method)m;
        struct tepal_known input = scene_input(&s);
        struct tepal_retouch_report first;
        struct tepal_retouch_report second;
        uint64_t early[MEMBERS / 64 + 1];
        uint64_t late[MEMBERS / 64 + 1];
        input.avoid_count = s.bad_count / 2;
        struct tepal_filter *a = touch(s.bloom, &input, &options, &first, early);
        input.avoid = s.bad + s.bad_count / 2;
        input.avoid_count = s.bad_count - s.bad_count / 2;
        options.sweep = true;
        struct tepal_filter *b = touch(a, &input, &options, &second, late);
        assert_int_equal(second.members_absent, first.false_negatives);
        assert_true(second.false_negatives >= first.false_negatives);
        for (size_t i = 0; i < MEMBERS / 64 + 1; i++) {
            assert_int_equal(early[i] & ~late[i], 0);
        }
        for (size_t i = 0; i < s.bad_count; i++) {
            assert_false(tepal_filter_query(b, s.bad[i]));
        }
        struct tepal_filter *rest = survivors(&s, late);
        assert_same_words(b, rest);
        assert_int_equal(info_integer(b, "members"), MEMBERS);
        assert_int_equal(info_integer(b, "false_negatives"), second.false_negatives);
        assert_int_equal(info_integer(b, "bits_cleared"), first.bits_changed + second.bits_changed);
        /* A budget that the earlier victims have used up already buys nothing. */
        options.limit = TEPAL_RETOUCH_LIMIT_COUNT;
        options.budget = (double)first.false_negatives;
        struct tepal_filter *c = touch(a, &input, &options, &second, NULL);
        assert_int_equal(second.false_negatives, first.false_negatives);
        tepal_filter_free(c);
        tepal_filter_free(rest);
        tepal_filter_free(a);
        tepal_filter_free(b);
        scene_free(&s);
    }
}

/* B is a tenth of what is known: both are counted, in the report and (basis all) in the choice. */
static void known_false_positives(void **state)
{
    (void)state;
    struct scene s;
    scene_make(&s, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 8);
    struct tepal_known input = scene_input(&s);
    input.avoid_count = s.bad_count / 10;
    input.others = s.bad;
    input.other_count = s.bad_count;
    double beyond[2];
    for (int all = 0; all < 2; all++) {
        struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
        options.method = TEPAL_RETOUCH_MAX_FP;
        options.basis = all ? TEPAL_RETOUCH_BASIS_ALL : TEPAL_RETOUCH_BASIS_B;
        struct tepal_retouch_report r;
        struct tepal_filter *out = touch(s.bloom, &input, &options, &r, NULL);
        uint64_t left = 0;
        for (size_t i = 0; i < s.bad_count; i++) {
            left += tepal_filter_query(out, s.bad[i]);
        }
        assert_int_equal(r.others_positive, s.bad_count);
        assert_int_equal(r.others_left, left);
        assert_int_equal(r.avoid_created, 0);
        assert_int_equal(r.removed_inside + r.removed_beyond, s.bad_count - left);
        assert_int_equal(r.avoid_left, 0);
        double share = (double)(s.bad_count - left) / (double)s.bad_count;
        assert_true(fabs(r.delta_fp - share) < 1e-12);
        assert_true(fabs(r.chi - share / ((double)r.false_negatives / MEMBERS)) < 1e-9);
        beyond[all] = (double)r.removed_beyond;
        tepal_filter_free(out);
    }
    assert_true(beyond[1] > beyond[0]);
    scene_free(&s);
}

static void the_curve(void **state)
{
    (void)state;
    struct scene s;
    scene_make(&s, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 9);
    struct tepal_known input = scene_input(&s);
    static const size_t capacities[] = {2, 3, 10, 64, 1000};
    for (unsigned m = TEPAL_RETOUCH_RANDOM; m <= TEPAL_RETOUCH_SACRIFICE; m++) {
        for (size_t c = 0; c < 5; c++) {
            struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
            options.method = (enum tepal_retouch_method)m;
            options.limit = c % 2 == 0 ? TEPAL_RETOUCH_LIMIT_ALL : TEPAL_RETOUCH_LIMIT_SHARE;
            options.budget = 1;
            struct tepal_retouch_point points[1000];
            struct tepal_retouch_report whole;
            struct tepal_retouch_report report;
            size_t count = 0;
            assert_ok(tepal_retouch_curve(s.bloom, &input, &options, NULL, points, capacities[c],
                                          &count, &report, NULL));
            tepal_filter_free(touch(s.bloom, &input, &options, &whole, NULL));
            assert_in_range(count, 2, capacities[c]);
            assert_true(capacities[c] < 64 || count > capacities[c] / 3 || count > 60);
            assert_int_equal(points[0].false_negatives, 0);
            assert_true(points[0].removed_weight == 0);
            assert_int_equal(points[count - 1].false_negatives, whole.false_negatives);
            assert_int_equal(points[count - 1].avoid_removed, s.bad_count);
            for (size_t i = 1; i < count; i++) {
                assert_true(points[i].false_negatives >= points[i - 1].false_negatives);
                assert_true(points[i].removed_weight >= points[i - 1].removed_weight);
                assert_true(points[i].lost_weight == (double)points[i].false_negatives);
            }
        }
    }
    size_t count;
    struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    assert_int_equal(
        tepal_retouch_curve(s.bloom, &input, &options, NULL, NULL, 1, &count, NULL, NULL),
        TEPAL_BAD_ARGUMENT);
    scene_free(&s);
}

/* ---- what is given wrongly ------------------------------------------------------------------- */

static void expect_refusal(const struct scene *s, const struct tepal_known *input,
                           const struct tepal_retouch_options *options, enum tepal_status expected)
{
    struct tepal_filter *const untouched = s->bloom;
    struct tepal_filter *out = untouched;
    struct tepal_error error = {.why = NULL};
    assert_int_equal(tepal_retouch(untouched, input, options, NULL, &out, NULL, NULL, &error),
                     expected);
    assert_ptr_equal(out, untouched);
    check_error(&error, expected);
    assert_true(strlen(error.why) > 10);
    assert_int_equal(tepal_retouch(untouched, input, options, NULL, &out, NULL, NULL, NULL),
                     expected);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    struct scene s;
    scene_make(&s, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 10);
    struct tepal_known input = scene_input(&s);
    struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    static const double bad_weights[] = {-1, NAN, INFINITY};
    double weights[MOST_BAD];
    for (size_t i = 0; i < MOST_BAD; i++) {
        weights[i] = 1;
    }
    for (size_t i = 0; i < 3; i++) {
        weights[7] = bad_weights[i];
        input.avoid_weights = weights;
        expect_refusal(&s, &input, &options, TEPAL_BAD_ARGUMENT);
        input.avoid_weights = NULL;
        input.member_weights = weights;
        expect_refusal(&s, &input, &options, TEPAL_BAD_ARGUMENT);
        input.member_weights = NULL;
    }
    static const double bad_shares[] = {-0.1, 1.1, NAN};
    for (size_t i = 0; i < 3; i++) {
        options.limit = TEPAL_RETOUCH_LIMIT_SHARE;
        options.budget = bad_shares[i];
        expect_refusal(&s, &input, &options, TEPAL_BAD_ARGUMENT);
    }
    options.limit = TEPAL_RETOUCH_LIMIT_WEIGHT;
    options.budget = -1;
    expect_refusal(&s, &input, &options, TEPAL_BAD_ARGUMENT);
    options.limit = TEPAL_RETOUCH_LIMIT_ALL;
    options.method = (enum tepal_retouch_method)TEPAL_RETOUCH_METHODS;
    expect_refusal(&s, &input, &options, TEPAL_BAD_ARGUMENT);
    options.method = TEPAL_RETOUCH_NET_EFFECT; /* of another kind */
    expect_refusal(&s, &input, &options, TEPAL_BAD_ARGUMENT);
    options.method = TEPAL_RETOUCH_LEAST_FN;
    expect_refusal(&s, &input, &options, TEPAL_BAD_ARGUMENT);
    options.method = TEPAL_RETOUCH_RATIO;
    options.basis = TEPAL_RETOUCH_BASIS_ALL;
    expect_refusal(&s, &input, &options, TEPAL_BAD_ARGUMENT);
    options.basis = TEPAL_RETOUCH_BASIS_B;
    input.member_count = 0;
    expect_refusal(&s, &input, &options, TEPAL_BAD_ARGUMENT);
    /* The members of another filter. */
    struct tepal_digest others[MEMBERS];
    uint64_t seed = 77;
    check_digests(&seed, others, MEMBERS);
    input.members = others;
    input.member_count = MEMBERS;
    expect_refusal(&s, &input, &options, TEPAL_MISMATCH);
    scene_free(&s);
}

/* Troublesome keys that are members are counted and left alone, unless they are asked for. */
static void members_among_the_negatives(void **state)
{
    (void)state;
    struct scene s;
    scene_make(&s, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 11);
    struct tepal_known input = scene_input(&s);
    struct tepal_digest mixed[60];
    for (size_t i = 0; i < 60; i++) {
        mixed[i] = i < 20 ? s.member[i * 3] : i < 40 ? s.bad[i] : s.bad[i - 20]; /* some twice */
    }
    input.avoid = mixed;
    input.avoid_count = 60;
    struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    struct tepal_retouch_report r;
    tepal_filter_free(touch(s.bloom, &input, &options, &r, NULL));
    assert_int_equal(r.avoid_given, 60);
    assert_int_equal(r.avoid_members, 20);
    assert_int_equal(r.avoid_positive, 40);
    assert_int_equal(r.avoid_left, 0);
    input.avoid_count = 20; /* nothing but members: nothing is done */
    struct tepal_filter *same = touch(s.bloom, &input, &options, &r, NULL);
    assert_int_equal(r.bits_changed, 0);
    assert_same_words(same, s.bloom);
    tepal_filter_free(same);
    options.remove_members = true;
    struct tepal_filter *gone = touch(s.bloom, &input, &options, &r, NULL);
    assert_int_equal(r.avoid_members, 20);
    assert_int_equal(r.avoid_positive, 20);
    assert_int_equal(r.avoid_left, 0);
    for (size_t i = 0; i < 20; i++) {
        assert_false(tepal_filter_query(gone, mixed[i]));
    }
    tepal_filter_free(gone);
    scene_free(&s);
}

/* Members that were forgotten keep their bits, whatever the method. */
static void forgotten_members_are_safe(void **state)
{
    (void)state;
    struct scene s;
    scene_make(&s, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 12);
    struct tepal_digest lone; /* a member all of whose bits are its own */
    uint64_t seed = 4242;
    struct tepal_digest given[MEMBERS + 1];
    lone = check_digest(&seed);
    assert_ok(tepal_filter_add(s.bloom, lone));
    memcpy(given, s.member, sizeof s.member);
    given[MEMBERS] = check_digest(&seed); /* and one that never was there */
    struct tepal_known input = scene_input(&s);
    input.members = given;
    input.member_count = MEMBERS + 1;
    input.avoid = &lone; /* as if it were a false positive: none of its own bits may go */
    input.avoid_count = 1;
    struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    struct address at = tepal_address_of(tepal_filter_params(s.bloom), 1);
    uint64_t mine[HASHES];
    tepal_address_positions(&at, lone, mine);
    for (unsigned m = TEPAL_RETOUCH_RANDOM; m <= TEPAL_RETOUCH_SACRIFICE; m++) {
        options.method = (enum tepal_retouch_method)m;
        options.sweep = true;
        struct tepal_retouch_report r;
        struct tepal_filter *out = touch(s.bloom, &input, &options, &r, NULL);
        assert_int_equal(r.members_absent, 1);
        size_t words;
        const uint64_t *bits = tepal_filter_words(out, &words);
        struct tepal_filter *all = survivors(&s, (uint64_t[MEMBERS / 64 + 1]){0});
        const uint64_t *owned = tepal_filter_words(all, &words);
        for (unsigned i = 0; i < HASHES; i++) {
            if ((owned[mine[i] / 64] >> mine[i] % 64 & 1) == 0) {
                assert_true(bits[mine[i] / 64] >> mine[i] % 64 & 1);
            }
        }
        tepal_filter_free(all);
        tepal_filter_free(out);
    }
    scene_free(&s);
}

/* A tiny filter in which keys hit bits twice, everything owns everything, and sizes are odd. */
static void tiny_filters(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct tepal_params params = TEPAL_PARAMS_INIT;
        params.cells = 5 + seed;
        params.hashes = 1 + (uint32_t)(seed % 8);
        struct tepal_filter *bloom;
        assert_ok(tepal_filter_create(&params, NULL, &bloom, NULL));
        struct tepal_digest members[9];
        struct tepal_digest bad[50];
        uint64_t stream = seed * 1000003;
        for (size_t i = 0; i < 9; i++) {
            members[i] = check_digest(&stream);
            assert_ok(tepal_filter_add(bloom, members[i]));
        }
        check_digests(&stream, bad, 50);
        for (unsigned m = 0; m <= TEPAL_RETOUCH_SACRIFICE; m++) {
            struct tepal_known input = {
                .members = members, .member_count = 9, .avoid = bad, .avoid_count = 50};
            struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
            options.method = (enum tepal_retouch_method)m;
            struct tepal_retouch_report r;
            struct tepal_filter *out = touch(bloom, &input, &options, &r, NULL);
            assert_true(r.avoid_left == 0 || m == TEPAL_RETOUCH_RANDOM_BITS);
            assert_true(r.false_negatives <= 9);
            tepal_filter_free(out);
        }
        tepal_filter_free(bloom);
    }
}

/* ---- the kind -------------------------------------------------------------------------------- */

static void a_retouched_filter_is_a_bloom_filter_to_ask(void **state)
{
    (void)state;
    for (size_t l = 0; l < LAYOUTS; l++) {
        struct scene s;
        scene_make(&s, layouts[l].layout, layouts[l].positions, 300 + l);
        struct tepal_known input = scene_input(&s);
        struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
        struct tepal_retouch_report r;
        struct tepal_filter *out = touch(s.bloom, &input, &options, &r, NULL);
        const struct tepal_kind *kind = tepal_filter_kind(out);
        assert_string_equal(kind->name, "retouched");
        assert_int_equal(kind->id, 2); /* on disk: pinned */
        assert_int_equal(kind->promises & TEPAL_NO_FALSE_NEGATIVES, 0);
        assert_int_equal(tepal_encoded_bytes(out), tepal_encoded_bytes(s.bloom));
        size_t len;
        uint8_t *bytes = encoded(out, &len);
        struct tepal_filter *back = NULL;
        assert_ok(tepal_decode(bytes, len, NULL, &back, NULL));
        assert_true(tepal_filter_equal(out, back));
        assert_int_equal(info_integer(back, "members"), MEMBERS);
        assert_int_equal(info_integer(back, "false_negatives"), r.false_negatives);
        assert_int_equal(info_integer(back, "bits_cleared"), r.bits_changed);
        uint64_t one[MEMBERS / 64 + 1];
        uint64_t two[MEMBERS / 64 + 1];
        size_t found = tepal_filter_query_many(out, s.member, MEMBERS, one);
        assert_int_equal(found, MEMBERS - r.false_negatives);
        assert_int_equal(tepal_filter_query_many(back, s.member, MEMBERS, two), found);
        for (size_t i = 0; i < MEMBERS; i++) {
            bool there = tepal_filter_query(back, s.member[i]);
            assert_int_equal(there, one[i / 64] >> i % 64 & 1);
            assert_int_equal(there, two[i / 64] >> i % 64 & 1);
        }
        struct tepal_report report;
        tepal_filter_info(back, &report);
        assert_true(fabs(tepal_report_find(&report, "fn_now")->value.real -
                         (double)r.false_negatives / MEMBERS) < 1e-12);
        assert_int_equal(tepal_report_find(&report, "false_negatives")->value.integer,
                         r.false_negatives);
        /* What contradicts itself is not believed, whatever its checksum. */
        little_put64(bytes + 136 + 8, MEMBERS + 1);
        header_resum(bytes);
        struct tepal_filter *none = NULL;
        assert_int_equal(tepal_decode(bytes, len, NULL, &none, NULL), TEPAL_CORRUPT);
        little_put64(bytes + 136 + 8, 0);
        little_put64(bytes + 136 + 24, 2); /* expected: 0 or 1 */
        header_resum(bytes);
        assert_int_equal(tepal_decode(bytes, len, NULL, &none, NULL), TEPAL_CORRUPT);
        little_put64(bytes + 136 + 24, 0);
        for (size_t at = 40; at <= 48; at += 8) { /* a part of a victim that was counted; a stray */
            little_put64(bytes + 136 + at, 1);
            header_resum(bytes);
            assert_int_equal(tepal_decode(bytes, len, NULL, &none, NULL), TEPAL_CORRUPT);
            little_put64(bytes + 136 + at, 0);
        }
        little_put64(bytes + 136 + 24, 1);
        little_put64(bytes + 136 + 40, UINT64_C(1) << 32); /* a whole one */
        header_resum(bytes);
        assert_int_equal(tepal_decode(bytes, len, NULL, &none, NULL), TEPAL_CORRUPT);
        little_put64(bytes + 136 + 24, 0);
        little_put64(bytes + 136 + 40, 0);
        little_put64(bytes + 136 + 16, BITS + 1);
        header_resum(bytes);
        assert_int_equal(tepal_decode(bytes, len, NULL, &none, NULL), TEPAL_CORRUPT);
        assert_int_equal(tepal_filter_unite(out, back), TEPAL_UNSUPPORTED);
        assert_int_equal(tepal_filter_intersect(out, back), TEPAL_UNSUPPORTED);
        /* A victim that is added again is found again. */
        assert_ok(tepal_filter_add_many(out, s.member, MEMBERS));
        assert_int_equal(tepal_filter_query_many(out, s.member, MEMBERS, one), MEMBERS);
        free(bytes);
        tepal_filter_free(back);
        tepal_filter_free(out);
        scene_free(&s);
    }
}

/* The default is `sacrifice`. */
static void the_best_method_is_sacrifice(void **state)
{
    (void)state;
    struct scene s;
    scene_make(&s, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 14);
    struct tepal_known input = scene_input(&s);
    struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    struct tepal_retouch_report r;
    assert_int_equal(options.method, TEPAL_RETOUCH_BEST);
    struct tepal_filter *best = touch(s.bloom, &input, &options, &r, NULL);
    options.method = TEPAL_RETOUCH_SACRIFICE;
    struct tepal_filter *sacrifice = touch(s.bloom, &input, &options, &r, NULL);
    assert_true(tepal_filter_equal(best, sacrifice));
    tepal_filter_free(best);
    tepal_filter_free(sacrifice);
    scene_free(&s);
}

static void methods_have_names(void **state)
{
    (void)state;
    for (unsigned m = 0; m < TEPAL_RETOUCH_METHODS; m++) {
        enum tepal_retouch_method found = TEPAL_RETOUCH_METHODS;
        const char *name = tepal_retouch_method_name((enum tepal_retouch_method)m);
        assert_true(strlen(name) > 3);
        assert_true(tepal_retouch_method_parse(name, &found));
        assert_int_equal(found, m);
    }
    enum tepal_retouch_method kept = TEPAL_RETOUCH_RATIO;
    assert_false(tepal_retouch_method_parse("worst", &kept));
    assert_int_equal(kept, TEPAL_RETOUCH_RATIO);
    assert_string_equal(tepal_retouch_method_name((enum tepal_retouch_method)99), "");
}

/* ---- the exception list ---------------------------------------------------------------------- */

static void exceptions_make_it_exact(void **state)
{
    (void)state;
    struct scene s;
    scene_make(&s, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 13);
    struct tepal_known input = scene_input(&s);
    struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    struct tepal_retouch_report r;
    uint64_t victims[MEMBERS / 64 + 1];
    struct tepal_filter *out = touch(s.bloom, &input, &options, &r, victims);
    struct tepal_exceptions *made = NULL;
    struct tepal_exceptions *list = NULL;
    assert_ok(tepal_exceptions_create(out, s.member, MEMBERS, victims, NULL, &made, NULL));
    size_t len = (size_t)tepal_exceptions_encoded_bytes(made);
    assert_int_equal(len, 48 + 16 * r.false_negatives);
    uint8_t *bytes = malloc(len);
    assert_non_null(bytes);
    struct tepal_error error;
    assert_int_equal(tepal_exceptions_encode(made, bytes, len - 1, &error), TEPAL_BAD_LENGTH);
    check_error(&error, TEPAL_BAD_LENGTH);
    assert_ok(tepal_exceptions_encode(made, bytes, len, NULL));
    assert_ok(tepal_exceptions_decode(bytes, len, NULL, &list, NULL));
    assert_int_equal(tepal_exceptions_count(list), r.false_negatives);
    assert_true(tepal_exceptions_belong(list, out));
    struct tepal_filter *stranger;
    struct tepal_params other = *tepal_filter_params(out);
    other.seed++;
    assert_ok(tepal_filter_create(&other, NULL, &stranger, NULL));
    assert_false(tepal_exceptions_belong(list, stranger));
    tepal_filter_free(stranger);
    other.seed--;
    other.cells *= 2; /* the digests are the same */
    assert_ok(tepal_filter_create(&other, NULL, &stranger, NULL));
    assert_true(tepal_exceptions_belong(list, stranger));
    tepal_filter_free(stranger);
    for (size_t i = 0; i < MEMBERS; i++) {
        assert_true(tepal_filter_query(out, s.member[i]) ||
                    tepal_exceptions_query(list, s.member[i]));
        assert_int_equal(tepal_exceptions_query(list, s.member[i]), victims[i / 64] >> i % 64 & 1);
        assert_int_equal(tepal_exceptions_query(made, s.member[i]), victims[i / 64] >> i % 64 & 1);
    }
    for (size_t i = 0; i < s.bad_count; i++) {
        assert_false(tepal_filter_query(out, s.bad[i]) || tepal_exceptions_query(list, s.bad[i]));
    }
    tepal_exceptions_free(list);
    /* Every cut and every changed byte is noticed. */
    for (size_t cut = 0; cut < len; cut++) {
        uint8_t *part = copied(bytes, cut);
        list = NULL;
        enum tepal_status status = tepal_exceptions_decode(part, cut, NULL, &list, &error);
        check_error(&error, status);
        assert_null(list);
        free(part);
    }
    for (size_t i = 0; i < len; i++) {
        bytes[i] ^= 0x20;
        list = NULL;
        enum tepal_status status = tepal_exceptions_decode(bytes, len, NULL, &list, &error);
        check_error(&error, status);
        assert_null(list);
        bytes[i] ^= 0x20;
    }
    /* Memory that runs out. */
    for (unsigned n = 1; n <= 2; n++) {
        struct memory m = {.fail_at = n};
        struct tepal_allocator allocator = memory_allocator(&m);
        assert_int_equal(
            tepal_exceptions_create(out, s.member, MEMBERS, victims, &allocator, &list, &error),
            TEPAL_NO_MEMORY);
        check_error(&error, TEPAL_NO_MEMORY);
        assert_int_equal(m.live, 0);
        m = (struct memory){.fail_at = n};
        assert_int_equal(tepal_exceptions_decode(bytes, len, &allocator, &list, NULL),
                         TEPAL_NO_MEMORY);
        assert_int_equal(m.live, 0);
    }
    assert_null(list);
    free(bytes);
    tepal_exceptions_free(made);
    tepal_exceptions_free(NULL);
    tepal_filter_free(out);
    scene_free(&s);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void every_request_refused(void **state)
{
    (void)state;
    struct scene s;
    scene_make(&s, TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 14);
    struct tepal_known input = scene_input(&s);
    double weights[MOST_BAD];
    for (size_t i = 0; i < MOST_BAD; i++) {
        weights[i] = (double)(i % 5);
    }
    struct tepal_digest given[MEMBERS];
    memcpy(given, s.member, sizeof given);
    given[0].lo ^= 1; /* one that is not there: another bitmap */
    input.members = given;
    input.avoid_weights = weights;
    input.others = s.bad;
    input.other_count = s.bad_count;
    static const enum tepal_retouch_method tried[] = {
        TEPAL_RETOUCH_RANDOM_BITS, TEPAL_RETOUCH_IMPROVED_RATIO, TEPAL_RETOUCH_SACRIFICE};
    for (size_t i = 0; i < 3; i++) {
        struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
        options.method = tried[i];
        options.sweep = true;
        options.basis = TEPAL_RETOUCH_BASIS_ALL;
        options.order = TEPAL_RETOUCH_ORDER_WEIGHT;
        for (unsigned n = 1;; n++) {
            struct memory m = {.fail_at = n};
            struct tepal_allocator allocator = memory_allocator(&m);
            struct tepal_filter *out = NULL;
            struct tepal_retouch_report report = {.members = 12345};
            uint64_t victims[MEMBERS / 64 + 1] = {77};
            struct tepal_error error = {.why = NULL};
            enum tepal_status status = tepal_retouch(s.bloom, &input, &options, &allocator, &out,
                                                     &report, victims, &error);
            if (memory_sufficed(&m, status, out)) {
                assert_true(n > 10);
                break;
            }
            assert_int_equal(report.members, 12345);
            assert_int_equal(victims[0], 77);
            check_error(&error, TEPAL_NO_MEMORY);
        }
    }
    scene_free(&s);
}

/* ---- the model ------------------------------------------------------------------------------- */

static void check_near(double value, double expected, double relative)
{
    if (!(fabs(value - expected) <= relative * fabs(expected))) {
        fail_msg("%.10g, expected %.10g", value, expected);
    }
}

static void the_formulas(void **state)
{
    (void)state;
    uint64_t m = 100000;
    uint64_t n = 10000;
    check_near(tepal_retouched_zero(m, n, 5), 0.606529143, 1e-8);       /* eq. (2) */
    check_near(tepal_retouched_zero_approx(m, n, 5), exp(-0.5), 1e-12); /* eq. (3) */
    check_near(tepal_retouched_best_hashes(m, n), 10 * log(2), 1e-12);  /* eq. (6) */
    check_near(tepal_retouched_least_fp(m, n), pow(0.6185, 10), 1e-3);  /* eq. (7) */
    double ones = (1 - tepal_retouched_zero(m, n, 5)) * 1e5;
    check_near(tepal_retouched_kept(m, n, 5, 1), pow(1 - 1 / ones, 5), 1e-12);      /* eq. (13) */
    check_near(tepal_retouched_kept(m, n, 5, 1000), pow(1 - 1000 / ones, 5), 1e-9); /* (16) */
    check_near(tepal_retouched_chi(0.01, 0.008, 0.1), 2, 1e-12);                    /* (12) */
    double cleared;
    double lost;
    double beyond;
    /* Table I, 100 % and 10 %, to the model's 1 %. */
    assert_ok(tepal_retouched_random(n, 5, ones, 18786, 18786, &cleared, &lost, &beyond));
    check_near(lost, 7367, 0.01);
    assert_true(beyond == 0);
    assert_ok(tepal_retouched_random(n, 5, ones, 1872, 18720, NULL, &lost, &beyond));
    check_near(lost, 1954, 0.02);
    check_near(beyond, 3306, 0.02);
    assert_ok(tepal_retouched_random(n, 1, 5000, 5000, 5000, &cleared, NULL, NULL));
    check_near(cleared, 5000 * (1 - exp(-1)), 1e-12);
    assert_int_equal(tepal_retouched_random(n, 0, 1, 1, 1, NULL, NULL, NULL), TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_retouched_random(n, 5, 0, 1, 1, NULL, NULL, NULL), TEPAL_BAD_ARGUMENT);
    assert_int_equal(tepal_retouched_random(n, 5, 9, 2, 1, NULL, NULL, NULL), TEPAL_BAD_ARGUMENT);
    assert_true(isnan(tepal_retouched_zero(0, 1, 1)) && isnan(tepal_retouched_kept(9, 9, 1, 10)));
    assert_true(isnan(tepal_retouched_best_hashes(9, 0)));

    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.kind = TEPAL_KIND_RETOUCHED;
    params.cells = m;
    params.hashes = 5;
    struct tepal_report report;
    struct tepal_use use = TEPAL_USE_INIT;
    use.keys = n;
    use.universe = 2000000;
    use.share_removed = 0.1;
    use.bits_cleared = 1000;
    assert_ok(tepal_model(&params, &use, &report, NULL));
    check_near(tepal_report_find(&report, "false_positives")->value.real, 18786, 0.01);
    check_near(tepal_report_find(&report, "random_bits_chi")->value.real, 1, 1e-9);
    check_near(tepal_report_find(&report, "random_chi")->value.real, 1.42, 0.02);
    const struct tepal_use bad[] = {{.keys = n, .universe = n, .share_removed = 0.1},
                                    {.keys = n, .universe = 2 * n, .share_removed = 1.1},
                                    {.keys = n, .universe = 2 * n, .bits_cleared = m}};
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct tepal_error error;
        assert_int_equal(tepal_model(&params, &bad[i], &report, &error), TEPAL_BAD_ARGUMENT);
        check_error(&error, TEPAL_BAD_ARGUMENT);
    }
    params.layout = TEPAL_LAYOUT_PARTITIONED;
    use = (struct tepal_use){.keys = n, .universe = 2 * n, .share_removed = 1};
    assert_int_equal(tepal_model(&params, &use, &report, NULL), TEPAL_BAD_ARGUMENT);
}

/*
 * What sacrifice chooses is pinned: the order in which it looks at its candidates is a matter of
 * speed and must not change them. All of B, a budget, and weights.
 */
static void sacrifice_chooses_the_same(void **state)
{
    static const uint64_t sums[] = {UINT64_C(0x121aaa0f4f98e9d2), UINT64_C(0xa8fa0c6340ddb3e3),
                                    UINT64_C(0xfc5ab2a24c8e83e6), UINT64_C(0x586b2e9243febc6e),
                                    UINT64_C(0xb312d6e2e433576e), UINT64_C(0xbec53744fa28c923),
                                    UINT64_C(0x5a6caf0f5c33e63e), UINT64_C(0x6efea9cf86147051)};
    double weights[MOST_BAD];
    (void)state;
    for (size_t i = 0; i < MOST_BAD; i++) {
        weights[i] = 1 + (double)(i * 7919 % 101);
    }
    for (size_t i = 0; i < COUNT(sums); i++) {
        struct scene s;
        struct tepal_retouch_report report;
        struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
        scene_make(&s, i % 2 == 0 ? TEPAL_LAYOUT_FLAT : TEPAL_LAYOUT_BLOCKED,
                   TEPAL_POSITIONS_COLLIDING, 1000 + i);
        struct tepal_known input = scene_input(&s);
        input.avoid_weights = i < 4 ? NULL : weights;
        options.method = TEPAL_RETOUCH_SACRIFICE;
        if (i % 4 >= 2) {
            options.limit = TEPAL_RETOUCH_LIMIT_COUNT;
            options.budget = 20;
        }
        struct tepal_filter *out = touch(s.bloom, &input, &options, &report, NULL);
        uint64_t sum = 0;
        uint8_t bytes[BITS / 8 + 4096];
        size_t len = (size_t)tepal_encoded_bytes(out);
        assert_true(len <= sizeof bytes);
        assert_ok(tepal_encode(out, bytes, len, NULL));
        for (size_t b = 0; b < len; b++) {
            sum = (sum ^ bytes[b]) * UINT64_C(1099511628211);
        }
        assert_int_equal(sum, sums[i]);
        tepal_filter_free(out);
        scene_free(&s);
    }
}

/* ---- sacrifice, naively ---------------------------------------------------------------------- */

#define MOST_OWNERS 16

/* The same choices by looking at everything every time. */
struct naive {
    uint64_t member_at[MEMBERS][HASHES]; /* its bits that some bad key has, each once */
    uint32_t member_bits[MEMBERS];
    uint64_t bad_at[MOST_BAD][HASHES];
    uint32_t bad_bits[MOST_BAD];
    size_t bad_count;
    size_t owner[BITS][MOST_OWNERS];
    uint32_t owners[BITS];
    float credit[MOST_BAD];
    float sole[MEMBERS];
    double alone[MEMBERS];
    float worth[BITS]; /* below 0: not a candidate */
    bool touched[BITS];
    bool lost[MEMBERS];
    bool gone[MOST_BAD];
    size_t lost_count;
    size_t gone_count;
};

static uint32_t once_each(const struct address *at, struct tepal_digest d, const bool *only,
                          uint64_t *out)
{
    uint64_t all[TEPAL_MAX_HASHES];
    uint32_t k = tepal_address_positions(at, d, all);
    uint32_t count = 0;
    for (uint32_t i = 0; i < k; i++) {
        bool new = only == NULL || only[all[i]];
        for (uint32_t j = 0; j < count; j++) {
            new = new &&out[j] != all[i];
        }
        if (new) {
            out[count++] = all[i];
        }
    }
    return count;
}

static void naive_open(struct naive *n, const struct scene *s, const double *weights, bool all)
{
    struct address at = tepal_address_of(tepal_filter_params(s->bloom), 1);
    uint32_t hits[BITS] = {0};
    memset(n, 0, sizeof *n);
    n->bad_count = s->bad_count;
    for (size_t f = 0; f < s->bad_count; f++) {
        n->bad_bits[f] = once_each(&at, s->bad[f], NULL, n->bad_at[f]);
        for (uint32_t i = 0; i < n->bad_bits[f]; i++) {
            n->touched[n->bad_at[f][i]] = true;
        }
    }
    for (size_t a = 0; a < MEMBERS; a++) {
        uint64_t positions[TEPAL_MAX_HASHES];
        uint32_t k = tepal_address_positions(&at, s->member[a], positions);
        for (uint32_t i = 0; i < k; i++) {
            hits[positions[i]]++;
        }
        n->member_bits[a] = once_each(&at, s->member[a], n->touched, n->member_at[a]);
        for (uint32_t i = 0; i < n->member_bits[a]; i++) {
            uint64_t bit = n->member_at[a][i];
            assert_true(n->owners[bit] < MOST_OWNERS);
            n->owner[bit][n->owners[bit]++] = a;
        }
    }
    for (size_t a = 0; a < MEMBERS; a++) {
        uint64_t positions[TEPAL_MAX_HASHES];
        uint32_t k = tepal_address_positions(&at, s->member[a], positions);
        for (uint32_t i = 0; i < k; i++) {
            n->alone[a] += hits[positions[i]] == 1;
        }
    }
    for (size_t f = 0; f < s->bad_count; f++) {
        double ways = 0;
        for (uint32_t i = 0; i < n->bad_bits[f]; i++) {
            ways += 1 / (double)n->owners[n->bad_at[f][i]];
        }
        n->credit[f] = (float)(all ? 1 / ways : weights == NULL ? 1 : weights[f]);
    }
}

static double naive_users(const struct naive *n, uint64_t bit)
{
    double sum = 0;
    for (size_t f = 0; f < n->bad_count; f++) {
        for (uint32_t i = 0; i < n->bad_bits[f] && !n->gone[f]; i++) {
            sum += n->bad_at[f][i] == bit ? (double)n->credit[f] : 0;
        }
    }
    return sum;
}

static uint32_t naive_left(const struct naive *n, uint64_t bit, size_t *one)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < n->owners[bit]; i++) {
        if (!n->lost[n->owner[bit][i]]) {
            *one = n->owner[bit][i];
            left++;
        }
    }
    return left;
}

static float naive_worth(const struct naive *n, uint64_t bit)
{
    double gain = 0;
    double alone = 0;
    double left = 0;
    for (uint32_t i = 0; i < n->owners[bit]; i++) {
        size_t a = n->owner[bit][i];
        if (!n->lost[a]) {
            gain += (double)n->sole[a];
            alone += n->alone[a];
            left++;
        }
    }
    gain += left > 1 ? naive_users(n, bit) : 0;
    return gain > 0 ? (float)(gain / left * (1 + 1e-3 * alone / left)) : 0;
}

/* The member is lost: what that does to its bits. */
static void naive_free(struct naive *n, size_t member)
{
    size_t one = 0;
    for (uint32_t i = 0; i < n->member_bits[member]; i++) {
        uint64_t bit = n->member_at[member][i];
        for (size_t f = 0; f < n->bad_count && naive_left(n, bit, &one) == 0; f++) {
            for (uint32_t j = 0; j < n->bad_bits[f]; j++) {
                if (n->bad_at[f][j] == bit && !n->gone[f]) {
                    n->gone[f] = true;
                    n->gone_count++;
                }
            }
        }
        n->worth[bit] = naive_left(n, bit, &one) == 0 ? -1 : n->worth[bit];
    }
    for (uint32_t i = 0; i < n->member_bits[member]; i++) {
        uint64_t bit = n->member_at[member][i];
        uint32_t left = naive_left(n, bit, &one);
        double users = naive_users(n, bit);
        if (left > 1) {
            n->worth[bit] = naive_worth(n, bit);
        } else if (left == 1 && users > 0) {
            n->sole[one] += (float)users;
            for (uint32_t j = 0; j < n->member_bits[one]; j++) {
                n->worth[n->member_at[one][j]] = naive_worth(n, n->member_at[one][j]);
            }
        }
    }
}

static void naive_give_up(struct naive *n, uint64_t bit)
{
    uint32_t going = 0;
    n->worth[bit] = -1;
    for (uint32_t i = 0; i < n->owners[bit]; i++) {
        size_t a = n->owner[bit][i];
        if (!n->lost[a]) {
            n->lost[a] = true;
            n->lost_count++;
            n->owner[bit][i] = n->owner[bit][going];
            n->owner[bit][going++] = a;
        }
    }
    for (uint32_t i = 0; i < going; i++) {
        naive_free(n, n->owner[bit][i]);
    }
}

static void naive_greedy(struct naive *n, size_t budget)
{
    while (n->gone_count < n->bad_count) {
        uint64_t best = 0;
        for (uint64_t bit = 1; bit < BITS; bit++) {
            best = n->worth[bit] > n->worth[best] ? bit : best;
        }
        if (n->worth[best] < 0) {
            return;
        }
        size_t left = 0;
        for (uint32_t i = 0; i < n->owners[best]; i++) {
            size_t a = n->owner[best][i];
            if (!n->lost[a]) {
                double sum = 0;
                for (uint32_t j = 0; j < n->member_bits[a]; j++) {
                    size_t one;
                    uint64_t bit = n->member_at[a][j];
                    sum += naive_left(n, bit, &one) == 1 ? naive_users(n, bit) : 0;
                }
                n->sole[a] = (float)sum;
                left++;
            }
        }
        float worth = naive_worth(n, best);
        if (worth < n->worth[best]) {
            n->worth[best] = worth > 0 ? worth : -1;
        } else if (n->lost_count + left > budget) {
            n->worth[best] = -1;
        } else {
            naive_give_up(n, best);
        }
    }
}

/* Is the member still lost for a purpose: would a key be found if its bits were set again? */
static bool naive_needed(struct naive *n, size_t member)
{
    bool needed = false;
    n->lost[member] = false;
    for (size_t f = 0; f < n->bad_count; f++) {
        bool found = true;
        bool its_own = false; /* does it depend on a bit that only this member would set again? */
        for (uint32_t i = 0; i < n->bad_bits[f]; i++) {
            size_t one = MEMBERS;
            uint32_t left = naive_left(n, n->bad_at[f][i], &one);
            found = found && left > 0;
            its_own = its_own || (left == 1 && one == member);
        }
        needed = needed || (found && its_own);
    }
    n->lost[member] = true;
    return needed;
}

static void naive_run(struct naive *n, size_t budget)
{
    for (int round = 0; round < 4; round++) {
        size_t revived = 0;
        memset(n->sole, 0, sizeof n->sole);
        for (uint64_t bit = 0; bit < BITS; bit++) {
            size_t one;
            if (naive_left(n, bit, &one) == 1) {
                n->sole[one] += (float)naive_users(n, bit);
            }
        }
        for (uint64_t bit = 0; bit < BITS; bit++) {
            float worth = n->touched[bit] ? naive_worth(n, bit) : 0;
            n->worth[bit] = worth > 0 ? worth : -1;
        }
        naive_greedy(n, budget);
        for (size_t a = 0; a < MEMBERS; a++) {
            if (n->lost[a] && !naive_needed(n, a)) {
                n->lost[a] = false;
                n->lost_count--;
                revived++;
            }
        }
        if (revived == 0 || n->gone_count == n->bad_count) {
            return;
        }
    }
}

static void sacrifice_is_as_the_naive_one(void **state)
{
    double weights[MOST_BAD];
    static struct naive naive;
    (void)state;
    for (size_t i = 0; i < MOST_BAD; i++) {
        weights[i] = 1 + (double)(i * 7919 % 101);
    }
    for (size_t i = 0; i < 4 * COUNT(layouts); i++) {
        struct scene s;
        struct tepal_retouch_report report;
        struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
        uint64_t victims[(MEMBERS + 63) / 64];
        size_t budget = i % 2 == 0 ? MEMBERS : 5 + 5 * i;
        scene_make(&s, layouts[i / 4].layout, layouts[i / 4].positions, 2000 + i);
        struct tepal_known input = scene_input(&s);
        input.avoid_weights = i % 4 >= 2 ? weights : NULL;
        options.method = TEPAL_RETOUCH_SACRIFICE;
        if (i % 2 != 0) {
            options.limit = TEPAL_RETOUCH_LIMIT_COUNT;
            options.budget = (double)budget;
        }
        tepal_filter_free(touch(s.bloom, &input, &options, &report, victims));
        naive_open(&naive, &s, input.avoid_weights, i % 2 == 0);
        naive_run(&naive, budget);
        for (size_t a = 0; a < MEMBERS; a++) {
            assert_int_equal(victims[a / 64] >> a % 64 & 1, naive.lost[a]);
        }
        scene_free(&s);
    }
}

/*
 * In a filter of several blocks, with keys in several slabs.
 * The sum is that of a run without blocks.
 */
static void sacrifice_in_blocks(void **state)
{
    enum { KEYS = 250000, BAD = 25000 };
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.cells = (uint64_t)10 * KEYS;
    params.hashes = 7;
    params.seed = KEYS;
    struct tepal_filter *bloom;
    struct tepal_hasher hasher;
    struct tepal_digest *member = test_malloc(KEYS * sizeof *member);
    struct tepal_digest *bad = test_malloc(BAD * sizeof *bad);
    (void)state;
    assert_ok(tepal_filter_create(&params, NULL, &bloom, NULL));
    (void)tepal_filter_hasher(bloom, &hasher);
    for (size_t i = 0; i < KEYS; i++) {
        member[i] = tepal_hash_u64(&hasher, i);
    }
    assert_ok(tepal_filter_add_many(bloom, member, KEYS));
    uint64_t key = (uint64_t)1 << 40;
    for (size_t found = 0; found < BAD; key++) {
        bad[found] = tepal_hash_u64(&hasher, key);
        found += tepal_filter_query(bloom, bad[found]);
    }
    struct tepal_known input = {
        .members = member, .member_count = KEYS, .avoid = bad, .avoid_count = BAD};
    struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    struct tepal_retouch_report report;
    options.method = TEPAL_RETOUCH_SACRIFICE;
    struct tepal_filter *out = touch(bloom, &input, &options, &report, NULL);
    uint64_t sum = 0;
    for (size_t w = 0; w < out->word_count; w++) {
        sum = (sum ^ out->words[w]) * UINT64_C(1099511628211);
    }
    assert_int_equal(report.avoid_left, 0);
    assert_int_equal(sum, UINT64_C(0x6d829acb7cfcf55f));
    tepal_filter_free(out);
    tepal_filter_free(bloom);
    test_free(member);
    test_free(bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_on_every_layout),
        cmocka_unit_test(sacrifice_is_best),
        cmocka_unit_test(sacrifice_chooses_the_same),
        cmocka_unit_test(sacrifice_is_as_the_naive_one),
        cmocka_unit_test(sacrifice_in_blocks),
        cmocka_unit_test(methods_decide_as_printed),
        cmocka_unit_test(budgets_are_kept),
        cmocka_unit_test(weights_count),
        cmocka_unit_test(retouching_again),
        cmocka_unit_test(known_false_positives),
        cmocka_unit_test(the_curve),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(members_among_the_negatives),
        cmocka_unit_test(forgotten_members_are_safe),
        cmocka_unit_test(tiny_filters),
        cmocka_unit_test(a_retouched_filter_is_a_bloom_filter_to_ask),
        cmocka_unit_test(the_best_method_is_sacrifice),
        cmocka_unit_test(methods_have_names),
        cmocka_unit_test(exceptions_make_it_exact),
        cmocka_unit_test(every_request_refused),
        cmocka_unit_test(the_formulas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
