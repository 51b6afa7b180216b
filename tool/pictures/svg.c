/*
 * svg.c: from numbers to a picture of 720 points' width.
 *
 *     title
 *     |          ___ name      names at the ends of the curves if they fit there
 *     |  name---               else each beside its curve, in its colour, touching nothing
 *     |_-'   *  label          marks may have labels of their own
 *     0......*............     values of 0 on a logarithmic axis
 *     legend, if there is no room beside the curves
 */
#include "pictures/svg.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "pictures/names.h"

#define WIDTH       720.0
#define HEIGHT      440.0
#define LEFT        84.0
#define RIGHT       24.0
#define TOP         52.0
#define BOTTOM      64.0
#define KEY_ROW     20.0 /* height of a row of the legend */
#define PEN         2.5  /* width of a curve */
#define POINT       7.0
#define LETTER      7.0   /* width of a letter, about */
#define NAME_LETTER 7.5   /* where a name must not touch anything */
#define ASIDE       190.0 /* widest column of names beside the curves */
#define APART       15.0  /* between two names there */
#define BESIDE      8     /* so many names at most */
#define STRAIGHT    0.15  /* how far a curve may leave its points: nobody sees that */

struct axis {
    bool log;
    bool zero;   /* logarithmic: the first step is for values of 0 */
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

/* A chart with its axes, and where they end on the right. */
struct plot {
    const struct svg_chart *c;
    struct axis x;
    struct axis y;
    double right;
    bool beside;      /* the names stand beside the ends of the curves */
    struct box *near; /* or each at a place of its own beside its curve; NULL: below */
};

static bool is_shown(const struct svg_chart *c, const struct svg_series *s,
                     const struct svg_point *p)
{
    bool zeros = s->style == SVG_MARKS || c->y_zero;
    return !(c->x_log && p->x <= 0) && (zeros || !(c->y_log && p->y <= 0));
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

/* ---- numbers as people read them ------------------------------------------------------------- */

/* 12345 as 12,345. */
static void put_thousands(double value, char *text)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.6g", value);
    size_t whole = strcspn(digits, ".e");
    size_t used = 0;
    for (size_t i = 0; digits[i] != '\0' && used < 30; i++) {
        if (i > 0 && i < whole && (whole - i) % 3 == 0) {
            text[used++] = ',';
        }
        text[used++] = digits[i];
    }
    text[used] = '\0';
}

/* 1e-7 as a power of ten. */
static void put_power(double value, char *text)
{
    static const char *const raised[] = {"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                                         "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
    int power = (int)floor(log10(value) + 1e-9);
    double times = value / pow(10, power);
    char digits[16];
    snprintf(digits, sizeof digits, "%d", abs(power));
    int used = fabs(times - 1) < 1e-9 ? snprintf(text, 32, "10")
                                      : snprintf(text, 32, "%.3g\u00b710", times);
    used += snprintf(text + used, 32 - (size_t)used, "%s", power < 0 ? "\u207b" : "");
    for (const char *d = digits; *d != '\0' && used < 28; d++) {
        used += snprintf(text + used, 32 - (size_t)used, "%s", raised[*d - '0']);
    }
}

/* The value with the last of the units that is not larger. */
static void put_unit(double value, double base, const char *const *unit, size_t units, char *text)
{
    size_t i = 0;
    for (; i + 1 < units && value >= base * (1 - 1e-9); i++) {
        value /= base;
    }
    char number[32];
    put_thousands(value, number);
    snprintf(text, 32, "%.20s%s", number, unit[i]);
}

const char *svg_mark(enum svg_unit unit, double value, char *text)
{
    static const char *const bytes[] = {" B", " kB", " MB", " GB", " TB", " PB", " EB"};
    static const char *const large[] = {" million", " billion"};
    if (value == 0) {
        return strcpy(text, unit == SVG_SHARE ? "0 %" : "0");
    }
    if (unit == SVG_BYTES) {
        put_unit(value, 1000, bytes, 7, text);
    } else if (unit == SVG_SHARE && 100 * value < 0.9e-4) {
        put_power(100 * value, text);
        strcat(text, " %");
    } else if (unit == SVG_SHARE) {
        snprintf(text, 32, "%.6g %%", 100 * value);
    } else if (value < 0.9e-4 || value > 0.9e15) {
        put_power(value, text);
    } else if (value < 1e6 * (1 - 1e-9)) {
        put_thousands(value, text);
    } else {
        put_unit(value / 1e6, 1000, large, 2, text);
    }
    return text;
}

/* ---- places ---------------------------------------------------------------------------------- */

static void put_ascii(struct out *out, char c)
{
    switch (c) {
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
        out_bytes(out, &c, 1);
    }
}

/* Not UTF-8, or U+FFFE or U+FFFF. */
static bool is_no_character(const char *text, size_t bytes)
{
    unsigned char first = (unsigned char)text[0];
    return (bytes == 1 && first >= 0x80) ||
           (bytes == 3 && first == 0xef && (unsigned char)text[1] == 0xbf &&
            (unsigned char)text[2] >= 0xbe);
}

/* Control characters have no place in XML (C1 has one, but moves terminals). */
void svg_escaped(struct out *out, const char *text)
{
    while (*text != '\0') {
        size_t bytes = say_character(text);
        if (say_control(text) > 0) {
            out_text(out, " ");
        } else if (is_no_character(text, bytes)) {
            out_text(out, "\xef\xbf\xbd");
        } else if (bytes > 1) {
            out_bytes(out, text, bytes);
        } else {
            put_ascii(out, *text);
        }
        text += bytes;
    }
}

/* Where a value lies on the axis, from 0 to 1. */
static double share(const struct axis *a, double value)
{
    if (a->log && value <= 0) {
        return 0; /* the line of zeros */
    }
    double at = a->log ? log10(value) : value;
    return (at - a->low) / (a->most - a->low);
}

/* A place in the picture: a tenth of a point is finer than any screen, and needs few digits. */
static double tenth(double at)
{
    return round(10 * at) / 10;
}

static double place_x(const struct plot *p, double x)
{
    return tenth(LEFT + share(&p->x, x) * (p->right - LEFT));
}

static double place_y(const struct plot *p, double y)
{
    return tenth(HEIGHT - BOTTOM - share(&p->y, y) * (HEIGHT - TOP - BOTTOM));
}

static double mark(const struct axis *a, size_t i)
{
    if (a->zero && i == 0) {
        return 0;
    }
    double at = a->low + (double)i * a->step;
    return a->log ? pow(10, at) : at;
}

static size_t marks_of(const struct axis *a)
{
    return (size_t)((a->most - a->low) / a->step + 1e-6);
}

/* ---- the frame ------------------------------------------------------------------------------- */

static void print_grid(struct out *out, const struct plot *p)
{
    char text[32];
    out_text(out, "<path class=\"grid\" d=\"");
    for (size_t i = 0; i <= marks_of(&p->x); i++) {
        out_format(out, "M%.6g %gV%g", place_x(p, mark(&p->x, i)), TOP, HEIGHT - BOTTOM);
    }
    for (size_t i = 0; i <= marks_of(&p->y); i++) {
        out_format(out, "M%g %.6gH%g", LEFT, place_y(p, mark(&p->y, i)), p->right);
    }
    out_format(out, "\"/>\n<g text-anchor=\"middle\" transform=\"translate(0 %g)\">\n",
               HEIGHT - BOTTOM + 18);
    for (size_t i = 0; i <= marks_of(&p->x); i++) {
        out_format(out, "<text x=\"%.6g\">%s</text>\n", place_x(p, mark(&p->x, i)),
                   svg_mark(p->c->x_unit, mark(&p->x, i), text));
    }
    out_format(out, "</g>\n<g text-anchor=\"end\" transform=\"translate(%g 4)\">\n", LEFT - 8);
    for (size_t i = 0; i <= marks_of(&p->y); i++) {
        out_format(out, "<text y=\"%.6g\">%s</text>\n", place_y(p, mark(&p->y, i)),
                   svg_mark(p->c->y_unit, mark(&p->y, i), text));
    }
    out_format(out, "</g>\n<path class=\"axis\" d=\"M%g %gV%gH%g\"/>\n", LEFT, TOP, HEIGHT - BOTTOM,
               p->right);
}

static void print_labels(struct out *out, const struct plot *p)
{
    const struct svg_chart *c = p->c;
    double middle = TOP + (HEIGHT - TOP - BOTTOM) / 2;
    out_format(out, "<text class=\"title\" x=\"%g\" y=\"28\">", LEFT);
    svg_escaped(out, c->title);
    out_format(out, "</text>\n<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">",
               LEFT + (p->right - LEFT) / 2, HEIGHT - 18);
    svg_escaped(out, c->x_label);
    out_format(out,
               "</text>\n<text transform=\"translate(14 %g) rotate(-90)\" "
               "text-anchor=\"middle\">",
               middle);
    svg_escaped(out, c->y_label);
    out_text(out, "</text>\n");
}

/* ---- the series ------------------------------------------------------------------------------ */

static struct svg_look look(const struct svg_chart *c, size_t number)
{
    return c->look != NULL ? c->look[number] : (struct svg_look){0};
}

static size_t colour(const struct svg_chart *c, size_t number)
{
    size_t chosen = look(c, number).colour;
    return chosen > 0 ? (chosen - 1) % SVG_ALL_COLOURS : number % SVG_COLOURS;
}

/* The intervals of a series, as one path. Those that the curve or the point would hide are left. */
static void print_bars(struct out *out, const struct plot *p, size_t number)
{
    const struct svg_series *s = &p->c->series[number];
    double hidden = s->style == SVG_MARKS ? POINT : PEN;
    bool any = false;
    for (size_t i = 0; i < s->count; i++) {
        const struct svg_point *at = &s->point[i];
        if (!is_shown(p->c, s, at) || !(at->low < at->high)) {
            continue;
        }
        double floor_y = p->y.zero ? 0 : pow(10, p->y.low);
        double low = place_y(p, p->y.log ? fmax(at->low, floor_y) : at->low);
        double high = place_y(p, at->high);
        if (low - high <= hidden) {
            continue;
        }
        if (!any) {
            out_format(out, "<path class=\"c%zu\" d=\"", colour(p->c, number));
        }
        any = true;
        out_format(out, "M%.6g %.6gv%.6g", place_x(p, at->x), low, tenth(high - low));
    }
    out_text(out, any ? "\"/>\n" : "");
}

/* A mark at a place: circles are lines of no length with round ends, the others small outlines. */
static void put_mark(struct out *out, enum svg_shape shape, double x, double y)
{
    switch (shape) {
    case SVG_SQUARE:
        out_format(out, "M%.6g %.6gh5v5h-5z", tenth(x - 2.5), tenth(y - 2.5));
        break;
    case SVG_TRIANGLE:
        out_format(out, "M%.6g %.6gl3.5 6h-7z", x, tenth(y - 3.5));
        break;
    case SVG_DIAMOND:
        out_format(out, "M%.6g %.6gl3.5 4l-3.5 4l-3.5-4z", x, tenth(y - 4));
        break;
    default:
        out_format(out, "M%.6g %.6gh0", x, y);
    }
}

static void begin_marks(struct out *out, const struct svg_chart *c, size_t number)
{
    out_format(out, "<path class=\"%s c%zu\" d=\"",
               look(c, number).shape == SVG_CIRCLE ? "point" : "mark", colour(c, number));
}

static void print_points(struct out *out, const struct plot *p, size_t number)
{
    const struct svg_series *s = &p->c->series[number];
    bool any = false;
    for (size_t i = 0; i < s->count; i++) {
        if (!is_shown(p->c, s, &s->point[i])) {
            continue;
        }
        if (!any) {
            begin_marks(out, p->c, number);
        }
        any = true;
        put_mark(out, look(p->c, number).shape, place_x(p, s->point[i].x),
                 place_y(p, s->point[i].y));
    }
    out_text(out, any ? "\"/>\n" : "");
}

/*
 * The labels of marks, each where it touches none before it: right of its mark, left, above or
 * below it; left out where there is no room (its name is in the legend).
 */
static bool touches(const struct box *a, const struct box *b)
{
    return a->x < b->x + b->width && b->x < a->x + a->width && fabs(a->y - b->y) < 13;
}

static bool is_free(const struct box *taken, size_t count, const struct box *box, double right)
{
    if (box->x < LEFT || box->x + box->width > right || box->y < TOP || box->y > HEIGHT - BOTTOM) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (touches(&taken[i], box)) {
            return false;
        }
    }
    return true;
}

static void print_mark_labels(struct out *out, const struct plot *p)
{
    size_t count = 0;
    struct box *taken = malloc((2 * p->c->count + 1) * sizeof *taken);
    if (taken == NULL) {
        out->failed = ENOMEM;
        return;
    }
    for (size_t i = 0; i < p->c->count; i++) {
        const struct svg_series *s = &p->c->series[i];
        if (look(p->c, i).label != NULL && s->count > 0) {
            taken[count++] =
                (struct box){place_x(p, s->point[0].x) - 4, place_y(p, s->point[0].y) + 4, 8, 0};
        }
    }
    for (size_t i = 0; i < p->c->count; i++) {
        const struct svg_series *s = &p->c->series[i];
        const char *label = look(p->c, i).label;
        if (label == NULL || s->count == 0) {
            continue;
        }
        double width = LETTER * (double)strlen(label);
        double x = place_x(p, s->point[0].x);
        double y = place_y(p, s->point[0].y);
        const struct box tries[] = {
            {x + 8, y + 4, width, 0},         {x - 8 - width, y + 4, width, 0},
            {x - width / 2, y - 9, width, 0}, {x - width / 2, y + 18, width, 0},
            {x + 6, y - 10, width, 0},        {x + 6, y + 18, width, 0}};
        for (size_t t = 0; t < sizeof tries / sizeof *tries; t++) {
            if (is_free(taken, count, &tries[t], p->right)) {
                taken[count++] = tries[t];
                out_format(out, "<text x=\"%.6g\" y=\"%.6g\">", tenth(tries[t].x),
                           tenth(tries[t].y));
                svg_escaped(out, label);
                out_text(out, "</text>\n");
                break;
            }
        }
    }
    free(taken);
}

/*
 * From point i, the furthest point that a straight line reaches without leaving any in between by
 * more than a pen's width shows: fewer points, the same picture.
 */
static size_t furthest(const struct spot *at, size_t count, size_t i)
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
static struct spot *places(const struct plot *p, const struct svg_series *s, size_t *count)
{
    struct spot *at = malloc((s->count + 1) * sizeof *at);
    *count = 0;
    for (size_t i = 0; at != NULL && i < s->count; i++) {
        if (is_shown(p->c, s, &s->point[i])) {
            at[(*count)++] = (struct spot){place_x(p, s->point[i].x), place_y(p, s->point[i].y)};
        }
    }
    return at;
}

static void print_curve(struct out *out, const struct plot *p, size_t number)
{
    const struct svg_series *s = &p->c->series[number];
    size_t count;
    struct spot *at = places(p, s, &count);
    struct spot last = {0};
    if (at == NULL) {
        out->failed = ENOMEM; /* whoever closes it tells */
    }
    if (count > 0) {
        out_format(out, "<path class=\"curve c%zu%s\" d=\"", colour(p->c, number),
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

/* ---- names ----------------------------------------------------------------------------------- */

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

/* The last point of a series that is shown; NULL: none. */
static const struct svg_point *last_shown(const struct svg_chart *c, const struct svg_series *s)
{
    for (size_t i = s->count; i-- > 0;) {
        if (is_shown(c, s, &s->point[i])) {
            return &s->point[i];
        }
    }
    return NULL;
}

/*
 * Names beside the ends of the curves: if there are few, all of curves that go on to the right edge
 * and end apart from each other, and short enough. Then the axes end further left.
 */
static bool names_beside(struct plot *p)
{
    const struct svg_chart *c = p->c;
    double end[BESIDE];
    size_t names = 0;
    double longest = 0;
    double most_x = 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct svg_point *last = last_shown(c, &c->series[i]);
        most_x = last != NULL ? fmax(most_x, last->x) : most_x;
    }
    for (size_t i = 0; i < c->count; i++) {
        const struct svg_series *s = &c->series[i];
        const struct svg_point *last = last_shown(c, s);
        if (s->name == NULL) {
            continue;
        }
        if (names == BESIDE || last == NULL || s->style == SVG_MARKS ||
            share(&p->x, most_x) - share(&p->x, last->x) > 0.01) {
            return false;
        }
        double y = place_y(p, last->y);
        for (size_t j = 0; j < names; j++) {
            if (fabs(end[j] - y) < APART) {
                return false;
            }
        }
        end[names++] = y;
        longest = fmax(longest, LETTER * (double)strlen(s->name));
    }
    if (names < 2 || longest > ASIDE) {
        return false;
    }
    p->right = WIDTH - longest - 16;
    return true;
}

static void print_beside(struct out *out, const struct plot *p)
{
    for (size_t i = 0; i < p->c->count; i++) {
        const struct svg_series *s = &p->c->series[i];
        if (s->name != NULL) {
            const struct svg_point *last = last_shown(p->c, s);
            out_format(out, "<text x=\"%.6g\" y=\"%.6g\">", place_x(p, last->x) + 8,
                       place_y(p, last->y) + 4);
            svg_escaped(out, s->name);
            out_text(out, "</text>\n");
        }
    }
}

/* Each name beside its curve wherever that is clear of the others; of curves alone. */
static void names_near(struct plot *p)
{
    const struct svg_chart *c = p->c;
    const struct frame frame = {LEFT, TOP, p->right, HEIGHT - BOTTOM};
    struct trail *trail = calloc(c->count + 1, sizeof *trail);
    p->near = malloc((c->count + 1) * sizeof *p->near);
    bool all = trail != NULL && p->near != NULL;
    for (size_t i = 0; all && i < c->count; i++) {
        const struct svg_series *s = &c->series[i];
        trail[i].at = places(p, s, &trail[i].count);
        trail[i].joined = s->style != SVG_MARKS;
        trail[i].width = s->name != NULL ? NAME_LETTER * (double)strlen(s->name) : 0;
        all = trail[i].at != NULL && (s->name == NULL || trail[i].joined);
    }
    if (!all || !names_place(trail, c->count, &frame, p->near)) {
        free(p->near);
        p->near = NULL;
    }
    for (size_t i = 0; trail != NULL && i < c->count; i++) {
        free((void *)trail[i].at);
    }
    free(trail);
}

static void print_near(struct out *out, const struct plot *p)
{
    for (size_t i = 0; i < p->c->count; i++) {
        const struct svg_series *s = &p->c->series[i];
        if (s->name != NULL) {
            if (p->near[i].lead != 0) {
                const struct svg_point *last = last_shown(p->c, s);
                out_format(out, "<path class=\"c%zu\" d=\"M%.6g %.6gv%.6g\"/>\n", colour(p->c, i),
                           place_x(p, last->x), place_y(p, last->y), p->near[i].lead);
            }
            out_format(out, "<text class=\"n%zu\" x=\"%.6g\" y=\"%.6g\">", colour(p->c, i),
                       tenth(p->near[i].x), tenth(p->near[i].y));
            svg_escaped(out, s->name);
            out_text(out, "</text>\n");
        }
    }
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
            begin_marks(out, c, i);
            put_mark(out, look(c, i).shape, at + 12, y - 4);
            out_text(out, "\"/>\n");
        } else {
            out_format(out, "<path class=\"curve c%zu%s\" d=\"M%g %gh24\"/>\n", colour(c, i),
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
    static const char *const light[SVG_ALL_COLOURS] = {"#0b62a8", "#c0392b", "#2e7d32", "#8e44ad",
                                                       "#9a6200", "#00796b", "#5d4037", "#616161",
                                                       "#d81b60", "#827717"};
    static const char *const dark[SVG_ALL_COLOURS] = {"#6cb6ff", "#ff8a80", "#81c784", "#ce93d8",
                                                      "#ffcc80", "#80cbc4", "#bcaaa4", "#bdbdbd",
                                                      "#f48fb1", "#dce775"};
    out_text(out,
             "svg{font:13px "
             "sans-serif}.paper{fill:#fff}text{fill:#222}.title{font-size:16px;font-weight:bold}\n"
             ".grid{stroke:#ddd;fill:none}.axis{stroke:#222;fill:none}\n"
             ".curve{stroke-width:2.5;fill:none;stroke-linejoin:round}\n"
             ".dashed{stroke-dasharray:6 4}.point{stroke-width:7;stroke-linecap:round}\n"
             ".mark{stroke-width:2.5;fill:none}\n");
    for (int i = 0; i < SVG_ALL_COLOURS; i++) {
        out_format(out, ".c%d{stroke:%s}.n%d{fill:%s}\n", i, light[i], i, light[i]);
    }
    out_text(out, "@media(prefers-color-scheme:dark){.paper{fill:#16181c}text{fill:#e6e6e6}\n"
                  ".grid{stroke:#3a3d44}.axis{stroke:#e6e6e6}\n");
    for (int i = 0; i < SVG_ALL_COLOURS; i++) {
        out_format(out, ".c%d{stroke:%s}.n%d{fill:%s}\n", i, dark[i], i, dark[i]);
    }
    out_text(out, "}\n");
}

static void make_axes(struct plot *p)
{
    const struct svg_chart *c = p->c;
    double least_x = INFINITY;
    double least_y = INFINITY;
    double most_x = 0;
    double most_y = 0;
    bool zero = false;
    for (size_t i = 0; i < c->count; i++) {
        for (size_t j = 0; j < c->series[i].count; j++) {
            const struct svg_point *at = &c->series[i].point[j];
            if (is_shown(c, &c->series[i], at)) {
                bool none = c->y_log && at->y <= 0;
                zero = zero || none;
                least_x = fmin(least_x, at->x);
                most_x = fmax(most_x, at->x);
                least_y = none ? least_y : fmin(least_y, at->y);
                most_y = fmax(most_y, at->low < at->high && !none ? fmax(at->y, at->high) : at->y);
            }
        }
    }
    p->x = make_axis(c->x_log, least_x, most_x);
    p->y = make_axis(c->y_log, least_y, most_y);
    if (zero) {
        p->y.zero = true;
        p->y.low -= p->y.step;
    }
}

void svg_print(struct out *out, const struct svg_chart *c)
{
    struct plot p = {.c = c, .right = WIDTH - RIGHT};
    make_axes(&p);
    p.beside = names_beside(&p);
    if (!p.beside) {
        names_near(&p);
    }
    size_t rows = p.beside || p.near != NULL ? 0 : (named(c) + names_a_row(c) - 1) / names_a_row(c);
    double height = HEIGHT + (double)rows * KEY_ROW;
    out_format(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
               "role=\"img\">\n<title>",
               WIDTH, height);
    svg_escaped(out, c->title);
    out_text(out, "</title>\n<style>\n");
    svg_style(out);
    out_text(out, "</style>\n");
    out_format(out, "<rect class=\"paper\" width=\"%.0f\" height=\"%.0f\"/>\n", WIDTH, height);
    print_grid(out, &p);
    print_labels(out, &p);
    for (size_t i = 0; i < c->count; i++) {
        if (c->series[i].style != SVG_MARKS) {
            print_curve(out, &p, i);
        }
        print_bars(out, &p, i);
        if (c->series[i].style == SVG_MARKS) {
            print_points(out, &p, i);
        }
    }
    print_mark_labels(out, &p);
    if (p.beside) {
        print_beside(out, &p);
    } else if (p.near != NULL) {
        print_near(out, &p);
    } else {
        print_key(out, c);
    }
    free(p.near);
    out_text(out, "</svg>\n");
}
