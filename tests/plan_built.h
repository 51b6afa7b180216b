/*
 * plan_built.h: plans made true. Random constraints, across all kinds; the best plan is built from
 * as many keys as it was planned for and asked: both errors must be within the predicted ones plus
 * what chance allows, CHECK_Z standard errors. (They may be lower: some plans are bounds.)
 *
 * A plan predicts the mean over all hash functions. One filter's own rate varies around it: a Bloom
 * filter's by some 1 / sqrt(keys) of itself, times its number of hashes, which is allowed for.
 */
#ifndef TEPAL_TESTS_PLAN_BUILT_H
#define TEPAL_TESTS_PLAN_BUILT_H

#include "plan_brute.h"
#include "plans/plan_command.h"

#define BUILT_STRANGERS 200000

struct built {
    struct tepal_wish wish;
    uint64_t state;
    struct tepal_digest *members;
    struct tepal_digest *avoid;
    size_t n;
    size_t t;
    struct tepal_filter *filter;
    const struct tepal_proposal *plan;
};

static inline void print_plan(const struct tepal_proposal *plan)
{
    char room[PLAN_COMMAND];
    print_error("    %s\n", plan_command(plan, NULL, room, sizeof room));
}

static inline struct tepal_digest *draw_digests(uint64_t *state, size_t count)
{
    struct tepal_digest *d = malloc((count + 1) * sizeof *d);
    assert_non_null(d);
    for (size_t i = 0; i < count; i++) {
        d[i] = check_digest(state);
    }
    return d;
}

/* The variants go round all kinds: which one is best is the planner's affair. */
#define VARIANTS 6

static inline void draw_wish(struct built *b, int problem, double most)
{
    struct tepal_wish *w = &b->wish;
    *w = (struct tepal_wish)TEPAL_WISH_INIT;
    w->keys = draw_whole(&b->state, 1e4, most);
    w->fp = draw(&b->state, 1e-3, 0.1);
    switch (problem % VARIANTS) {
    case 0: /* a set, in little memory or at a rate */
        if (check_random(&b->state) % 2 == 0) {
            w->bits = (uint64_t)(draw(&b->state, 4, 14) * (double)w->keys);
            w->fp = NAN;
        }
        w->prefer = check_random(&b->state) % 2 == 0 ? TEPAL_PREFER_SPEED : TEPAL_PREFER_SIZE;
        break;
    case 1: /* removals, some of them wrong */
        w->deletes = true;
        w->wrong_deletes = draw(&b->state, 0.01, 0.3);
        w->fn = draw(&b->state, 1e-4, 1e-2);
        break;
    case 2: /* known negatives */
        w->known_negatives = (uint64_t)((double)w->keys * draw(&b->state, 0.5, 4));
        w->fp_known = problem % (2 * VARIANTS) < VARIANTS ? NAN : draw(&b->state, 1e-3, 0.1);
        w->closed_world = problem / (2 * VARIANTS) % 2 == 0;
        w->fp = w->closed_world ? NAN : w->fp;
        break;
    case 3: /* strangers */
        w->untrusted = true;
        w->keys = 10000 + w->keys % 5000;
        w->fp = draw(&b->state, 0.01, 0.1);
        w->fn = draw(&b->state, 0.01, 0.1);
        break;
    case 4: /* known negatives, and members may be lost */
        w->keys = 10000 + w->keys % 20000;
        w->known_negatives = 2 * w->keys;
        w->bits = (uint64_t)(draw(&b->state, 6, 12) * (double)w->keys);
        w->fp = NAN;
        w->cost_fp = draw(&b->state, 2, 20);
        w->cost_fn = 1;
        break;
    default: /* a stream */
        w->endless = true;
        w->fp = draw(&b->state, 3e-3, 0.05);
        w->keys = 10000 + w->keys % 20000;
        break;
    }
}

/* Of the feasible plans the best, or in turns one of another kind. */
static inline const struct tepal_proposal *pick_plan(const struct tepal_plans *plans, int problem)
{
    size_t feasible = 0;
    while (feasible < plans->count && plans->plan[feasible].feasible) {
        feasible++;
    }
    assert_true(feasible > 0);
    for (size_t i = 0; i < feasible; i++) { /* those that are rarely the best */
        if ((problem % VARIANTS == 4 && plans->plan[i].kind == TEPAL_KIND_RETOUCHED) ||
            (problem % (2 * VARIANTS) == VARIANTS + 2 && plans->plan[i].kind == TEPAL_KIND_YESNO)) {
            return &plans->plan[i];
        }
    }
    return &plans->plan[(size_t)(problem / VARIANTS) % feasible];
}

static inline double found_share(const struct built *b, const struct tepal_digest *keys,
                                 size_t count)
{
    uint64_t *answers = calloc(count / 64 + 1, sizeof *answers);
    assert_non_null(answers);
    size_t found = tepal_filter_query_many(b->filter, keys, count, answers);
    free(answers);
    return (double)found / (double)count;
}

/* At most p, and what chance adds with `count` asked in one filter of n keys. */
static inline void at_most(const struct built *b, const char *what, double measured, double p,
                           size_t count)
{
    double k = b->plan->params.hashes;
    double own = p * k / sqrt((double)b->n); /* this filter's own rate */
    double se = sqrt(fmax(p, 1.0 / (double)count) / (double)count + own * own);
    if (!(measured <= p + CHECK_Z * se)) {
        print_error("%s: measured %.6g, planned %.6g +- %.2g\n", what, measured, p, se);
        print_plan(b->plan);
        fail();
    }
}

/* New keys come and go, and wrong removals with them; how many members are then missed? */
static inline double churn(struct built *b)
{
    size_t wrong = (size_t)(b->wish.wrong_deletes * (double)b->n);
    size_t missed = 0;
    for (size_t i = 0; i < b->n; i++) {
        if (i < wrong) {
            (void)tepal_filter_remove(b->filter, check_digest(&b->state));
        }
    }
    for (size_t i = 0; i < b->n; i++) {
        missed += !tepal_filter_query(b->filter, b->members[i]);
    }
    return (double)missed / (double)b->n;
}

/* The stream goes on for some cycles; then the latest must be there. */
static inline void go_on(struct built *b)
{
    size_t more = 4 * b->n;
    struct tepal_digest *d = draw_digests(&b->state, more);
    assert_ok(tepal_filter_add_many(b->filter, d, more));
    memcpy(b->members, d + more - b->n, b->n * sizeof *d);
    free(d);
}

/* New messages, each asked before it is inserted: the average over whole cycles. */
static inline void check_stream(struct built *b)
{
    struct tepal_filter *r = b->filter;
    uint64_t cycles = 0;
    uint64_t seen = 0;
    uint64_t asked = 0;
    assert_non_null(r);
    cycles = (uint64_t)b->plan->messages_per_cycle * 12;
    for (; asked < cycles; asked++) {
        bool was = false;
        assert_ok(tepal_filter_test_add(r, check_digest(&b->state), &was));
        seen += was;
    }
    /* 12 cycles, whose own rates vary: a tenth of the rate is generous. */
    double p = b->plan->fp;
    double se = sqrt(p / (double)asked);
    if (!((double)seen / (double)asked <= p * 1.05 + CHECK_Z * se)) {
        print_error("stream: measured %.6g, planned %.6g\n", (double)seen / (double)asked, p);
        print_plan(b->plan);
        fail();
    }
}

static inline void check_errors(struct built *b)
{
    bool stream = b->plan->kind == TEPAL_KIND_RECYCLING;
    if (stream || b->wish.endless) {
        go_on(b);
    }
    if (stream) {
        assert_true(found_share(b, b->members, b->n) == 1); /* the latest, all of them */
        check_stream(b);
        return;
    }
    double fn = b->wish.deletes ? churn(b) : 1 - found_share(b, b->members, b->n);
    if (b->plan->fn == 0) {
        assert_true(fn == 0);
    } else {
        at_most(b, "fn", fn, b->plan->fn, b->n);
    }
    struct tepal_digest *others = draw_digests(&b->state, BUILT_STRANGERS);
    at_most(b, "fp of strangers", found_share(b, others, BUILT_STRANGERS), b->plan->fp,
            BUILT_STRANGERS);
    free(others);
    if (b->t > 0) {
        at_most(b, "fp of known negatives", found_share(b, b->avoid, b->t), b->plan->fp_known,
                b->t);
    }
}

/* ---- weights --------------------------------------------------------------------------------- */

/*
 * What passes of Zipf-weighted negatives, in filters of eight seeds together. Plans of kinds that
 * do not choose are exact: within what chance does, which a few heavy keys make much of (the
 * variance of the weight that passes is f sum w^2). yesno's and retouched's are estimates, and most
 * of what is heavy is gone: they may be exceeded by a factor of two (measured here: 0 to 1.4).
 */
#define WEIGHTED_SEEDS 8
#define ESTIMATE       2

struct weighted {
    uint64_t seed;
    struct tepal_digest *members; /* room for n */
    struct tepal_digest *avoid;   /* room for t */
    double *weight;
    double total;
    double squares;
    size_t n;
    size_t t;
};

/* Digests are the keys hashed with the seed: every seed draws its own. */
static inline double weight_passing(const struct weighted *w, const struct tepal_proposal *plan,
                                    uint64_t seed)
{
    uint64_t state = seed;
    check_digests(&state, w->members, w->n);
    check_digests(&state, w->avoid, w->t);
    struct tepal_plan_input input = {.seed = seed,
                                     .known = {.members = w->members,
                                               .member_count = w->n,
                                               .avoid = w->avoid,
                                               .avoid_count = w->t,
                                               .avoid_weights = w->weight}};
    struct tepal_filter *filter;
    struct tepal_error error = {.why = ""};
    double passing = 0;
    assert_ok(tepal_plan_build(plan, &input, NULL, &filter, NULL, &error));
    for (size_t i = 0; i < w->t; i++) {
        passing += tepal_filter_query(filter, w->avoid[i]) ? w->weight[i] : 0;
    }
    tepal_filter_free(filter);
    return passing / w->total;
}

static inline void weighted_plan_holds(const struct weighted *w, const struct tepal_proposal *plan)
{
    double sum = 0;
    for (uint64_t i = 1; i <= WEIGHTED_SEEDS; i++) {
        sum += weight_passing(w, plan, w->seed + i);
    }
    double mean = sum / WEIGHTED_SEEDS;
    double se = sqrt(plan->fp_known * w->squares / WEIGHTED_SEEDS) / w->total;
    bool chooses = plan->kind == TEPAL_KIND_YESNO || plan->kind == TEPAL_KIND_RETOUCHED;
    if (getenv("TEPAL_SHOW") != NULL) {
        printf("%d: planned %.6g, measured %.6g, %.2g\n", plan->kind, plan->fp_known, mean, se);
    }
    if (!(chooses ? mean <= ESTIMATE * plan->fp_known
                  : fabs(mean - plan->fp_known) <= CHECK_Z * se)) {
        print_error("measured %.6g, planned %.6g\n", mean, plan->fp_known);
        print_plan(plan);
        fail();
    }
}

/*
 * A wish is at most that, for weights that the margins were not fitted with too: every filter must
 * keep it, not only their average. Weights by rank, the heaviest first.
 */
static inline double mild_weight(double rank, double count)
{
    (void)count;
    return pow(rank, -0.4);
}

static inline double steep_weight(double rank, double count)
{
    (void)count;
    return 1 / rank;
}

static inline double falling_weight(double rank, double count)
{
    return exp(-8 * rank / count);
}

static inline double two_weights(double rank, double count)
{
    return rank <= count / 50 ? 20 : 1;
}

static inline double few_giants(double rank, double count)
{
    return rank <= 10 ? count / 20 : 1 + rank / count;
}

struct kept_wish {
    const char *name;
    double (*weight)(double rank, double count);
    size_t n;
    size_t t;
    double fp_known;
};

static const struct kept_wish kept_wishes[] = {
    {"mild", mild_weight, 10032, 97257, 0.0098},   {"steep", steep_weight, 2000, 20000, 0.003},
    {"steep, few", steep_weight, 500, 5000, 0.01}, {"falling", falling_weight, 2000, 20000, 0.003},
    {"two", two_weights, 2000, 20000, 0.01},       {"giants", few_giants, 2000, 20000, 0.005}};

/* Weights by rank with their curve, in one array of which both are parts. */
static inline void weigh(struct weighted *w, double (*weight)(double rank, double count),
                         struct tepal_wish *wish)
{
    double *curve = malloc(2 * w->t * sizeof *curve);
    w->members = malloc(w->n * sizeof *w->members);
    w->avoid = malloc(w->t * sizeof *w->avoid);
    w->weight = malloc(w->t * sizeof *w->weight);
    assert_true(curve != NULL && w->members != NULL && w->avoid != NULL && w->weight != NULL);
    for (size_t i = 0; i < w->t; i++) { /* the lightest first */
        w->weight[i] = weight((double)(w->t - i), (double)w->t);
        w->total += w->weight[i];
        curve[i] = (double)(i + 1) / (double)w->t;
        curve[w->t + i] = w->total;
    }
    for (size_t i = 0; i < w->t; i++) {
        curve[w->t + i] /= w->total;
    }
    wish->keys = w->n;
    wish->known_negatives = w->t;
    wish->weights = (struct tepal_plan_weights){curve, curve + w->t, w->t};
    wish->closed_world = true;
}

static inline void weighed(struct weighted *w, struct tepal_wish *wish)
{
    free((void *)(uintptr_t)wish->weights.share);
    free(w->members);
    free(w->avoid);
    free(w->weight);
}

static inline void check_kept(const struct kept_wish *k, uint64_t seeds)
{
    struct weighted w = {.seed = 10500, .n = k->n, .t = k->t};
    struct tepal_wish wish = TEPAL_WISH_INIT;
    static struct tepal_plans plans;
    weigh(&w, k->weight, &wish);
    wish.fp_known = k->fp_known;
    plan_kind(&wish, tepal_plan_yesno, &plans);
    const struct tepal_proposal *plan = plan_of(&plans, TEPAL_KIND_YESNO, TEPAL_LAYOUT_FLAT);
    assert_true(plan != NULL && plan->feasible && plan->fp_known <= wish.fp_known);
    for (uint64_t i = 1; i <= seeds; i++) {
        double passing = weight_passing(&w, plan, w.seed + i);
        if (getenv("TEPAL_SHOW") != NULL || passing > wish.fp_known) {
            print_message("%s weights: wish %.6g, measured %.6g\n", k->name, wish.fp_known,
                          passing);
        }
        assert_true(passing <= wish.fp_known);
    }
    weighed(&w, &wish);
}

/*
 * If few members may be lost, chance decides whether the heaviest false positives are more than
 * that: the average must keep the plan.
 */
static inline double spikes(double rank, double count)
{
    return rank <= count / 97 ? 1000 : 1;
}

static inline double steeper_weight(double rank, double count)
{
    (void)count;
    return 1 / (rank * rank);
}

static inline void check_few_lost(double (*weight)(double rank, double count), double fp_known,
                                  uint64_t seeds)
{
    struct weighted w = {.seed = 10600, .n = 500, .t = 5000};
    struct tepal_wish wish = TEPAL_WISH_INIT;
    static struct tepal_plans plans;
    weigh(&w, weight, &wish);
    wish.fp_known = fp_known;
    wish.fn = 0.01;
    plan_kind(&wish, tepal_plan_retouched, &plans);
    for (int layout = TEPAL_LAYOUT_FLAT; layout <= TEPAL_LAYOUT_PAIRED; layout++) {
        const struct tepal_proposal *plan =
            plan_of(&plans, TEPAL_KIND_RETOUCHED, (enum tepal_layout)layout);
        double sum = 0;
        double squares = 0;
        assert_true(plan != NULL && plan->feasible && plan->fp_known <= wish.fp_known);
        for (uint64_t i = 1; i <= seeds; i++) {
            double passing = weight_passing(&w, plan, w.seed + i);
            sum += passing;
            squares += passing * passing;
        }
        double mean = sum / (double)seeds;
        double se = sqrt((squares / (double)seeds - mean * mean) / (double)seeds);
        if (getenv("TEPAL_SHOW") != NULL || mean > plan->fp_known + CHECK_Z * se) {
            print_message("few lost, %s: planned %.6g, measured %.6g +- %.2g\n",
                          tepal_layout_name((enum tepal_layout)layout), plan->fp_known, mean, se);
        }
        assert_true(mean <= plan->fp_known + CHECK_Z * se);
    }
    weighed(&w, &wish);
}

/* With as many seeds each; the large one with a quarter. */
static inline void check_all_kept(uint64_t seeds)
{
    for (size_t i = 0; i < sizeof kept_wishes / sizeof *kept_wishes; i++) {
        check_kept(&kept_wishes[i], kept_wishes[i].t > 50000 ? (seeds + 3) / 4 : seeds);
    }
}

static inline void check_weights(double exponent, uint64_t seed)
{
    struct weighted w = {.seed = seed, .n = 4000};
    struct tepal_wish wish = TEPAL_WISH_INIT;
    struct tepal_plans plans;
    struct zipf_curve curve;
    w.t = CURVE_MOST;
    w.members = malloc(w.n * sizeof *w.members);
    w.avoid = malloc(w.t * sizeof *w.avoid);
    w.weight = malloc(w.t * sizeof *w.weight);
    assert_true(w.members != NULL && w.avoid != NULL && w.weight != NULL);
    for (size_t i = 0; i < w.t; i++) {
        w.weight[i] = pow((double)(i + 1), -exponent);
        w.total += w.weight[i];
        w.squares += w.weight[i] * w.weight[i];
    }
    wish.keys = w.n;
    wish.known_negatives = w.t;
    wish.weights = zipf_weights(&curve, w.t, exponent);
    wish.fp_known = 0.02;
    wish.closed_world = true;
    wish.fn = 0.01;
    plan_it(&wish, &plans);
    unsigned kinds = 0;
    for (size_t i = 0; i < plans.count; i++) {
        enum tepal_kind_id kind = plans.plan[i].kind;
        if (plans.plan[i].feasible && plans.plan[i].params.layout == TEPAL_LAYOUT_FLAT &&
            (kind == TEPAL_KIND_BLOOM || kind == TEPAL_KIND_YESNO || kind == TEPAL_KIND_CASCADE ||
             kind == TEPAL_KIND_RETOUCHED)) {
            weighted_plan_holds(&w, &plans.plan[i]);
            kinds++;
        }
    }
    assert_int_equal(kinds, 4);
    free(w.members);
    free(w.avoid);
    free(w.weight);
}

static inline void build_and_measure(int problems, double most_keys, uint64_t seed)
{
    struct built b = {.state = seed};
    unsigned kinds = 0;
    for (int i = 0; i < problems; i++) {
        struct tepal_plans plans;
        struct tepal_error error = {.why = ""};
        draw_wish(&b, i, most_keys);
        plan_it(&b.wish, &plans);
        b.plan = pick_plan(&plans, i);
        kinds |= 1u << b.plan->kind;
        b.n = (size_t)b.wish.keys;
        b.t = (size_t)b.wish.known_negatives;
        b.members = draw_digests(&b.state, b.n);
        b.avoid = draw_digests(&b.state, b.t);
        struct tepal_plan_input input = {
            .seed = seed + (uint64_t)i,
            .known = {
                .members = b.members, .member_count = b.n, .avoid = b.avoid, .avoid_count = b.t}};
        enum tepal_status status = tepal_plan_build(b.plan, &input, NULL, &b.filter, NULL, &error);
        if (status != TEPAL_OK) {
            print_error("%s\n", error.why);
            print_plan(b.plan);
        }
        assert_int_equal(status, TEPAL_OK);
        check_errors(&b);
        tepal_filter_free(b.filter);
        free(b.members);
        free(b.avoid);
    }
    assert_int_equal(kinds, 0x1fe); /* all eight */
}

#endif
