/*
 * streams.c: false negatives of recycling filters. Streams of messages that come again:
 * after geometric gaps, after Pareto's (half of the messages come again each time), or at random by
 * popularity (Zipf); 20,000 bits in all, 1 % of false positives on average, the trigger retained.
 * And streams that were measured, where there are data: logs of requests.
 */
#include "paper004/paper004.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "readers/requests.h"

#define MEMORY  20000
#define RATE    0.01
#define SCALE   20 /* of Pareto's law */
#define KEYS    20000
#define RING    ((size_t)1 << 20) /* arrivals ahead that are arranged */
#define GUIDES  4096
#define STREAMS 7

enum law { GEOMETRIC, PARETO, ZIPF };
static const char *const law_names[] = {"geometric gaps of mean", "Pareto gaps of shape",
                                        "Zipf's law of exponent"};

struct stream {
    struct lab *lab;
    enum law law;
    double parameter;
    uint64_t last; /* number of the newest message */
    size_t at;
    uint64_t *due; /* by arrival: the message that comes then; 0: a new one */
    double *sum;   /* Zipf: chance of the messages up to this one */
    size_t guide[GUIDES];
};

/* In (0, 1). */
static double uniform(struct lab *lab)
{
    return ((double)(lab_draw(lab) >> 11) + 0.5) * 0x1p-53;
}

static void stream_free(struct stream *s)
{
    free(s->due);
    free(s->sum);
}

static void prepare_zipf(struct stream *s)
{
    double sum = 0;
    size_t at = 0;
    for (size_t i = 0; i < KEYS; i++) {
        sum += pow((double)i + 1, -s->parameter);
        s->sum[i] = sum;
    }
    for (size_t i = 0; i < KEYS; i++) {
        s->sum[i] = i + 1 < KEYS ? s->sum[i] / sum : 1;
    }
    for (size_t g = 0; g < GUIDES; g++) {
        while (s->sum[at] < (double)g / GUIDES) {
            at++;
        }
        s->guide[g] = at;
    }
}

static int stream_new(struct stream *s, struct lab *lab, enum law law, double parameter)
{
    *s = (struct stream){.lab = lab, .law = law, .parameter = parameter};
    s->due = calloc(RING, sizeof *s->due);
    s->sum = calloc(KEYS, sizeof *s->sum);
    if (s->due == NULL || s->sum == NULL) {
        stream_free(s);
        return say_no_memory();
    }
    if (law == ZIPF) {
        prepare_zipf(s);
    }
    return EXIT_YES;
}

static size_t draw_gap(struct stream *s)
{
    double u = uniform(s->lab);
    double gap = s->law == PARETO ? ceil(SCALE * pow(u, -1 / s->parameter))
                                  : ceil(log(u) / log1p(-1 / s->parameter));
    return gap < RING / 2.0 ? (size_t)gap : RING / 2;
}

/* The next message; where two are due at once the later one waits for a free place. */
static uint64_t next_of(struct stream *s, bool *repeat)
{
    if (s->law == ZIPF) {
        double u = uniform(s->lab);
        size_t i = s->guide[(size_t)(u * GUIDES)];
        while (s->sum[i] < u) {
            i++;
        }
        *repeat = true; /* after the first rounds all have come */
        return i + 1;
    }
    uint64_t message = s->due[s->at];
    *repeat = message != 0;
    message = *repeat ? message : ++s->last;
    s->due[s->at] = 0;
    if (lab_draw(s->lab) >> 63 != 0) {
        size_t place = (s->at + draw_gap(s)) % RING;
        while (s->due[place] != 0 || place == s->at) {
            place = (place + 1) % RING;
        }
        s->due[place] = message;
    }
    s->at = (s->at + 1) % RING;
    return message;
}

static void run_stream(struct stream *s, struct tepal_filter *r, size_t batches, size_t messages,
                       struct lab_share *missed)
{
    struct tepal_hasher hasher;
    tepal_hasher_init(lab_draw(s->lab), &hasher);
    for (size_t b = 0; b < batches + 2; b++) { /* two to settle */
        uint64_t repeats = 0;
        uint64_t lost = 0;
        for (size_t i = 0; i < messages; i++) {
            bool repeat;
            bool seen = false;
            uint64_t message = next_of(s, &repeat);
            (void)tepal_filter_test_add(r, tepal_hash_u64(&hasher, message), &seen);
            repeats += repeat;
            lost += repeat && !seen;
        }
        if (b >= 2) {
            lab_share_add(missed, lost, repeats);
        }
    }
}

static enum tepal_status formula(const struct stream *s,
                                 const struct tepal_recycling_setting *setting,
                                 const struct tepal_recycling_rates *rates,
                                 struct tepal_recycling_misses *misses)
{
    switch (s->law) {
    case GEOMETRIC:
        return tepal_recycling_fn_geometric(setting, rates, s->parameter, 0.5, misses);
    case PARETO:
        return tepal_recycling_fn_pareto(setting, rates, s->parameter, SCALE, 0.5, misses);
    default:
        return tepal_recycling_fn_zipf(setting, rates, s->parameter, KEYS, misses);
    }
}

/* One stream through one filter: a row for the formula, one for the simulation. */
static int one_case(struct lab *lab, enum law law, double parameter, uint32_t phases,
                    double *expected, struct svg_point *measured)
{
    struct tepal_recycling_setting setting = TEPAL_RECYCLING_SETTING_INIT;
    struct tepal_recycling_rates rates;
    struct tepal_recycling_misses misses;
    struct tepal_filter *r = NULL;
    struct stream s;
    struct lab_share missed = {0};
    struct lab_row row;
    setting.bits = MEMORY / phases;
    setting.phases = phases;
    setting.retain = true;
    int code = stream_new(&s, lab, law, parameter);
    if (code != EXIT_YES) {
        return code;
    }
    code = lab_status(tepal_recycling_best_sigma(&setting, RATE, &rates));
    code = code == EXIT_YES ? lab_status(formula(&s, &setting, &rates, &misses)) : code;
    code = code == EXIT_YES ? rbf_create(lab, &setting, TEPAL_RECYCLING_SIGMA, setting.sigma, &r)
                            : code;
    if (code == EXIT_YES) {
        run_stream(&s, r, lab_trials(lab, 12, 20), lab_trials(lab, 60000, 400000), &missed);
        *expected = misses.fn;
        lab_row_exact(lab, LAB_ROW, misses.fn, "%s %g, %" PRIu32 " phase%s, formula",
                      law_names[law], parameter, phases, SAY_S(phases));
        row = lab_expected(misses.fn, 0.01 * misses.fn); /* the formula is within 1 % */
        lab_share_row(&row, &missed, 1);
        lab_row(lab, &row, "%s %g, %" PRIu32 " phase%s", law_names[law], parameter, phases,
                SAY_S(phases));
        *measured = lab_point_row(parameter, &row);
    }
    tepal_filter_free(r);
    stream_free(&s);
    return code;
}

/* ---- streams that were measured -------------------------------------------------------------- */

struct log {
    struct requests requests;
    uint64_t *last;   /* by key: the arrival at which it came last, from 1; 0: never */
    double *gap;      /* of the repeats, ascending */
    double *survival; /* the share of the repeats whose gap is longer */
    size_t repeats;
};

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void log_free(struct log *log)
{
    requests_free(&log->requests);
    free(log->last);
    free(log->gap);
    free(log->survival);
}

static int log_read(struct log *log, const char *folder, const char *name)
{
    struct requests_form form = {0};
    char path[4096];
    const char *const paths[] = {path};
    snprintf(path, sizeof path, "%s/requests/%s.txt.gz", folder, name);
    int code = requests_read(&log->requests, &form, paths, 1);
    size_t count = log->requests.count;
    log->last = calloc(count + 1, sizeof *log->last);
    log->gap = calloc(count + 1, sizeof *log->gap);
    log->survival = calloc(count + 1, sizeof *log->survival);
    if (code != EXIT_YES || log->last == NULL || log->gap == NULL || log->survival == NULL) {
        return code != EXIT_YES ? code : say_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t *last = &log->last[log->requests.request[i].key];
        if (*last > 0) {
            log->gap[log->repeats++] = (double)(i + 1 - *last);
        }
        *last = i + 1;
    }
    qsort(log->gap, log->repeats, sizeof *log->gap, by_size);
    size_t steps = 0;
    for (size_t i = 0; i < log->repeats; i++) {
        steps += i == 0 || log->gap[i] > log->gap[steps - 1];
        log->gap[steps - 1] = log->gap[i];
        log->survival[steps - 1] = 1 - (double)(i + 1) / (double)log->repeats;
    }
    return EXIT_YES;
}

/* How many steps the gaps have. */
static size_t log_steps(const struct log *log)
{
    size_t steps = 0;
    while (steps < log->repeats && (steps == 0 || log->survival[steps - 1] > 0)) {
        steps++;
    }
    return steps;
}

/* The repeats of a log that a filter does not recognise, and what the gaps foretell. */
static int one_log(struct lab *lab, struct log *log, const char *name, uint32_t phases)
{
    struct tepal_recycling_setting setting = TEPAL_RECYCLING_SETTING_INIT;
    struct tepal_recycling_rates rates;
    struct tepal_recycling_misses misses;
    struct tepal_filter *r = NULL;
    struct lab_share missed = {0};
    size_t count = log->requests.count;
    struct tepal_gaps gaps = {log->gap, log->survival, log_steps(log),
                              1 - (double)log->repeats / (double)count};
    struct tepal_hasher hasher;
    setting.bits = MEMORY / phases;
    setting.phases = phases;
    setting.retain = true;
    int code = lab_status(tepal_recycling_best_sigma(&setting, RATE, &rates));
    code = code == EXIT_YES ? lab_status(tepal_recycling_fn_gaps(&setting, &rates, &gaps, &misses))
                            : code;
    code = code == EXIT_YES ? rbf_create(lab, &setting, TEPAL_RECYCLING_SIGMA, setting.sigma, &r)
                            : code;
    if (code != EXIT_YES) {
        return code;
    }
    tepal_hasher_init(lab_draw(lab), &hasher);
    memset(log->last, 0, (count + 1) * sizeof *log->last);
    for (size_t part = 0; part < 20; part++) {
        uint64_t repeats = 0;
        uint64_t lost = 0;
        for (size_t i = count * part / 20; i < count * (part + 1) / 20; i++) {
            uint32_t key = log->requests.request[i].key;
            bool seen = false;
            (void)tepal_filter_test_add(r, tepal_hash_u64(&hasher, key), &seen);
            repeats += log->last[key] > 0;
            lost += log->last[key] > 0 && !seen;
            log->last[key] = 1;
        }
        if (repeats > 0) {
            lab_share_add(&missed, lost, repeats);
        }
    }
    lab_row_exact(lab, LAB_ROW, misses.fn, "%s, %" PRIu32 " phase%s, formula from its gaps", name,
                  phases, SAY_S(phases));
    /* there is only this one log */
    lab_row_exact(lab, LAB_ROW, (double)missed.hits / (double)missed.trials,
                  "%s, %" PRIu32 " phase%s", name, phases, SAY_S(phases));
    tepal_filter_free(r);
    return EXIT_YES;
}

static int measured_logs(struct lab *lab)
{
    static const char *const names[] = {"web12", "orm-busy-2m", "recs-500k"};
    int code = EXIT_YES;
    for (size_t i = 0; i < 3 && code == EXIT_YES; i++) {
        struct log log = {0};
        code = log_read(&log, lab_data(lab), names[i]);
        for (uint32_t phases = 1; phases <= 3 && code == EXIT_YES; phases++) {
            code = one_log(lab, &log, names[i], phases);
        }
        log_free(&log);
    }
    return code;
}

/* ---- false negatives ------------------------------------------------------------------------- */

/* Sec. V-C: more false negatives come with one phase, and "are mitigated" by two. */
static void compare(struct lab *lab, double expected[2][STREAMS], struct svg_point seen[2][STREAMS])
{
    double better[2] = {0};
    for (size_t i = 0; i < STREAMS; i++) {
        better[0] += expected[1][i] < expected[0][i];
        better[1] += seen[1][i].y < seen[0][i].y;
    }
    lab_row_exact(lab, lab_words(1, 0, better[0] / STREAMS), better[1] / STREAMS,
                  "share of streams with fewer false negatives by two phases than by one");
    double furthest = 0;
    for (size_t i = 0; i < 2 * STREAMS; i++) {
        double formula = expected[i / STREAMS][i % STREAMS];
        const struct svg_point *at = &seen[i / STREAMS][i % STREAMS];
        double off = fmax(0, fmax(at->low - formula, formula - at->high));
        furthest = fmax(furthest, off / formula);
    }
    lab_row_exact(lab, LAB_ROW, 100 * furthest,
                  "the formula is outside of the intervals by at most, %%");
}

int lab_004_negatives(struct lab *lab)
{
    static const struct {
        enum law law;
        double parameter;
    } streams[STREAMS] = {{GEOMETRIC, 200},  {GEOMETRIC, 500}, {GEOMETRIC, 1000}, {GEOMETRIC, 2000},
                          {GEOMETRIC, 3000}, {PARETO, 1.5},    {ZIPF, 0.8}};
    struct lab_plot plot = {0};
    double expected[3][STREAMS] = {0};
    struct svg_point seen[3][STREAMS] = {0};
    int code = EXIT_YES;
    for (uint32_t p = 0; p < 3 && code == EXIT_YES; p++) {
        lab_plot_curve(&plot, "%" PRIu32 " phase%s", p + 1, SAY_S(p + 1));
        for (size_t i = 0; i < STREAMS && code == EXIT_YES; i++) {
            code = one_case(lab, streams[i].law, streams[i].parameter, p + 1, &expected[p][i],
                            &seen[p][i]);
            if (streams[i].law == GEOMETRIC) {
                lab_plot_line(&plot, streams[i].parameter, expected[p][i]);
                plot.mark[p][plot.marks[p]++] = seen[p][i];
            }
        }
    }
    compare(lab, expected, seen);
    if (code == EXIT_YES && lab_data(lab) != NULL) {
        code = measured_logs(lab);
    }
    return code == EXIT_YES
               ? lab_plot_draw(lab, &plot, "Repeats that are not recognised, 20,000 bits in all",
                               "mean gap between repeats, messages", "share of the repeats",
                               LAB_LOG_BOTH)
               : code;
}
