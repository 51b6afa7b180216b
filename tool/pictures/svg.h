/*
 * svg.h: a chart as SVG, drawn by hand: two labelled axes with round numbers, linear or
 * logarithmic, a grid, and one or more curves. Names stand beside the curves if there is room
 * for all of them, else in a legend below. It follows the reader's light or dark
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

enum svg_shape { SVG_CIRCLE, SVG_SQUARE, SVG_TRIANGLE, SVG_DIAMOND }; /* of marks */

/*
 * All values finite; on a linear axis not negative. On a logarithmic axis those up to 0 are left
 * out, but for marks: they stand on a line of their own, "0", below the axis.
 */
struct svg_series {
    const char *name; /* in the legend or beside it; NULL: not there */
    enum svg_style style;
    const struct svg_point *point;
    size_t count;
};

/* How a series looks, where its number alone should not decide. */
struct svg_look {
    size_t colour;        /* 1 .. SVG_ALL_COLOURS; 0: by its number */
    enum svg_shape shape; /* of its marks */
    const char *label;    /* beside its first mark; NULL: none */
};

/* What numbers on an axis stand for, and so how people read them. */
enum svg_unit {
    SVG_NUMBER, /* 0.5, 2,000, 1 million */
    SVG_SHARE,  /* of 1, as 1 % */
    SVG_BYTES   /* 64 kB, 10 MB: powers of 1000 */
};

/* Texts are escaped. */
struct svg_chart {
    const char *title;
    const char *x_label;
    const char *y_label;
    enum svg_unit x_unit;
    enum svg_unit y_unit;
    bool x_log;
    bool y_log;
    bool y_zero; /* logarithmic: curves go down to the line of 0, too, as marks do */
    const struct svg_series *series;
    const struct svg_look *look; /* of each series; NULL: by their numbers */
    size_t count;                /* of series; beyond SVG_COLOURS the colours repeat */
};

#define SVG_COLOURS     8
#define SVG_ALL_COLOURS 10 /* and those that must be chosen */

void svg_print(struct out *out, const struct svg_chart *chart);

/*
 * The rules between a picture's <style> and </style>: the same in every one, so that a page with
 * many pictures needs them once.
 */
void svg_style(struct out *out);

/* Text with what XML does not allow escaped or replaced. */
void svg_escaped(struct out *out, const char *text);

/* A number on an axis; `text` has room for 32 bytes. Returns it. */
const char *svg_mark(enum svg_unit unit, double value, char *text);

/* The step between two marks of an axis from 0 to `most`: 1, 2 or 5 times a power of ten. */
double svg_step(double most);

#endif
