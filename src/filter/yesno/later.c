/*
 * later.c: false positives that were seen after the filter was built, into its no-filters as they
 * are. Nobody remembers for whom the bits there were set, so all of them stay (veto.c: held), and
 * the new false positives find room beside them by the same methods as in a build.
 *
 * Nothing is written before everything is decided: a failure leaves the filter as it was.
 */
#include "filter/yesno/internal.h"

#include "base/checked.h"
#include "base/refuse.h"

static enum tepal_status fill(struct yesno_run *run, struct tepal_yesno *filter,
                              struct tepal_known_report *report, struct tepal_error *error)
{
    const struct tepal_known *in = run->in;
    uint64_t *found = tepal_arena_bitmap(&run->arena, in->avoid_count);
    uint64_t *answers = tepal_yesno_answers(run);
    if (found == NULL || answers == NULL) {
        return refuse_if(error, TEPAL_NO_MEMORY);
    }
    if (tepal_yesno_query_yes_many(filter, in->members, in->member_count, answers) <
        in->member_count) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "a member is not in the filter: give its members, and all of them");
    }
    uint64_t lost = in->member_count -
                    tepal_filter_query_many(&filter->head, in->members, in->member_count, answers);
    uint64_t count = tepal_filter_query_many(&filter->head, in->avoid, in->avoid_count, found);
    enum tepal_status status = tepal_yesno_decide(run, found, count, report);
    if (status != TEPAL_OK) {
        return refuse_if(error, status);
    }
    tepal_yesno_write(run, filter);
    tepal_yesno_compare(run, answers, report);
    uint64_t *own = filter->head.state.own;
    own[YESNO_AVOID] = saturating_add(own[YESNO_AVOID], report->avoid_positive);
    own[YESNO_POSITIVE] = saturating_add(own[YESNO_POSITIVE], report->avoid_positive);
    own[YESNO_LEFT] = saturating_add(own[YESNO_LEFT], report->avoid_left);
    own[YESNO_LOST] = saturating_add(own[YESNO_LOST], report->false_negatives - lost);
    own[YESNO_LOST] = own[YESNO_LOST] > own[YESNO_MEMBERS] ? own[YESNO_MEMBERS] : own[YESNO_LOST];
    return TEPAL_OK;
}

enum tepal_status tepal_yesno_veto_later(struct tepal_filter *filter,
                                         const struct tepal_known *known,
                                         const struct tepal_yesno_options *options,
                                         struct tepal_known_report *report,
                                         struct tepal_error *error)
{
    if (filter->ops != &tepal_yesno_ops) {
        return refuse(error, TEPAL_UNSUPPORTED, "only yes-no filters have no-filters");
    }
    if (filter_read_only(filter)) {
        return refuse_if(error, TEPAL_READ_ONLY);
    }
    enum tepal_status status = tepal_yesno_check(known, options, error);
    if (status != TEPAL_OK) {
        return status;
    }
    struct tepal_yesno *yesno = (struct tepal_yesno *)filter;
    struct tepal_known_report here = {0};
    struct work work = work_open(options->progress);
    struct yesno_run run = {.in = known,
                            .how = options,
                            .told = &work,
                            .until = YESNO_SEARCHED,
                            .filter = yesno,
                            .arena = tepal_arena_open(&filter->allocator)};
    tepal_yesno_limit(&run, YESNO_UNLIMITED);
    status = refuse_if(error, work_phase(&work, YESNO_FILLED));
    status = status == TEPAL_OK ? fill(&run, yesno, &here, error) : status;
    tepal_arena_release(&run.arena, NULL);
    if (status == TEPAL_OK && report != NULL) {
        *report = here;
    }
    return status;
}
