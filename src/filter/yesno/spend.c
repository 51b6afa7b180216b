/*
 * spend.c: members given up. What no no-filter takes without vetoing a member goes where it costs
 * least, as long as the options tolerate that: those first that remove most for what they cost.
 *
 * A member that two no-filters veto is paid for twice, which errs on the safe side.
 */
#include "filter/yesno/internal.h"

#include <math.h>
#include <stdlib.h>

/* What is paid, or may be: members, and their weight. */
struct price {
    uint64_t members;
    double weight;
};

bool tepal_yesno_tolerates(const struct tepal_yesno_options *how)
{
    return how->false_negatives > 0 || how->false_negative_weight > 0;
}

/* Does f alone use a bit of member a among its first bits, up to `end`? */
static bool met(const struct yesno_veto *veto, uint32_t f, const uint32_t *end, uint32_t a)
{
    const uint32_t *bit = yesno_bits_of(veto->family->has, f);
    while (bit < end &&
           !(veto->uses[*bit] == 1 && yesno_bits_have(veto->family->risk_has, a, *bit))) {
        bit++;
    }
    return bit < end;
}

/* The members that are vetoed in no-filter j because of f alone, which is in there. */
static struct price price_of(struct yesno_run *run, uint32_t f, uint32_t j)
{
    const struct yesno_veto *veto = &run->veto[j];
    const struct yesno_family *family = veto->family;
    struct price price = {0, 0};
    const uint32_t *end = yesno_bits_end(family->has, f);
    for (const uint32_t *at = yesno_bits_of(family->has, f); at < end; at++) {
        if (veto->uses[*at] > 1) {
            continue;
        }
        const uint32_t past = family->risk.start[*at + 1];
        run->work += past - family->risk.start[*at];
        for (uint32_t x = family->risk.start[*at]; x < past; x++) {
            uint32_t a = family->risk.key[x];
            if (veto->missing[a] == 0 && !met(veto, f, at, a)) {
                price.members++;
                price.weight += known_weight_of(run->in->member_weights, family->member[a]);
            }
        }
    }
    return price;
}

/* By weight if that is limited, else by number. */
static double cost(const struct yesno_run *run, struct price price)
{
    return run->how->false_negative_weight > 0 ? price.weight : (double)price.members;
}

static bool affordable(struct price price, struct price budget)
{
    return price.members <= budget.members && price.weight <= budget.weight;
}

/* Where f costs least. YESNO_HOMELESS: more than the budget everywhere. */
static uint32_t cheapest(struct yesno_run *run, uint32_t f, struct price budget,
                         struct price *least)
{
    uint32_t best = YESNO_HOMELESS;
    for (uint32_t j = 0; j < run->vetoes; j++) {
        (void)tepal_yesno_place(run, f, j, UINT64_MAX);
        struct price here = price_of(run, f, j);
        tepal_yesno_displace(run, f);
        if (affordable(here, budget) &&
            (best == YESNO_HOMELESS || cost(run, here) < cost(run, *least))) {
            best = j;
            *least = here;
        }
    }
    return best;
}

enum tepal_status tepal_yesno_spend(struct yesno_run *run)
{
    const struct tepal_yesno_options *how = run->how;
    struct price budget = {how->false_negatives > 0 ? how->false_negatives : UINT64_MAX,
                           how->false_negative_weight > 0 ? how->false_negative_weight
                                                          : (double)INFINITY};
    struct price price = {0, 0};
    uint32_t count;
    struct known_weight *left = tepal_yesno_list_heavy(run, &count);
    if (left == NULL) {
        return TEPAL_NO_MEMORY;
    }
    for (uint32_t i = 0; i < count && !tepal_yesno_stopped(run); i++) {
        uint32_t home = cheapest(run, left[i].key, budget, &price);
        left[i].weight = home == YESNO_HOMELESS  ? -1
                         : cost(run, price) == 0 ? (double)INFINITY
                                                 : left[i].weight / cost(run, price);
    }
    qsort(left, count, sizeof *left, tepal_known_heavier);
    for (uint32_t i = 0; i < count && left[i].weight >= 0 && !tepal_yesno_stopped(run); i++) {
        uint32_t home = cheapest(run, left[i].key, budget, &price);
        if (home != YESNO_HOMELESS) {
            (void)tepal_yesno_place(run, left[i].key, home, UINT64_MAX);
            budget.members -= price.members;
            budget.weight -= price.weight;
        }
    }
    return TEPAL_OK;
}
