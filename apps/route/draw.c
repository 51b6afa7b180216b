/* draw.c: a network as SVG: the path, and the false links beside it. */
#include "route/draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pictures/svg.h"

#define WIDTH  1000.0
#define HEIGHT 680.0
#define MARGIN 48.0
#define LABELS 60 /* the most nodes of a path that are named, besides its ends */

static void print_head(struct out *out, const char *title)
{
    out_format(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
               "font-family=\"sans-serif\" font-size=\"11\">\n<title>",
               WIDTH, HEIGHT);
    svg_escaped(out, title);
    out_text(
        out,
        "</title>\n<style>\n"
        ".paper{fill:#fff}text{fill:#222}.head{font-size:16px;font-weight:bold}\n"
        ".link{stroke:#c4c8ce;fill:none}.node{fill:#8a9099}.on{fill:#0b62a8}\n"
        ".path{stroke:#0b62a8;stroke-width:3;fill:none}\n"
        ".bloom{stroke:#d9822b;stroke-width:2.5;stroke-dasharray:6 3;fill:none}\n"
        ".yesno{stroke:#c23030;stroke-width:2.5;fill:none}\n"
        ".label{paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}\n"
        ".tip-path{fill:#0b62a8}.tip-bloom{fill:#d9822b}.tip-yesno{fill:#c23030}\n"
        "@media(prefers-color-scheme:dark){.paper{fill:#16181c}text{fill:#e6e6e6}\n"
        ".label{stroke:#16181c}.link{stroke:#454a53}.node{fill:#9aa1ab}.on,.tip-path{fill:#6cb6ff}"
        ".path{stroke:#6cb6ff}}\n</style>\n<defs>\n");
    static const char *const tip[] = {"path", "bloom", "yesno"};
    for (size_t i = 0; i < 3; i++) {
        out_format(out,
                   "<marker id=\"%s\" viewBox=\"0 0 8 8\" refX=\"12\" refY=\"4\" markerWidth=\"3\" "
                   "markerHeight=\"3\" orient=\"auto\"><path class=\"tip-%s\" d=\"M0 0L8 4L0 8z\"/>"
                   "</marker>\n",
                   tip[i], tip[i]);
    }
    out_format(out, "</defs>\n<rect class=\"paper\" width=\"%.0f\" height=\"%.0f\"/>\n", WIDTH,
               HEIGHT);
}

/* Links that share both ends are bent, each a bit more. */
static void print_link(struct out *out, const struct graph *g, uint32_t l, const double *x,
                       const double *y, const char *class, double bend)
{
    const struct graph_link *link = &g->link[l];
    double dx = x[link->to] - x[link->from];
    double dy = y[link->to] - y[link->from];
    double aside = bend + 0.12 * link->parallel;
    out_format(out, "<path class=\"%s\" ", class);
    if (strcmp(class, "link") != 0) {
        out_format(out, "marker-end=\"url(#%s)\" ", class);
    }
    out_format(out, "d=\"M%.1f %.1fQ%.1f %.1f %.1f %.1f\"/>\n", x[link->from], y[link->from],
               (x[link->from] + x[link->to]) / 2 - dy * aside,
               (y[link->from] + y[link->to]) / 2 + dx * aside, x[link->to], y[link->to]);
}

/* One line an edge, whatever its directions. */
static void print_edges(struct out *out, const struct graph *g, const double *x, const double *y,
                        bool *drawn)
{
    for (uint32_t l = 0; l < g->links; l++) {
        if (!drawn[g->link[l].edge]) {
            drawn[g->link[l].edge] = true;
            print_link(out, g, l, x, y, "link", 0);
        }
    }
}

/* What packets cross. */
static void print_links(struct out *out, const struct graph *g, const uint8_t *use, const double *x,
                        const double *y)
{
    static const struct {
        uint8_t use;
        const char *class;
        double bend;
    } layer[] = {{DRAW_PATH, "path", 0},
                 {DRAW_FALSE_BLOOM, "bloom", 0.1},
                 {DRAW_FALSE_YESNO, "yesno", 0.18}};
    for (size_t i = 0; i < sizeof layer / sizeof *layer; i++) {
        for (uint32_t l = 0; l < g->links; l++) {
            if ((use[l] & layer[i].use) != 0) {
                print_link(out, g, l, x, y, layer[i].class, layer[i].bend);
            }
        }
    }
}

static void print_node(struct out *out, const struct graph *g, uint32_t v, double x, double y,
                       const char *class, double radius)
{
    char name[GRAPH_NAME_ROOM];
    out_format(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"><title>", class, x, y,
               radius);
    svg_escaped(out, graph_name(g, v, name));
    out_text(out, "</title></circle>\n");
}

/* Labels so far: one that would lie on another is left out. */
struct labels {
    uint32_t count;
    double x[LABELS + 2];
    double y[LABELS + 2];
    double wide[LABELS + 2];
};

static void print_label(struct out *out, struct labels *labels, const char *name, double x,
                        double y)
{
    double wide = 6.2 * (double)strlen(name);
    for (uint32_t i = 0; i < labels->count; i++) {
        if (fabs(y - labels->y[i]) < 11 && x < labels->x[i] + labels->wide[i] &&
            labels->x[i] < x + wide) {
            return;
        }
    }
    if (labels->count < LABELS + 2) {
        labels->x[labels->count] = x;
        labels->y[labels->count] = y;
        labels->wide[labels->count++] = wide;
        out_format(out, "<text class=\"label\" x=\"%.1f\" y=\"%.1f\">", x + 7, y - 5);
        svg_escaped(out, name);
        out_text(out, "</text>\n");
    }
}

/* All nodes: the more there are, the smaller. */
static void print_nodes(struct out *out, const struct graph *g, const double *x, const double *y)
{
    double radius = g->nodes <= 200 ? 2.5 : fmax(2.5 * sqrt(200.0 / g->nodes), 0.7);
    for (uint32_t v = 0; v < g->nodes; v++) {
        print_node(out, g, v, x[v], y[v], "node", radius);
    }
}

/* Those of the path, above their names: those of the ends, then as many as there is room for. */
static void print_path(struct out *out, const struct packet_plan *plan, const double *x,
                       const double *y)
{
    const struct graph *g = plan->graph;
    struct labels labels = {.count = 0};
    char name[GRAPH_NAME_ROOM];
    print_label(out, &labels, graph_name(g, plan->root, name), x[plan->root], y[plan->root]);
    for (size_t i = 0; i < plan->to_count; i++) {
        uint32_t v = plan->to[i];
        print_label(out, &labels, graph_name(g, v, name), x[v], y[v]);
    }
    for (uint32_t i = 0; i < plan->members; i++) {
        uint32_t v = g->link[plan->member[i]].to;
        print_label(out, &labels, graph_name(g, v, name), x[v], y[v]);
    }
    print_node(out, g, plan->root, x[plan->root], y[plan->root], "on", 4.5);
    for (uint32_t i = 0; i < plan->members; i++) {
        uint32_t v = g->link[plan->member[i]].to;
        print_node(out, g, v, x[v], y[v], "on", 4.5);
    }
}

static void print_key(struct out *out)
{
    static const char *const key[][2] = {
        {"path", "path"}, {"bloom", "false, Bloom header"}, {"yesno", "false, yes-no header"}};
    for (size_t i = 0; i < 3; i++) {
        double at = MARGIN + 200.0 * (double)i;
        out_format(out,
                   "<path class=\"%s\" d=\"M%.0f %.0fh34\"/>\n<text x=\"%.0f\" y=\"%.0f\">%s"
                   "</text>\n",
                   key[i][0], at, HEIGHT - 14, at + 42, HEIGHT - 10, key[i][1]);
    }
}

bool draw_network(struct out *out, const struct packet_plan *plan, const char *title,
                  const uint8_t *use)
{
    const struct graph *g = plan->graph;
    double *x = malloc(((size_t)g->nodes * 2 + 1) * sizeof *x);
    double *y = x + (x == NULL ? 0 : g->nodes);
    bool *drawn = calloc((size_t)g->edges + 1, sizeof *drawn);
    if (x == NULL || drawn == NULL ||
        !draw_places(g, WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN - 24, x, y)) {
        free(x);
        free(drawn);
        return false;
    }
    for (uint32_t v = 0; v < g->nodes; v++) {
        x[v] += MARGIN;
        y[v] += MARGIN + 4;
    }
    print_head(out, title);
    out_format(out, "<text class=\"head\" x=\"%.0f\" y=\"28\">", MARGIN);
    svg_escaped(out, title);
    out_text(out, "</text>\n");
    print_edges(out, g, x, y, drawn);
    print_nodes(out, g, x, y);
    print_links(out, g, use, x, y);
    print_path(out, plan, x, y);
    print_key(out);
    out_text(out, "</svg>\n");
    free(x);
    free(drawn);
    return true;
}
