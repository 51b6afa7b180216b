/*
 * sample.h: a sample of a stream's keys, watched exactly: how many of their repeats were answered
 * "not seen"? That is the only way to know the false negatives of a filter while it runs.
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

#define TRACE_KEYS ((size_t)1 << 14) /* watched at most */

struct sample_key {
    uint64_t id; /* 0: none */
    uint64_t repeats;
    uint64_t missed;
};

struct sample {
    uint64_t mask; /* a key is watched if these bits of its hash are 0 */
    size_t used;
    struct sample_key *slot; /* 2 * TRACE_KEYS of them */
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

#endif
