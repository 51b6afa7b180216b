/*
 * stream.h: a recycling filter from the options of the commands that watch streams (dedup, gaps,
 * app admit): --memory, --fp, --phases, --sigma or --count or --every, --only-misses, --hashes,
 * --layout.
 */
#ifndef TOOL_STREAMS_STREAM_H
#define TOOL_STREAMS_STREAM_H

#include <tepal/model.h>
#include <tepal/params.h>
#include <tepal/recycling.h>

#include "cli/command.h"

#define STREAM_MEMORY ((uint64_t)64 << 20) /* bytes, unless --memory says otherwise */
#define STREAM_PHASES 2
#define STREAM_FP     0.01

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

/* What the model says of a filter that recycles by sigma. False for the other rules. */
bool stream_rates(const struct tepal_params *params, struct tepal_recycling_setting *setting,
                  struct tepal_recycling_rates *rates);

extern const struct option option_memory;
extern const struct option option_stream_fp;
extern const struct option option_phases;
extern const struct option option_sigma;
extern const struct option option_cycle_count;
extern const struct option option_every;
extern const struct option option_stream_only_misses;
extern const struct option option_stream_hashes;
extern const struct option option_stream_layout;

#endif
