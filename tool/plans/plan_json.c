/*
 * plan_json.c: a plan with all that it is built from, and the best one back from JSON. A field
 * that is missing was not known to the tepal that saved the plan.
 */
#include "plans/plan_json.h"

#include <math.h>
#include <stdio.h>

#include <tepal/counting.h>
#include <tepal/generalized.h>
#include <tepal/recycling.h>
#include <tepal/yesno.h>

#include "plans/plan_command.h"
#include "streams/stream.h"

static uint64_t line_cells(const struct tepal_params *p)
{
    return p->counting.lines == TEPAL_LINES_LONG ? TEPAL_LINE_BITS : TEPAL_COUNTING_LINE_CELLS;
}

static uint64_t counter_bits(const struct tepal_params *p)
{
    return p->counting.form == TEPAL_FORM_WIDE_COUNTERS ? 8 : 4;
}

/* The kind's own parameters. */
static void tell_own(struct report *r, const struct tepal_proposal *plan)
{
    const struct tepal_params *p = &plan->params;
    bool by_sigma = p->recycling.rule == TEPAL_RECYCLING_SIGMA;
    switch (plan->kind) {
    case TEPAL_KIND_GENERALIZED:
        report_whole(r, "reset_hashes", p->generalized.reset_hashes, JSON_ONLY);
        report_whole(r, "set_hashes", p->hashes - p->generalized.reset_hashes, JSON_ONLY);
        report_whole(r, "tolerance", p->generalized.tolerance, JSON_ONLY);
        break;
    case TEPAL_KIND_COUNTING:
        report_whole(r, "cells", p->cells, JSON_ONLY);
        report_whole(r, "choices", p->counting.choices, JSON_ONLY);
        report_whole_if(r, "line_cells", tepal_layout_in_lines(p->layout), line_cells(p),
                        JSON_ONLY);
        report_whole(r, "counter_bits", counter_bits(p), JSON_ONLY);
        report_real(r, "max_fn", plan->max_fn > 0 ? plan->max_fn : NAN, JSON_ONLY);
        break;
    case TEPAL_KIND_FINGERPRINT:
        report_whole(r, "fingerprint_bits", p->fingerprint.bits, JSON_ONLY);
        break;
    case TEPAL_KIND_YESNO:
        report_whole(r, "yes_bits", p->cells - p->yesno.no_filters * p->yesno.no_bits, JSON_ONLY);
        report_whole(r, "no_bits", p->yesno.no_bits, JSON_ONLY);
        report_whole(r, "no_filters", p->yesno.no_filters, JSON_ONLY);
        report_whole(r, "no_hashes", p->yesno.no_hashes, JSON_ONLY);
        report_flag(r, "own_seeds", p->yesno.own_seeds != 0, JSON_ONLY);
        break;
    case TEPAL_KIND_RECYCLING:
        report_whole(r, "phases", p->recycling.phases, JSON_ONLY);
        report_whole(r, "phase_bits", p->cells, JSON_ONLY);
        report_text(r, "rule", by_sigma ? "sigma" : "average", JSON_ONLY);
        report_whole_if(r, "sigma", by_sigma, p->recycling.limit, JSON_ONLY);
        report_whole(r, "messages_per_cycle", (uint64_t)plan->messages_per_cycle, JSON_ONLY);
        report_real(r, "remembers", plan->remembers, JSON_ONLY);
        break;
    case TEPAL_KIND_CASCADE:
        report_whole(r, "first_level_bits", p->cells, JSON_ONLY);
        report_whole_if(r, "max_bits", plan->max_bits > 0, plan->max_bits, JSON_ONLY);
        break;
    case TEPAL_KIND_RETOUCHED:
        report_real(r, "max_fn", plan->max_fn, JSON_ONLY);
        break;
    case TEPAL_KIND_GROWING:
        report_whole(r, "first_bits", p->cells, JSON_ONLY);
        report_whole(r, "tag_bits", p->growing.tag_bits, JSON_ONLY);
        report_whole(r, "extension_bits", p->growing.extension_bits, JSON_ONLY);
        break;
    case TEPAL_KIND_CHAIN:
        report_whole(r, "first_bits", p->cells, JSON_ONLY);
        report_whole(r, "first_keys", p->chain.first_keys, JSON_ONLY);
        report_real(r, "fp_any_size", ldexp((double)p->chain.rate, -64), JSON_ONLY);
        report_real(r, "growth", (double)p->chain.growth / TEPAL_CHAIN_UNIT, JSON_ONLY);
        report_text(r, "series", tepal_chain_series_name((enum tepal_chain_series)p->chain.series),
                    JSON_ONLY);
        report_whole(r, "parts", p->chain.planned, JSON_ONLY);
        break;
    case TEPAL_KIND_BLOOM:
        report_real(r, "max_fn", plan->max_fn > 0 ? plan->max_fn : NAN, JSON_ONLY);
        break;
    }
}

void plan_figures(struct report *r, const struct tepal_proposal *plan, bool known)
{
    const struct tepal_params *p = &plan->params;
    const struct tepal_kind *kind = tepal_kind_by_id(plan->kind);
    bool is = p->cells > 0;
    char room[PLAN_COMMAND];
    const char *command = is ? plan_command(plan, NULL, room, sizeof room) : NULL;
    report_text(r, "kind", kind == NULL ? "" : kind->name, column("kind", -11, NULL));
    report_text(r, "layout", plan->all_layouts ? NULL : tepal_layout_name(p->layout),
                column("layout", -11, NULL));
    report_flag(r, "feasible", plan->feasible, JSON_ONLY);
    report_real(r, "likely", plan->likely, JSON_ONLY);
    report_text(r, "reason", plan->reason, JSON_ONLY);
    report_text(r, "blocked_by", plan->feasible ? NULL : plan->blocked_by, JSON_ONLY);
    report_whole(r, NULL, (plan->bits + 7) / 8, text_column("bytes", 14, NULL));
    report_whole_if(r, "bits", is, plan->bits, JSON_ONLY);
    report_real(r, "bits_per_key", plan->bits_per_key,
                column_or(column("bits/key", 8, "%.4g"), ""));
    report_whole_if(r, "hashes", is, p->hashes, JSON_ONLY);
    report_text(r, "positions", is ? tepal_positions_name(p->positions) : NULL, JSON_ONLY);
    report_real(r, "fp", plan->fp, column("fp", 9, "%.3g"));
    report_real(r, "fp_known", plan->fp_known, known ? column("fp known", 9, "%.3g") : JSON_ONLY);
    report_real(r, "fn", plan->fn, column_or(column("fn", 9, "%.3g"), "?"));
    report_real(r, "probes", plan->probes, column("probes", 6, "%.3g"));
    report_real(r, "cost", plan->cost, column("cost", 9, "%.3g"));
    report_text(r, "command", command, JSON_ONLY);
    if (is) {
        tell_own(r, plan);
    }
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
        wrong(r, name, "is missing: write the plan again with tepal plan --json");
    }
    return value;
}

static uint64_t whole_of(struct reader *r, const json_t *object, const char *name, uint64_t most)
{
    const json_t *value = field(r, object, name);
    json_int_t x = json_integer_value(value);
    if (value != NULL && (!json_is_integer(value) || x < 0 || (uint64_t)x > most)) {
        wrong(r, name, "is not a whole number in the valid range");
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
        wrong(r, name, "is not a rate above 0 and below 1");
        return 0;
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
        wrong(r, "kind", "is unknown");
        return;
    }
    plan->kind = kind->id;
    plan->params.kind = kind->id;
    if (!tepal_layout_parse(name_of(r, "layout"), &plan->params.layout)) {
        wrong(r, "layout", "is unknown");
    }
    if (!tepal_positions_parse(name_of(r, "positions"), &plan->params.positions)) {
        wrong(r, "positions", "is unknown");
    }
    plan->params.hashes = small(r, "hashes");
}

static void read_yesno(struct reader *r, struct tepal_params *p)
{
    uint64_t yes_bits = whole(r, "yes_bits");
    uint64_t no_bits = whole(r, "no_bits");
    uint64_t no_filters = whole(r, "no_filters");
    uint32_t no_hashes = small(r, "no_hashes");
    if (no_filters > 0 && no_bits > (UINT64_MAX - yes_bits) / no_filters) {
        wrong(r, "yes_bits", "and the bits of the no-filters are too large");
    }
    p->cells = yes_bits + no_filters * no_bits;
    p->yesno.no_bits = no_filters == 0 ? 0 : no_bits;
    p->yesno.no_filters = no_filters;
    p->yesno.no_hashes = no_filters == 0 ? 0 : no_hashes;
    p->yesno.own_seeds = flag(r, r->plan, "own_seeds");
}

static void read_recycling(struct reader *r, struct tepal_params *p)
{
    p->recycling.phases = small(r, "phases");
    if (json_is_null(field(r, r->plan, "sigma"))) { /* by average, and the rate is the limit */
        p->recycling.rule = TEPAL_RECYCLING_AVERAGE;
        p->recycling.limit = stream_limit(rate(r, "fp"));
    } else {
        p->recycling.limit = whole(r, "sigma");
    }
    p->recycling.flags = TEPAL_RECYCLING_RETAIN;
    p->cells = whole(r, "phase_bits");
    p->capacity = 0;
}

static void read_cascade(struct reader *r, struct tepal_proposal *plan)
{
    plan->params.cells = whole(r, "first_level_bits");
    if (!json_is_null(field(r, r->plan, "max_bits"))) {
        plan->max_bits = whole(r, "max_bits");
    }
}

/* Plans of 0.1.0 have no such field, and short lines. */
static void read_lines(struct reader *r, struct tepal_params *p)
{
    const json_t *value = json_object_get(r->plan, "line_cells");
    json_int_t cells = json_integer_value(value);
    p->counting.lines = cells == TEPAL_LINE_BITS ? TEPAL_LINES_LONG : TEPAL_LINES_SHORT;
    if (value != NULL && !json_is_null(value) && cells != (json_int_t)line_cells(p)) {
        wrong(r, "line_cells", "is neither 128 nor 512");
    }
}

/* Plans of 0.1.0 have no such field, and counters of 4 bits. */
static void read_counters(struct reader *r, struct tepal_params *p)
{
    const json_t *value = json_object_get(r->plan, "counter_bits");
    p->counting.form =
        json_integer_value(value) == 8 ? TEPAL_FORM_WIDE_COUNTERS : TEPAL_FORM_COUNTERS;
    if (value != NULL && json_integer_value(value) != (json_int_t)counter_bits(p)) {
        wrong(r, "counter_bits", "is neither 4 nor 8");
    }
}

static void read_chain(struct reader *r, struct tepal_params *p)
{
    enum tepal_chain_series series = TEPAL_CHAIN_EVEN;
    double growth = json_number_value(field(r, r->plan, "growth"));
    double fp = rate(r, "fp_any_size");
    if (!tepal_chain_series_parse(name_of(r, "series"), &series)) {
        wrong(r, "series", "is unknown");
    }
    p->cells = whole(r, "first_bits");
    p->chain.first_keys = whole(r, "first_keys");
    p->chain.rate = fp > 0 && fp < 1 ? (uint64_t)ldexp(fp, 64) : 0;
    p->chain.growth =
        growth >= 0 && growth <= 0x1p16 ? (uint64_t)(growth * TEPAL_CHAIN_UNIT) : UINT64_MAX;
    p->chain.series = (uint64_t)series;
    p->chain.planned = whole(r, "parts");
}

/* Of a filter that will learn; plans of 0.1.0 have no such field. */
static double read_budget(struct reader *r)
{
    const json_t *value = json_object_get(r->plan, "max_fn");
    return value == NULL || json_is_null(value) ? 0 : rate(r, "max_fn");
}

/* The other way round of tell_own, and the cells, which most kinds have as "bits". */
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
    case TEPAL_KIND_GROWING:
        p->cells = whole(r, "first_bits");
        p->growing.tag_bits = whole(r, "tag_bits");
        p->growing.extension_bits = whole(r, "extension_bits");
        return;
    case TEPAL_KIND_CHAIN:
        read_chain(r, p);
        return;
    case TEPAL_KIND_COUNTING:
        p->cells = whole(r, "cells");
        p->counting.choices = whole(r, "choices");
        p->counting.rule =
            (uint64_t)tepal_counting_default_rule(p->layout, p->counting.choices > 1 ? 2 : 1);
        read_lines(r, p);
        read_counters(r, p);
        plan->max_fn = read_budget(r);
        return;
    case TEPAL_KIND_GENERALIZED:
        p->generalized.reset_hashes = whole(r, "reset_hashes");
        p->generalized.tolerance = whole(r, "tolerance");
        if (small(r, "set_hashes") + p->generalized.reset_hashes != p->hashes) {
            wrong(r, "set_hashes", "and \"reset_hashes\" do not add up to \"hashes\"");
        }
        break;
    case TEPAL_KIND_FINGERPRINT:
        p->fingerprint.bits = whole(r, "fingerprint_bits");
        break;
    case TEPAL_KIND_RETOUCHED:
        plan->max_fn = rate(r, "max_fn");
        break;
    case TEPAL_KIND_BLOOM:
        plan->max_fn = read_budget(r);
        break;
    }
    p->cells = whole(r, "bits");
}

static double number_of(const json_t *plan, const char *name)
{
    const json_t *value = json_object_get(plan, name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static bool is_old(const json_t *plan)
{
    return json_object_get(plan, "fp_unknown") != NULL;
}

void plan_json_rates(const json_t *plan, double *fp, double *fp_known)
{
    *fp = number_of(plan, is_old(plan) ? "fp_unknown" : "fp");
    *fp_known = number_of(plan, is_old(plan) ? "fp" : "fp_known");
}

bool plan_json_old(const char *text, size_t len)
{
    json_error_t error;
    json_t *all = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
    bool old = is_old(json_array_get(json_object_get(all, "plans"), 0));
    json_decref(all);
    return old;
}

static void read_plan(struct reader *r, const json_t *all, struct tepal_proposal *plan)
{
    struct tepal_error refused = {.why = ""};
    if (!json_is_object(r->plan)) {
        snprintf(r->why, PLAN_JSON_WHY, "not a plan, as written by tepal plan --json");
        return;
    }
    plan->feasible = json_is_true(json_object_get(r->plan, "feasible"));
    plan->likely = plan->feasible ? 0 : json_number_value(json_object_get(r->plan, "likely"));
    if (!plan->feasible && !(plan->likely > 0 && plan->likely < 1)) {
        snprintf(r->why, PLAN_JSON_WHY, "it contains no feasible plan");
        return;
    }
    plan_json_rates(r->plan, &plan->fp, &plan->fp_known);
    plan->params.capacity = whole_of(r, all, "keys", INT64_MAX);
    read_places(r, plan);
    if (r->why[0] == '\0') {
        read_own(r, plan);
    }
    if (!tepal_plan_streams(plan)) {
        plan->weighted = flag(r, all, "weighted");
    }
    if (r->why[0] == '\0' && tepal_plan_check(plan, &refused) != TEPAL_OK) {
        snprintf(r->why, PLAN_JSON_WHY, "impossible plan: %s", refused.why);
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
