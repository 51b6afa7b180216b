/*
 * recycling_help.h: a recycling filter's own parameters, each with a name and a type; its figures,
 * and the bits set in each phase.
 */
#ifndef TEPAL_TESTS_RECYCLING_HELP_H
#define TEPAL_TESTS_RECYCLING_HELP_H

#include "check.h"

#include "base/processor.h"
#include "filter/recycling/internal.h"

/* The blocked layout's loops for so many hashes on this machine, up to three; returns how many. */
static inline size_t recycling_twins(uint32_t hashes, const struct recycling_kernels *twins[3])
{
    size_t count = 0;
    twins[count++] = &tepal_recycling_lines_portable;
    if (tepal_processor_has_avx2()) {
        twins[count++] = &tepal_recycling_lines_avx2;
    }
    if (tepal_processor_has_avx512() && hashes <= ADDRESS_SECTORS) {
        twins[count++] = &tepal_recycling_lines_avx512;
    }
    return count;
}

struct recycling_options {
    uint32_t phases;
    enum tepal_recycling_rule rule;
    uint64_t limit;
    bool retain;
    bool keep_trigger;
    bool only_misses;
};

#define RECYCLING_OPTIONS_INIT                                                                     \
    {                                                                                              \
        2, TEPAL_RECYCLING_SIGMA, 0, true, false, false                                            \
    }

static inline void set_recycling(struct tepal_params *params,
                                 const struct recycling_options *options)
{
    params->kind = TEPAL_KIND_RECYCLING;
    memset(params->own, 0, sizeof params->own);
    params->recycling.phases = options->phases;
    params->recycling.rule = (uint64_t)options->rule;
    params->recycling.limit = options->limit;
    params->recycling.flags = (options->retain ? TEPAL_RECYCLING_RETAIN : 0u) |
                              (options->keep_trigger ? TEPAL_RECYCLING_KEEP_TRIGGER : 0u) |
                              (options->only_misses ? TEPAL_RECYCLING_ONLY_MISSES : 0u);
}

static inline struct recycling_options recycling_options_of(const struct tepal_params *params)
{
    uint64_t flags = params->recycling.flags;
    return (struct recycling_options){
        .phases = (uint32_t)params->recycling.phases,
        .rule = (enum tepal_recycling_rule)params->recycling.rule,
        .limit = params->recycling.limit,
        .retain = (flags & TEPAL_RECYCLING_RETAIN) != 0,
        .keep_trigger = (flags & TEPAL_RECYCLING_KEEP_TRIGGER) != 0,
        .only_misses = (flags & TEPAL_RECYCLING_ONLY_MISSES) != 0,
    };
}

/* The figures of a filter that is known to be of this kind. */
static inline struct tepal_recycling_figures recycling_figures(const struct tepal_filter *filter)
{
    struct tepal_recycling_figures figures;
    assert_ok(tepal_recycling_get_figures(filter, &figures));
    return figures;
}

/* The bits set in a phase, counted: 0 is the active one, 1 the one frozen last. */
static inline uint64_t phase_ones(const struct tepal_filter *filter, uint32_t age)
{
    const struct tepal_recycling *r = (const struct tepal_recycling *)filter;
    assert_true(age < r->phases);
    const uint64_t *words = recycling_words(r, recycling_phase(r, age));
    uint64_t ones = 0;
    for (size_t i = 0; i < r->phase_words; i++) {
        ones += (uint64_t)__builtin_popcountll(words[i]);
    }
    return ones;
}

#endif
