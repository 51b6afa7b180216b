/*
 * blind.c: retouching by whoever received the filter (Sec. VII-B) and lacks its members: Algorithms
 * 1 and 3 need none, Algorithms 2 and 4 a counting filter. Members lost, as counted by the
 * experiment, which has them, and as the library expects without.
 */
#include "paper000/paper000.h"

static const struct {
    const char *name;
    enum tepal_retouch_method method;
    bool counts;
} ways[] = {{"random, the filter alone", TEPAL_RETOUCH_RANDOM, false},
            {"max-fp, the filter alone", TEPAL_RETOUCH_MAX_FP, false},
            {"min-fn, by counters", TEPAL_RETOUCH_MIN_FN, true},
            {"ratio, by counters", TEPAL_RETOUCH_RATIO, true}};

static const double blind_beta[] = {0.02, 0.1, 0.5};

#define WAYS   COUNT(ways)
#define SHARES COUNT(blind_beta)

struct blind {
    struct lab_mean lost;
    struct lab_mean expected;
    struct lab_mean inside; /* is the true number in the interval? */
};

int lab_000_counting(const struct sample *s, struct tepal_filter **out)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.kind = TEPAL_KIND_COUNTING;
    params.cells = BITS;
    params.hashes = HASHES;
    params.counting.choices = 1;
    enum tepal_status status = tepal_filter_create(&params, NULL, out, NULL);
    return lab_status(status == TEPAL_OK ? tepal_filter_add_many(*out, s->member, MEMBERS)
                                         : status);
}

static int run_one(struct lab *lab, const struct sample *s, const struct tepal_filter *counting,
                   size_t way, double beta, struct blind *sum)
{
    uint64_t answers[MEMBERS / 64 + 1];
    struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    struct tepal_retouch_report report;
    struct tepal_filter *made = NULL;
    struct tepal_known known = {.avoid = s->bad,
                                .avoid_count = (size_t)(beta * (double)s->bad_count)};
    options.method = ways[way].method;
    options.seed = lab_draw(lab);
    int code = lab_status(tepal_retouch(ways[way].counts ? counting : s->bloom, &known, &options,
                                        NULL, &made, &report, NULL, NULL));
    if (code == EXIT_YES) {
        /* sabotaged: the filter that was not retouched has lost nobody */
        double lost =
            MEMBERS - (double)tepal_filter_query_many(lab_sabotaged(lab) ? s->bloom : made,
                                                      s->member, MEMBERS, answers);
        lab_mean_add(&sum->lost, lost);
        lab_mean_add(&sum->expected, report.lost_expected);
        lab_mean_add(&sum->inside, lost >= report.lost_low && lost <= report.lost_high);
    }
    tepal_filter_free(made);
    return code;
}

int lab_000_without_members(struct lab *lab)
{
    struct blind sum[WAYS][SHARES] = {0};
    size_t runs = lab_trials(lab, 3, 15);
    int code = EXIT_YES;
    for (size_t r = 0; r < runs && code == EXIT_YES; r++) {
        struct sample *s = lab_000_sample_draw(lab);
        struct tepal_filter *counting = NULL;
        code = s == NULL ? EXIT_TROUBLE : lab_000_counting(s, &counting);
        for (size_t i = 0; i < WAYS * SHARES && code == EXIT_YES; i++) {
            code = run_one(lab, s, counting, i / SHARES, blind_beta[i % SHARES],
                           &sum[i / SHARES][i % SHARES]);
        }
        tepal_filter_free(counting);
        lab_000_sample_free(s);
    }
    for (size_t i = 0; i < WAYS * SHARES && code == EXIT_YES; i++) {
        const struct blind *b = &sum[i / SHARES][i % SHARES];
        double beta = 100 * blind_beta[i % SHARES];
        /* what model/loss.c leaves out is below a hundredth */
        lab_row_mean(lab, lab_expected(b->expected.mean, b->expected.mean / 100), &b->lost,
                     "%s, beta %g %%: members lost", ways[i / SHARES].name, beta);
        lab_row_mean(lab, LAB_ROW, &b->inside,
                     "%s, beta %g %%: share of the runs within the 99 %% interval",
                     ways[i / SHARES].name, beta);
    }
    return code;
}
