/*
 * blind.c: retouching without the members, as whoever received a filter has to (Sec. VII-B):
 * Algorithms 1 and 3 ask for none, and Algorithms 2 and 4 only for how many a bit has, which a
 * counting filter knows. What is lost cannot be counted then; it is expected (model/loss.c), and a
 * budget is one of that expectation.
 *
 *     members   a Bloom filter: as many as its ones speak for, whatever it claims
 *               a counting filter: those added and not removed
 *               a retouched filter: what its state says; those lost earlier are lost already
 */
#include "filter/retouched/internal.h"

#include <math.h>

#include "base/refuse.h"
#include "filter/counting/internal.h"

/* ---- members and regions --------------------------------------------------------------------- */

/* Those that there are, and those lost before. */
static void count_members(struct retouch *run, double *members, double *lost)
{
    const struct tepal_filter *from = &run->from->head;
    *lost = 0;
    if (run->counters != NULL) {
        *members = (double)counting_keys_now(counting_of_const(run->counters));
        *lost = fmin(*members, (double)run->counters->state.own[COUNTING_LOST]);
    } else if (from->ops == &tepal_retouched_ops) {
        *members = (double)from->state.own[RETOUCHED_MEMBERS];
        *lost = retouched_lost(from);
    } else {
        *members =
            tepal_bloom_estimate(&from->params, tepal_bits_count(from->words, from->word_count));
    }
}

void tepal_retouch_region_ones(const struct tepal_filter *from, struct loss_region *region,
                               uint64_t count)
{
    const struct tepal_params *p = &from->params;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t start = 0;
        uint64_t end = p->cells;
        if (tepal_layout_in_lines(p->layout)) {
            start = i * TEPAL_LINE_BITS;
            end = start + TEPAL_LINE_BITS;
        } else if (count > 1) {
            start = address_slice_start(p->cells, p->hashes, (uint32_t)i);
            end = address_slice_start(p->cells, p->hashes, (uint32_t)i + 1);
        }
        region[i].ones = (double)tepal_bits_count_range(from->words, start, end);
    }
}

/* The limit in members, without rounding: it is one of an expectation. */
static double limit_of(const struct tepal_retouch_options *how, double members)
{
    return how->limit == TEPAL_RETOUCH_LIMIT_ALL     ? HUGE_VAL
           : how->limit == TEPAL_RETOUCH_LIMIT_SHARE ? how->budget * members
                                                     : how->budget;
}

enum tepal_status tepal_retouch_blind_open(struct retouch *run, struct tepal_error *error)
{
    const struct tepal_filter *from = &run->from->head;
    struct tepal_retouch_report *report = &run->report;
    double members;
    double lost;
    count_members(run, &members, &lost);
    if (!(members < 0x1p60)) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "all bits of the filter are set: they do not tell how many members there "
                      "are; give the members");
    }
    uint64_t count = tepal_loss_regions(&from->params);
    struct loss_region *region = tepal_arena_take(&run->arena, count, sizeof *region);
    if (region == NULL) {
        return TEPAL_NO_MEMORY;
    }
    tepal_retouch_region_ones(from, region, count);
    double owners = run->counters == NULL ? NAN : (double)run->counters->state.own[COUNTING_SUM];
    tepal_loss_open(&run->loss, &from->params, members - lost, owners, region);
    run->most_lost = limit_of(run->how, members);
    run->lost_count = (uint64_t)lost;
    run->lost_weight = lost;
    report->expected = true;
    report->members = (uint64_t)llround(members);
    report->member_weight = members;
    report->members_absent = (uint64_t)lost;
    return TEPAL_OK;
}

enum tepal_status tepal_retouch_blind_index(struct retouch *run)
{
    run->place = tepal_arena_take(&run->arena, run->bits, sizeof *run->place);
    if (run->place == NULL) {
        return TEPAL_NO_MEMORY;
    }
    uint32_t bit = 0;
    for (size_t w = 0; w < run->from->head.word_count; w++) {
        for (uint64_t rest = run->touched[w]; rest != 0; rest &= rest - 1) {
            run->place[bit++] = 64 * (uint64_t)w + (uint32_t)__builtin_ctzll(rest);
        }
    }
    return TEPAL_OK;
}

/* ---- one bit --------------------------------------------------------------------------------- */

double tepal_retouch_blind_owners(const struct retouch *run, uint32_t bit)
{
    return run->counters == NULL ? (double)NAN
                                 : (double)tepal_counting_at(run->counters, run->place[bit]);
}

/* The value at which a counter sticks: it may have more owners then. */
static double most_of(const struct retouch *run)
{
    bool wide =
        run->counters != NULL && run->counters->params.counting.form == TEPAL_FORM_WIDE_COUNTERS;
    return wide ? TEPAL_MAX_COUNTER : TEPAL_MAX_SMALL_COUNTER;
}

static uint64_t region_of(const struct retouch *run, uint32_t bit)
{
    return tepal_loss_region_of(&run->from->head.params, run->place[bit]);
}

bool tepal_retouch_blind_affordable(const struct retouch *run, uint32_t bit)
{
    double earlier = (double)run->report.members_absent;
    double owners = tepal_retouch_blind_owners(run, bit);
    return earlier + tepal_loss_after(&run->loss, region_of(run, bit), owners) <=
           run->most_lost * (1 + 1e-12);
}

void tepal_retouch_blind_clear(struct retouch *run, uint32_t bit)
{
    double owners = tepal_retouch_blind_owners(run, bit);
    tepal_loss_clear(&run->loss, region_of(run, bit), owners);
    run->owners_gone += run->counters == NULL ? 0 : (uint64_t)owners;
    run->stuck = run->stuck || owners >= most_of(run); /* NaN without counters: never */
    run->lost_weight = (double)run->report.members_absent + tepal_loss_expected(&run->loss);
    run->lost_count = (uint64_t)llround(run->lost_weight);
}

/* ---- in the end ------------------------------------------------------------------------------ */

void tepal_retouch_blind_report(struct retouch *run)
{
    struct tepal_retouch_report *report = &run->report;
    double earlier = (double)report->members_absent;
    struct loss_interval lost = tepal_loss_interval(&run->loss);
    report->lost_expected = earlier + lost.expected;
    report->lost_low = earlier + lost.low;
    report->lost_high = earlier + lost.high;
    report->lost_most = report->members;
    if (run->counters != NULL && !run->stuck && run->owners_gone < report->members) {
        report->lost_most = run->owners_gone;
        report->lost_high = fmin(report->lost_high, (double)run->owners_gone);
    }
    report->false_negatives = (uint64_t)llround(report->lost_expected);
    report->lost_weight = report->lost_expected;
    report->delta_fn = report->member_weight > 0 ? lost.expected / report->member_weight : 0;
}
