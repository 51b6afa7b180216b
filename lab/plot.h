/*
 * plot.h: shares that are measured on several samples, and pictures of curves with such points on
 * them, each point with a row of its own.
 */
#ifndef LAB_PLOT_H
#define LAB_PLOT_H

#include "lab.h"

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
int lab_plot_draw(struct lab *lab, const struct lab_plot *plot, const struct svg_chart *axes);

#endif
