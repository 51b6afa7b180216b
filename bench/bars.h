/*
 * bars.h: speed as ratios with a bound. A runner is something that is timed: it does its work once
 * for a sample of keys and returns the nanoseconds per key. Runners of one table take turns, round
 * by round, so that a noisy machine hurts all of them alike, and the median round counts. Each
 * runs nine times in a row and only the last time counts: what the one before it left in the
 * cache, be it the same filter or another one, helps or hurts nobody. (Fewer are not enough: a
 * cuckoo filter of 25 MB takes 32 ns a lookup at first, 18 in the fourth run, 14 from the seventh
 * on.) A bar is the ratio of two runners and the most that it should be; it is printed and never
 * asserted.
 */
#ifndef TEPAL_BENCH_BARS_H
#define TEPAL_BENCH_BARS_H

#include "timing.h"

#include "mix.h"

#define BARS_RUNS 9 /* of a runner in a round, of which the last one counts */

struct runner {
    const char *name;
    double (*run)(void *context); /* nanoseconds per key */
    void *context;
    double ns; /* the median */
};

/* What all tables share: where rows go, and what keeps the compiler from dropping answers. */
struct bars {
    struct options options;
    const char *only; /* the one table that is wanted, or NULL: all */
    uint64_t keys;    /* the one number of keys that is wanted, or 0: all */
    bool first;       /* no row was printed yet */
    size_t missed;
    size_t judged; /* rows with a bound */
};

extern volatile uint64_t bars_sink;
extern size_t bars_rounds;

/* Is a table of so many keys wanted? */
bool bars_wanted(const struct bars *bars, uint64_t n);

/* Fills in `ns` of each. */
void bars_measure(struct runner *runners, size_t count);

/* The runner of this name; it must be there. */
const struct runner *bars_find(const struct runner *runners, size_t count, const char *name);

/*
 * One row: ours / other and its bound. `fp` and `other_fp` are false-positive rates, or NAN;
 * so is the bound of a row that is only told. `n` is the number of keys, or 0.
 */
void bars_row(struct bars *bars, const char *what, uint64_t n, double ours, double other,
              double at_most, double fp, double other_fp);

/* The tables. */
void bars_one(struct bars *bars);    /* one key at a time: one_bars.c */
void bars_batch(struct bars *bars);  /* batches of integers and strings: batch_bars.c */
void bars_kinds(struct bars *bars);  /* other kinds, counting bits: kinds_bars.c */
void bars_growth(struct bars *bars); /* larger filters, a second thread: growth_bars.c */

/* ---- keys and filters ------------------------------------------------------------------------ */

/* Key number i of all benchmarks; numbers below n are members, those from n on are not. */
static inline void bars_keys(uint64_t *keys, uint64_t first, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        keys[i] = bench_mix(first + i);
    }
}

/*
 * Keys that take turns: a run takes the next sample, so that it finds the cells of other keys in
 * the cache, as a program does, and not those of its own.
 */
#define BARS_SAMPLES 5

struct samples {
    uint64_t *keys; /* BARS_SAMPLES times `count` */
    size_t count;
    size_t next;
};

static inline struct samples bars_samples(size_t count)
{
    return (struct samples){must(malloc(BARS_SAMPLES * count * sizeof(uint64_t))), count, 0};
}

static inline const uint64_t *bars_next(struct samples *samples)
{
    samples->next = (samples->next + 1) % BARS_SAMPLES;
    return samples->keys + samples->next * samples->count;
}

/* A filter of `cells` cells and `hashes` hashes (0: the best) for n keys; or the end. */
struct tepal_filter *bars_filter(enum tepal_kind_id kind, enum tepal_layout layout, uint64_t cells,
                                 uint32_t hashes, uint64_t n);

#endif
