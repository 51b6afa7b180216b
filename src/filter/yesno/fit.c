/*
 * fit.c: one pass over the false positives, each put somewhere or left over.
 *
 *   first fit   the paper's algorithm (Sec. III-B): the first no-filter that vetoes no member by it
 *   next fit    the same, but a no-filter that has refused once is closed: what the numbers of the
 *               paper's Sec. VIII fit
 *   best fit    of the no-filters that would take it, the one that gains the fewest ones
 */
#include "filter/yesno/internal.h"

#include <stdlib.h>

#include "filter/known/known.h"

/* Into the first no-filter that takes it, if it has no home. */
static void fit(struct yesno_run *run, uint32_t f)
{
    for (uint32_t j = 0; j < run->vetoes && run->home[f] == YESNO_HOMELESS; j++) {
        (void)tepal_yesno_place(run, f, j, 0);
    }
}

/*
 * What a no-filter takes does not depend on the others, so that all can try the first one, and then
 * the rest of them the next: a no-filter at a time is in the cache. Where the end of the work may
 * come between two false positives, they go one after the other.
 */
void tepal_yesno_first_fit(struct yesno_run *run)
{
    bool limited = run->most_work != UINT64_MAX;
    for (uint32_t j = 0; j < run->vetoes && !limited; j++) {
        tepal_yesno_place_all(run, j);
    }
    for (uint32_t f = 0; limited && f < run->falses && !tepal_yesno_stopped(run); f++) {
        fit(run, f);
    }
}

/* The last no-filter is never closed: that is what the paper's Fig. 16 was measured with. */
void tepal_yesno_next_fit(struct yesno_run *run)
{
    uint32_t open = 0;
    for (uint32_t f = 0; f < run->falses && run->vetoes > 0 && !tepal_yesno_stopped(run); f++) {
        while (!tepal_yesno_place(run, f, open, 0) && open + 1 < run->vetoes) {
            open++;
        }
    }
}

/* The no-filters by gain, fewest first, earlier ones first among equals. */
static void by_gain(const struct yesno_run *run, uint32_t f, uint32_t *filters)
{
    uint32_t gain[TEPAL_MAX_NO_FILTERS];
    for (uint32_t j = 0; j < run->vetoes; j++) {
        uint32_t here = tepal_yesno_gain(run, f, j);
        uint32_t at = j;
        while (at > 0 && gain[at - 1] > here) {
            gain[at] = gain[at - 1];
            filters[at] = filters[at - 1];
            at--;
        }
        gain[at] = here;
        filters[at] = j;
    }
}

void tepal_yesno_best_fit(struct yesno_run *run)
{
    uint32_t filters[TEPAL_MAX_NO_FILTERS];
    for (uint32_t f = 0; f < run->falses && !tepal_yesno_stopped(run); f++) {
        by_gain(run, f, filters);
        for (uint32_t j = 0; j < run->vetoes; j++) {
            if (tepal_yesno_place(run, f, filters[j], 0)) {
                break;
            }
        }
    }
}

/* ---- by weight ------------------------------------------------------------------------------- */

struct known_weight *tepal_yesno_list_heavy(struct yesno_run *run, uint32_t *count)
{
    struct known_weight *left = tepal_arena_take(&run->arena, run->falses, sizeof *left);
    *count = 0;
    if (left == NULL) {
        return NULL;
    }
    for (uint32_t f = 0; f < run->falses; f++) {
        if (run->home[f] == YESNO_HOMELESS) {
            left[(*count)++] = (struct known_weight){run->weight[f], f};
        }
    }
    qsort(left, *count, sizeof *left, tepal_known_heavier);
    return left;
}

enum tepal_status tepal_yesno_heavy_fit(struct yesno_run *run)
{
    uint32_t count;
    const struct known_weight *left = tepal_yesno_list_heavy(run, &count);
    if (left == NULL) {
        return TEPAL_NO_MEMORY;
    }
    for (uint32_t i = 0; i < count && !tepal_yesno_stopped(run); i++) {
        fit(run, left[i].key);
    }
    return TEPAL_OK;
}
