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

enum tepal_status tepal_model_recycling(const struct tepal_params *params,
                                        const struct tepal_use *use, struct tepal_report *report,
                                        struct tepal_error *error)
{
    struct tepal_recycling_setting s = model_recycling_setting(params);
    double fp = use->fp;
    struct tepal_recycling_rates rates;
    if (params->recycling.rule != TEPAL_RECYCLING_SIGMA) {
        return refuse(error, TEPAL_BAD_ARGUMENT, "the model needs a filter that recycles by sigma");
    }
    if (!tepal_model_recycling_valid(&s, s.sigma == 0)) {
        return refuse(error, TEPAL_BAD_ARGUMENT, reason_of(&s));
    }
    if (s.sigma == 0 && !(fp > 0 && fp < 1)) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "give sigma, or a false-positive rate between 0 and 1");
    }
    if (s.sigma == 0 && tepal_recycling_best_sigma(&s, fp, &rates) != TEPAL_OK) {
        return refuse(error, TEPAL_BAD_ARGUMENT,
                      "no sigma achieves this average rate: use more bits or fewer hash functions");
    }
    if (params->recycling.limit != 0) {
        (void)tepal_recycling_average(&s, TEPAL_RECYCLING_AUTO, &rates);
    }
    uint64_t n = (uint64_t)llround(fmax(rates.messages_from_zero, 1));
    report->count = 0;
    report->numbers = 0;
    tepal_report_text(report, "kind", "the kind of filter", "recycling");
    tepal_report_text(report, "layout", "where the cells of a key are",
                      tepal_layout_name(s.layout));
    tepal_report_text(report, "positions", "may two positions of a key be the same?",
                      tepal_positions_name(s.positions));
    tepal_report_integer(report, "bits", "M, bits per phase", s.bits);
    tepal_report_integer(report, "phases", "p", s.phases);
    tepal_report_integer(report, "hashes", "k", s.hashes);
    tepal_report_integer(report, "sigma", "it recycles when more than this many bits are set",
                         s.sigma);
    tepal_report_flag(report, "retain", "is the trigger the first message of the new cycle?",
                      s.retain);
    tepal_report_flag(report, "keep_trigger", "does the trigger stay in the frozen phase?",
                      s.keep_trigger);
    tepal_report_text(report, "method", "the exact sweep, or the closed form for many bits",
                      rates.method == TEPAL_RECYCLING_SWEEP ? "sweep" : "closed");
    tepal_report_text(report, "counting", "each message once, when it first arrives (Sec. II-E)",
                      "count-instance");
    tepal_report_real(report, "fp_average", "long-term false-positive rate, eqs. (18), (26)",
                      rates.fp_average);
    tepal_report_real(report, "fp_active",
                      "false-positive rate of the active phase alone, eq. (18)", rates.fp_active);
    if (s.phases > 1) {
        tepal_report_real(report, "fp_frozen",
                          "false-positive rate of one frozen phase, eqs. (24), (25)",
                          rates.fp_frozen);
    } else {
        tepal_report_absent(report, "fp_frozen", "one phase: none is frozen");
    }
    tepal_report_real(report, "fp_full",
                      "false-positive rate of one phase with sigma bits set, eq. (17)",
                      rates.fp_full);
    tepal_report_real(report, "messages_per_cycle", "new messages from one recycling to the next",
                      rates.messages_per_cycle);
    tepal_report_real(report, "messages_from_zero",
                      "E[N0]: messages from empty to the trigger, inclusive",
                      rates.messages_from_zero);
    tepal_report_real(report, "capacity", "messages that a phase holds on average when it is full",
                      rates.messages_per_cycle);
    bool classic = s.layout == TEPAL_LAYOUT_FLAT && s.positions == TEPAL_POSITIONS_COLLIDING;
    if (classic) {
        tepal_report_integer(report, "n", "E[N0] as a whole number, for the next three", n);
        tepal_report_real(report, "fp_worst", "f_w: rate after n messages, eq. (1)",
                          tepal_recycling_worst(s.bits, n, s.hashes));
        tepal_report_real(report, "fp_oracle", "f_o: average over n new messages, eq. (2)",
                          tepal_recycling_oracle(s.bits, n, s.hashes));
        tepal_report_real(
            report, "fp_actual",
            "f_a: average of a filter that counts to n messages that set bits, eq. (3)",
            tepal_recycling_actual(s.bits, n, s.hashes));
    } else {
        const char *about = "only for the flat layout with colliding positions";
        tepal_report_absent(report, "fp_worst", about);
        tepal_report_absent(report, "fp_oracle", about);
        tepal_report_absent(report, "fp_actual", about);
    }
    return TEPAL_OK;
}
