/* links.h: a list of links for people: A > B > C | B > D, over lines of 100 columns. */
#ifndef APPS_ROUTE_LINKS_H
#define APPS_ROUTE_LINKS_H

#include "output/out.h"
#include "readers/graph.h"

/* How a node is called. Returns room, or another text. */
typedef const char *links_name(const struct graph *graph, uint32_t node,
                               char room[GRAPH_NAME_ROOM]);

/* Behind a heading of 11 columns, and with the end of the line. */
void links_print(struct out *out, const struct graph *graph, links_name *name, const uint32_t *link,
                 uint32_t count);

#endif
