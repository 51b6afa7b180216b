/*
 * promises_unit.c: what a kind promises it keeps, and what it does not promise it either refuses or
 * breaks, on every layout that it knows.
 *
 * The tests come from the table of kinds: each kind, on each layout and rule for positions that the
 * gate lets pass, meets each promise. Where it is made, `kept` asserts it. Where it is not,
 * `broken` must show that: the operation answers TEPAL_UNSUPPORTED and changes nothing, or here is
 * a filter without the property. A pair of kind and promise that was not decided fails, so that
 * neither a new kind nor a new promise can go untested.
 *
 * A filter under test holds MEMBERS; those that are built with known negatives know of NEWCOMERS,
 * which are added later all the same. FLOOD is far more than there is room for.
 */
#include "check.h"
#include "recycling_help.h"
#include "yesno_help.h"

#include "filter/kind.h"

#define MEMBERS   2000
#define NEWCOMERS 1000
#define STRANGERS 4000
#define FLOOD     20000
#define MOST      32 /* kinds */

/* Numbers of keys: where each group of them begins. */
enum { MEMBER = 0, NEWCOMER = 1 << 20, STRANGER = 1 << 21, LATE = 1 << 22 };

/* ---- filters and keys ------------------------------------------------------------------------ */

/* Parameters of this kind on the layout, small enough for MEMBERS to have false positives. */
static bool params_for(enum tepal_kind_id kind, enum tepal_layout layout,
                       enum tepal_positions positions, struct tepal_params *params)
{
    struct recycling_options cycle = RECYCLING_OPTIONS_INIT;
    *params = (struct tepal_params)TEPAL_PARAMS_INIT;
    params->kind = kind;
    params->layout = layout;
    params->positions = positions;
    params->hashes = 6;
    params->cells = 16 * 512;
    params->seed = 31;
    switch (kind) {
    case TEPAL_KIND_BLOOM:
    case TEPAL_KIND_RETOUCHED:
    case TEPAL_KIND_CASCADE:
        break;
    case TEPAL_KIND_GENERALIZED:
        params->generalized.reset_hashes = 3;
        break;
    case TEPAL_KIND_COUNTING:
        params->counting.choices = 1;
        break;
    case TEPAL_KIND_GROWING:
        params->growing = (struct tepal_growing_params){6, 3, 0, 0};
        params->hashes = 2;
        params->cells = 4 * 10 * 256;
        break;
    case TEPAL_KIND_CHAIN:
        params->chain = (struct tepal_chain_params){
            .first_keys = 40, .rate = (uint64_t)1 << 56, .growth = 512, .planned = 4};
        params->cells = 1024;
        break;
    case TEPAL_KIND_FINGERPRINT:
        params->fingerprint.bits = 8;
        params->hashes = 2;
        params->cells *= 4;
        break;
    case TEPAL_KIND_YESNO:
        set_yesno(12 * 512, 6, 256, 8, 4, params);
        break;
    case TEPAL_KIND_RECYCLING:
        cycle.limit = params->cells / 8; /* MEMBERS make it recycle */
        set_recycling(params, &cycle);
        break;
    }
    return tepal_params_check(params, NULL) == TEPAL_OK;
}

/* A counting filter with one choice does more than it promises: the same with two. */
static struct tepal_params with_choices(const struct tepal_params *params)
{
    struct tepal_params p = *params;
    if (p.kind == TEPAL_KIND_COUNTING) {
        bool lines = p.layout == TEPAL_LAYOUT_BLOCKED || p.layout == TEPAL_LAYOUT_PAIRED;
        p.counting.choices = 2;
        p.counting.rule = lines ? TEPAL_RULE_LEAST_INCREASE : TEPAL_RULE_GREEDY;
        p.counting.policy = TEPAL_POLICY_REMOVE;
    }
    return p;
}

static struct tepal_digest digest_of(uint64_t key)
{
    struct tepal_hasher hasher;
    tepal_hasher_init(31, &hasher);
    return tepal_hash_u64(&hasher, key);
}

/* Adds one; false: it is full. */
static bool add(struct tepal_filter *filter, uint64_t key)
{
    enum tepal_status status = tepal_filter_add(filter, digest_of(key));
    assert_true(status == TEPAL_OK || status == TEPAL_FULL);
    return status == TEPAL_OK;
}

static struct tepal_filter *empty(const struct tepal_params *params)
{
    struct tepal_filter *filter;
    assert_ok(tepal_filter_create(params, NULL, &filter, NULL));
    return filter;
}

static struct tepal_filter *copy_of(const struct tepal_filter *filter)
{
    struct tepal_filter *copy;
    assert_ok(tepal_filter_clone(filter, NULL, &copy, NULL));
    return copy;
}

/* A filter of MEMBERS. Kinds that are built from two lists are built against NEWCOMERS. */
static struct tepal_filter *made(const struct tepal_params *params)
{
    struct tepal_digest members[MEMBERS];
    struct tepal_digest avoid[NEWCOMERS];
    for (uint64_t i = 0; i < MEMBERS; i++) {
        members[i] = digest_of(MEMBER + i);
    }
    for (uint64_t i = 0; i < NEWCOMERS; i++) {
        avoid[i] = digest_of(NEWCOMER + i);
    }
    struct tepal_filter *filter;
    if (params->kind == TEPAL_KIND_YESNO) {
        struct tepal_known input = {
            .members = members, .member_count = MEMBERS, .avoid = avoid, .avoid_count = NEWCOMERS};
        struct tepal_yesno_options options = TEPAL_YESNO_OPTIONS_INIT;
        options.method = TEPAL_YESNO_GREEDY;
        assert_ok(tepal_yesno_build(params, &input, &options, NULL, &filter, NULL, NULL));
        return filter;
    }
    if (params->kind == TEPAL_KIND_CASCADE) {
        struct tepal_known input = {
            .members = members, .member_count = MEMBERS, .avoid = avoid, .avoid_count = NEWCOMERS};
        struct tepal_cascade_options options = {0, 0};
        assert_ok(tepal_cascade_build(params, &input, &options, NULL, &filter, NULL, NULL));
        return filter;
    }
    filter = empty(params);
    for (uint64_t i = 0; i < MEMBERS; i++) {
        assert_true(add(filter, MEMBER + i));
    }
    if (params->kind == TEPAL_KIND_RETOUCHED) {
        struct tepal_known input = {
            .members = members, .member_count = MEMBERS, .avoid = avoid, .avoid_count = NEWCOMERS};
        struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
        struct tepal_filter *retouched;
        assert_ok(tepal_retouch(filter, &input, &options, NULL, &retouched, NULL, NULL, NULL));
        tepal_filter_free(filter);
        return retouched;
    }
    return filter;
}

/* Of so many keys from `first` on, every `step`-th asked: how many are found? */
static uint64_t found(const struct tepal_filter *filter, uint64_t first, uint64_t count,
                      uint64_t step)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i += step) {
        sum += tepal_filter_query(filter, digest_of(first + i));
    }
    return sum;
}

/* Does it find fewer (more) than half of the strangers, beyond chance? Neither: too few asked. */
static bool tells_apart(const struct tepal_filter *filter)
{
    double more =
        ((double)found(filter, STRANGER, STRANGERS, 1) - STRANGERS / 2.0) / sqrt(STRANGERS / 4.0);
    assert_true(fabs(more) > CHECK_Z);
    return more < 0;
}

static void assert_refused(enum tepal_status status, struct tepal_filter *filter,
                           struct tepal_filter *before)
{
    assert_int_equal(status, TEPAL_UNSUPPORTED);
    assert_true(tepal_filter_equal(filter, before));
    assert_true(tepal_filter_keys_added(filter) == tepal_filter_keys_added(before));
}

/* ---- no false negatives ---------------------------------------------------------------------- */

static void keeps_members(const struct tepal_params *params)
{
    struct tepal_filter *filter = made(params);
    bool taken[NEWCOMERS];
    uint64_t count = 0;
    assert_true(found(filter, MEMBER, MEMBERS, 1) == MEMBERS);
    for (uint64_t i = 0; i < NEWCOMERS; i++) {
        taken[i] = add(filter, NEWCOMER + i);
        count += taken[i];
    }
    assert_true(count > NEWCOMERS / 2);
    for (uint64_t i = 0; i < NEWCOMERS; i++) {
        assert_true(!taken[i] || tepal_filter_query(filter, digest_of(NEWCOMER + i)));
    }
    assert_true(found(filter, MEMBER, MEMBERS, 1) == MEMBERS);
    assert_ok(tepal_filter_validate(filter, NULL));
    tepal_filter_free(filter);
}

/* Members are forgotten, or were given up, or taken for others when those were removed. */
static bool loses_members(const struct tepal_params *params)
{
    struct tepal_params p = with_choices(params);
    struct tepal_filter *filter = made(&p);
    if (p.kind == TEPAL_KIND_COUNTING) {
        for (uint64_t i = 1; i < MEMBERS; i += 2) {
            (void)tepal_filter_remove(filter, digest_of(MEMBER + i));
        }
    }
    bool lost = found(filter, MEMBER, MEMBERS, 2) < MEMBERS / 2;
    tepal_filter_free(filter);
    return lost;
}

/* ---- bounded false positives ----------------------------------------------------------------- */

static void assert_bounded(const struct tepal_filter *filter, double bound)
{
    double most = STRANGERS * bound + CHECK_Z * sqrt(STRANGERS * bound * (1 - bound));
    assert_true((double)found(filter, STRANGER, STRANGERS, 1) <= most);
}

/* By whoever kept adding, and by cells that nobody added: random ones of every density. */
static void stays_bounded(const struct tepal_params *params)
{
    double bound = tepal_params_fp_bound(params); /* that any cells can pass */
    assert_true(bound > 0 && bound < 0.5);
    struct tepal_filter *filter = made(params);
    for (uint64_t i = 0; i < FLOOD; i++) {
        (void)add(filter, LATE + i);
    }
    assert_bounded(filter, bound);
    uint64_t random = 5;
    for (unsigned eighths = 0; eighths <= 8; eighths++) {
        for (size_t w = 0; w < filter->word_count; w++) {
            uint64_t together;
            uint64_t *word = filter_run(filter, w, &together);
            *word = 0;
            for (unsigned bit = 0; bit < 64; bit++) {
                *word |= (uint64_t)(check_random(&random) % 8 < eighths) << bit;
            }
        }
        assert_bounded(filter, bound);
    }
    tepal_filter_free(filter);
}

/* Whoever adds enough makes it find nearly everything. */
static bool fills_up_with_strangers(const struct tepal_params *params)
{
    struct tepal_params p = *params;
    if (p.kind == TEPAL_KIND_RECYCLING) {
        struct recycling_options cycle = recycling_options_of(&p);
        cycle.rule = TEPAL_RECYCLING_COUNT;
        cycle.limit = 2 * FLOOD;
        set_recycling(&p, &cycle);
    }
    if (p.kind == TEPAL_KIND_CHAIN) { /* a first part too small for what is said of it */
        p.chain.first_keys = 2 * FLOOD;
    }
    assert_true(tepal_params_fp_bound(&p) == 1); /* and says so */
    struct tepal_filter *filter = made(&p);
    for (uint64_t i = 0; i < FLOOD; i++) {
        (void)add(filter, LATE + i);
    }
    bool full = !tells_apart(filter);
    tepal_filter_free(filter);
    return full;
}

/* ---- deletable ------------------------------------------------------------------------------- */

/* What is removed is a stranger again, all others stay; without any keys it is as it was new. */
static void removes_what_was_added(const struct tepal_params *params)
{
    struct tepal_filter *filter = made(params);
    struct tepal_filter *fresh = empty(params);
    for (uint64_t i = 0; i < NEWCOMERS; i++) {
        assert_true(add(filter, NEWCOMER + i));
    }
    for (uint64_t i = 0; i < NEWCOMERS; i++) {
        assert_ok(tepal_filter_remove(filter, digest_of(NEWCOMER + i)));
    }
    assert_true(found(filter, MEMBER, MEMBERS, 1) == MEMBERS);
    assert_ok(tepal_filter_validate(filter, NULL));
    double strange = (double)found(filter, STRANGER, STRANGERS, 1) / STRANGERS;
    double removed = (double)found(filter, NEWCOMER, NEWCOMERS, 1) / NEWCOMERS;
    check_within("found though removed", removed, strange,
                 sqrt(strange * (1 - strange) * (1.0 / NEWCOMERS + 1.0 / STRANGERS)));
    struct tepal_digest members[MEMBERS];
    for (uint64_t i = 0; i < MEMBERS; i++) {
        members[i] = digest_of(MEMBER + i);
    }
    size_t count = 0;
    assert_ok(tepal_filter_remove_many(filter, members, MEMBERS, &count));
    assert_int_equal(count, MEMBERS);
    assert_int_equal(tepal_filter_remove(filter, members[0]), TEPAL_NOT_PRESENT);
    if (params->kind == TEPAL_KIND_GROWING) { /* it keeps its size, and nothing else */
        assert_int_equal(tepal_filter_ones(filter), 0);
        assert_ok(tepal_filter_clear(filter));
    }
    assert_true(tepal_filter_equal(filter, fresh));
    tepal_filter_free(fresh);
    tepal_filter_free(filter);
}

static bool removes_nothing(const struct tepal_params *params)
{
    struct tepal_filter *filter = made(params);
    struct tepal_filter *before = copy_of(filter);
    struct tepal_digest member = digest_of(MEMBER);
    size_t count = 7;
    assert_refused(tepal_filter_remove(filter, member), filter, before);
    assert_refused(tepal_filter_remove_many(filter, &member, 1, &count), filter, before);
    assert_int_equal(count, 7);
    tepal_filter_free(before);
    tepal_filter_free(filter);
    return true;
}

/* ---- mergeable ------------------------------------------------------------------------------- */

/* The union finds all that either finds; where it is told to be exact it is the filter of all. */
static void unites(const struct tepal_params *params)
{
    const struct tepal_kind *kind = tepal_kind_by_id((uint32_t)params->kind);
    struct tepal_filter *all = made(params);
    struct tepal_filter *some = copy_of(all);
    struct tepal_filter *both = empty(params);
    for (uint64_t i = 0; i < NEWCOMERS; i++) {
        assert_true(add(both, NEWCOMER + i) && add(all, NEWCOMER + i));
    }
    struct tepal_filter *others = copy_of(both);
    assert_ok(tepal_filter_unite(both, some));
    assert_ok(tepal_filter_validate(both, NULL));
    assert_true(tepal_filter_keys_added(both) == MEMBERS + NEWCOMERS);
    assert_true(found(both, MEMBER, MEMBERS, 1) == MEMBERS);
    assert_true(found(both, NEWCOMER, NEWCOMERS, 1) == NEWCOMERS);
    for (uint64_t i = 0; i < STRANGERS; i++) {
        struct tepal_digest d = digest_of(STRANGER + i);
        assert_true(tepal_filter_query(both, d) ||
                    !(tepal_filter_query(some, d) || tepal_filter_query(others, d)));
    }
    bool one_choice = kind->id == TEPAL_KIND_COUNTING && params->counting.choices == 1;
    assert_true(tepal_filter_equal(both, all) ||
                !(kind->promises & TEPAL_ORDER_FREE || one_choice));
    tepal_filter_free(others);
    tepal_filter_free(both);
    tepal_filter_free(some);
    tepal_filter_free(all);
}

static bool unites_nothing(const struct tepal_params *params)
{
    struct tepal_filter *filter = made(params);
    struct tepal_filter *before = copy_of(filter);
    assert_refused(tepal_filter_unite(filter, before), filter, before);
    tepal_filter_free(before);
    tepal_filter_free(filter);
    return true;
}

/* ---- order-free ------------------------------------------------------------------------------ */

static bool order_counts(const struct tepal_params *params)
{
    struct tepal_filter *forwards = made(params);
    struct tepal_filter *backwards = copy_of(forwards);
    for (uint64_t i = 0; i < NEWCOMERS; i++) {
        (void)add(forwards, NEWCOMER + i);
        (void)add(backwards, NEWCOMER + NEWCOMERS - 1 - i);
    }
    bool differ = !tepal_filter_equal(forwards, backwards);
    tepal_filter_free(backwards);
    tepal_filter_free(forwards);
    return differ;
}

static void takes_any_order(const struct tepal_params *params)
{
    assert_false(order_counts(params));
}

static bool order_matters(const struct tepal_params *params)
{
    struct tepal_params p = with_choices(params);
    return order_counts(&p);
}

/* ---- endless --------------------------------------------------------------------------------- */

/* Takes whatever comes, has it then, and still tells strangers apart. */
static bool goes_on(const struct tepal_params *params)
{
    struct tepal_filter *filter = made(params);
    bool on = true;
    for (uint64_t i = 0; i < FLOOD && on; i++) {
        on = add(filter, LATE + i) && tepal_filter_query(filter, digest_of(LATE + i));
    }
    on = on && tells_apart(filter);
    assert_ok(tepal_filter_validate(filter, NULL));
    tepal_filter_free(filter);
    return on;
}

static void never_ends(const struct tepal_params *params)
{
    assert_true(goes_on(params));
}

static bool ends(const struct tepal_params *params)
{
    return !goes_on(params);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static const struct promise {
    enum tepal_promise promise;
    const char *name;
    void (*kept)(const struct tepal_params *params);
    bool (*broken)(const struct tepal_params *params);
} promises[] = {
    {TEPAL_NO_FALSE_NEGATIVES, "no false negatives", keeps_members, loses_members},
    {TEPAL_BOUNDED_FALSE_POSITIVES, "bounded false positives", stays_bounded,
     fills_up_with_strangers},
    {TEPAL_DELETABLE, "deletable", removes_what_was_added, removes_nothing},
    {TEPAL_MERGEABLE, "mergeable", unites, unites_nothing},
    {TEPAL_ORDER_FREE, "order-free", takes_any_order, order_matters},
    {TEPAL_ENDLESS, "endless", never_ends, ends},
};
#define PROMISES (sizeof promises / sizeof *promises)

/* What a kind does without promising it, so that nothing can be shown. */
static bool is_modest(enum tepal_kind_id kind, enum tepal_promise promise)
{
    /* additions to a cascade change odd levels and look at even ones; a growing filter and a chain
       go on as long as there is memory */
    return (kind == TEPAL_KIND_CASCADE && promise == TEPAL_ORDER_FREE) ||
           ((kind == TEPAL_KIND_GROWING || kind == TEPAL_KIND_CHAIN) && promise == TEPAL_ENDLESS);
}

/* Whether it was decided as the table of kinds says; every promise that is made must hold. */
static bool decide(const struct tepal_kind *kind, const struct promise *p,
                   const struct tepal_params *params)
{
    if (kind->promises & p->promise) {
        p->kept(params);
        return true;
    }
    return p->broken(params) != is_modest(kind->id, p->promise);
}

static void every_kind_keeps_what_it_promises_and_no_more(void **state)
{
    (void)state;
    unsigned decided[MOST][PROMISES] = {{0}};
    unsigned layouts = 0;
    assert_true(tepal_kind_count() <= MOST);
    for (size_t i = 0; i < tepal_kind_count(); i++) {
        const struct tepal_kind *kind = tepal_kind_at(i);
        unsigned settings = 0;
        for (int layout = TEPAL_LAYOUT_FLAT; layout <= TEPAL_LAYOUT_PAIRED; layout++) {
            unsigned before = settings;
            for (int positions = 0; positions < 2; positions++) {
                struct tepal_params params;
                if (!params_for(kind->id, (enum tepal_layout)layout,
                                (enum tepal_positions)positions, &params)) {
                    continue;
                }
                settings++;
                for (size_t j = 0; j < PROMISES; j++) {
                    decided[i][j] += decide(kind, &promises[j], &params);
                }
            }
            layouts += settings > before;
        }
        for (size_t j = 0; j < PROMISES; j++) {
            if (settings == 0 || decided[i][j] != settings) {
                print_error("%s, %s: decided in %u of %u settings\n", kind->name, promises[j].name,
                            decided[i][j], settings);
                fail();
            }
        }
    }
    /* generalized filters have two, fingerprints and growing ones one, the others all */
    assert_int_equal(layouts, 4 * (tepal_kind_count() - 3) + 2 + 1 + 1);
}

/* No promise without a test: those of the table are all that any kind makes. */
static void every_promise_has_a_test(void **state)
{
    (void)state;
    unsigned tested = 0;
    unsigned made_by_some = 0;
    for (size_t j = 0; j < PROMISES; j++) {
        assert_int_equal(tested & promises[j].promise, 0);
        tested |= promises[j].promise;
    }
    for (size_t i = 0; i < tepal_kind_count(); i++) {
        made_by_some |= tepal_kind_at(i)->promises;
    }
    assert_int_equal(made_by_some, tested);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_keeps_what_it_promises_and_no_more),
        cmocka_unit_test(every_promise_has_a_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
