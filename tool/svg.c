/* svg.c: from numbers to a picture of 720 points' width; the legend stands below the axes. */
#include "svg.h"

#include <math.h>

#define WIDTH         720.0
#define HEIGHT        440.0
#define LEFT          84.0
#define RIGHT         24.0
#define TOP           52.0
#define BOTTOM        64.0
#define KEY_ROW       20.0 /* height of a row of the legend */
#define KEY_ROW_NAMES 3

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

static void print_grid(struct out *out, const struct axis *x, const struct axis *y)
{
    for (size_t i = 0; i <= marks_of(x); i++) {
        double at = place_x(x, mark(x, i));
        out_format(out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", at, TOP, HEIGHT - BOTTOM);
        out_format(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.6g</text>\n", at,
                   HEIGHT - BOTTOM + 18, mark(x, i));
    }
    for (size_t i = 0; i <= marks_of(y); i++) {
        double at = place_y(y, mark(y, i));
        out_format(out, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>\n", LEFT, at, WIDTH - RIGHT);
        out_format(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.6g</text>\n", LEFT - 8,
                   at + 4, mark(y, i));
    }
    out_format(out, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", LEFT, TOP,
               HEIGHT - BOTTOM, WIDTH - RIGHT);
}

static void print_labels(struct out *out, const struct svg_chart *c)
{
    double middle = TOP + (HEIGHT - TOP - BOTTOM) / 2;
    out_format(out, "<text class=\"title\" x=\"%.1f\" y=\"28\">", LEFT);
    svg_escaped(out, c->title);
    out_format(out, "</text>\n<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
               LEFT + (WIDTH - LEFT - RIGHT) / 2, HEIGHT - 18);
    svg_escaped(out, c->x_label);
    out_format(out,
               "</text>\n<text transform=\"translate(20 %.1f) rotate(-90)\" "
               "text-anchor=\"middle\">",
               middle);
    svg_escaped(out, c->y_label);
    out_text(out, "</text>\n");
}

static void print_marks(struct out *out, const struct svg_chart *c, size_t number,
                        const struct axis *x, const struct axis *y)
{
    const struct svg_series *s = &c->series[number];
    for (size_t i = 0; i < s->count; i++) {
        const struct svg_point *p = &s->point[i];
        if (!is_shown(c, p)) {
            continue;
        }
        double at = place_x(x, p->x);
        if (p->low < p->high) {
            double low = y->log ? fmax(p->low, pow(10, y->low)) : p->low;
            out_format(out, "<path class=\"c%zu\" d=\"M%.2f %.2fV%.2f\"/>\n", number % SVG_COLOURS,
                       at, place_y(y, low), place_y(y, p->high));
        }
        if (s->style == SVG_MARKS) {
            out_format(out, "<circle class=\"c%zu\" cx=\"%.2f\" cy=\"%.2f\" r=\"3\"/>\n",
                       number % SVG_COLOURS, at, place_y(y, p->y));
        }
    }
}

static void print_curve(struct out *out, const struct svg_chart *c, size_t number,
                        const struct axis *x, const struct axis *y)
{
    const struct svg_series *s = &c->series[number];
    char pen = 'M';
    out_format(out, "<path class=\"curve c%zu%s\" d=\"", number % SVG_COLOURS,
               s->style == SVG_DASHED ? " dashed" : "");
    for (size_t i = 0; i < s->count; i++) {
        if (is_shown(c, &s->point[i])) {
            out_format(out, "%c%.2f %.2f", pen, place_x(x, s->point[i].x),
                       place_y(y, s->point[i].y));
            pen = 'L';
        }
    }
    out_text(out, "\"/>\n");
}

static size_t named(const struct svg_chart *c)
{
    size_t names = 0;
    for (size_t i = 0; i < c->count; i++) {
        names += c->series[i].name != NULL;
    }
    return names;
}

static void print_key(struct out *out, const struct svg_chart *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct svg_series *s = &c->series[i];
        if (s->name == NULL) {
            continue;
        }
        double at = LEFT + (double)(n % KEY_ROW_NAMES) * (WIDTH - LEFT - RIGHT) / KEY_ROW_NAMES;
        double y = HEIGHT + KEY_ROW / 2 + (double)(n / KEY_ROW_NAMES) * KEY_ROW;
        if (s->style == SVG_MARKS) {
            out_format(out, "<circle class=\"c%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n",
                       i % SVG_COLOURS, at + 12, y - 4);
        } else {
            out_format(out, "<path class=\"curve c%zu%s\" d=\"M%.1f %.1fh24\"/>\n", i % SVG_COLOURS,
                       s->style == SVG_DASHED ? " dashed" : "", at, y - 4);
        }
        out_format(out, "<text x=\"%.1f\" y=\"%.1f\">", at + 30, y);
        svg_escaped(out, s->name);
        out_text(out, "</text>\n");
        n++;
    }
}

static void print_style(struct out *out)
{
    static const char *const light[SVG_COLOURS] = {"#0b62a8", "#c0392b", "#2e7d32", "#8e44ad",
                                                   "#b9770e", "#00796b", "#5d4037", "#616161"};
    static const char *const dark[SVG_COLOURS] = {"#6cb6ff", "#ff8a80", "#81c784", "#ce93d8",
                                                  "#ffcc80", "#80cbc4", "#bcaaa4", "#bdbdbd"};
    out_text(out, "<style>\n"
                  ".paper{fill:#fff}text{fill:#222}.title{font-size:16px;font-weight:bold}\n"
                  ".grid{stroke:#ddd;fill:none}.axis{stroke:#222;fill:none}\n"
                  ".curve{stroke-width:2.5;fill:none;stroke-linejoin:round}\n"
                  ".dashed{stroke-dasharray:6 4}circle{fill:none;stroke-width:2}\n");
    for (int i = 0; i < SVG_COLOURS; i++) {
        out_format(out, ".c%d{stroke:%s}\n", i, light[i]);
    }
    out_text(out, "@media(prefers-color-scheme:dark){.paper{fill:#16181c}text{fill:#e6e6e6}\n"
                  ".grid{stroke:#3a3d44}.axis{stroke:#e6e6e6}\n");
    for (int i = 0; i < SVG_COLOURS; i++) {
        out_format(out, ".c%d{stroke:%s}\n", i, dark[i]);
    }
    out_text(out, "}\n</style>\n");
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
    size_t rows = (named(c) + KEY_ROW_NAMES - 1) / KEY_ROW_NAMES;
    double height = HEIGHT + (rows > 0 ? (double)rows * KEY_ROW : 0);
    make_axes(c, &x, &y);
    out_format(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
               "role=\"img\" font-family=\"sans-serif\" font-size=\"13\">\n<title>",
               WIDTH, height);
    svg_escaped(out, c->title);
    out_text(out, "</title>\n");
    print_style(out);
    out_format(out, "<rect class=\"paper\" width=\"%.0f\" height=\"%.0f\"/>\n", WIDTH, height);
    print_grid(out, &x, &y);
    print_labels(out, c);
    for (size_t i = 0; i < c->count; i++) {
        if (c->series[i].style != SVG_MARKS) {
            print_curve(out, c, i, &x, &y);
        }
        print_marks(out, c, i, &x, &y);
    }
    print_key(out, c);
    out_text(out, "</svg>\n");
}
