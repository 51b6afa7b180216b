/*
 * plan_json.c: every plan with all that it is built from, and the best one back. A field that is
 * missing was not known to the tepal that saved the plan.
 */
#include "plans/plan_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tepal/counting.h>
#include <tepal/generalized.h>
#include <tepal/recycling.h>
#include <tepal/yesno.h>

#include "output/render.h"
#include "plans/plan_command.h"

static void set_real(json_t *o, const char *name, double x)
{
    json_object_set_new(o, name, isfinite(x) ? json_real(x) : json_null());
}

static void set_whole(json_t *o, const char *name, uint64_t x)
{
    json_object_set_new(o, name, json_integer((json_int_t)x));
}

/* The kind's own parameters. */
static void set_own(json_t *o, const struct tepal_proposal *plan)
{
    const struct tepal_params *p = &plan->params;
    struct tepal_recycling_options cycle;
    switch (plan->kind) {
    case TEPAL_KIND_GENERALIZED:
        set_whole(o, "reset_hashes", p->own[TEPAL_GENERALIZED_RESET_HASHES]);
        set_whole(o, "set_hashes", p->hashes - p->own[TEPAL_GENERALIZED_RESET_HASHES]);
        set_whole(o, "tolerance", p->own[TEPAL_GENERALIZED_TOLERANCE]);
        break;
    case TEPAL_KIND_COUNTING:
        set_whole(o, "cells", p->cells);
        set_whole(o, "choices", p->own[TEPAL_COUNTING_CHOICES]);
        break;
    case TEPAL_KIND_FINGERPRINT:
        set_whole(o, "fingerprint_bits", p->own[TEPAL_FINGERPRINT_BITS]);
        break;
    case TEPAL_KIND_YESNO:
        set_whole(o, "yes_bits", tepal_yesno_yes_bits(p));
        set_whole(o, "no_bits", p->own[TEPAL_YESNO_NO_BITS]);
        set_whole(o, "no_filters", p->own[TEPAL_YESNO_NO_FILTERS]);
        set_whole(o, "no_hashes", p->own[TEPAL_YESNO_NO_HASHES]);
        json_object_set_new(o, "own_seeds", json_boolean(p->own[TEPAL_YESNO_OWN_SEEDS] != 0));
        break;
    case TEPAL_KIND_RECYCLING:
        cycle = tepal_recycling_options_of(p);
        set_whole(o, "phases", cycle.phases);
        set_whole(o, "phase_bits", p->cells);
        set_whole(o, "sigma", cycle.limit);
        set_whole(o, "messages_per_cycle", (uint64_t)plan->messages_per_cycle);
        set_real(o, "remembers", plan->remembers);
        break;
    case TEPAL_KIND_CASCADE:
        set_whole(o, "first_level_bits", p->cells);
        json_object_set_new(o, "most_bits",
                            plan->most_bits > 0 ? json_integer((json_int_t)plan->most_bits)
                                                : json_null());
        break;
    case TEPAL_KIND_RETOUCHED:
        set_real(o, "max_fn", plan->max_fn);
        break;
    case TEPAL_KIND_BLOOM:
        break;
    }
}

static json_t *one(const struct tepal_proposal *plan)
{
    json_t *o = json_object();
    bool is = plan->params.cells > 0;
    char command[PLAN_COMMAND];
    const struct tepal_kind *kind = tepal_kind_by_id(plan->kind);
    json_object_set_new(o, "kind", json_string(kind == NULL ? "" : kind->name));
    json_object_set_new(o, "layout",
                        plan->all_layouts ? json_null()
                                          : json_string(tepal_layout_name(plan->params.layout)));
    json_object_set_new(o, "feasible", json_boolean(plan->feasible));
    json_object_set_new(o, "reason", json_string(plan->reason));
    json_object_set_new(o, "blocked_by",
                        plan->feasible ? json_null() : json_string(plan->blocked_by));
    json_object_set_new(o, "bits", is ? json_integer((json_int_t)plan->bits) : json_null());
    set_real(o, "bits_per_key", plan->bits_per_key);
    json_object_set_new(o, "hashes",
                        is ? json_integer((json_int_t)plan->params.hashes) : json_null());
    json_object_set_new(o, "positions",
                        is ? json_string(tepal_positions_name(plan->params.positions))
                           : json_null());
    set_real(o, "fp", plan->fp);
    set_real(o, "fp_unknown", plan->fp_unknown);
    set_real(o, "fn", plan->fn);
    set_real(o, "probes", plan->probes);
    set_real(o, "cost", plan->cost);
    json_object_set_new(o, "command",
                        is ? json_string(plan_command(plan, NULL, command, sizeof command))
                           : json_null());
    if (is) {
        set_own(o, plan);
    }
    return o;
}

json_t *plan_json(const struct tepal_wish *wish, const struct tepal_plans *plans)
{
    json_t *o = json_object();
    json_t *list = json_array();
    set_whole(o, "keys", plans->keys);
    set_real(o, "fp", plans->fp);
    set_real(o, "fn", plans->fn);
    set_whole(o, "known_negatives", wish->known_negatives);
    json_object_set_new(o, "weighted", json_boolean(wish->weights.count > 0));
    json_object_set_new(o, "feasible", json_boolean(plans->plan[0].feasible));
    for (size_t i = 0; i < plans->count; i++) {
        json_array_append_new(list, one(&plans->plan[i]));
    }
    json_object_set_new(o, "plans", list);
    if (plans->blocked_by[0] != '\0') {
        json_object_set_new(o, "blocked_by", json_string(plans->blocked_by));
        json_object_set_new(o, "blocked_also", json_string(plans->blocked_also));
        json_object_set_new(o, "nearest", one(&plans->nearest));
    }
    return o;
}

/* ---- back ------------------------------------------------------------------------------------ */

struct reader {
    const json_t *plan;
    char *why; /* the first that is wrong; "" until then */
};

static void wrong(struct reader *r, const char *name, const char *what)
{
    if (r->why[0] == '\0') {
        snprintf(r->why, PLAN_JSON_WHY, "\"%s\" %s", name, what);
    }
}

/* A field that must be there; NULL, and said so, if it is not. */
static const json_t *field(struct reader *r, const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    if (value == NULL) {
        wrong(r, name, "is missing: make the plan again with tepal plan ... --json");
    }
    return value;
}

static uint64_t whole_of(struct reader *r, const json_t *object, const char *name, uint64_t most)
{
    const json_t *value = field(r, object, name);
    json_int_t x = json_integer_value(value);
    if (value != NULL && (!json_is_integer(value) || x < 0 || (uint64_t)x > most)) {
        wrong(r, name, "is no whole number that it can be");
        return 0;
    }
    return (uint64_t)x;
}

static uint64_t whole(struct reader *r, const char *name)
{
    return whole_of(r, r->plan, name, INT64_MAX);
}

static uint32_t small(struct reader *r, const char *name)
{
    return (uint32_t)whole_of(r, r->plan, name, UINT32_MAX);
}

static bool flag(struct reader *r, const json_t *object, const char *name)
{
    const json_t *value = field(r, object, name);
    if (value != NULL && !json_is_boolean(value)) {
        wrong(r, name, "is neither true nor false");
    }
    return json_is_true(value);
}

static double rate(struct reader *r, const char *name)
{
    const json_t *value = field(r, r->plan, name);
    double x = json_number_value(value);
    if (value != NULL && !(json_is_number(value) && x > 0 && x < 1)) {
        wrong(r, name, "is no rate above 0 and below 1");
    }
    return x;
}

/* A name that is known; "" if it is none. */
static const char *name_of(struct reader *r, const char *name)
{
    const char *text = json_string_value(field(r, r->plan, name));
    return text == NULL ? "" : text;
}

static void read_places(struct reader *r, struct tepal_proposal *plan)
{
    const struct tepal_kind *kind = tepal_kind_by_name(name_of(r, "kind"));
    if (kind == NULL) {
        wrong(r, "kind", "is none that there is");
        return;
    }
    plan->kind = kind->id;
    plan->params.kind = kind->id;
    if (!tepal_layout_parse(name_of(r, "layout"), &plan->params.layout)) {
        wrong(r, "layout", "is none that there is");
    }
    if (!tepal_positions_parse(name_of(r, "positions"), &plan->params.positions)) {
        wrong(r, "positions", "are none that there are");
    }
    plan->params.hashes = small(r, "hashes");
}

static void read_yesno(struct reader *r, struct tepal_params *p)
{
    if (tepal_yesno_params(whole(r, "yes_bits"), p->hashes, whole(r, "no_bits"),
                           whole(r, "no_filters"), small(r, "no_hashes"), p) != TEPAL_OK) {
        wrong(r, "yes_bits", "and the no-filters' bits are too many");
    }
    p->own[TEPAL_YESNO_OWN_SEEDS] = flag(r, r->plan, "own_seeds");
}

static void read_recycling(struct reader *r, struct tepal_params *p)
{
    struct tepal_recycling_options cycle = TEPAL_RECYCLING_OPTIONS_INIT;
    cycle.phases = small(r, "phases");
    cycle.limit = whole(r, "sigma");
    p->cells = whole(r, "phase_bits");
    p->capacity = 0;
    tepal_recycling_set_options(p, &cycle);
}

static void read_cascade(struct reader *r, struct tepal_proposal *plan)
{
    plan->params.cells = whole(r, "first_level_bits");
    if (!json_is_null(field(r, r->plan, "most_bits"))) {
        plan->most_bits = whole(r, "most_bits");
    }
}

/* The other way round of set_own, and the cells, which most kinds have as "bits". */
static void read_own(struct reader *r, struct tepal_proposal *plan)
{
    struct tepal_params *p = &plan->params;
    switch (plan->kind) {
    case TEPAL_KIND_YESNO:
        read_yesno(r, p);
        return;
    case TEPAL_KIND_RECYCLING:
        read_recycling(r, p);
        return;
    case TEPAL_KIND_CASCADE:
        read_cascade(r, plan);
        return;
    case TEPAL_KIND_COUNTING:
        p->cells = whole(r, "cells");
        p->own[TEPAL_COUNTING_CHOICES] = whole(r, "choices");
        return;
    case TEPAL_KIND_GENERALIZED:
        p->own[TEPAL_GENERALIZED_RESET_HASHES] = whole(r, "reset_hashes");
        p->own[TEPAL_GENERALIZED_TOLERANCE] = whole(r, "tolerance");
        break;
    case TEPAL_KIND_FINGERPRINT:
        p->own[TEPAL_FINGERPRINT_BITS] = whole(r, "fingerprint_bits");
        break;
    case TEPAL_KIND_RETOUCHED:
        plan->max_fn = rate(r, "max_fn");
        break;
    case TEPAL_KIND_BLOOM:
        break;
    }
    p->cells = whole(r, "bits");
}

static void read_plan(struct reader *r, const json_t *all, struct tepal_proposal *plan)
{
    const char *refused = "";
    if (!json_is_object(r->plan)) {
        snprintf(r->why, PLAN_JSON_WHY, "not a plan: tepal plan --json writes them");
        return;
    }
    if (!json_is_true(json_object_get(r->plan, "feasible"))) {
        snprintf(r->why, PLAN_JSON_WHY, "no plan in it is feasible");
        return;
    }
    plan->feasible = true;
    plan->params.capacity = whole_of(r, all, "keys", INT64_MAX);
    read_places(r, plan);
    if (r->why[0] == '\0') {
        read_own(r, plan);
    }
    if (!tepal_plan_streams(plan)) {
        plan->weighted = flag(r, all, "weighted");
    }
    if (r->why[0] == '\0' && tepal_plan_check(plan, &refused) != TEPAL_OK) {
        snprintf(r->why, PLAN_JSON_WHY, "the plan cannot be: %s", refused);
    }
}

const char *plan_json_read(const char *text, size_t len, struct tepal_proposal *plan,
                           char why[PLAN_JSON_WHY])
{
    json_error_t error;
    json_t *all = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
    struct reader r = {json_array_get(json_object_get(all, "plans"), 0), why};
    *plan = (struct tepal_proposal){.params = TEPAL_PARAMS_INIT, .blocked_by = ""};
    why[0] = '\0';
    read_plan(&r, all, plan);
    json_decref(all);
    return why[0] == '\0' ? NULL : why;
}
