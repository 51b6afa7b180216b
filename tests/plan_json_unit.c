/*
 * plan_json_unit.c: plans as JSON text. A parser that is not ours reads them back, and every field
 * is compared with the structure; room runs out as with snprintf.
 */
#include "check.h"

#include <jansson.h>

/* ---- fields ---------------------------------------------------------------------------------- */

static size_t seen_fields; /* of the object that is being compared */

static const json_t *field(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    if (value == NULL) {
        fail_msg("%s is missing", name);
    }
    seen_fields++;
    return value;
}

static void same_real(const json_t *object, const char *name, double value)
{
    const json_t *x = field(object, name);
    if (isfinite(value) ? !json_is_number(x) || json_number_value(x) != value : !json_is_null(x)) {
        fail_msg("%s is not %.17g", name, value);
    }
}

static void same_whole(const json_t *object, const char *name, bool known, uint64_t value)
{
    const json_t *x = field(object, name);
    if (known ? !json_is_integer(x) || (uint64_t)json_integer_value(x) != value
              : !json_is_null(x)) {
        fail_msg("%s is not %llu", name, (unsigned long long)value);
    }
}

static void same_flag(const json_t *object, const char *name, bool value)
{
    const json_t *x = field(object, name);
    assert_true(json_is_boolean(x) && json_is_true(x) == value);
}

/* NULL: null. */
static void same_text(const json_t *object, const char *name, const char *value)
{
    const json_t *x = field(object, name);
    if (value == NULL ? !json_is_null(x)
                      : !json_is_string(x) || strcmp(json_string_value(x), value) != 0) {
        fail_msg("%s is not %s", name, value == NULL ? "null" : value);
    }
}

/* ---- plans ----------------------------------------------------------------------------------- */

static void same_own(const json_t *o, const struct tepal_proposal *plan)
{
    const struct tepal_params *p = &plan->params;
    switch (plan->kind) {
    case TEPAL_KIND_GENERALIZED:
        same_whole(o, "reset_hashes", true, p->generalized.reset_hashes);
        same_whole(o, "set_hashes", true, p->hashes - p->generalized.reset_hashes);
        same_whole(o, "tolerance", true, p->generalized.tolerance);
        break;
    case TEPAL_KIND_COUNTING:
        same_whole(o, "cells", true, p->cells);
        same_whole(o, "choices", true, p->counting.choices);
        same_whole(o, "line_cells", tepal_layout_in_lines(p->layout),
                   p->counting.lines == TEPAL_LINES_LONG ? 512 : 128);
        same_whole(o, "counter_bits", true,
                   p->counting.form == TEPAL_FORM_COUNTERS        ? 4
                   : p->counting.form == TEPAL_FORM_WIDE_COUNTERS ? 8
                                                                  : 0);
        same_real(o, "max_fn", plan->max_fn > 0 ? plan->max_fn : NAN);
        break;
    case TEPAL_KIND_FINGERPRINT:
        same_whole(o, "fingerprint_bits", true, p->fingerprint.bits);
        break;
    case TEPAL_KIND_YESNO:
        same_whole(o, "yes_bits", true, p->cells - p->yesno.no_bits * p->yesno.no_filters);
        same_whole(o, "no_bits", true, p->yesno.no_bits);
        same_whole(o, "no_filters", true, p->yesno.no_filters);
        same_whole(o, "no_hashes", true, p->yesno.no_hashes);
        same_flag(o, "own_seeds", p->yesno.own_seeds != 0);
        break;
    case TEPAL_KIND_RECYCLING:
        same_whole(o, "phases", true, p->recycling.phases);
        same_whole(o, "phase_bits", true, p->cells);
        same_text(o, "rule", p->recycling.rule == TEPAL_RECYCLING_SIGMA ? "sigma" : "average");
        same_whole(o, "sigma", p->recycling.rule == TEPAL_RECYCLING_SIGMA, p->recycling.limit);
        same_whole(o, "messages_per_cycle", plan->messages_per_cycle >= 0,
                   plan->messages_per_cycle >= 0 ? (uint64_t)plan->messages_per_cycle : 0);
        same_real(o, "remembers", plan->remembers);
        break;
    case TEPAL_KIND_CASCADE:
        same_whole(o, "first_level_bits", true, p->cells);
        same_whole(o, "max_bits", plan->max_bits > 0, plan->max_bits);
        break;
    case TEPAL_KIND_RETOUCHED:
        same_real(o, "max_fn", plan->max_fn);
        break;
    case TEPAL_KIND_GROWING:
        same_whole(o, "first_bits", true, p->cells);
        same_whole(o, "tag_bits", true, p->growing.tag_bits);
        same_whole(o, "extension_bits", true, p->growing.extension_bits);
        break;
    case TEPAL_KIND_CHAIN:
        same_whole(o, "first_bits", true, p->cells);
        same_whole(o, "first_keys", true, p->chain.first_keys);
        same_real(o, "fp_any_size", ldexp((double)p->chain.rate, -64));
        same_real(o, "growth", (double)p->chain.growth / TEPAL_CHAIN_UNIT);
        same_text(o, "series", tepal_chain_series_name((enum tepal_chain_series)p->chain.series));
        same_whole(o, "parts", true, p->chain.planned);
        break;
    case TEPAL_KIND_BLOOM:
        same_real(o, "max_fn", plan->max_fn > 0 ? plan->max_fn : NAN);
        break;
    }
}

static void same_plan(const json_t *o, const struct tepal_proposal *plan)
{
    const struct tepal_params *p = &plan->params;
    bool is = p->cells > 0;
    seen_fields = 0;
    same_text(o, "kind", tepal_kind_by_id((uint32_t)plan->kind)->name);
    same_text(o, "layout", plan->all_layouts ? NULL : tepal_layout_name(p->layout));
    same_flag(o, "feasible", plan->feasible);
    same_text(o, "reason", plan->reason);
    same_text(o, "blocked_by", plan->feasible ? NULL : plan->blocked_by);
    same_whole(o, "bits", is, plan->bits);
    same_real(o, "bits_per_key", plan->bits_per_key);
    same_whole(o, "hashes", is, p->hashes);
    same_text(o, "positions", is ? tepal_positions_name(p->positions) : NULL);
    same_real(o, "likely", plan->likely);
    same_real(o, "fp", plan->fp);
    same_real(o, "fp_known", plan->fp_known);
    same_real(o, "fn", plan->fn);
    same_real(o, "probes", plan->probes);
    same_real(o, "cost", plan->cost);
    same_text(o, "command", NULL); /* of the command line, which the library does not know */
    if (is) {
        same_own(o, plan);
    }
    assert_int_equal(json_object_size(o), seen_fields);
}

/* The list, and what belongs to it; returns how many fields these are. */
static size_t same_list(const json_t *o, const struct tepal_proposal *plan, size_t count)
{
    const json_t *list = json_object_get(o, "plans");
    bool weighted = false;
    assert_int_equal(json_array_size(list), count);
    for (size_t i = 0; i < count; i++) {
        weighted = weighted || plan[i].weighted;
        same_plan(json_array_get(list, i), &plan[i]);
    }
    same_flag(o, "weighted", weighted);
    same_flag(o, "feasible", count > 0 && plan[0].feasible);
    return 3;
}

/* ---- text ------------------------------------------------------------------------------------ */

typedef size_t writer(const void *what, char *text, size_t room);

static size_t write_plans(const void *what, char *text, size_t room)
{
    return tepal_plans_json(what, text, room);
}

static size_t write_plan(const void *what, char *text, size_t room)
{
    return tepal_plan_json(what, text, room);
}

/* Any room: the length of the whole, as much of it as there is room for, a 0, nothing beyond. */
static void check_room(writer *write, const void *what, const char *whole, size_t len)
{
    const size_t rooms[] = {0, 1, 2, 17, len / 2, len - 1, len, len + 1, len + 50};
    for (size_t i = 0; i < COUNT(rooms); i++) {
        size_t room = rooms[i];
        char *text = malloc(room + 1);
        assert_non_null(text);
        memset(text, '#', room + 1);
        assert_int_equal(write(what, text, room), len);
        if (room > 0) {
            size_t part = room <= len ? room - 1 : len;
            assert_memory_equal(text, whole, part);
            assert_int_equal(text[part], 0);
        }
        for (size_t at = room < len + 1 ? room : len + 1; at <= room; at++) {
            assert_int_equal(text[at], '#');
        }
        free(text);
    }
    assert_int_equal(write(what, NULL, 0), len);
}

static json_t *written(writer *write, const void *what)
{
    size_t len = write(what, NULL, 0);
    char *text = malloc(len + 1);
    json_error_t error;
    assert_non_null(text);
    assert_int_equal(write(what, text, len + 1), len);
    assert_int_equal(strlen(text), len);
    assert_null(strchr(text, '\n'));
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (object == NULL) {
        fail_msg("%s at %d: %s", error.text, error.position, text);
    }
    check_room(write, what, text, len);
    free(text);
    return object;
}

static void check_plans(const struct tepal_plans *plans)
{
    json_t *o = written(write_plans, plans);
    size_t fields = same_list(o, plans->plan, plans->count) + 5;
    same_whole(o, "keys", true, plans->keys);
    same_real(o, "fp", plans->fp);
    same_real(o, "fp_known", plans->fp_known);
    same_flag(o, "closed_world", plans->closed_world);
    same_real(o, "fn", plans->fn);
    if (plans->blocked_by[0] != '\0') {
        same_text(o, "blocked_by", plans->blocked_by);
        same_text(o, "blocked_also", plans->blocked_also);
        same_plan(json_object_get(o, "nearest"), &plans->nearest);
        fields += 3;
    }
    assert_int_equal(json_object_size(o), fields);
    json_decref(o);
    for (size_t i = 0; i < plans->count; i++) {
        o = written(write_plan, &plans->plan[i]);
        assert_int_equal(json_object_size(o), same_list(o, &plans->plan[i], 1) + 1);
        same_whole(o, "keys", true, plans->plan[i].params.capacity);
        json_decref(o);
    }
}

/* ---- wishes ---------------------------------------------------------------------------------- */

static void check_wish(const struct tepal_wish *wish)
{
    static struct tepal_plans plans;
    struct tepal_error error;
    if (tepal_plan(wish, &plans, &error) != TEPAL_OK) {
        fail_msg("%s", error.why);
    }
    check_plans(&plans);
}

/* Wishes that together have plans of every kind, feasible and not. */
static void every_field_is_there(void **unused)
{
    struct tepal_wish wish = TEPAL_WISH_INIT;
    (void)unused;
    wish.keys = 10000;
    wish.fp = 0.01;
    check_wish(&wish);
    wish.deletes = true;
    check_wish(&wish);
    wish.deletes = false;
    wish.known_negatives = 5000;
    check_wish(&wish);
    wish.fp_known = 0.02;
    wish.fn = 0.02;
    wish.bits = 90000;
    check_wish(&wish);
    wish.bits = 100; /* nothing is feasible */
    check_wish(&wish);
    wish = (struct tepal_wish)TEPAL_WISH_INIT;
    wish.keys = 1000;
    wish.fp_average = 0.01;
    wish.endless = true;
    check_wish(&wish);
    wish.stream = TEPAL_STREAM_GEOMETRIC;
    wish.stream_a = 500;
    wish.stream_fresh = 0.5;
    check_wish(&wish);
    wish = (struct tepal_wish)TEPAL_WISH_INIT;
    wish.keys = 10000;
    wish.fp = 0.1;
    wish.untrusted = true;
    wish.fn = 0.1;
    check_wish(&wish);
    wish = (struct tepal_wish)TEPAL_WISH_INIT;
    wish.keys = 20;
    wish.header_bits = 256;
    wish.known_negatives = 30;
    check_wish(&wish);
}

static void weighted_negatives(void **unused)
{
    static const double share[] = {0.5, 0.9};
    static const double weight[] = {0.1, 0.4};
    struct tepal_wish wish = TEPAL_WISH_INIT;
    (void)unused;
    wish.keys = 10000;
    wish.fp = 0.01;
    wish.known_negatives = 5000;
    wish.weights = (struct tepal_plan_weights){share, weight, 2};
    check_wish(&wish);
}

/* All kinds came, feasible, in the wishes above or here: a plan of each, made by hand. */
static void plans_by_hand(void **unused)
{
    struct tepal_proposal plan = {.kind = TEPAL_KIND_BLOOM, .feasible = true, .blocked_by = ""};
    (void)unused;
    for (size_t i = 0; i < tepal_kind_count(); i++) {
        plan.kind = tepal_kind_at(i)->id;
        plan.params = (struct tepal_params)TEPAL_PARAMS_INIT;
        plan.params.kind = plan.kind;
        plan.params.layout = (enum tepal_layout)(i % 4);
        plan.params.hashes = 40;
        plan.params.cells = UINT64_C(1) << 59;
        plan.params.capacity = (UINT64_C(1) << 62) + 1;
        for (size_t own = 0; own < TEPAL_OWN_PARAMS; own++) {
            plan.params.own[own] = own + 1;
        }
        plan.bits = INT64_MAX;
        plan.bits_per_key = NAN;
        plan.fp = 0.1 + 0.2; /* all digits are needed */
        plan.fp_known = 5e-324;
        plan.fn = NAN;
        plan.probes = 1;
        plan.cost = 1.7976931348623157e308;
        plan.max_fn = 1.0 / 3;
        plan.max_bits = i;
        plan.remembers = i % 2 == 0 ? NAN : 12345.678;
        plan.messages_per_cycle = i % 2 == 0 ? NAN : 99.9;
        struct tepal_plans plans = {.keys = INT64_MAX, .fp = NAN, .fn = INFINITY, .count = 1};
        plans.plan[0] = plan;
        plans.blocked_by = "";
        check_plans(&plans);
        plan.feasible = !plan.feasible;
        plan.blocked_by = plan.feasible ? "" : "fp";
        plan.all_layouts = !plan.feasible;
    }
}

static void nothing_at_all(void **unused)
{
    struct tepal_plans plans = {.blocked_by = "memory", .fp = -0.25, .fn = 0};
    (void)unused;
    plans.nearest.kind = TEPAL_KIND_BLOOM;
    plans.nearest.blocked_by = "memory";
    plans.nearest.fp = NAN;
    check_plans(&plans);
}

/* Quotes, backslashes, control characters and letters beyond ASCII come back as they were. */
static void texts_are_escaped(void **unused)
{
    struct tepal_plans plans = {.count = 1, .blocked_by = "a \"b\"\\ \t\x01\x1f/\x7f"};
    struct tepal_proposal *plan = &plans.plan[0];
    (void)unused;
    plan->kind = TEPAL_KIND_CASCADE;
    plan->blocked_by = "\r\n\f\b\"";
    (void)snprintf(plan->reason, sizeof plan->reason, "\"\\\n\\u0041 \xc3\xa9 \xe2\x89\xa4 '</>");
    (void)snprintf(plans.blocked_also, sizeof plans.blocked_also, "\\\"\x02");
    plans.nearest = *plan;
    check_plans(&plans);
    memset(plan->reason, '"', sizeof plan->reason - 1);
    check_plans(&plans);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_there), cmocka_unit_test(weighted_negatives),
        cmocka_unit_test(plans_by_hand),        cmocka_unit_test(nothing_at_all),
        cmocka_unit_test(texts_are_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
