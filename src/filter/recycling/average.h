/*
 * average.h: the rule `average` message by message, for the loops over lines: what average.c keeps
 * in the filter is held here while a batch lasts, and a rate is the line between two entries of the
 * filter's table. Sums, rates and decisions are those of average.c.
 */
#ifndef TEPAL_SRC_FILTER_RECYCLING_AVERAGE_H
#define TEPAL_SRC_FILTER_RECYCLING_AVERAGE_H

#include "filter/recycling/internal.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

/* One copy in each file, if it needs any: what is done once for 64 messages, or seldom. */
#define APART static __attribute__((noinline, unused))

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
    double inverse; /* 1 / cells */
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
APART uint64_t average_rate(struct tepal_recycling *r, struct average_segment *segment,
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

/* Of 64 arrivals: the cells that those before it have set, and those of them that both have. */
struct average_group {
    uint32_t ones[65];
    uint32_t both[65];
};

/*
 * The sum of 64 rates, which a double holds. AVX-512 divides by the reciprocal and two corrections:
 * the first leaves less than a unit in the last place, from where the second one rounds as a
 * division does (P. Markstein, Computation of elementary functions on the IBM RISC System/6000
 * processor, 1990).
 */
static inline double average_add(const struct average_segment *s, const struct average_run *run,
                                 double start, const uint32_t *more)
{
#if defined(__AVX512F__)
    const __m512d by = _mm512_set1_pd(run->cells);
    const __m512d inverse = _mm512_set1_pd(run->inverse);
    __m512d sum = _mm512_setzero_pd();
    for (size_t i = 0; i < 64; i += 8) {
        __m512d from =
            _mm512_add_pd(_mm512_set1_pd(start),
                          _mm512_cvtepi32_pd(_mm256_loadu_si256((const void *)(more + i))));
        __m512d at = _mm512_mul_pd(from, inverse);
        at = _mm512_fmadd_pd(_mm512_fnmadd_pd(at, by, from), inverse, at);
        at = _mm512_fmadd_pd(_mm512_fnmadd_pd(at, by, from), inverse, at);
        at = _mm512_sub_pd(_mm512_mul_pd(at, _mm512_set1_pd(RATE_STEPS)), _mm512_set1_pd(s->step));
        at = _mm512_add_pd(_mm512_set1_pd(s->low), _mm512_mul_pd(at, _mm512_set1_pd(s->rise)));
        sum = _mm512_add_pd(sum, _mm512_cvtps_pd(_mm512_cvtpd_ps(at)));
    }
    return _mm512_reduce_add_pd(sum);
#else
    double sums[8] = {0};
    for (size_t i = 0; i < 64; i += 8) {
        for (size_t j = 0; j < 8; j++) {
            double at = (start + (double)(int32_t)more[i + j]) / run->cells * RATE_STEPS;
            sums[j] += (double)(float)(s->low + (at - (int32_t)s->step) * s->rise);
        }
    }
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7]));
#endif
}

/*
 * The sum of the rates before each of the arrivals, as average_rate has them, and the rate after
 * the last. Those of one segment are computed side by side. They have 24 digits and rise: if the
 * last is below 2^20 times the first, a double holds the sum of 64 of them exactly.
 */
APART bool average_sum(struct tepal_recycling *r, struct average_segment *segment,
                       const struct average_run *run, uint64_t from, const uint32_t *more,
                       wide_int *sum, uint64_t *after)
{
    const uint64_t first = average_rate(r, segment, run->cells, from);
    const struct average_segment s = *segment;
    const uint64_t last = average_rate(r, segment, run->cells, from + more[64]);
    *after = last;
    if (s.step != segment->step || s.rise < 0 || last >> 62 != 0) {
        return false;
    }
    *sum = wide_of(0);
    if (last == 0) {
        return true; /* no cell is shared in the first cycle */
    }
    if (first >> 24 == 0 || last >> 20 > first) { /* a unit and less would be cut off, too */
        return false;
    }
    double all = average_add(&s, run, (double)(int64_t)from, more);
    int64_t high = (int64_t)(all * 0x1p32);
    int64_t low = (int64_t)((all * 0x1p32 - (double)high) * 0x1p32);
    *sum = wide_add(wide_join((uint64_t)high >> 32, (uint64_t)high << 32), wide_of((uint64_t)low));
    return true;
}

/*
 * As average_arrives and average_took one after the other, for arrivals none of which is the
 * trigger. Nearly always nothing has to be clamped, so that the sum of what is told is the sum of
 * its parts.
 */
APART void average_group(struct tepal_recycling *r, struct average_run *run,
                         const struct average_group *group, uint64_t ones)
{
    wide_int active;
    wide_int shared;
    const uint64_t both = run->both;
    uint64_t rate;
    uint64_t shared_rate;
    run->safe -= 64;
    if (wide_high(run->frozen) == 0 && wide_low(run->frozen) >> 63 == 0 &&
        average_sum(r, &run->active, run, ones, group->ones, &active, &rate) &&
        average_sum(r, &run->shared, run, both, group->both, &shared, &shared_rate) &&
        shared_rate <= wide_low(run->frozen)) {
        wide_int frozen = wide_times(run->frozen, wide_of(64));
        run->told_sum = wide_add(run->told_sum, wide_sub(wide_add(frozen, active), shared));
        run->cycle_sum = wide_add(run->cycle_sum, active);
        run->arrivals += 64;
        run->cycle_arrivals += 64;
        run->both += group->both[64];
        run->rate = rate;
        run->told =
            wide_clamp(wide_sub(wide_add(run->frozen, wide_of(rate)), wide_of(shared_rate)));
        return;
    }
    for (size_t i = 1; i <= 64; i++) {
        average_arrives(run);
        average_took(r, run, ones + group->ones[i], both + group->both[i] - run->both);
    }
}

#endif
