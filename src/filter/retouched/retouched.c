/*
 * retouched.c: the retouched Bloom filter as a kind of filter (B. Donnet, B. Baynat and T.
 * Friedman, Retouched Bloom Filters, CoNEXT 2006).
 *
 *     Bloom filter      1 0 1 1 0 1 1 1 0 1 ...
 *                           |       |
 *     retouched         1 0 0 1 0 1 0 1 0 1 ...      some ones have become zeros
 *
 * It is a Bloom filter to whoever asks it: the same bits in the same places, the same kernels, a
 * file of the same size. What it no longer promises is to find every member: the state carries how
 * many it was retouched for and how many of them it gave up. How the bits to clear are chosen is in
 * retouch.c and the files that it names.
 *
 * A filter that was retouched without its members has estimates of both, which the state says too.
 *
 * Invariants: no more victims than members; no more bits were cleared than there are; only expected
 * victims have fractions.
 */
#include "filter/retouched/internal.h"

#include "base/checked.h"
#include "base/report.h"

/* It is a Bloom filter with more of a state: every member that comes later is counted there. */
static void count_members(struct tepal_filter *filter, size_t count)
{
    uint64_t *members = &filter->state.own[RETOUCHED_MEMBERS];
    *members = saturating_add(*members, count);
}

static enum tepal_status retouched_add(struct tepal_filter *filter, struct tepal_digest digest)
{
    count_members(filter, 1);
    return tepal_bloom_op_add(filter, digest);
}

static enum tepal_status retouched_add_many(struct tepal_filter *filter,
                                            const struct tepal_digest *digests, size_t count)
{
    count_members(filter, count);
    return tepal_bloom_op_add_many(filter, digests, count);
}

static void retouched_add_keys(struct tepal_filter *filter, const struct bloom_source *source,
                               size_t count)
{
    count_members(filter, count);
    tepal_bloom_op_add_keys(filter, source, count);
}

static enum tepal_status retouched_test_add(struct tepal_filter *filter, struct tepal_digest digest,
                                            bool *was_present)
{
    count_members(filter, 1);
    return tepal_bloom_op_test_add(filter, digest, was_present);
}

static enum tepal_status retouched_test_add_many(struct tepal_filter *filter,
                                                 const struct tepal_digest *digests, size_t count,
                                                 uint64_t *answers, size_t *present)
{
    count_members(filter, count);
    return tepal_bloom_op_test_add_many(filter, digests, count, answers, present);
}

static const char *retouched_validate(const struct tepal_filter *filter)
{
    const uint64_t *own = filter->state.own;
    if (own[RETOUCHED_VICTIMS] > own[RETOUCHED_MEMBERS]) {
        return "more false negatives than members";
    }
    if (own[RETOUCHED_EXPECTED] > 1) {
        return "neither counted nor expected false negatives";
    }
    if (own[RETOUCHED_PART] > (own[RETOUCHED_EXPECTED] == 0 ? 0 : UINT32_MAX)) {
        return "a part of a false negative that is none";
    }
    return own[RETOUCHED_CLEARED] > filter->params.cells ? "more bits cleared than the filter has"
                                                         : NULL;
}

static void retouched_info(const struct tepal_filter *filter, struct tepal_report *report)
{
    const uint64_t *own = filter->state.own;
    tepal_bloom_ops.info(filter, report);
    /* fn_now is the one thing that a Bloom filter knows and this one knows otherwise. */
    struct tepal_quantity *fn = tepal_report_change(report, "fn_now");
    bool expected = own[RETOUCHED_EXPECTED] != 0;
    fn->about = expected ? "false-negative rate, expected: it was retouched without its members"
                         : "false-negative rate, at most: members given up that were not added "
                           "again";
    fn->value.real =
        own[RETOUCHED_MEMBERS] == 0 ? 0 : retouched_lost(filter) / (double)own[RETOUCHED_MEMBERS];
    tepal_report_integer(report, "members",
                         expected ? "members, estimated, and those added since"
                                  : "members it was retouched for, and those added since",
                         own[RETOUCHED_MEMBERS]);
    tepal_report_integer(report, "false_negatives",
                         expected ? "of them, given up: expected, not counted"
                                  : "of them, given up; not found unless added again",
                         own[RETOUCHED_VICTIMS]);
    tepal_report_integer(report, "bits_cleared", "bits cleared", own[RETOUCHED_CLEARED]);
    tepal_report_flag(report, "expected", "were false negatives expected instead of counted?",
                      expected);
    if (own[RETOUCHED_BUDGET] > 0) {
        tepal_report_integer(report, "most_lost", "members that avoiding keys may lose: its budget",
                             own[RETOUCHED_BUDGET]);
    }
}

const struct filter_ops tepal_retouched_ops = {
    .rules = &tepal_retouched_rules,
    .struct_bytes = sizeof(struct tepal_bloom),
    .states = RETOUCHED_STATES,
    .open = tepal_bloom_op_open,
    .validate = retouched_validate,
    .add = retouched_add,
    .add_many = retouched_add_many,
    .query = tepal_bloom_op_query,
    .query_many = tepal_bloom_op_query_many,
    .test_add = retouched_test_add,
    .test_add_many = retouched_test_add_many,
    .add_keys = retouched_add_keys,
    .query_keys = tepal_bloom_op_query_keys,
    .ones = tepal_bloom_op_ones,
    .fp_now = tepal_bloom_op_fp_now,
    .info = retouched_info,
    .allow = tepal_retouched_op_allow,
    .avoid = tepal_retouched_op_avoid,
};
