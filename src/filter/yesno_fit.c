/*
 * yesno_fit.c: one pass over the false positives, each put somewhere or left over.
 *
 *   first fit   the paper's algorithm (Sec. III-B): the first no-filter that vetoes no member by it
 *   next fit    the same, but a no-filter that has refused once is closed: what the numbers of the
 *               paper's Sec. VIII fit
 *   best fit    of the no-filters that would take it, the one that gains the fewest ones
 */
#include "filter/yesno.h"

static uint32_t nth(const uint32_t *order, uint32_t i)
{
    return order == NULL ? i : order[i];
}

void tepal_yesno_first_fit(struct yesno_run *run, const uint32_t *order)
{
    for (uint32_t i = 0; i < run->falses; i++) {
        for (uint32_t j = 0; j < run->vetoes; j++) {
            if (tepal_yesno_place(run, nth(order, i), j, 0)) {
                break;
            }
        }
    }
}

void tepal_yesno_next_fit(struct yesno_run *run)
{
    uint32_t open = 0;
    for (uint32_t f = 0; f < run->falses && open < run->vetoes; f++) {
        while (open < run->vetoes && !tepal_yesno_place(run, f, open, 0)) {
            open++;
        }
    }
}

/* The no-filters by gain, fewest first, earlier ones first among equals. */
static void by_gain(const struct yesno_run *run, uint32_t f, uint32_t *filters)
{
    uint32_t gain[TEPAL_YESNO_MOST_FILTERS];
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

void tepal_yesno_best_fit(struct yesno_run *run, const uint32_t *order)
{
    uint32_t filters[TEPAL_YESNO_MOST_FILTERS];
    for (uint32_t i = 0; i < run->falses; i++) {
        uint32_t f = nth(order, i);
        by_gain(run, f, filters);
        for (uint32_t j = 0; j < run->vetoes; j++) {
            if (tepal_yesno_place(run, f, filters[j], 0)) {
                break;
            }
        }
    }
}
