/*
 * recycling_plan.c: the recycling filter the other way round: what sigma and how many hashes for a
 * given memory and average.
 *
 * The average grows with sigma, and so does the number of messages: for every k the largest sigma
 * that keeps the average is searched by the closed form, whose cost does not depend on M, and moved
 * to where the exact average agrees if the sweep is cheap. Over k the messages rise to one maximum:
 * the search begins at the k of the worst case, (m/n) ln 2, and climbs.
 */
#include "model/recycling.h"

#include "model/search.h"
#include "params/params.h"

#include <math.h>

/* Throws of a sweep that settles the last unit of sigma. */
#define EXACT_THROWS 2e5

static double average(const struct tepal_recycling_setting *s, bool exact)
{
    return tepal_model_recycling_rates(s, exact ? tepal_model_recycling_sweep(s, NULL)
                                                : tepal_model_recycling_closed(s))
        .fp_average;
}

struct wanted {
    struct tepal_recycling_setting setting;
    double fp;
};

/* Falls with x = bits - sigma, as tepal_model_search has it: not positive where fp is kept. */
static double too_much(const void *context, uint64_t x)
{
    const struct wanted *w = context;
    struct tepal_recycling_setting s = w->setting;
    s.sigma = s.bits - x;
    return log(average(&s, false)) - log(w->fp);
}

static bool sigma_for(struct tepal_recycling_setting *s, double fp)
{
    struct wanted w = {*s, fp};
    uint64_t first;
    if (s->bits <= s->hashes) {
        return false;
    }
    /* One phase after another has about fp / phases, and average about half the rate at sigma. */
    double guess = (double)s->bits * (1 - pow(2 * fp / s->phases, 1.0 / s->hashes));
    uint64_t most = s->bits - s->hashes;
    uint64_t from = guess >= 1 ? (guess < (double)most ? (uint64_t)guess : most) : 1;
    bool found = tepal_model_search(too_much, &w, 1, most, from, &first);
    s->sigma = found ? s->bits - first : s->hashes;
    if (s->layout == TEPAL_LAYOUT_FLAT && (double)s->sigma * s->hashes <= EXACT_THROWS) {
        double at = average(s, true);
        for (; s->sigma > s->hashes && at > fp; at = average(s, true)) {
            s->sigma--;
        }
        found = at <= fp;
        for (struct tepal_recycling_setting next = *s;
             found && ++next.sigma < s->bits && average(&next, true) <= fp;) {
            s->sigma = next.sigma;
        }
    }
    return found;
}

/*
 * Layouts other than flat: a rate costs 10 to 100 us and an average 16 of them: few may be asked.
 * The average is nearly a power of sigma, and the flat layout's sigma (found at no cost) is close:
 * three or four steps of the secant in logarithms are enough; or whatever the caller says is close.
 * The last unit of sigma is not sought.
 */
static bool sigma_near(struct tepal_recycling_setting *s, double fp)
{
    struct tepal_recycling_setting flat = *s;
    flat.layout = TEPAL_LAYOUT_FLAT;
    bool told = s->sigma >= s->hashes && s->sigma < s->bits;
    if (!told && !sigma_for(&flat, fp)) {
        flat.sigma = s->hashes;
    }
    double most = (double)s->bits - 1;
    double at[2] = {log((double)flat.sigma), 0};
    double off[2];
    for (int i = 0; i < 12; i++) {
        double sigma = fmin(fmax(exp(at[0]), s->hashes), most);
        at[0] = log(sigma);
        s->sigma = (uint64_t)sigma;
        off[0] = log(average(s, false) / fp);
        if (off[0] <= 0 && (off[0] > -1e-4 || s->sigma + 1 >= s->bits)) {
            return true;
        }
        if (off[0] > 0 && s->sigma == s->hashes) {
            return false;
        }
        double slope = i == 0 ? s->hashes : (off[0] - off[1]) / (at[0] - at[1]);
        double next = at[0] - (off[0] + 5e-5) / (slope > 0.5 ? slope : 0.5);
        at[1] = at[0];
        off[1] = off[0];
        at[0] = next;
        if (fabs(exp(next) - sigma) < 1) {
            break;
        }
    }
    /* A small filter: sigma is as close as whole numbers are. Downhill from just above. */
    s->sigma = (uint64_t)fmin(exp(at[0]) + 2, most);
    for (int i = 0; i < 16 && s->sigma > s->hashes && average(s, false) > fp; i++) {
        s->sigma--;
    }
    return average(s, false) <= fp;
}

static double messages_for(struct tepal_recycling_setting *s, uint32_t k, double fp)
{
    s->hashes = k;
    bool flat = s->layout == TEPAL_LAYOUT_FLAT;
    if (!tepal_model_recycling_valid(s, true) || !(flat ? sigma_for(s, fp) : sigma_near(s, fp))) {
        return -1;
    }
    struct recycling_cycle cycle =
        s->layout == TEPAL_LAYOUT_FLAT && (double)s->sigma * k <= EXACT_THROWS
            ? tepal_model_recycling_sweep(s, NULL)
            : tepal_model_recycling_closed(s);
    return tepal_model_recycling_rates(s, cycle).messages_per_cycle;
}

enum tepal_status tepal_recycling_best_sigma(struct tepal_recycling_setting *setting, double fp,
                                             struct tepal_recycling_rates *rates)
{
    struct tepal_recycling_setting best = *setting;
    if (!(fp > 0 && fp < 1) || !tepal_model_recycling_valid(setting, true)) {
        return TEPAL_BAD_ARGUMENT;
    }
    double most = -1;
    if (setting->hashes != 0) {
        most = messages_for(&best, setting->hashes, fp);
    } else {
        /* At the worst case's best k half of the bits are set: fp = 2^-k. */
        uint32_t middle = (uint32_t)fmin(fmax(-log2(fp / setting->phases), 1), TEPAL_MAX_HASHES);
        for (int way = -1; way <= 1; way += 2) {
            unsigned worse = 0;
            for (uint32_t k = way < 0 ? middle : middle + 1;
                 k >= 1 && k <= TEPAL_MAX_HASHES && worse < 2; k += (uint32_t)way) {
                struct tepal_recycling_setting s = *setting;
                double messages = messages_for(&s, k, fp);
                /* What the layout cannot have (k > 16 in one line) is not worse: go on. */
                worse = messages > most ? 0 : worse + (most > 0);
                if (messages > most) {
                    most = messages;
                    best = s;
                }
            }
        }
    }
    if (!(most > 0)) {
        return TEPAL_BAD_ARGUMENT;
    }
    *setting = best;
    return tepal_recycling_average(setting, TEPAL_RECYCLING_AUTO, rates);
}
