/*
 * plan_command.c: a plan's parameters as the options of `tepal build`, and of `tepal retouch` after
 * it. Nobody reads this back: filters are built from the parameters themselves.
 */
#include "plans/plan_command.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <tepal/generalized.h>
#include <tepal/papers.h>
#include <tepal/recycling.h>
#include <tepal/yesno.h>

struct line {
    const struct tepal_proposal *plan;
    const struct tepal_params *p;
    const char *negatives;
    char *room;
    size_t size;
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void say(struct line *l, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int len = vsnprintf(l->room + l->used, l->size - l->used, format, list);
    va_end(list);
    l->used += len < 0 ? 0 : (size_t)len < l->size - l->used ? (size_t)len : l->size - l->used - 1;
}

static void say_layout(struct line *l)
{
    say(l, " --layout %s", tepal_layout_name(l->p->layout));
}

static void say_positions(struct line *l)
{
    if (l->p->positions != TEPAL_POSITIONS_COLLIDING) {
        say(l, " --positions %s", tepal_positions_name(l->p->positions));
    }
}

static void say_avoid(struct line *l)
{
    say(l, " --avoid %s%s", l->negatives == NULL ? "NEGATIVES" : l->negatives,
        l->plan->weighted ? " --weights" : "");
}

/* Cells, by the name of their option, and hashes. */
static void say_size(struct line *l, const char *cells)
{
    say(l, " --%s %" PRIu64 " --hashes %" PRIu32, cells, l->p->cells, l->p->hashes);
}

static void say_capacity(struct line *l)
{
    say(l, " --capacity %" PRIu64, l->p->capacity);
}

static void say_retouched(struct line *l)
{
    say_layout(l);
    say_size(l, "bits");
    say_capacity(l);
    say(l, " && tepal retouch FILE -o FILE --force --members KEYS");
    say_avoid(l);
    say(l, " --max-fn %.9g", l->plan->max_fn);
}

static void say_generalized(struct line *l)
{
    say_layout(l);
    say(l,
        " --bits %" PRIu64 " --reset-hashes %" PRIu64 " --set-hashes %" PRIu64
        " --tolerance %" PRIu64,
        l->p->cells, l->p->generalized.reset_hashes, l->p->hashes - l->p->generalized.reset_hashes,
        l->p->generalized.tolerance);
    say_capacity(l);
    say_positions(l);
}

static void say_fingerprint(struct line *l)
{
    say(l, " --bits %" PRIu64 " --fingerprint-bits %" PRIu64, l->p->cells, l->p->fingerprint.bits);
    say_capacity(l);
}

static void say_yesno(struct line *l)
{
    const struct tepal_yesno_params *no = &l->p->yesno;
    say_avoid(l);
    say_layout(l);
    say_positions(l);
    say(l, " --yes-bits %" PRIu64 " --hashes %" PRIu32, l->p->cells - no->no_filters * no->no_bits,
        l->p->hashes);
    say(l, " --no-bits %" PRIu64 " --no-filters %" PRIu64 " --no-hashes %" PRIu64 "%s", no->no_bits,
        no->no_filters, no->no_hashes, no->own_seeds != 0 ? " --own-seeds" : "");
    say(l, " --fp-known %.17g", l->plan->fp_known);
}

static void say_cascade(struct line *l)
{
    const struct tepal_params *p = l->p;
    say_avoid(l);
    say_layout(l);
    if (l->plan->max_bits > 0) {
        say(l, " --bits %" PRIu64, l->plan->max_bits);
    } else {
        say(l, " --fp %.17g",
            tepal_bloom_fp(p->layout, p->positions, p->cells, p->capacity, p->hashes));
    }
}

static void say_recycling(struct line *l)
{
    say_layout(l);
    say(l, " --bits %" PRIu64 " --phases %" PRIu64 " --hashes %" PRIu32, l->p->cells,
        l->p->recycling.phases, l->p->hashes);
    if (l->p->recycling.rule == TEPAL_RECYCLING_SIGMA) {
        say(l, " --sigma %" PRIu64, l->p->recycling.limit);
    } else {
        char rate[32]; /* as it was typed, if that is exact */
        snprintf(rate, sizeof rate, "%.15g", l->plan->fp);
        if (strtod(rate, NULL) != l->plan->fp) {
            snprintf(rate, sizeof rate, "%.17g", l->plan->fp);
        }
        say(l, " --rule average --fp %s", rate);
    }
}

/* From where it begins to where it is planned to end. */
static void say_range(struct line *l, uint64_t first, double fp)
{
    say(l, " --first %" PRIu64, first);
    say_capacity(l);
    say(l, " --fp %.17g", fp);
}

static void say_growing(struct line *l)
{
    uint64_t slot = l->p->growing.tag_bits + l->p->growing.extension_bits + 1;
    say_range(l, l->p->cells / (4 * slot) * 7 / 2, l->plan->fp);
}

static void say_chain(struct line *l)
{
    say_layout(l);
    say_positions(l);
    say_range(l, l->p->chain.first_keys, ldexp((double)l->p->chain.rate, -64));
}

/* A Bloom or a counting filter. */
static void say_plain(struct line *l)
{
    say_layout(l);
    say_size(l, l->plan->kind == TEPAL_KIND_COUNTING ? "cells" : "bits");
    say_capacity(l);
    say_positions(l);
    bool in_lines = tepal_layout_in_lines(l->p->layout);
    if (l->plan->kind == TEPAL_KIND_COUNTING && in_lines &&
        l->p->counting.lines == TEPAL_LINES_SHORT) {
        say(l, " --line-cells %d", TEPAL_COUNTING_LINE_CELLS);
    }
    if (l->plan->kind == TEPAL_KIND_COUNTING && l->p->counting.choices > 1) {
        say(l, " --choices %" PRIu64, l->p->counting.choices);
    }
    if (l->plan->kind == TEPAL_KIND_COUNTING && l->p->counting.form == TEPAL_FORM_WIDE_COUNTERS) {
        say(l, " --counter-bits 8");
    }
    if (l->plan->max_fn > 0) {
        say(l, " --max-fn %.9g", l->plan->max_fn);
    }
}

const char *plan_command(const struct tepal_proposal *plan, const char *negatives, char *room,
                         size_t size)
{
    static void (*const say_options[])(struct line *) = {
        [TEPAL_KIND_BLOOM] = say_plain,
        [TEPAL_KIND_RETOUCHED] = say_retouched,
        [TEPAL_KIND_GENERALIZED] = say_generalized,
        [TEPAL_KIND_COUNTING] = say_plain,
        [TEPAL_KIND_FINGERPRINT] = say_fingerprint,
        [TEPAL_KIND_YESNO] = say_yesno,
        [TEPAL_KIND_CASCADE] = say_cascade,
        [TEPAL_KIND_RECYCLING] = say_recycling,
        [TEPAL_KIND_GROWING] = say_growing,
        [TEPAL_KIND_CHAIN] = say_chain,
    };
    struct line l = {plan, &plan->params, negatives, room, size, 0};
    room[0] = '\0';
    if (plan->params.cells == 0) {
        return room;
    }
    say(&l, "tepal build KEYS -o FILE");
    if (plan->kind != TEPAL_KIND_RETOUCHED) { /* which begins as a Bloom filter, unsaid */
        say(&l, " --kind %s", tepal_kind_by_id(plan->kind)->name);
    }
    say_options[plan->kind](&l);
    return room;
}
