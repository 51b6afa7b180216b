/*
 * places.c: where the nodes of a picture lie.
 *
 * Places on the map are longitude and latitude, drawn so that both have the same scale in the
 * middle of the network. Nodes without a place are put beside their neighbours. A network without
 * places is laid out by forces (Fruchterman and Reingold 1991): links pull, all nodes push, from a
 * circle in the order of a search, so that chance has no part in it.
 *
 * Forces do not unfold a large network. There, distances in links to some nodes far from each other
 * say where a node lies (classical scaling with pivots, Brandes and Pich 2007), and forces between
 * near nodes only make room.
 */
#include "route/draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FORCE_MOST 600 /* nodes; beyond, places by distances: forces take nodes squared */
#define ROUNDS     200
#define PIVOTS     40

static const double pi = 3.14159265358979323846;

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

/* Links pull their ends together. */
static void pull(const struct graph *g, const double *x, const double *y, double *dx, double *dy,
                 double near)
{
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
}

/* Nobody moves farther than `most`. */
static void shift(uint32_t n, double *x, double *y, const double *dx, const double *dy, double most)
{
    for (uint32_t v = 0; v < n; v++) {
        double length = sqrt(dx[v] * dx[v] + dy[v] * dy[v]);
        double scale = length > most ? most / length : 1;
        x[v] += dx[v] * scale;
        y[v] += dy[v] * scale;
    }
}

/* One round of forces. */
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
    pull(g, x, y, dx, dy, near);
    shift(g->nodes, x, y, dx, dy, most);
}

/* ---- large networks -------------------------------------------------------------------------- */

/* Squared distances in links from nodes that are far from each other: `count` rows. */
static bool measure(const struct graph *g, double *square, uint32_t count)
{
    struct graph_spread s;
    uint32_t n = g->nodes;
    uint32_t *nearest = malloc(((size_t)n + 1) * sizeof *nearest);
    uint32_t pivot = 0;
    if (nearest == NULL || !graph_spread_new(&s, g)) {
        free(nearest);
        return false;
    }
    memset(nearest, 0xff, n * sizeof *nearest);
    for (uint32_t p = 0; p < count; p++) {
        uint32_t reached = graph_spread(g, pivot, &s);
        double beyond = s.distance[s.reached[reached - 1]] + 2.0; /* of other parts */
        for (uint32_t v = 0; v < n; v++) {
            double d = s.distance[v] == GRAPH_NONE ? beyond : s.distance[v];
            square[(size_t)p * n + v] = d * d;
            nearest[v] = s.distance[v] < nearest[v] ? s.distance[v] : nearest[v];
        }
        for (uint32_t v = 0; v < n; v++) {
            pivot = nearest[v] > nearest[pivot] ? v : pivot;
        }
    }
    graph_spread_free(&s);
    free(nearest);
    return true;
}

/* Rows and columns get the mean 0. */
static void centre(double *square, uint32_t rows, uint32_t columns)
{
    for (uint32_t r = 0; r < rows; r++) {
        double sum = 0;
        for (uint32_t c = 0; c < columns; c++) {
            sum += square[(size_t)r * columns + c];
        }
        for (uint32_t c = 0; c < columns; c++) {
            square[(size_t)r * columns + c] -= sum / columns;
        }
    }
    for (uint32_t c = 0; c < columns; c++) {
        double sum = 0;
        for (uint32_t r = 0; r < rows; r++) {
            sum += square[(size_t)r * columns + c];
        }
        for (uint32_t r = 0; r < rows; r++) {
            square[(size_t)r * columns + c] -= sum / rows;
        }
    }
}

/* The main direction of the rows, at right angles to `other` (NULL: any), and each column in it. */
static void project(const double *row, uint32_t rows, uint32_t columns, const double *other,
                    double *direction, double *place)
{
    for (uint32_t r = 0; r < rows; r++) {
        direction[r] = r % 2 == 0 ? 1 : -0.5 / (r + 1);
    }
    for (int round = 0; round < 60; round++) {
        double along = 0;
        double length = 0;
        for (uint32_t r = 0; r < rows && other != NULL; r++) {
            along += direction[r] * other[r];
        }
        for (uint32_t r = 0; r < rows; r++) {
            direction[r] -= other == NULL ? 0 : along * other[r];
            length += direction[r] * direction[r];
        }
        length = fmax(sqrt(length), 1e-12);
        memset(place, 0, columns * sizeof *place);
        for (uint32_t r = 0; r < rows; r++) {
            direction[r] /= length;
            for (uint32_t c = 0; c < columns; c++) {
                place[c] += direction[r] * row[(size_t)r * columns + c];
            }
        }
        for (uint32_t r = 0; r < rows && round < 59; r++) {
            direction[r] = 0;
            for (uint32_t c = 0; c < columns; c++) {
                direction[r] += place[c] * row[(size_t)r * columns + c];
            }
        }
    }
}

/* Within -1 .. 1; nodes that lie together go apart a little, each in another direction. */
static void loosen(uint32_t n, double *place, double aside, bool sine)
{
    double most = 1e-9;
    for (uint32_t v = 0; v < n; v++) {
        most = fmax(most, fabs(place[v]));
    }
    for (uint32_t v = 0; v < n; v++) {
        place[v] = place[v] / most + aside * (sine ? sin(v * 2.4) : cos(v * 2.4));
    }
}

static bool place_by_pivots(const struct graph *g, double *x, double *y)
{
    uint32_t n = g->nodes;
    double *square = malloc(((size_t)n * PIVOTS + 1) * sizeof *square);
    double direction[2][PIVOTS];
    if (square == NULL || !measure(g, square, PIVOTS)) {
        free(square);
        return false;
    }
    centre(square, PIVOTS, n);
    project(square, PIVOTS, n, NULL, direction[0], x);
    project(square, PIVOTS, n, direction[0], direction[1], y);
    loosen(n, x, 0.5 / sqrt((double)n), false);
    loosen(n, y, 0.5 / sqrt((double)n), true);
    free(square);
    return true;
}

/* Squares of a grid, and the nodes in each: a list from head[square] by next[node]. */
struct grid {
    uint32_t side;
    uint32_t *head;
    uint32_t *next;
};

static uint32_t grid_line(const struct grid *grid, double at)
{
    double line = floor((at + 2) / 4 * grid->side);
    return line < 0 ? 0 : line >= grid->side ? grid->side - 1 : (uint32_t)line;
}

static void grid_fill(const struct grid *grid, uint32_t n, const double *x, const double *y)
{
    memset(grid->head, 0xff, (size_t)grid->side * grid->side * sizeof *grid->head);
    for (uint32_t v = 0; v < n; v++) {
        uint32_t *head = &grid->head[grid_line(grid, y[v]) * grid->side + grid_line(grid, x[v])];
        grid->next[v] = *head;
        *head = v;
    }
}

/* What the nodes in the squares around v do to it. */
static void push_near(const struct grid *grid, uint32_t v, const double *x, const double *y,
                      double near, double *dx, double *dy)
{
    uint32_t column = grid_line(grid, x[v]);
    uint32_t line = grid_line(grid, y[v]);
    for (uint32_t r = line == 0 ? 0 : line - 1; r <= line + 1 && r < grid->side; r++) {
        for (uint32_t c = column == 0 ? 0 : column - 1; c <= column + 1 && c < grid->side; c++) {
            for (uint32_t u = grid->head[r * grid->side + c]; u != GRAPH_NONE; u = grid->next[u]) {
                double ex = x[v] - x[u];
                double ey = y[v] - y[u];
                double square = ex * ex + ey * ey;
                if (u != v && square < 9 * near * near) {
                    double force = near * near / fmax(square, 1e-9);
                    *dx += ex * force;
                    *dy += ey * force;
                }
            }
        }
    }
}

static bool make_room(const struct graph *g, double *x, double *y)
{
    uint32_t n = g->nodes;
    double near = 1.6 / sqrt((double)n);
    struct grid grid = {.side = (uint32_t)(4 / (3 * near)) + 1};
    double *move = malloc(((size_t)n * 2 + 1) * sizeof *move);
    grid.head = malloc((size_t)grid.side * grid.side * sizeof *grid.head);
    grid.next = malloc(((size_t)n + 1) * sizeof *grid.next);
    bool good = move != NULL && grid.head != NULL && grid.next != NULL;
    for (int round = 0; round < ROUNDS && good; round++) {
        double *dx = move;
        double *dy = move + n;
        memset(move, 0, (size_t)n * 2 * sizeof *move);
        grid_fill(&grid, n, x, y);
        for (uint32_t v = 0; v < n; v++) {
            push_near(&grid, v, x, y, near, &dx[v], &dy[v]);
        }
        pull(g, x, y, dx, dy, near);
        shift(n, x, y, dx, dy, 0.08 * (1 - (double)round / ROUNDS));
    }
    free(move);
    free(grid.head);
    free(grid.next);
    return good;
}

/* ---- small ones ------------------------------------------------------------------------------ */

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
        good = g->nodes > FORCE_MOST ? place_by_pivots(g, x, y) && make_room(g, x, y)
                                     : place_circle(g, x, y) && place_by_forces(g, x, y);
    }
    if (good) {
        fit(g->nodes, width, height, x, y);
    }
    return good;
}
