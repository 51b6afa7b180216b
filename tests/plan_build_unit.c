/*
 * plan_build_unit.c: from a plan to its filter. Every plan of every kind and layout is built, and
 * is byte for byte what the kind's own calls make; its report is true; fed in pieces it is the same
 * as at once; what makes no sense is refused with a reason, and memory may run out anywhere.
 */
#include "file_help.h"
#include "plan_brute.h"

#define MEMBERS   600
#define NEGATIVES 1500
#define SEED      7

/* Wishes that all eight kinds answer; the two ways of a cascade. */
enum { BY_RATE, BY_MEMORY, STREAM, WISHES };

static void plan_for(int which, struct tepal_plans *plans)
{
    struct tepal_wish w = TEPAL_WISH_INIT;
    w.keys = MEMBERS;
    switch (which) {
    case BY_RATE:
        w.known_negatives = NEGATIVES;
        w.fp_known = 0.03;
        w.closed_world = true;
        w.fn = 0.03;
        break;
    case BY_MEMORY:
        w.known_negatives = NEGATIVES;
        w.bits = 8 * MEMBERS;
        w.cost_fp = 3;
        w.cost_fn = 1;
        break;
    default:
        w.endless = true;
        w.fp = 0.03;
        w.fn = NAN;
    }
    assert_ok(tepal_plan(&w, plans, NULL));
}

struct keys {
    struct tepal_digest member[MEMBERS];
    struct tepal_digest avoid[NEGATIVES]; /* the last one is a member */
    double weight[NEGATIVES];
};

static void draw_keys(struct keys *keys)
{
    uint64_t state = 5;
    for (size_t i = 0; i < MEMBERS; i++) {
        keys->member[i] = check_digest(&state);
    }
    for (size_t i = 0; i < NEGATIVES; i++) {
        keys->avoid[i] = check_digest(&state);
        keys->weight[i] = (double)(1 + i % 17);
    }
    keys->avoid[NEGATIVES - 1] = keys->member[3];
}

static struct tepal_plan_input input_of(const struct keys *keys)
{
    return (struct tepal_plan_input){.seed = SEED,
                                     .known = {.members = keys->member,
                                               .member_count = MEMBERS,
                                               .avoid = keys->avoid,
                                               .avoid_count = NEGATIVES}};
}

static void assert_same_bytes(const struct tepal_filter *a, const struct tepal_filter *b)
{
    size_t len[2];
    uint8_t *bytes[2] = {encoded(a, &len[0]), encoded(b, &len[1])};
    assert_int_equal(len[0], len[1]);
    assert_memory_equal(bytes[0], bytes[1], len[0]);
    free(bytes[0]);
    free(bytes[1]);
}

/* ---- what is built --------------------------------------------------------------------------- */

/* By the kind's own calls, from the plan's numbers. */
static struct tepal_filter *by_hand(const struct tepal_proposal *plan,
                                    const struct tepal_plan_input *in)
{
    struct tepal_params p = plan->params;
    struct tepal_filter *made = NULL;
    struct tepal_filter *bloom = NULL;
    struct tepal_retouch_options give_up = TEPAL_RETOUCH_OPTIONS_INIT;
    struct tepal_yesno_options vetoes = TEPAL_YESNO_OPTIONS_INIT;
    struct tepal_cascade_options size = {.bits = plan->max_bits};
    p.seed = in->seed;
    switch (plan->kind) {
    case TEPAL_KIND_RETOUCHED:
        p.kind = TEPAL_KIND_BLOOM;
        give_up.limit = TEPAL_RETOUCH_LIMIT_SHARE;
        give_up.budget = plan->max_fn;
        assert_ok(tepal_filter_create(&p, NULL, &bloom, NULL));
        assert_ok(tepal_filter_add_many(bloom, in->known.members, in->known.member_count));
        assert_ok(tepal_retouch(bloom, &in->known, &give_up, NULL, &made, NULL, NULL, NULL));
        tepal_filter_free(bloom);
        break;
    case TEPAL_KIND_YESNO:
        assert_ok(tepal_yesno_build(&p, &in->known, &vetoes, NULL, &made, NULL, NULL));
        break;
    case TEPAL_KIND_CASCADE:
        if (plan->max_bits == 0) {
            size.fp = tepal_bloom_fp(p.layout, p.positions, p.cells, MEMBERS, p.hashes);
        }
        p.cells = 0;
        p.hashes = 0;
        assert_ok(tepal_cascade_build(&p, &in->known, &size, NULL, &made, NULL, NULL));
        break;
    default:
        assert_ok(tepal_filter_create(&p, NULL, &made, NULL));
        for (size_t i = 0; i < in->known.member_count; i++) {
            assert_ok(tepal_filter_add(made, in->known.members[i]));
        }
    }
    return made;
}

/* Members in three unequal pieces. */
static struct tepal_filter *in_pieces(const struct tepal_proposal *plan,
                                      const struct tepal_plan_input *in)
{
    struct tepal_filter *made = NULL;
    size_t first = in->known.member_count / 7;
    size_t second = in->known.member_count / 2;
    assert_ok(tepal_plan_create(plan, in->seed, in->key, NULL, &made, NULL));
    assert_ok(tepal_filter_add_many(made, in->known.members, first));
    assert_ok(tepal_filter_add_many(made, in->known.members + first, second));
    assert_ok(tepal_filter_add_many(made, in->known.members + first + second,
                                    in->known.member_count - first - second));
    return made;
}

/* Counted one by one. */
static void assert_report(const struct tepal_filter *filter, const struct tepal_proposal *plan,
                          const struct tepal_plan_input *in, const struct tepal_known_report *r)
{
    uint64_t lost = 0;
    uint64_t left = 0;
    double weight = 0;
    double weight_left = 0;
    for (size_t i = 0; i < in->known.member_count; i++) {
        lost += !tepal_filter_query(filter, in->known.members[i]);
    }
    for (size_t i = 0; i < in->known.avoid_count; i++) {
        double w = in->known.avoid_weights == NULL ? 1 : in->known.avoid_weights[i];
        bool found =
            i + 1 < in->known.avoid_count && tepal_filter_query(filter, in->known.avoid[i]);
        weight += w;
        left += found;
        weight_left += found ? w : 0;
    }
    assert_int_equal(r->members, in->known.member_count);
    assert_int_equal(r->avoid_given, in->known.avoid_count);
    assert_int_equal(r->avoid_members, 1); /* the last */
    assert_int_equal(r->false_negatives, lost);
    assert_int_equal(r->avoid_left, left);
    assert_true(fabs(r->weight_left - weight_left) < 1e-6);
    assert_true(r->avoid_weight == weight);
    assert_true(r->avoid_positive >= r->avoid_left);
    assert_true(isnan(r->positive_weight) || r->positive_weight >= r->weight_left);
    assert_true(tepal_plan_streams(plan) ? r->avoid_positive == left : r->avoid_positive > left);
    assert_true((r->levels > 0) == (plan->kind == TEPAL_KIND_CASCADE));
    if (plan->kind == TEPAL_KIND_RETOUCHED) {
        assert_true(r->false_negatives > 0 &&
                    (double)r->false_negatives <= plan->max_fn * (double)r->members);
    }
}

static void every_plan_is_built_as_its_kind_would_be(void **state)
{
    (void)state;
    static struct keys keys;
    static struct tepal_plans plans;
    unsigned kinds = 0;
    draw_keys(&keys);
    for (int which = 0; which < WISHES; which++) {
        plan_for(which, &plans);
        for (size_t i = 0; i < plans.count && plans.plan[i].feasible; i++) {
            const struct tepal_proposal *plan = &plans.plan[i];
            struct tepal_plan_input in = input_of(&keys);
            struct tepal_filter *made = NULL;
            struct tepal_known_report report;
            struct tepal_error error = {.why = ""};
            in.known.avoid_weights =
                i % 2 == 0 ? keys.weight : NULL; /* more than the plan asks for */
            if (tepal_plan_build(plan, &in, NULL, &made, &report, &error) != TEPAL_OK) {
                fail_msg("%s", error.why);
            }
            struct tepal_filter *other = by_hand(plan, &in);
            assert_same_bytes(made, other);
            assert_report(made, plan, &in, &report);
            tepal_filter_free(other);
            if (tepal_plan_streams(plan)) {
                other = in_pieces(plan, &in);
                assert_same_bytes(made, other);
                tepal_filter_free(other);
            }
            kinds |= 1u << plan->kind;
            tepal_filter_free(made);
        }
    }
    assert_int_equal(kinds, 0x1fe); /* all eight */
}

/* The best feasible plan of a kind, whatever it was wished for. */
static struct tepal_proposal plan_of_kind(enum tepal_kind_id kind)
{
    static struct tepal_plans plans[WISHES];
    for (int which = 0; which < WISHES; which++) {
        const struct tepal_proposal *plan = plans[which].plan;
        if (plans[which].count == 0) {
            plan_for(which, &plans[which]);
        }
        for (size_t i = 0; i < plans[which].count && plan[i].feasible; i++) {
            if (plan[i].kind == kind) {
                return plan[i];
            }
        }
    }
    fail_msg("no plan of kind %d", (int)kind);
    return plans[0].plan[0];
}

static void a_keyed_filter_has_its_key(void **state)
{
    (void)state;
    static struct keys keys;
    draw_keys(&keys);
    for (int i = 2 * TEPAL_KIND_BLOOM; i <= 2 * TEPAL_KIND_CASCADE + 1; i++) {
        struct tepal_proposal plan = plan_of_kind((enum tepal_kind_id)(i / 2));
        struct tepal_plan_input in = input_of(&keys);
        struct tepal_filter *made = NULL;
        struct tepal_hasher hasher;
        const enum tepal_hash hash = i % 2 == 0 ? TEPAL_HASH_SIPHASH : TEPAL_HASH_SIPHASH13;
        in.key = recipe_key;
        plan.params.hash = i % 2 == 0 ? TEPAL_HASH_XXH3 : hash;
        assert_ok(tepal_plan_build(&plan, &in, NULL, &made, NULL, NULL));
        assert_int_equal(tepal_filter_params(made)->hash, hash);
        assert_ok(tepal_hasher_init_by(hash, SEED, recipe_key, &hasher));
        assert_int_equal(tepal_filter_params(made)->key_check, tepal_hasher_check(&hasher));
        assert_ok(tepal_filter_hasher(made, &hasher));
        if (tepal_plan_streams(&plan)) {
            struct tepal_filter *other = in_pieces(&plan, &in);
            assert_same_bytes(made, other);
            tepal_filter_free(other);
        }
        tepal_filter_free(made);
    }
}

static void repeats_count_as_added_to_what_is_retouched(void **state)
{
    (void)state;
    static struct keys keys;
    draw_keys(&keys);
    struct tepal_proposal plan = plan_of_kind(TEPAL_KIND_RETOUCHED);
    struct tepal_plan_input in = input_of(&keys);
    struct tepal_filter *made = NULL;
    in.repeats = 11;
    assert_ok(tepal_plan_build(&plan, &in, NULL, &made, NULL, NULL));
    assert_int_equal(tepal_filter_keys_added(made), MEMBERS + 11);
    assert_int_equal(info_integer(made, "members"), MEMBERS);
    tepal_filter_free(made);
}

/* To nine digits, so that a command can say it: and they are what is built by. */
static void shares_given_up_can_be_written_down(void **state)
{
    (void)state;
    static struct tepal_plans plans;
    struct tepal_wish w = TEPAL_WISH_INIT;
    uint64_t random = 3;
    for (int i = 0; i < 50; i++) {
        w.keys = 50 + check_random(&random) % 100000;
        w.known_negatives = 1000;
        w.fn = (1 + (double)(check_random(&random) % 1000000)) / 3e6;
        w.fp_known = 0.01;
        w.closed_world = true;
        plan_kind(&w, tepal_plan_retouched, &plans);
        for (size_t j = 0; j < plans.count && plans.plan[j].feasible; j++) {
            char text[32];
            snprintf(text, sizeof text, "%.9g", w.fn);
            assert_true(plans.plan[j].max_fn == strtod(text, NULL));
        }
    }
}

/*
 * 200 keys in 350 bytes: no fingerprint filter is sure to have room, but one that is likely to.
 * Built with many seeds, it has room as often as told; the law claims .03, and chance has its part.
 */
static void a_likely_plan_is_built_as_often_as_told(void **state)
{
    (void)state;
    enum { SEEDS = 3000, KEYS = 200 };
    static struct tepal_digest keys[KEYS];
    static struct tepal_plans plans;
    struct tepal_wish w = TEPAL_WISH_INIT;
    unsigned built = 0;
    uint64_t draws = 16;
    w.keys = KEYS;
    w.deletes = true;
    w.fp = 0.001;
    w.bits = 8 * 350;
    plan_it(&w, &plans);
    const struct tepal_proposal *plan = &plans.plan[0];
    assert_true(plan->kind == TEPAL_KIND_FINGERPRINT && !plan->feasible && plan->bits == 8 * 338);
    assert_string_equal(plan->blocked_by, "memory");
    assert_string_equal(plans.blocked_by, "memory");
    assert_true(plan->fp <= w.fp && plan->excess > 1 && plans.nearest.bits == plan->bits);
    assert_true(plan->likely > 0.5 && plan->likely < 1 && plans.plan[1].likely == 0);
    for (unsigned i = 0; i < SEEDS; i++) {
        struct tepal_filter *filter = NULL;
        check_digests(&draws, keys, KEYS);
        struct tepal_plan_input in = {.seed = i, .known = {.members = keys, .member_count = KEYS}};
        enum tepal_status status = tepal_plan_build(plan, &in, NULL, &filter, NULL, NULL);
        assert_true(status == (filter != NULL ? TEPAL_OK : TEPAL_FULL));
        built += filter != NULL;
        tepal_filter_free(filter);
    }
    double p = plan->likely;
    assert_true(fabs((double)built / SEEDS - p) <= 0.03 + CHECK_Z * sqrt(p * (1 - p) / SEEDS));
    w.bits = 8 * 1000; /* enough */
    plan_it(&w, &plans);
    assert_true(plans.plan[0].feasible && plans.plan[0].likely == 0);
    w.bits = 8 * 320; /* hopeless: 13 bits for each of 196 slots */
    plan_it(&w, &plans);
    assert_true(!plans.plan[0].feasible && plans.plan[0].likely == 0);
    w.fp = NAN; /* any rate: the shortest fingerprints have the most slots */
    w.bits = 8 * 104;
    plan_it(&w, &plans);
    plan = plan_of(&plans, TEPAL_KIND_FINGERPRINT, TEPAL_LAYOUT_FLAT);
    assert_true(plan != NULL && plan->likely > 0.5 && plan->params.fingerprint.bits == 4);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void refused(const struct tepal_proposal *plan, const struct tepal_plan_input *in,
                    enum tepal_status status, const char *reason)
{
    struct tepal_filter *untouched = (struct tepal_filter *)&status;
    struct tepal_filter *out = untouched;
    struct tepal_known_report report = {.members = 12345};
    struct tepal_error error = {.why = ""};
    assert_int_equal(tepal_plan_build(plan, in, NULL, &out, &report, &error), status);
    check_error(&error, status);
    assert_string_equal(error.why, reason);
    assert_int_equal(tepal_plan_build(plan, in, NULL, &out, NULL, NULL), status);
    assert_true(out == untouched && report.members == 12345);
}

/* What will learn has its budget: a share of the keys that are planned, one member at least. */
static void what_learns_is_built_with_its_budget(void **unused)
{
    (void)unused;
    static struct keys keys;
    draw_keys(&keys);
    struct tepal_plan_input in = input_of(&keys);
    struct tepal_wish w = TEPAL_WISH_INIT;
    struct tepal_plans plans;
    w.keys = MEMBERS;
    w.fp = 0.01;
    static const double shares[] = {0.01, 1e-9};
    for (size_t s = 0; s < COUNT(shares); s++) {
        w.max_fn = shares[s];
        assert_ok(tepal_plan(&w, &plans, NULL));
        for (size_t i = 0; i < plans.count && plans.plan[i].feasible; i++) {
            struct tepal_filter *f = NULL;
            struct tepal_avoided done;
            assert_ok(tepal_plan_build(&plans.plan[i], &in, NULL, &f, NULL, NULL));
            assert_ok(tepal_avoid(f, NULL, 0, NULL, &done, NULL));
            assert_true(done.most_lost == fmax(1, floor(shares[s] * MEMBERS)));
            tepal_filter_free(f);
        }
    }
    struct tepal_proposal wrong = plans.plan[0];
    wrong.max_fn = 1;
    refused(&wrong, &in, TEPAL_BAD_ARGUMENT,
            "the share of members to give up must be at least 0 and below 1");
}

static void nonsense_is_refused_with_a_reason(void **state)
{
    (void)state;
    static struct keys keys;
    draw_keys(&keys);
    struct tepal_plan_input in = input_of(&keys);
    struct tepal_plan_input none = in;
    none.known.avoid_count = 0;
    struct tepal_proposal bloom = plan_of_kind(TEPAL_KIND_BLOOM);
    struct tepal_proposal wrong = bloom;
    wrong.feasible = false;
    refused(&wrong, &in, TEPAL_BAD_ARGUMENT, "the plan is not feasible");
    wrong = bloom;
    wrong.kind = TEPAL_KIND_COUNTING;
    refused(&wrong, &in, TEPAL_BAD_ARGUMENT, "the plan's parameters are those of another kind");
    wrong = bloom;
    wrong.params.hashes = 99;
    struct tepal_error error = {.why = ""};
    assert_int_equal(tepal_params_check(&wrong.params, &error), TEPAL_BAD_PARAMETER);
    refused(&wrong, &in, TEPAL_BAD_PARAMETER, error.why);
    static const enum tepal_kind_id attend[] = {TEPAL_KIND_RETOUCHED, TEPAL_KIND_YESNO,
                                                TEPAL_KIND_CASCADE};
    for (size_t i = 0; i < 3; i++) {
        struct tepal_proposal plan = plan_of_kind(attend[i]);
        struct tepal_plan_input heavy = in;
        keys.weight[5] = -1;
        heavy.known.avoid_weights = keys.weight;
        refused(&plan, &none, TEPAL_BAD_ARGUMENT,
                "the plan needs known negatives, but none are given");
        refused(&plan, &heavy, TEPAL_BAD_ARGUMENT,
                "a known negative's weight is negative or not finite");
        plan.weighted = true;
        refused(&plan, &in, TEPAL_BAD_ARGUMENT,
                "the plan uses weights of the known negatives, but none are given");
        struct tepal_filter *out = NULL;
        assert_int_equal(tepal_plan_create(&plan, SEED, NULL, NULL, &out, &error),
                         TEPAL_UNSUPPORTED);
        assert_string_equal(error.why, "the plan needs all keys at once");
        assert_null(out);
    }
    static const double shares[] = {0, 1, -0.5, NAN, INFINITY};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        wrong = plan_of_kind(TEPAL_KIND_RETOUCHED);
        wrong.max_fn = shares[i];
        refused(&wrong, &in, TEPAL_BAD_ARGUMENT,
                "a retouched plan needs a share of members to give up, above 0 and below 1");
    }
    wrong = plan_of_kind(TEPAL_KIND_CASCADE);
    wrong.max_bits = 0;
    wrong.params.capacity = 0;
    refused(&wrong, &in, TEPAL_BAD_ARGUMENT,
            "a cascade's plan needs bits, or a rate of the first level above 0 and below 1");
    none = in;
    none.known.member_count = 0;
    wrong = plan_of_kind(TEPAL_KIND_YESNO);
    refused(&wrong, &none, TEPAL_BAD_ARGUMENT, "there are no members");
    wrong = plan_of_kind(TEPAL_KIND_CASCADE);
    wrong.max_bits = 64;
    refused(&wrong, &in, TEPAL_FULL,
            "no cascade this small was found: give more bits, or no limit");
    wrong = plan_of_kind(TEPAL_KIND_FINGERPRINT);
    wrong.params.cells = (uint64_t)8 * wrong.params.fingerprint.bits;
    refused(&wrong, &in, TEPAL_FULL, tepal_status_message(TEPAL_FULL));
}

/* ---- memory runs out ------------------------------------------------------------------------- */

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    static struct keys keys;
    draw_keys(&keys);
    struct tepal_plan_input in = input_of(&keys);
    for (int kind = TEPAL_KIND_BLOOM; kind <= TEPAL_KIND_CASCADE; kind++) {
        struct tepal_proposal plan = plan_of_kind((enum tepal_kind_id)kind);
        enum tepal_status status = TEPAL_NO_MEMORY;
        unsigned failures = 0;
        for (unsigned n = 1; status != TEPAL_OK; n++) {
            struct memory m = {.fail_at = n};
            struct tepal_allocator allocator = memory_allocator(&m);
            struct tepal_filter *out = NULL;
            struct tepal_known_report report;
            struct tepal_error error = {.why = ""};
            status = tepal_plan_build(&plan, &in, &allocator, &out, &report, &error);
            if (status != TEPAL_OK) {
                assert_int_equal(status, TEPAL_NO_MEMORY);
                check_error(&error, TEPAL_NO_MEMORY);
                assert_null(out);
                failures++;
            }
            tepal_filter_free(out);
            assert_int_equal(m.live, 0);
        }
        assert_true(failures >= 3); /* the filter, its cells, and what is asked with */
        struct memory m = {.fail_at = 2};
        struct tepal_allocator allocator = memory_allocator(&m);
        struct tepal_filter *out = NULL;
        if (tepal_plan_streams(&plan)) {
            assert_int_equal(tepal_plan_create(&plan, SEED, NULL, &allocator, &out, NULL),
                             TEPAL_NO_MEMORY);
            assert_true(out == NULL && m.live == 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_plan_is_built_as_its_kind_would_be),
        cmocka_unit_test(what_learns_is_built_with_its_budget),
        cmocka_unit_test(a_keyed_filter_has_its_key),
        cmocka_unit_test(repeats_count_as_added_to_what_is_retouched),
        cmocka_unit_test(shares_given_up_can_be_written_down),
        cmocka_unit_test(a_likely_plan_is_built_as_often_as_told),
        cmocka_unit_test(nonsense_is_refused_with_a_reason),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
