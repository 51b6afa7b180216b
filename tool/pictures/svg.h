/*
 * svg.h: a chart as SVG, drawn by hand: two labelled axes with round numbers, linear or
 * logarithmic, a grid, and one or more curves with a legend. It follows the reader's light or dark
 * setting and needs no font, script or style of its own. The same numbers give the same bytes.
 */
#ifndef TOOL_PICTURES_SVG_H
#define TOOL_PICTURES_SVG_H

#include <stdbool.h>
#include <stddef.h>

#include "output/out.h"

struct svg_point {
    double x;
    double y;
    double low; /* an interval around y, drawn as a bar if low < high */
    double high;
};

enum svg_style {
    SVG_LINE,   /* points joined, in their order */
    SVG_DASHED, /* the same, dashed: a model, or what a paper prints */
    SVG_MARKS   /* points alone: measurements */
};

/* All values finite; on a linear axis not negative, on a logarithmic one those up to 0 are left
 * out. */
struct svg_series {
    const char *name; /* in the legend; NULL: not there */
    enum svg_style style;
    const struct svg_point *point;
    size_t count;
};

/* Texts are escaped. */
struct svg_chart {
    const char *title;
    const char *x_label;
    const char *y_label;
    bool x_log;
    bool y_log;
    const struct svg_series *series;
    size_t count; /* of series; beyond SVG_COLOURS the colours repeat */
};

#define SVG_COLOURS 8

void svg_print(struct out *out, const struct svg_chart *chart);

/*
 * The rules between a picture's <style> and </style>: the same in every one, so that a page with
 * many pictures needs them once.
 */
void svg_style(struct out *out);

/* Text with what XML does not allow escaped or replaced. */
void svg_escaped(struct out *out, const char *text);

/* The step between two marks of an axis from 0 to `most`: 1, 2 or 5 times a power of ten. */
double svg_step(double most);

#endif
