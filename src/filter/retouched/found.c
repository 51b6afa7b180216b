/*
 * found.c: who is found before anything is changed.
 *
 *     members --ask--> found | earlier victims, or strangers
 *     avoid   --ask--> false positives: `wanted` | members (passed over) | not found
 *     others  --ask--> further false positives: `others` | not found
 *
 * and the list that the methods work on: the wanted ones in the order in which they are to be
 * taken, then the others if the methods are to count them too.
 */
#include "filter/retouched/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/refuse.h"
#include "filter/known/digest_set.h"

/* ---- members --------------------------------------------------------------------------------- */

/* Is less than half of what must be found, found? A retouched filter has lost some before. */
static bool strangers(const struct retouch *run, size_t found)
{
    const struct tepal_filter *head = &run->from->head;
    const uint64_t *own = head->state.own;
    double expected = (double)run->in->member_count;
    if (head->ops == &tepal_retouched_ops && own[RETOUCHED_MEMBERS] > 0) {
        expected *= 1 - (double)own[RETOUCHED_VICTIMS] / (double)own[RETOUCHED_MEMBERS];
    }
    return (double)found < expected / 2;
}

/*
 * `lost` := the members that are not found. Those of a retouched filter are its earlier victims;
 * those of a Bloom filter were never added, and their bits are not theirs to give.
 */
static enum tepal_status find_members(struct retouch *run, struct tepal_error *error)
{
    size_t n = run->in->member_count;
    struct tepal_retouch_report *report = &run->report;
    run->lost = tepal_arena_bitmap(&run->arena, n);
    if (run->lost == NULL) {
        return TEPAL_NO_MEMORY;
    }
    size_t found = tepal_filter_query_many(&run->from->head, run->in->members, n, run->lost);
    tepal_bits_invert(run->lost, n);
    if (strangers(run, found)) {
        return refuse(
            error, TEPAL_MISMATCH,
            "most of the given members are not in the filter: they cannot be its members");
    }
    report->members = n;
    report->members_absent = n - found;
    for (size_t i = 0; i < n; i++) {
        double weight = retouch_member_weight(run, (uint32_t)i);
        report->member_weight += weight;
        if (bits_test(run->lost, i)) {
            run->lost_weight += weight;
        }
    }
    run->lost_count = n - found;
    if (run->from->head.ops != &tepal_retouched_ops && found < n) {
        run->foreign = tepal_arena_bitmap(&run->arena, n);
        if (run->foreign == NULL) {
            return TEPAL_NO_MEMORY;
        }
        memcpy(run->foreign, run->lost, (n + 63) / 64 * 8);
    }
    return TEPAL_OK;
}

/* ---- false positives ------------------------------------------------------------------------- */

/*
 * `wanted` and `others` (bitmaps over avoid and others): those that are found; of the wanted,
 * members are taken out, unless they are to be removed; of the others, those that are wanted.
 */
static enum tepal_status find_falses(struct retouch *run)
{
    const struct tepal_known *in = run->in;
    struct tepal_retouch_report *report = &run->report;
    run->wanted = tepal_arena_bitmap(&run->arena, in->avoid_count);
    if (in->others != NULL) {
        run->others = tepal_arena_bitmap(&run->arena, in->other_count);
    }
    struct arena_piece *last = run->arena.last;
    uint64_t *both = tepal_arena_bitmap(&run->arena, in->avoid_count);
    if (run->wanted == NULL || (in->others != NULL && run->others == NULL) || both == NULL) {
        return TEPAL_NO_MEMORY;
    }
    report->avoid_given = in->avoid_count;
    report->avoid_positive =
        tepal_filter_query_many(&run->from->head, in->avoid, in->avoid_count, run->wanted);
    struct digest_set set;
    if (!tepal_digest_set_make(&run->arena, in->avoid, in->avoid_count, run->wanted, &set)) {
        return TEPAL_NO_MEMORY;
    }
    report->avoid_members = tepal_digest_set_meet(&set, in->members, in->member_count, both);
    if (run->others != NULL) {
        report->others_positive =
            tepal_filter_query_many(&run->from->head, in->others, in->other_count, run->others);
        for (size_t i = 0; i < in->other_count; i++) {
            if (bits_test(run->others, i) &&
                tepal_digest_set_find(&set, in->others[i]) != DIGEST_SET_NONE) {
                bits_clear(run->others, i);
            }
        }
    }
    if (!run->how->remove_members) {
        tepal_bits_remove(run->wanted, both, (in->avoid_count + 63) / 64);
        report->avoid_positive -= report->avoid_members;
    }
    tepal_arena_release(&run->arena, last);
    return TEPAL_OK;
}

static enum tepal_status sort_by_weight(struct retouch *run)
{
    struct arena_piece *last = run->arena.last;
    struct known_weight *order = tepal_arena_take(&run->arena, run->targets, sizeof *order);
    if (order == NULL) {
        return TEPAL_NO_MEMORY;
    }
    for (uint32_t f = 0; f < run->targets; f++) {
        order[f] = (struct known_weight){retouch_false_weight(run, f), run->falses[f]};
    }
    qsort(order, run->targets, sizeof *order, tepal_known_heavier);
    for (uint32_t f = 0; f < run->targets; f++) {
        run->falses[f] = order[f].key;
    }
    tepal_arena_release(&run->arena, last);
    return TEPAL_OK;
}

/* The false positives as a list: B, and behind it the others if they are counted too. */
static enum tepal_status list_falses(struct retouch *run)
{
    const struct tepal_known *in = run->in;
    bool aimed = run->how->method != TEPAL_RETOUCH_RANDOM_BITS; /* which aims at nothing */
    bool all = aimed && run->how->basis == TEPAL_RETOUCH_BASIS_ALL &&
               run->how->method != TEPAL_RETOUCH_SACRIFICE;
    uint64_t count = aimed ? run->report.avoid_positive : 0;
    count += all ? tepal_bits_count(run->others, (in->other_count + 63) / 64) : 0;
    run->falses = tepal_arena_take(&run->arena, count, sizeof *run->falses);
    if (run->falses == NULL) {
        return TEPAL_NO_MEMORY;
    }
    for (size_t i = 0; aimed && i < in->avoid_count; i++) {
        if (bits_test(run->wanted, i)) {
            run->falses[run->targets++] = (uint32_t)i;
        }
    }
    if (run->how->order == TEPAL_RETOUCH_ORDER_WEIGHT && in->avoid_weights != NULL) {
        enum tepal_status status = sort_by_weight(run);
        if (status != TEPAL_OK) {
            return status;
        }
    }
    run->false_count = run->targets;
    for (size_t i = 0; all && i < in->other_count; i++) {
        if (bits_test(run->others, i)) {
            run->falses[run->false_count++] = (uint32_t)i;
        }
    }
    return TEPAL_OK;
}

enum tepal_status tepal_retouch_find(struct retouch *run, struct tepal_error *error)
{
    enum tepal_status status =
        run->blind ? tepal_retouch_blind_open(run, error) : find_members(run, error);
    if (status == TEPAL_OK) {
        status = find_falses(run);
    }
    return status == TEPAL_OK ? list_falses(run) : status;
}
