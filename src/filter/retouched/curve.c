/*
 * curve.c: how the removed false positives grow with the members given up, step by step.
 *
 *     removed  |        .  .   .       a point after every `stride`-th step; when the caller's room
 *              |   . .                 is full every other point goes and the stride doubles, so
 *              | ..                    that any number of steps leaves between half of the room and
 *              +-------------- lost    all of it
 */
#include "filter/retouched/internal.h"

void tepal_retouch_note(struct retouch *run)
{
    struct retouch_curve *curve = run->curve;
    if (curve == NULL || curve->steps++ % curve->stride != 0) {
        return;
    }
    if (curve->count == curve->room - 1) { /* the last place is kept for the end */
        size_t kept = 0;
        for (size_t i = 0; i < curve->count; i += 2) {
            curve->points[kept++] = curve->points[i];
        }
        curve->count = kept;
        curve->stride *= 2;
        if ((curve->steps - 1) % curve->stride != 0 || kept == curve->room - 1) {
            return;
        }
    }
    curve->points[curve->count++] = (struct tepal_retouch_point){
        run->lost_count, run->lost_weight, run->gone_targets, run->gone_weight};
}

size_t tepal_retouch_curve_end(struct retouch_curve *curve,
                               const struct tepal_retouch_report *report)
{
    struct tepal_retouch_point *points = curve->points;
    /* The end is what the whole run gives, revived members and all. */
    while (curve->count > 0 &&
           (points[curve->count - 1].false_negatives >= report->false_negatives ||
            points[curve->count - 1].removed_weight > report->removed_weight)) {
        curve->count--;
    }
    points[curve->count++] =
        (struct tepal_retouch_point){report->false_negatives, report->lost_weight,
                                     report->removed_inside, report->removed_weight};
    return curve->count;
}
