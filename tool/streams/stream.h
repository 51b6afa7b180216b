/*
 * stream.h: a recycling filter from the options of the commands that watch streams (dedup, gaps,
 * app admit): --memory or --lines, --fp, --rule, --phases, --sigma or --count or --every or
 * --within, --only-misses, --hashes, --layout.
 */
#ifndef TOOL_STREAMS_STREAM_H
#define TOOL_STREAMS_STREAM_H

#include <tepal/papers.h>
#include <tepal/params.h>
#include <tepal/recycling.h>

#include "cli/command.h"

#define STREAM_MEMORY ((uint64_t)64 << 20) /* bytes, unless --memory says otherwise */
#define STREAM_PHASES 2
#define STREAM_WITHIN 8 /* phases, for --within */
#define STREAM_FP     0.01
#define STREAM_LEAST  0x1p-54 /* rates below are kept by sigma: units of 2^-64 are too coarse */

/* The bits of one phase when `phases` share `bytes`: whole words, or whole lines. 0: too little. */
uint64_t stream_phase_bits(uint64_t bytes, uint32_t phases, enum tepal_layout layout);

/* The layout of --layout; blocked if it is not given. */
enum tepal_layout stream_layout(const struct args *args);

/*
 * The best filter of so many bytes by sigma at an average of `fp`: fills in *setting (retaining)
 * and *rates. `hashes` 0: the best number. False: no sigma keeps that rate in so little memory.
 */
bool stream_plan(enum tepal_layout layout, uint64_t bytes, uint32_t phases, uint32_t hashes,
                 double fp, struct tepal_recycling_setting *setting,
                 struct tepal_recycling_rates *rates);

/*
 * The parameters that the options ask for, the seed aside. Options that are not given mean what
 * `before` says (a filter to go on with), or the defaults if that is NULL. EXIT_YES, or
 * EXIT_TROUBLE after having said why.
 */
int stream_params(const struct args *args, const struct tepal_params *before,
                  struct tepal_params *params);

/*
 * The bits of one of several phases that keep an average of fp when `lines` different lines come
 * while it is active; *hashes, if 0, becomes the best number. 0: there is no such filter.
 */
uint64_t stream_bits_for(enum tepal_layout layout, uint32_t phases, uint64_t lines, double fp,
                         uint32_t *hashes);

/* How long a phase is active so that what came within `frame` is remembered. At least 2 phases. */
uint64_t stream_every(uint64_t frame, uint32_t phases);

/* By --rule, is it this one? */
bool stream_by(const struct args *args, const char *rule);

/* A rate as the limit of the rule average, and back. */
uint64_t stream_limit(double fp);
double stream_rate(uint64_t limit);

/*
 * The average rate of a filter is told down to here: by the table of a phase's rate, whose first
 * step ends at 1/128 of the bits. 0: it is exact.
 */
double stream_floor(const struct tepal_params *params);

/* What the model says of a filter that recycles by sigma. False for the other rules. */
bool stream_rates(const struct tepal_params *params, struct tepal_recycling_setting *setting,
                  struct tepal_recycling_rates *rates);

#define OPTION_MEMORY                                                                              \
    OPTION('M', "memory", OF_SIZE(1, (uint64_t)1 << 56),                                           \
           "The memory of the filter in bytes, all phases together (default 64Mi).")

#define OPTION_STREAM_FP                                                                           \
    OPTION('p', "fp", OF_VALUE(TAKES_RATE, "RATE"),                                                \
           "The share of new lines that may be taken for repeats, on average, as 1%, 0.01, 1e-2 "  \
           "or 1/100 (default 1%). It decides when to recycle, unless another option does.")

#define OPTION_STREAM_RULE                                                                         \
    OPTION(0, "rule", OF_CHOICE("RULE", "average sigma"),                                          \
           "How --fp decides when to recycle: by average (default), which keeps it for new "       \
           "lines on streams that repeat, too; or by sigma, at a fixed fill, which loses more "    \
           "new lines the more the stream repeats.")

#define OPTION_PHASES                                                                              \
    OPTION(0, "phases", OF_WHOLE("P", 1, TEPAL_MAX_PHASES),                                        \
           "Divide the memory into P phases; recycling forgets the oldest (default 2).")

#define OPTION_SIGMA                                                                               \
    OPTION(0, "sigma", OF_WHOLE("S", 1, (uint64_t)1 << 60),                                        \
           "Recycle when more than S bits of a phase would be set.")

#define OPTION_CYCLE_COUNT                                                                         \
    OPTION(0, "count", OF_WHOLE("N", 1, UINT64_MAX), "Recycle after N lines that set bits.")

#define OPTION_EVERY                                                                               \
    OPTION(0, "every", OF_VALUE(TAKES_DURATION, "TIME"),                                           \
           "Recycle at this interval, as 90s, 10m or 2h: with 2 phases of 10m a line is "          \
           "remembered for at least 10 and at most 20 minutes.")

#define OPTION_WITHIN                                                                              \
    OPTION(0, "within", OF_VALUE(TAKES_DURATION, "TIME"),                                          \
           "Remember every line for TIME, and forget smoothly: with P phases (default 8) a phase " \
           "lasts TIME / (P - 1), and a line is forgotten at most that long after TIME.")

#define OPTION_LINES                                                                               \
    OPTION(0, "lines", OF_WHOLE("N", 1, (uint64_t)1 << 50),                                        \
           "Instead of --memory: as much as the model needs to keep --fp if N different lines "    \
           "come while a phase is active.")

#define OPTION_STREAM_ONLY_MISSES                                                                  \
    FLAG(0, "only-misses",                                                                         \
         "Remember a line from when it was last printed as new, not from when it was last seen: "  \
         "a line that keeps coming is printed again and again.")

#define OPTION_STREAM_HASHES                                                                       \
    OPTION('k', "hashes", OF_WHOLE("K", 1, TEPAL_MAX_HASHES),                                      \
           "The number of hash functions (default: the best for the other parameters).")

#define OPTION_STREAM_LAYOUT                                                                       \
    OPTION('l', "layout", OF_CHOICE("LAYOUT", LAYOUT_WORDS),                                       \
           "Where the bits of a line are: blocked (default) is the fastest, flat remembers "       \
           "somewhat more in the same memory.")

#endif
