/*
 * exact.c: the least weight that can be left, by branch and bound.
 *
 * Start from what local-search leaves. Then decide one false positive after the other: which
 * no-filter it goes to, or that it is left out. No-filters only fill up as one descends, so that
 * what fits nowhere now fits nowhere below: its weight is lost for the whole branch, and a branch
 * that has lost as much as the best is given up.
 *
 *   - next is the one that fits the fewest no-filters: branches die early;
 *   - what a no-filter covers already (it would gain no bit) goes there, and nothing else is tried:
 *     it costs nothing;
 *   - of several empty no-filters that hash alike only the first is tried.
 */
#include "filter/yesno/internal.h"

#include <string.h>

/* Deeper recursions are not begun: such instances are far beyond the method anyway. */
#define MOST_FALSES 2000

struct exact {
    struct yesno_run *run;
    uint8_t *out;  /* decided: left out */
    uint8_t *best; /* homes */
    double best_left;
    double lost; /* the weight of those left out */
    bool cut;    /* something was not tried */
};

/* The no-filters that would take f, as bits; *covered if one would gain nothing, and that alone. */
static uint64_t takers(const struct exact *e, uint32_t f, bool *covered)
{
    struct yesno_run *run = e->run;
    uint64_t set = 0;
    *covered = false;
    for (uint32_t j = 0; j < run->vetoes; j++) {
        if (tepal_yesno_place(run, f, j, 0)) {
            tepal_yesno_displace(run, f);
            set |= (uint64_t)1 << j;
            if (tepal_yesno_gain(run, f, j) == 0) {
                *covered = true;
                return (uint64_t)1 << j;
            }
        }
    }
    return set;
}

static bool is_empty(const struct yesno_run *run, uint32_t j)
{
    if (run->veto[j].held) {
        return false;
    }
    for (uint32_t f = 0; f < run->falses; f++) {
        if (run->home[f] == j) {
            return false;
        }
    }
    return true;
}

/* The next to decide, and where it may go. False: all are decided. */
struct choice {
    uint32_t f;
    uint64_t set;
    bool covered;
    double doomed; /* the weight of all that fit nowhere any more */
};

static bool choose(const struct exact *e, struct choice *choice)
{
    struct yesno_run *run = e->run;
    bool any = false;
    uint32_t fewest = 0;
    choice->doomed = 0;
    for (uint32_t f = 0; f < run->falses; f++) {
        if (e->out[f] || run->home[f] != YESNO_HOMELESS) {
            continue;
        }
        bool covered;
        uint64_t set = takers(e, f, &covered);
        uint32_t count = bits_count_word(set);
        if (count == 0) {
            choice->doomed += run->weight[f];
            continue;
        }
        if (!any || covered || count < fewest ||
            (count == fewest && run->weight[f] > run->weight[choice->f])) {
            choice->f = f;
            choice->set = set;
            choice->covered = covered;
            fewest = count;
            any = true;
        }
        if (covered) {
            return true;
        }
    }
    return any;
}

static void descend(struct exact *e)
{
    struct yesno_run *run = e->run;
    struct choice c = {0};
    if (tepal_yesno_ended(run)) {
        e->cut = true;
        return;
    }
    bool any = choose(e, &c);
    double sure = e->lost + c.doomed;
    if (sure >= e->best_left) {
        return;
    }
    if (!any) {
        e->best_left = sure;
        memcpy(e->best, run->home, run->falses);
        return;
    }
    bool tried_empty = false;
    for (uint32_t j = 0; j < run->vetoes; j++) {
        if ((c.set >> j & 1) == 0) {
            continue;
        }
        if (run->families == 1 && is_empty(run, j)) {
            if (tried_empty) {
                continue;
            }
            tried_empty = true;
        }
        (void)tepal_yesno_place(run, c.f, j, 0);
        descend(e);
        tepal_yesno_displace(run, c.f);
    }
    if (!c.covered) {
        e->out[c.f] = 1;
        e->lost += run->weight[c.f];
        descend(e);
        e->lost -= run->weight[c.f];
        e->out[c.f] = 0;
    }
}

enum tepal_status tepal_yesno_exact(struct yesno_run *run)
{
    enum tepal_status status = tepal_yesno_local_search(run);
    double left = tepal_yesno_left(run);
    if (status != TEPAL_OK || run->proved || left == 0) {
        return status;
    }
    struct exact e = {.run = run, .best_left = left};
    e.out = tepal_arena_take(&run->arena, run->falses, 1);
    e.best = tepal_arena_take(&run->arena, run->falses, 1);
    if (e.out == NULL || e.best == NULL) {
        return TEPAL_NO_MEMORY;
    }
    memcpy(e.best, run->home, run->falses);
    if (run->falses > MOST_FALSES) {
        return TEPAL_OK;
    }
    tepal_yesno_limit(run, run->how->steps != 0 ? run->how->steps : 20000000);
    tepal_yesno_empty(run);
    descend(&e);
    run->proved = !e.cut;
    tepal_yesno_limit(run, YESNO_UNLIMITED);
    tepal_yesno_empty(run);
    for (uint32_t f = 0; f < run->falses; f++) {
        if (e.best[f] != YESNO_HOMELESS) {
            (void)tepal_yesno_place(run, f, e.best[f], 0);
        }
    }
    return TEPAL_OK;
}
