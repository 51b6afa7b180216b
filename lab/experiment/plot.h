/*
 * plot.h: shares that are measured on several samples, and pictures of curves with such points on
 * them, each point with a row of its own.
 */
#ifndef LAB_EXPERIMENT_PLOT_H
#define LAB_EXPERIMENT_PLOT_H

#include "experiment/lab.h"

#define PLOT_CURVES 8
#define PLOT_POINTS 64

/* A share that was measured on several samples: by sample, and all together. */
struct lab_share {
    struct lab_mean mean;
    uint64_t hits;
    uint64_t trials;
};

void lab_share_add(struct lab_share *share, uint64_t hits, uint64_t trials);

/*
 * `ours` of a row: the wider of the interval of the samples' mean (they differ) and of the one
 * of all trials (rare events may be seen in none).
 */
void lab_share_row(struct lab_row *row, const struct lab_share *share, double unit);

/* `ours` of a row by lab_share_row, in one call. */
void lab_row_share(struct lab *lab, struct lab_row row, const struct lab_share *share, double unit,
                   const char *format, ...) SAY_FORMAT(5, 6);

/* A picture that is made curve by curve. All zeros is an empty one. */
#define LAB_CURVES 12
struct lab_curves {
    struct svg_series series[LAB_CURVES];
    struct svg_point point[LAB_CURVES][PLOT_POINTS];
    char name[LAB_CURVES][64];
    size_t count;
};

/* Begins a curve; its number. */
size_t lab_curve(struct lab_curves *curves, enum svg_style style, const char *format, ...)
    SAY_FORMAT(3, 4);
void lab_curve_point(struct lab_curves *curves, size_t curve, struct svg_point point);

int lab_curves_draw(struct lab *lab, struct lab_curves *curves, const char *title,
                    const char *x_label, const char *y_label, enum lab_axes axes);

/* A picture: curves, and points measured on them. */
struct lab_plot {
    const char *panel; /* "(a) ", of a figure with two; NULL: one */
    char name[PLOT_CURVES][40];
    struct svg_point line[PLOT_CURVES][PLOT_POINTS];
    struct svg_point mark[PLOT_CURVES][PLOT_POINTS];
    size_t lines[PLOT_CURVES];
    size_t marks[PLOT_CURVES];
    size_t curves;
    uint64_t measured;
    uint64_t off;    /* points whose interval misses the true value */
    double furthest; /* the printed curve from the true value */
};

void lab_plot_curve(struct lab_plot *plot, const char *format, ...) SAY_FORMAT(2, 3);
void lab_plot_line(struct lab_plot *plot, double x, double y);

/* A measured point with a row of its own: `curve` is the paper's formula, `exact` the true rate. */
void lab_plot_mark(struct lab *lab, struct lab_plot *plot, double x, const struct lab_share *share,
                   double curve, double exact);

/* The rows that sum up, and the picture. */
int lab_plot_draw(struct lab *lab, const struct lab_plot *plot, const char *title,
                  const char *x_label, const char *y_label, enum lab_axes axes);

#endif
