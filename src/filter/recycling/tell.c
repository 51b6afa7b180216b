/*
 * tell.c: what a recycling filter says of itself: whether its state contradicts itself, its figures
 * and its report.
 */
#include <tepal/papers.h>
#include <tepal/recycling.h>

#include "base/report.h"
#include "cells/bits.h"
#include "filter/recycling/internal.h"

/* What is added each time, 10^6 at most, is lost in rounding before it gets there. */
#define MOST_EXPECTED 0x1p82

/* ---- invariants ------------------------------------------------------------------------------ */

/* What the state contradicts of itself and of the parameters, and the zeros after each phase. */
const char *tepal_recycling_op_validate(const struct tepal_filter *filter)
{
    const struct tepal_recycling *r = recycling_of_const(filter);
    const uint64_t *own = r->head.state.own;
    const struct tepal_params *p = &r->head.params;
    for (uint32_t phase = 0; phase < r->phases; phase++) {
        if (bits_beyond(recycling_words(r, phase), p->cells)) {
            return "there are cells set beyond the last one of a phase";
        }
    }
    if (own[STATE_ONES] > p->cells) {
        return "more bits are set in the active phase than it has";
    }
    if (r->rule == TEPAL_RECYCLING_SIGMA && own[STATE_ONES] > r->limit) {
        return "more bits are set in the active phase than sigma allows";
    }
    if (r->rule == TEPAL_RECYCLING_COUNT && own[STATE_MESSAGES] > r->limit) {
        return "there are more messages in the active phase than its limit allows";
    }
    if (own[STATE_MESSAGES] > own[STATE_ONES]) {
        return "more messages set bits in the active phase than there are bits set";
    }
    if (own[STATE_CYCLES] > RECYCLING_MOST || r->head.state.keys_added > RECYCLING_MOST) {
        return "the number of messages is impossible";
    }
    if (own[STATE_FRESH] > r->head.state.keys_added) {
        return "more new messages than messages";
    }
    double expected = recycling_expected(r);
    if (!(expected >= 0 && expected <= MOST_EXPECTED)) {
        return "the expected number of false positives is impossible";
    }
    if (own[STATE_CLOCKED] > 1 || own[STATE_BEGAN] > own[STATE_CLOCK] ||
        (own[STATE_CLOCKED] == 0 && own[STATE_CLOCK] != 0)) {
        return "the clock is inconsistent";
    }
    if (r->rule == TEPAL_RECYCLING_TIME && own[STATE_CLOCK] - own[STATE_BEGAN] >= r->limit) {
        return "the active phase is older than its limit";
    }
    return r->rule == TEPAL_RECYCLING_AVERAGE ? tepal_average_flaw(r) : NULL;
}

/* The same, of the cells. */
const char *tepal_recycling_op_validate_cells(const struct tepal_filter *filter)
{
    const struct tepal_recycling *r = recycling_of_const(filter);
    const uint64_t *own = r->head.state.own;
    for (uint32_t phase = 0; phase < r->phases; phase++) {
        uint64_t ones = tepal_bits_count(recycling_words(r, phase), r->phase_words);
        if (phase > own[STATE_CYCLES] && ones != 0) {
            return "a phase that was never active is not empty";
        }
        if (phase == r->active && ones != own[STATE_ONES]) {
            return "the number of bits set in the active phase differs from the one in the header";
        }
    }
    return NULL;
}

/* ---- what it says of itself ------------------------------------------------------------------ */

/* The rate of the next new message, if what one phase holds does not depend on the others. */
static double independent_now(const struct tepal_recycling *r)
{
    const struct tepal_params *p = &r->head.params;
    double miss = 1;
    for (uint32_t age = 0; age < r->phases; age++) {
        uint64_t ones = tepal_recycling_ones(r, age);
        miss *= 1 - tepal_recycling_rate(p->layout, p->positions, p->cells, ones, p->hashes);
    }
    return 1 - miss;
}

static struct tepal_recycling_figures figures_of(const struct tepal_recycling *r)
{
    const uint64_t *own = r->head.state.own;
    const struct tepal_params *p = &r->head.params;
    bool by_average = r->rule == TEPAL_RECYCLING_AVERAGE;
    double expected = recycling_expected(r);
    double all = expected + (double)own[STATE_FRESH];
    return (struct tepal_recycling_figures){
        .arrivals = r->head.state.keys_added,
        .fresh = own[STATE_FRESH],
        .cycles = own[STATE_CYCLES],
        .messages = own[STATE_MESSAGES],
        .ones = own[STATE_ONES],
        .clock = own[STATE_CLOCK],
        .fill = (double)own[STATE_ONES] / (double)p->cells,
        .fp_now = by_average ? tepal_average_now(r) : independent_now(r),
        .fp_so_far = by_average ? tepal_average_so_far(r)
                     : all > 0  ? expected / all
                                : 0,
    };
}

enum tepal_status tepal_recycling_get_figures(const struct tepal_filter *filter,
                                              struct tepal_recycling_figures *figures)
{
    if (!is_recycling(filter)) {
        return TEPAL_UNSUPPORTED;
    }
    *figures = figures_of(recycling_of_const(filter));
    return TEPAL_OK;
}

uint64_t tepal_recycling_op_ones(const struct tepal_filter *filter)
{
    return filter->state.own[STATE_ONES];
}

double tepal_recycling_op_fp_now(const struct tepal_filter *filter)
{
    return figures_of(recycling_of_const(filter)).fp_now;
}

static const char *const rule_names[] = {"sigma", "count", "time", "average"};

/* What comes of it in the long run. */
static void tell_average(const struct tepal_recycling *r, struct tepal_report *report)
{
    const struct tepal_params *p = &r->head.params;
    const char *by_sigma = "only for filters that recycle by sigma or by count";
    struct tepal_recycling_setting setting = {p->layout, p->positions, p->cells,  p->hashes,
                                              r->limit,  r->phases,    r->retain, r->keep_trigger};
    struct tepal_recycling_rates rates;
    enum tepal_status status = TEPAL_UNSUPPORTED;
    if (r->rule == TEPAL_RECYCLING_SIGMA) {
        status = tepal_recycling_average(&setting, TEPAL_RECYCLING_AUTO, &rates);
    } else if (r->rule == TEPAL_RECYCLING_COUNT && !r->only_misses) {
        status = tepal_recycling_for_count(&setting, r->limit, 0, &rates);
    }
    bool known = status == TEPAL_OK;
    if (known) {
        tepal_report_real(report, "fp_average", "long-term false-positive rate (model)",
                          rates.fp_average);
        tepal_report_real(report, "messages_per_cycle", "new messages per cycle (model)",
                          rates.messages_per_cycle);
        return;
    }
    if (r->rule == TEPAL_RECYCLING_AVERAGE) {
        tepal_report_real(report, "fp_average", "long-term false-positive rate that the rule keeps",
                          (double)r->limit * 0x1p-64);
    } else {
        tepal_report_absent(report, "fp_average", by_sigma);
    }
    tepal_report_absent(report, "messages_per_cycle", by_sigma);
}

void tepal_recycling_op_info(const struct tepal_filter *filter, struct tepal_report *report)
{
    const struct tepal_recycling *r = recycling_of_const(filter);
    const struct tepal_params *p = &filter->params;
    struct tepal_recycling_figures now = figures_of(r);
    double frozen[TEPAL_MAX_PHASES];
    tepal_report_absent(report, "keys_estimated", "the messages of past cycles are forgotten");
    tepal_report_integer(report, "ones", "bits set in the active phase", now.ones);
    tepal_report_real(report, "fill", "share of bits set in the active phase", now.fill);
    tepal_report_real(report, "fp_now", "false-positive rate of the next new message", now.fp_now);
    tepal_report_absent(report, "fp_at_capacity", "see fp_average: it recycles");
    tepal_report_absent(report, "fn_now", "depends on how messages repeat");
    tepal_report_integer(report, "phases", "number of phases; bits is the size of each", r->phases);
    tepal_report_text(report, "rule", "the rule by which the active phase is full",
                      rule_names[r->rule]);
    tepal_report_integer(
        report, "limit",
        "the limit of that rule: bits set, messages, ticks, or a rate in units of 2^-64", r->limit);
    tepal_report_flag(report, "retain", "is the trigger the first message of the new cycle?",
                      r->retain);
    tepal_report_flag(report, "keep_trigger", "does the trigger stay in the frozen phase?",
                      r->keep_trigger);
    tepal_report_flag(report, "only_misses", "are messages inserted only if no phase has them?",
                      r->only_misses);
    tepal_report_integer(report, "fresh", "messages answered \"not seen\"", now.fresh);
    tepal_report_integer(report, "cycles", "number of cycles ended", now.cycles);
    tepal_report_integer(report, "messages", "messages that set bits in the active phase",
                         now.messages);
    for (uint32_t age = 1; age < r->phases; age++) {
        frozen[age - 1] = (double)tepal_recycling_phase_ones(r, age) / (double)p->cells;
    }
    tepal_report_list(report, "frozen_fill", "share of bits set in the frozen phases, newest first",
                      frozen, r->phases - 1);
    tepal_report_real(report, "fp_so_far", "false-positive rate so far, estimated from the fills",
                      now.fp_so_far);
    tell_average(r, report);
    if (filter->state.own[STATE_CLOCKED] != 0) {
        tepal_report_integer(report, "clock", "the clock, as last set", now.clock);
    } else {
        tepal_report_absent(report, "clock", "the clock was never set");
    }
}
