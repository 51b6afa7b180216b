/*
 * cascade.c: what to expect of a cascade of filters: levels, size, and the rate on unknown keys.
 *
 * Level 1 stores n members; level 2 those of the t known negatives that level 1 has by accident,
 * level 3 those of the members that level 2 has, and so on. With the rate f_i of level i,
 *
 *     stored     s_1 = n, s_2 = t f_1, s_{i+2} = s_i f_{i+1}
 *     f_i        1/2, or s_i / s_{i-1} / sqrt 2 if that is less (i > 1; the first one's is chosen)
 *
 * until less than half a key is expected. A key that is in neither list is accepted if the first
 * level that does not have it is an even one, or the last one is odd and has it:
 *
 *     f_1 - f_1 f_2 + f_1 f_2 f_3 - ...
 *
 * No filter that tells n members from t others without an error has fewer than log2 C(n + t, n)
 * bits on average over all such sets.
 */
#include <tepal/papers.h>

#include <math.h>

#include "model/model.h"
#include "model/numeric.h"
#include "params/params.h"

static double rate_for(double stored, double asked)
{
    return fmin(stored / asked * sqrt(0.5), 0.5);
}

static void put_level(struct tepal_cascade_setting *plan, double stored, double bits, double rate)
{
    plan->stored[plan->levels] = stored;
    plan->level_bits[plan->levels] = bits;
    plan->rate[plan->levels] = rate;
    plan->levels++;
    plan->bits += bits;
}

/* The levels beyond the first are flat; on lines they fill whole ones. */
static bool put_beyond(enum tepal_layout layout, enum tepal_positions positions, double stored,
                       double asked, struct tepal_cascade_setting *plan)
{
    uint64_t cells;
    uint32_t hashes = 0;
    if (!(stored < (double)PARAMS_MAX_CELLS)) {
        return false;
    }
    uint64_t keys = (uint64_t)ceil(stored);
    if (tepal_bloom_size(TEPAL_LAYOUT_FLAT, positions, keys, rate_for(stored, asked), &cells,
                         &hashes) != TEPAL_OK) {
        return false;
    }
    uint64_t unit = params_unit(layout, 1);
    cells = (cells + unit - 1) / unit * unit;
    put_level(plan, stored, (double)cells,
              tepal_bloom_fp(TEPAL_LAYOUT_FLAT, positions, cells, keys, hashes));
    return true;
}

enum tepal_status tepal_cascade_predict(enum tepal_layout layout, enum tepal_positions positions,
                                        uint64_t n, uint64_t t, struct tepal_cascade_setting *plan)
{
    struct tepal_cascade_setting done = {.first_bits = plan->first_bits, .hashes = plan->hashes};
    double first = tepal_bloom_fp(layout, positions, done.first_bits, n, done.hashes);
    if (n == 0 || done.first_bits > PARAMS_MAX_CELLS || !(first >= 0)) {
        return TEPAL_BAD_ARGUMENT;
    }
    put_level(&done, (double)n, (double)done.first_bits, first);
    double stored = (double)t * first;
    double asked = (double)n;
    double all = first; /* the chance to be in all levels so far */
    done.fp_unknown = first;
    while (stored > 0.5 && done.levels < TEPAL_MAX_LEVELS) {
        if (!put_beyond(layout, positions, stored, asked, &done)) {
            return TEPAL_BAD_ARGUMENT;
        }
        all *= done.rate[done.levels - 1];
        done.fp_unknown += done.levels % 2 == 0 ? -all : all;
        double next = asked * done.rate[done.levels - 1];
        asked = stored;
        stored = next;
    }
    *plan = done;
    return TEPAL_OK;
}

/* The plan whose first level has so many bits. */
static bool with_first(enum tepal_layout layout, enum tepal_positions positions, uint64_t n,
                       uint64_t t, uint32_t hashes, uint64_t bits,
                       struct tepal_cascade_setting *plan)
{
    plan->first_bits = bits;
    plan->hashes = hashes != 0 ? hashes : tepal_bloom_best_hashes(layout, positions, bits, n);
    return tepal_cascade_predict(layout, positions, n, t, plan) == TEPAL_OK;
}

enum tepal_status tepal_cascade_best_setting(enum tepal_layout layout,
                                             enum tepal_positions positions, uint64_t n, uint64_t t,
                                             uint64_t limit, double fp,
                                             struct tepal_cascade_setting *plan)
{
    uint32_t hashes = plan->hashes;
    uint64_t low;
    struct tepal_cascade_setting best;
    struct tepal_cascade_setting here;
    double rate = fp > 0 ? fp : t == 0 ? 0.5 : rate_for((double)n, (double)t);
    uint32_t chosen = hashes;
    if (n == 0 || limit > PARAMS_MAX_CELLS || !(fp >= 0 && fp < 1) ||
        tepal_bloom_size(layout, positions, n, rate, &low, &chosen) != TEPAL_OK ||
        !with_first(layout, positions, n, t, hashes, low, &best)) {
        return TEPAL_BAD_ARGUMENT;
    }
    if (limit > 0) {
        uint64_t unit = params_unit(layout, 1);
        uint64_t high = limit / unit + 1; /* in units, from here on */
        low /= unit;
        while (low + 1 < high) {
            uint64_t middle = low + (high - low) / 2;
            if (with_first(layout, positions, n, t, hashes, middle * unit, &here) &&
                here.bits <= (double)limit) {
                low = middle;
                best = here;
            } else {
                high = middle;
            }
        }
    }
    if (limit > 0 && best.bits > (double)limit) {
        return TEPAL_BAD_ARGUMENT;
    }
    *plan = best;
    return TEPAL_OK;
}

/* log2 of n + t over n. */
static double least_bits(double n, double t)
{
    return (tepal_log_gamma(n + t + 1) - tepal_log_gamma(n + 1) - tepal_log_gamma(t + 1)) / log(2);
}

enum tepal_status tepal_model_cascade(const struct tepal_params *params,
                                      const struct tepal_use *use, struct tepal_report *report,
                                      struct tepal_error *error)
{
    enum tepal_layout layout = params->layout;
    enum tepal_positions positions = params->positions;
    uint64_t n = use->keys;
    uint64_t t = use->known_negatives;
    struct tepal_cascade_setting done = {.first_bits = params->cells - params->cascade.rest_bits,
                                         .hashes = params->hashes};
    enum tepal_status status =
        params->cells != 0 ? tepal_cascade_predict(layout, positions, n, t, &done)
                           : tepal_cascade_best_setting(layout, positions, n, t, use->bits,
                                                        isnan(use->fp) ? 0 : use->fp, &done);
    if (status != TEPAL_OK) {
        return refuse(error, status, "no cascade fits these bits and hash functions");
    }
    uint64_t bits = whole_of(done.bits);
    uint32_t best = tepal_bloom_best_hashes(layout, positions, bits, n);
    double bloom = tepal_bloom_fp(layout, positions, bits, n, best);
    report->count = 0;
    report->numbers = 0;
    tepal_report_integer(report, "keys", "n, members", n);
    tepal_report_integer(report, "negatives", "t, known negatives", t);
    tepal_report_real(report, "bits", "expected bits of all levels together", done.bits);
    tepal_report_real(report, "bits_per_key", "bits per member", done.bits / (double)n);
    tepal_report_real(report, "bits_least",
                      "lower bound for a filter without errors on either list: log2 C(n + t, n)",
                      least_bits((double)n, (double)t));
    tepal_report_integer(report, "first_bits", "bits of the first level", done.first_bits);
    tepal_report_integer(report, "hashes", "hash functions of the first level", done.hashes);
    tepal_report_integer(report, "levels", "levels expected to store half a key or more",
                         done.levels);
    tepal_report_real(report, "fp_first", "rate of the first level", done.rate[0]);
    tepal_report_real(report, "fp_known", "rate on known negatives", 0);
    tepal_report_real(report, "fp_unknown",
                      "rate on unknown negatives: f1 - f1 f2 + f1 f2 f3 - ...", done.fp_unknown);
    tepal_report_real(report, "fn", "false-negative rate", 0);
    tepal_report_real(report, "bloom_fp",
                      "false-positive rate of a Bloom filter of the same size, with the best k",
                      bloom);
    tepal_report_real(report, "bloom_left", "known negatives that this Bloom filter finds",
                      bloom * (double)t);
    tepal_report_list(report, "stored", "expected number of keys in each level", done.stored,
                      done.levels);
    tepal_report_list(report, "level_bits", "bits of each level", done.level_bits, done.levels);
    tepal_report_list(report, "rates", "false-positive rate of each level", done.rate, done.levels);
    return TEPAL_OK;
}
