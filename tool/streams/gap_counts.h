/*
 * gap_counts.h: the gaps of a stream. The gap of an arrival is how many arrivals ago the same key
 * came before; keys that come for the first time have none. Gaps are counted in bins: one for each
 * up to 63, then 32 for every doubling, each with its own mean, so that the distribution takes
 * little memory, however long the stream, and its integral is exact at the edges of the bins.
 */
#ifndef TOOL_STREAMS_GAP_COUNTS_H
#define TOOL_STREAMS_GAP_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tepal/hash.h>
#include <tepal/model.h>

#include "output/out.h"

#define GAPCOUNT_BINS (64 + 58 * 32)

struct gap_counts_key {
    struct tepal_digest digest;
    uint64_t last; /* when it came, from 1; 0: none */
};

struct gap_counts {
    uint64_t below;    /* a key is watched if its hash (trace_hash) is not above */
    uint64_t arrivals; /* of all keys, watched or not */
    uint64_t watched;  /* arrivals of keys that are watched */
    uint64_t longest;
    uint64_t count[GAPCOUNT_BINS];
    double sum[GAPCOUNT_BINS];
    struct gap_counts_key *slot; /* a hash table */
    size_t slots;
    size_t keys; /* distinct, of those watched */
};

/* The bin of a gap of 1 or more. */
size_t gap_counts_bin(uint64_t gap);

/* Watch the share `sample` of the keys: 1 is all of them. */
void gap_counts_init(struct gap_counts *gaps, double sample);
void gap_counts_free(struct gap_counts *gaps);

/* The next arrivals. False: no memory. */
bool gap_counts_note(struct gap_counts *gaps, const struct tepal_digest *digests, size_t count);

/* Of the watched arrivals: how many were repeats, and the share of those that were not. */
uint64_t gap_counts_repeats(const struct gap_counts *gaps);
double gap_counts_fresh(const struct gap_counts *gaps);

/* Distinct keys of the whole stream, estimated from those watched. */
double gap_counts_distinct(const struct gap_counts *gaps);

/* The gap that the share q of the repeats does not exceed, to the resolution of the bins. */
double gap_counts_quantile(const struct gap_counts *gaps, double q);

/* As the model wants it; `gap` and `survival` have room for GAPCOUNT_BINS and belong to the caller.
 */
struct tepal_gaps gap_counts_steps(const struct gap_counts *gaps, double *gap, double *survival);

/* The distribution as lines: gap, repeats, survival; comments with the totals first. */
void gap_counts_print(const struct gap_counts *gaps, double sample, struct out *out);

#endif
