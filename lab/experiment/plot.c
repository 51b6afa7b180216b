/* plot.c: measured shares, and pictures of curves with them. */
#include "experiment/plot.h"

#include <stdarg.h>
#include <stdio.h>

_Static_assert(PLOT_CURVES == SVG_COLOURS, "a curve and its points share a colour");

void lab_share_add(struct lab_share *share, uint64_t hits, uint64_t trials)
{
    lab_mean_add(&share->mean, (double)hits / (double)trials);
    share->hits += hits;
    share->trials += trials;
}

void lab_share_row(struct lab_row *row, const struct lab_share *share, double unit)
{
    struct lab_row all = LAB_ROW;
    lab_measured(row, &share->mean);
    lab_counted(&all, share->hits, share->trials);
    row->ours = unit * row->ours;
    row->low = unit * fmax(0, fmin(row->low, all.low));
    row->high = unit * fmin(1, fmax(row->high, all.high));
}

void lab_row_share(struct lab *lab, struct lab_row row, const struct lab_share *share, double unit,
                   const char *format, ...)
{
    char words[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    lab_share_row(&row, share, unit);
    lab_row(lab, &row, "%s", words);
}

/* ---- curves ---------------------------------------------------------------------------------- */

size_t lab_curve(struct lab_curves *c, enum svg_style style, const char *format, ...)
{
    size_t number = c->count++;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->name[number], sizeof c->name[number], format, arguments);
    va_end(arguments);
    c->series[number].style = style;
    return number;
}

void lab_curve_point(struct lab_curves *c, size_t curve, struct svg_point point)
{
    c->point[curve][c->series[curve].count++] = point;
}

int lab_curves_draw(struct lab *lab, struct lab_curves *c, const char *title, const char *x_label,
                    const char *y_label, enum lab_axes axes)
{
    for (size_t i = 0; i < c->count; i++) {
        c->series[i].name = c->name[i];
        c->series[i].point = c->point[i];
    }
    return lab_chart(lab, c->series, c->count, title, x_label, y_label, axes);
}

/* ---- pictures -------------------------------------------------------------------------------- */

static const char *panel(const struct lab_plot *plot)
{
    return plot->panel == NULL ? "" : plot->panel;
}

void lab_plot_curve(struct lab_plot *plot, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(plot->name[plot->curves++], sizeof plot->name[0], format, arguments);
    va_end(arguments);
}

void lab_plot_line(struct lab_plot *plot, double x, double y)
{
    size_t c = plot->curves - 1;
    plot->line[c][plot->lines[c]++] = (struct svg_point){.x = x, .y = y};
}

void lab_plot_mark(struct lab *lab, struct lab_plot *plot, double x, const struct lab_share *share,
                   double curve, double exact)
{
    size_t c = plot->curves - 1;
    struct lab_row row = LAB_ROW;
    lab_share_row(&row, share, 1);
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
static void sum_up(struct lab *lab, const struct lab_plot *plot)
{
    lab_row_count(lab, lab_words(0, 0.006, NAN), plot->off, plot->measured,
                  "%sshare of the points off the model", panel(plot));
    lab_row_exact(lab, LAB_ROW, plot->furthest,
                  "%sthe printed formula is off the exact rate by at most", panel(plot));
}

int lab_plot_draw(struct lab *lab, const struct lab_plot *plot, const char *title,
                  const char *x_label, const char *y_label, enum lab_axes axes)
{
    /* colours go round after PLOT_CURVES: a curve and its points have the same one */
    struct svg_series series[2 * PLOT_CURVES] = {0};
    for (size_t c = 0; c < PLOT_CURVES; c++) {
        bool there = c < plot->curves;
        series[c] =
            (struct svg_series){there ? plot->name[c] : NULL, there ? SVG_DASHED : SVG_MARKS,
                                plot->line[c], plot->lines[c]};
        series[PLOT_CURVES + c] =
            (struct svg_series){NULL, SVG_MARKS, plot->mark[c], plot->marks[c]};
    }
    if (plot->measured > 0) {
        sum_up(lab, plot);
    }
    return lab_chart(lab, series, 2 * PLOT_CURVES, title, x_label, y_label, axes);
}
