/* recycling_report.c: all that the model says of a recycling filter, by name. */
#include "base/refuse.h"
#include "model/model.h"
#include "model/recycling.h"

#include <math.h>

static const char *reason_of(const struct tepal_recycling_setting *s)
{
    if (s->phases < 1 || s->phases > 64) {
        return "the number of phases must be at least 1 (and at most 64)";
    }
    if (!tepal_model_recycling_valid(s, true)) {
        return "no such filter: check bits, hash functions and layout";
    }
    if (s->hashes != 0 && s->sigma != 0 && s->sigma < s->hashes) {
        return "sigma must be at least the number of hash functions";
    }
    if (s->sigma >= s->bits) {
        return "sigma must be less than the bits of a phase";
    }
    return "give the number of hash functions, or a false-positive rate to plan for";
}

static enum tepal_status by_sigma(const struct tepal_params *params, double fp,
                                  struct tepal_recycling_setting *s,
                                  struct tepal_recycling_rates *rates, struct tepal_error *error)
{
    if (params->recycling.rule != TEPAL_RECYCLING_SIGMA) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "the model needs a filter that recycles by sigma, by count or by average");
    }
    if (!tepal_model_recycling_valid(s, s->sigma == 0)) {
        return refuse(error, TEPAL_BAD_ARGUMENT, reason_of(s));
    }
    if (s->sigma == 0 && !(fp > 0 && fp < 1)) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "give sigma, or a false-positive rate between 0 and 1");
    }
    if (s->sigma == 0 && tepal_recycling_best_sigma(s, fp, rates) != TEPAL_OK) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "no sigma achieves this average rate: use more bits or fewer hash functions");
    }
    if (params->recycling.limit != 0) {
        (void)tepal_recycling_average(s, TEPAL_RECYCLING_AUTO, rates);
    }
    return TEPAL_OK;
}

/* No bits: the fewest that keep the rate. */
static enum tepal_status by_count(const struct tepal_params *params, double fp,
                                  struct tepal_recycling_setting *s,
                                  struct tepal_recycling_rates *rates, struct tepal_error *error)
{
    s->sigma = 0;
    if (s->bits != 0 && !tepal_model_recycling_valid(s, true)) {
        return refuse(error, TEPAL_BAD_ARGUMENT, reason_of(s));
    }
    if (tepal_recycling_for_count(s, params->recycling.limit, fp, rates) != TEPAL_OK) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "no filter that counts so many messages: give bits (other layouts than flat "
                      "need them), or a false-positive rate between 0 and 1");
    }
    return TEPAL_OK;
}

/* What is told of any of them. */
static void report_setting(const struct tepal_recycling_setting *s, const char *rule,
                           struct tepal_report *report)
{
    report->count = 0;
    report->numbers = 0;
    tepal_report_text(report, "kind", "the kind of filter", "recycling");
    tepal_report_text(report, "layout", "where the cells of a key are",
                      tepal_layout_name(s->layout));
    tepal_report_text(report, "positions", "may two positions of a key be the same?",
                      tepal_positions_name(s->positions));
    tepal_report_integer(report, "bits", "M, bits per phase", s->bits);
    tepal_report_integer(report, "phases", "p", s->phases);
    tepal_report_integer(report, "hashes", "k", s->hashes);
    tepal_report_text(report, "rule", "when a phase is full: sigma, count or average", rule);
}

/* On a stream that may repeat itself; by sigma if fp is NaN. */
static enum tepal_status report_stream(const struct tepal_recycling_setting *s, double fp,
                                       const struct tepal_recycling_stream *stream,
                                       struct tepal_report *report, struct tepal_error *error)
{
    const struct tepal_recycling_stream all_new = {.law = TEPAL_STREAM_UNKNOWN};
    struct tepal_recycling_outlook on;
    if (tepal_recycling_on_stream(s, fp, stream == NULL ? &all_new : stream, &on) != TEPAL_OK) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "the stream is not a distribution of gaps");
    }
    tepal_report_real(
        report, "fp_new",
        s->phases > 2 ? "share of this stream's new messages that are taken for repeats, at most"
                      : "share of this stream's new messages that are taken for repeats",
        on.fp);
    tepal_report_real(report, "fn", "share of its repeats that are taken for new ones", on.fn);
    if (isfinite(on.period)) {
        tepal_report_real(report, "arrivals_per_cycle", "from one recycling to the next",
                          on.period);
    } else {
        tepal_report_absent(report, "arrivals_per_cycle", "it is never full");
    }
    tepal_report_real(report, "messages_on_stream", "of them, different messages", on.messages);
    return TEPAL_OK;
}

/* By average: the rate itself is the limit, and as many hashes are best as sigma would want. */
static enum tepal_status report_average(const struct tepal_params *params,
                                        const struct tepal_use *use, struct tepal_report *report,
                                        struct tepal_error *error)
{
    struct tepal_recycling_setting s = model_recycling_setting(params);
    struct tepal_recycling_rates rates;
    double fp =
        params->recycling.limit != 0 ? ldexp((double)params->recycling.limit, -64) : use->fp;
    s.sigma = 0;
    s.retain = true;
    if (s.keep_trigger) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "by average the trigger opens the new phase");
    }
    if (!(fp > 0 && fp < 1)) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "give a false-positive rate between 0 and 1");
    }
    if (!tepal_model_recycling_valid(&s, true)) {
        return refuse(error, TEPAL_BAD_ARGUMENT, reason_of(&s));
    }
    struct tepal_recycling_setting best = s;
    if (s.hashes == 0 && tepal_recycling_best_sigma(&best, fp, &rates) != TEPAL_OK) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "no such filter keeps this rate: use more bits, or give the hash functions");
    }
    s.hashes = best.hashes;
    report_setting(&s, "average", report);
    tepal_report_real(report, "fp", "the rate that it keeps", fp);
    enum tepal_status status = report_stream(&s, fp, use->stream, report, error);
    tepal_report_real(report, "messages_least",
                      "messages that a full phase holds at least on average, on any stream",
                      tepal_recycling_least(&s, fp));
    return status;
}

enum tepal_status tepal_model_recycling(const struct tepal_params *params,
                                        const struct tepal_use *use, struct tepal_report *report,
                                        struct tepal_error *error)
{
    struct tepal_recycling_setting s = model_recycling_setting(params);
    struct tepal_recycling_rates rates;
    bool counts = params->recycling.rule == TEPAL_RECYCLING_COUNT;
    if (params->recycling.rule == TEPAL_RECYCLING_AVERAGE) {
        return report_average(params, use, report, error);
    }
    if (counts && use->stream != NULL) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "a stream needs a filter that recycles by sigma or by average");
    }
    enum tepal_status status = counts ? by_count(params, use->fp, &s, &rates, error)
                                      : by_sigma(params, use->fp, &s, &rates, error);
    if (status != TEPAL_OK) {
        return status;
    }
    uint64_t n =
        counts ? params->recycling.limit : (uint64_t)llround(fmax(rates.messages_from_zero, 1));
    report_setting(&s, counts ? "count" : "sigma", report);
    if (counts) {
        tepal_report_absent(report, "sigma", "it counts messages");
        tepal_report_integer(report, "messages",
                             "it recycles when more than this many messages would have set bits",
                             n);
    } else {
        tepal_report_integer(report, "sigma", "it recycles when more than this many bits are set",
                             s.sigma);
        tepal_report_absent(report, "messages", "it recycles by sigma");
    }
    tepal_report_flag(report, "retain", "is the trigger the first message of the new cycle?",
                      s.retain);
    tepal_report_flag(report, "keep_trigger", "does the trigger stay in the frozen phase?",
                      s.keep_trigger);
    tepal_report_text(report, "method", "the exact sweep, or the closed form for many bits",
                      rates.method == TEPAL_RECYCLING_SWEEP ? "sweep" : "closed");
    tepal_report_text(report, "counting", "each message once, when it first arrives (Sec. II-E)",
                      "count-instance");
    tepal_report_real(report, "fp_average",
                      "long-term false-positive rate, eqs. (18) and (26), or by count",
                      rates.fp_average);
    tepal_report_real(report, "fp_active",
                      "false-positive rate of the active phase alone, eq. (18), or by count",
                      rates.fp_active);
    if (s.phases > 1) {
        tepal_report_real(report, "fp_frozen",
                          "false-positive rate of one frozen phase, eqs. (24), (25)",
                          rates.fp_frozen);
    } else {
        tepal_report_absent(report, "fp_frozen", "one phase: none is frozen");
    }
    tepal_report_real(report, "fp_full", "false-positive rate of one full phase, eq. (17) or (1)",
                      rates.fp_full);
    tepal_report_real(report, "messages_per_cycle", "new messages from one recycling to the next",
                      rates.messages_per_cycle);
    tepal_report_real(report, "messages_from_zero",
                      "E[N0]: messages from empty to the trigger, inclusive",
                      rates.messages_from_zero);
    tepal_report_real(report, "capacity", "messages that a phase holds on average when it is full",
                      rates.messages_per_cycle);
    static const struct {
        const char *fp, *fp_about, *capacity, *capacity_about;
    } bound[] = {
        {"fp_worst", "f_w: rate after n messages, eq. (1)", "capacity_worst",
         "the largest n with that f_w"},
        {"fp_oracle", "f_o: average over n new messages, eq. (2)", "capacity_oracle",
         "the largest n with that f_o"},
        {"fp_actual",
         "f_a: a lower bound for a filter that counts n messages that set bits, eq. (3)",
         "capacity_actual", "the largest n with that f_a"},
    };
    double fp = use->fp > 0 && use->fp < 1 ? use->fp : rates.fp_average;
    bool flat = s.layout == TEPAL_LAYOUT_FLAT;
    if (flat) {
        tepal_report_integer(report, "n",
                             "messages, or E[N0] as a whole number: for the next three", n);
        tepal_report_real(report, "fp", "the rate of the capacities: as given, or fp_average", fp);
    }
    for (size_t i = 0; i < sizeof bound / sizeof *bound; i++) {
        uint32_t k = params->hashes;
        enum tepal_recycling_bound which = (enum tepal_recycling_bound)i;
        if (flat) {
            tepal_report_real(report, bound[i].fp, bound[i].fp_about,
                              tepal_recycling_bound_rate(which, s.positions, s.bits, n, s.hashes));
            tepal_report_integer(report, bound[i].capacity, bound[i].capacity_about,
                                 tepal_recycling_capacity(which, s.positions, s.bits, fp, &k));
        } else {
            tepal_report_absent(report, bound[i].fp, "only for the flat layout");
            tepal_report_absent(report, bound[i].capacity, "only for the flat layout");
        }
    }
    return use->stream == NULL ? TEPAL_OK : report_stream(&s, NAN, use->stream, report, error);
}
