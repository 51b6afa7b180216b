/*
 * report.c: what retouching did, counted by asking the new filter for every key again, not by
 * adding up what the methods believe; and what of it the filter's state remembers.
 */
#include "filter/retouched/internal.h"

#include <math.h>

/* `lost` becomes the truth: the method's own notes have served. */
static void compare_members(struct retouch *run, const struct tepal_filter *after)
{
    struct tepal_retouch_report *report = &run->report;
    size_t n = run->in->member_count;
    report->false_negatives = n - tepal_filter_query_many(after, run->in->members, n, run->lost);
    tepal_bits_invert(run->lost, n);
    for (size_t i = 0; i < n; i++) {
        if (bits_test(run->lost, i)) {
            report->lost_weight += retouch_member_weight(run, (uint32_t)i);
        }
    }
    report->delta_fn = (double)(report->false_negatives - report->members_absent) / (double)n;
    report->lost_expected = (double)report->false_negatives;
    report->lost_low = report->lost_expected;
    report->lost_high = report->lost_expected;
    report->lost_most = report->false_negatives;
}

static void compare_wanted(struct retouch *run, const struct tepal_filter *after, uint64_t *answers)
{
    const struct tepal_known *in = run->in;
    struct tepal_retouch_report *report = &run->report;
    (void)tepal_filter_query_many(after, in->avoid, in->avoid_count, answers);
    for (size_t i = 0; i < in->avoid_count; i++) {
        if (bits_test(run->wanted, i)) {
            double weight = known_weight_of(in->avoid_weights, i);
            bool left = bits_test(answers, i);
            report->avoid_weight += weight;
            report->removed_weight += left ? 0 : weight;
            report->avoid_left += left;
        }
    }
    report->removed_inside = report->avoid_positive - report->avoid_left;
}

/* The change of the false-positive rate: over the others, or without them from the bits. */
static void compare_rates(struct retouch *run, const struct tepal_filter *after, uint64_t *answers)
{
    const struct tepal_known *in = run->in;
    struct tepal_retouch_report *report = &run->report;
    if (run->others == NULL) {
        report->delta_fp = 1 - tepal_filter_fp_now(after) / tepal_filter_fp_now(&run->from->head);
        return;
    }
    report->others_left = tepal_filter_query_many(after, in->others, in->other_count, answers);
    for (size_t i = 0; i < in->other_count; i++) {
        report->removed_beyond += bits_test(run->others, i) && !bits_test(answers, i);
    }
    report->delta_fp =
        (double)(report->others_positive - report->others_left) / (double)report->others_positive;
}

static void keep_state(struct tepal_filter *made, const struct tepal_retouch_report *report)
{
    uint64_t *own = made->state.own;
    own[RETOUCHED_MEMBERS] = report->members;
    own[RETOUCHED_VICTIMS] = report->false_negatives;
    own[RETOUCHED_EXPECTED] = report->expected;
    own[RETOUCHED_PART] = 0;
    own[RETOUCHED_CLEARED] += report->bits_changed;
    if (own[RETOUCHED_CLEARED] > made->params.cells) {
        own[RETOUCHED_CLEARED] = made->params.cells; /* bits that came back and went again */
    }
}

enum tepal_status tepal_retouch_compare(struct retouch *run, struct tepal_filter *made)
{
    const struct tepal_filter *from = &run->from->head;
    struct tepal_retouch_report *report = &run->report;
    size_t longest =
        run->in->avoid_count > run->in->other_count ? run->in->avoid_count : run->in->other_count;
    uint64_t *answers = tepal_arena_bitmap(&run->arena, longest);
    if (answers == NULL) {
        return TEPAL_NO_MEMORY;
    }
    if (run->blind) {
        tepal_retouch_blind_report(run);
    } else {
        compare_members(run, made);
    }
    compare_wanted(run, made, answers);
    compare_rates(run, made, answers);
    report->ones_before = tepal_bits_count(from->words, from->word_count);
    report->ones_after = tepal_bits_count(made->words, made->word_count);
    report->bits_changed = report->ones_before - report->ones_after;
    report->chi = report->lost_expected > (double)report->members_absent
                      ? report->delta_fp / report->delta_fn
                      : NAN;
    keep_state(made, report);
    return TEPAL_OK;
}
