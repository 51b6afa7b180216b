/*
 * average.h: the rule `average` message by message, for the loops over lines: what average.c keeps
 * in the filter is held here while a batch lasts, and a rate is the line between two entries of the
 * filter's table. Sums, rates and decisions are those of average.c.
 */
#ifndef TEPAL_SRC_FILTER_RECYCLING_AVERAGE_H
#define TEPAL_SRC_FILTER_RECYCLING_AVERAGE_H

#include "filter/recycling/internal.h"

/* The rates of phases between two steps of the table. */
struct average_segment {
    uint32_t step; /* RATE_STEPS: none yet */
    double low;
    double rise;
};

struct average_run {
    wide_int told_sum;
    wide_int cycle_sum;
    uint64_t arrivals;
    uint64_t cycle_arrivals;
    uint64_t told;
    uint64_t rate;
    uint64_t both; /* of the active phase and the newest frozen one */
    wide_int frozen;
    uint64_t safe;
    double cells;
    struct average_segment active;
    struct average_segment shared;
};

/* Take the account out of the filter, and put it back. Segments stay as they are. */
void tepal_average_load(struct tepal_recycling *r, struct average_run *run);
void tepal_average_store(struct tepal_recycling *r, const struct average_run *run);

/* The segment from this step on. */
struct average_segment tepal_average_segment(struct tepal_recycling *r, uint32_t step);

/*
 * rho, as rate_of in average.c has it on layouts other than flat. Numbers of cells are below 2^63,
 * and so are rates below 1/2: as signed numbers they are converted by one instruction.
 */
static inline uint64_t average_rate(struct tepal_recycling *r, struct average_segment *segment,
                                    double cells, uint64_t ones)
{
    double at = (double)(int64_t)ones / cells * RATE_STEPS;
    uint32_t step = at < RATE_STEPS - 1 ? (uint32_t)(int32_t)at : RATE_STEPS - 1;
    if (step != segment->step) {
        *segment = tepal_average_segment(r, step);
    }
    double rate = (float)(segment->low + (at - (int32_t)step) * segment->rise);
    return rate < 0.5 ? (uint64_t)(int64_t)(rate * 0x1p64)
           : rate < 1 ? (uint64_t)(rate * 0x1p64)
                      : UINT64_MAX;
}

/* A message, before it is inserted. */
static inline void average_arrives(struct average_run *run)
{
    run->told_sum = wide_add(run->told_sum, wide_of(run->told));
    run->cycle_sum = wide_add(run->cycle_sum, wide_of(run->rate));
    run->arrivals++;
    run->cycle_arrivals++;
}

/* The active phase has so many ones now, and `shared` more with the newest frozen one. */
static inline void average_took(struct tepal_recycling *r, struct average_run *run, uint64_t ones,
                                uint64_t shared)
{
    run->rate = average_rate(r, &run->active, run->cells, ones);
    wide_int told = wide_add(run->frozen, wide_of(run->rate));
    if (r->phases > 1) {
        run->both += shared;
        told = wide_sub(told, wide_of(average_rate(r, &run->shared, run->cells, run->both)));
    }
    run->told = wide_clamp(told);
}

#endif
