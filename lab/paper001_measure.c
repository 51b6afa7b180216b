/* paper001_measure.c: generalized filters that are filled and asked, and pictures of that. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paper001.h"

#define STRANGERS 4096

_Static_assert(GBF_CURVES == SVG_COLOURS, "a curve and its points share a colour");

struct tepal_digest gbf_digest(struct lab *lab)
{
    uint64_t lo = lab_draw(lab);
    return (struct tepal_digest){lo, lab_draw(lab)};
}

static int failed(enum tepal_status status)
{
    return status == TEPAL_OK ? EXIT_YES
                              : say_error(NULL, "lab", "%s", tepal_status_message(status));
}

int gbf_create(struct lab *lab, const struct gbf *at, struct tepal_generalized **out)
{
    struct tepal_params params;
    uint32_t tolerance = lab_sabotaged(lab) && at->k0 + at->k1 > 1;
    enum tepal_status status = tepal_generalized_params(at->bits, at->k0, at->k1, at->zeros,
                                                        tolerance, lab_draw(lab), &params);
    if (status == TEPAL_OK) {
        status = tepal_generalized_create(&params, NULL, out);
    }
    return failed(status);
}

void gbf_share_add(struct gbf_share *share, uint64_t hits, uint64_t trials)
{
    lab_mean_add(&share->mean, (double)hits / (double)trials);
    share->hits += hits;
    share->trials += trials;
}

static void ask_members(struct gbf_seen *seen, const struct tepal_generalized *g,
                        const struct tepal_digest *member, uint64_t keys)
{
    uint64_t lost = 0;
    for (uint64_t i = 0; i < keys; i++) {
        bool gone = !tepal_generalized_query(g, member[i]);
        lost += gone;
        gbf_share_add(&seen->fn_age[keys - 1 - i], gone, 1);
    }
    if (keys > 0) {
        gbf_share_add(&seen->fn, lost, keys);
    }
}

int gbf_measure(struct lab *lab, const struct gbf *at, size_t rounds, size_t strangers,
                struct gbf_seen *seen)
{
    static struct tepal_digest member[GBF_KEYS];
    static struct tepal_digest stranger[STRANGERS];
    static uint64_t answers[STRANGERS / 64 + 1];
    memset(seen, 0, sizeof *seen);
    strangers = strangers < STRANGERS ? strangers : STRANGERS;
    for (size_t r = 0; r < rounds; r++) {
        struct tepal_generalized *g;
        int code = gbf_create(lab, at, &g);
        if (code != EXIT_YES) {
            return code;
        }
        for (uint64_t i = 0; i < at->keys; i++) {
            member[i] = gbf_digest(lab);
        }
        (void)tepal_generalized_add_many(g, member, (size_t)at->keys);
        ask_members(seen, g, member, at->keys);
        for (size_t i = 0; i < strangers; i++) {
            stranger[i] = gbf_digest(lab);
        }
        if (strangers > 0) {
            gbf_share_add(&seen->fp, tepal_generalized_query_many(g, stranger, strangers, answers),
                          strangers);
        }
        tepal_generalized_free(g);
    }
    return EXIT_YES;
}

int gbf_oldest(struct lab *lab, const struct gbf *at, size_t rounds, size_t keys,
               struct gbf_share *lost)
{
    size_t window = (size_t)at->keys + 1;
    struct tepal_digest *recent = calloc(window, sizeof *recent);
    memset(lost, 0, sizeof *lost);
    int code = recent == NULL ? say_error(NULL, "lab", "out of memory") : EXIT_YES;
    for (size_t r = 0; r < rounds && code == EXIT_YES; r++) {
        struct tepal_generalized *g = NULL;
        uint64_t gone = 0;
        code = gbf_create(lab, at, &g);
        for (size_t i = 0; i < keys + window - 1 && code == EXIT_YES; i++) {
            recent[i % window] = gbf_digest(lab);
            (void)tepal_generalized_add(g, recent[i % window]);
            if (i + 1 >= window) {
                gone += !tepal_generalized_query(g, recent[(i + 1) % window]);
            }
        }
        gbf_share_add(lost, gone, keys);
        tepal_generalized_free(g);
    }
    free(recent);
    return code;
}

int gbf_exact(const struct gbf *at, uint64_t age, struct tepal_generalized_errors *rates,
              double *fn_age)
{
    struct tepal_params params;
    enum tepal_status status =
        tepal_generalized_params(at->bits, at->k0, at->k1, at->zeros, 0, 0, &params);
    if (status == TEPAL_OK) {
        status = tepal_generalized_rates(&params, at->keys, &age, fn_age != NULL, fn_age, rates);
    }
    return failed(status);
}

void gbf_row(struct lab_row *row, const struct gbf_share *share, double unit)
{
    struct lab_row all = LAB_ROW;
    lab_measured(row, &share->mean);
    lab_counted(&all, share->hits, share->trials);
    row->ours = unit * row->ours;
    row->low = unit * fmax(0, fmin(row->low, all.low));
    row->high = unit * fmin(1, fmax(row->high, all.high));
}

/* ---- pictures -------------------------------------------------------------------------------- */

static const char *panel(const struct gbf_plot *plot)
{
    return plot->panel == NULL ? "" : plot->panel;
}

void gbf_curve(struct gbf_plot *plot, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(plot->name[plot->curves++], sizeof plot->name[0], format, arguments);
    va_end(arguments);
}

void gbf_line(struct gbf_plot *plot, double x, double y)
{
    size_t c = plot->curves - 1;
    plot->line[c][plot->lines[c]++] = (struct svg_point){.x = x, .y = y};
}

void gbf_mark(struct lab *lab, struct gbf_plot *plot, double x, const struct gbf_share *share,
              double curve, double exact)
{
    size_t c = plot->curves - 1;
    struct lab_row row = LAB_ROW;
    gbf_row(&row, share, 1);
    plot->mark[c][plot->marks[c]++] = (struct svg_point){x, row.ours, row.low, row.high};
    plot->measured++;
    plot->off += !(row.low - 1e-12 <= exact && exact <= row.high + 1e-12);
    plot->furthest = fmax(plot->furthest, fabs(curve - exact));
    lab_row(lab, &row, "%s%s, at %g", panel(plot), plot->name[c], x);
}

/*
 * The paper's claim of all its figures: simulation and analysis are the same. One true point in a
 * thousand is off by chance: so many are forgiven as one or two of fifty.
 */
static void sum_up(struct lab *lab, const struct gbf_plot *plot)
{
    struct lab_row row = LAB_ROW;
    row.published = 0;
    row.rounding = 0.006;
    lab_counted(&row, plot->off, plot->measured);
    lab_row(lab, &row, "%sshare of the points off the model", panel(plot));
    row = LAB_ROW;
    lab_exact(&row, plot->furthest);
    lab_row(lab, &row, "%sthe printed formula is off the exact rate by at most", panel(plot));
}

int gbf_draw(struct lab *lab, const struct gbf_plot *plot, const struct svg_chart *axes)
{
    /* colours go round after GBF_CURVES: a curve and its points have the same one */
    struct svg_series series[2 * GBF_CURVES] = {0};
    struct svg_chart chart = *axes;
    for (size_t c = 0; c < GBF_CURVES; c++) {
        bool there = c < plot->curves;
        series[c] =
            (struct svg_series){there ? plot->name[c] : NULL, there ? SVG_DASHED : SVG_MARKS,
                                plot->line[c], plot->lines[c]};
        series[GBF_CURVES + c] =
            (struct svg_series){NULL, SVG_MARKS, plot->mark[c], plot->marks[c]};
    }
    chart.series = series;
    chart.count = 2 * GBF_CURVES;
    if (plot->measured > 0) {
        sum_up(lab, plot);
    }
    return lab_chart(lab, &chart);
}
