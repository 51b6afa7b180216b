/* svg.c: from numbers to a picture of 720 points' width; the legend stands below the axes. */
#include "pictures/svg.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH    720.0
#define HEIGHT   440.0
#define LEFT     84.0
#define RIGHT    24.0
#define TOP      52.0
#define BOTTOM   64.0
#define KEY_ROW  20.0 /* height of a row of the legend */
#define PEN      2.5  /* width of a curve */
#define POINT    7.0
#define STRAIGHT 0.15 /* how far a curve may leave its points: nobody sees that */

struct axis {
    bool log;
    double step; /* linear: between two marks */
    double low;  /* where the axis begins: 0, or a power of ten's logarithm */
    double most; /* where it ends: a whole number of steps or decades */
};

double svg_step(double most)
{
    double rough = most / 6;
    if (!(rough > 1e-300) || !isfinite(rough)) {
        return 1;
    }
    double unit = pow(10, floor(log10(rough)));
    double times = rough / unit;
    return unit * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

static bool is_shown(const struct svg_chart *c, const struct svg_point *p)
{
    return !(c->x_log && p->x <= 0) && !(c->y_log && p->y <= 0);
}

/* A linear axis from 0 to `most`, or a logarithmic one around least .. most. */
static struct axis make_axis(bool log, double least, double most)
{
    struct axis a = {.log = log, .step = 1};
    if (log && most > 0) {
        a.low = floor(log10(least) + 1e-9);
        a.most = fmax(ceil(log10(most) - 1e-9), a.low + 1);
        a.step = ceil((a.most - a.low) / 12);
        return a;
    }
    if (log) {
        a.most = 1; /* nothing to show: one empty decade */
        return a;
    }
    a.step = svg_step(most);
    a.most = ceil(most / a.step - 1e-9) * a.step;
    if (!(a.most > 0)) {
        a.most = a.step;
    }
    return a;
}

void svg_escaped(struct out *out, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            out_text(out, "&lt;");
            break;
        case '>':
            out_text(out, "&gt;");
            break;
        case '&':
            out_text(out, "&amp;");
            break;
        case '"':
            out_text(out, "&quot;");
            break;
        default:
            /* Control characters have no place in XML. */
            out_bytes(out, (unsigned char)*text < 0x20 ? " " : text, 1);
        }
    }
}

/* Where a value lies on the axis, from 0 to 1. */
static double share(const struct axis *a, double value)
{
    double at = a->log ? log10(value) : value;
    return (at - a->low) / (a->most - a->low);
}

static double place_x(const struct axis *a, double x)
{
    return LEFT + share(a, x) * (WIDTH - LEFT - RIGHT);
}

static double place_y(const struct axis *a, double y)
{
    return HEIGHT - BOTTOM - share(a, y) * (HEIGHT - TOP - BOTTOM);
}

static double mark(const struct axis *a, size_t i)
{
    double at = a->low + (double)i * a->step;
    return a->log ? pow(10, at) : at;
}

static size_t marks_of(const struct axis *a)
{
    return (size_t)((a->most - a->low) / a->step + 1e-6);
}

/* A place in the picture: a tenth of a point is finer than any screen, and needs few digits. */
static double tenth(double at)
{
    return round(10 * at) / 10;
}

static void print_grid(struct out *out, const struct axis *x, const struct axis *y)
{
    out_text(out, "<path class=\"grid\" d=\"");
    for (size_t i = 0; i <= marks_of(x); i++) {
        out_format(out, "M%.6g %gV%g", tenth(place_x(x, mark(x, i))), TOP, HEIGHT - BOTTOM);
    }
    for (size_t i = 0; i <= marks_of(y); i++) {
        out_format(out, "M%g %.6gH%g", LEFT, tenth(place_y(y, mark(y, i))), WIDTH - RIGHT);
    }
    out_format(out, "\"/>\n<g text-anchor=\"middle\" transform=\"translate(0 %g)\">\n",
               HEIGHT - BOTTOM + 18);
    for (size_t i = 0; i <= marks_of(x); i++) {
        out_format(out, "<text x=\"%.6g\">%.6g</text>\n", tenth(place_x(x, mark(x, i))),
                   mark(x, i));
    }
    out_format(out, "</g>\n<g text-anchor=\"end\" transform=\"translate(%g 4)\">\n", LEFT - 8);
    for (size_t i = 0; i <= marks_of(y); i++) {
        out_format(out, "<text y=\"%.6g\">%.6g</text>\n", tenth(place_y(y, mark(y, i))),
                   mark(y, i));
    }
    out_format(out, "</g>\n<path class=\"axis\" d=\"M%g %gV%gH%g\"/>\n", LEFT, TOP, HEIGHT - BOTTOM,
               WIDTH - RIGHT);
}

static void print_labels(struct out *out, const struct svg_chart *c)
{
    double middle = TOP + (HEIGHT - TOP - BOTTOM) / 2;
    out_format(out, "<text class=\"title\" x=\"%g\" y=\"28\">", LEFT);
    svg_escaped(out, c->title);
    out_format(out, "</text>\n<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">",
               LEFT + (WIDTH - LEFT - RIGHT) / 2, HEIGHT - 18);
    svg_escaped(out, c->x_label);
    out_format(out,
               "</text>\n<text transform=\"translate(20 %g) rotate(-90)\" "
               "text-anchor=\"middle\">",
               middle);
    svg_escaped(out, c->y_label);
    out_text(out, "</text>\n");
}

/* The intervals of a series, as one path. Those that the curve or the point would hide are left. */
static void print_bars(struct out *out, const struct svg_chart *c, size_t number,
                       const struct axis *x, const struct axis *y)
{
    const struct svg_series *s = &c->series[number];
    double hidden = s->style == SVG_MARKS ? POINT : PEN;
    bool any = false;
    for (size_t i = 0; i < s->count; i++) {
        const struct svg_point *p = &s->point[i];
        if (!is_shown(c, p) || !(p->low < p->high)) {
            continue;
        }
        double low = tenth(place_y(y, y->log ? fmax(p->low, pow(10, y->low)) : p->low));
        double high = tenth(place_y(y, p->high));
        if (low - high <= hidden) {
            continue;
        }
        if (!any) {
            out_format(out, "<path class=\"c%zu\" d=\"", number % SVG_COLOURS);
        }
        any = true;
        out_format(out, "M%.6g %.6gv%.6g", tenth(place_x(x, p->x)), low, tenth(high - low));
    }
    out_text(out, any ? "\"/>\n" : "");
}

/* Points: lines of no length with round ends. */
static void print_points(struct out *out, const struct svg_chart *c, size_t number,
                         const struct axis *x, const struct axis *y)
{
    const struct svg_series *s = &c->series[number];
    bool any = false;
    for (size_t i = 0; i < s->count; i++) {
        if (!is_shown(c, &s->point[i])) {
            continue;
        }
        if (!any) {
            out_format(out, "<path class=\"point c%zu\" d=\"", number % SVG_COLOURS);
        }
        any = true;
        out_format(out, "M%.6g %.6gh0", tenth(place_x(x, s->point[i].x)),
                   tenth(place_y(y, s->point[i].y)));
    }
    out_text(out, any ? "\"/>\n" : "");
}

/*
 * From point i, the furthest point that a straight line reaches without leaving any in between by
 * more than a pen's width shows: fewer points, the same picture.
 */
static size_t furthest(const struct svg_point *at, size_t count, size_t i)
{
    size_t end = i + 1;
    for (size_t to = i + 2; to < count && at[to].x > at[i].x; to++) {
        double slope = (at[to].y - at[i].y) / (at[to].x - at[i].x);
        for (size_t j = i + 1; j < to; j++) {
            if (!(fabs(at[i].y + slope * (at[j].x - at[i].x) - at[j].y) <= STRAIGHT)) {
                return end;
            }
        }
        end = to;
    }
    return end;
}

/* The points' places; those that are not shown are left out. NULL without memory. */
static struct svg_point *places(const struct svg_chart *c, const struct svg_series *s,
                                const struct axis *x, const struct axis *y, size_t *count)
{
    struct svg_point *at = malloc((s->count + 1) * sizeof *at);
    *count = 0;
    for (size_t i = 0; at != NULL && i < s->count; i++) {
        if (is_shown(c, &s->point[i])) {
            at[(*count)++] = (struct svg_point){.x = tenth(place_x(x, s->point[i].x)),
                                                .y = tenth(place_y(y, s->point[i].y))};
        }
    }
    return at;
}

static void print_curve(struct out *out, const struct svg_chart *c, size_t number,
                        const struct axis *x, const struct axis *y)
{
    const struct svg_series *s = &c->series[number];
    size_t count;
    struct svg_point *at = places(c, s, x, y, &count);
    struct svg_point last = {0};
    if (at == NULL) {
        out->failed = ENOMEM; /* whoever closes it tells */
    }
    if (count > 0) {
        out_format(out, "<path class=\"curve c%zu%s\" d=\"", number % SVG_COLOURS,
                   s->style == SVG_DASHED ? " dashed" : "");
        for (size_t i = 0; i < count; i = furthest(at, count, i)) {
            double right = tenth(at[i].x - last.x);
            double down = tenth(at[i].y - last.y);
            out_format(out, down < 0 ? "%c%.6g%.6g" : "%c%.6g %.6g", i == 0 ? 'M' : 'l', right,
                       down == 0 ? 0.0 : down);
            last = at[i];
        }
        out_text(out, "\"/>\n");
    }
    free(at);
}

static size_t named(const struct svg_chart *c)
{
    size_t names = 0;
    for (size_t i = 0; i < c->count; i++) {
        names += c->series[i].name != NULL;
    }
    return names;
}

/* Names in a row of the legend: three, or fewer where they are long (a letter is 7 points wide). */
static size_t names_a_row(const struct svg_chart *c)
{
    size_t longest = 0;
    for (size_t i = 0; i < c->count; i++) {
        size_t len = c->series[i].name == NULL ? 0 : strlen(c->series[i].name);
        longest = len > longest ? len : longest;
    }
    return longest <= 24 ? 3 : longest <= 38 ? 2 : 1;
}

static void print_key(struct out *out, const struct svg_chart *c)
{
    size_t a_row = names_a_row(c);
    size_t n = 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct svg_series *s = &c->series[i];
        if (s->name == NULL) {
            continue;
        }
        double at = LEFT + (double)(n % a_row) * (WIDTH - LEFT - RIGHT) / (double)a_row;
        double y = HEIGHT + KEY_ROW / 2 + (double)(n / a_row) * KEY_ROW;
        if (s->style == SVG_MARKS) {
            out_format(out, "<path class=\"point c%zu\" d=\"M%g %gh0\"/>\n", i % SVG_COLOURS,
                       at + 12, y - 4);
        } else {
            out_format(out, "<path class=\"curve c%zu%s\" d=\"M%g %gh24\"/>\n", i % SVG_COLOURS,
                       s->style == SVG_DASHED ? " dashed" : "", at, y - 4);
        }
        out_format(out, "<text x=\"%g\" y=\"%g\">", at + 30, y);
        svg_escaped(out, s->name);
        out_text(out, "</text>\n");
        n++;
    }
}

void svg_style(struct out *out)
{
    static const char *const light[SVG_COLOURS] = {"#0b62a8", "#c0392b", "#2e7d32", "#8e44ad",
                                                   "#b9770e", "#00796b", "#5d4037", "#616161"};
    static const char *const dark[SVG_COLOURS] = {"#6cb6ff", "#ff8a80", "#81c784", "#ce93d8",
                                                  "#ffcc80", "#80cbc4", "#bcaaa4", "#bdbdbd"};
    out_text(out,
             "svg{font:13px "
             "sans-serif}.paper{fill:#fff}text{fill:#222}.title{font-size:16px;font-weight:bold}\n"
             ".grid{stroke:#ddd;fill:none}.axis{stroke:#222;fill:none}\n"
             ".curve{stroke-width:2.5;fill:none;stroke-linejoin:round}\n"
             ".dashed{stroke-dasharray:6 4}.point{stroke-width:7;stroke-linecap:round}\n");
    for (int i = 0; i < SVG_COLOURS; i++) {
        out_format(out, ".c%d{stroke:%s}\n", i, light[i]);
    }
    out_text(out, "@media(prefers-color-scheme:dark){.paper{fill:#16181c}text{fill:#e6e6e6}\n"
                  ".grid{stroke:#3a3d44}.axis{stroke:#e6e6e6}\n");
    for (int i = 0; i < SVG_COLOURS; i++) {
        out_format(out, ".c%d{stroke:%s}\n", i, dark[i]);
    }
    out_text(out, "}\n");
}

static void make_axes(const struct svg_chart *c, struct axis *x, struct axis *y)
{
    double least_x = INFINITY;
    double least_y = INFINITY;
    double most_x = 0;
    double most_y = 0;
    for (size_t i = 0; i < c->count; i++) {
        for (size_t j = 0; j < c->series[i].count; j++) {
            const struct svg_point *p = &c->series[i].point[j];
            if (is_shown(c, p)) {
                least_x = fmin(least_x, p->x);
                most_x = fmax(most_x, p->x);
                least_y = fmin(least_y, p->y);
                most_y = fmax(most_y, p->low < p->high ? fmax(p->y, p->high) : p->y);
            }
        }
    }
    *x = make_axis(c->x_log, least_x, most_x);
    *y = make_axis(c->y_log, least_y, most_y);
}

void svg_print(struct out *out, const struct svg_chart *c)
{
    struct axis x;
    struct axis y;
    size_t rows = (named(c) + names_a_row(c) - 1) / names_a_row(c);
    double height = HEIGHT + (rows > 0 ? (double)rows * KEY_ROW : 0);
    make_axes(c, &x, &y);
    out_format(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
               "role=\"img\">\n<title>",
               WIDTH, height);
    svg_escaped(out, c->title);
    out_text(out, "</title>\n<style>\n");
    svg_style(out);
    out_text(out, "</style>\n");
    out_format(out, "<rect class=\"paper\" width=\"%.0f\" height=\"%.0f\"/>\n", WIDTH, height);
    print_grid(out, &x, &y);
    print_labels(out, c);
    for (size_t i = 0; i < c->count; i++) {
        if (c->series[i].style != SVG_MARKS) {
            print_curve(out, c, i, &x, &y);
        }
        print_bars(out, c, i, &x, &y);
        if (c->series[i].style == SVG_MARKS) {
            print_points(out, c, i, &x, &y);
        }
    }
    print_key(out, c);
    out_text(out, "</svg>\n");
}
