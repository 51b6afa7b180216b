/* stream.c: memory and a rate in, phases, hashes and sigma out. */
#include "streams/stream.h"

#include <inttypes.h>

#include "cli/options.h"

uint64_t stream_phase_bits(uint64_t bytes, uint32_t phases, enum tepal_layout layout)
{
    uint64_t unit = tepal_layout_in_lines(layout) ? TEPAL_LINE_BITS / 8 : 8;
    uint64_t bits = bytes / phases / unit * unit * 8;
    return bytes > ((uint64_t)1 << 57) ? 0 : bits;
}

enum tepal_layout stream_layout(const struct args *args)
{
    enum tepal_layout layout = TEPAL_LAYOUT_BLOCKED;
    arg_layout(args, &layout);
    return layout;
}

bool stream_plan(enum tepal_layout layout, uint64_t bytes, uint32_t phases, uint32_t hashes,
                 double fp, struct tepal_recycling_setting *setting,
                 struct tepal_recycling_rates *rates)
{
    struct tepal_recycling_setting s = TEPAL_RECYCLING_SETTING_INIT;
    s.layout = layout;
    s.bits = stream_phase_bits(bytes, phases, layout);
    s.hashes = hashes;
    s.phases = phases;
    s.retain = true;
    if (s.bits == 0 || tepal_recycling_plan(&s, fp, rates) != TEPAL_OK) {
        return false;
    }
    *setting = s;
    return true;
}

/* ---- one thing after the other --------------------------------------------------------------- */

struct wish {
    const struct args *args;
    const struct tepal_params *before; /* NULL: none */
    struct tepal_recycling_options was;
    uint64_t bytes;
    double fp;
    uint32_t hashes; /* 0: any */
    struct tepal_params params;
    struct tepal_recycling_options options;
};

static bool given(const struct wish *w, const char *id)
{
    return arg(w->args, id)->given;
}

/* Layout, phases and the bits of each. */
static int shape(struct wish *w)
{
    w->params.layout =
        w->before != NULL && !given(w, "layout") ? w->before->layout : stream_layout(w->args);
    w->options.phases = given(w, "phases")  ? (uint32_t)arg(w->args, "phases")->whole
                        : w->before != NULL ? w->was.phases
                                            : STREAM_PHASES;
    w->bytes = given(w, "memory")  ? arg(w->args, "memory")->whole
               : w->before != NULL ? w->before->cells / 8 * w->was.phases
                                   : STREAM_MEMORY;
    w->params.cells = stream_phase_bits(w->bytes, w->options.phases, w->params.layout);
    if (w->params.cells > 0) {
        return EXIT_YES;
    }
    return args_error(w->args,
                      "--memory %" PRIu64 ": %s: %" PRIu32 " phase%s of the %s layout need%s at "
                      "least %" PRIu32 " bytes",
                      w->bytes, w->bytes > 1024 ? "too much" : "too little for one line",
                      w->options.phases, w->options.phases == 1 ? "" : "s",
                      tepal_layout_name(w->params.layout), w->options.phases == 1 ? "s" : "",
                      w->options.phases * (tepal_layout_in_lines(w->params.layout) ? 64u : 8u));
}

static int plan_sigma(struct wish *w)
{
    struct tepal_recycling_setting s;
    struct tepal_recycling_rates rates;
    if (!stream_plan(w->params.layout, w->bytes, w->options.phases, w->hashes, w->fp, &s, &rates)) {
        return args_error(
            w->args, "the rate cannot be kept: give more --memory, a higher --fp, other --hashes "
                     "or --layout flat");
    }
    w->options.limit = s.sigma;
    w->params.hashes = s.hashes;
    return EXIT_YES;
}

/* The number of hashes with the lowest average at a given sigma. */
static uint32_t best_hashes(const struct wish *w, uint64_t sigma)
{
    uint32_t most = w->params.layout == TEPAL_LAYOUT_BLOCKED ? TEPAL_MAX_HASHES_BLOCKED : 32;
    uint32_t best = 1;
    double least = 2;
    for (uint32_t k = 1; k <= most && k <= sigma; k++) {
        struct tepal_recycling_setting s = {w->params.layout,
                                            w->params.positions,
                                            w->params.cells,
                                            k,
                                            sigma,
                                            w->options.phases,
                                            true,
                                            false};
        struct tepal_recycling_rates rates;
        if (tepal_recycling_average(&s, TEPAL_RECYCLING_CLOSED, &rates) == TEPAL_OK &&
            rates.fp_average < least) {
            least = rates.fp_average;
            best = k;
        }
    }
    return best;
}

/* When it recycles, and with how many hashes. */
static int rule(struct wish *w)
{
    if (given(w, "sigma")) {
        w->options.rule = TEPAL_RECYCLING_SIGMA;
        w->options.limit = arg(w->args, "sigma")->whole;
        if (w->options.limit >= w->params.cells) {
            return args_error(
                w->args, "--sigma %s: a phase has %" PRIu64 " bits, and sigma must be below that",
                arg(w->args, "sigma")->text, w->params.cells);
        }
        w->params.hashes = w->hashes != 0 ? w->hashes : best_hashes(w, w->options.limit);
        return EXIT_YES;
    }
    if (given(w, "count")) {
        w->options.rule = TEPAL_RECYCLING_COUNT;
        w->options.limit = arg(w->args, "count")->whole;
        w->params.hashes = w->hashes != 0
                               ? w->hashes
                               : tepal_bloom_best_hashes(w->params.layout, w->params.positions,
                                                         w->params.cells, w->options.limit);
        return EXIT_YES;
    }
    if (given(w, "every")) {
        if (plan_sigma(w) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
        w->options.rule = TEPAL_RECYCLING_TIME;
        w->options.limit = arg(w->args, "every")->whole;
        return EXIT_YES;
    }
    bool as_before = w->before != NULL && !given(w, "fp") && !given(w, "memory") &&
                     !given(w, "phases") && !given(w, "layout");
    if (as_before) {
        w->options = w->was;
        w->params.hashes = w->hashes != 0 ? w->hashes : w->before->hashes;
        return EXIT_YES;
    }
    w->options.rule = TEPAL_RECYCLING_SIGMA;
    return plan_sigma(w);
}

int stream_params(const struct args *args, const struct tepal_params *before,
                  struct tepal_params *params)
{
    static const struct tepal_params none = TEPAL_PARAMS_INIT;
    static const struct tepal_recycling_options usual = TEPAL_RECYCLING_OPTIONS_INIT;
    struct wish w = {.args = args, .before = before, .params = none, .options = usual};
    const struct option_value *fp = arg(args, "fp");
    const char *why = "";
    w.fp = fp->given ? fp->real : STREAM_FP;
    w.hashes = (uint32_t)arg(args, "hashes")->whole;
    if (before != NULL) {
        w.was = tepal_recycling_options_of(before);
    }
    if (shape(&w) != EXIT_YES || rule(&w) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    w.options.only_misses = given(&w, "only-misses") || w.was.only_misses;
    tepal_recycling_set_options(&w.params, &w.options);
    if (tepal_params_check(&w.params, &why) != TEPAL_OK) {
        return args_error(args, "%s", why);
    }
    *params = w.params;
    return EXIT_YES;
}

bool stream_rates(const struct tepal_params *params, struct tepal_recycling_setting *setting,
                  struct tepal_recycling_rates *rates)
{
    struct tepal_recycling_options o = tepal_recycling_options_of(params);
    *setting = (struct tepal_recycling_setting){params->layout, params->positions, params->cells,
                                                params->hashes, o.limit,           o.phases,
                                                o.retain,       o.keep_trigger};
    return o.rule == TEPAL_RECYCLING_SIGMA &&
           tepal_recycling_average(setting, TEPAL_RECYCLING_AUTO, rates) == TEPAL_OK;
}
