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
 * Invariants: no more victims than members; no more bits were cleared than there are.
 */
#include <tepal/retouched.h>

#include "base/checked.h"
#include "base/report.h"
#include "filter/bloom/internal.h"
#include "filter/retouched/internal.h"

struct tepal_retouched {
    struct tepal_bloom bloom;
};

static void retouched_open(struct tepal_filter *filter)
{
    tepal_bloom_ops.open(filter);
}

/* A retouched filter starts with the same fields as a Bloom filter: they are the same struct. */
static struct tepal_bloom *bloom_of(struct tepal_filter *filter)
{
    return (struct tepal_bloom *)filter;
}

static const struct tepal_bloom *bloom_of_const(const struct tepal_filter *filter)
{
    return (const struct tepal_bloom *)filter;
}

static enum tepal_status retouched_add_many(struct tepal_filter *filter,
                                            const struct tepal_digest *digests, size_t count)
{
    uint64_t *members = &filter->state.own[RETOUCHED_MEMBERS];
    struct tepal_bloom *bloom = bloom_of(filter);
    if (count > 0) {
        struct bloom_source source = {.form = BLOOM_DIGESTS, .digests = digests};
        bloom->kernels->add(&bloom->at, filter->words, &source, count);
        filter_count_keys(filter, count);
        *members = saturating_add(*members, count);
    }
    return TEPAL_OK;
}

static enum tepal_status retouched_add(struct tepal_filter *filter, struct tepal_digest digest)
{
    return retouched_add_many(filter, &digest, 1);
}

static bool retouched_query(const struct tepal_filter *filter, struct tepal_digest digest)
{
    return tepal_bloom_query(bloom_of_const(filter), digest);
}

static size_t retouched_query_many(const struct tepal_filter *filter,
                                   const struct tepal_digest *digests, size_t count,
                                   uint64_t *answers)
{
    return tepal_bloom_query_many(bloom_of_const(filter), digests, count, answers);
}

static const char *retouched_validate(const struct tepal_filter *filter)
{
    const uint64_t *own = filter->state.own;
    if (own[RETOUCHED_VICTIMS] > own[RETOUCHED_MEMBERS]) {
        return "more false negatives than members";
    }
    return own[RETOUCHED_CLEARED] > filter->params.cells ? "more bits cleared than there are"
                                                         : NULL;
}

static void retouched_info(const struct tepal_filter *filter, struct tepal_report *report)
{
    const uint64_t *own = filter->state.own;
    tepal_bloom_ops.info(filter, report);
    /* fn_now is the one thing that a Bloom filter knows and this one knows otherwise. */
    struct tepal_quantity *fn = tepal_report_change(report, "fn_now");
    fn->about = "false-negative rate, at most: members given up that were not added again";
    fn->value.real = own[RETOUCHED_MEMBERS] == 0
                         ? 0
                         : (double)own[RETOUCHED_VICTIMS] / (double)own[RETOUCHED_MEMBERS];
    tepal_report_integer(report, "members", "members it was retouched for, and added since",
                         own[RETOUCHED_MEMBERS]);
    tepal_report_integer(report, "false_negatives",
                         "of them, given up; not found unless they were added again",
                         own[RETOUCHED_VICTIMS]);
    tepal_report_integer(report, "bits_cleared", "ones that became zeros", own[RETOUCHED_CLEARED]);
}

const struct filter_ops tepal_retouched_ops = {
    .rules = &tepal_retouched_rules,
    .struct_bytes = sizeof(struct tepal_retouched),
    .states = RETOUCHED_STATES,
    .open = retouched_open,
    .validate = retouched_validate,
    .add = retouched_add,
    .add_many = retouched_add_many,
    .query = retouched_query,
    .query_many = retouched_query_many,
    .info = retouched_info,
};

/* ---- the typed handle ------------------------------------------------------------------------ */

struct tepal_retouched *tepal_filter_retouched(struct tepal_filter *filter)
{
    return filter->ops == &tepal_retouched_ops ? (struct tepal_retouched *)filter : NULL;
}

struct tepal_filter *tepal_retouched_filter(struct tepal_retouched *retouched)
{
    return &retouched->bloom.head;
}

bool tepal_retouched_query(const struct tepal_retouched *retouched, struct tepal_digest digest)
{
    return tepal_bloom_query(&retouched->bloom, digest);
}

size_t tepal_retouched_query_many(const struct tepal_retouched *retouched,
                                  const struct tepal_digest *digests, size_t count,
                                  uint64_t *answers)
{
    return tepal_bloom_query_many(&retouched->bloom, digests, count, answers);
}

uint64_t tepal_retouched_members(const struct tepal_retouched *retouched)
{
    return retouched->bloom.head.state.own[RETOUCHED_MEMBERS];
}

uint64_t tepal_retouched_false_negatives(const struct tepal_retouched *retouched)
{
    return retouched->bloom.head.state.own[RETOUCHED_VICTIMS];
}

uint64_t tepal_retouched_bits_cleared(const struct tepal_retouched *retouched)
{
    return retouched->bloom.head.state.own[RETOUCHED_CLEARED];
}
