/*
 * curve.c: what each budget would remove from a generalized filter. A run that inverts bits also
 * creates false positives and takes flips back, so what it has removed halfway is not what half its
 * budget removes: every point is a run of its own, with the budget of that point.
 *
 *     lost   before | + 0 | ... evenly ... | as many as the whole run loses
 */
#include "filter/generalized/internal.h"

#define MOST_RUNS 24

static struct tepal_retouch_point point_of(const struct tepal_retouch_report *r)
{
    bool fewer = r->avoid_positive > r->avoid_left;
    return (struct tepal_retouch_point){r->false_negatives, r->lost_weight,
                                        fewer ? r->avoid_positive - r->avoid_left : 0,
                                        r->removed_weight};
}

enum tepal_status
tepal_generalized_curve(const struct tepal_filter *filter, const struct tepal_known *known,
                        enum tepal_retouch_method method, struct known_limits limits,
                        struct work *work, const struct tepal_allocator *allocator,
                        struct tepal_retouch_point *points, size_t room, size_t *count,
                        struct tepal_retouch_report *report, struct tepal_error *error)
{
    struct tepal_filter *made;
    struct tepal_retouch_report whole;
    (void)work_phase(work, 1.0 / (MOST_RUNS + 1));
    enum tepal_status status = tepal_generalized_retouch(filter, known, method, limits, work,
                                                         allocator, &made, &whole, NULL, error);
    if (status != TEPAL_OK) {
        return status;
    }
    tepal_filter_free(made);
    uint64_t before = whole.members_absent;
    uint64_t more = whole.false_negatives > before ? whole.false_negatives - before : 0;
    uint64_t runs = room - 2 < MOST_RUNS ? room - 2 : MOST_RUNS;
    runs = runs < more ? runs : more;
    struct tepal_retouch_point last = {.false_negatives = before};
    size_t at = 0;
    points[at++] = last;
    for (uint64_t i = 0; i < runs; i++) {
        struct tepal_retouch_report part;
        limits.lost = before + more * i / runs;
        (void)work_phase(work, (double)(MOST_RUNS - runs + i + 2) / (MOST_RUNS + 1));
        status = tepal_generalized_retouch(filter, known, method, limits, work, allocator, &made,
                                           &part, NULL, error);
        if (status != TEPAL_OK) {
            return status;
        }
        tepal_filter_free(made);
        struct tepal_retouch_point point = point_of(&part);
        if (point.false_negatives >= last.false_negatives &&
            point.removed_weight > last.removed_weight &&
            point.removed_weight < whole.removed_weight) {
            points[at++] = point;
            last = point;
        }
    }
    points[at++] = point_of(&whole);
    *count = at;
    if (report != NULL) {
        *report = whole;
    }
    return TEPAL_OK;
}
