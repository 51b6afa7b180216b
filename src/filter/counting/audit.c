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
#include <string.h>

#include <tepal/papers.h>

#include "base/arena.h"
#include "base/refuse.h"
#include "base/report.h"

/* What the walk over the members found. */
struct tally {
    bool estimated; /* which group each member is in */
    uint64_t exposed;
    uint64_t given_up;  /* of them, for a key that is avoided: the counters still have them */
    uint64_t several;   /* members found in more than one group */
    uint64_t potential; /* members that were refused on the copy */
    uint64_t deficit;
    uint64_t deficit_counters;
    uint64_t surplus;
    uint64_t surplus_counters;
};

/* The members that one bit of `findings` (may be NULL) stands for. */
static void find(uint8_t *findings, size_t i, bool yes, enum tepal_counting_finding finding)
{
    if (findings != NULL && yes) {
        findings[i] = (uint8_t)(findings[i] | (unsigned)finding);
    }
}

/* Who is not found, and who is found more than once. */
static void ask_members(const struct tepal_counting *counting, const struct tepal_digest *members,
                        size_t count, uint8_t *findings, struct tally *tally)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t groups = tepal_counting_holding(counting, members[i]);
        bool several = (groups & (groups - 1)) != 0;
        bool given_up = groups == 0 && tepal_counting_counting(counting, members[i]) != 0;
        tally->exposed += groups == 0;
        tally->given_up += given_up;
        tally->several += several;
        find(findings, i, groups == 0, TEPAL_COUNTING_EXPOSED);
        find(findings, i, given_up, TEPAL_COUNTING_GIVEN_UP);
        find(findings, i, several, TEPAL_COUNTING_SEVERAL);
    }
}

/* The counts that a counter lacks; 0 if it is stuck: nobody knows. */
static uint32_t missing_at(const struct tepal_counting *counting, const struct counting_wish *wish,
                           uint64_t position)
{
    uint32_t is = counting_value(counting, position);
    uint32_t should = wish->wanted[position];
    should = should < counting->most ? should : counting->most; /* it sticks there */
    return is < counting->most && should > is ? should - is : 0;
}

static void compare(const struct tepal_counting *counting, const struct counting_wish *wish,
                    struct tally *tally)
{
    for (uint64_t i = 0; i < counting->head.params.cells; i++) {
        uint32_t is = counting_value(counting, i);
        uint32_t should = wish->wanted[i];
        uint32_t missing = missing_at(counting, wish, i);
        bool more = is > should && is < counting->most;
        tally->deficit += missing;
        tally->deficit_counters += missing > 0;
        tally->surplus += more ? is - should : 0;
        tally->surplus_counters += more;
    }
}

/* From a copy: whoever is refused is a potential false negative. */
static void remove_members(struct tepal_counting *copy, const struct tepal_digest *members,
                           const uint8_t *groups, size_t count, uint8_t *findings,
                           struct tally *tally)
{
    for (size_t i = 0; i < count; i++) {
        bool refused = tepal_counting_remove_group(&copy->head, members[i], groups[i]) != TEPAL_OK;
        tally->potential += refused;
        find(findings, i, refused, TEPAL_COUNTING_POTENTIAL);
    }
}

static enum tepal_status walk(const struct tepal_counting *counting,
                              const struct tepal_digest *members, const uint8_t *receipts,
                              size_t count, const struct tepal_progress *progress,
                              struct arena *arena, uint8_t *findings, struct counting_wish *wish,
                              struct tally *tally)
{
    struct tepal_filter *copy;
    struct work work = work_for(progress);
    enum tepal_status status =
        tepal_counting_assign(counting, members, receipts, count, &work, arena, wish);
    if (status != TEPAL_OK) {
        return status;
    }
    status = tepal_filter_clone(&counting->head, &arena->allocator, &copy, NULL);
    if (status != TEPAL_OK) {
        return status;
    }
    if (findings != NULL && count > 0) {
        memset(findings, 0, count);
    }
    tally->estimated = wish->estimated;
    ask_members(counting, members, count, findings, tally);
    compare(counting, wish, tally);
    remove_members(counting_of(copy), members, wish->group, count, findings, tally);
    tepal_filter_free(copy);
    return TEPAL_OK;
}

/* May it be audited, and do these receipts fit? */
static enum tepal_status check(const struct tepal_filter *filter, const uint8_t *receipts,
                               size_t count, struct tepal_error *error)
{
    if (!counting_counts(filter)) {
        return refuse(error, TEPAL_UNSUPPORTED,
                      counting_is(filter) ? COUNTING_DROPPED : COUNTING_NOT);
    }
    for (size_t i = 0; receipts != NULL && i < count; i++) {
        if (receipts[i] >= counting_of_const(filter)->choices) {
            return refuse(error, TEPAL_BAD_ARGUMENT, "a receipt names a group that does not exist");
        }
    }
    return TEPAL_OK;
}

/* ---- repair ---------------------------------------------------------------------------------- */

/* Every counter that lacks counts gets them. */
static void give_back(struct tepal_counting *counting, const struct counting_wish *wish,
                      struct tepal_counting_repaired *repair)
{
    for (uint64_t i = 0; i < counting->head.params.cells; i++) {
        uint32_t missing = missing_at(counting, wish, i);
        uint32_t value = counting_value(counting, i);
        bool cleared = value > 0 && !bits_test(counting->bits, i);
        repair->zeros += missing > 0 && value == 0;
        for (uint32_t j = 0; j < missing; j++) {
            tepal_counting_raise(counting, &i, 1);
        }
        if (missing > 0 && cleared && value + missing < counting->most) {
            tepal_counting_hide(counting, i); /* it stays cleared */
        }
    }
}

enum tepal_status tepal_counting_repair(struct tepal_filter *filter,
                                        const struct tepal_digest *members, const uint8_t *receipts,
                                        size_t count, const struct tepal_progress *progress,
                                        const struct tepal_allocator *allocator,
                                        struct tepal_counting_repaired *repair,
                                        struct tepal_error *error)
{
    enum tepal_status status = check(filter, receipts, count, error);
    if (status != TEPAL_OK) {
        return status;
    }
    if (filter_read_only(filter)) {
        return refuse_if(error, TEPAL_READ_ONLY);
    }
    struct tepal_counting *counting = counting_of(filter);
    struct arena arena = tepal_arena_open(allocator);
    struct counting_wish wish;
    struct tally tally = {0};
    status = walk(counting, members, receipts, count, progress, &arena, NULL, &wish, &tally);
    if (status == TEPAL_OK) {
        struct tepal_counting_repaired done = {.estimated = tally.estimated,
                                               .exposed = tally.exposed - tally.given_up,
                                               .potential = tally.potential,
                                               .counts = tally.deficit,
                                               .counters = tally.deficit_counters};
        give_back(counting, &wish, &done);
        if (repair != NULL) {
            *repair = done;
        }
    }
    tepal_arena_release(&arena, NULL);
    return refuse_if(error, status);
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

static void report_tally(const struct tally *tally, uint64_t n, bool learns,
                         struct tepal_report *report)
{
    tepal_report_integer(report, "members", "keys that should be in the filter", n);
    tepal_report_flag(report, "estimated",
                      "without receipts the groups are estimated: those with the least deficit",
                      tally->estimated);
    tepal_report_integer(report, "exposed", "of them, not found now (Sec. 3.2)", tally->exposed);
    if (learns) {
        tepal_report_integer(report, "given_up", "of these, lost to keys that are avoided",
                             tally->given_up);
    }
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
                                       size_t count, const struct tepal_progress *progress,
                                       const struct tepal_allocator *allocator, uint8_t *findings,
                                       struct tepal_report *report, struct tepal_error *error)
{
    enum tepal_status status = check(filter, receipts, count, error);
    if (status != TEPAL_OK) {
        return status;
    }
    const struct tepal_counting *counting = counting_of_const(filter);
    struct arena arena = tepal_arena_open(allocator);
    struct counting_wish wish;
    struct tally tally = {0};
    status = walk(counting, members, receipts, count, progress, &arena, findings, &wish, &tally);
    tepal_arena_release(&arena, NULL);
    if (status != TEPAL_OK) {
        return refuse_if(error, status);
    }
    uint64_t histogram[TEPAL_MAX_COUNTER + 1];
    double load[TEPAL_MAX_COUNTER + 1];
    double m = (double)counting->head.params.cells;
    (void)tepal_counting_histogram(filter, histogram);
    for (uint32_t v = 0; v <= counting->most; v++) {
        load[v] = (double)histogram[v];
    }
    double wrong = (double)tally.deficit / (double)counting->head.params.hashes;
    report->count = 0;
    report->numbers = 0;
    report_tally(&tally, count, counting->learns, report);
    tepal_report_real(report, "wrong_removals",
                      "wrong removals that would explain the deficit: deficit / k", wrong);
    report_theory(counting, count, load[0] / m, load[1] / m, wrong, report);
    tepal_report_real(report, "p0", "share of counters that are 0", load[0] / m);
    tepal_report_real(report, "p1", "share of counters that are 1", load[1] / m);
    tepal_report_real(report, "p2", "share of counters above 1", (m - load[0] - load[1]) / m);
    tepal_report_integer(report, "stuck", "counters that reached their limit and stay there",
                         histogram[counting->most]);
    tepal_report_list(report, "histogram", "counters at 0, 1, ... up to the limit", load,
                      counting->most + 1);
    return TEPAL_OK;
}
