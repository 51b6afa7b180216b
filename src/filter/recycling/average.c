/*
 * average.c: the rule `average` of the recycling filter: it recycles so that new messages are found
 * at a chosen rate f, averaged over time.
 *
 * The filter knows its own chance of finding a new message now. With a_i the cells set in the phase
 * of age i (0 is active), c_i those set in both the phases i and i + 1, and rho the rate of a phase
 * with so many cells set ((a/m)^k on the flat layout):
 *
 *     told = rho(a_0) + ... + rho(a_(P-1)) - rho(c_0) - ... - rho(c_(P-2))
 *
 * A message has the same positions in all phases. Let A_i be "phase i has them all set"; then
 * P(A_i) = rho(a_i), and P(A_i and A_(i+1)) = rho(c_i), since these are the cells that both have.
 * One phase: told = P(A_0). Two: P(A_0) + P(A_1) - P(A_0 and A_1), exactly the chance that one of
 * them happens. More: an upper bound (Hunter 1976, Worsley 1982, for a chain). For take an outcome
 * in which exactly the events of a set S happen, and draw a line between i and i + 1 if both are
 * in S. It counts |S| times in the first sum and once for each line in the second. Each line joins
 * a member of S to the one before it, and the first member has none: there are at most |S| - 1. So
 * an outcome with |S| >= 1 counts at least once, the others do not count.
 *
 * For every arrival, found or not, whatever it is: told is added to one sum and rho(a_0) to another
 * one that begins anew with each cycle. Messages that are truly new come at any time, so that the
 * average of told over all arrivals is their rate. An arrival is the trigger if
 *
 *     mean + (P - 1) now >= f - err / (n + 1)         the last term at least -f/2, at most f/2
 *
 * where n is the number of arrivals of this cycle, this one included, mean the average of rho(a_0)
 * over them, now what rho(a_0) would become, and err the sum of told - f over all arrivals ever.
 * Were all cycles alike, the phase would contribute `mean` while it is active and `now` in each of
 * the P - 1 cycles in which it is frozen; and what cycles were too good or too bad, together with
 * what phases share, is made up for in the next one.
 *
 * Rates are integers in units of 2^-64, and the sums exact, of 128 bits: 2^62 arrivals fit. They
 * are behind the cells, where they are saved and loaded with them. No floating point decides
 * anything on the flat layout; on the others the table that info interpolates is rounded to 24
 * bits first, so that all machines agree.
 */
#include <tepal/papers.h>

#include "base/refuse.h"
#include "cells/bits.h"
#include "filter/recycling/average.h"

/* The words behind the cells. Sums: the low half first. */
enum {
    SUM_TOLD,              /* over all arrivals */
    SUM_CYCLE = 2,         /* rho(a_0) over those of this cycle */
    SUM_CYCLE_ARRIVALS = 4 /* how many these are */
};
_Static_assert(SUM_CYCLE_ARRIVALS + 1 == PARAMS_AVERAGE_WORDS, "the gate counts these words");

static uint64_t *sums_of(const struct tepal_recycling *r)
{
    return r->head.words + r->phases * r->phase_words;
}

static wide_int sum_get(const uint64_t *sum)
{
    return wide_join(sum[1], sum[0]);
}

static void sum_set(uint64_t *sum, wide_int value)
{
    sum[0] = wide_low(value);
    sum[1] = wide_high(value);
}

static void sum_raise(uint64_t *sum, uint64_t by)
{
    sum_set(sum, wide_add(sum_get(sum), wide_of(by)));
}

/* ---- rates ----------------------------------------------------------------------------------- */

static uint64_t share_of(uint64_t ones, uint64_t cells)
{
    return ones < cells ? wide_low(wide_over(wide_join(ones, 0), wide_of(cells))) : UINT64_MAX;
}

/* Rounded down, by a unit for each hash at most. */
static uint64_t flat_rate(const struct tepal_params *p, uint64_t ones)
{
    uint64_t share = share_of(ones, p->cells);
    uint64_t rate = share;
    for (uint32_t i = 1; i < p->hashes; i++) {
        if (p->positions == TEPAL_POSITIONS_DISTINCT) {
            share = ones > i ? share_of(ones - i, p->cells - i) : 0;
        }
        rate = wide_scale(share, rate);
    }
    return rate;
}

/* rho. A file may say anything of its ones before it is validated. */
static uint64_t rate_of(struct tepal_recycling *r, uint64_t ones)
{
    const struct tepal_params *p = &r->head.params;
    if (p->layout == TEPAL_LAYOUT_FLAT) {
        return flat_rate(p, ones);
    }
    double rate = (float)tepal_recycling_phase_rate(r, (double)(ones < p->cells ? ones : p->cells));
    return rate < 1 ? (uint64_t)(rate * 0x1p64) : UINT64_MAX;
}

/* rho of the active phase, of which most arrivals leave the number of ones as it was. */
static uint64_t active_rate(struct tepal_recycling *r, uint64_t ones)
{
    struct recycling_average *a = &r->average;
    if (ones != a->ones) {
        a->rate = rate_of(r, ones);
        a->ones = ones;
    }
    return a->rate;
}

static void tell(struct tepal_recycling *r)
{
    struct recycling_average *a = &r->average;
    wide_int told = wide_add(a->frozen, wide_of(active_rate(r, r->head.state.own[STATE_ONES])));
    if (r->phases > 1) {
        told = wide_sub(told, wide_of(rate_of(r, a->both[0])));
    }
    a->told = wide_clamp(told);
}

/* ---- phases ---------------------------------------------------------------------------------- */

/* Cells set in both the phase of this age and the next older one, in some of their words. */
static uint64_t count_both(const struct tepal_recycling *r, uint32_t age, size_t from, size_t words)
{
    const uint64_t *one = recycling_words(r, recycling_phase(r, age)) + from;
    const uint64_t *other = recycling_words(r, recycling_phase(r, age + 1)) + from;
    uint64_t both = 0;
    for (size_t i = 0; i < words; i++) {
        both += bits_count_word(one[i] & other[i]);
    }
    return both;
}

void tepal_average_open(struct tepal_recycling *r)
{
    struct recycling_average *a = &r->average;
    bool first = r->head.state.own[STATE_CYCLES] == 0; /* no other phase has anything */
    *a = (struct recycling_average){.arrivals = r->head.state.keys_added};
    for (uint32_t age = 0; age + 1 < r->phases; age++) {
        a->both[age] = first ? 0 : count_both(r, age, 0, r->phase_words);
    }
    r->odds = 0; /* it has a better account than that of the misses */
    r->mark = UINT64_MAX;
}

void tepal_average_weigh(struct tepal_recycling *r)
{
    wide_int *frozen = &r->average.frozen;
    *frozen = wide_of(0);
    for (uint32_t age = 1; age < r->phases; age++) {
        *frozen = wide_add(*frozen, wide_of(rate_of(r, r->frozen_ones[age])));
        if (age + 1 < r->phases) {
            *frozen = wide_sub(*frozen, wide_of(rate_of(r, r->average.both[age])));
        }
    }
    r->average.safe = 0;
    tell(r);
}

void tepal_average_turn(struct tepal_recycling *r)
{
    for (uint32_t age = r->phases - 1; age > 0; age--) {
        r->average.both[age] = r->average.both[age - 1];
    }
    r->average.both[0] = 0;
    sum_set(sums_of(r) + SUM_CYCLE, wide_of(0));
    sums_of(r)[SUM_CYCLE_ARRIVALS] = 0;
}

void tepal_average_clears(struct tepal_recycling *r, size_t from, size_t words)
{
    uint32_t age = r->phases - 2;
    r->average.both[age] -= count_both(r, age, from, words);
}

/* ---- messages -------------------------------------------------------------------------------- */

void tepal_average_arrives(struct tepal_recycling *r)
{
    uint64_t *sums = sums_of(r);
    if (r->average.arrivals < RECYCLING_MOST) {
        r->average.arrivals++;
        sum_raise(sums + SUM_TOLD, r->average.told);
    }
    if (sums[SUM_CYCLE_ARRIVALS] < RECYCLING_MOST) {
        sums[SUM_CYCLE_ARRIVALS]++;
        sum_raise(sums + SUM_CYCLE, active_rate(r, r->head.state.own[STATE_ONES]));
    }
}

/* What a cycle of so many arrivals may come to on average, if the phase's rate is then `now`. */
static wide_int room_for(const struct tepal_recycling *r, wide_int error, wide_int arrivals,
                         uint64_t now)
{
    const wide_int half = wide_of(r->limit / 2);
    const wide_int minus_half = wide_sub(wide_of(0), half);
    wide_int owed = wide_over_signed(error, wide_add(arrivals, wide_of(1)));
    owed = wide_less(half, owed) ? half : wide_less(owed, minus_half) ? minus_half : owed;
    return wide_sub(wide_sub(wide_of(r->limit), owed),
                    wide_times(wide_of(r->phases - 1), wide_of(now)));
}

static wide_int error_now(const struct tepal_recycling *r)
{
    return wide_sub(sum_get(sums_of(r) + SUM_TOLD),
                    wide_times(wide_of(r->average.arrivals), wide_of(r->limit)));
}

/*
 * Can none of the next `ahead` arrivals be the trigger, whatever they are? Each sets k cells at
 * most, so that rates stay at or below `most`, the sum of the cycle grows by that and the error by
 * what is told above f; and the room is never less than with the largest error and the fewest (if
 * the error is below 0: the most) arrivals. Both sides of the comparison grow steadily: it is
 * enough to look at the first and at the last arrival.
 */
static bool none_is_trigger(struct tepal_recycling *r, uint64_t ones, uint64_t ahead)
{
    const uint64_t *sums = sums_of(r);
    const struct tepal_params *p = &r->head.params;
    uint64_t filled = ones + ahead * p->hashes;
    uint64_t most = rate_of(r, filled < p->cells ? filled : p->cells);
    const wide_int none = wide_of(0);
    wide_int excess = wide_sub(wide_add(r->average.frozen, wide_of(most)), wide_of(r->limit));
    wide_int error = error_now(r);
    if (wide_less(none, excess)) {
        error = wide_add(error, wide_times(excess, wide_of(ahead)));
    }
    wide_int arrivals = wide_of(sums[SUM_CYCLE_ARRIVALS]);
    wide_int last = wide_add(arrivals, wide_of(ahead));
    if (r->average.arrivals + ahead > RECYCLING_MOST) {
        return false; /* counting ends: this does not hold then */
    }
    wide_int room = room_for(r, error, wide_less(error, none) ? last : arrivals, most);
    wide_int sum = sum_get(sums + SUM_CYCLE);
    return wide_less(none, room) &&
           wide_less(wide_add(sum, wide_of(most)),
                     wide_times(room, wide_add(arrivals, wide_of(1)))) &&
           wide_less(wide_add(sum, wide_times(wide_of(most), wide_of(ahead))),
                     wide_times(room, last));
}

/* How far to look ahead: at most so many arrivals, and not at all if these are few. */
#define AHEAD_MOST  ((uint64_t)1 << 20)
#define AHEAD_LEAST 8

/*
 * Arrivals that cannot be the trigger. Each look costs as much as some exact decisions, and the
 * last one told how far it was: twice as far is tried, then half of it, and so on.
 */
static uint64_t safe_ahead(struct tepal_recycling *r, uint64_t ones)
{
    struct recycling_average *a = &r->average;
    uint64_t ahead = a->ahead < AHEAD_MOST / 2 ? 2 * a->ahead : AHEAD_MOST;
    ahead = ahead < AHEAD_LEAST ? AHEAD_LEAST : ahead;
    while (ahead >= AHEAD_LEAST && !none_is_trigger(r, ones, ahead)) {
        ahead /= 2;
    }
    a->ahead = ahead;
    return ahead >= AHEAD_LEAST ? ahead : 0;
}

bool tepal_average_full(struct tepal_recycling *r, uint64_t ones)
{
    const uint64_t *sums = sums_of(r);
    if (r->average.safe > 0) {
        r->average.safe--;
        return false;
    }
    wide_int arrivals = wide_of(sums[SUM_CYCLE_ARRIVALS]);
    wide_int room = room_for(r, error_now(r), arrivals, active_rate(r, ones));
    bool full = !wide_less(wide_of(0), room) ||
                !wide_less(sum_get(sums + SUM_CYCLE), wide_times(room, arrivals));
    if (!full) {
        r->average.safe = safe_ahead(r, ones);
    }
    return full;
}

void tepal_average_took(struct tepal_recycling *r, const uint64_t *positions, uint64_t fresh)
{
    if (fresh == 0) {
        return;
    }
    const uint64_t *newest = recycling_words(r, recycling_phase(r, 1 % r->phases));
    for (; r->phases > 1 && fresh != 0; fresh &= fresh - 1) {
        r->average.both[0] += bits_test(newest, positions[__builtin_ctzll(fresh)]);
    }
    tell(r);
}

/* ---- for loops ------------------------------------------------------------------------------- */

void tepal_average_load(struct tepal_recycling *r, struct average_run *run)
{
    const struct recycling_average *a = &r->average;
    const uint64_t *sums = sums_of(r);
    run->told_sum = sum_get(sums + SUM_TOLD);
    run->cycle_sum = sum_get(sums + SUM_CYCLE);
    run->arrivals = a->arrivals;
    run->cycle_arrivals = sums[SUM_CYCLE_ARRIVALS];
    run->told = a->told;
    run->rate = active_rate(r, r->head.state.own[STATE_ONES]);
    run->both = a->both[0];
    run->frozen = a->frozen;
    run->safe = a->safe;
    run->cells = (double)r->head.params.cells;
    run->inverse = 1 / run->cells;
}

void tepal_average_store(struct tepal_recycling *r, const struct average_run *run)
{
    struct recycling_average *a = &r->average;
    uint64_t *sums = sums_of(r);
    sum_set(sums + SUM_TOLD, run->told_sum);
    sum_set(sums + SUM_CYCLE, run->cycle_sum);
    sums[SUM_CYCLE_ARRIVALS] = run->cycle_arrivals;
    a->arrivals = run->arrivals;
    a->told = run->told;
    a->ones = r->head.state.own[STATE_ONES];
    a->rate = run->rate;
    a->both[0] = run->both;
    a->safe = run->safe;
}

struct average_segment tepal_average_segment(struct tepal_recycling *r, uint32_t step)
{
    double low = tepal_recycling_rate_at(r, step);
    return (struct average_segment){step, low, tepal_recycling_rate_at(r, step + 1) - low};
}

/* ---- from another rule ----------------------------------------------------------------------- */

/*
 * The account of a filter whose phases were filled by another rule: of what was, only the messages
 * in the active phase still count, as if each had met that phase as it is now, and had its share.
 */
static void begin_account(struct tepal_recycling *r)
{
    struct filter_state *state = &r->head.state;
    uint64_t *sums = sums_of(r);
    uint64_t messages = state->own[STATE_MESSAGES];
    state->keys_added = messages;
    state->own[STATE_FRESH] = 0;
    state->own[STATE_EXPECTED] = 0;
    sum_set(sums + SUM_TOLD, wide_times(wide_of(messages), wide_of(r->limit)));
    sum_set(sums + SUM_CYCLE,
            wide_times(wide_of(messages), wide_of(rate_of(r, state->own[STATE_ONES]))));
    sums[SUM_CYCLE_ARRIVALS] = messages;
}

enum tepal_status tepal_recycling_by_average(const struct tepal_filter *filter, double fp,
                                             const struct tepal_allocator *allocator,
                                             struct tepal_filter **out, struct tepal_error *error)
{
    struct tepal_params params = filter->params;
    struct tepal_filter *other = NULL;
    if (params.kind != TEPAL_KIND_RECYCLING) {
        return refuse(error, TEPAL_UNSUPPORTED, "only recycling filters recycle by average");
    }
    if (params.recycling.flags != TEPAL_RECYCLING_RETAIN) {
        return refuse(error, TEPAL_UNSUPPORTED,
                      "by average the trigger is retained, not kept, and all keys are inserted");
    }
    if (!(fp > 0 && fp < 1)) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "a rate must be above 0 and below 1");
    }
    params.recycling.rule = TEPAL_RECYCLING_AVERAGE;
    params.recycling.limit = (uint64_t)(fp * 0x1p64);
    enum tepal_status status = tepal_filter_create(&params, allocator, &other, error);
    if (status != TEPAL_OK) {
        return status;
    }
    struct tepal_recycling *r = (struct tepal_recycling *)other;
    memcpy(other->words, filter->words, r->phases * r->phase_words * 8);
    filter_inherit(other, filter);
    begin_account(r);
    other->ops->open(other);
    /* As in a clone: the cells of a view may never have been looked at. */
    status = filter_read_only(filter) ? tepal_filter_validate(other, error) : TEPAL_OK;
    if (status != TEPAL_OK) {
        tepal_filter_free(other);
        return status;
    }
    *out = other;
    return TEPAL_OK;
}

/* ---- what it says of itself ------------------------------------------------------------------ */

const char *tepal_average_flaw(const struct tepal_recycling *r)
{
    const uint64_t *own = r->head.state.own;
    const uint64_t *sums = sums_of(r);
    const wide_int unit = wide_of(UINT64_MAX);
    uint64_t arrivals = r->head.state.keys_added;
    uint64_t cycle = sums[SUM_CYCLE_ARRIVALS];
    if (own[STATE_EXPECTED] != 0) {
        return "by average nothing is expected from the misses";
    }
    if (cycle > arrivals) {
        return "more messages in this cycle than in all";
    }
    if (own[STATE_MESSAGES] > 0 &&
        own[STATE_MESSAGES] - 1 > cycle) { /* the trigger of the one before opened it */
        return "more messages set bits in the active phase than arrived";
    }
    if (wide_below(wide_times(wide_of(arrivals), unit), sum_get(sums + SUM_TOLD)) ||
        wide_below(wide_times(wide_of(cycle), unit), sum_get(sums + SUM_CYCLE))) {
        return "the sums of the rates are impossible";
    }
    return NULL;
}

double tepal_average_now(const struct tepal_recycling *r)
{
    const struct tepal_params *p = &r->head.params;
    bool view = filter_read_only(&r->head);
    double now = 0;
    for (uint32_t age = 0; age < r->phases; age++) {
        uint64_t ones = tepal_recycling_ones(r, age);
        now += tepal_recycling_rate(p->layout, p->positions, p->cells, ones, p->hashes);
        if (age + 1 < r->phases) {
            uint64_t both = view ? count_both(r, age, 0, r->phase_words) : r->average.both[age];
            now -= tepal_recycling_rate(p->layout, p->positions, p->cells, both, p->hashes);
        }
    }
    return now < 0 ? 0 : now > 1 ? 1 : now; /* a view may lie about its ones */
}

double tepal_average_so_far(const struct tepal_recycling *r)
{
    uint64_t arrivals = r->head.state.keys_added;
    double told = wide_real(sum_get(sums_of(r) + SUM_TOLD));
    return arrivals > 0 ? told / (double)arrivals * 0x1p-64 : 0;
}
