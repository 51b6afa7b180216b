/*
 * draw.c: from networks and figures to SVG and tables.
 *
 * Places on the map are longitude and latitude, drawn so that both have the same scale in the
 * middle of the network. Nodes without a place are put beside their neighbours. A network without
 * places is laid out by forces (Fruchterman and Reingold 1991): links pull, all nodes push, from a
 * circle in the order of a search, so that chance has no part in it.
 */
#include "route/draw.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pictures/svg.h"

#define WIDTH      1000.0
#define HEIGHT     680.0
#define MARGIN     48.0
#define FORCE_MOST 600 /* nodes; beyond, the circle stays: forces take nodes squared */
#define ROUNDS     200
#define LABELS     60 /* the most nodes of a path that are named */

static const double pi = 3.14159265358979323846;

/* ---- places ---------------------------------------------------------------------------------- */

static bool has_place(const struct graph_node *node)
{
    return !isnan(node->x) && !isnan(node->y);
}

/* On a circle, in the order in which a search from the first node of each part comes to them. */
static bool place_circle(const struct graph *g, double *x, double *y)
{
    struct graph_spread s;
    uint32_t number = 0;
    uint32_t *order = malloc(((size_t)g->nodes + 1) * sizeof *order);
    if (order == NULL || !graph_spread_new(&s, g)) {
        free(order);
        return false;
    }
    memset(order, 0xff, g->nodes * sizeof *order);
    for (uint32_t v = 0; v < g->nodes; v++) {
        uint32_t count = order[v] == GRAPH_NONE ? graph_spread(g, v, &s) : 0;
        for (uint32_t i = 0; i < count; i++) {
            order[s.reached[i]] =
                order[s.reached[i]] == GRAPH_NONE ? number++ : order[s.reached[i]];
        }
    }
    for (uint32_t v = 0; v < g->nodes; v++) {
        double angle = 2 * pi * order[v] / g->nodes;
        x[v] = cos(angle);
        y[v] = sin(angle);
    }
    graph_spread_free(&s);
    free(order);
    return true;
}

/* One round of forces; nobody moves farther than `most`. */
static void push_and_pull(const struct graph *g, double *x, double *y, double *dx, double *dy,
                          double near, double most)
{
    memset(dx, 0, g->nodes * sizeof *dx);
    memset(dy, 0, g->nodes * sizeof *dy);
    for (uint32_t v = 0; v < g->nodes; v++) {
        for (uint32_t u = 0; u < v; u++) {
            double ex = x[v] - x[u];
            double ey = y[v] - y[u];
            double force = near * near / fmax(ex * ex + ey * ey, 1e-9);
            dx[v] += ex * force;
            dy[v] += ey * force;
            dx[u] -= ex * force;
            dy[u] -= ey * force;
        }
        /* A pull to the middle keeps parts together. */
        dx[v] -= x[v] * 0.6;
        dy[v] -= y[v] * 0.6;
    }
    for (uint32_t l = 0; l < g->links; l++) {
        uint32_t a = g->link[l].from;
        uint32_t b = g->link[l].to;
        double ex = x[b] - x[a];
        double ey = y[b] - y[a];
        double force = sqrt(ex * ex + ey * ey) / near / 2;
        dx[a] += ex * force;
        dy[a] += ey * force;
        dx[b] -= ex * force;
        dy[b] -= ey * force;
    }
    for (uint32_t v = 0; v < g->nodes; v++) {
        double length = sqrt(dx[v] * dx[v] + dy[v] * dy[v]);
        double scale = length > most ? most / length : 1;
        x[v] += dx[v] * scale;
        y[v] += dy[v] * scale;
    }
}

static bool place_by_forces(const struct graph *g, double *x, double *y)
{
    double *move = malloc(((size_t)g->nodes * 2 + 1) * sizeof *move);
    if (move == NULL) {
        return false;
    }
    double near = 2 / sqrt((double)g->nodes);
    for (int round = 0; round < ROUNDS; round++) {
        double most = 0.2 * (1 - (double)round / ROUNDS);
        push_and_pull(g, x, y, move, move + g->nodes, near, most);
    }
    free(move);
    return true;
}

/* From the map; the others beside the mean of their neighbours, from those that have some. */
static bool place_on_map(const struct graph *g, double *x, double *y)
{
    double low = INFINITY;
    double high = -INFINITY;
    double middle_x = 0;
    uint32_t placed = 0;
    for (uint32_t v = 0; v < g->nodes; v++) {
        if (has_place(&g->node[v])) {
            low = fmin(low, g->node[v].y);
            high = fmax(high, g->node[v].y);
            middle_x += g->node[v].x;
            placed++;
        }
    }
    double middle = (low + high) / 2;
    /* Degrees of longitude are shorter than those of latitude; other places are what they are. */
    double shrink = low >= -90 && high <= 90 ? fmax(cos(middle * pi / 180), 0.2) : 1;
    for (uint32_t v = 0; v < g->nodes; v++) {
        x[v] = has_place(&g->node[v]) ? g->node[v].x * shrink : (double)NAN;
        y[v] = has_place(&g->node[v]) ? -g->node[v].y : (double)NAN;
    }
    for (bool more = true; more;) {
        more = false;
        for (uint32_t v = 0; v < g->nodes; v++) {
            double sum[3] = {0, 0, 0};
            for (uint32_t l = g->first[v]; l < g->first[v + 1] && isnan(x[v]); l++) {
                uint32_t to = g->link[l].to;
                sum[0] += isnan(x[to]) ? 0 : x[to];
                sum[1] += isnan(x[to]) ? 0 : y[to];
                sum[2] += isnan(x[to]) ? 0 : 1;
            }
            if (sum[2] > 0) { /* a little aside, each in another direction */
                double aside = fmax(high - low, 1e-6) * 0.03;
                x[v] = sum[0] / sum[2] + aside * cos((double)v * 2.4);
                y[v] = sum[1] / sum[2] + aside * sin((double)v * 2.4);
                more = true;
            }
        }
    }
    for (uint32_t v = 0; v < g->nodes; v++) { /* parts of which no node has a place */
        if (isnan(x[v])) {
            x[v] = middle_x / placed * shrink + (double)(v % 7) * 1e-3;
            y[v] = -low + 1 + (double)(v % 5) * 1e-3;
        }
    }
    return true;
}

/* Into the picture, with one scale for both directions and in the middle. */
static void fit(uint32_t count, double width, double height, double *x, double *y)
{
    double least[2] = {INFINITY, INFINITY};
    double most[2] = {-INFINITY, -INFINITY};
    for (uint32_t v = 0; v < count; v++) {
        least[0] = fmin(least[0], x[v]);
        least[1] = fmin(least[1], y[v]);
        most[0] = fmax(most[0], x[v]);
        most[1] = fmax(most[1], y[v]);
    }
    double wide = fmax(most[0] - least[0], 1e-12);
    double tall = fmax(most[1] - least[1], 1e-12);
    double scale = fmin(width / wide, height / tall);
    for (uint32_t v = 0; v < count; v++) {
        x[v] = (width - (most[0] - least[0]) * scale) / 2 + (x[v] - least[0]) * scale;
        y[v] = (height - (most[1] - least[1]) * scale) / 2 + (y[v] - least[1]) * scale;
    }
}

bool draw_places(const struct graph *g, double width, double height, double *x, double *y)
{
    uint32_t placed = 0;
    for (uint32_t v = 0; v < g->nodes; v++) {
        placed += has_place(&g->node[v]);
    }
    bool good;
    if (placed * 2 > g->nodes) {
        good = place_on_map(g, x, y);
    } else {
        good = place_circle(g, x, y) && (g->nodes > FORCE_MOST || place_by_forces(g, x, y));
    }
    if (good) {
        fit(g->nodes, width, height, x, y);
    }
    return good;
}

/* ---- the network ----------------------------------------------------------------------------- */

static void print_head(struct out *out, const char *title)
{
    out_format(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
               "font-family=\"sans-serif\" font-size=\"11\">\n<title>",
               WIDTH, HEIGHT);
    svg_escaped(out, title);
    out_text(out, "</title>\n<style>\n"
                  ".paper{fill:#fff}text{fill:#222}.head{font-size:16px;font-weight:bold}\n"
                  ".link{stroke:#c4c8ce;fill:none}.node{fill:#8a9099}.on{fill:#0b62a8}\n"
                  ".path{stroke:#0b62a8;stroke-width:3;fill:none}\n"
                  ".bloom{stroke:#d9822b;stroke-width:2.5;stroke-dasharray:6 3;fill:none}\n"
                  ".yesno{stroke:#c23030;stroke-width:2.5;fill:none}\n"
                  ".tip-path{fill:#0b62a8}.tip-bloom{fill:#d9822b}.tip-yesno{fill:#c23030}\n"
                  "@media(prefers-color-scheme:dark){.paper{fill:#16181c}text{fill:#e6e6e6}\n"
                  ".link{stroke:#454a53}.node{fill:#9aa1ab}.on,.tip-path{fill:#6cb6ff}"
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

static void print_links(struct out *out, const struct graph *g, const uint8_t *use, const double *x,
                        const double *y, bool *drawn)
{
    static const struct {
        uint8_t use;
        const char *class;
        double bend;
    } layer[] = {{DRAW_PATH, "path", 0},
                 {DRAW_FALSE_BLOOM, "bloom", 0.1},
                 {DRAW_FALSE_YESNO, "yesno", 0.18}};
    for (uint32_t l = 0; l < g->links; l++) { /* one line an edge, whatever its directions */
        if (!drawn[g->link[l].edge]) {
            drawn[g->link[l].edge] = true;
            print_link(out, g, l, x, y, "link", 0);
        }
    }
    for (size_t i = 0; i < sizeof layer / sizeof *layer; i++) {
        for (uint32_t l = 0; l < g->links; l++) {
            if ((use[l] & layer[i].use) != 0) {
                print_link(out, g, l, x, y, layer[i].class, layer[i].bend);
            }
        }
    }
}

static void print_node(struct out *out, const struct graph *g, uint32_t v, double x, double y,
                       bool on, bool named)
{
    char name[GRAPH_NAME_ROOM];
    out_format(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"><title>",
               on ? "on" : "node", x, y, on ? "4.5" : "2.5");
    svg_escaped(out, graph_name(g, v, name));
    out_text(out, "</title></circle>\n");
    if (named) {
        out_format(out, "<text x=\"%.1f\" y=\"%.1f\">", x + 7, y - 5);
        svg_escaped(out, name);
        out_text(out, "</text>\n");
    }
}

static void print_nodes(struct out *out, const struct packet_plan *plan, const double *x,
                        const double *y)
{
    const struct graph *g = plan->graph;
    for (uint32_t v = 0; v < g->nodes; v++) {
        print_node(out, g, v, x[v], y[v], false, false);
    }
    print_node(out, g, plan->root, x[plan->root], y[plan->root], true, true);
    for (uint32_t i = 0; i < plan->members; i++) {
        uint32_t v = g->link[plan->member[i]].to;
        print_node(out, g, v, x[v], y[v], true, plan->members <= LABELS);
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
    print_links(out, g, use, x, y, drawn);
    print_nodes(out, plan, x, y);
    print_key(out);
    out_text(out, "</svg>\n");
    free(x);
    free(drawn);
    return true;
}

/* ---- figures --------------------------------------------------------------------------------- */

/* Networks of the same number of members, together: the mean of their rates. */
struct length {
    uint32_t members;
    uint32_t networks;
    double rate[PACKET_KINDS];
};

static int compare_lengths(const void *a, const void *b)
{
    uint32_t x = ((const struct length *)a)->members;
    uint32_t y = ((const struct length *)b)->members;
    return x < y ? -1 : x > y;
}

static struct length *lengths_of(const struct draw_row *row, size_t count, size_t *lengths)
{
    struct length *list = calloc(count + 1, sizeof *list);
    *lengths = 0;
    if (list == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        list[i].members = row[i].members;
        list[i].networks = 1;
        for (size_t k = 0; k < PACKET_KINDS; k++) {
            list[i].rate[k] = row[i].others == 0 ? 0 : row[i].false_links[k] / row[i].others;
        }
    }
    qsort(list, count, sizeof *list, compare_lengths);
    for (size_t i = 0; i < count; i++) {
        struct length *last = *lengths == 0 ? NULL : &list[*lengths - 1];
        if (last == NULL || last->members != list[i].members) {
            list[(*lengths)++] = list[i];
            continue;
        }
        last->networks++;
        for (size_t k = 0; k < PACKET_KINDS; k++) {
            last->rate[k] += list[i].rate[k];
        }
    }
    for (size_t i = 0; i < *lengths; i++) {
        for (size_t k = 0; k < PACKET_KINDS; k++) {
            list[i].rate[k] /= list[i].networks;
        }
    }
    return list;
}

bool draw_table(struct out *out, int figure, const struct draw_row *row, size_t count)
{
    size_t lengths;
    struct length *list = lengths_of(row, count, &lengths);
    if (list == NULL) {
        return false;
    }
    out_text(out, figure == 16   ? "network\tn\tt\tbloom\tyesno\n"
                  : figure == 17 ? "n\tnetworks\tbloom_rate\tyesno_rate\n"
                                 : "n\tnetworks\tratio\n");
    for (size_t i = 0; i < count && figure == 16; i++) {
        out_format(out, "%s\t%" PRIu32 "\t%" PRIu32 "\t%.6g\t%.6g\n", row[i].network,
                   row[i].members, row[i].others, row[i].false_links[PACKET_BLOOM],
                   row[i].false_links[PACKET_YESNO]);
    }
    for (size_t i = 0; i < lengths && figure == 17; i++) {
        out_format(out, "%" PRIu32 "\t%" PRIu32 "\t%.6g\t%.6g\n", list[i].members, list[i].networks,
                   list[i].rate[PACKET_BLOOM], list[i].rate[PACKET_YESNO]);
    }
    for (size_t i = 0; i < lengths && figure == 18; i++) {
        if (list[i].rate[PACKET_BLOOM] > 0) {
            out_format(out, "%" PRIu32 "\t%" PRIu32 "\t%.6g\n", list[i].members, list[i].networks,
                       list[i].rate[PACKET_YESNO] / list[i].rate[PACKET_BLOOM]);
        }
    }
    free(list);
    return true;
}

static void chart_16(struct out *out, const struct draw_row *row, size_t count,
                     struct svg_point *point)
{
    double most = 0;
    double least = INFINITY;
    for (size_t i = 0; i < count; i++) {
        double x = row[i].false_links[PACKET_BLOOM];
        point[i] = (struct svg_point){x, row[i].false_links[PACKET_YESNO], 0, 0};
        most = fmax(most, x);
        least = x > 0 && point[i].y > 0 ? fmin(least, x) : least;
    }
    struct svg_point equal[2] = {{fmin(least, most), fmin(least, most), 0, 0}, {most, most, 0, 0}};
    struct svg_series series[2] = {{"a network", SVG_MARKS, point, count},
                                   {"as many as the Bloom header", SVG_DASHED, equal, 2}};
    struct svg_chart chart = {.title = "False links next to the path, for both kinds of header",
                              .x_label = "Bloom header",
                              .y_label = "yes-no header",
                              .x_log = true,
                              .y_log = true,
                              .series = series,
                              .count = 2};
    svg_print(out, &chart);
}

static void chart_lengths(struct out *out, int figure, const struct length *list, size_t lengths,
                          struct svg_point *point)
{
    size_t ratios = 0;
    struct svg_point *other = point + lengths;
    for (size_t i = 0; i < lengths; i++) {
        double n = list[i].members;
        double bloom = list[i].rate[PACKET_BLOOM];
        double yesno = list[i].rate[PACKET_YESNO];
        if (figure == 17) {
            point[i] = (struct svg_point){n, bloom, 0, 0};
            other[i] = (struct svg_point){n, yesno, 0, 0};
        } else if (bloom > 0) {
            point[ratios++] = (struct svg_point){n, yesno / bloom, 0, 0};
        }
    }
    struct svg_series rates[2] = {{"Bloom header", SVG_LINE, point, lengths},
                                  {"yes-no header", SVG_LINE, other, lengths}};
    struct svg_series ratio = {"yes-no to Bloom", SVG_LINE, point, ratios};
    struct svg_chart chart = {
        .title = figure == 17
                     ? "False-positive rate by the number of links in the header"
                     : "False-positive rate of the yes-no header, relative to the Bloom header",
        .x_label = "links in the header",
        .y_label = figure == 17 ? "false-positive rate" : "ratio",
        .y_log = figure == 17,
        .series = figure == 17 ? rates : &ratio,
        .count = figure == 17 ? 2 : 1};
    svg_print(out, &chart);
}

bool draw_figure(struct out *out, int figure, const struct draw_row *row, size_t count)
{
    size_t lengths;
    struct length *list = lengths_of(row, count, &lengths);
    struct svg_point *point = malloc((count * 2 + 2) * sizeof *point);
    bool good = list != NULL && point != NULL;
    if (good && figure == 16) {
        chart_16(out, row, count, point);
    } else if (good) {
        chart_lengths(out, figure, list, lengths, point);
    }
    free(list);
    free(point);
    return good;
}
