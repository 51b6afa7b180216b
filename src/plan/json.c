/*
 * json.c: plans as JSON text, in the form of `tepal plan --json` (docs/json.md): what is printed
 * here can be given to `tepal build --plan`. That command's options are not known to the library:
 * "command" is null.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "plan/plan.h"

/* ---- text ------------------------------------------------------------------------------------ */

/* What has no room is counted all the same. */
struct text {
    char *to;
    size_t room;
    size_t length;
    bool first; /* in this object or list: no comma yet */
};

static void put_char(struct text *t, char c)
{
    if (t->length < t->room) {
        t->to[t->length] = c;
    }
    t->length++;
}

static void put(struct text *t, const char *text)
{
    while (*text != '\0') {
        put_char(t, *text++);
    }
}

static void put_string(struct text *t, const char *string)
{
    put_char(t, '"');
    for (; *string != '\0'; string++) {
        unsigned char c = (unsigned char)*string;
        if (c < 0x20) {
            char escape[8];
            (void)snprintf(escape, sizeof escape, "\\u%04x", c);
            put(t, escape);
            continue;
        }
        if (c == '"' || c == '\\') {
            put_char(t, '\\');
        }
        put_char(t, *string);
    }
    put_char(t, '"');
}

/* The shortest digits that are this number again. A locale's decimal point becomes a point. */
static void put_real(struct text *t, double value)
{
    char digits[40];
    int precision = 15;
    do {
        (void)snprintf(digits, sizeof digits, "%.*g", precision, value);
    } while (++precision <= 17 && strtod(digits, NULL) != value);
    bool pointed = false;
    for (const char *c = digits; *c != '\0'; c++) {
        if ((*c >= '0' && *c <= '9') || *c == '-' || *c == '+' || *c == 'e') {
            put_char(t, *c);
        } else if (!pointed) {
            put_char(t, '.');
            pointed = true;
        }
    }
}

/* The number of bytes, and the 0 that ends them, if there is room for any. */
static size_t end(const struct text *t)
{
    if (t->room > 0) {
        t->to[t->length < t->room ? t->length : t->room - 1] = '\0';
    }
    return t->length;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static void next(struct text *t)
{
    if (!t->first) {
        put(t, ", ");
    }
    t->first = false;
}

static void name(struct text *t, const char *what)
{
    next(t);
    put_string(t, what);
    put(t, ": ");
}

static void open(struct text *t, char bracket)
{
    put_char(t, bracket);
    t->first = true;
}

static void shut(struct text *t, char bracket)
{
    put_char(t, bracket);
    t->first = false;
}

static void whole_if(struct text *t, const char *what, bool known, uint64_t value)
{
    char digits[24];
    name(t, what);
    (void)snprintf(digits, sizeof digits, "%" PRIu64, value);
    put(t, known ? digits : "null");
}

static void whole(struct text *t, const char *what, uint64_t value)
{
    whole_if(t, what, true, value);
}

static void real(struct text *t, const char *what, double value)
{
    name(t, what);
    if (isfinite(value)) {
        put_real(t, value);
    } else {
        put(t, "null");
    }
}

static void flag(struct text *t, const char *what, bool value)
{
    name(t, what);
    put(t, value ? "true" : "false");
}

/* NULL: null. */
static void string(struct text *t, const char *what, const char *value)
{
    name(t, what);
    if (value != NULL) {
        put_string(t, value);
    } else {
        put(t, "null");
    }
}

/* ---- plans ----------------------------------------------------------------------------------- */

/* The kind's own parameters. */
static void put_own(struct text *t, const struct tepal_proposal *plan)
{
    const struct tepal_params *p = &plan->params;
    double messages = plan->messages_per_cycle;
    bool by_sigma = p->recycling.rule == TEPAL_RECYCLING_SIGMA;
    switch (plan->kind) {
    case TEPAL_KIND_GENERALIZED:
        whole(t, "reset_hashes", p->generalized.reset_hashes);
        whole(t, "set_hashes", params_set_hashes(p));
        whole(t, "tolerance", p->generalized.tolerance);
        break;
    case TEPAL_KIND_COUNTING:
        whole(t, "cells", p->cells);
        whole(t, "choices", p->counting.choices);
        whole_if(t, "line_cells", tepal_layout_in_lines(p->layout), params_line_cells(p));
        whole(t, "counter_bits", params_counter_bits(p));
        real(t, "max_fn", plan->max_fn > 0 ? plan->max_fn : NAN);
        break;
    case TEPAL_KIND_FINGERPRINT:
        whole(t, "fingerprint_bits", p->fingerprint.bits);
        break;
    case TEPAL_KIND_YESNO:
        whole(t, "yes_bits", params_yes_bits(p));
        whole(t, "no_bits", p->yesno.no_bits);
        whole(t, "no_filters", p->yesno.no_filters);
        whole(t, "no_hashes", p->yesno.no_hashes);
        flag(t, "own_seeds", p->yesno.own_seeds != 0);
        break;
    case TEPAL_KIND_RECYCLING:
        whole(t, "phases", p->recycling.phases);
        whole(t, "phase_bits", p->cells);
        string(t, "rule", by_sigma ? "sigma" : "average");
        whole_if(t, "sigma", by_sigma, p->recycling.limit);
        whole_if(t, "messages_per_cycle", messages >= 0 && messages < 0x1p63,
                 messages >= 0 && messages < 0x1p63 ? (uint64_t)messages : 0);
        real(t, "remembers", plan->remembers);
        break;
    case TEPAL_KIND_CASCADE:
        whole(t, "first_level_bits", p->cells);
        whole_if(t, "max_bits", plan->max_bits > 0, plan->max_bits);
        break;
    case TEPAL_KIND_RETOUCHED:
        real(t, "max_fn", plan->max_fn);
        break;
    case TEPAL_KIND_GROWING:
        whole(t, "first_bits", p->cells);
        whole(t, "tag_bits", p->growing.tag_bits);
        whole(t, "extension_bits", p->growing.extension_bits);
        break;
    case TEPAL_KIND_CHAIN:
        whole(t, "first_bits", p->cells);
        whole(t, "first_keys", p->chain.first_keys);
        real(t, "fp_any_size", ldexp((double)p->chain.rate, -64));
        real(t, "growth", (double)p->chain.growth / TEPAL_CHAIN_UNIT);
        string(t, "series", tepal_chain_series_name((enum tepal_chain_series)p->chain.series));
        whole(t, "parts", p->chain.planned);
        break;
    case TEPAL_KIND_BLOOM:
        real(t, "max_fn", plan->max_fn > 0 ? plan->max_fn : NAN);
        break;
    }
}

static void put_plan(struct text *t, const struct tepal_proposal *plan)
{
    const struct tepal_params *p = &plan->params;
    const struct tepal_kind *kind = tepal_kind_by_id((uint32_t)plan->kind);
    bool is = p->cells > 0;
    open(t, '{');
    string(t, "kind", kind == NULL ? "" : kind->name);
    string(t, "layout", plan->all_layouts ? NULL : tepal_layout_name(p->layout));
    flag(t, "feasible", plan->feasible);
    real(t, "likely", plan->likely);
    string(t, "reason", plan->reason);
    string(t, "blocked_by", plan->feasible ? NULL : plan->blocked_by);
    whole_if(t, "bits", is, plan->bits);
    real(t, "bits_per_key", plan->bits_per_key);
    whole_if(t, "hashes", is, p->hashes);
    string(t, "positions", is ? tepal_positions_name(p->positions) : NULL);
    real(t, "fp", plan->fp);
    real(t, "fp_known", plan->fp_known);
    real(t, "fn", plan->fn);
    real(t, "probes", plan->probes);
    real(t, "cost", plan->cost);
    string(t, "command", NULL);
    if (is) {
        put_own(t, plan);
    }
    shut(t, '}');
}

/* The list of plans, and what goes before it: is any of them by weight, is the first one feasible?
 */
static void put_plans(struct text *t, const struct tepal_proposal *plan, size_t count)
{
    bool weighted = false;
    for (size_t i = 0; i < count; i++) {
        weighted |= plan[i].weighted;
    }
    flag(t, "weighted", weighted);
    flag(t, "feasible", count > 0 && plan[0].feasible);
    name(t, "plans");
    open(t, '[');
    for (size_t i = 0; i < count; i++) {
        next(t);
        put_plan(t, &plan[i]);
    }
    shut(t, ']');
}

size_t tepal_plan_json(const struct tepal_proposal *plan, char *text, size_t room)
{
    struct text t = {text, room, 0, true};
    open(&t, '{');
    whole(&t, "keys", plan->params.capacity);
    put_plans(&t, plan, 1);
    shut(&t, '}');
    return end(&t);
}

size_t tepal_plans_json(const struct tepal_plans *plans, char *text, size_t room)
{
    struct text t = {text, room, 0, true};
    open(&t, '{');
    whole(&t, "keys", plans->keys);
    real(&t, "fp", plans->fp);
    real(&t, "fp_known", plans->fp_known);
    flag(&t, "closed_world", plans->closed_world);
    real(&t, "fn", plans->fn);
    put_plans(&t, plans->plan, plans->count);
    if (plans->blocked_by[0] != '\0') {
        string(&t, "blocked_by", plans->blocked_by);
        string(&t, "blocked_also", plans->blocked_also);
        name(&t, "nearest");
        put_plan(&t, &plans->nearest);
    }
    shut(&t, '}');
    return end(&t);
}
