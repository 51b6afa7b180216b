/* recycling.h: the parts of the recycling filter's model, from the inside. */
#ifndef TEPAL_SRC_MODEL_RECYCLING_H
#define TEPAL_SRC_MODEL_RECYCLING_H

#include <tepal/papers.h>

/*
 * One cycle that begins with an empty phase: how many messages it takes, its trigger included, how
 * many of them are false positives of the active phase, and the rate of the phase that it leaves
 * frozen. Everything else follows from these three.
 */
struct recycling_cycle {
    double messages;
    double positives;
    double frozen;
};

/* Is this such a filter? (sigma aside if `planning`, and hashes if they are 0 then.) */
bool tepal_model_recycling_valid(const struct tepal_recycling_setting *s, bool planning);

/* Flat layout, exactly; pi (may be NULL) gets the expected visits of states 0 .. sigma. */
struct recycling_cycle tepal_model_recycling_sweep(const struct tepal_recycling_setting *s,
                                                   double *visits);
/* Is it a distribution: ever larger gaps, that ever fewer exceed? */
bool tepal_model_gaps_valid(const struct tepal_gaps *gaps);

/* A stream: the messages that a cycle of t arrivals takes in, and what it misses. */
struct recycling_stream {
    double (*taken)(const struct recycling_stream *stream, double t);
    /* The share of repeats missed by the phases, false positives aside. */
    double (*missed)(const struct recycling_stream *stream, double t, double phases);
    /* Of the messages taken in t arrivals, those that a cycle of `before` had taken just before. */
    double (*shared)(const struct recycling_stream *stream, double t, double before);
    double a, b, fresh;
    uint64_t keys;
    uint64_t grain; /* ranks of a popularity are taken together: 1/grain of the rank */
    const struct tepal_gaps *gaps;
    double (*survived)(const struct recycling_stream *stream, double x); /* integral of G to x */
};

/* False: there is no such stream. It refers to the gaps. */
bool tepal_model_stream(const struct tepal_recycling_stream *from, struct recycling_stream *to);

/* T, by doubling and halving; infinite if the stream never brings that many messages. */
double tepal_model_stream_period(const struct recycling_stream *stream, double messages);

/* Any layout, for large M. */
struct recycling_cycle tepal_model_recycling_closed(const struct tepal_recycling_setting *s);

/* The cycle as the rates of a setting. */
struct tepal_recycling_rates tepal_model_recycling_rates(const struct tepal_recycling_setting *s,
                                                         struct recycling_cycle cycle);

/*
 * The rate of a phase that froze, given how often a cycle's message finds each of the last k
 * states: visits[i] belongs to state sigma - i; states below 0 are not looked at.
 */
double tepal_model_recycling_frozen(const struct tepal_recycling_setting *s, const double *visits);

/* The number of keys that fill a phase to `ones` ones on average. */
double tepal_model_recycling_keys(const struct tepal_recycling_setting *s, double ones);

/* The false-positive rate after n keys, n real. */
double tepal_model_recycling_fp(const struct tepal_recycling_setting *s, double n);

/* Integral from a to b in `panels` panels of 16 points (Gauss and Legendre). */
typedef double recycling_function(const void *context, double x);
double tepal_model_recycling_integral(recycling_function *f, const void *context, double a,
                                      double b, unsigned panels);

#endif
