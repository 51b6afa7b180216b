/* svg.c: from numbers to a picture of 720 by 440 points. */
#include "svg.h"

#include <math.h>

#define WIDTH  720.0
#define HEIGHT 440.0
#define LEFT   72.0
#define RIGHT  24.0
#define TOP    52.0
#define BOTTOM 64.0

struct axis {
    double step;
    double most; /* where the axis ends: a whole number of steps */
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

static struct axis make_axis(double most)
{
    struct axis a = {.step = svg_step(most)};
    a.most = ceil(most / a.step - 1e-9) * a.step;
    if (!(a.most > 0)) {
        a.most = a.step;
    }
    return a;
}

static void escaped(struct out *out, const char *text)
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

static double place_x(const struct axis *a, double x)
{
    return LEFT + x / a->most * (WIDTH - LEFT - RIGHT);
}

static double place_y(const struct axis *a, double y)
{
    return HEIGHT - BOTTOM - y / a->most * (HEIGHT - TOP - BOTTOM);
}

static void print_grid(struct out *out, const struct axis *x, const struct axis *y)
{
    size_t marks = (size_t)(x->most / x->step + 0.5);
    for (size_t i = 0; i <= marks; i++) {
        double at = place_x(x, (double)i * x->step);
        out_format(out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", at, TOP, HEIGHT - BOTTOM);
        out_format(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.6g</text>\n", at,
                   HEIGHT - BOTTOM + 18, (double)i * x->step);
    }
    marks = (size_t)(y->most / y->step + 0.5);
    for (size_t i = 0; i <= marks; i++) {
        double at = place_y(y, (double)i * y->step);
        out_format(out, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>\n", LEFT, at, WIDTH - RIGHT);
        out_format(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.6g</text>\n", LEFT - 8,
                   at + 4, (double)i * y->step);
    }
    out_format(out, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", LEFT, TOP,
               HEIGHT - BOTTOM, WIDTH - RIGHT);
}

static void print_labels(struct out *out, const struct svg_chart *c)
{
    double middle = TOP + (HEIGHT - TOP - BOTTOM) / 2;
    out_format(out, "<text class=\"title\" x=\"%.1f\" y=\"28\">", LEFT);
    escaped(out, c->title);
    out_format(out, "</text>\n<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
               LEFT + (WIDTH - LEFT - RIGHT) / 2, HEIGHT - 18);
    escaped(out, c->x_label);
    out_format(out,
               "</text>\n<text transform=\"translate(20 %.1f) rotate(-90)\" "
               "text-anchor=\"middle\">",
               middle);
    escaped(out, c->y_label);
    out_text(out, "</text>\n");
}

void svg_print(struct out *out, const struct svg_chart *c)
{
    double most_x = 0;
    double most_y = 0;
    for (size_t i = 0; i < c->count; i++) {
        most_x = fmax(most_x, c->point[i].x);
        most_y = fmax(most_y, c->point[i].y);
    }
    struct axis x = make_axis(most_x);
    struct axis y = make_axis(most_y);
    out_format(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
               "role=\"img\" font-family=\"sans-serif\" font-size=\"13\">\n<title>",
               WIDTH, HEIGHT);
    escaped(out, c->title);
    out_text(out, "</title>\n"
                  "<style>\n"
                  ".paper{fill:#fff}text{fill:#222}.title{font-size:16px;font-weight:bold}\n"
                  ".grid{stroke:#ddd;fill:none}.axis{stroke:#222;fill:none}\n"
                  ".curve{stroke:#0b62a8;stroke-width:2.5;fill:none;stroke-linejoin:round}\n"
                  "@media(prefers-color-scheme:dark){.paper{fill:#16181c}text{fill:#e6e6e6}\n"
                  ".grid{stroke:#3a3d44}.axis{stroke:#e6e6e6}.curve{stroke:#6cb6ff}}\n"
                  "</style>\n");
    out_format(out, "<rect class=\"paper\" width=\"%.0f\" height=\"%.0f\"/>\n", WIDTH, HEIGHT);
    print_grid(out, &x, &y);
    print_labels(out, c);
    out_text(out, "<path class=\"curve\" d=\"");
    for (size_t i = 0; i < c->count; i++) {
        out_format(out, "%c%.2f %.2f", i == 0 ? 'M' : 'L', place_x(&x, c->point[i].x),
                   place_y(&y, c->point[i].y));
    }
    out_text(out, "\"/>\n</svg>\n");
}
