/* stream.c: memory and a rate in, phases, hashes and sigma out. */
#include "streams/stream.h"

#include <inttypes.h>
#include <string.h>

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
    if (s.bits == 0 || tepal_recycling_best_sigma(&s, fp, rates) != TEPAL_OK) {
        return false;
    }
    *setting = s;
    return true;
}

uint64_t stream_bits_for(enum tepal_layout layout, uint32_t phases, uint64_t lines, double fp,
                         uint32_t *hashes)
{
    const uint64_t unit = tepal_layout_in_lines(layout) ? TEPAL_LINE_BITS : 64;
    struct tepal_recycling_setting s = TEPAL_RECYCLING_SETTING_INIT;
    struct tepal_recycling_rates rates;
    s.hashes = *hashes;
    s.phases = phases;
    s.retain = true;
    if (tepal_recycling_for_count(&s, lines, fp, &rates) != TEPAL_OK) {
        return 0;
    }
    /* Whole words or lines; layouts with lines need up to some times as many bits as flat. */
    uint64_t most = 64 * s.bits;
    for (s.bits = (s.bits + unit - 1) / unit * unit; s.bits <= most;
         s.bits += (s.bits / 64 + unit - 1) / unit * unit) {
        struct tepal_recycling_setting t = s;
        t.layout = layout;
        t.hashes = *hashes;
        if (tepal_recycling_for_count(&t, lines, fp, &rates) == TEPAL_OK &&
            rates.fp_average <= fp) {
            *hashes = t.hashes;
            return t.bits;
        }
    }
    return 0;
}

uint64_t stream_every(uint64_t frame, uint32_t phases)
{
    return (frame + phases - 2) / (phases - 1);
}

bool stream_by(const struct args *args, const char *rule)
{
    const struct option_value *given = arg(args, "rule");
    return given->given && strcmp(given->text, rule) == 0;
}

uint64_t stream_limit(double fp)
{
    return (uint64_t)(fp * 0x1p64);
}

double stream_rate(uint64_t limit)
{
    return (double)limit * 0x1p-64;
}

double stream_floor(const struct tepal_params *p)
{
    if (p->recycling.rule == TEPAL_RECYCLING_AVERAGE && p->layout == TEPAL_LAYOUT_FLAT) {
        return 0;
    }
    return tepal_recycling_rate(p->layout, p->positions, p->cells, p->cells / 128, p->hashes);
}

/* ---- one thing after the other --------------------------------------------------------------- */

struct wish {
    const struct args *args;
    const struct tepal_params *before; /* NULL: none */
    uint64_t bytes;
    double fp;
    uint32_t hashes; /* 0: any */
    bool only_misses;
    struct tepal_params params;
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
    uint32_t phases = given(w, "phases")   ? (uint32_t)arg(w->args, "phases")->whole
                      : w->before != NULL  ? (uint32_t)w->before->recycling.phases
                      : given(w, "within") ? STREAM_WITHIN
                                           : STREAM_PHASES;
    w->bytes = given(w, "memory")  ? arg(w->args, "memory")->whole
               : w->before != NULL ? w->before->cells / 8 * w->before->recycling.phases
                                   : STREAM_MEMORY;
    w->params.recycling.phases = phases;
    if (arg_rate_kept(w->args, "fp", given(w, "lines") ? arg(w->args, "lines")->whole : 1) !=
        EXIT_YES) {
        return EXIT_TROUBLE;
    }
    if (given(w, "within") && phases < 2) {
        return args_error(w->args, "--within needs 2 phases at least");
    }
    if (given(w, "lines")) {
        w->params.cells = stream_bits_for(w->params.layout, phases, arg(w->args, "lines")->whole,
                                          w->fp, &w->hashes);
        w->bytes = w->params.cells / 8 * phases;
        return w->params.cells > 0 ? EXIT_YES
                                   : args_error(w->args, "--lines %s: no filter keeps this rate",
                                                arg(w->args, "lines")->text);
    }
    w->params.cells = stream_phase_bits(w->bytes, phases, w->params.layout);
    if (w->params.cells > 0) {
        return EXIT_YES;
    }
    return args_error(w->args,
                      "--memory %" PRIu64 ": %s: %" PRIu32 " phase%s of the %s layout need%s at "
                      "least %" PRIu32 " bytes",
                      w->bytes, w->bytes > 1024 ? "too much" : "too little for one line", phases,
                      SAY_S(phases), tepal_layout_name(w->params.layout), phases == 1 ? "s" : "",
                      phases * (tepal_layout_in_lines(w->params.layout) ? 64u : 8u));
}

/* Sigma, and hashes. */
static int plan_sigma(struct wish *w)
{
    struct tepal_recycling_setting s;
    struct tepal_recycling_rates rates;
    if (!stream_plan(w->params.layout, w->bytes, (uint32_t)w->params.recycling.phases, w->hashes,
                     w->fp, &s, &rates)) {
        return args_error(
            w->args, "the rate cannot be kept: give more --memory, a higher --fp, other --hashes "
                     "or --layout flat");
    }
    w->params.recycling.limit = s.sigma;
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
                                            (uint32_t)w->params.recycling.phases,
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

/* The rule that keeps --fp: as asked for, or as before, or the default. */
static enum tepal_recycling_rule rule_for_rate(const struct wish *w)
{
    bool before = w->before != NULL && w->before->recycling.rule == TEPAL_RECYCLING_SIGMA;
    bool other = before || w->only_misses || w->fp < STREAM_LEAST;
    bool sigma = given(w, "rule") ? stream_by(w->args, "sigma") : other;
    return sigma ? TEPAL_RECYCLING_SIGMA : TEPAL_RECYCLING_AVERAGE;
}

/* Does the filter before have the rate that is asked for, by the same rule? */
static bool has_rate(const struct wish *w, enum tepal_recycling_rule rule)
{
    const struct tepal_recycling_params *before = &w->before->recycling;
    if (given(w, "rule") && before->rule != rule) {
        return false;
    }
    return !given(w, "fp") || (before->rule == TEPAL_RECYCLING_AVERAGE && rule == before->rule &&
                               before->limit == stream_limit(w->fp));
}

static int by_rate(struct wish *w)
{
    struct tepal_recycling_params *cycle = &w->params.recycling;
    enum tepal_recycling_rule rule = rule_for_rate(w);
    if (w->before != NULL && !given(w, "memory") && !given(w, "phases") && !given(w, "layout") &&
        has_rate(w, rule)) {
        *cycle = w->before->recycling;
        w->params.hashes = w->hashes != 0 ? w->hashes : w->before->hashes;
        return EXIT_YES;
    }
    if (rule == TEPAL_RECYCLING_AVERAGE && w->only_misses) {
        return args_error(w->args, "--only-misses cannot be combined with --rule average: give "
                                   "--rule sigma, --count or --every");
    }
    cycle->rule = rule;
    if (plan_sigma(w) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    if (rule == TEPAL_RECYCLING_AVERAGE) {
        cycle->limit = stream_limit(w->fp);
    }
    return EXIT_YES;
}

/* When it recycles, and with how many hashes. */
static int rule(struct wish *w)
{
    struct tepal_recycling_params *cycle = &w->params.recycling;
    if (given(w, "sigma")) {
        cycle->rule = TEPAL_RECYCLING_SIGMA;
        cycle->limit = arg(w->args, "sigma")->whole;
        if (cycle->limit >= w->params.cells) {
            return args_error(
                w->args, "--sigma %s: a phase has %" PRIu64 " bits, and sigma must be below that",
                arg(w->args, "sigma")->text, w->params.cells);
        }
        w->params.hashes = w->hashes != 0 ? w->hashes : best_hashes(w, cycle->limit);
        return EXIT_YES;
    }
    if (given(w, "count")) {
        cycle->rule = TEPAL_RECYCLING_COUNT;
        cycle->limit = arg(w->args, "count")->whole;
        w->params.hashes = w->hashes != 0
                               ? w->hashes
                               : tepal_bloom_best_hashes(w->params.layout, w->params.positions,
                                                         w->params.cells, cycle->limit);
        return EXIT_YES;
    }
    if (given(w, "every") || given(w, "within")) {
        w->params.hashes = w->hashes;
        if (!given(w, "lines") && plan_sigma(w) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
        cycle->rule = TEPAL_RECYCLING_TIME;
        cycle->limit = given(w, "every")
                           ? arg(w->args, "every")->whole
                           : stream_every(arg(w->args, "within")->whole, (uint32_t)cycle->phases);
        return EXIT_YES;
    }
    return by_rate(w);
}

int stream_params(const struct args *args, const struct tepal_params *before,
                  struct tepal_params *params)
{
    static const struct tepal_params none = TEPAL_PARAMS_INIT;
    struct wish w = {.args = args, .before = before, .params = none};
    const struct option_value *fp = arg(args, "fp");
    struct tepal_error error = {.why = ""};
    w.fp = fp->given ? fp->real : STREAM_FP;
    w.hashes = (uint32_t)arg(args, "hashes")->whole;
    w.params.kind = TEPAL_KIND_RECYCLING;
    w.params.recycling.flags = TEPAL_RECYCLING_RETAIN;
    w.only_misses =
        given(&w, "only-misses") ||
        (before != NULL && (before->recycling.flags & TEPAL_RECYCLING_ONLY_MISSES) != 0);
    if (shape(&w) != EXIT_YES || rule(&w) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    if (w.only_misses) {
        w.params.recycling.flags |= TEPAL_RECYCLING_ONLY_MISSES;
    }
    /* What a filter from before cannot be, it is not: that is told by comparing them. */
    if (before == NULL && tepal_params_check(&w.params, &error) != TEPAL_OK) {
        return args_error(args, "%s", error.why);
    }
    *params = w.params;
    return EXIT_YES;
}

bool stream_rates(const struct tepal_params *params, struct tepal_recycling_setting *setting,
                  struct tepal_recycling_rates *rates)
{
    const struct tepal_recycling_params *cycle = &params->recycling;
    *setting = (struct tepal_recycling_setting){
        .layout = params->layout,
        .positions = params->positions,
        .bits = params->cells,
        .hashes = params->hashes,
        .sigma = cycle->limit,
        .phases = (uint32_t)cycle->phases,
        .retain = (cycle->flags & TEPAL_RECYCLING_RETAIN) != 0,
        .keep_trigger = (cycle->flags & TEPAL_RECYCLING_KEEP_TRIGGER) != 0};
    return cycle->rule == TEPAL_RECYCLING_SIGMA &&
           tepal_recycling_average(setting, TEPAL_RECYCLING_AUTO, rates) == TEPAL_OK;
}
