/*
 * relations_unit.c: relations that hold between filters of every kind and layout, whatever is in
 * their cells: another order of the keys, keys that come twice, keys that come and go, halves that
 * are united in every way, files of files, and plans that are built and measured.
 */
#include "kinds_help.h"

#define KEYS      400
#define EXTRA     150
#define STRANGERS 4000

static struct specimens all;
static struct tepal_digest keys[KEYS];
static struct tepal_digest extra[EXTRA];
static struct tepal_digest strangers[STRANGERS];

/* What two filters of one specimen have in common: nothing, their answers, or their cells. */
enum alike { NOT_ALIKE, ANSWERS, CELLS };

static bool one_choice(const struct specimen *s)
{
    return s->params.kind == TEPAL_KIND_COUNTING && s->params.counting.choices == 1;
}

static unsigned promises_of(const struct specimen *s)
{
    return tepal_kind_by_id((uint32_t)s->params.kind)->promises;
}

static bool promised(const struct specimen *s, enum tepal_promise promise)
{
    return (promises_of(s) & promise) != 0;
}

static void assert_alike(const struct specimen *s, const struct tepal_filter *a,
                         const struct tepal_filter *b, enum alike how)
{
    if (how == CELLS) {
        specimen_assert(s, tepal_filter_equal(a, b));
    }
    for (size_t i = 0; i < STRANGERS && how != NOT_ALIKE; i++) {
        specimen_assert(s,
                        tepal_filter_query(a, strangers[i]) == tepal_filter_query(b, strangers[i]));
    }
    specimen_assert(s, tepal_filter_validate(a, NULL) == TEPAL_OK);
    specimen_assert(s, tepal_filter_validate(b, NULL) == TEPAL_OK);
}

static void assert_members(const struct specimen *s, const struct tepal_filter *f)
{
    bool none_lost = promised(s, TEPAL_NO_FALSE_NEGATIVES) || s->params.kind == TEPAL_KIND_COUNTING;
    for (size_t i = 0; i < KEYS && none_lost; i++) {
        specimen_assert(s, tepal_filter_query(f, keys[i]));
    }
}

/* Keys from..to - 1, forwards or backwards, each so often. */
static struct tepal_filter *filled(const struct specimen *s, size_t from, size_t to, bool backwards)
{
    struct tepal_filter *f = specimen_make(s, false);
    for (size_t i = 0; i < to - from; i++) {
        enum tepal_status status = tepal_filter_add(f, keys[backwards ? to - 1 - i : from + i]);
        specimen_assert(s, status == TEPAL_OK);
    }
    return f;
}

static void the_order_does_not_count(void **unused)
{
    (void)unused;
    unsigned seen = 0;
    for (size_t n = 0; n < all.count; n++) {
        const struct specimen *s = &all.at[n];
        enum alike how = promised(s, TEPAL_ORDER_FREE) || one_choice(s) ? CELLS
                         : s->params.kind == TEPAL_KIND_FINGERPRINT     ? ANSWERS
                                                                        : NOT_ALIKE;
        struct tepal_filter *forwards = filled(s, 0, KEYS, false);
        struct tepal_filter *backwards = filled(s, 0, KEYS, true);
        assert_alike(s, forwards, backwards, how);
        assert_members(s, forwards);
        assert_members(s, backwards);
        seen += how != NOT_ALIKE;
        tepal_filter_free(forwards);
        tepal_filter_free(backwards);
    }
    assert_true(seen > 20);
}

/* A second time each: those without counts change nothing, whatever they count. */
static void repeats_change_nothing(void **unused)
{
    (void)unused;
    for (size_t n = 0; n < all.count; n++) {
        const struct specimen *s = &all.at[n];
        bool plain = s->params.kind == TEPAL_KIND_BLOOM || s->params.kind == TEPAL_KIND_RETOUCHED ||
                     s->params.kind == TEPAL_KIND_YESNO || s->params.kind == TEPAL_KIND_CASCADE ||
                     s->params.kind == TEPAL_KIND_CHAIN;
        if (!plain) {
            continue;
        }
        struct tepal_filter *once = filled(s, 0, KEYS, false);
        struct tepal_filter *twice = specimen_clone(once);
        uint64_t before = tepal_filter_keys_added(once);
        specimen_assert(s, tepal_filter_add_many(twice, keys, KEYS) == TEPAL_OK);
        assert_alike(s, once, twice, CELLS);
        specimen_assert(s, tepal_filter_keys_added(twice) == before + KEYS);
        tepal_filter_free(once);
        tepal_filter_free(twice);
    }
}

/* Others come and go: one that removes answers as if they had never been there. */
static void what_is_removed_leaves_nothing(void **unused)
{
    (void)unused;
    unsigned seen = 0;
    for (size_t n = 0; n < all.count; n++) {
        const struct specimen *s = &all.at[n];
        if (!promised(s, TEPAL_DELETABLE) ||
            (s->params.kind == TEPAL_KIND_COUNTING && !one_choice(s))) {
            continue;
        }
        struct tepal_filter *without = filled(s, 0, KEYS, false);
        struct tepal_filter *with = filled(s, 0, KEYS / 2, false);
        size_t removed = 0;
        specimen_assert(s, tepal_filter_add_many(with, extra, EXTRA) == TEPAL_OK);
        specimen_assert(s, tepal_filter_add_many(with, keys + KEYS / 2, KEYS / 2) == TEPAL_OK);
        specimen_assert(s, tepal_filter_remove_many(with, extra, EXTRA, &removed) == TEPAL_OK);
        specimen_assert(s, removed == EXTRA);
        /* a growing filter that grew for them is another one: it tells more of later keys */
        assert_alike(s, without, with,
                     one_choice(s)                              ? CELLS
                     : s->params.kind == TEPAL_KIND_FINGERPRINT ? ANSWERS
                                                                : NOT_ALIKE);
        assert_members(s, with);
        seen++;
        tepal_filter_free(without);
        tepal_filter_free(with);
    }
    assert_true(seen > 10);
}

static struct tepal_filter *united(const struct specimen *s, const struct tepal_filter *a,
                                   const struct tepal_filter *b)
{
    struct tepal_filter *both = specimen_clone(a);
    specimen_assert(s, tepal_filter_unite(both, b) == TEPAL_OK);
    return both;
}

/* a + b = b + a = the whole, (a + b) + c = a + (b + c), a + nothing = a. */
static void halves_make_the_whole(void **unused)
{
    (void)unused;
    unsigned seen = 0;
    for (size_t n = 0; n < all.count; n++) {
        const struct specimen *s = &all.at[n];
        if (!promised(s, TEPAL_MERGEABLE)) {
            continue;
        }
        enum alike how = promised(s, TEPAL_ORDER_FREE) || one_choice(s) ? CELLS : NOT_ALIKE;
        struct tepal_filter *whole = filled(s, 0, KEYS, false);
        struct tepal_filter *empty = specimen_make(s, false);
        struct tepal_filter *part[3];
        struct tepal_filter *sum[6];
        for (size_t i = 0; i < 3; i++) {
            part[i] = filled(s, i * KEYS / 3, (i + 1) * KEYS / 3, false);
        }
        sum[0] = united(s, part[0], part[1]);
        sum[1] = united(s, part[1], part[0]);
        sum[2] = united(s, sum[0], part[2]);
        sum[3] = united(s, part[1], part[2]);
        sum[4] = united(s, part[0], sum[3]);
        sum[5] = united(s, part[0], empty);
        assert_alike(s, sum[0], sum[1], s->params.kind == TEPAL_KIND_GROWING ? NOT_ALIKE : CELLS);
        assert_alike(s, sum[2], whole, how);
        assert_alike(s, sum[4], whole, how);
        assert_alike(s, sum[5], part[0], CELLS);
        assert_members(s, sum[2]);
        assert_members(s, sum[4]);
        specimen_assert(s, tepal_filter_keys_added(sum[2]) == KEYS);
        specimen_assert(s, tepal_filter_keys_added(sum[4]) == KEYS);
        for (size_t i = 0; i < 6; i++) {
            tepal_filter_free(sum[i]);
        }
        for (size_t i = 0; i < 3; i++) {
            tepal_filter_free(part[i]);
        }
        tepal_filter_free(empty);
        tepal_filter_free(whole);
        seen++;
    }
    assert_true(seen > 20);
}

/* The file of what was read is the file; and more keys make the same of both. */
static void files_of_files(void **unused)
{
    (void)unused;
    static const size_t fill[] = {0, 1, KEYS};
    for (size_t n = 0; n < all.count * COUNT(fill); n++) {
        const struct specimen *s = &all.at[n / COUNT(fill)];
        struct tepal_filter *f = filled(s, 0, fill[n % COUNT(fill)], false);
        struct tepal_filter *read = NULL;
        size_t len;
        uint8_t *bytes = encoded(f, &len);
        specimen_assert(s, tepal_decode(bytes, len, NULL, &read, NULL) == TEPAL_OK);
        specimen_assert(s, specimen_same(f, read));
        specimen_assert(s, tepal_filter_add_many(f, extra, EXTRA) == TEPAL_OK);
        specimen_assert(s, tepal_filter_add_many(read, extra, EXTRA) == TEPAL_OK);
        specimen_assert(s, specimen_same(f, read));
        free(bytes);
        tepal_filter_free(f);
        tepal_filter_free(read);
    }
}

/* ---- plan, build, measure -------------------------------------------------------------------- */

#define PLANNED 2000
#define ASKED   50000

static struct tepal_digest members[PLANNED];
static struct tepal_digest avoid[PLANNED];

static struct tepal_wish wish_of(unsigned which)
{
    struct tepal_wish w = TEPAL_WISH_INIT;
    w.keys = PLANNED;
    w.fp = 0.02;
    switch (which) {
    case 1:
        w.deletes = true;
        break;
    case 2:
        w.known_negatives = PLANNED;
        break;
    case 3:
        w.known_negatives = PLANNED;
        w.fn = 0.05;
        w.fp_known = 0.001;
        break;
    case 4:
        w.untrusted = true;
        w.fn = 0.05;
        break;
    case 5:
        w.endless = true;
        break;
    case 6:
        w.keys_first = PLANNED / 10;
        break;
    default:
        break;
    }
    return w;
}

static size_t found_of(const struct tepal_filter *f, const struct tepal_digest *d, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        found += tepal_filter_query(f, d[i]);
    }
    return found;
}

/* At most p, and what chance adds: of those asked, and of this filter's own rate. */
static void at_most(const struct tepal_proposal *plan, const char *what, double measured, double p,
                    double asked)
{
    double own = p * plan->params.hashes / sqrt(PLANNED);
    double se = sqrt(fmax(p, 1 / asked) / asked + own * own);
    if (!(measured <= p + CHECK_Z * se)) {
        fail_msg("kind %d, layout %d, %s: measured %.6g, planned %.6g +- %.2g", (int)plan->kind,
                 (int)plan->params.layout, what, measured, p, se);
    }
}

/* Every feasible plan, of every kind, is as good as it says. */
static void plans_keep_their_word(void **unused)
{
    (void)unused;
    static struct tepal_plans plans;
    static struct tepal_digest asked[ASKED];
    unsigned kinds = 0;
    unsigned built = 0;
    uint64_t state = 9;
    check_digests(&state, members, PLANNED);
    check_digests(&state, avoid, PLANNED);
    check_digests(&state, asked, ASKED);
    for (unsigned which = 0; which < 7; which++) {
        struct tepal_wish wish = wish_of(which);
        assert_ok(tepal_plan(&wish, &plans, NULL));
        for (size_t i = 0; i < plans.count && plans.plan[i].feasible; i++) {
            const struct tepal_proposal *plan = &plans.plan[i];
            struct tepal_filter *f = NULL;
            struct tepal_plan_input input = {.seed = 3,
                                             .known = {.members = members,
                                                       .member_count = PLANNED,
                                                       .avoid = avoid,
                                                       .avoid_count = wish.known_negatives}};
            enum tepal_status status = tepal_plan_build(plan, &input, NULL, &f, NULL, NULL);
            if (status == TEPAL_FULL) { /* another seed may do; the plan said so */
                continue;
            }
            assert_int_equal(status, TEPAL_OK);
            double lost = 1 - (double)found_of(f, members, PLANNED) / PLANNED;
            if (plan->fn == 0) {
                assert_true(lost == 0);
            } else if (!isnan(plan->fn)) {
                at_most(plan, "false negatives", lost, plan->fn, PLANNED);
            }
            if (plan->kind == TEPAL_KIND_RECYCLING) { /* the latest are there; its rate is a mean */
                assert_true(lost == 0);
            } else {
                at_most(plan, "strangers", (double)found_of(f, asked, ASKED) / ASKED, plan->fp,
                        ASKED);
            }
            if (wish.known_negatives > 0) {
                at_most(plan, "known negatives", (double)found_of(f, avoid, PLANNED) / PLANNED,
                        plan->fp_known, PLANNED);
            }
            kinds |= 1u << plan->kind;
            built++;
            tepal_filter_free(f);
        }
    }
    for (size_t k = 0; k < tepal_kind_count(); k++) {
        if (!(kinds >> tepal_kind_at(k)->id & 1)) {
            fail_msg("no plan of the kind %s was built", tepal_kind_at(k)->name);
        }
    }
    assert_true(built > 30);
}

int main(void)
{
    uint64_t state = 4711;
    specimens_init(&all);
    check_digests(&state, keys, KEYS);
    check_digests(&state, extra, EXTRA);
    check_digests(&state, strangers, STRANGERS);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_does_not_count),
        cmocka_unit_test(repeats_change_nothing),
        cmocka_unit_test(what_is_removed_leaves_nothing),
        cmocka_unit_test(halves_make_the_whole),
        cmocka_unit_test(files_of_files),
        cmocka_unit_test(plans_keep_their_word),
    };
    return cmocka_run_group_tests_name("relations", tests, NULL, NULL);
}
