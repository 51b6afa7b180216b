/*
 * svg.h: a line chart as SVG, drawn by hand: two labelled axes with round numbers, a grid and one
 * curve. It follows the reader's light or dark setting and needs no font, script or style of its
 * own.
 */
#ifndef TOOL_SVG_H
#define TOOL_SVG_H

#include <stddef.h>

#include "out.h"

struct svg_point {
    double x;
    double y;
};

/* All values finite and not negative, x growing. Texts are escaped. */
struct svg_chart {
    const char *title;
    const char *x_label;
    const char *y_label;
    const struct svg_point *point;
    size_t count; /* 1 or more */
};

void svg_print(struct out *out, const struct svg_chart *chart);

/* The step between two marks of an axis from 0 to `most`: 1, 2 or 5 times a power of ten. */
double svg_step(double most);

#endif
