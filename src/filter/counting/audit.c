/*
 * audit.c: what removals have done to a counting filter, from a list of its members.
 *
 *     counters   2 0 1 3 0 1 ...      what is there
 *     members    2 1 1 2 0 1 ...      what the members ask for
 *                  ^   ^
 *            deficit   surplus        a wrong removal took it;  a key that is no member left it
 *
 * Exposed false negatives (Sec. 3.2) are members that are not found. Potential ones (Sec. 3.1) are
 * those that would not be found in the end: on a copy, the members are removed one after the other;
 * whoever is refused is one. The paper removes only members that share an affected counter, and
 * then asks the rest. The others have all their counts and are removed without touching an affected
 * counter, so that the answer is the same, and nobody needs to know which counters were affected.
 */
#include "filter/counting/internal.h"

#include <math.h>

#include <tepal/papers.h>

#include "base/refuse.h"
#include "base/report.h"

/* What the walk over the members found. */
struct tally {
    uint64_t exposed;
    uint64_t several;   /* members found in more than one group */
    uint64_t potential; /* members that were refused on the copy */
    uint64_t deficit;
    uint64_t deficit_counters;
    uint64_t surplus;
    uint64_t surplus_counters;
};

/* The group that a member is taken to be in; false if it is in none. */
static bool group_of(const struct tepal_counting *counting, struct tepal_digest digest,
                     const uint8_t *receipt, uint32_t *group)
{
    if (receipt != NULL) {
        *group = *receipt;
        return true;
    }
    uint64_t groups = tepal_counting_holding(counting, digest);
    *group = groups == 0 ? 0 : (uint32_t)__builtin_ctzll(groups);
    /* With one choice there is no doubt, found or not. */
    return groups != 0 || counting->choices == 1;
}

/* What the members ask for, in `wanted`; who is not found, and who is found more than once. */
static void ask_members(const struct tepal_counting *counting, struct tepal_counting *wanted,
                        const struct tepal_digest *members, const uint8_t *receipts, size_t count,
                        struct tally *tally)
{
    for (size_t i = 0; i < count; i++) {
        const uint8_t *receipt = receipts == NULL ? NULL : &receipts[i];
        uint64_t positions[TEPAL_MAX_HASHES];
        uint64_t groups = tepal_counting_holding(counting, members[i]);
        uint32_t group;
        tally->exposed += groups == 0;
        tally->several += (groups & (groups - 1)) != 0;
        if (group_of(counting, members[i], receipt, &group)) {
            uint32_t k =
                tepal_counting_draw(counting, counting_group(members[i], group), positions);
            tepal_counting_raise(wanted, positions, k);
        }
    }
}

static void compare(const struct tepal_counting *counting, const struct tepal_counting *wanted,
                    struct tally *tally)
{
    for (uint64_t i = 0; i < counting->head.params.cells; i++) {
        uint32_t is = counting_value(counting, i);
        uint32_t should = counting_value(wanted, i);
        if (is == COUNTERS_MAX || should == COUNTERS_MAX) {
            continue; /* stuck: nobody knows */
        }
        tally->deficit += should > is ? should - is : 0;
        tally->deficit_counters += should > is;
        tally->surplus += is > should ? is - should : 0;
        tally->surplus_counters += is > should;
    }
}

static uint64_t remove_members(struct tepal_counting *copy, const struct tepal_digest *members,
                               const uint8_t *receipts, size_t count)
{
    uint64_t refused = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t group;
        const uint8_t *receipt = receipts == NULL ? NULL : &receipts[i];
        refused += !group_of(copy, members[i], receipt, &group) ||
                   tepal_counting_remove_group(&copy->head, members[i], group) != TEPAL_OK;
    }
    return refused;
}

static enum tepal_status walk(const struct tepal_counting *counting,
                              const struct tepal_digest *members, const uint8_t *receipts,
                              size_t count, const struct tepal_allocator *allocator,
                              struct tally *tally, struct tepal_error *error)
{
    struct tepal_filter *scratch;
    enum tepal_status status =
        tepal_filter_create(&counting->head.params, allocator, &scratch, error);
    if (status != TEPAL_OK) {
        return status;
    }
    ask_members(counting, counting_of(scratch), members, receipts, count, tally);
    compare(counting, counting_of(scratch), tally);
    tepal_filter_free(scratch);
    status = tepal_filter_clone(&counting->head, allocator, &scratch, error);
    if (status != TEPAL_OK) {
        return status;
    }
    tally->potential = remove_members(counting_of(scratch), members, receipts, count);
    tepal_filter_free(scratch);
    return TEPAL_OK;
}

/* ---- the report ------------------------------------------------------------------------------ */

/* Theorems 1 to 4 for so many wrong removals, from the counters as they are (Sec. 3.3). */
static void report_theory(const struct tepal_counting *counting, uint64_t n, double p0, double p1,
                          double wrong, struct tepal_report *report)
{
    const struct tepal_params *p = &counting->head.params;
    uint32_t k = p->hashes;
    double potential[TEPAL_MAX_HASHES + 1];
    double exposed[TEPAL_MAX_HASHES + 1];
    double printed[TEPAL_MAX_HASHES + 1];
    bool known = tepal_counting_potential(p->cells, n, k, p0, potential) == TEPAL_OK &&
                 tepal_counting_exposed(p->cells, n, k, p0, p1, exposed) == TEPAL_OK;
    double y = known ? tepal_counting_mean(potential, k) : NAN;
    double z = known ? tepal_counting_mean(exposed, k) : NAN;
    tepal_report_real(report, "exposed_expected",
                      "exposed, expected after that many wrong removals (Theorem 4, corrected)",
                      tepal_counting_many(z, n, wrong));
    tepal_report_real(report, "potential_expected",
                      "potential, expected after that many wrong removals (Theorem 1, corrected)",
                      tepal_counting_many(y, n, wrong));
    tepal_report_real(report, "exposed_mean",
                      "E[Z] of one more wrong removal, from the measured p0, p1, p2", z);
    tepal_counting_exposed_printed(p->cells, n, k, printed);
    tepal_report_real(report, "exposed_mean_printed", "E[Z] as printed, ideal (Theorem 4)",
                      tepal_counting_mean(printed, k));
    tepal_report_real(report, "potential_mean", "E[Y] of one more wrong removal", y);
    tepal_counting_potential_printed(k, printed);
    tepal_report_real(report, "potential_mean_printed", "E[Y] as printed (Theorem 1)",
                      tepal_counting_mean(printed, k));
    tepal_report_real(
        report, "hidden",
        "probability that one more wrong removal exposes no member (Theorem 2, corrected)",
        known ? exposed[0] : NAN);
    tepal_report_real(report, "found",
                      "probability that one more wrong removal exposes a given member (Theorem 3)",
                      tepal_counting_missed(p->cells, n, k, p0, p1));
}

static void report_tally(const struct tally *tally, uint64_t n, struct tepal_report *report)
{
    tepal_report_integer(report, "members", "keys that should be in the filter", n);
    tepal_report_integer(report, "exposed", "of them, not found now (Sec. 3.2)", tally->exposed);
    tepal_report_real(report, "exposed_share", "false-negative rate",
                      n > 0 ? (double)tally->exposed / (double)n : 0);
    tepal_report_integer(report, "potential",
                         "not found once the others are removed, exposed included (Sec. 3.1)",
                         tally->potential);
    tepal_report_integer(report, "several", "found in more than one group", tally->several);
    tepal_report_integer(report, "deficit", "counts missing for members", tally->deficit);
    tepal_report_integer(report, "deficit_counters", "counters with missing counts",
                         tally->deficit_counters);
    tepal_report_integer(report, "surplus", "counts that belong to no member", tally->surplus);
    tepal_report_integer(report, "surplus_counters", "counters with surplus counts",
                         tally->surplus_counters);
}

enum tepal_status tepal_counting_audit(const struct tepal_filter *filter,
                                       const struct tepal_digest *members, const uint8_t *receipts,
                                       size_t count, const struct tepal_allocator *allocator,
                                       struct tepal_report *report, struct tepal_error *error)
{
    if (!counting_counts(filter)) {
        return refuse(error, TEPAL_UNSUPPORTED,
                      counting_is(filter) ? COUNTING_DROPPED : COUNTING_NOT);
    }
    const struct tepal_counting *counting = counting_of_const(filter);
    for (size_t i = 0; receipts != NULL && i < count; i++) {
        if (receipts[i] >= counting->choices) {
            return refuse(error, TEPAL_BAD_ARGUMENT, "a receipt names a group that does not exist");
        }
    }
    struct tally tally = {0};
    enum tepal_status status = walk(counting, members, receipts, count, allocator, &tally, error);
    if (status != TEPAL_OK) {
        return status;
    }
    uint64_t histogram[TEPAL_MAX_COUNTER + 1];
    double load[TEPAL_MAX_COUNTER + 1];
    double m = (double)counting->head.params.cells;
    (void)tepal_counting_histogram(filter, histogram);
    for (uint32_t v = 0; v <= TEPAL_MAX_COUNTER; v++) {
        load[v] = (double)histogram[v];
    }
    double wrong = (double)tally.deficit / (double)counting->head.params.hashes;
    report->count = 0;
    report->numbers = 0;
    report_tally(&tally, count, report);
    tepal_report_real(report, "wrong_removals",
                      "wrong removals that would explain the deficit: deficit / k", wrong);
    report_theory(counting, count, load[0] / m, load[1] / m, wrong, report);
    tepal_report_real(report, "p0", "share of counters that are 0", load[0] / m);
    tepal_report_real(report, "p1", "share of counters that are 1", load[1] / m);
    tepal_report_real(report, "p2", "share of counters above 1", (m - load[0] - load[1]) / m);
    tepal_report_integer(report, "stuck", "counters that reached 15 and stay there",
                         histogram[TEPAL_MAX_COUNTER]);
    tepal_report_list(report, "histogram", "counters at 0, 1, ... 15", load, TEPAL_MAX_COUNTER + 1);
    return TEPAL_OK;
}
