/* stopset.c: filters of penultimate nodes, retouched and replayed. */
#include "paper000/stopset.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void stopset_free(struct stopset *s)
{
    tepal_filter_free(s->bloom);
    free(s->member);
    free(s->bad);
    free(s->suspect);
}

int stopset_make(struct lab *lab, struct world *w, uint64_t bits, uint32_t hashes,
                 struct stopset *s)
{
    struct tepal_params params = TEPAL_PARAMS_INIT;
    size_t members = 0;
    *s = (struct stopset){.member = malloc((w->members + 1) * sizeof *s->member),
                          .bad = malloc(((size_t)w->nodes + 1) * sizeof *s->bad),
                          .suspect = malloc(((size_t)w->nodes + 1) * sizeof *s->suspect)};
    params.cells = bits;
    params.hashes = hashes;
    if (s->member == NULL || s->bad == NULL || s->suspect == NULL ||
        tepal_filter_create(&params, NULL, &s->bloom, NULL) != TEPAL_OK) {
        return say_no_memory();
    }
    for (uint32_t node = 0; node < w->nodes; node++) {
        w->digest[node] = lab_digest(lab);
        if (w->member[node]) {
            s->member[members++] = w->digest[node];
            (void)tepal_filter_add(s->bloom, w->digest[node]);
        }
    }
    for (uint32_t node = 0; node < w->nodes; node++) {
        if (!w->member[node] && w->passes[node] > 0 &&
            tepal_filter_query(s->bloom, w->digest[node])) {
            s->suspect[s->bad_count++] = (struct suspect){node, w->passes[node]};
        }
    }
    suspects_sort(s->suspect, s->bad_count);
    for (size_t i = 0; i < s->bad_count; i++) {
        s->bad[i] = w->digest[s->suspect[i].node];
    }
    return EXIT_YES;
}

/* Without the share beta of its false positives that is the most troublesome. */
static int stopset_retouch(struct lab *lab, const struct world *w, const struct stopset *s,
                           enum tepal_retouch_method method, double beta, struct tepal_filter **out)
{
    struct tepal_retouch_options options = TEPAL_RETOUCH_OPTIONS_INIT;
    struct tepal_known input = {.members = s->member,
                                .member_count = w->members,
                                .avoid = s->bad,
                                .avoid_count = (size_t)ceil(beta * (double)s->bad_count),
                                .others = s->bad,
                                .other_count = s->bad_count};
    options.method = method;
    options.basis = TEPAL_RETOUCH_BASIS_ALL;
    if (lab_sabotaged(lab)) {
        input.avoid_count = 0;
    }
    enum tepal_status status =
        tepal_retouch(s->bloom, &input, &options, NULL, out, NULL, NULL, NULL);
    return lab_status(status);
}

int stopset_measure(struct lab *lab, struct world *w, const struct stopset *s,
                    enum tepal_retouch_method method, double beta, uint32_t cycle,
                    struct lab_mean mean[METRICS], double *run)
{
    struct tepal_filter *out = NULL;
    double metric[METRICS];
    if (beta > 0 && stopset_retouch(lab, w, s, method, beta, &out) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    world_replay_filter(w, beta > 0 ? out : s->bloom, cycle, metric);
    for (size_t j = 0; j < METRICS; j++) {
        lab_mean_add(&mean[j], metric[j]);
    }
    if (run != NULL) {
        memcpy(run, metric, sizeof metric);
    }
    tepal_filter_free(out);
    return EXIT_YES;
}

/* ---- rows ------------------------------------------------------------------------------------ */

void stopset_holds(struct lab *lab, const struct world *w, bool so, const char *words)
{
    lab_row_holds(lab, so, "%s, %s", w->name, words);
}

struct lab_row stopset_skitter(double published)
{
    struct lab_row row = lab_printed(published, 0, NAN);
    row.source = LAB_ELSEWHERE;
    return row;
}

void stopset_skitter_row(struct lab *lab, double published, const struct lab_mean *mean,
                         const struct world *w, const char *words)
{
    struct lab_row row = stopset_skitter(published);
    lab_measured(&row, mean);
    lab_row(lab, &row, "%s, %s", w->name, words);
}

int stopset_draw(struct lab *lab, const struct world *w, struct lab_curves *curves,
                 const char *x_label, const char *format, ...)
{
    char title[80];
    int used = snprintf(title, sizeof title, "%s routes", w->name);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(title + used, sizeof title - (size_t)used, format, arguments);
    va_end(arguments);
    return lab_curves_draw(lab, curves, title, x_label, "share", LAB_LINEAR);
}
