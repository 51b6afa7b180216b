/*
 * retouched_blind_unit.c: retouching without the members: what is decided is what the same method
 * decides with them wherever it does not ask for them; counters stand in for members; budgets limit
 * the expectation; the state tells an estimate from a count, through a file; what is refused, and
 * memory that runs out.
 */
#include "file_help.h"
#include "check.h"

#define MEMBERS  500
#define BITS     4096
#define HASHES   4
#define MOST_BAD 300

struct scene {
    struct tepal_filter *bloom;
    struct tepal_filter *counting; /* of the same keys in the same places */
    struct tepal_digest member[MEMBERS];
    struct tepal_digest bad[MOST_BAD];
    double weight[MOST_BAD];
};

static void scene_make(struct scene *s, enum tepal_layout layout, uint64_t seed)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.layout = layout;
    params.cells = BITS;
    params.hashes = HASHES;
    assert_ok(tepal_filter_create(&params, NULL, &s->bloom, NULL));
    params.kind = TEPAL_KIND_COUNTING;
    params.counting.choices = 1;
    assert_ok(tepal_filter_create(&params, NULL, &s->counting, NULL));
    check_digests(&seed, s->member, MEMBERS);
    assert_ok(tepal_filter_add_many(s->bloom, s->member, MEMBERS));
    assert_ok(tepal_filter_add_many(s->counting, s->member, MEMBERS));
    for (size_t i = 0; i < MOST_BAD;) {
        s->bad[i] = check_digest(&seed);
        s->weight[i] = (double)(i % 7);
        i += tepal_filter_query(s->bloom, s->bad[i]);
    }
}

static void scene_free(struct scene *s)
{
    tepal_filter_free(s->bloom);
    tepal_filter_free(s->counting);
}

static struct tepal_filter *touch(const struct tepal_filter *filter,
                                  const struct tepal_known *known,
                                  const struct tepal_retouch_options *how,
                                  struct tepal_retouch_report *report)
{
    struct tepal_filter *out = NULL;
    struct tepal_error error = {.why = ""};
    if (tepal_retouch(filter, known, how, NULL, &out, report, NULL, &error) != TEPAL_OK) {
        fail_msg("%s: %s", tepal_retouch_method_name(how->method), error.why);
    }
    assert_ok(tepal_filter_validate(out, NULL));
    return out;
}

static bool same_bits(const struct tepal_filter *a, const struct tepal_filter *b)
{
    size_t words;
    size_t others;
    const uint64_t *x = tepal_filter_words(a, &words);
    const uint64_t *y = tepal_filter_words(b, &others);
    return words == others && memcmp(x, y, words * 8) == 0;
}

/* The bits are those of the run that knows the members: these methods do not ask for them. */
static void the_same_bits_as_with_members(void **state)
{
    (void)state;
    static const enum tepal_layout layouts[] = {TEPAL_LAYOUT_FLAT, TEPAL_LAYOUT_PARTITIONED,
                                                TEPAL_LAYOUT_BLOCKED, TEPAL_LAYOUT_PAIRED};
    static const enum tepal_retouch_method methods[] = {TEPAL_RETOUCH_RANDOM, TEPAL_RETOUCH_MAX_FP,
                                                        TEPAL_RETOUCH_IMPROVED_MAX_FP,
                                                        TEPAL_RETOUCH_MIN_FN, TEPAL_RETOUCH_RATIO};
    for (size_t l = 0; l < COUNT(layouts); l++) {
        struct scene s;
        /* lines of counters are shorter than lines of bits: those have no Bloom filter's places */
        bool counts = !tepal_layout_in_lines(layouts[l]);
        scene_make(&s, layouts[l], 40 + l);
        for (size_t m = 0; m < (counts ? COUNT(methods) : 3); m++) {
            struct tepal_known known = {.members = s.member,
                                        .member_count = MEMBERS,
                                        .avoid = s.bad,
                                        .avoid_count = MOST_BAD,
                                        .avoid_weights = m % 2 == 0 ? NULL : s.weight};
            struct tepal_retouch_options how = TEPAL_RETOUCH_OPTIONS_INIT;
            struct tepal_retouch_report counted;
            struct tepal_retouch_report blind;
            how.method = methods[m];
            struct tepal_filter *a = touch(s.bloom, &known, &how, &counted);
            known.members = NULL;
            known.member_count = 0;
            struct tepal_filter *b = touch(m < 3 ? s.bloom : s.counting, &known, &how, &blind);
            assert_true(same_bits(a, b));
            assert_false(counted.expected);
            assert_true(blind.expected);
            assert_int_equal(counted.bits_changed, blind.bits_changed);
            assert_int_equal(counted.avoid_left, blind.avoid_left);
            assert_true(counted.lost_expected == (double)counted.false_negatives);
            assert_true((double)counted.false_negatives >= blind.lost_low);
            assert_true((double)counted.false_negatives <= blind.lost_high);
            assert_true(counted.false_negatives <= blind.lost_most);
            assert_int_equal(blind.false_negatives, llround(blind.lost_expected));
            tepal_filter_free(a);
            tepal_filter_free(b);
        }
        scene_free(&s);
    }
}

/* A counter that sticks, at 15 or at 255, does not tell how many own it: all may be lost. */
static void a_stuck_counter_bounds_nothing(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        const uint64_t limit = wide ? TEPAL_MAX_COUNTER : TEPAL_MAX_SMALL_COUNTER;
        for (uint64_t copies = limit - 1; copies <= limit + 20; copies += 7) {
            struct tepal_params p = TEPAL_PARAMS_INIT;
            struct tepal_filter *f = NULL;
            struct tepal_retouch_report report;
            struct tepal_retouch_options how = TEPAL_RETOUCH_OPTIONS_INIT;
            struct tepal_digest digest = {.lo = 7, .hi = 11};
            p.kind = TEPAL_KIND_COUNTING;
            p.cells = 4096;
            p.hashes = 4;
            p.counting.choices = 1;
            p.counting.form = wide ? TEPAL_FORM_WIDE_COUNTERS : TEPAL_FORM_COUNTERS;
            assert_ok(tepal_filter_create(&p, NULL, &f, NULL));
            for (uint64_t i = 0; i < copies; i++) {
                assert_ok(tepal_filter_add(f, digest));
            }
            how.method = TEPAL_RETOUCH_MIN_FN;
            struct tepal_known known = {.avoid = &digest, .avoid_count = 1};
            tepal_filter_free(touch(f, &known, &how, &report));
            assert_int_equal(report.lost_most, copies); /* those members were the same key */
            assert_true(report.lost_high <= (double)copies);
            tepal_filter_free(f);
        }
    }
}

/* `best` knows what it may ask for; a counting filter with its members is a Bloom filter. */
static void the_best_of_what_is_known(void **state)
{
    (void)state;
    struct scene s;
    scene_make(&s, TEPAL_LAYOUT_FLAT, 9);
    struct tepal_known known = {.avoid = s.bad, .avoid_count = MOST_BAD};
    struct tepal_retouch_options best = TEPAL_RETOUCH_OPTIONS_INIT;
    struct tepal_retouch_options named = TEPAL_RETOUCH_OPTIONS_INIT;
    for (int counts = 0; counts < 2; counts++) {
        const struct tepal_filter *from = counts ? s.counting : s.bloom;
        named.method = counts ? TEPAL_RETOUCH_RATIO : TEPAL_RETOUCH_MAX_FP;
        struct tepal_filter *a = touch(from, &known, &best, NULL);
        struct tepal_filter *b = touch(from, &known, &named, NULL);
        assert_true(same_bits(a, b));
        tepal_filter_free(a);
        tepal_filter_free(b);
    }
    known.members = s.member;
    known.member_count = MEMBERS;
    struct tepal_filter *a = touch(s.bloom, &known, &best, NULL);
    struct tepal_filter *b = touch(s.counting, &known, &best, NULL);
    assert_true(same_bits(a, b));
    tepal_filter_free(a);
    tepal_filter_free(b);
    scene_free(&s);
}

/* The expectation stays within every budget, and uses it: one more bit would not fit. */
static void budgets_of_the_expectation(void **state)
{
    (void)state;
    struct scene s;
    scene_make(&s, TEPAL_LAYOUT_FLAT, 11);
    struct tepal_known known = {.avoid = s.bad, .avoid_count = MOST_BAD};
    struct tepal_retouch_options how = TEPAL_RETOUCH_OPTIONS_INIT;
    struct tepal_retouch_report r;
    double before = 0;
    for (int i = 0; i <= 5; i++) {
        how.limit = TEPAL_RETOUCH_LIMIT_SHARE;
        how.budget = 0.02 * i;
        tepal_filter_free(touch(s.bloom, &known, &how, &r));
        double most = how.budget * r.member_weight;
        assert_true(r.lost_expected <= most * (1 + 1e-9));
        assert_true(i == 0 || r.lost_expected > most - 2);
        assert_true(i == 0 ? r.bits_changed == 0 : r.lost_expected > before);
        before = r.lost_expected;
        how.limit = TEPAL_RETOUCH_LIMIT_COUNT;
        how.budget = 7.5 * i;
        tepal_filter_free(touch(s.counting, &known, &how, &r));
        assert_true(r.lost_expected <= how.budget * (1 + 1e-9));
        assert_true(i == 0 || r.lost_expected > how.budget - 4);
    }
    scene_free(&s);
}

/* Retouched again, without the members and with them; through a file. */
static void again(void **state)
{
    (void)state;
    struct scene s;
    scene_make(&s, TEPAL_LAYOUT_FLAT, 12);
    struct tepal_known known = {.avoid = s.bad, .avoid_count = 40};
    struct tepal_retouch_options how = TEPAL_RETOUCH_OPTIONS_INIT;
    struct tepal_retouch_report first;
    struct tepal_retouch_report second;
    struct tepal_filter *one = touch(s.bloom, &known, &how, &first);
    size_t len = (size_t)tepal_encoded_bytes(one);
    uint8_t *bytes = malloc(len);
    struct tepal_filter *back = NULL;
    assert_non_null(bytes);
    assert_ok(tepal_encode(one, bytes, len, NULL));
    assert_ok(tepal_decode(bytes, len, NULL, &back, NULL));
    struct tepal_report info;
    tepal_filter_info(back, &info);
    assert_true(tepal_report_find(&info, "expected")->value.flag);
    assert_int_equal(info_integer(back, "members"), first.members);
    assert_int_equal(info_integer(back, "false_negatives"), first.false_negatives);
    known.avoid = s.bad + 40;
    known.avoid_count = 60;
    struct tepal_filter *two = touch(back, &known, &how, &second);
    assert_int_equal(second.members, first.members);
    assert_int_equal(second.members_absent, first.false_negatives);
    assert_true(second.lost_expected > first.lost_expected);
    size_t lost = 0;
    for (size_t i = 0; i < MEMBERS; i++) {
        lost += !tepal_filter_query(two, s.member[i]);
    }
    /* two runs of it, each within 99 %, and the estimate of the members */
    assert_true(fabs((double)lost - second.lost_expected) <
                2 * (second.lost_high - second.lost_low));
    /* Somebody who has the members counts again. */
    known.members = s.member;
    known.member_count = MEMBERS;
    struct tepal_filter *three = touch(two, &known, &how, &second);
    assert_false(second.expected);
    tepal_filter_info(three, &info);
    assert_false(tepal_report_find(&info, "expected")->value.flag);
    assert_int_equal(second.members_absent, lost);
    free(bytes);
    tepal_filter_free(one);
    tepal_filter_free(back);
    tepal_filter_free(two);
    tepal_filter_free(three);
    scene_free(&s);
}

static void refused(const struct tepal_filter *filter, const struct tepal_known *known,
                    enum tepal_retouch_method method, bool sweep, enum tepal_status status)
{
    struct tepal_retouch_options how = TEPAL_RETOUCH_OPTIONS_INIT;
    struct tepal_filter *out = NULL;
    struct tepal_error error = {.why = NULL};
    how.method = method;
    how.sweep = sweep;
    assert_int_equal(tepal_retouch(filter, known, &how, NULL, &out, NULL, NULL, &error), status);
    check_error(&error, status);
    assert_null(out);
}

static void what_is_refused(void **state)
{
    (void)state;
    struct scene s;
    scene_make(&s, TEPAL_LAYOUT_FLAT, 13);
    struct tepal_known known = {.avoid = s.bad, .avoid_count = 40};
    refused(s.bloom, &known, TEPAL_RETOUCH_MIN_FN, false, TEPAL_BAD_ARGUMENT);
    refused(s.bloom, &known, TEPAL_RETOUCH_RATIO, false, TEPAL_BAD_ARGUMENT);
    refused(s.bloom, &known, TEPAL_RETOUCH_MAX_FP, true, TEPAL_BAD_ARGUMENT);
    refused(s.counting, &known, TEPAL_RETOUCH_SACRIFICE, false, TEPAL_BAD_ARGUMENT);
    refused(s.counting, &known, TEPAL_RETOUCH_IMPROVED_RATIO, false, TEPAL_BAD_ARGUMENT);
    refused(s.counting, &known, TEPAL_RETOUCH_NET_EFFECT, false, TEPAL_BAD_ARGUMENT);
    struct tepal_filter *bits;
    assert_ok(tepal_counting_strip(s.counting, NULL, &bits, NULL));
    refused(bits, &known, TEPAL_RETOUCH_RATIO, false, TEPAL_BAD_ARGUMENT);
    tepal_filter_free(bits);
    /* An empty array is a mistake, not a wish. */
    known.members = s.member;
    refused(s.bloom, &known, TEPAL_RETOUCH_MAX_FP, false, TEPAL_BAD_ARGUMENT);
    known.members = NULL;
    /* Nothing but ones speak for no number of keys. */
    struct tepal_filter *full;
    assert_ok(bloom_with_bits(8, 2, 1, &full));
    assert_ok(tepal_filter_add_many(full, s.member, MEMBERS));
    refused(full, &known, TEPAL_RETOUCH_MAX_FP, false, TEPAL_BAD_ARGUMENT);
    tepal_filter_free(full);
    scene_free(&s);
}

/* The curve of expectations grows to where the whole run ends. */
static void the_curve(void **state)
{
    (void)state;
    struct scene s;
    struct tepal_retouch_point points[20];
    struct tepal_retouch_report report;
    size_t count = 0;
    scene_make(&s, TEPAL_LAYOUT_BLOCKED, 14);
    struct tepal_known known = {.avoid = s.bad, .avoid_count = MOST_BAD};
    struct tepal_retouch_options how = TEPAL_RETOUCH_OPTIONS_INIT;
    assert_ok(tepal_retouch_curve(s.bloom, &known, &how, NULL, points, 20, &count, &report, NULL));
    assert_true(count > 5 && count <= 20);
    for (size_t i = 1; i < count; i++) {
        assert_true(points[i].lost_weight > points[i - 1].lost_weight);
        assert_true(points[i].removed_weight >= points[i - 1].removed_weight);
        assert_int_equal(points[i].false_negatives, llround(points[i].lost_weight));
    }
    assert_true(points[count - 1].lost_weight == report.lost_expected);
    assert_int_equal(points[count - 1].avoid_removed, MOST_BAD);
    scene_free(&s);
}

/* Every allocation fails once; nothing is left behind, and nothing is made. */
static void no_memory(void **state)
{
    (void)state;
    struct scene s;
    scene_make(&s, TEPAL_LAYOUT_PARTITIONED, 15);
    struct tepal_known known = {.avoid = s.bad, .avoid_count = MOST_BAD};
    struct tepal_retouch_options how = TEPAL_RETOUCH_OPTIONS_INIT;
    enum tepal_status status = TEPAL_NO_MEMORY;
    for (unsigned at = 1; status != TEPAL_OK; at++) {
        struct memory memory = {.fail_at = at};
        struct tepal_allocator allocator = memory_allocator(&memory);
        struct tepal_filter *out = NULL;
        status = tepal_retouch(s.counting, &known, &how, &allocator, &out, NULL, NULL, NULL);
        assert_true(status == TEPAL_OK || status == TEPAL_NO_MEMORY);
        assert_true((out != NULL) == (status == TEPAL_OK));
        tepal_filter_free(out);
        assert_int_equal(memory.live, 0);
        assert_true(at < 40);
    }
    scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bits_as_with_members),
        cmocka_unit_test(the_best_of_what_is_known),
        cmocka_unit_test(a_stuck_counter_bounds_nothing),
        cmocka_unit_test(budgets_of_the_expectation),
        cmocka_unit_test(again),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(the_curve),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
