/*
 * expect.c: what the model expects of a packet's walk back, and what is possible at most.
 *
 * Without wildcards a router of the path is found if the filter still knows it, and the walk ends
 * at the first that it has forgotten; fates are taken for independent. With wildcards none is
 * missed. A router beside the path is then asked with w bits ignored, those of the routers between
 * it and the victim; of the others, which only earlier routers can have touched, a share is 0 that
 * follows from what the sender began with (eq. (7)). Whatever the sender wrote, the bound for w
 * ignored bits holds for a router whose bits the sender does not know: docs/models.md.
 */
#include <math.h>

#include <tepal/papers.h>

#include "traceback/traceback.h"

static uint32_t resets(const struct tepal_params *p)
{
    return p->kind == TEPAL_KIND_GENERALIZED ? (uint32_t)p->generalized.reset_hashes : 0;
}

static uint32_t tolerance(const struct tepal_params *p)
{
    return p->kind == TEPAL_KIND_GENERALIZED ? (uint32_t)p->generalized.tolerance : 0;
}

/* A router that is asked with `wild` bits ignored, when `before` routers added others earlier. */
static double passes_wild(const struct tepal_params *p, uint64_t wild, uint32_t before,
                          double zeros)
{
    uint32_t k0 = resets(p);
    uint32_t k1 = p->hashes - k0;
    double share = tepal_generalized_zero(p->cells, before, k0, k1, zeros);
    uint64_t left = p->cells - wild;
    return tepal_generalized_fp_wild(p->cells, wild, (uint64_t)llround(share * (double)left), k0,
                                     k1, tolerance(p));
}

/* The mean over the routers of a path of what passes beside them. */
static double mean_wild(const struct tepal_params *p, uint32_t hops, double zeros)
{
    double missed = log1p(-1 / (double)p->cells);
    double sum = 0;
    for (uint32_t age = 0; age < hops; age++) {
        double touched = -expm1(missed * p->hashes * (age + 1.0));
        uint64_t wild = (uint64_t)llround(touched * (double)p->cells);
        sum += passes_wild(p, wild, hops - 1 - age, zeros);
    }
    return sum / hops;
}

/* The share of zeros at which the most pass: a grid, then a finer one around its best. */
static double worst_wild(const struct tepal_params *p, uint32_t hops)
{
    double best = 0.5;
    double highest = mean_wild(p, hops, best);
    for (double width = 0.5; width > 0.001; width /= 4) {
        double middle = best;
        for (int i = -4; i <= 4; i++) {
            double zeros = fmin(fmax(middle + width * i / 4, 0), 1);
            double mean = mean_wild(p, hops, zeros);
            if (mean > highest) {
                highest = mean;
                best = zeros;
            }
        }
    }
    return best;
}

enum tepal_status foresee(struct traceback *t, uint32_t hops)
{
    const struct tepal_params *p = &t->armed;
    struct forecast *f = &t->forecast[hops];
    uint64_t ages[ROUTE_HOPS + 1] = {0};
    struct tepal_generalized_errors rates;
    enum tepal_status status = TEPAL_OK;
    if (f->known) {
        return TEPAL_OK;
    }
    f->known = true;
    if (t->wild) {
        f->zeros = t->tuned ? worst_wild(p, hops)
                            : 1 - (double)p->generalized.ones / TEPAL_GENERALIZED_UNIT;
        return TEPAL_OK;
    }
    if (p->kind != TEPAL_KIND_GENERALIZED) {
        f->fp = tepal_bloom_fp(p->layout, p->positions, p->cells, hops, p->hashes);
    } else {
        for (uint32_t i = 0; i < hops; i++) {
            ages[i] = i;
        }
        status = tepal_generalized_rates(p, hops, ages, hops, f->keeps, &rates);
        f->fp = rates.fp;
    }
    for (uint32_t i = 0; i < hops && status == TEPAL_OK; i++) {
        f->keeps[i] = p->kind == TEPAL_KIND_GENERALIZED ? 1 - f->keeps[i] : 1;
    }
    return status;
}

/* The most that any bits pass with so many ignored; each is computed once. */
static double most_wild(struct traceback *t, uint64_t wild)
{
    const struct tepal_params *p = &t->armed;
    uint32_t k0 = resets(p);
    if (t->bound[wild] == 0) {
        t->bound[wild] =
            tepal_generalized_fp_bound_wild(p->cells, wild, k0, p->hashes - k0, tolerance(p));
    }
    return t->bound[wild];
}

void expect(struct traceback *t, uint32_t hops, const uint32_t *candidates, const uint64_t *wild,
            struct tally *sum)
{
    const struct forecast *f = &t->forecast[hops];
    double reach = 1;
    for (uint32_t age = 0; age < hops; age++) {
        double fp = t->wild ? passes_wild(&t->armed, wild[age], hops - 1 - age, f->zeros) : f->fp;
        reach *= t->wild ? 1 : f->keeps[age];
        sum->expected_hops += reach;
        sum->expected_branches += reach * candidates[age] * fp;
        sum->most_branches += candidates[age] * (t->wild ? most_wild(t, wild[age])
                                                         : tepal_params_fp_bound(&t->armed));
    }
    sum->expected_full += reach;
}
