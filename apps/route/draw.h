/* draw.h: the pictures of `tepal app route`: one network, and the paper's figures. */
#ifndef APPS_ROUTE_DRAW_H
#define APPS_ROUTE_DRAW_H

#include "output/out.h"
#include "route/packet.h"

/* What a link is in the picture; a link that both headers take falsely has both bits. */
enum draw_link { DRAW_PATH = 1, DRAW_FALSE_BLOOM = 2, DRAW_FALSE_YESNO = 4 };
static inline uint8_t draw_false(enum packet_kind kind)
{
    return kind == PACKET_BLOOM ? DRAW_FALSE_BLOOM : DRAW_FALSE_YESNO;
}

/*
 * The network as SVG: nodes where the file puts them (most of them have a place), else where forces
 * between them lead. `use` tells of every link what it is. False: no memory.
 */
bool draw_network(struct out *out, const struct packet_plan *plan, const char *title,
                  const uint8_t *use);

/*
 * Where the nodes lie: x and y (downwards) within 0 .. width and 0 .. height. The same network
 * gives the same places. False: no memory.
 */
bool draw_places(const struct graph *graph, double width, double height, double *x, double *y);

/* What the figures show of one network. */
struct draw_row {
    const char *network;
    uint32_t members;
    uint32_t others;
    double false_links[PACKET_KINDS]; /* means */
};

/* Fig. 16, 17 or 18 as a chart, and as a table. False: no memory. */
bool draw_figure(struct out *out, int figure, const struct draw_row *row, size_t count);
bool draw_table(struct out *out, int figure, const struct draw_row *row, size_t count);

#endif
