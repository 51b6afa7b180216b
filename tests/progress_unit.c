/*
 * progress_unit.c: what long calls tell on the way: shares that never fall, the same result as if
 * nobody listened; and wherever the listener stops them, they end with TEPAL_STOPPED, and neither
 * the filter nor anything else has changed.
 */
#include "check.h"
#include "generalized_help.h"
#include "yesno_help.h"

#include <tepal/counting.h>
#include <tepal/plan.h>
#include <tepal/retouched.h>

enum { MEMBERS = 3000, AVOID = 15000, HASHES = 4, CELLS = 18000 };

struct listener {
    uint64_t calls;
    uint64_t stop_at; /* the call that says no, from 1 on; 0: none */
    double last;
};

static bool hear(void *ctx, double done)
{
    struct listener *l = ctx;
    assert_true(done >= l->last && done >= 0 && done <= 1);
    l->last = done;
    return ++l->calls != l->stop_at;
}

struct scene {
    struct tepal_digest member[MEMBERS];
    struct tepal_digest avoid[AVOID];
    struct tepal_known known;
    struct tepal_filter *filter;
    struct tepal_params params; /* of a yes-no filter */
};

/* A call under test: 0 to CALLS - 1. Its filter goes to *out, if it makes one. */
typedef enum tepal_status call(struct scene *s, struct tepal_progress progress,
                               struct tepal_filter **out, struct tepal_error *error);

static enum tepal_retouch_method method;

static enum tepal_status retouch(struct scene *s, struct tepal_progress progress,
                                 struct tepal_filter **out, struct tepal_error *error)
{
    struct tepal_retouch_options how = TEPAL_RETOUCH_OPTIONS_INIT;
    how.method = method;
    how.progress = progress;
    return tepal_retouch(s->filter, &s->known, &how, NULL, out, NULL, NULL, error);
}

static enum tepal_status curve(struct scene *s, struct tepal_progress progress,
                               struct tepal_filter **out, struct tepal_error *error)
{
    struct tepal_retouch_options how = TEPAL_RETOUCH_OPTIONS_INIT;
    struct tepal_retouch_point points[100];
    size_t count;
    (void)out;
    how.method = method;
    how.limit = TEPAL_RETOUCH_LIMIT_SHARE;
    how.budget = 1;
    how.progress = progress;
    return tepal_retouch_curve(s->filter, &s->known, &how, NULL, points, 100, &count, NULL, error);
}

static enum tepal_yesno_method vetoing;

static enum tepal_status veto(struct scene *s, struct tepal_progress progress,
                              struct tepal_filter **out, struct tepal_error *error)
{
    struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
    how.method = vetoing;
    how.salts = 2;
    how.steps = 20000;
    how.progress = progress;
    return tepal_yesno_build(&s->params, &s->known, &how, NULL, out, NULL, error);
}

static enum tepal_status veto_later(struct scene *s, struct tepal_progress progress,
                                    struct tepal_filter **out, struct tepal_error *error)
{
    struct tepal_yesno_options how = TEPAL_YESNO_OPTIONS_INIT;
    struct tepal_filter *made = NULL;
    struct tepal_filter *same = NULL;
    assert_ok(tepal_filter_create(&s->params, NULL, &made, NULL));
    assert_ok(tepal_filter_add_many(made, s->member, MEMBERS));
    assert_ok(tepal_filter_clone(made, NULL, &same, NULL));
    how.steps = 20000;
    how.progress = progress;
    enum tepal_status status = tepal_yesno_veto_later(made, &s->known, &how, NULL, error);
    assert_int_equal(tepal_filter_equal(made, same), status == TEPAL_STOPPED);
    tepal_filter_free(same);
    if (status == TEPAL_OK) {
        *out = made;
    } else {
        tepal_filter_free(made);
    }
    return status;
}

static enum tepal_kind_id kind;

static enum tepal_status plan(struct scene *s, struct tepal_progress progress,
                              struct tepal_filter **out, struct tepal_error *error)
{
    struct tepal_wish w = TEPAL_WISH_INIT;
    static struct tepal_plans plans;
    w.keys = MEMBERS;
    w.known_negatives = AVOID;
    w.fp = 0.05;
    w.fp_known = 0.01;
    w.fn = kind == TEPAL_KIND_RETOUCHED ? 0.05 : 0;
    w.progress = kind == TEPAL_KIND_BLOOM ? progress : (struct tepal_progress){NULL, NULL};
    enum tepal_status status = tepal_plan(&w, &plans, error);
    for (size_t i = 0; status == TEPAL_OK && i < plans.count; i++) {
        if (plans.plan[i].feasible && plans.plan[i].kind == kind && kind != TEPAL_KIND_BLOOM) {
            struct tepal_plan_input input = {.seed = 0, .known = s->known, .progress = progress};
            return tepal_plan_build(&plans.plan[i], &input, NULL, out, NULL, error);
        }
    }
    assert_true(status != TEPAL_OK || kind == TEPAL_KIND_BLOOM);
    return status;
}

/* ---- counting filters ------------------------------------------------------------------------ */

static enum tepal_status offline(struct scene *s, struct tepal_progress progress,
                                 struct tepal_filter **out, struct tepal_error *error)
{
    struct tepal_filter *made = NULL;
    assert_ok(tepal_filter_create(&s->params, NULL, &made, NULL));
    enum tepal_status status =
        tepal_counting_add_offline(made, s->member, MEMBERS, &progress, NULL, NULL, error);
    assert_true(status == TEPAL_OK || tepal_filter_keys_added(made) == 0);
    if (status == TEPAL_OK) {
        *out = made;
    } else {
        tepal_filter_free(made);
    }
    return status;
}

static enum tepal_status audit(struct scene *s, struct tepal_progress progress,
                               struct tepal_filter **out, struct tepal_error *error)
{
    static struct tepal_report report;
    (void)out;
    return tepal_counting_audit(s->filter, s->member, NULL, MEMBERS, &progress, NULL, NULL, &report,
                                error);
}

static enum tepal_status repair(struct scene *s, struct tepal_progress progress,
                                struct tepal_filter **out, struct tepal_error *error)
{
    struct tepal_filter *copy = NULL;
    assert_ok(tepal_filter_clone(s->filter, NULL, &copy, NULL));
    enum tepal_status status =
        tepal_counting_repair(copy, s->member, NULL, MEMBERS, &progress, NULL, NULL, error);
    if (status == TEPAL_OK) {
        *out = copy;
    } else {
        assert_true(tepal_filter_equal(copy, s->filter));
        tepal_filter_free(copy);
    }
    return status;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void must_tell(struct scene *s, call *make, uint64_t least)
{
    struct listener l = {0};
    struct tepal_filter *alone = NULL;
    struct tepal_filter *heard = NULL;
    struct tepal_progress none = {NULL, NULL};
    struct tepal_progress progress = {hear, &l};
    assert_ok(make(s, none, &alone, NULL));
    assert_ok(make(s, progress, &heard, NULL));
    assert_true(l.calls >= least);
    assert_true((alone == NULL) == (heard == NULL));
    assert_true(alone == NULL || tepal_filter_equal(alone, heard));
    tepal_filter_free(heard);
    tepal_filter_free(alone);
    const uint64_t calls = l.calls;
    const uint64_t step = calls / 12 + 1;
    for (uint64_t at = 1; at <= calls; at += at < 6 ? 1 : step) {
        struct tepal_error error = {.why = NULL};
        struct tepal_filter *out = NULL;
        l = (struct listener){.stop_at = at};
        assert_int_equal(make(s, progress, &out, &error), TEPAL_STOPPED);
        assert_int_equal(l.calls, at); /* whoever has said no is not asked again */
        assert_null(out);
        assert_int_equal(error.status, TEPAL_STOPPED);
        assert_non_null(error.why);
    }
}

static void scene_make(struct scene *s, const struct tepal_params *params)
{
    uint64_t state = 5;
    check_digests(&state, s->member, MEMBERS);
    check_digests(&state, s->avoid, AVOID);
    s->known = (struct tepal_known){
        .members = s->member, .member_count = MEMBERS, .avoid = s->avoid, .avoid_count = AVOID};
    assert_ok(tepal_filter_create(params, NULL, &s->filter, NULL));
    assert_ok(tepal_filter_add_many(s->filter, s->member, MEMBERS));
}

static void retouching_tells(void **unused)
{
    (void)unused;
    static struct scene s;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.cells = CELLS;
    p.hashes = HASHES;
    scene_make(&s, &p);
    for (int m = TEPAL_RETOUCH_RANDOM; m <= TEPAL_RETOUCH_SACRIFICE; m++) {
        method = (enum tepal_retouch_method)m;
        must_tell(&s, retouch, 5);
    }
    must_tell(&s, curve, 5);
    /* Without the members. */
    s.known.members = NULL;
    s.known.member_count = 0;
    method = TEPAL_RETOUCH_MAX_FP;
    must_tell(&s, retouch, 4);
    tepal_filter_free(s.filter);
    /* A generalized filter: bits are inverted. */
    assert_ok(set_generalized(CELLS, 1, 3, 0.5, 0, 1, &p));
    scene_make(&s, &p);
    method = TEPAL_RETOUCH_NET_EFFECT;
    must_tell(&s, retouch, 5);
    must_tell(&s, curve, 20);
    tepal_filter_free(s.filter);
}

static void vetoing_tells(void **unused)
{
    (void)unused;
    static struct scene s;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    set_yesno(30000, HASHES, 600, 2, 6, &p);
    scene_make(&s, &p);
    s.params = p;
    for (int m = 0; m < TEPAL_YESNO_METHODS; m++) {
        vetoing = (enum tepal_yesno_method)m;
        must_tell(&s, veto, 4);
    }
    must_tell(&s, veto_later, 4);
    tepal_filter_free(s.filter);
}

static void planning_tells(void **unused)
{
    (void)unused;
    static struct scene s;
    struct tepal_params p = TEPAL_PARAMS_INIT;
    p.cells = CELLS;
    p.hashes = HASHES;
    scene_make(&s, &p);
    kind = TEPAL_KIND_BLOOM;
    must_tell(&s, plan, 8);
    kind = TEPAL_KIND_YESNO;
    must_tell(&s, plan, 2);
    kind = TEPAL_KIND_RETOUCHED;
    must_tell(&s, plan, 6);
    tepal_filter_free(s.filter);
}

static void counting_tells(void **unused)
{
    (void)unused;
    static struct scene s;
    for (int layout = TEPAL_LAYOUT_FLAT; layout <= TEPAL_LAYOUT_PAIRED; layout++) {
        struct tepal_params p = TEPAL_PARAMS_INIT;
        p.kind = TEPAL_KIND_COUNTING;
        p.layout = (enum tepal_layout)layout;
        p.cells = CELLS / 128 * 128;
        p.hashes = HASHES;
        p.counting.choices = 3;
        p.counting.rule =
            tepal_layout_in_lines(p.layout) ? TEPAL_RULE_LEAST_INCREASE : TEPAL_RULE_GREEDY;
        scene_make(&s, &p);
        s.params = p;
        must_tell(&s, offline, 20);
        /* Wrong removals, so that there is something to search for. */
        size_t removed;
        assert_ok(tepal_filter_remove_many(s.filter, s.avoid, AVOID, &removed));
        assert_true(removed > 0);
        must_tell(&s, audit, 6);
        must_tell(&s, repair, 6);
        tepal_filter_free(s.filter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(retouching_tells),
        cmocka_unit_test(vetoing_tells),
        cmocka_unit_test(planning_tells),
        cmocka_unit_test(counting_tells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
