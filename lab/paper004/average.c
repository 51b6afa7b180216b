/*
 * average.c: two rules on the same streams: sigma, as the model of the paper gives it, and average,
 * by which the filter keeps its own account of what new messages risk. Counted are messages that
 * never came before and are answered "seen".
 *
 * The paper's average is over messages that the phase does not hold. On a stream that repeats,
 * those that were forgotten come while a phase is young, and the new ones at any time.
 */
#include "paper004/paper004.h"

#include <inttypes.h>

#define BITS   16384
#define HASHES 6
#define RATE   0.01

struct stream {
    const char *name;
    double fresh; /* share of new messages */
    double keys;  /* the others: floor(keys u^power), u uniform */
    double power;
    double sigma;  /* share of the new ones found by sigma with one phase, by another program */
    double leeway; /* 99.9 % of it */
};

static const struct stream streams[] = {
    {"all new", 1, 1, 1, 0.0100, 0.0002},
    {"2 % new, uniform over 4290", 0.02, 4290, 1, 0.0118, 0.0014},
    {"2 % new, uniform over 1430", 0.02, 1430, 1, 0.0216, 0.0019},
    {"5 % new, skewed over 20,000", 0.05, 20000, 3, 0.0107, 0.0010},
    {"30 % new, skewed over 3000", 0.3, 3000, 2, 0.0118, 0.0004},
};

struct tally {
    uint64_t fresh;
    uint64_t found;
};

static void run_stream(struct lab *lab, const struct stream *s, struct tepal_filter *r,
                       size_t messages, struct tally *t)
{
    struct tepal_hasher hasher;
    tepal_hasher_init(lab_draw(lab), &hasher);
    for (size_t i = 0; i < messages; i++) {
        bool fresh = lab_unit(lab) < s->fresh;
        bool seen = false;
        uint64_t key =
            fresh ? ((uint64_t)1 << 40) + i : (uint64_t)(s->keys * pow(lab_unit(lab), s->power));
        (void)tepal_filter_test_add(r, tepal_hash_u64(&hasher, key), &seen);
        t->fresh += fresh;
        t->found += fresh && seen;
    }
}

/* By sigma what the other program has, if it has; by average the rate that was asked for. */
static struct lab_row expected(const struct stream *s, uint32_t phases, bool average)
{
    if (average) {
        return lab_expected(RATE, 0.005 * RATE);
    }
    return phases == 1 ? lab_expected(s->sigma, s->leeway) : LAB_ROW;
}

static int one_case(struct lab *lab, const struct stream *s, uint32_t phases, bool average,
                    double *share)
{
    struct tepal_recycling_setting setting = rbf_setting(BITS, HASHES, 0, phases);
    struct tepal_recycling_rates rates;
    struct tepal_filter *r = NULL;
    struct tally t = {0, 0};
    setting.retain = true;
    int code = lab_status(tepal_recycling_best_sigma(&setting, RATE, &rates));
    if (code == EXIT_YES) {
        code = rbf_create(lab, &setting, average ? TEPAL_RECYCLING_AVERAGE : TEPAL_RECYCLING_SIGMA,
                          average ? (uint64_t)(RATE * 0x1p64) : setting.sigma, &r);
    }
    if (code != EXIT_YES) {
        return code;
    }
    run_stream(lab, s, r, lab_trials(lab, 300000, 3000000), &t);
    tepal_filter_free(r);
    lab_row_count(lab, expected(s, phases, average), t.found, t.fresh,
                  "%s, %" PRIu32 " phase%s, %s", s->name, phases, SAY_S(phases),
                  average ? "average" : "sigma");
    *share = (double)t.found / (double)t.fresh;
    return EXIT_YES;
}

int lab_004_average(struct lab *lab)
{
    int code = EXIT_YES;
    double worst[2] = {0, 0}; /* by sigma, by average, with one phase */
    for (uint32_t phases = 1; phases <= 2; phases++) {
        for (size_t i = 0; i < COUNT(streams); i++) {
            for (int average = 0; average < 2 && code == EXIT_YES; average++) {
                double share = 0;
                code = one_case(lab, &streams[i], phases, average != 0, &share);
                worst[average] = phases == 1 ? fmax(worst[average], share) : worst[average];
            }
        }
    }
    if (code == EXIT_YES) {
        lab_row_exact(lab, LAB_ROW, worst[0] / worst[1],
                      "one phase, the worst stream: times as many by sigma as by average");
    }
    return code;
}
