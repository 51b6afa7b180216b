/*
 * sample.h: a sample of a stream's keys, watched exactly: how many of their repeats were answered
 * "not seen", and which of them "seen" when they first came? That is the only way to know both
 * errors of a filter while it runs, and how many different keys there were.
 *
 * A key is in the sample if its hash says so, hence with all its arrivals. Memory is fixed: when
 * too many keys are in it, half of them leave, chosen by their hash again, with all that was
 * counted of them; so the sample is at any time one of the whole stream so far.
 */
#ifndef TOOL_STREAMS_SAMPLE_H
#define TOOL_STREAMS_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tepal/hash.h>
#include <tepal/papers.h>

#include "streams/ages.h"

#define TRACE_KEYS ((size_t)1 << 14) /* watched at most */

struct sample_key {
    uint64_t id; /* 0: none */
    uint64_t repeats;
    uint64_t missed;
    uint64_t last; /* when it was last remembered; 0 without a clock */
    bool taken;    /* its first arrival was answered "seen" */
};

struct sample {
    bool broken;   /* no memory to thin: it is no sample any more */
    uint64_t mask; /* a key is watched if these bits of its hash are 0 */
    size_t used;
    struct sample_key *slot; /* 2 * TRACE_KEYS of them */
    uint64_t now;            /* the clock of what is noted next */
    bool only_misses;        /* a key is remembered from when it was answered "not seen" */
    struct ages *ages;       /* where the ages of repeats are counted, or NULL */
};

/* The hash by which keys are sampled: independent of where a filter puts them. */
uint64_t sample_hash(struct tepal_digest digest);

/* Nothing watched yet. False: no memory. */
bool sample_init(struct sample *sample);
void sample_free(struct sample *sample);

/* Arrivals in order, and what a filter answered to each (bits as in tepal_filter_query_many). */
void sample_note(struct sample *sample, const struct tepal_digest *digests, const uint64_t *answers,
                 size_t count);

/* Of the repeats of all watched keys, the share that was answered "not seen"; NaN without any. */
double sample_missed(const struct sample *sample);

/*
 * False positives, counted in three ways, of a filter that was empty at first. Let F be 1 for a key
 * whose first arrival was answered "seen", and eta the number of its arrivals: first = sum F / sum
 * eta, each = sum F eta / sum eta, instance = sum F / number of keys. NaN without keys.
 */
struct tepal_recycling_counts sample_ways(const struct sample *sample);

/* How many different keys came, with a 95 % interval; all the same if every key was watched. */
struct sample_distinct {
    double keys;
    double low;
    double high;
};

/*
 * From the sample, and from how many arrivals of all keys were answered "not seen". A watched key
 * stands for w = mask + 1 keys, and has y such answers. Were y always 1 (no errors), `fresh` would
 * be the number of keys. It is corrected by as much as the sample shows (a regression estimate):
 *
 *     w n + b (fresh - w sum y)      b = sum y / sum y^2      variance w (w-1) sum (1 - b y)^2
 *
 * NaN if it is broken.
 */
struct sample_distinct sample_distinct(const struct sample *sample, uint64_t fresh);

#endif
