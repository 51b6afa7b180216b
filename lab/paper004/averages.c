/*
 * averages.c: recycling Bloom filters (Dozier, Salamatian, Rubenstein). Simulations have 1000 bits
 * in all, colliding positions, and a trigger that is forgotten, as in the paper; capacities are
 * those of the best number of hashes at each point.
 */
#include "paper004/paper004.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- simulations ----------------------------------------------------------------------------- */

int rbf_create(struct lab *lab, const struct tepal_recycling_setting *setting,
               enum tepal_recycling_rule rule, uint64_t limit, struct tepal_filter **out)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    params.kind = TEPAL_KIND_RECYCLING;
    params.layout = setting->layout;
    params.positions = setting->positions;
    params.cells = setting->bits;
    params.hashes = setting->hashes + lab_sabotaged(lab);
    params.seed = lab_draw(lab);
    params.recycling.phases = setting->phases;
    params.recycling.rule = rule;
    params.recycling.limit = limit;
    params.recycling.flags = (setting->retain ? TEPAL_RECYCLING_RETAIN : 0) |
                             (setting->keep_trigger ? TEPAL_RECYCLING_KEEP_TRIGGER : 0);
    return lab_status(tepal_filter_create(&params, NULL, out, NULL));
}

static uint64_t cycles_ended(const struct tepal_filter *r)
{
    struct tepal_recycling_figures figures = {.cycles = 0};
    (void)tepal_recycling_get_figures(r, &figures);
    return figures.cycles;
}

#define CHUNK 2000

static size_t feed(struct lab *lab, struct tepal_filter *r, size_t messages)
{
    static struct tepal_digest digest[CHUNK];
    static uint64_t answers[CHUNK / 64 + 1];
    size_t positives = 0;
    for (size_t i = 0; i < messages; i += CHUNK) {
        size_t seen = 0;
        lab_digests(lab, digest, CHUNK);
        (void)tepal_filter_test_add_many(r, digest, CHUNK, answers, &seen);
        positives += seen;
    }
    return positives;
}

/* Epochs as rbf_both has them, of filters that recycle by `rule` at `limit`. */
static int rbf_epochs(struct lab *lab, const struct tepal_recycling_setting *setting,
                      enum tepal_recycling_rule rule, uint64_t limit, size_t epochs,
                      size_t messages, struct lab_share *fp, struct lab_mean *cycle)
{
    *fp = (struct lab_share){0};
    for (size_t e = 0; e < epochs; e++) {
        struct tepal_filter *r;
        int code = rbf_create(lab, setting, rule, limit, &r);
        if (code != EXIT_YES) {
            return code;
        }
        (void)feed(lab, r, 4 * CHUNK); /* the first cycles have no frozen phase yet */
        uint64_t before = cycles_ended(r);
        lab_share_add(fp, feed(lab, r, messages), messages);
        uint64_t cycles = cycles_ended(r) - before;
        if (cycle != NULL && cycles > 0) {
            lab_mean_add(cycle, (double)messages / (double)cycles);
        }
        tepal_filter_free(r);
    }
    return EXIT_YES;
}

int rbf_both(struct lab *lab, const struct tepal_recycling_setting *setting, size_t epochs,
             size_t messages, struct tepal_recycling_rates *rates, struct lab_share *fp,
             struct lab_mean *cycle)
{
    int code = lab_status(tepal_recycling_average(setting, TEPAL_RECYCLING_SWEEP, rates));
    return code == EXIT_YES ? rbf_epochs(lab, setting, TEPAL_RECYCLING_SIGMA, setting->sigma,
                                         epochs, messages, fp, cycle)
                            : code;
}

struct tepal_recycling_setting rbf_setting(uint64_t bits, uint32_t hashes, uint64_t sigma,
                                           uint32_t phases)
{
    struct tepal_recycling_setting s = TEPAL_RECYCLING_SETTING_INIT;
    s.bits = bits;
    s.hashes = hashes;
    s.sigma = sigma;
    s.phases = phases;
    return s;
}

/* ---- Figs. 3 and 4 --------------------------------------------------------------------------- */

/* The average by sigma, a curve for each number of hashes. */
static int by_sigma(struct lab *lab, struct lab_plot *plot, uint32_t phases, size_t epochs)
{
    static const uint32_t hashes[] = {1, 3, 5, 8};
    uint64_t bits = RBF_MEMORY / phases;
    for (size_t i = 0; i < COUNT(hashes); i++) {
        lab_plot_curve(plot, "k %" PRIu32, hashes[i]);
        for (uint64_t tenth = 1; tenth <= 9; tenth++) {
            struct tepal_recycling_setting s =
                rbf_setting(bits, hashes[i], bits * tenth / 10, phases);
            struct tepal_recycling_rates rates;
            struct lab_share fp;
            int code = rbf_both(lab, &s, epochs, lab_trials(lab, 20000, 200000), &rates, &fp, NULL);
            if (code != EXIT_YES) {
                return code;
            }
            lab_plot_line(plot, (double)s.sigma, rates.fp_average);
            lab_plot_mark(lab, plot, (double)s.sigma, &fp, rates.fp_average, rates.fp_average);
        }
    }
    return EXIT_YES;
}

/* What is known of the 1000 messages of the paper's own simulation. */
struct known {
    struct tepal_digest digest[1000];
    uint64_t cycle[1000]; /* in which it came last, from 1; 0: never */
};

/* One epoch of the paper's: false positives among messages that are new in their cycle. */
static void draw_from(struct lab *lab, struct tepal_filter *r, struct known *known, size_t messages,
                      struct lab_share *fp)
{
    uint64_t fresh = 0;
    uint64_t positives = 0;
    uint64_t now = cycles_ended(r) + 1;
    for (size_t i = 0; i < messages; i++) {
        size_t which = (size_t)(lab_draw(lab) % COUNT(known->cycle));
        bool is_new = known->cycle[which] != now;
        bool seen = false;
        (void)tepal_filter_test_add(r, known->digest[which], &seen);
        fresh += is_new;
        positives += is_new && seen;
        known->cycle[which] = now;
        now = cycles_ended(r) + 1; /* a trigger is forgotten: new once more */
    }
    lab_share_add(fp, positives, fresh);
}

/* 1000 messages that come again and again, with one set of hash functions for all epochs. */
static int fixed_messages(struct lab *lab, struct lab_plot *plot, uint32_t hashes)
{
    static struct known known;
    double furthest = 0;
    lab_plot_curve(plot, "k %" PRIu32 ", the same 1000 messages", hashes);
    lab_digests(lab, known.digest, COUNT(known.digest));
    for (uint64_t sigma = 200; sigma <= 600; sigma += 100) {
        struct tepal_recycling_setting s = rbf_setting(RBF_MEMORY, hashes, sigma, 1);
        struct tepal_recycling_rates rates;
        struct tepal_filter *r;
        struct lab_share fp = {0};
        int code = lab_status(tepal_recycling_average(&s, TEPAL_RECYCLING_SWEEP, &rates));
        code = code == EXIT_YES ? rbf_create(lab, &s, TEPAL_RECYCLING_SIGMA, sigma, &r) : code;
        if (code != EXIT_YES) {
            return code;
        }
        for (size_t i = 0; i < COUNT(known.cycle); i++) {
            known.cycle[i] = 0;
        }
        for (int epoch = 0; epoch < 7; epoch++) {
            draw_from(lab, r, &known, lab_trials(lab, 100000, 1000000), &fp);
        }
        tepal_filter_free(r);
        lab_plot_line(plot, (double)sigma, fp.mean.mean);
        furthest = fmax(furthest, fabs(fp.mean.mean / rates.fp_average - 1));
    }
    lab_row_exact(lab, LAB_ROW, 100 * furthest,
                  "the same 1000 messages throughout: off the model by at most, %%");
    return EXIT_YES;
}

int lab_004_fig_3(struct lab *lab)
{
    struct lab_plot plot = {0};
    int code = by_sigma(lab, &plot, 1, 7);
    code = code == EXIT_YES ? fixed_messages(lab, &plot, 5) : code;
    return code == EXIT_YES
               ? lab_plot_draw(lab, &plot, "One phase of 1000 bits: average false positives",
                               "sigma, bits", "average false-positive rate", LAB_LOG_Y)
               : code;
}

int lab_004_fig_4(struct lab *lab)
{
    struct lab_plot plot = {0};
    int code = by_sigma(lab, &plot, 2, 10);
    return code == EXIT_YES
               ? lab_plot_draw(lab, &plot, "Two phases of 500 bits: average false positives",
                               "sigma, bits of each phase", "average false-positive rate",
                               LAB_LOG_Y)
               : code;
}

void rbf_all_of(struct lab *lab, uint64_t hits, uint64_t points, const char *words)
{
    lab_row_exact(lab, lab_words(1, 0, NAN), (double)hits / (double)points, "%s", words);
}

/* ---- Fig. 5 ---------------------------------------------------------------------------------- */

/* What is below the simulation, or within its interval: the claim of the figure. */
struct bounds {
    uint64_t points;
    uint64_t oracle_below;
    uint64_t actual_below;
    uint64_t tighter; /* f_o < f_a */
    double loosest;   /* of f_a, relative */
};

/* A filter that counts to N messages which set bits: the next one would be N + 1, and recycles. */
static int count_to(struct lab *lab, uint64_t n, uint32_t k, struct lab_plot *plot, size_t curve,
                    struct bounds *sum)
{
    struct tepal_recycling_setting s = rbf_setting(RBF_MEMORY, k, RBF_MEMORY - 1, 1);
    struct lab_share fp;
    struct lab_row row = LAB_ROW;
    double oracle = tepal_recycling_oracle(RBF_MEMORY, n, k);
    double actual = tepal_recycling_actual(RBF_MEMORY, n, k);
    int code = rbf_epochs(lab, &s, TEPAL_RECYCLING_COUNT, n, 14, lab_trials(lab, 50000, 1000000),
                          &fp, NULL);
    lab_share_row(&row, &fp, 1);
    lab_row(lab, &row, "k %" PRIu32 ", N %" PRIu64, k, n);
    plot->mark[curve][plot->marks[curve]++] = lab_point_row((double)n, &row);
    sum->points++;
    sum->oracle_below += oracle <= row.high;
    sum->actual_below += actual <= row.high;
    sum->tighter += oracle < actual;
    sum->loosest = fmax(sum->loosest, row.low / actual - 1);
    return code;
}

int lab_004_fig_5(struct lab *lab)
{
    static const uint32_t hashes[] = {3, 6};
    struct lab_plot plot = {0};
    struct bounds sum = {0};
    for (size_t i = 0; i < COUNT(hashes); i++) {
        uint32_t k = hashes[i];
        lab_plot_curve(&plot, "f_a, k %" PRIu32, k);
        for (uint64_t n = 40; n <= 200; n += 20) {
            int code = count_to(lab, n, k, &plot, plot.curves - 1, &sum);
            if (code != EXIT_YES) {
                return code;
            }
            lab_plot_line(&plot, (double)n, tepal_recycling_actual(RBF_MEMORY, n, k));
        }
        lab_plot_curve(&plot, "f_o, k %" PRIu32, k);
        for (uint64_t n = 40; n <= 200; n += 20) {
            lab_plot_line(&plot, (double)n, tepal_recycling_oracle(RBF_MEMORY, n, k));
        }
    }
    rbf_all_of(lab, sum.oracle_below, sum.points, "share of points with f_o below or within");
    rbf_all_of(lab, sum.actual_below, sum.points, "share of points with f_a below or within");
    rbf_all_of(lab, sum.tighter, sum.points, "share of points at which f_a is the tighter bound");
    lab_row_exact(lab, LAB_ROW, 100 * sum.loosest, "f_a is below the interval by at most, %%");
    return lab_plot_draw(lab, &plot, "Counting messages: lower bounds and simulation, 1000 bits",
                         "N, messages that set bits", "average false-positive rate", LAB_LOG_Y);
}

/* ---- Figs. 6 to 8: capacities ---------------------------------------------------------------- */

const double rbf_rates_asked[RBF_RATES] = {0.1, 0.03, 0.01, 0.003, 0.001, 1e-4, 1e-5, 1e-6};

int rbf_capacity(struct lab *lab, uint64_t bits, double fp, struct rbf_capacity *out)
{
    struct tepal_recycling_setting one = rbf_setting(bits, 0, 0, 1);
    /* sabotaged, each of two phases has all the bits */
    struct tepal_recycling_setting two = rbf_setting(lab_sabotaged(lab) ? bits : bits / 2, 0, 0, 2);
    struct tepal_recycling_rates rates[2];
    uint32_t any[3] = {0};
    enum tepal_recycling_bound worst =
        lab_sabotaged(lab) ? TEPAL_RECYCLING_ORACLE : TEPAL_RECYCLING_WORST;
    int code = lab_status(tepal_recycling_best_sigma(&one, fp, &rates[0]));
    code = code == EXIT_YES ? lab_status(tepal_recycling_best_sigma(&two, fp, &rates[1])) : code;
    if (code == EXIT_YES) {
        out->sigma = rates[0].messages_per_cycle;
        out->halves = 2 * rates[1].messages_per_cycle;
        out->worst =
            (double)tepal_recycling_capacity(worst, TEPAL_POSITIONS_COLLIDING, bits, fp, &any[0]);
        out->oracle = (double)tepal_recycling_capacity(
            TEPAL_RECYCLING_ORACLE, TEPAL_POSITIONS_COLLIDING, bits, fp, &any[1]);
        out->actual = (double)tepal_recycling_capacity(
            TEPAL_RECYCLING_ACTUAL, TEPAL_POSITIONS_COLLIDING, bits, fp, &any[2]);
    }
    return code;
}

static void ratio_row(struct lab *lab, double ratio, const char *what, const char *where, double at)
{
    lab_row_exact(lab, LAB_ROW, ratio, "%s, %s %g", what, where, at);
}

/* "A good approximation", "only a slightly smaller number": within 5 %. */
#define GOOD "share of points at which N_a is within 5 % of N_sigma"

int lab_004_fig_6(struct lab *lab)
{
    static const uint64_t bits[] = {1000, 2000, 5000, 10000, 30000, 100000, 300000, 1000000};
    struct lab_plot plot = {.name = {"f_w", "f_a"}, .curves = 2};
    uint64_t beyond = 0;
    uint64_t close = 0;
    for (size_t i = 0; i < COUNT(bits); i++) {
        struct rbf_capacity c;
        int code = rbf_capacity(lab, bits[i], 0.01, &c);
        if (code != EXIT_YES) {
            return code;
        }
        plot.line[0][plot.lines[0]++] = lab_point((double)bits[i], c.worst / c.sigma);
        plot.line[1][plot.lines[1]++] = lab_point((double)bits[i], c.actual / c.sigma);
        beyond += c.worst / c.sigma < 0.7;
        close += c.actual / c.sigma >= 0.95;
        ratio_row(lab, c.worst / c.sigma, "N_w / N_sigma", "M", (double)bits[i]);
        ratio_row(lab, c.actual / c.sigma, "N_a / N_sigma", "M", (double)bits[i]);
    }
    rbf_all_of(lab, beyond, COUNT(bits),
               "share of sizes at which f_w underestimates by more than 30 %");
    rbf_all_of(lab, close, COUNT(bits), GOOD);
    return lab_plot_draw(lab, &plot, "Capacity at an average of 0.01, as a share of N_sigma",
                         "M, bits", "share of the capacity by sigma", LAB_LOG_X);
}

double rbf_share_in_limit(double fp)
{
    double best[2] = {0, 0};
    for (int k = 1; k <= TEPAL_MAX_HASHES; k++) {
        double low = 0;
        double high = 1;
        for (int step = 0; step < 60; step++) {
            double x = (low + high) / 2;
            double sum = 0;
            for (int j = 1; j <= k; j++) {
                sum += pow(x, j) / j;
            }
            if (1 + sum / log1p(-x) < fp) {
                low = x;
            } else {
                high = x;
            }
        }
        best[0] = fmax(best[0], -log1p(-low) / k);
        best[1] = fmax(best[1], -log1p(-pow(fp, 1.0 / k)) / k);
    }
    return best[1] / best[0];
}

int lab_004_fig_7(struct lab *lab)
{
    struct lab_plot plot = {.name = {"f_w", "f_a"}, .curves = 2};
    uint64_t close = 0;
    for (size_t i = 0; i < RBF_RATES; i++) {
        struct rbf_capacity c;
        double fp = rbf_rates_asked[i];
        int code = rbf_capacity(lab, 1000000, fp, &c);
        if (code != EXIT_YES) {
            return code;
        }
        plot.line[0][plot.lines[0]++] = lab_point(fp, c.worst / c.sigma);
        plot.line[1][plot.lines[1]++] = lab_point(fp, c.actual / c.sigma);
        /* "a consistent underestimation of around 30 %", in tens */
        struct lab_row row = lab_words(30, 5, 100 * (1 - rbf_share_in_limit(fp)));
        row.leeway = 100 * RBF_WHOLE_MESSAGES(c.worst);
        close += c.actual / c.sigma >= 0.95;
        lab_exact(&row, 100 * (1 - c.worst / c.sigma));
        lab_row(lab, &row, "f_w underestimates by, %%, at %g", fp);
        ratio_row(lab, c.actual / c.sigma, "N_a / N_sigma", "rate", fp);
    }
    rbf_all_of(lab, close, RBF_RATES, GOOD);
    return lab_plot_draw(lab, &plot, "Capacity of a million bits, as a share of N_sigma",
                         "average false-positive rate", "share of the capacity by sigma",
                         LAB_LOG_X);
}

int lab_004_fig_8(struct lab *lab)
{
    static const uint64_t bits[] = {1000, 10000, 1000000};
    struct lab_plot plot = {0};
    uint64_t falls = 0;
    uint64_t more = 0;
    uint64_t steps = 0;
    for (size_t i = 0; i < COUNT(bits); i++) {
        double before = INFINITY;
        lab_plot_curve(&plot, "M %" PRIu64, bits[i]);
        for (size_t j = 0; j < RBF_RATES; j++) {
            struct rbf_capacity c;
            int code = rbf_capacity(lab, bits[i], rbf_rates_asked[j], &c);
            if (code != EXIT_YES) {
                return code;
            }
            double ratio = c.sigma / c.halves;
            lab_plot_line(&plot, rbf_rates_asked[j], ratio);
            ratio_row(lab, ratio, plot.name[i], "rate", rbf_rates_asked[j]);
            falls += j > 0 && ratio < before;
            more += ratio > 1;
            steps += j > 0;
            before = ratio;
        }
    }
    rbf_all_of(lab, falls, steps, "share of steps to a tighter rate that lower the ratio");
    rbf_all_of(lab, more, COUNT(bits) * RBF_RATES, "share of points at which one phase holds more");
    return lab_plot_draw(lab, &plot, "One phase over two phases of half the bits: capacity",
                         "average false-positive rate", "ratio of the messages held", LAB_LOG_X);
}
