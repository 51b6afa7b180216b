/*
 * counts.c: filters that recycle by the number of messages (N-bounded, Sec. II-D and III), sized by
 * the library for a rate; and the three ways of counting false positives (Sec. II-E).
 */
#include "paper004/paper004.h"

#include <inttypes.h>

/* ---- N-bounded use --------------------------------------------------------------------------- */

/* The fewest bits for N messages at an average rate, and what such a filter does. */
static int counted(struct lab *lab, uint64_t messages, double rate, uint32_t phases)
{
    struct tepal_recycling_setting setting = rbf_setting(0, 0, 0, phases);
    struct tepal_recycling_rates rates;
    struct lab_share fp = {.hits = 0};
    size_t epochs = lab_trials(lab, 20, 60);
    int code = lab_status(tepal_recycling_for_count(&setting, messages, rate, &rates));
    for (size_t e = 0; e < epochs && code == EXIT_YES; e++) {
        struct tepal_filter *r = NULL;
        uint64_t found = 0;
        uint64_t asked = 0;
        code = rbf_create(lab, &setting, TEPAL_RECYCLING_COUNT, messages, &r);
        uint64_t settled = code == EXIT_YES ? messages * (phases + 1) : 0;
        for (uint64_t i = 0; code == EXIT_YES && i < settled + 10 * messages; i++) {
            bool seen = false;
            (void)tepal_filter_test_add(r, lab_digest(lab), &seen);
            asked += i >= settled;
            found += i >= settled && seen;
        }
        lab_share_add(&fp, found, asked);
        tepal_filter_free(r);
    }
    if (code == EXIT_YES) {
        lab_row_share(lab, lab_expected(rate, 0.01 * rate), &fp, 1,
                      "N %" PRIu64 ", %g asked for, %" PRIu32 " phase%s: measured", messages, rate,
                      phases, SAY_S(phases));
        lab_row_exact(lab, LAB_ROW, (double)(setting.bits * phases) / (double)messages,
                      "N %" PRIu64 ", %g asked for, %" PRIu32 " phase%s: bits for each message",
                      messages, rate, phases, SAY_S(phases));
    }
    return code;
}

/* Filters of the worst case keep a rate that nobody asked for: how much larger are they? */
static void worst_case(struct lab *lab, uint64_t messages, double rate)
{
    struct tepal_recycling_setting setting = rbf_setting(0, 0, 0, 1);
    struct tepal_recycling_rates rates;
    if (tepal_recycling_for_count(&setting, messages, rate, &rates) == TEPAL_OK) {
        double worst = -(double)messages * log(rate) / (log(2) * log(2));
        lab_row_exact(lab, LAB_ROW, worst / (double)setting.bits,
                      "N %" PRIu64 ", %g: times as many bits by the worst rate, eq. (1)", messages,
                      rate);
        lab_row_exact(lab, LAB_ROW,
                      tepal_recycling_actual(setting.bits, messages, setting.hashes) / rate,
                      "N %" PRIu64 ", %g: of that rate, what eq. (3) tells", messages, rate);
    }
}

int lab_004_count(struct lab *lab)
{
    static const uint64_t messages[] = {100, 1000, 4000};
    static const double rates[] = {0.1, 0.01};
    int code = EXIT_YES;
    for (size_t i = 0; i < COUNT(messages); i++) {
        for (size_t j = 0; j < COUNT(rates); j++) {
            for (uint32_t phases = 1; phases <= 2 && code == EXIT_YES; phases++) {
                code = counted(lab, messages[i], rates[j], phases);
            }
            worst_case(lab, messages[i], rates[j]);
        }
    }
    return code;
}

/* ---- three ways of counting ------------------------------------------------------------------ */

#define BITS   16384
#define HASHES 6
#define NEW    2600 /* messages of a cycle */

/* How often the i-th new message arrives. */
enum arrivals { ALIKE, EARLY, LATE, ARRIVALS };

static const char *const arrival_names[ARRIVALS] = {
    "every message comes 4 times", "early ones come up to 7 times", "late ones come up to 7 times"};

static unsigned eta(enum arrivals how, size_t i)
{
    double along = (double)i / NEW;
    return how == ALIKE ? 4 : 1 + (unsigned)(7 * (how == LATE ? along : 1 - along));
}

enum { FIRST, EACH, INSTANCE, WAYS };

static const char *const way_names[WAYS] = {"count-first", "count-each", "count-instance"};

/* What hits there are of sum F, sum F eta, as the three quotients. */
static void quotients(enum arrivals how, double hits, double weighted, double out[WAYS])
{
    double all = 0;
    for (size_t i = 0; i < NEW; i++) {
        all += eta(how, i);
    }
    out[FIRST] = hits / all;
    out[EACH] = weighted / all;
    out[INSTANCE] = hits / NEW;
}

/* The i-th new message is found with (1 - (1 - 1/m)^(k i))^k, give or take 1/2 % at this size. */
static void expected_ways(enum arrivals how, double out[WAYS])
{
    double hits = 0;
    double weighted = 0;
    for (size_t i = 0; i < NEW; i++) {
        double found = pow(1 - pow(1 - 1.0 / BITS, (double)(HASHES * i)), HASHES);
        hits += found;
        weighted += found * eta(how, i);
    }
    quotients(how, hits, weighted, out);
}

/* A cycle: each message, and then its repeats, which change nothing. */
static int one_cycle(struct lab *lab, enum arrivals how, double out[WAYS])
{
    struct tepal_recycling_setting setting = rbf_setting(BITS, HASHES, 0, 1);
    struct tepal_filter *r = NULL;
    double hits = 0;
    double weighted = 0;
    int code = rbf_create(lab, &setting, TEPAL_RECYCLING_COUNT, 2 * NEW, &r);
    for (size_t i = 0; i < NEW && code == EXIT_YES; i++) {
        struct tepal_digest d = lab_digest(lab);
        bool mistaken = false;
        (void)tepal_filter_test_add(r, d, &mistaken);
        for (unsigned again = 1; again < eta(how, i); again++) {
            bool seen = false;
            (void)tepal_filter_test_add(r, d, &seen);
            code =
                seen ? code : lab_status(TEPAL_CORRUPT); /* within a cycle nothing is forgotten */
        }
        hits += mistaken;
        weighted += mistaken ? eta(how, i) : 0;
    }
    tepal_filter_free(r);
    quotients(how, hits, weighted, out);
    return code;
}

int lab_004_ways(struct lab *lab)
{
    size_t cycles = lab_trials(lab, 60, 600);
    bool first_less = true; /* than count-each */
    bool instance_most = true;
    int code = EXIT_YES;
    for (enum arrivals how = ALIKE; how < ARRIVALS && code == EXIT_YES; how++) {
        struct lab_mean mean[WAYS] = {{0}};
        double right[WAYS];
        double got[WAYS];
        for (size_t i = 0; i < cycles && code == EXIT_YES; i++) {
            code = one_cycle(lab, how, got);
            for (size_t w = 0; w < WAYS; w++) {
                lab_mean_add(&mean[w], got[w]);
            }
        }
        expected_ways(how, right);
        for (size_t w = 0; w < WAYS; w++) {
            lab_row_mean(lab, lab_expected(right[w], 0.005 * right[w]), &mean[w], "%s: %s",
                         arrival_names[how], way_names[w]);
        }
        first_less = first_less && mean[FIRST].mean <= mean[EACH].mean;
        /* as many messages are mistaken in both: the quotient is sure to 1 % and better */
        instance_most = instance_most && mean[EACH].mean <= 1.05 * mean[INSTANCE].mean;
    }
    lab_row_holds(lab, first_less, "count-first is below count-each (footnote 3)");
    lab_row_claim(lab, true, false, instance_most,
                  "count-instance is the largest of the three (Sec. II-E)");
    return code;
}
